//! Operators, by their binding strengths.
//!
//! | strength | operators | operands |
//! |---|---|---|
//! | OR | `OR`, `\|\|` | a list |
//! | XOR | `XOR` | |
//! | AND | `AND`, `&&` | a list |
//! | NOT | `NOT` before its operand | |
//! | COMPARE | `=`, `<`, …, `= ANY (…)`, `IS` | the right one is a predicate |
//! | PREDICATE | `IN`, `BETWEEN`, `LIKE`, `REGEXP`, `MEMBER OF`, `SOUNDS LIKE` | the upper bound of BETWEEN may be a predicate |
//! | BIT_OR … COLLATE | arithmetic | |
//!
//! A predicate is no operand of what binds more tightly: `a IN (1) + 1` is an error. What is added to an INTERVAL that stands first reaches up to an
//! AND: `INTERVAL 1 DAY + a = b` adds to the comparison.

use super::{Parser, is};
use crate::ast::{ArithmeticOp, BinaryOp, BitOp, CompareOp, Expr, ExprKind, IsTest, Quantified, UnaryOp};
use crate::error::Parsed;
use crate::token::Token;

/// Binding strengths, loosest first.
pub(super) mod strength {
    pub(in crate::grammar) const OR: u8 = 1;
    pub(in crate::grammar) const XOR: u8 = 2;
    pub(in crate::grammar) const AND: u8 = 3;
    pub(in crate::grammar) const NOT: u8 = 4;
    pub(in crate::grammar) const COMPARE: u8 = 5;
    pub(in crate::grammar) const PREDICATE: u8 = 6;
    pub(in crate::grammar) const BIT_OR: u8 = 7;
    pub(in crate::grammar) const BIT_AND: u8 = 8;
    pub(in crate::grammar) const SHIFT: u8 = 9;
    pub(in crate::grammar) const ADD: u8 = 10;
    pub(in crate::grammar) const MULTIPLY: u8 = 11;
    pub(in crate::grammar) const BIT_XOR: u8 = 12;
    pub(in crate::grammar) const CONCAT: u8 = 13;
    /// Signs, `~`, `!`, BINARY.
    pub(in crate::grammar) const SIGN: u8 = 14;
    pub(in crate::grammar) const COLLATE: u8 = 15;
}

/// An operator behind an operand.
#[derive(Clone, Copy)]
enum Infix {
    Or,
    And,
    Binary(BinaryOp),
    Is,
    In,
    Between,
    Like,
    Regexp,
    MemberOf,
    Collate,
}

/// An operator that comes next.
#[derive(Clone, Copy)]
struct Next {
    infix: Infix,
    strength: u8,
    /// How many tokens it has.
    tokens: usize,
    /// One of them is NOT.
    negated: bool,
}

impl Next {
    fn new(infix: Infix, strength: u8) -> Self {
        Next { infix, strength, tokens: 1, negated: false }
    }

    fn binary(op: BinaryOp, strength: u8) -> Self {
        Next::new(Infix::Binary(op), strength)
    }
}

impl<'a> Parser<'a> {
    /// An expression.
    ///
    /// # Errors
    /// 1064 if there is none, 1436 if it is too deep, and what a query in it is refused for.
    pub fn expr(&mut self) -> Parsed<Expr> {
        self.expr_of(strength::OR)
    }

    /// An expression whose operators bind at least so tightly.
    pub(super) fn expr_of(&mut self, least: u8) -> Parsed<Expr> {
        self.enter()?;
        let around = std::mem::replace(&mut self.reach, self.depth);
        let start = self.offset();
        let (first, most) = self.first_operand(least)?;
        let expr = self.operators(first, start, (least, most))?;
        self.reach = self.reach.max(around);
        self.leave();
        Ok(expr)
    }

