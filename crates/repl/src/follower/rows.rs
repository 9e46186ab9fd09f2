//! Rows that cannot be read here, from a server that has the same log: this server's source, or a copy of it.
//!
//! ```text
//!   here                                       there
//!   a state Q of the log, here and there       START TRANSACTION WITH CONSISTENT SNAPSHOT
//!      ── CHECKSUM TABLE … RANGES … SPLIT ──►  rows and sum of each part of a damaged range, as of Q
//!      ── CHECKSUM TABLE … IMAGES ─────────►  the part's rows
//!   do they have that sum?
//! ```
//! How both come to one state: a follower waits until it has applied what its source's snapshot has ([`super::compare`]); a server that is
//! copied holds its commits for the moment that the copy needs to get to where they end.
//!
//! # Invariants
//! - Only rows of one state are taken, of a table that both servers define alike as of then.
//! - What was damaged on the way, or over there, is found by the sum of each part.
//! - Nothing of it is in a log. Nobody's commits wait longer than [`HOLD_MAX`].

use std::sync::Arc;
use std::time::Duration;

use base::{Cancel, CommitNumber, LogPosition};
use engine::{
    Damage, Engine, EngineError, Fetched, KeySpan, RestoredEntries, Result, RowSource, RowSum, SessionHandle, Table,
    TxnOptions,
};
use io::BoxFuture;

use super::compare::{NotCompared, PATIENCE, connect, in_time, meet, quoted, snapshot_there};
use super::handshake::{self, SourceClient};
use super::settings::SourceSettings;
use super::{Follower, HOLD_MAX};

/// How servers name this in their lists of connections.
const PROGRAM: &str = "commuter-repair";
/// Between two looks whether a copy is where this server is.
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// The source of a server that copies one.
pub struct SourceRows(pub Arc<Follower>);

/// Another server, which has copied this one's log.
pub struct CopyRows {
    engine: Arc<Engine>,
    settings: SourceSettings,
}

impl CopyRows {
    /// By how it is reached.
    pub fn new(engine: Arc<Engine>, settings: SourceSettings) -> Self {
        CopyRows { engine, settings }
    }
}

impl RowSource for SourceRows {
    fn rows<'a>(&'a self, table: &'a Arc<Table>, damage: &'a Damage) -> BoxFuture<'a, Result<Fetched>> {
        Box::pin(rows_of_source(&self.0, table, damage))
    }
}

impl RowSource for CopyRows {
    fn rows<'a>(&'a self, table: &'a Arc<Table>, damage: &'a Damage) -> BoxFuture<'a, Result<Fetched>> {
        Box::pin(rows_of_copy(&self.engine, &self.settings, table, damage))
    }
}

impl From<NotCompared> for EngineError {
    fn from(error: NotCompared) -> Self {
        match error {
            NotCompared::NoSums => refused("it is no commuter, and has no rows as they are stored here"),
            NotCompared::Failed(why) => refused(&why),
        }
    }
}

fn refused(why: &str) -> EngineError {
    EngineError::Sql(base::SqlError::unknown(why.to_string()))
}

async fn rows_of_source(follower: &Follower, table: &Arc<Table>, damage: &Damage) -> Result<Fetched> {
    let engine = &follower.engine;
    if !engine.is_follower() {
        return Err(refused("this server copies no other one's log"));
    }
    if !follower.applier.status().is_running {
        return Err(refused("the applier does not run, so this server does not get to where its source is"));
    }
    let env = follower.env();
    let mut source = in_time(env, PATIENCE, connect(follower, PROGRAM)).await?;
    let (position, state) = in_time(env, HOLD_MAX, meet(engine, &mut source)).await?;
    let reached = async { Ok(state.transaction(TxnOptions::new(SessionHandle::internal())).await) };
    let Some(mut ours) = in_time(env, PATIENCE, reached).await? else {
        return Err(refused(&format!("no transaction ends at the source's position, {position}")));
    };
    ours.check_table(table).await?;
    let Some((as_of, _)) = ours.snapshot() else { return Err(refused("the state was not kept")) };
    // From here on the other side alone says whether the table changes: rows of a table that did not are ours too.
    drop(ours);
    let from = format!("the source {}", follower.settings().address());
    fetch(engine, &mut source, table, damage, (as_of, from)).await
}

async fn rows_of_copy(
    engine: &Arc<Engine>,
    settings: &SourceSettings,
    table: &Arc<Table>,
    damage: &Damage,
) -> Result<Fetched> {
    let env = engine.env();
    let open =
        async { handshake::open(env, settings, PROGRAM).await.map_err(|error| NotCompared::Failed(error.to_string())) };
    let mut copy = in_time(env, PATIENCE, open).await?;
    let check = async { check_copy(engine, &mut copy).await };
    in_time(env, PATIENCE, check).await?;
    let as_of = in_time(env, 2 * HOLD_MAX, meet_copy(engine, &mut copy, table)).await?;
    let from = format!("the copy {}", settings.address());
    fetch(engine, &mut copy, table, damage, (as_of, from)).await
}

