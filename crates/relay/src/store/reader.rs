//! Reading: durable bytes, file by file, and a mark that keeps the purge off.

use std::sync::Arc;

use binlog::BinlogError;
use binlog::event::{ChecksumAlgorithm, MAGIC};
use io::OpenOptions;

use super::{FileReader, Store, StoredFile};
use crate::error::{corrupt, io_error};

/// What comes next.
pub(crate) enum Next<'a> {
    /// An event of the file.
    Event(binlog::RawEvent<'a>),
    /// The file is over: another one begins.
    File,
    /// There is no more yet.
    End,
}

/// A reader at a place of the log.
pub(crate) struct Reader {
    store: Arc<Store>,
    pin: u64,
    number: u64,
    name: Arc<str>,
    file: FileReader,
    format: Vec<u8>,
}

impl Reader {
    /// At the beginning of a file. Its FORMAT_DESCRIPTION is read.
    ///
    /// # Errors
    /// When the file has gone, or cannot be read.
    pub(crate) async fn open(store: &Arc<Store>, number: u64) -> Result<Self, BinlogError> {
        let (stored, pin) = store.pin(number)?;
        let opened = open_file(store, &stored).await;
        match opened {
            Ok((file, format)) => Ok(Reader { store: store.clone(), pin, number, name: stored.name, file, format }),
            Err(error) => {
                store.state.lock().pins.remove(&pin);
                Err(error)
            }
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Where the next event begins.
    pub(crate) fn position(&self) -> u64 {
        self.file.position()
    }

    /// The file's FORMAT_DESCRIPTION.
    pub(crate) fn format(&self) -> &[u8] {
        &self.format
    }

    pub(crate) fn checksum(&self) -> ChecksumAlgorithm {
        self.file.checksum()
    }

    /// Goes to a position of this file.
    pub(crate) fn seek(&mut self, offset: u64) {
        self.file.seek(offset);
    }

    /// The next event. At a file's end the reader goes to the next file, behind its FORMAT_DESCRIPTION.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub(crate) async fn next(&mut self) -> Result<Next<'_>, BinlogError> {
        let (end, following) = self.store.end_of(self.number)?;
        if self.file.position() < end {
            return match self.file.next(end).await? {
                Some(event) => Ok(Next::Event(event)),
                None => Ok(Next::End),
            };
        }
        let Some(following) = following else { return Ok(Next::End) };
        let (file, format) = open_file(&self.store, &following).await?;
        self.number = following.number;
        self.name = following.name;
        self.file = file;
        self.format = format;
        self.store.state.lock().pins.insert(self.pin, self.number);
        Ok(Next::File)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.store.state.lock().pins.remove(&self.pin);
    }
}

async fn open_file(store: &Store, stored: &StoredFile) -> Result<(FileReader, Vec<u8>), BinlogError> {
    let file = store.env.disk.open(&stored.name, OpenOptions::default()).await;
    let file = file.map_err(|error| io_error("open", &stored.name, &error))?;
    let mut reader = FileReader::new(stored.name.clone(), file);
    let format = match reader.next(stored.size).await? {
        Some(event) if event.header.event_type == binlog::EventType::FORMAT_DESCRIPTION => event.bytes.to_vec(),
        _ => return Err(corrupt(&stored.name, MAGIC.len() as u64, "no FORMAT_DESCRIPTION")),
    };
    Ok((reader, format))
}

impl Store {
    /// Keeps the purge off a file.
    fn pin(&self, number: u64) -> Result<(StoredFile, u64), BinlogError> {
        let mut state = self.state.lock();
        let found = state.files.iter().find(|file| file.number == number).cloned();
        let found = found.ok_or_else(|| BinlogError::NoSuchFile(format!("number {number}")))?;
        let pin = state.next_pin;
        state.next_pin += 1;
        state.pins.insert(pin, number);
        Ok((found, pin))
    }

    /// Up to where a file can be read, and the one behind it once that one has begun.
    fn end_of(&self, number: u64) -> Result<(u64, Option<StoredFile>), BinlogError> {
        let state = self.state.lock();
        let at = state.files.iter().position(|file| file.number == number);
        let at = at.ok_or_else(|| BinlogError::NoSuchFile(format!("number {number}")))?;
        // A file of which nothing but its first bytes is here has nothing to read yet.
        let following = state.files.get(at + 1).filter(|next| next.size > MAGIC.len() as u64);
        Ok((state.files[at].size, following.cloned()))
    }
}
