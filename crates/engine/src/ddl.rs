//! DDL: a new catalog, the trees that it needs, and one statement in the log.
//!
//! 1. Lock the tables it changes, exclusively; then DDL runs alone ([`crate::turn::Turn`]), so the catalog stands still.
//! 2. Plan: the next catalog, or an error for the client.
//! 3. Build the trees of new indexes, in chunks, each waiting for room in the memtable. The rows go into indexes that no
//!    catalog has yet, under number 0, so that checkpoints take them along: nobody can read them before the catalog is there.
//!    Entries of secondary indexes, which come in no order, are sorted first: in memory, or in runs in a temporary file
//!    ([`crate::large`]) that are merged into the trees before anything goes on.
//! 4. The statement and the catalog's rows take the way of every commit.
//! 5. When the commit becomes visible, so does the catalog ([`DdlEffect`]), before the locks are let go.
//!
//! # Invariants
//! - A build reads its table under the exclusive lock (or with everything before it installed, when the log is applied), so
//!   it reads the newest versions of all rows, and none changes under it.
//! - What an unfinished build leaves behind is never read: ids that have remains are cleaned by a checkpoint before they
//!   are used again.
//! - Once the statement is in the queue, nothing depends on the session any more: locks and catalog go with the payload.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{Cancel, CommitNumber, IndexId, TableId};
use binlog::{EncodedTransaction, EncoderOptions, TransactionEncoder};
use bytes::Bytes;
use io::ThreadTurn;
use store::Direction;
use types::IndexDef;

use crate::bulk::{EntrySorter, Sorted};
use crate::catalog::{
    Altered, Build, Catalog, CatalogChange, DdlText, Planned, RowMap, SYSTEM_INDEX, Table, locked_tables, plan,
    row_changes,
};
use crate::core::{Core, Payload};
use crate::engine::Engine;
use crate::error::{DuplicateKey, EngineError, Result};
use crate::gate::Passage;
use crate::large::{LargeWrites, RunFile, Runs};
use crate::lock::{LockOwner, TableMode, Target, Turn, Wait, WaitPolicy};
use crate::memtable::Key;
use crate::memtable::chain::BUILT;
use crate::memtable::stamp::{Stamp, VersionStamp};
use crate::options::{SessionHandle, TxnOptions};
use crate::read::{Merged, NewestOr, Selector};
use crate::turn::OwnedTurn;
use crate::txn::{Commit, Pending};

/// Rows built between two looks at the room in the memtable.
const BUILD_CHUNK_ROWS: usize = 512;
/// Of versions in an index that no catalog has.
const UNSEEN: VersionStamp = VersionStamp::Known(BUILT);
/// How long the log waits for readers of a table that it changes, before it looks again.
const APPLY_LOCK_WAIT: std::time::Duration = std::time::Duration::from_secs(3600);

/// What a DDL statement does when it becomes visible.
pub(crate) struct DdlEffect {
    catalog: Arc<Catalog>,
    altered: Option<Altered>,
    renewed: Vec<Arc<Table>>,
    dropped: Vec<IndexId>,
    /// Whose statistics are to be collected, where the log is applied.
    analyzed: Vec<Arc<Table>>,
    /// What was built for it; rubbish if it never becomes visible.
    built: Option<Remains>,
    /// Let go when the catalog is there, in this order.
    _locks: LockOwner,
    _under: Option<Arc<LockOwner>>,
    _turn: OwnedTurn,
}

impl DdlEffect {
    /// The catalog can be seen.
    pub(crate) fn apply(mut self, core: &Core, number: CommitNumber) {
        if let Some(built) = &mut self.built {
            built.indexes.clear();
        }
        for table in &self.renewed {
            table.since.store(number.0, Ordering::Relaxed);
        }
        if let Some(Altered { old, new, counter }) = &self.altered {
            new.shared.go_on_as(&old.def, &new.def);
            // All its rows may be in another tree now, or on the way there.
            let layers = core.views.layers();
            let entries = |table: &Table| layers.roots.entries(table.indexes[0].id).cast_signed();
            new.count_rows(entries(old) - entries(new));
            counter.iter().for_each(|&next| new.shared.auto_increment.set(next));
        }
        self.analyzed.iter().for_each(|table| table.want_statistics());
        core.catalog.store(self.catalog);
        core.checkpoints.drop_indexes(self.dropped);
    }
}

