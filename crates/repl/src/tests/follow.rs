//! A receiver beside its source.

use std::time::Duration;

use apply::ApplyOptions;
use engine::PublishPoint;
use engine::commit::SemiSync;
use io::sim::{SimMachine, SimWorld};
use sql::parse::ast::{ChangeSource, StartReplica, StopReplica};

use super::*;
use crate::Follower;
use crate::follower::{Comparison, Running};

fn receiver_only() -> StartReplica {
    StartReplica { receiver: true, ..StartReplica::default() }
}

async fn follower(env: &Env) -> (Arc<Engine>, Arc<Follower>) {
    let engine = follower_engine(env).await;
    let follower = Follower::open(engine.clone(), identity(&engine), ApplyOptions { workers: 1, ..Default::default() })
        .await
        .unwrap();
    if follower.source().is_none() {
        let change = ChangeSource {
            host: Some("source".into()),
            port: Some(3306),
            user: Some("replica".into()),
            connect_retry_seconds: Some(1),
            retry_count: Some(0),
            heartbeat_period_seconds: Some(5.0),
            ..ChangeSource::default()
        };
        follower.change_source(&change).await.unwrap();
    }
    (engine, follower)
}

async fn wait_equal(source: &BinaryLog, follower: &Follower, copy: &BinaryLog) {
    let begin = source.env().clock.monotonic();
    while copy.durable_end() < source.durable_end() {
        source.env().clock.sleep(Duration::from_millis(5)).await;
        let waited = source.env().clock.monotonic() - begin;
        assert!(waited < Duration::from_secs(100), "{:?}", follower.receiver_status());
    }
    assert_eq!(copy.files(), source.files());
    assert_eq!(copy.gtid_executed(), source.gtid_executed());
}

fn assert_same_bytes(source: &SimMachine, follower: &SimMachine, log: &BinaryLog) {
    for file in log.files() {
        let mut theirs = source.contents(&file.name).unwrap();
        let mut ours = follower.contents(&file.name).unwrap();
        (theirs[21], ours[21]) = (0, 0);
        assert!(theirs[..file.size as usize] == ours[..file.size as usize], "{} differs", file.name);
    }
}

fn io_error(follower: &Follower) -> String {
    follower.receiver_status().error.map(|(error, _)| error.to_string()).unwrap_or_default()
}

async fn stopped(env: &Env, follower: &Follower) -> String {
    let begin = env.clock.monotonic();
    while follower.receiver_status().running != Running::No {
        env.clock.sleep(Duration::from_millis(10)).await;
        let waited = env.clock.monotonic() - begin;
        assert!(waited < Duration::from_secs(100), "{:?}", follower.receiver_status());
    }
    io_error(follower)
}

/// Each end of what was durable is acknowledged, and never more than the source has asked for: that would end the stream for good.
#[test]
fn acknowledges_what_it_has_synced() {
    for seed in 0..40 {
        let world = SimWorld::new(seed);
        let (source, replica) = (world.machine(), world.machine());
        let run = async {
            let (log, mut writer) = source_log(&source.env()).await;
            let semi_sync = SemiSync::new(source.env());
            fake::serve_semi_sync(&source.env(), &log, 3306, semi_sync.clone());
            let (_, follower) = follower(&replica.env()).await;
            follower.set_semi_sync(true);
            follower.start(&receiver_only()).await.unwrap();
            let (env, begin) = (source.env(), source.env().clock.monotonic());
            for _ in 0..30 {
                write(&mut writer, 1 + world.below(5)).await;
                env.clock.sleep(Duration::from_micros(world.below(3_000))).await;
            }
            while semi_sync.status().reached < log.durable_end() {
                env.clock.sleep(Duration::from_millis(1)).await;
                let waited = env.clock.monotonic() - begin;
                assert!(waited < Duration::from_secs(60), "seed {seed}: {:?}", follower.receiver_status());
            }
            assert_eq!(io_error(&follower), "", "seed {seed}");
            assert!(follower.acknowledges());
        };
        world.run(run).unwrap();
        world.end();
    }
}

