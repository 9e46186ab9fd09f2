//! The stream to a replica or a tool.
//!
//! It is, for each file: an artificial ROTATE that names it; its FORMAT_DESCRIPTION (without position and time of creation where the
//! stream begins behind it); then the file's events as they are, but those of transactions that a replica with GTIDs has. At the log's end
//! it waits, with a heartbeat now and then. Events have checksums where the file has them; those that are made up here have one once the
//! stream has shown that it does.

use std::sync::Arc;
use std::time::Duration;

use base::{SqlError, codes};
use binlog::BinlogError;
use binlog::event::{
    CHECKSUM_SIZE, ChecksumAlgorithm, EventHeader, FLAG_BINLOG_IN_USE, Frame, HEADER_SIZE, Heartbeat, MAGIC, RawEvent,
    Rotate, encode_heartbeat, encode_maria_heartbeat, whole_event,
};
use event_listener::Event;
use futures_lite::future;
use parking_lot::Mutex;
use session::Transport;
use types::Value;
use wire::replication::{BinlogDump, DUMP_HEARTBEAT_V2, DUMP_NON_BLOCK, EVENT};

use crate::Relay;
use crate::connection::Session;
use crate::error::fatal;
use crate::link::{Ended, Link};
use crate::start::{self, Skipper, Start};
use crate::statements::Answer;
use crate::store::{Next, Reader};

/// So many bytes are gathered before they are sent, unless the log's end comes first.
const SEND_BYTES: usize = 128 << 10;
/// Offset of `created` in the body of a FORMAT_DESCRIPTION.
const CREATED_OFFSET: usize = 2 + 50;

/// All streams: a replica that comes again ends its older one.
#[derive(Default)]
pub(crate) struct Dumps(Mutex<Vec<Arc<OneDump>>>);

struct OneDump {
    connection: u32,
    server_id: u32,
    uuid: String,
    host: String,
    port: u16,
    is_over: Mutex<bool>,
    ended: Event,
}

impl OneDump {
    fn end(&self) {
        *self.is_over.lock() = true;
        self.ended.notify(usize::MAX);
    }

    async fn over(&self) {
        loop {
            let ended = self.ended.listen();
            if *self.is_over.lock() {
                return;
            }
            ended.await;
        }
    }

    fn is_same_replica(&self, other: &OneDump) -> bool {
        match (self.uuid.as_str(), other.uuid.as_str()) {
            ("", "") => self.server_id == other.server_id && self.server_id != 0,
            (ours, theirs) => ours.eq_ignore_ascii_case(theirs),
        }
    }
}

impl Dumps {
    fn begin(&self, dump: OneDump) -> Arc<OneDump> {
        let dump = Arc::new(dump);
        let mut all = self.0.lock();
        for older in all.iter().filter(|older| older.is_same_replica(&dump)) {
            tracing::info!("a new stream of the same replica ends that of connection {}", older.connection);
            older.end();
        }
        all.push(dump.clone());
        dump
    }

    fn remove(&self, connection: u32) {
        self.0.lock().retain(|dump| dump.connection != connection);
    }

    /// `SHOW REPLICAS`
    pub(crate) fn list(&self, source_id: u32) -> Answer {
        let columns = ["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"].map(str::to_owned).to_vec();
        let row = |dump: &Arc<OneDump>| {
            let fields = [
                dump.server_id.to_string(),
                dump.host.clone(),
                dump.port.to_string(),
                source_id.to_string(),
                dump.uuid.clone(),
            ];
            fields.map(Some).to_vec()
        };
        Answer::Rows(columns, self.0.lock().iter().map(row).collect())
    }
}

/// A value as text; `None` for NULL.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Str(bytes) | Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

/// What a client said about how it wants the stream.
struct Wishes {
    non_blocking: bool,
    heartbeat_v2: bool,
    heartbeat_period: Option<Duration>,
    /// `None`: it does not know that there are checksums.
    checksum: Option<ChecksumAlgorithm>,
    is_maria: bool,
}

