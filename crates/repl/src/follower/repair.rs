//! A server makes good by itself what of its data file cannot be read: indexes from the rows, and rows, on a server that copies a
//! source's log, from that source.
//!
//! Whoever meets damage notes it ([`engine::Engine::damage`]). It is repaired after a pause, in which there may be more of it; what could not be is
//! tried again, after pauses that grow. Rows of a server that copies nobody are told of once: only somebody else can say who has them.
//!
//! # Invariants
//! - One index at a time, and nobody waits for it.
//! - It ends with [`Repairer::stop`], wherever it is; what is half done is not seen by anybody. While it waits it holds nothing of the
//!   server, so that one that is only dropped goes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::{ErrorClass, IndexId};
use engine::{IndexRepair, SessionHandle, Table};
use event_listener::Event;
use futures_lite::future;

use super::Follower;
use super::rows::SourceRows;

/// Between the note and the repair.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Between two attempts at most.
const PAUSE_MAX: Duration = Duration::from_secs(3600);

/// Whether a server repairs itself.
#[derive(Debug, Default)]
pub struct Repairer {
    is_off: AtomicBool,
    is_stopped: AtomicBool,
    is_running: AtomicBool,
    changed: Event,
}

impl Repairer {
    /// `repair_damaged_pages`
    pub fn set_on(&self, on: bool) {
        self.is_off.store(!on, Ordering::SeqCst);
        self.changed.notify(usize::MAX);
    }

    /// Whether it repairs.
    pub(super) fn is_on(&self) -> bool {
        !self.is_off.load(Ordering::SeqCst)
    }

    /// It is to end.
    pub(super) fn end(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.changed.notify(usize::MAX);
    }

    /// Ends it, and waits until it has.
    pub(super) async fn stop(&self) {
        self.end();
        loop {
            let changed = self.changed.listen();
            if !self.is_running.load(Ordering::SeqCst) {
                return;
            }
            changed.await;
        }
    }

    /// Ready when it is to end.
    async fn stopped(&self) {
        loop {
            let changed = self.changed.listen();
            if self.is_stopped.load(Ordering::SeqCst) {
                return;
            }
            changed.await;
        }
    }
}

/// What was tried, and when it is tried again.
struct Attempt {
    not_before: Duration,
    pause: Duration,
    was_told: bool,
}

/// Not running any more, however it ended.
struct Running<'a>(&'a Repairer);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.is_running.store(false, Ordering::SeqCst);
        self.0.changed.notify(usize::MAX);
    }
}

/// Repairs what is noted, until it is stopped, or the server is gone.
async fn run(follower: Weak<Follower>, repairer: Arc<Repairer>) {
    let _running = Running(&repairer);
    future::or(repair_all(follower), repairer.stopped()).await;
}

async fn repair_all(weak: Weak<Follower>) {
    let mut attempts: HashMap<IndexId, Attempt> = HashMap::new();
    while let Some(follower) = weak.upgrade() {
        let (engine, clock) = (&follower.engine, follower.env().clock.clone());
        let (noted, changed) = (engine.listen_for_damage(), follower.repairer.changed.listen());
        let damage = if follower.repairer.is_on() { engine.damage() } else { Vec::new() };
        let now = clock.monotonic();
        attempts.retain(|index, _| damage.iter().any(|(table, number)| table.def.indexes[*number].id == *index));
        for (table, number) in &damage {
            let first = || Attempt { not_before: now + FIRST_PAUSE, pause: FIRST_PAUSE, was_told: false };
            attempts.entry(table.def.indexes[*number].id).or_insert_with(first);
        }
        let due = damage.iter().find(|(table, number)| {
            attempts.get(&table.def.indexes[*number].id).is_some_and(|attempt| attempt.not_before <= now)
        });
        if let Some((table, number)) = due
            && let Some(attempt) = attempts.get_mut(&table.def.indexes[*number].id)
        {
            attempt.pause = (attempt.pause * 2).min(PAUSE_MAX);
            repair(&follower, table, *number, attempt).await;
            attempt.not_before = clock.monotonic() + attempt.pause;
            continue;
        }
        drop((follower, damage));
        let next = attempts.values().map(|attempt| attempt.not_before).min();
        let pause = async {
            match next {
                Some(next) => clock.sleep(next.saturating_sub(now)).await,
                None => std::future::pending().await,
            }
        };
        future::or(pause, future::or(noted, changed)).await;
    }
}

/// One index; tells how it went.
async fn repair(follower: &Arc<Follower>, table: &Arc<Table>, number: usize, attempt: &mut Attempt) {
    let engine = &follower.engine;
    if number == 0 && !engine.is_follower() {
        if !attempt.was_told {
            let name = table.full_name();
            tracing::error!(
                "rows of {name} cannot be read, and this server copies nobody who has them: REPAIR TABLE {name} FROM 'mysql://…' \
                 takes them from a server that copies this one"
            );
        }
        attempt.was_told = true;
        return;
    }
    let source = SourceRows(follower.clone());
    let result = engine.repair_index(table, number, &SessionHandle::internal(), &source).await;
    let index = &table.def.indexes[number].name;
    let name = table.full_name();
    match result {
        // Somebody has met what passes, or has read an older state.
        Ok(None) => tracing::info!("index {index} of {name} can be read"),
        Ok(Some(IndexRepair { damage, result: Ok(from) })) => {
            let (count, ranges) = (damage.count, damage.ranges.len());
            tracing::warn!(
                "index {index} of {name} is repaired: {count} pages or values in {ranges} ranges, from {from}"
            );
        }
        Ok(Some(IndexRepair { result: Err(error), .. })) | Err(error) => {
            let pause = if error.class() == ErrorClass::Retry { FIRST_PAUSE } else { attempt.pause };
            attempt.pause = pause;
            tracing::warn!("index {index} of {name} could not be repaired: {error}; the next attempt is in {pause:?}");
        }
    }
}

impl Follower {
    /// Whether this server repairs itself.
    pub fn repairer(&self) -> &Arc<Repairer> {
        &self.repairer
    }

    /// Begins to repair what is noted; after recovery.
    pub fn start_repairer(self: &Arc<Self>) {
        if self.repairer.is_running.swap(true, Ordering::SeqCst) {
            return;
        }
        let task = run(Arc::downgrade(self), self.repairer.clone());
        self.env().spawner.spawn("repairer", Box::pin(task));
    }
}
