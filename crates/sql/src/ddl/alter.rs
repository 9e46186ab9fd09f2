//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! The actions are applied one after the other to a working copy, in which indexes name their columns (positions change
//! under way) and every column remembers which old column its values come from. Then the copy becomes a definition again,
//! and the two definitions are compared: do rows change their form, does the clustered key, which indexes are new?

use std::sync::Arc;

use base::{IndexId, SqlError, codes};
use bytes::Bytes;
use engine::CatalogChange;
use engine::catalog::AlterTable as AlterChange;
use types::schema::same_name;
use types::{ColumnDef, ColumnDefault, ForeignKeyDef, IndexDef, KeyPart, TableDef};

use super::index::PRIMARY;
use super::{
    DdlContext, PlannedDdl, check_table_name, column, create, default, foreign_key, index, mapper, render, table_exists,
};
use crate::charsets;
use crate::expr::WarningLevel;
use crate::parse::ast::{
    AlterAction, AlterTable, ColumnPlace, ColumnSpec, ForeignKeySpec, IndexKind, IndexSpec, TableOptions,
};

pub(super) fn alter(alter: &AlterTable, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let name = context.resolve(&alter.table)?;
    let table = match context.table(&name) {
        Err(error) if alter.if_exists && error.code == codes::NO_SUCH_TABLE.0 => {
            context.warnings.push_error(WarningLevel::Error, &error);
            return Ok(PlannedDdl::nothing());
        }
        table => table?,
    };
    let mut work = Work::new(&table.def);
    for action in &alter.actions {
        work.apply(action, context)?;
    }
    // ENGINE, even if it is what the table has: the way to have a table written anew that works everywhere.
    let forced = alter.actions.iter().any(|action| match action {
        AlterAction::Force => true,
        AlterAction::Options(options) => options.engine.is_some(),
        _ => false,
    });
    let left_out = std::mem::take(&mut work.left_out);
    let (new_def, sources) = work.finish(context)?;
    if (&new_def.schema, &new_def.name) != (&table.def.schema, &table.def.name)
        && match table.is_temporary() {
            true => context.catalog.temporary_table(&new_def.schema, &new_def.name).is_some(),
            false => context.catalog.base_table(&new_def.schema, &new_def.name).is_some(),
        }
    {
        return Err(table_exists(&new_def.name));
    }
    if !forced && new_def == *table.def {
        return Ok(PlannedDdl::nothing());
    }
    let renamed_columns = renamed(&table.def, &new_def, &sources);
    if table.is_temporary() && !new_def.foreign_keys.is_empty() {
        return Err(SqlError::new(codes::CANNOT_ADD_FOREIGN, "Cannot add foreign key constraint"));
    }
    foreign_key::check(&new_def, Some(&table.def), context)?;
    if !table.is_temporary() {
        foreign_key::check_children(&table.def, &new_def, &renamed_columns, context)?;
    }
    let row_mapper = mapper::row_mapper(&table.def, &new_def, &sources, context)?;
    let checked_keys = foreign_key::added(&table.def, &new_def, row_mapper.is_some(), context)?;
    // Rows that are mapped are written anew, with all indexes.
    let row_mapper =
        if forced { row_mapper.or_else(|| Some(Arc::new(|row: &Bytes| Ok(row.clone())))) } else { row_mapper };
    // A primary key that is generated now is written out, so that it is the same wherever the log is applied.
    let log_text = (new_def.generated_pk && !table.def.generated_pk).then(|| render::add_generated_pk(alter, &new_def));
    let change = AlterChange { table: table.clone(), new_def, row_mapper, renamed_columns, checked_keys };
    let log_text = log_text.flatten();
    Ok(PlannedDdl { log_text, left_out, ..PlannedDdl::new(CatalogChange::AlterTable(Box::new(change))) })
}

/// Old and new names of columns that have another.
fn renamed(old: &TableDef, new: &TableDef, sources: &[Option<usize>]) -> Vec<(String, String)> {
    let columns = new.columns.iter().zip(sources);
    let names =
        columns.filter_map(|(column, source)| Some((old.columns[(*source)?].name.clone(), column.name.clone())));
    names.filter(|(old, new)| old != new).collect()
}

/// A definition being changed.
struct Work {
    def: TableDef,
    columns: Vec<WorkColumn>,
    indexes: Vec<WorkIndex>,
    foreign_keys: Vec<WorkForeignKey>,
    /// To be added when everything else is done.
    new_foreign_keys: Vec<ForeignKeySpec>,
    /// Columns that were said to be NULL, which a primary key over them does not accept.
    explicitly_null: Vec<String>,
    /// Default collation of new columns.
    converted: bool,
    /// Places of actions whose conditions were not met.
    left_out: Vec<usize>,
}

