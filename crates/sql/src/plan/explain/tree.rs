//! FORMAT=TREE: one operator to a line, inputs below and further in.

use std::collections::HashSet;

use crate::bind::tree::{CteId, Limit, OrderItem, SetKind};
use crate::dml::InsertSource;
use crate::expr::window::WindowCall;
use crate::plan::PlanKind;
use crate::plan::access::{Covered, Interval};
use crate::plan::explain::expr_text::text;
use crate::plan::node::{
    AccessMethod, AccessNode, BlockPlan, HashKey, JoinMethod, JoinNode, JoinRows, Node, PlannedSource, QueryBody,
    QueryPlan, WindowNode,
};

/// The whole statement.
pub(super) fn tree_text(kind: &PlanKind) -> String {
    let mut tree = Tree { text: String::new(), made: HashSet::new() };
    match kind {
        PlanKind::Query(query) => tree.query(query, 0),
        PlanKind::Insert(insert) => {
            let verb = if insert.replace { "Replace" } else { "Insert" };
            tree.line(0, &format!("{verb} into {}", insert.table.def.name));
            if let InsertSource::Query { plan, .. } = &insert.source {
                tree.query(plan, 1);
            }
        }
        PlanKind::Update(update) => {
            let tables: Vec<&str> = update.targets.iter().map(|(target, _)| target.table.def.name.as_str()).collect();
            tree.line(0, &format!("Update {}", tables.join(", ")));
            tree.block(&update.block, 1);
        }
        PlanKind::Delete(delete) => {
            let tables: Vec<&str> = delete.targets.iter().map(|target| target.table.def.name.as_str()).collect();
            tree.line(0, &format!("Delete from {}", tables.join(", ")));
            tree.block(&delete.block, 1);
        }
        PlanKind::Rows(_) | PlanKind::Do(_) | PlanKind::Load(_) => {}
    }
    tree.text
}

fn operation(kind: &SetKind) -> &'static str {
    match kind {
        SetKind::Union { distinct_until: None } => "Append",
        SetKind::Union { .. } => "Union materialize with deduplication",
        SetKind::Except { all } if !all.contains(&false) => "Except all materialize",
        SetKind::Except { .. } => "Except materialize with deduplication",
        SetKind::Intersect { all: true } => "Intersect all materialize",
        SetKind::Intersect { all: false } => "Intersect materialize with deduplication",
        SetKind::Recursive(recursion) if recursion.is_distinct => "Repeat until convergence, with deduplication",
        SetKind::Recursive(_) => "Repeat until convergence",
    }
}

struct Tree {
    text: String,
    /// Common table expressions that are shown already.
    made: HashSet<CteId>,
}

