//! INSERT and REPLACE: execution.

use base::{SqlError, codes};
use bytes::Bytes;
use engine::{DuplicateKey, EngineError, ReadMode, Savepoint};
use types::Value;

use crate::dml::foreign::{delete_row, is_violation, update_row};
use crate::dml::insert_plan::{InsertPlan, InsertSource, OnDuplicate};
use crate::dml::leaves_row;
use crate::exec::ExecContext;
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::query::QueryRows;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::expr::WarningLevel;
use crate::result::Outcome;
use crate::write::{Changes, NewRow, Numbers, Series, Terms};

/// What an INSERT has done so far.
pub(super) struct Progress {
    /// Rows that the source gave.
    pub(super) rows: u64,
    pub(super) affected: u64,
    /// Rows that met a row with the same key, and were left out or changed it.
    duplicates: u64,
    /// Rows that went because they had the key of another.
    pub(super) deleted: u64,
    /// First number that AUTO_INCREMENT made.
    pub(super) first_generated: Option<u64>,
    /// Whether any row came to be.
    inserted: bool,
    /// Last value that was given for the AUTO_INCREMENT column.
    last_given: u64,
    numbers: Numbers,
    pub(super) terms: Terms,
    /// The row being made.
    pub(super) row: NewRow,
    /// What ON DUPLICATE KEY UPDATE reads of the SELECT's tables.
    beside: Vec<Value>,
    /// Its frame, and what it changes.
    frame: Vec<Value>,
    changes: Changes,
}

impl InsertPlan {
    /// Runs it.
    pub(crate) async fn execute(&self, context: &mut ExecContext<'_>) -> Result<Outcome, SqlError> {
        let mut progress = Progress::new(self, context);
        let many = match &self.source {
            InsertSource::Values(values) => {
                self.insert_values(values, &mut progress, context).await?;
                values.len() > 1
            }
            InsertSource::Query { plan, reads_target, .. } => {
                let mut query = QueryRows::new(plan);
                query.open(&[]);
                if *reads_target {
                    self.insert_kept(query, &mut progress, context).await?;
                } else {
                    self.insert_streaming(query, &mut progress, context).await?;
                }
                true
            }
            InsertSource::File => return Err(SqlError::unknown("a file is read by LOAD DATA")),
        };
        let warnings = context.eval.warnings.count();
        let info = if many {
            let duplicates = progress.duplicates + progress.deleted;
            format!("Records: {}  Duplicates: {duplicates}  Warnings: {warnings}", progress.rows)
        } else {
            String::new()
        };
        Ok(Outcome {
            affected_rows: progress.affected,
            last_insert_id: progress.first_generated.unwrap_or(if progress.inserted { progress.last_given } else { 0 }),
            generated_id: progress.first_generated.is_some(),
            info,
            ..Outcome::default()
        })
    }

    /// Whether a row that meets one with its key meets no other, and nobody looks at either.
    fn has_one_key(&self) -> bool {
        self.foreign.is_none() && self.table.def.indexes.iter().filter(|index| index.unique).count() == 1
    }

    /// Whether the numbers are those of a generated primary key, for which nobody asked.
    fn hides_numbers(&self) -> bool {
        self.table.def.generated_pk && self.table.def.counted_pk().is_none()
    }

    /// Values per row of the SELECT.
    fn selected_width(&self) -> usize {
        self.columns.len() + self.on_duplicate.as_ref().map_or(0, |on_duplicate| on_duplicate.beside.len())
    }

    async fn insert_streaming(
        &self,
        mut query: QueryRows<'_>,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let mut batch = RowBatch::new(self.selected_width());
        loop {
            let more = query.next_batch(context, &mut batch, BATCH_ROWS).await?;
            self.insert_batch(&mut batch, progress, context).await?;
            batch.clear();
            if !more {
                return Ok(());
            }
        }
    }

    async fn insert_kept(
        &self,
        mut query: QueryRows<'_>,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let mut batch = RowBatch::new(self.selected_width());
        let mut kept = RowStore::new(self.selected_width(), context.limits.table_bytes);
        loop {
            let more = query.next_batch(context, &mut batch, BATCH_ROWS).await?;
            for row in batch.iter() {
                kept.push(context.env, row).await?;
            }
            batch.clear();
            if !more {
                break;
            }
        }
        let mut position = ReadPosition::default();
        loop {
            kept.read(&mut position, &mut batch, BATCH_ROWS).await?;
            if batch.is_empty() {
                return Ok(());
            }
            self.insert_batch(&mut batch, progress, context).await?;
            batch.clear();
        }
    }

    async fn insert_batch(
        &self,
        batch: &mut RowBatch,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        context.check_cancelled().await?;
        let InsertSource::Query { copied, .. } = &self.source else { return Ok(()) };
        for number in 0..batch.len() {
            let row = batch.row_mut(number);
            progress.begin_row();
            progress.beside.clear();
            progress.beside.extend_from_slice(&row[self.columns.len()..]);
            for ((&column, value), copied) in self.columns.iter().zip(row).zip(copied) {
                let input = (std::mem::replace(value, Value::Null), copied.as_ref());
                self.maker.set_copied(&mut progress.row, column, input, progress.terms, &context.eval)?;
            }
            self.insert_row(progress, context).await?;
        }
        Ok(())
    }

