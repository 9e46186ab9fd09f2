//! Crashes at any operation, failing syncs, full disks.

use io::sim::Faults;

use super::*;

/// A load of random sessions under random settings. Rows that were acknowledged go to `acked`.
async fn random_load(bench: Arc<Bench>, machine: SimMachine, acked: Arc<Mutex<Vec<u64>>>, first: u64, rounds: u64) {
    let world = machine.world().clone();
    let settings = bench.pipeline.settings();
    settings
        .set_overlap([Overlap::Auto, Overlap::Fixed(1), Overlap::Fixed(2), Overlap::Fixed(3)][world.below(4) as usize]);
    settings.set_inline_commits(world.below(2) > 0);
    settings.set_order_commits(world.below(2) > 0);
    if world.below(4) == 0 {
        settings.set_sync_delay(Duration::from_micros(world.below(500)));
    }
    let number = 1 + world.below(12) as usize;
    sessions(&bench.env, number, |session| {
        let (bench, world, acked) = (bench.clone(), world.clone(), acked.clone());
        async move {
            for n in 0..rounds {
                let row = first + session as u64 * rounds + n;
                if world.below(10) == 0 {
                    let _ = bench.pipeline.barrier(Barrier::Rotate).await;
                }
                match bench.commit_as(row, world.below(2000) as usize, row.is_multiple_of(3)).await {
                    Ok(_) => acked.lock().push(row),
                    Err(_) => return,
                }
            }
        }
    })
    .await;
}

fn options(seed: u64) -> LogOptions {
    let mut options = small_files();
    if seed.is_multiple_of(2) {
        options.sync_method = binlog::SyncMethod::Dsync;
    }
    options
}

/// Whatever the power failure leaves: what was acknowledged is there, in the order in which it was prepared.
#[test]
fn acknowledged_is_durable() {
    let mut crashes = 0;
    for seed in 0..400 {
        let machine = machine(seed);
        let acked = Arc::<Mutex<Vec<u64>>>::default();
        let mut prepared = Vec::new();
        for round in 0..3u64 {
            machine.crash_after(1 + machine.world().below(150));
            let run = machine.run(async {
                let bench = match open(machine.env(), options(seed), prepared.len() as u64).await {
                    Ok(bench) => Arc::new(bench),
                    Err(error) => panic!("seed {seed}: {error}"),
                };
                let found = rows_in_log(bench.pipeline.log()).await;
                check_found(&found, &acked.lock(), seed);
                random_load(bench, machine.clone(), acked.clone(), (round + 1) * 10_000, 20).await;
            });
            crashes += u32::from(run.is_err());
            machine.crash();
            let found = machine.run(async {
                let bench = open(machine.env(), options(seed), 0).await.unwrap();
                let rows = rows_in_log(bench.pipeline.log()).await;
                bench.pipeline.close().await.unwrap().close(true).await.unwrap();
                rows
            });
            prepared = found.unwrap();
            check_found(&prepared, &acked.lock(), seed);
        }
    }
    assert!(crashes > 200, "only {crashes} crashes hit the load");
}

fn check_found(found: &[u64], acked: &[u64], seed: u64) {
    let mut once = found.to_vec();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), found.len(), "seed {seed}: a transaction is twice in the log");
    for row in acked {
        assert!(once.binary_search(row).is_ok(), "seed {seed}: {row} was acknowledged and is lost");
    }
}

