//! Every byte of a small log, and what the dump says of it. `UPDATE_GOLDEN=1 cargo test -p binlog` rewrites the files;
//! their difference is a change of format, to be reviewed as one.

use std::fmt::Write as _;

use super::*;
use crate::dump::{DumpFormat, Dumper, info};
use crate::event::{ChecksumAlgorithm, MAGIC};

/// Compares with a file beside the source, or rewrites it.
pub(super) fn check(name: &str, actual: &str) {
    let path = format!("{}/src/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    if let Some((line, (is, should))) =
        actual.lines().zip(expected.lines()).enumerate().find(|(_, (is, should))| is != should)
    {
        panic!("{name}, line {}:\n is     {is}\n should {should}", line + 1);
    }
    assert_eq!(actual.lines().count(), expected.lines().count(), "{name}");
}

fn hex_lines(bytes: &[u8], out: &mut String) {
    for line in bytes.chunks(32) {
        let hex: Vec<String> = line.chunks(4).map(|word| word.iter().map(|b| format!("{b:02x}")).collect()).collect();
        writeln!(out, "  {}", hex.join(" ")).unwrap();
    }
}

#[test]
fn bytes_and_dumps() {
    let (mut hex, mut text, mut json) = (String::new(), Vec::new(), Vec::new());
    for (name, bytes) in sample_files() {
        writeln!(hex, "{name}").unwrap();
        let mut dumpers = [Dumper::new(DumpFormat::Sql), Dumper::new(DumpFormat::Json)];
        let mut at = MAGIC.len();
        while at < bytes.len() {
            let event = RawEvent::first_of(&bytes[at..], ChecksumAlgorithm::Crc32).unwrap();
            event.verify().unwrap();
            writeln!(hex, "{at} {}: {}", event.header.event_type.name(), info(&event).unwrap()).unwrap();
            hex_lines(event.bytes, &mut hex);
            dumpers[0].event(at as u64, &event, &mut text).unwrap();
            dumpers[1].event(at as u64, &event, &mut json).unwrap();
            at += event.bytes.len();
        }
    }
    check("events.hex", &hex);
    check("dump.txt", &String::from_utf8(text).unwrap());
    check("dump.json", &String::from_utf8(json).unwrap());
}

#[test]
fn artificial_events() {
    use crate::event::{EventHeader, Heartbeat, Rotate, encode_heartbeat};
    let mut hex = String::new();
    let at = Heartbeat { file: "binlog.000007".to_owned(), position: 5_000_000_000 };
    let rotate = Rotate { position: 4, file: "binlog.000007".to_owned() };
    let events = [
        ("fake rotate", rotate.fake(1, true)),
        ("fake rotate without checksum", rotate.fake(1, false)),
        ("heartbeat 1", encode_heartbeat(&at, 1, false, true)),
        ("heartbeat 2", encode_heartbeat(&at, 1, true, true)),
    ];
    for (name, bytes) in events {
        writeln!(hex, "{name}").unwrap();
        hex_lines(&bytes, &mut hex);
        let header = EventHeader::decode(&bytes).unwrap();
        assert_eq!(header.event_length as usize, bytes.len());
        assert_eq!((header.timestamp, header.flags), (0, 0x20));
        let checksum =
            if name.ends_with("without checksum") { ChecksumAlgorithm::Off } else { ChecksumAlgorithm::Crc32 };
        let event = RawEvent::first_of(&bytes, checksum).unwrap();
        event.verify().unwrap();
        match name {
            "heartbeat 2" => assert_eq!(Heartbeat::decode(&event), Ok(at.clone())),
            "heartbeat 1" => assert_eq!(Heartbeat::decode(&event).unwrap().position, 5_000_000_000 % (1 << 32)),
            _ => assert_eq!(Rotate::decode(event.body()), Ok(rotate.clone())),
        }
    }
    check("artificial.hex", &hex);
}

/// Written by a MariaDB 11.4.5: the bodies that REFERENCES describes.
#[test]
fn marias_events_are_understood() {
    use crate::event::{MariaGtid, MariaGtidList};
    let mut body = 7u64.to_le_bytes().to_vec();
    body.extend_from_slice(&[0, 0, 0, 0, 0x0c, 0, 0, 0, 0, 0, 0]);
    let gtid = MariaGtid::decode(&body).unwrap();
    assert_eq!((gtid.seq_no, gtid.domain_id, gtid.is_standalone()), (7, 0, false));
    assert_eq!(gtid.flag_words(), " trans");
    body[12] = 0x29;
    assert!(MariaGtid::decode(&body).unwrap().is_standalone());
    let list = [&[1u8, 0, 0, 0][..], &[0, 0, 0, 0, 1, 0, 0, 0], &9u64.to_le_bytes()].concat();
    assert_eq!(MariaGtidList::decode(&list).unwrap().gtids, [(0, 1, 9)]);
    assert!(MariaGtidList::decode(&list[..10]).is_err());
}
