//! Functions of dates and times.

use base::{SqlError, codes};
use bytes::Bytes;
use syntax::ast::IntervalUnit;
use types::temporal::parse::{self, Allow};
use types::temporal::{MICROS_PER_SECOND, calendar};
use types::{Date, DateTime, Decimal, Time, Value};

use super::time_format;
use super::time_span::{addtime, addtime_type, timediff};
use super::{Args, FunctionInfo, line, nullable_int, own_text, short_nullable_int, some};
use crate::expr::cast;
use crate::expr::coerce;
use crate::expr::constant::constant;
use crate::expr::context::SessionInfo;
use crate::expr::interval;
use crate::expr::locale::Locale;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};

/// The first argument as a day that a calendar has, which is more than a column may hold under ALLOW_INVALID_DATES.
fn real_date(args: &Args<'_>) -> Result<Option<Date>, SqlError> {
    Ok(args.date(0, REAL)?.filter(|date| REAL.accepts(*date)))
}

/// Dates with zero parts have a year, perhaps a month; but nothing that needs the day's number.
pub(super) const REAL: Allow = Allow { zero_date: false, zero_in_date: false, invalid_dates: false };

pub(super) static TABLE: &[FunctionInfo] = &[
    line("now", 0, 1, now_type, |args| Ok(Value::DateTime(args.ctx.local_now().truncated(fsp(args))))).per_execution(),
    line("current_timestamp", 0, 1, now_type, |args| Ok(Value::DateTime(args.ctx.local_now().truncated(fsp(args)))))
        .per_execution(),
    line("localtime", 0, 1, now_type, |args| Ok(Value::DateTime(args.ctx.local_now().truncated(fsp(args)))))
        .per_execution(),
    line("localtimestamp", 0, 1, now_type, |args| Ok(Value::DateTime(args.ctx.local_now().truncated(fsp(args)))))
        .per_execution(),
    line("sysdate", 0, 1, now_type, |args| {
        let now = coerce::local_time(args.ctx.host.clock_now(), &args.ctx.session.time_zone);
        Ok(Value::DateTime(now.truncated(fsp(args))))
    })
    .volatile(),
    line("utc_timestamp", 0, 1, now_type, |args| Ok(Value::DateTime(utc_now(args).truncated(fsp(args)))))
        .per_execution(),
    line("utc_date", 0, 0, today_type, |args| Ok(Value::Date(utc_now(args).date))).per_execution(),
    line("utc_time", 0, 1, clock_type, |args| Ok(Value::Time(utc_now(args).time().truncated(fsp(args)))))
        .per_execution(),
    line("curdate", 0, 0, today_type, |args| Ok(Value::Date(args.ctx.local_now().date))).per_execution(),
    line("current_date", 0, 0, today_type, |args| Ok(Value::Date(args.ctx.local_now().date))).per_execution(),
    line("curtime", 0, 1, clock_type, |args| Ok(Value::Time(args.ctx.local_now().time().truncated(fsp(args)))))
        .per_execution(),
    line("current_time", 0, 1, clock_type, |args| Ok(Value::Time(args.ctx.local_now().time().truncated(fsp(args)))))
        .per_execution(),
    line("date", 1, 1, date_type, |args| Ok(some!(args.date(0, cast::allowed(args.ctx))?).into_value())),
    line(
        "time",
        1,
        1,
        |args, session| ExprType::temporal(Kind::Time, time_fraction_of(&args[0], session)),
        |args| Ok(Value::Time(some!(args.time(0)?))),
    ),
    line(
        "timestamp",
        1,
        2,
        |args, session| {
            let fsp = args.get(1).map_or(0, |arg| time_fraction_of(arg, session));
            ExprType::temporal(Kind::DateTime, fraction_of(&args[0], session).max(fsp))
        },
        timestamp,
    ),
    line("year", 1, 1, short_nullable_int::<5>, |args| part(args, IntervalUnit::Year)),
    line("quarter", 1, 1, short_nullable_int::<2>, |args| part(args, IntervalUnit::Quarter)),
    line("month", 1, 1, short_nullable_int::<3>, |args| part(args, IntervalUnit::Month)),
    line("day", 1, 1, short_nullable_int::<3>, |args| part(args, IntervalUnit::Day)),
    line("dayofmonth", 1, 1, short_nullable_int::<3>, |args| part(args, IntervalUnit::Day)),
    line("hour", 1, 1, short_nullable_int::<4>, |args| Ok(Value::Int(some!(args.time(0)?).parts().1 as i64))),
    line("minute", 1, 1, short_nullable_int::<3>, |args| Ok(Value::Int(some!(args.time(0)?).parts().2 as i64))),
    line("second", 1, 1, short_nullable_int::<3>, |args| Ok(Value::Int(some!(args.time(0)?).parts().3 as i64))),
    line("microsecond", 1, 1, nullable_int, |args| Ok(Value::Int(some!(args.time(0)?).parts().4 as i64))),
    line("dayofweek", 1, 1, short_nullable_int::<2>, |args| {
        Ok(Value::Int((calendar::weekday(some!(real_date(args)?)) as i64 + 1) % 7 + 1))
    }),
    line("weekday", 1, 1, short_nullable_int::<2>, |args| {
        Ok(Value::Int(calendar::weekday(some!(real_date(args)?)) as i64))
    }),
    line("dayofyear", 1, 1, short_nullable_int::<4>, |args| {
        Ok(Value::Int(calendar::day_of_year(some!(real_date(args)?))))
    }),
    line(
        "dayname",
        1,
        1,
        |_, session| own_text(Locale::width(&session.locale.days), session),
        |args| {
            let day = calendar::weekday(some!(real_date(args)?)) as usize;
            Ok(Value::str_static(args.ctx.session.locale.days[day]))
        },
    ),
    line(
        "monthname",
        1,
        1,
        |_, session| own_text(Locale::width(&session.locale.months), session),
        |args| {
            let month = some!(args.date(0, Allow::ZEROS)?).month as usize;
            let names = &args.ctx.session.locale.months;
            Ok(month.checked_sub(1).map_or(Value::Null, |at| Value::str_static(names[at])))
        },
    ),
    line("week", 1, 2, short_nullable_int::<3>, week),
    line("weekofyear", 1, 1, short_nullable_int::<3>, |args| {
        Ok(Value::Int(calendar::week(some!(real_date(args)?), calendar::WeekMode::from_number(3)).0 as i64))
    }),
    line("yearweek", 1, 2, short_nullable_int::<7>, yearweek),
    line("last_day", 1, 1, date_type, last_day),
    line("to_days", 1, 1, short_nullable_int::<8>, |args| {
        Ok(Value::Int(calendar::day_number(some!(args.date(0, REAL)?))))
    }),
    line("to_seconds", 1, 1, nullable_int, |args| {
        Ok(Value::Int(calendar::to_micros(some!(args.datetime(0, REAL)?)).div_euclid(MICROS_PER_SECOND)))
    }),
    line("from_days", 1, 1, date_type, from_days),
    line("makedate", 2, 2, date_type, makedate),
    line("maketime", 3, 3, |args, _| ExprType::temporal(Kind::Time, number_fraction_of(&args[2])), maketime),
    line("datediff", 2, 2, short_nullable_int::<9>, |args| {
        let (a, b) = (some!(args.date(0, REAL)?), some!(args.date(1, REAL)?));
        Ok(Value::Int(calendar::day_number(a) - calendar::day_number(b)))
    }),
    line(
        "timediff",
        2,
        2,
        |args, session| {
            ExprType::temporal(Kind::Time, time_fraction_of(&args[0], session).max(time_fraction_of(&args[1], session)))
        },
        timediff,
    ),
    line("addtime", 2, 2, addtime_type, |args| addtime(args, 1)),
    line("subtime", 2, 2, addtime_type, |args| addtime(args, -1)),
    line("adddate", 2, 2, adddate_type, |args| adddate(args, false)),
    line("subdate", 2, 2, adddate_type, |args| adddate(args, true)),
    line("time_to_sec", 1, 1, short_nullable_int::<10>, |args| {
        Ok(Value::Int(some!(args.time(0)?).micros() / MICROS_PER_SECOND))
    }),
    line("sec_to_time", 1, 1, |args, _| ExprType::temporal(Kind::Time, number_fraction_of(&args[0])), sec_to_time),
    line("period_add", 2, 2, super::int, |args| {
        let period = some!(args.int(0)?);
        let months = match &*args.value(1)? {
            Value::UInt(months) => *months as i64,
            _ => some!(args.int(1)?),
        };
        Ok(Value::Int(period_of(months_of(period).wrapping_add(months) as u64)))
    }),
    line("period_diff", 2, 2, super::int, |args| {
        Ok(Value::Int(months_of(some!(args.int(0)?)) - months_of(some!(args.int(1)?))))
    }),
    line("unix_timestamp", 0, 1, unix_type, unix_timestamp).per_execution(),
    line("from_unixtime", 1, 2, from_unixtime_type, from_unixtime),
    line(
        "convert_tz",
        3,
        3,
        |args, session| ExprType::temporal(Kind::DateTime, fraction_of(&args[0], session)),
        convert_tz,
    ),
    line("extract", 2, 2, extract_type, |args| {
        let unit = some!(unit(args)?);
        let value = args.dated(1)?;
        if value.is_null() { Ok(Value::Null) } else { interval::extract(unit, &value, args.ctx) }
    }),
    line("timestampdiff", 3, 3, nullable_int, |args| {
        let unit = some!(unit(args)?);
        let (from, to) = (some!(args.datetime(1, REAL)?), some!(args.datetime(2, REAL)?));
        Ok(Value::Int(interval::difference(unit, from, to)))
    }),
    line(
        "date_format",
        2,
        2,
        |args, session| own_text(args[1].ty.text_length().saturating_mul(10), session),
        |args| {
            let (at, format) = (some!(args.datetime(0, Allow::ZEROS)?), some!(args.text(1)?));
            time_format::format(args, at, &format)
        },
    ),
    line(
        "time_format",
        2,
        2,
        |args, session| own_text(args[1].ty.text_length().saturating_mul(10), session),
        |args| {
            let (time, format) = (some!(args.time(0)?), some!(args.text(1)?));
            time_format::format_time(args, time, &format)
        },
    ),
    line("get_format", 2, 2, |_, session| own_text(17, session), time_format::get_format),
    line("str_to_date", 2, 2, str_to_date_type, time_format::str_to_date),
];

