//! Relays that copy relays, and replicas that follow them: crashes, lost connections, damaged files, another source.

use std::sync::Arc;
use std::time::Duration;

use binlog::event::{ChecksumAlgorithm, EventHeader, FLAG_ARTIFICIAL, Heartbeat, Rotate};
use binlog::{EventType, GtidSet, RawEvent};
use io::Env;
use io::sim::{Crashed, SimMachine, SimWorld};
use repl::SourceSettings;
use repl::follower::handshake::{self, ask};
use repl::follower::{ReceiveError, of_client};
use session::Peer;
use session::transport::StreamTransport;
use wire::replication::BinlogDump;

use super::{SourceLog, go_on, mysql_gtid, mysql_gtids};
use crate::gtids::{Kind, Name};
use crate::receive::status::Running;
use crate::store::Limits;
use crate::{Relay, RelayOptions};

const KINDS: [Kind; 2] = [Kind::Mysql, Kind::Maria];

fn settings(host: &str, password: &str) -> SourceSettings {
    let (host, user, password) = (host.to_owned(), "repl".to_owned(), password.to_owned());
    SourceSettings { host, user, password, get_public_key: true, ..SourceSettings::default() }
}

pub(super) fn options(source: &str, password: &str) -> RelayOptions {
    RelayOptions {
        source: settings(source, password),
        start_file: String::new(),
        server_id: None,
        user: "repl".to_owned(),
        password: "secret".to_owned(),
        limits: Limits::default(),
        connections_max: 10,
        acknowledges: false,
        replicas_wanted: 0,
        report_host: String::new(),
        report_port: 3306,
    }
}

/// A relay on that machine, which lets replicas in under that name, and receives nothing unless it is run.
async fn relay(env: &Env, name: &str, source: &str) -> Arc<Relay> {
    relay_with(env, name, options(source, "secret")).await
}

pub(super) async fn relay_with(env: &Env, name: &str, options: RelayOptions) -> Arc<Relay> {
    let relay = Relay::open(env.clone(), options).await.unwrap();
    let listener = env.network.listen(&format!("{name}:3306")).await.unwrap();
    let accept = {
        let (env, relay) = (env.clone(), relay.clone());
        async move {
            while let Ok((stream, _)) = listener.accept().await {
                let transport = StreamTransport::new(stream, Peer::default());
                env.spawner.spawn("connection", Box::pin(relay.clone().serve(Box::new(transport))));
            }
        }
    };
    env.spawner.spawn("listener", Box::pin(accept));
    relay
}

/// One that follows a source.
async fn following(env: &Env, name: &str, source: &str) -> Arc<Relay> {
    following_with(env, name, options(source, "secret")).await
}

pub(super) async fn following_with(env: &Env, name: &str, options: RelayOptions) -> Arc<Relay> {
    let relay = relay_with(env, name, options).await;
    let run = relay.clone();
    env.spawner.spawn("relay", Box::pin(async move { run.run().await }));
    relay
}

/// A source: a relay with all of a log.
async fn source(env: &Env, name: &str, log: &SourceLog) -> Arc<Relay> {
    let relay = relay(env, name, "nowhere").await;
    go_on(relay.store(), log, 10).await.unwrap();
    relay
}

fn is_copy(machine: &SimMachine, log: &SourceLog, generation: u32) -> bool {
    log.files.iter().all(|file| {
        machine.contents(&format!("log.{generation}/{}", file.name)).is_some_and(|bytes| bytes == file.bytes)
    })
}

#[track_caller]
pub(super) fn until(env: &Env, mut what: impl FnMut() -> bool) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    let env = env.clone();
    async move {
        let begin = env.clock.monotonic();
        while !what() {
            assert!(env.clock.monotonic() - begin < Duration::from_secs(600), "never: {caller}");
            env.clock.sleep(Duration::from_millis(10)).await;
        }
    }
}

fn holds(relay: &Relay, transactions: u64) -> bool {
    let Some(gtids) = relay.store().gtids() else { return false };
    [mysql_gtids(transactions).to_string(), format!("0-7-{transactions}")].contains(&gtids.to_string())
}

/// A replica that has the transactions up to a number, and takes the next ones, each once and in order.
pub(super) struct Replica {
    pub(super) kind: Kind,
    pub(super) has: u64,
}

