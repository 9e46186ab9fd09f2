//! The messages of `proto/commuter.proto`, which says what each field means; a test compares the two.

mod rows;

pub use rows::*;

/// A transaction, or a statement that is none, such as DDL.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Transaction {
    /// Of this form: 1.
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// Where it is in its server's log.
    #[prost(message, optional, tag = "2")]
    pub position: Option<Position>,
    /// What numbers of settings and types mean where MySQL and MariaDB differ.
    #[prost(enumeration = "Dialect", tag = "3")]
    pub dialect: i32,
    /// Its GTID as text: `uuid:number` or `uuid:tag:number` of MySQL and commuter, `domain-server-number` of MariaDB. Empty without one.
    #[prost(string, tag = "4")]
    pub name: String,
    /// When it was committed on the server whose log it is. MariaDB's logs say it in whole seconds.
    #[prost(uint64, tag = "5")]
    pub commit_time: u64,
    /// When it was committed on the server where it was born.
    #[prost(uint64, tag = "6")]
    pub original_commit_time: u64,
    /// Of the event in front of it, if there is such a one.
    #[prost(message, optional, tag = "7")]
    pub envelope_head: Option<Head>,
    /// What that event says.
    #[prost(oneof = "Envelope", tags = "8, 9")]
    pub envelope: Option<Envelope>,
    /// If all changes are in one compressed event: of that event.
    #[prost(message, optional, tag = "10")]
    pub compressed: Option<Head>,
    /// How it ends.
    #[prost(message, optional, tag = "11")]
    pub outcome: Option<Outcome>,
    /// What it does, in order.
    #[prost(message, repeated, tag = "12")]
    pub changes: Vec<Change>,
}

/// What that event says.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Envelope {
    /// Of MySQL and commuter.
    #[prost(message, tag = "8")]
    Mysql(MysqlEnvelope),
    /// Of MariaDB.
    #[prost(message, tag = "9")]
    Maria(MariaEnvelope),
}

/// Where a transaction is in its server's log.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Position {
    /// Name of the file.
    #[prost(string, tag = "1")]
    pub file: String,
    /// Offset of its first event.
    #[prost(uint64, tag = "2")]
    pub begin: u64,
    /// Offset behind its last event: who has the transaction goes on from here.
    #[prost(uint64, tag = "3")]
    pub end: u64,
}

/// Whose rules a log follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Dialect {
    /// MySQL's, and commuter's.
    Mysql = 0,
    /// MariaDB's.
    Maria = 1,
}

/// What every event has.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Head {
    /// Seconds since 1970; of a statement when it began.
    #[prost(uint32, tag = "1")]
    pub timestamp: u32,
    /// `server_id` of the server where it was born.
    #[prost(uint32, tag = "2")]
    pub server_id: u32,
    /// Flags as in a log.
    #[prost(uint32, tag = "3")]
    pub flags: u32,
    /// Whether the log says with the event where it ends.
    #[prost(bool, tag = "4")]
    pub positioned: bool,
}

/// What stands in front of a transaction of MySQL or commuter.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MysqlEnvelope {
    /// 16 bytes, the server's part of the GTID; empty: anonymous. With the number 0: a local transaction of that server.
    #[prost(bytes = "vec", tag = "1")]
    pub uuid: Vec<u8>,
    /// The number in the GTID.
    #[prost(uint64, tag = "2")]
    pub number: u64,
    /// The tag in the GTID; empty for none.
    #[prost(string, tag = "3")]
    pub tag: String,
    /// The transaction may hold statements instead of rows.
    #[prost(bool, tag = "4")]
    pub may_have_statements: bool,
    /// The newest transaction of the file that this one depends on.
    #[prost(sint64, tag = "5")]
    pub last_committed: i64,
    /// Its own number in the file, from 1.
    #[prost(sint64, tag = "6")]
    pub sequence_number: i64,
    /// As `commit_time` of the transaction; 0 in logs before MySQL 8.0.
    #[prost(uint64, tag = "7")]
    pub immediate_commit_time: u64,
    /// As `original_commit_time` of the transaction; 0 in logs before MySQL 8.0.
    #[prost(uint64, tag = "8")]
    pub original_commit_time: u64,
    /// Bytes of all events of the transaction with this one; 0 if the log does not say.
    #[prost(uint64, tag = "9")]
    pub transaction_length: u64,
    /// As 90704; 999999 if the log does not say.
    #[prost(uint32, tag = "10")]
    pub immediate_server_version: u32,
    /// Of the server where it was born.
    #[prost(uint32, tag = "11")]
    pub original_server_version: u32,
    /// Which group of a replicated group commit it belongs to.
    #[prost(uint64, optional, tag = "12")]
    pub commit_group_ticket: Option<u64>,
}

