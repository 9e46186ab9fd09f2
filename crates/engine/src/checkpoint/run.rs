//! The course of a checkpoint, and the task that begins them.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::{Cancel, CommitNumber, ErrorClass, IndexId};
use futures_lite::future;
use store::{Checkpoint, Compression, MergeOptions, Roots};

use super::merge::{Changed, copy_leftovers, merge_step};
use super::room::Room;
use super::{Frozen, Meta};
use crate::catalog::SYSTEM_INDEX;
use crate::commit::{Barrier, CommitError};
use crate::core::Core;
use crate::error::{EngineError, Result};
use crate::large::LargeWrites;
use crate::memtable::Memtable;
use crate::memtable::chain::BUILT;
use crate::memtable::stamp::StampState;
use crate::prepared::KeptPrepared;
use crate::statistics::StoredStatistics;
use crate::view::{Layers, Mark, ViewSlot};

/// How long views that are older than the checkpoint may still end by themselves before they get trees of their own.
const VIEW_GRACE: Duration = Duration::from_millis(500);
/// So many views get trees of their own; more than that keep the frozen memtable in memory until they end.
const VIEW_TREES_MAX: usize = 32;
/// In place of a commit number: a session's transaction, which has none yet.
const SESSIONS: CommitNumber = CommitNumber(u64::MAX);

/// So many large transactions are in memtables at most, and not yet in the trees.
const LARGE_MAX: usize = 8;

/// Pause before a checkpoint that found the disk full is tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(2);

/// Sees to it that nobody waits for checkpoints that nobody makes: after a panic in the task.
struct Watch(Weak<Core>);

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(core) = self.0.upgrade().filter(|core| !core.checkpoints.stopped.load(Ordering::SeqCst)) {
            core.fail("the task that makes checkpoints has ended");
        }
    }
}

/// Makes checkpoints when they are asked for, until the engine goes.
pub(crate) async fn run(core: Weak<Core>) {
    let _watch = Watch(core.clone());
    while let Some(core) = core.upgrade() {
        let checkpoints = &core.checkpoints;
        let listener = checkpoints.want.listen();
        if checkpoints.stopped.load(Ordering::SeqCst) {
            return;
        }
        if checkpoints.wanted.swap(false, Ordering::SeqCst) {
            drop(listener);
            if let Err(error) = core.checkpoint().await {
                tracing::warn!("checkpoint: {error}");
                if error.class() == ErrorClass::Full {
                    core.env.clock.sleep(RETRY_PAUSE).await;
                    checkpoints.want();
                }
            }
            continue;
        }
        drop(core);
        listener.await;
    }
}

impl Core {
    /// Makes a checkpoint of now. Of which state it is.
    pub(crate) async fn checkpoint(self: &Arc<Self>) -> Result<Mark> {
        let _turn = self.checkpoints.turn.take().await;
        self.check_running()?;
        let pending = self.checkpoints.frozen.lock().clone();
        let frozen = match pending {
            Some(frozen) => frozen,
            None => match self.freeze().await? {
                Some(frozen) => frozen,
                None => return Ok(self.checkpoints.durable()),
            },
        };
        let result = self.merge(frozen).await;
        let full = result.as_ref().err().filter(|error| error.class() == ErrorClass::Full).map(ToString::to_string);
        *self.checkpoints.disk_full.lock() = full;
        match &result {
            Ok(_) => {}
            Err(error) if error.class() == ErrorClass::Full => {
                // The log needs what the merge could not use, and so does a PURGE that wants a checkpoint.
                self.store.give_back_unused().await;
                // Statements that wait for room get the error.
                self.checkpoints.room.changed();
            }
            Err(error) => self.fail(&format!("checkpoint: {error}")),
        }
        result
    }

