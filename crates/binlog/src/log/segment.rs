//! One log file that is written: its handles, zero-filling it ahead, sealing it.
//!
//! ```text
//! | events … durable | written, not synced | zeros, synced, up to `filled` |
//! ```
//! Space is made by writing zeros and syncing them, never by `fallocate` alone: unwritten extents make every later sync
//! commit the file system's journal. The zeros are written and synced by a background task through a handle of its own.

use std::sync::Arc;

use io::{Env, File, IoBuf, IoMode, OpenOptions};

use super::index::file_name;
use super::options::{LogOptions, SyncMethod};
use crate::error::{BinlogError, Result};
use crate::event::{FLAG_BINLOG_IN_USE, FLAGS_OFFSET, MAGIC};

/// How many zeros are written at once.
const FILL_STEP: usize = 1 << 20;

/// An open log file.
pub(crate) struct Segment {
    pub(crate) number: u64,
    pub(crate) name: String,
    inline: Arc<dyn File>,
    offload: Arc<dyn File>,
    /// Handles whose writes are durable, inline and offloaded, if the setting asks for them.
    dsync: Option<[Arc<dyn File>; 2]>,
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Segment {
    /// Opens a file for writing. With `create` it must not hold anything: an older one is emptied.
    pub(crate) async fn open(env: &Env, options: &LogOptions, number: u64, create: bool) -> Result<Self> {
        let name = file_name(&options.basename, number);
        let open = async |mode, dsync| {
            let how = OpenOptions { create, write: true, dsync, mode, ..OpenOptions::default() };
            env.disk.open(&name, how).await.map_err(|error| BinlogError::io("open", &name, &error))
        };
        let inline = open(IoMode::Inline, false).await?;
        let offload = open(IoMode::Offload, false).await?;
        let dsync = match options.sync_method {
            SyncMethod::Fdatasync => None,
            SyncMethod::Dsync => Some([open(IoMode::Inline, true).await?, open(IoMode::Offload, true).await?]),
        };
        Ok(Segment { number, inline, offload, dsync, name })
    }

    fn handle(&self, mode: IoMode) -> &Arc<dyn File> {
        match mode {
            IoMode::Inline => &self.inline,
            IoMode::Offload => &self.offload,
        }
    }

    /// Writes in place; with `durable` through `O_DSYNC` if the setting asks for it. Says whether it is durable.
    pub(crate) async fn write(&self, mode: IoMode, offset: u64, buf: IoBuf, durable: bool) -> Result<(IoBuf, bool)> {
        let (file, is_durable) = match (&self.dsync, durable, mode) {
            (Some([inline, _]), true, IoMode::Inline) => (inline, true),
            (Some([_, offload]), true, IoMode::Offload) => (offload, true),
            _ => (self.handle(mode), false),
        };
        let buf = file.write_at(offset, buf).await.map_err(|error| BinlogError::io("write", &self.name, &error))?;
        Ok((buf, is_durable))
    }

    /// Makes all completed writes durable.
    pub(crate) async fn sync(&self, mode: IoMode) -> Result<()> {
        self.handle(mode).sync().await.map_err(|error| BinlogError::io("sync", &self.name, &error))
    }

    /// Writes zeros and syncs them.
    pub(crate) async fn fill(&self, from: u64, to: u64) -> Result<()> {
        let mut zeros = IoBuf::zeroed(FILL_STEP.min((to - from) as usize));
        let mut at = from;
        while at < to {
            zeros.resize(FILL_STEP.min((to - at) as usize));
            let len = zeros.len() as u64;
            zeros = self.write(IoMode::Offload, at, zeros, false).await?.0;
            at += len;
        }
        self.sync(IoMode::Offload).await
    }

    /// Cuts the file, and syncs that: nothing behind `len` ever comes back.
    pub(crate) async fn cut(&self, len: u64) -> Result<()> {
        self.offload.set_len(len).await.map_err(|error| BinlogError::io("truncate", &self.name, &error))?;
        self.sync(IoMode::Offload).await
    }

    /// Ends the file for good: cuts it at `end` and clears its in-use flag.
    pub(crate) async fn seal(&self, end: u64) -> Result<()> {
        // The cut is durable before the flag says so: a file without the flag has no stale bytes behind its end.
        self.cut(end).await?;
        self.set_in_use(false).await?;
        self.sync(IoMode::Offload).await
    }

    /// Rewrites the flags of the FORMAT_DESCRIPTION, whose checksum does not count this bit.
    pub(crate) async fn set_in_use(&self, in_use: bool) -> Result<()> {
        let flags = if in_use { FLAG_BINLOG_IN_USE } else { 0 };
        let at = (MAGIC.len() + FLAGS_OFFSET) as u64;
        self.write(IoMode::Offload, at, IoBuf::copy_of(&flags.to_le_bytes()), false).await.map(drop)
    }
}
