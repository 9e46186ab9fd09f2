//! What cannot be read is found, and made anew by a merge that is given all of its content.

use std::ops::Bound;
use std::sync::Arc;

use base::{ErrorClass, IndexId};
use bytes::Bytes;
use io::sim::SimMachine;
use rand::Rng;
use store::{Compression, Damage, Direction, KeySpan, MergeOptions, Restored, Roots, Store};

use crate::support::*;

const INDEX: IndexId = IndexId(7);
const PAGE_SIZE: usize = 16384;

/// Rows with values of some size, every `large_each`th one in overflow pages.
fn rows_of(count: u64, salt: u64, large_each: u64) -> Rows {
    let mut rng = rng(salt);
    let size = |n: u64| if n % large_each == large_each / 2 { 40_000 } else { 184 };
    (0..count).map(|n| (number_key(n), value(&mut rng, size(n)))).collect()
}

fn rows(count: u64, salt: u64) -> Rows {
    rows_of(count, salt, u64::MAX)
}

fn batch(rows: &Rows) -> Batch {
    rows.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect()
}

/// The rows in some ranges, as they are to be.
fn content(rows: &Rows, damage: &Damage) -> Batch {
    let restored = damage.restored();
    batch(rows).into_iter().filter(|(key, _)| restored.contains(key)).collect()
}

async fn store_with(machine: &SimMachine, rows: &Rows) -> Arc<Store> {
    let store = open(&machine.env()).await;
    merge(&store, &[(INDEX, batch(rows))].into()).await.unwrap();
    store.commit_checkpoint(&store.roots(), checkpoint(1)).await.unwrap();
    store
}

/// Pages of the tree by kind and level, in the file's order.
fn pages(machine: &SimMachine, kind: u8, level: u8) -> Vec<usize> {
    let file = machine.contents(PATH).unwrap();
    let is_wanted = |page: &[u8]| page[32] == kind && page[33] == level && page[16] == INDEX.0 as u8;
    (2..file.len() / PAGE_SIZE).filter(|at| is_wanted(&file[at * PAGE_SIZE..])).collect()
}

fn flip(machine: &SimMachine, page: usize) {
    machine.flip_bit(PATH, ((page * PAGE_SIZE + 5000) * 8) as u64);
}

async fn find(store: &Store) -> Damage {
    store.roots().find_damage(INDEX).await.unwrap()
}

/// One merge of changes and what is restored; how many nodes it set aside.
async fn restore(store: &Arc<Store>, changes_of: Batch, restored: &Restored) -> usize {
    let mut merge = store.merge(&store.roots(), MergeOptions::default()).await.unwrap();
    merge.restore(INDEX, Compression::None, &mut changes(changes_of), restored).await.unwrap();
    let set_aside = merge.damaged().len();
    merge.finish().await.unwrap();
    set_aside
}

async fn scanned(roots: &Roots) -> Vec<(Bytes, Bytes)> {
    scan(roots, INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward, 100).await.unwrap()
}

/// The tree is exactly these rows, by every way there is to read it, now and after a restart; blocks that nobody knows any more.
async fn is_whole(machine: &SimMachine, store: Arc<Store>, rows: &Rows) -> u64 {
    store.commit_checkpoint(&store.roots(), checkpoint(2)).await.unwrap();
    drop(store);
    let store = open(&machine.env()).await;
    assert_eq!(store.roots().damaged().count(), 0);
    assert!(find(&store).await.is_none());
    assert!(scanned(&store.roots()).await.into_iter().eq(rows.clone()));
    compare(&store.roots(), INDEX, rows, &mut rng(3)).await;
    let verified = store.verify(&store.roots()).await.unwrap();
    assert_eq!(verified.rows, rows.len() as u64);
    verified.lost
}

#[test]
fn a_tree_that_is_whole_has_no_damage() {
    let machine = SimMachine::new(1);
    let done = machine.run(async {
        let store = store_with(&machine, &rows_of(3000, 1, 100)).await;
        assert!(find(&store).await.is_none());
        assert!(store.roots().find_damage(IndexId(99)).await.unwrap().is_none());
        assert!(store.noted_damage().is_empty());
    });
    done.unwrap();
}

