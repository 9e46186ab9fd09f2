//! GROUPING: which of the keys of GROUP BY … WITH ROLLUP are rolled up in a row.
//!
//! It has two forms: with its own arguments, until the binder knows which keys they are; then with the number of keys that a row is grouped by, and
//! the keys' places. Only the second is evaluated.

use base::SqlError;
use types::Value;

use super::{Function, FunctionInfo, MANY, build, int, line};
use crate::expr::context::SessionInfo;
use crate::expr::tree::{Expr, ExprKind};

/// Not by name: see [`grouping_of`]. The binder puts something else in its place.
static GROUPING_OF: FunctionInfo =
    line("grouping of", 1, MANY, int, |_| Err(SqlError::unknown("a GROUPING() whose keys were not looked for")));

/// Not by name: see [`grouping`].
static GROUPING: FunctionInfo = line("grouping", 1, MANY, int, |args| {
    let Some(grouped) = args.int(0)? else { return Ok(Value::Null) };
    let mut bits = 0_i64;
    for at in 1..args.len() {
        bits = bits << 1 | i64::from(args.int(at)?.is_some_and(|key| key >= grouped));
    }
    Ok(Value::Int(bits))
});

/// `GROUPING(args)` before it is known which keys they are.
pub(crate) fn grouping_of(args: Vec<Expr>) -> Expr {
    build(&GROUPING_OF, args, &SessionInfo::default())
}

/// The arguments of what [`grouping_of`] makes.
pub(crate) fn is_grouping_of(expr: &Expr) -> Option<&[Expr]> {
    match &expr.kind {
        ExprKind::Call { function, args } if *function == Function(&GROUPING_OF) => Some(args),
        _ => None,
    }
}

/// `GROUPING` of these keys, the last of which is the lowest bit. `grouped` says how many of the first keys a row is grouped by.
pub(crate) fn grouping(grouped: Expr, keys: &[usize]) -> Expr {
    let args = std::iter::once(grouped).chain(keys.iter().map(|key| Expr::int(*key as i64))).collect();
    build(&GROUPING, args, &SessionInfo::default())
}

/// Whether it is what [`grouping`] makes.
pub(crate) fn is_grouping(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if *function == Function(&GROUPING))
}
