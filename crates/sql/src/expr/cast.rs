//! CAST and CONVERT.

use std::borrow::Cow;

use base::SqlError;
use types::charset::{Charset, prefix_bytes};
use types::decimal::Rounding;
use types::temporal::parse::Allow;
use types::{CollationId, Decimal, Value};

use crate::expr::coerce;
use crate::expr::context::EvalContext;
use crate::expr::tree::CastType;
use crate::expr::types::{Coercibility, ExprType, Kind};

/// The type of `CAST(arg AS to)`.
pub(crate) fn infer(arg: &ExprType, to: CastType, collation: CollationId) -> ExprType {
    let length = arg.text_length();
    let ty = match to {
        CastType::Signed => ExprType::of_kind(Kind::Int),
        CastType::Unsigned => ExprType::of_kind(Kind::UInt),
        CastType::Char { chars } => {
            let mut ty = ExprType::text(chars.unwrap_or(length), collation);
            ty.coercibility = Coercibility::Implicit;
            ty
        }
        CastType::Binary { bytes } => {
            let ty = ExprType::bytes(bytes.unwrap_or_else(|| arg.byte_length()));
            ExprType { coercibility: Coercibility::Implicit, ..ty }
        }
        CastType::Date => ExprType::of_kind(Kind::Date),
        CastType::Time { fsp } => ExprType::temporal(Kind::Time, fsp),
        CastType::DateTime { fsp } => ExprType::temporal(Kind::DateTime, fsp),
        CastType::Decimal { precision, scale } => ExprType::decimal(precision as u32, scale),
        CastType::Float => ExprType::of_kind(Kind::Float),
        CastType::Double => ExprType::of_kind(Kind::Double),
        CastType::Json => ExprType::json(),
        CastType::Year => {
            ExprType { origin: Some(types::ColumnType::Year), length: 4, ..ExprType::of_kind(Kind::UInt) }
        }
    };
    // What is no date becomes NULL, and so does text that is too long.
    let may_fail = !matches!(
        to,
        CastType::Signed | CastType::Unsigned | CastType::Decimal { .. } | CastType::Float | CastType::Double
    );
    ty.nullable(arg.nullable || may_fail)
}

/// `CAST(value AS to)` of a value whose expression has the type `from`; `ty` is the [inferred](infer) type of it.
pub(crate) fn eval(
    value: &Value,
    from: &ExprType,
    to: CastType,
    ty: &ExprType,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    Ok(match to {
        CastType::Signed => signed(value, ctx)?,
        CastType::Unsigned => or_null(unsigned(value, ctx)?.map(Value::UInt)),
        CastType::Char { chars } => to_char(value, from, chars, ty.collation.charset(), ctx)?,
        CastType::Binary { bytes } => to_binary(value, from, bytes, ctx)?,
        CastType::Date => or_null(coerce::to_date(value, allowed(ctx), ctx)?.map(Value::Date)),
        CastType::Time { fsp } => or_null(coerce::to_time(value, ctx)?.map(|time| Value::Time(time.rounded(fsp)))),
        CastType::DateTime { fsp } => {
            let datetime = coerce::to_datetime(value, allowed(ctx), ctx)?;
            or_null(datetime.and_then(|datetime| datetime.rounded(fsp)).map(Value::DateTime))
        }
        CastType::Decimal { precision, scale } => to_decimal(value, precision, scale, ctx)?,
        CastType::Float => match coerce::to_f64(value, ctx)? {
            Some(n) if n.is_finite() && !(n as f32).is_finite() => {
                let message = format!("DOUBLE value is out of range in 'cast({n} as float)'");
                return Err(SqlError::new(base::codes::DATA_OUT_OF_RANGE, message));
            }
            n => or_null(n.map(|n| Value::Float(n as f32))),
        },
        CastType::Double => or_null(coerce::to_f64(value, ctx)?.map(Value::Double)),
        CastType::Year => year(value, ctx)?,
        CastType::Json => crate::expr::json::cast(value, from)?,
    })
}

