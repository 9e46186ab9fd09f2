//! Files that are no logs of ours and are read all the same: of old servers, relay logs, logs with longer headers; and what is said of
//! those that are not read.

use io::sim::SimMachine;

use super::servers::read;
use crate::dump::{DumpOptions, dump_file, each_event};
use crate::error::BinlogError;
use crate::event::{
    ChecksumAlgorithm, EventHeader, EventType, Frame, HEADER_SIZE, MAGIC, RawEvent, Rotate, StartV3, whole_event,
};

/// Type and body of each event, and how reading ended.
type Found = (Vec<(EventType, Vec<u8>)>, Result<(), BinlogError>);

fn events_of(bytes: &[u8]) -> Found {
    let machine = SimMachine::new(1);
    let env = machine.env();
    let mut found = Vec::new();
    let run = async {
        write_file(&env, bytes).await;
        let mut at = MAGIC.len() as u64;
        each_event::<BinlogError>(&env, "log", |event| {
            assert_eq!(event.at, at);
            at = event.end;
            event.event.verify().map_err(BinlogError::Malformed)?;
            found.push((event.event.header.event_type, event.event.body().to_vec()));
            Ok(true)
        })
        .await
    };
    let ended = machine.run(run).unwrap();
    (found, ended)
}

async fn write_file(env: &io::Env, bytes: &[u8]) {
    let writing = io::OpenOptions { create: true, write: true, ..Default::default() };
    let file = env.disk.open("log", writing).await.unwrap();
    file.write_at(0, io::IoBuf::copy_of(bytes)).await.unwrap();
}

/// The body of a FORMAT_DESCRIPTION as a server of a version before 5.6.1 wrote it.
fn old_format(server_version: &str, header_length: u8) -> Vec<u8> {
    let mut body = 4u16.to_le_bytes().to_vec();
    let mut version = server_version.as_bytes().to_vec();
    version.resize(50, 0);
    body.extend(version);
    body.extend_from_slice(&0u32.to_le_bytes());
    body.push(header_length);
    // As 5.1.73 and 5.5.62 have them.
    body.extend_from_slice(&[56, 13, 0, 8, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0, 84, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0]);
    body
}

/// An event without a checksum, with a header of some length.
fn old_event(out: &mut Vec<u8>, event_type: EventType, header_length: usize, body: &[u8]) {
    let event_length = (header_length + body.len()) as u32;
    let next_position = out.len() as u32 + event_length;
    EventHeader { timestamp: 7, event_type, server_id: 1, event_length, next_position, flags: 0 }.encode(out);
    out.extend(std::iter::repeat_n(0xee, header_length - HEADER_SIZE));
    out.extend_from_slice(body);
}

/// Bodies of a log's events that old servers write just so.
fn plain_events() -> Vec<(EventType, Vec<u8>)> {
    let (found, ended) = events_of(&read("mysql97-statements"));
    ended.unwrap();
    let is_old = |event_type: &EventType| matches!(*event_type, EventType::QUERY | EventType::XID | EventType::INTVAR);
    found.into_iter().filter(|(event_type, _)| is_old(event_type)).collect()
}

#[test]
fn logs_without_checksums_of_servers_that_knew_of_none() {
    for version in ["5.0.96-log", "5.1.73", "5.5.62-log", "5.2.14-MariaDB"] {
        for header_length in [19, 23, 27, 31] {
            let format = old_format(version, header_length);
            let mut bytes = MAGIC.to_vec();
            old_event(&mut bytes, EventType::FORMAT_DESCRIPTION, HEADER_SIZE, &format);
            let expected = plain_events();
            assert!(expected.len() > 10);
            for (event_type, body) in &expected {
                old_event(&mut bytes, *event_type, header_length.into(), body);
            }
            let mut rotate = Vec::new();
            Rotate { position: 4, file: "next.000002".to_owned() }.encode_body(&mut rotate);
            old_event(&mut bytes, EventType::ROTATE, HEADER_SIZE, &rotate);
            let (found, ended) = events_of(&bytes);
            ended.unwrap();
            assert_eq!(found[0], (EventType::FORMAT_DESCRIPTION, old_format(version, 19)));
            assert_eq!(found[1..=expected.len()], expected);
            assert_eq!(found[expected.len() + 1..], [(EventType::ROTATE, rotate)]);
        }
    }
}

