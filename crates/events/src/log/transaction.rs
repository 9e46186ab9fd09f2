//! A transaction as the bytes of its events, and accessors.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use base::UnixMicros;
use binlog::event::{
    AlterPhase, EventIter, FileBlock, FormatDescription, Fragments, GtidEvent, IntVar, MariaGtid, PartialRowData,
    PayloadLimits, RandSeeds, RowsQuery, TransactionPayload, UserVar, XaPrepare, XaStatement, decode_file_id,
    decode_xid,
};
use binlog::{EventHeader, RawEvent};

use super::INFLATED_SIZE_MAX;
use super::rows::LogRows;
use super::statement::LogStatement;
use super::table::LogTable;
use crate::error::EventError;
use crate::event::*;

/// What accessors have decoded so far: whoever asks for less pays for less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeCounts {
    /// Events in front of the transaction.
    pub envelopes: u32,
    /// Names of tables.
    pub table_names: u32,
    /// Types of a table's columns.
    pub table_shapes: u32,
    /// Names, collations and all else of a table's columns.
    pub table_definitions: u32,
    /// Events of rows that were cut into images; nothing in them is decoded by that.
    pub row_events: u32,
    /// Values.
    pub values: u64,
    /// Statements, rows and payloads that were inflated.
    pub inflated: u32,
}

/// Counts behind a shared reference.
#[derive(Debug, Default)]
pub(super) struct Counter(Cell<DecodeCounts>);

impl Counter {
    pub(super) fn count(&self, add: impl FnOnce(&mut DecodeCounts)) {
        let mut counts = self.0.get();
        add(&mut counts);
        self.0.set(counts);
    }
}

/// A transaction of a log.
#[derive(Debug)]
pub struct LogTransaction<'a> {
    format: &'a FormatDescription,
    file: &'a str,
    begin: u64,
    end: u64,
    /// Its events, one after the other.
    bytes: &'a [u8],
    /// Where the last of them begins.
    last: usize,
    counter: Counter,
}

impl<'a> LogTransaction<'a> {
    pub(super) fn new(
        format: &'a FormatDescription,
        file: &'a str,
        begin: u64,
        end: u64,
        bytes: &'a [u8],
        last: usize,
    ) -> Self {
        LogTransaction { format, file, begin, end, bytes, last, counter: Counter::default() }
    }

    /// What its accessors have decoded.
    pub fn counts(&self) -> DecodeCounts {
        self.counter.0.get()
    }

    /// Its events as they are in the log.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The file's first event.
    pub fn format(&self) -> &'a FormatDescription {
        self.format
    }

    fn event_at(&self, at: usize) -> Result<RawEvent<'a>, EventError> {
        Ok(RawEvent::first_of(&self.bytes[at..], self.format.checksum)?)
    }

    /// The events, one after the other.
    fn events(&self) -> EventIter<'a> {
        EventIter::new(self.bytes, self.format.checksum)
    }

    fn payload(&self) -> Result<Option<TransactionPayload<'a>>, EventError> {
        let last = self.event_at(self.last)?;
        match last.header.event_type {
            EventType::TRANSACTION_PAYLOAD => Ok(Some(TransactionPayload::decode(last.body())?)),
            _ => Ok(None),
        }
    }

    fn outcome_of(&self, event: &RawEvent<'_>) -> Result<Outcome, EventError> {
        match event.header.event_type {
            EventType::XA_PREPARE => {
                let prepare = XaPrepare::decode(event.body())?;
                Ok(if prepare.one_phase { Outcome::Committed } else { Outcome::Prepared(prepare.xid) })
            }
            EventType::QUERY => Ok(outcome_of_statement(binlog::event::QueryEvent::decode(event.body())?.sql)),
            _ => Ok(Outcome::Committed),
        }
    }

    /// MariaDB logs an ALTER twice, when it begins and when it ends.
    fn is_without_effect(&self) -> Result<bool, EventError> {
        match self.envelope()? {
            Some((_, Envelope::Maria(gtid))) => {
                Ok(matches!(gtid.extra.alter, Some(AlterPhase::Start | AlterPhase::Rollback(_))))
            }
            _ => Ok(false),
        }
    }
}

/// What a last statement makes of its transaction.
fn outcome_of_statement(sql: &[u8]) -> Outcome {
    if sql.eq_ignore_ascii_case(b"ROLLBACK") {
        return Outcome::RolledBack;
    }
    match XaStatement::of(sql) {
        Ok(Some(XaStatement::Commit(xid))) => Outcome::CommittedPrepared(xid),
        Ok(Some(XaStatement::Rollback(xid))) => Outcome::RolledBackPrepared(xid),
        _ => Outcome::Committed,
    }
}

pub(super) fn head_of(header: &EventHeader) -> Head {
    let EventHeader { timestamp, server_id, flags, next_position, .. } = *header;
    Head { timestamp, server_id, flags, positioned: next_position != 0 }
}

