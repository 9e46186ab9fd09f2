//! [`MappedTable`]: a table of a source's log, and the one that it is here. Made once per table.

use std::sync::Arc;

use base::SqlError;
use binlog::event::{TableMap, column_type};
use engine::{Catalog, Table, TableMode, Transaction};
use types::ColumnDef;
use types::schema::{GENERATED_PK_COLUMN, same_name};

use super::convert::Convert;
use super::form::{Form, TypeConversions, cannot_convert};
use super::image::{Slot, bit};
use crate::bind::Binder;
use crate::bind::scope::no_such_table;
use crate::dml::ForeignKeys;
use crate::exec::ExecContext;
use crate::plan::PlanContext;
use crate::write::ImageMaker;

/// A table of a source's log, and the one that it is here.
#[derive(Debug)]
pub(crate) struct MappedTable {
    catalog_version: u64,
    modes: TypeConversions,
    pub(super) map: Arc<TableMap>,
    pub(super) table: Arc<Table>,
    pub(super) foreign: Option<ForeignKeys>,
    maker: ImageMaker,
    /// The table, and those of its foreign keys, in the order in which they are locked.
    locks: Vec<Arc<Table>>,
    /// Our columns.
    pub(super) columns: Vec<MappedColumn>,
    /// Images of all columns are rows of ours, if their values pass the checks of `checked`.
    pub(super) is_same: bool,
    /// Columns of which something has to be looked at.
    checked: Vec<usize>,
}

/// A column of ours.
#[derive(Debug)]
pub(super) struct MappedColumn {
    /// Which of the log's it is; `None` if only this server has it.
    pub(super) source: Option<usize>,
    convert: Convert,
}

/// What takes the place of columns that an image does not have.
#[derive(Clone, Copy)]
pub(super) enum Rest<'a> {
    /// Their defaults.
    Defaults,
    /// Anything: they are not looked at.
    Zeros,
    /// What they are in this row, taken apart.
    Old(&'a [u8], &'a [Slot]),
}

impl MappedTable {
    /// Finds a table of a log here: 1146 if it is not there, 1677 if its columns cannot be brought into ours.
    pub(crate) fn new(
        map: &Arc<TableMap>,
        context: &PlanContext<'_>,
        modes: TypeConversions,
    ) -> Result<Self, SqlError> {
        let table = context.catalog.base_table(&map.schema, &map.table);
        let table = table.ok_or_else(|| no_such_table(&map.schema, &map.table))?.clone();
        let foreign = ForeignKeys::of(context.catalog, &table, true);
        let mut locks = vec![table.clone()];
        locks.extend(foreign.iter().flat_map(ForeignKeys::tables).cloned());
        // In the order of their ids, as statements lock them.
        locks.sort_by_key(|table| table.id());
        locks.dedup_by_key(|table| table.id());
        let shift = usize::from(lacks_generated_key(map, &table));
        let maker = ImageMaker::new(&Binder::new(context), &table)?;
        let mapped = |number: usize| MappedColumn::new(map, &table, number, shift, modes);
        let columns = (0..table.def.columns.len()).map(mapped).collect::<Result<Vec<_>, _>>()?;
        let is_same = shift == 0
            && map.columns.len() == columns.len()
            && columns.iter().all(|column| column.source.is_some() && column.convert.is_same_form());
        let checked = (0..columns.len()).filter(|&number| columns[number].convert.is_checked()).collect();
        let catalog_version = context.catalog.version();
        let map = map.clone();
        Ok(MappedTable { catalog_version, modes, map, table, foreign, maker, locks, columns, is_same, checked })
    }

    /// Whether the columns of the primary key are in the log.
    pub(super) fn has_keys_in_log(&self) -> bool {
        self.table.def.indexes[0].parts.iter().all(|part| self.columns[part.column].source.is_some())
    }

    /// Whether rows that come are in the order of their coming alone: their generated key is not in the log, and no other could be the primary key.
    pub(super) fn counts_rows(&self) -> bool {
        let def = &self.table.def;
        def.generated_pk && !self.has_keys_in_log() && !def.indexes[1..].iter().any(|index| def.is_candidate(index))
    }

    /// Whether it is what a TABLE_MAP means now.
    pub(crate) fn holds(&self, map: &TableMap, catalog: &Catalog, modes: TypeConversions) -> bool {
        self.catalog_version == catalog.version()
            && self.modes == modes
            && (std::ptr::eq(&*self.map, map) || *self.map == *map)
    }

