//! What an event's rows do here, one by one.

use base::{SqlError, codes};
use binlog::event::{RowsEvent, RowsKind, partial_image_head, rows_flags};
use bytes::Bytes;
use engine::{DuplicateKey, EngineError, ReadMode, Savepoint};

use super::corrupt;
use super::diffs;
use super::find::Finder;
use super::image::{Slot, split};
use super::mapping::{MappedTable, Rest};
use crate::dml::{delete_row, is_violation, update_row};
use crate::exec::ExecContext;
use crate::exec::batch::BATCH_ROWS;

/// `replica_exec_mode`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecMode {
    /// A row that is not there, or whose key is taken, is an error.
    #[default]
    Strict,
    /// The first is left out, and a new row takes the place of those in its way.
    Idempotent,
}

/// `replica_row_differences`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDifference {
    /// Rows are not compared.
    Ignore,
    /// The log counts.
    #[default]
    Warn,
    /// The row that is meant is not there.
    Error,
}

/// Rows that were changed as the log says, and had not been as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowDifferences {
    /// How many.
    pub rows: u64,
    /// Theirs: `database.table`.
    pub table: String,
    /// The first column in which the first of them differed.
    pub column: String,
}

/// How an event's rows are applied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ApplyModes {
    pub(crate) exec: ExecMode,
    pub(crate) on_difference: OnDifference,
}

/// Names of the storage engine's errors in MySQL's messages.
const HANDLER_ERRORS: &[(codes::Code, &str)] = &[
    (codes::KEY_NOT_FOUND, "HA_ERR_KEY_NOT_FOUND"),
    (codes::DUP_ENTRY, "HA_ERR_FOUND_DUPP_KEY"),
    (codes::FOREIGN_DUPLICATE_KEY, "HA_ERR_FOREIGN_DUPLICATE_KEY"),
    (codes::NO_REFERENCED_ROW_2, "HA_ERR_NO_REFERENCED_ROW"),
    (codes::ROW_IS_REFERENCED_2, "HA_ERR_ROW_IS_REFERENCED"),
];

/// Whether foreign keys are checked, and cascade, for an event's rows.
pub(crate) fn checks_foreign_keys(event: &RowsEvent<'_>) -> bool {
    event.flags & (rows_flags::NO_FOREIGN_KEY_CHECKS | rows_flags::SQL_FOREIGN_KEYS) == 0
}

/// Applies a rows event as a part of the statement that is under way in the context's transaction; `is_partial` is one whose after
/// images are those of PARTIAL_UPDATE_ROWS.
pub(crate) async fn apply_event(
    mapped: &MappedTable,
    event: &RowsEvent<'_>,
    is_partial: bool,
    modes: ApplyModes,
    context: &mut ExecContext<'_>,
) -> Result<Option<RowDifferences>, SqlError> {
    if event.column_count != mapped.map.columns.len() {
        let (rows, map) = (event.column_count, mapped.map.columns.len());
        return Err(corrupt(format!("rows of {rows} columns for a table of {map}")));
    }
    context.foreign_key_checks = checks_foreign_keys(event);
    if !context.foreign_key_checks {
        context.transaction.set_unchecked();
    }
    mapped.lock(context.transaction, context.foreign_key_checks).await?;
    let mut rows = EventRows::new(mapped, event, is_partial);
    match event.kind {
        RowsKind::Write => insert_rows(&mut rows, modes.exec, context).await?,
        RowsKind::Update | RowsKind::Delete => change_rows(&mut rows, modes, context).await?,
    }
    Ok(rows.differences)
}

/// The images of an event on their way to rows of ours.
struct EventRows<'m, 'e> {
    mapped: &'m MappedTable,
    event: RowsEvent<'e>,
    is_full: bool,
    /// After images may have diffs of JSON documents.
    is_partial: bool,
    /// Which JSON columns of the after image that was just taken are diffs.
    diffs: &'e [u8],
    /// What is left of the images.
    rest: &'e [u8],
    /// Rows so far, for messages.
    number: u64,
    slots: Vec<Slot>,
    /// Of the row that is changed.
    old_slots: Vec<Slot>,
    buffer: Vec<u8>,
    differences: Option<RowDifferences>,
}

impl<'m, 'e> EventRows<'m, 'e> {
    fn new(mapped: &'m MappedTable, event: &RowsEvent<'e>, is_partial: bool) -> Self {
        let (slots, old_slots) = (Vec::new(), Vec::new());
        let (is_full, rest) = (event.is_full(), event.rows);
        let (event, buffer) = (*event, Vec::new());
        let diffs: &[u8] = &[];
        EventRows {
            mapped,
            event,
            is_full,
            is_partial,
            diffs,
            rest,
            number: 0,
            slots,
            old_slots,
            buffer,
            differences: None,
        }
    }

