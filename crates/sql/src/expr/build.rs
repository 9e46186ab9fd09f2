//! Constructors of expressions: each checks its arguments, infers the type and prepares constants for what they stand beside.
//!
//! The binder calls these for operators and special syntax, and [`crate::expr::function::resolve`] for everything that
//! looks like a function. Arguments are given in the order in which they are written.

use base::{SqlError, codes};
use syntax::ast::{ArithmeticOp, CompareOp, IntervalUnit, TrimSide};
use types::temporal::parse::{self, Allow};
use types::{CollationId, ColumnType, Decimal, Value};

use crate::expr::agree::condition;
pub(crate) use crate::expr::agree::{Mixed, agree};
use crate::expr::arithmetic as arith;
pub(crate) use crate::expr::beside::{EXACT_DOUBLES, as_bytes, bytes_together, cast_to_bytes, numeric_arg};
use crate::expr::beside::{
    beside, comparable, json_between, list_beside, number_beside_column, numeric_beside, temporal_constant,
    text_between, valid_moment,
};
pub(crate) use crate::expr::bits::{bit, bit_not};
use crate::expr::cast as casting;
pub use crate::expr::choice::case;
use crate::expr::coerce::in_session_zone;
use crate::expr::compare::wrong_value;
pub(crate) use crate::expr::compare::{is_by_bits, is_constant_beside};
use crate::expr::context::SessionInfo;
use crate::expr::function;
use crate::expr::interval as intervals;
use crate::expr::tree::{CastType, Expr, ExprKind, VariableScope};
use crate::expr::types::{Bits, Coercibility, ExprType, Kind, Strings};

/// An integer.
pub fn integer_literal(n: i64) -> Expr {
    // With a place for the sign, whether there is one or not; what no INT holds has more than an INT.
    let length = (n.unsigned_abs().to_string().len() as u32 + 1).max(if i32::try_from(n).is_ok() { 1 } else { 12 });
    Expr::literal(Value::Int(n), ExprType { length, nullable: false, ..ExprType::of_kind(Kind::Int) })
}

/// An unsigned integer.
pub fn unsigned_literal(n: u64) -> Expr {
    let length = n.to_string().len() as u32;
    Expr::literal(Value::UInt(n), ExprType { length, nullable: false, ..ExprType::of_kind(Kind::UInt) })
}

/// A number as it was written (without a sign): integer, DECIMAL or DOUBLE by its form.
pub fn number_literal(text: &str) -> Result<Expr, SqlError> {
    let bad =
        || SqlError::new(codes::ILLEGAL_VALUE_FOR_TYPE, format!("Illegal double '{text}' value found during parsing"));
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        if let Ok(n) = text.parse::<i64>() {
            return Ok(integer_literal(n));
        }
        if let Ok(n) = text.parse::<u64>() {
            return Ok(unsigned_literal(n));
        }
    }
    if text.contains(['e', 'E']) {
        let n: f64 = text.parse().ok().filter(|n: &f64| n.is_finite()).ok_or_else(bad)?;
        let ty = ExprType { length: text.len() as u32, nullable: false, ..ExprType::of_kind(Kind::Double) };
        return Ok(Expr::literal(Value::Double(n), ty));
    }
    let parsed = Decimal::parse_literal(text.as_bytes()).filter(|parsed| parsed.len == text.len()).ok_or_else(bad)?;
    // What is too great is the greatest number that a column can hold.
    let most = || Decimal::max_of(types::decimal::MAX_PRECISION, 0);
    Ok(decimal_literal(if parsed.overflow { most() } else { parsed.value }))
}

fn decimal_literal(n: Decimal) -> Expr {
    Expr::literal(Value::Decimal(n), ExprType::decimal(n.precision() as u32, n.scale()).nullable(false))
}

/// `'text'`, in the connection's collation or with an introducer's (`_latin1'…'` is given as utf8mb4 already).
pub fn string_literal(text: &str, collation: CollationId) -> Expr {
    let ty = ExprType::text(text.chars().count() as u32, collation).nullable(false);
    Expr::literal(Value::from(text), ty)
}

