//! Pages of the data file that were changed from outside, and how a server is made whole again.

use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::settings::started;
use super::*;

const PAGE_SIZE: usize = 16384;

/// Rows of some pages, by two indexes.
async fn fill(client: &mut TestClient) {
    for statement in [
        "CREATE TABLE d.r (id INT PRIMARY KEY, k INT, x VARCHAR(200), big LONGTEXT, KEY k (k))",
        "INSERT INTO d.r (id, k, x) VALUES (1, 1, REPEAT('x', 150))",
        "UPDATE d.r SET big = REPEAT('y', 50000) WHERE id = 1",
    ] {
        client.query(statement).await.unwrap();
    }
    for power in 0..13 {
        let count = 1 << power;
        let insert = format!(
            "INSERT INTO d.r (id, k, x) SELECT id + {count}, (id * 7919) % 8192, x FROM d.r WHERE id <= {count}"
        );
        client.query(&insert).await.unwrap();
    }
}

fn index_of(server: &Server, index_number: usize) -> u64 {
    server.shared().sql.engine.catalog().table("d", "r").unwrap().def.indexes[index_number].id.0
}

/// Changes the leaves of an index in the file.
fn damage(server: &Server, dir: &TestDir, index_number: usize) {
    damage_file(dir, [index_of(server, index_number)]);
}

/// The same of some indexes. Pages that are free still look like leaves, so that all of them are changed.
fn damage_file<const COUNT: usize>(dir: &TestDir, indexes: [u64; COUNT]) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(dir.0.join("data.ctr")).unwrap();
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    for index in indexes {
        let is_leaf = |page: &[u8]| page[32] == 1 && page[16..24] == index.to_le_bytes();
        let leaves: Vec<usize> = (2..bytes.len() / PAGE_SIZE).filter(|at| is_leaf(&bytes[at * PAGE_SIZE..])).collect();
        assert!(leaves.len() > 3, "{leaves:?}");
        for page in leaves {
            let at = page * PAGE_SIZE + 3000;
            file.write_all_at(&[bytes[at] ^ 0x55], at as u64).unwrap();
        }
    }
}

fn status(server: &Server, name: &str) -> String {
    let lines = server.shared().sql.services.status();
    lines.into_iter().find(|(line, _)| line == name).unwrap().1
}

/// Types and texts of what a statement about tables says.
async fn said(client: &mut TestClient, sql: &str) -> Vec<(String, String)> {
    let rows = client.query(sql).await.unwrap().rows;
    rows.into_iter().map(|row| (row[2].clone().unwrap(), row[3].clone().unwrap())).collect()
}

async fn is_whole(client: &mut TestClient) {
    assert_eq!(said(client, "CHECK TABLE d.r").await, [("status".into(), "OK".into())]);
    let sums = (last_sum(client, "CHECKSUM TABLE d.r").await, last_sum(client, "CHECKSUM TABLE d.r EXTENDED").await);
    assert_eq!(sums.0, sums.1);
    assert_eq!(client.query("SELECT COUNT(*) FROM d.r").await.unwrap().first(), Some("8192"));
}

async fn last_sum(client: &mut TestClient, sql: &str) -> Option<String> {
    client.query(sql).await.unwrap().rows[0][1].clone()
}

/// Ready when the server has repaired something by itself.
async fn repaired(server: &Server) {
    while status(server, "Store_repaired_ranges") == "0" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn an_index_is_made_anew_from_the_rows() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        fill(&mut client).await;
        server.shared().sql.engine.checkpoint().await.unwrap();
        assert_eq!(said(&mut client, "REPAIR TABLE d.r").await, [("status".into(), "OK".into())]);
        client.query("SET GLOBAL repair_damaged_pages = OFF").await.unwrap();
        damage(&server, &dir, 1);
        let told = said(&mut client, "REPAIR TABLE d.r, d.nothing").await;
        assert_eq!(told.len(), 4, "{told:?}");
        assert_eq!(told[0].0, "info");
        for part in ["Index 'k': ", "pages or values could not be read", "data.ctr", "Restored from the table's rows"] {
            assert!(told[0].1.contains(part), "{part} is missing in {told:?}");
        }
        assert_eq!(told[1], ("status".into(), "OK".into()));
        assert_eq!(told[2].0, "Error");
        is_whole(&mut client).await;
        // By itself, when somebody meets it.
        let before = status(&server, "Store_repaired_ranges");
        damage(&server, &dir, 1);
        let engine = server.shared().sql.engine.clone();
        let table = engine.catalog().table("d", "r").unwrap().clone();
        assert!(!engine.find_damage(&table, 1).await.unwrap().is_none());
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(status(&server, "Store_repaired_ranges"), before, "it is switched off");
        client.query("SET GLOBAL repair_damaged_pages = ON").await.unwrap();
        while status(&server, "Store_repaired_ranges") == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        is_whole(&mut client).await;
        server.shutdown().await.unwrap();
    });
}

