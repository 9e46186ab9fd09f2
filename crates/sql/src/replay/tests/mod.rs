//! Rows events of sources whose tables are defined as here, and in other ways.
//!
//! A source's table is made in the database `s` of the same server, filled with SQL, and told as if it were in `d`: its rows
//! are images that a source would write.

mod conversions;
mod finding;
mod rows;
mod statements;

use std::sync::Arc;

use base::{ConnectionId, SqlError};
use binlog::event::{ChecksumAlgorithm, RowsEvent, RowsKind, RowsVersion, TableMap, rows_flags};
use binlog::{EncoderOptions, EventIter, EventType, QueryContext, RowImage, TableEncoder, TransactionEncoder};
use bytes::Bytes;
use engine::{Direction, KeyRange, ReadMode, SessionHandle, TxnOptions};
use types::{TableCodec, TableDef};

use crate::replay::RowDifferences;
use crate::session::{Applier, Session, Shared};
use crate::testing::{run, session, with_server};

/// A server with the databases of source and replica.
struct World {
    shared: Arc<Shared>,
    /// The replica's applier.
    applier: Applier,
    sql: Session,
    /// What was not as events said: rows, and the column of the first.
    differences: Vec<(u64, String)>,
}

/// A source's table as it is told to the replica, with its rows.
struct Source {
    def: TableDef,
    rows: Vec<Bytes>,
}

/// Runs a test.
fn replay<F: Future<Output = ()>>(test: impl FnOnce(World) -> F) {
    with_server(|shared| async move {
        let mut sql = session(&shared, "root");
        for statement in ["CREATE DATABASE s", "CREATE DATABASE d"] {
            run(&mut sql, statement).await;
        }
        let handle = Arc::new(SessionHandle { connection_id: ConnectionId(2), ..SessionHandle::default() });
        let applier = Applier::new(shared.clone(), handle, Default::default());
        test(World { shared, applier, sql, differences: Vec::new() }).await;
    });
}

impl World {
    /// Runs statements in the database `d`; all succeed.
    async fn sql(&mut self, statements: &[&str]) {
        for statement in statements {
            let told = run(&mut self.sql, statement).await;
            assert!(!told.starts_with("ERROR"), "{statement}: {told}");
        }
    }

    /// What a query gives, a line for each row.
    async fn query(&mut self, query: &str) -> Vec<String> {
        let told = run(&mut self.sql, query).await;
        told.lines().skip(1).filter(|line| *line != "(no rows)").map(str::to_owned).collect()
    }

    /// Makes `s.t` with these columns and keys, and fills it.
    async fn source(&mut self, columns: &str, values: &str) -> Source {
        let mut statements = vec!["DROP TABLE IF EXISTS s.t".to_string(), format!("CREATE TABLE s.t ({columns})")];
        if !values.is_empty() {
            statements.push(format!("INSERT INTO s.t VALUES {values}"));
        }
        for statement in &statements {
            self.sql(&[statement]).await;
        }
        self.source_now().await
    }

    /// `s.t` as it is now.
    async fn source_now(&mut self) -> Source {
        let catalog = self.shared.engine.catalog();
        let table = catalog.table("s", "t").expect("the source's table").clone();
        let mut reader = self.shared.engine.begin(TxnOptions::new(SessionHandle::internal()));
        let mut scan = reader.scan(&table, 0, KeyRange::all(), Direction::Forward, ReadMode::Consistent);
        let (mut entries, mut rows) = (Vec::new(), Vec::new());
        while reader.next_batch(&mut scan, &mut entries, 1000).await.expect("rows") {
            rows.extend(entries.drain(..).map(|entry| entry.value));
        }
        let mut def = (*table.def).clone();
        def.schema = "d".to_string();
        Source { def, rows }
    }

    /// Applies events as the replica does, and commits.
    async fn apply(&mut self, events: &[u8]) -> Result<(), SqlError> {
        self.apply_open(events).await?;
        self.applier.commit().await
    }

