//! How fast a merge may go: at a rate that is set, and, where others want the disk meanwhile, half of the time.
//!
//! A merge that writes one large page run after the other takes all that a disk gives, and each sync of the log waits behind several
//! megabytes: with 260 MB/s of it 8 clients made 410 commits/s beside a merge, and 3,700 when it left half to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use io::Clock;
use parking_lot::Mutex;

/// A merge that was held up may run ahead of its rate by this much, not more.
const BURST: Duration = Duration::from_millis(100);
/// Shorter waits are not worth a timer; they add up.
const SHORTEST: Duration = Duration::from_millis(1);
/// Whoever commits is thought to go on for so long.
const CONSIDERATE: Duration = Duration::from_millis(100);

/// Slows a merge down to a rate that can be changed at any time; shared with whoever steers it.
#[derive(Debug, Default)]
pub struct Pacer {
    rate: AtomicU64,
    /// When, in the clock's monotonic time, everything so far would have been written at the rate.
    due: Mutex<Duration>,
    /// Until when, in the same time's nanoseconds, others want the disk more urgently than the merge does.
    considerate_until: AtomicU64,
}

impl Pacer {
    /// Pages per second; 0 is as fast as it goes (other tasks still get their turn).
    pub fn new(pages_per_second: u64) -> Arc<Pacer> {
        Arc::new(Pacer {
            rate: AtomicU64::new(pages_per_second),
            due: Mutex::default(),
            considerate_until: AtomicU64::new(0),
        })
    }

    /// Changes the rate.
    pub fn set_rate(&self, pages_per_second: u64) {
        self.rate.store(pages_per_second, Ordering::Relaxed);
    }

    /// Somebody commits at this time of the clock, and does not need the merge to get on: for a moment it rests after each write for as
    /// long as that took.
    pub fn be_considerate(&self, now: Duration) {
        self.considerate_until.store((now + CONSIDERATE).as_nanos() as u64, Ordering::Relaxed);
    }

    /// Commits need the merge to get on.
    pub fn hurry(&self) {
        self.considerate_until.store(0, Ordering::Relaxed);
    }

    pub(super) fn is_considerate(&self, clock: &dyn Clock) -> bool {
        let until = self.considerate_until.load(Ordering::Relaxed);
        until > 0 && (clock.monotonic().as_nanos() as u64) < until
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

    /// Rests for as long as writes took; what of that is too short to wait for is left.
    pub(super) async fn rest(&self, clock: &dyn Clock, writing: &mut Duration) {
        if *writing >= SHORTEST {
            clock.sleep(std::mem::take(writing)).await;
        }
    }
}
