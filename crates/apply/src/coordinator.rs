//! Reads the log, numbers its transactions, and hands them out in batches; does schema changes itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::{CommitNumber, Gtid, LogPosition, UnixMicros, Uuid};
use binlog::event::{QueryEvent, XaStatement};
use binlog::{
    BinlogError, EventType, LargeHead, LogEvent, LogReader, LogTransaction, Next, QueryContext, RawEvent,
    SourcePosition, TransactionTracker,
};
use engine::gate::Passing;
use engine::{DdlText, Engine, PublishPoint};
use event_listener::Event;

use crate::ApplyOptions;
use crate::decode::{Decoder, Staging, excerpt};
use crate::error::{ApplyError, Result};
use crate::follow::StopAt;
use crate::gate::{Gate, Progress};
use crate::queue::Queue;
use crate::stats::Stats;
use crate::worker::{Batch, Content, Job, Shared, work};
use crate::xa::{FirstPhases, RowsOf, Taken};

/// Transactions of a batch.
const BATCH_TRANSACTIONS: usize = 256;
/// A batch is closed when it has so many bytes of log.
const BATCH_BYTES: u64 = 1 << 20;
/// Bytes of log of a batch that is installed in bulk.
const BULK_BYTES: u64 = 2 << 20;
/// Batches under way, per worker: one being installed, and some to make good for differences.
const BATCHES_PER_WORKER: usize = 4;

/// See the module.
pub(crate) struct Coordinator {
    shared: Arc<Shared>,
    reader: LogReader,
    stats: Arc<Stats>,
    next: CommitNumber,
    taken: Vec<Taken>,
    /// Up to the last that was taken.
    first_phases: FirstPhases,
    taken_bytes: u64,
    batches_max: usize,
    /// Nobody reads before the end.
    in_bulk: bool,
    until: Option<Box<dyn StopAt>>,
    /// The next transaction is not to be taken.
    is_at_the_end: bool,
    /// So long after its commit a transaction is taken.
    delay: Duration,
    /// One that was read, and when it is to be taken.
    held: Option<(Next, UnixMicros)>,
    workers_left: Arc<(AtomicUsize, Event)>,
}

/// What became of a large transaction.
enum Large {
    Installed,
    NotRows,
}

impl Coordinator {
    /// Goes on after a transaction that ends at `position`. Starts the workers.
    pub(crate) fn start(
        engine: &Arc<Engine>,
        (last, position): (CommitNumber, LogPosition),
        options: ApplyOptions,
        stats: Arc<Stats>,
    ) -> Self {
        let spawner = &engine.env().spawner;
        let workers = if options.workers == 0 { spawner.parallelism() } else { options.workers };
        let shared =
            Arc::new(Shared { engine: engine.clone(), gate: Gate::new(engine.clone(), last), queue: Queue::new() });
        let workers_left = Arc::new((AtomicUsize::new(workers), Event::new()));
        for number in 0..workers {
            let (shared, left) = (shared.clone(), workers_left.clone());
            spawner.spawn_thread(&format!("apply-{number}"), Box::pin(work(shared, left)));
        }
        Coordinator {
            reader: engine.log().reader(position).without_verification(),
            shared,
            stats,
            next: last.next(),
            taken: Vec::new(),
            first_phases: FirstPhases::of(engine),
            taken_bytes: 0,
            batches_max: workers * BATCHES_PER_WORKER,
            in_bulk: !options.readers,
            until: None,
            is_at_the_end: false,
            delay: Duration::ZERO,
            held: None,
            workers_left,
        }
    }

    /// It is to take nothing from some place on. Not in bulk.
    pub(crate) fn stop_at(&mut self, until: Option<Box<dyn StopAt>>) {
        self.until = until;
    }

    /// It is to take nothing before so long after its commit (SOURCE_DELAY). Not in bulk.
    pub(crate) fn delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    /// When the next transaction is to be taken, if it is to be taken later.
    pub(crate) fn due(&self) -> Option<UnixMicros> {
        self.held.as_ref().map(|(_, due)| *due)
    }

    /// Whether it has come there.
    pub(crate) fn has_reached_its_end(&self) -> bool {
        self.is_at_the_end
    }

    /// Where the next transaction is read from.
    pub(crate) fn position(&self) -> LogPosition {
        self.reader.position()
    }

    /// The last transaction that was taken, and up to where the log was read behind it; `None` while a transaction is held that is to be taken
    /// later.
    pub(crate) fn read_to(&self) -> Option<(CommitNumber, LogPosition)> {
        let last = CommitNumber(self.next.0.saturating_sub(1));
        self.held.is_none().then(|| (last, self.reader.position()))
    }

