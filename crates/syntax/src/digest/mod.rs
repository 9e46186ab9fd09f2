//! The normal form of a statement, as MySQL makes it for its digests: the same for statements that differ in their literals, space and comments alone.
//!
//! ```text
//!   select a from t where b in (1,-2)  -- c        SELECT `a` FROM `t` WHERE `b` IN (...)
//!   insert into t values (1,'x'), (2,'y')          INSERT INTO `t` VALUES (...) /* , ... */
//! ```
//!
//! It is made of tokens, without a tree: literals become `?`, with a sign where an expression begins; lists of them, and rows of nothing else,
//! one token. A word is a keyword wherever MySQL's lexer takes it for one, and is written as the last of the spellings that MySQL has for it.
//!
//! Invariant: tokens are added to the end, and what they make with those before them replaces these, so the work grows with the text.

mod words;

use base::{SqlError, codes};

use self::words::{is_charset_name, keyword};
use crate::error::ParseError;
use crate::lexer::{Lexer, lex};
use crate::parse::{ParseContext, parse_one};
use crate::span::Span;
use crate::token::{Token, TokenAt};

/// A token of the normal form.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Word(&'static str),
    Sign(&'static str),
    Name(String),
    /// A number in GROUP BY or ORDER BY, which is a column's place.
    Place(String),
    Value,
    Values,
    /// `(?)`, and several of them.
    Row,
    Rows,
    /// `(?, ?)`, and several of them.
    LongRow,
    LongRows,
    InList,
}

impl Part {
    /// What MySQL counts for it.
    fn size(&self) -> usize {
        const TOKEN: usize = 2;
        match self {
            Part::Name(name) | Part::Place(name) => 2 * TOKEN + name.len(),
            _ => TOKEN,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Part::Word(text) | Part::Sign(text) => out.push_str(text),
            Part::Name(name) => {
                out.push('`');
                out.push_str(name);
                out.push('`');
            }
            Part::Place(digits) => out.push_str(digits),
            Part::Value => out.push('?'),
            Part::Values => out.push_str("?, ..."),
            Part::Row => out.push_str("(?)"),
            Part::Rows => out.push_str("(?) /* , ... */"),
            Part::LongRow => out.push_str("(...)"),
            Part::LongRows => out.push_str("(...) /* , ... */"),
            Part::InList => out.push_str("IN (...)"),
        }
        if *self != Part::Sign("@") {
            out.push(' ');
        }
    }
}

/// The normal form of one statement, of which MySQL would keep so many bytes of tokens.
///
/// # Errors
/// The error of a text that is no statement. One that is not supported here has a digest.
pub fn digest_text(text: &str, context: &ParseContext, max_bytes: usize) -> Result<String, SqlError> {
    match parse_one(text, context) {
        Err(error) if error.code != codes::NOT_SUPPORTED_YET.0 => return Err(error),
        _ => {}
    }
    let lexed = lex(text, context.sql_mode).map_err(|error| error.into_sql(text))?;
    if let Some(param) = lexed.tokens.iter().find(|at| matches!(at.token, Token::Param(_))) {
        return Err(ParseError::syntax(param.span.start as usize).into_sql(text));
    }
    let mut digest = Digest { text, tokens: &lexed.tokens, parts: Vec::new(), size: 0, max_bytes, by: Vec::new() };
    for at in 0..lexed.tokens.len() {
        if digest.size > max_bytes {
            break;
        }
        digest.token(at);
    }
    let mut out = String::new();
    digest.parts.iter().for_each(|part| part.write(&mut out));
    out.truncate(out.trim_end().len());
    Ok(out)
}

struct Digest<'a> {
    text: &'a str,
    tokens: &'a [TokenAt<'a>],
    parts: Vec<Part>,
    size: usize,
    max_bytes: usize,
    /// For each open parenthesis, and outside of all, whether what is read is a list of GROUP BY or ORDER BY.
    by: Vec<bool>,
}

impl<'a> Digest<'a> {
    fn push(&mut self, part: Part) {
        let size = self.size + part.size();
        self.size = size;
        if size <= self.max_bytes {
            self.parts.push(part);
        }
    }

    fn pop(&mut self, count: usize) {
        for part in self.parts.drain(self.parts.len() - count..) {
            self.size -= part.size();
        }
    }

