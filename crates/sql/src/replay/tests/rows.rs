//! Tables that are as their source's, or nearly; errors, foreign keys, deadlocks.

use binlog::RowImage;
use binlog::event::rows_flags;

use super::*;

const ALL_TYPES: &str = "id INT PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT UNSIGNED, \
    e FLOAT, f DOUBLE, \
    g DECIMAL(20,5), h CHAR(10), i VARCHAR(300), j BINARY(8), k VARBINARY(20), l TEXT, m LONGBLOB, n DATE, o TIME(3), \
    p DATETIME(6), q TIMESTAMP(2) NULL, r YEAR, s BIT(11), u ENUM('x','y'), v SET('p','q','r'), \
    w VARCHAR(10) CHARACTER SET latin1";
const ALL_VALUES: &str = "(1,-5,65535,-8388608,18446744073709551615,1.5,-2.25,'-123456789.12345','häß','hé',x'010200',\
    'ab','text',x'00ff','2024-02-29','-12:34:56.789','2024-02-29 13:14:15.123456','2024-02-29 13:14:15.12',2024,\
    b'10000000001','y','p,r','ä'),\
    (2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)";

#[test]
fn rows_of_all_types_arrive_change_and_go() {
    replay(|mut world| async move {
        let first = world.source(ALL_TYPES, ALL_VALUES).await;
        world.sql(&["CREATE TABLE d.t LIKE s.t"]).await;
        world.apply(&first.inserts()).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, world.query("SELECT * FROM s.t").await);
        world.sql(&["UPDATE s.t SET b = 7, i = 'other', l = NULL, v = 'q', id = id + 10"]).await;
        let second = world.source_now().await;
        world.apply(&first.updates(&second, RowImage::Full)).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, world.query("SELECT * FROM s.t").await);
        world.apply(&second.deletes(RowImage::Full)).await.unwrap();
        assert!(world.query("SELECT * FROM d.t").await.is_empty());
    });
}

#[test]
fn minimal_images_change_what_they_have() {
    replay(|mut world| async move {
        // The key is not the first column, and those before it are not in the images.
        let columns = "a INT NOT NULL, b VARCHAR(10), id INT PRIMARY KEY, c BLOB";
        let first = world.source(columns, "(1,'one',10,'x'),(2,NULL,20,'y'),(3,'three',30,NULL)").await;
        world.sql(&["CREATE TABLE d.t LIKE s.t", "INSERT INTO d.t SELECT * FROM s.t"]).await;
        world.sql(&["UPDATE s.t SET b = 'new' WHERE id = 20", "UPDATE d.t SET a = 99"]).await;
        let second = world.source_now().await;
        world.apply(&first.updates(&second, RowImage::Minimal)).await.unwrap();
        assert_eq!(
            world.query("SELECT * FROM d.t").await,
            ["99 | one | 10 | x", "99 | new | 20 | y", "99 | three | 30 | NULL"]
        );
        world.apply(&second.deletes(RowImage::Minimal)).await.unwrap();
        assert!(world.query("SELECT * FROM d.t").await.is_empty());
    });
}

#[test]
fn columns_that_only_one_side_has() {
    replay(|mut world| async move {
        let less = world.source("id INT PRIMARY KEY, a INT", "(1,10),(2,20)").await;
        let more = "id INT PRIMARY KEY, a INT, b INT DEFAULT 5, c INT NOT NULL, e VARCHAR(20) DEFAULT 'x1', \
                    f DATETIME DEFAULT CURRENT_TIMESTAMP, g ENUM('one','two') NOT NULL";
        world.sql(&[&format!("CREATE TABLE d.t ({more})")]).await;
        world.apply(&less.inserts()).await.unwrap();
        let defaults = "SELECT id, a, b, c, e, f IS NULL, g FROM d.t";
        assert_eq!(world.query(defaults).await, ["1 | 10 | 5 | 0 | x1 | 0 | one", "2 | 20 | 5 | 0 | x1 | 0 | one"]);
        world.sql(&["UPDATE d.t SET b = 6", "UPDATE s.t SET a = a + 1"]).await;
        let changed = world.source_now().await;
        world.apply(&less.updates(&changed, RowImage::Full)).await.unwrap();
        assert_eq!(
            world.query("SELECT id, a, b FROM d.t").await,
            ["1 | 11 | 6", "2 | 21 | 6"],
            "what the source lacks stays"
        );

        let more = world.source("id INT PRIMARY KEY, a INT, z VARCHAR(10)", "(3,30,'gone')").await;
        world.sql(&["DROP TABLE d.t", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT)"]).await;
        world.apply(&more.inserts()).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["3 | 30"]);
        world.apply(&more.deletes(RowImage::Full)).await.unwrap();
        assert!(world.query("SELECT * FROM d.t").await.is_empty());
    });
}