/// A source with rows and an account that may follow and nothing else, and a server that follows it.
async fn pair(dir: &TestDir, folder: &TestDir) -> (Server, TestClient, Server, TestClient) {
    let (source, mut to_source) = started(dir).await;
    for statement in ["CREATE USER repl", "GRANT REPLICATION SLAVE ON *.* TO repl"] {
        to_source.query(statement).await.unwrap();
    }
    fill(&mut to_source).await;
    let mut options = folder.options();
    options.follow = Some(format!("mysql://repl@127.0.0.1:{}", source.addresses()[0].port()).parse().unwrap());
    options.server_id = Some(2);
    let follower = Server::start(&options).await.unwrap();
    let to_follower = connect_to_follower(&follower).await;
    in_step(&source, &follower).await;
    (source, to_source, follower, to_follower)
}

async fn in_step(source: &Server, follower: &Server) {
    let visible = |server: &Server| server.shared().sql.engine.visible().1;
    while visible(source) != visible(follower) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    follower.shared().sql.engine.checkpoint().await.unwrap();
}

#[test]
fn a_follower_gets_its_rows_from_its_source() {
    test(async |dir| {
        let folder = TestDir::new();
        let (source, mut to_source, follower, mut to_follower) = pair(&dir, &folder).await;
        let [rows_index, keys_index] = [0, 1].map(|number| index_of(&follower, number));
        to_follower.query("SET GLOBAL repair_damaged_pages = OFF").await.unwrap();
        damage(&follower, &folder, 0);
        // Beside somebody who writes.
        to_source.query("DELETE FROM d.t").await.unwrap();
        let told = said(&mut to_follower, "REPAIR TABLE d.r").await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].0 == "info" && told[0].1.contains("Restored from the source 127.0.0.1"), "{told:?}");
        is_whole(&mut to_follower).await;
        assert_eq!(
            last_sum(&mut to_source, "CHECKSUM TABLE d.r").await,
            last_sum(&mut to_follower, "CHECKSUM TABLE d.r").await
        );
        // By itself: after a restart nothing is in memory, so a checkpoint meets it.
        follower.shutdown().await.unwrap();
        damage_file(&folder, [rows_index, keys_index]);
        let options = ServeOptions { server_id: Some(2), ..folder.options() };
        let follower = Server::start(&options).await.unwrap();
        to_source.query("UPDATE d.r SET k = k + 1 WHERE id % 5 = 0").await.unwrap();
        in_step(&source, &follower).await;
        while status(&follower, "Store_damaged_indexes") != "0" || status(&follower, "Store_repaired_ranges") == "0" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut to_follower = connect(&follower, "root", "").await.unwrap();
        is_whole(&mut to_follower).await;
        assert_eq!(
            last_sum(&mut to_source, "CHECKSUM TABLE d.r").await,
            last_sum(&mut to_follower, "CHECKSUM TABLE d.r").await
        );
        follower.shutdown().await.unwrap();
        source.shutdown().await.unwrap();
    });
}

