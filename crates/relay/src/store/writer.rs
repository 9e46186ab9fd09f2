//! Appending what the source sends.

use std::sync::Arc;

use binlog::event::{ChecksumAlgorithm, FLAG_BINLOG_IN_USE, FLAGS_OFFSET, MAGIC};
use binlog::{BinlogError, EventType, FormatDescription, RawEvent};
use io::{File, IoBuf, OpenOptions};

use super::{Store, StoredFile, check_name, check_place};
use crate::error::{RelayError, io_error};
use crate::groups::{Executed, Groups, Name};

/// The only one who writes.
pub(crate) struct Writer {
    pub(super) store: Arc<Store>,
    pub(super) current: Option<Current>,
}

/// The last file.
pub(super) struct Current {
    pub(super) name: Arc<str>,
    pub(super) file: Arc<dyn File>,
    /// Up to here it is written and synced; part of a transaction may be in it.
    pub(super) written: u64,
    pub(super) buffer: IoBuf,
    pub(super) checksum: ChecksumAlgorithm,
    pub(super) groups: Groups,
    /// The end of the last whole transaction.
    pub(super) settled: u64,
    /// Where the last transaction begins that is whole, or the first event of the file.
    pub(super) last_begin: u64,
    /// Where the one begins that is not.
    pub(super) begun: u64,
    /// Whole, and not announced.
    pub(super) names: Vec<Name>,
    pub(super) news: News,
    /// A write failed: something of it may be in the file.
    pub(super) is_broken: bool,
}

/// What the file says of itself and of those before it, until it is announced.
#[derive(Default)]
pub(super) struct News {
    pub(super) begun: Option<u32>,
    pub(super) format: Option<FormatDescription>,
    pub(super) before: Option<Executed>,
}

impl Current {
    pub(super) fn new(name: Arc<str>, file: Arc<dyn File>) -> Self {
        let start = MAGIC.len() as u64;
        Current {
            name,
            file,
            written: start,
            buffer: IoBuf::new(),
            checksum: ChecksumAlgorithm::Off,
            groups: Groups::default(),
            settled: start,
            last_begin: start,
            begun: start,
            names: Vec::new(),
            news: News::default(),
            is_broken: false,
        }
    }

    /// Takes note of an event at `offset`.
    pub(super) fn note(&mut self, event: &RawEvent<'_>, offset: u64) -> Result<(), binlog::DecodeError> {
        if event.header.event_type == EventType::FORMAT_DESCRIPTION {
            let format = FormatDescription::decode(event)?;
            self.checksum = format.checksum;
            self.news.begun = Some(event.header.timestamp);
            self.news.format = Some(format);
        }
        if let Some(before) = Executed::before_file(event)? {
            self.news.before = Some(before);
        }
        let step = self.groups.event(event)?;
        if step.begins {
            if step.ended.is_some() {
                self.settled = offset;
                self.last_begin = self.begun;
            }
            self.begun = offset;
        }
        if step.settled {
            self.settled = offset + event.bytes.len() as u64;
            if step.ended.is_some() {
                self.last_begin = self.begun;
            }
        }
        self.names.extend(step.ended);
        Ok(())
    }

    fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }
}

impl Writer {
    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The last file and where the next event will begin in it.
    pub(crate) fn position(&self) -> Option<(Arc<str>, u64)> {
        self.current.as_ref().map(|current| (current.name.clone(), current.end()))
    }

    /// Where the last whole transaction begins: from there on a source is asked, to see that it has the same.
    pub(crate) fn last_begin(&self) -> Option<(Arc<str>, u64)> {
        self.current.as_ref().map(|current| (current.name.clone(), current.last_begin))
    }

    /// How events of the last file are protected.
    pub(crate) fn checksum(&self) -> ChecksumAlgorithm {
        self.current.as_ref().map_or(ChecksumAlgorithm::Off, |current| current.checksum)
    }

    /// Bytes that wait for [`Writer::flush`].
    pub(crate) fn unflushed(&self) -> usize {
        self.current.as_ref().map_or(0, |current| current.buffer.len())
    }

    /// Takes one event. It is durable after [`Writer::flush`].
    ///
    /// # Errors
    /// When it is not what can stand here: it was garbled, or something is missing before it.
    pub(crate) fn append(&mut self, event: &RawEvent<'_>) -> Result<(), RelayError> {
        let Some(current) = &mut self.current else {
            return Err(RelayError::Garbled("an event before the name of its file".into()));
        };
        let offset = current.end();
        check_place(event, offset).map_err(RelayError::Garbled)?;
        let is_first = offset == MAGIC.len() as u64;
        if is_first != (event.header.event_type == EventType::FORMAT_DESCRIPTION) {
            return Err(RelayError::Garbled(format!("{:?} at offset {offset}", event.header.event_type)));
        }
        current.note(event, offset)?;
        let at = current.buffer.len();
        current.buffer.extend_from_slice(event.bytes);
        if is_first {
            current.buffer[at + FLAGS_OFFSET] &= !(FLAG_BINLOG_IN_USE as u8);
        }
        Ok(())
    }

