//! Names: which tables a block sees, and which column a name means.
//!
//! Names of columns are compared without regard to case, those of databases, tables and aliases with it (MySQL's
//! `lower_case_table_names=0`). A name is looked up in the innermost block first; what is found in an enclosing block
//! is noted in every block between, so that each hands it on to the next.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use base::{SqlError, codes};
use types::ColumnType;
use types::schema::same_name;

use crate::bind::Binder;
use crate::bind::columns::{ColumnId, ColumnSource, Columns, TableId};
use crate::bind::hints::BlockHints;
use crate::bind::lookup::Lookup;
use crate::bind::tree::{BoundAggregate, BoundTable, ColumnInfo, Subquery, TableSource};
use crate::bind::window::{BoundWindow, WindowSpec, alias_of_window};
use crate::expr::{Aggregate, Expr, ExprType, SlotSet};

/// So many aggregates are compared one after the other; more are looked up.
const FEW: usize = 16;

/// A column that can be named without its table, or that `*` stands for.
#[derive(Clone, Debug)]
pub(crate) struct Visible {
    /// Position among the block's tables.
    pub(crate) table: usize,
    /// Position among the table's columns.
    pub(crate) column: usize,
    /// The copy that USING or NATURAL has merged into the other table's: only found with its table's name.
    pub(crate) hidden: bool,
}

/// Where in its block a subquery stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where expressions are over rows.
    #[default]
    Rows,
    /// Where aggregates may be called.
    Groups,
    /// In an argument of an aggregate.
    Aggregate,
}

/// What one block knows while it is being bound.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) tables: Vec<BoundTable>,
    /// Of an UPDATE or DELETE, what hints say of it, and whether that is the order of its tables.
    pub(crate) hints: BlockHints,
    pub(crate) straight_join: bool,
    /// Columns of enclosing blocks that are read in this one.
    pub(crate) outer: SlotSet,
    /// What unqualified names are looked for in: all of FROM, or in an ON clause the join's two sides.
    pub(crate) visible: Vec<Visible>,
    pub(crate) lookup: Lookup,
    pub(crate) subqueries: Vec<Subquery>,
    pub(crate) aggregates: Vec<BoundAggregate>,
    /// Windows of the clause WINDOW.
    pub(crate) named_windows: Vec<WindowSpec>,
    pub(crate) windows: Vec<BoundWindow>,
    /// Which of them are not among the first [`FEW`], by their looks.
    pub(crate) more_aggregates: HashMap<u64, Vec<usize>>,
    /// ON DUPLICATE KEY UPDATE: which of the tables is the row that could not be inserted, for `VALUES(column)`.
    pub(crate) new_row: Option<usize>,
    /// Names of the select list so far, for subqueries in what follows.
    pub(crate) aliases: Vec<(String, Expr)>,
    /// Those of the rest of it, the next one last.
    pub(crate) later_aliases: Vec<String>,
    /// The tables of which `*` took all columns.
    pub(crate) stars: Vec<usize>,
    /// Where the subquery stands that is being bound.
    pub(crate) place: Place,
    /// What a LATERAL subquery may name of the tables before it, while FROM is bound.
    pub(crate) beside: Vec<Visible>,
    /// It has a GROUP BY, so that GROUPING may be called.
    pub(crate) has_group_by: bool,
    /// It is called somewhere.
    pub(crate) calls_grouping: bool,
    /// By how many of its keys a row is grouped, if GROUPING asks for it.
    pub(crate) grouped: Option<ColumnId>,
    /// How many of the outermost blocks its names may mean; all that are around it if this does not say.
    pub(crate) sees: Option<usize>,
}

/// A column as it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnName<'a> {
    pub(crate) schema: Option<&'a str>,
    pub(crate) table: Option<&'a str>,
    pub(crate) column: &'a str,
}

