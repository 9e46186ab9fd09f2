//! The operators of a block, as EXPLAIN shows them.

use types::json::Json;

use crate::exec::measured::only_counts;
use crate::expr::Expr;
use crate::plan::explain::build::{Builder, limited, sorted};
use crate::plan::explain::names::Names;
use crate::plan::explain::shown::{Expected, Shown, text, texts};
use crate::plan::node::{
    AccessMethod, AggregateNode, HashKey, JoinMethod, JoinNode, JoinRows, Node, PlannedSource, WindowNode,
};

impl Builder {
    pub(super) fn operator(&mut self, node: &Node, names: &Names<'_>) -> Shown {
        match node {
            Node::One => {
                let expected = Some(Expected { rows: 1.0, cost: 0.0, first_cost: Some(0.0) });
                Shown::of("rows_fetched_before_execution", "Rows fetched before execution").expecting(expected)
            }
            Node::Nothing(reason) => {
                let expected = Some(Expected { rows: 0.0, cost: 0.0, first_cost: Some(0.0) });
                let shown = Shown::of("zero_rows", format!("Zero rows ({reason})"));
                shown.with("zero_rows_cause", text(reason)).expecting(expected)
            }
            Node::Access(access) => self.access(access, names),
            Node::Join(join) => self.join(join, names),
            Node::Filter { input, conditions } => {
                let left = part_left_by(input);
                let input = self.node(input, names);
                let expected = input.expected.zip(left);
                let expected = expected.map(|(input, left)| Expected { rows: input.rows * left, ..input });
                self.filter(conditions.iter().collect(), input, names).expecting(expected)
            }
            Node::Apply { input, .. } | Node::Compute { input, .. } => self.node(input, names),
            Node::Aggregate(aggregate) => self.aggregate(aggregate, names),
            Node::Window(window) => self.window(window, names),
            Node::Distinct { input, .. } => {
                let input = self.node(input, names);
                let expected = input.expected;
                Shown::of("materialize", "Temporary table with deduplication")
                    .with("temp_table", Json::Bool(true))
                    .with("deduplication", Json::Bool(true))
                    .over(vec![input])
                    .expecting(expected)
            }
            Node::Sort { input, keys, limit } => {
                let input = self.node(input, names);
                sorted(input, keys.iter().map(|key| names.order(key)).collect(), limit)
            }
            Node::Limit { input, limit } => limited(self.node(input, names), limit, names.block.count_found_rows),
            Node::Measured(measured) => {
                Shown { actual: measured.counters.measured().into(), ..self.node(&measured.node, names) }
            }
        }
    }

    fn join(&mut self, join: &JoinNode, names: &Names<'_>) -> Shown {
        let outer = self.node(&join.outer, names);
        let mut inner = self.node(&join.inner, names);
        let expected = joined(join, &outer, &inner);
        let (kind, hashed) = match join.rows {
            JoinRows::Inner => ("inner join", "Inner hash join"),
            JoinRows::Left => ("left join", "Left hash join"),
            JoinRows::Semi => ("semijoin", "Hash semijoin"),
            JoinRows::Anti => ("antijoin", "Hash antijoin"),
        };
        let keys: &[HashKey] = match &join.method {
            JoinMethod::Hash(keys) => keys,
            JoinMethod::NestedLoop | JoinMethod::Buffered => &[],
        };
        let pairs: Vec<String> =
            keys.iter().map(|key| format!("({} = {})", names.text(&key.outer), names.text(&key.inner))).collect();
        let is_nested = matches!(join.method, JoinMethod::NestedLoop);
        let (mut operation, algorithm) = match (is_nested, join.rows) {
            (true, JoinRows::Semi) => ("Nested loop semijoin (FirstMatch)".into(), "nested_loop"),
            (true, _) => (format!("Nested loop {kind}"), "nested_loop"),
            (false, _) if pairs.is_empty() => (format!("{hashed} (no condition)"), "hash"),
            (false, _) => (format!("{hashed} {}", pairs.join(", ")), "hash"),
        };
        if !join.conditions.is_empty() {
            operation += &format!(", extra conditions: {}", names.all(&join.conditions));
        }
        let mut shown =
            Shown::of("join", operation).with("join_type", text(kind)).with("join_algorithm", text(algorithm));
        if is_nested && join.rows == JoinRows::Semi {
            shown = shown.with("semijoin_strategy", text("firstmatch"));
        }
        if !join.conditions.is_empty() {
            let conditions = join.conditions.iter().map(|condition| names.text(condition));
            shown = shown.with("extra_condition", texts(conditions));
        }
        if !is_nested {
            let sides = keys.iter().flat_map(|key| [&key.outer, &key.inner]);
            let columns = names.columns(sides.chain(&join.conditions));
            shown = shown.with("hash_condition", texts(pairs)).with("join_columns", texts(columns));
            inner = inner.headed("Hash");
        }
        let mut inputs = vec![outer, inner];
        inputs.extend(self.subqueries_in(&join.conditions, names));
        shown.over(inputs).expecting(expected)
    }

