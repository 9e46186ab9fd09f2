//! Access paths of one table: for each index what its first parts can be limited to, and what that costs.
//!
//! Costs are in units of one row that is read from a tree and made into values (0.2 microseconds, as measured). The engine counts the rows of ranges whose values are known when the
//! statement is planned; for all others (parameters, values of other tables) there are guesses below.

use std::sync::Arc;

use engine::Table;
use syntax::ast::{IndexHintKind, IndexHintScope};
use types::{ColumnType, TableDef};

use crate::bind::columns::ColumnId;
use crate::bind::tree::{BoundTable, TableSource};
use crate::expr::build::is_constant_beside;
use crate::expr::{CompareOp, Constancy, Expr, ExprKind, Kind};
use crate::plan::conditions::{Asked, Condition, TableSet};
use crate::plan::statistics::Known;

/// A way through one index.
#[derive(Clone, Debug)]
pub(crate) struct IndexAccess {
    /// Position among the table's indexes.
    pub(crate) index: usize,
    /// What is wanted of its first parts; none is the whole index.
    pub(crate) parts: Vec<PartRange>,
    /// Backwards.
    pub(crate) descending: bool,
    /// Number of the index's own parts if it is unique, else `None`.
    pub(crate) unique_parts: Option<usize>,
}

impl IndexAccess {
    /// Whether each combination of its intervals is at most one row: all parts of a unique index by points.
    pub(crate) fn is_unique_point(&self) -> bool {
        self.unique_parts == Some(self.parts.len())
            && self
                .parts
                .iter()
                .all(|part| part.exact && part.intervals.iter().all(|interval| matches!(interval, Interval::Point(_))))
    }

    /// Whether it is at most one row.
    pub(crate) fn is_single_row(&self) -> bool {
        self.is_unique_point() && self.parts.iter().all(|part| part.intervals.len() == 1)
    }
}

/// The wanted values of one key part.
#[derive(Clone, Debug)]
pub(crate) struct PartRange {
    /// Position of the column in the table.
    pub(crate) column: usize,
    /// Any of these.
    pub(crate) intervals: Vec<Interval>,
    /// No two different values of the column are equal to one of its points.
    pub(crate) exact: bool,
}

/// Values of a column, in expressions that are known before the table is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Interval {
    /// `= expr`
    Point(Expr),
    /// `<=> expr`
    NullSafePoint(Expr),
    /// `IS NULL`
    Null,
    /// Between two bounds (value, inclusive); without any: `IS NOT NULL`.
    Span { lower: Option<(Expr, bool)>, upper: Option<(Expr, bool)> },
    /// `LIKE pattern`
    Like { pattern: Expr, escape: Option<char> },
}

/// Where the columns come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Covered {
    /// The clustered index: its entries are the rows.
    Row,
    /// The index holds all that is needed.
    Covering,
    /// The row has to be fetched.
    Fetch,
}

/// Fetching the row behind an entry of a secondary index, beside reading the entry.
const FETCH_COST: f64 = 5.0;

/// Finding the start of a range.
const SEEK_COST: f64 = 6.0;

/// The same two where rows are locked, beside 1 for a row and less for an entry: all that is read is locked, and others wait for it, so that it is better to look up
/// than the time that it takes would say.
const LOCKING_FETCH_COST: f64 = 2.0;
const LOCKING_SEEK_COST: f64 = 2.0;
const LOCKING_ENTRY_COST: f64 = 0.6;

/// Looking at a row, of which nothing is made if the conditions do not hold.
const LOOK_COST: f64 = 0.4;

/// The same of an entry of a secondary index, which is smaller.
const ENTRY_COST: f64 = 0.25;

/// Making values of a row.
pub(crate) const MAKE_COST: f64 = 0.6;

/// A row of a range that is looked up for another row, beside the rest.
const LOOKED_UP_COST: f64 = 0.6;

/// Sorting so many rows.
pub(crate) fn sort_cost(rows: f64) -> f64 {
    0.3 * rows * (rows + 2.0).log2() + 5.0
}

/// A way to read a table, with what it costs once.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) access: IndexAccess,
    pub(crate) covered: Covered,
    /// Entries that are read.
    pub(crate) rows: f64,
    /// Which part of them the conditions that are known before the row is made leave.
    pub(crate) passing: f64,
    pub(crate) cost: f64,
    /// Tables whose values it looks up.
    pub(crate) needs: TableSet,
    /// Its rows need not be read, since only their number is wanted.
    is_counted: bool,
    is_locking: bool,
}

