//! What `last_committed` says of transactions that have written different rows.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use io::sim::SimMachine;

use super::fixture;
use crate::commit::DependencyTracking;
use crate::{Engine, ReadMode, SessionHandle, TableMode, Transaction, TxnOptions};

async fn insert(engine: &Arc<Engine>, session: &Arc<SessionHandle>, id: i64, is_serial: bool) -> Transaction {
    let options = TxnOptions { is_serial, ..TxnOptions::new(session.clone()) };
    let mut transaction = engine.begin(options);
    let table = engine.catalog().table("test", "t").unwrap().clone();
    transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
    transaction.insert(&table, fixture::row(&table, id, Some(id), Some(id))).await.unwrap();
    transaction
}

/// `last_committed` as a distance: 1 is the transaction before.
async fn commit(transaction: Transaction) -> u64 {
    let place = transaction.commit().await.unwrap().place.unwrap();
    place.sequence_number - place.last_committed
}

#[test]
fn by_rows_by_session_and_by_commit_order() {
    let machine = SimMachine::new(1);
    let run = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        let track = |tracking| engine.commits().unwrap().settings().set_dependency_tracking(tracking);
        let [one, other] = [SessionHandle::internal(), SessionHandle::internal()];
        for id in 1..4 {
            commit(insert(&engine, &one, id, false).await).await;
        }
        assert!(commit(insert(&engine, &one, 10, false).await).await > 3, "other rows");
        assert_eq!(commit(insert(&engine, &one, 11, true).await).await, 1, "behind all before it");
        assert!(commit(insert(&engine, &one, 12, false).await).await > 3, "nothing is behind that");

        track(DependencyTracking::WritesetSession);
        assert!(commit(insert(&engine, &one, 20, false).await).await > 3, "nothing was kept before");
        assert_eq!(commit(insert(&engine, &one, 21, false).await).await, 1);
        assert!(commit(insert(&engine, &other, 22, false).await).await > 3);
        assert_eq!(commit(insert(&engine, &one, 23, false).await).await, 2);
        // As COM_RESET_CONNECTION does.
        one.last_commit.store(0, Ordering::Relaxed);
        assert!(commit(insert(&engine, &one, 24, false).await).await > 3);

        track(DependencyTracking::CommitOrder);
        assert_eq!(commit(insert(&engine, &one, 30, false).await).await, 1);
        // Both have their places before either is seen.
        let first = insert(&engine, &one, 31, false).await.enqueue().await.unwrap();
        let second = insert(&engine, &other, 32, false).await.enqueue().await.unwrap();
        let [first, second] =
            [first.ended().await.unwrap(), second.ended().await.unwrap()].map(|end| end.place.unwrap());
        assert_eq!(first.last_committed, second.last_committed);
        // A row of one that is not seen yet counts all the same.
        let table = engine.catalog().table("test", "t").unwrap().clone();
        let first = insert(&engine, &one, 33, false).await.enqueue().await.unwrap();
        let mut second = engine.begin(TxnOptions::new(other.clone()));
        second.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
        let old = fixture::row(&table, 33, Some(33), Some(33));
        second.get(&table, &fixture::key(&table, 33), ReadMode::FOR_UPDATE).await.unwrap();
        second.update(&table, &old, fixture::row(&table, 33, Some(33), Some(34))).await.unwrap();
        let second = second.enqueue().await.unwrap();
        let [first, second] =
            [first.ended().await.unwrap(), second.ended().await.unwrap()].map(|end| end.place.unwrap());
        assert_eq!(second.last_committed, first.sequence_number);
    };
    machine.run(run).unwrap();
}
