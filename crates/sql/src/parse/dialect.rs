//! What `sqlparser` has to know of MySQL's expressions: its own dialect, with MySQL's precedence of operators and the forms
//! that it lacks.
//!
//! | form | becomes |
//! |---|---|
//! | `a DIV b`, `a BETWEEN b AND c`, … | a [`super::operator`] |
//! | `INTERVAL '1:2' MINUTE_SECOND`, `EXTRACT(DAY_HOUR FROM a)` | the unit as `DateTimeField::Custom` |
//! | `INTERVAL(a, b, c)` | a call of the function |
//! | `CAST(a AS CHAR CHARACTER SET x)` | `CONVERT(a, CHAR CHARACTER SET x)` |
//! | `ROW(a, b)` | `(a, b)` |
//! | `BINARY a` | `CAST(a AS BINARY)`, of the operand alone |
//! | `WEIGHT_STRING(a AS CHAR(n))` | a call with two arguments ([`weight_string`]) |
//! | `JSON_VALUE(a, b RETURNING c …)` | a call with five arguments ([`json_value`]) |
//! | `_latin1 b'01'` | as `_latin1 x'01'` |
//! | `CHAR(65 USING x)` | `CONVERT(CHAR(65) USING x)` |

use std::any::TypeId;

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, DateTimeField, ExactNumberInfo, Expr, ExtractSyntax, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, Interval, ObjectName, UnaryOperator, Value,
};
use sqlparser::dialect::{Dialect, MySqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Word};

use super::depth::is_text;
use super::operator;
use super::words::{introduces_text, may_be_alias, may_be_name, may_begin_expression};
use crate::expr::IntervalUnit;

/// Binding strengths, loosest first: MySQL's table of operators.
mod strength {
    pub(super) const ASSIGN: u8 = 2;
    pub(super) const XOR: u8 = 7;
    pub(super) const COMPARE: u8 = 20;
    /// IN, BETWEEN, LIKE, REGEXP, MEMBER OF, SOUNDS LIKE: a side of a comparison may be one of them.
    pub(super) const PREDICATE: u8 = 21;
    pub(super) const SHIFT: u8 = 25;
    pub(super) const MULTIPLY: u8 = 40;
    pub(super) const BIT_XOR: u8 = 45;
    pub(super) const NEGATE: u8 = 46;
    pub(super) const BANG: u8 = 47;
    /// `->`, `->>`
    pub(super) const ARROW: u8 = 60;
}

/// MySQL as this server speaks it.
#[derive(Debug)]
pub(super) struct Commuter(MySqlDialect);

pub(super) static COMMUTER: Commuter = Commuter(MySqlDialect {});

macro_rules! as_mysql {
    ($($method:ident),* $(,)?) => {
        $(fn $method(&self) -> bool { self.0.$method() })*
    };
}

impl Dialect for Commuter {
    /// `sqlparser` asks in many places whether the dialect is MySQL's.
    fn dialect(&self) -> TypeId {
        TypeId::of::<MySqlDialect>()
    }

    // The lexer is ours; these two are only for completeness.
    fn is_identifier_start(&self, ch: char) -> bool {
        self.0.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        self.0.is_identifier_part(ch)
    }

    fn is_select_item_alias(&self, explicit: bool, _: &Keyword, parser: &mut Parser<'_>) -> bool {
        is_alias(explicit, parser)
    }

    fn is_table_factor_alias(&self, explicit: bool, _: &Keyword, parser: &mut Parser<'_>) -> bool {
        is_alias(explicit, parser)
    }

