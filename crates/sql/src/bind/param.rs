//! What the answer to PREPARE says of parameters: the type that a parameter's place asks for, as MySQL describes it. It is a column's where the
//! parameter is assigned to one, and that of what it stands beside in a comparison or in arithmetic. Drivers choose by it in which form they send
//! a value: Connector/J sends a number beyond BIGINT as an unsigned one only where the parameter is said to be unsigned.

use std::collections::BTreeMap;

use types::{CollationId, ColumnType};

use super::Binder;
use crate::expr::{Expr, ExprKind, ExprType, Kind};
use crate::result::{FieldFlags, FieldType, ResultColumn};

impl Binder<'_> {
    /// Notes whether the type of a value that is stored depends on parameters that are within it: on whether they are text or bytes.
    pub(crate) fn note_params(&mut self, value: &Expr) {
        self.types_params |= !matches!(value.kind, ExprKind::Param(_)) && value.has_param();
    }

    /// Notes what a parameter is for, if the expression is one. The first place counts.
    pub(crate) fn describe_param(&mut self, expr: &Expr, ty: &ExprType) {
        if let ExprKind::Param(number) = expr.kind
            && ty.kind != Kind::Any
        {
            self.params.entry(number).or_insert_with(|| ty.clone());
        }
    }

    /// The same of two that are compared.
    pub(crate) fn describe_compared(&mut self, left: &Expr, right: &Expr) {
        self.describe_param(left, &right.ty);
        self.describe_param(right, &left.ty);
    }
}

/// How parameters are described, so many of them: one of which nothing is known is a text.
pub(crate) fn columns(count: usize, known: &BTreeMap<usize, ExprType>) -> Vec<ResultColumn> {
    let text = ExprType::text(0, CollationId::DEFAULT);
    (0..count).map(|number| column(known.get(&number).unwrap_or(&text))).collect()
}

/// MySQL has one description for all integers, one for all texts, and so on.
fn column(ty: &ExprType) -> ResultColumn {
    use FieldType::{Bit, Date, DateTime, Double, Json, LongBlob, LongLong, NewDecimal, Time, VarString, Year};
    const FLOATING: u8 = ResultColumn::FLOATING;
    let is_long = matches!(ty.origin, Some(ColumnType::Text { .. } | ColumnType::Blob { .. }));
    let (field, length, decimals) = match (&ty.origin, ty.kind) {
        (Some(ColumnType::Year), _) => (Year, 4, 0),
        (Some(ColumnType::Bit { .. }), _) => (Bit, 64, 0),
        (_, Kind::Int | Kind::UInt) => (LongLong, 21, 0),
        (_, Kind::Decimal) => (NewDecimal, 67, 30),
        (_, Kind::Float | Kind::Double) => (Double, 23, FLOATING),
        (_, Kind::Date) => (Date, 10, 0),
        (_, Kind::Time) => (Time, 17, 6),
        (_, Kind::DateTime) => (DateTime, 26, 6),
        (_, Kind::Json) => (Json, u32::MAX - 3, FLOATING),
        _ if is_long => (LongBlob, u32::MAX, FLOATING),
        (_, Kind::Bytes) => (VarString, 65_535, FLOATING),
        _ => (VarString, 65_532, FLOATING),
    };
    let is_text = ty.kind.is_string() && ty.kind != Kind::Bytes || ty.kind == Kind::Json;
    let collation = if is_text { CollationId::DEFAULT } else { CollationId::BINARY };
    let is_unsigned = ty.kind == Kind::UInt || matches!(ty.origin, Some(ColumnType::Year | ColumnType::Bit { .. }));
    let mut flags = if is_unsigned { FieldFlags::UNSIGNED.0 } else { 0 };
    if field != Bit && !(is_text && field != Json) {
        flags |= FieldFlags::BINARY.0;
    }
    ResultColumn { decimals, flags: FieldFlags(flags), ..ResultColumn::new("?", field, collation, length) }
}
