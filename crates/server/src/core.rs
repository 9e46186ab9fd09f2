//! [`Core`]: a database that is open, without listeners.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use apply::ApplyOptions;
use base::ServerId;
use engine::{Engine, EngineOptions};
use event_listener::Event;
use io::Env;
use parking_lot::Mutex;
use repl::{Channels, DumpServer, Follower};
use session::{Registry, Shared};
use sql::exec::{TEMPORARY_DIRECTORY, remove_stale_files};
use sql::settings::{Globals, IoMethod, SettingId};

use crate::config::{ServeOptions, settings};
use crate::datadir::{self, DataDir};
use crate::error::{Context, ServerError};
use crate::replication;
use crate::services::{Parts, ServerServices, apply_at_start, commit_settings, start_semi_sync, tell_memory};
use crate::{first_start, prepared};

/// An open database: data directory, engine, what sessions share.
pub struct Core {
    pub(crate) datadir: DataDir,
    pub(crate) shared: Arc<Shared>,
    pub(crate) services: Arc<ServerServices>,
    pub(crate) end: Arc<End>,
}

/// How long connections may take to end at shutdown: the clients, and after them the replicas' streams.
const DRAIN_TIME: Duration = Duration::from_secs(5);
const DRAIN_STEP: Duration = Duration::from_millis(5);

/// Why and when everything is to end.
#[derive(Default)]
pub(crate) struct End {
    state: Mutex<Option<Result<(), String>>>,
    changed: Event,
}

impl End {
    /// Asks for a clean end.
    pub(crate) fn ask(&self) {
        self.state.lock().get_or_insert(Ok(()));
        self.changed.notify(usize::MAX);
    }

    /// The engine cannot go on.
    pub(crate) fn fail(&self, why: &str) {
        *self.state.lock() = Some(Err(why.to_owned()));
        self.changed.notify(usize::MAX);
    }

    /// The failure, if there is one.
    pub(crate) fn failure(&self) -> Option<String> {
        self.state.lock().as_ref().and_then(|state| state.as_ref().err().cloned())
    }

    /// Ready when an end was asked for.
    pub(crate) async fn asked(&self) {
        loop {
            let listener = self.changed.listen();
            if self.state.lock().is_some() {
                return;
            }
            listener.await;
        }
    }
}

impl Core {
    /// Opens the data directory, and makes it if it is missing. Needs a tokio runtime with time and I/O around it.
    #[io::boxed]
    pub async fn open(options: &ServeOptions) -> Result<Self, ServerError> {
        let core = Core::open_unrecovered(settings(options)?, options).await?;
        core.recover(options).await?;
        Ok(core)
    }

    /// The same with settings that were read before, and without [`Core::recover`].
    pub(crate) async fn open_unrecovered(globals: Arc<Globals>, options: &ServeOptions) -> Result<Self, ServerError> {
        let path = std::path::absolute(&options.datadir).context(|| options.datadir.display().to_string())?;
        datadir::create(&path)?;
        let env = environment(&path, &globals)?;
        Core::open_checkpoint(env, globals, options, |_| {}).await.map_err(|error| error.in_folder(&path))
    }

    /// As [`Core::open`] on a machine that is given, with settings that were read before; `adjust` changes what no setting
    /// does (how far ahead the log is filled). Needs no runtime but the machine's.
    pub async fn open_in(
        env: Env,
        globals: Arc<Globals>,
        options: &ServeOptions,
        adjust: impl FnOnce(&mut EngineOptions),
    ) -> Result<Self, ServerError> {
        let core = Core::open_checkpoint(env, globals, options, adjust).await?;
        core.recover(options).await?;
        Ok(core)
    }

