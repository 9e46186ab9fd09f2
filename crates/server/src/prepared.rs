//! Prepared transactions (XA) where the server's role changes, or it starts: who takes commits holds them with their locks.

use std::sync::Arc;

use base::{LogPosition, SqlError};
use binlog::event::Xid;
use engine::SessionHandle;
use sql::session::{Session, Shared};

/// Makes again, from the log, the transactions that are prepared in it. Nobody may write yet.
///
/// # Errors
/// When one cannot be made again: its name, and why.
pub(crate) async fn adopt(shared: &Arc<Shared>) -> Result<(), SqlError> {
    for (xid, start) in shared.engine.prepared_transactions() {
        adopt_one(shared, &xid, start).await.map_err(|error| {
            let message = format!("the prepared transaction {xid} cannot be made again: {}", error.message);
            SqlError { message, ..error }
        })?;
        tracing::info!("the transaction {xid} is prepared, and waits for XA COMMIT or XA ROLLBACK");
    }
    Ok(())
}

async fn adopt_one(shared: &Arc<Shared>, xid: &Xid, start: LogPosition) -> Result<(), SqlError> {
    let group = shared.engine.log().reader(start).next_transaction().await?;
    let group = group.ok_or_else(|| SqlError::unknown("its first phase is not in the log"))?;
    Session::applier(shared.clone(), SessionHandle::internal()).adopt_prepared(xid, &group).await
}