/// `x'4D'`, `0x4D`: a binary string, in numeric context a number without a sign.
pub fn hex_literal(bytes: Vec<u8>) -> Expr {
    let literal = bytes_literal(bytes);
    Expr { ty: ExprType { bits: Bits::Hexadecimal, ..literal.ty }, ..literal }
}

/// `b'01'`: a binary string, a number in numeric context.
pub fn bytes_literal(bytes: Vec<u8>) -> Expr {
    let ty = ExprType { bits: Bits::Binary, ..ExprType::bytes(bytes.len() as u32) };
    Expr::literal(Value::Bytes(bytes.into()), ty.nullable(false))
}

/// `DATE '…'`, `TIME '…'`, `TIMESTAMP '…'`; a moment with a zone is the session's.
pub fn temporal_literal(kind: Kind, text: &str, session: &SessionInfo) -> Result<Expr, SqlError> {
    let name = match kind {
        Kind::Date => "DATE",
        Kind::Time => "TIME",
        _ => "DATETIME",
    };
    let with_zone = || {
        let parsed = parse::datetime(text.as_bytes(), Allow::ALL).filter(|parsed| !parsed.trailing)?;
        parsed.zone_minutes.filter(|_| kind == Kind::DateTime)?;
        let ty = ExprType::temporal(Kind::DateTime, parsed.fsp).nullable(false);
        Some(Expr::literal(Value::DateTime(in_session_zone(&parsed, session)?), ty))
    };
    let constant = temporal_constant(kind, text.as_bytes()).or_else(with_zone);
    constant.ok_or_else(|| wrong_value(name, &Value::from(text)))
}

/// A constant, with the type that its value has (for values of parameters, user variables, subqueries).
pub fn value_literal(value: Value, session: &SessionInfo) -> Expr {
    let ty = type_of_value(&value, session.collation_connection);
    Expr::literal(value, ty)
}

/// The type that a value alone shows.
pub fn type_of_value(value: &Value, collation: CollationId) -> ExprType {
    use crate::expr::coerce::fsp_of;
    let ty = match value {
        Value::Null => ExprType::of_kind(Kind::Null),
        Value::Int(_) => ExprType::of_kind(Kind::Int),
        Value::UInt(_) => ExprType::of_kind(Kind::UInt),
        Value::Float(_) => ExprType::of_kind(Kind::Float),
        Value::Double(_) => ExprType::of_kind(Kind::Double),
        Value::Decimal(n) => ExprType::decimal(n.precision() as u32, n.scale()),
        Value::Str(text) => ExprType::text(types::charset::char_count(text) as u32, collation),
        Value::Bytes(bytes) => ExprType::bytes(bytes.len() as u32),
        Value::Date(_) => ExprType::of_kind(Kind::Date),
        Value::Time(time) => ExprType::temporal(Kind::Time, fsp_of(time.parts().4)),
        Value::DateTime(datetime) => ExprType::temporal(Kind::DateTime, fsp_of(datetime.micros)),
        Value::Json(_) => ExprType::json(),
    };
    ty.nullable(value.is_null())
}

/// The type as which a parameter's value is planned for: the same for values of one kind.
pub fn type_of_param(value: &Value, collation: CollationId) -> ExprType {
    const TEXT_CHARS: u32 = 16_383;
    const BINARY_BYTES: u32 = 65_535;
    let own = type_of_value(value, collation);
    let ty = match value {
        // A value that is NULL says nothing.
        Value::Null => ExprType::of_kind(Kind::Any),
        Value::Decimal(_) => ExprType::decimal(65, 30),
        Value::Str(_) => ExprType { length: own.length.max(TEXT_CHARS), ..own },
        Value::Bytes(_) => ExprType { length: own.length.max(BINARY_BYTES), ..own },
        Value::Time(_) | Value::DateTime(_) => ExprType::temporal(own.kind, 6),
        _ => own,
    };
    ty.nullable(true)
}

