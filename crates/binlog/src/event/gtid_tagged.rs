//! GTID_TAGGED: a GTID event as a message of MySQL's serialisation library.
//!
//! ```text
//! | version varint (1) | size varint, of all of this | last field that must be understood, varint | (field varint, value)* |
//! ```
//! A **varint** has as many bytes behind its first one as that has trailing ones; the value is what is left of the bits.
//! In signed ones the lowest bit is the sign. Fields ascend; a reader may skip none that it does not know, since it cannot
//! know how long they are.
//!
//! | field | value |
//! |---:|---|
//! | 0, 1 | flags; uuid, each byte a varint |
//! | 2, 3 | number, signed; tag: length and bytes |
//! | 4, 5 | last_committed, sequence_number, signed |
//! | 6, 7 | time of the commit; of the original commit, if it differs |
//! | 8 | length of the transaction |
//! | 9, 10 | version of the server; of the original server, if it differs |
//! | 11 | ticket of the commit group, if there is one |

use base::{Gtid, Tag, UnixMicros, Uuid};

use super::GtidEvent;
use crate::cursor::Cursor;
use crate::error::DecodeError;
use crate::gtid_set::check_tag;

const VERSION: u64 = 1;

/// The most bytes of a number with its field.
const NUMBER_SIZE_MAX: usize = 1 + 9;

/// The most bytes of a body without a ticket: its head; flags, uuid, tag; and eight numbers: GTID, clock, times, length, versions.
pub(super) const SIZE_MAX: usize = (1 + 2 + 1) + (1 + 1) + (1 + 16 * 2) + (1 + 1 + Tag::LEN_MAX) + 8 * NUMBER_SIZE_MAX;

pub(super) fn decode(body: &[u8]) -> Result<GtidEvent, DecodeError> {
    let mut cursor = Cursor::new(body, "GTID_TAGGED");
    let version = take_varint(&mut cursor)?;
    if version != VERSION {
        return Err(DecodeError::new(format!("GTID_TAGGED of serialisation version {version}")));
    }
    let size = take_varint(&mut cursor)?;
    if size != body.len() as u64 {
        return Err(DecodeError::new(format!("GTID_TAGGED: {} bytes that say {size}", body.len())));
    }
    let _last_non_ignorable_field = take_varint(&mut cursor)?;
    let mut event = GtidEvent::empty();
    let (mut uuid, mut tag, mut gno) = ([0; 16], Tag::NONE, 0);
    let (mut original_time, mut original_version) = (None, None);
    while !cursor.is_empty() {
        match take_varint(&mut cursor)? {
            0 => event.may_have_statements = take_varint(&mut cursor)? & 1 != 0,
            1 => {
                for byte in &mut uuid {
                    *byte = u8::try_from(take_varint(&mut cursor)?)
                        .map_err(|_| DecodeError::new("GTID_TAGGED: bad byte of a uuid"))?;
                }
            }
            2 => gno = take_signed(&mut cursor)? as u64,
            3 => {
                let len = take_varint(&mut cursor)?;
                tag = check_tag(cursor.take(usize::try_from(len).unwrap_or(usize::MAX))?)?;
            }
            4 => event.last_committed = take_signed(&mut cursor)?,
            5 => event.sequence_number = take_signed(&mut cursor)?,
            6 => event.immediate_commit_time = UnixMicros(take_varint(&mut cursor)?),
            7 => original_time = Some(UnixMicros(take_varint(&mut cursor)?)),
            8 => event.transaction_length = take_varint(&mut cursor)?,
            9 => event.immediate_server_version = take_varint(&mut cursor)? as u32,
            10 => original_version = Some(take_varint(&mut cursor)? as u32),
            11 => event.commit_group_ticket = Some(take_varint(&mut cursor)?),
            other => return Err(DecodeError::new(format!("GTID_TAGGED: unknown field {other}"))),
        }
    }
    event.gtid = Some(super::gtid::checked(Gtid { uuid: Uuid(uuid), tag, gno })?);
    event.original_commit_time = original_time.unwrap_or(event.immediate_commit_time);
    event.original_server_version = original_version.unwrap_or(event.immediate_server_version);
    Ok(event)
}

/// The body of an event that says how long its transaction is: `around` bytes, and this body.
pub(super) fn encode_of_length(event: &GtidEvent, around: u64) -> Vec<u8> {
    let (mut event, mut body) = (event.clone(), Vec::new());
    event.transaction_length = around;
    // A greater length may make the body longer, never shorter, so this comes to an end.
    loop {
        body.clear();
        encode(&event, &mut body);
        let length = around.saturating_add(body.len() as u64);
        if length == event.transaction_length {
            return body;
        }
        event.transaction_length = length;
    }
}

