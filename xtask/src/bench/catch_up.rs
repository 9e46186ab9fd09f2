//! Catch-up of a replica: it is stopped, its source does 300,000 single-row updates, it is started, the clock runs
//! until it has them all. Every source and replica is fully durable; each kind at its best number of workers.

use std::time::{Duration, Instant};

use interop::{Client, Kind, Peer, Result, Server, Sysbench, gtid_executed};

use super::report::cpu_time;
use super::works::Work;
use super::{BenchArguments, fill, load, our_options};

const UPDATES: u32 = 300_000;
const PATIENCE: Duration = Duration::from_secs(600);
/// Numbers of workers tried for each peer.
const WORKERS: [u32; 3] = [2, 8, 32];

pub(crate) fn run(work: &Work, source: Option<Kind>, arguments: &BenchArguments) -> Result<()> {
    let mut best_peer: f64 = 0.0;
    let kinds = arguments.kinds();
    let ways = [(Kind::Maria118, false), (Kind::Maria118, true), (Kind::Mysql97, true)];
    let is_asked = |kind: &Kind| kinds.contains(kind) && source.is_none_or(|source| source == *kind);
    for (kind, with_log) in ways.into_iter().filter(|(kind, _)| is_asked(kind)) {
        for workers in WORKERS {
            let rate = of_peer(kind, workers, with_log)?;
            let log = if with_log { "with its binlog" } else { "without its binlog" };
            println!("    {} {log}, {workers} workers: {rate:.0}/s", kind.name());
            best_peer = best_peer.max(rate);
        }
    }
    let ours = match source {
        None => of_ours(arguments)?,
        Some(kind) => of_ours_behind(kind, arguments)?,
    };
    println!(
        "{} | commuter: {ours:.0}/s | best peer: {best_peer:.0}/s | {:.2} ({})",
        work.name,
        ours / best_peer,
        work.asked
    );
    Ok(())
}

/// Single-row updates by 64 clients.
pub(super) fn updates(port: u16, count: u32) -> Result<()> {
    let run = Sysbench {
        more: vec![format!("--events={count}"), "--rand-type=uniform".to_owned()],
        ..load(port, "oltp_update_index", 64, 0)
    };
    run.run().map(drop)
}

fn of_ours(arguments: &BenchArguments) -> Result<f64> {
    let options = our_options(arguments);
    let source = Server::start("bench-source", options.clone())?;
    let mut follow = options;
    follow.arguments.extend(["--follow".to_owned(), source.url()]);
    let follower = Server::start("bench-follower", follow)?;
    fill(&load(source.port(), "oltp_update_index", 8, 1))?;
    in_step(&source.client(), &follower.client())?;
    follower.client().query("STOP REPLICA")?;
    updates(source.port(), UPDATES)?;
    let start = Instant::now();
    follower.client().query("START REPLICA")?;
    in_step(&source.client(), &follower.client())?;
    Ok(f64::from(UPDATES) / start.elapsed().as_secs_f64())
}

fn in_step(source: &Client, replica: &Client) -> Result<()> {
    let executed = gtid_executed(source)?;
    let seconds = PATIENCE.as_secs();
    match replica.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', {seconds})"))?.trim() {
        "0" => Ok(()),
        other => Err(format!("the replica did not reach {executed}: {other}")),
    }
}

fn of_peer(kind: Kind, workers: u32, with_log: bool) -> Result<f64> {
    let source = Peer::start_large(kind, "bench-source", Duration::ZERO, &[])?;
    let setting = match kind {
        Kind::Mysql97 => format!("--replica-parallel-workers={workers}"),
        Kind::Maria118 => format!("--slave-parallel-threads={workers}"),
    };
    let mut settings = vec![setting.as_str()];
    if !with_log {
        settings.push("--skip-log-bin");
    }
    let replica = Peer::start_large(kind, "bench-replica", Duration::ZERO, &settings)?;
    fill(&load(source.port(), "oltp_update_index", 8, 1))?;
    let (port, client) = (source.port(), replica.client());
    follow(kind, &client, port)?;
    peer_in_step(kind, &source.client(), &client)?;
    client.query(if kind == Kind::Mysql97 { "STOP REPLICA" } else { "STOP SLAVE" })?;
    updates(port, UPDATES)?;
    let start = Instant::now();
    client.query(if kind == Kind::Mysql97 { "START REPLICA" } else { "START SLAVE" })?;
    peer_in_step(kind, &source.client(), &client)?;
    Ok(f64::from(UPDATES) / start.elapsed().as_secs_f64())
}

/// Lets a peer follow a source of its kind.
pub(super) fn follow(kind: Kind, replica: &Client, port: u16) -> Result<()> {
    let sql = match kind {
        Kind::Mysql97 => format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', \
             SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1; START REPLICA"
        ),
        Kind::Maria118 => format!(
            "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', \
             MASTER_USE_GTID=slave_pos, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE"
        ),
    };
    replica.query(&sql).map(drop)
}

/// Our replica of a MySQL or MariaDB, whose log it executes.
fn of_ours_behind(kind: Kind, arguments: &BenchArguments) -> Result<f64> {
    let source = Peer::start_large(kind, "bench-source", Duration::ZERO, &[])?;
    let replica = Server::start("bench-replica", our_options(arguments))?;
    fill(&load(source.port(), "oltp_update_index", 8, 1))?;
    let client = replica.client();
    client.query(&format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', \
         SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1; START REPLICA",
        source.port()
    ))?;
    peer_in_step(kind, &source.client(), &client)?;
    client.query("STOP REPLICA")?;
    updates(source.port(), UPDATES)?;
    let (start, before) = (Instant::now(), cpu_time(replica.pid())?);
    client.query("START REPLICA")?;
    peer_in_step(kind, &source.client(), &client)?;
    let (elapsed, used) = (start.elapsed().as_secs_f64(), cpu_time(replica.pid())? - before);
    println!("    commuter: {:.1} us of CPU for each", used.as_secs_f64() * 1e6 / f64::from(UPDATES));
    Ok(f64::from(UPDATES) / elapsed)
}

fn peer_in_step(kind: Kind, source: &Client, replica: &Client) -> Result<()> {
    if kind == Kind::Mysql97 {
        return in_step(source, replica);
    }
    let position = source.query("SELECT @@global.gtid_binlog_pos")?.trim().to_owned();
    let seconds = PATIENCE.as_secs();
    match replica.query(&format!("SELECT MASTER_GTID_WAIT('{position}', {seconds})"))?.trim() {
        "0" => Ok(()),
        other => Err(format!("the replica did not reach {position}: {other}")),
    }
}
