//! Operators that `sqlparser` has not, or reads otherwise than MySQL, as tokens of our own: it makes `Expr::BinaryOp` of them, and
//! the left operand is moved there. A dialect that reads them itself has to copy it, and where such operators nest in brackets, that takes the
//! depth times all that is inside.
//!
//! | text | tokens | right operand |
//! |---|---|---|
//! | `a DIV b` | [`DIV`] | `b` |
//! | `a MOD b` | `%` | `b` |
//! | `a [NOT] REGEXP b`, `a [NOT] RLIKE b` | [`REGEXP`] | `b`; `sqlparser` passes over NULL |
//! | `a SOUNDS LIKE b` | [`SOUNDS_LIKE`] | `b` |
//! | `a [NOT] BETWEEN b AND c` | [`BETWEEN`], [`BOUNDS`], … | a tuple of `b` and `c`, which may be a predicate |
//! | `a [NOT] IN ((SELECT …), b)` | [`IN`], [`LIST`], … | a tuple of the list; `sqlparser` knows either a list or a subquery |
//!
//! NOT stands in front of the name, as [`negated`] takes it away again.

use std::cell::OnceCell;
use std::collections::HashSet;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::depth::is_text;
use super::words::may_be_name;

pub(crate) const DIV: &str = "DIV";
pub(crate) const REGEXP: &str = "REGEXP";
const NOT_REGEXP: &str = "NOT REGEXP";
pub(crate) const SOUNDS_LIKE: &str = "SOUNDS LIKE";
pub(crate) const BETWEEN: &str = "BETWEEN";
const NOT_BETWEEN: &str = "NOT BETWEEN";
pub(crate) const IN: &str = "IN";
const NOT_IN: &str = "NOT IN";
/// The bounds of BETWEEN come behind it.
pub(super) const BOUNDS: &str = "the bounds of BETWEEN";
/// The list of IN comes behind it.
pub(super) const LIST: &str = "the list of IN";

/// The name of an operator without its NOT, and whether it has one.
pub(crate) fn negated(name: &str) -> (&str, bool) {
    name.strip_prefix("NOT ").map_or((name, false), |name| (name, true))
}

/// Whether a token only says what comes behind an operator.
pub(super) fn is_marker(token: &Token) -> bool {
    matches!(token, Token::CustomBinaryOperator(name) if [BOUNDS, LIST].contains(&name.as_str()))
}

/// An operator that was found.
struct Found {
    /// Of its first token.
    place: usize,
    tokens: usize,
    becomes: Token,
    /// What comes behind it, for the reader of its right operand.
    marker: Option<&'static str>,
}

impl Found {
    fn new(place: usize, tokens: usize, name: &str, marker: Option<&'static str>) -> Self {
        Found { place, tokens, becomes: custom(name), marker }
    }
}

fn custom(name: &str) -> Token {
    Token::CustomBinaryOperator(name.to_owned())
}

/// Puts the tokens of operators in the places of their words.
pub(super) fn put(tokens: &mut Vec<TokenWithSpan>) {
    let mut end = 0;
    let lists = OnceCell::new();
    let found = (0..tokens.len()).filter_map(|place| operator_at(tokens, place, &lists));
    // A name whose NOT was taken with it is found again.
    let mut is_new = |found: &Found| found.place >= std::mem::replace(&mut end, found.place + found.tokens);
    let found: Vec<_> = found.filter(|found| is_new(found)).collect();
    if found.is_empty() {
        return;
    }
    let mut given = std::mem::replace(tokens, Vec::with_capacity(tokens.len() + found.len())).into_iter();
    let mut taken = 0;
    for Found { place, tokens: count, becomes, marker } in found {
        tokens.extend(given.by_ref().take(place - taken));
        let Some(first) = given.by_ref().take(count).reduce(|first, _| first) else { break };
        tokens.push(TokenWithSpan::new(becomes, first.span));
        tokens.extend(marker.map(|marker| TokenWithSpan::new(custom(marker), first.span)));
        taken = place + count;
    }
    tokens.extend(given);
}

/// The brackets of a statement in which a comma is that is in no others, by the places where they begin.
type Lists = OnceCell<HashSet<usize>>;

