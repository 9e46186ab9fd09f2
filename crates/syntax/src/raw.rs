//! Text as it comes from the client: bytes, maybe several statements, maybe not valid UTF-8.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use types::charset::Charset;

use crate::parse::end_of_program;
use crate::versions::{Opening, Reader, unread};
use types::SqlMode;

/// The length of the first statement with its `;`, or `None` if only space, comments and empty statements are left.
pub fn next_statement(text: &[u8], mode: SqlMode) -> Option<usize> {
    let mut scan = Scan::new(text, mode);
    let mut first = None;
    loop {
        let start = scan.at;
        match (scan.piece(), first) {
            (None, _) => return first.map(|_| text.len()),
            (Some(Piece::Semicolon), Some(first)) if begins_program(&text[first..scan.at]) => {
                return Some(end_of_program(text, scan.at, mode));
            }
            (Some(Piece::Semicolon), Some(_)) => return Some(scan.at),
            (Some(Piece::Quoted | Piece::Other), None) => first = Some(start),
            _ => {}
        }
    }
}

/// A quick look at the first word of a statement: whether it may be one that holds semicolons. For versions, a comment may be before it.
fn begins_program(text: &[u8]) -> bool {
    const WORDS: [&str; 10] = ["ALTER", "BEGIN", "CASE", "CREATE", "FOR", "IF", "LOOP", "REPEAT", "SET", "WHILE"];
    let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    text.starts_with(b"/*") || WORDS.iter().any(|word| text[..length].eq_ignore_ascii_case(word.as_bytes()))
}

/// The text of a client, which writes in this character set, as UTF-8. Strings with bytes that are no text in it (binary data, as PyMySQL
/// writes it) become `_binary x'…'`, which is no number as `x'…'` alone would be; what is no text elsewhere is replaced.
pub fn to_utf8(text: &[u8], charset: Charset, mode: SqlMode) -> Cow<'_, str> {
    if let Some(text) = charset.text(text) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    let mut scan = Scan::new(text, mode);
    // Strings that may go on, and what stands between and behind them.
    let mut open: Option<Strings> = None;
    loop {
        let start = scan.at;
        let Some(piece) = scan.piece() else { break };
        let bytes = &text[start..scan.at];
        let is_string = piece == Piece::Quoted && bytes[0] != b'`';
        if is_string {
            let strings = open.get_or_insert_with(|| Strings::at(&out));
            strings.parts.push(start..scan.at);
            strings.is_text &= charset.text(bytes).is_some();
        }
        // `x'41'` is no text that goes on.
        let goes_on = is_string || piece == Piece::Space;
        if let Some(strings) = open.take_if(|strings| !goes_on || strings.has_prefix) {
            strings.write(&text[..if is_string { scan.at } else { start }], (charset, mode), &mut out);
            if is_string {
                continue;
            }
        }
        if open.is_none() {
            out.push_str(&replaced(bytes, charset));
        }
    }
    if let Some(strings) = open {
        strings.write(text, (charset, mode), &mut out);
    }
    Cow::Owned(out)
}

/// Bytes of a character set as text, what is none replaced.
fn replaced(bytes: &[u8], charset: Charset) -> String {
    String::from_utf8_lossy(&charset.decode(bytes)).into_owned()
}

/// Strings beside one another, which are one: `'a' 'b'` is `'ab'`.
struct Strings {
    /// Where they are in the text that is read.
    parts: Vec<Range<usize>>,
    is_text: bool,
    /// `x'…'`, `b'…'`
    has_prefix: bool,
}

impl Strings {
    fn at(out: &str) -> Self {
        let has_prefix = matches!(last_word(out), "x" | "X" | "b" | "B");
        Strings { parts: Vec::new(), is_text: true, has_prefix }
    }

    /// Writes them, with what stands between them and behind them up to the end of `text`: as they are, or, if one of them is no text, as a
    /// binary string. What an introducer of another character set says of the bytes stays.
    fn write(&self, text: &[u8], (client, mode): (Charset, SqlMode), out: &mut String) {
        let (Some(first), Some(last)) = (self.parts.first(), self.parts.last()) else { return };
        if self.is_text {
            out.push_str(&replaced(&text[first.start..], client));
            return;
        }
        let before = out.trim_end();
        let word = last_word(before);
        let charset = word.strip_prefix('_').and_then(Charset::by_name);
        // `N'…'` stands close to its text, an introducer may stand apart from it.
        let is_national = before.len() == out.len() && matches!(word, "n" | "N");
        let is_replaced = is_national || charset == Some(client);
        let word_at = before.len() - word.len();
        if is_replaced {
            out.truncate(word_at);
        }
        if is_replaced || charset.is_none() {
            let is_apart = !out.ends_with(is_of_word);
            out.push_str(if is_apart { "_binary" } else { " _binary" });
        }
        out.push_str(" x'");
        for byte in self.parts.iter().flat_map(|part| unescape(&text[part.clone()], mode)) {
            let _ = write!(out, "{byte:02x}");
        }
        out.push('\'');
        out.push_str(&replaced(&text[last.end..], client));
    }
}

