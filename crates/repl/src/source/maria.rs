//! The log in MariaDB's dialect, for a MariaDB replica.
//!
//! ```text
//! in the log                       in the stream
//! FORMAT_DESCRIPTION               the same, with MariaDB's types in its list
//! PREVIOUS_GTIDS                   GTID_LIST
//! GTID, QUERY 'BEGIN'              MariaDB's GTID, transactional
//! GTID, QUERY of a schema change   MariaDB's GTID, standalone; the QUERY, the fraction of its time by MariaDB's code
//! GTID_TAGGED                      as GTID: MariaDB's names have no place for a tag
//! ROWS_QUERY                       ANNOTATE_ROWS if the replica wants them
//! IGNORABLE                        nothing
//! TABLE_MAP, rows with JSON         the same with LONGTEXT, which is what MariaDB's JSON is ([`maria_json`](super::maria_json))
//! everything else                  as it is; an error if MariaDB cannot read it
//! ```
//! What transactions are called there: [`maria_names`](super::maria_names).
//!
//! # Invariants
//! - A replica that names another transaction by its last GTID than this log does is refused; nothing is sent to it.
//! - Events end where they end in the log, so that a position means the same in both dialects, and the replica counts to it
//!   ([`maria_count`](super::maria_count)). The version in the
//!   FORMAT_DESCRIPTION stays that of a MySQL: the bits of `sql_mode` and the like are MySQL's.
//! - Transactions with the same commit id depend on nothing between them: all began before the first of them was committed.

use base::{LogPosition, SqlError};
use binlog::event::maria_flags::{ALLOW_PARALLEL, COMPLETED_XA, DDL, PREPARED_XA, STANDALONE, TRANSACTIONAL, WAITED};
use binlog::event::{
    CHECKSUM_SIZE, FLAG_ARTIFICIAL, FLAG_IGNORABLE, FLAG_SUPPRESS_USE, Frame, HEADER_SIZE, MariaGtid, MariaGtidList,
    QueryEvent, RowsKind, StatusVar, TableMap, XaStatement, column_type, decode_rows_query, whole_event,
};
use binlog::{DecodeError, EventHeader, EventType, FormatDescription, GtidEvent, GtidSet, LogEvent, MariaGtidName};

use super::fatal;
use super::maria_json::JsonTables;
use super::maria_names::{Had, MariaNames};

/// What types 43 to 171 have in front of their variable part, as MariaDB's FORMAT_DESCRIPTION says it: nothing up to 159.
const LATER_LENGTHS: [u8; 12] = [0, 4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10];
/// The first type of [`LATER_LENGTHS`].
const FIRST_MARIA_TYPE: usize = EventType::MARIA_ANNOTATE_ROWS.0 as usize;

/// The first status variable of a QUERY that MariaDB does not know: the schemas that it changes.
const FIRST_UNKNOWN_TO_MARIA: u8 = 12;

/// What is sent in place of an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rendered {
    /// The event as it is.
    AsIs,
    Nothing,
    Instead(Vec<u8>),
    /// One event, then another in place of the one that there is.
    Both(Vec<u8>, Vec<u8>),
}

/// A GTID whose transaction has not shown yet what it is.
struct Begun {
    header: EventHeader,
    gtid: GtidEvent,
    name: MariaGtidName,
    file: u64,
    end: LogPosition,
}

impl Begun {
    fn depends_on_the_last(&self) -> bool {
        self.gtid.last_committed > 0 && self.gtid.last_committed + 1 == self.gtid.sequence_number
    }
}

/// Transactions that may be applied side by side.
struct Group {
    file: u64,
    /// The first one's sequence number.
    first: i64,
    commit_id: u64,
}

/// One stream in MariaDB's dialect.
pub(super) struct Maria {
    wants_annotations: bool,
    /// Up to the last transaction that was read.
    names: MariaNames,
    had: Had,
    /// The stream leaves out what its first file begins with.
    begins_in_the_middle: bool,
    by_gtids: bool,
    /// Inside of a transaction that the replica has, or that is local to this server.
    skipping: bool,
    begun: Option<Begun>,
    group: Option<Group>,
    json: JsonTables,
}

impl Maria {
    /// For a stream from the beginning of a file on; all that the replica had is left out.
    pub(super) fn new(wants_annotations: bool, had: Had) -> Self {
        Maria {
            wants_annotations,
            names: MariaNames::default(),
            begins_in_the_middle: !had.is_empty(),
            by_gtids: false,
            had,
            skipping: false,
            begun: None,
            group: None,
            json: JsonTables::default(),
        }
    }

