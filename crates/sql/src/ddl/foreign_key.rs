//! Foreign keys: from what was written to a [`ForeignKeyDef`], and what definitions may not do to those that are there.
//!
//! A foreign key refers to a unique key, whole (MySQL's `restrict_fk_on_non_standard_key`, which cannot be turned off here).
//! With `foreign_key_checks = 0` the parent may be missing and have its texts in another character set; all else is checked, as in MySQL. Nothing is where
//! a log is applied: a definition was accepted where it was made.

use std::sync::Arc;

use base::{SqlError, codes};
use engine::Table;
use engine::catalog::NewForeignKey;
use types::schema::same_name;
use types::{ColumnDef, ColumnType, ForeignKeyDef, IndexDef, ReferentialAction, TableDef};

use super::mapper::same_values;
use super::{DdlContext, check_length, index, quote_identifier};
use crate::parse::ast::{ForeignKeySpec, IndexKind, IndexPart, IndexSpec, TableKey};

/// A table may have so many foreign keys; to compare each with all others takes no long time. (MySQL has no limit of its own.)
const FOREIGN_KEYS_MAX: usize = 1024;

/// Refuses a definition with too many foreign keys before anything is made of them (1069). What a log says was accepted where it was made.
pub(super) fn check_number(def: &TableDef, keys: &[TableKey], context: &DdlContext<'_>) -> Result<(), SqlError> {
    let new = keys.iter().filter_map(TableKey::foreign).count();
    if new == 0 || context.is_logged || def.foreign_keys.len() + new <= FOREIGN_KEYS_MAX {
        return Ok(());
    }
    let message = format!("Too many keys specified; max {FOREIGN_KEYS_MAX} keys allowed");
    Err(SqlError::new(codes::TOO_MANY_KEYS, message))
}

/// Adds the foreign keys among `keys` to a definition that has its indexes. `old` is the table before, if there was one.
pub(super) fn add_all(
    def: &mut TableDef,
    old: Option<&TableDef>,
    keys: &[TableKey],
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    keys.iter().filter_map(TableKey::foreign).try_for_each(|spec| add(def, old, spec, context))
}

fn add(
    def: &mut TableDef,
    old: Option<&TableDef>,
    spec: &ForeignKeySpec,
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    let name = name((def, old), spec, context)?;
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
    def.foreign_keys.push(key);
    Ok(())
}

