//! Packed locks: the record locks of owners that have very many, eight bytes each.
//!
//! Nearly all locks of a large transaction are had by nobody else and wanted by nobody else. Such a lock needs no head with a
//! list of holders and a queue: a **fingerprint** of its id and a number for its owner is all there is to say. Each shard of the
//! lock table has one open-addressing table of such entries, for all owners together, so that who asks for a lock makes one
//! look-up more, however many owners have packed some, and none if nobody has.
//!
//! ```text
//!   id (128 bits)    ........ | shard (8) | place in the table, and what is compared (56) | (8)
//!   entry (64 bits)                         the same 56                                   | slot of the owner (7), exclusive (1)
//! ```
//!
//! As soon as another owner wants the lock (or its own owner wants it stronger), it is **unpacked**: a head comes into the map of
//! the shard, and from then on the head is what counts. The entry stays where it is. Two ids with the same fingerprint share a
//! lock as long as it is packed, which costs a wait and loses nothing; it happens to one look-up of 10^12 beside ten million locks.
//!
//! # Invariants
//! - A fingerprint is in the table once at most; a lock whose fingerprint is there already is not packed.
//! - Of a lock that is packed and has no head, the packer is the only holder, and nobody waits.
//! - Whatever was unpacked is in its packer's list, so that releasing the packer releases it.

use super::mode::Modes;
use super::table::{Holder, LockId};
use super::waiter::OwnerId;

/// What of an entry is not fingerprint.
const TAG: u64 = 0xff;
const EXCLUSIVE: u64 = 1;
/// Slots have seven bits and begin with 1, so that no entry is 0. Those who find none free keep their locks as they are.
const SLOT_MAX: u8 = 127;

/// Names the list of locks of one [`super::LockOwner`]: an owner's children have its [`OwnerId`], and lists of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListId(pub(super) u64);

/// One owner's packed locks in one shard.
struct Packer {
    list: ListId,
    owner: OwnerId,
    slot: u8,
    count: usize,
    unpacked: Vec<LockId>,
}

/// The packed locks of one shard.
#[derive(Default)]
pub(super) struct PackedLocks {
    /// 0 is free. At most four of five are taken; who does not find its place free takes the next one.
    entries: Box<[u64]>,
    len: usize,
    packers: Vec<Packer>,
}

impl PackedLocks {
    /// Who has a lock that has no head.
    pub(super) fn holder(&self, id: LockId) -> Option<Holder> {
        let entry = self.entries[self.search(id.fingerprint()).ok()?];
        let packer = self.packers.iter().find(|packer| packer.slot == slot(entry))?;
        let modes = if entry & EXCLUSIVE == 0 { Modes::SHARED } else { Modes::EXCLUSIVE };
        Some(Holder { owner: packer.owner, modes })
    }

    /// Notes that a lock has a head from now on, with its packer as a holder.
    pub(super) fn unpack(&mut self, id: LockId) {
        let Ok(at) = self.search(id.fingerprint()) else { return };
        let slot = slot(self.entries[at]);
        if let Some(packer) = self.packers.iter_mut().find(|packer| packer.slot == slot) {
            packer.unpacked.push(id);
        }
    }

    /// Makes room for more locks of a list; `None` if it can have none here. How many entries were moved for it otherwise.
    pub(super) fn prepare(&mut self, list: ListId, owner: OwnerId, more: usize) -> Option<usize> {
        if !self.packers.iter().any(|packer| packer.list == list) {
            let is_free = |slot: &u8| self.packers.iter().all(|packer| packer.slot != *slot);
            let slot = (1..=SLOT_MAX).find(is_free)?;
            self.packers.push(Packer { list, owner, slot, count: 0, unpacked: Vec::new() });
        }
        let needed = self.len + more;
        if needed <= self.entries.len() / 5 * 4 {
            return Some(0);
        }
        self.rebuild(needed.max(self.len / 4 * 5), |_| true);
        Some(self.len)
    }

