//! Join order: which table comes after which.
//!
//! Trees of joins are deep to the left, so an order is a list of tables. Dynamic programming over sets of tables finds the cheapest: for each set the
//! cheapest way to join it is kept, and made longer by each table that a condition joins to it. A table without such a condition comes
//! only where no other is left: a product multiplies rows, whatever the estimates say.
//!
//! What the next table costs depends on the tables before it only as far as conditions join them, and is computed once for each such set. Beyond
//! [`SEARCH_TABLES_MAX`] tables, or [`STEPS_MAX`] steps, the order is *greedy*: from each of some first tables on the cheapest next one, and of
//! these orders the cheapest.
//!
//! How many rows a set of tables gives does not depend on the order in which they are joined.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::bind::columns::TableId;
use crate::bind::hints::OrderPart;
use crate::bind::tree::OrderItem;
use crate::plan::access::Path;
use crate::plan::conditions::{Condition, TableSet, local_to};
use crate::plan::join::{HASHED_COST, JoinPlanner, MATCH_COST, PAIR_COST, PROBE_COST, Wanted, scan_saved};

/// Up to so many tables all sets are looked at.
const SEARCH_TABLES_MAX: usize = 12;
/// So many times a table may be added to a set: a millisecond's work.
const STEPS_MAX: usize = 20_000;
/// A greedy order is tried with so many first tables.
const GREEDY_STARTS: usize = 8;

impl JoinPlanner<'_> {
    /// In which order to join.
    pub(super) fn table_order(
        &self,
        (tables, laterals): (&[usize], Vec<TableSet>),
        conditions: &[Condition],
        available: TableSet,
        straight: bool,
        wanted: Wanted<'_>,
    ) -> Vec<usize> {
        if straight || self.block.straight_join || tables.len() < 2 {
            return tables.to_vec();
        }
        let laterals = self.with_hinted_orders(tables, laterals, available);
        let search = Search { laterals, ..Search::new(self, tables, conditions, available, wanted) };
        search.cheapest().unwrap_or_else(|| {
            self.is_greedy.set(true);
            search.greedy()
        })
    }
}

impl JoinPlanner<'_> {
    /// Which tables have to be there before each: those of LATERAL, and what hints ask for as far as it is possible.
    fn with_hinted_orders(&self, tables: &[usize], laterals: Vec<TableSet>, available: TableSet) -> Vec<TableSet> {
        let mut before = laterals;
        for order in &self.block.hints.orders {
            let number = |id: &TableId| self.block.tables.iter().position(|table| table.id == *id);
            let named = order.tables.iter().filter_map(number).filter(|number| tables.contains(number));
            let named: Vec<usize> = named.collect();
            let all = TableSet::of(named.iter().copied());
            let others = TableSet::of(tables.iter().copied()).without(all);
            let mut changed = before.clone();
            for (place, table) in tables.iter().enumerate() {
                let needed = match named.iter().position(|other| other == table) {
                    Some(at) => {
                        let earlier = TableSet::of(named[..at].iter().copied());
                        if order.part == OrderPart::Last { earlier.with(others) } else { earlier }
                    }
                    None if order.part == OrderPart::First => all,
                    None => TableSet::default(),
                };
                changed[place] = changed[place].with(needed);
            }
            if is_possible(tables, &changed, available) {
                before = changed;
            }
        }
        before
    }
}

/// Whether there is an order in which each table comes behind those that it needs.
fn is_possible(tables: &[usize], before: &[TableSet], available: TableSet) -> bool {
    let mut present = available;
    let mut left: Vec<usize> = (0..tables.len()).collect();
    loop {
        let (ready, rest): (Vec<usize>, Vec<usize>) = left.iter().partition(|place| before[**place].is_within(present));
        if ready.is_empty() {
            return rest.is_empty();
        }
        present = present.with(TableSet::of(ready.iter().map(|place| tables[*place])));
        left = rest;
    }
}

/// The search for the cheapest order.
struct Search<'s> {
    planner: &'s JoinPlanner<'s>,
    tables: &'s [usize],
    conditions: &'s [Condition],
    available: TableSet,
    wanted: Wanted<'s>,
    /// Per table of `tables`, those that conditions join it to.
    neighbours: Vec<TableSet>,
    /// Per table of `tables`, those of them that have to be there before it.
    laterals: Vec<TableSet>,
    /// By table of `tables` and its neighbours that are there.
    steps: RefCell<HashMap<(usize, TableSet), Step>>,
}

/// What one more table costs.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Reading it, putting its rows into a table, and looking there for each row.
    scan: f64,
    keep: f64,
    each: f64,
    /// It is joined by hash.
    is_hashed: bool,
    /// As the first table it is read by a scan that can leave rows out.
    is_scan: bool,
    by_lookup: Option<f64>,
    /// Rows that come of one.
    rows: f64,
}

/// The cheapest way to join a set of tables.
#[derive(Clone, Copy, Debug)]
struct Best {
    cost: f64,
    rows: f64,
    /// Rows of the first table's scan that are left, if it can leave some out; see [`scan_saved`].
    scanned: f64,
    last: usize,
}

