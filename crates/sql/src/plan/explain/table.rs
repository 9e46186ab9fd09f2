//! The rows of the traditional format.

use types::{ColumnType, TableDef, Value};

use crate::bind::tree::{SetKind, SubqueryKind};
use crate::dml::InsertSource;
use crate::exec::apply::outer_slots;
use crate::expr::{CompareOp, Constancy, Expr, ExprKind};
use crate::plan::PlanKind;
use crate::plan::access::{Covered, IndexAccess, Interval};
use crate::plan::node::{
    AccessMethod, AccessNode, BlockPlan, JoinMethod, JoinNode, JoinRows, Node, PlannedSource, PlannedTable, QueryBody,
    QueryPlan, SetPlan, SlotSource,
};
use crate::plan::rules::in_as_join::JOINED_SUBQUERY;

/// One line of EXPLAIN.
#[derive(Clone, Debug, Default)]
pub(super) struct TableRow {
    pub(super) id: Option<u32>,
    pub(super) select_type: String,
    pub(super) table: Option<String>,
    pub(super) access: Option<&'static str>,
    pub(super) possible_keys: Vec<String>,
    pub(super) key: Option<String>,
    pub(super) key_len: Option<usize>,
    pub(super) refs: Vec<String>,
    pub(super) rows: Option<u64>,
    pub(super) filtered: Option<f64>,
    pub(super) extra: Vec<String>,
}

impl TableRow {
    pub(super) fn values(&self) -> Vec<Value> {
        let text = |text: &str| Value::from(text);
        let list = |items: &[String], with: &str| {
            if items.is_empty() { Value::Null } else { text(&items.join(with)) }
        };
        vec![
            self.id.map_or(Value::Null, |id| Value::Int(id.into())),
            text(&self.select_type),
            self.table.as_deref().map_or(Value::Null, text),
            Value::Null,
            self.access.map_or(Value::Null, text),
            list(&self.possible_keys, ","),
            self.key.as_deref().map_or(Value::Null, text),
            self.key_len.map_or(Value::Null, |length| text(&length.to_string())),
            list(&self.refs, ","),
            self.rows.map_or(Value::Null, Value::UInt),
            self.filtered.map_or(Value::Null, Value::Double),
            list(&self.extra, "; "),
        ]
    }
}

/// The lines for a statement.
pub(super) fn table_rows(kind: &PlanKind) -> Vec<TableRow> {
    let mut rows = Vec::new();
    match kind {
        PlanKind::Query(query) => {
            let select_type = if is_simple(query) { "SIMPLE" } else { "PRIMARY" };
            query_rows(query, select_type, &mut rows);
        }
        PlanKind::Insert(insert) => {
            let select_type = if insert.replace { "REPLACE" } else { "INSERT" };
            let table = Some(insert.table.def.name.clone());
            rows.push(TableRow {
                id: Some(1),
                select_type: select_type.into(),
                table,
                access: Some("ALL"),
                ..TableRow::default()
            });
            if let InsertSource::Query { plan, .. } = &insert.source {
                let select_type = if is_simple(plan) { "SIMPLE" } else { "PRIMARY" };
                query_rows(plan, select_type, &mut rows);
            }
        }
        PlanKind::Update(update) => block_rows(&update.block, "UPDATE", &mut rows),
        PlanKind::Delete(delete) => block_rows(&delete.block, "DELETE", &mut rows),
        PlanKind::Rows(_) | PlanKind::Do(_) | PlanKind::Load(_) | PlanKind::Explain(_) => {}
    }
    rows
}

fn is_simple(query: &QueryPlan) -> bool {
    match &query.body {
        QueryBody::Block(block) => {
            let derived = |table: &PlannedTable| {
                matches!(table.source, PlannedSource::Derived(..)) && *table.alias != *JOINED_SUBQUERY
            };
            block.subqueries.iter().all(|subquery| subquery.query.is_none()) && !block.tables.iter().any(derived)
        }
        QueryBody::Set(_) => false,
        QueryBody::Values(_) => true,
    }
}

/// The number of a query's first block.
pub(super) fn first_number(query: &QueryPlan) -> u32 {
    match &query.body {
        QueryBody::Block(block) => block.number,
        QueryBody::Set(set) => set.branches.first().map_or(0, first_number),
        QueryBody::Values(_) => 0,
    }
}

