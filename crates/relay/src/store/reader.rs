//! Reads the log event by event, up to what is published, through files and generations.

use std::sync::Arc;

use binlog::event::MAGIC;
use binlog::{BinlogError, RawEvent};
use io::OpenOptions;

use super::head::{self, Head};
use super::window::Window;
use super::{FileId, FileInfo, Store, io_error};

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An event: [`Reader::event`].
    Event,
    /// Another file begins; its first event comes next.
    File,
    /// Nothing more is published.
    End,
}

/// A place in the log, and the way on from there.
pub struct Reader {
    store: Arc<Store>,
    info: FileInfo,
    window: Window,
    head: Head,
    /// Where the last event began, and how long it is.
    last: (u64, u64),
    /// Where the next one begins.
    at: u64,
}

impl Reader {
    /// From an offset of a file on; one behind what is published is waited for.
    ///
    /// # Errors
    /// When the file is not there or cannot be read.
    #[io::boxed]
    pub async fn open(store: &Arc<Store>, file: FileId, offset: u64) -> Result<Self, BinlogError> {
        let gone = || BinlogError::NoSuchFile(format!("number {} of generation {}", file.number, file.generation));
        let info = store.file(file).ok_or_else(gone)?;
        let (window, head) = open(store, &info).await?;
        let at = offset.max(MAGIC.len() as u64);
        Ok(Reader { store: store.clone(), info, window, head, last: (at, 0), at })
    }

    /// The file that it is in.
    pub fn file(&self) -> &FileInfo {
        &self.info
    }

    /// Where the next event begins.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// The beginning of the file.
    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// Goes on.
    ///
    /// # Errors
    /// When a file is damaged, cannot be read, or was purged before it was reached.
    pub async fn step(&mut self) -> Result<Step, BinlogError> {
        // In this order: if there is a file behind this one, nothing is added to this one any more.
        let next = self.store.file_after(self.info.id);
        self.info.size = self.store.file(self.info.id).map_or(self.info.size, |info| info.size);
        if let Some(length) = self.window.load(self.at, self.info.size, self.head.checksum).await? {
            self.last = (self.at, length);
            self.at += length;
            return Ok(Step::Event);
        }
        let Some(next) = next else { return Ok(Step::End) };
        if self.at != self.info.size {
            let reason = format!("the file ends at {}", self.info.size);
            return Err(BinlogError::NoSuchPosition { file: self.info.name.clone(), offset: self.at, reason });
        }
        if next.id.generation == self.info.id.generation && next.id.number != self.info.id.number + 1 {
            return Err(BinlogError::NoSuchFile(format!("the one behind {}, which was purged", self.info.name)));
        }
        (self.window, self.head) = open(&self.store, &next).await?;
        (self.info, self.at) = (next, MAGIC.len() as u64);
        Ok(Step::File)
    }

    /// The event that was found last.
    ///
    /// # Errors
    /// When there was none.
    pub fn event(&self) -> Result<RawEvent<'_>, BinlogError> {
        let (at, length) = self.last;
        self.window.event(at, length, self.head.checksum)
    }

    /// Ready when there may be more.
    pub async fn wait(&self) {
        self.store.wait_past(self.info.id, self.at).await;
    }
}

async fn open(store: &Store, info: &FileInfo) -> Result<(Window, Head), BinlogError> {
    let path = info.path();
    let opened = store.env().disk.open(&path, OpenOptions::default()).await;
    let file = opened.map_err(|error| io_error("open", &path, &error))?;
    let mut window = Window::shared(file, path, store.blocks.clone(), info.id);
    let found = head::read(&mut window, info.size).await?;
    let head = found.ok_or_else(|| super::corrupt(window.path(), 0, "its first events are not there"))?;
    Ok((window, head))
}

/// What a file says of itself.
///
/// # Errors
/// When it cannot be read.
pub(crate) async fn head_of(store: &Store, info: &FileInfo) -> Result<Head, BinlogError> {
    open(store, info).await.map(|(_, head)| head)
}
