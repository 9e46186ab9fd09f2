//! CREATE, and the parts that it shares with ALTER: indexes and options.

use sqlparser::tokenizer::Token;

use super::ast::{
    AlterAction, AlterTable, CreateTable, DatabaseOptions, Ddl, IndexKind, IndexPart, IndexSpec, OnDuplicate,
    Statement, TableKey, TableOptions,
};
use super::error::ParseError;
use super::tokens::Tokens;
use super::{Parsed, account, alter, column, dml, foreign_key, role, unsupported};

/// CREATE of anything.
pub(super) fn create(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("CREATE")?;
    if REPLACEABLE.iter().any(|words| tokens.next_are(words)) {
        return create_or_replace(tokens);
    }
    create_what(tokens)
}

/// CREATE, behind its first words.
fn create_what(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    if tokens.accept("DATABASE") || tokens.accept("SCHEMA") {
        return create_database(tokens);
    }
    if tokens.accept("USER") {
        return account::create_user(tokens);
    }
    if tokens.accept("ROLE") {
        return role::create(tokens);
    }
    if tokens.accept("TEMPORARY TABLE") {
        return create_table(tokens, true);
    }
    if tokens.accept("TABLE") {
        return create_table(tokens, false);
    }
    let kind = match tokens.accept_one(&["UNIQUE INDEX", "INDEX"]) {
        Some("INDEX") => IndexKind::Plain,
        Some(_) => IndexKind::Unique,
        None => return unsupported::create(tokens),
    };
    alter::create_index(tokens, kind)
}

/// What MariaDB's CREATE OR REPLACE may make here.
const REPLACEABLE: [&str; 8] = [
    "OR REPLACE TABLE",
    "OR REPLACE TEMPORARY TABLE",
    "OR REPLACE DATABASE",
    "OR REPLACE SCHEMA",
    "OR REPLACE INDEX",
    "OR REPLACE UNIQUE INDEX",
    "OR REPLACE USER",
    "OR REPLACE ROLE",
];

/// CREATE OR REPLACE, behind CREATE: what is there is dropped, then it is CREATE. The log has two statements, which a MySQL knows too.
fn create_or_replace(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let place = tokens.place();
    tokens.expect("OR REPLACE")?;
    tokens.decided(place);
    // CREATE is not there again: its place is that of REPLACE.
    let statement = create_what(tokens)?;
    let dropped = match &statement {
        Statement::Ddl(Ddl::CreateTable(create)) | Statement::CreateTableSelect(create, _) => {
            if create.if_not_exists {
                return tokens.unexpected();
            }
            Ddl::DropTables { tables: vec![create.name.clone()], if_exists: true, temporary: create.temporary }
        }
        Statement::Ddl(Ddl::CreateDatabase { name, .. }) => Ddl::DropDatabase { name: name.clone(), if_exists: true },
        Statement::Ddl(Ddl::CreateUser { users, .. }) => {
            let users = users.iter().filter_map(|user| user.name.clone()).collect();
            Ddl::DropUser { users, if_exists: true }
        }
        Statement::Ddl(Ddl::CreateRole { roles, if_not_exists: false }) => {
            Ddl::DropRole { roles: roles.clone(), if_exists: true }
        }
        Statement::Ddl(Ddl::AlterTable(alter)) => {
            let names = alter.actions.iter().filter_map(|action| match action {
                AlterAction::AddIndex(index) => index.name.clone(),
                _ => None,
            });
            let drop = |(item, name)| AlterAction::If { action: Box::new(AlterAction::DropIndex(name)), item };
            let actions = names.enumerate().map(drop).collect();
            Ddl::AlterTable(Box::new(AlterTable {
                table: alter.table.clone(),
                if_exists: false,
                actions,
                of_index: true,
                online: None,
            }))
        }
        _ => return tokens.unexpected(),
    };
    tokens.replaced = Some(Box::new(dropped));
    Ok(statement)
}

