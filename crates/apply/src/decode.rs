//! From a transaction's events to changes of rows.

use std::ops::Range;
use std::sync::Arc;

use base::{CommitNumber, LogPosition, Uuid};
use binlog::event::{QueryEvent, RowsEvent, RowsKind, TableMap, TransactionMaps, XaStatement};
use binlog::{EventIter, EventType, GtidEvent, LogTransaction, RawEvent, SourcePosition};
use bytes::Bytes;
use engine::{Catalog, Engine, RowChange, Table};

use crate::error::{ApplyError, Result};

/// A table as the log describes it, and the one that it is here.
pub(crate) struct MappedTable {
    pub(crate) map: TableMap,
    pub(crate) table: Arc<Table>,
}

/// A rows event, and its table.
pub(crate) type TableRows<'a> = (RowsEvent<'a>, Arc<MappedTable>);

/// Decodes transactions; remembers tables from one to the next.
pub(crate) struct Decoder {
    server_uuid: Uuid,
    catalog: Option<Arc<Catalog>>,
    /// Only a transaction's own maps count, whatever this decoder has seen before: others would see something else.
    tables: TransactionMaps<Arc<MappedTable>>,
    /// Where the transaction that was decoded last ends in the log of its source.
    source_position: Option<SourcePosition>,
}

impl Decoder {
    /// For a server: local transactions of others have no rows for it.
    pub(crate) fn new(server_uuid: Uuid) -> Self {
        Decoder { server_uuid, catalog: None, tables: TransactionMaps::default(), source_position: None }
    }

    /// What is decoded from here on is of this catalog.
    pub(crate) fn set_catalog(&mut self, catalog: &Arc<Catalog>) {
        if self.catalog.as_ref().is_none_or(|known| !Arc::ptr_eq(known, catalog)) {
            self.catalog = Some(catalog.clone());
            self.tables.clear();
        }
    }

    /// The rows events of a transaction that begins at `at`, checked, with their tables.
    pub(crate) fn rows_of<'a>(
        &mut self,
        at: LogPosition,
        events: EventIter<'a>,
        rows: &mut Vec<TableRows<'a>>,
    ) -> Result<()> {
        let bad = |reason: binlog::DecodeError| ApplyError::Event { at, reason: reason.to_string() };
        self.source_position = None;
        for event in events {
            let event = event.map_err(bad)?;
            event.verify().map_err(bad)?;
            if event.header.event_type.is_gtid() {
                self.tables.begin_transaction();
            }
            match event.header.event_type {
                EventType::TABLE_MAP => self.map_table(&event, at)?,
                EventType::QUERY => {
                    let query = QueryEvent::decode(event.body()).map_err(bad)?;
                    let is_xa = XaStatement::of(query.sql).map_err(bad)?.is_some();
                    if !query.begins_transaction() && !query.ends_transaction() && !is_xa {
                        let what = format!("the statement '{}'", excerpt(query.sql));
                        return Err(ApplyError::NotSupported { at, what });
                    }
                }
                kind if RowsKind::of(kind).is_some() => {
                    let event = RowsEvent::decode(kind, event.body()).map_err(bad)?;
                    rows.push((event, self.tables.get(event.table_id).map_err(bad)?.clone()));
                }
                EventType::ANONYMOUS_GTID => {
                    let head = GtidEvent::decode(EventType::ANONYMOUS_GTID, event.body()).map_err(bad)?;
                    if head.is_local_elsewhere(self.server_uuid) {
                        return Ok(());
                    }
                }
                EventType::GTID
                | EventType::GTID_TAGGED
                | EventType::ROWS_QUERY
                | EventType::XID
                | EventType::XA_PREPARE => {}
                EventType::IGNORABLE => self.source_position = SourcePosition::decode(event.body()).map_err(bad)?,
                other => {
                    return Err(ApplyError::NotSupported { at, what: format!("an event of type {}", other.name()) });
                }
            }
        }
        Ok(())
    }

    /// Remembers, with the transaction that was decoded last, where it ends in the log of its source.
    pub(crate) fn keep_source_position(&mut self, engine: &Engine, number: CommitNumber) {
        if let Some(position) = self.source_position.take() {
            engine.install_source_position(number, position);
        }
    }

    /// The rows that were decoded last are of a transaction that ends elsewhere.
    pub(crate) fn forget_source_position(&mut self) {
        self.source_position = None;
    }

    fn map_table(&mut self, event: &RawEvent<'_>, at: LogPosition) -> Result<()> {
        let body = event.body();
        let bad = |reason: binlog::DecodeError| ApplyError::Event { at, reason: reason.to_string() };
        if self.tables.is_known(body).map_err(bad)? {
            return Ok(());
        }
        let map = TableMap::decode(body).map_err(bad)?;
        let table = self.catalog.as_ref().and_then(|catalog| catalog.table(&map.schema, &map.table)).cloned();
        let Some(table) = table else {
            let reason = format!("there is no table '{}.{}'", map.schema, map.table);
            return Err(ApplyError::Drifted { at, reason });
        };
        check_shape(&map, &table, at)?;
        self.tables.insert(map.table_id, body, Arc::new(MappedTable { map, table }));
        Ok(())
    }
}

