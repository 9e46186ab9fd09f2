//! A table being altered: what each action says, by the names that the table has before the statement.

use base::{SqlError, codes};
use types::schema::{GENERATED_PK_COLUMN, same_name};
use types::{CollationId, ColumnDef, ColumnDefault, ForeignKeyDef, IndexDef, TableDef};

use super::super::index::{PRIMARY, primary_is_invisible};
use super::super::{DdlContext, check_table_name, column, create, default};
use crate::charsets;
use crate::expr::WarningLevel;
use crate::parse;
use crate::parse::ast::{
    AlterAction, ColumnPlace, ColumnSpec, DefaultSpec, ForeignKeySpec, IndexKind, IndexSpec, TableKey, TableName,
    TableOptions,
};

/// A definition being changed.
pub(super) struct Work<'a> {
    pub(super) old: &'a TableDef,
    /// The table's own: names, collation, options.
    pub(super) def: TableDef,
    /// The old columns, then new ones.
    pub(super) columns: Vec<WorkColumn>,
    /// The columns that the statement defines, by their positions in `columns`, and where they go.
    pub(super) places: Vec<(usize, ColumnPlace)>,
    pub(super) indexes: Vec<WorkIndex>,
    /// Indexes and foreign keys that are added.
    pub(super) new_keys: Vec<TableKey>,
    /// Old ones that stay; their columns are positions in the old definition.
    pub(super) foreign_keys: Vec<ForeignKeyDef>,
    /// Columns that were said to be NULL, which a primary key over them does not accept.
    pub(super) explicitly_null: Vec<String>,
    /// CONVERT TO: the collation of all text columns.
    pub(super) converted: Option<CollationId>,
    /// Places of actions whose conditions were not met.
    pub(super) left_out: Vec<usize>,
}

pub(super) struct WorkColumn {
    pub(super) column: ColumnDef,
    /// Position in the old definition; `None` for a new column.
    pub(super) source: Option<usize>,
    pub(super) used: Used,
    /// The statement says how long it is.
    pub(super) has_length: bool,
}

/// An old index, with its old columns.
pub(super) struct WorkIndex {
    pub(super) index: IndexDef,
    pub(super) used: Used,
}

/// What an action of the statement has done to something old. Each is named by one action at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Used {
    Not,
    /// It has another definition or name.
    Changed,
    /// It has another visibility, which may be said again.
    Visibility,
    Dropped,
}

/// Whether a name is that of a generated primary key's column.
pub(super) fn is_generated_key(name: &str) -> bool {
    same_name(name, GENERATED_PK_COLUMN)
}

impl<'a> Work<'a> {
    pub(super) fn new(old: &'a TableDef) -> Self {
        let columns = old.columns.iter().enumerate();
        let columns = columns.map(|(at, column)| WorkColumn {
            column: column.clone(),
            source: Some(at),
            used: Used::Not,
            has_length: false,
        });
        let indexes = old.indexes.iter().map(|index| WorkIndex { index: index.clone(), used: Used::Not });
        Work {
            old,
            def: TableDef { columns: Vec::new(), indexes: Vec::new(), foreign_keys: Vec::new(), ..old.clone() },
            columns: columns.collect(),
            places: Vec::new(),
            indexes: indexes.collect(),
            new_keys: Vec::new(),
            foreign_keys: old.foreign_keys.clone(),
            explicitly_null: Vec::new(),
            converted: None,
            left_out: Vec::new(),
        }
    }

    /// Takes all actions in. New columns have the table's new character set, wherever in the statement that stands.
    pub(super) fn collect(&mut self, actions: &[AlterAction], context: &DdlContext<'_>) -> Result<(), SqlError> {
        if !context.is_logged {
            check_declared_charsets(actions)?;
        }
        let mut ordered: Vec<&AlterAction> = actions.iter().collect();
        if context.is_of_maria {
            // Its table has the character set of DEFAULT, wherever that stands.
            ordered.sort_by_key(|action| !matches!(action, AlterAction::ConvertTo(..)));
        }
        for action in ordered {
            match action {
                AlterAction::Options(options) => self.options(options, context)?,
                AlterAction::ConvertTo(charset, collation) => {
                    self.convert_to(charset, collation.as_deref(), context)?;
                }
                _ => {}
            }
        }
        actions.iter().try_for_each(|action| self.apply(action, context))
    }

    /// The indexes among what is added.
    pub(super) fn new_indexes(&self) -> impl Iterator<Item = &IndexSpec> {
        self.new_keys.iter().filter_map(TableKey::index)
    }