    /// The last part but `behind`.
    fn last(&self, behind: usize) -> Option<&Part> {
        self.parts.len().checked_sub(behind + 1).map(|at| &self.parts[at])
    }

    fn source(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn token(&mut self, at: usize) {
        let tokens = self.tokens;
        let TokenAt { token, span } = &tokens[at];
        match token {
            Token::Word(word) => self.word(at, word),
            Token::Name(name) => self.push(Part::Name(name.clone().into_owned())),
            Token::Variable(name) => {
                self.push(Part::Sign("@"));
                match self.source(*span).as_bytes().get(1) {
                    Some(b'`') => self.push(Part::Name(name.clone().into_owned())),
                    _ => self.value(),
                }
            }
            Token::SystemVariable(name) => {
                self.push(Part::Sign("@"));
                self.push(Part::Sign("@"));
                let is_quoted = self.source(*span).as_bytes().get(2) == Some(&b'`');
                match keyword(name, false).filter(|_| !is_quoted) {
                    Some(word) => self.push(Part::Word(word)),
                    None => self.push(Part::Name(name.clone().into_owned())),
                }
            }
            Token::Number(digits) => self.number(at, digits),
            Token::Hex(_) | Token::Bits(_) => self.signed_value(),
            Token::Text(_) | Token::NationalText(_) => self.value(),
            Token::LParen => {
                self.by.push(false);
                self.push(Part::Sign("("));
            }
            Token::RParen => {
                self.by.pop();
                self.close();
            }
            sign => self.push(Part::Sign(sign.sign_of_digest())),
        }
    }

    fn word(&mut self, at: usize, word: &str) {
        let tokens = self.tokens;
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let next = tokens.get(at + 1);
        let span = tokens[at].span;
        let is_behind_period = before.is_some_and(|before| before.token == Token::Period);
        let touches = |token: Token<'_>| next.is_some_and(|next| next.token == token && next.span.start == span.end);
        let is_qualifier = touches(Token::Period);
        let known = if is_behind_period || is_qualifier { None } else { keyword(word, touches(Token::LParen)) };
        match known {
            Some("NULL") if !self.is_word_null(at) => self.value(),
            Some(word) => {
                self.follow_by(word);
                self.push(Part::Word(word));
                self.hints(word, span, next);
            }
            None if word.strip_prefix('_').is_some_and(is_charset_name) && !is_behind_period && !is_qualifier => {
                self.push(Part::Word("(_charset)"));
            }
            None => self.push(Part::Name(word.to_owned())),
        }
    }

    /// Whether NULL is a word of a clause, and no value.
    fn is_word_null(&self, at: usize) -> bool {
        let is_word = |ahead: usize, words: [&str; 2]| match self.tokens.get(at + ahead).map(|next| &next.token) {
            Some(Token::Word(word)) => words.iter().any(|known| known.eq_ignore_ascii_case(word)),
            _ => false,
        };
        let is_before_on = is_word(1, ["ON", "ON"]) && is_word(2, ["EMPTY", "ERROR"]);
        match self.last(0) {
            Some(Part::Word("IS" | "NOT")) => true,
            Some(Part::Word("SET")) => self.last(1).is_some_and(|part| matches!(part, Part::Word("DELETE" | "UPDATE"))),
            Some(Part::Word("DEFAULT" | "SELECT" | "WHEN" | "THEN" | "ELSE" | "CASE" | "AND" | "OR" | "XOR")) => false,
            _ if is_before_on => true,
            // In a definition a column's type is before it.
            _ => {
                let defines = matches!(self.parts.first(), Some(Part::Word("CREATE" | "ALTER")));
                let is_operand = matches!(self.last(0), Some(Part::Sign(sign)) if *sign != ")");
                defines && !is_operand
            }
        }
    }

    fn follow_by(&mut self, word: &str) {
        let is_list = match word {
            "BY" => matches!(self.last(0), Some(Part::Word("GROUP" | "ORDER" | "PARTITION"))),
            "ASC" | "DESC" => return,
            _ => false,
        };
        if self.by.is_empty() {
            self.by.push(false);
        }
        if let Some(by) = self.by.last_mut() {
            *by = is_list;
        }
    }

    /// Hints stand in a comment behind the first word.
    fn hints(&mut self, word: &str, span: Span, next: Option<&TokenAt<'_>>) {
        if !matches!(word, "SELECT" | "INSERT" | "REPLACE" | "UPDATE" | "DELETE") {
            return;
        }
        let end = next.map_or(self.text.len(), |next| next.span.start as usize);
        let between = self.text[span.end as usize..end].trim_start();
        let Some((hints, _)) = between.strip_prefix("/*+").and_then(|hints| hints.split_once("*/")) else { return };
        let mut lexer = Lexer::new(hints, types::SqlMode::default());
        let mut tokens = Vec::new();
        while let Ok(Some(token)) = lexer.next_token() {
            tokens.push(token);
        }
        if tokens.is_empty() {
            return;
        }
        self.push(Part::Sign("/*+"));
        let mut depth = 0;
        for token in tokens {
            match token {
                Token::Word(word) if depth == 0 => {
                    // Names of hints are few; what is none is a name.
                    match words::hint(word) {
                        Some(hint) => self.push(Part::Word(hint)),
                        None => self.push(Part::Name(word.to_owned())),
                    }
                }
                Token::Word(word) => self.push(Part::Name(word.to_owned())),
                Token::Name(name) => self.push(Part::Name(name.into_owned())),
                Token::Variable(name) => {
                    self.push(Part::Sign("@"));
                    self.push(Part::Name(name.into_owned()));
                }
                Token::LParen => {
                    depth += 1;
                    self.push(Part::Sign("("));
                }
                Token::RParen => {
                    depth = 0;
                    self.close();
                }
                Token::Number(_) | Token::Text(_) => self.value(),
                sign => self.push(Part::Sign(sign.sign_of_digest())),
            }
        }
        self.push(Part::Sign("*/"));
    }

    /// A number; in GROUP BY and ORDER BY one that stands alone is a place.
    fn number(&mut self, at: usize, digits: &str) {
        let is_in_list = self.by.last().copied().unwrap_or(false);
        let is_first = matches!(self.last(0), Some(Part::Word("BY") | Part::Sign(",")));
        let is_merged = matches!(self.last(1), Some(Part::Value | Part::Values));
        let is_last = match self.tokens.get(at + 1).map(|next| &next.token) {
            None | Some(Token::Comma | Token::RParen | Token::Semicolon) => true,
            Some(Token::Word(word)) => !words::is_operator(word),
            Some(_) => false,
        };
        let is_place =
            is_in_list && is_first && is_last && !is_merged && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_place { self.push(Part::Place(digits.to_owned())) } else { self.signed_value() }
    }

    /// A number, with the signs in front of it where an expression begins.
    fn signed_value(&mut self) {
        while let Some(Part::Sign("-" | "+")) = self.last(0)
            && self.last(1).is_some_and(begins_expression)
        {
            self.pop(1);
        }
        self.value();
    }

    fn value(&mut self) {
        match (self.last(1), self.last(0)) {
            (Some(Part::Value | Part::Values), Some(Part::Sign(","))) => {
                self.pop(2);
                self.push(Part::Values);
            }
            _ => self.push(Part::Value),
        }
    }

    /// A parenthesis that closes, and what it makes of a row.
    fn close(&mut self) {
        let (row, rows) = match (self.last(1), self.last(0)) {
            (Some(Part::Sign("(")), Some(Part::Value)) => (Part::Row, Part::Rows),
            (Some(Part::Sign("(")), Some(Part::Values)) => (Part::LongRow, Part::LongRows),
            _ => return self.push(Part::Sign(")")),
        };
        self.pop(2);
        match (self.last(1), self.last(0)) {
            (Some(before), Some(Part::Sign(","))) if *before == row || *before == rows => {
                self.pop(2);
                self.push(rows);
            }
            (_, Some(Part::Word("IN"))) => {
                self.pop(1);
                self.push(Part::InList);
            }
            _ => self.push(row),
        }
    }
}

/// Whether an expression may begin behind it, so that a sign there is no operator.
fn begins_expression(part: &Part) -> bool {
    match part {
        Part::Sign(sign) => !matches!(*sign, ")" | "." | "@" | ":=" | "~" | "!" | "*/" | "/*+" | ";"),
        Part::Word(word) => words::BEGIN_EXPRESSION.contains(word),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_forms() {
        crate::golden::check("src/digest/testdata/digests.golden", |text| {
            digest_text(text, &ParseContext::default(), 1024).unwrap_or_else(|error| error.to_string())
        });
    }
}
