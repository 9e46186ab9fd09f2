//! Rows of a table's old form in its new one: what ALTER TABLE does to each.

use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use engine::EngineError;
use engine::catalog::{AutoIncrement, RowMapper, Table};
use types::charset::prefix_bytes;
use types::decimal::Rounding;
use types::{ColumnDef, ColumnType, IndexDef, RowLayout, TableDef, TypeError, Value};

use super::DdlContext;
use super::alter::Copying;
use super::default::Conversion;
use crate::expr::copied::Copied;
use crate::expr::zero::implicit_default;
use crate::expr::{EvalContext, ExprType, SqlMode, Strictness, Warnings, coerce};
use crate::write::{DefaultValue, NewRow, NullOfCopy, RowMaker, Terms};

/// The mapper, or `None` if rows and the clustered key stay as they are. `sources` has for each new column the position of
/// the old one. `counter`: where the numbers of AUTO_INCREMENT begin.
pub(super) fn row_mapper(
    old: &Arc<Table>,
    new: &TableDef,
    (sources, copying, counter): (&[Option<usize>], &Copying, Option<u64>),
    context: &DdlContext<'_>,
    warnings: &Arc<Warnings>,
) -> Result<Option<RowMapper>, SqlError> {
    let table = old.clone();
    let old = &old.def;
    let numbered = numbered(old, new, sources);
    let columns = new.columns.iter().zip(sources);
    let same_columns = old.columns.len() == new.columns.len()
        && columns.enumerate().all(|(at, (column, source))| *source == Some(at) && same_form(&old.columns[at], column));
    let any_checked = new.columns.iter().any(|column| checks_dates(column, copying, context));
    if same_columns && same_key(old, new) && numbered.is_none() && !any_checked {
        return Ok(None);
    }
    let conversion = Conversion::new(context, warnings.clone());
    let added = |column: &ColumnDef| DefaultValue::of_added(column, context.now(), context.time_zone);
    let map = Arc::new(Map {
        old: RowLayout::new(old),
        maker: RowMaker::of_new_form(new, new.columns.iter().map(added).collect(), numbered),
        steps: steps(old, new, sources, copying, context),
        zero_date: zero_date(new, sources, copying, context),
        terms: Terms { strictness: conversion.strictness(), refuses_null: false, numbering: context.auto_increment },
        old_columns: old.columns.clone(),
        conversion,
        is_copied: copying.is_done,
        is_of_maria: context.is_of_maria,
        is_logged: context.is_logged,
        numbers_as_copied: copying.numbers_rows,
    });
    Ok(Some(Arc::new(move || {
        map.conversion.begin();
        let counter_at = map.first_number(counter.unwrap_or_else(|| table.auto_increment().peek()));
        let (new, old) = (map.maker.new_row(), Vec::with_capacity(map.old.len()));
        let mut pass = Pass { map: map.clone(), new, old, counter: AutoIncrement::from(counter_at) };
        Box::new(move |row: &Bytes| pass.row(row))
    })))
}

/// What the columns of a new row are given, each with its step. Those that are added have their defaults, but for generated keys. MySQL needs no number
/// for each row of a table without a key; here a generated key needs one, wherever the definition comes from.
fn steps(
    old: &TableDef,
    new: &TableDef,
    sources: &[Option<usize>],
    copying: &Copying,
    context: &DdlContext<'_>,
) -> Vec<(usize, Step)> {
    let counted = new.counted_pk();
    let columns = new.columns.iter().zip(sources).enumerate();
    let steps = columns.filter_map(|(at, (column, source))| match *source {
        None if counted == Some(at) && context.is_logged => Some((at, Step::Count)),
        None if counted == Some(at) => Some((at, Step::Single)),
        None => None,
        Some(source) => Some((at, step(old, column, source, copying, context))),
    });
    steps.collect()
}

/// The column that becomes the AUTO_INCREMENT column: rows that have no number in it, or 0, get one.
pub(super) fn numbered(old: &TableDef, new: &TableDef, sources: &[Option<usize>]) -> Option<usize> {
    let column = new.auto_increment_column()?;
    let is_key_that_stays = |source: usize| new.generated_pk && column == 0 && old.generated_pk && source == 0;
    let had_numbers = |source: usize| old.columns[source].auto_increment || is_key_that_stays(source);
    (!sources[column].is_some_and(had_numbers)).then_some(column)
}