    /// The operators behind a first operand, which began at an offset, and their other operands. The first one binds at most so tightly: one that
    /// binds more tightly would have been its operand's.
    pub(super) fn operators(&mut self, first: Expr, start: usize, (least, mut most): (u8, u8)) -> Parsed<Expr> {
        let mut expr = first;
        while let Some(next) = self.next_operator() {
            if next.strength < least || next.strength > most {
                break;
            }
            self.skip(next.tokens);
            self.operation(&mut expr, next)?;
            expr.span = self.span_from(start);
            // Behind its unit an interval is whole.
            most = if adds_interval(&expr) { u8::MAX } else { next.strength };
        }
        Ok(expr)
    }

    /// The first operand, and how tightly an operator behind it may bind.
    fn first_operand(&mut self, least: u8) -> Parsed<(Expr, u8)> {
        let is_not =
            self.peek_word().is_some_and(|word| is(word, "NOT")) && !matches!(self.peek_at(1), Some(Token::Period));
        if !is_not {
            return Ok((self.operand()?, u8::MAX));
        }
        let is_tight = self.mode.has(types::SqlMode::HIGH_NOT_PRECEDENCE);
        let (op, strength) = if is_tight { (UnaryOp::Bang, strength::SIGN) } else { (UnaryOp::Not, strength::NOT) };
        if least > strength {
            return self.unexpected();
        }
        let start = self.offset();
        self.skip(1);
        let inner = self.expr_of(strength)?;
        let kind = ExprKind::Unary(op, Box::new(inner));
        Ok((Expr { kind, span: self.span_from(start) }, if is_tight { u8::MAX } else { strength }))
    }

    fn next_operator(&self) -> Option<Next> {
        use ArithmeticOp as A;
        use BinaryOp as B;
        let compare = |op| Next::binary(B::Compare(op), strength::COMPARE);
        Some(match self.peek()? {
            Token::Word(word) => return self.next_word_operator(word),
            Token::Eq => compare(CompareOp::Eq),
            Token::NullSafeEq => compare(CompareOp::NullSafeEq),
            Token::NotEq => compare(CompareOp::NotEq),
            Token::Less => compare(CompareOp::Less),
            Token::LessEq => compare(CompareOp::LessEq),
            Token::Greater => compare(CompareOp::Greater),
            Token::GreaterEq => compare(CompareOp::GreaterEq),
            Token::Plus => Next::binary(B::Arithmetic(A::Add), strength::ADD),
            Token::Minus => Next::binary(B::Arithmetic(A::Subtract), strength::ADD),
            Token::Star => Next::binary(B::Arithmetic(A::Multiply), strength::MULTIPLY),
            Token::Slash => Next::binary(B::Arithmetic(A::Divide), strength::MULTIPLY),
            Token::Percent => Next::binary(B::Arithmetic(A::Modulo), strength::MULTIPLY),
            Token::AndAnd => Next::new(Infix::And, strength::AND),
            Token::OrOr => Next::new(Infix::Or, strength::OR),
            Token::Concat => Next::binary(B::Concat, strength::CONCAT),
            Token::Pipe => Next::binary(B::Bit(BitOp::Or), strength::BIT_OR),
            Token::Ampersand => Next::binary(B::Bit(BitOp::And), strength::BIT_AND),
            Token::ShiftLeft => Next::binary(B::Bit(BitOp::ShiftLeft), strength::SHIFT),
            Token::ShiftRight => Next::binary(B::Bit(BitOp::ShiftRight), strength::SHIFT),
            Token::Caret => Next::binary(B::Bit(BitOp::Xor), strength::BIT_XOR),
            _ => return None,
        })
    }

