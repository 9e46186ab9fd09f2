//! ONLY_FULL_GROUP_BY: what may stand beside GROUP BY and aggregates.
//!
//! A column may if its value is the same in all rows of a group: it is grouped by, or equal to a constant or to such a
//! column by a conjunct of WHERE, or belongs to a table whose primary key (or a unique key without NULL) is so determined.

use std::collections::HashMap;

use base::{SqlError, codes};
use engine::Table;

use crate::bind::Binder;
use crate::bind::columns::{ColumnId, Columns, TableId};
use crate::bind::from::tables_of;
use crate::bind::tree::{Block, BoundBody, BoundQuery, FromTree, JoinKind, TableSource};
use crate::bind::window::WindowSpec;
use crate::expr::window::WindowCall;
use crate::expr::{CompareOp, Constancy, Expr, ExprKind, SlotSet, SqlMode};

impl Binder<'_> {
    /// Refuses a block whose select list, HAVING or ORDER BY is not determined by its groups (1055, 1140).
    pub(crate) fn check_grouping(&mut self, block: &Block, named: &[WindowSpec]) -> Result<(), SqlError> {
        if !self.context.session.sql_mode.has(SqlMode::ONLY_FULL_GROUP_BY) {
            return Ok(());
        }
        let Some(grouping) = &block.grouping else { return self.check_distinct(block) };
        let determined = determined_columns(block, &grouping.keys, &self.columns, 0);
        let calls = calls_of(block);
        let mut lists = vec![
            ("SELECT list".to_owned(), block.select.iter().collect::<Vec<_>>()),
            ("HAVING clause".to_owned(), block.having.iter().collect()),
        ];
        // Without keys there is one row, and no order.
        if !grouping.keys.is_empty() {
            lists.push(("ORDER BY clause".to_owned(), block.order.iter().map(|item| &item.expr).collect()));
        }
        let windows = block.windows.iter().map(|window| (&window.name, &window.partition, &window.order));
        let named = named.iter().map(|window| (&window.name, &window.partition, &window.order));
        for (name, partition, order) in windows.chain(named) {
            let list = format!("PARTITION BY or ORDER BY clause of window '{name}'");
            lists.push((list.clone(), partition.iter().collect()));
            lists.push((list, order.iter().map(|item| &item.expr).collect()));
        }
        for (list, exprs) in &lists {
            for (number, expr) in exprs.iter().enumerate() {
                self.worked(grouping.keys.len() + 1)?;
                let determined = Determined { block, columns: &self.columns, ids: &determined, calls: &calls };
                if let Some(id) = determined.undetermined(expr, &grouping.keys) {
                    let name = column_name(id, block, &self.columns);
                    return Err(not_grouped(list, number + 1, &name, grouping.keys.is_empty()));
                }
            }
        }
        Ok(())
    }

    /// DISTINCT: ORDER BY may only use what is selected (3065).
    fn check_distinct(&mut self, block: &Block) -> Result<(), SqlError> {
        if !block.distinct {
            return Ok(());
        }
        let mut selected = SlotSet::default();
        block.select.iter().filter_map(Expr::as_column).for_each(|id| _ = selected.insert(id));
        for (number, item) in block.order.iter().enumerate() {
            let is_own = |id: ColumnId| self.columns.place(id, &block.tables).is_some();
            let is_missing = |id: &ColumnId| !selected.contains(*id) && is_own(*id);
            let Some(id) = item.expr.slots().iter().find(is_missing) else { continue };
            self.worked(block.select.len())?;
            if !block.select.contains(&item.expr) {
                let message = format!(
                    "Expression #{} of ORDER BY clause is not in SELECT list, references column '{}' which is not in SELECT \
                     list; this is incompatible with DISTINCT",
                    number + 1,
                    column_name(id, block, &self.columns)
                );
                return Err(SqlError::new(codes::FIELD_IN_ORDER_NOT_SELECT, message));
            }
        }
        Ok(())
    }
}

/// Columns of a block that have one value in each group.
struct Determined<'b> {
    block: &'b Block,
    columns: &'b Columns,
    ids: &'b SlotSet,
    /// Its window functions by their results.
    calls: &'b HashMap<ColumnId, &'b WindowCall>,
}

