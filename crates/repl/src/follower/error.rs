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
        /// As MySQL's clients number it.
        code: u16,
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
    /// An event is not what the source has sent: its checksum, its place or its order is wrong. It is asked for again.
    #[error("Replication event checksum verification failed while reading from network: {0}")]
    Garbled(DecodeError),
    /// What was learned of the source could not be written down; the next attempt writes a file of its own.
    #[error("{0}")]
    NotKept(String),
    /// Our log failed.
    #[error(transparent)]
    Log(BinlogError),
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
}

impl ReceiveError {
    /// What can be done about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            ReceiveError::Connection { .. } | ReceiveError::Garbled(_) => ErrorClass::Retry,
            ReceiveError::Refused(_) | ReceiveError::Unfit(_) | ReceiveError::NotAPrefix { .. } => ErrorClass::User,
            ReceiveError::NotKept(_) => ErrorClass::Io,
            ReceiveError::Log(error) => error.class(),
            ReceiveError::Stopped => ErrorClass::Cancelled,
        }
    }

    /// Whether trying again may help: the connection, or a disk that has no room, or could not prepare or keep a file. Not if
    /// the log has failed.
    pub(crate) fn may_pass(&self, log: &binlog::BinaryLog) -> bool {
        match self {
            ReceiveError::Connection { .. } | ReceiveError::Garbled(_) | ReceiveError::NotKept(_) => true,
            ReceiveError::Log(error) => {
                matches!(error.class(), ErrorClass::Full | ErrorClass::Io) && log.check().is_ok()
            }
            _ => false,
        }
    }

    /// As `Last_IO_Errno` shows it.
    pub fn code(&self) -> u16 {
        match self {
            ReceiveError::Connection { code, .. } => *code,
            ReceiveError::Garbled(_) => codes::NETWORK_READ_EVENT_CHECKSUM_FAILURE.0,
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
        ReceiveError::Garbled(error)
    }
}

impl From<BinlogError> for ReceiveError {
    fn from(error: BinlogError) -> Self {
        match error {
            // Our own log is never malformed, but damaged.
            BinlogError::Malformed(reason) => ReceiveError::Garbled(reason),
            error => ReceiveError::Log(error),
        }
    }
}

/// Numbers of MySQL's client library.
const CONN_HOST_ERROR: u16 = 2003;
const SERVER_LOST: u16 = 2013;
const SSL_CONNECTION_ERROR: u16 = 2026;
const AUTH_PLUGIN_ERR: u16 = 2061;

impl ReceiveError {
    /// The connection was lost, or the source is silent.
    pub fn lost(source_name: &str, reason: String) -> Self {
        ReceiveError::Connection { source_name: source_name.to_owned(), reason, code: SERVER_LOST }
    }

    /// There is no connection.
    pub(crate) fn unreachable(source_name: &str, error: &std::io::Error) -> Self {
        let reason = format!("Can't connect to the server ({error})");
        ReceiveError::Connection { source_name: source_name.to_owned(), reason, code: CONN_HOST_ERROR }
    }

    /// The password cannot be sent so that nobody reads it.
    pub(crate) fn unprotected(source_name: &str, reason: String) -> Self {
        ReceiveError::Connection { source_name: source_name.to_owned(), reason, code: AUTH_PLUGIN_ERR }
    }
}

/// Sorts a client's error: what the source said about its log is final, the rest may pass.
pub fn of_client(source_name: &str, error: ClientError) -> ReceiveError {
    let code = match &error {
        ClientError::Wire(WireError::Refused(refused)) => {
            if refused.code == codes::SOURCE_FATAL_ERROR_READING_BINLOG.0 {
                return ReceiveError::Refused(refused.clone());
            }
            refused.code
        }
        ClientError::Wire(WireError::InsecureTransport) => AUTH_PLUGIN_ERR,
        ClientError::Wire(WireError::TlsNotOffered) | ClientError::Tls(_) => SSL_CONNECTION_ERROR,
        ClientError::Wire(_) | ClientError::Io(_) => SERVER_LOST,
    };
    ReceiveError::Connection { source_name: source_name.to_owned(), reason: error.to_string(), code }
}
