//! What a program may not say although its grammar lets it: MySQL finds that while it parses, and so a program with such an error is
//! never made.
//!
//! A walk over the tree with the names that are known where it is ([`names`]); [`kinds`] knows what no program, function or trigger may
//! do. Whether a column or a table is there, and whether a name that SET sets is a setting, is for those who know them.
//!
//! # Invariants
//! - The walk takes a time in proportion to the tree: a name is found in one look, however many blocks are around it.

mod kinds;
mod names;

use std::collections::HashSet;

use base::{SqlError, codes};

use self::names::{Label, Names, Variable};
use super::Parsed;
use crate::ast::{Mention, Name, Query};
use crate::grammar::has_into;
use crate::statement::program::body::{
    Block, BodyKind, BodyStatement, DataType, Declaration, DeclarationKind, ForSource, Label as BlockLabel, Loop,
    LoopKind, Single,
};
use crate::statement::program::condition::{
    Condition, Diagnostics, DiagnosticsInfo, HandlerCondition, Signal, Signalled, Target,
};
use crate::statement::program::{CreateProgram, Param, ProgramKind, ProgramStatement, Trigger};
use crate::statement::{Statement, TableName};

/// Checks a statement about programs.
///
/// # Errors
/// MySQL's.
pub(in crate::parse) fn check(statement: &ProgramStatement) -> Parsed<()> {
    match statement {
        ProgramStatement::Create(create) => program(create),
        ProgramStatement::AlterEvent(alter) => match &alter.body {
            Some(body) => Check::new(Owner::Other).statement(body),
            None => Ok(()),
        },
        ProgramStatement::Compound(body) => Check::new(Owner::Other).statement(body),
        ProgramStatement::AlterRoutine(_) | ProgramStatement::Call(_) => Ok(()),
        ProgramStatement::Signal(_) | ProgramStatement::Resignal(_) | ProgramStatement::Diagnostics(_) => {
            Check::new(Owner::Other).about_conditions(statement)
        }
    }
}

/// Checks a program with its head.
fn program(create: &CreateProgram) -> Parsed<()> {
    let mut check = Check::new(Owner::of(create));
    match &create.kind {
        ProgramKind::Procedure { params, .. } | ProgramKind::Function { params, .. } => check.params(params)?,
        ProgramKind::Trigger(_) | ProgramKind::Event(_) => {}
    }
    check.statement(&create.body)?;
    check.returns(&create.name)
}

/// What a body belongs to.
#[derive(Clone, Copy)]
enum Owner<'t> {
    /// A function.
    Function { aggregate: bool },
    /// A trigger.
    Trigger(&'t Trigger),
    /// A procedure, an event, or nothing.
    Other,
}

impl<'t> Owner<'t> {
    fn of(create: &'t CreateProgram) -> Self {
        match &create.kind {
            ProgramKind::Function { aggregate, .. } => Owner::Function { aggregate: *aggregate },
            ProgramKind::Trigger(trigger) => Owner::Trigger(trigger),
            ProgramKind::Procedure { .. } | ProgramKind::Event(_) => Owner::Other,
        }
    }
}

/// Where the walk is.
struct Check<'t> {
    owner: Owner<'t>,
    variables: Names<Variable>,
    conditions: Names<&'t Condition>,
    /// With the number of their parameters.
    cursors: Names<usize>,
    labels: Names<Label>,
    /// How many handlers are around: labels outside of them are out of reach.
    handlers: usize,
    has_return: bool,
    fetches_group: bool,
}

/// How far the declarations of a block have come.
#[derive(Default)]
struct Declared<'t> {
    has_cursor: bool,
    has_handler: bool,
    handled: HashSet<Handled<'t>>,
}

/// What a handler of a block is for.
#[derive(PartialEq, Eq, Hash)]
enum Handled<'t> {
    State(&'t str),
    Number(u64),
    Warning,
    NotFound,
    Exception,
}

fn error<T>(code: codes::Code, message: impl Into<String>) -> Parsed<T> {
    Err(SqlError::new(code, message.into()).into())
}

impl<'t> Check<'t> {
    fn new(owner: Owner<'t>) -> Self {
        Check {
            owner,
            variables: Names::default(),
            conditions: Names::default(),
            cursors: Names::default(),
            labels: Names::default(),
            handlers: 0,
            has_return: false,
            fetches_group: false,
        }
    }

