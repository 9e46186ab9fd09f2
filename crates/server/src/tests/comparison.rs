//! A follower that compares itself with its source.

use std::time::Duration;

use engine::{Engine, RowChange};
use types::Value;

use super::settings::started;
use super::*;

/// A source with an account that may follow and nothing else, and a follower that looks at itself as often as it can.
struct Pair {
    source: Server,
    to_source: TestClient,
    follower: Server,
    to_follower: TestClient,
    _folder: TestDir,
}

impl Pair {
    async fn start(dir: &TestDir) -> Pair {
        let (source, mut to_source) = started(dir).await;
        for statement in ["CREATE USER repl", "GRANT REPLICATION SLAVE ON *.* TO repl"] {
            to_source.query(statement).await.unwrap();
        }
        let folder = TestDir::new();
        let port = source.addresses()[0].port();
        let mut options = folder.options();
        options.follow = Some(format!("mysql://repl@127.0.0.1:{port}").parse().unwrap());
        options.server_id = Some(2);
        options.set.push("replica_checksum_interval=1".into());
        let follower = Server::start(&options).await.unwrap();
        let to_follower = connect_to_follower(&follower).await;
        let mut pair = Pair { source, to_source, follower, to_follower, _folder: folder };
        pair.run("INSERT INTO d.t (x) VALUES ('a'), ('b')").await;
        pair
    }

    /// On the source.
    async fn run(&mut self, sql: &str) {
        self.to_source.query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    fn engine(&self) -> &std::sync::Arc<Engine> {
        &self.follower.shared().sql.engine
    }

    /// Of the follower.
    fn status(&self, name: &str) -> String {
        let lines = self.follower.shared().sql.services.status();
        lines.into_iter().find(|(line, _)| line == name).unwrap().1
    }

    async fn replica_status(&mut self, column: &str) -> String {
        let result = self.to_follower.query("SHOW REPLICA STATUS").await.unwrap();
        let at = result.columns.iter().position(|found| found.name == column).unwrap();
        result.rows[0][at].clone().unwrap_or_default()
    }

    /// Until another comparison is done, beside somebody who writes and defines; then the tables that differ.
    async fn compare(&mut self) -> String {
        let before = self.status("Replica_checksum_comparisons");
        while self.status("Replica_checksum_comparisons") == before {
            self.run("INSERT INTO d.t (x) VALUES ('c')").await;
            self.run("DROP TABLE IF EXISTS d.other").await;
            self.run("CREATE TABLE d.other (a INT PRIMARY KEY)").await;
            self.run("INSERT INTO d.other VALUES (1)").await;
            self.engine().checkpoint().await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (names, count) =
            (self.status("Replica_checksum_differing_tables"), self.status("Replica_checksum_differences"));
        assert_eq!(count == "0", names.is_empty(), "{count}: {names}");
        names
    }

    /// Gives the follower's first row a version that is in no log.
    async fn damage(&self) {
        let table = self.engine().catalog().table("d", "t").unwrap().clone();
        let row = table.codec.row.encode(&[Value::Int(1), Value::str("damaged")]).unwrap();
        let change = RowChange { table, before: Some(row.clone()), after: Some(row) };
        self.engine().install(self.engine().visible().0, &[change]).await.unwrap();
    }

    async fn end(self) {
        self.follower.shutdown().await.unwrap();
        self.source.shutdown().await.unwrap();
    }
}

#[test]
fn what_is_not_on_the_source_is_told_and_counted_and_stops_the_follower_if_wanted() {
    test(async |dir| {
        let mut pair = Pair::start(&dir).await;
        assert_eq!(pair.compare().await, "");
        assert_eq!(pair.compare().await, "");
        pair.damage().await;
        assert_eq!(pair.compare().await, "d.t");
        assert_eq!(pair.replica_status("Replica_SQL_Running").await, "Yes", "nobody asked it to stop");
        pair.to_follower.query("SET GLOBAL replica_stop_on_checksum_difference = ON").await.unwrap();
        assert_eq!(pair.compare().await, "d.t");
        while pair.replica_status("Replica_SQL_Running").await == "Yes" {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let told = pair.replica_status("Last_SQL_Error").await;
        assert!(told.contains("not what its source is, in d.t"), "{told}");
        assert_eq!(pair.replica_status("Replica_IO_Running").await, "Yes");
        // What is written anew is the same again.
        pair.run("UPDATE d.t SET x = 'mended' WHERE id = 1").await;
        pair.to_follower.query("START REPLICA").await.unwrap();
        assert_eq!(pair.compare().await, "");
        assert_eq!(pair.replica_status("Last_SQL_Error").await, "");
        pair.end().await;
    });
}

/// A connection that is cut, in whichever moment, is no difference; comparisons go on when the source is there again.
#[test]
fn connections_that_are_cut_are_no_difference() {
    test(async |dir| {
        let mut pair = Pair::start(&dir).await;
        assert_eq!(pair.compare().await, "");
        // Everybody who follows is sent away, over and over.
        for _ in 0..20 {
            let shared = pair.source.shared().clone();
            for process in shared.sql.services.processlist().iter().filter(|process| process.user == "repl") {
                shared.sql.services.kill(process.id, base::Cancelled::Connection).unwrap();
            }
            pair.run("INSERT INTO d.t (x) VALUES ('d')").await;
            pair.engine().checkpoint().await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(pair.status("Replica_checksum_differences"), "0");
        assert_eq!(pair.compare().await, "");
        pair.end().await;
    });
}
