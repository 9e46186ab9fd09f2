//! The zero of each type.

use bytes::Bytes;
use types::column::no_member;
use types::decimal::Rounding;
use types::{ColumnDef, ColumnType, Value};

/// The zero of a column's type: what a NOT NULL column without DEFAULT gets outside strict mode.
pub(crate) fn implicit_default(column: &ColumnDef) -> Value {
    use ColumnType::*;
    match &column.ty {
        Float { .. } => Value::Float(0.0),
        Double { .. } => Value::Double(0.0),
        Decimal { scale, .. } => {
            Value::Decimal(types::Decimal::ZERO.rounded(*scale, Rounding::Truncate).unwrap_or_default())
        }
        Char { .. } | VarChar { .. } | Text { .. } | Set { .. } => Value::Str(Bytes::new()),
        Binary { bytes } => Value::Bytes(vec![0; *bytes as usize].into()),
        VarBinary { .. } | Blob { .. } => Value::Bytes(Bytes::new()),
        Date => Value::Date(types::Date::ZERO),
        Time { .. } => Value::Time(types::Time::default()),
        DateTime { .. } | Timestamp { .. } => Value::DateTime(types::DateTime::ZERO),
        Year | Bit { .. } => Value::UInt(0),
        // No bytes at all, which are `null`.
        Json => Value::Json(Bytes::new()),
        Enum { members } => members.first().map_or(Value::Str(Bytes::new()), |first| Value::from(first.as_str())),
        integer if integer.is_unsigned() => Value::UInt(0),
        _ => Value::Int(0),
    }
}

/// What stands for a NULL in a column that takes none. Of an ENUM it is no member at all, unlike a value that was not given.
pub(crate) fn zero_for_null(column: &ColumnDef) -> Value {
    match &column.ty {
        ColumnType::Enum { members } => no_member(members),
        _ => implicit_default(column),
    }
}