    fn params(&mut self, params: &[Param]) -> Parsed<()> {
        for param in params {
            if !self.variables.declare(&param.name, Variable::of(&param.ty)) {
                return error(codes::SP_DUP_PARAM, format!("Duplicate parameter: {}", param.name.as_str()));
            }
        }
        Ok(())
    }

    /// Whether a function has what it needs.
    fn returns(&self, name: &TableName) -> Parsed<()> {
        match self.owner {
            Owner::Function { .. } if !self.has_return => {
                error(codes::SP_NORETURN, format!("No RETURN found in FUNCTION {name}"))
            }
            Owner::Function { aggregate: true } if !self.fetches_group => error(
                codes::INVALID_AGGREGATE_FUNCTION,
                "Aggregate specific instruction(FETCH GROUP NEXT ROW) missing from the aggregate function",
            ),
            _ => Ok(()),
        }
    }

    fn statements(&mut self, statements: &'t [BodyStatement]) -> Parsed<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'t BodyStatement) -> Parsed<()> {
        if let BodyKind::Single(single) = &statement.kind {
            kinds::check(self.owner, single)?;
        }
        self.mentions(&statement.mentions)?;
        match &statement.kind {
            BodyKind::Single(single) => self.single(single),
            BodyKind::With(with) => self.statement(&with.statement),
            BodyKind::Block(block) => self.labelled(&block.label, false, |check| check.block(block)),
            BodyKind::If(if_statement) => {
                if_statement.arms.iter().try_for_each(|arm| self.statements(&arm.statements))?;
                self.statements(if_statement.otherwise.as_deref().unwrap_or_default())
            }
            BodyKind::Case(case) => {
                case.arms.iter().try_for_each(|arm| self.statements(&arm.statements))?;
                self.statements(case.otherwise.as_deref().unwrap_or_default())
            }
            BodyKind::Loop(the_loop) => self.labelled(&the_loop.label, true, |check| check.the_loop(the_loop)),
            BodyKind::Leave(label) => self.jump("LEAVE", label, false),
            BodyKind::Iterate(label) => self.jump("ITERATE", label, true),
            BodyKind::Return(_) if matches!(self.owner, Owner::Function { .. }) => {
                self.has_return = true;
                Ok(())
            }
            BodyKind::Return(_) => error(codes::SP_BADRETURN, "RETURN is only allowed in a FUNCTION"),
            BodyKind::Open { cursor, args } => self.cursor(cursor, Some(args.len())),
            BodyKind::Close(cursor) => self.cursor(cursor, None),
            BodyKind::Fetch { cursor, into } => {
                self.cursor(cursor, None)?;
                into.iter().try_for_each(|name| self.known(name))
            }
            BodyKind::FetchGroup if matches!(self.owner, Owner::Function { aggregate: true }) => {
                self.fetches_group = true;
                Ok(())
            }
            BodyKind::FetchGroup => error(
                codes::NOT_AGGREGATE_FUNCTION,
                "Aggregate specific instruction (FETCH GROUP NEXT ROW) used in a wrong context",
            ),
        }
    }

    /// A statement that there is outside of programs, too.
    fn single(&mut self, single: &'t Single) -> Parsed<()> {
        match &single.statement {
            Statement::Program(program) => self.about_conditions(program),
            _ => Ok(()),
        }
    }

