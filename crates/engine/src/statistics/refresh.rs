//! The refresher: collects statistics again that are used and outdated.
//!
//! It looks every [`PERIOD`] at the tables of which statistics are known, in the order of their ids, and takes those of which a tenth has
//! changed since, as MySQL does, or whose ANALYZE was in the log. After each it rests for [`REST`] times what that took, so it costs a tenth of a core at most, and collecting
//! itself gives way to others ([`io::ThreadTurn`]). Time is the environment's: in the simulation it is one more task of the seed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_lite::future;

use super::{CHANGED_PART, is_other};
use crate::catalog::{Table, table_option};
use crate::core::Core;

const PERIOD: Duration = Duration::from_secs(10);
const REST: u32 = 9;

/// Runs until the engine goes.
pub(crate) async fn refresh(core: Weak<Core>) {
    loop {
        let Some(upgraded) = core.upgrade() else { return };
        let clock = upgraded.env.clock.clone();
        let due = clock.monotonic() + PERIOD;
        drop(upgraded);
        while let Some(left) = due.checked_sub(clock.monotonic()).filter(|left| !left.is_zero()) {
            let Some(upgraded) = core.upgrade() else { return };
            let ended = upgraded.checkpoints.want.listen();
            if upgraded.checkpoints.stopped.load(Ordering::SeqCst) {
                return;
            }
            drop(upgraded);
            future::or(clock.sleep(left), ended).await;
        }
        let Some(upgraded) = core.upgrade() else { return };
        upgraded.refresh_all().await;
    }
}

impl Core {
    async fn refresh_all(&self) {
        let catalog = self.catalog.load_full();
        for table in catalog.all_tables().filter(|table| self.is_outdated(table)) {
            if self.check_running().is_err() || self.checkpoints.stopped.load(Ordering::SeqCst) {
                return;
            }
            let began = self.env.clock.monotonic();
            if let Err(error) = self.analyze(table).await {
                tracing::warn!("statistics of {}: {error}", table.full_name());
                return;
            }
            let took = self.env.clock.monotonic().saturating_sub(began);
            self.env.clock.sleep(took * REST).await;
        }
    }

    fn is_outdated(&self, table: &Arc<Table>) -> bool {
        if table.shared.statistics.is_wanted.swap(false, Ordering::Relaxed) {
            return true;
        }
        let recalc = match table_option(&table.def, "STATS_AUTO_RECALC") {
            Some("0") => false,
            Some("1") => true,
            _ => self.tunables.refreshes_statistics(),
        };
        recalc
            && table.known_statistics().is_some_and(|known| {
                let changes = table.changes().saturating_sub(known.changes);
                is_other(known.rows, self.rows_of(table), changes, CHANGED_PART)
            })
    }
}
