//! Where the items of a select list are in a text: their words are the names of the columns that have none.

use std::ops::Range;

use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use super::ParseContext;
use super::lexer::{Lexer, location};

/// Where the items of a select list are in a text, each from its first token to its last; `SELECT` begins at `from`. `None`
/// if there is no such list.
pub(crate) fn select_items(text: &str, from: usize, context: &ParseContext) -> Option<Vec<Range<usize>>> {
    const MODIFIERS: [&str; 10] = [
        "ALL",
        "DISTINCT",
        "DISTINCTROW",
        "HIGH_PRIORITY",
        "STRAIGHT_JOIN",
        "SQL_SMALL_RESULT",
        "SQL_BIG_RESULT",
        "SQL_BUFFER_RESULT",
        "SQL_NO_CACHE",
        "SQL_CALC_FOUND_ROWS",
    ];
    const ENDS: [&str; 15] = [
        "FROM",
        "WHERE",
        "GROUP",
        "HAVING",
        "WINDOW",
        "ORDER",
        "LIMIT",
        "INTO",
        "FOR",
        "LOCK",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "ON",
        "PROCEDURE",
    ];
    text.get(from..).filter(|rest| rest.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("SELECT")))?;
    let mut lexer = Lexer::new(text, context.sql_mode);
    lexer.at = from + 6;
    let (mut items, mut item, mut depth) = (Vec::new(), None::<Range<usize>>, 0);
    loop {
        lexer.skip_space().ok()?;
        let start = lexer.at;
        let Some(token) = lexer.token().ok()? else { break };
        let is_one_of = |words: &[&str]| match &token {
            Token::Word(word) if word.quote_style.is_none() && depth == 0 && !lexer.after_a_period() => {
                words.iter().any(|known| known.eq_ignore_ascii_case(&word.value))
            }
            _ => false,
        };
        match token {
            Token::Comma if depth == 0 => {
                items.push(item.take()?);
                continue;
            }
            Token::RParen if depth == 0 => break,
            Token::SemiColon => break,
            _ if item.is_none() && is_one_of(&MODIFIERS) => continue,
            _ if is_one_of(&ENDS) => break,
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        item = Some(item.map_or(start, |item| item.start)..lexer.at);
        lexer.tokens.push(TokenWithSpan::new(token, Span::new(location(start), location(lexer.at))));
    }
    items.push(item?);
    Some(items)
}

/// The first quoted string of a text.
pub(crate) fn first_string(text: &str, context: &ParseContext) -> Option<String> {
    let mut lexer = Lexer::new(text, context.sql_mode);
    loop {
        match lexer.next_token().ok()?? {
            Token::SingleQuotedString(text) | Token::NationalStringLiteral(text) => return Some(text),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_a_select_list() {
        let items = |text: &str| {
            let ranges = select_items(text, text.find("SELECT").unwrap(), &ParseContext::default());
            ranges.map(|ranges| ranges.into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>().join("|"))
        };
        let is = |text: &str, wanted: &str| assert_eq!(items(text).as_deref(), Some(wanted), "{text}");
        is("SELECT DISTINCT a , (b+1), f( c, 'x,y' ) /* d */ , t.from FROM t", "a|(b+1)|f( c, 'x,y' )|t.from");
        is("(SELECT EXTRACT(DAY FROM d), COUNT( * )) UNION SELECT 2", "EXTRACT(DAY FROM d)|COUNT( * )");
        is("SELECT -1 x, !a;", "-1 x|!a");
        assert_eq!(items("x SELECT"), None);
    }
}
