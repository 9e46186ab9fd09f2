//! FROM and WHERE as a *nest*: tables that are joined inner, in any order, and outer joins, semijoins and antijoins that hang on them, each with a
//! nest of its own.

use crate::bind::from::tables_of;
use crate::bind::tree::{FromTree, JoinKind};
use crate::plan::conditions::{Condition, Dependencies, TableSet};
use crate::plan::node::JoinRows;

/// Tables that are joined inner, and what is joined to them by LEFT JOIN.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nest {
    pub(crate) tables: Vec<usize>,
    pub(crate) outer: Vec<OuterJoin>,
    pub(crate) conditions: Vec<Condition>,
    /// The order of the text has to be kept.
    pub(crate) straight: bool,
    /// Tables that LATERAL subqueries among them read.
    laterals: TableSet,
}

/// The right side of a LEFT JOIN, a semijoin or an antijoin; its ON is among the conditions of its nest.
#[derive(Clone, Debug)]
pub(crate) struct OuterJoin {
    /// Which rows the join gives.
    pub(crate) rows: JoinRows,
    pub(crate) nest: Nest,
    pub(crate) tables: TableSet,
}

impl Nest {
    pub(crate) fn all_tables(&self) -> TableSet {
        let own = TableSet::of(self.tables.iter().copied());
        self.outer.iter().fold(own, |set, outer| set.with(outer.tables))
    }

    /// Tables outside that an outer join's nest looks at.
    pub(crate) fn needs(&self) -> TableSet {
        let own = self.all_tables();
        let conditions = self.conditions.iter().map(|condition| condition.needs.tables);
        let inner = self.outer.iter().map(|outer| outer.nest.needs());
        conditions.chain(inner).fold(self.laterals, TableSet::with).without(own)
    }
}

/// What a join gives whose right side hangs on its left side.
fn rows_of(kind: JoinKind) -> Option<JoinRows> {
    match kind {
        JoinKind::Inner | JoinKind::Straight => None,
        JoinKind::Left => Some(JoinRows::Left),
        JoinKind::Semi => Some(JoinRows::Semi),
        JoinKind::Anti => Some(JoinRows::Anti),
    }
}

/// Makes a nest of a part of FROM.
pub(crate) fn flatten(tree: FromTree, dependencies: &Dependencies<'_>) -> Nest {
    match tree {
        FromTree::Table(table) => {
            let laterals = dependencies.of_table(table);
            Nest { tables: vec![table], laterals, ..Nest::default() }
        }
        FromTree::Join { left, right, kind, on } => {
            let mut nest = flatten(*left, dependencies);
            let right_tables = tables_of(&right);
            let both = nest.all_tables().with(TableSet::of(right_tables.iter().copied()));
            let on = on.into_iter().map(|expr| Condition::new(expr, dependencies, both));
            let mut inner = flatten(*right, dependencies);
            if let Some(rows) = rows_of(kind) {
                inner.conditions.extend(on);
                let tables = TableSet::of(right_tables);
                nest.outer.push(OuterJoin { nest: inner, tables, rows });
            } else {
                nest.tables.append(&mut inner.tables);
                nest.outer.append(&mut inner.outer);
                nest.conditions.append(&mut inner.conditions);
                nest.conditions.extend(on);
                nest.laterals = nest.laterals.with(inner.laterals);
                nest.straight |= inner.straight || kind == JoinKind::Straight;
            }
            nest
        }
    }
}
