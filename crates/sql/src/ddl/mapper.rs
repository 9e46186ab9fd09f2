//! Rows of a table's old form in its new one: what ALTER TABLE does to each.

use std::sync::Arc;

use base::SqlError;
use bytes::Bytes;
use engine::EngineError;
use engine::catalog::{AutoIncrement, RowMapper, Table};
use types::decimal::Rounding;
use types::{ColumnDef, ColumnDefault, ColumnType, IndexDef, RowLayout, TableDef, TypeError, Value};

use super::DdlContext;
use super::alter::Copying;
use super::default::{Conversion, now};
use crate::expr::copied::Copied;
use crate::expr::zero::implicit_default;
use crate::expr::{ExprType, SqlMode, Warnings};

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
    // MySQL needs no number for each row of a table without a key; here a generated key needs one, wherever the definition comes from.
    let counted = new.counted_pk();
    let columns = new.columns.iter().zip(sources).enumerate();
    let steps = columns.map(|(at, (column, source))| match source {
        None if counted == Some(at) && context.is_logged => Step::Count,
        None if counted == Some(at) => Step::Single,
        source => step(old, column, *source, copying, context),
    });
    let map = Arc::new(Map {
        old: RowLayout::new(old),
        new: RowLayout::new(new),
        steps: steps.collect(),
        zero_date: zero_date(new, sources, copying, context),
        numbered,
        zero_is_a_number: context.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO),
        numbering: context.auto_increment,
        columns: new.columns.clone(),
        old_columns: old.columns.clone(),
        conversion: Conversion::new(context, warnings.clone()),
        is_copied: copying.is_done,
        numbers_as_copied: copying.numbers_rows,
    });
    Ok(Some(Arc::new(move || {
        map.conversion.begin();
        let counter_at = map.first_number(counter.unwrap_or_else(|| table.auto_increment().peek()));
        let mut pass = Pass { map: map.clone(), row_count: 0, counter: AutoIncrement::from(counter_at) };
        Box::new(move |row: &Bytes| pass.row(row))
    })))
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

/// How a column of the new row comes about.
enum Step {
    /// The old value.
    Keep(usize),
    /// The old value if it is a date that `sql_mode` allows.
    Check(usize),
    /// The old value, converted.
    Convert { from: usize, copied: Option<Copied> },
    /// The same for every row.
    Value(Value),
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

fn step(
    old: &TableDef,
    column: &ColumnDef,
    source: Option<usize>,
    copying: &Copying,
    context: &DdlContext<'_>,
) -> Step {
    match source {
        Some(from) if same_form(&old.columns[from], column) && checks_dates(column, copying, context) => {
            Step::Check(from)
        }
        Some(from) if same_form(&old.columns[from], column) => Step::Keep(from),
        Some(from) => {
            let copied = Copied::by_alter(&ExprType::of_column(&old.columns[from]), &column.ty);
            Step::Convert { from, copied }
        }
        // A number takes its place.
        None if column.auto_increment => Step::Value(Value::Null),
        None => Step::Value(match &column.default {
            Some(ColumnDefault::Literal(value)) => value.clone(),
            Some(ColumnDefault::CurrentTimestamp { .. }) => now(column, context.now(), context.time_zone),
            _ if column.nullable => Value::Null,
            _ => implicit_default(column),
        }),
    }
}

struct Map {
    old: RowLayout,
    new: RowLayout,
    steps: Vec<Step>,
    /// [`zero_date`]
    zero_date: Option<usize>,
    /// [`numbered`]
    numbered: Option<usize>,
    zero_is_a_number: bool,
    /// `auto_increment_increment` and `auto_increment_offset`
    numbering: (u64, u64),
    columns: Vec<ColumnDef>,
    old_columns: Vec<ColumnDef>,
    conversion: Arc<Conversion>,
    is_copied: bool,
    /// [`Copying::numbers_rows`]
    numbers_as_copied: bool,
}

/// All rows, one after the other.
struct Pass {
    map: Arc<Map>,
    row_count: u64,
    counter: AutoIncrement,
}

impl Pass {
    fn row(&mut self, row: &Bytes) -> Result<Bytes, SqlError> {
        self.row_count += 1;
        let map = &*self.map;
        if let Some(column) = map.zero_date.filter(|_| self.row_count == 1) {
            map.conversion.zero_date(&map.columns[column])?;
        }
        let mut old = Vec::with_capacity(map.old.len());
        map.old.decode(row, &mut old).map_err(internal)?;
        let mut new = Vec::with_capacity(map.steps.len());
        for (at, (step, column)) in map.steps.iter().zip(&map.columns).enumerate() {
            new.push(match map.numbered == Some(at) {
                true => self.number(step, column, &old)?,
                false => map.value(step, column, &old, self.row_count)?,
            });
        }
        map.new.encode(&new).map_err(internal)
    }

