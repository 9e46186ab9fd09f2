//! Commit: from a private write set to a place in the log.
//!
//! 0. Pass the gate, which `FLUSH TABLES WITH READ LOCK` holds shut.
//! 1. `encode`: events and writeset, in parallel with every other session.
//! 2. Wait until the memtable and the log have room. Up to here anything may fail and nothing has happened.
//! 3. `install`: all versions, with an empty stamp, into the active memtable.
//! 4. Join the commit queue: the order is now decided.
//! 5. Let the locks go. Whoever takes one next reads our versions and commits after us, in the same log.
//! 6. Wait for the ticket: written, synced, visible.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::CommitNumber;
use binlog::event::{Xid, rows_flags};
use binlog::{EncodedTransaction, EncoderOptions, QueryContext, TransactionEncoder};
use futures_lite::future::yield_now;

use super::spill::Finished;
use super::write_set::key_hash;
use super::{Commit, Step, Transaction, WriteSet};
use crate::catalog::Table;
use crate::commit::{Barrier, CommitSettings, DependencyTracking, Ticket};
use crate::core::{Core, Payload};
use crate::error::{EngineError, Result};
use crate::gate::{Passage, Passing};
use crate::large::LargeWrites;
use crate::memtable::Guard;
use crate::memtable::stamp::{Stamp, VersionStamp};
use crate::options::{RowImage, TxnOptions};

/// More keys than this and the transaction is said to depend on everything before it: hashing and remembering them
/// would cost more than a replica gains.
pub(super) const WRITESET_KEYS_MAX: usize = 65_536;
/// Rows encoded or installed without a pause.
const ROWS_AT_ONCE: usize = 1024;

impl Transaction {
    /// Commits; ready when everybody can see it and it is as durable as `sync_binlog` asks. A future that is dropped before
    /// that may have committed or not. An error of class Io says that nobody knows before the restart; all others that nothing was
    /// committed.
    pub async fn commit(self) -> Result<Commit> {
        self.enqueue().await?.ended().await
    }

    /// The first half of [`Transaction::commit`]: ready when the transaction has its place in the order of commits. Whoever comes
    /// next can lock and read what it wrote, and commits after it.
    pub async fn enqueue(mut self) -> Result<Pending> {
        self.check_active()?;
        // Until it has its place it can fail, and then takes back what it did to temporary tables.
        let mut temporary = std::mem::take(&mut self.temporary);
        let pending = self.enqueue_writes().await?;
        temporary.keep();
        Ok(pending)
    }

    async fn enqueue_writes(mut self) -> Result<Pending> {
        // What has a name, or a place in another log, is executed also if it does nothing.
        if self.writes.is_empty() && !self.options.gtid.is_chosen() && self.options.source_position.is_none() {
            self.wait_for_what_was_read().await?;
            return Ok(Pending::nothing());
        }
        let core = self.core().clone();
        core.check_commits()?;
        let (cancel, most) = (&self.options.session.cancel, self.options.commit_wait_timeout);
        let passing = core.pass_gate(Passage::Transaction, cancel, most).await?;
        core.check_commits()?;
        if self.writes.is_large() {
            return self.enqueue_large(&core, passing).await;
        }
        let mut encoded = match self.encoded.take() {
            Some(encoded) => *encoded,
            None => self.encode().await?,
        };
        core.wait_for_room(&self.options.session.cancel).await?;
        let pipeline = core.commits.load_full().ok_or(EngineError::ServerReadOnly)?;
        let reservation = pipeline.reserve(encoded.max_size()).await?;
        // Dropped from here on, with this future, it takes the versions back before `self` lets the locks go.
        let mut payload = Payload::new(core.guard(), self.options.source_position.take());
        self.depend_on_others(pipeline.settings(), &mut encoded, &mut payload);
        install(&core, &self.writes, &payload).await;
        core.env.step().await;
        let ticket = match self.options.is_patient {
            true => pipeline.enqueue_patiently(encoded, reservation, payload),
            false => pipeline.enqueue(encoded, reservation, payload),
        };
        tell_rows(count_rows(self.writes.steps()));
        core.env.step().await;
        self.locks.release_all();
        self.view = None;
        drop(self);
        Ok(Pending::new(ticket, passing))
    }

    /// What it depends on besides those that have written its rows, and what depends on it.
    pub(super) fn depend_on_others(
        &self,
        settings: &CommitSettings,
        encoded: &mut EncodedTransaction,
        payload: &mut Payload,
    ) {
        let session = &self.options.session;
        encoded.after = match settings.dependency_tracking() {
            _ if self.options.is_serial => CommitNumber(u64::MAX),
            DependencyTracking::Writeset => CommitNumber(0),
            DependencyTracking::CommitOrder => self.core().views.visible_position().0,
            DependencyTracking::WritesetSession => {
                payload.session = Some(session.clone());
                CommitNumber(session.last_commit.load(Ordering::Relaxed))
            }
        };
    }

