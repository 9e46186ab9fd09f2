//! Which part of the rows meets a condition on one column whose other values are known.
//!
//! The condition is tried on the values that buckets begin and end with. A bucket of which both meet it counts whole, one of which one meets it
//! for a half; and if neither does, an equality may still be with a value between them.

use types::Value;

use super::{Bucket, Histogram};
use crate::expr::{CompareOp, EvalContext, Expr, ExprKind};

/// The share of a condition that reads the column alone, in slot `slot`; `None` if it cannot be tried.
pub(crate) fn share(histogram: &Histogram, expr: &Expr, slot: usize, eval: &EvalContext<'_>) -> Option<f64> {
    let mut row = vec![Value::Null; slot + 1];
    let mut meets = |expr: &Expr, value: &Value| -> Option<bool> {
        row[slot] = value.clone();
        Some(expr.eval_truth(&row, eval).ok()? == Some(true))
    };
    let mut share = if meets(expr, &Value::Null)? { histogram.null_values } else { 0.0 };
    let mut before = 0.0;
    for bucket in &histogram.buckets {
        let rows = (bucket.cumulative - before).max(0.0);
        before = bucket.cumulative;
        let ends = [meets(expr, &bucket.lower)?, meets(expr, &bucket.upper)?];
        let part = match ends {
            [true, true] if !is_points(expr) || histogram.is_singleton => 1.0,
            [false, false] | [true, _] | [_, true] if is_points(expr) && !histogram.is_singleton => {
                between(expr, bucket, &mut meets)? / bucket.distinct as f64
            }
            [true, true] => 1.0,
            [false, false] => inside(expr, bucket, &mut meets)?,
            _ => 0.5,
        };
        share += rows * part.min(1.0);
    }
    Some(share)
}

/// Whether it asks for some values one by one.
fn is_points(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Compare { op: CompareOp::Eq | CompareOp::NullSafeEq, .. } | ExprKind::In { .. })
}

/// How many of the values that are asked for are between the ends of a bucket.
fn between(expr: &Expr, bucket: &Bucket, meets: &mut impl FnMut(&Expr, &Value) -> Option<bool>) -> Option<f64> {
    let mut compare = |value: &Expr, other: &Expr| -> Option<bool> {
        let with = |op| Expr {
            kind: ExprKind::Compare { op, args: Box::new([value.clone(), other.clone()]) },
            ty: expr.ty.clone(),
        };
        Some(meets(&with(CompareOp::LessEq), &bucket.lower)? && meets(&with(CompareOp::GreaterEq), &bucket.upper)?)
    };
    match &expr.kind {
        ExprKind::Compare { args, .. } => {
            let (column, value) =
                if args[0].as_column().is_some() { (&args[0], &args[1]) } else { (&args[1], &args[0]) };
            Some(f64::from(u8::from(compare(column, value)?)))
        }
        ExprKind::In { value, list } => {
            let mut found = 0.0;
            for item in list {
                found += f64::from(u8::from(compare(value, item)?));
            }
            Some(found)
        }
        _ => Some(0.0),
    }
}

/// What a range that neither end meets may have of a bucket: a value, if the range is inside of it.
fn inside(expr: &Expr, bucket: &Bucket, meets: &mut impl FnMut(&Expr, &Value) -> Option<bool>) -> Option<f64> {
    let ExprKind::Between { args } = &expr.kind else { return Some(0.0) };
    let with = |op, bound: &Expr| Expr {
        kind: ExprKind::Compare { op, args: Box::new([args[0].clone(), bound.clone()]) },
        ty: expr.ty.clone(),
    };
    let is_inside = meets(&with(CompareOp::Less, &args[1]), &bucket.lower)?
        && meets(&with(CompareOp::Greater, &args[2]), &bucket.upper)?;
    Some(if is_inside { 1.0 / bucket.distinct as f64 } else { 0.0 })
}