/// Whose a definition's locks are.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    /// What the session holds beside transactions (LOCK TABLES).
    under: Option<&'a Arc<LockOwner>>,
    /// Its place in an order of commits.
    turn: Option<Turn>,
}

impl<'a> From<&'a TxnOptions> for Place<'a> {
    fn from(options: &'a TxnOptions) -> Self {
        Place { under: options.under.as_ref(), turn: options.turn }
    }
}

/// A statement that is ready to be logged: trees are built, locks are held.
struct Prepared {
    rows: Vec<(Key, Option<Bytes>)>,
    schemas: Vec<String>,
    effect: DdlEffect,
}

impl Engine {
    /// Executes DDL: waits for the metadata locks, makes and fills new trees, logs the text, and lets the new catalog be
    /// seen. `change` was planned with a catalog whose tables may have changed since: then [`EngineError::TableChanged`], and the caller
    /// plans again.
    pub async fn execute_ddl(
        self: &Arc<Self>,
        change: CatalogChange,
        text: DdlText,
        options: &TxnOptions,
    ) -> Result<Commit> {
        self.enqueue_ddl(change, text, options).await?.ended().await
    }

    /// The same up to its place in the order of commits.
    pub async fn enqueue_ddl(
        self: &Arc<Self>,
        change: CatalogChange,
        mut text: DdlText,
        options: &TxnOptions,
    ) -> Result<Pending> {
        let core = self.core();
        core.check_commits()?;
        let session = &options.session;
        let passing = core.pass_gate(Passage::Definition, &session.cancel, options.lock_wait_timeout).await?;
        core.check_commits()?;
        let wait = Wait { policy: WaitPolicy::For(options.lock_wait_timeout), cancel: &session.cancel };
        if text.context.timestamp == 0 {
            text.context.timestamp = (core.env.clock.now().0 / 1_000_000) as u32;
        }
        let timestamp = text.context.timestamp;
        let mut prepared = core.prepare_ddl(|_| Ok(change.clone()), timestamp, options.into(), wait).await?;
        // They are collected already.
        prepared.effect.analyzed.clear();
        let encoded = core.encode_ddl(text, &prepared.schemas, options)?;
        core.wait_for_room(&session.cancel).await?;
        let pipeline = core.commits.load_full().ok_or(EngineError::ServerReadOnly)?;
        let reservation = pipeline.reserve(encoded.max_size()).await?;
        let stamp = Stamp::new();
        let guard = core.guard();
        for (key, value) in &prepared.rows {
            let stamp = VersionStamp::Shared(stamp.clone());
            guard.memtable().install(SYSTEM_INDEX, key, value.clone(), stamp, || core.views.floor());
        }
        let position = options.source_position.clone();
        let mut payload = Payload::new(guard, position);
        (payload.stamp, payload.ddl) = (stamp, Some(Box::new(prepared.effect)));
        Ok(Pending::new(pipeline.enqueue(encoded, reservation, payload), passing))
    }

    /// Installs a DDL statement of the log. Everything before it must be published, and nothing after it installed (a build may
    /// have to wait for a checkpoint, and that for every number that is installed). The new catalog can be seen when its
    /// number is published.
    #[io::boxed]
    pub async fn install_ddl(&self, commit_number: CommitNumber, text: &DdlText) -> Result<()> {
        let core = self.core();
        let session = SessionHandle::internal();
        let wait = Wait { policy: WaitPolicy::For(APPLY_LOCK_WAIT), cancel: &session.cancel };
        let prepared = core
            .prepare_ddl(
                |catalog| Ok(core.planner.plan(text, catalog)?),
                text.context.timestamp,
                Place::default(),
                wait,
            )
            .await?;
        {
            let _installs = core.checkpoints.installs.read();
            let memtable = core.memtable_for(commit_number);
            for (key, value) in prepared.rows {
                let stamp = VersionStamp::Known(commit_number);
                memtable.install(SYSTEM_INDEX, &key, value, stamp, || core.views.floor());
            }
        }
        core.effects.lock().push_back((commit_number, prepared.effect));
        Ok(())
    }
}

