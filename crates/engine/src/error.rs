//! What can go wrong in the engine, with what a caller can do about it.

use std::sync::Arc;

use base::{Cancelled, ErrorClass, SqlError, codes};
use binlog::BinlogError;
use bytes::Bytes;
use store::StoreError;
use types::TypeError;

use crate::catalog::Table;
use crate::commit::CommitError;
use crate::lock::LockError;

/// A shorthand.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Why a row was refused, and which row it collides with: what `INSERT IGNORE`, `REPLACE` and `ON DUPLICATE KEY
/// UPDATE` need to go on.
#[derive(Clone, Debug)]
pub struct DuplicateKey {
    /// The table.
    pub table: Arc<Table>,
    /// Which of its indexes; 0 is the primary key.
    pub index_number: usize,
    /// The row that was refused.
    pub row: Bytes,
    /// Clustered key of the row that is there already; it is locked by this transaction.
    pub existing_key: Bytes,
}

impl DuplicateKey {
    /// The values that are there already, as MySQL prints them: `1-abc`. Most that meet a duplicate have no use for it.
    pub fn entry(&self) -> String {
        self.table.entry_text(self.index_number, &self.row)
    }
}

/// Every error of this crate.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// 1062. The statement is to be rolled back (or goes on, with IGNORE and its kin); nothing of this row was written.
    #[error("Duplicate entry '{}' for key '{}.{}'", .0.entry(), .0.table.def.name, .0.table.def.indexes[.0.index_number].name)]
    DuplicateKey(Box<DuplicateKey>),
    /// 1205. The statement is to be rolled back; the transaction goes on.
    #[error("Lock wait timeout exceeded; try restarting transaction")]
    LockWaitTimeout,
    /// 1213. The transaction has been rolled back.
    #[error("Deadlock found when trying to get lock; try restarting transaction")]
    Deadlock,
    /// 3572: NOWAIT met a lock.
    #[error("Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.")]
    LockNowait,
    /// 1317, or the end of the connection.
    #[error("Query execution was interrupted")]
    Cancelled(Cancelled),
    /// A write in a READ ONLY transaction (1792).
    #[error("Cannot execute statement in a READ ONLY transaction.")]
    ReadOnlyTransaction,
    /// A write on a server that takes its data from a source (1290).
    #[error("The MySQL server is running with the --super-read-only option so it cannot execute this statement")]
    ServerReadOnly,
    /// The transaction was rolled back before (deadlock, a lost connection) and takes nothing more.
    #[error("the transaction has been rolled back")]
    RolledBack,
    /// The table is not the one that the statement was planned with: plan again.
    #[error("table '{0}' has changed since the statement was planned")]
    TableChanged(String),
    /// 1412: the read view is older than the table's present form.
    #[error("Table definition has changed, please retry transaction")]
    TableDefChanged,
    /// A checkpoint was made of a state behind the one that was to be restored from.
    #[error("a checkpoint came in between; please try again")]
    RestoreTooLate,
    /// Something that was not looked for cannot be read.
    #[error("more of it cannot be read than was found before; please try again")]
    RestoreNotAll,
    /// 1007
    #[error("Can't create database '{0}'; database exists")]
    DatabaseExists(String),
    /// 1049
    #[error("Unknown database '{0}'")]
    NoSuchDatabase(String),
    /// 1050
    #[error("Table '{0}' already exists")]
    TableExists(String),
    /// 1146
    #[error("Table '{0}' doesn't exist")]
    NoSuchTable(String),
    /// A row mapper or a DDL planner refused.
    #[error("{0}")]
    Sql(SqlError),
    /// A bound was reached or the disk is full; nothing was committed.
    #[error("{0}")]
    Full(String),
    /// Bytes on disk are not what they should be.
    #[error("{0}")]
    Corrupt(String),
    /// The operating system failed an operation.
    #[error("{0}")]
    Io(String),
    /// The commit path or a checkpoint failed before, and the server is stopping.
    #[error("the server is stopping: {0}")]
    Stopped(String),
    /// The server is not ready for this: no log writer here, or already closed.
    #[error("{0}")]
    NotReady(&'static str),
    /// A bug of ours.
    #[error("internal error: {0}")]
    Bug(String),
}

impl EngineError {
    /// What a caller can do about it.
    pub fn class(&self) -> ErrorClass {
        use EngineError::*;
        match self {
            LockWaitTimeout | Deadlock | TableChanged(_) | TableDefChanged | RestoreTooLate | RestoreNotAll => {
                ErrorClass::Retry
            }
            Cancelled(_) => ErrorClass::Cancelled,
            Full(_) => ErrorClass::Full,
            Corrupt(_) => ErrorClass::Corrupt,
            Io(_) | Stopped(_) => ErrorClass::Io,
            Bug(_) => ErrorClass::Bug,
            _ => ErrorClass::User,
        }
    }

