//! Installing: the rows of a log whose order is known already.
//!
//! Versions carry their commit number, so transactions may be installed in any order, by any number of tasks, without
//! locks and without reading anything: a full row image of before and after says which entries of which indexes go and
//! come. [`Engine::publish`] then lets them be seen, in log order.
//!
//! # Invariants
//! - Everything at or below a published number is installed.
//! - A transaction that a frozen memtable still waits for never waits for room: the checkpoint that makes the room waits
//!   for it. Nor does the next in line to be published. (Later ones do wait, which is the back-pressure.)

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::{Cancel, CommitNumber, Gtid, IndexId, LogPosition, TableId};
use bytes::Bytes;
use futures_lite::future;

use crate::catalog::{ColumnSet, Table};
use crate::core::Core;
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::large::{LargeWrites, RunFile, RunWriter, Runs};
use crate::memtable::stamp::VersionStamp;
use crate::memtable::{Key, Memtable};
use crate::source_position::named_position;

/// One change of one row, as the log tells it. Images are full row images.
#[derive(Clone, Debug)]
pub struct RowChange {
    /// The table.
    pub table: Arc<Table>,
    /// The row before; `None` for an insert.
    pub before: Option<Bytes>,
    /// The row after; `None` for a delete.
    pub after: Option<Bytes>,
}

/// A transaction of the log that is installed.
#[derive(Clone, Copy, Debug)]
pub struct PublishPoint {
    /// Its number.
    pub commit_number: CommitNumber,
    /// Where its last event ends.
    pub end: LogPosition,
    /// Its GTID, if it has one.
    pub gtid: Option<Gtid>,
}

/// What a key takes in memory beside its bytes, about.
const KEY_OVERHEAD_BYTES: usize = 128;

/// An entry of an index: put, or removed.
type EntryWrite = (IndexId, Bytes, Option<Bytes>);

impl Engine {
    /// Installs a transaction of the log. Any number of tasks may install different transactions at once and in any order; nobody sees
    /// them before they are published. Reads nothing; waits for nothing but room in the memtable.
    pub async fn install(&self, commit_number: CommitNumber, changes: &[RowChange]) -> Result<()> {
        let core = self.core();
        let mut writes = Vec::with_capacity(changes.len() * 2);
        for change in changes {
            entries_of(change, &mut writes)?;
        }
        core.wait_to_install(commit_number).await?;
        {
            let _installs = core.checkpoints.installs.read();
            let memtable = core.memtable_for(commit_number);
            for (index, key, value) in writes {
                memtable.install(index, &key, value, VersionStamp::Known(commit_number), || core.views.floor());
            }
        }
        for change in changes {
            note(change)?;
        }
        Ok(())
    }

    /// The applier has stopped in front of a transaction that it cannot install, or has been stopped: what it has installed behind what is
    /// published is forgotten, so that no checkpoint waits for that to be published. It may be installed again.
    pub fn forget_unpublished(&self) {
        let core = self.core();
        {
            let _no_installs = core.checkpoints.installs.write();
            let visible = core.views.visible();
            core.views.layers().memtables.iter().for_each(|memtable| memtable.forget_later(visible));
        }
        core.views.wake();
    }

    /// These transactions, and everything before them, are installed: lets them be seen. In log order, each once.
    pub fn publish(&self, points: &[PublishPoint]) {
        self.core().publish_in_steps(points);
    }
}

/// A transaction of the log that is too large to be installed from memory: what it writes goes to sorted runs.
pub struct LargeInstall {
    core: Arc<Core>,
    number: CommitNumber,
    keys: BTreeMap<IndexId, BTreeMap<Key, Option<Bytes>>>,
    bytes: usize,
    file: Option<Arc<RunFile>>,
    runs: Runs,
    rows: HashMap<TableId, (Arc<Table>, i64)>,
}

impl Engine {
    /// Begins to install a large transaction of the log. Everything before it is published, and nothing behind it is installed.
    pub fn install_large(&self, number: CommitNumber) -> LargeInstall {
        LargeInstall {
            core: self.core().clone(),
            number,
            keys: BTreeMap::new(),
            bytes: 0,
            file: None,
            runs: Runs::default(),
            rows: HashMap::new(),
        }
    }
}

impl LargeInstall {
    /// Adds changes, in the log's order. Dropped before [`LargeInstall::finish`] nothing is installed.
    pub async fn add(&mut self, changes: &[RowChange]) -> Result<()> {
        let mut writes = Vec::with_capacity(changes.len() * 2);
        for change in changes {
            entries_of(change, &mut writes)?;
            if let Some(after) = &change.after {
                change.table.saw_auto_increment(after)?;
            }
            let (_, count) = self.rows.entry(change.table.id()).or_insert((change.table.clone(), 0));
            *count += i64::from(change.after.is_some()) - i64::from(change.before.is_some());
        }
        for (index, key, value) in writes {
            self.bytes += KEY_OVERHEAD_BYTES + key.len() + value.as_ref().map_or(0, Bytes::len);
            self.keys.entry(index).or_default().insert(Key::new(&key), value);
        }
        if self.bytes > self.core.options.install_memory_bytes { self.put_away().await } else { Ok(()) }
    }

