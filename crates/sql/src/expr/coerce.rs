//! Values as other kinds: what MySQL does silently, or with a warning, when an operator or function wants another kind than it
//! is given. Assignments have stricter rules: [`crate::expr::convert`].

use std::borrow::Cow;

use base::{SqlError, UnixMicros, codes};
use bytes::Bytes;
use jiff::tz::TimeZone;
use types::charset::Charset;
use types::temporal::calendar;
use types::temporal::parse::{self, Allow, Parsed};
use types::value::NOT_FIXED;
use types::{ColumnType, Date, DateTime, Decimal, Time, Value, number};

use crate::expr::context::{EvalContext, SessionInfo};
use crate::expr::json;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};
pub(crate) use crate::expr::zone::{
    OfZone, in_session_zone, local_to_utc, local_to_utc_micros, utc_micros_to_local, utc_to_local,
};

impl EvalContext<'_> {
    /// 1292 "Truncated incorrect … value": an error while a strict statement changes data, otherwise a warning.
    pub(crate) fn truncated(&self, kind: &str, text: &[u8]) -> Result<(), SqlError> {
        let message = format!("Truncated incorrect {kind} value: '{}'", printable(text));
        self.complain(codes::TRUNCATED_WRONG_VALUE, message)
    }

    /// 1292 "Incorrect … value": an error while a strict statement changes data, otherwise a warning.
    pub(crate) fn incorrect(&self, kind: &str, text: &[u8]) -> Result<(), SqlError> {
        self.complain(codes::TRUNCATED_WRONG_VALUE, format!("Incorrect {kind} value: '{}'", printable(text)))
    }

    /// An error while a strict statement changes data, otherwise a warning.
    pub(crate) fn complain(&self, code: codes::Code, message: String) -> Result<(), SqlError> {
        if self.strict {
            return Err(SqlError::new(code, message));
        }
        self.warn(code, message);
        Ok(())
    }

    /// NOW(6) in the session's time zone.
    pub(crate) fn local_now(&self) -> DateTime {
        local_time(self.now, &self.session.time_zone)
    }
}

/// Text for a message.
pub(crate) fn printable(text: &[u8]) -> String {
    const LONGEST: usize = 128;
    String::from_utf8_lossy(&text[..types::charset::prefix_bytes(text, LONGEST)]).into_owned()
}

/// A point in time in UTC.
pub(crate) fn utc_time(at: UnixMicros) -> DateTime {
    calendar::from_unix_micros(at.0 as i64).unwrap_or(DateTime::ZERO)
}

/// A point in time as the zone's clocks show it.
pub(crate) fn local_time(at: UnixMicros, zone: &TimeZone) -> DateTime {
    let micros = at.0 as i64;
    utc_micros_to_local(micros, zone).unwrap_or(DateTime::ZERO)
}

/// The value as text in the way its type prints. NULL gives nothing.
pub(crate) fn text(value: &Value, ty: &ExprType) -> Bytes {
    if let Some(digits) = ty.zeros().filter(|_| !value.is_null() && value.as_bytes().is_none()) {
        let text = plain_text(value, decimals_of(value, ty));
        return [vec![b'0'; digits.saturating_sub(text.len())], text.to_vec()].concat().into();
    }
    match value {
        Value::Str(bytes) | Value::Bytes(bytes) => bytes.clone(),
        Value::UInt(n) => match &ty.origin {
            Some(ColumnType::Bit { bits }) => Bytes::copy_from_slice(&n.to_be_bytes()[8 - bits.div_ceil(8) as usize..]),
            _ => plain_text(value, 0),
        },
        other => plain_text(other, decimals_of(other, ty)),
    }
}

/// The value of an expression as text. A TIME that an INTERVAL, ADDTIME or SUBTIME has made shows all digits of its fraction, or none. A BIT
/// that COALESCE or the like passes on is a number, unlike one that IF or CASE chooses.
pub(crate) fn text_of(expr: &Expr, value: &Value) -> Bytes {
    match value {
        Value::Time(time) if is_sum(expr) => plain_text(value, fsp_of(time.parts().4)),
        Value::UInt(_) if is_computed_bits(expr) => plain_text(value, 0),
        _ => text(value, &expr.ty),
    }
}

