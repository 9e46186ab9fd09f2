//! What an operand is for the one that it stands beside: text beside a number, a constant beside a date.
//!
//! MySQL decides so once, when it prepares a comparison: a constant then has the form of the column, and is not converted
//! for each row.

use base::SqlError;
use types::decimal::MAX_PRECISION;
use types::temporal::parse::{self, Allow, Parsed};
use types::value::NOT_FIXED;
use types::{CollationId, ColumnType, DateTime, Time, Value, number};

use crate::expr::CompareOp;
use crate::expr::build::{cast, integer_literal, string_literal, unsigned_literal};
use crate::expr::coerce;
use crate::expr::compare::wrong_value;
use crate::expr::convert;
use crate::expr::function;
use crate::expr::tree::{CastType, Constancy, Expr, ExprKind};
use crate::expr::types::{Bits, Coercibility, ExprType, Kind, aggregate_collations};

/// Both sides of a comparison, with a constant in the form of what it stands beside.
pub(super) fn comparable(op: CompareOp, left: Expr, right: Expr) -> Result<(Expr, Expr), SqlError> {
    let (left, right) = (valid_moment(left)?, valid_moment(right)?);
    let (left_ty, right_ty) = (left.ty.clone(), right.ty.clone());
    let is_column = |expr: &Expr| matches!(expr.kind, ExprKind::Column { .. });
    let (left_column, right_column) = (is_column(&left), is_column(&right));
    let left = if right_column { year_beside_column(left, &right_ty) } else { left };
    let right = if left_column { year_beside_column(right, &left_ty) } else { right };
    // In MySQL a parameter has the digits of the column only where it replaces the column in other conditions.
    let params_too = op == CompareOp::Eq;
    let left = if right_column { time_beside_column(left, &right_ty, params_too) } else { left };
    let right = if left_column { time_beside_column(right, &left_ty, params_too) } else { right };
    let left = with_its_digits(left, &right)?;
    let right = with_its_digits(right, &left)?;
    let (left, right) = (beside(left, &right_ty, right_column), beside(right, &left_ty, left_column));
    let (left, right) =
        (constant_beside(left, &right_ty, right_column)?, constant_beside(right, &left_ty, left_column)?);
    let (left_ty, right_ty) = (left.ty.clone(), right.ty.clone());
    let (left_literal, right_literal) = (is_literal(&left), is_literal(&right));
    Ok((temporal_beside(left, &right_ty, right_literal)?, temporal_beside(right, &left_ty, left_literal)?))
}

/// A DATETIME that a function passes on, and that might be NULL, is NULL where it is compared, if it has zeros that `sql_mode` does not take. (A DATE, and a
/// column's value, are taken.)
pub(super) fn valid_moment(arg: Expr) -> Result<Expr, SqlError> {
    let is_passed_on = match &arg.kind {
        ExprKind::Case { .. } => true,
        ExprKind::Call { function, .. } => {
            matches!(function.name(), "if" | "ifnull" | "coalesce" | "nullif" | "least" | "greatest" | "any_value")
        }
        _ => false,
    };
    if arg.ty.kind != Kind::DateTime || !arg.ty.nullable || !is_passed_on {
        return Ok(arg);
    }
    let fsp = arg.ty.decimals;
    cast(arg, CastType::DateTime { fsp }, CollationId::BINARY)
}

/// A FLOAT(M,D) or DOUBLE(M,D) column has the digits that it shows, where it stands beside a constant: 1.1 equals 1.1.
fn with_its_digits(arg: Expr, other: &Expr) -> Result<Expr, SqlError> {
    let (precision, scale) = (arg.ty.length, arg.ty.decimals);
    let is_such = matches!(arg.ty.kind, Kind::Float | Kind::Double) && matches!(arg.kind, ExprKind::Column { .. });
    // A value may be rounded up to one digit more than the column has.
    let fits = scale < NOT_FIXED && u32::from(scale) <= precision && precision < u32::from(MAX_PRECISION);
    // The digits of what is computed with doubles are not known.
    let has_digits = || other.ty.kind.is_numeric() && other.ty.decimals < NOT_FIXED;
    let is_given = matches!(other.kind, ExprKind::Literal(_) | ExprKind::Param(_));
    if !is_such || !fits || !is_given && (!has_digits() || other.constancy() > Constancy::Execution) {
        return Ok(arg);
    }
    cast(arg, CastType::Decimal { precision: MAX_PRECISION, scale }, CollationId::BINARY)
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_))
}

