//! How a page lies in the file: as it is in memory, in four blocks, or compressed, in fewer.
//!
//! ```text
//! offset size
//!      0   56  header in clear, with the checksum over what is in the file
//!     56    1  form: 1 lz4 (block format), 2 zstd (a frame); 0 in a page that is not compressed
//!     57    1  0
//!     58    2  compressed bytes
//!     60    4  0
//!     64       bytes 64..16384 of the page, compressed; then zeros to the end of the block
//! ```
//!
//! A page is compressed if and only if it takes fewer blocks than [`PAGE_BLOCKS`]: one that does not shrink by a block is
//! stored as it is. Who refers to a page knows how many blocks it has, so it is read with one read, and its checksum is looked
//! at before anything is decompressed. In memory a page has the header that it has in the file.
//!
//! Only leaves and pages of large values are compressed. Inner nodes are less than a hundredth of a tree and are on every
//! way; the manifest and superblocks are found before anything is known of them.

use std::cell::RefCell;

use io::IoBuf;
use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};
use zstd::bulk;

use super::{
    BLOCK_SIZE, CAPACITY, HEADER_SIZE, Header, PAGE_BLOCKS, PAGE_SIZE, PageRef, finish, get_u16, memory, put_header,
    seal,
};

/// Level of zstd: its own default, beyond which pages shrink little more and take much longer.
const ZSTD_LEVEL: i32 = 3;
/// Where the form is in a header.
const FORM_AT: usize = 56;
/// Compressed bytes of a page that shrinks by a block.
const MOST: usize = (PAGE_BLOCKS as usize - 1) * BLOCK_SIZE - HEADER_SIZE;

/// How the pages of a tree are written. Each page says for itself how it was, so trees may have all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Compression {
    /// As they are in memory.
    #[default]
    None = 0,
    /// LZ4: quick in both directions.
    Lz4 = 1,
    /// Zstandard: smaller, and slower.
    Zstd = 2,
}

/// Blocks of a page with so many compressed bytes.
fn blocks_of(compressed: usize) -> u8 {
    (HEADER_SIZE + compressed).div_ceil(BLOCK_SIZE).min(usize::from(PAGE_BLOCKS)) as u8
}

/// Blocks that a page says it has, from its first bytes, unchecked. Not for manifests.
pub(crate) fn blocks_from(header: &[u8]) -> u8 {
    if header[FORM_AT] == 0 { PAGE_BLOCKS } else { blocks_of(usize::from(get_u16(header, FORM_AT + 2))) }
}

/// Compresses pages; its memory is used again and again.
#[derive(Default)]
pub(crate) struct Compressor {
    lz4: CompressTable,
    zstd: Option<bulk::Compressor<'static>>,
    output: Vec<u8>,
    /// Bytes of the output, and what they are.
    len: usize,
    form: Compression,
}

impl Compressor {
    /// Compresses a page whose header is not written yet; says in how many blocks it fits, if in fewer than it has.
    pub(crate) fn compress(&mut self, how: Compression, page: &[u8]) -> Option<u8> {
        let payload = &page[HEADER_SIZE..PAGE_SIZE];
        self.output.resize(get_maximum_output_size(CAPACITY), 0);
        let output = &mut self.output[..];
        let len = match how {
            Compression::None => None,
            Compression::Lz4 => compress_into_with_table(payload, output, &mut self.lz4).ok(),
            Compression::Zstd => {
                let new = || bulk::Compressor::new(ZSTD_LEVEL).expect("zstd knows its own default level");
                // What does not fit in three blocks is an error at once.
                self.zstd.get_or_insert_with(new).compress_to_buffer(payload, &mut output[..MOST]).ok()
            }
        };
        self.len = len.filter(|&len| len <= MOST)?;
        self.form = how;
        Some(blocks_of(self.len))
    }

