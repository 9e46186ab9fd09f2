//! Definitions as the log has them: text that means the same to MySQL, to MariaDB and to us.
//!
//! A definition is logged as it was written. Where only one kind of server understands a piece of it, two comments take the piece's place, of
//! which each kind reads one:
//!
//! ```text
//! ENGINE=Aria                     /*!50700 ENGINE=InnoDB */ /*M!100200 ENGINE=Aria */
//! KEY k (a) INVISIBLE             KEY k (a) /*!50700 INVISIBLE */ /*M!100200 IGNORED */
//! ADD COLUMN IF NOT EXISTS a INT  ADD COLUMN a INT, or nothing at all if there is a column a already
//! ```
//! MariaDB passes over comments of versions from 50700 to 99999, MySQL over those with an M; so do we.
//!
//! # Invariants
//! - What we and our followers read of the text is what was executed: the half for MySQL.

use std::ops::Range;

use super::tokens::Tokens;
use super::{ParseContext, lexer, statement};

/// MariaDB's storage engines that MySQL does not have.
const MARIA_ENGINES: &[&str] = &[
    "ARIA",
    "COLUMNSTORE",
    "CONNECT",
    "FEDERATEDX",
    "MROONGA",
    "MYROCKS",
    "OQGRAPH",
    "ROCKSDB",
    "S3",
    "SPHINX",
    "SPIDER",
    "TOKUDB",
];

/// MySQL's that MariaDB does not have.
const MYSQL_ENGINES: &[&str] = &["NDB", "NDBCLUSTER"];

/// A piece of a definition, and what each kind of server has in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    range: Range<usize>,
    mysql: String,
    maria: String,
}