trait IntoValue {
    fn into_value(self) -> Value;
}

impl IntoValue for Date {
    fn into_value(self) -> Value {
        Value::Date(self)
    }
}

fn utc_now(args: &Args<'_>) -> DateTime {
    coerce::utc_time(args.ctx.now)
}

fn fsp(args: &Args<'_>) -> u8 {
    args.ty.decimals
}

/// 1426: the digits of a clock's fraction are six at most.
pub(super) fn check_fraction(name: &str, args: &[Expr]) -> Result<(), SqlError> {
    let name = match name {
        "now" | "current_timestamp" | "localtime" | "localtimestamp" => "now",
        "sysdate" | "utc_timestamp" | "utc_time" => name,
        "curtime" | "current_time" => "curtime",
        _ => return Ok(()),
    };
    match args.first().map(|arg| &arg.kind) {
        Some(ExprKind::Literal(Value::Int(n @ 7..))) => {
            let message = format!("Too-big precision {n} specified for '{name}'. Maximum is 6.");
            Err(SqlError::new(codes::TOO_BIG_PRECISION, message))
        }
        _ => Ok(()),
    }
}

/// `NOW(3)`: the argument is a literal.
fn literal_fsp(args: &[Expr]) -> u8 {
    match args.first().map(|arg| &arg.kind) {
        Some(ExprKind::Literal(Value::Int(n))) => (*n).clamp(0, 6) as u8,
        _ => 0,
    }
}

