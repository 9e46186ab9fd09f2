//! The data directory, as far as files of the server itself are concerned: keys, certificates, the socket.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Context, ServerError};

/// A data directory. The engine holds its lock.
pub(crate) struct DataDir {
    path: PathBuf,
}

/// Makes the directory if it is missing, and refuses one that holds somebody else's things. Nobody else may read it: it holds
/// keys and data.
pub(crate) fn create(path: &Path) -> Result<(), ServerError> {
    create_for(path, &SIGNS, "data of commuter")
}

/// The same for a relay's files.
pub(crate) fn create_for_relay(path: &Path) -> Result<(), ServerError> {
    create_for(path, &[relay::store::LOCK_FILE], "log of a relay")
}

fn create_for(path: &Path, signs: &[&str], what: &str) -> Result<(), ServerError> {
    if path.exists() && !path.is_dir() {
        return Err(ServerError::NotOurs(format!("{} is not a directory", path.display())));
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.context(|| format!("cannot make the data directory {}", path.display()))?;
    let entries = fs::read_dir(path).context(|| format!("cannot read the data directory {}", path.display()))?;
    let names: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    if names.iter().any(|name| signs.contains(&name.as_str())) {
        return Ok(());
    }
    match names.iter().find(|name| !is_welcome(name)) {
        None => Ok(()),
        Some(foreign) => Err(ServerError::NotOurs(format!(
            "{} holds '{foreign}' and no {what}; name an empty or a new folder",
            path.display()
        ))),
    }
}

/// What is in every data directory of ours.
const SIGNS: [&str; 2] = ["data.ctr", "commuter.lock"];
/// What may be in one before the first start: what belongs to no database, certificates, a log to begin with, and what
/// people put beside their data.
const WELCOME: [&str; 8] = [".pem", ".cnf", ".toml", ".log", ".err", ".pid", ".sock", ".json"];

fn is_welcome(name: &str) -> bool {
    let is_log = name.starts_with("binlog.");
    name.starts_with('.') || name == "lost+found" || is_log || WELCOME.iter().any(|end| name.ends_with(end))
}

impl DataDir {
    pub(crate) fn new(path: &Path) -> Self {
        DataDir { path: path.to_owned() }
    }

    /// A file's path.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file whole or not at all, readable by us only.
    pub(crate) fn write_private(&self, name: &str, content: &[u8]) -> Result<(), ServerError> {
        let (path, new) = (self.file(name), self.file(&format!("{name}.new")));
        let write = || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            fs::File::open(&self.path)?.sync_all()
        };
        write().context(|| format!("cannot write {}", path.display()))
    }

    /// Reads a file if it is there.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ServerError> {
        let path = self.file(name);
        match fs::read(&path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context(|| format!("cannot read {}", path.display())),
        }
    }
}

/// The user that this process runs as.
pub(crate) fn own_user() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|metadata| metadata.uid())
}