#[test]
fn a_source_gets_its_rows_from_a_copy() {
    test(async |dir| {
        let folder = TestDir::new();
        let (source, mut client, follower, to_follower) = pair(&dir, &folder).await;
        source.shared().sql.engine.checkpoint().await.unwrap();
        damage(&source, &dir, 0);
        let told = said(&mut client, "REPAIR TABLE d.r").await;
        assert_eq!(told.last().unwrap(), &("status".into(), "Operation failed".into()), "{told:?}");
        assert!(told[0].0 == "error" && told[0].1.contains("REPAIR TABLE … FROM 'mysql://…'"), "{told:?}");
        let itself = format!("REPAIR TABLE d.r FROM 'mysql://root@127.0.0.1:{}'", source.addresses()[0].port());
        let told = said(&mut client, &itself).await;
        assert!(told[0].1.contains("it is this server itself"), "{told:?}");
        assert_eq!(error_of(&mut client, "REPAIR TABLE d.r FROM 'http://x'").await, 1210);
        let stranger_dir = TestDir::new();
        let (stranger, _) = started(&stranger_dir).await;
        let of_stranger = format!("REPAIR TABLE d.r FROM 'mysql://root@127.0.0.1:{}'", stranger.addresses()[0].port());
        let told = said(&mut client, &of_stranger).await;
        assert!(told[0].1.contains("it is no copy of this server"), "{told:?}");
        let of_copy = format!("REPAIR TABLE d.r FROM 'mysql://root@127.0.0.1:{}'", follower.addresses()[0].port());
        let told = said(&mut client, &of_copy).await;
        assert!(told[0].0 == "info" && told[0].1.contains("Restored from the copy 127.0.0.1"), "{told:?}");
        is_whole(&mut client).await;
        drop(to_follower);
        stranger.shutdown().await.unwrap();
        follower.shutdown().await.unwrap();
        source.shutdown().await.unwrap();
    });
}

#[test]
fn who_may_repair_and_read_images() {
    test(async |dir| {
        let (server, mut root) = started(&dir).await;
        for statement in [
            "INSERT INTO d.t (x) VALUES ('a'), ('b')",
            "CREATE USER writer, reader, repl, nobody",
            "GRANT SELECT, INSERT ON d.t TO writer",
            "GRANT SELECT ON d.t TO reader",
            "GRANT REPLICATION SLAVE ON *.* TO repl",
        ] {
            root.query(statement).await.unwrap();
        }
        const IMAGES: &str = "CHECKSUM TABLE d.t IMAGES";
        let mut writer = connect(&server, "writer", "").await.unwrap();
        assert_eq!(error_of(&mut writer, "REPAIR TABLE d.t").await, 0);
        // Whose rows are taken is not for everybody to say.
        assert_eq!(error_of(&mut writer, "REPAIR TABLE d.t FROM 'mysql://root@127.0.0.1:1'").await, 1227);
        for (user, images, repair) in [("reader", 0, 1142), ("repl", 0, 1142), ("nobody", 1142, 1142), ("root", 0, 0)] {
            let mut client = connect(&server, user, "").await.unwrap();
            assert_eq!(error_of(&mut client, IMAGES).await, images, "{user}");
            assert_eq!(error_of(&mut client, "REPAIR TABLE d.t").await, repair, "{user}");
        }
        let rows = root.query(IMAGES).await.unwrap().rows;
        assert_eq!(rows.len(), 2);
        assert!(rows[0][2].as_ref().unwrap().ends_with("61"), "{rows:?}");
        let part = format!("CHECKSUM TABLE d.t IMAGES FROM x'{}'", rows[1][1].as_ref().unwrap());
        assert_eq!(root.query(&part).await.unwrap().rows, rows[1..]);
        server.shutdown().await.unwrap();
    });
}

/// A restart finds what was set aside before, and does not wait for somebody to read it.
#[test]
fn what_was_set_aside_is_repaired_after_a_restart() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        fill(&mut client).await;
        client.query("SET GLOBAL repair_damaged_pages = OFF").await.unwrap();
        server.shared().sql.engine.checkpoint().await.unwrap();
        damage(&server, &dir, 1);
        client.query("UPDATE d.r SET k = k + 1 WHERE id % 5 = 0").await.unwrap();
        server.shared().sql.engine.checkpoint().await.unwrap();
        let set_aside = status(&server, "Store_damaged_indexes");
        server.shutdown().await.unwrap();
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        if set_aside == "0" {
            // All of it was in memory, and written anew: then it is found by who looks.
            said(&mut client, "REPAIR TABLE d.r").await;
        } else {
            repaired(&server).await;
        }
        is_whole(&mut client).await;
        server.shutdown().await.unwrap();
    });
}