/// What stands in front of a transaction of MariaDB. The server's part of the GTID is `server_id` of the head.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MariaEnvelope {
    /// The number in the GTID.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// The domain in the GTID.
    #[prost(uint32, tag = "2")]
    pub domain: u32,
    /// 1 standalone, 2 has a group commit id, 4 transactional, 8 allow parallel, 16 waited, 32 DDL, 64 prepared XA, 128 completed XA.
    #[prost(uint32, tag = "3")]
    pub flags: u32,
    /// Equal for all that shared one sync.
    #[prost(uint64, optional, tag = "4")]
    pub commit_id: Option<u64>,
    /// Which distributed transaction is prepared or completed.
    #[prost(message, optional, tag = "5")]
    pub xid: Option<Xid>,
    /// How many engines beyond one took part; 255: not counted.
    #[prost(uint32, optional, tag = "6")]
    pub engines: Option<u32>,
    /// Which part of an ALTER in two phases it is.
    #[prost(enumeration = "AlterPhase", tag = "7")]
    pub alter: i32,
    /// With `alter` at its end: the number in the GTID of its beginning.
    #[prost(uint64, tag = "8")]
    pub alter_start: u64,
    /// The connection that executed it.
    #[prost(uint32, optional, tag = "9")]
    pub thread_id: Option<u32>,
}

/// A part of MariaDB's ALTER TABLE in two phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum AlterPhase {
    /// Not one.
    None = 0,
    /// It begins.
    Start = 1,
    /// It succeeded.
    Commit = 2,
    /// It failed.
    Rollback = 3,
}

/// Name of a distributed transaction.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Xid {
    /// 1 if the client did not say.
    #[prost(uint32, tag = "1")]
    pub format_id: u32,
    /// Global transaction id.
    #[prost(bytes = "vec", tag = "2")]
    pub gtrid: Vec<u8>,
    /// Branch qualifier.
    #[prost(bytes = "vec", tag = "3")]
    pub bqual: Vec<u8>,
}

/// How a transaction ends.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Outcome {
    /// What becomes of its changes.
    #[prost(enumeration = "OutcomeKind", tag = "1")]
    pub kind: i32,
    /// Which distributed transaction it is about.
    #[prost(message, optional, tag = "2")]
    pub xid: Option<Xid>,
}

/// What becomes of a transaction's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum OutcomeKind {
    /// They are there.
    Committed = 0,
    /// They were undone, but for those of tables that know no transactions.
    RolledBack = 1,
    /// Another transaction of the log says it: the first phase of a distributed one.
    Prepared = 2,
    /// The second phase: those of the prepared one are there.
    CommittedPrepared = 3,
    /// The second phase: those of the prepared one were undone.
    RolledBackPrepared = 4,
    /// There are none: it only announces.
    WithoutEffect = 5,
}

/// One step of a transaction.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Change {
    /// When and where.
    #[prost(message, optional, tag = "1")]
    pub head: Option<Head>,
    /// What.
    #[prost(oneof = "Step", tags = "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")]
    pub what: Option<Step>,
}

