//! GTIDs with tags: numbers under each tag of their own, in the log's files and in copies of it.

use super::follower::copy_in_groups;
use super::*;
use crate::encoder::GtidChoice;
use crate::maria_gtid::MariaGtidName;

const OWN: &str = "11111111-1111-1111-1111-111111111111";
const OTHER: &str = "22222222-2222-2222-2222-222222222222";

fn automatic(tag: &str) -> GtidChoice {
    GtidChoice::Automatic(tag.parse().unwrap())
}

fn chosen(gtid: &str) -> GtidChoice {
    GtidChoice::Chosen(gtid.parse().unwrap())
}

/// Places a transaction, and says its GTID without this server's UUID.
async fn placed(writer: &mut LogWriter, number: u64, choice: GtidChoice) -> Result<String> {
    let gtid = place_as(writer, number, &text_of(number), choice).await?.gtid.unwrap().to_string();
    Ok(gtid.strip_prefix(OWN).map_or(gtid.clone(), str::to_owned))
}

#[test]
fn each_tag_counts_by_itself() {
    let machine = machine(1);
    let run = async {
        let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
        let choices = [
            (automatic(""), ":1"),
            (automatic("blue"), ":blue:1"),
            (automatic("blue"), ":blue:2"),
            (automatic("red"), ":red:1"),
            (automatic(""), ":2"),
            (chosen(&format!("{OWN}:blue:7")), ":blue:7"),
            (automatic("blue"), ":blue:8"),
            (chosen(&format!("{OTHER}:blue:20")), "22222222-2222-2222-2222-222222222222:blue:20"),
            (automatic("blue"), ":blue:9"),
            (automatic(""), ":3"),
        ];
        for (number, (choice, gtid)) in (1..).zip(choices) {
            assert_eq!(placed(&mut writer, number, choice).await?, gtid, "transaction {number}");
            // Groups of one, of several, and files that end in between.
            if number % 3 == 0 {
                writer.flush(IoMode::Inline).await?;
            }
            if number == 5 {
                writer.rotate().await?;
            }
        }
        writer.flush(IoMode::Inline).await?;
        assert_eq!(log.gtid_executed().to_string(), format!("{OWN}:1-3:blue:1-2:7-9:red:1,{OTHER}:blue:20"));
        assert_eq!(read_texts(&log, LogPosition::default()).await?, texts(1..11));

        // Somebody else's choices are left to them, for as long as they may be committed.
        log.choose_number(format!("{OWN}:red:5").parse().unwrap());
        assert_eq!(placed(&mut writer, 11, automatic("red")).await?, ":red:6");
        log.choose_number(format!("{OWN}:green:50").parse().unwrap());
        log.forget_numbers(OWN.parse().unwrap(), "green".parse().unwrap());
        assert_eq!(placed(&mut writer, 12, automatic("green")).await?, ":green:51");
        // What is purged counts.
        writer.flush(IoMode::Inline).await?;
        writer.add_purged(&format!("{OWN}:red:9:white:3").parse().unwrap()).await?;
        assert_eq!(placed(&mut writer, 13, automatic("red")).await?, ":red:10");
        assert_eq!(placed(&mut writer, 14, automatic("white")).await?, ":white:4");
        writer.close(true).await
    };
    machine.run(run).unwrap().unwrap();
}

