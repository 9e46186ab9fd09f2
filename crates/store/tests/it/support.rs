//! A store beside a `BTreeMap` that must hold the same.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use base::{CommitNumber, IndexId, LogPosition};
use bytes::Bytes;
use io::Env;
use rand::rngs::StdRng;
use rand::seq::IteratorRandom;
use rand::{Rng, SeedableRng};
use store::{
    Change, Checkpoint, Compression, Direction, Entry, MergeOptions, Options, Result, Roots, RowSum, SortedChanges,
    Store,
};

/// The contents of one index.
pub(crate) type Rows = BTreeMap<Bytes, Bytes>;
/// Changes of one index.
pub(crate) type Batch = BTreeMap<Bytes, Option<Bytes>>;

pub(crate) const PATH: &str = "data.ctr";

pub(crate) fn options() -> Options {
    Options { cache_bytes: 1 << 20, direct: true }
}

pub(crate) async fn open(env: &Env) -> Arc<Store> {
    Store::open(env, PATH, options()).await.expect("the store opens")
}

pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// A checkpoint that names its commit.
pub(crate) fn checkpoint(number: u64) -> Checkpoint {
    let meta = Bytes::from(vec![number as u8; (number as usize * 7919) % 40_000]);
    Checkpoint { commit_number: CommitNumber(number), log_position: LogPosition::new(1, number * 100), meta }
}

/// Applies batches to trees.
pub(crate) async fn merge(store: &Arc<Store>, batches: &BTreeMap<IndexId, Batch>) -> Result<Roots> {
    merge_as(store, Compression::None, batches).await
}

/// The same; what is written is compressed.
pub(crate) async fn merge_as(
    store: &Arc<Store>,
    compression: Compression,
    batches: &BTreeMap<IndexId, Batch>,
) -> Result<Roots> {
    let mut merge = store.merge(&store.roots(), MergeOptions::default()).await?;
    for (&index, batch) in batches {
        merge.apply(index, compression, &mut changes(batch.clone())).await?;
    }
    merge.finish().await
}

pub(crate) fn changes(batch: Batch) -> SortedChanges<impl Iterator<Item = Change> + Send> {
    SortedChanges(batch.into_iter().map(|(key, value)| Change { key, value }))
}

pub(crate) fn apply(rows: &mut Rows, batch: &Batch) {
    for (key, value) in batch {
        match value {
            Some(value) => rows.insert(key.clone(), value.clone()),
            None => rows.remove(key),
        };
    }
}

pub(crate) fn number_key(number: u64) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

/// Where new keys come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    /// Eight bytes, so many different ones.
    Numbers(u64),
    /// Up to the longest, with long common beginnings: trees become deep.
    Long,
}

impl Keys {
    fn random(self, rng: &mut StdRng) -> Bytes {
        match self {
            Keys::Numbers(count) => number_key(rng.random_range(0..count)),
            Keys::Long => {
                let number: u64 = rng.random_range(0..3000);
                let common = (number % 7) as usize * 700;
                let mut key = vec![b'k'; common];
                key.extend_from_slice(&number.to_be_bytes());
                key.resize(common + 8 + (number as usize * 37) % 900, b'z');
                key.into()
            }
        }
    }
}

/// As likely one as the others.
pub(crate) fn random_compression(rng: &mut StdRng) -> Compression {
    [Compression::None, Compression::Lz4, Compression::Zstd][rng.random_range(0..3)]
}

/// A value of some bytes that no other call makes.
pub(crate) fn value(rng: &mut StdRng, size: usize) -> Bytes {
    let mut bytes = vec![0; size];
    rng.fill(&mut bytes[..size.min(64)]);
    bytes.into()
}

/// Some changes of rows that are there and of new ones.
pub(crate) fn random_batch(rng: &mut StdRng, rows: &Rows, count: usize, keys: Keys) -> Batch {
    let mut batch = Batch::new();
    for _ in 0..count {
        let old = if rng.random_bool(0.5) { rows.keys().choose(rng).cloned() } else { None };
        let key = old.unwrap_or_else(|| keys.random(rng));
        let size = match rng.random_range(0..100) {
            0..90 => rng.random_range(0..300),
            90..98 => rng.random_range(300..5000),
            _ => rng.random_range(5000..100_000),
        };
        let value = rng.random_bool(0.7).then(|| value(rng, size));
        batch.insert(key, value);
    }
    batch
}

