//! Crash recovery: from the checkpoint to the log's end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::{CommitNumber, LogPosition};
use engine::Engine;

use crate::ApplyOptions;
use crate::coordinator::Coordinator;
use crate::error::ApplyError;
use crate::stats::Stats;

/// Time between lines about the progress.
const REPORT_INTERVAL: Duration = Duration::from_secs(2);
/// Transactions between looks at the clock, at least.
const REPORT_CHECK: u64 = 1024;

/// What a recovery did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Transactions behind the checkpoint.
    pub transactions: u64,
    /// Bytes of log.
    pub bytes: u64,
    /// How long it took.
    pub duration: Duration,
    /// The last transaction, and where it ends.
    pub end: (CommitNumber, LogPosition),
}

/// Brings a freshly opened engine to the durable end of its log. Afterwards it may take commits or follow.
#[io::boxed]
pub async fn recover(engine: &Arc<Engine>, options: ApplyOptions) -> Result<Recovered, ApplyError> {
    let (recovered, result) = apply_log(engine, options).await;
    result.map(|()| recovered)
}

/// The same for a follower. A transaction that was copied whole, and that cannot be applied, is no reason to refuse what is before it,
/// whatever is wrong with it: the state is one of before, from which an applier goes on, and says at the transaction why it cannot. What is
/// not as it was written, by its checksums, is damage of the log.
#[io::boxed]
pub async fn recover_copy(engine: &Arc<Engine>, options: ApplyOptions) -> Result<Recovered, ApplyError> {
    let (recovered, result) = apply_log(engine, options).await;
    let Err(error) = result else { return Ok(recovered) };
    match error.of_transaction() {
        Some(at) if engine.log().reader(at).check_next().await.is_ok() => {
            engine.recovered(recovered.bytes, recovered.duration);
            tracing::error!("recovery ends before the log's end, at {}: {error}", recovered.end.1);
            Ok(recovered)
        }
        _ => Err(error),
    }
}

async fn apply_log(engine: &Arc<Engine>, options: ApplyOptions) -> (Recovered, Result<(), ApplyError>) {
    let start = engine.env().clock.monotonic();
    let stats = Arc::<Stats>::default();
    let mut coordinator = Coordinator::start(engine, engine.checkpoint_at_open(), options, stats.clone());
    let mut report = Report { engine, stats: &stats, start, last: start, checked: 0 };
    let result = apply_all(&mut coordinator, &mut report).await;
    let result = coordinator.stop(result).await;
    let recovered = Recovered {
        transactions: stats.transactions.load(Ordering::Relaxed),
        bytes: stats.bytes.load(Ordering::Relaxed),
        duration: engine.env().clock.monotonic().saturating_sub(start),
        end: engine.visible(),
    };
    if result.is_ok() {
        engine.recovered(recovered.bytes, recovered.duration);
        tell(&recovered);
    }
    (recovered, result)
}

fn tell(recovered: &Recovered) {
    if recovered.transactions == 0 {
        return;
    }
    let rate = recovered.transactions as f64 / recovered.duration.as_secs_f64().max(1e-6);
    tracing::info!(
        "recovery: applied {} transactions ({:.1} MB of log) in {:.2} s, {rate:.0} transactions/s; at {}",
        recovered.transactions,
        recovered.bytes as f64 / 1e6,
        recovered.duration.as_secs_f64(),
        recovered.end.1
    );
}

async fn apply_all(coordinator: &mut Coordinator, report: &mut Report<'_>) -> Result<(), ApplyError> {
    while coordinator.take_next().await? {
        report.now_and_then(coordinator.position());
    }
    coordinator.settle_for_readers().await
}

struct Report<'a> {
    engine: &'a Arc<Engine>,
    stats: &'a Stats,
    start: Duration,
    last: Duration,
    /// Transactions at the last look at the clock.
    checked: u64,
}

impl Report<'_> {
    fn now_and_then(&mut self, position: LogPosition) {
        let transactions = self.stats.transactions.load(Ordering::Relaxed);
        if transactions < self.checked + REPORT_CHECK {
            return;
        }
        self.checked = transactions;
        let log = self.engine.log();
        let left = log.bytes_between(position, log.durable_end());
        self.engine.recovery_goes_on(left);
        let now = self.engine.env().clock.monotonic();
        if now.saturating_sub(self.last) < REPORT_INTERVAL {
            return;
        }
        self.last = now;
        let done = log.bytes_between(self.engine.checkpoint_at_open().1, position);
        let part = done as f64 / (done + left).max(1) as f64;
        let taken = now.saturating_sub(self.start).as_secs_f64();
        tracing::info!(
            "recovery: {:.0} %, {transactions} transactions applied ({:.0}/s), {:.1} MB of log and about {:.0} s left",
            100.0 * part,
            self.stats.rate(now),
            left as f64 / 1e6,
            taken * (1.0 - part) / part.max(1e-3)
        );
    }
}