impl Tree {
    fn line(&mut self, depth: usize, line: &str) {
        for _ in 0..depth {
            self.text.push_str("    ");
        }
        self.text.push_str("-> ");
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn query(&mut self, query: &QueryPlan, depth: usize) {
        match &query.body {
            QueryBody::Block(block) => self.block(block, depth),
            QueryBody::Values(rows) => {
                self.line(depth, &format!("Rows fetched before execution ({} rows)", rows.len()))
            }
            QueryBody::Set(set) => {
                let mut depth = depth;
                if let Some(limit) = limit_text(&set.limit) {
                    self.line(depth, &limit);
                    depth += 1;
                }
                if !set.order.is_empty() {
                    self.line(depth, "Sort");
                    depth += 1;
                }
                self.line(depth, operation(&set.kind));
                set.branches.iter().for_each(|branch| self.query(branch, depth + 1));
            }
        }
    }

    fn block(&mut self, block: &BlockPlan, depth: usize) {
        if block.is_greedy {
            self.line(depth, "Join order found step by step (too many tables to look at all orders)");
        }
        self.node(&block.root, block, depth);
        for subquery in &block.subqueries {
            let Some(query) = &subquery.query else { continue };
            let how = if subquery.correlated { "dependent" } else { "run only once" };
            self.line(depth, &format!("Select #{} (subquery; {how})", super::table::first_number(query)));
            self.query(query, depth + 1);
        }
    }

    fn node(&mut self, node: &Node, block: &BlockPlan, depth: usize) {
        let conditions =
            |exprs: &[crate::expr::Expr]| exprs.iter().map(|expr| text(expr, block)).collect::<Vec<_>>().join(" and ");
        let input = match node {
            Node::One => return self.line(depth, "Rows fetched before execution"),
            Node::Nothing(reason) => return self.line(depth, &format!("Zero rows ({reason})")),
            Node::Access(access) => return self.access(access, block, depth),
            Node::Join(join) => {
                self.line(depth, &join_text(join, block));
                self.node(&join.outer, block, depth + 1);
                return self.node(&join.inner, block, depth + 1);
            }
            Node::Filter { input, conditions: exprs } => {
                self.line(depth, &format!("Filter: {}", conditions(exprs)));
                input
            }
            Node::Apply { input, subqueries } => {
                self.line(depth, &format!("Apply {} subquery(s) per row", subqueries.len()));
                input
            }
            Node::Aggregate(aggregate) => {
                let how = match (aggregate.keys.is_empty(), aggregate.ordered) {
                    (true, _) => "Aggregate",
                    (false, true) => "Group aggregate",
                    (false, false) => "Aggregate using temporary table",
                };
                self.line(depth, how);
                &aggregate.input
            }
            Node::Compute { input, exprs } => {
                let exprs: Vec<String> = exprs.iter().map(|(expr, _)| text(expr, block)).collect();
                self.line(depth, &format!("Compute: {}", exprs.join(", ")));
                input
            }
            Node::Window(window) => {
                let how = if window.is_running() { "Window aggregate" } else { "Window aggregate with buffering" };
                let over = over_text(window, block);
                let calls = window.windows.iter().flat_map(|(_, calls)| calls);
                let calls: Vec<String> = calls.map(|call| call_text(&call.call, block) + &over).collect();
                self.line(depth, &format!("{how}: {}", calls.join(", ")));
                &window.input
            }
            Node::Distinct { input, .. } => {
                self.line(depth, "Deduplicate");
                input
            }
            Node::Sort { input, keys, limit } => {
                let keys: Vec<String> = keys.iter().map(|key| order_text(key, block)).collect();
                let kept = limit_text(limit).map(|limit| format!(", {}", limit.to_lowercase())).unwrap_or_default();
                self.line(depth, &format!("Sort: {}{kept}", keys.join(", ")));
                input
            }
            Node::Limit { input, limit } => {
                self.line(depth, &limit_text(limit).unwrap_or_else(|| "Limit".into()));
                input
            }
        };
        self.node(input, block, depth + 1);
    }

    fn access(&mut self, access: &AccessNode, block: &BlockPlan, mut depth: usize) {
        let conditions: Vec<String> =
            access.index_filter.iter().chain(&access.filter).map(|expr| text(expr, block)).collect();
        if !conditions.is_empty() {
            self.line(depth, &format!("Filter: {}", conditions.join(" and ")));
            depth += 1;
        }
        let table = &block.tables[access.table];
        let rows = access.estimate.rows.round().max(1.0);
        let what = match (&access.method, &table.source) {
            (AccessMethod::Index(index, covered), PlannedSource::Base(base)) => {
                let name = &base.def.indexes[index.index].name;
                let backwards = if index.descending { " (reverse)" } else { "" };
                let covering = if *covered == Covered::Covering { "Covering index" } else { "Index" };
                let point =
                    |intervals: &[Interval]| matches!(intervals, [Interval::Point(_) | Interval::NullSafePoint(_)]);
                if index.parts.is_empty() && index.index == 0 && !index.descending {
                    format!("Table scan on {}", table.alias)
                } else if index.parts.is_empty() {
                    format!("{covering} scan on {} using {name}{backwards}", table.alias)
                } else if index.parts.iter().all(|part| point(&part.intervals)) {
                    let parts: Vec<String> = index
                        .parts
                        .iter()
                        .map(|part| {
                            let values: Vec<String> =
                                part.intervals.iter().flat_map(Interval::exprs).map(|e| text(e, block)).collect();
                            format!("{}={}", base.def.columns[part.column].name, values.join(","))
                        })
                        .collect();
                    format!("{covering} lookup on {} using {name} ({}){backwards}", table.alias, parts.join(", "))
                } else {
                    format!("{covering} range scan on {} using {name}{backwards}", table.alias)
                }
            }
            (_, PlannedSource::Derived(query, made_once)) => {
                self.line(depth, &format!("Table scan on {}", table.alias));
                let is_shown = made_once.is_some_and(|cte| !self.made.insert(cte));
                if is_shown {
                    return self.line(depth + 1, "Materialize if needed (query plan printed elsewhere)");
                }
                self.line(depth + 1, if made_once.is_some() { "Materialize if needed" } else { "Materialize" });
                return self.query(query, depth + 2);
            }
            (_, PlannedSource::Round(..)) => format!("Scan new records on {}", table.alias),
            (_, PlannedSource::Json(_)) => "Materialize table function".into(),
            _ => format!("Table scan on {}", table.alias),
        };
        self.line(depth, &format!("{what}  (rows={rows})"));
    }
}

fn over_text(window: &WindowNode, block: &BlockPlan) -> String {
    let list = |exprs: &mut dyn Iterator<Item = String>| exprs.collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !window.partition.is_empty() {
        let keys = list(&mut window.partition.iter().map(|expr| text(expr, block)));
        parts.push(format!("PARTITION BY {keys}"));
    }
    if !window.order.is_empty() {
        let keys = list(&mut window.order.iter().map(|item| order_text(item, block)));
        parts.push(format!("ORDER BY {keys}"));
    }
    format!(" OVER ({})", parts.join(" "))
}

fn order_text(item: &OrderItem, block: &BlockPlan) -> String {
    text(&item.expr, block) + if item.descending { " DESC" } else { "" }
}

fn call_text(call: &WindowCall, block: &BlockPlan) -> String {
    let args: Vec<String> = call.args().iter().chain(&call.number).map(|arg| text(arg, block)).collect();
    format!("{}({})", call.function.name(), args.join(", "))
}

fn join_text(join: &JoinNode, block: &BlockPlan) -> String {
    let (side, hashed) = match join.rows {
        JoinRows::Inner => ("inner join", "Inner hash join"),
        JoinRows::Left => ("left join", "Left hash join"),
        JoinRows::Semi => ("semijoin", "Hash semijoin"),
        JoinRows::Anti => ("antijoin", "Hash antijoin"),
    };
    match &join.method {
        JoinMethod::NestedLoop => format!("Nested loop {side}"),
        JoinMethod::Buffered => format!("Block nested loop {side}"),
        JoinMethod::Hash(keys) => {
            let pair = |key: &HashKey| format!("({} = {})", text(&key.outer, block), text(&key.inner, block));
            format!("{hashed} {}", keys.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

fn limit_text(limit: &Limit) -> Option<String> {
    let number = |expr: &crate::expr::Expr| match &expr.kind {
        crate::expr::ExprKind::Literal(types::Value::Int(n)) => n.to_string(),
        crate::expr::ExprKind::Literal(types::Value::UInt(n)) => n.to_string(),
        _ => "?".into(),
    };
    let count = limit.count.as_ref().map(number);
    let offset = limit.offset.as_ref().map(number);
    match (count, offset) {
        (None, None) => None,
        (Some(count), None) => Some(format!("Limit: {count} row(s)")),
        (Some(count), Some(offset)) => Some(format!("Limit/Offset: {count}/{offset} row(s)")),
        (None, Some(offset)) => Some(format!("Offset: {offset} row(s)")),
    }
}