impl Replica {
    /// Until it has them all; goes on when a connection is lost.
    pub(super) async fn follow(&mut self, env: &Env, relay: &str, transactions: u64) -> Result<(), ReceiveError> {
        loop {
            match self.stream(env, relay, None, transactions).await {
                Err(ReceiveError::Connection { .. }) => env.clock.sleep(Duration::from_millis(50)).await,
                result => return result,
            }
        }
    }

    /// By GTIDs, or from a position.
    async fn stream(
        &mut self,
        env: &Env,
        relay: &str,
        position: Option<(&str, u64)>,
        transactions: u64,
    ) -> Result<(), ReceiveError> {
        let failed = |error| of_client(relay, error);
        let mut client = handshake::open(env, &settings(relay, "secret"), "test").await?;
        ask(&mut client, "SET @source_binlog_checksum = 'CRC32'").await.map_err(failed)?;
        let mut dump = BinlogDump { server_id: 99, position: 4, ..BinlogDump::default() };
        match (position, self.kind) {
            (Some((file, offset)), _) => (dump.file, dump.position) = (file.to_owned(), offset),
            (None, Kind::Mysql) => {
                dump.gtid_set = Some(Vec::new());
                mysql_gtids(self.has).encode(dump.gtid_set.as_mut().unwrap());
            }
            (None, Kind::Maria) => {
                let state = if self.has > 0 { format!("0-7-{}", self.has) } else { String::new() };
                ask(&mut client, "SET @mariadb_slave_capability = 4").await.map_err(failed)?;
                ask(&mut client, &format!("SET @slave_connect_state = '{state}'")).await.map_err(failed)?;
            }
        }
        client.dump(&dump).await.map_err(failed)?;
        let mut name = None;
        while self.has < transactions {
            let event = client.next_event().await.map_err(failed)?;
            let event = event.ok_or_else(|| ReceiveError::lost(relay, "the end".to_owned()))?;
            if EventHeader::decode(event)?.flags & FLAG_ARTIFICIAL != 0 {
                continue;
            }
            let event = RawEvent::first_of(event, ChecksumAlgorithm::Crc32)?;
            name = Name::of(&event)?.or(name);
            if event.header.event_type == EventType::XID {
                let number = match name.take() {
                    Some(Name::Mysql(gtid)) => gtid.gno,
                    Some(Name::Maria(name)) => name.seq_no,
                    None => panic!("a transaction without a name"),
                };
                assert_eq!(number, self.has + 1, "a transaction is missing, or came again");
                self.has = number;
            }
        }
        Ok(())
    }
}

/// MySQL's replicas know where they are by what they get.
#[test]
fn a_heartbeat_tells_of_what_is_left_out() {
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let world = SimWorld::new(1);
    let machine = world.machine();
    let env = machine.env();
    let read = async {
        let relay = source(&env, "relay", &log).await;
        let failed = |error| of_client("relay", error);
        let mut client = handshake::open(&env, &settings("relay", "secret"), "test").await?;
        ask(&mut client, "SET @source_binlog_checksum = 'CRC32', @source_heartbeat_period = 1000000000")
            .await
            .map_err(failed)?;
        let mut set = GtidSet::new();
        for number in [2, 3, 7, 18] {
            assert!(set.add(mysql_gtid(number)));
        }
        let mut gtid_set = Vec::new();
        set.encode(&mut gtid_set);
        client
            .dump(&BinlogDump { server_id: 99, position: 4, gtid_set: Some(gtid_set), ..BinlogDump::default() })
            .await
            .map_err(failed)?;
        let end = log.files.last().unwrap().bytes.len() as u64;
        let (mut file, mut at, mut beats) = (String::new(), 0, 0);
        while (file.as_str(), at) != (log.files.last().unwrap().name.as_str(), end) {
            let event = client.next_event().await.map_err(failed)?.expect("an event").to_vec();
            let event = RawEvent::first_of(&event, ChecksumAlgorithm::Crc32)?;
            let header = event.header;
            match header.event_type {
                EventType::HEARTBEAT => {
                    at = Heartbeat::decode(&event)?.position;
                    beats += 1;
                }
                EventType::ROTATE if header.flags & FLAG_ARTIFICIAL != 0 => {
                    let to = Rotate::decode(event.body())?;
                    (file, at) = (to.file, to.position);
                }
                _ => {
                    assert_eq!(u64::from(header.next_position - header.event_length), at, "{header:?}");
                    at = header.next_position.into();
                }
            }
        }
        drop(relay);
        Ok::<_, ReceiveError>(beats)
    };
    let beats = world.run(read).unwrap().unwrap();
    assert_eq!(beats, 3);
    world.end();
}

