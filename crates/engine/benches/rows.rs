//! What the engine itself costs per statement: `cargo bench -p engine --bench rows`.
//!
//! The table is sysbench's: `(id INT PRIMARY KEY, k INT, c CHAR(120), pad CHAR(60), KEY (k))`, 100,000 rows. "memory": all
//! rows in the memtable; "tree": after a checkpoint, with all pages in the cache. The data directory is in `ROWS_BENCH_DIR`, or the
//! temporary directory. Statements are measured without their commit where the name says so; commits without a sync
//! (`sync_binlog=0`), to see the engine's own part, and with 64 sessions and syncs, to see the whole.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::SqlError;
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::{
    Catalog, CatalogChange, CommitSettings, Database, DdlPlanner, DdlText, Direction, Engine, EngineOptions, KeyRange,
    ReadMode, SessionHandle, Table, TableMode, Transaction, TxnOptions,
};
use io::os::{Offload, environment};
use types::{CollationId, ColumnDef, ColumnType, IndexDef, KeyPart, TableDef, Value};

const ROWS: i64 = 100_000;
const SESSIONS: u64 = 64;

struct NoDdl;

impl DdlPlanner for NoDdl {
    fn plan(&self, text: &DdlText, _catalog: &Catalog) -> Result<CatalogChange, SqlError> {
        Err(SqlError::not_supported(&text.sql))
    }
}

fn index(name: &str, column: usize, unique: bool) -> IndexDef {
    IndexDef {
        id: Default::default(),
        name: name.into(),
        parts: vec![KeyPart::column(column)],
        unique,
        comment: String::new(),
        visible: true,
        generated: false,
    }
}

fn table_def() -> TableDef {
    let int = || ColumnType::Int { unsigned: false };
    let mut id = ColumnDef::new("id", int()).not_null();
    id.auto_increment = true;
    let columns = vec![
        id,
        ColumnDef::new("k", int()).not_null(),
        ColumnDef::new("c", ColumnType::Char { chars: 120 }).not_null(),
        ColumnDef::new("pad", ColumnType::Char { chars: 60 }).not_null(),
    ];
    TableDef {
        id: Default::default(),
        schema: "test".into(),
        name: "sbtest1".into(),
        columns,
        indexes: vec![index("PRIMARY", 0, true), index("k", 1, false)],
        collation: CollationId::DEFAULT,
        comment: String::new(),
        generated_pk: false,
        engine_name: String::new(),
        foreign_keys: Vec::new(),
        auto_increment_start: 1,
        create_time: 0,
        options: Vec::new(),
    }
}

struct Bench {
    runtime: tokio::runtime::Runtime,
    engine: Arc<Engine>,
    table: Arc<Table>,
    dir: PathBuf,
    seed: AtomicU64,
}

