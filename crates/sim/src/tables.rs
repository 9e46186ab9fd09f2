//! The tables of the workload, and the planner that knows their definitions.

use std::sync::Arc;

use base::{IndexId, SqlError, TableId};
use bytes::Bytes;
use engine::{Catalog, CatalogChange, Database, DdlPlanner, DdlText, Table};
use types::{CollationId, ColumnDef, ColumnType, IndexDef, KeyPart, RowLayout, TableDef, Value};

/// The database.
pub(crate) const SCHEMA: &str = "sim";
/// One row for each transaction: who wrote it.
pub(crate) const LEDGER: &str = "ledger";
/// A few rows that everybody writes, with a secondary index on what changes.
pub(crate) const CELLS: &str = "cells";

/// Statements that make both, in order.
pub(crate) const DDL: [&str; 3] = ["CREATE DATABASE sim", "CREATE TABLE ledger", "CREATE TABLE cells"];

/// Plans [`DDL`], when it is executed and when it is replayed.
pub(crate) struct Planner;

impl DdlPlanner for Planner {
    fn plan(&self, text: &DdlText, _catalog: &Catalog) -> Result<CatalogChange, SqlError> {
        plan(&text.sql)
    }
}

pub(crate) fn plan(sql: &str) -> Result<CatalogChange, SqlError> {
    match sql {
        "CREATE DATABASE sim" => Ok(CatalogChange::CreateDatabase(Database {
            name: SCHEMA.to_owned(),
            collation: CollationId::UTF8MB4_0900_AI_CI,
        })),
        "CREATE TABLE ledger" => Ok(CatalogChange::CreateTable(Box::new(ledger()))),
        "CREATE TABLE cells" => Ok(CatalogChange::CreateTable(Box::new(cells()))),
        other => Err(SqlError::not_supported(other)),
    }
}

/// The definition of a table by name.
pub(crate) fn definition(name: &str) -> TableDef {
    if name == LEDGER { ledger() } else { cells() }
}

fn big_int() -> ColumnType {
    ColumnType::BigInt { unsigned: true }
}

fn ledger() -> TableDef {
    table(
        LEDGER,
        vec![
            ColumnDef::new("transaction", big_int()).not_null(),
            ColumnDef::new("note", ColumnType::VarChar { chars: 400 }),
        ],
        vec![index("PRIMARY", 0, true)],
    )
}

fn cells() -> TableDef {
    table(
        CELLS,
        vec![
            ColumnDef::new("cell", big_int()).not_null(),
            ColumnDef::new("writer", big_int()).not_null(),
            ColumnDef::new("unique_writer", big_int()),
        ],
        vec![index("PRIMARY", 0, true), index("writer", 1, false), index("unique_writer", 2, true)],
    )
}

fn index(name: &str, column: usize, unique: bool) -> IndexDef {
    IndexDef {
        id: IndexId(0),
        name: name.to_owned(),
        parts: vec![KeyPart::column(column)],
        unique,
        comment: String::new(),
        visible: true,
        generated: false,
    }
}

fn table(name: &str, columns: Vec<ColumnDef>, indexes: Vec<IndexDef>) -> TableDef {
    TableDef {
        id: TableId(0),
        schema: SCHEMA.to_owned(),
        name: name.to_owned(),
        columns,
        indexes,
        collation: CollationId::UTF8MB4_0900_AI_CI,
        comment: String::new(),
        generated_pk: false,
        engine_name: "InnoDB".to_owned(),
        foreign_keys: Vec::new(),
        auto_increment_start: 0,
        create_time: 0,
        options: Vec::new(),
    }
}

/// A table of the catalog.
pub(crate) fn find(catalog: &Catalog, name: &str) -> Arc<Table> {
    catalog.table(SCHEMA, name).cloned().expect("the workload makes its tables before it uses them")
}

/// The row image of these values.
pub(crate) fn row(layout: &RowLayout, values: &[Value]) -> Bytes {
    layout.encode(values).expect("the workload's values fit its columns")
}

/// The unsigned integers of a row; `None` for NULL and what is no integer.
pub(crate) fn numbers(layout: &RowLayout, row: &Bytes) -> Vec<Option<u64>> {
    let mut values = Vec::new();
    layout.decode(row, &mut values).expect("a row that the workload wrote");
    let number = |value: &Value| match value {
        Value::UInt(number) => Some(*number),
        _ => None,
    };
    values.iter().map(number).collect()
}