impl Determined<'_> {
    /// The first column in an expression that differs within a group. ANY_VALUE is for that.
    fn undetermined(&self, expr: &Expr, keys: &[Expr]) -> Option<ColumnId> {
        let is_any_value = matches!(&expr.kind, ExprKind::Call { function, .. } if function.name() == "any_value");
        if is_any_value {
            return None;
        }
        // Keys that are columns are among what is determined.
        if let ExprKind::Column { slot, .. } = expr.kind {
            let call = self.calls.get(&slot);
            let of_call = call.and_then(|call| call.args().iter().find_map(|arg| self.undetermined(arg, keys)));
            return of_call.or_else(|| (!self.contains(slot)).then_some(slot));
        }
        if keys.contains(expr) {
            return None;
        }
        let mut found = None;
        expr.for_each_child(&mut |child| found = found.or_else(|| self.undetermined(child, keys)));
        found
    }

    fn contains(&self, id: ColumnId) -> bool {
        // A correlated subquery is determined if what it reads is; the executor runs it with the group's first row.
        self.ids.contains(id) || self.columns.place(id, &self.block.tables).is_none()
    }

    fn has_all(&self, expr: &Expr) -> bool {
        expr.slots().iter().all(|id| self.contains(id))
    }
}

fn calls_of(block: &Block) -> HashMap<ColumnId, &WindowCall> {
    block.windows.iter().flat_map(|window| &window.calls).map(|call| (call.id, &call.call)).collect()
}

/// Subqueries in FROM that stand in one another are looked into so far: each is looked into several times.
const DEPTH_MAX: u32 = 4;

/// The columns that the group keys determine.
fn determined_columns(block: &Block, keys: &[Expr], columns: &Columns, depth: u32) -> SlotSet {
    let mut without_null = Vec::new();
    block.filter.iter().for_each(|condition| refuses_null(condition, &mut without_null));
    block.from.iter().for_each(|from| joins_refuse_null(from, block, columns, &mut without_null));
    let no_calls = HashMap::new();
    let mut search = Search { block, columns, ids: SlotSet::default(), without_null, depth, no_calls };
    keys.iter().filter_map(Expr::as_column).for_each(|id| _ = search.ids.insert(id));
    loop {
        let before = search.ids.len();
        block.filter.iter().for_each(|condition| search.by_equality(condition, None));
        block.from.iter().for_each(|from| search.by_joins(from));
        for table in &block.tables {
            match &table.source {
                TableSource::Base(base) => search.by_key(table.id, base),
                TableSource::Derived(query) => search.by_derived(table.id, query),
                TableSource::Virtual(_) | TableSource::Round(_) | TableSource::Json(_) => {}
            }
        }
        if search.ids.len() == before {
            return search.ids;
        }
    }
}

/// The search for columns that are determined.
struct Search<'b> {
    block: &'b Block,
    columns: &'b Columns,
    ids: SlotSet,
    without_null: Vec<ColumnId>,
    depth: u32,
    /// What it looks at are no results of window functions.
    no_calls: HashMap<ColumnId, &'b WindowCall>,
}

impl Search<'_> {
    fn known(&self) -> Determined<'_> {
        Determined { block: self.block, columns: self.columns, ids: &self.ids, calls: &self.no_calls }
    }

    /// Equalities of ON. Those of an outer join determine columns of its inner side, if all that its ON reads of the outer side is determined:
    /// then it is the same for all rows of a group whether there is an inner row.
    fn by_joins(&mut self, tree: &FromTree) {
        let FromTree::Join { left, right, kind, on } = tree else { return };
        self.by_joins(left);
        self.by_joins(right);
        let inner = tables_of(right);
        let only = (*kind == JoinKind::Left).then_some(&inner[..]);
        if only.is_some() {
            let mut slots = SlotSet::default();
            on.iter().for_each(|expr| expr.collect_slots(&mut slots));
            let is_inner = |id: ColumnId| self.table_of(id).is_some_and(|table| inner.contains(&table));
            if !slots.iter().all(|id| is_inner(id) || self.known().contains(id)) {
                return;
            }
        }
        on.iter().for_each(|condition| self.by_equality(condition, only));
    }

    /// `only`: the tables of which columns may be determined, if not all.
    fn by_equality(&mut self, condition: &Expr, only: Option<&[usize]>) {
        let ExprKind::Compare { op: CompareOp::Eq, args } = &condition.kind else { return };
        for (left, right) in [(&args[0], &args[1]), (&args[1], &args[0])] {
            let Some(id) = left.as_column() else { continue };
            let table = self.table_of(id);
            if only.is_some_and(|only| table.is_none_or(|table| !only.contains(&table))) {
                continue;
            }
            if right.constancy() != Constancy::Volatile && self.known().has_all(right) {
                self.ids.insert(id);
            }
        }
    }

    fn table_of(&self, id: ColumnId) -> Option<usize> {
        Some(self.columns.place(id, &self.block.tables)?.0)
    }

    fn by_key(&mut self, table: TableId, base: &Table) {
        let def = &base.def;
        let is_determined = |column: usize| {
            let id = self.columns.find(table, column).filter(|id| self.ids.contains(*id));
            id.is_some_and(|id| !def.columns[column].nullable || self.without_null.contains(&id))
        };
        let determines = |index: &types::IndexDef| {
            index.unique && index.parts.iter().all(|part| part.prefix_chars.is_none() && is_determined(part.column))
        };
        if def.indexes.iter().any(determines) {
            self.columns.of_table(table).for_each(|(_, id)| _ = self.ids.insert(id));
        }
    }

    /// Columns of a subquery in FROM, by those of them that are determined.
    fn by_derived(&mut self, table: TableId, query: &BoundQuery) {
        let BoundBody::Block(inner) = &query.body else { return };
        let columns: Vec<(usize, ColumnId)> = self.columns.of_table(table).collect();
        let known = columns.iter().filter(|(_, id)| self.ids.contains(*id));
        let known: Vec<Expr> = known.filter_map(|(column, _)| inner.select.get(*column).cloned()).collect();
        if known.is_empty() || known.len() == columns.len() || self.depth == DEPTH_MAX {
            return;
        }
        let ids = determined_columns(inner, &known, self.columns, self.depth + 1);
        let determined = Determined { block: inner, columns: self.columns, ids: &ids, calls: &self.no_calls };
        let is_known = |expr: &Expr| determined.undetermined(expr, &known).is_none();
        // What is computed of a group is the group's.
        let is_one_group = inner.grouping.as_ref().is_some_and(|grouping| grouping.keys.iter().all(is_known));
        let is_grouped = inner.grouping.is_some();
        for (column, id) in columns {
            let Some(expr) = inner.select.get(column) else { continue };
            if is_one_group
                || !is_grouped && inner.windows.is_empty() && expr.constancy() != Constancy::Volatile && is_known(expr)
            {
                self.ids.insert(id);
            }
        }
    }
}

