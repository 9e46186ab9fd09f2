//! Which collation strings that meet in an operation agree on, and the error if they agree on none.

use base::{SqlError, codes};
use types::CollationId;

use crate::expr::types::{Coercibility, ExprType, Kind, aggregate_collations};

/// A truth value whose operands are compared by the collation on which their types agree; 1267 if they do not.
pub(super) fn condition(operands: &[&ExprType], operation: &str, mixed: Mixed) -> Result<ExprType, SqlError> {
    let agreed = agree(operands, operation, mixed)?;
    let mut ty = ExprType::truth(operands.iter().any(|operand| operand.nullable));
    ty.collation = agreed.map_or(CollationId::DEFAULT, |(collation, _)| collation);
    // What is unknown may be text beside text; beside a binary string anything is one.
    let has = |kind| operands.iter().any(|operand| operand.kind == kind);
    if has(Kind::Any) && !has(Kind::Bytes) && ty.collation == CollationId::BINARY {
        let named = operands.iter().find(|operand| operand.kind == Kind::Str);
        ty.collation = named.map_or(CollationId::DEFAULT, |operand| operand.collation);
    }
    Ok(ty)
}

/// Whether an operation works on strings whose collations differ and insist equally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mixed {
    /// It compares them, and would not know how.
    Refused,
    /// The same of `=` and its kin, where the other side's collation does not settle a conflict inside of the first if it is the one that the first has.
    Unsettled,
    /// It only puts them together. (COLLATE on both sides is refused yet, and so are character sets that have each what the other has not.)
    Allowed,
}

/// The collation on which the strings among the operands agree, and how strongly; `None` if there are no strings. 1267 if they
/// do not agree.
pub(crate) fn agree(
    operands: &[&ExprType],
    operation: &str,
    mixed: Mixed,
) -> Result<Option<(CollationId, Coercibility)>, SqlError> {
    if let (Mixed::Unsettled, [first, second]) = (mixed, operands)
        && first.coercibility == Coercibility::None
        && second.kind.is_string()
        && first.collation == second.collation
    {
        return Err(illegal_mix(operands, operation));
    }
    let mut all: Option<ExprType> = None;
    let (mut conflict, mut is_apart) = (false, false);
    for &operand in operands {
        let next = match all {
            None => operand.clone(),
            Some(so_far) => {
                let explicit = |ty: &ExprType| ty.coercibility == Coercibility::Explicit;
                let unsettled = |ty: &ExprType| ty.coercibility == Coercibility::None;
                if explicit(&so_far) && explicit(operand) && so_far.collation != operand.collation {
                    return Err(illegal_mix(operands, operation));
                }
                let (collation, coercibility) = aggregate_collations(&so_far, operand);
                let both_unsettled = unsettled(&so_far) && unsettled(operand);
                let none_before = !unsettled(&so_far) && !unsettled(operand);
                conflict |= coercibility == Coercibility::None && (both_unsettled || none_before);
                let is_same_set = so_far.collation.charset() == operand.collation.charset();
                is_apart |= coercibility == Coercibility::None && none_before && !is_same_set;
                // COLLATE settles what was in conflict before it.
                conflict &= !explicit(operand);
                is_apart &= !explicit(operand);
                let kind = if operand.kind.is_string() { operand.kind } else { so_far.kind };
                ExprType { kind, collation, coercibility, ..so_far }
            }
        };
        all = Some(next);
    }
    if is_apart || conflict && mixed != Mixed::Allowed {
        return Err(illegal_mix(operands, operation));
    }
    let agreed = all.filter(|all| all.kind.is_string() || all.kind == Kind::Any);
    Ok(agreed.map(|all| (all.collation, all.coercibility)))
}

/// 1267, 1270 or 1271, by how many there are.
fn illegal_mix(operands: &[&ExprType], operation: &str) -> SqlError {
    let side = |ty: &&ExprType| {
        let strength = match ty.coercibility {
            Coercibility::Explicit => "EXPLICIT",
            Coercibility::None => "NONE",
            Coercibility::Implicit | Coercibility::VirtualColumn => "IMPLICIT",
            Coercibility::SystemConstant => "SYSCONST",
            Coercibility::Coercible => "COERCIBLE",
            Coercibility::Numeric => "NUMERIC",
            Coercibility::Ignorable => "NULL",
        };
        // What is no text would be plain ASCII.
        let name = if ty.kind.is_string() { ty.collation.name() } else { "latin1_swedish_ci" };
        format!("({name},{strength})")
    };
    let sides: Vec<String> = operands.iter().map(side).collect();
    match &sides[..] {
        [a, b] => {
            let message = format!("Illegal mix of collations {a} and {b} for operation '{operation}'");
            SqlError::new(codes::CANT_AGGREGATE_2COLLATIONS, message)
        }
        [a, b, c] => {
            let message = format!("Illegal mix of collations {a}, {b}, {c} for operation '{operation}'");
            SqlError::new(codes::CANT_AGGREGATE_3COLLATIONS, message)
        }
        _ => {
            let message = format!("Illegal mix of collations for operation '{operation}'");
            SqlError::new(codes::CANT_AGGREGATE_NCOLLATIONS, message)
        }
    }
}
