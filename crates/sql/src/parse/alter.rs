//! ALTER, CREATE INDEX, DROP INDEX.

use sqlparser::tokenizer::Token;

use super::ast::{AlterAction, AlterTable, ColumnPlace, Ddl, IndexKind, IndexSpec, Statement, TableOptions};
use super::error::ParseError;
use super::tokens::Tokens;
use super::{Parsed, account, column, create, unsupported};

/// ALTER of anything.
pub(super) fn alter(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("ALTER")?;
    if tokens.accept("DATABASE") || tokens.accept("SCHEMA") {
        let named =
            !["DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "ENCRYPTION"].iter().any(|word| tokens.next_are(word));
        let name = if named { Some(tokens.identifier()?) } else { None };
        let options = create::database_options(tokens)?;
        if options == super::ast::DatabaseOptions::default() {
            return tokens.unexpected();
        }
        return Ok(Statement::Ddl(Ddl::AlterDatabase { name, options }));
    }
    if tokens.accept("USER") {
        return account::alter_user(tokens);
    }
    let _ = tokens.accept("ONLINE") || tokens.accept("IGNORE");
    if !tokens.accept("TABLE") {
        return unsupported::alter(tokens);
    }
    let table = tokens.table_name()?;
    let mut actions = Vec::new();
    if !tokens.at_end() {
        tokens.comma_list(|tokens| action(tokens, &mut actions))?;
    }
    Ok(Statement::Ddl(Ddl::AlterTable(Box::new(AlterTable { table, actions }))))
}

/// CREATE [UNIQUE] INDEX, after INDEX.
pub(super) fn create_index(tokens: &mut Tokens<'_>, kind: IndexKind) -> Parsed<Statement> {
    tokens.accept("IF NOT EXISTS");
    let name = tokens.identifier()?;
    let mut using = None;
    if tokens.accept("USING") {
        using = Some(tokens.any_word()?.to_ascii_uppercase());
    }
    tokens.expect("ON")?;
    let table = tokens.table_name()?;
    let mut index =
        IndexSpec { kind, name: Some(name), parts: Vec::new(), comment: String::new(), invisible: false, using };
    create::index_parts_and_options(tokens, &mut index)?;
    online_options(tokens)?;
    let actions = vec![AlterAction::AddIndex(index)];
    Ok(Statement::Ddl(Ddl::AlterTable(Box::new(AlterTable { table, actions }))))
}

/// DROP INDEX, after INDEX.
pub(super) fn drop_index(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let name = match tokens.accept("PRIMARY") {
        true => "PRIMARY".to_string(),
        false => tokens.identifier()?,
    };
    tokens.expect("ON")?;
    let table = tokens.table_name()?;
    online_options(tokens)?;
    let action = match name.eq_ignore_ascii_case("PRIMARY") {
        true => AlterAction::DropPrimaryKey,
        false => AlterAction::DropIndex(name),
    };
    Ok(Statement::Ddl(Ddl::AlterTable(Box::new(AlterTable { table, actions: vec![action] }))))
}

/// ALGORITHM=…, LOCK=… behind CREATE INDEX and DROP INDEX.
fn online_options(tokens: &mut Tokens<'_>) -> Parsed<()> {
    while tokens.accept("ALGORITHM") || tokens.accept("LOCK") {
        tokens.accept_token(&Token::Eq);
        tokens.any_word()?;
    }
    Ok(())
}

fn action(tokens: &mut Tokens<'_>, actions: &mut Vec<AlterAction>) -> Parsed<()> {
    if tokens.accept("ADD") {
        return add(tokens, actions);
    }
    let action = if tokens.accept("DROP") {
        drop(tokens)?
    } else if tokens.accept("MODIFY") {
        tokens.accept("COLUMN");
        let mut keys = Vec::new();
        let column = column::column(tokens, &mut keys)?;
        actions.push(AlterAction::ModifyColumn(Box::new(column), place(tokens)?));
        actions.extend(keys.into_iter().map(AlterAction::from));
        return Ok(());
    } else if tokens.accept("CHANGE") {
        tokens.accept("COLUMN");
        let old = tokens.identifier()?;
        let mut keys = Vec::new();
        let column = column::column(tokens, &mut keys)?;
        actions.push(AlterAction::ChangeColumn(old, Box::new(column), place(tokens)?));
        actions.extend(keys.into_iter().map(AlterAction::from));
        return Ok(());
    } else if tokens.accept("RENAME") {
        rename(tokens)?
    } else if tokens.accept("ALTER") {
        alter_part(tokens)?
    } else if tokens.accept("CONVERT TO") {
        tokens.expect_one(&["CHARACTER SET", "CHARSET"])?;
        let charset = match tokens.accept("DEFAULT") {
            true => String::new(),
            false => tokens.name_or_string()?,
        };
        let collation = if tokens.accept("COLLATE") { Some(tokens.name_or_string()?) } else { None };
        AlterAction::ConvertTo(charset, collation)
    } else {
        return other(tokens, actions);
    };
    actions.push(action);
    Ok(())
}

fn add(tokens: &mut Tokens<'_>, actions: &mut Vec<AlterAction>) -> Parsed<()> {
    if let Some(key) = create::key(tokens)? {
        actions.push(key.into());
        return Ok(());
    }
    if tokens.next_are("PARTITION") {
        return Err(ParseError::not_supported("PARTITION"));
    }
    tokens.accept("COLUMN");
    tokens.accept("IF NOT EXISTS");
    let mut keys = Vec::new();
    if tokens.accept_token(&Token::LParen) {
        tokens.comma_list(|tokens| {
            match create::key(tokens)? {
                Some(key) => keys.push(key),
                None => {
                    let column = column::column(tokens, &mut keys)?;
                    actions.push(AlterAction::AddColumn(Box::new(column), ColumnPlace::Default));
                }
            }
            Ok(())
        })?;
        tokens.expect_token(&Token::RParen)?;
    } else {
        let column = column::column(tokens, &mut keys)?;
        actions.push(AlterAction::AddColumn(Box::new(column), place(tokens)?));
    }
    actions.extend(keys.into_iter().map(AlterAction::from));
    Ok(())
}

fn place(tokens: &mut Tokens<'_>) -> Parsed<ColumnPlace> {
    if tokens.accept("FIRST") {
        return Ok(ColumnPlace::First);
    }
    if tokens.accept("AFTER") {
        return tokens.identifier().map(ColumnPlace::After);
    }
    Ok(ColumnPlace::Default)
}

fn drop(tokens: &mut Tokens<'_>) -> Parsed<AlterAction> {
    if tokens.accept("PRIMARY KEY") {
        return Ok(AlterAction::DropPrimaryKey);
    }
    if tokens.accept("INDEX") || tokens.accept("KEY") {
        return tokens.identifier().map(AlterAction::DropIndex);
    }
    if tokens.accept("FOREIGN KEY") {
        return tokens.identifier().map(AlterAction::DropForeignKey);
    }
    if tokens.accept("CONSTRAINT") {
        return tokens.identifier().map(AlterAction::DropConstraint);
    }
    for refused in ["CHECK", "PARTITION"] {
        if tokens.next_are(refused) {
            return Err(ParseError::not_supported(format!("DROP {refused}")));
        }
    }
    tokens.accept("COLUMN");
    let name = tokens.identifier()?;
    let _ = tokens.accept("RESTRICT") || tokens.accept("CASCADE");
    Ok(AlterAction::DropColumn(name))
}

fn rename(tokens: &mut Tokens<'_>) -> Parsed<AlterAction> {
    if tokens.accept("COLUMN") {
        let old = tokens.identifier()?;
        tokens.expect("TO")?;
        return Ok(AlterAction::RenameColumn(old, tokens.identifier()?));
    }
    if tokens.accept("INDEX") || tokens.accept("KEY") {
        let old = tokens.identifier()?;
        tokens.expect("TO")?;
        return Ok(AlterAction::RenameIndex(old, tokens.identifier()?));
    }
    let _ = tokens.accept("TO") || tokens.accept("AS") || tokens.accept_token(&Token::Eq);
    tokens.table_name().map(AlterAction::Rename)
}

/// ALTER [COLUMN] … and ALTER INDEX … inside of ALTER TABLE.
fn alter_part(tokens: &mut Tokens<'_>) -> Parsed<AlterAction> {
    if tokens.accept("INDEX") {
        let name = tokens.identifier()?;
        let visible = tokens.expect_one(&["VISIBLE", "INVISIBLE", "NOT IGNORED", "IGNORED"])?;
        return Ok(AlterAction::IndexVisible(name, matches!(visible, "VISIBLE" | "NOT IGNORED")));
    }
    tokens.accept("COLUMN");
    let name = tokens.identifier()?;
    match tokens.expect_one(&["SET DEFAULT", "DROP DEFAULT", "SET VISIBLE", "SET INVISIBLE"])? {
        "SET DEFAULT" => Ok(AlterAction::ColumnDefault(name, Some(column::default(tokens)?))),
        "DROP DEFAULT" => Ok(AlterAction::ColumnDefault(name, None)),
        "SET VISIBLE" => Ok(AlterAction::ColumnVisible(name, true)),
        _ => Ok(AlterAction::ColumnVisible(name, false)),
    }
}

/// What changes nothing of the table's form, and options.
fn other(tokens: &mut Tokens<'_>, actions: &mut Vec<AlterAction>) -> Parsed<()> {
    if tokens.accept("ORDER BY") {
        tokens.comma_list(|tokens| {
            tokens.identifier()?;
            let _ = tokens.accept("ASC") || tokens.accept("DESC");
            Ok(())
        })?;
        actions.push(AlterAction::Nothing);
        return Ok(());
    }
    if tokens.next_are("ALGORITHM") || tokens.next_are("LOCK") {
        online_options(tokens)?;
        actions.push(AlterAction::Nothing);
        return Ok(());
    }
    if tokens.accept("FORCE") {
        actions.push(AlterAction::Force);
        return Ok(());
    }
    let words = ["DISABLE KEYS", "ENABLE KEYS", "WITHOUT VALIDATION", "WITH VALIDATION"];
    if tokens.accept_one(&words).is_some() {
        actions.push(AlterAction::Nothing);
        return Ok(());
    }
    for refused in [
        "PARTITION",
        "DISCARD",
        "IMPORT",
        "TRUNCATE",
        "REORGANIZE",
        "EXCHANGE",
        "COALESCE",
        "REMOVE",
        "REBUILD",
        "SECONDARY_LOAD",
    ] {
        if tokens.next_are(refused) {
            return Err(ParseError::not_supported(format!("ALTER TABLE … {refused}")));
        }
    }
    let options = create::table_options(tokens)?;
    if options == TableOptions::default() {
        return tokens.unexpected();
    }
    actions.push(AlterAction::Options(options));
    Ok(())
}
