//! A cursor over the tokens of a definition or a statement of administration: that of [`crate::grammar`], with what is noted on the way for the log.

use std::ops::{Deref, DerefMut};

use crate::{Parser, Token};
use types::SqlMode;

use super::Parsed;
use super::notes::Notes;
use crate::ParseError;
use crate::charsets;
use crate::names::{check_database_name, check_table_name};
use crate::statement::{Ddl, Online, SetItem, TableName, TextString, UserName};
use crate::versions::Comments;

/// Tokens of one statement and a place in them.
pub(super) struct Tokens<'a> {
    parser: Parser<'a>,
    /// What is found on the way of other servers' words.
    pub(super) notes: Notes,
    /// Names of accounts may be longer than a client's.
    pub(super) long_accounts: bool,
    /// CREATE OR REPLACE: what is dropped first.
    pub(super) replaced: Option<Box<Ddl>>,
    /// SET STATEMENT: what is set for the statement.
    pub(super) settings: Vec<SetItem>,
    /// ALGORITHM and LOCK of ALTER TABLE.
    pub(super) online: Option<Online>,
    pub(super) sql_mode: SqlMode,
}

impl<'a> Deref for Tokens<'a> {
    type Target = Parser<'a>;

    fn deref(&self) -> &Parser<'a> {
        &self.parser
    }
}

impl DerefMut for Tokens<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.parser
    }
}

impl<'a> Tokens<'a> {
    pub(super) fn new(parser: Parser<'a>, sql_mode: SqlMode) -> Self {
        Tokens {
            parser,
            notes: Notes::default(),
            long_accounts: false,
            replaced: None,
            settings: Vec::new(),
            online: None,
            sql_mode,
        }
    }

    /// The parser, at the place that was reached.
    pub(super) fn into_parser(self) -> Parser<'a> {
        self.parser
    }

    /// What was found on the way, behind the last token.
    pub(super) fn notes(&mut self, comments: Comments) -> Option<Box<Notes>> {
        let notes = std::mem::take(&mut self.notes);
        let unquoted = std::mem::take(&mut self.parser.unquoted);
        let notes = Notes { unquoted, comments, end: self.end_of_last(), ..notes };
        (!notes.is_empty()).then(|| Box::new(notes))
    }

    /// A name: quoted, or a word that is not reserved.
    pub(super) fn identifier(&mut self) -> Parsed<String> {
        self.name().map(|name| name.text.to_string())
    }

    /// A name or a string: what options and `SET NAMES` take.
    pub(super) fn name_or_string(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Text(_)) => self.string(),
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("binary") => {
                self.next();
                Ok("binary".into())
            }
            _ => self.identifier(),
        }
    }

    /// The name of a definition's character set.
    pub(super) fn charset(&mut self) -> Parsed<String> {
        let place = self.place();
        let name = self.name_or_string()?;
        if charsets::static_name(&name) == Some("utf8mb3") {
            let range = self.range_of(place);
            self.notes.utf8mb3.push(range);
        }
        Ok(name)
    }

    /// The definition that begins at this byte names a collation: its character set says nothing more.
    pub(super) fn has_collation(&mut self, from: usize) {
        self.notes.utf8mb3.retain(|place| place.start < from);
    }

    /// A name after a period, or a column's: any word goes after a period.
    pub(super) fn any_word(&mut self) -> Parsed<String> {
        self.any_name().map(|name| name.text.to_string())
    }

    /// `name` or `schema.name`.
    pub(super) fn table_name(&mut self) -> Parsed<TableName> {
        let first = self.identifier()?;
        if !self.accept_token(&Token::Period) {
            check_table_name(&first)?;
            return Ok(TableName { schema: None, name: first });
        }
        let name = self.any_word()?;
        check_table_name(&name)?;
        check_database_name(&first)?;
        Ok(TableName { schema: Some(first), name })
    }

    /// The name of a database (1059, 1102 for one that none can have).
    pub(super) fn database_name(&mut self) -> Parsed<String> {
        let name = self.identifier()?;
        check_database_name(&name)?;
        Ok(name)
    }

    /// A string, or its bytes in hexadecimal or binary digits.
    pub(super) fn text_string(&mut self) -> Parsed<TextString> {
        match self.accept_bytes() {
            Some(bytes) => Ok(TextString::Bytes(bytes)),
            None => self.string().map(TextString::Text),
        }
    }

    /// A number without sign, of which a fraction is left out: `FLOAT(5.2)`.
    pub(super) fn whole_number(&mut self) -> Parsed<u64> {
        let Some(Token::Number(digits)) = self.peek() else { return self.number() };
        match digits.split_once('.').map(|(whole, _)| whole.parse()) {
            Some(Ok(number)) => {
                self.next();
                Ok(number)
            }
            _ => self.number(),
        }
    }

    /// `'user'@'host'`, `user`, `CURRENT_USER()` (which is `None`).
    pub(super) fn user(&mut self) -> Parsed<Option<UserName>> {
        if self.accept("CURRENT_USER")
            || self.next_are("USER") && self.peek_at(1) == Some(&Token::LParen) && self.accept("USER")
        {
            if self.accept_token(&Token::LParen) {
                self.expect_token(&Token::RParen)?;
            }
            return Ok(None);
        }
        let user = match self.peek() {
            Some(Token::Text(_)) => self.string()?,
            _ => self.identifier()?,
        };
        // To the lexer `@host` is a variable.
        let host = match self.peek() {
            Some(Token::Variable(host)) => {
                let host = host.to_ascii_lowercase();
                self.next();
                host
            }
            _ => "%".to_string(),
        };
        super::account::checked_name(UserName { user, host }, self.long_accounts).map(Some)
    }

    pub(super) fn named_user(&mut self) -> Parsed<UserName> {
        let offset = self.offset();
        self.user()?.ok_or(ParseError::syntax(offset))
    }

    pub(super) fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept_token(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `( … )` around a list.
    pub(super) fn in_parentheses<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let items = self.comma_list(item)?;
        self.expect_token(&Token::RParen)?;
        Ok(items)
    }
}
