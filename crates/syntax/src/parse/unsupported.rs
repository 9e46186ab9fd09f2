//! Statements that are known and not there yet: 1235 with their name, instead of 1064.

use super::Parsed;
use super::tokens::Tokens;
use crate::ParseError;
use crate::statement::Statement;

/// First words of whole statements.
const STATEMENTS: &[&str] = &[
    "CALL",
    "HANDLER",
    "LOAD XML",
    "LOAD INDEX",
    "CACHE INDEX",
    "IMPORT TABLE",
    "INSTALL",
    "UNINSTALL",
    "CLONE",
    "HELP",
    "SIGNAL",
    "RESIGNAL",
    "GET DIAGNOSTICS",
    "GET CURRENT",
    "GET STACKED",
    "RESTART",
    "BACKUP",
];

/// What CREATE, ALTER and DROP may have after them.
const OBJECTS: &[&str] = &[
    "VIEW",
    "PROCEDURE",
    "FUNCTION",
    "AGGREGATE FUNCTION",
    "TRIGGER",
    "EVENT",
    "SERVER",
    "TABLESPACE",
    "UNDO TABLESPACE",
    "LOGFILE GROUP",
    "RESOURCE GROUP",
    "SPATIAL REFERENCE SYSTEM",
    "FULLTEXT INDEX",
    "SPATIAL INDEX",
    "VECTOR INDEX",
    "INSTANCE",
    "SEQUENCE",
    "PACKAGE",
    "LIBRARY",
    "JSON",
];

/// So many tokens may stand between CREATE and what a stored program is: `OR REPLACE DEFINER = 'user'@'host'`.
const PROGRAM_PREFIX_MAX: usize = 12;

pub(super) fn statement<T>(tokens: &Tokens<'_>) -> Parsed<T> {
    match STATEMENTS.iter().find(|words| tokens.next_are(words)) {
        Some(words) => Err(ParseError::not_supported(words)),
        None => tokens.unexpected(),
    }
}

/// CREATE of what is not there. Definers and the like may stand before the object.
pub(super) fn create(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let start = tokens.place();
    let prefixes = ["OR REPLACE", "ALGORITHM", "DEFINER", "SQL SECURITY"];
    if prefixes.iter().any(|words| tokens.next_are(words)) {
        while !tokens.at_end() {
            if let Some(object) = OBJECTS.iter().find(|words| tokens.next_are(words)) {
                return Err(ParseError::not_supported(format!("CREATE {object}")));
            }
            tokens.next();
        }
        tokens.back_to(start);
    }
    object("CREATE", tokens)
}

/// The error for a stored program, whose body may hold semicolons; `None` for anything else.
pub(super) fn program(tokens: &mut Tokens<'_>) -> Option<ParseError> {
    const PROGRAMS: [&str; 6] = ["PROCEDURE", "FUNCTION", "AGGREGATE FUNCTION", "TRIGGER", "EVENT", "PACKAGE"];
    let verb = ["CREATE", "ALTER"].into_iter().find(|verb| tokens.accept(verb))?;
    // A definer and its kin may come first.
    for _ in 0..PROGRAM_PREFIX_MAX {
        if let Some(program) = PROGRAMS.iter().find(|words| tokens.next_are(words)) {
            return Some(ParseError::not_supported(format!("{verb} {program}")));
        }
        tokens.next()?;
    }
    None
}

pub(super) fn alter(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    object("ALTER", tokens)
}

pub(super) fn drop(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    object("DROP", tokens)
}

fn object(verb: &str, tokens: &Tokens<'_>) -> Parsed<Statement> {
    match OBJECTS.iter().find(|words| tokens.next_are(words)) {
        Some(object) => Err(ParseError::not_supported(format!("{verb} {object}"))),
        None => tokens.unexpected(),
    }
}
