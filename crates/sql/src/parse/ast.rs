//! Statements as the parser gives them.
//!
//! Queries and row changes are `sqlparser`'s trees; what it lacks or knows only roughly (definitions, accounts, SET, SHOW,
//! administration) is ours. Spans in `sqlparser`'s trees have **byte offsets**: `Location { line: 1, column: offset + 1 }`
//! into the statement's text, so that [`ParsedStatement::source`] finds the text of a part. Placeholders are numbered:
//! the third `?` of a statement is `Value::Placeholder("?2")`.
//!
//! [`ParsedStatement::source`]: super::ParsedStatement::source

use std::fmt;

pub use engine::Isolation;
use sqlparser::ast as sql;

/// A statement of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// SELECT, UNION, VALUES, WITH …
    Query(Box<sql::Query>),
    /// INSERT, REPLACE.
    Insert(Box<sql::Insert>),
    /// UPDATE.
    Update(Update),
    /// DELETE.
    Delete(Delete),
    /// EXPLAIN of one of the above. (EXPLAIN of a table is [`Show::Columns`].)
    Explain(Explain),
    /// DO.
    Do(Vec<sql::Expr>),
    /// SET, with its items in order.
    Set(Vec<SetItem>),
    /// SHOW, DESCRIBE.
    Show(Show),
    /// Definitions of data and accounts: everything that becomes an `engine::CatalogChange`.
    Ddl(Ddl),
    /// CREATE TABLE … SELECT: the definition, then the rows.
    CreateTableSelect(Box<CreateTable>, Box<sql::Query>),
    /// BEGIN, COMMIT, SAVEPOINT, ….
    Transaction(TransactionStatement),
    /// LOCK TABLES.
    LockTables(Vec<LockTable>),
    /// UNLOCK TABLES.
    UnlockTables,
    /// USE.
    Use(String),
    /// PREPARE … FROM.
    Prepare {
        /// The statement's name.
        name: String,
        /// Its text.
        from: PrepareSource,
    },
    /// EXECUTE … USING.
    Execute {
        /// The statement's name.
        name: String,
        /// Names of user variables, without `@`.
        using: Vec<String>,
    },
    /// DEALLOCATE PREPARE.
    Deallocate(String),
    /// Everything else that an administrator says.
    Admin(Admin),
}

/// A table with or without its database.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The database, if it was named.
    pub schema: Option<String>,
    /// The table.
    pub name: String,
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// UPDATE with the modifiers that `sqlparser` does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// IGNORE was given.
    pub ignore: bool,
    /// The rest.
    pub update: Box<sql::Update>,
}

/// DELETE with the modifiers that `sqlparser` does not know (LOW_PRIORITY and QUICK mean nothing here and are dropped).
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// IGNORE was given.
    pub ignore: bool,
    /// The rest.
    pub delete: Box<sql::Delete>,
}

/// EXPLAIN.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// How to print.
    pub format: ExplainFormat,
    /// EXPLAIN ANALYZE: run it, and say what it took.
    pub analyze: bool,
    /// Query, insert, update or delete.
    pub statement: Box<Statement>,
}

/// FORMAT of EXPLAIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// Rows and columns.
    Traditional,
    /// A tree of operators, one to a line.
    Tree,
    /// JSON.
    Json,
}

/// One assignment of a SET statement.
#[derive(Clone, Debug, PartialEq)]
pub enum SetItem {
    /// `SET @a = …`
    UserVariable {
        /// Without `@`.
        name: String,
        /// The new value.
        value: sql::Expr,
    },
    /// `SET [GLOBAL | SESSION | …] a = …`
    Variable {
        /// Where.
        scope: SetScope,
        /// As written.
        name: String,
        /// `None` for DEFAULT.
        value: Option<sql::Expr>,
    },
    /// `SET NAMES … [COLLATE …]`; `None` for DEFAULT.
    Names {
        /// The character set.
        charset: Option<String>,
        /// Its collation.
        collation: Option<String>,
    },
    /// `SET CHARACTER SET …`; `None` for DEFAULT.
    CharacterSet(Option<String>),
    /// `SET [GLOBAL | SESSION] TRANSACTION …`; a characteristic that was not given is `None`.
    Transaction {
        /// `SetScope::Next` without GLOBAL or SESSION: for the next transaction only.
        scope: SetScope,
        /// ISOLATION LEVEL.
        isolation: Option<Isolation>,
        /// READ ONLY, READ WRITE.
        read_only: Option<bool>,
    },
    /// `SET PASSWORD [FOR user] = '…'`
    Password {
        /// The session's own account if `None`.
        user: Option<UserName>,
        /// The new password, in the clear.
        password: String,
    },
}

