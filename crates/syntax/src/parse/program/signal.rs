//! SIGNAL, RESIGNAL, GET DIAGNOSTICS.

use std::sync::Arc;

use super::{Parsed, declare, program};
use crate::Token;
use crate::ast::Expr;
use crate::parse::tokens::Tokens;
use crate::statement::Statement;
use crate::statement::program::ProgramStatement;
use crate::statement::program::condition::{
    ConditionItem, Diagnostics, DiagnosticsInfo, Signal, Signalled, StatementItem, Target,
};

/// SIGNAL.
pub(in crate::parse) fn signal(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("SIGNAL")?;
    let condition = Some(signalled(tokens)?);
    Ok(program(ProgramStatement::Signal(Signal { condition, items: items(tokens)? })))
}

/// RESIGNAL.
pub(in crate::parse) fn resignal(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("RESIGNAL")?;
    let condition = if tokens.at_end() || tokens.next_are("SET") { None } else { Some(signalled(tokens)?) };
    Ok(program(ProgramStatement::Resignal(Signal { condition, items: items(tokens)? })))
}

fn signalled(tokens: &mut Tokens<'_>) -> Parsed<Signalled> {
    match declare::sql_state(tokens)? {
        Some(state) => Ok(Signalled::State(state)),
        None => tokens.name().map(Signalled::Named),
    }
}

/// `SET item = value, …`, if it comes next.
fn items(tokens: &mut Tokens<'_>) -> Parsed<Vec<(ConditionItem, Expr)>> {
    if !tokens.accept("SET") {
        return Ok(Vec::new());
    }
    tokens.comma_list(|tokens| {
        let item = condition_item(tokens, false)?;
        tokens.expect_token(&Token::Eq)?;
        Ok((item, tokens.simple_value()?))
    })
}

/// What is known of a condition; `asks`, or sets.
fn condition_item(tokens: &mut Tokens<'_>, asks: bool) -> Parsed<ConditionItem> {
    let found = ConditionItem::ALL.into_iter().find(|(name, _)| tokens.next_are(name));
    match found {
        Some((name, item)) if asks || item != ConditionItem::ReturnedSqlstate => {
            tokens.expect(name)?;
            Ok(item)
        }
        _ => tokens.unexpected(),
    }
}

/// `GET [CURRENT | STACKED] DIAGNOSTICS …`
pub(in crate::parse) fn get_diagnostics(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("GET")?;
    let stacked = tokens.accept_one(&["CURRENT", "STACKED"]).map(|word| word == "STACKED");
    tokens.expect("DIAGNOSTICS")?;
    let what = if tokens.accept("CONDITION") {
        let number = tokens.simple_value()?;
        DiagnosticsInfo::Condition(number, tokens.comma_list(|tokens| asked(tokens, |t| condition_item(t, true)))?)
    } else {
        DiagnosticsInfo::Statement(tokens.comma_list(|tokens| asked(tokens, statement_item))?)
    };
    Ok(program(ProgramStatement::Diagnostics(Diagnostics { stacked, what })))
}

/// `target = item`
fn asked<T>(tokens: &mut Tokens<'_>, item: impl FnOnce(&mut Tokens<'_>) -> Parsed<T>) -> Parsed<(Target, T)> {
    let target = match tokens.accept_variable() {
        Some(name) => Target::User(Arc::from(name)),
        None => Target::Local(tokens.name()?),
    };
    tokens.expect_token(&Token::Eq)?;
    Ok((target, item(tokens)?))
}

fn statement_item(tokens: &mut Tokens<'_>) -> Parsed<StatementItem> {
    match tokens.expect_one(&["NUMBER", "ROW_COUNT"])? {
        "NUMBER" => Ok(StatementItem::Number),
        _ => Ok(StatementItem::RowCount),
    }
}