    /// Makes the events of a transaction that will write nothing more, before it is its turn to commit: what is left then is short.
    ///
    /// # Errors
    /// Those of [`Transaction::enqueue`] for what it has written.
    pub async fn encode_early(&mut self) -> Result<()> {
        self.check_active()?;
        if !self.writes.is_large() && !self.writes.is_empty() {
            self.encoded = Some(Box::new(self.encode().await?));
        }
        Ok(())
    }

    async fn encode(&mut self) -> Result<EncodedTransaction> {
        let core = self.core().clone();
        let mut encoded = encode(&core, &self.options, &self.writes, None).await?;
        match encoded.writeset.len() + self.referred.len() <= WRITESET_KEYS_MAX {
            true => encoded.writeset.append(&mut self.referred),
            false => encoded.depends_on_all = true,
        }
        Ok(encoded)
    }

    /// The same for what did not stay in memory: it becomes a file of the log, and its runs join the memtable as they are.
    async fn enqueue_large(mut self, core: &Arc<Core>, passing: Passing) -> Result<Pending> {
        let finished = self.writes.finish(core, &self.options).await?;
        let Finished { runs, events, rows } =
            finished.ok_or_else(|| EngineError::Bug("a large transaction without events".to_string()))?;
        let cancel = &self.options.session.cancel;
        core.wait_for_room(cancel).await?;
        core.wait_for_large(true, cancel).await?;
        core.log.wait_for_next().await?;
        let pipeline = core.commits.load_full().ok_or(EngineError::ServerReadOnly)?;
        let reservation = pipeline.reserve(0).await?;
        let (stamp, guard) = (Stamp::new(), core.guard());
        let large = LargeWrites { runs, stamp: VersionStamp::Shared(stamp.clone()) };
        // The locks go when it has its number: see `crate::large`.
        let locks = std::mem::replace(&mut self.locks, core.locks.owner());
        guard.memtable().attach(large);
        let position = self.options.source_position.take();
        let mut payload = Payload::new(guard, position);
        (payload.stamp, payload.locks) = (stamp, Some(locks));
        core.env.step().await;
        let encoded = EncodedTransaction {
            gtid: self.options.gtid,
            origin: self.options.origin,
            depends_on_all: true,
            large: Some(Arc::new(events)),
            ..EncodedTransaction::default()
        };
        let ticket = pipeline.enqueue(encoded, reservation, payload);
        tell_rows(rows);
        drop(self);
        // Until it is in the trees every read looks at its runs.
        Ok(Pending { wants_checkpoint: Some(core.clone()), ..Pending::new(ticket, passing) })
    }

    /// What a locking read has seen may not be published yet: a client must not be told of a commit that depends on
    /// something a crash could still undo.
    pub(super) async fn wait_for_what_was_read(&self) -> Result<()> {
        if self.read_pending {
            let pipeline = self.core().commits.load_full();
            let pipeline = pipeline.ok_or(EngineError::NotReady("Server shutdown in progress"))?;
            pipeline.barrier(Barrier::Published).await?;
        }
        self.core().wait_visible(self.read_upto).await
    }
}

/// A transaction on its way: it has its place in the order of commits.
pub struct Pending {
    /// `None` if it wrote nothing.
    ticket: Option<Ticket>,
    /// Whoever wants commits to stand still waits for it.
    _passing: Option<Passing>,
    /// Whose checkpoint is to come soon after it.
    wants_checkpoint: Option<Arc<Core>>,
}

impl Pending {
    pub(super) fn nothing() -> Self {
        Pending { ticket: None, _passing: None, wants_checkpoint: None }
    }

    pub(crate) fn new(ticket: Ticket, passing: Passing) -> Self {
        Pending { ticket: Some(ticket), _passing: Some(passing), wants_checkpoint: None }
    }

    /// There is nothing to wait for, and nothing in the log.
    pub fn is_nothing(&self) -> bool {
        self.ticket.is_none()
    }

    /// Ready when everybody can see it and it is as durable as `sync_binlog` asks. The log may wait for this to be polled.
    /// Errors are as those of [`Transaction::commit`].
    pub async fn ended(self) -> Result<Commit> {
        let Some(ticket) = self.ticket else { return Ok(Commit { place: None }) };
        let place = ticket.await?;
        if let Some(core) = self.wants_checkpoint {
            core.checkpoints.want();
        }
        Ok(Commit { place: Some(place) })
    }
}

/// How a transaction's rows are encoded.
pub(super) fn encoder_options(core: &Core, options: &TxnOptions) -> EncoderOptions {
    // What cascades do is in the log as rows. A MySQL 9.7 that did not read so would ask InnoDB, whose foreign keys keep the name of a
    // parent that an ALTER TABLE renamed while it copied the table.
    let mut flags = rows_flags::SQL_FOREIGN_KEYS;
    if options.unchecked {
        flags |= rows_flags::NO_FOREIGN_KEY_CHECKS;
    }
    if options.relaxed_unique_checks {
        flags |= rows_flags::NO_UNIQUE_CHECKS;
    }
    EncoderOptions {
        server_id: options.origin.map_or(core.options.server_id.0, |origin| origin.server_id),
        row_image: match options.row_image {
            RowImage::Full => binlog::RowImage::Full,
            RowImage::Minimal => binlog::RowImage::Minimal,
        },
        flags,
        row_event_max_size: core.options.row_event_max_bytes,
        ..EncoderOptions::default()
    }
}

