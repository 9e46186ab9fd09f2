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
const WRONG_AGGREGATE: u16 = 1111;
const NO_LOGARITHM: u16 = 3020;
const CANNOT_CONVERT: u16 = 3854;
const MIXED_AGGREGATE: u16 = 1140;
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

/// What is wrong with a name, an aggregate or a collation.
const OF_NAMES: [u16; 6] =
    [UNKNOWN_COLUMN, WRONG_AGGREGATE, WRONG_COLLATION, MIXED_COLLATIONS, MIXED_THREE, MIXED_MANY];

/// What may be wrong with a value in a condition.
const OF_CONDITIONS: [u16; 3] = [TRUNCATED_WRONG_VALUE, DIVISION_BY_ZERO, DATETIME_OVERFLOW];

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
        (Answer::Failed(a, _), Answer::Failed(b, message)) => {
            is_other_error(sql, settled(*a), settled(*b)) || *b == NOT_IN_GROUP_BY && looks_into_item(sql, message)
        }
        (Answer::Failed(code, _), _) => {
            *code == OUT_OF_RANGE && (has_early_subquery(sql) || has_frame_of_values(sql))
                || *code == SEVERAL_ROWS && aggregates_outer(sql)
        }
        (_, Answer::Failed(code, message)) => is_error_of_theirs(sql, *code, message, ours),
        (Answer::Rows { rows: a, .. }, Answer::Rows { rows: b, .. }) => {
            is_cut(sql, theirs)
                || is_beyond_dates(sql)
                || is_lost_by_elt(sql)
                || counts_null(sql)
                || takes_null_for_any(sql)
                || has_other_text(sql)
                || same_but_form(sql, a, b)
        }
        (Answer::Done(a), Answer::Done(b)) if a.affected_rows != b.affected_rows => counts_null_again(sql),
        _ => is_warning_of_condition(sql, ours, theirs),
    }
}

/// MySQL counts a row that ON DUPLICATE KEY UPDATE makes NULL where it is NULL.
fn counts_null_again(sql: &str) -> bool {
    sql.split_once(" ON DUPLICATE KEY UPDATE ")
        .is_some_and(|(_, assigned)| assigned.contains("NULL") || assigned.contains("VALUES("))
}

/// Of two errors in one statement each server may find another one first.
fn is_other_error(sql: &str, ours: u16, theirs: u16) -> bool {
    let are_of = |codes: &[u16]| codes.contains(&ours) && codes.contains(&theirs);
    let is_insert = sql.contains(" INTO t") && sql.contains(" SELECT ");
    let is_change = sql.starts_with("UPDATE") || sql.starts_with("DELETE");
    let has_other_place = sql.contains(" JOIN ") || sql.contains("(SELECT ");
    theirs == AGGREGATE_IN_ORDER && ours == MIXED_AGGREGATE && aggregates_outer(sql)
        || is_insert && are_of(&OF_VALUES)
        || is_change && are_of(&OF_VALUES) && OF_CONDITIONS.contains(&ours)
        || has_other_place && are_of(&OF_NAMES)
}

/// `MIN((SELECT …))`, or `IN (SELECT …)`, over no rows: a subquery that depends on no row is evaluated once before the first row.
fn has_early_subquery(sql: &str) -> bool {
    ["MIN(", "MAX(", "SUM(", "AVG(", "COUNT(", "DISTINCT ", "IN "]
        .iter()
        .any(|call| sql.contains(&format!("{call}(SELECT ")))
}

/// `(SELECT COUNT(a.x) …)` without a column of its own: the aggregate is the outer query's.
fn aggregates_outer(sql: &str) -> bool {
    ["MIN(", "MAX(", "SUM(", "COUNT("].iter().any(|call| sql.contains(&format!("(SELECT {call}")))
}

fn is_error_of_theirs(sql: &str, code: u16, message: &str, ours: &Full) -> bool {
    let has_no_rows = matches!(&ours.answer, Answer::Rows { rows, .. } if rows.is_empty());
    let changes_nothing = matches!(&ours.answer, Answer::Done(done) if done.affected_rows == 0);
    code == NOT_IN_GROUP_BY && looks_into_item(sql, message)
        || code == AGGREGATE_IN_ORDER && aggregates_outer(sql)
        // A constant, or a condition that comes first there, where no row is found; rows that LIMIT leaves out; what stands behind a NULL in a list.
        || [OUT_OF_RANGE, CANNOT_CONVERT, NO_LOGARITHM].contains(&code) && (has_no_rows || sql.contains(" LIMIT "))
        || code == TRUNCATED_WRONG_VALUE && copies_itself(sql)
        // A condition of a derived table may be asked behind those of the query.
        || code == CANNOT_CONVERT && sql.contains("FROM (SELECT ") && sql.contains(" WHERE ")
        || OF_CONDITIONS.contains(&settled(code)) && sql.contains(" WHERE ") && (changes_nothing || sql.contains(" IN ("))
}