/// Where a variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetScope {
    /// Nothing was said: the session.
    Default,
    /// SESSION, LOCAL, `@@session.`.
    Session,
    /// GLOBAL, `@@global.`.
    Global,
    /// PERSIST: global, and kept over restarts.
    Persist,
    /// PERSIST_ONLY: for the next start only.
    PersistOnly,
    /// For the next transaction only.
    Next,
}

/// BEGIN, COMMIT and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionStatement {
    /// BEGIN, START TRANSACTION.
    Begin {
        /// WITH CONSISTENT SNAPSHOT.
        consistent_snapshot: bool,
        /// READ ONLY, READ WRITE.
        read_only: Option<bool>,
    },
    /// COMMIT.
    Commit(Completion),
    /// ROLLBACK.
    Rollback(Completion),
    /// SAVEPOINT.
    Savepoint(String),
    /// ROLLBACK TO.
    RollbackTo(String),
    /// RELEASE SAVEPOINT.
    ReleaseSavepoint(String),
}

/// What follows COMMIT or ROLLBACK; `None` where nothing was said (`completion_type` decides).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// AND [NO] CHAIN.
    pub chain: Option<bool>,
    /// [NO] RELEASE.
    pub release: Option<bool>,
}

/// A table of LOCK TABLES.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockTable {
    /// The table.
    pub table: TableName,
    /// AS.
    pub alias: Option<String>,
    /// WRITE instead of READ.
    pub write: bool,
}

/// The text of a PREPARE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrepareSource {
    /// A literal.
    Text(String),
    /// A user variable, without `@`.
    Variable(String),
}

// ---------------------------------------------------------------------------------------------------------------------
// Definitions

