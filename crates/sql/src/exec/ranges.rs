//! From conditions on the columns of an index to ranges of its keys, when the values are known.
//!
//! The planner says for each key part which intervals of values are wanted ([`IndexAccess`]); here the expressions get
//! their values, the values the column's own form, and the intervals become ranges of key bytes, in key order and without
//! overlap.
//!
//! A value that the column cannot hold lies between two that it can: `int_column > 2.5` begins *after* 2. A value that
//! cannot be placed at all (text beside an integer in a parameter) widens the range to everything: the condition itself is
//! always checked on the rows, so ranges may be too wide and never too narrow.

use std::ops::Bound;

use base::SqlError;
use bytes::Bytes;
use engine::{KeyRange, Table};
use types::key::successor;
use types::{ColumnDef, ColumnType, Value};

use crate::expr::build::{EXACT_DOUBLES, is_constant_beside};
use crate::expr::{CompareOp, EvalContext, Expr, ExprType, Strictness, Warnings, build, convert_for_column};
use crate::plan::access::{IndexAccess, Interval, PartRange, shares_doubles};

/// More ranges than this are not made: the last part that would make more is left to the filter.
const RANGES_MAX: usize = 20_000;

/// The ranges of an access.
pub(crate) struct Ranges {
    /// In ascending order; none if nothing can match.
    pub(crate) list: Vec<KeyRange>,
    /// Every range is one combination of values for all parts of the access.
    pub(crate) points: bool,
}

/// The ranges of an access for a row of the frame.
pub(crate) fn key_ranges(
    access: &IndexAccess,
    table: &Table,
    row: &[Value],
    eval: &EvalContext<'_>,
) -> Result<Ranges, SqlError> {
    let mut maker = RangeMaker { table, index: access.index, eval };
    match maker.single_point(access, row)? {
        Point::Key(key) => return Ok(Ranges { list: vec![KeyRange::prefix(key)], points: true }),
        Point::Nothing => return Ok(Ranges { list: Vec::new(), points: true }),
        Point::Unplaced => {}
    }
    let mut prefixes: Vec<Vec<Value>> = vec![Vec::new()];
    for (number, part) in access.parts.iter().enumerate() {
        let places = maker.places(part, row)?;
        let points: Option<Vec<&Value>> = places.iter().map(Place::as_point).collect();
        match points {
            Some(points) if points.len() * prefixes.len() <= RANGES_MAX => {
                prefixes = cross(&prefixes, &points);
                if prefixes.is_empty() {
                    return Ok(Ranges { list: Vec::new(), points: true });
                }
            }
            // The places of the first part are as many as the statement names, behind many prefixes they multiply.
            _ if prefixes.len() > 1 && places.len() * prefixes.len() > RANGES_MAX => {
                return Ok(Ranges { list: maker.last_part(number, &prefixes, &[Place::all()])?, points: false });
            }
            _ => return Ok(Ranges { list: maker.last_part(number, &prefixes, &places)?, points: false }),
        }
    }
    let list = maker.last_part(access.parts.len(), &prefixes, &[Place::all()])?;
    Ok(Ranges { list, points: !access.parts.is_empty() })
}

/// The one key of an access by equality of every part.
pub(crate) fn point_key(
    access: &IndexAccess,
    table: &Table,
    row: &[Value],
    eval: &EvalContext<'_>,
) -> Result<Point, SqlError> {
    RangeMaker { table, index: access.index, eval }.single_point(access, row)
}

/// A key by equality of every part.
pub(crate) enum Point {
    Key(Bytes),
    /// No row can have it.
    Nothing,
    /// There are other conditions than equality, or a value that cannot be placed.
    Unplaced,
}

/// Where the value of an expression lies among the values of a column.
pub(crate) fn fit(expr: &Expr, value: Value, table: &Table, column: usize, eval: &EvalContext<'_>) -> Fit {
    RangeMaker { table, index: 0, eval }.fit_value(expr, value, column)
}

/// All combinations of a prefix and one more value.
fn cross(prefixes: &[Vec<Value>], points: &[&Value]) -> Vec<Vec<Value>> {
    let extended = |prefix: &Vec<Value>, point: &Value| {
        let mut longer = Vec::with_capacity(prefix.len() + 1);
        longer.extend_from_slice(prefix);
        longer.push(point.clone());
        longer
    };
    prefixes.iter().flat_map(|prefix| points.iter().map(move |point| extended(prefix, point))).collect()
}

