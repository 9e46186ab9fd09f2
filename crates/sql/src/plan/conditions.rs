//! Conditions taken apart: what each needs before it can be checked, and which intervals of which column it asks for.

use std::collections::HashMap;

use crate::bind::columns::{ColumnId, ColumnSource, Columns};
use crate::bind::scope::place_of;
use crate::bind::tree::{Block, Subquery, SubqueryKind};
use crate::expr::build::is_by_bits;
use crate::expr::order;
use crate::expr::{CompareOp, Constancy, Expr, ExprKind, ExprType, Kind, SlotSet};
use crate::plan::access::Interval;

/// A set of the block's tables, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TableSet(pub(crate) u128);

// More tables than this in one block are refused.
pub(crate) use syntax::grammar::TABLES_MAX;

impl TableSet {
    pub(crate) fn one(table: usize) -> Self {
        TableSet(1 << table)
    }

    /// All of these.
    pub(crate) fn of(tables: impl IntoIterator<Item = usize>) -> Self {
        tables.into_iter().map(TableSet::one).fold(TableSet::default(), TableSet::with)
    }

    pub(crate) fn with(self, other: TableSet) -> Self {
        TableSet(self.0 | other.0)
    }

    pub(crate) fn without(self, other: TableSet) -> Self {
        TableSet(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_within(self, other: TableSet) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) fn meets(self, other: TableSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// What must be there before an expression can be evaluated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) tables: TableSet,
    /// Subqueries that have to be applied.
    pub(crate) subqueries: Vec<usize>,
    /// It reads an aggregate, or what a window function gives.
    pub(crate) aggregates: bool,
}

/// What the expressions of a block need.
pub(crate) struct Dependencies<'b> {
    block: &'b Block,
    columns: &'b Columns,
    /// Where the subqueries are, by their results.
    places: HashMap<ColumnId, usize>,
    /// Per subquery; those without table or aggregate, and without a left side, are constants.
    subqueries: Vec<Needs>,
}

impl<'b> Dependencies<'b> {
    pub(crate) fn new(block: &'b Block, columns: &'b Columns) -> Self {
        let mut dependencies = Dependencies { block, columns, places: HashMap::new(), subqueries: Vec::new() };
        for subquery in &block.subqueries {
            let mut needs = Needs::default();
            let mut read = SlotSet::default();
            subquery.collect_read(&mut read);
            read.iter().for_each(|id| dependencies.add_column(id, &mut needs));
            if subquery.per_row {
                needs.tables = needs.tables.with(TableSet::of(0..block.tables.len()));
            }
            dependencies.places.insert(subquery.id, dependencies.subqueries.len());
            dependencies.subqueries.push(needs);
        }
        dependencies
    }

    /// Whether the subquery is run once, before the first row.
    pub(crate) fn is_constant(&self, subquery: usize) -> bool {
        let needs = &self.subqueries[subquery];
        let Subquery { kind, late, guard, .. } = &self.block.subqueries[subquery];
        matches!(kind, SubqueryKind::Scalar | SubqueryKind::Exists)
            && !late
            && guard.is_none()
            && needs.tables.is_empty()
            && !needs.aggregates
            && needs.subqueries.is_empty()
    }

    pub(crate) fn of(&self, expr: &Expr) -> Needs {
        let mut needs = Needs::default();
        self.add(expr, &mut needs);
        needs
    }

    /// Tables whose columns one of the block's own tables reads.
    pub(crate) fn of_table(&self, table: usize) -> TableSet {
        let (mut needs, mut read) = (Needs::default(), SlotSet::default());
        self.block.tables[table].collect_read(&mut read);
        read.iter().for_each(|id| self.add_column(id, &mut needs));
        needs.tables
    }

    fn add(&self, expr: &Expr, needs: &mut Needs) {
        expr.slots().iter().for_each(|id| self.add_column(id, needs));
    }

