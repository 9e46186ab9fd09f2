//! Writes transactions as events of a log.
//!
//! # Invariants
//! - Every event has a right length, position and checksum; `transaction_length` is what was written.
//! - A transaction that fails leaves nothing.

use binlog::event::{
    CHECKSUM_SIZE, ChecksumAlgorithm, CompressedBlock, CompressedQuery, CompressedRows, EventBody, EventHeader,
    ExecuteLoadQuery, FormatDescription, HEADER_SIZE, PartialRow, PayloadCompression, QueryEvent, RowsEvent, RowsQuery,
    TransactionPayload,
};

use super::rows::bit;
use crate::error::EventError;
use crate::event::*;

/// zstd's level of payloads, MySQL's default.
const PAYLOAD_LEVEL: i32 = 3;
/// Offset of `next_position` in an event's header.
const NEXT_POSITION_OFFSET: usize = 13;

/// Writes events into memory, for a place in a file.
#[derive(Debug)]
pub struct LogApply {
    format: FormatDescription,
    offset: u64,
    out: Vec<u8>,
}

impl LogApply {
    /// For a file that begins with `format`, from this offset on.
    pub fn new(format: FormatDescription, offset: u64) -> Self {
        LogApply { format, offset, out: Vec::new() }
    }

    /// The events since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn envelope(
        &self,
        envelope: &Envelope,
        others_length: u64,
        head: Head,
        frames: &mut Frames,
    ) -> Result<(), EventError> {
        match (envelope, self.format.dialect()) {
            (Envelope::Mysql(event), Dialect::Mysql) => {
                let mut event = event.clone();
                // The length is written in as many bytes as it needs, and counts them: it settles at once or in the next round.
                loop {
                    let mut body = Vec::new();
                    event.encode_body(&mut body);
                    let length = (HEADER_SIZE + body.len() + self.format.checksum_size()) as u64 + others_length;
                    if event.transaction_length == 0 || event.transaction_length == length {
                        return frames.put(head, event.event_type(), &body);
                    }
                    event.transaction_length = length;
                }
            }
            (Envelope::Maria(gtid), Dialect::Maria) => {
                let mut body = Vec::new();
                gtid.encode_body(&mut body);
                frames.put(head, EventType::MARIA_GTID, &body)
            }
            (Envelope::Mysql(_), Dialect::Maria) | (Envelope::Maria(_), Dialect::Mysql) => {
                Err(EventError::Unsupported(
                    "a transaction of the other dialect: its GTID has no place in a log of this one".to_owned(),
                ))
            }
        }
    }
}

impl Apply for LogApply {
    fn transaction(&mut self, transaction: &dyn Transaction) -> Result<(), EventError> {
        let payload = transaction.compressed()?;
        let inner_checksum = if payload.is_some() { ChecksumAlgorithm::Off } else { self.format.checksum };
        let mut changes =
            Encoder { frames: Frames::new(inner_checksum), dialect: self.format.dialect(), types: Vec::new() };
        transaction.changes(&mut |change| changes.change(change))?;
        let mut frames = changes.frames;
        if let Some(head) = payload {
            let mut body = Vec::new();
            payload_of(&frames.bytes, &mut body)?;
            frames = Frames::new(self.format.checksum);
            frames.put(head, EventType::TRANSACTION_PAYLOAD, &body)?;
        }
        let mut whole = Frames::new(self.format.checksum);
        if let Some((head, envelope)) = transaction.envelope()? {
            self.envelope(&envelope, frames.bytes.len() as u64, head, &mut whole)?;
        }
        whole.append(frames);
        let bytes = whole.placed(self.offset);
        self.offset += bytes.len() as u64;
        self.out.extend_from_slice(&bytes);
        Ok(())
    }
}

/// Appends the body of a TRANSACTION_PAYLOAD.
fn payload_of(events: &[u8], body: &mut Vec<u8>) -> Result<(), EventError> {
    let payload = TransactionPayload::compress(events, PAYLOAD_LEVEL)?;
    let uncompressed_size = Some(events.len() as u64);
    TransactionPayload { compression: PayloadCompression::Zstd, uncompressed_size, payload: &payload }
        .encode_body(body);
    Ok(())
}

/// Events whose positions and checksums are still to be filled in.
struct Frames {
    bytes: Vec<u8>,
    /// Where each begins, and whether it says its position.
    starts: Vec<(usize, bool)>,
    checksum: ChecksumAlgorithm,
}

impl Frames {
    fn new(checksum: ChecksumAlgorithm) -> Self {
        Frames { bytes: Vec::new(), starts: Vec::new(), checksum }
    }

    fn checksum_size(&self) -> usize {
        if self.checksum == ChecksumAlgorithm::Crc32 { CHECKSUM_SIZE } else { 0 }
    }

