//! Events about the log itself: ROTATE, STOP, heartbeats, PREVIOUS_GTIDS; and the small ones XID and ROWS_QUERY.

use super::{EventType, Frame, HEADER_SIZE, RawEvent, put_event, whole_event};
use crate::cursor::{Cursor, put_lenenc};
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

    /// Appends the event.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, frame: Frame) {
        put_event(out, EventType::ROTATE, frame, |out| {
            out.extend_from_slice(&self.position.to_le_bytes());
            out.extend_from_slice(self.file.as_bytes());
        });
    }

    /// The ROTATE that a dump thread makes up: no time, no position, flag artificial.
    pub fn fake(&self, server_id: u32, with_checksum: bool) -> Vec<u8> {
        let frame = Frame { timestamp: 0, server_id, flags: super::FLAG_ARTIFICIAL };
        let mut body = self.position.to_le_bytes().to_vec();
        body.extend_from_slice(self.file.as_bytes());
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

/// A heartbeat event, complete. Version 1 keeps the position in the header and cannot say one past 4 GiB in MySQL's
/// dialect; version 2 has it in the body.
pub fn encode_heartbeat(at: &Heartbeat, server_id: u32, version_2: bool, with_checksum: bool) -> Vec<u8> {
    let frame = Frame { timestamp: 0, server_id, flags: super::FLAG_ARTIFICIAL };
    if !version_2 {
        return artificial(EventType::HEARTBEAT, frame, at.position as u32, at.file.as_bytes(), with_checksum);
    }
    let mut position = Vec::new();
    put_lenenc(&mut position, at.position);
    let mut body = Vec::new();
    for (field, value) in [(1, at.file.as_bytes()), (2, &position)] {
        put_lenenc(&mut body, field);
        put_lenenc(&mut body, value.len() as u64);
        body.extend_from_slice(value);
    }
    put_lenenc(&mut body, 0);
    artificial(EventType::HEARTBEAT_V2, frame, 0, &body, with_checksum)
}

impl Heartbeat {
    /// Reads a heartbeat of either version.
    pub fn decode(event: &RawEvent<'_>) -> Result<Self, DecodeError> {
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if event.header.event_type == EventType::HEARTBEAT {
            return Ok(Heartbeat { file: name(event.body()), position: event.header.next_position.into() });
        }
        let mut cursor = Cursor::new(event.body(), "HEARTBEAT_V2");
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
    body.get(1..).ok_or_else(|| DecodeError::short("ROWS_QUERY"))
}