/// A constant beside a date: text that is none is an error; a number beside a column is a date if it can be.
fn constant_beside(arg: Expr, other: &ExprType, other_is_column: bool) -> Result<Expr, SqlError> {
    let ExprKind::Literal(value) = &arg.kind else { return Ok(arg) };
    match other.kind {
        Kind::Date | Kind::DateTime if let Value::Str(text) | Value::Bytes(text) = value => {
            let name = if other.kind == Kind::Date { "DATE" } else { "DATETIME" };
            match parse::datetime(text, Allow::ZEROS) {
                Some(_) => Ok(arg),
                None => Err(wrong_value(name, value)),
            }
        }
        _ if other_is_column => Ok(number_beside_column(arg, other)),
        _ => Ok(arg),
    }
}

/// A constant beside a column that has another form for numbers: in a YEAR one or two digits are a year of 1970 to 2069, in a
/// DATE or DATETIME all digits of a number are one.
pub(super) fn number_beside_column(arg: Expr, column: &ExprType) -> Expr {
    let arg = exact_beside_column(year_beside_column(time_beside_column(arg, column, false), column), column);
    match (&arg.kind, column.kind) {
        (ExprKind::Literal(value), Kind::Date | Kind::DateTime) if is_number(value) => {
            let as_date = moment_of(value).map(|parsed| {
                let value = match parsed.has_time && column.kind == Kind::DateTime {
                    true => parsed.rounded(column.decimals, false).unwrap_or(parsed.value),
                    false => DateTime { micros: 0, ..parsed.value },
                };
                let fsp = coerce::fsp_of(value.micros);
                Expr::literal(Value::DateTime(value), ExprType::temporal(Kind::DateTime, fsp).nullable(false))
            });
            as_date.unwrap_or(arg)
        }
        _ => arg,
    }
}

/// The constants of `column IN (…)`; one alone is what it would be behind `=`.
pub(super) fn list_beside(list: Vec<Expr>, value: &Expr) -> Vec<Expr> {
    let form = match (value.as_column(), list.len()) {
        (None, _) => return list,
        (Some(_), 1) => number_beside_column,
        (Some(_), _) => exact_beside_column,
    };
    list.into_iter().map(|item| form(item, &value.ty)).collect()
}

/// A DOUBLE that is a whole number so large that several integers are the same DOUBLE: beside a column of exact numbers it is the one that it is.
fn exact_beside_column(arg: Expr, column: &ExprType) -> Expr {
    let n = match &arg.kind {
        ExprKind::Literal(Value::Double(n)) if n.abs() >= EXACT_DOUBLES => *n,
        _ => return arg,
    };
    match column.kind {
        Kind::Int | Kind::UInt if n >= i64::MIN as f64 && n < i64::MAX as f64 => integer_literal(n as i64),
        Kind::Int | Kind::UInt if n >= 0.0 && n < u64::MAX as f64 => unsigned_literal(n as u64),
        Kind::Decimal if n.abs() < 1e65 => {
            let n = coerce::decimal_of_f64(n);
            Expr::literal(Value::Decimal(n), ExprType::decimal(n.int_digits().into(), 0).nullable(false))
        }
        _ => arg,
    }
}

/// Up to this number each integer has a DOUBLE of its own.
pub(crate) const EXACT_DOUBLES: f64 = 9_007_199_254_740_992.0;

