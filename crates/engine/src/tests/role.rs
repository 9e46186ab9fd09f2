//! Source, follower, and a log that begins anew: with a power failure in any disk operation.

use std::sync::Arc;

use binlog::event::{FLAGS_OFFSET, MAGIC};
use binlog::{GtidSet, LogReceiver};
use io::sim::SimMachine;
use io::{IoBuf, OpenOptions};

use super::fixture::{self, insert_one};
use crate::Engine;
use crate::commit::CommitSettings;

async fn count(engine: &Arc<Engine>) -> usize {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    fixture::count(engine, &table, 0).await
}

/// An engine with ten rows.
async fn with_rows(machine: &SimMachine) -> Arc<Engine> {
    let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
    for id in 1..=10 {
        insert_one(&engine, id).await.unwrap();
    }
    engine
}

#[test]
fn a_removed_log_leaves_the_state() {
    for operation in 1..80 {
        let machine = fixture::machine(operation);
        let engine = machine.run(with_rows(&machine)).unwrap();
        let before = machine.run(async { engine.log().gtid_executed() }).unwrap();
        machine.crash_after(operation);
        let reset = machine.run(engine.reset_log(1, CommitSettings::default()));
        let after = async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            assert_eq!(count(&engine).await, 10, "operation {operation}");
            let executed = engine.log().gtid_executed();
            assert!(executed.is_empty() || (reset.is_err() && executed == before), "operation {operation}: {executed}");
            insert_one(&engine, 11).await.unwrap();
            assert_eq!(engine.gtid_executed(), engine.log().gtid_executed(), "operation {operation}");
            assert_eq!(engine.log().gtid_executed().count(), executed.count() + 1);
            engine.close().await.unwrap();
        };
        machine.crash();
        machine.run(after).unwrap();
        // And once more from the new log.
        let again = async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            assert_eq!(count(&engine).await, 11, "operation {operation}");
        };
        machine.crash();
        machine.run(again).unwrap();
    }
}

#[test]
fn the_log_goes_on_after_its_removal() {
    let machine = fixture::machine(1);
    let run = async {
        let engine = with_rows(&machine).await;
        engine.reset_log(7, CommitSettings::default()).await.unwrap();
        assert_eq!(engine.log().files()[0].name, "binlog.000007");
        assert_eq!(engine.log().files().len(), 1);
        insert_one(&engine, 11).await.unwrap();
        assert_eq!(engine.log().gtid_executed().to_string(), format!("{}:1", engine.server_uuid()));
        assert_eq!(engine.gtid_executed(), engine.log().gtid_executed());
        assert_eq!(count(&engine).await, 11);
        engine.close().await.unwrap();
    };
    machine.run(run).unwrap();
}

/// What a source has written behind its last transaction goes, through any number of restarts, and no transaction does.
#[test]
fn a_source_that_becomes_a_follower_ends_with_its_last_transaction() {
    for operation in 1..60 {
        let machine = fixture::machine(operation);
        let restart = async {
            let engine = with_rows(&machine).await;
            engine.rotate_log().await.unwrap();
            engine.close().await.unwrap();
        };
        machine.run(restart).unwrap();
        machine.kill();
        let engine = machine.run(fixture::open(machine.env(), fixture::options())).unwrap().unwrap();
        machine.crash_after(operation);
        let _ = machine.run(engine.become_follower());
        machine.crash();
        let after = async {
            let options = crate::EngineOptions { follower: true, ..fixture::options() };
            let engine = Engine::open(machine.env(), options, Arc::new(fixture::Words)).await.unwrap();
            fixture::recover(&engine).await.unwrap();
            engine.become_follower().await.unwrap();
            let log = engine.log();
            assert_eq!(log.durable_end(), engine.visible().1, "operation {operation}");
            assert_eq!((count(&engine).await, log.files().len()), (10, 1), "operation {operation}");
            assert!(insert_one(&engine, 11).await.is_err(), "a follower takes no commits");
            // The writer is there, at the end.
            let writer = engine.take_writer().unwrap();
            assert_eq!(writer.position(), log.durable_end());
            engine.return_writer(LogReceiver::new(writer).into_writer().await.unwrap());
            engine.become_source(CommitSettings::default()).await.unwrap();
            insert_one(&engine, 11).await.unwrap();
            assert_eq!(engine.log().files().len(), 2);
            engine.close().await.unwrap();
        };
        machine.run(after).unwrap();
    }
}

