//! GTID, ANONYMOUS_GTID and GTID_TAGGED: the head of each transaction in MySQL's dialect.
//!
//! ```text
//! | flags u8 | uuid 16 | gno u64 | 2 u8 | last_committed u64 | sequence_number u64 |
//! | immediate commit time u56, top bit: original follows | [original u56] | transaction_length lenenc |
//! | immediate server version u32, top bit: original follows | [original u32] | [commit group ticket u64] |
//! ```
//! GTID_TAGGED says the same as a list of numbered fields, see `gtid_tagged`. Each field from the commit time on was added by
//! a later version, so a reader takes what is there.
//!
//! An ANONYMOUS_GTID has zeros for uuid and gno in MySQL's logs. In ours it begins a **local** transaction (`sql_log_bin=0`), and its uuid is
//! that of the server whose transaction it is: the only one that applies it. It is in copies of the log, since they are copies, and is
//! sent to nobody else.

use base::{Gtid, UnixMicros, Uuid};

use super::{EventType, Frame, gtid_tagged, put_event};
use crate::cursor::{Cursor, put_lenenc};
use crate::error::DecodeError;
use crate::gtid_set::GNO_MAX;

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
    /// `server_uuid` of the server whose local transaction it is; it has no GTID then.
    pub local_to: Option<Uuid>,
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
    /// Which group of a replicated group commit it belongs to, where that is said.
    pub commit_group_ticket: Option<u64>,
}

impl GtidEvent {
    /// The most that the event takes as commuter writes it (without a ticket), with header and checksum: with a tag.
    pub const MAX_SIZE: usize = super::HEADER_SIZE + gtid_tagged::SIZE_MAX + super::CHECKSUM_SIZE;

