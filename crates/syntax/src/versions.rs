//! Comments for versions: `/*!80000 … */`, which MySQL reads from that version on, and `/*M!100300 … */`, which MariaDB does.
//!
//! Each server executes what is meant for its kind and version, and says so in its log: what it did not execute stands there as a plain
//! comment. So a statement of another server's log is read by the rules of that server ([`Reader`]), and the log of this one
//! has no comment that another server would read in another way ([`Comments::for_all`]).

use std::ops::Range;

use crate::{MARIA_VERSION, VERSION};

/// From here on MariaDB passes over MySQL's versions, up to the last with five digits.
const MARIA_PASSES_OVER: Range<u32> = 50_700..100_000;

/// The beginning of such a comment, behind its `/*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// `!`, `!50700`, `M!100001`.
    pub(crate) length: usize,
    /// With an M: for MariaDB alone.
    is_maria: bool,
    version: Option<u32>,
}

/// What a server is, and so which comments it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    /// This server.
    #[default]
    Commuter,
    /// A MySQL of this version, as 90704 for 9.7.4.
    Mysql(u32),
    /// A MariaDB, as 110809 for 11.8.9.
    Maria(u32),
}

impl Opening {
    /// Of what stands behind a `/*`.
    pub(crate) fn of(after: &[u8]) -> Option<Opening> {
        let (prefix, rest) = match after {
            [b'!', rest @ ..] => (1, rest),
            [b'M', b'!', rest @ ..] => (2, rest),
            _ => return None,
        };
        let digits = rest.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
        // Five or six digits are a version; fewer belong to the text.
        let digits = if digits < 5 { 0 } else { digits };
        let version = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse().ok());
        Some(Opening { length: prefix + digits, is_maria: prefix == 2, version })
    }

    pub(crate) fn is_read_by(self, reader: Reader) -> bool {
        let up_to = |known: u32| self.version.is_none_or(|version| version <= known);
        match (reader, self.is_maria) {
            (Reader::Commuter, false) => up_to(VERSION),
            (Reader::Commuter, true) => self.version.is_some_and(|version| version <= MARIA_VERSION),
            (Reader::Mysql(known), false) => up_to(known),
            (Reader::Mysql(_), true) => false,
            (Reader::Maria(known), true) => up_to(known),
            (Reader::Maria(known), false) => {
                up_to(known) && !self.version.is_some_and(|version| MARIA_PASSES_OVER.contains(&version))
            }
        }
    }

    /// Whether a comment that this server reads is read by every other one that follows it.
    fn is_read_by_all(self) -> bool {
        !self.is_maria && self.version.is_none_or(|version| version < MARIA_PASSES_OVER.start)
    }
}

/// The length of a comment that is not read, from its `/*` on, if it is closed. One for MySQL's versions may have another comment in it.
pub(crate) fn unread(text: &[u8]) -> Option<usize> {
    let mut at = 2;
    let nests = text.get(2) == Some(&b'!');
    loop {
        match text.get(at..)? {
            [b'*', b'/', ..] => return Some(at + 2),
            [b'/', b'*', ..] if nests => {
                let inner = text[at + 2..].windows(2).position(|pair| pair == b"*/")?;
                at += 2 + inner + 2;
            }
            [] => return None,
            _ => at += 1,
        }
    }
}

/// A comment for versions that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadComment {
    /// `/*!80000`
    pub opening: Range<usize>,
    /// Up to its `*/`.
    pub inside: Range<usize>,
    is_read_by_all: bool,
}

impl ReadComment {
    /// One whose `/*` is at a place.
    pub(crate) fn at(place: usize, opening: Opening) -> Self {
        let start = place + 2 + opening.length;
        ReadComment { opening: place..start, inside: start..start, is_read_by_all: opening.is_read_by_all() }
    }
}

/// The comments for versions of a statement.
#[derive(Clone, Debug, Default)]
pub struct Comments {
    /// Those that are read, in the order of the text.
    pub(crate) read: Vec<ReadComment>,
    /// Where those are that are not.
    pub(crate) unread: Vec<Range<usize>>,
}

impl Comments {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.read.is_empty() && self.unread.is_empty()
    }

    /// What has to become of the text, so that every server executes what was executed here: of what was read the words alone, of what
    /// was not a plain comment. `stays` tells of a comment that is to stay as it is.
    pub(crate) fn for_all(&self, text: &str, stays: impl Fn(&ReadComment) -> bool) -> Vec<(Range<usize>, String)> {
        let mut edits = Vec::new();
        for comment in self.read.iter().filter(|comment| !comment.is_read_by_all && !stays(comment)) {
            edits.push((comment.opening.clone(), " ".to_owned()));
            edits.push((comment.inside.end..comment.inside.end + 2, " ".to_owned()));
        }
        edits.extend(self.unread.iter().map(|place| (place.clone(), plain(&text[place.clone()]))));
        edits
    }

    /// Those that were read and share some of the text with a range.
    pub(crate) fn met_by(&self, range: &Range<usize>) -> &[ReadComment] {
        let behind = &self.read[self.read.partition_point(|comment| comment.inside.end <= range.start)..];
        &behind[..behind.partition_point(|comment| comment.inside.start < range.end)]
    }

    /// The parts of a range without the beginning of a comment that ends behind it, and without the end of one that begins before it.
    pub(crate) fn without_delimiters(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let comments = &self.read[self.read.partition_point(|comment| comment.inside.end + 2 <= range.start)..];
        let comments = comments.iter().take_while(|comment| comment.opening.start < range.end);
        let mut parts = vec![range.clone()];
        for comment in comments {
            let (open, close) = (comment.opening.clone(), comment.inside.end..comment.inside.end + 2);
            let has = |delimiter: &Range<usize>| range.start <= delimiter.start && delimiter.end <= range.end;
            let stays = match (has(&open), has(&close)) {
                (true, false) => open,
                (false, true) => close,
                _ => continue,
            };
            let last = parts.pop().unwrap_or_else(|| stays.clone());
            parts.extend([last.start..stays.start, stays.end..last.end]);
        }
        parts
    }
}