impl Wishes {
    fn of(session: &Session, dump: &BinlogDump) -> Self {
        let is_maria = session.variable(&["mariadb_slave_capability"]).is_some();
        let period = session.variable(&["source_heartbeat_period", "master_heartbeat_period"]).and_then(text);
        let period = period.and_then(|text| text.split('.').next()?.parse().ok());
        let checksum = session.variable(&["source_binlog_checksum", "master_binlog_checksum"]).and_then(text);
        let is_crc32 = |text: String| text.eq_ignore_ascii_case("CRC32") || text == "1";
        let checksum =
            checksum.map(|text| if is_crc32(text) { ChecksumAlgorithm::Crc32 } else { ChecksumAlgorithm::Off });
        Wishes {
            non_blocking: dump.flags & DUMP_NON_BLOCK != 0,
            // In MariaDB's dialect the same bit asks for the statements of rows, which are sent to everybody.
            heartbeat_v2: dump.flags & DUMP_HEARTBEAT_V2 != 0 && !is_maria,
            heartbeat_period: period.filter(|&nanos| nanos > 0).map(Duration::from_nanos),
            checksum,
            is_maria,
        }
    }
}

/// Streams until the end, an error, or for ever. The outer error is the connection's, the inner one is told to the client.
pub(crate) async fn run<T: Transport>(
    relay: &Arc<Relay>,
    link: &mut Link<T>,
    session: &Session,
    dump: &BinlogDump,
) -> Result<Result<(), SqlError>, Ended> {
    let start = match start::find(relay, session, dump).await {
        Ok(start) => start,
        Err(error) => return Ok(Err(error)),
    };
    let reader = match Reader::open(&relay.store, start.file.number).await {
        Ok(reader) => reader,
        Err(error) => return Ok(Err(reading(error))),
    };
    let replica = session.replica.clone().unwrap_or_default();
    let one = relay.dumps.begin(OneDump {
        connection: session.id,
        server_id: dump.server_id,
        uuid: session.variable(&["replica_uuid", "slave_uuid"]).and_then(text).unwrap_or_default(),
        host: replica.host,
        port: replica.port,
        is_over: Mutex::new(false),
        ended: Event::new(),
    });
    let wishes = Wishes::of(session, dump);
    let has_format = wishes.checksum == Some(ChecksumAlgorithm::Crc32);
    let Start { position, has, .. } = start;
    let mut sender = Sender { relay, link, wishes, reader, skipper: Skipper::new(has), with_checksum: has_format };
    let streamed = async {
        match sender.begin(position).await? {
            Ok(()) => sender.go_on().await,
            refused => Ok(refused),
        }
    };
    let ended = async {
        one.over().await;
        let text = "A replica with the same server_uuid/server_id as this replica has connected to the source";
        Ok(Err(fatal(text)))
    };
    let result = future::or(streamed, ended).await;
    relay.dumps.remove(session.id);
    result
}

/// A reader's error as the replica gets it.
fn reading(error: BinlogError) -> SqlError {
    match error {
        BinlogError::NoSuchFile(file) => fatal(format!("Could not open log file '{file}'")),
        other => fatal(format!("bogus data in log event; {other}")),
    }
}

struct Sender<'a, T> {
    relay: &'a Arc<Relay>,
    link: &'a mut Link<T>,
    wishes: Wishes,
    reader: Reader,
    skipper: Skipper,
    /// What is made up gets a checksum.
    with_checksum: bool,
}

