//! Rows of a table's old form in its new one: what ALTER TABLE does to each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::SqlError;
use bytes::Bytes;
use engine::EngineError;
use engine::catalog::RowMapper;
use types::charset::Charset;
use types::column::{is_no_member, no_member};
use types::{ColumnDef, ColumnDefault, ColumnType, Date, DateTime, RowLayout, TableDef, TypeError, Value};

use super::DdlContext;
use super::default::Conversion;
use crate::expr::Warnings;
use crate::expr::zero::implicit_default;

/// The mapper, or `None` if rows and the clustered key stay as they are. `sources` has for each new column the position of
/// the old one. `is_copied`: a MySQL would copy the table.
pub(super) fn row_mapper(
    old: &TableDef,
    new: &TableDef,
    (sources, is_copied): (&[Option<usize>], bool),
    context: &DdlContext<'_>,
    warnings: &Arc<Warnings>,
) -> Result<Option<RowMapper>, SqlError> {
    let columns = new.columns.iter().zip(sources);
    let same_columns = old.columns.len() == new.columns.len()
        && columns.enumerate().all(|(at, (column, source))| *source == Some(at) && same_form(&old.columns[at], column));
    if same_columns && same_key(old, new) {
        return Ok(None);
    }
    // MySQL needs no number for each row of a table without a key; here a generated key needs one, wherever the definition comes from.
    let counted = new.counted_pk();
    let columns = new.columns.iter().zip(sources).enumerate();
    let steps = columns.map(|(at, (column, source))| match source {
        None if counted == Some(at) && context.is_logged => Step::Count,
        None if counted == Some(at) => Step::Single,
        source => step(old, column, *source, context),
    });
    let steps = steps.collect();
    let map = Map {
        old: RowLayout::new(old),
        new: RowLayout::new(new),
        steps,
        columns: new.columns.clone(),
        old_columns: old.columns.clone(),
        conversion: Conversion::new(context, warnings.clone()),
        row_count: AtomicU64::new(0),
        is_copied,
    };
    Ok(Some(Arc::new(move |row: &Bytes| map.row(row))))
}

/// Whether a column that stays has another form, apart from NULLs.
pub(super) fn converts(old: &TableDef, new: &TableDef, sources: &[Option<usize>]) -> bool {
    let columns = new.columns.iter().zip(sources);
    columns
        .filter_map(|(column, source)| Some((&old.columns[(*source)?], column)))
        .any(|(old, new)| !same_values(old, new))
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
fn same_values(old: &ColumnDef, new: &ColumnDef) -> bool {
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

/// How a column of the new row comes about.
enum Step {
    /// The old value.
    Keep(usize),
    /// The old value, converted; text is the bytes of its old character set for a column of bytes.
    Convert { from: usize, was_timestamp: bool, was_text: Option<Charset> },
    /// The old value of an ENUM with these members, for another ENUM.
    Member { from: usize, members: Arc<[String]> },
    /// The same for every row.
    Value(Value),
    /// 1, 2, 3, … in the order of the old clustered key.
    Count,
    /// 0 for the only row: the definition that replicas get numbers no others.
    Single,
}

fn step(old: &TableDef, column: &ColumnDef, source: Option<usize>, context: &DdlContext<'_>) -> Step {
    match source {
        Some(from) if same_form(&old.columns[from], column) => Step::Keep(from),
        Some(from)
            if let (ColumnType::Enum { members }, ColumnType::Enum { .. }) = (&old.columns[from].ty, &column.ty) =>
        {
            Step::Member { from, members: members.clone() }
        }
        Some(from) => {
            let was_timestamp = matches!(old.columns[from].ty, ColumnType::Timestamp { .. });
            let was_text = column.ty.is_binary() && old.columns[from].ty.has_charset();
            let was_text = was_text.then(|| old.columns[from].collation.charset());
            Step::Convert { from, was_timestamp, was_text }
        }
        None if column.auto_increment => Step::Count,
        None => Step::Value(match &column.default {
            Some(ColumnDefault::Literal(value)) => value.clone(),
            Some(ColumnDefault::CurrentTimestamp { .. }) => Value::DateTime(now(column, context)),
            _ if column.nullable => Value::Null,
            _ => implicit_default(column),
        }),
    }
}

/// The statement's time as the column holds it: in UTC for a TIMESTAMP.
fn now(column: &ColumnDef, context: &DdlContext<'_>) -> DateTime {
    let seconds = jiff::Timestamp::from_second(i64::from(context.timestamp)).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let zone = match column.ty {
        ColumnType::Timestamp { .. } => jiff::tz::TimeZone::UTC,
        _ => context.time_zone.clone(),
    };
    from_civil(seconds.to_zoned(zone).datetime())
}

fn from_civil(at: jiff::civil::DateTime) -> DateTime {
    let date = Date::new(at.year() as u16, at.month() as u8, at.day() as u8);
    let micros = (at.subsec_nanosecond() / 1000) as u32;
    DateTime::new(date, at.hour() as u8, at.minute() as u8, at.second() as u8, micros)
}

struct Map {
    old: RowLayout,
    new: RowLayout,
    steps: Vec<Step>,
    columns: Vec<ColumnDef>,
    old_columns: Vec<ColumnDef>,
    conversion: Arc<Conversion>,
    row_count: AtomicU64,
    is_copied: bool,
}

impl Map {
    fn row(&self, row: &Bytes) -> Result<Bytes, SqlError> {
        let number = self.row_count.fetch_add(1, Ordering::Relaxed) + 1;
        let mut old = Vec::with_capacity(self.old.len());
        self.old.decode(row, &mut old).map_err(internal)?;
        let mut new = Vec::with_capacity(self.steps.len());
        for (step, column) in self.steps.iter().zip(&self.columns) {
            new.push(self.value(step, column, &old, number)?);
        }
        self.new.encode(&new).map_err(internal)
    }

    fn value(&self, step: &Step, column: &ColumnDef, old: &[Value], number: u64) -> Result<Value, SqlError> {
        match step {
            Step::Keep(from) => Ok(old[*from].clone()),
            Step::Value(value) => Ok(value.clone()),
            Step::Count => self.conversion.convert(Value::UInt(number), column, number),
            Step::Single if number == 1 => Ok(implicit_default(column)),
            Step::Single => Err(SqlError::not_supported(
                "DROP PRIMARY KEY of a table with rows and an AUTO_INCREMENT column besides",
            )),
            Step::Convert { from, .. } | Step::Member { from, .. } if old[*from].is_null() => match column.nullable {
                true => Ok(Value::Null),
                false => self.conversion.null(&self.old_columns[*from], column, number, self.is_copied),
            },
            Step::Member { from, members } => match (&column.ty, &old[*from]) {
                (ColumnType::Enum { members: to }, value) if is_no_member(members, value) => Ok(no_member(to)),
                (_, value) => self.conversion.convert(value.clone(), column, number),
            },
            Step::Convert { from, was_timestamp, was_text } => {
                let value = match (&old[*from], was_text) {
                    (Value::DateTime(utc), _) if *was_timestamp => Value::DateTime(self.conversion.local(*utc)),
                    (Value::Str(text), Some(charset)) => Value::Bytes(charset.encode_shared(text)),
                    (value, _) => value.clone(),
                };
                self.conversion.convert(value, column, number)
            }
        }
    }
}

fn internal(error: TypeError) -> SqlError {
    EngineError::from(error).into()
}
