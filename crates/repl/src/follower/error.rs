//! Why a receiver stops or tries again.

use base::{ErrorClass, SqlError, codes};
use binlog::{BinlogError, DecodeError};
use session::client::ClientError;
use wire::WireError;

/// An error of the receiver.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The connection could not be made or was lost; trying again may help.
    #[error("error connecting to source '{source_name}': {reason}")]
    Connection {
        /// Account and address.
        source_name: String,
        /// What went wrong.
        reason: String,
    },
    /// The source refuses to send its log.
    #[error("Got fatal error {} from source when reading data from binary log: '{}'", .0.code, .0.message)]
    Refused(SqlError),
    /// The source cannot be followed by this server.
    #[error("{0}")]
    Unfit(String),
    /// Our log is not a beginning of the source's.
    #[error(
        "this server's log is not a prefix of its source's: here the log ends at {ours}; the source's ends at {theirs}; \
         {difference}"
    )]
    NotAPrefix {
        /// Our end and GTIDs.
        ours: String,
        /// The source's end and GTIDs.
        theirs: String,
        /// Where and how they differ.
        difference: String,
    },
    /// Our log failed.
    #[error(transparent)]
    Log(#[from] BinlogError),
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
}

impl ReceiveError {
    /// What can be done about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            ReceiveError::Connection { .. } => ErrorClass::Retry,
            ReceiveError::Refused(_) | ReceiveError::Unfit(_) | ReceiveError::NotAPrefix { .. } => ErrorClass::User,
            ReceiveError::Log(error) => error.class(),
            ReceiveError::Stopped => ErrorClass::Cancelled,
        }
    }

    /// Whether trying again may help: the connection, or a disk that has no room or could not prepare a file. Not if the log
    /// has failed.
    pub(super) fn may_pass(&self, log: &binlog::BinaryLog) -> bool {
        match self {
            ReceiveError::Connection { .. } => true,
            ReceiveError::Log(error) => {
                matches!(error.class(), ErrorClass::Full | ErrorClass::Io) && log.check().is_ok()
            }
            _ => false,
        }
    }

    /// As `Last_IO_Errno` shows it; MySQL's client codes for a connection.
    pub fn code(&self) -> u16 {
        const LOST_CONNECTION: u16 = 2013;
        match self {
            ReceiveError::Connection { .. } => LOST_CONNECTION,
            ReceiveError::Log(error) => SqlError::from(error.clone()).code,
            _ => codes::SOURCE_FATAL_ERROR_READING_BINLOG.0,
        }
    }
}

impl From<ReceiveError> for SqlError {
    fn from(error: ReceiveError) -> Self {
        SqlError::new(codes::SOURCE_FATAL_ERROR_READING_BINLOG, error.to_string())
    }
}

impl From<DecodeError> for ReceiveError {
    fn from(error: DecodeError) -> Self {
        ReceiveError::Log(error.into())
    }
}

/// Sorts a client's error: what the source said about its log is final, the rest may pass.
pub(crate) fn of_client(source_name: &str, error: ClientError) -> ReceiveError {
    let connection = |reason: String| ReceiveError::Connection { source_name: source_name.to_owned(), reason };
    match error {
        ClientError::Wire(WireError::Refused(error)) => match error.code {
            code if code == codes::SOURCE_FATAL_ERROR_READING_BINLOG.0 => ReceiveError::Refused(error),
            _ => connection(error.to_string()),
        },
        error => connection(error.to_string()),
    }
}
