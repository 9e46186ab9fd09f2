//! The receiver's task: connect, see what the source is, hand on its events; again when the connection is lost, until told to stop.

use std::sync::atomic::Ordering;

use binlog::event::{ChecksumAlgorithm, EventType, FLAG_ARTIFICIAL, Heartbeat, MariaGtid, Rotate};
use binlog::{Boundary, FormatDescription, GNO_MAX, GtidEvent, RawEvent};
use futures_lite::future;
use wire::replication::SemiSyncAck;

use super::parallel::Head;
use super::queue::{Item, Refused};
use super::source::{self, SourceKind, Start};
use super::until::Until;
use super::{Place, Run};
use crate::follower::SourceSettings;
use crate::follower::error::{ReceiveError, of_client};
use crate::follower::handshake::SourceClient;
use crate::follower::receiver::{QUICK_ATTEMPTS, pause_before};
use crate::follower::status::{IoState, Running};
use crate::received::ReceivedLog;

/// Events are handed on when there are so many bytes of them, or none is here to be read.
const BATCH_BYTES: usize = 64 << 10;

/// Why a connection has ended.
enum Ended {
    /// The executor goes back to the beginning of a transaction.
    StartOver,
    /// The executor has stopped, with an error of its own.
    Closed,
    /// The source is one of ours.
    IsOurs,
    Failed(ReceiveError),
}

impl From<ReceiveError> for Ended {
    fn from(error: ReceiveError) -> Self {
        Ended::Failed(error)
    }
}

impl From<Refused> for Ended {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => Ended::Closed,
            Refused::Stale => Ended::StartOver,
        }
    }
}

/// Runs until told to stop or until an error that trying again does not help.
pub(super) async fn run(run: &Run) -> Result<(), ReceiveError> {
    let replica = &run.replica;
    let mut attempts = 0;
    loop {
        let mut settings = replica.settings();
        // Silence that is no sign of a loss has to be shorter than the one that is.
        let heartbeat_max = replica.follower.net_timeout().as_secs_f64() / 2.0;
        settings.heartbeat_period_seconds = settings.heartbeat_period_seconds.min(heartbeat_max);
        replica.change(|state| {
            state.io_state = IoState::Connecting;
            state.io_running = Running::Connecting;
        });
        let ended = connect_and_stream(run, &settings, &mut attempts).await;
        replica.acknowledges.store(false, Ordering::Relaxed);
        let error = match ended {
            Ended::StartOver => continue,
            Ended::Closed | Ended::Failed(ReceiveError::Stopped) => return Ok(()),
            Ended::IsOurs => {
                run.copy.iter().for_each(|copy| copy());
                return Ok(());
            }
            Ended::Failed(error) if error.may_pass(run.engine.log()) => error,
            Ended::Failed(error) => return Err(error),
        };
        attempts += 1;
        let wait = pause_before(attempts, settings.connect_retry());
        tracing::warn!("{}: {error}; attempt {attempts}, the next one in {wait:?}", replica.title());
        let at = run.env().clock.now();
        replica.change(|state| {
            state.io_error = Some((error.clone(), at));
            state.io_state = IoState::WaitingToReconnect;
        });
        if settings.retries() > 0 && attempts > QUICK_ATTEMPTS + settings.retries() {
            return Err(error);
        }
        let pause = async {
            run.env().clock.sleep(wait).await;
            true
        };
        let stop = async {
            replica.stop_asked().await;
            false
        };
        if !future::or(pause, stop).await {
            return Ok(());
        }
    }
}

async fn connect_and_stream(run: &Run, settings: &SourceSettings, attempts: &mut u64) -> Ended {
    let stop = async { Ended::Failed(run.replica.stop_asked().await) };
    let stream = async {
        match stream(run, settings, attempts).await {
            Ok(never) => match never {},
            Err(ended) => ended,
        }
    };
    let closed = async {
        run.queue.closed().await;
        Ended::Closed
    };
    future::or(stop, future::or(closed, stream)).await
}

/// Never: a connection's only ends are errors.
enum Never {}

