//! Aggregates over a frame: rows enter at its end and leave at its beginning, in their order.
//!
//! | aggregate | how a row leaves |
//! |---|---|
//! | any whose frame always begins at the first row | none does |
//! | COUNT; SUM and AVG of exact numbers; BIT_XOR of numbers | it is taken away again |
//! | MIN, MAX | those that could still be the best are kept in their order; the first is the best |
//! | SUM and AVG of doubles, STD, VARIANCE, BIT_AND, BIT_OR, BIT_XOR of binary strings | see below |
//! | JSON_ARRAYAGG, JSON_OBJECTAGG | all are kept: the result is as long as they are |
//!
//! What has been added to a double cannot be taken away exactly, so nothing is. A short frame is added up from the left for each row, as MySQL does it, and gives the same
//! digits. A long one has two parts: of the older rows, the sums of all ends of that part; of the newer, one sum. A row that leaves takes one of the
//! sums with it; when there is none left, those of all rows are made anew. So each row is added three times at most, whatever the frame's length is.

use std::collections::VecDeque;

use base::{SqlError, memory};
use types::{Json, Value};

use crate::expr::aggregate::{Aggregate, AggregateFunction, AggregateState, SoFar};
use crate::expr::context::EvalContext;
use crate::expr::json;
use crate::expr::types::Kind;

/// Frames of up to so many rows are added up for each row.
const SHORT: usize = 256;

/// An aggregate of a frame that moves forward.
pub(crate) struct Sliding(Held);

enum Held {
    /// No row leaves, or what leaves is taken away.
    State(AggregateState),
    Best(Best),
    Parts(Parts),
    Elements(Elements),
}

/// Values that are the best of themselves and all behind them, with their numbers.
#[derive(Default)]
struct Best {
    values: VecDeque<(u64, Value)>,
    entered: u64,
    left: u64,
}

/// The rows one by one, and sums of some.
struct Parts {
    rows: VecDeque<SoFar>,
    /// `older[n]` is the sum of the last n + 1 of the older rows; there are as many older rows as sums.
    older: Vec<SoFar>,
    newer: SoFar,
}

/// Keys and values with their sizes.
#[derive(Default)]
struct Elements {
    list: VecDeque<(String, Json, u64)>,
    bytes: u64,
}

impl Sliding {
    /// Of no rows. `leaves`: rows may leave.
    pub(crate) fn new(aggregate: &Aggregate, leaves: bool) -> Sliding {
        use AggregateFunction::*;
        let state = aggregate.start();
        let is_exact = match (&state.0, aggregate.function) {
            (SoFar::Count(_) | SoFar::Exact { .. }, _) => true,
            (SoFar::Bits(_), BitXor) => aggregate.ty.kind != Kind::Bytes,
            _ => false,
        };
        Sliding(match aggregate.function {
            _ if !leaves || is_exact => Held::State(state),
            Min | Max => Held::Best(Best::default()),
            JsonArrayAgg | JsonObjectAgg => Held::Elements(Elements::default()),
            _ => Held::Parts(Parts { rows: VecDeque::new(), older: Vec::new(), newer: state.0 }),
        })
    }

    /// All rows leave.
    pub(crate) fn clear(&mut self, aggregate: &Aggregate) {
        let none = aggregate.start();
        match &mut self.0 {
            Held::State(state) => *state = none,
            Held::Best(best) => *best = Best::default(),
            Held::Parts(parts) => *parts = Parts { rows: VecDeque::new(), older: Vec::new(), newer: none.0 },
            Held::Elements(elements) => *elements = Elements::default(),
        }
    }

    /// Whether [`Sliding::leave`] looks at the row.
    pub(crate) fn takes_away(&self) -> bool {
        matches!(self.0, Held::State(_))
    }