/// A leaf, an inner node, the root; with changes beside it and in it, that win.
#[test]
fn a_damaged_node_is_replaced() {
    // Kind and level of the page, how many rows, large values, and whether pages are lost with it.
    for (kind, level, count, large_each, loses) in [
        (1, 0, 3000, u64::MAX, false),
        (2, 1, 60_000, u64::MAX, true),
        (2, 2, 60_000, u64::MAX, true),
        (1, 0, 3000, 40, true),
    ] {
        let machine = SimMachine::new(2);
        let mut expected = rows_of(count, 1, large_each);
        machine.run(async { drop(store_with(&machine, &expected).await) }).unwrap();
        let at = pages(&machine, kind, level);
        flip(&machine, at[at.len() / 2]);
        let done = machine.run(async {
            let store = open(&machine.env()).await;
            let damage = find(&store).await;
            assert_eq!((damage.ranges.len(), damage.count), (1, 1), "{:?}", damage.errors);
            assert_eq!(store.noted_damage(), [INDEX]);
            let mut all = content(&expected, &damage);
            assert!(!all.is_empty() && (level == 2 || all.len() < expected.len()));
            let other = batch(&rows(count, 2)).into_iter().step_by(7);
            for (key, value) in other {
                expected.insert(key.clone(), value.clone().unwrap());
                all.insert(key, value);
            }
            let old = store.roots();
            assert_eq!(restore(&store, all, &damage.restored()).await, 0);
            assert!(old.find_damage(INDEX).await.unwrap().count == 1, "older roots are as they were");
            drop(old);
            is_whole(&machine, store, &expected).await
        });
        let lost = done.unwrap();
        assert_eq!(lost > 0, loses, "kind {kind}, level {level}: {lost} blocks were lost");
    }
}

/// What was set aside can never be read again, but it can be replaced.
#[test]
fn what_was_set_aside_is_replaced() {
    let machine = SimMachine::new(3);
    let expected = rows(3000, 2);
    machine.run(async { drop(store_with(&machine, &rows(3000, 1)).await) }).unwrap();
    let leaves = pages(&machine, 1, 0);
    let (one, other) = (leaves[2], leaves[leaves.len() - 2]);
    [one, other].into_iter().for_each(|page| flip(&machine, page));
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        merge(&store, &[(INDEX, batch(&expected))].into()).await.unwrap();
        store.commit_checkpoint(&store.roots(), checkpoint(2)).await.unwrap();
        [one, other].into_iter().for_each(|page| flip(&machine, page));
        let store = open(&machine.env()).await;
        assert_eq!(store.roots().damaged().collect::<Vec<_>>(), [INDEX]);
        let damage = find(&store).await;
        assert_eq!((damage.ranges.len(), damage.is_set_aside), (2, true));
        // Not all of it: the tree is not whole yet.
        let part = Restored::part(damage.ranges[..1].to_vec());
        let content_of_part = batch(&expected).into_iter().filter(|(key, _)| part.contains(key)).collect();
        assert_eq!(restore(&store, content_of_part, &part).await, 0);
        assert_eq!(store.roots().damaged().collect::<Vec<_>>(), [INDEX]);
        let rest = find(&store).await;
        assert_eq!(rest.ranges, damage.ranges[1..]);
        assert_eq!(restore(&store, content(&expected, &rest), &rest.restored()).await, 0);
        is_whole(&machine, store, &expected).await
    });
    assert_eq!(done.unwrap(), 0);
}

/// Something else was set aside since the walk: it is not forgotten.
#[test]
fn what_was_set_aside_since_stays_so() {
    let machine = SimMachine::new(4);
    let expected = rows(3000, 2);
    machine.run(async { drop(store_with(&machine, &rows(3000, 1)).await) }).unwrap();
    let leaves = pages(&machine, 1, 0);
    flip(&machine, leaves[2]);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        merge(&store, &[(INDEX, batch(&expected).into_iter().take(1000).collect())].into()).await.unwrap();
        let damage = find(&store).await;
        assert_eq!(damage.ranges.len(), 1);
        flip(&machine, leaves[leaves.len() - 2]);
        merge(&store, &[(INDEX, batch(&expected))].into()).await.unwrap();
        assert_eq!(restore(&store, content(&expected, &damage), &damage.restored()).await, 0);
        assert_eq!(store.roots().damaged().collect::<Vec<_>>(), [INDEX]);
        let sum = store.roots().sum(INDEX, Bound::Unbounded, Bound::Unbounded).await;
        assert_eq!(sum.unwrap_err().class(), ErrorClass::Corrupt);
        let rest = find(&store).await;
        assert_eq!(rest.ranges.len(), 1);
        restore(&store, content(&expected, &rest), &rest.restored()).await;
        is_whole(&machine, store, &expected).await
    });
    assert_eq!(done.unwrap(), 0);
}

/// The range has no rows any more, and no change falls into it.
#[test]
fn an_empty_range_is_restored() {
    for level in [0, 1] {
        let machine = SimMachine::new(5);
        let mut expected = rows(60_000, 1);
        machine.run(async { drop(store_with(&machine, &expected).await) }).unwrap();
        let at = pages(&machine, if level == 0 { 1 } else { 2 }, level);
        flip(&machine, at[at.len() / 2]);
        let done = machine.run(async {
            let store = open(&machine.env()).await;
            let damage = find(&store).await;
            let before = expected.len();
            expected.retain(|key, _| !damage.restored().contains(key));
            assert!(expected.len() < before);
            assert_eq!(restore(&store, Batch::new(), &damage.restored()).await, 0);
            is_whole(&machine, store, &expected).await
        });
        assert_eq!(done.unwrap() > 0, level == 1);
    }
}

