//! Why a server does not start, or stops.

use std::path::PathBuf;

use apply::ApplyError;
use base::{ErrorClass, SqlError};
use engine::EngineError;
use sql::settings::ConfigError;

/// An error of the server as a whole. Its text is for the person who started it.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The operating system refused something.
    #[error("{what}: {error}")]
    Io {
        /// What was being done, with the path or address.
        what: String,
        /// Why not.
        error: std::io::Error,
    },
    /// Something else listens there.
    #[error("{0} is in use by another program")]
    AddressInUse(String),
    /// The configuration file has an error.
    #[error("{}: {error}", path.display())]
    ConfigFile {
        /// The file.
        path: PathBuf,
        /// Line and reason.
        error: ConfigError,
    },
    /// A setting of the command line has an error.
    #[error("{0}")]
    Setting(String),
    /// Certificate or key cannot be used.
    #[error("TLS: {0}")]
    Tls(String),
    /// The data cannot be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The log cannot be applied.
    #[error("recovery: {0}")]
    Recovery(#[from] ApplyError),
    /// The server cannot follow its source.
    #[error("replication: {0}")]
    Replication(String),
    /// A statement of the first start failed.
    #[error("first start: {0}")]
    FirstStart(SqlError),
    /// The server had to stop (a failed sync, damaged data).
    #[error("the server had to stop: {0}")]
    Failed(String),
}

impl ServerError {
    /// What a caller can do.
    pub fn class(&self) -> ErrorClass {
        match self {
            ServerError::Io { .. } | ServerError::Failed(_) => ErrorClass::Io,
            ServerError::Engine(error) => error.class(),
            ServerError::Recovery(error) => error.class(),
            _ => ErrorClass::User,
        }
    }
}

/// Adds what was being done to an error of the operating system.
pub(crate) trait Context<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, ServerError>;
}

impl<T> Context<T> for std::io::Result<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, ServerError> {
        self.map_err(|error| ServerError::Io { what: what(), error })
    }
}
