//! Leaves: keys and values in order.
//!
//! ```text
//! cell    2  length of the key; bit 15 is set if the value is an overflow reference
//!         4  length of what follows the key in this cell
//!            key
//!            value, or the reference:
//!                8  length of the value
//!                8  generation of the pages that hold it
//!                8  hash of the row
//!                2  lengths of the first eight pages, the first in the lowest two bits: blocks less one
//!                then for each of 1 to 8 runs of those pages, in the order of the value:
//!                8  first block
//!                4  blocks
//! ```

use bytes::Bytes;

use super::{CAPACITY, Layout, Page, PageBuilder, SLOT_SIZE, get_u16, get_u32, get_u64, row_hash};
use crate::space::Run;

/// Bytes of a cell before its key.
const PREFIX_SIZE: usize = 6;
pub(super) const LAYOUT: Layout = Layout { key_at: PREFIX_SIZE, first: 0 };
/// Marks an overflow reference in the key's length.
const OVERFLOW: u16 = 1 << 15;
/// Bytes of an overflow reference before its runs.
const REFERENCE_SIZE: usize = 26;
/// Bytes of a run in it.
const RUN_SIZE: usize = 12;
/// Pages whose lengths are in the reference. Longer values are read run by run, and their pages know their lengths.
pub(crate) const LENGTHS_MAX: usize = 8;
/// Runs that a value may be spread over.
pub(crate) const RUNS_MAX: usize = 8;
/// A row that takes more than a quarter of a page has its value elsewhere.
const LARGEST_INLINE: usize = CAPACITY / 4;

// Three of the largest keys fit, so a split always finds a place.
const _: () =
    assert!(3 * (PREFIX_SIZE + crate::MAX_KEY_SIZE + REFERENCE_SIZE + RUNS_MAX * RUN_SIZE + SLOT_SIZE) <= CAPACITY);
const _: () = assert!(crate::MAX_KEY_SIZE < OVERFLOW as usize);

/// A value that is not in its leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overflow {
    /// Bytes of the value.
    pub(crate) size: u64,
    /// Generation of its pages.
    pub(crate) generation: u64,
    /// Hash of the row, so that replacing it needs no read of the value.
    pub(crate) hash: u64,
    /// Of its first pages, two bits each: blocks less one.
    pub(crate) lengths: u16,
    /// Its blocks, in the order of the value. No page is in two runs.
    pub(crate) runs: Vec<Run>,
}

impl Overflow {
    /// Pages of the value.
    pub(crate) fn pages(&self) -> u64 {
        self.size.div_ceil(CAPACITY as u64)
    }

    /// Blocks of the runs.
    pub(crate) fn blocks(&self) -> u64 {
        self.runs.iter().map(|run| run.len).sum()
    }

    /// Notes the length of a page.
    pub(crate) fn set_blocks_of(&mut self, page: u64, blocks: u8) {
        if page < LENGTHS_MAX as u64 {
            self.lengths |= u16::from(blocks - 1) << (2 * page);
        }
    }

    /// The length of one of the first pages.
    pub(crate) fn blocks_of(&self, page: u64) -> u8 {
        debug_assert!(page < LENGTHS_MAX as u64);
        (self.lengths >> (2 * page) & 3) as u8 + 1
    }

    fn encoded_size(&self) -> usize {
        REFERENCE_SIZE + self.runs.len() * RUN_SIZE
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.encoded_size());
        for number in [self.size, self.generation, self.hash] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.lengths.to_le_bytes());
        for run in &self.runs {
            bytes.extend_from_slice(&run.start.to_le_bytes());
            bytes.extend_from_slice(&(run.len as u32).to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        let run = |bytes: &[u8]| Run::new(get_u64(bytes, 0), u64::from(get_u32(bytes, 8)));
        Overflow {
            size: get_u64(bytes, 0),
            generation: get_u64(bytes, 8),
            hash: get_u64(bytes, 16),
            lengths: get_u16(bytes, 24),
            runs: bytes[REFERENCE_SIZE..].chunks_exact(RUN_SIZE).map(run).collect(),
        }
    }
}

/// What a leaf says of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Inline(Bytes),
    Overflow(Overflow),
}

/// Whether a value has to leave its leaf.
pub(crate) fn needs_overflow(key: &[u8], value: &[u8]) -> bool {
    PREFIX_SIZE + key.len() + value.len() + SLOT_SIZE > LARGEST_INLINE
        && value.len() > REFERENCE_SIZE + RUNS_MAX * RUN_SIZE
}

