//! The altered table's definition: columns in their places, then indexes and foreign keys over them.

use base::{IndexId, SqlError, codes};
use types::schema::same_name;
use types::{ColumnDef, ColumnDefault, ForeignKeyDef, IndexDef, KeyPart, TableDef, Value};

use super::super::index::PRIMARY;
use super::super::{DdlContext, column, create, default, foreign_key, index};
use super::work::{Used, Work, unknown_column};
use crate::parse::ast::{ColumnPlace, IndexKind, IndexPart};

impl Work<'_> {
    /// The definition, and for each of its columns the old position.
    pub(super) fn finish(mut self, context: &DdlContext<'_>) -> Result<(TableDef, Vec<Option<usize>>), SqlError> {
        self.replace_generated_key()?;
        let order = self.arrange()?;
        let mut sources: Vec<Option<usize>> = order.iter().map(|&at| self.columns[at].source).collect();
        let columns = order.iter().map(|&at| self.new_column(at, context));
        self.def.columns = columns.collect::<Result<_, _>>()?;
        if self.def.columns.is_empty() {
            let message = "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";
            return Err(SqlError::new(codes::CANT_REMOVE_ALL_FIELDS, message));
        }
        self.count_generated_key(&sources, context);
        let mut place_of = vec![None; self.old.columns.len()];
        for (place, source) in sources.iter().enumerate() {
            source.iter().for_each(|&source| place_of[source] = Some(place));
        }
        self.old_indexes(&self.with_added_again(&place_of), context)?;
        self.new_primary_key_takes_no_null(&order)?;
        let explicitly_null = |name: &str| self.explicitly_null.iter().any(|null| same_name(null, name));
        foreign_key::check_number(self.old, &self.new_keys, context)?;
        create::add_indexes(&mut self.def, &self.new_keys, &explicitly_null)?;
        self.foreign_keys(&place_of, context)?;
        index::warn_of_hash(&self.new_keys, context.warnings);
        index::warn_of_duplicates(&self.def, &self.old.indexes, context.warnings);
        create::finish(&mut self.def, context)?;
        // A definition that names the generated key, as a dump does, has the other keys as it wants.
        let is_generated = self.old.generated_pk && self.def.generated_pk && !context.is_logged;
        if is_generated && create::check_first_key(self.old).is_ok() {
            create::check_first_key(&self.def)?;
        }
        if self.def.columns.len() > sources.len() {
            // A generated primary key.
            sources.insert(0, None);
        }
        for column in &self.def.columns {
            if column.default == Some(ColumnDefault::Literal(Value::Null)) && !column.nullable {
                return Err(default::invalid(&column.name));
            }
        }
        Ok((self.def, sources))
    }

    /// A real primary key takes the place of the generated one, which otherwise goes with its column alone (4111).
    fn replace_generated_key(&mut self) -> Result<(), SqlError> {
        if !self.old.generated_pk {
            return Ok(());
        }
        if self.indexes[0].used == Used::Dropped && self.columns[0].used != Used::Dropped {
            let message = "Please drop primary key column to be able to drop generated invisible primary key.";
            return Err(SqlError::new(codes::DROP_PK_COLUMN_TO_DROP_GIPK, message));
        }
        if self.new_indexes().any(|spec| spec.kind == IndexKind::Primary) {
            self.indexes[0].used = Used::Dropped;
            self.columns[0].used = Used::Dropped;
        }
        Ok(())
    }

    /// A generated primary key that stays is the AUTO_INCREMENT column if there is no other. A client cannot have one besides (1075), as in MySQL where
    /// such keys are generated, and as no MySQL that replicates it could (4110); what a source has done, that makes no such keys, is done.
    fn count_generated_key(&mut self, sources: &[Option<usize>], context: &DdlContext<'_>) {
        if !self.old.generated_pk || sources[0] != Some(0) {
            return;
        }
        let any_other = self.def.columns[1..].iter().any(|column| column.auto_increment);
        if !any_other || context.is_logged {
            self.def.columns[0].auto_increment = !any_other;
        }
    }

    fn new_column(&self, at: usize, context: &DdlContext<'_>) -> Result<ColumnDef, SqlError> {
        let work = &self.columns[at];
        let mut column = work.column.clone();
        if let Some(collation) = self.converted {
            let old = work.source.map(|source| &self.old.columns[source]).filter(|_| !work.has_length);
            column::convert(&mut column, old, collation, context)?;
        }
        Ok(column)
    }

    /// The columns that there are, as positions in `columns`, in their new order: what was not moved stays, then one after the other goes to
    /// its place. Nothing goes before a generated primary key.
    fn arrange(&self) -> Result<Vec<usize>, SqlError> {
        let old = 0..self.old.columns.len();
        let mut order: Vec<usize> = old.filter(|&at| self.columns[at].used != Used::Dropped).collect();
        let first = usize::from(self.old.generated_pk && order.first() == Some(&0));
        for (at, place) in &self.places {
            let is_new = self.columns[*at].source.is_none();
            if *place == ColumnPlace::Default {
                order.extend(is_new.then_some(*at));
                continue;
            }
            order.retain(|other| other != at);
            let to = match place {
                ColumnPlace::After(name) => {
                    let is_it = |&other: &usize| same_name(&self.columns[other].column.name, name);
                    order.iter().position(is_it).ok_or_else(|| unknown_column(name, &self.old.name))? + 1
                }
                _ => first,
            };
            order.insert(to, *at);
        }
        Ok(order)
    }

    /// The same for indexes: those of a column that is dropped stay if one of its name is added.
    fn with_added_again(&self, place_of: &[Option<usize>]) -> Vec<Option<usize>> {
        let again = |column: &ColumnDef| {
            let is_it = |other: &ColumnDef| same_name(&other.name, &column.name);
            let place = self.def.columns.iter().position(is_it)?;
            (!place_of.contains(&Some(place))).then_some(place)
        };
        self.old.columns.iter().zip(place_of).map(|(column, place)| place.or_else(|| again(column))).collect()
    }

    /// The old indexes that stay, over their columns as they are now.
    fn old_indexes(&mut self, place_of: &[Option<usize>], context: &DdlContext<'_>) -> Result<(), SqlError> {
        let kept = std::mem::take(&mut self.indexes).into_iter().filter(|work| work.used != Used::Dropped);
        for mut index in kept.map(|work| work.index) {
            let kept = index.parts.iter().filter_map(|part| {
                let column = place_of[part.column]?;
                Some(KeyPart { column, prefix_chars: fitting(part.prefix_chars, &self.def.columns[column]), ..*part })
            });
            let parts: Vec<KeyPart> = kept.collect();
            if parts.is_empty() || index.generated && self.is_replaced(&parts, context.is_of_maria) {
                continue;
            }
            // Entries say of columns that may be NULL whether they are.
            let is_nullable = |part: &KeyPart| self.def.columns[part.column].nullable;
            let was_nullable = |part: &KeyPart| self.old.columns[part.column].nullable;
            if !parts.iter().map(is_nullable).eq(index.parts.iter().map(was_nullable)) {
                index.id = IndexId(0);
            }
            let is_changed = index.parts.iter().any(|part| self.columns[part.column].used == Used::Changed);
            index.parts = if is_changed { self.checked(&parts)? } else { parts };
            if self.def.indexes.iter().any(|other| same_name(&other.name, &index.name)) {
                return Err(index::duplicate(&index.name));
            }
            if index.name == PRIMARY {
                self.stays_not_null(&index)?;
            }
            self.def.indexes.push(index);
        }
        Ok(())
    }

    /// Whether an index that the statement adds can take the place of one over these columns; it may have its name, too.
    fn is_replaced(&self, parts: &[KeyPart], is_of_maria: bool) -> bool {
        let is_same = |(part, new): (&KeyPart, &IndexPart)| {
            same_name(&self.def.columns[part.column].name, &new.column)
                && new.prefix.is_none()
                && (is_of_maria || !new.descending)
        };
        self.new_indexes().any(|spec| spec.parts.len() >= parts.len() && parts.iter().zip(&spec.parts).all(is_same))
    }

    /// Parts of an index over columns that have another type, with the limits of a new one.
    fn checked(&self, parts: &[KeyPart]) -> Result<Vec<KeyPart>, SqlError> {
        let written = parts.iter().map(|part| IndexPart {
            column: self.def.columns[part.column].name.clone(),
            prefix: part.prefix_chars,
            descending: part.descending,
        });
        index::parts(&written.collect::<Vec<_>>(), &self.def.columns)
    }

    /// A column of the primary key stays NOT NULL if nothing else is said.
    fn stays_not_null(&mut self, primary: &IndexDef) -> Result<(), SqlError> {
        for part in &primary.parts {
            let column = &mut self.def.columns[part.column];
            if self.explicitly_null.iter().any(|null| same_name(null, &column.name)) {
                return Err(index::primary_takes_no_null());
            }
            column.nullable = false;
        }
        Ok(())
    }

    /// NULL is no default that a column was given if the table had it before, and the column becomes part of the primary key.
    fn new_primary_key_takes_no_null(&mut self, order: &[usize]) -> Result<(), SqlError> {
        let primary = self.new_indexes().filter(|spec| spec.kind == IndexKind::Primary);
        let names: Vec<String> = primary.flat_map(|spec| &spec.parts).map(|part| part.column.clone()).collect();
        for (column, &at) in self.def.columns.iter_mut().zip(order) {
            let is_null = column.default == Some(ColumnDefault::Literal(Value::Null));
            if is_null
                && self.columns[at].used != Used::Changed
                && names.iter().any(|name| same_name(name, &column.name))
            {
                column.default = None;
            }
        }
        Ok(())
    }

    fn foreign_keys(&mut self, place_of: &[Option<usize>], context: &DdlContext<'_>) -> Result<(), SqlError> {
        let new_name = |old: &str| {
            let at = self.old.column_index(old)?;
            Some(self.def.columns[place_of[at]?].name.clone())
        };
        for key in &self.foreign_keys {
            let gone = key.columns.iter().find(|&&column| place_of[column].is_none());
            if let Some(&gone) = gone {
                return Err(foreign_key::cannot_drop_column(&self.old.columns[gone].name, &key.name));
            }
            let is_to_itself = key.refers_to(&self.old.schema, &self.old.name);
            let parent_column = |name: &String| match is_to_itself {
                true => new_name(name).unwrap_or_else(|| name.clone()),
                false => name.clone(),
            };
            let (parent_schema, parent_table) = match is_to_itself {
                true => (&self.def.schema, &self.def.name),
                false => (&key.parent_schema, &key.parent_table),
            };
            let key = ForeignKeyDef {
                parent_schema: parent_schema.clone(),
                parent_table: parent_table.clone(),
                columns: key.columns.iter().filter_map(|&column| place_of[column]).collect(),
                parent_columns: key.parent_columns.iter().map(parent_column).collect(),
                ..key.clone()
            };
            self.def.foreign_keys.push(key);
        }
        foreign_key::add_all(&mut self.def, Some(self.old), &self.new_keys, context)
    }
}

/// A prefix as long as its column is none.
fn fitting(prefix: Option<u32>, column: &ColumnDef) -> Option<u32> {
    use types::ColumnType::*;
    match column.ty {
        Char { chars } | VarChar { chars } => prefix.filter(|prefix| *prefix < chars),
        Binary { bytes } | VarBinary { bytes } => prefix.filter(|prefix| *prefix < bytes),
        Text { .. } | Blob { .. } => prefix,
        _ => None,
    }
}
