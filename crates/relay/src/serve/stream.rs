//! The dump: the log's events to one replica, as they are.
//!
//! A stream is, for each file: an artificial ROTATE that names it; its FORMAT_DESCRIPTION (artificial too where the stream begins
//! behind it); then the file's events. At the end of what is published it waits, with a heartbeat now and then. To a replica that
//! follows by GTIDs what it has is not sent.
//!
//! Where one generation ends and the next begins, the next one's first file begins with transactions that the stream has sent already:
//! what the generations before hold counts as what the replica has.

use std::sync::Arc;
use std::time::Duration;

use base::SqlError;
use binlog::event::{
    CHECKSUM_SIZE, ChecksumAlgorithm, Frame, HEADER_SIZE, Heartbeat, MAGIC, Rotate, encode_heartbeat,
    encode_maria_heartbeat, whole_event,
};
use binlog::{BinlogError, EventType, GtidEvent, RawEvent};
use futures_lite::future;
use io::ThreadTurn;
use repl::source::{Checksum, Wishes, fatal};
use session::dump::DumpRequest;

use super::link::{Ended, Link};
use super::semi_sync::SemiSync;
use super::start::{self, Had, Has, Start, not_in_the_log};
use crate::acks::Place;
use crate::gtids::{Gtids, Name};
use crate::relay::Relay;
use crate::store::reader::{Reader, Step};
use crate::store::{FileId, Pin, Store};

/// So many bytes are gathered before they are sent, unless the log's end comes first.
const SEND_SIZE: usize = 128 << 10;
/// Offset of `created` in the body of a FORMAT_DESCRIPTION.
const CREATED_OFFSET: usize = 2 + 50;

/// Why a stream ends: the replica is told, or it is gone.
pub(crate) enum Failed {
    Told(SqlError),
    Gone(Ended),
}

impl From<SqlError> for Failed {
    fn from(error: SqlError) -> Self {
        Failed::Told(error)
    }
}

impl From<Ended> for Failed {
    fn from(ended: Ended) -> Self {
        Failed::Gone(ended)
    }
}

/// A reader's error as the replica gets it.
pub(crate) fn reading(error: BinlogError) -> SqlError {
    match error {
        BinlogError::NoSuchFile(file) => fatal(format!("Could not open log file '{file}'")),
        BinlogError::NoSuchPosition { .. } => fatal(error.to_string()),
        other => fatal(format!("bogus data in log event; {other}")),
    }
}

/// Streams until the end, an error, or for ever.
pub(crate) async fn run(relay: &Relay, request: &DumpRequest, link: &mut Link) -> Result<(), Failed> {
    let wishes = Wishes::of(request);
    let store = relay.store().clone();
    if !wishes.non_blocking {
        // Before the relay was at its source for the first time there is nothing to begin with.
        while !link.wait_for(Box::pin(store.wait_past(FileId::default(), 0))).await? {}
    }
    // Nothing goes while it is looked for, so what is found is there.
    let pin = store.pin(FileId::default());
    let start = start::find(&store, request, &wishes).await?;
    pin.set(start.file);
    let reader = Reader::open(&store, start.file, start.offset).await.map_err(reading)?;
    let begins = Place { file: start.file, offset: start.offset };
    let semi_sync = wishes.semi_sync.then(|| SemiSync::new(relay.acks().clone(), request.connection.0, begins));
    let server_id = relay.identity().server_id;
    let sent = store.env().clock.monotonic();
    let has = start.has.clone();
    let mut sender = Sender {
        store,
        wishes,
        semi_sync,
        link,
        pin,
        reader,
        server_id,
        has,
        generation: start.file.generation,
        skipping: false,
        skipped_to: None,
        checksum: None,
        sent,
        turn: ThreadTurn::default(),
    };
    sender.begin(&start).await?;
    sender.go_on().await
}