    /// Packs a lock, for which there is room; false if its fingerprint is taken.
    pub(super) fn add(&mut self, id: LockId, list: ListId, modes: Modes) -> bool {
        let Err(at) = self.search(id.fingerprint()) else { return false };
        let Some(packer) = self.packers.iter_mut().find(|packer| packer.list == list) else { return false };
        packer.count += 1;
        let exclusive = if modes.meet(Modes::EXCLUSIVE) { EXCLUSIVE } else { 0 };
        self.entries[at] = id.fingerprint() | u64::from(packer.slot) << 1 | exclusive;
        self.len += 1;
        true
    }

    /// Takes one lock out; `None` if the list does not have it packed. Says whether it has a head.
    pub(super) fn forget(&mut self, id: LockId, list: ListId) -> Option<bool> {
        let at = self.search(id.fingerprint()).ok()?;
        let packer = self.packers.iter_mut().find(|packer| packer.list == list)?;
        if packer.slot != slot(self.entries[at]) {
            return None;
        }
        packer.count -= 1;
        let unpacked = packer.unpacked.iter().rposition(|other| *other == id);
        unpacked.map(|at| packer.unpacked.swap_remove(at));
        self.vacate(at);
        Some(unpacked.is_some())
    }

    /// Takes all locks of a list out; its owner and those that have heads, if it had any here.
    pub(super) fn remove(&mut self, list: ListId) -> Option<(OwnerId, Vec<LockId>)> {
        let at = self.packers.iter().position(|packer| packer.list == list)?;
        let packer = self.packers.swap_remove(at);
        let rest = self.len - packer.count;
        if packer.count >= rest {
            self.rebuild(rest, |entry| slot(entry) != packer.slot);
        } else {
            self.vacate_all(packer.slot, rest);
        }
        Some((packer.owner, packer.unpacked))
    }

    /// Number of locks without heads.
    pub(super) fn count(&self) -> usize {
        let unpacked: usize = self.packers.iter().map(|packer| packer.unpacked.len()).sum();
        self.len.saturating_sub(unpacked)
    }

    /// Memory of the table.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }

    /// Where a fingerprint is, or the free place where it belongs.
    fn search(&self, fingerprint: u64) -> Result<usize, usize> {
        if self.entries.is_empty() {
            return Err(0);
        }
        let mut at = self.home(fingerprint);
        loop {
            match self.entries[at] {
                0 => return Err(at),
                entry if entry & !TAG == fingerprint => return Ok(at),
                _ => at = self.after(at),
            }
        }
    }

    fn home(&self, fingerprint: u64) -> usize {
        ((u128::from(fingerprint) * self.entries.len() as u128) >> 64) as usize
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 == self.entries.len() { 0 } else { at + 1 }
    }

    /// Frees a place, and moves up those behind it that would not be found any more.
    fn vacate(&mut self, mut free: usize) {
        let capacity = self.entries.len();
        let mut at = self.after(free);
        while self.entries[at] != 0 {
            let from_home = (at + capacity - self.home(self.entries[at] & !TAG)) % capacity;
            let from_free = (at + capacity - free) % capacity;
            if from_home >= from_free {
                self.entries[free] = self.entries[at];
                free = at;
            }
            at = self.after(at);
        }
        self.entries[free] = 0;
        self.len -= 1;
    }

    /// Frees the places of a slot, few among many; so many stay.
    fn vacate_all(&mut self, of: u8, rest: usize) {
        let mut at = 0;
        while self.len > rest && at < self.entries.len() {
            // What moves up to here is looked at, too.
            if self.entries[at] != 0 && slot(self.entries[at]) == of {
                self.vacate(at);
            } else {
                at += 1;
            }
        }
    }

