//! A queue between the coordinator and the workers. What bounds it is the gate: the coordinator enters a batch there first.

use std::collections::VecDeque;

use event_listener::Event;
use parking_lot::Mutex;

/// See the module.
pub(crate) struct Queue<T> {
    state: Mutex<(VecDeque<T>, bool)>,
    changed: Event,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Queue { state: Mutex::new((VecDeque::new(), false)), changed: Event::new() }
    }

    pub(crate) fn push(&self, item: T) {
        self.state.lock().0.push_back(item);
        self.changed.notify(1);
    }

    /// What is queued is still taken.
    pub(crate) fn close(&self) {
        self.state.lock().1 = true;
        self.changed.notify(usize::MAX);
    }

    /// The next item; `None` when the queue is closed and empty.
    pub(crate) async fn pop(&self) -> Option<T> {
        loop {
            let listener = self.changed.listen();
            {
                let mut state = self.state.lock();
                if let Some(item) = state.0.pop_front() {
                    if !state.0.is_empty() {
                        self.changed.notify(1);
                    }
                    return Some(item);
                }
                if state.1 {
                    return None;
                }
            }
            listener.await;
        }
    }
}