/// The unique key in whose order a MySQL or MariaDB without generated primary keys numbers the rows of a table that has such a key here: their clustered
/// key there, which is the first one without NULL and prefixes.
pub(super) fn unique_key(old: &TableDef, new: &TableDef, sources: &[Option<usize>]) -> Option<usize> {
    let is_whole = |index: &IndexDef| index.parts.iter().all(|part| part.prefix_chars.is_none());
    numbered(old, new, sources).filter(|_| old.generated_pk)?;
    let mut others = old.indexes.iter().enumerate().skip(1);
    others.find(|(_, index)| old.is_candidate(index) && is_whole(index)).map(|(number, _)| number)
}

/// Where the counter goes on that has to begin elsewhere than it is: where the statement says, or at the beginning if the table had no
/// AUTO_INCREMENT column or this goes.
pub(super) fn counter(old: &TableDef, new: &TableDef, sources: &[Option<usize>], said: Option<u64>) -> Option<u64> {
    let column = new.auto_increment_column()?;
    let is_generated = |def: &TableDef, column: usize| def.generated_pk && column == 0;
    let goes_on =
        |before: usize| sources.contains(&Some(before)) && (!is_generated(old, before) || is_generated(new, column));
    let goes_on =
        is_generated(new, column) && sources[0] == Some(0) || old.auto_increment_column().is_some_and(goes_on);
    said.or((!goes_on).then_some(1))
}

/// Whether a column that stays has another form, apart from NULLs, or numbers itself as it did not, or does so no longer: then MySQL copies the table.
/// MariaDB does not where numbers end and where texts change less.
pub(super) fn converts(old: &TableDef, new: &TableDef, sources: &[Option<usize>], is_of_maria: bool) -> bool {
    let mut columns = new.columns.iter().zip(sources).skip(usize::from(new.generated_pk));
    columns.any(|(column, source)| {
        let Some(source) = *source else { return false };
        let was = &old.columns[source];
        match is_of_maria {
            true => !stays_at_mariadb(old, source, column) || column.auto_increment && !was.auto_increment,
            false => !same_values(was, column) || was.auto_increment != column.auto_increment,
        }
    })
}

/// Whether a MariaDB leaves the rows alone that have such a column: texts in the same character set, longer or in another order, as far as their keys can
/// be made anew, and lengths of any size.
fn stays_at_mariadb(old: &TableDef, source: usize, new: &ColumnDef) -> bool {
    let has_key = |index: &IndexDef| index.parts.iter().any(|part| part.column == source);
    let was = &old.columns[source];
    let same_text =
        was.collation == new.collation || was.collation.charset() == new.collation.charset() && !has_key(old.primary());
    match (&was.ty, &new.ty) {
        (ColumnType::VarChar { .. }, ColumnType::VarChar { .. }) => same_text && was.max_bytes() <= new.max_bytes(),
        (ColumnType::VarBinary { .. }, ColumnType::VarBinary { .. }) => was.max_bytes() <= new.max_bytes(),
        (ColumnType::Char { .. }, ColumnType::Char { .. }) => same_text && was.ty == new.ty,
        (before, after) if matches!(before, ColumnType::Text { .. }) && before == after => {
            was.collation == new.collation || same_text && !old.indexes.iter().any(has_key)
        }
        _ => same_values(was, new),
    }
}

/// Whether a column that stays takes no NULLs any more.
pub(super) fn refuses_null(old: &TableDef, new: &TableDef, sources: &[Option<usize>]) -> bool {
    let mut columns = new.columns.iter().zip(sources);
    columns.any(|(column, source)| source.is_some_and(|source| old.columns[source].nullable && !column.nullable))
}

/// Whether values of both columns have the same bytes in a row and the same order in keys, and all that were allowed still
/// are.
fn same_form(old: &ColumnDef, new: &ColumnDef) -> bool {
    (!old.nullable || new.nullable) && same_values(old, new)
}

/// The same of values that are not NULL.
pub(super) fn same_values(old: &ColumnDef, new: &ColumnDef) -> bool {
    if old.collation != new.collation {
        return false;
    }
    let same_length_bytes = |old: u32, new: u32| old <= new && (old > 255) == (new > 255);
    match (&old.ty, &new.ty) {
        (ColumnType::VarChar { .. }, ColumnType::VarChar { .. })
        | (ColumnType::VarBinary { .. }, ColumnType::VarBinary { .. }) => {
            same_length_bytes(old.max_bytes(), new.max_bytes())
        }
        (ColumnType::Enum { members: old_members }, ColumnType::Enum { members })
        | (ColumnType::Set { members: old_members }, ColumnType::Set { members }) => {
            members.starts_with(old_members) && old.ty.pack_length() == new.ty.pack_length()
        }
        (old, new) => old == new,
    }
}

