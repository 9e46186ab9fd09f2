//! Rows as bytes, for temporary files. The format lives no longer than the statement.
//!
//! ```text
//!   row     values, one after the other
//!   value   kind: 1 byte, then
//!             0 NULL | 1 INT i64 | 2 UINT u64 | 3 FLOAT u32 bits | 4 DOUBLE u64 bits | 5 DECIMAL text
//!             6 text | 7 binary | 8 DATE year u16, month, day | 9 TIME i64 micros | 10 DATETIME date, h, m, s, u32 micros
//!             11 JSON, binary
//!   text    length u32, bytes            all numbers little-endian
//! ```

use base::SqlError;
use bytes::Bytes;
use types::{Date, DateTime, Decimal, Time, Value};

/// Appends a row.
pub(crate) fn encode_row(row: &[Value], out: &mut Vec<u8>) {
    for value in row {
        encode_value(value, out);
    }
}

fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0),
        Value::Int(n) => put(1, &n.to_le_bytes(), out),
        Value::UInt(n) => put(2, &n.to_le_bytes(), out),
        Value::Float(n) => put(3, &n.to_bits().to_le_bytes(), out),
        Value::Double(n) => put(4, &n.to_bits().to_le_bytes(), out),
        Value::Decimal(n) => {
            let mut text = Vec::with_capacity(24);
            n.write_text(&mut text);
            put_text(5, &text, out);
        }
        Value::Str(bytes) => put_text(6, bytes, out),
        Value::Bytes(bytes) => put_text(7, bytes, out),
        Value::Json(binary) => put_text(11, binary, out),
        Value::Date(date) => put_date(8, *date, out),
        Value::Time(time) => put(9, &time.micros().to_le_bytes(), out),
        Value::DateTime(time) => {
            put_date(10, time.date, out);
            out.extend_from_slice(&[time.hour, time.minute, time.second]);
            out.extend_from_slice(&time.micros.to_le_bytes());
        }
    }
}

fn put(kind: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(payload);
}

fn put_text(kind: u8, text: &[u8], out: &mut Vec<u8>) {
    put(kind, &(text.len() as u32).to_le_bytes(), out);
    out.extend_from_slice(text);
}

fn put_date(kind: u8, date: Date, out: &mut Vec<u8>) {
    put(kind, &date.year.to_le_bytes(), out);
    out.extend_from_slice(&[date.month, date.day]);
}

/// Reads rows out of the bytes of a temporary file.
pub(crate) struct RowReader<'a> {
    bytes: &'a Bytes,
    at: usize,
}

impl<'a> RowReader<'a> {
    /// Reads from the start of `bytes`; strings of the rows are slices of it.
    pub(crate) fn new(bytes: &'a Bytes) -> Self {
        RowReader { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Appends the next `width` values.
    pub(crate) fn row(&mut self, width: usize, out: &mut Vec<Value>) -> Result<(), SqlError> {
        for _ in 0..width {
            out.push(self.value()?);
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value, SqlError> {
        Ok(match self.take::<1>()?[0] {
            0 => Value::Null,
            1 => Value::Int(i64::from_le_bytes(self.take()?)),
            2 => Value::UInt(u64::from_le_bytes(self.take()?)),
            3 => Value::Float(f32::from_bits(u32::from_le_bytes(self.take()?))),
            4 => Value::Double(f64::from_bits(u64::from_le_bytes(self.take()?))),
            5 => Value::Decimal(self.decimal()?),
            6 => Value::Str(self.text()?),
            7 => Value::Bytes(self.text()?),
            8 => Value::Date(self.date()?),
            9 => Value::Time(Time::from_micros(i64::from_le_bytes(self.take()?))),
            10 => {
                let date = self.date()?;
                let [hour, minute, second] = self.take()?;
                Value::DateTime(DateTime::new(date, hour, minute, second, u32::from_le_bytes(self.take()?)))
            }
            11 => Value::Json(self.text()?),
            _ => return Err(damaged()),
        })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], SqlError> {
        let bytes = self.bytes.get(self.at..self.at + N).ok_or_else(damaged)?;
        self.at += N;
        bytes.try_into().map_err(|_| damaged())
    }

    fn text(&mut self) -> Result<Bytes, SqlError> {
        let length = u32::from_le_bytes(self.take()?) as usize;
        if self.bytes.len() - self.at < length {
            return Err(damaged());
        }
        self.at += length;
        Ok(self.bytes.slice(self.at - length..self.at))
    }

    fn decimal(&mut self) -> Result<Decimal, SqlError> {
        let text = self.text()?;
        std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).ok_or_else(damaged)
    }

    fn date(&mut self) -> Result<Date, SqlError> {
        let year = u16::from_le_bytes(self.take()?);
        let [month, day] = self.take()?;
        Ok(Date::new(year, month, day))
    }
}

fn damaged() -> SqlError {
    SqlError::new(base::codes::ERROR_ON_READ, "Error reading a temporary file: its bytes are not what was written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back() {
        let row = vec![
            Value::Null,
            Value::Int(-7),
            Value::UInt(u64::MAX),
            Value::Float(0.5),
            Value::Double(-2.25),
            Value::Decimal("-12.50".parse().unwrap()),
            Value::from("grün"),
            Value::Bytes(Bytes::from_static(&[0, 1, 255])),
            Value::Date(Date::new(2024, 2, 29)),
            Value::Time(Time::from_micros(-5)),
            Value::DateTime(DateTime::new(Date::new(2024, 2, 29), 23, 59, 58, 999_999)),
        ];
        let mut bytes = Vec::new();
        encode_row(&row, &mut bytes);
        encode_row(&row[..2], &mut bytes);
        let bytes = Bytes::from(bytes);
        let mut reader = RowReader::new(&bytes);
        let mut back = Vec::new();
        reader.row(row.len(), &mut back).unwrap();
        assert_eq!(back, row);
        reader.row(2, &mut back).unwrap();
        assert_eq!(back[row.len()..], row[..2]);
        assert!(reader.row(1, &mut back).is_err(), "the end is an error, not a panic");
    }
}
