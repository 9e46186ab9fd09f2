//! The sharded hash of locks that are on one thing: a record, a table, a name.
//!
//! A lock is found by 128 bits of hash ([`LockId`]); keys are not kept. Two keys with the same hash would share a
//! lock, which costs a wait and never loses a conflict; at 128 bits it does not happen. An uncontended lock is one
//! entry of 64 bytes with its only holder inline; a queue exists only while somebody waits. Locks of owners that have very
//! many take eight bytes, as long as nobody else wants them: see [`super::packed`].
//!
//! # Who is next
//! Tables and names are given first come, first served, but for who wants one for itself (a definition, LOCK TABLES … WRITE): it goes before those
//! who wait to read or to change rows, as in MySQL, so that a table can be put in another's place while its writers wait. Of those who wait for a record the one with the most to lose goes first
//! (rows changed and locks held, as for the choice of a victim): it is who keeps most others waiting, and once it has what
//! it wants it lets all of that go. On hot rows, first come first served lets those who hold locks wait behind many who
//! hold none, and they come to wait for each other: the 256 clients of `lock::tests::contention` then have 14 victims per 10
//! commits, and with this order 1, and twice the commits.
//!
//! Nobody is overtaken for ever: at most [`OVERTAKEN_PER_PLACE`] times for each who was before it when it came, so that its wait is
//! so many times longer at the worst. (With a fixed number instead, all of a long queue are soon overtaken that often, and locks are
//! first come, first served again: 1,000 clients on ten rows had 12 victims per 10 commits, and now have 1 per 20.)
//!
//! A place in the middle of a record's queue changes nothing for those behind it: with S and X alone each of them waits for
//! all holders, whoever is before it, so the search for deadlocks that begins with the newcomer misses none. In a table's queue it
//! does: so the search begins with each of those behind it too.
//!
//! # Invariants
//! - No two holders of a head have modes that are enemies.
//! - The first waiter of a queue that is not granted conflicts with a holder: every change of holders or of the
//!   queue's front ends with [`Head::grant`].
//! - A head without holders and waiters is not in the map.
//! - Where there is a head it says who has the lock, whatever is packed; where there is none, what is packed does.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::task::Waker;

use base::IndexId;
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::Target;
use super::mode::Modes;
use super::packed::{ListId, PackedLocks};
use super::waiter::{End, OwnerId, Waiter};

/// Number of shards; a power of two.
const SHARDS: usize = 256;
/// So many newcomers may go before a waiter, for each place of the queue that is before it.
const OVERTAKEN_PER_PLACE: usize = 4;
/// And so many if it is near the front.
const OVERTAKEN_MIN: usize = 64;
/// A shard with room for more entries than this gives memory back when it is nearly empty.
const SHRINK_CAPACITY: usize = 8192;

/// Names what a lock is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LockId(u128);

impl LockId {
    pub(super) fn record(index: IndexId, key: &[u8]) -> Self {
        LockId(xxh3_128_with_seed(key, index.0))
    }

    pub(super) fn target(target: Target<'_>) -> Self {
        // Seeds from the top, where no index id is.
        LockId(match target {
            Target::Table(id) => xxh3_128_with_seed(&id.0.to_le_bytes(), u64::MAX),
            Target::Global => xxh3_128_with_seed(&[], u64::MAX - 1),
            Target::User(name) => xxh3_128_with_seed(name.as_bytes(), u64::MAX - 2),
            Target::Name { schema, name } => {
                // Names cannot hold a zero byte, so this is unambiguous.
                let text = [schema.as_bytes(), &[0], name.as_bytes()].concat();
                xxh3_128_with_seed(&text, u64::MAX - 3)
            }
        })
    }

    /// Bits that neither choose the shard nor the bucket.
    pub(super) fn partition(self, partitions: usize) -> usize {
        (self.0 >> 80) as usize % partitions
    }

    pub(super) fn shard(self) -> usize {
        (self.0 >> 64) as usize % SHARDS
    }

    /// What of it tells it from most others of its shard; the last eight bits are 0.
    pub(super) fn fingerprint(self) -> u64 {
        self.0 as u64 & !0xff
    }

    #[cfg(test)]
    pub(super) fn of_bits(bits: u128) -> Self {
        LockId(bits)
    }
}