/// Everything is gone, and so is the tree.
#[test]
fn a_damaged_root_without_rows_leaves_no_tree() {
    let machine = SimMachine::new(6);
    machine.run(async { drop(store_with(&machine, &rows(10, 1)).await) }).unwrap();
    flip(&machine, pages(&machine, 1, 0)[0]);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        let damage = find(&store).await;
        assert_eq!(damage.ranges, [KeySpan::all()]);
        restore(&store, Batch::new(), &damage.restored()).await;
        assert_eq!(store.roots().indexes().count(), 0);
        is_whole(&machine, store, &Rows::new()).await
    });
    assert_eq!(done.unwrap(), 0);
}

/// A page of a large value: the row alone is made anew, or goes.
#[test]
fn a_row_with_a_damaged_value_is_replaced() {
    for stays in [true, false] {
        let machine = SimMachine::new(7);
        let mut expected = rows_of(1000, 1, 300);
        machine.run(async { drop(store_with(&machine, &expected).await) }).unwrap();
        let overflow = pages(&machine, 3, 0);
        flip(&machine, overflow[overflow.len() / 2]);
        let done = machine.run(async {
            let store = open(&machine.env()).await;
            let damage = find(&store).await;
            let [range] = &damage.ranges[..] else { panic!("{damage:?}") };
            let key = range.lower.clone();
            assert_eq!(*range, KeySpan::of_key(&key));
            let mut change = content(&expected, &damage);
            assert_eq!(change.len(), 1);
            if !stays {
                expected.remove(&key);
                change.insert(key, None);
            }
            restore(&store, change, &damage.restored()).await;
            is_whole(&machine, store, &expected).await
        });
        assert_eq!(done.unwrap(), 0);
    }
}

/// Leaves that are not damaged lie in the range, or became so again: the same comes out.
#[test]
fn what_can_be_read_in_a_restored_range_stays() {
    let machine = SimMachine::new(8);
    let expected = rows(3000, 1);
    let done = machine.run(async {
        let store = store_with(&machine, &expected).await;
        let range = KeySpan { lower: number_key(500), upper: Some(number_key(2500)) };
        let restored = Restored::part(vec![range]);
        let all = batch(&expected).into_iter().filter(|(key, _)| restored.contains(key)).collect();
        assert_eq!(restore(&store, all, &restored).await, 0);
        is_whole(&machine, store, &expected).await
    });
    assert_eq!(done.unwrap(), 0);
}

/// Any pages of any kind, with changes in between, over and over.
#[test]
fn random_damage_is_made_good() {
    for seed in 0..20 {
        let machine = SimMachine::new(seed);
        let mut rng = rng(seed);
        let (mut expected, compression) = (Rows::new(), random_compression(&mut rng));
        let keys = if seed % 2 == 0 { Keys::Numbers(20_000) } else { Keys::Long };
        let first = random_batch(&mut rng, &expected, 4000, keys);
        apply(&mut expected, &first);
        let begun = machine.run(async {
            let store = open(&machine.env()).await;
            merge_as(&store, compression, &[(INDEX, first)].into()).await.unwrap();
            store.commit_checkpoint(&store.roots(), checkpoint(1)).await.unwrap();
        });
        begun.unwrap();
        for round in 0..3 {
            let blocks = machine.contents(PATH).unwrap().len() as u64 / 4096;
            // Not the superblocks, and as it may be what is free, or the manifest, which is found at once.
            let hits: Vec<u64> =
                (0..rng.random_range(1..6)).map(|_| rng.random_range(8..blocks) * 4096 * 8 + 20_000).collect();
            hits.iter().for_each(|bit| machine.flip_bit(PATH, *bit));
            let done = machine.run(async {
                let Ok(store) = Store::open(&machine.env(), PATH, options()).await else { return false };
                let changes_before = random_batch(&mut rng, &expected, 50, keys);
                merge_as(&store, compression, &[(INDEX, changes_before.clone())].into()).await.unwrap();
                apply(&mut expected, &changes_before);
                let damage = find(&store).await;
                let mut all = content(&expected, &damage);
                let newer = random_batch(&mut rng, &expected, 200, keys);
                apply(&mut expected, &newer);
                all.extend(newer);
                let mut merge = store.merge(&store.roots(), MergeOptions::default()).await.unwrap();
                merge.restore(INDEX, compression, &mut changes(all), &damage.restored()).await.unwrap();
                assert!(merge.damaged().is_empty(), "seed {seed}, round {round}: {:?}", merge.damaged());
                merge.finish().await.unwrap();
                is_whole(&machine, store, &expected).await;
                true
            });
            if !done.unwrap() {
                hits.iter().for_each(|bit| machine.flip_bit(PATH, *bit));
            }
        }
    }
}
