//! Recovery and following on simulated machines, with real engines.

mod contents;
mod follow;
mod images;
mod positions;
mod recovery;

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::SqlError;
use binlog::GtidChoice;
use bytes::Bytes;
use engine::commit::CommitSettings;
use engine::{
    Catalog, CatalogChange, Database, DdlPlanner, DdlText, Direction, Engine, EngineError, EngineOptions, KeyRange,
    ReadMode, SessionHandle, Table, TableName, Transaction, TxnOptions,
};
use event_listener::Event;
use io::Env;
use io::sim::SimMachine;
use types::{CollationId, ColumnDef, ColumnType, IndexDef, KeyPart, TableDef, Value};

use super::*;

/// Understands `database NAME`, `table JSON`, `truncate SCHEMA NAME` and `drop SCHEMA NAME`.
pub(super) struct TinyPlanner;

impl DdlPlanner for TinyPlanner {
    fn plan(&self, text: &DdlText, catalog: &Catalog) -> Result<CatalogChange, SqlError> {
        let (verb, rest) = text.sql.split_once(' ').ok_or_else(|| SqlError::unknown(&text.sql))?;
        let name = || rest.split_once(' ').map(|(schema, name)| TableName::new(schema, name));
        Ok(match verb {
            "database" => CatalogChange::CreateDatabase(Database {
                name: rest.to_owned(),
                collation: CollationId::UTF8MB4_0900_AI_CI,
            }),
            "table" => CatalogChange::CreateTable(Box::new(serde_json::from_str(rest).map_err(SqlError::unknown)?)),
            "truncate" => CatalogChange::Truncate(name().ok_or_else(|| SqlError::unknown(rest))?),
            "drop" => CatalogChange::DropTables(name().into_iter().collect()),
            _ => return Err(SqlError::unknown(format!("{} tables; {}", catalog.tables("d").count(), text.sql))),
        })
    }
}

pub(super) fn options() -> EngineOptions {
    let log = binlog::LogOptions { fill_ahead: 64 << 10, ..Default::default() };
    EngineOptions {
        memtable_bytes: 64 << 10,
        max_binlog_bytes: 64 << 10,
        page_cache_bytes: 1 << 20,
        log,
        ..Default::default()
    }
}

/// Opens an engine and brings it to the end of its log.
pub(super) async fn open(env: Env, options: EngineOptions) -> Result<(Arc<Engine>, Recovered), SqlError> {
    let engine = Engine::open(env, options, Arc::new(TinyPlanner)).await.map_err(SqlError::from)?;
    let recovered = recover(&engine, ApplyOptions::default()).await.map_err(SqlError::from)?;
    Ok((engine, recovered))
}

/// The same for a source, which takes commits then.
pub(super) async fn open_source(env: Env) -> Result<(Arc<Engine>, Recovered), SqlError> {
    let (engine, recovered) = open(env, options()).await?;
    engine.start_commits(CommitSettings::default()).map_err(SqlError::from)?;
    Ok((engine, recovered))
}

pub(super) async fn ddl(engine: &Arc<Engine>, sql: &str) -> Result<(), EngineError> {
    let text = DdlText { sql: sql.to_owned(), ..DdlText::default() };
    let change = TinyPlanner.plan(&text, &engine.catalog()).unwrap();
    engine.execute_ddl(change, text, &TxnOptions::new(SessionHandle::internal())).await.map(drop)
}

/// `d.NAME (id BIGINT PRIMARY KEY, n BIGINT, note VARCHAR(300), KEY (n))`
pub(super) fn table_sql(name: &str) -> String {
    let columns = vec![
        ColumnDef::new("id", ColumnType::BigInt { unsigned: false }).not_null(),
        ColumnDef::new("n", ColumnType::BigInt { unsigned: false }),
        ColumnDef::new("note", ColumnType::VarChar { chars: 300 }),
    ];
    let index = |name: &str, column, unique| IndexDef {
        id: Default::default(),
        name: name.to_owned(),
        parts: vec![KeyPart::column(column)],
        unique,
        comment: String::new(),
        visible: true,
        generated: false,
    };
    let def = TableDef {
        id: Default::default(),
        schema: "d".to_owned(),
        name: name.to_owned(),
        columns,
        indexes: vec![index("PRIMARY", 0, true), index("n", 1, false)],
        collation: CollationId::UTF8MB4_0900_AI_CI,
        comment: String::new(),
        generated_pk: false,
        engine_name: "InnoDB".to_owned(),
        foreign_keys: Vec::new(),
        auto_increment_start: 1,
        create_time: 0,
        options: Vec::new(),
    };
    format!("table {}", serde_json::to_string(&def).unwrap())
}

pub(super) fn table(engine: &Arc<Engine>, name: &str) -> Arc<Table> {
    engine.catalog().table("d", name).unwrap().clone()
}

pub(super) fn row(table: &Table, id: i64, n: i64, note: &str) -> Bytes {
    let note = Value::Str(Bytes::copy_from_slice(note.as_bytes()));
    types::RowLayout::new(&table.def).encode(&[Value::Int(id), Value::Int(n), note]).unwrap()
}

