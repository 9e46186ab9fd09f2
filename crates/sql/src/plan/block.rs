//! A block's plan: the joins, and what is done with their rows.
//!
//! ```text
//!   joins and WHERE ── subqueries of groups' arguments ── grouping ── subqueries ── HAVING ── windows ── DISTINCT ── sort ── LIMIT
//! ```

use std::cell::Cell;

use base::SqlError;
use engine::Engine;
use io::BoxFuture;
use types::Value;

use crate::bind::columns::Columns;
use crate::bind::tree::{
    Block, BoundBody, BoundQuery, BoundTable, CteId, Grouping, Limit, OrderItem, SetOperation, Subquery, SubqueryKind,
    TableSource,
};
use crate::exec::ranges::key_ranges;
use crate::expr::{EvalContext, Expr, ExprKind, SlotSet, Warnings, order};
use crate::plan::access::{IndexAccess, TableFacts, is_literal};
use crate::plan::conditions::{Condition, Dependencies, TableSet};
use crate::plan::join::{JoinPlanner, Joined, Wanted};
use crate::plan::layout::{Frame, Layout, used_columns, used_of};
use crate::plan::nest::{Nest, flatten};
use crate::plan::node::{
    AccessMethod, AggregateNode, BlockPlan, Expected, Node, PlannedSource, PlannedTable, QueryBody, QueryPlan, SetPlan,
    SubqueryPlan,
};
use crate::plan::order::{Of, extreme, groups_together};
use crate::plan::rules::rewrite;
use crate::plan::statistics::{Known, Shares};
use crate::plan::windows::{prepare_windows, wanted_by_windows, windows};
use crate::plan::{PlanContext, planning_eval};

/// Rows that a round of a recursive common table expression is taken to have: few, so that it is read first.
const ROUND_ROWS: f64 = 2.0;

/// Plans a query.
pub(crate) fn plan_query<'a>(
    context: &'a PlanContext<'a>,
    columns: &'a mut Columns,
    query: BoundQuery,
) -> BoxFuture<'a, Result<QueryPlan, SqlError>> {
    Box::pin(async move {
        let body = match query.body {
            BoundBody::Block(block) => QueryBody::Block(Box::new(plan_block(context, columns, *block).await?)),
            BoundBody::Set(set) => QueryBody::Set(Box::new(plan_set(context, columns, *set).await?)),
            BoundBody::Values(rows) => QueryBody::Values(rows),
        };
        Ok(QueryPlan { columns: query.columns, types: query.types, body, into: query.into, counters: None })
    })
}

async fn plan_set(context: &PlanContext<'_>, columns: &mut Columns, set: SetOperation) -> Result<SetPlan, SqlError> {
    let mut branches = Vec::with_capacity(set.branches.len());
    for branch in set.branches {
        branches.push(plan_query(context, columns, branch).await?);
    }
    let distinct_keys = set.distinct.into_iter().enumerate();
    let distinct_keys = distinct_keys.map(|(slot, ty)| Expr::column(slot, ty)).collect();
    Ok(SetPlan {
        number: set.number,
        kind: set.kind,
        branches,
        distinct_keys,
        order: set.order,
        limit: set.limit,
        count_found_rows: set.count_found_rows,
        counters: None,
    })
}