async fn stream(run: &Run, settings: &SourceSettings, attempts: &mut u64) -> Result<Never, Ended> {
    let replica = &run.replica;
    let connect = async { source::connect(run.env(), settings).await };
    let (mut client, kind) = future::or(connect, silence(run, settings)).await?;
    if kind == SourceKind::Commuter && settings.kind.is_none() && run.copy.is_some() {
        return Err(Ended::IsOurs);
    }
    replica.source.keep_kind(kind).await.map_err(|error| ReceiveError::NotKept(error.message))?;
    if !run.executes {
        // It comes again.
        run.queue.start_over();
    }
    // What is still under way was not executed yet, and would come again.
    let generation = run.queue.generation();
    run.queue.idle().await?;
    if let Some(pool) = &run.pool {
        pool.idle().await.map_err(|error| ReceiveError::Unfit(error.message))?;
    }
    run.commits.idle().await.map_err(|error| ReceiveError::Unfit(error.message))?;
    let start = start_of(run, settings, kind);
    let identity = replica.follower.identity().clone();
    if replica.follower.semi_sync() {
        let name = format!("{settings:?}");
        let offer = async { client.offer_semi_sync().await.map_err(|error| of_client(&name, error)) };
        future::or(offer, silence(run, settings)).await?;
    }
    ask_for_gaps(run, settings, &mut client, kind).await?;
    let past_our_own = source::past_our_own(&mut client, settings, identity.server_id, start);
    let start = future::or(past_our_own, silence(run, settings)).await?;
    run.acks.begin();
    let begin = async { source::begin(run.env(), &mut client, kind, settings, &identity, &start).await };
    let (facts, checksum) = future::or(begin, silence(run, settings)).await?;
    check_server_id(run, kind, settings, facts.server_id)?;
    replica.change(|state| {
        state.kind = Some(kind);
        state.source_server_id = facts.server_id;
        state.source_uuid = facts.uuid.clone();
        state.clock_difference = facts.clock_difference;
        state.io_error = None;
        state.heartbeats = Default::default();
        state.queued.drops();
        state.io_state = IoState::WaitingForEvents;
        state.io_running = Running::Yes;
    });
    run.queue.push(generation, Item::Begin(checksum)).await?;
    let boundary = Boundary::default();
    let mut reader = Reader { checksum, place: Place::default(), log: ReceivedLog::default(), boundary };
    let (mut batch, mut bytes) = (Vec::new(), 0);
    loop {
        let next = async { next_event(run, settings, &mut client).await.map_err(Ended::from) };
        let outdated = async { Err(run.queue.outdated(generation).await.into()) };
        let event = future::or(next, outdated).await?;
        *attempts = 0;
        let is_wanted = reader.look_at(run, &event).map_err(ReceiveError::from)?;
        replica.acknowledges.store(client.is_semi_sync(), Ordering::Relaxed);
        if client.asks_for_acknowledgement() {
            run.acks.asked(reader.place.clone());
        }
        if is_wanted {
            bytes += event.len();
            batch.push(Item::Event(event));
        }
        // Nobody is woken for each event of a stream that flows.
        if !client.has_event() || bytes >= BATCH_BYTES {
            run.queue.push_all(generation, &mut batch, std::mem::take(&mut bytes)).await?;
            if reader.boundary == Boundary::Outside {
                replica.state.lock().handed_on.move_to(&reader.place.file, reader.place.offset);
            }
        }
    }
}

/// What the source has, if START REPLICA UNTIL depends on it.
async fn ask_for_gaps(
    run: &Run,
    settings: &SourceSettings,
    client: &mut SourceClient,
    kind: SourceKind,
) -> Result<(), ReceiveError> {
    if !run.replica.state.lock().until.as_ref().is_some_and(Until::asks_the_source) {
        return Ok(());
    }
    let executed = future::or(source::gtid_executed(client, kind, settings), silence(run, settings)).await?;
    run.replica.state.lock().source_has = Some(executed);
    Ok(())
}

/// Where to go on.
fn start_of(run: &Run, settings: &SourceSettings, kind: SourceKind) -> Start {
    if settings.auto_position {
        return Start::by_gtids(kind, run.engine.gtid_executed());
    }
    match run.engine.source_position(&settings.position_name()) {
        Some(position) => Start::Position { file: position.file, offset: position.offset },
        None => Start::Position { file: settings.log_file.clone(), offset: settings.log_position.max(4) },
    }
}

async fn silence<T>(run: &Run, settings: &SourceSettings) -> Result<T, ReceiveError> {
    let most = run.replica.follower.net_timeout();
    run.env().clock.sleep(most).await;
    Err(ReceiveError::lost(&format!("{settings:?}"), format!("nothing was heard of it for {} seconds", most.as_secs())))
}

