//! The folder that the log lives in: which log files are there, small files read and replaced as a whole, files removed.

use io::{Env, IoBuf, OpenOptions};

use super::index::{file_name, file_number};
use crate::error::{BinlogError, Result};

/// The longest small file, in bytes; as an index it lists about a million log files.
const SMALL_FILE_MAX: u64 = 32 << 20;

/// The numbers of the log files that are there, ascending.
pub(super) async fn numbers(env: &Env, basename: &str) -> Result<Vec<u64>> {
    let mut numbers: Vec<u64> = names(env).await?.iter().filter_map(|name| file_number(basename, name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Names of all files that are there.
pub(super) async fn names(env: &Env) -> Result<Vec<String>> {
    env.disk.list("").await.map_err(|error| BinlogError::io("list", ".", &error))
}

/// Whether there is a file of this name.
pub(super) async fn exists(env: &Env, name: &str) -> Result<bool> {
    env.disk.exists(name).await.map_err(|error| BinlogError::io("stat", name, &error))
}

/// All of a small file; `None` if there is none.
pub(super) async fn read(env: &Env, name: &str) -> Result<Option<IoBuf>> {
    if !exists(env, name).await? {
        return Ok(None);
    }
    let failed = |operation, error| BinlogError::io(operation, name, &error);
    let file = env.disk.open(name, OpenOptions::default()).await.map_err(|error| failed("open", error))?;
    let len = file.len().await.map_err(|error| failed("stat", error))?;
    if len > SMALL_FILE_MAX {
        return Err(BinlogError::corrupt(name, SMALL_FILE_MAX, "the file is too long"));
    }
    file.read_at(0, IoBuf::zeroed(len as usize)).await.map(Some).map_err(|error| failed("read", error))
}

/// Replaces a small file as a whole, durably: what is there after a crash is the old one or the new one.
pub(super) async fn replace(env: &Env, name: &str, contents: &[u8]) -> Result<()> {
    let fresh = format!("{name}.new");
    let failed = |operation, error| BinlogError::io(operation, &fresh, &error);
    let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
    let file = env.disk.open(&fresh, options).await.map_err(|error| failed("open", error))?;
    file.set_len(0).await.map_err(|error| failed("truncate", error))?;
    file.write_at(0, IoBuf::copy_of(contents)).await.map_err(|error| failed("write", error))?;
    file.sync().await.map_err(|error| failed("sync", error))?;
    drop(file);
    env.disk.rename(&fresh, name).await.map_err(|error| failed("rename", error))?;
    sync(env).await
}

/// Removes a file. After a crash it may be there again until [`sync`].
pub(super) async fn remove(env: &Env, name: &str) -> Result<()> {
    env.disk.remove(name).await.map_err(|error| BinlogError::io("remove", name, &error))
}

/// Removes log files for good, the last one first: a crash in between must not leave a gap.
pub(super) async fn remove_last(env: &Env, basename: &str, numbers: &[u64]) -> Result<()> {
    for &number in numbers.iter().rev() {
        let name = file_name(basename, number);
        tracing::info!("removing {name}, which is behind the end of the log");
        remove(env, &name).await?;
    }
    sync(env).await
}

/// Makes durable which names are there.
pub(super) async fn sync(env: &Env) -> Result<()> {
    env.disk.sync_dir("").await.map_err(|error| BinlogError::io("sync of the directory", ".", &error))
}
