//! Whether this server follows another, and what it begins with then.
//!
//! A server is a follower if it was started with `--follow`, or if it was once told to follow (`CHANGE REPLICATION
//! SOURCE TO`) and has not forgotten it (`RESET REPLICA ALL`). That is decided when the engine is opened, because a
//! follower's log is a copy: it takes no events of its own.

use std::sync::Arc;

use apply::ApplyOptions;
use engine::Engine;
use io::Env;
use repl::follower::Identity;
use repl::{Follower, SourceSettings};
use sql::parse::ast::{ChangeSource, StartReplica};
use sql::settings::Globals;

use crate::config::ServeOptions;
use crate::error::{Context, ServerError};

/// Between two attempts to reach the source of `--follow`.
const CONNECT_RETRY_SECONDS: u64 = 1;
/// Attempts to reach the source of `--follow`: without end.
const RETRY_COUNT: u64 = 0;

/// Whether the server is to be opened as a follower.
pub(crate) async fn follows(env: &Env, options: &ServeOptions) -> Result<bool, ServerError> {
    let kept = SourceSettings::load(env).await.context(|| "cannot read the source's settings".to_owned())?;
    Ok(options.follow.is_some() || kept.is_some_and(|source| !source.host.is_empty()))
}

/// The server's side of following; started or not, it answers SHOW REPLICA STATUS.
pub(crate) async fn open(
    engine: &Arc<Engine>,
    globals: &Globals,
    apply: ApplyOptions,
) -> Result<Arc<Follower>, ServerError> {
    let number = |name: &str| globals.named(name).as_u64();
    let report_port = if number("report_port") == 0 { number("port") } else { number("report_port") };
    let identity = Identity {
        server_id: number("server_id") as u32,
        server_uuid: engine.server_uuid(),
        report_host: globals.named("report_host").as_str().to_owned(),
        report_port: report_port as u16,
    };
    Follower::open(engine.clone(), identity, apply).await.map_err(|error| ServerError::Replication(error.message))
}

/// Begins to follow, where this server does.
pub(crate) async fn start(follower: &Arc<Follower>, options: &ServeOptions) -> Result<(), ServerError> {
    let failed = |error: base::SqlError| ServerError::Replication(error.message);
    if let Some(url) = &options.follow {
        let change = ChangeSource {
            host: Some(url.host.clone()),
            port: Some(url.port),
            user: Some(url.user.clone()),
            password: Some(url.password.clone()),
            auto_position: Some(true),
            connect_retry_seconds: Some(CONNECT_RETRY_SECONDS),
            retry_count: Some(RETRY_COUNT),
            ..ChangeSource::default()
        };
        follower.change_source(&change).await.map_err(failed)?;
    }
    if follower.source().is_none_or(|source| source.host.is_empty()) {
        return Ok(());
    }
    let both = StartReplica { receiver: true, applier: true, ..StartReplica::default() };
    follower.start(&both).await.map_err(failed)
}