struct WorkColumn {
    column: ColumnDef,
    /// Position in the old definition; `None` for a new column.
    source: Option<usize>,
}

/// An index whose parts name their columns.
struct WorkIndex {
    index: IndexDef,
    parts: Vec<(String, Option<u32>, bool)>,
}

/// A foreign key that names its columns.
struct WorkForeignKey {
    key: ForeignKeyDef,
    columns: Vec<String>,
}

impl Work {
    fn new(def: &TableDef) -> Self {
        let columns = def.columns.iter().enumerate();
        let columns = columns.map(|(at, column)| WorkColumn { column: column.clone(), source: Some(at) }).collect();
        let part = |part: &KeyPart| (def.columns[part.column].name.clone(), part.prefix_chars, part.descending);
        let indexes = def.indexes.iter();
        let indexes =
            indexes.map(|index| WorkIndex { index: index.clone(), parts: index.parts.iter().map(part).collect() });
        let names = |key: &ForeignKeyDef| key.columns.iter().map(|&at| def.columns[at].name.clone()).collect();
        let foreign_keys = def.foreign_keys.iter();
        let foreign_keys = foreign_keys.map(|key| WorkForeignKey { key: key.clone(), columns: names(key) });
        Work {
            def: def.clone(),
            columns,
            indexes: indexes.collect(),
            foreign_keys: foreign_keys.collect(),
            new_foreign_keys: Vec::new(),
            explicitly_null: Vec::new(),
            converted: false,
            left_out: Vec::new(),
        }
    }

    fn apply(&mut self, action: &AlterAction, context: &DdlContext<'_>) -> Result<(), SqlError> {
        match action {
            AlterAction::AddColumn(spec, place) => {
                let column = self.column_def(spec, context)?;
                let at = self.columns.len();
                self.columns.push(WorkColumn { column, source: None });
                self.place(at, place)
            }
            AlterAction::DropColumn(name) => self.drop_column(name),
            AlterAction::ModifyColumn(spec, place) => self.change(&spec.name, spec, place, context),
            AlterAction::ChangeColumn(old, spec, place) => self.change(old, spec, place, context),
            AlterAction::RenameColumn(old, new) => self.rename_column(old, new),
            AlterAction::ColumnDefault(name, spec) => {
                let at = self.position(name)?;
                let column = &self.columns[at].column;
                let value = match spec {
                    Some(spec) => default::column_default(spec, column, context)?,
                    None => None,
                };
                self.columns[at].column.default = value;
                Ok(())
            }
            AlterAction::ColumnVisible(name, visible) => {
                let at = self.position(name)?;
                self.columns[at].column.invisible = !visible;
                Ok(())
            }
            AlterAction::AddIndex(spec) => self.add_index(spec),
            AlterAction::AddForeignKey(spec) => {
                self.new_foreign_keys.push(spec.clone());
                Ok(())
            }
            AlterAction::DropForeignKey(name) => self.drop_foreign_key(name),
            AlterAction::DropConstraint(name) => self.drop_constraint(name),
            AlterAction::DropIndex(name) if same_name(name, PRIMARY) => self.drop_index(PRIMARY),
            AlterAction::DropIndex(name) => self.drop_index(name),
            AlterAction::DropPrimaryKey => self.drop_index(PRIMARY),
            AlterAction::RenameIndex(old, new) => self.rename_index(old, new),
            AlterAction::IndexVisible(name, visible) => {
                let at = self.index_position(name)?;
                if self.indexes[at].index.name == PRIMARY && !visible {
                    let message = "A primary key index cannot be invisible";
                    return Err(SqlError::new(codes::PK_INDEX_CANT_BE_INVISIBLE, message));
                }
                self.indexes[at].index.visible = *visible;
                Ok(())
            }
            AlterAction::Rename(to) => {
                let named = crate::parse::ast::TableName {
                    schema: to.schema.clone().or_else(|| Some(self.def.schema.clone())),
                    name: to.name.clone(),
                };
                let to = context.resolve(&named)?;
                check_table_name(&to.name)?;
                (self.def.schema, self.def.name) = (to.schema, to.name);
                Ok(())
            }
            AlterAction::Options(options) => self.options(options, context),
            AlterAction::ConvertTo(charset, collation) => self.convert_to(charset, collation.as_deref(), context),
            AlterAction::Force | AlterAction::Nothing => Ok(()),
            AlterAction::If { action, item } => match self.missed(action) {
                None => self.apply(action, context),
                Some(error) => {
                    context.warnings.push_error(WarningLevel::Note, &error);
                    self.left_out.push(*item);
                    Ok(())
                }
            },
        }
    }