    /// A block or loop under its label.
    fn labelled(
        &mut self,
        label: &'t BlockLabel,
        is_loop: bool,
        inside: impl FnOnce(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        let Some(begin) = &label.begin else { return inside(self) };
        if self.labels.get(begin).is_some_and(|outer| outer.handlers == self.handlers) {
            return error(codes::SP_LABEL_REDEFINE, format!("Redefining label {}", begin.as_str()));
        }
        self.labels.enter();
        self.labels.declare(begin, Label { handlers: self.handlers, is_loop });
        inside(self)?;
        self.labels.leave();
        match &label.end {
            Some(end) if !names::is_same(end, begin) => {
                error(codes::SP_LABEL_MISMATCH, format!("End-label {} without match", end.as_str()))
            }
            _ => Ok(()),
        }
    }

    /// LEAVE, ITERATE.
    fn jump(&self, word: &str, label: &Name, needs_loop: bool) -> Parsed<()> {
        match self.labels.get(label) {
            Some(known) if known.handlers == self.handlers && (known.is_loop || !needs_loop) => Ok(()),
            _ => error(codes::SP_LILABEL_MISMATCH, format!("{word} with no matching label: {}", label.as_str())),
        }
    }

    fn the_loop(&mut self, the_loop: &'t Loop) -> Parsed<()> {
        let LoopKind::For(variable, source) = &the_loop.kind else { return self.statements(&the_loop.statements) };
        let kind = match &**source {
            ForSource::Range { .. } => Variable::Whole,
            // A name alone would be a variable, if it were no cursor.
            ForSource::Cursor { name, args } if args.is_empty() && self.cursors.get(name).is_none() => {
                return self.known(name);
            }
            ForSource::Cursor { name, args } => {
                self.cursor(name, Some(args.len()))?;
                Variable::Unknown
            }
            ForSource::Query(_) => Variable::Unknown,
        };
        self.variables.enter();
        self.variables.declare(variable, kind);
        self.statements(&the_loop.statements)?;
        self.variables.leave();
        Ok(())
    }

    fn block(&mut self, block: &'t Block) -> Parsed<()> {
        self.variables.enter();
        self.conditions.enter();
        self.cursors.enter();
        let mut declared = Declared::default();
        for declaration in &block.declarations {
            self.declaration(declaration, &mut declared)?;
        }
        self.statements(&block.statements)?;
        self.cursors.leave();
        self.conditions.leave();
        self.variables.leave();
        Ok(())
    }

    fn declaration(&mut self, declaration: &'t Declaration, declared: &mut Declared<'t>) -> Parsed<()> {
        let is_late = declared.has_cursor || declared.has_handler;
        match &declaration.kind {
            DeclarationKind::Variables { .. } | DeclarationKind::Condition { .. } if is_late => {
                let message = "Variable or condition declaration after cursor or handler declaration";
                error(codes::SP_VARCOND_AFTER_CURSHNDLR, message)
            }
            DeclarationKind::Variables { names, ty, .. } => {
                self.mentions(&declaration.mentions)?;
                names.iter().try_for_each(|name| self.variable(name, ty))
            }
            DeclarationKind::Condition { name, condition } => {
                check_condition(condition)?;
                match self.conditions.declare(name, condition) {
                    true => Ok(()),
                    false => error(codes::SP_DUP_COND, format!("Duplicate condition: {}", name.as_str())),
                }
            }
            DeclarationKind::Cursor { .. } if declared.has_handler => {
                error(codes::SP_CURSOR_AFTER_HANDLER, "Cursor declaration after handler declaration")
            }
            DeclarationKind::Cursor { name, params, query } => {
                declared.has_cursor = true;
                self.cursor_declared(name, params, (query, &declaration.mentions))
            }
            DeclarationKind::Handler { conditions, action, .. } => {
                declared.has_handler = true;
                self.handler(conditions, action, declared)
            }
        }
    }

    /// A cursor, whose query and what it mentions knows its parameters.
    fn cursor_declared(&mut self, name: &Name, params: &[Param], query: (&Query, &[Mention])) -> Parsed<()> {
        let (query, mentions) = query;
        self.variables.enter();
        self.params(params)?;
        self.mentions(mentions)?;
        self.variables.leave();
        if has_into(query) {
            return error(codes::SP_BAD_CURSOR_SELECT, "Cursor SELECT must not have INTO");
        }
        match self.cursors.declare(name, params.len()) {
            true => Ok(()),
            false => error(codes::SP_DUP_CURS, format!("Duplicate cursor: {}", name.as_str())),
        }
    }

    fn handler(
        &mut self,
        conditions: &'t [HandlerCondition],
        action: &'t BodyStatement,
        declared: &mut Declared<'t>,
    ) -> Parsed<()> {
        for condition in conditions {
            if !declared.handled.insert(self.handled(condition)?) {
                return error(codes::SP_DUP_HANDLER, "Duplicate handler declared in the same block");
            }
        }
        self.handlers += 1;
        self.statement(action)?;
        self.handlers -= 1;
        Ok(())
    }

    fn variable(&mut self, name: &Name, ty: &DataType) -> Parsed<()> {
        match self.variables.declare(name, Variable::of(ty)) {
            true => Ok(()),
            false => error(codes::SP_DUP_VAR, format!("Duplicate variable: {}", name.as_str())),
        }
    }

    /// What a handler's condition is, by whatever name.
    fn handled(&self, condition: &'t HandlerCondition) -> Parsed<Handled<'t>> {
        let condition = match condition {
            HandlerCondition::Warning => return Ok(Handled::Warning),
            HandlerCondition::NotFound => return Ok(Handled::NotFound),
            HandlerCondition::Exception => return Ok(Handled::Exception),
            HandlerCondition::One(condition) => {
                check_condition(condition)?;
                condition
            }
            HandlerCondition::Named(name) => self.condition(name)?,
        };
        Ok(match condition {
            Condition::State(state) => Handled::State(state),
            Condition::Number(number) => Handled::Number(*number),
        })
    }

    /// A condition that has a name.
    fn condition(&self, name: &Name) -> Parsed<&'t Condition> {
        match self.conditions.get(name) {
            Some(condition) => Ok(*condition),
            None => error(codes::SP_COND_MISMATCH, format!("Undefined CONDITION: {}", name.as_str())),
        }
    }

    /// A cursor, which takes so many arguments if they are there.
    fn cursor(&self, name: &Name, args: Option<usize>) -> Parsed<()> {
        match self.cursors.get(name) {
            None => error(codes::SP_CURSOR_MISMATCH, format!("Undefined CURSOR: {}", name.as_str())),
            Some(params) if args.is_some_and(|args| args != *params) => error(
                codes::WRONG_PARAMCOUNT_TO_CURSOR,
                format!("Incorrect parameter count to cursor '{}'", name.as_str()),
            ),
            Some(_) => Ok(()),
        }
    }

    /// A name that has to be a variable.
    fn known(&self, name: &Name) -> Parsed<()> {
        if self.variables.get(name).is_some() {
            return Ok(());
        }
        error(codes::SP_UNDECLARED_VAR, format!("Undeclared variable: {}", name.as_str()))
    }

    fn mentions(&self, mentions: &[Mention]) -> Parsed<()> {
        mentions.iter().try_for_each(|mention| match mention {
            Mention::Into(name) => self.known(name),
            Mention::Limit(path) => {
                self.known(path.table.as_ref().unwrap_or(&path.name))?;
                match self.variables.get(&path.name) {
                    Some(Variable::Other) if path.table.is_none() => {
                        Err(crate::ParseError::syntax(path.name.span.start as usize))
                    }
                    _ => Ok(()),
                }
            }
            Mention::Old => self.trigger_row("OLD"),
            Mention::New => self.trigger_row("NEW"),
        })
    }

    /// A column of a trigger's row is read, if this is a trigger.
    fn trigger_row(&self, row: &str) -> Parsed<()> {
        let Owner::Trigger(trigger) = self.owner else { return Ok(()) };
        if self.variables.get(&Name::new(row)).is_some() {
            return Ok(());
        }
        kinds::check_row(trigger, row)
    }

    /// SIGNAL, RESIGNAL, GET DIAGNOSTICS.
    fn about_conditions(&self, statement: &ProgramStatement) -> Parsed<()> {
        match statement {
            ProgramStatement::Signal(signal) | ProgramStatement::Resignal(signal) => self.signal(signal),
            ProgramStatement::Diagnostics(Diagnostics { what, .. }) => {
                let locals = |target: &Target| match target {
                    Target::Local(name) => self.known(name),
                    Target::User(_) => Ok(()),
                };
                match what {
                    DiagnosticsInfo::Statement(items) => items.iter().try_for_each(|(target, _)| locals(target)),
                    DiagnosticsInfo::Condition(_, items) => items.iter().try_for_each(|(target, _)| locals(target)),
                }
            }
            _ => Ok(()),
        }
    }

    fn signal(&self, signal: &Signal) -> Parsed<()> {
        match &signal.condition {
            None => {}
            Some(Signalled::State(state)) => check_state(state)?,
            Some(Signalled::Named(name)) => {
                if let Condition::Number(_) = self.condition(name)? {
                    let message = "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE";
                    return error(codes::SIGNAL_BAD_CONDITION_TYPE, message);
                }
            }
        }
        let mut set = HashSet::new();
        match signal.items.iter().find(|(item, _)| !set.insert(*item)) {
            Some((item, _)) => {
                error(codes::DUP_SIGNAL_SET, format!("Duplicate condition information item '{}'", item.name()))
            }
            None => Ok(()),
        }
    }
}

fn check_condition(condition: &Condition) -> Parsed<()> {
    match condition {
        Condition::State(state) => check_state(state),
        Condition::Number(0) => error(codes::WRONG_VALUE, "Incorrect CONDITION value: '0'"),
        Condition::Number(_) => Ok(()),
    }
}

/// Five digits or capitals, which do not stand for success.
fn check_state(state: &str) -> Parsed<()> {
    let is_state = state.len() == 5 && state.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    if is_state && !state.starts_with("00") {
        return Ok(());
    }
    error(codes::SP_BAD_SQLSTATE, format!("Bad SQLSTATE: '{state}'"))
}
