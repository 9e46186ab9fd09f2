//! What makes a group: settings, delays, barriers, rotation.

use binlog::SyncMethod;
use futures_lite::future;

use super::super::pipeline::{COMPANY, PATIENCE};
use super::*;

fn with_bench(seed: u64, test: impl AsyncFnOnce(Arc<Bench>)) {
    let machine = machine(seed);
    machine
        .run(async {
            let bench = open(machine.env(), small_files(), 0).await.unwrap();
            test(Arc::new(bench)).await;
        })
        .unwrap();
}

/// `rounds` commits in each of `number` sessions.
async fn load(bench: &Arc<Bench>, number: usize, rounds: u64) {
    sessions(&bench.env, number, |session| {
        let bench = bench.clone();
        async move {
            for n in 0..rounds {
                bench.commit(session as u64 * 1000 + n, 50).await.unwrap();
            }
        }
    })
    .await;
}

#[test]
fn sync_binlog_counts_groups() {
    with_bench(1, async |bench| {
        bench.pipeline.settings().set_sync_binlog(0);
        // Until it is noted beside the log that groups are left unsynced, they are not.
        bench.commit(9999, 10).await.unwrap();
        bench.env.clock.sleep(Duration::from_millis(100)).await;
        let before = bench.counts();
        load(&bench, 1, 100).await;
        // Only where a file ends.
        let ended = bench.pipeline.log().files().len() as u64 - 1;
        assert!(ended > 0 && bench.counts().syncs - before.syncs == ended, "{ended} {before:?} {:?}", bench.counts());
        bench.pipeline.barrier(Barrier::Synced).await.unwrap();
        let syncs = bench.counts().syncs;
        bench.pipeline.barrier(Barrier::Synced).await.unwrap();
        assert_eq!(bench.counts().syncs, syncs, "everything is synced already");

        bench.pipeline.settings().set_sync_binlog(10);
        let before = bench.counts();
        load(&bench, 1, 20).await;
        let after = bench.counts();
        assert_eq!(after.groups - before.groups, 20);
        assert!((2..=3).contains(&(after.syncs - before.syncs)), "{before:?} {after:?}");
    });
}

#[test]
fn a_delay_waits_for_its_count_or_its_time() {
    with_bench(2, async |bench| {
        let settings = bench.pipeline.settings();
        settings.set_sync_delay(Duration::from_millis(5));
        let start = bench.env.clock.monotonic();
        bench.commit(1, 10).await.unwrap();
        assert!(bench.env.clock.monotonic() - start >= Duration::from_millis(5));
        settings.set_sync_delay(Duration::from_secs(100));
        settings.set_sync_no_delay_count(16);
        let groups = bench.counts().groups;
        load(&bench, 16, 3).await;
        assert_eq!(bench.counts().groups - groups, 3);
        assert!(bench.env.clock.monotonic() - start < Duration::from_secs(100));
    });
}

#[test]
fn several_groups_in_flight_are_published_in_order() {
    with_bench(3, async |bench| {
        bench.pipeline.settings().set_overlap(Overlap::Fixed(3));
        load(&bench, 20, 20).await;
        let counts = bench.counts();
        assert!(counts.overlapped > counts.groups / 3, "{counts:?}");
        assert_eq!(counts.commits, 400);
        let rows = rows_in_log(bench.pipeline.log()).await;
        bench.witness.look(|seen| assert_eq!(rows, seen.prepared));
    });
}

#[test]
fn unordered_wake_ups_lose_nobody() {
    with_bench(4, async |bench| {
        bench.pipeline.settings().set_order_commits(false);
        load(&bench, 20, 10).await;
        assert_eq!(bench.counts().commits, 200);
    });
}

/// Patient commits share groups: until their time is over, there are enough of them, or somebody comes who is not patient.
#[test]
fn patience_ends_with_time_with_company_and_with_somebody_else() {
    with_bench(6, async |bench| {
        let patient = async |rows: std::ops::Range<u64>| {
            sessions(&bench.env, (rows.end - rows.start) as usize, |session| {
                let (bench, row) = (bench.clone(), rows.start + session as u64);
                async move { bench.commit_as(row, 10, true).await.map(|_| ()).unwrap() }
            })
            .await;
        };
        let now = || bench.env.clock.monotonic();
        let groups = || bench.counts().groups;
        bench.commit(0, 10).await.unwrap();
        let (before, start) = (groups(), now());
        patient(1..11).await;
        assert_eq!(groups() - before, 1, "ten of them");
        assert!((PATIENCE / 2..PATIENCE * 2).contains(&(now() - start)), "{:?}", now() - start);

        let (before, start) = (groups(), now());
        let others = async {
            bench.env.clock.sleep(PATIENCE / 10).await;
            bench.commit(100, 10).await.unwrap();
        };
        future::zip(patient(11..21), others).await;
        assert!(groups() - before <= 2 && now() - start < PATIENCE / 2, "{:?}", now() - start);

        let mut made = Vec::new();
        for row in 1000..1000 + COMPANY as u64 {
            let transaction = transaction(row, 10);
            let reservation = bench.pipeline.reserve(transaction.max_size()).await.unwrap();
            made.push((transaction, reservation, row));
        }
        bench.commit(101, 10).await.unwrap();
        let start = now();
        let enqueue = |(transaction, reservation, row)| bench.pipeline.enqueue_patiently(transaction, reservation, row);
        let tickets: Vec<_> = made.into_iter().map(enqueue).collect();
        for ticket in tickets {
            ticket.await.unwrap();
        }
        assert!(now() - start < PATIENCE, "{:?}", now() - start);
        let rows = rows_in_log(bench.pipeline.log()).await;
        bench.witness.look(|seen| assert_eq!(rows, seen.prepared));
    });
}

