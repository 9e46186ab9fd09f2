//! JSON values in expressions: from and to other kinds, with MySQL's errors.

use base::{SqlError, codes};
use types::json::{JsonError, ParseError, binary};
use types::temporal::parse::Allow;
use types::{ColumnDef, ColumnType, DateTime, Decimal, Json, Time, Value, number};

use crate::expr::coerce;
use crate::expr::context::EvalContext;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};

/// 3157
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(codes::JSON_DOCUMENT_TOO_DEEP, "The JSON document exceeds the maximum depth.")
}

/// 3144
pub(crate) fn binary_charset() -> SqlError {
    let message = "Cannot create a JSON value from a string with CHARACTER SET 'binary'.";
    SqlError::new(codes::INVALID_JSON_CHARSET, message)
}

/// The error of a document that has no binary form, or of bytes that are none.
pub(crate) fn error(error: JsonError) -> SqlError {
    let code = match error {
        JsonError::TooDeep => codes::JSON_DOCUMENT_TOO_DEEP,
        JsonError::KeyTooLong => codes::JSON_KEY_TOO_BIG,
        JsonError::TooLong => codes::JSON_VALUE_TOO_BIG,
        JsonError::Damaged => codes::INVALID_JSON_BINARY_DATA,
    };
    SqlError::new(code, error.to_string())
}

/// A binary form of so many bytes has no longer text than so many times as many: control characters in keys and texts have six.
const TEXT_PER_BYTE: u64 = 8;

/// Whether the text of a document that a call has made is more than a packet holds: then it is NULL, with a warning (1301). A column's is shown
/// whatever its length.
pub(crate) fn is_beyond_packet(expr: &Expr, value: &Value, ctx: &EvalContext<'_>) -> Result<bool, SqlError> {
    let max = ctx.session.max_allowed_packet;
    let Value::Json(bytes) = value else { return Ok(false) };
    let name = match &expr.kind {
        ExprKind::Call { function, .. } => function.name(),
        ExprKind::Cast { .. } => "cast_as_json",
        _ => return Ok(false),
    };
    if (bytes.len() as u64).saturating_mul(TEXT_PER_BYTE) <= max {
        return Ok(false);
    }
    base::memory::check_more(bytes.len() as u64)?;
    let is_beyond = document(value)?.to_text().len() as u64 > max;
    if is_beyond {
        ctx.warn_of_overflow(name);
    }
    Ok(is_beyond)
}

/// A document as a value.
pub(crate) fn value(json: &Json) -> Result<Value, SqlError> {
    Ok(Value::Json(binary::encode(json).map_err(error)?.into()))
}

/// The document that a JSON value is; of other values the scalar.
pub(crate) fn document(value: &Value) -> Result<Json, SqlError> {
    match value {
        Value::Json(bytes) => binary::decode(bytes).map_err(error),
        other => atom(other),
    }
}

/// The same where there is nobody to tell of damage.
pub(crate) fn document_or_null(value: &Value) -> Json {
    document(value).unwrap_or_default()
}

/// The JSON scalar for an SQL value; text becomes a string and is not parsed.
pub(crate) fn atom(value: &Value) -> Result<Json, SqlError> {
    use types::binlog_meta::type_code;
    Ok(match value {
        Value::Null => Json::Null,
        Value::Int(n) => Json::Int(*n),
        Value::UInt(n) => Json::UInt(*n),
        Value::Float(n) => Json::Double(f64::from(*n)),
        Value::Double(n) => Json::Double(*n),
        Value::Decimal(n) => Json::Decimal(*n),
        Value::Str(text) => Json::String(String::from_utf8_lossy(text).into_owned()),
        Value::Bytes(bytes) => Json::Opaque(type_code::VARCHAR, bytes.to_vec()),
        Value::Date(date) => Json::Date(*date),
        Value::Time(time) => Json::Time(*time),
        Value::DateTime(datetime) => Json::DateTime(*datetime),
        Value::Json(bytes) => binary::decode(bytes).map_err(error)?,
    })
}

