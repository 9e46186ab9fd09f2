//! Differences of random statements that docs/DIFFERENCES.md declares, as narrowly as their texts and codes tell them.

use std::collections::BTreeSet;

use interop::Answer;

use super::random_answers::Full;

const BAD_NULL: u16 = 1048;
const UNKNOWN_COLUMN: u16 = 1054;
const NOT_IN_GROUP_BY: u16 = 1055;
const DUPLICATE_KEY: u16 = 1062;
const SEVERAL_ROWS: u16 = 1242;
const WRONG_COLLATION: u16 = 1253;
const OUT_OF_RANGE_FOR_COLUMN: u16 = 1264;
const TRUNCATED: u16 = 1265;
const MIXED_COLLATIONS: u16 = 1267;
const MIXED_THREE: u16 = 1270;
const MIXED_MANY: u16 = 1271;
const TRUNCATED_WRONG_VALUE: u16 = 1292;
const DIVISION_BY_ZERO: u16 = 1365;
const TOO_LONG: u16 = 1406;
const WRONG_VALUE_FOR_TYPE: u16 = 1411;
const DATETIME_OVERFLOW: u16 = 1441;
const OUT_OF_RANGE: u16 = 1690;
const AGGREGATE_IN_ORDER: u16 = 3029;
const CANNOT_CONVERT: u16 = 3854;
const TEMPORAL_OUT_OF_RANGE: u16 = 6527;

/// What is wrong with a value, and which of several may be found first.
const OF_VALUES: [u16; 10] = [
    BAD_NULL,
    DUPLICATE_KEY,
    OUT_OF_RANGE_FOR_COLUMN,
    TRUNCATED,
    TRUNCATED_WRONG_VALUE,
    DIVISION_BY_ZERO,
    TOO_LONG,
    WRONG_VALUE_FOR_TYPE,
    DATETIME_OVERFLOW,
    OUT_OF_RANGE,
];

/// What is wrong with a name or a collation.
const OF_NAMES: [u16; 5] = [UNKNOWN_COLUMN, WRONG_COLLATION, MIXED_COLLATIONS, MIXED_THREE, MIXED_MANY];

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
        (Answer::Failed(a, _), Answer::Failed(b, _)) => is_other_error(sql, settled(*a), settled(*b)),
        (Answer::Failed(code, _), _) => {
            *code == OUT_OF_RANGE && has_aggregated_subquery(sql) || *code == SEVERAL_ROWS && aggregates_outer(sql)
        }
        (_, Answer::Failed(code, _)) => is_error_of_theirs(sql, *code, ours),
        (Answer::Rows { rows: a, .. }, Answer::Rows { rows: b, .. }) => {
            is_lost_by_elt(sql) || counts_null(sql) || has_chosen_digits(sql) && same_but_digits(a, b)
        }
        _ => is_warning_of_condition(sql, ours, theirs) || copies_itself(sql),
    }
}

/// Of two errors in one statement each server may find another one first.
fn is_other_error(sql: &str, ours: u16, theirs: u16) -> bool {
    let are_of = |codes: &[u16]| codes.contains(&ours) && codes.contains(&theirs);
    let is_insert = sql.contains(" INTO t") && sql.contains(" SELECT ");
    let is_change = sql.starts_with("UPDATE") || sql.starts_with("DELETE");
    theirs == NOT_IN_GROUP_BY && sql.contains("(SELECT ")
        || theirs == AGGREGATE_IN_ORDER && aggregates_outer(sql)
        || is_insert && are_of(&OF_VALUES)
        || is_change && are_of(&OF_VALUES) && (ours == DIVISION_BY_ZERO || ours == TRUNCATED_WRONG_VALUE)
        || are_of(&OF_NAMES)
}

/// `MIN((SELECT …))` over no rows: a subquery that depends on no row is evaluated once before the first row.
fn has_aggregated_subquery(sql: &str) -> bool {
    ["MIN(", "MAX(", "SUM(", "AVG(", "COUNT(", "DISTINCT "].iter().any(|call| sql.contains(&format!("{call}(SELECT ")))
}

/// `(SELECT COUNT(a.x) …)` without a column of its own: the aggregate is the outer query's.
fn aggregates_outer(sql: &str) -> bool {
    ["MIN(", "MAX(", "SUM(", "COUNT("].iter().any(|call| sql.contains(&format!("(SELECT {call}")))
}

fn is_error_of_theirs(sql: &str, code: u16, ours: &Full) -> bool {
    let has_no_rows = matches!(&ours.answer, Answer::Rows { rows, .. } if rows.is_empty());
    let changes_nothing = matches!(&ours.answer, Answer::Done(done) if done.affected_rows == 0);
    let order_is_open = sql.contains(" JOIN ") && (sql.contains(" WHERE ") || sql.contains(" AND "));
    code == NOT_IN_GROUP_BY && sql.contains("(SELECT ")
        || code == AGGREGATE_IN_ORDER && aggregates_outer(sql)
        || code == OUT_OF_RANGE && (has_no_rows || order_is_open || sql.contains(" LIMIT "))
        || code == TRUNCATED_WRONG_VALUE && (copies_itself(sql) || changes_nothing)
        || code == CANNOT_CONVERT
}

/// MySQL makes an outer join an inner one where a condition has ELT, as if any NULL in it made it NULL.
fn is_lost_by_elt(sql: &str) -> bool {
    sql.contains("ELT(") && (sql.contains(" LEFT JOIN ") || sql.contains(" RIGHT JOIN "))
}

/// MySQL counts one value of a subquery that is NULL for all rows.
fn counts_null(sql: &str) -> bool {
    sql.contains("COUNT(DISTINCT (SELECT ")
}

/// How many digits a number shows that was chosen from several types, is a text in a UNION, or was computed step by step.
fn has_chosen_digits(sql: &str) -> bool {
    let words = ["IF(", "CASE ", "COALESCE(", "IFNULL(", "GREATEST(", "LEAST(", " UNION ", "VAR", "STD", "DISTINCT -"];
    words.iter().any(|word| sql.contains(word))
}

type Row = Vec<Option<Vec<u8>>>;

fn same_but_digits(a: &[Row], b: &[Row]) -> bool {
    let form = |rows: &[Row]| {
        let rows = rows.iter().map(|row| row.iter().map(|value| value.as_deref().map(rounded)).collect::<Vec<_>>());
        let mut rows = rows.collect::<Vec<_>>();
        rows.sort();
        rows
    };
    form(a) == form(b)
}

/// A number with six digits, which is as many as a FLOAT has; other text as it is.
fn rounded(value: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(value).unwrap_or_default().trim_end_matches('\0');
    match text.parse::<f64>() {
        Ok(number) => format!("{:.5e}", number + 0.0).into_bytes(),
        Err(_) => value[..value.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)].to_vec(),
    }
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
