//! What stands between operators: literals, names, parentheses, CASE.

use std::sync::Arc;

use super::expr::strength;
use super::{Parser, is};
use crate::ast::{
    ArithmeticOp, BinaryOp, Call, Case, CastType, Expr, ExprKind, IntervalUnit, Literal, Name, TemporalKind, Text,
    UnaryOp, When,
};
use crate::error::{ParseError, Parsed};
use crate::span::Span;
use crate::token::Token;
use crate::words::{introduces_text, is_reserved_elsewhere, may_be_name, may_begin_expression};

/// Reserved words that are calls without parentheses.
const CALLS_WITHOUT_PARENTHESES: [&str; 9] = [
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
];

impl<'a> Parser<'a> {
    /// An operand with the signs in front of it.
    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        let start = self.offset();
        let kind = self.operand_kind()?;
        Ok(Expr { kind, span: self.span_from(start) })
    }

    /// A literal without sign, a variable, or a name: what SIGNAL sets, and the number of a condition.
    ///
    /// # Errors
    /// 1064 if something else comes.
    pub fn simple_value(&mut self) -> Parsed<Expr> {
        let start = self.offset();
        let value = match self.peek() {
            Some(Token::LParen | Token::LBrace) => return self.unexpected(),
            _ => self.operand()?,
        };
        match &value.kind {
            ExprKind::Literal(_) | ExprKind::Introduced(..) | ExprKind::Temporal(..) | ExprKind::Column(_) => Ok(value),
            ExprKind::UserVariable(_) | ExprKind::SystemVariable(..) | ExprKind::Param(_) => Ok(value),
            _ => Err(ParseError::syntax(start)),
        }
    }

    fn operand_kind(&mut self) -> Parsed<ExprKind> {
        Ok(match self.peek() {
            Some(Token::Word(word)) => {
                let word = *word;
                return self.word(word);
            }
            Some(Token::Name(_)) => {
                let name = self.any_name()?;
                return self.named(name);
            }
            Some(Token::Number(digits)) => {
                let digits = Box::from(*digits);
                self.skip(1);
                ExprKind::Literal(Literal::Number(digits))
            }
            Some(Token::Text(_)) => ExprKind::Literal(Literal::Text(self.text_parts()?)),
            Some(Token::NationalText(_) | Token::Hex(_) | Token::Bits(_)) => ExprKind::Literal(self.bytes_literal()?),
            Some(Token::Param(number)) => {
                let number = *number;
                self.skip(1);
                ExprKind::Param(number)
            }
            Some(Token::Variable(name)) => {
                let name = Arc::from(&**name);
                self.skip(1);
                if !self.accept_token(&Token::Assign) {
                    return Ok(ExprKind::UserVariable(name));
                }
                ExprKind::Assign(name, Box::new(self.expr()?))
            }
            Some(Token::SystemVariable(first)) => {
                let first = Arc::from(&**first);
                self.skip(1);
                self.system_variable(first)?
            }
            Some(Token::LParen) => return self.parenthesis(),
            Some(Token::LBrace) => return self.escape(),
            Some(Token::Minus) => return self.signed(UnaryOp::Minus),
            Some(Token::Plus) => return self.signed(UnaryOp::Plus),
            Some(Token::Tilde) => return self.signed(UnaryOp::BitNot),
            Some(Token::Bang) => return self.signed(UnaryOp::Bang),
            _ => return self.unexpected(),
        })
    }

    fn signed(&mut self, op: UnaryOp) -> Parsed<ExprKind> {
        self.skip(1);
        Ok(ExprKind::Unary(op, Box::new(self.expr_of(strength::SIGN)?)))
    }

    /// `.name` of a system variable, up to two: `@@global.default.key_buffer_size`.
    fn system_variable(&mut self, first: Arc<str>) -> Parsed<ExprKind> {
        let mut rest: Option<String> = None;
        for _ in 0..2 {
            if !self.accept_token(&Token::Period) {
                break;
            }
            let part = if matches!(self.peek(), Some(Token::Text(_))) {
                self.string()?
            } else {
                self.any_name()?.text.to_string()
            };
            rest = Some(rest.map_or(part.clone(), |rest| format!("{rest}.{part}")));
        }
        Ok(ExprKind::SystemVariable(first, rest.map(Arc::from)))
    }

    /// Text in one part or in several.
    pub(super) fn text_parts(&mut self) -> Parsed<Text> {
        let first = self.string()?;
        Ok(self.parts_behind(first))
    }

    /// The other parts of text whose first one is taken.
    fn parts_behind(&mut self, mut text: String) -> Text {
        let first = text.len();
        while let Some(Token::Text(more)) = self.peek() {
            text.push_str(more);
            self.skip(1);
        }
        Text { text: text.into(), first }
    }

    /// `N'text'`, `x'4A'`, `b'01'`
    fn bytes_literal(&mut self) -> Parsed<Literal> {
        match self.next() {
            Some(Token::Hex(digits)) => Ok(Literal::Hex(digits.into())),
            Some(Token::Bits(digits)) => Ok(Literal::Bits(digits.into())),
            Some(Token::NationalText(first)) => Ok(Literal::National(self.parts_behind(first.into_owned()))),
            _ => self.unexpected(),
        }
    }

    /// `(a)`, `(a, b)`, `(SELECT …)`
    fn parenthesis(&mut self) -> Parsed<ExprKind> {
        self.skip(1);
        if self.begins_query() {
            let query = self.inner_query()?;
            self.expect_token(&Token::RParen)?;
            return Ok(ExprKind::Subquery(Box::new(query)));
        }
        let first = self.expr()?;
        if let ExprKind::Subquery(query) = first.kind {
            let query = Box::new(self.whole_query(*query)?);
            if self.accept_token(&Token::RParen) {
                return Ok(ExprKind::Subquery(query));
            }
            return self.row(Expr { kind: ExprKind::Subquery(query), span: first.span });
        }
        if self.accept_token(&Token::RParen) {
            return Ok(ExprKind::Nested(Box::new(first)));
        }
        self.row(first)
    }

    /// The rest of `(a, b)`.
    fn row(&mut self, first: Expr) -> Parsed<ExprKind> {
        let parts = self.list_behind(first, Self::expr)?;
        if parts.len() == 1 {
            return self.unexpected();
        }
        self.expect_token(&Token::RParen)?;
        Ok(ExprKind::Row(parts))
    }

    /// ODBC's `{d '2020-01-01'}`; any other word in front of an expression means nothing.
    fn escape(&mut self) -> Parsed<ExprKind> {
        self.skip(1);
        let word = self.any_name()?;
        let kind = match &*word.text.to_ascii_lowercase() {
            "d" => Some(TemporalKind::Date),
            "t" => Some(TemporalKind::Time),
            "ts" => Some(TemporalKind::Timestamp),
            _ => None,
        };
        let inner = match kind {
            Some(kind) if matches!(self.peek(), Some(Token::Text(_))) => {
                ExprKind::Temporal(kind, Box::new(Text::new(&self.string()?)))
            }
            _ => ExprKind::Nested(Box::new(self.expr()?)),
        };
        self.expect_token(&Token::RBrace)?;
        Ok(inner)
    }

    /// What begins with a word without quotes.
    fn word(&mut self, word: &'a str) -> Parsed<ExprKind> {
        let (is_called, is_dotted) = (self.peek_at(1) == Some(&Token::LParen), self.peek_at(1) == Some(&Token::Period));
        // A reserved word is a name where a period touches it.
        if is_dotted && (may_be_name(word) || self.touches_next()) {
            let name = self.any_name()?;
            return self.named(name);
        }
        if let Some(found) = self.keyword(word, is_called)? {
            return Ok(found);
        }
        if !may_begin_expression(word, is_called) {
            return self.unexpected();
        }
        if !is_called && is_reserved_elsewhere(word) {
            self.unquoted.push(self.range_of(self.place()));
        }
        let name = self.any_name()?;
        self.named(name)
    }

    /// What a keyword begins that is neither a name nor a usual call.
    fn keyword(&mut self, word: &str, is_called: bool) -> Parsed<Option<ExprKind>> {
        let literal = |parser: &mut Self, literal| {
            parser.skip(1);
            Ok(Some(ExprKind::Literal(literal)))
        };
        let is = |keyword: &str| is(word, keyword);
        match word.as_bytes().first().map(u8::to_ascii_uppercase) {
            Some(b'N') if is("NULL") => literal(self, Literal::Null),
            Some(b'T') if is("TRUE") => literal(self, Literal::Bool(true)),
            Some(b'F') if is("FALSE") => literal(self, Literal::Bool(false)),
            Some(b'C') if is("CASE") => self.case().map(Some),
            Some(b'D') if is("DEFAULT") && is_called => self.default_of().map(Some),
            Some(b'E') if is("EXISTS") && is_called => {
                self.skip(1);
                self.subquery().map(|query| Some(ExprKind::Exists(Box::new(query))))
            }
            Some(b'B') if is("BINARY") => {
                self.skip(1);
                let inner = self.expr_of(strength::SIGN)?;
                Ok(Some(ExprKind::Cast(Box::new(inner), CastType::Binary(None))))
            }
            Some(b'I') if is("INTERVAL") => self.interval_or_call().map(Some),
            Some(b'M') if is("MATCH") && !is_called => self.bare_match().map(Some),
            Some(b'R') if is("ROW") && is_called => {
                self.skip(2);
                let first = self.expr()?;
                self.row(first).map(Some)
            }
            Some(b'_') => self.introduced(word),
            Some(b'D' | b'T') => self.temporal(word),
            Some(b'C' | b'L' | b'U') if !is_called && CALLS_WITHOUT_PARENTHESES.iter().any(|known| is(known)) => {
                let name = self.any_name()?;
                let call = Call { has_parentheses: false, ..Call::new(name, Vec::new()) };
                Ok(Some(ExprKind::Call(Box::new(call))))
            }
            _ => Ok(None),
        }
    }

    /// `_utf8mb4'text'`
    fn introduced(&mut self, word: &str) -> Parsed<Option<ExprKind>> {
        let literal = match self.peek_at(1) {
            Some(Token::Text(_) | Token::Hex(_) | Token::Bits(_)) if introduces_text(word) => {
                self.skip(1);
                match self.peek() {
                    Some(Token::Text(_)) => Literal::Text(self.text_parts()?),
                    _ => self.bytes_literal()?,
                }
            }
            // Nothing else is named so.
            _ if introduces_text(word) => {
                self.skip(1);
                return self.unexpected();
            }
            _ => return Ok(None),
        };
        Ok(Some(ExprKind::Introduced(Arc::from(&word[1..]), literal)))
    }

    /// `DATE'2020-01-01'`
    fn temporal(&mut self, word: &str) -> Parsed<Option<ExprKind>> {
        let kind = match word {
            _ if is(word, "DATE") => TemporalKind::Date,
            _ if is(word, "TIME") => TemporalKind::Time,
            _ if is(word, "TIMESTAMP") => TemporalKind::Timestamp,
            _ => return Ok(None),
        };
        match self.peek_at(1) {
            Some(Token::Text(_)) => {
                self.skip(1);
                Ok(Some(ExprKind::Temporal(kind, Box::new(Text::new(&self.string()?)))))
            }
            Some(Token::NationalText(_) | Token::Hex(_) | Token::Bits(_)) => {
                self.skip(1);
                self.unexpected()
            }
            _ => Ok(None),
        }
    }

    /// A column, or a call of a function, whose name's first part is taken.
    fn named(&mut self, first: Name) -> Parsed<ExprKind> {
        if self.next_is(&Token::LParen) {
            return self.call(None, first);
        }
        let path = self.column_path_from(first)?;
        if path.schema.is_none() && path.table.is_some() && self.next_is(&Token::LParen) {
            return self.call(path.table, path.name);
        }
        let op = match self.peek() {
            Some(Token::Arrow) => BinaryOp::Arrow,
            Some(Token::LongArrow) => BinaryOp::LongArrow,
            _ => return Ok(ExprKind::Column(Box::new(path))),
        };
        let start = path.schema.as_ref().or(path.table.as_ref()).unwrap_or(&path.name).span;
        self.skip(1);
        let column = Expr { span: start.to(path.name.span), kind: ExprKind::Column(Box::new(path)) };
        let at = self.offset();
        let json_path = ExprKind::Literal(Literal::Text(self.text_parts()?));
        let json_path = Expr { kind: json_path, span: self.span_from(at) };
        Ok(ExprKind::Binary(Box::new(column), op, Box::new(json_path)))
    }

    /// `DEFAULT(column)`
    fn default_of(&mut self) -> Parsed<ExprKind> {
        self.skip(2);
        let path = self.column_path()?;
        self.expect_token(&Token::RParen)?;
        Ok(ExprKind::Default(Some(Box::new(path))))
    }

    fn case(&mut self) -> Parsed<ExprKind> {
        self.skip(1);
        let operand = if self.next_are("WHEN") { None } else { Some(self.expr()?) };
        let mut arms = Vec::new();
        while self.accept("WHEN") {
            base::memory::check_room(&arms, 1)?;
            let condition = self.expr()?;
            self.expect("THEN")?;
            arms.push(When { condition, result: self.expr()? });
        }
        if arms.is_empty() {
            return self.unexpected();
        }
        let otherwise = self.expr_behind("ELSE")?;
        self.expect("END")?;
        Ok(ExprKind::Case(Box::new(Case { operand, arms, otherwise })))
    }

    /// Whether INTERVAL comes next, and not as a function.
    pub(super) fn begins_interval(&self) -> bool {
        self.next_are("INTERVAL") && self.peek_at(1) != Some(&Token::Period)
    }

    /// `INTERVAL a unit + date`, or `INTERVAL(a, b, …)`.
    fn interval_or_call(&mut self) -> Parsed<ExprKind> {
        let start = self.offset();
        let kind = self.interval()?;
        if !matches!(kind, ExprKind::Interval(..)) {
            return Ok(kind);
        }
        let interval = Expr { kind, span: self.span_from(start) };
        self.added_interval(interval)
    }

    /// `+ date` behind an interval.
    fn added_interval(&mut self, interval: Expr) -> Parsed<ExprKind> {
        self.expect_token(&Token::Plus)?;
        let date = self.expr_of(strength::NOT)?;
        Ok(ExprKind::Binary(Box::new(interval), BinaryOp::Arithmetic(ArithmeticOp::Add), Box::new(date)))
    }

    /// An expression that begins with an interval, which is taken.
    pub(super) fn interval_and_date(&mut self, interval: Expr, start: usize) -> Parsed<Expr> {
        let kind = self.added_interval(interval)?;
        let sum = Expr { kind, span: self.span_from(start) };
        self.operators(sum, start, (strength::OR, u8::MAX))
    }

    /// `INTERVAL a unit`, or the function `INTERVAL(a, b, …)`.
    pub(super) fn interval(&mut self) -> Parsed<ExprKind> {
        let word = Span::new(self.offset(), self.offset() + "INTERVAL".len());
        self.skip(1);
        let start = self.offset();
        if !self.next_is(&Token::LParen) {
            return Ok(ExprKind::Interval(Box::new(self.expr()?), self.unit()?));
        }
        let first = self.operand()?;
        if let ExprKind::Row(args) = first.kind {
            return Ok(self.interval_call(word, args));
        }
        // The parentheses are the beginning of the amount only.
        let amount = self.operators(first, start, (strength::OR, u8::MAX))?;
        Ok(ExprKind::Interval(Box::new(amount), self.unit()?))
    }

    fn interval_call(&mut self, span: Span, args: Vec<Expr>) -> ExprKind {
        let name = Name { text: self.interned("INTERVAL"), span };
        ExprKind::Call(Box::new(Call::new(name, args)))
    }

    /// A unit of time.
    ///
    /// # Errors
    /// 1064 if something else comes.
    pub fn unit(&mut self) -> Parsed<IntervalUnit> {
        match self.peek_word().and_then(IntervalUnit::by_name) {
            Some(unit) => {
                self.skip(1);
                Ok(unit)
            }
            None => self.unexpected(),
        }
    }

    /// The name of a collation, with quotes of any kind or without.
    pub(super) fn collation(&mut self) -> Parsed<Name> {
        let start = self.offset();
        if matches!(self.peek(), Some(Token::Text(_))) {
            let text = self.string()?;
            return Ok(Name { text: self.interned(&text), span: self.span_from(start) });
        }
        self.name()
    }
}
