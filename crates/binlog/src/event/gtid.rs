//! GTID, ANONYMOUS_GTID and GTID_TAGGED: the head of each transaction in MySQL's dialect.
//!
//! ```text
//! | flags u8 | uuid 16 | gno u64 | 2 u8 | last_committed u64 | sequence_number u64 |
//! | immediate commit time u56, top bit: original follows | [original u56] | transaction_length lenenc |
//! | immediate server version u32, top bit: original follows | [original u32] |
//! ```
//! GTID_TAGGED is a list of numbered fields in MySQL's serialisation format; it is only read.

use base::{Gtid, UnixMicros, Uuid};

use super::{EventType, Frame, put_event};
use crate::cursor::{Cursor, put_lenenc};
use crate::error::DecodeError;

/// "A logical clock follows."
const TYPECODE: u8 = 2;
/// In the 7 bytes of the commit time: the original one follows.
const ORIGINAL_TIME_FOLLOWS: u64 = 1 << 55;
/// In the 4 bytes of the server version: the original one follows.
const ORIGINAL_VERSION_FOLLOWS: u32 = 1 << 31;
/// A version that nobody said.
const UNDEFINED_VERSION: u32 = 999_999;

/// A decoded GTID event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GtidEvent {
    /// None in an ANONYMOUS_GTID.
    pub gtid: Option<Gtid>,
    /// MySQL 8.3's tag; empty for none.
    pub tag: String,
    /// The transaction may hold statements instead of rows.
    pub may_have_statements: bool,
    /// The newest transaction of this file that this one depends on.
    pub last_committed: i64,
    /// Its own number in this file, from 1.
    pub sequence_number: i64,
    /// When it was committed on the server that wrote this log.
    pub immediate_commit_time: UnixMicros,
    /// When it was committed where it was born.
    pub original_commit_time: UnixMicros,
    /// All events of the transaction with this one, in bytes; 0 if the file does not say.
    pub transaction_length: u64,
    /// As 90704.
    pub immediate_server_version: u32,
    /// Of the server where it was born.
    pub original_server_version: u32,
}

impl GtidEvent {
    /// The most that the event can take, with header and checksum.
    pub const MAX_SIZE: usize = super::HEADER_SIZE + 42 + 7 + 7 + 9 + 4 + 4 + super::CHECKSUM_SIZE;

    /// Appends the event. `others_length` are the bytes of the transaction's other events, from which
    /// `transaction_length` is computed.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, frame: Frame, others_length: u64) {
        let start = out.len();
        let event_type = if self.gtid.is_some() { EventType::GTID } else { EventType::ANONYMOUS_GTID };
        put_event(out, event_type, frame, |out| {
            let gtid = self.gtid.unwrap_or(Gtid { uuid: Uuid::default(), gno: 0 });
            out.push(self.may_have_statements.into());
            out.extend_from_slice(&gtid.uuid.0);
            out.extend_from_slice(&gtid.gno.to_le_bytes());
            out.push(TYPECODE);
            out.extend_from_slice(&self.last_committed.to_le_bytes());
            out.extend_from_slice(&self.sequence_number.to_le_bytes());
            let (immediate, original) = (self.immediate_commit_time.0, self.original_commit_time.0);
            if immediate == original {
                out.extend_from_slice(&immediate.to_le_bytes()[..7]);
            } else {
                out.extend_from_slice(&(immediate | ORIGINAL_TIME_FOLLOWS).to_le_bytes()[..7]);
                out.extend_from_slice(&original.to_le_bytes()[..7]);
            }
            let versions_differ = self.immediate_server_version != self.original_server_version;
            let versions_size = if versions_differ { 8 } else { 4 };
            let without_length = (out.len() - start + versions_size + super::CHECKSUM_SIZE) as u64;
            put_lenenc(out, with_own_lenenc(without_length + others_length));
            if versions_differ {
                out.extend_from_slice(&(self.immediate_server_version | ORIGINAL_VERSION_FOLLOWS).to_le_bytes());
                out.extend_from_slice(&self.original_server_version.to_le_bytes());
            } else {
                out.extend_from_slice(&self.immediate_server_version.to_le_bytes());
            }
        });
    }

    /// Reads the body of a GTID or ANONYMOUS_GTID.
    pub fn decode(event_type: EventType, body: &[u8]) -> Result<Self, DecodeError> {
        if event_type == EventType::GTID_TAGGED {
            return decode_tagged(body);
        }
        let mut cursor = Cursor::new(body, "GTID");
        let flags = cursor.u8()?;
        let gtid = Gtid { uuid: Uuid(cursor.array()?), gno: cursor.u64()? };
        let mut event = GtidEvent::empty();
        event.gtid = (event_type == EventType::GTID).then_some(gtid);
        event.may_have_statements = flags & 1 != 0;
        if cursor.is_empty() || cursor.u8()? != TYPECODE {
            return Ok(event);
        }
        event.last_committed = cursor.u64()? as i64;
        event.sequence_number = cursor.u64()? as i64;
        // Each of the following was added by a later version.
        if cursor.len() >= 7 {
            let immediate = cursor.uint(7)?;
            event.immediate_commit_time = UnixMicros(immediate & !ORIGINAL_TIME_FOLLOWS);
            event.original_commit_time = match immediate & ORIGINAL_TIME_FOLLOWS {
                0 => event.immediate_commit_time,
                _ => UnixMicros(cursor.uint(7)?),
            };
        }
        if !cursor.is_empty() {
            event.transaction_length = cursor.lenenc()?;
        }
        if cursor.len() >= 4 {
            let immediate = cursor.u32()?;
            event.immediate_server_version = immediate & !ORIGINAL_VERSION_FOLLOWS;
            event.original_server_version = match immediate & ORIGINAL_VERSION_FOLLOWS {
                0 => event.immediate_server_version,
                _ => cursor.u32()?,
            };
        }
        Ok(event)
    }

    fn empty() -> Self {
        GtidEvent {
            gtid: None,
            tag: String::new(),
            may_have_statements: false,
            last_committed: 0,
            sequence_number: 0,
            immediate_commit_time: UnixMicros(0),
            original_commit_time: UnixMicros(0),
            transaction_length: 0,
            immediate_server_version: UNDEFINED_VERSION,
            original_server_version: UNDEFINED_VERSION,
        }
    }
}