/// Plans one block.
pub(crate) async fn plan_block(
    context: &PlanContext<'_>,
    columns: &mut Columns,
    mut block: Block,
) -> Result<BlockPlan, SqlError> {
    rewrite(context, columns, &mut block)?;
    prepare_windows(&mut block, columns);
    find_late_subqueries(&mut block);
    let used = used_columns(&block);
    let nest = nest_of(&mut block, columns);
    let facts = table_facts(context, (&block, columns, &used), &nest).await?;
    let laterals = laterals_of(&block, columns);
    let derived = plan_derived(context, columns, &mut block.tables).await?;
    let (joined, is_greedy) = plan_joins(context, (&block, columns, &used), (nest, laterals), (&facts, &derived))?;
    let expected = expected_of((&block, columns), &joined, &facts);
    let constants = {
        let dependencies = Dependencies::new(&block, columns);
        (0..block.subqueries.len()).filter(|&number| dependencies.is_constant(number)).collect()
    };
    let results = block.grouping.as_ref().map(|grouping| {
        let aggregates = grouping.aggregates.iter().map(|aggregate| aggregate.id).collect();
        (aggregates, grouping.rollup.iter().flatten().copied().chain(grouping.grouped).collect())
    });
    let (aggregates, keys) = results.unwrap_or_default();
    let windows = block.made_by_windows().collect();
    let root = finish(&mut block, columns, joined, &facts);
    let ids = block.subqueries.iter().map(|subquery| subquery.id).collect();
    let mut subqueries = Vec::with_capacity(block.subqueries.len());
    for subquery in std::mem::take(&mut block.subqueries) {
        subqueries.push(plan_subquery(context, columns, subquery).await?);
    }
    let mut plan = BlockPlan {
        number: block.number,
        is_greedy,
        expected,
        width: 0,
        slots: Vec::new(),
        layout: Layout::default(),
        outer: Vec::new(),
        tables: Vec::new(),
        subqueries,
        constants,
        root,
        output: std::mem::take(&mut block.select),
        count_found_rows: block.count_found_rows,
    };
    let (tables, outer) = (&block.tables, &block.outer);
    Frame { columns, used, outer, tables, subqueries: ids, aggregates, keys, windows }.lay(&mut plan)?;
    plan.tables = plan_tables(block.tables, derived, &plan.layout)?;
    Ok(plan)
}

/// FROM and WHERE of a block, which has them no more.
fn nest_of(block: &mut Block, columns: &Columns) -> Nest {
    let from = block.from.take();
    let filter = std::mem::take(&mut block.filter);
    let dependencies = Dependencies::new(block, columns);
    let mut nest = from.map_or_else(Nest::default, |tree| flatten(tree, &dependencies));
    let all = nest.all_tables();
    nest.conditions.extend(filter.into_iter().map(|expr| Condition::new(expr, &dependencies, all)));
    nest
}

/// Per table, those that have to be there before it: LATERAL.
fn laterals_of(block: &Block, columns: &Columns) -> Vec<TableSet> {
    let dependencies = Dependencies::new(block, columns);
    (0..block.tables.len()).map(|table| dependencies.of_table(table)).collect()
}

/// Plans the subqueries in FROM, before the joins, so that it is known about how many rows they have. Of their bound queries nothing is left.
async fn plan_derived(
    context: &PlanContext<'_>,
    columns: &mut Columns,
    tables: &mut [BoundTable],
) -> Result<Vec<Option<Derived>>, SqlError> {
    let mut planned = Vec::with_capacity(tables.len());
    for table in tables {
        let made_once = table.made_once();
        planned.push(match &mut table.source {
            TableSource::Derived(query) => {
                let query = std::mem::take(&mut **query);
                Some(Derived { plan: plan_query(context, columns, query).await?, made_once })
            }
            _ => None,
        });
    }
    Ok(planned)
}

/// A subquery in FROM, or a common table expression.
struct Derived {
    plan: QueryPlan,
    made_once: Option<CteId>,
}

fn plan_tables(
    bound: Vec<BoundTable>,
    derived: Vec<Option<Derived>>,
    layout: &Layout,
) -> Result<Vec<PlannedTable>, SqlError> {
    let mut tables = Vec::with_capacity(bound.len());
    for (table, derived) in bound.into_iter().zip(derived) {
        let cte = table.cte.as_ref().map(|cte| cte.name.clone());
        let source = match (table.source, derived) {
            (_, Some(Derived { mut plan, made_once })) => {
                layout.lay_outer(&mut plan);
                PlannedSource::Derived(Box::new(plan), made_once)
            }
            (TableSource::Round(rows), None) => PlannedSource::Round(rows, table.columns.len()),
            (TableSource::Base(base), None) => PlannedSource::Base(base),
            (TableSource::Virtual(source), None) => PlannedSource::Virtual(source),
            (TableSource::Json(mut table), None) => {
                layout.lay_all([&mut table.document]);
                PlannedSource::Json(table)
            }
            (TableSource::Derived(_), None) => return Err(SqlError::unknown("a subquery in FROM without a plan")),
        };
        let columns = table.columns.into_iter().map(|column| column.name).collect();
        tables.push(PlannedTable { source, schema: table.schema, alias: table.alias, cte, columns });
    }
    Ok(tables)
}

