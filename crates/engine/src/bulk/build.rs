//! Entries of the secondary indexes that a statement builds: sorted in memory, piece by piece, for runs in a temporary file.
//!
//! They come in the order of the rows, which is no order of theirs. Put into memtables they would make every checkpoint rewrite
//! most of the new index; as sorted runs they are merged into it once, in its order.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;

use super::{Slot, Sorted};
use crate::catalog::Table;
use crate::error::Result;
use crate::large::{RunFile, RunWriter, Runs};
use crate::memtable::Key;
use crate::memtable::chain::BUILT;

/// See the module.
#[derive(Default)]
pub(crate) struct EntrySorter {
    arena: Vec<u8>,
    slots: BTreeMap<IndexId, Vec<Slot>>,
    entries: usize,
}

impl EntrySorter {
    /// Adds the entry of a row.
    pub(crate) fn add(&mut self, table: &Table, number: usize, row: &[u8]) -> Result<()> {
        let (layout, codec) = (&table.codec.row, &table.codec.indexes[number]);
        let at = self.arena.len();
        codec.key.encode_row(layout, row, &mut self.arena)?;
        let value_at = self.arena.len();
        codec.covering_image_into(layout, row, &mut self.arena)?;
        let slot = Slot::of(&self.arena, at, Some(value_at), 0)?;
        self.slots.entry(table.indexes[number].id).or_default().push(slot);
        self.entries += 1;
        Ok(())
    }

    /// Bytes of memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.arena.len() + self.entries * size_of::<Slot>()
    }

    /// Takes all of them, each index in its order; indexes ascend.
    pub(crate) fn take(&mut self) -> Vec<(IndexId, Sorted)> {
        let arena = Bytes::from(std::mem::take(&mut self.arena));
        self.entries = 0;
        let slots = std::mem::take(&mut self.slots);
        let sorted = |mut slots: Vec<Slot>| Sorted::new(BUILT, &mut slots, arena.clone());
        slots.into_iter().map(|(index, slots)| (index, sorted(slots))).collect()
    }

    /// Moves all of them into a run, behind the others in the file.
    pub(crate) async fn put_away(&mut self, file: &Arc<RunFile>, runs: &mut Runs) -> Result<()> {
        let mut writer = RunWriter::new(file, runs);
        for (index, sorted) in self.take() {
            writer.begin_unfiltered(index);
            for (key, value) in sorted.entries() {
                writer.put(&Key::new(&key), &Some(value)).await?;
            }
        }
        runs.0.push(writer.finish().await?);
        Ok(())
    }
}

impl Sorted {
    /// Keys with their values, ascending; what was removed is not among them.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Bytes, Bytes)> {
        self.slots.iter().filter_map(|slot| {
            let version = self.version(slot);
            version.value.map(|value| (version.key, value))
        })
    }
}