/// What comes while a group is formed is taken into it as long as `binlog_max_flush_queue_time` says, and else into the next.
#[test]
fn skimming_takes_what_comes_meanwhile() {
    for (time, groups) in [(Duration::ZERO, 2), (Duration::from_micros(50), 1)] {
        with_bench(5, async |bench| {
            bench.pipeline.settings().set_max_flush_queue_time(time);
            let made = transaction(2, 10);
            let reservation = bench.pipeline.reserve(made.max_size()).await.unwrap();
            let (pipeline, mut second) = (bench.pipeline.clone(), Some((made, reservation)));
            let come = move |row| {
                if let Some((made, reservation)) = second.take_if(|_| row == 1) {
                    drop(pipeline.enqueue(made, reservation, 2));
                }
            };
            bench.witness.on_prepare(come);
            bench.commit(1, 10).await.unwrap();
            let end = bench.pipeline.barrier(Barrier::Published).await.unwrap();
            assert_eq!(end.commit_number.0, 2);
            assert_eq!(bench.counts().groups, groups, "{time:?}");
            load(&bench, 10, 10).await;
            assert_eq!(bench.counts().commits, 102);
        });
    }
}

/// One write and one sync per group: counted by the pipeline, and by the disk; whichever way it syncs, whoever writes.
#[test]
fn one_write_and_one_sync_per_group() {
    for (method, inline) in [
        (SyncMethod::Fdatasync, true),
        (SyncMethod::Fdatasync, false),
        (SyncMethod::Dsync, true),
        (SyncMethod::Dsync, false),
    ] {
        let machine = machine(8);
        let run = async {
            let options = LogOptions { sync_method: method, fill_ahead: 1 << 20, ..LogOptions::default() };
            let bench = Arc::new(open(machine.env(), options, 0).await.unwrap());
            bench.pipeline.settings().set_inline_commits(inline);
            bench.commit(0, 10).await.unwrap();
            bench.env.clock.sleep(Duration::from_secs(1)).await;
            let (before, disk) = (bench.counts(), machine.disk_stats());
            load(&bench, 1, 30).await;
            load(&bench, 40, 10).await;
            let (after, disk_after) = (bench.counts(), machine.disk_stats());
            let groups = after.groups - before.groups;
            assert_eq!(after.commits - before.commits, 430);
            assert!((30..200).contains(&groups), "{after:?}");
            assert_eq!((after.writes - before.writes, after.syncs - before.syncs), (groups, groups));
            assert_eq!(
                (disk_after.writes - disk.writes, disk_after.syncs - disk.syncs),
                (groups, groups),
                "{method:?}"
            );
            assert_eq!(after.inline > before.inline + 20, inline);
            let stats = bench.pipeline.stats();
            let sizes = stats.group_size.snapshot();
            assert_eq!((sizes.count, sizes.sum), (after.groups, after.commits));
            assert_eq!(stats.sync_micros.snapshot().count, after.syncs);
        };
        machine.run(run).unwrap();
    }
}

#[test]
fn rotation_is_in_line() {
    with_bench(6, async |bench| {
        let before = bench.commit(1, 10).await.unwrap();
        let at = bench.pipeline.barrier(Barrier::Rotate).await.unwrap();
        assert_eq!(at.commit_number, before.commit_number);
        let after = bench.commit(2, 10).await.unwrap();
        assert_eq!(after.end.file, before.end.file + 1);
        assert_eq!(after.sequence_number, 1);
        // The new file is there although nothing was committed after it.
        bench.pipeline.barrier(Barrier::Rotate).await.unwrap();
        bench.pipeline.barrier(Barrier::Published).await.unwrap();
        assert_eq!(bench.pipeline.log().durable_end().file, before.end.file + 2);
        // And under load.
        load(&bench, 10, 50).await;
        assert!(bench.pipeline.log().files().len() > 5);
        let rows = rows_in_log(bench.pipeline.log()).await;
        bench.witness.look(|seen| assert_eq!(rows, seen.prepared));
    });
}

#[test]
fn a_barrier_is_behind_what_was_queued_before_it() {
    with_bench(7, async |bench| {
        let mut tickets = Vec::new();
        for row in 0..50 {
            let transaction = transaction(row, 10);
            let reservation = bench.pipeline.reserve(transaction.max_size()).await.unwrap();
            tickets.push(bench.pipeline.enqueue(transaction, reservation, row));
        }
        let at = bench.pipeline.barrier(Barrier::Published).await.unwrap();
        assert_eq!(at.commit_number, CommitNumber(50));
        bench.witness.look(|seen| assert!(seen.published >= at.commit_number));
    });
}

/// The next file is ready before it is needed, and the last one is sealed behind everybody's back: a commit that meets a
/// rotation takes two writes and syncs, and not the thousands of zeros of a new file.
#[test]
fn a_rotation_stalls_nobody() {
    let machine = machine(9);
    let run = async {
        let options = LogOptions { max_binlog_size: 16 << 20, fill_ahead: 16 << 20, ..LogOptions::default() };
        let bench = open(machine.env(), options, 0).await.unwrap();
        let clock = bench.env.clock.clone();
        let mut longest = Duration::ZERO;
        for row in 0..400 {
            let start = clock.monotonic();
            bench.commit(row, 150_000).await.unwrap();
            longest = longest.max(clock.monotonic() - start);
            clock.sleep(Duration::from_micros(100)).await;
        }
        assert!(bench.pipeline.log().files().len() > 3);
        // An operation of the simulated disk takes up to 0.2 ms, and a new file here takes 18.
        assert!(longest < Duration::from_micros(1200), "{longest:?}");
    };
    machine.run(run).unwrap();
}
