//! What sessions ask of the server as a whole.

mod channels;
mod logs;
mod settings;
mod status;

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use base::{Cancelled, ConnectionId, SqlError, codes};
use engine::{Engine, RowSource};
use io::BoxFuture;
use repl::{Channels, DumpServer, Follower};
use session::{Registry, Shared};
use sql::Services;
use sql::parse::ast::{ChangeSource, ChannelName, FlushTarget, StartReplica, StopReplica};
use sql::replay::{ChannelRules, ReplicationFilter};
use sql::services::{
    Activity, BinaryLogFile, BinaryLogStatus, BinlogEventRow, BinlogEventsQuery, ChannelWork, FilterRule, Process,
    PurgeBinaryLogs, ReplicaHost, ReplicaStatusRow,
};
use sql::settings::{Change, Globals, RoleChange, ServerState, SettingId, SettingValue};
use wire::auth;

use crate::core::End;
use crate::{prepared, replication};

pub(crate) use logs::purge_automatically;
pub(crate) use settings::{apply_at_start, commit_settings, start_semi_sync, tell_memory};

/// The server's side of [`Services`].
pub(crate) struct ServerServices {
    parts: Parts,
    /// Set once everything is wired; weak, because it holds this.
    shared: OnceLock<Weak<Shared>>,
    this: Weak<Self>,
}

/// What it speaks for.
pub(crate) struct Parts {
    pub(crate) engine: Arc<Engine>,
    pub(crate) globals: Arc<Globals>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) follower: Arc<Follower>,
    pub(crate) channels: Arc<Channels>,
    pub(crate) dump: Arc<DumpServer>,
    pub(crate) end: Arc<End>,
    /// Held by who makes the server a follower or a source, or removes its log.
    pub(crate) role: tokio::sync::Mutex<()>,
}

impl ServerServices {
    fn change_filter_of_all(&self, id: SettingId, text: &str) -> Result<(), SqlError> {
        self.channels().check_filter()?;
        ReplicationFilter::check(id, text)?;
        if self.parts.engine.is_follower() && !text.is_empty() {
            return Err(replication::no_filters_of_a_copy());
        }
        self.channels().filter_changed(id);
        Ok(())
    }

    async fn change_role(&self, change: RoleChange) -> Result<(), SqlError> {
        let Parts { engine, globals, role, .. } = &self.parts;
        match change {
            RoleChange::gtid_slave_pos(position) => {
                self.channels().check_stopped()?;
                let _role = role.lock().await;
                replication::set_gtid_slave_pos(engine, globals, &position).await
            }
            RoleChange::gtid_purged(set) => {
                let _role = role.lock().await;
                replication::set_gtid_purged(engine, globals, &set).await
            }
            RoleChange::sql_replica_skip_counter(count) if engine.is_follower() && count > 0 => {
                Err(replication::nothing_is_skipped_in_a_copy())
            }
            RoleChange::sql_replica_skip_counter(_) => self.channels().check_one_stopped(),
            RoleChange::read_only(true) | RoleChange::super_read_only(true) => Ok(()),
            RoleChange::read_only(false) | RoleChange::super_read_only(false) => self.make_writable().await,
        }
    }

    /// A follower becomes a source.
    async fn make_writable(&self) -> Result<(), SqlError> {
        let Parts { engine, globals, role, .. } = &self.parts;
        if !engine.is_follower() {
            return Ok(());
        }
        let _role = role.lock().await;
        // It was at its recovery.
        if !engine.is_follower() {
            return Ok(());
        }
        replication::become_source(engine, self.follower(), globals).await?;
        match self.shared() {
            Some(shared) => prepared::adopt(&shared.sql).await,
            None => Ok(()),
        }
    }

    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        Arc::new_cyclic(|this| ServerServices { parts, shared: OnceLock::new(), this: this.clone() })
    }

    pub(crate) fn follower(&self) -> &Arc<Follower> {
        &self.parts.follower
    }

    pub(crate) fn channels(&self) -> &Channels {
        &self.parts.channels
    }

    pub(crate) fn dump(&self) -> &Arc<DumpServer> {
        &self.parts.dump
    }

    /// Whether a copy is received, or a channel runs.
    fn replicates(&self) -> bool {
        let Parts { follower, channels, .. } = &self.parts;
        follower.is_running() || channels.all().iter().any(|channel| channel.is_running())
    }

    /// Until it is dropped, nobody makes the server a follower or a source, or removes its log.
    pub(crate) async fn keep_role(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.parts.role.lock().await
    }

    pub(crate) fn set_shared(&self, shared: &Arc<Shared>) {
        let _ = self.shared.set(Arc::downgrade(shared));
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        self.shared.get()?.upgrade()
    }
}

