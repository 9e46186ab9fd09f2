//! `cargo xtask bench`: our server beside real MySQL and MariaDB, all fully durable.
//!
//! All servers run at once and take turns, round after round, so that a drift of the machine meets all alike; before each
//! turn all have come to rest. A result is the median of the rounds; what counts is the ratio to the better peer, and its rounds are printed too.

mod bulk;
mod catch_up;
mod checksum;
mod crowd;
mod dictionary;
mod idle;
mod large;
mod recovery;
mod replica;
mod report;
mod rows;
mod scans;
mod statements;
mod steady;
mod tpcds;
mod tpch;
mod unread;
mod view;
mod waiters;
mod works;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use interop::{Kind, Peer, Result, Server, ServerOptions, Sysbench};

use report::{Measured, print_configuration, print_row};
use works::{Action, WORKS, Work};

/// What to measure.
#[derive(Args)]
pub(crate) struct BenchArguments {
    /// Works by name; all if none is given. `list` shows them.
    works: Vec<String>,
    /// Length of each run, in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// Rounds; each server runs once in each.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Only our server.
    #[arg(long)]
    alone: bool,
    /// The servers to compare with: `mysql97`, `maria118`.
    #[arg(long, value_delimiter = ',', default_values = ["mysql97", "maria118"], value_parser = ["mysql97", "maria118"])]
    peers: Vec<String>,
    /// Another build of our server, to be compared with as a peer is.
    #[arg(long, value_name = "PROGRAM")]
    beside: Option<PathBuf>,
    /// More settings of our server, as `sync_method=O_DSYNC`.
    #[arg(long = "set")]
    settings: Vec<String>,
    /// Of `replica`: whose logs.
    #[arg(long, value_delimiter = ',', default_values = ["commuter", "mysql97", "maria118"],
          value_parser = ["commuter", "mysql97", "maria118"])]
    sources: Vec<String>,
    /// Of `replica`: numbers of workers; 0 is one transaction after the other.
    #[arg(long, value_delimiter = ',', default_values_t = [0, 2, 4, 8, 16, 32, 64, 128, 256])]
    workers: Vec<u32>,
    /// Of `replica`: durability of the replicas.
    #[arg(long, value_delimiter = ',', default_values = ["full", "none"], value_parser = ["full", "none"])]
    durability: Vec<String>,
    /// Of `replica`: milliseconds that each sync of the replicas is slower.
    #[arg(long, value_delimiter = ',', default_values_t = [0, 1])]
    slow_syncs: Vec<u64>,
    /// Of `tpch` and `tpcds`: how much data; 1 is a gigabyte of text.
    #[arg(long, default_value_t = 0.05)]
    scale: f64,
    /// Of `tpch` and `tpcds`: only these queries, by number.
    #[arg(long, value_delimiter = ',')]
    queries: Vec<usize>,
    /// Of `scans`, `bulk` and `dictionary`: only these, by name.
    #[arg(long, value_delimiter = ',')]
    statements: Vec<String>,
    /// Of `tpch`, `tpcds`, `scans` and `dictionary`: our plans are printed too.
    #[arg(long)]
    explain: bool,
    /// Of `replica`: transactions of the backlog.
    #[arg(long, default_value_t = 200_000)]
    updates: u32,
}

impl BenchArguments {
    /// Whom to compare with.
    fn kinds(&self) -> Vec<Kind> {
        let is_asked = |kind: &Kind| !self.alone && self.peers.iter().any(|name| name == kind.name());
        [Kind::Mysql97, Kind::Maria118].into_iter().filter(is_asked).collect()
    }
}

/// One of the servers of a comparison.
enum Contender {
    Ours(Server),
    Peer(Peer),
}

impl Contender {
    fn name(&self) -> &'static str {
        match self {
            Contender::Ours(server) if server.is_of_another_build() => "other build",
            Contender::Ours(_) => "commuter",
            Contender::Peer(peer) => peer.kind().name(),
        }
    }

    fn port(&self) -> u16 {
        match self {
            Contender::Ours(server) => server.port(),
            Contender::Peer(peer) => peer.port(),
        }
    }

    /// Where its data is.
    fn folder(&self) -> PathBuf {
        match self {
            Contender::Ours(server) => server.folder().to_path_buf(),
            Contender::Peer(peer) => peer.folder(),
        }
    }

    fn pid(&self) -> u32 {
        match self {
            Contender::Ours(server) => server.pid(),
            Contender::Peer(peer) => peer.pid(),
        }
    }
}

