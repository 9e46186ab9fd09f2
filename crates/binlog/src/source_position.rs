//! Where a replica is in the log of a source that has no GTIDs: part of each transaction that it executes from there.
//!
//! The body of an IGNORABLE event, which other servers and tools pass over:
//! ```text
//! | "commuter: source position", NUL | name length u8, name | file length u8, file | offset u64 |
//! ```
//! It is in front of a statement, and in front of the XID of rows. So a state that has the transaction has the position.

use crate::cursor::{Cursor, put_bytes8};
use crate::error::DecodeError;
use crate::event::{EventType, FLAG_IGNORABLE, Frame, put_event};

/// What such a body begins with.
const MARK: &[u8] = b"commuter: source position\0";

/// Behind a transaction of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    /// Which source, and since when: who begins anew somewhere in its log takes another name.
    pub name: String,
    /// The source's file; at most 255 bytes.
    pub file: String,
    /// In it.
    pub offset: u64,
}

impl SourcePosition {
    /// Appends the event.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, frame: Frame) {
        let frame = Frame { flags: frame.flags | FLAG_IGNORABLE, ..frame };
        put_event(out, EventType::IGNORABLE, frame, |out| {
            out.extend_from_slice(MARK);
            put_bytes8(out, self.name.as_bytes());
            put_bytes8(out, self.file.as_bytes());
            out.extend_from_slice(&self.offset.to_le_bytes());
        });
    }

    /// Of the body of an IGNORABLE event; `None` if it says something else.
    pub fn decode(body: &[u8]) -> Result<Option<Self>, DecodeError> {
        let Some(rest) = body.strip_prefix(MARK) else { return Ok(None) };
        let mut cursor = Cursor::new(rest, "source position");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (name, file) = (text(cursor.bytes8()?), text(cursor.bytes8()?));
        Ok(Some(SourcePosition { name, file, offset: cursor.u64()? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ChecksumAlgorithm, RawEvent};

    #[test]
    fn there_and_back() {
        let position = SourcePosition { name: "1:2".into(), file: "mysql-bin.000007".into(), offset: 1 << 33 };
        let mut bytes = Vec::new();
        position.encode(&mut bytes, Frame { timestamp: 1, server_id: 2, flags: 0 });
        let event = RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap();
        assert_eq!(SourcePosition::decode(event.body()).unwrap(), Some(position));
        assert_eq!(SourcePosition::decode(&[0; 40]).unwrap(), None);
        assert!(SourcePosition::decode(&event.body()[..MARK.len() + 3]).is_err());
    }
}