fn operator_at(tokens: &[TokenWithSpan], place: usize, lists: &Lists) -> Option<Found> {
    let Token::Word(word) = &tokens[place].token else { return None };
    if word.quote_style.is_some() || place == 0 || tokens[place - 1].token == Token::Period {
        return None;
    }
    let keyword = |at: usize| tokens.get(at).map_or(Keyword::NoKeyword, |token| keyword_of(&token.token));
    let is_negated = word.keyword == Keyword::NOT;
    let at = place + usize::from(is_negated);
    let count = 1 + usize::from(is_negated);
    let name = |name, negated| if is_negated { negated } else { name };
    match keyword(at) {
        Keyword::BETWEEN => Some(Found::new(place, count, name(BETWEEN, NOT_BETWEEN), Some(BOUNDS))),
        Keyword::REGEXP | Keyword::RLIKE => Some(Found::new(place, count, name(REGEXP, NOT_REGEXP), None)),
        Keyword::IN if is_list_with_query(tokens, at + 1, lists) => {
            Some(Found::new(place, count, name(IN, NOT_IN), Some(LIST)))
        }
        _ if word.value.eq_ignore_ascii_case("SOUNDS") && keyword(at + 1) == Keyword::LIKE => {
            ends_operand(&tokens[..place]).then(|| Found::new(place, 2, SOUNDS_LIKE, None))
        }
        _ if word.value.eq_ignore_ascii_case(DIV) => Some(Found::new(place, 1, DIV, None)),
        // Or it is the function.
        _ if word.value.eq_ignore_ascii_case("MOD") => {
            let is_operator = tokens.get(at + 1).is_none_or(|next| next.token != Token::LParen);
            let found = Found { becomes: Token::Mod, ..Found::new(place, 1, "", None) };
            (is_operator || ends_operand(&tokens[..place])).then_some(found)
        }
        _ => None,
    }
}

pub(super) fn keyword_of(token: &Token) -> Keyword {
    match token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

/// Whether an operand ends with the last of some tokens, so that an operator is to come.
fn ends_operand(tokens: &[TokenWithSpan]) -> bool {
    let [before @ .., last] = tokens else { return false };
    match &last.token {
        Token::RParen | Token::Number(..) | Token::Placeholder(_) | Token::SingleQuotedString(_) => true,
        Token::Word(word) => {
            word.quote_style.is_some()
                || before.last().is_some_and(|token| token.token == Token::Period)
                || is_value(&word.value)
                || may_be_name(&word.value) && !precedes_operand(&word.value)
        }
        other => is_text(other),
    }
}

/// Reserved words that are values.
fn is_value(word: &str) -> bool {
    const VALUES: [&str; 12] = [
        "CURRENT_DATE",
        "CURRENT_TIME",
        "CURRENT_TIMESTAMP",
        "CURRENT_USER",
        "FALSE",
        "LOCALTIME",
        "LOCALTIMESTAMP",
        "NULL",
        "TRUE",
        "UTC_DATE",
        "UTC_TIME",
        "UTC_TIMESTAMP",
    ];
    VALUES.iter().any(|value| value.eq_ignore_ascii_case(word))
}

/// Words behind which an operand comes, though they may be names.
fn precedes_operand(word: &str) -> bool {
    const WORDS: [&str; 7] =
        ["DO", "ESCAPE", "IMMEDIATE", "RETURNING", "SQL_BUFFER_RESULT", "SQL_CACHE", "SQL_NO_CACHE"];
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a list of values is in the brackets that begin there, of which the first is a subquery: a comma behind it tells.
fn is_list_with_query(tokens: &[TokenWithSpan], open: usize, lists: &Lists) -> bool {
    let [outer, inner, select, ..] = tokens.get(open..).unwrap_or_default() else { return false };
    outer.token == Token::LParen
        && inner.token == Token::LParen
        && keyword_of(&select.token) == Keyword::SELECT
        && lists.get_or_init(|| brackets_with_commas(tokens)).contains(&open)
}

/// All at once: looked for one by one, those in one another would take the square of their number.
fn brackets_with_commas(tokens: &[TokenWithSpan]) -> HashSet<usize> {
    let (mut open, mut found) = (Vec::new(), HashSet::new());
    for (place, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => open.push(place),
            Token::RParen => drop(open.pop()),
            Token::Comma => found.extend(open.last()),
            _ => {}
        }
    }
    found
}
