//! The fast path of weak table locks: every statement of every session takes one on the same few tables.
//!
//! One hash entry per table would make them all queue for one mutex and search one long list of holders. So weak
//! modes (IS, IX) are noted in the owner's **stripe**, a short list behind a lock that few share, as long as nobody
//! wants the target in a strong mode (S, X: DDL, LOCK TABLES). Who wants a strong mode first counts itself in, then
//! moves the target's notes of all stripes into the lock table; from then on everybody meets there.
//!
//! A note is made under the stripe's lock and after a look at the count, and the count goes up before the stripes are
//! emptied: so a strong request misses no note.

use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use super::mode::Modes;
use super::table::{LockId, LockTable};
use super::waiter::OwnerId;

const STRIPES: usize = 64;
/// Counts of strong requests, by hash of the target: a collision only costs the fast path.
const PARTITIONS: usize = 1024;

#[derive(Clone, Copy)]
struct Note {
    id: LockId,
    owner: OwnerId,
    modes: Modes,
}

/// Weak locks outside of the lock table.
pub(super) struct WeakLocks {
    stripes: Box<[Mutex<Vec<Note>>]>,
    strong: Box<[AtomicU32]>,
}

impl WeakLocks {
    pub(super) fn new() -> Self {
        WeakLocks {
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            strong: (0..PARTITIONS).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    fn stripe(&self, owner: OwnerId) -> &Mutex<Vec<Note>> {
        &self.stripes[owner.0 as usize % STRIPES]
    }

    fn strong(&self, id: LockId) -> &AtomicU32 {
        &self.strong[id.partition(PARTITIONS)]
    }

    /// Notes a weak lock; false if it has to go through the lock table: the fast path is closed, or the owner has the
    /// target already (`more`) and that is not noted here, but there.
    pub(super) fn note(&self, id: LockId, owner: OwnerId, mode: Modes, more: bool) -> bool {
        let mut notes = self.stripe(owner).lock();
        if self.strong(id).load(Ordering::SeqCst) != 0 {
            return false;
        }
        match notes.iter_mut().find(|note| note.id == id && note.owner == owner) {
            Some(note) => note.modes |= mode,
            None if more => return false,
            None => notes.push(Note { id, owner, modes: mode }),
        }
        true
    }

    /// Takes a note out; false if there is none: it is in the lock table by now.
    pub(super) fn forget(&self, id: LockId, owner: OwnerId) -> bool {
        let mut notes = self.stripe(owner).lock();
        let found = notes.iter().position(|note| note.id == id && note.owner == owner);
        found.map(|at| notes.swap_remove(at)).is_some()
    }

    /// Closes the fast path for a target, and moves the locks that were taken by it into the table.
    pub(super) fn begin_strong(&self, id: LockId, table: &LockTable) {
        self.strong(id).fetch_add(1, Ordering::SeqCst);
        for stripe in &self.stripes {
            // Into the table while the stripe is locked: a release that finds no note has to find it there.
            stripe.lock().retain(|note| {
                let moves = note.id == id;
                if moves {
                    table.adopt(id, note.owner, note.modes);
                }
                !moves
            });
        }
    }

    /// Undoes [`WeakLocks::begin_strong`], when the strong lock is let go or was not granted.
    pub(super) fn end_strong(&self, id: LockId) {
        self.strong(id).fetch_sub(1, Ordering::SeqCst);
    }

    /// Number of notes.
    pub(super) fn count(&self) -> usize {
        self.stripes.iter().map(|stripe| stripe.lock().len()).sum()
    }
}