    fn next_word_operator(&self, word: &str) -> Option<Next> {
        let predicate = |word: &str| {
            let infix = match word {
                _ if is(word, "IN") => Infix::In,
                _ if is(word, "LIKE") => Infix::Like,
                _ if is(word, "BETWEEN") => Infix::Between,
                _ if is(word, "REGEXP") || is(word, "RLIKE") => Infix::Regexp,
                _ => return None,
            };
            Some(Next::new(infix, strength::PREDICATE))
        };
        let opens = |ahead: usize| self.peek_at(ahead) == Some(&Token::LParen);
        Some(match word.as_bytes().first()?.to_ascii_uppercase() {
            b'A' if is(word, "AND") => Next::new(Infix::And, strength::AND),
            b'O' if is(word, "OR") => Next::new(Infix::Or, strength::OR),
            b'X' if is(word, "XOR") => Next::binary(BinaryOp::Xor, strength::XOR),
            b'I' if is(word, "IS") => Next::new(Infix::Is, strength::COMPARE),
            b'N' if is(word, "NOT") => Next { tokens: 2, negated: true, ..predicate(self.peek_word_at(1)?)? },
            b'D' if is(word, "DIV") => Next::binary(BinaryOp::Arithmetic(ArithmeticOp::IntDivide), strength::MULTIPLY),
            b'M' if is(word, "MOD") => Next::binary(BinaryOp::Arithmetic(ArithmeticOp::Modulo), strength::MULTIPLY),
            b'M' if is(word, "MEMBER") && self.are_at(1, "OF") && opens(2) => {
                Next { tokens: 2, ..Next::new(Infix::MemberOf, strength::PREDICATE) }
            }
            b'M' if is(word, "MEMBER") && opens(1) => Next::new(Infix::MemberOf, strength::PREDICATE),
            b'S' if is(word, "SOUNDS") && self.are_at(1, "LIKE") => {
                Next { tokens: 2, ..Next::binary(BinaryOp::SoundsLike, strength::PREDICATE) }
            }
            b'C' if is(word, "COLLATE") => Next::new(Infix::Collate, strength::COLLATE),
            _ => return predicate(word),
        })
    }

    /// Reads what follows an operator, and makes `left` its left operand.
    fn operation(&mut self, left: &mut Expr, next: Next) -> Parsed<()> {
        let negated = next.negated;
        match next.infix {
            Infix::And => return self.chained(left, strength::AND),
            Infix::Or => return self.chained(left, strength::OR),
            _ => self.sink()?,
        }
        let reach = self.reach;
        let expr = std::mem::replace(left, Expr::new(ExprKind::Default(None)));
        left.kind = match next.infix {
            Infix::And | Infix::Or => return self.unexpected(),
            Infix::Binary(op) => self.binary(expr, op, next.strength)?,
            Infix::Is => self.is_test(expr)?,
            Infix::In => self.in_list(expr, negated)?,
            Infix::Between => {
                let low = self.expr_of(strength::PREDICATE)?;
                self.expect("AND")?;
                ExprKind::Between(Box::new([expr, low, self.expr_of(strength::PREDICATE)?]), negated)
            }
            Infix::Like => {
                let pattern = self.expr_of(strength::BIT_OR)?;
                let escape = if self.accept("ESCAPE") { Some(Box::new(self.expr_of(strength::CONCAT)?)) } else { None };
                ExprKind::Like(Box::new([expr, pattern]), escape, negated)
            }
            Infix::Regexp => ExprKind::Regexp(Box::new([expr, self.expr_of(strength::BIT_OR)?]), negated),
            Infix::MemberOf => {
                self.expect_token(&Token::LParen)?;
                let array = self.expr()?;
                self.expect_token(&Token::RParen)?;
                ExprKind::Binary(Box::new(expr), BinaryOp::MemberOf, Box::new(array))
            }
            Infix::Collate => ExprKind::Collate(Box::new(expr), self.collation()?),
        };
        self.reach = self.reach.max(reach);
        Ok(())
    }

