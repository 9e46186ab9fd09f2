//! What no applier could apply is not made durable: a copy cannot take it back, and its source goes on.
//!
//! As far as an event and the TABLE_MAP before it tell: whether the event can be decoded, whether rows are rows of the map's table. What only
//! the tables themselves would tell is met by the applier, here and after each start.

use std::collections::HashMap;

use binlog::event::{QueryEvent, RowsEvent, RowsKind, TableMap, XaPrepare, XaStatement};
use binlog::{DecodeError, EventType, RawEvent, SourcePosition};

/// Maps of so many bytes are remembered from one transaction to the next.
const REMEMBERED_MAX: usize = 1 << 20;

/// A TABLE_MAP, and the transaction that had it last.
struct Known {
    body: Vec<u8>,
    map: TableMap,
    transaction: u64,
}

/// Checks the events of a stream one by one.
#[derive(Default)]
pub(super) struct Contents {
    /// By the number in their TABLE_MAP.
    tables: HashMap<u64, Known>,
    /// Bytes of their maps, those included that others have replaced since the last cleaning.
    bytes: usize,
    /// More bytes are a reason to clean: at least twice what the last cleaning has left, so that each map is looked at a few times only.
    bytes_max: usize,
    /// Counts transactions.
    transaction: u64,
}

impl Contents {
    /// Checks the next event.
    pub(super) fn check(&mut self, event: &RawEvent<'_>) -> Result<(), DecodeError> {
        let body = event.body();
        match event.header.event_type {
            EventType::TABLE_MAP => self.map_table(body),
            EventType::QUERY => XaStatement::of(QueryEvent::decode(body)?.sql).map(drop),
            EventType::XA_PREPARE => XaPrepare::decode(body).map(drop),
            EventType::IGNORABLE => SourcePosition::decode(body).map(drop),
            event_type if RowsKind::of(event_type).is_some() => self.check_rows(&RowsEvent::decode(event_type, body)?),
            EventType::GTID | EventType::GTID_TAGGED | EventType::ANONYMOUS_GTID => {
                // The maps of one transaction are nothing to the next.
                self.transaction += 1;
                Ok(())
            }
            // Looked at where they are taken.
            EventType::FORMAT_DESCRIPTION
            | EventType::PREVIOUS_GTIDS
            | EventType::ROWS_QUERY
            | EventType::XID
            | EventType::ROTATE
            | EventType::STOP => Ok(()),
            other => Err(DecodeError(format!(
                "an event of type {}, which this server's kind writes to no log",
                other.name()
            ))),
        }
    }

    fn map_table(&mut self, body: &[u8]) -> Result<(), DecodeError> {
        let id = TableMap::decode_name(body)?.table_id;
        if let Some(known) = self.tables.get_mut(&id).filter(|known| known.body == body) {
            known.transaction = self.transaction;
            return Ok(());
        }
        let map = TableMap::decode(body)?;
        self.bytes += body.len();
        if self.bytes > self.bytes_max.max(REMEMBERED_MAX) {
            self.forget_earlier();
            self.bytes += body.len();
        }
        self.tables.insert(id, Known { body: body.to_vec(), map, transaction: self.transaction });
        Ok(())
    }

    /// Forgets the maps that only earlier transactions had.
    fn forget_earlier(&mut self) {
        let transaction = self.transaction;
        self.tables.retain(|_, known| known.transaction == transaction);
        self.bytes = self.tables.values().map(|known| known.body.len()).sum();
        self.bytes_max = 2 * self.bytes;
    }

    fn check_rows(&self, rows: &RowsEvent<'_>) -> Result<(), DecodeError> {
        let known = self.tables.get(&rows.table_id).filter(|known| known.transaction == self.transaction);
        let without = || DecodeError(format!("rows of table number {} without a TABLE_MAP", rows.table_id));
        rows.check_images(&known.ok_or_else(without)?.map)
    }
}

#[cfg(test)]
mod tests {
    use binlog::event::ChecksumAlgorithm;

    use super::*;