    /// Locks the table to be written, with those of its foreign keys if they count.
    pub(super) async fn lock(&self, transaction: &mut Transaction, with_foreign: bool) -> Result<(), SqlError> {
        for table in self.locks.iter().filter(|table| with_foreign || Arc::ptr_eq(table, &self.table)) {
            transaction.lock_table(table, TableMode::IntentExclusive).await?;
        }
        Ok(())
    }

    /// Our columns that images with these columns have.
    pub(super) fn columns_in(&self, present: &[u8]) -> Vec<usize> {
        let is_in = |number: &usize| self.columns[*number].source.is_some_and(|source| bit(present, source));
        (0..self.columns.len()).filter(is_in).collect()
    }

    /// Whether an image of all columns is a row of ours as it is.
    pub(super) fn is_row(&self, image: &[u8], slots: &[Slot]) -> bool {
        let keeps = |&number: &usize| match slots[number] {
            Slot::At(start, end) => self.columns[number].convert.keeps(&image[start..end]),
            _ => true,
        };
        let is_null_at = |(slot, column): (&Slot, &ColumnDef)| *slot == Slot::Null && !column.nullable;
        let has_wrong_null = || slots.iter().zip(&self.table.def.columns).any(is_null_at);
        self.is_same
            && self.checked.iter().all(keeps)
            && !has_wrong_null()
            && self.table.codec.row.verify(image).is_ok()
    }

    /// Makes a row of ours of an image, whose slots are given.
    pub(super) fn write_row(
        &self,
        (image, slots): (&[u8], &[Slot]),
        rest: Rest<'_>,
        row_number: u64,
        context: &ExecContext<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SqlError> {
        let mut row = self.maker.begin(out);
        for (number, column) in self.columns.iter().enumerate() {
            let slot = column.source.map_or(Slot::Absent, |source| slots[source]);
            match (slot, rest) {
                (Slot::At(start, end), _) => row.write(|out| {
                    let value = &image[start..end];
                    let appended = column.convert.append(value, &self.table, number, out);
                    appended.map_err(|refused| refused.error(&self.table.def.columns[number], row_number))
                })?,
                (Slot::Null, _) => self.maker.null(number, &mut row),
                (Slot::Absent, Rest::Zeros) => self.maker.zero(number, &mut row),
                (Slot::Absent, Rest::Old(old, slots)) => match slots[number] {
                    Slot::At(start, end) => row.bytes(&old[start..end]),
                    _ => row.null(),
                },
                (Slot::Absent, Rest::Defaults) => self.maker.default(number, row_number, context, &mut row)?,
            }
        }
        Ok(())
    }
}

/// Whether our table has a generated primary key, and the source's has none: a MySQL that makes none, or a MariaDB.
fn lacks_generated_key(map: &TableMap, table: &Table) -> bool {
    let first_is_it = || {
        let name = map.columns.first().and_then(|column| column.name.as_deref());
        name.is_some_and(|name| same_name(name, GENERATED_PK_COLUMN))
    };
    // One that is counted with another column is only made here: a source of ours has as many columns.
    let is_ours = || {
        let first = map.columns.first().map(|column| column.type_code);
        table.def.counted_pk().is_some()
            && map.columns.len() == table.def.columns.len()
            && first == Some(column_type::LONGLONG)
    };
    table.def.generated_pk && !map.has_generated_primary_key() && !first_is_it() && !is_ours()
}

impl MappedColumn {
    fn new(
        map: &TableMap,
        table: &Table,
        number: usize,
        shift: usize,
        modes: TypeConversions,
    ) -> Result<Self, SqlError> {
        let def = &table.def.columns[number];
        let source = number.checked_sub(shift).filter(|&source| source < map.columns.len());
        let mut convert = Convert::Copy;
        if let Some(source) = source {
            let meta = &map.columns[source];
            let forms = Form::of(meta).zip(Form::of(&table.encoder.map().columns[number]));
            let allowed = forms.filter(|(from, to)| from.may_become(*to, modes));
            let (from, to) = allowed.ok_or_else(|| cannot_convert(map, table, source, number))?;
            convert = Convert::new(meta, from, to, def, modes);
        }
        Ok(MappedColumn { source, convert })
    }
}
