//! What EXPLAIN shows, made from a plan.
//!
//! One operator of the plan is one line, with two exceptions: what computes values for windows and what runs subqueries for a row are not
//! shown where they are. A subquery is shown below the condition that needs it, or as one of the select list.

use std::collections::{HashMap, HashSet};

use types::json::Json;

use crate::bind::tree::{CteId, Limit, SetKind, SubqueryKind};
use crate::dml::InsertSource;
use crate::expr::{Expr, ExprKind};
use crate::plan::PlanKind;
use crate::plan::access::sort_cost;
use crate::plan::explain::access::subquery_of;
use crate::plan::explain::names::Names;
use crate::plan::explain::shown::{Actual, DEPTH_MAX, Expected, NODES_MAX, Shown, text, texts};
use crate::plan::explain::table;
use crate::plan::node::{BlockPlan, Node, PlannedSource, QueryBody, QueryPlan, SetPlan};

/// The whole statement.
pub(super) fn shown(kind: &PlanKind) -> Shown {
    let mut builder = Builder::default();
    match kind {
        PlanKind::Query(query) | PlanKind::Do(query) => {
            builder.find_made(query);
            builder.query(query, None)
        }
        PlanKind::Insert(insert) => {
            let verb = if insert.replace { "Replace" } else { "Insert" };
            let def = &insert.table.def;
            let shown = Shown::new(format!("{verb} into {}", def.name)).with("table_name", text(&def.name));
            match &insert.source {
                InsertSource::Query { plan, .. } => {
                    builder.find_made(plan);
                    shown.over(vec![builder.query(plan, None)])
                }
                _ => {
                    let kind = if insert.replace { "replace_values" } else { "insert_values" };
                    let rows = Shown::of("rows_fetched_before_execution", "Rows fetched before execution");
                    shown.with("access_type", text(kind)).over(vec![rows])
                }
            }
        }
        PlanKind::Update(update) => {
            let tables = update.targets.iter().map(|(target, _)| target.table.def.name.as_str());
            changes(&mut builder, ("Update", "update_rows"), tables, &update.block)
        }
        PlanKind::Delete(delete) => {
            let tables = delete.targets.iter().map(|target| target.table.def.name.as_str());
            changes(&mut builder, ("Delete from", "delete_rows"), tables, &delete.block)
        }
        PlanKind::Load(_) | PlanKind::Rows(_) | PlanKind::Explain(_) => {
            Shown::new("<not executable by iterator executor>")
        }
    }
}

fn changes<'t>(
    builder: &mut Builder,
    (verb, kind): (&str, &str),
    tables: impl Iterator<Item = &'t str>,
    block: &BlockPlan,
) -> Shown {
    let tables = tables.collect::<Vec<_>>().join(", ");
    builder.find_made_in(block);
    let input = builder.block(block, None);
    let shown = Shown::of(kind, format!("{verb} {tables}")).with("tables", text(&tables));
    // Its rows are not counted: EXPLAIN ANALYZE finds them, and changes none.
    let actual = match input.actual {
        Actual::Measured(measured) => Actual::Measured(measured.without_rows()),
        other => other,
    };
    Shown { actual, ..shown.over(vec![input]) }
}

#[derive(Default)]
pub(super) struct Builder {
    /// Common table expressions that are shown already.
    made: HashSet<CteId>,
    /// Of those that were measured, the query that made the rows, by its place in memory.
    made_by: HashMap<CteId, usize>,
    /// Subqueries of the block that are not shown yet.
    pending: HashSet<usize>,
    count: usize,
    depth: usize,
}

fn place(query: &QueryPlan) -> usize {
    std::ptr::from_ref(query) as usize
}

impl Builder {
    /// Whether this is the place for the plan of a common table expression: where its rows were made, or else the first one.
    pub(super) fn is_to_be_shown(&mut self, cte: CteId, query: &QueryPlan) -> bool {
        match self.made_by.get(&cte) {
            Some(made_by) => *made_by == place(query),
            None => self.made.insert(cte),
        }
    }

