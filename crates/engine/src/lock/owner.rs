//! One transaction's locks: what it asks for, and the list of what it has to let go.

use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;

use super::manager::{LockManager, Space, WaitKind};
use super::mode::Modes;
use super::ranges::{Cut, Insertion};
use super::table::{Answer, LockId};
use super::waiter::OwnerId;
use super::{Acquired, LockError, Strength, TableMode, Target, Wait, WaitPolicy};

/// An owner that has had more locks than this looks for memory to give back when it lets them go.
const MANY: usize = 100_000;

/// The locks of one transaction (or of one session: `LOCK TABLES`).
pub struct LockOwner {
    manager: Arc<LockManager>,
    id: OwnerId,
    /// Each lock once.
    records: Vec<LockId>,
    inserts: Vec<(IndexId, Bytes)>,
    gaps: Vec<(IndexId, Cut, Cut)>,
    tables: Vec<(LockId, Modes)>,
    work: u64,
}

impl LockOwner {
    pub(super) fn new(manager: Arc<LockManager>, id: OwnerId) -> Self {
        let (records, inserts, gaps, tables) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        LockOwner { manager, id, records, inserts, gaps, tables, work: 0 }
    }

    /// An owner that counts as this one in every conflict: a transaction within a session that has `LOCK TABLES`.
    /// It must be gone before this one is.
    pub fn child(&self) -> LockOwner {
        LockOwner::new(Arc::clone(&self.manager), self.id)
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

    /// [`LockOwner::record`] if that needs no wait; `None` leaves everything as it was.
    pub fn try_record(
        &mut self,
        index: IndexId,
        key: &[u8],
        strength: Strength,
    ) -> Result<Option<Acquired>, LockError> {
        self.check_bound()?;
        let id = LockId::record(index, key);
        match self.manager.records.request(id, self.id, strength.into(), None) {
            Answer::New => {
                self.records.push(id);
                Ok(Some(Acquired::New))
            }
            Answer::Already => Ok(Some(Acquired::Already)),
            Answer::Busy | Answer::Queued(_) => Ok(None),
        }
    }

    async fn lock_record(&mut self, id: LockId, mode: Modes, wait: Wait<'_>) -> Result<Acquired, LockError> {
        self.check_bound()?;
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
                Box::pin(self.manager.wait(waiter, WaitKind::Lock { space, id }, wait)).await?;
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
                Box::pin(self.manager.wait(waiter, kind, wait)).await?;
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
        if let Some(at) = self.records.iter().rposition(|other| *other == id) {
            self.records.swap_remove(at);
            self.manager.records.release(id, self.id);
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

    /// Whether it has this key at least this strongly itself.
    pub fn has_record(&self, index: IndexId, key: &[u8], strength: Strength) -> bool {
        self.manager.records.held(LockId::record(index, key), self.id).cover(strength.into())
    }

    /// Lets all row locks go, and keeps those on tables and names (which last longer in some statements).
    pub fn release_rows(&mut self) {
        let many = self.records.len() > MANY;
        // Pending inserts first: once the record is free, the key may be pending as another's.
        for (index, key) in self.inserts.drain(..) {
            self.manager.ranges.end_insert(index, &key);
        }
        for id in self.records.drain(..) {
            self.manager.records.release(id, self.id);
        }
        for (index, from, to) in self.gaps.drain(..) {
            self.manager.ranges.unlock_gap(index, &from, &to, self.id);
        }
        self.work = 0;
        if many {
            self.records.shrink_to(MANY / 10);
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

    /// Number of locks on rows and gaps.
    pub fn len(&self) -> usize {
        self.records.len() + self.gaps.len()
    }

    /// Whether it has no lock on rows or gaps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn price(&self) -> u64 {
        self.work + self.len() as u64
    }

    fn check_bound(&self) -> Result<(), LockError> {
        if self.records.len() >= self.manager.options.owner_locks_max { Err(LockError::TooMany) } else { Ok(()) }
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