impl Core {
    /// Steps 1 to 3. `change` may be asked for several times.
    async fn prepare_ddl(
        self: &Arc<Self>,
        change: impl Fn(&Catalog) -> Result<CatalogChange>,
        timestamp: u32,
        place: Place<'_>,
        wait: Wait<'_>,
    ) -> Result<Prepared> {
        loop {
            let mut locks = place.under.map_or_else(|| self.locks.owner(), |tables| tables.child());
            locks.set_turn(place.turn);
            let tables = locked_tables(&self.catalog.load(), &change(&self.catalog.load())?);
            lock_tables(&mut locks, &tables, wait).await?;
            let turn = self.ddl.take_owned().await;
            let catalog = self.catalog.load_full();
            let change = change(&catalog)?;
            if locked_tables(&catalog, &change) != tables {
                // The names mean other tables by now.
                continue;
            }
            let Planned { catalog: next, build, key_check, mut altered, renewed, dropped, analyzed, schemas, .. } =
                plan(&catalog, change, timestamp)?;
            if let Some(check) = &key_check {
                self.check_foreign_keys(check, wait.cancel).await?;
            }
            let rows = row_changes(&catalog, &next)?;
            self.clean_ids(&renewed).await?;
            let built = match build {
                Some(build) => Some(self.build(&build, wait.cancel).await?),
                None => None,
            };
            if let Some(Altered { new, counter: Some(counter), .. }) = &mut altered {
                *counter = (*counter).max(self.largest_number(new, wait.cancel).await?.saturating_add(1));
            }
            let effect = DdlEffect {
                catalog: Arc::new(next),
                altered,
                renewed,
                dropped,
                analyzed,
                built,
                _locks: locks,
                _under: place.under.cloned(),
                _turn: turn,
            };
            self.checkpoints.defined(catalog.table_count());
            return Ok(Prepared { rows, schemas, effect });
        }
    }

    /// Ids that an unfinished build has used are cleaned by a checkpoint before they are used again.
    async fn clean_ids(self: &Arc<Self>, tables: &[Arc<Table>]) -> Result<()> {
        let catalog = self.catalog.load_full();
        let is_new = |index: &IndexId| *index >= catalog.next_index();
        let ids = tables.iter().flat_map(|table| table.indexes.iter().map(|index| index.id));
        let ids: Vec<IndexId> = ids.filter(is_new).collect();
        while self.checkpoints.has_remains(&ids) {
            self.checkpoint().await?;
        }
        Ok(())
    }

    async fn build(self: &Arc<Self>, build: &Build, cancel: &Cancel) -> Result<Remains> {
        let indexes: Vec<IndexId> = build.indexes.iter().map(|&number| build.to.indexes[number].id).collect();
        let compressed = indexes.iter().map(|&index| (index, build.to.compression)).collect();
        *self.checkpoints.building.lock() = compressed;
        let remains = Remains { core: self.clone(), indexes };
        self.build_rows(build, cancel).await?;
        for &number in build.indexes.iter().filter(|&&number| number > 0 && build.to.indexes[number].unique) {
            self.check_unique(&build.to, number, cancel).await?;
        }
        Ok(remains)
    }

    /// Puts the entries of all rows into the new indexes.
    async fn build_rows(self: &Arc<Self>, build: &Build, cancel: &Cancel) -> Result<()> {
        let source = build.from.indexes[build.read_by].id;
        let turn = ThreadTurn::default();
        let mut position = Bound::Unbounded;
        let map = build.mapper.as_ref().map(|mapper| mapper());
        let mut building = Building { map, ..Building::default() };
        loop {
            self.wait_for_room(cancel).await?;
            cancel.check()?;
            let layers = self.views.layers().clone();
            let mut rows =
                Merged::new(layers, source, position.clone(), Bound::Unbounded, Direction::Forward, Selector::Newest);
            let mut left = BUILD_CHUNK_ROWS;
            while left > 0 {
                let Some(found) = rows.next().await? else { return self.finish_build(building, cancel).await };
                position = Bound::Excluded(Bytes::copy_from_slice(&found.key));
                if let Some(entry) = found.value {
                    let row = self.row_of(&build.from, build.read_by, &found.key, entry).await?;
                    self.build_row(build, &row, &mut building).await?;
                    turn.pass(&*self.env.clock).await;
                    left -= 1;
                }
            }
        }
    }

