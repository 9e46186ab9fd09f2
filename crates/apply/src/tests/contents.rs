//! Logs whose events are whole by their checksums, and say what cannot be applied: the copy of such a log starts with the state before.

use std::time::Duration;

use base::LogPosition;
use binlog::event::{CHECKSUM_SIZE, HEADER_SIZE};
use binlog::{EventIter, EventType};

use super::*;

/// An event of a log: its file, where it begins, how long it is.
#[derive(Clone, Debug)]
struct Place {
    file: String,
    at: usize,
    len: usize,
    event_type: EventType,
}

/// A log with rows that come, change and go, an index, a definition in the middle, images that are minimal.
fn written(seed: u64) -> SimMachine {
    let machine = machine(seed);
    let write = async {
        let (engine, _) = open(machine.env(), EngineOptions { memtable_bytes: 64 << 20, ..options() }).await.unwrap();
        engine.start_commits(CommitSettings::default()).unwrap();
        make_tables(&engine).await.unwrap();
        for id in 1..=20 {
            let row_image = if id % 7 == 0 { engine::RowImage::Minimal } else { engine::RowImage::Full };
            let how = TxnOptions { row_image, ..TxnOptions::new(SessionHandle::internal()) };
            count_up_in(engine.begin(how), &engine, id, "note").await.unwrap();
            if id == 10 {
                ddl(&engine, &table_sql("other")).await.unwrap();
            }
        }
        let other = table(&engine, "other");
        let mut txn = begin(&engine);
        for id in 0..5 {
            txn.insert(&other, row(&other, id, id, "x")).await.unwrap();
        }
        txn.commit().await.unwrap();
        let mut txn = begin(&engine);
        txn.delete(&other, &row(&other, 3, 3, "x")).await.unwrap();
        txn.commit().await.unwrap();
    };
    machine.run(write).unwrap();
    machine.kill();
    machine
}

fn events(machine: &SimMachine) -> Vec<Place> {
    let mut places = Vec::new();
    for file in machine.files().into_iter().filter(|name| name.starts_with("binlog.0")) {
        let bytes = machine.contents(&file).unwrap();
        let mut at = 4;
        for event in EventIter::new(&bytes[4..], binlog::event::ChecksumAlgorithm::Crc32) {
            let Ok(event) = event.and_then(|event| event.verify().map(|()| event)) else { break };
            let (len, event_type) = (event.bytes.len(), event.header.event_type);
            places.push(Place { file: file.clone(), at, len, event_type });
            at += len;
        }
    }
    places
}

/// The events of a kind.
fn of_type(machine: &SimMachine, wanted: EventType) -> Vec<Place> {
    events(machine).into_iter().filter(|place| place.event_type == wanted).collect()
}

/// Gives a byte of an event another value, and the event the checksum that is right then.
fn change(machine: &SimMachine, place: &Place, offset: usize, to: impl FnOnce(u8) -> u8) {
    let mut event = machine.contents(&place.file).unwrap()[place.at..place.at + place.len].to_vec();
    event[offset] = to(event[offset]);
    let covered = place.len - CHECKSUM_SIZE;
    let checksum = crc32fast::hash(&event[..covered]);
    event[covered..].copy_from_slice(&checksum.to_le_bytes());
    let write = async {
        let how = io::OpenOptions { write: true, ..io::OpenOptions::default() };
        let file = machine.env().disk.open(&place.file, how).await.unwrap();
        file.write_at(place.at as u64, io::IoBuf::copy_of(&event)).await.unwrap();
        file.sync().await.unwrap();
    };
    machine.run(write).unwrap();
    machine.kill();
}

/// How a follower begins.
const WAYS: [ApplyOptions; 2] =
    [ApplyOptions { workers: 2, readers: false }, ApplyOptions { workers: 2, readers: true }];

/// What a life of the copy has come to: the error, if there is one, and the state.
type Came = (Option<(u16, String)>, (u64, LogPosition));

/// Starts a copy, lets it apply what it can, makes a checkpoint and stops: none of it may fail or wait for ever.
fn live(machine: &SimMachine, options_of: ApplyOptions, what: &str) -> Came {
    let life = async {
        let how = EngineOptions { follower: true, ..options() };
        let engine = Engine::open(machine.env(), how, Arc::new(TinyPlanner)).await.unwrap();
        let recovered = recover_copy(&engine, options_of).await;
        recovered.unwrap_or_else(|error| panic!("{what}: {error}"));
        let applier = Applier::new(engine.clone(), options_of);
        let error = applier.finish().await.err().map(|error| (error.code(), error.to_string()));
        let (number, position) = engine.visible();
        assert_eq!(applier.status().applied, number, "{what}");
        engine.checkpoint().await.unwrap();
        engine.close().await.unwrap();
        (error, (number.0, position))
    };
    let clock = machine.env().clock;
    let in_time = futures_lite::future::or(async { Some(life.await) }, async {
        clock.sleep(Duration::from_secs(1000)).await;
        None
    });
    let came = machine.run(in_time).unwrap().unwrap_or_else(|| panic!("{what}: it waits for ever"));
    machine.kill();
    came
}

/// Lets copies of a changed log live twice, in each of the two ways: what they come to is the same each time. Gives it.
fn lives(make: impl Fn() -> SimMachine, what: &str) -> Came {
    let mut all = Vec::new();
    for way in WAYS {
        let machine = make();
        for _ in 0..2 {
            all.push(live(&machine, way, what));
        }
    }
    assert!(all.iter().all(|came| came.1 == all[0].1), "{what}: {all:?}");
    assert!(all.iter().all(|came| came.0 == all[0].0), "{what}: {all:?}");
    all.remove(0)
}

