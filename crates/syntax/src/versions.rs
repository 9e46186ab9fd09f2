//! Comments for versions: `/*!80000 … */`, which MySQL reads from that version on, and `/*M!100300 … */`, which MariaDB does.
//!
//! Each server executes what is meant for its kind and version, and says so in its log: what it did not execute stands there as a plain
//! comment. So a definition of another server's log is read by the rules of that server ([`as_executed`]), and the log of this one
//! has no comment that another server would read in another way ([`for_all`]).

use std::ops::Range;

use crate::raw::{Piece, Scan};
use crate::{MARIA_VERSION, VERSION};
use types::SqlMode;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// This server.
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

/// What has to become of a text whose comments were found, so that every server executes what was executed here: of what was read the
/// words alone, of what was not a plain comment. `stays` tells of a comment that is to stay as it is.
pub fn for_all(
    text: &str,
    read: &[ReadComment],
    unread: &[Range<usize>],
    stays: impl Fn(&ReadComment) -> bool,
) -> Vec<(Range<usize>, String)> {
    let mut edits = Vec::new();
    for comment in read.iter().filter(|comment| !comment.is_read_by_all && !stays(comment)) {
        edits.push((comment.opening.clone(), " ".to_owned()));
        edits.push((comment.inside.end..comment.inside.end + 2, " ".to_owned()));
    }
    edits.extend(unread.iter().map(|place| (place.clone(), plain(&text[place.clone()]))));
    edits
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

/// A statement as the server that logged it has executed it; `None` if that is the text itself.
pub fn as_executed(text: &str, mode: SqlMode, reader: Reader) -> Option<String> {
    if !text.contains("/*!") && !text.contains("/*M!") {
        return None;
    }
    let bytes = text.as_bytes();
    let mut scan = Scan::new(bytes, mode);
    let (mut out, mut copied, mut is_open) = (String::with_capacity(text.len()), 0, false);
    loop {
        let start = scan.at;
        let rest = &bytes[start..];
        let (length, instead) = match rest {
            [b'/', b'*', after @ ..] => match Opening::of(after) {
                Some(opening) if !is_open && opening.is_read_by(reader) => {
                    is_open = true;
                    (2 + opening.length, " ".to_owned())
                }
                Some(_) => {
                    let length = unread(rest).unwrap_or(rest.len());
                    (length, plain(&text[start..start + length]))
                }
                None => {
                    scan.at += unread(rest).unwrap_or(rest.len());
                    continue;
                }
            },
            [b'*', b'/', ..] if is_open => {
                is_open = false;
                (2, " ".to_owned())
            }
            // The rest of a word may hide the end of a comment.
            [b'*', ..] => {
                scan.at += 1;
                continue;
            }
            _ => match scan.piece() {
                None => break,
                Some(Piece::Other) => {
                    let end = rest[..scan.at - start].iter().skip(1).position(|byte| *byte == b'*');
                    scan.at = end.map_or(scan.at, |end| start + 1 + end);
                    continue;
                }
                Some(_) => continue,
            },
        };
        out.push_str(&text[copied..start]);
        out.push_str(&instead);
        scan.at = start + length;
        copied = scan.at;
    }
    out.push_str(&text[copied..]);
    (out != text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executed(text: &str, reader: Reader) -> String {
        as_executed(text, SqlMode::default(), reader).unwrap_or_else(|| "as it is".to_owned())
    }

    #[test]
    fn each_kind_reads_its_own() {
        let (mysql, maria) = (Reader::Mysql(90704), Reader::Maria(110809));
        for (text, by_mysql, by_maria) in [
            ("a /*! b */ c", "a   b   c", "a   b   c"),
            ("a /*!40101 b */", "a   b  ", "a   b  "),
            ("a /*!90000 b */", "a   b  ", "a /* 90000 b */"),
            ("a /*!99999 b */", "a /* 99999 b */", "a /* 99999 b */"),
            ("a /*!100100 b */", "a /* 100100 b */", "a   b  "),
            ("a /*M! b */", "a /*M  b */", "a   b  "),
            ("a /*M!100100 b */ c", "a /*M 100100 b */ c", "a   b   c"),
            ("a /*M!120000 b */", "a /*M 120000 b */", "a /*M 120000 b */"),
            ("a /*!1234 b */", "a  1234 b  ", "a  1234 b  "),
            ("a /*!50000b*/c", "a  b c", "a  b c"),
            ("a /* b */ '/*!90000 c */' `/*! d */` \"/*M! e */\"", "as it is", "as it is"),
            ("a -- /*!90000 b\n c", "as it is", "as it is"),
            ("a /*!99999 b /* c */ d */ e", "a /* 99999 b    c    d */ e", "a /* 99999 b    c    d */ e"),
            ("a /*!50000 b /* c */ d */ e", "a   b /* c */ d   e", "a   b /* c */ d   e"),
            ("a /*!50000 b /*!50001 c */ d */ e", "a   b /* 50001 c */ d   e", "a   b /* 50001 c */ d   e"),
            ("a /*!50000 'b */' */ '*/'", "a   'b */'   '*/'", "a   'b */'   '*/'"),
            ("a /*!50000 2*3*/ * 4", "a   2*3  * 4", "a   2*3  * 4"),
        ] {
            assert_eq!(
                (executed(text, mysql).as_str(), executed(text, maria).as_str()),
                (by_mysql, by_maria),
                "{text}"
            );
        }
        for open in ["a /*!99999 b", "a /*!50000 b", "a /*", "/*!", "/*M!", "/*!99999 a /* b */"] {
            executed(open, mysql);
        }
    }
}
