//! Sleeps of microseconds. tokio's timers count in milliseconds; the log thread waits for a fifth of a sync.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::completion::{Completer, Completion, completion};

/// Sleeps up to this are taken by [`ShortTimer`].
pub(crate) const SHORT: Duration = Duration::from_millis(5);

struct Sleeper {
    at: Instant,
    completer: Completer<()>,
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Sleeper {}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

#[derive(Default)]
struct Sleepers {
    by_time: BinaryHeap<Reverse<Sleeper>>,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    sleepers: Mutex<Sleepers>,
    changed: Condvar,
}

/// One thread that wakes sleepers on time. At most one entry per sleeping task, gone after [`SHORT`] at the latest.
pub(crate) struct ShortTimer(Arc<Shared>);

impl ShortTimer {
    pub(crate) fn start() -> Result<Self> {
        let shared = Arc::<Shared>::default();
        let of_thread = shared.clone();
        std::thread::Builder::new().name("short-timer".to_owned()).spawn(move || wake_on_time(&of_thread))?;
        Ok(ShortTimer(shared))
    }

    pub(crate) fn sleep(&self, duration: Duration) -> Completion<()> {
        let (completer, done) = completion();
        self.0.sleepers.lock().by_time.push(Reverse(Sleeper { at: Instant::now() + duration, completer }));
        self.0.changed.notify_one();
        done
    }
}

impl Drop for ShortTimer {
    fn drop(&mut self) {
        self.0.sleepers.lock().is_over = true;
        self.0.changed.notify_one();
    }
}

fn wake_on_time(shared: &Shared) {
    let mut sleepers = shared.sleepers.lock();
    while !sleepers.is_over {
        match sleepers.by_time.peek().map(|Reverse(sleeper)| sleeper.at) {
            None => shared.changed.wait(&mut sleepers),
            Some(at) if at > Instant::now() => drop(shared.changed.wait_until(&mut sleepers, at)),
            Some(_) => {
                let due = sleepers.by_time.pop();
                parking_lot::MutexGuard::unlocked(&mut sleepers, || {
                    if let Some(Reverse(sleeper)) = due {
                        sleeper.completer.complete(());
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::block_on;

    use super::*;

    #[test]
    fn sleeps_end_in_their_order_and_not_early() {
        let timer = ShortTimer::start().unwrap();
        let start = Instant::now();
        let (long, short) = (timer.sleep(Duration::from_micros(3000)), timer.sleep(Duration::from_micros(200)));
        block_on(short);
        assert!(start.elapsed() >= Duration::from_micros(200));
        block_on(long);
        assert!(start.elapsed() >= Duration::from_micros(3000));
    }
}
