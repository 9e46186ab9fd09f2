//! `sync_binlog` is changed while sessions commit, and the power fails: what was promised is kept, the rest is lost from the
//! end only, and recovery never takes lost writes for damage, or damage for lost writes.

use io::sim::Faults;

use super::*;

/// What the test knows across one life of the machine.
#[derive(Default)]
struct Promise {
    /// Goes up with each change of the setting.
    epoch: u64,
    is_strict: bool,
    /// Acknowledged while every group was to be synced.
    durable: Vec<u64>,
    /// Synced by a barrier: so many transactions from the first.
    synced: u64,
}

fn options(seed: u64) -> LogOptions {
    let sync_method = if seed.is_multiple_of(2) { binlog::SyncMethod::Dsync } else { binlog::SyncMethod::Fdatasync };
    // Groups in flight are much smaller than the window, what is left unsynced is larger.
    let max_unsynced_window = 48 << 10;
    LogOptions {
        max_binlog_size: 256 << 10,
        fill_ahead: 64 << 10,
        sync_method,
        max_unsynced_window,
        ..Default::default()
    }
}

async fn session(bench: Arc<Bench>, machine: SimMachine, promise: Arc<Mutex<Promise>>, first: u64) {
    for row in first..first + 1000 {
        let before = {
            let promise = promise.lock();
            promise.is_strict.then_some(promise.epoch)
        };
        if bench.commit(row, machine.world().below(600) as usize).await.is_err() {
            return;
        }
        {
            let mut promise = promise.lock();
            if before == Some(promise.epoch) {
                promise.durable.push(row);
            }
        }
        let pause = Duration::from_micros(machine.world().below(300));
        bench.env.clock.sleep(pause).await;
    }
}

/// Changes the setting, and asks for barriers, for ever.
async fn operator(bench: &Bench, machine: &SimMachine, promise: &Mutex<Promise>) {
    let world = machine.world();
    loop {
        let groups = [0, 0, 1, 1, 3][world.below(5) as usize];
        {
            let mut promise = promise.lock();
            bench.pipeline.settings().set_sync_binlog(groups);
            promise.epoch += 1;
            promise.is_strict = groups == 1;
        }
        bench.env.clock.sleep(Duration::from_micros(world.below(12_000))).await;
        if world.below(4) == 0 {
            let Ok(place) = bench.pipeline.barrier(Barrier::Synced).await else { return };
            let mut promise = promise.lock();
            promise.synced = promise.synced.max(place.commit_number.0);
        }
    }
}

#[test]
fn what_was_promised_is_kept_whatever_sync_binlog_was() {
    let mut lost = 0;
    for seed in 0..300 {
        let machine = machine(seed);
        let promise = Arc::<Mutex<Promise>>::default();
        let mut prepared = Vec::new();
        machine.crash_after(300 + machine.world().below(1500));
        let run = machine.run(async {
            let bench = Arc::new(open(machine.env(), options(seed), 0).await.unwrap());
            bench.pipeline.settings().set_overlap(Overlap::Fixed(3));
            for number in 0..6 {
                let task = session(bench.clone(), machine.clone(), promise.clone(), number * 10_000);
                bench.env.spawner.spawn("session", Box::pin(task));
            }
            let witness = bench.witness.clone();
            let watch = async {
                loop {
                    bench.env.clock.sleep(Duration::from_micros(20)).await;
                    prepared = witness.look(|seen| seen.prepared.clone());
                }
            };
            futures_lite::future::or(operator(&bench, &machine, &promise), watch).await;
        });
        assert!(run.is_err(), "seed {seed}: works until the power fails");
        machine.crash();
        let found = machine.run(async {
            let opened = BinaryLog::open(machine.env(), options(seed), OpenAs::Source, LogPosition::default()).await;
            let opened = opened.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            rows_in_log(&opened.log).await
        });
        let found = found.unwrap();
        let promise = promise.lock();
        let common = found.len().min(prepared.len());
        assert_eq!(found[..common], prepared[..common], "seed {seed}: not a prefix");
        assert!(found.len() as u64 >= promise.synced, "seed {seed}: a barrier said that more was synced");
        let there: std::collections::BTreeSet<u64> = found.iter().copied().collect();
        for row in &promise.durable {
            assert!(there.contains(row), "seed {seed}: {row} was acknowledged under sync_binlog=1 and is lost");
        }
        lost += u32::from(found.len() < prepared.len());
    }
    assert!(lost > 30, "the power failed with something unsynced only {lost} times");
}

