//! Reads a file event by event.
//!
//! An event that lies in one block is looked at there, together with all who read it; one that goes over a block's end is put together
//! in memory of the window's own.

use std::sync::Arc;

use binlog::event::{ChecksumAlgorithm, HEADER_SIZE};
use binlog::{BinlogError, EventHeader, RawEvent};
use io::{File, IoBuf};

use super::blocks::{BLOCK_SIZE, Block, Blocks, SHARED_MAX};
use super::{FileId, corrupt, head, io_error};

/// Bytes that are read at once by who is alone, unless an event is longer.
const READ_SIZE: usize = 128 << 10;

/// What is in sight.
enum View {
    Own(IoBuf),
    Shared(Block),
}

/// A window of a file.
pub(crate) struct Window {
    file: Arc<dyn File>,
    path: String,
    /// Shared with others who read the file; `None` for who is alone.
    shared: Option<(Arc<Blocks>, FileId)>,
    view: View,
    /// Where in the file the view begins.
    at: u64,
    /// Up to here it may be used: a shared block may have bytes behind what was published when it was taken, which may be others by now.
    until: u64,
}

impl Window {
    /// For who reads a file alone.
    pub(crate) fn new(file: Arc<dyn File>, path: String) -> Self {
        Window { file, path, shared: None, view: View::Own(IoBuf::new()), at: 0, until: 0 }
    }

    /// For one of many who read it.
    pub(crate) fn shared(file: Arc<dyn File>, path: String, blocks: Arc<Blocks>, id: FileId) -> Self {
        Window { shared: Some((blocks, id)), ..Window::new(file, path) }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Reads the event at an offset, with its checksum; how long it is. `None` if it is not all before `limit`.
    ///
    /// # Errors
    /// When the file cannot be read, or there is no event there.
    pub(crate) async fn load(
        &mut self,
        offset: u64,
        limit: u64,
        checksum: ChecksumAlgorithm,
    ) -> Result<Option<u64>, BinlogError> {
        let Some(length) = self.load_unchecked(offset, limit).await? else { return Ok(None) };
        let event = self.event(offset, length, checksum)?;
        head::verify(&event, checksum).map_err(|error| corrupt(&self.path, offset, error))?;
        Ok(Some(length))
    }

    /// The same without a look at the checksum, for who does not know yet whether there is one.
    ///
    /// # Errors
    /// As with [`Window::load`].
    pub(crate) async fn load_unchecked(&mut self, offset: u64, limit: u64) -> Result<Option<u64>, BinlogError> {
        let Some(header) = self.bytes(offset, HEADER_SIZE, limit).await? else { return Ok(None) };
        let header = EventHeader::decode(header);
        let length = header.map_err(|error| corrupt(&self.path, offset, error))?.event_length;
        let event = self.bytes(offset, length as usize, limit).await?;
        Ok(event.map(|_| u64::from(length)))
    }

    /// An event that was loaded.
    ///
    /// # Errors
    /// When it is too short for an event.
    pub(crate) fn event(
        &self,
        offset: u64,
        length: u64,
        checksum: ChecksumAlgorithm,
    ) -> Result<RawEvent<'_>, BinlogError> {
        let bytes = self.slice(offset, length as usize);
        RawEvent::first_of(bytes, checksum).map_err(|error| corrupt(&self.path, offset, error))
    }

    /// Some bytes of the file; `None` if they are not all before `limit`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) async fn bytes(&mut self, offset: u64, length: usize, limit: u64) -> Result<Option<&[u8]>, BinlogError> {
        let end = offset + length as u64;
        if end > limit {
            return Ok(None);
        }
        if offset < self.at || end > self.until {
            // What fails leaves nothing in sight.
            self.until = 0;
            let moved = self.go_to(offset, length, limit).await;
            moved.map_err(|error| io_error("read", &self.path, &error))?;
            self.until = limit.min(self.at + self.in_sight().len() as u64);
        }
        Ok(Some(self.slice(offset, length)))
    }

    fn in_sight(&self) -> &[u8] {
        match &self.view {
            View::Own(bytes) => bytes,
            View::Shared(block) => block,
        }
    }

    fn slice(&self, offset: u64, length: usize) -> &[u8] {
        let start = (offset - self.at) as usize;
        &self.in_sight()[start..start + length]
    }

    async fn go_to(&mut self, offset: u64, length: usize, limit: u64) -> std::io::Result<()> {
        let room = usize::try_from(limit - offset).unwrap_or(usize::MAX);
        match &self.shared {
            Some((blocks, id)) if length <= SHARED_MAX => {
                let (blocks, id) = (blocks.clone(), *id);
                self.go_to_blocks(&blocks, id, offset, length, limit).await
            }
            Some(_) => self.read(offset, length).await,
            None => self.read(offset, READ_SIZE.max(length).min(room)).await,
        }
    }

    async fn read(&mut self, offset: u64, wanted: usize) -> std::io::Result<()> {
        let old = std::mem::replace(&mut self.view, View::Own(IoBuf::new()));
        // Memory that only a long event needed is given back.
        let mut buf = match old {
            View::Own(buf) if buf.len() <= 2 * wanted.max(READ_SIZE) => buf,
            _ => IoBuf::new(),
        };
        buf.resize(wanted);
        self.view = View::Own(self.file.read_at(offset, buf).await?);
        self.at = offset;
        Ok(())
    }

    async fn go_to_blocks(
        &mut self,
        blocks: &Blocks,
        id: FileId,
        offset: u64,
        length: usize,
        limit: u64,
    ) -> std::io::Result<()> {
        let end = offset + length as u64;
        let mut own = IoBuf::new();
        let mut at = offset;
        while at < end {
            let number = at / BLOCK_SIZE;
            let start = number * BLOCK_SIZE;
            let needed = (end.min(start + BLOCK_SIZE) - start) as usize;
            let published = (limit.min(start + BLOCK_SIZE) - start) as usize;
            let block = blocks.get(id, number, needed, published, &self.file).await?;
            if at == offset && start + needed as u64 == end {
                (self.view, self.at) = (View::Shared(block), start);
                return Ok(());
            }
            own.extend_from_slice(&block[(at - start) as usize..needed]);
            at = start + needed as u64;
        }
        (self.view, self.at) = (View::Own(own), offset);
        Ok(())
    }
}
