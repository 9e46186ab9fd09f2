//! Foreign keys: from what was written to a [`ForeignKeyDef`], and what definitions may not do to those that are there.
//!
//! A foreign key refers to a unique key, whole (MySQL's `restrict_fk_on_non_standard_key`, which cannot be turned off here).
//! With `foreign_key_checks = 0`, and where a log is applied, the parent may be missing.

use base::{SqlError, codes};
use engine::Table;
use engine::catalog::NewForeignKey;
use types::schema::same_name;
use types::{ColumnDef, ColumnType, ForeignKeyDef, IndexDef, ReferentialAction, TableDef};

use super::mapper::same_values;
use super::{DdlContext, check_name, index, quote_identifier};
use crate::parse::ast::{ForeignKeySpec, IndexKind, IndexPart, IndexSpec};

/// Adds a foreign key to a definition, and the index over its columns if there is none.
pub(super) fn add(def: &mut TableDef, spec: &ForeignKeySpec, context: &DdlContext<'_>) -> Result<(), SqlError> {
    let name = name(def, spec, context)?;
    let columns = spec.columns.iter().map(|column| child_column(def, column)).collect::<Result<Vec<usize>, _>>()?;
    let parent_name = engine::TableName {
        schema: spec.parent.schema.clone().unwrap_or_else(|| def.schema.clone()),
        name: spec.parent.name.clone(),
    };
    let is_itself = parent_name.schema == def.schema && parent_name.name == def.name;
    let parent = context.catalog.base_table(&parent_name.schema, &parent_name.name).filter(|_| !is_itself);
    let parent_def = if is_itself { Some(&*def) } else { parent.map(|parent| &*parent.def) };
    let parent_columns = match (&spec.parent_columns[..], parent_def) {
        ([], Some(parent)) => parent.indexes.first().map(|primary| column_names(parent, primary)).unwrap_or_default(),
        (named, _) => named.to_vec(),
    };
    let key = ForeignKeyDef {
        name,
        columns,
        parent_schema: parent_name.schema,
        parent_table: parent_name.name,
        parent_columns,
        on_delete: spec.on_delete,
        on_update: spec.on_update,
    };
    check_form(def, &key, spec)?;
    if parent_def.is_none() && context.foreign_key_checks {
        let message = format!("Failed to open the referenced table '{}'", key.parent_table);
        return Err(SqlError::new(codes::FK_CANNOT_OPEN_PARENT, message));
    }
    add_index(def, &key, spec)?;
    def.foreign_keys.push(key);
    Ok(())
}

fn name(def: &TableDef, spec: &ForeignKeySpec, context: &DdlContext<'_>) -> Result<String, SqlError> {
    let taken = |name: &str| {
        let others = context.catalog.tables(&def.schema).filter(|table| table.def.name != def.name);
        let others = others.flat_map(|table| &table.def.foreign_keys);
        others.chain(&def.foreign_keys).any(|key| same_name(&key.name, name))
    };
    let name = match &spec.name {
        Some(name) => name.clone(),
        None => format!("{}_ibfk_{}", def.name, last_generated(def) + 1),
    };
    check_name(&name, || SqlError::new(codes::WRONG_NAME_FOR_INDEX, format!("Incorrect foreign key name '{name}'")))?;
    if taken(&name) {
        let message = format!("Duplicate foreign key constraint name '{name}'");
        return Err(SqlError::new(codes::FK_DUP_NAME, message));
    }
    Ok(name)
}

/// The highest number among the names that were made for a table's foreign keys.
fn last_generated(def: &TableDef) -> u64 {
    let prefix = format!("{}_ibfk_", def.name);
    let number = |key: &ForeignKeyDef| key.name.strip_prefix(&prefix)?.parse().ok();
    def.foreign_keys.iter().filter_map(number).max().unwrap_or(0)
}

fn child_column(def: &TableDef, name: &str) -> Result<usize, SqlError> {
    def.column_index(name).ok_or_else(|| {
        let message = format!("Key column '{name}' doesn't exist in table");
        SqlError::new(codes::KEY_COLUMN_DOES_NOT_EXIST, message)
    })
}

fn column_names(def: &TableDef, index: &IndexDef) -> Vec<String> {
    index.parts.iter().map(|part| def.columns[part.column].name.clone()).collect()
}

