//! INSERT, REPLACE, UPDATE, DELETE.

use super::{Parser, is};
use crate::ast::{
    Assignment, Body, ColumnPath, Delete, Expr, ExprKind, Insert, InsertSource, Priority, Query, RowAlias, SelectItem,
    TablePath, TableRef, Update, With,
};
use crate::error::{ParseError, Parsed};
use crate::literal_rows::LiteralRows;
use crate::token::Token;

impl<'a> Parser<'a> {
    /// INSERT and REPLACE.
    ///
    /// # Errors
    /// 1064 for what is none of them, and as of [`Parser::query`].
    pub fn insert(&mut self) -> Parsed<Insert> {
        let replace = self.expect_one(&["INSERT", "REPLACE"])? == "REPLACE";
        let priority = match self.accept_one(&["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY"]) {
            Some("LOW_PRIORITY") => Some(Priority::Low),
            Some("DELAYED") => Some(Priority::Delayed),
            Some(_) => Some(Priority::High),
            None => None,
        };
        let ignore = !replace && self.accept("IGNORE");
        let _ = self.accept("INTO");
        let table = self.table_path()?;
        let partitions = self.partitions()?;
        let columns = self.insert_columns()?;
        let source = self.insert_source(columns.is_some())?;
        let alias = match source {
            InsertSource::Query(_) => None,
            _ if !replace && self.accept("AS") => Some(self.row_alias()?),
            _ => None,
        };
        let on_duplicate = match !replace && self.accept("ON DUPLICATE KEY UPDATE") {
            true => Some(self.list(Self::assignment)?),
            false => None,
        };
        let returning = self.returning()?;
        Ok(Insert { replace, priority, ignore, table, partitions, columns, source, alias, on_duplicate, returning })
    }

    /// `(a, b)`, and not the query `(SELECT …)`.
    fn insert_columns(&mut self) -> Parsed<Option<Vec<ColumnPath>>> {
        let is_query = match self.peek_word_at(1) {
            Some(word) => is(word, "SELECT") || is(word, "WITH") || is(word, "TABLE") || is(word, "VALUES"),
            None => self.peek_at(1) == Some(&Token::LParen),
        };
        if !self.next_is(&Token::LParen) || is_query {
            return Ok(None);
        }
        self.parenthesized_if_any(Self::column_path).map(Some)
    }

    fn insert_source(&mut self, has_columns: bool) -> Parsed<InsertSource> {
        let is_values = self.next_are("VALUES") || self.next_are("VALUE");
        let is_constructor = self.next_are("VALUES ROW");
        if is_values && !is_constructor {
            self.skip(1);
            let rows = self.list(|parser| parser.parenthesized_if_any(Self::value))?;
            let literal_rows = std::mem::take(&mut self.literal_rows);
            return Ok(InsertSource::Values(rows, literal_rows));
        }
        if !has_columns && self.accept("SET") {
            return Ok(InsertSource::Set(self.list(Self::assignment)?));
        }
        let query = self.query()?;
        match query {
            // INTO belongs to nothing here.
            Query { into: Some(into), .. } => Err(ParseError::syntax(into.span.start as usize)),
            // `VALUES ROW(…), …` is the same as `VALUES (…), …`.
            Query { body: Body::Values(rows), ref order_by, limit: None, .. }
                if is_constructor && order_by.is_empty() =>
            {
                Ok(InsertSource::Values(rows, LiteralRows::default()))
            }
            query => Ok(InsertSource::Query(Box::new(query))),
        }
    }

    /// A value that is stored, or DEFAULT.
    fn value(&mut self) -> Parsed<Expr> {
        let start = self.offset();
        if self.peek_at(1) == Some(&Token::LParen) || !self.accept("DEFAULT") {
            return self.expr();
        }
        Ok(Expr { kind: ExprKind::Default(None), span: self.span_from(start) })
    }