    /// Writes the page that was compressed last to the memory of its blocks, as it is if these are not fewer; the page gets the
    /// same header.
    pub(crate) fn seal_or_copy(&self, blocks: &mut [u8], page: &mut [u8], at: PageRef, header: &Header) {
        assert_eq!(blocks.len(), at.bytes());
        if at.blocks == PAGE_BLOCKS {
            seal(page, at, header);
            blocks.copy_from_slice(page);
            return;
        }
        let (front, payload) = blocks.split_at_mut(HEADER_SIZE);
        payload[..self.len].copy_from_slice(&self.output[..self.len]);
        payload[self.len..].fill(0);
        put_header(front, at, header);
        front[FORM_AT] = self.form as u8;
        front[FORM_AT + 2..FORM_AT + 4].copy_from_slice(&(self.len as u16).to_le_bytes());
        finish(blocks);
        page[..HEADER_SIZE].copy_from_slice(&blocks[..HEADER_SIZE]);
    }
}

/// The page whose blocks these are; their checksum is right, and they are as many as [`blocks_from`] says.
pub(super) fn expand(blocks: &[u8]) -> Result<IoBuf, String> {
    let (form, len) = (blocks[FORM_AT], usize::from(get_u16(blocks, FORM_AT + 2)));
    let mut page = memory::take(PAGE_SIZE);
    page[..HEADER_SIZE].copy_from_slice(&blocks[..HEADER_SIZE]);
    let (from, to) = (&blocks[HEADER_SIZE..HEADER_SIZE + len], &mut page[HEADER_SIZE..]);
    let expanded = match form {
        1 => decompress_into(from, to).map_err(|error| error.to_string()),
        2 => unzstd(from, to),
        _ => Err(format!("form {form} is not known")),
    };
    match expanded {
        Ok(CAPACITY) => Ok(page),
        Ok(len) => Err(format!("{len} bytes were compressed in it, not {CAPACITY}")),
        Err(error) => Err(format!("it cannot be decompressed: {error}")),
    }
}