/// What does not depend on the parent.
fn check_form(def: &TableDef, key: &ForeignKeyDef, spec: &ForeignKeySpec) -> Result<(), SqlError> {
    if key.columns.len() != key.parent_columns.len() {
        let name = spec.name.as_deref().unwrap_or("foreign key without name");
        let message =
            format!("Incorrect foreign key definition for '{name}': Key reference and table reference don't match");
        return Err(SqlError::new(codes::WRONG_FK_DEF, message));
    }
    check_set_null(def, key)
}

/// ON … SET NULL needs columns that may be NULL (1830).
fn check_set_null(def: &TableDef, key: &ForeignKeyDef) -> Result<(), SqlError> {
    let sets_null = [key.on_delete, key.on_update].contains(&ReferentialAction::SetNull);
    let wrong = key.columns.iter().map(|&column| &def.columns[column]).find(|column| sets_null && !column.nullable);
    wrong.map_or(Ok(()), |column| {
        let message = format!(
            "Column '{}' cannot be NOT NULL: needed in a foreign key constraint '{}' SET NULL",
            column.name, key.name
        );
        Err(SqlError::new(codes::FK_COLUMN_NOT_NULL, message))
    })
}

fn add_index(def: &mut TableDef, key: &ForeignKeyDef, spec: &ForeignKeySpec) -> Result<(), SqlError> {
    let existing = def.index_over(&key.columns);
    let is_like_it = |index: &IndexDef| index.generated && index.parts.len() == key.columns.len();
    if existing.is_some_and(|at| !is_like_it(&def.indexes[at])) {
        return Ok(());
    }
    // One that was made for another foreign key over these columns is this one's now, and has its name.
    let existing = existing.map(|at| def.indexes.remove(at).id);
    let part =
        |&column: &usize| IndexPart { column: def.columns[column].name.clone(), prefix: None, descending: false };
    let index = IndexSpec {
        kind: IndexKind::Plain,
        name: spec.name.clone().or_else(|| spec.index_name.clone()),
        parts: key.columns.iter().map(part).collect(),
        comment: String::new(),
        invisible: false,
        if_not_exists: false,
        generated: true,
    };
    index::add(&index, &mut def.columns, &|_| false, &mut def.indexes)?;
    if let (Some(id), Some(index)) = (existing, def.indexes.last_mut()) {
        index.id = id;
    }
    Ok(())
}

/// Checks all foreign keys of a finished definition, those to itself included, against their parents as far as they are
/// there. `old` is the table before, if there was one.
pub(super) fn check(def: &TableDef, old: Option<&TableDef>, context: &DdlContext<'_>) -> Result<(), SqlError> {
    if !context.foreign_key_checks {
        return Ok(());
    }
    for key in &def.foreign_keys {
        let is_new = old.is_none_or(|old| is_new(key, old));
        check_set_null(def, key)?;
        if def.index_over(&key.columns).is_none() {
            return Err(needed_index(old, &key.columns));
        }
        let is_itself = key.refers_to(&def.schema, &def.name);
        let parent = context.catalog.base_table(&key.parent_schema, &key.parent_table).map(|parent| &*parent.def);
        let Some(parent) = (if is_itself { Some(def) } else { parent }) else { continue };
        match mismatch(def, key, parent) {
            None => {}
            Some(wrong) if is_new => return Err(wrong.of_new(key)),
            Some(wrong) => return Err(wrong.of_parent(def, key, old.unwrap_or(def))),
        }
    }
    Ok(())
}

/// Whether a table did not have a foreign key before.
fn is_new(key: &ForeignKeyDef, old: &TableDef) -> bool {
    old.foreign_keys.iter().all(|other| other.name != key.name)
}

/// Checks the foreign keys of other tables to one that is altered. `renamed` has the new names of its columns.
pub(super) fn check_children(
    old: &TableDef,
    (new, sources): (&TableDef, &[Option<usize>]),
    renamed: &[(String, String)],
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    if !context.foreign_key_checks {
        return Ok(());
    }
    // Another column may have its name by now.
    let is_dropped = |name: &&String| old.column_index(name).is_some_and(|column| !sources.contains(&Some(column)));
    for child in context.catalog.children_of(&old.schema, &old.name).filter(|child| child.id() != old.id) {
        for key in child.def.foreign_keys.iter().filter(|key| key.refers_to(&old.schema, &old.name)) {
            if let Some(column) = key.parent_columns.iter().find(is_dropped) {
                return Err(Mismatch::NoColumn(column.clone()).of_parent(&child.def, key, old));
            }
            let mut key = key.clone();
            key.rename_parent_columns(renamed);
            if let Some(wrong) = mismatch(&child.def, &key, new) {
                return Err(wrong.of_parent(&child.def, &key, old));
            }
        }
    }
    Ok(())
}

