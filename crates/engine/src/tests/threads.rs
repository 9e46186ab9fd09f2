//! The same engine on real threads and a real disk: what only happens when two things happen at once.
//!
//! Sessions move amounts between accounts, under checkpoints that follow each other without a pause. Every view, and every
//! locking scan, has to find the same sum.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use io::os::{Offload, environment};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use types::Value;

use super::fixture::{self, begin, key, row};
use crate::error::Result;
use crate::{Direction, Engine, EngineError, KeyRange, ReadMode, Table, TableMode};

const ACCOUNTS: i64 = 16;
const SUM: i64 = ACCOUNTS * 100;
const SESSIONS: u64 = 6;

struct Bank {
    engine: Arc<Engine>,
    table: Arc<Table>,
    ended: AtomicBool,
    transfers: AtomicU64,
}

impl Bank {
    fn amount(&self, row: &bytes::Bytes) -> i64 {
        match self.table.codec.row.decode_column(row, 1).unwrap() {
            Value::Int(n) => n,
            other => panic!("{other:?}"),
        }
    }

    async fn fill(&self) -> Result<()> {
        let mut transaction = begin(&self.engine);
        transaction.lock_table(&self.table, TableMode::IntentExclusive).await?;
        for id in 1..=ACCOUNTS {
            transaction.insert(&self.table, row(&self.table, id, Some(100), Some(id))).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    async fn transfer(&self, rng: &mut StdRng) -> Result<()> {
        let mut transaction = begin(&self.engine);
        transaction.lock_table(&self.table, TableMode::IntentExclusive).await?;
        let (from, to) = (rng.random_range(1..=ACCOUNTS), rng.random_range(1..=ACCOUNTS));
        let amount = rng.random_range(1..20);
        for (id, change) in [(from, -amount), (to, amount)] {
            let key = key(&self.table, id);
            let old = transaction.get(&self.table, &key, ReadMode::FOR_UPDATE).await?.expect("accounts stay");
            let new = row(&self.table, id, Some(self.amount(&old) + change), Some(id));
            transaction.update(&self.table, &old, new).await?;
        }
        transaction.commit().await?;
        self.transfers.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn sum(&self, index_number: usize, mode: ReadMode) -> Result<()> {
        let mut transaction = begin(&self.engine);
        transaction.lock_table(&self.table, TableMode::IntentShared).await?;
        let mut scan = transaction.scan(&self.table, index_number, KeyRange::all(), Direction::Forward, mode);
        let (mut sum, mut count, mut entries) = (0, 0, Vec::new());
        while transaction.next_batch(&mut scan, &mut entries, 5).await? {
            for entry in entries.drain(..) {
                count += 1;
                sum += match index_number {
                    0 => self.amount(&entry.value),
                    _ => match self.table.codec.indexes[1].layout.decode_column(&entry.value, 0)? {
                        Value::Int(n) => n,
                        other => panic!("{other:?}"),
                    },
                };
            }
        }
        assert_eq!((sum, count), (SUM, ACCOUNTS), "index {index_number}, {mode:?}");
        transaction.commit().await?;
        Ok(())
    }

    async fn session(self: Arc<Self>, seed: u64) {
        let mut rng = StdRng::seed_from_u64(seed);
        while !self.ended.load(Ordering::Relaxed) {
            let result = match rng.random_range(0..10) {
                0 => self.sum(0, ReadMode::Consistent).await,
                1 => self.sum(1, ReadMode::Consistent).await,
                2 => self.sum(0, ReadMode::FOR_SHARE).await,
                _ => self.transfer(&mut rng).await,
            };
            match result {
                Ok(()) | Err(EngineError::Deadlock | EngineError::LockWaitTimeout) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn the_sum_is_always_the_same() {
    let dir = std::env::temp_dir().join(format!("commuter-engine-threads-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let env = environment(dir.clone(), Offload::Threads(2), runtime.handle().clone()).unwrap();
    let seconds = std::env::var("SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    runtime.block_on(async {
        let mut options = fixture::options();
        options.log.fill_ahead = 4 << 20;
        options.max_binlog_bytes = 8 << 20;
        let engine = fixture::open(env.clone(), options.clone()).await.unwrap();
        let table = engine.catalog().table("test", "t").unwrap().clone();
        let bank = Arc::new(Bank { engine, table, ended: AtomicBool::new(false), transfers: AtomicU64::new(0) });
        bank.fill().await.unwrap();
        let sessions: Vec<_> = (0..SESSIONS).map(|seed| runtime.handle().spawn(bank.clone().session(seed))).collect();
        let end = env.clock.monotonic() + Duration::from_secs(seconds);
        let mut checkpoints = 0;
        while env.clock.monotonic() < end && sessions.iter().all(|session| !session.is_finished()) {
            bank.engine.checkpoint().await.unwrap();
            checkpoints += 1;
        }
        bank.ended.store(true, Ordering::Relaxed);
        for session in sessions {
            session.await.unwrap();
        }
        println!("{} transfers, {checkpoints} checkpoints", bank.transfers.load(Ordering::Relaxed));
        bank.engine.close().await.unwrap();
        let engine = fixture::open(env.clone(), options).await.unwrap();
        let table = engine.catalog().table("test", "t").unwrap().clone();
        let bank = Bank { engine, table, ended: AtomicBool::new(false), transfers: AtomicU64::new(0) };
        for index_number in [0, 1] {
            bank.sum(index_number, ReadMode::Consistent).await.unwrap();
        }
        bank.engine.close().await.unwrap();
    });
    let _ = std::fs::remove_dir_all(&dir);
}