/// Where a bound lies among the values of a column.
#[derive(Clone, Debug)]
enum Edge {
    /// Before all values that are not NULL.
    First,
    Before(Value),
    After(Value),
    /// After all values.
    Last,
}

/// An interval of a column's values.
#[derive(Clone, Debug)]
enum Place {
    /// This value, or NULL.
    Point(Value),
    Span(Edge, Edge),
    /// Text that begins so.
    Begins(Bytes),
    /// With NULL.
    Everything,
}

impl Place {
    fn all() -> Self {
        Place::Everything
    }

    fn as_point(&self) -> Option<&Value> {
        match self {
            Place::Point(value) => Some(value),
            _ => None,
        }
    }
}

/// A value beside a column.
pub(crate) enum Fit {
    /// The column's own form of it.
    Exact(Value),
    /// It is smaller than this value of the column, and larger than any smaller one.
    Below(Value),
    /// The other way round.
    Above(Value),
    /// NULL: nothing compares to it.
    Null,
    /// Nobody knows.
    Unknown,
}

struct RangeMaker<'a> {
    table: &'a Table,
    index: usize,
    eval: &'a EvalContext<'a>,
}

impl RangeMaker<'_> {
    /// The commonest case without detours: every part is `column = value`.
    fn single_point(&self, access: &IndexAccess, row: &[Value]) -> Result<Point, SqlError> {
        let mut values = Vec::with_capacity(access.parts.len());
        for part in &access.parts {
            let [Interval::Point(expr)] = &part.intervals[..] else { return Ok(Point::Unplaced) };
            match self.fit(expr, row, part.column)? {
                Fit::Exact(value) => values.push(value),
                Fit::Unknown => return Ok(Point::Unplaced),
                _ => return Ok(Point::Nothing),
            }
        }
        if values.is_empty() {
            return Ok(Point::Unplaced);
        }
        Ok(Point::Key(self.prefix(&values)?))
    }

    fn column(&self, column: usize) -> &ColumnDef {
        &self.table.def.columns[column]
    }

    /// NULL, if the column can hold it.
    fn null_place(&self, column: usize) -> Option<Place> {
        self.column(column).nullable.then_some(Place::Point(Value::Null))
    }

    fn prefix(&self, values: &[Value]) -> Result<Bytes, SqlError> {
        Ok(self.table.codec.prefix(self.index, values)?)
    }

    fn places(&mut self, part: &PartRange, row: &[Value]) -> Result<Vec<Place>, SqlError> {
        let mut places = Vec::with_capacity(part.intervals.len());
        for interval in &part.intervals {
            self.place(interval, part.column, row, &mut places)?;
        }
        Ok(places)
    }

    fn place(
        &mut self,
        interval: &Interval,
        column: usize,
        row: &[Value],
        out: &mut Vec<Place>,
    ) -> Result<(), SqlError> {
        match interval {
            Interval::Null => out.extend(self.null_place(column)),
            Interval::Point(expr) => match self.fit(expr, row, column)? {
                Fit::Exact(value) => out.push(Place::Point(value)),
                Fit::Unknown => out.push(Place::Everything),
                Fit::Null | Fit::Below(_) | Fit::Above(_) => {}
            },
            Interval::NullSafePoint(expr) => match self.fit(expr, row, column)? {
                Fit::Exact(value) => out.push(Place::Point(value)),
                Fit::Null => out.extend(self.null_place(column)),
                Fit::Unknown => out.push(Place::Everything),
                Fit::Below(_) | Fit::Above(_) => {}
            },
            Interval::Span { lower, upper } => {
                let lower = match lower {
                    None => Some(Edge::First),
                    Some((expr, inclusive)) => self.edge(expr, column, row, *inclusive, Edge::First)?,
                };
                let upper = match upper {
                    None => Some(Edge::Last),
                    Some((expr, inclusive)) => self.edge(expr, column, row, !*inclusive, Edge::Last)?,
                };
                if let (Some(lower), Some(upper)) = (lower, upper) {
                    out.push(Place::Span(lower, upper));
                }
            }
            Interval::Like { pattern, escape } => {
                let pattern = pattern.eval(row, self.eval)?;
                out.extend(self.like_place(&pattern, *escape));
            }
        }
        Ok(())
    }

    /// The edge at a value: before it, or after it. `None` if the value is NULL: then nothing matches.
    fn edge(
        &mut self,
        expr: &Expr,
        column: usize,
        row: &[Value],
        before: bool,
        unknown: Edge,
    ) -> Result<Option<Edge>, SqlError> {
        Ok(Some(match self.fit(expr, row, column)? {
            Fit::Exact(value) if before => Edge::Before(value),
            Fit::Exact(value) | Fit::Above(value) => Edge::After(value),
            Fit::Below(value) => Edge::Before(value),
            Fit::Unknown => unknown,
            Fit::Null => return Ok(None),
        }))
    }

    /// The values that begin with what stands before the first wildcard.
    fn like_place(&self, pattern: &Value, escape: Option<char>) -> Option<Place> {
        let Value::Str(pattern) = pattern else {
            return (!pattern.is_null()).then_some(Place::Everything);
        };
        let (literal, _) = like_prefix(&String::from_utf8_lossy(pattern), escape);
        Some(if literal.is_empty() { Place::Everything } else { Place::Begins(Bytes::from(literal.into_bytes())) })
    }

    fn fit(&self, expr: &Expr, row: &[Value], column: usize) -> Result<Fit, SqlError> {
        Ok(self.fit_value(expr, expr.eval(row, self.eval)?, column))
    }

    /// The same for the expression's value: a constant is compared exactly where a column's value is not.
    fn fit_value(&self, expr: &Expr, mut value: Value, column: usize) -> Fit {
        let def = self.column(column);
        if shares_doubles(&def.ty) && !is_constant_beside(expr) {
            if let Value::Str(text) | Value::Bytes(text) = &value {
                value = Value::Double(types::number::parse_f64(text).0);
            }
            // Several of the column's numbers may be equal to it.
            match (&value, &def.ty) {
                (Value::Double(n), ColumnType::BigInt { .. }) if n.abs() < EXACT_DOUBLES => {}
                (Value::Float(n), ColumnType::BigInt { .. }) if f64::from(*n).abs() < EXACT_DOUBLES => {}
                (Value::Double(_) | Value::Float(_), _) => return Fit::Unknown,
                _ => {}
            }
        }
        match (&def.ty, &value) {
            (_, Value::Null) => Fit::Null,
            // Compared as JSON, whose order is another.
            (_, Value::Json(_)) => Fit::Unknown,
            (ColumnType::Text { .. } | ColumnType::VarChar { .. } | ColumnType::Char { .. }, Value::Str(_)) => {
                Fit::Exact(value)
            }
            (ColumnType::Binary { bytes: length }, Value::Bytes(bytes) | Value::Str(bytes)) => {
                fit_in_binary(bytes, *length as usize)
            }
            (ColumnType::VarBinary { .. } | ColumnType::Blob { .. }, Value::Bytes(bytes) | Value::Str(bytes)) => {
                Fit::Exact(Value::Bytes(bytes.clone()))
            }
            // Whatever `sql_mode` lets a column take.
            (ColumnType::Date, Value::Date(_)) => Fit::Exact(value),
            (ColumnType::DateTime { fsp }, Value::DateTime(at)) if at.micros % 10u32.pow(6 - u32::from(*fsp)) == 0 => {
                Fit::Exact(value)
            }
            (ty, Value::Int(n)) if integer_fits(ty, i128::from(*n)) => Fit::Exact(integer(ty, i128::from(*n))),
            (ty, Value::UInt(n)) if integer_fits(ty, i128::from(*n)) => Fit::Exact(integer(ty, i128::from(*n))),
            (ty, Value::Str(_) | Value::Bytes(_)) if ty.is_string() => Fit::Unknown,
            // An empty text is equal to the empty member, and to what is no member.
            (ColumnType::Enum { members }, Value::Str(text) | Value::Bytes(text))
                if text.trim_ascii().is_empty() && members.iter().any(String::is_empty) =>
            {
                Fit::Unknown
            }
            (ty, _) if ty.is_string() => Fit::Unknown,
            _ => self.fit_by_comparison(value, def),
        }
    }

    /// Converts the value as an assignment would, and compares the result with it as the condition does.
    fn fit_by_comparison(&self, value: Value, def: &ColumnDef) -> Fit {
        let warnings = Warnings::default();
        let eval = EvalContext { warnings: &warnings, strict: false, ..*self.eval };
        let Ok(converted) = convert_for_column(value.clone(), def, Strictness::Lenient, 1, &eval) else {
            return Fit::Unknown;
        };
        let row = [converted];
        let holds = |op| {
            let column = Expr::column(0, ExprType::of_column(def));
            let literal = build::value_literal(value.clone(), eval.session);
            build::compare(op, column, literal).and_then(|compare| compare.eval_truth(&row, &eval)).unwrap_or(None)
        };
        if holds(CompareOp::Eq) == Some(true) {
            let [converted] = row;
            return Fit::Exact(converted);
        }
        if matches!(def.ty, ColumnType::Enum { .. } | ColumnType::Set { .. }) {
            return Fit::Unknown;
        }
        match (holds(CompareOp::Greater), holds(CompareOp::Less)) {
            (Some(true), _) => {
                let [converted] = row;
                Fit::Below(converted)
            }
            (_, Some(true)) => {
                let [converted] = row;
                Fit::Above(converted)
            }
            _ => Fit::Unknown,
        }
    }

    /// Ranges for the places of one part behind each prefix; merged where they touch.
    fn last_part(&self, part: usize, prefixes: &[Vec<Value>], places: &[Place]) -> Result<Vec<KeyRange>, SqlError> {
        let last = LastPart::new(self.table, self.index, part);
        let mut ranges = Vec::with_capacity(prefixes.len() * places.len());
        for prefix in prefixes {
            for place in places {
                ranges.push(self.range(prefix.clone(), place, last)?);
            }
        }
        ranges.retain(|range| !range.is_empty());
        Ok(merge(ranges))
    }

    fn range(&self, mut prefix: Vec<Value>, place: &Place, part: LastPart) -> Result<KeyRange, SqlError> {
        let whole = self.prefix(&prefix)?;
        if let Place::Begins(text) = place
            && !part.descending
        {
            let mut key = Vec::new();
            self.table.codec.indexes[self.index].key.encode_text_prefix(&prefix, text, &mut key)?;
            return Ok(KeyRange::prefix(key));
        }
        let mut at = |value: &Value| -> Result<Bytes, SqlError> {
            prefix.push(value.clone());
            let key = self.prefix(&prefix);
            prefix.pop();
            key
        };
        let (from, to) = match place {
            Place::Everything | Place::Begins(_) if whole.is_empty() => return Ok(KeyRange::all()),
            Place::Everything | Place::Begins(_) => return Ok(KeyRange::prefix(whole)),
            Place::Point(value) => return Ok(KeyRange::prefix(at(value)?)),
            Place::Span(lower, upper) if part.descending => (upper, lower),
            Place::Span(lower, upper) => (lower, upper),
        };
        let LastPart { descending, by_prefix, nullable } = part;
        // In key order an edge is before the keys of its value or behind them; descending turns that around. A part that
        // holds only a prefix of its column cannot tell values apart that begin alike: the edge is on the wide side.
        let end_of = |key: Bytes| successor(&key).map_or(Bound::Unbounded, Bound::Included);
        let lower = match from {
            Edge::First | Edge::Last if descending || !nullable => Bound::Included(whole.clone()),
            Edge::First | Edge::Last => end_of(at(&Value::Null)?),
            Edge::Before(value) if !descending || by_prefix => Bound::Included(at(value)?),
            Edge::After(value) if descending || by_prefix => Bound::Included(at(value)?),
            Edge::Before(value) | Edge::After(value) => end_of(at(value)?),
        };
        let before = |bound: Bound<Bytes>| match bound {
            Bound::Included(key) => Bound::Excluded(key),
            other => other,
        };
        let upper = match to {
            Edge::First | Edge::Last if descending && nullable => Bound::Excluded(at(&Value::Null)?),
            Edge::First | Edge::Last if whole.is_empty() => Bound::Unbounded,
            Edge::First | Edge::Last => before(end_of(whole)),
            Edge::After(value) if !descending || by_prefix => before(end_of(at(value)?)),
            Edge::Before(value) if descending || by_prefix => before(end_of(at(value)?)),
            Edge::Before(value) | Edge::After(value) => Bound::Excluded(at(value)?),
        };
        Ok(KeyRange { lower, upper })
    }
}

