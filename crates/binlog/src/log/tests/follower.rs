//! A follower's log is its source's, byte for byte, through crashes of either.

use super::*;

/// Copies all durable events that the follower does not have, in groups of about 2000 bytes.
async fn copy(source: &Arc<BinaryLog>, receiver: &mut LogReceiver) -> Result<()> {
    copy_in_groups(source, receiver, 2000).await
}

/// The same; groups have more than so many bytes.
pub(super) async fn copy_in_groups(
    source: &Arc<BinaryLog>,
    receiver: &mut LogReceiver,
    group_bytes: usize,
) -> Result<()> {
    let here = receiver.position();
    let mut reader = source.reader(here);
    while let Some(event) = reader.next_event().await? {
        if event.start.file != receiver.position().file {
            receiver.start_file(&source.file_name(event.start.file)).await?;
        }
        let mut bytes = event.bytes.to_vec();
        if event.header.event_type == EventType::FORMAT_DESCRIPTION {
            bytes[17] &= !1;
        }
        receiver.append(&bytes).await?;
        if receiver.unflushed() > group_bytes {
            receiver.flush().await?;
        }
    }
    receiver.forget_partial().await
}

fn same_files(source: &SimMachine, source_log: &BinaryLog, follower: &SimMachine, follower_log: &BinaryLog) {
    assert_eq!(source_log.files(), follower_log.files());
    for file in source_log.files() {
        let mut theirs = source.contents(&file.name).unwrap();
        let mut ours = follower.contents(&file.name).unwrap();
        // The flag follows the seal, which is not copied.
        (theirs[21], ours[21]) = (0, 0);
        assert!(theirs[..file.size as usize] == ours[..file.size as usize], "{} differs", file.name);
    }
}

#[test]
fn the_copy_is_byte_for_byte() {
    for seed in 0..200 {
        let source = machine(seed);
        let follower = source.world().machine();
        // What the follower had shown as durable.
        let shown = parking_lot::Mutex::new(LogPosition::default());
        for _ in 0..4 {
            follower.crash_after(10 + source.world().below(120));
            let run = async {
                let Opened { log, mut writer, .. } = open(&source.env(), OpenAs::Source).await?;
                let mut next = log.gtid_executed().count() + 1;
                let Opened { log: copied, writer: copier, .. } = open(&follower.env(), OpenAs::Follower).await?;
                assert!(copied.durable_end() >= *shown.lock(), "seed {seed}: the follower lost what it had shown");
                let mut receiver = LogReceiver::new(copier);
                for _ in 0..10 {
                    let count = 1 + source.world().below(10);
                    write(&mut writer, next..next + count).await?;
                    next += count;
                    copy(&log, &mut receiver).await?;
                    *shown.lock() = copied.durable_end();
                    same_files(&source, &log, &follower, &copied);
                }
                assert_eq!(read_texts(&copied, LogPosition::default()).await?, texts(1..next));
                Ok::<_, BinlogError>(())
            };
            match source.world().run(run) {
                Err(io::sim::Crashed) => {}
                Ok(result) => result.unwrap_or_else(|error| panic!("seed {seed}: {error}")),
            }
            follower.crash();
            source.kill();
        }
    }
}

/// A source that goes away behind a file's first event, at which the file says nothing yet of the ones before it.
#[test]
fn a_head_is_there_as_a_whole() {
    let source = machine(1);
    let follower = source.world().machine();
    let run = async {
        let Opened { log, mut writer, .. } = open(&source.env(), OpenAs::Source).await?;
        let Opened { log: copied, writer: copier, .. } = open(&follower.env(), OpenAs::Follower).await?;
        let mut receiver = LogReceiver::new(copier);
        write(&mut writer, 1..4).await?;
        copy(&log, &mut receiver).await?;
        writer.rotate().await?;
        write(&mut writer, 4..6).await?;
        // Up to the second file's FORMAT_DESCRIPTION.
        let mut reader = log.reader(receiver.position());
        while let Some(event) = reader.next_event().await? {
            if event.start.file != receiver.position().file {
                receiver.start_file(&log.file_name(event.start.file)).await?;
            }
            receiver.append(&event.bytes).await?;
            receiver.flush().await?;
            if event.header.event_type == EventType::FORMAT_DESCRIPTION {
                break;
            }
        }
        let before = (copied.durable_end(), copied.gtid_executed());
        receiver.forget_partial().await?;
        assert_eq!((copied.durable_end(), copied.gtid_executed()), before);
        let mut receiver = LogReceiver::new(receiver.into_writer().await?);
        copy_in_groups(&log, &mut receiver, 0).await?;
        same_files(&source, &log, &follower, &copied);
        assert_eq!((copied.gtid_executed(), copied.gtid_purged()), (log.gtid_executed(), GtidSet::new()));
        assert_eq!(copied.file_without(&GtidSet::new()), log.file_without(&GtidSet::new()));
        assert_eq!(copied.file_without(&log.gtid_executed()), log.file_without(&log.gtid_executed()));
        Ok::<_, BinlogError>(())
    };
    source.world().run(run).unwrap().unwrap();
}

/// A follower begins a file when all before it is durable: what is behind damage is never cut off.
#[test]
fn damage_in_a_file_before_another_is_named() {
    let as_server = |id| LogOptions { server_id: base::ServerId(id), ..options() };
    let copy_of_log = || {
        let source = machine(3);
        let follower = source.world().machine();
        let run = async {
            let how = (OpenAs::Source, LogPosition::default());
            let Opened { log, mut writer, .. } =
                BinaryLog::open(source.env(), as_server(1), how.0, how.1).await.unwrap();
            let follow = BinaryLog::open(follower.env(), as_server(2), OpenAs::Follower, how.1);
            let mut receiver = LogReceiver::new(follow.await.unwrap().writer);
            write(&mut writer, 1..60).await.unwrap();
            copy(&log, &mut receiver).await.unwrap();
        };
        source.world().run(run).unwrap();
        follower.crash();
        follower
    };
    let whole = copy_of_log();
    let reopen = |follower: &SimMachine| {
        let open = BinaryLog::open(follower.env(), as_server(2), OpenAs::Follower, LogPosition::default());
        follower.run(open).unwrap().map(|opened| opened.log.gtid_executed().count())
    };
    let files = files_of_log(&whole);
    assert!(files.len() > 4, "{files:?}");
    assert_eq!(reopen(&whole).unwrap(), 59);
    let last = files
        .iter()
        .rposition(|name| whole.contents(name).is_some_and(|bytes| bytes.iter().any(|&byte| byte != 0)))
        .unwrap();
    for name in &files[..last] {
        for damage in ["bit", "empty", "short", "zeros"] {
            let follower = copy_of_log();
            let run = async {
                let how = io::OpenOptions { write: true, ..io::OpenOptions::default() };
                let file = follower.env().disk.open(name, how).await.unwrap();
                match damage {
                    "bit" => follower.flip_bit(name, 8 * 78),
                    "empty" => file.set_len(0).await.unwrap(),
                    "short" => file.set_len(100).await.unwrap(),
                    _ => drop(file.write_at(0, io::IoBuf::zeroed(512)).await.unwrap()),
                }
            };
            follower.run(run).unwrap();
            let before = follower.files();
            let error = reopen(&follower).expect_err(damage);
            assert!(matches!(&error, BinlogError::Corrupt { file, .. } if file == name), "{name}, {damage}: {error}");
            assert_eq!(follower.files(), before);
        }
    }
}
