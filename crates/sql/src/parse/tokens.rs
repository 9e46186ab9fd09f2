//! A cursor over tokens, for our own grammar.

use std::ops::Range;

use sqlparser::ast::Expr;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::ast::{Ddl, Online, SetItem, TableName, TextString, UserName};
use super::both_dialects::Piece;
use super::dialect::COMMUTER;
use super::digits::{bit_bytes, hex_bytes};
use super::error::ParseError;
use super::literal_rows::LiteralRows;
use super::timestamps::TimestampColumn;
use super::words::{is_reserved_elsewhere, may_be_name};
use super::{Parsed, range};
use crate::charsets;
use crate::ddl::{check_database_name, check_table_name};
use crate::expr::SqlMode;

/// How deep the parser may recurse.
const RECURSION_MAX: usize = 8 * super::depth::DEPTH_MAX;
/// So many of them a usual stack has room for, here and in everything behind the parser. What needs more is read again on a large one.
const USUAL_RECURSION: usize = 128;

/// Tokens of one statement and a place in them.
pub(super) struct Tokens<'a> {
    tokens: Vec<TokenWithSpan>,
    at: usize,
    pub(super) text: &'a str,
    /// Names of accounts may be longer than a client's.
    pub(super) long_accounts: bool,
    /// Where columns' types are JSON.
    pub(super) json_types: Vec<Range<usize>>,
    /// Where definitions say utf8mb3, and no collation; behind NCHAR and its kin, which mean it, nothing.
    pub(super) utf8mb3: Vec<Range<usize>>,
    /// TIMESTAMP columns that are defined.
    pub(super) timestamps: Vec<TimestampColumn>,
    /// What one kind of server has for itself.
    pub(super) pieces: Vec<Piece>,
    /// Names without quotes that another kind of server takes for reserved words.
    pub(super) unquoted: Vec<Range<usize>>,
    /// Literals that are defaults of TEXT, BLOB or JSON columns.
    pub(super) text_defaults: Vec<Range<usize>>,
    /// Times with other digits than their columns have, and those.
    pub(super) other_digits: Vec<(Range<usize>, u64)>,
    /// CREATE OR REPLACE: what is dropped first.
    pub(super) replaced: Option<Box<Ddl>>,
    /// SET STATEMENT: what is set for the statement.
    pub(super) settings: Vec<SetItem>,
    /// ALGORITHM and LOCK of ALTER TABLE.
    pub(super) online: Option<Online>,
    /// Where columns are put FIRST.
    pub(super) firsts: Vec<Range<usize>>,
    /// The actions of an ALTER TABLE.
    pub(super) items: Vec<Range<usize>>,
    /// Rows of an INSERT that have no tokens.
    pub(super) literal_rows: LiteralRows,
    pub(super) sql_mode: SqlMode,
    /// It is read on a large stack.
    pub(super) is_deep: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(tokens: Vec<TokenWithSpan>, text: &'a str, sql_mode: SqlMode) -> Self {
        Tokens {
            tokens,
            at: 0,
            text,
            long_accounts: false,
            json_types: Vec::new(),
            utf8mb3: Vec::new(),
            timestamps: Vec::new(),
            pieces: Vec::new(),
            unquoted: Vec::new(),
            text_defaults: Vec::new(),
            other_digits: Vec::new(),
            replaced: None,
            settings: Vec::new(),
            online: None,
            firsts: Vec::new(),
            items: Vec::new(),
            literal_rows: LiteralRows::default(),
            sql_mode,
            is_deep: false,
        }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|token| &token.token)
    }

    /// The byte offset of the next token, or of the end.
    pub(super) fn offset(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |token| range(token.span).start)
    }

    /// The next token's word, if it is one without quotes (variables count as words).
    pub(super) fn peek_word(&self) -> Option<&str> {
        self.peek_word_at(0)
    }

    pub(super) fn peek_word_at(&self, ahead: usize) -> Option<&str> {
        match self.peek_at(ahead)? {
            Token::Word(word) if word.quote_style.is_none() => Some(&word.value),
            _ => None,
        }
    }

    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Where the token before this place ends.
    pub(super) fn end_of_last(&self) -> usize {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| range(token.span).end)
    }

    /// Where the token at a place is.
    pub(super) fn range_of(&self, place: usize) -> Range<usize> {
        self.tokens.get(place).map_or(self.text.len()..self.text.len(), |token| range(token.span))
    }

    /// What was read since a place, and where it is.
    pub(super) fn read_since(&self, place: usize) -> (Range<usize>, String) {
        let start = self.range_of(place).start;
        let place = start..self.end_of_last().max(start);
        (place.clone(), self.text.get(place).unwrap_or_default().to_owned())
    }

    pub(super) fn back_to(&mut self, place: usize) {
        self.at = place;
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at)?.token.clone();
        self.at += 1;
        Some(token)
    }

    /// 1064 here.
    pub(super) fn unexpected<T>(&self) -> Parsed<T> {
        Err(ParseError::syntax(self.offset()))
    }

    pub(super) fn end(&self) -> Parsed<()> {
        if self.at < self.tokens.len() { self.unexpected() } else { Ok(()) }
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Whether the next tokens are these words (in any case), and then takes them.
    pub(super) fn accept(&mut self, words: &str) -> bool {
        let matches = self.next_are(words);
        if matches {
            self.at += words.split(' ').count();
        }
        matches
    }

    /// Whether the next tokens are these words.
    pub(super) fn next_are(&self, words: &str) -> bool {
        words
            .split(' ')
            .enumerate()
            .all(|(i, word)| self.peek_word_at(i).is_some_and(|next| next.eq_ignore_ascii_case(word)))
    }

    /// The first of the alternatives whose words come next.
    pub(super) fn accept_one(&mut self, alternatives: &[&'static str]) -> Option<&'static str> {
        alternatives.iter().find(|words| self.accept(words)).copied()
    }

    pub(super) fn expect(&mut self, words: &str) -> Parsed<()> {
        for word in words.split(' ') {
            if !self.accept(word) {
                return self.unexpected();
            }
        }
        Ok(())
    }

    pub(super) fn expect_one(&mut self, alternatives: &[&'static str]) -> Parsed<&'static str> {
        match self.accept_one(alternatives) {
            Some(words) => Ok(words),
            None => self.unexpected(),
        }
    }

    pub(super) fn accept_token(&mut self, token: &Token) -> bool {
        let matches = self.peek() == Some(token);
        self.at += usize::from(matches);
        matches
    }

    pub(super) fn expect_token(&mut self, token: &Token) -> Parsed<()> {
        if self.accept_token(token) { Ok(()) } else { self.unexpected() }
    }

    /// A name: quoted, or a word that is not reserved.
    pub(super) fn identifier(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Word(word)) if word.quote_style.is_some() || may_be_name(&word.value) => {
                let name = word.value.clone();
                if word.quote_style.is_none() && is_reserved_elsewhere(&name) {
                    self.unquoted.push(self.range_of(self.at));
                }
                self.at += 1;
                Ok(name)
            }
            _ => self.unexpected(),
        }
    }

    /// A name or a string: what options and `SET NAMES` take.
    pub(super) fn name_or_string(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::SingleQuotedString(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            Some(Token::Word(word)) if word.value.eq_ignore_ascii_case("binary") => {
                self.at += 1;
                Ok("binary".into())
            }
            _ => self.identifier(),
        }
    }

    /// The name of a definition's character set.
    pub(super) fn charset(&mut self) -> Parsed<String> {
        let place = self.at;
        let name = self.name_or_string()?;
        if charsets::static_name(&name) == Some("utf8mb3") {
            self.utf8mb3.push(self.range_of(place));
        }
        Ok(name)
    }

    /// The definition that begins at this byte names a collation: its character set says nothing more.
    pub(super) fn has_collation(&mut self, from: usize) {
        self.utf8mb3.retain(|place| place.start < from);
    }

    /// A name after a period, or a column's: any word goes after a period.
    pub(super) fn any_word(&mut self) -> Parsed<String> {
        match self.next() {
            Some(Token::Word(word)) if !word.value.starts_with('@') || word.quote_style.is_some() => Ok(word.value),
            Some(_) => {
                self.at -= 1;
                self.unexpected()
            }
            None => self.unexpected(),
        }
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

    pub(super) fn string(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::SingleQuotedString(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => self.unexpected(),
        }
    }

    /// A string, or its bytes in hexadecimal or binary digits.
    pub(super) fn text_string(&mut self) -> Parsed<TextString> {
        match self.accept_bytes() {
            Some(bytes) => Ok(TextString::Bytes(bytes)),
            None => self.string().map(TextString::Text),
        }
    }

    /// The bytes of hexadecimal or binary digits, if they come next.
    pub(super) fn accept_bytes(&mut self) -> Option<Vec<u8>> {
        let bytes = match self.peek()? {
            Token::HexStringLiteral(digits) => hex_bytes(digits),
            Token::SingleQuotedByteStringLiteral(digits) => bit_bytes(digits),
            _ => return None,
        };
        self.at += 1;
        Some(bytes)
    }

    /// A number without sign or fraction.
    pub(super) fn number(&mut self) -> Parsed<u64> {
        match self.peek() {
            Some(Token::Number(digits, _)) => match digits.parse() {
                Ok(number) => {
                    self.at += 1;
                    Ok(number)
                }
                Err(_) => self.unexpected(),
            },
            _ => self.unexpected(),
        }
    }

    /// A number without sign, of which a fraction is left out: `FLOAT(5.2)`.
    pub(super) fn whole_number(&mut self) -> Parsed<u64> {
        let Some(Token::Number(digits, _)) = self.peek() else { return self.number() };
        match digits.split_once('.').map(|(whole, _)| whole.parse()) {
            Some(Ok(number)) => {
                self.at += 1;
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
            // The lexer has taken '@host' of an anonymous `@host` as a variable.
            Some(Token::SingleQuotedString(_)) => self.string()?,
            _ => self.identifier()?,
        };
        let host = match self.peek_word() {
            Some(host) if host.starts_with('@') && !host.starts_with("@@") => {
                let host = host[1..].to_ascii_lowercase();
                self.at += 1;
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

    /// An expression, by `sqlparser`. It sees no token behind the next comma (the comma makes its errors name their place), so
    /// that a long list of expressions is not copied for each of them.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let rest = &self.tokens[self.at..];
        let mut depth = 0;
        let ends = |token: &TokenWithSpan| {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            depth < 0 || depth == 0 && token.token == Token::Comma
        };
        let end = rest.iter().position(ends).map_or(rest.len(), |end| end + 1);
        let mut parser = self.parser(rest[..end].to_vec());
        let expr = parser.parse_expr().map_err(|error| self.from_sqlparser(&error))?;
        self.at += parser.index();
        Ok(expr)
    }

    /// All tokens from here on to a parser of `sqlparser`, which then has to take them all.
    pub(super) fn rest<T>(&mut self, parse: impl FnOnce(&mut Parser<'_>) -> Result<T, ParserError>) -> Parsed<T> {
        let rest = if self.at == 0 { std::mem::take(&mut self.tokens) } else { self.tokens.split_off(self.at) };
        let mut parser = self.parser(rest);
        let parsed = parse(&mut parser).map_err(|error| self.from_sqlparser(&error))?;
        let next = parser.peek_token_ref();
        if next.token == Token::EOF {
            return Ok(parsed);
        }
        Err(ParseError::syntax(range(next.span).start))
    }

    fn parser(&self, tokens: Vec<TokenWithSpan>) -> Parser<'static> {
        let levels = if self.is_deep { RECURSION_MAX } else { USUAL_RECURSION };
        Parser::new(&COMMUTER).with_recursion_limit(levels).with_tokens_with_locations(tokens)
    }

    /// The tokens from here on, to be rewritten.
    pub(super) fn tokens_mut(&mut self) -> &mut Vec<TokenWithSpan> {
        &mut self.tokens
    }

    /// `sqlparser` says where only in words: `… at Line: 1, Column: 15`, and the column is our offset.
    #[expect(clippy::wrong_self_convention, reason = "from an error, for this text")]
    fn from_sqlparser(&self, error: &ParserError) -> ParseError {
        match error {
            ParserError::RecursionLimitExceeded => super::depth::too_deep().into(),
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
                let column =
                    message.rsplit_once("Column: ").and_then(|(_, column)| column.trim().parse::<usize>().ok());
                match column {
                    Some(column) if column > 0 => ParseError::syntax(column - 1),
                    _ => ParseError::syntax(self.text.len()),
                }
            }
        }
    }
}
