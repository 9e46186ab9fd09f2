//! Arguments in the form in which some functions take them.

use types::{ColumnType, Value};

use crate::expr::beside::{literal_bits, numeric_arg};
use crate::expr::bits;
use crate::expr::tree::{CastType, Expr, ExprKind};
use crate::expr::types::{Coercibility, ExprType, Kind};

/// Arguments of functions that take their numbers in a way of their own.
pub(super) fn in_form(name: &str, args: Vec<Expr>) -> Vec<Expr> {
    match name {
        "bit_count" => args.into_iter().map(bits::argument).collect(),
        // Beside a number all are numbers.
        "field" if args.iter().any(|arg| arg.ty.kind.is_numeric()) => args.into_iter().map(numeric_arg).collect(),
        // The bits of a BIT are a binary string.
        "concat" | "concat_ws" => args.into_iter().map(bits_as_bytes).collect(),
        // A literal in bits is rounded as text is, as a DOUBLE.
        "round" | "truncate" => {
            args.into_iter().enumerate().map(|(at, arg)| if at == 0 { as_double(arg) } else { arg }).collect()
        }
        _ => args,
    }
}

fn bits_as_bytes(arg: Expr) -> Expr {
    match (arg.as_column(), &arg.ty.origin) {
        (Some(_), Some(ColumnType::Bit { bits })) => {
            let ty = ExprType { coercibility: Coercibility::Implicit, ..ExprType::bytes(u32::from(bits.div_ceil(8))) };
            let ty = ty.nullable(arg.ty.nullable);
            Expr { kind: ExprKind::Cast { arg: Box::new(arg), to: CastType::Binary { bytes: None } }, ty }
        }
        _ => arg,
    }
}

fn as_double(arg: Expr) -> Expr {
    match literal_bits(&arg) {
        Some(bits) => Expr::literal(Value::Double(bits as f64), ExprType::of_kind(Kind::Double).nullable(false)),
        None => arg,
    }
}