    fn put(&mut self, head: Head, event_type: EventType, body: &[u8]) -> Result<(), EventError> {
        let length = HEADER_SIZE + body.len() + self.checksum_size();
        let event_length =
            u32::try_from(length).map_err(|_| EventError::TooLarge { what: "an event", limit: u32::MAX.into() })?;
        let Head { timestamp, server_id, flags, positioned } = head;
        self.starts.push((self.bytes.len(), positioned));
        EventHeader { timestamp, event_type, server_id, event_length, next_position: 0, flags }.encode(&mut self.bytes);
        self.bytes.extend_from_slice(body);
        self.bytes.resize(self.bytes.len() + self.checksum_size(), 0);
        Ok(())
    }

    fn append(&mut self, others: Frames) {
        let moved = self.bytes.len();
        self.starts.extend(others.starts.into_iter().map(|(start, positioned)| (start + moved, positioned)));
        self.bytes.extend_from_slice(&others.bytes);
    }

    /// The events for this offset of their file.
    fn placed(mut self, offset: u64) -> Vec<u8> {
        let ends: Vec<usize> = self.starts.iter().skip(1).map(|&(start, _)| start).chain([self.bytes.len()]).collect();
        for (&(start, positioned), end) in self.starts.iter().zip(ends) {
            if positioned {
                // Modulo 4 GiB, as the format has it.
                let next_position = (offset + end as u64) as u32;
                let at = start + NEXT_POSITION_OFFSET;
                self.bytes[at..at + 4].copy_from_slice(&next_position.to_le_bytes());
            }
            if self.checksum == ChecksumAlgorithm::Crc32 {
                let at = end - CHECKSUM_SIZE;
                let checksum = crc32fast::hash(&self.bytes[start..at]);
                self.bytes[at..end].copy_from_slice(&checksum.to_le_bytes());
            }
        }
        self.bytes
    }
}

/// Writes changes.
struct Encoder {
    frames: Frames,
    dialect: Dialect,
    /// Tables so far, the last one of each number.
    types: Vec<TableMap>,
}

impl Encoder {
    fn change(&mut self, change: &Change<'_>) -> Result<(), EventError> {
        let mut body = Vec::new();
        let event_type = match change.what {
            What::Statement(statement) => self.statement(statement, &mut body)?,
            What::Table(table) => self.table(table, &mut body)?,
            What::Rows(rows) => self.rows(rows, &mut body)?,
            What::RowsStatement(statement) if self.dialect == Dialect::Mysql => {
                let stored_length = statement.stored_length.unwrap_or(statement.sql.len() as u8);
                RowsQuery { stored_length, sql: statement.sql }.encode_body(&mut body);
                EventType::ROWS_QUERY
            }
            What::RowsStatement(statement) => plain(EventBody::MariaAnnotateRows(statement.sql), &mut body),
            What::IntVar(var) => plain(EventBody::IntVar(var), &mut body),
            What::Rand(seeds) => plain(EventBody::Rand(seeds), &mut body),
            What::UserVar(var) => plain(EventBody::UserVar(var), &mut body),
            What::FileBlock { block, first: true } => plain(EventBody::BeginLoadQuery(block), &mut body),
            What::FileBlock { block, first: false } => plain(EventBody::AppendBlock(block), &mut body),
            What::DeleteFile(file_id) => plain(EventBody::DeleteFile(file_id), &mut body),
            What::Commit(xid) => plain(EventBody::Xid(xid), &mut body),
            What::Prepare(prepare) => plain(EventBody::XaPrepare(prepare.clone()), &mut body),
            What::Other { event_type, body: bytes } => {
                body.extend_from_slice(bytes);
                event_type
            }
        };
        self.frames.put(change.head, event_type, &body)
    }

    fn statement(&self, statement: &dyn Statement, body: &mut Vec<u8>) -> Result<EventType, EventError> {
        let sql = statement.sql()?.ok_or_else(EventError::missing("statement", "its text"))?;
        let mut status = Vec::new();
        statement.context()?.unwrap_or_default().iter().for_each(|var| var.encode(&mut status));
        let query = QueryEvent {
            thread_id: statement.thread_id()?.unwrap_or_default(),
            exec_time: statement.exec_time()?.unwrap_or_default(),
            error_code: statement.error_code()?.unwrap_or_default(),
            status: &status,
            schema: statement.database()?.unwrap_or_default(),
            sql: &sql,
        };
        if let Some(LoadedFile { file_id, name_start, name_end, duplicates }) = statement.file()? {
            ExecuteLoadQuery { query, file_id, name_start, name_end, duplicates }.encode_body(body);
            return Ok(EventType::EXECUTE_LOAD_QUERY);
        }
        if !statement.is_compressed() || self.dialect == Dialect::Mysql {
            query.encode_body(body);
            return Ok(EventType::QUERY);
        }
        let mut block = Vec::new();
        CompressedBlock::compress(&sql, &mut block)?;
        let block = CompressedBlock::decode(&block)?;
        CompressedQuery { head: QueryEvent { sql: &[], ..query }, block }.encode_body(body);
        Ok(EventType::MARIA_QUERY_COMPRESSED)
    }

