//! What lies across the moment at which a memtable is frozen: commits that have begun, and views.

use std::sync::Arc;
use std::time::Duration;

use binlog::{EncoderOptions, QueryContext, TransactionEncoder};
use futures_lite::future;

use super::fixture::{self, begin, key, row, show};
use crate::core::Payload;
use crate::error::Result;
use crate::memtable::stamp::{Stamp, VersionStamp};
use crate::{Engine, PublishPoint, ReadMode, TableMode, Transaction};

async fn put(engine: &Arc<Engine>, id: i64, k: i64) -> Result<()> {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let mut transaction = begin(engine);
    transaction.lock_table(&table, TableMode::IntentExclusive).await?;
    let new = row(&table, id, Some(k), None);
    match transaction.get(&table, &key(&table, id), ReadMode::FOR_UPDATE).await? {
        Some(old) => drop(transaction.update(&table, &old, new).await?),
        None => transaction.insert(&table, new).await?,
    }
    transaction.commit().await.map(drop)
}

async fn read(transaction: &mut Transaction, id: i64) -> Option<String> {
    let table = transaction.engine().catalog().table("test", "t").unwrap().clone();
    let found = transaction.get(&table, &key(&table, id), ReadMode::Consistent).await.unwrap();
    found.map(|found| show(&table, &found))
}

/// Whether it is ready within a second.
async fn ends_soon(engine: &Arc<Engine>, mut future: impl Future + Unpin) -> bool {
    let ends = async {
        (&mut future).await;
        true
    };
    let late = async {
        engine.env().clock.sleep(Duration::from_secs(1)).await;
        false
    };
    future::or(ends, late).await
}

/// A commit that begins to install before the freeze, and comes into the queue behind one that began after it: the checkpoint
/// waits for it, does not hold it, and does not lose it.
#[test]
fn a_slow_installer_is_waited_for_and_not_lost() {
    let machine = fixture::machine(1);
    let run = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        let table = engine.catalog().table("test", "t").unwrap().clone();
        put(&engine, 1, 1).await.unwrap();
        let guard = engine.core().guard();
        let mut checkpoint = Box::pin(engine.checkpoint());
        assert!(future::poll_once(&mut checkpoint).await.is_none());
        assert_eq!(engine.memtable_bytes().1, 2);
        put(&engine, 2, 2).await.unwrap();
        assert!(!ends_soon(&engine, &mut checkpoint).await, "somebody is installing");
        let late = row(&table, 3, Some(3), None);
        let mut encoder = TransactionEncoder::begin(EncoderOptions::default(), QueryContext::default());
        encoder.insert(&table.encoder, &late).unwrap();
        let encoded = encoder.finish().unwrap();
        let stamp = Stamp::new();
        for (number, index) in table.indexes.iter().enumerate() {
            let (key, value) = match number {
                0 => (key(&table, 3), late.clone()),
                _ => table.codec.secondary_entry(number, &late).unwrap(),
            };
            let pending = VersionStamp::Shared(stamp.clone());
            guard.memtable().install(index.id, &key, Some(value), pending, || engine.core().views.floor());
        }
        let pipeline = engine.commits().unwrap();
        let reservation = pipeline.reserve(encoded.max_size()).await.unwrap();
        let ticket = pipeline.enqueue(
            encoded,
            reservation,
            Payload { stamp, guard: Some(guard), ddl: None, locks: None, position: None, xa: None, session: None },
        );
        let last = ticket.await.unwrap().commit_number;
        let (at, _) = checkpoint.await.unwrap();
        assert!(at < last, "the checkpoint is before the first that began after the freeze");
        assert_eq!(engine.memtable_bytes().1, 1);
        for id in 1..=3 {
            assert_eq!(read(&mut begin(&engine), id).await, Some(format!("{id}:{id}:-")));
        }
    };
    machine.run(run).unwrap();
    machine.crash();
    let run = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        for id in 1..=3 {
            assert_eq!(read(&mut begin(&engine), id).await, Some(format!("{id}:{id}:-")), "after a crash");
        }
    };
    machine.run(run).unwrap();
}

/// More views than get trees of their own, each at another number, over several checkpoints.
#[test]
fn every_one_of_many_views_keeps_its_state() {
    let machine = fixture::machine(2);
    let run = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        let mut views = Vec::new();
        for n in 1..=100 {
            put(&engine, 1, n).await.unwrap();
            let mut view = begin(&engine);
            view.take_snapshot();
            views.push((n, view));
            if n % 45 == 0 {
                engine.checkpoint().await.unwrap();
            }
        }
        engine.checkpoint().await.unwrap();
        for (n, view) in &mut views {
            assert_eq!(read(view, 1).await, Some(format!("1:{n}:-")));
        }
        drop(views);
        engine.checkpoint().await.unwrap();
        assert_eq!(read(&mut begin(&engine), 1).await, Some("1:100:-".to_string()));
    };
    machine.run(run).unwrap();
}

/// What installs stops in front of a transaction, and has installed others behind it: no checkpoint waits for them, and they may come again.
#[test]
fn what_was_installed_ahead_is_not_waited_for() {
    for is_frozen_before in [false, true] {
        let machine = fixture::machine(3);
        let write = async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            for id in 1..=6 {
                put(&engine, 1, id).await.unwrap();
                fixture::insert_one(&engine, 10 + id).await.unwrap();
            }
        };
        machine.run(write).unwrap();
        machine.crash();
        let run = async {
            let how = crate::EngineOptions { follower: true, ..fixture::options() };
            let engine = Engine::open(machine.env(), how, Arc::new(fixture::Words)).await.unwrap();
            let (mut number, position) = engine.checkpoint_at_open();
            let mut reader = engine.log().reader(position);
            let mut left = Vec::new();
            while let Some(transaction) = reader.next_transaction().await.unwrap() {
                number = number.next();
                let point = PublishPoint { commit_number: number, end: transaction.end, gtid: transaction.gtid() };
                left.push((transaction, point));
            }
            let behind = left.split_off(left.len() - 6);
            for (transaction, point) in &left {
                fixture::apply(&engine, point.commit_number, transaction).await.unwrap();
                engine.publish(&[*point]);
            }
            let visible = engine.visible().0;
            for (transaction, point) in &behind[1..] {
                fixture::apply(&engine, point.commit_number, transaction).await.unwrap();
            }
            let mut checkpoint = Box::pin(engine.checkpoint());
            if is_frozen_before {
                assert!(!ends_soon(&engine, &mut checkpoint).await, "what is installed may be published soon");
            }
            engine.forget_unpublished();
            assert_eq!(checkpoint.await.unwrap().0, visible);
            for (transaction, point) in &behind {
                fixture::apply(&engine, point.commit_number, transaction).await.unwrap();
                engine.publish(&[*point]);
            }
            assert_eq!(engine.checkpoint().await.unwrap().0, number);
            assert_eq!(read(&mut begin(&engine), 1).await, Some("1:6:-".to_owned()));
            for id in 11..=16 {
                assert!(read(&mut begin(&engine), id).await.is_some(), "{id}");
            }
            engine.close().await.unwrap();
        };
        machine.run(run).unwrap();
    }
}
