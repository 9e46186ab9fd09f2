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

/// How many groups may be written and synced at once, each through handles of its own.
pub const IN_FLIGHT_MAX: usize = 4;

/// How many zeros are written at once.
const FILL_STEP: usize = 1 << 20;

/// An open log file.
///
/// Linux tells of a failed write-back once per open file, to whichever sync asks first. Syncs that may run at the same
/// time therefore have handles of their own: the background task's, and one for each group in flight ([`Lane`]).
/// Otherwise one of them could be told of success because another was told of the failure.
pub(crate) struct Segment {
    pub(crate) number: u64,
    pub(crate) name: String,
    background: Arc<dyn File>,
    /// By [`Lane`], inline and offloaded.
    plain: Handles,
    /// Whose writes are durable, if the setting asks for them.
    dsync: Option<Handles>,
}

#[derive(Clone)]
struct Handles {
    inline: Arc<dyn File>,
    offload: Vec<Arc<dyn File>>,
}

/// Which handles a group in flight uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    pub(crate) mode: IoMode,
    /// Its number modulo [`IN_FLIGHT_MAX`].
    pub(crate) turn: usize,
}

impl Handles {
    async fn open(env: &Env, name: &str, how: OpenOptions) -> Result<Self> {
        let open = async |mode| {
            let how = OpenOptions { mode, ..how };
            env.disk.open(name, how).await.map_err(|error| BinlogError::io("open", name, &error))
        };
        let inline = open(IoMode::Inline).await?;
        let mut offload = Vec::with_capacity(IN_FLIGHT_MAX);
        for _ in 0..IN_FLIGHT_MAX {
            offload.push(open(IoMode::Offload).await?);
        }
        Ok(Handles { inline, offload })
    }

    fn of(&self, lane: Lane) -> &Arc<dyn File> {
        match lane.mode {
            IoMode::Inline => &self.inline,
            IoMode::Offload => &self.offload[lane.turn % IN_FLIGHT_MAX],
        }
    }
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
        let how = OpenOptions { create, write: true, ..OpenOptions::default() };
        let background = env.disk.open(&name, how).await.map_err(|error| BinlogError::io("open", &name, &error))?;
        let plain = Handles::open(env, &name, how).await?;
        let dsync = match options.sync_method {
            SyncMethod::Fdatasync => None,
            SyncMethod::Dsync => Some(Handles::open(env, &name, OpenOptions { dsync: true, ..how }).await?),
        };
        Ok(Segment { number, background, plain, dsync, name })
    }

    /// The same file under another number; its name on the disk is somebody else's to change.
    pub(crate) fn renumbered(&self, options: &LogOptions, number: u64) -> Self {
        Segment {
            number,
            name: file_name(&options.basename, number),
            background: self.background.clone(),
            plain: self.plain.clone(),
            dsync: self.dsync.clone(),
        }
    }

    /// Writes a group in place; with `durable` through `O_DSYNC` if the setting asks for it. Says whether it is durable.
    pub(crate) async fn write(&self, lane: Lane, offset: u64, buf: IoBuf, durable: bool) -> Result<(IoBuf, bool)> {
        let (file, is_durable) = match &self.dsync {
            Some(handles) if durable => (handles.of(lane), true),
            _ => (self.plain.of(lane), false),
        };
        let buf = file.write_at(offset, buf).await.map_err(|error| BinlogError::io("write", &self.name, &error))?;
        Ok((buf, is_durable))
    }

    /// Makes all completed writes durable.
    pub(crate) async fn sync(&self, lane: Lane) -> Result<()> {
        self.plain.of(lane).sync().await.map_err(|error| BinlogError::io("sync", &self.name, &error))
    }

    /// Makes zeros of a range that was written, and syncs that.
    pub(crate) async fn erase(&self, lane: Lane, from: u64, to: u64) -> Result<()> {
        let mut at = from;
        while at < to {
            let zeros = IoBuf::zeroed(FILL_STEP.min((to - at) as usize));
            let len = zeros.len() as u64;
            self.write(lane, at, zeros, false).await?;
            at += len;
        }
        self.sync(lane).await
    }

    async fn write_in_background(&self, offset: u64, buf: IoBuf) -> Result<IoBuf> {
        self.background.write_at(offset, buf).await.map_err(|error| BinlogError::io("write", &self.name, &error))
    }

    /// As [`Segment::sync`], for whoever writes no groups.
    pub(crate) async fn sync_in_background(&self) -> Result<()> {
        self.background.sync().await.map_err(|error| BinlogError::io("sync", &self.name, &error))
    }

    /// Writes zeros and syncs them.
    pub(crate) async fn fill(&self, from: u64, to: u64) -> Result<()> {
        let mut zeros = IoBuf::zeroed(FILL_STEP.min((to - from) as usize));
        let mut at = from;
        while at < to {
            zeros.resize(FILL_STEP.min((to - at) as usize));
            let len = zeros.len() as u64;
            zeros = self.write_in_background(at, zeros).await?;
            at += len;
        }
        self.sync_in_background().await
    }

    /// Cuts the file, and syncs that: nothing behind `len` ever comes back.
    pub(crate) async fn cut(&self, len: u64) -> Result<()> {
        self.background.set_len(len).await.map_err(|error| BinlogError::io("truncate", &self.name, &error))?;
        self.sync_in_background().await
    }

    /// Ends the file for good: cuts it at `end` and clears its in-use flag.
    pub(crate) async fn seal(&self, end: u64) -> Result<()> {
        // The cut is durable before the flag says so: a file without the flag has no stale bytes behind its end.
        self.cut(end).await?;
        self.set_in_use(false).await?;
        self.sync_in_background().await
    }

    /// Writes the bytes of a range again, as reads show them, and syncs them: after a failed sync they may be in the
    /// system's cache, marked clean, and not on the medium.
    pub(crate) async fn rewrite(&self, from: u64, to: u64) -> Result<()> {
        let mut buf = IoBuf::new();
        let mut at = from;
        while at < to {
            buf.resize(FILL_STEP.min((to - at) as usize));
            let read = self.background.read_at(at, buf).await;
            let len = read.as_ref().map_or(0, |buf| buf.len() as u64);
            buf = read.map_err(|error| BinlogError::io("read", &self.name, &error))?;
            buf = self.write_in_background(at, buf).await?;
            at += len;
        }
        self.sync_in_background().await
    }

    /// Rewrites the flags of the FORMAT_DESCRIPTION, whose checksum does not count this bit.
    pub(crate) async fn set_in_use(&self, in_use: bool) -> Result<()> {
        let flags = if in_use { FLAG_BINLOG_IN_USE } else { 0 };
        let at = (MAGIC.len() + FLAGS_OFFSET) as u64;
        self.write_in_background(at, IoBuf::copy_of(&flags.to_le_bytes())).await.map(drop)
    }
}