    fn add_column(&self, id: ColumnId, needs: &mut Needs) {
        match self.columns.source(id) {
            ColumnSource::Column { table, .. } => {
                // Those of other blocks are there already.
                let place = place_of(table, &self.block.tables);
                place.into_iter().for_each(|table| needs.tables = needs.tables.with(TableSet::one(table)));
            }
            ColumnSource::Aggregate | ColumnSource::Key | ColumnSource::Window if self.block.outer.contains(id) => {}
            ColumnSource::Aggregate | ColumnSource::Key | ColumnSource::Window => needs.aggregates = true,
            ColumnSource::RowImage => {}
            ColumnSource::Subquery => {
                let Some(index) = self.places.get(&id).copied().filter(|index| !self.is_constant(*index)) else {
                    return;
                };
                let inner = &self.subqueries[index];
                needs.tables = needs.tables.with(inner.tables);
                needs.aggregates |= inner.aggregates;
                for &number in inner.subqueries.iter().chain([&index]) {
                    if !needs.subqueries.contains(&number) {
                        needs.subqueries.push(number);
                    }
                }
            }
        }
    }

    /// The block's table and its column, if it is one.
    fn place(&self, id: ColumnId) -> Option<(usize, usize)> {
        self.columns.place(id, &self.block.tables)
    }
}

/// A conjunct, with what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) expr: Expr,
    pub(crate) needs: Needs,
    /// What it asks of single columns; each alone is implied by the condition.
    pub(crate) asks: Vec<Asked>,
    /// The part of the rows that pass, if anything is known of them.
    pub(crate) share: Option<f64>,
}

/// Intervals of one column.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) table: usize,
    pub(crate) column: usize,
    pub(crate) intervals: Vec<Interval>,
    /// Tables whose values the intervals take.
    pub(crate) needs: TableSet,
}

impl Condition {
    /// Of ON, or of WHERE, over rows of the tables `all`. What has another value each time (RAND(), `@n := @n + 1`) is evaluated for each such
    /// row, whatever it reads.
    pub(crate) fn new(expr: Expr, dependencies: &Dependencies<'_>, all: TableSet) -> Self {
        let mut needs = dependencies.of(&expr);
        if expr.constancy() == Constancy::Volatile {
            needs.tables = needs.tables.with(all);
        }
        let mut asks = Vec::new();
        if needs.subqueries.is_empty() {
            for id in leading_columns(&expr) {
                let Some((table, column)) = dependencies.place(id) else { continue };
                if let Some(intervals) = intervals(&expr, id)
                    && let Some(needs) = interval_needs(&intervals, table, dependencies)
                {
                    asks.push(Asked { table, column, intervals, needs });
                }
            }
        }
        Condition { expr, needs, asks, share: None }
    }

    /// The part of the rows that pass, about.
    pub(crate) fn selectivity(&self) -> f64 {
        self.share.unwrap_or_else(|| Condition::guess(&self.expr))
    }

    /// The same where nothing is known, as MySQL guesses.
    pub(crate) fn guess(expr: &Expr) -> f64 {
        match &expr.kind {
            ExprKind::Compare { op: CompareOp::Eq | CompareOp::NullSafeEq, .. } => 0.1,
            ExprKind::Compare { op: CompareOp::NotEq, .. } => 0.9,
            ExprKind::Compare { .. } => 0.3333,
            ExprKind::Between { .. } | ExprKind::Like { .. } => 0.1111,
            ExprKind::In { list, .. } => (0.1 * list.len() as f64).min(0.5),
            ExprKind::IsNull(_) => 0.1,
            ExprKind::Not(_) => 0.9,
            _ => 0.5,
        }
    }
}

/// The conditions that read a table, and no other but those that are there.
pub(crate) fn local_to(table: usize, conditions: &[Condition], there: TableSet) -> Vec<&Condition> {
    let own = TableSet::one(table);
    let here = there.with(own);
    let is_local = |needs: TableSet| needs.is_within(here) && needs.meets(own);
    conditions.iter().filter(|condition| is_local(condition.needs.tables)).collect()
}

