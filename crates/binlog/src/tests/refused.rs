//! What is not decoded says why: types and layouts that are too old, sizes that are claimed and not there.

use crate::event::*;

fn decode(event_type: EventType, body: &[u8], format: &FormatDescription) -> Result<(), String> {
    let bytes = whole_event(event_type, Frame { timestamp: 0, server_id: 1, flags: 0 }, 4, body);
    let event = RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap();
    EventBody::decode(&event, format).map(drop).map_err(|error| error.to_string())
}

#[test]
fn old_types_and_layouts_are_named() {
    let now = FormatDescription::new("9.7.4", 0);
    for (event_type, name) in [
        (EventType::PRE_GA_WRITE_ROWS, "Write_rows_event_old"),
        (EventType::PRE_GA_UPDATE_ROWS, "Update_rows_event_old"),
        (EventType::PRE_GA_DELETE_ROWS, "Delete_rows_event_old"),
    ] {
        let error = decode(event_type, &[0; 40], &now).unwrap_err();
        assert!(error.contains(name) && error.contains("older"), "{error}");
    }
    for (event_type, head) in [
        (EventType::QUERY, 11),
        (EventType::TABLE_MAP, 6),
        (EventType::WRITE_ROWS_V1, 6),
        (EventType::DELETE_ROWS_V1, 6),
    ] {
        let mut old = FormatDescription { server_version: "5.1.2-beta".to_owned(), ..now.clone() };
        old.post_header_lengths[usize::from(event_type.0) - 1] = head;
        let error = decode(event_type, &[0; 40], &old).unwrap_err();
        assert!(error.contains("5.1.2-beta"), "{error}");
        assert!(!decode(event_type, &[0; 40], &now).is_err_and(|error| error.contains("older")), "{event_type:?}");
    }
}

/// A type means nothing in the other dialect, and passes as bytes.
#[test]
fn types_of_the_other_dialect_are_unknown() {
    let bodies = [("9.7.4", EventType::MARIA_GTID), ("11.8.9-MariaDB", EventType::GTID_TAGGED)];
    for (server_version, event_type) in bodies {
        let bytes = whole_event(event_type, Frame { timestamp: 0, server_id: 1, flags: 0 }, 4, b"anything");
        let event = RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap();
        let body = EventBody::decode(&event, &FormatDescription::new(server_version, 0));
        assert_eq!(body, Ok(EventBody::Unknown(event_type, b"anything")));
    }
}

#[test]
fn compressed_blocks_have_the_size_that_they_say() {
    let plain = [7; 100_000];
    let mut block = Vec::new();
    CompressedBlock::compress(&plain, &mut block).unwrap();
    assert_eq!(block[..4], [0x83, 0x01, 0x86, 0xa0]);
    let inflate = |bytes: &[u8]| CompressedBlock::decode(bytes).and_then(|block| block.inflate(1 << 30));
    assert_eq!(inflate(&block).as_deref(), Ok(&plain[..]));
    let with = |at: usize, byte: u8| {
        let mut changed = block.clone();
        changed[at] = byte;
        changed
    };
    assert!(inflate(&with(3, 0xa1)).is_err(), "one byte less than it says");
    assert!(inflate(&with(3, 0x9f)).is_err(), "one byte more than it says");
    assert!(inflate(&with(0, 0x93)).is_err(), "another algorithm");
    assert!(inflate(&with(0, 0x03)).is_err(), "not compressed");
    assert!(inflate(&with(0, 0x85)).is_err(), "a length of five bytes");
    assert!(inflate(&block[..block.len() / 2]).is_err(), "cut off");
    let huge = [&[0x84, 0xff, 0xff, 0xff, 0xff], &block[4..]].concat();
    assert!(inflate(&huge).is_err(), "4 GiB, of which there is nothing");
}
