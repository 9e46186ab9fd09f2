//! The receiver: connects to the source, compares, copies; again when the connection is lost or the disk is full.
//!
//! ```text
//! the files here:   … | T7 | T8 |
//! the stream:              | T8 | T9 | T10 …
//!                          compare  append
//! ```
//! The source is asked from the beginning of the last transaction that is here, not from its end. What comes first must be what is
//! here, to the byte; a source with another history gives other bytes there, or has no such place. Only then anything is appended.
//!
//! Artificial events (a ROTATE that names the file, a FORMAT_DESCRIPTION in the middle of one, heartbeats) are of the stream, and not of the
//! file. A file is over when the stream names another one, whether it ended with a ROTATE or its server died.
//!
//! # Invariants
//! - Nothing is appended before the last transaction here was seen to be the source's too.
//! - What is here and is not the source's stays as it is, and the receiver stops with an error that names the difference.

use std::sync::Arc;
use std::time::Duration;

use binlog::dump::info;
use binlog::event::{ChecksumAlgorithm, EventHeader, FLAG_ARTIFICIAL, FLAG_BINLOG_IN_USE, FLAGS_OFFSET, MAGIC, Rotate};
use binlog::{DecodeError, EventType, RawEvent};
use futures_lite::future;
use io::OpenOptions;
use wire::replication::{BinlogDump, DUMP_HEARTBEAT_V2};

use crate::Relay;
use crate::error::{RelayError, io_error};
use crate::source::{self, Facts, Kind, SourceClient};
use crate::store::{FileReader, Writer};

/// So many bytes are received before they are written and synced, even if more are there already.
const BATCH_BYTES: usize = 4 << 20;
/// Without a word from the source for so long the connection is taken for lost.
const SILENCE: Duration = Duration::from_secs(60);
/// The source says something at least so often.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Attempts that follow one another quickly, because a source that restarts is back in a moment.
const QUICK_ATTEMPTS: u64 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(25);
/// Between the others.
const PAUSE: Duration = Duration::from_secs(5);
/// An event that is wrong so often, one attempt after the other, is wrong at the source.
const GARBLED_MAX: u32 = 5;

/// Runs until the relay ends, or until an error that trying again does not help.
pub(crate) async fn run(relay: &Relay, mut writer: Writer) {
    let mut garbled = 0;
    loop {
        let error = connect_and_copy(relay, &mut writer).await;
        garbled = if matches!(error, RelayError::Garbled(_)) { garbled + 1 } else { 0 };
        let is_final = !error.may_pass() || garbled > GARBLED_MAX;
        let now = relay.env().clock.now();
        let attempts = relay.status.failed(error.clone(), now, is_final);
        if is_final {
            tracing::error!("the receiver stops: {error}");
            if relay.store.failure().is_some() {
                relay.end.ask(Some(error.to_string()));
            }
            return;
        }
        let pause = if attempts > QUICK_ATTEMPTS { PAUSE } else { PAUSE.min(FIRST_PAUSE * (1 << attempts)) };
        tracing::warn!("{error}; attempt {attempts}, the next one in {pause:?}");
        relay.env().clock.sleep(pause).await;
    }
}

async fn connect_and_copy(relay: &Relay, writer: &mut Writer) -> RelayError {
    // Of what came in part, the end of the last attempt has failed to forget it.
    if let Err(error) = writer.forget_partial().await {
        return error.into();
    }
    let source = &relay.options.source;
    let connect = source::connect(relay.env(), source, relay.identity, HEARTBEAT);
    let silence = async { Err(silent(relay).await) };
    let (mut client, facts) = match future::or(connect, silence).await {
        Ok(connected) => connected,
        Err(error) => return error,
    };
    relay.status.connected(&facts);
    let error = match copy(relay, &mut client, &facts, writer).await {
        Ok(never) => match never {},
        Err(error) => explain(error, &facts, writer),
    };
    let kept = async {
        writer.flush().await?;
        writer.forget_partial().await
    };
    match kept.await {
        Err(failed) if !matches!(error, RelayError::Log(_)) => failed.into(),
        _ => error,
    }
}