impl<'a> ColumnName<'a> {
    /// A name as it is written.
    pub(crate) fn of(path: &'a syntax::ast::ColumnPath) -> Self {
        let text = |name: &'a Option<syntax::ast::Name>| name.as_ref().map(syntax::ast::Name::as_str);
        ColumnName { schema: text(&path.schema), table: text(&path.table), column: path.name.as_str() }
    }

    /// As error messages show it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for part in [self.schema, self.table].into_iter().flatten() {
            text.push_str(beginning(part));
            text.push('.');
        }
        text.push_str(beginning(self.column));
        text
    }
}

impl Scope {
    /// The column of that name among this block's own tables.
    pub(crate) fn find(&self, name: ColumnName<'_>, clause: &str) -> Result<Option<(usize, usize)>, SqlError> {
        let found = match name.table {
            Some(table) => self.find_qualified(name.schema, table, name.column),
            None => self.find_unqualified(name.column),
        };
        let found = match found {
            Ok(None) if name.column.eq_ignore_ascii_case("_rowid") => self.find_row_id(name),
            found => found,
        };
        found.map_err(|()| ambiguous(&name.text(), clause))
    }

    /// What a subquery may name of the select list: what stands before it, and nothing of groups, which may not be there yet (1247).
    pub(crate) fn alias(
        &self,
        name: ColumnName<'_>,
        clause: &str,
        columns: &Columns,
    ) -> Result<Option<&Expr>, SqlError> {
        let is_named = |alias: &str| name.table.is_none() && same_name(alias, name.column);
        let mut named = self.aliases.iter().filter(|(alias, _)| is_named(alias)).map(|(_, expr)| expr);
        let Some(first) = named.next() else {
            return match self.later_aliases.iter().any(|alias| is_named(alias)) {
                true => Err(illegal_reference(&name.text(), "forward reference in item list")),
                false => Ok(None),
            };
        };
        if named.any(|other| other.as_column() != first.as_column()) {
            return Err(ambiguous(&name.text(), clause));
        }
        let of_group = |id: ColumnId| columns.source(id) == ColumnSource::Aggregate && !self.outer.contains(id);
        if first.slots().iter().any(|id| columns.source(id) == ColumnSource::Window && !self.outer.contains(id)) {
            return Err(alias_of_window(name.column));
        }
        match first.slots().iter().any(of_group) {
            true => Err(illegal_reference(&name.text(), "reference to group function")),
            false => Ok(Some(first)),
        }
    }

    /// What unqualified names are looked for in from now on.
    pub(crate) fn see(&mut self, visible: Vec<Visible>) {
        (self.visible, self.lookup) = (visible, Lookup::default());
    }

    /// They are looked for in these, too.
    pub(crate) fn see_more(&mut self, visible: impl IntoIterator<Item = Visible>) {
        self.visible.extend(visible);
        self.lookup = Lookup::default();
    }

    /// What unqualified names are looked for in.
    pub(crate) fn visible(&self) -> &[Visible] {
        &self.visible
    }

    fn find_unqualified(&self, column: &str) -> Result<Option<(usize, usize)>, ()> {
        if let Some(places) = self.lookup.places(&self.tables, &self.visible) {
            return places.unqualified(column);
        }
        let mut found = None;
        for visible in &self.visible {
            if visible.hidden || !same_name(&self.column(visible.table, visible.column).name, column) {
                continue;
            }
            if found.is_some() {
                return Err(());
            }
            found = Some((visible.table, visible.column));
        }
        Ok(found)
    }

    fn find_qualified(&self, schema: Option<&str>, table: &str, column: &str) -> Result<Option<(usize, usize)>, ()> {
        let mut found = None;
        if let Some(places) = self.lookup.places(&self.tables, &self.visible) {
            let of_name = places.of_name(column).iter();
            let mut named = of_name.filter(|(number, _)| self.tables[*number].is_named(schema, table));
            found = named.next().copied();
            return if named.next().is_some() { Err(()) } else { Ok(found) };
        }
        for (number, bound) in self.tables.iter().enumerate() {
            if !bound.is_named(schema, table) || !self.sees_table(number) {
                continue;
            }
            if let Some(position) = bound.columns.iter().position(|info| same_name(&info.name, column)) {
                if found.is_some() {
                    return Err(());
                }
                found = Some((number, position));
            }
        }
        Ok(found)
    }

