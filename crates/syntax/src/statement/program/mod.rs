//! Stored programs: what makes, changes and calls them, and what they are made of.
//!
//! [`body`] holds the statements that only a program has, [`condition`] what is about errors.

pub mod body;
pub mod condition;

use crate::ast::{Expr, IntervalUnit, Name};

use self::body::{BodyStatement, DataType};
use self::condition::{Diagnostics, Signal};
use super::{TableName, UserName};

/// A statement about stored programs, or one of those that are made for them.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramStatement {
    /// CREATE PROCEDURE, FUNCTION, TRIGGER or EVENT.
    Create(CreateProgram),
    /// ALTER PROCEDURE, ALTER FUNCTION.
    AlterRoutine(AlterRoutine),
    /// ALTER EVENT.
    AlterEvent(AlterEvent),
    /// CALL.
    Call(Call),
    /// A compound statement outside of programs, as MariaDB has it: `BEGIN NOT ATOMIC … END`, IF, CASE, loops.
    Compound(BodyStatement),
    /// SIGNAL.
    Signal(Signal),
    /// RESIGNAL, which may say nothing of a condition.
    Resignal(Signal),
    /// GET DIAGNOSTICS.
    Diagnostics(Diagnostics),
}

impl ProgramStatement {
    /// Whether there may be a `?` in it, when it is prepared: in no program that is stored, but in an event.
    pub fn takes_params(&self) -> bool {
        !matches!(self, ProgramStatement::Create(CreateProgram { kind, .. }) if !matches!(kind, ProgramKind::Event(_)))
    }

    /// What it is, in the words with which it begins.
    pub fn name(&self) -> &'static str {
        match self {
            ProgramStatement::Create(create) => match &create.kind {
                ProgramKind::Procedure { .. } => "CREATE PROCEDURE",
                ProgramKind::Function { aggregate: false, .. } => "CREATE FUNCTION",
                ProgramKind::Function { aggregate: true, .. } => "CREATE AGGREGATE FUNCTION",
                ProgramKind::Trigger(_) => "CREATE TRIGGER",
                ProgramKind::Event(_) => "CREATE EVENT",
            },
            ProgramStatement::AlterRoutine(AlterRoutine { is_function: true, .. }) => "ALTER FUNCTION",
            ProgramStatement::AlterRoutine(_) => "ALTER PROCEDURE",
            ProgramStatement::AlterEvent(_) => "ALTER EVENT",
            ProgramStatement::Call(_) => "CALL",
            ProgramStatement::Compound(body) => body.name(),
            ProgramStatement::Signal(_) => "SIGNAL",
            ProgramStatement::Resignal(_) => "RESIGNAL",
            ProgramStatement::Diagnostics(_) => "GET DIAGNOSTICS",
        }
    }
}

/// `CREATE [OR REPLACE] [DEFINER = …] what [IF NOT EXISTS] name … body`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateProgram {
    /// MariaDB's OR REPLACE.
    pub or_replace: bool,
    /// DEFINER; the session's account without it.
    pub definer: Option<Definer>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Its name.
    pub name: TableName,
    /// What it is, and its head.
    pub kind: ProgramKind,
    /// What it does.
    pub body: BodyStatement,
}

/// DEFINER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definer {
    /// CURRENT_USER.
    CurrentUser,
    /// A named account.
    User(UserName),
}

/// What a stored program is, with what only such a one has in its head.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramKind {
    /// PROCEDURE.
    Procedure {
        /// Its parameters.
        params: Vec<Param>,
        /// What stands before its body.
        characteristics: Characteristics,
    },
    /// FUNCTION.
    Function {
        /// MariaDB's AGGREGATE.
        aggregate: bool,
        /// Its parameters.
        params: Vec<Param>,
        /// RETURNS.
        returns: DataType,
        /// What stands before its body.
        characteristics: Characteristics,
    },
    /// TRIGGER.
    Trigger(Trigger),
    /// EVENT.
    Event(Event),
}

