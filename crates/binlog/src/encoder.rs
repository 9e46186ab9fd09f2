//! The session's side of writing: a transaction's events as bytes, complete but for their place.
//!
//! Runs in each session, in parallel with all others; what depends on the place (the GTID event, `next_position`, the
//! number of the XID, checksums) is filled in by [`crate::LogWriter::place`], which copies the bytes once.
//!
//! ```text
//! QUERY BEGIN, [ROWS_QUERY], TABLE_MAP, rows…, TABLE_MAP, rows…, XID          (or one QUERY alone: DDL, XA COMMIT)
//! QUERY XA START, …, QUERY XA END, XA_PREPARE
//! ```
//! # Invariants
//! - Each rows event is at most `row_event_max_size` long, unless one row alone is longer.
//! - A TABLE_MAP is in front of each run of rows events of one table; the last rows event of a run is marked as the
//!   end of a statement, so that appliers which lock a statement's tables together need only ever hold one.

use std::sync::Arc;

use base::{CommitNumber, Gtid, Tag, UnixMicros};
use types::schema::TableDef;

use crate::LargeEvents;
use crate::SourcePosition;
use crate::cursor::{bit, put_lenenc};
use crate::error::{BinlogError, Result};
use crate::event::{
    self, EventHeader, EventType, Frame, GtidEvent, QueryContext, RowsKind, TableMap, XaPrepare, XaStatement, Xid,
    rows_flags,
};

/// Which columns rows events have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowImage {
    /// All, before and after: what followers and recovery install without reading.
    #[default]
    Full,
    /// The primary key before, the changed columns after.
    Minimal,
}

/// Settings that shape a transaction's events.
#[derive(Clone, Debug)]
pub struct EncoderOptions {
    /// In every header.
    pub server_id: u32,
    /// `binlog_row_image`.
    pub row_image: RowImage,
    /// `binlog_row_event_max_size`, bytes.
    pub row_event_max_size: usize,
    /// The most bytes that a transaction's events may have together.
    pub max_transaction_size: u64,
    /// `foreign_key_checks`, `unique_checks` as [`rows_flags`].
    pub flags: u16,
}

impl Default for EncoderOptions {
    fn default() -> Self {
        EncoderOptions {
            server_id: 1,
            row_image: RowImage::Full,
            row_event_max_size: 8192,
            max_transaction_size: 1 << 30,
            flags: 0,
        }
    }
}

/// Of a transaction that comes from another server: what its events go on saying of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `server_id` of the server where it was born, so that it is known when it comes back there.
    pub server_id: u32,
    /// When it was committed there; `None` if its log does not say.
    pub commit_time: Option<UnixMicros>,
    /// Version of that server, as 90704; 999999 if its log does not say.
    pub server_version: u32,
}

/// Which GTID a transaction gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GtidChoice {
    /// This server's next number under a tag, or under none, when it gets its place.
    Automatic(Tag),
    /// A GTID as a MariaDB makes it ([`crate::MariaGtidName`]): the domain's next number, of this server.
    OfDomain(u32),
    /// This one, which nobody else commits.
    Chosen(Gtid),
    /// None: it concerns this server alone, and no replica (`sql_log_bin=0`).
    Local,
}

impl Default for GtidChoice {
    fn default() -> Self {
        GtidChoice::Automatic(Tag::NONE)
    }
}

impl GtidChoice {
    /// Whether it is one that was chosen.
    pub fn is_chosen(&self) -> bool {
        matches!(self, GtidChoice::Chosen(_))
    }
}

/// A transaction ready for its place in the log.
#[derive(Clone, Debug, Default)]
pub struct EncodedTransaction {
    /// Whole events behind the GTID event; positions, checksums and the XID's number are not filled in.
    pub events: Vec<u8>,
    /// As the client chose it (`gtid_next`).
    pub gtid: GtidChoice,
    /// It is a statement (DDL), not rows.
    pub is_statement: bool,
    /// Where it was born, if that was elsewhere.
    pub origin: Option<Origin>,
    /// Hashes of the keys that it wrote, for `last_committed`.
    pub writeset: Vec<u64>,
    /// `writeset` does not say all that it depends on: it depends on everything before it, and everything behind it on it.
    pub depends_on_all: bool,
    /// It also depends on all up to this one, as far as they are before it.
    pub after: CommitNumber,
    /// Its events, if they are in a file of their own; then there are none in `events`.
    pub large: Option<Arc<LargeEvents>>,
}

