//! What the store costs: reading what is in memory, and merging.
//!
//! Rows have an 8-byte key and a 184-byte value, so a leaf holds 81 of them. Times of merges are per merge; the
//! throughput line is leaves.

use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::IndexId;
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_lite::future::block_on;
use io::os::{Offload, environment};
use store::{Change, Checkpoint, Compression, Direction, MergeOptions, Options, SortedChanges, Store};

/// The server's allocator.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const INDEX: IndexId = IndexId(1);
const ROWS: u64 = 2_000_000;

/// What the rows of a bench are.
type Row = fn(u64, u64) -> Change;

struct Bench {
    row: Row,
    compression: Compression,
    runtime: tokio::runtime::Runtime,
    store: Arc<Store>,
    /// Grows, so that every change is one.
    salt: u64,
}

impl Bench {
    fn new(name: &str, options: Options) -> Self {
        Bench::with_rows(name, options, change, Compression::None)
    }

    fn with_rows(name: &str, options: Options, row: Row, compression: Compression) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("store-bench-{}", std::process::id()));
        let env = environment(root, Offload::Threads(4), runtime.handle().clone()).unwrap();
        let store = runtime.block_on(Store::open(&env, name, options)).unwrap();
        let mut bench = Bench { row, compression, runtime, store, salt: 0 };
        bench.merge(1);
        bench.checkpoint();
        bench
    }

    /// Changes every n-th row; the time of the merge alone.
    fn merge(&mut self, step: u64) -> Duration {
        self.salt += 1;
        let salt = self.salt;
        let changes: Vec<Change> = (0..ROWS).step_by(step as usize).map(|n| (self.row)(n, salt)).collect();
        let begin = Instant::now();
        self.runtime.block_on(async {
            let mut merge = self.store.merge(&self.store.roots(), MergeOptions::default()).await.unwrap();
            merge.apply(INDEX, self.compression, &mut SortedChanges(changes.into_iter())).await.unwrap();
            merge.finish().await.unwrap();
        });
        begin.elapsed()
    }

    /// Time of so many merges, each with a checkpoint behind it that is not counted.
    fn merges(&mut self, times: u64, step: u64) -> Duration {
        let merge = |_| {
            let taken = self.merge(step);
            self.checkpoint();
            taken
        };
        (0..times).map(merge).sum()
    }

    fn checkpoint(&mut self) {
        self.runtime.block_on(self.store.commit_checkpoint(&self.store.roots(), Checkpoint::default())).unwrap();
    }
}