    fn apply(&mut self, action: &AlterAction, context: &DdlContext<'_>) -> Result<(), SqlError> {
        match action {
            AlterAction::AddColumn(spec, place) => {
                // With those that go there may be twice as many.
                if self.columns.len() > 2 * create::COLUMNS_MAX {
                    return Err(create::too_many_columns());
                }
                let column = self.column_def(spec, context)?;
                self.places.push((self.columns.len(), place.clone()));
                let has_length = spec.ty.length.is_some();
                self.columns.push(WorkColumn { column, source: None, used: Used::Changed, has_length });
            }
            AlterAction::DropColumn(name) => self.drop_column(name)?,
            AlterAction::ModifyColumn(spec, place) => self.change(&spec.name, spec, place, context)?,
            AlterAction::ChangeColumn(old, spec, place) => self.change(old, spec, place, context)?,
            AlterAction::RenameColumn(old, new) => {
                let wrong = || SqlError::new(codes::WRONG_COLUMN_NAME, format!("Incorrect column name '{new}'"));
                super::super::check_name(new, wrong)?;
                self.changed(old)?.column.name.clone_from(new);
            }
            AlterAction::ColumnDefault { column, default, .. } => {
                self.column_default(column, default.as_ref(), context)?;
            }
            AlterAction::ColumnVisible(name, visible) => self.changed_key_too(name)?.column.invisible = !visible,
            AlterAction::AddIndex(spec) => self.new_keys.push(TableKey::Index(spec.clone())),
            AlterAction::AddForeignKey(spec) => self.new_keys.push(TableKey::Foreign(spec.clone())),
            AlterAction::DropForeignKey(name) => self.drop_foreign_key(name)?,
            AlterAction::DropConstraint(name) => self.drop_constraint(name)?,
            AlterAction::DropIndex(name) => self.drop_index(name)?,
            AlterAction::DropPrimaryKey => self.drop_index(PRIMARY)?,
            AlterAction::RenameIndex(old, new) => self.rename_index(old, new)?,
            AlterAction::IndexVisible(name, visible) => self.index_visible(name, *visible, context)?,
            AlterAction::Rename(to) => {
                let schema = to.schema.clone().or_else(|| Some(self.def.schema.clone()));
                let to = context.resolve(&TableName { schema, name: to.name.clone() })?;
                check_table_name(&to.name)?;
                (self.def.schema, self.def.name) = (to.schema, to.name);
            }
            AlterAction::OrderBy => {
                let table = &self.old.name;
                let message =
                    format!("ORDER BY ignored as there is a user-defined clustered index in the table '{table}'");
                context.warnings.push(WarningLevel::Warning, codes::UNKNOWN_ERROR, message);
            }
            AlterAction::Options(_)
            | AlterAction::ConvertTo(..)
            | AlterAction::Force
            | AlterAction::Nothing
            | AlterAction::SwitchKeys
            | AlterAction::Validation => {}
            AlterAction::If { action, item } => match self.missed(action) {
                None => self.apply(action, context)?,
                Some(error) => {
                    context.warnings.push_error(WarningLevel::Note, &error);
                    self.left_out.push(*item);
                }
            },
        }
        Ok(())
    }

    /// Why an action is left out that was to be done only if what it names is there, or if what it adds is not. That a name is taken
    /// counts even if the statement drops what has it, as in MariaDB.
    fn missed(&self, action: &AlterAction) -> Option<SqlError> {
        let duplicate = |code, what: &str, name: &str| Some(SqlError::new(code, format!("Duplicate {what} '{name}'")));
        let has_foreign_key = |name: &str| self.foreign_keys.iter().any(|key| same_name(&key.name, name));
        let had_column = |name: &str| {
            let is_now = |work: &WorkColumn| same_name(&work.column.name, name);
            self.old.column_index(name).is_some() || self.columns.iter().any(is_now)
        };
        let had_index = |name: &str| {
            let is_new = |spec: &IndexSpec| spec.name.as_deref().is_some_and(|new| same_name(new, name));
            self.old.index_number(name).is_some() || self.new_indexes().any(is_new)
        };
        let has_index = |name: &str| self.index_position(name).is_ok();
        let is_generated = |name: &str| self.old.generated_pk && same_name(name, PRIMARY);
        match action {
            AlterAction::AddColumn(spec, _) if had_column(&spec.name) => {
                duplicate(codes::DUP_FIELDNAME, "column name", &spec.name)
            }
            AlterAction::AddIndex(spec) if spec.kind == IndexKind::Primary => (has_index(PRIMARY)
                && !self.old.generated_pk)
                .then(|| SqlError::new(codes::MULTIPLE_PRI_KEY, "Multiple primary key defined")),
            AlterAction::AddIndex(IndexSpec { name: Some(name), .. }) if had_index(name) => {
                duplicate(codes::DUP_KEYNAME, "key name", name)
            }
            AlterAction::AddForeignKey(ForeignKeySpec { name: Some(name), .. }) if has_foreign_key(name) => {
                duplicate(codes::DUP_KEYNAME, "key name", name)
            }
            AlterAction::DropColumn(name) => self.position(name).is_err().then(|| cant_drop(name)),
            AlterAction::DropIndex(name) => (!has_index(name) || is_generated(name)).then(|| cant_drop(name)),
            AlterAction::DropForeignKey(name) => (!has_foreign_key(name)).then(|| cant_drop(name)),
            AlterAction::DropConstraint(name) => (!has_foreign_key(name) && !has_index(name)).then(|| cant_drop(name)),
            AlterAction::ModifyColumn(spec, _) => self.position(&spec.name).err(),
            AlterAction::ChangeColumn(name, ..)
            | AlterAction::RenameColumn(name, _)
            | AlterAction::ColumnDefault { column: name, .. }
            | AlterAction::ColumnVisible(name, _) => self.position(name).err(),
            AlterAction::RenameIndex(name, _) | AlterAction::IndexVisible(name, _) => self.index_position(name).err(),
            _ => None,
        }
    }