    /// `_rowid`: the one integer or YEAR column that is a table's primary key, or its first unique key without NULL.
    fn find_row_id(&self, name: ColumnName<'_>) -> Result<Option<(usize, usize)>, ()> {
        let is_meant = |number: usize, bound: &BoundTable| match name.table {
            Some(table) => bound.is_named(name.schema, table) && self.sees_table(number),
            None => self.sees_table(number),
        };
        let mut found = None;
        for (number, bound) in self.tables.iter().enumerate().filter(|(number, bound)| is_meant(*number, bound)) {
            let TableSource::Base(table) = &bound.source else { continue };
            if let Some(column) = row_id(&table.def) {
                if found.is_some() {
                    return Err(());
                }
                found = Some((number, column));
            }
        }
        Ok(found)
    }

    fn sees_table(&self, table: usize) -> bool {
        self.visible.iter().any(|visible| visible.table == table)
    }

    /// What is known of a column.
    pub(crate) fn column(&self, table: usize, column: usize) -> &ColumnInfo {
        &self.tables[table].columns[column]
    }

    /// Refuses a second table of the same name (1066).
    pub(crate) fn add_table(&mut self, table: BoundTable) -> Result<usize, SqlError> {
        let same = |other: &&BoundTable| other.alias == table.alias && other.schema == table.schema;
        if let Some(other) = self.tables.iter().find(same) {
            return Err(not_unique(&other.alias));
        }
        self.tables.push(table);
        self.lookup = Lookup::default();
        Ok(self.tables.len() - 1)
    }

    /// All columns of a table, in order, as an unqualified name or `*` sees them.
    pub(crate) fn visible_columns_of(&self, table: usize) -> Vec<Visible> {
        (0..self.tables[table].columns.len()).map(|column| Visible { table, column, hidden: false }).collect()
    }
}

impl Binder<'_> {
    /// The number of a column of the innermost block, and its type.
    pub(crate) fn column_id(&mut self, table: usize, column: usize) -> (ColumnId, ExprType) {
        self.scope();
        self.column_id_at(self.scopes.len() - 1, table, column)
    }

    /// The same of a block that is around it.
    pub(super) fn column_id_at(&mut self, level: usize, table: usize, column: usize) -> (ColumnId, ExprType) {
        let scope = &self.scopes[level];
        let mut ty = scope.column(table, column).ty.clone();
        ty.nullable |= scope.tables[table].outer_joined;
        let id = self.columns.of((scope.tables[table].id, column), level, || ty.clone());
        (id, ty)
    }

    /// A column of the innermost block that is none of its tables'.
    pub(crate) fn add_column(&mut self, source: ColumnSource, ty: ExprType) -> ColumnId {
        self.scope();
        self.columns.add(source, ty, self.scopes.len() - 1)
    }

    /// The number of an aggregate's value; the same aggregate has one only.
    pub(crate) fn aggregate_id(&mut self, aggregate: Aggregate) -> ColumnId {
        let scope = self.scope();
        let is_it = |known: &&BoundAggregate| *known.call == aggregate;
        if let Some(known) = scope.aggregates.iter().take(FEW).find(is_it) {
            return known.id;
        }
        let index = scope.aggregates.len();
        if index >= FEW {
            let alike = scope.more_aggregates.entry(looks(&aggregate)).or_default();
            // Some of them may have been forgotten since.
            if let Some(known) = alike.iter().filter_map(|at| scope.aggregates.get(*at)).find(is_it) {
                return known.id;
            }
            alike.push(index);
        }
        let id = self.add_column(ColumnSource::Aggregate, aggregate.ty.clone());
        self.scope().aggregates.push(BoundAggregate { call: aggregate.into(), id });
        id
    }

    /// Whether an expression reads a window function of the innermost block.
    pub(super) fn reads_own_window(&self, expr: &Expr) -> bool {
        let is_own =
            |id| self.columns.source(id) == ColumnSource::Window && self.columns.level(id) + 1 == self.scopes.len();
        expr.slots().iter().any(is_own)
    }

    /// Whether it is an aggregate of the innermost block.
    pub(super) fn is_own_aggregate(&self, id: ColumnId) -> bool {
        self.columns.source(id) == ColumnSource::Aggregate && self.columns.level(id) + 1 == self.scopes.len()
    }
}