    /// Why an action is left out that was to be done only if what it names is there, or if what it adds is not.
    fn missed(&self, action: &AlterAction) -> Option<SqlError> {
        let duplicate = |code, what: &str, name: &str| Some(SqlError::new(code, format!("Duplicate {what} '{name}'")));
        let has_foreign_key = |name: &str| self.foreign_keys.iter().any(|work| same_name(&work.key.name, name));
        let has_index = |name: &str| self.index_position(name).is_ok();
        match action {
            AlterAction::AddColumn(spec, _) if self.position(&spec.name).is_ok() => {
                duplicate(codes::DUP_FIELDNAME, "column name", &spec.name)
            }
            AlterAction::AddIndex(spec) if spec.kind == IndexKind::Primary => (has_index(PRIMARY)
                && !self.def.generated_pk)
                .then(|| SqlError::new(codes::MULTIPLE_PRI_KEY, "Multiple primary key defined")),
            AlterAction::AddIndex(IndexSpec { name: Some(name), .. }) if has_index(name) => {
                duplicate(codes::DUP_KEYNAME, "key name", name)
            }
            AlterAction::AddForeignKey(ForeignKeySpec { name: Some(name), .. }) if has_foreign_key(name) => {
                duplicate(codes::DUP_KEYNAME, "key name", name)
            }
            AlterAction::DropColumn(name) => self.position(name).is_err().then(|| cant_drop(name)),
            AlterAction::DropIndex(name) => (!has_index(name)).then(|| cant_drop(name)),
            AlterAction::DropForeignKey(name) => (!has_foreign_key(name)).then(|| cant_drop(name)),
            AlterAction::DropConstraint(name) => (!has_foreign_key(name) && !has_index(name)).then(|| cant_drop(name)),
            AlterAction::ModifyColumn(spec, _) => self.position(&spec.name).err(),
            AlterAction::ChangeColumn(name, ..)
            | AlterAction::RenameColumn(name, _)
            | AlterAction::ColumnDefault(name, _)
            | AlterAction::ColumnVisible(name, _) => self.position(name).err(),
            AlterAction::RenameIndex(name, _) | AlterAction::IndexVisible(name, _) => self.index_position(name).err(),
            _ => None,
        }
    }

    fn column_def(&mut self, spec: &ColumnSpec, context: &DdlContext<'_>) -> Result<ColumnDef, SqlError> {
        if spec.nullable == Some(true) {
            self.explicitly_null.push(spec.name.clone());
        }
        column::column_def(spec, self.def.collation, context)
    }

    fn position(&self, name: &str) -> Result<usize, SqlError> {
        let found = self.columns.iter().position(|work| same_name(&work.column.name, name));
        found.ok_or_else(|| {
            let message = format!("Unknown column '{name}' in '{}'", self.def.name);
            SqlError::new(codes::BAD_FIELD_ERROR, message)
        })
    }

    fn index_position(&self, name: &str) -> Result<usize, SqlError> {
        let found = self.indexes.iter().position(|work| same_name(&work.index.name, name));
        found.ok_or_else(|| {
            let message = format!("Key '{name}' doesn't exist in table '{}'", self.def.name);
            SqlError::new(codes::KEY_DOES_NOT_EXIST, message)
        })
    }

    /// Moves the column at a position to where it was asked for.
    fn place(&mut self, at: usize, place: &ColumnPlace) -> Result<(), SqlError> {
        let to = match place {
            ColumnPlace::Default => return Ok(()),
            ColumnPlace::First => 0,
            ColumnPlace::After(name) => {
                let after = self.position(name)?;
                if after < at { after + 1 } else { after }
            }
        };
        let work = self.columns.remove(at);
        self.columns.insert(to, work);
        Ok(())
    }

    fn drop_column(&mut self, name: &str) -> Result<(), SqlError> {
        let at = self.position(name).map_err(|_| cant_drop(name))?;
        let keys = self.foreign_keys.iter().map(|work| (work.key.name.as_str(), &work.columns[..]));
        foreign_key::check_drop_column(name, keys)?;
        if self.columns.len() == 1 {
            let message = "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";
            return Err(SqlError::new(codes::CANT_REMOVE_ALL_FIELDS, message));
        }
        self.columns.remove(at);
        for work in &mut self.indexes {
            let before = work.parts.len();
            work.parts.retain(|(column, ..)| !same_name(column, name));
            if work.parts.len() != before {
                work.index.id = IndexId(0);
            }
        }
        self.indexes.retain(|work| !work.parts.is_empty());
        Ok(())
    }

