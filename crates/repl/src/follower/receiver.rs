//! The receiver's task: connect, compare, copy; again when the connection is lost or the disk is full, until told to stop.

use std::time::Duration;

use base::{LogPosition, SqlError, UnixMicros};
use binlog::LogReceiver;
use futures_lite::future;
use wire::replication::{BinlogDump, DUMP_HEARTBEAT_V2, SemiSyncAck};

use super::Follower;
use super::copier::{Copier, Received, our_end};
use super::error::{ReceiveError, of_client};
use super::handshake::{self, SourceClient};
use super::settings::SourceSettings;
use super::status::{IoState, Running};

/// So many bytes are received before they are written and synced, even if more are there already.
const BATCH_SIZE: usize = 8 << 20;

/// An event that is wrong so often in one place is wrong at the source.
const GARBLED_MAX: u32 = 5;

/// Attempts that do not wait for `SOURCE_CONNECT_RETRY`; each waits twice as long as the one before.
pub(crate) const QUICK_ATTEMPTS: u64 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(25);

/// Runs until told to stop or until an error that trying again does not help. Gives the log back.
pub(super) async fn run(follower: &Follower, mut receiver: LogReceiver) -> (LogReceiver, Result<(), ReceiveError>) {
    let mut attempts = 0;
    let mut garbled = (LogPosition::default(), 0);
    loop {
        let mut settings = follower.settings();
        // Silence that is no sign of a loss has to be shorter than the one that is.
        let heartbeat_max = follower.net_timeout().as_secs_f64() / 2.0;
        settings.heartbeat_period_seconds = settings.heartbeat_period_seconds.min(heartbeat_max);
        follower.set_io_state(IoState::Connecting, Running::Connecting);
        let (back, result) = connect_and_copy(follower, &settings, receiver, &mut attempts).await;
        receiver = back;
        let error = match result {
            Ok(()) | Err(ReceiveError::Stopped) => return (receiver, Ok(())),
            Err(error) if error.may_pass(receiver.log()) => error,
            Err(error) => return (receiver, Err(error)),
        };
        if let ReceiveError::Garbled(_) = &error {
            let here = receiver.position();
            garbled = if garbled.0 == here { (here, garbled.1 + 1) } else { (here, 1) };
            if garbled.1 > GARBLED_MAX {
                return (receiver, Err(error));
            }
        }
        attempts += 1;
        let wait = pause_before(attempts, settings.connect_retry());
        tracing::warn!("receiver: {error}; attempt {attempts}, the next one in {wait:?}");
        follower.set_io_error(&error);
        let is_of_the_source = matches!(error, ReceiveError::Connection { .. });
        if is_of_the_source && settings.retries() > 0 && attempts > QUICK_ATTEMPTS + settings.retries() {
            return (receiver, Err(error));
        }
        follower.set_io_state(IoState::WaitingToReconnect, Running::Connecting);
        let pause = async {
            follower.env().clock.sleep(wait).await;
            Ok(())
        };
        if future::or(pause, follower.stop_asked()).await.is_err() {
            return (receiver, Ok(()));
        }
    }
}

/// How long to wait before an attempt, from 1 on. A source that restarts is back in a moment: the first attempts follow one another
/// quickly. They do not count in `SOURCE_RETRY_COUNT`.
pub fn pause_before(attempts: u64, connect_retry: Duration) -> Duration {
    match attempts {
        0..=QUICK_ATTEMPTS => connect_retry.min(FIRST_PAUSE * (1 << attempts)),
        _ => connect_retry,
    }
}

async fn connect_and_copy(
    follower: &Follower,
    settings: &SourceSettings,
    mut receiver: LogReceiver,
    attempts: &mut u64,
) -> (LogReceiver, Result<(), ReceiveError>) {
    // What came in part was forgotten at the end of the last attempt, unless that failed.
    if let Err(error) = receiver.forget_partial().await {
        return (receiver, Err(error.into()));
    }
    let identity = follower.identity().clone();
    let connect = handshake::connect(follower.env(), settings, &identity, follower.semi_sync());
    let silence = async { Err(silent(follower, settings).await) };
    let stop = async { Err(follower.stop_asked().await.err().unwrap_or(ReceiveError::Stopped)) };
    let (mut client, facts) = match future::or(connect, future::or(stop, silence)).await {
        Ok(connected) => connected,
        Err(error) => return (receiver, Err(error)),
    };
    follower.connected(&facts);
    let start = match receiver.log().last_start().await {
        Ok(start) => start,
        Err(error) => return (receiver, Err(error.into())),
    };
    let mut copier = Copier::new(receiver, start, (follower.received.clone(), follower.unapplied.clone()));
    let result = stream(follower, settings, &mut client, &mut copier, start, attempts).await;
    follower.set_acknowledges(false);
    let result = explain(result, follower, settings, copier.receiver.log()).await;
    // What came whole is kept; a transaction that came in part is asked for again.
    let kept = copier.receiver.forget_partial().await;
    (copier.receiver, result.and(kept.map_err(ReceiveError::from)))
}