/// The position of the transaction that has this event: that of the GTID event before it.
fn transaction_of(machine: &SimMachine, place: &Place) -> String {
    let before = events(machine).into_iter().filter(|other| (&other.file, other.at) <= (&place.file, place.at));
    let heads = before.filter(|other| other.event_type.is_gtid());
    let head = heads.max_by_key(|other| (other.file.clone(), other.at)).unwrap();
    format!("{}", LogPosition::new(head.file.rsplit('.').next().unwrap().parse().unwrap(), head.at as u64))
}

/// Changes one byte of the event of a type that is somewhere in the middle; what comes of it.
fn changed(event_type: EventType, offset: usize, to: u8) -> Came {
    let place = of_type(&written(1), event_type).remove(4);
    let make = || {
        let machine = written(1);
        change(&machine, &place, offset, |_| to);
        machine
    };
    let what = format!("{}+{offset} is {to}", event_type.name());
    let came = lives(make, &what);
    let (state, at) = (came.1.1.to_string(), transaction_of(&written(1), &place));
    assert_eq!(state, at, "{what}: the state is not that before the transaction: {came:?}");
    came
}

#[test]
fn images_that_are_no_rows() {
    // All columns are NULL, so what is behind the bits is another row, or none.
    let (error, _) = changed(EventType::WRITE_ROWS, HEADER_SIZE + 12, 255);
    assert!(error.is_some());
    let (error, _) = changed(EventType::UPDATE_ROWS, HEADER_SIZE + 13, 255);
    assert!(error.is_some());
}

#[test]
fn rows_of_another_kind() {
    let (error, _) = changed(EventType::UPDATE_ROWS, 4, EventType::WRITE_ROWS.0);
    assert!(error.is_some());
    let (error, _) = changed(EventType::WRITE_ROWS, 4, EventType::UPDATE_ROWS.0);
    assert!(error.is_some());
}

#[test]
fn lengths_of_transactions_that_are_wrong() {
    let at = HEADER_SIZE + 1 + 16 + 8 + 1 + 16 + 7;
    let machine = written(1);
    let place = of_type(&machine, EventType::GTID).remove(4);
    let bytes = machine.contents(&place.file).unwrap();
    assert_eq!(bytes[place.at + at], 0xfc, "the length takes two bytes");
    let said = bytes[place.at + at + 2];
    for (offset, to) in [(at + 2, 0), (at + 2, said + 48), (at + 2, said + 1), (at + 1, 0), (at + 1, 255)] {
        let (error, _) = changed(EventType::GTID, offset, to);
        let (code, text) = error.unwrap();
        assert!(code == 1236 && text.contains("GTID event") || text.contains("past the end"), "{code}: {text}");
    }
}

#[test]
fn maps_of_other_tables() {
    // Its number: rows are then without a map, whatever was mapped in the transactions before.
    let (error, _) = changed(EventType::TABLE_MAP, HEADER_SIZE, 77);
    assert!(error.unwrap().1.contains("without a TABLE_MAP"));
    // Its name.
    let (error, _) = changed(EventType::TABLE_MAP, HEADER_SIZE + 9, b'z');
    assert!(error.unwrap().1.contains("no table 'z."));
}

/// Whether a GTID event can be decoded.
fn has_head(machine: &SimMachine, place: &Place) -> bool {
    let event = &machine.contents(&place.file).unwrap()[place.at..place.at + place.len];
    binlog::GtidEvent::decode(place.event_type, &event[HEADER_SIZE..place.len - CHECKSUM_SIZE]).is_ok()
}

/// Whatever byte of whatever event: the copy starts, each time with the same state, and can be closed.
#[test]
fn any_byte_of_an_event_is_another() {
    let kinds = [
        EventType::WRITE_ROWS,
        EventType::UPDATE_ROWS,
        EventType::DELETE_ROWS,
        EventType::TABLE_MAP,
        EventType::GTID,
        EventType::QUERY,
        EventType::XID,
    ];
    let places = events(&written(1));
    let mut stopped = 0;
    for seed in 0..300u64 {
        let world = io::sim::SimWorld::new(seed);
        let kind = kinds[world.below(kinds.len() as u64) as usize];
        let of_kind: Vec<&Place> = places.iter().filter(|place| place.event_type == kind).collect();
        let place = of_kind[world.below(of_kind.len() as u64) as usize];
        let offset = HEADER_SIZE + world.below((place.len - HEADER_SIZE - CHECKSUM_SIZE) as u64) as usize;
        let bits = 1 + world.below(255) as u8;
        let make = || {
            let machine = written(1);
            change(&machine, place, offset, |byte| byte ^ bits);
            machine
        };
        // What the log itself goes by is checked when it is received: a GTID, and where transactions begin and end.
        let is_of_the_log = match kind {
            EventType::GTID => (1..25).contains(&(offset - HEADER_SIZE)) || !has_head(&make(), place),
            EventType::QUERY => place.len < 100,
            _ => false,
        };
        if is_of_the_log {
            continue;
        }
        let what = format!("seed {seed}: {} at {}:{} +{offset} ^ {bits}", kind.name(), place.file, place.at);
        stopped += u32::from(lives(make, &what).0.is_some());
    }
    assert!(stopped > 20, "only {stopped} could not be applied");
}