#[test]
fn a_copy_over_the_network_survives_crashes_and_lost_connections() {
    let mut crashes = 0;
    for seed in 0..60 {
        let log = SourceLog::filled(KINDS[seed as usize % 2], ChecksumAlgorithm::Crc32, "a");
        let world = SimWorld::new(seed);
        let (first, second) = (world.machine(), world.machine());
        drop(world.run(source(&first.env(), "source", &log)).unwrap());
        for attempt in 0.. {
            second.crash_after(if attempt < 5 { 1 + world.below(60) } else { u64::MAX });
            let env = second.env();
            let copy = async {
                following(&env, "relay", "source").await;
                let mut step = 0;
                until(&env, || {
                    step += 1;
                    if step % 20 == 0 {
                        world.cut_connections();
                    }
                    is_copy(&second, &log, 1)
                })
                .await;
            };
            match world.run(copy) {
                Ok(()) => break,
                Err(Crashed) => {
                    crashes += 1;
                    second.crash();
                }
            }
        }
        assert!(is_copy(&second, &log, 1), "seed {seed}");
        world.end();
    }
    assert!(crashes > 60, "only {crashes}");
}

/// The name of the source leads to another server from some moment on. The relay may crash at any moment; each replica gets every
/// transaction once.
#[test]
fn replicas_go_across_a_switch_of_the_source() {
    let mut crashes = 0;
    for seed in 0..24 {
        let kind = KINDS[seed as usize % 2];
        let log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
        assert_eq!(log.transactions, 18);
        // What the relay lacks begins in the second file of three.
        let other = SourceLog::elsewhere(kind, &[10, 12, 8]);
        let world = SimWorld::new(1000 + seed);
        let (first, second, third, fourth) = (world.machine(), world.machine(), world.machine(), world.machine());
        drop(world.run(source(&first.env(), "source", &log)).unwrap());
        let mut live = Replica { kind, has: 0 };
        let mut is_switched = false;
        for attempt in 0.. {
            second.crash_after(if attempt < 4 { 1 + world.below(90) } else { u64::MAX });
            let (env, clients) = (second.env(), fourth.env());
            let run = async {
                let relay = following(&env, "relay", "source").await;
                if !is_switched {
                    live.follow(&clients, "relay", 12 + seed % 7).await.unwrap();
                    until(&env, || holds(&relay, 18)).await;
                    first.kill();
                    source(&third.env(), "source", &other).await;
                    is_switched = true;
                }
                live.follow(&clients, "relay", 30).await.unwrap();
                until(&env, || holds(&relay, 30)).await;
                relay
            };
            match world.run(run) {
                Ok(relay) => {
                    assert_eq!(relay.store().generation().unwrap().number, 2);
                    let mut fresh = Replica { kind, has: 0 };
                    second.crash_after(u64::MAX);
                    world.run(fresh.follow(&clients, "relay", 30)).unwrap().unwrap();
                    break;
                }
                Err(Crashed) => {
                    crashes += 1;
                    second.crash();
                }
            }
        }
        assert!(is_copy(&second, &log, 1), "seed {seed}");
        let has = |file: &str| second.files().contains(&format!("log.2/{file}"));
        assert!(!has("other.000001") && has("other.000002") && has("other.000003"), "seed {seed}");
        for file in &other.files[1..] {
            assert!(second.contents(&format!("log.2/{}", file.name)).unwrap() == file.bytes, "seed {seed}");
        }
        world.end();
    }
    assert!(crashes > 24, "only {crashes}");
}