/// The tables that the intervals need; `None` if they need the table itself, or are not the same for a whole scan.
fn interval_needs(intervals: &[Interval], table: usize, dependencies: &Dependencies<'_>) -> Option<TableSet> {
    let mut all = TableSet::default();
    for expr in intervals.iter().flat_map(Interval::exprs) {
        let needs = dependencies.of(expr);
        if needs.tables.meets(TableSet::one(table))
            || needs.aggregates
            || !needs.subqueries.is_empty()
            || expr.constancy() == Constancy::Volatile
        {
            return None;
        }
        all = all.with(needs.tables);
    }
    Some(all)
}

impl Interval {
    /// The expressions in it.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Interval::Point(expr) | Interval::NullSafePoint(expr) | Interval::Like { pattern: expr, .. } => vec![expr],
            Interval::Null => Vec::new(),
            Interval::Span { lower, upper } => lower.iter().chain(upper).map(|(expr, _)| expr).collect(),
        }
    }
}

/// Columns that the condition might bound.
fn leading_columns(expr: &Expr) -> Vec<usize> {
    let mut columns = Vec::new();
    let mut add = |expr: &Expr| columns.extend(expr.as_column());
    match &expr.kind {
        ExprKind::Compare { args, .. } => args.iter().for_each(add),
        ExprKind::In { value, .. } => add(value),
        ExprKind::Between { args, .. } => add(&args[0]),
        ExprKind::Like { args, .. } => add(&args[0]),
        ExprKind::IsNull(arg) => add(arg),
        ExprKind::Not(arg) => return leading_columns(arg),
        ExprKind::Or(parts) => return parts.first().map(leading_columns).unwrap_or_default(),
        _ => {}
    }
    columns
}

/// The intervals of a column to which the condition is limited; `None` if it does not limit it.
fn intervals(expr: &Expr, slot: usize) -> Option<Vec<Interval>> {
    let is_it = |expr: &Expr| expr.as_column() == Some(slot);
    match &expr.kind {
        ExprKind::Compare { op, args } => {
            let (op, column, value) = match (is_it(&args[0]), is_it(&args[1])) {
                (true, false) => (*op, &args[0], &args[1]),
                (false, true) => (op.mirrored(), &args[1], &args[0]),
                _ => return None,
            };
            (comparable(&column.ty, &value.ty) && has_order(&column.ty, op)).then(|| by_comparison(op, value))
        }
        ExprKind::In { value, list } if is_it(value) => {
            // An index has signed and unsigned numbers in the order of what they are.
            let same_sign = list.iter().all(|item| !item.ty.kind.is_integer() || item.ty.kind == value.ty.kind);
            let usable = list.iter().all(|item| comparable(&value.ty, &item.ty)) && (same_sign || !is_by_bits(list));
            usable.then(|| list.iter().cloned().map(Interval::Point).collect())
        }
        ExprKind::Between { args } if is_it(&args[0]) => {
            let is_comparable = |bound: &Expr| comparable(&args[0].ty, &bound.ty);
            let usable = args[1..].iter().all(is_comparable) && !order::is_member_list(&args[0].ty);
            let bounds = || (Some((args[1].clone(), true)), Some((args[2].clone(), true)));
            usable.then(|| {
                let (lower, upper) = bounds();
                vec![Interval::Span { lower, upper }]
            })
        }
        ExprKind::Like { args, escape }
            if is_it(&args[0]) && args[0].ty.kind == Kind::Str && !order::is_member_list(&args[0].ty) =>
        {
            let usable = comparable(&args[0].ty, &args[1].ty) && has_literal_start(&args[1], *escape);
            usable.then(|| vec![Interval::Like { pattern: args[1].clone(), escape: *escape }])
        }
        ExprKind::IsNull(arg) if is_it(arg) => Some(vec![Interval::Null]),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::IsNull(arg) if is_it(arg) => Some(vec![Interval::Span { lower: None, upper: None }]),
            _ => None,
        },
        ExprKind::Or(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(intervals(part, slot)?);
            }
            Some(all)
        }
        _ => None,
    }
}