    /// Opens the newest checkpoint. Nobody can commit before [`Core::recover`].
    async fn open_checkpoint(
        env: Env,
        globals: Arc<Globals>,
        options: &ServeOptions,
        adjust: impl FnOnce(&mut EngineOptions),
    ) -> Result<Self, ServerError> {
        let datadir = DataDir::new(Path::new(&*globals.now().start.datadir));
        let end = Arc::new(End::default());
        let follows = replication::follows(&env, options).await?;
        let mut engine_options = EngineOptions { rebuild: options.rebuild, ..engine_options(&globals, follows, &end) };
        adjust(&mut engine_options);
        let engine = Engine::open(env.clone(), engine_options, Arc::new(sql::ddl::Planner)).await?;
        remove_stale_files(&env).await.context(|| format!("temporary files in {TEMPORARY_DIRECTORY}"))?;
        apply_at_start(&engine, &globals);
        configure(&globals, SettingId::server_uuid, &engine.server_uuid().to_string())?;
        let registry = Registry::new(env.clock.clone());
        globals.now().memory.changes().into_iter().for_each(|change| tell_memory(registry.memory(), change));
        let follower = replication::open(&engine, &globals, apply_options(&globals)).await?;
        let channels = Channels::open(follower.clone(), globals.clone()).await;
        let channels = channels.map_err(|error| ServerError::Replication(error.message))?;
        let dump = Arc::new(DumpServer::new(engine.log().clone(), registry.clone(), engine.semi_sync().clone()));
        let parts = Parts {
            engine: engine.clone(),
            globals: globals.clone(),
            registry: registry.clone(),
            end: end.clone(),
            channels,
            follower,
            dump,
            role: tokio::sync::Mutex::default(),
        };
        let services = ServerServices::new(parts);
        let sql = sql::session::Shared {
            engine,
            services: services.clone(),
            globals,
            env,
            counters: Default::default(),
            usage: Arc::default(),
            failed_logins: Arc::default(),
            prepared_count: Default::default(),
            xa: Arc::default(),
            user_locks: Arc::default(),
            active_roles: Arc::default(),
            running_plans: Arc::default(),
        };
        let mut shared = Shared::new(Arc::new(sql), registry);
        shared.dump = Some(services.dump().clone());
        let shared = Arc::new(shared);
        services.set_shared(&shared);
        Ok(Core { datadir, shared, services, end })
    }

    /// Brings it to the end of its log. Then sessions may commit, unless it is a follower. Sessions that are let in before read the
    /// state that recovery has come to.
    pub(crate) async fn recover(&self, options: &ServeOptions) -> Result<(), ServerError> {
        let (engine, globals) = (&self.shared.sql.engine, &self.shared.sql.globals);
        let _role = self.services.keep_role().await;
        let (read_only, super_read_only) = (globals.read_only(), globals.super_read_only());
        configure(globals, SettingId::super_read_only, "ON")?;
        if engine.options().follower {
            apply::recover_copy(engine, apply_options(globals)).await?;
            start_semi_sync(engine, globals);
            return Ok(());
        }
        apply::recover(engine, apply_options(globals)).await?;
        engine.start_commits(commit_settings(globals))?;
        prepared::adopt(&self.shared.sql).await.map_err(|error| ServerError::Replication(error.message))?;
        replication::set_read_only(globals, read_only, super_read_only);
        first_start::make_root(engine, &sql::ddl::Planner, options).await?;
        start_semi_sync(engine, globals);
        Ok(())
    }

    /// Begins to follow, if this server is a follower. Called once somebody can be told how that goes.
    #[io::boxed]
    pub async fn start_following(&self, options: &ServeOptions) -> Result<(), ServerError> {
        let sql = &self.shared.sql;
        if options.follow.is_some() && self.services.channels().has_named() {
            let why = "--follow makes this server a copy of its source's log, and it has replication channels: see SHOW REPLICA \
                       STATUS, and RESET REPLICA ALL FOR CHANNEL";
            return Err(ServerError::Replication(why.to_owned()));
        }
        replication::start(&sql.engine, &sql.globals, (self.services.follower(), &sql.xa), options).await?;
        self.services.follower().start_repairer();
        let started = self.services.start_executing_again().await;
        started.map_err(|error| ServerError::Replication(error.message))
    }