/// A constant beside a YEAR column as a year.
pub(crate) fn year_beside_column(arg: Expr, column: &ExprType) -> Expr {
    // What a subquery gives is shown without zeros in front, and is no column's value any more.
    if column.origin != Some(ColumnType::Year) || !column.zerofill {
        return arg;
    }
    match &arg.kind {
        ExprKind::Literal(value) => match year_of(value) {
            Some(year) => integer_literal(year),
            None => arg,
        },
        // It is no constant, even if it keeps its value.
        ExprKind::UserVariable(_) => arg,
        // It has its value when the statement is executed.
        _ if arg.constancy() <= Constancy::Execution => function::year_beside(arg),
        _ => arg,
    }
}

/// A constant beside a TIME column is what it would be in it: it has no more digits behind the point. A literal of type TIME keeps its own.
fn time_beside_column(arg: Expr, column: &ExprType, params_too: bool) -> Expr {
    if column.kind != Kind::Time
        || column.origin.is_none()
        || matches!(arg.ty.kind, Kind::Time | Kind::Null | Kind::Json)
    {
        return arg;
    }
    match &arg.kind {
        ExprKind::Literal(value) if time_of(value).is_none() => arg,
        ExprKind::Param(_) if params_too => function::time_beside(arg, column.decimals),
        // What the clock or a variable gives is no constant of the column's.
        _ if arg.constancy() == Constancy::Literal => function::time_beside(arg, column.decimals),
        _ => arg,
    }
}

/// The time that a constant beside a TIME is, if it is wholly one.
pub(crate) fn time_of(value: &Value) -> Option<Parsed<Time>> {
    match value {
        Value::DateTime(moment) => Some(Parsed::exactly(moment.time())),
        Value::Date(_) => Some(Parsed::exactly(Time::default())),
        value => coerce::parse_time(value).filter(|parsed| !parsed.trailing && !parsed.clamped),
    }
}

/// The moment that a number is. A fraction of one without a time is none of a second.
pub(crate) fn moment_of(number: &Value) -> Option<Parsed<DateTime>> {
    let parsed = coerce::parse_datetime(number, Allow::ZEROS)?;
    let micros = if parsed.has_time { parsed.value.micros } else { 0 };
    Some(Parsed { value: DateTime { micros, ..parsed.value }, ..parsed })
}

pub(crate) fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_))
}

/// The year that a constant beside a YEAR is, if it can be in one.
pub(crate) fn year_of(value: &Value) -> Option<i64> {
    match value {
        Value::Date(date) => Some(date.year.into()),
        Value::DateTime(moment) => Some(moment.date.year.into()),
        value => convert::year_of(value).map(|year| year as i64),
    }
}

/// A date or time beside a number that is computed is a number; a time beside text is text.
fn temporal_beside(arg: Expr, other: &ExprType, other_is_literal: bool) -> Result<Expr, SqlError> {
    match (arg.ty.kind, other.kind) {
        (Kind::Date | Kind::DateTime, other) if other.is_numeric() => {
            let fsp = arg.ty.decimals;
            cast(arg, CastType::Decimal { precision: 14 + fsp, scale: fsp }, CollationId::BINARY)
        }
        (Kind::Time, other) if other.is_numeric() && !other_is_literal => {
            let fsp = arg.ty.decimals;
            cast(arg, CastType::Decimal { precision: 7 + fsp, scale: fsp }, CollationId::BINARY)
        }
        (Kind::Time, Kind::Str | Kind::Bytes) => cast(arg, CastType::Char { chars: None }, CollationId::DEFAULT)
            .map(|text| Expr { ty: ExprType { coercibility: Coercibility::Numeric, ..text.ty }, ..text }),
        _ => Ok(arg),
    }
}