/// The next event; meanwhile the source is told what is durable here, if it asks.
async fn next_event(run: &Run, settings: &SourceSettings, client: &mut SourceClient) -> Result<Vec<u8>, ReceiveError> {
    if client.has_event() {
        return received(settings, client).await;
    }
    let name = format!("{settings:?}");
    loop {
        let next = async { received(settings, client).await.map(Heard::Event) };
        let durable = async { Ok(Heard::Durable(run.acks.next().await)) };
        match future::or(durable, future::or(next, silence(run, settings))).await? {
            Heard::Event(event) => return Ok(event),
            Heard::Durable(Place { file, offset }) => {
                let ack = SemiSyncAck { position: offset, file };
                client.acknowledge(&ack).await.map_err(|error| of_client(&name, error))?;
            }
        }
    }
}

/// The next event of the stream.
async fn received(settings: &SourceSettings, client: &mut SourceClient) -> Result<Vec<u8>, ReceiveError> {
    let name = || format!("{settings:?}");
    let event = client.next_event().await.map_err(|error| of_client(&name(), error))?;
    event.map(<[u8]>::to_vec).ok_or_else(|| ReceiveError::lost(&name(), "the source ended the stream".to_owned()))
}

/// What the receiver waits for.
enum Heard {
    Event(Vec<u8>),
    /// Of our own commits.
    Durable(Place),
}

/// What the receiver itself reads of events.
struct Reader {
    checksum: ChecksumAlgorithm,
    place: Place,
    log: ReceivedLog,
    boundary: Boundary,
}

impl Reader {
    /// Verifies an event, and whether the executor needs it.
    fn look_at(&mut self, run: &Run, bytes: &[u8]) -> Result<bool, binlog::DecodeError> {
        let event = RawEvent::first_of(bytes, self.checksum)?;
        let header = event.header;
        if self.checksum == ChecksumAlgorithm::Crc32 {
            event.verify()?;
        }
        let mut begun = None;
        match header.event_type {
            EventType::HEARTBEAT | EventType::HEARTBEAT_V2 => {
                let now = run.env().clock.now();
                let mut state = run.replica.state.lock();
                state.heartbeats = (state.heartbeats.0 + 1, now);
                // It is behind what a source by GTIDs has left out, since we have it.
                let heartbeat = Heartbeat::decode(&event)?;
                if heartbeat.file == self.place.file && heartbeat.position > self.place.offset {
                    self.place.offset = heartbeat.position;
                    state.received.move_to(&heartbeat.file, heartbeat.position);
                }
                return Ok(false);
            }
            EventType::FORMAT_DESCRIPTION => self.checksum = FormatDescription::decode(&event)?.checksum,
            EventType::ROTATE => {
                let to = Rotate::decode(event.body())?;
                if self.place.file != to.file {
                    self.log.begin_file();
                }
                self.place = Place { file: to.file, offset: to.position };
            }
            event_type if event_type.is_gtid() => {
                let gtid = GtidEvent::decode(event_type, event.body())?;
                self.log.count(&gtid, &run.replica.received);
                begun = Some(Head::of_mysql(&gtid, &header));
            }
            EventType::MARIA_GTID => {
                let gtid = MariaGtid::decode(event.body())?;
                self.log.count_maria(&gtid, &run.replica.received);
                begun = Some(Head::of_maria(&gtid, &header));
            }
            _ => {}
        }
        if header.next_position > 0 && header.flags & FLAG_ARTIFICIAL == 0 && header.event_type != EventType::ROTATE {
            self.place.offset = header.next_position.into();
        }
        let is_end = self.boundary.event(&event)?;
        let mut state = run.replica.state.lock();
        state.checksum = self.checksum;
        state.received.move_to(&self.place.file, self.place.offset);
        if let Some(head) = begun {
            if let Some(gtid) = head.gtid.filter(|gtid| (1..=GNO_MAX).contains(&gtid.gno)) {
                state.retrieved.add(gtid);
            }
            state.queued.takes(head, run.env().clock.now());
        } else if is_end && state.queued.has_one() {
            state.queued.passes_on(run.env().clock.now());
        }
        Ok(true)
    }
}

/// Where the numbers of servers say whether a transaction was born here, two with the same one would lose all that the other has written.
fn check_server_id(run: &Run, kind: SourceKind, settings: &SourceSettings, theirs: u32) -> Result<(), ReceiveError> {
    let by_mysql_gtids = kind != SourceKind::Maria && settings.auto_position;
    let own = run.replica.follower.identity().server_id;
    if by_mysql_gtids || theirs != own || run.replica.globals.now().replica.replicate_same_server_id {
        return Ok(());
    }
    Err(ReceiveError::Unfit(
        "Fatal error: The replica I/O thread stops because source and replica have equal MySQL server ids; these ids must be different for \
         replication to work (or the --replicate-same-server-id option must be used on replica but this does not always make sense; please \
         check the manual before using it)."
            .to_owned(),
    ))
}
