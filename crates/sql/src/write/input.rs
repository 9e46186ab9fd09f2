//! What is done to an expression while a statement is planned because its value goes into a column.

use types::{CollationId, ColumnDef, ColumnType, Value};

use crate::expr::copied::Copied;
use crate::expr::{Expr, ExprKind, Kind, build, function};

/// A value on its way to a column: `0x41` is a number for one of numbers, text in latin1 is its bytes for one of bytes, and text of no
/// character set (SET NAMES binary) the bytes of the column's own.
pub(crate) fn for_column(value: Expr, column: &ColumnDef) -> Expr {
    match &value.kind {
        ExprKind::Literal(_) if takes_numbers(column) => build::numeric_arg(value),
        ExprKind::Literal(Value::Str(text)) if value.ty.collation == CollationId::BINARY && column.ty.is_string() => {
            build::bytes_literal(text.to_vec())
        }
        ExprKind::Literal(Value::Double(_)) => copied(value, column),
        ExprKind::Literal(_) if column.ty.is_binary() => build::as_bytes(value),
        ExprKind::Literal(_) => value,
        // A parameter may be text, which has other bytes in the client's character set.
        _ if value.ty.kind == Kind::Any && column.ty.is_binary() => build::cast_to_bytes(value),
        _ => copied(value, column),
    }
}

fn copied(value: Expr, column: &ColumnDef) -> Expr {
    match Copied::by_dml(&value.ty, &column.ty, value.as_column().is_some()) {
        None | Some(Copied::Member { .. }) => value,
        Some(Copied::Bytes(_)) => build::as_bytes(value),
        Some(_) => function::copied(value, &column.ty),
    }
}

/// Whether a bit or hexadecimal literal is a number for it. A BIT takes its bytes, which are the same.
pub(crate) fn takes_numbers(column: &ColumnDef) -> bool {
    column.ty.is_numeric() || column.ty == ColumnType::Year
}

/// What digits are, if it is an integer far from any end.
pub(crate) fn short_integer(digits: &[u8]) -> Option<i64> {
    const SHORT: usize = 18;
    let is_short = (1..=SHORT).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    is_short.then(|| digits.iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0')))
}
