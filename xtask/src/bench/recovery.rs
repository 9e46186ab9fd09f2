//! Recovery: tables are filled and the server is stopped cleanly, which is a checkpoint of everything. Then the same
//! updates on every server, with checkpoints and page flushing put off as far as each lets us, then SIGKILL, then the
//! time until it answers again.

use std::time::Duration;

use interop::{Client, Kind, Peer, Result, Server, ServerOptions, Sysbench};

use super::works::Work;
use super::{BenchArguments, fill, load};

/// Together as much memory as the peers' buffer pool has.
const MEMORY: [&str; 2] = ["innodb_buffer_pool_size=1G", "memtable_size=1G"];
/// Rows of each of the tables, so that the updates spread.
const ROWS: u32 = 250_000;

pub(crate) fn run(work: &Work, updates: u32, arguments: &BenchArguments) -> Result<()> {
    let mut best_peer = None;
    for kind in arguments.kinds() {
        let took = of_peer(kind, updates)?;
        println!("    {}: {took:.2} s", kind.name());
        best_peer = Some(best_peer.map_or(took, |best: f64| best.min(took)));
    }
    let (ours, log_bytes) = of_ours(arguments, updates)?;
    let megabytes = log_bytes as f64 / 1e6;
    print!(
        "{} | commuter ({}; peers: 2 GB): {ours:.2} s for {megabytes:.0} MB of log",
        work.name,
        settings(arguments).join(", ")
    );
    match best_peer {
        Some(best) => println!(" | best peer: {best:.2} s | {:.2} ({})", best / ours, work.asked),
        None => println!(),
    }
    Ok(())
}

fn sysbench(client: &Client, threads: u32, more: &[String]) -> Sysbench {
    Sysbench {
        table_size: ROWS,
        more: [&["--rand-type=uniform".to_owned()], more].concat(),
        ..load(client.port(), "oltp_update_non_index", threads, 0)
    }
}

fn update(client: &Client, updates: u32) -> Result<()> {
    sysbench(client, 64, &[format!("--events={updates}")]).run().map(drop)
}

/// What is asked for comes later, and counts.
fn settings(arguments: &BenchArguments) -> Vec<&str> {
    MEMORY.into_iter().chain(arguments.settings.iter().map(String::as_str)).collect()
}

fn of_ours(arguments: &BenchArguments, updates: u32) -> Result<(f64, u64)> {
    let normal = ServerOptions::with_settings(settings(arguments));
    let mut options = normal.clone();
    // Nothing is merged during the load, so that all of it is left to recovery.
    options.add_settings(["checkpoint_log_size=16G", "recovery_target_time=0", "memtable_size=8G"]);
    let mut server = Server::start("bench-recovery", options)?;
    fill(&sysbench(&server.client(), 8, &[]))?;
    server.stop()?;
    server.restart()?;
    let before = log_size(&server.client())?;
    update(&server.client(), updates)?;
    let log_bytes = log_size(&server.client())? - before;
    server.kill();
    server.set_options(normal);
    Ok((server.restart()?.as_secs_f64(), log_bytes))
}

fn log_size(client: &Client) -> Result<u64> {
    let size = |line: &str| line.split('\t').nth(1).and_then(|size| size.parse::<u64>().ok()).unwrap_or_default();
    Ok(client.query("SHOW BINARY LOGS")?.lines().map(size).sum())
}

fn of_peer(kind: Kind, updates: u32) -> Result<f64> {
    let settings: &[&str] = match kind {
        Kind::Mysql97 => &[
            "--innodb-redo-log-capacity=8G",
            "--innodb-max-dirty-pages-pct=99",
            "--innodb-max-dirty-pages-pct-lwm=0",
            "--innodb-adaptive-flushing=OFF",
            "--innodb-io-capacity=100",
        ],
        Kind::Maria118 => &[
            "--innodb-log-file-size=8G",
            "--innodb-max-dirty-pages-pct=99",
            "--innodb-max-dirty-pages-pct-lwm=0",
            "--innodb-adaptive-flushing=OFF",
            "--innodb-io-capacity=100",
        ],
    };
    let mut peer = Peer::start_large(kind, "bench-recovery", Duration::ZERO, settings)?;
    fill(&sysbench(&peer.client(), 8, &[]))?;
    peer.stop()?;
    peer.restart()?;
    update(&peer.client(), updates)?;
    peer.kill();
    Ok(peer.restart()?.as_secs_f64())
}
