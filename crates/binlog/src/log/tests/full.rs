//! Wishes and failures in the background: who waits for room, for a file or for the index gets it or is told, and what was
//! not possible on a full disk is possible when there is room.

use std::time::Duration;

use futures_lite::future;
use io::sim::Faults;

use super::*;
use crate::log::space::SLACK;

fn full(capacity: u64) -> Faults {
    Faults { capacity: Some(capacity), ..Faults::default() }
}

fn with_log(seed: u64, options: LogOptions, test: impl AsyncFnOnce(&SimMachine, Arc<BinaryLog>, LogWriter)) {
    let machine = machine(seed);
    let run = async {
        let env = machine.env();
        let opened = BinaryLog::open(env.clone(), options, OpenAs::Source, LogPosition::default()).await.unwrap();
        env.clock.sleep(Duration::from_secs(1)).await; // the keeper has done what it can
        test(&machine, opened.log, opened.writer).await;
    };
    machine.run(run).unwrap();
}

fn one_file() -> LogOptions {
    LogOptions { max_binlog_size: 1 << 20, fill_ahead: 64 << 10, ..options() }
}

/// Room for a waiting transaction may come from another that did not use its own, and not from the disk.
#[test]
fn room_that_is_given_back_wakes_who_waits() {
    for seed in 0..20 {
        with_log(seed, one_file(), async |_, log, _| {
            let free = log.space.free() as u64;
            let other = log.reserve(free / 4).await.unwrap();
            let mut waiting = Box::pin(log.reserve(free));
            assert!(future::poll_once(&mut waiting).await.is_none());
            drop(other);
            assert_eq!(waiting.await.unwrap().bytes(), free);
        });
    }
}

/// What a huge transaction cannot have is no reason to refuse a small one.
#[test]
fn a_huge_wish_does_not_fail_a_small_one() {
    for seed in 0..20 {
        with_log(seed, one_file(), async |machine, log, _| {
            let free = log.space.free() as u64;
            let all = log.reserve(free).await.unwrap();
            machine.set_faults(full(machine.used_bytes() + (4 << 20) + (300 << 10)));
            let mut huge = Box::pin(log.reserve(8 << 20));
            let mut small = Box::pin(log.reserve(1 << 10));
            assert!(future::poll_once(&mut huge).await.is_none());
            assert!(future::poll_once(&mut small).await.is_none());
            assert!(matches!(huge.await, Err(BinlogError::Full(_))), "seed {seed}");
            small.await.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            drop(all);
        });
    }
}

#[test]
fn an_old_error_of_a_full_disk_is_not_told_again() {
    with_log(1, options(), async |machine, log, mut writer| {
        machine.set_faults(full(machine.used_bytes()));
        place(&mut writer, 1, "one").await.unwrap();
        writer.rotate().await.unwrap();
        writer.flush(IoMode::Inline).await.unwrap();
        assert!(matches!(writer.rotate().await, Err(BinlogError::Full(_))), "no next file fits");
        machine.set_faults(Faults::default());
        for number in 2..6 {
            place(&mut writer, number, "more").await.unwrap();
            writer.rotate().await.unwrap();
            writer.flush(IoMode::Inline).await.unwrap();
        }
        assert_eq!(log.durable_end().file, 6);
    });
}

/// On a full disk a purge is what helps.
#[test]
fn a_purge_works_on_a_full_disk() {
    with_log(2, options(), async |machine, log, mut writer| {
        write(&mut writer, 1..60).await.unwrap();
        machine.set_faults(full(machine.used_bytes() + (4 << 20)));
        let mut number = 60;
        let error = loop {
            match place(&mut writer, number, &"y".repeat(3000)).await {
                Ok(_) => writer.flush(IoMode::Inline).await.unwrap(),
                Err(error) => break error,
            }
            number += 1;
        };
        assert!(matches!(error, BinlogError::Full(_)), "{error}");
        let last = log.files().pop().unwrap().name;
        let purged = log.purge_to(&last).await.unwrap();
        assert!(purged.removed.len() > 2, "{purged:?}");
        place(&mut writer, number, "there is room again").await.unwrap();
        writer.flush(IoMode::Inline).await.unwrap();
    });
}

/// Others may have filled it, so that not even an index can be written beside the old one. A power failure at any moment of it leaves a
/// log that can be opened.
#[test]
fn a_purge_makes_room_for_its_own_index() {
    for operations in 0..40 {
        let machine = machine(operations);
        let run = async {
            let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await.unwrap();
            write(&mut writer, 1..60).await.unwrap();
            log.keeper.settle(&log).await.unwrap();
            machine.set_faults(full(machine.used_bytes()));
            if operations > 0 {
                machine.crash_after(operations);
            }
            let last = log.files().pop().unwrap().name;
            let purged = log.purge_to(&last).await.unwrap();
            assert!(purged.removed.len() > 2 && purged.removed[0] == "binlog.000001", "{purged:?}");
            assert_eq!(log.files().len(), 1);
        };
        let ended = machine.run(run);
        machine.crash();
        machine.set_faults(Faults::default());
        let run = async {
            let opened = open(&machine.env(), OpenAs::Source).await;
            let Opened { log, .. } = opened.unwrap_or_else(|error| panic!("after {operations} operations: {error}"));
            let texts_left = read_texts(&log, LogPosition::default()).await.unwrap();
            assert!(texts(1..60).ends_with(&texts_left), "after {operations} operations");
        };
        machine.run(run).unwrap();
        assert!(!machine.files().iter().any(|name| name.contains("purged")), "{:?}", machine.files());
        if operations == 0 {
            assert!(ended.is_ok());
        } else if ended.is_ok() {
            return; // the whole of it
        }
    }
    panic!("a purge takes more operations than that");
}