/// What is known of one table of the engine while a block is planned.
pub(crate) struct TableFacts {
    pub(crate) table: Arc<Table>,
    /// About how many rows it has, at least 1.
    pub(crate) rows: f64,
    /// Columns that are needed of it.
    pub(crate) columns: Vec<usize>,
    pub(crate) needs_image: bool,
    /// Its rows are locked.
    pub(crate) is_locking: bool,
    /// Indexes that hints and visibility allow for finding rows.
    pub(crate) allowed: Vec<usize>,
    /// FORCE INDEX: not by reading all of it, if there is another way.
    pub(crate) forced: bool,
    /// The same, for the order of rows.
    pub(crate) for_order: Allowed,
    /// The same, for rows that come by groups.
    pub(crate) for_groups: Allowed,
    /// Per index, the counted rows of the path by constants alone.
    pub(crate) counted: Vec<Option<f64>>,
    /// What is known of its contents.
    pub(crate) known: Known,
    /// Nothing but the number of its rows is wanted, which trees know of ranges: its columns by their numbers in the statement.
    pub(crate) only_counted: Option<Vec<(usize, ColumnId)>>,
}

impl TableFacts {
    pub(crate) fn new(bound: &BoundTable, rows: u64, columns: Vec<usize>, needs_image: bool) -> Option<Self> {
        let TableSource::Base(table) = &bound.source else { return None };
        let allowed = |scope| Allowed::of(&table.def, bound, scope);
        let Allowed { indexes, forced } = allowed(IndexHintScope::Join);
        Some(TableFacts {
            table: table.clone(),
            rows: (rows as f64).max(1.0),
            columns,
            needs_image,
            is_locking: bound.lock.is_some(),
            allowed: indexes,
            forced,
            for_order: allowed(IndexHintScope::OrderBy),
            for_groups: allowed(IndexHintScope::GroupBy),
            counted: vec![None; table.def.indexes.len()],
            known: Known::default(),
            only_counted: None,
        })
    }

    /// Whether constants alone lead to at most one row.
    pub(crate) fn has_unique_point(&self, number: usize, conditions: &[&Condition]) -> bool {
        self.allowed.iter().any(|&index| {
            let parts = self.parts(index, number, conditions, TableSet::default());
            self.access(index, parts).is_single_row()
        })
    }

    fn covered(&self, index: usize) -> Covered {
        let covering = &self.table.codec.indexes[index].covered;
        match index {
            0 => Covered::Row,
            _ if !self.needs_image && self.columns.iter().all(|column| covering.contains(column)) => Covered::Covering,
            _ => Covered::Fetch,
        }
    }

    /// All paths with the values of `available` tables: one per index that can be limited, and those that read a whole
    /// index.
    pub(crate) fn paths(&self, number: usize, conditions: &[&Condition], available: TableSet) -> Vec<Path> {
        let mut paths = Vec::with_capacity(self.allowed.len() + 1);
        for &index in &self.allowed {
            let parts = self.parts(index, number, conditions, available);
            if !parts.is_empty() {
                paths.push(self.path(index, parts, number, conditions, available));
            }
        }
        for &index in &self.allowed {
            if index > 0 && self.covered(index) == Covered::Covering {
                paths.push(self.path(index, Vec::new(), number, conditions, available));
            }
        }
        paths.push(self.path(0, Vec::new(), number, conditions, available));
        if self.forced {
            let limited = |path: &Path| !path.access.parts.is_empty() || path.access.index > 0;
            if paths.iter().any(limited) {
                paths.retain(limited);
            }
        }
        // Reading a table of two rows may cost less today; but the plan is kept, and the table may grow.
        if paths.iter().any(|path| path.access.is_single_row()) {
            paths.retain(|path| path.access.is_single_row());
        }
        paths
    }

