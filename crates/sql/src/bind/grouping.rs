//! ONLY_FULL_GROUP_BY: what may stand beside GROUP BY and aggregates.
//!
//! A column may if its value is the same in all rows of a group: it is grouped by, or equal to a constant or to such a
//! column by a conjunct of WHERE, or belongs to a table whose primary key (or a unique key without NULL) is so determined.

use base::{SqlError, codes};
use engine::Table;

use crate::bind::Binder;
use crate::bind::frame::SlotSource;
use crate::bind::from::tables_of;
use crate::bind::tree::{Block, BoundBody, BoundQuery, FromTree, JoinKind, TableSource};
use crate::expr::{CompareOp, Constancy, Expr, ExprKind, SlotSet, SqlMode};

impl Binder<'_> {
    /// Refuses a block whose select list, HAVING or ORDER BY is not determined by its groups (1055, 1140).
    pub(crate) fn check_grouping(&mut self, block: &Block) -> Result<(), SqlError> {
        if !self.context.session.sql_mode.has(SqlMode::ONLY_FULL_GROUP_BY) {
            return Ok(());
        }
        let Some(grouping) = &block.grouping else { return self.check_distinct(block) };
        let determined = determined_slots(block, &grouping.keys, 0);
        let lists = [
            ("SELECT list", block.select.iter().collect::<Vec<_>>()),
            ("HAVING clause", block.having.iter().collect()),
        ];
        let order = ("ORDER BY clause", block.order.iter().map(|item| &item.expr).collect::<Vec<_>>());
        // Without keys there is one row, and no order.
        let order = (!grouping.keys.is_empty()).then_some(&order);
        for (list, exprs) in lists.iter().chain(order) {
            for (number, expr) in exprs.iter().enumerate() {
                self.worked(grouping.keys.len() + 1)?;
                if let Some(slot) = undetermined(expr, &grouping.keys, &determined, block) {
                    return Err(not_grouped(list, number + 1, slot, block, grouping.keys.is_empty()));
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
        block.select.iter().filter_map(Expr::as_column).for_each(|slot| _ = selected.insert(slot));
        let is_missing = |slot: &usize| {
            !selected.contains(*slot) && matches!(block.frame.slots[*slot].source, SlotSource::Column { .. })
        };
        for (number, item) in block.order.iter().enumerate() {
            let Some(slot) = item.expr.slots().iter().find(is_missing) else { continue };
            self.worked(block.select.len())?;
            if !block.select.contains(&item.expr) {
                let message = format!(
                    "Expression #{} of ORDER BY clause is not in SELECT list, references column '{}' which is not in SELECT \
                     list; this is incompatible with DISTINCT",
                    number + 1,
                    slot_name(slot, block)
                );
                return Err(SqlError::new(codes::FIELD_IN_ORDER_NOT_SELECT, message));
            }
        }
        Ok(())
    }
}

/// The first slot of an expression that differs within a group. ANY_VALUE is for that.
fn undetermined(expr: &Expr, keys: &[Expr], determined: &[bool], block: &Block) -> Option<usize> {
    let is_any_value = matches!(&expr.kind, ExprKind::Call { function, .. } if function.name() == "any_value");
    if is_any_value {
        return None;
    }
    // Keys that are columns are among what is determined.
    if let ExprKind::Column { slot, .. } = expr.kind {
        return (!slot_is_determined(slot, determined, block)).then_some(slot);
    }
    if keys.contains(expr) {
        return None;
    }
    let mut found = None;
    expr.for_each_child(&mut |child| found = found.or_else(|| undetermined(child, keys, determined, block)));
    found
}

fn slot_is_determined(slot: usize, determined: &[bool], block: &Block) -> bool {
    match block.frame.slots[slot].source {
        SlotSource::Column { .. } | SlotSource::RowImage { .. } => determined[slot],
        // A correlated subquery is determined if what it reads is; the executor runs it with the group's first row.
        _ => true,
    }
}

/// Subqueries in FROM that stand in one another are looked into so far: each is looked into several times.
const DEPTH_MAX: u32 = 4;

/// For each slot, whether the group keys determine it.
fn determined_slots(block: &Block, keys: &[Expr], depth: u32) -> Vec<bool> {
    let mut without_null = Vec::new();
    block.filter.iter().for_each(|condition| refuses_null(condition, &mut without_null));
    block.from.iter().for_each(|from| joins_refuse_null(from, block, &mut without_null));
    let mut determined = vec![false; block.frame.width()];
    for slot in keys.iter().filter_map(Expr::as_column) {
        determined[slot] = true;
    }
    let mut changed = true;
    while changed {
        let before = determined.clone();
        for condition in &block.filter {
            determine_by_equality(condition, &mut determined, block, None);
        }
        if let Some(from) = &block.from {
            determine_by_joins(from, &mut determined, block);
        }
        for table in 0..block.tables.len() {
            match &block.tables[table].source {
                TableSource::Base(base) => determine_by_key(table, base, &mut determined, &without_null, block),
                TableSource::Derived(query) => determine_derived(table, query, &mut determined, block, depth),
                TableSource::Virtual(_) => {}
            }
        }
        changed = before != determined;
    }
    determined
}

/// Equalities of ON. Those of an outer join determine columns of its inner side, if all that its ON reads of the outer side is determined:
/// then it is the same for all rows of a group whether there is an inner row.
fn determine_by_joins(tree: &FromTree, determined: &mut [bool], block: &Block) {
    let FromTree::Join { left, right, kind, on } = tree else { return };
    determine_by_joins(left, determined, block);
    determine_by_joins(right, determined, block);
    let inner = tables_of(right);
    let only = (*kind == JoinKind::Left).then_some(&inner[..]);
    if only.is_some() {
        let mut slots = SlotSet::default();
        on.iter().for_each(|expr| expr.collect_slots(&mut slots));
        let is_inner = |slot: usize| matches!(block.frame.slots[slot].source, SlotSource::Column { table, .. } if inner.contains(&table));
        if !slots.iter().all(|slot| is_inner(slot) || slot_is_determined(slot, determined, block)) {
            return;
        }
    }
    on.iter().for_each(|condition| determine_by_equality(condition, determined, block, only));
}

/// `only`: the tables of which columns may be determined, if not all.
fn determine_by_equality(condition: &Expr, determined: &mut [bool], block: &Block, only: Option<&[usize]>) {
    let ExprKind::Compare { op: CompareOp::Eq, args } = &condition.kind else { return };
    for (left, right) in [(&args[0], &args[1]), (&args[1], &args[0])] {
        let Some(slot) = left.as_column() else { continue };
        let table = match block.frame.slots[slot].source {
            SlotSource::Column { table, .. } => Some(table),
            _ => None,
        };
        if only.is_some_and(|only| table.is_none_or(|table| !only.contains(&table))) {
            continue;
        }
        if right.constancy() != Constancy::Volatile
            && right.slots().iter().all(|slot| slot_is_determined(slot, determined, block))
        {
            determined[slot] = true;
        }
    }
}

fn determine_by_key(table: usize, base: &Table, determined: &mut [bool], without_null: &[usize], block: &Block) {
    let slot_of = |column: usize| block.frame.find(SlotSource::Column { table, column });
    let def = &base.def;
    let is_determined = |column: usize| {
        slot_of(column)
            .is_some_and(|slot| determined[slot] && (!def.columns[column].nullable || without_null.contains(&slot)))
    };
    let determines = |index: &types::IndexDef| {
        index.unique && index.parts.iter().all(|part| part.prefix_chars.is_none() && is_determined(part.column))
    };
    if def.indexes.iter().any(determines) {
        for (_, slot) in block.frame.columns_of(table) {
            determined[slot] = true;
        }
    }
}

/// Columns of a subquery in FROM, by those of them that are determined.
fn determine_derived(table: usize, query: &BoundQuery, determined: &mut [bool], block: &Block, depth: u32) {
    let BoundBody::Block(inner) = &query.body else { return };
    let columns = block.frame.columns_of(table);
    let known: Vec<Expr> = columns
        .iter()
        .filter(|(_, slot)| determined[*slot])
        .filter_map(|(column, _)| inner.select.get(*column).cloned())
        .collect();
    if known.is_empty() || known.len() == columns.len() || depth == DEPTH_MAX {
        return;
    }
    let known_slots = determined_slots(inner, &known, depth + 1);
    let is_known = |expr: &Expr| undetermined(expr, &known, &known_slots, inner).is_none();
    // What is computed of a group is the group's.
    let is_one_group = inner.grouping.as_ref().is_some_and(|grouping| grouping.keys.iter().all(is_known));
    let is_grouped = inner.grouping.is_some();
    for (column, slot) in columns {
        let Some(expr) = inner.select.get(column) else { continue };
        determined[slot] |= is_one_group || !is_grouped && expr.constancy() != Constancy::Volatile && is_known(expr);
    }
}

/// Adds the columns to `slots` of which a conjunct takes no row with NULL.
fn refuses_null(condition: &Expr, slots: &mut Vec<usize>) {
    match &condition.kind {
        ExprKind::Column { slot, .. } => slots.push(*slot),
        ExprKind::Compare { op, args } if *op != CompareOp::NullSafeEq => {
            slots.extend(args.iter().filter_map(Expr::as_column));
        }
        ExprKind::Like { args, .. } => slots.extend(args.iter().filter_map(Expr::as_column)),
        ExprKind::Between { args } => slots.extend(args[0].as_column()),
        ExprKind::In { value, .. } => slots.extend(value.as_column()),
        ExprKind::IsTruth { arg, wanted: true } => refuses_null(arg, slots),
        ExprKind::And(parts) => parts.iter().for_each(|part| refuses_null(part, slots)),
        ExprKind::Not(arg) => match &arg.kind {
            ExprKind::IsNull(column) => slots.extend(column.as_column()),
            ExprKind::In { .. } | ExprKind::Like { .. } => refuses_null(arg, slots),
            _ => {}
        },
        _ => {}
    }
}

/// The same of the conditions of joins. What an outer join adds for a row has NULL in all columns of its inner side.
fn joins_refuse_null(tree: &FromTree, block: &Block, slots: &mut Vec<usize>) {
    let FromTree::Join { left, right, kind, on } = tree else { return };
    joins_refuse_null(left, block, slots);
    joins_refuse_null(right, block, slots);
    let mut of_join = Vec::new();
    on.iter().for_each(|condition| refuses_null(condition, &mut of_join));
    if *kind == JoinKind::Left {
        let inner = tables_of(right);
        of_join.retain(|slot| matches!(block.frame.slots[*slot].source, SlotSource::Column { table, .. } if inner.contains(&table)));
    }
    slots.append(&mut of_join);
}

fn slot_name(slot: usize, block: &Block) -> String {
    let SlotSource::Column { table, column } = block.frame.slots[slot].source else { return String::new() };
    let table = &block.tables[table];
    let schema = table.schema.as_deref().unwrap_or_default();
    let dot = if schema.is_empty() { "" } else { "." };
    format!("{schema}{dot}{}.{}", table.alias, table.columns[column].name)
}

fn not_grouped(list: &str, number: usize, slot: usize, block: &Block, without_keys: bool) -> SqlError {
    let name = slot_name(slot, block);
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