impl Columns {
    /// Which of these tables a column is of, and where in it; `None` if it is none of theirs.
    pub(crate) fn place(&self, id: ColumnId, tables: &[BoundTable]) -> Option<(usize, usize)> {
        let ColumnSource::Column { table, column } = self.source(id) else { return None };
        Some((place_of(table, tables)?, column))
    }
}

/// Where a table is among these.
pub(crate) fn place_of(id: TableId, tables: &[BoundTable]) -> Option<usize> {
    tables.iter().position(|table| table.id == id)
}

impl BoundTable {
    /// Whether `schema.table` or `table` names it.
    pub(crate) fn is_named(&self, schema: Option<&str>, table: &str) -> bool {
        *self.alias == *table && schema.is_none_or(|schema| self.schema.as_deref() == Some(schema))
    }
}

pub(crate) fn row_id(def: &types::TableDef) -> Option<usize> {
    let is_generated = |index: &types::IndexDef| def.generated_pk && index.parts.iter().any(|part| part.column == 0);
    let identifies = |index: &&types::IndexDef| {
        index.unique && !is_generated(index) && index.parts.iter().all(|part| !def.columns[part.column].nullable)
    };
    match &def.indexes.iter().find(identifies)?.parts[..] {
        [part] => {
            let ty = &def.columns[part.column].ty;
            (ty.integer().is_some() || *ty == ColumnType::Year).then_some(part.column)
        }
        _ => None,
    }
}

/// A number that is the same for aggregates that are.
fn looks(aggregate: &Aggregate) -> u64 {
    struct Looks(DefaultHasher);
    impl fmt::Write for Looks {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut looks = Looks(DefaultHasher::new());
    // Writing there cannot fail.
    let _ = fmt::Write::write_fmt(&mut looks, format_args!("{aggregate:?}"));
    looks.0.finish()
}

/// The beginning of a name, which is all of any that there may be: what is longer may be as long as a statement.
fn beginning(name: &str) -> &str {
    const NAME_MAX: usize = 512;
    let end = (0..=NAME_MAX.min(name.len())).rev().find(|at| name.is_char_boundary(*at));
    &name[..end.unwrap_or(0)]
}

/// 1066
pub(crate) fn not_unique(name: &str) -> SqlError {
    SqlError::new(codes::NONUNIQ_TABLE, format!("Not unique table/alias: '{}'", beginning(name)))
}

/// 1052
pub(crate) fn ambiguous(name: &str, clause: &str) -> SqlError {
    SqlError::new(codes::NON_UNIQ_ERROR, format!("Column '{}' in {clause} is ambiguous", beginning(name)))
}

/// 1054
pub(crate) fn unknown_column(name: &str, clause: &str) -> SqlError {
    SqlError::new(codes::BAD_FIELD_ERROR, format!("Unknown column '{}' in '{clause}'", beginning(name)))
}

/// 1247
fn illegal_reference(name: &str, why: &str) -> SqlError {
    SqlError::new(codes::ILLEGAL_REFERENCE, format!("Reference '{}' not supported ({why})", beginning(name)))
}

/// 1146
pub(crate) fn no_such_table(schema: &str, table: &str) -> SqlError {
    SqlError::new(codes::NO_SUCH_TABLE, format!("Table '{schema}.{table}' doesn't exist"))
}

/// An `Arc<str>` that every block shares for what has no name.
pub(crate) fn empty_name() -> Arc<str> {
    Arc::from("")
}