/// The id is a hash already.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("lock ids hash as one u128");
    }

    fn write_u128(&mut self, id: u128) {
        self.0 = id as u64;
    }
}

/// One owner's part in a lock.
#[derive(Clone, Copy)]
pub(super) struct Holder {
    pub(super) owner: OwnerId,
    pub(super) modes: Modes,
}

/// Who has a lock and who waits for it.
struct Head {
    /// Inline, since nearly every lock has one holder.
    first: Holder,
    more: Vec<Holder>,
    #[expect(clippy::box_collection, reason = "most heads have no queue: 24 bytes less in each")]
    queue: Option<Box<VecDeque<InLine>>>,
}

/// A waiter in a queue.
struct InLine {
    waiter: Arc<Waiter>,
    /// How many may still go before it.
    patience: usize,
}

const NOBODY: Holder = Holder { owner: OwnerId(0), modes: Modes::NONE };

impl Head {
    fn new(holder: Holder) -> Self {
        Head { first: holder, more: Vec::new(), queue: None }
    }

    fn holders(&self) -> impl Iterator<Item = &Holder> {
        std::iter::once(&self.first).chain(&self.more).filter(|holder| holder.modes != Modes::NONE)
    }

    fn of(&mut self, owner: OwnerId) -> Option<&mut Holder> {
        let mut all = std::iter::once(&mut self.first).chain(&mut self.more);
        all.find(|holder| holder.owner == owner && holder.modes != Modes::NONE)
    }

    fn others_have(&self, enemies: Modes, owner: OwnerId) -> bool {
        self.holders().any(|holder| holder.owner != owner && holder.modes.meet(enemies))
    }

    fn add(&mut self, owner: OwnerId, modes: Modes) {
        if let Some(mine) = self.of(owner) {
            mine.modes |= modes;
        } else if self.first.modes == Modes::NONE {
            self.first = Holder { owner, modes };
        } else {
            self.more.push(Holder { owner, modes });
        }
    }

    fn remove(&mut self, owner: OwnerId) -> bool {
        if self.first.owner == owner && self.first.modes != Modes::NONE {
            self.first = self.more.pop().unwrap_or(NOBODY);
            return true;
        }
        match self.more.iter().position(|holder| holder.owner == owner) {
            Some(at) => {
                self.more.swap_remove(at);
                true
            }
            None => false,
        }
    }

    /// The place of a newcomer in the queue; counts whom it overtakes.
    fn place(&mut self, upgrade: bool, mode: Modes, work: u64, order: Order) -> usize {
        let Some(queue) = &mut self.queue else { return 0 };
        if upgrade {
            return queue.iter().take_while(|other| other.waiter.upgrade).count();
        }
        let is_overtaken = |other: &&mut InLine| {
            let goes_first = match order {
                Order::FirstCome => mode == Modes::EXCLUSIVE && other.waiter.mode.is_weak(),
                Order::MostWork => other.waiter.work < work,
            };
            goes_first && !other.waiter.upgrade && other.patience > 0
        };
        let overtaken = queue.iter_mut().rev().take_while(is_overtaken).map(|other| other.patience -= 1).count();
        queue.len() - overtaken
    }

    /// Gives the lock to those at the front of the queue who can have it now.
    fn grant(&mut self, woken: &mut Vec<Waker>) {
        while let Some(front) = self.queue.as_ref().and_then(|queue| queue.front()) {
            if self.others_have(front.waiter.mode.enemies(), front.waiter.owner) {
                return;
            }
            let Some(InLine { waiter, .. }) = self.queue.as_mut().and_then(|queue| queue.pop_front()) else { return };
            if let Ok(waker) = waiter.end(End::Granted) {
                self.add(waiter.owner, waiter.mode);
                woken.extend(waker);
            }
        }
        self.queue = None;
    }

    /// The owner's modes, if nobody else has or wants it.
    fn only(&self, owner: OwnerId) -> Option<Modes> {
        let is_alone = self.queue.is_none() && self.more.is_empty() && self.first.owner == owner;
        (is_alone && self.first.modes != Modes::NONE).then_some(self.first.modes)
    }

