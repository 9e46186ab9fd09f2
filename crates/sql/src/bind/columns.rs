//! Columns: whatever an expression of a statement can name has a number of its own, in the whole statement.
//!
//! A column of a table in FROM, a subquery's result, an aggregate's, a window function's. Numbers are given out when a name is first used, so a table's
//! unused columns have none. A number says nothing of where the value will be while the statement runs: rules may merge blocks and move
//! expressions between them without renaming anything, and places in rows are given last ([`crate::plan::layout`]).
//!
//! ```text
//!   SELECT a.x, (SELECT MAX(z) FROM c WHERE c.y = a.y) FROM a GROUP BY a.x
//!
//!   column   0     1          2     3     4
//!   is      a.x  subquery    c.z   c.y   a.y, and MAX(c.z) is 5
//! ```
//!
//! # Invariants
//! - After grouping a row is the group's first row with the aggregates' values: an expression over grouping columns has the same value as before.
//! - A column of an enclosing block is constant for one run of a block, as is an uncorrelated subquery's result.

use crate::expr::ExprType;

/// A column's number.
pub(crate) type ColumnId = usize;

/// A table in some FROM of the statement. One that stands there under two names is two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TableId(u32);

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnSource {
    /// A column of a table in FROM.
    Column {
        /// The table.
        table: TableId,
        /// Position among the table's columns.
        column: usize,
    },
    /// The row image of a table that is going to be changed, as bytes.
    RowImage,
    /// The result of a subquery.
    Subquery,
    /// A key of GROUP BY … WITH ROLLUP, filled when a group is complete: NULL in totals over it.
    Key,
    /// An aggregate's result, filled when a group is complete.
    Aggregate,
    /// A window function's result, or what is computed for windows.
    Window,
}

/// What is known of a column.
#[derive(Debug)]
struct Column {
    source: ColumnSource,
    ty: ExprType,
    /// Of the block that has it: how many blocks are around it, while it is bound.
    level: usize,
}

/// All columns of a statement.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    list: Vec<Column>,
    /// Per table, the columns that have a number, by their positions.
    of_tables: Vec<Vec<Option<ColumnId>>>,
}

/// How much there was at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    columns: usize,
    tables: usize,
}

impl Columns {
    /// One more table.
    pub(crate) fn add_table(&mut self) -> TableId {
        self.of_tables.push(Vec::new());
        TableId(self.of_tables.len() as u32 - 1)
    }

    /// One more column, which is none of a table.
    pub(crate) fn add(&mut self, source: ColumnSource, ty: ExprType, level: usize) -> ColumnId {
        self.list.push(Column { source, ty, level });
        self.list.len() - 1
    }

    /// The number of a table's column, given out now if it is new.
    pub(crate) fn of(
        &mut self,
        (table, column): (TableId, usize),
        level: usize,
        ty: impl FnOnce() -> ExprType,
    ) -> ColumnId {
        let columns = &mut self.of_tables[table.0 as usize];
        if columns.len() <= column {
            columns.resize(column + 1, None);
        }
        if let Some(known) = columns[column] {
            return known;
        }
        columns[column] = Some(self.list.len());
        self.add(ColumnSource::Column { table, column }, ty(), level)
    }

    /// The number of a table's column, if it has one.
    pub(crate) fn find(&self, table: TableId, column: usize) -> Option<ColumnId> {
        self.of_tables[table.0 as usize].get(column).copied().flatten()
    }

    /// The columns of a table that have numbers: (position in the table, number), by position.
    pub(crate) fn of_table(&self, table: TableId) -> impl Iterator<Item = (usize, ColumnId)> + '_ {
        let columns = self.of_tables[table.0 as usize].iter().enumerate();
        columns.filter_map(|(column, id)| Some((column, (*id)?)))
    }

    /// What a column is.
    pub(crate) fn source(&self, id: ColumnId) -> ColumnSource {
        self.list[id].source
    }

    /// The type of its values.
    pub(crate) fn ty(&self, id: ColumnId) -> &ExprType {
        &self.list[id].ty
    }

    /// Which of the blocks that are being bound has it.
    pub(super) fn level(&self, id: ColumnId) -> usize {
        self.list[id].level
    }

    /// What there is now.
    pub(super) fn mark(&self) -> Mark {
        Mark { columns: self.list.len(), tables: self.of_tables.len() }
    }

    /// Forgets what came since.
    pub(super) fn back_to(&mut self, mark: Mark) {
        for gone in self.list.drain(mark.columns.min(self.list.len())..) {
            if let ColumnSource::Column { table, column } = gone.source {
                self.of_tables[table.0 as usize][column] = None;
            }
        }
        self.of_tables.truncate(mark.tables);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Kind;

    #[test]
    fn many_columns_are_found_and_forgotten() {
        let (mut columns, ty) = (Columns::default(), ExprType::of_kind(Kind::Int));
        let table = columns.add_table();
        for column in (0..300_000).rev().chain(0..300_000) {
            assert_eq!(columns.of((table, column), 0, || ty.clone()), 299_999 - column);
        }
        let mark = columns.mark();
        let other = columns.add_table();
        let more = columns.of((other, 3), 1, || ty.clone());
        assert_eq!((columns.find(other, 3), columns.find(other, 4), columns.level(more)), (Some(more), None, 1));
        columns.of((table, 300_000), 0, || ty.clone());
        columns.back_to(mark);
        assert_eq!((columns.find(table, 300_000), columns.find(table, 299_999)), (None, Some(0)));
        assert_eq!(columns.of_table(table).next(), Some((0, 299_999)));
    }
}