    /// A row comes into the frame.
    pub(crate) fn enter(
        &mut self,
        aggregate: &Aggregate,
        row: &[Value],
        ctx: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        memory::check()?;
        match &mut self.0 {
            Held::State(state) => aggregate.add(state, row, ctx),
            Held::Best(best) => {
                let value = aggregate.args[0].eval_ref(row, ctx)?;
                best.enter(aggregate, value.into_owned());
                Ok(())
            }
            Held::Parts(parts) => {
                let mut alone = aggregate.start();
                aggregate.add(&mut alone, row, ctx)?;
                parts.newer.join(aggregate, &alone.0)?;
                parts.rows.push_back(alone.0);
                Ok(())
            }
            Held::Elements(elements) => {
                let mut alone = aggregate.start();
                aggregate.add(&mut alone, row, ctx)?;
                elements.enter(alone.0);
                Ok(())
            }
        }
    }

    /// The frame's first row leaves it.
    pub(crate) fn leave(
        &mut self,
        aggregate: &Aggregate,
        row: &[Value],
        ctx: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        match &mut self.0 {
            Held::State(state) => aggregate.take_away(state, row, ctx),
            Held::Best(best) => {
                best.leave();
                Ok(())
            }
            Held::Parts(parts) => parts.leave(aggregate),
            Held::Elements(elements) => {
                elements.bytes -= elements.list.pop_front().map_or(0, |(_, _, bytes)| bytes);
                Ok(())
            }
        }
    }

    /// The aggregate of the rows that are in the frame.
    pub(crate) fn value(&self, aggregate: &Aggregate, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
        match &self.0 {
            Held::State(state) => aggregate.finish(state.clone()),
            Held::Best(best) => Ok(best.values.front().map_or(Value::Null, |(_, value)| value.clone())),
            Held::Parts(parts) => aggregate.finish(AggregateState(parts.sum(aggregate)?)),
            Held::Elements(elements) => {
                if elements.bytes > ctx.session.max_allowed_packet {
                    return Err(json::error(types::json::JsonError::TooLong));
                }
                let list = elements.list.iter().map(|(key, value, _)| (key.clone(), value.clone())).collect();
                aggregate.finish(AggregateState(SoFar::Json { elements: list, bytes: elements.bytes }))
            }
        }
    }
}

impl Best {
    fn enter(&mut self, aggregate: &Aggregate, value: Value) {
        let number = self.entered;
        self.entered += 1;
        if value.is_null() {
            return;
        }
        // Of equal ones the first is given.
        while self.values.back().is_some_and(|(_, last)| aggregate.prefers(aggregate.order(&value, last))) {
            self.values.pop_back();
        }
        self.values.push_back((number, value));
    }

    fn leave(&mut self) {
        self.values.pop_front_if(|(number, _)| *number == self.left);
        self.left += 1;
    }
}

impl Parts {
    fn leave(&mut self, aggregate: &Aggregate) -> Result<(), SqlError> {
        self.rows.pop_front();
        if self.older.pop().is_some() {
            return Ok(());
        }
        self.newer = aggregate.start().0;
        let mut sum = aggregate.start().0;
        for row in self.rows.iter().rev() {
            let mut longer = row.clone();
            longer.join(aggregate, &sum)?;
            sum = longer;
            self.older.push(sum.clone());
        }
        Ok(())
    }

    fn sum(&self, aggregate: &Aggregate) -> Result<SoFar, SqlError> {
        let mut sum = aggregate.start().0;
        if self.rows.len() <= SHORT {
            self.rows.iter().try_for_each(|row| sum.join(aggregate, row))?;
            return Ok(sum);
        }
        if let Some(older) = self.older.last() {
            sum = older.clone();
        }
        sum.join(aggregate, &self.newer)?;
        Ok(sum)
    }
}

impl Elements {
    fn enter(&mut self, alone: SoFar) {
        if let SoFar::Json { elements, bytes } = alone {
            self.bytes += bytes;
            self.list.extend(elements.into_iter().map(|(key, value)| (key, value, bytes)));
        }
    }
}
