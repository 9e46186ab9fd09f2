//! A page: the unit that is written once, checked when it is read, and never changed.
//!
//! ```text
//! offset size
//!      0    8  xxh3-64 of bytes 8 up to the end of its last block
//!      8    8  page number: its offset in the file divided by 4096, the number of its first block
//!     16    8  index id of the tree it belongs to; 0 for the store's own pages
//!     24    8  generation in which it was written
//!     32    1  kind (1 leaf, 2 inner, 3 overflow, 4 manifest, 5 superblock)
//!     33    1  level above the leaves: 0 in a leaf, 0 in other kinds
//!     34    2  number of entries (leaf, inner)
//!     36    2  payload bytes in use from offset 64 on, without the directory
//!     38    2  bytes that the keys of all entries have in common (leaf, inner)
//!     40    8  rows in and below it (leaf, inner); place in its run (overflow, manifest)
//!     48    8  sum of the hashes of those rows
//!     56    8  number of the next page of the manifest; in other kinds zero, or how it is compressed ([`form`])
//!     64       payload; what is not in use is zero
//! ```
//!
//! Leaves and inner nodes have a directory at their end: entry n in the four bytes from 16384 - 4 (n + 1) on.
//!
//! ```text
//!      0    2  where the entry's cell begins, from the page's start
//!      2    2  head: the first two bytes of its key after what all have in common, the first being the higher; zeros
//!              where the key ends
//! ```
//!
//! So a search runs over neighbouring bytes and looks at hardly more than one key. Cells follow one another in the order of
//! their keys, without gaps: neighbouring entries are copied from an old page to a new one at once. Keys are stored whole:
//! cutting off what they have in common would mean putting a key together for each row that is read.
//!
//! In memory a page has 16384 bytes; in the file one to four neighbouring blocks of 4096, four if it is not compressed. Blocks
//! are what is numbered, allocated and freed. *Not taken:* blocks as small as a sector, which would save half a kilobyte of a
//! page more, and make eight times as many pieces of free space.
//!
//! All numbers are little-endian. Whoever refers to a page knows its number, length, generation, index and kind, and all
//! of them are compared when the page is read: so a write that never reached the disk, or reached another place,
//! is found although the page there has a correct checksum.
//!
//! # Invariants
//! - Offsets inside a [`Page`] were checked when it was read ([`Page::check`]), so the accessors cannot fail.
//! - A page is a function of its rows and its header: unused bytes are zero.

pub(crate) mod form;
pub(crate) mod inner;
pub(crate) mod leaf;
pub(crate) mod memory;
mod place;

use std::cmp::Ordering;
use std::ops::Deref;

use base::IndexId;
use bytes::Bytes;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

pub(crate) use place::PageRef;

/// Bytes of a page in memory.
pub const PAGE_SIZE: usize = 16384;
/// Bytes of a block, the unit of the file.
pub const BLOCK_SIZE: usize = 4096;
/// Blocks of a page that is not compressed.
pub(crate) const PAGE_BLOCKS: u8 = (PAGE_SIZE / BLOCK_SIZE) as u8;
/// Bytes before the payload.
pub(crate) const HEADER_SIZE: usize = 64;
/// Bytes of payload.
pub(crate) const CAPACITY: usize = PAGE_SIZE - HEADER_SIZE;
/// Bytes of an entry in the directory at the end of a leaf or inner page.
pub(crate) const SLOT_SIZE: usize = 4;

/// What a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PageKind {
    Leaf = 1,
    Inner = 2,
    Overflow = 3,
    Manifest = 4,
    Superblock = 5,
}

impl PageKind {
    /// The kind of the nodes of a tree at a level.
    pub(crate) fn at_level(level: u8) -> Self {
        if level == 0 { PageKind::Leaf } else { PageKind::Inner }
    }
}

/// What the header says beside the checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) index: IndexId,
    pub(crate) kind: PageKind,
    pub(crate) level: u8,
    pub(crate) count: u16,
    pub(crate) used: u16,
    pub(crate) common: u16,
    /// Rows below, or the place in a run.
    pub(crate) rows: u64,
    pub(crate) hash: u64,
    /// The page after this one, in a chain.
    pub(crate) next: u64,
}