    as_mysql! {
        supports_string_literal_concatenation, supports_limit_comma, supports_create_table_select, supports_insert_set,
        supports_user_host_grantee, supports_table_hints, supports_match_against, supports_select_modifiers,
        supports_set_names, supports_comma_separated_set_assignments, supports_update_order_by,
        supports_data_type_signed_suffix, supports_cross_join_constraint, supports_double_ampersand_operator,
        supports_binary_kw_as_cast, supports_constraint_keyword_without_name, supports_key_column_option,
        supports_group_by_with_modifier, supports_left_associative_joins_without_parens, require_interval_qualifier,
        ignores_wildcard_escapes, supports_bitwise_shift_operators,
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        match precedence {
            Precedence::Like | Precedence::Between => strength::PREDICATE,
            Precedence::Xor => strength::XOR,
            Precedence::Caret => strength::BIT_XOR,
            other => self.0.prec_value(other),
        }
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        let strength = match &parser.peek_token_ref().token {
            Token::Assignment => strength::ASSIGN,
            Token::CustomBinaryOperator(name) if name == operator::DIV => strength::MULTIPLY,
            Token::CustomBinaryOperator(_) => strength::PREDICATE,
            Token::ShiftLeft | Token::ShiftRight => strength::SHIFT,
            Token::Arrow | Token::LongArrow => strength::ARROW,
            // No operators behind an operand.
            Token::ExclamationMark | Token::Colon => 0,
            Token::Word(word) if word.quote_style.is_some() => 0,
            // Behind an operand it negates a predicate, or is wrong.
            Token::Word(word) if word.keyword == Keyword::NOT => {
                let next = parser.peek_nth_token_ref(1);
                match operator::keyword_of(&next.token) {
                    Keyword::LIKE | Keyword::IN => return None,
                    _ => return Some(parser.expected_ref("a predicate", next)),
                }
            }
            _ => return None,
        };
        Some(Ok(strength))
    }

    fn parse_infix(&self, parser: &mut Parser<'_>, left: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        // `a IN (1) + 1` and `a LIKE 'b' IN (1)` need parentheses.
        let follows_predicate = precedence >= strength::PREDICATE && is_predicate(left);
        follows_predicate.then(|| parser.expected_ref("end of expression", parser.peek_token_ref()))
    }

    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        match &parser.peek_token_ref().token {
            Token::Word(word) if !begins_expression(word, parser) => {
                Some(parser.expected_ref("an expression", parser.peek_token_ref()))
            }
            Token::Word(word) => match word.keyword {
                Keyword::INTERVAL => Some(interval(parser)),
                Keyword::DATE | Keyword::TIME | Keyword::TIMESTAMP if is_text(&parser.peek_nth_token_ref(1).token) => {
                    Some(parser.expected_ref("a quoted text", parser.peek_nth_token_ref(1)))
                }
                Keyword::EXTRACT if follows(parser, &Token::LParen) => Some(extract(parser)),
                Keyword::CAST if follows(parser, &Token::LParen) => Some(cast(parser)),
                Keyword::CHAR | Keyword::CHARACTER if follows(parser, &Token::LParen) => Some(char_call(parser)),
                Keyword::CASE | Keyword::NOT if follows(parser, &Token::Period) => None,
                // The parser would take it for a name if what follows is wrong.
                Keyword::CASE => Some(case(parser)),
                Keyword::NOT => Some(not(parser)),
                Keyword::TRIM if trims_spaces(parser) => Some(trim_spaces(parser)),
                _ if word.value.eq_ignore_ascii_case("WEIGHT_STRING") && follows(parser, &Token::LParen) => {
                    Some(weight_string(parser))
                }
                _ if word.value.eq_ignore_ascii_case("MID") && follows(parser, &Token::LParen) => Some(mid(parser)),
                _ if word.value.eq_ignore_ascii_case("JSON_VALUE") && follows(parser, &Token::LParen) => {
                    Some(json_value(parser))
                }
                Keyword::ROW if word.quote_style.is_none() && follows(parser, &Token::LParen) => Some(row(parser)),
                Keyword::BINARY if word.quote_style.is_none() => Some(binary(parser)),
                _ if introduces_bits(word, parser) => Some(introduced_bits(parser)),
                _ => None,
            },
            Token::CustomBinaryOperator(name) if name == operator::BOUNDS => Some(bounds(parser)),
            Token::CustomBinaryOperator(name) if name == operator::LIST => Some(list(parser)),
            Token::Minus => Some(unary(parser, UnaryOperator::Minus, strength::NEGATE)),
            Token::Plus => Some(unary(parser, UnaryOperator::Plus, strength::NEGATE)),
            Token::Tilde => Some(unary(parser, UnaryOperator::BitwiseNot, strength::NEGATE)),
            Token::ExclamationMark => Some(unary(parser, UnaryOperator::Not, strength::BANG)),
            _ => None,
        }
    }
}