    fn find_made(&mut self, query: &QueryPlan) {
        match &query.body {
            QueryBody::Block(block) => self.find_made_in(block),
            QueryBody::Set(set) => set.branches.iter().for_each(|branch| self.find_made(branch)),
            QueryBody::Values(_) => {}
        }
    }

    fn find_made_in(&mut self, block: &BlockPlan) {
        block.subqueries.iter().filter_map(|subquery| subquery.query.as_ref()).for_each(|query| self.find_made(query));
        for table in &block.tables {
            let PlannedSource::Derived(query, made_once) = &table.source else { continue };
            let ran = query.counters.as_ref().is_some_and(|counters| counters.measured().is_some());
            if let (Some(cte), true) = (made_once, ran) {
                self.made_by.insert(*cte, place(query));
            }
            self.find_made(query);
        }
    }

    /// Counts an operator; whether it may be shown.
    fn enter(&mut self) -> bool {
        self.count += 1;
        self.depth += 1;
        self.count <= NODES_MAX && self.depth <= DEPTH_MAX
    }

    /// What is shown of several things, and that there is more of them.
    fn while_there_is_room<T>(&mut self, all: &[T], mut show: impl FnMut(&mut Builder, &T) -> Shown) -> Vec<Shown> {
        let mut shown = Vec::new();
        for one in all {
            if self.count >= NODES_MAX {
                shown.push(more());
                break;
            }
            shown.push(show(self, one));
        }
        shown
    }

    /// A query, inside of blocks.
    pub(super) fn query(&mut self, query: &QueryPlan, outer: Option<&Names<'_>>) -> Shown {
        self.count += 1;
        match &query.body {
            QueryBody::Block(block) => self.block(block, outer),
            QueryBody::Values(rows) => {
                let rows = rows.len() as f64;
                let actual = query.counters.as_ref().map(|counters| counters.measured().into());
                let shown = Shown::of("rows_fetched_before_execution", "Rows fetched before execution");
                let expected = Some(Expected { rows, cost: 0.0, first_cost: Some(0.0) });
                Shown { actual: actual.unwrap_or_default(), ..shown.expecting(expected) }
            }
            QueryBody::Set(set) => self.set(set, outer),
        }
    }

    fn set(&mut self, set: &SetPlan, outer: Option<&Names<'_>>) -> Shown {
        let inputs = self.while_there_is_room(&set.branches, |builder, branch| builder.query(branch, outer));
        let (kind, operation, members) = operation(&set.kind);
        let mut shown = Shown::of(kind, operation).over(inputs);
        shown.members.extend(members);
        shown.expected = set_expected(&set.kind, &shown.inputs);
        let counters = set.counters.as_deref();
        if let Some(counters) = counters {
            shown.actual = counters.rows.measured().into();
        }
        if !set.order.is_empty() {
            let name = |slot: usize| self.column_of(set, slot);
            let keys = set.order.iter().map(|item| {
                let text = super::expr_text::text_with(&item.expr, &name);
                text + if item.descending { " DESC" } else { "" }
            });
            shown = sorted(shown, keys.collect(), &set.limit);
            if let Some(counters) = counters {
                shown.actual = counters.sorted.measured().into();
            }
        }
        if !set.limit.is_none() {
            shown = limited(shown, &set.limit, set.count_found_rows);
            if let Some(counters) = counters {
                shown.actual = counters.limited.measured().into();
            }
        }
        shown
    }

    /// The name of a column of an operation's result.
    fn column_of(&self, set: &SetPlan, slot: usize) -> String {
        let column = set.branches.first().and_then(|branch| branch.columns.get(slot));
        column.map_or_else(|| format!("<column {}>", slot + 1), |column| column.name.to_string())
    }

    /// The seed of a recursive common table expression and its steps.
    pub(super) fn recursion(&mut self, set: &SetPlan, names: &Names<'_>) -> Vec<Shown> {
        let mut inputs = self.while_there_is_room(&set.branches, |builder, branch| builder.query(branch, Some(names)));
        for step in inputs.iter_mut().skip(1) {
            step.headings.insert(0, "Repeat until convergence".into());
        }
        inputs
    }