    async fn put_away(&mut self) -> Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(RunFile::create(&self.core.env).await?),
        };
        let mut writer = RunWriter::new(file, &self.runs);
        for (index, keys) in &self.keys {
            writer.begin_index(*index, keys.len());
            for (key, write) in keys {
                writer.put(key, write).await?;
            }
        }
        self.runs.0.push(writer.finish().await?);
        self.keys.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Installs it; [`Engine::publish`] lets it be seen. Waits until the checkpoints have taken what came before of its kind.
    pub async fn finish(mut self) -> Result<()> {
        if !self.keys.is_empty() {
            self.put_away().await?;
        }
        let core = &self.core;
        core.wait_for_large(false, &Cancel::new()).await?;
        {
            let _installs = core.checkpoints.installs.read();
            let large = LargeWrites { runs: std::mem::take(&mut self.runs), stamp: VersionStamp::Known(self.number) };
            core.memtable_for(self.number).attach(large);
        }
        for (table, count) in self.rows.values() {
            table.count_rows(*count);
            table.shared.statistics.changed(count.unsigned_abs());
        }
        // Until it is in the trees every read looks at its runs.
        core.checkpoints.want();
        Ok(())
    }
}

impl Core {
    /// Waits until the memtable has room. Two do not wait: what a frozen memtable still waits for, and the next in line to
    /// be published. If the memtable is full of what comes after that one, nothing else could ever make room.
    async fn wait_to_install(&self, number: CommitNumber) -> Result<()> {
        let cancel = Cancel::new();
        let goes_at_once = || number <= self.views.layers().active().after() || number <= self.views.visible().next();
        while !goes_at_once() {
            let room = async { self.wait_for_room_of(number, &cancel).await.map(|()| true) };
            let turn = async {
                self.views.next_publication(goes_at_once).await;
                Ok(false)
            };
            if future::or(room, turn).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The memtable to which a known number belongs. Only under `checkpoints.installs`.
    pub(crate) fn memtable_for(&self, number: CommitNumber) -> Arc<Memtable> {
        let layers = self.views.layers();
        let memtable = layers.memtables.iter().find(|memtable| number > memtable.after());
        memtable.unwrap_or(layers.active()).clone()
    }

    pub(crate) fn publish_points(&self, points: &[PublishPoint]) {
        let Some(last) = points.last() else { return };
        let mut positions = self.positions.take_up_to(last.commit_number);
        let mut xa_steps = self.xa_steps.take_up_to(last.commit_number);
        let mut order = self.order.lock();
        for point in points {
            debug_assert!(point.commit_number > order.commit_number, "publication follows the log");
            self.memtable_for(point.commit_number).starts_after(&order, point.commit_number);
            order.commit_number = point.commit_number;
            order.position = point.end;
            if let Some(gtid) = point.gtid {
                order.gtids.add(gtid);
            }
            order.positions.extend(positions.remove(&point.commit_number).map(named_position));
            if let Some(step) = xa_steps.remove(&point.commit_number) {
                step.apply(&mut order.prepared);
            }
        }
        drop(order);
        self.publish(last.commit_number, last.end);
    }
}

/// Everything that a change does to the indexes of its table.
fn entries_of(change: &RowChange, writes: &mut Vec<EntryWrite>) -> Result<()> {
    let RowChange { table, before, after } = change;
    for (number, key_may_differ) in touched_indexes(table, before.as_deref(), after.as_deref())? {
        let info = &table.indexes[number];
        let entry = |row: &Option<Bytes>| {
            row.as_ref().map(|row| match number {
                0 => Ok((table.codec.clustered_key(row)?, row.clone())),
                _ => table.codec.secondary_entry(number, row),
            })
        };
        let new = entry(after).transpose()?;
        let old = if key_may_differ { entry(before).transpose()? } else { None };
        if let Some((key, _)) = old
            && new.as_ref().is_none_or(|(new_key, _)| *new_key != key)
        {
            EngineError::check_key(&key)?;
            writes.push((info.id, key, None));
        }
        if let Some((key, value)) = new {
            EngineError::check_key(&key)?;
            writes.push((info.id, key, Some(value)));
        }
    }
    Ok(())
}

/// The indexes (by position in the table) of which a change of a row touches entries, and whether the entry's key may be another
/// than before.
pub(crate) fn touched_indexes<'a>(
    table: &'a Table,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<impl Iterator<Item = (usize, bool)> + use<'a>> {
    let changed = match (before, after) {
        (Some(before), Some(after)) => table.changed_columns(before, after)?,
        _ => ColumnSet::ALL,
    };
    Ok(table.indexes.iter().enumerate().filter_map(move |(number, info)| {
        let touches = info.columns.intersects(changed);
        // The clustered index holds every column.
        (touches || number == 0).then_some((number, touches))
    }))
}

/// What else a change tells: numbers that AUTO_INCREMENT has given, and how many rows there are.
fn note(change: &RowChange) -> Result<()> {
    if let Some(after) = &change.after {
        change.table.saw_auto_increment(after)?;
    }
    change.table.shared.statistics.changed(1);
    match (&change.before, &change.after) {
        (None, Some(_)) => change.table.count_rows(1),
        (Some(_), None) => change.table.count_rows(-1),
        _ => {}
    }
    Ok(())
}
