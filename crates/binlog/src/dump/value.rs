//! Values of row images, decoded with what a TABLE_MAP says, for people to read.

use crate::cursor::Cursor;
use crate::error::DecodeError;
use crate::event::{ColumnMeta, column_type};

/// A value as it can be shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown {
    Null,
    Int(i64),
    UInt(u64),
    Double(f64),
    /// Digits as they are: decimals and points in time.
    Number(String),
    /// Dates and times.
    Quoted(String),
    Bits(String),
    /// The numbers of a VECTOR.
    Vector(Vec<f32>),
    /// Strings and blobs.
    Bytes(Vec<u8>),
}

impl Shown {
    /// Takes the value at the front of `bytes`; says how long it is.
    pub(crate) fn decode(column: &ColumnMeta, bytes: &[u8]) -> Result<(Self, usize), DecodeError> {
        let len = column.value_len(bytes)?;
        Ok((decode(column, &bytes[..len])?, len))
    }

    /// As `mysqlbinlog` prints it.
    pub(crate) fn text(&self) -> String {
        match self {
            Shown::Null => "NULL".to_owned(),
            Shown::Int(n) => n.to_string(),
            Shown::UInt(n) => n.to_string(),
            Shown::Double(n) => n.to_string(),
            Shown::Number(digits) => digits.clone(),
            Shown::Quoted(text) => format!("'{text}'"),
            Shown::Bits(bits) => format!("b'{bits}'"),
            Shown::Vector(numbers) => {
                let texts: Vec<String> = numbers.iter().map(|&number| scientific(number)).collect();
                format!("[{}]", texts.join(","))
            }
            Shown::Bytes(bytes) => quote(bytes),
        }
    }

    /// As JSON: text if it is text, else an object with the bytes in hexadecimal.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Shown::Null => serde_json::Value::Null,
            Shown::Int(n) => (*n).into(),
            Shown::UInt(n) => (*n).into(),
            Shown::Double(n) => (*n).into(),
            Shown::Number(text) | Shown::Quoted(text) | Shown::Bits(text) => text.as_str().into(),
            Shown::Vector(numbers) => numbers.iter().copied().collect(),
            Shown::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => serde_json::json!({ "hex": hex(bytes) }),
            },
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// In quotes; what is not printable as `\x..`.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let mut text = String::from("'");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' | '\0'..='\x1f' => text.push_str(&format!("\\x{:02x}", c as u32)),
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| text.push_str(&format!("\\x{b:02x}")));
    }
    text.push('\'');
    text
}

fn decode(column: &ColumnMeta, bytes: &[u8]) -> Result<Shown, DecodeError> {
    use column_type::*;
    let mut cursor = Cursor::new(bytes, "value");
    let integer = |width: usize| -> Result<Shown, DecodeError> {
        let value = Cursor::new(bytes, "value").uint(width)?;
        if column.unsigned == Some(true) {
            return Ok(Shown::UInt(value));
        }
        let unused = 64 - 8 * width as u32;
        Ok(Shown::Int((value << unused) as i64 >> unused))
    };
    let fsp = column.meta as u8;
    Ok(match column.type_code {
        NULL => Shown::Null,
        TINY => integer(1)?,
        SHORT => integer(2)?,
        INT24 => integer(3)?,
        LONG => integer(4)?,
        LONGLONG => integer(8)?,
        YEAR => Shown::UInt(match bytes[0] {
            0 => 0,
            year => 1900 + u64::from(year),
        }),
        FLOAT => Shown::Number(f32::from_bits(cursor.u32()?).to_string()),
        DOUBLE => Shown::Double(f64::from_bits(cursor.u64()?)),
        NEWDECIMAL => Shown::Number(decimal(bytes, column.meta as u8, (column.meta >> 8) as u8)?),
        DATE | 14 => Shown::Quoted(date(cursor.uint(3)?)),
        TIMESTAMP => Shown::Number(cursor.u32()?.to_string()),
        TIMESTAMP2 => {
            let seconds = big_endian(&bytes[..4]);
            Shown::Number(format!("{seconds}{}", fraction(big_endian(&bytes[4..]), fsp)))
        }
        DATETIME2 => Shown::Quoted(datetime2(bytes, fsp)),
        TIME2 => Shown::Quoted(time2(bytes, fsp)),
        DATETIME => Shown::Quoted(datetime(cursor.u64()?)),
        TIME => Shown::Quoted(old_time(cursor.uint(3)?)),
        BIT => Shown::Bits(bits(bytes, column.meta)),
        ENUM | SET => Shown::UInt(cursor.uint(bytes.len())?),
        STRING if column.real_type().0 == SET => Shown::Bits(bytes.iter().rev().map(|b| format!("{b:08b}")).collect()),
        STRING if column.is_enum_or_set() => Shown::UInt(cursor.uint(bytes.len())?),
        STRING => Shown::Bytes(bytes[if column.real_type().1 > 255 { 2 } else { 1 }..].to_vec()),
        VARCHAR | VAR_STRING | 141 => Shown::Bytes(bytes[if column.meta > 255 { 2 } else { 1 }..].to_vec()),
        JSON => Shown::Bytes(document(&bytes[usize::from(column.meta)..])),
        VECTOR => vector(&bytes[usize::from(column.meta)..]),
        _ => Shown::Bytes(bytes[usize::from(column.meta)..].to_vec()),
    })
}

