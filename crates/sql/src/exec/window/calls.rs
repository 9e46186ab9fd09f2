//! The functions of a partition's windows: what each gives for a row.

use std::ops::Range;

use base::SqlError;
use types::Value;

use crate::bind::window::{Bound, BoundCall, Frame};
use crate::exec::batch::BATCH_ROWS;
use crate::exec::context::ExecContext;
use crate::exec::window::frame::{Distances, Frames, distances};
use crate::exec::window::partition::{Cursor, Place, Rows};
use crate::expr::Sliding;
use crate::expr::window::{WindowCall, WindowFunction};
use crate::plan::node::WindowNode;

/// The numbers that a statement gives windows, which are the same for all rows: per window those of its frame, and of its calls.
#[derive(Default)]
pub(super) struct Constants(Vec<(Distances, Vec<Number>)>);

/// What a call is given.
#[derive(Clone, Copy)]
struct Number {
    rows: u64,
    share: f64,
}

impl Constants {
    pub(super) fn of(node: &WindowNode, context: &ExecContext<'_>) -> Result<Self, SqlError> {
        let of_window = |(frame, calls): &(Frame, Vec<BoundCall>)| {
            let eval = &context.eval;
            let number = |BoundCall { call, .. }: &BoundCall| {
                Ok::<_, SqlError>(Number { rows: call.number(eval)?, share: call.share(eval)? })
            };
            let numbers = calls.iter().map(number).collect::<Result<_, _>>()?;
            Ok((distances(frame, &context.eval)?, numbers))
        };
        node.windows.iter().map(of_window).collect::<Result<_, _>>().map(Constants)
    }
}

/// The windows of a partition under way.
pub(super) struct Windows {
    windows: Vec<Window>,
    /// Of the row that is made.
    results: Vec<(usize, Value)>,
}

/// One window: the calls that share a frame.
struct Window {
    frames: Frames,
    is_framed: bool,
    /// The rows that are in the aggregates.
    inside: Range<u64>,
    enter: Cursor,
    leave: Cursor,
    calls: Vec<Call>,
}

/// What a call holds.
struct Call {
    number: Number,
    held: Held,
}

enum Held {
    Nothing,
    /// The row that it has looked at last, and what it found.
    Row {
        cursor: Cursor,
        known: Option<(u64, Value)>,
    },
    /// The value of all rows of the partition, when it is known.
    Whole {
        cursors: Box<[Cursor; 2]>,
        known: Option<Value>,
    },
    /// What it has of its frame, and the value if the frame is the same as before.
    Aggregate {
        sliding: Sliding,
        known: Option<Value>,
    },
}

impl Windows {
    pub(super) fn new(node: &WindowNode, constants: &Constants, width: usize) -> Self {
        let windows = node.windows.iter().zip(&constants.0);
        let windows = windows.map(|((frame, calls), (distances, numbers))| {
            let is_framed = calls.iter().any(|call| call.call.function.is_framed());
            let calls = calls.iter().zip(numbers).map(|(call, number)| Call::new(&call.call, *number, frame, width));
            Window {
                frames: Frames::new(*distances, width),
                is_framed,
                inside: 0..0,
                enter: Cursor::new(width),
                leave: Cursor::new(width),
                calls: calls.collect(),
            }
        });
        Windows { windows: windows.collect(), results: Vec::new() }
    }