pub(super) fn encode(event: &GtidEvent, out: &mut Vec<u8>) {
    let fields = fields(event);
    // The size counts itself; it grows by at most a byte when its own length does.
    let around = |size_len: usize| (1 + size_len + 1 + fields.len()) as u64;
    let size_len = (1..=9).find(|&len| varint_len(around(len)) == len).unwrap_or(9);
    put_varint(out, VERSION);
    put_varint(out, around(size_len));
    // No field has to be understood by who knows an older version.
    put_varint(out, 0);
    out.extend_from_slice(&fields);
}

fn fields(event: &GtidEvent) -> Vec<u8> {
    let gtid = event.gtid.unwrap_or(Gtid::new(Uuid::default(), 0));
    let mut out = Vec::new();
    put_varint(&mut out, 0);
    put_varint(&mut out, event.may_have_statements.into());
    put_varint(&mut out, 1);
    gtid.uuid.0.iter().for_each(|&byte| put_varint(&mut out, byte.into()));
    put_varint(&mut out, 2);
    put_varint(&mut out, fold_sign(gtid.gno as i64));
    put_varint(&mut out, 3);
    put_varint(&mut out, gtid.tag.as_str().len() as u64);
    out.extend_from_slice(gtid.tag.as_str().as_bytes());
    let mut number = |field: u64, value: Option<u64>| {
        if let Some(value) = value {
            put_varint(&mut out, field);
            put_varint(&mut out, value);
        }
    };
    let (time, version) = (event.original_commit_time, event.original_server_version);
    number(4, Some(fold_sign(event.last_committed)));
    number(5, Some(fold_sign(event.sequence_number)));
    number(6, Some(event.immediate_commit_time.0));
    number(7, (time != event.immediate_commit_time).then_some(time.0));
    number(8, Some(event.transaction_length));
    number(9, Some(event.immediate_server_version.into()));
    number(10, (version != event.immediate_server_version).then_some(version.into()));
    number(11, event.commit_group_ticket);
    out
}

fn take_varint(cursor: &mut Cursor<'_>) -> Result<u64, DecodeError> {
    let first = cursor.u8()?;
    let extra = first.trailing_ones();
    if extra == 8 {
        return cursor.u64();
    }
    let rest = cursor.uint(extra as usize)?;
    // With seven extra bytes the first one holds nothing but its ones.
    Ok(rest << (7 - extra) | u64::from(first).checked_shr(extra + 1).unwrap_or(0))
}

/// Seven bits of the value in each byte; 64 bits in nine.
fn varint_len(value: u64) -> usize {
    ((64 - value.leading_zeros()) as usize).div_ceil(7).clamp(1, 9)
}

fn put_varint(out: &mut Vec<u8>, value: u64) {
    let len = varint_len(value);
    if len == 9 {
        out.push(0xff);
        return out.extend_from_slice(&value.to_le_bytes());
    }
    let ones = (1u64 << (len - 1)) - 1;
    out.extend_from_slice(&(value << len | ones).to_le_bytes()[..len]);
}

fn take_signed(cursor: &mut Cursor<'_>) -> Result<i64, DecodeError> {
    let value = take_varint(cursor)?;
    let magnitude = (value >> 1) as i64;
    Ok(if value & 1 == 0 { magnitude } else { -magnitude - 1 })
}

fn fold_sign(value: i64) -> u64 {
    if value < 0 { ((-(value + 1)) as u64) << 1 | 1 } else { (value as u64) << 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints() {
        let cases: [(&[u8], u64); 5] = [
            (&[0x00], 0),
            (&[0x02], 1),
            (&[0b0000_0001, 0x01], 64),
            (&[0xfd, 0x03], 255),
            (&[0xff, 1, 0, 0, 0, 0, 0, 0, 0], 1),
        ];
        for (bytes, value) in cases {
            assert_eq!(take_varint(&mut Cursor::new(bytes, "test")), Ok(value), "{bytes:?}");
        }
        for shift in 0..64 {
            for value in [1u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                put_varint(&mut bytes, value);
                let mut cursor = Cursor::new(&bytes, "test");
                assert_eq!(take_varint(&mut cursor), Ok(value));
                assert!(cursor.is_empty());
            }
        }
        for value in [0, 1, -1, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, fold_sign(value));
            assert_eq!(take_signed(&mut Cursor::new(&bytes, "test")), Ok(value));
        }
    }
}
