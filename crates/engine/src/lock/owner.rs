//! One transaction's locks: what it asks for, and the list of what it has to let go.

use std::ops::Bound;
use std::sync::Arc;

use base::{IndexId, WaitsFor};
use bytes::Bytes;

use super::manager::{LockManager, Space, WaitKind};
use super::mode::Modes;
use super::packed::ListId;
use super::ranges::{Cut, Insertion};
use super::table::{Answer, LockId};
use super::turn::Turn;
use super::waiter::OwnerId;
use super::{Acquired, LockError, Strength, TableMode, Target, Wait, WaitPolicy};

/// An owner that has had more locks than this looks for memory to give back when it lets them go.
const MANY: usize = 100_000;

/// The locks of one transaction (or of one session: `LOCK TABLES`).
pub struct LockOwner {
    pub(super) manager: Arc<LockManager>,
    pub(super) id: OwnerId,
    pub(super) list: ListId,
    /// Each lock once: here, or in the next list, or packed.
    pub(super) records: Vec<LockId>,
    /// Those that could not be packed.
    pub(super) contended: Vec<LockId>,
    /// Number of those that are packed.
    pub(super) packed: usize,
    pub(super) has_packed: bool,
    pub(super) inserts: Vec<(IndexId, Bytes)>,
    /// Where it has packed inserts.
    pub(super) packed_inserts: Vec<IndexId>,
    gaps: Vec<(IndexId, Cut, Cut)>,
    tables: Vec<(LockId, Modes)>,
    work: u64,
    pub(super) turn: Option<Turn>,
}

impl LockOwner {
    pub(super) fn new(manager: Arc<LockManager>, id: OwnerId, list: ListId) -> Self {
        LockOwner {
            manager,
            id,
            list,
            records: Vec::new(),
            contended: Vec::new(),
            packed: 0,
            has_packed: false,
            inserts: Vec::new(),
            packed_inserts: Vec::new(),
            gaps: Vec::new(),
            tables: Vec::new(),
            work: 0,
            turn: None,
        }
    }

    /// An owner that counts as this one in every conflict: a transaction within a session that has `LOCK TABLES`.
    /// It must be gone before this one is.
    pub fn child(&self) -> LockOwner {
        LockOwner::new(Arc::clone(&self.manager), self.id, ListId(self.manager.next_number()))
    }

    /// Locks one key of one index, whether a row is there or not.
    pub async fn record(
        &mut self,
        index: IndexId,
        key: &[u8],
        strength: Strength,
        wait: Wait<'_>,
    ) -> Result<Acquired, LockError> {
        self.lock_record(LockId::record(index, key), strength.into(), wait).await
    }

    async fn lock_record(&mut self, id: LockId, mode: Modes, wait: Wait<'_>) -> Result<Acquired, LockError> {
        self.check_bound()?;
        if self.records.len() >= self.manager.options.pack_at {
            Box::pin(self.pack_records()).await;
        }
        let acquired = self.request(Space::Records, id, mode, wait).await?;
        if acquired.is_new() {
            self.records.push(id);
        }
        Ok(acquired)
    }

    /// Asks for a lock on one thing. What is new has to be entered into the owner's list by the caller.
    async fn request(&self, space: Space, id: LockId, mode: Modes, wait: Wait<'_>) -> Result<Acquired, LockError> {
        let work = matches!(wait.policy, WaitPolicy::For(_)).then(|| self.price());
        match self.manager.locks(space).request(id, self.id, mode, work) {
            Answer::New => Ok(Acquired::New),
            Answer::Already => Ok(Acquired::Already),
            Answer::Busy => give_up(wait.policy),
            Answer::Queued(waiter) => {
                let new = !waiter.upgrade;
                // In a box: futures of locks that are free stay small.
                Box::pin(self.manager.wait(waiter, WaitKind::Lock { space, id }, self.turn, wait)).await?;
                Ok(Acquired::AfterWait { new })
            }
        }
    }

    /// Keeps others from inserting between two bounds. Waits if an insert of another is pending there: then the gap is
    /// locked up to that key, and the key itself as `strength` says; the caller reads again, and locks the rest.
    ///
    /// With `SKIP LOCKED` pending inserts are passed over: they are locked rows.
    pub async fn gap(
        &mut self,
        index: IndexId,
        (lower, upper): (Bound<Bytes>, Bound<Bytes>),
        strength: Strength,
        wait: Wait<'_>,
    ) -> Result<Acquired, LockError> {
        self.check_bound()?;
        let (from, to) = (Cut::lower(lower), Cut::upper(upper));
        let skip = wait.policy == WaitPolicy::Skip;
        let pending = self.manager.ranges.lock_gap(index, &from, &to, self.id, skip);
        let Some(key) = pending else {
            self.note_gap(index, from, to);
            return Ok(Acquired::New);
        };
        self.note_gap(index, from, Cut::At(key.clone(), false));
        let acquired = self.lock_record(LockId::record(index, &key), strength.into(), wait).await?;
        Ok(Acquired::AfterWait { new: acquired.is_new() })
    }

