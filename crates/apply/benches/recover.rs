//! How fast a log is applied: `cargo bench -p apply --bench recover -- [transactions] [rows]`.
//!
//! Makes a table, changes single rows of it at random in so many transactions, ends without a checkpoint, and times the
//! recovery with one and more workers, from the same files. In `APPLY_BENCH_DIR`, or the temporary directory.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use apply::{ApplyOptions, recover};
use base::SqlError;
use bytes::Bytes;
use engine::commit::CommitSettings;
use engine::{
    Catalog, CatalogChange, Database, DdlPlanner, DdlText, Engine, EngineOptions, ReadMode, SessionHandle, Table,
    TxnOptions,
};
use io::os::{Offload, environment};
use tokio::runtime::Handle;
use types::{CollationId, ColumnDef, ColumnType, IndexDef, KeyPart, RowLayout, TableDef, Value};

/// Sessions that write the log.
const SESSIONS: u64 = 64;

struct Planner;

impl DdlPlanner for Planner {
    fn plan(&self, text: &DdlText, _catalog: &Catalog) -> Result<CatalogChange, SqlError> {
        if text.sql == "database" {
            let collation = CollationId::DEFAULT;
            return Ok(CatalogChange::CreateDatabase(Database { name: "d".to_owned(), collation }));
        }
        Ok(CatalogChange::CreateTable(Box::new(sbtest())))
    }
}

/// sysbench's table without its secondary index's cost hidden: id, k (indexed), c, pad.
fn sbtest() -> TableDef {
    let int = ColumnType::Int { unsigned: false };
    let index = |name: &str, column, unique| IndexDef {
        id: Default::default(),
        name: name.to_owned(),
        parts: vec![KeyPart::column(column)],
        unique,
        comment: String::new(),
        visible: true,
        generated: false,
    };
    TableDef {
        id: Default::default(),
        schema: "d".to_owned(),
        name: "sbtest1".to_owned(),
        columns: vec![
            ColumnDef::new("id", int.clone()).not_null(),
            ColumnDef::new("k", int).not_null(),
            ColumnDef::new("c", ColumnType::Char { chars: 120 }).not_null(),
            ColumnDef::new("pad", ColumnType::Char { chars: 60 }).not_null(),
        ],
        indexes: vec![index("PRIMARY", 0, true), index("k_1", 1, false)],
        collation: CollationId::DEFAULT,
        comment: String::new(),
        generated_pk: false,
        engine_name: "InnoDB".to_owned(),
        foreign_keys: Vec::new(),
        auto_increment_start: 1,
        create_time: 0,
        options: Vec::new(),
    }
}

fn options() -> EngineOptions {
    EngineOptions { memtable_bytes: 4 << 30, checkpoint_log_bytes: 64 << 30, ..EngineOptions::default() }
}

async fn open(root: &Path, options: EngineOptions) -> Arc<Engine> {
    let env = environment(root.to_owned(), Offload::Threads(4), Handle::current()).unwrap();
    Engine::open(env, options, Arc::new(Planner)).await.unwrap()
}

fn row(table: &Table, id: u64, k: u64) -> Bytes {
    let text = |len: usize| Value::Str(Bytes::from(vec![b'a' + (k % 26) as u8; len]));
    RowLayout::new(&table.def).encode(&[Value::Int(id as i64), Value::Int(k as i64), text(119), text(59)]).unwrap()
}

async fn make_log(root: &Path, transactions: u64, rows: u64) {
    let engine = open(root, options()).await;
    recover(&engine, ApplyOptions::default()).await.unwrap();
    engine.start_commits(CommitSettings::default()).unwrap();
    engine.commits().unwrap().settings().set_sync_binlog(0);
    for sql in ["database", "table"] {
        let text = DdlText { sql: sql.to_owned(), ..DdlText::default() };
        let change = Planner.plan(&text, &engine.catalog()).unwrap();
        engine.execute_ddl(change, text, &TxnOptions::new(SessionHandle::internal())).await.unwrap();
    }
    let table = engine.catalog().table("d", "sbtest1").unwrap().clone();
    for first in (0..rows).step_by(1000) {
        let mut txn = engine.begin(TxnOptions::new(SessionHandle::internal()));
        for id in first..(first + 1000).min(rows) {
            txn.insert(&table, row(&table, id, id)).await.unwrap();
        }
        txn.commit().await.unwrap();
    }
    engine.checkpoint().await.unwrap();
    let start = Instant::now();
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|session| tokio::spawn(update(engine.clone(), table.clone(), session, transactions / SESSIONS, rows)))
        .collect();
    for session in sessions {
        session.await.unwrap();
    }
    println!("made {transactions} transactions, {:.0}/s", transactions as f64 / start.elapsed().as_secs_f64());
    engine.stop_commits().await.unwrap();
}

async fn update(engine: Arc<Engine>, table: Arc<Table>, session: u64, transactions: u64, rows: u64) {
    let mut random = session.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for n in 0..transactions {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let id = (random >> 33) % rows;
        let mut txn = engine.begin(TxnOptions::new(SessionHandle::internal()));
        let key = table.codec.clustered_key(&row(&table, id, 0)).unwrap();
        let old = txn.get(&table, &key, ReadMode::FOR_UPDATE).await.unwrap().unwrap();
        txn.update(&table, &old, row(&table, id, session << 20 | n)).await.unwrap();
        txn.commit().await.unwrap();
    }
}

fn copy_dir(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

async fn time_recovery(root: &Path, workers: usize, options: EngineOptions, what: &str) {
    let copy = root.with_extension("copy");
    copy_dir(root, &copy);
    let engine = open(&copy, options).await;
    let recovered = recover(&engine, ApplyOptions { workers, ..Default::default() }).await.unwrap();
    let seconds = recovered.duration.as_secs_f64();
    println!(
        "{workers} workers, {what}: {} transactions, {:.0} MB in {seconds:.2} s: {:.0} transactions/s, {:.0} MB/s",
        recovered.transactions,
        recovered.bytes as f64 / 1e6,
        recovered.transactions as f64 / seconds,
        recovered.bytes as f64 / 1e6 / seconds
    );
    drop(engine);
    std::fs::remove_dir_all(&copy).unwrap();
}

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let transactions = numbers.first().copied().unwrap_or(300_000);
    let rows = numbers.get(1).copied().unwrap_or(1_000_000);
    let dir = std::env::var("APPLY_BENCH_DIR").map_or_else(|_| std::env::temp_dir(), Into::into);
    let root = dir.join(format!("commuter-apply-bench-{}", std::process::id()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        make_log(&root, transactions, rows).await;
        for workers in [1, 2, 2, 1] {
            time_recovery(&root, workers, options(), "all in memory").await;
        }
        let small = EngineOptions { memtable_bytes: 32 << 20, ..options() };
        time_recovery(&root, 2, small, "32 MiB memtable").await;
    });
    std::fs::remove_dir_all(&root).unwrap();
}
