//! Acknowledgements to a semi-synchronous source: of what is durable in our own log.
//!
//! The source asks at the ends of transactions; whoever waits for our syncs sees those ends go by, and the receiver tells the
//! source of the last one. Positions are equal or not; which of two is earlier is only known by the order of asking.

use std::collections::VecDeque;

use event_listener::Event;
use parking_lot::Mutex;

use super::Place;

#[derive(Default)]
struct State {
    /// What was asked for and is not durable yet, in the source's order.
    asked: VecDeque<Place>,
    /// What can be acknowledged, and was not.
    ready: Option<Place>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Acks {
    state: Mutex<State>,
    changed: Event,
}

impl Acks {
    /// A stream begins.
    pub(super) fn begin(&self) {
        *self.state.lock() = State::default();
    }

    /// The source asks for an acknowledgement of what ends here. Before its event is handed on.
    pub(super) fn asked(&self, place: Place) {
        self.state.lock().asked.push_back(place);
    }

    /// Everything up to here is durable.
    pub(super) fn durable(&self, file: &str, offset: u64) {
        let mut state = self.state.lock();
        let Some(at) = state.asked.iter().position(|asked| asked.offset == offset && asked.file == file) else {
            return;
        };
        let last = state.asked.drain(..=at).next_back();
        state.ready = last;
        drop(state);
        self.changed.notify(usize::MAX);
    }

    /// The next place to acknowledge.
    pub(super) async fn next(&self) -> Place {
        loop {
            let changed = self.changed.listen();
            if let Some(place) = self.state.lock().ready.take() {
                return place;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, poll_once};

    use super::*;

    #[test]
    fn the_last_of_those_that_are_durable() {
        let acks = Acks::default();
        let place = |offset| Place { file: "bin.000001".to_owned(), offset };
        (1..=4).for_each(|offset| acks.asked(place(offset)));
        assert!(block_on(poll_once(acks.next())).is_none());
        acks.durable("bin.000001", 1);
        acks.durable("bin.000001", 3);
        acks.durable("bin.000002", 4);
        assert_eq!(block_on(acks.next()), place(3));
        assert!(block_on(poll_once(acks.next())).is_none());
        acks.durable("bin.000001", 2);
        assert!(block_on(poll_once(acks.next())).is_none(), "that was before");
        acks.begin();
        acks.durable("bin.000001", 4);
        assert!(block_on(poll_once(acks.next())).is_none(), "asked for by another stream");
    }
}
