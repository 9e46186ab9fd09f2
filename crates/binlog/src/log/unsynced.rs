//! The file `NAME.unsynced`: it is there while groups may be acknowledged that are not synced (`sync_binlog` other than 1).
//!
//! Recovery has to tell lost writes from damage. If every group is synced, only the last few can have been lost, and valid
//! transactions far behind a hole say that the hole is damage. Without syncs the system may have written any of the file
//! before any other, and everything behind a hole may be cut away. A setting of the next start does not know how the
//! last life ended, or that it was changed in its middle; this file does.
//!
//! ```text
//! ./binlog.000012:4567        everything before this position was synced
//! ```
//!
//! # Invariants
//! - No group is left unsynced before the file is durable: until the keeper has made it, groups are synced after all.
//! - The file goes only when everything is synced, and every group is from then on.

use base::LogPosition;
use io::Env;

use super::{BinaryLog, LogOptions, folder, index};
use crate::error::Result;

/// Whether the file is there, and is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) wanted: bool,
    pub(crate) made: bool,
}

impl BinaryLog {
    /// Whether a group may be acknowledged without a sync. The first time it may not, and the background task makes that
    /// possible.
    pub fn may_leave_unsynced(&self) -> bool {
        let Marker { wanted, made } = {
            let mut state = self.keeper.state.lock();
            let before = state.marker;
            state.marker.wanted = true;
            before
        };
        if !wanted {
            self.keeper.wake();
        }
        made
    }

    /// Everything in the log is synced, and every group will be, until [`BinaryLog::may_leave_unsynced`] is asked again.
    pub fn syncs_everything(&self) {
        self.keeper.state.lock().marker.wanted = false;
        self.keeper.wake();
    }

    pub(super) async fn make_marker(&self) -> Result<()> {
        let end = self.durable_end();
        let name = name(&self.options);
        let text = format!("./{}:{}\n", index::file_name(&self.options.basename, end.file), end.offset);
        folder::replace(&self.env, &name, text.as_bytes()).await
    }

    pub(super) async fn remove_marker(&self) -> Result<()> {
        folder::remove(&self.env, &name(&self.options)).await
    }
}

fn name(options: &LogOptions) -> String {
    format!("{}.unsynced", options.basename)
}

/// What the last life has left: the position up to which it had synced everything; `None` if it had synced all.
pub(super) async fn read(env: &Env, options: &LogOptions) -> Result<Option<LogPosition>> {
    let name = name(options);
    let Some(bytes) = folder::read(env, &name).await? else { return Ok(None) };
    let position = std::str::from_utf8(&bytes).ok().and_then(|text| parse(text, options));
    if position.is_none() {
        tracing::warn!("{name} does not hold a position: everything behind the checkpoint may be unsynced");
    }
    Ok(Some(position.unwrap_or_default()))
}

fn parse(text: &str, options: &LogOptions) -> Option<LogPosition> {
    let (file, offset) = text.trim().strip_prefix("./")?.rsplit_once(':')?;
    Some(LogPosition::new(index::file_number(&options.basename, file)?, offset.parse().ok()?))
}
