//! GTIDs that are chosen, and numbers under tags.

use base::{Cancel, Gtid};
use binlog::{GNO_MAX, GtidChoice, MariaGtidName, OWN_GNO_MAX};
use io::sim::SimMachine;

use super::fixture::{self, begin, row};
use crate::{Engine, EngineError, TableMode};

/// Inserts a row under a GTID, and says which one it was.
async fn insert(engine: &std::sync::Arc<Engine>, id: i64, gtid: GtidChoice) -> Gtid {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let mut transaction = begin(engine);
    transaction.options_mut().gtid = gtid;
    transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
    transaction.insert(&table, row(&table, id, None, None)).await.unwrap();
    transaction.commit().await.unwrap().place.unwrap().gtid.unwrap()
}

fn blue(engine: &Engine, gno: u64) -> Gtid {
    Gtid { uuid: engine.server_uuid(), tag: "blue".parse().unwrap(), gno }
}

fn next_blue() -> GtidChoice {
    GtidChoice::Automatic("blue".parse().unwrap())
}

#[test]
fn whoever_owns_a_number_under_a_tag_keeps_it() {
    let machine = SimMachine::new(1);
    let run = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        let cancel = Cancel::new();
        let own = async |gno| engine.own_gtid(blue(&engine, gno), 7, &cancel).await;
        assert_eq!(insert(&engine, 1, next_blue()).await, blue(&engine, 1));
        assert!(own(1).await.unwrap().is_none(), "executed");
        let (five, nine) = (own(5).await.unwrap().unwrap(), own(9).await.unwrap().unwrap());
        assert_eq!(engine.owned_gtids(), [(five.gtid(), 7), (nine.gtid(), 7)]);
        assert_eq!(insert(&engine, 2, next_blue()).await, blue(&engine, 10), "behind all that may be committed");
        drop(nine);
        assert_eq!(insert(&engine, 3, GtidChoice::Chosen(five.gtid())).await, five.gtid());
        drop(five);
        assert_eq!(insert(&engine, 4, next_blue()).await, blue(&engine, 11));
        let green = |gno| Gtid { tag: "green".parse().unwrap(), ..blue(&engine, gno) };
        let (one, two) = (engine.own_gtid(green(70), 7, &cancel).await, engine.own_gtid(green(80), 7, &cancel).await);
        drop(two.unwrap());
        assert_eq!(insert(&engine, 5, GtidChoice::Automatic(green(0).tag)).await, green(81));
        drop(one.unwrap());
        // What nothing could come behind is refused.
        for gtid in [blue(&engine, OWN_GNO_MAX + 1), Gtid::new(engine.server_uuid(), OWN_GNO_MAX + 1)] {
            match engine.own_gtid(gtid, 7, &cancel).await {
                Err(EngineError::Sql(error)) => assert_eq!(error.code, 1775),
                other => panic!("{other:?}"),
            }
        }
        // What could not be read again is refused, whoever's it is.
        let other = |gno| Gtid::new(base::Uuid([7; 16]), gno);
        let maria = |seq_no| MariaGtidName { domain_id: 3, server_id: 4, seq_no }.gtid();
        for gtid in [other(0), other(GNO_MAX + 1), other(u64::MAX), maria(0), maria(OWN_GNO_MAX + 1), maria(u64::MAX)] {
            match engine.own_gtid(gtid, 7, &cancel).await {
                Err(EngineError::Sql(error)) => assert_eq!(error.code, 1774),
                other => panic!("{other:?}"),
            }
        }
        assert!(engine.own_gtid(other(GNO_MAX), 7, &cancel).await.unwrap().is_some());
        assert!(engine.owned_gtids().is_empty());
        // One that changes nothing is in the log if it was chosen, and only then.
        let nothing = async |gtid| {
            let mut transaction = begin(&engine);
            transaction.options_mut().gtid = gtid;
            transaction.commit().await.unwrap().place.map(|place| place.gtid.unwrap())
        };
        assert_eq!(nothing(next_blue()).await, None);
        assert_eq!(nothing(GtidChoice::Chosen(blue(&engine, 20))).await, Some(blue(&engine, 20)));
    };
    machine.run(run).unwrap();
}

#[test]
fn tags_are_in_checkpoints_and_in_the_log() {
    let machine = SimMachine::new(2);
    for round in 0..4 {
        let run = async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            let executed = engine.gtid_executed();
            assert_eq!(executed, engine.log().gtid_executed());
            assert_eq!(executed.last_of(engine.server_uuid(), blue(&engine, 1).tag), 2 * round);
            assert_eq!(insert(&engine, round as i64 * 2 + 1, next_blue()).await, blue(&engine, 2 * round + 1));
            if round % 2 == 0 {
                engine.checkpoint().await.unwrap();
            }
            assert_eq!(insert(&engine, round as i64 * 2 + 2, next_blue()).await, blue(&engine, 2 * round + 2));
            if round == 2 {
                // Nothing is behind the checkpoint.
                engine.checkpoint().await.unwrap();
            }
        };
        machine.run(run).unwrap();
        machine.crash();
    }
}