fn name(
    (def, old): (&TableDef, Option<&TableDef>),
    spec: &ForeignKeySpec,
    context: &DdlContext<'_>,
) -> Result<String, SqlError> {
    // A foreign key that goes with the same statement has its name until then.
    let is_free = |table: &TableDef| context.is_logged && old.is_some_and(|old| old.id == table.id);
    let taken = |name: &str| {
        let others = context.catalog.tables(&def.schema).filter(|table| !is_free(&table.def));
        let others = others.flat_map(|table| &table.def.foreign_keys);
        others.chain(&def.foreign_keys).any(|key| same_name(&key.name, name))
    };
    let name = match &spec.name {
        Some(name) => name.clone(),
        None => {
            let last = old.into_iter().chain([def]).map(last_generated).max();
            format!("{}_ibfk_{}", def.name, last.unwrap_or(0) + 1)
        }
    };
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

/// Adds the index that a foreign key needs, unless there is one, or one among the keys that were written behind it.
pub(super) fn add_index(def: &mut TableDef, spec: &ForeignKeySpec, later: &[TableKey]) -> Result<(), SqlError> {
    spec.name.as_deref().map_or(Ok(()), check_length)?;
    let columns = spec.columns.iter().map(|column| child_column(def, column)).collect::<Result<Vec<usize>, _>>()?;
    let existing = def.index_over(&columns);
    let is_like_it = |index: &IndexDef| index.generated && index.parts.len() == columns.len();
    let is_there = existing.is_some_and(|at| !is_like_it(&def.indexes[at]));
    if is_there || later.iter().filter_map(TableKey::index).any(|index| is_over(index, &spec.columns)) {
        return Ok(());
    }
    // One that was made for another foreign key over these columns is this one's now, and has its name.
    let existing = existing.map(|at| def.indexes.remove(at).id);
    let parts = columns.iter().map(|&column| IndexPart::whole(&def.columns[column].name)).collect();
    let name = spec.name.clone().or_else(|| spec.index_name.clone());
    let index = IndexSpec { generated: true, ..IndexSpec::new(IndexKind::Plain, name, parts) };
    index::add(&index, &mut def.columns, &|_| false, &mut def.indexes)?;
    if let (Some(id), Some(index)) = (existing, def.indexes.last_mut()) {
        index.id = id;
    }
    Ok(())
}

/// Whether an index has these columns in front, whole.
fn is_over(index: &IndexSpec, columns: &[String]) -> bool {
    let is_it = |(part, column): (&IndexPart, &String)| {
        part.prefix.is_none() && !part.descending && same_name(&part.column, column)
    };
    index.parts.len() >= columns.len() && index.parts.iter().zip(columns).all(is_it)
}

/// Checks all foreign keys of a finished definition, those to itself included, against their parents as far as they are
/// there. `old` is the table before, if there was one.
pub(super) fn check(def: &TableDef, old: Option<&TableDef>, context: &DdlContext<'_>) -> Result<(), SqlError> {
    if context.is_logged {
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
        match mismatch(def, key, parent, context) {
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

/// Checks the foreign keys of other tables that have been waiting for a table of this name, or follow one that gets it.
pub(super) fn check_waiting(
    name: &engine::TableName,
    def: &TableDef,
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    if context.is_logged {
        return Ok(());
    }
    let keys = keys_to(&name.schema, &name.name, context).into_iter();
    for (child, key) in keys.filter(|(child, _)| child.id != def.id) {
        if let Some(wrong) = mismatch(child, key, def, context) {
            return Err(wrong.of_new(key));
        }
    }
    Ok(())
}

/// Checks the foreign keys of other tables to one that is altered. `renamed` has the new names of its columns.
pub(super) fn check_children(
    old: &TableDef,
    (new, sources): (&TableDef, &[Option<usize>]),
    renamed: &[(String, String)],
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    if context.is_logged {
        return Ok(());
    }
    // Another column may have its name by now.
    let is_dropped = |name: &&String| old.column_index(name).is_some_and(|column| !sources.contains(&Some(column)));
    for (child, key) in keys_to(&old.schema, &old.name, context).into_iter().filter(|(child, _)| child.id != old.id) {
        if let Some(column) = key.parent_columns.iter().find(is_dropped) {
            return Err(Mismatch::NoColumn(column.clone()).of_parent(child, key, old));
        }
        let mut key = key.clone();
        key.rename_parent_columns(renamed);
        if let Some(wrong) = mismatch(child, &key, new, context) {
            return Err(wrong.of_parent(child, &key, old));
        }
    }
    Ok(())
}

/// Whether columns that get another name, as old and new ones, are of a foreign key that stays, the table's own or one that refers to it.
pub(super) fn any_renamed(
    (table, new): (&TableDef, &TableDef),
    renamed: &[(String, String)],
    context: &DdlContext<'_>,
) -> bool {
    let is_renamed = |name: &String| renamed.iter().any(|(old, _)| same_name(old, name));
    let own = that_stay(table, new).flat_map(|key| &key.columns).map(|&column| &table.columns[column].name);
    let refers = |(child, key): (&TableDef, &ForeignKeyDef)| {
        (child.id != table.id || has_key(new, key)) && key.parent_columns.iter().any(is_renamed)
    };
    let mut keys = keys_to(&table.schema, &table.name, context).into_iter();
    !renamed.is_empty() && (own.into_iter().any(is_renamed) || keys.any(refers))
}

/// The foreign keys to a table, with the tables that have them.
fn keys_to<'c>(schema: &str, name: &str, context: &DdlContext<'c>) -> Vec<(&'c TableDef, &'c ForeignKeyDef)> {
    let keys = |child: &'c Arc<Table>| child.def.foreign_keys.iter().map(|key| (&*child.def, key));
    let keys = context.catalog.children_of(schema, name).flat_map(keys);
    keys.filter(|(_, key)| key.refers_to(schema, name)).collect()
}

/// A table's own foreign keys that its new definition has, too.
fn that_stay<'d>(old: &'d TableDef, new: &'d TableDef) -> impl Iterator<Item = &'d ForeignKeyDef> {
    old.foreign_keys.iter().filter(|key| has_key(new, key))
}

fn has_key(def: &TableDef, key: &ForeignKeyDef) -> bool {
    def.foreign_keys.iter().any(|other| same_name(&other.name, &key.name))
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
    for (child, key) in keys_to(&old.schema, &old.name, context) {
        if let Some(column) = find(&key.parent_columns) {
            let message = format!(
                "Cannot change column '{column}': used in a foreign key constraint '{}' of table '{}.{}'",
                key.name, child.schema, child.name
            );
            return Err(SqlError::new(codes::FK_COLUMN_CANNOT_CHANGE_CHILD, message));
        }
    }
    for key in that_stay(old, new) {
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

fn mismatch(def: &TableDef, key: &ForeignKeyDef, parent: &TableDef, context: &DdlContext<'_>) -> Option<Mismatch> {
    let mut parent_columns = Vec::with_capacity(key.columns.len());
    for (&column, name) in key.columns.iter().zip(&key.parent_columns) {
        let Some(at) = parent.column_index(name) else { return Some(Mismatch::NoColumn(name.clone())) };
        let (column, parent_column) = (&def.columns[column], &parent.columns[at]);
        if !are_compatible(column, parent_column, context.foreign_key_checks) {
            return Some(Mismatch::Types(column.name.clone(), parent_column.name.clone()));
        }
        parent_columns.push(at);
    }
    parent.unique_over(&parent_columns).is_none().then_some(Mismatch::NotUnique)
}

/// Whether both hold values of one kind that compare alike, if `checked`; only the lengths of strings may differ.
fn are_compatible(column: &ColumnDef, parent: &ColumnDef, checked: bool) -> bool {
    use ColumnType::*;
    if checked && column.collation != parent.collation {
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

/// The foreign keys whose values all have to be there: those that an ALTER TABLE adds, and with them, or if the table `is_copied`, all others, as rows may
/// have come while nothing was checked. Of these, those to the table itself are left out if rows change their form, and where a log is applied all.
pub(super) fn checked(
    old: &TableDef,
    new: &TableDef,
    (has_mapper, is_copied, renamed): (bool, bool, &[(String, String)]),
    context: &DdlContext<'_>,
) -> Result<Vec<NewForeignKey>, SqlError> {
    let mut checked = Vec::new();
    let any_new = new.foreign_keys.iter().any(|key| is_new(key, old));
    let checks_old = !context.is_logged && (is_copied || any_new);
    let is_checked = |key: &&ForeignKeyDef| context.foreign_key_checks && (checks_old || is_new(key, old));
    for key in new.foreign_keys.iter().filter(is_checked) {
        let is_itself = key.refers_to(&new.schema, &new.name);
        if is_itself && !is_new(key, old) && (has_mapper || !renamed.is_empty()) {
            continue;
        }
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
        checked.push(NewForeignKey { key: key.clone(), parent: parent.clone(), parent_index, refusal });
    }
    Ok(checked)
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