fn create_database(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let if_not_exists = tokens.accept("IF NOT EXISTS");
    let name = tokens.identifier()?;
    let options = database_options(tokens)?;
    Ok(Statement::Ddl(Ddl::CreateDatabase { name, if_not_exists, options }))
}

pub(super) fn database_options(tokens: &mut Tokens<'_>) -> Parsed<DatabaseOptions> {
    let mut options = DatabaseOptions::default();
    let start = tokens.offset();
    loop {
        let place = tokens.place();
        tokens.accept("DEFAULT");
        if tokens.accept("CHARACTER SET") || tokens.accept("CHARSET") {
            tokens.accept_token(&Token::Eq);
            options.charset = Some(tokens.charset()?);
        } else if tokens.accept("COLLATE") {
            tokens.accept_token(&Token::Eq);
            options.collation = Some(tokens.collation()?);
        } else if tokens.accept("ENCRYPTION") {
            tokens.accept_token(&Token::Eq);
            if !tokens.string()?.eq_ignore_ascii_case("n") {
                return Err(ParseError::not_supported("ENCRYPTION"));
            }
            tokens.only_mysql(place, "");
        } else if tokens.accept("COMMENT") {
            tokens.accept_token(&Token::Eq);
            tokens.string()?;
        } else {
            if options.collation.is_some() {
                tokens.has_collation(start);
            }
            return Ok(options);
        }
    }
}

fn create_table(tokens: &mut Tokens<'_>, temporary: bool) -> Parsed<Statement> {
    let if_not_exists = tokens.accept("IF NOT EXISTS");
    let name = tokens.table_name()?;
    let mut table = CreateTable {
        name,
        temporary,
        if_not_exists,
        like: None,
        columns: Vec::new(),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
        on_duplicate: OnDuplicate::Error,
    };
    if tokens.accept("LIKE") {
        table.like = Some(tokens.table_name()?);
        return Ok(Statement::Ddl(Ddl::CreateTable(Box::new(table))));
    }
    let query_in_parentheses = tokens.peek_word_at(1).is_some_and(|word| word.eq_ignore_ascii_case("SELECT"));
    if tokens.peek() == Some(&Token::LParen) && !query_in_parentheses {
        tokens.next();
        if tokens.accept("LIKE") {
            table.like = Some(tokens.table_name()?);
            tokens.expect_token(&Token::RParen)?;
            return Ok(Statement::Ddl(Ddl::CreateTable(Box::new(table))));
        }
        tokens.comma_list(|tokens| table_element(tokens, &mut table))?;
        tokens.expect_token(&Token::RParen)?;
    }
    table.options = table_options(tokens)?;
    if tokens.next_are("PARTITION") && temporary {
        return Err(ParseError::not_supported("PARTITION BY of a temporary table"));
    }
    if tokens.next_are("PARTITION") {
        return Err(ParseError::not_supported("PARTITION BY"));
    }
    if tokens.accept("IGNORE") {
        table.on_duplicate = OnDuplicate::Ignore;
    } else if tokens.accept("REPLACE") {
        table.on_duplicate = OnDuplicate::Replace;
    }
    let has_query = tokens.accept("AS")
        || tokens.next_are("SELECT")
        || tokens.next_are("WITH")
        || tokens.peek() == Some(&Token::LParen);
    if has_query {
        let query = dml::query_rest(tokens)?;
        return Ok(Statement::CreateTableSelect(Box::new(table), query));
    }
    if table.on_duplicate != OnDuplicate::Error {
        return tokens.unexpected();
    }
    Ok(Statement::Ddl(Ddl::CreateTable(Box::new(table))))
}

fn table_element(tokens: &mut Tokens<'_>, table: &mut CreateTable) -> Parsed<()> {
    let mut keys = Vec::new();
    match key(tokens)? {
        Some(key) => keys.push(key),
        None => table.columns.push(column::column(tokens, &mut keys)?),
    }
    for key in keys {
        match key {
            TableKey::Index(index) => table.indexes.push(index),
            TableKey::Foreign(key) => table.foreign_keys.push(key),
        }
    }
    Ok(())
}