impl Header {
    /// The header of a page that is no node.
    pub(crate) fn plain(index: IndexId, kind: PageKind, place: u64) -> Self {
        Header { index, kind, level: 0, count: 0, used: 0, common: 0, rows: place, hash: 0, next: 0 }
    }
}

/// What the reader of a page knows of it beforehand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) at: PageRef,
    pub(crate) index: IndexId,
    pub(crate) kind: PageKind,
    pub(crate) level: u8,
}

impl Expected {
    /// A node of a tree.
    pub(crate) fn node(at: PageRef, index: IndexId, level: u8) -> Self {
        Expected { at, index, kind: PageKind::at_level(level), level }
    }
}

/// The bytes of a page that was checked; a clone shares them.
#[derive(Clone)]
pub(crate) struct Page(Bytes);

impl Page {
    /// Checks everything that the page itself and its referrer say.
    pub(crate) fn check(bytes: Bytes, expected: &Expected) -> Result<Page, String> {
        if bytes.len() != expected.at.bytes() {
            return Err(format!("it has {} bytes", bytes.len()));
        }
        check_sum(&bytes)?;
        let mut page = Page(bytes);
        page.check_header(expected)?;
        if expected.at.blocks < PAGE_BLOCKS {
            page = Page(memory::share(form::expand(&page)?));
        }
        match expected.kind {
            PageKind::Leaf => leaf::check(&page)?,
            PageKind::Inner => inner::check(&page)?,
            _ if page.used() > CAPACITY => return Err("more payload than fits".to_string()),
            _ => {}
        }
        Ok(page)
    }

    fn check_header(&self, expected: &Expected) -> Result<(), String> {
        let compare = |what: &str, found: u64, wanted: u64| {
            if found == wanted { Ok(()) } else { Err(format!("its {what} is {found} and should be {wanted}")) }
        };
        compare("page number", get_u64(&self.0, 8), expected.at.number.0)?;
        if expected.kind != PageKind::Manifest {
            compare("length in blocks", form::blocks_from(&self.0).into(), expected.at.blocks.into())?;
        }
        compare("index", get_u64(&self.0, 16), expected.index.0)?;
        compare("generation (a write was lost)", self.generation(), expected.at.generation)?;
        compare("kind", u64::from(self.0[32]), expected.kind as u64)?;
        compare("level", u64::from(self.level()), u64::from(expected.level))
    }

    /// The page from bytes that this process has just sealed.
    pub(crate) fn sealed(bytes: Bytes) -> Page {
        debug_assert_eq!(bytes.len(), PAGE_SIZE);
        Page(bytes)
    }

    pub(crate) fn generation(&self) -> u64 {
        get_u64(&self.0, 24)
    }

    pub(crate) fn level(&self) -> u8 {
        self.0[33]
    }

    pub(crate) fn count(&self) -> usize {
        usize::from(get_u16(&self.0, 34))
    }

    pub(crate) fn used(&self) -> usize {
        usize::from(get_u16(&self.0, 36))
    }

    /// Bytes that all keys have in common.
    fn common(&self) -> usize {
        usize::from(get_u16(&self.0, 38))
    }

    /// Rows below, or the place in a run.
    pub(crate) fn rows(&self) -> u64 {
        get_u64(&self.0, 40)
    }

    pub(crate) fn hash(&self) -> u64 {
        get_u64(&self.0, 48)
    }

    /// The page after this one, in a chain.
    pub(crate) fn next(&self) -> u64 {
        get_u64(&self.0, 56)
    }

