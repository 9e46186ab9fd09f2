//! What aggregates hold as sums and bests, and how it is fed with other things than rows: what was read of images, and other states.

use std::cmp::Ordering;

use base::SqlError;
use types::{Decimal, Value};

use crate::expr::aggregate::{SoFar, too_great};
use crate::expr::{Aggregate, AggregateFunction, AggregateState, Kind};

impl Aggregate {
    /// Whether it is a COUNT of rows, whatever their values are.
    pub(crate) fn counts_rows(&self) -> bool {
        let reads_none = || self.args.iter().all(|arg| arg.slots().is_empty());
        self.function == AggregateFunction::Count && !self.distinct && reads_none()
    }

    /// MIN, MAX: whether a value that is in this order beside the best so far is better.
    pub(crate) fn prefers(&self, order: Ordering) -> bool {
        order == if self.function == AggregateFunction::Min { Ordering::Less } else { Ordering::Greater }
    }

    /// Digits after the point of the units that a sum is kept in.
    pub(crate) fn scale_of_sum(&self) -> u8 {
        let ty = &self.args[0].ty;
        if ty.kind == Kind::Decimal { ty.decimals.min(types::decimal::MAX_SCALE) } else { 0 }
    }

    /// An exact number in such units, if it is one.
    pub(super) fn units(&self, value: &Value) -> Option<i128> {
        let scale = self.scale_of_sum();
        let whole = |n: i128| if scale == 0 { Some(n) } else { n.checked_mul(10i128.checked_pow(scale.into())?) };
        match value {
            Value::Int(n) => whole((*n).into()),
            Value::UInt(n) => whole((*n).into()),
            Value::Decimal(n) => n.units(scale),
            _ => None,
        }
    }
}

impl AggregateState {
    /// COUNT: so many rows more.
    #[inline]
    pub(crate) fn add_count(&mut self, rows: u64) {
        if let SoFar::Count(count) = &mut self.0 {
            *count += rows;
        }
    }

    /// SUM, AVG of exact numbers: one more, in units as [`Aggregate::scale_of_sum`] says. False if it does not fit, and nothing was added.
    #[inline]
    pub(crate) fn add_units(&mut self, number: i128) -> bool {
        let SoFar::Exact { units, count, .. } = &mut self.0 else { return false };
        let Some(sum) = units.checked_add(number) else { return false };
        *units = sum;
        *count += 1;
        true
    }

    /// SUM, AVG of floating-point numbers: one more.
    #[inline]
    pub(crate) fn add_double(&mut self, number: f64) {
        if let SoFar::Double { sum, count } = &mut self.0 {
            *sum += number;
            *count += 1;
        }
    }

    /// MIN, MAX: what was found so far.
    #[inline]
    pub(crate) fn best(&self) -> Option<&Value> {
        match &self.0 {
            SoFar::One(best) => best.as_ref(),
            _ => None,
        }
    }

    /// MIN, MAX: one more value, which is not NULL.
    pub(crate) fn take_best(&mut self, aggregate: &Aggregate, value: Value) {
        self.0.take_best(aggregate, value);
    }

    /// Takes in what other rows have given, which come behind those of this one.
    pub(crate) fn join(&mut self, aggregate: &Aggregate, other: &AggregateState) -> Result<(), SqlError> {
        self.0.join(aggregate, &other.0)
    }
}

impl SoFar {
    fn take_best(&mut self, aggregate: &Aggregate, value: Value) {
        if let SoFar::One(best) = self
            && best.as_ref().is_none_or(|best| aggregate.prefers(aggregate.order(&value, best)))
        {
            *best = Some(value);
        }
    }

    /// Adds what comes behind it. Texts and documents are not joined.
    pub(super) fn join(&mut self, aggregate: &Aggregate, other: &SoFar) -> Result<(), SqlError> {
        match (self, other) {
            (SoFar::Count(count), SoFar::Count(more)) => *count += more,
            (SoFar::Exact { units, decimals, count }, SoFar::Exact { units: more, decimals: others, count: rows }) => {
                *count += rows;
                *decimals = decimals.add(others).ok_or_else(too_great)?;
                match units.checked_add(*more) {
                    Some(sum) => *units = sum,
                    None => {
                        let more = Decimal::from_units(*more, aggregate.scale_of_sum());
                        *decimals = more.and_then(|more| decimals.add(&more)).ok_or_else(too_great)?;
                    }
                }
            }
            (best @ SoFar::One(_), SoFar::One(Some(value))) => best.take_best(aggregate, value.clone()),
            (SoFar::Double { sum, count }, SoFar::Double { sum: more, count: rows }) if *rows > 0 => {
                *sum += more;
                *count += rows;
            }
            (SoFar::Bits(bits), SoFar::Bits(more)) => bits.join(aggregate.function, more)?,
            (
                SoFar::Variance { count, mean, squares },
                SoFar::Variance { count: rows, mean: of_them, squares: around },
            ) if *rows > 0 => {
                let added = *rows as f64;
                *count += rows;
                let distance = of_them - *mean;
                *mean += distance * added / *count as f64;
                *squares += around + distance * (of_them - *mean) * added;
            }
            _ => {}
        }
        Ok(())
    }
}