/// Begins a transaction's events.
pub(super) fn encoder_of(core: &Core, options: &TxnOptions) -> TransactionEncoder {
    TransactionEncoder::begin(encoder_options(core, options), context_of(core, options))
}

/// The session as its events describe it.
pub(super) fn context_of(core: &Core, options: &TxnOptions) -> QueryContext {
    let mut context = options.context.clone();
    if context.timestamp == 0 {
        context.timestamp = (core.env.clock.now().0 / 1_000_000) as u32;
    }
    context
}

/// The events of a write set, and the hashes of the keys that it changes; with a name, of the first phase of a distributed transaction.
pub(super) async fn encode(
    core: &Core,
    options: &TxnOptions,
    writes: &WriteSet,
    xid: Option<&Xid>,
) -> Result<EncodedTransaction> {
    let largest = EncoderOptions::default().max_transaction_size;
    let mut encoder = match xid {
        Some(xid) => TransactionEncoder::begin_xa(encoder_options(core, options), context_of(core, options), xid),
        None => encoder_of(core, options),
    };
    let mut text = None;
    for (number, step) in writes.steps().iter().enumerate() {
        give_way(number).await;
        if encoder.size() as u64 > largest {
            break; // which `finish` refuses
        }
        step.encode(&mut encoder, &mut text)?;
    }
    if let Some(position) = &options.source_position {
        encoder.source_position(position);
    }
    let mut encoded = match xid {
        Some(xid) => encoder.finish_prepared(xid)?,
        None => encoder.finish()?,
    };
    encoded.gtid = options.gtid;
    encoded.origin = options.origin;
    match writeset(writes)? {
        Some(hashes) => encoded.writeset = hashes,
        None => encoded.depends_on_all = true,
    }
    Ok(encoded)
}

/// A hash per unique key that comes, goes or stays with its row changed; `None` if there are too many.
pub(super) fn writeset(writes: &WriteSet) -> Result<Option<Vec<u64>>> {
    let unique = writes.indexes().iter().filter(|writes| writes.table.indexes[writes.index_number].unique);
    if unique.clone().map(|writes| writes.keys.len()).sum::<usize>() > WRITESET_KEYS_MAX {
        return Ok(None);
    }
    let mut hashes = Vec::new();
    for index in unique {
        for key in index.keys.keys() {
            let part = match index.index_number {
                0 => Some(key.as_slice()),
                number => index.table.unique_part(number, key)?,
            };
            hashes.extend(part.map(|part| key_hash(index.index, part)));
        }
    }
    Ok(Some(hashes))
}

/// Puts all versions into the active memtable, invisible until the stamp is set.
pub(super) async fn install(core: &Core, writes: &WriteSet, payload: &Payload) {
    let Some(guard) = &payload.guard else { return };
    for index in writes.indexes() {
        for (number, (key, write)) in index.keys.iter().enumerate() {
            give_way(number).await;
            core.env.step().await;
            let stamp = VersionStamp::Shared(payload.stamp.clone());
            guard.memtable().install(index.index, key, write.clone(), stamp, || core.views.floor());
        }
    }
}

/// A large transaction lets other sessions have their turn between its rows.
pub(super) async fn give_way(number: usize) {
    if (number + 1).is_multiple_of(ROWS_AT_ONCE) {
        yield_now().await;
    }
}

/// Rows inserted less rows deleted, and changes of rows, by table (neighbours only: one that comes again later is there twice).
pub(super) fn count_rows(steps: &[Step]) -> Vec<(Arc<Table>, i64, u64)> {
    let mut counts: Vec<(Arc<Table>, i64, u64)> = Vec::new();
    for step in steps {
        let (table, delta) = match step {
            Step::Insert { table, .. } => (table, 1),
            Step::Delete { table, .. } => (table, -1),
            Step::Update { table, .. } => (table, 0),
            Step::Query(_) => continue,
        };
        match counts.last_mut() {
            Some((other, sum, changes)) if Arc::ptr_eq(other, table) => {
                *sum += delta;
                *changes += 1;
            }
            _ => counts.push((table.clone(), delta, 1)),
        }
    }
    counts
}

/// Keeps the tables' counts of rows.
pub(super) fn tell_rows(counts: Vec<(Arc<Table>, i64, u64)>) {
    for (table, sum, changes) in counts {
        table.count_rows(sum);
        table.shared.statistics.changed(changes);
    }
}

impl Core {
    /// The active memtable, kept from being merged until the guard goes.
    pub(crate) fn guard(&self) -> Guard {
        loop {
            let active = self.views.layers().active().clone();
            let guard = active.guard();
            // A checkpoint that has replaced it in between may have found no guards, and be reading it already.
            if Arc::ptr_eq(self.views.layers().active(), &active) {
                return guard;
            }
        }
    }
}
