//! Semi-synchronous replication: what the relay acknowledges to its source, and what replicas have acknowledged to it.
//!
//! To a source that asks (`rpl_semi_sync_replica_enabled`) the relay acknowledges what is synced here. If replicas are to have it too
//! (`rpl_semi_sync_source_enabled`) they are asked in turn, and the source gets its acknowledgement when so many of them have given theirs.
//! There is no timeout here: the source has one, and goes on without us or not, as it was told.
//!
//! # Invariants
//! - Nothing is acknowledged before it is synced, nor more than the source has asked for.
//! - A replica counts as long as it is connected, and as one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use event_listener::Event;
use parking_lot::Mutex;
use wire::replication::SemiSyncAck;

use crate::store::FileId;

/// A place in the log; they ascend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: FileId,
    pub(crate) offset: u64,
}

/// Which replicas have what.
#[derive(Default)]
pub struct Acks {
    /// So many replicas must have what is acknowledged to the source.
    wanted: usize,
    /// By connection: all before this is there.
    reached: Mutex<BTreeMap<u32, Place>>,
    changed: Event,
    /// The source asks for acknowledgements, and gets them.
    acknowledges: AtomicBool,
}

impl Acks {
    /// `wanted` replicas have to acknowledge what is acknowledged to the source; with 0 they are not asked.
    pub(crate) fn new(wanted: usize) -> Self {
        Acks { wanted, ..Acks::default() }
    }

    /// How many replicas have to have what the source is told of.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Semi-synchronous replicas that are connected.
    pub(crate) fn clients(&self) -> usize {
        self.reached.lock().len()
    }

    /// `Rpl_semi_sync_replica_status`
    pub(crate) fn acknowledges(&self) -> bool {
        self.acknowledges.load(Ordering::Relaxed)
    }

    pub(crate) fn set_acknowledges(&self, on: bool) {
        self.acknowledges.store(on, Ordering::Relaxed);
    }

    /// The replica on that connection has all before this place.
    pub(crate) fn reached(&self, connection: u32, place: Place) {
        self.reached.lock().insert(connection, place);
        self.changed.notify(usize::MAX);
    }

    /// It has gone.
    pub(crate) fn left(&self, connection: u32) {
        self.reached.lock().remove(&connection);
    }

    /// The farthest that one has.
    #[cfg(test)]
    pub(crate) fn most(&self) -> Option<Place> {
        self.reached.lock().values().max().copied()
    }

    /// Whether as many as are wanted have all before a place.
    fn have(&self, place: Place) -> bool {
        self.wanted == 0 || self.reached.lock().values().filter(|&&reached| reached >= place).count() >= self.wanted
    }
}

/// Of one connection to the source: what it has asked for and was not told yet.
pub(crate) struct Owed<'a> {
    acks: &'a Acks,
    /// Received, and maybe not synced.
    asked: Option<(Place, SemiSyncAck)>,
    /// Synced.
    waiting: VecDeque<(Place, SemiSyncAck)>,
}

impl<'a> Owed<'a> {
    pub(crate) fn new(acks: &'a Acks) -> Self {
        Owed { acks, asked: None, waiting: VecDeque::new() }
    }

    /// The source asks for an acknowledgement of all before this place.
    pub(crate) fn asked(&mut self, place: Place, file: String) {
        self.asked = Some((place, SemiSyncAck { position: place.offset, file }));
    }

    /// What was received is synced.
    pub(crate) fn synced(&mut self) {
        self.waiting.extend(self.asked.take());
    }

    /// The last of what can be acknowledged now; it stands for those before it.
    fn due(&mut self) -> Option<SemiSyncAck> {
        let count = self.waiting.iter().take_while(|(place, _)| self.acks.have(*place)).count();
        self.waiting.drain(..count).next_back().map(|(_, ack)| ack)
    }

    /// The next acknowledgement, when there is one. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> SemiSyncAck {
        loop {
            let changed = self.acks.changed.listen();
            if let Some(ack) = self.due() {
                return ack;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, poll_once};

    use super::*;

    fn place(number: u64, offset: u64) -> Place {
        Place { file: FileId { generation: 1, number }, offset }
    }

    fn next(owed: &mut Owed<'_>) -> Option<u64> {
        block_on(poll_once(owed.next())).map(|ack| ack.position)
    }

    #[test]
    fn what_is_synced_is_acknowledged_once() {
        let acks = Acks::new(0);
        let mut owed = Owed::new(&acks);
        owed.asked(place(1, 100), "bin.000001".to_owned());
        assert_eq!(next(&mut owed), None, "not synced");
        owed.asked(place(1, 200), "bin.000001".to_owned());
        owed.synced();
        assert_eq!((next(&mut owed), next(&mut owed)), (Some(200), None));
    }

    #[test]
    fn replicas_that_have_to_have_it_are_waited_for() {
        let acks = Acks::new(2);
        let mut owed = Owed::new(&acks);
        for (number, offset) in [(1, 100), (1, 200), (2, 50)] {
            owed.asked(place(number, offset), format!("bin.00000{number}"));
            owed.synced();
        }
        acks.reached(7, place(2, 50));
        assert_eq!(next(&mut owed), None, "only one has it");
        acks.reached(8, place(1, 150));
        assert_eq!(next(&mut owed), Some(100), "what was asked for later does not keep it");
        acks.left(7);
        acks.reached(8, place(2, 50));
        assert_eq!(next(&mut owed), None, "who has gone does not count");
        acks.reached(9, place(1, 200));
        assert_eq!(next(&mut owed), Some(200));
        acks.reached(9, place(3, 4));
        assert_eq!((next(&mut owed), next(&mut owed)), (Some(50), None));
    }
}
