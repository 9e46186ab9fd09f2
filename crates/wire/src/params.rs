//! `COM_STMT_EXECUTE`: a prepared statement's parameters.
//!
//! After a null bitmap and a flag come the types (only if they are new: else those of the last execution hold), then
//! a value per parameter that is neither NULL nor was sent ahead by `COM_STMT_SEND_LONG_DATA`.

use bytes::Bytes;
use types::{Date, DateTime, Value};

use crate::WireError;
use crate::codec::Reader;
use crate::flags::column_type as ty;
use crate::row::take_time;

/// How a client sends one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamType {
    /// Of [`crate::flags::column_type`].
    pub ty: u8,
    /// Whether a whole number has no sign.
    pub unsigned: bool,
}

/// Reads the parameters of an execution into `values`.
///
/// `types` are those of the last execution, empty before the first, and are replaced if the packet brings new ones. `long_data` has
/// an entry per parameter, or none at all.
pub fn decode_params(
    body: &[u8],
    count: usize,
    types: &mut Vec<ParamType>,
    long_data: &[Option<Vec<u8>>],
    values: &mut Vec<Value>,
) -> Result<(), WireError> {
    values.clear();
    if count == 0 {
        return Ok(());
    }
    let mut reader = Reader::new(body);
    let nulls = reader.bytes(count.div_ceil(8), "null bitmap")?;
    if reader.u8("new-types flag")? != 0 {
        read_types(&mut reader, count, types)?;
    }
    if types.len() != count {
        return Err(WireError::Malformed("parameters without types"));
    }
    values.reserve(count);
    for (i, param) in types.iter().enumerate() {
        let is_null = nulls[i / 8] >> (i % 8) & 1 == 1;
        values.push(match long_data.get(i) {
            Some(Some(data)) => string(*param, data),
            _ if is_null => Value::Null,
            _ => value(&mut reader, *param)?,
        });
    }
    Ok(())
}

fn read_types(reader: &mut Reader<'_>, count: usize, types: &mut Vec<ParamType>) -> Result<(), WireError> {
    types.clear();
    let bytes = reader.bytes(count * 2, "parameter types")?;
    types.extend(bytes.chunks_exact(2).map(|pair| ParamType { ty: pair[0], unsigned: pair[1] & 0x80 != 0 }));
    Ok(())
}

fn value(reader: &mut Reader<'_>, param: ParamType) -> Result<Value, WireError> {
    const WHAT: &str = "a parameter";
    let whole = |signed: i64, unsigned: u64| if param.unsigned { Value::UInt(unsigned) } else { Value::Int(signed) };
    Ok(match param.ty {
        ty::NULL => Value::Null,
        ty::TINY | ty::BOOL => {
            let n = reader.u8(WHAT)?;
            whole((n as i8).into(), n.into())
        }
        ty::SHORT | ty::YEAR => {
            let n = reader.u16(WHAT)?;
            whole((n as i16).into(), n.into())
        }
        ty::LONG | ty::INT24 => {
            let n = reader.u32(WHAT)?;
            whole((n as i32).into(), n.into())
        }
        ty::LONGLONG => {
            let n = reader.u64(WHAT)?;
            whole(n as i64, n)
        }
        ty::FLOAT => Value::Float(f32::from_bits(reader.u32(WHAT)?)),
        ty::DOUBLE => Value::Double(f64::from_bits(reader.u64(WHAT)?)),
        ty::DATE | ty::NEWDATE => Value::Date(take_datetime(reader)?.date),
        ty::DATETIME | ty::TIMESTAMP => Value::DateTime(take_datetime(reader)?),
        ty::TIME => Value::Time(take_time(reader)?),
        ty::DECIMAL | ty::NEWDECIMAL => decimal(reader.lenenc_bytes(WHAT)?),
        ty::BIT | ty::JSON | ty::ENUM | ty::SET | ty::VARCHAR | ty::TINY_BLOB..=ty::GEOMETRY => {
            string(param, reader.lenenc_bytes(WHAT)?)
        }
        _ => return Err(WireError::Malformed("type of a parameter")),
    })
}