fn now_type(args: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::temporal(Kind::DateTime, literal_fsp(args)).nullable(false)
}

fn clock_type(args: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::temporal(Kind::Time, literal_fsp(args)).nullable(false)
}

fn today_type(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::Date).nullable(false)
}

fn date_type(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::Date)
}

/// Digits of the fraction of an argument that is read as a date; text that is no constant may have any.
pub(super) fn fraction_of(arg: &Expr, session: &SessionInfo) -> u8 {
    match constant_text(arg, session) {
        Some(text) => {
            let of_datetime = parse::datetime(&text, Allow::ALL).map(|parsed| parsed.fsp);
            of_datetime.or_else(|| parse::time(&text).map(|parsed| parsed.fsp)).unwrap_or(6)
        }
        None => number_fraction_of(arg),
    }
}

/// Digits of the fraction of an argument that is read as a time.
pub(super) fn time_fraction_of(arg: &Expr, session: &SessionInfo) -> u8 {
    match constant_text(arg, session) {
        Some(text) => parse::time(&text).map_or(6, |parsed| parsed.fsp),
        None => number_fraction_of(arg),
    }
}

/// The text that an argument always is.
fn constant_text(arg: &Expr, session: &SessionInfo) -> Option<Bytes> {
    match constant(arg, session) {
        Some(Value::Str(text)) if arg.ty.kind == Kind::Str => Some(text),
        _ => None,
    }
}

