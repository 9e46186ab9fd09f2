//! DECLARE, and types of variables.

use super::{Parsed, body, head};
use crate::ast::Name;
use crate::parse::tokens::Tokens;
use crate::statement::program::ParamMode;
use crate::statement::program::body::{DataType, Declaration, DeclarationKind, Field};
use crate::statement::program::condition::{Condition, HandlerCondition};
use crate::{ParseError, Token};

/// What stands behind DECLARE.
pub(super) fn declaration(tokens: &mut Tokens<'_>) -> Parsed<Declaration> {
    let around = tokens.swap_mentions(Vec::new());
    let kind = declared(tokens)?;
    let mentions = tokens.swap_mentions(around);
    Ok(Declaration { kind, mentions })
}

fn declared(tokens: &mut Tokens<'_>) -> Parsed<DeclarationKind> {
    if let Some(words) = tokens.accept_one(&["CONTINUE HANDLER", "EXIT HANDLER"]) {
        tokens.expect("FOR")?;
        let conditions = tokens.comma_list(handler_condition)?;
        let action = Box::new(body::statement(tokens)?);
        return Ok(DeclarationKind::Handler { goes_on: words == "CONTINUE HANDLER", conditions, action });
    }
    let first = tokens.name()?;
    if tokens.accept("CONDITION") {
        tokens.expect("FOR")?;
        return Ok(DeclarationKind::Condition { name: first, condition: condition(tokens)? });
    }
    if tokens.accept("CURSOR") {
        return cursor(tokens, first);
    }
    let mut names = vec![first];
    while tokens.accept_token(&Token::Comma) {
        names.push(tokens.name()?);
    }
    let ty = data_type(tokens)?;
    let default = if tokens.accept("DEFAULT") { Some(tokens.expr()?) } else { None };
    Ok(DeclarationKind::Variables { names, ty, default })
}

/// `[(parameters)] FOR query`
fn cursor(tokens: &mut Tokens<'_>, name: Name) -> Parsed<DeclarationKind> {
    let mut params = Vec::new();
    if tokens.next_is(&Token::LParen) {
        params = tokens.in_parentheses(head::param_of_any)?;
    }
    if params.iter().any(|param| !matches!(param.mode, None | Some(ParamMode::In))) {
        return Err(ParseError::not_supported("OUT/INOUT cursor parameter"));
    }
    tokens.expect("FOR")?;
    let stop = tokens.narrow();
    let query = Box::new(tokens.query()?);
    tokens.end()?;
    tokens.widen(stop);
    Ok(DeclarationKind::Cursor { name, params, query })
}

fn handler_condition(tokens: &mut Tokens<'_>) -> Parsed<HandlerCondition> {
    Ok(match tokens.accept_one(&["SQLWARNING", "NOT FOUND", "SQLEXCEPTION"]) {
        Some("SQLWARNING") => HandlerCondition::Warning,
        Some("NOT FOUND") => HandlerCondition::NotFound,
        Some(_) => HandlerCondition::Exception,
        None if matches!(tokens.peek(), Some(Token::Number(_))) || tokens.next_are("SQLSTATE") => {
            HandlerCondition::One(condition(tokens)?)
        }
        None => HandlerCondition::Named(tokens.name()?),
    })
}

/// A state or a number.
fn condition(tokens: &mut Tokens<'_>) -> Parsed<Condition> {
    match sql_state(tokens)? {
        Some(state) => Ok(Condition::State(state)),
        None => Ok(Condition::Number(tokens.number()?)),
    }
}

/// `SQLSTATE [VALUE] '…'`, if it comes next.
pub(super) fn sql_state(tokens: &mut Tokens<'_>) -> Parsed<Option<Box<str>>> {
    if !tokens.accept("SQLSTATE") {
        return Ok(None);
    }
    let _ = tokens.accept("VALUE");
    Ok(Some(tokens.string()?.into()))
}

/// The type of a variable, a parameter, or what a function returns.
pub(super) fn data_type(tokens: &mut Tokens<'_>) -> Parsed<DataType> {
    if tokens.accept("TYPE OF") {
        return Ok(DataType::Of(Box::new(tokens.column_path()?)));
    }
    if tokens.accept("ROW TYPE OF") {
        return Ok(DataType::RowOf(Box::new(tokens.table_name()?)));
    }
    if tokens.next_are("ROW") && tokens.peek_at(1) == Some(&Token::LParen) {
        tokens.expect("ROW")?;
        return Ok(DataType::Row(tokens.in_parentheses(|tokens| {
            let name = tokens.name()?;
            Ok(Field { name, ty: head::plain_type(tokens)? })
        })?));
    }
    Ok(DataType::Plain(Box::new(head::plain_type(tokens)?)))
}
