//! What a channel does at the moment: its receiver, its workers, and the transactions between them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Gtid, UnixMicros};
use binlog::MariaGtidName;
use binlog::event::TableMap;
use parking_lot::Mutex;
use sql::services::{ChannelWork, DomainCrossing, Parallelism, Retries, TimedTransaction, Worker, WorkerState};

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
    applied: Option<Attempts>,
    applying: Option<Attempts>,
    state: WorkerState,
}

/// A transaction of a worker.
#[derive(Clone)]
struct Attempts {
    transaction: Timed,
    retries: Retries,
}

/// A transaction, and when what is done with it began and ended.
#[derive(Clone, Copy)]
struct Timed {
    head: Head,
    start: UnixMicros,
    end: UnixMicros,
}

/// Transactions that somebody takes and passes on, one by one.
#[derive(Default)]
pub(super) struct Passage {
    taken: Option<Timed>,
    passed_on: Option<Timed>,
}

impl Passage {
    pub(super) fn takes(&mut self, head: Head, now: UnixMicros) {
        self.taken = Some(Timed { head, start: now, end: UnixMicros(0) });
    }

    /// Whether there is one that has not been passed on.
    pub(super) fn has_one(&self) -> bool {
        self.taken.is_some()
    }

    pub(super) fn passes_on(&mut self, now: UnixMicros) {
        if let Some(taken) = self.taken.take() {
            self.passed_on = Some(Timed { end: now, ..taken });
        }
    }

    /// What was taken comes again, if at all.
    pub(super) fn drops(&mut self) {
        self.taken = None;
    }
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
        let is_same = |before: &Attempts| before.retries.count > 0 && before.transaction.head.gtid == head.gtid;
        let retries = doing.applying.take().filter(is_same).map_or_else(Retries::default, |before| before.retries);
        doing.applying = Some(Attempts { transaction: Timed { head, start: now, end: UnixMicros(0) }, retries });
        doing.state = WorkerState::Executing;
    }

    /// It executes, or waits for its turn.
    pub(super) fn enters(&self, state: WorkerState) {
        self.doing.lock().state = state;
    }

    /// It begins the transaction again, because of an error.
    pub(super) fn tries_again(&self, code: u16, message: &str, now: UnixMicros) {
        if let Some(applying) = &mut self.doing.lock().applying {
            applying.retries.count += 1;
            applying.retries.error = Some((code, message.to_owned(), now));
        }
    }

    /// Its transaction has its place in our log, if it had one.
    pub(super) fn ends(&self, now: UnixMicros) {
        let mut doing = self.doing.lock();
        if let Some(mut applied) = doing.applying.take() {
            applied.transaction.end = now;
            doing.applied = Some(applied);
        }
        doing.state = WorkerState::Idle;
    }

    fn shown(&self, is_running: bool) -> Worker {
        let doing = self.doing.lock();
        let transaction = |of: &Option<Attempts>| of.as_ref().map(|of| of.transaction.shown());
        let retries = |of: &Option<Attempts>| of.as_ref().map_or_else(Retries::default, |of| of.retries.clone());
        let table = self.progress.table.lock();
        Worker {
            is_running,
            applied: transaction(&doing.applied),
            applied_retries: retries(&doing.applied),
            applying: transaction(&doing.applying),
            applying_retries: retries(&doing.applying),
            state: doing.state,
            table: table.as_ref().map(|map| (map.schema.clone(), map.table.clone())),
            row_events: self.progress.row_events.load(Ordering::Relaxed),
        }
    }
}

impl Timed {
    fn shown(&self) -> TimedTransaction {
        let Head { gtid, original_commit, immediate_commit, .. } = self.head;
        let name = name_of(gtid);
        TimedTransaction { name, original_commit, immediate_commit, start: self.start, end: self.end }
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

    /// How often a transaction was begun again since the server started.
    pub fn retried(&self) -> u64 {
        self.all_retries.load(Ordering::Relaxed)
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
            filters: self.shown_filters(),
            ..ChannelWork::default()
        };
        {
            let state = self.state.lock();
            (work.heartbeats, work.last_heartbeat) = state.heartbeats;
            work.queueing = state.queued.taken.as_ref().map(Timed::shown);
            work.last_queued = state.queued.passed_on.as_ref().map(Timed::shown);
            work.buffering = state.buffered.taken.as_ref().map(Timed::shown);
            work.last_buffered = state.buffered.passed_on.as_ref().map(Timed::shown);
            work.receiver_error = state.io_error.as_ref().map_or(UnixMicros(0), |(_, at)| *at);
            work.applier_error = state.sql_error.as_ref().map_or(UnixMicros(0), |(_, at)| *at);
        }
        if let Some(run) = run {
            work.workers = run.workers.iter().map(|worker| worker.shown(is_running)).collect();
            work.alone = run.alone.shown(is_running);
            work.queue = run.pool.as_ref().map_or_else(Vec::new, |pool| pool.shown());
        }
        Some(work)
    }
}
