//! A server without a network, for tests: engine and sessions on a simulated machine.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use base::{Cancelled, ConnectionId, SqlError, codes};
use bytes::Bytes;
use engine::{CommitSettings, Engine, EngineOptions, SessionHandle};
use io::sim::SimMachine;
use io::{BoxFuture, Env};
use types::Value;

use crate::account::Account;
use crate::ddl::Planner;
use crate::parse::ast::{ChangeSource, ChannelName, FlushTarget, StartReplica, StopReplica, UserName};
use crate::replay::ChannelRules;
use crate::result::{Collected, ResultColumn, ResultSink};
use crate::services::*;
use crate::session::{Client, Session, Shared};
use crate::settings::{Change, EngineChange, Globals, ServerState, SettingId, SettingValue};

/// Runs a test with a server.
pub(crate) fn with_server<T, F: Future<Output = T>>(test: impl FnOnce(Arc<Shared>) -> F) -> T {
    let machine = SimMachine::new(7);
    let env = machine.env();
    let run = machine.run(async move { test(server(env).await).await });
    run.unwrap_or_else(|_| panic!("the machine crashed"))
}

/// Runs the inputs of a golden file in sessions: root's, or that of the account (at localhost) in front of a `>`.
pub(crate) fn golden(path: &str) {
    let mut inputs = Vec::new();
    crate::golden::read(path, |input| inputs.push(input.to_string()));
    let mut outputs = with_server(|shared| async move {
        let mut sessions = BTreeMap::new();
        let mut outputs = VecDeque::new();
        for input in inputs {
            let (user, text) = match input.split_once("> ") {
                Some((user, text)) if user.bytes().all(|byte| byte.is_ascii_alphanumeric()) => (user, text),
                _ => ("root", input.as_str()),
            };
            let session = sessions.entry(user.to_string()).or_insert_with(|| session(&shared, user));
            outputs.push_back(run(session, text).await);
        }
        outputs
    });
    crate::golden::check(path, |_| outputs.pop_front().unwrap_or_default());
}

async fn server(env: Env) -> Arc<Shared> {
    let options = EngineOptions { page_cache_bytes: 4 << 20, ..EngineOptions::default() };
    let engine = Engine::open(env.clone(), options, Arc::new(Planner)).await.expect("the engine opens");
    engine.start_commits(CommitSettings::default()).expect("commits start");
    let globals = Arc::new(Globals::new());
    globals.configure(SettingId::version, "8.4.0-commuter-test").expect("a version");
    let shared = Arc::new(Shared {
        engine,
        services: Arc::new(Alone),
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
    });
    let name = UserName { user: "root".into(), host: "localhost".into() };
    let json = serde_json::to_value(Account::root(&name, "caching_sha2_password", "")).expect("JSON");
    let change = engine::CatalogChange::Accounts(vec![("root@localhost".into(), Some(json))]);
    let options = engine::TxnOptions::new(SessionHandle::internal());
    let text = engine::DdlText { sql: "CREATE USER root@localhost".into(), ..Default::default() };
    shared.engine.execute_ddl(change, text, &options).await.expect("root");
    shared
}

/// A session of root, or of another account that exists.
pub(crate) fn session(shared: &Arc<Shared>, user: &str) -> Session {
    let number = user.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(1);
    let handle = Arc::new(SessionHandle { connection_id: ConnectionId(number), ..SessionHandle::default() });
    // `root2` is another session of root.
    let account = user.trim_end_matches(|c: char| c.is_ascii_digit());
    let client = Client {
        user: account.into(),
        host: "localhost".into(),
        account: UserName { user: account.into(), host: "localhost".into() },
        found_rows: false,
        interactive: false,
        collation: 255,
        stream: Default::default(),
    };
    Session::new(shared.clone(), handle, client)
}

