//! CREATE EVENT and ALTER EVENT.

use super::{Parsed, body, head};
use crate::ParseError;
use crate::ast::IntervalUnit;
use crate::parse::tokens::Tokens;
use crate::statement::program::{AlterEvent, Definer, Event, EventOptions, EventStatus, Schedule};

/// What stands between an event's name and DO.
pub(super) fn event(tokens: &mut Tokens<'_>) -> Parsed<Event> {
    tokens.expect("ON SCHEDULE")?;
    let schedule = schedule(tokens)?;
    let preserve = completion(tokens)?;
    let options = options_behind(tokens, preserve)?;
    Ok(Event { schedule, options })
}

/// The rest of ALTER EVENT.
pub(super) fn alter(tokens: &mut Tokens<'_>, definer: Option<Definer>) -> Parsed<AlterEvent> {
    let name = tokens.table_name()?;
    let place = tokens.place();
    let schedule = if tokens.accept("ON SCHEDULE") { Some(schedule(tokens)?) } else { None };
    let preserve = completion(tokens)?;
    let rename = if tokens.accept("RENAME TO") { Some(head::program_name(tokens)?) } else { None };
    let options = options_behind(tokens, preserve)?;
    let body = if tokens.accept("DO") { Some(body::statement(tokens)?) } else { None };
    if tokens.place() == place {
        return tokens.unexpected();
    }
    Ok(AlterEvent { definer, name, schedule, rename, options, body })
}

fn schedule(tokens: &mut Tokens<'_>) -> Parsed<Schedule> {
    if tokens.accept("AT") {
        return Ok(Schedule::At(tokens.expr()?));
    }
    tokens.expect("EVERY")?;
    let amount = tokens.expr()?;
    let unit = tokens.unit()?;
    if matches!(
        unit,
        IntervalUnit::Microsecond
            | IntervalUnit::DayMicrosecond
            | IntervalUnit::HourMicrosecond
            | IntervalUnit::MinuteMicrosecond
            | IntervalUnit::SecondMicrosecond
    ) {
        return Err(ParseError::not_supported("MICROSECOND"));
    }
    let starts = if tokens.accept("STARTS") { Some(tokens.expr()?) } else { None };
    let ends = if tokens.accept("ENDS") { Some(tokens.expr()?) } else { None };
    Ok(Schedule::Every { amount, unit, starts, ends })
}

/// ON COMPLETION.
fn completion(tokens: &mut Tokens<'_>) -> Parsed<Option<bool>> {
    if !tokens.accept("ON COMPLETION") {
        return Ok(None);
    }
    Ok(Some(tokens.expect_one(&["PRESERVE", "NOT PRESERVE"])? == "PRESERVE"))
}

/// `[ENABLE | DISABLE …] [COMMENT …]`
fn options_behind(tokens: &mut Tokens<'_>, preserve: Option<bool>) -> Parsed<EventOptions> {
    let status = match tokens.accept_one(&["ENABLE", "DISABLE ON REPLICA", "DISABLE ON SLAVE", "DISABLE"]) {
        Some("ENABLE") => Some(EventStatus::Enable),
        Some("DISABLE") => Some(EventStatus::Disable),
        Some(_) => Some(EventStatus::DisableOnReplica),
        None => None,
    };
    let comment = if tokens.accept("COMMENT") { Some(tokens.string()?) } else { None };
    Ok(EventOptions { preserve, status, comment })
}
