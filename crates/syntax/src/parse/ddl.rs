//! DROP, TRUNCATE, RENAME.

use super::tokens::Tokens;
use super::{Parsed, account, alter, role, unsupported};
use crate::statement::{AbsentKind, Ddl, Statement};

/// DROP of anything.
pub(super) fn drop(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let place = tokens.place();
    tokens.expect("DROP")?;
    if tokens.accept("DATABASE") || tokens.accept("SCHEMA") {
        let if_exists = tokens.accept("IF EXISTS");
        let name = tokens.database_name()?;
        return Ok(Statement::Ddl(Ddl::DropDatabase { name, if_exists }));
    }
    let temporary = tokens.accept("TEMPORARY");
    if temporary && !tokens.next_are("TABLE") && !tokens.next_are("TABLES") {
        return tokens.unexpected();
    }
    if tokens.accept("TABLE") || tokens.accept("TABLES") {
        let if_exists = tokens.accept("IF EXISTS");
        let tables = tokens.comma_list(Tokens::table_name)?;
        alter::wait(tokens)?;
        let _ = tokens.accept("RESTRICT") || tokens.accept("CASCADE");
        return Ok(Statement::Ddl(Ddl::DropTables { tables, if_exists, temporary }));
    }
    if tokens.accept("INDEX") {
        return alter::drop_index(tokens);
    }
    if tokens.accept("USER") {
        return account::drop_user(tokens);
    }
    if tokens.accept("ROLE") {
        return role::drop(tokens);
    }
    if let Some(kind) = absent(tokens) {
        return drop_absent(tokens, kind, place);
    }
    if tokens.accept("PREPARE") {
        return Ok(Statement::Deallocate(tokens.identifier()?));
    }
    unsupported::drop(tokens)
}

fn absent(tokens: &mut Tokens<'_>) -> Option<AbsentKind> {
    let kinds = ["VIEW", "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "SEQUENCE", "PACKAGE BODY", "PACKAGE"];
    Some(match tokens.accept_one(&kinds)? {
        "SEQUENCE" => AbsentKind::Sequence,
        "PACKAGE BODY" => AbsentKind::PackageBody,
        "PACKAGE" => AbsentKind::Package,
        "VIEW" => AbsentKind::View,
        "PROCEDURE" => AbsentKind::Procedure,
        "FUNCTION" => AbsentKind::Function,
        "TRIGGER" => AbsentKind::Trigger,
        _ => AbsentKind::Event,
    })
}

/// DROP of what there is none of here, behind what it is; the statement begins at a place. MySQL does not know all of it.
fn drop_absent(tokens: &mut Tokens<'_>, kind: AbsentKind, place: usize) -> Parsed<Statement> {
    let if_exists = tokens.accept("IF EXISTS");
    let names = match kind {
        AbsentKind::View | AbsentKind::Sequence => {
            let names = tokens.comma_list(Tokens::table_name)?;
            let _ = tokens.accept("RESTRICT") || tokens.accept("CASCADE");
            names
        }
        _ => vec![tokens.table_name()?],
    };
    if matches!(kind, AbsentKind::Sequence | AbsentKind::Package | AbsentKind::PackageBody) {
        tokens.only_maria(place, "");
    }
    Ok(Statement::Ddl(Ddl::DropAbsent { kind, names, if_exists }))
}

/// TRUNCATE [TABLE].
pub(super) fn truncate(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("TRUNCATE")?;
    tokens.accept("TABLE");
    let table = tokens.table_name()?;
    alter::wait(tokens)?;
    Ok(Statement::Ddl(Ddl::Truncate(table)))
}

/// RENAME TABLE, RENAME USER.
pub(super) fn rename(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("RENAME")?;
    if tokens.accept("USER") {
        let pairs = tokens.comma_list(|tokens| {
            let from = tokens.named_user()?;
            tokens.expect("TO")?;
            Ok((from, tokens.named_user()?))
        })?;
        return Ok(Statement::Ddl(Ddl::RenameUser(pairs)));
    }
    tokens.expect_one(&["TABLES", "TABLE"])?;
    let if_exists = tokens.accept("IF EXISTS");
    let pairs = tokens.comma_list(|tokens| {
        let from = tokens.table_name()?;
        alter::wait(tokens)?;
        tokens.expect("TO")?;
        Ok((from, tokens.table_name()?))
    })?;
    Ok(Statement::Ddl(Ddl::RenameTables { pairs, if_exists }))
}
