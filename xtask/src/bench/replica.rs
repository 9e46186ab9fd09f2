//! Catch-up of one backlog, by mode and number of workers: single-row updates of 64 clients, on logs of our own and of the peers.
//!
//! A replica of each kind is made once, in step with its source; each run begins with a copy of that. What it reaches in [`WINDOW`] counts.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use interop::{Client, Kind, Peer, Result, Server, ServerOptions, gtid_executed};

use super::report::cpu_time;
use super::works::Work;
use super::{BenchArguments, Contender, catch_up, fill, load};

/// A run that takes longer counts as far as it came.
const WINDOW: Duration = Duration::from_secs(20);

/// How a replica is run.
struct Way {
    name: String,
    /// Of the kind of the source; ours if not.
    is_peer: bool,
    /// Settings for a number of workers.
    settings: fn(&str, u32) -> Vec<String>,
    mode: &'static str,
}

/// What every run of a table has in common.
struct Conditions {
    is_durable: bool,
    slow_sync: Duration,
}

/// How far a run came.
struct CaughtUp {
    rate: f64,
    /// Microseconds of the replica's CPU per transaction.
    cpu_us: f64,
}

pub(crate) fn run(_: &Work, arguments: &BenchArguments) -> Result<()> {
    for source in &arguments.sources {
        let kind = [Kind::Mysql97, Kind::Maria118].into_iter().find(|kind| kind.name() == source);
        let source = match kind {
            None => Contender::Ours(Server::start("bench-source", ServerOptions::default())?),
            Some(kind) => Contender::Peer(Peer::start_large(kind, "bench-source", Duration::ZERO, &[])?),
        };
        fill(&load(source.port(), "oltp_update_index", 8, 1))?;
        let mut ours = Replica::ours(&source)?;
        let mut peer = match kind.filter(|_| !arguments.alone) {
            Some(kind) => Some(Replica::peer(kind, &source)?),
            None => None,
        };
        catch_up::updates(source.port(), arguments.updates)?;
        for durability in &arguments.durability {
            for &milliseconds in &arguments.slow_syncs {
                let slow_sync = Duration::from_millis(milliseconds);
                let conditions = Conditions { is_durable: durability == "full", slow_sync };
                table(&source, kind, (&mut ours, peer.as_mut()), &conditions, arguments)?;
            }
        }
    }
    Ok(())
}

fn table(
    source: &Contender,
    kind: Option<Kind>,
    (ours, mut peer): (&mut Replica, Option<&mut Replica>),
    conditions: &Conditions,
    arguments: &BenchArguments,
) -> Result<()> {
    let durability = if conditions.is_durable { "durable" } else { "without syncs" };
    println!(
        "\nlog of {}, {} updates by 64 clients; replicas {durability}, each sync {} ms slower",
        source.name(),
        arguments.updates,
        conditions.slow_sync.as_millis()
    );
    let columns: Vec<String> = arguments.workers.iter().map(u32::to_string).collect();
    println!("| replica, workers | {} | CPU us |", columns.join(" | "));
    println!("|---|{}---:|", "---:|".repeat(columns.len()));
    let (mut best, mut best_peer) = (0.0_f64, 0.0_f64);
    for way in ways(kind) {
        let replica = match (&mut peer, way.is_peer) {
            (_, false) => &mut *ours,
            (Some(peer), true) => &mut **peer,
            (None, true) => continue,
        };
        let runs = arguments.workers.iter().map(|&workers| {
            let settings = (way.settings)(way.mode, workers);
            replica.catch_up(source, conditions, settings, arguments)
        });
        let runs: Vec<CaughtUp> = runs.collect::<Result<_>>()?;
        let highest = runs.iter().map(|run| run.rate).fold(0.0, f64::max);
        let of_kind = if way.is_peer { &mut best_peer } else { &mut best };
        *of_kind = of_kind.max(highest);
        print_way(&way, &runs, highest);
    }
    match best_peer > 0.0 {
        true => println!("best: {best:.0}/s beside {best_peer:.0}/s, {:.2}", best / best_peer),
        false => println!("best: {best:.0}/s"),
    }
    Ok(())
}

/// A line of rates, with the speed-up over the first of them; CPU time is that of the fastest.
fn print_way(way: &Way, runs: &[CaughtUp], highest: f64) {
    let serial = runs.first().map_or(1.0, |run| run.rate);
    let cells: Vec<String> = runs.iter().map(|run| format!("{:.0} ({:.1})", run.rate, run.rate / serial)).collect();
    let fastest = runs.iter().find(|run| run.rate >= highest);
    println!("| {} | {} | {:.0} |", way.name, cells.join(" | "), fastest.map_or(0.0, |run| run.cpu_us));
}

