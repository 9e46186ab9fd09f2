//! The stream itself.

use std::sync::Arc;

use base::{LogPosition, SqlError};
use binlog::event::{
    CHECKSUM_SIZE, EventHeader, FLAG_BINLOG_IN_USE, Frame, HEADER_SIZE, Heartbeat, MAGIC, Rotate, encode_heartbeat,
    encode_maria_heartbeat, whole_event,
};
use binlog::{BinaryLog, BinlogError, EventType, FormatDescription, GtidEvent, GtidSet, LogEvent, LogReader, Pin};
use futures_lite::future;
use session::dump::{DumpRequest, EventStream};

use super::acks::Acks;
use super::maria::{Maria, Rendered};
use super::maria_count::Counted;
use super::maria_names::{Had, MariaNames};
use super::start::{self, Start};
use super::{Checksum, Ends, Wishes, fatal};

/// So many bytes are gathered before they are sent, unless the log's end comes first.
const SEND_SIZE: usize = 128 << 10;
/// Offset of `created` in the body of a FORMAT_DESCRIPTION.
const CREATED_OFFSET: usize = 2 + 50;

/// Streams until the end, an error, or for ever.
pub(super) async fn run(
    log: &Arc<BinaryLog>,
    request: &DumpRequest,
    wishes: &Wishes,
    end: Ends<'_>,
    acks: Option<Acks>,
    stream: &mut dyn EventStream,
) -> Result<(), SqlError> {
    let start = start::find(log, request, wishes)?;
    let maria = dialect(log, wishes, &start).await?;
    let pin = log.pin(&format!("the replica with server id {}", request.dump.server_id), start.at);
    let mut sender = Sender {
        log: log.clone(),
        wishes,
        end,
        acks,
        stream,
        pin,
        reader: log.reader(LogPosition::new(start.at.file, 0)),
        file: 0,
        has: start.has.clone(),
        maria,
        counted: Counted::default(),
        asked_for: (start.has.is_none() && start.had.is_none()).then_some(start.at),
        skipping: false,
        skipped_to: None,
        has_format: false,
    };
    sender.begin(&start).await?;
    sender.go_on().await
}

/// What makes MariaDB's events of ours, for a replica that is to have them.
async fn dialect(log: &Arc<BinaryLog>, wishes: &Wishes, start: &Start) -> Result<Option<Maria>, SqlError> {
    if !wishes.in_maria_dialect {
        return Ok(None);
    }
    if let Some(had) = &start.had {
        return Ok(Some(Maria::by_gtids(wishes.annotations, had.clone())));
    }
    if start.at.offset <= MAGIC.len() as u64 {
        return Ok(Some(Maria::new(wishes.annotations, Had::default())));
    }
    let names = MariaNames::at(log, start.at).await.map_err(reading)?;
    Ok(Some(Maria::behind(wishes.annotations, names)))
}

struct Sender<'a> {
    log: Arc<BinaryLog>,
    wishes: &'a Wishes,
    end: Ends<'a>,
    /// Of a semi-synchronous replica.
    acks: Option<Acks>,
    stream: &'a mut dyn EventStream,
    pin: Pin,
    reader: LogReader,
    /// The file that the client was told of.
    file: u64,
    has: Option<GtidSet>,
    /// It is sent in MariaDB's dialect.
    maria: Option<Maria>,
    /// Where the replica in MariaDB's dialect says that it is.
    counted: Counted,
    /// The place in a file that it has asked for.
    asked_for: Option<LogPosition>,
    /// Inside of a transaction that the client is not sent.
    skipping: bool,
    /// The client has not heard of what ends here.
    skipped_to: Option<LogPosition>,
    /// The client has a FORMAT_DESCRIPTION, which says that everything behind it has a checksum.
    has_format: bool,
}