fn is_computed_bits(expr: &Expr) -> bool {
    let ExprKind::Call { function, .. } = &expr.kind else { return false };
    matches!(expr.ty.origin, Some(ColumnType::Bit { .. })) && !expr.ty.is_bits() && function.name() != "if"
}

fn is_sum(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Interval { .. } => true,
        ExprKind::Call { function, .. } => matches!(function.name(), "addtime" | "subtime" | "adddate" | "subdate"),
        _ => false,
    }
}

/// The value as a binary string: text in the bytes of its own character set.
pub(crate) fn bytes(value: &Value, ty: &ExprType) -> Bytes {
    let text = text(value, ty);
    if has_other_bytes(ty) { ty.collation.charset().encode_shared(&text) } else { text }
}

/// Whether text of this type has other bytes in its own character set than here, where all text is UTF-8.
pub(crate) fn has_other_bytes(ty: &ExprType) -> bool {
    ty.kind == Kind::Str && matches!(ty.collation.charset(), Charset::Single(_))
}

/// How many digits of a fraction a value of this type shows.
fn decimals_of(value: &Value, ty: &ExprType) -> u8 {
    let unknown = ty.kind == Kind::Any || ty.kind == Kind::Null;
    match value {
        Value::Float(_) | Value::Double(_) if !matches!(ty.kind, Kind::Float | Kind::Double) => NOT_FIXED,
        Value::Time(time) if unknown => fsp_of(time.parts().4),
        Value::DateTime(datetime) if unknown => fsp_of(datetime.micros),
        _ => ty.decimals,
    }
}

/// The digits of a fraction with which a value becomes text when nothing else says so.
pub(crate) fn value_decimals(value: &Value) -> u8 {
    match value {
        Value::Time(time) => fsp_of(time.parts().4),
        Value::DateTime(datetime) => fsp_of(datetime.micros),
        _ => NOT_FIXED,
    }
}

/// 0 or 6: whether there is a fraction.
pub(crate) fn fsp_of(micros: u32) -> u8 {
    if micros == 0 { 0 } else { 6 }
}

pub(crate) fn plain_text(value: &Value, decimals: u8) -> Bytes {
    let mut out = Vec::with_capacity(24);
    value.write_text(decimals, &mut out);
    out.into()
}

/// TRUE or FALSE; `None` is NULL.
pub(crate) fn truth(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<bool>, SqlError> {
    Ok(match value {
        Value::Null => None,
        Value::Int(n) => Some(*n != 0),
        Value::UInt(n) => Some(*n != 0),
        Value::Decimal(n) => Some(!n.is_zero()),
        // JSON is compared with JSON's zero.
        Value::Json(_) => {
            let zero = types::Json::Int(0);
            Some(types::json::order::compare(&json::document(value)?, &zero).is_ne())
        }
        other => to_f64(other, ctx)?.map(|n| n != 0.0),
    })
}

/// The value as a double.
pub(crate) fn to_f64(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<f64>, SqlError> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(n) => *n as f64,
        Value::UInt(n) => *n as f64,
        Value::Float(n) => *n as f64,
        Value::Double(n) => *n,
        Value::Decimal(n) => n.to_f64(),
        Value::Str(text) | Value::Bytes(text) => {
            let (n, len) = number::parse_f64(text);
            if len < text.trim_ascii_end().len() {
                ctx.truncated("DOUBLE", text)?;
            }
            n
        }
        Value::Date(date) => date.to_number() as f64,
        Value::Time(time) => time_number(*time),
        Value::DateTime(datetime) => datetime.to_number() as f64 + datetime.micros as f64 / 1e6,
        Value::Json(_) => json::to_f64(value, ctx)?,
    }))
}

fn time_number(time: Time) -> f64 {
    let fraction = time.parts().4 as f64 / 1e6;
    let whole = time.to_number() as f64;
    if time.micros() < 0 { whole - fraction } else { whole + fraction }
}

