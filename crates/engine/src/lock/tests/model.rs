//! Random histories of a few owners and keys, compared with what a table of holders on paper says.

use std::ops::Bound;

use proptest::prelude::*;

use super::*;

const OWNERS: usize = 4;
const LONG: WaitPolicy = WaitPolicy::For(Duration::from_secs(50));

#[derive(Clone, Debug)]
enum Step {
    Ask(usize, Request),
    /// Gives back a record lock that was new in the request before.
    Unlock(usize),
    Release(usize),
    Drop(usize),
    Sleep,
}

fn key(number: u8) -> Bytes {
    Bytes::from(format!("{number:02}"))
}

fn request() -> impl Strategy<Value = Request> {
    let key_ = || (0u8..6).prop_map(key);
    let strength = prop_oneof![Just(Strength::Shared), Just(Strength::Exclusive)];
    let mode = prop_oneof![
        Just(TableMode::IntentShared),
        Just(TableMode::IntentExclusive),
        Just(TableMode::Shared),
        Just(TableMode::Exclusive)
    ];
    prop_oneof![
        4 => (key_(), strength).prop_map(|(key, strength)| Request::Record(key, strength)),
        2 => (0u8..6, 1u8..4).prop_map(|(from, n)| Request::Gap(Bound::Excluded(key(from)), Bound::Included(key(from + n)))),
        1 => (0u8..6).prop_map(|from| Request::Gap(Bound::Excluded(key(from)), Bound::Unbounded)),
        4 => key_().prop_map(Request::Insert),
        2 => (0u8..2, mode).prop_map(|(table, mode)| Request::Table(table.to_string(), mode)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0..OWNERS, request()).prop_map(|(owner, request)| Step::Ask(owner, request)),
        2 => (0..OWNERS).prop_map(Step::Unlock),
        3 => (0..OWNERS).prop_map(Step::Release),
        1 => (0..OWNERS).prop_map(Step::Drop),
        1 => Just(Step::Sleep),
    ]
}

/// What is granted, on paper.
#[derive(Default)]
struct Paper {
    records: Vec<(usize, Bytes, Strength)>,
    gaps: Vec<(usize, Bound<Bytes>, Bound<Bytes>)>,
    inserts: Vec<(usize, Bytes)>,
    tables: Vec<(usize, String, TableMode)>,
}

fn inside(key: &Bytes, lower: &Bound<Bytes>, upper: &Bound<Bytes>) -> bool {
    std::ops::RangeBounds::contains(&(lower.clone(), upper.clone()), key)
}

fn compatible(a: TableMode, b: TableMode) -> bool {
    use TableMode::{Exclusive, IntentExclusive, IntentShared, Shared};
    !matches!((a, b), (Exclusive, _) | (_, Exclusive) | (Shared, IntentExclusive) | (IntentExclusive, Shared))
        || matches!((a, b), (IntentShared, IntentShared))
}

impl Paper {
    fn forget(&mut self, owner: usize) {
        self.records.retain(|entry| entry.0 != owner);
        self.gaps.retain(|entry| entry.0 != owner);
        self.inserts.retain(|entry| entry.0 != owner);
        self.tables.retain(|entry| entry.0 != owner);
    }

    /// Enters what was granted, and checks that it conflicts with nothing that another has.
    fn grant(&mut self, owner: usize, request: &Request, acquired: Acquired) {
        match request {
            Request::Record(key, strength) => self.record(owner, key, *strength),
            Request::Insert(key) => {
                self.record(owner, key, Strength::Exclusive);
                let kept_out = self.gaps.iter().any(|(other, from, to)| *other != owner && inside(key, from, to));
                assert!(!kept_out, "inserted {key:?} into another's gap");
                self.inserts.push((owner, key.clone()));
            }
            // After a wait part of it is locked, which the paper leaves out: it would only forbid more.
            Request::Gap(_, _) if acquired.waited() => {}
            Request::Gap(from, to) => {
                let pending = self.inserts.iter().any(|(other, key)| *other != owner && inside(key, from, to));
                assert!(!pending, "a gap around another's pending insert");
                self.gaps.push((owner, from.clone(), to.clone()));
            }
            Request::Table(name, mode) => {
                for (other, theirs, held) in &self.tables {
                    assert!(*other == owner || theirs != name || compatible(*held, *mode), "{held:?} and {mode:?}");
                }
                self.tables.push((owner, name.clone(), *mode));
            }
        }
    }

    fn record(&mut self, owner: usize, key: &Bytes, strength: Strength) {
        for (other, theirs, held) in &self.records {
            let both_shared = *held == Strength::Shared && strength == Strength::Shared;
            assert!(*other == owner || theirs != key || both_shared, "{held:?} and {strength:?} on {key:?}");
        }
        self.records.push((owner, key.clone(), strength));
    }
}