#[test]
fn copies_through_cut_connections_crashes_and_restarts() {
    for seed in 0..60 {
        let world = SimWorld::new(seed);
        let (source, replica) = (world.machine(), world.machine());
        for round in 0..4 {
            let run = async {
                let (log, mut writer) = source_log(&source.env()).await;
                fake::serve(&source.env(), &log, 3306);
                let (engine, follower) = follower(&replica.env()).await;
                follower.start(&receiver_only()).await.unwrap();
                for _ in 0..6 {
                    write(&mut writer, 1 + world.below(20)).await;
                    match world.below(4) {
                        0 => world.cut_connections(),
                        1 => {
                            follower
                                .stop(&StopReplica { receiver: true, applier: false, ..Default::default() })
                                .await
                                .unwrap();
                            follower.start(&receiver_only()).await.unwrap();
                        }
                        _ => {}
                    }
                    if world.below(2) == 0 {
                        wait_equal(&log, &follower, engine.log()).await;
                    }
                }
                wait_equal(&log, &follower, engine.log()).await;
                assert_same_bytes(&source, &replica, &log);
                assert_ne!(follower.receiver_status().running, Running::No, "{}", io_error(&follower));
                if round % 2 == 0 {
                    writer.close(true).await.unwrap();
                }
            };
            world.run(run).unwrap();
            source.kill();
            if world.below(2) == 0 { replica.crash() } else { replica.kill() }
        }
    }
}

#[test]
fn another_log_is_refused_with_both_sides() {
    let world = SimWorld::new(1);
    let (source, other, replica) = (world.machine(), world.machine(), world.machine());
    let run = async {
        let (log, mut writer) = source_log(&source.env()).await;
        fake::serve(&source.env(), &log, 3306);
        let (other_log, mut other_writer) = source_log(&other.env()).await;
        fake::serve(&other.env(), &other_log, 3307);
        write(&mut writer, 3).await;
        // The same number of transactions, at other times.
        other.env().clock.sleep(Duration::from_secs(3)).await;
        write(&mut other_writer, 5).await;
        let (engine, follower) = follower(&replica.env()).await;
        follower.start(&receiver_only()).await.unwrap();
        wait_equal(&log, &follower, engine.log()).await;
        let end = engine.log().durable_end();
        let running = follower.change_source(&ChangeSource { port: Some(3307), ..ChangeSource::default() }).await;
        assert_eq!(running.unwrap_err().code, 3021);
        follower.stop(&StopReplica { receiver: true, ..Default::default() }).await.unwrap();
        follower.change_source(&ChangeSource { port: Some(3307), ..ChangeSource::default() }).await.unwrap();
        follower.start(&receiver_only()).await.unwrap();
        let error = stopped(&replica.env(), &follower).await;
        assert!(error.contains("not a prefix of its source's"), "{error}");
        assert!(error.contains(":1-3)") && error.contains(":1-5)"), "{error}");
        assert_eq!(engine.log().durable_end(), end, "nothing was appended");
        let status = &follower.status()[0].0;
        let value = |name: &str| status.iter().find(|(column, _)| *column == name).unwrap().1.clone().unwrap();
        assert_eq!(value("Replica_IO_Running"), "No");
        assert_eq!(value("Last_IO_Errno"), "1236");
        assert!(value("Last_IO_Error").contains("not a prefix"));
    };
    world.run(run).unwrap();
}

#[test]
fn a_source_that_is_behind_is_refused() {
    let world = SimWorld::new(2);
    let (source, replica) = (world.machine(), world.machine());
    let run = async {
        let (log, mut writer) = source_log(&source.env()).await;
        fake::serve(&source.env(), &log, 3306);
        write(&mut writer, 3).await;
        let (engine, follower) = follower(&replica.env()).await;
        follower.start(&receiver_only()).await.unwrap();
        wait_equal(&log, &follower, engine.log()).await;
        follower.stop(&StopReplica { receiver: true, ..Default::default() }).await.unwrap();
        // The source comes back with an older log.
        let older = world.machine();
        let (log, _writer) = source_log(&older.env()).await;
        fake::serve(&older.env(), &log, 3307);
        follower.change_source(&ChangeSource { port: Some(3307), ..ChangeSource::default() }).await.unwrap();
        follower.start(&receiver_only()).await.unwrap();
        let error = stopped(&replica.env(), &follower).await;
        assert!(error.contains("not a prefix") && error.contains("position > file size"), "{error}");
    };
    world.run(run).unwrap();
}