    /// Takes the next image; its slots are in `slots` then.
    fn take(&mut self, after: bool) -> Result<&'e [u8], SqlError> {
        let present = if after { self.event.present_after } else { self.event.present };
        let present = Some(present).filter(|_| !self.is_full);
        if after && self.is_partial {
            let (diffs, len) = partial_image_head(&self.mapped.map, self.rest).map_err(corrupt)?;
            (self.diffs, self.rest) = (diffs, &self.rest[len..]);
        }
        let len = split(&self.mapped.map.columns, present, self.rest, &mut self.slots)?;
        // An update may change nothing; rows without any column would never end.
        if len == 0 && !(after && self.event.kind == RowsKind::Update) {
            return Err(corrupt("rows event: empty rows"));
        }
        let (image, rest) = self.rest.split_at(len);
        self.rest = rest;
        Ok(image)
    }

    /// The image that was just taken, as a row of ours.
    fn row(&mut self, image: &[u8], rest: Rest<'_>, context: &ExecContext<'_>) -> Result<Bytes, SqlError> {
        if self.is_full && self.mapped.is_row(image, &self.slots) {
            return Ok(Bytes::copy_from_slice(image));
        }
        self.mapped.write_row((image, &self.slots), rest, self.number, context, &mut self.buffer)?;
        Ok(Bytes::copy_from_slice(&self.buffer))
    }

    /// The image that was just taken, over a row that is there.
    fn row_over(&mut self, image: &[u8], old: &Bytes, context: &ExecContext<'_>) -> Result<Bytes, SqlError> {
        let mut old_slots = std::mem::take(&mut self.old_slots);
        split(&self.mapped.table.encoder.map().columns, None, old, &mut old_slots)?;
        let resolved = match self.diffs {
            [] => None,
            diffs => Some(diffs::resolve(self.mapped, image, &mut self.slots, diffs, (old, &old_slots))?),
        };
        let image = resolved.as_deref().unwrap_or(image);
        let row = self.row(image, Rest::Old(old, &old_slots), context);
        self.old_slots = old_slots;
        row
    }

    /// 1032, 1062 and the like, as MySQL's applier says them.
    fn failed(&self, error: SqlError) -> SqlError {
        let known = HANDLER_ERRORS.iter().find(|(code, _)| code.0 == error.code);
        let Some((_, handler)) = known else { return error };
        let kind = match self.event.kind {
            RowsKind::Write => "Write",
            RowsKind::Update => "Update",
            RowsKind::Delete => "Delete",
        };
        let (table, code) = (self.mapped.table.full_name(), error.code);
        let message = format!(
            "Could not execute {kind}_rows event on table {table}; {}, Error_code: {code}; handler error {handler}",
            error.message
        );
        SqlError { message, ..error }
    }

    fn not_found(&self) -> SqlError {
        let message = format!("Can't find record in '{}'", self.mapped.table.def.name);
        self.failed(SqlError::new(codes::KEY_NOT_FOUND, message))
    }

    /// A row that was found is not what the log says in one of our columns.
    fn differs(&mut self, column: usize, on_difference: OnDifference) -> Result<(), SqlError> {
        let name = &self.mapped.table.def.columns[column].name;
        if on_difference == OnDifference::Error {
            let table = &self.mapped.table.def.name;
            let message =
                format!("Can't find record in '{table}': it has another value of {name} (replica_row_differences)");
            return Err(self.failed(SqlError::new(codes::KEY_NOT_FOUND, message)));
        }
        let (table, column) = (|| self.mapped.table.full_name(), || name.clone());
        let first = || RowDifferences { rows: 0, table: table(), column: column() };
        self.differences.get_or_insert_with(first).rows += 1;
        Ok(())
    }

    async fn pass(&self, context: &ExecContext<'_>) -> Result<(), SqlError> {
        if self.number.is_multiple_of(BATCH_ROWS as u64) { context.check_cancelled().await } else { Ok(()) }
    }
}

/// Whether IDEMPOTENT leaves a change out: one that a row in the way, or a foreign key, refuses.
fn is_left_out(error: &SqlError) -> bool {
    is_violation(error) || error.code == codes::DUP_ENTRY.0 || error.code == codes::FOREIGN_DUPLICATE_KEY.0
}

async fn insert_rows(
    rows: &mut EventRows<'_, '_>,
    mode: ExecMode,
    context: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    while !rows.rest.is_empty() {
        rows.number += 1;
        let image = rows.take(true)?;
        let row = rows.row(image, Rest::Defaults, context)?;
        match insert_row(rows.mapped, row, mode, context).await {
            Err(error) if mode == ExecMode::Idempotent && is_left_out(&error) => {}
            result => result.map_err(|error| rows.failed(error))?,
        }
        rows.pass(context).await?;
    }
    Ok(())
}

