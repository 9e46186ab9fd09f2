//! One moment on two servers: snapshots that hold the same transactions.

use std::time::{Duration, Instant};

use commuter::client::{Client, ClientError};

use crate::cli::CommandError;

/// Everything that is read after it is of one state.
pub(super) const SNAPSHOT: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT";

/// So often it is tried beside writers, before they are held up.
const FREE_TRIES: usize = 3;
/// For so long the writers are held up at most.
const HOLD_MAX: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

/// Where a snapshot is in the log, which is the same on a server and its replicas.
type Position = (String, String);

/// Takes a snapshot on each of two of our servers, at the same position of the log where one replicates from the other. Beside
/// writes that is a matter of luck, so after some tries commits are held for the moment that the replica needs to catch up.
pub(super) fn take(first: &mut Client, second: &mut Client, wait_seconds: u64) -> Result<(), CommandError> {
    let (source, replica) = match (replicates(first)?, replicates(second)?) {
        (_, true) => (first, second),
        (true, false) => (second, first),
        (false, false) => {
            eprintln!("neither server replicates: they are compared as they are");
            first.query(SNAPSHOT)?;
            second.query(SNAPSHOT)?;
            return Ok(());
        }
    };
    for _ in 0..FREE_TRIES {
        let position = snapshot(source)?;
        catch_up(source, replica, wait_seconds)?;
        if snapshot(replica)? == position {
            return Ok(());
        }
    }
    if let Err(error) = source.query("FLUSH TABLES WITH READ LOCK") {
        eprintln!(
            "the servers are written to, and commits cannot be held for a moment ({error}): what differs may be new"
        );
        return Ok(());
    }
    let position = snapshot(source)?;
    let began = Instant::now();
    let mut is_same = false;
    while !is_same && began.elapsed() < HOLD_MAX {
        std::thread::sleep(PAUSE);
        is_same = snapshot(replica)? == position;
    }
    source.query("UNLOCK TABLES")?;
    if !is_same {
        eprintln!("the second server does not get to where the first one is: what differs may be new");
    }
    Ok(())
}

/// The same for servers of any kind: a second one that replicates has at least what the first has, where both speak MySQL's GTIDs.
pub(super) fn take_loosely(first: &mut Client, second: &mut Client, wait_seconds: u64) -> Result<(), CommandError> {
    first.query(SNAPSHOT)?;
    if replicates(second)? {
        catch_up(first, second, wait_seconds)?;
    }
    second.query(SNAPSHOT)?;
    Ok(())
}

fn snapshot(client: &mut Client) -> Result<Position, ClientError> {
    client.query(SNAPSHOT)?;
    let at = client.query("SHOW STATUS LIKE 'Binlog_snapshot_%'")?;
    Ok((at.text(0, 1), at.text(1, 1)))
}

/// Whether a server applies what another one sends; who may not see it takes it that it does.
fn replicates(client: &mut Client) -> Result<bool, ClientError> {
    let status = match client.query("SHOW REPLICA STATUS") {
        Ok(status) => status,
        Err(error) if error.is_connection_lost() => return Err(error),
        Err(_) => return Ok(true),
    };
    let is_running = |name: &String| name == "Replica_SQL_Running" || name == "Slave_SQL_Running";
    let column = status.columns.iter().position(is_running);
    Ok(column.is_some_and(|column| status.text(0, column) == "Yes"))
}

/// What a server says that has not what another one has executed: which transactions differ, and why its replica has stopped.
fn why_behind(client: &mut Client, set: &str) -> String {
    let mut said = String::new();
    let mut ask = |query: &str, before: &str| {
        let answer = client.query(query).map(|answer| answer.text(0, 0)).unwrap_or_default();
        let answer: String = answer.split_whitespace().collect();
        if !answer.is_empty() {
            said.push_str(&format!("; {before} {answer}"));
        }
    };
    ask(&format!("SELECT GTID_SUBTRACT('{set}', @@GLOBAL.gtid_executed)"), "it lacks");
    ask(&format!("SELECT GTID_SUBTRACT(@@GLOBAL.gtid_executed, '{set}')"), "the first one has not its");
    if let Ok(status) = client.query("SHOW REPLICA STATUS") {
        for row in 0..status.rows.len() {
            for name in ["Last_IO_Error", "Last_SQL_Error"] {
                let column = status.columns.iter().position(|column| column == name);
                let error = column.map(|column| status.text(row, column)).unwrap_or_default();
                if !error.is_empty() {
                    said.push_str(&format!("; {name}: {error}"));
                }
            }
        }
    }
    said
}

/// Waits until the second server has what the first has, where both speak MySQL's GTIDs.
fn catch_up(first: &mut Client, second: &mut Client, seconds: u64) -> Result<(), CommandError> {
    let Ok(executed) = first.query("SELECT @@GLOBAL.gtid_executed") else { return Ok(()) };
    let set: String = executed.text(0, 0).split_whitespace().collect();
    match second.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{set}', {seconds})")) {
        Ok(result) if result.text(0, 0) == "1" => {
            Err(format!("the second server has not caught up within {seconds} seconds{}", why_behind(second, &set))
                .into())
        }
        Err(error) if error.is_connection_lost() => Err(error.into()),
        // A server that does not know the function is compared as it is.
        _ => Ok(()),
    }
}