/// Whether the values for which such a comparison holds stand together in an index of the column. Members of ENUM and SET are compared as texts, which
/// have another order than the numbers in an index.
fn has_order(ty: &ExprType, op: CompareOp) -> bool {
    matches!(op, CompareOp::Eq | CompareOp::NullSafeEq | CompareOp::NotEq) || !order::is_member_list(ty)
}

fn by_comparison(op: CompareOp, value: &Expr) -> Vec<Interval> {
    let bound = |inclusive| Some((value.clone(), inclusive));
    let span = |lower, upper| Interval::Span { lower, upper };
    match op {
        CompareOp::Eq => vec![Interval::Point(value.clone())],
        CompareOp::NullSafeEq => vec![Interval::NullSafePoint(value.clone())],
        CompareOp::Less => vec![span(None, bound(false))],
        CompareOp::LessEq => vec![span(None, bound(true))],
        CompareOp::Greater => vec![span(bound(false), None)],
        CompareOp::GreaterEq => vec![span(bound(true), None)],
        CompareOp::NotEq => vec![span(None, bound(false)), span(bound(false), None)],
    }
}

/// A pattern that begins with a wildcard is no use; one that is not known yet may be.
fn has_literal_start(pattern: &Expr, escape: Option<char>) -> bool {
    match &pattern.kind {
        ExprKind::Literal(types::Value::Str(text)) => {
            !crate::exec::ranges::like_prefix(&String::from_utf8_lossy(text), escape).0.is_empty()
        }
        ExprKind::Literal(_) => false,
        _ => true,
    }
}

/// Whether a comparison of a column with a value of this type goes by the order of the column's index.
fn comparable(column: &ExprType, value: &ExprType) -> bool {
    match (column.kind, value.kind) {
        (_, Kind::Any | Kind::Null) => true,
        // Compared as JSON, whose order is another.
        (Kind::Json, _) | (_, Kind::Json) => false,
        (Kind::Str, Kind::Str) => {
            order::comparison(column, value).is_some_and(|comparison| comparison.collation == column.collation)
        }
        (Kind::Str, _) => false,
        // Compared as dates with times: of today, whichever day that is.
        (Kind::Time, Kind::Date | Kind::DateTime) => false,
        (Kind::Bytes, kind) => kind.is_string(),
        (kind, Kind::Bytes) => !kind.is_temporal(),
        _ => true,
    }
}

/// Whether the condition cannot hold when all columns of these tables are NULL: then an outer join that would make them
/// NULL is an inner one.
pub(crate) fn rejects_null(expr: &Expr, block: &Block, columns: &Columns, tables: TableSet) -> bool {
    let is_one = |expr: &Expr| {
        let place = expr.as_column().and_then(|id| columns.place(id, &block.tables));
        place.is_some_and(|(table, _)| tables.meets(TableSet::one(table)))
    };
    match &expr.kind {
        ExprKind::Compare { op: CompareOp::NullSafeEq, .. } => false,
        ExprKind::Compare { args, .. } => args.iter().any(is_one),
        ExprKind::In { value, .. } => is_one(value),
        ExprKind::Between { args } => is_one(&args[0]),
        ExprKind::Like { args, .. } => args.iter().any(is_one),
        ExprKind::And(parts) => parts.iter().any(|part| rejects_null(part, block, columns, tables)),
        ExprKind::Or(parts) => parts.iter().all(|part| rejects_null(part, block, columns, tables)),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::IsNull(arg) => is_one(arg),
            ExprKind::In { value, .. } => is_one(value),
            ExprKind::Between { args } => is_one(&args[0]),
            ExprKind::Like { args, .. } => args.iter().any(is_one),
            _ => false,
        },
        _ => false,
    }
}
