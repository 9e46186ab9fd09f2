//! Calls of functions.

use super::{Parser, is};
use crate::ast::{Call, CallClauses, ExprKind, Literal, Name, Text};
use crate::error::Parsed;
use crate::token::Token;

/// Aggregates that may have DISTINCT.
const DISTINCT: [&str; 8] = ["AVG", "COUNT", "GROUP_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "MAX", "MIN", "SUM"];

/// Functions that may have ALL.
const AGGREGATES: [&str; 21] = [
    "ANY_VALUE",
    "AVG",
    "BIT_AND",
    "BIT_OR",
    "BIT_XOR",
    "COUNT",
    "GROUP_CONCAT",
    "JSON_ARRAYAGG",
    "JSON_OBJECTAGG",
    "MAX",
    "MEDIAN",
    "MIN",
    "STD",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUM",
    "VAR_POP",
    "VAR_SAMP",
    "VARIANCE",
    "ST_COLLECT",
];

impl<'a> Parser<'a> {
    /// A call, whose name is taken.
    pub(super) fn call(&mut self, schema: Option<Name>, name: Name) -> Parsed<ExprKind> {
        if schema.is_none()
            && let Some(special) = self.special_call(&name)?
        {
            return Ok(special);
        }
        self.expect_token(&Token::LParen)?;
        let mut clauses = CallClauses::default();
        let mut args = Vec::new();
        let is_aggregate = schema.is_none() && AGGREGATES.iter().any(|known| is(&name.text, known));
        if is_aggregate {
            clauses.distinct = DISTINCT.iter().any(|known| is(&name.text, known)) && self.accept("DISTINCT");
            let _ = !clauses.distinct && self.accept("ALL");
        }
        if !clauses.distinct && is(&name.text, "COUNT") && self.accept_token(&Token::Star) {
            clauses.star = true;
        } else if !self.next_is(&Token::RParen) || is(&name.text, "GROUPING") {
            args = self.list(Self::expr)?;
        }
        if is_aggregate {
            self.clauses_of_group_concat(&name, &mut clauses)?;
        }
        self.expect_token(&Token::RParen)?;
        self.window_clauses(&name, &mut clauses)?;
        let clauses = (clauses != CallClauses::default()).then(|| Box::new(clauses));
        Ok(ExprKind::Call(Box::new(Call { schema, clauses, ..Call::new(name, args) })))
    }

    /// ORDER BY, SEPARATOR and LIMIT.
    fn clauses_of_group_concat(&mut self, name: &Name, clauses: &mut CallClauses) -> Parsed<()> {
        let is_concat = is(&name.text, "GROUP_CONCAT");
        if !is_concat && !is(&name.text, "JSON_ARRAYAGG") {
            return Ok(());
        }
        clauses.order_by = self.order_by()?;
        if is_concat && self.accept("SEPARATOR") {
            clauses.separator = Some(match self.peek() {
                Some(Token::Hex(digits)) => Literal::Hex(Box::from(&**digits)),
                Some(Token::Bits(digits)) => Literal::Bits(Box::from(&**digits)),
                Some(Token::Text(text)) => Literal::Text(Text::new(text)),
                _ => return self.unexpected(),
            });
            self.skip(1);
        }
        clauses.limit = self.limit_clause()?;
        Ok(())
    }

    /// What may stand behind a call: `WITHIN GROUP (ORDER BY …)`, `FROM LAST`, `IGNORE NULLS`, OVER.
    fn window_clauses(&mut self, name: &Name, clauses: &mut CallClauses) -> Parsed<()> {
        let is_percentile = is(&name.text, "PERCENTILE_CONT") || is(&name.text, "PERCENTILE_DISC");
        if is_percentile && self.accept("WITHIN GROUP") {
            self.expect_token(&Token::LParen)?;
            self.expect("ORDER BY")?;
            clauses.within_group = Some(self.order_item()?);
            self.expect_token(&Token::RParen)?;
        }
        if is(&name.text, "NTH_VALUE") && (self.next_are("FROM FIRST") || self.next_are("FROM LAST")) {
            clauses.from_last = self.next_are("FROM LAST");
            self.skip(2);
        }
        if self.next_are("RESPECT NULLS") || self.next_are("IGNORE NULLS") {
            clauses.ignore_nulls = self.next_are("IGNORE NULLS");
            self.skip(2);
        }
        if self.begins_over() {
            clauses.over = Some(self.over()?);
        }
        Ok(())
    }
}