/// `Expression #2 of SELECT list is not in GROUP BY clause`, and that one is a subquery, or INTERVAL(), which MySQL does not find again in GROUP BY.
fn looks_into_item(sql: &str, message: &str) -> bool {
    let number = message.split_once('#').and_then(|(_, rest)| rest.split(' ').next()?.parse::<usize>().ok());
    let item = number.and_then(|number| select_item(sql, number)).unwrap_or_default();
    item.contains("(SELECT ") || item.contains("INTERVAL(")
}

/// The item of a select list, counted from 1.
fn select_item(sql: &str, number: usize) -> Option<&str> {
    let list = sql.strip_prefix("SELECT ")?;
    let (mut depth, mut quoted, mut start, mut at) = (0, false, 0, 1);
    for (place, letter) in list.char_indices() {
        match letter {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                if at == number {
                    return list.get(start..place);
                }
                (start, at) = (place + 1, at + 1);
            }
            _ => {}
        }
    }
    (at == number).then(|| &list[start..list.find(" FROM ").unwrap_or(list.len()).max(start)])
}

/// A frame that ends at a value which is no date: MySQL's MIN and MAX have none of its rows, SUM and COUNT those that they had before.
fn is_beyond_dates(sql: &str) -> bool {
    sql.contains(" DESC RANGE ") && sql.contains("INTERVAL ")
}

/// A number of more digits than its type says, over a window: MySQL keeps it in a column that holds no more than its greatest number.
fn is_cut(sql: &str, theirs: &Full) -> bool {
    let Answer::Rows { rows, .. } = &theirs.answer else { return false };
    let is_greatest = |value: &[u8]| value.contains(&b'.') && value.iter().all(|byte| b"-.9".contains(byte));
    sql.contains(" OVER (") && rows.iter().flatten().flatten().any(|value| is_greatest(value))
}

/// A bound of a frame that is a value: MySQL does not compute it for each row.
fn has_frame_of_values(sql: &str) -> bool {
    sql.contains(" RANGE ") && (sql.contains(" PRECEDING") || sql.contains(" FOLLOWING"))
}

/// MySQL makes an outer join an inner one where a condition has ELT, as if any NULL in it made it NULL.
fn is_lost_by_elt(sql: &str) -> bool {
    let Some((_, condition)) = sql.split_once(" WHERE ") else { return false };
    condition.contains("ELT(") && (sql.contains(" LEFT JOIN ") || sql.contains(" RIGHT JOIN "))
}

/// MySQL counts one value of a subquery that is NULL for all rows.
fn counts_null(sql: &str) -> bool {
    sql.contains("COUNT(DISTINCT (SELECT ")
}

type Row = Vec<Option<Vec<u8>>>;

/// Whether rows are the same but for the form of values that a temporary table gives them, and for the last digits of a variance.
fn same_but_form(sql: &str, ours: &[Row], theirs: &[Row]) -> bool {
    let in_order = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort_by_cached_key(|row| row.iter().map(|value| value.as_deref().map(rounded)).collect::<Vec<_>>());
        rows
    };
    let (ours, theirs) = (in_order(ours), in_order(theirs));
    let same_value = |pair: (&Option<Vec<u8>>, &Option<Vec<u8>>)| match pair {
        (Some(a), Some(b)) => a == b || is_other_form(sql, a, b),
        (None, Some(b)) => is_shown_date(sql, b),
        (Some(_), None) => false,
        (None, None) => true,
    };
    let same_row = |(a, b): (&Row, &Row)| a.len() == b.len() && a.iter().zip(b).all(same_value);
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(same_row)
}

