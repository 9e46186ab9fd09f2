//! Source, follower, and a log that begins anew: with a power failure in any disk operation.

use std::sync::Arc;

use binlog::LogReceiver;
use io::sim::SimMachine;

use super::fixture::{self, begin, insert_one};
use crate::commit::CommitSettings;
use crate::{Direction, Engine, KeyRange, ReadMode};

async fn count(engine: &Arc<Engine>) -> usize {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let mut transaction = begin(engine);
    let mut scan = transaction.scan(&table, 0, KeyRange::all(), Direction::Forward, ReadMode::Consistent);
    let mut entries = Vec::new();
    while transaction.next_batch(&mut scan, &mut entries, 50).await.unwrap() {}
    entries.len()
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