    /// What the conditions ask of the first parts of an index; a secondary index goes on with the primary key's.
    pub(crate) fn parts(
        &self,
        index: usize,
        number: usize,
        conditions: &[&Condition],
        available: TableSet,
    ) -> Vec<PartRange> {
        let def = &self.table.def;
        let own = &def.indexes[index].parts;
        let tail = if index == 0 { &[][..] } else { &def.primary().parts[..] };
        let mut parts = Vec::new();
        for key in own.iter().chain(tail) {
            let asks = conditions.iter().flat_map(|condition| &condition.asks);
            let asks =
                asks.filter(|ask| ask.table == number && ask.column == key.column && ask.needs.is_within(available));
            let Some(intervals) = combine(asks) else { break };
            let points = intervals.iter().all(is_point);
            let exact = is_exact(&def.columns[key.column].ty, &intervals);
            parts.push(PartRange { column: key.column, intervals, exact });
            if !points {
                break;
            }
        }
        parts
    }

    fn access(&self, index: usize, parts: Vec<PartRange>) -> IndexAccess {
        let def = &self.table.def.indexes[index];
        let unique_parts = (index == 0 || def.unique).then_some(def.parts.len());
        IndexAccess { index, parts, descending: false, unique_parts }
    }

    /// A way by an index, beside the values of `available` tables.
    pub(crate) fn path(
        &self,
        index: usize,
        parts: Vec<PartRange>,
        number: usize,
        conditions: &[&Condition],
        available: TableSet,
    ) -> Path {
        let covered = self.covered(index);
        let needs = needs_of(&parts, number, conditions);
        let access = self.access(index, parts);
        let rows = self.estimate(&access, needs);
        let mut path = Path {
            access,
            covered,
            rows,
            passing: 1.0,
            cost: 0.0,
            needs,
            is_counted: false,
            is_locking: self.is_locking,
        };
        let here = available.with(TableSet::one(number));
        let known = |condition: &&Condition| condition.needs.tables.is_within(here);
        path.passing = path.passing_share(conditions.iter().copied().filter(known));
        path.is_counted = self.is_counted(&path, conditions);
        path.cost = path.cost_of(rows);
        path
    }

    /// Whether the rows of a path need not be read, since only their number is wanted.
    fn is_counted(&self, path: &Path, conditions: &[&Condition]) -> bool {
        let Some(columns) = &self.only_counted else { return false };
        let column_of = |expr: &Expr| {
            let id = expr.as_column()?;
            columns.iter().find(|(_, other)| *other == id).map(|(column, _)| *column)
        };
        let exprs: Vec<&Expr> = conditions.iter().map(|condition| &condition.expr).collect();
        path.covered != Covered::Fetch && are_ranges(&path.access.parts, &exprs, &column_of)
    }

    fn estimate(&self, access: &IndexAccess, needs: TableSet) -> f64 {
        let combinations: f64 = access.parts.iter().map(|part| part.intervals.len() as f64).product();
        if access.parts.is_empty() {
            return self.rows;
        }
        let own = access.unique_parts.unwrap_or(usize::MAX);
        if access.parts.len() >= own && access.parts[..own].iter().all(|part| part.intervals.iter().all(is_point)) {
            return combinations.min(self.rows);
        }
        if needs.is_empty()
            && let Some(counted) = self.counted[access.index]
        {
            return counted.max(1.0);
        }
        // What is known of the first parts that are asked for by values; of the others it is guessed.
        let points = access.parts.iter().take_while(|part| part.intervals.iter().all(is_point)).count();
        let by_points: f64 = access.parts[..points].iter().map(|part| part.intervals.len() as f64).product();
        let asks_null = |interval: &Interval| matches!(interval, Interval::Null | Interval::NullSafePoint(_));
        let with_null = access.parts[..points].iter().flat_map(|part| &part.intervals).any(asks_null);
        let known = if points == 0 { None } else { self.rows_of_value(access.index, points, with_null) };
        let begin = if known.is_some() { points } else { 0 };
        let mut rows = known.map_or(self.rows, |rows| (rows * by_points).clamp(1.0, self.rows));
        for (number, part) in access.parts.iter().enumerate().skip(begin) {
            let guess = |interval: &Interval| match interval {
                // A key's first column tells rows apart best: a few per thousand, and at least a few.
                Interval::Point(_) | Interval::NullSafePoint(_) | Interval::Null if number == 0 => {
                    (rows / 10.0).min(5.0 + rows / 1000.0)
                }
                Interval::Point(_) | Interval::NullSafePoint(_) | Interval::Null => rows / 10.0,
                Interval::Like { .. } => rows / 20.0,
                Interval::Span { lower: Some(_), upper: Some(_) } => (rows / 9.0).min(100.0 + rows / 100.0),
                Interval::Span { lower: None, upper: None } => rows,
                Interval::Span { .. } => rows / 3.0,
            };
            rows = part.intervals.iter().map(guess).sum::<f64>().min(rows);
        }
        rows.max(1.0)
    }
}

