//! Whatever the text, the parser answers with statements or an error.

use proptest::prelude::*;
use types::charset::Charset;

use super::{ParseContext, next_statement, parse_one, to_utf8};
use types::SqlMode;

/// Words, punctuation and quotes of which statements are made, put together at random.
fn statement_like() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "SELECT",
        "FROM",
        "t",
        "WHERE",
        "a",
        "=",
        "1",
        "(",
        ")",
        ",",
        "'",
        "\"",
        "`",
        "/*!",
        "*/",
        "/*",
        "--",
        "#",
        "\n",
        ";",
        "INSERT INTO",
        "VALUES",
        "UPDATE",
        "SET",
        "DELETE",
        "CREATE TABLE",
        "ALTER TABLE",
        "DROP",
        "SHOW",
        "VARIABLES",
        "LIKE",
        "GRANT",
        "TO",
        "ON",
        "*",
        ".",
        "@a",
        "@@b",
        "?",
        "INTERVAL",
        "DAY",
        "CAST",
        "AS",
        "CHAR",
        "\\",
        "é",
        "0x",
        "x'4'",
        "1e",
        "CHANGE MASTER TO",
        "START REPLICA",
        "LIMIT",
        "ORDER BY",
        "BETWEEN",
        "AND",
        "NOT",
        "!",
        "-",
        "MOD",
        "DIV",
        "SOUNDS LIKE",
        "INTO",
    ]);
    prop::collection::vec((pieces, prop::sample::select(vec!["", " "])), 0..40)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, space)| format!("{piece}{space}")).collect())
}

proptest! {
    #[test]
    fn no_text_panics(text in statement_like()) {
        let _ = parse_one(&text, &ParseContext::default());
        let mode = SqlMode::ANSI_QUOTES.with(SqlMode::NO_BACKSLASH_ESCAPES).with(SqlMode::PIPES_AS_CONCAT);
        let _ = parse_one(&text, &ParseContext { sql_mode: mode, ..ParseContext::default() });
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mode = SqlMode::default();
        let text = to_utf8(&bytes, Charset::Utf8Mb4, mode);
        let _ = to_utf8(&bytes, Charset::ASCII, mode);
        let _ = parse_one(&text, &ParseContext { sql_mode: mode, ..ParseContext::default() });
        let mut rest = &bytes[..];
        while let Some(length) = next_statement(rest, mode) {
            prop_assert!(length > 0);
            rest = &rest[length..];
        }
    }
}

/// Subqueries in lists in one another are refused in such a time, too.
#[test]
fn long_nested_lists() {
    let text = format!("SELECT 1{}", " IN ((SELECT 1".repeat(300_000));
    assert_eq!(parse_one(&text, &ParseContext::default()).map_err(|error| error.code).unwrap_err(), 1473);
}

/// So are parentheses around what stands behind DEFAULT.
#[test]
fn nested_defaults() {
    let nested = |depth: usize| format!("CREATE TABLE t (a INT DEFAULT {}1{})", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(parse_one(&nested(100_000), &ParseContext::default()).map_err(|error| error.code).unwrap_err(), 1436);
    assert!(parse_one(&nested(1000), &ParseContext::default()).is_ok());
}

/// Strings beside one another of which the first is no text are read in a time that grows with their number (otherwise this takes minutes).
#[test]
fn many_strings_that_are_no_text() {
    let text = [b"SELECT '\xff'".as_slice(), &b" 'a'".repeat(200_000)].concat();
    let read = to_utf8(&text, Charset::Utf8Mb4, SqlMode::default());
    assert_eq!(read.len(), "SELECT _binary x''".len() + 2 * 200_001);
}

/// So are statements in one another.
#[test]
fn nested_statements() {
    let text = format!("{}SELECT 1", "SET STATEMENT lock_wait_timeout = 1 FOR ".repeat(3000));
    assert_eq!(parse_one(&text, &ParseContext::default()).map_err(|error| error.code).unwrap_err(), 1436);
    assert!(parse_one(&text[text.len() - 8 - 40 * 100..], &ParseContext::default()).is_ok());
}

/// Operators in brackets in brackets, with a long list inside.
fn around_a_list(operator: &str) -> String {
    const DEPTH: usize = 450;
    format!("SELECT {}1 IN (1{}){}", "(".repeat(DEPTH), ", 1".repeat(100_000), format!("){operator}").repeat(DEPTH))
}

/// Long lists and chains take time in proportion to their length (otherwise this takes minutes).
#[test]
fn long_texts() {
    let repeated = |head: &str, piece: &str, times: usize| format!("{head}{}", piece.repeat(times));
    for text in [
        repeated("SET @a = 1", ", @b = (2, 3)", 50_000),
        repeated("SELECT 1", " DIV 1", 1_900),
        repeated("SELECT 1", " MOD (1)", 950),
        repeated("SELECT 1", " OR 1 = 2", 100_000),
        repeated("SELECT 1", " AND 1 = 2 OR 1 = 3", 50_000),
        repeated("SELECT 1", ", 1", 50_000),
        around_a_list(" BETWEEN 0 AND 1"),
        around_a_list(" NOT REGEXP 'a'"),
        around_a_list(" SOUNDS LIKE 'a'"),
        around_a_list(" MOD (2)"),
        around_a_list(" * rank MOD (2)"),
        around_a_list(" IN ((SELECT 1), 2)"),
    ] {
        assert!(parse_one(&text, &ParseContext::default()).is_ok(), "{}…", &text[..40]);
    }
}
