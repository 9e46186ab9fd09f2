//! Where transactions end in the log of a source without GTIDs: known after recovery, and to followers.

use binlog::SourcePosition;

use super::*;

fn position(offset: u64) -> SourcePosition {
    SourcePosition { name: ":1".to_owned(), file: format!("bin.{:06}", 1 + offset / 100), offset }
}

async fn write(engine: &Arc<Engine>, id: i64, offset: u64) {
    let options = TxnOptions { source_position: Some(position(offset)), ..TxnOptions::new(SessionHandle::internal()) };
    count_up_in(engine.begin(options), engine, id, "note").await.unwrap();
}

#[test]
fn positions_survive_crashes_and_checkpoints() {
    let machine = machine(7);
    machine
        .run(async {
            let (engine, _) = open_source(machine.env()).await.unwrap();
            make_tables(&engine).await.unwrap();
            assert_eq!(engine.source_position(":1"), None);
            for id in 1..=5 {
                write(&engine, id, 100 * id as u64).await;
            }
            assert_eq!(engine.source_position(":1"), Some(position(500)));
        })
        .unwrap();
    for round in 1..=3u64 {
        machine.kill();
        machine
            .run(async {
                let (engine, _) = open_source(machine.env()).await.unwrap();
                let expected = 500 + (round - 1) * 1100;
                assert_eq!(engine.source_position(":1"), Some(position(expected)), "round {round}");
                assert_eq!(engine.source_position(":2"), None);
                // A checkpoint keeps it, and what comes behind the checkpoint counts.
                write(&engine, 1000 * round as i64, expected + 100).await;
                engine.checkpoint().await.unwrap();
                if round == 2 {
                    let text = DdlText { sql: "database late".to_owned(), ..DdlText::default() };
                    let change = TinyPlanner.plan(&text, &engine.catalog()).unwrap();
                    let source_position = Some(position(expected + 1100));
                    let options = TxnOptions { source_position, ..TxnOptions::new(SessionHandle::internal()) };
                    engine.execute_ddl(change, text, &options).await.unwrap();
                } else {
                    write(&engine, 1000 * round as i64 + 1, expected + 1100).await;
                }
            })
            .unwrap();
    }
    // Nothing is behind the last checkpoint: only that knows it.
    for _ in 0..2 {
        machine.kill();
        machine
            .run(async {
                let (engine, _) = open_source(machine.env()).await.unwrap();
                assert_eq!(engine.source_position(":1"), Some(position(500 + 3 * 1100)));
                engine.checkpoint().await.unwrap();
            })
            .unwrap();
    }
}

#[test]
fn recovery_one_by_one_knows_them_too() {
    let machine = machine(8);
    machine
        .run(async {
            let (engine, _) = open_source(machine.env()).await.unwrap();
            make_tables(&engine).await.unwrap();
            write(&engine, 1, 700).await;
        })
        .unwrap();
    machine.kill();
    machine
        .run(async {
            let engine = Engine::open(machine.env(), options(), Arc::new(TinyPlanner)).await.unwrap();
            recover(&engine, ApplyOptions { workers: 2, readers: true }).await.unwrap();
            assert_eq!(engine.source_position(":1"), Some(position(700)));
        })
        .unwrap();
}
