//! ALTER, CREATE INDEX, DROP INDEX.

use crate::Token;
use crate::ast::{Expr, ExprKind, Literal};
use base::{SqlError, codes};

use super::table_options::table_options;
use super::tokens::Tokens;
use super::{Parsed, account, column, create, program};
use crate::ParseError;
use crate::statement::{
    AlterAction, AlterTable, ColumnPlace, Ddl, DefaultSpec, IndexKind, IndexSpec, SetItem, SetScope, Statement,
    TableKey, TableName, TableOptions,
};

/// Makes an action about something that has a name.
type OfOne = fn(String) -> AlterAction;
/// The same about an old name and a new one.
type OfTwo = fn(String, String) -> AlterAction;

/// ALTER of anything.
pub(super) fn alter(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("ALTER")?;
    if tokens.accept("DATABASE") || tokens.accept("SCHEMA") {
        let named = !["DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "ENCRYPTION", "READ ONLY"]
            .iter()
            .any(|word| tokens.next_are(word));
        let name = if named { Some(tokens.database_name()?) } else { None };
        let place = tokens.place();
        let options = create::database_options(tokens)?;
        if tokens.next_are("READ ONLY") {
            return Err(ParseError::not_supported("READ ONLY of a database"));
        }
        if options == crate::statement::DatabaseOptions::default() {
            // Nothing would be changed that is kept, and the log would have half a statement.
            return match tokens.place() == place {
                true => tokens.unexpected(),
                false => Err(ParseError::not_supported("ALTER DATABASE of nothing but COMMENT or ENCRYPTION")),
            };
        }
        return Ok(Statement::Ddl(Ddl::AlterDatabase { name, options }));
    }
    if tokens.accept("USER") {
        return account::alter_user(tokens);
    }
    let how = tokens.accept_one(&["ONLINE", "IGNORE"]);
    if !tokens.accept("TABLE") {
        return program::alter(tokens);
    }
    let if_exists = tokens.condition("IF EXISTS");
    let table = tokens.table_name()?;
    wait(tokens)?;
    let mut actions = Vec::new();
    if !tokens.at_end() {
        tokens.comma_list(|tokens| {
            let start = tokens.offset();
            action(tokens, &mut actions)?;
            tokens.notes.items.push(start..tokens.end_of_last());
            Ok(())
        })?;
    }
    match how {
        Some("ONLINE") => tokens.online.get_or_insert_default().wished = true,
        Some(_) if actions.iter().any(AlterAction::adds_unique) => {
            return Err(ParseError::not_supported("ALTER IGNORE TABLE that adds a unique key"));
        }
        _ => {}
    }
    // It is about other actions.
    if !actions.is_empty() && actions.iter().all(|action| *action == AlterAction::Validation) {
        return Err(SqlError::new(codes::WRONG_USAGE, "Incorrect usage of ALTER and WITH VALIDATION").into());
    }
    let online = tokens.online.take();
    Ok(Statement::Ddl(Ddl::AlterTable(Box::new(AlterTable { table, if_exists, actions, of_index: false, online }))))
}

/// MariaDB's way to say for one statement how long it waits for others, as SET STATEMENT lock_wait_timeout does.
pub(super) fn wait(tokens: &mut Tokens<'_>) -> Parsed<()> {
    let place = tokens.place();
    let seconds = match tokens.accept_one(&["NOWAIT", "WAIT"]) {
        Some("WAIT") => tokens.number()?,
        Some(_) => 0,
        None => return Ok(()),
    };
    tokens.decided(place);
    // A second is the least that the setting can be.
    let value = Expr::new(ExprKind::Literal(Literal::Number(seconds.max(1).to_string().into())));
    let name = "lock_wait_timeout".to_owned();
    tokens.settings.push(SetItem::Variable { scope: SetScope::Session, name, value: Some(value) });
    Ok(())
}

/// An action, which is done only if what it names is there, or is not if it is added; if there was such a condition.
fn perhaps_if(tokens: &Tokens<'_>, is_conditional: bool, action: AlterAction) -> AlterAction {
    match is_conditional {
        true => AlterAction::If { action: Box::new(action), item: tokens.notes.items.len() },
        false => action,
    }
}

/// ADD of an index or a foreign key.
fn add_key(tokens: &Tokens<'_>, key: TableKey) -> AlterAction {
    let is_conditional = match &key {
        TableKey::Index(index) => index.if_not_exists,
        TableKey::Foreign(key) => key.if_not_exists,
    };
    perhaps_if(tokens, is_conditional, key.into())
}

/// CREATE [UNIQUE] INDEX, after INDEX.
pub(super) fn create_index(tokens: &mut Tokens<'_>, kind: IndexKind) -> Parsed<Statement> {
    let if_not_exists = tokens.condition("IF NOT EXISTS");
    let name = tokens.identifier()?;
    let mut index = IndexSpec { if_not_exists, ..IndexSpec::new(kind, Some(name), Vec::new()) };
    create::index_type(tokens, &mut index)?;
    tokens.expect("ON")?;
    let table = tokens.table_name()?;
    create::index_parts_and_options(tokens, &mut index)?;
    wait(tokens)?;
    online_options(tokens)?;
    let actions = vec![add_key(tokens, TableKey::Index(index))];
    Ok(of_index(tokens, table, actions))
}

/// DROP INDEX, after INDEX.
pub(super) fn drop_index(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let if_exists = tokens.condition("IF EXISTS");
    let name = match tokens.accept("PRIMARY") {
        true => "PRIMARY".to_string(),
        false => tokens.identifier()?,
    };
    tokens.expect("ON")?;
    let table = tokens.table_name()?;
    wait(tokens)?;
    online_options(tokens)?;
    let action = match name.eq_ignore_ascii_case("PRIMARY") {
        true => AlterAction::DropPrimaryKey,
        false => AlterAction::DropIndex(name),
    };
    let actions = vec![perhaps_if(tokens, if_exists, action)];
    Ok(of_index(tokens, table, actions))
}

/// What CREATE INDEX and DROP INDEX are: an ALTER TABLE that needs the privilege INDEX.
fn of_index(tokens: &mut Tokens<'_>, table: TableName, actions: Vec<AlterAction>) -> Statement {
    let online = tokens.online.take();
    Statement::Ddl(Ddl::AlterTable(Box::new(AlterTable { table, if_exists: false, actions, of_index: true, online })))
}

/// ALGORITHM=…, LOCK=… behind CREATE INDEX and DROP INDEX: the log does not have them.
fn online_options(tokens: &mut Tokens<'_>) -> Parsed<()> {
    let place = tokens.place();
    while online_option(tokens)? {}
    if tokens.place() > place {
        tokens.decided(place);
    }
    Ok(())
}

/// One of them, if it comes next.
fn online_option(tokens: &mut Tokens<'_>) -> Parsed<bool> {
    let Some(word) = tokens.accept_one(&["ALGORITHM", "LOCK"]) else { return Ok(false) };
    tokens.accept_token(&Token::Eq);
    let value = Some(tokens.any_word()?.to_ascii_uppercase());
    let online = tokens.online.get_or_insert_default();
    match word {
        "ALGORITHM" => online.algorithm = value,
        _ => online.lock = value,
    }
    Ok(true)
}

fn action(tokens: &mut Tokens<'_>, actions: &mut Vec<AlterAction>) -> Parsed<()> {
    if tokens.accept("ADD") {
        return add(tokens, actions);
    }
    let action = if tokens.accept("DROP") {
        drop(tokens)?
    } else if tokens.accept("MODIFY") {
        tokens.accept("COLUMN");
        let if_exists = tokens.condition("IF EXISTS");
        let mut keys = Vec::new();
        let column = column::column(tokens, &mut keys)?;
        refuse_keys(if_exists, &keys)?;
        let modify = AlterAction::ModifyColumn(Box::new(column), place(tokens)?);
        actions.push(perhaps_if(tokens, if_exists, modify));
        actions.extend(keys.into_iter().map(AlterAction::from));
        return Ok(());
    } else if tokens.accept("CHANGE") {
        tokens.accept("COLUMN");
        let if_exists = tokens.condition("IF EXISTS");
        let old = tokens.identifier()?;
        let mut keys = Vec::new();
        let column = column::column(tokens, &mut keys)?;
        refuse_keys(if_exists, &keys)?;
        let change = AlterAction::ChangeColumn(old, Box::new(column), place(tokens)?);
        actions.push(perhaps_if(tokens, if_exists, change));
        actions.extend(keys.into_iter().map(AlterAction::from));
        return Ok(());
    } else if tokens.accept("RENAME") {
        rename(tokens)?
    } else if tokens.accept("ALTER") {
        alter_part(tokens)?
    } else if tokens.accept("CONVERT TO") {
        tokens.expect_one(&["CHARACTER SET", "CHARSET"])?;
        let start = tokens.offset();
        let charset = match tokens.accept("DEFAULT") {
            true => String::new(),
            false => tokens.charset()?,
        };
        let collation = if tokens.accept("COLLATE") { Some(tokens.collation()?) } else { None };
        if collation.is_some() {
            tokens.has_collation(start);
        }
        AlterAction::ConvertTo(charset, collation)
    } else {
        return other(tokens, actions);
    };
    actions.push(action);
    Ok(())
}

fn add(tokens: &mut Tokens<'_>, actions: &mut Vec<AlterAction>) -> Parsed<()> {
    if let Some(key) = create::key(tokens)? {
        actions.push(add_key(tokens, key));
        return Ok(());
    }
    for refused in ["PARTITION", "SYSTEM VERSIONING"] {
        if tokens.next_are(refused) {
            return Err(ParseError::not_supported(refused));
        }
    }
    tokens.accept("COLUMN");
    let if_not_exists = tokens.condition("IF NOT EXISTS");
    let mut keys = Vec::new();
    if if_not_exists && tokens.peek() == Some(&Token::LParen) {
        return Err(ParseError::not_supported("ADD COLUMN IF NOT EXISTS of several columns in parentheses"));
    }
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
        refuse_keys(if_not_exists, &keys)?;
        let add = AlterAction::AddColumn(Box::new(column), place(tokens)?);
        actions.push(perhaps_if(tokens, if_not_exists, add));
    }
    actions.extend(keys.into_iter().map(AlterAction::from));
    Ok(())
}