    /// Gaps that follow one another, as a scan makes them, are one entry.
    fn note_gap(&mut self, index: IndexId, from: Cut, to: Cut) {
        if from >= to {
            return;
        }
        match self.gaps.last_mut() {
            Some(last) if last.0 == index && last.1 <= from && to <= last.2 => {}
            Some(last) if last.0 == index && last.2 == from => last.2 = to,
            Some(last) if last.0 == index && last.1 == to => last.1 = from,
            _ => self.gaps.push((index, from, to)),
        }
    }

    /// Locks a key in order to insert it: waits until no other's gap is around it, then has the record exclusively.
    pub async fn insert(&mut self, index: IndexId, key: &Bytes, wait: Wait<'_>) -> Result<Acquired, LockError> {
        if self.inserts.len() >= self.manager.options.pack_at {
            Box::pin(self.pack_inserts()).await;
        }
        let id = LockId::record(index, key);
        let mut waited = false;
        loop {
            let acquired = self.lock_record(id, Modes::EXCLUSIVE, wait).await?;
            if acquired == Acquired::Skipped {
                return Ok(acquired);
            }
            waited |= acquired.waited();
            let kept_out = match self.manager.ranges.insert(index, key, self.id, None) {
                Insertion::Pending(new) => {
                    if new {
                        self.inserts.push((index, key.clone()));
                    }
                    let new = acquired.is_new();
                    return Ok(if waited { Acquired::AfterWait { new } } else { acquired });
                }
                kept_out => kept_out,
            };
            drop(kept_out);
            // Who waits for a gap must not have the record meanwhile: the gap's owner may want to insert just that.
            if acquired.is_new() {
                self.forget_record(id);
            }
            if let Some(done) = self.wait_for_gap(index, key, wait).await? {
                return Ok(done);
            }
            waited = true;
        }
    }

    /// Waits until no other's gap is around a key; `Some` if the policy says not to.
    async fn wait_for_gap(&self, index: IndexId, key: &Bytes, wait: Wait<'_>) -> Result<Option<Acquired>, LockError> {
        if !matches!(wait.policy, WaitPolicy::For(_)) {
            return give_up(wait.policy).map(Some);
        }
        match self.manager.ranges.insert(index, key, self.id, Some(self.price())) {
            Insertion::Queued(waiter, number) => {
                let kind = WaitKind::Insert { index, key, number };
                Box::pin(self.manager.wait(waiter, kind, self.turn, wait)).await?;
            }
            // The gap went away just now. Undone, and tried again with the record.
            Insertion::Pending(true) => self.manager.ranges.end_insert(index, key),
            Insertion::Pending(false) | Insertion::KeptOut => {}
        }
        Ok(None)
    }

    /// Locks a table or a name.
    pub async fn table(&mut self, target: Target<'_>, mode: TableMode, wait: Wait<'_>) -> Result<Acquired, LockError> {
        let (id, mode) = (LockId::target(target), Modes::from(mode));
        let mine = self.tables.iter().position(|(other, _)| *other == id);
        let had = mine.map_or(Modes::NONE, |at| self.tables[at].1);
        if had.cover(mode) {
            return Ok(Acquired::Already);
        }
        let acquired = if mode.is_weak() && self.manager.weak.note(id, self.id, mode, mine.is_some()) {
            if mine.is_some() { Acquired::Already } else { Acquired::New }
        } else {
            let _shown = wait.cancel.show_wait(match target {
                Target::Table(_) | Target::Name { .. } => WaitsFor::Table,
                Target::Global => WaitsFor::Global,
                Target::User(_) => WaitsFor::User,
            });
            self.lock_table(id, mode, had, wait).await?
        };
        match mine {
            _ if acquired == Acquired::Skipped => {}
            Some(at) => self.tables[at].1 |= mode,
            None if acquired.is_new() => self.tables.push((id, mode)),
            None => {} // the parent has it
        }
        Ok(acquired)
    }

    /// The way of strong modes, and of weak ones while somebody wants a strong one.
    async fn lock_table(&self, id: LockId, mode: Modes, had: Modes, wait: Wait<'_>) -> Result<Acquired, LockError> {
        if mode.is_weak() && had != Modes::NONE {
            // The fast path was closed meanwhile, perhaps by a target of the same hash. All that is mine has to be in
            // one place; entered before it is forgotten, so that nobody can miss it.
            self.manager.tables.adopt(id, self.id, had);
            self.manager.weak.forget(id, self.id);
        }
        if mode.is_weak() || !had.is_weak() {
            return self.request(Space::Tables, id, mode, wait).await;
        }
        let closed = FastPathClosed::new(&self.manager, id);
        let acquired = self.request(Space::Tables, id, mode, wait).await?;
        // An owner's parent may have it: then the parent keeps the fast path closed.
        let mine = acquired.is_new() || (had != Modes::NONE && acquired != Acquired::Skipped);
        if mine {
            closed.keep();
        }
        Ok(acquired)
    }

