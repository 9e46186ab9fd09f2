//! Appends a source's events to the newest file, and publishes what is synced.
//!
//! ```text
//!   | published: whole transactions, synced | written, not synced | in the buffer |
//! ```
//! Bytes are written in pieces of some size and synced in batches: when nothing else waits to be received, or when a batch is full.
//! One transaction may be longer than any batch; then it is synced in parts, and published at its end.
//!
//! # Invariants
//! - What is published is synced, the file's name too.
//! - When anything fails, [`Writer::go_back`] is next: the file is cut to what is published, and the source is asked again from there.
//! - After a failed sync nothing is written any more.

use std::sync::Arc;

use binlog::event::{ChecksumAlgorithm, MAGIC};
use binlog::{BinlogError, Boundary, DecodeError, EventType, FormatDescription, RawEvent};
use io::{File, IoBuf, OpenOptions};

use super::blocks::Blocks;
use super::window::Window;
use super::{FileId, FileInfo, Note, Store, head, io_error, path, split_name};
use crate::gtids::{Gtids, Name};
use crate::kept::folder;

/// So many bytes are received before they are synced, even if more are there already.
pub const BATCH_SIZE: usize = 8 << 20;
/// So many bytes are gathered before they are written.
const WRITE_SIZE: usize = 1 << 20;
/// The highest position that `COM_BINLOG_DUMP` can ask for.
pub(crate) const ASKABLE_MAX: u64 = u32::MAX as u64;

/// The one who appends.
pub struct Writer {
    store: Arc<Store>,
    live: Option<Live>,
}

/// The file that is being written.
struct Live {
    info: FileInfo,
    file: Arc<dyn File>,
    /// In the log, so that others know it.
    is_published: bool,
    buf: IoBuf,
    /// Bytes in front of the buffer.
    written: u64,
    /// Of these, how many are synced.
    synced: u64,
    checksum: ChecksumAlgorithm,
    head: HeadState,
    boundary: Boundary,
    /// Behind the last whole transaction.
    whole_end: u64,
    compare_from: u64,
    /// The transaction that is being received.
    name: Option<Name>,
    is_transaction: bool,
    /// What is to be published with the next sync.
    notes: Vec<Note>,
}

/// How much of a file's head is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadState {
    Nothing,
    Format,
    Whole,
}

fn malformed(reason: String) -> BinlogError {
    BinlogError::Malformed(DecodeError(reason))
}

impl Writer {
    /// Goes on behind what is published. [`Writer::go_back`] comes first.
    pub fn new(store: Arc<Store>) -> Self {
        Writer { store, live: None }
    }

    /// The files.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The name of the file that is written; empty if there is none yet.
    pub fn file_name(&self) -> &str {
        self.live.as_ref().map_or("", |live| &live.info.name)
    }

    /// Which one that is.
    pub fn file_id(&self) -> FileId {
        self.live.as_ref().map_or(FileId::default(), |live| live.info.id)
    }

    /// Where the next event goes, in bytes from the file's beginning.
    pub fn end(&self) -> u64 {
        self.live.as_ref().map_or(0, Live::end)
    }

    /// How the events of the file are protected.
    pub fn checksum(&self) -> ChecksumAlgorithm {
        self.live.as_ref().map_or(ChecksumAlgorithm::Crc32, |live| live.checksum)
    }

    /// Bytes that were appended and are not synced.
    pub fn unsynced(&self) -> usize {
        self.live.as_ref().map_or(0, |live| (live.end() - live.synced) as usize)
    }

