//! Paths: `$.a`, `$."a b"`, `$[0]`, `$[last-1]`, `$[1 to 3]`, `$.*`, `$[*]`, `$**.x`.

use std::collections::HashSet;
use std::convert::Infallible;

use super::{Json, parse};

/// A path into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The steps from the document.
    pub legs: Vec<Leg>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leg {
    /// `.key`
    Member(String),
    /// `.*`
    AnyMember,
    /// `[n]`, `[last-n]`
    Cell(Index),
    /// `[m to n]`
    Range(Index, Index),
    /// `[*]`
    AnyCell,
    /// `**`: what is here, and everything in it.
    Ellipsis,
}

/// A place in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// From the front.
    First(usize),
    /// `last-n`
    Last(usize),
}

impl Index {
    /// The place in an array of so many, and whether there is one.
    pub fn place(self, length: usize) -> (usize, bool) {
        match self {
            Index::First(n) => (n.min(length), n < length),
            Index::Last(n) if n < length => (length - 1 - n, true),
            Index::Last(_) => (0, false),
        }
    }
}

/// 3143: the text is no path; the position is that of the character where it ends to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid JSON path expression. The error is around character position {position}.")]
pub struct PathError {
    /// Characters before.
    pub position: usize,
}

/// More steps than that are refused: a document is no deeper.
const LEGS_MAX: usize = 100;

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Path, PathError> {
        let mut reader = Reader { text, at: 0 };
        reader.path().ok_or_else(|| PathError { position: text[..reader.at].chars().count() })
    }

    /// `*`, `**` or a range.
    pub fn is_wild(&self) -> bool {
        self.legs.iter().any(|leg| !matches!(leg, Leg::Member(_) | Leg::Cell(_)))
    }

    /// All that it leads to. With `auto_wrap` a value that is no array counts as an array of one.
    pub fn find<'j>(&self, json: &'j Json, auto_wrap: bool) -> Vec<&'j Json> {
        self.find_counted(json, auto_wrap, &mut |_| Ok::<_, Infallible>(())).unwrap_or_else(|never| match never {})
    }

    /// The same; `worked` is given how many values are looked at, before each step.
    ///
    /// # Errors
    /// Those of `worked`.
    pub fn find_counted<'j, E>(
        &self,
        json: &'j Json,
        auto_wrap: bool,
        worked: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<&'j Json>, E> {
        let mut found = vec![json];
        let mut seen_ellipsis = false;
        for leg in &self.legs {
            worked(found.len() as u64 + 1)?;
            let mut next = Vec::new();
            if *leg == Leg::Ellipsis && found.len() > 1 {
                let mut known = HashSet::new();
                found.into_iter().for_each(|value| put_new(value, &mut known, &mut next));
                found = next;
                continue;
            }
            for value in found {
                leg.find(value, auto_wrap, &mut next);
            }
            // Behind an ellipsis the same value can be reached twice.
            if seen_ellipsis && auto_wrap {
                let mut known = HashSet::new();
                next.retain(|value| known.insert(std::ptr::from_ref(*value)));
            }
            seen_ellipsis |= *leg == Leg::Ellipsis;
            found = next;
        }
        Ok(found)
    }

    /// The one value that a path without wildcards leads to.
    pub fn find_one<'j>(&self, json: &'j Json, auto_wrap: bool) -> Option<&'j Json> {
        self.find(json, auto_wrap).first().copied()
    }
}

impl Leg {
    fn find<'j>(&self, json: &'j Json, auto_wrap: bool, found: &mut Vec<&'j Json>) {
        match (self, json) {
            (Leg::Member(key), Json::Object(object)) => found.extend(object.get(key)),
            (Leg::AnyMember, Json::Object(object)) => found.extend(object.iter().map(|(_, value)| value)),
            (Leg::AnyCell, Json::Array(elements)) => found.extend(elements),
            (Leg::Cell(index), Json::Array(elements)) => {
                if let (at, true) = index.place(elements.len()) {
                    found.push(&elements[at]);
                }
            }
            (Leg::Range(first, last), Json::Array(elements)) => {
                let (start, end) = range(*first, *last, elements.len());
                found.extend(elements.get(start..end).unwrap_or_default());
            }
            (Leg::Cell(_) | Leg::Range(..), other) if auto_wrap && self.wraps() => found.push(other),
            (Leg::Ellipsis, other) => put_all(other, found),
            _ => {}
        }
    }

    /// Whether a value that is taken for an array of one has it.
    pub fn wraps(&self) -> bool {
        match self {
            Leg::Cell(index) => index.place(1).1,
            Leg::Range(first, last) => {
                let (start, end) = range(*first, *last, 1);
                start < end
            }
            _ => false,
        }
    }
}

