//! What sessions ask of the server as a whole.

mod logs;
mod settings;
mod status;

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use base::{Cancelled, ConnectionId, SqlError, codes};
use engine::Engine;
use io::{BoxFuture, Env};
use session::{Registry, Shared};
use sql::Services;
use sql::parse::ast::{ChangeSource, FlushTarget, StartReplica, StopReplica};
use sql::services::{
    Activity, BinaryLogFile, BinaryLogStatus, BinlogEventRow, BinlogEventsQuery, Process, PurgeBinaryLogs, ReplicaHost,
    ReplicaStatusRow,
};
use sql::settings::SettingValue;
use wire::auth;

use crate::core::End;

pub(crate) use logs::purge_automatically;
pub(crate) use settings::commit_settings;

/// The server's side of [`Services`].
pub(crate) struct ServerServices {
    env: Env,
    engine: Arc<Engine>,
    registry: Arc<Registry>,
    end: Arc<End>,
    /// Set once everything is wired; weak, because it holds this.
    shared: OnceLock<Weak<Shared>>,
}

impl ServerServices {
    pub(crate) fn new(env: Env, engine: Arc<Engine>, registry: Arc<Registry>, end: Arc<End>) -> Arc<Self> {
        Arc::new(ServerServices { env, engine, registry, end, shared: OnceLock::new() })
    }

    pub(crate) fn set_shared(&self, shared: &Arc<Shared>) {
        let _ = self.shared.set(Arc::downgrade(shared));
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        self.shared.get()?.upgrade()
    }
}

fn not_yet<T: Send + 'static>(what: &'static str) -> BoxFuture<'static, Result<T, SqlError>> {
    Box::pin(std::future::ready(Err(SqlError::not_supported(what))))
}

impl Services for ServerServices {
    fn processlist(&self) -> Vec<Process> {
        let shown = self.registry.show();
        let line = |shown: session::registry::Shown| Process {
            id: shown.id,
            user: shown.user,
            host: shown.host,
            database: shown.database,
            command: shown.command.to_owned(),
            time_seconds: shown.time.as_secs(),
            state: shown.state,
            info: shown.info,
        };
        shown.into_iter().map(line).collect()
    }

    fn kill(&self, id: ConnectionId, what: Cancelled) -> Result<(), SqlError> {
        self.registry.kill(id, what)
    }

    /// The connection reports by itself.
    fn report(&self, _: ConnectionId, _: Activity<'_>) {}

    fn status(&self) -> Vec<(String, String)> {
        status::lines(&self.engine, self.shared().as_deref())
    }

    fn apply_setting(&self, name: &'static str, value: &SettingValue) -> Result<(), SqlError> {
        settings::apply(&self.engine, name, value);
        Ok(())
    }

    fn computed_setting(&self, name: &'static str) -> Option<SettingValue> {
        settings::computed(&self.engine, name)
    }

    fn password_hash(&self, plugin: &str, password: &str) -> Result<String, SqlError> {
        match plugin {
            auth::NATIVE => Ok(auth::native_hash(password.as_bytes())),
            auth::CACHING_SHA2 => {
                let mut salt = [0; auth::SALT_BYTES];
                self.env.random.fill(&mut salt);
                Ok(auth::sha2_hash(password.as_bytes(), &auth::nonce_from(salt)))
            }
            other => Err(SqlError::new(codes::AUTH_PLUGIN_CANT_LOAD, format!("Plugin '{other}' is not loaded"))),
        }
    }

    fn valid_password_hash(&self, plugin: &str, hash: &str) -> bool {
        auth::is_valid_hash(plugin, hash) || plugin == session::auth::SOCKET_PLUGIN
    }

    fn binary_logs(&self) -> Vec<BinaryLogFile> {
        logs::files(self.engine.log())
    }

    fn binary_log_status(&self) -> BinaryLogStatus {
        logs::status(&self.engine)
    }

    fn binlog_events(&self, query: BinlogEventsQuery) -> BoxFuture<'_, Result<Vec<BinlogEventRow>, SqlError>> {
        Box::pin(logs::events(self.engine.log(), query))
    }

    fn purge_binary_logs(&self, to: PurgeBinaryLogs) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(logs::purge(self.engine.log(), to))
    }

    fn reset_binary_logs(&self, _: Option<u64>) -> BoxFuture<'_, Result<(), SqlError>> {
        not_yet("RESET BINARY LOGS AND GTIDS")
    }

    fn flush(&self, target: FlushTarget) -> BoxFuture<'_, Result<(), SqlError>> {
        match target {
            FlushTarget::Nothing | FlushTarget::Status | FlushTarget::Tables(_) => Box::pin(std::future::ready(Ok(()))),
            FlushTarget::Logs | FlushTarget::BinaryLogs => Box::pin(async { Ok(self.engine.rotate_log().await?) }),
            FlushTarget::TablesWithReadLock(_) => not_yet("FLUSH TABLES WITH READ LOCK"),
            FlushTarget::RelayLogs => not_yet("FLUSH RELAY LOGS"),
        }
    }

    fn replicas(&self) -> Vec<ReplicaHost> {
        Vec::new()
    }

    fn change_source(&self, _: ChangeSource) -> BoxFuture<'_, Result<(), SqlError>> {
        not_yet("CHANGE REPLICATION SOURCE TO")
    }

    fn start_replica(&self, _: StartReplica) -> BoxFuture<'_, Result<(), SqlError>> {
        not_yet("START REPLICA")
    }

    fn stop_replica(&self, _: StopReplica) -> BoxFuture<'_, Result<(), SqlError>> {
        not_yet("STOP REPLICA")
    }

    fn reset_replica(&self, _: bool, _: String) -> BoxFuture<'_, Result<(), SqlError>> {
        not_yet("RESET REPLICA")
    }

    fn replica_status(&self) -> Vec<ReplicaStatusRow> {
        Vec::new()
    }

    fn wait_for_gtids(&self, _: &str, _: Option<Duration>) -> BoxFuture<'_, Result<bool, SqlError>> {
        not_yet("WAIT_FOR_EXECUTED_GTID_SET")
    }

    fn shutdown(&self) {
        self.end.ask();
    }

    fn checkpoint(&self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async {
            self.engine.checkpoint().await?;
            Ok(())
        })
    }
}