/// What an operand is beside one of another type. Text beside an integer that is compared exactly is one, if it is wholly.
pub(super) fn beside(arg: Expr, other: &ExprType, exact: bool) -> Expr {
    if other.kind == Kind::Bytes && aggregate_collations(&arg.ty, other).0 == CollationId::BINARY {
        return as_bytes(arg);
    }
    if other.kind == Kind::Str && arg.ty.kind == Kind::Bytes {
        let collation = aggregate_collations(&arg.ty, other).0;
        return as_text(arg, collation);
    }
    if other.kind.is_numeric() && !arg.ty.kind.is_numeric() {
        let is_integer = other.kind.is_integer();
        if let ExprKind::Literal(Value::Str(text)) = &arg.kind
            && is_integer
            && exact
            && let (n, len) = number::parse_integer(text)
            && len == text.len()
            && let Ok(n) = i64::try_from(n)
        {
            return integer_literal(n);
        }
        return numeric_arg(arg);
    }
    if other.kind.is_temporal()
        && let ExprKind::Literal(Value::Str(text)) = &arg.kind
    {
        let as_other = temporal_constant(other.kind, text);
        return match other.kind {
            // Of a date with its time the time counts; a date alone is text.
            Kind::Time => as_other,
            _ => as_other.or_else(|| temporal_constant(Kind::DateTime, text)),
        }
        .unwrap_or(arg);
    }
    arg
}

/// Text as a binary string, where its own character set has other bytes for it than UTF-8.
pub(crate) fn as_bytes(arg: Expr) -> Expr {
    if coerce::has_other_bytes(&arg.ty) { cast_to_bytes(arg) } else { arg }
}

/// A value as a binary string.
pub(crate) fn cast_to_bytes(arg: Expr) -> Expr {
    let ty = ExprType { coercibility: arg.ty.coercibility, ..ExprType::bytes(arg.ty.byte_length()) };
    Expr {
        ty: ty.nullable(arg.ty.nullable),
        kind: ExprKind::Cast { arg: Box::new(arg), to: CastType::Binary { bytes: None } },
    }
}

/// Operands of one operation: binary strings all, if one of them is. A literal that is one is text beside a column of text, and whatever else insists
/// more than it does.
pub(crate) fn bytes_together(operands: &mut [Expr]) {
    if !operands.iter().any(|operand| operand.ty.kind == Kind::Bytes) {
        return;
    }
    let together = operands.iter().map(|operand| &operand.ty).fold(None, |all: Option<ExprType>, ty| match all {
        Some(all) => {
            let (collation, coercibility) = aggregate_collations(&all, ty);
            let kind = if ty.kind.is_string() { ty.kind } else { all.kind };
            Some(ExprType { kind, collation, coercibility, ..all })
        }
        None => Some(ty.clone()),
    });
    let collation = together.map_or(CollationId::BINARY, |all| all.collation);
    for operand in operands {
        let plain = std::mem::replace(operand, Expr::null());
        *operand = if collation == CollationId::BINARY { as_bytes(plain) } else { as_text(plain, collation) };
    }
}

/// A literal that is a binary string as text, if it is one of the collation's character set.
fn as_text(arg: Expr, collation: CollationId) -> Expr {
    let own = |bytes: &[u8]| collation.charset().text(bytes).map(|text| string_literal(&text, collation));
    let text = match &arg.kind {
        _ if collation == CollationId::BINARY => None,
        ExprKind::Literal(Value::Bytes(bytes)) => own(bytes),
        // `_binary'…'`
        ExprKind::Cast { arg: text, to: CastType::Binary { bytes: None } } => match &text.kind {
            ExprKind::Literal(value) if arg.ty.coercibility == Coercibility::Coercible => {
                own(&coerce::bytes(value, &text.ty))
            }
            _ => None,
        },
        _ => None,
    };
    match text {
        Some(text) => text,
        // What a function gives is text if it is one.
        None if collation != CollationId::BINARY && is_computed_bytes(&arg) => {
            let ty = ExprType { coercibility: arg.ty.coercibility, ..ExprType::text(arg.ty.length, collation) };
            function::coerced(arg, &ty)
        }
        None => arg,
    }
}