impl Path {
    /// Which part of its rows passes the conditions that it does not already stand for.
    pub(crate) fn passing_share<'c>(&self, conditions: impl Iterator<Item = &'c Condition>) -> f64 {
        let is_part = |column: usize| self.access.parts.iter().any(|part| part.column == column);
        let rest = conditions.filter(|condition| !condition.asks.iter().any(|ask| is_part(ask.column)));
        rest.map(Condition::selectivity).product()
    }

    /// Whether a scan by it can leave rows out before they are made.
    pub(crate) fn leaves_out(&self) -> bool {
        self.covered != Covered::Fetch && self.needs.is_empty() && !self.access.is_unique_point()
    }

    /// What it costs to read so many of its rows.
    pub(crate) fn cost_of(&self, rows: f64) -> f64 {
        let seeks: f64 = self.access.parts.iter().map(|part| part.intervals.len() as f64).product();
        if self.is_locking {
            let row = match self.covered {
                Covered::Row => 1.0,
                Covered::Covering => LOCKING_ENTRY_COST,
                Covered::Fetch => LOCKING_ENTRY_COST + LOCKING_FETCH_COST,
            };
            return LOCKING_SEEK_COST * seeks + rows * row;
        }
        let row = match self.covered {
            Covered::Row => LOOK_COST,
            Covered::Covering => ENTRY_COST,
            Covered::Fetch => ENTRY_COST + FETCH_COST,
        };
        let row = row + self.passing * MAKE_COST + if self.needs.is_empty() { 0.0 } else { LOOKED_UP_COST };
        SEEK_COST * seeks + if self.is_counted { 0.0 } else { rows * row }
    }
}

/// Whether a DOUBLE may be equal to several numbers of a column.
pub(crate) fn shares_doubles(ty: &ColumnType) -> bool {
    const DIGITS_OF_DOUBLES: u8 = 15;
    match ty {
        ColumnType::BigInt { .. } => true,
        ColumnType::Decimal { precision, .. } => *precision > DIGITS_OF_DOUBLES,
        _ => false,
    }
}

/// Whether no two values of a column are equal to one of the values.
fn is_exact(ty: &ColumnType, intervals: &[Interval]) -> bool {
    let mut values = intervals.iter().flat_map(Interval::exprs);
    match ty {
        // The empty member, and what is no member.
        ColumnType::Enum { members } if members.iter().any(String::is_empty) => {
            values.all(|value| value.ty.kind.is_numeric())
        }
        ty if shares_doubles(ty) => values.all(|value| {
            let as_double = matches!(value.ty.kind, Kind::Float | Kind::Double | Kind::Str | Kind::Bytes | Kind::Any);
            !as_double || is_constant_beside(value)
        }),
        _ => true,
    }
}

pub(crate) fn is_point(interval: &Interval) -> bool {
    matches!(interval, Interval::Point(_) | Interval::NullSafePoint(_) | Interval::Null)
}

/// Whether the ranges of an access hold exactly the rows for which the conditions do: each part has a condition of its own, or two that bound
/// it from both sides, and there is no other.
pub(crate) fn are_ranges(
    parts: &[PartRange],
    conditions: &[&Expr],
    column_of: &dyn Fn(&Expr) -> Option<usize>,
) -> bool {
    let mut left = conditions.len();
    let is_exact = parts.iter().all(|part| {
        let of_part = |condition: &&&Expr| bounded(condition).and_then(column_of) == Some(part.column);
        let own: Vec<&&Expr> = conditions.iter().filter(of_part).collect();
        left = left.saturating_sub(own.len());
        part.exact
            && match own[..] {
                [_] => true,
                [one, other] => {
                    let is_between = matches!(part.intervals[..], [Interval::Span { lower: Some(_), upper: Some(_) }]);
                    is_between && is_lower(one).zip(is_lower(other)).is_some_and(|(one, other)| one != other)
                }
                _ => false,
            }
    });
    is_exact && left == 0
}

