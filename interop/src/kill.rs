//! Kills servers under load, again and again, and compares what was acknowledged with what is found.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::process::workspace_root;
use crate::{Client, Result, Server, ServerOptions, python_path};

/// Runs `rounds` rounds: PyMySQL clients write, the source (even rounds) or its follower (odd ones) is killed with
/// SIGKILL at an uneven moment, restarted, and checked: nothing acknowledged is lost, nothing is half there, source
/// and follower hold the same rows.
///
/// # Errors
/// What was lost or differs.
pub fn kill_loop(rounds: u32, clients: u32) -> Result<()> {
    let mut source = Server::start("kill-source", ServerOptions::default())?;
    let mut follower = source.start_follower("kill-follower")?;
    let mut transactions = 0;
    let mut found = BTreeMap::new();
    for round in 0..rounds {
        let writer = Writer::start(source.port(), clients)?;
        std::thread::sleep(Duration::from_millis(300 + u64::from(round * 397 % 700)));
        let acknowledged = if round % 2 == 0 {
            source.kill();
            let acknowledged = writer.end()?;
            source.restart()?;
            acknowledged
        } else {
            follower.kill();
            let acknowledged = writer.end()?;
            follower.restart()?;
            acknowledged
        };
        transactions =
            check(&source.client(), &acknowledged, &mut found).map_err(|error| format!("round {round}: {error}"))?;
        in_step(&source, &follower).map_err(|error| format!("round {round}: {error}"))?;
    }
    println!("{rounds} kills, {transactions} transactions, nothing lost, source and follower alike");
    source.stop()?;
    follower.stop().map(drop)
}

struct Writer {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Writer {
    fn start(port: u16, clients: u32) -> Result<Writer> {
        let script = workspace_root().join("interop/python/writer.py");
        let mut child = Command::new(python_path())
            .arg(script)
            .args([port.to_string(), clients.to_string(), "2".to_owned()])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("python: {error}; run `cargo xtask install`"))?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output of the writer")?);
        let mut line = String::new();
        output.read_line(&mut line).map_err(|error| error.to_string())?;
        if line.trim() != "ready" {
            let _ = child.wait();
            return Err(format!("the writer could not set up its tables: {line}"));
        }
        Ok(Writer { child, output })
    }

    /// The last acknowledged transaction of each client.
    fn end(mut self) -> Result<BTreeMap<u32, u64>> {
        let mut acknowledged = BTreeMap::new();
        for line in self.output.lines() {
            let line = line.map_err(|error| error.to_string())?;
            let mut numbers = line.split(' ').map(str::parse::<u64>);
            if let (Some(Ok(client)), Some(Ok(seq))) = (numbers.next(), numbers.next()) {
                acknowledged.insert(client as u32, seq);
            }
        }
        let status = self.child.wait().map_err(|error| error.to_string())?;
        if status.success() { Ok(acknowledged) } else { Err(format!("the writer failed: {status}")) }
    }
}

/// Number of transactions found, if they are what they should be. `found` has each client's last one of the round
/// before: a client that did not even connect in this round has that.
fn check(client: &Client, acknowledged: &BTreeMap<u32, u64>, found: &mut BTreeMap<u32, u64>) -> Result<u64> {
    let sql = "SELECT c.client, c.n, COUNT(e.seq), COALESCE(MAX(e.seq), 0) FROM kills.counters c \
               LEFT JOIN kills.entries e ON e.client = c.client GROUP BY c.client, c.n";
    let mut total = 0;
    let mut clients = 0;
    for line in client.query(sql)?.lines() {
        let numbers: Vec<u64> = line.split('\t').filter_map(|number| number.parse().ok()).collect();
        let [id, counter, count, max] = numbers[..] else { return Err(format!("unexpected row '{line}'")) };
        if counter != count || count != max {
            return Err(format!("client {id}: counter {counter}, {count} entries, last {max}: half a transaction"));
        }
        let id = id as u32;
        let last = acknowledged.get(&id).or_else(|| found.get(&id)).copied().unwrap_or_default();
        if !(last..=last + 1).contains(&max) {
            return Err(format!("client {id}: acknowledged {last}, found {max}"));
        }
        found.insert(id, max);
        total += count;
        clients += 1;
    }
    if clients < acknowledged.len() { Err(format!("only {clients} clients found")) } else { Ok(total) }
}

fn in_step(source: &Server, follower: &Server) -> Result<()> {
    source.wait_until_in_step(follower)?;
    let sql = "CHECKSUM TABLE kills.entries, kills.counters";
    let (ours, theirs) = (source.client().query(sql)?, follower.client().query(sql)?);
    if ours == theirs { Ok(()) } else { Err(format!("source {ours}follower {theirs}")) }
}
