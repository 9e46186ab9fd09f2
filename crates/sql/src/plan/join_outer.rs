//! Outer joins, semijoins and antijoins: what hangs on the rows of a nest.
//!
//! One table is joined as any other. Several are joined anew for each row before them, if the first of them is looked up with its values; else they are
//! joined by themselves, once, and hashed by the equalities between them and those rows.

use base::SqlError;

use crate::expr::{CompareOp, Expr, build};
use crate::plan::access::Interval;
use crate::plan::conditions::{Condition, TableSet, local_to};
use crate::plan::join::{JoinPlanner, Joined, Wanted, take};
use crate::plan::nest::{Nest, OuterJoin};
use crate::plan::node::{AccessMethod, HashKey, JoinMethod, JoinNode, Node};

/// A nest that is joined by itself, the keys of a hash join with it, and what else makes a match.
type HashedNest = (Node, Vec<HashKey>, Vec<Expr>);

/// For so few rows several tables are joined anew for each.
const HASHED_NEST_ROWS: f64 = 10.0;

impl JoinPlanner<'_> {
    /// Whether there are tables to be joined yet, and no more rows come of them all than are there: what only asks whether a row has a match is then
    /// asked of fewer rows, behind them.
    pub(super) fn leave_few(&self, tables: &[usize], conditions: &[Condition], present: TableSet) -> bool {
        let (mut there, mut rows) = (present, 1.0);
        for &table in tables {
            rows *= self.matching(table, &local_to(table, conditions, there), there);
            there = there.with(TableSet::one(table));
        }
        !tables.is_empty() && rows <= 1.0
    }

    /// Joins what is on the inner side of such a join.
    pub(super) fn join_outer(&self, before: Joined, outer: OuterJoin, present: TableSet) -> Result<Joined, SqlError> {
        let mut nest = outer.nest;
        let inner_slots = self.given_by(outer.tables);
        if let ([table], true) = (&nest.tables[..], nest.outer.is_empty()) {
            let table = *table;
            let here = TableSet::one(table);
            let conditions = std::mem::take(&mut nest.conditions);
            let simple = conditions.iter().all(|condition| condition.needs.subqueries.is_empty());
            if simple {
                return Ok(self.join_one(before, table, conditions, present, here, outer.rows));
            }
            nest.conditions = conditions;
        }
        let hashed = self.hashed_nest(&nest, outer.tables, &before)?;
        let inner = self.plan(nest, present, Wanted { order: &[], rows: None })?;
        let rows = before.rows * outer.rows.of_one(inner.rows);
        let (inner, method, conditions, ordered) = match hashed {
            Some((once, keys, rest)) if !looks_up(&inner.node, present, self) || reads_much(&inner.node) => {
                (once, JoinMethod::Hash(keys), rest, false)
            }
            _ => (inner.node, JoinMethod::NestedLoop, Vec::new(), before.ordered),
        };
        let node = JoinNode {
            outer: before.node,
            inner,
            rows: outer.rows,
            method,
            conditions,
            inner_slots,
            expected_rows: rows,
        };
        Ok(Joined { node: Node::Join(Box::new(node)), rows, ordered, scanned: 0.0 })
    }

    /// A nest that is joined by itself, with the equalities between it and the rows before, and the other conditions on both; `None` if there are
    /// no such equalities, or it cannot be joined by itself.
    fn hashed_nest(&self, nest: &Nest, tables: TableSet, before: &Joined) -> Result<Option<HashedNest>, SqlError> {
        let is_own = |condition: &Condition| condition.needs.tables.is_within(tables);
        let has_subqueries = nest.conditions.iter().any(|condition| !condition.needs.subqueries.is_empty());
        if before.rows < HASHED_NEST_ROWS || has_subqueries || nest.tables.is_empty() {
            return Ok(None);
        }
        let mut alone = nest.clone();
        let cross = take(&mut alone.conditions, |condition| !is_own(condition));
        if alone.needs() != TableSet::default() {
            return Ok(None);
        }
        let (keys, rest) = self.hash_keys(cross, tables);
        if keys.is_empty() {
            return Ok(None);
        }
        // What is equal to the same value before is equal to each other.
        for (number, key) in keys.iter().enumerate() {
            for other in keys[..number].iter().filter(|other| other.outer == key.outer) {
                let equal = build::compare(CompareOp::Eq, other.inner.clone(), key.inner.clone())?;
                alone.conditions.push(Condition::new(equal, &self.dependencies, tables));
            }
        }
        if !is_connected(&alone) {
            return Ok(None);
        }
        let inner = self.plan(alone, TableSet::default(), Wanted { order: &[], rows: None })?;
        Ok(Some((inner.node, keys, rest.into_iter().map(|condition| condition.expr).collect())))
    }
}

/// Whether conditions join all tables of a nest: no product is made for a hash join.
fn is_connected(nest: &Nest) -> bool {
    let own = TableSet::of(nest.tables.iter().copied());
    let Some(first) = nest.tables.first() else { return true };
    let mut reached = TableSet::one(*first);
    loop {
        let joined = nest.conditions.iter().map(|condition| TableSet(condition.needs.tables.0 & own.0));
        let more = joined.filter(|tables| tables.meets(reached)).fold(reached, TableSet::with);
        if more == reached {
            return own.is_within(reached);
        }
        reached = more;
    }
}

/// Whether more than look-ups is done each time that a node is opened.
fn reads_much(node: &Node) -> bool {
    match node {
        Node::One | Node::Nothing(_) => false,
        Node::Access(access) => match &access.method {
            AccessMethod::Index(index, _) => index.parts.is_empty(),
            AccessMethod::All { .. } => true,
        },
        Node::Join(join) => {
            !matches!(join.method, JoinMethod::NestedLoop) || reads_much(&join.outer) || reads_much(&join.inner)
        }
        Node::Filter { input, .. } | Node::Apply { input, .. } => reads_much(input),
        _ => true,
    }
}

/// Whether the first table of a node is looked up with values of the tables that are there.
fn looks_up(node: &Node, present: TableSet, planner: &JoinPlanner<'_>) -> bool {
    match node {
        Node::Access(access) => match &access.method {
            AccessMethod::Index(index, _) => {
                let exprs = index.parts.iter().flat_map(|part| &part.intervals).flat_map(Interval::exprs);
                exprs.map(|expr| planner.dependencies.of(expr).tables).any(|needs| needs.meets(present))
            }
            AccessMethod::All { .. } => !planner.laterals[access.table].is_empty(),
        },
        Node::Join(join) => looks_up(&join.outer, present, planner),
        Node::Filter { input, .. } | Node::Apply { input, .. } => looks_up(input, present, planner),
        // Nothing is read.
        Node::One | Node::Nothing(_) => true,
        Node::Aggregate(_)
        | Node::Distinct { .. }
        | Node::Compute { .. }
        | Node::Window(_)
        | Node::Sort { .. }
        | Node::Limit { .. }
        | Node::Measured(_) => false,
    }
}
