//! Workers: each takes a batch, decodes it and installs it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use base::{CommitNumber, LogPosition};
use binlog::{LogBatch, LogTransaction};
use engine::{BulkPart, BulkWrites, Catalog, Engine, EngineError, PublishPoint, RowChange};
use event_listener::Event;
use futures_lite::future::poll_fn;

use crate::decode::{Decoder, Staging, TableRows};
use crate::error::{ApplyError, Result};
use crate::gate::{Gate, Progress};
use crate::minimal;
use crate::queue::Queue;
use crate::xa::{RowsOf, Taken};

/// After so many transactions a worker looks whether they can be published.
const PUBLISH_INTERVAL: usize = 64;

/// Transactions that follow one another in the log, on one catalog.
pub(crate) struct Batch {
    pub(crate) first: CommitNumber,
    pub(crate) content: Content,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) progress: Arc<Progress>,
}

/// What a worker is given.
pub(crate) enum Job {
    Install(Batch),
    /// Makes readable what was installed in bulk.
    Settle(BulkPart),
}

/// How they are installed.
pub(crate) enum Content {
    /// One by one.
    Transactions(Vec<Taken>),
    /// All together; see [`crate::bulk`].
    Bulk(LogBatch),
}

impl Content {
    /// Where the first transaction begins.
    fn start(&self) -> LogPosition {
        match self {
            Content::Transactions(transactions) => {
                transactions.first().map_or(LogPosition::default(), |taken| taken.transaction.start)
            }
            Content::Bulk(batch) => batch.start(),
        }
    }
}

/// What the workers share.
pub(crate) struct Shared {
    pub(crate) engine: Arc<Engine>,
    pub(crate) gate: Gate,
    pub(crate) queue: Queue<Job>,
}

/// Sees to it that nobody waits for a worker that is gone (a panic): everything stops, and the rest is told.
struct Watch {
    shared: Arc<Shared>,
    /// Workers there are, and told when one ends.
    left: Arc<(AtomicUsize, Event)>,
    /// What it is at: the first number of a batch, and where that begins.
    at: (CommitNumber, LogPosition),
    done: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.done {
            let error = EngineError::Bug("a worker of the applier has ended".to_string());
            let (number, at) = self.at;
            self.shared.gate.fail(number, ApplyError::Engine { at, error });
        }
        self.left.0.fetch_sub(1, Ordering::SeqCst);
        self.left.1.notify(usize::MAX);
    }
}

/// What is to be published of transactions from `first` on.
pub(crate) fn points_of(first: CommitNumber, transactions: &[Taken]) -> Vec<PublishPoint> {
    let point = |(number, taken): (u64, &Taken)| PublishPoint {
        commit_number: CommitNumber(number),
        end: taken.transaction.end,
        gtid: taken.transaction.gtid(),
    };
    (first.0..).zip(transactions).map(point).collect()
}

/// Works until the queue is closed or something fails.
pub(crate) async fn work(shared: Arc<Shared>, left: Arc<(AtomicUsize, Event)>) {
    let mut watch = Watch { shared: shared.clone(), left, at: shared.engine.visible(), done: false };
    let mut worker = Worker {
        shared: &shared,
        decoder: Decoder::new(shared.engine.log().options().server_uuid),
        staging: Staging::default(),
        writes: BulkWrites::default(),
    };
    while let Some(job) = shared.queue.pop().await {
        match job {
            // What is behind a failure goes.
            Job::Install(batch) if shared.gate.check_up_to(batch.first).is_err() => {}
            Job::Install(batch) => {
                watch.at = (batch.first, batch.content.start());
                if let Err(error) = worker.install(&batch).await {
                    shared.gate.fail(batch.first, error);
                }
            }
            Job::Settle(part) => {
                part.settle();
                shared.gate.settled_one();
            }
        }
    }
    watch.done = true;
}

pub(crate) struct Worker<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) decoder: Decoder,
    staging: Staging,
    pub(crate) writes: BulkWrites,
}

