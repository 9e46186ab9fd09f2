//! DROP, TRUNCATE and RENAME TABLE.

use std::collections::{BTreeMap, BTreeSet};

use base::{SqlError, codes};
use engine::CatalogChange;

use super::{DdlContext, PlannedDdl, check_table_name, foreign_key, no_such_table, quote_identifier, table_exists};
use crate::bind::scope::not_unique;
use crate::expr::WarningLevel;
use crate::parse::ast::TableName;

pub(super) fn drop(tables: &[TableName], if_exists: bool, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    check_distinct(tables, context.database)?;
    let (mut found, mut missing): (Vec<engine::TableName>, Vec<String>) = (Vec::new(), Vec::new());
    for table in tables {
        let resolved = resolve_or_missing(table, context)?;
        match resolved {
            Some(name) if context.catalog.table(&name.schema, &name.name).is_some() => found.push(name),
            _ => {
                let schema = table.schema.as_deref().or(context.database).unwrap_or_default();
                missing.push(format!("{schema}.{}", table.name));
            }
        }
    }
    if !missing.is_empty() && !if_exists {
        return Err(SqlError::new(codes::BAD_TABLE_ERROR, format!("Unknown table '{}'", missing.join(","))));
    }
    for name in missing {
        context.warnings.push(WarningLevel::Note, codes::BAD_TABLE_ERROR, format!("Unknown table '{name}'"));
    }
    let goes =
        |table: &engine::Table| found.iter().any(|name| name.schema == table.def.schema && name.name == table.def.name);
    for name in &found {
        foreign_key::check_drop(context.table(name)?, goes, context)?;
    }
    let names: Vec<String> = found
        .iter()
        .map(|name| format!("{}.{}", quote_identifier(&name.schema), quote_identifier(&name.name)))
        .collect();
    if found.is_empty() {
        return Ok(PlannedDdl::nothing());
    }
    // Only what is dropped is logged, so that applying the log never meets a table that is not there.
    let log_text = format!("DROP TABLE {}", names.join(","));
    Ok(PlannedDdl { log_text: Some(log_text), ..PlannedDdl::new(CatalogChange::DropTables(found)) })
}

/// 1066 for a table that DROP TABLE names twice, whether or not it is there.
pub(crate) fn check_distinct(tables: &[TableName], database: Option<&str>) -> Result<(), SqlError> {
    let mut seen = BTreeSet::new();
    let schema = |table: &TableName| table.schema.as_deref().or(database).unwrap_or_default().to_owned();
    match tables.iter().find(|table| !seen.insert((schema(table), table.name.clone()))) {
        Some(table) => Err(not_unique(&table.name)),
        None => Ok(()),
    }
}

/// For IF EXISTS: a table in a database that is not there does not exist.
fn resolve_or_missing(table: &TableName, context: &DdlContext<'_>) -> Result<Option<engine::TableName>, SqlError> {
    match context.resolve(table) {
        Ok(name) => Ok(Some(name)),
        Err(error) if error.code == codes::BAD_DB_ERROR.0 => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn truncate(table: &TableName, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let name = context.resolve(table)?;
    foreign_key::check_truncate(context.table(&name)?, context)?;
    Ok(PlannedDdl::new(CatalogChange::Truncate(name)))
}

/// RENAME TABLE: one after the other, so that two tables can change their names by a third.
pub(super) fn rename(
    pairs: &[(TableName, TableName)],
    if_exists: bool,
    context: &DdlContext<'_>,
) -> Result<PlannedDdl, SqlError> {
    // New names, with what the tables were named before the statement.
    let mut made: BTreeMap<engine::TableName, engine::TableName> = BTreeMap::new();
    let (mut gone, mut taken): (BTreeSet<engine::TableName>, BTreeSet<engine::TableName>) = Default::default();
    let mut renames = Vec::with_capacity(pairs.len());
    for (from, to) in pairs {
        let (from, to) = (context.resolve(from)?, context.resolve(to)?);
        check_table_name(&to.name)?;
        let exists = |name: &engine::TableName, made: &BTreeMap<_, _>, gone: &BTreeSet<_>| {
            made.contains_key(name) || !gone.contains(name) && context.catalog.table(&name.schema, &name.name).is_some()
        };
        if !exists(&from, &made, &gone) {
            let error = no_such_table(&from.schema, &from.name);
            if !if_exists {
                return Err(error);
            }
            context.warnings.push_error(WarningLevel::Note, &error);
            continue;
        }
        if exists(&to, &made, &gone) {
            return Err(table_exists(&to.name));
        }
        let before = made.remove(&from).unwrap_or_else(|| from.clone());
        gone.insert(from.clone());
        gone.remove(&to);
        let def = &context.table(&before)?.def;
        foreign_key::check_waiting(&before, def, context)?;
        // The first table of a name takes along the foreign keys that have been waiting for it.
        if context.catalog.base_table(&to.schema, &to.name).is_none() && taken.insert(to.clone()) {
            foreign_key::check_waiting(&to, def, context)?;
        }
        made.insert(to.clone(), before);
        renames.push((from, to));
    }
    if renames.is_empty() {
        return Ok(PlannedDdl::nothing());
    }
    // What was left out is not in the log.
    let log_text = if_exists.then(|| {
        let quoted =
            |name: &engine::TableName| format!("{}.{}", quote_identifier(&name.schema), quote_identifier(&name.name));
        let pairs: Vec<String> =
            renames.iter().map(|(from, to)| format!("{} TO {}", quoted(from), quoted(to))).collect();
        format!("RENAME TABLE {}", pairs.join(", "))
    });
    Ok(PlannedDdl { log_text, ..PlannedDdl::new(CatalogChange::RenameTables(renames)) })
}
