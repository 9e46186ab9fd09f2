//! What can go wrong with events and with the log.

use std::io;

use base::{ErrorClass, SqlError, codes};

/// Result of this crate.
pub type Result<T, E = BinlogError> = std::result::Result<T, E>;

/// Bytes that are not the event they claim to be. Has no position; [`BinlogError::Corrupt`] adds it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub String);

impl DecodeError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        DecodeError(reason.into())
    }

    pub(crate) fn short(what: &str) -> Self {
        DecodeError(format!("{what} ends too early"))
    }
}

/// An error of the log.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BinlogError {
    /// The operating system failed an operation.
    #[error("{operation} of {file}: {message}")]
    Io {
        /// What was tried.
        operation: &'static str,
        /// Name of the file.
        file: String,
        /// For telling a full disk from a broken one.
        kind: io::ErrorKind,
        /// The system's words.
        message: String,
    },
    /// A log file holds bytes that it must not hold.
    #[error("{file} is damaged at offset {offset}: {reason}")]
    Corrupt {
        /// Name of the file.
        file: String,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// A file that was cut: its server died, or it was copied while it was written.
    #[error("{file} ends inside of the event at {offset}")]
    Truncated {
        /// Name of the file.
        file: String,
        /// Where its last event begins, in bytes.
        offset: u64,
    },
    /// A log file of another server, which that server encrypted.
    #[error("{0} is encrypted: only the server that wrote it, with its keys, can read it")]
    Encrypted(String),
    /// A log file of a server before MySQL 5.0.
    #[error(
        "{file} has format {version} of binary logs, that of MySQL {server}: only format 4 is read, which is that of 5.0 and later"
    )]
    TooOld {
        /// Name of the file.
        file: String,
        /// 1 or 3.
        version: u16,
        /// The version of the server that wrote it.
        server: String,
    },
    /// Bytes from elsewhere (the network, a caller) are not an event.
    #[error("malformed event: {0}")]
    Malformed(#[from] DecodeError),
    /// A configured bound was passed.
    #[error("{what} of {size} bytes is larger than the {limit} that are allowed")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size, in bytes.
        size: u64,
        /// The bound, in bytes.
        limit: u64,
    },
    /// There is no room for the log to grow.
    #[error("no space left for the binary log: {0}")]
    Full(String),
    /// No log file of this name.
    #[error("could not find log file '{0}'")]
    NoSuchFile(String),
    /// A position that is not at the start of an event, or past the end.
    #[error("position {offset} of {file} is not the start of an event: {reason}")]
    NoSuchPosition {
        /// Name of the file.
        file: String,
        /// The position asked for.
        offset: u64,
        /// Why not.
        reason: String,
    },
    /// The file is still needed.
    #[error("log file '{file}' is needed by {by}")]
    InUse {
        /// Name of the file.
        file: String,
        /// Who needs it.
        by: String,
    },
    /// The log was closed: the server is going down.
    #[error("the binary log is closed")]
    Closed,
    /// An earlier write or sync failed; nothing may be written after it.
    #[error("the binary log stopped after a failure: {0}")]
    Failed(String),
}

impl BinlogError {
    pub(crate) fn io(operation: &'static str, file: &str, error: &io::Error) -> Self {
        BinlogError::Io { operation, file: file.to_owned(), kind: error.kind(), message: error.to_string() }
    }

    /// Bytes at an offset of a file that are not what they should be.
    pub fn corrupt(file: &str, offset: u64, reason: impl ToString) -> Self {
        BinlogError::Corrupt { file: file.to_owned(), offset, reason: reason.to_string() }
    }

    /// What a caller can do about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            BinlogError::Io { kind: io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, .. } => ErrorClass::Full,
            BinlogError::Io { .. } | BinlogError::Failed(_) => ErrorClass::Io,
            BinlogError::Corrupt { .. } | BinlogError::Truncated { .. } | BinlogError::Malformed(_) => {
                ErrorClass::Corrupt
            }
            BinlogError::Full(_) => ErrorClass::Full,
            BinlogError::TooLarge { .. }
            | BinlogError::Encrypted(_)
            | BinlogError::TooOld { .. }
            | BinlogError::NoSuchFile(_)
            | BinlogError::NoSuchPosition { .. }
            | BinlogError::InUse { .. } => ErrorClass::User,
            BinlogError::Closed => ErrorClass::Cancelled,
        }
    }
}

impl From<BinlogError> for SqlError {
    fn from(error: BinlogError) -> Self {
        let code = match &error {
            BinlogError::NoSuchFile(_) => codes::UNKNOWN_TARGET_BINLOG,
            BinlogError::NoSuchPosition { .. } | BinlogError::Corrupt { .. } => {
                codes::SOURCE_FATAL_ERROR_READING_BINLOG
            }
            BinlogError::Full(_) => codes::DISK_FULL,
            BinlogError::Closed => codes::SERVER_SHUTDOWN,
            BinlogError::Io { .. } | BinlogError::Failed(_) => codes::ERROR_ON_WRITE,
            _ => codes::UNKNOWN_ERROR,
        };
        SqlError::new(code, error.to_string())
    }
}