fn query_rows(query: &QueryPlan, select_type: &str, rows: &mut Vec<TableRow>) {
    match &query.body {
        QueryBody::Block(block) => block_rows(block, select_type, rows),
        QueryBody::Values(_) => rows.push(TableRow {
            id: Some(1),
            select_type: select_type.into(),
            extra: vec!["No tables used".into()],
            ..TableRow::default()
        }),
        QueryBody::Set(set) => set_rows(set, select_type, rows),
    }
}

fn set_rows(set: &SetPlan, select_type: &str, rows: &mut Vec<TableRow>) {
    let name = set.kind.name();
    let dependent = if select_type.starts_with("DEPENDENT") { "DEPENDENT " } else { "" };
    for (at, branch) in set.branches.iter().enumerate() {
        let is_first = at == 0 || matches!(branch.body, QueryBody::Set(_));
        match is_first {
            true => query_rows(branch, select_type, rows),
            false => query_rows(branch, &format!("{dependent}{name}"), rows),
        }
    }
    let is_recursive = matches!(set.kind, SetKind::Recursive(_));
    if is_recursive || !set.kind.compares() && set.order.is_empty() {
        return;
    }
    let number = |branch: &QueryPlan| match &branch.body {
        QueryBody::Set(set) => set.number,
        _ => first_number(branch),
    };
    let numbers: Vec<String> = set.branches.iter().map(|branch| number(branch).to_string()).collect();
    let mut extra = vec!["Using temporary".to_string()];
    if !set.order.is_empty() {
        extra.push("Using filesort".into());
    }
    rows.push(TableRow {
        id: Some(set.number),
        select_type: format!("{name} RESULT"),
        table: Some(format!("<{}{}>", name.to_lowercase(), numbers.join(","))),
        access: Some("ALL"),
        extra,
        ..TableRow::default()
    });
}

fn block_rows(block: &BlockPlan, select_type: &str, rows: &mut Vec<TableRow>) {
    let start = rows.len();
    node_rows(&block.root, block, select_type, rows);
    let own = |row: &TableRow| TableRow { id: Some(block.number), select_type: select_type.into(), ..row.clone() };
    if rows.len() == start {
        let extra = nothing_reason(&block.root).unwrap_or("No tables used");
        rows.push(own(&TableRow { extra: vec![extra.into()], ..TableRow::default() }));
    }
    let (temporary, filesort) = uses_temporary(&block.root);
    let first = &mut rows[start];
    for (used, what) in [(temporary, "Using temporary"), (filesort, "Using filesort")] {
        if used {
            first.extra.push(what.into());
        }
    }
    for subquery in &block.subqueries {
        let Some(query) = &subquery.query else { continue };
        let dependent = subquery.correlated && !matches!(subquery.kind, SubqueryKind::Call { .. });
        query_rows(query, if dependent { "DEPENDENT SUBQUERY" } else { "SUBQUERY" }, rows);
    }
    for table in &block.tables {
        if let PlannedSource::Derived(query, made_once) = &table.source {
            if made_once.is_some() && rows.iter().any(|row| row.id == Some(first_number(query))) {
                continue;
            }
            let select_type = match *table.alias == *JOINED_SUBQUERY {
                true => "MATERIALIZED",
                false if reads_outer(query) => "DEPENDENT DERIVED",
                false => "DERIVED",
            };
            query_rows(query, select_type, rows);
        }
    }
}

fn reads_outer(query: &QueryPlan) -> bool {
    let mut slots = Vec::new();
    outer_slots(query, &mut slots);
    !slots.is_empty()
}

fn nothing_reason(node: &Node) -> Option<&'static str> {
    match node {
        Node::Nothing(reason) => Some(reason),
        node => node.inputs().find_map(nothing_reason),
    }
}

fn uses_temporary(node: &Node) -> (bool, bool) {
    let own = match node {
        Node::Join(_) => return (false, false),
        Node::Aggregate(aggregate) => (!aggregate.ordered && !aggregate.keys.is_empty(), false),
        Node::Distinct { .. } => (true, false),
        Node::Sort { .. } => (false, true),
        // As in MySQL, which says nothing of what it keeps for windows.
        _ => (false, false),
    };
    node.inputs().map(uses_temporary).fold(own, |a, b| (a.0 | b.0, a.1 | b.1))
}

