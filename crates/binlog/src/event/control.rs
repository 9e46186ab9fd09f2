//! Events about the log itself: ROTATE, STOP, heartbeats, PREVIOUS_GTIDS, INCIDENT; and the small ones XID and ROWS_QUERY.

use super::{EventType, Frame, HEADER_SIZE, RawEvent, put_event, whole_event};
use crate::cursor::{Cursor, put_bytes8, put_lenenc};
use crate::error::DecodeError;
use crate::gtid_set::GtidSet;

/// ROTATE: the log goes on elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotate {
    /// Offset of the first event there.
    pub position: u64,
    /// Name of the next file.
    pub file: String,
}

impl Rotate {
    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "ROTATE");
        let position = cursor.u64()?;
        let file = String::from_utf8(cursor.rest().to_vec()).map_err(|_| DecodeError::new("ROTATE: bad file name"))?;
        Ok(Rotate { position, file })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.position.to_le_bytes());
        out.extend_from_slice(self.file.as_bytes());
    }

    /// Appends the event.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, frame: Frame) {
        put_event(out, EventType::ROTATE, frame, |out| self.encode_body(out));
    }

    /// The ROTATE that a dump thread makes up: no time, no position, flag artificial.
    pub fn fake(&self, server_id: u32, with_checksum: bool) -> Vec<u8> {
        let frame = Frame { timestamp: 0, server_id, flags: super::FLAG_ARTIFICIAL };
        let mut body = Vec::new();
        self.encode_body(&mut body);
        artificial(EventType::ROTATE, frame, 0, &body, with_checksum)
    }
}

/// Where the source is, told when it has nothing else to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The source's current file.
    pub file: String,
    /// The end of what it has sent of it.
    pub position: u64,
}

/// How a heartbeat says its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartbeatForm {
    /// Version 1: in the header, modulo 4 GiB; the body is the name.
    Header,
    /// MariaDB's version 1 beyond 4 GiB: 0 in the header, and a `u64` in front of the name.
    SubHeader,
    /// Version 2: numbered fields.
    Fields,
}

/// From here on a position does not fit into the header.
const HEADER_POSITIONS: u64 = 1 << 32;

/// A heartbeat event, complete. Version 1 keeps the position in the header and cannot say one past 4 GiB in MySQL's
/// dialect; version 2 has it in the body.
pub fn encode_heartbeat(at: &Heartbeat, server_id: u32, version_2: bool, with_checksum: bool) -> Vec<u8> {
    let frame = Frame { timestamp: 0, server_id, flags: super::FLAG_ARTIFICIAL };
    if !version_2 {
        return artificial(EventType::HEARTBEAT, frame, at.position as u32, at.file.as_bytes(), with_checksum);
    }
    let mut body = Vec::new();
    at.encode_body(HeartbeatForm::Fields, &mut body);
    artificial(EventType::HEARTBEAT_V2, frame, 0, &body, with_checksum)
}

/// A heartbeat as MariaDB sends it, complete: of version 1, with the whole position wherever it is.
pub fn encode_maria_heartbeat(at: &Heartbeat, server_id: u32, with_checksum: bool) -> Vec<u8> {
    let frame = Frame { timestamp: 0, server_id, flags: super::FLAG_ARTIFICIAL };
    let (form, position) = match u32::try_from(at.position) {
        Ok(position) => (HeartbeatForm::Header, position),
        Err(_) => (HeartbeatForm::SubHeader, 0),
    };
    let mut body = Vec::new();
    at.encode_body(form, &mut body);
    artificial(EventType::HEARTBEAT, frame, position, &body, with_checksum)
}

impl Heartbeat {
    /// Reads a heartbeat of either version and dialect.
    pub fn decode(event: &RawEvent<'_>) -> Result<Self, DecodeError> {
        Self::decode_form(event).map(|(heartbeat, _)| heartbeat)
    }

    /// Reads a heartbeat; says how it was told.
    pub fn decode_form(event: &RawEvent<'_>) -> Result<(Self, HeartbeatForm), DecodeError> {
        let body = event.body();
        if event.header.event_type == EventType::HEARTBEAT_V2 {
            return Ok((Self::decode_fields(body)?, HeartbeatForm::Fields));
        }
        let mut cursor = Cursor::new(body, "HEARTBEAT");
        // A position has zeros in its upper bytes, and a file's name has none, so the two cannot be confused.
        let position = cursor.u64().ok().filter(|&at| at >= HEADER_POSITIONS && at.leading_zeros() >= 8);
        match position.filter(|_| event.header.next_position == 0) {
            Some(position) => Ok((Heartbeat { file: name(cursor.rest()), position }, HeartbeatForm::SubHeader)),
            None => {
                let position = event.header.next_position.into();
                Ok((Heartbeat { file: name(body), position }, HeartbeatForm::Header))
            }
        }
    }

