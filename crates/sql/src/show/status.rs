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
    let text = |(name, count): (&'static str, u64)| (name.to_owned(), count.to_string());
    if global {
        replace(&mut all, session.shared().counters.lines().map(text).collect());
    } else {
        let mut own: Vec<_> = session.counters.lines().map(text).collect();
        if let Some(position) = session.snapshot_position {
            own.push(("Binlog_snapshot_file".to_owned(), format!("binlog.{:06}", position.file)));
            own.push(("Binlog_snapshot_position".to_owned(), position.offset.to_string()));
        } else {
            let status = session.shared().services.binary_log_status();
            own.push(("Binlog_snapshot_file".to_owned(), status.file));
            own.push(("Binlog_snapshot_position".to_owned(), status.position.to_string()));
        }
        replace(&mut all, own);
    }
    all.sort();
    all
}

/// Lines in place of those of the same name.
fn replace(all: &mut Vec<(String, String)>, by: Vec<(String, String)>) {
    all.retain(|(name, _)| !by.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    all.extend(by);
}
