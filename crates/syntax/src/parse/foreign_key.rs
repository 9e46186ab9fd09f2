//! Foreign keys, as a table's constraint and at a column.

use crate::Token;
use types::ReferentialAction;

use super::Parsed;
use super::tokens::Tokens;
use crate::ParseError;
use crate::statement::ForeignKeySpec;

/// A table's constraint, after FOREIGN KEY.
pub(super) fn foreign_key(tokens: &mut Tokens<'_>, name: Option<String>) -> Parsed<ForeignKeySpec> {
    let if_not_exists = tokens.condition("IF NOT EXISTS");
    let is_named = tokens.peek() != Some(&Token::LParen);
    let index_name = if is_named { Some(tokens.identifier()?) } else { None };
    let columns = tokens.in_parentheses(Tokens::identifier)?;
    tokens.expect("REFERENCES")?;
    references(tokens, ForeignKeySpec { name, index_name, if_not_exists, ..of(columns) })
}

/// `[CONSTRAINT [name]] REFERENCES …` at a column, which MySQL heeds since 9.0; `None` if that is not what comes.
pub(super) fn of_column(tokens: &mut Tokens<'_>, column: &str) -> Parsed<Option<ForeignKeySpec>> {
    let place = tokens.place();
    let mut name = None;
    if tokens.accept("CONSTRAINT") && !tokens.next_are("REFERENCES") && !tokens.next_are("CHECK") {
        name = Some(tokens.identifier()?);
    }
    if !tokens.accept("REFERENCES") {
        tokens.back_to(place);
        return Ok(None);
    }
    references(tokens, ForeignKeySpec { name, ..of(vec![column.to_owned()]) }).map(Some)
}

fn of(columns: Vec<String>) -> ForeignKeySpec {
    ForeignKeySpec {
        name: None,
        index_name: None,
        columns,
        parent: crate::statement::TableName { schema: None, name: String::new() },
        parent_columns: Vec::new(),
        on_delete: ReferentialAction::NoAction,
        on_update: ReferentialAction::NoAction,
        if_not_exists: false,
    }
}

/// What follows REFERENCES.
fn references(tokens: &mut Tokens<'_>, key: ForeignKeySpec) -> Parsed<ForeignKeySpec> {
    let mut key = ForeignKeySpec { parent: tokens.table_name()?, ..key };
    if tokens.peek() == Some(&Token::LParen) {
        key.parent_columns = tokens.in_parentheses(Tokens::identifier)?;
    }
    loop {
        if tokens.accept("MATCH SIMPLE") {
        } else if tokens.next_are("MATCH") {
            return Err(ParseError::not_supported("MATCH FULL and MATCH PARTIAL"));
        } else if tokens.accept("ON DELETE") {
            key.on_delete = action(tokens)?;
        } else if tokens.accept("ON UPDATE") {
            key.on_update = action(tokens)?;
        } else {
            return Ok(key);
        }
    }
}

fn action(tokens: &mut Tokens<'_>) -> Parsed<ReferentialAction> {
    let words = tokens.expect_one(&["CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"])?;
    Ok(match words {
        "SET DEFAULT" => ReferentialAction::SetDefault,
        "CASCADE" => ReferentialAction::Cascade,
        "SET NULL" => ReferentialAction::SetNull,
        "RESTRICT" => ReferentialAction::Restrict,
        _ => ReferentialAction::NoAction,
    })
}
