//! Where a row's frame begins and ends.

use std::ops::Range;

use base::{SqlError, codes};
use types::{Value, number};

use crate::bind::window::{Bound, Frame, ValueBound};
use crate::bind::window_spec::illegal_frame;
use crate::exec::batch::BATCH_ROWS;
use crate::exec::context::ExecContext;
use crate::exec::window::partition::{Cursor, Place, Rows};
use crate::expr::{EvalContext, coerce};
use crate::plan::node::WindowNode;

/// How many rows ROWS counts to a bound, if it does.
pub(super) type Distances = [Option<u64>; 2];

/// The numbers of a frame's bounds.
///
/// # Errors
/// 3586 for one that is negative, NULL or none.
pub(super) fn distances(frame: &Frame, eval: &EvalContext<'_>) -> Result<Distances, SqlError> {
    let distance = |bound: &Bound| match bound {
        Bound::Rows { distance, window, .. } => match distance.eval(&[], eval)? {
            Value::Int(n) => u64::try_from(n).map(Some).map_err(|_| illegal_frame(window)),
            Value::UInt(n) => Ok(Some(n)),
            Value::Null => Err(illegal_frame(window)),
            // Of a parameter: anything else is refused before.
            _ => Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to EXECUTE")),
        },
        Bound::Value(bound) => check_distance(bound, eval).map(|()| None),
        Bound::Unbounded | Bound::Current => Ok(None),
    };
    Ok([distance(&frame.start)?, distance(&frame.end)?])
}

fn check_distance(bound: &ValueBound, eval: &EvalContext<'_>) -> Result<(), SqlError> {
    if !bound.distance.slots().is_empty() {
        return Ok(());
    }
    let is_negative = match bound.distance.eval(&[], eval)? {
        Value::Null => true,
        Value::Str(text) | Value::Bytes(text) => number::parse_f64(&text).0 < 0.0,
        other => coerce::to_f64(&other, eval)?.is_some_and(|n| n < 0.0),
    };
    if is_negative { Err(illegal_frame(&bound.window)) } else { Ok(()) }
}

/// Finds the frames of one row after the other. Neither end goes back, whatever the bounds are, but for frames without rows.
pub(super) struct Frames {
    distances: Distances,
    start: Edge,
    end: Edge,
    last: Range<u64>,
}

/// How far rows were looked through for a bound that is a value.
struct Edge {
    cursor: Cursor,
    at: u64,
}

impl Frames {
    pub(super) fn new(distances: Distances, width: usize) -> Self {
        let edge = || Edge { cursor: Cursor::new(width), at: 0 };
        Frames { distances, start: edge(), end: edge(), last: 0..0 }
    }

    /// The frame of a row.
    pub(super) async fn of(
        &mut self,
        (node, frame): (&WindowNode, &Frame),
        rows: &Rows<'_>,
        place: &Place,
        (current, context): (&[Value], &ExecContext<'_>),
    ) -> Result<Range<u64>, SqlError> {
        let count = rows.count();
        let own = if frame.rows { place.at..place.at + 1 } else { place.peers.clone() };
        let start = match (&frame.start, self.distances[0]) {
            (Bound::Value(bound), _) => match limit(node, bound, current, &context.eval)? {
                Limit::Peers => place.peers.start,
                Limit::Greatest => self.start.pass_all(node, count),
                Limit::At(limit) => self.start.pass(node, (bound, &limit), true, (rows, context)).await?,
            },
            (Bound::Rows { following, .. }, Some(rows)) => beside(place.at, rows, *following),
            (Bound::Current, _) => own.start,
            _ => 0,
        };
        let end = match (&frame.end, self.distances[1]) {
            (Bound::Value(bound), _) => match limit(node, bound, current, &context.eval)? {
                Limit::Peers => place.peers.end,
                Limit::Greatest => self.end.pass_all(node, count),
                Limit::At(limit) => self.end.pass(node, (bound, &limit), false, (rows, context)).await?,
            },
            (Bound::Rows { following, .. }, Some(rows)) => beside(place.at.saturating_add(1), rows, *following),
            (Bound::Current, _) => own.end,
            _ => count,
        };
        let (start, end) = (start.min(count), end.min(count));
        if end <= start {
            return Ok(start..start);
        }
        self.last = start.max(self.last.start)..end.max(self.last.end);
        Ok(self.last.clone())
    }
}

fn beside(at: u64, rows: u64, following: bool) -> u64 {
    if following { at.saturating_add(rows) } else { at.saturating_sub(rows) }
}

/// Where a bound that is a value is.
enum Limit {
    /// The row's own value is NULL: at its peers.
    Peers,
    /// There is no such value, beyond the greatest date or the least: as in MySQL it is greater than all.
    Greatest,
    At(Value),
}

fn limit(node: &WindowNode, bound: &ValueBound, current: &[Value], eval: &EvalContext<'_>) -> Result<Limit, SqlError> {
    let Some(key) = node.order.first() else { return Ok(Limit::Greatest) };
    if key.expr.eval_ref(current, eval)?.is_null() {
        return Ok(Limit::Peers);
    }
    Ok(match bound.limit.eval(current, eval)? {
        Value::Null => Limit::Greatest,
        value => Limit::At(value),
    })
}

impl Edge {
    /// The same of a limit that is greater than all values.
    fn pass_all(&mut self, node: &WindowNode, count: u64) -> u64 {
        if node.order.first().is_some_and(|item| !item.descending) {
            self.at = count;
        }
        self.at
    }

    /// The first row that is not before the limit; or, `start` not being wanted, the first that is behind it.
    async fn pass(
        &mut self,
        node: &WindowNode,
        (bound, limit): (&ValueBound, &Value),
        start: bool,
        (rows, context): (&Rows<'_>, &ExecContext<'_>),
    ) -> Result<u64, SqlError> {
        let Some(item) = node.order.first() else { return Ok(self.at) };
        while self.at < rows.count() {
            let row = self.cursor.row(rows, self.at).await?;
            let key = item.expr.eval(row, &context.eval)?;
            // NULL is before all values, or behind all of them.
            let passes = match (key.is_null(), start) {
                (true, _) => !item.descending,
                (false, true) => bound.before.eval_truth(&[key, limit.clone()], &context.eval)? == Some(true),
                (false, false) => bound.behind.eval_truth(&[key, limit.clone()], &context.eval)? != Some(true),
            };
            if !passes {
                break;
            }
            self.at += 1;
            if self.at.is_multiple_of(BATCH_ROWS as u64) {
                context.check_cancelled().await?;
            }
        }
        Ok(self.at)
    }
}
