//! Plans that are kept, seen by the locks that they take.

use super::*;

/// Prepared while its table is empty, where reading all of it is as good as anything.
#[test]
fn a_prepared_statement_is_planned_anew_when_its_table_has_grown() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        for statement in [
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE g (id INT AUTO_INCREMENT PRIMARY KEY, v INT, w INT, KEY (v))",
            "PREPARE grown FROM 'UPDATE g SET w = 2 WHERE v = ?'",
            "SET @v = 1",
            "EXECUTE grown USING @v",
            "INSERT INTO g (v) VALUES (1), (2), (3), (4), (5), (6), (7), (8)",
            "INSERT INTO g (v) SELECT a.v + b.v * 8 + c.v * 64 FROM g a, g b, g c",
            "BEGIN",
            "EXECUTE grown USING @v",
        ] {
            client.query(statement).await.unwrap();
        }
        let mut other = connect(&server, "root", "").await.unwrap();
        other.query("SELECT id FROM d.g WHERE v = 300 FOR UPDATE NOWAIT").await.unwrap();
        assert_eq!(error_of(&mut other, "SELECT id FROM d.g WHERE v = 1 FOR UPDATE NOWAIT").await, 3572);
        server.shutdown().await.unwrap();
    });
}