/// Finds the subqueries that are needed above the joins only.
fn find_late_subqueries(block: &mut Block) {
    let (mut early, mut above) = (SlotSet::default(), SlotSet::default());
    block.filter.iter().for_each(|expr| expr.collect_slots(&mut early));
    block.from.iter().for_each(|from| from.for_each_condition(&mut |on| on.collect_slots(&mut early)));
    for subquery in &block.subqueries {
        subquery.collect_read(&mut early);
    }
    // A call of an outer join's condition has its place there.
    if block.tables.iter().all(|table| !table.outer_joined) {
        let mut filtered = SlotSet::default();
        block.filter.iter().for_each(|expr| expr.collect_slots(&mut filtered));
        for subquery in &mut block.subqueries {
            subquery.per_row = matches!(subquery.kind, SubqueryKind::Call { .. }) && filtered.contains(subquery.id);
        }
    }
    let results = block.select.iter().chain(&block.having).chain(block.order.iter().map(|item| &item.expr));
    results.for_each(|expr| expr.collect_slots(&mut above));
    block.windows.iter().for_each(|window| window.for_each_expr(&mut |expr| expr.collect_slots(&mut above)));
    block.computed.iter().for_each(|(expr, _)| expr.collect_slots(&mut above));
    for subquery in &mut block.subqueries {
        subquery.late = above.contains(subquery.id) && !early.contains(subquery.id);
    }
}

/// Plans a subquery of an expression.
async fn plan_subquery(
    context: &PlanContext<'_>,
    columns: &mut Columns,
    subquery: Subquery,
) -> Result<SubqueryPlan, SqlError> {
    let query = match subquery.query {
        Some(query) => Some(plan_query(context, columns, query).await?),
        None => None,
    };
    let hashed = match (&subquery.kind, &query) {
        (
            SubqueryKind::Any { left, equality: true, .. } | SubqueryKind::All { left, equality: true, .. },
            Some(query),
        ) if !subquery.correlated => {
            left.iter().zip(&query.types).map(|(left, right)| order::comparison(&left.ty, right)).collect()
        }
        _ => None,
    };
    let Subquery { kind, id, correlated, guard, .. } = subquery;
    Ok(SubqueryPlan { query, kind, slot: id, correlated, hashed, guard })
}

/// Plans subqueries of expressions that are no block's, over rows of this layout.
pub(crate) async fn plan_subqueries(
    context: &PlanContext<'_>,
    columns: &mut Columns,
    subqueries: Vec<Subquery>,
    layout: &Layout,
) -> Result<Vec<SubqueryPlan>, SqlError> {
    let mut planned = Vec::with_capacity(subqueries.len());
    for subquery in subqueries {
        let mut subquery = plan_subquery(context, columns, subquery).await?;
        layout.lay_subquery(&mut subquery);
        planned.push(subquery);
    }
    Ok(planned)
}

/// Sizes of the tables, and of the ranges whose values are literals.
async fn table_facts(
    context: &PlanContext<'_>,
    (block, columns, used): (&Block, &Columns, &SlotSet),
    nest: &Nest,
) -> Result<Vec<Option<TableFacts>>, SqlError> {
    let mut conditions = Vec::new();
    all_conditions(nest, &mut conditions);
    let mut all = Vec::with_capacity(block.tables.len());
    for (number, bound) in block.tables.iter().enumerate() {
        let TableSource::Base(table) = &bound.source else {
            all.push(None);
            continue;
        };
        let used = used_of(columns, used, bound);
        let read = used.iter().map(|(column, _)| *column).collect();
        let rows = context.engine.estimate_rows(table);
        let Some(mut facts) = TableFacts::new(bound, rows, read, bound.image.is_some()) else {
            all.push(None);
            continue;
        };
        facts.only_counted = counts_rows(block).then_some(used);
        // No count could make another way better than to the one row.
        if !facts.has_unique_point(number, &conditions) {
            count_ranges(context, number, &conditions, &mut facts).await?;
            // Conditions are tried on rows where that may change the order of a join.
            facts.known = Known::of(context, table, nest.tables.len() > 1).await;
        }
        all.push(Some(facts));
    }
    Ok(all)
}

/// Whether a block gives nothing but the number of its one table's rows.
fn counts_rows(block: &Block) -> bool {
    let counts = |grouping: &Grouping| {
        grouping.keys.is_empty() && grouping.aggregates.iter().all(|aggregate| aggregate.call.counts_rows())
    };
    block.tables.len() == 1 && block.grouping.as_ref().is_some_and(counts)
}