pub(super) fn id_and_n(table: &Table, row: &Bytes) -> (i64, i64) {
    let layout = types::RowLayout::new(&table.def);
    match (layout.decode_column(row, 0), layout.decode_column(row, 1)) {
        (Ok(Value::Int(id)), Ok(Value::Int(n))) => (id, n),
        other => panic!("{other:?}"),
    }
}

pub(super) fn key(table: &Table, id: i64) -> Bytes {
    table.codec.clustered_key(&row(table, id, 0, "")).unwrap()
}

pub(super) fn begin(engine: &Arc<Engine>) -> Transaction {
    engine.begin(TxnOptions::new(SessionHandle::internal()))
}

/// All entries of an index, as one snapshot sees them.
pub(super) async fn entries(txn: &mut Transaction, table: &Arc<Table>, index: usize) -> Vec<(Bytes, Bytes)> {
    let range = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded };
    let mut scan = txn.scan(table, index, range, Direction::Forward, ReadMode::Consistent);
    let mut all = Vec::new();
    while txn.next_batch(&mut scan, &mut all, 100).await.unwrap() {}
    all.into_iter().map(|entry| (Bytes::copy_from_slice(&entry.key), entry.value)).collect()
}

/// A counter in row 0 of `counter`, and for each value that it had a row in `marks`: in every snapshot there are as many
/// marks as the counter says, and the index on `n` agrees with the rows. The number of marks.
pub(super) async fn check(engine: &Arc<Engine>) -> i64 {
    let (counter, marks) = (table(engine, "counter"), table(engine, "marks"));
    let mut txn = begin(engine);
    let count = match txn.get(&counter, &key(&counter, 0), ReadMode::Consistent).await.unwrap() {
        Some(row) => id_and_n(&counter, &row).1,
        None => 0,
    };
    let rows = entries(&mut txn, &marks, 0).await;
    let mut seen: Vec<i64> = rows.iter().map(|(_, row)| id_and_n(&marks, row).1).collect();
    seen.sort_unstable();
    assert_eq!(seen, (1..=count).collect::<Vec<_>>(), "the marks are not those that were counted");
    for (at, (clustered, secondary)) in [(&marks, 1), (&counter, 1)].into_iter().enumerate() {
        let mut expected: Vec<Bytes> = Vec::new();
        for (_, row) in entries(&mut txn, clustered, 0).await {
            expected.push(clustered.codec.secondary_entry(secondary, &row).unwrap().0);
        }
        expected.sort();
        let found: Vec<Bytes> = entries(&mut txn, clustered, secondary).await.into_iter().map(|(key, _)| key).collect();
        assert_eq!(found, expected, "index of table {at}");
    }
    count
}

/// Counts one up and leaves a mark under `id`. The GTID of some has a tag.
pub(super) async fn count_up(engine: &Arc<Engine>, id: i64, note: &str) -> Result<i64, EngineError> {
    let options = TxnOptions { gtid: gtid_of(id), ..TxnOptions::new(SessionHandle::internal()) };
    count_up_in(engine.begin(options), engine, id, note).await
}

/// Numbers under no tag or one of two.
pub(super) fn gtid_of(id: i64) -> GtidChoice {
    GtidChoice::Automatic(["", "blue", "red", "", ""][id as usize % 5].parse().unwrap())
}

pub(super) async fn count_up_in(
    mut txn: Transaction,
    engine: &Arc<Engine>,
    id: i64,
    note: &str,
) -> Result<i64, EngineError> {
    let (counter, marks) = (table(engine, "counter"), table(engine, "marks"));
    let old = txn.get(&counter, &key(&counter, 0), ReadMode::FOR_UPDATE).await?;
    let n = match &old {
        Some(old) => {
            let n = id_and_n(&counter, old).1 + 1;
            txn.update(&counter, old, row(&counter, 0, n, note)).await?;
            n
        }
        None => {
            txn.insert(&counter, row(&counter, 0, 1, note)).await?;
            1
        }
    };
    txn.insert(&marks, row(&marks, id, n, note)).await?;
    txn.commit().await?;
    Ok(n)
}

/// Runs tasks and waits for all of them.
pub(super) async fn sessions<F: Future<Output = ()> + Send + 'static>(
    env: &Env,
    sessions: usize,
    mut session: impl FnMut(usize) -> F,
) {
    let left = Arc::new((AtomicUsize::new(sessions), Event::new()));
    for number in 0..sessions {
        let (task, left) = (session(number), left.clone());
        let task = async move {
            task.await;
            left.0.fetch_sub(1, Ordering::SeqCst);
            left.1.notify(usize::MAX);
        };
        env.spawner.spawn("session", Box::pin(task));
    }
    loop {
        let done = left.1.listen();
        if left.0.load(Ordering::SeqCst) == 0 {
            return;
        }
        done.await;
    }
}

pub(super) async fn make_tables(engine: &Arc<Engine>) -> Result<(), EngineError> {
    if engine.catalog().database("d").is_none() {
        ddl(engine, "database d").await?;
    }
    for name in ["counter", "marks"] {
        if engine.catalog().table("d", name).is_none() {
            ddl(engine, &table_sql(name)).await?;
        }
    }
    Ok(())
}

pub(super) fn machine(seed: u64) -> SimMachine {
    SimMachine::new(seed)
}