fn node_rows(node: &Node, block: &BlockPlan, select_type: &str, rows: &mut Vec<TableRow>) {
    match node {
        Node::Access(access) => rows.push(access_row(access, block, select_type)),
        Node::Join(join) => {
            node_rows(&join.outer, block, select_type, rows);
            let inner = rows.len();
            let before = rows.last().and_then(|row| row.table.clone());
            node_rows(&join.inner, block, select_type, rows);
            match (join.rows, rows[inner..].last_mut()) {
                (JoinRows::Semi, Some(last)) => last.extra.push(format!("FirstMatch({})", before.unwrap_or_default())),
                (JoinRows::Anti, Some(last)) => last.extra.push("Not exists".into()),
                _ => {}
            }
            if let Some(first) = rows.get_mut(inner) {
                add_join_buffer(join, first);
            }
        }
        node => {
            let start = rows.len();
            node.inputs().for_each(|input| node_rows(input, block, select_type, rows));
            let filters = matches!(node, Node::Filter { input, .. } if !matches!(**input, Node::Aggregate(_)));
            if filters && let Some(last) = rows[start..].last_mut() {
                add_where(last);
            }
        }
    }
}

fn add_where(row: &mut TableRow) {
    if !row.extra.iter().any(|extra| extra == "Using where") {
        row.extra.insert(0, "Using where".into());
    }
}

fn add_join_buffer(join: &JoinNode, row: &mut TableRow) {
    if !join.conditions.is_empty() {
        add_where(row);
    }
    match join.method {
        JoinMethod::NestedLoop => {}
        JoinMethod::Buffered => row.extra.push("Using join buffer (Block Nested Loop)".into()),
        JoinMethod::Hash(_) => {
            add_where(row);
            row.extra.push("Using join buffer (hash join)".into());
        }
    }
}

fn access_row(access: &AccessNode, block: &BlockPlan, select_type: &str) -> TableRow {
    let table = &block.tables[access.table];
    let mut row = TableRow {
        id: Some(block.number),
        select_type: select_type.into(),
        table: Some(table.alias.to_string()),
        access: Some("ALL"),
        rows: Some(access.estimate.rows.round().max(1.0) as u64),
        filtered: Some((access.estimate.filtered * 10_000.0).round().clamp(1.0, 10_000.0) / 100.0),
        ..TableRow::default()
    };
    let (AccessMethod::Index(index, covered), PlannedSource::Base(base)) = (&access.method, &table.source) else {
        if let PlannedSource::Derived(query, _) = &table.source {
            let joined = *table.alias == *JOINED_SUBQUERY;
            row.table = Some(format!("<{}{}>", if joined { "subquery" } else { "derived" }, first_number(query)));
        }
        if matches!(table.source, PlannedSource::Round(..)) {
            row.extra.push("Recursive".into());
        }
        if matches!(table.source, PlannedSource::Json(_)) {
            row.extra.extend(["Table function: json_table", "Using temporary"].map(Into::into));
        }
        if !access.filter.is_empty() {
            row.extra.push("Using where".into());
        }
        return row;
    };
    let def = &base.def;
    row.possible_keys = access.possible.iter().map(|&index| def.indexes[index].name.clone()).collect();
    let kind = match access_kind(index, block) {
        "ALL" if access.for_order => "index",
        kind => kind,
    };
    row.access = Some(kind);
    if kind != "ALL" {
        row.key = Some(def.indexes[index.index].name.clone());
        let parts = if index.parts.is_empty() { def.indexes[index.index].parts.len() } else { index.parts.len() };
        row.key_len = Some(key_length(def, index.index, parts));
    }
    if matches!(kind, "const" | "eq_ref" | "ref" | "ref_or_null") {
        row.refs = index.parts.iter().map(|part| ref_name(&part.intervals, block)).collect();
    }
    let implied = |condition: &Expr| is_implied(condition, access, &block.slots);
    if !access.index_filter.is_empty() && !access.index_filter.iter().all(implied) {
        row.extra.push("Using index condition".into());
    }
    if !access.filter.is_empty() && !access.filter.iter().all(implied) {
        row.extra.push("Using where".into());
    }
    if index.descending && kind != "const" {
        row.extra.push("Backward index scan".into());
    }
    if *covered == Covered::Covering {
        row.extra.push("Using index".into());
    }
    row
}

/// The `type` column.
fn access_kind(index: &IndexAccess, block: &BlockPlan) -> &'static str {
    if index.parts.is_empty() {
        // A clustered index read for its order is an index scan to MySQL too, but a plain scan is not.
        return if index.index == 0 && !index.descending { "ALL" } else { "index" };
    }
    if !index.parts.iter().all(|part| is_one_point(&part.intervals)) {
        return "range";
    }
    let by_tables = index.parts.iter().flat_map(|part| &part.intervals).flat_map(Interval::exprs).any(|expr| {
        expr.slots()
            .iter()
            .any(|slot| matches!(block.slots[slot], SlotSource::Column { .. } | SlotSource::Outer { .. }))
    });
    let own = index.unique_parts.unwrap_or(usize::MAX);
    let points = index.parts.iter().take(own).all(|part| matches!(part.intervals[..], [Interval::Point(_)]));
    match (index.parts.len() >= own && points, by_tables) {
        (true, true) => "eq_ref",
        (true, false) => "const",
        _ => "ref",
    }
}

