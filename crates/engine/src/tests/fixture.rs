//! A machine with an engine on it, a table, and the smallest possible recovery: one transaction after the other.

use std::sync::Arc;

use base::{CommitNumber, SqlError};
use binlog::event::{QueryEvent, RowsEvent, TableMap};
use binlog::{EventType, LogOptions, LogReader, Next, RawEvent};
use bytes::Bytes;
use io::Env;
use io::sim::SimMachine;
use types::{CollationId, ColumnDef, ColumnType, IndexDef, KeyPart, TableDef, Value};

use crate::catalog::{AlterTable, CatalogChange, Database, DdlPlanner, DdlText, RowMap, TableName};
use crate::error::Result;
use crate::{
    Catalog, CommitSettings, Direction, Engine, EngineOptions, KeyRange, PublishPoint, ReadMode, RowChange,
    SessionHandle, Table, TableMode, Transaction, TxnOptions,
};

/// DDL of the tests: words instead of SQL.
pub(super) struct Words;

impl DdlPlanner for Words {
    fn plan(&self, text: &DdlText, catalog: &Catalog) -> Result<CatalogChange, SqlError> {
        change_of(&text.sql, catalog)
    }
}

/// `create database`, `create NAME`, `create blobs`, `drop NAME`, `truncate NAME`, `rename NAME NAME`, `add index NAME`, `drop index NAME`,
/// `add unique NAME`, `widen NAME`, `compress NAME lz4`, `analyze NAME`, `histogram NAME COLUMN TEXT`.
pub(crate) fn change_of(sql: &str, catalog: &Catalog) -> Result<CatalogChange, SqlError> {
    let words: Vec<&str> = sql.split(' ').collect();
    let name = |name: &str| TableName::new("test", name);
    let table =
        |name: &str| catalog.table("test", name).cloned().ok_or_else(|| SqlError::unknown(format!("no table {name}")));
    let alter = |old: &str, change: &dyn Fn(&mut TableDef)| {
        let table = table(old)?;
        let mut new_def = TableDef::clone(&table.def);
        change(&mut new_def);
        Ok(CatalogChange::AlterTable(Box::new(AlterTable {
            table,
            new_def,
            row_mapper: None,
            read_by: 0,
            renamed_columns: Vec::new(),
            checked_keys: Vec::new(),
            counter: None,
        })))
    };
    match words[..] {
        ["create", "database"] => {
            Ok(CatalogChange::CreateDatabase(Database { name: "test".into(), collation: CollationId::DEFAULT }))
        }
        ["create", "blobs"] => Ok(CatalogChange::CreateTable(Box::new(blob_table()))),
        ["create", new] => Ok(CatalogChange::CreateTable(Box::new(table_def(new)))),
        ["drop", old] => Ok(CatalogChange::DropTables(vec![name(old)])),
        ["truncate", old] => Ok(CatalogChange::Truncate(name(old))),
        ["rename", from, to] => Ok(CatalogChange::RenameTables(vec![(name(from), name(to))])),
        ["add", "index", old] => alter(old, &|def| def.indexes.push(index("extra", vec![1, 2], false))),
        ["add", "unique", old] => alter(old, &|def| def.indexes.push(index("unique_k", vec![1], true))),
        ["drop", "index", old] => alter(old, &|def| def.indexes.truncate(3)),
        ["analyze", old] => Ok(CatalogChange::Analyze(vec![name(old)])),
        ["histogram", old, column, text] => {
            Ok(CatalogChange::Histograms(name(old), vec![(column.into(), Some(text.into()))]))
        }
        ["widen", old] => widen(table(old)?),
        ["compress", old, how] => alter(old, &|def| def.options = vec![("COMPRESSION".into(), format!("'{how}'"))]),
        _ => Err(SqlError::unknown(format!("what is '{sql}'?"))),
    }
}

/// Adds a column that holds the sum of `id` and `k`.
fn widen(table: Arc<Table>) -> Result<CatalogChange, SqlError> {
    let mut new_def = TableDef::clone(&table.def);
    new_def.columns.push(ColumnDef::new("sum", ColumnType::BigInt { unsigned: false }));
    let new_layout = types::RowLayout::new(&new_def);
    let old = table.clone();
    let map = move |row: &Bytes| {
        let mut values = Vec::new();
        old.codec.row.decode(row, &mut values)?;
        let number = |value: &Value| if let Value::Int(n) = value { *n } else { 0 };
        values.push(Value::Int(number(&values[0]) + number(&values[1])));
        Ok(new_layout.encode(&values)?)
    };
    let map = Arc::new(map);
    let begin = move || -> RowMap {
        let map = map.clone();
        Box::new(move |row: &Bytes| map(row))
    };
    let alter = AlterTable {
        table,
        new_def,
        row_mapper: Some(Arc::new(begin)),
        read_by: 0,
        renamed_columns: Vec::new(),
        checked_keys: Vec::new(),
        counter: None,
    };
    Ok(CatalogChange::AlterTable(Box::new(alter)))
}