/// The type that a parameter is taken to have beside an operand of an arithmetic operator, until it has a value.
pub fn assumed_param(other: &ExprType) -> ExprType {
    match other.kind {
        Kind::Any => ExprType::of_kind(Kind::Double),
        Kind::Decimal => ExprType::decimal(65, 30),
        _ => ExprType::of_kind(other.kind),
    }
}

fn pair(left: Expr, right: Expr) -> Box<[Expr; 2]> {
    Box::new([left, right])
}

/// A condition beside a document is `true` or `false`.
fn beside_json(left: Expr, right: Expr) -> (Expr, Expr) {
    match (left.ty.kind, right.ty.kind) {
        (Kind::Json, _) => (left, function::json::condition_as_json(right)),
        (_, Kind::Json) => (function::json::condition_as_json(left), right),
        _ => (left, right),
    }
}

/// `left op right`
pub fn compare(op: CompareOp, left: Expr, right: Expr) -> Result<Expr, SqlError> {
    let (left, right) = beside_json(left, right);
    let (left, right) = comparable(op, left, right)?;
    let mut ty = condition(&[&left.ty, &right.ty], op.sign(), Mixed::Unsettled)?;
    ty.nullable &= op != CompareOp::NullSafeEq;
    Ok(Expr { kind: ExprKind::Compare { op, args: pair(left, right) }, ty })
}

/// `(a, b) op (c, d)`: with the meaning that MySQL gives it.
pub fn compare_rows(op: CompareOp, left: Vec<Expr>, right: Vec<Expr>) -> Result<Expr, SqlError> {
    if left.len() != right.len() || left.is_empty() {
        return Err(SqlError::new(codes::OPERAND_COLUMNS, format!("Operand should contain {} column(s)", left.len())));
    }
    let strict = match op {
        CompareOp::Eq | CompareOp::NullSafeEq => {
            let parts: Result<_, _> = left.into_iter().zip(right).map(|(l, r)| compare(op, l, r)).collect();
            return Ok(and(parts?));
        }
        CompareOp::NotEq => return Ok(not(compare_rows(CompareOp::Eq, left, right)?)),
        CompareOp::Less | CompareOp::LessEq => CompareOp::Less,
        CompareOp::Greater | CompareOp::GreaterEq => CompareOp::Greater,
    };
    in_order((op, strict), left.into_iter().zip(right).collect())
}

/// `a < c OR (a = c AND (b < d …))`, the last pair with the operator itself, the others with the strict one. Many pairs become two halves, so that
/// the tree is as deep as their logarithm.
fn in_order((op, strict): (CompareOp, CompareOp), mut pairs: Vec<(Expr, Expr)>) -> Result<Expr, SqlError> {
    const FEW: usize = 16;
    if pairs.len() > FEW {
        let second = pairs.split_off(pairs.len() / 2);
        let equal: Result<Vec<Expr>, _> =
            pairs.iter().map(|(l, r)| compare(CompareOp::Eq, l.clone(), r.clone())).collect();
        let decided = in_order((strict, strict), pairs)?;
        return Ok(or(vec![decided, and(vec![and(equal?), in_order((op, strict), second)?])]));
    }
    let mut pairs = pairs.into_iter().rev();
    let Some((l, r)) = pairs.next() else { return Ok(Expr::int(1)) };
    let mut condition = compare(op, l, r)?;
    for (l, r) in pairs {
        let decided = compare(strict, l.clone(), r.clone())?;
        condition = or(vec![decided, and(vec![compare(CompareOp::Eq, l, r)?, condition])]);
    }
    Ok(condition)
}

/// AND of these, flattened; TRUE of none.
pub fn and(conditions: Vec<Expr>) -> Expr {
    let mut parts = Vec::with_capacity(conditions.len());
    for condition in conditions {
        match condition.kind {
            ExprKind::And(nested) => parts.extend(nested),
            _ => parts.push(condition),
        }
    }
    joined(parts, ExprKind::And, 1)
}

/// OR of these, flattened; FALSE of none.
pub fn or(conditions: Vec<Expr>) -> Expr {
    let mut parts = Vec::with_capacity(conditions.len());
    for condition in conditions {
        match condition.kind {
            ExprKind::Or(nested) => parts.extend(nested),
            _ => parts.push(condition),
        }
    }
    joined(parts, ExprKind::Or, 0)
}

