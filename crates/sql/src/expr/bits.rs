//! Bit operators and aggregates: of numbers as 64 bits, of binary strings bit by bit. A bit or hexadecimal literal is a number unless it stands beside a binary
//! string.

use base::{SqlError, codes};
use types::Value;

use crate::expr::BitOp;
use crate::expr::aggregate::AggregateFunction;
use crate::expr::beside::{literal_bits, numeric_arg};
use crate::expr::build::unsigned_literal;
use crate::expr::coerce;
use crate::expr::context::EvalContext;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};
use crate::expr::whole;

/// The longest binary string that an aggregate takes.
const LONGEST_AGGREGATED: u32 = 511;

/// Whether bit operators work on all bits of its value.
fn is_binary(expr: &Expr) -> bool {
    expr.ty.kind == Kind::Bytes && literal_bits(expr).is_none()
}

/// `| & ^ << >>`
pub(crate) fn bit(op: BitOp, left: Expr, right: Expr) -> Expr {
    let is_shift = matches!(op, BitOp::ShiftLeft | BitOp::ShiftRight);
    let both = left.ty.kind == Kind::Bytes && right.ty.kind == Kind::Bytes && (is_binary(&left) || is_binary(&right));
    let nullable = left.ty.nullable || right.ty.nullable;
    let (left, right, ty) = match (is_shift, both) {
        (true, _) if is_binary(&left) => {
            let ty = ExprType::bytes(left.ty.length);
            (left, numeric_arg(right), ty)
        }
        (false, true) => {
            let ty = ExprType::bytes(left.ty.length.max(right.ty.length));
            (left, right, ty)
        }
        _ => (numeric_arg(left), numeric_arg(right), ExprType::of_kind(Kind::UInt)),
    };
    Expr { kind: ExprKind::Bit { op, args: Box::new([left, right]) }, ty: ty.nullable(nullable) }
}

/// `~arg`, which is `arg ^` all bits.
pub(crate) fn bit_not(arg: Expr) -> Expr {
    let all = unsigned_literal(u64::MAX);
    if !is_binary(&arg) {
        return bit(BitOp::Xor, arg, all);
    }
    let ty = ExprType::bytes(arg.ty.length).nullable(arg.ty.nullable);
    Expr { kind: ExprKind::Bit { op: BitOp::Xor, args: Box::new([arg, all]) }, ty }
}

/// The argument of BIT_AND and its kin, or of BIT_COUNT.
pub(super) fn argument(arg: Expr) -> Expr {
    if is_binary(&arg) { arg } else { numeric_arg(arg) }
}

/// The type of an aggregate of bits; 3514 if the values may be too long.
pub(super) fn aggregate_type(arg: &ExprType) -> Result<ExprType, SqlError> {
    if arg.kind != Kind::Bytes {
        return Ok(ExprType { length: 21, ..ExprType::of_kind(Kind::UInt) }.nullable(false));
    }
    if arg.origin.is_some() && arg.length > LONGEST_AGGREGATED {
        let message = "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; \
                       consider using the SUBSTRING() function";
        return Err(SqlError::new(codes::BITWISE_AGGREGATE_TOO_LONG, message));
    }
    Ok(ExprType::bytes(arg.length).nullable(false))
}

/// The value of a [`Bit`](ExprKind::Bit) of the type `ty`.
pub(super) fn eval<'a>(
    op: BitOp,
    args: &'a [Expr; 2],
    ty: &ExprType,
    row: &'a [Value],
    ctx: &EvalContext<'a>,
) -> Result<Value, SqlError> {
    let operand = |arg: &'a Expr| match is_binary(arg) {
        true => arg.eval_ref(row, ctx),
        false => arg.eval_whole(row, ctx),
    };
    let (left, right) = (operand(&args[0])?, operand(&args[1])?);
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    if ty.kind == Kind::Bytes {
        return Ok(Value::Bytes(of_binary(op, &left, &right, ctx)?.into()));
    }
    let (left, right) = (whole::without_fraction(&args[0], left), whole::without_fraction(&args[1], right));
    whole::check_whole(&args[0], &left, ctx)?;
    whole::check_whole(&args[1], &right, ctx)?;
    let (Some(a), Some(b)) = (coerce::to_bits(&left, ctx)?, coerce::to_bits(&right, ctx)?) else {
        return Ok(Value::Null);
    };
    let shift = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Ok(Value::UInt(match op {
        BitOp::Or => a | b,
        BitOp::And => a & b,
        BitOp::Xor => a ^ b,
        BitOp::ShiftLeft => a.checked_shl(shift(b)).unwrap_or(0),
        BitOp::ShiftRight => a.checked_shr(shift(b)).unwrap_or(0),
    }))
}

fn of_binary(op: BitOp, left: &Value, right: &Value, ctx: &EvalContext<'_>) -> Result<Vec<u8>, SqlError> {
    let mut bytes = left.as_bytes().map(|bytes| bytes.to_vec()).unwrap_or_default();
    match (op, right.as_bytes()) {
        (BitOp::ShiftLeft | BitOp::ShiftRight, _) => {
            return Ok(shifted(&bytes, op == BitOp::ShiftLeft, coerce::to_bits(right, ctx)?.unwrap_or(0)));
        }
        (_, Some(right)) => together(op, &mut bytes, right)?,
        // All bits of `~`.
        (_, None) => bytes.iter_mut().for_each(|byte| *byte = !*byte),
    }
    Ok(bytes)
}

