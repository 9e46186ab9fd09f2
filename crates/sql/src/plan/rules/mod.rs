//! Rules: a block is rewritten before it is planned, so that less is read and computed for the same rows.
//!
//! Each rule is a file of its own and does its whole work in one call. They are applied to a block in this order, and to the blocks in it when those
//! are planned:
//!
//! | rule | before | after |
//! |---|---|---|
//! | [`outer_to_inner`] | `a LEFT JOIN b ON … WHERE b.x = 1` | `a JOIN b ON … WHERE b.x = 1` |
//! | [`merge_derived`] | `FROM (SELECT a + 1 AS b FROM t WHERE c) d WHERE b > 2` | `FROM t WHERE c AND a + 1 > 2` |
//! | [`semi_join`] | `WHERE EXISTS (SELECT … FROM b WHERE b.x = a.y)` | `a SEMI JOIN b ON b.x = a.y` |
//! | [`fold`] | `WHERE 1 + 1 = 2 AND x = 1 + 1` | `WHERE TRUE AND x = 2` |
//! | [`common_conditions`] | `(a AND b) OR (a AND c)` | `a AND (b OR c)` |
//! | [`branch_filters`] | `(a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4)` | the same `AND (a.x = 1 OR a.x = 3) AND (b.y = 2 OR b.y = 4)` |
//! | [`in_as_join`] | `WHERE x IN (SELECT y …)` | `JOIN (SELECT DISTINCT y …) ON x = y` |
//! | [`scalar_as_join`] | `WHERE x > (SELECT AVG(y) … WHERE k = outer)` | `JOIN (SELECT k, AVG(y) … GROUP BY k) ON k = outer WHERE x > …` |
//! | [`equal_constants`] | `a.x = b.x AND a.x = 5` | `a.x = b.x AND a.x = 5 AND b.x = 5` |
//! | [`equal_columns`] | `a.x = b.x AND b.x = c.x` | `a.x = b.x AND b.x = c.x AND a.x = c.x` |
//! | [`push_down`] | `FROM (SELECT a, COUNT(*) FROM t GROUP BY a) d WHERE a = 1` | `FROM (SELECT … FROM t WHERE a = 1 GROUP BY a) d` |
//! | [`prune_columns`] | `SELECT a FROM (SELECT a, b, MAX(c) …) d` | `SELECT a FROM (SELECT a, NULL, NULL …) d` |
//!
//! # Invariants
//! - The rows that a block gives are the same after each rule, and so is which errors and warnings its rows may raise that come to its result.
//! - Columns keep their numbers; what a rule makes anew has new ones.

pub(super) mod branch_filters;
mod common_conditions;
mod equal_columns;
pub(super) mod equal_constants;
mod fold;
pub(crate) mod in_as_join;
mod merge_derived;
mod outer_to_inner;
mod prune_columns;
mod push_down;
mod scalar_as_join;
mod semi_join;
mod substitute;

use base::SqlError;

use crate::bind::columns::Columns;
use crate::bind::tree::Block;
use crate::plan::PlanContext;

/// What a rule has beside the block.
pub(super) struct Rewrite<'r> {
    context: &'r PlanContext<'r>,
    columns: &'r mut Columns,
}

type Rule = fn(&mut Block, &mut Rewrite<'_>) -> Result<(), SqlError>;

/// The rules with their names, in their order.
const RULES: [(&str, Rule); 13] = [
    ("outer_to_inner", outer_to_inner::apply),
    ("merge_derived", merge_derived::apply),
    ("semi_join", semi_join::apply),
    // What was merged brings conditions and joins of its own.
    ("outer_to_inner", outer_to_inner::apply),
    ("fold", fold::apply),
    ("common_conditions", common_conditions::apply),
    ("branch_filters", branch_filters::apply),
    ("in_as_join", in_as_join::apply),
    ("scalar_as_join", scalar_as_join::apply),
    ("equal_constants", equal_constants::apply),
    ("equal_columns", equal_columns::apply),
    ("push_down", push_down::apply),
    ("prune_columns", prune_columns::apply),
];

/// Applies all of them to a block.
pub(super) fn rewrite(context: &PlanContext<'_>, columns: &mut Columns, block: &mut Block) -> Result<(), SqlError> {
    let mut rewrite = Rewrite { context, columns };
    RULES.iter().try_for_each(|(_, rule)| rule(block, &mut rewrite))
}

/// A query's outermost block as it was bound, and as each rule leaves it that changes it.
#[cfg(test)]
pub(crate) fn trace(context: &PlanContext<'_>, statement: &crate::parse::ast::Statement) -> Result<String, SqlError> {
    use crate::bind::{Binder, tree::BoundBody};
    use crate::plan::print::text;
    let crate::parse::ast::Statement::Query(query) = statement else { return Ok("no query".into()) };
    let mut binder = Binder::new(context);
    let bound = binder.bind_query(query)?;
    let BoundBody::Block(mut block) = bound.body else { return Ok("no block".into()) };
    let mut columns = std::mem::take(&mut binder.columns);
    let mut last = text(&block, &columns);
    let mut trace = last.clone();
    for (name, rule) in RULES {
        rule(&mut block, &mut Rewrite { context, columns: &mut columns })?;
        let now = text(&block, &columns);
        if now != last {
            trace.push_str(&format!("-- {name}\n{now}"));
            last = now;
        }
    }
    Ok(trace)
}
