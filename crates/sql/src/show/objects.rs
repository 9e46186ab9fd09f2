//! Databases and tables.

use base::{SqlError, codes};
use engine::Table;
use types::Value;

use super::{Rows, opt};
use crate::account::Privilege;
use crate::ddl;
use crate::information_schema::{self, system_database};
use crate::parse::ast::{Filter, NothingToShow, TableName};
use crate::session::Session;

/// The databases that the account may see, by name.
pub(crate) fn visible_databases(session: &mut Session) -> Vec<String> {
    let account = session.account();
    let catalog = session.catalog();
    let own = catalog.databases().map(|database| database.name.clone()).filter(|name| account.sees_database(name));
    let mut names: Vec<String> = own.collect();
    let system = information_schema::DATABASES.iter().filter(|name| **name != "mysql" || account.sees_database(name));
    names.extend(system.map(|name| (*name).to_string()));
    names.sort();
    names
}

pub(super) fn databases(session: &mut Session, filter: &Filter) -> Rows {
    let title = match filter {
        Filter::Like(pattern) => format!("Database ({pattern})"),
        _ => "Database".into(),
    };
    let mut rows = Rows::new("Database w64");
    rows.columns[0].name = title;
    for name in visible_databases(session) {
        rows.push(vec![Value::str(name)]);
    }
    rows
}

/// The database that a statement means: named, or the default one; it has to be there and to be seen.
fn database_of(session: &mut Session, named: Option<&str>) -> Result<String, SqlError> {
    let name = match named.or(session.database()) {
        Some(name) => name.to_string(),
        None => return Err(ddl::no_database()),
    };
    if let Some(system) = system_database(&name) {
        if !session.enters_database(system) {
            return Err(session.database_denied(system));
        }
        return Ok(system.to_string());
    }
    if session.catalog().database(&name).is_none() {
        return Err(ddl::unknown_database(&name));
    }
    if !session.lists_tables(&name) {
        return Err(session.database_denied(&name));
    }
    Ok(name)
}