    /// The payload in use, as a slice that keeps the page.
    pub(crate) fn payload(&self) -> Bytes {
        self.0.slice(HEADER_SIZE..HEADER_SIZE + self.used())
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// The first entry of `from..` whose key is not below `key` (`Ok` if it is that key). `key_of` gives keys, the
    /// one of `first` with what all have in common.
    #[inline]
    fn search_entries<'a>(
        &'a self,
        first: usize,
        from: usize,
        key: &[u8],
        key_of: impl Fn(usize) -> &'a [u8],
    ) -> Result<usize, usize> {
        let count = self.count();
        if from >= count {
            return Err(count);
        }
        let common = self.common();
        match key[..key.len().min(common)].cmp(&key_of(first)[..common]) {
            Ordering::Less => return Err(from),
            Ordering::Greater => return Err(count),
            Ordering::Equal => {}
        }
        let head = head_of(key, common);
        let (mut low, mut high) = (from, count);
        while low < high {
            let middle = (low + high) / 2;
            let order = self.head(middle).cmp(&head).then_with(|| key_of(middle).cmp(key));
            match order {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    #[inline]
    fn head(&self, entry: usize) -> u16 {
        get_u16(&self.0, slot_offset(entry) + 2)
    }

    /// Where the cell of an entry begins.
    #[inline]
    fn slot(&self, entry: usize) -> usize {
        usize::from(get_u16(&self.0, slot_offset(entry)))
    }

    /// Where the cell of an entry ends: cells follow one another in the order of their keys.
    fn cell_end(&self, entry: usize) -> usize {
        if entry + 1 < self.count() { self.slot(entry + 1) } else { HEADER_SIZE + self.used() }
    }

    /// Bytes of some neighbouring cells, without their slots.
    pub(crate) fn cells(&self, from: usize, to: usize) -> &[u8] {
        if from == to {
            return &[];
        }
        &self.0[self.slot(from)..self.cell_end(to - 1)]
    }

    /// Checks that slots ascend, that cells do not run into the directory, that keys have in common what they should,
    /// and hands each cell to `check`.
    fn check_cells(&self, layout: Layout, check: impl Fn(&[u8]) -> bool) -> Result<(), String> {
        let (count, used) = (self.count(), self.used());
        if count == 0 || used + count * SLOT_SIZE > CAPACITY || self.slot(0) != HEADER_SIZE {
            return Err(format!("{count} entries in {used} bytes are impossible"));
        }
        for entry in 0..count {
            let (start, end) = (self.slot(entry), self.cell_end(entry));
            let fits = end >= start + layout.key_at && end <= HEADER_SIZE + used;
            if !fits || !check(&self.0[start..end]) {
                return Err(format!("entry {entry} is impossible"));
            }
            let key = layout.key(&self.0[start..end]);
            if entry >= layout.first && (key.len() < self.common() || self.head(entry) != head_of(key, self.common())) {
                return Err(format!("entry {entry} is wrong in the directory"));
            }
        }
        Ok(())
    }
}

impl Deref for Page {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "page {} with {} entries", get_u64(&self.0, 8), self.count())
    }
}

/// Where keys are in cells, and which is the first that counts: the first child of a node takes what is below its key.
#[derive(Clone, Copy)]
struct Layout {
    key_at: usize,
    first: usize,
}

impl Layout {
    /// The key of a cell; both kinds begin with its length, of which the highest bit is a flag.
    fn key(self, cell: &[u8]) -> &[u8] {
        let size = usize::from(get_u16(cell, 0) & !(1 << 15));
        &cell[self.key_at..self.key_at + size]
    }
}

/// Two bytes of a key as a number that sorts like them.
fn head_of(key: &[u8], from: usize) -> u16 {
    let byte = |at: usize| key.get(at).copied().unwrap_or_default();
    u16::from_be_bytes([byte(from), byte(from + 1)])
}

#[inline]
fn slot_offset(entry: usize) -> usize {
    PAGE_SIZE - SLOT_SIZE * (entry + 1)
}

/// Fills the memory of one page: cells one after the other, their directory from the end.
pub(crate) struct PageBuilder<'a> {
    page: &'a mut [u8],
    layout: Layout,
    end: usize,
    count: usize,
}

impl<'a> PageBuilder<'a> {
    /// An empty leaf over `page`, whatever is in it.
    pub(crate) fn leaf(page: &'a mut [u8]) -> Self {
        PageBuilder::new(page, leaf::LAYOUT)
    }

    /// An empty inner node over `page`, whatever is in it.
    pub(crate) fn inner(page: &'a mut [u8]) -> Self {
        PageBuilder::new(page, inner::LAYOUT)
    }

    fn new(page: &'a mut [u8], layout: Layout) -> Self {
        assert_eq!(page.len(), PAGE_SIZE);
        PageBuilder { page, layout, end: HEADER_SIZE, count: 0 }
    }

    /// Bytes of cells and slots so far.
    pub(crate) fn size(&self) -> usize {
        self.end - HEADER_SIZE + self.count * SLOT_SIZE
    }