    fn is_unused(&self) -> bool {
        self.queue.is_none() && self.first.modes == Modes::NONE
    }
}

/// What came of a request.
pub(super) enum Answer {
    /// Granted; the owner had nothing here before.
    New,
    /// The owner has it; it had something here before.
    Already,
    /// Others have it.
    Busy,
    /// Others have it, and the waiter is in the queue.
    Queued(Arc<Waiter>),
}

#[derive(Default)]
struct Shard {
    heads: HashMap<LockId, Head, BuildHasherDefault<IdHasher>>,
    /// Of records only.
    packed: PackedLocks,
}

impl Shard {
    /// Changes who has a lock or wants it, and gives it to those who can have it then; `None` if nobody has or wants it.
    fn change<T>(&mut self, id: LockId, woken: &mut Vec<Waker>, change: impl FnOnce(&mut Head) -> T) -> Option<T> {
        let Entry::Occupied(mut entry) = self.heads.entry(id) else { return None };
        let head = entry.get_mut();
        let changed = change(head);
        if head.queue.is_some() {
            head.grant(woken);
        }
        if head.is_unused() {
            entry.remove();
        }
        Some(changed)
    }

    /// Takes the owner out of a lock's holders. False if it was none.
    fn release(&mut self, id: LockId, owner: OwnerId, woken: &mut Vec<Waker>) -> bool {
        self.change(id, woken, |head| head.remove(owner)).unwrap_or(false)
    }
}

/// Who is next; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// But for exclusive modes.
    FirstCome,
    /// For locks in modes S and X only.
    MostWork,
}

/// All locks on one thing.
pub(super) struct LockTable {
    shards: Box<[Mutex<Shard>]>,
    order: Order,
}