/// The first failed write or sync ends it: everybody is told, nobody is told success after it.
#[test]
fn a_failed_sync_is_final() {
    for seed in 0..200 {
        let machine = machine(seed);
        let acked = Arc::<Mutex<Vec<u64>>>::default();
        machine
            .run(async {
                let bench = Arc::new(open(machine.env(), options(seed), 0).await.unwrap());
                random_load(bench.clone(), machine.clone(), acked.clone(), 0, 5).await;
                let before = acked.lock().len();
                let only = Some(bench.pipeline.log().file_name(bench.pipeline.log().durable_end().file));
                let (write_error, sync_error) = if seed % 3 == 0 { (1.0, 0.0) } else { (0.0, 1.0) };
                machine.set_faults(Faults { write_error, sync_error, only, ..Faults::default() });
                random_load(bench.clone(), machine.clone(), acked.clone(), 10_000, 5).await;
                // A rotation may have moved the log on to a file that does not fail.
                if bench.pipeline.failure().is_some() {
                    assert!(bench.witness.look(|seen| seen.failures) == 1, "seed {seed}");
                    let error = bench.commit(1, 1).await.unwrap_err();
                    assert!(matches!(error, CommitError::LogFailed(_)), "seed {seed}: {error}");
                    machine.set_faults(Faults::default());
                    assert!(bench.commit(2, 1).await.is_err(), "seed {seed}: tried again");
                    assert!(bench.pipeline.barrier(Barrier::Published).await.is_err());
                    assert!(bench.pipeline.close().await.is_none());
                }
                assert!(acked.lock().len() >= before);
            })
            .unwrap();
        machine.set_faults(Faults::default());
        machine.crash();
        let found = machine.run(async {
            let bench = open(machine.env(), options(seed), 0).await.unwrap();
            rows_in_log(bench.pipeline.log()).await
        });
        check_found(&found.unwrap(), &acked.lock(), seed);
    }
}

/// A full disk is an error of the transaction that finds it full, before it has a place; the log itself goes on.
#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    for seed in 0..20 {
        let machine = machine(seed);
        machine
            .run(async {
                let bench = Arc::new(open(machine.env(), small_files(), 0).await.unwrap());
                let capacity = Some((4 << 20) + (200 << 10));
                machine.set_faults(Faults { capacity, ..Faults::default() });
                let acked = Arc::<Mutex<Vec<u64>>>::default();
                let refused = Arc::new(AtomicUsize::new(0));
                sessions(&bench.env, 8, |session| {
                    let (bench, acked, refused) = (bench.clone(), acked.clone(), refused.clone());
                    async move {
                        for n in 0..100 {
                            let row = session as u64 * 100 + n;
                            match bench.commit_as(row, 1000, row.is_multiple_of(3)).await {
                                Ok(_) => acked.lock().push(row),
                                Err(CommitError::Full(_)) => drop(refused.fetch_add(1, Ordering::Relaxed)),
                                Err(error) => panic!("seed {seed}: {error}"),
                            }
                        }
                    }
                })
                .await;
                assert!(refused.load(Ordering::Relaxed) > 100, "seed {seed}");
                let mut rows = rows_in_log(bench.pipeline.log()).await;
                bench.witness.look(|seen| assert_eq!(rows, seen.prepared, "seed {seed}"));
                rows.sort_unstable();
                acked.lock().sort_unstable();
                assert_eq!(rows, *acked.lock(), "seed {seed}");
                // There is room again.
                machine.set_faults(Faults::default());
                bench.commit(5000, 1000).await.unwrap();
            })
            .unwrap();
    }
}

/// The log thread vanishes in the middle of a group: whoever waits is told, and whoever comes later.
#[test]
fn a_lost_log_thread_leaves_nobody_waiting() {
    for seed in 0..100 {
        let machine = machine(seed);
        machine
            .run(async {
                let bench = open(machine.env(), small_files(), 0).await.unwrap();
                bench.commit(1, 10).await.unwrap();
                let mut tickets = Vec::new();
                for row in 2..6 {
                    let transaction = transaction(row, 10);
                    let reservation = bench.pipeline.reserve(transaction.max_size()).await.unwrap();
                    tickets.push(bench.pipeline.enqueue(transaction, reservation, row));
                }
                // Until some group is under way.
                bench.env.clock.sleep(Duration::from_micros(machine.world().below(100))).await;
                machine.kill();
                let taken = bench.witness.look(|seen| seen.failures);
                if taken == 0 {
                    return; // it was idle: only the process's end would end these waits
                }
                for ticket in tickets {
                    assert!(!matches!(ticket.await, Err(CommitError::Full(_))), "seed {seed}");
                }
                assert!(matches!(bench.commit(9, 10).await, Err(CommitError::LogFailed(_))), "seed {seed}");
            })
            .unwrap();
    }
}
