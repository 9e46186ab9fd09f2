//! CREATE and ALTER of procedures, functions and triggers, and CALL.

use base::{SqlError, codes};

use super::super::{column, unsupported};
use super::{Parsed, body, declare, event, program};
use crate::ParseError;
use crate::Token;
use crate::ast::Name;
use crate::names::{check_database_name, check_name};
use crate::parse::tokens::Tokens;
use crate::statement::program::{
    AlterRoutine, Call, Characteristics, CreateProgram, Definer, Param, ParamMode, ProgramKind, ProgramStatement,
    SqlData, SqlSecurity, Trigger, TriggerEvent, TriggerOrder,
};
use crate::statement::{Statement, TableName};

/// What CREATE and ALTER may have in front of what they are about.
struct Prefix {
    or_replace: bool,
    definer: Option<Definer>,
    /// Words in another order: a view, which has more of them.
    is_other: bool,
}

/// Whether CREATE, which is taken, makes a program.
pub(in crate::parse) fn begins(tokens: &mut Tokens<'_>) -> bool {
    let place = tokens.place();
    let begins = matches!(prefix(tokens), Ok(Prefix { is_other: false, .. }));
    tokens.back_to(place);
    begins
}

/// `[OR REPLACE] [DEFINER = user]`
fn prefix(tokens: &mut Tokens<'_>) -> Parsed<Prefix> {
    const PROGRAMS: [&str; 5] = ["PROCEDURE", "FUNCTION", "AGGREGATE FUNCTION", "TRIGGER", "EVENT"];
    let or_replace = tokens.accept("OR REPLACE");
    let definer = definer(tokens)?;
    let is_other = !PROGRAMS.iter().any(|words| tokens.next_are(words));
    Ok(Prefix { or_replace, definer, is_other })
}

/// DEFINER, if it comes next.
fn definer(tokens: &mut Tokens<'_>) -> Parsed<Option<Definer>> {
    if !tokens.accept("DEFINER") {
        return Ok(None);
    }
    tokens.expect_token(&Token::Eq)?;
    Ok(Some(tokens.user()?.map_or(Definer::CurrentUser, Definer::User)))
}

/// CREATE of a program, behind its first word; what else there may be is refused by its name.
pub(in crate::parse) fn create(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    if !begins(tokens) {
        return unsupported::create(tokens);
    }
    let Prefix { or_replace, definer, .. } = prefix(tokens)?;
    let what = tokens.expect_one(&["PROCEDURE", "FUNCTION", "AGGREGATE FUNCTION", "TRIGGER", "EVENT"])?;
    let if_not_exists = tokens.accept("IF NOT EXISTS");
    if or_replace && if_not_exists {
        let message = "Incorrect usage of OR REPLACE and IF NOT EXISTS";
        return Err(SqlError::new(codes::WRONG_USAGE, message).into());
    }
    let name = program_name(tokens)?;
    let kind = match what {
        "TRIGGER" => ProgramKind::Trigger(trigger(tokens)?),
        "EVENT" => ProgramKind::Event(event::event(tokens)?),
        "PROCEDURE" => {
            let params = params(tokens)?;
            ProgramKind::Procedure { params, characteristics: characteristics(tokens, true)? }
        }
        // A function of a library, and not of a database.
        _ if tokens.next_are("RETURNS") => return Err(ParseError::not_supported(format_args!("CREATE {what}"))),
        _ => {
            let params = params(tokens)?;
            tokens.expect("RETURNS")?;
            let returns = declare::data_type(tokens)?;
            let characteristics = characteristics(tokens, true)?;
            ProgramKind::Function { aggregate: what == "AGGREGATE FUNCTION", params, returns, characteristics }
        }
    };
    if let ProgramKind::Event(_) = kind {
        tokens.expect("DO")?;
    }
    let body = body::statement(tokens)?;
    Ok(program(ProgramStatement::Create(CreateProgram { or_replace, definer, if_not_exists, name, kind, body })))
}

/// ALTER of a program, behind its first word.
pub(in crate::parse) fn alter(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let place = tokens.place();
    if let Ok(definer) = definer(tokens)
        && tokens.accept("EVENT")
    {
        return Ok(program(ProgramStatement::AlterEvent(event::alter(tokens, definer)?)));
    }
    tokens.back_to(place);
    let Some(what) = tokens.accept_one(&["PROCEDURE", "FUNCTION"]) else { return unsupported::alter(tokens) };
    let name = tokens.table_name()?;
    let characteristics = characteristics(tokens, false)?;
    Ok(program(ProgramStatement::AlterRoutine(AlterRoutine { is_function: what == "FUNCTION", name, characteristics })))
}

/// CALL.
pub(in crate::parse) fn call(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("CALL")?;
    let name = tokens.table_name()?;
    let args = arguments(tokens)?;
    Ok(program(ProgramStatement::Call(Call { name, args })))
}