/// A comment that is not read as one that no server reads: without its `!`, and without comments in it.
fn plain(comment: &str) -> String {
    let Some(inside) = comment.strip_prefix("/*").and_then(|comment| comment.strip_suffix("*/")) else {
        // It is not closed, and so an error.
        return comment.to_owned();
    };
    let inside = inside.replacen('!', " ", 1).replace("/*", "  ").replace("*/", "  ");
    format!("/*{inside}*/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lex_without_rows;
    use types::SqlMode;

    /// What a server reads of a text, and what the log says of it.
    fn read_and_logged(text: &str, reader: Reader) -> (String, String) {
        let Ok(lexed) = lex_without_rows(text, SqlMode::default(), reader) else {
            return ("an error".into(), String::new());
        };
        let read: Vec<String> = lexed.tokens.iter().map(|token| token.token.to_string()).collect();
        let mut logged = text.to_owned();
        for (place, instead) in lexed.comments.for_all(text, |_| false).iter().rev() {
            logged.replace_range(place.clone(), instead);
        }
        (read.join(" "), logged)
    }

    #[test]
    fn each_kind_reads_its_own() {
        let (mysql, maria) = (Reader::Mysql(90704), Reader::Maria(110809));
        for (text, by_mysql, by_maria) in [
            ("a /*! b */ c", ("a b c", "a /*! b */ c"), ("a b c", "a /*! b */ c")),
            ("a /*!40101 b */", ("a b", "a /*!40101 b */"), ("a b", "a /*!40101 b */")),
            ("a /*!90000 b */", ("a b", "a   b  "), ("a", "a /* 90000 b */")),
            ("a /*!99999 b */", ("a", "a /* 99999 b */"), ("a", "a /* 99999 b */")),
            ("a /*!100100 b */", ("a", "a /* 100100 b */"), ("a b", "a   b  ")),
            ("a /*M! b */", ("a", "a /*M  b */"), ("a b", "a   b  ")),
            ("a /*M!100100 b */ c", ("a c", "a /*M 100100 b */ c"), ("a b c", "a   b   c")),
            ("a /*M!120000 b */", ("a", "a /*M 120000 b */"), ("a", "a /*M 120000 b */")),
            ("a /*!1234 b */", ("a 1234 b", "a /*!1234 b */"), ("a 1234 b", "a /*!1234 b */")),
            ("a /*!50000b*/c", ("a b c", "a /*!50000b*/c"), ("a b c", "a /*!50000b*/c")),
            (
                "a /* b */ '/*!90000 c */' `/*! d */` \"/*M! e */\"",
                ("a '/*!90000 c */' `/*! d */` '/*M! e */'", "a /* b */ '/*!90000 c */' `/*! d */` \"/*M! e */\""),
                ("a '/*!90000 c */' `/*! d */` '/*M! e */'", "a /* b */ '/*!90000 c */' `/*! d */` \"/*M! e */\""),
            ),
            ("a -- /*!90000 b\n c", ("a c", "a -- /*!90000 b\n c"), ("a c", "a -- /*!90000 b\n c")),
            (
                "a /*!99999 b /* c */ d */ e",
                ("a e", "a /* 99999 b    c    d */ e"),
                ("a e", "a /* 99999 b    c    d */ e"),
            ),
            ("a /*!80000 b /* c */ d */ e", ("a b d e", "a   b /* c */ d   e"), ("a e", "a /* 80000 b    c    d */ e")),
            (
                "a /*!80000 b /*!50001 c */ d */ e",
                ("a b d e", "a   b /* 50001 c */ d   e"),
                ("a e", "a /* 80000 b   !50001 c    d */ e"),
            ),
            (
                "a /*!50000 'b */' */ '*/'",
                ("a 'b */' '*/'", "a /*!50000 'b */' */ '*/'"),
                ("a 'b */' '*/'", "a /*!50000 'b */' */ '*/'"),
            ),
            ("a /*!80000 2*3*/ * 4", ("a 2 * 3 * 4", "a   2*3  * 4"), ("a * 4", "a /* 80000 2*3*/ * 4")),
        ] {
            let said = |(read, logged): (&str, &str)| (read.to_owned(), logged.to_owned());
            assert_eq!(read_and_logged(text, mysql), said(by_mysql), "{text}");
            assert_eq!(read_and_logged(text, maria), said(by_maria), "{text}");
        }
        for open in ["a /*!99999 b", "a /*!50000 b", "a /*", "/*!", "/*M!", "/*!99999 a /* b */"] {
            assert_eq!(read_and_logged(open, mysql).0, "an error", "{open}");
        }
    }
}
