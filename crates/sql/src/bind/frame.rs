//! The frame: the shape of the rows inside one query block.
//!
//! Every value that an expression of the block can name has a *slot*: a column of a table in FROM, a value of an enclosing
//! block's row, a subquery's result, an aggregate's. Slots are given out when a name is first used, so a frame holds only
//! what is needed, and a table's unused columns are never decoded. All operators of the block work on rows of this
//! shape and fill in what they know; nothing is renumbered between them.
//!
//! ```text
//!   SELECT a.x, COUNT(*) FROM a JOIN b ON a.id = b.id WHERE b.y > (SELECT MAX(z) FROM c) GROUP BY a.x
//!
//!   slot      0     1     2     3        4           5
//!   source   a.id  b.id  b.y   a.x  subquery 0  aggregate 0
//!   filled   ├ scan a    ├ join b           ├ before ├ grouping
//!   by        (and a.x)                       the scan
//! ```
//!
//! # Invariants
//! - After grouping a row is the group's first row with the aggregates' slots filled: an expression over grouping columns
//!   has the same value as before.
//! - A slot from an enclosing block is constant for one run of the block, as is an uncorrelated subquery's.

use std::collections::HashMap;

use crate::expr::ExprType;

/// So many slots are looked through; the places of those behind them are kept.
const FEW: usize = 16;

/// Where the value of a slot comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SlotSource {
    /// A column of a table in FROM.
    Column {
        /// Position among the block's tables.
        table: usize,
        /// Position among the table's columns.
        column: usize,
    },
    /// The row image of a table that is going to be changed, as bytes.
    RowImage {
        /// Position among the block's tables.
        table: usize,
    },
    /// A slot of the enclosing block, copied when the block is opened.
    Outer {
        /// The slot there.
        slot: usize,
    },
    /// The result of a subquery of this block.
    Subquery {
        /// Position among the block's subqueries.
        index: usize,
    },
    /// A key of GROUP BY … WITH ROLLUP, filled when a group is complete: NULL in totals over it.
    Key {
        /// Position among the keys.
        index: usize,
    },
    /// An aggregate's result, filled when a group is complete.
    Aggregate {
        /// Position among the block's aggregates.
        index: usize,
    },
}

/// One slot.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Where its value comes from.
    pub(crate) source: SlotSource,
    /// The type of the value.
    pub(crate) ty: ExprType,
}

/// All slots of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// In the order in which they were first used.
    pub(crate) slots: Vec<Slot>,
    /// Where those are that are not among the first [`FEW`].
    others: HashMap<SlotSource, usize>,
}

impl Frame {
    /// The slot of this source, made now if it is new.
    pub(crate) fn slot(&mut self, source: SlotSource, ty: impl FnOnce() -> ExprType) -> usize {
        match self.find(source) {
            Some(slot) => slot,
            None => {
                let slot = self.slots.len();
                self.slots.push(Slot { source, ty: ty() });
                if slot >= FEW {
                    self.others.insert(source, slot);
                }
                slot
            }
        }
    }

    /// Forgets the slots from this one on.
    pub(crate) fn truncate(&mut self, slots: usize) {
        for gone in self.slots.drain(slots.min(self.slots.len())..) {
            self.others.remove(&gone.source);
        }
    }

    /// The slot of this source, if it has one.
    pub(crate) fn find(&self, source: SlotSource) -> Option<usize> {
        let first = &self.slots[..self.slots.len().min(FEW)];
        first.iter().position(|slot| slot.source == source).or_else(|| self.others.get(&source).copied())
    }

    /// Values per row.
    pub(crate) fn width(&self) -> usize {
        self.slots.len()
    }

    /// The columns of one table that have slots: (column, slot), by column.
    pub(crate) fn columns_of(&self, table: usize) -> Vec<(usize, usize)> {
        let of_table = |(slot, found): (usize, &Slot)| match found.source {
            SlotSource::Column { table: t, column } if t == table => Some((column, slot)),
            _ => None,
        };
        let mut columns: Vec<_> = self.slots.iter().enumerate().filter_map(of_table).collect();
        columns.sort_unstable();
        columns
    }

    /// The slots of the enclosing block that are copied into this one: (slot there, slot here).
    pub(crate) fn outer_slots(&self) -> Vec<(usize, usize)> {
        let outer = |(slot, found): (usize, &Slot)| match found.source {
            SlotSource::Outer { slot: there } => Some((there, slot)),
            _ => None,
        };
        self.slots.iter().enumerate().filter_map(outer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_slots_are_found_and_forgotten() {
        let (mut frame, ty) = (Frame::default(), ExprType::of_kind(crate::expr::Kind::Int));
        let source = |index: usize| SlotSource::Subquery { index };
        for index in (0..300_000).chain(0..300_000) {
            assert_eq!(frame.slot(source(index), || ty.clone()), index);
        }
        for slots in [200_000, 20, 10] {
            frame.truncate(slots);
            assert_eq!((frame.find(source(slots)), frame.find(source(slots - 1))), (None, Some(slots - 1)));
        }
    }
}
