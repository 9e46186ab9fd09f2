//! Whether this server follows another, and what it begins with then.
//!
//! A server is a follower from the time that it is told so (`--follow`, `START REPLICA`) until it is made a source: `SET GLOBAL
//! super_read_only = OFF`, with the receiver stopped. That outlives restarts. A follower's log is a copy and takes no events
//! of its own, so it is read-only as a whole; a source's is its own, so it cannot follow.

use std::path::PathBuf;
use std::sync::Arc;

use apply::ApplyOptions;
use base::{SqlError, codes};
use binlog::{GtidSet, MariaGtidName, OWN_GNO_MAX};
use engine::{Engine, EngineError, RowSource};
use io::Env;
use repl::follower::Identity;
use repl::{CopyRows, Follower, KeptSource, Replica, SourceRows, SourceSettings};
use session::tls;
use sql::parse::ast::{ChangeSource, StartReplica};
use sql::session::XaTransactions;
use sql::settings::{FollowerChange, Globals, SettingId, SettingValue};

use crate::config::ServeOptions;
use crate::error::{Context, ServerError};
use crate::services::commit_settings;
use crate::url::ServerUrl;

/// Between two attempts to reach the source of `--follow`.
const CONNECT_RETRY_SECONDS: u64 = 1;
/// Attempts to reach the source of `--follow`: without end.
const RETRY_COUNT: u64 = 0;

/// Whether the server is to be opened as a follower.
pub(crate) async fn follows(env: &Env, options: &ServeOptions) -> Result<bool, ServerError> {
    let kept = SourceSettings::load(env).await.context(|| "cannot read the source's settings".to_owned())?;
    Ok(options.follow.is_some() || kept.is_some_and(|source| source.following && !source.host.is_empty()))
}

/// The server's side of following; started or not, it answers SHOW REPLICA STATUS.
pub(crate) async fn open(
    engine: &Arc<Engine>,
    globals: &Globals,
    apply: ApplyOptions,
) -> Result<Arc<Follower>, ServerError> {
    let globals = globals.snapshot();
    let start = &globals.start;
    let identity = Identity {
        server_id: start.server_id,
        server_uuid: engine.server_uuid(),
        report_host: start.report_host.to_string(),
        report_port: if start.report_port == 0 { start.port } else { start.report_port },
    };
    let opened = Follower::open(engine.clone(), identity, apply).await;
    let follower = opened.map_err(|error| ServerError::Replication(error.message))?;
    globals.follower.changes().into_iter().for_each(|change| tell(&follower, change));
    Ok(follower)
}

/// Puts a changed setting to work.
pub(crate) fn tell(follower: &Follower, change: FollowerChange) {
    match change {
        FollowerChange::repair_damaged_pages(on) => follower.repairer().set_on(on),
        FollowerChange::replica_checksum_interval(interval) => follower.comparer().set_interval(interval),
        FollowerChange::replica_net_timeout(seconds) => follower.set_net_timeout(seconds),
        FollowerChange::replica_parallel_workers(workers) => follower.set_workers(workers),
        FollowerChange::rpl_semi_sync_replica_enabled(on) => follower.set_semi_sync(on),
        FollowerChange::replica_stop_on_checksum_difference(on) => follower.comparer().set_stops_applier(on),
    }
}

/// Whether something of a source's log is to be left out here, or to have another name. What cannot be understood counts.
pub(crate) fn has_filters(globals: &Globals, source: &KeptSource) -> bool {
    source.get().is_some_and(|settings| settings.has_origins())
        || !source.filter(globals).is_ok_and(|filter| filter.is_empty())
}

/// 1235: a copy of a log has all of it.
pub(crate) fn no_filters_of_a_copy() -> SqlError {
    SqlError::not_supported(
        "replication filters on a server that copies its source's log (set before the first START REPLICA they make it execute the log)",
    )
}

/// 1235: the same of transactions that are to be skipped.
pub(crate) fn nothing_is_skipped_in_a_copy() -> SqlError {
    SqlError::not_supported("sql_replica_skip_counter on a server that copies its source's log")
}

/// One of these errors if something is to be left out.
pub(crate) fn check_copies_all(globals: &Globals, source: &KeptSource) -> Result<(), SqlError> {
    if globals.now().role.sql_replica_skip_counter > 0 {
        return Err(nothing_is_skipped_in_a_copy());
    }
    if has_filters(globals, source) { Err(no_filters_of_a_copy()) } else { Ok(()) }
}

