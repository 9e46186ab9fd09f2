//! EXPLAIN ANALYZE: makes of a plan one that counts what each of its nodes does.
//!
//! A node around each node counts it ([`Node::Measured`]). What filters rows while it reads them would not say how many it has read, so its
//! conditions become a node of their own, except where they are more than a filter: rows that are locked are given up by them, and tables that
//! the server makes are made for them.

use std::sync::Arc;

use crate::dml::InsertSource;
use crate::exec::measured::{Counters, only_counts};
use crate::expr::Expr;
use crate::plan::PlanKind;
use crate::plan::explain::names::find;
use crate::plan::explain::table::is_implied;
use crate::plan::node::{
    AccessNode, BlockPlan, MeasuredNode, Node, PlannedSource, PlannedTable, QueryBody, QueryPlan, SetCounters,
    SlotSource,
};

/// Makes a statement's plan one that is measured: everything that is counted in it.
pub(super) fn measure(kind: &mut PlanKind) -> Vec<Arc<Counters>> {
    let mut measure = Measure { all: Vec::new() };
    match kind {
        PlanKind::Query(query) => measure.query(query, false),
        PlanKind::Update(update) => measure.block(&mut update.block),
        PlanKind::Delete(delete) => measure.block(&mut delete.block),
        PlanKind::Insert(insert) => {
            if let InsertSource::Query { plan, .. } = &mut insert.source {
                measure.query(plan, false);
            }
        }
        PlanKind::Load(_) | PlanKind::Rows(_) | PlanKind::Do(_) | PlanKind::Explain(_) => {}
    }
    measure.all
}

/// What there is to know of a block.
#[derive(Clone, Copy)]
struct Of<'a> {
    tables: &'a [PlannedTable],
    slots: &'a [SlotSource],
    /// It only counts rows, and reads none.
    is_count: bool,
}

struct Measure {
    all: Vec<Arc<Counters>>,
}

impl Measure {
    fn counters(&mut self) -> Arc<Counters> {
        let counters = Arc::<Counters>::default();
        self.all.push(counters.clone());
        counters
    }

    /// `is_made`: its rows are a table's.
    fn query(&mut self, query: &mut QueryPlan, is_made: bool) {
        match &mut query.body {
            QueryBody::Block(block) => self.block(block),
            QueryBody::Set(set) => {
                let [rows, sorted, limited] = std::array::from_fn(|_| self.counters());
                set.counters = Some(Box::new(SetCounters { rows, sorted, limited }));
                set.branches.iter_mut().for_each(|branch| self.query(branch, false));
            }
            QueryBody::Values(_) => {}
        }
        if is_made || matches!(query.body, QueryBody::Values(_)) {
            query.counters = Some(self.counters());
        }
    }

    fn block(&mut self, block: &mut BlockPlan) {
        let aggregate = find(&block.root, &|node| match node {
            Node::Aggregate(aggregate) => Some(&**aggregate),
            _ => None,
        });
        let is_count = aggregate.is_some_and(|aggregate| only_counts(block, aggregate));
        let of = Of { tables: &block.tables, slots: &block.slots, is_count };
        self.node(&mut block.root, of);
        let subqueries = block.subqueries.iter_mut().filter_map(|subquery| subquery.query.as_mut());
        subqueries.for_each(|query| self.query(query, false));
        for table in &mut block.tables {
            if let PlannedSource::Derived(query, _) = &mut table.source {
                self.query(query, true);
            }
        }
    }

    fn node(&mut self, node: &mut Node, of: Of<'_>) {
        match node {
            Node::One | Node::Nothing(_) | Node::Measured(_) => {}
            Node::Access(access) => {
                let conditions = parted(access, of);
                if !conditions.is_empty() {
                    self.put_around(node);
                    let input = Box::new(std::mem::replace(node, Node::One));
                    *node = Node::Filter { input, conditions };
                }
            }
            Node::Join(join) => {
                self.node(&mut join.outer, of);
                self.node(&mut join.inner, of);
            }
            // These two are no operators to who reads the plan: what they do is shown where it is used.
            Node::Apply { input, .. } | Node::Compute { input, .. } => return self.node(input, of),
            Node::Filter { input, .. }
            | Node::Distinct { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. } => self.node(input, of),
            Node::Aggregate(_) if of.is_count => {}
            Node::Aggregate(aggregate) => self.node(&mut aggregate.input, of),
            Node::Window(window) => self.node(&mut window.input, of),
        }
        self.put_around(node);
    }

    fn put_around(&mut self, node: &mut Node) {
        let inside = std::mem::replace(node, Node::One);
        *node = Node::Measured(Box::new(MeasuredNode { node: inside, counters: self.counters() }));
    }
}

/// Takes the conditions of an access away that may be checked behind it, but for those that its look-up makes true.
fn parted(access: &mut AccessNode, Of { tables, slots, .. }: Of<'_>) -> Vec<Expr> {
    if access.lock.is_some() || matches!(tables[access.table].source, PlannedSource::Virtual(_)) {
        return Vec::new();
    }
    let all = std::mem::take(&mut access.filter);
    let (implied, others) = all.into_iter().partition(|condition| is_implied(condition, access, slots));
    access.filter = implied;
    others
}