/// The dates that sql_mode lets an expression make.
pub(crate) fn allowed(ctx: &EvalContext<'_>) -> Allow {
    use types::SqlMode;
    let mode = ctx.session.sql_mode;
    Allow {
        zero_date: !mode.has(SqlMode::NO_ZERO_DATE),
        zero_in_date: !mode.has(SqlMode::NO_ZERO_IN_DATE),
        invalid_dates: mode.has(SqlMode::ALLOW_INVALID_DATES),
    }
}

fn signed(value: &Value, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    Ok(match value {
        Value::UInt(n) => Value::Int(*n as i64),
        Value::Str(text) | Value::Bytes(text) => {
            let Some(n) = coerce::to_i128(value, ctx)? else { return Ok(Value::Null) };
            match (i64::try_from(n), u64::try_from(n)) {
                (Ok(n), _) => Value::Int(n),
                (_, Ok(n)) => {
                    let message = "Cast to signed converted positive out-of-range integer to its negative complement";
                    ctx.warn(base::codes::UNKNOWN_ERROR, message);
                    Value::Int(n as i64)
                }
                _ => {
                    ctx.truncated("INTEGER", text)?;
                    Value::Int(if n < 0 { i64::MIN } else { -1 })
                }
            }
        }
        other => coerce::to_i64(other, ctx)?.map_or(Value::Null, Value::Int),
    })
}

fn unsigned(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<u64>, SqlError> {
    match value {
        Value::Decimal(n) => {
            // Rounded, and a negative number's bits, as of an integer.
            let whole = n.to_i128().unwrap_or(if n.is_negative() { i128::MIN } else { i128::MAX });
            let nearest = whole.clamp(i64::MIN as i128, u64::MAX as i128);
            if whole != nearest {
                ctx.truncated("DECIMAL", &coerce::plain_text(value, 0))?;
            }
            Ok(Some(nearest as u64))
        }
        Value::Float(_) | Value::Double(_) => Ok(coerce::to_f64(value, ctx)?.map(|n| {
            let n = n.round_ties_even();
            if n < 0.0 { n as i64 as u64 } else { n as u64 }
        })),
        Value::Str(_) | Value::Bytes(_) => {
            let Some(n) = coerce::to_i128(value, ctx)? else { return Ok(None) };
            if n < 0 {
                let message = "Cast to unsigned converted negative integer to its positive complement";
                ctx.warn(base::codes::UNKNOWN_ERROR, message);
            }
            Ok(Some(n.clamp(i64::MIN as i128, u64::MAX as i128) as u64))
        }
        other => coerce::to_bits(other, ctx),
    }
}

/// Bytes from the first one on that is no character, three at most, in hexadecimal.
fn unreadable(charset: Charset, bytes: &[u8]) -> String {
    const SHOWN: usize = 3;
    let good = match charset {
        Charset::Utf8Mb4 => std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to()),
        _ => bytes.iter().position(|&byte| charset.text(&[byte]).is_none()).unwrap_or(0),
    };
    crate::expr::hex_text(&bytes[good..bytes.len().min(good + SHOWN)]).to_uppercase()
}