fn key(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

fn change(number: u64, salt: u64) -> Change {
    let mut value = [0; 184];
    value[..8].copy_from_slice(&(number ^ salt << 40).to_le_bytes());
    Change { key: Bytes::copy_from_slice(&key(number)), value: Some(Bytes::copy_from_slice(&value)) }
}

fn reads(criterion: &mut Criterion) {
    let bench = Bench::new("reads.ctr", Options { cache_bytes: 1 << 30, direct: true });
    let roots = bench.store.roots();
    let scan = |lower: u64, count: usize| {
        let lower = Bound::Included(Bytes::copy_from_slice(&key(lower)));
        let mut cursor = roots.cursor(INDEX, lower, Bound::Unbounded, Direction::Forward);
        async move {
            let mut entries = Vec::with_capacity(count);
            while entries.len() < count && cursor.next_batch(&mut entries, count).await.unwrap() {}
            entries.len()
        }
    };
    assert_eq!(bench.runtime.block_on(scan(0, ROWS as usize)), ROWS as usize);
    let mut number = 1u64;
    let mut random = move || {
        number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (number >> 33) % ROWS
    };
    criterion.bench_function("get, depth 3, in the cache", |bencher| {
        bencher.iter(|| block_on(roots.get(INDEX, &key(random()))).unwrap().unwrap().len())
    });
    criterion.bench_function("scan of 100 rows, in the cache", |bencher| {
        bencher.iter(|| block_on(scan(random() % (ROWS - 100), 100)))
    });
    criterion.bench_function("estimate of a range, in the cache", |bencher| {
        bencher.iter(|| {
            let (lower, upper) = (key(random()), key(random()));
            block_on(roots.estimate(INDEX, Bound::Included(&lower), Bound::Included(&upper))).unwrap()
        })
    });
}

fn merges(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("merge");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    for (what, cache_bytes) in [("old leaves in the cache", 1 << 30), ("old leaves on disk", 1 << 20)] {
        let mut bench = Bench::new("merges.ctr", Options { cache_bytes, direct: true });
        let (leaves, _, _) = bench.store.roots().pages(INDEX);
        group.throughput(Throughput::Elements(leaves));
        if cache_bytes > 1 << 20 {
            let mut cursor = bench.store.roots().cursor(INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
            let mut entries = Vec::new();
            while bench.runtime.block_on(cursor.next_batch(&mut entries, 100)).unwrap() {
                entries.clear();
            }
        }
        for (rows, step) in [("all rows", 1), ("8 rows", 10), ("1 row", 81)] {
            group.bench_function(format!("{rows} of each leaf, {what}"), |bencher| {
                bencher.iter_custom(|times| bench.merges(times, step))
            });
        }
    }
}

/// A row of a shop: names out of some hundred, numbers, times close to each other, and a token that nobody can guess.
fn order(number: u64, salt: u64) -> Change {
    let mixed = (number ^ salt << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let name = ["Anderson", "Böhm", "Castellano", "Dubois", "Eriksson", "Fernandes", "Grigoryan", "Horvat"];
    let state = ["new", "paid", "packed", "sent", "returned"];
    let text = format!(
        "{}|{}.{}@example.org|{}|{:.2}|2026-01-{:02} {:02}:{:02}:{:02}|{mixed:016x}|Please leave the parcel with a neighbour.",
        number,
        name[(mixed >> 20) as usize % name.len()],
        name[(mixed >> 30) as usize % name.len()].to_lowercase(),
        state[(mixed >> 40) as usize % state.len()],
        (mixed >> 44) as f64 / 100.0,
        number / 86_400 % 28 + 1,
        number / 3600 % 24,
        number / 60 % 60,
        number % 60,
    );
    Change { key: Bytes::copy_from_slice(&key(number)), value: Some(text.into()) }
}

/// Bytes in the file, and what they cost: a scan that reads everything from the file, a merge that changes every row, and one
/// that changes one of a leaf.
fn compressions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compression");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let options = Options { cache_bytes: 1 << 20, direct: true };
        let mut bench = Bench::with_rows(&format!("{compression:?}.ctr"), options, order, compression);
        let (leaves, _, _) = bench.store.roots().pages(INDEX);
        println!("{compression:?}: {} MB for {leaves} leaves", bench.store.roots().bytes(INDEX) >> 20);
        group.throughput(Throughput::Elements(ROWS));
        group.bench_function(format!("scan of all rows from the file, {compression:?}"), |bencher| {
            bencher.iter(|| {
                let roots = bench.store.roots();
                let mut cursor = roots.cursor(INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
                let (mut entries, mut rows) = (Vec::new(), 0);
                while bench.runtime.block_on(cursor.next_batch(&mut entries, 1000)).unwrap() {
                    rows += entries.len() as u64;
                    entries.clear();
                }
                assert_eq!(rows, ROWS);
            })
        });
        group.throughput(Throughput::Elements(leaves));
        for (rows, step) in [("all rows", 1), ("1 row", ROWS / leaves)] {
            group.bench_function(format!("merge of {rows} of each leaf, {compression:?}"), |bencher| {
                bencher.iter_custom(|times| bench.merges(times, step))
            });
        }
    }
}

criterion_group!(benches, reads, merges, compressions);
criterion_main!(benches);
