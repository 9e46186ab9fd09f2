//! EXPLAIN FOR CONNECTION.

use base::{ConnectionId, SqlError, codes};

use crate::account::Privilege;
use crate::parse::ast::ExplainFormat;
use crate::plan::{explain_running, not_explainable};
use crate::result::{Outcome, ResultSink};
use crate::session::Session;

/// The plan of what another connection runs. One that runs nothing has none to show, which is no error.
pub(super) fn of_connection(
    session: &mut Session,
    connection: u64,
    format: Option<ExplainFormat>,
    sink: &mut dyn ResultSink,
) -> Result<Outcome, SqlError> {
    let id = u32::try_from(connection).ok().map(ConnectionId);
    let processes = session.shared().services.processlist();
    let process = processes.into_iter().find(|process| Some(process.id) == id);
    let Some(process) = process else {
        return Err(SqlError::new(codes::NO_SUCH_THREAD, format!("Unknown thread id: {connection}")));
    };
    if process.user != session.client.user && !session.account().global.has(Privilege::Process) {
        let account = &session.client.account;
        let message = format!("Access denied for user '{}'@'{}' (using password: YES)", account.user, account.host);
        return Err(SqlError::new(codes::ACCESS_DENIED_ERROR, message));
    }
    let Some(plan) = session.shared().running_plans.of(process.id) else {
        return if process.info.is_none() { Ok(Outcome::default()) } else { Err(not_explainable()) };
    };
    let collation = session.info.collation_connection;
    let (columns, rows) = explain_running(&plan, format, &session.host(), collation)?;
    sink.columns(&columns)?;
    for row in &rows {
        sink.row(row)?;
    }
    Ok(Outcome { has_rows: true, affected_rows: rows.len() as u64, ..Outcome::default() })
}