/// What FLUSH BINARY LOGS has ended can be copied and read by tools.
#[test]
fn a_file_that_has_ended_has_nothing_behind_its_end() {
    for seed in 1..20 {
        let machine = fixture::machine(seed);
        let run = async {
            let engine = with_rows(&machine).await;
            engine.rotate_log().await.unwrap();
            let [ended, _] = &engine.log().files()[..] else { unreachable!("two files") };
            let file = machine.env().disk.open(&ended.name, OpenOptions::default()).await.unwrap();
            assert_eq!(file.len().await.unwrap(), ended.size, "seed {seed}");
            let flags = file.read_at((MAGIC.len() + FLAGS_OFFSET) as u64, IoBuf::zeroed(2)).await.unwrap();
            assert_eq!(flags[..], [0, 0], "seed {seed}");
        };
        machine.run(run).unwrap();
    }
}

/// FLUSH BINARY LOGS counts for the next checkpoint with what was written, and not as a full file.
#[test]
fn short_files_do_not_make_checkpoints() {
    let machine = fixture::machine(1);
    let run = async {
        let options = crate::EngineOptions { checkpoint_log_bytes: 256 << 10, ..fixture::options() };
        let engine = fixture::open(machine.env(), options).await.unwrap();
        let before = engine.durable_checkpoint();
        for id in 1..=20 {
            engine.rotate_log().await.unwrap();
            insert_one(&engine, id).await.unwrap();
        }
        machine.env().clock.sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!(engine.durable_checkpoint(), before);
        let mut id = 20;
        let (begin, log) = (engine.visible().1, engine.log());
        while log.bytes_between(begin, log.durable_end()) < 260 << 10 {
            id += 1;
            insert_one(&engine, id).await.unwrap();
        }
        machine.env().clock.sleep(std::time::Duration::from_secs(1)).await;
        assert!(engine.durable_checkpoint() > before);
    };
    machine.run(run).unwrap();
}

/// Whatever the moment of a power failure: the engine and its log agree, and what was said to be there stays.
#[test]
fn gtids_of_elsewhere_are_there_or_not() {
    const ELSEWHERE: &str = "22222222-2222-2222-2222-222222222222:1-9";
    let mut seen = [0; 2];
    for operation in 1..60 {
        let machine = fixture::machine(operation);
        let engine = machine.run(with_rows(&machine)).unwrap();
        let own = format!("{}:1-", engine.server_uuid());
        machine.crash_after(operation);
        let added = machine.run(async {
            let all: GtidSet = ELSEWHERE.parse().unwrap();
            engine.add_purged_gtids(CommitSettings::default(), |_, _| Ok(all)).await?;
            assert!(engine.gtid_executed().to_string().contains(ELSEWHERE));
            engine.checkpoint().await?;
            insert_one(&engine, 11).await
        });
        machine.crash();
        let after = async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            let executed = engine.gtid_executed();
            assert_eq!(executed, engine.log().gtid_executed(), "operation {operation}");
            assert!(executed.to_string().contains(&own), "operation {operation}: {executed}");
            let is_there = executed.to_string().contains(ELSEWHERE);
            assert!(is_there || !matches!(added, Ok(Ok(_))), "operation {operation}: lost");
            seen[usize::from(is_there)] += 1;
            insert_one(&engine, 12).await.unwrap();
            engine.close().await.unwrap();
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            assert_eq!(engine.gtid_executed().count(), executed.count() + 1, "operation {operation}");
            assert_eq!(engine.gtid_executed(), engine.log().gtid_executed(), "operation {operation}");
        };
        machine.run(after).unwrap();
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}
