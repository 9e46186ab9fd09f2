//! Any bytes as SQL: statements or errors, never a panic, whatever the mode.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sql::expr::SqlMode;
use sql::parse::{ParseContext, next_statement, parse_one};

const MODES: [SqlMode; 3] = [SqlMode::ANSI_QUOTES, SqlMode::NO_BACKSLASH_ESCAPES, SqlMode::PIPES_AS_CONCAT];

fuzz_target!(|data: &[u8]| {
    let Some((modes, text)) = data.split_first() else { return };
    let chosen = MODES.iter().enumerate().filter(|(bit, _)| modes >> bit & 1 == 1);
    let sql_mode = chosen.fold(SqlMode::default(), |all, (_, mode)| all.with(*mode));
    let text = String::from_utf8_lossy(text);
    let context = ParseContext { sql_mode, ..ParseContext::default() };
    let mut rest = &*text;
    while let Some(length) = next_statement(rest.as_bytes(), sql_mode) {
        assert!(length > 0, "it goes on");
        if let Ok(parsed) = parse_one(&rest[..length], &context) {
            assert!(rest[..length].starts_with(&*parsed.text));
            let _ = format!("{:?}", parsed.statement);
        }
        rest = &rest[length..];
    }
});
