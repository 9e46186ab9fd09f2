//! What makes a group: settings, delays, barriers, rotation.

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

#[test]
fn skimming_goes_on_for_its_time() {
    with_bench(5, async |bench| {
        bench.pipeline.settings().set_max_flush_queue_time(Duration::from_micros(50));
        load(&bench, 10, 10).await;
        assert_eq!(bench.counts().commits, 100);
    });
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