    fn column_def(&mut self, spec: &ColumnSpec, context: &DdlContext<'_>) -> Result<ColumnDef, SqlError> {
        if spec.nullable == Some(true) || spec.default == Some(DefaultSpec::Null) {
            self.explicitly_null.push(spec.name.clone());
        }
        column::column_def(spec, self.def.collation, context)
    }

    /// An old column that no action has named yet (1054).
    fn position(&self, name: &str) -> Result<usize, SqlError> {
        let free = |&at: &usize| self.columns[at].used == Used::Not && same_name(&self.old.columns[at].name, name);
        (0..self.old.columns.len()).find(free).ok_or_else(|| unknown_column(name, &self.old.name))
    }

    /// The same, which an action changes. The column of a generated primary key is not to be changed (4110).
    fn changed(&mut self, name: &str) -> Result<&mut WorkColumn, SqlError> {
        if self.old.generated_pk && is_generated_key(name) {
            let message =
                format!("Altering generated invisible primary key column '{GENERATED_PK_COLUMN}' is not allowed.");
            return Err(SqlError::new(codes::GIPK_ALTER_NOT_ALLOWED, message));
        }
        self.changed_key_too(name)
    }

    fn changed_key_too(&mut self, name: &str) -> Result<&mut WorkColumn, SqlError> {
        let at = self.position(name)?;
        self.columns[at].used = Used::Changed;
        Ok(&mut self.columns[at])
    }

    fn column_default(
        &mut self,
        name: &str,
        spec: Option<&DefaultSpec>,
        context: &DdlContext<'_>,
    ) -> Result<(), SqlError> {
        let work = self.changed(name)?;
        if work.column.ty.is_blob() && !context.is_logged && matches!(spec, Some(DefaultSpec::Literal(_))) {
            return Err(default::blob_has_none(&work.column.name));
        }
        if context.is_of_maria && loses_on_update(&work.column) {
            work.column.on_update_now = false;
        }
        work.column.default = match spec {
            Some(spec) => default::column_default(spec, &work.column, context)?,
            None => None,
        };
        Ok(())
    }

    fn drop_column(&mut self, name: &str) -> Result<(), SqlError> {
        let at = self.position(name).map_err(|_| cant_drop(name))?;
        self.columns[at].used = Used::Dropped;
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
        let column = self.column_def(spec, context)?;
        if context.is_logged && self.is_generated_again(old, &column) {
            return Ok(());
        }
        let work = self.changed(old)?;
        // In a MariaDB a new type stays what it is.
        (work.column, work.has_length) = (column, spec.ty.length.is_some() || context.is_of_maria);
        self.places.push((at, place.clone()));
        Ok(())
    }

    /// Whether a definition is that of the generated primary key's column, as the log says it when another column becomes the AUTO_INCREMENT
    /// column, or is it no longer. That follows from the other column.
    fn is_generated_again(&self, old: &str, column: &ColumnDef) -> bool {
        let own = &self.old.columns[0];
        let said = ColumnDef { auto_increment: own.auto_increment, ..column.clone() };
        self.old.generated_pk && is_generated_key(old) && said == *own
    }

    /// An old index that no action has named yet (1176).
    fn index_position(&self, name: &str) -> Result<usize, SqlError> {
        let found = self.indexes.iter().position(|work| work.used == Used::Not && same_name(&work.index.name, name));
        found.ok_or_else(|| no_such_key(name, &self.old.name))
    }

