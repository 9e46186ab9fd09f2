//! What can go wrong between a generator and whoever applies.

use binlog::{BinlogError, DecodeError};

/// Why a transaction could not be read or applied.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Bytes that are not what they claim to be.
    #[error("{0}")]
    Malformed(#[from] DecodeError),
    /// A log that cannot be read.
    #[error(transparent)]
    Log(#[from] BinlogError),
    /// Who applies needs it, and the event does not have it.
    #[error("a {event} without {what}, which is needed here")]
    Missing {
        /// Of what.
        event: &'static str,
        /// What it lacks.
        what: &'static str,
    },
    /// It has something that cannot be said here.
    #[error("{0}")]
    Unsupported(String),
    /// More than the bound that was set.
    #[error("{what} of more than {limit} bytes, which is the limit here")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The bound, in bytes.
        limit: u64,
    },
    /// The source says that its log lacks something.
    #[error("the source's log has a gap: {0}")]
    Incident(String),
    /// The source could not be asked for a moment; the transaction can be applied again.
    #[error("asking the source for columns: {0}")]
    SourceLost(String),
    /// What was made could not be written.
    #[error("writing the output: {0}")]
    Output(#[from] std::io::Error),
}

impl EventError {
    pub(crate) fn malformed(reason: impl Into<String>) -> Self {
        EventError::Malformed(DecodeError(reason.into()))
    }

    /// For what may be missing: `table.name()?.ok_or_else(missing("table", "its name"))?`
    pub(crate) fn missing(event: &'static str, what: &'static str) -> impl FnOnce() -> Self {
        move || EventError::Missing { event, what }
    }
}