/// Makes the server one that can follow: read-only, with nothing of its own behind the last transaction of its log. If it cannot
/// be, it is what it was.
pub(crate) async fn become_follower(engine: &Engine, globals: &Globals) -> Result<(), SqlError> {
    let (was_follower, was_read_only, was_super) =
        (engine.is_follower(), globals.read_only(), globals.super_read_only());
    globals.set(SettingId::super_read_only, SettingValue::Bool(true));
    let changed = async {
        engine.become_follower().await?;
        if engine.log().durable_end().file == 0 {
            engine.forget_accounts().await?;
        }
        Ok(())
    };
    let result: Result<(), EngineError> = changed.await;
    if let Err(error) = result {
        if !was_follower {
            engine.become_source(commit_settings(globals)).await?;
            set_read_only(globals, was_read_only, was_super);
        }
        return Err(error.into());
    }
    Ok(())
}

/// Both settings, as they were before the server was made read-only.
pub(crate) fn set_read_only(globals: &Globals, read_only: bool, super_read_only: bool) {
    globals.set(SettingId::read_only, SettingValue::Bool(read_only));
    globals.set(SettingId::super_read_only, SettingValue::Bool(super_read_only));
}

/// Makes a follower a source: what it has received is applied, then its log goes on with its own transactions.
pub(crate) async fn become_source(engine: &Engine, follower: &Follower, globals: &Globals) -> Result<(), SqlError> {
    follower.check_stopped()?;
    follower.apply_rest().await?;
    engine.become_source(commit_settings(globals)).await?;
    follower.set_following(false).await?;
    tracing::info!("this server is a source now; its log goes on at {}", engine.log().durable_end());
    Ok(())
}

/// `RESET BINARY LOGS AND GTIDS`
pub(crate) async fn reset_log(
    engine: &Engine,
    follower: &Follower,
    globals: &Globals,
    first: u64,
) -> Result<(), SqlError> {
    follower.check_stopped()?;
    if engine.is_follower() {
        // What is received and not applied would be lost.
        follower.apply_rest().await?;
    }
    engine.reset_log(first, commit_settings(globals)).await?;
    Ok(())
}

/// `SET GLOBAL gtid_purged`: to a set, or with a `+` in front by a set.
pub(crate) async fn set_gtid_purged(engine: &Engine, globals: &Globals, value: &str) -> Result<(), SqlError> {
    let (adds, text) = match value.trim_start().strip_prefix('+') {
        Some(text) => (true, text),
        None => (false, value),
    };
    let mut set: GtidSet = text.parse().map_err(|_| {
        let message = format!("Variable 'gtid_purged' can't be set to the value of '{value}'");
        SqlError::new(codes::WRONG_VALUE_FOR_VAR, message)
    })?;
    if set.lasts_of(engine.server_uuid()).any(|gtid| gtid.gno > OWN_GNO_MAX) {
        return Err(engine::numbers_exhausted());
    }
    check_room(&MariaGtidName::position(&set))?;
    let refused = |why: &str| {
        let message = format!("@@GLOBAL.GTID_PURGED cannot be changed: {why}");
        EngineError::Sql(SqlError::new(codes::CANT_SET_GTID_PURGED_DUE_SETS_CONSTRAINTS, message))
    };
    let change = |executed: &GtidSet, purged: &GtidSet| {
        if !adds {
            if !purged.is_subset_of(&set) {
                return Err(refused("the new value must be a superset of the old value"));
            }
            set.subtract(purged);
        }
        if !set.is_disjoint(executed) {
            return Err(refused("the added gtid set must not overlap with @@GLOBAL.GTID_EXECUTED"));
        }
        Ok(set)
    };
    Ok(engine.add_purged_gtids(commit_settings(globals), change).await?)
}

/// `SET GLOBAL gtid_slave_pos`: everything up to these GTIDs of a MariaDB is here, by a dump that was loaded. What is executed
/// cannot be taken back.
pub(crate) async fn set_gtid_slave_pos(engine: &Engine, globals: &Globals, value: &str) -> Result<(), SqlError> {
    let executed = MariaGtidName::position(&engine.gtid_executed());
    let names = parse_position(value)?;
    check_room(&names)?;
    let is_behind = |known: &MariaGtidName| {
        !names.iter().any(|name| name.domain_id == known.domain_id && name.seq_no >= known.seq_no)
    };
    if let Some(known) = executed.iter().find(|known| is_behind(known)) {
        let message = format!(
            "gtid_slave_pos cannot be set to '{value}': {known} is executed here. RESET BINARY LOGS AND GTIDS forgets it"
        );
        return Err(SqlError::new(codes::WRONG_VALUE_FOR_VAR, message));
    }
    let change = |executed: &GtidSet, _: &GtidSet| {
        let mut set = GtidSet::new();
        names.iter().for_each(|name| set.add_range(name.uuid(), 1, name.seq_no));
        set.subtract(executed);
        Ok(set)
    };
    Ok(engine.add_purged_gtids(commit_settings(globals), change).await?)
}

