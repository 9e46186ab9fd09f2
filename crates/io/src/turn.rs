//! [`ThreadTurn`]: what computes for long lets others on its thread go on.
//!
//! A task that finds everything in memory never waits by itself: two of them on two threads would shut out everybody else,
//! logins, commits and KILL included.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::Clock;

/// For so long a task keeps its thread. The runtime looks at sockets every 61 turns.
const TURN: Duration = Duration::from_millis(1);

/// Since when a task has kept its thread.
#[derive(Debug, Default)]
pub struct ThreadTurn {
    /// 0 before anybody has asked.
    began_micros: AtomicU64,
}

impl ThreadTurn {
    /// To be called every now and then: others have their turn if this one has lasted for long enough.
    pub async fn pass(&self, clock: &dyn Clock) {
        if self.is_over(clock.monotonic()) {
            futures_lite::future::yield_now().await;
        }
    }

    /// If so, the next one begins.
    fn is_over(&self, now: Duration) -> bool {
        let now = now.as_micros() as u64;
        let began = self.began_micros.load(Ordering::Relaxed);
        let is_over = began > 0 && now.saturating_sub(began) >= TURN.as_micros() as u64;
        if is_over || began == 0 {
            self.began_micros.store(now, Ordering::Relaxed);
        }
        is_over
    }
}