    /// Completes the row and inserts it.
    pub(super) async fn insert_row(
        &self,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        progress.rows += 1;
        self.maker.complete(&mut progress.row, progress.terms, &context.eval)?;
        let Some(has_parents) = self.find_parents(progress, context).await? else { return Ok(()) };
        let generated = self.maker.number(&mut progress.row, &mut progress.numbers, progress.terms, context)?;
        // INSERT … SELECT … ON DUPLICATE KEY UPDATE does not tell the numbers that it was given.
        let names_numbers = !(self.on_duplicate.is_some() && matches!(self.source, InsertSource::Query { .. }));
        if let (Some(column), true) = (self.maker.auto_increment, names_numbers && !self.hides_numbers()) {
            progress.last_given = progress.row.value(column).counted().unwrap_or(0);
        }
        self.insert_numbered(generated, has_parents, progress, context).await?;
        progress.numbers.end_row();
        Ok(())
    }

    /// Inserts the row that is complete.
    async fn insert_numbered(
        &self,
        generated: Option<u64>,
        has_parents: bool,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let row = self.maker.image(&progress.row)?;
        let before = self.foreign.as_ref().map(|_| context.transaction.begin_row());
        match context.transaction.insert(&self.table, row.clone()).await {
            Ok(()) => {
                if !self.has_its_parents(row, has_parents, before, progress, context).await? {
                    progress.numbers.give_back(generated);
                    return Ok(());
                }
                progress.affected += 1;
                progress.generated(self, generated);
                Ok(())
            }
            Err(EngineError::DuplicateKey(duplicate)) => {
                self.duplicate(*duplicate, row, generated, progress, context).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Looks for the parents of a row that has no number yet. `None` if it has none and is passed over by IGNORE; else whether they were
    /// found, or are to be looked for later.
    async fn find_parents(
        &self,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<Option<bool>, SqlError> {
        let Some(foreign) = self.foreign.as_ref().filter(|_| context.parents_first) else { return Ok(Some(false)) };
        let row = self.maker.image_without_number(&mut progress.row)?;
        match foreign.is_to_be_inserted(row, self.maker.auto_increment, context).await {
            Ok(has_parents) => Ok(Some(has_parents)),
            Err(error) => self.pass_over(error, progress, context).map(|()| None),
        }
    }

    /// With IGNORE a row without its parents is a warning, and does not count as a record.
    fn pass_over(&self, error: SqlError, progress: &mut Progress, context: &ExecContext<'_>) -> Result<(), SqlError> {
        if !self.ignore || !is_violation(&error) {
            return Err(error);
        }
        context.eval.warnings.push_error(WarningLevel::Warning, &error);
        progress.rows -= 1;
        Ok(())
    }

    /// Whether an inserted row may stay; with IGNORE one without its parents is taken back.
    async fn has_its_parents(
        &self,
        row: Bytes,
        has_parents: bool,
        before: Option<Savepoint>,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<bool, SqlError> {
        let Some((foreign, before)) = self.foreign.as_ref().zip(before) else { return Ok(true) };
        let Err(error) = foreign.inserted(row, has_parents, context).await else { return Ok(true) };
        self.pass_over(error, progress, context)?;
        context.transaction.rollback_to(before);
        Ok(false)
    }

    /// Another row has the key.
    async fn duplicate(
        &self,
        mut duplicate: DuplicateKey,
        row: Bytes,
        generated: Option<u64>,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        if !self.replace {
            progress.numbers.give_back(generated);
        }
        if let Some(on_duplicate) = &self.on_duplicate {
            return self.update_existing(on_duplicate, (&duplicate, generated), progress, context).await;
        }
        if !self.replace {
            progress.duplicates += 1;
            let error: SqlError = EngineError::DuplicateKey(Box::new(duplicate)).into();
            if !self.ignore {
                return Err(error);
            }
            context.eval.warnings.push_error(WarningLevel::Warning, &error);
            return Ok(());
        }
        loop {
            // At the end of a column's numbers the last one is given again, and whose it is would go without anybody having named it.
            if generated.is_some() && self.is_number_of(&duplicate) {
                return Err(EngineError::DuplicateKey(Box::new(duplicate)).into());
            }
            let existing = context.transaction.get(&self.table, &duplicate.existing_key, ReadMode::FOR_UPDATE).await?;
            if existing.as_ref() == Some(&row) && self.has_one_key() {
                // Nothing is changed, and nothing counts as deleted.
                progress.affected += 1;
                return Ok(());
            }
            if let Some(existing) = existing {
                delete_row(&self.table, self.foreign.as_ref(), &existing, Some(&row), context).await?;
                progress.affected += 1;
                progress.deleted += 1;
            }
            match context.transaction.insert(&self.table, row.clone()).await {
                Ok(()) => {
                    if let Some(foreign) = &self.foreign {
                        // What was deleted may have taken a parent along.
                        foreign.inserted(row, false, context).await?;
                    }
                    progress.affected += 1;
                    progress.generated(self, generated);
                    return Ok(());
                }
                Err(EngineError::DuplicateKey(next)) => duplicate = *next,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether the key that two rows share is that of the AUTO_INCREMENT numbers.
    fn is_number_of(&self, duplicate: &DuplicateKey) -> bool {
        let first = self.table.def.indexes.get(duplicate.index_number).and_then(|index| index.parts.first());
        first.is_some_and(|part| Some(part.column) == self.maker.auto_increment)
    }

    async fn update_existing(
        &self,
        on_duplicate: &OnDuplicate,
        (duplicate, generated): (&DuplicateKey, Option<u64>),
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let table = &self.table;
        let Some(old) = context.transaction.get(table, &duplicate.existing_key, ReadMode::FOR_UPDATE).await? else {
            return Err(SqlError::unknown("the row with the same key is gone though it is locked"));
        };
        let frame = &mut progress.frame;
        frame.resize(on_duplicate.width, Value::Null);
        table.codec.row.decode_to(&old, on_duplicate.old.iter().copied(), frame)?;
        for &(column, slot) in &on_duplicate.new {
            frame[slot] = progress.row.value(column).clone();
        }
        for (&slot, value) in on_duplicate.beside.iter().zip(&progress.beside) {
            frame[slot] = value.clone();
        }
        let (row, changes) = ((&old, &mut progress.frame[..]), &mut progress.changes);
        let assignments = &on_duplicate.assignments;
        let new = assignments.apply(&self.maker, row, changes, progress.rows, progress.terms, &context.eval)?;
        if self.maker.auto_increment.is_some_and(|column| assignments.assigns(column)) {
            self.use_number((new.as_ref().unwrap_or(&old), generated), progress, context)?;
        }
        self.name_updated(new.as_ref().unwrap_or(&old), progress)?;
        match new {
            None => {
                progress.affected += u64::from(context.client_found_rows);
                progress.duplicates += u64::from(context.client_found_rows);
            }
            Some(new) => match update_row(table, self.foreign.as_ref(), &old, new, context).await {
                Ok(()) => {
                    progress.affected += 2;
                    progress.duplicates += 1;
                    progress.inserted |= matches!(self.source, InsertSource::Values(_));
                }
                Err(error) if self.ignore && leaves_row(&error) => {
                    context.eval.warnings.push_error(WarningLevel::Warning, &error);
                }
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }
}

impl InsertPlan {
    /// A row that is there is to have this form, with a number that was assigned to it: if that is the one that was generated for the row in its place, it is
    /// used; another one of those that are reserved for the statement is an error (1869).
    fn use_number(
        &self,
        (row, generated): (&Bytes, Option<u64>),
        progress: &mut Progress,
        context: &ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let (Some(column), Some(generated)) = (self.maker.auto_increment, generated) else { return Ok(()) };
        let number = self.table.codec.row.decode_column(row, column)?.counted().unwrap_or(0);
        if number == generated {
            progress.numbers.pass(number, Series::new(context.auto_increment));
        } else if progress.numbers.has_reserved(number) {
            let message = "Auto-increment value in UPDATE conflicts with internally generated values";
            return Err(SqlError::new(codes::AUTO_INCREMENT_CONFLICT, message));
        }
        Ok(())
    }

    /// The client gets the number that the last row has, also if that was there already, if any row was inserted or changed; not by INSERT … SELECT.
    fn name_updated(&self, row: &Bytes, progress: &mut Progress) -> Result<(), SqlError> {
        let (Some(column), false, InsertSource::Values(_)) =
            (self.maker.auto_increment, self.hides_numbers(), &self.source)
        else {
            return Ok(());
        };
        progress.last_given = match self.table.codec.row.decode_column(row, column)? {
            Value::Int(number) => u64::try_from(number).unwrap_or(0),
            Value::UInt(number) => number,
            _ => return Ok(()),
        };
        Ok(())
    }
}

impl Progress {
    pub(super) fn new(plan: &InsertPlan, context: &ExecContext<'_>) -> Self {
        let rows = match &plan.source {
            InsertSource::Values(values) => values.len(),
            InsertSource::Query { .. } | InsertSource::File => 0,
        };
        Progress {
            rows: 0,
            affected: 0,
            duplicates: 0,
            deleted: 0,
            first_generated: None,
            inserted: false,
            last_given: 0,
            numbers: Numbers::of_rows(rows),
            terms: Terms { refuses_null: !plan.ignore && rows == 1, ..Terms::of(plan.ignore, context) },
            row: plan.maker.new_row(),
            beside: Vec::new(),
            frame: Vec::new(),
            changes: Changes::new(),
        }
    }

    pub(super) fn begin_row(&mut self) {
        self.row.begin(self.rows + 1);
    }

    /// A row with a generated number was inserted. Nobody asked for the numbers of a generated primary key.
    fn generated(&mut self, plan: &InsertPlan, number: Option<u64>) {
        self.inserted = true;
        if !plan.hides_numbers() {
            self.first_generated = self.first_generated.or(number);
        }
    }
}
