//! Checkpoints begin early enough for the time that recovery may take, by how fast the last one was.

use std::time::Duration;

use bytes::Bytes;
use types::Value;

use super::fixture::{self, begin};
use crate::{Engine, EngineOptions, TableMode};

const BLOB_BYTES: usize = 256 << 10;

fn options(recovery_target: Duration) -> EngineOptions {
    EngineOptions { checkpoint_log_bytes: u64::MAX, max_binlog_bytes: 1 << 30, recovery_target, ..fixture::options() }
}

/// Writes transactions until the log is so much longer.
async fn write(engine: &std::sync::Arc<Engine>, bytes: u64) {
    if engine.catalog().table("test", "blobs").is_none() {
        fixture::ddl(engine, "create blobs").await.unwrap();
    }
    let table = engine.catalog().table("test", "blobs").unwrap().clone();
    let (start, log) = (engine.visible().1, engine.log());
    for id in 1.. {
        if log.bytes_between(start, log.durable_end()) >= bytes {
            break;
        }
        let mut transaction = begin(engine);
        transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
        let values =
            [Value::Int(start.offset as i64 + id), Value::Null, Value::Bytes(Bytes::from(vec![7; BLOB_BYTES]))];
        transaction.insert(&table, table.codec.row.encode(&values).unwrap()).await.unwrap();
        transaction.commit().await.unwrap();
    }
    engine.env().clock.sleep(Duration::from_secs(1)).await;
}

#[test]
fn a_slow_recovery_makes_checkpoints_more_frequent() {
    let machine = fixture::machine(1);
    let run = async {
        let engine = fixture::open(machine.env(), options(Duration::from_secs(10))).await.unwrap();
        let before = engine.durable_checkpoint();
        write(&engine, 24 << 20).await;
        assert_eq!(engine.durable_checkpoint(), before, "as fast as is assumed, that takes half a second");
        // 2 MiB a second: 20 MiB of log are the most.
        engine.recovered(32 << 20, Duration::from_secs(16));
        assert!(engine.recovery_estimate() > Duration::from_secs(12));
        write(&engine, 1).await;
        let first = engine.durable_checkpoint();
        assert!(first > before, "the log was too long already");
        write(&engine, 17 << 20).await;
        assert_eq!(engine.durable_checkpoint(), first);
        write(&engine, 4 << 20).await;
        assert!(engine.durable_checkpoint() > first);
        engine.close().await.unwrap();
        // It is known after a restart, and can be changed.
        let engine = fixture::open(machine.env(), options(Duration::from_secs(10))).await.unwrap();
        let before = engine.durable_checkpoint();
        write(&engine, 17 << 20).await;
        assert!(engine.recovery_estimate() > Duration::from_secs(8));
        engine.tunables().set_recovery_target(Duration::ZERO);
        write(&engine, 8 << 20).await;
        assert_eq!(engine.durable_checkpoint(), before, "no target");
        // Too little to tell anything.
        engine.recovered(1 << 20, Duration::from_millis(1));
        assert!(engine.recovery_estimate() > Duration::from_secs(12));
    };
    machine.run(run).unwrap();
}

/// Definitions are few bytes of log, and take recovery long where there are many tables.
#[test]
fn definitions_count_in_what_recovery_may_take() {
    let machine = fixture::machine(2);
    let run = async {
        let how = EngineOptions { memtable_bytes: 1 << 30, ..options(Duration::from_secs(1)) };
        let engine = fixture::open(machine.env(), how).await.unwrap();
        // At the rate that the least log needs a second for.
        engine.recovered(16 << 20, Duration::from_secs(1));
        let before = engine.durable_checkpoint();
        let mut made = 0;
        while engine.durable_checkpoint() == before {
            made += 1;
            assert!(made < 5000, "no checkpoint was made");
            fixture::ddl(&engine, &format!("create t{made}")).await.unwrap();
        }
        engine.env().clock.sleep(Duration::from_secs(1)).await;
        assert!(made > 100, "after {made} definitions");
        assert!(engine.recovery_estimate() < Duration::from_millis(500), "{:?}", engine.recovery_estimate());
        engine.tunables().set_recovery_target(Duration::ZERO);
        let before = engine.durable_checkpoint();
        for number in made + 1..2 * made + 1000 {
            fixture::ddl(&engine, &format!("create t{number}")).await.unwrap();
        }
        assert_eq!(engine.durable_checkpoint(), before, "no target");
    };
    machine.run(run).unwrap();
}
