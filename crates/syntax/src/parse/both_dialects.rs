//! Definitions as the log has them: text that means the same to MySQL, to MariaDB and to us.
//!
//! A definition is logged as it was written. Where only one kind of server understands a piece of it, two comments take the piece's place, of
//! which each kind reads one:
//!
//! ```text
//! ENGINE=Aria                     /*!50700 ENGINE=InnoDB */ /*M!100200 ENGINE=Aria */
//! KEY k (a) INVISIBLE             KEY k (a) /*!50700 INVISIBLE */ /*M!100200 IGNORED */
//! ADD COLUMN IF NOT EXISTS a INT  ADD COLUMN a INT, or nothing at all if there is a column a already
//! lag INT                         `lag` INT
//! ```
//! MariaDB passes over comments of versions from 50700 to 99999, MySQL over those with an M; so do we.
//!
//! # Invariants
//! - What we and our followers read of the text is what was executed: the half for MySQL.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::notes::Notes;
use super::rewrite::edited;
use super::tokens::Tokens;
use super::{ParsedStatement, parse_one};

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

/// Privileges by MySQL's and by MariaDB's names. Those of MySQL with an underscore that are not here MariaDB does not have.
const PRIVILEGES: &[(&str, &str)] = &[
    ("BINLOG_ADMIN", "BINLOG ADMIN"),
    ("CONNECTION_ADMIN", "CONNECTION ADMIN"),
    ("CONNECTION_ADMIN", "READ_ONLY ADMIN"),
    ("REPLICATION_APPLIER", "BINLOG REPLAY"),
    ("REPLICATION_SLAVE_ADMIN", "REPLICATION SLAVE ADMIN"),
    ("REPLICATION_SLAVE_ADMIN", "REPLICATION MASTER ADMIN"),
    ("REPLICATION CLIENT", "BINLOG MONITOR"),
];

/// A piece of a definition, and what each kind of server has in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    range: Range<usize>,
    mysql: String,
    maria: String,
}

impl Piece {
    /// Whether some kind of server has nothing in its place.
    fn leaves_nothing(&self) -> bool {
        self.mysql.is_empty() || self.maria.is_empty()
    }

