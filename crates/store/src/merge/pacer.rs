//! How fast a merge may go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use io::Clock;
use parking_lot::Mutex;

/// A merge that was held up may run ahead of its rate by this much, not more.
const BURST: Duration = Duration::from_millis(100);
/// Shorter waits are not worth a timer; they add up.
const SHORTEST: Duration = Duration::from_millis(1);

/// Slows a merge down to a rate that can be changed at any time; shared with whoever steers it.
#[derive(Debug, Default)]
pub struct Pacer {
    rate: AtomicU64,
    /// When, in the clock's monotonic time, everything so far would have been written at the rate.
    due: Mutex<Duration>,
}

impl Pacer {
    /// Pages per second; 0 is as fast as it goes (other tasks still get their turn).
    pub fn new(pages_per_second: u64) -> Arc<Pacer> {
        Arc::new(Pacer { rate: AtomicU64::new(pages_per_second), due: Mutex::default() })
    }

    /// Changes the rate.
    pub fn set_rate(&self, pages_per_second: u64) {
        self.rate.store(pages_per_second, Ordering::Relaxed);
    }

    /// Waits as long as `pages` more ask for.
    pub(super) async fn pace(&self, clock: &dyn Clock, pages: u64) {
        let rate = self.rate.load(Ordering::Relaxed);
        if rate == 0 {
            return;
        }
        let now = clock.monotonic();
        let wait = {
            let mut due = self.due.lock();
            *due = (*due).max(now.saturating_sub(BURST)) + Duration::from_nanos(pages * 1_000_000_000 / rate);
            due.saturating_sub(now)
        };
        if wait >= SHORTEST {
            clock.sleep(wait).await;
        }
    }
}