    async fn build_row(self: &Arc<Self>, build: &Build, old: &Bytes, building: &mut Building) -> Result<()> {
        let row = match &mut building.map {
            Some(map) => map(old)?,
            None => old.clone(),
        };
        let table = &build.to;
        // ALTER may have added the counted column, or made another one of it.
        table.saw_auto_increment(&row)?;
        for &number in &build.indexes {
            if number > 0 {
                building.entries.add(table, number, &row)?;
                continue;
            }
            let key = table.codec.clustered_key(&row)?;
            if self.get_newest(table.indexes[0].id, &key).await?.is_some() {
                return Err(duplicate(table, 0, &row, key));
            }
            EngineError::check_key(&key)?;
            self.guard()
                .memtable()
                .install(table.indexes[0].id, &key, Some(row.clone()), UNSEEN, || self.views.floor());
        }
        if building.entries.bytes() < self.build_memory() {
            return Ok(());
        }
        let file = match &building.file {
            Some(file) => file,
            None => building.file.insert(RunFile::create(&self.env).await?),
        };
        building.entries.put_away(file, &mut building.runs).await
    }

    /// Few entries go to the memtable, in their order; many are merged into the trees from their runs before anybody reads them.
    async fn finish_build(self: &Arc<Self>, mut building: Building, cancel: &Cancel) -> Result<()> {
        let Some(file) = building.file.take() else {
            return self.install_entries(building.entries.take(), cancel).await;
        };
        if building.entries.bytes() > 0 {
            building.entries.put_away(&file, &mut building.runs).await?;
        }
        self.wait_for_large(true, cancel).await?;
        self.guard().memtable().attach(LargeWrites { runs: building.runs, stamp: UNSEEN });
        self.wait_for_built(cancel).await
    }

    async fn install_entries(&self, sorted: Vec<(IndexId, Sorted)>, cancel: &Cancel) -> Result<()> {
        let turn = ThreadTurn::default();
        for (index, entries) in sorted {
            for (number, (key, value)) in entries.entries().enumerate() {
                if number % BUILD_CHUNK_ROWS == 0 {
                    self.wait_for_room(cancel).await?;
                    turn.pass(&*self.env.clock).await;
                }
                // The value of its own: the rest of the entries goes before it.
                let value = Bytes::copy_from_slice(&value);
                self.guard().memtable().install(index, &key, Some(value), UNSEEN, || self.views.floor());
            }
        }
        Ok(())
    }

    /// What entries may take in memory before they are sorted: little, because that holds the thread up.
    fn build_memory(&self) -> usize {
        (self.options.memtable_bytes / 16).clamp(64 << 10, 16 << 20)
    }

    async fn get_newest(&self, index: IndexId, key: &[u8]) -> Result<Option<Bytes>> {
        match self.newest(index, key).await? {
            NewestOr::InMemory(newest) => Ok(newest.value),
            NewestOr::Below(roots) => Ok(roots.get(index, key).await?),
        }
    }

    /// The newest version of the row to which an entry of an index belongs.
    pub(crate) async fn row_of(&self, table: &Table, number: usize, key: &[u8], entry: Bytes) -> Result<Bytes> {
        if number == 0 {
            return Ok(entry);
        }
        let row = self.get_newest(table.indexes[0].id, table.codec.clustered_key_of(number, key)?).await?;
        row.ok_or_else(|| EngineError::Bug(format!("an entry of index {number} of {} has no row", table.def.name)))
    }

