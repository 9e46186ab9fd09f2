//! Constructors of expressions: each checks its arguments, infers the type and folds what it can.
//!
//! The binder calls these for operators and special syntax, and [`crate::expr::function::resolve`] for everything that
//! looks like a function. Arguments are given in the order in which they are written.

use base::SqlError;
use types::{CollationId, Value};

use crate::expr::context::SessionInfo;
use crate::expr::expr::{ArithmeticOp, BitOp, CastType, CompareOp, Expr, ExprKind, IntervalUnit, VariableScope};
use crate::expr::types::{ExprType, Kind};

/// An integer.
pub fn integer_literal(n: i64) -> Expr {
    let mut ty = ExprType::of_kind(Kind::Int);
    ty.nullable = false;
    ty.length = n.to_string().len() as u32;
    Expr::literal(Value::Int(n), ty)
}

/// A number as it was written (without a sign): integer, DECIMAL or DOUBLE by its form.
pub fn number_literal(text: &str) -> Result<Expr, SqlError> {
    let _ = text;
    todo!()
}

/// `'text'`, in the connection's collation or with an introducer's (`_latin1'…'` is given as utf8mb4 already).
pub fn string_literal(text: &str, collation: CollationId) -> Expr {
    let _ = (text, collation);
    todo!()
}

/// `x'4D'`, `0x4D`, `b'01'`, `_binary'…'`: a binary string, a number in numeric context.
pub fn bytes_literal(bytes: Vec<u8>) -> Expr {
    let _ = bytes;
    todo!()
}

/// `DATE '…'`, `TIME '…'`, `TIMESTAMP '…'`.
pub fn temporal_literal(kind: Kind, text: &str) -> Result<Expr, SqlError> {
    let _ = (kind, text);
    todo!()
}

/// A constant, with the type that its value has (for values of parameters, user variables, subqueries).
pub fn value_literal(value: Value, session: &SessionInfo) -> Expr {
    let _ = (value, session);
    todo!()
}

/// `left op right`
pub fn compare(op: CompareOp, left: Expr, right: Expr) -> Result<Expr, SqlError> {
    let _ = (op, left, right);
    todo!()
}

/// `(a, b) op (c, d)`: with the meaning that MySQL gives it.
pub fn compare_rows(op: CompareOp, left: Vec<Expr>, right: Vec<Expr>) -> Result<Expr, SqlError> {
    let _ = (op, left, right);
    todo!()
}

/// AND of these, flattened; TRUE of none.
pub fn and(conditions: Vec<Expr>) -> Expr {
    let _ = conditions;
    todo!()
}

/// OR of these, flattened; FALSE of none.
pub fn or(conditions: Vec<Expr>) -> Expr {
    let _ = conditions;
    todo!()
}

/// `left XOR right`
pub fn xor(left: Expr, right: Expr) -> Expr {
    let _ = (left, right);
    todo!()
}

/// `NOT arg`
pub fn not(arg: Expr) -> Expr {
    let _ = arg;
    todo!()
}

/// `arg IS NULL`
pub fn is_null(arg: Expr) -> Expr {
    let _ = arg;
    todo!()
}

/// `arg IS TRUE`, `arg IS FALSE`
pub fn is_truth(arg: Expr, wanted: bool) -> Expr {
    let _ = (arg, wanted);
    todo!()
}

/// `value IN (list)`
pub fn in_list(value: Expr, list: Vec<Expr>) -> Result<Expr, SqlError> {
    let _ = (value, list);
    todo!()
}

/// `value BETWEEN low AND high`
pub fn between(value: Expr, low: Expr, high: Expr) -> Result<Expr, SqlError> {
    let _ = (value, low, high);
    todo!()
}

/// `text LIKE pattern [ESCAPE escape]`; the default escape is a backslash, or none under NO_BACKSLASH_ESCAPES.
pub fn like(text: Expr, pattern: Expr, escape: Option<char>) -> Result<Expr, SqlError> {
    let _ = (text, pattern, escape);
    todo!()
}

/// `+ - * / DIV %`
pub fn arithmetic(op: ArithmeticOp, left: Expr, right: Expr, session: &SessionInfo) -> Result<Expr, SqlError> {
    let _ = (op, left, right, session);
    todo!()
}

/// `-arg`
pub fn negate(arg: Expr) -> Result<Expr, SqlError> {
    let _ = arg;
    todo!()
}

/// `| & ^ << >>`
pub fn bit(op: BitOp, left: Expr, right: Expr) -> Result<Expr, SqlError> {
    let _ = (op, left, right);
    todo!()
}

/// `~arg`
pub fn bit_not(arg: Expr) -> Result<Expr, SqlError> {
    let _ = arg;
    todo!()
}

/// CASE
pub fn case(operand: Option<Expr>, arms: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Result<Expr, SqlError> {
    let _ = (operand, arms, otherwise);
    todo!()
}

/// `CAST(arg AS to)`; text gets `collation` (the connection's, or that of `CHARACTER SET`).
pub fn cast(arg: Expr, to: CastType, collation: CollationId) -> Result<Expr, SqlError> {
    let _ = (arg, to, collation);
    todo!()
}

/// `arg COLLATE collation`; 1253 if it is not of the argument's character set.
pub fn collate(arg: Expr, collation: CollationId) -> Result<Expr, SqlError> {
    let _ = (arg, collation);
    todo!()
}

/// `date ± INTERVAL amount unit`, DATE_ADD, DATE_SUB.
pub fn interval(date: Expr, amount: Expr, unit: IntervalUnit, subtract: bool) -> Result<Expr, SqlError> {
    let _ = (date, amount, unit, subtract);
    todo!()
}

/// `EXTRACT(unit FROM date)`
pub fn extract(unit: IntervalUnit, date: Expr) -> Result<Expr, SqlError> {
    let _ = (unit, date);
    todo!()
}

/// `TIMESTAMPDIFF(unit, from, to)`
pub fn timestamp_diff(unit: IntervalUnit, from: Expr, to: Expr) -> Result<Expr, SqlError> {
    let _ = (unit, from, to);
    todo!()
}

/// `TRIM([BOTH|LEADING|TRAILING] [remove] FROM text)`
pub fn trim(side: TrimSide, text: Expr, remove: Option<Expr>) -> Result<Expr, SqlError> {
    let _ = (side, text, remove);
    todo!()
}

/// The side of TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    /// Both ends.
    Both,
    /// The beginning.
    Leading,
    /// The end.
    Trailing,
}

/// `@name`; the type is what the variable has now.
pub fn user_variable(name: &str, session: &SessionInfo) -> Expr {
    let _ = (name, session);
    todo!()
}

/// `@name := value`
pub fn assign_variable(name: &str, value: Expr) -> Expr {
    let _ = (name, value);
    todo!()
}

/// `@@name`; `sample` is its value now, which says its type.
pub fn system_variable(scope: VariableScope, name: &str, sample: &Value, session: &SessionInfo) -> Expr {
    let _ = (sample, session);
    Expr {
        kind: ExprKind::SystemVariable { scope, name: name.to_lowercase().into() },
        ty: ExprType::of_kind(Kind::Str),
    }
}
