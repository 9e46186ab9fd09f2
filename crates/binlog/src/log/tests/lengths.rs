//! What a GTID event says of its transaction, and a copy that does not take what its readers and its next start would stumble over.

use super::*;
use crate::event::{CHECKSUM_SIZE, EventIter, FLAG_BINLOG_IN_USE, HEADER_SIZE, RawEvent, encode_previous_gtids, seal};

/// All events of a source's log of some transactions, with the file of each.
async fn events_of(machine: &SimMachine) -> Vec<(String, Vec<u8>)> {
    let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await.unwrap();
    write(&mut writer, 1..8).await.unwrap();
    writer.rotate().await.unwrap();
    write(&mut writer, 8..11).await.unwrap();
    let mut reader = log.reader(LogPosition::default());
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().await.unwrap() {
        let mut bytes = event.bytes.to_vec();
        if event.header.event_type == EventType::FORMAT_DESCRIPTION {
            bytes[17] &= !(FLAG_BINLOG_IN_USE as u8);
        }
        events.push((log.file_name(event.start.file), bytes));
    }
    events
}

/// Receives events; how many transactions are durable then, and why no more.
async fn receive(env: &Env, events: &[(String, Vec<u8>)]) -> (u64, Option<String>) {
    let Opened { log, writer, .. } = open(env, OpenAs::Follower).await.unwrap();
    let mut receiver = LogReceiver::new(writer);
    let mut refused = None;
    for (file, bytes) in events {
        let received = async {
            receiver.start_file(file).await?;
            receiver.append(bytes).await?;
            receiver.flush().await
        };
        if let Err(error) = received.await {
            assert!(matches!(error, BinlogError::Malformed(_)), "{error}");
            refused = Some(error.to_string());
            break;
        }
    }
    receiver.close().await.unwrap();
    (log.gtid_executed().count(), refused)
}

/// Receives what a source sent, of which one event is another; opens the copy again, and reads all of it.
fn copy_of(change: impl Fn(&mut Vec<(String, Vec<u8>)>)) -> (u64, Option<String>) {
    let source = machine(5);
    let follower = source.world().machine();
    let run = async {
        let mut events = events_of(&source).await;
        change(&mut events);
        let (count, refused) = receive(&follower.env(), &events).await;
        let Opened { log, report, .. } = open(&follower.env(), OpenAs::Follower).await.unwrap();
        assert_eq!((log.gtid_executed().count(), report.cut), (count, None));
        assert_eq!(read_texts(&log, LogPosition::default()).await.unwrap(), texts(1..count + 1));
        (count, refused)
    };
    source.world().run(run).unwrap()
}

fn nth_gtid(events: &[(String, Vec<u8>)], n: usize) -> usize {
    let is_gtid = |(_, bytes): &(String, Vec<u8>)| EventType(bytes[4]).is_gtid();
    events.iter().enumerate().filter(|(_, event)| is_gtid(event)).nth(n).unwrap().0
}

/// Gives a GTID event's transaction another length.
fn say_length(event: &mut [u8], length_of: impl FnOnce(u64) -> u64) {
    let raw = RawEvent::first_of(event, crate::event::ChecksumAlgorithm::Crc32).unwrap();
    let mut head = crate::GtidEvent::decode(raw.header.event_type, raw.body()).unwrap();
    let size = raw.body().len();
    head.transaction_length = length_of(head.transaction_length);
    let mut body = Vec::new();
    head.encode_body(&mut body);
    // A number of three bytes may be one of less, and be followed by nothing that matters.
    body.resize(size, 0);
    event[HEADER_SIZE..HEADER_SIZE + size].copy_from_slice(&body);
    seal(event);
}

#[test]
fn a_wrong_length_is_not_received() {
    assert_eq!(copy_of(|_| ()), (10, None));
    for more in [1i64, -1, 300, -100, 1 << 20] {
        let (count, refused) = copy_of(|events| {
            let at = nth_gtid(events, 4);
            say_length(&mut events[at].1, |length| length.wrapping_add_signed(more));
        });
        assert_eq!(count, 4, "{more}");
        assert!(refused.unwrap().contains("the GTID event gives its transaction"), "{more}");
    }
}