impl Bench {
    fn new() -> Self {
        let parent = std::env::var_os("ROWS_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let dir = parent.join(format!("commuter-rows-bench-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let env = environment(dir.clone(), Offload::Threads(2), runtime.handle().clone()).unwrap();
        let (engine, table) = runtime.block_on(async {
            let engine = Engine::open(env, EngineOptions::default(), Arc::new(NoDdl)).await.unwrap();
            engine.start_commits(CommitSettings::default()).unwrap();
            engine.commits().unwrap().settings().set_sync_binlog(0);
            let options = TxnOptions::new(SessionHandle::internal());
            let database = Database { name: "test".into(), collation: CollationId::DEFAULT };
            let changes = [CatalogChange::CreateDatabase(database), CatalogChange::CreateTable(Box::new(table_def()))];
            for change in changes {
                engine.execute_ddl(change, DdlText::default(), &options).await.unwrap();
            }
            let table = engine.catalog().table("test", "sbtest1").unwrap().clone();
            (engine, table)
        });
        let bench = Bench { runtime, engine, table, dir, seed: AtomicU64::new(1) };
        bench.runtime.block_on(bench.load());
        bench
    }

    async fn load(&self) {
        for first in (1..=ROWS).step_by(1000) {
            let mut transaction = self.begin();
            transaction.lock_table(&self.table, TableMode::IntentExclusive).await.unwrap();
            for id in first..first + 1000 {
                transaction.insert(&self.table, self.row(id, id % 5000)).await.unwrap();
            }
            transaction.commit().await.unwrap();
        }
    }

    fn begin(&self) -> Transaction {
        self.engine.begin(TxnOptions::new(SessionHandle::internal()))
    }

    fn row(&self, id: i64, k: i64) -> Bytes {
        let text = |c: char, n: usize| Value::str(c.to_string().repeat(n));
        self.table.codec.row.encode(&[Value::Int(id), Value::Int(k), text('c', 119), text('p', 59)]).unwrap()
    }

    /// Another one each time, everywhere in the table.
    fn id(&self) -> i64 {
        let n = self.seed.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (n >> 32) as i64 % ROWS + 1
    }

    async fn point_select(&self) {
        let mut transaction = self.begin();
        transaction.lock_table(&self.table, TableMode::IntentShared).await.unwrap();
        let key = self.table.codec.prefix(0, &[Value::Int(self.id())]).unwrap();
        assert!(transaction.get(&self.table, &key, ReadMode::Consistent).await.unwrap().is_some());
        transaction.commit().await.unwrap();
    }

    async fn range_select(&self) {
        let mut transaction = self.begin();
        transaction.lock_table(&self.table, TableMode::IntentShared).await.unwrap();
        let id = self.id().min(ROWS - 100);
        let key = |id| self.table.codec.prefix(0, &[Value::Int(id)]).unwrap();
        let range = KeyRange { lower: KeyRange::prefix(key(id)).lower, upper: KeyRange::prefix(key(id + 99)).upper };
        let mut scan = transaction.scan(&self.table, 0, range, Direction::Forward, ReadMode::Consistent);
        let mut entries = Vec::with_capacity(100);
        while transaction.next_batch(&mut scan, &mut entries, 100).await.unwrap() {}
        assert_eq!(entries.len(), 100);
    }

    async fn update(&self, indexed: bool) -> Transaction {
        let mut transaction = self.begin();
        transaction.lock_table(&self.table, TableMode::IntentExclusive).await.unwrap();
        let key = self.table.codec.prefix(0, &[Value::Int(self.id())]).unwrap();
        let old = transaction.get(&self.table, &key, ReadMode::FOR_UPDATE).await.unwrap().unwrap();
        let change = if indexed {
            let Value::Int(k) = self.table.codec.row.decode_column(&old, 1).unwrap() else { unreachable!() };
            (1, Value::Int(k + 1))
        } else {
            (2, Value::str("another text of sysbench"))
        };
        let new = self.table.codec.row.replace(&old, &[change]).unwrap();
        transaction.update(&self.table, &old, new).await.unwrap();
        transaction
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.runtime.block_on(self.engine.close());
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn statements(c: &mut Criterion, bench: &Bench, place: &str) {
    let mut group = c.benchmark_group(place);
    group.measurement_time(Duration::from_secs(3)).sample_size(20);
    let run = &bench.runtime;
    group.bench_function("point_select", |b| {
        b.iter_custom(|n| run.block_on(timed(n, || bench.point_select())));
    });
    group.bench_function("range_select_100", |b| {
        b.iter_custom(|n| run.block_on(timed(n, || bench.range_select())));
    });
    group.bench_function("update_without_commit", |b| {
        b.iter_custom(|n| run.block_on(timed(n, || async { drop(bench.update(false).await) })));
    });
    group.bench_function("update_index_without_commit", |b| {
        b.iter_custom(|n| run.block_on(timed(n, || async { drop(bench.update(true).await) })));
    });
    group.finish();
}

async fn timed<F: Future<Output = ()>>(n: u64, mut once: impl FnMut() -> F) -> Duration {
    let start = std::time::Instant::now();
    for _ in 0..n {
        once().await;
    }
    start.elapsed()
}

fn rows(c: &mut Criterion) {
    let bench = Arc::new(Bench::new());
    statements(c, &bench, "memory");
    bench.runtime.block_on(bench.engine.checkpoint()).unwrap();
    statements(c, &bench, "tree");
    let mut group = c.benchmark_group("commit");
    group.measurement_time(Duration::from_secs(3)).sample_size(20);
    group.bench_function("update_index_no_sync", |b| {
        b.iter_custom(|n| {
            bench.runtime.block_on(timed(n, || async {
                bench.update(true).await.commit().await.unwrap();
            }))
        });
    });
    bench.engine.commits().unwrap().settings().set_sync_binlog(1);
    group.throughput(Throughput::Elements(SESSIONS));
    group.bench_function("update_index_64_sessions", |b| {
        b.iter_custom(|n| {
            let start = std::time::Instant::now();
            let sessions = (0..SESSIONS).map(|_| {
                let bench = bench.clone();
                bench.runtime.handle().clone().spawn(async move {
                    for _ in 0..n {
                        bench.update(true).await.commit().await.unwrap();
                    }
                })
            });
            let sessions: Vec<_> = sessions.collect();
            bench.runtime.block_on(async {
                for session in sessions {
                    session.await.unwrap();
                }
            });
            start.elapsed()
        });
    });
    group.finish();
}

criterion_group!(benches, rows);
criterion_main!(benches);