    /// Forgets what is not published, and cuts the newest file there.
    ///
    /// # Errors
    /// When that cannot be done; it is to be tried again before anything else.
    #[io::boxed]
    pub async fn go_back(&mut self) -> Result<(), BinlogError> {
        self.store.check()?;
        let disk = self.store.env().disk.clone();
        if let Some(Live { info, is_published: false, .. }) = &self.live {
            let path = info.path();
            self.store.blocks.forget(info.id);
            disk.remove(&path).await.map_err(|error| io_error("remove", &path, &error))?;
        }
        self.live = None;
        let Some(info) = self.store.live() else { return Ok(()) };
        let path = info.path();
        let options = OpenOptions { write: true, ..OpenOptions::default() };
        let file = disk.open(&path, options).await.map_err(|error| io_error("open", &path, &error))?;
        let len = file.len().await.map_err(|error| io_error("stat", &path, &error))?;
        if len != info.size {
            self.store.blocks.cut(info.id, info.size);
            file.set_len(info.size).await.map_err(|error| io_error("cut", &path, &error))?;
            // What was cut must not be there again after a crash: if another source is next, this is the file's end for ever.
            if let Err(error) = file.sync().await {
                let error = io_error("sync", &path, &error);
                self.store.fail(&error);
                return Err(error);
            }
        }
        let found = head::read(&mut Window::new(file.clone(), path), info.size).await?;
        let checksum = found.map_or(ChecksumAlgorithm::Crc32, |head| head.checksum);
        let size = info.size;
        self.live = Some(Live {
            is_published: true,
            written: size,
            synced: size,
            whole_end: size,
            compare_from: self.store.compare_from(),
            checksum,
            head: HeadState::Whole,
            ..Live::new(info, file)
        });
        Ok(())
    }

    /// Goes on with another file of the source's: the one that is written ends here, whatever it ends with.
    ///
    /// # Errors
    /// When the name cannot be that of the next file, or something cannot be written.
    #[io::boxed]
    pub async fn start_file(&mut self, name: &str) -> Result<(), BinlogError> {
        self.store.check()?;
        let is_no_name = || malformed(format!("'{name}' is no name of a log file"));
        let (base, number) = split_name(name).ok_or_else(is_no_name)?;
        if let Some(live) = &self.live {
            let here = &live.info;
            let fits = split_name(&here.name).is_some_and(|(own, _)| own == base) && here.id.number + 1 == number;
            if !fits {
                return Err(malformed(format!("the source goes on with {name}, this log is in {}", here.name)));
            }
        }
        self.finish().await?;
        let generation = self.store.generation().map_or(0, |generation| generation.number);
        let id = FileId { generation, number };
        let path = path(id, name);
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let opened = self.store.env().disk.open(&path, options).await;
        let file = opened.map_err(|error| io_error("create", &path, &error))?;
        file.set_len(0).await.map_err(|error| io_error("cut", &path, &error))?;
        let mut live = Live::new(FileInfo { id, name: name.to_owned(), size: 0, began: 0 }, file);
        live.buf.extend_from_slice(&MAGIC);
        self.live = Some(live);
        Ok(())
    }

    /// Publishes all of the file: the source has left it.
    async fn finish(&mut self) -> Result<(), BinlogError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        if live.head != HeadState::Whole {
            return Err(malformed(format!("{} ends before its GTIDs", live.info.name)));
        }
        live.whole_end = live.end();
        let name = live.name.take();
        live.notes.extend(name.map(Note::Transaction));
        self.flush().await?;
        self.live = None;
        Ok(())
    }

    /// Appends an event of the file that is written; it must be checked already. It is written and synced by [`Writer::flush`].
    ///
    /// # Errors
    /// When it cannot be the next one, or what was gathered cannot be written.
    pub async fn append(&mut self, event: &RawEvent<'_>) -> Result<(), BinlogError> {
        let none = || malformed("an event before the name of its file".to_owned());
        let live = self.live.as_mut().ok_or_else(none)?;
        live.check_place(event)?;
        live.begin(event)?;
        live.buf.extend_from_slice(event.bytes);
        live.end_transaction(event)?;
        if live.buf.len() >= WRITE_SIZE {
            live.write(&self.store.blocks).await?;
        }
        Ok(())
    }

    /// Writes and syncs what was appended, and publishes it up to the end of its last whole transaction.
    ///
    /// # Errors
    /// When it cannot be; [`Writer::go_back`] is next. A failed sync is final.
    #[io::boxed]
    pub async fn flush(&mut self) -> Result<(), BinlogError> {
        self.store.check()?;
        let Some(live) = &mut self.live else { return Ok(()) };
        live.write(&self.store.blocks).await?;
        let path = live.info.path();
        if live.synced < live.written {
            if let Err(error) = live.file.sync().await {
                let error = io_error("sync", &path, &error);
                self.store.fail(&error);
                return Err(error);
            }
            live.synced = live.written;
        }
        if live.head != HeadState::Whole || live.whole_end == live.info.size {
            return Ok(());
        }
        if !live.is_published {
            let folder = folder(live.info.id.generation);
            let synced = self.store.env().disk.sync_dir(&folder).await;
            synced.map_err(|error| io_error("sync folder of", &path, &error))?;
            live.is_published = true;
        }
        live.info.size = live.whole_end;
        self.store.publish(live.info.clone(), &mut live.notes, live.compare_from);
        Ok(())
    }
}