    /// A block.
    pub(super) fn block(&mut self, block: &BlockPlan, outer: Option<&Names<'_>>) -> Shown {
        let names = Names { block, outer };
        let queries = block.subqueries.iter().enumerate().filter(|(_, subquery)| subquery.query.is_some());
        let around = std::mem::replace(&mut self.pending, queries.map(|(number, _)| number).collect());
        let mut shown = self.node(&block.root, &names);
        if block.is_greedy {
            shown = shown.headed("Join order found step by step (too many tables to look at all orders)");
        }
        let mut left: Vec<usize> = self.pending.drain().collect();
        left.sort_unstable();
        shown.of_select_list =
            self.while_there_is_room(&left, |builder, number| builder.subquery(*number, "projection", &names));
        self.pending = around;
        shown
    }

    fn subquery(&mut self, number: usize, location: &str, names: &Names<'_>) -> Shown {
        let subquery = &names.block.subqueries[number];
        let Some(query) = &subquery.query else { return Shown::new("") };
        let depends = subquery.correlated && !matches!(subquery.kind, SubqueryKind::Call { .. });
        let how = if depends { "dependent" } else { "run only once" };
        let around = std::mem::take(&mut self.pending);
        let shown = self.query(query, Some(names));
        self.pending = around;
        shown
            .headed(format!("Select #{} (subquery in {location}; {how})", table::first_number(query)))
            .with("subquery", Json::Bool(true))
            .with(if depends { "dependent" } else { "cacheable" }, Json::Bool(true))
            .with("subquery_location", text(location))
    }

    /// The subqueries that conditions need, if they are not shown yet.
    pub(super) fn subqueries_of(&mut self, exprs: &[&Expr], names: &Names<'_>) -> Vec<Shown> {
        let mut numbers: Vec<usize> = Vec::new();
        for expr in exprs {
            numbers.extend(expr.slots().iter().filter_map(|slot| subquery_of(names.block, slot)));
        }
        numbers.sort_unstable();
        numbers.retain(|number| self.pending.remove(number));
        self.while_there_is_room(&numbers, |builder, number| builder.subquery(*number, "condition", names))
    }

    /// Conditions over what an operator gives.
    pub(super) fn filter(&mut self, conditions: Vec<&Expr>, input: Shown, names: &Names<'_>) -> Shown {
        let condition = names.all(conditions.iter().copied());
        let mut inputs = vec![input];
        inputs.extend(self.subqueries_of(&conditions, names));
        Shown::of("filter", format!("Filter: {condition}"))
            .with("condition", text(&condition))
            .with("filter_columns", texts(names.columns(conditions)))
            .over(inputs)
    }

    /// A node of a block.
    pub(super) fn node(&mut self, node: &Node, names: &Names<'_>) -> Shown {
        let shown = match self.enter() {
            true => self.operator(node, names),
            false => more(),
        };
        self.depth -= 1;
        shown
    }
}

/// In the place of what is not shown.
fn more() -> Shown {
    Shown::new("… (more operators than are shown)")
}

/// With the limit on top.
pub(super) fn limited(input: Shown, limit: &Limit, counts_found_rows: bool) -> Shown {
    let (count, offset) = (limit.count.as_ref().map(limit_number), limit.offset.as_ref().map(limit_number));
    let mut operation = match (&count, &offset) {
        (Some(count), None) => format!("Limit: {count} row(s)"),
        (Some(count), Some(offset)) => format!("Limit/Offset: {count}/{offset} row(s)"),
        (None, Some(offset)) => format!("Offset: {offset} row(s)"),
        (None, None) => "Limit".into(),
    };
    if counts_found_rows {
        operation += " (no early end due to SQL_CALC_FOUND_ROWS)";
    }
    let expected = input.expected.map(|expected| {
        let most = count.as_ref().and_then(|count| count.parse::<f64>().ok()).unwrap_or(f64::INFINITY);
        Expected { rows: expected.rows.min(most), ..expected }
    });
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<u64>().ok());
    let mut shown = Shown::of("limit", operation).with("limit_offset", Json::UInt(number(&offset).unwrap_or(0)));
    if let Some(count) = number(&count) {
        shown = shown.with("limit", Json::UInt(count.saturating_add(number(&offset).unwrap_or(0))));
    }
    shown.over(vec![input]).expecting(expected)
}

