//! Random histories of merges, pins, checkpoints and restarts against `BTreeMap`s.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::IndexId;
use io::sim::SimMachine;
use proptest::prelude::*;
use rand::Rng;
use rand::rngs::StdRng;
use store::{Compression, MergeOptions, Roots, Store};

use crate::support::*;

const INDEXES: u64 = 3;

#[derive(Clone, Debug)]
enum Step {
    /// Random changes of one index.
    Merge {
        index: u64,
        count: usize,
        keys: Keys,
    },
    /// Rows with ascending keys at the end of an index.
    Append {
        index: u64,
        count: u64,
    },
    /// Removes a range of rows: this part of all, from this place.
    Remove {
        index: u64,
        from: f64,
        part: f64,
    },
    Drop {
        index: u64,
    },
    /// Begins a merge and does not finish it.
    Abandon {
        index: u64,
        count: usize,
    },
    Pin,
    Unpin,
    Checkpoint,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let index = 1..=INDEXES;
    prop_oneof![
        8 => (index.clone(), 1..800usize, prop_oneof![Just(300u64), Just(20_000), Just(u64::MAX)].prop_map(Keys::Numbers))
            .prop_map(|(index, count, keys)| Step::Merge { index, count, keys }),
        4 => (index.clone(), 1..500usize)
            .prop_map(|(index, count)| Step::Merge { index, count, keys: Keys::Long }),
        2 => (index.clone(), 1..2000u64).prop_map(|(index, count)| Step::Append { index, count }),
        3 => (index.clone(), 0.0..1.0, 0.0..1.0).prop_map(|(index, from, part)| Step::Remove { index, from, part }),
        1 => index.clone().prop_map(|index| Step::Drop { index }),
        1 => (index, 1..800usize).prop_map(|(index, count)| Step::Abandon { index, count }),
        2 => Just(Step::Pin),
        2 => Just(Step::Unpin),
        3 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
    ]
}

type State = BTreeMap<IndexId, Rows>;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn histories_match_the_model(steps in prop::collection::vec(step(), 1..40), seed: u64) {
        let machine = SimMachine::new(seed);
        machine.run(history(&machine, &steps, seed)).expect("no crash was asked for");
    }
}

/// A store beside its model.
struct History<'a> {
    machine: &'a SimMachine,
    rng: StdRng,
    store: Arc<Store>,
    state: State,
    /// As of the last checkpoint.
    durable: State,
    pins: Vec<(Roots, State)>,
    commits: u64,
}

async fn history(machine: &SimMachine, steps: &[Step], seed: u64) {
    let store = open(&machine.env()).await;
    let (state, durable, pins) = (State::new(), State::new(), Vec::new());
    let mut history = History { machine, rng: rng(seed), store, state, durable, pins, commits: 0 };
    for step in steps {
        history.step(step).await;
        check(&history.store.roots(), &history.state, &mut history.rng).await;
    }
    let History { store, state, pins, mut rng, .. } = history;
    let verified = store.verify(&store.roots()).await.unwrap();
    assert_eq!(verified.rows, state.values().map(|rows| rows.len() as u64).sum::<u64>());
    assert_eq!(verified.lost, 0, "pages without an owner");
    for (roots, state) in &pins {
        store.verify(roots).await.unwrap();
        check(roots, state, &mut rng).await;
    }
}

