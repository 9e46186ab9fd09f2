//! Statements that no program may have, or no function and no trigger.

use base::codes;

use super::{Owner, error};
use crate::grammar::has_into;
use crate::parse::Parsed;
use crate::statement::program::body::Single;
use crate::statement::program::{AlterRoutine, ProgramKind, ProgramStatement, Trigger, TriggerEvent};
use crate::statement::{AbsentKind, Admin, Ddl, SetItem, Statement, TableMaintenance, TransactionStatement};

/// Checks a single statement of what belongs to `owner`.
pub(super) fn check(owner: Owner<'_>, single: &Single) -> Parsed<()> {
    in_any_program(&single.statement)?;
    let what = match owner {
        Owner::Function { .. } => "function",
        Owner::Trigger(_) => "trigger",
        Owner::Other => return Ok(()),
    };
    if let (Owner::Trigger(trigger), Statement::Set(items)) = (owner, &single.statement) {
        items.iter().try_for_each(|item| set_in_trigger(trigger, item))?;
    }
    in_expression(what, &single.statement)
}

/// 1303, 1314, 1357, 1576
fn in_any_program(statement: &Statement) -> Parsed<()> {
    let refused = match statement {
        Statement::LockTables(_) => "LOCK",
        Statement::UnlockTables => "UNLOCK",
        Statement::Use(_) => "USE",
        Statement::Load(_) => "LOAD DATA",
        Statement::Admin(Admin::Tables { what: TableMaintenance::Check, .. }) => "CHECK",
        Statement::Program(program) => return programs_of_program(program),
        Statement::Ddl(Ddl::DropAbsent { kind: AbsentKind::Procedure, .. }) => return changed("PROCEDURE"),
        Statement::Ddl(Ddl::DropAbsent { kind: AbsentKind::Function, .. }) => return changed("FUNCTION"),
        _ => return Ok(()),
    };
    error(codes::SP_BADSTATEMENT, format!("{refused} is not allowed in stored procedures"))
}

/// What a program may not do with others.
fn programs_of_program(program: &ProgramStatement) -> Parsed<()> {
    let made = match program {
        ProgramStatement::Create(create) => match &create.kind {
            ProgramKind::Procedure { .. } => "PROCEDURE",
            ProgramKind::Function { .. } => "FUNCTION",
            ProgramKind::Trigger(_) => "TRIGGER",
            ProgramKind::Event(_) => return event_with_body(),
        },
        ProgramStatement::AlterEvent(alter) if alter.body.is_some() => return event_with_body(),
        ProgramStatement::AlterRoutine(AlterRoutine { is_function: true, .. }) => return changed("FUNCTION"),
        ProgramStatement::AlterRoutine(_) => return changed("PROCEDURE"),
        _ => return Ok(()),
    };
    let message = format!("Can't create a {made} from within another stored routine");
    error(codes::SP_NO_RECURSIVE_CREATE, message)
}

/// 1576
fn event_with_body() -> Parsed<()> {
    let message = "Recursion of EVENT DDL statements is forbidden when body is present";
    error(codes::EVENT_RECURSION_FORBIDDEN, message)
}

/// 1357
fn changed(what: &str) -> Parsed<()> {
    error(codes::SP_NO_DROP_SP, format!("Can't drop or alter a {what} from within another stored routine"))
}

/// 1336, 1415, 1422, 1445: a function or a trigger runs within another statement.
fn in_expression(what: &str, statement: &Statement) -> Parsed<()> {
    if gives_rows(statement) {
        return error(codes::SP_NO_RETSET, format!("Not allowed to return a result set from a {what}"));
    }
    if commits(statement) {
        let message = "Explicit or implicit commit is not allowed in stored function or trigger.";
        return error(codes::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, message);
    }
    let refused = match statement {
        Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate(_) => "Dynamic SQL",
        Statement::Admin(Admin::Flush(_)) => "FLUSH",
        Statement::Admin(Admin::ResetReplica { .. } | Admin::ResetBinaryLogs(_)) => "RESET",
        Statement::Set(items) if items.iter().any(sets_autocommit) => {
            let message = "Not allowed to set autocommit from a stored function or trigger";
            return error(codes::SP_CANT_SET_AUTOCOMMIT, message);
        }
        _ => return Ok(()),
    };
    let message = format!("{refused} is not allowed in stored function or trigger");
    error(codes::STMT_NOT_ALLOWED_IN_SF_OR_TRG, message)
}

/// MySQL says it of passwords, too.
fn sets_autocommit(item: &SetItem) -> bool {
    match item {
        SetItem::Variable { name, .. } => name.eq_ignore_ascii_case("autocommit"),
        SetItem::Password(_) => true,
        _ => false,
    }
}

/// Whether a client gets rows from it.
fn gives_rows(statement: &Statement) -> bool {
    match statement {
        Statement::Query(query) => !has_into(query),
        Statement::Insert(insert) => insert.returning.is_some(),
        Statement::Delete(delete) => delete.returning.is_some(),
        Statement::Show(_) | Statement::Explain(_) => true,
        Statement::Admin(Admin::Tables { .. } | Admin::Histogram(_) | Admin::Checksum { .. }) => true,
        _ => false,
    }
}

/// Whether it commits what was done before it.
fn commits(statement: &Statement) -> bool {
    match statement {
        Statement::Ddl(Ddl::CreateTable(create)) => !create.temporary,
        Statement::Ddl(Ddl::DropTables { temporary, .. }) => !temporary,
        Statement::Ddl(Ddl::DefaultRoles { .. }) => false,
        Statement::Ddl(_) => true,
        Statement::CreateTableSelect(create, _) => !create.temporary,
        Statement::Transaction(
            TransactionStatement::Begin { .. } | TransactionStatement::Commit(_) | TransactionStatement::Rollback(_),
        ) => true,
        Statement::Admin(Admin::ChangeSource(_) | Admin::StartReplica(_) | Admin::StopReplica(_)) => true,
        Statement::Program(program) => matches!(**program, ProgramStatement::AlterEvent(_)),
        _ => false,
    }
}

/// `SET NEW.a = …`
fn set_in_trigger(trigger: &Trigger, item: &SetItem) -> Parsed<()> {
    let SetItem::Variable { name, .. } = item else { return Ok(()) };
    let Some((row, _)) = name.split_once('.') else { return Ok(()) };
    if row.eq_ignore_ascii_case("OLD") {
        return error(codes::TRG_CANT_CHANGE_ROW, "Updating of OLD row is not allowed in trigger");
    }
    if !row.eq_ignore_ascii_case("NEW") {
        return Ok(());
    }
    check_row(trigger, "NEW")?;
    match trigger.after {
        true => error(codes::TRG_CANT_CHANGE_ROW, "Updating of NEW row is not allowed in after trigger"),
        false => Ok(()),
    }
}

/// Whether a trigger has that row.
pub(super) fn check_row(trigger: &Trigger, row: &str) -> Parsed<()> {
    let has_none = match trigger.event {
        TriggerEvent::Insert => row == "OLD",
        TriggerEvent::Update => false,
        TriggerEvent::Delete => row == "NEW",
    };
    if !has_none {
        return Ok(());
    }
    let message = format!("There is no {row} row in on {} trigger", trigger.event.word());
    error(codes::TRG_NO_SUCH_ROW_IN_TRG, message)
}
