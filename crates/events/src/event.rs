//! The interface: what can be asked of a transaction and its parts.
//!
//! Every accessor answers `Ok(None)` for what the event does not have, which is what it does unless it is implemented. Vocabulary that
//! is no more than a number with a name, or names of MySQL's and MariaDB's settings, is that of `binlog`; how a log lays it out is not.

use std::borrow::Cow;
use std::fmt;

use base::{Gtid, UnixMicros};
use binlog::MariaGtidName;
pub use binlog::event::{
    ColumnMeta, Dialect, EventType, FileBlock, GtidEvent, IntVar, MariaGtid, RandSeeds, RowsKind, RowsVersion,
    StatusVar, TableMap, UserVar, XaPrepare, Xid,
};

use crate::error::EventError;
use crate::value::Value;

/// What was asked for, if the event has it.
pub type Maybe<T> = Result<Option<T>, EventError>;

/// Where a transaction is in its source's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Name of the file, without a folder.
    pub file: String,
    /// Offset of its first event.
    pub begin: u64,
    /// Offset behind its last event: who has the transaction goes on from here.
    pub end: u64,
}

impl fmt::Display for Position {
    /// `binlog.000003:1234`, the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.end)
    }
}

/// The name of a transaction among servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionName {
    /// MySQL's and ours: `uuid:number`, or `uuid:tag:number`.
    Mysql(Gtid),
    /// MariaDB's: `domain-server-number`.
    Maria(MariaGtidName),
}

impl fmt::Display for TransactionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionName::Mysql(gtid) => write!(f, "{gtid}"),
            TransactionName::Maria(name) => write!(f, "{name}"),
        }
    }
}

/// What all events have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Seconds since 1970; of a statement when it began, the value of `NOW()` in it.
    pub timestamp: u32,
    /// `server_id` of the server where the event was born.
    pub server_id: u32,
    /// `FLAG_…` of [`binlog::event`].
    pub flags: u16,
    /// Whether the log says with the event where it ends. MariaDB's events inside of groups and events in payloads do not.
    pub positioned: bool,
}

/// When a transaction was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitTime {
    /// On the server whose log it is.
    pub immediate: UnixMicros,
    /// On the server where it was born.
    pub original: UnixMicros,
}

/// What stands in front of a transaction: its name, and what replicas need to schedule it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// GTID, ANONYMOUS_GTID, GTID_TAGGED.
    Mysql(GtidEvent),
    /// MariaDB's GTID.
    Maria(MariaGtid),
}

impl Envelope {
    /// The transaction's name. `server_id` is that of the event, which is part of MariaDB's names.
    pub fn name(&self, server_id: u32) -> Option<TransactionName> {
        match self {
            Envelope::Mysql(event) => event.gtid.map(TransactionName::Mysql),
            Envelope::Maria(gtid) => Some(TransactionName::Maria(gtid.name(server_id))),
        }
    }
}

/// How a transaction ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its changes are there.
    Committed,
    /// Its changes were undone, but for those of tables that know no transactions.
    RolledBack,
    /// The first phase of a distributed transaction: another transaction of the log says what becomes of its changes.
    Prepared(Xid),
    /// The second phase: the changes of the prepared one are there.
    CommittedPrepared(Xid),
    /// The second phase: the changes of the prepared one are undone.
    RolledBackPrepared(Xid),
    /// It only announces: the beginning of an ALTER whose end follows (MariaDB), or the end of one that failed.
    WithoutEffect,
}

/// A transaction (or a statement that is none, such as DDL) in a log.
pub trait Transaction {
    /// Where it is.
    fn position(&self) -> Maybe<Position> {
        Ok(None)
    }

    /// Whose dialect its log has: what numbers of settings and types mean where the two differ.
    fn dialect(&self) -> Maybe<Dialect> {
        Ok(None)
    }

    /// Its name; none without GTIDs.
    fn name(&self) -> Maybe<TransactionName> {
        Ok(None)
    }

    /// When it was committed. MariaDB's logs say it in whole seconds.
    fn commit_time(&self) -> Maybe<CommitTime> {
        Ok(None)
    }

