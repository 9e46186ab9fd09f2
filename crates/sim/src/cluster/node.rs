//! A whole server on a simulated machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::codes;
use engine::{Engine, EngineOptions, SessionHandle};
use futures_lite::future;
use io::Env;
use io::sim::{Faults, SimMachine, SimWorld};
use parking_lot::Mutex;
use server::url::ServerUrl;
use server::{Core, ServeOptions};
use session::Peer;
use session::transport::StreamTransport;
use sql::result::Collected;
use sql::session::Session;

use super::{ClusterScenario, Executing};

/// Of the servers, by number.
pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];
/// Every server's.
const PORT: u16 = 3306;
/// Between two comparisons of a follower with its source, if it compares itself.
const COMPARE_INTERVAL: Duration = Duration::from_millis(20);
const ORDERED: &str = "replica_preserve_commit_order=ON";
/// How often a server looks whether it is to stop.
const STOP_STEP: Duration = Duration::from_millis(1);

/// A machine with a server, or with what one left.
pub(crate) struct Node {
    pub(super) name: &'static str,
    pub(super) machine: SimMachine,
    /// Number of the node that it follows.
    pub(super) source: Option<usize>,
    sync_error: f64,
    /// Sizes that decide how often checkpoints and new files come.
    memtable_bytes: usize,
    transaction_memory_bytes: usize,
    file_bytes: u64,
    /// Whether it compares itself with its source, as a follower.
    compares: bool,
    /// How often it has, in the lives before this one.
    comparisons_before: u64,
    /// It executes its source's log, with these settings; it does not copy it.
    executes: Option<Vec<String>>,
    /// Why it failed, if that was its end.
    failure: Option<String>,
    /// The next start makes the data file anew from the log.
    rebuilds: bool,
    /// There was nothing wrong on its disk when it was started.
    started_whole: bool,
    process: Option<Arc<Process>>,
}

/// One life of a server, as seen from outside.
#[derive(Default)]
struct Process {
    shared: Mutex<Option<Arc<session::Shared>>>,
    is_to_stop: AtomicBool,
    ended: Mutex<Option<Result<(), String>>>,
}

/// Where a server listens.
pub(super) fn address(name: &str) -> String {
    format!("{name}:{PORT}")
}

/// Any number of transactions in the middle, of little memory.
fn settings_of(world: &SimWorld, how: Executing) -> Vec<String> {
    let mode = how.modes[world.below(how.modes.len() as u64) as usize];
    vec![
        format!("replica_parallel_mode={mode}"),
        (if how.is_ordered { ORDERED } else { "replica_preserve_commit_order=OFF" }).to_owned(),
        format!("replica_parallel_workers={}", 1 << world.below(6)),
        // With little, what a transaction has goes to a temporary file.
        format!("replica_pending_jobs_size_max={}", [1 << 10, 128 << 20][world.below(2) as usize]),
        // Without comparing, an update that comes too early is found by its lock alone.
        format!("replica_row_differences={}", ["ERROR", "IGNORE"][world.below(2) as usize]),
        // Nobody is helped by waiting for long.
        "innodb_lock_wait_timeout=1000000".to_owned(),
    ]
}

impl Node {
    pub(super) fn new(world: &SimWorld, name: &'static str, source: Option<usize>, scenario: &ClusterScenario) -> Self {
        Node {
            name,
            machine: world.machine(),
            source,
            sync_error: scenario.sync_error,
            transaction_memory_bytes: scenario.transaction_memory_bytes,
            memtable_bytes: 8 << 10 << world.below(6),
            file_bytes: 8 << 10 << world.below(5),
            // Its questions and their answers have no checksums.
            compares: world.below(2) == 0 && scenario.garbling == 0.0,
            comparisons_before: 0,
            executes: scenario.executing.filter(|_| source.is_some()).map(|how| settings_of(world, how)),
            failure: None,
            rebuilds: false,
            started_whole: true,
            process: None,
        }
    }

    pub(super) fn executes(&self) -> bool {
        self.executes.is_some()
    }

    /// Whether its commits keep its source's order.
    pub(super) fn keeps_order(&self) -> bool {
        self.executes.iter().flatten().any(|setting| setting == ORDERED)
    }

    pub(super) fn is_up(&self) -> bool {
        self.process.is_some()
    }

    /// Its engine, from the end of its recovery to its shutdown.
    pub(super) fn engine(&self) -> Option<Arc<Engine>> {
        let shared = self.process.as_ref()?.shared.lock();
        shared.as_ref().map(|shared| shared.sql.engine.clone())
    }