/// Puts the bits of another binary string to those of one; 3513 if they have not the same length.
fn together(op: BitOp, bytes: &mut [u8], other: &[u8]) -> Result<(), SqlError> {
    if bytes.len() != other.len() {
        let message = "Binary operands of bitwise operators must be of equal length";
        return Err(SqlError::new(codes::INVALID_BITWISE_OPERANDS_SIZE, message));
    }
    for (byte, &other) in bytes.iter_mut().zip(other) {
        match op {
            BitOp::Or => *byte |= other,
            BitOp::And => *byte &= other,
            _ => *byte ^= other,
        }
    }
    Ok(())
}

fn shifted(bytes: &[u8], left: bool, places: u64) -> Vec<u8> {
    let whole = usize::try_from(places / 8).unwrap_or(usize::MAX);
    let bits = (places % 8) as u32;
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).map_or(0u16, |&byte| byte.into());
    (0..bytes.len())
        .map(|at| match left {
            true => {
                let from = at.checked_add(whole);
                let pair = byte(from) << 8 | byte(from.and_then(|from| from.checked_add(1)));
                (pair << bits >> 8) as u8
            }
            false => {
                let from = at.checked_sub(whole);
                let pair = byte(from.and_then(|from| from.checked_sub(1))) << 8 | byte(from);
                (pair >> bits) as u8
            }
        })
        .collect()
}

/// How many bits are set.
pub(super) fn count(arg: &Expr, value: &Value, ctx: &EvalContext<'_>) -> Result<Option<u32>, SqlError> {
    match value {
        Value::Bytes(bytes) if arg.ty.kind == Kind::Bytes => Ok(Some(bytes.iter().map(|byte| byte.count_ones()).sum())),
        _ => {
            whole::check_whole(arg, value, ctx)?;
            Ok(coerce::to_bits(value, ctx)?.map(u64::count_ones))
        }
    }
}

/// What an aggregate of bits has seen of a group.
#[derive(Clone, Debug)]
pub(super) enum BitsSoFar {
    Number(u64),
    Binary(Option<Vec<u8>>),
}

impl BitsSoFar {
    pub(super) fn start(function: AggregateFunction, ty: &ExprType) -> Self {
        match ty.kind {
            Kind::Bytes => BitsSoFar::Binary(None),
            _ => BitsSoFar::Number(if function == AggregateFunction::BitAnd { u64::MAX } else { 0 }),
        }
    }

    pub(super) fn add(
        &mut self,
        function: AggregateFunction,
        arg: &Expr,
        value: &Value,
        ctx: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let op = match function {
            AggregateFunction::BitAnd => BitOp::And,
            AggregateFunction::BitOr => BitOp::Or,
            _ => BitOp::Xor,
        };
        match self {
            BitsSoFar::Binary(so_far) => {
                let bytes = value.as_bytes().map(|bytes| &bytes[..]).unwrap_or_default();
                match so_far {
                    Some(so_far) => return together(op, so_far, bytes),
                    None => *so_far = Some(bytes.to_vec()),
                }
            }
            BitsSoFar::Number(bits) => {
                whole::check_whole(arg, value, ctx)?;
                let n = coerce::to_bits(value, ctx)?.unwrap_or(0);
                match op {
                    BitOp::And => *bits &= n,
                    BitOp::Or => *bits |= n,
                    _ => *bits ^= n,
                }
            }
        }
        Ok(())
    }

    /// Adds all of another one.
    pub(super) fn join(&mut self, function: AggregateFunction, other: &BitsSoFar) -> Result<(), SqlError> {
        let op = match function {
            AggregateFunction::BitAnd => BitOp::And,
            AggregateFunction::BitOr => BitOp::Or,
            _ => BitOp::Xor,
        };
        match (self, other) {
            (BitsSoFar::Binary(Some(bytes)), BitsSoFar::Binary(Some(other))) => together(op, bytes, other),
            (BitsSoFar::Binary(bytes), BitsSoFar::Binary(other)) => {
                *bytes = bytes.take().or_else(|| other.clone());
                Ok(())
            }
            (BitsSoFar::Number(bits), BitsSoFar::Number(other)) => {
                match op {
                    BitOp::And => *bits &= other,
                    BitOp::Or => *bits |= other,
                    _ => *bits ^= other,
                }
                Ok(())
            }
            (BitsSoFar::Binary(_), BitsSoFar::Number(_)) | (BitsSoFar::Number(_), BitsSoFar::Binary(_)) => Ok(()),
        }
    }

    /// Of no values, all bits or none of the longest that there could be.
    pub(super) fn finish(self, function: AggregateFunction, ty: &ExprType) -> Value {
        match self {
            BitsSoFar::Number(bits) => Value::UInt(bits),
            BitsSoFar::Binary(bytes) => {
                let neutral = if function == AggregateFunction::BitAnd { 0xff } else { 0 };
                let length = ty.length.min(LONGEST_AGGREGATED) as usize;
                Value::Bytes(bytes.unwrap_or_else(|| vec![neutral; length]).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shifted;

    #[test]
    fn shifts_go_over_bytes() {
        assert_eq!(shifted(&[0x61, 0x62, 0, 0], true, 4), [0x16, 0x20, 0, 0]);
        assert_eq!(shifted(&[0x61, 0x62, 0, 0], false, 9), [0, 0x30, 0xb1, 0]);
        assert_eq!(shifted(&[0x61, 0x62], true, 100), [0, 0]);
        assert_eq!(shifted(&[0x61, 0x62], false, u64::MAX), [0, 0]);
        assert_eq!(shifted(&[0x61, 0x62], true, 8), [0x62, 0]);
    }
}
