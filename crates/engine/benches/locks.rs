//! What locks cost: `cargo bench -p engine --bench locks`.

use std::sync::Arc;
use std::time::Duration;

use base::{Cancel, IndexId, TableId, UnixMicros};
use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use engine::lock::{LockManager, LockOptions, LockOwner, Strength, TableMode, Target, Wait, WaitPolicy};
use futures_lite::future::block_on;
use io::{BoxFuture, Clock};

/// Nothing in here waits.
struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> UnixMicros {
        UnixMicros(0)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, _duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

const INDEX: IndexId = IndexId(1);

fn with_ten_rows(owner: &mut LockOwner, from: u64, wait: Wait<'_>) {
    block_on(async {
        for row in from..from + 10 {
            owner.record(INDEX, &row.to_be_bytes(), Strength::Exclusive, wait).await.unwrap();
        }
    });
    owner.release_all();
}

fn locks(criterion: &mut Criterion) {
    let manager = LockManager::new(Arc::new(NoClock), LockOptions::default());
    let cancel = Cancel::new();
    let wait = Wait { policy: WaitPolicy::For(Duration::from_secs(50)), cancel: &cancel };
    let mut row = 0u64;
    criterion.bench_function("10 records, locked and released", |bench| {
        let mut owner = manager.owner();
        bench.iter(|| {
            row += 10;
            with_ten_rows(&mut owner, row, wait);
        });
    });
    criterion.bench_function("new owner, 1 record, released", |bench| {
        bench.iter(|| {
            row += 1;
            let mut owner = manager.owner();
            block_on(owner.record(INDEX, &row.to_be_bytes(), Strength::Exclusive, wait)).unwrap();
        });
    });
    criterion.bench_function("10 inserts, locked and released", |bench| {
        let mut owner = manager.owner();
        bench.iter(|| {
            block_on(async {
                for _ in 0..10 {
                    row += 1;
                    owner.insert(INDEX, &Bytes::copy_from_slice(&row.to_be_bytes()), wait).await.unwrap();
                }
            });
            owner.release_all();
        });
    });
    criterion.bench_function("table IX, locked and released", |bench| {
        let mut owner = manager.owner();
        bench.iter(|| {
            block_on(owner.table(Target::Table(TableId(1)), TableMode::IntentExclusive, wait)).unwrap();
            owner.release_all();
        });
    });
}

criterion_group!(benches, locks);
criterion_main!(benches);