/// An index or foreign key of CREATE or ALTER TABLE; `None` if the next words are none.
pub(super) fn key(tokens: &mut Tokens<'_>) -> Parsed<Option<TableKey>> {
    let mut constraint = None;
    let constrained = tokens.accept("CONSTRAINT");
    if constrained && !["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"].iter().any(|word| tokens.next_are(word)) {
        constraint = Some(tokens.identifier()?);
    }
    if tokens.accept("FOREIGN KEY") {
        return foreign_key::foreign_key(tokens, constraint).map(|key| Some(TableKey::Foreign(key)));
    }
    if tokens.next_are("PERIOD FOR") {
        return Err(ParseError::not_supported("PERIOD FOR"));
    }
    // It is followed by its expression, so a column cannot be meant.
    if tokens.next_are("CHECK") {
        return Err(ParseError::not_supported("CHECK"));
    }
    for refused in ["FULLTEXT", "SPATIAL"] {
        if tokens.next_are(refused) {
            return Err(ParseError::not_supported(format!("{refused} indexes")));
        }
    }
    let kind = if tokens.accept("PRIMARY KEY") {
        IndexKind::Primary
    } else if tokens.accept("UNIQUE") {
        let _ = tokens.accept("KEY") || tokens.accept("INDEX");
        IndexKind::Unique
    } else if !constrained && (tokens.accept("KEY") || tokens.accept("INDEX")) {
        IndexKind::Plain
    } else if constrained {
        return tokens.unexpected();
    } else {
        return Ok(None);
    };
    index_after_kind(tokens, kind, constraint).map(|index| Some(TableKey::Index(index)))
}

pub(super) fn index_after_kind(
    tokens: &mut Tokens<'_>,
    kind: IndexKind,
    constraint: Option<String>,
) -> Parsed<IndexSpec> {
    let if_not_exists = tokens.condition("IF NOT EXISTS");
    let unnamed = tokens.peek() == Some(&Token::LParen) || tokens.next_are("USING");
    let name = if unnamed { None } else { Some(tokens.identifier()?) };
    let mut index = IndexSpec {
        kind,
        name: name.or(constraint),
        parts: Vec::new(),
        comment: String::new(),
        invisible: false,
        using: None,
        if_not_exists,
    };
    if tokens.accept("USING") || tokens.accept("TYPE") {
        index.using = Some(tokens.any_word()?.to_ascii_uppercase());
    }
    index_parts_and_options(tokens, &mut index)?;
    Ok(index)
}

pub(super) fn index_parts_and_options(tokens: &mut Tokens<'_>, index: &mut IndexSpec) -> Parsed<()> {
    index.parts = tokens.in_parentheses(index_part)?;
    loop {
        let place = tokens.place();
        if tokens.accept("USING") {
            index.using = Some(tokens.any_word()?.to_ascii_uppercase());
        } else if tokens.accept("COMMENT") {
            index.comment = tokens.string()?;
        } else if let Some(word) = tokens.accept_one(&VISIBILITIES) {
            visibility_read(tokens, place, word);
            index.invisible = matches!(word, "INVISIBLE" | "IGNORED");
        } else if tokens.accept("KEY_BLOCK_SIZE") {
            tokens.accept_token(&Token::Eq);
            tokens.number()?;
        } else if tokens.next_are("WITH PARSER") {
            return Err(ParseError::not_supported("FULLTEXT indexes"));
        } else {
            return Ok(());
        }
    }
}

/// Of an index, as MySQL and as MariaDB say it.
pub(super) const VISIBILITIES: [&str; 4] = ["VISIBLE", "INVISIBLE", "NOT IGNORED", "IGNORED"];

/// One of them was read.
pub(super) fn visibility_read(tokens: &mut Tokens<'_>, place: usize, word: &str) {
    match word {
        "VISIBLE" => tokens.only_mysql(place, "NOT IGNORED"),
        "INVISIBLE" => tokens.only_mysql(place, "IGNORED"),
        "IGNORED" => tokens.only_maria(place, "INVISIBLE"),
        _ => tokens.only_maria(place, "VISIBLE"),
    }
}