fn same_key(old: &TableDef, new: &TableDef) -> bool {
    old.primary().parts == new.primary().parts
}

/// How a column of the new row is given its value.
enum Step {
    /// The old value.
    Keep(usize),
    /// The old value if it is a date that `sql_mode` allows.
    Check(usize),
    /// The old text, as far as there is room.
    Cut(usize),
    /// The old value, converted.
    Convert { from: usize, copied: Option<Copied> },
    /// 1, 2, 3, … in the order of the old clustered key.
    Count,
    /// 0 for the only row: the definition that replicas get numbers no others.
    Single,
}

/// The first column that is added and has the date of zeros in all rows, as it takes no NULL and has no default, if `sql_mode` does not allow this date.
/// What a source has done is done.
fn zero_date(new: &TableDef, sources: &[Option<usize>], copying: &Copying, context: &DdlContext<'_>) -> Option<usize> {
    // Where the table is copied, it is no warning either.
    let says_so = context.sql_mode.is_strict() || !copying.is_done;
    let refuses = context.sql_mode.has(SqlMode::NO_ZERO_DATE) && !context.is_logged && says_so;
    let mut columns = new.columns.iter().zip(sources);
    let is_it = |(column, source): (&ColumnDef, &Option<usize>)| {
        let is_date = matches!(column.ty, ColumnType::Date | ColumnType::DateTime { .. });
        source.is_none() && is_date && !column.nullable && column.default.is_none()
    };
    columns.position(is_it).filter(|_| refuses)
}

/// Whether the dates that a column keeps are looked at as if they were stored anew: where the table is copied, and `sql_mode` does not allow all.
fn checks_dates(column: &ColumnDef, copying: &Copying, context: &DdlContext<'_>) -> bool {
    let refuses = context.sql_mode.has(SqlMode::NO_ZERO_DATE) || context.sql_mode.has(SqlMode::NO_ZERO_IN_DATE);
    let is_date = matches!(column.ty, ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. });
    refuses && is_date && copying.is_done && !context.is_logged
}

fn step(old: &TableDef, column: &ColumnDef, from: usize, copying: &Copying, context: &DdlContext<'_>) -> Step {
    let was = &old.columns[from];
    match same_values(was, column) {
        true if checks_dates(column, copying, context) => Step::Check(from),
        true => Step::Keep(from),
        false if same_text(was, column) => Step::Cut(from),
        false => Step::Convert { from, copied: Copied::by_alter(&ExprType::of_column(was), &column.ty) },
    }
}

/// Whether both have texts of one kind in one character set: MySQL copies those itself, and calls the longer ones truncated.
fn same_text(was: &ColumnDef, column: &ColumnDef) -> bool {
    let is_same_kind = matches!(
        (&was.ty, &column.ty),
        (ColumnType::Char { .. }, ColumnType::Char { .. })
            | (ColumnType::VarChar { .. }, ColumnType::VarChar { .. })
            | (ColumnType::VarBinary { .. }, ColumnType::VarBinary { .. })
    );
    is_same_kind && was.collation.charset() == column.collation.charset()
}

struct Map {
    old: RowLayout,
    maker: RowMaker,
    /// Columns that are given, in their order.
    steps: Vec<(usize, Step)>,
    /// [`zero_date`]
    zero_date: Option<usize>,
    terms: Terms,
    old_columns: Vec<ColumnDef>,
    conversion: Arc<Conversion>,
    is_copied: bool,
    is_of_maria: bool,
    is_logged: bool,
    /// [`Copying::numbers_rows`]
    numbers_as_copied: bool,
}

/// All rows, one after the other.
struct Pass {
    map: Arc<Map>,
    new: NewRow,
    /// Values of the row that is read.
    old: Vec<Value>,
    counter: AutoIncrement,
}

impl Pass {
    fn row(&mut self, row: &Bytes) -> Result<Bytes, SqlError> {
        let Pass { map, new, old, counter } = self;
        new.begin(new.number + 1);
        if let Some(column) = map.zero_date.filter(|_| new.number == 1) {
            map.conversion.zero_date(map.maker.column(column))?;
        }
        old.clear();
        map.old.decode(row, old).map_err(internal)?;
        let eval = map.conversion.eval(map.terms.strictness);
        for (column, step) in &map.steps {
            map.give(*column, step, old, new, &eval)?;
        }
        map.maker.complete(new, map.terms, &eval)?;
        map.maker.number_copied(new, counter, map.terms, &eval)?;
        map.maker.image(new)
    }
}

