//! Words, signs, names and lists.

use std::ops::Range;
use std::sync::Arc;

use super::Parser;
use crate::ast::{ColumnPath, Mention, Name, TablePath};
use crate::digits::{bit_bytes, hex_bytes};
use crate::error::{ParseError, Parsed};
use crate::span::Span;
use crate::token::{Token, TokenAt};
use crate::words::{is_reserved_elsewhere, may_be_name};

/// So many names are looked through for one that is there already.
const NAMES_KEPT: usize = 16;

impl<'a> Parser<'a> {
    /// The statement's text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The next token.
    pub fn peek(&self) -> Option<&Token<'a>> {
        self.peek_at(0)
    }

    /// The token that many places ahead.
    pub fn peek_at(&self, ahead: usize) -> Option<&Token<'a>> {
        self.tokens[..self.stop].get(self.at + ahead).map(|token| &token.token)
    }

    /// The byte offset of the next token, or of the end.
    pub fn offset(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |token| token.span.start as usize)
    }

    /// The next token's word, if it is one without quotes.
    pub fn peek_word(&self) -> Option<&'a str> {
        self.peek_word_at(0)
    }

    /// The same that many places ahead.
    pub fn peek_word_at(&self, ahead: usize) -> Option<&'a str> {
        match self.peek_at(ahead)? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The place among the tokens, for [`Parser::back_to`].
    pub fn place(&self) -> usize {
        self.at
    }

    /// Goes back to a place.
    pub fn back_to(&mut self, place: usize) {
        self.at = place;
    }

    /// Where the token before this place ends.
    pub fn end_of_last(&self) -> usize {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.span.end as usize)
    }

    /// Where the token at a place is.
    pub fn range_of(&self, place: usize) -> Range<usize> {
        self.tokens.get(place).map_or(self.text.len()..self.text.len(), |token| token.span.range())
    }

    /// What was read since a place, and where it is.
    pub fn read_since(&self, place: usize) -> (Range<usize>, String) {
        let start = self.range_of(place).start;
        let place = start..self.end_of_last().max(start);
        (place.clone(), self.text.get(place).unwrap_or_default().to_owned())
    }

    /// Where all is that was read since an offset.
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.end_of_last().max(start))
    }

    /// Takes the next token.
    #[expect(clippy::should_implement_trait, reason = "it is no iterator: one may go back")]
    pub fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?.clone();
        self.at += 1;
        Some(token)
    }

    /// Takes the next token without a look at it.
    pub(super) fn skip(&mut self, tokens: usize) {
        self.at += tokens;
    }

    /// 1064 here.
    ///
    /// # Errors
    /// That, always.
    pub fn unexpected<T>(&self) -> Parsed<T> {
        Err(ParseError::syntax(self.offset()))
    }

    /// Whether all has been read.
    ///
    /// # Errors
    /// 1064 if it has not.
    pub fn end(&self) -> Parsed<()> {
        if self.at_end() { Ok(()) } else { self.unexpected() }
    }

    /// Whether all has been read.
    pub fn at_end(&self) -> bool {
        self.at >= self.stop
    }

    /// From here on there is nothing behind the next semicolon, for who reads one of a program's statements. Gives what
    /// [`Parser::widen`] takes.
    pub(crate) fn narrow(&mut self) -> usize {
        let rest = self.tokens[..self.stop].get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|token| token.token == Token::Semicolon);
        let stop = length.map_or(self.stop, |length| self.at + length);
        std::mem::replace(&mut self.stop, stop)
    }

    /// Ends that.
    pub(crate) fn widen(&mut self, stop: usize) {
        self.stop = stop;
    }

    /// Takes the names away that have to be known to a program, and begins with these.
    pub(crate) fn swap_mentions(&mut self, mentions: Vec<Mention>) -> Vec<Mention> {
        std::mem::replace(&mut self.mentions, mentions)
    }

    /// Notes a name that a program has to know.
    pub(super) fn mention(&mut self, mention: Mention) -> Parsed<()> {
        base::memory::check_room(&self.mentions, 1)?;
        self.mentions.push(mention);
        Ok(())
    }

    /// Where the first parameter is among the tokens, as a byte offset.
    pub(crate) fn first_param(&self) -> Option<usize> {
        let param = self.tokens.iter().find(|token| matches!(token.token, Token::Param(_)))?;
        Some(param.span.start as usize)
    }

    /// The tokens that were read since a place.
    pub(crate) fn tokens_since(&self, place: usize) -> &[TokenAt<'a>] {
        self.tokens.get(place..self.at).unwrap_or_default()
    }

    /// Whether the next tokens are these words (in any case), and then takes them.
    pub fn accept(&mut self, words: &str) -> bool {
        let matches = self.next_are(words);
        if matches {
            self.at += words.split(' ').count();
        }
        matches
    }

    /// Whether the next tokens are these words.
    pub fn next_are(&self, words: &str) -> bool {
        self.are_at(0, words)
    }

    /// The same that many places ahead.
    pub fn are_at(&self, ahead: usize, words: &str) -> bool {
        let is_next =
            |(i, word): (usize, &str)| self.peek_word_at(ahead + i).is_some_and(|next| next.eq_ignore_ascii_case(word));
        words.split(' ').enumerate().all(is_next)
    }

    /// The first of the alternatives whose words come next.
    pub fn accept_one(&mut self, alternatives: &[&'static str]) -> Option<&'static str> {
        alternatives.iter().find(|words| self.accept(words)).copied()
    }

    /// Takes these words.
    ///
    /// # Errors
    /// 1064 if others come.
    pub fn expect(&mut self, words: &str) -> Parsed<()> {
        for word in words.split(' ') {
            if !self.accept(word) {
                return self.unexpected();
            }
        }
        Ok(())
    }

    /// Takes the words of one of the alternatives.
    ///
    /// # Errors
    /// 1064 if others come.
    pub fn expect_one(&mut self, alternatives: &[&'static str]) -> Parsed<&'static str> {
        match self.accept_one(alternatives) {
            Some(words) => Ok(words),
            None => self.unexpected(),
        }
    }

    /// Whether this token comes next.
    pub fn next_is(&self, token: &Token<'_>) -> bool {
        self.peek() == Some(token)
    }

    /// Whether this token comes next, and then takes it.
    pub fn accept_token(&mut self, token: &Token<'_>) -> bool {
        let matches = self.next_is(token);
        self.at += usize::from(matches);
        matches
    }

    /// Takes this token.
    ///
    /// # Errors
    /// 1064 if another one comes.
    pub fn expect_token(&mut self, token: &Token<'_>) -> Parsed<()> {
        if self.accept_token(token) { Ok(()) } else { self.unexpected() }
    }

    /// A name's text, as one allocation with the same one before it.
    pub(super) fn interned(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.names.iter().find(|known| ***known == *text) {
            return known.clone();
        }
        let new: Arc<str> = Arc::from(text);
        if self.names.len() < NAMES_KEPT {
            self.names.push(new.clone());
        }
        new
    }

    fn taken_name(&mut self) -> Option<Name> {
        let TokenAt { token, span } = self.tokens.get(self.at)?.clone();
        let text = match token {
            Token::Word(word) => self.interned(word),
            Token::Name(name) => self.interned(&name),
            _ => return None,
        };
        self.at += 1;
        Some(Name { text, span })
    }

    /// A name: quoted, or a word that is not reserved.
    ///
    /// # Errors
    /// 1064 if something else comes.
    pub fn name(&mut self) -> Parsed<Name> {
        if let Some(word) = self.peek_word() {
            if !may_be_name(word) {
                return self.unexpected();
            }
            if is_reserved_elsewhere(word) {
                self.unquoted.push(self.range_of(self.at));
            }
        }
        match self.taken_name() {
            Some(name) => Ok(name),
            None => self.unexpected(),
        }
    }

    /// Whether nothing is between the next token and the one behind it.
    pub(super) fn touches_next(&self) -> bool {
        matches!(&self.tokens[self.at..], [this, next, ..] if this.span.end == next.span.start)
    }

    /// A name after a period: any word that touches it. (Elsewhere the caller has looked at it.)
    ///
    /// # Errors
    /// 1064 if something else comes.
    pub fn any_name(&mut self) -> Parsed<Name> {
        if let [.., TokenAt { token: Token::Period, span }] = &self.tokens[..self.at]
            && span.end as usize != self.offset()
            && self.peek_word().is_some_and(|word| !may_be_name(word))
        {
            return self.unexpected();
        }
        match self.taken_name() {
            Some(name) => Ok(name),
            None => self.unexpected(),
        }
    }

    /// `name`, `database.name`
    pub(super) fn table_path(&mut self) -> Parsed<TablePath> {
        let name = self.name()?;
        if !self.accept_token(&Token::Period) {
            return Ok(TablePath { schema: None, name });
        }
        Ok(TablePath { schema: Some(name), name: self.any_name()? })
    }

    /// `column`, `table.column`, `database.table.column`
    ///
    /// # Errors
    /// 1064 if something else comes.
    pub fn column_path(&mut self) -> Parsed<ColumnPath> {
        let first = self.name()?;
        self.column_path_from(first)
    }

    /// The rest of a column's name, whose first part is taken.
    pub(super) fn column_path_from(&mut self, first: Name) -> Parsed<ColumnPath> {
        let mut path = ColumnPath { schema: None, table: None, name: first };
        while path.schema.is_none() && self.accept_token(&Token::Period) {
            path = ColumnPath { schema: path.table, table: Some(path.name), name: self.any_name()? };
        }
        if let ColumnPath { schema: None, table: Some(row), .. } = &path
            && let Some(mention) = row_of_trigger(row.as_str())
        {
            self.mention(mention)?;
        }
        Ok(path)
    }

    /// The name of a user variable, if one comes next.
    pub fn accept_variable(&mut self) -> Option<String> {
        let Some(Token::Variable(name)) = self.peek() else { return None };
        let name = name.clone().into_owned();
        self.at += 1;
        Some(name)
    }

    /// The bytes of hexadecimal or binary digits, if they come next.
    pub fn accept_bytes(&mut self) -> Option<Vec<u8>> {
        let bytes = match self.peek()? {
            Token::Hex(digits) => hex_bytes(digits),
            Token::Bits(digits) => bit_bytes(digits),
            _ => return None,
        };
        self.at += 1;
        Some(bytes)
    }

    /// Text in one part.
    ///
    /// # Errors
    /// 1064 if something else comes.
    pub fn string(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Text(text)) => {
                let text = text.clone().into_owned();
                self.at += 1;
                Ok(text)
            }
            _ => self.unexpected(),
        }
    }

    /// A number without sign or fraction.
    ///
    /// # Errors
    /// 1064 if something else comes.
    pub fn number(&mut self) -> Parsed<u64> {
        match self.peek() {
            Some(Token::Number(digits)) => match digits.parse() {
                Ok(number) => {
                    self.at += 1;
                    Ok(number)
                }
                Err(_) => self.unexpected(),
            },
            _ => self.unexpected(),
        }
    }

    /// Things with commas between them: one at least.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let first = item(self)?;
        self.list_behind(first, item)
    }

    /// The same, of which the first one is taken.
    pub(super) fn list_behind<T>(&mut self, first: T, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![first];
        while self.accept_token(&Token::Comma) {
            base::memory::check_room(&items, 1)?;
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `( … )` around a list.
    pub(super) fn parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let items = self.list(item)?;
        self.expect_token(&Token::RParen)?;
        Ok(items)
    }

    /// `( … )` around a list that may be empty.
    pub(super) fn parenthesized_if_any<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        if self.next_is(&Token::LParen) && self.peek_at(1) == Some(&Token::RParen) {
            self.skip(2);
            return Ok(Vec::new());
        }
        self.parenthesized(item)
    }

    /// Names in parentheses, if they come next.
    pub(super) fn names_in_parentheses(&mut self) -> Parsed<Vec<Name>> {
        if self.next_is(&Token::LParen) { self.parenthesized(Self::name) } else { Ok(Vec::new()) }
    }
}

/// NEW and OLD are rows of a trigger, if there is one.
fn row_of_trigger(name: &str) -> Option<Mention> {
    match name {
        name if name.eq_ignore_ascii_case("NEW") => Some(Mention::New),
        name if name.eq_ignore_ascii_case("OLD") => Some(Mention::Old),
        _ => None,
    }
}