struct Run {
    clock: Arc<HandClock>,
    manager: Arc<LockManager>,
    actors: Vec<(Actor, Option<Request>)>,
    paper: Paper,
    /// New record locks of the last request of each.
    fresh: [Option<Bytes>; OWNERS],
    /// What everybody was told.
    told: Vec<(usize, Result<Acquired, LockError>)>,
    cancel: Arc<Cancel>,
}

impl Run {
    fn new(pack_at: usize) -> Self {
        let clock = Arc::<HandClock>::default();
        let manager = LockManager::new(clock.clone(), LockOptions { pack_at, ..LockOptions::default() });
        let actors = (0..OWNERS).map(|_| (Actor::Free(manager.owner()), None)).collect();
        let (paper, fresh, told, cancel) = (Paper::default(), Default::default(), Vec::new(), Arc::default());
        Run { clock, manager, actors, paper, fresh, told, cancel }
    }

    /// What is held, however it is.
    fn held(&self) -> (usize, usize, usize, usize) {
        let stats = self.manager.stats();
        (stats.records, stats.gap_segments, stats.tables, stats.waiting)
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Ask(owner, request) if self.actors[owner].0.owner().is_some() => {
                let result = self.actors[owner].0.ask(request.clone(), LONG, &self.cancel);
                self.actors[owner].1 = Some(request);
                self.fresh[owner] = None;
                self.settle_one(owner, result);
            }
            Step::Unlock(owner) => {
                if let Some(locks) = self.actors[owner].0.owner()
                    && let Some(key) = self.fresh[owner].take()
                {
                    self.paper.records.retain(|(other, theirs, _)| *other != owner || *theirs != key);
                    locks.unlock_record(INDEX, &key);
                }
            }
            Step::Release(owner) => {
                self.fresh[owner] = None;
                if let Some(locks) = self.actors[owner].0.owner() {
                    self.paper.forget(owner); // first: what is released is granted to others at once
                    locks.release_all();
                }
            }
            Step::Drop(owner) => {
                self.fresh[owner] = None;
                self.paper.forget(owner);
                self.actors[owner] = (Actor::Moving, None);
                self.actors[owner] = (Actor::Free(self.manager.owner()), None);
            }
            Step::Sleep => self.clock.advance(Duration::from_secs(50)),
            Step::Ask(..) => {}
        }
        self.settle();
    }

    fn settle_one(&mut self, owner: usize, result: Option<Result<Acquired, LockError>>) -> bool {
        let Some(result) = result else { return false };
        let request = self.actors[owner].1.take().unwrap();
        self.told.push((owner, result));
        match result {
            Ok(acquired) => {
                self.paper.grant(owner, &request, acquired);
                if let (Request::Record(key, _), true) = (request, acquired.is_new()) {
                    self.fresh[owner] = Some(key);
                }
            }
            Err(LockError::Deadlock) => {
                self.paper.forget(owner);
                self.actors[owner].0.owner().unwrap().release_all();
            }
            Err(LockError::Timeout) => {}
            Err(error) => panic!("{error}"),
        }
        true
    }

    fn settle(&mut self) {
        loop {
            let mut moved = false;
            for owner in 0..OWNERS {
                let result = self.actors[owner].0.poll();
                moved |= self.settle_one(owner, result);
            }
            if !moved {
                return;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing granted conflicts, nobody waits for ever, nothing is left behind; and whether locks are packed makes no
    /// difference to anybody.
    #[test]
    fn agrees_with_paper(steps in prop::collection::vec(step(), 1..60), pack_at in 1..5usize) {
        let (mut run, mut packing) = (Run::new(usize::MAX), Run::new(pack_at));
        for step in steps {
            run.step(step.clone());
            packing.step(step);
            // Deadlocks are found at once: somebody is always able to go on.
            prop_assert!(run.actors.iter_mut().any(|(actor, _)| actor.owner().is_some()));
            prop_assert_eq!(&run.told, &packing.told);
            prop_assert_eq!(run.held(), packing.held());
        }
        run.let_all_go();
        packing.let_all_go();
    }
}

impl Run {
    fn let_all_go(&mut self) {
        // Without any timeout everybody gets what it waits for as the others let go.
        for _ in 0..OWNERS {
            for owner in 0..OWNERS {
                self.step(Step::Release(owner));
            }
        }
        assert!(self.actors.iter_mut().all(|(actor, _)| actor.owner().is_some()), "somebody waits for nobody");
        for owner in 0..OWNERS {
            self.step(Step::Release(owner));
        }
        assert_empty(&self.manager);
    }
}
