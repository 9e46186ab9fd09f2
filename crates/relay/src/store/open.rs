//! Opening: what is there, and where the last file ends after a crash.
//!
//! | found | done |
//! |---|---|
//! | behind the last whole transaction of the last file: part of one, or bytes that are no event | cut there, and synced |
//! | the last file without its first four bytes | begun again |
//! | a file that the index does not name | nothing; it is made again when its turn comes |
//! | the index names a file that is not there | error |
//!
//! Cutting loses nothing: it is a copy, and the source is asked for what is behind its end. How much was cut is logged.

use std::collections::VecDeque;
use std::sync::Arc;

use binlog::event::{ChecksumAlgorithm, MAGIC};
use binlog::{BinlogError, EventType};
use io::{Env, File, IoBuf, OpenOptions};
use parking_lot::Mutex;

use super::writer::Current;
use super::{FileReader, INDEX, LOCK, State, Store, StoredFile, Writer, check_name};
use crate::error::{corrupt, io_error};
use crate::groups::{Executed, Groups};

impl Store {
    /// Opens the folder, or begins one, and gives it back with its only writer.
    ///
    /// # Errors
    /// When another relay has it, or it is damaged in a way that must not be mended silently.
    pub(crate) async fn open(env: Env) -> Result<Writer, BinlogError> {
        let lock = env.disk.lock(LOCK).await;
        let lock = lock.map_err(|error| io_error("lock (does another relay use this folder?)", LOCK, &error))?;
        let mut files = VecDeque::new();
        for (number, name) in read_index(&env).await?.into_iter().enumerate() {
            files.push_back(look_at(&env, number as u64, name).await?);
        }
        let mut state = State { files, ..State::default() };
        let current = match state.files.back().cloned() {
            Some(last) => Some(open_last(&env, &mut state, last.name).await?),
            None => None,
        };
        let store = Store {
            env,
            state: Mutex::new(state),
            changed: event_listener::Event::new(),
            index: Default::default(),
            _lock: lock,
        };
        Ok(Writer { store: Arc::new(store), current })
    }
}

/// Finds the end of the last file, and what the log holds up to there.
async fn open_last(env: &Env, state: &mut State, name: Arc<str>) -> Result<Current, BinlogError> {
    let mut scan = scan(env, name.clone()).await?;
    if scan.size != scan.current.settled {
        cut(&scan.current).await?;
        let (settled, lost) = (scan.current.settled, scan.size.saturating_sub(scan.current.settled));
        tracing::warn!(
            "{name}: {lost} bytes behind the last whole transaction, at {settled}, were cut ({}); the source is asked for \
             them again",
            scan.reason
        );
    }
    let current = &mut scan.current;
    if let Some(last) = state.files.back_mut() {
        last.size = current.settled;
        last.begun = current.news.begun.take().unwrap_or(0);
    }
    match current.news.before.take() {
        Some(before) => state.executed = before,
        None => state.executed = executed_before(env, state).await?,
    }
    current.names.drain(..).for_each(|name| state.executed.add(&name));
    if let Some(format) = current.news.format.take() {
        state.with_checksums = format.checksum == ChecksumAlgorithm::Crc32;
        state.version = format.server_version;
    }
    Ok(scan.current)
}

/// What the log holds up to the last file, which does not say it.
async fn executed_before(env: &Env, state: &mut State) -> Result<Executed, BinlogError> {
    let Some(earlier) = state.files.iter().rev().nth(1) else { return Ok(Executed::default()) };
    let mut scan = scan(env, earlier.name.clone()).await?;
    let mut executed = scan.current.news.before.take().unwrap_or_default();
    scan.current.names.iter().for_each(|name| executed.add(name));
    if let Some(format) = scan.current.news.format {
        state.with_checksums = format.checksum == ChecksumAlgorithm::Crc32;
        state.version = format.server_version;
    }
    Ok(executed)
}

