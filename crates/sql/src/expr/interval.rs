//! Dates and intervals: `date ± INTERVAL`, EXTRACT, TIMESTAMPDIFF.

use std::borrow::Cow;

use base::{SqlError, codes};
use syntax::ast::IntervalUnit;
use types::decimal::Rounding;
use types::temporal::parse::{self, Allow};
use types::temporal::{MICROS_PER_DAY, MICROS_PER_SECOND, calendar};
use types::{Date, DateTime, Decimal, Time, Value};

use crate::expr::cast;
use crate::expr::coerce::{self, fsp_of};
use crate::expr::context::EvalContext;
use crate::expr::types::{ExprType, Kind};

/// As what the amount of an interval is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// An integer.
    Whole,
    /// A number with a fraction.
    Exact,
    /// Several numbers in a text.
    Text,
}

/// What the numbers in an amount count: microseconds, or months.
fn parts(unit: IntervalUnit) -> &'static [i64] {
    use IntervalUnit::*;
    const S: i64 = MICROS_PER_SECOND;
    const M: i64 = 60 * S;
    const H: i64 = 60 * M;
    const D: i64 = MICROS_PER_DAY;
    match unit {
        Microsecond => &[1],
        Second => &[S],
        Minute => &[M],
        Hour => &[H],
        Day => &[D],
        Week => &[7 * D],
        Month => &[1],
        Quarter => &[3],
        Year => &[12],
        SecondMicrosecond => &[S, 1],
        MinuteMicrosecond => &[M, S, 1],
        MinuteSecond => &[M, S],
        HourMicrosecond => &[H, M, S, 1],
        HourSecond => &[H, M, S],
        HourMinute => &[H, M],
        DayMicrosecond => &[D, H, M, S, 1],
        DaySecond => &[D, H, M, S],
        DayMinute => &[D, H, M],
        DayHour => &[D, H],
        YearMonth => &[12, 1],
    }
}

fn in_months(unit: IntervalUnit) -> bool {
    matches!(unit, IntervalUnit::Month | IntervalUnit::Quarter | IntervalUnit::Year | IntervalUnit::YearMonth)
}

/// Whether a unit changes whole days only.
fn in_days(unit: IntervalUnit) -> bool {
    in_months(unit) || matches!(unit, IntervalUnit::Day | IntervalUnit::Week)
}

/// Whether a part of it counts days or more.
fn has_days(unit: IntervalUnit) -> bool {
    use IntervalUnit::*;
    in_days(unit) || matches!(unit, DayMicrosecond | DaySecond | DayMinute | DayHour)
}

/// As what the amount of a unit is read.
pub(crate) fn counted(unit: IntervalUnit) -> Counted {
    match unit {
        IntervalUnit::Second => Counted::Exact,
        unit if parts(unit).len() > 1 => Counted::Text,
        _ => Counted::Whole,
    }
}

fn has_micros(unit: IntervalUnit) -> bool {
    use IntervalUnit::*;
    matches!(unit, Microsecond | SecondMicrosecond | MinuteMicrosecond | HourMicrosecond | DayMicrosecond)
}

/// The type of `date ± INTERVAL amount unit`.
pub(crate) fn infer(date: &ExprType, amount: &ExprType, unit: IntervalUnit) -> ExprType {
    let fraction = match unit {
        unit if has_micros(unit) => 6,
        IntervalUnit::Second if amount.kind == Kind::Decimal => amount.decimals.min(6),
        IntervalUnit::Second if !amount.kind.is_integer() => 6,
        _ => 0,
    };
    let fsp = date.decimals.max(fraction).min(6);
    let ty = match date.kind {
        Kind::Date if in_days(unit) => ExprType::of_kind(Kind::Date),
        Kind::Date => ExprType::temporal(Kind::DateTime, fraction),
        Kind::DateTime => ExprType::temporal(Kind::DateTime, fsp),
        Kind::Time if !has_days(unit) => ExprType::temporal(Kind::Time, fsp),
        Kind::Time => ExprType::temporal(Kind::DateTime, fsp),
        _ => ExprType::moment_text(),
    };
    ty.nullable(true)
}

/// More microseconds, and months, than lie between any two dates.
const AMOUNT_MAX: i64 = 1 << 60;