/// Adds the columns to `ids` of which a conjunct takes no row with NULL.
fn refuses_null(condition: &Expr, ids: &mut Vec<ColumnId>) {
    match &condition.kind {
        ExprKind::Column { slot, .. } => ids.push(*slot),
        ExprKind::Compare { op, args } if *op != CompareOp::NullSafeEq => {
            ids.extend(args.iter().filter_map(Expr::as_column));
        }
        ExprKind::Like { args, .. } => ids.extend(args.iter().filter_map(Expr::as_column)),
        ExprKind::Between { args } => ids.extend(args[0].as_column()),
        ExprKind::In { value, .. } => ids.extend(value.as_column()),
        ExprKind::IsTruth { arg, wanted: true } => refuses_null(arg, ids),
        ExprKind::And(parts) => parts.iter().for_each(|part| refuses_null(part, ids)),
        ExprKind::Not(arg) => match &arg.kind {
            ExprKind::IsNull(column) => ids.extend(column.as_column()),
            ExprKind::In { .. } | ExprKind::Like { .. } => refuses_null(arg, ids),
            _ => {}
        },
        _ => {}
    }
}

/// The same of the conditions of joins. What an outer join adds for a row has NULL in all columns of its inner side.
fn joins_refuse_null(tree: &FromTree, block: &Block, columns: &Columns, ids: &mut Vec<ColumnId>) {
    let FromTree::Join { left, right, kind, on } = tree else { return };
    joins_refuse_null(left, block, columns, ids);
    joins_refuse_null(right, block, columns, ids);
    let mut of_join = Vec::new();
    on.iter().for_each(|condition| refuses_null(condition, &mut of_join));
    if *kind == JoinKind::Left {
        let inner = tables_of(right);
        let table = |id: ColumnId| columns.place(id, &block.tables).map(|(table, _)| table);
        of_join.retain(|id| table(*id).is_some_and(|table| inner.contains(&table)));
    }
    ids.append(&mut of_join);
}

fn column_name(id: ColumnId, block: &Block, columns: &Columns) -> String {
    let Some((table, column)) = columns.place(id, &block.tables) else { return String::new() };
    let table = &block.tables[table];
    let schema = table.schema.as_deref().unwrap_or_default();
    let dot = if schema.is_empty() { "" } else { "." };
    format!("{schema}{dot}{}.{}", table.alias, table.columns[column].name)
}

fn not_grouped(list: &str, number: usize, name: &str, without_keys: bool) -> SqlError {
    if without_keys {
        let message = format!(
            "In aggregated query without GROUP BY, expression #{number} of {list} contains nonaggregated column '{name}'; \
             this is incompatible with sql_mode=only_full_group_by"
        );
        return SqlError::new(codes::MIX_OF_GROUP_FUNC_AND_FIELDS, message);
    }
    let message = format!(
        "Expression #{number} of {list} is not in GROUP BY clause and contains nonaggregated column '{name}' which is not \
         functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"
    );
    SqlError::new(codes::WRONG_FIELD_WITH_GROUP, message)
}