#[test]
fn a_purged_beginning_is_refused() {
    let world = SimWorld::new(3);
    let (source, replica) = (world.machine(), world.machine());
    let run = async {
        let (log, mut writer) = source_log(&source.env()).await;
        fake::serve(&source.env(), &log, 3306);
        write(&mut writer, 50).await;
        log.purge_before_file(3).await.unwrap();
        let (_, follower) = follower(&replica.env()).await;
        follower.start(&receiver_only()).await.unwrap();
        let error = stopped(&replica.env(), &follower).await;
        assert!(error.contains("purged the beginning"), "{error}");
    };
    world.run(run).unwrap();
}

#[test]
fn heartbeats_keep_a_silent_connection_and_pins_keep_its_files() {
    let world = SimWorld::new(4);
    let (source, replica) = (world.machine(), world.machine());
    let run = async {
        let (log, mut writer) = source_log(&source.env()).await;
        let server = fake::serve(&source.env(), &log, 3306);
        write(&mut writer, 3).await;
        let (engine, follower) = follower(&replica.env()).await;
        follower.start(&receiver_only()).await.unwrap();
        wait_equal(&log, &follower, engine.log()).await;
        source.env().clock.sleep(Duration::from_secs(300)).await;
        let status = follower.receiver_status();
        assert_eq!(status.running, Running::Yes);
        assert!(status.heartbeats >= 50, "{}", status.heartbeats);
        let lines = server.replicas();
        assert_eq!((lines[0].server_id, lines[0].host.as_str(), lines.len()), (2, "replica", 1));
        follower.stop(&StopReplica { receiver: true, ..Default::default() }).await.unwrap();
        source.env().clock.sleep(Duration::from_secs(1)).await;
        assert!(server.replicas().is_empty());
    };
    world.run(run).unwrap();
}

/// `replica_net_timeout`
#[test]
fn how_long_a_source_may_be_silent() {
    let world = SimWorld::new(5);
    let (source, replica) = (world.machine(), world.machine());
    let run = async {
        let (log, mut writer) = source_log(&source.env()).await;
        let _server = fake::serve(&source.env(), &log, 3306);
        write(&mut writer, 3).await;
        let (engine, follower) = follower(&replica.env()).await;
        // Shorter than the period that was set: the source is asked for more heartbeats.
        follower.set_net_timeout(4);
        follower.start(&receiver_only()).await.unwrap();
        wait_equal(&log, &follower, engine.log()).await;
        source.env().clock.sleep(Duration::from_secs(100)).await;
        let status = follower.receiver_status();
        assert!(status.heartbeats >= 45 && status.error.is_none(), "{status:?}");
        follower.stop(&StopReplica { receiver: true, ..Default::default() }).await.unwrap();
        let none = ChangeSource { heartbeat_period_seconds: Some(0.0), ..ChangeSource::default() };
        follower.change_source(&none).await.unwrap();
        follower.set_net_timeout(7);
        follower.start(&receiver_only()).await.unwrap();
        source.env().clock.sleep(Duration::from_secs(6)).await;
        assert_eq!(follower.receiver_status().running, Running::Yes);
        source.env().clock.sleep(Duration::from_millis(1020)).await;
        assert!(io_error(&follower).contains("nothing was heard of it for 7 seconds"), "{}", io_error(&follower));
    };
    world.run(run).unwrap();
}

/// A source of another kind cannot be compared with, which is nobody's error.
#[test]
fn a_source_that_keeps_no_sums_is_followed_all_the_same() {
    let world = SimWorld::new(1);
    let (source, replica) = (world.machine(), world.machine());
    let run = async {
        let (log, mut writer) = source_log(&source.env()).await;
        fake::serve(&source.env(), &log, 3306);
        let (engine, follower) = follower(&replica.env()).await;
        follower.comparer().set_interval(Duration::from_secs(1));
        follower.comparer().set_stops_applier(true);
        follower.start(&receiver_only()).await.unwrap();
        for number in (1..4).map(CommitNumber) {
            write(&mut writer, 10).await;
            wait_equal(&log, &follower, engine.log()).await;
            engine.publish(&[PublishPoint { commit_number: number, end: engine.log().durable_end(), gtid: None }]);
            assert_eq!(engine.checkpoint().await.unwrap().0, number);
            source.env().clock.sleep(Duration::from_secs(70)).await;
        }
        assert_eq!(follower.comparer().last(), Comparison::default());
        assert_eq!(follower.receiver_status().running, Running::Yes);
        assert_eq!(io_error(&follower), "");
        follower.shut_down().await;
    };
    world.run(run).unwrap();
}