fn unzstd(from: &[u8], to: &mut [u8]) -> Result<usize, String> {
    thread_local! {
        /// Its memory is a hundred times that of a page.
        static DECOMPRESSOR: RefCell<Option<bulk::Decompressor<'static>>> = const { RefCell::new(None) };
    }
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(bulk::Decompressor::new().map_err(|error| error.to_string())?),
        };
        decompressor.decompress_to_buffer(from, to).map_err(|error| error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use base::{IndexId, PageNumber};
    use bytes::Bytes;
    use proptest::prelude::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::super::{Expected, Page, PageKind, fill_payload};
    use super::*;

    const INDEX: IndexId = IndexId(3);

    /// A page of a value as it lies in the file and as it is in memory.
    fn written(how: Compression, compressor: &mut Compressor, payload: &[u8]) -> (Vec<u8>, Vec<u8>, Expected) {
        let mut page = vec![0xAA; PAGE_SIZE];
        let header = fill_payload(&mut page, Header::plain(INDEX, PageKind::Overflow, 5), payload);
        let blocks = compressor.compress(how, &page).unwrap_or(PAGE_BLOCKS);
        let at = PageRef { number: PageNumber(77), generation: 9, blocks };
        let mut memory = vec![0xBB; at.bytes()];
        compressor.seal_or_copy(&mut memory, &mut page, at, &header);
        (memory, page, Expected { at, index: INDEX, kind: PageKind::Overflow, level: 0 })
    }

    /// Random bytes, and then such as are easily compressed.
    fn payload(random: usize, size: usize, seed: u64) -> Vec<u8> {
        let mut rng = StdRng::seed_from_u64(seed);
        (0..size).map(|at| if at < random { rng.random() } else { (at / 100) as u8 }).collect()
    }

    const ALL: [Compression; 3] = [Compression::None, Compression::Lz4, Compression::Zstd];

    proptest! {
        #[test]
        fn a_page_comes_back_as_it_was(random in 0..CAPACITY, size in 0..=CAPACITY, seed: u64) {
            let payload = payload(random, size, seed);
            let mut compressor = Compressor::default();
            for how in ALL {
                let (memory, page, expected) = written(how, &mut compressor, &payload);
                prop_assert_eq!(blocks_from(&memory), expected.at.blocks);
                let read = Page::check(memory.into(), &expected).unwrap();
                prop_assert!(read[..] == page[..] && read.payload()[..] == payload[..]);
                let worst = (HEADER_SIZE + random.min(size) + 700).div_ceil(BLOCK_SIZE).min(4);
                prop_assert!(how == Compression::None || usize::from(expected.at.blocks) <= worst);
            }
        }

        #[test]
        fn what_is_not_as_it_was_written_is_an_error(random in 0..CAPACITY, at: prop::sample::Index, bits in 1..=255u8) {
            let mut compressor = Compressor::default();
            for how in ALL {
                let (mut memory, _, expected) = written(how, &mut compressor, &payload(random, CAPACITY, 1));
                let at = at.index(memory.len());
                memory[at] ^= bits;
                prop_assert!(Page::check(memory.into(), &expected).is_err());
            }
        }

        /// The checksum was made of something that no page is: an error or the header of some page, and never more.
        #[test]
        fn what_has_a_checksum_may_still_be_no_page(
            random in 0..CAPACITY,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            in_front: bool,
        ) {
            let mut compressor = Compressor::default();
            for how in ALL {
                let (mut memory, _, expected) = written(how, &mut compressor, &payload(random, CAPACITY, 2));
                for (at, byte) in &damage {
                    let at = at.index(if in_front { HEADER_SIZE + 20 } else { memory.len() });
                    memory[at] = *byte;
                }
                finish(&mut memory);
                if let Ok(page) = Page::check(memory.into(), &expected) {
                    prop_assert!(page.payload().len() <= CAPACITY && page.len() == PAGE_SIZE);
                }
            }
        }
    }

    #[test]
    fn a_page_that_does_not_shrink_is_written_as_it_is() {
        let random = payload(CAPACITY, CAPACITY, 3);
        let mut compressor = Compressor::default();
        for how in ALL {
            let (memory, page, expected) = written(how, &mut compressor, &random);
            assert_eq!((expected.at.blocks, memory == page), (PAGE_BLOCKS, true));
        }
    }

    #[test]
    fn forms_that_are_not_known_and_lengths_that_are_not_the_referrers_are_named() {
        let mut compressor = Compressor::default();
        let (memory, _, expected) = written(Compression::Zstd, &mut compressor, &payload(5000, CAPACITY, 4));
        assert_eq!(expected.at.blocks, 2);
        let error_of = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut memory = memory.clone();
            change(&mut memory);
            finish(&mut memory);
            Page::check(Bytes::from(memory), &expected).unwrap_err()
        };
        assert!(error_of(&|memory| memory[FORM_AT] = 3).contains("form 3 is not known"));
        assert!(error_of(&|memory| memory[FORM_AT] = 0).contains("length in blocks is 4 and should be 2"));
        assert!(error_of(&|memory| memory[FORM_AT + 3] = 0xff).contains("length in blocks"));
        assert!(error_of(&|memory| memory[FORM_AT] = 1).contains("it"), "zstd is no lz4");
        assert!(error_of(&|memory| memory[HEADER_SIZE] ^= 1).contains("cannot be decompressed"));
        let short = zstd::bulk::compress(&vec![7; CAPACITY - 1], ZSTD_LEVEL).unwrap();
        let of_other_length = |memory: &mut Vec<u8>| {
            let mut other = payload(0, 2 * BLOCK_SIZE - HEADER_SIZE, 1);
            other[..short.len()].copy_from_slice(&short);
            memory[HEADER_SIZE..].copy_from_slice(&other);
        };
        assert!(error_of(&of_other_length).contains("cannot be decompressed"), "bytes behind the frame are no frame");
    }
}
