//! Bytes that were durable and changed are named, never cut away.

use super::*;
use crate::event::{EventHeader, MAGIC};

/// A log of three files, closed or crashed.
fn written(seed: u64, close: bool) -> SimMachine {
    let machine = machine(seed);
    let run = async {
        let Opened { mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
        write(&mut writer, 1..40).await?;
        if close { writer.close(true).await } else { Ok(()) }
    };
    machine.run(run).unwrap().unwrap();
    if !close {
        machine.kill();
    }
    machine
}

fn last_file(machine: &SimMachine) -> String {
    let files = files_of_log(machine);
    let used = |name: &&String| machine.contents(name).unwrap().iter().any(|&b| b != 0);
    files.iter().rfind(used).unwrap().clone()
}

#[test]
fn a_flipped_bit_in_a_sealed_file_is_named() {
    let machine = written(1, true);
    machine.flip_bit("binlog.000001", 8 * 1000);
    let run = async {
        let Opened { log, .. } = open(&machine.env(), OpenAs::Source).await?;
        read_texts(&log, LogPosition::default()).await
    };
    let error = machine.run(run).unwrap().unwrap_err();
    match &error {
        BinlogError::Corrupt { file, offset, .. } => {
            assert_eq!(file, "binlog.000001");
            assert!((500..=1000).contains(offset), "{error}");
        }
        other => panic!("{other}"),
    }

    let machine = written(1, true);
    let last = last_file(&machine);
    machine.flip_bit(&last, 8 * 300);
    let error = machine.run(open(&machine.env(), OpenAs::Source)).unwrap().unwrap_err();
    assert!(matches!(&error, BinlogError::Corrupt { file, .. } if *file == last), "{error}");
}

#[test]
fn damage_before_the_known_durable_position_is_not_a_torn_tail() {
    let machine = written(2, false);
    let last = last_file(&machine);
    let number = last[7..].parse().unwrap();
    machine.flip_bit(&last, 8 * 300);
    let known = LogPosition::new(number, 600);
    let open = BinaryLog::open(machine.env(), options(), OpenAs::Source, known);
    let error = machine.run(open).unwrap().unwrap_err();
    assert!(matches!(&error, BinlogError::Corrupt { file, .. } if *file == last), "{error}");
    assert!(error.to_string().contains("was durable up to"), "{error}");
}

#[test]
fn damage_far_before_valid_transactions_is_not_a_torn_tail() {
    let machine = written(3, false);
    let last = last_file(&machine);
    machine.flip_bit(&last, 8 * 300);
    let narrow = LogOptions { max_unsynced_window: 500, ..options() };
    let open = BinaryLog::open(machine.env(), narrow, OpenAs::Source, LogPosition::default());
    let error = machine.run(open).unwrap().unwrap_err();
    assert!(error.to_string().contains("a valid transaction follows"), "{error}");
}

#[test]
fn a_torn_tail_is_cut_and_said() {
    let machine = written(4, false);
    let last = last_file(&machine);
    let used = machine.contents(&last).unwrap().iter().rposition(|&b| b != 0).unwrap() as u64;
    machine.flip_bit(&last, 8 * used);
    let run = async {
        let Opened { log, report, .. } = open(&machine.env(), OpenAs::Source).await?;
        let cut = report.cut.expect("the log was cut");
        assert!(cut.contains(&last) && cut.contains("checksum"), "{cut}");
        assert!(report.was_in_use);
        assert_eq!(read_texts(&log, LogPosition::default()).await?, texts(1..39));
        assert_eq!(machine.contents(&last).unwrap().len() as u64, report.end.offset);
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn a_log_that_ends_before_the_checkpoint_is_an_error() {
    let machine = written(5, true);
    let open = BinaryLog::open(machine.env(), options(), OpenAs::Source, LogPosition::new(99, 4));
    let error = machine.run(open).unwrap().unwrap_err();
    assert!(error.to_string().contains("the log ends at"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let machine = written(6, true);
    machine.run(async { machine.env().disk.remove("binlog.000002").await }).unwrap().unwrap();
    let error = machine.run(open(&machine.env(), OpenAs::Source)).unwrap().unwrap_err();
    assert!(matches!(&error, BinlogError::NoSuchFile(name) if name == "binlog.000002"), "{error}");
}

/// A log of several files, all in the index, of which the second is still marked as in use.
fn with_an_open_file_in_the_middle(seed: u64) -> SimMachine {
    let machine = machine(seed);
    let run = async {
        let Opened { mut writer, .. } = open(&machine.env(), OpenAs::Source).await.unwrap();
        write(&mut writer, 1..60).await.unwrap();
        machine.env().clock.sleep(std::time::Duration::from_secs(1)).await;
    };
    machine.run(run).unwrap();
    machine.kill();
    machine.flip_bit("binlog.000002", 8 * (4 + 17));
    machine
}

/// As another server that has copied the log: what it says of its groups is not of this server's writes.
fn lenient() -> LogOptions {
    LogOptions { max_unsynced_window: u64::MAX, server_id: base::ServerId(2), ..options() }
}

/// What is cut away may be many files. The power fails at any moment of that, and opening goes on where it stopped.
#[test]
fn a_cut_of_several_files_survives_crashes() {
    for operations in 1..120 {
        let machine = with_an_open_file_in_the_middle(operations);
        machine.flip_bit("binlog.000002", 8 * 2000);
        let (env, name) = (machine.env(), "binlog.server_id");
        machine.run(folder::replace(&env, name, b"2\n")).unwrap().unwrap();
        machine.crash_after(operations);
        let ended = machine.run(BinaryLog::open(machine.env(), lenient(), OpenAs::Source, LogPosition::default()));
        machine.crash();
        let run = async {
            let opened = BinaryLog::open(machine.env(), lenient(), OpenAs::Source, LogPosition::default()).await;
            let Opened { log, .. } = opened.unwrap_or_else(|error| panic!("after {operations} operations: {error}"));
            let found = read_texts(&log, LogPosition::default()).await.unwrap();
            assert!(found.len() > 10 && texts(1..60).starts_with(&found), "after {operations} operations");
        };
        machine.run(run).unwrap();
        if ended.is_ok() {
            return; // the whole of it
        }
    }
    panic!("opening takes more operations than that");
}

/// A file that does not lead on to the next one ends the log; if it had gone on, that is damage, and nothing is removed.
#[test]
fn evidence_of_damage_stays() {
    let machine = with_an_open_file_in_the_middle(8);
    let end = {
        let bytes = machine.contents("binlog.000002").unwrap();
        // Without its ROTATE (a header, the position, the name, a checksum) and what is before that.
        bytes.len() - (19 + 8 + "binlog.000003".len() + 4) - 1
    };
    let cut = async {
        let how = io::OpenOptions { write: true, ..io::OpenOptions::default() };
        let file = machine.env().disk.open("binlog.000002", how).await.unwrap();
        file.set_len(end as u64).await.unwrap();
    };
    machine.run(cut).unwrap();
    let files = machine.files();
    let known = LogPosition::new(3, 500);
    let error = machine.run(BinaryLog::open(machine.env(), lenient(), OpenAs::Source, known)).unwrap().unwrap_err();
    assert!(error.to_string().contains("was durable up to"), "{error}");
    assert_eq!(machine.files(), files);
}

/// Writes some bytes of one file over the same place of another, as a disk does that puts a write into the wrong file.
fn put(machine: &SimMachine, from: &str, to: &str, range: std::ops::Range<usize>) {
    let bytes = io::IoBuf::copy_of(&machine.contents(from).unwrap()[range.clone()]);
    let how = io::OpenOptions { write: true, ..io::OpenOptions::default() };
    let (env, to) = (machine.env(), to.to_owned());
    let put = async move {
        env.disk.open(&to, how).await.unwrap().write_at(range.start as u64, bytes).await.unwrap();
    };
    machine.run(put).unwrap();
}

/// Where the transactions of a file begin, and where the last one ends.
fn places(bytes: &[u8]) -> Vec<usize> {
    let mut at = MAGIC.len();
    let mut places = Vec::new();
    while let Ok(header) = EventHeader::decode(&bytes[at..]) {
        if matches!(header.event_type, EventType::GTID | EventType::ROTATE) {
            places.push(at);
        }
        at += header.event_length as usize;
    }
    places
}

/// Files whose transactions have the same lengths, so that those of one fit into another to the byte.
fn alike(seed: u64) -> SimMachine {
    let machine = machine(seed);
    let run = async {
        let Opened { mut writer, .. } = open(&machine.env(), OpenAs::Source).await.unwrap();
        for number in 100..180 {
            place(&mut writer, number, &format!("statement {number}")).await.unwrap();
            writer.flush(IoMode::Inline).await.unwrap();
        }
        writer.close(true).await.unwrap();
    };
    machine.run(run).unwrap();
    machine
}

#[test]
fn a_transaction_of_another_file_is_not_read() {
    let contents = |machine: &SimMachine, name: &str| machine.contents(name).unwrap();
    for (from, to) in [("binlog.000002", "binlog.000003"), ("binlog.000003", "binlog.000002")] {
        let machine = alike(1);
        let (theirs, ours) = (places(&contents(&machine, from)), places(&contents(&machine, to)));
        // The first files' heads differ in length: GTIDs have more intervals; these two are alike.
        let both: Vec<usize> = ours.iter().copied().filter(|at| theirs.contains(at)).collect();
        assert!(both.len() > 5, "{ours:?} {theirs:?}");
        put(&machine, from, to, both[2]..both[3]);
        let run = async {
            let Opened { log, .. } = open(&machine.env(), OpenAs::Source).await?;
            let by_transactions = read_texts(&log, LogPosition::default()).await.unwrap_err();
            let mut reader = log.reader(LogPosition::default());
            let by_events = loop {
                match reader.next_event().await {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("read to the end"),
                    Err(error) => break error,
                }
            };
            Ok::<_, BinlogError>([by_transactions, by_events])
        };
        for error in machine.run(run).unwrap().unwrap() {
            assert!(
                matches!(&error, BinlogError::Corrupt { file, offset, .. } if *file == to && *offset == both[2] as u64),
                "{error}"
            );
        }
    }
}

/// A head that was written into the file before, or the one behind.
#[test]
fn a_head_of_another_file_is_found_when_the_log_is_opened_or_read() {
    for (from, to) in [("binlog.000002", "binlog.000003"), ("binlog.000003", "binlog.000002")] {
        for is_open in [false, true] {
            let machine = alike(2);
            let head = places(&machine.contents(to).unwrap())[0];
            let damage = || put(&machine, from, to, 0..head);
            let run = async {
                if !is_open {
                    return open(&machine.env(), OpenAs::Source).await.map(drop);
                }
                let Opened { log, .. } = open(&machine.env(), OpenAs::Source).await?;
                let (from, to, range) = (from.to_owned(), to.to_owned(), 0..head);
                let bytes = io::IoBuf::copy_of(&machine.contents(&from).unwrap()[range]);
                let how = io::OpenOptions { write: true, ..io::OpenOptions::default() };
                machine.env().disk.open(&to, how).await.unwrap().write_at(0, bytes).await.unwrap();
                read_texts(&log, LogPosition::default()).await.map(drop)
            };
            if !is_open {
                damage();
            }
            let error = machine.run(run).unwrap().unwrap_err();
            assert!(matches!(&error, BinlogError::Corrupt { .. }) && error.to_string().contains("astray"), "{error}");
        }
    }
}

/// In front of a group that was written when the hole was durable already, however near.
#[test]
fn damage_before_a_later_group_is_not_a_torn_tail() {
    let machine = machine(9);
    let run = async {
        let Opened { mut writer, .. } = open(&machine.env(), OpenAs::Source).await.unwrap();
        write(&mut writer, 1..8).await.unwrap();
    };
    machine.run(run).unwrap();
    machine.kill();
    let bytes = machine.contents("binlog.000001").unwrap();
    let starts = places(&bytes);
    // Groups are of three: 1, 2, 3; 4, 5, 6; 7.
    // The server may have another number by now.
    let cases = [(0, 1, true), (0, 9, true), (2, 9, true), (3, 1, true), (3, 9, true), (5, 1, true), (6, 9, false)];
    for (damaged, server_id, is_found) in cases {
        machine.flip_bit("binlog.000001", 8 * (starts[damaged] as u64 + 30));
        let options = LogOptions { server_id: base::ServerId(server_id), ..options() };
        let opening = BinaryLog::open(machine.env(), options, OpenAs::Source, LogPosition::default());
        let opened = machine.run(opening).unwrap();
        if !is_found {
            let report = opened.unwrap().report;
            assert!(report.cut.is_some() && report.end.offset == starts[damaged] as u64);
            return;
        }
        let error = opened.unwrap_err();
        assert!(
            matches!(&error, BinlogError::Corrupt { offset, .. } if *offset == starts[damaged] as u64)
                && error.to_string().contains("was written when this was durable"),
            "{damaged}: {error}"
        );
        machine.kill();
        machine.flip_bit("binlog.000001", 8 * (starts[damaged] as u64 + 30));
    }
}

/// The mark of a file that is written is the one bit without a checksum.
#[test]
fn another_bit_of_the_in_use_flag_costs_nothing() {
    for number in 1..4 {
        let machine = written(10, true);
        let name = format!("binlog.{number:06}");
        machine.flip_bit(&name, 8 * (4 + 17));
        let run = async {
            let Opened { log, .. } = open(&machine.env(), OpenAs::Source).await?;
            read_texts(&log, LogPosition::default()).await
        };
        assert_eq!(machine.run(run).unwrap().unwrap(), texts(1..40), "{name}");
    }
}

/// Whatever bit of the index is another: all transactions are there, or the start says what is wrong; no file is removed.
#[test]
fn no_bit_of_the_index_costs_a_file() {
    for listed in 1..4 {
        for bit in 0..8 * "./binlog.000001\n".len() as u64 * listed {
            let machine = written(11, false);
            let run = async {
                let lines: Vec<u64> = (1..=listed).collect();
                super::super::index::write(&machine.env(), "binlog", &lines).await
            };
            machine.run(run).unwrap().unwrap();
            machine.flip_bit("binlog.index", bit);
            let run = async {
                let Opened { log, .. } = open(&machine.env(), OpenAs::Source).await?;
                read_texts(&log, LogPosition::default()).await
            };
            match machine.run(run).unwrap() {
                Ok(found) => assert_eq!(found, texts(1..40), "bit {bit} of {listed} lines"),
                Err(error) => assert!(error.to_string().contains("binlog."), "{error}"),
            }
            assert!(machine.files().contains("binlog.000001"), "bit {bit} of {listed} lines");
        }
    }
}