/// Everything between two bounds, through a cursor.
pub(crate) async fn scan(
    roots: &Roots,
    index: IndexId,
    lower: Bound<Bytes>,
    upper: Bound<Bytes>,
    direction: Direction,
    max: usize,
) -> Result<Vec<(Bytes, Bytes)>> {
    let mut cursor = roots.cursor(index, lower, upper, direction);
    let mut entries: Vec<Entry> = Vec::new();
    while cursor.next_batch(&mut entries, max).await? {}
    Ok(entries.into_iter().map(|entry| (entry.key, entry.value)).collect())
}

/// Compares a tree with the model in every way there is to read it.
pub(crate) async fn compare(roots: &Roots, index: IndexId, rows: &Rows, rng: &mut StdRng) {
    assert_eq!(roots.entries(index), rows.len() as u64);
    let all = (Bound::Unbounded, Bound::Unbounded);
    let wanted: Vec<_> = rows.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let found = scan(roots, index, all.0, all.1, Direction::Forward, 100).await.unwrap();
    assert!(found == wanted, "a scan of {} finds {} rows of {}", index, found.len(), wanted.len());
    for _ in 0..10 {
        compare_range(roots, index, rows, rng).await;
        let key = random_key(rows, rng);
        assert_eq!(roots.get(index, &key).await.unwrap().as_ref(), rows.get(&key));
    }
}

fn random_key(rows: &Rows, rng: &mut StdRng) -> Bytes {
    match rows.keys().choose(rng) {
        Some(key) if rng.random_bool(0.6) => key.clone(),
        Some(key) => key.slice(..rng.random_range(0..=key.len())),
        None => number_key(rng.random()),
    }
}

async fn compare_range(roots: &Roots, index: IndexId, rows: &Rows, rng: &mut StdRng) {
    let (a, b) = (random_key(rows, rng), random_key(rows, rng));
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let bound = |rng: &mut StdRng, key: Bytes| match rng.random_range(0..5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Included(key),
        _ => Bound::Excluded(key),
    };
    let (lower, upper) = (bound(rng, low.clone()), bound(rng, high.clone()));
    if low == high && matches!((&lower, &upper), (Bound::Excluded(_), Bound::Excluded(_))) {
        return; // a BTreeMap panics
    }
    let mut wanted: Vec<_> =
        rows.range((lower.clone(), upper.clone())).map(|(key, value)| (key.clone(), value.clone())).collect();
    let max = rng.random_range(1..50);
    let forward = scan(roots, index, lower.clone(), upper.clone(), Direction::Forward, max).await.unwrap();
    assert!(forward == wanted, "{lower:?}..{upper:?} forward: {} rows of {}", forward.len(), wanted.len());
    let estimate = roots.estimate(index, lower.as_ref().map(|key| &key[..]), upper.as_ref().map(|key| &key[..]));
    assert_eq!(estimate.await.unwrap(), wanted.len() as u64);
    let slices = (lower.as_ref().map(|key| &key[..]), upper.as_ref().map(|key| &key[..]));
    compare_sums(roots, index, slices, &wanted).await;
    wanted.reverse();
    let backward = scan(roots, index, lower.clone(), upper.clone(), Direction::Backward, max).await.unwrap();
    assert!(backward == wanted, "{lower:?}..{upper:?} backward: {} rows of {}", backward.len(), wanted.len());
}

fn sum_of(rows: &[(Bytes, Bytes)]) -> RowSum {
    let mut sum = RowSum::default();
    rows.iter().for_each(|(key, value)| sum.add(RowSum::hash_of(key, value)));
    sum
}

/// The sum of a range is that of its rows, and so is that of its parts.
async fn compare_sums(
    roots: &Roots,
    index: IndexId,
    (lower, upper): (Bound<&[u8]>, Bound<&[u8]>),
    rows: &[(Bytes, Bytes)],
) {
    assert_eq!(roots.sum(index, lower, upper).await.unwrap(), sum_of(rows));
    if let Some((key, value)) = rows.first() {
        let hash = roots.row_hash(index, key).await.unwrap();
        assert_eq!(hash, Some(RowSum::hash_of(key, value)));
    }
    let cuts = roots.separators(index, lower, upper).await.unwrap();
    let mut rest = (lower, rows);
    for cut in &cuts {
        let (before, after) = rest.1.split_at(rest.1.partition_point(|(key, _)| key < cut));
        assert_eq!(roots.sum(index, rest.0, Bound::Excluded(cut)).await.unwrap(), sum_of(before));
        rest = (Bound::Included(cut), after);
    }
    assert_eq!(roots.sum(index, rest.0, upper).await.unwrap(), sum_of(rest.1));
    assert!(cuts.is_sorted_by(|a, b| a < b), "separators ascend");
}