    /// A checksum that goes on with its log's files.
    pub(super) fn add_log(&self, sum: u32) -> u32 {
        let names = self.machine.files().into_iter().filter(|name| name.starts_with("binlog."));
        let files = names.filter_map(|name| self.machine.contents(&name));
        let mut hasher = crc32fast::Hasher::new_with_initial(sum);
        files.for_each(|bytes| hasher.update(&bytes));
        hasher.finalize()
    }

    /// What it says about following.
    pub(super) fn replica_status(&self) -> String {
        let shared = self.process.as_ref().and_then(|process| process.shared.lock().clone());
        let Some(shared) = shared else {
            return self.failure.as_ref().map_or("it does not run".to_owned(), |why| format!("it ended: {why}"));
        };
        let rows = shared.sql.services.replica_status(&None).unwrap_or_default();
        let columns = rows.iter().flat_map(|row| &row.0);
        let told =
            columns.filter(|(name, _)| name.contains("Running") || name.starts_with("Last_") || name.contains("State"));
        let mut text: String =
            told.map(|(name, value)| format!("{name}={} ", value.clone().unwrap_or_default())).collect();
        for work in shared.sql.services.replica_work() {
            let busy = work.workers.iter().filter(|worker| worker.applying.is_some());
            text += &format!("queue {:?}, workers {:?} ", work.queue, busy.collect::<Vec<_>>());
        }
        text
    }

    /// How often it has compared itself with its source.
    pub(super) fn comparisons(&self) -> u64 {
        let shared = self.process.as_ref().and_then(|process| process.shared.lock().clone());
        let lines = shared.map(|shared| shared.sql.services.status()).unwrap_or_default();
        let now = lines.iter().find(|(name, _)| name == "Replica_checksum_comparisons");
        self.comparisons_before + now.map_or(0, |(_, count)| count.parse().expect("a number"))
    }

    /// Starts the process. A follower is told whom to follow, or (`says_so` is false) knows it from before.
    pub(super) fn start(&mut self, source: Option<&'static str>, says_so: bool) {
        self.machine.set_faults(Faults { sync_error: self.sync_error, ..Faults::default() });
        let knows = self.machine.files().contains("source.json");
        let executes = self.executes.as_ref().and(source);
        let follow = source.filter(|_| executes.is_none() && (says_so || !knows)).map(|source| ServerUrl {
            host: source.to_owned(),
            port: PORT,
            ..ServerUrl::loopback(PORT)
        });
        let options = ServeOptions {
            datadir: "/simulated".into(),
            port: Some(PORT),
            server_id: Some(u32::from(self.name.as_bytes()[0])),
            set: vec![
                "innodb_buffer_pool_size=5M".into(),
                format!("max_binlog_size={}", self.file_bytes),
                "replica_parallel_workers=2".into(),
                // One that finds a difference never comes to be in step.
                "replica_stop_on_checksum_difference=ON".into(),
            ]
            .into_iter()
            .chain(self.executes.iter().flatten().cloned())
            .collect(),
            follow,
            rebuild: std::mem::take(&mut self.rebuilds),
            initialize_insecure: true,
            ..ServeOptions::default()
        };
        let process = Arc::new(Process::default());
        self.process = Some(process.clone());
        self.started_whole = self.machine.damaged().is_empty();
        let (env, name) = (self.machine.env(), self.name);
        let sizes = (self.memtable_bytes, self.transaction_memory_bytes);
        let interval = if self.compares { COMPARE_INTERVAL } else { Duration::ZERO };
        let task = async move {
            let result = live(&env, &options, name, sizes, (interval, executes), &process).await;
            *process.shared.lock() = None;
            *process.ended.lock() = Some(result);
        };
        self.machine.env().spawner.spawn("server", Box::pin(task));
    }

