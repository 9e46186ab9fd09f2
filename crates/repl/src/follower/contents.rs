//! What no applier could apply is not made durable: a copy cannot take it back, and its source goes on.
//!
//! As far as an event and the TABLE_MAP before it tell: whether the event can be decoded, whether rows are rows of the map's table. What only
//! the tables themselves would tell is met by the applier, here and after each start.

use binlog::event::{QueryEvent, RowsEvent, RowsKind, TableMap, TransactionMaps, XaPrepare, XaStatement};
use binlog::{DecodeError, EventType, RawEvent, SourcePosition};

/// Checks the events of a stream one by one.
#[derive(Default)]
pub(super) struct Contents {
    tables: TransactionMaps<TableMap>,
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
            event_type if RowsKind::of(event_type).is_some() => {
                let rows = RowsEvent::decode(event_type, body)?;
                rows.check_images(self.tables.get(rows.table_id)?)
            }
            EventType::GTID | EventType::GTID_TAGGED | EventType::ANONYMOUS_GTID => {
                self.tables.begin_transaction();
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
        if !self.tables.is_known(body)? {
            let map = TableMap::decode(body)?;
            self.tables.insert(map.table_id, body, map);
        }
        Ok(())
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