pub(super) fn tables(
    session: &mut Session,
    full: bool,
    database: Option<&str>,
    filter: &Filter,
) -> Result<Rows, SqlError> {
    let database = database_of(session, database)?;
    let mut rows = Rows::new(if full { "Tables w64, Table_type w11" } else { "Tables w64" });
    rows.columns[0].name = match filter {
        Filter::Like(pattern) => format!("Tables_in_{database} ({pattern})"),
        _ => format!("Tables_in_{database}"),
    };
    let (names, kind) = match system_database(&database) {
        // What is in `mysql` can be read, but not dumped, which is what its tables are listed for.
        Some("mysql") => (Vec::new(), "BASE TABLE"),
        Some(system) => (information_schema::table_names(system), "SYSTEM VIEW"),
        None => (visible_tables(session, &database), "BASE TABLE"),
    };
    for name in names {
        let mut row = vec![Value::str(name)];
        if full {
            row.push(Value::str(kind));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn visible_tables(session: &mut Session, database: &str) -> Vec<String> {
    let catalog = session.catalog();
    let names: Vec<String> = catalog.tables(database).map(|table| table.def.name.clone()).collect();
    names.into_iter().filter(|name| session.sees_table(database, name)).collect()
}

pub(super) fn table_status(session: &mut Session, database: Option<&str>) -> Result<Rows, SqlError> {
    let database = database_of(session, database)?;
    let mut rows = Rows::new(
        "Name w64, Engine v64?, Version i?, Row_format w10?, Rows u?, Avg_row_length u?, Data_length u?, \
         Max_data_length u?, Index_length u?, Data_free u?, Auto_increment u?, Create_time s?, Update_time s?, \
         Check_time s?, Collation v64?, Checksum b?, Create_options v256?, Comment t?",
    );
    let names = visible_tables(session, &database);
    let catalog = session.catalog();
    let zone = session.settings().zone();
    for name in names {
        let Some(table) = catalog.base_table(&database, &name) else { continue };
        rows.push(information_schema::table_numbers(table, &session.shared().engine, &zone));
    }
    Ok(rows)
}

/// A table that the statement names and whose columns the account may ask for (1146, 1142).
pub(super) fn table_of(session: &mut Session, name: &TableName) -> Result<std::sync::Arc<Table>, SqlError> {
    let table = existing(session, name)?;
    session.check_any_on_table(&table.def.schema, &table.def.name)?;
    Ok(table)
}

/// A table that the statement names, whatever privileges the account has.
fn existing(session: &mut Session, name: &TableName) -> Result<std::sync::Arc<Table>, SqlError> {
    let schema = match name.schema.as_deref().or(session.database()) {
        Some(schema) => schema.to_string(),
        None => return Err(ddl::no_database()),
    };
    let catalog = session.catalog();
    if let Some(table) = catalog.temporary_table(&schema, &name.name) {
        session.check_xa_tables()?;
        session.check_xa_temporary()?;
        return Ok(table.clone());
    }
    if catalog.database(&schema).is_none() {
        return Err(ddl::unknown_database(&schema));
    }
    // Whether there is such a table is no secret, as in MySQL.
    catalog.table(&schema, &name.name).cloned().ok_or_else(|| ddl::no_such_table(&schema, &name.name))
}

pub(super) fn create_table(session: &mut Session, name: &TableName) -> Result<Rows, SqlError> {
    let schema = schema_given(session, name).unwrap_or_default();
    let schema = schema.as_str();
    if schema.eq_ignore_ascii_case("mysql") {
        session.check_may_show("mysql", &name.name)?;
    }
    let mut rows = Rows::new("Table v64, Create Table v1024");
    if let Some(text) = information_schema::definition_of(schema, &name.name) {
        rows.push(vec![Value::str(name.name.clone()), Value::str(text)]);
        return Ok(rows);
    }
    if system_database(schema).is_some() {
        return Err(SqlError::new(codes::WRONG_OBJECT, format!("'{schema}.{}' is not BASE TABLE", name.name)));
    }
    session.check_may_show(schema_given(session, name)?.as_str(), &name.name)?;
    let table = existing(session, name)?;
    let show_generated = session.settings().show_gipk_in_create_table_and_information_schema;
    let next = table.auto_increment().peek();
    let def = ddl::with_local_defaults(&table.def, &session.settings().zone());
    let mut text = ddl::create_table(&def, next, show_generated);
    if table.is_temporary() {
        text.replace_range(.."CREATE".len(), "CREATE TEMPORARY");
    }
    rows.push(vec![Value::str(table.def.name.clone()), Value::str(text)]);
    Ok(rows)
}

/// The database that the name of a table says, or the default one.
fn schema_given(session: &Session, name: &TableName) -> Result<String, SqlError> {
    name.schema.as_deref().or(session.database()).map(str::to_owned).ok_or_else(ddl::no_database)
}

/// SHOW CREATE VIEW: what is there is a table.
pub(super) fn no_view(session: &mut Session, name: &TableName) -> SqlError {
    let readable = schema_given(session, name)
        .is_ok_and(|schema| session.account().on_any_column(&schema, &name.name).has(Privilege::Select));
    if let (false, Err(denied)) = (readable, session.check_table(Privilege::Select, name)) {
        return denied;
    }
    match existing(session, name) {
        Ok(table) => {
            let message = format!("'{}.{}' is not VIEW", table.def.schema, table.def.name);
            SqlError::new(codes::WRONG_OBJECT, message)
        }
        Err(error) => error,
    }
}

/// Who may ask for triggers and events of a database.
pub(super) fn check_may_list(
    session: &mut Session,
    kind: NothingToShow,
    database: Option<&str>,
) -> Result<(), SqlError> {
    let database = || database.or(session.database()).map(str::to_owned);
    match kind {
        NothingToShow::Triggers => {
            let name = database().ok_or_else(ddl::no_database)?;
            if session.lists_tables(&name) { Ok(()) } else { Err(session.database_denied(&name)) }
        }
        NothingToShow::Events => {
            let name = database().ok_or_else(ddl::no_database)?;
            session.check_database(Privilege::Event, &name)
        }
        _ => Ok(()),
    }
}

/// SHOW CREATE of something of which there are none.
pub(super) fn nothing_of(session: &mut Session, kind: &str, name: &TableName) -> SqlError {
    if kind == "EVENT"
        && let Err(error) = check_may_list(session, NothingToShow::Events, name.schema.as_deref())
    {
        return error;
    }
    let name = &name.name;
    match kind {
        "TRIGGER" => SqlError::new(codes::TRG_DOES_NOT_EXIST, "Trigger does not exist"),
        "EVENT" => SqlError::new(codes::EVENT_DOES_NOT_EXIST, format!("Unknown event '{name}'")),
        _ => SqlError::new(codes::SP_DOES_NOT_EXIST, format!("{kind} {name} does not exist")),
    }
}

pub(super) fn create_database(session: &mut Session, name: &str, if_not_exists: bool) -> Result<Rows, SqlError> {
    // Whether there is such a database is said to those who could use it.
    if !session.enters_database(name) {
        return Err(session.database_denied(name));
    }
    let name = database_of(session, Some(name))?;
    let text = match session.catalog().database(&name) {
        Some(database) => ddl::create_database(database, if_not_exists),
        None => {
            let collation = types::CollationId::DEFAULT;
            ddl::create_database(&engine::Database { name: name.clone(), collation }, if_not_exists)
        }
    };
    let mut rows = Rows::new("Database v64, Create Database v1024");
    rows.push(vec![Value::str(name), opt(Some(text))]);
    Ok(rows)
}
