//! Hints in the comment right behind a statement's first word: `SELECT /*+ MAX_EXECUTION_TIME(1000) */ …`. The lexer passes over it as
//! over any comment. Hints that choose between plans have nothing to say to this planner, as they have none in MySQL where they do
//! not fit; what asks for more than a plan and is not there is a warning, and so is what is no hint.

use std::time::Duration;

use base::{SqlError, codes};

use crate::expr::Warnings;
use syntax::error::near;

/// Hints that choose between plans, or name what those that do are about.
const OF_PLANS: &[&str] = &[
    "BKA",
    "NO_BKA",
    "BNL",
    "NO_BNL",
    "DERIVED_CONDITION_PUSHDOWN",
    "NO_DERIVED_CONDITION_PUSHDOWN",
    "GROUP_INDEX",
    "NO_GROUP_INDEX",
    "HASH_JOIN",
    "NO_HASH_JOIN",
    "INDEX",
    "NO_INDEX",
    "INDEX_MERGE",
    "NO_INDEX_MERGE",
    "JOIN_FIXED_ORDER",
    "JOIN_INDEX",
    "NO_JOIN_INDEX",
    "JOIN_ORDER",
    "JOIN_PREFIX",
    "JOIN_SUFFIX",
    "MERGE",
    "NO_MERGE",
    "MRR",
    "NO_MRR",
    "NO_ICP",
    "NO_RANGE_OPTIMIZATION",
    "ORDER_INDEX",
    "NO_ORDER_INDEX",
    "QB_NAME",
    "SEMIJOIN",
    "NO_SEMIJOIN",
    "SKIP_SCAN",
    "NO_SKIP_SCAN",
    "SUBQUERY",
];

/// Hints that would do something else.
const NOT_THERE: &[&str] = &["SET_VAR", "RESOURCE_GROUP"];

const TIME: &str = "MAX_EXECUTION_TIME";

/// The hints of a statement.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// What `MAX_EXECUTION_TIME(milliseconds)` says; no time is no limit. Of several the first one counts.
    pub(crate) max_execution_time: Option<Option<Duration>>,
    /// What is to be warned of; no more than are kept of a statement.
    pub(crate) warnings: Vec<SqlError>,
}

impl Hints {
    /// Of the first SELECT, INSERT, REPLACE, UPDATE or DELETE of a text.
    pub(crate) fn of(text: &str) -> Hints {
        let mut hints = Hints::default();
        let Some((word, mut rest, end)) = comment(text) else { return hints };
        while let Some(from) =
            rest.find(|c: char| !c.is_whitespace() && c != ',').filter(|from| rest.len() - from > end)
        {
            rest = &rest[from..];
            match hints.next(word, rest) {
                Ok(length) => rest = &rest[length..],
                Err(at) => {
                    let message = format!("Optimizer hint syntax error {}", near(text, text.len() - at.len()));
                    hints.warnings.push(SqlError::new(codes::PARSE_ERROR, message));
                    return hints;
                }
            }
        }
        hints
    }

    /// Reads the hint that `rest` begins with: its length, or where it is wrong.
    fn next<'a>(&mut self, statement: &str, rest: &'a str) -> Result<usize, &'a str> {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..length];
        let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        if !is_one_of(OF_PLANS) && !is_one_of(NOT_THERE) && !is_one_of(&[TIME]) {
            return Err(rest);
        }
        let behind = rest[length..].trim_start();
        let arguments = behind.strip_prefix('(').ok_or(behind)?;
        let (inside, after) = arguments.split_once(')').ok_or(arguments)?;
        if is_one_of(&[TIME]) {
            let milliseconds = inside.trim().parse::<u32>().map_err(|_| arguments)?;
            self.limit(statement, milliseconds);
        } else if is_one_of(NOT_THERE) {
            self.warn(|| SqlError::not_supported(format_args!("the hint {}", name.to_ascii_uppercase())));
        }
        Ok(rest.len() - after.len())
    }

    fn warn(&mut self, warning: impl FnOnce() -> SqlError) {
        if self.warnings.len() < Warnings::KEPT_MAX {
            self.warnings.push(warning());
        }
    }

    fn limit(&mut self, statement: &str, milliseconds: u32) {
        if !statement.eq_ignore_ascii_case("SELECT") {
            let message = "MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
            self.warn(|| SqlError::new(codes::UNSUPPORTED_MAX_EXECUTION_TIME, message));
        } else if self.max_execution_time.is_some() {
            let message = || format!("Hint {TIME}({milliseconds}) is ignored as conflicting/duplicated");
            self.warn(|| SqlError::new(codes::WARN_CONFLICTING_HINT, message()));
        } else {
            let time = Duration::from_millis(milliseconds.into());
            self.max_execution_time = Some(Some(time).filter(|time| !time.is_zero()));
        }
    }
}