impl History<'_> {
    async fn step(&mut self, step: &Step) {
        match *step {
            Step::Merge { index, count, keys } => {
                let batch = random_batch(&mut self.rng, rows(&self.state, index), count, keys);
                self.merge(index, batch).await;
            }
            Step::Append { index, count } => {
                let last = rows(&self.state, index).last_key_value().and_then(|(key, _)| key[..].try_into().ok());
                let last = last.map_or(0, u64::from_be_bytes);
                let numbers = (1..=count).filter_map(|number| last.checked_add(number));
                let batch = numbers.map(|n| (number_key(n), Some(value(&mut self.rng, 150)))).collect();
                self.merge(index, batch).await;
            }
            Step::Remove { index, from, part } => {
                let rows = rows(&self.state, index);
                let (from, count) = ((rows.len() as f64 * from) as usize, (rows.len() as f64 * part) as usize);
                let batch = rows.keys().skip(from).take(count).map(|key| (key.clone(), None)).collect();
                self.merge(index, batch).await;
            }
            Step::Drop { index } => {
                let mut merge = self.store.merge(&self.store.roots(), MergeOptions::default()).await.unwrap();
                merge.drop_tree(IndexId(index)).await.unwrap();
                merge.finish().await.unwrap();
                self.state.remove(&IndexId(index));
            }
            Step::Abandon { index, count } => {
                let batch = random_batch(&mut self.rng, rows(&self.state, index), count, Keys::Numbers(20_000));
                let mut merge = self.store.merge(&self.store.roots(), MergeOptions::default()).await.unwrap();
                let compression = random_compression(&mut self.rng);
                merge.apply(IndexId(index), compression, &mut changes(batch)).await.unwrap();
            }
            Step::Pin => self.pins.push((self.store.roots(), self.state.clone())),
            Step::Unpin => self.unpin().await,
            Step::Checkpoint => {
                self.commits += 1;
                self.store.commit_checkpoint(&self.store.roots(), checkpoint(self.commits)).await.unwrap();
                self.durable = self.state.clone();
            }
            Step::Reopen => self.reopen().await,
        }
    }

    async fn merge(&mut self, index: u64, batch: Batch) {
        apply(self.state.entry(IndexId(index)).or_default(), &batch);
        let compression = random_compression(&mut self.rng);
        merge_as(&self.store, compression, &[(IndexId(index), batch)].into()).await.unwrap();
    }

    async fn unpin(&mut self) {
        if !self.pins.is_empty() {
            let (roots, state) = self.pins.swap_remove(self.rng.random_range(0..self.pins.len()));
            check(&roots, &state, &mut self.rng).await;
        }
    }

    async fn reopen(&mut self) {
        self.pins.clear();
        self.machine.kill(); // with it go the writes of an abandoned merge
        self.store = open(&self.machine.env()).await;
        if self.commits > 0 {
            assert_eq!(*self.store.checkpoint(), checkpoint(self.commits));
        }
        self.state = self.durable.clone();
    }
}

fn rows(state: &State, index: u64) -> &Rows {
    static NONE: Rows = Rows::new();
    state.get(&IndexId(index)).unwrap_or(&NONE)
}

async fn check(roots: &Roots, state: &State, rng: &mut StdRng) {
    for index in 1..=INDEXES {
        compare(roots, IndexId(index), rows(state, index), rng).await;
    }
}

#[test]
fn equal_contents_have_equal_hashes_however_they_came_about() {
    let machine = SimMachine::new(1);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        let mut rng = rng(5);
        let mut rows = Rows::new();
        for _ in 0..5 {
            let batch = random_batch(&mut rng, &rows, 500, Keys::Numbers(1000));
            apply(&mut rows, &batch);
            merge(&store, &[(IndexId(1), batch)].into()).await.unwrap();
        }
        let whole: Batch = rows.into_iter().map(|(key, value)| (key, Some(value))).collect();
        let roots = merge_as(&store, Compression::Zstd, &[(IndexId(2), whole.clone())].into()).await.unwrap();
        assert_eq!(roots.content_hash(IndexId(1)), roots.content_hash(IndexId(2)));
        let mut other = whole;
        let (key, _) = other.pop_first().unwrap();
        let change = [(key, Some("another".into()))].into();
        let roots = merge(&store, &[(IndexId(2), change)].into()).await.unwrap();
        assert_ne!(roots.content_hash(IndexId(1)), roots.content_hash(IndexId(2)));
    });
    done.unwrap();
}

#[test]
fn appended_rows_fill_their_pages_and_random_ones_leave_them_well_filled() {
    let machine = SimMachine::new(2);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        let mut rng = rng(6);
        for step in 0..50u64 {
            let numbers = step * 200..(step + 1) * 200;
            let batch: Batch = numbers.map(|n| (number_key(n), Some(value(&mut rng, 184)))).collect();
            merge(&store, &[(IndexId(1), batch)].into()).await.unwrap();
        }
        for _ in 0..100 {
            let batch: Batch = (0..100).map(|_| (number_key(rng.random()), Some(value(&mut rng, 184)))).collect();
            merge(&store, &[(IndexId(2), batch)].into()).await.unwrap();
        }
        let roots = store.roots();
        let fill = |index| 200.0 * roots.entries(index) as f64 / (16320.0 * roots.pages(index).0 as f64);
        assert!(fill(IndexId(1)) > 0.98, "appended: {}", fill(IndexId(1)));
        assert!((0.60..0.80).contains(&fill(IndexId(2))), "random: {}", fill(IndexId(2)));
    });
    done.unwrap();
}