/// What.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Step {
    /// A statement as text; BEGIN, COMMIT and savepoints are among them.
    #[prost(message, tag = "2")]
    Statement(Statement),
    /// For the next statement: an AUTO_INCREMENT value.
    #[prost(message, tag = "3")]
    IntVar(IntVar),
    /// For the next statement: the seeds of RAND().
    #[prost(message, tag = "4")]
    Rand(RandSeeds),
    /// For the next statement: a variable of the user.
    #[prost(message, tag = "5")]
    UserVar(UserVar),
    /// A piece of a file that a statement loads.
    #[prost(message, tag = "6")]
    FileBlock(FileBlock),
    /// Nothing came of the statement that was to load the file of this id.
    #[prost(uint32, tag = "7")]
    DeleteFile(u32),
    /// The statement whose rows follow.
    #[prost(message, tag = "8")]
    RowsStatement(RowsStatement),
    /// A table that rows follow of; in front of the rows, in the same transaction.
    #[prost(message, tag = "9")]
    Table(Table),
    /// Rows.
    #[prost(message, tag = "10")]
    Rows(Rows),
    /// The end of a transaction of this XID.
    #[prost(uint64, tag = "11")]
    Commit(u64),
    /// The end of the first phase of a distributed transaction.
    #[prost(message, tag = "12")]
    Prepare(Prepare),
    /// What has no name here.
    #[prost(message, tag = "13")]
    Other(Other),
}

/// A statement as text, and the session's state that its meaning depends on.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Statement {
    /// The text, in the client's character set.
    #[prost(bytes = "vec", optional, tag = "1")]
    pub sql: Option<Vec<u8>>,
    /// Default database; empty for none.
    #[prost(bytes = "vec", tag = "2")]
    pub database: Vec<u8>,
    /// Settings of the session, in the order in which the source said them.
    #[prost(message, repeated, tag = "3")]
    pub context: Vec<Setting>,
    /// CONNECTION_ID(), which tells temporary tables of the same name apart.
    #[prost(uint32, optional, tag = "4")]
    pub thread_id: Option<u32>,
    /// Seconds that it took.
    #[prost(uint32, optional, tag = "5")]
    pub exec_time: Option<u32>,
    /// The error that it ended with on its source.
    #[prost(uint32, optional, tag = "6")]
    pub error_code: Option<u32>,
    /// For LOAD DATA: the file that went ahead.
    #[prost(message, optional, tag = "7")]
    pub file: Option<LoadedFile>,
    /// Whether the log has it compressed by itself.
    #[prost(bool, tag = "8")]
    pub compressed: bool,
}

/// A setting of a session. Which numbers or texts there are depends on `code`, the number of a status variable in a log:
///
///    0 flags2: bits          1 sql_mode: bits                    2, 6 catalog: text
///    3 auto_increment: increment, offset                         4 collations: client, connection, server
///    5 time_zone: text       7 lc_time_names: number             8 collation_database: number
///    9 tables of a multi-table UPDATE: bits                      10 length of the event on its first source: number
///    11 invoker: user, host                                      12 databases that it changes: texts; number 1: too many to be named
///    13 microseconds of the timestamp: number                    14, 15 clocks of MySQL 5.7's early versions: number
///    16 explicit_defaults_for_timestamp: 0 or 1                  17 XID of a DDL statement: number
///    18 default_collation_for_utf8mb4: number                    19 sql_require_primary_key: number
///    20 default_table_encryption: number                         21 enable_cascade_triggers: number
///    128 microseconds of the timestamp: number (MariaDB)         129 XID of a DDL statement: number (MariaDB)
///    130 phase of an ALTER: flags, number of its beginning if it ends (MariaDB)
///    131 character_set_collations: pairs of numbers (MariaDB)
///
/// Any other code: what is not understood, as one text that begins with the code itself.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Setting {
    /// Which one.
    #[prost(uint32, tag = "1")]
    pub code: u32,
    /// Numbers.
    #[prost(uint64, repeated, tag = "2")]
    pub numbers: Vec<u64>,
    /// Texts.
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub texts: Vec<Vec<u8>>,
}

