//! Queries, row changes, and DO.

use crate::ast::{Query, SelectItem};

use super::Parsed;
use super::tokens::Tokens;
use crate::ParseError;
use crate::statement::Statement;

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
