//! A run: what was in memory of a write set, sorted, in a file.
//!
//! ```text
//! file    block | block | …          blocks of one index follow one another, by key
//! block   xxh3 u64 | entries u32 | per entry: key length u16, value length u32 (all ones: gone), key, value
//! memory  per index: the first key and the place of each block, the last key, a filter
//! ```
//! The checksum's seed is of the file, the run and the offset: a block that was written to another place, or that is of a run that
//! was there before, is not taken for this one.
//! Temporary: nothing of it is read after a restart.

use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;
use io::WriteBehind;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::file::RunFile;
use super::filter::Filter;
use super::{OwnedRange, Runs};
use crate::error::{EngineError, Result};
use crate::memtable::Key;
use crate::txn::Write;

/// A block is closed when it has so many bytes.
const BLOCK_BYTES: usize = 32 << 10;
/// Blocks are written together until they have so many bytes.
const WRITE_BYTES: usize = 1 << 20;
/// Up to here a file may be removed before the system has written anything of it. Of longer ones the system would have gigabytes in memory, and
/// everybody's syncs would wait when it writes those.
const WRITE_BEHIND_FROM: u64 = 32 << 20;
/// A larger block is not kept in memory.
const CACHED_BLOCK_MAX: usize = 2 * BLOCK_BYTES;
const BLOCK_HEADER: usize = 12;
const ENTRY_HEADER: usize = 6;
const GONE: u32 = u32::MAX;

/// See the module.
pub(crate) struct Run {
    file: Arc<RunFile>,
    number: u64,
    /// Where it ends in the file.
    end: u64,
    /// Ascending.
    indexes: Vec<RunIndex>,
}

struct RunIndex {
    index: IndexId,
    blocks: Vec<BlockAt>,
    last: Key,
    filter: Filter,
    entries: usize,
}

struct BlockAt {
    first: Key,
    offset: u64,
    length: u32,
}

/// A block in memory.
pub(super) struct Block {
    bytes: Bytes,
    /// Where each entry begins.
    entries: Vec<u32>,
}

impl Block {
    fn decode(bytes: Bytes, seed: u64) -> Option<Block> {
        let (hash, rest) = bytes.split_first_chunk()?;
        if xxh3_64_with_seed(rest, seed) != u64::from_le_bytes(*hash) {
            return None;
        }
        let count = u32::from_le_bytes(*rest.first_chunk()?) as usize;
        let mut entries = Vec::with_capacity(count.min(bytes.len()));
        let mut at = BLOCK_HEADER;
        for _ in 0..count {
            entries.push(at as u32);
            let (key, value) = lengths(bytes.get(at..)?)?;
            at += ENTRY_HEADER + key + value.unwrap_or(0);
        }
        (at == bytes.len()).then_some(Block { bytes, entries })
    }