    fn subqueries_in(&mut self, conditions: &[Expr], names: &Names<'_>) -> Vec<Shown> {
        self.subqueries_of(&conditions.iter().collect::<Vec<_>>(), names)
    }

    fn aggregate(&mut self, aggregate: &AggregateNode, names: &Names<'_>) -> Shown {
        if let Some(counted) = counted_table(aggregate, names) {
            return counted;
        }
        let input = self.node(&aggregate.input, names);
        let functions: Vec<String> = aggregate.aggregates.iter().map(|(call, _)| names.aggregate(call)).collect();
        let has_keys = !aggregate.keys.is_empty();
        let is_kept = has_keys && !aggregate.ordered;
        let rollup = if aggregate.rollup.is_some() { " with rollup" } else { "" };
        let mut operation = match (has_keys, is_kept) {
            (false, _) => "Aggregate".to_owned(),
            (true, false) => format!("Group aggregate{rollup}"),
            (true, true) => format!("Aggregate using temporary table{rollup}"),
        };
        if !functions.is_empty() {
            operation += &format!(": {}", functions.join(", "));
        } else if has_keys && !is_kept {
            operation = format!("Group (no aggregates){rollup}");
        }
        let expected = input.expected.filter(|_| !has_keys);
        let expected = expected.map(|input| Expected { rows: 1.0, cost: input.cost + input.rows, first_cost: None });
        let mut shown = Shown::of(if is_kept { "temp_table_aggregate" } else { "aggregate" }, operation);
        if !functions.is_empty() {
            shown = shown.with("functions", texts(functions));
        }
        for (is_so, name) in [(has_keys, "group_by"), (!rollup.is_empty(), "rollup")] {
            if is_so {
                shown = shown.with(name, Json::Bool(true));
            }
        }
        shown.over(vec![input]).expecting(expected)
    }

    fn window(&mut self, window: &WindowNode, names: &Names<'_>) -> Shown {
        let input = self.node(&window.input, names);
        let calls: Vec<String> = window.calls().map(|(_, call)| names.window_call(window, call)).collect();
        let is_buffered = !window.is_running();
        let how = if is_buffered { "Window aggregate with buffering" } else { "Window aggregate" };
        let expected = input.expected.map(|input| Expected { cost: input.cost + input.rows, ..input });
        let mut shown = Shown::of("window", format!("{how}: {}", calls.join(", "))).with("functions", texts(calls));
        if is_buffered {
            shown = shown.with("buffering", Json::Bool(true));
        }
        shown.over(vec![input]).expecting(expected)
    }
}

/// A table whose rows are counted, all of them.
fn counted_table(aggregate: &AggregateNode, names: &Names<'_>) -> Option<Shown> {
    let Node::Access(access) = &aggregate.input else { return None };
    let AccessMethod::Index(index, _) = &access.method else { return None };
    let is_all = index.parts.is_empty() && access.filter.is_empty();
    if !is_all || !only_counts(names.block, aggregate) {
        return None;
    }
    let table = &names.block.tables[access.table];
    let PlannedSource::Base(base) = &table.source else { return None };
    let shown = Shown::of("count_rows", format!("Count rows in {}", table.alias));
    let shown = shown.with("table_name", text(&base.def.name));
    let shown = if base.def.name == *table.alias { shown } else { shown.with("alias", text(&table.alias)) };
    Some(table.schema.iter().fold(shown, |shown, schema| shown.with("schema_name", text(schema))))
}

/// Which part of an access's rows its conditions leave, if they are not checked while it reads.
fn part_left_by(node: &Node) -> Option<f64> {
    match node {
        Node::Measured(measured) => part_left_by(&measured.node),
        Node::Access(access) => access.filter.is_empty().then_some(access.estimate.filtered),
        _ => None,
    }
}

/// What a join is expected to give: a nested loop reads its inner side for each row, others read it once.
fn joined(join: &JoinNode, outer: &Shown, inner: &Shown) -> Option<Expected> {
    let (outer, inner) = (outer.expected?, inner.expected?);
    let rows = if join.expected_rows > 0.0 { join.expected_rows } else { outer.rows * inner.rows };
    let cost = match join.method {
        JoinMethod::NestedLoop => outer.cost + outer.rows * inner.cost,
        JoinMethod::Buffered | JoinMethod::Hash(_) => outer.cost + inner.cost + outer.rows + inner.rows,
    };
    Some(Expected { rows, cost, first_cost: None })
}
