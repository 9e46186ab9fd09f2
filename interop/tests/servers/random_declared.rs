//! Differences of random statements that docs/DIFFERENCES.md declares, as narrowly as their texts and codes tell them.

use std::collections::BTreeSet;

use interop::Answer;

use super::random_answers::Full;

const BAD_NULL: u16 = 1048;
const NOT_IN_GROUP_BY: u16 = 1055;
const WRONG_COLLATION: u16 = 1253;
const MIXED_COLLATIONS: u16 = 1267;
const TRUNCATED_WRONG_VALUE: u16 = 1292;
const DIVISION_BY_ZERO: u16 = 1365;
const DATETIME_OVERFLOW: u16 = 1441;
const OUT_OF_RANGE: u16 = 1690;
const TEMPORAL_OUT_OF_RANGE: u16 = 6527;

/// The code of a date or time that is out of range: which of two it is depends on where MySQL notices.
pub(crate) fn settled(code: u16) -> u16 {
    if code == TEMPORAL_OUT_OF_RANGE { DATETIME_OVERFLOW } else { code }
}

/// The same of a warning, `Warning 6527`.
pub(crate) fn settled_warning(warning: &str) -> String {
    warning.replace(&TEMPORAL_OUT_OF_RANGE.to_string(), &DATETIME_OVERFLOW.to_string())
}

/// Whether two answers that differ do so in a declared way.
pub(crate) fn is_declared(sql: &str, ours: &Full, theirs: &Full) -> bool {
    match (&ours.answer, &theirs.answer) {
        (Answer::Failed(a, _), Answer::Failed(b, _)) => is_other_error(sql, *a, *b),
        (Answer::Failed(code, _), _) => *code == OUT_OF_RANGE && has_aggregated_subquery(sql),
        (_, Answer::Failed(code, _)) => is_error_of_theirs(sql, *code, ours),
        (Answer::Rows { .. }, Answer::Rows { .. }) => is_lost_by_elt(sql),
        _ => is_warning_of_condition(sql, ours, theirs) || copies_itself(sql),
    }
}

/// Of two errors in one statement each server may find another one first.
fn is_other_error(sql: &str, ours: u16, theirs: u16) -> bool {
    let either = |code| ours == code || theirs == code;
    let is_insert = sql.contains(" INTO t") && sql.contains(" SELECT ");
    let is_change = sql.starts_with("UPDATE") || sql.starts_with("DELETE");
    theirs == NOT_IN_GROUP_BY && sql.contains("(SELECT ")
        || is_insert && either(BAD_NULL)
        || theirs == TRUNCATED_WRONG_VALUE && copies_itself(sql)
        || is_change && (ours == DIVISION_BY_ZERO || ours == TRUNCATED_WRONG_VALUE)
        || sql.contains(" ON ") && ours == MIXED_COLLATIONS && theirs == WRONG_COLLATION
}

/// `MIN((SELECT …))` over no rows: a subquery that depends on no row is evaluated once before the first row.
fn has_aggregated_subquery(sql: &str) -> bool {
    ["MIN(", "MAX(", "SUM(", "AVG(", "COUNT("].iter().any(|call| sql.contains(&format!("{call}(SELECT ")))
}

fn is_error_of_theirs(sql: &str, code: u16, ours: &Full) -> bool {
    let has_no_rows = matches!(&ours.answer, Answer::Rows { rows, .. } if rows.is_empty());
    code == NOT_IN_GROUP_BY && sql.contains("(SELECT ")
        || code == OUT_OF_RANGE && has_no_rows && sql.contains("INTERVAL(")
        || code == TRUNCATED_WRONG_VALUE && copies_itself(sql)
}

/// MySQL makes an outer join an inner one where a condition has ELT, as if any NULL in it made it NULL.
fn is_lost_by_elt(sql: &str) -> bool {
    sql.contains("ELT(") && (sql.contains(" LEFT JOIN ") || sql.contains(" RIGHT JOIN "))
}

/// How often a condition is evaluated, and whether it is for no row, is the plan's.
fn is_warning_of_condition(sql: &str, ours: &Full, theirs: &Full) -> bool {
    let kinds = |full: &Full| full.warnings.iter().cloned().collect::<BTreeSet<String>>();
    let (a, b) = (kinds(ours), kinds(theirs));
    let mut other = a.symmetric_difference(&b);
    sql.contains(" WHERE ") && other.all(|warning| *warning == format!("Warning {TRUNCATED_WRONG_VALUE}"))
}

/// INSERT … SELECT from the table itself: MySQL complains of zero dates when it puts the rows aside.
fn copies_itself(sql: &str) -> bool {
    let Some((_, rest)) = sql.split_once(" INTO ") else { return false };
    rest.split(' ').next().is_some_and(|table| rest.contains(&format!(" FROM {table} src")))
}
