//! What a channel does at the moment: its receiver, its workers, and the transactions between them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Gtid, UnixMicros};
use binlog::MariaGtidName;
use binlog::event::TableMap;
use parking_lot::Mutex;
use sql::services::{ChannelWork, DomainCrossing, Parallelism, TimedTransaction, Worker, WorkerState};

use super::Replica;
use super::parallel::{Crossing, Head};

/// What a worker tells of itself.
#[derive(Default)]
pub(super) struct WorkerStatus {
    doing: Mutex<Doing>,
    progress: Arc<Progress>,
}

#[derive(Default)]
struct Doing {
    applied: Option<Done>,
    applying: Option<Done>,
    state: WorkerState,
}

/// A transaction of a worker.
#[derive(Clone, Copy)]
struct Done {
    head: Head,
    start: UnixMicros,
    end: UnixMicros,
    retries: u64,
}

/// What an executor has applied.
#[derive(Default)]
pub(super) struct Progress {
    table: Mutex<Option<Arc<TableMap>>>,
    row_events: AtomicU64,
}

impl Progress {
    pub(super) fn applied(&self, table: &Arc<TableMap>) {
        let mut last = self.table.lock();
        if !last.as_ref().is_some_and(|last| Arc::ptr_eq(last, table)) {
            *last = Some(table.clone());
        }
        self.row_events.fetch_add(1, Ordering::Relaxed);
    }
}

impl WorkerStatus {
    pub(super) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    pub(super) fn begins(&self, head: Head, now: UnixMicros) {
        let mut doing = self.doing.lock();
        doing.applying = Some(Done { head, start: now, end: UnixMicros(0), retries: 0 });
        doing.state = WorkerState::Executing;
    }

    /// It executes, or waits for its turn.
    pub(super) fn enters(&self, state: WorkerState) {
        self.doing.lock().state = state;
    }

    pub(super) fn tries_again(&self) {
        self.doing.lock().applying.iter_mut().for_each(|applying| applying.retries += 1);
    }

    pub(super) fn ends(&self, now: UnixMicros) {
        let mut doing = self.doing.lock();
        doing.applied = doing.applying.take().map(|applying| Done { end: now, ..applying });
        doing.state = WorkerState::Idle;
    }

    fn shown(&self, is_running: bool) -> Worker {
        let doing = self.doing.lock();
        let retries = |done: &Option<Done>| done.map_or(0, |done| done.retries);
        let table = self.progress.table.lock();
        Worker {
            is_running,
            applied: doing.applied.as_ref().map(Done::shown),
            applied_retries: retries(&doing.applied),
            applying: doing.applying.as_ref().map(Done::shown),
            applying_retries: retries(&doing.applying),
            state: doing.state,
            table: table.as_ref().map(|map| (map.schema.clone(), map.table.clone())),
            row_events: self.progress.row_events.load(Ordering::Relaxed),
        }
    }
}

impl Done {
    fn shown(&self) -> TimedTransaction {
        TimedTransaction { start: self.start, end: self.end, ..timed(&self.head) }
    }
}

/// A transaction as its first event describes it.
fn timed(head: &Head) -> TimedTransaction {
    TimedTransaction {
        name: name_of(head.gtid),
        original_commit: head.original_commit,
        immediate_commit: head.immediate_commit,
        ..TimedTransaction::default()
    }
}

/// As its source writes it.
pub(super) fn name_of(gtid: Option<Gtid>) -> String {
    match gtid.map(|gtid| (gtid, MariaGtidName::of(gtid))) {
        None => "ANONYMOUS".to_owned(),
        Some((_, Some(name))) => name.to_string(),
        Some((gtid, None)) => gtid.to_string(),
    }
}

/// Pairs of domains and their tables that are remembered.
const CROSSINGS_MAX: usize = 256;

impl Replica {
    /// Tells that domains are not as independent as their source says: in the log when it is the first time for these tables, and then at
    /// every tenfold count.
    pub(super) fn tell_crossing(
        &self,
        crossing: Crossing,
        gtid: Option<Gtid>,
        tables: &[(String, String)],
        now: UnixMicros,
    ) {
        let tables: Vec<String> = tables.iter().map(|(schema, table)| format!("{schema}.{table}")).collect();
        let tables = tables.join(",");
        let Crossing { domain, other_domain, other } = crossing;
        let (transaction, other) = (name_of(gtid), name_of(other));
        let mut known = self.crossings.lock();
        let is_same =
            |one: &DomainCrossing| (one.domain, one.other_domain) == (domain, other_domain) && one.tables == tables;
        let at = known.iter().position(is_same).unwrap_or_else(|| {
            if known.len() >= CROSSINGS_MAX {
                known.remove(0);
            }
            known.push(DomainCrossing { domain, other_domain, tables: tables.clone(), ..DomainCrossing::default() });
            known.len() - 1
        });
        let entry = &mut known[at];
        entry.count += 1;
        (entry.transaction, entry.other, entry.last) = (transaction, other, now);
        if entry.count == 10u64.pow(entry.count.ilog10()) {
            tracing::warn!(
                "{}: domains {domain} and {other_domain} are not independent: {} touches rows of {} in {tables}; {} such transactions so far",
                self.title(),
                entry.transaction,
                entry.other,
                entry.count
            );
        }
    }

    /// How parallel its source was, and it is.
    pub fn parallelism(&self) -> Parallelism {
        Parallelism { mode: self.state.lock().mode, ..self.parallel.figures(self.received.figures()) }
    }

    /// What it does; `None` if it has no source.
    pub fn work(&self) -> Option<ChannelWork> {
        let settings = self.source.get()?;
        let (run, is_running) = {
            let state = self.state.lock();
            (state.run.upgrade(), state.executes && state.parts > 0)
        };
        let mut work = ChannelWork {
            channel: settings.channel.clone(),
            heartbeat_period: settings.heartbeat_period_seconds,
            retries: self.all_retries.load(Ordering::Relaxed),
            crossings: self.crossings.lock().clone(),
            lag: self.lag(self.follower.env().clock.now()),
            parallelism: self.parallelism(),
            ..ChannelWork::default()
        };
        {
            let state = self.state.lock();
            (work.heartbeats, work.last_heartbeat) = state.heartbeats;
            work.last_queued = state.last_queued.as_ref().map(timed);
            work.receiver_error = state.io_error.as_ref().map_or(UnixMicros(0), |(_, at)| *at);
            work.applier_error = state.sql_error.as_ref().map_or(UnixMicros(0), |(_, at)| *at);
        }
        if let Some(run) = run {
            work.workers = run.workers.iter().map(|worker| worker.shown(is_running)).collect();
            work.last_dispatched = run.pool.as_ref().and_then(|pool| pool.last()).as_ref().map(timed);
            work.queue = run.pool.as_ref().map_or_else(Vec::new, |pool| pool.shown());
        }
        Some(work)
    }
}