/// A statement's outcome as a few lines: columns and rows, or counts, or the error; then the number of warnings.
pub(crate) async fn run(session: &mut Session, text: &str) -> String {
    let mut sink = TestSink::default();
    let outcome = match session.query(text.as_bytes(), &mut sink).await {
        Ok(outcome) => outcome,
        Err(error) => return error.to_string(),
    };
    let collected = sink.collected;
    let mut lines = Vec::new();
    if outcome.has_rows {
        let names: Vec<&str> = collected.columns.iter().map(|column| &*column.name).collect();
        lines.push(names.join(" | "));
        for row in &collected.rows {
            let fields: Vec<String> = row.iter().zip(&collected.columns).map(|(v, c)| shown(v, c.decimals)).collect();
            lines.push(fields.join(" | "));
        }
        if collected.rows.is_empty() {
            lines.push("(no rows)".into());
        }
    } else {
        let mut line = format!("OK, {} rows", outcome.affected_rows);
        if outcome.last_insert_id > 0 {
            line += &format!(", id {}", outcome.last_insert_id);
        }
        if !outcome.info.is_empty() {
            line += &format!(", {}", outcome.info);
        }
        lines.push(line);
    }
    if outcome.warnings > 0 {
        lines.push(format!("{} warnings", outcome.warnings));
    }
    lines.join("\n")
}

/// Collects rows; of a file that it is asked for the name is the text, which comes in small parts.
#[derive(Default)]
struct TestSink {
    collected: Collected,
    file: Bytes,
}

impl ResultSink for TestSink {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.collected.columns(columns)
    }
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.collected.row(row)
    }
    fn has_files(&self) -> bool {
        true
    }
    fn ask_for_file<'a>(&'a mut self, name: &'a str) -> BoxFuture<'a, Result<(), SqlError>> {
        self.file = Bytes::copy_from_slice(name.as_bytes());
        Box::pin(std::future::ready(Ok(())))
    }
    fn next_of_file(&mut self) -> BoxFuture<'_, Result<Bytes, SqlError>> {
        let part = self.file.split_to(self.file.len().min(3));
        Box::pin(std::future::ready(Ok(part)))
    }
}

fn shown(value: &Value, decimals: u8) -> String {
    if value.is_null() {
        return "NULL".into();
    }
    let mut text = Vec::new();
    value.write_text(decimals, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Has no rows that are not here.
struct Nobody;

impl engine::RowSource for Nobody {
    fn rows<'a>(
        &'a self,
        _: &'a Arc<engine::Table>,
        _: &'a engine::Damage,
    ) -> BoxFuture<'a, engine::Result<engine::Fetched>> {
        Box::pin(std::future::ready(Err(engine::EngineError::NotReady("nobody has them"))))
    }
}

/// The services of a server that has nothing but its engine.
struct Alone;

fn no<T: Send + 'static>() -> BoxFuture<'static, Result<T, SqlError>> {
    Box::pin(std::future::ready(Err(SqlError::not_supported("this in a test"))))
}