/// Definitions of data and accounts.
#[derive(Clone, Debug, PartialEq)]
pub enum Ddl {
    /// CREATE DATABASE.
    CreateDatabase {
        /// Its name.
        name: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Character set and collation.
        options: DatabaseOptions,
    },
    /// ALTER DATABASE; the default database if there is no name.
    AlterDatabase {
        /// Its name.
        name: Option<String>,
        /// Character set and collation.
        options: DatabaseOptions,
    },
    /// DROP DATABASE.
    DropDatabase {
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE TABLE.
    CreateTable(Box<CreateTable>),
    /// DROP TABLE.
    DropTables {
        /// One or more.
        tables: Vec<TableName>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER TABLE, CREATE INDEX, DROP INDEX.
    AlterTable(Box<AlterTable>),
    /// TRUNCATE.
    Truncate(TableName),
    /// RENAME TABLE: from, to.
    RenameTables(Vec<(TableName, TableName)>),
    /// CREATE USER.
    CreateUser {
        /// One or more.
        users: Vec<UserSpec>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// ACCOUNT LOCK / UNLOCK.
        locked: Option<bool>,
    },
    /// ALTER USER, SET PASSWORD.
    AlterUser {
        /// One or more.
        users: Vec<UserSpec>,
        /// IF EXISTS.
        if_exists: bool,
        /// ACCOUNT LOCK / UNLOCK.
        locked: Option<bool>,
    },
    /// DROP USER.
    DropUser {
        /// One or more.
        users: Vec<UserName>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME USER: from, to.
    RenameUser(Vec<(UserName, UserName)>),
    /// GRANT.
    Grant(Grant),
    /// REVOKE; with `grant_option` the right to grant is revoked as well.
    Revoke(Grant),
}

/// Options of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// CHARACTER SET.
    pub charset: Option<String>,
    /// COLLATE.
    pub collation: Option<String>,
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Its name.
    pub name: TableName,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// LIKE another table; columns, indexes and options are empty then.
    pub like: Option<TableName>,
    /// In order.
    pub columns: Vec<ColumnSpec>,
    /// In order, with those that stood at a column.
    pub indexes: Vec<IndexSpec>,
    /// ENGINE, AUTO_INCREMENT, ….
    pub options: TableOptions,
    /// What a SELECT behind it does with duplicates.
    pub on_duplicate: OnDuplicate,
}

/// IGNORE or REPLACE in front of the SELECT of CREATE TABLE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// An error.
    #[default]
    Error,
    /// IGNORE.
    Ignore,
    /// REPLACE.
    Replace,
}

/// A column's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeSpec,
    /// `Some(true)` for NULL, `Some(false)` for NOT NULL.
    pub nullable: Option<bool>,
    /// DEFAULT.
    pub default: Option<DefaultSpec>,
    /// ON UPDATE CURRENT_TIMESTAMP, with its digits.
    pub on_update_now: Option<u8>,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// INVISIBLE.
    pub invisible: bool,
    /// COMMENT.
    pub comment: String,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSpec {
    /// In lower case and without synonyms: `int`, `varchar`, `decimal`, `double`, ….
    pub name: &'static str,
    /// `(10)`, `(10,2)`.
    pub length: Option<u64>,
    /// The second number.
    pub decimals: Option<u64>,
    /// UNSIGNED.
    pub unsigned: bool,
    /// ZEROFILL (which implies UNSIGNED).
    pub zerofill: bool,
    /// Of ENUM and SET.
    pub members: Vec<String>,
    /// CHARACTER SET; `binary` for `CHAR BYTE`.
    pub charset: Option<String>,
    /// COLLATE.
    pub collation: Option<String>,
    /// BINARY behind a character type: the `_bin` collation of its character set.
    pub binary: bool,
}

/// DEFAULT.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultSpec {
    /// DEFAULT NULL.
    Null,
    /// A literal (with its sign).
    Literal(Literal),
    /// CURRENT_TIMESTAMP(n), NOW(n), ….
    Now(u8),
}

/// A literal in a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A quoted string.
    String(String),
    /// A number as written, with its sign.
    Number(String),
    /// `x'…'`, `0x…`, `b'…'`, `0b…`.
    Bytes(Vec<u8>),
    /// TRUE, FALSE.
    Bool(bool),
}

/// What an index is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// PRIMARY KEY.
    Primary,
    /// UNIQUE.
    Unique,
    /// KEY, INDEX.
    Plain,
}

/// An index's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSpec {
    /// What it is for.
    pub kind: IndexKind,
    /// Its name, if one was given.
    pub name: Option<String>,
    /// Its columns.
    pub parts: Vec<IndexPart>,
    /// COMMENT.
    pub comment: String,
    /// INVISIBLE.
    pub invisible: bool,
    /// USING BTREE or HASH as written; there are only trees.
    pub using: Option<String>,
}

/// A column of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPart {
    /// The column.
    pub column: String,
    /// `(10)`.
    pub prefix: Option<u32>,
    /// DESC.
    pub descending: bool,
}

/// Options of a table; `None` where nothing was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// ENGINE.
    pub engine: Option<String>,
    /// AUTO_INCREMENT.
    pub auto_increment: Option<u64>,
    /// CHARACTER SET; `Some(None)` is DEFAULT.
    pub charset: Option<String>,
    /// COLLATE.
    pub collation: Option<String>,
    /// COMMENT.
    pub comment: Option<String>,
    /// Options that are recorded and shown but change nothing, as `SHOW CREATE TABLE` prints them: `ROW_FORMAT=DYNAMIC`.
    pub recorded: Vec<(String, String)>,
}

/// ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub table: TableName,
    /// What to change, in order.
    pub actions: Vec<AlterAction>,
}

