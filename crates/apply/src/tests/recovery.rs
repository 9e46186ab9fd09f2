//! Power failures at any operation.

use std::time::Duration;

use parking_lot::Mutex;

use super::*;

/// Counts up in some sessions until the machine crashes or all is done; with checkpoints in between.
async fn load(engine: Arc<Engine>, machine: SimMachine, acked: Arc<Mutex<Vec<i64>>>, first: i64) {
    let world = machine.world().clone();
    let number = 1 + world.below(4) as usize;
    sessions(engine.env(), number, |session| {
        let (engine, world, acked) = (engine.clone(), world.clone(), acked.clone());
        async move {
            for n in 0..30 {
                let id = first + session as i64 * 1000 + n;
                let note = "x".repeat(world.below(280) as usize);
                match world.below(40) {
                    0 => drop(engine.checkpoint().await),
                    1 => drop(engine.rotate_log().await),
                    _ => {}
                }
                match count_up(&engine, id, &note).await {
                    Ok(_) => acked.lock().push(id),
                    Err(EngineError::Deadlock | EngineError::LockWaitTimeout) => {}
                    Err(_) => return,
                }
            }
        }
    })
    .await;
}

async fn check_acked(engine: &Arc<Engine>, acked: &Mutex<Vec<i64>>, seed: u64) {
    let acked = acked.lock().clone();
    if engine.catalog().table("d", "marks").is_none() {
        assert!(acked.is_empty(), "seed {seed}");
        return;
    }
    let marked = check(engine).await;
    let executed = engine.gtid_executed();
    assert_eq!(executed, engine.log().gtid_executed(), "seed {seed}");
    assert!(marked < 50 || executed.lasts_of(engine.server_uuid()).count() == 3, "seed {seed}: {executed}");
    let marks = table(engine, "marks");
    let mut txn = begin(engine);
    for id in acked {
        let found = txn.get(&marks, &key(&marks, id), ReadMode::Consistent).await.unwrap();
        assert!(found.is_some(), "seed {seed}: {id} was acknowledged and is lost");
    }
}

#[test]
fn what_was_acknowledged_is_there_after_a_crash() {
    let mut crashes = 0;
    let mut replayed = 0;
    for seed in 0..60 {
        let machine = machine(seed);
        let acked = Arc::<Mutex<Vec<i64>>>::default();
        for round in 0..4 {
            machine.crash_after(1 + machine.world().below(600));
            let run = machine.run(async {
                let (engine, recovered) =
                    open_source(machine.env()).await.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                replayed += recovered.transactions;
                check_acked(&engine, &acked, seed).await;
                if make_tables(&engine).await.is_ok() {
                    load(engine.clone(), machine.clone(), acked.clone(), (round + 1) * 100_000).await;
                }
            });
            crashes += u32::from(run.is_err());
            machine.crash();
        }
        machine
            .run(async {
                let (engine, _) = open_source(machine.env()).await.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                check_acked(&engine, &acked, seed).await;
                engine.close().await.unwrap();
                drop(engine);
                // After a clean end there is nothing to apply.
                let (engine, recovered) = open_source(machine.env()).await.unwrap();
                assert_eq!(recovered.transactions, 0, "seed {seed}");
                check_acked(&engine, &acked, seed).await;
            })
            .unwrap();
    }
    assert!(crashes > 60, "only {crashes} crashes");
    assert!(replayed > 1000, "only {replayed} transactions were replayed");
}

/// Much more log than fits in memory: workers wait for room, checkpoints are made meanwhile, nobody waits for ever.
#[test]
fn recovery_of_more_than_fits_in_memory() {
    let machine = machine(7);
    machine
        .run(async {
            let large = EngineOptions { memtable_bytes: 64 << 20, ..options() };
            let (engine, _) = open(machine.env(), large).await.unwrap();
            engine.start_commits(CommitSettings::default()).unwrap();
            make_tables(&engine).await.unwrap();
            for id in 1..=600 {
                count_up(&engine, id, &"y".repeat(250)).await.unwrap();
            }
        })
        .unwrap();
    machine.kill();
    machine
        .run(async {
            let small = EngineOptions { memtable_bytes: 8 << 10, page_cache_bytes: 8 << 10, ..options() };
            let (engine, recovered) = open(machine.env(), small).await.unwrap();
            assert!(recovered.transactions > 600, "{recovered:?}");
            assert_eq!(check(&engine).await, 600);
            assert!(engine.durable_checkpoint().0 > engine.checkpoint_at_open().0, "no checkpoint was made");
        })
        .unwrap();
}

