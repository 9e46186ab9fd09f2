//! The tables that a statement over rows changes, by the names that stand there; nothing is looked up.

use sqlparser::ast as sql;

use super::split_name;
use crate::parse::ast::TableName;

/// INSERT, REPLACE.
pub(crate) fn insert(insert: &sql::Insert) -> Vec<TableName> {
    match &insert.table {
        sql::TableObject::TableName(name) => table(name).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// UPDATE: of several tables all, whichever of them SET names.
pub(crate) fn update(update: &sql::Update) -> Vec<TableName> {
    factors(std::slice::from_ref(&update.table)).filter_map(name_of).collect()
}

/// DELETE: of several tables those whose rows go, by name or alias.
pub(crate) fn delete(delete: &sql::Delete) -> Vec<TableName> {
    let (sql::FromTable::WithFromKeyword(from) | sql::FromTable::WithoutKeyword(from)) = &delete.from;
    let named: Vec<TableName> = delete.tables.iter().filter_map(table).collect();
    let sources = delete.using.as_deref().unwrap_or(from);
    let goes: Vec<TableName> = match named.is_empty() {
        true => factors(from).filter_map(name_of).collect(),
        false => named,
    };
    let real = |name: TableName| {
        let is_alias = |factor: &&sql::TableFactor| matches!(factor, sql::TableFactor::Table { alias: Some(alias), .. } if alias.name.value == name.name);
        factors(sources).find(is_alias).and_then(name_of).unwrap_or(name)
    };
    goes.into_iter().map(real).collect()
}

fn factors(tables: &[sql::TableWithJoins]) -> impl Iterator<Item = &sql::TableFactor> {
    tables
        .iter()
        .flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)))
}

fn name_of(factor: &sql::TableFactor) -> Option<TableName> {
    match factor {
        sql::TableFactor::Table { name, .. } => table(name),
        _ => None,
    }
}

fn table(name: &sql::ObjectName) -> Option<TableName> {
    let (schema, name) = split_name(name).ok()?;
    Some(TableName { schema: schema.map(str::to_owned), name: name.to_owned() })
}
