//! Events of the binary log, version 4: the frame that all share, and one module per kind of body.
//!
//! Each kind has a struct with `decode` and `encode_body`, which borrows what can be long; [`EventBody`] is any of them, for
//! readers that want everything. Encoders write what has no room in the format cut to it, so encoding does not fail.
//!
//! ```text
//! | timestamp u32 | type u8 | server_id u32 | event_length u32 | next_position u32 | flags u16 |  body … | crc32 u32 |
//! 0               4         5               9                  13                  17          19
//! ```
//! `event_length` counts everything from the timestamp to the checksum. `next_position` is the offset behind the event
//! in its file, and wraps at 4 GiB. The checksum (zlib's CRC-32) covers all bytes before it; for a FORMAT_DESCRIPTION
//! as if its flag [`FLAG_BINLOG_IN_USE`] were not set, because that bit is rewritten in place when a file is sealed.

mod body;
mod compressed;
mod control;
mod format;
mod fragments;
mod group_replication;
mod gtid;
mod gtid_tagged;
mod load;
mod maria;
mod obsolete;
mod partial_update;
mod payload;
mod query;
mod rows;
mod status;
mod table_map;
mod table_maps;
mod table_meta;
mod variables;
mod xa;

pub use body::{EventBody, check_age};
pub use compressed::{CompressedBlock, CompressedQuery, CompressedRows};
pub use control::{
    Heartbeat, HeartbeatForm, Incident, LargeTransactionHeader, Rotate, RowsQuery, decode_rows_query, decode_xid,
    encode_heartbeat, encode_maria_heartbeat, encode_previous_gtids,
};
pub(crate) use format::HEADER_LENGTH_OFFSET;
pub use format::{ChecksumAlgorithm, Dialect, FormatDescription};
pub use fragments::{Fragments, PartialRowData};
pub use group_replication::{TransactionContext, ViewChange};
pub use gtid::GtidEvent;
pub use load::{ExecuteLoadQuery, FileBlock, decode_file_id};
pub use maria::{
    AlterPhase, MariaGtid, MariaGtidExtra, MariaGtidList, StartEncryption, decode_binlog_checkpoint,
    encode_binlog_checkpoint, maria_flags,
};
pub use obsolete::{OldLoad, SlavePosition, StartV3};
pub use partial_update::{JsonDiff, PartialRow, PartialRows, PartialUpdateRows, partial_image_head};
pub use payload::{PayloadCompression, PayloadEvents, PayloadLimits, TransactionPayload};
pub use query::{QueryContext, QueryEvent};
pub use rows::{ExtraRowInfo, Images, RowsEvent, RowsKind, RowsVersion, rows_flags};
pub use status::{StatusVar, StatusVars, flags2};
pub(crate) use table_map::VARCHAR_COMPRESSED;
pub use table_map::{ColumnMeta, TableMap, TableName, column_type};
pub use table_maps::TransactionMaps;
pub use table_meta::{DefaultCharset, MetadataField, TableMapEvent};
pub use variables::{IntVar, RandSeeds, UserData, UserValue, UserVar};
pub use xa::{XaPrepare, XaStatement, Xid};

use crate::error::DecodeError;

/// The first bytes of every log file.
pub const MAGIC: [u8; 4] = [0xfe, b'b', b'i', b'n'];
/// The first bytes of a log file that MySQL encrypted (`binlog_encryption`). MariaDB's encrypted files begin as others do, and
/// have a START_ENCRYPTION.
pub const ENCRYPTED_MAGIC: [u8; 4] = [0xfd, b'b', b'i', b'n'];
/// Bytes of an event's header.
pub const HEADER_SIZE: usize = 19;
/// Bytes of an event's checksum.
pub const CHECKSUM_SIZE: usize = 4;
/// Offset of `event_length` in the header.
pub(crate) const LENGTH_OFFSET: usize = 9;
/// Offset of `next_position` in the header.
pub(crate) const NEXT_POSITION_OFFSET: usize = 13;
/// Offset of `flags` in the header.
pub const FLAGS_OFFSET: usize = 17;

/// The file is being written, or was when its server died (FORMAT_DESCRIPTION only).
pub const FLAG_BINLOG_IN_USE: u16 = 0x0001;
/// The statement depends on its connection (temporary tables).
pub const FLAG_THREAD_SPECIFIC: u16 = 0x0004;
/// No `USE` is needed before the statement.
pub const FLAG_SUPPRESS_USE: u16 = 0x0008;
/// Made by a dump thread, not in any file.
pub const FLAG_ARTIFICIAL: u16 = 0x0020;
/// Who does not know the type may skip the event.
pub const FLAG_IGNORABLE: u16 = 0x0080;