/// A column that is perhaps left out, and keys that are not.
fn refuse_keys(is_conditional: bool, keys: &[TableKey]) -> Parsed<()> {
    match is_conditional && !keys.is_empty() {
        true => Err(ParseError::not_supported("IF EXISTS and IF NOT EXISTS of a column with a key")),
        false => Ok(()),
    }
}

fn place(tokens: &mut Tokens<'_>) -> Parsed<ColumnPlace> {
    let at = tokens.place();
    if tokens.accept("FIRST") {
        let word = tokens.range_of(at);
        tokens.notes.firsts.push(word);
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
    let named: [(&str, OfOne); 4] = [
        ("INDEX", AlterAction::DropIndex),
        ("KEY", AlterAction::DropIndex),
        ("FOREIGN KEY", AlterAction::DropForeignKey),
        ("CONSTRAINT", AlterAction::DropConstraint),
    ];
    if let Some((_, action)) = named.iter().find(|(words, _)| tokens.accept(words)) {
        let if_exists = tokens.condition("IF EXISTS");
        let action = action(tokens.identifier()?);
        return Ok(perhaps_if(tokens, if_exists, action));
    }
    for refused in ["CHECK", "PARTITION", "SYSTEM VERSIONING", "PERIOD"] {
        if tokens.next_are(refused) {
            return Err(ParseError::not_supported(format!("DROP {refused}")));
        }
    }
    tokens.accept("COLUMN");
    let if_exists = tokens.condition("IF EXISTS");
    let name = tokens.identifier()?;
    let _ = tokens.accept("RESTRICT") || tokens.accept("CASCADE");
    Ok(perhaps_if(tokens, if_exists, AlterAction::DropColumn(name)))
}

fn rename(tokens: &mut Tokens<'_>) -> Parsed<AlterAction> {
    let named: [(&str, OfTwo); 3] =
        [("COLUMN", AlterAction::RenameColumn), ("INDEX", AlterAction::RenameIndex), ("KEY", AlterAction::RenameIndex)];
    if let Some((_, action)) = named.iter().find(|(word, _)| tokens.accept(word)) {
        let if_exists = tokens.condition("IF EXISTS");
        let old = tokens.identifier()?;
        tokens.expect("TO")?;
        let action = action(old, tokens.identifier()?);
        return Ok(perhaps_if(tokens, if_exists, action));
    }
    let _ = tokens.accept("TO") || tokens.accept("AS") || tokens.accept_token(&Token::Eq);
    tokens.table_name().map(AlterAction::Rename)
}

/// ALTER [COLUMN] … and ALTER INDEX … inside of ALTER TABLE.
fn alter_part(tokens: &mut Tokens<'_>) -> Parsed<AlterAction> {
    if tokens.accept("INDEX") || tokens.accept("KEY") {
        let if_exists = tokens.condition("IF EXISTS");
        let name = tokens.identifier()?;
        let place = tokens.place();
        let word = tokens.expect_one(&create::VISIBILITIES)?;
        create::visibility_read(tokens, place, word);
        let action = AlterAction::IndexVisible(name, matches!(word, "VISIBLE" | "NOT IGNORED"));
        return Ok(perhaps_if(tokens, if_exists, action));
    }
    if let Some(word) = ["CHECK", "CONSTRAINT"].iter().find(|word| tokens.next_are(word)) {
        return Err(ParseError::not_supported(format!("ALTER {word}")));
    }
    tokens.accept("COLUMN");
    let if_exists = tokens.condition("IF EXISTS");
    let name = tokens.identifier()?;
    let action = match tokens.expect_one(&["SET DEFAULT", "DROP DEFAULT", "SET VISIBLE", "SET INVISIBLE"])? {
        "SET DEFAULT" => {
            let default = Some(new_default(tokens)?);
            AlterAction::ColumnDefault { column: name, default, item: tokens.notes.items.len() }
        }
        "DROP DEFAULT" => AlterAction::ColumnDefault { column: name, default: None, item: tokens.notes.items.len() },
        "SET VISIBLE" => AlterAction::ColumnVisible(name, true),
        _ => AlterAction::ColumnVisible(name, false),
    };
    Ok(perhaps_if(tokens, if_exists, action))
}

/// What changes nothing of the table's form, and options.
fn other(tokens: &mut Tokens<'_>, actions: &mut Vec<AlterAction>) -> Parsed<()> {
    if tokens.accept("ORDER BY") {
        tokens.comma_list(|tokens| {
            tokens.identifier()?;
            let _ = tokens.accept("ASC") || tokens.accept("DESC");
            Ok(())
        })?;
        actions.push(AlterAction::OrderBy);
        return Ok(());
    }
    if tokens.next_are("ALGORITHM") || tokens.next_are("LOCK") {
        while online_option(tokens)? {}
        let item = tokens.notes.items.len();
        tokens.online.get_or_insert_default().items.push(item);
        actions.push(AlterAction::Nothing);
        return Ok(());
    }
    if tokens.accept("FORCE") {
        actions.push(AlterAction::Force);
        return Ok(());
    }
    if tokens.accept("DISABLE KEYS") || tokens.accept("ENABLE KEYS") {
        actions.push(AlterAction::SwitchKeys);
        return Ok(());
    }
    if tokens.accept("WITHOUT VALIDATION") || tokens.accept("WITH VALIDATION") {
        actions.push(AlterAction::Validation);
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
        "SECONDARY_UNLOAD",
        "ANALYZE",
        "CHECK",
        "OPTIMIZE",
        "REPAIR",
        "START TRANSACTION",
    ] {
        if tokens.next_are(refused) {
            return Err(ParseError::not_supported(format!("ALTER TABLE … {refused}")));
        }
    }
    let place = tokens.place();
    let options = table_options(tokens)?;
    if tokens.place() == place {
        return tokens.unexpected();
    }
    // Some are read and say nothing here.
    let is_nothing = options == TableOptions::default();
    actions.push(if is_nothing { AlterAction::Nothing } else { AlterAction::Options(options) });
    Ok(())
}

/// The time without parentheses is read by MariaDB alone; in them it is an expression to MySQL.
fn new_default(tokens: &mut Tokens<'_>) -> Parsed<DefaultSpec> {
    let place = tokens.place();
    let is_bare = tokens.peek() != Some(&Token::LParen);
    let spec = column::default(tokens)?;
    if let (DefaultSpec::Now(digits), true) = (&spec, is_bare) {
        let expression =
            if *digits == 0 { "(CURRENT_TIMESTAMP)".to_owned() } else { format!("(CURRENT_TIMESTAMP({digits}))") };
        tokens.only_maria(place, &expression);
    }
    Ok(spec)
}