fn is_of_word(last: char) -> bool {
    last.is_alphanumeric() || matches!(last, '_' | '$')
}

/// The letters and digits at the end of a text.
fn last_word(text: &str) -> &str {
    &text[text.trim_end_matches(is_of_word).len()..]
}

/// The bytes that a quoted string stands for.
fn unescape(quoted: &[u8], mode: SqlMode) -> Vec<u8> {
    let (quote, escapes) = (quoted[0], !mode.has(SqlMode::NO_BACKSLASH_ESCAPES));
    let inside = quoted[1..].strip_suffix(&[quote]).unwrap_or(&quoted[1..]);
    let mut out = Vec::with_capacity(inside.len());
    let mut bytes = inside.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if escapes => match bytes.next() {
                Some(b'0') => out.push(0),
                Some(b'b') => out.push(8),
                Some(b'n') => out.push(b'\n'),
                Some(b'r') => out.push(b'\r'),
                Some(b't') => out.push(b'\t'),
                Some(b'Z') => out.push(0x1a),
                Some(other) => out.push(other),
                None => {}
            },
            _ if byte == quote => out.extend(bytes.next()),
            _ => out.push(byte),
        }
    }
    out
}

/// What the scanner tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Space or a comment.
    Space,
    /// A quoted string or name, whole.
    Quoted,
    Semicolon,
    /// One other byte, or several.
    Other,
}

pub(crate) struct Scan<'a> {
    text: &'a [u8],
    pub(crate) at: usize,
    mode: SqlMode,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a [u8], mode: SqlMode) -> Self {
        Scan { text, at: 0, mode }
    }

    pub(crate) fn piece(&mut self) -> Option<Piece> {
        let rest = &self.text[self.at..];
        let (length, piece) = match *rest {
            [] => return None,
            [b';', ..] => (1, Piece::Semicolon),
            [quote @ (b'\'' | b'"' | b'`'), ..] => (self.quoted(quote, rest), Piece::Quoted),
            [b'#', ..] => (line(rest), Piece::Space),
            [b'-', b'-'] => (2, Piece::Space),
            [b'-', b'-', next, ..] if next <= b' ' => (line(rest), Piece::Space),
            [b'/', b'*', ref after @ ..] => match version_comment(after, Reader::Commuter) {
                Some(opening) => (2 + opening.length, Piece::Other),
                None => (unread(rest).unwrap_or(rest.len()), Piece::Space),
            },
            [byte, ..] if byte <= b' ' => (1, Piece::Space),
            _ => {
                let special =
                    |byte: &u8| matches!(byte, b';' | b'\'' | b'"' | b'`' | b'#' | b'-' | b'/') || *byte <= b' ';
                (rest.iter().skip(1).position(special).map_or(rest.len(), |next| next + 1), Piece::Other)
            }
        };
        self.at += length;
        Some(piece)
    }

    fn quoted(&self, quote: u8, rest: &[u8]) -> usize {
        let escapes = quote != b'`'
            && !self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES)
            && !(quote == b'"' && self.mode.has(SqlMode::ANSI_QUOTES));
        let mut at = 1;
        while at < rest.len() {
            match rest[at] {
                b'\\' if escapes => at += 2,
                byte if byte == quote && rest.get(at + 1) == Some(&quote) => at += 2,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        rest.len()
    }
}

/// How long the beginning of a comment is behind its `/*`, if what follows is read: `!`, `!50700`, `M!100001`. `None` for other comments,
/// and for those that are for newer versions.
///
/// This server reads those too in which MariaDB's mysqlbinlog puts events of a log, whatever their version: what is in a log is done, or refused.
pub(crate) fn version_comment(after: &[u8], reader: Reader) -> Option<Opening> {
    let is_read = |opening: &Opening| {
        opening.is_read_by(reader) || reader == Reader::Commuter && is_binlog(&after[opening.length..])
    };
    Opening::of(after).filter(is_read)
}

/// The statement BINLOG, not a privilege whose name begins so.
fn is_binlog(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let Some((word, rest)) = text.split_at_checked("BINLOG".len()) else { return false };
    word.eq_ignore_ascii_case(b"BINLOG") && matches!(rest.trim_ascii_start(), [b'\'' | b'"' | b'@', ..])
}

