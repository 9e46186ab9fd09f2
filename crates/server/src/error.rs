//! Why a server does not start, or stops.

use std::path::{Path, PathBuf};

use apply::ApplyError;
use base::{ErrorClass, SqlError, codes};
use engine::EngineError;

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
    #[error("{0} is in use by another program; end that, or choose another port (--port) or socket (--socket)")]
    AddressInUse(String),
    /// The folder is not a data directory.
    #[error("{0}")]
    NotOurs(String),
    /// Configuration files and the command line have settings with errors.
    #[error("{}", .0.join("\n"))]
    Settings(
        /// Place and reason of each.
        Vec<String>,
    ),
    /// A setting has an error.
    #[error("{0}")]
    Setting(String),
    /// Certificate or key cannot be used.
    #[error("TLS: {0}")]
    Tls(String),
    /// The data cannot be opened.
    #[error("{}", words(.0))]
    Engine(#[from] EngineError),
    /// The same, with the folder and what can be done.
    #[error("{}: {}{}", folder.display(), words(error), advice(error))]
    Data {
        /// The data directory.
        folder: PathBuf,
        /// What is wrong in it.
        error: EngineError,
    },
    /// The log cannot be applied.
    #[error("recovery: {0}")]
    Recovery(#[from] ApplyError),
    /// The server cannot follow its source.
    #[error("replication: {0}")]
    Replication(String),
    /// A statement of the first start failed.
    #[error("first start: {0}")]
    FirstStart(SqlError),
    /// The folder of a relay cannot be used.
    #[error("{}: {error}", folder.display())]
    Relay {
        /// Where the source's files are.
        folder: PathBuf,
        /// What is wrong in it.
        error: relay::OpenError,
    },
    /// The server had to stop (a failed sync, damaged data).
    #[error("the server had to stop: {0}")]
    Failed(String),
}

impl ServerError {
    /// Says where the data is that cannot be opened.
    pub(crate) fn in_folder(self, folder: &Path) -> Self {
        match self {
            ServerError::Engine(error) => ServerError::Data { folder: folder.to_owned(), error },
            other => other,
        }
    }

    /// Says who was refused something: not the user that people think of, if the server has become another.
    pub(crate) fn denied_to(self, name: &str) -> Self {
        match self {
            ServerError::Io { what, error } if error.kind() == std::io::ErrorKind::PermissionDenied => {
                ServerError::Io { what: format!("as the user '{name}' (setting user): {what}"), error }
            }
            other => other,
        }
    }

    /// What a caller can do.
    pub fn class(&self) -> ErrorClass {
        match self {
            ServerError::Io { .. } | ServerError::Failed(_) => ErrorClass::Io,
            ServerError::Engine(error) | ServerError::Data { error, .. } => error.class(),
            ServerError::Recovery(error) => error.class(),
            ServerError::Relay { error, .. } => error.class(),
            _ => ErrorClass::User,
        }
    }
}

/// Without the number that only clients of the protocol have a use for.
fn words(error: &EngineError) -> String {
    match error {
        EngineError::Sql(error) => error.message.clone(),
        other => other.to_string(),
    }
}

fn advice(error: &EngineError) -> &'static str {
    let is_missing = matches!(error, EngineError::Sql(error) if error.code == codes::UNKNOWN_TARGET_BINLOG.0);
    if is_missing || error.class() == ErrorClass::Corrupt {
        "\nRestore the folder from a copy, or begin with an empty one that follows a source (--follow). If only data.ctr is \
         damaged, start with --rebuild: the log makes it anew, as long as none of its files was purged."
    } else {
        ""
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