/// The length of something that holds its own length as a length-encoded integer.
fn with_own_lenenc(without: u64) -> u64 {
    match without {
        0..=0xf9 => without + 1,
        0xfa..=0xfffc => without + 3,
        0xfffd..=0xff_fffb => without + 4,
        _ => without + 9,
    }
}

/// The numbered fields of a GTID_TAGGED, in ascending order.
fn decode_tagged(body: &[u8]) -> Result<GtidEvent, DecodeError> {
    let mut cursor = Cursor::new(body, "GTID_TAGGED");
    let version = varint(&mut cursor)?;
    if version != 1 {
        return Err(DecodeError::new(format!("GTID_TAGGED of serialisation version {version}")));
    }
    let _message_size = varint(&mut cursor)?;
    let _last_non_ignorable_field = varint(&mut cursor)?;
    let mut event = GtidEvent::empty();
    let (mut uuid, mut gno) = ([0; 16], 0);
    let (mut original_time, mut original_version) = (None, None);
    while !cursor.is_empty() {
        match varint(&mut cursor)? {
            0 => event.may_have_statements = varint(&mut cursor)? & 1 != 0,
            1 => {
                for byte in &mut uuid {
                    *byte = varint(&mut cursor)? as u8;
                }
            }
            2 => gno = signed(varint(&mut cursor)?) as u64,
            3 => {
                let len = varint(&mut cursor)? as usize;
                event.tag = String::from_utf8_lossy(cursor.take(len)?).into_owned();
            }
            4 => event.last_committed = signed(varint(&mut cursor)?),
            5 => event.sequence_number = signed(varint(&mut cursor)?),
            6 => event.immediate_commit_time = UnixMicros(varint(&mut cursor)?),
            7 => original_time = Some(UnixMicros(varint(&mut cursor)?)),
            8 => event.transaction_length = varint(&mut cursor)?,
            9 => event.immediate_server_version = varint(&mut cursor)? as u32,
            10 => original_version = Some(varint(&mut cursor)? as u32),
            11 => drop(varint(&mut cursor)?),
            other => return Err(DecodeError::new(format!("GTID_TAGGED: unknown field {other}"))),
        }
    }
    event.gtid = Some(Gtid { uuid: Uuid(uuid), gno });
    event.original_commit_time = original_time.unwrap_or(event.immediate_commit_time);
    event.original_server_version = original_version.unwrap_or(event.immediate_server_version);
    Ok(event)
}

/// The trailing ones of the first byte count the bytes that follow it.
fn varint(cursor: &mut Cursor<'_>) -> Result<u64, DecodeError> {
    let first = cursor.u8()?;
    let extra = first.trailing_ones();
    if extra == 8 {
        return cursor.u64();
    }
    let rest = cursor.uint(extra as usize)?;
    // With seven extra bytes the first one holds nothing but its ones.
    Ok(rest << (7 - extra) | u64::from(first).checked_shr(extra + 1).unwrap_or(0))
}

/// The sign is in the lowest bit.
fn signed(value: u64) -> i64 {
    if value & 1 == 0 { (value >> 1) as i64 } else { -((value >> 1) as i64) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_length_is_counted() {
        for others in [0u64, 100, 160, 170, 180, 190, 65_300, 65_450, 65_460, 1 << 24, 1 << 33] {
            let mut event = GtidEvent::empty();
            event.gtid = Some(Gtid { uuid: Uuid([7; 16]), gno: 9 });
            event.immediate_commit_time = UnixMicros(1_700_000_000_000_000);
            event.original_commit_time = UnixMicros(1_600_000_000_000_000);
            let mut bytes = Vec::new();
            event.encode(&mut bytes, Frame { timestamp: 1, server_id: 2, flags: 0 }, others);
            assert!(bytes.len() <= GtidEvent::MAX_SIZE);
            let raw = super::super::RawEvent::first_of(&bytes, super::super::ChecksumAlgorithm::Crc32).unwrap();
            event.transaction_length = bytes.len() as u64 + others;
            assert_eq!(GtidEvent::decode(EventType::GTID, raw.body()), Ok(event));
        }
    }

    #[test]
    fn varints() {
        let cases: [(&[u8], u64); 4] =
            [(&[0x00], 0), (&[0x02], 1), (&[0b0000_0001, 0x01], 64), (&[0xff, 1, 0, 0, 0, 0, 0, 0, 0], 1)];
        for (bytes, value) in cases {
            assert_eq!(varint(&mut Cursor::new(bytes, "test")), Ok(value), "{bytes:?}");
        }
    }
}