/// Whether columns that get another name, as old and new ones, are of a foreign key, the table's own or one that refers to it.
pub(super) fn any_renamed(table: &TableDef, renamed: &[(String, String)], context: &DdlContext<'_>) -> bool {
    let is_renamed = |name: &String| renamed.iter().any(|(old, _)| same_name(old, name));
    let own = table.foreign_keys.iter().flat_map(|key| &key.columns).map(|&column| &table.columns[column].name);
    let children = context.catalog.children_of(&table.schema, &table.name);
    let has_key = |child: &TableDef| {
        let keys = child.foreign_keys.iter().filter(|key| key.refers_to(&table.schema, &table.name));
        keys.flat_map(|key| &key.parent_columns).any(is_renamed)
    };
    !renamed.is_empty() && (own.into_iter().any(is_renamed) || children.into_iter().any(|child| has_key(&child.def)))
}

/// Columns of foreign keys, and those to which some refer, do not get another form while the table is copied (1832, 1833), unless foreign keys are not
/// checked.
pub(super) fn check_changed(
    old: &TableDef,
    (new, sources): (&TableDef, &[Option<usize>]),
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    if !context.foreign_key_checks {
        return Ok(());
    }
    let is_other = |(column, source): (&ColumnDef, &Option<usize>)| {
        let was = &old.columns[(*source)?];
        let takes_no_null = was.nullable && !column.nullable;
        let is_same = !takes_no_null && was.auto_increment == column.auto_increment && same_values(was, column);
        (!is_same).then_some(was.name.as_str())
    };
    let others: Vec<&str> = new.columns.iter().zip(sources).filter_map(is_other).collect();
    let find = |names: &[String]| others.iter().find(|other| names.iter().any(|name| same_name(name, other))).copied();
    for child in context.catalog.children_of(&old.schema, &old.name) {
        for key in child.def.foreign_keys.iter().filter(|key| key.refers_to(&old.schema, &old.name)) {
            if let Some(column) = find(&key.parent_columns) {
                let (name, child) = (&key.name, child.full_name());
                let message = format!(
                    "Cannot change column '{column}': used in a foreign key constraint '{name}' of table '{child}'"
                );
                return Err(SqlError::new(codes::FK_COLUMN_CANNOT_CHANGE_CHILD, message));
            }
        }
    }
    let stays = |key: &&ForeignKeyDef| new.foreign_keys.iter().any(|other| same_name(&other.name, &key.name));
    for key in old.foreign_keys.iter().filter(stays) {
        let names: Vec<String> = key.columns.iter().map(|&column| old.columns[column].name.clone()).collect();
        if let Some(column) = find(&names) {
            let message = format!("Cannot change column '{column}': used in a foreign key constraint '{}'", key.name);
            return Err(SqlError::new(codes::FK_COLUMN_CANNOT_CHANGE, message));
        }
    }
    Ok(())
}

/// Why a foreign key does not fit its parent.
enum Mismatch {
    /// The parent has no such column.
    NoColumn(String),
    /// These columns cannot hold the same values: the child's, the parent's.
    Types(String, String),
    /// The parent's columns are no unique key.
    NotUnique,
}

fn mismatch(def: &TableDef, key: &ForeignKeyDef, parent: &TableDef) -> Option<Mismatch> {
    let mut parent_columns = Vec::with_capacity(key.columns.len());
    for (&column, name) in key.columns.iter().zip(&key.parent_columns) {
        let Some(at) = parent.column_index(name) else { return Some(Mismatch::NoColumn(name.clone())) };
        let (column, parent_column) = (&def.columns[column], &parent.columns[at]);
        if !are_compatible(column, parent_column) {
            return Some(Mismatch::Types(column.name.clone(), parent_column.name.clone()));
        }
        parent_columns.push(at);
    }
    parent.unique_over(&parent_columns).is_none().then_some(Mismatch::NotUnique)
}

