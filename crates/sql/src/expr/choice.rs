//! CASE, NULLIF and the condition of IF: what they compare, and as what.

use base::SqlError;
use types::{CollationId, ColumnType, Value};

use crate::expr::CompareOp;
use crate::expr::beside::{beside, numeric_beside};
use crate::expr::build::{self, Mixed, agree, coerce_to, union_of};
use crate::expr::tree::{CastType, Expr, ExprKind};
use crate::expr::types::{Coercibility, ExprType, Kind};

/// CASE
pub fn case(operand: Option<Expr>, arms: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Result<Expr, SqlError> {
    let results = arms.iter().map(|(_, then)| &then.ty).chain(otherwise.as_ref().map(|otherwise| &otherwise.ty));
    let results: Vec<&ExprType> = results.collect();
    agree(&results, "case", Mixed::Allowed)?;
    let mut ty = union_of(results);
    ty.nullable |= otherwise.is_none();
    if let Some(operand) = &operand {
        let compared: Vec<&ExprType> =
            std::iter::once(&operand.ty).chain(arms.iter().map(|(when, _)| &when.ty)).collect();
        agree(&compared, "case", Mixed::Refused)?;
    }
    let arms = arms.into_iter().map(|(when, then)| (when, coerce_to(then, &ty)));
    let (operand, arms) = match operand {
        None => (None, arms.map(|(when, then)| (condition_of_if(when), then)).collect()),
        Some(operand) => compared(operand, arms.collect())?,
    };
    let otherwise = otherwise.map(|otherwise| Box::new(coerce_to(otherwise, &ty)));
    Ok(Expr { kind: ExprKind::Case { operand: operand.map(Box::new), arms, otherwise }, ty })
}

/// WHEN and THEN of a CASE.
pub(crate) type Arm = (Expr, Expr);

/// An operand and its arms in the form in which they are compared. An operand that is another value beside a number than beside
/// text, in a CASE that has both, becomes part of each arm's own condition.
fn compared(operand: Expr, arms: Vec<Arm>) -> Result<(Option<Expr>, Vec<Arm>), SqlError> {
    let form_beside = |when: &Expr| Form::beside(&operand, &when.ty);
    let first = arms.first().map_or(Form::Own, |(when, _)| form_beside(when));
    if arms.iter().all(|(when, _)| form_beside(when) == first) {
        let operand = first.of(operand)?;
        let mut prepared = Vec::with_capacity(arms.len());
        for (when, then) in arms {
            let when = Form::of_when(&when, &operand.ty).of(when)?;
            prepared.push((beside(when, &operand.ty, operand.as_column().is_some()), then));
        }
        return Ok((Some(operand), prepared));
    }
    let mut prepared = Vec::with_capacity(arms.len());
    for (when, then) in arms {
        let operand = form_beside(&when).of(operand.clone())?;
        let when = Form::of_when(&when, &operand.ty).of(when)?;
        prepared.push((build::compare(CompareOp::Eq, operand, when)?, then));
    }
    Ok((None, prepared))
}

/// What an operand of CASE is for a value that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Its own value.
    Own,
    /// Its number: the place of an ENUM's member, the bits of a SET, `0x41`.
    Number,
    /// The number that a JSON scalar is.
    JsonNumber,
    /// The text of a JSON document. Unlike `=`, CASE does not compare documents.
    JsonText,
    /// The text of a date or a time behind WHEN, where the operand is text.
    MomentText,
}

impl Form {
    /// Of a value beside one of type `other`.
    fn beside(own: &Expr, other: &ExprType) -> Form {
        let is_choice = matches!(own.ty.origin, Some(ColumnType::Enum { .. } | ColumnType::Set { .. }))
            || matches!(own.kind, ExprKind::Literal(Value::Bytes(_)));
        match (own.ty.kind, other.kind) {
            (Kind::Json, other) if other.is_numeric() => Form::JsonNumber,
            (Kind::Json, _) => Form::JsonText,
            (_, other) if is_choice && other.is_numeric() => Form::Number,
            _ => Form::Own,
        }
    }

    /// Of a value behind WHEN.
    fn of_when(when: &Expr, operand: &ExprType) -> Form {
        match operand.kind == Kind::Str && when.ty.kind.is_temporal() {
            true => Form::MomentText,
            false => Form::beside(when, operand),
        }
    }

    fn of(self, arg: Expr) -> Result<Expr, SqlError> {
        match self {
            Form::Own => Ok(arg),
            Form::Number => Ok(numeric_beside(arg)),
            Form::JsonNumber => build::cast(arg, CastType::Double, CollationId::BINARY),
            Form::MomentText => {
                let text = build::cast(arg, CastType::Char { chars: None }, CollationId::DEFAULT)?;
                Ok(Expr { ty: ExprType { coercibility: Coercibility::Numeric, ..text.ty }, ..text })
            }
            Form::JsonText => build::cast(arg, CastType::Char { chars: None }, CollationId::UTF8MB4_BIN),
        }
    }
}

/// The condition of IF, or of WHEN, which takes a JSON scalar for its number, while WHERE and AND compare a document with 0.
pub(crate) fn condition_of_if(arg: Expr) -> Expr {
    match arg.ty.kind {
        Kind::Json => build::cast(arg.clone(), CastType::Double, CollationId::BINARY).unwrap_or(arg),
        _ => arg,
    }
}