impl Services for Alone {
    fn processlist(&self) -> Vec<Process> {
        let (user, host) = ("root".to_string(), "localhost".to_string());
        vec![Process { id: ConnectionId(1), user, host, command: "Query".into(), ..Process::default() }]
    }
    fn kill(&self, _: ConnectionId, _: Cancelled) -> Result<(), SqlError> {
        Ok(())
    }
    fn report(&self, _: ConnectionId, _: Activity<'_>) {}
    fn status(&self) -> Vec<(String, String)> {
        vec![("Questions".into(), "9".into()), ("Threads_connected".into(), "1".into())]
    }
    fn apply_setting(&self, _: SettingId, change: Change) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(std::future::ready(match change {
            Change::engine(EngineChange::memtable_size(_)) => {
                Err(SqlError::new(codes::WRONG_VALUE_FOR_VAR, "memtable_size cannot be set in a test"))
            }
            _ => Ok(()),
        }))
    }
    fn server_state(&self, state: ServerState) -> SettingValue {
        SettingValue::text(if state == ServerState::GtidExecuted { "computed" } else { "" })
    }
    fn password_hash(&self, plugin: &str, password: &str) -> Result<String, SqlError> {
        Ok(format!("hash of {password} by {plugin}"))
    }
    fn valid_password_hash(&self, _: &str, hash: &str) -> bool {
        hash.starts_with("hash of")
    }
    fn is_password(&self, plugin: &str, hash: &str, password: &str) -> bool {
        self.password_hash(plugin, password).is_ok_and(|of_password| of_password == hash)
    }
    fn binary_logs(&self) -> Vec<BinaryLogFile> {
        vec![BinaryLogFile { name: "binlog.000001".into(), size: 157 }]
    }
    fn binary_log_status(&self) -> BinaryLogStatus {
        BinaryLogStatus { file: "binlog.000001".into(), position: 157, executed_gtid_set: String::new() }
    }
    fn binlog_events(&self, _: BinlogEventsQuery) -> BoxFuture<'_, Result<Vec<BinlogEventRow>, SqlError>> {
        no()
    }
    fn purge_binary_logs(&self, _: PurgeBinaryLogs) -> BoxFuture<'_, Result<Option<String>, SqlError>> {
        no()
    }
    fn reset_binary_logs(&self, _: Option<u64>) -> BoxFuture<'_, Result<(), SqlError>> {
        no()
    }
    fn flush(&self, _: FlushTarget) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }
    fn replicas(&self) -> Vec<ReplicaHost> {
        Vec::new()
    }
    fn change_source(&self, _: ChangeSource) -> BoxFuture<'_, Result<(), SqlError>> {
        no()
    }
    fn change_channel_filter(&self, channel: String, rules: ChannelRules) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async move { Err(SqlError::unknown(format!("filter of '{channel}': {rules:?}"))) })
    }
    fn start_replica(&self, _: StartReplica, _: bool) -> BoxFuture<'_, Result<(), SqlError>> {
        no()
    }
    fn stop_replica(&self, _: StopReplica) -> BoxFuture<'_, Result<usize, SqlError>> {
        no()
    }
    fn reset_replica(&self, _: bool, _: ChannelName) -> BoxFuture<'_, Result<(), SqlError>> {
        no()
    }
    fn replica_status(&self, channel: &ChannelName) -> Result<Vec<ReplicaStatusRow>, SqlError> {
        let name = channel.clone().unwrap_or_default();
        let columns = [("Replica_IO_State", ""), ("Source_Host", "h"), ("Channel_Name", name.as_str())];
        Ok(vec![ReplicaStatusRow(columns.map(|(title, value)| (title, Some(value.to_owned()))).to_vec())])
    }
    fn replica_work(&self) -> Vec<ChannelWork> {
        vec![ChannelWork::default()]
    }
    fn replica_filters(&self) -> Vec<FilterRule> {
        Vec::new()
    }
    fn binlog_gtid_pos(&self, file: &str, position: u64) -> BoxFuture<'_, Result<Option<String>, SqlError>> {
        let found = (file == "binlog.000001").then(|| format!("0-1-{position}"));
        Box::pin(async { Ok(found) })
    }

    fn wait_for_gtids(&self, _: &str, _: Option<Duration>) -> BoxFuture<'_, Result<bool, SqlError>> {
        Box::pin(std::future::ready(Ok(true)))
    }
    fn wait_for_position(&self, _: &str, timeout: Option<Duration>) -> BoxFuture<'_, Result<bool, SqlError>> {
        Box::pin(std::future::ready(Ok(timeout.is_none())))
    }
    fn row_source(&self, _: Option<&str>) -> Result<Arc<dyn engine::RowSource>, SqlError> {
        Ok(Arc::new(Nobody))
    }
    fn shutdown(&self) {}
    fn checkpoint(&self) -> BoxFuture<'_, Result<(), SqlError>> {
        no()
    }
}