/// Text, unless the client says that it is binary or it cannot be text.
fn string(param: ParamType, data: &[u8]) -> Value {
    let says_binary = matches!(param.ty, ty::TINY_BLOB..=ty::BLOB | ty::GEOMETRY | ty::BIT);
    let bytes = Bytes::copy_from_slice(data);
    if says_binary || std::str::from_utf8(data).is_err() { Value::Bytes(bytes) } else { Value::Str(bytes) }
}

/// A decimal comes as text; what is none is left to the statement to judge.
fn decimal(data: &[u8]) -> Value {
    let text = String::from_utf8_lossy(data);
    text.parse().map_or_else(|_| Value::str(text), Value::Decimal)
}

fn take_datetime(reader: &mut Reader<'_>) -> Result<DateTime, WireError> {
    let mut parts = Reader::new(reader.short_bytes("date")?);
    let mut t = DateTime::default();
    if parts.is_empty() {
        return Ok(t);
    }
    t.date = Date::new(parts.u16("date")?, parts.u8("date")?, parts.u8("date")?);
    if !parts.is_empty() {
        [t.hour, t.minute, t.second] = parts.array("clock")?;
    }
    if !parts.is_empty() {
        t.micros = parts.u32("microseconds")?;
    }
    let in_range = t.date.year <= 9999
        && t.date.month <= 12
        && t.date.day <= 31
        && t.hour <= 23
        && t.minute <= 59
        && t.second <= 59
        && t.micros <= 999_999;
    if in_range { Ok(t) } else { Err(WireError::Malformed("date out of range")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(body: &[u8], count: usize, types: &mut Vec<ParamType>) -> Result<Vec<Value>, WireError> {
        let mut values = Vec::new();
        decode_params(body, count, types, &[], &mut values)?;
        Ok(values)
    }

    #[test]
    fn types_are_remembered() {
        let mut types = Vec::new();
        let first = [0, 1, ty::LONG, 0, ty::VAR_STRING, 0, 5, 0, 0, 0, 2, b'h', b'i'];
        assert_eq!(decode(&first, 2, &mut types), Ok(vec![Value::Int(5), Value::from("hi")]));
        let second = [0b10, 0, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(decode(&second, 2, &mut types), Ok(vec![Value::Int(-1), Value::Null]));
        assert_eq!(decode(&[0, 0], 1, &mut Vec::new()), Err(WireError::Malformed("parameters without types")));
    }

    #[test]
    fn unsigned_and_binary() {
        let mut types = Vec::new();
        let body = [0, 1, ty::TINY, 0x80, ty::BLOB, 0, 255, 1, b'x'];
        assert_eq!(decode(&body, 2, &mut types), Ok(vec![Value::UInt(255), Value::Bytes(Bytes::from_static(b"x"))]));
    }

    #[test]
    fn long_data_takes_a_place() {
        let mut values = Vec::new();
        let mut types = Vec::new();
        let body = [0, 1, ty::VAR_STRING, 0, ty::TINY, 0, 7];
        decode_params(&body, 2, &mut types, &[Some(b"long".to_vec()), None], &mut values).unwrap();
        assert_eq!(values, [Value::from("long"), Value::Int(7)]);
    }

    #[test]
    fn dates() {
        let mut types = Vec::new();
        let body = [0, 1, ty::DATETIME, 0, 11, 0xe8, 7, 1, 31, 1, 2, 3, 4, 0, 0, 0];
        let expected = DateTime::new(Date::new(2024, 1, 31), 1, 2, 3, 4);
        assert_eq!(decode(&body, 1, &mut types), Ok(vec![Value::DateTime(expected)]));
        let body = [0, 1, ty::DATE, 0, 4, 0xe8, 7, 13, 31];
        assert_eq!(decode(&body, 1, &mut types), Err(WireError::Malformed("date out of range")));
    }
}
