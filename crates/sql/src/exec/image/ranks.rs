//! Sets of ranks: which values of a column have a match elsewhere.

use std::collections::HashSet;

use foldhash::fast::RandomState;

/// Bits are kept where there are no more than so many for each rank, or so many in all.
const BITS_PER_RANK: u64 = 64;
const BITS_ANYWAY: u64 = 1 << 16;

/// Some ranks of a column: a bit for each between the first and the last if they are close, else by hash.
pub(crate) enum RankSet {
    Bits { first: u64, words: Vec<u64> },
    Hash(HashSet<u64, RandomState>),
}

impl RankSet {
    pub(crate) fn of(ranks: &[u64]) -> Self {
        let first = ranks.iter().copied().min().unwrap_or(0);
        let span = ranks.iter().copied().max().unwrap_or(0) - first;
        if span / BITS_PER_RANK > ranks.len() as u64 && span > BITS_ANYWAY {
            return RankSet::Hash(ranks.iter().copied().collect());
        }
        let mut words = vec![0; (span / 64 + 1) as usize];
        if !ranks.is_empty() {
            ranks.iter().map(|rank| rank - first).for_each(|bit| words[(bit / 64) as usize] |= 1 << (bit % 64));
        }
        RankSet::Bits { first, words }
    }

    #[inline]
    pub(crate) fn contains(&self, rank: u64) -> bool {
        match self {
            RankSet::Bits { first, words } => {
                let bit = rank.wrapping_sub(*first);
                words.get((bit / 64) as usize).is_some_and(|word| word >> (bit % 64) & 1 == 1)
            }
            RankSet::Hash(ranks) => ranks.contains(&rank),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_close_together_and_far_apart() {
        let close: Vec<u64> = (1 << 63..(1 << 63) + 1000).step_by(3).collect();
        let far: Vec<u64> = (0..1000).map(|n| n * 0x0031_0000_0000_0007).chain([u64::MAX]).collect();
        for (ranks, has_bits) in [(close, true), (far, false), (vec![5], true), (vec![0, u64::MAX], false)] {
            let set = RankSet::of(&ranks);
            assert_eq!(matches!(set, RankSet::Bits { .. }), has_bits);
            for rank in ranks.iter().flat_map(|rank| [rank.wrapping_sub(1), *rank, rank.wrapping_add(1)]) {
                assert_eq!(set.contains(rank), ranks.contains(&rank), "{rank}");
            }
        }
        assert!([0, 1, 63, u64::MAX].iter().all(|rank| !RankSet::of(&[]).contains(*rank)));
    }
}