/// `date ± INTERVAL amount unit`, where `ty` is what [`infer`] said. The amount is asked for if the date is one.
pub(crate) fn add<'v>(
    date: &Value,
    amount: impl FnOnce() -> Result<Cow<'v, Value>, SqlError>,
    (unit, subtract): (IntervalUnit, bool),
    ty: &ExprType,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    if date.is_null() {
        return Ok(Value::Null);
    }
    if let (Value::Time(time), Kind::Time) = (date, ty.kind) {
        let Some(amount) = signed_measure(&*amount()?, unit, subtract, ctx)? else { return Ok(Value::Null) };
        let (sum, clamped) = Time::from_micros(time.micros().saturating_add(amount)).clamped();
        return if clamped { out_of_range("TIME", ctx) } else { Ok(Value::Time(sum)) };
    }
    let Some(start) = coerce::to_datetime(date, Allow { zero_date: false, ..cast::allowed(ctx) }, ctx)? else {
        return Ok(Value::Null);
    };
    let Some(amount) = signed_measure(&*amount()?, unit, subtract, ctx)? else { return Ok(Value::Null) };
    // Days are counted from a day that a calendar has; months pass over it.
    if start.date.has_zero_part() || (!in_months(unit) && !Allow::ZEROS.accepts(start.date)) {
        return Ok(Value::Null);
    }
    let sum = match in_months(unit) {
        true => calendar::add_months(start.date, amount).map(|date| DateTime { date, ..start }),
        false => calendar::to_micros(start).checked_add(amount).and_then(calendar::from_micros),
    };
    let Some(sum) = sum else {
        return if ty.kind == Kind::Date { out_of_range("DATE", ctx) } else { overflow(ctx) };
    };
    Ok(match ty.kind {
        Kind::Date => Value::Date(sum.date),
        Kind::DateTime => Value::DateTime(sum),
        // Text: a date if there was no time and none came in.
        _ => {
            let only_date = in_days(unit) && !has_time(date);
            let value = if only_date { Value::Date(sum.date) } else { Value::DateTime(sum) };
            Value::Str(coerce::plain_text(&value, fsp_of(sum.micros)))
        }
    })
}

fn has_time(value: &Value) -> bool {
    match value {
        Value::Date(_) => false,
        Value::DateTime(_) => true,
        other => coerce::parse_datetime(other, Allow::ALL).is_some_and(|parsed| parsed.has_time),
    }
}

/// 1441
fn overflow(ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    ctx.complain(codes::DATETIME_FUNCTION_OVERFLOW, "Datetime function: datetime field overflow".into())?;
    Ok(Value::Null)
}

/// 6527
pub(crate) fn out_of_range(kind: &str, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    ctx.complain(codes::TEMPORAL_OUT_OF_RANGE, format!("{kind} value is out of range in an INTERVAL"))?;
    Ok(Value::Null)
}

/// The interval in microseconds or months, to be added; `None` if it is NULL or too great.
fn signed_measure(
    amount: &Value,
    unit: IntervalUnit,
    subtract: bool,
    ctx: &EvalContext<'_>,
) -> Result<Option<i64>, SqlError> {
    if amount.is_null() {
        return Ok(None);
    }
    // What is far beyond all dates is so with either sign, and leaves room for sums.
    let amount = measure(amount, unit, ctx)?.map(|amount| amount.clamp(-AMOUNT_MAX, AMOUNT_MAX));
    Ok(amount.map(|amount| if subtract { -amount } else { amount }))
}

/// The interval in microseconds, or in months; `None` if it is too great.
fn measure(amount: &Value, unit: IntervalUnit, ctx: &EvalContext<'_>) -> Result<Option<i64>, SqlError> {
    let sizes = parts(unit);
    if sizes.len() > 1 {
        let text = coerce::plain_text(amount, types::value::NOT_FIXED);
        return Ok(several(&text, sizes, has_micros(unit)));
    }
    if unit == IntervalUnit::Second && !matches!(amount, Value::Int(_) | Value::UInt(_)) {
        let Some(seconds) = coerce::to_decimal(amount, ctx)? else { return Ok(None) };
        // A seventh digit is cut.
        let whole = seconds.rounded(0, Rounding::Truncate).and_then(|whole| whole.to_i128());
        if whole.is_none_or(|whole| i64::try_from(whole).is_err()) {
            ctx.truncated("DECIMAL", seconds.to_string().as_bytes())?;
            return Ok(None);
        }
        let micros = seconds.multiply(&Decimal::from(MICROS_PER_SECOND));
        let micros = micros.and_then(|micros| micros.rounded(0, Rounding::Truncate)?.to_i128());
        return Ok(micros.map(|micros| micros.clamp(-i128::from(AMOUNT_MAX), i128::from(AMOUNT_MAX)) as i64));
    }
    let count = match amount {
        // Its 64 bits are taken for a signed number.
        Value::UInt(n) => Some(*n as i64),
        Value::Str(text) | Value::Bytes(text) => Some(leading_integer(text, ctx)?),
        other => coerce::to_i64(other, ctx)?,
    };
    Ok(count.map(|n| n.saturating_mul(sizes[0])))
}

/// The integer with which a text begins; what is greater than 64 bits hold has all bits set, and so is -1.
fn leading_integer(text: &[u8], ctx: &EvalContext<'_>) -> Result<i64, SqlError> {
    let (n, len) = types::number::parse_integer(text);
    let nearest = n.clamp(i64::MIN as i128, u64::MAX as i128);
    if n != nearest || len < text.trim_ascii_end().len() || text.is_empty() {
        ctx.truncated("INTEGER", text)?;
    }
    Ok(nearest as i64)
}

