//! KEY_COLUMN_USAGE, TABLE_CONSTRAINTS, REFERENTIAL_CONSTRAINTS.

use engine::Table;
use types::Value;

use super::rows::{Source, catalog, text, yes_no};
use crate::ddl::foreign_key::unique_index;
use crate::virtual_table::Wanted;

pub(super) fn key_column_usage(source: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    let def = &table.def;
    let mut push = |column: usize, row: Vec<Value>| {
        if source.sees_column(def, column) {
            rows.push(row);
        }
    };
    let row = |constraint: &str, column: usize, seq: usize| {
        let (schema, name) = (text(def.schema.clone()), text(def.name.clone()));
        let column = text(def.columns[column].name.clone());
        let seq = Value::UInt(seq as u64 + 1);
        vec![catalog(), schema.clone(), text(constraint), catalog(), schema, name, column, seq]
    };
    for index in def.indexes.iter().filter(|index| index.unique) {
        for (seq, part) in index.parts.iter().enumerate() {
            let mut row = row(&index.name, part.column, seq);
            row.extend([Value::Null, Value::Null, Value::Null, Value::Null]);
            push(part.column, row);
        }
    }
    for key in &def.foreign_keys {
        for (seq, (&column, parent_column)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
            let mut row = row(&key.name, column, seq);
            row.extend([
                Value::UInt(seq as u64 + 1),
                text(key.parent_schema.clone()),
                text(key.parent_table.clone()),
                text(parent_column.clone()),
            ]);
            push(column, row);
        }
    }
    rows
}

pub(super) fn table_constraints(_: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    let def = &table.def;
    let schema = text(def.schema.clone());
    let mut push = |name: &str, kind: &'static str| {
        let (schema, table) = (schema.clone(), text(def.name.clone()));
        rows.push(vec![catalog(), schema.clone(), text(name), schema, table, text(kind), yes_no(true)]);
    };
    for (at, index) in def.indexes.iter().enumerate().filter(|(_, index)| index.unique) {
        push(&index.name, if at == 0 { "PRIMARY KEY" } else { "UNIQUE" });
    }
    def.foreign_keys.iter().for_each(|key| push(&key.name, "FOREIGN KEY"));
    rows
}

pub(super) fn referential_constraints(source: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    let def = &table.def;
    for key in &def.foreign_keys {
        let parent = source.table(&key.parent_schema, &key.parent_table);
        let index = parent.and_then(|parent| Some(parent.def.indexes[unique_index(&parent.def, key)?].name.clone()));
        rows.push(vec![
            catalog(),
            text(def.schema.clone()),
            text(key.name.clone()),
            catalog(),
            text(key.parent_schema.clone()),
            index.map_or(Value::Null, text),
            text("NONE"),
            text(key.on_update.to_string()),
            text(key.on_delete.to_string()),
            text(def.name.clone()),
            text(key.parent_table.clone()),
        ]);
    }
    rows
}