impl Worker<'_> {
    async fn install(&mut self, batch: &Batch) -> Result<()> {
        self.decoder.set_catalog(&batch.catalog);
        match &batch.content {
            Content::Bulk(content) => self.install_bulk(batch, content).await,
            Content::Transactions(transactions) => {
                batch.progress.set_points(points_of(batch.first, transactions));
                self.install_each(batch, batch.first, transactions).await
            }
        }
    }

    /// Installs the transactions from `first` on, one by one; all before one that cannot be.
    pub(crate) async fn install_each(
        &mut self,
        batch: &Batch,
        first: CommitNumber,
        transactions: &[Taken],
    ) -> Result<()> {
        let all = self.take_each(batch, first, transactions).await;
        let staged = self.flush(&batch.progress).await;
        self.shared.gate.advance();
        // What is staged is before what could not be taken.
        staged.and(all)
    }

    async fn take_each(&mut self, batch: &Batch, first: CommitNumber, transactions: &[Taken]) -> Result<()> {
        let mut rows = Vec::new();
        for (taken, number) in transactions.iter().zip((first.0..).map(CommitNumber)) {
            rows.clear();
            let transaction = taken.source().unwrap_or(&taken.transaction);
            match taken.rows {
                RowsOf::Itself => {
                    self.decoder.rows_of(transaction.start, transaction.events(), &mut rows)?;
                    self.decoder.keep_source_position(&self.shared.engine, number);
                }
                RowsOf::FirstPhase(_) => {
                    self.decoder.rows_of(transaction.start, transaction.events(), &mut rows)?;
                    self.decoder.forget_source_position();
                }
                RowsOf::Nothing => {}
            }
            if rows.iter().all(|(event, _)| event.is_full()) {
                self.stage(batch, transaction, number, &rows).await?;
            } else {
                self.complete(batch, transaction, number, &rows).await?;
            }
        }
        Ok(())
    }

    async fn stage(
        &mut self,
        batch: &Batch,
        transaction: &LogTransaction,
        number: CommitNumber,
        rows: &[TableRows<'_>],
    ) -> Result<()> {
        for event in rows {
            self.staging.add(event, transaction)?;
            if self.staging.is_large() {
                self.staging.end_part(number, transaction.start, false);
                self.flush(&batch.progress).await?;
            }
        }
        self.staging.end_part(number, transaction.start, true);
        Ok(())
    }

    /// A transaction with minimal images; see [`minimal`].
    async fn complete(
        &mut self,
        batch: &Batch,
        transaction: &LogTransaction,
        number: CommitNumber,
        rows: &[TableRows<'_>],
    ) -> Result<()> {
        self.flush(&batch.progress).await?;
        self.shared.gate.advance();
        self.shared.gate.wait_published(CommitNumber(number.0 - 1)).await?;
        self.shared.engine.settle_bulk();
        let changes = minimal::complete(&self.shared.engine, transaction.start, rows).await?;
        self.install_changes(number, transaction.start, &changes).await?;
        batch.progress.installed_one();
        Ok(())
    }

    /// Installs what is staged.
    async fn flush(&mut self, progress: &Progress) -> Result<()> {
        let staged = self.staging.take();
        for (part, changes) in staged.parts() {
            self.install_changes(part.number, part.at, changes).await?;
            if part.is_last && progress.installed_one().is_multiple_of(PUBLISH_INTERVAL) {
                self.shared.gate.try_advance();
            }
        }
        Ok(())
    }

    /// Installs one transaction, or a part of it.
    async fn install_changes(&self, number: CommitNumber, at: LogPosition, changes: &[RowChange]) -> Result<()> {
        publish_before_waiting(self.shared, at, self.shared.engine.install(number, changes)).await
    }
}

/// Waits for an install. If that has to wait for room, what is installed is published first: the checkpoint that makes the room
/// waits for it.
pub(crate) async fn publish_before_waiting(
    shared: &Shared,
    at: LogPosition,
    install: impl Future<Output = engine::Result<()>>,
) -> Result<()> {
    let mut install = pin!(install);
    let at_once = poll_fn(|context| Poll::Ready(install.as_mut().poll(context))).await;
    let result = match at_once {
        Poll::Ready(result) => result,
        Poll::Pending => {
            shared.gate.advance();
            install.await
        }
    };
    shared.engine.env().step().await;
    result.map_err(|error| ApplyError::Engine { at, error })
}