/// Whether it is another server of this kind.
async fn check_copy(engine: &Engine, copy: &mut SourceClient) -> Result<(), NotCompared> {
    if copy.query("SELECT @@version_comment").await?.first() != Some("commuter") {
        return Err(NotCompared::NoSums);
    }
    if copy.query("SELECT @@server_uuid").await?.first() == Some(&engine.server_uuid().to_string()) {
        return Err(NotCompared::Failed("it is this server itself".to_string()));
    }
    Ok(())
}

/// A snapshot there of exactly where this server's commits are held. The logs are the same up to there if they have the same position and
/// the same transactions: a copy has no other way to have them.
async fn meet_copy(
    engine: &Arc<Engine>,
    copy: &mut SourceClient,
    table: &Arc<Table>,
) -> Result<CommitNumber, NotCompared> {
    let _hold = engine.hold_commits(&Cancel::new()).await?;
    let mut ours = engine.begin(TxnOptions::new(SessionHandle::internal()));
    let (as_of, here) = ours.take_snapshot();
    ours.check_table(table).await?;
    let start = engine.env().clock.monotonic();
    loop {
        let there: LogPosition = snapshot_there(engine, copy).await?;
        if there == here {
            break;
        }
        if there > here || engine.env().clock.monotonic() - start > HOLD_MAX {
            let why = format!(
                "its state is at {there} of the log, and this server's at {here}: it is no copy of this server, or not in step"
            );
            return Err(NotCompared::Failed(why));
        }
        engine.env().clock.sleep(LOOK_PAUSE).await;
    }
    let theirs = copy.query("SELECT @@GLOBAL.gtid_executed").await?;
    let theirs = theirs.first().unwrap_or_default().replace(['\n', ' '], "");
    if theirs != engine.gtid_executed().to_string().replace(['\n', ' '], "") {
        let why = format!("it has other transactions than this server: {theirs}");
        return Err(NotCompared::Failed(why));
    }
    Ok(as_of)
}

/// The rows of all ranges, as of the snapshot that is open there.
async fn fetch(
    engine: &Engine,
    source: &mut SourceClient,
    table: &Table,
    damage: &Damage,
    (as_of, from): (CommitNumber, String),
) -> Result<Fetched> {
    let mut entries = RestoredEntries::default();
    for range in &damage.ranges {
        let split = format!("CHECKSUM TABLE {} RANGES {} SPLIT", quoted(table), bounds(range));
        let parts = in_time(engine.env(), PATIENCE, async { Ok(source.query(&split).await?) }).await?;
        let mut rest = range.clone();
        for number in 0..parts.rows.len() {
            let sum = sum_of(&parts.rows[number]).ok_or(EngineError::TableDefChanged)?;
            let next = parts.rows.get(number + 1).and_then(|row| bytes_of(row.get(1)?.as_deref()?));
            let part = KeySpan { upper: next.or_else(|| range.upper.clone().map(Vec::from)).map(Into::into), ..rest };
            fetch_part(engine, source, table, &part, sum, &mut entries).await?;
            rest = KeySpan { lower: part.upper.unwrap_or_default(), upper: None };
        }
    }
    let restore = entries.into_restore(table.def.indexes[0].id, damage, as_of);
    Ok(Fetched { restore, from })
}

/// The rows of a part, if they are what its sum says.
async fn fetch_part(
    engine: &Engine,
    source: &mut SourceClient,
    table: &Table,
    part: &KeySpan,
    expected: RowSum,
    entries: &mut RestoredEntries,
) -> Result<()> {
    let images = format!("CHECKSUM TABLE {} IMAGES {}", quoted(table), bounds(part));
    let (mut sum, mut problem) = (RowSum::default(), None);
    let mut take = |row: &[Option<&[u8]>]| {
        let bytes = |column: usize| bytes_of(std::str::from_utf8(row.get(column).copied().flatten()?).ok()?);
        let (Some(key), Some(image)) = (bytes(1), bytes(2)) else { return Err(refused("it sent no bytes of a row")) };
        if !part.contains(&key) {
            return Err(refused("it sent a row that was not asked for"));
        }
        sum.add(RowSum::hash_of(&key, &image));
        entries.push(key.into(), image.into())
    };
    let asked = source.query_rows(&images, |row| {
        if problem.is_none() {
            problem = take(row).err();
        }
    });
    in_time(engine.env(), PATIENCE, async { Ok(asked.await?) }).await?;
    match problem {
        Some(problem) => Err(problem),
        None if sum != expected => Err(refused("the rows that it sent are not those that its sum is of")),
        None => Ok(()),
    }
}

/// `FROM x'…' TO x'…'`
fn bounds(span: &KeySpan) -> String {
    let from = if span.lower.is_empty() { String::new() } else { format!("FROM {}", hex(&span.lower)) };
    let to = span.upper.as_ref().map_or_else(String::new, |upper| format!(" TO {}", hex(upper)));
    from + &to
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len() + 3);
    text.push_str("x'");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\'');
    text
}

/// From hexadecimal digits.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let digits = digits.as_bytes();
    if digits.len() % 2 == 1 {
        return None;
    }
    digits.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

fn sum_of(row: &[Option<String>]) -> Option<RowSum> {
    let number = |column: usize| row.get(column)?.as_ref()?.parse().ok();
    Some(RowSum { rows: number(2)?, hash: number(3)? })
}
