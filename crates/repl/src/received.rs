//! How parallel a source was, counted from the log that is received from it: for a copy and for what is executed alike.

use std::sync::atomic::{AtomicU64, Ordering};

use binlog::event::MariaGtid;
use binlog::{GtidEvent, IntervalCounters, ModifiedIntervals};
use sql::services::Parallelism;

/// Transactions that were received since the server started; any number of threads may look.
#[derive(Debug, Default)]
pub(crate) struct ReceivedCounters {
    transactions: AtomicU64,
    intervals: IntervalCounters,
    /// Of a MariaDB: those with one commit id are one.
    commit_groups: AtomicU64,
}

impl ReceivedCounters {
    /// As far as the log says it.
    pub(crate) fn figures(&self) -> Parallelism {
        Parallelism {
            received: self.transactions.load(Ordering::Relaxed),
            intervals: self.intervals.figures(),
            commit_groups: self.commit_groups.load(Ordering::Relaxed),
            ..Parallelism::default()
        }
    }
}

/// What one connection's stream has said so far.
#[derive(Debug, Default)]
pub(crate) struct ReceivedLog {
    intervals: ModifiedIntervals,
    commit_id: Option<u64>,
}

impl ReceivedLog {
    /// A file of the source's begins.
    pub(crate) fn begin_file(&mut self) {
        self.intervals.begin_file();
    }

    /// A transaction of a MySQL's begins, or of a server of ours.
    pub(crate) fn count(&mut self, gtid: &GtidEvent, counters: &ReceivedCounters) {
        counters.transactions.fetch_add(1, Ordering::Relaxed);
        let numbers = (u64::try_from(gtid.last_committed), u64::try_from(gtid.sequence_number));
        // A MySQL 5.6 has none.
        if let (Ok(last_committed), Ok(number @ 1..)) = numbers {
            counters.intervals.add(self.intervals.next(last_committed, number));
        }
    }

    /// The same of a MariaDB.
    pub(crate) fn count_maria(&mut self, gtid: &MariaGtid, counters: &ReceivedCounters) {
        counters.transactions.fetch_add(1, Ordering::Relaxed);
        if gtid.commit_id.is_none() || gtid.commit_id != self.commit_id {
            counters.commit_groups.fetch_add(1, Ordering::Relaxed);
        }
        self.commit_id = gtid.commit_id;
    }
}