/// The type of an event. A newtype: types that we do not know pass through unharmed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventType(pub u8);

macro_rules! event_types {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        #[allow(missing_docs, reason = "the names are those of the format, documented in its references")]
        impl EventType {
            $(pub const $name: EventType = EventType($code);)*

            /// As `SHOW BINLOG EVENTS` names it.
            pub fn name(self) -> &'static str {
                match self.0 { $($code => $text,)* _ => "Unknown" }
            }
        }
    };
}

event_types! {
    UNKNOWN = 0, "Unknown";
    START_V3 = 1, "Start_v3";
    QUERY = 2, "Query";
    STOP = 3, "Stop";
    ROTATE = 4, "Rotate";
    INTVAR = 5, "Intvar";
    LOAD = 6, "Load";
    SLAVE = 7, "Slave";
    CREATE_FILE = 8, "Create_file";
    APPEND_BLOCK = 9, "Append_block";
    EXEC_LOAD = 10, "Exec_load";
    DELETE_FILE = 11, "Delete_file";
    NEW_LOAD = 12, "New_load";
    RAND = 13, "RAND";
    USER_VAR = 14, "User var";
    FORMAT_DESCRIPTION = 15, "Format_desc";
    XID = 16, "Xid";
    BEGIN_LOAD_QUERY = 17, "Begin_load_query";
    EXECUTE_LOAD_QUERY = 18, "Execute_load_query";
    TABLE_MAP = 19, "Table_map";
    PRE_GA_WRITE_ROWS = 20, "Write_rows_event_old";
    PRE_GA_UPDATE_ROWS = 21, "Update_rows_event_old";
    PRE_GA_DELETE_ROWS = 22, "Delete_rows_event_old";
    WRITE_ROWS_V1 = 23, "Write_rows_v1";
    UPDATE_ROWS_V1 = 24, "Update_rows_v1";
    DELETE_ROWS_V1 = 25, "Delete_rows_v1";
    INCIDENT = 26, "Incident";
    HEARTBEAT = 27, "Heartbeat";
    IGNORABLE = 28, "Ignorable";
    ROWS_QUERY = 29, "Rows_query";
    WRITE_ROWS = 30, "Write_rows";
    UPDATE_ROWS = 31, "Update_rows";
    DELETE_ROWS = 32, "Delete_rows";
    GTID = 33, "Gtid";
    ANONYMOUS_GTID = 34, "Anonymous_Gtid";
    PREVIOUS_GTIDS = 35, "Previous_gtids";
    TRANSACTION_CONTEXT = 36, "Transaction_context";
    VIEW_CHANGE = 37, "View_change";
    XA_PREPARE = 38, "XA_prepare";
    PARTIAL_UPDATE_ROWS = 39, "Update_rows_partial";
    TRANSACTION_PAYLOAD = 40, "Transaction_payload";
    HEARTBEAT_V2 = 41, "Heartbeat_v2";
    GTID_TAGGED = 42, "Gtid_tagged_log_event";
    LARGE_TRANSACTION_HEADER = 43, "Large_transaction_header";
    MARIA_ANNOTATE_ROWS = 160, "Annotate_rows";
    MARIA_BINLOG_CHECKPOINT = 161, "Binlog_checkpoint";
    MARIA_GTID = 162, "Gtid";
    MARIA_GTID_LIST = 163, "Gtid_list";
    MARIA_START_ENCRYPTION = 164, "Start_encryption";
    MARIA_QUERY_COMPRESSED = 165, "Query_compressed";
    MARIA_WRITE_ROWS_COMPRESSED_V1 = 166, "Write_rows_compressed_v1";
    MARIA_UPDATE_ROWS_COMPRESSED_V1 = 167, "Update_rows_compressed_v1";
    MARIA_DELETE_ROWS_COMPRESSED_V1 = 168, "Delete_rows_compressed_v1";
    MARIA_WRITE_ROWS_COMPRESSED = 169, "Write_rows_compressed";
    MARIA_UPDATE_ROWS_COMPRESSED = 170, "Update_rows_compressed";
    MARIA_DELETE_ROWS_COMPRESSED = 171, "Delete_rows_compressed";
    MARIA_PARTIAL_ROW_DATA = 172, "Partial_row_data";
}

impl EventType {
    /// Whether a transaction begins with it, in either dialect.
    pub fn begins_transaction(self) -> bool {
        self.is_gtid() || self == EventType::MARIA_GTID
    }

    /// Whether it is never part of a transaction, in any log.
    pub fn stands_between(self) -> bool {
        matches!(
            self,
            EventType::FORMAT_DESCRIPTION
                | EventType::PREVIOUS_GTIDS
                | EventType::ROTATE
                | EventType::STOP
                | EventType::MARIA_GTID_LIST
                | EventType::MARIA_BINLOG_CHECKPOINT
        )
    }