    /// The largest number that a row has in the table's AUTO_INCREMENT column; 0 without any. An index begins with that column.
    async fn largest_number(&self, table: &Arc<Table>, cancel: &Cancel) -> Result<u64> {
        let Some(column) = table.def.auto_increment_column() else { return Ok(0) };
        let leads = |index: &IndexDef| index.parts.first().is_some_and(|part| part.column == column);
        let Some(number) = table.def.indexes.iter().position(leads) else { return Ok(0) };
        let is_descending = table.def.indexes[number].parts[0].descending;
        let direction = if is_descending { Direction::Forward } else { Direction::Backward };
        let (layers, index) = (self.views.layers().clone(), table.indexes[number].id);
        let mut entries = Merged::new(layers, index, Bound::Unbounded, Bound::Unbounded, direction, Selector::Newest);
        let turn = ThreadTurn::default();
        while let Some(found) = entries.next().await? {
            cancel.check()?;
            turn.pass(&*self.env.clock).await;
            if let Some(entry) = found.value {
                let row = self.row_of(table, number, &found.key, entry).await?;
                return Ok(table.counted(&row, column)?);
            }
        }
        Ok(0)
    }

    /// Whether a new unique index holds every key once.
    async fn check_unique(&self, table: &Arc<Table>, number: usize, cancel: &Cancel) -> Result<()> {
        let layers = self.views.layers().clone();
        let index = table.indexes[number].id;
        let mut entries =
            Merged::new(layers, index, Bound::Unbounded, Bound::Unbounded, Direction::Forward, Selector::Newest);
        let mut before: Option<Vec<u8>> = None;
        let turn = ThreadTurn::default();
        while let Some(found) = entries.next().await? {
            cancel.check()?;
            turn.pass(&*self.env.clock).await;
            let Some(unique) = table.unique_part(number, &found.key)? else { continue };
            if before.as_deref() == Some(unique) {
                let key = Bytes::copy_from_slice(table.codec.clustered_key_of(number, &found.key)?);
                let row = self.get_newest(table.indexes[0].id, &key).await?.unwrap_or_default();
                return Err(duplicate(table, number, &row, key));
            }
            before = Some(unique.to_vec());
        }
        Ok(())
    }

    fn encode_ddl(&self, text: DdlText, schemas: &[String], options: &TxnOptions) -> Result<EncodedTransaction> {
        let server_id = options.origin.map_or(self.options.server_id.0, |origin| origin.server_id);
        let encoder_options = EncoderOptions { server_id, ..EncoderOptions::default() };
        let schemas: Vec<&str> = schemas.iter().map(String::as_str).collect();
        let mut encoded = TransactionEncoder::ddl(
            &encoder_options,
            &text.context,
            &text.sql,
            &schemas,
            options.source_position.as_ref(),
        )?;
        encoded.gtid = options.gtid;
        encoded.origin = options.origin;
        Ok(encoded)
    }
}

/// Rows and entries of secondary indexes, on their way.
#[derive(Default)]
struct Building {
    map: Option<RowMap>,
    entries: EntrySorter,
    file: Option<Arc<RunFile>>,
    runs: Runs,
}

/// Indexes that were built and that no catalog has; dropped like this they are rubbish.
struct Remains {
    core: Arc<Core>,
    indexes: Vec<IndexId>,
}

impl Drop for Remains {
    fn drop(&mut self) {
        // Its turn is not over, so nothing else is being built; the catalog knows of them if it ever will.
        self.core.checkpoints.building.lock().clear();
        self.core.checkpoints.drop_indexes(self.indexes.iter().copied());
    }
}

async fn lock_tables(locks: &mut LockOwner, tables: &[TableId], wait: Wait<'_>) -> Result<()> {
    for table in tables {
        locks.table(Target::Table(*table), TableMode::Exclusive, wait).await?;
    }
    Ok(())
}

fn duplicate(table: &Arc<Table>, index_number: usize, row: &Bytes, existing_key: Bytes) -> EngineError {
    let row = row.clone();
    EngineError::DuplicateKey(Box::new(DuplicateKey { table: table.clone(), index_number, row, existing_key }))
}