/// A parameter of a procedure or function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// IN, OUT, INOUT; IN if nothing is said.
    pub mode: Option<ParamMode>,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: DataType,
    /// MariaDB's DEFAULT.
    pub default: Option<Expr>,
}

/// Which way a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamMode {
    /// IN.
    In,
    /// OUT.
    Out,
    /// INOUT.
    InOut,
}

/// What is said of a procedure or function before its body; `None` where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Characteristics {
    /// COMMENT.
    pub comment: Option<String>,
    /// LANGUAGE SQL, which is the only language here.
    pub language_sql: bool,
    /// [NOT] DETERMINISTIC.
    pub deterministic: Option<bool>,
    /// CONTAINS SQL and its kin.
    pub data: Option<SqlData>,
    /// SQL SECURITY.
    pub security: Option<SqlSecurity>,
}

/// What a procedure or function does with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlData {
    /// CONTAINS SQL.
    Contains,
    /// NO SQL.
    No,
    /// READS SQL DATA.
    Reads,
    /// MODIFIES SQL DATA.
    Modifies,
}

/// Whose privileges count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlSecurity {
    /// DEFINER.
    Definer,
    /// INVOKER.
    Invoker,
}

/// `time event ON table FOR EACH ROW [order]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// AFTER instead of BEFORE.
    pub after: bool,
    /// What starts it.
    pub event: TriggerEvent,
    /// MariaDB's `UPDATE OF columns`; any of them if there are none.
    pub columns: Vec<Name>,
    /// Of this table.
    pub table: TableName,
    /// FOLLOWS, PRECEDES.
    pub order: Option<TriggerOrder>,
}

/// What starts a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerEvent {
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

impl TriggerEvent {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            TriggerEvent::Insert => "INSERT",
            TriggerEvent::Update => "UPDATE",
            TriggerEvent::Delete => "DELETE",
        }
    }
}

/// A trigger's place among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerOrder {
    /// FOLLOWS instead of PRECEDES.
    pub follows: bool,
    /// The other trigger.
    pub other: Name,
}

/// `ON SCHEDULE … [ON COMPLETION …] [ENABLE …] [COMMENT …]`
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When it runs.
    pub schedule: Schedule,
    /// The rest.
    pub options: EventOptions,
}

/// When an event runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// AT: once.
    At(Expr),
    /// EVERY.
    Every {
        /// How many units are between two times.
        amount: Expr,
        /// The unit.
        unit: IntervalUnit,
        /// STARTS.
        starts: Option<Expr>,
        /// ENDS.
        ends: Option<Expr>,
    },
}

/// What is said of an event besides; `None` where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventOptions {
    /// ON COMPLETION [NOT] PRESERVE.
    pub preserve: Option<bool>,
    /// ENABLE, DISABLE.
    pub status: Option<EventStatus>,
    /// COMMENT.
    pub comment: Option<String>,
}

/// Whether an event runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// ENABLE.
    Enable,
    /// DISABLE.
    Disable,
    /// DISABLE ON REPLICA, DISABLE ON SLAVE.
    DisableOnReplica,
}

/// `ALTER PROCEDURE name …`, `ALTER FUNCTION name …`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterRoutine {
    /// FUNCTION instead of PROCEDURE.
    pub is_function: bool,
    /// Its name.
    pub name: TableName,
    /// What it is from here on.
    pub characteristics: Characteristics,
}

/// `ALTER [DEFINER = …] EVENT name …`; something of it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterEvent {
    /// DEFINER.
    pub definer: Option<Definer>,
    /// Its name.
    pub name: TableName,
    /// ON SCHEDULE.
    pub schedule: Option<Schedule>,
    /// RENAME TO.
    pub rename: Option<TableName>,
    /// ON COMPLETION, ENABLE, COMMENT.
    pub options: EventOptions,
    /// DO.
    pub body: Option<BodyStatement>,
}

/// `CALL name [(arguments)]`
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The procedure.
    pub name: TableName,
    /// Its arguments; there need not be parentheses if there are none.
    pub args: Vec<Expr>,
}
