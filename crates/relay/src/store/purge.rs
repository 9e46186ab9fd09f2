//! Purge: the oldest files go, by age and by size.

use std::sync::Arc;
use std::time::Duration;

use binlog::BinlogError;

use super::{State, Store};
use crate::error::io_error;

/// What is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PurgePolicy {
    /// A file goes so long after the source has closed it.
    pub(crate) expire: Option<Duration>,
    /// The oldest files go while all together are larger.
    pub(crate) space: Option<u64>,
}

impl Store {
    /// Removes what the policy does not keep; the names that went.
    ///
    /// # Errors
    /// When the index cannot be written, or a file not removed: it is gone from the log nevertheless.
    pub(crate) async fn purge(&self, policy: PurgePolicy) -> Result<Vec<Arc<str>>, BinlogError> {
        let now = (self.env.clock.now().0 / 1_000_000) as u32;
        let _index = self.index.take().await;
        let (gone, left) = {
            let mut state = self.state.lock();
            let count = purgeable(&state, policy, now);
            let gone: Vec<Arc<str>> = state.files.drain(..count).map(|file| file.name).collect();
            (gone, state.files.iter().map(|file| file.name.clone()).collect::<Vec<_>>())
        };
        if gone.is_empty() {
            return Ok(gone);
        }
        self.write_index(&left).await?;
        for name in &gone {
            self.env.disk.remove(name).await.map_err(|error| io_error("remove", name, &error))?;
        }
        Ok(gone)
    }
}

/// How many of the oldest files may go.
fn purgeable(state: &State, policy: PurgePolicy, now: u32) -> usize {
    let first_read = state.pins.values().min().copied().unwrap_or(u64::MAX);
    let mut left: u64 = state.files.iter().map(|file| file.size).sum();
    let mut count = 0;
    // What is behind a file says when that was closed.
    for (file, following) in state.files.iter().zip(state.files.iter().skip(1)) {
        let age = Duration::from_secs(now.saturating_sub(following.begun).into());
        let is_old = following.begun > 0 && policy.expire.is_some_and(|expire| age >= expire);
        let is_too_much = policy.space.is_some_and(|space| left > space);
        if file.number >= first_read || !(is_old || is_too_much) {
            break;
        }
        left -= file.size;
        count += 1;
    }
    count
}
