//! Calls that are written with words between their arguments. Where a function takes commas, too, that is the form that the tree has.
//!
//! | text | tree |
//! |---|---|
//! | `CAST(a AS type)`, `CONVERT(a, type)` | `ExprKind::Cast` |
//! | `CONVERT(a USING charset)`, `CHAR(a USING charset)` | `ExprKind::ConvertUsing`, of a call of CHAR |
//! | `EXTRACT(unit FROM a)`, `TRIM(side b FROM a)`, `JSON_VALUE(…)`, `MATCH (…) AGAINST (…)` | kinds of their own |
//! | `POSITION(a IN b)` | `LOCATE(a, b)` |
//! | `SUBSTRING(a FROM b FOR c)` | `SUBSTRING(a, b, c)` |
//! | `TIMESTAMPADD(unit, a, b)`, `GET_FORMAT(type, a)`, `WEIGHT_STRING(a AS type(n))` | calls with a word |
//! | `DATE_ADD(a, INTERVAL b unit)` | a call, whose second argument is an interval |
//! | `VALUES(column)` | `ExprKind::Values` |

use super::expr::strength;
use super::{Parser, is};
use crate::ast::{Call, CastType, Expr, ExprKind, JsonBehavior, JsonValue, Literal, Match, MatchMode, Name, TrimSide};
use crate::error::{ParseError, Parsed};
use crate::token::Token;

/// What a call of a function with a form of its own is read by.
type Reader<'a> = fn(&mut Parser<'a>, &Name) -> Parsed<ExprKind>;

/// A call with arguments alone.
fn plain(name: &Name, args: Vec<Expr>) -> ExprKind {
    ExprKind::Call(Box::new(Call::new(name.clone(), args)))
}

/// A call whose first or last argument is a word.
fn with_word(name: &Name, word: &'static str, args: Vec<Expr>) -> ExprKind {
    ExprKind::Call(Box::new(Call { word: Some(word), ..Call::new(name.clone(), args) }))
}