#[test]
fn a_server_that_lacks_what_the_relay_has_is_not_followed_before_it_has_it() {
    for kind in KINDS {
        let log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
        let (behind, ahead) = (SourceLog::elsewhere(kind, &[10, 6]), SourceLog::elsewhere(kind, &[10, 9]));
        let world = SimWorld::new(3);
        let (first, second, third) = (world.machine(), world.machine(), world.machine());
        let env = second.env();
        let run = async {
            drop(source(&first.env(), "source", &log).await);
            let relay = following(&env, "relay", "source").await;
            until(&env, || holds(&relay, 18)).await;
            first.kill();
            let other = source(&third.env(), "source", &behind).await;
            until(&env, || relay.status().snapshot().error.is_some_and(|(_, text, _)| text.contains("18"))).await;
            assert!(holds(&relay, 18) && relay.store().generation().unwrap().number == 1);
            go_on(other.store(), &ahead, 3).await.unwrap();
            until(&env, || holds(&relay, 19)).await;
            assert_eq!(relay.store().generation().unwrap().number, 2);
        };
        world.run(run).unwrap();
        world.end();
    }
}

#[test]
fn a_stream_by_position_ends_where_another_server_begins() {
    for kind in KINDS {
        let log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
        let other = SourceLog::elsewhere(kind, &[10, 12]);
        let world = SimWorld::new(4);
        let (first, second, third) = (world.machine(), world.machine(), world.machine());
        let env = second.env();
        let run = async {
            drop(source(&first.env(), "source", &log).await);
            let relay = following(&env, "relay", "source").await;
            until(&env, || holds(&relay, 18)).await;
            let mut replica = Replica { kind, has: 0 };
            let follow = replica.stream(&env, "relay", Some(("bin.000003", 4)), 22);
            let switch = async {
                env.clock.sleep(Duration::from_secs(1)).await;
                first.kill();
                drop(source(&third.env(), "source", &other).await);
                until(&env, || holds(&relay, 22)).await;
            };
            let (ended, ()) = futures_lite::future::zip(follow, switch).await;
            let error = ended.unwrap_err();
            assert!(matches!(error, ReceiveError::Refused(_)) && error.to_string().contains("other.000002"), "{error}");
            assert_eq!(replica.has, 18);
        };
        world.run(run).unwrap();
        world.end();
    }
}

#[test]
fn another_history_is_refused_and_nothing_is_changed() {
    for kind in KINDS {
        let log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
        let other = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "b");
        let world = SimWorld::new(1);
        let (first, second, third) = (world.machine(), world.machine(), world.machine());
        let env = second.env();
        let run = async {
            let source_relay = source(&first.env(), "source", &log).await;
            let relay = following(&env, "relay", "source").await;
            until(&env, || is_copy(&second, &log, 1)).await;
            // The same server, as it says, with another log.
            let impostor = third.env();
            copy_identity(&first.env(), &impostor).await;
            drop(source_relay);
            first.kill();
            drop(source(&impostor, "source", &other).await);
            until(&env, || relay.status().snapshot().running == Running::No).await;
            relay.status().snapshot().error.unwrap().1
        };
        let error = world.run(run).unwrap();
        assert!(error.contains("bin.000005") && error.contains("empty folder"), "{error}");
        assert!(is_copy(&second, &log, 1));
        world.end();
    }
}

/// Makes one machine's relay say that it is the other's.
async fn copy_identity(from: &Env, to: &Env) {
    let file = from.disk.open("relay.json", io::OpenOptions::default()).await.unwrap();
    let len = file.len().await.unwrap() as usize;
    let bytes = file.read_at(0, io::IoBuf::zeroed(len)).await.unwrap();
    let options = io::OpenOptions { create: true, write: true, ..io::OpenOptions::default() };
    to.disk.open("relay.json", options).await.unwrap().write_at(0, bytes).await.unwrap();
    to.disk.create_dir("log.1").await.unwrap();
}

#[test]
fn a_wrong_password_is_told_and_tried_again() {
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let world = SimWorld::new(2);
    let (first, second) = (world.machine(), world.machine());
    let run = async {
        source(&first.env(), "source", &log).await;
        let relay = Relay::open(second.env(), options("source", "wrong")).await.unwrap();
        let receive = relay.clone();
        second.env().spawner.spawn("relay", Box::pin(async move { receive.run().await }));
        second.env().clock.sleep(Duration::from_secs(3)).await;
        let status = relay.status().snapshot();
        assert_eq!(status.running, Running::Connecting);
        assert_eq!(status.error.unwrap().0, 1045);
        assert!(relay.store().files().is_empty());
    };
    world.run(run).unwrap();
    world.end();
}