    /// Applies events without the commit.
    async fn apply_open(&mut self, events: &[u8]) -> Result<(), SqlError> {
        let differences = apply_to(&mut self.applier, events).await?;
        self.differences.extend(differences.into_iter().map(|found| (found.rows, found.column)));
        Ok(())
    }

    async fn set(&mut self, setting: &str, value: &str) {
        self.sql(&[&format!("SET GLOBAL {setting} = '{value}'")]).await;
    }
}

async fn apply_to(applier: &mut Session, events: &[u8]) -> Result<Vec<RowDifferences>, SqlError> {
    let (mut map, mut differences) = (Arc::<TableMap>::default(), Vec::new());
    for event in EventIter::new(events, ChecksumAlgorithm::Crc32) {
        let event = event.expect("an event");
        match event.header.event_type {
            EventType::TABLE_MAP => map = Arc::new(TableMap::decode(event.body()).expect("a TABLE_MAP")),
            kind if RowsKind::of(kind).is_some() => {
                let rows = RowsEvent::decode(kind, event.body()).expect("rows");
                differences.extend(applier.apply_rows(&map, &rows).await?);
            }
            _ => {}
        }
    }
    Ok(differences)
}

impl Source {
    /// As a MySQL or MariaDB has the table, which makes no key of its own: without `my_row_id`.
    fn without_generated_key(mut self) -> Self {
        assert!(self.def.generated_pk);
        let codec = TableCodec::new(Arc::new(self.def.clone()));
        self.def.columns.remove(0);
        self.def.generated_pk = false;
        self.def.indexes.truncate(1);
        self.def.indexes[0].parts.clear();
        let layout = types::RowLayout::new(&self.def);
        for row in &mut self.rows {
            let mut values = Vec::new();
            codec.row.decode(row, &mut values).expect("values");
            *row = layout.encode(&values[1..]).expect("a row");
        }
        self
    }

    fn encode(
        &self,
        options: EncoderOptions,
        put: impl FnOnce(&mut TransactionEncoder, &Arc<TableEncoder>),
    ) -> Vec<u8> {
        let table = Arc::new(TableEncoder::new(&self.def));
        let mut encoder = TransactionEncoder::begin(options, QueryContext::default());
        put(&mut encoder, &table);
        encoder.finish().expect("events").events
    }

    /// Its rows as new ones.
    fn inserts(&self) -> Vec<u8> {
        self.inserts_flagged(0)
    }

    fn inserts_flagged(&self, flags: u16) -> Vec<u8> {
        self.encode(large(flags), |encoder, table| {
            self.rows.iter().for_each(|row| encoder.insert(table, row).expect("an insert"));
        })
    }

    /// Its rows go.
    fn deletes(&self, image: RowImage) -> Vec<u8> {
        let options = EncoderOptions { row_image: image, ..large(0) };
        self.encode(options, |encoder, table| {
            self.rows.iter().for_each(|row| encoder.delete(table, row).expect("a delete"));
        })
    }

    /// Its rows become those of another state of it.
    fn updates(&self, to: &Source, image: RowImage) -> Vec<u8> {
        let options = EncoderOptions { row_image: image, ..large(0) };
        self.encode(options, |encoder, table| {
            let changes = self.rows.iter().zip(&to.rows);
            changes.for_each(|(old, new)| encoder.update(table, old, new).expect("an update"));
        })
    }
}

/// All rows of a test go into one event.
fn large(flags: u16) -> EncoderOptions {
    EncoderOptions { row_event_max_size: 1 << 24, flags, ..EncoderOptions::default() }
}

/// An event with these images, of all columns of a map.
fn raw_event<'a>(map: &TableMap, kind: RowsKind, all: &'a [u8], rows: &'a [u8]) -> RowsEvent<'a> {
    let column_count = map.columns.len();
    let (present, present_after) = (all, all);
    RowsEvent {
        kind,
        version: RowsVersion::V1,
        table_id: map.table_id,
        flags: rows_flags::STATEMENT_END,
        extra: &[],
        column_count,
        present,
        present_after,
        rows,
    }
}