/// The images in the log must be rows of the table as it is here.
fn check_shape(map: &TableMap, table: &Table, at: LogPosition) -> Result<()> {
    let own = table.encoder.map();
    let same = map.columns.len() == own.columns.len()
        && map.columns.iter().zip(&own.columns).all(|(a, b)| (a.type_code, a.meta) == (b.type_code, b.meta));
    if same {
        return Ok(());
    }
    let reason = format!("table '{}' has other columns in the log than here", table.full_name());
    Err(ApplyError::Drifted { at, reason })
}

/// The beginning of a statement, for messages.
pub(crate) fn excerpt(sql: &[u8]) -> String {
    const CHARS: usize = 120;
    String::from_utf8_lossy(sql).chars().take(CHARS).collect()
}

/// Changes on their way to the engine, of several transactions or of a part of one.
///
/// Images before are slices of the log's buffer, needed until the keys are made. Images after stay in memtables: they
/// are copied together, so that a memtable does not keep the log's buffers, headers and old images alive.
#[derive(Default)]
pub(crate) struct Staging {
    arena: Vec<u8>,
    /// Bytes of images before.
    before_bytes: usize,
    changes: Vec<StagedChange>,
    parts: Vec<Part>,
}

struct StagedChange {
    table: Arc<Table>,
    before: Option<Bytes>,
    after: Option<Range<usize>>,
}

/// The changes of one transaction, up to `end` in the list.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) number: CommitNumber,
    pub(crate) at: LogPosition,
    end: usize,
    /// No more of the transaction follows.
    pub(crate) is_last: bool,
}

/// So many bytes of images are installed together.
const ARENA_BYTES_MAX: usize = 256 << 10;

impl Staging {
    /// Adds the rows of an event whose images are whole.
    pub(crate) fn add(&mut self, (event, mapped): &TableRows<'_>, transaction: &LogTransaction) -> Result<()> {
        for images in event.images(&mapped.map) {
            let (before, after) =
                images.map_err(|reason| ApplyError::Event { at: transaction.start, reason: reason.to_string() })?;
            let before = (event.kind != RowsKind::Write).then(|| transaction.bytes.slice_ref(before));
            self.before_bytes += before.as_ref().map_or(0, Bytes::len);
            let after = (event.kind != RowsKind::Delete).then(|| {
                let start = self.arena.len();
                self.arena.extend_from_slice(after);
                start..self.arena.len()
            });
            self.changes.push(StagedChange { table: mapped.table.clone(), before, after });
        }
        Ok(())
    }

    /// Ends a transaction, or a part of it.
    pub(crate) fn end_part(&mut self, number: CommitNumber, at: LogPosition, is_last: bool) {
        self.parts.push(Part { number, at, end: self.changes.len(), is_last });
    }

    pub(crate) fn is_large(&self) -> bool {
        self.arena.len() + self.before_bytes >= ARENA_BYTES_MAX
    }

    /// Takes what is staged: parts, each with its changes.
    pub(crate) fn take(&mut self) -> Staged {
        let arena = Bytes::from(std::mem::take(&mut self.arena));
        self.arena = Vec::with_capacity(arena.len());
        self.before_bytes = 0;
        let changes = self.changes.drain(..).map(|change| RowChange {
            after: change.after.map(|range| arena.slice(range)),
            before: change.before,
            table: change.table,
        });
        Staged { changes: changes.collect(), parts: std::mem::take(&mut self.parts) }
    }
}

/// Changes ready to be installed.
pub(crate) struct Staged {
    changes: Vec<RowChange>,
    parts: Vec<Part>,
}

impl Staged {
    /// All of them.
    pub(crate) fn changes(&self) -> &[RowChange] {
        &self.changes
    }

    /// The parts with their changes.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Part, &[RowChange])> {
        let mut start = 0;
        self.parts.iter().map(move |part| {
            let changes = &self.changes[start..part.end];
            start = part.end;
            (*part, changes)
        })
    }
}
