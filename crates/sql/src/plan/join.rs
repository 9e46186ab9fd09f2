//! Join methods: the nodes that read and join the tables of a block.
//!
//! An outer join is placed as soon as the tables that its ON names are there. A table is joined by looking it up in an
//! index with the values before it; or else, if there is an equality, by hash; or else by trying all pairs.

use std::borrow::Borrow;
use std::cell::Cell;

use base::SqlError;

use crate::bind::columns::{ColumnId, Columns};
use crate::bind::tree::{Block, OrderItem};
use crate::expr::{CompareOp, ExprKind, SlotSet, order};
use crate::plan::access::{Covered, MAKE_COST, Path, TableFacts, sort_cost};
use crate::plan::conditions::{Condition, Dependencies, TABLES_MAX, TableSet};
use crate::plan::equalities::EqualColumns;
use crate::plan::layout::used_of;
use crate::plan::nest::{Nest, OuterJoin};
use crate::plan::node::{AccessMethod, AccessNode, Estimate, HashKey, JoinMethod, JoinNode, JoinRows, Node};
use crate::plan::order::{Of, gives_order};
use crate::plan::statistics::Shares;
use syntax::grammar::too_many_tables;

/// Comparing one pair of rows in a join by pairs.
pub(super) const PAIR_COST: f64 = 0.3;
/// Putting a row into the table of a hash join.
pub(super) const HASHED_COST: f64 = 1.7;
/// Looking for a row's matches there.
pub(super) const PROBE_COST: f64 = 0.7;
/// Making a row of two.
pub(super) const MATCH_COST: f64 = 0.4;

/// What the block wants of the order of the rows.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w> {
    pub(crate) order: &'w [OrderItem],
    /// Rows that are wanted, if LIMIT is a number and nothing between here and there needs them all.
    pub(crate) rows: Option<f64>,
}

/// Rows under way, with what is known of them.
pub(crate) struct Joined {
    pub(crate) node: Node,
    pub(crate) rows: f64,
    /// They come in the order that was wanted.
    pub(crate) ordered: bool,
    /// So many of them are of a scan that leaves out what has no match in the hash joins above it; see [`scan_saved`].
    pub(crate) scanned: f64,
}

impl Joined {
    /// No table yet.
    pub(crate) fn nothing() -> Self {
        Joined { node: Node::One, rows: 1.0, ordered: true, scanned: 0.0 }
    }
}

/// What a hash join saves below it: rows of a scan that have no match are not made ([`crate::exec`] tells the scan which keys have one). Of
/// `scanned` rows so many have a match each.
pub(super) fn scan_saved(scanned: f64, matching: f64) -> f64 {
    scanned * (1.0 - matching).max(0.0) * (MAKE_COST + PROBE_COST)
}

/// Plans the joins of one block.
pub(crate) struct JoinPlanner<'p> {
    pub(crate) block: &'p Block,
    pub(crate) columns: &'p Columns,
    /// Those that anything in the block reads.
    pub(crate) used: &'p SlotSet,
    /// Per table; `None` for virtual and derived ones.
    pub(crate) facts: &'p [Option<TableFacts>],
    /// Per table, about how many rows a virtual or derived one has.
    pub(crate) source_rows: &'p [f64],
    /// Per table, what it costs to make them.
    pub(crate) source_costs: &'p [f64],
    pub(crate) shares: &'p Shares<'p>,
    /// An order was not searched to the end.
    pub(crate) is_greedy: Cell<bool>,
    pub(crate) dependencies: Dependencies<'p>,
    /// Per table, those that have to be there before it: LATERAL.
    pub(crate) laterals: Vec<TableSet>,
}

