//! The power fails in every single disk operation of a history: what opens is the last checkpoint that was
//! acknowledged, or the one under way, with exactly its rows, no page lost, and it goes on working.

use std::collections::BTreeMap;

use base::IndexId;
use io::Env;
use io::sim::SimMachine;
use parking_lot::Mutex;
use rand::Rng;

use crate::support::*;

const INDEX: IndexId = IndexId(1);
const OTHER: IndexId = IndexId(2);

/// What was promised, and what may be there.
#[derive(Default)]
struct Promise {
    /// Commit number of the last checkpoint that was acknowledged.
    acknowledged: u64,
    /// Rows of both indexes as of each checkpoint that was begun.
    states: BTreeMap<u64, [Rows; 2]>,
}

/// Opens, and makes some rounds of merges and a checkpoint. Several merges to a checkpoint, so that pages come and go
/// between; sizes that make leaves, inner nodes and overflow pages.
async fn rounds(env: &Env, promise: &Mutex<Promise>, seed: u64, rounds: u64) {
    let mut rng = rng(seed);
    let store = open(env).await;
    let found = store.checkpoint().commit_number.0;
    let mut state = {
        let mut promise = promise.lock();
        assert!(
            found >= promise.acknowledged,
            "checkpoint {} was acknowledged, {found} is there",
            promise.acknowledged
        );
        promise.acknowledged = found;
        promise.states.get(&found).cloned().unwrap_or_default()
    };
    check(&store.roots(), &state, &mut rng).await;
    for number in found + 1..=found + rounds {
        for _ in 0..rng.random_range(0..3) {
            let keys = Keys::Numbers(if number % 2 == 0 { 500 } else { u64::MAX });
            let batches = [INDEX, OTHER].map(|index| {
                let rows = &mut state[usize::from(index == OTHER)];
                let batch = random_batch(&mut rng, rows, 60, keys);
                apply(rows, &batch);
                (index, batch)
            });
            merge_as(&store, random_compression(&mut rng), &batches.into()).await.unwrap();
        }
        promise.lock().states.insert(number, state.clone());
        store.commit_checkpoint(&store.roots(), checkpoint(number)).await.unwrap();
        promise.lock().acknowledged = number;
    }
    let verified = store.verify(&store.roots()).await.unwrap();
    assert_eq!(verified.lost, 0);
    check(&store.roots(), &state, &mut rng).await;
}

async fn check(roots: &store::Roots, state: &[Rows; 2], rng: &mut rand::rngs::StdRng) {
    compare(roots, INDEX, &state[0], rng).await;
    compare(roots, OTHER, &state[1], rng).await;
}

/// Crashes in the n-th operation, for every n; true while there is one.
fn crash_in(seed: u64, operation: u64) -> bool {
    let machine = SimMachine::new(seed * 1_000_003 + operation);
    let promise = Mutex::new(Promise::default());
    machine.crash_after(operation);
    let crashed = machine.run(rounds(&machine.env(), &promise, seed, 4)).is_err();
    if crashed {
        machine.crash();
        // Again, somewhere in what comes after; then whole.
        machine.crash_after(1 + machine.world().below(60));
        if machine.run(rounds(&machine.env(), &promise, seed + 1, 2)).is_err() {
            machine.crash();
        }
        machine.crash_after(u64::MAX);
        machine.run(rounds(&machine.env(), &promise, seed + 2, 3)).expect("no crash is near");
    }
    crashed
}

#[test]
fn every_operation_may_be_the_last() {
    for seed in 0..3 {
        let mut operation = 1;
        while crash_in(seed, operation) {
            operation += 1;
        }
        assert!(operation > 50, "the history has only {operation} operations");
    }
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    for seed in 0..30 {
        let machine = SimMachine::new(seed);
        let promise = Mutex::new(Promise::default());
        machine.crash_after(1 + machine.world().below(150));
        let _ = machine.run(rounds(&machine.env(), &promise, seed, 4));
        machine.kill();
        machine.run(rounds(&machine.env(), &promise, seed, 2)).unwrap();
    }
}
