//! The data file: whole blocks in, whole blocks out, every error with its place, and no write after a final failure.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::{IndexId, PageNumber};
use bytes::Bytes;
use event_listener::{Event, EventListener};
use io::{Env, File, IoBuf};
use parking_lot::Mutex;

use crate::page::{BLOCK_SIZE, Expected, Page, memory};
use crate::space::Run;
use crate::{Result, StoreError};

/// The open file.
pub(crate) struct DataFile {
    name: Arc<str>,
    file: Arc<dyn File>,
    /// Why nothing may be written any more.
    failed: OnceLock<Arc<str>>,
    traffic: Traffic,
    /// Of which something could not be read.
    damaged: Mutex<BTreeSet<IndexId>>,
    /// Notified when there is one more.
    damage: Event,
}

/// What went in and out.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) pages_read: AtomicU64,
    pub(crate) pages_written: AtomicU64,
    pub(crate) blocks_read: AtomicU64,
    pub(crate) blocks_written: AtomicU64,
}

impl DataFile {
    pub(crate) fn new(name: &str, file: Arc<dyn File>) -> Self {
        DataFile {
            name: name.into(),
            file,
            failed: OnceLock::new(),
            traffic: Traffic::default(),
            damaged: Mutex::default(),
            damage: Event::new(),
        }
    }

    pub(crate) fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Reads neighbouring blocks, unchecked.
    pub(crate) async fn read(&self, run: Run, index: Option<IndexId>) -> Result<Bytes> {
        let offset = offset_of(run.start);
        let buf = memory::take(run.len as usize * BLOCK_SIZE);
        self.traffic.blocks_read.fetch_add(run.len, Ordering::Relaxed);
        match self.file.read_at(offset, buf).await {
            Ok(buf) => Ok(memory::share(buf)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Err(self.corrupt(PageNumber(run.start), index, "the file ends before its end".to_string()))
            }
            Err(error) => Err(self.io("read", offset, error)),
        }
    }

    /// Reads one page and checks it.
    pub(crate) async fn read_page(&self, expected: &Expected) -> Result<Page> {
        let bytes = self.read(expected.at.run(), Some(expected.index)).await?;
        self.check(bytes, expected)
    }

    /// Checks a page that was read.
    pub(crate) fn check(&self, bytes: Bytes, expected: &Expected) -> Result<Page> {
        self.traffic.pages_read.fetch_add(1, Ordering::Relaxed);
        let index = Some(expected.index).filter(|index| index.0 != 0);
        Page::check(bytes, expected).map_err(|what| self.corrupt(expected.at.number, index, what))
    }

    /// Writes so many neighbouring pages, which are all of `buf`.
    pub(crate) async fn write(&self, start: u64, pages: u64, buf: IoBuf) -> Result<IoBuf> {
        self.check_failed()?;
        let (offset, blocks) = (offset_of(start), (buf.len() / BLOCK_SIZE) as u64);
        let buf = self.file.write_at(offset, buf).await.map_err(|error| self.io("write", offset, error))?;
        self.traffic.pages_written.fetch_add(pages, Ordering::Relaxed);
        self.traffic.blocks_written.fetch_add(blocks, Ordering::Relaxed);
        Ok(buf)
    }

    /// Makes everything written durable. A failure is final, and so is not waiting for the end: the error would be
    /// lost, and the next sync could succeed.
    pub(crate) async fn sync(&self) -> Result<()> {
        self.check_failed()?;
        let unsure = self.unsure("a sync was given up in its middle");
        let synced = self.file.sync().await.map_err(|error| self.io("sync", 0, error));
        unsure.settle(&synced);
        synced
    }

    /// From now on until it is settled, giving up means that nothing is written any more.
    pub(crate) fn unsure(&self, cause: &'static str) -> Unsure<'_> {
        Unsure { file: self, cause: Some(cause.to_string()) }
    }

    /// Length in whole blocks.
    pub(crate) async fn blocks(&self) -> Result<u64> {
        let len = self.file.len().await.map_err(|error| self.io("length", 0, error))?;
        Ok(len / BLOCK_SIZE as u64)
    }

    /// Gives the file a length.
    pub(crate) async fn set_blocks(&self, blocks: u64) -> Result<()> {
        self.check_failed()?;
        let len = offset_of(blocks);
        self.file.set_len(len).await.map_err(|error| self.io("change of length", len, error))
    }

    /// Cuts off what is behind so many blocks, in a way that holds up nobody else's sync.
    pub(crate) async fn cut(&self, env: &Env, blocks: u64) -> Result<()> {
        self.check_failed()?;
        let len = offset_of(blocks);
        env.shorten(&*self.file, len).await.map_err(|error| self.io("change of length", len, error))
    }

    /// Lets no write pass from now on.
    fn fail(&self, cause: &str) {
        tracing::error!(file = %self.name, cause, "the data file is not written any more");
        let _ = self.failed.set(cause.into());
    }

    /// An error if nothing may be written.
    pub(crate) fn check_failed(&self) -> Result<()> {
        match self.failed.get() {
            Some(cause) => Err(StoreError::Failed { file: self.name.clone(), cause: cause.clone() }),
            None => Ok(()),
        }
    }

    /// Every error of damage is made here, so here its index is noted.
    pub(crate) fn corrupt(&self, page: PageNumber, index: Option<IndexId>, what: String) -> StoreError {
        if let Some(index) = index
            && self.damaged.lock().insert(index)
        {
            self.damage.notify(usize::MAX);
        }
        StoreError::Corrupt { file: self.name.clone(), offset: offset_of(page.0), page, index, what }
    }

    /// Indexes of which something could not be read.
    pub(crate) fn damaged(&self) -> Vec<IndexId> {
        self.damaged.lock().iter().copied().collect()
    }

    /// Forgets what was noted of an index: it is looked for anew, or was made good.
    pub(crate) fn forget_damage(&self, index: IndexId) {
        self.damaged.lock().remove(&index);
    }

    /// Ready when something is damaged of an index that was not noted yet.
    pub(crate) fn listen_for_damage(&self) -> EventListener {
        self.damage.listen()
    }

    pub(crate) fn unusable(&self, what: String) -> StoreError {
        StoreError::Unusable { file: self.name.clone(), what }
    }

    fn io(&self, operation: &'static str, offset: u64, error: std::io::Error) -> StoreError {
        StoreError::Io { file: self.name.clone(), operation, offset, source: Arc::new(error) }
    }
}

/// Latches a failure when it is dropped before it is settled, or settled with an error.
pub(crate) struct Unsure<'a> {
    file: &'a DataFile,
    cause: Option<String>,
}

impl Unsure<'_> {
    /// The outcome is known.
    pub(crate) fn settle(mut self, outcome: &Result<()>) {
        self.cause = outcome.as_ref().err().map(ToString::to_string);
    }
}

impl Drop for Unsure<'_> {
    fn drop(&mut self) {
        if let Some(cause) = &self.cause {
            self.file.fail(cause);
        }
    }
}

/// Where a block begins.
fn offset_of(block: u64) -> u64 {
    block.saturating_mul(BLOCK_SIZE as u64)
}