impl EncodedTransaction {
    /// The most bytes that it can take in the log: what to reserve.
    pub fn max_size(&self) -> u64 {
        (self.events.len() + GtidEvent::MAX_SIZE) as u64
    }
}

/// A table's TABLE_MAP and what is needed to cut its rows, made once per definition of the table.
#[derive(Clone, Debug)]
pub struct TableEncoder {
    map: TableMap,
    map_body: Vec<u8>,
    all_columns: Vec<u8>,
    key_columns: Vec<u8>,
}

impl TableEncoder {
    /// For a table as it is now.
    pub fn new(table: &TableDef) -> Self {
        let map = TableMap::from_def(table);
        let mut map_body = Vec::new();
        map.encode_body(&mut map_body);
        let mut all_columns = vec![0; map.columns.len().div_ceil(8)];
        let mut key_columns = all_columns.clone();
        (0..map.columns.len()).for_each(|i| all_columns[i / 8] |= 1 << (i % 8));
        map.primary_key.iter().for_each(|&(i, _)| key_columns[i / 8] |= 1 << (i % 8));
        TableEncoder { map, map_body, all_columns, key_columns }
    }

    /// The table's map.
    pub fn map(&self) -> &TableMap {
        &self.map
    }

    fn bits<'a>(&'a self, present: &'a Present) -> &'a [u8] {
        match present {
            Present::All => &self.all_columns,
            Present::Key => &self.key_columns,
            Present::Some(bitmap) => bitmap,
        }
    }

    /// Where each column's value lies in a full row image; empty for NULL.
    fn values(&self, row: &[u8]) -> Result<Vec<std::ops::Range<usize>>> {
        let mut at = self.all_columns.len();
        let mut ranges = Vec::with_capacity(self.map.columns.len());
        for (i, column) in self.map.columns.iter().enumerate() {
            let len = if bit(row, i) { 0 } else { column.value_len(row.get(at..).unwrap_or_default())? };
            ranges.push(at..at + len);
            at += len;
        }
        Ok(ranges)
    }

    /// The bitmap of columns whose bytes differ.
    fn changed(&self, before: &[u8], after: &[u8]) -> Result<Vec<u8>> {
        let mut bitmap = vec![0; self.all_columns.len()];
        for (i, (old, new)) in self.values(before)?.into_iter().zip(self.values(after)?).enumerate() {
            if bit(before, i) != bit(after, i) || before[old] != after[new] {
                bitmap[i / 8] |= 1 << (i % 8);
            }
        }
        Ok(bitmap)
    }

    /// Appends the image of only the `present` columns of a full row.
    fn project(&self, row: &[u8], present: &Present, out: &mut Vec<u8>) -> Result<()> {
        if *present == Present::All {
            out.extend_from_slice(row);
            return Ok(());
        }
        let present = self.bits(present);
        let columns: Vec<usize> = (0..self.map.columns.len()).filter(|&i| bit(present, i)).collect();
        let nulls_at = out.len();
        out.resize(nulls_at + columns.len().div_ceil(8), 0);
        let values = self.values(row)?;
        for (slot, &column) in columns.iter().enumerate() {
            if bit(row, column) {
                out[nulls_at + slot / 8] |= 1 << (slot % 8);
            } else {
                out.extend_from_slice(&row[values[column].clone()]);
            }
        }
        Ok(())
    }
}

/// Which columns an image has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Present {
    All,
    Key,
    Some(Vec<u8>),
}

/// What rows must have in common to share an event.
#[derive(Clone, Debug)]
struct RowsHead {
    table: Arc<TableEncoder>,
    kind: RowsKind,
    present: Present,
    present_after: Present,
}

/// The rows event that is being filled.
#[derive(Debug)]
struct OpenRows {
    head: RowsHead,
    /// Where the event begins.
    start: usize,
    /// Where its rows begin.
    rows_at: usize,
}

/// Builds one transaction's events.
#[derive(Debug)]
pub struct TransactionEncoder {
    options: EncoderOptions,
    context: QueryContext,
    out: Vec<u8>,
    open: Option<OpenRows>,
    /// The table whose TABLE_MAP is in force.
    mapped: Option<Arc<TableEncoder>>,
}

