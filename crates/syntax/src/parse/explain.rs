//! EXPLAIN of a statement, of a table, and of what another connection runs.

use crate::Token;
use crate::ast::Place;
use base::{SqlError, codes};

use super::Parsed;
use super::dml::{delete, insert, query, update};
use super::show::filter;
use super::tokens::Tokens;
use crate::ParseError;
use crate::statement::{Explain, ExplainFormat, Filter, Show, Statement};

/// EXPLAIN.
pub(super) fn explain(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect_one(&["EXPLAIN", "DESCRIBE", "DESC"])?;
    let analyze = tokens.accept("ANALYZE");
    let _ = tokens.accept("EXTENDED") || tokens.accept("PARTITIONS");
    let format = format(tokens)?;
    let into = into(tokens)?;
    if tokens.next_are("FOR CONNECTION") {
        return for_connection(tokens, format, analyze, into.is_some());
    }
    if into.is_some() {
        check_into(format)?;
    }
    let schema = match tokens.accept("FOR SCHEMA") || tokens.accept("FOR DATABASE") {
        true => Some(tokens.any_word()?),
        false => None,
    };
    let start = Place(tokens.offset());
    let word = tokens.peek_word().unwrap_or_default().to_ascii_uppercase();
    let statement = match word.as_str() {
        "SELECT" | "WITH" | "VALUES" | "TABLE" => query(tokens)?,
        "INSERT" | "REPLACE" => insert(tokens)?,
        "UPDATE" => update(tokens)?,
        "DELETE" => delete(tokens)?,
        "" if tokens.peek() == Some(&Token::LParen) => query(tokens)?,
        _ if analyze || format.is_some() || into.is_some() || schema.is_some() => return tokens.unexpected(),
        _ => return describe(tokens),
    };
    Ok(Statement::Explain(Explain { format, analyze, into, schema, start, statement: Box::new(statement) }))
}

/// `FORMAT = name`
fn format(tokens: &mut Tokens<'_>) -> Parsed<Option<ExplainFormat>> {
    if !tokens.next_are("FORMAT") || tokens.peek_at(1) != Some(&Token::Eq) {
        return Ok(None);
    }
    tokens.accept("FORMAT");
    tokens.expect_token(&Token::Eq)?;
    match tokens.name_or_string()?.to_ascii_uppercase().as_str() {
        "TRADITIONAL" => Ok(Some(ExplainFormat::Traditional)),
        "TREE" => Ok(Some(ExplainFormat::Tree)),
        "JSON" => Ok(Some(ExplainFormat::Json)),
        other => {
            let message = format!("Unknown EXPLAIN format name: '{}'", other.to_lowercase());
            Err(SqlError::new(codes::UNKNOWN_EXPLAIN_FORMAT, message).into())
        }
    }
}

/// `INTO @name`
fn into(tokens: &mut Tokens<'_>) -> Parsed<Option<String>> {
    if !tokens.accept("INTO") {
        return Ok(None);
    }
    match tokens.accept_variable() {
        Some(name) => Ok(Some(name)),
        None => tokens.unexpected(),
    }
}

/// Only a document fits into a variable.
fn check_into(format: Option<ExplainFormat>) -> Parsed<()> {
    let (code, message) = match format {
        Some(ExplainFormat::Json) => return Ok(()),
        None => (codes::EXPLAIN_INTO_IMPLICIT_FORMAT, "EXPLAIN INTO does not support implicit FORMAT."),
        Some(ExplainFormat::Tree) => (codes::EXPLAIN_INTO_FORMAT, "EXPLAIN INTO does not support FORMAT=TREE."),
        Some(ExplainFormat::Traditional) => {
            (codes::EXPLAIN_INTO_FORMAT, "EXPLAIN INTO does not support FORMAT=TRADITIONAL.")
        }
    };
    Err(SqlError::new(code, message).into())
}

/// `FOR CONNECTION number`
fn for_connection(
    tokens: &mut Tokens<'_>,
    format: Option<ExplainFormat>,
    analyze: bool,
    into: bool,
) -> Parsed<Statement> {
    tokens.expect("FOR CONNECTION")?;
    let connection = tokens.number()?;
    if into {
        let message = "EXPLAIN FOR CONNECTION does not support the INTO clause.";
        return Err(SqlError::new(codes::EXPLAIN_INTO_FOR_CONNECTION, message).into());
    }
    if analyze {
        return Err(ParseError::not_supported("EXPLAIN ANALYZE FOR CONNECTION"));
    }
    Ok(Statement::Show(Show::Explain { connection, format }))
}

/// MariaDB's `SHOW EXPLAIN [FORMAT = JSON] FOR number`, whose rows are a table unless it says something else.
pub(super) fn show(tokens: &mut Tokens<'_>) -> Parsed<Show> {
    let format = format(tokens)?.or(Some(ExplainFormat::Traditional));
    tokens.expect("FOR")?;
    Ok(Show::Explain { connection: tokens.number()?, format })
}

/// DESCRIBE table [column | pattern].
fn describe(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let table = tokens.table_name()?;
    let filter = match tokens.peek() {
        None => Filter::None,
        Some(Token::Text(_)) => Filter::like(&tokens.string()?),
        Some(Token::Word(_) | Token::Name(_)) => Filter::like(&tokens.any_word()?),
        Some(_) => filter(tokens)?,
    };
    Ok(Statement::Show(Show::Columns { full: false, extended: false, table, filter }))
}
