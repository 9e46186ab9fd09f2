//! OVER and WINDOW.

use super::Parser;
use super::expr::strength;
use crate::ast::{Bound, Expr, Frame, FrameUnit, NamedWindow, Over, Window};
use crate::error::Parsed;
use crate::token::Token;
use crate::words::may_be_name;

impl<'a> Parser<'a> {
    /// Whether OVER comes next with a window behind it: it may also be a name.
    pub(super) fn begins_over(&self) -> bool {
        let names_window = match self.peek_at(1) {
            Some(Token::LParen | Token::Name(_)) => true,
            Some(Token::Word(word)) => may_be_name(word),
            _ => false,
        };
        names_window && self.next_are("OVER")
    }

    pub(super) fn over(&mut self) -> Parsed<Over> {
        self.expect("OVER")?;
        if self.next_is(&Token::LParen) {
            return Ok(Over::Window(Box::new(self.window()?)));
        }
        Ok(Over::Name(self.name()?))
    }

    /// `name AS (…)`
    pub(super) fn named_window(&mut self) -> Parsed<NamedWindow> {
        let name = self.name()?;
        self.expect("AS")?;
        Ok(NamedWindow { name, window: self.window()? })
    }

    fn window(&mut self) -> Parsed<Window> {
        self.expect_token(&Token::LParen)?;
        self.enter()?;
        let mut window = Window::default();
        let begins_clause = ["PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS"].iter().any(|word| self.next_are(word));
        if !begins_clause && !self.next_is(&Token::RParen) {
            window.base = Some(self.name()?);
        }
        if self.accept("PARTITION BY") {
            window.partition_by = self.list(Self::expr)?;
        }
        window.order_by = self.order_by()?;
        window.frame = self.frame()?;
        self.leave();
        self.expect_token(&Token::RParen)?;
        Ok(window)
    }

    fn frame(&mut self) -> Parsed<Option<Frame>> {
        let unit = match self.accept_one(&["ROWS", "RANGE", "GROUPS"]) {
            None => return Ok(None),
            Some("ROWS") => FrameUnit::Rows,
            Some("RANGE") => FrameUnit::Range,
            Some(_) => FrameUnit::Groups,
        };
        let (start, end) = if self.accept("BETWEEN") {
            let start = self.bound()?;
            self.expect("AND")?;
            (start, Some(self.bound()?))
        } else {
            (self.bound()?, None)
        };
        let exclude = match self.accept("EXCLUDE") {
            true => Some(self.expect_one(&["NO OTHERS", "CURRENT ROW", "GROUP", "TIES"])?),
            false => None,
        };
        Ok(Some(Frame { unit, start, end, exclude }))
    }

    fn bound(&mut self) -> Parsed<Bound> {
        if self.accept("CURRENT ROW") {
            return Ok(Bound::CurrentRow);
        }
        if self.accept("UNBOUNDED") {
            return Ok(match self.expect_one(&["PRECEDING", "FOLLOWING"])? {
                "PRECEDING" => Bound::UnboundedPreceding,
                _ => Bound::UnboundedFollowing,
            });
        }
        let start = self.offset();
        let distance = match self.begins_interval() {
            true => {
                let kind = self.interval()?;
                Expr { kind, span: self.span_from(start) }
            }
            // It ends before AND.
            false => self.expr_of(strength::BIT_OR)?,
        };
        Ok(match self.expect_one(&["PRECEDING", "FOLLOWING"])? {
            "PRECEDING" => Bound::Preceding(distance),
            _ => Bound::Following(distance),
        })
    }
}
