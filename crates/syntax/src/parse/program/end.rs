//! Where a program ends in a text of several statements: where the grammar has read all of it.

use types::SqlMode;

use super::super::tokens::Tokens;
use super::super::{on_stack, statement};
use super::may_hold_semicolons;
use crate::lexer::{self, Lexed};
use crate::raw::{Piece, Scan};
use crate::token::Token;
use crate::{ParseError, Parser};

/// What is known after a look at the beginning of a text.
enum Found {
    /// The statement ends at this semicolon.
    End(usize),
    /// It goes on.
    More,
    /// It is none.
    Wrong,
}

/// The length of the first statement of a text with its `;`. `first` is where that would be for a statement that holds no semicolon: behind its
/// first one. A text that is wrong goes on up to its end, as it does for MySQL.
pub(crate) fn end(text: &[u8], first: usize, mode: SqlMode) -> usize {
    let mut scan = Scan::new(text, mode);
    scan.at = first;
    let mut semicolons = 1;
    let mut length = first;
    loop {
        match found(&ascii(&text[..length]), mode) {
            Found::End(end) => return end,
            Found::More if length < text.len() => {}
            Found::More | Found::Wrong => return text.len(),
        }
        // Twice as many each time: all looks together take a time in proportion to the last one.
        for _ in 0..semicolons {
            while scan.piece().is_some_and(|piece| piece != Piece::Semicolon) {}
        }
        semicolons *= 2;
        length = scan.at;
    }
}

/// A text of the same length, with other letters where it is no ASCII: whatever its character set is, the same words are in the same places.
fn ascii(text: &[u8]) -> String {
    text.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '$' }).collect()
}

/// Reads a text that may end within a statement, behind a semicolon.
fn found(text: &str, mode: SqlMode) -> Found {
    let Lexed { tokens, after, end, .. } = match lexer::lex(text, mode) {
        Ok(lexed) => lexed,
        Err(ParseError::Syntax(offset)) if offset >= text.len() => return Found::More,
        Err(_) => return Found::Wrong,
    };
    if after.is_some() || !may_hold_semicolons(&tokens) {
        return Found::End((end + 1).min(text.len()));
    }
    let mut place = 0;
    let read = on_stack(|limit| {
        let mut tokens = Tokens::new(Parser::new(tokens.clone(), text, mode), mode);
        tokens.limit_depth(limit);
        let read = statement(&mut tokens);
        place = tokens.place();
        read.map(drop)
    });
    let semicolon = |from: usize| tokens.iter().skip(from).find(|token| token.token == Token::Semicolon);
    match read {
        Err(ParseError::Syntax(offset)) if offset >= text.len() => Found::More,
        Err(ParseError::Syntax(_)) => Found::Wrong,
        // What is not supported is refused as a whole; where it ends is anybody's guess.
        Ok(()) | Err(ParseError::Sql(_)) => match semicolon(place) {
            Some(token) => Found::End(token.span.end as usize),
            None => Found::More,
        },
    }
}