    /// 1071, for a key that no page of the data file can hold.
    pub(crate) fn check_key(key: &[u8]) -> Result<()> {
        if key.len() <= store::MAX_KEY_SIZE {
            return Ok(());
        }
        let message = format!("Specified key was too long; max key length is {} bytes", store::MAX_KEY_SIZE);
        Err(EngineError::Sql(SqlError::new(codes::TOO_LONG_KEY, message)))
    }

    /// Whether the transaction that met it is already rolled back as a whole.
    pub fn rolls_back_transaction(&self) -> bool {
        matches!(self, EngineError::Deadlock | EngineError::RolledBack)
    }
}

impl From<TypeError> for EngineError {
    fn from(error: TypeError) -> Self {
        match error.class() {
            ErrorClass::Corrupt => EngineError::Corrupt(error.to_string()),
            _ => EngineError::Bug(error.to_string()),
        }
    }
}

impl From<LockError> for EngineError {
    /// For owners that have nothing to roll back; transactions look closer.
    fn from(error: LockError) -> Self {
        match error {
            LockError::Timeout => EngineError::LockWaitTimeout,
            LockError::Deadlock => EngineError::Deadlock,
            LockError::NotAvailable => EngineError::LockNowait,
            LockError::Cancelled => EngineError::Cancelled(Cancelled::Statement),
            LockError::TooMany => EngineError::Sql(error.into()),
        }
    }
}

impl From<CommitError> for EngineError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Full(_) => EngineError::Full(error.to_string()),
            CommitError::Stopped => EngineError::NotReady("Server shutdown in progress"),
            _ => EngineError::Stopped(error.to_string()),
        }
    }
}

impl From<BinlogError> for EngineError {
    fn from(error: BinlogError) -> Self {
        match error {
            BinlogError::TooLarge { .. } => EngineError::Sql(SqlError::new(codes::TRANS_CACHE_FULL, error.to_string())),
            _ if error.class() == ErrorClass::User => EngineError::Sql(error.into()),
            _ => of_class(error.class(), error.to_string()),
        }
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        of_class(error.class(), error.to_string())
    }
}

fn of_class(class: ErrorClass, message: String) -> EngineError {
    match class {
        ErrorClass::Corrupt => EngineError::Corrupt(message),
        ErrorClass::Full => EngineError::Full(message),
        ErrorClass::Bug => EngineError::Bug(message),
        ErrorClass::User => EngineError::Sql(SqlError::unknown(message)),
        ErrorClass::Io | ErrorClass::Retry | ErrorClass::Cancelled => EngineError::Io(message),
    }
}

impl From<SqlError> for EngineError {
    fn from(error: SqlError) -> Self {
        EngineError::Sql(error)
    }
}

impl From<Cancelled> for EngineError {
    fn from(cancelled: Cancelled) -> Self {
        EngineError::Cancelled(cancelled)
    }
}

impl From<EngineError> for SqlError {
    fn from(error: EngineError) -> Self {
        use EngineError::*;
        let code = match &error {
            Sql(error) => return error.clone(),
            DuplicateKey(_) => codes::DUP_ENTRY,
            LockWaitTimeout => codes::LOCK_WAIT_TIMEOUT,
            Deadlock | RolledBack => codes::LOCK_DEADLOCK,
            LockNowait => codes::LOCK_NOWAIT,
            EngineError::Cancelled(_) => codes::QUERY_INTERRUPTED,
            ReadOnlyTransaction => codes::CANT_EXECUTE_IN_READ_ONLY_TRANSACTION,
            ServerReadOnly => codes::OPTION_PREVENTS_STATEMENT,
            TableDefChanged | TableChanged(_) => codes::TABLE_DEF_CHANGED,
            RestoreTooLate | RestoreNotAll => codes::LOCK_WAIT_TIMEOUT,
            DatabaseExists(_) => codes::DB_CREATE_EXISTS,
            NoSuchDatabase(_) => codes::BAD_DB_ERROR,
            TableExists(_) => codes::TABLE_EXISTS_ERROR,
            NoSuchTable(_) => codes::NO_SUCH_TABLE,
            Full(_) => codes::DISK_FULL,
            Corrupt(_) => codes::CRASHED_ON_USAGE,
            Io(_) => codes::ERROR_ON_WRITE,
            Stopped(_) | NotReady(_) => codes::SERVER_SHUTDOWN,
            Bug(_) => codes::UNKNOWN_ERROR,
        };
        SqlError::new(code, error.to_string())
    }
}
