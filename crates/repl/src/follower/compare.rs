//! A follower compares itself with its source: after a checkpoint, when the last time is long enough ago.
//!
//! ```text
//!   here                                     source
//!   hold what is applied (position F)
//!      ── START TRANSACTION WITH CONSISTENT SNAPSHOT ──►  position Q, at or behind F
//!   wait for exactly Q, let it go on
//!      … applied up to Q: a snapshot of that
//!      ── CHECKSUM TABLE … RANGES ──►                     sums as of Q
//!   own sums as of Q
//! ```
//! Both logs have the same bytes, so a position says which state is meant. After a checkpoint there is little in memory above the
//! trees, so the own sums are quick. It works beside the receiver, in its task, and gives way to it.
//!
//! # Invariants
//! - Only states at one position are compared, of tables that both servers define as of then: a table that has changed on one of
//!   them since is left out.
//! - Nobody's commits wait. Applying here stands still for two answers of the source, at most [`HOLD_MAX`].
//! - No lock is held here while the source is asked; those there go with the connection, and the source ends that by itself when
//!   it hears nothing for [`SOURCE_PATIENCE`].
//! - Nothing of it is in a log, and whatever keeps it from comparing leaves replication alone.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use apply::ApplyError;
use base::{Cancel, ErrorClass, LogPosition};
use engine::{
    Engine, EngineError, KeyRange, RowSum, SessionHandle, StateAt, Table, TableMode, Transaction, TxnOptions,
};
use futures_lite::future;
use io::Env;
use parking_lot::Mutex;
use session::client::ClientError;

use super::handshake::{self, SourceClient};
use super::status::Running;
use super::{Follower, HOLD_MAX};

/// Between two snapshots of a source that is behind this server: one that has sent on what it has not applied itself.
const SNAPSHOT_PAUSE: Duration = Duration::from_millis(2);
/// The source has to answer a question, and what it has sent to be applied, within this time.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);
/// The source closes the connection when it hears nothing for so long.
const SOURCE_PATIENCE: Duration = Duration::from_secs(2 * PATIENCE.as_secs());
/// After a comparison that did not come about it is tried again behind a checkpoint, when so much time or the interval has passed.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// Tables in one question.
const TABLES_AT_ONCE: usize = 100;
/// So many tables are named.
const NAMES_MAX: usize = 20;

/// What the last comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Comparisons since the server started.
    pub count: u64,
    /// Where in the log the last one was.
    pub position: LogPosition,
    /// Tables in which this server was not what its source was.
    pub differing: Vec<String>,
}

impl Comparison {
    /// The tables that differ, or the first of them, for people.
    pub fn names(&self) -> String {
        let names = self.differing.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
        match self.differing.len().checked_sub(NAMES_MAX + 1) {
            Some(more) => format!("{names} and {} more", more + 1),
            None => names,
        }
    }
}

/// How a follower compares itself, and what it has found.
#[derive(Debug, Default)]
pub struct Comparer {
    interval_micros: AtomicU64,
    stops_applier: AtomicBool,
    last: Mutex<Comparison>,
}

impl Comparer {
    /// `replica_checksum_interval`: so much time is between two comparisons; zero: there are none.
    pub fn set_interval(&self, interval: Duration) {
        self.interval_micros.store(interval.as_micros() as u64, Ordering::Relaxed);
    }

    /// `replica_stop_on_checksum_difference`
    pub fn set_stops_applier(&self, on: bool) {
        self.stops_applier.store(on, Ordering::Relaxed);
    }

    /// What the last comparison found.
    pub fn last(&self) -> Comparison {
        self.last.lock().clone()
    }

    fn interval(&self) -> Option<Duration> {
        let micros = self.interval_micros.load(Ordering::Relaxed);
        (micros > 0).then(|| Duration::from_micros(micros))
    }

    fn found(&self, position: LogPosition, differing: Vec<String>) -> Comparison {
        let mut last = self.last.lock();
        *last = Comparison { count: last.count + 1, position, differing };
        last.clone()
    }
}

