//! One kind of operation fails on one kind of file: either the server stops, or it goes on without what it could not do. Reads go
//! on, and nothing that was acknowledged is lost.

use std::sync::Arc;
use std::time::Duration;

use futures_lite::future;
use io::sim::{Faults, SimMachine};

use super::fixture::{self, begin, insert_one, key};
use crate::{Engine, EngineError, EngineOptions, ReadMode};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Write,
    Sync,
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum File {
    /// The one that the log is written to.
    Log,
    /// The one that is prepared.
    NextLog,
    /// `binlog.index`
    Index,
    /// `binlog.unsynced`
    Note,
    Data,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// Nothing is committed any more.
    Stops,
    GoesOn,
}

use File::{Data, Index, Log, NextLog, Note};
use Operation::{Read, Sync, Write};
use Outcome::{GoesOn, Stops};

const CASES: [(File, Operation, Outcome); 11] = [
    (Log, Write, Stops),
    (Log, Sync, Stops),
    // What is behind the log's end is for whoever reads it.
    (Log, Read, GoesOn),
    // The log goes on in the file that it has; a rotation is refused.
    (NextLog, Write, GoesOn),
    (NextLog, Sync, GoesOn),
    // A list for people and tools; a purge is refused.
    (Index, Write, GoesOn),
    (Index, Sync, GoesOn),
    // Groups are synced instead.
    (Note, Write, GoesOn),
    (Note, Sync, GoesOn),
    // What a checkpoint has written is not known then.
    (Data, Write, Stops),
    (Data, Sync, Stops),
];

fn options(seed: u64) -> EngineOptions {
    let mut options = fixture::options();
    options.log.sync_method = match seed % 2 {
        0 => binlog::SyncMethod::Dsync,
        _ => binlog::SyncMethod::Fdatasync,
    };
    options
}

fn faults(file: File, operation: Operation, engine: &Engine) -> Faults {
    let current = engine.log().durable_end().file;
    let only = match file {
        Log => engine.log().file_name(current),
        // A rotation has just ended the current one.
        NextLog => engine.log().file_name(current + 2),
        Index => "binlog.index".to_owned(),
        Note => "binlog.unsynced".to_owned(),
        Data => "data.ctr".to_owned(),
    };
    let mut faults = Faults { only: Some(only), ..Faults::default() };
    match operation {
        Write => faults.write_error = 1.0,
        Sync => faults.sync_error = 1.0,
        Read => faults.read_error = 1.0,
    }
    faults
}

async fn has_row(engine: &Arc<Engine>, id: i64) -> bool {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    begin(engine).get(&table, &key(&table, id), ReadMode::Consistent).await.unwrap().is_some()
}

/// Everything that a server does, with faults from its middle on. The rows that were acknowledged.
async fn work(machine: &SimMachine, seed: u64, (file, operation, outcome): (File, Operation, Outcome)) -> Vec<i64> {
    let engine = fixture::open(machine.env(), options(seed)).await.unwrap();
    let pause = async |micros| engine.env().clock.sleep(Duration::from_micros(micros)).await;
    let mut acknowledged = Vec::new();
    for id in 1..20 {
        insert_one(&engine, id).await.unwrap();
        acknowledged.push(id);
    }
    pause(1_000_000).await;
    if file == NextLog {
        // The one that is prepared is taken, and the one behind it is not there yet.
        engine.rotate_log().await.unwrap();
    }
    machine.set_faults(faults(file, operation, &engine));
    if file == Note {
        engine.commits().unwrap().settings().set_sync_binlog(0);
    }
    let (mut errors, mut id) = (0, 20);
    for round in 0..6 {
        for _ in 0..10 {
            match insert_one(&engine, id).await {
                Ok(()) => acknowledged.push(id),
                Err(_) => errors += 1,
            }
            id += 1;
            assert!(has_row(&engine, 1).await, "reads go on");
        }
        let patient = async |task: &mut (dyn Future<Output = crate::Result<()>> + Unpin)| {
            future::or(task, async {
                pause(5_000_000).await;
                Err(EngineError::LockWaitTimeout)
            })
            .await
        };
        let result = match round % 3 {
            0 => patient(&mut Box::pin(async { engine.checkpoint().await.map(drop) })).await,
            1 => patient(&mut Box::pin(engine.rotate_log())).await,
            _ => patient(&mut Box::pin(async { Ok(engine.log().purge_to_size(1).await.map(drop)?) })).await,
        };
        assert!(!matches!(result, Err(EngineError::LockWaitTimeout)), "round {round}: somebody waits for ever");
    }
    let has_stopped = engine.check_running().is_err();
    assert_eq!(has_stopped, outcome == Stops, "{errors} errors");
    assert_eq!(errors > 0, outcome == Stops, "{errors} errors");
    if has_stopped {
        machine.set_faults(Faults::default());
        assert!(insert_one(&engine, 1_000_000).await.is_err(), "a failure is final");
    }
    acknowledged
}

#[test]
fn each_fault_has_its_outcome() {
    for case in CASES {
        for seed in 0..10 {
            let machine = SimMachine::new(seed);
            println!("{case:?}, seed {seed}");
            let acknowledged = machine.run(work(&machine, seed, case)).unwrap();
            machine.set_faults(Faults::default());
            match seed % 3 {
                0 => machine.kill(),
                _ => machine.crash(),
            }
            let check = async {
                let engine = fixture::open(machine.env(), options(seed)).await.unwrap();
                for id in acknowledged.iter().filter(|_| case.0 != Note) {
                    assert!(has_row(&engine, *id).await, "row {id} was acknowledged and is lost");
                }
                insert_one(&engine, 2_000_000).await.unwrap();
                engine.close().await.unwrap();
            };
            machine.run(check).unwrap();
        }
    }
}