fn line(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(mut text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        while let Some(length) = next_statement(text.as_bytes(), SqlMode::default()) {
            pieces.push(&text[..length]);
            text = &text[length..];
        }
        pieces
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes() {
        assert_eq!(split("a; b"), ["a;", " b"]);
        assert_eq!(split("a ';' \"\\\";\" `;`; -- x;\n b;;"), ["a ';' \"\\\";\" `;`;", " -- x;\n b;"]);
        assert_eq!(split(" ; /* c; */ ; "), Vec::<&str>::new());
        assert_eq!(split("/*!50000 a; */"), ["/*!50000 a;", " */"]);
        assert_eq!(split("/*!99999 a; */ b"), ["/*!99999 a; */ b"]);
        assert_eq!(split("/*!99999 a; /* b; */ c; */ d; e"), ["/*!99999 a; /* b; */ c; */ d;", " e"]);
        assert_eq!(split("/*M!100001 a; */"), ["/*M!100001 a;", " */"]);
        assert_eq!(split("/*M!100616 a; */ /*M! a; */ b"), ["/*M!100616 a; */ /*M! a; */ b"]);
        assert_eq!(split("/*!100600 BINLOG 'a;'; */"), ["/*!100600 BINLOG 'a;';", " */"]);
        assert_eq!(version_comment(b"M!100200 BINLOG ADMIN */", Reader::Commuter), None, "a privilege");
        assert_eq!(split("'open; a"), ["'open; a"]);
    }

    #[test]
    fn bodies_of_stored_programs_are_not_cut() {
        for whole in [
            "CREATE PROCEDURE p() BEGIN DELETE FROM t; SELECT 1; END;",
            "CREATE DEFINER=`root`@`localhost` TRIGGER t BEFORE INSERT ON u FOR EACH ROW BEGIN SET NEW.a = UPPER(NEW.a); END;",
            "/*!50003 CREATE*/ /*!50017 DEFINER=`r`@`l`*/ /*!50003 TRIGGER t BEFORE INSERT ON u FOR EACH ROW BEGIN SET NEW.a = 1; END */;",
            "CREATE TRIGGER t BEFORE INSERT ON u FOR EACH ROW IF NEW.a THEN SET NEW.a = IF(1, 2, 3); ELSE SET NEW.a = 4; END IF;",
            "CREATE FUNCTION f() RETURNS INT BEGIN CASE 1 WHEN 1 THEN SET @a = 1; END CASE; RETURN CASE WHEN 1 THEN 2 END; END;",
            "CREATE PROCEDURE p() l: LOOP WHILE 1 DO SET @a = 1; END WHILE; REPEAT SET @b = 2; UNTIL 1 END REPEAT; END LOOP l;",
            "CREATE FUNCTION f() RETURNS INT BEGIN RETURN CASE WHEN 1 THEN IF(1, 2, 3) ELSE IF(4, 5, 6) END; END;",
            "CREATE PROCEDURE IF NOT EXISTS p() BEGIN IF 1 THEN IF (2) THEN SELECT 3; ELSEIF 4 THEN SELECT 5; END IF; END IF; END;",
            "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN SELECT 'END; x'; END;",
        ] {
            assert_eq!(split(&format!("{whole} SELECT 2;")), [whole, " SELECT 2;"]);
        }
        assert_eq!(split("CREATE TABLE t (begin INT); SELECT 1"), ["CREATE TABLE t (begin INT);", " SELECT 1"]);
        assert_eq!(split("BEGIN; SELECT 1"), ["BEGIN;", " SELECT 1"]);
        assert_eq!(
            split("CREATE FUNCTION f RETURNS INT SONAME 'x'; SELECT 1"),
            ["CREATE FUNCTION f RETURNS INT SONAME 'x';", " SELECT 1"]
        );
    }

    #[test]
    fn binary_strings_become_hexadecimal() {
        let text = b"insert into t values (_binary'\xff\\0a''b', 'ok')";
        let to_utf8 = |text| to_utf8(text, Charset::Utf8Mb4, SqlMode::default());
        assert_eq!(to_utf8(text), "insert into t values (_binary x'ff00612762', 'ok')");
        assert_eq!(to_utf8(b"select _latin1'\xe9', '\xff'"), "select _latin1 x'e9', _binary x'ff'");
        let text = b"_binary '\xff' 'a'\n\"b\", 'a' '\xff', N'\xff', _utf8mb4 '\xff', x'41' '\xff', a.'\xff'";
        let meant =
            "_binary  x'ff6162', _binary x'61ff', _binary x'ff', _binary x'ff', x'41' _binary x'ff', a._binary x'ff'";
        assert_eq!(to_utf8(text), meant);
        assert!(matches!(to_utf8(b"select 'a'"), Cow::Borrowed(_)));
    }

    #[test]
    fn binary_strings_of_other_character_sets_become_hexadecimal() {
        let ascii = |text| to_utf8(text, Charset::ASCII, SqlMode::default()).into_owned();
        assert_eq!(
            ascii(b"select 'a\xff', 'b', _utf8mb4'\xc3\xa9', \xff"),
            "select _binary x'61ff', 'b', _utf8mb4 x'c3a9', ?"
        );
        let cyrillic = Charset::by_name("cp1251").unwrap();
        let text = b"select '\xc6', '\xc6\x98', _cp1251 '\x98', `\xc6`";
        let meant = "select '\u{416}', _binary x'c698', _binary x'98', `\u{416}`";
        assert_eq!(to_utf8(text, cyrillic, SqlMode::default()), meant);
        let latin1 = to_utf8(b"select '\xe9\x81'", Charset::LATIN1, SqlMode::default());
        assert_eq!(latin1, "select '\u{e9}\u{81}'", "each byte is a character");
    }
}