    /// Replaces the active memtable, waits until all of the old one's versions have their numbers, and chooses the checkpoint's.
    /// `None` if nothing has happened since the last. Goes on where a call that was dropped has stopped.
    async fn freeze(&self) -> Result<Option<Frozen>> {
        let durable = self.checkpoints.durable();
        let is_frozen = self.views.layers().memtables.len() > 1;
        let is_idle = self.checkpoints.dropped.lock().is_empty()
            && self.checkpoints.restores.is_empty()
            && self.views.layers().active().bytes() == 0;
        if is_idle && !is_frozen && self.ordered() == durable {
            return Ok(None);
        }
        if !is_frozen {
            self.replace_active();
        }
        let layers = self.views.layers().clone();
        let [active, memtable] = &layers.memtables[..] else {
            return Err(EngineError::Bug(format!("{} memtables", layers.memtables.len())));
        };
        self.env.step().await;
        memtable.idle().await;
        // Asked for again and again: it is lowered when the applier that could publish up to there has stopped.
        self.wait_visible_up_to(|| active.after()).await?;
        self.env.step().await;
        let mark = {
            let order = self.order.lock();
            active.start().cloned().unwrap_or_else(|| order.clone())
        };
        self.wait_visible(mark.commit_number).await?;
        let gone = self.checkpoints.gone.lock().clone();
        let frozen = Frozen { memtable: memtable.clone(), mark, merged: durable.commit_number, gone };
        *self.checkpoints.frozen.lock() = Some(frozen.clone());
        Ok(Some(frozen))
    }

    /// From now on a new memtable takes the installs.
    fn replace_active(&self) {
        *self.checkpoints.gone.lock() = Arc::new(self.checkpoints.dropped.lock().clone());
        self.checkpoints.freezes_definitions();
        let no_installs = self.checkpoints.installs.write();
        let before = self.views.replace_layers(None, |layers, visible| {
            let boundary = layers.active().installed().max(visible);
            let mut memtables = vec![Memtable::new(boundary)];
            memtables.extend(layers.memtables.iter().cloned());
            Layers { memtables, roots: layers.roots.clone(), roots_at: layers.roots_at }
        });
        drop(no_installs);
        // Pairs with the fence in `Memtable::guard`: an installer sees the new layers, or we see its guard.
        fence(Ordering::SeqCst);
        before.active().freeze();
        self.checkpoints.room.changed();
    }

    async fn merge(self: &Arc<Self>, mut frozen: Frozen) -> Result<Mark> {
        let upto = frozen.mark.commit_number;
        assert!(upto <= self.views.visible(), "a checkpoint holds what is published, and nothing else");
        let mut view_roots = Vec::new();
        let long_views = self.long_views(frozen.merged, upto).await;
        self.checkpoints.room.begin(frozen.memtable.keys() * (long_views.len() as u64 + 1));
        for (snapshot, slots) in long_views {
            let roots = self.merge_upto(&mut frozen, snapshot).await?;
            view_roots.push((snapshot, slots, roots));
        }
        let roots = self.merge_upto(&mut frozen, upto).await?;
        self.make_log_durable().await?;
        let meta = self.meta(&frozen.mark).to_bytes()?;
        let checkpoint = Checkpoint { commit_number: upto, log_position: frozen.mark.position, meta };
        self.store.commit_checkpoint(&roots, checkpoint).await?;
        self.env.step().await;
        self.switch(&frozen, roots, view_roots);
        self.checkpoints.dropped.lock().retain(|index| !frozen.gone.contains(index));
        *self.checkpoints.durable.lock() = frozen.mark.clone();
        self.checkpoints.keeps_definitions();
        self.checkpoints.made.notify(usize::MAX);
        self.checkpoints.restores.made();
        self.checkpoints.pin.set(frozen.mark.needs_log_from());
        tracing::debug!(commit_number = upto.0, position = %frozen.mark.position, "checkpoint");
        Ok(frozen.mark)
    }

    /// One step; remembered, so that a second attempt goes on from here.
    async fn merge_upto(&self, frozen: &mut Frozen, upto: CommitNumber) -> Result<Roots> {
        let range = (frozen.merged, upto);
        let options = MergeOptions { pacer: Some(self.tunables.pacer.clone()), vital: Some(SYSTEM_INDEX) };
        let room = &self.checkpoints.room;
        let compressions = self.compressions();
        let restores = self.checkpoints.restores.due(range.0, range.1);
        let changed = Changed { gone: &frozen.gone, restores: &restores };
        let roots = merge_step(&self.store, &frozen.memtable, range, changed, &compressions, room, options).await?;
        frozen.merged = upto;
        *self.checkpoints.frozen.lock() = Some(frozen.clone());
        Ok(roots)
    }

