//! Rows whose keys found no room in memory: they go to partitions on disk by a hash of their keys, and each partition is worked on by itself later.
//!
//! # Invariants
//! - Rows with equal keys are in one partition, whichever side of an operation they are of.
//! - A partition's partitions are split by another hash. Where that does not split them any more, memory has to hold their keys.

use base::SqlError;
use types::Value;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::exec::context::ExecContext;
use crate::exec::spill::RowStore;

/// Into how many files rows are split when keys outgrow memory.
const PARTITIONS: usize = 16;

/// Partitions of partitions: more means that hashes do not split the keys.
const LEVEL_MAX: u64 = 8;

/// Rows that did not find room, split by their keys: those of each side apart.
pub(crate) struct Overflow<const SIDES: usize = 1> {
    current: Vec<[RowStore; SIDES]>,
    waiting: Vec<(u64, [RowStore; SIDES])>,
    level: u64,
}

impl<const SIDES: usize> Default for Overflow<SIDES> {
    fn default() -> Self {
        Overflow { current: Vec::new(), waiting: Vec::new(), level: 0 }
    }
}

impl<const SIDES: usize> Overflow<SIDES> {
    /// Keeps a row of a side for later.
    pub(crate) async fn push(
        &mut self,
        side: usize,
        key: &[u8],
        row: &[Value],
        context: &ExecContext<'_>,
    ) -> Result<(), SqlError> {
        if self.current.is_empty() {
            let budget = context.limits.table_bytes / (4 * PARTITIONS * SIDES);
            let store = || std::array::from_fn(|_| RowStore::new(row.len(), budget));
            self.current = (0..PARTITIONS).map(|_| store()).collect();
        }
        let partition = xxh3_64_with_seed(key, self.level) as usize % PARTITIONS;
        self.current[partition][side].push(context.env, row).await
    }

    /// Whether rows may still be put off.
    pub(crate) fn may_grow(&self) -> bool {
        self.level < LEVEL_MAX
    }

    /// Whether rows of the present input were put off.
    pub(crate) fn is_used(&self) -> bool {
        !self.current.is_empty()
    }

    /// The next partition to work on, when the present input is at its end.
    pub(crate) fn next(&mut self) -> Option<[RowStore; SIDES]> {
        let level = self.level + 1;
        let has_rows = |stores: &[RowStore; SIDES]| stores.iter().any(|store| store.len() > 0);
        self.waiting.extend(self.current.drain(..).filter(has_rows).map(|stores| (level, stores)));
        let (level, stores) = self.waiting.pop()?;
        self.level = level;
        Some(stores)
    }
}