/// Whether both hold values of one kind that compare alike; only the lengths of strings may differ.
fn are_compatible(column: &ColumnDef, parent: &ColumnDef) -> bool {
    use ColumnType::*;
    if column.collation != parent.collation {
        return false;
    }
    match (&column.ty, &parent.ty) {
        (Char { .. } | VarChar { .. }, Char { .. } | VarChar { .. })
        | (Binary { .. } | VarBinary { .. }, Binary { .. } | VarBinary { .. }) => true,
        (ty, parent) => ty == parent,
    }
}

impl Mismatch {
    fn of_new(self, key: &ForeignKeyDef) -> SqlError {
        let (name, parent) = (&key.name, &key.parent_table);
        match self {
            Mismatch::NoColumn(column) => {
                let message = format!(
                    "Failed to add the foreign key constraint. Missing column '{column}' for constraint '{name}' in the \
                     referenced table '{parent}'"
                );
                SqlError::new(codes::FK_NO_COLUMN_PARENT, message)
            }
            Mismatch::Types(column, parent_column) => {
                let message = format!(
                    "Referencing column '{column}' and referenced column '{parent_column}' in foreign key constraint \
                     '{name}' are incompatible."
                );
                SqlError::new(codes::FK_INCOMPATIBLE_COLUMNS, message)
            }
            Mismatch::NotUnique => {
                let message = format!(
                    "Failed to add the foreign key constraint. Missing unique key for constraint '{name}' in the \
                     referenced table '{parent}'"
                );
                SqlError::new(codes::FK_NO_UNIQUE_INDEX_PARENT, message)
            }
        }
    }

    /// Of one that was there before its parent was altered.
    fn of_parent(self, child: &TableDef, key: &ForeignKeyDef, parent: &TableDef) -> SqlError {
        match self {
            Mismatch::NoColumn(column) => {
                let message = format!(
                    "Cannot drop column '{column}': needed in a foreign key constraint '{}' of table '{}'",
                    key.name, child.name
                );
                SqlError::new(codes::FK_COLUMN_CANNOT_DROP_CHILD, message)
            }
            Mismatch::Types(..) => self.of_new(key),
            Mismatch::NotUnique => {
                let columns: Vec<usize> =
                    key.parent_columns.iter().filter_map(|column| parent.column_index(column)).collect();
                needed_index(Some(parent), &columns)
            }
        }
    }
}

/// 1553, with the index that was there.
fn needed_index(old: Option<&TableDef>, columns: &[usize]) -> SqlError {
    let was =
        old.and_then(|old| old.unique_over(columns).or_else(|| old.index_over(columns)).map(|at| &old.indexes[at]));
    let name = was.map_or("", |index| &index.name);
    SqlError::new(codes::DROP_INDEX_FK, format!("Cannot drop index '{name}': needed in a foreign key constraint"))
}

/// 1828, of a column that a foreign key needs.
pub(super) fn cannot_drop_column(column: &str, key: &str) -> SqlError {
    let message = format!("Cannot drop column '{column}': needed in a foreign key constraint '{key}'");
    SqlError::new(codes::FK_COLUMN_CANNOT_DROP, message)
}

/// The foreign keys that an ALTER TABLE adds, whose values all have to be there.
pub(super) fn added(
    old: &TableDef,
    new: &TableDef,
    (has_mapper, renamed): (bool, &[(String, String)]),
    context: &DdlContext<'_>,
) -> Result<Vec<NewForeignKey>, SqlError> {
    let mut added = Vec::new();
    for key in new.foreign_keys.iter().filter(|key| context.foreign_key_checks && is_new(key, old)) {
        let is_itself = key.refers_to(&new.schema, &new.name);
        if is_itself && has_mapper {
            return Err(SqlError::not_supported(
                "a foreign key of a table to itself, added while its rows change their form",
            ));
        }
        let is_renamed = |column: &String| renamed.iter().any(|(_, new)| same_name(new, column));
        if is_itself && key.parent_columns.iter().any(is_renamed) {
            let message = "ALGORITHM=COPY is not supported. Reason: Columns participating in a foreign key are renamed. \
                           Try ALGORITHM=INPLACE.";
            return Err(SqlError::new(codes::ALTER_OPERATION_NOT_SUPPORTED_REASON, message));
        }
        let name = if is_itself { (&old.schema, &old.name) } else { (&key.parent_schema, &key.parent_table) };
        let Some(parent) = context.catalog.base_table(name.0, name.1) else { continue };
        let Some(parent_index) = unique_index(&parent.def, key) else { continue };
        let refusal = no_parent(new, key);
        added.push(NewForeignKey { key: key.clone(), parent: parent.clone(), parent_index, refusal });
    }
    Ok(added)
}