    /// Gives one record lock back (READ COMMITTED: the row did not match). Only for locks that were
    /// [`Acquired::is_new`] in the same statement.
    pub fn unlock_record(&mut self, index: IndexId, key: &[u8]) {
        self.forget_record(LockId::record(index, key));
    }

    fn forget_record(&mut self, id: LockId) {
        // Nearly always the last one.
        for list in [&mut self.records, &mut self.contended] {
            if let Some(at) = list.iter().rposition(|other| *other == id) {
                list.swap_remove(at);
                self.manager.records.release(id, self.id);
                return;
            }
        }
        if self.packed > 0 && self.manager.records.release_packed(id, self.id, self.list) {
            self.packed -= 1;
        }
    }

    /// Gives one table-like lock back (`UNLOCK TABLES` of one, `RELEASE_LOCK`); false if it was not held.
    pub fn unlock_table(&mut self, target: Target<'_>) -> bool {
        let id = LockId::target(target);
        let Some(at) = self.tables.iter().position(|(other, _)| *other == id) else { return false };
        let (id, modes) = self.tables.swap_remove(at);
        self.release_table(id, modes);
        true
    }

    fn release_table(&self, id: LockId, modes: Modes) {
        if !(modes.is_weak() && self.manager.weak.forget(id, self.id)) {
            self.manager.tables.release(id, self.id);
        }
        if !modes.is_weak() {
            self.manager.weak.end_strong(id);
        }
    }

    /// Lets all row locks go, and keeps those on tables and names (which last longer in some statements).
    pub fn release_rows(&mut self) {
        let many = self.records.len() + self.contended.len() > MANY;
        // Pending inserts first: once the record is free, the key may be pending as another's.
        for (index, key) in self.inserts.drain(..) {
            self.manager.ranges.end_insert(index, &key);
        }
        for index in self.packed_inserts.drain(..) {
            self.manager.ranges.set_packed_runs(index, self.list, self.id, Vec::new());
        }
        for id in self.records.drain(..).chain(self.contended.drain(..)) {
            self.manager.records.release(id, self.id);
        }
        if std::mem::take(&mut self.has_packed) {
            self.manager.records.release_all_packed(self.list);
            self.packed = 0;
        }
        for (index, from, to) in self.gaps.drain(..) {
            self.manager.ranges.unlock_gap(index, &from, &to, self.id);
        }
        self.work = 0;
        if many {
            self.records.shrink_to(MANY / 10);
            self.contended.shrink_to(MANY / 10);
            self.inserts.shrink_to(MANY / 10);
            self.manager.records.shrink();
        }
    }

    /// Lets all locks go; the owner can be used again.
    pub fn release_all(&mut self) {
        self.release_rows();
        for (id, modes) in std::mem::take(&mut self.tables) {
            self.release_table(id, modes);
        }
    }

    /// Tells how much would be lost by choosing this owner as a deadlock's victim: rows changed since the last call.
    pub fn add_work(&mut self, rows: u64) {
        self.work += rows;
    }

    /// The sum of what [`LockOwner::add_work`] was given.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// A number that no other owner has.
    pub fn number(&self) -> u64 {
        self.list.0
    }

    /// Number of tables and names that are locked.
    pub fn table_count(&self) -> usize {
        self.tables.len()
    }

    /// Number of locks on rows and gaps.
    pub fn len(&self) -> usize {
        self.record_count() + self.gaps.len()
    }

    fn record_count(&self) -> usize {
        self.records.len() + self.contended.len() + self.packed
    }

    /// Whether it has no lock on rows or gaps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.is_empty() && self.tables.is_empty()
    }

    pub(super) fn price(&self) -> u64 {
        self.work + self.len() as u64
    }

    fn check_bound(&self) -> Result<(), LockError> {
        if self.record_count() >= self.manager.options.owner_locks_max { Err(LockError::TooMany) } else { Ok(()) }
    }
}

impl Drop for LockOwner {
    fn drop(&mut self) {
        self.release_all();
    }
}

/// What a policy that does not wait says to a lock that is not free.
fn give_up(policy: WaitPolicy) -> Result<Acquired, LockError> {
    match policy {
        WaitPolicy::Skip => Ok(Acquired::Skipped),
        WaitPolicy::NoWait | WaitPolicy::For(_) => Err(LockError::NotAvailable),
    }
}

/// Keeps the fast path of a target closed while a strong lock is wanted, and as long as it is held if it is given.
struct FastPathClosed<'a> {
    manager: &'a LockManager,
    id: LockId,
}

impl<'a> FastPathClosed<'a> {
    fn new(manager: &'a LockManager, id: LockId) -> Self {
        manager.weak.begin_strong(id, &manager.tables);
        FastPathClosed { manager, id }
    }

    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for FastPathClosed<'_> {
    fn drop(&mut self) {
        self.manager.weak.end_strong(self.id);
    }
}