/// The ways to follow a source of a kind.
fn ways(source: Option<Kind>) -> Vec<Way> {
    let ours = |mode| Way { name: format!("commuter {mode}"), is_peer: false, settings: our_settings, mode };
    let peer = |name: &str, settings, mode| Way { name: name.to_owned(), is_peer: true, settings, mode };
    match source {
        None => vec![ours("INSTALL")],
        Some(Kind::Mysql97) => vec![
            ours("WRITESET"),
            ours("LOGICAL_CLOCK"),
            ours("OPTIMISTIC"),
            peer("MySQL 9.7", mysql_settings, ""),
            peer("MySQL 9.7 in any order", mysql_settings, "--replica-preserve-commit-order=OFF"),
            peer("MySQL 9.7 without its binlog", mysql_settings, "--skip-log-bin"),
        ],
        Some(Kind::Maria118) => vec![
            ours("WRITESET"),
            ours("OPTIMISTIC"),
            ours("CONSERVATIVE"),
            ours("MINIMAL"),
            peer("MariaDB 11.8 optimistic", maria_settings, ""),
            peer("MariaDB 11.8 conservative", maria_settings, "--slave-parallel-mode=conservative"),
            peer("MariaDB 11.8 optimistic without its binlog", maria_settings, "--skip-log-bin"),
        ],
    }
}

/// No workers is one transaction after the other; a copy of our own log takes one then.
fn our_settings(mode: &str, workers: u32) -> Vec<String> {
    let mode = if workers == 0 { "NONE" } else { mode };
    vec![format!("replica_parallel_mode={mode}"), format!("replica_parallel_workers={}", workers.max(1))]
}

/// MySQL's zero is deprecated, and is one.
fn mysql_settings(more: &str, workers: u32) -> Vec<String> {
    let more = Some(more.to_owned()).filter(|more| !more.is_empty());
    let own = ["--skip-replica-start".to_owned(), format!("--replica-parallel-workers={}", workers.max(1))];
    own.into_iter().chain(more).collect()
}

/// With a queue that is not what holds it up.
fn maria_settings(more: &str, workers: u32) -> Vec<String> {
    let more = Some(more.to_owned()).filter(|more| !more.is_empty());
    let own = ["--skip-slave-start", "--slave-parallel-max-queued=16777216"].map(str::to_owned);
    own.into_iter().chain([format!("--slave-parallel-threads={workers}")]).chain(more).collect()
}

/// A replica that can be taken back to where it was before the backlog.
struct Replica {
    server: Contender,
    /// A copy of its data folder.
    base: PathBuf,
}

impl Replica {
    fn ours(source: &Contender) -> Result<Replica> {
        let mut options = ServerOptions::default();
        let is_copy = matches!(source, Contender::Ours(_));
        if let Contender::Ours(source) = source {
            options.arguments.extend(["--follow".to_owned(), source.url()]);
        }
        let mut server = Server::start("bench-replica", options)?;
        if !is_copy {
            server.client().query(&format!(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', \
                 SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1; START REPLICA",
                source.port()
            ))?;
        }
        Position::of(source)?.wait(&server.client(), Duration::from_secs(600))?;
        server.client().query("STOP REPLICA")?;
        server.stop()?;
        // From now on it knows whom it follows.
        server.set_options(ServerOptions::default());
        Replica::kept(Contender::Ours(server))
    }

    fn peer(kind: Kind, source: &Contender) -> Result<Replica> {
        let mut peer = Peer::start_large(kind, "bench-replica", Duration::ZERO, &[])?;
        catch_up::follow(kind, &peer.client(), source.port())?;
        Position::of(source)?.wait(&peer.client(), Duration::from_secs(600))?;
        peer.client().query(if kind == Kind::Mysql97 { "STOP REPLICA" } else { "STOP SLAVE" })?;
        peer.stop()?;
        Replica::kept(Contender::Peer(peer))
    }

    fn kept(server: Contender) -> Result<Replica> {
        let folder = server.folder();
        let base = folder.with_extension("base");
        copy(&folder, &base)?;
        Ok(Replica { server, base })
    }