/// Inserts a row. What IDEMPOTENT leaves out leaves nothing behind.
async fn insert_row(
    mapped: &MappedTable,
    row: Bytes,
    mode: ExecMode,
    context: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    let mut before = context.transaction.begin_row();
    let result = try_insert(mapped, row, mode, &mut before, context).await;
    if mode == ExecMode::Idempotent && result.as_ref().is_err_and(is_left_out) {
        context.transaction.rollback_to(before);
    }
    result
}

/// `before` is where to go back to; deleting rows begins other rows, so it becomes a savepoint then.
async fn try_insert(
    mapped: &MappedTable,
    row: Bytes,
    mode: ExecMode,
    before: &mut Savepoint,
    context: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    let mut is_in_the_way = false;
    loop {
        match context.transaction.insert(&mapped.table, row.clone()).await {
            Ok(()) => break,
            Err(EngineError::DuplicateKey(duplicate)) if mode == ExecMode::Idempotent => {
                if !is_in_the_way {
                    *before = context.transaction.savepoint();
                    is_in_the_way = true;
                }
                clear_way(mapped, &duplicate, &row, context).await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    match mapped.foreign.as_ref().filter(|_| context.foreign_key_checks) {
        Some(foreign) => foreign.inserted(row, false, context).await,
        None => Ok(()),
    }
}

/// Deletes the row that has the key of a new one.
async fn clear_way(
    mapped: &MappedTable,
    duplicate: &DuplicateKey,
    row: &Bytes,
    context: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    let found = context.transaction.get(&mapped.table, &duplicate.existing_key, ReadMode::FOR_UPDATE).await?;
    match found {
        Some(existing) => delete_row(&mapped.table, mapped.foreign.as_ref(), &existing, Some(row), context).await,
        None => Ok(()),
    }
}

async fn change_rows(
    rows: &mut EventRows<'_, '_>,
    modes: ApplyModes,
    context: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    let mode = modes.exec;
    if rows.rest.is_empty() {
        return Ok(());
    }
    let mapped = rows.mapped;
    let mut finder = begin_finding(rows, context).await?;
    while !rows.rest.is_empty() {
        rows.number += 1;
        let image = rows.take(false)?;
        let before = rows.row(image, Rest::Zeros, context)?;
        let found = finder.find(&before, context).await?;
        let after = match rows.event.kind {
            RowsKind::Update => Some(rows.take(true)?),
            _ => None,
        };
        let Some(old) = found else {
            if mode == ExecMode::Strict {
                return Err(rows.not_found());
            }
            continue;
        };
        if modes.on_difference != OnDifference::Ignore
            && let Some(column) = finder.difference(&before, &old)?
        {
            rows.differs(column, modes.on_difference)?;
        }
        let result = match after {
            None => delete_row(&mapped.table, mapped.foreign.as_ref(), &old, None, context).await,
            Some(after) => {
                let new = rows.row_over(after, &old, context)?;
                finder.wrote(&new)?;
                update_row(&mapped.table, mapped.foreign.as_ref(), &old, new, context).await
            }
        };
        match result {
            Err(error) if mode == ExecMode::Idempotent && is_left_out(&error) => {}
            result => result.map_err(|error| rows.failed(error))?,
        }
        rows.pass(context).await?;
    }
    Ok(())
}

/// Chooses how the event's rows are found; if by a scan, looks for all of them.
async fn begin_finding<'m>(rows: &EventRows<'m, '_>, context: &mut ExecContext<'_>) -> Result<Finder<'m>, SqlError> {
    let mut ahead = EventRows::new(rows.mapped, &rows.event, rows.is_partial);
    let image = ahead.take(false)?;
    let first = ahead.row(image, Rest::Zeros, context)?;
    if ahead.event.kind == RowsKind::Update {
        ahead.take(true)?;
    }
    let count = rows.rest.len() / (rows.rest.len() - ahead.rest.len());
    let compared = rows.mapped.columns_in(rows.event.present);
    let mut finder = Finder::new(rows.mapped, compared, &first, count, context).await?;
    if !finder.scans() {
        return Ok(finder);
    }
    finder.want(&first)?;
    while !ahead.rest.is_empty() {
        let image = ahead.take(false)?;
        let row = ahead.row(image, Rest::Zeros, context)?;
        finder.want(&row)?;
        if ahead.event.kind == RowsKind::Update {
            ahead.take(true)?;
        }
    }
    finder.scan(context).await?;
    Ok(finder)
}