    /// For one from behind a transaction on, in the middle of a file.
    pub(super) fn behind(wants_annotations: bool, names: MariaNames) -> Self {
        Maria { names, ..Maria::new(wants_annotations, Had::default()) }
    }

    /// The same for a replica that goes on by GTIDs.
    pub(super) fn by_gtids(wants_annotations: bool, had: Had) -> Self {
        Maria { by_gtids: true, ..Maria::new(wants_annotations, had) }
    }

    /// Whether what comes is of a transaction that the replica has.
    pub(super) fn is_skipping(&self) -> bool {
        self.skipping
    }

    /// Whether the replica goes on by GTIDs, and not from where it has counted to.
    pub(super) fn is_by_gtids(&self) -> bool {
        self.by_gtids
    }

    /// Whether the stream leaves out what its first file begins with.
    pub(super) fn begins_in_the_middle(&self) -> bool {
        self.begins_in_the_middle
    }

    /// The body of a FORMAT_DESCRIPTION with MariaDB's types.
    pub(super) fn format_body(mut format: FormatDescription) -> Vec<u8> {
        format.post_header_lengths.resize(FIRST_MARIA_TYPE - 1, 0);
        format.post_header_lengths.extend_from_slice(&LATER_LENGTHS);
        // Its own entry: the length of what is in front of the checksum's algorithm.
        let own = 2 + 50 + 4 + 1 + format.post_header_lengths.len();
        format.post_header_lengths[usize::from(EventType::FORMAT_DESCRIPTION.0) - 1] = own as u8;
        let mut body = Vec::new();
        format.encode_body(&mut body);
        body
    }

    /// Takes the next event of the log, in its order.
    pub(super) fn event(&mut self, event: &LogEvent) -> Result<Rendered, SqlError> {
        let event_type = event.header.event_type;
        match event_type {
            EventType::PREVIOUS_GTIDS => return self.begin_file(event),
            _ if event_type.is_gtid() => return self.begin_transaction(event),
            EventType::ROTATE | EventType::STOP => self.skipping = false,
            _ if self.skipping => return Ok(Rendered::Nothing),
            EventType::QUERY if self.begun.is_some() => return self.begin_group(event),
            EventType::ROWS_QUERY => return self.annotation(event),
            EventType::TABLE_MAP => {
                check_types(event)?;
                return self.json.table_map(event);
            }
            EventType::QUERY | EventType::XID | EventType::XA_PREPARE => {}
            _ if RowsKind::of(event_type).is_some() => return self.json.rows(event),
            _ if event.header.flags & FLAG_IGNORABLE != 0 => return Ok(Rendered::Nothing),
            other => return Err(fatal(format!("MariaDB has no equal of an event of type {}", other.name()))),
        }
        Ok(Rendered::AsIs)
    }

    fn begin_file(&mut self, event: &LogEvent) -> Result<Rendered, SqlError> {
        self.skipping = false;
        self.group = None;
        let previous = GtidSet::decode(event.raw().body()).map_err(damaged)?;
        let mut names = MariaNames::behind(&previous);
        names.follow(&self.names);
        self.had.begin_file(&previous, &names);
        self.names = names;
        let position = self.names.position(event.header.server_id).into_iter();
        let gtids = position.map(|name| (name.domain_id, name.server_id, name.seq_no)).collect();
        let mut body = Vec::new();
        MariaGtidList { flags: 0, gtids }.encode_body(&mut body);
        Ok(Rendered::Instead(ending_at(EventType::MARIA_GTID_LIST, frame(&event.header, 0), event.end, &body)))
    }

    fn begin_transaction(&mut self, event: &LogEvent) -> Result<Rendered, SqlError> {
        let head = GtidEvent::decode(event.header.event_type, event.raw().body()).map_err(damaged)?;
        let Some(gtid) = head.gtid else {
            self.skipping = true;
            return Ok(Rendered::Nothing);
        };
        let name = self.names.next(gtid, event.header.server_id);
        self.skipping = self.had.has(gtid, name)?;
        if !self.skipping {
            self.begun = Some(Begun { header: event.header, gtid: head, name, file: event.start.file, end: event.end });
        }
        Ok(Rendered::Nothing)
    }