/// Whether the word that was read last is an alias.
fn is_alias(explicit: bool, parser: &Parser<'_>) -> bool {
    match &parser.get_current_token().token {
        Token::Word(word) if word.quote_style.is_some() => true,
        Token::Word(word) if explicit => may_be_name(&word.value),
        Token::Word(word) => may_be_alias(&word.value),
        _ => false,
    }
}

/// Whether the word that comes next begins an expression: any does with a column's name behind it.
fn begins_expression(word: &Word, parser: &Parser<'_>) -> bool {
    let is_table = || follows(parser, &Token::Period);
    word.quote_style.is_some() || may_begin_expression(&word.value, follows(parser, &Token::LParen)) || is_table()
}

fn is_predicate(expr: &Expr) -> bool {
    use Expr::*;
    if let BinaryOp { op: BinaryOperator::Custom(name), .. } = expr {
        return name != operator::DIV;
    }
    matches!(
        expr,
        InList { .. }
            | InSubquery { .. }
            | Like { .. }
            | MemberOf(_)
            | IsNull(_)
            | IsNotNull(_)
            | IsTrue(_)
            | IsNotTrue(_)
            | IsFalse(_)
            | IsNotFalse(_)
            | IsUnknown(_)
            | IsNotUnknown(_)
    )
}

/// Both bounds. The upper one may be a predicate itself: `a BETWEEN 0 AND (2 IN (1))` without the parentheses.
fn bounds(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    let low = parser.parse_subexpr(strength::PREDICATE)?;
    parser.expect_keyword(Keyword::AND)?;
    Ok(Expr::Tuple(vec![low, parser.parse_subexpr(strength::COMPARE)?]))
}

/// `((SELECT …), …)`, behind which the predicate ends.
fn list(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let list = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RParen)?;
    if parser.get_next_precedence()? >= strength::PREDICATE {
        return parser.expected_ref("end of expression", parser.peek_token_ref());
    }
    Ok(Expr::Tuple(list))
}

/// `ROW(a, b)`, which is `(a, b)`.
fn row(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let parts = parser.parse_comma_separated(Parser::parse_expr)?;
    if parts.len() == 1 {
        return parser.expected_ref("a second value", parser.peek_token_ref());
    }
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Tuple(parts))
}

/// `BINARY a`, which binds as tight as a sign: `BINARY a = b` compares.
fn binary(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    let expr = Box::new(parser.parse_subexpr(strength::BANG)?);
    Ok(Expr::Cast { kind: CastKind::Cast, expr, data_type: DataType::Binary(None), format: None })
}

/// `_latin1 b'01'`: with other literals behind it the parser knows it.
fn introduces_bits(word: &Word, parser: &Parser<'_>) -> bool {
    let is_bits = matches!(parser.peek_nth_token_ref(1).token, Token::SingleQuotedByteStringLiteral(_));
    is_bits && word.quote_style.is_none() && introduces_text(&word.value)
}

fn introduced_bits(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let prefix = parser.parse_identifier()?;
    let value = Box::new(Expr::Value(parser.parse_value()?));
    Ok(Expr::Prefixed { prefix, value })
}

fn follows(parser: &Parser<'_>, token: &Token) -> bool {
    parser.peek_nth_token_ref(1).token == *token
}

fn unary(parser: &mut Parser<'_>, op: UnaryOperator, strength: u8) -> Result<Expr, ParserError> {
    parser.advance_token();
    let expr = parser.parse_subexpr(strength)?;
    Ok(Expr::UnaryOp { op, expr: Box::new(expr) })
}