/// As a MariaDB numbers them: behind all of the domain, whoever made them.
#[test]
fn each_domain_of_mariadb_counts_by_itself() {
    let name = |text: &str| text.parse::<MariaGtidName>().unwrap().gtid();
    let own = options().server_id.0;
    let machine = machine(5);
    let run = async {
        let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
        let choices = [
            (GtidChoice::OfDomain(3), format!("3-{own}-1")),
            (GtidChoice::OfDomain(3), format!("3-{own}-2")),
            (GtidChoice::OfDomain(4), format!("4-{own}-1")),
            (automatic(""), format!("{OWN}:1")),
            (GtidChoice::Chosen(name("3-900-7")), "3-900-7".to_owned()),
            (GtidChoice::OfDomain(3), format!("3-{own}-8")),
            (GtidChoice::Chosen(name("3-900-4")), "3-900-4".to_owned()),
            (automatic("blue"), format!("{OWN}:blue:1")),
            (GtidChoice::OfDomain(3), format!("3-{own}-9")),
            (GtidChoice::OfDomain(4), format!("4-{own}-2")),
        ];
        for (number, (choice, wanted)) in (1..).zip(choices) {
            let gtid = place_as(&mut writer, number, &text_of(number), choice).await?.gtid.unwrap();
            assert_eq!(MariaGtidName::of(gtid).map_or(gtid.to_string(), |name| name.to_string()), wanted);
            if number % 4 == 0 {
                writer.flush(IoMode::Inline).await?;
            }
        }
        let chosen = name(&format!("4-{own}-30"));
        assert!(log.numbers_under(chosen.uuid) && !log.numbers_under(name("4-900-1").uuid));
        log.choose_number(chosen);
        let gtid = place_as(&mut writer, 11, &text_of(11), GtidChoice::OfDomain(4)).await?.gtid.unwrap();
        assert_eq!(gtid, name(&format!("4-{own}-31")));
        writer.close(true).await?;
        let Opened { mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
        let gtid = place_as(&mut writer, 12, &text_of(12), GtidChoice::OfDomain(3)).await?.gtid.unwrap();
        assert_eq!(gtid, name(&format!("3-{own}-10")));
        writer.close(true).await
    };
    machine.run(run).unwrap().unwrap();
}

/// Clients may choose under as many tags as they like, and commit nothing.
#[test]
fn what_is_chosen_and_not_committed_is_forgotten() {
    let machine = machine(4);
    let run = async {
        let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
        for number in 0..5000 {
            log.choose_number(format!("{OWN}:tag_{number}:70").parse().unwrap());
            log.forget_numbers(OWN.parse().unwrap(), format!("tag_{number}").parse().unwrap());
        }
        assert!(log.chosen_tagged.lock().len() <= CHOSEN_TAGS_KEPT);
        assert_eq!(placed(&mut writer, 1, automatic("tag_4999")).await?, ":tag_4999:1");
        writer.close(true).await
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn a_restart_goes_on_behind_the_last_number() {
    for is_clean in [true, false] {
        let machine = machine(2);
        let run = async {
            let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
            for number in 1..100 {
                placed(&mut writer, number, automatic(["", "blue", "red"][number as usize % 3])).await?;
                writer.flush(IoMode::Inline).await?;
            }
            assert!(log.files().len() > 3, "{:?}", log.files());
            if is_clean {
                writer.close(true).await?;
            }
            Ok::<_, BinlogError>(())
        };
        machine.run(run).unwrap().unwrap();
        machine.crash();
        let run = async {
            let Opened { log, mut writer, report } = open(&machine.env(), OpenAs::Source).await?;
            assert_eq!(report.was_in_use, !is_clean);
            let all = |blue: u64| format!("{OWN}:1-33:blue:1-{blue}:red:1-33");
            assert_eq!(log.gtid_executed().to_string(), all(33));
            assert_eq!(placed(&mut writer, 100, automatic("blue")).await?, ":blue:34");
            writer.flush(IoMode::Inline).await?;
            assert_eq!(log.gtid_executed().to_string(), all(34));
            assert_eq!(read_texts(&log, LogPosition::default()).await?, texts(1..101));
            // Who has all that is in the first files begins behind them.
            let second = log.files()[1].number;
            let before = log.files.lock().by_number[&second].previous_gtids.clone();
            assert!(before.has_tags());
            assert_eq!(log.file_without(&before).unwrap().file, second);
            Ok::<_, BinlogError>(())
        };
        machine.run(run).unwrap().unwrap();
    }
}

#[test]
fn a_copy_has_the_same_tags() {
    let source = machine(3);
    let follower = source.world().machine();
    let run = async {
        let Opened { log, mut writer, .. } = open(&source.env(), OpenAs::Source).await?;
        let Opened { log: copied, writer: copier, .. } = open(&follower.env(), OpenAs::Follower).await?;
        let mut receiver = LogReceiver::new(copier);
        for number in 1..60 {
            placed(&mut writer, number, automatic(["", "blue"][number as usize % 2])).await?;
            writer.flush(IoMode::Inline).await?;
            copy_in_groups(&log, &mut receiver, 500).await?;
            assert_eq!(copied.gtid_executed(), log.gtid_executed());
        }
        assert_eq!(copied.gtid_executed().to_string(), format!("{OWN}:1-29:blue:1-30"));
        assert_eq!(read_texts(&copied, LogPosition::default()).await?, texts(1..60));
        Ok::<_, BinlogError>(())
    };
    source.world().run(run).unwrap().unwrap();
}
