//! What TABLE_MAP says of a column: type byte, metadata bytes, and the facts for the optional metadata.

use crate::column_type::ColumnType;
use crate::schema::ColumnDef;

/// MySQL's numbers for types, as the protocol and the binary log use them.
#[allow(missing_docs, reason = "MySQL's own names")]
pub mod type_code {
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const NEWDATE: u8 = 14;
    pub const VARCHAR: u8 = 15;
    pub const BIT: u8 = 16;
    pub const TIMESTAMP2: u8 = 17;
    pub const DATETIME2: u8 = 18;
    pub const TIME2: u8 = 19;
    pub const BOOL: u8 = 244;
    /// VECTOR of MySQL 9, which no table has here.
    pub const VECTOR: u8 = 242;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const TINY_BLOB: u8 = 249;
    pub const MEDIUM_BLOB: u8 = 250;
    pub const LONG_BLOB: u8 = 251;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
    pub const GEOMETRY: u8 = 255;
}

/// The type byte of a column in TABLE_MAP. CHAR, BINARY, ENUM and SET are all STRING there; the metadata says which.
pub fn type_byte(column: &ColumnDef) -> u8 {
    match &column.ty {
        ColumnType::TinyInt { .. } => type_code::TINY,
        ColumnType::SmallInt { .. } => type_code::SHORT,
        ColumnType::MediumInt { .. } => type_code::INT24,
        ColumnType::Int { .. } => type_code::LONG,
        ColumnType::BigInt { .. } => type_code::LONGLONG,
        ColumnType::Float { .. } => type_code::FLOAT,
        ColumnType::Double { .. } => type_code::DOUBLE,
        ColumnType::Decimal { .. } => type_code::NEWDECIMAL,
        ColumnType::VarChar { .. } | ColumnType::VarBinary { .. } => type_code::VARCHAR,
        ColumnType::Char { .. } | ColumnType::Binary { .. } | ColumnType::Enum { .. } | ColumnType::Set { .. } => {
            type_code::STRING
        }
        ColumnType::Text { .. } | ColumnType::Blob { .. } => type_code::BLOB,
        ColumnType::Date => type_code::DATE,
        ColumnType::Time { .. } => type_code::TIME2,
        ColumnType::DateTime { .. } => type_code::DATETIME2,
        ColumnType::Timestamp { .. } => type_code::TIMESTAMP2,
        ColumnType::Year => type_code::YEAR,
        ColumnType::Bit { .. } => type_code::BIT,
        ColumnType::Json => type_code::JSON,
    }
}

/// Appends the metadata bytes of a column in TABLE_MAP.
pub fn metadata(column: &ColumnDef, out: &mut Vec<u8>) {
    let max_bytes = column.max_bytes();
    match &column.ty {
        ColumnType::Float { .. } => out.push(4),
        ColumnType::Double { .. } => out.push(8),
        ColumnType::Decimal { precision, scale, .. } => out.extend_from_slice(&[*precision, *scale]),
        ColumnType::VarChar { .. } | ColumnType::VarBinary { .. } => {
            out.extend_from_slice(&(max_bytes as u16).to_le_bytes());
        }
        // The upper two bits of a length of up to 1023 are hidden, inverted, in the type.
        ColumnType::Char { .. } | ColumnType::Binary { .. } => {
            let hidden = (max_bytes >> 4) as u8 & 0x30;
            out.extend_from_slice(&[type_code::STRING ^ hidden, max_bytes as u8]);
        }
        ColumnType::Enum { .. } => out.extend_from_slice(&[type_code::ENUM, pack_length(column)]),
        ColumnType::Set { .. } => out.extend_from_slice(&[type_code::SET, pack_length(column)]),
        ColumnType::Text { size } | ColumnType::Blob { size } => out.push(size.length_bytes() as u8),
        ColumnType::Json => out.push(4),
        ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => out.push(*fsp),
        ColumnType::Bit { bits } => out.extend_from_slice(&[bits % 8, bits / 8]),
        _ => {}
    }
}

fn pack_length(column: &ColumnDef) -> u8 {
    column.ty.pack_length().unwrap_or(0) as u8
}

/// Whether the column counts in the SIGNEDNESS bitmap (numeric types), and its bit: whether it is unsigned.
pub fn signedness(column: &ColumnDef) -> Option<bool> {
    let counts = column.ty.is_numeric() || column.ty == ColumnType::Year;
    counts.then(|| column.ty.is_unsigned())
}

/// What the optional metadata lists of a column's strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharsetGroup {
    /// In DEFAULT_CHARSET or COLUMN_CHARSET: CHAR, VARCHAR, TEXT and their binary kin.
    Character,
    /// In ENUM_AND_SET_DEFAULT_CHARSET or ENUM_AND_SET_COLUMN_CHARSET.
    EnumOrSet,
}

/// In which list of collations the column counts, if in any.
pub fn charset_group(column: &ColumnDef) -> Option<CharsetGroup> {
    match &column.ty {
        ColumnType::Enum { .. } | ColumnType::Set { .. } => Some(CharsetGroup::EnumOrSet),
        ty if ty.is_string() => Some(CharsetGroup::Character),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collation::CollationId;

    fn bytes(ty: ColumnType) -> (u8, Vec<u8>) {
        let column = ColumnDef::new("c", ty);
        let mut out = Vec::new();
        metadata(&column, &mut out);
        (type_byte(&column), out)
    }

    /// As MySQL writes them.
    #[test]
    fn known_metadata() {
        assert_eq!(bytes(ColumnType::Char { chars: 120 }), (254, vec![0xee, 0xe0]));
        assert_eq!(bytes(ColumnType::Char { chars: 10 }), (254, vec![0xfe, 40]));
        assert_eq!(bytes(ColumnType::VarChar { chars: 100 }), (15, vec![0x90, 1]));
        assert_eq!(bytes(ColumnType::Decimal { precision: 14, scale: 4, unsigned: false }), (246, vec![14, 4]));
        assert_eq!(bytes(ColumnType::Bit { bits: 11 }), (16, vec![3, 1]));
        assert_eq!(bytes(ColumnType::DateTime { fsp: 3 }), (18, vec![3]));
        assert_eq!(bytes(ColumnType::Enum { members: vec!["a".to_string()].into() }), (254, vec![247, 1]));
        let mut latin1 = ColumnDef::new("c", ColumnType::Char { chars: 255 });
        latin1.collation = CollationId::LATIN1_SWEDISH_CI;
        let mut out = Vec::new();
        metadata(&latin1, &mut out);
        assert_eq!(out, [0xfe, 255]);
    }
}