fn case(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.parse_case_expr()
}

fn not(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.parse_not()
}

fn interval(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    let subquery = matches!(&parser.peek_nth_token_ref(1).token, Token::Word(word)
        if matches!(word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES));
    let value = if subquery || parser.peek_token_ref().token != Token::LParen {
        parser.parse_expr()?
    } else {
        parser.expect_token(&Token::LParen)?;
        let mut args = parser.parse_comma_separated(Parser::parse_expr)?;
        parser.expect_token(&Token::RParen)?;
        if args.len() > 1 {
            return Ok(call("INTERVAL", args));
        }
        // The parentheses may be the beginning of the amount only.
        let mut value = Expr::Nested(Box::new(args.remove(0)));
        loop {
            let precedence = parser.get_next_precedence()?;
            if precedence == 0 {
                break value;
            }
            value = parser.parse_infix(value, precedence)?;
        }
    };
    let unit = unit(parser)?;
    Ok(Expr::Interval(Interval {
        value: Box::new(value),
        leading_field: Some(unit),
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    }))
}

fn unit(parser: &mut Parser<'_>) -> Result<DateTimeField, ParserError> {
    let token = parser.peek_token_ref();
    let unit = match &token.token {
        Token::Word(word) => IntervalUnit::by_name(&word.value),
        _ => None,
    };
    let Some(unit) = unit else { return parser.expected_ref("a unit", token) };
    let unit = DateTimeField::Custom(Ident::with_span(token.span, unit.name()));
    parser.advance_token();
    Ok(unit)
}

fn extract(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let field = unit(parser)?;
    parser.expect_keyword(Keyword::FROM)?;
    let expr = Box::new(parser.parse_expr()?);
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Extract { field, syntax: ExtractSyntax::From, expr })
}

/// `TRIM(side FROM …)`, without what is trimmed: the parser knows either both or neither.
fn trims_spaces(parser: &Parser<'_>) -> bool {
    let is = |ahead, keywords: &[Keyword]| match &parser.peek_nth_token_ref(ahead).token {
        Token::Word(word) => word.quote_style.is_none() && keywords.contains(&word.keyword),
        _ => false,
    };
    let sides = [Keyword::LEADING, Keyword::TRAILING, Keyword::BOTH];
    follows(parser, &Token::LParen) && is(2, &sides) && is(3, &[Keyword::FROM])
}

fn trim_spaces(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let trim_where = Some(parser.parse_trim_where()?);
    parser.expect_keyword(Keyword::FROM)?;
    let expr = Box::new(parser.parse_expr()?);
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Trim { trim_where, trim_what: None, expr, trim_characters: None })
}

fn cast(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let expr = Box::new(parser.parse_expr()?);
    parser.expect_keyword(Keyword::AS)?;
    let cast = cast_as(parser, expr)?;
    parser.expect_token(&Token::RParen)?;
    Ok(cast)
}

/// The type behind `AS` or RETURNING, with its character set.
fn cast_as(parser: &mut Parser<'_>, expr: Box<Expr>) -> Result<Expr, ParserError> {
    let data_type = parser.parse_data_type()?;
    if matches!(data_type, DataType::Float(ExactNumberInfo::PrecisionAndScale(..))) {
        return parser.expected_ref("FLOAT or FLOAT(n)", parser.peek_token_ref());
    }
    let charset =
        match parser.parse_keywords(&[Keyword::CHARACTER, Keyword::SET]) || parser.parse_keyword(Keyword::CHARSET) {
            true => Some(parser.parse_object_name(false)?),
            false => None,
        };
    Ok(match charset {
        None => Expr::Cast { kind: CastKind::Cast, expr, data_type, format: None },
        charset => Expr::Convert {
            is_try: false,
            expr,
            data_type: Some(data_type),
            charset,
            target_before_value: false,
            styles: Vec::new(),
        },
    })
}