    /// Fills in a row.
    pub(super) async fn compute(
        &mut self,
        node: &WindowNode,
        rows: &Rows<'_>,
        place: &Place,
        (row, context): (&mut [Value], &ExecContext<'_>),
    ) -> Result<(), SqlError> {
        for (window, (frame, calls)) in self.windows.iter_mut().zip(&node.windows) {
            let frame = match window.is_framed {
                true => window.frames.of((node, frame), rows, place, (&*row, context)).await?,
                false => 0..0,
            };
            window.slide(calls, rows, &frame, context).await?;
            for (call, bound) in window.calls.iter_mut().zip(calls) {
                let value = call.value(&bound.call, rows, (place, &frame), (&*row, context)).await?;
                self.results.push((bound.id, value));
            }
        }
        self.results.drain(..).for_each(|(slot, value)| row[slot] = value);
        Ok(())
    }
}

impl Window {
    /// Lets rows into the aggregates, and out of them, until they have those of the frame. A frame without rows changes nothing of them.
    async fn slide(
        &mut self,
        calls: &[BoundCall],
        rows: &Rows<'_>,
        frame: &Range<u64>,
        context: &ExecContext<'_>,
    ) -> Result<(), SqlError> {
        if self.inside == *frame || frame.is_empty() {
            return Ok(());
        }
        if frame.start >= self.inside.end {
            self.calls.iter_mut().zip(calls).for_each(|(call, bound)| call.forget(&bound.call));
            self.inside = frame.start..frame.start;
        }
        self.calls.iter_mut().for_each(Call::forget_value);
        while self.inside.start < frame.start {
            let looks = self.calls.iter().any(Call::takes_away);
            let row = if looks { self.leave.row(rows, self.inside.start).await? } else { &[] };
            for (call, bound) in self.calls.iter_mut().zip(calls) {
                call.leave(&bound.call, row, context)?;
            }
            self.inside.start += 1;
        }
        while self.inside.end < frame.end && self.calls.iter().any(Call::is_aggregate) {
            let row = self.enter.row(rows, self.inside.end).await?;
            for (call, bound) in self.calls.iter_mut().zip(calls) {
                call.enter(&bound.call, row, context)?;
            }
            self.inside.end += 1;
            if self.inside.end.is_multiple_of(BATCH_ROWS as u64) {
                context.check_cancelled().await?;
            }
        }
        self.inside = frame.clone();
        Ok(())
    }
}

impl Call {
    fn new(call: &WindowCall, number: Number, frame: &Frame, width: usize) -> Self {
        use WindowFunction::{Aggregate, FirstValue, Lag, LastValue, Lead, NthValue, PercentileCont, PercentileDisc};
        let held = match &call.function {
            Aggregate(aggregate) => {
                Held::Aggregate { sliding: Sliding::new(aggregate, frame.start != Bound::Unbounded), known: None }
            }
            Lag | Lead | FirstValue | LastValue | NthValue => Held::Row { cursor: Cursor::new(width), known: None },
            PercentileCont | PercentileDisc => {
                Held::Whole { cursors: Box::new([Cursor::new(width), Cursor::new(width)]), known: None }
            }
            _ => Held::Nothing,
        };
        Call { number, held }
    }

    fn is_aggregate(&self) -> bool {
        matches!(self.held, Held::Aggregate { .. })
    }

    fn takes_away(&self) -> bool {
        matches!(&self.held, Held::Aggregate { sliding, .. } if sliding.takes_away())
    }

    fn forget_value(&mut self) {
        if let Held::Aggregate { known, .. } = &mut self.held {
            *known = None;
        }
    }

    /// All rows have left the frame.
    fn forget(&mut self, call: &WindowCall) {
        if let (Held::Aggregate { sliding, .. }, WindowFunction::Aggregate(aggregate)) =
            (&mut self.held, &call.function)
        {
            sliding.clear(aggregate);
        }
    }

    fn enter(&mut self, call: &WindowCall, row: &[Value], context: &ExecContext<'_>) -> Result<(), SqlError> {
        match (&mut self.held, &call.function) {
            (Held::Aggregate { sliding, .. }, WindowFunction::Aggregate(aggregate)) => {
                sliding.enter(aggregate, row, &context.eval)
            }
            _ => Ok(()),
        }
    }

    fn leave(&mut self, call: &WindowCall, row: &[Value], context: &ExecContext<'_>) -> Result<(), SqlError> {
        match (&mut self.held, &call.function) {
            (Held::Aggregate { sliding, .. }, WindowFunction::Aggregate(aggregate)) => {
                sliding.leave(aggregate, row, &context.eval)
            }
            _ => Ok(()),
        }
    }