    /// Bytes that cells and slots can still take.
    pub(crate) fn room(&self) -> usize {
        CAPACITY - self.size()
    }

    /// Begins a cell and gives its bytes to be filled.
    pub(crate) fn cell(&mut self, size: usize) -> &mut [u8] {
        assert!(size + SLOT_SIZE <= self.room(), "a cell of {size} bytes does not fit");
        let start = self.end;
        put_u16(self.page, slot_offset(self.count), start as u16);
        self.count += 1;
        self.end += size;
        &mut self.page[start..start + size]
    }

    /// Copies neighbouring cells of another page.
    pub(crate) fn run(&mut self, from: &Page, first: usize, to: usize) {
        let cells = from.cells(first, to);
        assert!(cells.len() + (to - first) * SLOT_SIZE <= self.room(), "a run does not fit");
        self.page[self.end..self.end + cells.len()].copy_from_slice(cells);
        let moved = self.end.wrapping_sub(if first < to { from.slot(first) } else { 0 });
        for entry in first..to {
            put_u16(self.page, slot_offset(self.count), from.slot(entry).wrapping_add(moved) as u16);
            self.count += 1;
        }
        self.end += cells.len();
    }

    /// Completes the directory and clears what is not in use. Gives the header with what it says of entries and bytes, to seal
    /// the page with when its place is known.
    pub(crate) fn finish(mut self, header: Header) -> Header {
        let common = self.fill_heads();
        let directory = PAGE_SIZE - SLOT_SIZE * self.count;
        self.page[self.end..directory].fill(0);
        let (count, used) = (self.count as u16, (self.end - HEADER_SIZE) as u16);
        Header { count, used, common: common as u16, ..header }
    }

    /// Writes the heads of all keys; says what the keys have in common.
    fn fill_heads(&mut self) -> usize {
        let (cells, directory) = self.page.split_at_mut(PAGE_SIZE - SLOT_SIZE * self.count);
        let first = self.layout.first;
        let slot = |entry: usize| SLOT_SIZE * (self.count - 1 - entry);
        let key =
            |directory: &[u8], entry: usize| self.layout.key(&cells[usize::from(get_u16(directory, slot(entry)))..]);
        let common = match first < self.count {
            true => common_size(key(directory, first), key(directory, self.count - 1)),
            false => 0,
        };
        for entry in 0..self.count {
            let head = if entry < first { 0 } else { head_of(key(directory, entry), common) };
            put_u16(directory, slot(entry) + 2, head);
        }
        common
    }
}

/// Writes header and checksum of a page that is not compressed and whose payload is complete.
pub(crate) fn seal(page: &mut [u8], at: PageRef, header: &Header) {
    assert_eq!(page.len(), at.bytes());
    put_header(page, at, header);
    finish(page);
}

/// Writes a header without its checksum.
fn put_header(page: &mut [u8], at: PageRef, header: &Header) {
    page[..HEADER_SIZE].fill(0);
    page[8..16].copy_from_slice(&at.number.0.to_le_bytes());
    page[16..24].copy_from_slice(&header.index.0.to_le_bytes());
    page[24..32].copy_from_slice(&at.generation.to_le_bytes());
    page[32] = header.kind as u8;
    page[33] = header.level;
    page[34..36].copy_from_slice(&header.count.to_le_bytes());
    page[36..38].copy_from_slice(&header.used.to_le_bytes());
    page[38..40].copy_from_slice(&header.common.to_le_bytes());
    page[40..48].copy_from_slice(&header.rows.to_le_bytes());
    page[48..56].copy_from_slice(&header.hash.to_le_bytes());
    page[56..64].copy_from_slice(&header.next.to_le_bytes());
}

/// Writes the checksum of all other bytes.
fn finish(blocks: &mut [u8]) {
    let checksum = xxh3_64(&blocks[8..]);
    blocks[..8].copy_from_slice(&checksum.to_le_bytes());
}

/// Compares the checksum.
pub(crate) fn check_sum(blocks: &[u8]) -> Result<(), String> {
    let (stored, computed) = (get_u64(blocks, 0), xxh3_64(&blocks[8..]));
    if stored == computed {
        Ok(())
    } else {
        Err(format!("its checksum is {stored:016x} and should be {computed:016x}"))
    }
}