impl Sender<'_> {
    /// Up to the first event that is asked for.
    async fn begin(&mut self, start: &Start) -> Result<(), SqlError> {
        self.send_rotate(start.at);
        if self.wishes.checksum == Checksum::Unknown {
            self.stream.flush().await?;
            return Err(fatal(
                "Replica can not handle replication events with the checksum that source is configured to log; the \
                 first event 'FORMAT_DESCRIPTION' carries CRC32 (set @source_binlog_checksum before the dump)",
            ));
        }
        let first = self.reader.next_event().await.map_err(reading)?;
        let format = first.ok_or_else(|| fatal("the log file has no first event"))?;
        let is_in_the_middle =
            start.at.offset > MAGIC.len() as u64 || self.maria.as_ref().is_some_and(Maria::begins_in_the_middle);
        self.send_format(&format, is_in_the_middle)?;
        if start.at.offset > format.end.offset {
            self.reader = self.log.reader(start.at);
        } else if start.at.offset > MAGIC.len() as u64 && start.at.offset < format.end.offset {
            return Err(inside_of_an_event(start.at, &self.log.file_name(start.at.file), format.start.offset));
        }
        Ok(())
    }

    async fn go_on(&mut self) -> Result<(), SqlError> {
        loop {
            self.end.check()?;
            let Some(event) = self.next_event().await? else {
                self.pin.set(self.reader.position());
                self.say_what_was_skipped();
                self.stream.flush().await?;
                self.listen().await?;
                let is_over = self.end.is_asked() && self.log.durable_end() <= self.reader.position();
                if self.wishes.non_blocking || is_over {
                    return Ok(());
                }
                self.wait().await?;
                continue;
            };
            if event.start.file != self.file {
                self.send_rotate(event.start);
                self.pin.set(event.start);
            }
            if event.header.event_type == EventType::FORMAT_DESCRIPTION {
                self.send_format(&event, false)?;
            } else if self.maria.is_some() {
                self.send_rendered(&event)?;
            } else if self.is_skipped(&event)? {
                self.skipped(&event);
                self.skipped_to = Some(event.end);
            } else {
                self.say_what_was_skipped();
                self.send(&event.bytes, Some(event.end));
            }
            if self.stream.buffered() >= SEND_SIZE {
                self.stream.flush().await?;
                self.listen().await?;
            }
        }
    }

    async fn next_event(&mut self) -> Result<Option<LogEvent>, SqlError> {
        match self.reader.next_event().await {
            Ok(event) => Ok(event),
            Err(error) => {
                let at = self.reader.position();
                if self.asked_for == Some(at) {
                    check_position(&self.log, at).await?;
                }
                Err(reading(error))
            }
        }
    }

    /// Waits for more log, with heartbeats, or for the end.
    async fn wait(&mut self) -> Result<(), SqlError> {
        let log = self.log.clone();
        let at = self.reader.position();
        // The end may be that of a file whose successor has nothing durable yet.
        while log.durable_end() <= at && !self.end.is_asked() {
            self.end.check()?;
            let clock = log.env().clock.clone();
            let period = self.wishes.heartbeat_period;
            let mut failed = None;
            let more = async {
                failed = log.wait_past(at).await.err();
            };
            let beat = async {
                match period {
                    Some(period) => clock.sleep(period).await,
                    None => future::pending().await,
                }
            };
            let is_done = self.stream.wait(Box::pin(future::or(more, future::or(beat, self.end.asked())))).await?;
            if !is_done {
                self.listen().await?;
                continue;
            }
            if let Some(error) = failed {
                return Err(error.into());
            }
            self.end.check()?;
            if log.durable_end() <= at && !self.end.is_asked() {
                self.send_heartbeat(at);
                self.stream.flush().await?;
            }
        }
        Ok(())
    }

    /// Sends an event; `end` is where it ends in the log, if it is there.
    fn send(&mut self, event: &[u8], end: Option<LogPosition>) {
        match &mut self.acks {
            None => self.stream.event(&[event]),
            Some(acks) => {
                let asks = end.is_some_and(|end| acks.asks(end));
                self.stream.semi_sync_event(event, asks);
            }
        }
    }

    fn skipped(&mut self, event: &LogEvent) {
        if let Some(acks) = &mut self.acks {
            acks.skipped(event.end);
        }
    }

    /// MySQL's replicas count their position by the events that they get; a heartbeat tells them of those that they did not.
    fn say_what_was_skipped(&mut self) {
        if let Some(at) = self.skipped_to.take()
            && self.wishes.heartbeat_period.is_some()
        {
            self.send_heartbeat(at);
        }
    }

    /// Takes what the client has said meanwhile.
    async fn listen(&mut self) -> Result<(), SqlError> {
        match &mut self.acks {
            Some(acks) => acks.take(self.stream).await,
            None => {
                while self.stream.said().await?.is_some() {}
                Ok(())
            }
        }
    }

    /// Whether the event is of a transaction that the client has, or that is nobody's but this server's and of copies of its log.
    fn is_skipped(&mut self, event: &LogEvent) -> Result<bool, SqlError> {
        let event_type = event.header.event_type;
        if event_type.is_gtid() {
            let head = GtidEvent::decode(event_type, event.raw().body()).map_err(BinlogError::from)?;
            self.skipping = match head.gtid {
                Some(gtid) => self.has.as_ref().is_some_and(|has| has.contains(gtid)),
                None => head.local_to.is_some() && !self.wishes.copies,
            };
        } else if matches!(event_type, EventType::ROTATE | EventType::STOP | EventType::PREVIOUS_GTIDS) {
            self.skipping = false;
        }
        Ok(self.skipping)
    }

    fn send_rendered(&mut self, event: &LogEvent) -> Result<(), SqlError> {
        let rendered = self.maria.as_mut().map_or(Ok(Rendered::AsIs), |maria| maria.event(event))?;
        match rendered {
            Rendered::Nothing if self.maria.as_ref().is_some_and(Maria::is_skipping) => self.skipped(event),
            Rendered::Nothing => {}
            Rendered::AsIs => self.send_counted(&event.bytes, event),
            Rendered::Instead(bytes) => self.send_counted(&bytes, event),
            Rendered::Both(first, second) => {
                self.counted.event(&first);
                self.send(&first, None);
                self.send_counted(&second, event);
            }
        }
        Ok(())
    }

    /// Sends what stands for an event of the log. A replica by positions gets a ROTATE to where it is if it has counted too far.
    fn send_counted(&mut self, bytes: &[u8], event: &LogEvent) {
        self.counted.event(bytes);
        self.send(bytes, Some(event.end));
        let by_position = !self.maria.as_ref().is_some_and(Maria::is_by_gtids);
        if by_position && ends_group(event) && self.counted.offset > event.end.offset {
            self.send_rotate(event.end);
        }
    }

    fn server_id(&self) -> u32 {
        self.log.options().server_id.0
    }

    fn with_checksum(&self) -> bool {
        self.has_format || self.wishes.checksum == Checksum::Crc32
    }

    fn send_rotate(&mut self, to: LogPosition) {
        let file = self.log.file_name(to.file);
        let rotate = Rotate { position: to.offset.max(MAGIC.len() as u64), file };
        let rotate = rotate.fake(self.server_id(), self.with_checksum());
        self.send(&rotate, None);
        self.file = to.file;
        self.counted = Counted { offset: to.offset.max(MAGIC.len() as u64) };
    }

    /// A MariaDB stops at a heartbeat from before the place that it has counted to.
    fn send_heartbeat(&mut self, at: LogPosition) {
        let counted = if self.maria.is_some() { self.counted.offset } else { 0 };
        let heartbeat = Heartbeat { file: self.log.file_name(at.file), position: at.offset.max(counted) };
        let (server_id, with_checksum) = (self.server_id(), self.with_checksum());
        let bytes = match self.wishes.is_maria {
            true => encode_maria_heartbeat(&heartbeat, server_id, with_checksum),
            false => encode_heartbeat(&heartbeat, server_id, self.wishes.heartbeat_v2, with_checksum),
        };
        self.send(&bytes, None);
    }

    /// A file that is read is not in use to its reader. Where the stream begins in the middle, the event has no position
    /// in it, and does not say that the server has started: the replica keeps its temporary tables.
    fn send_format(&mut self, event: &LogEvent, is_in_the_middle: bool) -> Result<(), SqlError> {
        let mut body = match self.maria {
            None => event.raw().body().to_vec(),
            Some(_) => Maria::format_body(FormatDescription::decode(&event.raw()).map_err(BinlogError::from)?),
        };
        if is_in_the_middle {
            body[CREATED_OFFSET..CREATED_OFFSET + 4].fill(0);
        }
        let EventHeader { timestamp, server_id, flags, .. } = event.header;
        let frame = Frame { timestamp, server_id, flags: flags & !FLAG_BINLOG_IN_USE };
        // What it begins with is its own length before its end, modulo 4 GiB. In MariaDB's dialect it is longer than that of the log,
        // and not counted if it has no position.
        let end = if is_in_the_middle || self.maria.is_some() { 0 } else { event.end.offset };
        let len = (HEADER_SIZE + body.len() + CHECKSUM_SIZE) as u64;
        let sent = whole_event(EventType::FORMAT_DESCRIPTION, frame, (1 << 32) + end - len, &body);
        self.send(&sent, None);
        self.has_format = true;
        Ok(())
    }
}

