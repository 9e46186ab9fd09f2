//! Statements that are known and not there yet: 1235 with their name, instead of 1064.

use super::Parsed;
use super::tokens::Tokens;
use crate::ParseError;
use crate::statement::Statement;

/// First words of whole statements.
const STATEMENTS: &[&str] = &[
    "HANDLER",
    "LOAD XML",
    "LOAD INDEX",
    "CACHE INDEX",
    "IMPORT TABLE",
    "INSTALL",
    "UNINSTALL",
    "CLONE",
    "HELP",
    "RESTART",
    "BACKUP",
];

/// What CREATE, ALTER and DROP may have after them.
const OBJECTS: &[&str] = &[
    "VIEW",
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
