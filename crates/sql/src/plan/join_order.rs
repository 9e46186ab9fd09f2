//! Join order: the order of the inner tables is searched, all orders for few tables, the cheapest next table for many.

use crate::bind::tree::OrderItem;
use crate::plan::access::Path;
use crate::plan::conditions::{Condition, TableSet};
use crate::plan::join::{JoinPlanner, PAIR_COST, Wanted};

/// Up to so many inner tables all orders are tried.
const SEARCH_TABLES_MAX: usize = 7;

impl JoinPlanner<'_> {
    /// In which order to join.
    pub(super) fn table_order(
        &self,
        tables: &[usize],
        conditions: &[Condition],
        available: TableSet,
        straight: bool,
        wanted: Wanted<'_>,
    ) -> Vec<usize> {
        if straight || self.block.straight_join || tables.len() < 2 {
            return tables.to_vec();
        }
        let mut search = Search { planner: self, conditions, best: (f64::INFINITY, tables.to_vec()), wanted };
        if tables.len() <= SEARCH_TABLES_MAX {
            search.all_orders(&mut Vec::new(), tables, available, 1.0, 0.0);
        } else {
            search.greedy(tables, available);
        }
        search.best.1
    }
}

/// The search for the cheapest order.
struct Search<'s> {
    planner: &'s JoinPlanner<'s>,
    conditions: &'s [Condition],
    best: (f64, Vec<usize>),
    wanted: Wanted<'s>,
}

impl Search<'_> {
    fn all_orders(&mut self, prefix: &mut Vec<usize>, left: &[usize], present: TableSet, rows: f64, cost: f64) {
        if cost >= self.best.0 {
            return;
        }
        if left.is_empty() {
            self.best = (cost + self.sort_cost(prefix, rows), prefix.clone());
            return;
        }
        let connected = self.connected(left, present);
        for (at, &table) in left.iter().enumerate().filter(|(at, _)| connected[*at]) {
            let (step_cost, next_rows) = self.step(table, present, rows);
            let mut rest = left.to_vec();
            rest.remove(at);
            prefix.push(table);
            self.all_orders(prefix, &rest, present.with(TableSet::one(table)), next_rows, cost + step_cost);
            prefix.pop();
        }
    }

    fn greedy(&mut self, tables: &[usize], mut present: TableSet) {
        let (mut order, mut left, mut rows) = (Vec::new(), tables.to_vec(), 1.0);
        while !left.is_empty() {
            let steps: Vec<(f64, f64)> = left.iter().map(|&table| self.step(table, present, rows)).collect();
            let rank = |at: &usize| steps[*at].0 + steps[*at].1;
            let connected = self.connected(&left, present);
            let Some(at) = (0..left.len()).filter(|at| connected[*at]).min_by(|a, b| rank(a).total_cmp(&rank(b)))
            else {
                break;
            };
            rows = steps[at].1;
            let table = left.remove(at);
            present = present.with(TableSet::one(table));
            order.push(table);
        }
        self.best = (0.0, order);
    }

    /// Which of the tables may come next: those that a condition joins to one that is there, if there is any such table. A join without a
    /// condition multiplies rows, which estimates without statistics take too lightly.
    fn connected(&self, left: &[usize], present: TableSet) -> Vec<bool> {
        let joins = |table: TableSet| {
            let here = present.with(table);
            self.conditions.iter().any(|condition| {
                let needs = condition.needs.tables;
                needs.is_within(here) && needs.meets(table) && needs.meets(present)
            })
        };
        let is_free = |&table: &usize| self.planner.laterals[table].is_within(present);
        let free: Vec<bool> = left.iter().map(is_free).collect();
        let is_connected = |(table, free): (&usize, &bool)| *free && joins(TableSet::one(*table));
        let connected: Vec<bool> = left.iter().zip(&free).map(is_connected).collect();
        if connected.contains(&true) { connected } else { free }
    }

    /// A small bonus for beginning with the table that gives the wanted order.
    fn sort_cost(&self, order: &[usize], rows: f64) -> f64 {
        let Some(&first) = order.first() else { return 0.0 };
        let of_first = |item: &OrderItem| self.planner.of(first).column(&item.expr);
        if self.wanted.order.iter().all(|item| of_first(item).is_some()) { 0.0 } else { 0.1 * rows }
    }

    /// What joining a table to so many rows costs, and how many come of it.
    fn step(&self, table: usize, present: TableSet, rows: f64) -> (f64, f64) {
        let here = present.with(TableSet::one(table));
        let local: Vec<&Condition> = self
            .conditions
            .iter()
            .filter(|c| c.needs.tables.is_within(here) && c.needs.tables.meets(TableSet::one(table)))
            .collect();
        let Some(facts) = &self.planner.facts[table] else {
            let own = self.planner.source_rows[table];
            let selectivity: f64 = local.iter().map(|condition| condition.selectivity()).product();
            return (own + rows * own * PAIR_COST, rows * own * selectivity);
        };
        let passing = |path: &Path| {
            let used = |condition: &&&Condition| {
                condition.asks.iter().any(|ask| path.access.parts.iter().any(|part| part.column == ask.column))
            };
            let rest = local.iter().filter(|condition| !used(condition)).map(|condition| condition.selectivity());
            path.rows * rest.product::<f64>()
        };
        let best = |paths: Vec<Path>| paths.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
        let lookup = best(facts.paths(table, &local, present));
        let scan = best(facts.paths(table, &local, TableSet::default()));
        let (Some(lookup), Some(scan)) = (lookup, scan) else { return (f64::INFINITY, rows) };
        let by_lookup = rows * lookup.cost;
        let by_scan = scan.cost + rows + scan.rows * PAIR_COST;
        (by_lookup.min(by_scan), (rows * passing(&lookup)).max(0.001))
    }
}
