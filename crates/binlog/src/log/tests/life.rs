//! A log's ordinary life: writing, rotating, reading, purging, closing.

use std::time::Duration;

use super::*;

#[test]
fn what_is_written_is_read_over_rotations_and_restarts() {
    let machine = machine(1);
    let run = async {
        let env = machine.env();
        let Opened { log, mut writer, report } = open(&env, OpenAs::Source).await?;
        assert_eq!(report, RecoveryReport::default());
        write(&mut writer, 1..100).await?;
        assert_eq!(read_texts(&log, LogPosition::default()).await?, texts(1..100));
        let files = log.files();
        assert!(files.len() > 3, "{files:?}");
        assert!(files[..files.len() - 1].iter().all(|file| file.size >= 4096));
        assert_eq!(log.gtid_executed().to_string(), "11111111-1111-1111-1111-111111111111:1-99");
        writer.close(true).await?;

        let Opened { log, mut writer, report } = open(&env, OpenAs::Source).await?;
        assert!(!report.was_in_use && report.cut.is_none(), "{report:?}");
        assert_eq!(log.files().len(), files.len() + 1, "a source begins a file at each start");
        assert_eq!(log.gtid_executed().to_string(), "11111111-1111-1111-1111-111111111111:1-99");
        write(&mut writer, 100..120).await?;
        assert_eq!(read_texts(&log, LogPosition::default()).await?, texts(1..120));
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn files_are_sealed_and_listed_in_the_background() {
    let machine = machine(2);
    let run = async {
        let env = machine.env();
        let Opened { log, mut writer, .. } = open(&env, OpenAs::Source).await?;
        write(&mut writer, 1..60).await?;
        env.clock.sleep(Duration::from_secs(1)).await;
        let files = log.files();
        let (last, sealed) = files.split_last().unwrap();
        for file in sealed {
            let bytes = machine.contents(&file.name).unwrap();
            assert_eq!(bytes.len() as u64, file.size, "{} is cut at its end", file.name);
            assert_eq!(bytes[4 + 17], 0, "the in-use flag of {} is cleared", file.name);
        }
        assert_eq!(machine.contents(&last.name).unwrap()[4 + 17], 1);
        let index = String::from_utf8(machine.contents("binlog.index").unwrap()).unwrap();
        let lines: Vec<String> = files.iter().map(|file| format!("./{}", file.name)).collect();
        assert_eq!(index.lines().collect::<Vec<_>>(), lines);
        let filled = {
            let state = log.keeper.state.lock();
            let (current, next) = (state.current.as_ref().unwrap(), state.next.as_ref().expect("it is prepared"));
            [(current.segment.name.clone(), current.filled), (next.segment.name.clone(), next.filled)]
        };
        for (name, filled) in filled {
            let durable = machine.durable_contents(&name).map(|bytes| bytes.len() as u64);
            assert_eq!(durable, Some(filled), "{name}: a commit's sync has no zeros to write");
        }
        writer.close(true).await?;
        assert!(!machine.files().contains(&log.file_name(last.number + 1)), "and removed at the end");
        assert_eq!(machine.contents(&last.name).unwrap()[4 + 17], 0);
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn flush_logs_begins_a_file_with_clocks_of_its_own() {
    let machine = machine(3);
    let run = async {
        let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
        let first = place(&mut writer, 1, "one").await?;
        writer.rotate().await?;
        writer.flush(IoMode::Inline).await?;
        let second = place(&mut writer, 2, "two").await?;
        let third = place(&mut writer, 3, "three").await?;
        assert_eq!((first.last_committed, first.sequence_number), (0, 1));
        assert_eq!((second.last_committed, second.sequence_number), (0, 1));
        assert_eq!((third.last_committed, third.sequence_number), (1, 2));
        assert_eq!((first.start.file, second.start.file), (1, 2));
        assert_eq!(log.durable_end(), second.start, "placed is not durable");
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn a_reader_waits_for_what_is_durable() {
    let machine = machine(4);
    let env = machine.env();
    let run = async {
        let Opened { log, mut writer, .. } = open(&env, OpenAs::Source).await?;
        let mut reader = log.reader(LogPosition::default());
        assert!(reader.next_transaction().await?.is_none());
        let clock = env.clock.clone();
        env.spawner.spawn(
            "writer",
            Box::pin(async move {
                clock.sleep(Duration::from_millis(5)).await;
                place(&mut writer, 1, "one").await.unwrap();
                clock.sleep(Duration::from_millis(5)).await;
                writer.flush(IoMode::Inline).await.unwrap();
            }),
        );
        reader.wait().await?;
        assert!(env.clock.monotonic() >= Duration::from_millis(10));
        assert!(reader.next_transaction().await?.is_some());
        assert!(reader.next_transaction().await?.is_none());
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

/// A file so large that it goes in pieces is no file of the log from its purge on, and does not come back as a part of one, wherever the
/// power fails; what is left of it goes in the end.
#[test]
fn a_large_file_is_purged_in_pieces() {
    let mut whole = 0;
    for operation in 1..20 {
        let machine = machine(operation);
        let start = async {
            let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
            place(&mut writer, 1, &"x".repeat(40 << 20)).await?;
            writer.flush(IoMode::Offload).await?;
            write(&mut writer, 2..4).await?;
            // The next file is prepared.
            machine.env().clock.sleep(Duration::from_secs(1)).await;
            Ok::<_, BinlogError>((log, writer))
        };
        let (log, writer) = machine.run(start).unwrap().unwrap();
        machine.crash_after(operation);
        let purge = async {
            let purged = log.purge_before_file(2).await?;
            machine.env().clock.sleep(Duration::from_secs(1)).await;
            Ok::<_, BinlogError>(purged)
        };
        let purged = machine.run(purge).map(|result| result.unwrap());
        whole += usize::from(purged.is_ok_and(|purged| purged.removed[0] == "binlog.000001"));
        drop(writer);
        machine.crash();
        let after = async {
            let Opened { log, .. } = open(&machine.env(), OpenAs::Source).await?;
            assert_eq!(log.gtid_executed().count(), 3, "operation {operation}");
            let first = log.files()[0].clone();
            log.reader(LogPosition::new(first.number, 4)).next_transaction().await?;
            machine.env().clock.sleep(Duration::from_secs(1)).await;
            let left: Vec<String> = machine.files().into_iter().filter(|name| name.contains("purged")).collect();
            assert!(left.is_empty(), "operation {operation}: {left:?}");
            Ok::<_, BinlogError>(())
        };
        machine.run(after).unwrap().unwrap();
    }
    assert!(whole > 0 && whole < 19, "{whole}");
}

#[test]
fn purge_stops_at_pins() {
    let machine = machine(5);
    let run = async {
        let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
        write(&mut writer, 1..100).await?;
        let pin = log.pin("a checkpoint", LogPosition::new(3, 200));
        let purged = log.purge_to(&log.files().last().unwrap().name).await?;
        assert_eq!(purged.removed, ["binlog.000001", "binlog.000002"]);
        assert_eq!(purged.held_by.as_deref(), Some("a checkpoint"));
        assert!(!machine.files().contains("binlog.000001"));
        assert!(log.gtid_purged().is_subset_of(&log.gtid_executed()) && !log.gtid_purged().is_empty());
        assert!(matches!(log.purge_to("binlog.000002").await, Err(BinlogError::NoSuchFile(_))));
        drop(pin);
        let size: u64 = log.files().iter().map(|file| file.size).sum();
        let purged = log.purge_to_size(size - 1).await?;
        assert_eq!(purged.removed, ["binlog.000003"]);
        log.purge_before(UnixMicros(u64::MAX)).await?;
        assert_eq!(log.files().len(), 1, "the last file stays");
        let error = log.reader(LogPosition::new(1, 4)).next_event().await.unwrap_err();
        assert!(matches!(error, BinlogError::NoSuchFile(_)), "{error}");
        writer.close(true).await?;
        let Opened { log, .. } = open(&machine.env(), OpenAs::Source).await?;
        assert_eq!(log.gtid_executed().count(), 99);
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn a_full_disk_refuses_a_reservation_and_recovers() {
    let machine = machine(6);
    let run = async {
        let env = machine.env();
        machine.set_faults(io::sim::Faults { capacity: Some(6 << 20), ..Default::default() });
        let Opened { log, mut writer, .. } = open(&env, OpenAs::Source).await?;
        let mut number = 1;
        let error = loop {
            let big = "y".repeat(100_000);
            match place(&mut writer, number, &big).await {
                Ok(_) => writer.flush(IoMode::Inline).await?,
                Err(error) => break error,
            }
            number += 1;
        };
        assert!(matches!(error, BinlogError::Full(_)), "{error}");
        assert!(number > 5, "{number}");
        machine.set_faults(io::sim::Faults::default());
        place(&mut writer, number, "there is room again").await?;
        writer.flush(IoMode::Inline).await?;
        assert_eq!(read_texts(&log, LogPosition::default()).await?.len() as u64, number);
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn a_failed_sync_is_final() {
    let machine = machine(7);
    let run = async {
        let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
        place(&mut writer, 1, "one").await?;
        machine.set_faults(io::sim::Faults { sync_error: 1.0, ..Default::default() });
        assert!(writer.flush(IoMode::Inline).await.is_err());
        machine.set_faults(io::sim::Faults::default());
        let transaction = statement("two");
        assert!(matches!(log.check(), Err(BinlogError::Failed(_))));
        while let Ok(reservation) = log.reserve(transaction.max_size()).await {
            std::mem::forget(reservation);
        }
        assert!(log.wait_past(log.durable_end()).await.is_err());
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

/// As for SHOW BINLOG EVENTS FROM.
#[test]
fn a_position_inside_of_an_event_leads_to_the_next_one() {
    let machine = machine(3);
    let run = async {
        let env = machine.env();
        let Opened { log, mut writer, .. } = open(&env, OpenAs::Source).await?;
        write(&mut writer, 1..60).await?;
        assert!(log.files().len() > 2);
        let mut starts = Vec::new();
        let mut reader = log.reader(LogPosition::new(1, 0));
        while let Some(event) = reader.next_event().await?.filter(|event| event.start.file == 1) {
            starts.push(event.start.offset);
        }
        let end = log.files()[0].size;
        for offset in (0..end + 10).step_by(7).chain(starts.clone()) {
            let expected = starts.iter().find(|&&start| start >= offset).map(|&start| LogPosition::new(1, start));
            assert_eq!(log.event_from(LogPosition::new(1, offset)).await?, expected, "from {offset}");
        }
        let behind = LogPosition { offset: log.durable_end().offset + 1, ..log.durable_end() };
        assert_eq!(log.event_from(behind).await?, None);
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}
