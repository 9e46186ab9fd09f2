//! Superblocks: pages 0 and 1 of the file, written one after the other; the valid one of the higher generation is the
//! state of the database. Unless a checkpoint was interrupted they are equal.
//!
//! ```text
//! payload  8  "commuter"
//!          4  version of the format, 1
//!          4  bytes of a page, 16384
//!          8  commit number of the checkpoint
//!          8  log position: number of the file
//!          8  log position: offset in it
//!          8  pages of the file when it was written
//!          8  first page of the manifest
//!          8  pages of the manifest; 0 if everything is empty
//!          8  bytes of the manifest
//!          8  xxh3-64 of the manifest
//! ```
//!
//! The generation is that of the page's header. A superblock is written only after everything that it refers to was
//! synced, and first over the older of the two: a torn one leaves the other, whose pages nobody has touched.

use base::{CommitNumber, IndexId, LogPosition, PageNumber};
use bytes::Bytes;

use crate::page::{Expected, HEADER_SIZE, Header, Page, PageKind, PageRef, get_u32, get_u64, seal_payload};

const MAGIC: &[u8; 8] = b"commuter";
/// Version of the format.
const VERSION: u32 = 1;
const PAYLOAD_SIZE: usize = 80;

/// What a superblock says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub(crate) generation: u64,
    pub(crate) commit_number: CommitNumber,
    pub(crate) log_position: LogPosition,
    pub(crate) file_pages: u64,
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
        payload.extend_from_slice(&(crate::page::PAGE_SIZE as u32).to_le_bytes());
        let LogPosition { file, offset } = self.log_position;
        let manifest = [self.manifest_start, self.manifest_pages, self.manifest_size, self.manifest_hash];
        for number in [self.commit_number.0, file, offset, self.file_pages].iter().chain(&manifest) {
            payload.extend_from_slice(&number.to_le_bytes());
        }
        let at = PageRef { number: PageNumber(slot), generation: self.generation };
        seal_payload(page, &Header::plain(at, IndexId(0), PageKind::Superblock, 0), &payload);
    }

    /// Reads the page of a slot; says why it cannot be used.
    pub(crate) fn decode(slot: u64, bytes: Bytes) -> Result<Self, String> {
        if bytes.len() < HEADER_SIZE + PAYLOAD_SIZE {
            return Err("it is too short".to_string());
        }
        let at = PageRef { number: PageNumber(slot), generation: get_u64(&bytes, 24) };
        let expected = Expected { at, index: IndexId(0), kind: PageKind::Superblock, level: 0 };
        let page = Page::check(bytes, &expected)?;
        let payload = &page[HEADER_SIZE..];
        if &payload[..8] != MAGIC {
            return Err("it is of no data file of commuter".to_string());
        }
        let (version, page_size) = (get_u32(payload, 8), get_u32(payload, 12));
        if version != VERSION || page_size as usize != crate::page::PAGE_SIZE {
            return Err(format!("its format is version {version} with pages of {page_size} bytes, which is not known"));
        }
        let number = |n: usize| get_u64(payload, 16 + 8 * n);
        Ok(Superblock {
            generation: at.generation,
            commit_number: CommitNumber(number(0)),
            log_position: LogPosition::new(number(1), number(2)),
            file_pages: number(3),
            manifest_start: number(4),
            manifest_pages: number(5),
            manifest_size: number(6),
            manifest_hash: number(7),
        })
    }
}
