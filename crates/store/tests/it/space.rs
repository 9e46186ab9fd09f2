//! The file does not grow without need.

use base::IndexId;
use io::sim::SimMachine;
use rand::Rng;
use store::{Compression, Roots, Store};

use crate::support::*;

const INDEX: IndexId = IndexId(1);
const ROWS: u64 = 60_000;

async fn fill(store: &std::sync::Arc<Store>, compression: Compression) {
    let mut rng = rng(1);
    let batch: Batch = (0..ROWS).map(|n| (number_key(n), Some(value(&mut rng, 184)))).collect();
    merge_as(store, compression, &[(INDEX, batch)].into()).await.unwrap();
    store.commit_checkpoint(&store.roots(), checkpoint(1)).await.unwrap();
}

fn live(roots: &Roots) -> f64 {
    roots.bytes(INDEX) as f64
}

/// Rounds of random updates.
struct Updates {
    rounds: u64,
    /// Rows in a merge.
    changed: u64,
    /// Merges to a checkpoint.
    merges: u64,
    /// One of them for each merge.
    compressions: &'static [Compression],
}

const PLAIN: &[Compression] = &[Compression::None];

const SPARSE: Updates = Updates { rounds: 60, changed: 200, merges: 3, compressions: PLAIN };
const DENSE: Updates = Updates { rounds: 30, changed: 12_000, merges: 1, compressions: PLAIN };

/// Updates rows; pins the newest roots in each tenth round if there are pins already, four at a time. The largest size
/// of the file, in live data (as it was when it took most).
async fn update(store: &std::sync::Arc<Store>, updates: Updates, pins: &mut Vec<Roots>) -> f64 {
    let Updates { rounds, changed, merges, compressions } = updates;
    let mut rng = rng(changed);
    let (mut largest, mut most_live) = (0f64, 0f64);
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
        let compression = compressions[rng.random_range(0..compressions.len())];
        merge_as(store, compression, &[(INDEX, batch)].into()).await.unwrap();
        if round % merges == 0 {
            store.commit_checkpoint(&store.roots(), checkpoint(round + 2)).await.unwrap();
        }
        most_live = most_live.max(live(&store.roots()));
        largest = largest.max(store.statistics().file_bytes as f64 / most_live);
    }
    largest
}

#[test]
fn random_updates_keep_the_file_within_twice_the_live_data() {
    let machine = SimMachine::new(1);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        fill(&store, Compression::None).await;
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

/// Pages of one to four blocks come and go among one another, and none of their sizes is short of room for long.
#[test]
fn compressed_pages_keep_the_file_within_twice_the_live_data_too() {
    const MIXED: &[Compression] = &[Compression::None, Compression::Lz4, Compression::Zstd, Compression::Zstd];
    for compressions in [&[Compression::Lz4], &[Compression::Zstd], MIXED] {
        let machine = SimMachine::new(1);
        let done = machine.run(async {
            let store = open(&machine.env()).await;
            fill(&store, compressions[0]).await;
            let plain = ROWS as f64 * 200.0;
            if compressions.len() == 1 {
                assert!(live(&store.roots()) < 0.8 * plain, "{} bytes of {plain}", live(&store.roots()));
            }
            let sparse = update(&store, Updates { compressions, ..SPARSE }, &mut Vec::new()).await;
            store.commit_checkpoint(&store.roots(), checkpoint(100)).await.unwrap();
            let dense = update(&store, Updates { compressions, ..DENSE }, &mut Vec::new()).await;
            // One that is written in another form each time has now half as many blocks and now twice as many.
            let most = if compressions.len() == 1 { 2.3 } else { 3.0 };
            assert!(sparse < 2.0 && dense < most, "{compressions:?}: sparse {sparse:.2}, dense {dense:.2}");
            assert_eq!(store.verify(&store.roots()).await.unwrap().lost, 0);
        });
        done.unwrap();
    }
}

/// What compressed pages leave free is no use to whole pages, but what was one run becomes one again.
#[test]
fn a_compressed_tree_that_is_dropped_makes_room_for_whole_pages() {
    let machine = SimMachine::new(5);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        fill(&store, Compression::Zstd).await;
        update(&store, Updates { compressions: &[Compression::Zstd], ..SPARSE }, &mut Vec::new()).await;
        let mut merge = store.merge(&store.roots(), Default::default()).await.unwrap();
        merge.drop_tree(INDEX).await.unwrap();
        merge.finish().await.unwrap();
        store.commit_checkpoint(&store.roots(), checkpoint(100)).await.unwrap();
        fill(&store, Compression::None).await;
        let times = store.statistics().file_bytes as f64 / live(&store.roots());
        assert!(times < 1.3, "file / live data: {times:.2}");
    });
    done.unwrap();
}

#[test]
fn an_old_view_pins_its_own_pages_and_no_others() {
    let machine = SimMachine::new(2);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        fill(&store, Compression::None).await;
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
        fill(&store, Compression::None).await;
        let full = store.statistics().file_bytes;
        let gone: Batch = (0..ROWS - 100).map(|n| (number_key(n), None)).collect();
        merge(&store, &[(INDEX, gone)].into()).await.unwrap();
        for number in 2..5 {
            // The rows that are left move to the front when they change.
            let touched: Batch = (ROWS - 100..ROWS).map(|n| (number_key(n), Some(number_key(number)))).collect();
            merge(&store, &[(INDEX, touched)].into()).await.unwrap();
            store.commit_checkpoint(&store.roots(), checkpoint(number)).await.unwrap();
        }
        let left = store.statistics().file_bytes;
        assert!(left < full / 2, "{left} bytes of {full} are left for 100 rows");
        let len = machine.contents(PATH).unwrap().len() as u64;
        assert_eq!(len, left);
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
        fill(&store, Compression::None).await;
        let mut largest = 0;
        for round in 0..20 {
            let mut merge = store.merge(&store.roots(), Default::default()).await.unwrap();
            let batch: Batch = (0..ROWS).map(|n| (number_key(n), Some(value(&mut rng(round), 150)))).collect();
            merge.apply(INDEX, Compression::None, &mut changes(batch)).await.unwrap();
            drop(merge);
            largest = largest.max(store.statistics().file_bytes);
        }
        assert!(largest < 3 * live(&store.roots()) as u64, "{largest} bytes");
        assert_eq!(store.verify(&store.roots()).await.unwrap().lost, 0);
    });
    done.unwrap();
}
