//! What a new data directory begins with: `root@localhost`, who may do everything.
//!
//! The account is made by statements that go through the log like any others, so the log alone rebuilds it. Over the local socket root
//! needs no password, only to be the operating system's user that runs the server (or its root). Over TCP root gets in with
//! a password: `COMMUTER_ROOT_PASSWORD` at the first start, or `ALTER USER` later; or, on explicit demand, with none.

use std::sync::Arc;

use base::SqlError;
use engine::{DdlPlanner, DdlText, Engine, SessionHandle, TxnOptions};
use wire::auth;

use crate::config::ServeOptions;
use crate::error::ServerError;

/// Makes root's account if there is no account at all. A server that is to follow another gets its accounts from there.
pub(crate) async fn make_root(
    engine: &Arc<Engine>,
    planner: &dyn DdlPlanner,
    random: &dyn io::Random,
    options: &ServeOptions,
) -> Result<(), ServerError> {
    if engine.catalog().accounts().next().is_some() || options.follow.is_some() {
        return Ok(());
    }
    let method = match &options.root_password {
        Some(password) => {
            let mut salt = [0; auth::SALT_BYTES];
            random.fill(&mut salt);
            let hash = auth::sha2_hash(password.as_bytes(), &auth::nonce_from(salt));
            format!("'{}' AS {}", auth::CACHING_SHA2, quoted(&hash))
        }
        None if options.initialize_insecure => {
            tracing::warn!(
                "INSECURE: root@localhost has an EMPTY PASSWORD, accepted from the loopback addresses \
                 (--initialize-insecure). Give it one: ALTER USER root@localhost IDENTIFIED BY '…'"
            );
            format!("'{}' AS ''", auth::CACHING_SHA2)
        }
        None => {
            tracing::info!(
                "root@localhost is let in over the socket, for the user that runs this server; over TCP only once it \
                 has a password (ALTER USER, or COMMUTER_ROOT_PASSWORD at the first start)"
            );
            format!("'{}'", session::auth::SOCKET_PLUGIN)
        }
    };
    for sql in [
        format!("CREATE USER 'root'@'localhost' IDENTIFIED WITH {method}"),
        "GRANT ALL PRIVILEGES ON *.* TO 'root'@'localhost' WITH GRANT OPTION".to_owned(),
    ] {
        execute(engine, planner, sql).await.map_err(ServerError::FirstStart)?;
    }
    Ok(())
}

async fn execute(engine: &Arc<Engine>, planner: &dyn DdlPlanner, sql: String) -> Result<(), SqlError> {
    const UTF8MB4: (u16, u16, u16) = (
        wire::flags::COLLATION_UTF8MB4_0900_AI_CI,
        wire::flags::COLLATION_UTF8MB4_0900_AI_CI,
        wire::flags::COLLATION_UTF8MB4_0900_AI_CI,
    );
    let text = DdlText { sql, charsets: UTF8MB4, ..DdlText::default() };
    let change = planner.plan(&text, &engine.catalog())?;
    engine.execute_ddl(change, text, &TxnOptions::new(SessionHandle::internal())).await?;
    Ok(())
}

/// A string literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