/// What the source says of a place that is here and not there is about its history.
fn explain(error: RelayError, facts: &Facts, writer: &Writer) -> RelayError {
    let Some((file, offset)) = writer.position() else { return error };
    let ours = format!("{file}:{offset}");
    match error {
        RelayError::Refused(refused) => RelayError::OtherHistory {
            ours,
            theirs: facts.end.clone(),
            difference: format!("the source refuses to go on from there: {}", refused.message),
        },
        RelayError::OtherHistory { difference, .. } => {
            RelayError::OtherHistory { ours, theirs: facts.end.clone(), difference }
        }
        other => other,
    }
}

async fn silent(relay: &Relay) -> RelayError {
    relay.env().clock.sleep(SILENCE).await;
    let reason = format!("nothing was heard of it for {} seconds", SILENCE.as_secs());
    RelayError::lost(&relay.options.source.name(), reason)
}

async fn copy(
    relay: &Relay,
    client: &mut SourceClient,
    facts: &Facts,
    writer: &mut Writer,
) -> Result<std::convert::Infallible, RelayError> {
    let name = relay.options.source.name();
    let version = relay.store.version();
    if !version.is_empty() && Kind::of(&version) != facts.kind {
        let why = format!("the files here were written by a server of another kind ({version}) than this source is");
        return Err(RelayError::Unfit(format!("{why}; begin with a new --datadir")));
    }
    let mut copier = Copier::new(relay, writer, facts.kind).await?;
    let dump = copier.dump(relay);
    client.dump(&dump).await.map_err(|error| RelayError::of_client(&name, &error))?;
    loop {
        let next = async {
            match client.next_event().await {
                Ok(Some(event)) => Ok(event),
                Ok(None) => Err(RelayError::lost(&name, "the source ended the stream")),
                Err(error) => Err(RelayError::of_client(&name, &error)),
            }
        };
        let silence = async { Err(silent(relay).await) };
        let event = future::or(next, silence).await?;
        copier.event(event).await?;
        if copier.comparing.is_none() {
            relay.status.follows();
        }
        // One sync for all that has come meanwhile.
        if !client.has_event() || copier.writer.unflushed() >= BATCH_BYTES {
            copier.writer.flush().await?;
        }
    }
}

/// One connection's stream on its way into the files.
pub(crate) struct Copier<'a> {
    pub(crate) writer: &'a mut Writer,
    kind: Kind,
    /// Where the stream begins; the file's name is empty for the source's first one.
    file: String,
    offset: u64,
    /// The last file from where the stream begins, and its end, until all of it was compared.
    comparing: Option<(FileReader, u64)>,
}

impl<'a> Copier<'a> {
    pub(crate) async fn new(relay: &Relay, writer: &'a mut Writer, kind: Kind) -> Result<Self, RelayError> {
        let start = MAGIC.len() as u64;
        let (Some((file, mut offset)), Some((_, end))) = (writer.last_begin(), writer.position()) else {
            let file = relay.options.start_file.clone().unwrap_or_default();
            return Ok(Copier { writer, kind, file, offset: start, comparing: None });
        };
        // A MariaDB can be asked for a position below 4 GiB only: all of the file is compared.
        if kind == Kind::Maria && offset > u64::from(u32::MAX) {
            offset = start;
        }
        let mut comparing = None;
        if end > start {
            let opened = relay.env().disk.open(&file, OpenOptions::default()).await;
            let mut reader = FileReader::new(file.clone(), opened.map_err(|error| io_error("open", &file, &error))?);
            reader.next(end).await?;
            reader.seek(offset);
            comparing = (offset < end).then_some((reader, end));
        }
        Ok(Copier { writer, kind, file: file.to_string(), offset, comparing })
    }

    /// What the source is asked for. By MySQL's other command, with an empty set, where a position does not fit into this one.
    fn dump(&self, relay: &Relay) -> BinlogDump {
        let fits = self.offset <= u64::from(u32::MAX);
        BinlogDump {
            // To a MariaDB this bit says that the statements of rows are wanted, which are in its files.
            flags: DUMP_HEARTBEAT_V2,
            server_id: relay.identity.server_id,
            file: self.file.clone(),
            position: self.offset,
            gtid_set: (self.kind == Kind::Mysql && !fits).then(|| vec![0; 8]),
        }
    }