fn all_conditions<'n>(nest: &'n Nest, out: &mut Vec<&'n Condition>) {
    out.extend(&nest.conditions);
    nest.outer.iter().for_each(|outer| all_conditions(&outer.nest, out));
}

async fn count_ranges(
    context: &PlanContext<'_>,
    number: usize,
    conditions: &[&Condition],
    facts: &mut TableFacts,
) -> Result<(), SqlError> {
    let Some(transaction) = context.transaction else { return Ok(()) };
    let warnings = Warnings::default();
    let eval = planning_eval(context, &warnings);
    for index in facts.allowed.clone() {
        let parts = facts.parts(index, number, conditions, TableSet::default());
        if parts.is_empty() || !is_literal(&parts) {
            continue;
        }
        let access = IndexAccess { index, parts, descending: false, unique_parts: None };
        let Ok(ranges) = key_ranges(&access, &facts.table, &[], &eval).map(|ranges| ranges.list) else { continue };
        let mut rows = 0;
        // Many ranges (a long IN list) are counted from a few of them.
        let sample = ranges.len().min(10);
        for range in &ranges[..sample] {
            rows += transaction.estimate(&facts.table, index, range).await?;
        }
        facts.counted[index] = Some(rows as f64 * ranges.len() as f64 / sample.max(1) as f64);
    }
    Ok(())
}

/// The joins, and whether their order is a greedy one.
fn plan_joins(
    context: &PlanContext<'_>,
    (block, columns, used): (&Block, &Columns, &SlotSet),
    (mut nest, laterals): (Nest, Vec<TableSet>),
    (facts, derived): (&[Option<TableFacts>], &[Option<Derived>]),
) -> Result<(Joined, bool), SqlError> {
    let expected: Vec<Expected> = block
        .tables
        .iter()
        .zip(derived)
        .map(|(table, derived)| match derived {
            Some(derived) => derived.plan.expected(),
            None => expected_of_source(context.engine, table),
        })
        .collect();
    let source_rows: Vec<f64> = expected.iter().map(|expected| expected.rows.max(1.0)).collect();
    let source_costs: Vec<f64> =
        expected.iter().zip(&source_rows).map(|(expected, rows)| expected.cost + rows).collect();
    let warnings = Warnings::default();
    let catalog = context.catalog;
    // What is tried on rows may take long, and can be ended.
    let eval = EvalContext { watch: context.watch, ..planning_eval(context, &warnings) };
    let shares = Shares { block, columns, facts, catalog, eval };
    shares.tell(&mut nest);
    let (source_rows, source_costs) = (&source_rows, &source_costs);
    let (is_greedy, dependencies) = (Cell::new(false), Dependencies::new(block, columns));
    let shares = &shares;
    let planner = JoinPlanner {
        block,
        columns,
        used,
        facts,
        shares,
        source_rows,
        source_costs,
        is_greedy,
        dependencies,
        laterals,
    };
    let limit = match (&block.limit.count, &block.limit.offset) {
        (Some(count), offset) => {
            literal_count(count).map(|rows| rows + offset.as_ref().and_then(literal_count).unwrap_or(0.0))
        }
        _ => None,
    };
    let single_extreme = single_extreme(block);
    let of_windows = wanted_by_windows(block);
    let wanted = match (&block.grouping, &single_extreme) {
        (None, _) if !block.windows.is_empty() => Wanted { order: &of_windows, rows: None },
        (None, _) => Wanted { order: &block.order, rows: limit.filter(|_| !block.distinct) },
        (Some(_), Some(item)) => Wanted { order: std::slice::from_ref(item), rows: Some(1.0) },
        (Some(_), None) => Wanted { order: &[], rows: None },
    };
    let joined = planner.plan(nest, TableSet::default(), wanted)?;
    Ok((joined, planner.is_greedy.get()))
}

/// Rows of a document, as MySQL guesses.
const JSON_ROWS: f64 = 2.0;