struct Sender<'a> {
    store: Arc<Store>,
    wishes: Wishes,
    semi_sync: Option<SemiSync>,
    link: &'a mut Link,
    pin: Pin,
    reader: Reader,
    server_id: u32,
    /// Of MariaDB's GTIDs those that were not found yet: what is before them in their domains is left out.
    has: Has,
    /// In which the stream began.
    generation: u32,
    /// Inside of a transaction that the client is not sent.
    skipping: bool,
    /// Behind the last event that was left out, where nothing was sent since.
    skipped_to: Option<u64>,
    /// What the client's last FORMAT_DESCRIPTION says of checksums; `None` before the first.
    checksum: Option<ChecksumAlgorithm>,
    /// When something was sent.
    sent: Duration,
    turn: ThreadTurn,
}

impl Sender<'_> {
    /// Up to the first event that is asked for.
    async fn begin(&mut self, start: &Start) -> Result<(), Failed> {
        self.send_rotate(start.offset);
        if self.wishes.checksum == Checksum::Unknown && self.reader.head().checksum == ChecksumAlgorithm::Crc32 {
            self.link.send().await?;
            return Err(Failed::Told(fatal(
                "Replica can not handle replication events with the checksum that source is configured to log; the first event \
                 'FORMAT_DESCRIPTION' carries CRC32 (set @source_binlog_checksum before the dump)",
            )));
        }
        let is_in_the_middle = start.offset > MAGIC.len() as u64;
        if is_in_the_middle || matches!(&start.has, Has::Maria(has) if !has.is_empty()) {
            self.send_artificial_format();
            if !is_in_the_middle {
                // The real one is left out.
                self.reader.step().await.map_err(reading)?;
            }
        }
        self.forget_found();
        Ok(())
    }

    async fn go_on(&mut self) -> Result<(), Failed> {
        loop {
            match self.reader.step().await.map_err(reading)? {
                Step::End => {
                    self.pause();
                    self.say_what_was_skipped();
                    self.flush().await?;
                    if self.wishes.non_blocking {
                        return Ok(());
                    }
                    self.wait().await?;
                }
                Step::File => self.begin_file()?,
                Step::Event => self.send_event()?,
            }
            if self.link.writer.len() >= SEND_SIZE {
                self.flush().await?;
            } else if self.skipping {
                self.beat_while_skipping().await?;
            }
            // All may be in memory, and the client may take it as fast.
            self.turn.pass(&*self.store.env().clock).await;
        }
    }

    async fn flush(&mut self) -> Result<(), Failed> {
        if !self.link.writer.is_empty() {
            self.link.send().await?;
            self.sent = self.store.env().clock.monotonic();
        }
        self.listen().await
    }

    /// Takes what the client has said meanwhile; only one that acknowledges has anything to say.
    async fn listen(&mut self) -> Result<(), Failed> {
        while let Some(packet) = self.link.said().await? {
            if let Some(semi_sync) = &mut self.semi_sync {
                semi_sync.said(&self.link.reader.buffer()[packet])?;
            }
        }
        Ok(())
    }

    /// Nothing is sent of what is before the reader's place, that was not sent yet.
    fn pause(&mut self) {
        let at = Place { file: self.reader.file().id, offset: self.reader.position() };
        if let Some(semi_sync) = &mut self.semi_sync {
            semi_sync.pause(self.link, at);
        }
    }

    /// Sends an event that is of no file.
    fn send_artificial(&mut self, event: &[u8]) {
        match &mut self.semi_sync {
            Some(semi_sync) => semi_sync.artificial(self.link, event),
            None => self.link.event(event),
        }
    }

    /// The reader has gone on to another file.
    fn begin_file(&mut self) -> Result<(), Failed> {
        let id = self.reader.file().id;
        // Who follows by positions would be sent again what both generations have, and go on with positions of another server.
        if self.has == Has::Position && id.generation != self.generation {
            return Err(Failed::Told(fatal(format!(
                "the relay's source is another server from here on, with other files and positions; the next file is {}. Go on by GTIDs, \
                 or find the new position",
                self.reader.file().name
            ))));
        }
        self.pin.set(id);
        (self.skipping, self.skipped_to) = (false, None);
        self.send_rotate(MAGIC.len() as u64);
        if is_first_of_generation(&self.store, id) {
            self.add_generations_before(id)?;
        }
        self.forget_found();
        Ok(())
    }

    /// What was sent of the generations before is not sent again.
    fn add_generations_before(&mut self, id: FileId) -> Result<(), SqlError> {
        let Some(generation) = self.store.generation_of(id.generation) else { return Ok(()) };
        let bad = |error| fatal(format!("what the relay has kept of its generations: {error}"));
        match (&mut self.has, generation.gtids_before().map_err(bad)?) {
            (Has::Mysql(has), Gtids::Mysql(before)) => has.union(&before),
            (Has::Maria(has), Gtids::Maria(before)) => {
                for name in before.position() {
                    // What is still looked for is farther on.
                    if !has.iter().any(|had| had.name.domain_id == name.domain_id) {
                        has.push(Had { name, is_ahead: false });
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A domain whose newest transaction before this file is what the replica has is sent from here on.
    fn forget_found(&mut self) {
        let (Has::Maria(has), Gtids::Maria(before)) = (&mut self.has, &self.reader.head().gtids) else { return };
        has.retain(|had| before.newest(had.name.domain_id) != Some(had.name));
    }

    fn send_event(&mut self) -> Result<(), Failed> {
        let event = self.reader.event().map_err(reading)?;
        let event_type = event.header.event_type;
        if event_type == EventType::FORMAT_DESCRIPTION {
            self.checksum = Some(self.reader.head().checksum);
        }
        if event_type.begins_transaction() {
            let name = Name::of(&event).map_err(|error| reading(error.into()))?;
            self.skipping = match name {
                Some(name) => is_had(&mut self.has, &name)?,
                None => is_local(&event)? && !self.wishes.copies,
            };
        } else if ends_skipping(event_type) {
            self.skipping = false;
        }
        if self.skipping {
            self.skipped_to = Some(self.reader.position());
            self.pause();
        } else if event_type != EventType::MARIA_ANNOTATE_ROWS || self.wishes.annotations {
            self.say_what_was_skipped();
            let (event, file) = (self.reader.event().map_err(reading)?, self.reader.file());
            let end = Place { file: file.id, offset: self.reader.position() };
            match &mut self.semi_sync {
                Some(semi_sync) => semi_sync.event(self.link, event.bytes, &file.name, end),
                None => self.link.event(event.bytes),
            }
        }
        Ok(())
    }

    /// MySQL's replicas count their position by the events that they get; a heartbeat tells them of those that they did not.
    fn say_what_was_skipped(&mut self) {
        if let Some(position) = self.skipped_to.take()
            && self.wishes.heartbeat_period.is_some()
        {
            self.send_heartbeat(position);
        }
    }

    /// Waits for more log, or sends a heartbeat.
    async fn wait(&mut self) -> Result<(), Failed> {
        let clock = self.store.env().clock.clone();
        let period = self.wishes.heartbeat_period;
        let mut is_silent = true;
        let reader = &self.reader;
        let more = async {
            reader.wait().await;
            is_silent = false;
        };
        let beat = async {
            match period {
                Some(period) => clock.sleep(period).await,
                None => future::pending().await,
            }
        };
        if !self.link.wait_for(Box::pin(future::or(more, beat))).await? {
            return self.listen().await;
        }
        if is_silent {
            self.send_heartbeat(self.reader.position());
            self.flush().await?;
        }
        Ok(())
    }

    /// A replica that has most of a long file is not to think that nobody is here.
    async fn beat_while_skipping(&mut self) -> Result<(), Failed> {
        let now = self.store.env().clock.monotonic();
        if self.wishes.heartbeat_period.is_some_and(|period| now.saturating_sub(self.sent) >= period) {
            self.send_heartbeat(self.reader.position());
            self.flush().await?;
        }
        Ok(())
    }

    fn with_checksum(&self) -> bool {
        match self.checksum {
            Some(checksum) => checksum == ChecksumAlgorithm::Crc32,
            None => self.wishes.checksum == Checksum::Crc32,
        }
    }

    fn send_rotate(&mut self, position: u64) {
        let rotate = Rotate { position, file: self.reader.file().name.clone() };
        let bytes = rotate.fake(self.server_id, self.with_checksum());
        self.send_artificial(&bytes);
    }

    fn send_heartbeat(&mut self, position: u64) {
        let heartbeat = Heartbeat { file: self.reader.file().name.clone(), position };
        let (server_id, with_checksum) = (self.server_id, self.with_checksum());
        let bytes = match self.wishes.is_maria {
            true => encode_maria_heartbeat(&heartbeat, server_id, with_checksum),
            false => encode_heartbeat(&heartbeat, server_id, self.wishes.heartbeat_v2, with_checksum),
        };
        self.send_artificial(&bytes);
    }

    /// Where the stream begins in the middle, the event has no position in it, and does not say that the server has started: the
    /// replica keeps its temporary tables.
    fn send_artificial_format(&mut self) {
        let head = self.reader.head();
        self.checksum = Some(head.checksum);
        let Ok(event) = RawEvent::first_of(&head.format, ChecksumAlgorithm::Crc32) else { return };
        let mut body = event.body().to_vec();
        body[CREATED_OFFSET..CREATED_OFFSET + 4].fill(0);
        let frame =
            Frame { timestamp: event.header.timestamp, server_id: event.header.server_id, flags: event.header.flags };
        let len = (HEADER_SIZE + body.len() + CHECKSUM_SIZE) as u64;
        // What it begins with is its own length before 0, modulo 4 GiB.
        let sent = whole_event(EventType::FORMAT_DESCRIPTION, frame, (1 << 32) - len, &body);
        self.send_artificial(&sent);
    }
}

/// Whether a file is the first of its generation that is still there.
fn is_first_of_generation(store: &Store, id: FileId) -> bool {
    store.files().iter().find(|file| file.id.generation == id.generation).is_some_and(|first| first.id == id)
}

/// Whether the transaction that begins with the event is local to a commuter server (`sql_log_bin=0`).
fn is_local(event: &RawEvent<'_>) -> Result<bool, Failed> {
    if event.header.event_type != EventType::ANONYMOUS_GTID {
        return Ok(false);
    }
    let head = GtidEvent::decode(event.header.event_type, event.body());
    head.map(|head| head.local_to.is_some()).map_err(|error| Failed::Told(reading(error.into())))
}

fn ends_skipping(event_type: EventType) -> bool {
    matches!(
        event_type,
        EventType::ROTATE
            | EventType::STOP
            | EventType::PREVIOUS_GTIDS
            | EventType::MARIA_GTID_LIST
            | EventType::FORMAT_DESCRIPTION
            | EventType::MARIA_BINLOG_CHECKPOINT
    )
}

/// Whether a transaction is one that the replica has. Of MariaDB's domains that is all up to the one that the replica named.
///
/// # Errors
/// When that one should have come before this one: the replica's history is another.
fn is_had(has: &mut Has, name: &Name) -> Result<bool, SqlError> {
    match (has, name) {
        (Has::Mysql(has), Name::Mysql(gtid)) => Ok(has.contains(*gtid)),
        (Has::Maria(has), Name::Maria(name)) => {
            let Some(at) = has.iter().position(|had| had.name.domain_id == name.domain_id) else { return Ok(false) };
            let had = has[at];
            // Numbers ascend; those of several servers in one domain only if these are strict, but what was ahead of all is
            // ahead of what comes before it.
            if name.seq_no > had.name.seq_no && (name.server_id == had.name.server_id || had.is_ahead) {
                return Err(not_in_the_log(&had.name));
            }
            if *name == had.name {
                has.remove(at);
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}