    fn change(
        &mut self,
        old: &str,
        spec: &ColumnSpec,
        place: &ColumnPlace,
        context: &DdlContext<'_>,
    ) -> Result<(), SqlError> {
        let at = self.position(old)?;
        let mut column = self.column_def(spec, context)?;
        // A column of the primary key stays NOT NULL if nothing else is said.
        let in_primary = self.indexes.iter().filter(|work| work.index.name == PRIMARY);
        if in_primary.flat_map(|work| &work.parts).any(|(name, ..)| same_name(name, old)) {
            if spec.nullable == Some(true) {
                let message =
                    "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
                return Err(SqlError::new(codes::PRIMARY_CANT_HAVE_NULL, message));
            }
            column.nullable = false;
        }
        self.rename_parts(old, &spec.name);
        self.columns[at].column = column;
        self.place(at, place)
    }

    fn rename_column(&mut self, old: &str, new: &str) -> Result<(), SqlError> {
        let at = self.position(old)?;
        super::check_name(new, || SqlError::new(codes::WRONG_COLUMN_NAME, format!("Incorrect column name '{new}'")))?;
        self.rename_parts(old, new);
        self.columns[at].column.name = new.to_string();
        Ok(())
    }

    fn rename_parts(&mut self, old: &str, new: &str) {
        let parts = self.indexes.iter_mut().flat_map(|work| &mut work.parts).map(|(name, ..)| name);
        let columns = self.foreign_keys.iter_mut().flat_map(|work| &mut work.columns);
        for name in parts.chain(columns).filter(|name| same_name(name, old)) {
            *name = new.to_string();
        }
    }

    fn add_index(&mut self, spec: &IndexSpec) -> Result<(), SqlError> {
        if spec.kind == IndexKind::Primary && self.def.generated_pk {
            // A real primary key takes the place of the generated one.
            self.indexes.retain(|work| work.index.name != PRIMARY);
            self.columns.retain(|work| !same_name(&work.column.name, types::schema::GENERATED_PK_COLUMN));
            self.def.generated_pk = false;
        }
        let mut columns: Vec<ColumnDef> = self.columns.iter().map(|work| work.column.clone()).collect();
        let mut indexes: Vec<IndexDef> = self.indexes.iter().map(|work| work.index.clone()).collect();
        let explicitly_null = |name: &str| self.explicitly_null.iter().any(|null| same_name(null, name));
        index::add(spec, &mut columns, &explicitly_null, &mut indexes)?;
        let added = match spec.kind {
            IndexKind::Primary => indexes.swap_remove(0),
            _ => indexes.swap_remove(indexes.len() - 1),
        };
        for (work, column) in self.columns.iter_mut().zip(columns) {
            work.column.nullable = column.nullable;
        }
        let part = |part: &KeyPart| (self.columns[part.column].column.name.clone(), part.prefix_chars, part.descending);
        let parts = added.parts.iter().map(part).collect();
        self.indexes.push(WorkIndex { index: added, parts });
        Ok(())
    }

    fn drop_index(&mut self, name: &str) -> Result<(), SqlError> {
        let at = self.index_position(name).map_err(|_| cant_drop(name))?;
        self.indexes.remove(at);
        if name == PRIMARY && self.def.generated_pk {
            self.columns.retain(|work| !same_name(&work.column.name, types::schema::GENERATED_PK_COLUMN));
            self.def.generated_pk = false;
        }
        Ok(())
    }

    fn drop_foreign_key(&mut self, name: &str) -> Result<(), SqlError> {
        let at = self.foreign_keys.iter().position(|work| same_name(&work.key.name, name));
        self.foreign_keys.remove(at.ok_or_else(|| cant_drop(name))?);
        Ok(())
    }

    fn drop_constraint(&mut self, name: &str) -> Result<(), SqlError> {
        if self.foreign_keys.iter().any(|work| same_name(&work.key.name, name)) {
            return self.drop_foreign_key(name);
        }
        let name = if same_name(name, PRIMARY) { PRIMARY } else { name };
        if self.indexes.iter().any(|work| work.index.unique && same_name(&work.index.name, name)) {
            return self.drop_index(name);
        }
        let message = format!("Constraint '{name}' does not exist.");
        Err(SqlError::new(codes::CONSTRAINT_NOT_FOUND, message))
    }

