//! SIGNAL, GET DIAGNOSTICS, and conditions.

use std::fmt::{self, Display, Formatter};

use super::{Quoted, quoted};
use crate::statement::program::condition::{
    Condition, Diagnostics, DiagnosticsInfo, HandlerCondition, Signal, Signalled, StatementItem, Target,
};

/// With a space before it.
impl Display for Signal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.condition {
            None => {}
            Some(Signalled::State(state)) => write!(f, " SQLSTATE {}", Quoted(state))?,
            Some(Signalled::Named(name)) => write!(f, " {name}")?,
        }
        for (at, (item, value)) in self.items.iter().enumerate() {
            write!(f, "{} {} = {value}", if at == 0 { " SET" } else { "," }, item.name())?;
        }
        Ok(())
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::State(state) => write!(f, "SQLSTATE {}", Quoted(state)),
            Condition::Number(number) => number.fmt(f),
        }
    }
}

impl Display for HandlerCondition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            HandlerCondition::One(condition) => condition.fmt(f),
            HandlerCondition::Named(name) => name.fmt(f),
            HandlerCondition::Warning => f.write_str("SQLWARNING"),
            HandlerCondition::NotFound => f.write_str("NOT FOUND"),
            HandlerCondition::Exception => f.write_str("SQLEXCEPTION"),
        }
    }
}

impl Display for Diagnostics {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("GET ")?;
        f.write_str(match self.stacked {
            None => "",
            Some(true) => "STACKED ",
            Some(false) => "CURRENT ",
        })?;
        f.write_str("DIAGNOSTICS ")?;
        match &self.what {
            DiagnosticsInfo::Statement(items) => {
                let name = |item: &StatementItem| match item {
                    StatementItem::Number => "NUMBER",
                    StatementItem::RowCount => "ROW_COUNT",
                };
                asked(items.iter().map(|(target, item)| (target, name(item))), f)
            }
            DiagnosticsInfo::Condition(number, items) => {
                write!(f, "CONDITION {number} ")?;
                asked(items.iter().map(|(target, item)| (target, item.name())), f)
            }
        }
    }
}

/// `target = item, …`
fn asked<'t>(items: impl Iterator<Item = (&'t Target, &'static str)>, f: &mut Formatter<'_>) -> fmt::Result {
    for (at, (target, item)) in items.enumerate() {
        write!(f, "{}{target} = {item}", if at > 0 { ", " } else { "" })?;
    }
    Ok(())
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Target::User(name) => {
                f.write_str("@")?;
                quoted(name, f)
            }
            Target::Local(name) => name.fmt(f),
        }
    }
}