fn joined(mut parts: Vec<Expr>, node: fn(Vec<Expr>) -> ExprKind, of_none: i64) -> Expr {
    match parts.len() {
        0 => integer_literal(of_none),
        1 => parts.remove(0),
        _ => {
            let ty = ExprType::truth(parts.iter().any(|part| part.ty.nullable));
            Expr { kind: node(parts), ty }
        }
    }
}

/// `left XOR right`
pub fn xor(left: Expr, right: Expr) -> Expr {
    let ty = ExprType::truth(left.ty.nullable || right.ty.nullable);
    Expr { kind: ExprKind::Xor(pair(left, right)), ty }
}

/// `NOT arg`; of a comparison the opposite one.
pub fn not(arg: Expr) -> Expr {
    let opposite = match &arg.kind {
        ExprKind::Compare { op, .. } => match op {
            CompareOp::Eq => Some(CompareOp::NotEq),
            CompareOp::NotEq => Some(CompareOp::Eq),
            CompareOp::Less => Some(CompareOp::GreaterEq),
            CompareOp::LessEq => Some(CompareOp::Greater),
            CompareOp::Greater => Some(CompareOp::LessEq),
            CompareOp::GreaterEq => Some(CompareOp::Less),
            CompareOp::NullSafeEq => None,
        },
        _ => None,
    };
    match (opposite, arg) {
        (Some(op), Expr { kind: ExprKind::Compare { args, .. }, ty }) => {
            Expr { kind: ExprKind::Compare { op, args }, ty }
        }
        (_, arg) => {
            let ty = ExprType::truth(arg.ty.nullable);
            Expr { kind: ExprKind::Not(Box::new(arg)), ty }
        }
    }
}

/// `arg IS NULL`
pub fn is_null(arg: Expr) -> Expr {
    Expr { kind: ExprKind::IsNull(Box::new(arg)), ty: ExprType::truth(false) }
}

/// `arg IS TRUE`, `arg IS FALSE`
pub fn is_truth(arg: Expr, wanted: bool) -> Expr {
    Expr { kind: ExprKind::IsTruth { arg: Box::new(arg), wanted }, ty: ExprType::truth(false) }
}

/// `value IN (list)`
pub fn in_list(value: Expr, list: Vec<Expr>) -> Result<Expr, SqlError> {
    let value = valid_moment(value)?;
    let is_choice = super::order::is_member_list(&value.ty);
    let is_number = |item: &Expr| item.ty.kind.is_numeric();
    // A member is its number beside numbers, its text beside texts.
    if is_choice && list.iter().any(is_number) && !list.iter().all(is_number) {
        let (numbers, others) = list.into_iter().partition(is_number);
        return Ok(or(vec![in_list(value.clone(), numbers)?, in_list(value, others)?]));
    }
    let list = list_beside(list, &value);
    let list: Vec<Expr> = match value.ty.kind {
        Kind::Json => list.into_iter().map(function::json::condition_as_json).collect(),
        _ => {
            let exact = list.len() > 1 || value.as_column().is_some();
            list.into_iter().map(|item| beside(item, &value.ty, exact)).collect()
        }
    };
    let numbers = list.iter().all(|item| item.ty.kind.is_numeric());
    let value = if numbers && !list.is_empty() { numeric_beside(value) } else { value };
    let mut all = vec![value];
    all.extend(list);
    bytes_together(&mut all);
    let value = all.remove(0);
    let list = all;
    let mut operands = vec![&value.ty];
    operands.extend(list.iter().map(|item| &item.ty));
    let ty = condition(&operands, if list.len() == 1 { "=" } else { " IN " }, Mixed::Unsettled)?;
    Ok(Expr { kind: ExprKind::In { value: Box::new(value), list: list.into() }, ty })
}