/// Until the note is there, every group is synced, whatever the setting says.
#[test]
fn nothing_is_left_unsynced_that_is_not_noted() {
    for seed in 0..20 {
        let machine = machine(seed);
        let run = async {
            let bench = open(machine.env(), options(seed), 0).await.unwrap();
            let is_synced = async |row| {
                let end = bench.commit(row, 100).await.unwrap().end;
                let name = bench.pipeline.log().file_name(end.file);
                let durable = machine.durable_contents(&name).unwrap();
                machine.contents(&name).unwrap()[..end.offset as usize] == durable[..end.offset as usize]
            };
            let only = Some("unsynced".to_owned());
            machine.set_faults(Faults { write_error: 1.0, only, ..Faults::default() });
            bench.pipeline.settings().set_sync_binlog(0);
            for row in 1..10 {
                assert!(is_synced(row).await, "seed {seed}");
                bench.env.clock.sleep(Duration::from_micros(machine.world().below(1000))).await;
            }
            machine.set_faults(Faults::default());
            bench.env.clock.sleep(Duration::from_secs(3)).await;
            assert!(!is_synced(10).await, "seed {seed}: it is noted by now");
        };
        machine.run(run).unwrap();
    }
}

/// The setting becomes strict while a group is on its way that nobody will sync: whoever commits from then on is told when all
/// before it is durable, too.
#[test]
fn the_first_strict_commit_takes_all_before_it_along() {
    const STRICT: u64 = 1_000_000;
    for seed in 0..1000 {
        let machine = machine(seed);
        let run = async {
            let bench = Arc::new(open(machine.env(), options(seed), 0).await.unwrap());
            bench.pipeline.settings().set_overlap(Overlap::Fixed(3));
            bench.pipeline.settings().set_sync_binlog(0);
            bench.commit(1, 10).await.unwrap();
            bench.env.clock.sleep(Duration::from_millis(10)).await;
            for number in 1..5 {
                let task = session(bench.clone(), machine.clone(), Arc::default(), number * 10_000);
                bench.env.spawner.spawn("session", Box::pin(task));
            }
            bench.env.clock.sleep(Duration::from_micros(machine.world().below(3000))).await;
            bench.pipeline.settings().set_sync_binlog(1);
            bench.commit(STRICT, 10).await.unwrap();
        };
        machine.run(run).unwrap();
        machine.crash();
        let found = machine.run(async {
            let opened = BinaryLog::open(machine.env(), options(seed), OpenAs::Source, LogPosition::default()).await;
            rows_in_log(&opened.unwrap().log).await
        });
        assert!(found.unwrap().contains(&STRICT), "seed {seed}: acknowledged under sync_binlog=1 and lost");
    }
}

/// The note beside the log goes when everything is synced, and at a clean end.
#[test]
fn strictness_comes_back() {
    let machine = machine(1);
    machine
        .run(async {
            let bench = open(machine.env(), options(1), 0).await.unwrap();
            let noted = || machine.files().contains("binlog.unsynced");
            let pause = async || bench.env.clock.sleep(Duration::from_millis(100)).await;
            bench.commit(1, 10).await.unwrap();
            assert!(!noted());
            bench.pipeline.settings().set_sync_binlog(0);
            bench.commit(2, 10).await.unwrap();
            pause().await;
            assert!(noted());
            bench.commit(3, 10).await.unwrap();
            bench.pipeline.settings().set_sync_binlog(1);
            bench.commit(4, 10).await.unwrap();
            pause().await;
            assert!(!noted());
            bench.pipeline.settings().set_sync_binlog(7);
            bench.commit(5, 10).await.unwrap();
            pause().await;
            assert!(noted());
            bench.pipeline.close().await.unwrap().close(true).await.unwrap();
            assert!(!noted());
        })
        .unwrap();
}