/// Adds both sides to an error that says that the logs differ.
async fn explain(
    result: Result<(), ReceiveError>,
    follower: &Follower,
    settings: &SourceSettings,
    log: &binlog::BinaryLog,
) -> Result<(), ReceiveError> {
    let (ours, difference) = match result {
        Err(ReceiveError::NotAPrefix { ours, difference, .. }) => (ours, difference),
        // The source has no such file, no such position in it, or no event begins there.
        Err(ReceiveError::Refused(error)) if log.durable_end().file > 0 && !is_superseded(&error) => {
            (our_end(log), format!("the source says: {}", error.message))
        }
        other => return other,
    };
    let theirs = handshake::log_end(follower.env(), settings, handshake::PROGRAM).await;
    Err(ReceiveError::NotAPrefix { ours, theirs, difference })
}

/// Whether the source serves another replica of the same name instead of this one.
fn is_superseded(error: &SqlError) -> bool {
    error.message.contains("with the same server_uuid/server_id")
}

async fn silent(follower: &Follower, settings: &SourceSettings) -> ReceiveError {
    let most = follower.net_timeout();
    follower.env().clock.sleep(most).await;
    ReceiveError::lost(&format!("{settings:?}"), format!("nothing was heard of it for {} seconds", most.as_secs()))
}

async fn stream(
    follower: &Follower,
    settings: &SourceSettings,
    client: &mut SourceClient,
    copier: &mut Copier,
    start: Option<LogPosition>,
    attempts: &mut u64,
) -> Result<(), ReceiveError> {
    let name = format!("{settings:?}");
    let (file, position) = match start {
        Some(start) => (copier.receiver.log().file_name(start.file), start.offset),
        None => (String::new(), 4),
    };
    if position > u64::from(u32::MAX) {
        let why = format!("{file}:{position} is past 4 GiB, which this protocol cannot ask for");
        return Err(ReceiveError::Unfit(why));
    }
    let server_id = follower.identity().server_id;
    let dump = BinlogDump { flags: DUMP_HEARTBEAT_V2, server_id, file, position, gtid_set: None };
    client.dump(&dump).await.map_err(|error| of_client(&name, error))?;
    follower.set_io_state(IoState::WaitingForEvents, Running::Yes);
    let mut asked = None;
    loop {
        let next = async { client.next_event().await.map_err(|error| of_client(&name, error)) };
        let silence = async { Err(silent(follower, settings).await) };
        let stop = async { Err(follower.stop_asked().await.err().unwrap_or(ReceiveError::Stopped)) };
        let Some(event) = future::or(next, future::or(stop, silence)).await? else {
            return Err(ReceiveError::lost(&name, "the source ended the stream".to_owned()));
        };
        let received = copier.event(event).await?;
        if client.asks_for_acknowledgement() {
            asked = Some(copier.position());
        }
        follower.set_acknowledges(client.is_semi_sync());
        if let Received::Heartbeat(_) = received {
            follower.heartbeat();
        }
        if copier.is_compared() {
            *attempts = 0;
        }
        // One sync for all that has come meanwhile.
        if !client.has_event() || copier.receiver.unflushed() >= BATCH_SIZE {
            copier.receiver.flush().await?;
            follower.received(copier.receiver.flushed());
            // What was received behind it may be half a transaction, which is not synced.
            if let Some(position) = asked.take() {
                let file = copier.receiver.log().file_name(position.file);
                let ack = SemiSyncAck { position: position.offset, file };
                client.acknowledge(&ack).await.map_err(|error| of_client(&name, error))?;
            }
        }
    }
}

/// For `Last_IO_Error_Timestamp`: `YYMMDD hh:mm:ss` in UTC.
pub fn short_time(at: UnixMicros) -> String {
    let text = types::temporal::calendar::from_unix_micros(at.0 as i64).map(|at| {
        let mut text = Vec::new();
        at.write_text(0, &mut text);
        String::from_utf8_lossy(&text).replace('-', "")
    });
    text.map(|text| text.get(2..).unwrap_or_default().to_owned()).unwrap_or_default()
}
