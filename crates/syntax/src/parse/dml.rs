//! Queries, row changes, and EXPLAIN and DO of them.

use crate::Token;
use crate::ast::{Query, SelectItem};
use base::{SqlError, codes};

use super::Parsed;
use super::show::filter;
use super::tokens::Tokens;
use crate::ParseError;
use crate::statement::{Explain, ExplainFormat, Show, Statement};

/// SELECT, WITH, VALUES, TABLE, or one of these in parentheses. WITH may also begin an UPDATE or DELETE.
pub(super) fn query(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    if !tokens.next_are("WITH") {
        return Ok(Statement::Query(Box::new(tokens.query()?)));
    }
    let with = tokens.with()?;
    if tokens.next_are("UPDATE") {
        return Ok(Statement::Update(Box::new(tokens.update(with)?)));
    }
    if tokens.next_are("DELETE") {
        return Ok(Statement::Delete(Box::new(tokens.delete(with)?)));
    }
    Ok(Statement::Query(Box::new(tokens.query_with(with)?)))
}

/// INSERT, REPLACE.
pub(super) fn insert(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    Ok(Statement::Insert(Box::new(tokens.insert()?)))
}

/// UPDATE.
pub(super) fn update(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    Ok(Statement::Update(Box::new(tokens.update(None)?)))
}

/// DELETE.
pub(super) fn delete(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    Ok(Statement::Delete(Box::new(tokens.delete(None)?)))
}

/// DO.
pub(super) fn do_statement(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("DO")?;
    let start = tokens.offset();
    let items = tokens.select_items()?;
    let exprs = items.into_iter().map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        SelectItem::Star | SelectItem::TableStar(_) => None,
    });
    match exprs.collect::<Option<Vec<_>>>() {
        Some(exprs) => Ok(Statement::Do(Box::new(Query::of_exprs(exprs)))),
        None => Err(ParseError::syntax(start)),
    }
}

/// EXPLAIN of a statement or of a table.
pub(super) fn explain(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect_one(&["EXPLAIN", "DESCRIBE", "DESC"])?;
    let analyze = tokens.accept("ANALYZE");
    let _ = tokens.accept("EXTENDED") || tokens.accept("PARTITIONS");
    let mut format = if analyze { ExplainFormat::Tree } else { ExplainFormat::Traditional };
    if tokens.next_are("FORMAT") && tokens.peek_at(1) == Some(&Token::Eq) {
        tokens.accept("FORMAT");
        tokens.expect_token(&Token::Eq)?;
        format = match tokens.name_or_string()?.to_ascii_uppercase().as_str() {
            "TRADITIONAL" => ExplainFormat::Traditional,
            "TREE" => ExplainFormat::Tree,
            "JSON" => ExplainFormat::Json,
            other => {
                let message = format!("Unknown EXPLAIN format name: '{}'", other.to_lowercase());
                return Err(SqlError::new(codes::UNKNOWN_EXPLAIN_FORMAT, message).into());
            }
        };
    }
    if tokens.next_are("INTO") {
        return Err(ParseError::not_supported("EXPLAIN INTO"));
    }
    let word = tokens.peek_word().unwrap_or_default().to_ascii_uppercase();
    let statement = match word.as_str() {
        "SELECT" | "WITH" | "VALUES" => query(tokens)?,
        "INSERT" | "REPLACE" => insert(tokens)?,
        "UPDATE" => update(tokens)?,
        "DELETE" => delete(tokens)?,
        "FOR" => return Err(ParseError::not_supported("EXPLAIN FOR CONNECTION")),
        "" if tokens.peek() == Some(&Token::LParen) => query(tokens)?,
        _ if analyze => return tokens.unexpected(),
        _ => return describe(tokens),
    };
    Ok(Statement::Explain(Explain { format, analyze, statement: Box::new(statement) }))
}

/// DESCRIBE table [column | pattern].
fn describe(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let table = tokens.table_name()?;
    let filter = match tokens.peek() {
        None => crate::statement::Filter::None,
        Some(Token::Text(_)) => crate::statement::Filter::like(&tokens.string()?),
        Some(Token::Word(_) | Token::Name(_)) => crate::statement::Filter::like(&tokens.any_word()?),
        Some(_) => filter(tokens)?,
    };
    Ok(Statement::Show(Show::Columns { full: false, extended: false, table, filter }))
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParseContext, parse_one};

    fn error(text: &str) -> Option<u16> {
        parse_one(text, &ParseContext::default()).err().map(|error| error.code)
    }

    #[test]
    fn stars_and_clauses_are_taken_away_once_for_all() {
        assert_eq!(error(&format!("DELETE t.*{} FROM t", ", t.*".repeat(200_000))), None);
        assert_eq!(error(&format!("DELETE {} FROM t", "QUICK ".repeat(500_000))), None);
        assert_eq!(error("SELECT 1 FROM t LOCK IN SHARE MODE"), None);
        assert_eq!(error("DELETE d.t.*, u.* FROM d.t, u"), None);
        assert_eq!(error("DELETE FROM t.*, u USING t, u"), None);
        error(&format!("SELECT 1 {}", ", LOCK IN SHARE x".repeat(200_000)));
    }
}