/// About how many rows a table has that is no subquery.
fn expected_of_source(engine: &Engine, table: &BoundTable) -> Expected {
    let rows = match &table.source {
        TableSource::Base(base) => engine.estimate_rows(base) as f64,
        TableSource::Virtual(_) => 50.0,
        TableSource::Round(_) => ROUND_ROWS,
        TableSource::Json(_) => JSON_ROWS,
        TableSource::Derived(_) => 1.0,
    };
    Expected { rows, cost: 0.0 }
}

/// What a block is expected to give, from its joins: fewer rows for groups, conditions on them, and LIMIT.
fn expected_of((block, columns): (&Block, &Columns), joined: &Joined, facts: &[Option<TableFacts>]) -> Expected {
    let grouped = match &block.grouping {
        Some(grouping) if grouping.keys.is_empty() => 1.0,
        Some(grouping) => expected_groups((block, columns), &grouping.keys, joined.rows, facts),
        None if block.distinct => expected_groups((block, columns), &block.select, joined.rows, facts),
        None => joined.rows,
    };
    let limit = block.limit.count.as_ref().and_then(literal_count).unwrap_or(f64::INFINITY);
    let grouped = match block.having.is_empty() {
        true => grouped,
        false => (grouped * block.having.iter().map(Condition::guess).product::<f64>()).max(grouped.min(1.0)),
    };
    Expected { rows: grouped.min(limit), cost: joined.node.cost() + joined.rows }
}

/// How many of so many rows differ in the keys: at most as many as their columns have values together, if these are known.
fn expected_groups(
    (block, columns): (&Block, &Columns),
    keys: &[Expr],
    rows: f64,
    facts: &[Option<TableFacts>],
) -> f64 {
    /// Of rows of which no more is known.
    const ROWS_PER_GROUP: f64 = 3.0;
    let values = |key: &Expr| {
        let (table, column) = columns.place(key.as_column()?, &block.tables)?;
        Some(facts[table].as_ref()?.values(column)?.distinct)
    };
    match keys.iter().map(values).product::<Option<f64>>() {
        Some(combinations) => combinations.min(rows),
        None => rows / ROWS_PER_GROUP,
    }
}

/// A LIMIT as a number; a parameter is taken for a small one.
fn literal_count(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Literal(Value::Int(n)) => Some(*n as f64),
        ExprKind::Literal(Value::UInt(n)) => Some(*n as f64),
        ExprKind::Param(_) => Some(100.0),
        _ => None,
    }
}

