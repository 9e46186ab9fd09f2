//! The data directory: made at first start, held by one server at a time, with the server's identity in it.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base::Uuid;
use io::{Env, LockGuard};

use crate::error::{Context, ServerError};

/// Whoever holds its lock owns the directory.
const LOCK_FILE: &str = "commuter.lock";
/// Where MySQL keeps `server_uuid`.
const IDENTITY_FILE: &str = "auto.cnf";

/// A data directory that is ours until this is dropped.
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: Box<dyn LockGuard>,
}

/// Makes the directory if it is missing. Nobody else may read it: it holds keys and data.
pub(crate) fn create(path: &Path) -> Result<(), ServerError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.context(|| format!("cannot make the data directory {}", path.display()))
}

impl DataDir {
    /// Takes the directory, or says that another server has it.
    pub(crate) async fn lock(path: &Path, env: &Env) -> Result<Self, ServerError> {
        match env.disk.lock(LOCK_FILE).await {
            Ok(lock) => Ok(DataDir { path: path.to_owned(), _lock: lock }),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(ServerError::InUse(path.to_owned())),
            Err(error) => Err(error).context(|| format!("cannot lock {}", path.join(LOCK_FILE).display())),
        }
    }

    /// A file's path.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// `server_uuid`: made at first start, read ever after.
    pub(crate) fn server_uuid(&self, env: &Env) -> Result<Uuid, ServerError> {
        let path = self.file(IDENTITY_FILE);
        match fs::read_to_string(&path) {
            Ok(text) => uuid_in(&text)
                .ok_or_else(|| ServerError::Setting(format!("{}: no valid server_uuid in it", path.display()))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let uuid = new_uuid(env);
                self.write_private(IDENTITY_FILE, format!("[auto]\nserver_uuid={uuid}\n").as_bytes())?;
                Ok(uuid)
            }
            Err(error) => Err(error).context(|| format!("cannot read {}", path.display())),
        }
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

fn uuid_in(text: &str) -> Option<Uuid> {
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        matches!(name.trim(), "server_uuid" | "server-uuid").then_some(value)
    })?;
    value.trim().parse().ok()
}

/// A random one (version 4).
fn new_uuid(env: &Env) -> Uuid {
    let mut bytes = [0; 16];
    env.random.fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Uuid(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_of_a_mysql_server() {
        let text = "[auto]\nserver-uuid=3e11fa47-71ca-11e1-9e33-c80aa9429562\n";
        assert_eq!(uuid_in(text).unwrap().to_string(), "3e11fa47-71ca-11e1-9e33-c80aa9429562");
        assert_eq!(uuid_in("[auto]\nserver_uuid=x\n"), None);
    }
}