fn index_part(tokens: &mut Tokens<'_>) -> Parsed<IndexPart> {
    if tokens.peek() == Some(&Token::LParen) {
        return Err(ParseError::not_supported("indexes on expressions"));
    }
    let column = tokens.identifier()?;
    let mut prefix = None;
    if tokens.accept_token(&Token::LParen) {
        let length = tokens.number()?;
        prefix = Some(u32::try_from(length).or_else(|_| tokens.unexpected())?);
        tokens.expect_token(&Token::RParen)?;
    }
    let descending = tokens.accept("DESC");
    if !descending {
        tokens.accept("ASC");
    }
    Ok(IndexPart { column, prefix, descending })
}

/// Options whose value is a number or a word, and that are only recorded.
const RECORDED: &[&str] = &[
    "ROW_FORMAT",
    "KEY_BLOCK_SIZE",
    "AVG_ROW_LENGTH",
    "MAX_ROWS",
    "MIN_ROWS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "TABLE_CHECKSUM",
    "DELAY_KEY_WRITE",
    "PACK_KEYS",
    "INSERT_METHOD",
];

/// Tablespaces that every MySQL has; where a table's pages are says nothing here.
const BUILT_IN_TABLESPACES: [&str; 2] = ["innodb_file_per_table", "innodb_system"];

/// Options of MariaDB's engines that say nothing here.
const MARIA_ALONE: [&str; 3] = ["PAGE_COMPRESSION_LEVEL", "TRANSACTIONAL", "PAGE_CHECKSUM"];

/// Options of a table, with or without commas between.
pub(super) fn table_options(tokens: &mut Tokens<'_>) -> Parsed<TableOptions> {
    let mut options = TableOptions::default();
    let start = tokens.offset();
    let mut comma = None;
    loop {
        let pieces = tokens.pieces.len();
        if !table_option(tokens, &mut options)? {
            if options.collation.is_some() {
                tokens.has_collation(start);
            }
            return Ok(options);
        }
        // A comma may also end the options, in ALTER TABLE: it is no option.
        let next_comma = comma_between_options(tokens, &options);
        tokens.with_comma(pieces, comma, next_comma);
        comma = next_comma;
        if comma.is_some() {
            tokens.next();
        }
    }
}

/// The place of a comma that comes next, if an option is behind it.
fn comma_between_options(tokens: &mut Tokens<'_>, options: &TableOptions) -> Option<usize> {
    if tokens.peek() != Some(&Token::Comma) {
        return None;
    }
    let (place, pieces) = (tokens.place(), tokens.pieces.len());
    tokens.next();
    let is_followed = table_option(tokens, &mut options.clone()).unwrap_or(false);
    tokens.back_to(place);
    tokens.pieces.truncate(pieces);
    is_followed.then_some(place)
}

