//! Ten thousand committers at once.

use super::*;

#[test]
fn ten_thousand_committers_at_once() {
    for seed in 0..4 {
        let machine = machine(seed);
        machine
            .run(async {
                let bench = Arc::new(open(machine.env(), LogOptions::default(), 0).await.unwrap());
                bench.pipeline.settings().set_overlap(if seed % 2 == 0 { Overlap::Auto } else { Overlap::Fixed(3) });
                let order = Arc::new(Mutex::new(Vec::new()));
                sessions(&bench.env, 10_000, |number| {
                    let (bench, order) = (bench.clone(), order.clone());
                    async move {
                        let place = bench.commit(number as u64, 100).await.unwrap();
                        order.lock().push(place.commit_number);
                    }
                })
                .await;
                let counts = bench.counts();
                assert_eq!(counts.commits, 10_000);
                assert_eq!((counts.syncs, counts.writes), (counts.groups, counts.groups), "one write, one sync each");
                assert!(counts.groups < 100, "{counts:?}");
                let mut numbers = std::mem::take(&mut *order.lock());
                numbers.sort_unstable();
                assert!(numbers.iter().enumerate().all(|(at, number)| number.0 == at as u64 + 1));
                let rows = rows_in_log(bench.pipeline.log()).await;
                bench.witness.look(|seen| assert_eq!(rows, seen.prepared, "the log has another order"));
            })
            .unwrap();
    }
}

#[test]
fn a_transaction_depends_on_the_last_writer_of_its_rows_across_files() {
    let machine = machine(1);
    machine
        .run(async {
            let bench = open(machine.env(), small_files(), 0).await.unwrap();
            let first = bench.commit(7, 100).await.unwrap();
            assert_eq!((first.last_committed, first.sequence_number), (0, 1));
            let mut last = first;
            for row in 100..140 {
                last = bench.commit(row, 1000).await.unwrap();
            }
            assert!(last.end.file > first.end.file + 1, "it has rotated: {last:?}");
            assert_eq!(last.last_committed, 0, "nothing in this file wrote its row");
            let again = bench.commit(139, 10).await.unwrap();
            assert!(again.end.file == last.end.file, "{again:?}");
            assert_eq!(again.last_committed, last.sequence_number);
        })
        .unwrap();
}

#[test]
fn one_session_at_a_time_is_inline_and_still_in_order() {
    let machine = machine(3);
    machine
        .run(async {
            let bench = open(machine.env(), small_files(), 0).await.unwrap();
            for row in 0..300 {
                bench.commit(row, 100).await.unwrap();
            }
            let counts = bench.counts();
            assert_eq!(counts.commits, 300);
            assert!(counts.inline > 250, "{counts:?}");
            assert_eq!(rows_in_log(bench.pipeline.log()).await, (0..300).collect::<Vec<_>>());
        })
        .unwrap();
}

/// Sessions that vanish at any moment: before they wait, or in the middle of their own write.
#[test]
fn a_dropped_ticket_takes_nothing_back() {
    for seed in 0..200 {
        let machine = machine(seed);
        let world = machine.world().clone();
        machine
            .run(async {
                let bench = Arc::new(open(machine.env(), small_files(), 0).await.unwrap());
                let few = 1 + world.below(3) as usize;
                sessions(&bench.env, few, |session| {
                    let (bench, world) = (bench.clone(), world.clone());
                    async move {
                        for n in 0..20 {
                            let row = (session * 20 + n) as u64;
                            if world.below(3) > 0 {
                                bench.commit_as(row, 50, row.is_multiple_of(3)).await.unwrap();
                                continue;
                            }
                            let transaction = transaction(row, 50);
                            let reservation = bench.pipeline.reserve(transaction.max_size()).await.unwrap();
                            let ticket = bench.pipeline.enqueue(transaction, reservation, row);
                            let patience = bench.env.clock.sleep(Duration::from_micros(world.below(300)));
                            if world.below(2) > 0 {
                                futures_lite::future::or(async { drop(ticket.await) }, patience).await;
                            }
                        }
                    }
                })
                .await;
                let end = bench.pipeline.barrier(Barrier::Synced).await.unwrap();
                assert_eq!(end.commit_number.0, few as u64 * 20, "seed {seed}");
                let rows = rows_in_log(bench.pipeline.log()).await;
                bench.witness.look(|seen| assert_eq!(rows, seen.prepared, "seed {seed}"));
                let writer = bench.pipeline.close().await.expect("nothing failed");
                writer.close(true).await.unwrap();
                let late = bench.commit(1, 1).await.unwrap_err();
                assert!(matches!(late, CommitError::Stopped), "{late}");
            })
            .unwrap();
    }
}