impl Transaction for LogTransaction<'_> {
    fn position(&self) -> Maybe<Position> {
        Ok(Some(Position { file: self.file.to_owned(), begin: self.begin, end: self.end }))
    }

    fn dialect(&self) -> Maybe<Dialect> {
        Ok(Some(self.format.dialect()))
    }

    fn name(&self) -> Maybe<TransactionName> {
        Ok(self.envelope()?.and_then(|(head, envelope)| envelope.name(head.server_id)))
    }

    fn commit_time(&self) -> Maybe<CommitTime> {
        let time = match self.envelope()? {
            Some((_, Envelope::Mysql(event))) if event.immediate_commit_time.0 != 0 => {
                CommitTime { immediate: event.immediate_commit_time, original: event.original_commit_time }
            }
            _ => {
                let seconds = UnixMicros(u64::from(self.event_at(self.last)?.header.timestamp) * 1_000_000);
                CommitTime { immediate: seconds, original: seconds }
            }
        };
        Ok(Some(time))
    }

    fn envelope(&self) -> Maybe<(Head, Envelope)> {
        let first = self.event_at(0)?;
        let envelope = match first.header.event_type {
            event_type if event_type.is_gtid() => Envelope::Mysql(GtidEvent::decode(event_type, first.body())?),
            EventType::MARIA_GTID => Envelope::Maria(MariaGtid::decode(first.body())?),
            _ => return Ok(None),
        };
        self.counter.count(|counts| counts.envelopes += 1);
        Ok(Some((head_of(&first.header), envelope)))
    }

    fn compressed(&self) -> Maybe<Head> {
        let last = self.event_at(self.last)?;
        let is_payload = last.header.event_type == EventType::TRANSACTION_PAYLOAD;
        Ok(is_payload.then(|| head_of(&last.header)))
    }

    fn outcome(&self) -> Maybe<Outcome> {
        if self.is_without_effect()? {
            return Ok(Some(Outcome::WithoutEffect));
        }
        let Some(payload) = self.payload()? else { return Ok(Some(self.outcome_of(&self.event_at(self.last)?)?)) };
        self.counter.count(|counts| counts.inflated += 1);
        let mut events = payload.events(PayloadLimits::default())?;
        let mut outcome = Outcome::Committed;
        while let Some(event) = events.next_event()? {
            outcome = self.outcome_of(&event)?;
        }
        Ok(Some(outcome))
    }

    fn changes(&self, each: &mut EachChange<'_>) -> Result<(), EventError> {
        let mut walk = Walk {
            dialect: self.format.dialect(),
            checksum: self.format.checksum,
            counter: &self.counter,
            tables: HashMap::new(),
            fragments: Fragments::new(INFLATED_SIZE_MAX as u64),
        };
        for (number, event) in self.events().enumerate() {
            let event = event?;
            match event.header.event_type {
                event_type if number == 0 && event_type.begins_transaction() => {}
                EventType::TRANSACTION_PAYLOAD => {
                    self.counter.count(|counts| counts.inflated += 1);
                    let payload = TransactionPayload::decode(event.body())?;
                    let mut events = payload.events(PayloadLimits::default())?;
                    while let Some(event) = events.next_event()? {
                        walk.event(&event, each)?;
                    }
                }
                _ => walk.event(&event, each)?,
            }
        }
        Ok(())
    }
}

/// Goes through a transaction's events; knows the tables that rows refer to.
struct Walk<'t> {
    dialect: Dialect,
    checksum: binlog::event::ChecksumAlgorithm,
    counter: &'t Counter,
    tables: HashMap<u64, Rc<LogTable<'t>>>,
    fragments: Fragments,
}

impl Walk<'_> {
    fn event(&mut self, event: &RawEvent<'_>, each: &mut EachChange<'_>) -> Result<(), EventError> {
        let (event_type, body) = (event.header.event_type, event.body());
        let head = head_of(&event.header);
        let what = match event_type {
            EventType::QUERY | EventType::MARIA_QUERY_COMPRESSED | EventType::EXECUTE_LOAD_QUERY => {
                let statement = LogStatement::decode(event_type, body, self.counter)?;
                return each(&Change { head, what: What::Statement(&statement) });
            }
            EventType::TABLE_MAP => {
                let table = Rc::new(LogTable::new(body, self.dialect, self.counter)?);
                self.tables.insert(table.table_id(), table.clone());
                return each(&Change { head, what: What::Table(&*table) });
            }
            EventType::XA_PREPARE => {
                let prepare = XaPrepare::decode(body)?;
                return each(&Change { head, what: What::Prepare(&prepare) });
            }
            EventType::MARIA_PARTIAL_ROW_DATA => return self.fragment(body, each),
            _ if event_type.has_rows() => {
                let table = LogRows::table_id_of(body).and_then(|id| self.tables.get(&id)).cloned();
                let rows = LogRows::new(event_type, body, table, self.counter);
                return each(&Change { head, what: What::Rows(&rows) });
            }
            EventType::INTVAR => What::IntVar(IntVar::decode(body)?),
            EventType::RAND => What::Rand(RandSeeds::decode(body)?),
            EventType::USER_VAR => What::UserVar(UserVar::decode(body)?),
            EventType::BEGIN_LOAD_QUERY => What::FileBlock { block: FileBlock::decode(body)?, first: true },
            EventType::APPEND_BLOCK => What::FileBlock { block: FileBlock::decode(body)?, first: false },
            EventType::DELETE_FILE => What::DeleteFile(decode_file_id(body)?),
            EventType::ROWS_QUERY => {
                let query = RowsQuery::decode(body)?;
                What::RowsStatement(RowsStatement { sql: query.sql, stored_length: Some(query.stored_length) })
            }
            EventType::MARIA_ANNOTATE_ROWS => What::RowsStatement(RowsStatement { sql: body, stored_length: None }),
            EventType::XID => What::Commit(decode_xid(body)?),
            event_type => What::Other { event_type, body },
        };
        each(&Change { head, what })
    }

    /// A piece of an event of rows; the last one makes it whole.
    fn fragment(&mut self, body: &[u8], each: &mut EachChange<'_>) -> Result<(), EventError> {
        let Some(bytes) = self.fragments.take(&PartialRowData::decode(body)?)? else { return Ok(()) };
        let event = RawEvent::first_of(&bytes, self.checksum)?;
        if !event.header.event_type.has_rows() {
            return Err(EventError::malformed(format!("{:?} in fragments", event.header.event_type)));
        }
        self.event(&event, each)
    }
}