async fn read_index(env: &Env) -> Result<Vec<Arc<str>>, BinlogError> {
    let failed = |error: std::io::Error| io_error("read", INDEX, &error);
    if !env.disk.exists(INDEX).await.map_err(failed)? {
        return Ok(Vec::new());
    }
    let file = env.disk.open(INDEX, OpenOptions::default()).await.map_err(failed)?;
    let len = file.len().await.map_err(failed)? as usize;
    let bytes = file.read_at(0, IoBuf::zeroed(len)).await.map_err(failed)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| corrupt(INDEX, 0, error))?;
    let mut names: Vec<Arc<str>> = Vec::new();
    for name in text.lines() {
        check_name(name).map_err(|why| corrupt(INDEX, 0, why))?;
        if names.iter().any(|known| &**known == name) {
            return Err(corrupt(INDEX, 0, format!("'{name}' twice")));
        }
        names.push(name.into());
    }
    Ok(names)
}

/// A file's size, and when it was begun.
async fn look_at(env: &Env, number: u64, name: Arc<str>) -> Result<StoredFile, BinlogError> {
    let failed = |error: std::io::Error| io_error("open", &name, &error);
    let file = env.disk.open(&name, OpenOptions::default()).await.map_err(failed)?;
    let size = file.len().await.map_err(failed)?;
    let begun = match FileReader::new(name.clone(), file).next(size).await {
        Ok(Some(event)) if event.header.event_type == EventType::FORMAT_DESCRIPTION => event.header.timestamp,
        // Whoever reads it is told what is wrong with it; the others can be read.
        _ => 0,
    };
    Ok(StoredFile { number, name, size, begun })
}

/// What is in a file.
pub(super) struct Scan {
    /// At the end of its last whole transaction.
    pub(super) current: Current,
    /// How long the file is.
    size: u64,
    /// Why what is behind that is none.
    reason: String,
}

/// Reads a file up to its end, or to the first bytes that are no event of it.
pub(super) async fn scan(env: &Env, name: Arc<str>) -> Result<Scan, BinlogError> {
    let failed = |error: std::io::Error| io_error("open", &name, &error);
    let options = OpenOptions { write: true, ..OpenOptions::default() };
    let file = env.disk.open(&name, options).await.map_err(failed)?;
    let mut size = file.len().await.map_err(failed)?;
    if !has_magic(&*file, size).await.map_err(failed)? {
        begin_again(&*file).await.map_err(failed)?;
        size = MAGIC.len() as u64;
    }
    let mut reader = FileReader::new(name.clone(), file.clone());
    let mut current = Current::new(name, file);
    let mut reason = "it is part of a transaction".to_owned();
    loop {
        let at = reader.position();
        let noted = match reader.next(size).await {
            Ok(Some(event)) => current.note(&event, at).map_err(|error| error.to_string()),
            Ok(None) => break,
            Err(error @ BinlogError::Io { .. }) => return Err(error),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = noted {
            reason = why;
            break;
        }
    }
    current.written = current.settled;
    current.groups = Groups::default();
    Ok(Scan { current, size, reason })
}

async fn has_magic(file: &dyn File, size: u64) -> std::io::Result<bool> {
    if size < MAGIC.len() as u64 {
        return Ok(false);
    }
    Ok(file.read_at(0, IoBuf::zeroed(MAGIC.len())).await?[..] == MAGIC)
}

async fn begin_again(file: &dyn File) -> std::io::Result<()> {
    file.set_len(0).await?;
    file.write_at(0, IoBuf::copy_of(&MAGIC)).await?;
    file.sync().await
}

/// Cuts a file at the end of its last whole transaction; durable when this returns.
pub(super) async fn cut(current: &Current) -> Result<(), BinlogError> {
    let cut = async {
        current.file.set_len(current.settled).await?;
        current.file.sync().await
    };
    cut.await.map_err(|error| io_error("cut", &current.name, &error))
}
