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

use binlog::event::rows_flags;
use binlog::{EncodedTransaction, EncoderOptions, TransactionEncoder};
use futures_lite::future::yield_now;

use super::write_set::key_hash;
use super::{Commit, Step, Transaction, WriteSet};
use crate::catalog::Table;
use crate::commit::Barrier;
use crate::core::{Core, Payload};
use crate::error::{EngineError, Result};
use crate::gate::Passage;
use crate::memtable::Guard;
use crate::memtable::stamp::{Stamp, VersionStamp};
use crate::options::{RowImage, TxnOptions};

/// More keys than this and the transaction is said to depend on everything before it: hashing and remembering them
/// would cost more than a replica gains.
const WRITESET_KEYS_MAX: usize = 65_536;
/// Rows encoded or installed without a pause.
const ROWS_AT_ONCE: usize = 1024;

impl Transaction {
    /// Commits; ready when everybody can see it and it is as durable as `sync_binlog` asks. A future that is dropped before
    /// that may have committed or not. An error of class Io says that nobody knows before the restart; all others that nothing was
    /// committed.
    pub async fn commit(mut self) -> Result<Commit> {
        self.check_active()?;
        if self.writes.is_empty() {
            self.wait_for_what_was_read().await?;
            return Ok(Commit { place: None });
        }
        let core = self.core().clone();
        core.check_commits()?;
        let (cancel, most) = (&self.options.session.cancel, self.options.commit_wait_timeout);
        let _passing = core.pass_gate(Passage::Transaction, cancel, most).await?;
        core.check_commits()?;
        let flags = if self.unchecked { rows_flags::NO_FOREIGN_KEY_CHECKS } else { 0 };
        let mut encoded = encode(&core, &self.options, flags, &self.writes).await?;
        match encoded.writeset.len() + self.referred.len() <= WRITESET_KEYS_MAX {
            true => encoded.writeset.append(&mut self.referred),
            false => encoded.depends_on_all = true,
        }
        core.wait_for_room(&self.options.session.cancel).await?;
        let pipeline = core.commits.load_full().ok_or(EngineError::ServerReadOnly)?;
        let reservation = pipeline.reserve(encoded.max_size()).await?;
        // Dropped from here on, with this future, it takes the versions back before `self` lets the locks go.
        let payload = Payload { stamp: Stamp::new(), guard: Some(core.guard()), ddl: None };
        install(&core, &self.writes, &payload).await;
        core.env.step().await;
        let ticket = pipeline.enqueue(encoded, reservation, payload);
        count_rows(&self.writes);
        core.env.step().await;
        self.locks.release_all();
        self.view = None;
        drop(self);
        let place = ticket.await?;
        Ok(Commit { place: Some(place) })
    }

    /// What a locking read has seen may not be published yet: a client must not be told of a commit that depends on
    /// something a crash could still undo.
    async fn wait_for_what_was_read(&self) -> Result<()> {
        if self.read_pending {
            let pipeline = self.core().commits.load_full();
            let pipeline = pipeline.ok_or(EngineError::NotReady("Server shutdown in progress"))?;
            pipeline.barrier(Barrier::Published).await?;
        }
        self.core().wait_visible(self.read_upto).await
    }
}

/// The events of a write set, and the hashes of the keys that it changes.
async fn encode(core: &Core, options: &TxnOptions, mut flags: u16, writes: &WriteSet) -> Result<EncodedTransaction> {
    if options.relaxed_unique_checks {
        flags |= rows_flags::NO_UNIQUE_CHECKS;
    }
    let encoder_options = EncoderOptions {
        server_id: core.options.server_id.0,
        row_image: match options.row_image {
            RowImage::Full => binlog::RowImage::Full,
            RowImage::Minimal => binlog::RowImage::Minimal,
        },
        flags,
        row_event_max_size: core.options.row_event_max_bytes,
        ..EncoderOptions::default()
    };
    let largest = encoder_options.max_transaction_size;
    let mut context = options.context.clone();
    if context.timestamp == 0 {
        context.timestamp = (core.env.clock.now().0 / 1_000_000) as u32;
    }
    let mut encoder = TransactionEncoder::begin(encoder_options, context);
    let mut query = None;
    for (number, step) in writes.steps().iter().enumerate() {
        give_way(number).await;
        if encoder.size() as u64 > largest {
            break; // which `finish` refuses
        }
        if let Step::Query(text) = step {
            query = Some(text);
            continue;
        }
        // A statement that changed nothing is not in the log.
        if let Some(text) = query.take() {
            encoder.rows_query(text);
        }
        match step {
            Step::Query(_) => {}
            Step::Insert { table, row } => encoder.insert(&table.encoder, row)?,
            Step::Update { table, old, new } => encoder.update(&table.encoder, old, new)?,
            Step::Delete { table, row } => encoder.delete(&table.encoder, row)?,
        }
    }
    let mut encoded = encoder.finish()?;
    encoded.gtid = options.gtid;
    match writeset(writes)? {
        Some(hashes) => encoded.writeset = hashes,
        None => encoded.depends_on_all = true,
    }
    Ok(encoded)
}

/// A hash per unique key that comes, goes or stays with its row changed; `None` if there are too many.
fn writeset(writes: &WriteSet) -> Result<Option<Vec<u64>>> {
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
async fn install(core: &Core, writes: &WriteSet, payload: &Payload) {
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
async fn give_way(number: usize) {
    if (number + 1).is_multiple_of(ROWS_AT_ONCE) {
        yield_now().await;
    }
}

/// Keeps the tables' counts of rows.
fn count_rows(writes: &WriteSet) {
    let mut single: Option<(&Arc<Table>, i64)> = None;
    for step in writes.steps() {
        let (table, delta) = match step {
            Step::Insert { table, .. } => (table, 1),
            Step::Delete { table, .. } => (table, -1),
            Step::Query(_) | Step::Update { .. } => continue,
        };
        match &mut single {
            Some((other, sum)) if Arc::ptr_eq(other, table) => *sum += delta,
            _ => {
                if let Some((other, sum)) = single.replace((table, delta)) {
                    other.count_rows(sum);
                }
            }
        }
    }
    if let Some((table, sum)) = single {
        table.count_rows(sum);
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