/// Numbers of four bytes each; of what is none, the bytes.
fn vector(bytes: &[u8]) -> Shown {
    let (numbers, []) = bytes.as_chunks::<4>() else { return Shown::Bytes(bytes.to_vec()) };
    Shown::Vector(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// With five digits behind the point and a sign and two digits in the exponent.
fn scientific(number: f32) -> String {
    let text = format!("{number:.5e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// The text of a JSON document; of diffs, and of what is none, the bytes.
pub(crate) fn document(bytes: &[u8]) -> Vec<u8> {
    match types::json::binary::decode(bytes) {
        Ok(json) => json.to_text().into_bytes(),
        Err(_) => bytes.to_vec(),
    }
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The digits of a fraction of a second, as stored in `(fsp + 1) / 2` bytes.
fn fraction(stored: u64, fsp: u8) -> String {
    if fsp == 0 {
        return String::new();
    }
    let digits = usize::from(fsp.div_ceil(2)) * 2;
    let text = format!("{stored:0digits$}");
    format!(".{}", &text[..usize::from(fsp).min(text.len())])
}

/// With colons, as `mysqlbinlog` has always printed it.
fn date(packed: u64) -> String {
    format!("{:04}:{:02}:{:02}", packed >> 9, packed >> 5 & 15, packed & 31)
}

fn datetime2(bytes: &[u8], fsp: u8) -> String {
    let packed = big_endian(&bytes[..5]) & 0x7f_ffff_ffff;
    let (day, time) = (packed >> 17, packed & 0x1_ffff);
    let (year_month, day) = (day >> 5, day & 31);
    format!(
        "{:04}-{:02}-{day:02} {:02}:{:02}:{:02}{}",
        year_month / 13,
        year_month % 13,
        time >> 12,
        time >> 6 & 63,
        time & 63,
        fraction(big_endian(&bytes[5..]), fsp)
    )
}

/// The sign bit is inverted, and negative times are stored as the complement of all their bytes.
fn time2(bytes: &[u8], fsp: u8) -> String {
    let bits = bytes.len() as u32 * 8;
    let offset = 1i64 << (bits - 1);
    let value = big_endian(bytes) as i64 - offset;
    let sign = if value < 0 { "-" } else { "" };
    let value = value.unsigned_abs();
    let fraction_bits = (bytes.len() as u32 - 3) * 8;
    let (time, rest) = (value >> fraction_bits, value & ((1 << fraction_bits) - 1));
    format!("{sign}{:02}:{:02}:{:02}{}", time >> 12 & 0x3ff, time >> 6 & 63, time & 63, fraction(rest, fsp))
}

fn datetime(packed: u64) -> String {
    let (date, time) = (packed / 1_000_000, packed % 1_000_000);
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        date / 10_000,
        date / 100 % 100,
        date % 100,
        time / 10_000,
        time / 100 % 100,
        time % 100
    )
}

fn old_time(packed: u64) -> String {
    format!("{:02}:{:02}:{:02}", packed / 10_000, packed / 100 % 100, packed % 100)
}

fn bits(bytes: &[u8], meta: u16) -> String {
    let count = usize::from(meta >> 8) * 8 + usize::from(meta & 0xff);
    let all: String = bytes.iter().map(|b| format!("{b:08b}")).collect();
    all[all.len().saturating_sub(count)..].to_owned()
}

/// A decimal whose precision comes from where it may be wrong.
pub(crate) fn decimal_text(bytes: &[u8], precision: u8, scale: u8) -> Result<String, DecodeError> {
    if scale > precision || precision > 65 {
        return Err(DecodeError::new(format!("DECIMAL({precision},{scale})")));
    }
    decimal(bytes, precision, scale)
}

/// Groups of nine digits in four big-endian bytes each, shorter ones in fewer; the first bit is inverted, and negative
/// numbers are the complement of all bytes.
fn decimal(bytes: &[u8], precision: u8, scale: u8) -> Result<String, DecodeError> {
    let negative = bytes.first().is_some_and(|b| b & 0x80 == 0);
    let mut plain: Vec<u8> = bytes.iter().map(|b| if negative { !b } else { *b }).collect();
    if let Some(first) = plain.first_mut() {
        *first ^= 0x80;
    }
    let mut cursor = Cursor::new(&plain, "DECIMAL");
    let mut group = |digits: u8| -> Result<String, DecodeError> {
        let bytes = cursor.take(usize::from(digits).div_ceil(2).min(4))?;
        Ok(format!("{:0width$}", big_endian(bytes), width = usize::from(digits)))
    };
    let whole = precision - scale;
    let mut digits = if !whole.is_multiple_of(9) { group(whole % 9)? } else { String::new() };
    for _ in 0..whole / 9 {
        digits.push_str(&group(9)?);
    }
    let trimmed = digits.trim_start_matches('0');
    let mut text = format!("{}{}", if negative { "-" } else { "" }, if trimmed.is_empty() { "0" } else { trimmed });
    if scale > 0 {
        text.push('.');
        for _ in 0..scale / 9 {
            text.push_str(&group(9)?);
        }
        if !scale.is_multiple_of(9) {
            text.push_str(&group(scale % 9)?);
        }
    }
    Ok(text)
}

/// The type's name in a comment, as `mysqlbinlog -vv` prints it.
pub(crate) fn type_name(column: &ColumnMeta) -> String {
    use crate::event::VARCHAR_COMPRESSED;
    use column_type::*;
    let meta = column.meta;
    match column.type_code {
        TINY => "TINYINT".to_owned(),
        SHORT => "SHORTINT".to_owned(),
        INT24 => "MEDIUMINT".to_owned(),
        LONG => "INT".to_owned(),
        LONGLONG => "LONGINT".to_owned(),
        FLOAT => "FLOAT".to_owned(),
        DOUBLE => "DOUBLE".to_owned(),
        YEAR => "YEAR".to_owned(),
        DATE | 14 => "DATE".to_owned(),
        NEWDECIMAL => format!("DECIMAL({},{})", meta & 0xff, meta >> 8),
        TIMESTAMP | TIMESTAMP2 => format!("TIMESTAMP({meta})"),
        DATETIME | DATETIME2 => format!("DATETIME({meta})"),
        TIME | TIME2 => format!("TIME({meta})"),
        BIT => format!("BIT({})", (meta >> 8) * 8 + (meta & 0xff)),
        STRING => match column.real_type() {
            (ENUM, 1) => "ENUM(1 byte)".to_owned(),
            (ENUM, bytes) => format!("ENUM({bytes} bytes)"),
            (SET, bytes) => format!("SET({bytes} bytes)"),
            (_, len) => format!("STRING({len})"),
        },
        VARCHAR | VAR_STRING => format!("VARSTRING({meta})"),
        JSON => "JSON".to_owned(),
        GEOMETRY => "GEOMETRY".to_owned(),
        VECTOR => match column.vector_dimensions {
            Some(dimensions) => format!("VECTOR({dimensions})"),
            None => "VECTOR".to_owned(),
        },
        VARCHAR_COMPRESSED => format!("VARSTRING({meta}) COMPRESSED"),
        _ => match meta {
            1 => "TINYBLOB/TINYTEXT".to_owned(),
            2 => "BLOB/TEXT".to_owned(),
            3 => "MEDIUMBLOB/MEDIUMTEXT".to_owned(),
            _ => "LONGBLOB/LONGTEXT".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(type_code: u8, meta: u16, bytes: &[u8]) -> String {
        let column = ColumnMeta { type_code, meta, ..ColumnMeta::default() };
        let (value, len) = Shown::decode(&column, bytes).unwrap();
        assert_eq!(len, bytes.len());
        value.text()
    }

    #[test]
    fn numbers() {
        use column_type::*;
        assert_eq!(shown(TINY, 0, &[0xff]), "-1");
        assert_eq!(shown(INT24, 0, &[0xff, 0xff, 0x7f]), "8388607");
        assert_eq!(shown(LONGLONG, 0, &[0; 8]), "0");
        assert_eq!(shown(YEAR, 0, &[126]), "2026");
        assert_eq!(shown(BIT, 0x0102, &[0b10, 0b1]), "b'1000000001'");
        // The example of MySQL's manual: DECIMAL(14,4), 1234567890.1234.
        let bytes = [0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2];
        assert_eq!(shown(NEWDECIMAL, 14 | 4 << 8, &bytes), "1234567890.1234");
        let negative: Vec<u8> = bytes.iter().map(|b| !b).collect();
        assert_eq!(shown(NEWDECIMAL, 14 | 4 << 8, &negative), "-1234567890.1234");
    }

    #[test]
    fn times() {
        use column_type::*;
        assert_eq!(shown(DATE, 0, &[0x74, 0xd5, 0x0f]), "'2026:11:20'");
        assert_eq!(shown(TIME2, 0, &[0x80, 0xc8, 0xb2]), "'12:34:50'");
        assert_eq!(shown(TIME2, 0, &[0x7f, 0xff, 0xff]), "'-00:00:01'");
        assert_eq!(shown(TIMESTAMP2, 3, &[0x65, 0x53, 0xf1, 0x00, 0x04, 0xce]), "1700000000.123");
        assert_eq!(shown(VARCHAR, 20, b"\x05it's\n"), "'it\\x27s\\x0a'");
        let numbers: Vec<u8> = [1.0f32, -3.5, 1e-20, 0.0].iter().flat_map(|number| number.to_le_bytes()).collect();
        let vector = [&[16, 0, 0, 0], &numbers[..]].concat();
        assert_eq!(shown(VECTOR, 4, &vector), "[1.00000e+00,-3.50000e+00,1.00000e-20,0.00000e+00]");
    }
}