    pub(super) fn decode_fields(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "HEARTBEAT_V2");
        let mut heartbeat = Heartbeat { file: String::new(), position: 0 };
        while !cursor.is_empty() {
            let field = cursor.lenenc()?;
            if field == 0 {
                break;
            }
            let len = cursor.lenenc_len()?;
            let mut value = cursor.sub(len)?;
            match field {
                1 => heartbeat.file = name(value.rest()),
                2 => heartbeat.position = value.lenenc()?,
                _ => {}
            }
        }
        Ok(heartbeat)
    }

    /// Appends the body; of [`HeartbeatForm::Header`] the position is not part.
    pub fn encode_body(&self, form: HeartbeatForm, out: &mut Vec<u8>) {
        let file = self.file.as_bytes();
        if form != HeartbeatForm::Fields {
            if form == HeartbeatForm::SubHeader {
                out.extend_from_slice(&self.position.to_le_bytes());
            }
            return out.extend_from_slice(file);
        }
        let mut position = Vec::new();
        put_lenenc(&mut position, self.position);
        for (field, value) in [(1, file), (2, &position)] {
            put_lenenc(out, field);
            put_lenenc(out, value.len() as u64);
            out.extend_from_slice(value);
        }
        put_lenenc(out, 0);
    }
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An event that is in no file: its position is given, and the checksum may be missing.
fn artificial(event_type: EventType, frame: Frame, next_position: u32, body: &[u8], with_checksum: bool) -> Vec<u8> {
    let size = (HEADER_SIZE + body.len() + super::CHECKSUM_SIZE) as u64;
    // `whole_event` adds the event's size to its offset, modulo 4 GiB.
    let offset = (u64::from(next_position) + (1 << 32)) - size % (1 << 32);
    let mut event = whole_event(event_type, frame, offset, body);
    if !with_checksum {
        event.truncate(event.len() - super::CHECKSUM_SIZE);
        super::close_event(&mut event, 0);
    }
    event
}

/// Appends PREVIOUS_GTIDS: all that was in the files before.
pub fn encode_previous_gtids(out: &mut Vec<u8>, frame: Frame, gtids: &GtidSet) {
    put_event(out, EventType::PREVIOUS_GTIDS, frame, |out| gtids.encode(out));
}

/// The number in an XID's body.
pub fn decode_xid(body: &[u8]) -> Result<u64, DecodeError> {
    Cursor::new(body, "XID").u64()
}

/// The statement in a ROWS_QUERY's body: the length in front is cut to a byte and says nothing.
pub fn decode_rows_query(body: &[u8]) -> Result<&[u8], DecodeError> {
    RowsQuery::decode(body).map(|query| query.sql)
}

/// ROWS_QUERY: the statement whose rows follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsQuery<'a> {
    /// The byte in front of the statement: its length modulo 256, or 0 as MySQL 9.7 writes it. It says nothing.
    pub stored_length: u8,
    /// The statement.
    pub sql: &'a [u8],
}

impl<'a> RowsQuery<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "ROWS_QUERY");
        Ok(RowsQuery { stored_length: cursor.u8()?, sql: cursor.rest() })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.push(self.stored_length);
        out.extend_from_slice(self.sql);
    }
}

/// INCIDENT: something happened that the log does not tell, such as events that were lost.
///
/// ```text
/// | incident u16 | length u8, message |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incident<'a> {
    /// 1: events were lost.
    pub incident: u16,
    /// At most 255 bytes.
    pub message: &'a [u8],
}

impl<'a> Incident<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "INCIDENT");
        Ok(Incident { incident: cursor.u16()?, message: cursor.bytes8()? })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.incident.to_le_bytes());
        put_bytes8(out, self.message);
    }
}

/// LARGE_TRANSACTION_HEADER: in front of the only transaction of a file, where that ends. Proposed for MySQL; ignorable.
///
/// ```text
/// | version u8 (1) | offset of the last event u64 | its type u8 | padding … |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeTransactionHeader {
    /// Where in the file the event begins that ends the transaction.
    pub end_offset: u64,
    /// QUERY, XID or XA_PREPARE.
    pub end_type: EventType,
    /// Bytes behind it that say nothing.
    pub padding: usize,
}

impl LargeTransactionHeader {
    const VERSION: u8 = 1;

    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "LARGE_TRANSACTION_HEADER");
        match cursor.u8()? {
            Self::VERSION => Ok(LargeTransactionHeader {
                end_offset: cursor.u64()?,
                end_type: EventType(cursor.u8()?),
                padding: cursor.len(),
            }),
            other => Err(DecodeError::new(format!("LARGE_TRANSACTION_HEADER of version {other}"))),
        }
    }

    /// Appends the body; the padding is zeros.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.push(Self::VERSION);
        out.extend_from_slice(&self.end_offset.to_le_bytes());
        out.push(self.end_type.0);
        out.resize(out.len() + self.padding, 0);
    }
}