/// The value as an exact number.
pub(crate) fn to_decimal(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<Decimal>, SqlError> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(n) => Decimal::from(*n),
        Value::UInt(n) => Decimal::from(*n),
        Value::Decimal(n) => *n,
        Value::Float(n) => decimal_of_f64(*n as f64),
        Value::Double(n) => decimal_of_f64(*n),
        Value::Str(text) | Value::Bytes(text) => {
            let trimmed = text.trim_ascii();
            let parsed = Decimal::parse(trimmed);
            if parsed.is_none_or(|parsed| parsed.len < trimmed.len()) {
                ctx.truncated("DECIMAL", text)?;
            }
            parsed.map_or(Decimal::ZERO, |parsed| parsed.value)
        }
        Value::Date(date) => Decimal::from(date.to_number()),
        Value::Time(time) => with_micros(time.to_number(), time.parts().4, time.micros() < 0),
        Value::DateTime(datetime) => with_micros(datetime.to_number(), datetime.micros, false),
        Value::Json(_) => json::to_decimal(value, ctx)?,
    }))
}

/// The nearest decimal, the greatest if it is too great.
pub(crate) fn decimal_of_f64(n: f64) -> Decimal {
    Decimal::from_f64(n).unwrap_or_else(|| {
        let max = Decimal::max_of(65, 0);
        if n < 0.0 { max.negated() } else { max }
    })
}

fn with_micros(whole: i64, micros: u32, negative: bool) -> Decimal {
    if micros == 0 {
        return Decimal::from(whole);
    }
    let sign = if negative { "-" } else { "" };
    format!("{sign}{}.{micros:06}", whole.abs()).parse().unwrap_or(Decimal::ZERO)
}

/// The value as an integer, rounded; wide enough that nothing wraps here.
pub(crate) fn to_i128(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<i128>, SqlError> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(n) => *n as i128,
        Value::UInt(n) => *n as i128,
        Value::Float(n) => (*n as f64).round_ties_even() as i128,
        Value::Double(n) => n.round_ties_even() as i128,
        Value::Decimal(n) => n.to_i128().unwrap_or(if n.is_negative() { i128::MIN } else { i128::MAX }),
        Value::Str(text) | Value::Bytes(text) => {
            let (n, len) = number::parse_integer(text);
            if len < text.trim_ascii_end().len() || text.is_empty() {
                ctx.truncated("INTEGER", text)?;
            }
            n
        }
        Value::Date(date) => date.to_number() as i128,
        Value::Time(time) => time.rounded(0).to_number() as i128,
        Value::DateTime(datetime) => datetime.rounded(0).unwrap_or(*datetime).to_number() as i128,
        Value::Json(_) => json::to_i128(value, ctx)?,
    }))
}

