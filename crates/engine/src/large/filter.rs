//! A Bloom filter: which keys a run surely does not have, so that a look at it costs no read.

use xxhash_rust::xxh3::xxh3_64;

/// Fewer than one key in a thousand that is not there seems to be: there may be hundreds of runs to ask.
const BITS_PER_KEY: usize = 16;
const PROBES: u64 = 8;

/// See the module.
pub(super) struct Filter {
    bits: Vec<u64>,
}

impl Filter {
    /// For about so many keys.
    pub(super) fn new(keys: usize) -> Self {
        Filter { bits: vec![0; (keys * BITS_PER_KEY).div_ceil(64).max(1)] }
    }

    /// One that says nothing of any key.
    pub(super) fn none() -> Self {
        Filter { bits: Vec::new() }
    }

    pub(super) fn add(&mut self, key: &[u8]) {
        if self.bits.is_empty() {
            return;
        }
        for bit in positions(key, self.bits.len()) {
            self.bits[bit / 64] |= 1 << (bit % 64);
        }
    }

    pub(super) fn may_have(&self, key: &[u8]) -> bool {
        self.bits.is_empty() || positions(key, self.bits.len()).all(|bit| self.bits[bit / 64] >> (bit % 64) & 1 == 1)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bits.len() * 8
    }
}

fn positions(key: &[u8], words: usize) -> impl Iterator<Item = usize> {
    let hash = xxh3_64(key);
    let step = hash.rotate_left(32) | 1;
    (0..PROBES).map(move |probe| (hash.wrapping_add(probe.wrapping_mul(step)) % (words as u64 * 64)) as usize)
}
