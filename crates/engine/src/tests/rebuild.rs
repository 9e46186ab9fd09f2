//! A data file that is made anew from the log, and those that cannot be.

use io::sim::SimMachine;

use super::fixture::{self, insert_one};
use crate::commit::CommitSettings;
use crate::error::EngineError;
use crate::options::EngineOptions;

const REBUILD: fn() -> EngineOptions = || EngineOptions { rebuild: true, ..fixture::options() };

/// Rows of the table after a start.
fn start(machine: &SimMachine, options: EngineOptions) -> Result<usize, String> {
    let run = async {
        let engine = fixture::open(machine.env(), options).await?;
        let table = engine.catalog().table("test", "t").unwrap().clone();
        let count = fixture::count(&engine, &table, 0).await;
        engine.close().await?;
        Ok::<usize, EngineError>(count)
    };
    machine.run(run).map_err(|_| "crashed".to_owned())?.map_err(|error| error.to_string())
}

fn remove(machine: &SimMachine) {
    let env = machine.env();
    machine.run(async { env.disk.remove("data.ctr").await.unwrap() }).unwrap();
}

/// A server with ten rows, and what else is done to it.
fn stopped(seed: u64, more: impl AsyncFnOnce(&std::sync::Arc<crate::Engine>)) -> SimMachine {
    let machine = fixture::machine(seed);
    let run = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        for id in 1..=10 {
            insert_one(&engine, id).await.unwrap();
        }
        more(&engine).await;
        engine.close().await.unwrap();
    };
    machine.run(run).unwrap();
    machine
}

/// With a power failure at any moment; the data file cannot be opened at all, or is whole.
#[test]
fn a_data_file_is_made_from_the_log() {
    for operation in 1..40 {
        let machine = stopped(operation, async |engine| {
            engine.checkpoint().await.unwrap();
        });
        if operation % 2 == 0 {
            for slot in 0..2 {
                machine.flip_bit("data.ctr", slot * 16384 * 8 + 1000);
            }
            assert!(start(&machine, fixture::options()).is_err());
        }
        let damaged = machine.contents("data.ctr").unwrap();
        machine.crash_after(operation);
        let _ = start(&machine, REBUILD());
        machine.crash();
        let again = match machine.contents("data.ctr.old") {
            Some(old) => {
                assert!(old == damaged, "operation {operation}");
                fixture::options()
            }
            None => REBUILD(),
        };
        assert_eq!(start(&machine, again).unwrap(), 10, "operation {operation}");
        assert_eq!(start(&machine, fixture::options()).unwrap(), 10);
    }
}

#[test]
fn a_log_that_does_not_tell_everything_makes_none() {
    let reset = stopped(1, async |engine| {
        engine.reset_log(1, CommitSettings::default()).await.unwrap();
        insert_one(engine, 11).await.unwrap();
    });
    let purged = stopped(2, async |engine| {
        for id in 1000..3000 {
            insert_one(engine, id).await.unwrap();
        }
        engine.checkpoint().await.unwrap();
        assert!(!engine.log().purge_to_size(1).await.unwrap().removed.is_empty());
    });
    for (machine, rows, refused) in [(reset, 11, "begun anew"), (purged, 2010, "file 1 is needed")] {
        let error = start(&machine, REBUILD()).unwrap_err();
        assert!(error.contains(refused), "{error}");
        assert_eq!(start(&machine, fixture::options()).unwrap(), rows, "the data file is still there");
        remove(&machine);
        let error = start(&machine, fixture::options()).unwrap_err();
        assert!(error.contains("is gone") && error.contains(refused), "{error}");
    }
}
