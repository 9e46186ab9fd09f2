//! Commits that wait for replicas: what is visible when, timeouts, shutdown.

use futures_lite::future::{poll_once, yield_now};

use super::*;

const REPLICA: u64 = 1;

async fn enqueue(bench: &Bench, row: u64) -> Ticket {
    let transaction = transaction(row, 100);
    let reservation = bench.pipeline.reserve(transaction.max_size()).await.unwrap();
    bench.pipeline.enqueue(transaction, reservation, row)
}

/// Until the log has nothing more to sync.
async fn durable(bench: &Bench, ticket: &mut Ticket) -> bool {
    for _ in 0..2_000 {
        if poll_once(&mut *ticket).await.is_some() {
            return true;
        }
        bench.env.clock.sleep(Duration::from_micros(20)).await;
        yield_now().await;
    }
    false
}

fn published(bench: &Bench) -> u64 {
    bench.witness.look(|seen| seen.published.0)
}

fn on(machine: &SimMachine, test: impl AsyncFnOnce(Bench, Arc<SemiSync>)) {
    let bench = async {
        let bench = open(machine.env(), small_files(), 0).await.unwrap();
        let semi_sync = bench.pipeline.semi_sync().clone();
        semi_sync.set_enabled(true);
        test(bench, semi_sync).await;
    };
    machine.run(bench).unwrap();
}

#[test]
fn nothing_is_visible_before_a_replica_has_it() {
    on(&SimMachine::new(1), async |bench, semi_sync| {
        semi_sync.joined(REPLICA);
        let mut first = enqueue(&bench, 1).await;
        assert!(!durable(&bench, &mut first).await);
        let mut second = enqueue(&bench, 2).await;
        assert!(!durable(&bench, &mut second).await, "the second waits too, and was written meanwhile");
        let end = bench.pipeline.log().durable_end();
        assert!(end > LogPosition::default());
        assert_eq!((published(&bench), semi_sync.status().waiting), (0, 2));
        let rows = rows_in_log(bench.pipeline.log()).await;
        assert_eq!(rows, [1, 2], "replicas can read it");
        semi_sync.acknowledged(REPLICA, LogPosition::new(end.file, end.offset - 1));
        assert_eq!(published(&bench), 1, "of the second it lacks the last byte");
        let place = first.await.unwrap();
        assert_eq!(place.commit_number.0, 1);
        assert!(poll_once(&mut second).await.is_none());
        semi_sync.acknowledged(REPLICA, end);
        second.await.unwrap();
        let status = semi_sync.status();
        assert_eq!((status.acknowledged, status.unacknowledged, status.waits, status.waiting), (2, 0, 2, 0));
    });
}

#[test]
fn as_many_replicas_as_were_asked_for() {
    on(&SimMachine::new(2), async |bench, semi_sync| {
        semi_sync.set_wait_count(2);
        (1..=3).for_each(|replica| semi_sync.joined(replica));
        let mut ticket = enqueue(&bench, 1).await;
        assert!(!durable(&bench, &mut ticket).await);
        let end = bench.pipeline.log().durable_end();
        semi_sync.acknowledged(3, end);
        semi_sync.acknowledged(3, end);
        assert_eq!(published(&bench), 0, "one is not two, however often it says it");
        semi_sync.acknowledged(1, end);
        assert_eq!(published(&bench), 1);
        ticket.await.unwrap();
    });
}

#[test]
fn a_timeout_ends_it_until_replicas_have_caught_up() {
    on(&SimMachine::new(3), async |bench, semi_sync| {
        semi_sync.joined(REPLICA);
        semi_sync.set_timeout(Duration::from_millis(500));
        let start = bench.env.clock.monotonic();
        enqueue(&bench, 1).await.await.unwrap();
        assert!(bench.env.clock.monotonic() - start >= Duration::from_millis(500));
        let status = semi_sync.status();
        assert_eq!((status.in_force, status.unacknowledged, status.timeouts), (false, 1, 1));
        let start = bench.env.clock.monotonic();
        enqueue(&bench, 2).await.await.unwrap();
        assert!(bench.env.clock.monotonic() - start < Duration::from_millis(100), "nobody waits any more");
        let end = bench.pipeline.log().durable_end();
        semi_sync.acknowledged(REPLICA, LogPosition::new(end.file, end.offset - 1));
        assert!(!semi_sync.status().in_force);
        semi_sync.acknowledged(REPLICA, end);
        assert!(semi_sync.status().in_force);
        let mut third = enqueue(&bench, 3).await;
        assert!(!durable(&bench, &mut third).await);
        semi_sync.set_enabled(false);
        third.await.unwrap();
    });
}

#[test]
fn without_a_timeout_it_waits_for_ever() {
    on(&SimMachine::new(4), async |bench, semi_sync| {
        semi_sync.set_timeout(Duration::from_millis(10));
        semi_sync.set_on_timeout(OnTimeout::Wait);
        let mut ticket = enqueue(&bench, 1).await;
        bench.env.clock.sleep(Duration::from_secs(3600)).await;
        assert!(poll_once(&mut ticket).await.is_none());
        assert_eq!(semi_sync.status().timeouts, 1, "one that waits is told of once");
        semi_sync.set_waits_for_replicas(false);
        ticket.await.unwrap();
        assert!(!semi_sync.status().in_force, "no replica is connected");
    });
}

#[test]
fn who_waits_at_the_end_is_told_that_it_is_in_the_log() {
    on(&SimMachine::new(5), async |bench, semi_sync| {
        semi_sync.joined(REPLICA);
        let mut ticket = enqueue(&bench, 1).await;
        assert!(!durable(&bench, &mut ticket).await);
        let late = enqueue(&bench, 2).await;
        assert!(bench.pipeline.close().await.is_some());
        assert!(matches!(ticket.await, Err(CommitError::Unacknowledged)));
        assert!(matches!(late.await, Err(CommitError::Unacknowledged)));
        assert_eq!(published(&bench), 0);
        assert_eq!(rows_in_log(bench.pipeline.log()).await, [1, 2]);
    });
}

/// Many sessions, acknowledgements at random moments: order and visibility as ever (the witness looks).
#[test]
fn many_sessions_and_a_replica_that_comes_and_goes() {
    for seed in 0..20 {
        let machine = SimMachine::new(seed);
        let world = machine.world();
        on(&machine, async |bench, semi_sync| {
            semi_sync.set_timeout(Duration::from_millis(2));
            let bench = Arc::new(bench);
            let replica = {
                let (bench, semi_sync, world) = (bench.clone(), semi_sync.clone(), world.clone());
                async move {
                    for _ in 0..300 {
                        semi_sync.joined(REPLICA);
                        for _ in 0..world.below(20) {
                            bench.env.clock.sleep(Duration::from_micros(world.below(300))).await;
                            semi_sync.acknowledged(REPLICA, bench.pipeline.log().durable_end());
                        }
                        semi_sync.left(REPLICA);
                        bench.env.clock.sleep(Duration::from_micros(world.below(5_000))).await;
                    }
                }
            };
            bench.env.spawner.spawn("replica", Box::pin(replica));
            let committing = bench.clone();
            sessions(&bench.env, 8, |number| {
                let bench = committing.clone();
                async move {
                    for row in 0..30 {
                        bench.commit(number as u64 * 100 + row, 200).await.unwrap();
                    }
                }
            })
            .await;
            let status = semi_sync.status();
            assert_eq!(status.acknowledged + status.unacknowledged, 240, "seed {seed}: {status:?}");
            assert!(status.acknowledged > 0, "seed {seed}: {status:?}");
        });
    }
}