/// Digits of the fraction of an argument that is read as a number: text may have any.
fn number_fraction_of(arg: &Expr) -> u8 {
    match arg.ty.kind {
        Kind::Date | Kind::Int | Kind::UInt | Kind::Null => 0,
        Kind::Time | Kind::DateTime | Kind::Decimal => arg.ty.decimals.min(6),
        _ => 6,
    }
}

fn unit(args: &Args<'_>) -> Result<Option<IntervalUnit>, SqlError> {
    Ok(args.int(0)?.and_then(|n| IntervalUnit::by_number(n as usize)))
}

/// A stored date may have zero parts; text and numbers are read as sql_mode says.
fn text_allowed(args: &Args<'_>) -> Result<Allow, SqlError> {
    let is_stored = matches!(*args.value(0)?, Value::Date(_) | Value::DateTime(_) | Value::Time(_) | Value::Json(_));
    Ok(if is_stored { Allow::ZEROS } else { cast::allowed(args.ctx) })
}

fn part(args: &Args<'_>, unit: IntervalUnit) -> Result<Value, SqlError> {
    let zeros = Allow { zero_in_date: true, ..text_allowed(args)? };
    let date = some!(args.date(0, zeros)?);
    Ok(Value::Int(match unit {
        IntervalUnit::Year => date.year as i64,
        IntervalUnit::Quarter => (date.month as i64 + 2) / 3,
        IntervalUnit::Month => date.month as i64,
        _ => date.day as i64,
    }))
}

fn timestamp(args: &Args<'_>) -> Result<Value, SqlError> {
    let at = some!(args.datetime(0, REAL)?);
    if args.len() == 1 {
        return Ok(Value::DateTime(at));
    }
    let sum = calendar::to_micros(at) + some!(args.time(1)?).micros();
    match calendar::from_micros(sum) {
        Some(sum) => Ok(Value::DateTime(sum)),
        None => interval::out_of_range("DATETIME", args.ctx),
    }
}

fn week_mode(args: &Args<'_>, default: u8) -> Result<Option<calendar::WeekMode>, SqlError> {
    Ok(args.int_or(1, default as i64)?.map(|mode| calendar::WeekMode::from_number(mode as u8 & 7)))
}

fn week(args: &Args<'_>) -> Result<Value, SqlError> {
    let mode = some!(week_mode(args, args.ctx.session.default_week_format)?);
    Ok(Value::Int(calendar::week(some!(real_date(args)?), mode).0 as i64))
}

fn yearweek(args: &Args<'_>) -> Result<Value, SqlError> {
    let mode = calendar::WeekMode { year_of_week: true, ..some!(week_mode(args, 0)?) };
    let (week, year) = calendar::week(some!(real_date(args)?), mode);
    Ok(Value::Int(year as i64 * 100 + week as i64))
}

fn last_day(args: &Args<'_>) -> Result<Value, SqlError> {
    let date = some!(args.date(0, Allow { zero_in_date: true, ..REAL })?);
    if date.month == 0 {
        return Ok(Value::Null);
    }
    Ok(Value::Date(Date { day: calendar::days_in_month(date.year, date.month), ..date }))
}

/// Days of the year 0 are counted from 1 on; it has no 29th of February.
fn from_days(args: &Args<'_>) -> Result<Value, SqlError> {
    let number = some!(args.int(0)?);
    let date = match number {
        1..=365 => calendar::from_day_number(number + 365).map(|date| Date::new(0, date.month, date.day)),
        _ => calendar::from_day_number(number),
    };
    if date.is_none() {
        let message = format!("DATE value is out of range in 'from_days({number})'");
        args.ctx.complain(codes::TEMPORAL_OUT_OF_RANGE, message)?;
    }
    Ok(date.map_or(Value::Null, Value::Date))
}

fn makedate(args: &Args<'_>) -> Result<Value, SqlError> {
    // A day that is NULL leaves the year alone.
    let (day, year) = (some!(args.int(1)?), some!(args.int(0)?));
    if !(0..=9999).contains(&year) || day <= 0 {
        return Ok(Value::Null);
    }
    let year = types::temporal::parse::full_year(year as u32) as u16;
    let number = calendar::day_number(Date::new(year, 1, 1)).checked_add(day - 1);
    Ok(number.and_then(calendar::from_day_number).map_or(Value::Null, Value::Date))
}