    /// An event without a checksum.
    fn event(event_type: EventType, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 19];
        bytes[4] = event_type.0;
        bytes[9..13].copy_from_slice(&(19 + body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    /// Checks a transaction of one map and one event of rows.
    fn check(
        contents: &mut Contents,
        map: Option<&[u8]>,
        event_type: EventType,
        rows: &[u8],
    ) -> Result<(), DecodeError> {
        let events =
            [Some((EventType::GTID, &[][..])), map.map(|map| (EventType::TABLE_MAP, map)), Some((event_type, rows))];
        for (event_type, body) in events.into_iter().flatten() {
            let bytes = event(event_type, body);
            contents.check(&RawEvent::first_of(&bytes, ChecksumAlgorithm::Off).unwrap())?;
        }
        Ok(())
    }

    /// `d.t (id INT NOT NULL, n SMALLINT)`, number 7.
    const MAP: &[u8] = &[7, 0, 0, 0, 0, 0, 1, 0, 1, b'd', 0, 1, b't', 0, 2, 3, 2, 0, 0b10];
    /// (5, 6), (7, NULL)
    const WRITE: &[u8] = &[7, 0, 0, 0, 0, 0, 1, 0, 2, 0, 2, 0xff, 0, 5, 0, 0, 0, 6, 0, 2, 7, 0, 0, 0];

    #[test]
    fn rows_of_their_table() {
        let mut contents = Contents::default();
        check(&mut contents, Some(MAP), EventType::WRITE_ROWS, WRITE).unwrap();
        check(&mut contents, Some(MAP), EventType::DELETE_ROWS, WRITE).unwrap();
        // Without a map of its own, whatever was mapped before.
        let error = check(&mut contents, None, EventType::WRITE_ROWS, WRITE).unwrap_err();
        assert!(error.0.contains("without a TABLE_MAP"), "{error}");
        // Too short, too long, of another kind.
        for len in [WRITE.len() - 1, WRITE.len() - 6] {
            check(&mut contents, Some(MAP), EventType::WRITE_ROWS, &WRITE[..len]).unwrap_err();
        }
        check(&mut contents, Some(MAP), EventType::WRITE_ROWS, &[WRITE, &[0]].concat()).unwrap_err();
        check(&mut contents, Some(MAP), EventType::UPDATE_ROWS, WRITE).unwrap_err();
        // More columns than the map has.
        let mut more = WRITE.to_vec();
        more[10] = 3;
        check(&mut contents, Some(MAP), EventType::WRITE_ROWS, &more).unwrap_err();
    }

    /// What a transaction has mapped stays until its end, however many tables there are; what only earlier ones had, goes.
    #[test]
    fn maps_of_many_tables() {
        let mut contents = Contents::default();
        let numbered = |bytes: &[u8], number: u32| [&number.to_le_bytes(), &bytes[4..]].concat();
        let count = (3 * REMEMBERED_MAX / MAP.len()) as u32;
        for transaction in 0..3 {
            let begin = event(EventType::GTID, &[]);
            contents.check(&RawEvent::first_of(&begin, ChecksumAlgorithm::Off).unwrap()).unwrap();
            let numbers = transaction * count..(transaction + 1) * count;
            for (event_type, body) in [(EventType::TABLE_MAP, MAP), (EventType::WRITE_ROWS, WRITE)] {
                for number in numbers.clone() {
                    let bytes = event(event_type, &numbered(body, number));
                    contents.check(&RawEvent::first_of(&bytes, ChecksumAlgorithm::Off).unwrap()).unwrap();
                }
            }
        }
        for number in 0..count {
            check(&mut contents, Some(&numbered(MAP, number)), EventType::WRITE_ROWS, &numbered(WRITE, number))
                .unwrap();
        }
        assert!(contents.tables.len() * MAP.len() <= 2 * REMEMBERED_MAX, "{}", contents.tables.len());
    }

    #[test]
    fn nulls_only_where_there_are_some() {
        let mut contents = Contents::default();
        let mut rows = WRITE.to_vec();
        rows.splice(12.., [0b01, 6, 0]);
        let error = check(&mut contents, Some(MAP), EventType::WRITE_ROWS, &rows).unwrap_err();
        assert!(error.0.contains("NULL"), "{error}");
        // Of an image with the second column alone, the first bit is that column's.
        let mut rows = WRITE.to_vec();
        rows.splice(11.., [0b10, 0b1]);
        check(&mut contents, Some(MAP), EventType::WRITE_ROWS, &rows).unwrap();
        // The bytes of the map count, not its number.
        let mut map = MAP.to_vec();
        *map.last_mut().unwrap() = 0;
        let error = check(&mut contents, Some(&map), EventType::WRITE_ROWS, WRITE).unwrap_err();
        assert!(error.0.contains("NULL"), "{error}");
    }
}