    /// Of the transaction at which the reader stands.
    fn reading(&self, error: BinlogError) -> ApplyError {
        ApplyError::reading(self.reader.position(), error)
    }

    fn named(&self, error: ApplyError) -> ApplyError {
        error.named(self.shared.engine.log())
    }

    /// Whether the transaction with this name, or any with `None`, is behind the place where it is to stop.
    fn stops_before(&mut self, gtid: Option<Gtid>, at: LogPosition) -> bool {
        let Some(until) = &mut self.until else { return false };
        self.is_at_the_end = until.is_reached(at) || gtid.is_some_and(|gtid| until.stops_before(gtid));
        if let (false, Some(gtid)) = (self.is_at_the_end, gtid) {
            until.applied(gtid);
        }
        self.is_at_the_end
    }

    /// Reads the next transaction; `None` at the durable end, and if it is to be taken later.
    async fn read_next(&mut self) -> Result<Option<Next>> {
        let now = self.shared.engine.env().clock.now();
        let memory = self.shared.engine.options().install_memory_bytes as u64;
        let (next, due) = match self.held.take() {
            Some(held) => held,
            None => {
                let next = self.reader.next_up_to(memory).await;
                let Some(next) = next.map_err(|error| self.reading(error))? else { return Ok(None) };
                let head = match &next {
                    Next::Whole(transaction) => transaction.gtid_event.as_ref(),
                    Next::Large(head) => Some(&head.gtid_event),
                };
                let committed = head.map_or(0, |head| head.immediate_commit_time.0);
                (next, UnixMicros(committed.saturating_add(self.delay.as_micros() as u64)))
            }
        };
        if !self.delay.is_zero() && due > now {
            self.held = Some((next, due));
            return Ok(None);
        }
        Ok(Some(next))
    }

    /// Takes the next transaction from the log; false at its durable end, where it is to stop, and if it is to be taken later.
    pub(crate) async fn take_next(&mut self) -> Result<bool> {
        self.shared.gate.check()?;
        if self.is_at_the_end || (self.held.is_none() && self.stops_before(None, self.reader.position())) {
            return Ok(false);
        }
        if self.in_bulk && self.take_bulk().await? {
            return Ok(true);
        }
        let Some(next) = self.read_next().await? else { return Ok(false) };
        let (gtid, start) = match &next {
            Next::Whole(transaction) => (transaction.gtid(), transaction.start),
            Next::Large(head) => (head.gtid_event.gtid, head.start),
        };
        if self.stops_before(gtid, start) {
            return Ok(false);
        }
        let transaction = match next {
            Next::Whole(transaction) => transaction,
            Next::Large(head) => match self.take_large(&head).await.map_err(|error| self.named(error))? {
                Large::Installed => return Ok(true),
                // Not rows as they are here, so all of it is needed at once.
                Large::NotRows => {
                    self.reader = self.shared.engine.log().reader(head.start).without_verification();
                    match self.reader.next_transaction().await.map_err(|error| self.reading(error))? {
                        Some(transaction) => transaction,
                        None => return Ok(false),
                    }
                }
            },
        };
        let size = transaction.bytes.len() as u64;
        let commit_time = transaction.gtid_event.as_ref().map_or(0, |event| event.immediate_commit_time.0);
        self.stats.took(size, commit_time);
        let is_elsewhere =
            transaction.gtid_event.as_ref().is_some_and(|head| head.is_local_elsewhere(self.server_uuid()));
        if !is_elsewhere
            && let Some((text, position)) = schema_change(&transaction).map_err(|error| self.named(error))?
        {
            self.settle().await?;
            if let Some(position) = position {
                self.shared.engine.install_source_position(self.next, position);
            }
            return self.change_schema(&transaction, text).await.map(|()| true);
        }
        let taken = match is_elsewhere {
            true => Taken { transaction, rows: RowsOf::Nothing },
            false => {
                let number = CommitNumber(self.next.0 + self.taken.len() as u64);
                let taken = self.first_phases.take(&self.shared.engine, number, transaction).await;
                taken.map_err(|error| self.named(error))?
            }
        };
        self.taken.push(taken);
        self.taken_bytes += size;
        if self.taken.len() >= BATCH_TRANSACTIONS || self.taken_bytes >= BATCH_BYTES {
            self.dispatch().await?;
        }
        Ok(true)
    }

    /// Hands out many transactions at once; false if what comes next is not of the kind for that.
    async fn take_bulk(&mut self) -> Result<bool> {
        let batch = self.reader.next_batch(BULK_BYTES).await;
        let Some(batch) = batch.map_err(|error| self.reading(error))? else { return Ok(false) };
        self.dispatch().await?;
        let count = batch.transactions();
        self.stats.took_many(count as u64, batch.memory().len() as u64);
        self.hand_out(count, Content::Bulk(batch)).await?;
        Ok(true)
    }