/// `value BETWEEN low AND high`
pub fn between(value: Expr, low: Expr, high: Expr) -> Result<Expr, SqlError> {
    let value = json_between(valid_moment(value)?, &low.ty, &high.ty)?;
    let (low, high) = match value.as_column() {
        Some(_) => (number_beside_column(low, &value.ty), number_beside_column(high, &value.ty)),
        None => (low, high),
    };
    let value = text_between(value, &low.ty, &high.ty)?;
    let exact = value.as_column().is_some();
    let (low, high) = (beside(low, &value.ty, exact), beside(high, &value.ty, exact));
    let numbers = low.ty.kind.is_numeric() && high.ty.kind.is_numeric();
    let value = if numbers { numeric_beside(value) } else { value };
    let mut args = [value, low, high];
    bytes_together(&mut args);
    let operands = [&args[0].ty, &args[1].ty, &args[2].ty];
    // Beside a number all are compared as numbers.
    let as_numbers = operands.iter().any(|ty| ty.kind.is_numeric());
    let ty = condition(&operands, "between", if as_numbers { Mixed::Allowed } else { Mixed::Refused })?;
    Ok(Expr { kind: ExprKind::Between { args: Box::new(args) }, ty })
}

/// `text LIKE pattern [ESCAPE escape]`; the default escape is a backslash, or none under NO_BACKSLASH_ESCAPES.
pub fn like(text: Expr, pattern: Expr, escape: Option<char>) -> Result<Expr, SqlError> {
    let mut args = pair(function::bits_as_bytes(text), function::bits_as_bytes(pattern));
    bytes_together(&mut args[..]);
    let types = [&args[0].ty, &args[1].ty];
    let mut ty = condition(&types, "like", Mixed::Refused)?;
    if types.iter().any(|ty| ty.kind == Kind::Bytes) {
        ty.collation = CollationId::BINARY;
    }
    Ok(Expr { kind: ExprKind::Like { args, escape }, ty })
}

/// `+ - * / DIV %`
pub fn arithmetic(op: ArithmeticOp, left: Expr, right: Expr, session: &SessionInfo) -> Result<Expr, SqlError> {
    let (left, right) = (calculated(left)?, calculated(right)?);
    let ty = arith::infer(op, &left.ty, &right.ty, session);
    Ok(Expr { kind: ExprKind::Arithmetic { op, args: pair(left, right) }, ty })
}

/// An operand as a number; a variable that has no value yet may have one of any kind when it is read.
fn calculated(arg: Expr) -> Result<Expr, SqlError> {
    match (&arg.kind, arg.ty.kind) {
        (ExprKind::UserVariable(_), Kind::Any) => cast(arg, CastType::Double, CollationId::BINARY),
        _ => Ok(numeric_arg(arg)),
    }
}

/// `-arg`; of a constant the constant.
pub fn negate(arg: Expr) -> Result<Expr, SqlError> {
    let arg = calculated(arg)?;
    match &arg.kind {
        ExprKind::Literal(Value::Int(i64::MIN)) => return Ok(decimal_literal(Decimal::from(1u64 << 63))),
        ExprKind::Literal(Value::Int(n)) => return Ok(integer_literal(-n)),
        ExprKind::Literal(Value::UInt(n)) if i64::try_from(*n).is_ok() => return Ok(integer_literal(-(*n as i64))),
        ExprKind::Literal(Value::UInt(n)) if *n == 1 << 63 => return Ok(integer_literal(i64::MIN)),
        ExprKind::Literal(Value::UInt(n)) => return Ok(decimal_literal(Decimal::from(*n).negated())),
        ExprKind::Literal(Value::Decimal(n)) => return Ok(decimal_literal(n.negated())),
        ExprKind::Literal(Value::Double(n)) => {
            let ty = ExprType { nullable: false, ..ExprType::of_kind(Kind::Double) };
            return Ok(Expr::literal(Value::Double(-n), ty));
        }
        _ => {}
    }
    let ty = arith::infer_negate(&arg.ty);
    Ok(Expr { kind: ExprKind::Negate(Box::new(arg)), ty })
}

