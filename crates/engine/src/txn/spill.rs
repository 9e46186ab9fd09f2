//! Putting away what a transaction has written: its events into a file that becomes the log's, its writes into a sorted run.
//!
//! A window that has become too large is put away in *parts*. A part ends at each mark to which one may still go back (the
//! savepoints, the beginning of the statement and of the row), so going back drops parts, and the window.
//!
//! ```text
//!            savepoint            statement began
//!   | part 1 |      part 2        |     part 3      |  window →
//!   | run    |      run           |     run         |  maps, steps, undo
//!   | events |      events        |     events      |
//! ```
//! # Invariants
//! - Between two parts nothing is lost when one cannot be written: what is not put away is in the window.
//! - If putting away was given up in its middle (its future was dropped), the transaction can only be rolled back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::ErrorClass;
use binlog::{BinlogError, EncoderOptions, LargeEvents, TransactionEncoder};

use super::commit::{count_rows, encoder_of, encoder_options, give_way};
use super::write_set::Undo;
use super::{Savepoint, Step, Transaction, Write, WriteSet};
use crate::catalog::Table;
use crate::core::Core;
use crate::error::{EngineError, Result};
use crate::large::{Run, RunFile, RunWriter, Runs, cannot_write};
use crate::memtable::Key;
use crate::options::{RowImage, TxnOptions};

/// Events are encoded, and written, in pieces of about this size, bytes.
const EVENTS_AT_ONCE: usize = 1 << 20;

/// What was put away.
pub(crate) struct Spilled {
    pub(super) runs: Runs,
    file: Arc<RunFile>,
    /// Changes with the runs: cursors are of one state of them.
    pub(super) epoch: u64,
    /// One for each run.
    parts: Vec<Part>,
    events: LargeEvents,
    /// Behind BEGIN.
    events_begin: u64,
    encoder: TransactionEncoder,
}

struct Part {
    end: Savepoint,
    /// Where its events end.
    events_end: u64,
    /// Rows that it inserts less those that it deletes.
    rows: Vec<(Arc<Table>, i64, u64)>,
}

/// What a transaction has written, ready to be committed.
pub(super) struct Finished {
    pub(super) runs: Runs,
    pub(super) events: LargeEvents,
    pub(super) rows: Vec<(Arc<Table>, i64, u64)>,
}

/// The later half of a window.
struct Later {
    /// By slot.
    keys: Vec<BTreeMap<Key, Write>>,
    steps: Vec<Step>,
    undo: Vec<Undo>,
}

impl Transaction {
    /// Puts the window away.
    pub(super) async fn spill(&mut self) -> Result<()> {
        // What was locked by a read may since have been written and put away.
        self.fresh_locks.clear();
        let core = self.core().clone();
        self.writes.spill(&core, &self.options, Some(self.statement)).await
    }
}

impl WriteSet {
    /// Whether the transaction has written more than it may hold in memory, and cannot go back to before that.
    pub(super) fn is_large(&self) -> bool {
        self.base.undo_length > 0
    }

    /// Puts away all of the window but a statement's text of which no row has come yet.
    pub(super) async fn spill(
        &mut self,
        core: &Arc<Core>,
        options: &TxnOptions,
        statement: Option<Savepoint>,
    ) -> Result<()> {
        if self.spilled.is_none() {
            self.spilled = Some(Box::new(Spilled::begin(core, options).await?));
            core.large_transactions.fetch_add(1, Ordering::Relaxed);
        }
        let (base, now) = (self.base.undo_length, self.savepoint().undo_length);
        let mut cuts: Vec<Savepoint> = self.marks.iter().copied().chain(statement).chain(self.row).collect();
        cuts.retain(|cut| cut.undo_length > base && cut.undo_length < now);
        cuts.sort_unstable();
        cuts.dedup_by_key(|cut| cut.undo_length);
        for cut in cuts {
            let later = self.split_at(cut);
            let result = self.put_away(core, options, cut).await;
            self.join(later);
            result?;
        }
        let text = self.steps.pop_if(|step| matches!(step, Step::Query(_)));
        let end = self.savepoint();
        let result = match self.undo.is_empty() {
            true => Ok(()),
            false => self.put_away(core, options, end).await,
        };
        self.steps.extend(text);
        self.marks.retain(|mark| mark.undo_length >= self.base.undo_length);
        result
    }

    /// Takes what was written after a mark out of the window.
    fn split_at(&mut self, mark: Savepoint) -> Later {
        let undo = self.undo.split_off(mark.undo_length - self.base.undo_length);
        let steps = self.steps.split_off(mark.op_count - self.base.op_count);
        let mut keys = vec![BTreeMap::new(); self.indexes.len()];
        for Undo { slot, key, before } in undo.iter().rev() {
            let undone = self.undo_one(Undo { slot: *slot, key: key.clone(), before: before.clone() });
            // From the last write back to the first: the last one counts.
            if let Some(write) = undone {
                keys[*slot].entry(key.clone()).or_insert(write);
            }
        }
        Later { keys, steps, undo }
    }

    fn join(&mut self, later: Later) {
        for (writes, keys) in self.indexes.iter_mut().zip(later.keys) {
            writes.keys.extend(keys);
        }
        self.steps.extend(later.steps);
        self.undo.extend(later.undo);
    }