/// Why there was no comparison.
pub(super) enum NotCompared {
    /// The source is no server of this kind, and keeps no sums.
    NoSums,
    /// Something that may be otherwise the next time.
    Failed(String),
}

impl From<ClientError> for NotCompared {
    fn from(error: ClientError) -> Self {
        NotCompared::Failed(error.to_string())
    }
}

impl From<EngineError> for NotCompared {
    fn from(error: EngineError) -> Self {
        NotCompared::Failed(error.to_string())
    }
}

fn failed(why: impl Into<String>) -> NotCompared {
    NotCompared::Failed(why.into())
}

/// Compares after checkpoints, until it is dropped.
pub(super) async fn run(follower: &Follower) -> Infallible {
    let mut checkpoint = follower.engine.durable_checkpoint().0;
    let mut not_before = Duration::ZERO;
    loop {
        let Ok(next) = follower.engine.checkpoint_after(checkpoint).await else { return std::future::pending().await };
        checkpoint = next;
        let now = follower.env().clock.monotonic();
        let Some(interval) = follower.comparer.interval().filter(|_| now >= not_before) else { continue };
        not_before = now + interval;
        match compare(follower).await {
            Ok((position, differing)) => tell(follower, position, differing),
            Err(NotCompared::Failed(why)) => {
                tracing::warn!("this server was not compared with its source: {why}");
                not_before = now + interval.min(RETRY_AFTER);
            }
            Err(NotCompared::NoSums) => {
                tracing::info!("the source keeps no sums of its tables: this server cannot be compared with it");
                return std::future::pending().await;
            }
        }
    }
}

fn tell(follower: &Follower, at: LogPosition, differing: Vec<String>) {
    let found = follower.comparer.found(at, differing);
    if found.differing.is_empty() {
        tracing::debug!("at {at} this server is what its source is");
        return;
    }
    let error = ApplyError::Differs { at, tables: found.names() };
    tracing::error!("{error}; commuter checksum shows the rows");
    if follower.comparer.stops_applier.load(Ordering::Relaxed) {
        follower.applier.stop_with(error);
    }
}

/// The tables that differ, at a position of the log.
async fn compare(follower: &Follower) -> Result<(LogPosition, Vec<String>), NotCompared> {
    let engine = &follower.engine;
    let env = follower.env();
    let mut source = in_time(env, PATIENCE, connect(follower, "commuter-comparer")).await?;
    let (position, state) = in_time(env, HOLD_MAX, meet(engine, &mut source)).await?;
    let reached = async { Ok(state.transaction(TxnOptions::new(SessionHandle::internal())).await) };
    let ours = in_time(env, PATIENCE, reached).await?;
    let mut ours = ours.ok_or_else(|| failed(format!("no transaction ends at the source's position, {position}")))?;
    let tables: Vec<Arc<Table>> = engine.catalog().all_tables().cloned().collect();
    let mut theirs = Vec::with_capacity(tables.len());
    for some in tables.chunks(TABLES_AT_ONCE) {
        theirs.extend(in_time(env, PATIENCE, sums_there(&mut source, some)).await?);
    }
    drop(source);
    let mut differing = Vec::new();
    for (table, theirs) in tables.iter().zip(theirs) {
        if let Some(theirs) = theirs
            && differs(&mut ours, table, theirs, follower.repairer.is_on()).await?
        {
            differing.push(table.full_name());
        }
    }
    differing.sort();
    Ok((position, differing))
}

pub(super) async fn in_time<T>(
    env: &Env,
    most: Duration,
    work: impl Future<Output = Result<T, NotCompared>>,
) -> Result<T, NotCompared> {
    let late = async {
        env.clock.sleep(most).await;
        Err(failed(format!("it would take longer than {most:?}")))
    };
    future::or(work, late).await
}