/// The type that holds the values of all of these; NULL of none.
pub fn union_of<'a>(types: impl IntoIterator<Item = &'a ExprType>) -> ExprType {
    let mut types = types.into_iter();
    let Some(first) = types.next() else { return ExprType::of_kind(Kind::Null) };
    types.fold(ExprType { utc: false, ..first.clone() }, |all, ty| all.union(ty)).passed_on().computed()
}

/// The expression with its values in the form of `ty`, a [`union_of`] types that includes its own: for CASE, and for the
/// columns of a UNION.
pub fn coerce_to(arg: Expr, ty: &ExprType) -> Expr {
    let has_scale = ty.kind == Kind::Decimal || ty.kind.is_temporal();
    let same_scale = !has_scale || arg.ty.decimals == ty.decimals;
    let same_text =
        arg.ty.origin == ty.origin || !matches!(arg.ty.origin, Some(ColumnType::Year | ColumnType::Bit { .. }));
    if arg.ty.kind == ty.kind && same_scale && same_text || matches!(arg.ty.kind, Kind::Null) {
        return arg;
    }
    // What is NULL is the argument's affair: the values of all kinds that go together have a form in the one that holds them all.
    let ty = ty.clone().nullable(arg.ty.nullable);
    function::coerced(arg, &ty)
}

/// `CAST(arg AS to)`; text gets `collation` (the connection's, or that of `CHARACTER SET`).
pub fn cast(arg: Expr, to: CastType, collation: CollationId) -> Result<Expr, SqlError> {
    check_cast(to)?;
    let arg = if to == CastType::Json { function::json::condition_as_json(arg) } else { arg };
    let numeric = !matches!(to, CastType::Char { .. } | CastType::Binary { .. } | CastType::Json);
    // Unlike an operator it reads a TEXT as any text: digit by digit, with a warning of what is behind the number.
    let is_long = matches!(arg.ty.origin, Some(ColumnType::Text { .. } | ColumnType::Blob { .. }));
    // As an integer or a date a choice is its text.
    let is_number = matches!(to, CastType::Decimal { .. } | CastType::Float | CastType::Double);
    let is_text = is_long || !is_number && (arg.is_choice_of_text() || arg.is_read_silently());
    let arg = if numeric && !is_text { numeric_arg(arg) } else { arg };
    let mut ty = casting::infer(&arg.ty, to, collation);
    // `CHAR(65 USING …)` is no column's text.
    if matches!(&arg.kind, ExprKind::Call { function, .. } if function.name() == "char") {
        ty.coercibility = Coercibility::Coercible;
    }
    Ok(Expr { kind: ExprKind::Cast { arg: Box::new(arg), to }, ty })
}

fn check_cast(to: CastType) -> Result<(), SqlError> {
    match to {
        CastType::Time { fsp } | CastType::DateTime { fsp } if fsp > 6 => {
            let message = format!("Too-big precision {fsp} specified for 'CAST'. Maximum is 6.");
            Err(SqlError::new(codes::TOO_BIG_PRECISION, message))
        }
        CastType::Decimal { precision: 66.., .. } => {
            Err(SqlError::new(codes::TOO_BIG_PRECISION, "Too-big precision specified for 'CAST'. Maximum is 65."))
        }
        CastType::Decimal { scale: 31.., .. } => {
            Err(SqlError::new(codes::TOO_BIG_SCALE, "Too big scale specified for column 'CAST'. Maximum is 30."))
        }
        CastType::Decimal { precision, scale } if scale > precision => {
            let message = "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column 'CAST').";
            Err(SqlError::new(codes::M_BIGGER_THAN_D, message))
        }
        _ => Ok(()),
    }
}