impl Piece {
    fn text(&self) -> String {
        if self.mysql == self.maria {
            return self.mysql.clone();
        }
        let half = |version: &str, text: &str| match text {
            "" => String::new(),
            text => format!("/*{version} {text} */"),
        };
        let halves = [half("!50700", &self.mysql), half("M!100200", &self.maria)];
        halves.into_iter().filter(|half| !half.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl Tokens<'_> {
    /// What was read since a place is MariaDB's alone; `mysql` is the same for MySQL.
    pub(super) fn only_maria(&mut self, since: usize, mysql: &str) {
        let (range, maria) = self.read_since(since);
        self.pieces.push(Piece { range, mysql: mysql.to_owned(), maria });
    }

    /// What was read since a place is MySQL's alone; `maria` is the same for MariaDB.
    pub(super) fn only_mysql(&mut self, since: usize, maria: &str) {
        let (range, mysql) = self.read_since(since);
        self.pieces.push(Piece { range, mysql, maria: maria.to_owned() });
    }

    /// What was read since a place has been decided: nobody is to do it again.
    fn decided(&mut self, since: usize) {
        let (range, _) = self.read_since(since);
        self.pieces.push(Piece { range, mysql: String::new(), maria: String::new() });
    }

    /// IF EXISTS or IF NOT EXISTS, if that comes next.
    pub(super) fn condition(&mut self, words: &str) -> bool {
        let place = self.place();
        let is_there = self.accept(words);
        if is_there {
            self.decided(place);
        }
        is_there
    }

    /// The name of an engine, behind ENGINE, which was read since a place.
    pub(super) fn engine_read(&mut self, since: usize, name: &str) {
        let is_of = |engines: &[&str]| engines.iter().any(|engine| engine.eq_ignore_ascii_case(name));
        if is_of(MARIA_ENGINES) {
            self.only_maria(since, "ENGINE=InnoDB");
        } else if is_of(MYSQL_ENGINES) {
            self.only_mysql(since, "ENGINE=InnoDB");
        }
    }

    /// The name of a collation.
    pub(super) fn collation(&mut self) -> super::Parsed<String> {
        let place = self.place();
        let name = self.name_or_string()?;
        if name.to_ascii_lowercase().contains("uca1400")
            && let Some(known) = types::collation::by_name(&name)
        {
            self.only_maria(place, known.name());
        }
        Ok(name)
    }
}

/// A definition's text for the log; `None` if that is the text itself. `left_out` are actions of an ALTER TABLE, by their places in it, that
/// were not done because of their conditions.
pub(crate) fn in_both_dialects(text: &str, context: &ParseContext, left_out: &[usize]) -> Option<String> {
    let lexed = lexer::lex(text, context).ok()?;
    let comments = lexed.version_comments;
    let mut tokens = Tokens::new(lexed.tokens, text, context.sql_mode);
    statement(&mut tokens).ok()?;
    let removed: Vec<Range<usize>> =
        left_out.iter().map(|&item| with_separator(&tokens.items, item, left_out)).collect();
    let is_in = |ranges: &[Range<usize>], piece: &Range<usize>| {
        ranges.iter().any(|range| range.start <= piece.start && piece.end <= range.end)
    };
    // What is in such a comment already is one kind's alone.
    let pieces = tokens.pieces.iter().filter(|piece| !is_in(&comments, &piece.range) && !is_in(&removed, &piece.range));
    let mut edits: Vec<(Range<usize>, String)> = pieces.map(|piece| (piece.range.clone(), piece.text())).collect();
    edits.extend(removed.into_iter().map(|range| (range, String::new())));
    edits.sort_by_key(|(range, _)| range.start);
    // What was tried and taken back was found twice.
    edits.dedup();
    let mut changed = text.to_owned();
    for (range, instead) in edits.iter().rev() {
        changed.replace_range(range.clone(), instead);
    }
    (!edits.is_empty()).then_some(changed)
}

/// An item of a list, with the comma before it; those before the first that stays with the comma behind them.
fn with_separator(items: &[Range<usize>], item: usize, left_out: &[usize]) -> Range<usize> {
    let is_before_all = (0..item).all(|before| left_out.contains(&before));
    match (is_before_all, items.get(item + 1)) {
        (true, Some(next)) => items[item].start..next.start,
        (true, None) => items[item].clone(),
        (false, _) => items[item - 1].end..items[item].end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(text: &str, left_out: &[usize]) -> String {
        in_both_dialects(text, &ParseContext::default(), left_out).unwrap_or_else(|| "as it is".to_owned())
    }

    #[test]
    fn pieces_of_one_kind() {
        for (text, both) in [
            ("CREATE TABLE t (a INT) ENGINE = InnoDB COLLATE utf8mb4_0900_ai_ci", "as it is"),
            (
                "CREATE TABLE t (a INT) ENGINE=Aria TRANSACTIONAL=1",
                "CREATE TABLE t (a INT) /*!50700 ENGINE=InnoDB */ /*M!100200 ENGINE=Aria */ /*M!100200 TRANSACTIONAL=1 */",
            ),
            (
                "CREATE TABLE t (a INT, KEY k (a) INVISIBLE, KEY l (a) NOT IGNORED) PAGE_COMPRESSED=1",
                "CREATE TABLE t (a INT, KEY k (a) /*!50700 INVISIBLE */ /*M!100200 IGNORED */, KEY l (a) /*!50700 VISIBLE */ \
                 /*M!100200 NOT IGNORED */) /*!50700 COMPRESSION='zlib' */ /*M!100200 PAGE_COMPRESSED=1 */",
            ),
            ("CREATE TABLE t (a INT, KEY k (a) /*!80000 INVISIBLE */)", "as it is"),
            (
                "ALTER TABLE t ALTER INDEX k VISIBLE, COMPRESSION='lz4'",
                "ALTER TABLE t ALTER INDEX k /*!50700 VISIBLE */ /*M!100200 NOT IGNORED */, /*!50700 COMPRESSION='lz4' */ \
                 /*M!100200 PAGE_COMPRESSED=1 */",
            ),
            (
                "CREATE TABLE t (a VARCHAR(3) COLLATE utf8mb4_uca1400_ai_ci)",
                "CREATE TABLE t (a VARCHAR(3) COLLATE /*!50700 utf8mb4_0900_ai_ci */ /*M!100200 utf8mb4_uca1400_ai_ci */)",
            ),
        ] {
            assert_eq!(logged(text, &[]), both);
        }
    }

    #[test]
    fn conditions_are_decided() {
        let alter = "ALTER TABLE IF EXISTS t ADD COLUMN IF NOT EXISTS a INT, DROP COLUMN IF EXISTS b, ADD KEY IF NOT EXISTS k (a)";
        assert_eq!(logged(alter, &[]), "ALTER TABLE  t ADD COLUMN  a INT, DROP COLUMN  b, ADD KEY  k (a)");
        assert_eq!(logged(alter, &[1]), "ALTER TABLE  t ADD COLUMN  a INT, ADD KEY  k (a)");
        assert_eq!(logged(alter, &[0, 1]), "ALTER TABLE  t ADD KEY  k (a)");
        assert_eq!(logged(alter, &[1, 2]), "ALTER TABLE  t ADD COLUMN  a INT");
        assert_eq!(logged(alter, &[0, 2]), "ALTER TABLE  t DROP COLUMN  b");
        assert_eq!(logged("CREATE INDEX IF NOT EXISTS k ON t (a)", &[]), "CREATE INDEX  k ON t (a)");
        assert_eq!(logged("DROP INDEX IF EXISTS k ON t", &[]), "DROP INDEX  k ON t");
    }
}