/// A connection to the server that the receiver is connected with, if that keeps sums.
pub(super) async fn connect(follower: &Follower, program: &str) -> Result<SourceClient, NotCompared> {
    let receiver = follower.receiver_status();
    if receiver.running != Running::Yes {
        return Err(failed("there is no connection to it"));
    }
    let connected = handshake::open(follower.env(), &follower.settings(), program).await;
    let mut source = connected.map_err(|error| failed(error.to_string()))?;
    if source.query("SELECT @@version_comment").await?.first() != Some("commuter") {
        return Err(NotCompared::NoSums);
    }
    if source.query("SELECT @@server_uuid").await?.first() != Some(&receiver.source_uuid) {
        return Err(failed("another server answers"));
    }
    source.query(&format!("SET SESSION wait_timeout = {}", SOURCE_PATIENCE.as_secs())).await?;
    Ok(source)
}

/// A snapshot there that is not before the state here, and what will be the same here.
pub(super) async fn meet(
    engine: &Arc<Engine>,
    source: &mut SourceClient,
) -> Result<(LogPosition, StateAt), NotCompared> {
    let _hold = engine.hold_commits(&Cancel::new()).await?;
    loop {
        let position = snapshot_there(engine, source).await?;
        if let Some(state) = engine.state_at(position) {
            return Ok((position, state));
        }
        engine.env().clock.sleep(SNAPSHOT_PAUSE).await;
    }
}

/// A snapshot there, in place of one that is open; its position.
pub(super) async fn snapshot_there(engine: &Engine, source: &mut SourceClient) -> Result<LogPosition, NotCompared> {
    source.query("START TRANSACTION WITH CONSISTENT SNAPSHOT").await?;
    let status = source.query("SHOW STATUS LIKE 'Binlog_snapshot_%'").await?;
    let value = |row: usize| status.rows.get(row).and_then(|row| row.get(1)?.as_deref()).unwrap_or_default();
    let file = engine.log().file_number(value(0)).ok_or_else(|| failed("it names no file of its log"))?;
    let offset = value(1).parse().map_err(|_| failed("it names no position of its log"))?;
    Ok(LogPosition::new(file, offset))
}

/// The source's sums; of a table that it has not, or that it has changed since the snapshot, none.
async fn sums_there(source: &mut SourceClient, tables: &[Arc<Table>]) -> Result<Vec<Option<RowSum>>, NotCompared> {
    let names = tables.iter().map(|table| quoted(table)).collect::<Vec<_>>().join(", ");
    let answer = source.query(&format!("CHECKSUM TABLE {names} RANGES")).await?;
    if answer.rows.len() != tables.len() {
        return Err(failed(format!("{} sums for {} tables", answer.rows.len(), tables.len())));
    }
    let sum = |row: &Vec<Option<String>>| {
        let number = |column: usize| row.get(column)?.as_ref()?.parse().ok();
        Some(RowSum { rows: number(2)?, hash: number(3)? })
    };
    Ok(answer.rows.iter().map(sum).collect())
}

/// Whether this server has other rows than the source; not if it is another table by now. If they cannot be read it has, unless it
/// `repairs` itself: to be applied on is what it needs for that.
async fn differs(
    ours: &mut Transaction,
    table: &Arc<Table>,
    theirs: RowSum,
    repairs: bool,
) -> Result<bool, NotCompared> {
    let sum = async {
        ours.lock_table(table, TableMode::IntentShared).await?;
        ours.sum(table, &KeyRange::all()).await
    };
    match sum.await {
        Ok(ours) => Ok(ours != theirs),
        Err(EngineError::TableChanged(_) | EngineError::TableDefChanged) => Ok(false),
        Err(error) if error.class() == ErrorClass::Corrupt => {
            tracing::error!("{} cannot be compared with the source's: {error}", table.full_name());
            Ok(!repairs)
        }
        Err(error) => Err(error.into()),
    }
}

/// As it is written in a statement.
pub(super) fn quoted(table: &Table) -> String {
    let quote = |name: &str| format!("`{}`", name.replace('`', "``"));
    format!("{}.{}", quote(&table.def.schema), quote(&table.def.name))
}