    /// Appends the event. `others_length` are the bytes of the transaction's other events, from which
    /// `transaction_length` is computed.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, frame: Frame, others_length: u64) {
        let start = out.len();
        let event_type = self.event_type();
        if event_type == EventType::GTID_TAGGED {
            let around = (super::HEADER_SIZE + super::CHECKSUM_SIZE) as u64 + others_length;
            let body = gtid_tagged::encode_of_length(self, around);
            return put_event(out, event_type, frame, |out| out.extend_from_slice(&body));
        }
        put_event(out, event_type, frame, |out| {
            self.put_head(out);
            let without_length = (out.len() - start + self.versions_size() + super::CHECKSUM_SIZE) as u64;
            put_lenenc(out, with_own_lenenc(without_length + others_length));
            self.put_versions(out);
        });
    }

    /// Whether it is a local transaction of another server than this one: nothing of it concerns this one.
    pub fn is_local_elsewhere(&self, own: Uuid) -> bool {
        self.local_to.is_some_and(|uuid| uuid != own)
    }

    /// The type of the event: tagged if it has a tag.
    pub fn event_type(&self) -> EventType {
        match &self.gtid {
            None => EventType::ANONYMOUS_GTID,
            Some(gtid) if gtid.tag.is_none() => EventType::GTID,
            Some(_) => EventType::GTID_TAGGED,
        }
    }

    /// Appends the body, in the form of [`GtidEvent::event_type`], with `transaction_length` as it is.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        if self.event_type() == EventType::GTID_TAGGED {
            return gtid_tagged::encode(self, out);
        }
        self.put_head(out);
        put_lenenc(out, self.transaction_length);
        self.put_versions(out);
    }

    /// What is in front of the transaction's length.
    fn put_head(&self, out: &mut Vec<u8>) {
        let gtid = self.gtid.unwrap_or(Gtid::new(self.local_to.unwrap_or_default(), 0));
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
    }

    /// What is behind the transaction's length.
    fn put_versions(&self, out: &mut Vec<u8>) {
        if self.immediate_server_version == self.original_server_version {
            out.extend_from_slice(&self.immediate_server_version.to_le_bytes());
        } else {
            out.extend_from_slice(&(self.immediate_server_version | ORIGINAL_VERSION_FOLLOWS).to_le_bytes());
            out.extend_from_slice(&self.original_server_version.to_le_bytes());
        }
        if let Some(ticket) = self.commit_group_ticket {
            out.extend_from_slice(&ticket.to_le_bytes());
        }
    }

    fn versions_size(&self) -> usize {
        let versions = if self.immediate_server_version == self.original_server_version { 4 } else { 8 };
        versions + self.commit_group_ticket.map_or(0, |_| 8)
    }

    /// Reads the body of a GTID, ANONYMOUS_GTID or GTID_TAGGED.
    pub fn decode(event_type: EventType, body: &[u8]) -> Result<Self, DecodeError> {
        if event_type == EventType::GTID_TAGGED {
            return gtid_tagged::decode(body);
        }
        let mut cursor = Cursor::new(body, "GTID");
        let flags = cursor.u8()?;
        let gtid = Gtid::new(Uuid(cursor.array()?), cursor.u64()?);
        let mut event = GtidEvent::empty();
        match event_type {
            EventType::GTID => event.gtid = Some(checked(gtid)?),
            _ => event.local_to = Some(gtid.uuid).filter(|uuid| *uuid != Uuid::default()),
        }
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
        if cursor.len() >= 8 {
            event.commit_group_ticket = Some(cursor.u64()?);
        }
        Ok(event)
    }

    pub(super) fn empty() -> Self {
        GtidEvent {
            gtid: None,
            local_to: None,
            may_have_statements: false,
            last_committed: 0,
            sequence_number: 0,
            immediate_commit_time: UnixMicros(0),
            original_commit_time: UnixMicros(0),
            transaction_length: 0,
            immediate_server_version: UNDEFINED_VERSION,
            original_server_version: UNDEFINED_VERSION,
            commit_group_ticket: None,
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

/// A GTID of an event, whose number has to be one that sets of GTIDs can hold: what is taken here has to be read again later.
pub(super) fn checked(gtid: Gtid) -> Result<Gtid, DecodeError> {
    if (1..=GNO_MAX).contains(&gtid.gno) {
        return Ok(gtid);
    }
    Err(DecodeError::new(format!("the number of the GTID {gtid} is not one of 1 to {GNO_MAX}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_length_is_counted() {
        for others in [0u64, 100, 160, 170, 180, 190, 65_300, 65_450, 65_460, 1 << 24, 1 << 33] {
            let mut event = GtidEvent::empty();
            event.gtid = Some(Gtid::new(Uuid([7; 16]), 9));
            event.immediate_commit_time = UnixMicros(1_700_000_000_000_000);
            event.original_commit_time = UnixMicros(1_600_000_000_000_000);
            assert_eq!(encoded(&mut event, others), EventType::GTID);
        }
        // Lengths of one to nine bytes in the tagged form, beside each bound.
        let bounds = (1..9).map(|bytes| 1u64 << (7 * bytes)).flat_map(|bound| bound.saturating_sub(300)..bound + 10);
        for others in bounds {
            let mut event = GtidEvent::empty();
            event.gtid = Some(Gtid { uuid: Uuid([7; 16]), tag: "blue".parse().unwrap(), gno: 9 });
            assert_eq!(encoded(&mut event, others), EventType::GTID_TAGGED);
        }
    }

    /// Sets of GTIDs could not hold them, so that a log with them could not be opened again.
    #[test]
    fn numbers_that_no_gtid_has_are_refused() {
        for (gno, is_good) in [(0, false), (1, true), (GNO_MAX, true), (GNO_MAX + 1, false), (u64::MAX, false)] {
            for tag in ["", "blue"] {
                let mut event = GtidEvent::empty();
                let tag = base::Tag::new(tag.as_bytes()).unwrap();
                event.gtid = Some(Gtid { uuid: Uuid([7; 16]), tag, gno });
                let mut body = Vec::new();
                event.encode_body(&mut body);
                assert_eq!(GtidEvent::decode(event.event_type(), &body).is_ok(), is_good, "{gno}");
            }
        }
    }

    /// Encodes an event, and decodes it: it has counted its own length. Says its type.
    fn encoded(event: &mut GtidEvent, others: u64) -> EventType {
        let mut bytes = Vec::new();
        event.encode(&mut bytes, Frame { timestamp: 1, server_id: 2, flags: 0 }, others);
        assert!(bytes.len() <= GtidEvent::MAX_SIZE);
        let raw = super::super::RawEvent::first_of(&bytes, super::super::ChecksumAlgorithm::Crc32).unwrap();
        event.transaction_length = bytes.len() as u64 + others;
        assert_eq!(GtidEvent::decode(raw.header.event_type, raw.body()), Ok(event.clone()));
        raw.header.event_type
    }

    #[test]
    fn nothing_is_longer_than_the_bound() {
        let mut event = GtidEvent::empty();
        let tag = "a_tag_that_is_as_long_as_it_can_".parse().unwrap();
        event.gtid = Some(Gtid { uuid: Uuid([0xff; 16]), tag, gno: GNO_MAX });
        (event.last_committed, event.sequence_number) = (i64::MAX, i64::MAX - 1);
        event.immediate_commit_time = UnixMicros((1 << 55) - 1);
        event.original_commit_time = UnixMicros((1 << 55) - 2);
        (event.immediate_server_version, event.original_server_version) = (u32::MAX >> 1, u32::MAX >> 2);
        encoded(&mut event, u64::MAX / 2);
        event.gtid = event.gtid.map(|gtid| Gtid::new(gtid.uuid, gtid.gno));
        encoded(&mut event, u64::MAX / 2);
    }
}