impl JoinPlanner<'_> {
    /// The nest as nodes, on top of rows that have the values of `available` tables.
    pub(crate) fn plan(&self, nest: Nest, available: TableSet, wanted: Wanted<'_>) -> Result<Joined, SqlError> {
        if self.block.tables.len() > TABLES_MAX {
            return Err(too_many_tables());
        }
        let needs = nest.needs();
        let Nest { tables, outer, mut conditions, straight, .. } = nest;
        let laterals = tables.iter().map(|table| self.needed_before(*table, &tables, &outer)).collect();
        let order = self.table_order((&tables, laterals), &conditions, available, straight, wanted);
        let mut joined: Option<Joined> = None;
        let mut present = available;
        let mut outer: Vec<Option<OuterJoin>> = outer.into_iter().map(Some).collect();
        let constants = take(&mut conditions, |condition| condition.needs.tables.is_within(available));
        let guard = self.constant_filter(constants);
        if let Some(Node::Nothing(_)) = guard {
            return Ok(Joined { node: Node::Nothing("Impossible WHERE"), rows: 0.0, ..Joined::nothing() });
        }
        let mut equal = EqualColumns::default();
        for (position, &table) in order.iter().enumerate() {
            let here = present.with(TableSet::one(table));
            let local = take(&mut conditions, |condition| {
                condition.needs.tables.is_within(here) && condition.needs.subqueries.is_empty()
            });
            let local = equal.needed(local);
            let first = position == 0;
            let wanted = Wanted { order: if first { wanted.order } else { &[] }, rows: wanted.rows.filter(|_| first) };
            joined = Some(self.join_table(joined, table, local, present, wanted)?);
            present = here;
            let here = |condition: &Condition| condition.needs.tables.is_within(present);
            let plain = take(&mut conditions, |condition| here(condition) && condition.needs.subqueries.is_empty());
            let applied = take(&mut conditions, here);
            joined = joined.map(|joined| self.apply_and_filter(joined, plain));
            // Semijoins leave fewer rows, or as many, for which subqueries are to be run; other outer joins may add rows.
            let may_wait = self.leave_few(&order[position + 1..], &conditions, present);
            let is_decided = |join: &OuterJoin| join.rows.is_decided_by_one();
            self.place_outer(&mut outer, &mut joined, &mut present, needs, |join| !may_wait && is_decided(join))?;
            joined = joined.map(|joined| self.apply_and_filter(joined, applied));
            self.place_outer(&mut outer, &mut joined, &mut present, needs, |join| !(may_wait && is_decided(join)))?;
            let after = take(&mut conditions, |condition| condition.needs.tables.is_within(present));
            joined = joined.map(|joined| self.apply_and_filter(joined, after));
        }
        let joined = joined.unwrap_or_else(Joined::nothing);
        let mut joined = self.apply_and_filter(joined, conditions);
        if let Some(guard) = guard {
            joined.node = guarded(guard, joined.node);
        }
        Ok(joined)
    }

    /// Which of some tables have to be joined before one of them that reads others (LATERAL): those; if an outer join adds one of those, all that are
    /// before it in the text, so that the outer join is there, too.
    fn needed_before(&self, table: usize, tables: &[usize], outer: &[OuterJoin]) -> TableSet {
        let needed = TableSet(self.laterals[table].0 & TableSet::of(tables.iter().copied()).0);
        let place = tables.iter().position(|other| *other == table).unwrap_or_default();
        match outer.iter().any(|join| join.tables.meets(self.laterals[table])) {
            true => needed.with(TableSet::of(tables[..place].iter().copied())),
            false => needed,
        }
    }

    /// Conditions that need no table of the nest: they are checked once, before anything is read.
    fn constant_filter(&self, constants: Vec<Condition>) -> Option<Node> {
        let literal = |condition: &Condition| match &condition.expr.kind {
            ExprKind::Literal(types::Value::Int(n)) => Some(*n != 0),
            ExprKind::Literal(types::Value::Null) => Some(false),
            _ => None,
        };
        if constants.iter().any(|condition| literal(condition) == Some(false)) {
            return Some(Node::Nothing("Impossible WHERE"));
        }
        let rest: Vec<Condition> = constants.into_iter().filter(|condition| literal(condition).is_none()).collect();
        if rest.is_empty() {
            return None;
        }
        Some(self.apply_and_filter(Joined::nothing(), rest).node)
    }

    /// Runs the subqueries that conditions need, and checks them.
    fn apply_and_filter(&self, joined: Joined, conditions: Vec<Condition>) -> Joined {
        if conditions.is_empty() {
            return joined;
        }
        let mut node = joined.node;
        let mut subqueries = Vec::new();
        for number in conditions.iter().flat_map(|condition| &condition.needs.subqueries) {
            if !subqueries.contains(number) {
                subqueries.push(*number);
            }
        }
        let selectivity: f64 = conditions.iter().map(Condition::selectivity).product();
        let (plain, applied): (Vec<Condition>, Vec<Condition>) =
            conditions.into_iter().partition(|condition| condition.needs.subqueries.is_empty());
        let exprs =
            |conditions: Vec<Condition>| conditions.into_iter().map(|condition| condition.expr).collect::<Vec<_>>();
        if !plain.is_empty() {
            node = Node::Filter { input: Box::new(node), conditions: exprs(plain) };
        }
        if !applied.is_empty() {
            node = Node::Apply { input: Box::new(node), subqueries };
            node = Node::Filter { input: Box::new(node), conditions: exprs(applied) };
        }
        Joined { node, rows: joined.rows * selectivity, ..joined }
    }

    /// Adds those of the outer joins for which everything is there.
    fn place_outer(
        &self,
        outer: &mut [Option<OuterJoin>],
        joined: &mut Option<Joined>,
        present: &mut TableSet,
        outside: TableSet,
        is_wanted: impl Fn(&OuterJoin) -> bool,
    ) -> Result<(), SqlError> {
        loop {
            let ready = |slot: &&mut Option<OuterJoin>| {
                slot.as_ref()
                    .is_some_and(|outer| is_wanted(outer) && outer.nest.needs().without(outside).is_within(*present))
            };
            let Some(next) = outer.iter_mut().find(ready).and_then(Option::take) else { return Ok(()) };
            let tables = next.tables;
            let before = joined.take().unwrap_or_else(Joined::nothing);
            *joined = Some(self.join_outer(before, next, *present)?);
            *present = present.with(tables);
        }
    }

    /// A table of the block.
    pub(super) fn of(&self, table: usize) -> Of<'_> {
        Of { columns: self.columns, table: self.block.tables[table].id }
    }

    /// The columns of a table that are read: (position in the table, number), by position.
    fn columns_of(&self, table: usize) -> Vec<(usize, ColumnId)> {
        used_of(self.columns, self.used, &self.block.tables[table])
    }

    /// What these tables give a row.
    pub(super) fn given_by(&self, tables: TableSet) -> Vec<ColumnId> {
        let of_tables = (0..self.block.tables.len()).filter(|table| tables.meets(TableSet::one(*table)));
        let mut ids: Vec<ColumnId> = of_tables
            .flat_map(|table| {
                let columns = self.columns_of(table).into_iter().map(|(_, id)| id);
                columns.chain(self.block.tables[table].image)
            })
            .collect();
        ids.sort_unstable();
        ids
    }

    /// Joins one more table of an inner nest.
    fn join_table(
        &self,
        joined: Option<Joined>,
        table: usize,
        conditions: Vec<Condition>,
        present: TableSet,
        wanted: Wanted<'_>,
    ) -> Result<Joined, SqlError> {
        match joined {
            Some(before) => {
                Ok(self.join_one(before, table, conditions, present, TableSet::one(table), JoinRows::Inner))
            }
            None => Ok(self.first_table(table, conditions, present, wanted)),
        }
    }

    /// The first table: its order may be what the block wants.
    fn first_table(&self, table: usize, conditions: Vec<Condition>, present: TableSet, wanted: Wanted<'_>) -> Joined {
        let Some(facts) = &self.facts[table] else {
            let rows = self.source_rows[table];
            // Rows that are read again, for other rows before them, are kept.
            let once = present.is_empty() && self.block.outer.is_empty();
            let node = self.source_access(table, conditions, once);
            return Joined { node, rows, ordered: wanted.order.is_empty(), scanned: 0.0 };
        };
        let all: Vec<&Condition> = conditions.iter().collect();
        let mut best: Option<(f64, Path, Option<bool>, f64)> = None;
        let mut paths = facts.paths(table, &all, present);
        let is_single_row = paths.iter().all(|path| path.access.is_single_row());
        let for_order = if self.block.grouping.is_some() { &facts.for_groups } else { &facts.for_order };
        if !wanted.order.is_empty() && !is_single_row {
            // An index that is no use for the conditions may still give the order.
            for &index in &for_order.indexes {
                if !paths.iter().any(|path| path.access.index == index) {
                    paths.push(facts.path(index, Vec::new(), table, &all, present));
                }
            }
        }
        for path in paths {
            let may_order = wanted.order.is_empty() || for_order.indexes.contains(&path.access.index);
            let turned = gives_order(&path.access, &facts.table, wanted.order, self.of(table)).filter(|_| may_order);
            let passing = self.passing_rows(&path, &conditions);
            let read = match wanted.rows {
                Some(rows) if turned.is_some() && passing > 0.0 => (rows * path.rows / passing).min(path.rows),
                _ => path.rows,
            };
            let sort = match turned {
                Some(_) => 0.0,
                None if for_order.forced => f64::MAX,
                None => sort_cost(passing),
            };
            let cost = path.cost_of(read) + sort;
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, path, turned, read));
            }
        }
        let Some((_, mut path, turned, read)) = best else {
            return Joined::nothing();
        };
        path.access.descending = turned.unwrap_or(false);
        let rows = self.passing_rows(&path, &conditions);
        let scanned = if path.leaves_out() { rows } else { 0.0 };
        let cost = path.cost_of(read);
        let possible = self.possible(facts, table, &all, present);
        let mut node = self.access_node(table, facts, path, conditions, possible);
        if let Node::Access(access) = &mut node {
            access.estimate = Estimate { rows: read, cost, ..access.estimate };
            access.for_order = turned.is_some() && !wanted.order.is_empty();
        }
        Joined { node, rows, ordered: turned.is_some(), scanned }
    }

    /// Rows that pass the conditions which the path does not already stand for.
    fn passing_rows<C: Borrow<Condition>>(&self, path: &Path, conditions: &[C]) -> f64 {
        path.rows * path.passing_share(conditions.iter().map(Borrow::borrow))
    }

    /// Rows of a table that its own conditions leave.
    pub(super) fn base_rows(&self, table: usize, conditions: &[&Condition]) -> f64 {
        let own = TableSet::one(table);
        let of_table = |condition: &&&Condition| condition.needs.tables.is_within(own);
        let own: Vec<&Condition> = conditions.iter().filter(of_table).copied().collect();
        let Some(facts) = &self.facts[table] else {
            return self.source_rows[table] * own.iter().map(|condition| condition.selectivity()).product::<f64>();
        };
        let paths = facts.paths(table, &own, TableSet::default());
        // Each is an estimate of the same; ranges that were counted are the best.
        paths.iter().map(|path| self.passing_rows(path, &own)).fold(f64::INFINITY, f64::min)
    }

    /// Rows of a table that match one row of those before it.
    pub(super) fn matching(&self, table: usize, conditions: &[&Condition], present: TableSet) -> f64 {
        let own = TableSet::one(table);
        let joining: Vec<&Condition> =
            conditions.iter().filter(|condition| !condition.needs.tables.is_within(own)).copied().collect();
        let equal = self.shares.equal_share(table, &joining, present);
        let others = joining.iter().enumerate().filter(|(number, _)| !equal.used.contains(number));
        let others: f64 = others.map(|(_, condition)| condition.selectivity()).product();
        self.base_rows(table, conditions) * equal.share * others
    }

    /// Whether a condition is an equality between the table and those that are there.
    pub(super) fn is_equality_with(&self, condition: &Condition, own: TableSet, present: TableSet) -> bool {
        let ExprKind::Compare { op: CompareOp::Eq, args } = &condition.expr.kind else { return false };
        if !condition.needs.tables.meets(own) || !condition.needs.tables.meets(present) {
            return false;
        }
        let sides = [self.dependencies.of(&args[0]).tables, self.dependencies.of(&args[1]).tables];
        let is_one = |a: TableSet, b: TableSet| a.is_within(own) && !a.is_empty() && !b.meets(own);
        is_one(sides[0], sides[1]) || is_one(sides[1], sides[0])
    }

    /// Joins a table to rows that are there: by index, by hash, or by pairs.
    pub(super) fn join_one(
        &self,
        before: Joined,
        table: usize,
        conditions: Vec<Condition>,
        present: TableSet,
        here: TableSet,
        kept: JoinRows,
    ) -> Joined {
        let (inner_slots, ordered) = (self.given_by(here), before.ordered);
        let local: Vec<&Condition> = conditions.iter().collect();
        let fanout = self.matching(table, &local, present);
        let fanout = kept.of_one(fanout);
        if let Some(path) = self.lookup_path(table, &conditions, present, &before, kept) {
            let Some(facts) = &self.facts[table] else { return before };
            let all: Vec<&Condition> = conditions.iter().collect();
            let possible = self.possible(facts, table, &all, present);
            let (inner, on) = self.split_left(conditions, here, kept);
            let inner = self.with_constants(self.access_node(table, facts, path, inner, possible), on);
            let method = JoinMethod::NestedLoop;
            let conditions = Vec::new();
            let rows = before.rows * fanout;
            let node = JoinNode {
                outer: before.node,
                inner,
                rows: kept,
                method,
                conditions,
                inner_slots,
                expected_rows: rows,
            };
            return Joined { node: Node::Join(Box::new(node)), rows, ordered, scanned: 0.0 };
        }
        if !self.laterals[table].is_empty() {
            return self.join_lateral(before, table, conditions, here, kept);
        }
        let (own, cross): (Vec<Condition>, Vec<Condition>) =
            conditions.into_iter().partition(|condition| condition.needs.tables.is_within(here));
        let inner = self.first_table(table, own, TableSet::default(), Wanted { order: &[], rows: None });
        let (keys, rest) = self.hash_keys(cross, here);
        let rows = before.rows * fanout;
        let scanned = if keys.is_empty() { 0.0 } else { before.scanned * kept.share_given(fanout) };
        let method = if keys.is_empty() { JoinMethod::Buffered } else { JoinMethod::Hash(keys) };
        let node = JoinNode {
            outer: before.node,
            inner: inner.node,
            rows: kept,
            method,
            conditions: rest.into_iter().map(|condition| condition.expr).collect(),
            inner_slots,
            expected_rows: rows,
        };
        Joined { node: Node::Join(Box::new(node)), rows, ordered: false, scanned }
    }

    /// Joins a subquery that is made anew for each row before it.
    fn join_lateral(
        &self,
        before: Joined,
        table: usize,
        conditions: Vec<Condition>,
        here: TableSet,
        kept: JoinRows,
    ) -> Joined {
        let selectivity: f64 = conditions.iter().map(Condition::selectivity).product();
        let rows = before.rows * kept.of_one(self.source_rows[table] * selectivity);
        let (inner, on) = self.split_left(conditions, here, kept);
        let node = JoinNode {
            outer: before.node,
            inner: self.with_constants(self.source_access(table, inner, true), on),
            rows: kept,
            method: JoinMethod::NestedLoop,
            conditions: Vec::new(),
            inner_slots: self.given_by(here),
            expected_rows: rows,
        };
        Joined { node: Node::Join(Box::new(node)), rows, ordered: before.ordered, scanned: 0.0 }
    }

    /// Conditions of ON that say nothing of the inner table are checked before it is read.
    fn split_left(
        &self,
        conditions: Vec<Condition>,
        here: TableSet,
        kept: JoinRows,
    ) -> (Vec<Condition>, Vec<Condition>) {
        if kept != JoinRows::Inner {
            conditions.into_iter().partition(|condition| condition.needs.tables.meets(here))
        } else {
            (conditions, Vec::new())
        }
    }

    fn with_constants(&self, access: Node, constants: Vec<Condition>) -> Node {
        if constants.is_empty() {
            return access;
        }
        let conditions = constants.into_iter().map(|condition| condition.expr).collect();
        guarded(Node::Filter { input: Box::new(Node::One), conditions }, access)
    }

    /// A path that looks up values of the tables before, if that is cheaper than reading the table once.
    fn lookup_path(
        &self,
        table: usize,
        conditions: &[Condition],
        present: TableSet,
        before: &Joined,
        kept: JoinRows,
    ) -> Option<Path> {
        let facts = self.facts[table].as_ref()?;
        let all: Vec<&Condition> = conditions.iter().collect();
        let mut paths = facts.paths(table, &all, present);
        let once = facts.paths(table, &all, TableSet::default());
        let scan_cost = once.iter().map(|path| path.cost).fold(f64::INFINITY, f64::min);
        paths.retain(|path| path.needs.meets(present) || path.access.is_unique_point());
        let best = paths.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost))?;
        let lookups = before.rows.max(1.0) * best.cost;
        let own = TableSet::one(table);
        let equality = all.iter().any(|condition| self.is_equality_with(condition, own, present));
        let base = self.base_rows(table, &all);
        let each = if equality { PROBE_COST } else { base * PAIR_COST };
        let matching = if equality { kept.share_given(self.matching(table, &all, present)) } else { 1.0 };
        let by_scan = scan_cost + HASHED_COST * base + each * before.rows - scan_saved(before.scanned, matching);
        (lookups <= by_scan || facts.forced).then_some(best)
    }

    /// Equalities between the table and those before it.
    pub(super) fn hash_keys(&self, cross: Vec<Condition>, here: TableSet) -> (Vec<HashKey>, Vec<Condition>) {
        let dependencies = &self.dependencies;
        let (mut keys, mut rest) = (Vec::new(), Vec::new());
        for condition in cross {
            let key = match &condition.expr.kind {
                ExprKind::Compare { op: CompareOp::Eq, args } => {
                    let sides = [dependencies.of(&args[0]).tables, dependencies.of(&args[1]).tables];
                    let outer_first = !sides[0].meets(here) && sides[1].is_within(here) && !sides[1].is_empty();
                    let inner_first = !sides[1].meets(here) && sides[0].is_within(here) && !sides[0].is_empty();
                    let pair = match (outer_first, inner_first) {
                        (true, _) => Some((&args[0], &args[1])),
                        (_, true) => Some((&args[1], &args[0])),
                        _ => None,
                    };
                    pair.and_then(|(outer, inner)| {
                        let comparison = order::comparison(&outer.ty, &inner.ty)?;
                        Some(HashKey { outer: outer.clone(), inner: inner.clone(), comparison })
                    })
                }
                _ => None,
            };
            match key {
                Some(key) => keys.push(key),
                None => rest.push(condition),
            }
        }
        (keys, rest)
    }

    fn source_access(&self, table: usize, conditions: Vec<Condition>, streams: bool) -> Node {
        let filtered = conditions.iter().map(Condition::selectivity).product();
        Node::Access(Box::new(AccessNode {
            table,
            method: AccessMethod::All { streams },
            decode: self.columns_of(table),
            row_image: None,
            index_filter: Vec::new(),
            index_decode: Vec::new(),
            filter: conditions.into_iter().map(|condition| condition.expr).collect(),
            lock: None,
            estimate: Estimate { rows: self.source_rows[table], filtered, cost: self.source_costs[table] },
            for_order: false,
            possible: Vec::new(),
        }))
    }

    fn possible(&self, facts: &TableFacts, table: usize, conditions: &[&Condition], present: TableSet) -> Vec<usize> {
        let limited = |index: &usize| !facts.parts(*index, table, conditions, present).is_empty();
        facts.allowed.iter().copied().filter(limited).collect()
    }

    fn access_node(
        &self,
        table: usize,
        facts: &TableFacts,
        path: Path,
        conditions: Vec<Condition>,
        possible: Vec<usize>,
    ) -> Node {
        let passing = self.passing_rows(&path, &conditions);
        let decode = self.columns_of(table);
        let covering = &facts.table.codec.indexes[path.access.index].covered;
        let position = |column: usize| covering.iter().position(|&covered| covered == column);
        let on_index: Vec<(usize, usize)> =
            decode.iter().filter_map(|&(column, slot)| Some((position(column)?, slot))).collect();
        let (index_filter, filter): (Vec<Condition>, Vec<Condition>) = match path.covered {
            Covered::Fetch => conditions.into_iter().partition(|condition| {
                let own = |slot: &usize| decode.iter().any(|(_, of_table)| of_table == slot);
                let slots = condition.expr.slots();
                slots.iter().filter(own).all(|slot| on_index.iter().any(|(_, there)| *there == slot))
            }),
            _ => (Vec::new(), conditions),
        };
        let used =
            |slots: &SlotSet| on_index.iter().copied().filter(|(_, slot)| slots.contains(*slot)).collect::<Vec<_>>();
        let mut slots = SlotSet::default();
        index_filter.iter().for_each(|condition| condition.expr.collect_slots(&mut slots));
        let mut index_decode = if path.covered == Covered::Covering { on_index.clone() } else { used(&slots) };
        index_decode.sort_unstable();
        let exprs = |conditions: Vec<Condition>| conditions.into_iter().map(|condition| condition.expr).collect();
        let filtered = if path.rows > 0.0 { passing / path.rows } else { 1.0 };
        Node::Access(Box::new(AccessNode {
            table,
            estimate: Estimate { rows: path.rows, filtered, cost: path.cost_of(path.rows) },
            for_order: false,
            method: AccessMethod::Index(path.access, path.covered),
            decode,
            row_image: self.block.tables[table].image,
            index_filter: exprs(index_filter),
            index_decode,
            filter: exprs(filter),
            lock: self.block.tables[table].lock,
            possible,
        }))
    }
}

/// Reads the rows of a node only if the guard gives its one row.
fn guarded(guard: Node, node: Node) -> Node {
    Node::Join(Box::new(JoinNode {
        outer: guard,
        inner: node,
        rows: JoinRows::Inner,
        method: JoinMethod::NestedLoop,
        conditions: Vec::new(),
        inner_slots: Vec::new(),
        expected_rows: 0.0,
    }))
}

/// Takes the elements for which `pick` says so.
pub(super) fn take(conditions: &mut Vec<Condition>, pick: impl Fn(&Condition) -> bool) -> Vec<Condition> {
    let (taken, left) = std::mem::take(conditions).into_iter().partition(pick);
    *conditions = left;
    taken
}