/// `arg COLLATE collation`; 1253 if it is not of the argument's character set.
pub fn collate(arg: Expr, collation: CollationId) -> Result<Expr, SqlError> {
    let arg = function::bits_as_bytes(arg);
    let own = arg.ty.collation.charset();
    let named = collation.charset();
    let coercible = arg.ty.coercibility > Coercibility::Coercible || arg.ty.kind == Kind::Any;
    if own != named && arg.ty.kind.is_string() && !coercible {
        let message = format!("COLLATION '{}' is not valid for CHARACTER SET '{}'", collation.name(), own.name());
        return Err(SqlError::new(codes::COLLATION_CHARSET_MISMATCH, message));
    }
    let is_text = matches!(arg.ty.kind, Kind::Str | Kind::Any);
    let arg = if is_text || (arg.ty.kind == Kind::Bytes && collation == CollationId::BINARY) {
        arg
    } else {
        cast(arg, CastType::Char { chars: None }, collation)?
    };
    let own = ExprType { strings: Strings::Varying, ..arg.ty.clone().passed_on().computed() };
    let ty = ExprType { collation, coercibility: Coercibility::Explicit, ..own };
    Ok(Expr { kind: ExprKind::Collate(Box::new(arg)), ty })
}

/// `date ± INTERVAL amount unit`, DATE_ADD, DATE_SUB.
pub fn interval(date: Expr, amount: Expr, unit: IntervalUnit, subtract: bool) -> Result<Expr, SqlError> {
    let amount = if intervals::counted(unit) == intervals::Counted::Text { amount } else { numeric_arg(amount) };
    let ty = intervals::infer(&date.ty, &amount.ty, unit);
    Ok(Expr { kind: ExprKind::Interval { args: pair(date, amount), unit, subtract }, ty })
}

/// `EXTRACT(unit FROM date)`
pub fn extract(unit: IntervalUnit, date: Expr) -> Result<Expr, SqlError> {
    function::call("extract", vec![integer_literal(unit as i64), date], &SessionInfo::default())
}

/// `TIMESTAMPDIFF(unit, from, to)`
pub fn timestamp_diff(unit: IntervalUnit, from: Expr, to: Expr) -> Result<Expr, SqlError> {
    function::call("timestampdiff", vec![integer_literal(unit as i64), from, to], &SessionInfo::default())
}

/// `TRIM([BOTH|LEADING|TRAILING] [remove] FROM text)`
pub fn trim(side: TrimSide, text: Expr, remove: Option<Expr>) -> Result<Expr, SqlError> {
    let mut args = vec![integer_literal(side as i64), text];
    args.extend(remove);
    function::call("trim", args, &SessionInfo::default())
}

/// `@name`; the type is what the variable has now.
pub fn user_variable(name: &str, session: &SessionInfo) -> Expr {
    let name = name.to_lowercase();
    let known = session.user_variables.lock().get(&name).map(|(_, ty)| ty.clone());
    let mut ty = known.unwrap_or_else(|| ExprType::of_kind(Kind::Null)).nullable(true);
    (ty.origin, ty.bits, ty.strings) = (None, Bits::None, Strings::Varying);
    if ty.kind == Kind::Null {
        // It may have a value by the time it is read.
        ty.kind = Kind::Any;
    }
    Expr { kind: ExprKind::UserVariable(name.into()), ty }
}

/// `@name := value`
pub fn assign_variable(name: &str, value: Expr) -> Expr {
    let ty = match value.ty.kind {
        Kind::Json => ExprType::text(u32::MAX / 4, CollationId::UTF8MB4_BIN),
        _ => value.ty.clone(),
    };
    Expr { kind: ExprKind::AssignVariable { name: name.to_lowercase().into(), value: Box::new(value) }, ty }
}

/// The digits after the point of a setting that is a DOUBLE.
const DIGITS_OF_SETTING: u8 = 6;

/// `@@name`; `sample` is its value now, which says its type.
pub fn system_variable(scope: VariableScope, name: &str, sample: &Value, session: &SessionInfo) -> Expr {
    use crate::settings::{self, Kind as SettingKind};
    let kind = settings::find(name).map(|id| id.setting().kind);
    let mut ty = match (sample, kind) {
        (Value::Int(_), Some(SettingKind::Bool)) => ExprType::truth(true),
        (Value::Double(_), _) => ExprType::double(DIGITS_OF_SETTING),
        _ => type_of_value(sample, session.collation_connection).nullable(true),
    };
    ty.coercibility = if ty.kind.is_string() { Coercibility::SystemConstant } else { ty.coercibility };
    Expr { kind: ExprKind::SystemVariable { scope, name: name.to_lowercase().into() }, ty }
}