pub(crate) fn run(arguments: &BenchArguments) -> Result<()> {
    if arguments.works.iter().any(|name| name == "list") {
        WORKS.iter().for_each(|work| println!("{:20} {}", work.name, work.what));
        return Ok(());
    }
    let is_named = |work: &Work| arguments.works.iter().any(|name| name == work.name);
    // What takes very long is to be asked for.
    let is_usual = |work: &Work| arguments.works.is_empty() && !work.action.is_long();
    let chosen = |work: &&Work| is_named(work) || is_usual(work);
    let works: Vec<&Work> = WORKS.iter().filter(chosen).collect();
    if works.is_empty() {
        return Err("no work of that name; see `cargo xtask bench list`".to_owned());
    }
    interop::install_everything()?;
    print_configuration(arguments.seconds, arguments.rounds, &arguments.settings);
    let mut slow_syncs: Vec<Duration> = works.iter().map(|work| work.slow_sync).collect();
    slow_syncs.dedup();
    for slow_sync in slow_syncs {
        let is_load = |work: &&&Work| matches!(work.action, Action::Sysbench { .. }) && work.slow_sync == slow_sync;
        let loads: Vec<_> = works.iter().filter(is_load).collect();
        if loads.is_empty() {
            continue;
        }
        let contenders = start(arguments, slow_sync)?;
        for work in loads {
            compare(work, arguments, &contenders)?;
        }
    }
    for work in works {
        match work.action {
            Action::Sysbench { .. } => {}
            Action::CatchUp(source) => catch_up::run(work, source, arguments)?,
            Action::Replica => replica::run(work, arguments)?,
            Action::Recovery(updates) => recovery::run(work, updates, arguments)?,
            Action::Idle { connections, tls } => idle::run(work, connections, tls)?,
            Action::Crowd { connections, committing, refused } => {
                crowd::run(work, arguments, connections, committing, refused)?;
            }
            Action::Waiters { few, many } => waiters::run(work, arguments, few, many)?,
            Action::Unread { readers } => unread::run(work, readers, arguments)?,
            Action::Steady(size) => steady::run(work, &size, arguments)?,
            Action::Large { gigabytes } => large::run(work, gigabytes, arguments)?,
            Action::Checksum { gigabytes } => checksum::run(work, gigabytes, arguments)?,
            Action::Scans => scans::run(work, arguments)?,
            Action::Bulk => bulk::run(work, arguments)?,
            Action::Dictionary => dictionary::run(work, arguments)?,
            Action::Tpch => tpch::run(work, arguments)?,
            Action::Tpcds => tpcds::run(work, arguments)?,
            Action::View { seconds } => view::run(work, seconds, arguments)?,
        }
    }
    Ok(())
}

/// How our server is started: with the settings of the command line.
fn our_options(arguments: &BenchArguments) -> ServerOptions {
    ServerOptions::with_settings(&arguments.settings)
}

fn start(arguments: &BenchArguments, slow_sync: Duration) -> Result<Vec<Contender>> {
    let options = ServerOptions { slow_sync, ..our_options(arguments) };
    let mut contenders = vec![Contender::Ours(Server::start("bench", options)?)];
    if let Some(binary) = &arguments.beside {
        let options = ServerOptions { slow_sync, binary: Some(binary.clone()), ..our_options(arguments) };
        contenders.push(Contender::Ours(Server::start("bench-other", options)?));
    }
    for kind in arguments.kinds() {
        contenders.push(Contender::Peer(Peer::start_large(kind, "bench", slow_sync, &[])?));
    }
    for contender in &contenders {
        fill(&load(contender.port(), "oltp_update_index", 8, 1))?;
    }
    Ok(contenders)
}

fn load(port: u16, script: &str, threads: u32, seconds: u32) -> Sysbench {
    Sysbench {
        script: script.to_owned(),
        port,
        threads,
        seconds,
        tables: works::TABLES,
        table_size: works::TABLE_SIZE,
        more: vec!["--rand-type=uniform".to_owned()],
    }
}

/// Makes the tables of a load.
fn fill(load: &Sysbench) -> Result<()> {
    interop::Client::tcp(load.port).query("CREATE DATABASE IF NOT EXISTS sbtest")?;
    load.prepare()
}

/// Waits until no server does much any more: what one flushes, purges or merges after its run is not the next one's.
fn settle(contenders: &[Contender]) -> Result<()> {
    const SAMPLE: Duration = Duration::from_millis(500);
    const IDLE_SHARE: f64 = 0.04;
    const PATIENCE: Duration = Duration::from_secs(60);
    let used = || contenders.iter().map(|contender| report::cpu_time(contender.pid())).sum::<Result<Duration>>();
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let before = used()?;
        std::thread::sleep(SAMPLE);
        if (used()? - before).as_secs_f64() < SAMPLE.as_secs_f64() * IDLE_SHARE {
            return Ok(());
        }
    }
    Ok(())
}

fn compare(work: &Work, arguments: &BenchArguments, contenders: &[Contender]) -> Result<()> {
    let Action::Sysbench { script, threads, options } = work.action else { return Ok(()) };
    let script = works::script_path(script);
    let mut measured: Vec<Vec<Measured>> = contenders.iter().map(|_| Vec::new()).collect();
    for _ in 0..arguments.rounds {
        for (contender, results) in contenders.iter().zip(&mut measured) {
            settle(contenders)?;
            let before = report::cpu_time(contender.pid())?;
            let mut load = load(contender.port(), &script, threads, arguments.seconds);
            load.more.extend(options.iter().map(|option| (*option).to_owned()));
            let result = load.run()?;
            let cpu = report::cpu_time(contender.pid())? - before;
            if result.errors > 0 {
                println!("{}: {} errors", contender.name(), result.errors);
            }
            results.push(Measured::new(&result, cpu, arguments.seconds));
        }
    }
    let names: Vec<&str> = contenders.iter().map(Contender::name).collect();
    print_row(work, &names, &measured);
    Ok(())
}
