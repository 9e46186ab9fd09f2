//! The bytes of a file: the server's, the client's, or one that another server's log had in it.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Cancel, SqlError, codes, memory};
use bytes::Bytes;
use io::{Env, File, IoBuf, OpenOptions};

use crate::exec::{ExecContext, TEMPORARY_DIRECTORY};
use crate::expr::interrupted;
use crate::result::ResultSink;
use crate::settings::Globals;

/// Bytes that are read at once.
const BLOCK_BYTES: u64 = 256 << 10;

/// Where the file of a LOAD DATA is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadFrom {
    /// With the client.
    Client,
    /// On this server's machine.
    Server {
        /// The only folder of which files may be read (`secure_file_priv`); `None` if there is none, empty for any.
        folder: Option<String>,
        /// The default database, in whose folder names without one are.
        database: String,
    },
    /// It came in another server's log, and is in this temporary file.
    Kept(String),
}

/// A file that is being read.
pub(crate) enum Input {
    Client,
    File { file: Arc<dyn File>, path: String, offset: u64 },
}

impl Input {
    /// Opens the file, or asks the client for it.
    pub(crate) async fn open(
        from: &LoadFrom,
        name: &str,
        context: &ExecContext<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<Self, SqlError> {
        let path = match from {
            LoadFrom::Client => {
                sink.ask_for_file(name).await?;
                return Ok(Input::Client);
            }
            LoadFrom::Server { folder, database } => permitted(context.env, folder.as_deref(), database, name).await?,
            LoadFrom::Kept(path) => path.clone(),
        };
        let opened = context.env.disk.open(&path, OpenOptions::default()).await;
        let file = opened.map_err(|error| {
            let message = format!("File '{path}' not found ({})", os_error(&error));
            SqlError::new(codes::EE_FILE_NOT_FOUND, message)
        })?;
        Ok(Input::File { file, path, offset: 0 })
    }

    /// The next bytes; none at the end.
    pub(crate) async fn next(
        &mut self,
        context: &ExecContext<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<Bytes, SqlError> {
        match self {
            Input::Client => sink.next_of_file().await,
            Input::File { file, path, offset } => {
                context.eval.check_cancelled()?;
                let failed = |error: std::io::Error| {
                    let message = format!("Error reading file '{path}' ({})", os_error(&error));
                    SqlError::new(codes::ERROR_ON_READ, message)
                };
                let length = file.len().await.map_err(failed)?.saturating_sub(*offset).min(BLOCK_BYTES);
                if length == 0 {
                    return Ok(Bytes::new());
                }
                let block = file.read_at(*offset, IoBuf::zeroed(length as usize)).await.map_err(failed)?;
                *offset += length;
                Ok(Bytes::copy_from_slice(&block))
            }
        }
    }
}

/// The only folder of which files may be read; `None` if there is none, empty for any.
pub(crate) fn permitted_folder(globals: &Globals) -> Option<String> {
    let folder = globals.now().start.secure_file_priv.clone();
    Some(folder.to_string()).filter(|folder| !folder.eq_ignore_ascii_case("NULL"))
}

/// A whole file, for LOAD_FILE.
pub(crate) enum WholeFile {
    Read(Bytes),
    /// It may not be read, or is not there.
    None,
    TooLong,
}

/// Reads a file of this machine that has at most so many bytes. What grows meanwhile is read as long as it was.
pub(crate) async fn read_file(
    env: &Env,
    folder: Option<&str>,
    name: &str,
    max: u64,
    cancel: &Cancel,
) -> Result<WholeFile, SqlError> {
    let Ok(path) = permitted(env, folder, "", name).await else { return Ok(WholeFile::None) };
    let Ok(file) = env.disk.open(&path, OpenOptions::default()).await else { return Ok(WholeFile::None) };
    let Ok(length) = file.len().await else { return Ok(WholeFile::None) };
    if length > max {
        return Ok(WholeFile::TooLong);
    }
    memory::check_more(length)?;
    let mut bytes = Vec::with_capacity(length as usize);
    while (bytes.len() as u64) < length {
        cancel.check().map_err(|_| interrupted())?;
        let offset = bytes.len() as u64;
        let block = IoBuf::zeroed((length - offset).min(BLOCK_BYTES) as usize);
        let Ok(block) = file.read_at(offset, block).await else { return Ok(WholeFile::None) };
        bytes.extend_from_slice(&block);
    }
    Ok(WholeFile::Read(bytes.into()))
}

/// The path of a file of this machine, if it may be read: 1290 if not, 13 if it is not there, 1085 if it is none.
async fn permitted(env: &Env, folder: Option<&str>, database: &str, name: &str) -> Result<String, SqlError> {
    let root = env.disk.resolve("").await.map(|root| root.path).unwrap_or_default();
    let path = match name {
        _ if name.starts_with('/') => name.to_owned(),
        _ if name.contains('/') => format!("{root}/{name}"),
        _ => format!("{root}/{database}/{name}"),
    };
    let found = env.disk.resolve(&path).await;
    let real = match &found {
        Ok(found) => found.path.clone(),
        // Of one that is not there, its folder says whether it might be read.
        Err(_) => {
            let above = path.rsplit_once('/').map_or("", |(above, _)| above);
            let above = env.disk.resolve(if above.is_empty() { "/" } else { above }).await;
            above.map_or_else(|_| String::new(), |above| format!("{}/", above.path.trim_end_matches('/')))
        }
    };
    let is_permitted = match folder {
        None => false,
        Some("") => true,
        Some(folder) => {
            let folder = env.disk.resolve(folder).await.map(|folder| folder.path).unwrap_or_default();
            !folder.is_empty()
                && real.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        }
    };
    if !is_permitted {
        let message =
            "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement";
        return Err(SqlError::new(codes::OPTION_PREVENTS_STATEMENT, message));
    }
    match found {
        Ok(found) if found.is_file => Ok(found.path),
        Ok(_) => {
            let message = format!("The file '{path}' must be in the database directory or be readable by all");
            Err(SqlError::new(codes::TEXTFILE_NOT_READABLE, message))
        }
        Err(error) => {
            let message = format!("Can't get stat of '{path}' ({})", os_error(&error));
            Err(SqlError::new(codes::EE_STAT, message))
        }
    }
}

/// As MySQL shows an error of the system.
fn os_error(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "OS errno 2 - No such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "OS errno 13 - Permission denied".to_owned(),
        ErrorKind::IsADirectory => "OS errno 21 - Is a directory".to_owned(),
        _ => error.to_string(),
    }
}

static NEXT_FILE: AtomicU64 = AtomicU64::new(1);

/// A file that comes in parts and is read once: in the folder for temporary files, from which a start of the server removes it.
pub(crate) struct KeptFile {
    env: Env,
    path: String,
    file: Arc<dyn File>,
    end: u64,
}

impl KeptFile {
    pub(crate) async fn create(env: &Env) -> Result<Self, SqlError> {
        let number = NEXT_FILE.fetch_add(1, Ordering::Relaxed);
        let path = format!("{TEMPORARY_DIRECTORY}/load-{number}");
        env.disk.create_dir(TEMPORARY_DIRECTORY).await.map_err(cannot_write)?;
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = env.disk.open(&path, options).await.map_err(cannot_write)?;
        file.set_len(0).await.map_err(cannot_write)?;
        Ok(KeptFile { env: env.clone(), path, file, end: 0 })
    }

    pub(crate) async fn append(&mut self, block: &[u8]) -> Result<(), SqlError> {
        self.file.write_at(self.end, IoBuf::copy_of(block)).await.map_err(cannot_write)?;
        self.end += block.len() as u64;
        Ok(())
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        self.env.remove_later(std::mem::take(&mut self.path));
    }
}

fn cannot_write(error: std::io::Error) -> SqlError {
    SqlError::new(codes::ERROR_ON_WRITE, format!("Error writing a temporary file: {error}"))
}