    /// Whether it says something of the statement behind it: a variable, a number, what is in a file.
    pub fn precedes_statement(self) -> bool {
        matches!(
            self,
            EventType::INTVAR
                | EventType::RAND
                | EventType::USER_VAR
                | EventType::BEGIN_LOAD_QUERY
                | EventType::APPEND_BLOCK
        )
    }

    /// Whether it is part of a LOAD DATA as servers before MySQL 5.0.3 logged it.
    pub fn is_old_load(self) -> bool {
        matches!(self, EventType::LOAD | EventType::NEW_LOAD | EventType::CREATE_FILE | EventType::EXEC_LOAD)
    }

    /// Whether it has rows of a table, in any form that is still written.
    pub fn has_rows(self) -> bool {
        matches!(self, EventType(23..=25) | EventType(30..=32) | EventType::PARTIAL_UPDATE_ROWS | EventType(166..=171))
    }

    /// Whether a transaction of MySQL's dialect begins with it: with a GTID, with a tag or without, or with none.
    pub fn is_gtid(self) -> bool {
        matches!(self, EventType::GTID | EventType::ANONYMOUS_GTID | EventType::GTID_TAGGED)
    }
}

impl std::fmt::Debug for EventType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({})", self.name(), self.0)
    }
}

/// The header of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHeader {
    /// Seconds since 1970.
    pub timestamp: u32,
    /// What it is.
    pub event_type: EventType,
    /// The server where the event was born.
    pub server_id: u32,
    /// Header, body and checksum, in bytes.
    pub event_length: u32,
    /// Offset of the event after it in its file, modulo 4 GiB; 0 where it has none.
    pub next_position: u32,
    /// `FLAG_…`.
    pub flags: u16,
}

impl EventHeader {
    /// Reads the first 19 bytes; checks only that the length is possible.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let bytes: &[u8; HEADER_SIZE] = bytes.first_chunk().ok_or_else(|| DecodeError::short("event header"))?;
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let header = EventHeader {
            timestamp: u32_at(0),
            event_type: EventType(bytes[4]),
            server_id: u32_at(5),
            event_length: u32_at(LENGTH_OFFSET),
            next_position: u32_at(NEXT_POSITION_OFFSET),
            flags: u16::from_le_bytes([bytes[FLAGS_OFFSET], bytes[FLAGS_OFFSET + 1]]),
        };
        if (header.event_length as usize) < HEADER_SIZE {
            return Err(DecodeError::new(format!("event of {} bytes is shorter than a header", header.event_length)));
        }
        Ok(header)
    }

    /// Appends the 19 bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.timestamp.to_le_bytes());
        out.push(self.event_type.0);
        out.extend_from_slice(&self.server_id.to_le_bytes());
        out.extend_from_slice(&self.event_length.to_le_bytes());
        out.extend_from_slice(&self.next_position.to_le_bytes());
        out.extend_from_slice(&self.flags.to_le_bytes());
    }
}

/// One event as it is in the file: header, body, checksum.
#[derive(Clone, Copy, Debug)]
pub struct RawEvent<'a> {
    /// Its header.
    pub header: EventHeader,
    /// All of its bytes.
    pub bytes: &'a [u8],
    checksum_size: usize,
}

impl<'a> RawEvent<'a> {
    /// Takes the first event of `bytes`, which may go on behind it. The checksum is not checked.
    pub fn first_of(bytes: &'a [u8], checksum: ChecksumAlgorithm) -> Result<Self, DecodeError> {
        let header = EventHeader::decode(bytes)?;
        let event = bytes.get(..header.event_length as usize).ok_or_else(|| DecodeError::short("event"))?;
        let has_room = match header.event_type {
            // It has room for a checksum even where the others have none, if its server knew of checksums at all.
            EventType::FORMAT_DESCRIPTION => event
                .get(HEADER_SIZE..)
                .and_then(format::version_in)
                .is_none_or(|version| format::has_algorithm(&version)),
            _ => checksum == ChecksumAlgorithm::Crc32,
        };
        let checksum_size = if has_room { CHECKSUM_SIZE } else { 0 };
        if event.len() < HEADER_SIZE + checksum_size {
            return Err(DecodeError::short("event"));
        }
        Ok(RawEvent { header, bytes: event, checksum_size })
    }