/// `WEIGHT_STRING(text AS CHAR(n))`: a call with the number as its second argument. As BINARY(n) it is the weight of a CAST.
fn weight_string(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let mut args = vec![parser.parse_expr()?];
    if parser.parse_keyword(Keyword::AS) {
        let is_binary = parser.parse_keyword(Keyword::BINARY);
        if !is_binary {
            parser.expect_keyword(Keyword::CHAR)?;
        }
        parser.expect_token(&Token::LParen)?;
        let token = parser.peek_token_ref();
        let length = match &token.token {
            Token::Number(digits, _) => digits.parse::<u64>().ok().filter(|length| *length > 0),
            _ => None,
        };
        let Some(length) = length else { return parser.expected_ref("a length", token) };
        parser.advance_token();
        parser.expect_token(&Token::RParen)?;
        if is_binary {
            let (expr, data_type) = (Box::new(args.remove(0)), DataType::Binary(Some(length)));
            args.push(Expr::Cast { kind: CastKind::Cast, expr, data_type, format: None });
        } else {
            args.push(Expr::value(Value::Number(length.to_string(), false)));
        }
    }
    parser.expect_token(&Token::RParen)?;
    Ok(call("WEIGHT_STRING", args))
}

/// `MID(text FROM n [FOR m])`, which is SUBSTRING.
fn mid(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let mut args = vec![parser.parse_expr()?];
    if parser.parse_keyword(Keyword::FROM) {
        args.push(parser.parse_expr()?);
        if parser.parse_keyword(Keyword::FOR) {
            args.push(parser.parse_expr()?);
        }
    } else {
        while parser.consume_token(&Token::Comma) {
            args.push(parser.parse_expr()?);
        }
    }
    parser.expect_token(&Token::RParen)?;
    Ok(call("MID", args))
}

fn char_call(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let args = parser.parse_comma_separated(Parser::parse_expr)?;
    let charset = if parser.parse_keyword(Keyword::USING) { Some(parser.parse_object_name(false)?) } else { None };
    parser.expect_token(&Token::RParen)?;
    let call = call("CHAR", args);
    if charset.is_none() {
        return Ok(call);
    }
    Ok(Expr::Convert {
        is_try: false,
        expr: Box::new(call),
        data_type: None,
        charset,
        target_before_value: false,
        styles: Vec::new(),
    })
}

/// `JSON_VALUE(document, path [RETURNING type] [… ON EMPTY] [… ON ERROR])`: a call with five arguments, of which the third is a CAST of
/// NULL or NULL, and the last two are 0 (NULL), 1 (ERROR) or a tuple of the DEFAULT.
fn json_value(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let document = parser.parse_expr()?;
    parser.expect_token(&Token::Comma)?;
    let path = parser.parse_expr()?;
    let null = || Expr::value(Value::Null);
    let mut returning = null();
    if parser.parse_keyword(Keyword::RETURNING) {
        returning = cast_as(parser, Box::new(null()))?;
    }
    let number = |digit: &str| Expr::value(Value::Number(digit.into(), false));
    let (mut on_empty, mut on_error) = (number("0"), number("0"));
    for _ in 0..2 {
        let behavior = if parser.parse_keyword(Keyword::NULL) {
            number("0")
        } else if parser.parse_keyword(Keyword::ERROR) {
            number("1")
        } else if parser.parse_keyword(Keyword::DEFAULT) {
            Expr::Tuple(vec![parser.parse_subexpr(strength::ARROW)?])
        } else {
            break;
        };
        parser.expect_keyword(Keyword::ON)?;
        if parser.parse_keyword(Keyword::EMPTY) {
            on_empty = behavior;
        } else {
            parser.expect_keyword(Keyword::ERROR)?;
            on_error = behavior;
        }
    }
    parser.expect_token(&Token::RParen)?;
    Ok(call("JSON_VALUE", vec![document, path, returning, on_empty, on_error]))
}

pub(super) fn call(name: &str, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
