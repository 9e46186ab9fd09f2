//! Every file of a data directory, gone or damaged: the server starts with all of its rows, or says which file it is.

use std::fs;
use std::path::Path;

use super::settings::{last, started};
use super::*;

const SUMS: &str = "SELECT CONCAT(COUNT(*), ':', SUM(id), ':', SUM(LENGTH(x))) FROM d.t";

/// What is done to a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Gone,
    Empty,
    Half,
    /// A byte in its first part, which is in use.
    OneByte,
    Noise,
}

const ALL: [Damage; 5] = [Damage::Gone, Damage::Empty, Damage::Half, Damage::OneByte, Damage::Noise];

impl Damage {
    fn of(self, path: &Path) {
        let mut bytes = fs::read(path).unwrap();
        match self {
            Damage::Gone => return fs::remove_file(path).unwrap(),
            Damage::Empty => bytes.clear(),
            Damage::Half => bytes.truncate(bytes.len() / 2),
            Damage::OneByte => {
                let used = bytes.len().min(200);
                if let Some(byte) = bytes.get_mut(used / 2) {
                    *byte ^= 0x10;
                }
            }
            Damage::Noise => bytes = (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect(),
        }
        fs::write(path, bytes).unwrap();
    }
}

fn copied(from: &TestDir) -> TestDir {
    let copy = TestDir::new();
    fs::create_dir(&copy.0).unwrap();
    for entry in fs::read_dir(&from.0).unwrap().flatten().filter(|entry| entry.file_type().unwrap().is_file()) {
        fs::copy(entry.path(), copy.0.join(entry.file_name())).unwrap();
    }
    copy
}

/// What comes of a start and some work: the sums, or the error.
async fn outcome(dir: &TestDir) -> Result<String, String> {
    let server = Server::start(&dir.options()).await.map_err(|error| error.to_string())?;
    let mut client = connect(&server, "root", "").await.unwrap();
    let sums = client.query(SUMS).await.map_err(|error| error.to_string())?.first().unwrap_or_default().to_owned();
    client.query("INSERT INTO d.t (x) VALUES ('after')").await.map_err(|error| error.to_string())?;
    server.shutdown().await.map_err(|error| error.to_string())?;
    Ok(sums)
}

#[test]
fn every_file_gone_or_damaged() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        client.query("CHANGE REPLICATION SOURCE TO SOURCE_HOST='192.0.2.1', SOURCE_USER='u'").await.unwrap();
        for number in 0..3 {
            client
                .query(&format!("INSERT INTO d.t (x) VALUES (REPEAT('{number}', 20000)), ('a'), ('b')"))
                .await
                .unwrap();
            client.query("FLUSH BINARY LOGS").await.unwrap();
        }
        let expected = last(&mut client, SUMS).await;
        server.shutdown().await.unwrap();
        let mut names: Vec<String> = fs::read_dir(&dir.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with(".sock"))
            .collect();
        names.sort();
        for name in names {
            for damage in ALL {
                let copy = copied(&dir);
                damage.of(&copy.0.join(&name));
                match outcome(&copy).await {
                    Ok(sums) => {
                        println!("{name} {damage:?}: starts");
                        assert_eq!(sums, expected, "{name} {damage:?}");
                    }
                    Err(error) => {
                        println!("{name} {damage:?}: {error}");
                        assert!(error.contains(&name), "{name} {damage:?}: {error}");
                    }
                }
            }
        }
    });
}

/// A crash leaves the temporary files of sorts and joins behind.
#[test]
fn a_start_removes_temporary_files() {
    test(async |dir| {
        let (server, _client) = started(&dir).await;
        server.shutdown().await.unwrap();
        let temporary = dir.0.join(sql::exec::TEMPORARY_DIRECTORY);
        fs::create_dir_all(&temporary).unwrap();
        for name in ["sql-1", "sql-77"] {
            fs::write(temporary.join(name), [7; 5000]).unwrap();
        }
        let server = Server::start(&dir.options()).await.unwrap();
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
        server.shutdown().await.unwrap();
    });
}