#[test]
fn a_damaged_file_in_the_middle_is_named_and_the_rest_is_served() {
    for kind in KINDS {
        let log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
        let world = SimWorld::new(5);
        let machine = world.machine();
        drop(world.run(source(&machine.env(), "source", &log)).unwrap());
        machine.kill();
        // In the first transaction of the second file, the sixth of all.
        machine.flip_bit("log.1/bin.000004", (log.files[1].starts[3] as u64 + 30) * 8);
        let env = machine.env();
        let run = async {
            relay(&env, "source", "nowhere").await;
            let mut replica = Replica { kind, has: 0 };
            let error = replica.follow(&env, "source", 18).await.unwrap_err();
            assert!(matches!(error, ReceiveError::Refused(_)), "{error}");
            assert!(
                error.to_string().contains(&format!("bin.000004 is damaged at offset {}", log.files[1].starts[3])),
                "{error}"
            );
            assert_eq!(replica.has, 5);
            let mut behind_it = Replica { kind, has: 11 };
            behind_it.follow(&env, "source", 18).await.unwrap();
        };
        world.run(run).unwrap();
        world.end();
    }
}

/// A relay that was never at its source has nothing to say, but may have in a moment.
#[test]
fn a_replica_of_a_relay_that_has_nothing_yet_waits() {
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let world = SimWorld::new(8);
    let (first, second) = (world.machine(), world.machine());
    let env = second.env();
    let run = async {
        drop(following(&env, "relay", "source").await);
        let mut replica = Replica { kind: Kind::Mysql, has: 0 };
        let follow = replica.follow(&env, "relay", 18);
        let come = async {
            env.clock.sleep(Duration::from_secs(2)).await;
            drop(source(&first.env(), "source", &log).await);
        };
        futures_lite::future::zip(follow, come).await.0.unwrap();
    };
    world.run(run).unwrap();
    world.end();
}

/// A replica that comes from the source may have more than the relay for a moment. One that has something else is told so.
#[test]
fn a_replica_that_is_ahead_waits() {
    for kind in KINDS {
        let mut log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
        let world = SimWorld::new(6);
        let machine = world.machine();
        let env = machine.env();
        let run = async {
            let relay = source(&env, "source", &log).await;
            (0..4).for_each(|_| log.transaction());
            let mut replica = Replica { kind, has: 20 };
            let follow = replica.follow(&env, "source", 22);
            let come = async {
                env.clock.sleep(Duration::from_secs(2)).await;
                go_on(relay.store(), &log, 3).await.unwrap();
            };
            futures_lite::future::zip(follow, come).await.0.unwrap();
            if kind == Kind::Maria {
                let state = "SET @slave_connect_state = '0-9-23'";
                let mut client = handshake::open(&env, &settings("source", "secret"), "test").await.unwrap();
                for sql in ["SET @master_binlog_checksum = 'CRC32'", "SET @mariadb_slave_capability = 4", state] {
                    ask(&mut client, sql).await.unwrap();
                }
                client.dump(&BinlogDump { server_id: 98, position: 4, ..BinlogDump::default() }).await.unwrap();
                let mut more = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
                (0..6).for_each(|_| more.transaction());
                go_on(relay.store(), &more, 3).await.unwrap();
                let error = loop {
                    if let Err(error) = client.next_event().await {
                        break error.to_string();
                    }
                };
                assert!(error.contains("0-9-23"), "{error}");
            }
        };
        world.run(run).unwrap();
        world.end();
    }
}

#[test]
fn purged_files_are_said_to_be_gone() {
    for kind in KINDS {
        let log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
        let world = SimWorld::new(7);
        let machine = world.machine();
        let env = machine.env();
        let run = async {
            let relay = source(&env, "source", &log).await;
            let removed = relay.store().purge(&Limits { bytes: Some(0), age: None }).await.unwrap();
            assert_eq!(removed, ["bin.000003", "bin.000004"]);
            let mut replica = Replica { kind, has: 5 };
            let error = replica.follow(&env, "source", 18).await.unwrap_err();
            assert!(matches!(error, ReceiveError::Refused(_)) && error.to_string().contains("purged"), "{error}");
            Replica { kind, has: 11 }.follow(&env, "source", 18).await.unwrap();
        };
        world.run(run).unwrap();
        world.end();
    }
}
