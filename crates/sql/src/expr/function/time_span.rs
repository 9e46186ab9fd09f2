//! TIMEDIFF, ADDTIME and SUBTIME: times, and dates with their times, by their distance.

use base::SqlError;
use types::temporal::{calendar, parse};
use types::{DateTime, Time, Value};

use super::time::{REAL, time_fraction_of};
use super::{Args, some};
use crate::expr::coerce::{self, fsp_of};
use crate::expr::context::{EvalContext, SessionInfo};
use crate::expr::interval;
use crate::expr::tree::Expr;
use crate::expr::types::{ExprType, Kind};

pub(super) fn timediff(args: &Args<'_>) -> Result<Value, SqlError> {
    let (a, b) = (args.value(0)?, args.value(1)?);
    if a.is_null() || b.is_null() {
        return Ok(Value::Null);
    }
    let difference = match (span_or_instant(&a, args.ctx)?, span_or_instant(&b, args.ctx)?) {
        (Some(a), Some(b)) => a.zip_same(b),
        _ => None,
    };
    let Some(difference) = difference.map(Time::from_micros) else { return Ok(Value::Null) };
    let (kept, clamped) = difference.clamped();
    if clamped {
        args.ctx.truncated("time", &coerce::plain_text(&Value::Time(difference), args.ty.decimals))?;
    }
    Ok(Value::Time(kept))
}

/// A time, or a date and time, in microseconds.
#[derive(Clone, Copy)]
enum Moment {
    Span(i64),
    Instant(i64),
}

impl Moment {
    /// The difference, if both are of one sort.
    fn zip_same(self, other: Moment) -> Option<i64> {
        match (self, other) {
            (Moment::Span(a), Moment::Span(b)) | (Moment::Instant(a), Moment::Instant(b)) => Some(a - b),
            _ => None,
        }
    }
}

/// What the value is by itself; a warning and `None` if it is neither, or is a date that the calendar does not have.
fn span_or_instant(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<Moment>, SqlError> {
    // A greater number is no time of day.
    const CLOCK_MAX: f64 = 8_385_959.0;
    let instant = |at: DateTime| Some(Moment::Instant(calendar::to_micros(at)));
    Ok(match value {
        Value::Null => None,
        Value::Time(time) => Some(Moment::Span(time.micros())),
        Value::DateTime(datetime) => instant(*datetime),
        Value::Date(date) => instant(date.at_midnight()),
        Value::Str(text) | Value::Bytes(text) => match parse::moment(text) {
            None => {
                ctx.incorrect("datetime", text)?;
                None
            }
            Some(parse::Moment::At(parsed)) if !REAL.accepts(parsed.value.date) => {
                ctx.truncated("date", text)?;
                None
            }
            Some(parse::Moment::At(_)) => coerce::to_datetime(value, REAL, ctx)?.and_then(instant),
            Some(parse::Moment::Span(_)) => coerce::to_time(value, ctx)?.map(|time| Moment::Span(time.micros())),
        },
        number if coerce::to_f64(number, ctx)?.is_some_and(|n| n > CLOCK_MAX) => {
            coerce::to_datetime(number, REAL, ctx)?.and_then(instant)
        }
        number => coerce::to_time(number, ctx)?.map(|time| Moment::Span(time.micros())),
    })
}

pub(super) fn addtime_type(args: &[Expr], session: &SessionInfo) -> ExprType {
    let fsp = time_fraction_of(&args[0], session).max(time_fraction_of(&args[1], session));
    match args[0].ty.kind {
        Kind::Time => ExprType::temporal(Kind::Time, fsp),
        Kind::DateTime | Kind::Date => ExprType::temporal(Kind::DateTime, fsp),
        _ => ExprType::moment_text(),
    }
}

pub(super) fn addtime(args: &Args<'_>, sign: i64) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    let added = sign * some!(args.time(1)?).micros();
    let sum = match some!(span_or_instant(&value, args.ctx)?) {
        Moment::Span(micros) => match Time::from_micros(micros + added).clamped() {
            (time, false) => Value::Time(time),
            (time, true) => match interval::out_of_range("TIME", args.ctx)? {
                // Text has the last time that there is.
                _ if args.ty.kind == Kind::Str => Value::Time(time),
                null => return Ok(null),
            },
        },
        Moment::Instant(micros) => match calendar::from_micros(micros + added) {
            Some(sum) => Value::DateTime(sum),
            None => return interval::out_of_range("DATETIME", args.ctx),
        },
    };
    Ok(match (&sum, args.ty.kind) {
        (Value::Time(time), Kind::Str) => Value::Str(coerce::plain_text(&sum, fsp_of(time.parts().4))),
        (Value::DateTime(at), Kind::Str) => Value::Str(coerce::plain_text(&sum, fsp_of(at.micros))),
        _ => sum,
    })
}
