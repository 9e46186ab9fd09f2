//! Leaves: keys and values in order.
//!
//! ```text
//! cell    2  length of the key; bit 15 is set if the value is an overflow reference
//!         4  length of what follows the key in this cell
//!            key
//!            value, or the reference (32 bytes):
//!                8  length of the value
//!                8  first page of the run that holds it
//!                8  generation of those pages
//!                8  hash of the row
//! slot    2  where the cell begins, from the page's start; slot n is at 16384 - 2 (n + 1)
//! ```
//!
//! Cells follow one another in the order of their keys, without gaps: neighbouring rows are copied from an old leaf
//! to a new one by one `memcpy`. There is no prefix compression: with it a key would have to be put together for
//! each row that is read, and the rows of the usual tables gain less than a tenth.

use base::PageNumber;
use bytes::Bytes;

use super::{CAPACITY, Page, PageBuilder, PageRef, SLOT_SIZE, get_u16, get_u32, get_u64, row_hash};

/// Bytes of a cell before its key.
const PREFIX_SIZE: usize = 6;
/// Marks an overflow reference in the key's length.
const OVERFLOW: u16 = 1 << 15;
/// Bytes of an overflow reference.
const REFERENCE_SIZE: usize = 32;
/// A row that takes more than a quarter of a page has its value elsewhere.
const LARGEST_INLINE: usize = CAPACITY / 4;

// Three of the largest keys fit, so a split always finds a place.
const _: () = assert!(3 * (PREFIX_SIZE + crate::MAX_KEY_SIZE + REFERENCE_SIZE + SLOT_SIZE) <= CAPACITY);
const _: () = assert!(crate::MAX_KEY_SIZE < OVERFLOW as usize);

/// A value that is not in its leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow {
    /// Bytes of the value.
    pub(crate) size: u64,
    /// First page of the run.
    pub(crate) at: PageRef,
    /// Hash of the row, so that replacing it needs no read of the value.
    pub(crate) hash: u64,
}

impl Overflow {
    /// Pages of the run.
    pub(crate) fn pages(&self) -> u64 {
        self.size.div_ceil(CAPACITY as u64)
    }

    fn encode(&self) -> [u8; REFERENCE_SIZE] {
        let mut bytes = [0; REFERENCE_SIZE];
        bytes[..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.at.number.0.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.at.generation.to_le_bytes());
        bytes[24..].copy_from_slice(&self.hash.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        let at = PageRef { number: PageNumber(get_u64(bytes, 8)), generation: get_u64(bytes, 16) };
        Overflow { size: get_u64(bytes, 0), at, hash: get_u64(bytes, 24) }
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
    PREFIX_SIZE + key.len() + value.len() + SLOT_SIZE > LARGEST_INLINE && value.len() > REFERENCE_SIZE
}

/// Bytes that a row takes in a leaf, with its slot.
pub(crate) fn row_size(key: &[u8], value: &Value) -> usize {
    let value = match value {
        Value::Inline(bytes) => bytes.len(),
        Value::Overflow(_) => REFERENCE_SIZE,
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
    page.check_cells(PREFIX_SIZE, |_, cell| {
        let (key, value) = (get_u16(cell, 0), get_u32(cell, 2) as usize);
        let whole = PREFIX_SIZE + usize::from(key & !OVERFLOW) + value == cell.len();
        whole && (key & OVERFLOW == 0 || value == REFERENCE_SIZE)
    })
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

    /// The reference to a value that is elsewhere.
    pub(crate) fn overflow(&self, entry: usize) -> Option<Overflow> {
        let (_, value, end, overflow) = self.row_bounds(entry);
        overflow.then(|| Overflow::decode(&self[value..end]))
    }

    /// The hash of a row.
    pub(crate) fn row_hash(&self, entry: usize) -> u64 {
        let (key, value, end, overflow) = self.row_bounds(entry);
        if overflow { Overflow::decode(&self[value..end]).hash } else { row_hash(&self[key..value], &self[value..end]) }
    }

    /// The first row from `from` on whose key is not below `key`, and whether it is that key.
    pub(crate) fn search(&self, from: usize, key: &[u8]) -> (usize, bool) {
        let (mut low, mut high) = (from, self.count());
        while low < high {
            let middle = (low + high) / 2;
            match self.key(middle).cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return (middle, true),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        (low, false)
    }
}
