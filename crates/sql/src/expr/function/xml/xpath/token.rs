//! The tokens of an XPath. Space separates them and is none.

use super::function;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    Name,
    /// A known function's name, right in front of its parenthesis.
    Function,
    /// The name of an axis, in front of `::`.
    Axis,
    /// `text`, `comment` …, in front of a parenthesis.
    NodeType,
    Digits,
    /// A text with its quotes.
    Text,
    Sign(char),
    /// None at all.
    Wrong,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    begin: usize,
    end: usize,
}

/// The text from the current token on.
pub(super) struct Tokens<'a> {
    text: &'a str,
    current: Token,
}

const AXES: [&str; 13] = [
    "ancestor",
    "ancestor-or-self",
    "attribute",
    "child",
    "descendant",
    "descendant-or-self",
    "following",
    "following-sibling",
    "namespace",
    "parent",
    "preceding",
    "preceding-sibling",
    "self",
];

const NODE_TYPES: [&str; 4] = ["comment", "text", "processing-instruction", "node"];

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_in_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit() || matches!(c, '-' | '.')
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut tokens = Tokens { text, current: Token { kind: Kind::End, begin: 0, end: 0 } };
        tokens.current = tokens.read(0);
        tokens
    }

    fn read(&self, from: usize) -> Token {
        let rest = &self.text[from..];
        let begin = from + rest.find(|c: char| !c.is_ascii_whitespace()).unwrap_or(rest.len());
        let rest = &self.text[begin..];
        let token = |kind, length| Token { kind, begin, end: begin + length };
        let Some(first) = rest.chars().next() else { return token(Kind::End, 0) };
        if begins_name(first) {
            let length = rest.find(|c| !is_in_name(c)).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(length);
            let kind = match () {
                () if behind.starts_with('(') && function::is_known(name) => Kind::Function,
                () if behind.starts_with('(') && is_one_of(&NODE_TYPES, name) => Kind::NodeType,
                () if behind.starts_with("::") && is_one_of(&AXES, name) => Kind::Axis,
                () => Kind::Name,
            };
            return token(kind, length);
        }
        match first {
            '0'..='9' => token(Kind::Digits, rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
            '"' | '\'' => match rest[1..].find(first) {
                Some(length) => token(Kind::Text, length + 2),
                None => token(Kind::Wrong, rest.len()),
            },
            '(' | ')' | '[' | ']' | '/' | '|' | '*' | '+' | '-' | '=' | '!' | '<' | '>' | '@' | ':' | ',' | '.'
            | '$' => token(Kind::Sign(first), 1),
            other => token(Kind::Wrong, other.len_utf8()),
        }
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.current.kind == kind
    }

    /// Goes on if it is that one.
    pub(super) fn take(&mut self, kind: Kind) -> bool {
        let is_it = self.is(kind);
        if is_it {
            self.current = self.read(self.current.end);
        }
        is_it
    }

    /// Goes on behind two signs; stays in front of the first if they are not there.
    pub(super) fn take_both(&mut self, first: char, second: char) -> bool {
        let before = self.current;
        if self.take(Kind::Sign(first)) && self.take(Kind::Sign(second)) {
            return true;
        }
        self.current = before;
        false
    }

    /// Goes on behind an operator, which is a sign or a word.
    pub(super) fn take_operator(&mut self, operator: &str) -> bool {
        let is_word = operator.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_of_kind = if is_word { self.is(Kind::Name) } else { matches!(self.current.kind, Kind::Sign(_)) };
        is_of_kind && self.text().eq_ignore_ascii_case(operator) && self.take(self.current.kind)
    }

    pub(super) fn begin(&self) -> usize {
        self.current.begin
    }

    pub(super) fn end(&self) -> usize {
        self.current.end
    }

    pub(super) fn between(&self, begin: usize, end: usize) -> &'a str {
        &self.text[begin..end]
    }

    /// The current token's.
    pub(super) fn text(&self) -> &'a str {
        self.between(self.current.begin, self.current.end)
    }

    /// A text without its quotes.
    pub(super) fn inside(&self) -> &'a str {
        self.text().get(1..self.text().len() - 1).unwrap_or_default()
    }

    /// What an error shows of the text from the current token on.
    pub(super) fn shown(&self) -> String {
        const SHOWN: usize = 32;
        let rest = &self.text[self.current.begin..];
        let end = rest.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= SHOWN).last();
        rest[..end.unwrap_or(0)].to_owned()
    }
}