    /// The indexes whose pages are compressed when they are written.
    fn compressions(&self) -> HashMap<IndexId, Compression> {
        let catalog = self.catalog.load();
        let tables = catalog.all_tables().filter(|table| table.compression != Compression::None);
        let indexes = tables.flat_map(|table| table.indexes.iter().map(|index| (index.id, table.compression)));
        // What was being built may be in the catalog by now, and is said of it twice.
        indexes.chain(self.checkpoints.building.lock().iter().copied()).collect()
    }

    /// Readers read the new trees from now on, and the frozen memtable goes.
    fn switch(&self, frozen: &Frozen, roots: Roots, view_roots: Vec<(CommitNumber, Vec<Arc<ViewSlot>>, Roots)>) {
        let upto = frozen.mark.commit_number;
        for (roots_at, slots, roots) in view_roots {
            let layers = Arc::new(Layers { memtables: Vec::new(), roots, roots_at });
            slots.iter().for_each(|slot| slot.set_layers(layers.clone()));
        }
        if frozen.memtable.last_number() > upto {
            copy_leftovers(&frozen.memtable, upto, self.views.layers().active());
        }
        let before = self.views.replace_layers(Some(upto), |layers, _| {
            let others = layers.memtables.iter().filter(|other| !Arc::ptr_eq(other, &frozen.memtable));
            Layers { memtables: others.cloned().collect(), roots, roots_at: upto }
        });
        *self.checkpoints.frozen.lock() = None;
        self.count_rows(&before.roots);
        self.checkpoints.room.changed();
        drop(before);
    }

    /// Rows that were counted as in memory are in the trees now.
    fn count_rows(&self, before: &Roots) {
        let layers = self.views.layers();
        for table in self.catalog.load().all_tables() {
            let index = table.indexes[0].id;
            table.count_rows(before.entries(index).cast_signed() - layers.roots.entries(index).cast_signed());
        }
    }

    /// Views older than the checkpoint that have not ended within the grace, oldest first, by number.
    async fn long_views(&self, merged: CommitNumber, upto: CommitNumber) -> Vec<(CommitNumber, Vec<Arc<ViewSlot>>)> {
        // Older ones than the newest trees missed their turn, and keep what they have.
        if !self.views.between(merged, upto).is_empty() {
            self.env.clock.sleep(VIEW_GRACE).await;
        }
        let mut by_number: BTreeMap<CommitNumber, Vec<Arc<ViewSlot>>> = BTreeMap::new();
        for slot in self.views.between(merged, upto) {
            by_number.entry(slot.snapshot()).or_default().push(slot);
        }
        by_number.into_iter().take(VIEW_TREES_MAX).collect()
    }

    pub(crate) fn meta(&self, mark: &Mark) -> Meta {
        let catalog = self.catalog.load();
        let counted = catalog.all_tables().filter(|table| table.def.auto_increment_column().is_some());
        let with_key = catalog.all_tables().filter(|table| table.def.counted_pk().is_some());
        Meta {
            server_uuid: self.server_uuid.to_string(),
            gtid_executed: mark.gtids.to_string(),
            source_positions: mark.positions.clone(),
            prepared: KeptPrepared::of(&mark.prepared),
            recovery_rate: self.checkpoints.shown_recovery_rate(),
            statistics: catalog
                .all_tables()
                .filter_map(|table| Some((table.id().0, StoredStatistics::of(table)?)))
                .collect(),
            auto_increment: counted.map(|table| (table.id().0, table.auto_increment().peek())).collect(),
            generated_keys: with_key.map(|table| (table.id().0, table.shared.generated_keys.peek())).collect(),
        }
    }

    /// Syncs what of the log is not synced. Whatever `sync_binlog` says now: it may have been changed since. Without a pipeline
    /// everything is synced: at the pipeline's end, or by the follower.
    async fn make_log_durable(&self) -> Result<()> {
        let Some(pipeline) = self.commits.load_full() else { return Ok(()) };
        match pipeline.barrier(Barrier::Synced).await {
            Ok(_) => Ok(()),
            // It is being closed, and its last group is synced when that is done.
            Err(CommitError::Stopped) => Ok(pipeline.ended().await?),
            Err(error) => Err(error.into()),
        }
    }

    /// Ready when everybody can see a number; an error if the engine stops before that.
    pub(crate) async fn wait_visible(&self, number: CommitNumber) -> Result<()> {
        self.wait_visible_up_to(|| number).await
    }

