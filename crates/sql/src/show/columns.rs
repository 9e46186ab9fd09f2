//! Columns and indexes of a table.

use base::SqlError;
use jiff::tz::TimeZone;
use types::{ColumnDef, ColumnType, TableDef, Value};

use super::objects::table_of;
use super::{Rows, opt, result_column};
use crate::account::matches_pattern;
use crate::ddl;
use crate::information_schema::{self, system_database};
use crate::parse::ast::TableName;
use crate::result::ResultColumn;
use crate::session::Session;

/// SHOW COLUMNS.
pub(super) fn columns(session: &mut Session, full: bool, _extended: bool, name: &TableName) -> Result<Rows, SqlError> {
    let mut rows = Rows::new(match full {
        true => {
            "Field v64, Type x, Collation v64?, Null v3, Key w3, Default x?, Extra v256, Privileges v154, Comment w1024"
        }
        false => "Field v64, Type x, Null v3, Key w3, Default x?, Extra v256",
    });
    let schema = name.schema.as_deref().or(session.database()).unwrap_or_default().to_string();
    let zone = session.settings().zone();
    if let Some(system) = system_database(&schema) {
        let columns = information_schema::columns_of(system, &name.name);
        let columns = columns.ok_or_else(|| ddl::no_such_table(system, &name.name))?;
        if system == "mysql" {
            session.check_any_on_table(system, &name.name)?;
        }
        for column in &columns {
            rows.push(line(column, "", full, "select", &zone));
        }
        return Ok(rows);
    }
    let table = table_of(session, name)?;
    let show_generated = session.settings().show_gipk_in_create_table_and_information_schema;
    for (at, column) in table.def.columns.iter().enumerate() {
        if at == 0 && table.def.generated_pk && !show_generated {
            continue;
        }
        let privileges = column_privileges(session, &table.def, &column.name);
        if privileges.is_empty() && !table.is_temporary() {
            continue;
        }
        let mut row = line(column, key_of(&table.def, at), full, &privileges, &zone);
        if table.is_temporary() {
            row[if full { 6 } else { 5 }] = Value::str(extra_of_temporary(column));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn line(column: &ColumnDef, key: &str, full: bool, privileges: &str, zone: &TimeZone) -> Vec<Value> {
    let mut row = vec![Value::str(column.name.clone()), Value::str(column.type_text())];
    if full {
        row.push(opt(column.ty.has_charset().then(|| column.collation.name())));
    }
    row.push(Value::str(if column.nullable { "YES" } else { "NO" }));
    row.push(Value::str(key));
    row.push(default_of(column, zone));
    row.push(Value::str(extra_of(column)));
    if full {
        row.push(Value::str(privileges));
        row.push(Value::str(column.comment.clone()));
    }
    row
}

/// `select,insert,update,references`, as far as the account has them on a column.
pub(crate) fn column_privileges(session: &mut Session, def: &TableDef, column: &str) -> String {
    crate::information_schema::privileges_text(session.account().on_column(&def.schema, &def.name, column))
}

/// PRI, UNI, MUL or nothing.
pub(crate) fn key_of(def: &TableDef, column: usize) -> &'static str {
    if def.primary().parts.iter().any(|part| part.column == column) {
        return "PRI";
    }
    let leads = |index: &&types::IndexDef| index.parts.first().is_some_and(|part| part.column == column);
    let mut leading = def.indexes[1..].iter().filter(leads).peekable();
    if leading.peek().is_none() {
        return "";
    }
    if leading.any(|index| index.unique && index.parts.len() == 1) { "UNI" } else { "MUL" }
}

/// The Default column: plain text, NULL where there is none.
pub(crate) fn default_of(column: &ColumnDef, zone: &TimeZone) -> Value {
    if let Some(local) = ddl::local_default(column, zone) {
        return Value::str(ddl::shown_default(&local, column));
    }
    match &column.default {
        None | Some(types::ColumnDefault::Literal(Value::Null)) => Value::Null,
        Some(types::ColumnDefault::Literal(value)) => match (&column.ty, value) {
            (ColumnType::Bit { .. }, _) => Value::str(ddl::default_text_of(column)),
            _ => Value::str(ddl::shown_default(value, column)),
        },
        Some(types::ColumnDefault::CurrentTimestamp { .. }) => Value::str(ddl::default_text_of(column)),
        Some(types::ColumnDefault::Expression(text)) => Value::str(text.clone()),
    }
}

/// The Extra column.
pub(crate) fn extra_of(column: &ColumnDef) -> String {
    let mut words = Vec::new();
    if column.auto_increment {
        words.push("auto_increment".to_string());
    }
    if matches!(column.default, Some(types::ColumnDefault::CurrentTimestamp { .. })) {
        words.push("DEFAULT_GENERATED".into());
    }
    if column.on_update_now {
        words.push(match column.ty {
            ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } if fsp > 0 => {
                format!("on update CURRENT_TIMESTAMP({fsp})")
            }
            _ => "on update CURRENT_TIMESTAMP".into(),
        });
    }
    if column.invisible {
        words.push("INVISIBLE".into());
    }
    words.join(" ")
}

/// The same of a temporary table: MySQL has the word NULL where there is nothing, and does not say that a default is computed.
fn extra_of_temporary(column: &ColumnDef) -> String {
    let extra = extra_of(column);
    let extra = extra.replacen("DEFAULT_GENERATED", "", 1);
    if extra.trim().is_empty() { "NULL".to_owned() } else { extra.trim().to_owned() }
}

/// SHOW INDEX.
pub(super) async fn indexes(session: &mut Session, name: &TableName) -> Result<Rows, SqlError> {
    let mut rows = Rows::new(
        "Table w64, Non_unique i, Key_name v64, Seq_in_index i, Column_name v64?, Collation v1?, Cardinality b?, \
         Sub_part b?, Packed v10?, Null v3, Index_type w11, Comment v8, Index_comment w2048, Visible v3, Expression t?",
    );
    let schema = name.schema.as_deref().or(session.database()).unwrap_or_default();
    if system_database(schema).is_some() {
        return Ok(rows);
    }
    let table = table_of(session, name)?;
    // Of a damaged table nothing may be known.
    session.shared().engine.statistics(&table).await.ok();
    for row in information_schema::index_rows(&table) {
        rows.push(row);
    }
    Ok(rows)
}

/// COM_FIELD_LIST.
pub(crate) fn field_list(
    session: &mut Session,
    name: &TableName,
    pattern: &str,
) -> Result<Vec<ResultColumn>, SqlError> {
    let schema = session.database().unwrap_or_default().to_string();
    let columns = match system_database(&schema) {
        Some(system) => {
            information_schema::columns_of(system, &name.name).ok_or_else(|| ddl::no_such_table(system, &name.name))?
        }
        None => table_of(session, name)?.def.columns.clone(),
    };
    let pattern = pattern.to_lowercase();
    let wanted = |column: &&ColumnDef| pattern.is_empty() || matches_pattern(&pattern, &column.name.to_lowercase());
    let describe = |column: &ColumnDef| {
        let mut result = result_column(column);
        result.org_name = result.name.clone();
        result.table = name.name.as_str().into();
        result.org_table = result.table.clone();
        result.schema = schema.as_str().into();
        result
    };
    Ok(columns.iter().filter(wanted).map(describe).collect())
}