/// The column that a condition asks a range of.
fn bounded(condition: &Expr) -> Option<&Expr> {
    match &condition.kind {
        ExprKind::Compare { op: CompareOp::NotEq | CompareOp::NullSafeEq, .. } => None,
        ExprKind::Compare { args, .. } => args.iter().find(|arg| arg.as_column().is_some()),
        ExprKind::Between { args } => Some(&args[0]),
        ExprKind::In { value, .. } => Some(value),
        _ => None,
    }
}

/// Whether a comparison bounds its column from below; `None` if it is no bound of one side.
fn is_lower(condition: &Expr) -> Option<bool> {
    let ExprKind::Compare { op, args } = &condition.kind else { return None };
    let op = if args[0].as_column().is_some() { *op } else { op.mirrored() };
    match op {
        CompareOp::Greater | CompareOp::GreaterEq => Some(true),
        CompareOp::Less | CompareOp::LessEq => Some(false),
        _ => None,
    }
}

/// Whether all values of a path are known when the statement is planned, so that its rows can be counted.
pub(crate) fn is_literal(parts: &[PartRange]) -> bool {
    let exprs = parts.iter().flat_map(|part| &part.intervals).flat_map(Interval::exprs);
    exprs.into_iter().all(|expr| expr.constancy() == Constancy::Literal)
}

/// The intervals that several conditions on a column leave: the best equality, else the narrowest span.
fn combine<'c>(asks: impl Iterator<Item = &'c Asked>) -> Option<Vec<Interval>> {
    let mut best: Option<&[Interval]> = None;
    let (mut lower, mut upper) = (None, None);
    let mut bounded = false;
    for ask in asks {
        if let [Interval::Span { lower: low, upper: high }] = &ask.intervals[..] {
            bounded = true;
            lower = lower.or_else(|| low.clone());
            upper = upper.or_else(|| high.clone());
            continue;
        }
        let rank = |intervals: &[Interval]| (!intervals.iter().all(is_point), intervals.len());
        if best.is_none_or(|known| rank(&ask.intervals) < rank(known)) {
            best = Some(&ask.intervals);
        }
    }
    match best {
        Some(intervals) if intervals.iter().all(is_point) || !bounded => Some(intervals.to_vec()),
        _ if bounded => Some(vec![Interval::Span { lower, upper }]),
        _ => None,
    }
}

fn needs_of(parts: &[PartRange], number: usize, conditions: &[&Condition]) -> TableSet {
    let mut needs = TableSet::default();
    for part in parts {
        for ask in conditions.iter().flat_map(|condition| &condition.asks) {
            let used = ask.table == number
                && ask.column == part.column
                && ask.intervals.iter().any(|interval| shares(interval, &part.intervals));
            if used {
                needs = needs.with(ask.needs);
            }
        }
    }
    needs
}

/// Whether an interval, or one of its bounds, is among those chosen.
fn shares(interval: &Interval, chosen: &[Interval]) -> bool {
    chosen.contains(interval)
        || chosen.iter().any(|chosen| {
            let of = interval.exprs();
            chosen.exprs().iter().any(|expr| of.contains(expr))
        })
}

/// Indexes that may serve a purpose.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    pub(crate) indexes: Vec<usize>,
    /// One of them serves it if that is possible.
    pub(crate) forced: bool,
}

impl Allowed {
    /// What visibility and the hints leave that are for everything, or for this.
    fn of(def: &TableDef, bound: &BoundTable, scope: IndexHintScope) -> Allowed {
        let visible = |index: &usize| *index == 0 || def.indexes[*index].visible;
        let mut indexes: Vec<usize> = (0..def.indexes.len()).filter(visible).collect();
        let mut forced = false;
        for hint in bound.hints.iter().filter(|hint| hint.scope.is_none_or(|of| of == scope)) {
            match hint.kind {
                IndexHintKind::Ignore => indexes.retain(|index| !hint.indexes.contains(index)),
                IndexHintKind::Use | IndexHintKind::Force => {
                    indexes.retain(|index| hint.indexes.contains(index));
                    forced |= hint.kind == IndexHintKind::Force;
                }
            }
        }
        Allowed { indexes, forced }
    }
}
