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
