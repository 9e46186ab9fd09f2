//! Statements of a source's log, and what they see here.

use binlog::event::{QueryEvent, flags2};

use super::*;
use crate::session::ReplicatedStatement;

/// A statement with nothing said of its session but some status variables.
fn statement<'a>(sql: &'a str, status: &'a [u8]) -> ReplicatedStatement<'a> {
    let sql = sql.as_bytes();
    let event = QueryEvent { thread_id: 7, exec_time: 0, error_code: 0, status, schema: b"d", sql };
    ReplicatedStatement { event, sql, timestamp: 1_700_000_000, server_id: 9, is_maria: false, version: 90704 }
}

async fn run(world: &mut World, sql: &str, status: &[u8]) -> Result<(), SqlError> {
    let statement = statement(sql, status);
    let read = world.applier.read_replicated(&statement, None)?;
    world.applier.run_replicated(&statement, read).await
}

/// An applier has every right, whatever account it stands for.
#[test]
fn a_statement_sees_what_is_described() {
    replay(|mut world| async move {
        world.sql(&["CREATE TABLE d.t (what VARCHAR(20) PRIMARY KEY, n BIGINT)"]).await;
        for (what, of) in [
            ("tables", "information_schema.tables WHERE table_schema = 'd'"),
            ("columns", "information_schema.columns WHERE table_schema = 'd'"),
            ("schemata", "information_schema.schemata WHERE schema_name = 'd'"),
        ] {
            let sql = format!("INSERT INTO t SELECT '{what}', COUNT(*) FROM {of}");
            run(&mut world, &sql, &[]).await.unwrap();
        }
        assert_eq!(world.query("SELECT * FROM d.t").await, ["columns | 2", "schemata | 1", "tables | 1"]);
    });
}

/// With sql_auto_is_null a source says which row IS NULL has found, if it has found one for that.
#[test]
fn is_null_is_another_question_only_where_the_source_says_so() {
    replay(|mut world| async move {
        world
            .sql(&[
                "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, a INT)",
                "INSERT INTO d.t VALUES (1,NULL),(2,5)",
            ])
            .await;
        let mut status = vec![0];
        status.extend(flags2::AUTO_IS_NULL.to_le_bytes());
        let update = "UPDATE t SET a = 9 WHERE a IS NULL";
        run(&mut world, update, &status).await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["1 | 9", "2 | 5"]);
        world.applier.set_replicated_last_insert_id(2);
        let error = run(&mut world, "DELETE FROM t WHERE id IS NULL", &status).await.unwrap_err();
        assert!(error.code == 1235 && error.message.contains("sql_auto_is_null"), "{error:?}");
        // It was said for that statement alone.
        run(&mut world, update, &status).await.unwrap();
    });
}

/// How long its client was ready to wait there says nothing about how long the copy waits, in whatever words its definition is.
#[test]
fn a_definition_waits_longer_than_its_client_would() {
    replay(|mut world| async move {
        world.sql(&["CREATE TABLE d.t (id INT PRIMARY KEY)", "BEGIN", "SELECT * FROM d.t"]).await;
        let World { applier, sql, .. } = &mut world;
        let definition = "SET STATEMENT lock_wait_timeout = 1 FOR ALTER TABLE t ADD COLUMN j JSON";
        let define = async {
            let statement = ReplicatedStatement { is_maria: true, version: 110809, ..statement(definition, &[]) };
            let read = applier.read_replicated(&statement, None)?;
            applier.run_replicated(&statement, read).await
        };
        let release =
            async { (crate::testing::run(sql, "DO SLEEP(3)").await, crate::testing::run(sql, "COMMIT").await) };
        futures_lite::future::zip(define, release).await.0.unwrap();
        let ty = "SELECT DATA_TYPE FROM information_schema.columns WHERE table_schema = 'd' AND column_name = 'j'";
        assert_eq!(world.query(ty).await, ["longtext"]);
    });
}
