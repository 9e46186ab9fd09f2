//! `sql_mode` between words and bits.

use super::table::SQL_MODES;
use crate::expr::SqlMode;

/// The bits of the words that the setting holds.
pub(crate) fn parse(words: &str) -> SqlMode {
    let bit = |word: &str| SQL_MODES.iter().position(|known| *known == word).map_or(0, |at| 1 << at);
    SqlMode(words.split(',').map(bit).fold(0, |bits, bit| bits | bit))
}

/// The words of the bits.
pub(crate) fn words(mode: SqlMode) -> String {
    let words = SQL_MODES.iter().enumerate().filter(|(i, _)| mode.0 >> i & 1 != 0).map(|(_, word)| *word);
    words.collect::<Vec<_>>().join(",")
}

/// Words with the modes that some of them bring with them.
pub(crate) fn expanded_words(given: &str) -> String {
    words(expanded(parse(given)))
}

/// With the modes that ANSI and TRADITIONAL bring with them.
pub(crate) fn expanded(mode: SqlMode) -> SqlMode {
    const ANSI: SqlMode = SqlMode(1 << 18);
    let mut all = mode;
    if mode.has(ANSI) {
        all = all.with(SqlMode::REAL_AS_FLOAT).with(SqlMode::PIPES_AS_CONCAT).with(SqlMode::ANSI_QUOTES);
        all = all.with(SqlMode::IGNORE_SPACE).with(SqlMode::ONLY_FULL_GROUP_BY);
    }
    if mode.has(SqlMode::TRADITIONAL) {
        all = all.with(SqlMode::STRICT_TRANS_TABLES).with(SqlMode::STRICT_ALL_TABLES).with(SqlMode::NO_ZERO_IN_DATE);
        all = all.with(SqlMode::NO_ZERO_DATE).with(SqlMode::ERROR_FOR_DIVISION_BY_ZERO);
        all = all.with(SqlMode::NO_ENGINE_SUBSTITUTION);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_bring_others() {
        let all = words(expanded(parse("TRADITIONAL")));
        assert!(all.contains("STRICT_TRANS_TABLES") && all.ends_with("NO_ENGINE_SUBSTITUTION"), "{all}");
        assert_eq!(parse("ANSI_QUOTES,NO_ZERO_DATE").0, 1 << 2 | 1 << 24);
        assert_eq!(words(parse("NO_ZERO_DATE,ANSI_QUOTES")), "ANSI_QUOTES,NO_ZERO_DATE");
    }
}