impl TransactionEncoder {
    /// Begins a transaction of rows: `BEGIN`.
    pub fn begin(options: EncoderOptions, context: QueryContext) -> Self {
        let mut out = Vec::with_capacity(1024);
        context.encode(&mut out, options.server_id, b"BEGIN", &[]);
        TransactionEncoder { options, context, out, open: None, mapped: None }
    }

    /// The same of the first phase of a distributed transaction: `XA START`.
    pub fn begin_xa(options: EncoderOptions, context: QueryContext, xid: &Xid) -> Self {
        let mut encoder =
            TransactionEncoder { options, context, out: Vec::with_capacity(1024), open: None, mapped: None };
        encoder.statement(&XaStatement::Start(xid.clone()));
        encoder
    }

    fn statement(&mut self, statement: &XaStatement) {
        self.context.encode(&mut self.out, self.options.server_id, statement.to_string().as_bytes(), &[]);
    }

    /// A transaction that is one statement: DDL. `schemas` are the databases that it changes; `position` is where it ends in the log
    /// of its source, if it comes from one.
    pub fn ddl(
        options: &EncoderOptions,
        context: &QueryContext,
        sql: &str,
        schemas: &[&str],
        position: Option<&SourcePosition>,
    ) -> Result<EncodedTransaction> {
        let mut events = Vec::new();
        if let Some(position) = position {
            let frame = Frame { timestamp: context.timestamp, server_id: options.server_id, flags: 0 };
            position.encode(&mut events, frame);
        }
        context.encode(&mut events, options.server_id, sql.as_bytes(), schemas);
        check_size(events.len(), options.max_transaction_size)?;
        Ok(EncodedTransaction { events, is_statement: true, depends_on_all: true, ..Default::default() })
    }

    /// The statement whose rows follow (`binlog_rows_query_log_events`).
    pub fn rows_query(&mut self, sql: &str) {
        self.end_statement();
        let frame = Frame { flags: event::FLAG_IGNORABLE, ..self.frame() };
        event::put_event(&mut self.out, EventType::ROWS_QUERY, frame, |out| {
            out.push(sql.len() as u8);
            out.extend_from_slice(sql.as_bytes());
        });
    }

    /// A new row: its full image.
    pub fn insert(&mut self, table: &Arc<TableEncoder>, row: &[u8]) -> Result<()> {
        self.row(table, RowsKind::Write, [Present::All, Present::All], &[row])
    }

    /// A changed row: full images before and after.
    pub fn update(&mut self, table: &Arc<TableEncoder>, before: &[u8], after: &[u8]) -> Result<()> {
        let present = match self.options.row_image {
            RowImage::Full => [Present::All, Present::All],
            RowImage::Minimal => [Present::Key, Present::Some(table.changed(before, after)?)],
        };
        self.row(table, RowsKind::Update, present, &[before, after])
    }

    /// A deleted row: its full image.
    pub fn delete(&mut self, table: &Arc<TableEncoder>, row: &[u8]) -> Result<()> {
        let present = match self.options.row_image {
            RowImage::Full => Present::All,
            RowImage::Minimal => Present::Key,
        };
        self.row(table, RowsKind::Delete, [present.clone(), present], &[row])
    }

    /// Marks the end of a statement's rows. Not needed between tables; without it the rows of consecutive statements
    /// on one table share events.
    pub fn end_statement(&mut self) {
        self.close_rows(true);
        self.mapped = None;
    }

    /// What follows is encoded so.
    pub fn set_options(&mut self, options: EncoderOptions) {
        self.options = options;
    }

    /// Takes what is complete, after ending the statement: for a transaction that is written piece by piece. What follows is
    /// understood without it.
    pub fn take_events(&mut self) -> Vec<u8> {
        self.end_statement();
        std::mem::take(&mut self.out)
    }

    /// Bytes so far.
    pub fn size(&self) -> usize {
        self.out.len()
    }

    /// Where the transaction ends in the log of its source.
    pub fn source_position(&mut self, position: &SourcePosition) {
        self.end_statement();
        let frame = self.frame();
        position.encode(&mut self.out, frame);
    }

    /// Ends the transaction: XID, whose number is filled in when it is placed.
    pub fn finish(mut self) -> Result<EncodedTransaction> {
        self.end_statement();
        let frame = self.frame();
        event::put_event(&mut self.out, EventType::XID, frame, |out| out.extend_from_slice(&[0; 8]));
        check_size(self.out.len(), self.options.max_transaction_size)?;
        Ok(EncodedTransaction { events: self.out, ..Default::default() })
    }