    fn drop_index(&mut self, name: &str) -> Result<(), SqlError> {
        let at = self.index_position(name).map_err(|error| match self.old.index_number(name) {
            Some(at) if self.indexes[at].used != Used::Dropped => error,
            _ => cant_drop(name),
        })?;
        self.indexes[at].used = Used::Dropped;
        Ok(())
    }

    fn rename_index(&mut self, old: &str, new: &str) -> Result<(), SqlError> {
        let at = self.index_position(old)?;
        if same_name(old, PRIMARY) || same_name(new, PRIMARY) {
            return Err(SqlError::new(codes::WRONG_NAME_FOR_INDEX, format!("Incorrect index name '{new}'")));
        }
        let work = &mut self.indexes[at];
        work.used = Used::Changed;
        work.index.name = new.to_string();
        work.index.generated = false;
        Ok(())
    }

    fn index_visible(&mut self, name: &str, visible: bool, context: &DdlContext<'_>) -> Result<(), SqlError> {
        let is_it = |work: &&mut WorkIndex| {
            matches!(work.used, Used::Not | Used::Visibility) && same_name(&work.index.name, name)
        };
        let found = self.indexes.iter_mut().find(is_it);
        let work = found.ok_or_else(|| no_such_key(name, &self.old.name))?;
        let is_first = || self.old.indexes.get(1).is_some_and(|first| first.id == work.index.id);
        let stands_for_it = self.old.generated_pk && is_first() && self.old.is_candidate(&work.index);
        if (work.index.name == PRIMARY || stands_for_it) && !context.is_logged {
            return Err(primary_is_invisible());
        }
        work.used = Used::Visibility;
        work.index.visible = visible;
        Ok(())
    }

    fn drop_foreign_key(&mut self, name: &str) -> Result<(), SqlError> {
        let at = self.foreign_keys.iter().position(|key| same_name(&key.name, name));
        self.foreign_keys.remove(at.ok_or_else(|| cant_drop(name))?);
        Ok(())
    }

    fn drop_constraint(&mut self, name: &str) -> Result<(), SqlError> {
        if self.foreign_keys.iter().any(|key| same_name(&key.name, name)) {
            return self.drop_foreign_key(name);
        }
        let is_it = |work: &WorkIndex| work.index.unique && same_name(&work.index.name, name);
        if self.indexes.iter().any(is_it) {
            return self.drop_index(name);
        }
        let message = format!("Constraint '{name}' does not exist.");
        Err(SqlError::new(codes::CONSTRAINT_NOT_FOUND, message))
    }

    fn options(&mut self, options: &TableOptions, context: &DdlContext<'_>) -> Result<(), SqlError> {
        create::apply_options(&mut self.def, options, context)?;
        if let Some(option) = create::refused_option(&self.def, context) {
            let message = format!("Table storage engine 'InnoDB' does not support the create option '{option}'");
            return Err(SqlError::new(codes::ILLEGAL_HA_CREATE_OPTION, message));
        }
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
        self.converted = Some(collation);
        Ok(())
    }
}

/// 1302 for a statement that says two character sets of the table.
fn check_declared_charsets(actions: &[AlterAction]) -> Result<(), SqlError> {
    let declared = actions.iter().filter_map(|action| match action {
        AlterAction::Options(options) => options.charset.as_deref(),
        AlterAction::ConvertTo(charset, _) => Some(charset.as_str()).filter(|charset| !charset.is_empty()),
        _ => None,
    });
    let declared: Vec<&str> = declared.collect();
    let conflict = declared.windows(2).find_map(|pair| parse::conflict_of_charsets(pair[0], pair[1]));
    conflict.map_or(Ok(()), Err)
}

/// 1054.
pub(super) fn unknown_column(name: &str, table: &str) -> SqlError {
    SqlError::new(codes::BAD_FIELD_ERROR, format!("Unknown column '{name}' in '{table}'"))
}

/// 1176.
fn no_such_key(name: &str, table: &str) -> SqlError {
    SqlError::new(codes::KEY_DOES_NOT_EXIST, format!("Key '{name}' doesn't exist in table '{table}'"))
}

/// 1091.
fn cant_drop(name: &str) -> SqlError {
    SqlError::new(codes::CANT_DROP_FIELD_OR_KEY, format!("Can't DROP '{name}'; check that column/key exists"))
}

/// In a MariaDB a column that has the time both by default and when its row changes has it no longer when it changes, once ALTER COLUMN gives it another default.
pub(super) fn loses_on_update(column: &ColumnDef) -> bool {
    column.on_update_now && matches!(column.default, Some(ColumnDefault::CurrentTimestamp { .. }))
}
