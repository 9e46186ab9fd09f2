//! From events to transactions.

use std::sync::Arc;

use binlog::event::{
    EventBody, MariaGtid, PartialUpdateRows, PayloadLimits, QueryEvent, RowsEvent, RowsKind, TransactionPayload,
};
use binlog::{DecodeError, EventType, FormatDescription, GtidEvent, RawEvent};

use crate::facts::{Kind, MariaFacts, Transaction, TransactionName};
use crate::footprint::{self, Statement};
use crate::tables::{KnownTables, Mapped, TableKey, Tables};
use crate::top::Frequent;

/// Bytes that a compressed event may unfold to.
const INFLATED_MAX: usize = 1 << 30;
/// More rows than this are not told from one another: the transaction is taken for one that changes anything.
const KEYS_MAX: usize = 1 << 20;
/// How many rows are counted by key.
const ROWS_COUNTED: usize = 4096;

/// A row that was changed: its table's number, and its key.
#[derive(Clone, Debug)]
pub(crate) struct HotRow {
    pub(crate) mapped: Arc<Mapped>,
    /// Of each column of the key its length (u32) and its bytes as in the log.
    pub(crate) key: Vec<u8>,
}

impl HotRow {
    /// The values of the key.
    pub(crate) fn text(&self) -> String {
        let TableKey::Primary(columns) = &self.mapped.key else { return String::new() };
        let mut rest = self.key.as_slice();
        let mut values = Vec::new();
        for column in columns.iter().map(|&number| &self.mapped.map.columns[number]) {
            let Some((len, behind)) = rest.split_first_chunk::<4>() else { break };
            let Some((value, behind)) = behind.split_at_checked(u32::from_le_bytes(*len) as usize) else { break };
            rest = behind;
            values.push(binlog::dump::value_text(column, value).unwrap_or_else(|_| "?".to_owned()));
        }
        values.join(", ")
    }
}

/// Puts the events of log files together to transactions.
pub struct Collector {
    format: FormatDescription,
    pub(crate) tables: Tables,
    pub(crate) hot: Frequent<HotRow>,
    open: Option<Open>,
    file: u32,
    is_first: bool,
}

/// A transaction whose end was not seen yet.
struct Open {
    transaction: Transaction,
    /// BEGIN was seen: an event will end it.
    is_open: bool,
    begin: u32,
}

impl Collector {
    /// For logs of which the server knows these tables; none if nobody can be asked.
    pub fn new(known: KnownTables) -> Self {
        Collector {
            format: FormatDescription::new("", 0),
            tables: Tables::new(known),
            hot: Frequent::new(ROWS_COUNTED),
            open: None,
            file: 0,
            is_first: true,
        }
    }

    /// Another file begins. What has no end in the one before it is given up.
    pub fn next_file(&mut self, file: u32) {
        self.tables.next_file();
        (self.open, self.file, self.is_first) = (None, file, true);
    }

    /// How events are protected from here on.
    pub fn format(&self) -> &FormatDescription {
        &self.format
    }

