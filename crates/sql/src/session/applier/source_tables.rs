//! Temporary tables of a source's connections, which the statements of its log make and use.
//!
//! Each connection there has tables of its own, under names that others may use as well. An event says by whom its statement was run: a
//! server and a thread of it. A session that executes the log has the tables of that thread for as long as a transaction of the
//! source lasts.
//!
//! ```text
//!   statement ── not in a group ──┬── the thread's tables ── run ── kept for the next
//!             └─ in a group ──────┘                           └──── kept when the group has its place in our log,
//!                                                                   as they were when it is begun again
//! ```
//! # Invariants
//! - What is kept is as of the last transaction of the source that was executed: one that comes again finds what it found before.
//! - Nothing of it is on the disk. Like those of MySQL's replicas, they outlive STOP REPLICA and not this server.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::session::temporary::{TablesByName, TemporaryTables};

/// A connection of a source, or of a source of that: a server's id and a thread's number there.
pub(super) type SourceThread = (u32, u32);

/// The temporary tables of all connections of a source: of a channel.
#[derive(Default)]
pub struct SourceTables(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    by_thread: BTreeMap<SourceThread, TablesByName>,
    /// The file that the source began when it was last started, as far as it is known, and when.
    start: Option<(String, u32)>,
}

impl SourceTables {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.lock().by_thread.values().map(BTreeMap::len).sum()
    }

    /// Drops all of them.
    pub fn clear(&self) {
        let gone = std::mem::take(&mut *self.0.lock());
        drop(gone);
    }

    /// A file of the source's log says when it was started (0 if it was going on then). What its connections had is gone with them, and
    /// it may have had no time to say so. The same file may be received again.
    fn started(&self, file: &str, created: u32) {
        let mut kept = self.0.lock();
        let is_known = kept.start.as_ref().is_some_and(|(known, at)| (known.as_str(), *at) == (file, created));
        if created == 0 || is_known {
            return;
        }
        let gone = std::mem::take(&mut kept.by_thread);
        kept.start = Some((file.to_owned(), created));
        drop(kept);
        if !gone.is_empty() {
            tracing::info!("the source was started again: temporary tables of {} of its connections go", gone.len());
        }
    }

    fn of(&self, thread: SourceThread) -> TablesByName {
        self.0.lock().by_thread.get(&thread).cloned().unwrap_or_default()
    }

    fn keep(&self, thread: SourceThread, tables: TablesByName) {
        let mut kept = self.0.lock();
        let before = match tables.is_empty() {
            true => kept.by_thread.remove(&thread),
            false => kept.by_thread.insert(thread, tables),
        };
        drop(kept);
        drop(before);
    }
}

/// What an applier has of them.
#[derive(Default)]
pub(super) struct ThreadTables {
    all: Arc<SourceTables>,
    /// Whose tables are the session's now.
    thread: Option<SourceThread>,
}

impl ThreadTables {
    pub(super) fn new(all: Arc<SourceTables>) -> Self {
        ThreadTables { all, thread: None }
    }

    /// The log that is executed goes on in a file; see [`SourceTables`]. `created` is what its FORMAT_DESCRIPTION says.
    pub(super) fn file_begins(&self, file: &str, created: u32) {
        self.all.started(file, created);
    }

    /// The session's tables become those of the connection that has run the statement there.
    pub(super) fn enter(&mut self, thread: SourceThread, own: &mut TemporaryTables) {
        if self.thread == Some(thread) {
            return;
        }
        // A group is one connection's; should it be of two, each has its own all the same.
        self.keep(own);
        own.replace(self.all.of(thread));
        self.thread = Some(thread);
    }

    /// Whether any connection of the source has temporary tables.
    pub(super) fn are_there(&self) -> bool {
        self.all.count() > 0
    }

    /// What was executed has its place in our log.
    pub(super) fn keep(&mut self, own: &mut TemporaryTables) {
        if let Some(thread) = self.thread.take() {
            self.all.keep(thread, own.replace(BTreeMap::new()));
        }
    }

    /// What was begun comes again: it is to find what it found before.
    pub(super) fn forget(&mut self, own: &mut TemporaryTables) {
        if self.thread.take().is_some() {
            own.replace(BTreeMap::new());
        }
    }
}