fn range(first: Index, last: Index, length: usize) -> (usize, usize) {
    let (start, _) = first.place(length);
    let (end, is_there) = last.place(length);
    (start, end + usize::from(is_there))
}

fn put_all<'j>(json: &'j Json, found: &mut Vec<&'j Json>) {
    found.push(json);
    match json {
        Json::Array(elements) => elements.iter().for_each(|element| put_all(element, found)),
        Json::Object(object) => object.iter().for_each(|(_, value)| put_all(value, found)),
        _ => {}
    }
}

/// The same of what is not known yet: with a value all below it is.
fn put_new<'j>(json: &'j Json, known: &mut HashSet<*const Json>, found: &mut Vec<&'j Json>) {
    if !known.insert(std::ptr::from_ref(json)) {
        return;
    }
    found.push(json);
    match json {
        Json::Array(elements) => elements.iter().for_each(|element| put_new(element, known, found)),
        Json::Object(object) => object.iter().for_each(|(_, value)| put_new(value, known, found)),
        _ => {}
    }
}

/// Whether a key needs no quotes in a path.
pub fn is_identifier(key: &str) -> bool {
    let mut chars = key.chars();
    let is_start = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    chars.next().is_some_and(is_start)
        && chars.all(|c| is_start(c) || c.is_alphanumeric() || matches!(c, '\u{200c}' | '\u{200d}'))
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// `None` where `at` is.
    fn path(&mut self) -> Option<Path> {
        self.skip_blanks();
        if !self.accept(b'$') {
            self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
            return None;
        }
        let mut legs = Vec::new();
        self.skip_blanks();
        while self.peek().is_some() {
            legs.push(self.leg()?);
            if legs.len() > LEGS_MAX {
                return None;
            }
            self.skip_blanks();
        }
        // A path that ends in an ellipsis would lead to what it leads to twice.
        (legs.last() != Some(&Leg::Ellipsis)).then_some(Path { legs })
    }

    fn leg(&mut self) -> Option<Leg> {
        match self.peek()? {
            b'[' => self.cell(),
            b'.' => self.member(),
            b'*' => {
                self.at += 1;
                if !self.accept(b'*') {
                    return None;
                }
                // Three stars are none.
                (self.peek() != Some(b'*')).then_some(Leg::Ellipsis)
            }
            _ => None,
        }
    }

    fn cell(&mut self) -> Option<Leg> {
        self.at += 1;
        self.skip_blanks();
        if self.accept(b'*') {
            self.skip_blanks();
            return self.accept(b']').then_some(Leg::AnyCell);
        }
        let first = self.index()?;
        let before_blanks = self.at;
        self.skip_blanks();
        let had_blank = self.at > before_blanks;
        let leg = if had_blank && self.text[self.at..].starts_with("to") {
            self.at += 2;
            self.peek().filter(u8::is_ascii_whitespace)?;
            self.skip_blanks();
            let last = self.index()?;
            let is_backwards = match (first, last) {
                (Index::First(a), Index::First(b)) => a > b,
                (Index::Last(a), Index::Last(b)) => a < b,
                _ => false,
            };
            (!is_backwards).then_some(Leg::Range(first, last))?
        } else {
            Leg::Cell(first)
        };
        self.skip_blanks();
        self.accept(b']').then_some(leg)
    }

    fn index(&mut self) -> Option<Index> {
        if !self.text[self.at..].starts_with("last") {
            return self.number().map(Index::First);
        }
        self.at += "last".len();
        let end = self.at;
        self.skip_blanks();
        if self.accept(b'-') {
            self.skip_blanks();
            return self.number().map(Index::Last);
        }
        self.at = end;
        Some(Index::Last(0))
    }

    fn number(&mut self) -> Option<usize> {
        let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        let number = self.text[self.at..self.at + digits].parse::<u32>().ok()?;
        self.at += digits;
        Some(number as usize)
    }

    fn member(&mut self) -> Option<Leg> {
        self.at += 1;
        self.skip_blanks();
        match self.peek()? {
            b'*' => {
                self.at += 1;
                Some(Leg::AnyMember)
            }
            b'"' => {
                let (key, length) = parse::parse_prefix_of_literal(&self.text[self.at..])?;
                self.at += length;
                Some(Leg::Member(key))
            }
            _ => {
                let rest = &self.text[self.at..];
                let ends = |c: char| c.is_whitespace() || matches!(c, '.' | '[' | '*');
                let key = &rest[..rest.find(ends).unwrap_or(rest.len())];
                is_identifier(key).then_some(())?;
                self.at += key.len();
                Some(Leg::Member(key.to_owned()))
            }
        }
    }
}