fn table_option(tokens: &mut Tokens<'_>, options: &mut TableOptions) -> Parsed<bool> {
    let place = tokens.place();
    tokens.accept("DEFAULT");
    let equals = |tokens: &mut Tokens<'_>| tokens.accept_token(&Token::Eq);
    if tokens.accept("ENGINE") {
        equals(tokens);
        let name = tokens.name_or_string()?;
        tokens.engine_read(place, &name);
        options.engine = Some(name);
    } else if tokens.accept("AUTO_INCREMENT") {
        equals(tokens);
        options.auto_increment = Some(tokens.number()?);
    } else if tokens.accept("CHARACTER SET") || tokens.accept("CHARSET") {
        equals(tokens);
        options.charset = Some(tokens.charset()?);
    } else if tokens.accept("COLLATE") {
        equals(tokens);
        options.collation = Some(tokens.collation()?);
    } else if tokens.accept("COMMENT") {
        equals(tokens);
        options.comment = Some(tokens.string()?);
    } else if let Some(name) = tokens.accept_one(RECORDED) {
        equals(tokens);
        options.recorded.push((name.to_string(), option_value(tokens)?));
    } else if tokens.accept("COMPRESSION") {
        equals(tokens);
        let name = tokens.string()?;
        let value = if name.is_empty() { "DEFAULT".to_string() } else { quoted(&name) };
        let is_none = name.is_empty() || name.eq_ignore_ascii_case("none");
        tokens.only_mysql(place, if is_none { "PAGE_COMPRESSED=0" } else { "PAGE_COMPRESSED=1" });
        options.recorded.push(("COMPRESSION".into(), value));
    } else if accept_option(tokens, "PAGE_COMPRESSED") {
        equals(tokens);
        let value = page_compressed(tokens)?;
        let is_none = value == "DEFAULT";
        tokens.only_maria(place, if is_none { "COMPRESSION=''" } else { "COMPRESSION='zlib'" });
        options.recorded.push(("COMPRESSION".into(), value));
    } else if MARIA_ALONE.iter().any(|name| accept_option(tokens, name)) {
        equals(tokens);
        option_value(tokens)?;
        tokens.only_maria(place, "");
    } else if tokens.accept("AUTOEXTEND_SIZE") {
        equals(tokens);
        option_value(tokens)?;
        tokens.only_mysql(place, "");
    } else if tokens.accept("ENCRYPTION") {
        equals(tokens);
        if !tokens.string()?.eq_ignore_ascii_case("n") {
            return Err(ParseError::not_supported("ENCRYPTION"));
        }
        tokens.only_mysql(place, "");
    } else if tokens.accept("PASSWORD") {
        equals(tokens);
        tokens.string()?;
    } else if tokens.accept("TABLESPACE") {
        equals(tokens);
        let name = tokens.name_or_string()?;
        if !BUILT_IN_TABLESPACES.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            return Err(ParseError::not_supported(format!("TABLESPACE {name}")));
        }
    } else if tokens.accept("START TRANSACTION") {
        options.rows_follow = true;
    } else if tokens.next_are("WITH SYSTEM VERSIONING") {
        return Err(ParseError::not_supported("WITH SYSTEM VERSIONING"));
    } else if ["DATA DIRECTORY", "INDEX DIRECTORY", "UNION", "CONNECTION", "SECONDARY_ENGINE"]
        .iter()
        .any(|w| tokens.next_are(w))
    {
        return Err(ParseError::not_supported(tokens.peek_word().unwrap_or_default().to_ascii_uppercase()));
    } else {
        tokens.back_to(place);
        return Ok(false);
    }
    Ok(true)
}

/// The name of an option of MariaDB's engines, which its SHOW CREATE TABLE puts into backticks.
fn accept_option(tokens: &mut Tokens<'_>, name: &str) -> bool {
    let is_it = matches!(tokens.peek(), Some(Token::Word(word)) if word.value.eq_ignore_ascii_case(name));
    if is_it {
        tokens.next();
    }
    is_it
}

/// What MariaDB's PAGE_COMPRESSED is as COMPRESSION: its own default is zlib.
fn page_compressed(tokens: &mut Tokens<'_>) -> Parsed<String> {
    let place = tokens.place();
    let value = option_value(tokens)?;
    match value.trim_matches('\'').to_ascii_uppercase().as_str() {
        "1" | "ON" | "YES" | "TRUE" => Ok(quoted("zlib")),
        "0" | "OFF" | "NO" | "FALSE" | "DEFAULT" => Ok("DEFAULT".to_string()),
        _ => {
            tokens.back_to(place);
            tokens.unexpected()
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn option_value(tokens: &mut Tokens<'_>) -> Parsed<String> {
    match tokens.peek() {
        Some(Token::Number(..)) => tokens.number().map(|number| number.to_string()),
        Some(Token::SingleQuotedString(_)) => tokens.string().map(|text| quoted(&text)),
        _ => tokens.any_word().map(|word| word.to_ascii_uppercase()),
    }
}