impl<'a> Parser<'a> {
    /// A call with a form of its own, from its parenthesis on; `None` of any other function.
    pub(super) fn special_call(&mut self, name: &Name) -> Parsed<Option<ExprKind>> {
        let is = |known: &str| is(&name.text, known);
        let read: Reader<'a> = match name.text.as_bytes().first().map(u8::to_ascii_uppercase) {
            Some(b'A') if is("ADDDATE") => Self::date_call,
            Some(b'C') if is("CAST") => Self::cast_call,
            Some(b'C') if is("CONVERT") => Self::convert,
            Some(b'C') if is("CHAR") || is("CHARACTER") => Self::char_call,
            Some(b'D') if is("DATE_ADD") || is("DATE_SUB") => Self::date_call,
            Some(b'E') if is("EXTRACT") => Self::extract,
            Some(b'G') if is("GET_FORMAT") => Self::get_format,
            Some(b'J') if is("JSON_VALUE") => Self::json_value,
            Some(b'M') if is("MATCH") => Self::match_against,
            Some(b'M') if is("MID") => Self::substring,
            Some(b'P') if is("POSITION") => Self::position,
            Some(b'S') if is("SUBSTRING") || is("SUBSTR") => Self::substring,
            Some(b'S') if is("SUBDATE") => Self::date_call,
            Some(b'T') if is("TRIM") => Self::trim,
            Some(b'T') if is("TIMESTAMPADD") || is("TIMESTAMPDIFF") => Self::timestamp_call,
            Some(b'V') if is("VALUES") || is("VALUE") => Self::values_call,
            Some(b'W') if is("WEIGHT_STRING") => Self::weight_string,
            _ => return Ok(None),
        };
        self.expect_token(&Token::LParen)?;
        let kind = read(self, name)?;
        self.expect_token(&Token::RParen)?;
        Ok(Some(kind))
    }

    fn cast_call(&mut self, _: &Name) -> Parsed<ExprKind> {
        let expr = Box::new(self.expr()?);
        if self.next_are("AT") {
            return Err(ParseError::not_supported("CAST(… AT TIME ZONE …)"));
        }
        self.expect("AS")?;
        let ty = self.cast_type()?;
        if self.next_are("ARRAY") {
            return Err(ParseError::not_supported("CAST(… AS … ARRAY)"));
        }
        Ok(ExprKind::Cast(expr, ty))
    }

    fn convert(&mut self, _: &Name) -> Parsed<ExprKind> {
        let expr = Box::new(self.expr()?);
        if self.accept("USING") {
            return Ok(ExprKind::ConvertUsing(expr, self.charset_name()?));
        }
        self.expect_token(&Token::Comma)?;
        Ok(ExprKind::Cast(expr, self.cast_type()?))
    }

    fn char_call(&mut self, name: &Name) -> Parsed<ExprKind> {
        let start = name.span.start as usize;
        let args = self.list(Self::expr)?;
        let name = Name { text: self.interned("CHAR"), span: name.span };
        let call = plain(&name, args);
        if !self.accept("USING") {
            return Ok(call);
        }
        let call = Expr { kind: call, span: self.span_from(start) };
        Ok(ExprKind::ConvertUsing(Box::new(call), self.charset_name()?))
    }

    /// DATE_ADD and its kin: the amount may be an interval, or a number of days.
    fn date_call(&mut self, name: &Name) -> Parsed<ExprKind> {
        let mut args = vec![self.expr()?];
        while self.accept_token(&Token::Comma) {
            if self.begins_interval() {
                let start = self.offset();
                let kind = self.interval()?;
                let interval = Expr { kind, span: self.span_from(start) };
                args.push(match interval.kind {
                    ExprKind::Interval(..) if self.next_is(&Token::RParen) => interval,
                    ExprKind::Interval(..) => self.interval_and_date(interval, start)?,
                    _ => self.operators(interval, start, (strength::OR, u8::MAX))?,
                });
            } else if is(&name.text, "DATE_ADD") || is(&name.text, "DATE_SUB") {
                return self.unexpected();
            } else {
                args.push(self.expr()?);
            }
        }
        Ok(plain(name, args))
    }

    fn extract(&mut self, _: &Name) -> Parsed<ExprKind> {
        let unit = self.unit()?;
        self.expect("FROM")?;
        Ok(ExprKind::Extract(unit, Box::new(self.expr()?)))
    }

    fn get_format(&mut self, name: &Name) -> Parsed<ExprKind> {
        let word = self.expect_one(&["DATE", "TIME", "DATETIME", "TIMESTAMP"])?;
        self.expect_token(&Token::Comma)?;
        let region = self.expr()?;
        Ok(with_word(name, word, vec![region]))
    }

    fn timestamp_call(&mut self, name: &Name) -> Parsed<ExprKind> {
        let unit = self.unit()?;
        self.expect_token(&Token::Comma)?;
        let first = self.expr()?;
        self.expect_token(&Token::Comma)?;
        let second = self.expr()?;
        Ok(with_word(name, unit.name(), vec![first, second]))
    }

    fn position(&mut self, name: &Name) -> Parsed<ExprKind> {
        // What is looked for ends before IN, which would be an operator.
        let what = self.expr_of(strength::BIT_OR)?;
        self.expect("IN")?;
        let text = self.expr()?;
        let name = Name { text: self.interned("LOCATE"), span: name.span };
        Ok(plain(&name, vec![what, text]))
    }

    fn substring(&mut self, name: &Name) -> Parsed<ExprKind> {
        let first = self.expr()?;
        if !self.accept("FROM") {
            return Ok(plain(name, self.list_behind(first, Self::expr)?));
        }
        let mut args = vec![first, self.expr()?];
        args.extend(self.expr_behind("FOR")?);
        Ok(plain(name, args))
    }

    fn trim(&mut self, _: &Name) -> Parsed<ExprKind> {
        let side = match self.accept_one(&["BOTH", "LEADING", "TRAILING"]) {
            Some("LEADING") => TrimSide::Leading,
            Some("TRAILING") => TrimSide::Trailing,
            Some(_) => TrimSide::Both,
            None => {
                let first = Box::new(self.expr()?);
                if !self.accept("FROM") {
                    return Ok(ExprKind::Trim(TrimSide::Both, None, first));
                }
                return Ok(ExprKind::Trim(TrimSide::Both, Some(first), Box::new(self.expr()?)));
            }
        };
        let what = if self.next_are("FROM") { None } else { Some(Box::new(self.expr()?)) };
        self.expect("FROM")?;
        Ok(ExprKind::Trim(side, what, Box::new(self.expr()?)))
    }

    fn values_call(&mut self, _: &Name) -> Parsed<ExprKind> {
        Ok(ExprKind::Values(Box::new(self.column_path()?)))
    }

    /// `WEIGHT_STRING(a [AS CHAR(n) | AS BINARY(n)])`
    fn weight_string(&mut self, name: &Name) -> Parsed<ExprKind> {
        let mut args = vec![self.expr()?];
        if !self.accept("AS") {
            return Ok(plain(name, args));
        }
        let word = self.expect_one(&["CHAR", "BINARY"])?;
        self.expect_token(&Token::LParen)?;
        let at = self.offset();
        let length = self.number()?;
        if length == 0 {
            return Err(ParseError::syntax(at));
        }
        self.expect_token(&Token::RParen)?;
        args.push(Expr::new(ExprKind::Literal(Literal::Number(length.to_string().into()))));
        Ok(with_word(name, word, args))
    }

    fn json_value(&mut self, _: &Name) -> Parsed<ExprKind> {
        let document = self.expr()?;
        self.expect_token(&Token::Comma)?;
        let path = self.expr()?;
        let returning: Option<CastType> = if self.accept("RETURNING") { Some(self.cast_type()?) } else { None };
        let (mut on_empty, mut on_error) = (JsonBehavior::Null, JsonBehavior::Null);
        for _ in 0..2 {
            let behavior = match self.accept_one(&["NULL", "ERROR", "DEFAULT"]) {
                None => break,
                Some("NULL") => JsonBehavior::Null,
                Some("ERROR") => JsonBehavior::Error,
                Some(_) => JsonBehavior::Default(self.expr_of(strength::SIGN)?),
            };
            self.expect("ON")?;
            match self.expect_one(&["EMPTY", "ERROR"])? {
                "EMPTY" => on_empty = behavior,
                _ => {
                    on_error = behavior;
                    break;
                }
            }
        }
        Ok(ExprKind::JsonValue(Box::new(JsonValue { document, path, returning, on_empty, on_error })))
    }

    /// `MATCH (a, b) AGAINST ('text' …)`, without its last parenthesis.
    fn match_against(&mut self, _: &Name) -> Parsed<ExprKind> {
        let columns = self.list(Self::expr)?;
        self.expect_token(&Token::RParen)?;
        self.against(columns)
    }

    /// `MATCH a, b AGAINST ('text' …)`
    pub(super) fn bare_match(&mut self) -> Parsed<ExprKind> {
        self.expect("MATCH")?;
        let columns = self.list(|parser| parser.expr_of(strength::SIGN))?;
        let kind = self.against(columns)?;
        self.expect_token(&Token::RParen)?;
        Ok(kind)
    }

    fn against(&mut self, columns: Vec<Expr>) -> Parsed<ExprKind> {
        self.expect("AGAINST")?;
        self.expect_token(&Token::LParen)?;
        // What is looked for ends before IN, which would be an operator.
        let against = self.expr_of(strength::BIT_OR)?;
        let mut mode = MatchMode::Natural;
        if self.accept("IN BOOLEAN MODE") {
            mode = MatchMode::Boolean;
        } else {
            let _ = self.accept("IN NATURAL LANGUAGE MODE");
            if self.accept("WITH QUERY EXPANSION") {
                mode = MatchMode::Expansion;
            }
        }
        Ok(ExprKind::Match(Box::new(Match { columns, against, mode })))
    }
}