    /// One more operand of AND or OR, which are lists.
    fn chained(&mut self, left: &mut Expr, strength: u8) -> Parsed<()> {
        let is_chain = match left.kind {
            ExprKind::And(_) => strength == strength::AND,
            ExprKind::Or(_) => strength == strength::OR,
            _ => false,
        };
        if !is_chain {
            self.sink()?;
            let first = std::mem::replace(left, Expr::new(ExprKind::Default(None)));
            let operands = vec![first];
            left.kind = if strength == strength::AND { ExprKind::And(operands) } else { ExprKind::Or(operands) };
        }
        let reach = self.reach;
        let operand = self.expr_of(strength + 1)?;
        self.reach = self.reach.max(reach);
        if let ExprKind::And(operands) | ExprKind::Or(operands) = &mut left.kind {
            base::memory::check_room(operands, 1)?;
            operands.push(operand);
        }
        Ok(())
    }

    fn binary(&mut self, left: Expr, op: BinaryOp, strength: u8) -> Parsed<ExprKind> {
        let right = match op {
            BinaryOp::Compare(op) => {
                if op != CompareOp::NullSafeEq
                    && let Some(all) = self.accept_quantifier()
                {
                    let query = self.subquery()?;
                    return Ok(ExprKind::Quantified(Box::new(Quantified { left, op, all, query })));
                }
                self.expr_of(strength::PREDICATE)?
            }
            BinaryOp::SoundsLike => self.expr_of(strength::BIT_OR)?,
            BinaryOp::Arithmetic(ArithmeticOp::Add | ArithmeticOp::Subtract) if self.begins_interval() => {
                let start = self.offset();
                let kind = self.interval()?;
                let is_call = matches!(kind, ExprKind::Call(_));
                let right = Expr { kind, span: self.span_from(start) };
                if is_call { self.operators(right, start, (strength + 1, u8::MAX))? } else { right }
            }
            _ => self.expr_of(strength + 1)?,
        };
        Ok(ExprKind::Binary(Box::new(left), op, Box::new(right)))
    }

    /// ANY, SOME or ALL in front of a query: whether it is ALL.
    fn accept_quantifier(&mut self) -> Option<bool> {
        if self.peek_at(1) != Some(&Token::LParen) {
            return None;
        }
        self.accept_one(&["ANY", "SOME", "ALL"]).map(|word| word == "ALL")
    }

    fn is_test(&mut self, expr: Expr) -> Parsed<ExprKind> {
        let negated = self.accept("NOT");
        let test = match self.expect_one(&["NULL", "TRUE", "FALSE", "UNKNOWN"])? {
            "NULL" => IsTest::Null,
            "TRUE" => IsTest::True,
            "FALSE" => IsTest::False,
            _ => IsTest::Unknown,
        };
        Ok(ExprKind::Is(Box::new(expr), test, negated))
    }

    /// The list of IN, or its query.
    fn in_list(&mut self, expr: Expr, negated: bool) -> Parsed<ExprKind> {
        self.expect_token(&Token::LParen)?;
        if self.begins_query() {
            let query = self.inner_query()?;
            self.expect_token(&Token::RParen)?;
            return Ok(ExprKind::InQuery(Box::new(expr), Box::new(query), negated));
        }
        let mut first = self.expr()?;
        if let ExprKind::Subquery(query) = first.kind {
            let query = Box::new(self.whole_query(*query)?);
            if self.accept_token(&Token::RParen) {
                return Ok(ExprKind::InQuery(Box::new(expr), query, negated));
            }
            first.kind = ExprKind::Subquery(query);
        }
        let list = self.list_behind(first, Self::expr)?;
        self.expect_token(&Token::RParen)?;
        Ok(ExprKind::In(Box::new(expr), list, negated))
    }
}

/// Whether an expression is `date + INTERVAL …`, or has a minus there.
fn adds_interval(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(_, BinaryOp::Arithmetic(ArithmeticOp::Add | ArithmeticOp::Subtract), right) => {
            matches!(right.kind, ExprKind::Interval(..))
        }
        _ => false,
    }
}
