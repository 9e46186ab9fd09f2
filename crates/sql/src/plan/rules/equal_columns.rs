//! Columns that are equal to the same one are equal to each other: `a.x = b.x AND b.x = c.x` asks for `a.x = c.x` too, so that `a` and `c` may be joined
//! before `b`. What a chosen order does not need of it is dropped when the joins are made ([`crate::plan::equalities`]).

use base::SqlError;

use crate::bind::tree::Block;
use crate::expr::{CompareOp, Expr, build};
use crate::plan::rules::Rewrite;
use crate::plan::rules::equal_constants::Equalities;

/// More columns that are equal to each other than this get no new conditions: all pairs of them are the square.
const CLASS_MAX: usize = 8;

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    if block.tables.len() < 3 {
        return Ok(());
    }
    let found = Equalities::of(block, rewrite.columns);
    let place = |expr: &Expr| rewrite.columns.place(expr.as_column()?, &block.tables);
    let mut classes: Vec<Vec<Expr>> = Vec::new();
    for (left, right) in &found.pairs {
        if found.constant_of(left.as_column()).is_some() || found.constant_of(right.as_column()).is_some() {
            continue;
        }
        let class_of = |expr: &Expr| classes.iter().position(|class| class.contains(expr));
        match (class_of(left), class_of(right)) {
            (None, None) => classes.push(vec![left.clone(), right.clone()]),
            (Some(class), None) => classes[class].push(right.clone()),
            (None, Some(class)) => classes[class].push(left.clone()),
            (Some(one), Some(other)) if one != other => {
                let moved = classes.swap_remove(one.max(other));
                classes[one.min(other)].extend(moved);
            }
            _ => {}
        }
    }
    let mut new = Vec::new();
    let is_known = |a: &Expr, b: &Expr| found.pairs.iter().any(|(x, y)| (x == a && y == b) || (x == b && y == a));
    for class in classes.iter().filter(|class| (3..=CLASS_MAX).contains(&class.len())) {
        for (number, left) in class.iter().enumerate() {
            for right in &class[number + 1..] {
                let is_of_two = place(left).map(|(table, _)| table) != place(right).map(|(table, _)| table);
                if is_of_two && !is_known(left, right) {
                    new.push(build::compare(CompareOp::Eq, left.clone(), right.clone())?);
                }
            }
        }
    }
    block.filter.extend(new);
    Ok(())
}
