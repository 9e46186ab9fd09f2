//! Which events are shown: whole transactions by time and GTID, and what they do by database and table.
//!
//! # Invariants
//! - A transaction that is not wanted leaves nothing, one that is wanted its beginning and its end, even if nothing between them is.
//! - What is between transactions (FORMAT_DESCRIPTION, PREVIOUS_GTIDS, …) is always shown.

use std::collections::HashMap;

use base::Gtid;

use crate::error::DecodeError;
use crate::event::{
    CompressedQuery, CompressedRows, EventType, ExecuteLoadQuery, GtidEvent, MariaGtid, QueryEvent, RawEvent, RowsKind,
    TableMap,
};
use crate::gtid_set::GtidSet;
use crate::log::tracker::TransactionTracker;

/// What is wanted. The default is everything.
#[derive(Clone, Debug, Default)]
pub struct DumpFilter {
    /// Transactions that begin at this time or later, seconds since 1970.
    pub from: Option<u32>,
    /// Transactions that begin before this time, seconds since 1970.
    pub until: Option<u32>,
    /// Transactions that are in this set, MariaDB's as [`MariaGtidName`](crate::MariaGtidName) has them. One without a GTID is not.
    pub include_gtids: Option<GtidSet>,
    /// No transactions that are in this set.
    pub exclude_gtids: GtidSet,
    /// Rows of tables in these databases, and statements in or about them; empty for all.
    pub databases: Vec<String>,
    /// Rows of these tables, and statements in or about their databases; empty for all.
    pub tables: Vec<(String, String)>,
}

impl DumpFilter {
    /// Whether it is about databases or tables.
    pub fn is_of_tables(&self) -> bool {
        !self.databases.is_empty() || !self.tables.is_empty()
    }

    /// Whether rows of this table are wanted.
    pub fn wants_table(&self, schema: &[u8], table: &[u8]) -> bool {
        let is = |name: &String, bytes: &[u8]| name.as_bytes() == bytes;
        (self.databases.is_empty() || self.databases.iter().any(|name| is(name, schema)))
            && (self.tables.is_empty() || self.tables.iter().any(|(of, name)| is(of, schema) && is(name, table)))
    }

    /// Whether statements in or about this database are wanted.
    pub fn wants_database(&self, schema: &[u8]) -> bool {
        let of_table = self.tables.is_empty() || self.tables.iter().any(|(of, _)| of.as_bytes() == schema);
        of_table && (self.databases.is_empty() || self.databases.iter().any(|name| name.as_bytes() == schema))
    }

    /// Whether the transaction of this GTID, or one without a GTID, is wanted.
    pub fn wants_gtid(&self, gtid: Option<Gtid>) -> bool {
        let is_in = |set: &GtidSet| gtid.is_some_and(|gtid| set.contains(gtid));
        self.include_gtids.as_ref().is_none_or(is_in) && !is_in(&self.exclude_gtids)
    }

    /// A statement's tables are not known, its databases are: what the log says that it changes, else its default one.
    fn wants_query(&self, query: &QueryEvent<'_>) -> bool {
        match query.status().updated_schemas {
            Some(names) if !names.is_empty() => names.iter().any(|name| self.wants_database(name.as_bytes())),
            _ => self.wants_database(query.schema),
        }
    }
}

/// Follows the events of a log, and says of each whether it is wanted.
#[derive(Debug)]
pub(super) struct Selector {
    filter: DumpFilter,
    tracker: TransactionTracker,
    /// The transaction that began last.
    transaction: bool,
    /// Tables by their numbers.
    tables: HashMap<u64, bool>,
}

impl Selector {
    pub(super) fn new(filter: DumpFilter) -> Self {
        Selector { filter, tracker: TransactionTracker::default(), transaction: true, tables: HashMap::new() }
    }

    /// Takes the next event.
    pub(super) fn wants(&mut self, event: &RawEvent<'_>) -> Result<bool, DecodeError> {
        if event.header.event_type.begins_transaction() {
            self.tracker = TransactionTracker::Outside;
        }
        let was_outside = self.tracker == TransactionTracker::Outside;
        // What belongs nowhere is shown as it is: whoever looks at a log may look for just that.
        if self.tracker.event(event).is_err() {
            self.tracker = TransactionTracker::Outside;
        }
        if was_outside {
            let is_one = self.tracker != TransactionTracker::Outside || event.header.event_type == EventType::QUERY;
            self.transaction = !is_one || self.wants_transaction(event)?;
        }
        Ok(self.transaction && self.wants_content(event)?)
    }

    /// Whether the transaction that began last is wanted.
    pub(super) fn in_wanted_transaction(&self) -> bool {
        self.transaction
    }

    /// An event inside of a TRANSACTION_PAYLOAD.
    pub(super) fn wants_inner(&mut self, event: &RawEvent<'_>) -> Result<bool, DecodeError> {
        Ok(self.transaction && self.wants_content(event)?)
    }

    fn wants_transaction(&self, event: &RawEvent<'_>) -> Result<bool, DecodeError> {
        let (filter, header) = (&self.filter, &event.header);
        let in_time = filter.from.is_none_or(|from| header.timestamp >= from)
            && filter.until.is_none_or(|until| header.timestamp < until);
        let gtid = match header.event_type {
            event_type if event_type.is_gtid() => GtidEvent::decode(event_type, event.body())?.gtid,
            EventType::MARIA_GTID => Some(MariaGtid::decode(event.body())?.name(header.server_id).gtid()),
            _ => None,
        };
        Ok(in_time && filter.wants_gtid(gtid))
    }

    fn wants_content(&mut self, event: &RawEvent<'_>) -> Result<bool, DecodeError> {
        if !self.filter.is_of_tables() {
            return Ok(true);
        }
        let event_type = event.header.event_type;
        Ok(match event_type {
            EventType::TABLE_MAP => {
                let name = TableMap::decode_name(event.body())?;
                let is_wanted = self.filter.wants_table(name.schema, name.table);
                self.tables.insert(name.table_id, is_wanted);
                is_wanted
            }
            EventType::QUERY => self.wants_statement(&QueryEvent::decode(event.body())?),
            EventType::MARIA_QUERY_COMPRESSED => self.wants_statement(&CompressedQuery::decode(event.body())?.head),
            EventType::EXECUTE_LOAD_QUERY => self.wants_statement(&ExecuteLoadQuery::decode(event.body())?.query),
            // The statement of rows whose tables are not known yet.
            EventType::ROWS_QUERY | EventType::MARIA_ANNOTATE_ROWS => false,
            _ if RowsKind::of(event_type).is_some()
                || CompressedRows::plain_type(event_type).is_some()
                || event_type == EventType::PARTIAL_UPDATE_ROWS =>
            {
                table_id(event.body()).and_then(|id| self.tables.get(&id)).copied().unwrap_or(true)
            }
            _ => true,
        })
    }

    fn wants_statement(&self, query: &QueryEvent<'_>) -> bool {
        query.begins_transaction() || query.ends_transaction() || self.filter.wants_query(query)
    }
}

/// The table's number: the first six bytes of each event of rows.
fn table_id(body: &[u8]) -> Option<u64> {
    let bytes: &[u8; 6] = body.first_chunk()?;
    let mut number = [0; 8];
    number[..6].copy_from_slice(bytes);
    Some(u64::from_le_bytes(number))
}
