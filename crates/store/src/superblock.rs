//! Superblocks: the first two pages of the file, written one after the other; the valid one of the higher generation is the
//! state of the database. Unless a checkpoint was interrupted they are equal.
//!
//! ```text
//! payload  8  "commuter"
//!          4  version of the format, 2
//!          4  bytes of a page, 16384
//!          8  commit number of the checkpoint
//!          8  log position: number of the file
//!          8  log position: offset in it
//!          8  blocks of the file when it was written
//!          8  number of the manifest's first page
//!          8  pages of the manifest; 0 if everything is empty
//!          8  bytes of the manifest
//!          8  xxh3-64 of the manifest
//! ```
//!
//! The generation is that of the page's header. A superblock is written only after everything that it refers to was
//! synced, and first over the older of the two: a torn one leaves the other, whose pages nobody has touched.

use base::{CommitNumber, IndexId, LogPosition};
use bytes::Bytes;

use crate::page::{
    Expected, HEADER_SIZE, Header, PAGE_BLOCKS, PAGE_SIZE, Page, PageKind, PageRef, check_sum, fill_payload, get_u32,
    get_u64, seal,
};

const MAGIC: &[u8; 8] = b"commuter";
/// Version of the format. 1 numbered pages, not blocks.
const VERSION: u32 = 2;
const PAYLOAD_SIZE: usize = 80;

/// What a superblock says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub(crate) generation: u64,
    pub(crate) commit_number: CommitNumber,
    pub(crate) log_position: LogPosition,
    pub(crate) file_blocks: u64,
    pub(crate) manifest_start: u64,
    pub(crate) manifest_pages: u64,
    pub(crate) manifest_size: u64,
    pub(crate) manifest_hash: u64,
}

impl Superblock {
    /// Fills the page of a slot.
    pub(crate) fn encode(&self, slot: u64, page: &mut [u8]) {
        let mut payload = Vec::with_capacity(PAYLOAD_SIZE);
        payload.extend_from_slice(MAGIC);
        payload.extend_from_slice(&VERSION.to_le_bytes());
        payload.extend_from_slice(&(PAGE_SIZE as u32).to_le_bytes());
        let LogPosition { file, offset } = self.log_position;
        let manifest = [self.manifest_start, self.manifest_pages, self.manifest_size, self.manifest_hash];
        for number in [self.commit_number.0, file, offset, self.file_blocks].iter().chain(&manifest) {
            payload.extend_from_slice(&number.to_le_bytes());
        }
        let at = PageRef::plain(number_of(slot), self.generation);
        let header = fill_payload(page, Header::plain(IndexId(0), PageKind::Superblock, 0), &payload);
        seal(page, at, &header);
    }

    /// Reads the page of a slot; says why it cannot be used.
    pub(crate) fn decode(slot: u64, bytes: Bytes) -> Result<Self, String> {
        if bytes.len() < HEADER_SIZE + PAYLOAD_SIZE {
            return Err("it is too short".to_string());
        }
        check_sum(&bytes)?;
        check_version(&bytes[HEADER_SIZE..])?;
        let at = PageRef::plain(number_of(slot), get_u64(&bytes, 24));
        let expected = Expected { at, index: IndexId(0), kind: PageKind::Superblock, level: 0 };
        let page = Page::check(bytes, &expected)?;
        let payload = &page[HEADER_SIZE..];
        let number = |n: usize| get_u64(payload, 16 + 8 * n);
        Ok(Superblock {
            generation: at.generation,
            commit_number: CommitNumber(number(0)),
            log_position: LogPosition::new(number(1), number(2)),
            file_blocks: number(3),
            manifest_start: number(4),
            manifest_pages: number(5),
            manifest_size: number(6),
            manifest_hash: number(7),
        })
    }
}

/// The page number of a slot.
pub(crate) fn number_of(slot: u64) -> u64 {
    slot * u64::from(PAGE_BLOCKS)
}

/// Before anything else that another version may have elsewhere.
fn check_version(payload: &[u8]) -> Result<(), String> {
    if &payload[..8] != MAGIC {
        return Err("it is of no data file of commuter".to_string());
    }
    let (version, page_size) = (get_u32(payload, 8), get_u32(payload, 12));
    if version != VERSION || page_size as usize != PAGE_SIZE {
        return Err(format!(
            "its format is version {version} with pages of {page_size} bytes; this is version {VERSION} with {PAGE_SIZE}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    fn page(slot: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE_SIZE];
        Superblock { generation: 7, file_blocks: 100, ..Superblock::default() }.encode(slot, &mut page);
        page
    }

    /// Whatever else that version has elsewhere: version 1 knew the second one as page 1.
    #[test]
    fn another_version_is_named() {
        for slot in 0..2 {
            assert_eq!(Superblock::decode(slot, page(slot).into()).unwrap().file_blocks, 100);
            let mut old = page(slot);
            (old[8], old[HEADER_SIZE + 8]) = (slot as u8, 1);
            assert!(Superblock::decode(slot, old.clone().into()).unwrap_err().contains("checksum"));
            let checksum = xxh3_64(&old[8..]);
            old[..8].copy_from_slice(&checksum.to_le_bytes());
            let error = Superblock::decode(slot, old.into()).unwrap_err();
            assert_eq!(error, "its format is version 1 with pages of 16384 bytes; this is version 2 with 16384");
        }
    }
}