    /// Installs a large transaction, event by event, with nothing beside it.
    async fn take_large(&mut self, head: &LargeHead) -> Result<Large> {
        let is_elsewhere = head.gtid_event.is_local_elsewhere(self.server_uuid());
        if head.gtid_event.may_have_statements && !is_elsewhere {
            return Ok(Large::NotRows);
        }
        self.settle().await?;
        if is_elsewhere {
            let mut end = Ending::of(head);
            while end.is_ahead(&self.reader) {
                end.next_event(&mut self.reader).await?;
            }
            self.publish_large(head);
            return Ok(Large::Installed);
        }
        let _passing = self.pass().await?;
        let engine = self.shared.engine.clone();
        let failed = |error| ApplyError::Engine { at: head.start, error };
        let mut install = engine.install_large(self.next);
        let mut decoder = Decoder::new(self.server_uuid());
        decoder.set_catalog(&engine.catalog());
        let mut staging = Staging::default();
        let mut end = Ending::of(head);
        while end.is_ahead(&self.reader) {
            self.shared.gate.check()?;
            let event = end.next_event(&mut self.reader).await?;
            let piece = event.into_piece();
            let mut rows = Vec::new();
            decoder.rows_of(piece.start, piece.events(), &mut rows)?;
            decoder.keep_source_position(&engine, self.next);
            if rows.iter().any(|(event, _)| !event.is_full()) {
                return Ok(Large::NotRows);
            }
            for event in &rows {
                staging.add(event, &piece)?;
            }
            if staging.is_large() {
                install.add(staging.take().changes()).await.map_err(failed)?;
            }
        }
        install.add(staging.take().changes()).await.map_err(failed)?;
        install.finish().await.map_err(failed)?;
        self.publish_large(head);
        Ok(Large::Installed)
    }

    fn publish_large(&mut self, head: &LargeHead) {
        let point = PublishPoint { commit_number: self.next, end: head.end, gtid: head.gtid_event.gtid };
        self.shared.gate.publish_alone(point);
        self.next = self.next.next();
        self.stats.took(head.end.offset - head.start.offset, head.gtid_event.immediate_commit_time.0);
    }

    fn server_uuid(&self) -> Uuid {
        self.shared.engine.log().options().server_uuid
    }

    /// Hands out what was taken, as a batch.
    pub(crate) async fn dispatch(&mut self) -> Result<()> {
        if self.taken.is_empty() {
            return Ok(());
        }
        let transactions = std::mem::replace(&mut self.taken, Vec::with_capacity(BATCH_TRANSACTIONS));
        self.taken_bytes = 0;
        self.hand_out(transactions.len(), Content::Transactions(transactions)).await
    }

    /// Numbers the next transactions of the log, and hands them out.
    async fn hand_out(&mut self, count: usize, content: Content) -> Result<()> {
        let passing = self.pass().await?;
        let first = self.next;
        self.next = CommitNumber(first.0 + count as u64);
        let progress = Progress::new(count, passing);
        self.shared.gate.enter(progress.clone(), self.batches_max).await?;
        let catalog = self.shared.engine.catalog();
        self.shared.queue.push(Job::Install(Batch { first, content, catalog, progress }));
        Ok(())
    }

    /// Waits while commits are held.
    async fn pass(&self) -> Result<Passing> {
        let at = self.reader.position();
        self.shared.engine.pass_gate().await.map_err(|error| ApplyError::Engine { at, error })
    }

    /// Waits until everything that was taken is published.
    pub(crate) async fn settle(&mut self) -> Result<()> {
        self.dispatch().await?;
        self.shared.gate.wait_idle().await
    }

    async fn change_schema(&mut self, transaction: &LogTransaction, text: DdlText) -> Result<()> {
        let _passing = self.pass().await?;
        // It reads rows where it builds an index.
        self.shared.engine.settle_bulk();
        let number = self.next;
        let installed = self.shared.engine.install_ddl(number, &text).await;
        installed.map_err(|error| {
            let sql = excerpt(text.sql.as_bytes());
            ApplyError::Ddl { at: transaction.start, sql, error }
        })?;
        self.shared.gate.publish_alone(point(number, transaction));
        self.stats.schema_changes.fetch_add(1, Ordering::Relaxed);
        self.next = number.next();
        Ok(())
    }

    /// The same, and everything can be read.
    pub(crate) async fn settle_for_readers(&mut self) -> Result<()> {
        self.settle().await?;
        let parts = self.shared.engine.unsettled();
        self.shared.gate.settle(parts.len());
        parts.into_iter().for_each(|part| self.shared.queue.push(Job::Settle(part)));
        self.shared.gate.wait_settled().await
    }

