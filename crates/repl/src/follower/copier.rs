//! From the stream's events to our log: compares what both have, then copies.
//!
//! The receiver asks for the stream from the beginning of its last transaction, not from its end. What comes first must be
//! what is here already, to the byte: a transaction has its GTID, its time and its place in it, so a source whose bytes
//! are the same there has the same log up to there. Only then anything is appended.
//!
//! ```text
//! our log:     … | T7 | T8 |
//! the stream:         | T8 | T9 | T10 …
//!                     compare  append
//! ```

use std::sync::Arc;

use base::LogPosition;
use binlog::dump::info;
use binlog::event::{ChecksumAlgorithm, FLAG_ARTIFICIAL, FLAG_BINLOG_IN_USE, FLAGS_OFFSET, Heartbeat, Rotate};
use binlog::{DecodeError, EventType, GtidEvent, GtidSet, LogReader, LogReceiver, RawEvent};

use super::contents::Contents;
use super::error::ReceiveError;
use super::unapplied::Unapplied;
use crate::received::{ReceivedCounters, ReceivedLog};

/// What an event was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// Appended, or compared.
    Event,
    /// The source is here, and has nothing else to say.
    Heartbeat(Heartbeat),
    /// Part of the stream, not of the log.
    Artificial,
}

/// One connection's stream on its way into the log.
pub(super) struct Copier {
    pub(super) receiver: LogReceiver,
    /// Our own log from where the stream begins, until all of it was compared.
    comparing: Option<LogReader>,
    /// The log was empty when the stream began.
    from_nothing: bool,
    contents: Contents,
    log: ReceivedLog,
    received: Arc<ReceivedCounters>,
    unapplied: Arc<Unapplied>,
}

impl Copier {
    /// For a stream that begins at `start`: where our last transaction begins, or `None` if there is no log yet.
    pub(super) fn new(
        receiver: LogReceiver,
        start: Option<LogPosition>,
        (received, unapplied): (Arc<ReceivedCounters>, Arc<Unapplied>),
    ) -> Self {
        let comparing = start.map(|start| receiver.log().reader(start));
        Copier {
            receiver,
            comparing,
            from_nothing: start.is_none(),
            contents: Contents::default(),
            log: ReceivedLog::default(),
            received,
            unapplied,
        }
    }

    /// Takes the next event of the stream.
    pub(super) async fn event(&mut self, bytes: &[u8]) -> Result<Received, ReceiveError> {
        let event = RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32)?;
        event.verify()?;
        let header = event.header;
        match header.event_type {
            EventType::HEARTBEAT | EventType::HEARTBEAT_V2 => {
                return Ok(Received::Heartbeat(Heartbeat::decode(&event)?));
            }
            EventType::ROTATE if header.flags & FLAG_ARTIFICIAL != 0 || header.next_position == 0 => {
                self.rotate(&Rotate::decode(event.body())?).await?;
                return Ok(Received::Artificial);
            }
            _ if header.next_position == 0 || header.flags & FLAG_ARTIFICIAL != 0 => return Ok(Received::Artificial),
            _ => {}
        }
        if self.comparing.is_some() {
            return self.compare(&event).await.map(|()| Received::Event);
        }
        self.check_beginning(&event)?;
        self.contents.check(&event)?;
        if event.header.event_type.is_gtid() {
            let gtid = GtidEvent::decode(event.header.event_type, event.body())?;
            self.log.count(&gtid, &self.received);
            self.unapplied.push(self.receiver.position(), gtid.immediate_commit_time);
        }
        self.receiver.append(bytes).await?;
        Ok(Received::Event)
    }

    /// Behind the last event: everything before it is here, if not synced yet.
    pub(super) fn position(&self) -> LogPosition {
        self.comparing.as_ref().map_or_else(|| self.receiver.position(), LogReader::position)
    }

    /// Whether everything that was here before was seen to be the source's too.
    pub(super) fn is_compared(&self) -> bool {
        self.comparing.is_none()
    }

    async fn rotate(&mut self, to: &Rotate) -> Result<(), ReceiveError> {
        if self.comparing.is_some() {
            return Ok(());
        }
        self.receiver.start_file(&to.file).await?;
        self.log.begin_file();
        Ok(())
    }

    async fn compare(&mut self, theirs: &RawEvent<'_>) -> Result<(), ReceiveError> {
        let Some(reader) = &mut self.comparing else { return Ok(()) };
        let at = reader.position();
        let Some(ours) = reader.next_event().await? else {
            return Err(self.not_a_prefix(at, "nothing", &describe(theirs)));
        };
        if !is_same(&ours.bytes, theirs.bytes) {
            return Err(self.not_a_prefix(ours.start, &describe(&ours.raw()), &describe(theirs)));
        }
        if reader.position() >= self.receiver.log().durable_end() {
            self.comparing = None;
        }
        Ok(())
    }

    /// A log that begins in the middle of its source's life lacks what was before.
    fn check_beginning(&mut self, event: &RawEvent<'_>) -> Result<(), ReceiveError> {
        if self.from_nothing && event.header.event_type == EventType::PREVIOUS_GTIDS {
            self.from_nothing = false;
            let before = GtidSet::decode(event.body())?;
            if !before.is_empty() {
                return Err(ReceiveError::Unfit(format!(
                    "the source has purged the beginning of its log ({before}); begin with a copy of its data directory"
                )));
            }
        }
        Ok(())
    }

    fn not_a_prefix(&self, at: LogPosition, ours: &str, theirs: &str) -> ReceiveError {
        let log = self.receiver.log();
        ReceiveError::NotAPrefix {
            ours: our_end(log),
            theirs: String::new(),
            difference: format!("at {}:{} here is {ours}, there {theirs}", log.file_name(at.file), at.offset),
        }
    }
}

/// Where our log ends, and what it holds.
pub(super) fn our_end(log: &binlog::BinaryLog) -> String {
    let end = log.durable_end();
    format!("{}:{} (GTIDs {})", log.file_name(end.file), end.offset, log.gtid_executed())
}

/// Equal but for the in-use flag of a FORMAT_DESCRIPTION.
fn is_same(ours: &[u8], theirs: &[u8]) -> bool {
    let is_format = ours.get(4) == Some(&EventType::FORMAT_DESCRIPTION.0);
    if !is_format || ours.len() != theirs.len() {
        return ours == theirs;
    }
    let mask = !(FLAG_BINLOG_IN_USE as u8);
    ours[..FLAGS_OFFSET] == theirs[..FLAGS_OFFSET]
        && ours[FLAGS_OFFSET] & mask == theirs[FLAGS_OFFSET] & mask
        && ours[FLAGS_OFFSET + 1..] == theirs[FLAGS_OFFSET + 1..]
}

fn describe(event: &RawEvent<'_>) -> String {
    let text = info(event).unwrap_or_else(|DecodeError(reason)| reason);
    let checksum = event.checksum().unwrap_or(0);
    format!("{} '{text}' ({} bytes, CRC32 {checksum:#010x})", event.header.event_type.name(), event.bytes.len())
}
