//! Statements as the parser gives them.
//!
//! Queries and row changes are the trees of [`crate::ast`]; definitions, accounts, SET, SHOW and administration are here.

mod absent;
mod admin;
mod alter;
mod definition;
mod load;
pub mod program;
mod role;
mod show;
mod user;

use std::fmt;

use binlog::event::Xid;

use crate::ast as sql;
pub use absent::AbsentKind;
pub use admin::{
    Admin, ChangeSource, ChannelName, Checksum, Cuts, EncodedRange, FlushTarget, Histogram, HistogramChange,
    ReplicaUntil, StartReplica, StopReplica, TableMaintenance,
};
pub use alter::{AlterAction, AlterTable, ColumnPlace, Online, RowOrder};
pub use definition::*;
pub use load::{FileFormat, LoadData, LoadDuplicates, LoadTarget};
pub use role::{GrantAs, RoleChoice, RoleGrant};
pub use show::{Filter, Limit, NothingToShow, Show};
pub use user::{Expire, GrantedAccounts, OrDefault, Requirement, UNBOUNDED, UserAttribute, UserOptions};

/// A statement of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// SELECT, UNION, VALUES, WITH …
    Query(Box<sql::Query>),
    /// INSERT, REPLACE.
    Insert(Box<sql::Insert>),
    /// UPDATE.
    Update(Box<sql::Update>),
    /// DELETE.
    Delete(Box<sql::Delete>),
    /// LOAD DATA.
    Load(Box<LoadData>),
    /// EXPLAIN of one of the above. (EXPLAIN of a table is [`Show::Columns`].)
    Explain(Explain),
    /// DO.
    Do(Box<sql::Query>),
    /// SET, with its items in order.
    Set(Vec<SetItem>),
    /// SET ROLE.
    SetRole(RoleChoice),
    /// SHOW, DESCRIBE.
    Show(Show),
    /// Definitions of data and accounts: everything that becomes an `engine::CatalogChange`.
    Ddl(Ddl),
    /// CREATE TABLE … SELECT: the definition, then the rows.
    CreateTableSelect(Box<CreateTable>, Box<sql::Query>),
    /// BEGIN, COMMIT, SAVEPOINT, ….
    Transaction(TransactionStatement),
    /// XA.
    Xa(XaStatement),
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
    /// BINLOG: events of a log.
    Binlog(BinlogEvents),
    /// Stored programs, and what is made for them.
    Program(Box<program::ProgramStatement>),
    /// Everything else that an administrator says.
    Admin(Admin),
}

/// A statement of distributed transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XaStatement {
    /// XA START.
    Start {
        /// The transaction's name.
        xid: Xid,
        /// What stands behind it.
        mode: XaStart,
    },
    /// XA END.
    End {
        /// The transaction's name.
        xid: Xid,
        /// SUSPEND.
        suspends: bool,
    },
    /// XA PREPARE.
    Prepare(Xid),
    /// XA COMMIT.
    Commit {
        /// The transaction's name.
        xid: Xid,
        /// ONE PHASE.
        one_phase: bool,
    },
    /// XA ROLLBACK.
    Rollback(Xid),
    /// XA RECOVER.
    Recover(XidFormat),
}

/// How a distributed transaction is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XaStart {
    /// As a new one.
    New,
    /// RESUME: after XA END.
    Resume,
    /// JOIN.
    Join,
}

/// How XA RECOVER shows a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XidFormat {
    /// Its bytes.
    Raw,
    /// CONVERT XID: them in hexadecimal.
    Hex,
    /// As in a statement (MariaDB's FORMAT='SQL').
    Sql,
}

/// Where BINLOG has its events from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BinlogEvents {
    /// From its text, in base 64.
    Text(String),
    /// From two user variables (names without `@`) that hold the two halves of such a text. MariaDB's, for what is too long for a packet.
    Halves(String, String),
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

/// EXPLAIN.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// How to print, if it says so.
    pub format: Option<ExplainFormat>,
    /// EXPLAIN ANALYZE: run it, and say what it took.
    pub analyze: bool,
    /// INTO: the name of a user variable that takes the text.
    pub into: Option<String>,
    /// FOR SCHEMA: the default database of its names.
    pub schema: Option<String>,
    /// Where its statement begins in the text.
    pub start: sql::Place,
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
    /// `SET PASSWORD [FOR user] = '…'`: the session's own account if it names none.
    Password(Box<UserSpec>),
}

/// ISOLATION LEVEL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
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
