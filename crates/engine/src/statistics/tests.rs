//! What is collected, against what is in the table: in trees, in memory, and in both.

use std::sync::Arc;

use crate::statistics::collect::Effort;
use crate::tests::fixture::{self, begin, row};
use crate::{Engine, IndexStatistics, ReadMode, Table, TableMode};

fn table(engine: &Engine) -> Arc<Table> {
    engine.catalog().table("test", "t").unwrap().clone()
}

async fn insert(engine: &Arc<Engine>, ids: std::ops::Range<i64>, k: impl Fn(i64) -> Option<i64>) {
    let table = table(engine);
    for first in ids.clone().step_by(500) {
        let mut transaction = begin(engine);
        transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
        for id in first..(first + 500).min(ids.end) {
            transaction.insert(&table, row(&table, id, k(id), Some(id))).await.unwrap();
        }
        transaction.commit().await.unwrap();
    }
}

async fn delete(engine: &Arc<Engine>, ids: std::ops::Range<i64>) {
    let table = table(engine);
    let mut transaction = begin(engine);
    transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
    for id in ids {
        let key = fixture::key(&table, id);
        let old = transaction.get(&table, &key, ReadMode::FOR_UPDATE).await.unwrap().unwrap();
        transaction.delete(&table, &old).await.unwrap();
    }
    transaction.commit().await.unwrap();
}

/// Of index `k`, by sampling however small it is.
async fn sampled(engine: &Engine, entries: usize) -> IndexStatistics {
    let table = table(engine);
    let collected = engine.core().collect(&table, Effort { whole_rows: 0, entries }).await.unwrap();
    collected.indexes[&table.indexes[1].id].clone()
}

fn assert_near(what: &str, value: f64, expected: f64, part: f64) {
    assert!((value - expected).abs() <= expected * part, "{what}: {value} instead of {expected}");
}

/// Two hundred values in 8,000 rows.
fn even(id: i64) -> Option<i64> {
    Some(id * 7919 % 200)
}

#[test]
fn a_sample_says_how_many_values_there_are_wherever_the_rows_are() {
    let machine = fixture::machine(1);
    let checked = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        insert(&engine, 0..8000, even).await;
        let in_memory = sampled(&engine, 200).await;
        assert_near("in memory", in_memory.prefixes[0].distinct, 200.0, 0.3);
        assert_near("with the key", in_memory.prefixes[1].distinct, 8000.0, 0.05);
        engine.checkpoint().await.unwrap();
        let in_tree = sampled(&engine, 50).await;
        assert_near("in the tree", in_tree.prefixes[0].distinct, 200.0, 0.001);
        insert(&engine, 8000..16_000, even).await;
        let in_both = sampled(&engine, 200).await;
        assert_near("in both", in_both.prefixes[0].distinct, 200.0, 0.2);
        delete(&engine, 0..4000).await;
        let after = sampled(&engine, 400).await;
        assert_near("with deleted rows", after.prefixes[0].distinct, 200.0, 0.4);
        assert_near("rows that are left", after.prefixes[1].distinct, 12_000.0, 0.1);
        engine.close().await.unwrap();
    };
    machine.run(checked).expect("no crash is armed");
}

/// Half of the rows are NULL, a quarter has one value, the others have one each.
#[test]
fn skewed_values_and_null_are_told_apart() {
    let machine = fixture::machine(2);
    let checked = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        let skewed = |id: i64| match id % 4 {
            0 | 1 => None,
            2 => Some(-1),
            _ => Some(id),
        };
        insert(&engine, 0..8000, skewed).await;
        engine.checkpoint().await.unwrap();
        let k = sampled(&engine, 1000).await;
        assert_near("values", k.prefixes[0].distinct, 2002.0, 0.15);
        assert_near("values without NULL", k.prefixes[0].distinct_not_null, 2001.0, 0.15);
        assert_near("NULL", k.prefixes[0].null_share, 0.5, 0.1);
        engine.analyze(&table(&engine)).await.unwrap();
        let known = table(&engine).known_statistics().unwrap();
        let exact = &known.indexes[&table(&engine).indexes[1].id];
        assert_eq!(
            (exact.sampled, exact.prefixes[0].distinct, exact.prefixes[0].distinct_not_null),
            (None, 2002.0, 2001.0)
        );
        assert_eq!((exact.prefixes[0].null_share, exact.prefixes[1].distinct), (0.5, 8000.0));
        engine.close().await.unwrap();
    };
    machine.run(checked).expect("no crash is armed");
}