    /// Ends the first phase of a distributed transaction: `XA END`, XA_PREPARE.
    pub fn finish_prepared(mut self, xid: &Xid) -> Result<EncodedTransaction> {
        self.end_statement();
        self.statement(&XaStatement::End(xid.clone()));
        let frame = self.frame();
        let prepare = XaPrepare { one_phase: false, xid: xid.clone() };
        event::put_event(&mut self.out, EventType::XA_PREPARE, frame, |out| prepare.encode_body(out));
        check_size(self.out.len(), self.options.max_transaction_size)?;
        Ok(EncodedTransaction { events: self.out, is_statement: true, ..Default::default() })
    }

    fn frame(&self) -> Frame {
        Frame { timestamp: self.context.timestamp, server_id: self.options.server_id, flags: 0 }
    }

    fn row(
        &mut self,
        table: &Arc<TableEncoder>,
        kind: RowsKind,
        [present, present_after]: [Present; 2],
        images: &[&[u8]],
    ) -> Result<()> {
        let fits = self.open.as_ref().is_some_and(|OpenRows { head, .. }| {
            Arc::ptr_eq(&head.table, table)
                && head.kind == kind
                && head.present == present
                && head.present_after == present_after
        });
        if !fits {
            self.open_rows(RowsHead {
                table: table.clone(),
                kind,
                present: present.clone(),
                present_after: present_after.clone(),
            });
        }
        let row_at = self.out.len();
        for (image, present) in images.iter().zip([&present, &present_after]) {
            table.project(image, present, &mut self.out)?;
        }
        check_size(self.out.len(), self.options.max_transaction_size)?;
        self.split_before(row_at);
        Ok(())
    }

    /// If the row at `row_at` made the open event too large, moves it to an event of its own.
    fn split_before(&mut self, row_at: usize) {
        let Some(open) = &self.open else { return };
        let event_size = self.out.len() - open.start + event::CHECKSUM_SIZE;
        if event_size <= self.options.row_event_max_size || row_at == open.rows_at {
            return;
        }
        let head = open.head.clone();
        let row = self.out.split_off(row_at);
        self.open_rows(head);
        self.out.extend_from_slice(&row);
    }

    fn open_rows(&mut self, head: RowsHead) {
        let mapped = self.mapped.as_ref().is_some_and(|mapped| Arc::ptr_eq(mapped, &head.table));
        self.close_rows(!mapped);
        let frame = self.frame();
        if !mapped {
            let put_map = |out: &mut Vec<u8>| out.extend_from_slice(&head.table.map_body);
            event::put_event(&mut self.out, EventType::TABLE_MAP, frame, put_map);
            self.mapped = Some(head.table.clone());
        }
        let start = self.out.len();
        let Frame { timestamp, server_id, flags } = frame;
        let event_type = head.kind.event_type();
        let header = EventHeader { timestamp, event_type, server_id, event_length: 0, next_position: 0, flags };
        header.encode(&mut self.out);
        self.put_rows_head(&head);
        self.open = Some(OpenRows { head, start, rows_at: self.out.len() });
    }

    /// The body of a rows event up to its rows.
    fn put_rows_head(&mut self, head: &RowsHead) {
        let map = &head.table.map;
        let out = &mut self.out;
        out.extend_from_slice(&map.table_id.to_le_bytes()[..6]);
        out.extend_from_slice(&self.options.flags.to_le_bytes());
        // The length of the extra data: only itself.
        out.extend_from_slice(&2u16.to_le_bytes());
        put_lenenc(out, map.columns.len() as u64);
        out.extend_from_slice(head.table.bits(&head.present));
        if head.kind == RowsKind::Update {
            out.extend_from_slice(head.table.bits(&head.present_after));
        }
    }

    fn close_rows(&mut self, statement_ends: bool) {
        let Some(open) = self.open.take() else { return };
        if statement_ends {
            self.out[open.start + event::HEADER_SIZE + rows_flags::OFFSET] |= rows_flags::STATEMENT_END as u8;
        }
        self.out.extend_from_slice(&[0; event::CHECKSUM_SIZE]);
        event::close_event(&mut self.out, open.start);
    }
}

fn check_size(size: usize, limit: u64) -> Result<()> {
    if size as u64 <= limit {
        return Ok(());
    }
    Err(BinlogError::TooLarge { what: "a transaction", size: size as u64, limit })
}