fn is_other_form(sql: &str, ours: &[u8], theirs: &[u8]) -> bool {
    let is_union = [" UNION ", " EXCEPT ", " INTERSECT "].iter().any(|word| sql.contains(word));
    let texts = std::str::from_utf8(ours).ok().zip(std::str::from_utf8(theirs).ok());
    let numbers = texts.and_then(|(a, b)| a.parse::<f64>().ok().zip(b.parse::<f64>().ok()));
    let is_number = |same: fn(f64, f64) -> bool| numbers.is_some_and(|(a, b)| same(a, b));
    // A BINARY is as long as a text of any of the types may be, what a FLOAT gives becomes a DOUBLE.
    let is_form_of_union = without_zeros(ours) == without_zeros(theirs) || is_number(|a, b| a as f32 == b as f32);
    is_union && is_form_of_union
        // A group's FLOAT, too.
        || sql.contains("IFNULL(M") && is_number(|a, b| a as f32 == b as f32)
        // A constant, or a subquery.
        || is_union && sql.contains("UNIX_TIMESTAMP(") && is_number(|a, b| a == b)
        || ["VAR", "STD"].iter().any(|word| sql.contains(word)) && is_number(|a, b| (a - b).abs() <= a.abs() * 1e-11)
        // LEAST and GREATEST of DECIMALs are divided with fewer digits.
        || divides_extreme(sql) && is_number(|a, b| (a - b).abs() <= a.abs() * 1e-9)
        || is_no_date(sql, theirs)
        || texts.is_some_and(|(a, b)| is_cut_by_sorting(sql, a, b) || is_time_compared(sql, a, b))
}

/// EXCEPT ALL takes a NULL of an INTERSECT or UNION for any row (`findings/mysql-except-all-takes-null-for-any-row.sh`).
fn takes_null_for_any(sql: &str) -> bool {
    sql.contains(" EXCEPT ALL ") && (sql.contains(" INTERSECT ") || sql.contains(" UNION "))
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

fn divides_extreme(sql: &str) -> bool {
    sql.contains(" / ") && ["GREATEST(", "LEAST("].iter().any(|call| sql.contains(call))
}

/// MySQL gives a date that is none for a text that is none.
fn is_no_date(sql: &str, theirs: &[u8]) -> bool {
    sql.contains("GREATEST(") && theirs.starts_with(b"16383-15-31")
}

/// MySQL shows dates with zeros in the select list that `sql_mode` does not take elsewhere.
fn is_shown_date(sql: &str, theirs: &[u8]) -> bool {
    let text = std::str::from_utf8(theirs).unwrap_or_default();
    sql.contains("TIMESTAMP(") && text.contains("-00")
}

/// What NULLIF gives is shown as the TIME that it was compared as.
fn is_time_compared(sql: &str, ours: &str, theirs: &str) -> bool {
    let is_time = |text: &str| text.contains(':') && !text.contains(' ');
    sql.contains("NULLIF(") && is_time(theirs) && !is_time(ours)
}

/// Of a small DOUBLE each server has a text of its own, and a zero date of STR_TO_DATE is NULL in IFNULL of MySQL.
fn has_other_text(sql: &str) -> bool {
    sql.contains("CONV(") && sql.contains("DEGREES(")
        || sql.contains("(IFNULL(STR_TO_DATE(") && sql.contains("INTERVAL")
}

/// The text of a computed TIME in a sorted GROUP_CONCAT is cut where a TIME of its column would end.
fn is_cut_by_sorting(sql: &str, ours: &str, theirs: &str) -> bool {
    let sorts_time = sql.contains("GROUP_CONCAT(") && sql.contains(" ORDER BY ") && sql.contains(" INTERVAL ");
    let (ours, theirs) = (ours.split('|'), theirs.split('|'));
    sorts_time && ours.clone().count() == theirs.clone().count() && ours.zip(theirs).all(|(a, b)| a.starts_with(b))
}

/// A number with six digits, other text without zeros at its end: to put rows beside each other.
fn rounded(value: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(value).unwrap_or_default().trim_end_matches('\0');
    match text.parse::<f64>() {
        Ok(number) => format!("{:.5e}", number + 0.0).into_bytes(),
        Err(_) => without_zeros(value).to_vec(),
    }
}

/// How often a condition is evaluated, and whether it is for no row, is the plan's.
fn is_warning_of_condition(sql: &str, ours: &Full, theirs: &Full) -> bool {
    let kinds = |full: &Full| full.warnings.iter().map(|warning| settled_warning(warning)).collect::<BTreeSet<_>>();
    let (a, b) = (kinds(ours), kinds(theirs));
    let mut other = a.symmetric_difference(&b);
    let of_values = [TRUNCATED_WRONG_VALUE, DATETIME_OVERFLOW].map(|code| format!("Warning {code}"));
    sql.contains(" WHERE ") && other.all(|warning| of_values.contains(warning))
}

/// INSERT … SELECT from the table itself: MySQL complains of zero dates when it puts the rows aside.
fn copies_itself(sql: &str) -> bool {
    let Some((_, rest)) = sql.split_once(" INTO ") else { return false };
    rest.split(' ').next().is_some_and(|table| rest.contains(&format!(" FROM {table} src")))
}