    /// The first QUERY behind a GTID: `BEGIN`, or a statement that is alone.
    fn begin_group(&mut self, event: &LogEvent) -> Result<Rendered, SqlError> {
        let Some(begun) = self.begun.take() else { return Ok(Rendered::AsIs) };
        let raw = event.raw();
        let query = QueryEvent::decode(raw.body()).map_err(damaged)?;
        let is_transaction = query.begins_transaction();
        self.join_group(&begun, is_transaction);
        let (kind, xid) = match XaStatement::of(query.sql).map_err(damaged)? {
            Some(XaStatement::Start(xid)) => (TRANSACTIONAL | PREPARED_XA, Some(xid)),
            Some(XaStatement::Commit(xid) | XaStatement::Rollback(xid)) => {
                (TRANSACTIONAL | STANDALONE | COMPLETED_XA, Some(xid))
            }
            _ if is_transaction => (TRANSACTIONAL, None),
            _ => (STANDALONE | DDL, None),
        };
        let gtid = MariaGtid {
            seq_no: begun.name.seq_no,
            domain_id: begun.name.domain_id,
            flags: kind | ALLOW_PARALLEL | if is_transaction && begun.depends_on_the_last() { WAITED } else { 0 },
            xid,
            commit_id: self.group.as_ref().map(|group| group.commit_id),
            ..MariaGtid::default()
        };
        let mut body = Vec::new();
        gtid.encode_body(&mut body);
        let end = if is_transaction { event.end } else { begun.end };
        let frame = Frame { server_id: begun.name.server_id, ..frame(&begun.header, FLAG_SUPPRESS_USE) };
        let bytes = ending_at(EventType::MARIA_GTID, frame, end, &body);
        Ok(match is_transaction {
            true => Rendered::Instead(bytes),
            false => Rendered::Both(bytes, with_fraction(event, &query)),
        })
    }

    /// Transactions that all began before the first of them was committed have the same commit id.
    fn join_group(&mut self, begun: &Begun, is_transaction: bool) {
        let Begun { gtid, file, .. } = begun;
        if !is_transaction || gtid.sequence_number <= 0 {
            self.group = None;
            return;
        }
        let fits = |group: &Group| group.file == *file && gtid.last_committed < group.first;
        if !self.group.as_ref().is_some_and(fits) {
            self.group = Some(Group { file: *file, first: gtid.sequence_number, commit_id: self.names.count() });
        }
    }

    fn annotation(&self, event: &LogEvent) -> Result<Rendered, SqlError> {
        if !self.wants_annotations {
            return Ok(Rendered::Nothing);
        }
        let text = decode_rows_query(event.raw().body()).map_err(damaged)?;
        let frame = frame(&event.header, 0);
        Ok(Rendered::Instead(ending_at(EventType::MARIA_ANNOTATE_ROWS, frame, event.end, text)))
    }
}

/// The fraction of a second of a statement's time has another code at a MariaDB, which stops reading at the first code of MySQL's that it does not know, and
/// makes one up where there is none.
fn with_fraction(event: &LogEvent, query: &QueryEvent<'_>) -> Vec<u8> {
    let fraction = query.status().microseconds.unwrap_or(0);
    let mut vars = StatusVar::decode_all(query.status);
    vars.retain(|var| var.code() < FIRST_UNKNOWN_TO_MARIA);
    vars.push(StatusVar::MariaMicroseconds(fraction));
    let mut status = Vec::new();
    StatusVar::encode_all(&vars, &mut status);
    let mut body = Vec::new();
    QueryEvent { status: &status, ..*query }.encode_body(&mut body);
    let header = &event.header;
    ending_at(header.event_type, frame(header, header.flags), event.end, &body)
}

pub(super) fn frame(header: &EventHeader, flags: u16) -> Frame {
    Frame { timestamp: header.timestamp, server_id: header.server_id, flags: flags & !FLAG_ARTIFICIAL }
}

/// An event of another length than the one it stands for, ending where that ends.
pub(super) fn ending_at(event_type: EventType, frame: Frame, end: LogPosition, body: &[u8]) -> Vec<u8> {
    let len = (HEADER_SIZE + body.len() + CHECKSUM_SIZE) as u64;
    // Positions in events are modulo 4 GiB, so this is the length before `end` wherever that is.
    whole_event(event_type, frame, (1 << 32) + end.offset - len, body)
}

/// Columns that MariaDB's tables cannot have.
fn check_types(event: &LogEvent) -> Result<(), SqlError> {
    let map = TableMap::decode(event.raw().body()).map_err(damaged)?;
    let unknown = [(column_type::VECTOR, "VECTOR")];
    let found = unknown.iter().find(|(code, _)| map.columns.iter().any(|column| column.type_code == *code));
    match found {
        None => Ok(()),
        Some((_, name)) => Err(fatal(format!(
            "table '{}.{}' has a column of type {name}, which MariaDB has no equal of in its log",
            map.schema, map.table
        ))),
    }
}

pub(super) fn damaged(error: DecodeError) -> SqlError {
    fatal(format!("bogus data in log event; {error}"))
}