fn limit_number(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Literal(types::Value::Int(n)) => n.to_string(),
        ExprKind::Literal(types::Value::UInt(n)) => n.to_string(),
        _ => "?".into(),
    }
}

/// With the sort on top; with a limit, only so many rows are kept.
pub(super) fn sorted(input: Shown, keys: Vec<String>, limit: &Limit) -> Shown {
    let mut operation = format!("Sort: {}", keys.join(", "));
    let expected = input.expected.map(|expected| {
        let cost = expected.cost + sort_cost(expected.rows);
        Expected { cost, first_cost: Some(cost), ..expected }
    });
    let mut shown = Shown::of("sort", "").with("sort_fields", texts(keys));
    if let Some(count) = &limit.count {
        let offset = limit.offset.as_ref().map(limit_number);
        let most = match (limit_number(count).parse::<u64>(), offset.map_or(Ok(0), |offset| offset.parse())) {
            (Ok(count), Ok(offset)) => Some(count.saturating_add(offset)),
            _ => None,
        };
        let kept = most.map_or("?".into(), |most| most.to_string());
        operation += &format!(", limit input to {kept} row(s) per chunk");
        if let Some(most) = most {
            shown = shown.with("per_chunk_limit", Json::UInt(most));
        }
    }
    shown.operation = operation;
    shown.over(vec![input]).expecting(expected)
}

fn set_expected(kind: &SetKind, inputs: &[Shown]) -> Option<Expected> {
    let all: Vec<Expected> = inputs.iter().map(|input| input.expected).collect::<Option<_>>()?;
    let cost = all.iter().map(|input| input.cost).sum::<f64>();
    let sum = all.iter().map(|input| input.rows).sum::<f64>();
    let rows = match kind {
        SetKind::Union { .. } | SetKind::Recursive(_) => sum,
        SetKind::Except { .. } => all.first()?.rows,
        SetKind::Intersect { .. } => all.iter().map(|input| input.rows).fold(f64::INFINITY, f64::min),
    };
    Some(Expected { rows, cost: if kind.compares() { cost + sum } else { cost }, first_cost: None })
}

/// What a set operation is called: its kind in JSON, its line, and what else JSON says.
fn operation(kind: &SetKind) -> (&'static str, &'static str, Vec<(&'static str, Json)>) {
    let yes = Json::Bool(true);
    let distinct = ("deduplication", Json::Bool(true));
    match kind {
        SetKind::Union { distinct_until: None } => ("append", "Append", Vec::new()),
        SetKind::Union { .. } => {
            ("materialize", "Union materialize with deduplication", vec![("union", yes), distinct])
        }
        SetKind::Except { all } if all.iter().all(|all| *all) => {
            ("materialize", "Except all materialize", vec![("except", yes)])
        }
        SetKind::Except { .. } => {
            ("materialize", "Except materialize with deduplication", vec![("except", yes), distinct])
        }
        SetKind::Intersect { all: true } => ("materialize", "Intersect all materialize", vec![("intersect", yes)]),
        SetKind::Intersect { all: false } => {
            ("materialize", "Intersect materialize with deduplication", vec![("intersect", yes), distinct])
        }
        SetKind::Recursive(recursion) if recursion.is_distinct => {
            ("materialize", "Repeat until convergence, with deduplication", vec![("recursive", yes), distinct])
        }
        SetKind::Recursive(_) => ("materialize", "Repeat until convergence", vec![("recursive", yes)]),
    }
}