#[test]
fn tables_without_a_key() {
    replay(|mut world| async move {
        // A commuter source has the generated key as a column.
        let ours = world.source("a INT, b VARCHAR(5)", "(1,'x'),(1,'x'),(2,'y')").await;
        world.sql(&["CREATE TABLE d.t LIKE s.t"]).await;
        world.apply(&ours.inserts()).await.unwrap();
        let keys = "SELECT my_row_id, a, b FROM d.t";
        assert_eq!(world.query(keys).await, ["1 | 1 | x", "2 | 1 | x", "3 | 2 | y"]);
        // Others have none: it is made here.
        let others = world.source_now().await.without_generated_key();
        world.apply(&others.inserts()).await.unwrap();
        assert_eq!(world.query(keys).await[3..], ["4 | 1 | x", "5 | 1 | x", "6 | 2 | y"]);
        world.apply(&others.deletes(RowImage::Full)).await.unwrap();
        assert_eq!(world.query("SELECT a, b FROM d.t ORDER BY a").await, ["1 | x", "1 | x", "2 | y"], "one row each");
        // With an AUTO_INCREMENT column beside it.
        let counted = world.source("a INT AUTO_INCREMENT, b INT, KEY (a)", "(7,1),(9,2)").await.without_generated_key();
        world.sql(&["DROP TABLE d.t", "CREATE TABLE d.t LIKE s.t"]).await;
        world.apply(&counted.inserts()).await.unwrap();
        assert_eq!(world.query("SELECT a, b FROM d.t").await, ["7 | 1", "9 | 2"]);
        world.sql(&["INSERT INTO d.t (b) VALUES (3)"]).await;
        assert_eq!(world.query("SELECT a > 9 FROM d.t WHERE b = 3").await, ["1"], "the counter has moved");
    });
}

#[test]
fn missing_tables_rows_and_keys_that_are_taken() {
    replay(|mut world| async move {
        let source = world.source("id INT PRIMARY KEY, a INT, UNIQUE (a)", "(1,10),(2,20),(3,30)").await;
        let error = world.apply(&source.inserts()).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (1146, "Table 'd.t' doesn't exist"));
        world.sql(&["CREATE TABLE d.t LIKE s.t", "INSERT INTO d.t VALUES (3,300)"]).await;
        // The last row of the event fails: none of it stays, and the transaction goes on.
        let error = world.apply_open(&source.inserts()).await.unwrap_err();
        let told = "Could not execute Write_rows event on table d.t; Duplicate entry '3' for key 't.PRIMARY', \
                    Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY";
        assert_eq!((error.code, error.message.as_str()), (1062, told));
        world.applier.commit().await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["3 | 300"]);
        let error = world.apply_open(&source.deletes(RowImage::Full)).await.unwrap_err();
        let told = "Could not execute Delete_rows event on table d.t; Can't find record in 't', Error_code: 1032; \
                    handler error HA_ERR_KEY_NOT_FOUND";
        assert_eq!((error.code, error.message.as_str()), (1032, told));
        world.applier.rollback();

        world.set("slave_exec_mode", "IDEMPOTENT").await;
        world.sql(&["INSERT INTO d.t VALUES (8,20)"]).await;
        world.apply(&source.inserts()).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["1 | 10", "2 | 20", "3 | 30"], "rows in the way are gone");
        world.sql(&["DELETE FROM d.t WHERE id = 2"]).await;
        world.apply(&source.deletes(RowImage::Full)).await.unwrap();
        assert!(world.query("SELECT * FROM d.t").await.is_empty());
    });
}

#[test]
fn rows_that_are_not_as_there() {
    replay(|mut world| async move {
        let columns = "id INT PRIMARY KEY, a INT, b VARCHAR(20), c BLOB, UNIQUE (a)";
        let first = world.source(columns, "(1,10,'one','x'),(2,20,NULL,'y'),(3,30,'three',NULL)").await;
        world
            .sql(&["CREATE TABLE d.t LIKE s.t", "INSERT INTO d.t SELECT * FROM s.t", "UPDATE s.t SET a = a + 1"])
            .await;
        let second = world.source_now().await;
        world.sql(&["UPDATE d.t SET b = 'other' WHERE id IN (1, 2)", "UPDATE d.t SET c = '' WHERE id = 3"]).await;
        world.apply(&first.updates(&second, RowImage::Full)).await.unwrap();
        assert_eq!(std::mem::take(&mut world.differences), [(3, "b".to_owned())]);
        assert_eq!(
            world.query("SELECT a, b FROM d.t").await,
            ["11 | one", "21 | NULL", "31 | three"],
            "the log counts"
        );
        // What the images do not have is not compared.
        world.sql(&["UPDATE d.t SET b = 'other'"]).await;
        world.apply(&second.updates(&first, RowImage::Minimal)).await.unwrap();
        assert_eq!(world.differences, []);
        world.sql(&["UPDATE d.t SET b = 'one', c = 'x' WHERE id = 1"]).await;
        world.set("replica_row_differences", "ERROR").await;
        let error = world.apply_open(&first.deletes(RowImage::Full)).await.unwrap_err();
        let told = "Could not execute Delete_rows event on table d.t; Can't find record in 't': it has another value of b \
                    (replica_row_differences), Error_code: 1032; handler error HA_ERR_KEY_NOT_FOUND";
        assert_eq!((error.code, error.message.as_str()), (1032, told));
        world.applier.rollback();
        world.set("replica_exec_mode", "IDEMPOTENT").await;
        world.apply(&first.deletes(RowImage::Full)).await.unwrap();
        assert_eq!(std::mem::take(&mut world.differences), [(2, "b".to_owned())]);
        world.set("replica_exec_mode", "STRICT").await;
        world.set("replica_row_differences", "IGNORE").await;
        world.sql(&["INSERT INTO d.t VALUES (1,10,'x','x'),(2,20,'x',''),(3,30,'','')"]).await;
        world.apply(&first.deletes(RowImage::Full)).await.unwrap();
        assert_eq!(world.query("SELECT COUNT(*) FROM d.t").await, ["0"]);
        assert_eq!(world.differences, []);
    });
}