    /// Puts the window, which ends at `end`, away as one part, and begins a new one.
    async fn put_away(&mut self, core: &Arc<Core>, options: &TxnOptions, end: Savepoint) -> Result<()> {
        let Some(mut spilled) = self.spilled.take() else { return Ok(()) };
        // A future that is dropped here leaves a transaction without what was put away.
        self.is_broken = true;
        let result = spilled.write_part(core, options, self, end).await;
        self.is_broken = false;
        self.spilled = Some(spilled);
        result?;
        self.indexes.iter_mut().for_each(|writes| writes.keys.clear());
        self.steps.clear();
        self.undo.clear();
        self.base = end;
        Ok(())
    }

    /// Goes back to a mark before the window.
    pub(super) fn unspill_to(&mut self, mark: Savepoint) {
        self.indexes.iter_mut().for_each(|writes| writes.keys.clear());
        self.steps.clear();
        self.undo.clear();
        self.base = mark;
        self.bytes = mark.bytes;
        if let Some(spilled) = &mut self.spilled {
            spilled.drop_after(mark);
        }
    }

    /// Puts away the rest, and ends the transaction's events.
    pub(super) async fn finish(&mut self, core: &Arc<Core>, options: &TxnOptions) -> Result<Option<Finished>> {
        self.spill(core, options, None).await?;
        let Some(spilled) = self.spilled.take() else { return Ok(None) };
        let Spilled { runs, parts, mut events, mut encoder, .. } = *spilled;
        if let Some(position) = &options.source_position {
            encoder.source_position(position);
            events.append(encoder.take_events()).await.map_err(spill_error)?;
        }
        let xid = encoder.finish()?.events;
        events.finish(xid).await.map_err(spill_error)?;
        let rows = parts.into_iter().flat_map(|part| part.rows).collect();
        Ok(Some(Finished { runs, events, rows }))
    }
}

impl Spilled {
    async fn begin(core: &Arc<Core>, options: &TxnOptions) -> Result<Self> {
        let mut events = core.log.begin_large().await.map_err(spill_error)?;
        let mut encoder = encoder_of(core, options);
        events.append(encoder.take_events()).await.map_err(spill_error)?;
        let events_begin = events.end();
        let file = RunFile::create(&core.env).await?;
        Ok(Spilled { runs: Runs::default(), file, epoch: 0, parts: Vec::new(), events, events_begin, encoder })
    }

    fn events_end(&self) -> u64 {
        self.parts.last().map_or(self.events_begin, |part| part.events_end)
    }

    fn drop_after(&mut self, mark: Savepoint) {
        while self.parts.pop_if(|part| part.end.undo_length > mark.undo_length).is_some() {
            self.runs.0.pop();
            self.epoch += 1;
        }
        debug_assert_eq!(
            self.parts.last().map_or(0, |part| part.end.undo_length),
            mark.undo_length,
            "no part reaches over a mark"
        );
        self.events.rewind(self.events_end());
    }

    async fn write_part(
        &mut self,
        core: &Arc<Core>,
        options: &TxnOptions,
        window: &WriteSet,
        end: Savepoint,
    ) -> Result<()> {
        self.check_size(options)?;
        self.encoder.set_options(encoder_options(core, options));
        let written = async {
            self.write_events(&window.steps).await?;
            self.write_run(window).await
        };
        match written.await {
            Ok(run) => {
                self.runs.0.push(run);
                self.epoch += 1;
                let (events_end, rows) = (self.events.end(), count_rows(&window.steps));
                self.parts.push(Part { end, events_end, rows });
                Ok(())
            }
            Err(error) => {
                self.encoder.take_events();
                self.events.rewind(self.events_end());
                Err(error)
            }
        }
    }

    async fn write_events(&mut self, steps: &[Step]) -> Result<()> {
        let mut text = None;
        for (number, step) in steps.iter().enumerate() {
            give_way(number).await;
            step.encode(&mut self.encoder, &mut text)?;
            if self.encoder.size() >= EVENTS_AT_ONCE {
                self.events.append(self.encoder.take_events()).await.map_err(spill_error)?;
            }
        }
        let rest = self.encoder.take_events();
        if rest.is_empty() { Ok(()) } else { self.events.append(rest).await.map_err(spill_error) }
    }

    async fn write_run(&self, window: &WriteSet) -> Result<Arc<Run>> {
        let mut writer = RunWriter::new(&self.file, &self.runs);
        let mut indexes: Vec<_> = window.indexes.iter().filter(|writes| !writes.keys.is_empty()).collect();
        indexes.sort_unstable_by_key(|writes| writes.index);
        for writes in indexes {
            writer.begin_index(writes.index, writes.keys.len());
            for (number, (key, write)) in writes.keys.iter().enumerate() {
                give_way(number).await;
                writer.put(key, write).await?;
            }
        }
        writer.finish().await
    }

    /// Who applies minimal images needs all of them at once.
    fn check_size(&self, options: &TxnOptions) -> Result<()> {
        let (size, limit) = (self.events.size(), EncoderOptions::default().max_transaction_size);
        if options.row_image == RowImage::Full || size <= limit {
            return Ok(());
        }
        Err(BinlogError::TooLarge { what: "a transaction with minimal row images", size, limit }.into())
    }
}

/// A full disk, or a failing one, is the statement's error, as in MySQL (1026).
fn spill_error(error: BinlogError) -> EngineError {
    match error.class() {
        ErrorClass::Full | ErrorClass::Io => cannot_write("binlog cache", error),
        _ => error.into(),
    }
}