/// The value as a signed integer for a function's argument: the nearest that there is; of a text the integer with which it
/// begins, whatever stands behind it.
pub(crate) fn to_i64(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<i64>, SqlError> {
    if let Value::Int(n) = value {
        return Ok(Some(*n));
    }
    let clamp = |n: i128| n.clamp(i64::MIN as i128, i64::MAX as i128) as i64;
    Ok(match value {
        Value::Decimal(n) if n.to_i128().is_none_or(|n| i64::try_from(n).is_err()) => {
            ctx.truncated("DECIMAL", &plain_text(value, n.scale()))?;
            to_i128(value, ctx)?.map(clamp)
        }
        other => to_i128(other, ctx)?.map(clamp),
    })
}

/// The text of a value of one type as part of a value of another: 3854 if that one's character set does not have it.
pub(crate) fn in_charset(text: Bytes, from: &ExprType, to: &ExprType) -> Result<Bytes, SqlError> {
    if to.kind != Kind::Str || text.is_ascii() {
        return Ok(text);
    }
    let charset = to.collation.charset();
    let (fits, from) = match from.kind {
        Kind::Bytes if matches!(charset, Charset::Single(_)) => match charset.text(&text) {
            Some(text) => return Ok(text.into_owned().into()),
            None => (false, Charset::Binary),
        },
        Kind::Bytes | Kind::Any => (std::str::from_utf8(&text).is_ok(), Charset::Binary),
        _ => (charset.encode(&text).is_some(), from.collation.charset()),
    };
    if fits {
        return Ok(text);
    }
    let shown: String = from
        .encode_lossy(&text)
        .iter()
        .map(|&byte| match byte {
            b' '..=b'~' => (byte as char).to_string(),
            _ => format!("\\x{byte:02X}"),
        })
        .collect();
    let message = format!("Cannot convert string '{shown}' from {} to {}", from.name(), charset.name());
    Err(SqlError::new(codes::CANNOT_CONVERT_STRING, message))
}

/// The value as 64 bits, for bit operators.
pub(crate) fn to_bits(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<u64>, SqlError> {
    Ok(match value {
        Value::Int(n) => Some(*n as u64),
        Value::UInt(n) => Some(*n),
        // What is no integer goes through BIGINT.
        Value::Float(_) | Value::Double(_) | Value::Decimal(_) => to_i64(value, ctx)?.map(|n| n as u64),
        other => to_i128(other, ctx)?
            .map(|n| if n < 0 { n.max(i64::MIN as i128) as i64 as u64 } else { n.min(u64::MAX as i128) as u64 }),
    })
}

/// The value as date and time; what is none is a warning and `None`.
pub(crate) fn to_datetime(value: &Value, allow: Allow, ctx: &EvalContext<'_>) -> Result<Option<DateTime>, SqlError> {
    let parsed = match value {
        Value::Null => return Ok(None),
        Value::DateTime(datetime) => return Ok(stored(allow).accepts(datetime.date).then_some(*datetime)),
        Value::Date(date) => return Ok(stored(allow).accepts(*date).then(|| date.at_midnight())),
        Value::Time(time) => return Ok(time_on_today(*time, ctx)),
        Value::Json(_) => return json::to_datetime(value, allow, ctx),
        other => parse_kept_datetime(other, allow),
    };
    match parsed {
        Some(parsed) => {
            if parsed.trailing {
                let kind = if parsed.has_time { "datetime" } else { "date" };
                ctx.truncated(kind, &plain_text(value, NOT_FIXED))?;
            }
            Ok(in_session_zone(&parsed, ctx.session))
        }
        None => {
            ctx.incorrect("datetime", &plain_text(value, NOT_FIXED))?;
            Ok(None)
        }
    }
}

/// What a value may be that is a date already: a 31st of April that a column took under ALLOW_INVALID_DATES is one.
fn stored(allow: Allow) -> Allow {
    Allow { invalid_dates: true, ..allow }
}

/// Text or a number as date and time, without a word about failure.
pub(crate) fn parse_datetime(value: &Value, allow: Allow) -> Option<Parsed<DateTime>> {
    match value {
        Value::Str(text) | Value::Bytes(text) => parse::datetime(text, allow),
        Value::Int(n) => parse::datetime_from_number(*n, 0, allow),
        Value::UInt(n) => parse::datetime_from_number(i64::try_from(*n).ok()?, 0, allow),
        Value::Decimal(n) => {
            let (whole, micros, round_up) = split_decimal(n)?;
            parse::datetime_from_number(whole, micros, allow).map(|parsed| Parsed { round_up, ..parsed })
        }
        Value::Float(n) => parse_datetime(&Value::Double(*n as f64), allow),
        Value::Double(n) => parse_datetime(&Value::Decimal(with_nanos(*n)?), allow),
        Value::DateTime(datetime) => parse::datetime(&plain_text(&Value::DateTime(*datetime), 6), allow),
        _ => None,
    }
}

/// The same as a date and time that is to be kept: a fraction behind a number that is a date alone is no part of it.
pub(crate) fn parse_kept_datetime(value: &Value, allow: Allow) -> Option<Parsed<DateTime>> {
    let parsed = parse_datetime(value, allow)?;
    match value.as_bytes() {
        None if !parsed.has_time => {
            let trailing = parsed.round_up || parsed.value.micros != 0;
            Some(Parsed { trailing, ..Parsed::exactly(parsed.value.date.at_midnight()) })
        }
        _ => Some(parsed),
    }
}

/// Whether a value that sql_mode does not take is a date still: one with zeros, a 30th of February, or a number beyond all dates.
pub(crate) fn is_impossible_date(value: &Value) -> bool {
    const BEYOND_ALL: f64 = 1e14;
    let number = match value {
        Value::Int(n) => *n as f64,
        Value::UInt(n) => *n as f64,
        Value::Decimal(n) => n.to_f64(),
        Value::Double(n) => *n,
        Value::Float(n) => *n as f64,
        _ => 0.0,
    };
    !(0.0..BEYOND_ALL).contains(&number)
        || matches!(value, Value::Date(_) | Value::DateTime(_))
        || parse_datetime(value, Allow { invalid_dates: true, ..Allow::ZEROS }).is_some()
}

/// A double that stands for a date or a time: its fraction is what it holds in binary, in nanoseconds, and not what its shortest text says.
fn with_nanos(n: f64) -> Option<Decimal> {
    const EXACT: f64 = 1e18;
    const NANOS: f64 = 1e9;
    if n.is_nan() || n.abs() >= EXACT {
        return Decimal::from_f64(n);
    }
    let whole = n.trunc();
    let nanos = ((n - whole).abs() * NANOS).round().min(NANOS - 1.0);
    let sign = if n < 0.0 { "-" } else { "" };
    format!("{sign}{}.{:09}", whole.abs() as u64, nanos as u64).parse().ok()
}

/// Whole part and millionths, by the value's distance from zero, and whether what is behind them is half of one or more: that
/// goes into the next second where the value has become a time, and not into the number, whose 60th second would be none.
fn split_decimal(n: &Decimal) -> Option<(i64, u32, bool)> {
    use types::decimal::Rounding;
    let kept = n.rounded(6, Rounding::Truncate)?;
    let round_up = n.rounded(6, Rounding::HalfUp)? != kept;
    let whole = kept.rounded(0, Rounding::Truncate)?;
    let fraction = kept.subtract(&whole)?.abs().multiply(&Decimal::from(1_000_000i64))?;
    Some((i64::try_from(whole.to_i128()?).ok()?, fraction.to_i128()? as u32, round_up))
}

/// The moment of a text that says its zone, in the session's.
fn moment_with_zone(value: &Value, session: &SessionInfo) -> Option<DateTime> {
    /// `2024-01-01T00:00+00:00`
    const SHORTEST: usize = 16;
    value.as_bytes().filter(|text| text.len() >= SHORTEST)?;
    let parsed =
        parse_datetime(value, Allow::ALL).filter(|parsed| parsed.zone_minutes.is_some() && !parsed.trailing)?;
    in_session_zone(&parsed, session)
}

fn time_on_today(time: Time, ctx: &EvalContext<'_>) -> Option<DateTime> {
    let today = calendar::to_micros(ctx.local_now().date.at_midnight());
    calendar::from_micros(today + time.micros())
}

/// The value as a date.
pub(crate) fn to_date(value: &Value, allow: Allow, ctx: &EvalContext<'_>) -> Result<Option<Date>, SqlError> {
    Ok(match value {
        Value::Date(date) => stored(allow).accepts(*date).then_some(*date),
        Value::Str(text) | Value::Bytes(text) => {
            let parsed = parse_datetime(value, allow);
            if parsed.as_ref().is_none_or(|parsed| parsed.trailing) {
                ctx.truncated("date", text)?;
            }
            parsed.and_then(|parsed| in_session_zone(&parsed, ctx.session)).map(|moment| moment.date)
        }
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_) => {
            // The day of a number is not rounded with its fraction.
            let date = whole_number(value).and_then(|number| parse::date_from_number(number, allow));
            if date.is_none() {
                ctx.incorrect("datetime", &plain_text(value, NOT_FIXED))?;
            }
            date
        }
        other => to_datetime(other, allow, ctx)?.map(|datetime| datetime.date),
    })
}

/// A number without its fraction.
fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) => Some(*n),
        Value::UInt(n) => i64::try_from(*n).ok(),
        Value::Decimal(n) => split_decimal(n).map(|(whole, ..)| whole),
        Value::Float(n) => whole_number(&Value::Double(*n as f64)),
        Value::Double(n) => whole_number(&Value::Decimal(Decimal::from_f64(*n)?)),
        _ => None,
    }
}

