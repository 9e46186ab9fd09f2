//! A follower's log is its source's, byte for byte, through crashes of either.

use super::*;

/// Copies all durable events that the follower does not have.
pub(super) async fn copy(source: &Arc<BinaryLog>, receiver: &mut LogReceiver) -> Result<()> {
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
        if receiver.unflushed() > 2000 {
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