#[test]
fn foreign_keys_cascade_unless_the_log_has_done_it() {
    replay(|mut world| async move {
        let source = world.source("id INT PRIMARY KEY", "(1),(2)").await;
        let child =
            "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.t (id) ON DELETE CASCADE)";
        world.sql(&["CREATE TABLE d.t LIKE s.t", child, "INSERT INTO d.t VALUES (1),(2)"]).await;
        world.sql(&["INSERT INTO d.c VALUES (10,1),(20,2)"]).await;
        world.apply(&source.deletes(RowImage::Full)).await.unwrap();
        assert!(world.query("SELECT * FROM d.c").await.is_empty());

        world.sql(&["INSERT INTO d.t VALUES (1),(2)", "INSERT INTO d.c VALUES (10,1),(20,2)"]).await;
        let deletes = source.encode(large(rows_flags::SQL_FOREIGN_KEYS), |encoder, table| {
            source.rows.iter().for_each(|row| encoder.delete(table, row).unwrap());
        });
        world.apply(&deletes).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.c").await, ["10 | 1", "20 | 2"], "their rows come as rows");

        world.sql(&["DELETE FROM d.c", "DROP TABLE IF EXISTS d.x"]).await;
        let mut orphan = world.source("id INT PRIMARY KEY, p INT", "(5,99)").await;
        orphan.def.name = "c".to_string();
        let error = world.apply_open(&orphan.inserts()).await.unwrap_err();
        assert_eq!(error.code, 1452);
        assert!(
            error.message.ends_with("Error_code: 1452; handler error HA_ERR_NO_REFERENCED_ROW"),
            "{}",
            error.message
        );
        world.applier.rollback();
        world.apply(&orphan.inserts_flagged(rows_flags::NO_FOREIGN_KEY_CHECKS)).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.c").await, ["5 | 99"]);
    });
}

#[test]
fn a_table_that_is_defined_anew_is_mapped_anew() {
    replay(|mut world| async move {
        let source = world.source("id INT PRIMARY KEY, a INT", "(1,10)").await;
        world.sql(&["CREATE TABLE d.t LIKE s.t"]).await;
        world.apply(&source.inserts()).await.unwrap();
        world.sql(&["ALTER TABLE d.t ADD COLUMN b INT DEFAULT 3", "DELETE FROM d.t"]).await;
        world.apply(&source.inserts()).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["1 | 10 | 3"]);
    });
}

#[test]
fn a_deadlock_ends_the_transaction() {
    replay(|mut world| async move {
        let two = world.source("id INT PRIMARY KEY, a INT", "(1,10),(2,20)").await;
        world.sql(&["CREATE TABLE d.t LIKE s.t", "INSERT INTO d.t SELECT * FROM s.t"]).await;
        let one = |at: usize| two.encode(large(0), |encoder, table| encoder.delete(table, &two.rows[at]).unwrap());
        let mut other = session(&world.shared, "root3");
        world.apply_open(&one(0)).await.unwrap();
        apply_to(&mut other, &one(1)).await.unwrap();
        // Each wants what the other has. Who meets the other second ends, and the first goes on.
        let (first, second) = (one(1), one(0));
        let here = async { (apply_to(&mut world.applier, &first).await, world.applier.in_transaction()) };
        let there = async {
            let result = apply_to(&mut other, &second).await;
            let open = other.in_transaction();
            other.rollback();
            (result, open)
        };
        let ((here, here_open), (there, there_open)) = futures_lite::future::zip(here, there).await;
        let (failed, open, went_on) = match here {
            Err(error) => (error, here_open, there),
            Ok(_) => (there.unwrap_err(), there_open, here),
        };
        assert_eq!((failed.code, open), (1213, false));
        assert!(went_on.is_ok());
    });
}