/// `(a, b)`, `()`, or nothing.
fn arguments(tokens: &mut Tokens<'_>) -> Parsed<Vec<crate::ast::Expr>> {
    if !tokens.next_is(&Token::LParen) {
        return Ok(Vec::new());
    }
    tokens.expect_token(&Token::LParen)?;
    if tokens.accept_token(&Token::RParen) {
        return Ok(Vec::new());
    }
    let args = tokens.comma_list(|tokens| tokens.expr())?;
    tokens.expect_token(&Token::RParen)?;
    Ok(args)
}

/// The name of a new program.
pub(super) fn program_name(tokens: &mut Tokens<'_>) -> Parsed<TableName> {
    let first = tokens.identifier()?;
    let (schema, name) = match tokens.accept_token(&Token::Period) {
        true => (Some(first), tokens.any_word()?),
        false => (None, first),
    };
    check_name(&name, || wrong_name(&name))?;
    if let Some(schema) = &schema {
        check_database_name(schema)?;
    }
    Ok(TableName { schema, name })
}

/// 1458
fn wrong_name(name: &str) -> SqlError {
    SqlError::new(codes::SP_WRONG_NAME, format!("Incorrect routine name '{name}'"))
}

fn params(tokens: &mut Tokens<'_>) -> Parsed<Vec<Param>> {
    tokens.expect_token(&Token::LParen)?;
    if tokens.accept_token(&Token::RParen) {
        return Ok(Vec::new());
    }
    let params = tokens.comma_list(param)?;
    tokens.expect_token(&Token::RParen)?;
    Ok(params)
}

/// A parameter of a program.
fn param(tokens: &mut Tokens<'_>) -> Parsed<Param> {
    let mut param = param_of_any(tokens)?;
    param.default = if tokens.accept("DEFAULT") { Some(tokens.expr()?) } else { None };
    Ok(param)
}

/// A parameter of a program, or of a cursor, up to its type.
pub(super) fn param_of_any(tokens: &mut Tokens<'_>) -> Parsed<Param> {
    let mode = match tokens.accept_one(&["IN", "OUT", "INOUT"]) {
        Some("IN") => Some(ParamMode::In),
        Some("OUT") => Some(ParamMode::Out),
        Some(_) => Some(ParamMode::InOut),
        None => None,
    };
    let name = tokens.name()?;
    check_param_name(&name)?;
    let ty = declare::data_type(tokens)?;
    Ok(Param { mode, name, ty, default: None })
}

fn check_param_name(name: &Name) -> Parsed<()> {
    if name.as_str().is_empty() { Err(wrong_name("").into()) } else { Ok(()) }
}

/// What stands before a body; of a new program it may say whether it is deterministic.
fn characteristics(tokens: &mut Tokens<'_>, is_new: bool) -> Parsed<Characteristics> {
    let mut found = Characteristics::default();
    loop {
        if tokens.accept("COMMENT") {
            found.comment = Some(tokens.string()?);
        } else if tokens.accept("LANGUAGE SQL") {
            found.language_sql = true;
        } else if tokens.next_are("LANGUAGE JAVASCRIPT") {
            return Err(ParseError::not_supported("LANGUAGE JAVASCRIPT"));
        } else if is_new && tokens.accept("DETERMINISTIC") {
            found.deterministic = Some(true);
        } else if is_new && tokens.accept("NOT DETERMINISTIC") {
            found.deterministic = Some(false);
        } else if tokens.accept("SQL SECURITY") {
            let is_definer = tokens.expect_one(&["DEFINER", "INVOKER"])? == "DEFINER";
            found.security = Some(if is_definer { SqlSecurity::Definer } else { SqlSecurity::Invoker });
        } else {
            let words = ["CONTAINS SQL", "NO SQL", "READS SQL DATA", "MODIFIES SQL DATA"];
            found.data = match tokens.accept_one(&words) {
                Some("CONTAINS SQL") => Some(SqlData::Contains),
                Some("NO SQL") => Some(SqlData::No),
                Some("READS SQL DATA") => Some(SqlData::Reads),
                Some(_) => Some(SqlData::Modifies),
                None => return Ok(found),
            };
        }
    }
}

/// What stands between a trigger's name and its body.
fn trigger(tokens: &mut Tokens<'_>) -> Parsed<Trigger> {
    let after = tokens.expect_one(&["BEFORE", "AFTER"])? == "AFTER";
    let event = match tokens.expect_one(&["INSERT", "UPDATE", "DELETE"])? {
        "INSERT" => TriggerEvent::Insert,
        "UPDATE" => TriggerEvent::Update,
        _ => TriggerEvent::Delete,
    };
    let of = event == TriggerEvent::Update && tokens.accept("OF");
    let columns = if of { tokens.comma_list(|tokens| tokens.name())? } else { Vec::new() };
    tokens.expect("ON")?;
    let table = tokens.table_name()?;
    tokens.expect("FOR EACH ROW")?;
    let order = match tokens.accept_one(&["FOLLOWS", "PRECEDES"]) {
        Some(word) => Some(TriggerOrder { follows: word == "FOLLOWS", other: tokens.name()? }),
        None => None,
    };
    Ok(Trigger { after, event, columns, table, order })
}

/// A type as columns have it, with its collation.
pub(super) fn plain_type(tokens: &mut Tokens<'_>) -> Parsed<crate::statement::TypeSpec> {
    column::plain_type(tokens)
}
