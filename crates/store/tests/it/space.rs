//! The file does not grow without need.

use base::IndexId;
use io::sim::SimMachine;
use rand::Rng;
use store::{Roots, Store};

use crate::support::*;

const INDEX: IndexId = IndexId(1);
const ROWS: u64 = 60_000;

async fn fill(store: &std::sync::Arc<Store>) {
    let mut rng = rng(1);
    let batch: Batch = (0..ROWS).map(|n| (number_key(n), Some(value(&mut rng, 184)))).collect();
    merge(store, &[(INDEX, batch)].into()).await.unwrap();
    store.commit_checkpoint(&store.roots(), checkpoint(1)).await.unwrap();
}

fn live(roots: &Roots) -> f64 {
    let (leaves, inner, overflow) = roots.pages(INDEX);
    (leaves + inner + overflow) as f64
}

/// Rounds of random updates.
struct Updates {
    rounds: u64,
    /// Rows in a merge.
    changed: u64,
    /// Merges to a checkpoint.
    merges: u64,
}

const SPARSE: Updates = Updates { rounds: 60, changed: 200, merges: 3 };
const DENSE: Updates = Updates { rounds: 30, changed: 12_000, merges: 1 };

/// Updates rows; pins the newest roots in each tenth round if there are pins already, four at a time. The largest size
/// of the file, in live pages.
async fn update(store: &std::sync::Arc<Store>, updates: Updates, pins: &mut Vec<Roots>) -> f64 {
    let Updates { rounds, changed, merges } = updates;
    let mut rng = rng(changed);
    let mut largest = 0f64;
    for round in 0..rounds {
        if round % 10 == 9 && !pins.is_empty() {
            pins.push(store.roots());
            if pins.len() > 4 {
                pins.remove(0);
            }
        }
        let batch: Batch = (0..changed)
            .map(|_| {
                let size = rng.random_range(150..218);
                (number_key(rng.random_range(0..ROWS)), Some(value(&mut rng, size)))
            })
            .collect();
        merge(store, &[(INDEX, batch)].into()).await.unwrap();
        if round % merges == 0 {
            store.commit_checkpoint(&store.roots(), checkpoint(round + 2)).await.unwrap();
        }
        largest = largest.max(store.statistics().file_pages as f64 / live(&store.roots()));
    }
    largest
}

#[test]
fn random_updates_keep_the_file_within_twice_the_live_data() {
    let machine = SimMachine::new(1);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        fill(&store).await;
        // A quarter of the leaves changes in a merge.
        let sparse = update(&store, SPARSE, &mut Vec::new()).await;
        store.commit_checkpoint(&store.roots(), checkpoint(100)).await.unwrap();
        // Every leaf changes: twice the live data, and how the file grows.
        let dense = update(&store, DENSE, &mut Vec::new()).await;
        assert!(sparse < 2.0 && dense < 2.3, "file / live data: sparse {sparse:.2}, dense {dense:.2}");
        assert_eq!(store.verify(&store.roots()).await.unwrap().lost, 0);
    });
    done.unwrap();
}

#[test]
fn an_old_view_pins_its_own_pages_and_no_others() {
    let machine = SimMachine::new(2);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        fill(&store).await;
        let mut pins = vec![store.roots()];
        let one = Updates { rounds: 9, ..SPARSE };
        let old = update(&store, one, &mut pins).await;
        assert_eq!(scan_count(&pins[0]).await, ROWS);
        // One more copy of everything at most for the view, whatever happens meanwhile.
        assert!(old < 2.8, "file / live data with an old view: {old:.2}");
        let moving = update(&store, SPARSE, &mut pins).await;
        // Ten merges change nearly everything, so each view holds a copy of its own.
        assert!(moving < 6.0, "file / live data with four views, each ten merges apart: {moving:.2}");
        for pin in &pins {
            store.verify(pin).await.unwrap();
        }
    });
    done.unwrap();
}

async fn scan_count(roots: &Roots) -> u64 {
    let all = (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
    scan(roots, INDEX, all.0, all.1, store::Direction::Forward, 1000).await.unwrap().len() as u64
}

#[test]
fn the_end_of_the_file_is_given_back() {
    let machine = SimMachine::new(3);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        fill(&store).await;
        let full = store.statistics().file_pages;
        let gone: Batch = (0..ROWS - 100).map(|n| (number_key(n), None)).collect();
        merge(&store, &[(INDEX, gone)].into()).await.unwrap();
        for number in 2..5 {
            // The rows that are left move to the front when they change.
            let touched: Batch = (ROWS - 100..ROWS).map(|n| (number_key(n), Some(number_key(number)))).collect();
            merge(&store, &[(INDEX, touched)].into()).await.unwrap();
            store.commit_checkpoint(&store.roots(), checkpoint(number)).await.unwrap();
        }
        let left = store.statistics().file_pages;
        assert!(left < full / 2, "{left} pages of {full} are left for 100 rows");
        let len = machine.contents(PATH).unwrap().len() as u64;
        assert_eq!(len, left * 16384);
        assert_eq!(store.verify(&store.roots()).await.unwrap().lost, 0);
    });
    done.unwrap();
    machine.crash();
    machine.run(async { drop(open(&machine.env()).await) }).unwrap();
}

#[test]
fn an_abandoned_merge_gives_its_pages_back() {
    let machine = SimMachine::new(4);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        fill(&store).await;
        let mut largest = 0;
        for round in 0..20 {
            let mut merge = store.merge(&store.roots(), Default::default()).await.unwrap();
            let batch: Batch = (0..ROWS).map(|n| (number_key(n), Some(value(&mut rng(round), 150)))).collect();
            merge.apply(INDEX, changes(batch)).await.unwrap();
            drop(merge);
            largest = largest.max(store.statistics().file_pages);
        }
        assert!(largest < 3 * live(&store.roots()) as u64, "{largest} pages");
        assert_eq!(store.verify(&store.roots()).await.unwrap().lost, 0);
    });
    done.unwrap();
}