/// What was analysed is there after a restart; what has changed by much is collected again when it is asked for, and by the refresher.
#[test]
fn statistics_last_until_much_has_changed() {
    let machine = fixture::machine(3);
    let checked = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        insert(&engine, 0..5000, even).await;
        let quick = engine.statistics(&table(&engine)).await.unwrap().unwrap();
        assert!(!quick.analyzed && quick.rows == 5000);
        assert!(Arc::ptr_eq(&quick, &engine.statistics(&table(&engine)).await.unwrap().unwrap()));
        engine.analyze(&table(&engine)).await.unwrap();
        fixture::ddl(&engine, "rename t s").await.unwrap();
        fixture::ddl(&engine, "rename s t").await.unwrap();
        let known = table(&engine).known_statistics().unwrap();
        assert!(known.analyzed, "they follow a renamed table");
        engine.close().await.unwrap();
        drop(engine);
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        assert_eq!(table(&engine).known_statistics().unwrap().indexes, known.indexes);
        insert(&engine, 5000..5700, even).await;
        let outdated = engine.statistics(&table(&engine)).await.unwrap().unwrap();
        assert_eq!(outdated.rows, 5000, "somewhat older is good enough");
        machine.env().clock.sleep(std::time::Duration::from_secs(11)).await;
        let known = table(&engine).known_statistics().unwrap();
        assert!(known.analyzed && known.rows == 5700, "the refresher has seen it");
        insert(&engine, 6000..18_000, even).await;
        let other = engine.statistics(&table(&engine)).await.unwrap().unwrap();
        assert!(!other.analyzed && other.rows == 17_700, "twice as large is another table");
        engine.close().await.unwrap();
    };
    machine.run(checked).expect("no crash is armed");
}

#[test]
fn rows_are_sampled_with_their_values_of_now() {
    let machine = fixture::machine(4);
    let checked = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        insert(&engine, 0..3000, |_| Some(1)).await;
        engine.checkpoint().await.unwrap();
        delete(&engine, 0..1500).await;
        insert(&engine, 0..1500, |_| Some(2)).await;
        let sample = engine.row_sample(&table(&engine)).await.unwrap().unwrap();
        let twos = sample.rows.iter().filter(|row| fixture::show(&table(&engine), row).contains(":2:")).count();
        let rows = sample.rows.len();
        assert!((rows * 2 / 5..rows * 3 / 5).contains(&twos) && rows > 128, "{twos} of {rows}");
        engine.close().await.unwrap();
    };
    machine.run(checked).expect("no crash is armed");
}

fn histograms(engine: &Engine) -> Vec<(String, String)> {
    let catalog = engine.catalog();
    let known = catalog.histograms(catalog.table("test", "t").unwrap().id());
    known.map(|(column, text)| (column.to_owned(), text.to_string())).collect()
}

/// They are part of the state: in the log, in checkpoints, and gone with what they are of.
#[test]
fn histograms_belong_to_the_catalog() {
    let machine = fixture::machine(5);
    let checked = async {
        let k = vec![("k".to_owned(), "{}".to_owned())];
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        fixture::ddl(&engine, "histogram t k {}").await.unwrap();
        fixture::ddl(&engine, "rename t s").await.unwrap();
        fixture::ddl(&engine, "rename s t").await.unwrap();
        fixture::ddl(&engine, "add index t").await.unwrap();
        assert_eq!(histograms(&engine), k);
        drop(engine);
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        assert_eq!(histograms(&engine), k, "out of the log");
        engine.close().await.unwrap();
        drop(engine);
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        assert_eq!(histograms(&engine), k, "out of the checkpoint");
        fixture::ddl(&engine, "truncate t").await.unwrap();
        assert_eq!(histograms(&engine), k, "they outlive the rows");
        fixture::ddl(&engine, "drop t").await.unwrap();
        fixture::ddl(&engine, "create t").await.unwrap();
        assert_eq!(histograms(&engine), []);
        engine.close().await.unwrap();
    };
    machine.run(checked).expect("no crash is armed");
}

/// A server that applies an ANALYZE of the log collects statistics of its own.
#[test]
fn an_analyze_of_the_log_is_done_again() {
    let machine = fixture::machine(6);
    let checked = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        insert(&engine, 0..2000, even).await;
        fixture::ddl(&engine, "analyze t").await.unwrap();
        drop(engine);
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        assert!(table(&engine).known_statistics().is_none());
        machine.env().clock.sleep(std::time::Duration::from_secs(11)).await;
        assert!(table(&engine).known_statistics().is_some_and(|known| known.analyzed && known.rows == 2000));
        engine.close().await.unwrap();
    };
    machine.run(checked).expect("no crash is armed");
}
