//! Rows of a result set, as text and as binary.
//!
//! A text row is a length-encoded string per column, 0xfb for NULL. A binary row is a zero byte, a null bitmap that
//! begins at bit 2, and a value per column that is not NULL in its column's type. A value must fit its column's
//! type; whole numbers fit every number, and everything fits a string.

use types::{Date, Time, Value};

use crate::WireError;
use crate::codec::{Put, Reader};
use crate::flags::column_type as ty;

/// What a row's encoder needs to know of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Of [`crate::flags::column_type`].
    pub ty: u8,
    /// Digits after the point; 31 for "not fixed".
    pub decimals: u8,
    /// Display width; for BIT the number of bits.
    pub length: u32,
    /// Numbers as text have zeros in front up to their display width.
    pub zerofill: bool,
}

impl Field {
    /// Up to how many digits numbers as text get zeros in front.
    fn zeros_up_to(&self) -> usize {
        if self.zerofill { self.length as usize } else { 0 }
    }
}

const NULL: u8 = 0xfb;
/// The longest length that is one byte.
const SHORT_MAX: usize = 0xfa;
/// Null bits of a binary row begin here.
const ROW_NULL_BITS_START: usize = 2;

/// Appends the payload of a text row.
pub fn encode_text(out: &mut Vec<u8>, fields: &[Field], row: &[Value]) {
    debug_assert_eq!(fields.len(), row.len());
    for (field, value) in fields.iter().zip(row) {
        match value {
            Value::Null => out.push(NULL),
            Value::Str(bytes) | Value::Bytes(bytes) => out.put_lenenc_bytes(bytes),
            Value::UInt(n) if field.ty == ty::BIT => put_bits(out, *n, field.length),
            other => put_text(out, other, *field),
        }
    }
}

/// The value's text behind its length, which is nearly always one byte.
fn put_text(out: &mut Vec<u8>, value: &Value, field: Field) {
    let at = out.len();
    out.push(0);
    value.write_text(field.decimals, out);
    let zeros = field.zeros_up_to().saturating_sub(out.len() - at - 1);
    out.splice(at + 1..at + 1, std::iter::repeat_n(b'0', zeros));
    let len = out.len() - at - 1;
    if len <= SHORT_MAX {
        out[at] = len as u8;
        return;
    }
    let long = out.split_off(at + 1);
    out.truncate(at);
    out.put_lenenc_bytes(&long);
}

/// A BIT value: big-endian, in as few bytes as its column needs.
fn put_bits(out: &mut Vec<u8>, n: u64, bits: u32) {
    let bytes = (bits.clamp(1, 64) as usize).div_ceil(8);
    out.put_lenenc_bytes(&n.to_be_bytes()[8 - bytes..]);
}

/// Appends the payload of a binary row.
pub fn encode_binary(out: &mut Vec<u8>, fields: &[Field], row: &[Value]) -> Result<(), WireError> {
    debug_assert_eq!(fields.len(), row.len());
    out.push(0);
    let bitmap = out.len();
    out.resize(bitmap + (row.len() + ROW_NULL_BITS_START).div_ceil(8), 0);
    for (i, (field, value)) in fields.iter().zip(row).enumerate() {
        if value.is_null() {
            let bit = i + ROW_NULL_BITS_START;
            out[bitmap + bit / 8] |= 1 << (bit % 8);
        } else {
            put_binary(out, *field, value)?;
        }
    }
    Ok(())
}

fn put_binary(out: &mut Vec<u8>, field: Field, value: &Value) -> Result<(), WireError> {
    match field.ty {
        ty::TINY | ty::BOOL => out.push(whole(value)? as u8),
        ty::SHORT | ty::YEAR => out.put_u16(whole(value)? as u16),
        ty::LONG | ty::INT24 => out.put_u32(whole(value)? as u32),
        ty::LONGLONG => out.put_u64(whole(value)?),
        ty::FLOAT => out.extend_from_slice(&(float(value)? as f32).to_le_bytes()),
        ty::DOUBLE => out.extend_from_slice(&float(value)?.to_le_bytes()),
        ty::DATE | ty::NEWDATE | ty::DATETIME | ty::TIMESTAMP => put_datetime(out, value)?,
        ty::TIME => put_time(out, value)?,
        ty::BIT => put_bits(out, whole(value)?, field.length),
        _ => match value {
            Value::Str(bytes) | Value::Bytes(bytes) => out.put_lenenc_bytes(bytes),
            other => put_text(out, other, field),
        },
    }
    Ok(())
}

const MISFIT: WireError = WireError::Malformed("a value that is not of its column's type");

fn whole(value: &Value) -> Result<u64, WireError> {
    match value {
        Value::Int(n) => Ok(*n as u64),
        Value::UInt(n) => Ok(*n),
        _ => Err(MISFIT),
    }
}

fn float(value: &Value) -> Result<f64, WireError> {
    match value {
        Value::Double(n) => Ok(*n),
        Value::Float(n) => Ok(f64::from(*n)),
        Value::Int(n) => Ok(*n as f64),
        Value::UInt(n) => Ok(*n as f64),
        _ => Err(MISFIT),
    }
}

