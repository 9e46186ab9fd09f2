//! CREATE, and the parts that it shares with ALTER: indexes and options.

use crate::Token;

use super::declared_charset::DeclaredCharset;
use super::table_options::table_options;
use super::tokens::Tokens;
use super::{Parsed, account, alter, column, foreign_key, program, role};
use crate::ParseError;
use crate::statement::{
    CreateTable, DatabaseOptions, Ddl, IndexKind, IndexPart, IndexSpec, OnDuplicate, Statement, TableKey, TableOptions,
};

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
        None => return program::create(tokens),
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

/// CREATE OR REPLACE, behind CREATE: what is there is dropped, then it is CREATE. The log has two statements, or an ALTER TABLE, which a MySQL knows too.
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
        // The session makes one statement of both, if there is such an index.
        Statement::Ddl(ddl @ Ddl::AlterTable(_)) => ddl.clone(),
        _ => return tokens.unexpected(),
    };
    tokens.replaced = Some(Box::new(dropped));
    Ok(statement)
}

fn create_database(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let if_not_exists = tokens.accept("IF NOT EXISTS");
    let name = tokens.database_name()?;
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
            DeclaredCharset { charset: &mut options.charset, collation: &mut options.collation }.charset(tokens)?;
        } else if tokens.accept("COLLATE") {
            tokens.accept_token(&Token::Eq);
            DeclaredCharset { charset: &mut options.charset, collation: &mut options.collation }.collation(tokens)?;
        } else if tokens.accept("ENCRYPTION") {
            tokens.accept_token(&Token::Eq);
            if !tokens.string()?.eq_ignore_ascii_case("n") {
                return Err(ParseError::not_supported("ENCRYPTION"));
            }
            tokens.only_mysql(place, "");
        } else if tokens.accept("COMMENT") {
            tokens.accept_token(&Token::Eq);
            tokens.string()?;
            tokens.only_maria(place, "");
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
        keys: Vec::new(),
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
        let query = Box::new(tokens.query()?);
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
    table.keys.extend(keys);
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
    let mut index = IndexSpec { if_not_exists, ..IndexSpec::new(kind, name.or(constraint), Vec::new()) };
    index_type(tokens, &mut index)?;
    index_parts_and_options(tokens, &mut index)?;
    Ok(index)
}

pub(super) fn index_parts_and_options(tokens: &mut Tokens<'_>, index: &mut IndexSpec) -> Parsed<()> {
    index.parts = tokens.in_parentheses(index_part)?;
    loop {
        let place = tokens.place();
        if index_type(tokens, index)? {
            continue;
        }
        if tokens.accept("COMMENT") {
            index.comment = tokens.string()?;
        } else if let Some(word) = tokens.accept_one(&VISIBILITIES) {
            visibility_read(tokens, place, word);
            index.invisible = matches!(word, "INVISIBLE" | "IGNORED");
        } else if tokens.accept("KEY_BLOCK_SIZE") {
            tokens.accept_token(&Token::Eq);
            tokens.number()?;
        } else if tokens.next_are("WITH PARSER") {
            return Err(ParseError::not_supported("FULLTEXT indexes"));
        } else if let Some(word) =
            ["ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"].iter().find(|w| tokens.next_are(w))
        {
            return Err(ParseError::not_supported(word));
        } else {
            return Ok(());
        }
    }
}

/// USING, if it comes next: every index is a B-tree, as every one of InnoDB is.
pub(super) fn index_type(tokens: &mut Tokens<'_>, index: &mut IndexSpec) -> Parsed<bool> {
    if !tokens.accept("USING") && !tokens.accept("TYPE") {
        return Ok(false);
    }
    match tokens.expect_one(&["BTREE", "HASH", "RTREE"])? {
        "RTREE" => return Err(ParseError::not_supported("indexes USING RTREE")),
        word => index.hash = word == "HASH",
    }
    Ok(true)
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