fn index(name: &str, columns: Vec<usize>, unique: bool) -> IndexDef {
    IndexDef {
        id: Default::default(),
        name: name.into(),
        parts: columns.into_iter().map(KeyPart::column).collect(),
        unique,
        comment: String::new(),
        visible: true,
        generated: false,
    }
}

/// `(id INT PRIMARY KEY AUTO_INCREMENT, k INT, u INT, KEY (k), UNIQUE (u))`
pub(crate) fn table_def(name: &str) -> TableDef {
    let int = || ColumnType::Int { unsigned: false };
    let mut id = ColumnDef::new("id", int()).not_null();
    id.auto_increment = true;
    TableDef {
        id: Default::default(),
        schema: "test".into(),
        name: name.into(),
        columns: vec![id, ColumnDef::new("k", int()), ColumnDef::new("u", int())],
        indexes: vec![index("PRIMARY", vec![0], true), index("k", vec![1], false), index("u", vec![2], true)],
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

/// `blobs (id INT PRIMARY KEY AUTO_INCREMENT, k INT, data LONGBLOB)`
fn blob_table() -> TableDef {
    let mut def = table_def("blobs");
    def.columns[2] = ColumnDef::new("data", ColumnType::Blob { size: types::BlobSize::Long });
    def.indexes.truncate(1);
    def
}

/// Compresses table `t` in a way that depends on a seed; what was written before stays as it is.
pub(crate) async fn compress(engine: &Arc<Engine>, seed: u64) -> Result<()> {
    ddl(engine, ["compress t none", "compress t lz4", "compress t zstd"][seed as usize % 3]).await
}

pub(crate) fn options() -> EngineOptions {
    let log = LogOptions { fill_ahead: 64 << 10, ..LogOptions::default() };
    EngineOptions { page_cache_bytes: 4 << 20, max_binlog_bytes: 64 << 10, log, ..EngineOptions::default() }
}

/// Opens, recovers, lets sessions write; makes the database and table `t` at the first time.
pub(crate) async fn open(env: Env, options: EngineOptions) -> Result<Arc<Engine>> {
    let engine = Engine::open(env, options, Arc::new(Words)).await?;
    recover(&engine).await?;
    engine.start_commits(CommitSettings::default())?;
    // A crash may have come between the two.
    if engine.catalog().database("test").is_none() {
        ddl(&engine, "create database").await?;
    }
    if engine.catalog().table("test", "t").is_none() {
        ddl(&engine, "create t").await?;
    }
    Ok(engine)
}

/// Applies the log behind the checkpoint.
pub(crate) async fn recover(engine: &Engine) -> Result<()> {
    let (mut number, position) = engine.checkpoint_at_open();
    let mut reader = engine.log().reader(position);
    let memory = engine.options().install_memory_bytes as u64;
    while let Some(next) = reader.next_up_to(memory).await? {
        number = number.next();
        let (end, gtid) = match next {
            Next::Whole(transaction) => {
                apply(engine, number, &transaction).await?;
                (transaction.end, transaction.gtid())
            }
            Next::Large(head) => {
                apply_large(engine, number, &mut reader, head.end).await?;
                (head.end, head.gtid_event.gtid)
            }
        };
        engine.publish(&[PublishPoint { commit_number: number, end, gtid }]);
    }
    Ok(())
}

/// Event by event.
async fn apply_large(
    engine: &Engine,
    number: CommitNumber,
    reader: &mut LogReader,
    end: base::LogPosition,
) -> Result<()> {
    let mut install = engine.install_large(number);
    let mut map = None;
    while reader.position() < end {
        let event = reader.next_event().await?.unwrap();
        let raw = event.raw();
        if raw.header.event_type == EventType::QUERY && !QueryEvent::decode(raw.body()).unwrap().begins_transaction() {
            let sql = String::from_utf8_lossy(QueryEvent::decode(raw.body()).unwrap().sql).into_owned();
            return engine.install_ddl(number, &DdlText { sql, ..DdlText::default() }).await;
        }
        let mut changes = Vec::new();
        changes_of(engine, &raw, &mut map, &mut changes);
        install.add(&changes).await?;
    }
    install.finish().await
}

/// What an event changes.
fn changes_of(engine: &Engine, event: &RawEvent<'_>, map: &mut Option<TableMap>, changes: &mut Vec<RowChange>) {
    match event.header.event_type {
        EventType::TABLE_MAP => *map = Some(TableMap::decode(event.body()).unwrap()),
        EventType::WRITE_ROWS | EventType::UPDATE_ROWS | EventType::DELETE_ROWS => {
            let rows = RowsEvent::decode(event.header.event_type, event.body()).unwrap();
            let map = map.as_ref().unwrap();
            let table = engine.catalog().table(&map.schema, &map.table).unwrap().clone();
            for images in rows.images(map) {
                let (before, after) = images.unwrap();
                let image = |bytes: &[u8]| (!bytes.is_empty()).then(|| Bytes::copy_from_slice(bytes));
                changes.push(RowChange { table: table.clone(), before: image(before), after: image(after) });
            }
        }
        _ => {}
    }
}

pub(crate) async fn apply(engine: &Engine, number: CommitNumber, transaction: &binlog::LogTransaction) -> Result<()> {
    let mut map: Option<TableMap> = None;
    let mut changes = Vec::new();
    for event in transaction.events() {
        let event = event.unwrap();
        match event.header.event_type {
            EventType::QUERY => {
                let query = QueryEvent::decode(event.body()).unwrap();
                if !query.begins_transaction() {
                    let sql = String::from_utf8_lossy(query.sql).into_owned();
                    engine.install_ddl(number, &DdlText { sql, ..DdlText::default() }).await?;
                }
            }
            _ => changes_of(engine, &event, &mut map, &mut changes),
        }
    }
    engine.install(number, &changes).await
}

pub(crate) async fn ddl(engine: &Arc<Engine>, sql: &str) -> Result<()> {
    let change = change_of(sql, &engine.catalog())?;
    let text = DdlText { sql: sql.into(), ..DdlText::default() };
    engine.execute_ddl(change, text, &TxnOptions::new(SessionHandle::internal())).await?;
    Ok(())
}

pub(crate) fn begin(engine: &Arc<Engine>) -> Transaction {
    engine.begin(TxnOptions::new(SessionHandle::internal()))
}

/// One transaction: row `(id, id, id)` of table `t`.
pub(crate) async fn insert_one(engine: &Arc<Engine>, id: i64) -> Result<()> {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let mut transaction = begin(engine);
    transaction.lock_table(&table, TableMode::IntentExclusive).await?;
    transaction.insert(&table, row(&table, id, Some(id), Some(id))).await?;
    transaction.commit().await?;
    Ok(())
}

/// Entries of an index that a new transaction sees.
pub(crate) async fn count(engine: &Arc<Engine>, table: &Arc<Table>, index_number: usize) -> usize {
    try_count(engine, table, index_number).await.unwrap()
}

/// The same, or why it cannot see them.
pub(crate) async fn try_count(engine: &Arc<Engine>, table: &Arc<Table>, index_number: usize) -> Result<usize> {
    let mut transaction = begin(engine);
    let mut scan = transaction.scan(table, index_number, KeyRange::all(), Direction::Forward, ReadMode::Consistent);
    let mut entries = Vec::new();
    while transaction.next_batch(&mut scan, &mut entries, 500).await? {}
    Ok(entries.len())
}

/// The engine of a new world.
pub(crate) fn machine(seed: u64) -> SimMachine {
    SimMachine::new(seed)
}

pub(crate) fn row(table: &Table, id: i64, k: Option<i64>, u: Option<i64>) -> Bytes {
    let value = |n: Option<i64>| n.map_or(Value::Null, Value::Int);
    let mut values = vec![Value::Int(id), value(k), value(u)];
    values.resize(table.def.columns.len(), Value::Int(id + k.unwrap_or(0)));
    table.codec.row.encode(&values).unwrap()
}

/// `id:k:u`
pub(crate) fn show(table: &Table, row: &Bytes) -> String {
    let mut values = Vec::new();
    table.codec.row.decode(row, &mut values).unwrap();
    show_values(&values)
}

pub(crate) fn show_values(values: &[Value]) -> String {
    let show = |value: &Value| match value {
        Value::Int(n) => n.to_string(),
        Value::Null => "-".to_string(),
        other => format!("{other:?}"),
    };
    values.iter().map(show).collect::<Vec<_>>().join(":")
}

pub(crate) fn key(table: &Table, id: i64) -> Bytes {
    table.codec.prefix(0, &[Value::Int(id)]).unwrap()
}

/// Runs so many seeds, or those that the environment names.
pub(crate) fn with_seeds(count: u64, run: impl Fn(u64) + std::panic::RefUnwindSafe) {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(count);
    let first = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    for seed in first..first + seeds {
        if std::panic::catch_unwind(|| run(seed)).is_err() {
            panic!("SEED={seed} SEEDS=1 repeats it");
        }
    }
}