/// The highest number that RESET BINARY LOGS AND GTIDS TO takes, as in MySQL.
const LOG_FILE_NUMBER_MAX: u64 = 2_000_000_000;

impl Services for ServerServices {
    fn processlist(&self) -> Vec<Process> {
        let shown = self.parts.registry.show();
        let line = |shown: session::registry::Shown| Process {
            id: shown.id,
            user: shown.user,
            account: shown.account,
            host: shown.host,
            database: shown.database,
            command: shown.command.to_owned(),
            time_seconds: shown.time.as_secs(),
            state: shown.state,
            info: shown.info,
            transaction: shown.transaction,
            row_wait: shown.row_wait,
        };
        shown.into_iter().map(line).collect()
    }

    fn connect_attributes(&self) -> Vec<(ConnectionId, Vec<(String, String)>)> {
        self.parts.registry.attributes()
    }

    fn kill(&self, id: ConnectionId, what: Cancelled) -> Result<(), SqlError> {
        self.parts.registry.kill(id, what)
    }

    /// The connection reports by itself.
    fn report(&self, _: ConnectionId, _: Activity<'_>) {}

    fn status(&self) -> Vec<(String, String)> {
        status::lines(&self.parts, self.shared().as_deref())
    }

    fn apply_setting(&self, id: SettingId, change: Change) -> BoxFuture<'_, Result<(), SqlError>> {
        let engine = &self.parts.engine;
        match change {
            Change::commit(change) => settings::tell_commits(engine, change),
            Change::engine(change) => settings::tell_engine(engine, change),
            Change::filters(change) => {
                return Box::pin(std::future::ready(self.change_filter_of_all(id, change.text())));
            }
            Change::follower(change) => replication::tell(self.follower(), change),
            Change::memory(change) => settings::tell_memory(self.parts.registry.memory(), change),
            Change::role(change) => return Box::pin(self.change_role(change)),
            Change::semi_sync(change) => settings::tell_semi_sync(engine.semi_sync(), change),
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn server_state(&self, state: ServerState) -> SettingValue {
        let engine = &self.parts.engine;
        let start = &self.parts.globals.now().start;
        match state {
            ServerState::GtidExecuted => SettingValue::text(engine.gtid_executed().to_string()),
            ServerState::GtidOwned => settings::owned(engine),
            ServerState::GtidSlavePos => settings::maria_position(engine),
            ServerState::GtidPurged => SettingValue::text(engine.log().gtid_purged().to_string()),
            ServerState::ReportHost if start.report_host.is_empty() => SettingValue::Null,
            ServerState::ReportHost => SettingValue::Text(start.report_host.clone()),
            ServerState::ReportPort if start.report_port == 0 => SettingValue::UInt(start.port.into()),
            ServerState::ReportPort => SettingValue::UInt(start.report_port.into()),
        }
    }

    fn password_hash(&self, plugin: &str, password: &str) -> Result<String, SqlError> {
        match plugin {
            auth::NATIVE => Ok(auth::native_hash(password.as_bytes())),
            auth::CACHING_SHA2 => {
                let mut salt = [0; auth::SALT_BYTES];
                self.parts.engine.env().random.fill(&mut salt);
                Ok(auth::sha2_hash(password.as_bytes(), &auth::nonce_from(salt)))
            }
            other => Err(SqlError::new(codes::PLUGIN_IS_NOT_LOADED, format!("Plugin '{other}' is not loaded"))),
        }
    }

    fn valid_password_hash(&self, plugin: &str, hash: &str) -> bool {
        auth::is_valid_hash(plugin, hash) || plugin == sql::account::SOCKET_PLUGIN
    }

    fn is_password(&self, plugin: &str, hash: &str, password: &str) -> bool {
        match plugin {
            auth::NATIVE => auth::native_hash(password.as_bytes()).eq_ignore_ascii_case(hash),
            auth::CACHING_SHA2 => auth::sha2_verify(hash, password.as_bytes()),
            _ => false,
        }
    }

    fn binary_logs(&self) -> Vec<BinaryLogFile> {
        logs::files(self.parts.engine.log())
    }

    fn binary_log_status(&self) -> BinaryLogStatus {
        logs::status(&self.parts.engine)
    }

    fn binlog_events(&self, query: BinlogEventsQuery) -> BoxFuture<'_, Result<Vec<BinlogEventRow>, SqlError>> {
        Box::pin(logs::events(self.parts.engine.log(), query))
    }

    fn purge_binary_logs(&self, to: PurgeBinaryLogs) -> BoxFuture<'_, Result<Option<String>, SqlError>> {
        Box::pin(logs::purge(&self.parts.engine, to))
    }

