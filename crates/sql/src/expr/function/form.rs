//! Arguments in the form in which some functions take them.

use types::{CollationId, Value};

use crate::expr::beside::{literal_bits, numeric_arg};
use crate::expr::bits;
use crate::expr::tree::{CastType, Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};

/// Arguments of functions that take their numbers in a way of their own.
pub(super) fn in_form(name: &str, args: Vec<Expr>) -> Vec<Expr> {
    match name {
        "bit_count" => args.into_iter().map(bits::argument).collect(),
        // Beside a number all are numbers.
        "field" if args.iter().any(|arg| arg.ty.kind.is_numeric()) => args.into_iter().map(numeric_arg).collect(),
        // Without a number a document is its text.
        "field" => args.into_iter().map(document_as_text).collect(),
        // A literal in bits is rounded as text is, as a DOUBLE.
        "round" | "truncate" => {
            args.into_iter().enumerate().map(|(at, arg)| if at == 0 { as_double(arg) } else { arg }).collect()
        }
        _ => {
            let form = |(at, arg)| if takes_text(name, at) { bits_as_bytes(arg) } else { arg };
            args.into_iter().enumerate().map(form).collect()
        }
    }
}

fn document_as_text(arg: Expr) -> Expr {
    if arg.ty.kind != Kind::Json {
        return arg;
    }
    let ty = ExprType::text(arg.ty.length, CollationId::UTF8MB4_BIN).nullable(arg.ty.nullable);
    Expr { kind: ExprKind::Cast { arg: Box::new(arg), to: CastType::Char { chars: None } }, ty }
}

/// Whether a function's argument is text, so that a BIT is its bytes there.
fn takes_text(name: &str, at: usize) -> bool {
    match name {
        "concat" | "concat_ws" | "replace" | "find_in_set" | "strcmp" => true,
        "elt" | "make_set" | "trim" => at > 0,
        "export_set" => (1..=3).contains(&at),
        "lpad" | "rpad" => at != 1,
        "insert" => at == 0 || at == 3,
        "substring_index" | "locate" | "position" | "instr" => at < 2,
        "substring" | "substr" | "mid" | "left" | "right" | "reverse" | "repeat" | "upper" | "ucase" | "lower"
        | "lcase" | "ltrim" | "rtrim" | "soundex" | "regexp_like" | "regexp_instr" | "regexp_substr" => at == 0,
        _ => false,
    }
}

/// The bits of a BIT as the binary string that they are where text is wanted.
pub(crate) fn bits_as_bytes(arg: Expr) -> Expr {
    if !arg.ty.is_bits() {
        return arg;
    }
    let ty = ExprType { coercibility: arg.ty.coercibility, ..ExprType::bytes(arg.ty.length) };
    let ty = ty.nullable(arg.ty.nullable);
    Expr { kind: ExprKind::Cast { arg: Box::new(arg), to: CastType::Binary { bytes: None } }, ty }
}

fn as_double(arg: Expr) -> Expr {
    match literal_bits(&arg) {
        Some(bits) => Expr::literal(Value::Double(bits as f64), ExprType::of_kind(Kind::Double).nullable(false)),
        None => arg,
    }
}
