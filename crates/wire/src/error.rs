//! What can be wrong with bytes from the other side.

use base::{ErrorClass, SqlError, codes};

/// Why bytes were not understood. The stream cannot be used after any of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The packet ends inside a field.
    #[error("the packet ends inside {0}")]
    Truncated(&'static str),
    /// A field has a value that the protocol does not know.
    #[error("malformed packet: {0}")]
    Malformed(&'static str),
    /// More bytes than `max_allowed_packet`.
    #[error("a packet of more than {limit} bytes ('max_allowed_packet')")]
    TooLarge {
        /// The bound that was set.
        limit: usize,
    },
    /// A packet's sequence number is not the next one.
    #[error("packet {got} where packet {expected} was due")]
    OutOfOrder {
        /// What was due.
        expected: u8,
        /// What came.
        got: u8,
    },
    /// The other side refused, with its own words.
    #[error("{0}")]
    Refused(SqlError),
    /// The other side asks for something that is not in this program.
    #[error("not supported: {0}")]
    NotSupported(String),
    /// The client wants TLS or nothing, and the server does not have it.
    #[error("SSL connection error: SSL is required but the server doesn't support it")]
    TlsNotOffered,
    /// The account's method needs the password, which is not sent over a stream that others may read.
    #[error(
        "Authentication plugin 'caching_sha2_password' reported error: Authentication requires secure connection (TLS, or \
         the server's public key)."
    )]
    InsecureTransport,
}

impl WireError {
    /// What a caller can do.
    pub fn class(&self) -> ErrorClass {
        match self {
            WireError::TooLarge { .. } => ErrorClass::Full,
            WireError::Refused(_)
            | WireError::NotSupported(_)
            | WireError::TlsNotOffered
            | WireError::InsecureTransport => ErrorClass::User,
            WireError::Truncated(_) | WireError::Malformed(_) | WireError::OutOfOrder { .. } => ErrorClass::Corrupt,
        }
    }
}

impl From<WireError> for SqlError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::TooLarge { .. } => {
                SqlError::new(codes::NET_PACKET_TOO_LARGE, "Got a packet bigger than 'max_allowed_packet' bytes")
            }
            WireError::OutOfOrder { .. } => SqlError::new(codes::NET_PACKETS_OUT_OF_ORDER, "Got packets out of order"),
            WireError::Refused(error) => error,
            other => SqlError::new(codes::MALFORMED_PACKET, format!("Malformed communication packet: {other}")),
        }
    }
}