/// Bytes beside a BINARY of another length, whose values have zeros behind them: shorter ones are smaller than with these, longer ones larger
/// than what fits.
fn fit_in_binary(bytes: &Bytes, length: usize) -> Fit {
    if bytes.len() > length {
        return Fit::Above(Value::Bytes(bytes.slice(..length)));
    }
    if bytes.len() == length {
        return Fit::Exact(Value::Bytes(bytes.clone()));
    }
    let mut padded = bytes.to_vec();
    padded.resize(length, 0);
    Fit::Below(Value::Bytes(padded.into()))
}

/// The key part at which ranges end.
#[derive(Clone, Copy)]
struct LastPart {
    descending: bool,
    /// The key has only the column's first characters.
    by_prefix: bool,
    nullable: bool,
}

impl LastPart {
    fn new(table: &Table, index: usize, part: usize) -> Self {
        let own = &table.def.indexes[index].parts;
        let tail = if index == 0 { &[][..] } else { &table.def.primary().parts[..] };
        match own.iter().chain(tail).nth(part) {
            Some(part) => LastPart {
                descending: part.descending,
                by_prefix: part.prefix_chars.is_some(),
                nullable: table.def.columns[part.column].nullable,
            },
            None => LastPart { descending: false, by_prefix: false, nullable: false },
        }
    }
}