impl Best {
    /// No table.
    const NOTHING: Best = Best { cost: 0.0, rows: 1.0, scanned: 0.0, last: 0 };
}

impl<'s> Search<'s> {
    fn new(
        planner: &'s JoinPlanner<'s>,
        tables: &'s [usize],
        conditions: &'s [Condition],
        available: TableSet,
        wanted: Wanted<'s>,
    ) -> Self {
        let all = available.with(TableSet::of(tables.iter().copied()));
        let of = |table: &usize| {
            let own = TableSet::one(*table);
            let joined = conditions.iter().map(|condition| condition.needs.tables);
            let joined = joined.filter(|needs| needs.meets(own) && needs.is_within(all));
            joined.fold(TableSet::default(), TableSet::with).without(own)
        };
        let neighbours = tables.iter().map(of).collect();
        Search {
            planner,
            tables,
            conditions,
            available,
            wanted,
            neighbours,
            laterals: Vec::new(),
            steps: RefCell::default(),
        }
    }

    /// All of a set of places in `tables`, as tables of the block.
    fn present(&self, places: usize) -> TableSet {
        let there = (0..self.tables.len()).filter(|place| places & 1 << place != 0);
        self.available.with(TableSet::of(there.map(|place| self.tables[place])))
    }

    /// Whether it reads tables before it.
    fn is_lateral(&self, place: usize) -> bool {
        !self.planner.laterals[self.tables[place]].is_empty()
    }

    fn is_free(&self, place: usize, present: TableSet) -> bool {
        self.laterals[place].is_within(present)
    }

    /// Which tables may come next: those that a condition joins to one that is there, if there is any such table.
    fn next(&self, places: usize, present: TableSet) -> usize {
        let left = (0..self.tables.len()).filter(|place| places & 1 << place == 0);
        let (mut all, mut joined) = (0, 0);
        for place in left.filter(|place| self.is_free(*place, present)) {
            all |= 1 << place;
            let table = TableSet::one(self.tables[place]);
            let here = present.with(table);
            let joins = self.neighbours[place].meets(present)
                && self.conditions.iter().any(|condition| {
                    let needs = condition.needs.tables;
                    needs.is_within(here) && needs.meets(table) && needs.meets(present)
                });
            if joins || self.is_lateral(place) {
                joined |= 1 << place;
            }
        }
        if joined != 0 { joined } else { all }
    }

    /// The cheapest order; `None` if finding it takes too long.
    fn cheapest(&self) -> Option<Vec<usize>> {
        let count = self.tables.len();
        if count > SEARCH_TABLES_MAX {
            return None;
        }
        let mut steps = 0;
        let any = self.best_after((1 << count) - 1, &mut steps)?;
        let ordered = self.giving_order();
        if ordered == 0 || self.wanted.order.is_empty() {
            return Some(any.1);
        }
        // Rows in another order have to be sorted.
        let first = self.best_after(ordered, &mut steps)?;
        let sort = 0.1 * any.0.rows;
        Some(if first.0.cost <= any.0.cost + sort { first.1 } else { any.1 })
    }

    /// The tables whose columns are all that the wanted order is of.
    fn giving_order(&self) -> usize {
        let gives = |table: usize| {
            let of_table = |item: &OrderItem| self.planner.of(table).column(&item.expr);
            self.wanted.order.iter().all(|item| of_table(item).is_some())
        };
        let may_be_first = |place: &usize| gives(self.tables[*place]) && self.is_free(*place, self.available);
        (0..self.tables.len()).filter(may_be_first).fold(0, |set, place| set | 1 << place)
    }

    /// The cheapest order that begins with one of some tables.
    fn best_after(&self, first: usize, steps: &mut usize) -> Option<(Best, Vec<usize>)> {
        let count = self.tables.len();
        let all = (1 << count) - 1;
        let mut best: Vec<Option<Best>> = vec![None; 1 << count];
        for places in 0..all {
            let before = match best[places] {
                _ if places == 0 => Best::NOTHING,
                Some(known) => known,
                None => continue,
            };
            let present = self.present(places);
            let mut next = self.next(places, present);
            if places == 0 {
                let free =
                    (0..count).filter(|place| self.is_free(*place, present)).fold(0, |set, place| set | 1 << place);
                next = if next & first != 0 { next & first } else { first & free };
            }
            for place in (0..count).filter(|place| next & 1 << place != 0) {
                *steps += 1;
                if *steps > STEPS_MAX {
                    return None;
                }
                let next = self.step(place, present, before, places == 0);
                let longer = &mut best[places | 1 << place];
                match longer {
                    Some(known) if known.cost <= next.cost => {}
                    // How many rows a set gives is the same, but for roundings.
                    Some(known) => *known = Best { rows: known.rows, ..next },
                    None => *longer = Some(next),
                }
            }
        }
        let whole = best[all]?;
        let mut order = Vec::with_capacity(count);
        let mut places = all;
        while places != 0 {
            let last = best[places]?.last;
            order.push(self.tables[last]);
            places &= !(1 << last);
        }
        order.reverse();
        Some((whole, order))
    }

