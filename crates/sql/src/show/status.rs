//! SHOW STATUS: the server's counters and the session's.

use types::Value;

use super::Rows;
use crate::parse::ast::Filter;
use crate::session::{Session, StreamFacts};

pub(super) fn status(session: &Session, global: bool, filter: &Filter) -> Rows {
    let mut rows = Rows::new("Variable_name v64, Value v1024");
    let mut all = status_rows(session, global);
    if let Filter::Like(pattern) = filter {
        let named = named_as_in_mariadb(&all, pattern);
        all.extend(named);
    }
    for (name, value) in all {
        rows.push(vec![Value::str(name), Value::str(value)]);
    }
    rows
}

/// Names and values, by name; the session's own in place of the server's.
pub(crate) fn status_rows(session: &Session, global: bool) -> Vec<(String, String)> {
    let mut all = session.shared().services.status();
    let text = |(name, count): (&'static str, u64)| (name.to_owned(), count.to_string());
    if global {
        let mut own: Vec<_> = session.shared().counters.lines().map(text).collect();
        own.extend(tls_lines(StreamFacts::default()));
        replace(&mut all, own);
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
        own.extend(stream_lines(session.client().stream));
        replace(&mut all, own);
    }
    all.sort();
    all
}

/// How the session's connection is protected and compressed.
pub(crate) fn stream_lines(stream: StreamFacts) -> Vec<(String, String)> {
    let (algorithm, level) = stream.compression.unwrap_or_default();
    let is_compressed = if stream.compression.is_some() { "ON" } else { "OFF" };
    let level = level.to_string();
    let mut lines = tls_lines(stream);
    let compression =
        [("Compression", is_compressed), ("Compression_algorithm", algorithm), ("Compression_level", level.as_str())];
    lines.extend(compression.map(|(name, value)| (name.to_owned(), value.to_owned())));
    lines
}

/// Empty for the server as a whole, as for a session whose stream is open.
fn tls_lines(stream: StreamFacts) -> Vec<(String, String)> {
    let (version, cipher) = stream.tls.map(|tls| (tls.version, tls.cipher)).unwrap_or_default();
    [("Ssl_cipher", cipher), ("Ssl_version", version)].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// MariaDB's names of the counters of semi-synchronous replication. Who asks for one gets it; lists have MySQL's names only.
const OF_MARIADB: [(&str, &str); 2] =
    [("Rpl_semi_sync_master_", "Rpl_semi_sync_source_"), ("Rpl_semi_sync_slave_", "Rpl_semi_sync_replica_")];

/// The lines that a pattern of LIKE asks for by names of MariaDB's.
fn named_as_in_mariadb(all: &[(String, String)], pattern: &str) -> Vec<(String, String)> {
    let pattern = pattern.to_lowercase().replace('\\', "");
    let asked = OF_MARIADB.iter().filter(|(theirs, _)| pattern.starts_with(&theirs.to_lowercase()));
    let named = asked.flat_map(|(theirs, ours)| {
        all.iter().filter_map(move |(name, value)| {
            let rest = name.strip_prefix(ours)?;
            Some((format!("{theirs}{rest}"), value.clone()))
        })
    });
    named.collect()
}

/// Lines in place of those of the same name.
fn replace(all: &mut Vec<(String, String)>, by: Vec<(String, String)>) {
    all.retain(|(name, _)| !by.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    all.extend(by);
}