    /// Head and contents of the event in front of it.
    fn envelope(&self) -> Maybe<(Head, Envelope)> {
        Ok(None)
    }

    /// The head of the one compressed event that holds all changes, if there is such a one.
    fn compressed(&self) -> Maybe<Head> {
        Ok(None)
    }

    /// How it ends.
    fn outcome(&self) -> Maybe<Outcome> {
        Ok(None)
    }

    /// Goes through its changes in their order, up to the first error.
    fn changes(&self, each: &mut EachChange<'_>) -> Result<(), EventError>;
}

/// What gets the changes of a transaction, one by one.
pub type EachChange<'f> = dyn FnMut(&Change<'_>) -> Result<(), EventError> + 'f;
/// What gets the rows of a change.
pub type EachRow<'f> = dyn FnMut(&dyn Row) -> Result<(), EventError> + 'f;
/// What gets the columns of an image that are there: number from 0, and value, `None` for NULL.
pub type EachValue<'f> = dyn FnMut(usize, Option<Value<'_>>) -> Result<(), EventError> + 'f;

/// One step of a transaction.
#[derive(Clone, Copy)]
pub struct Change<'e> {
    /// When and where.
    pub head: Head,
    /// What.
    pub what: What<'e>,
}

/// The kinds of steps.
#[derive(Clone, Copy)]
pub enum What<'e> {
    /// A statement as text; `BEGIN`, `COMMIT` and savepoints are among them.
    Statement(&'e dyn Statement),
    /// For the next statement: what LAST_INSERT_ID() gives, or the next AUTO_INCREMENT value.
    IntVar(IntVar),
    /// For the next statement: the seeds of RAND().
    Rand(RandSeeds),
    /// For the next statement: the value of a variable of the user.
    UserVar(UserVar<'e>),
    /// A piece of a file that a statement loads.
    FileBlock {
        /// Which file, and its next bytes.
        block: FileBlock<'e>,
        /// Whether the file begins with it.
        first: bool,
    },
    /// Nothing came of the statement that was to load this file.
    DeleteFile(u32),
    /// The statement whose rows follow.
    RowsStatement(RowsStatement<'e>),
    /// A table that rows follow of.
    Table(&'e dyn Table),
    /// Rows.
    Rows(&'e dyn Rows),
    /// The end of a transaction of this XID.
    Commit(u64),
    /// The end of the first phase of a distributed transaction.
    Prepare(&'e XaPrepare),
    /// What this interface has no name for: type and body as in a log.
    Other {
        /// Its type there.
        event_type: EventType,
        /// Its body there.
        body: &'e [u8],
    },
}

/// The statement whose rows follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsStatement<'e> {
    /// Its text.
    pub sql: &'e [u8],
    /// MySQL's event has the text's length modulo 256 (or not) in front of it; MariaDB's has nothing.
    pub stored_length: Option<u8>,
}

/// A statement as text, and the state of its session that its meaning depends on.
pub trait Statement {
    /// The text, in the character set of the client. Inflated here, if it is compressed.
    fn sql(&self) -> Maybe<Cow<'_, [u8]>> {
        Ok(None)
    }

    /// Default database; empty for none.
    fn database(&self) -> Maybe<&[u8]> {
        Ok(None)
    }

    /// Settings of the session: `sql_mode`, character sets, `auto_increment_…`, time zone, microseconds and so on, in the order in
    /// which the source said them.
    fn context(&self) -> Maybe<Vec<StatusVar<'_>>> {
        Ok(None)
    }

    /// `CONNECTION_ID()`, which tells temporary tables of the same name apart.
    fn thread_id(&self) -> Maybe<u32> {
        Ok(None)
    }

    /// Seconds that it took.
    fn exec_time(&self) -> Maybe<u32> {
        Ok(None)
    }

    /// The error that it ended with on its source, 0 for none.
    fn error_code(&self) -> Maybe<u16> {
        Ok(None)
    }

    /// For LOAD DATA: the file that went ahead.
    fn file(&self) -> Maybe<LoadedFile> {
        Ok(None)
    }

    /// Whether the log has it compressed by itself.
    fn is_compressed(&self) -> bool {
        false
    }
}

/// The file of a LOAD DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedFile {
    /// Of the [`What::FileBlock`]s.
    pub file_id: u32,
    /// Where in the statement the file's name begins, in bytes.
    pub name_start: u32,
    /// Where it ends.
    pub name_end: u32,
    /// 0: duplicates are errors; 1: IGNORE; 2: REPLACE.
    pub duplicates: u8,
}

/// A table as rows see it.
pub trait Table {
    /// What its rows refer to.
    fn id(&self) -> Maybe<u64> {
        Ok(None)
    }

    /// Database and name.
    fn name(&self) -> Maybe<(&[u8], &[u8])> {
        Ok(None)
    }

    /// Types of the columns, and whether they may be NULL; nothing else is set of them.
    fn shape(&self) -> Maybe<&TableMap> {
        Ok(None)
    }

    /// All that is known: names, signedness, collations, members, the primary key, if the source said it.
    fn definition(&self) -> Maybe<&TableMap> {
        self.shape()
    }

    /// What a TABLE_MAP has behind the types, byte for byte, for who writes one again.
    fn optional_metadata(&self) -> Maybe<&[u8]> {
        Ok(None)
    }
}

/// How rows are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsLayout<'e> {
    /// What is done with them.
    pub kind: RowsKind,
    /// Of the event in a log.
    pub version: RowsVersion,
    /// [`binlog::event::rows_flags`]: end of the statement, checks that were off.
    pub flags: u16,
    /// Extra data of version 2.
    pub extra: &'e [u8],
    /// How many columns the table has.
    pub column_count: usize,
    /// Bitmap of the columns that the before images have, or the only ones; the lowest bit of the first byte first.
    pub present: &'e [u8],
    /// Of an UPDATE the same of the after images.
    pub present_after: &'e [u8],
    /// After images say of JSON documents only what changed.
    pub partial: bool,
}