    /// What is between header and checksum.
    pub fn body(&self) -> &'a [u8] {
        &self.bytes[HEADER_SIZE..self.bytes.len() - self.checksum_size]
    }

    /// The checksum as written, if it has one.
    pub fn checksum(&self) -> Option<u32> {
        let at = self.bytes.len() - self.checksum_size;
        self.bytes[at..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Whether the checksum is right; an event without one is taken as it is.
    pub fn verify(&self) -> Result<(), DecodeError> {
        match self.checksum() {
            Some(stored) if stored != checksum_of(self.bytes) => Err(DecodeError::new(format!(
                "checksum of {:?} event is {stored:#010x}, its bytes give {:#010x}",
                self.header.event_type,
                checksum_of(self.bytes)
            ))),
            _ => Ok(()),
        }
    }
}

/// The events in `bytes`, one after the other, without checking their checksums.
pub struct EventIter<'a> {
    rest: &'a [u8],
    checksum: ChecksumAlgorithm,
    /// Where the next one begins in its file, if that is known.
    at: Option<u64>,
}

impl<'a> EventIter<'a> {
    /// Over whole events.
    pub fn new(bytes: &'a [u8], checksum: ChecksumAlgorithm) -> Self {
        EventIter { rest: bytes, checksum, at: None }
    }

    /// They begin at this offset of their file, and have to say so: a right event may have been written to a wrong place.
    pub(crate) fn at(self, offset: u64) -> Self {
        EventIter { at: Some(offset), ..self }
    }

    fn check_place(&mut self, event: &RawEvent<'_>) -> Result<(), DecodeError> {
        let Some(at) = &mut self.at else { return Ok(()) };
        *at += event.bytes.len() as u64;
        match event.header.next_position {
            // MariaDB leaves the position out inside of groups.
            said if said == *at as u32 || said == 0 => Ok(()),
            said => Err(DecodeError::new(format!("event says that it ends at {said}, not {at}"))),
        }
    }
}

impl<'a> Iterator for EventIter<'a> {
    type Item = Result<RawEvent<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let event = RawEvent::first_of(self.rest, self.checksum);
        let event = event.and_then(|event| self.check_place(&event).map(|()| event));
        self.rest = event.as_ref().map_or(&[], |event| &self.rest[event.bytes.len()..]);
        Some(event)
    }
}

/// The checksum that the bytes of an event (with room for it at the end) should have.
pub(crate) fn checksum_of(event: &[u8]) -> u32 {
    let covered = &event[..event.len() - CHECKSUM_SIZE];
    if EventType(event[4]) != EventType::FORMAT_DESCRIPTION {
        return crc32fast::hash(covered);
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&covered[..FLAGS_OFFSET]);
    hasher.update(&[covered[FLAGS_OFFSET] & !(FLAG_BINLOG_IN_USE as u8)]);
    hasher.update(&covered[FLAGS_OFFSET + 1..]);
    hasher.finalize()
}

/// Writes the checksum into the last four bytes.
pub(crate) fn seal(event: &mut [u8]) {
    let checksum = checksum_of(event);
    let at = event.len() - CHECKSUM_SIZE;
    event[at..].copy_from_slice(&checksum.to_le_bytes());
}

/// What an event made by us needs besides its body.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Seconds since 1970.
    pub timestamp: u32,
    /// Of the server where it is born.
    pub server_id: u32,
    /// `FLAG_…`.
    pub flags: u16,
}

/// Appends an event with its body written by `body`; position and checksum are filled in later by [`finish_at`].
pub(crate) fn put_event(out: &mut Vec<u8>, event_type: EventType, frame: Frame, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    let Frame { timestamp, server_id, flags } = frame;
    EventHeader { timestamp, event_type, server_id, event_length: 0, next_position: 0, flags }.encode(out);
    body(out);
    out.extend_from_slice(&[0; CHECKSUM_SIZE]);
    close_event(out, start);
}

/// Writes the length of the event that began at `start` and ends at the end of `out`.
pub(crate) fn close_event(out: &mut [u8], start: usize) {
    let length = (out.len() - start) as u32;
    out[start + LENGTH_OFFSET..start + LENGTH_OFFSET + 4].copy_from_slice(&length.to_le_bytes());
}

/// Writes the length of the only event in `event`.
pub(crate) fn set_length(event: &mut [u8]) {
    close_event(event, 0);
}

/// Fills the position and the checksum of an event that begins at `offset` of its file.
pub(crate) fn finish_at(event: &mut [u8], offset: u64) {
    let next_position = (offset + event.len() as u64) as u32;
    event[NEXT_POSITION_OFFSET..NEXT_POSITION_OFFSET + 4].copy_from_slice(&next_position.to_le_bytes());
    seal(event);
}

/// A whole event of one body, complete with position and checksum: for single events such as ROTATE.
pub fn whole_event(event_type: EventType, frame: Frame, offset: u64, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_SIZE + body.len() + CHECKSUM_SIZE);
    put_event(&mut out, event_type, frame, |out| out.extend_from_slice(body));
    finish_at(&mut out, offset);
    out
}
