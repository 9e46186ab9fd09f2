//! A source's log made up for tests, and what the parts make of it.

mod chain;
mod store;

use binlog::event::{ChecksumAlgorithm, Frame, MAGIC, MariaGtid, MariaGtidList, QueryEvent, Rotate, whole_event};
use binlog::{EventType, FormatDescription, RawEvent};

/// Makes the events of a MariaDB's log.
pub(crate) struct Maker {
    /// Where the next event begins.
    pub(crate) offset: u64,
    pub(crate) number: u64,
}

impl Maker {
    pub(crate) fn new() -> Self {
        Maker { offset: MAGIC.len() as u64, number: 0 }
    }

    fn event(&mut self, event_type: EventType, body: &[u8]) -> Vec<u8> {
        let frame = Frame { timestamp: 1_700_000_000 + self.number as u32, server_id: 7, flags: 0 };
        let bytes = whole_event(event_type, frame, self.offset, body);
        self.offset += bytes.len() as u64;
        bytes
    }

    /// What a file begins with.
    pub(crate) fn head(&mut self) -> Vec<Vec<u8>> {
        self.offset = MAGIC.len() as u64;
        let (mut format, mut list) = (Vec::new(), Vec::new());
        FormatDescription::new("11.8.0-MariaDB-log", 1).encode_body(&mut format);
        let gtids = if self.number > 0 { vec![(0, 7, self.number)] } else { Vec::new() };
        MariaGtidList { flags: 0, gtids }.encode_body(&mut list);
        vec![self.event(EventType::FORMAT_DESCRIPTION, &format), self.event(EventType::MARIA_GTID_LIST, &list)]
    }

    /// One transaction of `size` bytes and some.
    pub(crate) fn transaction(&mut self, size: usize) -> Vec<Vec<u8>> {
        self.number += 1;
        let (mut gtid, mut query) = (Vec::new(), Vec::new());
        MariaGtid { seq_no: self.number, flags: 4, ..MariaGtid::default() }.encode_body(&mut gtid);
        let sql = "x".repeat(size);
        QueryEvent { thread_id: 1, exec_time: 0, error_code: 0, status: &[], schema: b"d", sql: sql.as_bytes() }
            .encode_body(&mut query);
        vec![
            self.event(EventType::MARIA_GTID, &gtid),
            self.event(EventType::QUERY, &query),
            self.event(EventType::XID, &self.number.to_le_bytes()),
        ]
    }

    /// The end of a file.
    pub(crate) fn rotate(&mut self, file: &str) -> Vec<u8> {
        let mut body = Vec::new();
        Rotate { position: 4, file: file.to_owned() }.encode_body(&mut body);
        self.event(EventType::ROTATE, &body)
    }
}

pub(crate) fn raw(bytes: &[u8]) -> RawEvent<'_> {
    RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32).unwrap()
}
