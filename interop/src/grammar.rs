//! Statements from a grammar, as deep and as wide as wanted, and broken now and then: what the statement fuzzer sends.
//!
//! The grammar is data (`interop/grammar/statements.txt`, which says how it is written). A statement is expanded with a stack of what
//! is still to come, not by recursion, so it may be nested as deep as memory allows. Where it has become as deep or as long
//! as it may, every name is written in its first way.

use std::collections::HashMap;

use crate::random_sql::Random;

/// The ways to write each name.
pub(crate) struct Grammar {
    ways: HashMap<String, Vec<Vec<Piece>>>,
}

/// A part of a way.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Name { name: String, times: Times },
}

#[derive(Clone, Debug, PartialEq)]
enum Times {
    Once,
    /// Or nothing.
    Maybe,
    /// One or more, with this between them.
    Many(String),
}

/// How large a statement becomes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Names within names.
    pub(crate) depth: usize,
    /// The most items of a list.
    pub(crate) width: usize,
    /// Bytes from which on nothing is added that need not be.
    pub(crate) bytes: usize,
}

/// What is still to be written.
enum Pending<'g> {
    Text(&'g str),
    Name {
        name: &'g str,
        times: &'g Times,
        depth: usize,
    },
    /// So many more items of a list.
    Items {
        name: &'g str,
        between: &'g str,
        left: usize,
        depth: usize,
    },
}

impl Default for Grammar {
    fn default() -> Self {
        Grammar::new(include_str!("../grammar/statements.txt"))
    }
}

impl Grammar {
    /// Reads a grammar.
    ///
    /// # Panics
    /// If a line is none of it, or uses a name that has no line.
    pub(crate) fn new(text: &str) -> Grammar {
        let mut ways: HashMap<String, Vec<Vec<Piece>>> = HashMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (name, way) = line.split_once(": ").unwrap_or_else(|| panic!("no name: {line}"));
            ways.entry(name.to_owned()).or_default().push(pieces(way));
        }
        let used = ways.values().flatten().flatten().filter_map(|piece| match piece {
            Piece::Name { name, .. } => Some(name),
            Piece::Text(_) => None,
        });
        let missing = used.filter(|name| !ways.contains_key(*name)).cloned().collect::<Vec<_>>();
        assert!(missing.is_empty(), "no lines for {missing:?}");
        Grammar { ways }
    }

    /// A statement.
    pub(crate) fn statement(&self, random: &mut Random, size: Size) -> String {
        let once = Times::Once;
        let mut out = String::new();
        let mut stack = vec![Pending::Name { name: "statement", times: &once, depth: 0 }];
        while let Some(next) = stack.pop() {
            let is_large = out.len() + stack.len() > size.bytes;
            match next {
                Pending::Text(text) => out.push_str(text),
                Pending::Name { times: Times::Maybe, .. } if is_large || random.chance(70) => {}
                Pending::Name { name, times: Times::Many(between), depth } => {
                    let left = if is_large { 1 } else { wide(random, size.width) };
                    stack.push(Pending::Items { name, between, left, depth });
                }
                Pending::Name { name, depth, .. } => self.push(&mut stack, random, name, depth, is_large, size),
                Pending::Items { name, between, left, depth } => {
                    if left > 1 && !is_large {
                        stack.push(Pending::Items { name, between, left: left - 1, depth });
                        stack.push(Pending::Text(between));
                    }
                    self.push(&mut stack, random, name, depth, is_large, size);
                }
            }
        }
        out
    }

    /// One way to write a name, to be written next.
    fn push<'g>(
        &'g self,
        stack: &mut Vec<Pending<'g>>,
        random: &mut Random,
        name: &str,
        depth: usize,
        is_large: bool,
        size: Size,
    ) {
        let ways = &self.ways[name];
        let way = if is_large || depth >= size.depth { &ways[0] } else { random.pick(ways) };
        stack.extend(way.iter().rev().map(|piece| match piece {
            Piece::Text(text) => Pending::Text(text),
            Piece::Name { name, times } => Pending::Name { name, times, depth: depth + 1 },
        }));
    }
}

/// A number of items: mostly few, sometimes all that there may be.
fn wide(random: &mut Random, most: usize) -> usize {
    match random.below(20) {
        0 => most,
        1 => 1 + random.below(most),
        _ => 1 + random.below(most.min(3)),
    }
}

/// `text {name} text {name*, }`; `\u{20}` stands for a character by its number, as in Rust.
fn pieces(way: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = way;
    while let Some(at) = name_at(rest) {
        let (text, from) = rest.split_at(at);
        pieces.push(Piece::Text(unescaped(text)));
        let end = end_of_name(from);
        let inner = &from[1..end];
        let (name, times) = match inner.split_once('*') {
            Some((name, between)) => (name, Times::Many(unescaped(between))),
            None => match inner.strip_suffix('?') {
                Some(name) => (name, Times::Maybe),
                None => (inner, Times::Once),
            },
        };
        pieces.push(Piece::Name { name: name.to_owned(), times });
        rest = &from[end + 1..];
    }
    pieces.push(Piece::Text(unescaped(rest)));
    pieces
}

/// Where the next `{name` is.
fn name_at(text: &str) -> Option<usize> {
    let is_name =
        |at: &usize| text[at + 1..].starts_with(|c: char| c.is_ascii_lowercase()) && !text[..*at].ends_with("\\u");
    text.match_indices('{').map(|(at, _)| at).find(is_name)
}

/// Where the bracket of the name at the front of a text ends; what is between items may have brackets of its own.
fn end_of_name(text: &str) -> usize {
    let mut depth = 0;
    let ends = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    };
    text.find(ends).unwrap_or(text.len() - 1)
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u{") {
        out.push_str(before);
        let (number, after) = after.split_once('}').unwrap_or((after, ""));
        out.extend(u32::from_str_radix(number, 16).ok().and_then(char::from_u32));
        rest = after;
    }
    out + rest
}

/// A statement that is not one any more: something of it is left out, twice there, cut off, or another byte.
pub(crate) fn broken(text: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            break;
        }
        let (from, length) = (random.below(bytes.len()), 1 + random.below(20));
        let end = (from + length).min(bytes.len());
        match random.below(5) {
            0 => drop(bytes.drain(from..end)),
            1 => {
                let piece = bytes[from..end].to_vec();
                let at = random.below(bytes.len());
                drop(bytes.splice(at..at, piece));
            }
            2 => bytes.truncate(from),
            3 => bytes[from] = random.below(256) as u8,
            _ => bytes.insert(from, *random.pick(b"()'\"`;,*/-#@\\\0")),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_as_deep_and_wide_as_wanted() {
        let grammar = Grammar::default();
        let mut random = Random::new(1);
        let small = Size { depth: 3, width: 2, bytes: 200 };
        for _ in 0..2000 {
            let text = grammar.statement(&mut random, small);
            assert!(text.len() < 20_000 && !text.contains("\\u{"), "{text}");
        }
        let large = Size { depth: 100_000, width: 100_000, bytes: 1 << 16 };
        let longest = (0..100).map(|_| grammar.statement(&mut random, large).len()).max().unwrap();
        assert!((1 << 15..64 << 20).contains(&longest), "{longest}");
    }

    #[test]
    fn a_line_is_text_names_and_lists() {
        let grammar = Grammar::new("statement: ({item*\\u{20}+ }) {\"a\": {item}}\nitem: 1");
        let text = grammar.statement(&mut Random::new(1), Size { depth: 9, width: 1, bytes: 99 });
        assert_eq!(text, "(1) {\"a\": 1}");
    }
}
