//! `binlog_order_commits=OFF`: sessions may be told in another order than the log's. Nothing else changes: transactions become
//! durable and visible in the order of the log, and each before its session is told.

use futures_lite::future;

use super::*;

/// Tickets of transactions under way, by row, and the numbers of those that were told.
struct Told {
    waiting: Vec<Ticket>,
    numbers: Vec<u64>,
}

impl Told {
    /// Looks who has been told, all in one moment.
    async fn look(&mut self, bench: &Bench) {
        let mut still_waiting = Vec::new();
        for mut ticket in self.waiting.drain(..) {
            let Some(place) = future::poll_once(&mut ticket).await else {
                still_waiting.push(ticket);
                continue;
            };
            let place = place.unwrap();
            bench.witness.look(|seen| assert!(seen.published >= place.commit_number, "told before it was visible"));
            assert!(bench.pipeline.log().durable_end() >= place.end, "told before it was durable");
            self.numbers.push(place.commit_number.0);
        }
        self.waiting = still_waiting;
    }

    /// Whether all before the newest that was told were told.
    fn is_prefix(&self) -> bool {
        self.numbers.iter().max().is_none_or(|newest| *newest == self.numbers.len() as u64)
    }
}

/// Whether anybody was told before somebody who comes before it in the log.
async fn is_out_of_order(machine: &SimMachine, order_commits: bool) -> bool {
    let (bench, world) = (open(machine.env(), small_files(), 0).await.unwrap(), machine.world());
    bench.pipeline.settings().set_order_commits(order_commits);
    bench.pipeline.settings().set_overlap(Overlap::Fixed(1 + world.below(3) as u8));
    let mut told = Told { waiting: Vec::new(), numbers: Vec::new() };
    let mut out_of_order = false;
    let mut row = 0;
    while row < 60 || !told.waiting.is_empty() {
        if row < 60 && world.below(3) > 0 {
            let transaction = transaction(row, world.below(300) as usize);
            let reservation = bench.pipeline.reserve(transaction.max_size()).await.unwrap();
            told.waiting.push(bench.pipeline.enqueue(transaction, reservation, row));
            row += 1;
        } else {
            bench.env.clock.sleep(Duration::from_micros(world.below(30))).await;
        }
        told.look(&bench).await;
        out_of_order |= !told.is_prefix();
    }
    let rows = rows_in_log(bench.pipeline.log()).await;
    bench.witness.look(|seen| assert_eq!(rows, seen.prepared));
    told.numbers.sort_unstable();
    assert!(told.numbers.into_iter().eq(1..=60), "each was told its own number");
    out_of_order
}

#[test]
fn only_the_order_of_being_told_is_free() {
    let mut out_of_order = 0;
    for seed in 0..200 {
        let [ordered, free] = [true, false].map(|order_commits| {
            let machine = machine(seed);
            machine.run(is_out_of_order(&machine, order_commits)).unwrap()
        });
        assert!(!ordered, "seed {seed}");
        out_of_order += u32::from(free);
    }
    assert!(out_of_order > 10, "with OFF the order was another one only {out_of_order} times");
}
