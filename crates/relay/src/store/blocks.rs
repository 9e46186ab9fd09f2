//! What was read or received last, for all who read: fifty replicas that are near one another cost one read of the disk, and those at
//! the log's end none.
//!
//! Files are cut into blocks. A block that is not here is read by the first who needs it; others who need it meanwhile wait for that
//! read. What the source sends is put here when it is written, so that replicas at the end have it from memory. The blocks that were
//! not used for the longest time make room.
//!
//! # Invariants
//! - A block holds the file's bytes from the block's beginning on, maybe fewer than are published by now; who needs more has it read
//!   again. Bytes behind what is published may be in it; nobody asks for them before they are published.
//! - At most [`BLOCKS_MAX`] blocks are here. Who sends one keeps it until it is sent.
//! - A read that is given up, or fails, leaves nothing behind: the next who needs the block reads it.

use std::collections::BTreeMap;
use std::io::Result;
use std::sync::Arc;

use event_listener::Event;
use io::{File, IoBuf};
use parking_lot::Mutex;

use super::FileId;

/// Bytes of a block: what is read at once.
pub(crate) const BLOCK_SIZE: u64 = 128 << 10;
/// 64 MiB.
const BLOCKS_MAX: usize = 512;
/// What is longer is neither put here nor read through here: it would push out what replicas share.
pub(crate) const SHARED_MAX: usize = 16 << 20;

/// A block's bytes.
pub(crate) type Block = Arc<IoBuf>;
/// A file and the block's number in it.
type Key = (FileId, u64);

enum Slot {
    /// Somebody reads it.
    Loading,
    Here {
        block: Block,
        /// When it was used last, counted in uses.
        used: u64,
    },
}

#[derive(Default)]
struct State {
    slots: BTreeMap<Key, Slot>,
    uses: u64,
}

/// The blocks that are in memory.
#[derive(Default)]
pub(crate) struct Blocks {
    state: Mutex<State>,
    loaded: Event,
}

enum Look {
    Here(Block),
    Loading,
    /// The one who asked is to read it.
    Missing,
}

impl Blocks {
    /// The first `needed` bytes of a block, or more; if it has to be read, `published` of them.
    pub(crate) async fn get(
        &self,
        id: FileId,
        number: u64,
        needed: usize,
        published: usize,
        file: &Arc<dyn File>,
    ) -> Result<Block> {
        loop {
            let loaded = self.loaded.listen();
            match self.state.lock().look((id, number), needed) {
                Look::Here(block) => return Ok(block),
                Look::Loading => {}
                Look::Missing => break,
            }
            loaded.await;
        }
        let claim = Claim { blocks: self, key: (id, number) };
        let block = Arc::new(file.read_at(number * BLOCK_SIZE, IoBuf::zeroed(published)).await?);
        self.state.lock().put(claim.key, block.clone());
        Ok(block)
    }

    /// Bytes were written at `offset`.
    pub(crate) fn extend(&self, id: FileId, mut offset: u64, mut bytes: &[u8]) {
        let mut state = self.state.lock();
        if bytes.len() > SHARED_MAX {
            return state.drop_at((id, offset / BLOCK_SIZE));
        }
        while !bytes.is_empty() {
            let (number, within) = (offset / BLOCK_SIZE, (offset % BLOCK_SIZE) as usize);
            let (here, rest) = bytes.split_at(bytes.len().min(BLOCK_SIZE as usize - within));
            state.extend((id, number), within, here);
            bytes = rest;
            offset += here.len() as u64;
        }
    }

    /// The file was cut.
    pub(crate) fn cut(&self, id: FileId, size: u64) {
        let mut state = self.state.lock();
        state.slots.retain(|&(file, number), slot| match slot {
            Slot::Here { block, .. } => file != id || number * BLOCK_SIZE + block.len() as u64 <= size,
            // Of what is published, which is not cut.
            Slot::Loading => true,
        });
    }

    /// The file was removed, or is begun anew.
    pub(crate) fn forget(&self, id: FileId) {
        self.cut(id, 0);
    }
}

impl State {
    fn look(&mut self, key: Key, needed: usize) -> Look {
        self.uses += 1;
        match self.slots.get_mut(&key) {
            Some(Slot::Loading) => return Look::Loading,
            Some(Slot::Here { block, used }) if block.len() >= needed => {
                *used = self.uses;
                return Look::Here(block.clone());
            }
            _ => {}
        }
        self.slots.insert(key, Slot::Loading);
        Look::Missing
    }

    fn put(&mut self, key: Key, block: Block) {
        self.uses += 1;
        self.slots.insert(key, Slot::Here { block, used: self.uses });
        while self.slots.len() > BLOCKS_MAX {
            let used = |slot: &Slot| if let Slot::Here { used, .. } = slot { Some(*used) } else { None };
            let oldest = self.slots.iter().filter_map(|(&key, slot)| Some((used(slot)?, key))).min();
            let Some((_, key)) = oldest else { return };
            self.slots.remove(&key);
        }
    }

    /// A block gets longer, if all before these bytes is here.
    fn extend(&mut self, key: Key, within: usize, bytes: &[u8]) {
        let mut longer = IoBuf::zeroed(within + bytes.len());
        match self.slots.get(&key) {
            // It will be shorter than what is written, and be read again by who needs more.
            Some(Slot::Loading) => return,
            Some(Slot::Here { block, .. }) if block.len() == within => longer[..within].copy_from_slice(block),
            None if within == 0 => {}
            _ => return self.drop_at(key),
        }
        longer[within..].copy_from_slice(bytes);
        self.put(key, Arc::new(longer));
    }

    fn drop_at(&mut self, key: Key) {
        if matches!(self.slots.get(&key), Some(Slot::Here { .. })) {
            self.slots.remove(&key);
        }
    }
}

/// Whoever reads a block; when it ends, however it ends, those who wait look again.
struct Claim<'a> {
    blocks: &'a Blocks,
    key: Key,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.blocks.state.lock();
        if matches!(state.slots.get(&self.key), Some(Slot::Loading)) {
            state.slots.remove(&self.key);
        }
        drop(state);
        self.blocks.loaded.notify(usize::MAX);
    }
}