/// Whether it is one value that is looked up.
pub(super) fn is_one_point(intervals: &[Interval]) -> bool {
    matches!(intervals, [Interval::Point(_) | Interval::NullSafePoint(_) | Interval::Null])
}

/// What is looked up: a column, or something else.
pub(super) fn ref_name(intervals: &[Interval], block: &BlockPlan) -> String {
    let [Interval::Point(expr) | Interval::NullSafePoint(expr)] = intervals else { return "const".into() };
    if let ExprKind::Column { slot, .. } = expr.kind {
        return match block.slots[slot] {
            SlotSource::Column { table, column } => {
                let table = &block.tables[table];
                let schema = table.schema.as_deref().map(|schema| format!("{schema}.")).unwrap_or_default();
                format!("{schema}{}.{}", table.alias, table.columns[column])
            }
            SlotSource::Outer { .. } => "func".into(),
            _ => "const".into(),
        };
    }
    if expr.constancy() <= Constancy::Execution { "const".into() } else { "func".into() }
}

/// Whether the look-up itself makes the condition true.
pub(super) fn is_implied(condition: &Expr, access: &AccessNode, slots: &[SlotSource]) -> bool {
    let AccessMethod::Index(index, _) = &access.method else { return false };
    let is_lookup = index.parts.iter().all(|part| is_one_point(&part.intervals));
    let ExprKind::Compare { op: CompareOp::Eq, args } = &condition.kind else { return false };
    let is_part = |column: &Expr, value: &Expr| {
        let Some(slot) = column.as_column() else { return false };
        let SlotSource::Column { table: of, column } = slots[slot] else { return false };
        of == access.table
            && index.parts.iter().any(|part| {
                part.column == column && matches!(&part.intervals[..], [Interval::Point(expr)] if expr == value)
            })
    };
    is_lookup && (is_part(&args[0], &args[1]) || is_part(&args[1], &args[0]))
}

/// Bytes of the key parts that are used, as MySQL counts them.
fn key_length(def: &TableDef, index: usize, parts: usize) -> usize {
    let own = &def.indexes[index].parts;
    let tail = if index == 0 { &[][..] } else { &def.primary().parts[..] };
    own.iter().chain(tail).take(parts).map(|part| part_length(def, part)).sum()
}

fn part_length(def: &TableDef, part: &types::KeyPart) -> usize {
    let column = &def.columns[part.column];
    let width = column.collation.charset().max_bytes_per_char() as usize;
    let characters = |chars: u32| part.prefix_chars.unwrap_or(chars) as usize;
    let fraction = |fsp: u8| usize::from(fsp.div_ceil(2));
    let bytes = match &column.ty {
        ColumnType::Char { chars } => characters(*chars) * width,
        ColumnType::VarChar { chars } => characters(*chars) * width + 2,
        ColumnType::Text { .. } => characters(0) * width + 2,
        ColumnType::Binary { bytes } => characters(*bytes),
        ColumnType::VarBinary { bytes } => characters(*bytes) + 2,
        ColumnType::Blob { .. } => characters(0) + 2,
        ColumnType::Float { .. } => 4,
        ColumnType::Double { .. } => 8,
        ColumnType::Decimal { precision, scale, .. } => decimal_bytes(*precision - *scale) + decimal_bytes(*scale),
        ColumnType::Date => 3,
        ColumnType::Time { fsp } => 3 + fraction(*fsp),
        ColumnType::DateTime { fsp } => 5 + fraction(*fsp),
        ColumnType::Timestamp { fsp } => 4 + fraction(*fsp),
        ColumnType::Year => 1,
        ColumnType::Bit { bits } => usize::from(bits.div_ceil(8)),
        ty => ty.integer().map(|(width, _)| width).or(ty.pack_length()).unwrap_or(8),
    };
    bytes + usize::from(column.nullable)
}

fn decimal_bytes(digits: u8) -> usize {
    const LEFT_OVER: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    usize::from(digits / 9) * 4 + LEFT_OVER[usize::from(digits % 9)]
}