/// What an expression's value is where a date or a time is wanted: of a column that holds years the first day of the year.
pub(crate) fn dated<'v>(expr: &Expr, value: Cow<'v, Value>) -> Cow<'v, Value> {
    if expr.ty.origin != Some(ColumnType::Year) || expr.as_column().is_none() {
        return value;
    }
    match whole_number(&value).and_then(|year| u16::try_from(year).ok()) {
        Some(year) => Cow::Owned(Value::DateTime(Date::new(year, 1, 1).at_midnight())),
        None => value,
    }
}

/// The value as a span of time; what is none is a warning and `None`.
pub(crate) fn to_time(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<Time>, SqlError> {
    let parsed = match value {
        Value::Null => return Ok(None),
        Value::Time(time) => return Ok(Some(*time)),
        Value::DateTime(datetime) => return Ok(Some(datetime.time())),
        Value::Date(_) => return Ok(Some(Time::default())),
        Value::Json(_) => return json::to_time(value, ctx),
        other => match moment_with_zone(other, ctx.session) {
            Some(moment) => return Ok(Some(moment.time())),
            None => parse_time(other),
        },
    };
    match parsed {
        Some(parsed) => {
            if parsed.trailing || parsed.clamped {
                ctx.truncated("time", &plain_text(value, NOT_FIXED))?;
            }
            // Text that is beyond all times is the last one, a number is none.
            let is_text = value.as_bytes().is_some();
            Ok((is_text || !parsed.clamped).then(|| parsed.rounded(6, false)))
        }
        None => {
            ctx.truncated("time", &plain_text(value, NOT_FIXED))?;
            Ok(None)
        }
    }
}

/// Text or a number as a span, without a word about failure.
pub(crate) fn parse_time(value: &Value) -> Option<Parsed<Time>> {
    match value {
        Value::Str(text) | Value::Bytes(text) => parse::time(text),
        Value::Int(n) => parse::time_from_number(*n, 0),
        Value::UInt(n) => parse::time_from_number(i64::try_from(*n).unwrap_or(i64::MAX), 0),
        Value::Decimal(n) => {
            let (whole, micros, round_up) = split_decimal(n)?;
            let mut parsed = parse::time_from_number(whole, micros)?;
            parsed.round_up = round_up && !parsed.clamped;
            if whole == 0 && n.is_negative() {
                parsed.value = Time::from_micros(-parsed.value.micros());
            }
            Some(parsed)
        }
        Value::Float(n) => parse_time(&Value::Double(*n as f64)),
        Value::Double(n) => parse_time(&Value::Decimal(with_nanos(*n)?)),
        _ => None,
    }
}

/// A value of an expression of type `from` as a value of the kind (and scale) of `to`: what CASE, COALESCE and UNION do with
/// the sides that are of another type than the result.
pub(crate) fn to_type(value: Value, from: &ExprType, to: &ExprType, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    use types::decimal::Rounding;
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    Ok(match (to.kind, &value) {
        (Kind::Null | Kind::Any, _) | (_, Value::Null) => value,
        (Kind::Int, _) => or_null(to_i64(&value, ctx)?.map(Value::Int)),
        (Kind::UInt, _) => or_null(to_bits(&value, ctx)?.map(Value::UInt)),
        (Kind::Float, _) => or_null(to_f64(&value, ctx)?.map(|n| Value::Float(n as f32))),
        (Kind::Double, _) => or_null(to_f64(&value, ctx)?.map(Value::Double)),
        (Kind::Decimal, _) => {
            let decimal = to_decimal(&value, ctx)?;
            or_null(decimal.map(|n| Value::Decimal(n.rounded(to.decimals, Rounding::HalfUp).unwrap_or(n))))
        }
        (Kind::Json, Value::Json(_)) => value,
        (Kind::Json, _) => json::value(&json::atom_of(&value, from)?)?,
        (Kind::Str, Value::Bytes(_)) => Value::Str(in_charset(text(&value, from), from, to)?),
        (Kind::Str, _) => Value::Str(text(&value, from)),
        (Kind::Bytes, _) => Value::Bytes(bytes(&value, from)),
        (Kind::Date, _) => or_null(to_date(&value, Allow::ZEROS, ctx)?.map(Value::Date)),
        (Kind::Time, _) => or_null(to_time(&value, ctx)?.map(Value::Time)),
        (Kind::DateTime, _) => or_null(to_datetime(&value, Allow::ZEROS, ctx)?.map(Value::DateTime)),
    })
}