    /// A good order, found step by step.
    fn greedy(&self) -> Vec<usize> {
        let count = self.tables.len();
        let mut starts: Vec<usize> = (0..count).filter(|place| self.is_free(*place, self.available)).collect();
        let begin = |place: &usize| self.step(*place, self.available, Best::NOTHING, true);
        starts.sort_by(|a, b| begin(a).rows.total_cmp(&begin(b).rows));
        let orders = starts.into_iter().take(GREEDY_STARTS).map(|first| self.greedy_after(first));
        let cheapest = orders.min_by(|a, b| a.0.total_cmp(&b.0));
        cheapest.map_or_else(|| self.tables.to_vec(), |(_, order)| order)
    }

    fn greedy_after(&self, first: usize) -> (f64, Vec<usize>) {
        let mut before = self.step(first, self.available, Best::NOTHING, true);
        let mut order = vec![self.tables[first]];
        let mut present = self.available.with(TableSet::one(self.tables[first]));
        let mut left: Vec<usize> = (0..self.tables.len()).filter(|place| *place != first).collect();
        while !left.is_empty() {
            let free: Vec<usize> = left.iter().copied().filter(|place| self.is_free(*place, present)).collect();
            let is_joined = |place: &usize| self.neighbours[*place].meets(present) || self.is_lateral(*place);
            let joined: Vec<usize> = free.iter().copied().filter(is_joined).collect();
            let candidates = if joined.is_empty() { &free } else { &joined };
            let steps = candidates.iter().map(|&place| self.step(place, present, before, false));
            // What is cheap now, and leaves little to do.
            let Some(next) = steps.min_by(|a, b| (a.cost + a.rows).total_cmp(&(b.cost + b.rows))) else { break };
            let place = next.last;
            before = next;
            order.push(self.tables[place]);
            present = present.with(TableSet::one(self.tables[place]));
            left.retain(|other| *other != place);
        }
        (before.cost, order)
    }

    /// What comes of joining one more table.
    fn step(&self, place: usize, present: TableSet, before: Best, first: bool) -> Best {
        let there = TableSet(self.neighbours[place].0 & present.0);
        let known = self.steps.borrow().get(&(place, there)).copied();
        let step = known.unwrap_or_else(|| {
            let step = self.step_after(place, there);
            self.steps.borrow_mut().insert((place, there), step);
            step
        });
        let rows = (before.rows * step.rows).max(0.001);
        let by_lookup = step.by_lookup.map_or(f64::INFINITY, |lookup| before.rows * lookup);
        if first {
            let scanned = if step.is_scan && step.scan < by_lookup { rows } else { 0.0 };
            return Best { cost: step.scan.min(by_lookup), rows, scanned, last: place };
        }
        let matching = if step.is_hashed { step.rows.min(1.0) } else { 1.0 };
        let by_scan = step.scan + step.keep + before.rows * step.each - scan_saved(before.scanned, matching);
        let cost = before.cost + by_scan.min(by_lookup) + rows * MATCH_COST;
        let scanned = if step.is_hashed && by_scan < by_lookup { before.scanned * matching } else { 0.0 };
        Best { cost, rows, scanned, last: place }
    }

    fn step_after(&self, place: usize, there: TableSet) -> Step {
        let table = self.tables[place];
        let own = TableSet::one(table);
        let local = local_to(table, self.conditions, there);
        let rows = self.planner.matching(table, &local, there);
        let base = self.planner.base_rows(table, &local);
        let is_hashed = local.iter().any(|condition| self.planner.is_equality_with(condition, own, there));
        let keep = base * HASHED_COST;
        let each = if is_hashed { PROBE_COST } else { base * PAIR_COST };
        if self.is_lateral(place) {
            // It is made again for each row.
            let each = self.planner.source_rows[table] * 2.0;
            let (scan, is_hashed) = (f64::INFINITY, false);
            return Step { scan, keep: 0.0, each: 0.0, is_hashed, is_scan: false, by_lookup: Some(each), rows };
        }
        let Some(facts) = &self.planner.facts[table] else {
            let scan = self.planner.source_rows[table];
            return Step { scan, keep, each, is_hashed, is_scan: false, by_lookup: None, rows };
        };
        let once = facts.paths(table, &local, TableSet::default());
        let cheapest = once.iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
        let scan = cheapest.map_or(f64::INFINITY, |path| path.cost);
        let is_scan = cheapest.is_some_and(Path::leaves_out);
        let lookups = facts.paths(table, &local, there);
        let looks_up = |path: &&Path| path.needs.meets(there) || path.access.is_unique_point();
        let lookup = lookups.iter().filter(looks_up).map(|path| path.cost).reduce(f64::min);
        Step { scan, keep, each, is_hashed, is_scan, by_lookup: lookup, rows }
    }
}