/// Rows of one table that were inserted, updated or deleted.
pub trait Rows {
    /// What their table is called, among those before it.
    fn table_id(&self) -> Maybe<u64> {
        Ok(None)
    }

    /// The table.
    fn table(&self) -> Maybe<&dyn Table> {
        Ok(None)
    }

    /// What is done, and how the images look.
    fn layout(&self) -> Maybe<RowsLayout<'_>> {
        Ok(None)
    }

    /// Whether the log has the rows compressed by themselves.
    fn is_compressed(&self) -> bool {
        false
    }

    /// Goes through the rows, up to the first error.
    fn rows(&self, each: &mut EachRow<'_>) -> Result<(), EventError>;
}

/// A row that was inserted, updated or deleted.
pub trait Row {
    /// As it was; none of an inserted one.
    fn before(&self) -> Maybe<&dyn Image> {
        Ok(None)
    }

    /// As it is; none of a deleted one.
    fn after(&self) -> Maybe<&dyn Image> {
        Ok(None)
    }

    /// With [`RowsLayout::partial`]: options of the after image, and a bitmap of the JSON columns of which it has only what changed.
    fn partial(&self) -> Maybe<(u64, &[u8])> {
        Ok(None)
    }
}

/// The values of a row, or of some of its columns.
pub trait Image {
    /// Goes through the columns that are there, in their order, up to the first error.
    fn values(&self, each: &mut EachValue<'_>) -> Result<(), EventError>;

    /// The bits of the NULL bitmap's last byte that stand for no column, inverted: 0 as servers write them.
    fn null_padding(&self) -> u8 {
        0
    }
}

/// Takes transactions, asks them for what it needs, and does something with them.
pub trait Apply {
    /// Applies a transaction, as a whole or not at all.
    ///
    /// # Errors
    /// [`EventError::Missing`] if it does not have what is needed here; and where it cannot be read, or said here.
    fn transaction(&mut self, transaction: &dyn Transaction) -> Result<(), EventError>;
}