fn maketime(args: &Args<'_>) -> Result<Value, SqlError> {
    let (hour, minute, second) = (some!(args.int(0)?), some!(args.int(1)?), some!(args.double(2)?));
    if second.abs() >= i64::MAX as f64 {
        args.ctx.truncated("DECIMAL", &coerce::text_of(&args.args[2], &*args.value(2)?))?;
    }
    if !(0..60).contains(&minute) || !(0.0..60.0).contains(&second) {
        return Ok(Value::Null);
    }
    let hours = hour.unsigned_abs().min(10_000) as i64;
    let micros = (hours * 60 + minute) * 60 * MICROS_PER_SECOND + (second * 1e6).round() as i64;
    let (time, clamped) = Time::from_micros(if hour < 0 { -micros } else { micros }).clamped();
    if clamped {
        let fraction = if second.fract() == 0.0 { String::new() } else { format!("{:.6}", second.fract())[1..].into() };
        args.ctx.truncated("time", format!("{hour:02}:{minute:02}:{:02}{fraction}", second.trunc()).as_bytes())?;
    }
    Ok(Value::Time(time))
}

/// `ADDDATE(date, days)`; the form with INTERVAL is [`crate::expr::build::interval`].
fn adddate_type(args: &[Expr], _: &SessionInfo) -> ExprType {
    interval::infer(&args[0].ty, &args[1].ty, IntervalUnit::Day)
}

fn adddate(args: &Args<'_>, subtract: bool) -> Result<Value, SqlError> {
    let date = args.dated(0)?;
    interval::add(&date, || args.value(1), (IntervalUnit::Day, subtract), args.ty, args.ctx)
}

fn sec_to_time(args: &Args<'_>) -> Result<Value, SqlError> {
    let seconds = some!(coerce::to_decimal(&*args.value(0)?, args.ctx)?);
    let micros = seconds.multiply(&Decimal::from(MICROS_PER_SECOND)).and_then(|micros| micros.to_i128());
    // The last second may have a fraction, though no TIME column takes one.
    let beyond = (Time::MAX.micros() + MICROS_PER_SECOND) as i128;
    let micros = micros.unwrap_or(if seconds.is_negative() { -beyond } else { beyond }).clamp(-beyond, beyond);
    let mut time = Time::from_micros(micros as i64);
    if micros.abs() == beyond {
        time = time.clamped().0;
        args.ctx.truncated("time", seconds.to_string().as_bytes())?;
    }
    Ok(Value::Time(time))
}

/// YYYYMM as months.
fn months_of(period: i64) -> i64 {
    let (year, month) = (period / 100, period % 100);
    types::temporal::parse::full_year(year.clamp(0, 99_999) as u32) as i64 * 12 + month - 1
}

/// Before the first of all months numbers go round, as in MySQL.
fn period_of(months: u64) -> i64 {
    (months / 12).wrapping_mul(100).wrapping_add(months % 12 + 1) as i64
}

/// The unit is a constant; its number has so many characters at most, with the sign.
fn extract_type(args: &[Expr], session: &SessionInfo) -> ExprType {
    use IntervalUnit::*;
    let ExprKind::Literal(Value::Int(number)) = args[0].kind else { return nullable_int(args, session) };
    let Some(unit) = IntervalUnit::by_number(number as usize) else { return nullable_int(args, session) };
    let length = match unit {
        Quarter => 2,
        Day | Minute | Month | Second | Week => 3,
        Hour => 4,
        MinuteSecond | Year => 5,
        HourMinute => 6,
        Microsecond | YearMonth => 7,
        HourSecond => 8,
        DayHour | SecondMicrosecond => 9,
        DayMinute | MinuteMicrosecond => 11,
        DaySecond => 13,
        HourMicrosecond => 14,
        DayMicrosecond => 20,
    };
    ExprType { length, ..nullable_int(args, session) }
}

fn unix_type(args: &[Expr], session: &SessionInfo) -> ExprType {
    match args.first().map(|arg| fraction_of(arg, session)) {
        None => ExprType::of_kind(Kind::Int).nullable(false),
        Some(0) => ExprType::of_kind(Kind::Int),
        Some(fsp) => ExprType::decimal(11 + fsp as u32, fsp),
    }
}

/// The last second that UNIX_TIMESTAMP and FROM_UNIXTIME know: 3001-01-18 23:59:59 UTC.
const LAST_SECOND: i64 = 32_536_771_199;

