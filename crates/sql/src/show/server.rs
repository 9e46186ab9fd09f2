//! The server, its sessions, and the last statement's warnings.

use base::{SqlError, codes};
use types::charset::Charset;
use types::{Value, collation};

use super::{Rows, limited, opt};
use crate::account::Privilege;
use crate::expr::WarningLevel;
use crate::parse::ast::Limit;
use crate::services::Process;
use crate::session::Session;

/// How much of a statement SHOW PROCESSLIST without FULL prints.
const INFO_CHARS_MAX: usize = 100;

pub(super) fn processlist(session: &mut Session, full: bool) -> Rows {
    let mut rows = Rows::new("Id u, User v32, Host v261, db v64?, Command v16, Time i, State v64?, Info v1024?");
    for process in visible_processes(session) {
        let info = process.info.map(|info| if full { info } else { info.chars().take(INFO_CHARS_MAX).collect() });
        rows.push(vec![
            Value::UInt(u64::from(process.id.0)),
            Value::str(process.user),
            Value::str(process.host),
            opt(process.database),
            Value::str(process.command),
            Value::Int(process.time_seconds as i64),
            Value::str(process.state),
            opt(info),
        ]);
    }
    rows
}

/// All of them with PROCESS, otherwise the account's own.
pub(crate) fn visible_processes(session: &mut Session) -> Vec<Process> {
    let mut processes = session.shared().services.processlist();
    if !session.account().global.has(Privilege::Process) {
        let own = session.client().user.clone();
        processes.retain(|process| process.user == own);
    }
    processes
}

pub(super) fn warnings(session: &Session, only_errors: bool, limit: Limit) -> Rows {
    let mut rows = Rows::new("Level v7, Code i, Message v512");
    let wanted = session.diagnostics.list.iter().filter(|w| !only_errors || w.level == WarningLevel::Error);
    let line = |w: &crate::expr::Warning| {
        vec![Value::str(w.level.name()), Value::Int(i64::from(w.code)), Value::str(w.message.clone())]
    };
    rows.rows = limited(wanted.map(line).collect(), limit);
    rows
}

pub(super) fn warning_count(session: &Session, only_errors: bool) -> Rows {
    let (title, count) = match only_errors {
        true => ("@@session.error_count", session.diagnostics.error_count()),
        false => ("@@session.warning_count", session.diagnostics.warning_count()),
    };
    let mut rows = Rows::new("count u");
    rows.columns[0].name = title.into();
    rows.push(vec![Value::UInt(count)]);
    rows
}

pub(crate) const ENGINES: &str = "Engine v64, Support v8, Comment v80, Transactions v3?, XA v3?, Savepoints v3?";

pub(super) fn engines() -> Rows {
    let mut rows = Rows::new(ENGINES);
    rows.push(engine_row());
    rows
}

pub(crate) fn engine_row() -> Vec<Value> {
    let comment = "Versioned rows over immutable trees; the binary log is the only write-ahead log";
    ["InnoDB", "DEFAULT", comment, "YES", "YES", "YES"].into_iter().map(Value::str).collect()
}

pub(super) fn engine_status(session: &mut Session, engine: &str) -> Result<Rows, SqlError> {
    session.check_global(&[Privilege::Process])?;
    if !engine.eq_ignore_ascii_case("InnoDB") {
        return Err(SqlError::new(codes::UNKNOWN_STORAGE_ENGINE, format!("Unknown storage engine '{engine}'")));
    }
    let engine = &session.shared().engine;
    let (number, position) = engine.visible();
    let (active, frozen) = engine.memtable_bytes();
    let text = format!(
        "visible commit number {number} at {position}\nmemtable {active} bytes, {frozen} bytes being merged\n{} read views\n",
        engine.read_views(),
    );
    let mut rows = Rows::new("Type v10, Name v512, Status v10");
    rows.push(vec![Value::str("InnoDB"), Value::str(""), Value::str(text)]);
    Ok(rows)
}

/// Names, types and descriptions.
pub(crate) const PLUGINS: &[(&str, &str, &str)] = &[
    ("binlog", "STORAGE ENGINE", "The binary log, which is the only write-ahead log"),
    ("caching_sha2_password", "AUTHENTICATION", "Passwords by SHA-256, with a cache of those that were right"),
    ("mysql_native_password", "AUTHENTICATION", "Passwords by SHA-1"),
    ("InnoDB", "STORAGE ENGINE", "Transactions, row locks and foreign keys"),
];

pub(super) fn plugins() -> Rows {
    let mut rows = Rows::new("Name v64, Status v10, Type v80, Library v64?, License v80");
    for (name, kind, _) in PLUGINS {
        rows.push(vec![
            Value::str(*name),
            Value::str("ACTIVE"),
            Value::str(*kind),
            Value::Null,
            Value::str("MIT OR Apache-2.0"),
        ]);
    }
    rows
}

pub(super) fn character_sets() -> Rows {
    let mut rows = Rows::new("Charset v64, Description v2048, Default collation v64, Maxlen u");
    for row in character_set_rows() {
        rows.push(row);
    }
    rows
}

pub(crate) fn character_set_rows() -> Vec<Vec<Value>> {
    let row = |charset: Charset| {
        vec![
            Value::str(charset.name()),
            Value::str(charset.description()),
            Value::str(charset.default_collation().name()),
            Value::UInt(u64::from(charset.max_bytes_per_char())),
        ]
    };
    Charset::all().map(row).collect()
}

pub(super) fn collations() -> Rows {
    let mut rows = Rows::new("Collation v64, Charset v64, Id u, Default v3, Compiled v3, Sortlen u, Pad_attribute v9");
    for row in collation_rows() {
        rows.push(row);
    }
    rows
}

/// MySQL's estimate of how much longer a sort key may be than its text.
fn sort_length(collation: &str) -> u64 {
    match collation {
        "utf8mb4_0900_bin" => 1,
        name if name.contains("_0900_") => 0,
        name if name.contains("_unicode_") => 8,
        _ => 1,
    }
}

pub(crate) fn collation_rows() -> Vec<Vec<Value>> {
    let mut all: Vec<_> = collation::all().iter().collect();
    all.sort_by_key(|info| info.name);
    let row = |info: &collation::CollationInfo| {
        let pad = match info.pad {
            collation::Pad::PadSpace => "PAD SPACE",
            collation::Pad::NoPad => "NO PAD",
        };
        vec![
            Value::str(info.name),
            Value::str(info.charset.name()),
            Value::UInt(u64::from(info.id.0)),
            Value::str(if info.is_default { "Yes" } else { "" }),
            Value::str("Yes"),
            Value::UInt(sort_length(info.name)),
            Value::str(pad),
        ]
    };
    all.into_iter().map(row).collect()
}
