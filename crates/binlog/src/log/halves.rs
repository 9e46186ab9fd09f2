//! Walking through a long file in two halves, side by side: the last file of a log has to be checked from its beginning before anything
//! else can be done, so a start after a crash would use one processor for as long as that takes.
//!
//! ```text
//!   | head | transactions …            | a transaction that begins about here | … end or damage |
//!     └────── this task ───────────────┘└────── a thread of its own ───────────┘
//! ```
//!
//! # Invariants
//! - What is found is what [`scan`] finds: the halves count only if the first one ends, whole, just where the second began, and they have no
//!   transaction in common. Otherwise the file is walked through again, in one go; it is damaged, or what looked like a transaction in its
//!   middle were bytes of a row.

use std::sync::Arc;

use event_listener::Event;
use io::Env;
use parking_lot::Mutex;

use super::options::LogOptions;
use super::scan::{FileHead, Scan, Window, find_transaction, scan, scan_between};
use crate::error::Result;

/// Files from this size on are halved. All of them in tests, which know what is to be found.
const HALVED_BYTES: u64 = if cfg!(test) { 0 } else { 64 << 20 };

/// What the thread has found.
#[derive(Default)]
struct Found {
    scan: Mutex<Option<Result<Scan>>>,
    ended: Event,
}

/// Says that the thread has ended, with a result or by a panic.
struct Ending(Arc<Found>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.ended.notify(usize::MAX);
    }
}

/// As [`scan`], with two processors.
pub(super) async fn scan_halves(env: &Env, window: &mut Window, options: &LogOptions, head: &FileHead) -> Result<Scan> {
    if window.len < HALVED_BYTES {
        return scan(window, options, head).await;
    }
    let mut behind = Window::new(window.file.clone(), &window.name, window.len);
    let Some(middle) = find_transaction(&mut behind, (window.len / 2).max(head.end), options).await? else {
        return scan(window, options, head).await;
    };
    let found = Arc::<Found>::default();
    let ended = found.ended.listen();
    let task = {
        let (ending, options, head) = (Ending(found.clone()), options.clone(), head.clone());
        async move {
            let second = scan_between(&mut behind, &options, &head, middle..u64::MAX).await;
            *ending.0.scan.lock() = Some(second);
        }
    };
    env.spawner.spawn_thread("log-scan", Box::pin(task));
    let first = scan_between(window, options, head, 0..middle).await;
    ended.await;
    let second = found.scan.lock().take();
    if let (Ok(first), Some(Ok(second))) = (first, second)
        && first.broken.is_none()
        && first.end == middle
        && first.gtids.is_disjoint(&second.gtids)
    {
        return Ok(joined(first, second));
    }
    scan(window, options, head).await
}

fn joined(first: Scan, second: Scan) -> Scan {
    let Scan { mut gtids, transactions, ending, .. } = first;
    gtids.union(&second.gtids);
    let ending = if second.end > first.end { second.ending } else { ending };
    Scan { gtids, transactions: transactions + second.transactions, ending, ..second }
}