/// Fills a page with raw payload (overflow, manifest, superblock); its header says how much it is.
pub(crate) fn fill_payload(page: &mut [u8], header: Header, payload: &[u8]) -> Header {
    assert!(payload.len() <= CAPACITY);
    page[HEADER_SIZE..HEADER_SIZE + payload.len()].copy_from_slice(payload);
    page[HEADER_SIZE + payload.len()..].fill(0);
    Header { used: payload.len() as u16, ..header }
}

/// The hash of a row: of its value, seeded with that of its key. A tree's content hash is the wrapping sum of
/// these, so it does not depend on how the rows lie in pages.
pub(crate) fn row_hash(key: &[u8], value: &[u8]) -> u64 {
    xxh3_64_with_seed(value, xxh3_64(key))
}

/// The shortest key above `below` and not above `key`.
pub(crate) fn separator(below: &[u8], key: Bytes) -> Bytes {
    debug_assert!(*below < *key);
    key.slice(..common_size(below, &key) + 1)
}

/// How many bytes two keys have in common at their beginning.
fn common_size(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[inline]
pub(crate) fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(crate) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use base::PageNumber;

    use super::*;

    fn sealed_leaf(keys: &[&[u8]]) -> (Bytes, Expected) {
        let mut memory = vec![0xAA; PAGE_SIZE];
        let mut builder = PageBuilder::leaf(&mut memory);
        for key in keys {
            leaf::push(&mut builder, key, &leaf::Value::Inline(Bytes::from_static(b"value")));
        }
        let at = PageRef::plain(9, 5);
        let expected = Expected::node(at, IndexId(3), 0);
        let rows = keys.len() as u64;
        let header = builder.finish(Header { rows, ..Header::plain(IndexId(3), PageKind::Leaf, 0) });
        seal(&mut memory, at, &header);
        (memory.into(), expected)
    }

    #[test]
    fn searches_agree_with_a_sorted_list() {
        let keys: [&[u8]; 8] = [b"ab", b"ab\0", b"ab\0\0", b"ab\0\x01", b"aba", b"abab", b"abb", b"abbbbb"];
        let (bytes, expected) = sealed_leaf(&keys);
        let page = Page::check(bytes, &expected).unwrap();
        let others: [&[u8]; 9] = [b"", b"a", b"ac", b"ab\0\0\0", b"abaa", b"abb\0", b"b", b"aa\xff", b"abc"];
        for key in keys.iter().chain(&others) {
            for from in 0..keys.len() {
                let wanted = keys[from..].binary_search(key).map_or_else(|n| (from + n, false), |n| (from + n, true));
                assert_eq!(page.search(from, key), wanted, "{key:?} from {from}");
                assert_eq!(page.search_near(from, key), wanted, "{key:?} from {from}");
            }
        }
    }

    #[test]
    fn any_other_bytes_are_an_error_and_no_panic() {
        let (bytes, expected) = sealed_leaf(&[b"a", b"b", b"c"]);
        for at in 0..PAGE_SIZE {
            for resealed in [false, true] {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= 0x55;
                if resealed {
                    let checksum = xxh3_64(&damaged[8..]);
                    damaged[..8].copy_from_slice(&checksum.to_le_bytes());
                }
                if let Ok(page) = Page::check(damaged.into(), &expected) {
                    assert!(resealed, "byte {at} is not covered by the checksum");
                    (0..page.count()).for_each(|row| drop((page.key(row).len(), page.value(row), page.row_hash(row))));
                }
            }
        }
    }

    #[test]
    fn a_page_is_the_one_that_was_asked_for() {
        let (bytes, expected) = sealed_leaf(&[b"a"]);
        assert!(Page::check(bytes.clone(), &expected).is_ok());
        let other_number = PageRef { number: PageNumber(8), ..expected.at };
        let other_generation = PageRef { generation: 4, ..expected.at };
        for (wanted, word) in [
            (Expected { at: other_number, ..expected }, "page number"),
            (Expected { at: other_generation, ..expected }, "a write was lost"),
            (Expected { index: IndexId(4), ..expected }, "index"),
            (Expected { kind: PageKind::Overflow, ..expected }, "kind"),
            (Expected { at: PageRef { blocks: 3, ..expected.at }, ..expected }, "it has 16384 bytes"),
        ] {
            let error = Page::check(bytes.clone(), &wanted).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