    /// SIGTERM.
    pub(super) fn ask_to_stop(&self) {
        if let Some(process) = &self.process {
            process.is_to_stop.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn is_asked_to_stop(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.is_to_stop.load(Ordering::Relaxed))
    }

    /// How the process ended, if it did so by itself.
    pub(super) fn has_ended(&self) -> Option<Result<(), String>> {
        self.process.as_ref()?.ended.lock().clone()
    }

    /// Whether it has stopped applying, because a definition needed rows that cannot be read: then it never comes to its source's state.
    pub(super) fn needed_what_is_damaged(&self) -> bool {
        self.replica_status().contains("Last_SQL_Errno=1194")
    }

    /// Whether it does not run because its last process could not go on.
    pub(super) fn has_failed(&self) -> bool {
        !self.is_up() && self.failure.is_some()
    }

    /// It did so although all of its bytes were as they should be when it was started.
    pub(super) fn has_failed_without_damage(&self) -> bool {
        self.has_failed() && self.started_whole
    }

    /// Ends the process: by SIGKILL, or with its machine's power.
    pub(super) fn end(&mut self, only_the_process: bool) {
        self.comparisons_before = self.comparisons();
        self.failure = self.has_ended().and_then(Result::err);
        if only_the_process {
            self.machine.kill()
        } else {
            self.machine.crash()
        }
        self.process = None;
    }

    /// What its administrator does when rows are lost: the next start makes the data file anew, from the log.
    pub(super) fn rebuild(&mut self) {
        self.end(true);
        self.rebuilds = true;
    }

    /// Its disk does not fail any more, and has what it should have, if it `is_mended`.
    pub(super) fn heal(&mut self, is_mended: bool) {
        self.sync_error = 0.0;
        if is_mended {
            self.machine.mend();
        }
        self.machine.set_faults(Faults::default());
    }
}

/// The life of a process: open, recover, serve, shut down.
async fn live(
    env: &Env,
    options: &ServeOptions,
    name: &str,
    (memtable_bytes, transaction_memory_bytes): (usize, usize),
    (compare_interval, executes): (Duration, Option<&'static str>),
    process: &Process,
) -> Result<(), String> {
    let text = |error: server::ServerError| error.to_string();
    let globals = server::settings(options).map_err(text)?;
    let adjust = |engine: &mut EngineOptions| {
        engine.page_cache_bytes = 256 << 10;
        engine.memtable_bytes = memtable_bytes;
        engine.transaction_memory_bytes = transaction_memory_bytes;
        engine.install_memory_bytes = transaction_memory_bytes;
        engine.checkpoint_log_bytes = 4 * memtable_bytes as u64;
        engine.log.fill_ahead = 16 << 10;
        engine.log.max_unsynced_window = 16 << 20;
        engine.log.max_partial_bytes = transaction_memory_bytes + 2000;
    };
    let core = Core::open_in(env.clone(), globals, options, adjust).await.map_err(text)?;
    core.follower().comparer().set_interval(compare_interval);
    let listener = env.network.listen(&address(name)).await.map_err(|error| error.to_string())?;
    let shared = core.shared().clone();
    *process.shared.lock() = Some(shared.clone());
    core.start_following(options).await.map_err(text)?;
    if let Some(source) = executes {
        let (spawner, env, shared) = (env.spawner.clone(), env.clone(), shared.sql.clone());
        let task = async move {
            // Then there is much to execute at once.
            let mut millis = [0];
            env.random.fill(&mut millis);
            env.clock.sleep(Duration::from_millis(millis[0].into())).await;
            execute_log_of(source, &env, &shared).await;
        };
        spawner.spawn("administrator", Box::pin(task));
    }
    let accept = async {
        while let Ok((stream, _)) = listener.accept().await {
            let peer = Peer { host: "127.0.0.1".into(), port: 1, ..Peer::default() };
            let transport = StreamTransport::new(stream, peer.clone());
            if let Ok(entry) = shared.registry.connect(peer.address(), 1000) {
                env.spawner.spawn("session", Box::pin(session::serve(shared.clone(), entry, Box::new(transport))));
            }
        }
        None
    };
    let stop = async {
        while !process.is_to_stop.load(Ordering::Relaxed) {
            env.clock.sleep(STOP_STEP).await;
        }
        None
    };
    if let Some(failure) = future::or(accept, future::or(stop, core.ended())).await {
        return Err(failure);
    }
    drop(listener);
    core.drain().await;
    *process.shared.lock() = None;
    core.close().await.map_err(text)
}

/// What an administrator says to a server that is to execute another's log, until it does; one that knows it already has begun.
async fn execute_log_of(source: &str, env: &Env, shared: &Arc<sql::session::Shared>) {
    let mut session = Session::applier(shared.clone(), SessionHandle::internal());
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '{source}', SOURCE_PORT = {PORT}, SOURCE_USER = 'root', \
         SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1 FOR CHANNEL 'x'"
    );
    for statement in [change.as_str(), "START REPLICA FOR CHANNEL 'x'"] {
        while let Err(error) = session.query(statement.as_bytes(), &mut Collected::default()).await
            && error.code != codes::REPLICA_CHANNEL_MUST_STOP.0
        {
            env.clock.sleep(Duration::from_millis(10)).await;
        }
    }
}