/// What cannot be read where the replica has asked to begin may be no damage: it may have asked for a place inside of an event.
async fn check_position(log: &Arc<BinaryLog>, at: LogPosition) -> Result<(), SqlError> {
    let mut before = log.reader(LogPosition::new(at.file, 0));
    while before.position().offset < at.offset {
        let Some(event) = before.next_event().await.map_err(reading)? else { return Ok(()) };
        if event.end.offset > at.offset {
            return Err(inside_of_an_event(at, &log.file_name(at.file), event.start.offset));
        }
    }
    Ok(())
}

fn inside_of_an_event(at: LogPosition, file: &str, begin: u64) -> SqlError {
    fatal(format!(
        "Client requested source to start replication from position {} of '{file}', which is inside of the event at {begin}",
        at.offset
    ))
}

/// Whether a transaction ends with the event.
fn ends_group(event: &LogEvent) -> bool {
    matches!(event.header.event_type, EventType::XID | EventType::XA_PREPARE | EventType::QUERY)
}

/// A reader's error as the replica gets it.
fn reading(error: BinlogError) -> SqlError {
    match error {
        BinlogError::Closed => error.into(),
        BinlogError::NoSuchFile(file) => fatal(format!("Could not open log file '{file}'")),
        other => fatal(format!("bogus data in log event; {other}")),
    }
}
