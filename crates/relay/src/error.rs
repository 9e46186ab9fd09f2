//! Why the relay's receiver stops or tries again.

use std::io;

use base::{ErrorClass, SqlError, codes};
use binlog::{BinlogError, DecodeError};
use session::client::ClientError;
use wire::WireError;

/// An error of the receiver.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RelayError {
    /// The connection could not be made or was lost; trying again may help.
    #[error("error connecting to source '{source_name}': {reason}")]
    Connection {
        /// Account and address.
        source_name: String,
        /// What went wrong.
        reason: String,
        /// As MySQL's clients number it.
        code: u16,
    },
    /// The source refuses to send its log.
    #[error("Got fatal error {} from source when reading data from binary log: '{}'", .0.code, .0.message)]
    Refused(SqlError),
    /// The source cannot be copied by this relay.
    #[error("{0}")]
    Unfit(String),
    /// What is here is not a beginning of the source's log.
    #[error(
        "the files here are not the source's: they end at {ours}, and {difference}; the source's log ends at {theirs}. \
         To copy this source from here on, begin with a new --datadir"
    )]
    OtherHistory {
        /// Our end.
        ours: String,
        /// The source's end, as far as it said.
        theirs: String,
        /// Where and how they differ.
        difference: String,
    },
    /// An event is not what the source has sent: its checksum or its place is wrong. It is asked for again.
    #[error("Replication event checksum verification failed while reading from network: {0}")]
    Garbled(String),
    /// Our files failed.
    #[error(transparent)]
    Log(#[from] BinlogError),
}

/// Numbers of MySQL's client library.
const CONN_HOST_ERROR: u16 = 2003;
const SERVER_LOST: u16 = 2013;

impl RelayError {
    /// What can be done about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            RelayError::Connection { .. } | RelayError::Garbled(_) => ErrorClass::Retry,
            RelayError::Refused(_) | RelayError::Unfit(_) | RelayError::OtherHistory { .. } => ErrorClass::User,
            RelayError::Log(error) => error.class(),
        }
    }

    /// Whether trying again may help: the connection, or a disk without room. A failed sync is final.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            RelayError::Connection { .. } | RelayError::Garbled(_) => true,
            RelayError::Log(error) => error.class() == ErrorClass::Full,
            _ => false,
        }
    }

    /// As `Last_IO_Errno` shows it.
    pub fn code(&self) -> u16 {
        match self {
            RelayError::Connection { code, .. } => *code,
            RelayError::Garbled(_) => codes::NETWORK_READ_EVENT_CHECKSUM_FAILURE.0,
            RelayError::Log(error) => SqlError::from(error.clone()).code,
            _ => codes::SOURCE_FATAL_ERROR_READING_BINLOG.0,
        }
    }

    pub(crate) fn lost(source_name: &str, reason: impl Into<String>) -> Self {
        RelayError::Connection { source_name: source_name.to_owned(), reason: reason.into(), code: SERVER_LOST }
    }

    pub(crate) fn unreachable(source_name: &str, error: &io::Error) -> Self {
        let reason = format!("Can't connect to the server ({error})");
        RelayError::Connection { source_name: source_name.to_owned(), reason, code: CONN_HOST_ERROR }
    }

    /// Sorts a client's error: what the source said about its log is final, the rest may pass.
    pub(crate) fn of_client(source_name: &str, error: &ClientError) -> Self {
        let code = match error {
            ClientError::Wire(WireError::Refused(refused)) => {
                if refused.code == codes::SOURCE_FATAL_ERROR_READING_BINLOG.0 {
                    return RelayError::Refused(refused.clone());
                }
                refused.code
            }
            _ => SERVER_LOST,
        };
        RelayError::Connection { source_name: source_name.to_owned(), reason: error.to_string(), code }
    }
}

impl From<DecodeError> for RelayError {
    fn from(error: DecodeError) -> Self {
        RelayError::Garbled(error.0)
    }
}

/// An error of the operating system, with what was tried.
pub(crate) fn io_error(operation: &'static str, file: &str, error: &io::Error) -> BinlogError {
    BinlogError::Io { operation, file: file.to_owned(), kind: error.kind(), message: error.to_string() }
}

/// A file that holds what it must not hold.
pub(crate) fn corrupt(file: &str, offset: u64, reason: impl ToString) -> BinlogError {
    BinlogError::Corrupt { file: file.to_owned(), offset, reason: reason.to_string() }
}

/// 1236: what makes a replica's receiver stop and tell its administrator.
pub(crate) fn fatal(message: impl Into<String>) -> SqlError {
    SqlError::new(codes::SOURCE_FATAL_ERROR_READING_BINLOG, message)
}
