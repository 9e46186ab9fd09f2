//! Hints in the comment right behind SELECT: `SELECT /*+ MAX_EXECUTION_TIME(1000) */ …`. The lexer passes over it as over any comment; the
//! hints that choose between plans have nothing to say here, as they have none in MySQL where they do not fit.

use std::time::Duration;

/// What `MAX_EXECUTION_TIME(milliseconds)` says in the hints of a statement's first SELECT; no time is no limit. Of several the first
/// one counts, as in MySQL.
pub(crate) fn max_execution_time(text: &str) -> Option<Option<Duration>> {
    let hints = hints(text)?;
    let name = "MAX_EXECUTION_TIME";
    for (at, _) in hints.char_indices() {
        let begins_word = !hints[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || before == '_');
        let Some(found) = hints.get(at..at + name.len()).filter(|found| found.eq_ignore_ascii_case(name)) else {
            continue;
        };
        let rest = hints[at + found.len()..].trim_start();
        if begins_word
            && let Some((number, _)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'))
            && let Ok(milliseconds) = number.trim().parse::<u32>()
        {
            return Some(Some(Duration::from_millis(milliseconds.into())).filter(|time| !time.is_zero()));
        }
    }
    None
}

/// The text of the hints behind the first word of a SELECT.
fn hints(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let rest = text.get(..6).filter(|word| word.eq_ignore_ascii_case("SELECT")).map(|word| &text[word.len()..])?;
    let hints = rest.trim_start().strip_prefix("/*+")?;
    hints.split_once("*/").map(|(hints, _)| hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_first_select() {
        let after = |milliseconds| Some(Some(Duration::from_millis(milliseconds)));
        assert_eq!(max_execution_time("SELECT /*+ MAX_EXECUTION_TIME(500) */ 1"), after(500));
        assert_eq!(max_execution_time(" (select/*+ NO_ICP(t) max_execution_time ( 7 ) */ 1)"), after(7));
        assert_eq!(max_execution_time("SELECT /*+ MAX_EXECUTION_TIME(0) */ 1"), Some(None));
        for text in [
            "SELECT 1 /*+ MAX_EXECUTION_TIME(500) */",
            "SELECT /* MAX_EXECUTION_TIME(500) */ 1",
            "SELECT /*+ XMAX_EXECUTION_TIME(500) */ 1",
            "SELECT /*+ MAX_EXECUTION_TIME(x) */ 1",
            "UPDATE /*+ MAX_EXECUTION_TIME(500) */ t SET a = 1",
            "SELECT /*+ é MAX_EXECUTION_TIME(",
        ] {
            assert_eq!(max_execution_time(text), None, "{text}");
        }
    }
}