#[test]
fn a_gtid_comes_once_and_stays() {
    let (count, refused) = copy_of(|events| {
        let (first, again) = (nth_gtid(events, 1), nth_gtid(events, 4));
        let gtid = events[first].1[HEADER_SIZE..HEADER_SIZE + 25].to_vec();
        events[again].1[HEADER_SIZE..HEADER_SIZE + 25].copy_from_slice(&gtid);
        seal(&mut events[again].1);
    });
    assert_eq!(count, 4);
    assert!(refused.unwrap().contains("is in the log before"));
    // The head of the last file lacks those before it.
    let before = std::cell::Cell::new(0);
    let (count, refused) = copy_of(|events| {
        let heads =
            events.iter().enumerate().filter(|(_, (_, bytes))| EventType(bytes[4]) == EventType::PREVIOUS_GTIDS);
        let (at, _) = heads.max_by_key(|(at, _)| *at).unwrap();
        before.set(events[..at].iter().filter(|(_, bytes)| EventType(bytes[4]).is_gtid()).count() as u64);
        let end = u32::from_le_bytes(events[at].1[13..17].try_into().unwrap());
        let start = end as usize - events[at].1.len();
        let frame = crate::event::Frame { timestamp: 1, server_id: 1, flags: 0 };
        let mut bytes = Vec::new();
        encode_previous_gtids(&mut bytes, frame, &GtidSet::new());
        let end = (start + bytes.len()) as u32;
        bytes[13..17].copy_from_slice(&end.to_le_bytes());
        seal(&mut bytes);
        events[at].1 = bytes;
    });
    assert!(refused.unwrap().contains("PREVIOUS_GTIDS"));
    assert_eq!(count, before.get());
}

/// What is durable already, of older builds: read as far as it is right, with an error that names the transaction.
#[test]
fn a_wrong_length_is_read_as_damage_of_its_transaction() {
    for length_of in [|length| length + 1, |length| length - 1, |_| 70, |length| length + 200, |_| 1 << 20] {
        let length_of: fn(u64) -> u64 = length_of;
        let machine = machine(6);
        let run = async {
            let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await.unwrap();
            write(&mut writer, 1..8).await.unwrap();
            let bytes = machine.contents("binlog.000001").unwrap();
            let mut starts = Vec::new();
            let mut at = 4;
            for event in EventIter::new(&bytes[4..], crate::event::ChecksumAlgorithm::Crc32) {
                let Ok(event) = event else { break };
                if event.header.event_type.is_gtid() {
                    starts.push((at, event.bytes.to_vec()));
                }
                at += event.bytes.len();
            }
            let (at, mut event) = starts.swap_remove(3);
            say_length(&mut event, length_of);
            let how = io::OpenOptions { write: true, ..io::OpenOptions::default() };
            let file = machine.env().disk.open("binlog.000001", how).await.unwrap();
            file.write_at(at as u64, io::IoBuf::copy_of(&event)).await.unwrap();
            let mut reader = log.reader(LogPosition::default()).without_verification();
            for _ in 0..3 {
                reader.next_transaction().await.unwrap().unwrap();
            }
            let error = reader.next_transaction().await.unwrap_err();
            assert!(matches!(&error, BinlogError::Corrupt { offset, .. } if *offset == at as u64), "{error}");
            assert_eq!(reader.position(), LogPosition::new(1, at as u64));
            // By its checksums it is what was written.
            log.reader(LogPosition::new(1, at as u64)).check_next().await.unwrap();
            let position = LogPosition::new(1, (at + event.len() + HEADER_SIZE + CHECKSUM_SIZE) as u64);
            machine.flip_bit("binlog.000001", 8 * position.offset);
            log.reader(LogPosition::new(1, at as u64)).check_next().await.unwrap_err();
        };
        machine.run(run).unwrap();
    }
}
