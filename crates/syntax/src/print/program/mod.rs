//! Stored programs.

mod body;
mod condition;
mod types;

use std::fmt::{self, Display, Formatter};

use super::{Clause, List, ListClause, Parentheses, quoted, quoted_text};
use crate::statement::program::{
    AlterEvent, AlterRoutine, Call, Characteristics, CreateProgram, Definer, Event, EventOptions, EventStatus, Param,
    ParamMode, ProgramKind, ProgramStatement, Schedule, SqlData, SqlSecurity, Trigger,
};
use crate::statement::{TableName, UserName};

/// A name with its database, in quotes.
struct Path<'t>(&'t TableName);

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.0.schema {
            quoted(schema, f)?;
            f.write_str(".")?;
        }
        quoted(&self.0.name, f)
    }
}

/// Text in quotes.
struct Quoted<'t>(&'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        quoted_text(self.0, f)
    }
}

impl Display for ProgramStatement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ProgramStatement::Create(create) => create.fmt(f),
            ProgramStatement::AlterRoutine(alter) => alter.fmt(f),
            ProgramStatement::AlterEvent(alter) => alter.fmt(f),
            ProgramStatement::Call(call) => call.fmt(f),
            ProgramStatement::Compound(body) => body.fmt(f),
            ProgramStatement::Signal(signal) => write!(f, "SIGNAL{signal}"),
            ProgramStatement::Resignal(signal) => write!(f, "RESIGNAL{signal}"),
            ProgramStatement::Diagnostics(diagnostics) => diagnostics.fmt(f),
        }
    }
}

impl Display for CreateProgram {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("CREATE ")?;
        f.write_str(if self.or_replace { "OR REPLACE " } else { "" })?;
        if let Some(definer) = &self.definer {
            write!(f, "{definer} ")?;
        }
        f.write_str(match &self.kind {
            ProgramKind::Procedure { .. } => "PROCEDURE ",
            ProgramKind::Function { aggregate: false, .. } => "FUNCTION ",
            ProgramKind::Function { aggregate: true, .. } => "AGGREGATE FUNCTION ",
            ProgramKind::Trigger(_) => "TRIGGER ",
            ProgramKind::Event(_) => "EVENT ",
        })?;
        f.write_str(if self.if_not_exists { "IF NOT EXISTS " } else { "" })?;
        Path(&self.name).fmt(f)?;
        match &self.kind {
            ProgramKind::Procedure { params, characteristics } => write!(f, "({}){characteristics}", List(params))?,
            ProgramKind::Function { params, returns, characteristics, .. } => {
                write!(f, "({}) RETURNS {returns}{characteristics}", List(params))?;
            }
            ProgramKind::Trigger(trigger) => write!(f, " {trigger}")?,
            ProgramKind::Event(event) => write!(f, " {event} DO")?,
        }
        write!(f, " {}", self.body)
    }
}

impl Display for Definer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Definer::CurrentUser => f.write_str("DEFINER = CURRENT_USER"),
            Definer::User(UserName { user, host }) => write!(f, "DEFINER = {}@{}", Quoted(user), Quoted(host)),
        }
    }
}

impl Display for Param {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.mode {
            None => "",
            Some(ParamMode::In) => "IN ",
            Some(ParamMode::Out) => "OUT ",
            Some(ParamMode::InOut) => "INOUT ",
        })?;
        write!(f, "{} {}{}", self.name, self.ty, Clause("DEFAULT", self.default.as_ref()))
    }
}

/// Each with a space before it.
impl Display for Characteristics {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.language_sql { " LANGUAGE SQL" } else { "" })?;
        f.write_str(match self.deterministic {
            None => "",
            Some(true) => " DETERMINISTIC",
            Some(false) => " NOT DETERMINISTIC",
        })?;
        f.write_str(match self.data {
            None => "",
            Some(SqlData::Contains) => " CONTAINS SQL",
            Some(SqlData::No) => " NO SQL",
            Some(SqlData::Reads) => " READS SQL DATA",
            Some(SqlData::Modifies) => " MODIFIES SQL DATA",
        })?;
        f.write_str(match self.security {
            None => "",
            Some(SqlSecurity::Definer) => " SQL SECURITY DEFINER",
            Some(SqlSecurity::Invoker) => " SQL SECURITY INVOKER",
        })?;
        Clause("COMMENT", self.comment.as_deref().map(Quoted).as_ref()).fmt(f)
    }
}

impl Display for Trigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.after { "AFTER" } else { "BEFORE" }, self.event.word())?;
        ListClause("OF", &self.columns).fmt(f)?;
        write!(f, " ON {} FOR EACH ROW", Path(&self.table))?;
        match &self.order {
            Some(order) => write!(f, " {} {}", if order.follows { "FOLLOWS" } else { "PRECEDES" }, order.other),
            None => Ok(()),
        }
    }
}

impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ON SCHEDULE {}{}{}", self.schedule, Completion(&self.options), self.options)
    }
}

impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::At(time) => write!(f, "AT {time}"),
            Schedule::Every { amount, unit, starts, ends } => {
                write!(f, "EVERY {amount} {}", unit.name())?;
                write!(f, "{}{}", Clause("STARTS", starts.as_ref()), Clause("ENDS", ends.as_ref()))
            }
        }
    }
}

/// ON COMPLETION, with a space before it.
struct Completion<'t>(&'t EventOptions);

impl Display for Completion<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.preserve {
            None => "",
            Some(true) => " ON COMPLETION PRESERVE",
            Some(false) => " ON COMPLETION NOT PRESERVE",
        })
    }
}

/// What is behind ON COMPLETION, each with a space before it.
impl Display for EventOptions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.status {
            None => "",
            Some(EventStatus::Enable) => " ENABLE",
            Some(EventStatus::Disable) => " DISABLE",
            Some(EventStatus::DisableOnReplica) => " DISABLE ON SLAVE",
        })?;
        Clause("COMMENT", self.comment.as_deref().map(Quoted).as_ref()).fmt(f)
    }
}

impl Display for AlterRoutine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let what = if self.is_function { "FUNCTION" } else { "PROCEDURE" };
        write!(f, "ALTER {what} {}{}", Path(&self.name), self.characteristics)
    }
}

impl Display for AlterEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("ALTER ")?;
        if let Some(definer) = &self.definer {
            write!(f, "{definer} ")?;
        }
        write!(f, "EVENT {}", Path(&self.name))?;
        Clause("ON SCHEDULE", self.schedule.as_ref()).fmt(f)?;
        Completion(&self.options).fmt(f)?;
        Clause("RENAME TO", self.rename.as_ref().map(Path).as_ref()).fmt(f)?;
        self.options.fmt(f)?;
        Clause("DO", self.body.as_ref()).fmt(f)
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CALL {}{}", Path(&self.name), Parentheses("", &self.args))
    }
}