/// A relay log begins with events of the replica, and goes on with those of the source's file, which say where they are there.
#[test]
fn relay_logs() {
    for name in ["mysql97-rows", "maria118-rows"] {
        let log = read(name);
        let (expected, ended) = events_of(&log);
        ended.unwrap();
        let format = RawEvent::first_of(&log[MAGIC.len()..], ChecksumAlgorithm::Crc32).unwrap();
        let mut relayed = MAGIC.to_vec();
        let frame = Frame { timestamp: 1, server_id: 9, flags: 0x40 };
        relayed.extend(whole_event(EventType::FORMAT_DESCRIPTION, frame, 4, format.body()));
        relayed.extend_from_slice(&log[MAGIC.len()..]);
        let (found, ended) = events_of(&relayed);
        ended.unwrap();
        assert_eq!(found[0], found[1]);
        assert_eq!(found[1..], expected);
        // Behind the heads a byte in a header's length, or in its position.
        let second = MAGIC.len() + 2 * format.bytes.len();
        for offset in [9, 14] {
            let mut damaged = relayed.clone();
            damaged[second + offset] ^= 1;
            let (found, ended) = events_of(&damaged);
            assert_eq!(found.len(), 2, "{name}");
            let error = ended.unwrap_err();
            assert!(matches!(error, BinlogError::Corrupt { offset, .. } if offset == second as u64), "{error}");
        }
    }
}

/// What there is of a file that was cut is read.
#[test]
fn a_file_that_ends_inside_of_an_event() {
    let log = read("mysql97-gtids");
    let format = RawEvent::first_of(&log[MAGIC.len()..], ChecksumAlgorithm::Crc32).unwrap();
    let head = MAGIC.len() + format.bytes.len();
    for cut in [head + 1, head + HEADER_SIZE, head + HEADER_SIZE + 5] {
        let (found, ended) = events_of(&log[..cut]);
        assert_eq!(found.len(), 1);
        assert!(matches!(ended, Err(BinlogError::Truncated { offset, .. }) if offset == head as u64), "{ended:?}");
    }
    assert!(events_of(&log[..head]).1.is_ok());
    let machine = SimMachine::new(1);
    let env = machine.env();
    let mut shown = Vec::new();
    let run = async {
        write_file(&env, &log[..head + 20]).await;
        let sink = |text: &[u8]| {
            shown.extend_from_slice(text);
            Ok(())
        };
        dump_file(&env, "log", &DumpOptions::default(), sink).await
    };
    machine.run(run).unwrap().unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert!(
        shown.contains("Start: binlog v 4") && shown.contains(&format!("inside of the event at {head}.")),
        "{shown}"
    );
    assert!(shown.contains("# End of log file"), "{shown}");
}

#[test]
fn logs_that_are_not_read_are_named() {
    let (found, ended) = events_of(&read("maria118-encrypted"));
    assert_eq!(found.last().map(|(event_type, _)| *event_type), Some(EventType::MARIA_START_ENCRYPTION));
    assert!(matches!(ended, Err(BinlogError::Encrypted(_))), "{ended:?}");

    let mut start = Vec::new();
    StartV3 { binlog_version: 3, server_version: "4.1.22-log".to_owned(), created: 7 }.encode_body(&mut start);
    let mut bytes = MAGIC.to_vec();
    old_event(&mut bytes, EventType::START_V3, HEADER_SIZE, &start);
    let error = events_of(&bytes).1.unwrap_err().to_string();
    assert!(error.contains("has format 3") && error.contains("4.1.22-log"), "{error}");

    // Headers had neither a position nor flags.
    let mut start = Vec::new();
    StartV3 { binlog_version: 1, server_version: "3.23.58-log".to_owned(), created: 7 }.encode_body(&mut start);
    let mut bytes = MAGIC.to_vec();
    bytes.extend([0, 0, 0, 0, EventType::START_V3.0, 1, 0, 0, 0]);
    bytes.extend((13 + start.len() as u32).to_le_bytes());
    bytes.extend(start);
    let error = events_of(&bytes).1.unwrap_err();
    assert!(matches!(&error, BinlogError::TooOld { version: 1, server, .. } if server == "3.23.58-log"), "{error}");
}
