//! GTIDs that count without a transaction in the log: they are there as a whole or not at all, and for every copy.

use super::follower::copy_in_groups;
use super::*;

const OWN: &str = "11111111-1111-1111-1111-111111111111";
const ELSEWHERE: &str = "22222222-2222-2222-2222-222222222222:1-50:60";

fn set(text: &str) -> GtidSet {
    text.parse().unwrap()
}

fn both(log: &BinaryLog) -> (String, String) {
    (log.gtid_executed().to_string(), log.gtid_purged().to_string())
}

/// Everything that the log says is so after a restart too.
async fn reopened(env: &Env, log: Arc<BinaryLog>, writer: LogWriter) -> Result<(Arc<BinaryLog>, LogWriter)> {
    let before = both(&log);
    writer.close(true).await?;
    let Opened { log, writer, .. } = open(env, OpenAs::Source).await?;
    assert_eq!(both(&log), before);
    Ok((log, writer))
}

#[test]
fn added_gtids_count_from_one_file_on() {
    let machine = machine(1);
    let run = async {
        let env = machine.env();
        let Opened { log, mut writer, .. } = open(&env, OpenAs::Source).await?;
        write(&mut writer, 1..4).await?;
        let before = log.durable_end().file;
        writer.add_purged(&set(ELSEWHERE)).await?;
        assert_eq!(both(&log), (format!("{OWN}:1-3,{ELSEWHERE}"), ELSEWHERE.to_owned()));
        // Without a transaction in between, and with numbers of this server's own.
        writer.add_purged(&set(&format!("{OWN}:10-12"))).await?;
        write(&mut writer, 4..6).await?;
        let purged = format!("{OWN}:10-12,{ELSEWHERE}");
        assert_eq!(both(&log), (format!("{OWN}:1-3:10-14,{ELSEWHERE}"), purged.clone()));
        let (log, writer) = reopened(&env, log, writer).await?;
        // Who has all of it needs nothing of the files before.
        assert_eq!(log.file_without(&log.gtid_executed()).unwrap().file, log.durable_end().file);
        assert_eq!(log.file_without(&set(&format!("{OWN}:1-3:10-12,{ELSEWHERE}"))).unwrap().file, before + 4);
        log.purge_before_file(before + 3).await?;
        assert_eq!(both(&log).1, format!("{OWN}:1-3:10-12,{ELSEWHERE}"));
        reopened(&env, log, writer).await?;
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

/// A power failure in any operation: all of it, or nothing, and what was said to be there stays.
#[test]
fn a_crash_leaves_all_or_nothing() {
    let mut seen = [0; 2];
    for operation in 1..60 {
        let machine = machine(operation);
        let start = async {
            let Opened { mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
            write(&mut writer, 1..4).await?;
            Ok::<_, BinlogError>(writer)
        };
        let mut writer = machine.run(start).unwrap().unwrap();
        machine.crash_after(operation);
        let added = machine.run(async {
            writer.add_purged(&set(ELSEWHERE)).await?;
            write(&mut writer, 4..8).await
        });
        machine.crash();
        let after = async {
            let env = machine.env();
            let Opened { log, mut writer, .. } = open(&env, OpenAs::Source).await?;
            let (executed, purged) = both(&log);
            let is_there = purged == ELSEWHERE;
            assert!(is_there || purged.is_empty(), "operation {operation}: {purged}");
            assert!(set(&purged).is_subset_of(&set(&executed)), "operation {operation}: {executed}");
            assert_eq!(executed.contains(ELSEWHERE), is_there, "operation {operation}: {executed}");
            assert!(is_there || !matches!(added, Ok(Ok(()))), "operation {operation}: lost");
            seen[usize::from(is_there)] += 1;
            let last = log.gtid_executed().last_of(options().server_uuid, base::Tag::NONE);
            write(&mut writer, last + 1..last + 3).await?;
            reopened(&env, log, writer).await?;
            Ok::<_, BinlogError>(())
        };
        machine.run(after).unwrap().unwrap();
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

#[test]
fn a_copy_of_the_log_says_the_same() {
    for seed in 0..50 {
        let source = machine(seed);
        let follower = source.world().machine();
        let run = async {
            let Opened { log, mut writer, .. } = open(&source.env(), OpenAs::Source).await?;
            let Opened { log: copied, writer: copier, .. } = open(&follower.env(), OpenAs::Follower).await?;
            let mut receiver = LogReceiver::new(copier);
            for (step, gtids) in [ELSEWHERE, "33333333-3333-3333-3333-333333333333:1"].iter().enumerate() {
                let next = 10 * step as u64 + 1;
                write(&mut writer, next..next + source.world().below(10)).await?;
                if source.world().below(2) == 0 {
                    copy_in_groups(&log, &mut receiver, seed as usize * 100).await?;
                }
                writer.add_purged(&set(gtids)).await?;
            }
            write(&mut writer, 21..22).await?;
            copy_in_groups(&log, &mut receiver, seed as usize * 100).await?;
            assert_eq!(both(&copied), both(&log), "seed {seed}");
            receiver.close().await?;
            let Opened { log: copied, .. } = open(&follower.env(), OpenAs::Follower).await?;
            assert_eq!(both(&copied), both(&log), "seed {seed}");
            Ok::<_, BinlogError>(())
        };
        source.world().run(run).unwrap().unwrap();
    }
}

/// A source that becomes a follower drops what is in nobody else's log.
#[test]
fn what_no_transaction_follows_is_taken_back() {
    let machine = machine(1);
    let run = async {
        let env = machine.env();
        let Opened { log, mut writer, .. } = open(&env, OpenAs::Source).await?;
        write(&mut writer, 1..4).await?;
        writer.add_purged(&set(ELSEWHERE)).await?;
        let receiver = LogReceiver::new(writer).without_own_tail().await?;
        assert_eq!(both(&log), (format!("{OWN}:1-3"), String::new()));
        receiver.close().await?;
        let Opened { log, .. } = open(&env, OpenAs::Follower).await?;
        assert_eq!(both(&log), (format!("{OWN}:1-3"), String::new()));
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}
