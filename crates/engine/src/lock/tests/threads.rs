//! Real threads: mutual exclusion, one row with a thousand waiters, and nothing left when waits are given up.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_lite::future;

use super::*;

const LONG: Duration = Duration::from_secs(50);

fn manager() -> Arc<LockManager> {
    LockManager::new(Arc::<HandClock>::default(), LockOptions::default())
}

#[test]
fn a_row_is_changed_by_one_at_a_time() {
    let manager = manager();
    let rows: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
    let work = |seed: u64| {
        let cancel = Cancel::new();
        let wait = Wait { policy: WaitPolicy::For(LONG), cancel: &cancel };
        let (mut done, mut number) = (0, seed);
        while done < 3000 {
            let mut owner = manager.owner();
            let locked = future::block_on(async {
                let mut mine = Vec::new();
                for _ in 0..3 {
                    number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let row = (number >> 33) as usize % rows.len();
                    owner.record(INDEX, &[row as u8], Strength::Exclusive, wait).await?;
                    mine.push(row);
                }
                Ok::<_, LockError>(mine)
            });
            match locked {
                Ok(mine) => {
                    let seen: Vec<u64> = mine.iter().map(|&row| rows[row].load(Ordering::Relaxed)).collect();
                    std::hint::spin_loop();
                    for (&row, seen) in mine.iter().zip(seen) {
                        rows[row].store(seen + 1, Ordering::Relaxed);
                    }
                    done += 1;
                }
                Err(error) => assert_eq!(error, LockError::Deadlock),
            }
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || work(seed)))));
    let changes: u64 = rows.iter().map(|row| row.load(Ordering::Relaxed)).sum();
    assert!(changes > 0 && changes <= 4 * 3000 * 3);
    assert_empty(&manager);
}

#[test]
fn a_thousand_waiters_get_it_in_their_order() {
    let manager = manager();
    let cancel = Arc::<Cancel>::default();
    let policy = WaitPolicy::For(LONG);
    let request = || Request::Record(Bytes::from_static(b"hot"), Strength::Exclusive);
    let mut actors: Vec<Actor> = (0..1000).map(|_| Actor::Free(manager.owner())).collect();
    assert_eq!(actors[0].ask(request(), policy, &cancel), Some(Ok(Acquired::New)));
    for actor in &mut actors[1..] {
        assert_eq!(actor.ask(request(), policy, &cancel), None);
    }
    for next in 1..actors.len() {
        actors[next - 1].owner().unwrap().release_all();
        assert_eq!(actors[next].poll(), Some(Ok(Acquired::AfterWait { new: true })));
        if let Some(after) = actors.get_mut(next + 1) {
            assert_eq!(after.poll(), None);
        }
    }
    drop(actors);
    assert_empty(&manager);
}

#[test]
fn waits_given_up_at_any_moment_leave_nothing() {
    let manager = manager();
    let stop = AtomicU64::new(0);
    let work = |seed: u64| {
        let cancel = Arc::<Cancel>::default();
        let mut number = seed;
        for _ in 0..4000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = Bytes::from(vec![(number >> 40) as u8 % 3]);
            let mut actor = Actor::Free(manager.owner());
            let first = if number >> 63 == 0 {
                Request::Gap(std::ops::Bound::Unbounded, std::ops::Bound::Included(key.clone()))
            } else {
                Request::Table("t".to_owned(), TableMode::IntentExclusive)
            };
            let second = match (number >> 50) % 3 {
                0 => Request::Insert(key),
                1 => Request::Table("t".to_owned(), TableMode::Exclusive),
                _ => Request::Record(key, Strength::Exclusive),
            };
            for request in [first, second] {
                if actor.owner().is_some() {
                    actor.ask(request, WaitPolicy::For(LONG), &cancel);
                }
            }
            for _ in 0..number % 64 {
                std::hint::spin_loop();
            }
            // Granted, refused, or still waiting: dropped all the same.
        }
        stop.fetch_add(1, Ordering::Relaxed);
    };
    std::thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || work(seed)))));
    assert_eq!(stop.load(Ordering::Relaxed), 4);
    assert_empty(&manager);
}