    /// `new (a, b)`
    fn row_alias(&mut self) -> Parsed<RowAlias> {
        let name = self.name()?;
        Ok(RowAlias { name, columns: self.names_in_parentheses()? })
    }

    /// `column = value`
    ///
    /// # Errors
    /// 1064 if something else comes, and as of [`Parser::expr`].
    pub fn assignment(&mut self) -> Parsed<Assignment> {
        let column = self.column_path()?;
        if !self.accept_token(&Token::Eq) {
            self.expect_token(&Token::Assign)?;
        }
        Ok(Assignment { column, value: self.value()? })
    }

    fn returning(&mut self) -> Parsed<Option<Vec<SelectItem>>> {
        if self.accept("RETURNING") { self.select_items().map(Some) } else { Ok(None) }
    }

    /// UPDATE, behind its WITH.
    ///
    /// # Errors
    /// 1064 for what is none, and as of [`Parser::query`].
    pub fn update(&mut self, with: Option<With>) -> Parsed<Update> {
        self.expect("UPDATE")?;
        let low_priority = self.accept("LOW_PRIORITY");
        let ignore = self.accept("IGNORE");
        let tables = self.table_list()?;
        self.expect("SET")?;
        let assignments = self.list(Self::assignment)?;
        let filter = self.expr_behind("WHERE")?;
        let order_by = self.order_by()?;
        let limit = if self.accept("LIMIT") { Some(self.row_count()?) } else { None };
        if self.next_are("RETURNING") {
            return Err(ParseError::not_supported("RETURNING in UPDATE"));
        }
        Ok(Update { with, low_priority, ignore, tables, assignments, filter, order_by, limit })
    }

    /// DELETE, behind its WITH.
    ///
    /// # Errors
    /// 1064 for what is none, and as of [`Parser::query`].
    pub fn delete(&mut self, with: Option<With>) -> Parsed<Delete> {
        self.expect("DELETE")?;
        let (mut low_priority, mut quick, mut ignore) = (false, false, false);
        while let Some(word) = self.accept_one(&["LOW_PRIORITY", "QUICK", "IGNORE"]) {
            low_priority |= word == "LOW_PRIORITY";
            quick |= word == "QUICK";
            ignore |= word == "IGNORE";
        }
        let (targets, from) = self.delete_tables()?;
        let filter = self.expr_behind("WHERE")?;
        let order_by = self.order_by()?;
        let limit = if self.accept("LIMIT") { Some(self.row_count()?) } else { None };
        let returning = self.returning()?;
        Ok(Delete { with, low_priority, quick, ignore, targets, from, filter, order_by, limit, returning })
    }

    /// `FROM t`, `t, u FROM tables`, `FROM t, u USING tables`
    fn delete_tables(&mut self) -> Parsed<(Option<Vec<TablePath>>, Vec<TableRef>)> {
        if !self.accept("FROM") {
            let targets = self.list(Self::delete_target)?;
            self.expect("FROM")?;
            return Ok((Some(targets), self.table_list()?));
        }
        let start = self.place();
        let targets = self.list(Self::delete_target)?;
        if self.accept("USING") {
            return Ok((Some(targets), self.table_list()?));
        }
        if targets.len() > 1 {
            return self.unexpected();
        }
        self.back_to(start);
        let mut table = self.named_table()?;
        if !table.hints.is_empty() {
            return self.unexpected();
        }
        if self.next_are("PARTITION") {
            table.partitions = self.partitions()?;
        }
        Ok((None, vec![TableRef::Table(Box::new(table))]))
    }

    /// `table`, `table.*`, which mean the same.
    fn delete_target(&mut self) -> Parsed<TablePath> {
        let mut path = TablePath { schema: None, name: self.name()? };
        while self.accept_token(&Token::Period) {
            if self.accept_token(&Token::Star) {
                break;
            }
            if path.schema.is_some() {
                return self.unexpected();
            }
            path = TablePath { schema: Some(path.name), name: self.any_name()? };
        }
        Ok(path)
    }
}
