//! The manifest: what a superblock refers to. Index of the trees, free pages, and the engine's own bytes; written as a
//! whole with each checkpoint into pages of its own, each of which names the next (page header, offset 56).
//!
//! ```text
//! numbers are unsigned LEB128, except hashes (8 bytes, little-endian)
//! trees      count; then for each, ascending by index:
//!            index, root's page number times four and its blocks less one, root's generation, height (1 is a single
//!            leaf), rows, hash, leaf pages, inner pages, overflow pages, blocks of all of them,
//!            generation of the last merge that set some of it aside because it is damaged, else 0 (1 if that was before
//!            generations were noted here)
//! free       runs of blocks that nobody could reach
//! pending    count; then for each: created, freed (generations), runs
//! engine     length; bytes
//!
//! runs       count; then for each, ascending: blocks since the end of the run before, blocks in it
//! ```
//!
//! A manifest describes the file exactly as of its own checkpoint: its own pages are in use, those of the manifest
//! before it are pending.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use base::{IndexId, PageNumber, leb128};
use bytes::Bytes;

use crate::page::{PAGE_BLOCKS, PageRef};
use crate::space::{Interval, Run, Space};

/// A tree that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) root: PageRef,
    /// Levels; 1 is a single leaf.
    pub(crate) height: u8,
    pub(crate) rows: u64,
    pub(crate) hash: u64,
    pub(crate) leaf_pages: u64,
    pub(crate) inner_pages: u64,
    pub(crate) overflow_pages: u64,
    /// Of all these pages.
    pub(crate) blocks: u64,
    /// The last merge that left out changes of some of its rows, because the pages that they belong to are damaged.
    pub(crate) damaged_in: Option<NonZeroU64>,
}

impl Tree {
    /// Changes of some of its rows were left out.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged_in.is_some()
    }

    /// What counting begins with; its root is none.
    pub(crate) const EMPTY: Tree = Tree {
        root: PageRef { number: PageNumber(0), generation: 0, blocks: PAGE_BLOCKS },
        height: 0,
        rows: 0,
        hash: 0,
        leaf_pages: 0,
        inner_pages: 0,
        overflow_pages: 0,
        blocks: 0,
        damaged_in: None,
    };
}

/// All trees.
pub(crate) type Trees = BTreeMap<IndexId, Tree>;

/// A manifest as it was read.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) trees: Trees,
    pub(crate) free: Vec<Run>,
    pub(crate) pending: Vec<(Interval, Vec<Run>)>,
    pub(crate) engine: Bytes,
}

/// Writes the manifest of a state; `retired` are the pages of the manifest before it.
pub(crate) fn encode(trees: &Trees, space: &Space, retired: &(Interval, Vec<Run>), engine: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    leb128::put(&mut out, trees.len() as u64);
    for (index, tree) in trees {
        for number in [index.0, tree.root.place(), tree.root.generation, u64::from(tree.height), tree.rows] {
            leb128::put(&mut out, number);
        }
        out.extend_from_slice(&tree.hash.to_le_bytes());
        let damaged = tree.damaged_in.map_or(0, NonZeroU64::get);
        for number in [tree.leaf_pages, tree.inner_pages, tree.overflow_pages, tree.blocks, damaged] {
            leb128::put(&mut out, number);
        }
    }
    put_runs(&mut out, space.free().iter());
    let retired = Some((&retired.0, &retired.1)).filter(|(_, runs)| !runs.is_empty());
    leb128::put(&mut out, space.pending().len() as u64 + u64::from(retired.is_some()));
    for (interval, runs) in space.pending().iter().chain(retired) {
        let mut runs = runs.clone();
        runs.sort_unstable();
        leb128::put(&mut out, interval.0);
        leb128::put(&mut out, interval.1);
        put_runs(&mut out, runs.into_iter());
    }
    leb128::put(&mut out, engine.len() as u64);
    out.extend_from_slice(engine);
    out
}

/// Reads a manifest; says what is wrong with it.
pub(crate) fn decode(bytes: &Bytes) -> Result<Manifest, String> {
    let mut reader = Reader { bytes, at: 0 };
    let mut manifest = Manifest::default();
    for _ in 0..reader.number()? {
        let (index, tree) = reader.tree()?;
        manifest.trees.insert(index, tree);
    }
    manifest.free = reader.runs()?;
    for _ in 0..reader.number()? {
        let interval = (reader.number()?, reader.number()?);
        manifest.pending.push((interval, reader.runs()?));
    }
    let size = usize::try_from(reader.number()?).map_err(|_| TOO_SHORT.to_string())?;
    reader.take(size)?;
    manifest.engine = bytes.slice(reader.at - size..reader.at);
    if reader.at == bytes.len() { Ok(manifest) } else { Err("it is longer than its contents".to_string()) }
}

