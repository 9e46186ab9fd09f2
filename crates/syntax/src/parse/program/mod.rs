//! Stored programs, from their heads to the last of their statements, and the statements about them.
//!
//! | module | reads |
//! |---|---|
//! | [`head`] | CREATE and ALTER of procedures, functions and triggers, CALL |
//! | [`event`] | CREATE EVENT, ALTER EVENT |
//! | [`body`] | statements of bodies |
//! | [`declare`] | DECLARE, and types of variables |
//! | [`signal`] | SIGNAL, RESIGNAL, GET DIAGNOSTICS |
//! | [`end`] | where a program ends in a text of several statements |
//!
//! [`mod@check`] then walks the tree: what names and labels have to be, and what may not be in a program.
//!
//! # Invariants
//! - A single statement of a body sees no semicolon: it is read as if it were alone ([`crate::Parser::narrow`]).
//! - What the parser notes beside a tree (SET STATEMENT, OR REPLACE) is that of one statement, also within a program.

mod body;
mod check;
mod declare;
mod end;
mod event;
mod head;
mod signal;
#[cfg(test)]
mod tests;

use super::Parsed;
use super::tokens::Tokens;
use crate::statement::Statement;
use crate::statement::program::ProgramStatement;
use crate::token::{Token, TokenAt};

pub(super) use check::check;
pub(crate) use end::end;
pub(super) use head::{alter, call, create};
pub(super) use signal::{get_diagnostics, resignal, signal};

/// So many tokens may stand before what tells that CREATE makes a program: `OR REPLACE DEFINER = 'user'@'host' AGGREGATE`.
const PREFIX_MAX: usize = 12;

/// Words that begin a compound statement. (BEGIN does not: outside of programs it needs its NOT ATOMIC.)
const COMPOUND: [&str; 6] = ["CASE", "FOR", "IF", "LOOP", "REPEAT", "WHILE"];

/// Whether a compound statement begins here, outside of programs.
pub(super) fn begins_compound(tokens: &Tokens<'_>) -> bool {
    tokens.next_are("BEGIN NOT ATOMIC") || COMPOUND.iter().any(|word| tokens.next_are(word))
}

/// Whether the statement that begins here may have semicolons in it. (SET STATEMENT is about one that may.)
pub(super) fn holds_semicolons(tokens: &mut Tokens<'_>) -> bool {
    if !tokens.next_are("CREATE") {
        let others = ["ALTER EVENT", "ALTER DEFINER", "SET STATEMENT"];
        return begins_compound(tokens) || others.iter().any(|words| tokens.next_are(words));
    }
    let place = tokens.place();
    let is_program = tokens.accept("CREATE") && head::begins(tokens);
    tokens.back_to(place);
    is_program
}

/// One of them.
pub(super) fn compound(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let body = body::compound(tokens)?;
    Ok(program(ProgramStatement::Compound(body)))
}

/// Whether a statement that begins with these tokens may go on behind a semicolon. It need not.
pub(crate) fn may_hold_semicolons(tokens: &[TokenAt<'_>]) -> bool {
    let is = |at: usize, words: &[&str]| match tokens.get(at).map(|token| &token.token) {
        Some(Token::Word(word)) => words.iter().any(|known| word.eq_ignore_ascii_case(known)),
        _ => false,
    };
    let programs = ["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "PACKAGE"];
    is(0, &COMPOUND)
        || is(0, &["BEGIN"]) && is(1, &["NOT"])
        || is(0, &["SET"]) && is(1, &["STATEMENT"])
        || is(0, &["CREATE", "ALTER"]) && (1..=PREFIX_MAX).any(|at| is(at, &programs))
}

/// As a statement of any kind.
fn program(statement: ProgramStatement) -> Statement {
    Statement::Program(Box::new(statement))
}