/// The first word of a statement that may have hints, the text behind the beginning of its hints, and how long that is from their end on.
fn comment(text: &str) -> Option<(&str, &str, usize)> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let word = ["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"]
        .iter()
        .find_map(|word| text.get(..word.len()).filter(|found| found.eq_ignore_ascii_case(word)))?;
    let hints = text[word.len()..].trim_start().strip_prefix("/*+")?;
    Some((word, hints, hints.len() - hints.find("*/")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_first_select() {
        let after = |milliseconds| Some(Some(Duration::from_millis(milliseconds)));
        let time = |text| Hints::of(text).max_execution_time;
        assert_eq!(time("SELECT /*+ MAX_EXECUTION_TIME(500) */ 1"), after(500));
        assert_eq!(time(" (select/*+ NO_ICP(t) max_execution_time ( 7 ) */ 1)"), after(7));
        assert_eq!(time("SELECT /*+ MAX_EXECUTION_TIME(0) */ 1"), Some(None));
        assert_eq!(time("SELECT /*+ MAX_EXECUTION_TIME(5), MAX_EXECUTION_TIME(6) */ 1"), after(5));
        for text in [
            "SELECT 1 /*+ MAX_EXECUTION_TIME(500) */",
            "SELECT /* MAX_EXECUTION_TIME(500) */ 1",
            "SELECT /*+ XMAX_EXECUTION_TIME(500) */ 1",
            "SELECT /*+ MAX_EXECUTION_TIME(x) */ 1",
            "SELECT /*+ MAX_EXECUTION_TIME(500 */ )",
            "UPDATE /*+ MAX_EXECUTION_TIME(500) */ t SET a = 1",
            "SELECT /*+ é MAX_EXECUTION_TIME(",
        ] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn of_many_hints_some_are_warned_of() {
        for hint in ["SET_VAR(a=1) ", "MAX_EXECUTION_TIME(5) ", "NO_ICP(t) "] {
            let hints = Hints::of(&format!("SELECT /*+ {} */ 1", hint.repeat(1_000_000)));
            assert!(hints.warnings.len() <= Warnings::KEPT_MAX);
        }
    }

    #[test]
    fn what_is_warned_of() {
        let warned = |text: &str, wanted: &[&str]| {
            let warnings: Vec<String> = Hints::of(text)
                .warnings
                .iter()
                .map(|warning| format!("{} {}", warning.code, warning.message))
                .collect();
            assert_eq!(warnings, wanted, "{text}");
        };
        warned("SELECT /*+ */ 1", &[]);
        warned("DELETE /*+ QB_NAME(x) JOIN_ORDER(a, b) no_index (t i) */ FROM t", &[]);
        warned(
            "SELECT /*+ BKA(t) NOSUCH(t) SET_VAR(a=1) */ 1",
            &["1064 Optimizer hint syntax error near 'NOSUCH(t) SET_VAR(a=1) */ 1' at line 1"],
        );
        warned("SELECT /*+ MAX_EXECUTION_TIME(x) */ 1", &["1064 Optimizer hint syntax error near 'x) */ 1' at line 1"]);
        warned(
            "SELECT /*+ SET_VAR(a=1) */ 1",
            &["1235 This version of commuter doesn't yet support 'the hint SET_VAR'"],
        );
        warned(
            "SELECT /*+ MAX_EXECUTION_TIME(5) MAX_EXECUTION_TIME(6) */ 1",
            &["3126 Hint MAX_EXECUTION_TIME(6) is ignored as conflicting/duplicated"],
        );
        warned(
            "INSERT /*+ MAX_EXECUTION_TIME(5) */ INTO t VALUES (1)",
            &["3125 MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only"],
        );
    }
}