/// The file of a LOAD DATA.
#[derive(Clone, PartialEq, prost::Message)]
pub struct LoadedFile {
    /// Of the blocks.
    #[prost(uint32, tag = "1")]
    pub file_id: u32,
    /// Where in the statement the file's name begins, in bytes.
    #[prost(uint32, tag = "2")]
    pub name_start: u32,
    /// Where it ends.
    #[prost(uint32, tag = "3")]
    pub name_end: u32,
    /// 0: duplicates are errors; 1: IGNORE; 2: REPLACE.
    #[prost(uint32, tag = "4")]
    pub duplicates: u32,
}

/// An AUTO_INCREMENT value.
#[derive(Clone, PartialEq, prost::Message)]
pub struct IntVar {
    /// 1: what LAST_INSERT_ID() gives; 2: the next value of the statement.
    #[prost(uint32, tag = "1")]
    pub kind: u32,
    /// The value.
    #[prost(uint64, tag = "2")]
    pub value: u64,
}

/// The seeds of RAND().
#[derive(Clone, PartialEq, prost::Message)]
pub struct RandSeeds {
    /// rand_seed1.
    #[prost(uint64, tag = "1")]
    pub seed1: u64,
    /// rand_seed2.
    #[prost(uint64, tag = "2")]
    pub seed2: u64,
}

/// A variable of the user. NULL if no value is set.
#[derive(Clone, PartialEq, prost::Message)]
pub struct UserVar {
    /// Without the @.
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    /// Its value.
    #[prost(oneof = "UserValue", tags = "2, 3, 4, 5, 6")]
    pub value: Option<UserValue>,
    /// Number of the collation.
    #[prost(uint32, tag = "7")]
    pub collation: u32,
    /// As in a log, if they are there.
    #[prost(uint32, optional, tag = "8")]
    pub flags: Option<u32>,
    /// What later servers put behind the flags.
    #[prost(bytes = "vec", tag = "9")]
    pub more: Vec<u8>,
}

/// Its value.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum UserValue {
    /// In the character set of the collation.
    #[prost(bytes = "vec", tag = "2")]
    Text(Vec<u8>),
    /// A double.
    #[prost(double, tag = "3")]
    Real(f64),
    /// An integer; the bits of an unsigned one if the lowest bit of `flags` is set.
    #[prost(sint64, tag = "4")]
    Integer(i64),
    /// A decimal: its bytes as in a log, behind a byte of digits and a byte of digits behind the point.
    #[prost(bytes = "vec", tag = "5")]
    Decimal(Vec<u8>),
    /// A row, which no server makes.
    #[prost(bytes = "vec", tag = "6")]
    Row(Vec<u8>),
}

/// A piece of a file that a statement loads.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FileBlock {
    /// Tells files that are loaded at once apart.
    #[prost(uint32, tag = "1")]
    pub file_id: u32,
    /// The next bytes of the file.
    #[prost(bytes = "vec", tag = "2")]
    pub block: Vec<u8>,
    /// Whether the file begins with it.
    #[prost(bool, tag = "3")]
    pub first: bool,
}

/// The statement whose rows follow.
#[derive(Clone, PartialEq, prost::Message)]
pub struct RowsStatement {
    /// Its text.
    #[prost(bytes = "vec", tag = "1")]
    pub sql: Vec<u8>,
    /// The byte that MySQL's event has in front of the text.
    #[prost(uint32, optional, tag = "2")]
    pub stored_length: Option<u32>,
}

/// The end of the first phase of a distributed transaction.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Prepare {
    /// XA COMMIT … ONE PHASE: committed, not only prepared.
    #[prost(bool, tag = "1")]
    pub one_phase: bool,
    /// Which one.
    #[prost(message, optional, tag = "2")]
    pub xid: Option<Xid>,
}

/// What has no name here.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Other {
    /// Number of the event's type in a log.
    #[prost(uint32, tag = "1")]
    pub event_type: u32,
    /// Its body there.
    #[prost(bytes = "vec", tag = "2")]
    pub body: Vec<u8>,
}