    /// Takes the next event of the stream.
    pub(crate) async fn event(&mut self, bytes: &[u8]) -> Result<(), RelayError> {
        let header = EventHeader::decode(bytes)?;
        let is_artificial = header.flags & FLAG_ARTIFICIAL != 0;
        match header.event_type {
            EventType::HEARTBEAT | EventType::HEARTBEAT_V2 => return Ok(()),
            EventType::ROTATE if is_artificial || header.next_position == 0 => {
                return self.rotate(&Rotate::decode(made_up(bytes)?.body())?).await;
            }
            EventType::FORMAT_DESCRIPTION if header.next_position == 0 => return Ok(()),
            EventType::MARIA_START_ENCRYPTION => {
                let why = "the source encrypts its log, so no copy can have its bytes (encrypt_binlog)";
                return Err(RelayError::Unfit(why.to_owned()));
            }
            _ if is_artificial => return Ok(()),
            _ => {}
        }
        let event = RawEvent::first_of(bytes, self.writer.checksum())?;
        event.verify()?;
        match self.comparing {
            Some(_) => self.compare(&event).await,
            None => self.writer.append(&event),
        }
    }

    /// The stream goes on in this file.
    async fn rotate(&mut self, to: &Rotate) -> Result<(), RelayError> {
        if self.comparing.is_none() {
            return self.writer.start_file(&to.file).await;
        }
        if to.file == self.file {
            return Ok(());
        }
        let at = self.comparing.as_ref().map_or(0, |(reader, _)| reader.position());
        Err(other_history(format!(
            "the source's '{}' ends before that, at {at}, and it goes on in '{}'",
            self.file, to.file
        )))
    }

    async fn compare(&mut self, theirs: &RawEvent<'_>) -> Result<(), RelayError> {
        let Some((reader, end)) = &mut self.comparing else { return Ok(()) };
        let (at, end) = (reader.position(), *end);
        let is_first = at == MAGIC.len() as u64;
        let Some(ours) = reader.next(end).await? else { return Ok(()) };
        if !is_same(ours.bytes, theirs.bytes, is_first) {
            let (ours, theirs) = (describe(&ours), describe(theirs));
            return Err(other_history(format!("at {}:{at} here is {ours}, there {theirs}", self.file)));
        }
        if reader.position() >= end {
            self.comparing = None;
        }
        Ok(())
    }
}

fn other_history(difference: String) -> RelayError {
    RelayError::OtherHistory { ours: String::new(), theirs: String::new(), difference }
}

/// An event of the stream has a checksum if the stream's events have some; it shows whether it has.
fn made_up(bytes: &[u8]) -> Result<RawEvent<'_>, DecodeError> {
    let with = RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32);
    match with {
        Ok(event) if event.verify().is_ok() => Ok(event),
        _ => RawEvent::first_of(bytes, ChecksumAlgorithm::Off),
    }
}

/// Equal but for the in-use flag of a FORMAT_DESCRIPTION.
fn is_same(ours: &[u8], theirs: &[u8], is_format: bool) -> bool {
    if !is_format || ours.len() != theirs.len() || ours.len() <= FLAGS_OFFSET {
        return ours == theirs;
    }
    let mask = !(FLAG_BINLOG_IN_USE as u8);
    ours[..FLAGS_OFFSET] == theirs[..FLAGS_OFFSET]
        && ours[FLAGS_OFFSET] & mask == theirs[FLAGS_OFFSET] & mask
        && ours[FLAGS_OFFSET + 1..] == theirs[FLAGS_OFFSET + 1..]
}

fn describe(event: &RawEvent<'_>) -> String {
    let text = info(event).unwrap_or_else(|DecodeError(reason)| reason);
    let short: String = text.chars().take(80).collect();
    format!("{} '{short}' ({} bytes)", event.header.event_type.name(), event.bytes.len())
}

/// Removes what is not to be kept, now and then.
pub(crate) async fn purge(relay: &Arc<Relay>) {
    /// Between two looks.
    const STEP: Duration = Duration::from_secs(1);
    loop {
        relay.env().clock.sleep(STEP).await;
        match relay.store.purge(relay.options.policy()).await {
            Ok(gone) if gone.is_empty() => {}
            Ok(gone) => tracing::info!("purged: {}", gone.join(", ")),
            Err(error) => tracing::warn!("purge: {error}"),
        }
    }
}