    /// Ready when there is more to read.
    pub(crate) async fn wait_for_more(&self) -> Result<()> {
        self.reader.wait().await?;
        Ok(())
    }

    /// Ready with the error when a worker has failed.
    pub(crate) async fn wait_for_failure(&self) -> Result<()> {
        self.shared.gate.wait_failure().await
    }

    /// Ends the workers, and waits for that. If it ends because something could not be taken, everything before that is published, or the
    /// first of that which could not be is the error.
    pub(crate) async fn stop(mut self, result: Result<()>) -> Result<()> {
        let result = match result {
            Err(error) if error.of_transaction().is_some() => self.dispatch().await.and(Err(error)),
            result => result,
        };
        self.shared.queue.close();
        loop {
            let changed = self.workers_left.1.listen();
            if self.workers_left.0.load(Ordering::SeqCst) == 0 {
                break;
            }
            changed.await;
        }
        if self.in_bulk {
            // What is forgotten must not be part of a batch.
            self.shared.engine.settle_bulk();
        }
        self.shared.engine.forget_unpublished();
        self.shared.gate.check().and(result)
    }
}

/// A large transaction that is taken event by event: it has to end where its head says.
struct Ending<'a> {
    head: &'a LargeHead,
    tracker: TransactionTracker,
}

impl<'a> Ending<'a> {
    fn of(head: &'a LargeHead) -> Self {
        Ending { head, tracker: TransactionTracker::default() }
    }

    fn is_ahead(&self, reader: &LogReader) -> bool {
        reader.position() < self.head.end
    }

    async fn next_event(&mut self, reader: &mut LogReader) -> Result<LogEvent> {
        let at = self.head.start;
        let bad = |reason: String| ApplyError::Event { at, reason };
        let event = reader.next_event().await.map_err(|error| ApplyError::reading(at, error))?;
        let event = event.ok_or_else(|| bad("it ends with the log".to_owned()))?;
        let is_last = self.tracker.event(&event.raw()).map_err(|reason| bad(reason.0))?;
        if is_last != (event.end == self.head.end) {
            let reason = format!("its head says that it ends at {}, its events end elsewhere", self.head.end);
            return Err(bad(reason));
        }
        Ok(event)
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.shared.queue.close();
    }
}

fn point(number: CommitNumber, transaction: &LogTransaction) -> PublishPoint {
    PublishPoint { commit_number: number, end: transaction.end, gtid: transaction.gtid() }
}

/// The text, if the transaction is a statement and not rows.
fn schema_change(transaction: &LogTransaction) -> Result<Option<(DdlText, Option<SourcePosition>)>> {
    if transaction.gtid_event.as_ref().is_some_and(|event| !event.may_have_statements) {
        return Ok(None);
    }
    let at = transaction.start;
    let bad = |reason: binlog::DecodeError| ApplyError::Event { at, reason: reason.to_string() };
    let mut events = transaction
        .events()
        .filter(|event| event.as_ref().map_or(true, |event| !event.header.event_type.begins_transaction()));
    let mut position = None;
    let event = loop {
        let Some(event) = events.next().transpose().map_err(bad)? else { return Ok(None) };
        match event.header.event_type {
            EventType::IGNORABLE => position = SourcePosition::decode(event.body()).map_err(bad)?,
            _ => break event,
        }
    };
    if event.header.event_type != EventType::QUERY {
        return Ok(None);
    }
    event.verify().map_err(bad)?;
    let query = QueryEvent::decode(event.body()).map_err(bad)?;
    if query.begins_transaction() || XaStatement::of(query.sql).map_err(bad)?.is_some() {
        return Ok(None);
    }
    let text = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec())
            .map_err(|_| ApplyError::Event { at, reason: "a statement that is not UTF-8".to_owned() })
    };
    let change = DdlText { sql: text(query.sql)?, context: context_of(&event, &query, text(query.schema)?) };
    Ok(Some((change, position)))
}

/// The session as the event describes it.
fn context_of(event: &RawEvent<'_>, query: &QueryEvent<'_>, schema: String) -> QueryContext {
    let status = query.status();
    let default = QueryContext::default();
    QueryContext {
        thread_id: query.thread_id,
        timestamp: event.header.timestamp,
        microseconds: status.microseconds.unwrap_or(0),
        schema,
        sql_mode: status.sql_mode.unwrap_or(default.sql_mode),
        flags2: status.flags2.unwrap_or(default.flags2),
        charsets: status.charsets.unwrap_or(default.charsets),
        time_zone: status.time_zone,
        auto_increment: status.auto_increment,
        default_collation_for_utf8mb4: status
            .default_collation_for_utf8mb4
            .unwrap_or(default.default_collation_for_utf8mb4),
    }
}