impl Live {
    fn new(info: FileInfo, file: Arc<dyn File>) -> Self {
        Live {
            info,
            file,
            is_published: false,
            buf: IoBuf::new(),
            written: 0,
            synced: 0,
            checksum: ChecksumAlgorithm::Crc32,
            head: HeadState::Nothing,
            boundary: Boundary::default(),
            whole_end: 0,
            compare_from: MAGIC.len() as u64,
            name: None,
            is_transaction: false,
            notes: Vec::new(),
        }
    }

    fn end(&self) -> u64 {
        self.written + self.buf.len() as u64
    }

    /// An event says where it ends, modulo 4 GiB; MariaDB's inside of a group say nothing.
    fn check_place(&self, event: &RawEvent<'_>) -> Result<(), BinlogError> {
        let end = self.end() + event.bytes.len() as u64;
        match event.header.next_position {
            said if said == 0 || said == end as u32 => Ok(()),
            said => Err(malformed(format!(
                "{:?} in {} ends at {end} here, and says {said}; a log that its source encrypts cannot be relayed",
                event.header.event_type, self.info.name
            ))),
        }
    }

    /// What is known once an event begins.
    fn begin(&mut self, event: &RawEvent<'_>) -> Result<(), BinlogError> {
        let event_type = event.header.event_type;
        match self.head {
            HeadState::Nothing => {
                self.checksum = FormatDescription::decode(event)?.checksum;
                self.info.began = event.header.timestamp;
                self.head = HeadState::Format;
            }
            HeadState::Format => {
                if event_type == EventType::MARIA_START_ENCRYPTION {
                    return Err(BinlogError::Encrypted(self.info.name.clone()));
                }
                let other = || malformed(format!("{event_type:?} where the GTIDs of the files before must be"));
                self.notes.push(Note::Head(Gtids::of_head(event)?.ok_or_else(other)?));
                self.head = HeadState::Whole;
            }
            HeadState::Whole if event_type.begins_transaction() => {
                self.name = Name::of(event)?;
                self.is_transaction = true;
            }
            HeadState::Whole => {}
        }
        Ok(())
    }

    /// The event is in the buffer: is that the end of a transaction?
    fn end_transaction(&mut self, event: &RawEvent<'_>) -> Result<(), BinlogError> {
        if !self.boundary.event(event)? || self.head != HeadState::Whole {
            return Ok(());
        }
        if std::mem::take(&mut self.is_transaction) && self.whole_end <= ASKABLE_MAX {
            self.compare_from = self.whole_end;
        }
        self.whole_end = self.end();
        let name = self.name.take();
        self.notes.extend(name.map(Note::Transaction));
        Ok(())
    }

    async fn write(&mut self, blocks: &Blocks) -> Result<(), BinlogError> {
        if self.buf.is_empty() {
            return Ok(());
        }
        let buf = std::mem::take(&mut self.buf);
        let len = buf.len() as u64;
        let written = self.file.write_at(self.written, buf).await;
        let mut buf = written.map_err(|error| io_error("write", &self.info.path(), &error))?;
        blocks.extend(self.info.id, self.written, &buf);
        self.written += len;
        // Memory that only a long event needed is given back.
        if len <= 2 * WRITE_SIZE as u64 {
            buf.clear();
            self.buf = buf;
        }
        Ok(())
    }
}
