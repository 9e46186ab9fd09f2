//! The column that holds an expression's values: of a table that CREATE TABLE … SELECT makes, or of a result.

use types::value::NOT_FIXED;
use types::{BlobSize, CollationId, ColumnDef, ColumnType};

use super::types::{ExprType, Kind, Strings};

impl ExprType {
    /// The type from which a result column's metadata comes. NULL is `binary(0)` there.
    pub fn to_column_type(&self) -> ColumnType {
        if let Some(origin) = &self.origin {
            return origin.clone();
        }
        match self.kind {
            Kind::Null => ColumnType::Binary { bytes: 0 },
            Kind::Int => ColumnType::BigInt { unsigned: false },
            Kind::UInt => ColumnType::BigInt { unsigned: true },
            Kind::Float => ColumnType::Float { unsigned: false },
            Kind::Double => ColumnType::Double { unsigned: false },
            Kind::Decimal => {
                ColumnType::Decimal { precision: self.length.clamp(1, 65) as u8, scale: self.decimals, unsigned: false }
            }
            Kind::Str | Kind::Any => match self.length {
                0..=VARCHAR_CHARS_MAX => ColumnType::VarChar { chars: self.length },
                _ => ColumnType::Text { size: self.blob_size() },
            },
            Kind::Bytes => match self.length {
                0..=VARBINARY_BYTES_MAX => ColumnType::VarBinary { bytes: self.length },
                _ => ColumnType::Blob { size: self.blob_size() },
            },
            Kind::Date => ColumnType::Date,
            Kind::Time => ColumnType::Time { fsp: self.decimals },
            Kind::DateTime => ColumnType::DateTime { fsp: self.decimals },
            Kind::Json => ColumnType::Json,
        }
    }

    /// The type of a table's column. As in MySQL it is an INT where what is computed has few enough digits, though the protocol describes a BIGINT; and a
    /// TEXT or BLOB, which takes next to nothing of a row's length, where a string may have more than 512 characters.
    fn to_stored_type(&self) -> ColumnType {
        if self.origin.is_some() {
            return self.to_column_type();
        }
        match self.kind {
            Kind::Int | Kind::UInt if self.length <= INT_CHARS_MAX => {
                ColumnType::Int { unsigned: self.kind == Kind::UInt }
            }
            Kind::Null => ColumnType::VarBinary { bytes: 0 },
            Kind::Str | Kind::Any | Kind::Bytes => {
                let is_of_blobs = self.strings == Strings::Blob || self.byte_length() > VARBINARY_BYTES_MAX;
                match self.length {
                    _ if is_of_blobs => self.to_blob(BlobSize::Long),
                    0..=SHORT_CHARS_MAX => self.to_column_type(),
                    _ => self.to_blob(BlobSize::Normal),
                }
            }
            _ => self.to_column_type(),
        }
    }

    /// A column of this type: for CREATE TABLE … SELECT.
    pub fn to_column(&self, name: &str) -> ColumnDef {
        let mut column = ColumnDef::new(name, self.to_stored_type());
        column.nullable = self.nullable;
        column.collation = if column.ty.has_charset() { self.collation } else { CollationId::BINARY };
        column.zerofill = self.zeros().is_some() && column.ty != ColumnType::Year;
        let truth = self.origin == Some(ColumnType::TinyInt { unsigned: false }) && self.length == 1;
        if matches!(self.kind, Kind::Float | Kind::Double) && self.decimals < NOT_FIXED {
            column.float_digits = Some((u8::try_from(self.length).unwrap_or(u8::MAX), self.decimals));
        }
        if column.ty.integer().is_some() && (column.zerofill || truth) {
            column.display_width = u8::try_from(self.length).ok();
        }
        column
    }

    /// The type of a string in a column of a UNION, which is that of a table in MySQL: a TEXT or BLOB of its size if one of what it holds is one or it
    /// may have more than 512 characters; a CHAR if all that it holds is of fixed length.
    pub(crate) fn in_column_of_union(self) -> ExprType {
        let is_long = self.strings() == Strings::Blob || self.length > SHORT_CHARS_MAX;
        let origin = match (self.kind, self.strings()) {
            (Kind::Str | Kind::Bytes, _) if is_long => Some(self.to_blob(self.blob_size())),
            (Kind::Str, Strings::Fixed) if self.length <= CHAR_CHARS_MAX && self.origin.is_none() => {
                Some(ColumnType::Char { chars: self.length })
            }
            _ => self.origin.clone(),
        };
        ExprType { origin, ..self }
    }

    fn to_blob(&self, size: BlobSize) -> ColumnType {
        if self.kind == Kind::Bytes { ColumnType::Blob { size } } else { ColumnType::Text { size } }
    }

    /// The smallest TEXT or BLOB that holds it.
    fn blob_size(&self) -> BlobSize {
        use BlobSize::*;
        let bytes = self.byte_length();
        [Tiny, Normal, Medium].into_iter().find(|size| bytes <= size.max_bytes()).unwrap_or(Long)
    }
}

/// The most characters of a VARCHAR, and bytes of a VARBINARY, of which a result may be.
const VARCHAR_CHARS_MAX: u32 = 16_383;
pub(crate) const VARBINARY_BYTES_MAX: u32 = 65_535;

/// The most characters of a string of which a table gets a VARCHAR or VARBINARY.
const SHORT_CHARS_MAX: u32 = 512;

/// The most characters of a CHAR.
const CHAR_CHARS_MAX: u32 = 255;

/// The most characters, with the sign, of a number of which CREATE TABLE … SELECT makes an INT.
const INT_CHARS_MAX: u32 = 11;