impl LockTable {
    pub(super) fn new(order: Order) -> Self {
        LockTable { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), order }
    }

    /// Takes the lock if it is free; otherwise joins its queue if `work` says at what price the owner can be chosen
    /// as a victim.
    pub(super) fn request(&self, id: LockId, owner: OwnerId, mode: Modes, work: Option<u64>) -> Answer {
        let mut shard = self.shards[id.shard()].lock();
        let Shard { heads, packed } = &mut *shard;
        let head = match heads.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let Some(holder) = packed.holder(id) else {
                    entry.insert(Head::new(Holder { owner, modes: mode }));
                    return Answer::New;
                };
                if holder.owner == owner && holder.modes.cover(mode) {
                    return Answer::Already;
                }
                if work.is_none() && holder.owner != owner && holder.modes.meet(mode.enemies()) {
                    return Answer::Busy;
                }
                packed.unpack(id);
                entry.insert(Head::new(holder))
            }
        };
        let had = head.of(owner).map(|holder| holder.modes);
        if had.is_some_and(|had| had.cover(mode)) {
            return Answer::Already;
        }
        let upgrade = had.is_some();
        let is_free = !head.others_have(mode.enemies(), owner);
        // A newcomer does not pass those who wait because it could share with the holders.
        if is_free && (upgrade || head.queue.is_none()) {
            head.add(owner, mode);
            return if upgrade { Answer::Already } else { Answer::New };
        }
        let Some(work) = work else { return Answer::Busy };
        let at = head.place(upgrade, mode, work, self.order);
        if is_free && at == 0 {
            head.add(owner, mode);
            return Answer::New;
        }
        let patience = OVERTAKEN_MIN.max(OVERTAKEN_PER_PLACE * at);
        let waiter = Arc::new(Waiter::new(owner, mode, upgrade, work));
        head.queue.get_or_insert_default().insert(at, InLine { waiter: waiter.clone(), patience });
        Answer::Queued(waiter)
    }

    /// Enters a lock that its owner got elsewhere (the fast path of weak table locks).
    pub(super) fn adopt(&self, id: LockId, owner: OwnerId, modes: Modes) {
        let mut shard = self.shards[id.shard()].lock();
        shard.heads.entry(id).or_insert_with(|| Head::new(NOBODY)).add(owner, modes);
    }

    /// Takes the owner out of the lock's holders, and lets the next ones have it. False if it was no holder.
    pub(super) fn release(&self, id: LockId, owner: OwnerId) -> bool {
        let mut woken = Vec::new();
        let released = self.shards[id.shard()].lock().release(id, owner, &mut woken);
        woken.into_iter().for_each(Waker::wake);
        released
    }

    /// Packs those locks of a list, all of one shard, that nobody else has or wants; the others are added to `kept`. Returns about
    /// how many entries were moved.
    pub(super) fn pack(&self, ids: &[LockId], owner: OwnerId, list: ListId, kept: &mut Vec<LockId>) -> usize {
        let Some(first) = ids.first() else { return 0 };
        let mut shard = self.shards[first.shard()].lock();
        let Shard { heads, packed } = &mut *shard;
        let Some(moved) = packed.prepare(list, owner, ids.len()) else {
            kept.extend_from_slice(ids);
            return ids.len();
        };
        for &id in ids {
            if let Entry::Occupied(entry) = heads.entry(id)
                && let Some(modes) = entry.get().only(owner)
                && packed.add(id, list, modes)
            {
                entry.remove();
            } else {
                kept.push(id);
            }
        }
        ids.len() + moved
    }

    /// Lets a packed lock go, whether it has a head by now or not. False if the list has it not packed.
    pub(super) fn release_packed(&self, id: LockId, owner: OwnerId, list: ListId) -> bool {
        let mut woken = Vec::new();
        let packed = {
            let mut shard = self.shards[id.shard()].lock();
            let packed = shard.packed.forget(id, list);
            if packed == Some(true) {
                shard.release(id, owner, &mut woken);
            }
            packed
        };
        woken.into_iter().for_each(Waker::wake);
        packed.is_some()
    }

    /// Lets all packed locks of a list go.
    pub(super) fn release_all_packed(&self, list: ListId) {
        for shard in &self.shards {
            let mut woken = Vec::new();
            {
                let mut shard = shard.lock();
                let Some((owner, unpacked)) = shard.packed.remove(list) else { continue };
                for id in unpacked {
                    shard.release(id, owner, &mut woken);
                }
            }
            woken.into_iter().for_each(Waker::wake);
        }
    }

    /// Takes a waiter that has ended out of the queue; those behind it may have been waiting for it only.
    pub(super) fn leave_queue(&self, id: LockId, waiter: &Arc<Waiter>) {
        let mut woken = Vec::new();
        let leave = |head: &mut Head| {
            if let Some(queue) = &mut head.queue {
                queue.retain(|other| !Arc::ptr_eq(&other.waiter, waiter));
            }
        };
        self.shards[id.shard()].lock().change(id, &mut woken, leave);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Adds to `found` the holders that a waiter in this lock's queue waits for, also through those before it.
    pub(super) fn blockers(&self, id: LockId, waiter: &Waiter, found: &mut Vec<OwnerId>) {
        let shard = self.shards[id.shard()].lock();
        let Some(head) = shard.heads.get(&id) else { return };
        let mut enemies = Modes::NONE;
        for other in head.queue.iter().flat_map(|queue| queue.iter()) {
            enemies |= other.waiter.mode.enemies();
            if std::ptr::eq(&raw const *other.waiter, waiter) || enemies.is_all() {
                break;
            }
        }
        let blocking = head.holders().filter(|holder| holder.owner != waiter.owner && holder.modes.meet(enemies));
        found.extend(blocking.map(|holder| holder.owner));
    }

    /// Gives memory back that a huge transaction needed.
    pub(super) fn shrink(&self) {
        for shard in &self.shards {
            let heads = &mut shard.lock().heads;
            if heads.capacity() > SHRINK_CAPACITY && heads.len() < heads.capacity() / 8 {
                heads.shrink_to(SHRINK_CAPACITY / 2);
            }
        }
    }

    /// Number of holders of locks that have a head.
    pub(super) fn count(&self) -> usize {
        let count =
            |shard: &Mutex<Shard>| shard.lock().heads.values().map(|head| head.holders().count()).sum::<usize>();
        self.shards.iter().map(count).sum()
    }

    /// Number of locks that have none, and their memory.
    pub(super) fn count_packed(&self) -> (usize, usize) {
        self.shards.iter().fold((0, 0), |(count, bytes), shard| {
            let packed = &shard.lock().packed;
            (count + packed.count(), bytes + packed.bytes())
        })
    }
}
