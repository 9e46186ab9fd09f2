//! States of a log's positions, awaited before they are published, alone or with others: each is exactly what it was where the log
//! was written.

use std::sync::Arc;

use base::{CommitNumber, LogPosition};
use io::Env;
use io::sim::SimMachine;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::fixture::{self, Words, begin};
use crate::{Engine, KeyRange, PublishPoint, RowSum, SessionHandle, StateAt, TxnOptions};

const ROWS: i64 = 60;
/// The first transactions, of which each has to be published before the next is installed.
const DEFINITIONS: u64 = 2;

/// A state, by where its last transaction ends.
type State = (LogPosition, RowSum);

/// Writes rows one by one; each state.
async fn write(env: Env, rng: &mut StdRng) -> Vec<State> {
    let engine = fixture::open(env, fixture::options()).await.unwrap();
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let mut states = Vec::new();
    for id in 1..=ROWS {
        fixture::insert_one(&engine, id).await.unwrap();
        states.push((engine.visible().1, begin(&engine).sum(&table, &KeyRange::all()).await.unwrap()));
        if rng.random_range(0..40) == 0 {
            engine.checkpoint().await.unwrap();
        }
    }
    states
}

/// What the state is, when it has come.
async fn sum_at(engine: &Arc<Engine>, state: StateAt) -> Option<RowSum> {
    let mut transaction = state.transaction(TxnOptions::new(SessionHandle::internal())).await?;
    let table = engine.catalog().table("test", "t").unwrap().clone();
    Some(transaction.sum(&table, &KeyRange::all()).await.unwrap())
}

/// Applies the log, several transactions published at once, with checkpoints in between.
async fn apply(engine: &Arc<Engine>, rng: &mut StdRng) {
    let (mut number, position) = engine.checkpoint_at_open();
    let mut reader = engine.log().reader(position);
    let mut points = Vec::new();
    while let Some(transaction) = reader.next_transaction().await.unwrap() {
        number = CommitNumber(number.0 + 1);
        fixture::apply(engine, number, &transaction).await.unwrap();
        points.push(PublishPoint { commit_number: number, end: transaction.end, gtid: transaction.gtid() });
        if number.0 <= DEFINITIONS || rng.random_range(0..4) == 0 {
            engine.publish(&std::mem::take(&mut points));
        }
        if rng.random_range(0..20) == 0 {
            let other = engine.clone();
            engine.env().spawner.spawn("checkpoint", Box::pin(async move { drop(other.checkpoint().await) }));
        }
    }
    engine.publish(&points);
}

fn run(seed: u64) {
    let machine = SimMachine::new(seed);
    let mut rng = StdRng::seed_from_u64(seed);
    let states = machine.run(write(machine.env(), &mut rng)).unwrap();
    machine.kill();
    let follow = async {
        let engine = Engine::open(machine.env(), fixture::options(), Arc::new(Words)).await.unwrap();
        let begin = engine.checkpoint_at_open().1;
        let mut waiting = Vec::new();
        for (position, sum) in states {
            let wanted = [(position, Some(sum)), (LogPosition::new(position.file, position.offset + 1), None)];
            for (position, expected) in wanted.into_iter().filter(|_| rng.random_bool(0.5)) {
                match engine.state_at(position) {
                    Some(state) => waiting.push((position, expected, state)),
                    None => assert!(position < begin, "{position} has not passed at {begin}"),
                }
            }
        }
        // Somebody who does not wait any more is in nobody's way.
        drop(engine.state_at(LogPosition::new(begin.file, begin.offset + 1)));
        apply(&engine, &mut rng).await;
        let end = engine.visible().1;
        assert!(engine.state_at(begin).is_none_or(|_| begin == end), "what has passed is not there");
        for (position, expected, state) in waiting {
            // Behind the end of the log nobody comes.
            if position <= end {
                assert_eq!(sum_at(&engine, state).await, expected, "seed {seed}: the state at {position}");
            }
        }
        assert!(sum_at(&engine, engine.state_at(end).unwrap()).await.is_some(), "the present one");
    };
    machine.run(follow).unwrap();
}

#[test]
fn an_awaited_state_is_of_exactly_that_position() {
    fixture::with_seeds(40, run);
}
