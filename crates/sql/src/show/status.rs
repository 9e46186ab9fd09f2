//! SHOW STATUS: the server's counters and the session's.

use types::Value;

use super::Rows;
use crate::session::Session;

pub(super) fn status(session: &Session, global: bool) -> Rows {
    let mut rows = Rows::new("Variable_name v64, Value v1024");
    for (name, value) in status_rows(session, global) {
        rows.push(vec![Value::str(name), Value::str(value)]);
    }
    rows
}

/// Names and values, by name; the session's own in place of the server's.
pub(crate) fn status_rows(session: &Session, global: bool) -> Vec<(String, String)> {
    let mut all = session.shared().services.status();
    if !global {
        let counters = &session.counters;
        let mut own = vec![
            ("Com_commit", counters.commits.to_string()),
            ("Com_delete", counters.deletes.to_string()),
            ("Com_insert", counters.inserts.to_string()),
            ("Com_rollback", counters.rollbacks.to_string()),
            ("Com_select", counters.selects.to_string()),
            ("Com_update", counters.updates.to_string()),
            ("Questions", counters.questions.to_string()),
        ];
        if let Some(position) = session.snapshot_position {
            own.push(("Binlog_snapshot_file", format!("binlog.{:06}", position.file)));
            own.push(("Binlog_snapshot_position", position.offset.to_string()));
        } else {
            let status = session.shared().services.binary_log_status();
            own.push(("Binlog_snapshot_file", status.file));
            own.push(("Binlog_snapshot_position", status.position.to_string()));
        }
        all.retain(|(name, _)| !own.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)));
        all.extend(own.into_iter().map(|(name, value)| (name.to_string(), value)));
    }
    all.sort();
    all
}
