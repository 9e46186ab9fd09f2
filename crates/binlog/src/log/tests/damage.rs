//! Bytes that were durable and changed are named, never cut away.

use super::*;

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
    let files: Vec<String> = machine.files().into_iter().filter(|name| !name.ends_with("index")).collect();
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

fn lenient() -> LogOptions {
    LogOptions { max_unsynced_window: u64::MAX, ..options() }
}

/// What is cut away may be many files. The power fails at any moment of that, and opening goes on where it stopped.
#[test]
fn a_cut_of_several_files_survives_crashes() {
    for operations in 1..120 {
        let machine = with_an_open_file_in_the_middle(operations);
        machine.flip_bit("binlog.000002", 8 * 2000);
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
        // Without its ROTATE: a header, the position, the name, a checksum.
        bytes.len() - (19 + 8 + "binlog.000003".len() + 4)
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