    /// Whether a transaction has begun and has no end yet.
    pub fn is_inside(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the event at an offset of the file; gives the transaction that ends with it.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn event(&mut self, at: u64, event: &RawEvent<'_>) -> Result<Option<Transaction>, DecodeError> {
        let header = event.header;
        if header.event_type == EventType::TABLE_MAP {
            self.count_bytes(event);
            return self.map(event).map(|()| None);
        }
        let body = EventBody::decode(event, &self.format)?;
        match &body {
            EventBody::FormatDescription(format) => {
                self.format = format.clone();
                return Ok(None);
            }
            EventBody::Gtid(gtid) => {
                self.begin_mysql(at, header.timestamp, gtid);
                self.count_bytes(event);
                return Ok(None);
            }
            EventBody::MariaGtid(gtid) => {
                self.begin_maria(at, header.timestamp, header.server_id, gtid);
                self.count_bytes(event);
                return Ok(None);
            }
            EventBody::Query(_) | EventBody::MariaCompressedQuery(_) if self.open.is_none() => {
                // A log without GTID events.
                self.begin(at, header.timestamp, TransactionName::Anonymous);
            }
            _ => {}
        }
        self.count_bytes(event);
        let ends = self.execute(&body, header.timestamp)?;
        Ok(if ends { self.end(header.timestamp) } else { None })
    }

    fn begin(&mut self, at: u64, timestamp: u32, name: TransactionName) -> &mut Open {
        let starts_file = std::mem::take(&mut self.is_first);
        let transaction =
            Transaction { name, file: self.file, offset: at, timestamp, starts_file, ..Transaction::default() };
        self.open.insert(Open { transaction, is_open: false, begin: timestamp })
    }

    fn begin_mysql(&mut self, at: u64, timestamp: u32, gtid: &GtidEvent) {
        let interval =
            (gtid.sequence_number > 0).then_some((gtid.last_committed.max(0) as u64, gtid.sequence_number as u64));
        let name = gtid.gtid.map_or(TransactionName::Anonymous, TransactionName::Gtid);
        self.begin(at, timestamp, name).transaction.interval = interval;
    }

    fn begin_maria(&mut self, at: u64, timestamp: u32, server_id: u32, gtid: &MariaGtid) {
        let open = self.begin(at, timestamp, TransactionName::Maria(gtid.name(server_id)));
        open.is_open = !gtid.is_standalone();
        open.transaction.maria =
            Some(MariaFacts { domain_id: gtid.domain_id, commit_id: gtid.commit_id, flags: gtid.flags });
    }

    fn count_bytes(&mut self, event: &RawEvent<'_>) {
        if let Some(open) = &mut self.open {
            open.transaction.bytes += u64::from(event.header.event_length);
        }
    }

    fn end(&mut self, timestamp: u32) -> Option<Transaction> {
        let open = self.open.take()?;
        let mut transaction = open.transaction;
        transaction.seconds = timestamp.saturating_sub(open.begin);
        transaction.schemas.sort_unstable();
        transaction.schemas.dedup();
        Some(transaction)
    }

    fn map(&mut self, event: &RawEvent<'_>) -> Result<(), DecodeError> {
        let body = event.body();
        let id = body.get(..6).ok_or_else(|| DecodeError("TABLE_MAP: too short".to_owned()))?;
        let id = id.iter().rev().fold(0, |id, &byte| id << 8 | u64::from(byte));
        self.tables.take(id, body, self.format.dialect())
    }

    /// Whether the transaction ends with it.
    fn execute(&mut self, body: &EventBody<'_>, timestamp: u32) -> Result<bool, DecodeError> {
        match body {
            EventBody::Query(query) => Ok(self.query(query, query.sql, timestamp)),
            EventBody::MariaCompressedQuery(query) => {
                let sql = query.sql(INFLATED_MAX)?;
                Ok(self.query(&query.head, &sql, timestamp))
            }
            EventBody::Rows(rows) => self.rows(rows).map(|()| false),
            EventBody::MariaCompressedRows(rows) => {
                let bytes = rows.rows(INFLATED_MAX)?;
                self.rows(&rows.with_rows(&bytes)).map(|()| false)
            }
            EventBody::PartialUpdateRows(rows) => self.partial_rows(rows).map(|()| false),
            EventBody::TransactionPayload(payload) => self.unpack(payload),
            EventBody::ExecuteLoadQuery(_) => {
                self.changes_anything();
                Ok(self.open.as_ref().is_some_and(|open| !open.is_open))
            }
            EventBody::Xid(_) | EventBody::XaPrepare(_) => Ok(true),
            _ => Ok(false),
        }
    }

    fn unpack(&mut self, payload: &TransactionPayload<'_>) -> Result<bool, DecodeError> {
        let mut events = payload.events(PayloadLimits::default())?;
        let checksum = std::mem::replace(&mut self.format.checksum, binlog::event::ChecksumAlgorithm::Off);
        let result = loop {
            match events.next_event() {
                Ok(Some(event)) if event.header.event_type == EventType::TABLE_MAP => {
                    if let Err(error) = self.map(&event) {
                        break Err(error);
                    }
                }
                Ok(Some(event)) => {
                    let ends = EventBody::decode(&event, &self.format)
                        .and_then(|body| self.execute(&body, event.header.timestamp));
                    if !matches!(ends, Ok(false)) {
                        break ends;
                    }
                }
                Ok(None) => break Ok(true),
                Err(error) => break Err(error),
            }
        };
        self.format.checksum = checksum;
        result
    }

    fn changes_anything(&mut self) {
        if let Some(open) = &mut self.open {
            open.transaction.kind = Kind::Statements;
            open.transaction.changes_anything = true;
        }
    }

    fn query(&mut self, query: &QueryEvent<'_>, sql: &[u8], timestamp: u32) -> bool {
        let Some(open) = &mut self.open else { return false };
        if query.begins_transaction() {
            (open.is_open, open.begin) = (true, timestamp);
            return false;
        }
        if open.is_open {
            let is_marker = [&b"SAVEPOINT"[..], b"ROLLBACK TO", b"XA END"]
                .iter()
                .any(|words| sql.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words)));
            if is_marker {
                return false;
            }
            if query.ends_transaction() {
                return true;
            }
        }
        let schema = String::from_utf8_lossy(query.schema).into_owned();
        let what = footprint::statement(&schema, sql);
        let transaction = &mut open.transaction;
        match what {
            Statement::OfTable(hash) => {
                transaction.changed_tables.push(hash);
                transaction.kind = Kind::Ddl;
            }
            Statement::Other => transaction.kind = Kind::Ddl,
            Statement::Changes => {
                transaction.changes_anything = true;
                transaction.kind = Kind::Statements;
            }
        }
        let is_alone = !open.is_open;
        open.begin = timestamp.saturating_sub(query.exec_time);
        let schemas = query.status().updated_schemas.unwrap_or_else(|| vec![schema]);
        for schema in schemas.iter().filter(|schema| !schema.is_empty()) {
            let number = self.tables.schema(schema);
            if let Some(open) = &mut self.open {
                open.transaction.schemas.push(number);
            }
        }
        is_alone
    }

    fn rows(&mut self, event: &RowsEvent<'_>) -> Result<(), DecodeError> {
        let Some(mapped) = self.tables.mapped(event.table_id) else {
            return Err(DecodeError(format!("rows of table number {} without a TABLE_MAP", event.table_id)));
        };
        let mut keys = Vec::new();
        let (table, hot) = (mapped.number, &mut self.hot);
        let count = footprint::rows(&mapped, event, &mut keys, |hash, key| {
            hot.add(hash, || HotRow { mapped: mapped.clone(), key: key.to_vec() });
        })?;
        let bytes = event.rows.len() as u64;
        self.note_rows(table, mapped.schema, mapped.seed, event.kind, (count, bytes), keys);
        Ok(())
    }

    fn partial_rows(&mut self, event: &PartialUpdateRows<'_>) -> Result<(), DecodeError> {
        let Some(mapped) = self.tables.mapped(event.update.table_id) else {
            return Err(DecodeError("rows of a table without a TABLE_MAP".to_owned()));
        };
        let mut keys = Vec::new();
        let mut count = 0;
        for row in event.rows(&mapped.map) {
            let before = RowsEvent { kind: RowsKind::Delete, rows: row?.before, ..event.update };
            footprint::rows(&mapped, &before, &mut keys, |_, _| {})?;
            count += 1;
        }
        let bytes = event.update.rows.len() as u64;
        self.note_rows(mapped.number, mapped.schema, mapped.seed, RowsKind::Update, (count, bytes), keys);
        Ok(())
    }

    fn note_rows(
        &mut self,
        table: u32,
        schema: u32,
        seed: u64,
        kind: RowsKind,
        (count, bytes): (u64, u64),
        keys: Vec<u64>,
    ) {
        let kind_number = match kind {
            RowsKind::Write => 0,
            RowsKind::Update => 1,
            RowsKind::Delete => 2,
        };
        let Some(open) = &mut self.open else { return };
        let transaction = &mut open.transaction;
        if transaction.kind == Kind::Empty {
            transaction.kind = Kind::Rows;
        }
        transaction.rows[kind_number] += count;
        if !transaction.tables.contains(&table) {
            transaction.tables.push(table);
            transaction.schemas.push(schema);
            transaction.used_tables.push(seed);
        }
        if transaction.keys.len() + keys.len() > KEYS_MAX {
            transaction.changes_anything = true;
        } else {
            transaction.keys.extend(keys);
        }
        let counted = &mut self.tables.all[table as usize];
        counted.rows[kind_number] += count;
        counted.bytes += bytes;
    }
}