/// The JSON scalar for the value of an expression of this type, which tells bytes of one column type from those of another.
pub(crate) fn atom_of(value: &Value, ty: &ExprType) -> Result<Json, SqlError> {
    use types::binlog_meta::type_code;
    Ok(match (value, &ty.origin) {
        (Value::UInt(n), Some(ColumnType::Bit { bits })) => {
            let bytes = n.to_be_bytes()[8 - bits.div_ceil(8) as usize..].to_vec();
            Json::Opaque(type_code::BIT, bytes)
        }
        (Value::DateTime(datetime), Some(ColumnType::Timestamp { .. })) => Json::Timestamp(*datetime),
        (Value::Bytes(bytes), Some(ColumnType::Binary { .. })) => Json::Opaque(type_code::STRING, bytes.to_vec()),
        (Value::Bytes(bytes), Some(ColumnType::Blob { size })) => {
            let code = match size.length_bytes() {
                1 => type_code::TINY_BLOB,
                2 => type_code::BLOB,
                3 => type_code::MEDIUM_BLOB,
                _ => type_code::LONG_BLOB,
            };
            Json::Opaque(code, bytes.to_vec())
        }
        _ => atom(value)?,
    })
}

/// CAST(value AS JSON): text is parsed.
pub(crate) fn cast(of: &Value, from: &ExprType) -> Result<Value, SqlError> {
    match of {
        Value::Json(_) => Ok(of.clone()),
        Value::Str(text) => value(&parse_argument(text, 1, "cast_as_json")?),
        other => value(&atom_of(other, from)?),
    }
}

/// The document that a text is; 3141 names the argument.
pub(crate) fn parse_argument(text: &[u8], argument: usize, function: &str) -> Result<Json, SqlError> {
    types::json::parse(&String::from_utf8_lossy(text)).map_err(|error| match error {
        ParseError::TooDeep => too_deep(),
        ParseError::Memory(error) => error,
        invalid => {
            let message = format!("Invalid JSON text in argument {argument} to function {function}: {invalid}");
            SqlError::new(codes::INVALID_JSON_TEXT_IN_PARAM, message)
        }
    })
}

/// 3156: an error while a strict statement changes data, otherwise a warning.
fn no_number(kind: &str, ctx: &EvalContext<'_>) -> Result<(), SqlError> {
    ctx.complain(codes::INVALID_JSON_VALUE_FOR_CAST, format!("Invalid JSON value for CAST to {kind}"))
}

/// What a scalar is as a plain SQL value; `None` of what is none.
pub(crate) fn plain(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Bool(truth) => Value::Int(i64::from(*truth)),
        Json::Int(n) => Value::Int(*n),
        Json::UInt(n) => Value::UInt(*n),
        Json::Double(n) => Value::Double(*n),
        Json::Decimal(n) => Value::Decimal(*n),
        Json::String(text) => Value::from(text.as_str()),
        Json::Date(date) => Value::Date(*date),
        Json::Time(time) => Value::Time(*time),
        Json::DateTime(datetime) | Json::Timestamp(datetime) => Value::DateTime(*datetime),
        Json::Null | Json::Opaque(..) | Json::Array(_) | Json::Object(_) => return None,
    })
}

/// A number, or the text of one.
fn numeric(value: &Value, kind: &str, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    match plain(&document(value)?) {
        Some(Value::Str(text)) => {
            let length = match kind {
                "INTEGER" => number::parse_integer(&text).1,
                "DECIMAL" => Decimal::parse(text.trim_ascii()).map_or(0, |parsed| parsed.len),
                _ => number::parse_f64(&text).1,
            };
            if length == 0 || length < text.trim_ascii_end().len() {
                no_number(kind, ctx)?;
            }
            Ok(match kind {
                "INTEGER" => {
                    let n = number::parse_integer(&text).0;
                    i64::try_from(n).map_or_else(|_| Value::UInt(n.clamp(0, i128::from(u64::MAX)) as u64), Value::Int)
                }
                "DECIMAL" => Value::Decimal(Decimal::parse(text.trim_ascii()).map_or(Decimal::ZERO, |n| n.value)),
                _ => Value::Double(number::parse_f64(&text).0),
            })
        }
        Some(number @ (Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_))) => Ok(number),
        _ => {
            no_number(kind, ctx)?;
            Ok(Value::Int(0))
        }
    }
}