    fn rename_index(&mut self, old: &str, new: &str) -> Result<(), SqlError> {
        let at = self.index_position(old)?;
        if same_name(old, PRIMARY) || same_name(new, PRIMARY) {
            return Err(SqlError::new(codes::WRONG_NAME_FOR_INDEX, format!("Incorrect index name '{new}'")));
        }
        if self.indexes.iter().enumerate().any(|(other, work)| other != at && same_name(&work.index.name, new)) {
            return Err(index::duplicate(new));
        }
        self.indexes[at].index.name = new.to_string();
        Ok(())
    }

    fn options(&mut self, options: &TableOptions, context: &DdlContext<'_>) -> Result<(), SqlError> {
        create::apply_options(&mut self.def, options, context)?;
        create::check_compression(&self.def, context, || {
            let message = "Table storage engine 'InnoDB' does not support the create option 'COMPRESSION'";
            SqlError::new(codes::ILLEGAL_HA_CREATE_OPTION, message)
        })?;
        if let Some(collation) = context.collation_of(options.charset.as_deref(), options.collation.as_deref())? {
            self.def.collation = collation;
        }
        Ok(())
    }

    /// CONVERT TO CHARACTER SET: the table's collation and that of all its text columns.
    fn convert_to(&mut self, charset: &str, collation: Option<&str>, context: &DdlContext<'_>) -> Result<(), SqlError> {
        let database = context.catalog.database(&self.def.schema).map(|database| database.collation);
        let collation = match charset {
            "" => database.unwrap_or(context.collation_server),
            _ => context.collation_of(Some(charset), collation)?.ok_or_else(|| charsets::unknown_charset(charset))?,
        };
        self.def.collation = collation;
        self.converted = true;
        for work in self.columns.iter_mut().filter(|work| work.column.ty.has_charset()) {
            work.column.collation = collation;
        }
        Ok(())
    }

    /// The definition, and for each of its columns the old position.
    fn finish(self, context: &DdlContext<'_>) -> Result<(TableDef, Vec<Option<usize>>), SqlError> {
        let Work { mut def, columns, indexes, foreign_keys, new_foreign_keys, .. } = self;
        let sources: Vec<(String, Option<usize>)> =
            columns.iter().map(|work| (work.column.name.clone(), work.source)).collect();
        def.columns = columns.into_iter().map(|work| work.column).collect();
        def.indexes = Vec::with_capacity(indexes.len());
        for WorkIndex { mut index, parts } in indexes {
            index.parts.clear();
            for (name, prefix_chars, descending) in parts {
                let column = def.column_index(&name).ok_or_else(|| {
                    SqlError::new(
                        codes::KEY_COLUMN_DOES_NOT_EXIST,
                        format!("Key column '{name}' doesn't exist in table"),
                    )
                })?;
                index.parts.push(KeyPart {
                    column,
                    prefix_chars: fitting(prefix_chars, &def.columns[column]),
                    descending,
                });
            }
            def.indexes.push(index);
        }
        def.foreign_keys.clear();
        for WorkForeignKey { mut key, columns } in foreign_keys {
            key.columns = columns.iter().filter_map(|name| def.column_index(name)).collect();
            def.foreign_keys.push(key);
        }
        for spec in &new_foreign_keys {
            foreign_key::add(&mut def, spec, context)?;
        }
        create::finish(&mut def, context)?;
        let source = |column: &ColumnDef| {
            sources.iter().find(|(name, _)| same_name(name, &column.name)).and_then(|(_, source)| *source)
        };
        let sources = def.columns.iter().map(source).collect();
        for column in &def.columns {
            let null_default = matches!(column.default, Some(ColumnDefault::Literal(types::Value::Null)));
            if null_default && !column.nullable {
                return Err(default::invalid(&column.name));
            }
        }
        Ok((def, sources))
    }
}

/// A prefix as long as its column is none.
fn fitting(prefix: Option<u32>, column: &ColumnDef) -> Option<u32> {
    use types::ColumnType::*;
    match column.ty {
        Char { chars } | VarChar { chars } => prefix.filter(|prefix| *prefix < chars),
        Binary { bytes } | VarBinary { bytes } => prefix.filter(|prefix| *prefix < bytes),
        _ => prefix,
    }
}

/// 1091.
fn cant_drop(name: &str) -> SqlError {
    SqlError::new(codes::CANT_DROP_FIELD_OR_KEY, format!("Can't DROP '{name}'; check that column/key exists"))
}
