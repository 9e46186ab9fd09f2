//! Types of CAST.

use super::{Parser, is};
use crate::ast::{CastCharset, CastType, Name};
use crate::error::{ParseError, Parsed};
use crate::token::Token;

impl<'a> Parser<'a> {
    /// The type behind AS, USING or RETURNING.
    pub(super) fn cast_type(&mut self) -> Parsed<CastType> {
        let start = self.place();
        let Some(word) = self.peek_word() else { return self.unexpected() };
        self.skip(1);
        let is = |known: &str| is(word, known);
        Ok(match word {
            _ if is("BINARY") => CastType::Binary(self.length()?),
            _ if is("CHAR") || is("CHARACTER") || is("VARCHAR") => {
                let _ = !is("VARCHAR") && self.accept("VARYING");
                CastType::Char(self.length()?, self.cast_charset()?)
            }
            _ if is("NCHAR") => CastType::Char(self.length()?, self.national()),
            _ if is("NATIONAL") => {
                self.expect_one(&["CHAR", "CHARACTER"])?;
                CastType::Char(self.length()?, self.national())
            }
            _ if is("SIGNED") => {
                let _ = self.accept("INTEGER") || self.accept("INT");
                CastType::Signed
            }
            _ if is("UNSIGNED") => {
                let _ = self.accept("INTEGER") || self.accept("INT");
                CastType::Unsigned
            }
            _ if is("INT") || is("INTEGER") => CastType::Signed,
            _ if is("DATE") => CastType::Date,
            _ if is("YEAR") => CastType::Year,
            _ if is("TIME") => CastType::Time(self.length()?),
            _ if is("DATETIME") => CastType::DateTime(self.length()?),
            _ if is("DECIMAL") || is("DEC") || is("NUMERIC") || is("FIXED") => CastType::Decimal(self.digits()?),
            _ if is("FLOAT") => CastType::Float(self.length()?),
            _ if is("DOUBLE") => {
                let _ = self.accept("PRECISION");
                self.digits()?;
                CastType::Double
            }
            _ if is("REAL") => CastType::Real,
            _ if is("JSON") => CastType::Json,
            _ if is("POINT") => CastType::Other("POINT"),
            _ if is("LINESTRING") => CastType::Other("LINESTRING"),
            _ if is("POLYGON") => CastType::Other("POLYGON"),
            _ if is("MULTIPOINT") => CastType::Other("MULTIPOINT"),
            _ if is("MULTILINESTRING") => CastType::Other("MULTILINESTRING"),
            _ if is("MULTIPOLYGON") => CastType::Other("MULTIPOLYGON"),
            _ if is("GEOMETRYCOLLECTION") || is("GEOMCOLLECTION") => CastType::Other("GEOMETRYCOLLECTION"),
            _ if is("INET4") => CastType::Other("INET4"),
            _ if is("INET6") => CastType::Other("INET6"),
            _ if is("UUID") => CastType::Other("UUID"),
            _ => {
                self.back_to(start);
                return self.unexpected();
            }
        })
    }

    /// `(n)`
    fn length(&mut self) -> Parsed<Option<u64>> {
        if !self.accept_token(&Token::LParen) {
            return Ok(None);
        }
        let length = self.number()?;
        self.expect_token(&Token::RParen)?;
        Ok(Some(length))
    }

    /// `(m[, d])`
    fn digits(&mut self) -> Parsed<Option<(u64, Option<u64>)>> {
        if !self.accept_token(&Token::LParen) {
            return Ok(None);
        }
        let all = self.number()?;
        let fraction = if self.accept_token(&Token::Comma) { Some(self.number()?) } else { None };
        self.expect_token(&Token::RParen)?;
        Ok(Some((all, fraction)))
    }

    fn named_charset(&mut self, name: &str) -> CastCharset {
        CastCharset::Named(Name { text: self.interned(name), span: self.span_from(self.end_of_last()) })
    }

    fn national(&mut self) -> CastCharset {
        self.named_charset("utf8mb3")
    }

    /// `CHARACTER SET name`, and older words for some of them.
    fn cast_charset(&mut self) -> Parsed<CastCharset> {
        if self.accept("CHARACTER SET") || self.accept("CHARSET") || self.accept("CHAR SET") {
            return Ok(CastCharset::Named(self.charset_name()?));
        }
        match self.accept_one(&["ASCII", "UNICODE", "BYTE", "BINARY"]) {
            None => Ok(CastCharset::Connection),
            Some("ASCII") => Ok(self.named_charset("latin1")),
            Some("UNICODE") => Ok(self.named_charset("ucs2")),
            Some("BYTE") => Ok(self.named_charset("binary")),
            Some(_) => Err(ParseError::not_supported("CAST(… AS CHAR BINARY)")),
        }
    }

    /// The name of a character set, with quotes of any kind or without.
    pub(super) fn charset_name(&mut self) -> Parsed<Name> {
        if self.next_are("BINARY") { self.any_name() } else { self.collation() }
    }
}
