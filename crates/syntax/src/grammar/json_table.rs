//! JSON_TABLE in FROM.

use base::{SqlError, codes};

use super::Parser;
use super::expr::strength;
use crate::ast::{JsonBehavior, JsonColumn, JsonTable, JsonTableValue, TableRef};
use crate::error::Parsed;
use crate::parse::column_type;
use crate::token::Token;

impl<'a> Parser<'a> {
    /// `(document, 'path' COLUMNS (…)) [AS] alias`
    pub(super) fn json_table(&mut self) -> Parsed<TableRef> {
        self.expect_token(&Token::LParen)?;
        let document = self.expr()?;
        self.expect_token(&Token::Comma)?;
        let path = self.text_of_path()?;
        let columns = self.json_columns()?;
        self.expect_token(&Token::RParen)?;
        let alias = self
            .table_alias()?
            .ok_or_else(|| SqlError::new(codes::TF_MUST_HAVE_ALIAS, "Every table function must have an alias"))?;
        Ok(TableRef::Json(Box::new(JsonTable { document, path, columns, alias })))
    }

    /// A text that is there, not one that is computed.
    fn text_of_path(&mut self) -> Parsed<Box<str>> {
        if self.peek_word().is_some_and(|word| word.starts_with('_')) && matches!(self.peek_at(1), Some(Token::Text(_)))
        {
            self.skip(1);
        }
        let text: Box<str> = match self.peek() {
            Some(Token::Text(text) | Token::NationalText(text)) => Box::from(&**text),
            _ => return self.unexpected(),
        };
        self.skip(1);
        Ok(text)
    }

    /// `COLUMNS (…)`
    fn json_columns(&mut self) -> Parsed<Vec<JsonColumn>> {
        self.expect("COLUMNS")?;
        self.enter()?;
        let columns = self.parenthesized(Self::json_column)?;
        self.leave();
        Ok(columns)
    }

    fn json_column(&mut self) -> Parsed<JsonColumn> {
        if self.accept("NESTED PATH") {
            let path = self.text_of_path()?;
            return Ok(JsonColumn::Nested(path, self.json_columns()?));
        }
        let name = self.name()?;
        if self.accept("FOR ORDINALITY") {
            return Ok(JsonColumn::Ordinality(name));
        }
        let ty = column_type(self)?;
        let exists = self.accept("EXISTS");
        self.expect("PATH")?;
        let path = self.text_of_path()?;
        let (mut on_empty, mut on_error, mut is_turned) = (None, None, false);
        while let Some(word) = self.accept_one(&["NULL", "ERROR", "DEFAULT"]) {
            let behavior = match word {
                "NULL" => JsonBehavior::Null,
                "ERROR" => JsonBehavior::Error,
                _ if self.next_are("NULL") => return self.unexpected(),
                _ => JsonBehavior::Default(self.expr_of(strength::SIGN)?),
            };
            self.expect("ON")?;
            let place = self.place();
            let of = match self.expect_one(&["EMPTY", "ERROR"])? {
                "EMPTY" => &mut on_empty,
                _ => &mut on_error,
            };
            if of.replace(behavior).is_some() {
                self.back_to(place);
                return self.unexpected();
            }
            is_turned |= on_empty.is_none();
        }
        is_turned &= on_empty.is_some();
        let (on_empty, on_error) = (on_empty.unwrap_or(JsonBehavior::Null), on_error.unwrap_or(JsonBehavior::Null));
        Ok(JsonColumn::Value(Box::new(JsonTableValue { name, ty, exists, path, on_empty, on_error, is_turned })))
    }
}