/// `-1 2:3:4.5` by parts: if there are too few numbers they are the last ones.
fn several(text: &[u8], parts: &[i64], has_micros: bool) -> Option<i64> {
    let negative = text.trim_ascii_start().first() == Some(&b'-');
    let numbers: Vec<&[u8]> =
        text.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty()).take(parts.len()).collect();
    let first = parts.len() - numbers.len();
    let mut sum: i64 = 0;
    for (at, (digits, &factor)) in numbers.iter().zip(&parts[first..]).enumerate() {
        let mut n = digits.iter().try_fold(0i64, |n, digit| n.checked_mul(10)?.checked_add((digit - b'0') as i64))?;
        let is_fraction = has_micros && first + at + 1 == parts.len();
        if is_fraction && digits.len() < 6 {
            n *= 10i64.pow(6 - digits.len() as u32);
        }
        sum = sum.checked_add(n.checked_mul(factor)?)?;
    }
    Some(if negative { -sum } else { sum })
}

/// `EXTRACT(unit FROM value)`
pub(crate) fn extract(unit: IntervalUnit, value: &Value, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    use IntervalUnit::*;
    let wants_date = matches!(unit, Day | Week | Month | Quarter | Year | YearMonth);
    if !wants_date {
        let as_time = matches!(value, Value::Time(_))
            || !matches!(value, Value::Date(_) | Value::DateTime(_)) && !has_date(value);
        if as_time {
            return Ok(coerce::to_time(value, ctx)?.map_or(Value::Null, |time| Value::Int(time_part(unit, time))));
        }
    }
    let Some(datetime) = coerce::to_datetime(value, Allow::ZEROS, ctx)? else { return Ok(Value::Null) };
    let date = datetime.date;
    let clock = || time_part(unit, datetime.time());
    Ok(Value::Int(match unit {
        Year => date.year as i64,
        YearMonth => date.year as i64 * 100 + date.month as i64,
        Quarter => (date.month as i64 + 2) / 3,
        Month => date.month as i64,
        Week => calendar::week(date, calendar::WeekMode::from_number(ctx.session.default_week_format)).0 as i64,
        Day => date.day as i64,
        DayHour => date.day as i64 * 100 + clock(),
        DayMinute => date.day as i64 * 10_000 + clock(),
        DaySecond => date.day as i64 * 1_000_000 + clock(),
        DayMicrosecond => date.day as i64 * 1_000_000_000_000 + clock(),
        _ => clock(),
    }))
}

fn has_date(value: &Value) -> bool {
    if let Value::Str(text) | Value::Bytes(text) = value {
        let is_date = text.iter().filter(|&&byte| byte == b'-').count() == 2;
        return matches!(parse::moment(text), Some(parse::Moment::At(parsed)) if parsed.has_time || is_date);
    }
    coerce::parse_datetime(value, Allow::ALL).is_some_and(|parsed| parsed.has_time)
}

fn time_part(unit: IntervalUnit, time: Time) -> i64 {
    use IntervalUnit::*;
    let (negative, hours, minutes, seconds, micros) = time.parts();
    let (hours, minutes, seconds, micros) = (hours as i64, minutes as i64, seconds as i64, micros as i64);
    let n = match unit {
        Microsecond => micros,
        Second => seconds,
        Minute => minutes,
        Hour | DayHour => hours,
        SecondMicrosecond => seconds * MICROS_PER_SECOND + micros,
        MinuteSecond => minutes * 100 + seconds,
        MinuteMicrosecond => (minutes * 100 + seconds) * MICROS_PER_SECOND + micros,
        HourMinute | DayMinute => hours * 100 + minutes,
        HourSecond | DaySecond => hours * 10_000 + minutes * 100 + seconds,
        HourMicrosecond | DayMicrosecond => (hours * 10_000 + minutes * 100 + seconds) * MICROS_PER_SECOND + micros,
        _ => 0,
    };
    if negative { -n } else { n }
}

/// `TIMESTAMPDIFF(unit, from, to)`
pub(crate) fn difference(unit: IntervalUnit, from: DateTime, to: DateTime) -> i64 {
    if in_months(unit) {
        return months_between(from, to) / parts(unit)[0];
    }
    (calendar::to_micros(to) - calendar::to_micros(from)) / parts(unit)[0]
}

fn months_between(from: DateTime, to: DateTime) -> i64 {
    let (first, second, sign) = if from <= to { (from, to, 1) } else { (to, from, -1) };
    let months = |date: Date| date.year as i64 * 12 + date.month as i64;
    let within = |at: DateTime| (at.date.day, at.time());
    let not_whole = within(second) < within(first);
    sign * (months(second.date) - months(first.date) - not_whole as i64)
}
