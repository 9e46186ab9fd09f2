//! The pipeline without an engine, on the simulated disk.

mod faults;
mod groups;
mod many;
mod order;
mod semi_sync;
mod unsynced;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::LogPosition;
use binlog::event::QueryEvent;
use binlog::{BinaryLog, EncodedTransaction, EncoderOptions, LogOptions, OpenAs, QueryContext, TransactionEncoder};
use event_listener::Event;
use io::Env;
use io::sim::SimMachine;
use parking_lot::Mutex;

use super::*;

/// Checks order as it is told of it.
#[derive(Default)]
pub(super) struct Witness(Mutex<Seen>);

#[derive(Default)]
pub(super) struct Seen {
    /// Payloads in the order of their places.
    pub(super) prepared: Vec<u64>,
    pub(super) last_prepared: Option<Place>,
    pub(super) published: CommitNumber,
    pub(super) failures: usize,
    /// Called when a transaction gets its place, while its group is formed.
    pub(super) on_prepare: Option<Box<dyn FnMut(u64) + Send>>,
}

impl CommitEnv for Arc<Witness> {
    type Payload = u64;

    fn prepare_ordered(&self, payload: &mut u64, place: &Place) {
        let mut seen = self.0.lock();
        if let Some(last) = seen.last_prepared {
            assert_eq!(place.commit_number, last.commit_number.next());
            assert!(place.start >= last.end && place.commit_time >= last.commit_time);
        }
        assert!(place.last_committed < place.sequence_number);
        seen.prepared.push(*payload);
        if let Some(on_prepare) = &mut seen.on_prepare {
            on_prepare(*payload);
        }
        seen.last_prepared = Some(*place);
    }

    fn commit_ordered(&self, last: &Place) {
        let mut seen = self.0.lock();
        assert!(last.commit_number > seen.published, "published twice or out of order");
        assert!(seen.last_prepared.is_some_and(|prepared| prepared.commit_number >= last.commit_number));
        assert_eq!(seen.failures, 0);
        seen.published = last.commit_number;
    }

    fn failed(&self, _error: &CommitError) {
        self.0.lock().failures += 1;
    }
}

impl Witness {
    pub(super) fn on_prepare(&self, hook: impl FnMut(u64) + Send + 'static) {
        self.0.lock().on_prepare = Some(Box::new(hook));
    }

    pub(super) fn look<T>(&self, at: impl FnOnce(&Seen) -> T) -> T {
        at(&self.0.lock())
    }
}

pub(super) struct Bench {
    pub(super) env: Env,
    pub(super) pipeline: Pipeline<Arc<Witness>>,
    pub(super) witness: Arc<Witness>,
}

pub(super) fn small_files() -> LogOptions {
    LogOptions { max_binlog_size: 16 << 10, fill_ahead: 8 << 10, ..LogOptions::default() }
}

/// Opens the log, and a pipeline that goes on after `last` transactions.
pub(super) async fn open(env: Env, options: LogOptions, last: u64) -> Result<Bench, binlog::BinlogError> {
    let opened = BinaryLog::open(env.clone(), options, OpenAs::Source, LogPosition::default()).await?;
    let witness = Arc::<Witness>::default();
    let last = Place::at(CommitNumber(last), opened.writer.position());
    witness.0.lock().published = last.commit_number;
    let settings = CommitSettings::default();
    let pipeline =
        Pipeline::new(witness.clone(), env.clone(), opened.writer, last, settings, SemiSync::new(env.clone()));
    env.spawner.spawn_thread("log", Box::pin(pipeline.clone().run()));
    Ok(Bench { env, pipeline, witness })
}

/// A transaction of some size that changed one row.
pub(super) fn transaction(row: u64, size: usize) -> EncodedTransaction {
    let sql = format!("/* {row} {} */", "x".repeat(size));
    let made = TransactionEncoder::ddl(&EncoderOptions::default(), &QueryContext::default(), &sql, &[], None);
    EncodedTransaction { writeset: vec![row], depends_on_all: false, is_statement: false, ..made.unwrap() }
}

impl Bench {
    /// Commits one transaction, and checks what it is told.
    pub(super) async fn commit(&self, row: u64, size: usize) -> Result<Place, CommitError> {
        self.commit_as(row, size, false).await
    }

    /// The same for one that waits for company.
    pub(super) async fn commit_as(&self, row: u64, size: usize, is_patient: bool) -> Result<Place, CommitError> {
        let had_failed = self.pipeline.failure().is_some();
        let transaction = transaction(row, size);
        let reservation = self.pipeline.reserve(transaction.max_size()).await?;
        let ticket = match is_patient {
            true => self.pipeline.enqueue_patiently(transaction, reservation, row),
            false => self.pipeline.enqueue(transaction, reservation, row),
        };
        let place = ticket.await?;
        self.witness.look(|seen| assert!(seen.published >= place.commit_number, "told before it was visible"));
        assert!(self.pipeline.log().durable_end() >= place.end, "told before it was durable");
        assert!(!had_failed, "told of success after the failure");
        Ok(place)
    }

    /// The counters, read once.
    pub(super) fn counts(&self) -> Counts {
        let stats = self.pipeline.stats();
        let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            commits: read(&stats.commits),
            groups: read(&stats.groups),
            writes: read(&stats.writes),
            syncs: read(&stats.syncs),
            inline: read(&stats.inline_commits),
            overlapped: read(&stats.overlapped),
            gathered: read(&stats.gathered),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) commits: u64,
    pub(super) groups: u64,
    pub(super) writes: u64,
    pub(super) syncs: u64,
    pub(super) inline: u64,
    pub(super) overlapped: u64,
    pub(super) gathered: u64,
}

/// Runs `sessions` tasks and waits for all of them.
pub(super) async fn sessions<F: Future<Output = ()> + Send + 'static>(
    env: &Env,
    sessions: usize,
    mut session: impl FnMut(usize) -> F,
) {
    let left = Arc::new((AtomicUsize::new(sessions), Event::new()));
    for number in 0..sessions {
        let (task, left) = (session(number), left.clone());
        env.spawner.spawn(
            "session",
            Box::pin(async move {
                task.await;
                left.0.fetch_sub(1, Ordering::SeqCst);
                left.1.notify(usize::MAX);
            }),
        );
    }
    loop {
        let done = left.1.listen();
        if left.0.load(Ordering::SeqCst) == 0 {
            return;
        }
        done.await;
    }
}

/// Everything in the log from its first file on: the rows of its transactions, in order.
pub(super) async fn rows_in_log(log: &Arc<BinaryLog>) -> Vec<u64> {
    let first = log.files()[0].number;
    let mut reader = log.reader(LogPosition::new(first, 4));
    let mut rows = Vec::new();
    let mut last: Option<(LogPosition, i64)> = None;
    while let Some(transaction) = reader.next_transaction().await.unwrap() {
        let event = transaction.gtid_event.as_ref().unwrap();
        if let Some((end, sequence)) = last {
            let is_next = transaction.start == end && event.sequence_number == sequence + 1;
            assert!(is_next || (transaction.start.file > end.file && event.sequence_number == 1), "a gap in the log");
        }
        last = Some((transaction.end, event.sequence_number));
        let statement = transaction.events().last().unwrap().unwrap();
        let query = QueryEvent::decode(statement.body()).unwrap();
        let text = std::str::from_utf8(query.sql).unwrap();
        rows.push(text.split(' ').nth(1).unwrap().parse().unwrap());
    }
    rows
}

pub(super) fn machine(seed: u64) -> SimMachine {
    SimMachine::new(seed)
}