    fn key(&self, entry: usize) -> &[u8] {
        let at = self.entries[entry] as usize;
        let length = usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]));
        &self.bytes[at + ENTRY_HEADER..at + ENTRY_HEADER + length]
    }

    fn write(&self, entry: usize) -> Write {
        let at = self.entries[entry] as usize;
        let (key, value) = lengths(&self.bytes[at..])?;
        let start = at + ENTRY_HEADER + key;
        // A copy: whoever keeps a row must not keep the block.
        value.map(|length| Bytes::copy_from_slice(&self.bytes[start..start + length]))
    }

    /// The first entry that is not before a lower bound.
    fn start_of(&self, bound: Bound<&[u8]>) -> usize {
        self.entries_before(|key| match bound {
            Bound::Unbounded => false,
            Bound::Included(bound) => key < bound,
            Bound::Excluded(bound) => key <= bound,
        })
    }

    /// How many entries are not behind an upper bound.
    fn end_of(&self, bound: Bound<&[u8]>) -> usize {
        self.entries_before(|key| match bound {
            Bound::Unbounded => true,
            Bound::Included(bound) => key <= bound,
            Bound::Excluded(bound) => key < bound,
        })
    }

    fn entries_before(&self, is_before: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.entries.len());
        while low < high {
            let middle = (low + high) / 2;
            if is_before(self.key(middle)) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

fn lengths(entry: &[u8]) -> Option<(usize, Option<usize>)> {
    let (key, rest) = entry.split_first_chunk::<2>()?;
    let value = u32::from_le_bytes(*rest.first_chunk()?);
    Some((usize::from(u16::from_le_bytes(*key)), (value != GONE).then_some(value as usize)))
}

impl Run {
    /// What it holds of a key, if anything.
    pub(super) async fn get(&self, index: IndexId, key: &[u8]) -> Result<Option<Write>> {
        let Some(own) = self.find(index) else { return Ok(None) };
        if key > own.last.as_slice() || !own.filter.may_have(key) {
            return Ok(None);
        }
        let Some(number) = own.block_of(key) else { return Ok(None) };
        let block = self.block(own, number, true).await?;
        let entry = block.start_of(Bound::Included(key));
        Ok((entry < block.entries.len() && block.key(entry) == key).then(|| block.write(entry)))
    }

    pub(super) fn has(&self, index: IndexId) -> bool {
        self.find(index).is_some()
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = IndexId> {
        self.indexes.iter().map(|own| own.index)
    }

    pub(super) fn entries(&self) -> usize {
        self.indexes.iter().map(|own| own.entries).sum()
    }

    /// About how many entries a range of an index has.
    pub(super) fn estimate(&self, index: IndexId, (lower, upper): (Bound<&[u8]>, Bound<&[u8]>)) -> usize {
        let Some(own) = self.find(index) else { return 0 };
        let block_of = |bound: Bound<&[u8]>, edge: usize| match bound {
            Bound::Unbounded => edge,
            Bound::Included(key) | Bound::Excluded(key) => own.block_of(key).map_or(0, |number| number + 1),
        };
        let blocks = block_of(upper, own.blocks.len()).saturating_sub(block_of(lower, 0).saturating_sub(1));
        own.entries * blocks / own.blocks.len().max(1)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let block_bytes = |block: &BlockAt| size_of::<BlockAt>() + block.first.heap_bytes();
        let index_bytes =
            |own: &RunIndex| own.filter.memory_bytes() + own.blocks.iter().map(block_bytes).sum::<usize>();
        self.indexes.iter().map(index_bytes).sum()
    }

    /// Through a range of an index; `None` if it has nothing of the index.
    pub(super) fn cursor(self: &Arc<Self>, index: IndexId, range: OwnedRange, backward: bool) -> Option<RunCursor> {
        let slot = self.indexes.binary_search_by_key(&index, |own| own.index).ok()?;
        Some(RunCursor { run: self.clone(), slot, range, backward, block: None, ended: false })
    }

    fn find(&self, index: IndexId) -> Option<&RunIndex> {
        let slot = self.indexes.binary_search_by_key(&index, |own| own.index).ok()?;
        Some(&self.indexes[slot])
    }

    async fn block(&self, own: &RunIndex, number: usize, keep: bool) -> Result<Arc<Block>> {
        let at = &own.blocks[number];
        let key = (self.number, at.offset);
        if let Some(block) = self.file.cached(key) {
            return Ok(block);
        }
        let bytes = self.file.read(at.offset, at.length as usize).await?;
        let damaged = || EngineError::Corrupt(format!("{} is damaged at offset {}", self.file.path, at.offset));
        let block = Arc::new(Block::decode(bytes, self.seed(at.offset)).ok_or_else(damaged)?);
        if keep && at.length as usize <= CACHED_BLOCK_MAX {
            self.file.cache(key, &block);
        }
        Ok(block)
    }

    /// Of the checksum of a block that begins at `offset`.
    fn seed(&self, offset: u64) -> u64 {
        let mut place = [0; 24];
        for (bytes, number) in place.chunks_exact_mut(8).zip([self.file.number, self.number, offset]) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        xxh3_64(&place)
    }
}

impl RunIndex {
    /// The block in which a key would be.
    fn block_of(&self, key: &[u8]) -> Option<usize> {
        self.blocks.partition_point(|block| block.first.as_slice() <= key).checked_sub(1)
    }
}

/// A place in a range of one index of a run.
pub(super) struct RunCursor {
    run: Arc<Run>,
    slot: usize,
    /// What is left.
    range: OwnedRange,
    backward: bool,
    /// The block of the last entry.
    block: Option<(usize, Arc<Block>)>,
    ended: bool,
}

impl RunCursor {
    /// The next entry. A future that is dropped has moved nothing.
    pub(super) async fn next(&mut self) -> Result<Option<(Key, Write)>> {
        while !self.ended {
            let own = &self.run.indexes[self.slot];
            let Some(number) = self.block_number(own) else { break };
            let block = match &self.block {
                Some((recent, block)) if *recent == number => block.clone(),
                // Only the first block of a range is worth keeping: most ranges are short.
                before => self.run.block(own, number, before.is_none()).await?,
            };
            self.block = Some((number, block.clone()));
            let (lower, upper) = (self.range.0.as_ref().map(|b| &b[..]), self.range.1.as_ref().map(|b| &b[..]));
            let (from, to) = (block.start_of(lower), block.end_of(upper));
            if from < to {
                let entry = if self.backward { to - 1 } else { from };
                let key = Key::new(block.key(entry));
                let position = Bound::Excluded(Bytes::copy_from_slice(&key));
                *(if self.backward { &mut self.range.1 } else { &mut self.range.0 }) = position;
                return Ok(Some((key, block.write(entry))));
            }
            // The range goes on in the neighbour, if it does not end here.
            if self.backward {
                self.ended = from > 0 || number == 0;
                self.range.1 = Bound::Excluded(Bytes::copy_from_slice(&own.blocks[number].first));
            } else {
                self.ended = to < block.entries.len() || number + 1 == own.blocks.len();
                let next = own.blocks.get(number + 1).map(|block| Bytes::copy_from_slice(&block.first));
                self.range.0 = next.map_or(Bound::Unbounded, Bound::Included);
            }
        }
        self.ended = true;
        Ok(None)
    }

    /// The block in which the range goes on.
    fn block_number(&self, own: &RunIndex) -> Option<usize> {
        let bound = if self.backward { &self.range.1 } else { &self.range.0 };
        match (bound, self.backward) {
            (Bound::Unbounded, false) => Some(0),
            (Bound::Unbounded, true) => own.blocks.len().checked_sub(1),
            (Bound::Included(key) | Bound::Excluded(key), false) => Some(own.block_of(key).unwrap_or(0)),
            (Bound::Included(key), true) => own.block_of(key),
            // The entry before a block's first is in the block before.
            (Bound::Excluded(key), true) => {
                own.blocks.partition_point(|block| block.first.as_slice() < &key[..]).checked_sub(1)
            }
        }
    }
}

/// Writes a run.
pub(crate) struct RunWriter {
    run: Run,
    /// Where what is not written yet will be.
    at: u64,
    out: Vec<u8>,
    /// What is likely to be long-lived is on its way to the disk, instead of all at once when the system has too much of it.
    behind: WriteBehind,
    /// The block that is being filled: where it begins in `out`, and its entries.
    open: Option<(usize, u32)>,
}

impl RunWriter {
    /// Behind the last of these runs, which are in the same file.
    pub(crate) fn new(file: &Arc<RunFile>, before: &Runs) -> Self {
        let at = before.0.last().map_or(0, |run| run.end);
        let run = Run { file: file.clone(), number: file.next_run(), end: at, indexes: Vec::new() };
        RunWriter { run, at, out: Vec::new(), behind: WriteBehind::from(at), open: None }
    }

    /// What follows is of this index, about so many keys. Indexes come ascending, each once, and have a key at least.
    pub(crate) fn begin_index(&mut self, index: IndexId, keys: usize) {
        self.begin(index, Filter::new(keys));
    }

    /// The same of an index that is only read from its beginning to its end.
    pub(crate) fn begin_unfiltered(&mut self, index: IndexId) {
        self.begin(index, Filter::none());
    }

    fn begin(&mut self, index: IndexId, filter: Filter) {
        self.close_block();
        debug_assert!(self.run.indexes.last().is_none_or(|before| before.index < index), "indexes ascend");
        self.run.indexes.push(RunIndex { index, blocks: Vec::new(), last: Key::new(&[]), filter, entries: 0 });
    }

    /// The next key of the index, ascending.
    pub(crate) async fn put(&mut self, key: &Key, write: &Write) -> Result<()> {
        let (start, entries) = match self.open {
            Some(open) => open,
            None => self.open_block(key),
        };
        self.open = Some((start, entries + 1));
        self.out.extend_from_slice(&(key.len() as u16).to_le_bytes());
        self.out.extend_from_slice(&write.as_ref().map_or(GONE, |value| value.len() as u32).to_le_bytes());
        self.out.extend_from_slice(key);
        self.out.extend_from_slice(write.as_deref().unwrap_or_default());
        if let Some(own) = self.run.indexes.last_mut() {
            own.filter.add(key);
            own.last = key.clone();
            own.entries += 1;
        }
        if self.out.len() - start >= BLOCK_BYTES {
            self.close_block();
            if self.out.len() >= WRITE_BYTES {
                self.write().await?;
            }
        }
        Ok(())
    }

    fn open_block(&mut self, first: &Key) -> (usize, u32) {
        let start = self.out.len();
        self.out.resize(start + BLOCK_HEADER, 0);
        if let Some(own) = self.run.indexes.last_mut() {
            own.blocks.push(BlockAt { first: first.clone(), offset: self.at + start as u64, length: 0 });
        }
        (start, 0)
    }

    fn close_block(&mut self) {
        let Some((start, entries)) = self.open.take() else { return };
        let block = &mut self.out[start..];
        block[8..BLOCK_HEADER].copy_from_slice(&entries.to_le_bytes());
        let hash = xxh3_64_with_seed(&block[8..], self.run.seed(self.at + start as u64));
        block[..8].copy_from_slice(&hash.to_le_bytes());
        let length = block.len() as u32;
        if let Some(at) = self.run.indexes.last_mut().and_then(|own| own.blocks.last_mut()) {
            at.length = length;
        }
    }

    async fn write(&mut self) -> Result<()> {
        self.run.file.write(self.at, &self.out).await?;
        self.at += self.out.len() as u64;
        if self.at >= WRITE_BEHIND_FROM {
            self.run.file.write_behind(&mut self.behind, self.at).await?;
        }
        self.out.clear();
        Ok(())
    }

    /// Ends it. (Not synced: it is not needed after a crash.)
    pub(crate) async fn finish(mut self) -> Result<Arc<Run>> {
        self.close_block();
        self.write().await?;
        self.run.end = self.at;
        Ok(Arc::new(self.run))
    }
}
