//! Rows of literals in INSERT … VALUES, which stay text.
//!
//! A literal takes some 400 bytes in a tree, so that a statement of 16 MB would take more than a gigabyte. The rows behind the
//! first one that hold nothing but literals therefore get no tree: their places in the text are kept, eight bytes for each, and a
//! row is read again when it is inserted.
//!
//! # Invariants
//! - A row is taken out of the tokens only where it can be nothing else: behind the first row of the VALUES list of an INSERT or
//!   REPLACE, with as many values as that one has, all of which can be read without an error.
//! - Rows keep their order: behind the first one that stays among the tokens, all stay.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use base::{SqlError, memory};
use types::SqlMode;

use crate::ast::Literal;
use crate::lexer::Lexer;
use crate::token::{Token, TokenAt};

/// Rows of literals, each with as many values as the first row of the statement's list, which is not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiteralRows {
    /// The statement's.
    text: Arc<str>,
    sql_mode: SqlMode,
    /// Of each row in the text, with its brackets.
    places: Vec<Range<u32>>,
}

/// A value of such a row, as far as possible as it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub enum LiteralValue<'t> {
    /// The word DEFAULT.
    Default,
    /// A number without sign: its digits.
    Number(&'t str),
    /// A number with a minus before it: its digits.
    Negative(&'t str),
    /// `'…'`: its text.
    Text(Cow<'t, str>),
    /// `_binary'…'`: its text.
    Binary(Cow<'t, str>),
    /// `_binary x'…'`: its digits.
    BinaryDigits(Cow<'t, str>),
    /// Everything else.
    Literal(Literal),
}

impl LiteralRows {
    /// The rows at these places of a statement's text.
    pub(crate) fn new(text: Arc<str>, sql_mode: SqlMode, places: Vec<Range<u32>>) -> Self {
        LiteralRows { text, sql_mode, places }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Where that begins which follows the last one, as a byte offset into the text.
    pub fn end(&self) -> usize {
        let end = self.places.last().map_or(0, |place| place.end as usize);
        let rest = self.text.get(end..).unwrap_or_default();
        end + rest.len() - rest.trim_start().len()
    }

    /// The text of a row.
    pub fn text_of(&self, row: usize) -> &str {
        let place = self.places.get(row).map(|place| place.start as usize..place.end as usize);
        place.and_then(|place| self.text.get(place)).unwrap_or_default()
    }

    /// Gives the values of a row, one after the other.
    ///
    /// # Errors
    /// Those of `take`. The row was read before: any other error is one of this server.
    pub fn each(
        &self,
        row: usize,
        mut take: impl FnMut(LiteralValue<'_>) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let inner = || SqlError::unknown("a row of literals cannot be read again");
        let text = self.text_of(row);
        let mut lexer = Lexer::new(text, self.sql_mode);
        let mut before = None;
        while let Some(token) = lexer.next_token().map_err(|error| error.into_sql(text))? {
            match piece(&token) {
                Some(Piece::Before(word)) => before = Some(word),
                Some(Piece::Value) => take(literal(before.take(), token).ok_or_else(inner)?)?,
                None => {}
            }
        }
        Ok(())
    }
}

/// What stands before a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    Plus,
    Minus,
    Binary,
}

/// A part of a literal.
enum Piece {
    Before(Before),
    Value,
}

fn piece(token: &Token<'_>) -> Option<Piece> {
    Some(match token {
        Token::Plus => Piece::Before(Before::Plus),
        Token::Minus => Piece::Before(Before::Minus),
        Token::Number(digits) if is_readable(digits) => Piece::Value,
        Token::Text(_) | Token::Hex(_) | Token::Bits(_) => Piece::Value,
        Token::Word(word) if is_any(word, &["NULL", "DEFAULT", "TRUE", "FALSE"]) => Piece::Value,
        Token::Word(word) if is_any(word, &["_BINARY"]) => Piece::Before(Before::Binary),
        _ => return None,
    })
}

/// Numbers that can be none (1e999) stay among the tokens, which say where they are.
fn is_readable(digits: &str) -> bool {
    !digits.contains(['e', 'E']) || digits.parse().is_ok_and(f64::is_finite)
}

fn is_any(word: &str, of: &[&str]) -> bool {
    of.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn literal(before: Option<Before>, token: Token<'_>) -> Option<LiteralValue<'_>> {
    let value = |literal| Some(LiteralValue::Literal(literal));
    match (before, token) {
        (None | Some(Before::Plus), Token::Number(digits)) => Some(LiteralValue::Number(digits)),
        (Some(Before::Minus), Token::Number(digits)) => Some(LiteralValue::Negative(digits)),
        (Some(Before::Binary), Token::Text(text)) => Some(LiteralValue::Binary(text)),
        (Some(Before::Binary), Token::Hex(digits)) => Some(LiteralValue::BinaryDigits(digits)),
        (Some(_), _) => None,
        (None, Token::Text(text)) => Some(LiteralValue::Text(text)),
        (None, Token::Hex(digits)) => value(Literal::Hex(digits.into())),
        (None, Token::Bits(bits)) => value(Literal::Bits(bits.into())),
        (None, Token::Word(word)) if is_any(word, &["NULL"]) => value(Literal::Null),
        (None, Token::Word(word)) if is_any(word, &["TRUE"]) => value(Literal::Bool(true)),
        (None, Token::Word(word)) if is_any(word, &["FALSE"]) => value(Literal::Bool(false)),
        (None, Token::Word(_)) => Some(LiteralValue::Default),
        _ => None,
    }
}

/// Follows the tokens of a statement, and takes the rows away.
#[derive(Debug)]
pub(crate) struct Cutter {
    state: State,
    /// Values of the first row.
    width: usize,
    places: Vec<Range<u32>>,
}

#[derive(Clone, Debug)]
enum State {
    /// The list has not begun.
    Waiting,
    /// In the first row, which may hold anything: how deep in brackets, and how many values have begun.
    First { depth: usize, values: usize },
    /// Behind a row.
    Behind,
    /// Behind the comma that follows a row.
    Next,
    /// In a row that has been one of literals so far.
    Row(Row),
    /// Nothing is taken away any more.
    Over,
}

#[derive(Clone, Debug)]
struct Row {
    /// How many tokens there are without it and its comma.
    keep: usize,
    start: usize,
    values: usize,
    place: Place,
}

/// What may follow in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// A value, or the end of a row without any.
    First,
    /// A value.
    Value,
    /// A value that what stands before it asks for.
    Behind(Before),
    /// A comma or the end.
    Separator,
}

impl Cutter {
    pub(crate) fn new() -> Self {
        Cutter { state: State::Waiting, width: 0, places: Vec::new() }
    }

    pub(crate) fn places(self) -> Vec<Range<u32>> {
        self.places
    }

    /// Looks at the last of `tokens`, which is at `place` of the text, and takes the row away that it ends.
    pub(crate) fn follow(&mut self, tokens: &mut Vec<TokenAt<'_>>, place: Range<usize>) -> Result<(), SqlError> {
        let [before @ .., last] = tokens.as_slice() else { return Ok(()) };
        let token = &last.token;
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Over => return Ok(()),
            State::Waiting => waiting(before, token),
            State::First { depth, values } => self.first(depth, values, token),
            State::Behind if *token == Token::Comma => State::Next,
            State::Next if *token == Token::LParen => {
                State::Row(Row { keep: tokens.len() - 2, start: place.start, values: 0, place: Place::First })
            }
            State::Behind | State::Next => State::Over,
            State::Row(row) if *token == Token::RParen => match self.whole(&row, place.end) {
                Some(whole) => {
                    memory::check_room(&self.places, 1)?;
                    self.places.push(whole);
                    tokens.truncate(row.keep);
                    State::Behind
                }
                None => State::Over,
            },
            State::Row(row) => match row.followed_by(token) {
                Some(row) => State::Row(row),
                None => State::Over,
            },
        };
        Ok(())
    }

    /// Takes nothing away any more.
    pub(crate) fn stop(&mut self) {
        self.state = State::Over;
    }

    fn first(&mut self, depth: usize, values: usize, token: &Token<'_>) -> State {
        let values = match token {
            Token::RParen if depth == 1 => {
                self.width = values;
                return State::Behind;
            }
            Token::Comma if depth == 1 => values + 1,
            _ => values.max(1),
        };
        let depth = match token {
            Token::LParen => depth + 1,
            Token::RParen => depth - 1,
            _ => depth,
        };
        State::First { depth, values }
    }

    /// The place of a row that ends here, if it is one of literals.
    fn whole(&self, row: &Row, end: usize) -> Option<Range<u32>> {
        let is_whole = matches!(row.place, Place::First | Place::Separator) && row.values == self.width;
        let place = u32::try_from(row.start).ok()?..u32::try_from(end).ok()?;
        is_whole.then_some(place)
    }
}

/// Whether the list begins.
fn waiting(before: &[TokenAt<'_>], token: &Token<'_>) -> State {
    let is_insert = |first: &TokenAt<'_>| is_word(&first.token, &["INSERT", "REPLACE"]);
    if !before.first().is_none_or(is_insert) {
        return State::Over;
    }
    let list = before.last().is_some_and(|last| is_word(&last.token, &["VALUES", "VALUE"])) && *token == Token::LParen;
    match list {
        false => State::Waiting,
        true if is_head(&before[..before.len() - 1]) => State::First { depth: 1, values: 0 },
        true => State::Over,
    }
}

fn is_word(token: &Token<'_>, of: &[&str]) -> bool {
    matches!(token, Token::Word(word) if is_any(word, of))
}

/// Whether it is `INSERT [INTO] [db.]table [(columns)]`: the list of VALUES may follow.
fn is_head(tokens: &[TokenAt<'_>]) -> bool {
    const MODIFIERS: &[&str] = &["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO"];
    let modifiers = tokens.iter().skip(1).take_while(|token| is_word(&token.token, MODIFIERS)).count();
    let mut rest = tokens.iter().skip(1 + modifiers).map(|token| &token.token).peekable();
    let is_name = |token: Option<&Token<'_>>| matches!(token, Some(Token::Word(_) | Token::Name(_)));
    if !is_name(rest.next()) {
        return false;
    }
    if rest.next_if_eq(&&Token::Period).is_some() && !is_name(rest.next()) {
        return false;
    }
    match (rest.next(), tokens.last()) {
        (None, _) => true,
        (Some(Token::LParen), Some(last)) if last.token == Token::RParen => {
            rest.filter(|token| matches!(token, Token::LParen | Token::RParen)).count() == 1
        }
        _ => false,
    }
}

impl Row {
    /// The row with one more token; `None` if that makes it another kind of row.
    fn followed_by(mut self, token: &Token<'_>) -> Option<Row> {
        self.place = match (self.place, token) {
            (Place::Separator, Token::Comma) => Place::Value,
            (Place::Separator, _) => return None,
            (place, token) => match (place, piece(token)?) {
                (Place::First | Place::Value, Piece::Before(before)) => Place::Behind(before),
                (Place::Behind(before), Piece::Value) if !may_follow(before, token) => return None,
                (_, Piece::Value) => {
                    self.values += 1;
                    Place::Separator
                }
                _ => return None,
            },
        };
        Some(self)
    }
}

/// Whether a literal may follow what stands before it: signs belong to numbers here, and `_binary` to text.
fn may_follow(before: Before, token: &Token<'_>) -> bool {
    match before {
        Before::Plus | Before::Minus => matches!(token, Token::Number(_)),
        Before::Binary => matches!(token, Token::Text(_) | Token::Hex(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lex_without_rows;
    use crate::versions::Reader;

    /// The tokens that stay, and the rows that do not.
    fn cut(text: &str) -> (String, Vec<&str>) {
        let lexed = lex_without_rows(text, SqlMode::default(), Reader::default()).expect("it is read");
        let tokens: Vec<String> = lexed.tokens.iter().map(|token| token.token.to_string()).collect();
        let rows = lexed.literal_rows.iter().map(|place| &text[place.start as usize..place.end as usize]).collect();
        (tokens.join(" "), rows)
    }

    #[test]
    fn rows_of_literals_are_taken_away() {
        let (tokens, rows) =
            cut("REPLACE LOW_PRIORITY INTO d.`t` (a, b) VALUE (f(1, 2), 'x'),(2,'y'), ( -3 /* c */ , NULL );");
        assert_eq!(tokens, "REPLACE LOW_PRIORITY INTO d . `t` ( a , b ) VALUE ( f ( 1 , 2 ) , 'x' )");
        assert_eq!(rows, ["(2,'y')", "( -3 /* c */ , NULL )"]);
        let (tokens, rows) = cut(
            "INSERT t VALUES (1),(+2),(x'61'),(0b1),(true),(DEFAULT),(_binary 'a'),(_binary x'ff') ON DUPLICATE KEY UPDATE a = 1",
        );
        assert_eq!(tokens, "INSERT t VALUES ( 1 ) ON DUPLICATE KEY UPDATE a = 1");
        assert_eq!(rows, ["(+2)", "(x'61')", "(0b1)", "(true)", "(DEFAULT)", "(_binary 'a')", "(_binary x'ff')"]);
        assert_eq!(cut("INSERT t () VALUES (),()").1, ["()"]);
    }

    #[test]
    fn behind_a_row_that_stays_all_stay() {
        for row in [
            "(1, 2)",
            "()",
            "(a)",
            "(1 + 1)",
            "(- -1)",
            "(-'1')",
            "('a' 'b')",
            "(N'a')",
            "(?)",
            "(@a)",
            "(1e999)",
            "(`null`)",
            "(DEFAULT(a))",
            "(_binary b'1')",
            "(_latin1 'a')",
            "(DATE '2000-01-01')",
            "((1))",
            "(1,)",
            "/*! (1) */",
        ] {
            let text = format!("INSERT INTO t VALUES (1), (2), {row}, (3)");
            let (tokens, rows) = cut(&text);
            assert_eq!(rows, ["(2)"], "{row}");
            assert!(
                tokens.starts_with("INSERT INTO t VALUES ( 1 ) , ") && tokens.ends_with(", ( 3 )"),
                "{row}: {tokens}"
            );
        }
    }

    #[test]
    fn where_no_list_of_values_may_stand_nothing_is_taken() {
        for text in [
            "SELECT 1 VALUES (1), (2)",
            "INSERT INTO t SET a = VALUES (1), (2)",
            "INSERT INTO t SELECT a VALUES (1), (2)",
            "INSERT INTO t (SELECT 1) (a) VALUES (1), (2)",
            "INSERT INTO VALUES (1), (2)",
            "INSERT INTO t VALUES ROW(1), ROW(2)",
            "INSERT INTO t VALUES (1) (2), (3)",
            "INSERT INTO t VALUES (1), , (2)",
            "UPDATE t VALUES (1), (2)",
            "EXPLAIN INSERT INTO t VALUES (1), (2)",
            "INSERT /*! INTO */ t VALUES (1), (2)",
        ] {
            assert!(cut(text).1.is_empty(), "{text}");
        }
    }

    #[test]
    fn rows_are_read_again() {
        let text: Arc<str> =
            Arc::from("(-1, +2.5, 'it''s', x'4A', b'1', NULL, TRUE, DEFAULT, _binary 'b', _binary x'FF')");
        let rows = LiteralRows::new(text.clone(), SqlMode::default(), std::iter::once(0..text.len() as u32).collect());
        let expected = [
            LiteralValue::Negative("1"),
            LiteralValue::Number("2.5"),
            LiteralValue::Text("it's".into()),
            LiteralValue::Literal(Literal::Hex("4A".into())),
            LiteralValue::Literal(Literal::Bits("1".into())),
            LiteralValue::Literal(Literal::Null),
            LiteralValue::Literal(Literal::Bool(true)),
            LiteralValue::Default,
            LiteralValue::Binary("b".into()),
            LiteralValue::BinaryDigits("FF".into()),
        ];
        let mut count = 0;
        rows.each(0, |value| {
            assert_eq!(value, expected[count]);
            count += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(count, expected.len());
    }
}