fn unix_timestamp(args: &Args<'_>) -> Result<Value, SqlError> {
    if args.len() == 0 {
        return Ok(Value::Int((args.ctx.now.0 / MICROS_PER_SECOND as u64) as i64));
    }
    let value = args.dated(0)?;
    let local = match &*value {
        Value::Null => return Ok(Value::Null),
        other => coerce::to_datetime(other, Allow::ZEROS, args.ctx)?.unwrap_or(DateTime::ZERO),
    };
    let zone = &args.ctx.session.time_zone;
    let utc = if calendar::is_real(local.date) { coerce::local_to_utc_micros(local, zone) } else { None };
    // What is out of range is 0.
    let micros = utc.filter(|micros| (0..=LAST_SECOND * MICROS_PER_SECOND).contains(micros)).unwrap_or(0);
    if args.ty.kind == Kind::Int {
        return Ok(Value::Int(micros / MICROS_PER_SECOND));
    }
    let seconds = Decimal::from(micros).divide(&Decimal::from(MICROS_PER_SECOND), 6);
    let scaled = seconds.and_then(|n| n.rounded(args.ty.decimals, types::decimal::Rounding::Truncate));
    Ok(scaled.map_or(Value::Null, Value::Decimal))
}

fn from_unixtime_type(args: &[Expr], session: &SessionInfo) -> ExprType {
    match args.get(1) {
        Some(format) => own_text(format.ty.text_length().saturating_mul(10), session),
        None => ExprType::temporal(Kind::DateTime, number_fraction_of(&args[0])),
    }
}

fn from_unixtime(args: &Args<'_>) -> Result<Value, SqlError> {
    let seconds = some!(coerce::to_decimal(&*args.value(0)?, args.ctx)?);
    let is_beyond = seconds.to_i128().is_none_or(|seconds| i64::try_from(seconds).is_err());
    if is_beyond && !args.args[0].ty.kind.is_integer() {
        args.ctx.truncated("DECIMAL", seconds.to_string().as_bytes())?;
        return Ok(Value::Null);
    }
    let micros = some!(seconds.multiply(&Decimal::from(MICROS_PER_SECOND)).and_then(|micros| micros.to_i128()));
    if micros < 0 || micros > i128::from(LAST_SECOND * MICROS_PER_SECOND) {
        return Ok(Value::Null);
    }
    let local = some!(coerce::utc_micros_to_local(micros as i64, &args.ctx.session.time_zone));
    if args.len() == 1 {
        return Ok(Value::DateTime(local));
    }
    let format = some!(args.text(1)?);
    time_format::format(args, local, &format)
}

fn convert_tz(args: &Args<'_>) -> Result<Value, SqlError> {
    let (at, from, to) = (some!(args.datetime(0, REAL)?), some!(args.text(1)?), some!(args.text(2)?));
    let session = &args.ctx.session.time_zone;
    let (from, to) = (some!(zone_named(&from, session)), some!(zone_named(&to, session)));
    // A time that no TIMESTAMP could be stays as it is.
    let in_range = |utc: &i64| (1..=LAST_SECOND).contains(&utc.div_euclid(MICROS_PER_SECOND));
    let Some(utc) = coerce::local_to_utc_micros(at, &from).filter(in_range) else { return Ok(Value::DateTime(at)) };
    Ok(coerce::utc_micros_to_local(utc, &to).map_or(Value::Null, Value::DateTime))
}

/// `SYSTEM`, `+05:30` or a name of the time zone database.
pub(crate) fn zone_named(name: &[u8], session: &jiff::tz::TimeZone) -> Option<jiff::tz::TimeZone> {
    let name = std::str::from_utf8(name).ok()?.trim();
    if name.eq_ignore_ascii_case("system") {
        return Some(session.clone());
    }
    let sign = match name.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return jiff::tz::TimeZone::get(name).ok(),
    };
    let (hours, minutes) = name[1..].split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if !(0..60).contains(&minutes) || !(0..=14).contains(&hours) {
        return None;
    }
    let offset = jiff::tz::Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?;
    Some(jiff::tz::TimeZone::fixed(offset))
}

/// The parts that a literal format names say what STR_TO_DATE gives; an unknown format gives a DATETIME(6).
fn str_to_date_type(args: &[Expr], session: &SessionInfo) -> ExprType {
    match constant(&args[1], session) {
        Some(Value::Str(format)) => time_format::type_of_format(&format),
        _ => ExprType::temporal(Kind::DateTime, 6),
    }
}