    /// Goes on from where it was before the backlog.
    fn catch_up(
        &mut self,
        source: &Contender,
        conditions: &Conditions,
        settings: Vec<String>,
        arguments: &BenchArguments,
    ) -> Result<CaughtUp> {
        copy(&self.base, &self.server.folder())?;
        match &mut self.server {
            Contender::Ours(server) => {
                let mut options = ServerOptions::with_settings(&arguments.settings);
                options.slow_sync = conditions.slow_sync;
                options.add_settings(["skip_replica_start=ON".to_owned()].iter().chain(&settings));
                options.add_settings(Some("sync_binlog=0").filter(|_| !conditions.is_durable));
                server.set_options(options);
                server.restart()?;
            }
            Contender::Peer(peer) => {
                let loose = ["--sync-binlog=0", "--innodb-flush-log-at-trx-commit=2"].map(str::to_owned);
                let loose = loose.into_iter().filter(|_| !conditions.is_durable);
                peer.set_arguments(conditions.slow_sync, settings.into_iter().chain(loose).collect());
                peer.restart()?;
            }
        }
        let caught_up = self.measure(source, arguments.updates);
        match &mut self.server {
            Contender::Ours(server) => server.kill(),
            Contender::Peer(peer) => peer.kill(),
        }
        caught_up
    }

    fn measure(&self, source: &Contender, updates: u32) -> Result<CaughtUp> {
        let (client, position) = (Client::tcp(self.server.port()), Position::of(source)?);
        let is_maria = matches!(&self.server, Contender::Peer(peer) if peer.kind() == Kind::Maria118);
        let (start, before) = (Instant::now(), cpu_time(self.server.pid())?);
        client.query(if is_maria { "START SLAVE" } else { "START REPLICA" })?;
        let is_there = position.wait(&client, WINDOW)?;
        let (elapsed, used) = (start.elapsed(), cpu_time(self.server.pid())? - before);
        let missing = if is_there { 0 } else { position.missing(&client)? };
        let done = f64::from(updates) - missing as f64;
        Ok(CaughtUp { rate: done / elapsed.as_secs_f64(), cpu_us: used.as_secs_f64() * 1e6 / done.max(1.0) })
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}

fn copy(from: &PathBuf, to: &PathBuf) -> Result<()> {
    let _ = fs::remove_dir_all(to);
    let mut copied = Command::new("cp");
    copied.args(["-a", "--sparse=always"]).arg(from).arg(to);
    // What the system would write of it meanwhile is not the replica's.
    let mut written = Command::new("sync");
    written.arg("-f").arg(to);
    for command in [&mut copied, &mut written] {
        match command.status().map_err(|error| format!("{command:?}: {error}"))?.success() {
            true => {}
            false => return Err(format!("{} cannot be copied", from.display())),
        }
    }
    Ok(())
}

/// How far a source is.
enum Position {
    Gtids(String),
    /// MariaDB's.
    Maria(String),
}

impl Position {
    fn of(source: &Contender) -> Result<Position> {
        let client = Client::tcp(source.port());
        match source {
            Contender::Peer(peer) if peer.kind() == Kind::Maria118 => {
                let position = client.query("SELECT @@global.gtid_binlog_pos")?;
                Ok(Position::Maria(position.trim().to_owned()))
            }
            _ => Ok(Position::Gtids(gtid_executed(&client)?)),
        }
    }

    /// Whether a replica is as far in time.
    fn wait(&self, replica: &Client, time: Duration) -> Result<bool> {
        let seconds = time.as_secs();
        let answer = match self {
            Position::Gtids(set) => replica.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{set}', {seconds})")),
            Position::Maria(position) => replica.query(&format!("SELECT MASTER_GTID_WAIT('{position}', {seconds})")),
        };
        Ok(answer?.trim() == "0")
    }

    /// How many transactions a replica has not.
    fn missing(&self, replica: &Client) -> Result<u64> {
        match self {
            Position::Gtids(set) => {
                let missing = replica.query(&format!("SELECT GTID_SUBTRACT('{set}', @@global.gtid_executed)"))?;
                Ok(count(&missing.replace("\\n", "")))
            }
            Position::Maria(position) => {
                let here = replica.query("SELECT @@global.gtid_slave_pos")?;
                let number = |text: &str| text.trim().rsplit('-').next().and_then(|number| number.parse().ok());
                let (there, here): (Option<u64>, Option<u64>) = (number(position), number(&here));
                Ok(there.unwrap_or_default().saturating_sub(here.unwrap_or_default()))
            }
        }
    }
}

/// Transactions of a set of GTIDs.
fn count(set: &str) -> u64 {
    let ranges = set.split(',').flat_map(|of_server| of_server.trim().split(':').skip(1));
    let lengths = ranges.filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<u64>().ok()? + 1 - first.parse::<u64>().ok()?)
    });
    lengths.sum()
}
