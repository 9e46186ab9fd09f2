//! GTIDs that count as executed here without a transaction in this log: a dump was loaded that says which it holds
//! (`SET GLOBAL gtid_purged`).
//!
//! ```text
//!  binlog.000007            binlog.000008              binlog.000009
//!  | … transactions … |     | 000007's GTIDs |         | 000007's GTIDs, and the added ones | … |
//! ```
//! The log says so itself, by the heads of its files: one without a transaction, and the next one, which knows more to be
//! executed before it. So there is one file, and one moment, from which on they count, for whoever opens the log and for every
//! copy of it; after a crash before that file is durable they never did.

use io::IoMode;

use super::writer::LogWriter;
use crate::error::{BinlogError, Result};
use crate::gtid_set::GtidSet;

/// What a file adds to the GTIDs, given those before the file before it, if that one has no transaction.
pub(crate) fn added(empty_after: Option<&GtidSet>, previous: &GtidSet) -> GtidSet {
    let Some(before) = empty_after else { return GtidSet::new() };
    let mut added = previous.clone();
    added.subtract(before);
    added
}

impl LogWriter {
    /// Lets GTIDs count as executed, durably. They must not be yet.
    ///
    /// # Errors
    /// When the log cannot go on in a new file; they do not count then.
    #[io::boxed]
    pub async fn add_purged(&mut self, gtids: &GtidSet) -> Result<()> {
        assert!(gtids.is_disjoint(&self.placed_gtids), "what is added was not executed");
        self.begin_next().await?;
        self.to_add = gtids.clone();
        self.begin_next().await
    }

    /// Goes on in the next file, now.
    async fn begin_next(&mut self) -> Result<()> {
        let before = self.position().file;
        let begun = match self.rotate().await {
            Ok(()) => self.flush(IoMode::Offload).await,
            Err(error) => Err(error),
        };
        if self.position().file == before {
            self.stay();
            return begun.and(Err(BinlogError::Full("the next file is too small for what is reserved".to_owned())));
        }
        begun
    }
}
