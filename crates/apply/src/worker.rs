//! Workers: each takes a batch, decodes it and installs it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use base::{CommitNumber, LogPosition};
use binlog::LogTransaction;
use engine::{Catalog, Engine, EngineError, RowChange};
use event_listener::Event;
use futures_lite::future::poll_fn;

use crate::decode::{Decoder, Staging, TableRows};
use crate::error::{ApplyError, Result};
use crate::gate::{Gate, Progress};
use crate::minimal;
use crate::queue::Queue;

/// After so many transactions a worker looks whether they can be published.
const PUBLISH_INTERVAL: usize = 64;

/// Transactions that follow one another in the log, on one catalog.
pub(crate) struct Batch {
    pub(crate) first: CommitNumber,
    pub(crate) transactions: Vec<LogTransaction>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) progress: Arc<Progress>,
}

/// What the workers share.
pub(crate) struct Shared {
    pub(crate) engine: Arc<Engine>,
    pub(crate) gate: Gate,
    pub(crate) queue: Queue<Batch>,
}

/// Sees to it that nobody waits for a worker that is gone (a panic): everything stops, and the rest is told.
struct Watch {
    shared: Arc<Shared>,
    /// Workers there are, and told when one ends.
    left: Arc<(AtomicUsize, Event)>,
    done: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.done {
            let error = EngineError::Bug("a worker of the applier has ended".to_string());
            self.shared.gate.fail(ApplyError::Engine { at: self.shared.engine.visible().1, error });
        }
        self.left.0.fetch_sub(1, Ordering::SeqCst);
        self.left.1.notify(usize::MAX);
    }
}

/// Works until the queue is closed or something fails.
pub(crate) async fn work(shared: Arc<Shared>, left: Arc<(AtomicUsize, Event)>) {
    let mut watch = Watch { shared: shared.clone(), left, done: false };
    let mut worker = Worker { shared: &shared, decoder: Decoder::default(), staging: Staging::default() };
    while let Some(batch) = shared.queue.pop().await {
        if shared.gate.check().is_err() {
            continue; // let what is queued go
        }
        if let Err(error) = worker.install(&batch).await {
            shared.gate.fail(error);
        }
    }
    watch.done = true;
}

struct Worker<'a> {
    shared: &'a Arc<Shared>,
    decoder: Decoder,
    staging: Staging,
}

impl Worker<'_> {
    async fn install(&mut self, batch: &Batch) -> Result<()> {
        self.decoder.set_catalog(&batch.catalog);
        let mut rows = Vec::new();
        let numbers = (batch.first.0..).map(CommitNumber);
        for (transaction, number) in batch.transactions.iter().zip(numbers) {
            rows.clear();
            self.decoder.rows_of(transaction, &mut rows)?;
            if rows.iter().all(|(event, _)| event.is_full()) {
                self.stage(batch, transaction, number, &rows).await?;
            } else {
                self.complete(batch, transaction, number, &rows).await?;
            }
        }
        self.flush(&batch.progress).await?;
        self.shared.gate.advance();
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

    /// Installs one transaction, or a part of it. If that has to wait for room, what is installed is published first: the
    /// checkpoint that makes the room waits for it.
    async fn install_changes(&self, number: CommitNumber, at: LogPosition, changes: &[RowChange]) -> Result<()> {
        let mut install = pin!(self.shared.engine.install(number, changes));
        let at_once = poll_fn(|context| Poll::Ready(install.as_mut().poll(context))).await;
        let result = match at_once {
            Poll::Ready(result) => result,
            Poll::Pending => {
                self.shared.gate.advance();
                install.await
            }
        };
        self.shared.engine.env().step().await;
        result.map_err(|error: EngineError| ApplyError::Engine { at, error })
    }
}