    fn reset_binary_logs(&self, to: Option<u64>) -> BoxFuture<'_, Result<(), SqlError>> {
        let first = to.unwrap_or(1);
        Box::pin(async move {
            if !(1..=LOG_FILE_NUMBER_MAX).contains(&first) {
                let message = format!(
                    "The requested value '{first}' for the next binary log index is out of range. Please use a value \
                     between '1' and '{LOG_FILE_NUMBER_MAX}'."
                );
                return Err(SqlError::new(codes::WRONG_ARGUMENTS, message));
            }
            let _role = self.parts.role.lock().await;
            replication::reset_log(&self.parts.engine, self.follower(), &self.parts.globals, first).await
        })
    }

    fn flush(&self, target: FlushTarget) -> BoxFuture<'_, Result<(), SqlError>> {
        match target {
            FlushTarget::Nothing(_) | FlushTarget::Status | FlushTarget::Tables(_) => {
                Box::pin(std::future::ready(Ok(())))
            }
            FlushTarget::ErrorLogs => {
                crate::logging::reopen();
                Box::pin(std::future::ready(Ok(())))
            }
            // A copy of a source's log goes on in a new file where the source's does, and when the server becomes a source itself. There is
            // no relay log beside it.
            FlushTarget::RelayLogs => Box::pin(std::future::ready(Ok(()))),
            FlushTarget::Logs | FlushTarget::BinaryLogs if self.parts.engine.is_follower() => {
                reopen_log_for(&target);
                Box::pin(std::future::ready(Ok(())))
            }
            FlushTarget::Logs | FlushTarget::BinaryLogs => {
                reopen_log_for(&target);
                Box::pin(async { Ok(self.parts.engine.rotate_log().await?) })
            }
            // The session holds the locks.
            FlushTarget::TablesWithReadLock(_) => Box::pin(std::future::ready(Ok(()))),
        }
    }

    fn replicas(&self) -> Vec<ReplicaHost> {
        self.dump().replicas()
    }

    fn change_source(&self, change: ChangeSource) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async move { self.change(&change).await })
    }

    fn change_channel_filter(&self, channel: String, rules: ChannelRules) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(self.change_filter(channel, rules))
    }

    fn start_replica(&self, start: StartReplica, holds_commits: bool) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async move { self.start(&start, holds_commits).await })
    }

    fn stop_replica(&self, stop: StopReplica) -> BoxFuture<'_, Result<usize, SqlError>> {
        Box::pin(async move { self.stop(&stop).await })
    }

    fn reset_replica(&self, all: bool, channel: ChannelName) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async move { self.reset(all, &channel).await })
    }

    fn replica_status(&self, channel: &ChannelName) -> Result<Vec<ReplicaStatusRow>, SqlError> {
        self.channel_status(channel)
    }

    fn replica_work(&self) -> Vec<ChannelWork> {
        self.channel_work()
    }

    fn replica_filters(&self) -> Vec<FilterRule> {
        self.channels().filters()
    }

    fn wait_for_gtids(&self, set: &str, timeout: Option<Duration>) -> BoxFuture<'_, Result<bool, SqlError>> {
        let set = set.to_owned();
        Box::pin(async move { logs::wait_for_gtids(&self.parts.engine, &set, timeout).await })
    }

    fn wait_for_position(&self, position: &str, timeout: Option<Duration>) -> BoxFuture<'_, Result<bool, SqlError>> {
        let position = position.to_owned();
        Box::pin(async move { logs::wait_for_position(&self.parts.engine, &position, timeout).await })
    }

    fn binlog_gtid_pos(&self, file: &str, position: u64) -> BoxFuture<'_, Result<Option<String>, SqlError>> {
        let file = file.to_owned();
        Box::pin(async move { logs::maria_position(self.parts.engine.log(), &file, position).await })
    }

    fn row_source(&self, from: Option<&str>) -> Result<Arc<dyn RowSource>, SqlError> {
        replication::row_source(&self.parts.engine, self.follower(), from)
    }

    fn shutdown(&self) {
        self.parts.end.ask();
    }

    fn checkpoint(&self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async {
            self.parts.engine.checkpoint().await?;
            Ok(())
        })
    }
}

/// FLUSH LOGS is for the server's own log too.
fn reopen_log_for(target: &FlushTarget) {
    if *target == FlushTarget::Logs {
        crate::logging::reopen();
    }
}