fn to_char(
    value: &Value,
    from: &ExprType,
    chars: Option<u32>,
    charset: Charset,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    let mut text = coerce::text(value, from);
    let is_binary = matches!(value, Value::Bytes(_));
    if is_binary {
        // Bytes are characters of it.
        text = match charset.text(&text) {
            Some(Cow::Borrowed(_)) => text,
            Some(Cow::Owned(decoded)) => decoded.into(),
            // Bytes that are no ASCII are shown as `?`, and never refused.
            None if charset == Charset::ASCII => {
                text.iter().map(|&byte| if byte.is_ascii() { byte } else { b'?' }).collect::<Vec<u8>>().into()
            }
            None => {
                ctx.warn(
                    base::codes::INVALID_CHARACTER_STRING,
                    format!("Invalid {} character string: '{}'", charset.name(), unreadable(charset, &text)),
                );
                if ctx.session.sql_mode.is_strict() {
                    return Ok(Value::Null);
                }
                charset.decode(&text[..charset.valid_up_to(&text)]).into_owned().into()
            }
        };
    } else if matches!(charset, Charset::Single(_)) && !text.is_ascii() {
        text = charset.representable(&text).into();
    }
    let Some(chars) = chars else { return Ok(Value::Str(text)) };
    if is_beyond_packet(chars, "cast_as_char", ctx)? {
        return Ok(Value::Null);
    }
    let kept = prefix_bytes(&text, chars as usize);
    if kept < text.len() {
        ctx.truncated(&format!("CHAR({chars})"), &text)?;
    }
    Ok(Value::Str(text.slice(..kept)))
}

fn to_binary(value: &Value, from: &ExprType, bytes: Option<u32>, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    let text = match value {
        // What has no type before it is there is a parameter: text of the connection's character set.
        Value::Str(text) if from.kind == Kind::Any => ctx.session.collation_connection.charset().encode_shared(text),
        _ => coerce::bytes(value, from),
    };
    let Some(length) = bytes else { return Ok(Value::Bytes(text)) };
    if is_beyond_packet(length, "cast_as_binary", ctx)? {
        return Ok(Value::Null);
    }
    let length = length as usize;
    if length < text.len() {
        ctx.truncated(&format!("BINARY({length})"), &text)?;
        return Ok(Value::Bytes(text.slice(..length)));
    }
    let mut padded = text.to_vec();
    padded.resize(length, 0);
    Ok(Value::Bytes(padded.into()))
}

/// Whether a result of that length is more than a packet holds: a warning (1301).
fn is_beyond_packet(length: u32, function: &str, ctx: &EvalContext<'_>) -> Result<bool, SqlError> {
    let is_beyond = u64::from(length) > ctx.session.max_allowed_packet;
    if is_beyond {
        ctx.warn_of_overflow(function);
    } else {
        base::memory::check_more(length.into())?;
    }
    Ok(is_beyond)
}

fn to_decimal(value: &Value, precision: u8, scale: u8, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    let Some(n) = coerce::to_decimal(value, ctx)? else { return Ok(Value::Null) };
    let rounded = n.rounded(scale, Rounding::HalfUp).filter(|n: &Decimal| n.fits(precision, scale));
    if let Some(rounded) = rounded {
        return Ok(Value::Decimal(rounded));
    }
    ctx.complain(base::codes::WARN_DATA_OUT_OF_RANGE, "Out of range value for column 'CAST' at row 1".into())?;
    let max = Decimal::max_of(precision, scale);
    Ok(Value::Decimal(if n.is_negative() { max.negated() } else { max }))
}

fn year(value: &Value, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    let number = match value {
        Value::Date(date) => Some(date.year as i64),
        Value::DateTime(datetime) => Some(datetime.date.year as i64),
        Value::Str(text) | Value::Bytes(text) if types::number::parse_integer(text).1 == 0 => {
            ctx.truncated("YEAR", text)?;
            return Ok(Value::Null);
        }
        Value::Str(text) | Value::Bytes(text)
            if text.trim_ascii().len() < 4 && coerce::to_i64(value, ctx)? == Some(0) =>
        {
            // `'0'` is a short year, `'0000'` is none.
            Some(2000)
        }
        other => coerce::to_i64(other, ctx)?,
    };
    Ok(match number {
        Some(0) => Value::UInt(0),
        Some(n @ 1..=99) => Value::UInt(types::temporal::parse::full_year(n as u32) as u64),
        Some(n @ 1901..=2155) => Value::UInt(n as u64),
        Some(_) => {
            ctx.truncated("YEAR", &coerce::plain_text(value, 0))?;
            Value::Null
        }
        None => Value::Null,
    })
}
