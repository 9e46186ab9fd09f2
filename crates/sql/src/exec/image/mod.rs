//! Rows that are looked at in their images, before any value is made of them.
//!
//! ```text
//!   rows of a leaf ── conditions on ranks and texts ── those that pass ── values in slots ── all other conditions
//! ```
//!
//! | part | of the plan | what it is made of |
//! |---|---|---|
//! | [`conditions`] | conditions of an access | comparisons of a column with constants or another column, IN, BETWEEN, LIKE, IS NULL |
//! | [`numbers`] | arguments of SUM and AVG | columns, constants, `+ - *` of exact numbers |
//! | [`grouping`] | GROUP BY and aggregates | columns; COUNT, SUM, AVG, MIN, MAX |
//! | [`ranks`] | keys of a hash join above | what its other side has |
//! | [`parts`] | the whole of these | ranges of keys that tasks take one by one |
//! | [`selected`] | a long scan | rows for which the conditions hold, found by tasks |
//!
//! # Invariants
//! - What is compiled here says the same as its expression for every row, without warnings or errors; what could not be said so stays an
//!   expression.
//! - Values of columns are compared by [ranks](types::row::Field), which are ordered as the values are.

pub(crate) mod compile;
pub(crate) mod conditions;
pub(crate) mod grouping;
pub(crate) mod numbers;
pub(crate) mod parts;
pub(crate) mod ranks;
pub(crate) mod selected;
pub(crate) mod source;

use std::sync::Arc;

use engine::Table;
use types::ColumnDef;
use types::row::{Field, RowLayout};

/// What an image is of: rows of a table, or the covering images of one of its indexes.
#[derive(Clone)]
pub(crate) struct ImageOf {
    pub(crate) table: Arc<Table>,
    /// Position among the table's indexes; 0 is the rows.
    pub(crate) index: usize,
}

impl ImageOf {
    pub(crate) fn layout(&self) -> &RowLayout {
        match self.index {
            0 => &self.table.codec.row,
            index => &self.table.codec.indexes[index].layout,
        }
    }

    /// A column by its position in the image.
    #[inline]
    pub(crate) fn field(&self, place: usize) -> Field<'_> {
        self.layout().field(place)
    }

    /// The table's column at a position in the image.
    pub(crate) fn column(&self, place: usize) -> usize {
        match self.index {
            0 => place,
            index => self.table.codec.indexes[index].covered[place],
        }
    }

    /// Where the image has a column of the table.
    pub(crate) fn place_of(&self, column: usize) -> Option<usize> {
        match self.index {
            0 => Some(column),
            index => self.table.codec.indexes[index].covered.iter().position(|covered| *covered == column),
        }
    }

    pub(crate) fn def(&self, place: usize) -> &ColumnDef {
        &self.table.def.columns[self.column(place)]
    }
}