    /// The value of the column that becomes the AUTO_INCREMENT column, as INSERT makes it.
    fn number(&self, step: &Step, column: &ColumnDef, old: &[Value]) -> Result<Value, SqlError> {
        let map = &*self.map;
        if !step.is_null(old) {
            let value = map.value(step, column, old, self.row_count)?;
            let counted = value.counted();
            if counted != Some(0) || map.zero_is_a_number {
                self.counter.seen(counted.unwrap_or(0));
                return Ok(value);
            }
        }
        let (increment, offset) = map.numbering;
        map.conversion.number(self.counter.next(1, increment, offset), column, self.row_count)
    }
}

impl Step {
    /// Whether it comes to NULL because there is nothing or NULL.
    fn is_null(&self, old: &[Value]) -> bool {
        match self {
            Step::Keep(from) | Step::Check(from) | Step::Convert { from, .. } => old[*from].is_null(),
            Step::Value(value) => value.is_null(),
            Step::Count | Step::Single => false,
        }
    }
}

impl Map {
    /// Where numbers begin whose counter is here. A MySQL and a MariaDB that do not copy the table take the number of the series behind the one that
    /// would come, if the series is another than all numbers.
    fn first_number(&self, counter: u64) -> u64 {
        let (increment, offset) = self.numbering;
        if self.numbers_as_copied || (increment, offset) == (1, 1) {
            return counter;
        }
        let offset = if offset > increment { 0 } else { offset };
        let series = (counter.max(1).abs_diff(offset) / increment).saturating_add(1);
        series.saturating_mul(increment).saturating_add(offset)
    }

    fn value(&self, step: &Step, column: &ColumnDef, old: &[Value], number: u64) -> Result<Value, SqlError> {
        match step {
            Step::Keep(from) => Ok(old[*from].clone()),
            Step::Check(from) => match &old[*from] {
                Value::Date(date) if date.has_zero_part() => {
                    self.conversion.convert(Value::Date(*date), column, number)
                }
                Value::DateTime(at) if at.date.has_zero_part() => {
                    self.conversion.convert(Value::DateTime(*at), column, number)
                }
                other => Ok(other.clone()),
            },
            Step::Value(value) => Ok(value.clone()),
            Step::Count => self.conversion.convert(Value::UInt(number), column, number),
            Step::Single if number == 1 => Ok(implicit_default(column)),
            Step::Single => Err(SqlError::not_supported(
                "DROP PRIMARY KEY of a table with rows and an AUTO_INCREMENT column besides",
            )),
            Step::Convert { from, .. } if old[*from].is_null() => match column.nullable {
                true => Ok(Value::Null),
                false => self.conversion.null(&self.old_columns[*from], column, number, self.is_copied),
            },
            Step::Convert { from, copied } => {
                if let Some(none) = copied.as_ref().and_then(|copied| copied.no_member(&old[*from])) {
                    return Ok(none);
                }
                let value = match (&self.old_columns[*from].ty, &old[*from]) {
                    (ColumnType::Timestamp { .. }, Value::DateTime(utc)) => {
                        Value::DateTime(self.conversion.local(*utc))
                    }
                    // It is rounded before it has to fit.
                    (_, Value::Decimal(n)) if column.ty.integer().is_some() => {
                        Value::Decimal(n.rounded(0, Rounding::HalfUp).unwrap_or(*n))
                    }
                    (_, value) => value.clone(),
                };
                let value = match copied {
                    Some(copied) => {
                        if matches!(copied, Copied::Integer) {
                            self.conversion.check_integer(&value)?;
                        }
                        copied.value(value)
                    }
                    None => value,
                };
                self.conversion.convert(value, column, number)
            }
        }
    }
}

fn internal(error: TypeError) -> SqlError {
    EngineError::from(error).into()
}