/// A domain goes on here behind its highest number.
fn check_room(names: &[MariaGtidName]) -> Result<(), SqlError> {
    let Some(name) = names.iter().find(|name| !name.has_room()) else { return Ok(()) };
    let message = format!("Could not set GTID '{name}': its number is not one of 1 to {OWN_GNO_MAX}");
    Err(SqlError::new(codes::INCORRECT_GTID_STATE, message))
}

/// A position of MariaDB's: GTIDs, commas between them.
///
/// # Errors
/// 1941 for anything else.
pub(crate) fn parse_position(text: &str) -> Result<Vec<MariaGtidName>, SqlError> {
    MariaGtidName::parse_list(text)
        .map_err(|_| SqlError::new(codes::INCORRECT_GTID_STATE, format!("Could not parse GTID list '{text}'")))
}

/// What `--follow` (or another `option`) says, as the statement would. It says all there is, so that nothing of an earlier source is
/// left.
pub(crate) fn source_of(option: &str, url: &ServerUrl) -> Result<ChangeSource, ServerError> {
    let protection = &url.protection;
    let mode = protection.mode_or(tls::Mode::Disabled);
    if mode == tls::Mode::Preferred {
        let why = "ssl-mode=PREFERRED is not for replication, which does not fall back; REQUIRED or DISABLED";
        return Err(ServerError::Setting(format!("{option}: {why}")));
    }
    // Files of the command line are where its user is, those of the statement in the data directory.
    let file = |path: &PathBuf| match path.as_os_str().is_empty() {
        true => Ok(Some(String::new())),
        false => std::path::absolute(path).map(|path| Some(path.display().to_string())),
    };
    let file = |path| file(path).context(|| option.to_owned());
    // REQUIRED looks at no certificate, so it is to have no authority that would be asked.
    let checks_ca = matches!(mode, tls::Mode::VerifyCa | tls::Mode::VerifyIdentity);
    Ok(ChangeSource {
        host: Some(url.host.clone()),
        port: Some(url.port),
        user: Some(url.user.clone()),
        password: Some(url.password.clone()),
        auto_position: Some(true),
        connect_retry_seconds: Some(CONNECT_RETRY_SECONDS),
        retry_count: Some(RETRY_COUNT),
        ssl: Some(mode != tls::Mode::Disabled),
        ssl_ca: if checks_ca { file(&protection.ca)? } else { Some(String::new()) },
        ssl_cert: file(&protection.cert)?,
        ssl_key: file(&protection.key)?,
        ssl_verify_server_cert: Some(mode == tls::Mode::VerifyIdentity),
        get_public_key: Some(protection.get_public_key),
        public_key_path: file(&protection.public_key_path)?,
        ..ChangeSource::default()
    })
}

/// Who has rows that cannot be read here: the server at a URL, which has copied this one's log, or the source.
pub(crate) fn row_source(
    engine: &Arc<Engine>,
    follower: &Arc<Follower>,
    from: Option<&str>,
) -> Result<Arc<dyn RowSource>, SqlError> {
    let Some(from) = from else { return Ok(Arc::new(SourceRows(follower.clone()))) };
    let wrong = |why: String| SqlError::new(codes::WRONG_ARGUMENTS, format!("REPAIR TABLE … FROM: {why}"));
    let url: ServerUrl = from.parse().map_err(wrong)?;
    let change = source_of("FROM", &url).map_err(|error| wrong(error.to_string()))?;
    let mut settings = SourceSettings::default();
    settings.change(&change, &[])?;
    Ok(Arc::new(CopyRows::new(engine.clone(), settings)))
}

/// START REPLICA without more words.
pub(crate) const BOTH_THREADS: StartReplica =
    StartReplica { receiver: true, applier: true, user: None, password: None, until: None, channel: None, all: true };

/// Whether this server goes on executing another server's log.
pub(crate) fn executes(replica: &Replica) -> bool {
    replica.source().get().is_some_and(|source| source.executing && !source.following && source.has_source())
}

/// Begins to follow, where this server does.
pub(crate) async fn start(
    engine: &Engine,
    globals: &Globals,
    (follower, xa): (&Arc<Follower>, &XaTransactions),
    options: &ServeOptions,
) -> Result<(), ServerError> {
    let failed = |error: SqlError| ServerError::Replication(error.message);
    if options.follow.is_some() || engine.is_follower() {
        check_copies_all(globals, follower.kept()).map_err(failed)?;
    }
    if let Some(url) = &options.follow {
        follower.change_and_follow(&source_of("--follow", url)?).await.map_err(failed)?;
    }
    if !engine.is_follower() {
        return Ok(());
    }
    become_follower(engine, globals).await.map_err(failed)?;
    xa.forget_prepared();
    if globals.now().start.skip_replica_start {
        return Ok(());
    }
    follower.start(&BOTH_THREADS).await.map_err(failed)
}
