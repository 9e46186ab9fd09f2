//! The live line and the summary: counters of both servers, read over the protocol like anybody would.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use super::load::Outcome;
use crate::client::{Client, ServerUrl};

/// Longest wait for the counters.
const PATIENCE: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_millis(500);

type Counters = BTreeMap<String, u64>;

/// Watches source and follower.
pub(crate) struct Progress {
    source: Watched,
    follower: Watched,
    is_terminal: bool,
    start: Instant,
    /// Counters of lives of the source that were ended by a kill.
    before: Counters,
    last: Counters,
    last_at: Instant,
    /// What the follower has applied, and the most that it did in a second.
    applied: u64,
    apply_rate_max: f64,
}

struct Watched {
    port: u16,
    client: Option<Client>,
}

impl Watched {
    /// All numeric counters; none while the server is away.
    fn counters(&mut self) -> Option<Counters> {
        if self.client.is_none() {
            self.client = Client::connect(&ServerUrl::loopback(self.port), Some(PATIENCE)).ok();
        }
        let result = self.client.as_mut()?.query("SHOW GLOBAL STATUS");
        if result.is_err() {
            self.client = None;
        }
        let rows = result.ok()?;
        let pair = |row: usize| Some((rows.text(row, 0), rows.text(row, 1).parse().ok()?));
        Some((0..rows.rows.len()).filter_map(pair).collect())
    }
}

fn value(counters: &Counters, name: &str) -> u64 {
    counters.get(name).copied().unwrap_or_default()
}

impl Progress {
    pub(crate) fn new(source: u16, follower: u16, is_terminal: bool) -> Progress {
        Progress {
            source: Watched { port: source, client: None },
            follower: Watched { port: follower, client: None },
            is_terminal,
            start: Instant::now(),
            before: Counters::new(),
            last: Counters::new(),
            last_at: Instant::now(),
            applied: 0,
            apply_rate_max: 0.0,
        }
    }

    /// Shows the line until a point in time.
    pub(crate) fn watch(&mut self, until: Instant) {
        while Instant::now() < until {
            std::thread::sleep(INTERVAL.min(until.saturating_duration_since(Instant::now())));
            self.show();
        }
    }

    /// Reads the counters a last time, without showing them.
    pub(crate) fn sample(&mut self) {
        self.is_terminal = false;
        self.show();
    }

    fn show(&mut self) {
        let (Some(now), Some(follower)) = (self.source.counters(), self.follower.counters()) else { return };
        if value(&now, "Binlog_commits") < value(&self.last, "Binlog_commits") {
            // A new life of the server counts from zero.
            for name in ["Binlog_commits", "Binlog_group_commits", "Binlog_syncs"] {
                *self.before.entry(name.to_owned()).or_default() += value(&self.last, name);
            }
            self.last = Counters::new();
        }
        let seconds = self.last_at.elapsed().as_secs_f64().max(0.001);
        let since = |name| value(&now, name).saturating_sub(value(&self.last, name));
        let commits = since("Binlog_commits");
        let group = commits as f64 / since("Binlog_group_commits").max(1) as f64;
        let applied = value(&follower, "Visible_commit_number");
        self.apply_rate_max = self.apply_rate_max.max(applied.saturating_sub(self.applied) as f64 / seconds);
        self.applied = applied;
        let lag = value(&now, "Visible_commit_number").saturating_sub(applied);
        let line = format!(
            "{:5.1} s  {:7.0} commits/s  group {group:5.1}  sync p50 {:5} us  follower {lag:6} transactions behind",
            self.start.elapsed().as_secs_f64(),
            commits as f64 / seconds,
            value(&now, "Binlog_sync_micros_p50"),
        );
        if self.is_terminal {
            print!("\r{line} ");
            let _ = std::io::stdout().flush();
        }
        (self.last, self.last_at) = (now, Instant::now());
    }

    /// One line that stays.
    pub(crate) fn note(&self, text: &str) {
        let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
        println!("{clear}{:5.1} s  {text}", self.start.elapsed().as_secs_f64());
    }

    /// Ends the line.
    pub(crate) fn end(&mut self) {
        self.show();
        if self.is_terminal {
            println!();
        }
    }

    pub(crate) fn print_summary(&self, outcome: &Outcome, recovery: Duration) {
        let total = |name: &str| value(&self.before, name) + value(&self.last, name);
        let (commits, syncs) = (total("Binlog_commits"), total("Binlog_syncs"));
        println!("summary");
        println!("  transfers acknowledged   {}", outcome.transfers);
        println!("  retried after deadlocks  {}", outcome.retried);
        println!("  connections made again   {}", outcome.reconnects);
        println!("  commits per sync         {:.1}", commits as f64 / syncs.max(1) as f64);
        println!(
            "  sync time p50, p99       {} us, {} us",
            value(&self.last, "Binlog_sync_micros_p50"),
            value(&self.last, "Binlog_sync_micros_p99")
        );
        println!("  recovery after SIGKILL   {:.2} s until it answered", recovery.as_secs_f64());
        println!(
            "  follower applied         {} transactions, at most {:.0} a second",
            self.applied, self.apply_rate_max
        );
    }
}