    /// More of the text goes with it, where it goes.
    fn widen(&mut self, range: Range<usize>, text: &str) {
        let halves = [&mut self.mysql, &mut self.maria];
        for half in halves.into_iter().filter(|half| !half.is_empty()) {
            text.get(range.clone()).unwrap_or_default().clone_into(half);
        }
        self.range = range;
    }

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
        self.notes.pieces.push(Piece { range, mysql: mysql.to_owned(), maria });
    }

    /// What was read since a place is MySQL's alone; `maria` is the same for MariaDB.
    pub(super) fn only_mysql(&mut self, since: usize, maria: &str) {
        let (range, mysql) = self.read_since(since);
        self.notes.pieces.push(Piece { range, mysql, maria: maria.to_owned() });
    }

    /// An option that some kind does not have goes with one of the commas around it, which are at these places; whether with the one behind it.
    /// `from`: the first of its pieces.
    pub(super) fn with_comma(&mut self, from: usize, before: Option<usize>, behind: Option<usize>) -> bool {
        let comma = |place| self.range_of(place);
        let (before, behind) = (before.map(comma), behind.map(comma));
        let (text, mut goes_with_next) = (self.text(), false);
        for piece in self.notes.pieces.iter_mut().skip(from).filter(|piece| piece.leaves_nothing()) {
            match (&before, &behind) {
                (Some(before), _) => piece.widen(before.start..piece.range.end, text),
                (None, Some(behind)) => {
                    piece.widen(piece.range.start..behind.end, text);
                    goes_with_next = true;
                }
                (None, None) => {}
            }
        }
        goes_with_next
    }

    /// What was read since a place has been decided: no server is to do it again.
    pub(super) fn decided(&mut self, since: usize) {
        self.instead(since, "");
    }

    /// The log has something else than what was read since a place, for both kinds of servers.
    pub(super) fn instead(&mut self, since: usize, text: &str) {
        let (range, _) = self.read_since(since);
        self.notes.pieces.push(Piece { range, mysql: text.to_owned(), maria: text.to_owned() });
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

    /// The name of a privilege, in capitals, which was read since a place; it is the next item.
    pub(super) fn privilege_read(&mut self, since: usize, name: &str) {
        self.notes.items.push(self.read_since(since).0);
        if let Some((mysql, _)) = PRIVILEGES.iter().find(|(_, maria)| *maria == name) {
            self.only_maria(since, mysql);
        } else if name.contains('_') {
            let maria = PRIVILEGES.iter().find(|(mysql, _)| *mysql == name);
            self.only_mysql(since, maria.map_or("", |(_, maria)| maria));
        }
    }

    /// A statement about privileges that was read since a place is MySQL's alone if they all are.
    pub(super) fn privileges_read(&mut self, since: usize) {
        let items: HashSet<&Range<usize>> = self.notes.items.iter().collect();
        let is_of_mysql = |piece: &Piece| piece.maria.is_empty() && items.contains(&piece.range);
        if self.notes.pieces.iter().filter(|piece| is_of_mysql(piece)).count() == self.notes.items.len() {
            self.notes.pieces.clear();
            self.notes.items.clear();
            self.only_mysql(since, "");
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

impl Notes {
    /// An item of a list is another for a MariaDB, unless that cannot stand in a comment.
    fn item_in_mariadb(&mut self, item: usize, maria: &str, text: &str) {
        let Some(range) = self.items.get(item).cloned() else { return };
        let is_inside = |piece: &Piece| range.start <= piece.range.start && piece.range.end <= range.end;
        let (mut mysql, mut end) = (String::new(), range.start);
        for piece in self.pieces.iter().filter(|piece| is_inside(piece)) {
            mysql.push_str(text.get(end..piece.range.start).unwrap_or_default());
            mysql.push_str(&piece.mysql);
            end = piece.range.end;
        }
        mysql.push_str(text.get(end..range.end).unwrap_or_default());
        if !mysql.contains("*/") && !maria.contains("*/") {
            self.pieces.retain(|piece| !is_inside(piece));
            self.pieces.push(Piece { range, mysql, maria: maria.to_owned() });
        }
    }
}

/// Where the log says something else than a definition as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogChanges {
    /// Actions of an ALTER TABLE that were not done because of their conditions, by their places in it.
    pub left_out: Vec<usize>,
    /// FIRST is behind the table's generated primary key.
    pub behind_generated_key: bool,
    /// The text is the client's: comments for versions in it are to be read by every server as they were read here.
    pub is_as_written: bool,
    /// Actions of an ALTER TABLE that are others for a MariaDB, by their places in it.
    pub in_mariadb: Vec<(usize, String)>,
    /// Actions that ALTER TABLE has done besides; none if it is empty.
    pub added_actions: String,
    /// An ALTER TABLE that did what a MariaDB does, where a MySQL does something else.
    pub is_as_in_mariadb: bool,
    /// The order in which an ALTER TABLE numbers rows, where there is more than one.
    pub row_order: Option<crate::statement::RowOrder>,
    /// A REVOKE that restricts privileges on a database, as one does with `partial_revokes`.
    pub is_partial_revoke: bool,
}

impl LogChanges {
    /// ALTER TABLE has done this besides.
    pub fn add_action(&mut self, action: &str) {
        let separator = if self.added_actions.is_empty() { "" } else { ", " };
        self.added_actions.push_str(separator);
        self.added_actions.push_str(action);
    }
}

/// A definition's text for the log; `None` if that is the text itself.
pub fn for_log(parsed: &ParsedStatement, changes: &LogChanges) -> Option<String> {
    let text = &*parsed.text;
    let mut notes = parsed.notes.as_deref().cloned().unwrap_or_default();
    let quoted = notes.unquoted.iter().map(|name| (name.clone(), format!("`{}`", &text[name.clone()])));
    if let Some(text) = edited(text, quoted.collect()) {
        let quoted = parse_one(&text, &parsed.context).ok().and_then(|parsed| for_log(&parsed, changes));
        return quoted.or(Some(text));
    }
    changes.in_mariadb.iter().for_each(|(item, maria)| notes.item_in_mariadb(*item, maria, text));
    // What is in such a comment already is one kind's alone.
    let comments = &notes.comments;
    let pieces_met = notes.pieces.iter().flat_map(|piece| comments.met_by(&piece.range));
    let of_one_kind: HashSet<usize> = pieces_met.map(|comment| comment.opening.start).collect();
    notes.pieces.retain(|piece| comments.met_by(&piece.range).is_empty());
    let gone = Gone::new(&mut notes, &changes.left_out, text);
    let stays = |range: &Range<usize>| gone.leaves(range);
    let pieces = notes.pieces.iter().filter(|piece| stays(&piece.range));
    let mut edits: Vec<(Range<usize>, String)> = pieces.map(|piece| (piece.range.clone(), piece.text())).collect();
    if changes.behind_generated_key {
        let behind = |range: &Range<usize>| (range.clone(), "AFTER `my_row_id`".to_owned());
        edits.extend(notes.firsts.iter().filter(|&range| stays(range)).map(behind));
    }
    if !changes.added_actions.is_empty() {
        let comment =
            notes.comments.read.iter().find(|comment| (comment.inside.start..=comment.inside.end).contains(&notes.end));
        let end = comment.map_or(notes.end, |comment| comment.inside.end + 2);
        edits.push((end..end, format!(", {}", changes.added_actions)));
    }
    if changes.is_as_written {
        let for_all = notes.comments.for_all(text, |comment| of_one_kind.contains(&comment.opening.start));
        edits.extend(for_all.into_iter().filter(|(range, _)| stays(range)));
    }
    edits.extend(gone.0.into_iter().map(|range| (range, String::new())));
    edited(text, edits)
}

/// What goes from a definition's text with the items that are left out, in its order.
struct Gone(Vec<Range<usize>>);

impl Gone {
    /// An action that is one kind's alone, as one that is left out, goes with one of the commas around it: the pieces of `notes` are made wider.
    fn new(notes: &mut Notes, left_out: &[usize], text: &str) -> Self {
        let Notes { pieces, items, comments, .. } = notes;
        let alone: HashSet<&Range<usize>> =
            pieces.iter().filter(|piece| piece.leaves_nothing()).map(|piece| &piece.range).collect();
        let alone: Vec<usize> = (0..items.len()).filter(|&item| alone.contains(&items[item])).collect();
        let gone: HashSet<usize> = left_out.iter().chain(&alone).copied().collect();
        let first_kept = (0..items.len()).find(|item| !gone.contains(item)).unwrap_or(items.len());
        let whole = |item: usize| with_separator(items, item, first_kept);
        let wholes: HashMap<&Range<usize>, Range<usize>> =
            alone.iter().map(|&item| (&items[item], whole(item))).collect();
        for piece in pieces {
            if let Some(whole) = wholes.get(&piece.range) {
                piece.widen(whole.clone(), text);
            }
        }
        let removed = left_out.iter().map(|&item| whole(item));
        let mut removed: Vec<Range<usize>> = removed.flat_map(|range| comments.without_delimiters(range)).collect();
        removed.sort_by_key(|place| (place.start, place.end));
        Gone(removed)
    }

    /// Whether a range does not go.
    fn leaves(&self, range: &Range<usize>) -> bool {
        let before = &self.0[..self.0.partition_point(|place| place.start <= range.start)];
        before.last().is_none_or(|place| range.end > place.end)
    }
}

/// An item of a list, with the comma before it; those before the first that is kept with the comma behind them.
fn with_separator(items: &[Range<usize>], item: usize, first_kept: usize) -> Range<usize> {
    match (item <= first_kept, items.get(item + 1)) {
        (true, Some(next)) => items[item].start..next.start,
        (true, None) => items[item].clone(),
        (false, _) => items[item - 1].end..items[item].end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::ParseContext;

    fn logged(text: &str, left_out: &[usize]) -> String {
        let changes = LogChanges { left_out: left_out.to_vec(), ..LogChanges::default() };
        let parsed = parse_one(text, &ParseContext::default()).unwrap();
        for_log(&parsed, &changes).unwrap_or_else(|| "as it is".to_owned())
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
            ("GRANT SELECT, GRANT OPTION ON d.* TO u", "as it is"),
            ("GRANT SELECT, CLONE_ADMIN ON *.* TO u", "GRANT SELECT/*!50700 , CLONE_ADMIN */ ON *.* TO u"),
            (
                "GRANT CLONE_ADMIN, XA_RECOVER_ADMIN, BINLOG_ADMIN, reload ON *.* TO u WITH GRANT OPTION",
                "GRANT /*!50700 CLONE_ADMIN,  *//*!50700 XA_RECOVER_ADMIN,  *//*!50700 BINLOG_ADMIN */ /*M!100200 BINLOG ADMIN */, reload \
                 ON *.* TO u WITH GRANT OPTION",
            ),
            (
                "REVOKE XA_RECOVER_ADMIN, clone_admin ON *.* FROM u",
                "/*!50700 REVOKE XA_RECOVER_ADMIN, clone_admin ON *.* FROM u */",
            ),
            (
                "GRANT BINLOG MONITOR ON *.* TO u",
                "GRANT /*!50700 REPLICATION CLIENT */ /*M!100200 BINLOG MONITOR */ ON *.* TO u",
            ),
            (
                "CREATE TABLE t (a INT) TRANSACTIONAL=1, COMMENT='c', PAGE_CHECKSUM=1",
                "CREATE TABLE t (a INT) /*M!100200 TRANSACTIONAL=1, */ COMMENT='c'/*M!100200 , PAGE_CHECKSUM=1 */",
            ),
            (
                "CREATE TABLE t (a INT) TRANSACTIONAL=1, PAGE_CHECKSUM=1, COMMENT='c'",
                "CREATE TABLE t (a INT) /*M!100200 TRANSACTIONAL=1, */ /*M!100200 PAGE_CHECKSUM=1, */ COMMENT='c'",
            ),
            ("ALTER TABLE t /*!80023 AUTOEXTEND_SIZE=4M */, ADD COLUMN b INT", "as it is"),
            ("ALTER TABLE t AUTOEXTEND_SIZE=4M", "ALTER TABLE t /*!50700 AUTOEXTEND_SIZE=4M */"),
            (
                "ALTER TABLE t TRANSACTIONAL=1, ADD COLUMN b INT",
                "ALTER TABLE t /*M!100200 TRANSACTIONAL=1,  */ADD COLUMN b INT",
            ),
            (
                "ALTER TABLE t ADD COLUMN b INT, TRANSACTIONAL=1",
                "ALTER TABLE t ADD COLUMN b INT/*M!100200 , TRANSACTIONAL=1 */",
            ),
            (
                "ALTER TABLE t ALTER a SET DEFAULT NOW(3)",
                "ALTER TABLE t ALTER a SET DEFAULT /*!50700 (CURRENT_TIMESTAMP(3)) */ /*M!100200 NOW(3) */",
            ),
            ("ALTER TABLE t ALTER a SET DEFAULT (NOW(3))", "as it is"),
            (
                "CREATE TABLE lag (rank INT, virtual REAL, KEY system (rank), `out` INT) ENGINE=Aria",
                "CREATE TABLE `lag` (`rank` INT, `virtual` REAL, KEY `system` (`rank`), `out` INT) \
                 /*!50700 ENGINE=InnoDB */ /*M!100200 ENGINE=Aria */",
            ),
            ("CREATE TABLE t (a REAL, b DEC(3), c LONG VARBINARY, d DATE)", "as it is"),
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
    fn many_pieces() {
        const MANY: usize = 100_000;
        let engines = format!("ALTER TABLE t {}", vec!["ENGINE=Aria"; MANY].join(", "));
        assert_eq!(logged(&engines, &[]).matches("InnoDB").count(), MANY);
        let options = format!("ALTER TABLE t {}, ADD b INT", vec!["TRANSACTIONAL=1"; MANY].join(", "));
        assert_eq!(logged(&options, &[]).matches("/*M!").count(), MANY);
        let keys = format!("ALTER TABLE t ADD a INT{}", ", DROP COLUMN IF EXISTS b".repeat(MANY));
        assert_eq!(logged(&keys, &(1..=MANY).collect::<Vec<_>>()), "ALTER TABLE t ADD a INT");
        let comments = format!("ALTER TABLE t ADD a INT{}", " /*!50100 , ENGINE=Aria */".repeat(MANY));
        logged(&comments, &[]);
        logged(&format!("GRANT {} ON *.* TO u", vec!["CLONE_ADMIN"; MANY].join(", ")), &[]);
    }

    #[test]
    fn conditions_are_decided() {
        let alter = "ALTER TABLE IF EXISTS t ADD COLUMN IF NOT EXISTS a INT, DROP COLUMN IF EXISTS b, ADD KEY IF NOT EXISTS k (a)";
        assert_eq!(logged(alter, &[]), "ALTER TABLE  t ADD COLUMN  a INT, DROP COLUMN  b, ADD KEY  k (a)");
        assert_eq!(logged(alter, &[1]), "ALTER TABLE  t ADD COLUMN  a INT, ADD KEY  k (a)");
        assert_eq!(logged(alter, &[0, 1]), "ALTER TABLE  t ADD KEY  k (a)");
        assert_eq!(logged(alter, &[1, 2]), "ALTER TABLE  t ADD COLUMN  a INT");
        assert_eq!(logged(alter, &[0, 2]), "ALTER TABLE  t DROP COLUMN  b");
        // Comments for versions stay whole.
        let behind = "ALTER TABLE t ADD a INT/*!50100 , ADD b INT */, ALGORITHM=COPY";
        assert_eq!(logged(behind, &[2]), "ALTER TABLE t ADD a INT/*!50100 , ADD b INT*/");
        let before = "ALTER TABLE t ALGORITHM=COPY/*!50100 , ADD b INT */, ADD c INT";
        assert_eq!(logged(before, &[0]), "ALTER TABLE t /*!50100ADD b INT */, ADD c INT");
        let alone = "ALTER TABLE t /*!50100 ADD b INT, */ ALGORITHM=COPY";
        assert_eq!(logged(alone, &[1]), "ALTER TABLE t /*!50100 ADD b INT*/");
        let inside = "ALTER TABLE t ADD b INT /*!50100 , ALGORITHM=COPY */, ADD c INT";
        assert_eq!(logged(inside, &[1]), "ALTER TABLE t ADD b INT/*!50100 */, ADD c INT");
        assert_eq!(logged("CREATE INDEX IF NOT EXISTS k ON t (a)", &[]), "CREATE INDEX  k ON t (a)");
        assert_eq!(logged("DROP INDEX IF EXISTS k ON t", &[]), "DROP INDEX  k ON t");
        // A table whose rows follow is a transaction by itself here.
        let table = "CREATE TABLE t (a INT)";
        assert_eq!(
            logged(&format!("{table} CHARSET=latin1 START TRANSACTION"), &[]),
            format!("{table} CHARSET=latin1 ")
        );
        assert_eq!(logged(&format!("{table} START TRANSACTION, COMMENT='c'"), &[]), format!("{table}  COMMENT='c'"));
    }
}
