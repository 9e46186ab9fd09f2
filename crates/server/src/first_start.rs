//! What a new data directory begins with: `root@localhost`, who may do everything.
//!
//! The account is made by statements that go through the log like any others, so the log alone rebuilds it. Over the local socket root
//! needs no password, only to be the operating system's user that runs the server (or its root). Over TCP root gets in with
//! a password: `COMMUTER_ROOT_PASSWORD` at the first start, or `ALTER USER` later; or, on explicit demand, with none.

use std::sync::Arc;

use base::{CommitNumber, SqlError};
use binlog::QueryContext;
use engine::{DdlPlanner, DdlText, Engine, SessionHandle, TxnOptions};
use wire::auth;

use crate::config::ServeOptions;
use crate::error::ServerError;

/// Makes root's account if there is no account at all. Not for a follower: it gets its source's accounts.
pub(crate) async fn make_root(
    engine: &Arc<Engine>,
    planner: &dyn DdlPlanner,
    options: &ServeOptions,
) -> Result<(), ServerError> {
    let is_new = engine.catalog().accounts().next().is_none();
    // The first start may have ended between its two statements: then the account is all that there is.
    let is_half_done = !is_new && engine.visible().0 == CommitNumber(1);
    if is_new {
        let (plugin, hash) = method(engine, options);
        // A MySQL that follows this server from its beginning has its own root.
        let sql =
            format!("CREATE USER IF NOT EXISTS 'root'@'localhost' IDENTIFIED WITH '{plugin}' AS {}", quoted(&hash));
        execute(engine, planner, sql).await.map_err(ServerError::FirstStart)?;
    }
    if is_new || is_half_done {
        let sql = "GRANT ALL PRIVILEGES ON *.* TO 'root'@'localhost' WITH GRANT OPTION".to_owned();
        execute(engine, planner, sql).await.map_err(ServerError::FirstStart)?;
    }
    Ok(())
}

/// How root proves itself: the plugin, and what it keeps.
fn method(engine: &Engine, options: &ServeOptions) -> (&'static str, String) {
    match &options.root_password {
        Some(password) => {
            let mut salt = [0; auth::SALT_BYTES];
            engine.env().random.fill(&mut salt);
            (auth::CACHING_SHA2, auth::sha2_hash(password.as_bytes(), &auth::nonce_from(salt)))
        }
        None if options.initialize_insecure => {
            tracing::warn!(
                "INSECURE: root@localhost has an EMPTY PASSWORD, accepted from the loopback addresses \
                 (--initialize-insecure). Give it one: ALTER USER root@localhost IDENTIFIED BY '…'"
            );
            (auth::CACHING_SHA2, String::new())
        }
        None => {
            tracing::info!(
                "root@localhost is let in over the socket, for the user that runs this server; over TCP only once it \
                 has a password (ALTER USER, or COMMUTER_ROOT_PASSWORD at the first start)"
            );
            (sql::account::SOCKET_PLUGIN, String::new())
        }
    }
}

async fn execute(engine: &Arc<Engine>, planner: &dyn DdlPlanner, sql: String) -> Result<(), SqlError> {
    let timestamp = (engine.env().clock.now().0 / 1_000_000) as u32;
    let text = DdlText { sql, context: QueryContext { timestamp, ..QueryContext::default() } };
    let change = planner.plan(&text, &engine.catalog())?;
    engine.execute_ddl(change, text, &TxnOptions::new(SessionHandle::internal())).await?;
    Ok(())
}

/// A string literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
