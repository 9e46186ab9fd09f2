//! Readers, merges and checkpoints on real threads and real files, with a cache that is much too small.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base::IndexId;
use io::os::{Offload, environment};
use rand::Rng;
use store::{Options, Store};

use crate::support::*;

const INDEX: IndexId = IndexId(1);
const ROWS: u64 = 10_000;
const MERGES: u64 = 60;

/// In round r the value of every row says a round up to r, and all rows of a hundred say the same.
fn value_of(round: u64) -> bytes::Bytes {
    let mut value = vec![7; 120];
    value[..8].copy_from_slice(&round.to_le_bytes());
    value.into()
}

#[test]
fn readers_see_whole_states_while_pages_come_and_go() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("store-threads-{}", std::process::id()));
    let env = environment(root, Offload::Threads(4), runtime.handle().clone()).unwrap();
    runtime.block_on(async {
        let store = Store::open(&env, PATH, Options { cache_bytes: 1 << 20, direct: true }).await.unwrap();
        let all: Batch = (0..ROWS).map(|n| (number_key(n), Some(value_of(0)))).collect();
        merge(&store, &[(INDEX, all)].into()).await.unwrap();
        let (done, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let readers: Vec<_> =
            (0..4).map(|seed| tokio::spawn(read(store.clone(), seed, done.clone(), reads.clone()))).collect();
        let mut rng = rng(99);
        for round in 1..=MERGES {
            let hundreds: Vec<u64> = (0..20).map(|_| rng.random_range(0..ROWS / 100)).collect();
            let rows = hundreds.iter().flat_map(|hundred| hundred * 100..hundred * 100 + 100);
            let batch: Batch = rows.map(|n| (number_key(n), Some(value_of(round)))).collect();
            merge(&store, &[(INDEX, batch)].into()).await.unwrap();
            if round % 4 == 0 {
                store.commit_checkpoint(&store.roots(), checkpoint(round)).await.unwrap();
            }
        }
        done.store(true, Ordering::SeqCst);
        for reader in readers {
            reader.await.unwrap();
        }
        assert!(reads.load(Ordering::SeqCst) > 0);
        let verified = store.verify(&store.roots()).await.unwrap();
        assert_eq!((verified.rows, verified.lost), (ROWS, 0));
    });
}

async fn read(store: Arc<Store>, seed: u64, done: Arc<AtomicBool>, reads: Arc<AtomicU64>) {
    let mut rng = rng(seed);
    while !done.load(Ordering::SeqCst) {
        let roots = store.roots();
        for _ in 0..50 {
            let hundred = rng.random_range(0..ROWS / 100) * 100;
            let one = roots.get(INDEX, &number_key(hundred + 57)).await.unwrap().unwrap();
            let range =
                (std::ops::Bound::Included(number_key(hundred)), std::ops::Bound::Excluded(number_key(hundred + 100)));
            let rows = scan(&roots, INDEX, range.0, range.1, store::Direction::Forward, 33).await.unwrap();
            assert_eq!(rows.len(), 100);
            assert!(rows.iter().all(|(_, value)| *value == one), "a hundred from two states");
            reads.fetch_add(1, Ordering::Relaxed);
        }
    }
}