impl<T: Transport> Sender<'_, T> {
    fn put(&mut self, event: &[u8]) {
        self.link.writer.packet(|out| {
            out.push(EVENT);
            out.extend_from_slice(event);
        });
    }

    /// Up to the first event that is asked for.
    async fn begin(&mut self, position: u64) -> Result<Result<(), SqlError>, Ended> {
        self.put_rotate(position);
        if self.wishes.checksum.is_none() && self.reader.checksum() == ChecksumAlgorithm::Crc32 {
            self.link.send().await?;
            return Ok(Err(fatal(
                "Replica can not handle replication events with the checksum that source is configured to log; the \
                 first event 'FORMAT_DESCRIPTION' carries CRC32 (set @source_binlog_checksum before the dump)",
            )));
        }
        let behind_format = self.reader.position();
        let is_behind = position > MAGIC.len() as u64;
        // A MariaDB that follows by GTIDs is at no position of a file yet.
        let is_in_the_middle = is_behind || (self.wishes.is_maria && self.skipper.by_gtids());
        self.put_format(is_in_the_middle);
        if is_behind && position < behind_format {
            return Ok(Err(fatal(format!("position {position} is inside of an event"))));
        }
        if is_behind {
            self.reader.seek(position);
        }
        Ok(Ok(()))
    }

    async fn go_on(&mut self) -> Result<Result<(), SqlError>, Ended> {
        loop {
            let next = match self.reader.next().await {
                Ok(next) => next,
                Err(error) => return Ok(Err(reading(error))),
            };
            match next {
                Next::Event(event) => match self.skipper.skips(&event) {
                    Ok(true) => {}
                    Ok(false) => self.link.writer.packet(|out| {
                        out.push(EVENT);
                        out.extend_from_slice(event.bytes);
                    }),
                    Err(error) => return Ok(Err(error)),
                },
                Next::File => {
                    self.put_rotate(MAGIC.len() as u64);
                    self.put_format(false);
                }
                Next::End => {
                    self.link.send().await?;
                    if self.wishes.non_blocking {
                        return Ok(Ok(()));
                    }
                    self.wait().await?;
                    if let Some(why) = self.relay.store.failure() {
                        return Ok(Err(SqlError::new(codes::SERVER_SHUTDOWN, why)));
                    }
                }
            }
            if self.link.writer.len() >= SEND_BYTES {
                self.link.send().await?;
            }
        }
    }

    /// Waits for more, with heartbeats.
    async fn wait(&mut self) -> Result<(), Ended> {
        let store = self.relay.store.clone();
        let (number, position) = (self.reader.number(), self.reader.position());
        while !store.has_more(number, position) && store.failure().is_none() {
            let clock = self.relay.env().clock.clone();
            let period = self.wishes.heartbeat_period;
            let beat = async {
                match period {
                    Some(period) => clock.sleep(period).await,
                    None => future::pending().await,
                }
            };
            self.link.wait_for(future::or(store.wait_past(number, position), beat)).await?;
            if !store.has_more(number, position) {
                self.put_heartbeat(position);
                self.link.send().await?;
            }
        }
        Ok(())
    }

    fn server_id(&self) -> u32 {
        self.relay.identity.server_id
    }

    fn put_rotate(&mut self, position: u64) {
        let rotate = Rotate { position, file: self.reader.name().to_string() };
        let event = rotate.fake(self.server_id(), self.with_checksum);
        self.put(&event);
    }

    fn put_heartbeat(&mut self, position: u64) {
        let heartbeat = Heartbeat { file: self.reader.name().to_string(), position };
        let (server_id, with_checksum) = (self.server_id(), self.with_checksum);
        let event = match self.wishes.is_maria {
            true => encode_maria_heartbeat(&heartbeat, server_id, with_checksum),
            false => encode_heartbeat(&heartbeat, server_id, self.wishes.heartbeat_v2, with_checksum),
        };
        self.put(&event);
    }

    /// The file's own, or the same without a place and a time where the stream begins behind it: the replica keeps its temporary
    /// tables.
    fn put_format(&mut self, is_in_the_middle: bool) {
        self.with_checksum = self.reader.checksum() == ChecksumAlgorithm::Crc32;
        let format = self.reader.format().to_vec();
        if is_in_the_middle && let Some(event) = without_place(&format) {
            return self.put(&event);
        }
        self.put(&format);
    }
}

fn without_place(format: &[u8]) -> Option<Vec<u8>> {
    let event = RawEvent::first_of(format, ChecksumAlgorithm::Crc32).ok()?;
    let mut body = event.body().to_vec();
    body.get_mut(CREATED_OFFSET..CREATED_OFFSET + 4)?.fill(0);
    let EventHeader { timestamp, server_id, flags, .. } = event.header;
    let frame = Frame { timestamp, server_id, flags: flags & !FLAG_BINLOG_IN_USE };
    // It says that it ends at 0, modulo 4 GiB.
    let len = (HEADER_SIZE + body.len() + CHECKSUM_SIZE) as u64;
    Some(whole_event(binlog::EventType::FORMAT_DESCRIPTION, frame, (1 << 32) - len, &body))
}
