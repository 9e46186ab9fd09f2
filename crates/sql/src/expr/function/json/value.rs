//! JSON_VALUE: one scalar of a document as an SQL value of a type.
//!
//! Its arguments are the document, the path, a literal that says what becomes of errors and of nothing ([`Behavior`]), and the
//! two DEFAULTs, converted to the type already.

use super::*;
use crate::expr::tree::CastType;

/// What ON EMPTY or ON ERROR says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behavior {
    /// NULL
    Null,
    /// ERROR
    Error,
    /// DEFAULT, a value.
    Default,
}

/// A call of JSON_VALUE before it is an expression.
pub(crate) struct JsonValue {
    pub(crate) document: Expr,
    pub(crate) path: Expr,
    /// The type that RETURNING names; without it VARCHAR(512).
    pub(crate) ty: ExprType,
    pub(crate) on_empty: (Behavior, Option<Expr>),
    pub(crate) on_error: (Behavior, Option<Expr>),
}

impl JsonValue {
    /// The call.
    pub(crate) fn build(self) -> Result<Expr, SqlError> {
        let behaviors = self.on_empty.0 as i64 * 3 + self.on_error.0 as i64;
        let default = |(_, default): (Behavior, Option<Expr>)| default.unwrap_or_else(Expr::null);
        let args = vec![self.document, self.path, Expr::int(behaviors), default(self.on_empty), default(self.on_error)];
        let mut call = super::super::call("json_value", args, &SessionInfo::default())?;
        call.ty = ExprType { coercibility: crate::expr::types::Coercibility::Implicit, ..self.ty }.nullable(true);
        Ok(call)
    }
}

pub(super) fn infer(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::text(512, CollationId::UTF8MB4_BIN)
}

fn behavior(number: i64) -> Behavior {
    match number {
        1 => Behavior::Error,
        2 => Behavior::Default,
        _ => Behavior::Null,
    }
}

pub(super) fn eval(args: &Args<'_>) -> Result<Value, SqlError> {
    let behaviors = args.int(2)?.unwrap_or(0);
    let (on_empty, on_error) = (behavior(behaviors / 3), behavior(behaviors % 3));
    let fail = |error: SqlError| match on_error {
        Behavior::Error => Err(error),
        Behavior::Null => Ok(Value::Null),
        Behavior::Default => args.value(4).map(|value| value.into_owned()),
    };
    let document = match args.document(0, "json_value") {
        Ok(document) => some!(document),
        Err(error) if error.code == codes::INVALID_JSON_TEXT_IN_PARAM.0 => return fail(error),
        Err(error) => return Err(error),
    };
    let path = some!(args.path(1)?);
    match args.found(&path, &document)?[..] {
        [] => match on_empty {
            Behavior::Null => Ok(Value::Null),
            Behavior::Default => args.value(3).map(|value| value.into_owned()),
            Behavior::Error => {
                let message = "No value was found by 'json_value' on the specified path.";
                Err(SqlError::new(codes::MISSING_JSON_VALUE, message))
            }
        },
        [Json::Null] => Ok(Value::Null),
        [one] => match returned(one, args)? {
            Some(value) => Ok(value),
            None => {
                let name = type_name(args.ty);
                let message = format!("{name} value is out of range in 'json_value'");
                fail(SqlError::new(codes::DATA_OUT_OF_RANGE, message))
            }
        },
        _ => {
            let message = "More than one value was found by 'json_value' on the specified path.";
            fail(SqlError::new(codes::MULTIPLE_JSON_VALUES, message))
        }
    }
}

fn type_name(ty: &ExprType) -> &'static str {
    match ty.kind {
        Kind::Int => "SIGNED",
        Kind::UInt if ty.origin.is_some() => "YEAR",
        Kind::UInt => "UNSIGNED",
        Kind::Decimal => "DECIMAL",
        Kind::Float => "FLOAT",
        Kind::Double => "DOUBLE",
        Kind::Date => "DATE",
        Kind::Time => "TIME",
        Kind::DateTime => "DATETIME",
        _ => "STRING",
    }
}

/// The value in the type that was asked for; `None` if it does not fit.
fn returned(json: &Json, args: &Args<'_>) -> Result<Option<Value>, SqlError> {
    let ty = args.ty;
    let text = || {
        let mut out = String::new();
        json.write_unquoted(&mut out);
        out
    };
    Ok(match ty.kind {
        Kind::Json => Some(json::value(json)?),
        Kind::Str => Some(text()).filter(|text| text.chars().count() <= ty.length as usize).map(Value::from),
        Kind::Bytes => {
            Some(text()).filter(|text| text.len() <= ty.length as usize).map(|text| Value::Bytes(text.into()))
        }
        _ => {
            let Some(plain) = json::plain(json) else { return Ok(None) };
            // A conversion that would warn fails.
            let warnings = crate::expr::context::Warnings::default();
            let strict = crate::expr::EvalContext { strict: true, warnings: &warnings, ..*args.ctx };
            let to = cast_to(ty);
            let value = crate::expr::cast::eval(&plain, &ExprType::text(0, CollationId::UTF8MB4_BIN), to, ty, &strict);
            let value = with_its_digits(value.unwrap_or(Value::Null), ty);
            let wraps = wraps(to, &plain, json);
            Some(value).filter(|value| !value.is_null() && !wraps && warnings.is_empty())
        }
    })
}

/// Whether an integer would only wrap, or be the nearest that there is.
fn wraps(to: CastType, plain: &Value, json: &Json) -> bool {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match (to, plain) {
        (CastType::Unsigned, Value::Double(n)) => !(0.0..BEYOND * 2.0).contains(&n.round_ties_even()),
        (CastType::Unsigned, Value::Str(text)) => {
            json.number() < 0.0 || types::number::parse_integer(text).0 > i128::from(u64::MAX)
        }
        (CastType::Unsigned, _) => json.number() < 0.0,
        (CastType::Signed, Value::UInt(n)) => i64::try_from(*n).is_err(),
        (CastType::Signed, Value::Double(n)) => *n <= -BEYOND || *n >= BEYOND,
        _ => false,
    }
}

/// What is behind the digits of a moment is cut off, unlike by CAST.
fn with_its_digits(value: Value, ty: &ExprType) -> Value {
    match value {
        Value::Time(time) => Value::Time(time.truncated(ty.decimals)),
        Value::DateTime(moment) => Value::DateTime(moment.truncated(ty.decimals)),
        other => other,
    }
}

const FSP_MAX: u8 = 6;

fn cast_to(ty: &ExprType) -> CastType {
    match ty.kind {
        Kind::Int => CastType::Signed,
        Kind::UInt if ty.origin.is_some() => CastType::Year,
        Kind::UInt => CastType::Unsigned,
        Kind::Decimal => CastType::Decimal { precision: ty.length.min(65) as u8, scale: ty.decimals },
        Kind::Float => CastType::Float,
        Kind::Date => CastType::Date,
        Kind::Time => CastType::Time { fsp: FSP_MAX },
        Kind::DateTime => CastType::DateTime { fsp: FSP_MAX },
        _ => CastType::Double,
    }
}