    async fn value(
        &mut self,
        call: &WindowCall,
        rows: &Rows<'_>,
        (place, frame): (&Place, &Range<u64>),
        (current, context): (&[Value], &ExecContext<'_>),
    ) -> Result<Value, SqlError> {
        use WindowFunction::*;
        let rank = place.peers.start + 1;
        let in_frame = |number: Option<u64>| number.filter(|number| frame.contains(number));
        let wanted = match &call.function {
            RowNumber => return Ok(Value::UInt(place.at + 1)),
            Rank => return Ok(Value::UInt(rank)),
            DenseRank => return Ok(Value::UInt(place.dense_rank)),
            PercentRank => return Ok(Value::Double(share(place.peers.start, rows.count() - 1))),
            CumeDist => return Ok(Value::Double(share(place.peers.end, rows.count()))),
            Ntile => return Ok(Value::UInt(bucket(place.at, rows.count(), self.number.rows))),
            Aggregate(aggregate) => {
                let Held::Aggregate { sliding, known } = &mut self.held else { return Ok(Value::Null) };
                if frame.is_empty() {
                    return aggregate.finish(aggregate.start());
                }
                if known.is_none() {
                    // Of a long frame it may take long.
                    if frame.end - frame.start > BATCH_ROWS as u64 {
                        context.check_cancelled().await?;
                    }
                    *known = Some(sliding.value(aggregate, &context.eval)?);
                }
                return Ok(known.clone().unwrap_or_default());
            }
            PercentileCont | PercentileDisc => return self.percentile(call, rows, context).await,
            Lag => place.at.checked_sub(self.number.rows),
            Lead => place.at.checked_add(self.number.rows).filter(|number| *number < rows.count()),
            FirstValue => in_frame(Some(frame.start)),
            LastValue => in_frame(frame.end.checked_sub(1)),
            NthValue => in_frame(frame.start.checked_add(self.number.rows - 1)),
        };
        let Some(number) = wanted else {
            // The default of LAG and LEAD.
            return call.args().get(1).map_or(Ok(Value::Null), |default| default.eval(current, &context.eval));
        };
        self.of_row(call, rows, number, context).await
    }

    /// The value that this share of the partition's values is not above; NULLs are none.
    async fn percentile(
        &mut self,
        call: &WindowCall,
        rows: &Rows<'_>,
        context: &ExecContext<'_>,
    ) -> Result<Value, SqlError> {
        let Held::Whole { cursors, known } = &mut self.held else { return Ok(Value::Null) };
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let arg = &call.args()[0];
        let [scan, cursor] = &mut **cursors;
        let (mut first, mut count) = (0, 0);
        for number in 0..rows.count() {
            let is_null = arg.eval_ref(scan.row(rows, number).await?, &context.eval)?.is_null();
            // They come before all values, or behind them.
            first += u64::from(is_null && count == 0);
            count += u64::from(!is_null);
            if number.is_multiple_of(BATCH_ROWS as u64) {
                context.check_cancelled().await?;
            }
        }
        let value = match (&call.function, count) {
            (_, 0) => Value::Null,
            (WindowFunction::PercentileDisc, _) => {
                let number = (self.number.share * count as f64).ceil() as u64;
                arg.eval(cursor.row(rows, first + number.max(1) - 1).await?, &context.eval)?
            }
            _ => {
                let at = self.number.share * (count - 1) as f64;
                let low = arg.eval(cursor.row(rows, first + at.floor() as u64).await?, &context.eval)?;
                let high = arg.eval(cursor.row(rows, first + at.ceil() as u64).await?, &context.eval)?;
                between(&low, &high, at.fract())
            }
        };
        *known = Some(value.clone());
        Ok(value)
    }

    /// The value of another row.
    async fn of_row(
        &mut self,
        call: &WindowCall,
        rows: &Rows<'_>,
        number: u64,
        context: &ExecContext<'_>,
    ) -> Result<Value, SqlError> {
        let Held::Row { cursor, known } = &mut self.held else { return Ok(Value::Null) };
        if let Some((_, value)) = known.as_ref().filter(|(known, _)| *known == number) {
            return Ok(value.clone());
        }
        let value = call.args()[0].eval(cursor.row(rows, number).await?, &context.eval)?;
        *known = Some((number, value.clone()));
        Ok(value)
    }
}

fn between(low: &Value, high: &Value, part: f64) -> Value {
    match (low, high) {
        (Value::Double(low), Value::Double(high)) if part > 0.0 => Value::Double(low * (1.0 - part) + high * part),
        (low, _) => low.clone(),
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// Rows in so many buckets of which the first ones have one row more if they cannot all have as many.
fn bucket(at: u64, rows: u64, buckets: u64) -> u64 {
    let (size, larger) = (rows / buckets, rows % buckets);
    let in_larger = larger * (size + 1);
    if at < in_larger { at / (size + 1) + 1 } else { larger + (at - in_larger) / size.max(1) + 1 }
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn the_first_buckets_have_one_row_more() {
        let buckets = |rows, count| (0..rows).map(|at| bucket(at, rows, count)).collect::<Vec<u64>>();
        assert_eq!(buckets(7, 3), [1, 1, 1, 2, 2, 3, 3]);
        assert_eq!(buckets(6, 3), [1, 1, 2, 2, 3, 3]);
        assert_eq!(buckets(2, 5), [1, 2]);
        assert_eq!(buckets(3, u64::MAX), [1, 2, 3]);
        assert_eq!(buckets(3, 1), [1, 1, 1]);
    }
}