/// Length (0, 4, 7 or 11 bytes: trailing zero parts are left out), then the parts.
fn put_datetime(out: &mut Vec<u8>, value: &Value) -> Result<(), WireError> {
    let put_date = |out: &mut Vec<u8>, date: Date| {
        out.put_u16(date.year);
        out.extend_from_slice(&[date.month, date.day]);
    };
    match value {
        Value::Date(date) if *date == Date::default() => out.push(0),
        Value::Date(date) => {
            out.push(4);
            put_date(out, *date);
        }
        Value::DateTime(t) => {
            let clock = [t.hour, t.minute, t.second];
            let len = match (t.date, clock, t.micros) {
                (date, [0, 0, 0], 0) if date == Date::default() => 0,
                (_, [0, 0, 0], 0) => 4,
                (_, _, 0) => 7,
                _ => 11,
            };
            out.push(len);
            if len >= 4 {
                put_date(out, t.date);
            }
            if len >= 7 {
                out.extend_from_slice(&clock);
            }
            if len == 11 {
                out.put_u32(t.micros);
            }
        }
        _ => return Err(MISFIT),
    }
    Ok(())
}

const SECOND: u64 = 1_000_000;

/// Length (0, 8 or 12 bytes), sign, days, clock, microseconds.
fn put_time(out: &mut Vec<u8>, value: &Value) -> Result<(), WireError> {
    let Value::Time(time) = value else {
        return Err(MISFIT);
    };
    let (seconds, micros) = (time.micros().unsigned_abs() / SECOND, time.micros().unsigned_abs() % SECOND);
    let len = match (seconds, micros) {
        (0, 0) => 0,
        (_, 0) => 8,
        _ => 12,
    };
    out.push(len);
    if len >= 8 {
        out.push(u8::from(time.micros() < 0));
        out.put_u32((seconds / 86400) as u32);
        out.extend_from_slice(&[(seconds / 3600 % 24) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8]);
    }
    if len == 12 {
        out.put_u32(micros as u32);
    }
    Ok(())
}

/// Reads a `TIME` as [`put_time`] writes it.
pub(crate) fn take_time(reader: &mut Reader<'_>) -> Result<Time, WireError> {
    let mut parts = Reader::new(reader.short_bytes("TIME")?);
    if parts.is_empty() {
        return Ok(Time::from_micros(0));
    }
    let negative = parts.u8("TIME's sign")? != 0;
    let days = u64::from(parts.u32("TIME's days")?);
    let [hour, minute, second] = parts.array("TIME's clock")?.map(u64::from);
    let micros = if parts.is_empty() { 0 } else { parts.u32("TIME's microseconds")? };
    if days > 34 || hour > 23 || minute > 59 || second > 59 || u64::from(micros) >= SECOND {
        return Err(WireError::Malformed("TIME out of range"));
    }
    let total = (((days * 24 + hour) * 60 + minute) * 60 + second) * SECOND + u64::from(micros);
    Ok(Time::from_micros(if negative { -(total as i64) } else { total as i64 }))
}

/// Reads a text row: per column its bytes, `None` for NULL.
pub fn decode_text(packet: &[u8], columns: usize) -> Result<Vec<Option<&[u8]>>, WireError> {
    let mut reader = Reader::new(packet);
    let mut row = Vec::with_capacity(columns.min(packet.len()));
    for _ in 0..columns {
        if reader.rest().first() == Some(&NULL) {
            reader.u8("NULL")?;
            row.push(None);
        } else {
            row.push(Some(reader.lenenc_bytes("a value")?));
        }
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::DateTime;

    fn field(ty: u8) -> Field {
        Field { ty, decimals: 0, length: 11, zerofill: false }
    }

    #[test]
    fn text_row() {
        let fields = [field(ty::LONG), field(ty::VAR_STRING), field(ty::LONG), field(ty::BIT)];
        let row = [Value::Int(-42), Value::from("häß"), Value::Null, Value::UInt(0x0301)];
        let mut packet = Vec::new();
        encode_text(&mut packet, &fields, &row);
        assert_eq!(decode_text(&packet, 4).unwrap(), [Some(&b"-42"[..]), Some("häß".as_bytes()), None, Some(&[3, 1])]);
    }

    #[test]
    fn binary_row() {
        let fields = [field(ty::LONGLONG), field(ty::TINY), field(ty::VAR_STRING), field(ty::DOUBLE)];
        let row = [Value::Int(-2), Value::Null, Value::Int(12), Value::Int(3)];
        let mut packet = Vec::new();
        encode_binary(&mut packet, &fields, &row).unwrap();
        let mut expected = vec![0, 0b1000];
        expected.extend_from_slice(&(-2i64).to_le_bytes());
        expected.extend_from_slice(b"\x0212");
        expected.extend_from_slice(&3f64.to_le_bytes());
        assert_eq!(packet, expected);
        assert_eq!(encode_binary(&mut packet, &[field(ty::LONG)], &[Value::from("x")]), Err(MISFIT));
    }

    #[test]
    fn temporal_values_leave_out_zero_parts() {
        let encode = |ty: u8, value: Value| {
            let mut out = Vec::new();
            put_binary(&mut out, field(ty), &value).unwrap();
            out
        };
        let day = Date::new(2024, 1, 31);
        assert_eq!(encode(ty::DATE, Value::Date(day)), [4, 0xe8, 7, 1, 31]);
        assert_eq!(encode(ty::DATETIME, Value::DateTime(DateTime::default())), [0]);
        assert_eq!(encode(ty::DATETIME, Value::DateTime(DateTime::new(day, 0, 0, 0, 0))), [4, 0xe8, 7, 1, 31]);
        assert_eq!(
            encode(ty::DATETIME, Value::DateTime(DateTime::new(day, 1, 2, 3, 4))),
            [11, 0xe8, 7, 1, 31, 1, 2, 3, 4, 0, 0, 0]
        );
        for micros in [0, 1_000_000, -3_661_000_001, 90_061_000_000] {
            let time = Time::from_micros(micros);
            let bytes = encode(ty::TIME, Value::Time(time));
            assert_eq!(take_time(&mut Reader::new(&bytes)), Ok(time));
        }
    }
}
