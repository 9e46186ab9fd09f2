//! Channels beside the one without a name: what is kept of them, and that a copy of a log has none.

use super::roles::{change_source, numbered, run, status, wait_for, with_table};
use super::*;

#[test]
fn sources_of_ours_are_executed_beside_each_other() {
    test(async |dir| {
        let (first_dir, second_dir) = (TestDir::new(), TestDir::new());
        let first = Server::start(&numbered(&first_dir, 1)).await.unwrap();
        let second = Server::start(&numbered(&second_dir, 2)).await.unwrap();
        let options = numbered(&dir, 3);
        let replica = Server::start(&options).await.unwrap();
        let mut client = connect(&replica, "root", "").await.unwrap();
        let mut sources = [connect(&first, "root", "").await.unwrap(), connect(&second, "root", "").await.unwrap()];
        with_table(&mut sources[0]).await;
        run(&mut sources[1], "CREATE DATABASE e").await;
        run(&mut client, "CREATE DATABASE own").await;
        change_source(&mut client, &first, "").await;
        change_source(&mut client, &second, "FOR CHANNEL 'Größer'").await;
        assert_eq!(error_of(&mut client, "CHANGE REPLICATION SOURCE TO SOURCE_PORT = 1").await, 3079);
        run(&mut client, "START REPLICA").await;
        for source in &mut sources {
            wait_for(&mut client, source).await;
        }
        assert_eq!(run(&mut client, "SELECT COUNT(*) FROM d.t").await, "3");
        run(&mut client, "INSERT INTO d.t VALUES (100)").await;
        let names = client.query("SHOW REPLICA STATUS").await.unwrap();
        let at = names.columns.iter().position(|column| column.name == "Channel_Name").unwrap();
        let names: Vec<_> = names.rows.iter().map(|row| row[at].clone().unwrap_or_default()).collect();
        assert_eq!(names, ["", "größer"]);

        // It goes on with both after a restart.
        drop(client);
        replica.shutdown().await.unwrap();
        let replica = Server::start(&options).await.unwrap();
        let mut client = connect(&replica, "root", "").await.unwrap();
        run(&mut sources[1], "CREATE TABLE e.t (a INT PRIMARY KEY)").await;
        wait_for(&mut client, &mut sources[1]).await;
        assert_eq!(error_of(&mut client, "RESET REPLICA ALL").await, 3081);
        run(&mut client, "STOP REPLICA").await;
        run(&mut client, "RESET REPLICA ALL FOR CHANNEL 'GRÖßER'").await;
        let files = std::fs::read_dir(&dir.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let kept: Vec<String> = files.filter(|name| name.starts_with("source")).collect();
        assert_eq!(kept, ["source.json"]);
        // Without other channels it still executes what it has executed, and does not take the source's log for its own.
        run(&mut sources[0], "INSERT INTO d.t VALUES (4)").await;
        run(&mut client, "START REPLICA").await;
        wait_for(&mut client, &mut sources[0]).await;
        assert_eq!(run(&mut client, "SELECT COUNT(*) FROM d.t").await, "5");
        assert_eq!(status(&mut client, "Replica_SQL_Running").await, "Yes");
    });
}

#[test]
fn a_copy_of_a_log_has_no_channels() {
    test(async |dir| {
        let (source, replica_dir) = (Server::start(&numbered(&dir, 1)).await.unwrap(), TestDir::new());
        let mut options = numbered(&replica_dir, 2);
        options.follow = Some(crate::url::ServerUrl::loopback(source.addresses()[0].port()));
        let follower = Server::start(&options).await.unwrap();
        let mut told = connect(&source, "root", "").await.unwrap();
        with_table(&mut told).await;
        let mut client = loop {
            // root comes with the source's log.
            match connect(&follower, "root", "").await {
                Ok(client) => break client,
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
            }
        };
        let change = "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'h' FOR CHANNEL 'other'";
        assert_eq!(error_of(&mut client, change).await, 1235);
        // As a source it may have one, and is no copy then.
        run(&mut client, "STOP REPLICA").await;
        run(&mut client, "SET GLOBAL super_read_only = OFF").await;
        run(&mut client, change).await;
        drop(client);
        follower.shutdown().await.unwrap();
        let error = Server::start(&options).await.err().unwrap().to_string();
        assert!(error.contains("--follow") && error.contains("RESET REPLICA ALL FOR CHANNEL"), "{error}");
        let kept = std::fs::read_dir(&replica_dir.0).unwrap().map(|entry| entry.unwrap().path());
        let kept: Vec<PathBuf> = kept.filter(|path| path.to_string_lossy().contains("/source-")).collect();
        let text = std::fs::read_to_string(&kept[0]).unwrap();
        std::fs::write(&kept[0], text.replace("\"h\"", "\"i\"")).unwrap();
        options.follow = None;
        let error = Server::start(&options).await.err().unwrap().to_string();
        assert!(error.contains("source-") && error.contains("checksum"), "{error}");
    });
}
