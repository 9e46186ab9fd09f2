//! Entries of a tree by their places, and some of them drawn at random.
//!
//! Nodes know how many rows are below each of their children, so the entry at a place is found by one descent. Places that are drawn
//! uniformly give each entry the same chance, whatever the page that it lies in: a leaf of three rows is met three hundredths as often as one of a hundred.

use base::IndexId;

use crate::cursor::Entry;
use crate::page::PageRef;
use crate::page::leaf::Value;
use crate::{Result, Roots, overflow};

/// A sequence of numbers that looks random and is the same for the same seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// Begins a sequence.
    pub fn new(seed: u64) -> Self {
        Draw(seed)
    }

    /// The next number, any with the same chance.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// The next number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(end)) >> 64) as u64
    }

    /// So many numbers below `end`, ascending; one may be there several times.
    pub fn ascending(&mut self, count: usize, end: u64) -> Vec<u64> {
        let mut numbers: Vec<u64> = match end {
            0 => Vec::new(),
            end => (0..count).map(|_| self.below(end)).collect(),
        };
        numbers.sort_unstable();
        numbers
    }
}

/// Spreads a number over all 64 bits.
pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// What a sample wants of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampled {
    /// Their keys; values are empty.
    Keys,
    /// Their values too. An entry whose value is longer than this is left out.
    Values(usize),
}

impl Roots {
    /// The entries at these places, which ascend and may repeat; an index's first entry is at 0. Each node on the way is read once.
    pub async fn entries_at(&self, index: IndexId, places: &[u64], sampled: Sampled) -> Result<Vec<Entry>> {
        let mut found = Vec::with_capacity(places.len());
        let Some(tree) = self.tree(index) else { return Ok(found) };
        // What is below a node that begins at a place, and which of the wanted places it has; the first on top.
        let mut open = vec![(tree.root, tree.height - 1, 0_u64, 0..places.len())];
        while let Some((at, level, mut start, mut wanted)) = open.pop() {
            let node = self.node(index, at, level).await?;
            if level == 0 {
                for &place in &places[wanted] {
                    let entry = (place - start) as usize;
                    if entry >= node.count() {
                        break;
                    }
                    let value = match (sampled, node.value(entry)) {
                        (Sampled::Keys, _) => bytes::Bytes::new(),
                        (Sampled::Values(most), Value::Inline(value)) if value.len() <= most => value,
                        (Sampled::Values(most), Value::Overflow(at)) if at.size <= most as u64 => {
                            overflow::read(self.shared(), index, &at).await?
                        }
                        _ => continue,
                    };
                    found.push(Entry { key: node.key_bytes(entry), value });
                }
                continue;
            }
            let mut below: Vec<(PageRef, u8, u64, std::ops::Range<usize>)> = Vec::new();
            for child in 0..node.count() {
                if wanted.is_empty() {
                    break;
                }
                let end = start + node.child_rows(child);
                let cut = wanted.start + places[wanted.clone()].partition_point(|place| *place < end);
                if cut > wanted.start {
                    below.push((node.child_at(child), level - 1, start, wanted.start..cut));
                }
                (start, wanted) = (end, cut..wanted.end);
            }
            open.extend(below.into_iter().rev());
        }
        Ok(found)
    }

    /// So many of an index's entries, each drawn from all of them, in the order of their keys. An entry may be there several times.
    pub async fn sample(&self, index: IndexId, count: usize, draw: &mut Draw, sampled: Sampled) -> Result<Vec<Entry>> {
        let places = draw.ascending(count, self.entries(index));
        self.entries_at(index, &places, sampled).await
    }
}