pub(crate) fn to_f64(value: &Value, ctx: &EvalContext<'_>) -> Result<f64, SqlError> {
    Ok(coerce::to_f64(&numeric(value, "DOUBLE", ctx)?, ctx)?.unwrap_or(0.0))
}

pub(crate) fn to_decimal(value: &Value, ctx: &EvalContext<'_>) -> Result<Decimal, SqlError> {
    Ok(coerce::to_decimal(&numeric(value, "DECIMAL", ctx)?, ctx)?.unwrap_or_default())
}

pub(crate) fn to_i128(value: &Value, ctx: &EvalContext<'_>) -> Result<i128, SqlError> {
    Ok(coerce::to_i128(&numeric(value, "INTEGER", ctx)?, ctx)?.unwrap_or(0))
}

/// A date or time in a document, or text of one.
pub(crate) fn to_datetime(value: &Value, allow: Allow, ctx: &EvalContext<'_>) -> Result<Option<DateTime>, SqlError> {
    let plain = plain(&document(value)?);
    match plain {
        Some(plain @ (Value::Date(_) | Value::DateTime(_) | Value::Time(_))) => coerce::to_datetime(&plain, allow, ctx),
        Some(text @ Value::Str(_)) if coerce::parse_datetime(&text, allow).is_some() => {
            coerce::to_datetime(&text, allow, ctx)
        }
        _ => {
            no_number("DATETIME", ctx)?;
            Ok(None)
        }
    }
}

pub(crate) fn to_time(value: &Value, ctx: &EvalContext<'_>) -> Result<Option<Time>, SqlError> {
    match plain(&document(value)?) {
        Some(plain @ (Value::Date(_) | Value::DateTime(_) | Value::Time(_))) => coerce::to_time(&plain, ctx),
        Some(text @ Value::Str(_)) if coerce::parse_time(&text).is_some() => coerce::to_time(&text, ctx),
        _ => {
            no_number("TIME", ctx)?;
            Ok(None)
        }
    }
}

/// A value for a user variable, which has no documents: their text.
pub(crate) fn as_variable(value: Value, ty: ExprType) -> (Value, ExprType) {
    if ty.kind != Kind::Json && !matches!(value, Value::Json(_)) {
        return (value, ty);
    }
    let text = match &value {
        Value::Json(_) => Value::Str(coerce::plain_text(&value, types::value::NOT_FIXED)),
        _ => value,
    };
    (text, ExprType::text(u32::MAX / 4, types::CollationId::UTF8MB4_BIN))
}

/// A value for a JSON column: a text is a document; other values would need a CAST, as in MySQL.
pub(crate) fn for_column(of: Value, column: &ColumnDef) -> Result<Value, SqlError> {
    let invalid = |what: &str| {
        let message = format!("Invalid JSON text: {what} in value for column '{}'.", column.name);
        SqlError::new(codes::INVALID_JSON_TEXT, message)
    };
    let text = match of {
        Value::Json(_) => return Ok(of),
        Value::Str(text) => text,
        Value::Bytes(_) => return Err(binary_charset()),
        _ => return Err(invalid("\"not a JSON text, may need CAST\" at position 0")),
    };
    match types::json::parse(&String::from_utf8_lossy(&text)) {
        Ok(json) => value(&json),
        Err(ParseError::TooDeep) => Err(too_deep()),
        Err(ParseError::Memory(error)) => Err(error),
        Err(error) => Err(invalid(error.to_string().trim_end_matches('.'))),
    }
}

/// The error of a conversion for a column with the table's name where MySQL has it: in front of a JSON column's (3140).
pub(crate) fn name_table(mut error: SqlError, column: &ColumnDef, table: &str) -> SqlError {
    if error.code == codes::INVALID_JSON_TEXT.0 {
        let own = format!("'{}'.", column.name);
        if let Some(rest) = error.message.strip_suffix(&own) {
            error.message = format!("{rest}'{table}.{}'.", column.name);
        }
    }
    error
}