const TOO_SHORT: &str = "it is shorter than its contents";

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, size: usize) -> Result<&[u8], String> {
        let end = self.at.checked_add(size).filter(|&end| end <= self.bytes.len()).ok_or(TOO_SHORT)?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, String> {
        let rest = &self.bytes[self.at..];
        let missing = if rest.len() < leb128::SIZE_MAX { TOO_SHORT } else { "a number in it is too long" };
        let (number, size) = leb128::read(rest).ok_or(missing)?;
        self.at += size;
        Ok(number)
    }

    fn tree(&mut self) -> Result<(IndexId, Tree), String> {
        let index = IndexId(self.number()?);
        let root = PageRef::from_place(self.number()?, self.number()?);
        let height =
            u8::try_from(self.number()?).ok().filter(|&height| height > 0).ok_or("a tree in it has no height")?;
        let rows = self.number()?;
        let hash = u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes"));
        let (leaf_pages, inner_pages, overflow_pages) = (self.number()?, self.number()?, self.number()?);
        let (blocks, damaged_in) = (self.number()?, NonZeroU64::new(self.number()?));
        Ok((index, Tree { root, height, rows, hash, leaf_pages, inner_pages, overflow_pages, blocks, damaged_in }))
    }

    fn runs(&mut self) -> Result<Vec<Run>, String> {
        let (mut runs, mut end) = (Vec::new(), 0u64);
        for _ in 0..self.number()? {
            let (gap, len) = (self.number()?, self.number()?);
            let start = end.checked_add(gap).ok_or(TOO_SHORT)?;
            end = start.checked_add(len).ok_or(TOO_SHORT)?;
            runs.push(Run::new(start, len));
        }
        Ok(runs)
    }
}

fn put_runs(out: &mut Vec<u8>, runs: impl ExactSizeIterator<Item = Run>) {
    leb128::put(out, runs.len() as u64);
    let mut end = 0;
    for run in runs {
        leb128::put(out, run.start - end);
        leb128::put(out, run.len);
        end = run.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let root = PageRef { blocks: 3, ..PageRef::plain(77, 1 << 40) };
        let pages = Tree { leaf_pages: 9, inner_pages: 2, overflow_pages: 300, blocks: 1200, ..Tree::EMPTY };
        let tree = Tree { root, height: 3, rows: 1000, hash: u64::MAX, ..pages };
        let damaged = Tree { height: 1, damaged_in: NonZeroU64::new(1 << 41), ..tree };
        let trees = Trees::from([(IndexId(3), tree), (IndexId(900), damaged)]);
        let mut space = Space::open(1000, [None, Some(5)]);
        space.release(Run::new(10, 5));
        space.release(Run::new(400, 300));
        space.retire((3, 6), [Run::new(50, 2), Run::new(20, 1)]);
        let retired = ((5, 6), vec![Run::new(60, 1)]);
        let bytes = Bytes::from(encode(&trees, &space, &retired, b"engine"));
        let read = decode(&bytes).unwrap();
        assert_eq!(read.trees, trees);
        assert_eq!(read.free, [Run::new(10, 5), Run::new(400, 300)]);
        let first = ((3, 6), vec![Run::new(20, 1), Run::new(50, 2)]);
        assert_eq!(read.pending, [first, ((5, 6), vec![Run::new(60, 1)])]);
        assert_eq!(&read.engine[..], b"engine");
        for end in 0..bytes.len() {
            assert!(decode(&bytes.slice(..end)).is_err(), "{end} bytes are no manifest");
        }
    }

    #[test]
    fn any_bytes_are_a_manifest_or_an_error() {
        let mut number = 1u64;
        for size in 0..2000 {
            let mut random = || {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Small numbers are more likely to look like something.
                (number >> 60) as u8 * ((number >> 50) as u8 & 17)
            };
            let bytes: Vec<u8> = (0..size % 300).map(|_| random()).collect();
            let _ = decode(&bytes.into());
        }
    }
}