fn integer_fits(ty: &ColumnType, n: i128) -> bool {
    let Some((bytes, unsigned)) = ty.integer() else { return false };
    let bits = 8 * bytes as u32;
    if unsigned { (0..1 << bits).contains(&n) } else { (-(1 << (bits - 1))..1 << (bits - 1)).contains(&n) }
}

fn integer(ty: &ColumnType, n: i128) -> Value {
    if ty.is_unsigned() { Value::UInt(n as u64) } else { Value::Int(n as i64) }
}

/// The text before the first wildcard of a LIKE pattern, and whether that is the whole pattern.
pub(crate) fn like_prefix(pattern: &str, escape: Option<char>) -> (String, bool) {
    let mut literal = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' | '_' => return (literal, false),
            c if Some(c) == escape => literal.push(chars.next().unwrap_or(c)),
            c => literal.push(c),
        }
    }
    (literal, true)
}

/// Sorts ranges and makes one of those that overlap.
fn merge(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    if ranges.len() < 2 {
        return ranges;
    }
    let start = |range: &KeyRange| match &range.lower {
        Bound::Unbounded => Bytes::new(),
        Bound::Included(key) | Bound::Excluded(key) => key.clone(),
    };
    ranges.sort_by_cached_key(start);
    let mut merged: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if touches(last, &start(&range)) => {
                if ends_before(last, &range) {
                    last.upper = range.upper;
                }
            }
            _ => merged.push(range),
        }
    }
    merged
}