    async fn wait_visible_up_to(&self, number: impl Fn() -> CommitNumber) -> Result<()> {
        loop {
            if self.views.visible() >= number() {
                return Ok(());
            }
            self.check_running()?;
            let is_done = || self.views.visible() >= number() || self.check_running().is_err();
            self.views.next_publication(is_done).await;
        }
    }

    /// Whether a transaction of this number may be installed now; asks for a checkpoint when it is time for one.
    fn has_room_of(&self, number: CommitNumber) -> bool {
        let (bytes, after, frozen) = {
            let layers = self.views.layers();
            (layers.active().bytes(), layers.active().after(), layers.frozen_bytes())
        };
        if number <= after {
            return true;
        }
        let size = self.tunables.memtable_bytes();
        if bytes >= size / 2 && !self.checkpoints.rest_fits(bytes, size) {
            self.checkpoints.want();
        }
        let room = self.checkpoints.room.of_active(size, frozen);
        if frozen.is_some() {
            self.pace_merge(bytes, room);
        }
        // While the disk is full nobody is slowed down, because whoever finds no room gets an error.
        bytes < room || bytes < Room::most_of_active(size, frozen) && self.checkpoints.disk_full.lock().is_some()
    }

    /// The same for one more large transaction: each of them costs every read a look at its runs.
    fn has_room_for_large(&self) -> bool {
        let large = self.views.layers().memtables.iter().map(|memtable| memtable.large().len()).sum::<usize>();
        if large >= LARGE_MAX {
            self.checkpoints.want();
        }
        large < LARGE_MAX
    }

    /// Somebody commits beside a merge: it leaves the disk to others half of the time, unless they will soon wait for it.
    fn pace_merge(&self, bytes: usize, room: usize) {
        let pacer = &self.tunables.pacer;
        if bytes > room / 2 || self.checkpoints.is_in_recovery() {
            pacer.hurry();
        } else {
            pacer.be_considerate(self.env.clock.monotonic());
        }
    }

    /// Ready when one more large transaction may join the memtables; see [`Core::wait_until`].
    pub(crate) async fn wait_for_large(&self, of_session: bool, cancel: &Cancel) -> Result<()> {
        self.wait_until(|| self.has_room_for_large(), of_session, cancel).await
    }

    /// Ready when what a statement has built beside the memtables is in the trees.
    pub(crate) async fn wait_for_built(&self, cancel: &Cancel) -> Result<()> {
        let is_built = |large: &Arc<LargeWrites>| large.stamp.state() == StampState::Committed(BUILT);
        let is_done = || {
            let is_left = self.views.layers().memtables.iter().any(|memtable| memtable.large().iter().any(is_built));
            if is_left {
                self.checkpoints.want();
            }
            !is_left
        };
        self.wait_until(is_done, true, cancel).await
    }

    /// Ready when the active memtable may grow; an error if no checkpoint can make room because the disk is full.
    pub(crate) async fn wait_for_room(&self, cancel: &Cancel) -> Result<()> {
        self.wait_for_room_of(SESSIONS, cancel).await
    }

    /// The same for a transaction whose number is known: one that the frozen memtable still waits for has room there.
    pub(crate) async fn wait_for_room_of(&self, number: CommitNumber, cancel: &Cancel) -> Result<()> {
        self.wait_until(|| self.has_room_of(number), number == SESSIONS, cancel).await
    }

    /// Ready when checkpoints have made room. A full disk is an error for sessions, and waited for by others, because the log has
    /// to be applied anyway.
    pub(super) async fn wait_until(
        &self,
        has_room: impl Fn() -> bool,
        of_session: bool,
        cancel: &Cancel,
    ) -> Result<()> {
        loop {
            self.check_running()?;
            if has_room() {
                return Ok(());
            }
            // Asked for only now: every commit comes here, and nearly all of them find room.
            let listener = self.checkpoints.room.listen();
            if has_room() {
                return Ok(());
            }
            if of_session && let Some(why) = &*self.checkpoints.disk_full.lock() {
                return Err(EngineError::Full(format!("no checkpoint can be made: {why}")));
            }
            let cancelled = async {
                let why = cancel.cancelled().await;
                Err(EngineError::Cancelled(why))
            };
            let room = async {
                listener.await;
                Ok(())
            };
            future::or(cancelled, room).await?;
        }
    }
}