/// MIN or MAX of one table without GROUP BY: the first row in its order is enough.
fn single_extreme(block: &Block) -> Option<OrderItem> {
    match &block.grouping {
        Some(Grouping { keys, aggregates, .. }) if keys.is_empty() && block.tables.len() == 1 => {
            match &aggregates[..] {
                [aggregate] => extreme(&aggregate.call),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Everything above the joins.
fn finish(block: &mut Block, columns: &Columns, joined: Joined, facts: &[Option<TableFacts>]) -> Node {
    let mut node = joined.node;
    let mut ordered = joined.ordered;
    let mut applied: Vec<usize> = applied_in(&node);
    let single_extreme = single_extreme(block);
    let is_grouped = block.grouping.is_some();
    if let Some(grouping) = block.grouping.take() {
        let read = grouping.aggregates.iter().flat_map(|aggregate| {
            let order = aggregate.call.order_by.iter().map(|(expr, _)| expr);
            aggregate.call.args.iter().chain(order)
        });
        node = apply_for((block, columns), node, grouping.keys.iter().chain(read), &mut applied);
        if single_extreme.is_some() && ordered {
            node = first_value(columns, node, &single_extreme);
        }
        node = group((block, columns), node, grouping, facts);
        ordered = block.order.is_empty();
    }
    let having = std::mem::take(&mut block.having);
    node = apply_for((block, columns), node, having.iter(), &mut applied);
    if !having.is_empty() {
        node = Node::Filter { input: Box::new(node), conditions: having };
    }
    if !block.windows.is_empty() {
        (node, ordered) = windows(block, columns, (node, ordered && !is_grouped), &mut applied);
    }
    if block.distinct {
        node = apply_for((block, columns), node, block.select.iter(), &mut applied);
        let keys = block.select.clone();
        let together =
            !is_grouped && block.windows.is_empty() && arrives_grouped((block, columns), &node, &keys, facts);
        // Those that find no room in memory come after the others.
        ordered &= together || block.order.is_empty();
        node = Node::Distinct { input: Box::new(node), keys, together };
    }
    let mut limit = std::mem::take(&mut block.limit);
    if node.gives_one_row() {
        ordered = true;
        limit = limit.beyond_one_row();
    }
    if !ordered && !block.order.is_empty() {
        node = apply_for((block, columns), node, block.order.iter().map(|item| &item.expr), &mut applied);
        let kept = if block.count_found_rows { Limit::default() } else { limit.clone() };
        node = Node::Sort { input: Box::new(node), keys: block.order.clone(), limit: kept };
    }
    if !limit.is_none() {
        node = Node::Limit { input: Box::new(node), limit };
    }
    apply_for((block, columns), node, block.select.iter(), &mut applied)
}

/// MIN or MAX by index: rows with NULL are skipped, and the first of the others is enough.
fn first_value(columns: &Columns, node: Node, item: &Option<OrderItem>) -> Node {
    let Some(item) = item else { return node };
    let not_null = crate::expr::build::not(crate::expr::build::is_null(item.expr.clone()));
    let nullable = item.expr.as_column().is_some_and(|id| columns.ty(id).nullable);
    let input = if nullable { Node::Filter { input: Box::new(node), conditions: vec![not_null] } } else { node };
    let limit = Limit { count: Some(Expr::int(1)), offset: None };
    Node::Limit { input: Box::new(input), limit }
}

fn group(of: (&Block, &Columns), node: Node, grouping: Grouping, facts: &[Option<TableFacts>]) -> Node {
    let together =
        !grouping.keys.is_empty() && grouping.rollup.is_none() && arrives_grouped(of, &node, &grouping.keys, facts);
    let mut input = node;
    let grows = grouping.aggregates.iter().any(|aggregate| aggregate.call.grows());
    let sorted = !grouping.keys.is_empty() && !together && (grouping.rollup.is_some() || grows);
    if sorted {
        let keys = grouping.keys.iter().map(|expr| OrderItem { expr: expr.clone(), descending: false }).collect();
        input = Node::Sort { input: Box::new(input), keys, limit: Limit::default() };
    }
    let aggregates = grouping.aggregates.into_iter().map(|aggregate| (aggregate.call, aggregate.id)).collect();
    let ordered = together || sorted;
    let Grouping { keys, rollup, grouped, .. } = grouping;
    Node::Aggregate(Box::new(AggregateNode { input, keys, ordered, rollup, grouped, aggregates }))
}

/// Whether the rows of a group come one after the other, because of the index that the first table is read by.
fn arrives_grouped(of: (&Block, &Columns), node: &Node, keys: &[Expr], facts: &[Option<TableFacts>]) -> bool {
    match node {
        Node::Filter { input, .. } | Node::Apply { input, .. } => arrives_grouped(of, input, keys, facts),
        Node::Join(join) if matches!(join.method, crate::plan::node::JoinMethod::NestedLoop) => {
            match join.inner_slots.is_empty() {
                true => arrives_grouped(of, &join.inner, keys, facts),
                false => arrives_grouped(of, &join.outer, keys, facts),
            }
        }
        Node::Access(access) => match (&access.method, &facts[access.table]) {
            (AccessMethod::Index(index, _), Some(facts)) if facts.for_groups.indexes.contains(&index.index) => {
                let of = Of { columns: of.1, table: of.0.tables[access.table].id };
                groups_together(index, &facts.table, keys, of)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Runs the subqueries that some expressions read and that were not run below.
pub(super) fn apply_for<'e>(
    (block, columns): (&Block, &Columns),
    node: Node,
    exprs: impl Iterator<Item = &'e Expr>,
    applied: &mut Vec<usize>,
) -> Node {
    let dependencies = Dependencies::new(block, columns);
    let mut subqueries = Vec::new();
    for number in exprs.flat_map(|expr| dependencies.of(expr).subqueries) {
        if !applied.contains(&number) {
            applied.push(number);
            subqueries.push(number);
        }
    }
    if subqueries.is_empty() { node } else { Node::Apply { input: Box::new(node), subqueries } }
}

/// The subqueries that are run somewhere in a node.
fn applied_in(node: &Node) -> Vec<usize> {
    let mut all: Vec<usize> = node.inputs().flat_map(applied_in).collect();
    if let Node::Apply { subqueries, .. } = node {
        all.extend(subqueries);
    }
    all
}