impl Step {
    /// The old column that the new one is made of.
    fn source(&self) -> Option<usize> {
        match self {
            Step::Keep(from) | Step::Check(from) | Step::Cut(from) | Step::Convert { from, .. } => Some(*from),
            Step::Count | Step::Single => None,
        }
    }
}

impl Map {
    /// Where numbers begin whose counter is here. A MySQL and a MariaDB that do not copy the table take the number of the series behind the one that
    /// would come, if the series is another than all numbers.
    fn first_number(&self, counter: u64) -> u64 {
        let (increment, offset) = self.terms.numbering;
        if self.numbers_as_copied || (increment, offset) == (1, 1) {
            return counter;
        }
        let offset = if offset > increment { 0 } else { offset };
        let series = (counter.max(1).abs_diff(offset) / increment).saturating_add(1);
        series.saturating_mul(increment).saturating_add(offset)
    }

    /// Gives a column of the new row its value.
    fn give(
        &self,
        column: usize,
        step: &Step,
        old: &[Value],
        new: &mut NewRow,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let maker = &self.maker;
        if let Some(from) = step.source().filter(|&from| old[from].is_null()) {
            let (is_copied, is_of_maria) = (self.is_copied, self.is_of_maria);
            let of = NullOfCopy { was: &self.old_columns[from], is_copied, is_of_maria };
            return maker.set_null_of_copy(new, column, of, self.terms, eval);
        }
        match step {
            Step::Keep(from) => new.put(column, old[*from].clone()),
            Step::Cut(from) => self.cut(column, &old[*from], new, eval)?,
            Step::Check(from) => {
                let has_zeros = match &old[*from] {
                    Value::Date(date) => date.has_zero_part(),
                    Value::DateTime(at) => at.date.has_zero_part(),
                    _ => false,
                };
                match has_zeros {
                    true => maker.set(new, column, old[*from].clone(), self.terms, eval)?,
                    false => new.put(column, old[*from].clone()),
                }
            }
            Step::Count => maker.set(new, column, Value::UInt(new.number), self.terms, eval)?,
            Step::Single if new.number == 1 => new.put(column, implicit_default(maker.column(column))),
            Step::Single => {
                let what = "DROP PRIMARY KEY of a table with rows and an AUTO_INCREMENT column besides";
                return Err(SqlError::not_supported(what));
            }
            Step::Convert { from, copied } => {
                let value = self.converted_from(*from, &old[*from], maker.column(column));
                if matches!(copied, Some(Copied::Integer)) {
                    // A text that is none is spoken of (1292).
                    coerce::to_i64(&value, eval)?;
                }
                maker.set_copied(new, column, (value, copied.as_ref()), self.terms, eval)?;
            }
        }
        Ok(())
    }

    /// Gives a column a text of its own kind. What is too long is truncated, be it spaces, unless a source has done so.
    fn cut(&self, column: usize, text: &Value, new: &mut NewRow, eval: &EvalContext<'_>) -> Result<(), SqlError> {
        let def = self.maker.column(column);
        let whole = text.as_bytes().cloned().unwrap_or_default();
        let kept = match def.ty {
            ColumnType::Char { chars } | ColumnType::VarChar { chars } => prefix_bytes(&whole, chars as usize),
            _ => whole.len().min(def.max_bytes() as usize),
        };
        if kept < whole.len() {
            let message = format!("Data truncated for column '{}' at row {}", def.name, new.number);
            let strictness = if self.is_logged { Strictness::Lenient } else { self.terms.strictness };
            Terms { strictness, ..self.terms }.complain(codes::WARN_DATA_TRUNCATED, message, eval)?;
        }
        let mut text = whole.slice(..kept);
        if matches!(def.ty, ColumnType::Char { .. }) {
            let length = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            text.truncate(length);
        }
        new.put(column, if def.ty.is_binary() { Value::Bytes(text) } else { Value::Str(text) });
        Ok(())
    }

    /// An old value as it goes into the conversion for a column.
    fn converted_from(&self, from: usize, value: &Value, column: &ColumnDef) -> Value {
        match (&self.old_columns[from].ty, value) {
            (ColumnType::Timestamp { .. }, Value::DateTime(utc)) => Value::DateTime(self.conversion.local(*utc)),
            // It is rounded before it has to fit.
            (_, Value::Decimal(n)) if column.ty.integer().is_some() => {
                Value::Decimal(n.rounded(0, Rounding::HalfUp).unwrap_or(*n))
            }
            (_, value) => value.clone(),
        }
    }
}

fn internal(error: TypeError) -> SqlError {
    EngineError::from(error).into()
}