    /// Ready when this server is to end: it was asked to (SHUTDOWN), or cannot go on; why, if it cannot.
    #[io::boxed]
    pub async fn ended(&self) -> Option<String> {
        self.end.asked().await;
        self.end.failure()
    }

    /// What sessions share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The server's side of following.
    pub fn follower(&self) -> &Arc<Follower> {
        self.services.follower()
    }

    /// Ends all connections: clients first, then the replicas' streams, each when it has sent all that the clients were told is
    /// committed. Nobody may be let in any more. What does not end in time is given up.
    #[io::boxed]
    pub async fn drain(&self) {
        let registry = &self.shared.registry;
        registry.kill_clients();
        self.until(|| registry.clients() == 0).await;
        if registry.clients() > 0 {
            tracing::warn!("{} connections did not end in time; their statements are given up", registry.clients());
        }
        if self.end.failure().is_none() {
            self.services.dump().end_when_sent();
            self.until(|| registry.connected() == 0).await;
        }
        if registry.connected() > 0 {
            registry.kill_all();
            self.until(|| registry.connected() == 0).await;
        }
    }

    async fn until(&self, is_done: impl Fn() -> bool) {
        let clock = &self.shared.sql.env.clock;
        let start = clock.monotonic();
        while !is_done() && clock.monotonic() - start < DRAIN_TIME {
            clock.sleep(DRAIN_STEP).await;
        }
    }

    /// Makes a last checkpoint and closes everything. Sessions must have ended.
    #[io::boxed]
    pub async fn close(self) -> Result<(), ServerError> {
        if let Some(why) = self.end.failure() {
            return Err(ServerError::Failed(why));
        }
        self.services.channels().shut_down().await;
        self.services.follower().shut_down().await;
        self.shared.sql.engine.close().await?;
        Ok(())
    }
}

fn environment(path: &Path, globals: &Globals) -> Result<Env, ServerError> {
    let handle = tokio::runtime::Handle::current();
    let offload = match globals.now().start.innodb_io_method {
        IoMethod::Threads => io::os::Offload::Threads(IO_THREADS),
        IoMethod::Uring => io::os::Offload::Uring,
    };
    io::os::environment(path.to_owned(), offload, handle).context(|| path.display().to_string())
}

/// Worker threads for files where io_uring is not used; most of their time is waiting.
const IO_THREADS: usize = 4;

fn apply_options(globals: &Globals) -> ApplyOptions {
    ApplyOptions {
        workers: globals.now().follower.replica_parallel_workers,
        readers: globals.now().start.recovery_read_only,
    }
}

fn engine_options(globals: &Globals, follows: bool, end: &Arc<End>) -> EngineOptions {
    let globals = globals.now();
    let (start, settings) = (&globals.start, &globals.engine);
    let end = end.clone();
    EngineOptions {
        server_id: ServerId(start.server_id),
        // What clients are told may be another: the log says by whose rules it was written.
        server_version: crate::VERSION.to_owned(),
        page_cache_bytes: start.innodb_buffer_pool_size,
        memtable_bytes: settings.memtable_size,
        checkpoint_log_bytes: settings.checkpoint_log_size,
        recovery_target: settings.recovery_target_time,
        max_binlog_bytes: settings.max_binlog_size,
        row_event_max_bytes: start.binlog_row_event_max_size,
        transaction_bytes_max: settings.max_binlog_cache_size,
        transaction_memory_bytes: settings.binlog_cache_size,
        follower: follows,
        sync_method: start.binlog_sync_method,
        on_failure: Some(Arc::new(move |why: &str| {
            tracing::error!("the server has to stop: {why}");
            end.fail(why);
        })),
        ..EngineOptions::default()
    }
}

pub(crate) fn configure(globals: &Globals, id: SettingId, value: &str) -> Result<(), ServerError> {
    globals.configure(id, value).map_err(|error| ServerError::Setting(error.message))
}
