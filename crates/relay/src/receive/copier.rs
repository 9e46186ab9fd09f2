//! From the stream's events to the files: compares what both have, then appends.
//!
//! The stream is asked for from the beginning of our last transaction, not from our end. What comes first must be what is here
//! already, to the byte: a transaction has its GTID, its time and its place in it, so a source whose bytes are the same there has the
//! same log up to there. Only then anything is appended.
//!
//! # What of the stream is not of a file
//! Heartbeats; the ROTATE that names the file that follows; the FORMAT_DESCRIPTION that a stream from the middle of a file begins
//! with; whatever else has the flag *artificial*. MariaDB's events inside of a group have no position, and are of the file.
//!
//! # The in-use flag
//! A source sets it in the FORMAT_DESCRIPTION of the file that it writes, and takes it back when it leaves the file; no checksum has
//! it. It sends the event without it. So the flag is never set here, and a file is equal to the source's once that is closed.

use binlog::dump::info;
use binlog::event::{
    CHECKSUM_SIZE, ChecksumAlgorithm, FLAG_ARTIFICIAL, FLAG_BINLOG_IN_USE, FLAGS_OFFSET, HEADER_SIZE, MAGIC, Rotate,
};
use binlog::{DecodeError, EventHeader, EventType, FormatDescription, RawEvent};
use repl::follower::ReceiveError;

use crate::acks::Place;
use crate::store::Store;
use crate::store::head::verify;
use crate::store::reader::{Reader, Step};
use crate::store::writer::Writer;

/// What an event was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// Appended, or compared.
    Event,
    /// The source is here, and has nothing else to say.
    Heartbeat,
    /// Part of the stream, not of a file.
    Artificial,
}

/// One connection's stream on its way into the files.
pub(crate) struct Copier<'a> {
    pub(crate) writer: &'a mut Writer,
    /// Our own file from where the stream begins, until all of it was compared.
    comparing: Option<Reader>,
    /// How the stream's events are protected.
    checksum: ChecksumAlgorithm,
}

impl<'a> Copier<'a> {
    /// For a stream that begins at a position of the file that is here, if there is one.
    pub(crate) async fn new(writer: &'a mut Writer, position: u64) -> Result<Self, ReceiveError> {
        let comparing = match writer.store().live() {
            Some(live) => Some(Reader::open(writer.store(), live.id, position).await?),
            None => None,
        };
        let checksum = writer.checksum();
        Ok(Copier { writer, comparing, checksum })
    }

    /// Takes the next event of the stream.
    pub(crate) async fn event(&mut self, bytes: &[u8]) -> Result<Received, ReceiveError> {
        let header = EventHeader::decode(bytes)?;
        let is_artificial = header.flags & FLAG_ARTIFICIAL != 0;
        match header.event_type {
            EventType::HEARTBEAT | EventType::HEARTBEAT_V2 => return Ok(Received::Heartbeat),
            EventType::ROTATE if is_artificial || header.next_position == 0 => {
                self.rotate(&artificial_rotate(bytes)?).await?;
                return Ok(Received::Artificial);
            }
            EventType::FORMAT_DESCRIPTION => {
                let event = RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32)?;
                self.checksum = FormatDescription::decode(&event)?.checksum;
                if header.next_position == 0 {
                    return Ok(Received::Artificial);
                }
            }
            _ if is_artificial => return Ok(Received::Artificial),
            _ => {}
        }
        let event = RawEvent::first_of(bytes, self.checksum)?;
        verify(&event, self.checksum)?;
        if event.bytes.len() != bytes.len() {
            let reason = format!("an event of {} bytes in a packet of {}", event.bytes.len(), bytes.len());
            return Err(ReceiveError::Garbled(DecodeError(reason)));
        }
        if self.comparing.is_some() {
            self.compare(&event).await?;
        } else {
            self.writer.append(&event).await?;
        }
        Ok(Received::Event)
    }

    /// Behind the last event of a file that was received, with the file's name.
    pub(crate) fn place(&self) -> (Place, String) {
        let offset = self.comparing.as_ref().map_or_else(|| self.writer.end(), Reader::position);
        (Place { file: self.writer.file_id(), offset }, self.writer.file_name().to_owned())
    }

    /// Whether everything that was here before was seen to be the source's too.
    pub(crate) fn is_compared(&self) -> bool {
        self.comparing.is_none()
    }

    /// The stream names the file that follows.
    async fn rotate(&mut self, to: &Rotate) -> Result<(), ReceiveError> {
        if to.file == self.writer.file_name() {
            return Ok(());
        }
        if let Some(reader) = &self.comparing {
            let theirs = format!("the end of the file, {} is next", to.file);
            return Err(self.not_a_prefix(reader.position(), "more", &theirs));
        }
        Ok(self.writer.start_file(&to.file).await?)
    }

    async fn compare(&mut self, theirs: &RawEvent<'_>) -> Result<(), ReceiveError> {
        let Some(reader) = &mut self.comparing else { return Ok(()) };
        let at = reader.position();
        if reader.step().await? != Step::Event {
            return Err(self.not_a_prefix(at, "nothing", &describe(theirs)));
        }
        let ours = reader.event()?;
        if !is_same(ours.bytes, theirs.bytes) {
            let ours = describe(&ours);
            return Err(self.not_a_prefix(at, &ours, &describe(theirs)));
        }
        if reader.position() >= self.writer.end() {
            self.comparing = None;
        }
        Ok(())
    }

    fn not_a_prefix(&self, at: u64, ours: &str, theirs: &str) -> ReceiveError {
        ReceiveError::NotAPrefix {
            ours: our_end(self.writer.store()),
            theirs: String::new(),
            difference: format!("at {}:{at} here is {ours}, there {theirs}", self.writer.file_name()),
        }
    }
}

/// The ROTATE that a dump thread makes up has a checksum or not, by what it believes of us; it is small, so it is tried.
fn artificial_rotate(bytes: &[u8]) -> Result<Rotate, DecodeError> {
    let with_checksum = RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32)
        .ok()
        .filter(|event| event.bytes.len() > HEADER_SIZE + CHECKSUM_SIZE && event.verify().is_ok());
    match with_checksum {
        Some(event) => Rotate::decode(event.body()),
        None => Rotate::decode(RawEvent::first_of(bytes, ChecksumAlgorithm::Off)?.body()),
    }
}

/// The name in the first event of a stream.
pub(crate) fn first_rotate(bytes: &[u8]) -> Result<String, DecodeError> {
    match EventHeader::decode(bytes)?.event_type {
        EventType::ROTATE => artificial_rotate(bytes).map(|rotate| rotate.file),
        other => Err(DecodeError(format!("a stream begins with {other:?} and not with the name of a file"))),
    }
}

/// Where our log ends, and what it holds.
pub(crate) fn our_end(store: &Store) -> String {
    let gtids = store.gtids().map(|gtids| gtids.to_string()).unwrap_or_default();
    match store.live() {
        Some(live) => format!("{}:{} (GTIDs {gtids})", live.name, live.size),
        None => format!("position {} of no file (GTIDs {gtids})", MAGIC.len()),
    }
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