/// The parent's unique index that a foreign key refers to.
pub(crate) fn unique_index(parent: &TableDef, key: &ForeignKeyDef) -> Option<usize> {
    let columns: Option<Vec<usize>> = key.parent_columns.iter().map(|column| parent.column_index(column)).collect();
    parent.unique_over(&columns?)
}

/// 3730 if a table of another is a child of one that goes; `goes` tells which go with it.
pub(super) fn check_drop(
    table: &Table,
    goes: impl Fn(&Table) -> bool,
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    let Some((child, key)) = first_child(table, goes, context) else { return Ok(()) };
    let message = format!(
        "Cannot drop table '{}' referenced by a foreign key constraint '{}' on table '{}'.",
        table.def.name, key.name, child.name
    );
    Err(SqlError::new(codes::FK_CANNOT_DROP_PARENT, message))
}

/// 1701 if another table is a child of one that is emptied.
pub(super) fn check_truncate(table: &Table, context: &DdlContext<'_>) -> Result<(), SqlError> {
    let Some((child, key)) = first_child(table, |child| child.id() == table.id(), context) else { return Ok(()) };
    let message = format!(
        "Cannot truncate a table referenced in a foreign key constraint (`{}`.`{}`, CONSTRAINT `{}`)",
        child.schema, child.name, key.name
    );
    Err(SqlError::new(codes::TRUNCATE_ILLEGAL_FK, message))
}

/// The first foreign key to a table, of those of tables that do not go with it; none if they are not checked.
fn first_child<'c>(
    table: &Table,
    goes: impl Fn(&Table) -> bool,
    context: &DdlContext<'c>,
) -> Option<(&'c TableDef, &'c ForeignKeyDef)> {
    let (schema, name) = (&table.def.schema, &table.def.name);
    let mut children = context.catalog.children_of(schema, name);
    let child = &children.find(|child| context.foreign_key_checks && !goes(child))?.def;
    Some((child, child.foreign_keys.iter().find(|key| key.refers_to(schema, name))?))
}

/// 1452, of a child's row whose parent is not there.
pub(crate) fn no_parent(child: &TableDef, key: &ForeignKeyDef) -> SqlError {
    violated("Cannot add or update a child row", codes::NO_REFERENCED_ROW_2, child, key)
}

/// 1451, of a parent's row with a child that refuses its change.
pub(crate) fn has_children(child: &TableDef, key: &ForeignKeyDef) -> SqlError {
    violated("Cannot delete or update a parent row", codes::ROW_IS_REFERENCED_2, child, key)
}

fn violated(what: &str, code: codes::Code, child: &TableDef, key: &ForeignKeyDef) -> SqlError {
    let clause = clause(child, key);
    let (schema, name) = (&child.schema, &child.name);
    SqlError::new(code, format!("{what}: a foreign key constraint fails (`{schema}`.`{name}`, {clause})"))
}

/// `CONSTRAINT … FOREIGN KEY … REFERENCES … ON …` as SHOW CREATE TABLE and error messages have it.
pub(crate) fn clause(def: &TableDef, key: &ForeignKeyDef) -> String {
    let columns: Vec<String> = key.columns.iter().map(|&at| quote_identifier(&def.columns[at].name)).collect();
    let parent_columns: Vec<String> = key.parent_columns.iter().map(|name| quote_identifier(name)).collect();
    let mut parent = quote_identifier(&key.parent_table);
    if key.parent_schema != def.schema {
        parent = format!("{}.{parent}", quote_identifier(&key.parent_schema));
    }
    let mut text = format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {parent} ({})",
        quote_identifier(&key.name),
        columns.join(", "),
        parent_columns.join(", "),
    );
    for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        if action != ReferentialAction::NoAction {
            text.push_str(&format!(" ON {event} {action}"));
        }
    }
    text
}