/// One action of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    /// ADD COLUMN.
    AddColumn(Box<ColumnSpec>, ColumnPlace),
    /// DROP COLUMN.
    DropColumn(String),
    /// MODIFY COLUMN.
    ModifyColumn(Box<ColumnSpec>, ColumnPlace),
    /// CHANGE COLUMN: the old name first.
    ChangeColumn(String, Box<ColumnSpec>, ColumnPlace),
    /// RENAME COLUMN … TO ….
    RenameColumn(String, String),
    /// ALTER COLUMN … SET DEFAULT / DROP DEFAULT.
    ColumnDefault(String, Option<DefaultSpec>),
    /// ALTER COLUMN … SET VISIBLE / INVISIBLE.
    ColumnVisible(String, bool),
    /// ADD INDEX, ADD PRIMARY KEY, ….
    AddIndex(IndexSpec),
    /// DROP INDEX.
    DropIndex(String),
    /// DROP PRIMARY KEY.
    DropPrimaryKey,
    /// RENAME INDEX … TO ….
    RenameIndex(String, String),
    /// ALTER INDEX … VISIBLE / INVISIBLE.
    IndexVisible(String, bool),
    /// RENAME [TO].
    Rename(TableName),
    /// ENGINE=…, AUTO_INCREMENT=…, ….
    Options(TableOptions),
    /// CONVERT TO CHARACTER SET … COLLATE ….
    ConvertTo(String, Option<String>),
    /// ORDER BY, FORCE, DISABLE KEYS, ALGORITHM, LOCK: accepted, nothing to do (FORCE rebuilds).
    Nothing,
}

/// Where a column goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPlace {
    /// Nothing was said: at the end, or where it was.
    Default,
    /// FIRST.
    First,
    /// AFTER.
    After(String),
}

/// `'user'@'host'`; host `%` where none was given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserName {
    /// Empty for anybody.
    pub user: String,
    /// A pattern.
    pub host: String,
}

impl fmt::Display for UserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'@'{}'", self.user.replace('\'', "''"), self.host.replace('\'', "''"))
    }
}

/// A user of CREATE USER or ALTER USER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSpec {
    /// Who; `None` for `USER()`.
    pub name: Option<UserName>,
    /// How the user proves it; `None` if nothing was said.
    pub auth: Option<AuthSpec>,
}

/// IDENTIFIED ….
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSpec {
    /// WITH; the default one if `None`.
    pub plugin: Option<String>,
    /// What is stored or hashed.
    pub secret: AuthSecret,
}

/// What follows IDENTIFIED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthSecret {
    /// Only a plugin.
    None,
    /// BY: in the clear.
    Password(String),
    /// AS: as stored.
    Hash(String),
}

/// GRANT and REVOKE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// As written, in upper case: `SELECT`, `REPLICATION SLAVE`, …; `ALL` for ALL PRIVILEGES.
    pub privileges: Vec<String>,
    /// ON.
    pub on: GrantLevel,
    /// TO, FROM.
    pub users: Vec<UserName>,
    /// WITH GRANT OPTION.
    pub grant_option: bool,
}

/// ON of GRANT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantLevel {
    /// `*.*`
    Global,
    /// `db.*`, or `*` for the default database (`None`).
    Database(Option<String>),
    /// `db.table`
    Table(TableName),
}

// ---------------------------------------------------------------------------------------------------------------------
// SHOW

