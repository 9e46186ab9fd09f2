//! Rows that are found by something else than their primary key.

use binlog::RowImage;

use super::*;

#[test]
fn a_thousand_rows_of_a_table_without_a_key_go_in_one_event() {
    replay(|mut world| async move {
        let values: Vec<String> =
            (0..1000).map(|number| format!("({},'row {}')", number % 400, number % 400)).collect();
        let source = world.source("a INT, b VARCHAR(20)", &values.join(",")).await;
        world.sql(&["CREATE TABLE d.t LIKE s.t", "INSERT INTO d.t SELECT * FROM s.t"]).await;
        world.sql(&["INSERT INTO d.t VALUES (1,'row 1'),(9999,'stays'),(NULL,NULL)"]).await;
        let source = source.without_generated_key();
        let deletes = source.deletes(RowImage::Full);
        assert_eq!(EventIter::new(&deletes, ChecksumAlgorithm::Crc32).count(), 4, "BEGIN, TABLE_MAP, one event, XID");
        world.apply(&deletes).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t ORDER BY a").await, ["NULL | NULL", "1 | row 1", "9999 | stays"]);
    });
}

#[test]
fn what_an_event_has_written_is_found_by_its_later_images() {
    replay(|mut world| async move {
        let source = world.source("a INT, b INT", "(1,1),(2,2),(3,3)").await.without_generated_key();
        world.sql(&["CREATE TABLE d.t (a INT, b INT)", "INSERT INTO d.t VALUES (1,1)"]).await;
        let chain = source.encode(large(0), |encoder, table| {
            encoder.update(table, &source.rows[0], &source.rows[1]).unwrap();
            encoder.update(table, &source.rows[1], &source.rows[2]).unwrap();
        });
        world.apply(&chain).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["3 | 3"]);
        let error = world.apply_open(&chain).await.unwrap_err();
        assert_eq!(error.code, 1032);
        world.applier.commit().await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["3 | 3"]);
    });
}

#[test]
fn rows_are_found_by_unique_and_other_indexes() {
    replay(|mut world| async move {
        let columns = "a INT, b VARCHAR(20), c INT, UNIQUE (a), KEY (b), KEY (c)";
        let values: Vec<String> = (0..200).map(|n| format!("({},'B{}',{})", n, n % 50, n % 2)).collect();
        let first = world.source(columns, &values.join(",")).await;
        world.sql(&["CREATE TABLE d.t LIKE s.t", "INSERT INTO d.t SELECT * FROM s.t"]).await;
        world.sql(&["UPDATE s.t SET c = c + 10 WHERE a >= 100"]).await;
        let second = world.source_now().await;
        // A unique key; then without its column, so that only the others are left.
        let (first, second) = (first.without_generated_key(), second.without_generated_key());
        world.apply(&first.updates(&second, RowImage::Full)).await.unwrap();
        assert_eq!(world.query("SELECT COUNT(*), SUM(c) FROM d.t").await, ["200 | 1100"]);
        // The index whose collation takes more for equal than the row has.
        let odd = world.source("a INT, b VARCHAR(20), c INT, KEY (b)", "(NULL,'b7',5)").await.without_generated_key();
        world.sql(&["DROP TABLE d.t", "CREATE TABLE d.t LIKE s.t"]).await;
        world
            .sql(&[
                "INSERT INTO d.t VALUES (1,'x',1),(2,'y',2),(NULL,'B7',5),(NULL,'b7',4),(NULL,'b7',5),(NULL,'b7',5)",
            ])
            .await;
        world.apply(&odd.deletes(RowImage::Full)).await.unwrap();
        let left = world.query("SELECT b, c FROM d.t WHERE a IS NULL ORDER BY my_row_id").await;
        assert_eq!(left, ["B7 | 5", "b7 | 4", "b7 | 5"]);
    });
}

#[test]
fn a_unique_key_with_null_is_no_key() {
    replay(|mut world| async move {
        let source = world.source("a INT, b INT, UNIQUE (a)", "(NULL,1),(NULL,2),(3,3)").await;
        world
            .sql(&["CREATE TABLE d.t LIKE s.t", "INSERT INTO d.t SELECT * FROM s.t", "INSERT INTO d.t VALUES (NULL,9)"])
            .await;
        world.apply(&source.without_generated_key().deletes(RowImage::Full)).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["NULL | 9"]);
    });
}