/// Bytes that a row takes in a leaf, with its slot.
pub(crate) fn row_size(key: &[u8], value: &Value) -> usize {
    let value = match value {
        Value::Inline(bytes) => bytes.len(),
        Value::Overflow(overflow) => overflow.encoded_size(),
    };
    PREFIX_SIZE + key.len() + value + SLOT_SIZE
}

/// Adds a row behind those before it.
pub(crate) fn push(builder: &mut PageBuilder<'_>, key: &[u8], value: &Value) {
    let reference;
    let (flag, value) = match value {
        Value::Inline(bytes) => (0, &bytes[..]),
        Value::Overflow(overflow) => {
            reference = overflow.encode();
            (OVERFLOW, &reference[..])
        }
    };
    let cell = builder.cell(PREFIX_SIZE + key.len() + value.len());
    let (prefix, rest) = cell.split_at_mut(PREFIX_SIZE);
    prefix[..2].copy_from_slice(&(key.len() as u16 | flag).to_le_bytes());
    prefix[2..].copy_from_slice(&(value.len() as u32).to_le_bytes());
    let (key_part, value_part) = rest.split_at_mut(key.len());
    key_part.copy_from_slice(key);
    value_part.copy_from_slice(value);
}

pub(super) fn check(page: &Page) -> Result<(), String> {
    page.check_cells(LAYOUT, |cell| {
        let (key, value) = (get_u16(cell, 0), get_u32(cell, 2) as usize);
        let whole = PREFIX_SIZE + usize::from(key & !OVERFLOW) + value == cell.len();
        whole && (key & OVERFLOW == 0 || is_reference(value))
    })
}

fn is_reference(size: usize) -> bool {
    size.checked_sub(REFERENCE_SIZE).is_some_and(|runs| runs.is_multiple_of(RUN_SIZE))
}

/// Reading a page that is a leaf.
impl Page {
    /// Where key and value of a row are.
    fn row_bounds(&self, entry: usize) -> (usize, usize, usize, bool) {
        let start = self.slot(entry);
        let key_size = get_u16(self, start);
        let key = start + PREFIX_SIZE;
        let value = key + usize::from(key_size & !OVERFLOW);
        (key, value, value + get_u32(self, start + 2) as usize, key_size & OVERFLOW != 0)
    }

    /// The key of a row.
    #[inline]
    pub(crate) fn key(&self, entry: usize) -> &[u8] {
        let start = self.slot(entry);
        let size = usize::from(get_u16(self, start) & !OVERFLOW);
        &self[start + PREFIX_SIZE..start + PREFIX_SIZE + size]
    }

    /// The key of a row, keeping the page.
    pub(crate) fn key_bytes(&self, entry: usize) -> Bytes {
        let (key, value, _, _) = self.row_bounds(entry);
        self.bytes().slice(key..value)
    }

    /// The value of a row.
    pub(crate) fn value(&self, entry: usize) -> Value {
        let (_, value, end, overflow) = self.row_bounds(entry);
        if overflow {
            Value::Overflow(Overflow::decode(&self[value..end]))
        } else {
            Value::Inline(self.bytes().slice(value..end))
        }
    }

    /// The value of a row if it is here.
    #[inline]
    pub(crate) fn inline_value(&self, entry: usize) -> Option<&[u8]> {
        let (_, value, end, overflow) = self.row_bounds(entry);
        (!overflow).then(|| &self[value..end])
    }

    /// The reference to a value that is elsewhere.
    pub(crate) fn overflow(&self, entry: usize) -> Option<Overflow> {
        let (_, value, end, overflow) = self.row_bounds(entry);
        overflow.then(|| Overflow::decode(&self[value..end]))
    }

    /// The hash of a row.
    pub(crate) fn row_hash(&self, entry: usize) -> u64 {
        let (key, value, end, overflow) = self.row_bounds(entry);
        if overflow { get_u64(self, value + 16) } else { row_hash(&self[key..value], &self[value..end]) }
    }

    /// The first row from `from` on whose key is not below `key`, and whether it is that key.
    pub(crate) fn search(&self, from: usize, key: &[u8]) -> (usize, bool) {
        match self.search_entries(LAYOUT.first, from, key, |entry| self.key(entry)) {
            Ok(entry) => (entry, true),
            Err(entry) => (entry, false),
        }
    }

    /// As [`Page::search`], quick if the row is near `from`.
    pub(crate) fn search_near(&self, from: usize, key: &[u8]) -> (usize, bool) {
        for entry in from..self.count().min(from + 2) {
            match self.key(entry).cmp(key) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return (entry, true),
                std::cmp::Ordering::Greater => return (entry, false),
            }
        }
        self.search(from, key)
    }
}