fn touches(range: &KeyRange, key: &Bytes) -> bool {
    match &range.upper {
        Bound::Unbounded => true,
        // Only real overlap: keys that follow one another stay points of their own.
        Bound::Included(upper) => key <= upper,
        Bound::Excluded(upper) => key < upper,
    }
}

fn ends_before(a: &KeyRange, b: &KeyRange) -> bool {
    match (&a.upper, &b.upper) {
        (Bound::Unbounded, _) => false,
        (_, Bound::Unbounded) => true,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a < b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_patterns_end_at_their_first_wildcard() {
        assert_eq!(like_prefix("abc%", Some('\\')), ("abc".into(), false));
        assert_eq!(like_prefix(r"a\%b_c", Some('\\')), ("a%b".into(), false));
        assert_eq!(like_prefix("abc", Some('\\')), ("abc".into(), true));
    }

    #[test]
    fn overlapping_ranges_become_one() {
        let range = |low: &'static str, high: &'static str| KeyRange {
            lower: Bound::Included(Bytes::from_static(low.as_bytes())),
            upper: Bound::Excluded(Bytes::from_static(high.as_bytes())),
        };
        let merged = merge(vec![range("m", "p"), range("a", "c"), range("b", "d"), range("d", "e")]);
        assert_eq!(merged, [range("a", "d"), range("d", "e"), range("m", "p")]);
    }
}