    fn table(&mut self, table: &dyn Table, body: &mut Vec<u8>) -> Result<EventType, EventError> {
        let optional = table.optional_metadata()?;
        let types = if optional.is_some() { table.shape()? } else { table.definition()? };
        let mut types = types.ok_or_else(EventError::missing("table", "its columns"))?.clone();
        types.table_id = table.id()?.ok_or_else(EventError::missing("table", "its number"))?;
        match optional {
            Some(optional) => {
                types.encode_shape(body);
                body.extend_from_slice(optional);
            }
            None => types.encode_body(body),
        }
        self.types.retain(|known| known.table_id != types.table_id);
        self.types.push(types);
        Ok(EventType::TABLE_MAP)
    }

    fn rows(&self, rows: &dyn Rows, body: &mut Vec<u8>) -> Result<EventType, EventError> {
        let layout = rows.layout()?.ok_or_else(EventError::missing("rows", "their layout"))?;
        let table_id = rows.table_id()?.ok_or_else(EventError::missing("rows", "the number of their table"))?;
        let types = self.types.iter().find(|types| types.table_id == table_id);
        let mut images = Vec::new();
        rows.rows(&mut |row| {
            let types = types.ok_or_else(EventError::missing("rows", "their table"))?;
            put_row(types, &layout, row, &mut images)
        })?;
        let RowsLayout { kind, version, flags, extra, column_count, present, present_after, partial } = layout;
        let event =
            RowsEvent { kind, version, table_id, flags, extra, column_count, present, present_after, rows: &images };
        if partial || !rows.is_compressed() || self.dialect == Dialect::Mysql {
            event.encode_body(body);
            return Ok(if partial { EventType::PARTIAL_UPDATE_ROWS } else { event.event_type() });
        }
        let mut block = Vec::new();
        CompressedBlock::compress(&images, &mut block)?;
        let block = CompressedBlock::decode(&block)?;
        let compressed = CompressedRows { head: RowsEvent { rows: &[], ..event }, block };
        compressed.encode_body(body);
        Ok(compressed.event_type())
    }
}

fn plain(event: EventBody<'_>, body: &mut Vec<u8>) -> EventType {
    event.encode_body(body);
    event.event_type()
}

fn put_row(types: &TableMap, layout: &RowsLayout<'_>, row: &dyn Row, out: &mut Vec<u8>) -> Result<(), EventError> {
    if layout.column_count != types.columns.len() {
        let (rows, table) = (layout.column_count, types.columns.len());
        return Err(EventError::malformed(format!("rows of {rows} columns for a table of {table}")));
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    if layout.kind != RowsKind::Write {
        let image = row.before()?.ok_or_else(EventError::missing("row", "what it was before"))?;
        put_image(types, layout.present, image, &mut before)?;
    }
    if layout.kind != RowsKind::Delete {
        let image = row.after()?.ok_or_else(EventError::missing("row", "what it is after"))?;
        put_image(types, layout.present_after, image, &mut after)?;
    }
    if layout.partial {
        let (options, diffs) = row.partial()?.ok_or_else(EventError::missing("row", "which documents are diffs"))?;
        PartialRow { before: &before, after: &after, options, diffs }.encode(out);
    } else {
        out.extend_from_slice(&before);
        out.extend_from_slice(&after);
    }
    Ok(())
}

fn put_image(types: &TableMap, present: &[u8], image: &dyn Image, out: &mut Vec<u8>) -> Result<(), EventError> {
    let columns: Vec<usize> = (0..types.columns.len()).filter(|&column| bit(present, column)).collect();
    let start = out.len();
    // Bits of no column are set, but for those that the image says are not.
    out.resize(start + columns.len().div_ceil(8), 0);
    if !columns.len().is_multiple_of(8) {
        let last = out.len() - 1;
        out[last] = (0xff << (columns.len() % 8)) & !image.null_padding();
    }
    let mut expected = columns.iter().enumerate();
    image.values(&mut |number, value| {
        let slot = expected.find(|&(_, &column)| column == number).map(|(slot, _)| slot);
        let slot =
            slot.ok_or_else(|| EventError::malformed(format!("the value of column {number}, which is not present")))?;
        match value {
            Some(value) => value.encode(&types.columns[number], out),
            None => {
                out[start + slot / 8] |= 1 << (slot % 8);
                Ok(())
            }
        }
    })?;
    match expected.next() {
        None => Ok(()),
        Some(_) => Err(EventError::Missing { event: "row", what: "the value of a column that is present" }),
    }
}