fn is_computed_bytes(arg: &Expr) -> bool {
    arg.ty.kind == Kind::Bytes && matches!(arg.kind, ExprKind::Call { .. })
}

pub(super) fn numeric_beside(value: Expr) -> Expr {
    if value.ty.kind.is_numeric() { value } else { numeric_arg(value) }
}

/// The number that a bit or hexadecimal literal is where one is wanted; `None` for what is none, or too long.
pub(super) fn literal_bits(expr: &Expr) -> Option<u64> {
    match &expr.kind {
        ExprKind::Literal(Value::Bytes(bytes)) if bytes.len() <= 8 => {
            Some(bytes.iter().fold(0, |n, &byte| n << 8 | byte as u64))
        }
        _ => None,
    }
}

/// The argument as a number where its text is not the number meant (`0x41`, ENUM, SET), or is read without a word (TEXT, BLOB, what IFNULL gives).
pub(crate) fn numeric_arg(arg: Expr) -> Expr {
    if let Some(n) = literal_bits(&arg) {
        return match i64::try_from(n) {
            Ok(n) if arg.ty.bits != Bits::Hexadecimal => integer_literal(n),
            _ => unsigned_literal(n),
        };
    }
    match arg.ty.origin {
        Some(ColumnType::Enum { .. } | ColumnType::Set { .. } | ColumnType::Text { .. } | ColumnType::Blob { .. }) => {
            function::own_number(arg)
        }
        _ if arg.is_choice_of_text() || arg.is_read_silently() => function::own_number(arg),
        _ => arg,
    }
}

/// A document between what is none is compared as a number or as text, as in MySQL.
pub(super) fn json_between(value: Expr, low: &ExprType, high: &ExprType) -> Result<Expr, SqlError> {
    if value.ty.kind != Kind::Json || low.kind == Kind::Json && high.kind == Kind::Json {
        return Ok(value);
    }
    match low.kind.is_numeric() || high.kind.is_numeric() {
        true => cast(value, CastType::Double, CollationId::BINARY),
        false => cast(value, CastType::Char { chars: None }, CollationId::UTF8MB4_BIN),
    }
}

/// Text between two bounds one of which is a date or a number: all three are compared as such, not each pair by its own kinds.
pub(super) fn text_between(value: Expr, low: &ExprType, high: &ExprType) -> Result<Expr, SqlError> {
    let is_text = |ty: &ExprType| matches!(ty.kind, Kind::Str | Kind::Bytes);
    if !is_text(&value.ty) || is_text(low) == is_text(high) {
        return Ok(value);
    }
    let other = if is_text(low) { high } else { low };
    match other.kind {
        Kind::Date | Kind::DateTime => cast(value, CastType::DateTime { fsp: 6 }, CollationId::BINARY),
        kind if kind.is_numeric() => cast(value, CastType::Double, CollationId::BINARY),
        _ => Ok(value),
    }
}

/// Text that is wholly a date, a time or both, as such a constant.
pub(super) fn temporal_constant(kind: Kind, text: &[u8]) -> Option<Expr> {
    let (value, fsp) = match kind {
        Kind::Time => {
            let parsed = parse::time(text).filter(|parsed| !parsed.trailing && !parsed.clamped && !parsed.round_up)?;
            (Value::Time(parsed.value), parsed.fsp)
        }
        _ => {
            let parsed = parse::datetime(text, Allow::ZEROS).filter(|parsed| !parsed.trailing && !parsed.round_up)?;
            if parsed.zone_minutes.is_some() || kind == Kind::Date && parsed.has_time {
                return None;
            }
            let date = Value::Date(parsed.value.date);
            (if kind == Kind::Date { date } else { Value::DateTime(parsed.value) }, parsed.fsp)
        }
    };
    Some(Expr::literal(value, ExprType::temporal(kind, fsp).nullable(false)))
}
