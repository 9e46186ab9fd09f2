//! What each branch of an OR asks of one table: `(a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4)` asks for `a.x = 1 OR a.x = 3` too, which is checked, or
//! looked up, before the tables are joined. The OR itself stays.
//!
//! Only comparisons of a column with constants of its kind are taken out of a branch: they raise no warnings for rows that no join would have
//! given.

use base::SqlError;

use crate::bind::scope::place_of;
use crate::bind::tree::{Block, FromTree};
use crate::expr::{Constancy, Expr, ExprKind, build};
use crate::plan::conditions::TableSet;
use crate::plan::rules::Rewrite;
use crate::plan::rules::common_conditions::conjuncts;

/// ORs of more branches stay as they are.
const BRANCHES_MAX: usize = 64;

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    let mut found = Vec::new();
    let place = |id| {
        let crate::bind::columns::ColumnSource::Column { table, .. } = rewrite.columns.source(id) else { return None };
        place_of(table, &block.tables)
    };
    block.filter.iter().for_each(|condition| filters(condition, &place, &mut found));
    block.from.iter().for_each(|from| of_joins(from, &place, &mut found));
    found.retain(|filter| !block.filter.contains(filter));
    block.filter.extend(found);
    Ok(())
}

/// Those of inner joins that are in no outer one, whose conditions are as good as those of WHERE.
fn of_joins(tree: &FromTree, place: &dyn Fn(usize) -> Option<usize>, found: &mut Vec<Expr>) {
    if let FromTree::Join { left, right, kind, on } = tree {
        of_joins(left, place, found);
        if kind.is_inner() {
            of_joins(right, place, found);
            on.iter().for_each(|condition| filters(condition, place, found));
        }
    }
}

/// One condition for each table of which every branch asks something.
fn filters(condition: &Expr, place: &dyn Fn(usize) -> Option<usize>, found: &mut Vec<Expr>) {
    let ExprKind::Or(branches) = &condition.kind else { return };
    let tables = |expr: &Expr| TableSet::of(expr.slots().iter().filter_map(place));
    let all = tables(condition);
    if branches.len() > BRANCHES_MAX || all.0.count_ones() < 2 {
        return;
    }
    for table in (0..128).filter(|table| all.meets(TableSet::one(*table))) {
        let asks = |branch: &Expr| {
            let own = |part: &&Expr| tables(part) == TableSet::one(table) && is_simple(part);
            let parts: Vec<Expr> = conjuncts(branch).iter().filter(own).cloned().collect();
            (!parts.is_empty()).then(|| Expr::and(parts))
        };
        let parts: Option<Vec<Expr>> = branches.iter().map(asks).collect();
        found.extend(parts.map(|parts| Expr { kind: ExprKind::Or(parts), ty: condition.ty.clone() }));
    }
}

/// A comparison of a column with constants of its kind.
fn is_simple(expr: &Expr) -> bool {
    let args: Vec<&Expr> = match &expr.kind {
        ExprKind::Compare { args, .. } => args.iter().collect(),
        ExprKind::Between { args } => args.iter().collect(),
        ExprKind::Like { args, .. } => args.iter().collect(),
        ExprKind::In { value, list } => std::iter::once(&**value).chain(list).collect(),
        ExprKind::IsNull(arg) => vec![&**arg],
        ExprKind::Not(inner) => return is_simple(inner),
        _ => return false,
    };
    let Some(column) = args.iter().find(|arg| arg.as_column().is_some()) else { return false };
    let is_alike = |arg: &&&Expr| {
        arg.ty.kind == column.ty.kind
            || arg.ty.kind.is_numeric() && column.ty.kind.is_numeric()
            || build::is_constant_beside(arg)
    };
    let is_known = |arg: &&&Expr| arg.as_column().is_some() || arg.constancy() == Constancy::Literal;
    args.iter().all(|arg| is_known(&arg) && is_alike(&arg))
}

/// Whether a condition on one table is what this rule has taken out of another one.
pub(crate) fn is_part_of(filter: &Expr, condition: &Expr) -> bool {
    let (ExprKind::Or(asked), ExprKind::Or(branches)) = (&filter.kind, &condition.kind) else { return false };
    let within = |(part, branch): (&Expr, &Expr)| conjuncts(part).iter().all(|part| conjuncts(branch).contains(part));
    asked.len() == branches.len() && asked.iter().zip(branches).all(within)
}
