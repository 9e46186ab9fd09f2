//! What can go wrong.

use base::{ErrorClass, LogPosition, SqlError, codes};
use binlog::{BinaryLog, BinlogError};
use engine::EngineError;

/// Result of this crate.
pub(crate) type Result<T> = std::result::Result<T, ApplyError>;

/// Why applying stopped.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ApplyError {
    /// The log cannot be read.
    #[error("{0}")]
    Log(#[from] BinlogError),
    /// The engine refused, at a transaction.
    #[error("applying the transaction at {at}: {error}")]
    Engine {
        /// Where the transaction begins.
        at: LogPosition,
        /// Its error.
        error: EngineError,
    },
    /// A schema change cannot be repeated here.
    #[error("applying '{sql}' at {at}: {error}")]
    Ddl {
        /// Where the transaction begins.
        at: LogPosition,
        /// The statement, or its beginning.
        sql: String,
        /// Its error.
        error: EngineError,
    },
    /// An event is not what it has to be.
    #[error("the transaction at {at} cannot be applied: {reason}")]
    Event {
        /// Where the transaction begins.
        at: LogPosition,
        /// What is wrong.
        reason: String,
    },
    /// The same, with its place in a file.
    #[error("{error}")]
    Unfit {
        /// Where the transaction begins.
        at: LogPosition,
        /// What is wrong, and where.
        error: BinlogError,
    },
    /// An event that only another kind of server writes, or that is not applied yet.
    #[error("the transaction at {at} cannot be applied: {what} is not supported")]
    NotSupported {
        /// Where the transaction begins.
        at: LogPosition,
        /// What it is.
        what: String,
    },
    /// The state here is not the state that the source had.
    #[error("the transaction at {at} cannot be applied: {reason}")]
    Drifted {
        /// Where the transaction begins.
        at: LogPosition,
        /// What differs.
        reason: String,
    },
    /// The state here was compared with the source's, and is another.
    #[error("at {at} this server is not what its source is, in {tables}")]
    Differs {
        /// Where both were compared.
        at: LogPosition,
        /// Names of tables.
        tables: String,
    },
}

impl ApplyError {
    /// Of an event that is not what it has to be: the log is damaged there, and its file and offset are what helps.
    pub(crate) fn named(self, log: &BinaryLog) -> Self {
        match self {
            ApplyError::Event { at, reason } => {
                let reason = format!("the transaction that begins here cannot be applied: {reason}");
                ApplyError::Unfit { at, error: BinlogError::corrupt(&log.file_name(at.file), at.offset, reason) }
            }
            error => error,
        }
    }

    /// Of the transaction at a place, which cannot be read.
    pub(crate) fn reading(at: LogPosition, error: BinlogError) -> Self {
        match error {
            BinlogError::Corrupt { .. } | BinlogError::TooLarge { .. } => ApplyError::Unfit { at, error },
            error => ApplyError::Log(error),
        }
    }

    /// Where the transaction begins, if it may be one that cannot be applied here whatever is tried; `None` of what may pass, or ends the
    /// server (a disk, its room, a shutdown).
    pub(crate) fn of_transaction(&self) -> Option<LogPosition> {
        match self {
            ApplyError::Event { at, .. }
            | ApplyError::Unfit { at, .. }
            | ApplyError::NotSupported { at, .. }
            | ApplyError::Drifted { at, .. } => Some(*at),
            // Damage: an image that is no row, or a row or page that it needs. A bug: something in an event that the code does not foresee.
            ApplyError::Engine { at, error } | ApplyError::Ddl { at, error, .. } => {
                matches!(error.class(), ErrorClass::User | ErrorClass::Corrupt | ErrorClass::Bug).then_some(*at)
            }
            ApplyError::Log(_) | ApplyError::Differs { .. } => None,
        }
    }

    /// What a caller can do about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            ApplyError::Log(error) | ApplyError::Unfit { error, .. } => error.class(),
            ApplyError::Engine { error, .. } | ApplyError::Ddl { error, .. } => error.class(),
            ApplyError::Event { .. } => ErrorClass::Corrupt,
            ApplyError::NotSupported { .. } | ApplyError::Drifted { .. } | ApplyError::Differs { .. } => {
                ErrorClass::User
            }
        }
    }

    /// MySQL's number for it, as in `Last_SQL_Errno`.
    pub fn code(&self) -> u16 {
        SqlError::from(self.clone()).code
    }
}

impl From<ApplyError> for SqlError {
    fn from(error: ApplyError) -> Self {
        let message = error.to_string();
        match error {
            ApplyError::Log(error) | ApplyError::Unfit { error, .. } => SqlError { message, ..SqlError::from(error) },
            ApplyError::Engine { error, .. } | ApplyError::Ddl { error, .. } => {
                SqlError { message, ..SqlError::from(error) }
            }
            ApplyError::NotSupported { .. } => SqlError::new(codes::NOT_SUPPORTED_YET, message),
            ApplyError::Event { .. } | ApplyError::Drifted { .. } | ApplyError::Differs { .. } => {
                SqlError::unknown(message)
            }
        }
    }
}