/// SHOW and DESCRIBE.
#[derive(Clone, Debug, PartialEq)]
pub enum Show {
    /// SHOW DATABASES.
    Databases(Filter),
    /// SHOW [FULL] TABLES.
    Tables {
        /// FULL.
        full: bool,
        /// FROM.
        database: Option<String>,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW TABLE STATUS.
    TableStatus {
        /// FROM.
        database: Option<String>,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW [FULL] COLUMNS, DESCRIBE.
    Columns {
        /// FULL.
        full: bool,
        /// EXTENDED: with invisible ones of the server's own.
        extended: bool,
        /// Of this table.
        table: TableName,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW INDEX.
    Index {
        /// Of this table.
        table: TableName,
        /// WHERE.
        filter: Filter,
    },
    /// SHOW CREATE TABLE.
    CreateTable(TableName),
    /// SHOW CREATE DATABASE.
    CreateDatabase {
        /// Its name.
        name: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// SHOW CREATE USER; `None` for the session's own.
    CreateUser(Option<UserName>),
    /// SHOW VARIABLES.
    Variables {
        /// GLOBAL.
        global: bool,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW STATUS.
    Status {
        /// GLOBAL.
        global: bool,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW [FULL] PROCESSLIST.
    Processlist {
        /// FULL.
        full: bool,
    },
    /// SHOW WARNINGS; only errors for SHOW ERRORS.
    Warnings {
        /// SHOW ERRORS.
        only_errors: bool,
        /// LIMIT.
        limit: Limit,
    },
    /// SHOW COUNT(*) WARNINGS / ERRORS.
    WarningCount {
        /// ERRORS.
        only_errors: bool,
    },
    /// SHOW [STORAGE] ENGINES.
    Engines,
    /// SHOW ENGINE … STATUS.
    EngineStatus(String),
    /// SHOW PLUGINS.
    Plugins,
    /// SHOW PRIVILEGES.
    Privileges,
    /// SHOW CHARACTER SET.
    CharacterSets(Filter),
    /// SHOW COLLATION.
    Collations(Filter),
    /// SHOW GRANTS; `None` for the session's own.
    Grants(Option<UserName>),
    /// SHOW BINARY LOGS.
    BinaryLogs,
    /// SHOW BINARY LOG STATUS.
    BinaryLogStatus,
    /// SHOW BINLOG EVENTS.
    BinlogEvents {
        /// IN.
        file: Option<String>,
        /// FROM.
        position: Option<u64>,
        /// LIMIT.
        limit: Limit,
    },
    /// SHOW REPLICAS.
    Replicas,
    /// SHOW REPLICA STATUS.
    ReplicaStatus {
        /// With the old names of columns (SHOW SLAVE STATUS).
        old_names: bool,
        /// FOR CHANNEL.
        channel: ChannelName,
    },
    /// SHOW of things that there are none of: TRIGGERS, EVENTS, PROCEDURE STATUS, FUNCTION STATUS, OPEN TABLES.
    Nothing(NothingToShow, Filter),
    /// SHOW PROFILES, SHOW PROFILE.
    Profiles,
}

/// Things that do not exist here but whose lists clients ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are MySQL's own")]
pub enum NothingToShow {
    Triggers,
    Events,
    ProcedureStatus,
    FunctionStatus,
    OpenTables,
}

/// LIKE or WHERE of a SHOW.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Everything.
    None,
    /// LIKE on the first column.
    Like(String),
    /// WHERE.
    Where(Box<sql::Expr>),
}

/// LIMIT of an administrative statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Rows to skip.
    pub offset: u64,
    /// At most so many.
    pub count: Option<u64>,
}

// ---------------------------------------------------------------------------------------------------------------------
// Administration

/// FOR CHANNEL: empty for the only channel there is.
pub type ChannelName = String;

/// What an administrator says.
#[derive(Clone, Debug, PartialEq)]
pub enum Admin {
    /// CHANGE REPLICATION SOURCE TO.
    ChangeSource(ChangeSource),
    /// START REPLICA.
    StartReplica(StartReplica),
    /// STOP REPLICA.
    StopReplica(StopReplica),
    /// RESET REPLICA [ALL].
    ResetReplica {
        /// ALL: forget the source as well.
        all: bool,
        /// FOR CHANNEL.
        channel: ChannelName,
    },
    /// RESET BINARY LOGS AND GTIDS, with the number of the first file.
    ResetBinaryLogs(Option<u64>),
    /// PURGE BINARY LOGS TO.
    PurgeTo(String),
    /// PURGE BINARY LOGS BEFORE.
    PurgeBefore(Box<sql::Expr>),
    /// FLUSH.
    Flush(Vec<FlushTarget>),
    /// KILL.
    Kill {
        /// KILL QUERY.
        query_only: bool,
        /// The connection's number.
        id: Box<sql::Expr>,
    },
    /// SHUTDOWN.
    Shutdown,
    /// ANALYZE, CHECK, OPTIMIZE, REPAIR or CHECKSUM TABLE.
    Tables {
        /// What to do.
        what: TableMaintenance,
        /// With these.
        tables: Vec<TableName>,
    },
}

/// What is done to tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are MySQL's own")]
pub enum TableMaintenance {
    Analyze,
    Check,
    Optimize,
    Repair,
    Checksum,
}

/// What FLUSH flushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlushTarget {
    /// LOGS: all of them; for us the binary log.
    Logs,
    /// BINARY LOGS.
    BinaryLogs,
    /// STATUS.
    Status,
    /// PRIVILEGES, HOSTS, ERROR LOGS, …: nothing is cached, so there is nothing to do.
    Nothing,
    /// TABLES [t, …].
    Tables(Vec<TableName>),
    /// TABLES [t, …] WITH READ LOCK.
    TablesWithReadLock(Vec<TableName>),
    /// RELAY LOGS.
    RelayLogs,
}

/// Options of CHANGE REPLICATION SOURCE TO; `None` where nothing was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeSource {
    /// SOURCE_HOST.
    pub host: Option<String>,
    /// SOURCE_PORT.
    pub port: Option<u16>,
    /// SOURCE_USER.
    pub user: Option<String>,
    /// SOURCE_PASSWORD.
    pub password: Option<String>,
    /// SOURCE_LOG_FILE.
    pub log_file: Option<String>,
    /// SOURCE_LOG_POS.
    pub log_position: Option<u64>,
    /// SOURCE_AUTO_POSITION; MariaDB's MASTER_USE_GTID = slave_pos | current_pos is the same.
    pub auto_position: Option<bool>,
    /// SOURCE_CONNECT_RETRY, in seconds.
    pub connect_retry_seconds: Option<u64>,
    /// SOURCE_RETRY_COUNT.
    pub retry_count: Option<u64>,
    /// SOURCE_HEARTBEAT_PERIOD, in seconds.
    pub heartbeat_period_seconds: Option<f64>,
    /// SOURCE_DELAY, in seconds.
    pub delay_seconds: Option<u64>,
    /// SOURCE_SSL.
    pub ssl: Option<bool>,
    /// SOURCE_SSL_CA.
    pub ssl_ca: Option<String>,
    /// SOURCE_SSL_CERT.
    pub ssl_cert: Option<String>,
    /// SOURCE_SSL_KEY.
    pub ssl_key: Option<String>,
    /// SOURCE_SSL_VERIFY_SERVER_CERT.
    pub ssl_verify_server_cert: Option<bool>,
    /// GET_SOURCE_PUBLIC_KEY.
    pub get_public_key: Option<bool>,
    /// FOR CHANNEL.
    pub channel: ChannelName,
}

/// START REPLICA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartReplica {
    /// IO_THREAD was named (or nothing was, which means both).
    pub receiver: bool,
    /// SQL_THREAD was named (or nothing was).
    pub applier: bool,
    /// UNTIL.
    pub until: Option<ReplicaUntil>,
    /// USER.
    pub user: Option<String>,
    /// PASSWORD.
    pub password: Option<String>,
    /// FOR CHANNEL.
    pub channel: ChannelName,
}

/// STOP REPLICA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopReplica {
    /// IO_THREAD was named (or nothing was, which means both).
    pub receiver: bool,
    /// SQL_THREAD was named (or nothing was).
    pub applier: bool,
    /// FOR CHANNEL.
    pub channel: ChannelName,
}

/// UNTIL of START REPLICA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicaUntil {
    /// SQL_BEFORE_GTIDS.
    BeforeGtids(String),
    /// SQL_AFTER_GTIDS.
    AfterGtids(String),
    /// SOURCE_LOG_FILE, SOURCE_LOG_POS.
    Position {
        /// File.
        file: String,
        /// Offset.
        position: u64,
    },
}