/// A purge whose index could not be written has purged nothing, and can be tried again.
#[test]
fn a_purge_without_an_index_purges_nothing() {
    with_log(3, options(), async |machine, log, mut writer| {
        write(&mut writer, 1..60).await.unwrap();
        let files = log.files();
        let last = files.last().unwrap().name.clone();
        machine.set_faults(Faults { write_error: 1.0, only: Some("index".to_owned()), ..Faults::default() });
        assert!(log.purge_to(&last).await.is_err());
        assert_eq!(log.files(), files);
        assert!(machine.files().contains(&files[0].name));
        machine.set_faults(Faults::default());
        assert_eq!(log.purge_to(&last).await.unwrap().removed.len(), files.len() - 1);
    });
}

/// A seal syncs what `sync_binlog=0` has left, so its failure is as final as any.
#[test]
fn a_seal_that_fails_stops_the_log() {
    with_log(4, options(), async |machine, log, mut writer| {
        place(&mut writer, 1, "one").await.unwrap();
        writer.rotate().await.unwrap();
        let group = async |writer: &mut LogWriter| {
            let mut group = writer.take_group().unwrap();
            group.write(IoMode::Inline, true).await.unwrap();
            group.sync(IoMode::Inline).await.unwrap();
            group
        };
        let ends = group(&mut writer).await;
        machine.set_faults(Faults { sync_error: 1.0, only: Some("000001".to_owned()), ..Faults::default() });
        log.make_durable(&ends);
        machine.env().clock.sleep(Duration::from_secs(5)).await;
        assert!(matches!(log.check(), Err(BinlogError::Failed(_))));
        assert!(log.reserve(1 << 30).await.is_err());
    });
}

/// The counter of free room is what has been filled and is not used, whatever a follower drops.
#[test]
fn a_dropped_part_of_a_transaction_leaves_the_room_right() {
    for seed in 0..60 {
        let source = machine(seed);
        let follower = source.world().machine();
        let run = async {
            let options = LogOptions { fill_ahead: 2 << 10, ..one_file() };
            let opened = BinaryLog::open(source.env(), options.clone(), OpenAs::Source, LogPosition::default());
            let Opened { log, mut writer, .. } = opened.await.unwrap();
            write(&mut writer, 1..60).await.unwrap();
            let copied = BinaryLog::open(follower.env(), options, OpenAs::Follower, LogPosition::default());
            let Opened { log: copied, writer, .. } = copied.await.unwrap();
            let mut receiver = LogReceiver::new(writer);
            let mut reader = log.reader(LogPosition::default());
            receiver.start_file(&log.file_name(1)).await.unwrap();
            while let Some(event) = reader.next_event().await.unwrap() {
                receiver.append(&event.bytes).await.unwrap();
                if event.header.event_type == EventType::GTID && source.world().below(3) > 0 {
                    if source.world().below(2) == 0 {
                        follower.env().clock.sleep(Duration::from_micros(source.world().below(500))).await;
                    }
                    receiver.forget_partial().await.unwrap();
                    // Else a torn write of what comes next could be made whole by what was there before.
                    let durable = follower.durable_contents("binlog.000001").unwrap();
                    let behind = &durable[receiver.position().offset as usize..];
                    assert!(behind.iter().all(|&byte| byte == 0), "seed {seed}: something is left of what was dropped");
                    receiver.append(&event.bytes).await.unwrap();
                }
            }
            receiver.flush().await.unwrap();
            follower.env().clock.sleep(Duration::from_secs(1)).await;
            let end = receiver.position().offset;
            let filled = copied.keeper.state.lock().current.as_ref().unwrap().filled;
            assert_eq!(copied.space.free(), filled as i64 - end as i64 - SLACK as i64, "seed {seed}");
            assert_eq!(follower.contents("binlog.000001").unwrap().len() as u64, filled, "seed {seed}");
        };
        source.world().run(run).unwrap();
    }
}

/// The source went on to a file and was gone before it sent anything of it; then the follower is promoted.
#[test]
fn a_file_that_was_only_announced_becomes_the_new_sources_first() {
    let source = machine(5);
    let follower = source.world().machine();
    let run = async {
        let Opened { log, mut writer, .. } = open(&source.env(), OpenAs::Source).await.unwrap();
        write(&mut writer, 1..4).await.unwrap();
        let Opened { log: copied, writer, .. } = open(&follower.env(), OpenAs::Follower).await.unwrap();
        let mut receiver = LogReceiver::new(writer);
        receiver.start_file(&log.file_name(1)).await.unwrap();
        let mut reader = log.reader(LogPosition::default());
        while let Some(event) = reader.next_event().await.unwrap() {
            receiver.append(&event.bytes).await.unwrap();
        }
        receiver.start_file(&log.file_name(2)).await.unwrap();
        let mut writer = receiver.into_source().await.unwrap();
        write(&mut writer, 4..8).await.unwrap();
        assert_eq!(read_texts(&copied, LogPosition::default()).await.unwrap(), texts(1..8));
        writer.close(true).await.unwrap();
        let Opened { log, report, .. } = open(&follower.env(), OpenAs::Source).await.unwrap();
        assert_eq!(report.cut, None);
        assert_eq!(read_texts(&log, LogPosition::default()).await.unwrap(), texts(1..8));
    };
    source.world().run(run).unwrap();
}