    /// A new table for so many locks, with some of those that are there.
    fn rebuild(&mut self, room: usize, stays: impl Fn(u64) -> bool) {
        let capacity = if room == 0 { 0 } else { room / 4 * 5 + 8 };
        let old = std::mem::replace(&mut self.entries, vec![0; capacity].into_boxed_slice());
        self.len = 0;
        if capacity == 0 {
            return;
        }
        for &entry in old.iter().filter(|&&entry| entry != 0 && stays(entry)) {
            if let Err(at) = self.search(entry & !TAG) {
                self.entries[at] = entry;
                self.len += 1;
            }
        }
    }
}

fn slot(entry: u64) -> u8 {
    (entry & TAG) as u8 >> 1
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use base::IndexId;
    use proptest::prelude::*;

    use super::*;

    fn id(number: u64) -> LockId {
        LockId::record(IndexId(1), &number.to_be_bytes())
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add(u64, u64),
        Forget(u64, u64),
        Remove(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0..3u64, 0..60u64).prop_map(|(list, number)| Step::Add(list, number)),
            4 => (0..3u64, 0..60u64).prop_map(|(list, number)| Step::Forget(list, number)),
            1 => (0..3u64).prop_map(Step::Remove),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Among others that come and go, each lock is found as long as it is there.
        #[test]
        fn agrees_with_a_map(steps in prop::collection::vec(step(), 1..200)) {
            let mut packed = PackedLocks::default();
            let mut paper: HashMap<u64, u64> = HashMap::new();
            for step in steps {
                match step {
                    Step::Add(list, number) => {
                        packed.prepare(ListId(list), OwnerId(list), 1).unwrap();
                        let added = packed.add(id(number), ListId(list), Modes::EXCLUSIVE);
                        prop_assert_eq!(added, !paper.contains_key(&number));
                        paper.entry(number).or_insert(list);
                    }
                    Step::Forget(list, number) => {
                        let is_there = paper.get(&number) == Some(&list);
                        prop_assert_eq!(packed.forget(id(number), ListId(list)), is_there.then_some(false));
                        if is_there {
                            paper.remove(&number);
                        }
                    }
                    Step::Remove(list) => {
                        packed.remove(ListId(list));
                        paper.retain(|_, other| *other != list);
                    }
                }
                prop_assert_eq!(packed.count(), paper.len());
                for number in 0..60 {
                    let holder = packed.holder(id(number)).map(|holder| holder.owner.0);
                    prop_assert_eq!(holder, paper.get(&number).copied());
                }
            }
        }
    }

    #[test]
    fn two_ids_with_one_fingerprint_are_not_both_packed() {
        let (mine, other) = (LockId::of_bits(1 << 100 | 0x1234_5678_9a00), LockId::of_bits(0x1234_5678_9aff));
        let mut packed = PackedLocks::default();
        packed.prepare(ListId(1), OwnerId(1), 2).unwrap();
        assert!(packed.add(mine, ListId(1), Modes::SHARED));
        assert!(!packed.add(other, ListId(1), Modes::EXCLUSIVE));
        // Who asks for the other one meets the owner of the first, which stays protected.
        packed.unpack(other);
        assert_eq!(packed.holder(mine).map(|holder| holder.owner), Some(OwnerId(1)));
        assert_eq!(packed.remove(ListId(1)), Some((OwnerId(1), vec![other])));
    }

    #[test]
    fn slots_are_given_again_and_end() {
        let mut packed = PackedLocks::default();
        for list in 0..u64::from(SLOT_MAX) {
            assert!(packed.prepare(ListId(list), OwnerId(list), 1).is_some());
            assert!(packed.add(id(list), ListId(list), Modes::EXCLUSIVE));
        }
        assert_eq!(packed.prepare(ListId(200), OwnerId(200), 1), None);
        packed.remove(ListId(5)).unwrap();
        assert!(packed.prepare(ListId(200), OwnerId(200), 1).is_some());
        assert!(packed.add(id(200), ListId(200), Modes::SHARED));
        assert_eq!(packed.holder(id(200)).map(|holder| holder.owner), Some(OwnerId(200)));
        assert!(packed.holder(id(5)).is_none());
    }
}