/// Whatever of the machinery vanishes in the middle of a recovery: it ends, with an error.
#[test]
fn a_recovery_whose_tasks_are_gone_ends() {
    let mut ended = 0;
    for seed in 0..40 {
        let machine = machine(seed);
        let first = machine.run(async {
            let (engine, _) = open_source(machine.env()).await.unwrap();
            make_tables(&engine).await.unwrap();
            load(engine, machine.clone(), Arc::default(), 1).await;
        });
        first.unwrap();
        machine.crash();
        let pause = Duration::from_micros(machine.world().below(10_000));
        let clock = machine.env().clock;
        let run = machine.run(futures_lite::future::or(open_source(machine.env()), async {
            clock.sleep(pause).await;
            machine.kill();
            futures_lite::future::pending().await
        }));
        ended += u32::from(run.unwrap().is_err());
    }
    assert!(ended > 5, "{ended}");
}

/// A copy of a log whose transactions cannot all be applied: what is before is there, in each of the two ways, and stays.
#[test]
fn what_cannot_be_applied_does_not_bar_the_way_to_what_is_before() {
    for readers in [false, true] {
        let machine = machine(9);
        let written = async {
            let large = EngineOptions { memtable_bytes: 64 << 20, ..options() };
            let (engine, _) = open(machine.env(), large).await.unwrap();
            engine.start_commits(CommitSettings::default()).unwrap();
            make_tables(&engine).await.unwrap();
            for id in 0..100 {
                count_up(&engine, id, "note").await.unwrap();
            }
            // Done here, and said so that nobody else can.
            let text = |sql: &str| DdlText { sql: sql.to_owned(), ..DdlText::default() };
            let change = TinyPlanner.plan(&text("database e"), &engine.catalog()).unwrap();
            let options = TxnOptions::new(SessionHandle::internal());
            engine.execute_ddl(change, text("nonsense"), &options).await.unwrap();
            for id in 100..150 {
                count_up(&engine, id, "note").await.unwrap();
            }
        };
        machine.run(written).unwrap();
        machine.kill();
        for _ in 0..2 {
            let run = async {
                let how = EngineOptions { follower: true, ..options() };
                let engine = Engine::open(machine.env(), how, Arc::new(TinyPlanner)).await.unwrap();
                let apply = ApplyOptions { workers: 2, readers };
                recover_copy(&engine, apply).await.unwrap();
                assert!(check(&engine).await <= 100);
                let applier = Applier::new(engine.clone(), apply);
                let error = applier.finish().await.unwrap_err().to_string();
                assert!(error.contains("nonsense"), "{error}");
                assert_eq!(check(&engine).await, 100);
                engine.checkpoint().await.unwrap();
                assert_eq!(check(&engine).await, 100);
                engine.close().await.unwrap();
            };
            machine.run(run).unwrap();
        }
        // Nothing of that is for one whose log it is.
        let run = async { open_source(machine.env()).await.map(drop).unwrap_err().message };
        assert!(machine.run(run).unwrap().contains("nonsense"));
        machine.kill();
        // Damage is not what somebody has written.
        let place = |name: &String| {
            let bytes = machine.contents(name)?;
            Some((name.clone(), bytes.windows(8).position(|bytes| bytes == b"nonsense")?))
        };
        let (file, at) = machine.files().iter().filter(|name| name.starts_with("binlog.0")).find_map(place).unwrap();
        machine.flip_bit(&file, 8 * at as u64);
        let run = async {
            let how = EngineOptions { follower: true, ..options() };
            let engine = Engine::open(machine.env(), how, Arc::new(TinyPlanner)).await.unwrap();
            recover_copy(&engine, ApplyOptions { workers: 2, readers }).await.unwrap_err().to_string()
        };
        let error = machine.run(run).unwrap();
        assert!(error.contains("damaged"), "{error}");
    }
}