    /// Makes all that was appended durable, and shows the whole transactions of it.
    ///
    /// # Errors
    /// When the disk is full: [`Writer::forget_partial`] makes it right again. A failed sync is final.
    pub(crate) async fn flush(&mut self) -> Result<(), BinlogError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        if let Some(why) = self.store.failure() {
            return Err(BinlogError::Failed(why));
        }
        if !current.buffer.is_empty() {
            let buffer = std::mem::take(&mut current.buffer);
            let len = buffer.len() as u64;
            current.is_broken = true;
            let written = current.file.write_at(current.written, buffer).await;
            let mut buffer = written.map_err(|error| io_error("write", &current.name, &error))?;
            if let Err(error) = current.file.sync().await {
                let error = io_error("sync", &current.name, &error);
                self.store.fail(&error);
                return Err(error);
            }
            buffer.clear();
            current.buffer = buffer;
            current.written += len;
            current.is_broken = false;
        }
        self.announce(false);
        Ok(())
    }

    /// Shows readers what is durable: whole transactions, or everything if the file is over.
    fn announce(&mut self, is_over: bool) {
        let Some(current) = &mut self.current else { return };
        let mut state = self.store.state.lock();
        if let Some(before) = current.news.before.take() {
            // The first file says what was before it; later ones repeat what is known.
            if state.files.len() <= 1 {
                state.executed = before;
            }
        }
        for name in current.names.drain(..) {
            state.executed.add(&name);
        }
        if let Some(format) = current.news.format.take() {
            state.version = format.server_version;
            state.with_checksums = format.checksum == ChecksumAlgorithm::Crc32;
        }
        if let Some(last) = state.files.back_mut() {
            last.size = if is_over { current.written } else { current.settled.min(current.written).max(last.size) };
            last.begun = current.news.begun.take().unwrap_or(last.begun);
        }
        drop(state);
        self.store.changed.notify(usize::MAX);
    }

    /// Goes back to what is announced: what came behind it is asked for again.
    ///
    /// # Errors
    /// When the file cannot be cut.
    pub(crate) async fn forget_partial(&mut self) -> Result<(), BinlogError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        if let Some(why) = self.store.failure() {
            return Err(BinlogError::Failed(why));
        }
        let Some(last) = self.store.last() else { return Ok(()) };
        let is_clean = current.buffer.is_empty() && current.written == last.size && !current.is_broken;
        if is_clean {
            return Ok(());
        }
        // What is here is taken from the disk again: nothing that was in memory counts.
        let known = super::open::scan(&self.store.env, last.name.clone()).await?.current;
        if let Err(error) = super::open::cut(&known).await {
            self.store.fail(&error);
            return Err(error);
        }
        self.current = Some(known);
        self.announce(false);
        Ok(())
    }

    /// Begins a file, unless it is the one that is written already. The one before is complete with that.
    ///
    /// # Errors
    /// When there was such a file before, its name cannot be one here, or the disk does not take it.
    pub(crate) async fn start_file(&mut self, name: &str) -> Result<(), RelayError> {
        if self.current.as_ref().is_some_and(|current| &*current.name == name) {
            return Ok(());
        }
        check_name(name).map_err(RelayError::Unfit)?;
        if self.store.named(name).is_some() {
            let why = format!("the source goes on in '{name}', which is here already: it has begun its log anew");
            return Err(RelayError::Unfit(format!("{why}. Begin with a new --datadir")));
        }
        self.flush().await?;
        if self.current.as_ref().is_some_and(|current| current.written <= MAGIC.len() as u64) {
            return Err(RelayError::Garbled("the end of a file in which there was nothing".into()));
        }
        let file = create(&self.store, name).await?;
        let name: Arc<str> = name.into();
        let store = self.store.clone();
        let _index = store.index.take().await;
        let mut names: Vec<_> = store.files().into_iter().map(|file| file.name).collect();
        names.push(name.clone());
        store.write_index(&names).await?;
        self.announce(true);
        let mut state = store.state.lock();
        let number = state.files.back().map_or(0, |last| last.number + 1);
        let stored = StoredFile { number, name: name.clone(), size: MAGIC.len() as u64, begun: 0 };
        state.files.push_back(stored);
        drop(state);
        self.current = Some(Current::new(name, file));
        store.changed.notify(usize::MAX);
        Ok(())
    }
}

/// A file with nothing in it but its first four bytes; durable.
async fn create(store: &Store, name: &str) -> Result<Arc<dyn File>, BinlogError> {
    let make = async {
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = store.env.disk.open(name, options).await?;
        // Left by a crash before the index named it.
        file.set_len(0).await?;
        file.write_at(0, IoBuf::copy_of(&MAGIC)).await?;
        file.sync().await?;
        store.env.disk.sync_dir("").await?;
        Ok(file)
    };
    make.await.map_err(|error: std::io::Error| io_error("create", name, &error))
}
