//! What is measured, and what is asked.

use std::time::Duration;

use interop::{Kind, workspace_root};

pub(crate) const TABLES: u32 = 4;
pub(crate) const TABLE_SIZE: u32 = 100_000;

/// One line of the report.
pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// Added to each sync of every server.
    pub(crate) slow_sync: Duration,
    pub(crate) action: Action,
    /// The ratio to the better peer that we ask of ourselves.
    pub(crate) asked: f64,
}

#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// A sysbench script with this many clients, and more options of it.
    Sysbench { script: &'static str, threads: u32, options: &'static [&'static str] },
    /// How fast a replica applies what its source did while it was stopped. Ours follows one of ours, or a server of the kind.
    CatchUp(Option<Kind>),
    /// The same by mode and number of workers.
    Replica,
    /// How long a server takes until it answers, after SIGKILL with much log since its last checkpoint.
    /// After so many updates.
    Recovery(u32),
    /// Memory with this many idle connections.
    Idle { connections: u32, tls: bool },
    /// Some of many connections commit, and many more are refused.
    Crowd { connections: u64, committing: u64, refused: u64 },
    /// Many clients that want the same rows, beside few.
    Waiters { few: u64, many: u64 },
    /// So many clients that do not read their results.
    Unread { readers: u64 },
    /// Random updates of more than memory holds.
    Steady(Size),
    /// A transaction, and a table, of so many GB, and what they cost others.
    Large { gigabytes: u64 },
    /// The sums of a table of so many GB: of one server, and compared with a copy's.
    Checksum { gigabytes: u64 },
    /// Statements that read or write a table of a million rows.
    Scans,
    /// Rows into a server and out of it, many at once.
    Bulk,
    /// What drivers and tools ask of information_schema.
    Dictionary,
    /// The queries of TPC-H.
    Tpch,
    /// The queries of TPC-DS.
    Tpcds,
    /// The rate of short commits beside a read view that stays open for so many seconds.
    View { seconds: u32 },
}

impl Action {
    /// Whether it is run only if it is asked for: it takes very long.
    pub(crate) fn is_long(&self) -> bool {
        matches!(
            self,
            Action::Replica
                | Action::Steady(_)
                | Action::Large { .. }
                | Action::Checksum { .. }
                | Action::View { .. }
                | Action::Scans
                | Action::Bulk
                | Action::Dictionary
                | Action::Tpch
                | Action::Tpcds
        )
    }
}

/// Of a table, and of what a server may keep of it.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rows: u32,
    pub(crate) cache_mb: u32,
    pub(crate) memtable_mb: u32,
    pub(crate) seconds: u32,
}

const STEADY_2G: Size = Size { rows: 10_000_000, cache_mb: 128, memtable_mb: 64, seconds: 180 };
const STEADY_20G: Size = Size { rows: 95_000_000, cache_mb: 256, memtable_mb: 256, seconds: 1800 };

/// Two images of a row of 190 bytes and their event are about 700 bytes of log.
const RECOVERY: Action = Action::Recovery(1_600_000);
const RECOVERY_3G: Action = Action::Recovery(4_600_000);
const IDLE: Action = Action::Idle { connections: 10_000, tls: false };
const IDLE_TLS: Action = Action::Idle { connections: 10_000, tls: true };

const CROWD: Action = Action::Crowd { connections: 10_000, committing: 1_000, refused: 20_000 };
const WAITERS: Action = Action::Waiters { few: 10, many: 1_000 };

const fn sysbench(name: &'static str, script: &'static str, threads: u32, slow_ms: u64, asked: f64) -> Work {
    let what = "sysbench; see the name for clients and slower syncs";
    let action = Action::Sysbench { script, threads, options: &[] };
    Work { name, what, slow_sync: Duration::from_millis(slow_ms), action, asked }
}

/// The same with statements as text, as most clients send them: nothing is prepared.
const fn sysbench_text(name: &'static str, script: &'static str, threads: u32, asked: f64) -> Work {
    let action = Action::Sysbench { script, threads, options: &["--db-ps-mode=disable"] };
    Work { name, what: "sysbench without prepared statements", slow_sync: Duration::ZERO, action, asked }
}

const fn other(name: &'static str, what: &'static str, action: Action, asked: f64) -> Work {
    Work { name, what, slow_sync: Duration::ZERO, action, asked }
}

pub(crate) const WORKS: &[Work] = &[
    sysbench("update_index_1", "oltp_update_index", 1, 0, 1.8),
    sysbench("update_index_64", "oltp_update_index", 64, 0, 2.0),
    sysbench("update_index_256", "oltp_update_index", 256, 0, 2.0),
    sysbench("write_only_64", "oltp_write_only", 64, 0, 1.6),
    sysbench("point_select_64", "oltp_point_select", 64, 0, 1.5),
    sysbench_text("point_select_text_16", "oltp_point_select", 16, 1.4),
    sysbench("read_only_16", "oltp_read_only", 16, 0, 2.2),
    sysbench("read_write_64", "oltp_read_write", 64, 0, 2.0),
    sysbench("random_ranges_16", "select_random_ranges", 16, 0, 2.5),
    sysbench("hot_row_64", "hot_row.lua", 64, 0, 10.0),
    other("catch_up", "a stopped replica applies 300,000 single-row updates, durable", Action::CatchUp(None), 6.0),
    other(
        "catch_up_mysql",
        "the same of a MySQL source: our replica beside MySQL's",
        Action::CatchUp(Some(Kind::Mysql97)),
        3.0,
    ),
    other(
        "catch_up_maria",
        "the same of a MariaDB source: our replica beside MariaDB's",
        Action::CatchUp(Some(Kind::Maria118)),
        3.0,
    ),
    other("replica", "catch-up by mode and workers, on all logs, durable or not; hours", Action::Replica, 0.0),
    other("recovery", "SIGKILL with 1 GB of log since the checkpoint, until it answers", RECOVERY, 5.0),
    other("recovery_3g", "the same with 3 GB", RECOVERY_3G, 5.0),
    other("idle_10000", "memory of 10,000 idle connections; under 300 MB", IDLE, 0.0),
    other("idle_10000_tls", "the same over TLS", IDLE_TLS, 0.0),
    other("crowd_10000", "1,000 of 10,000 connections commit, 20,000 more are refused meanwhile", CROWD, 0.0),
    other(
        "waiters",
        "1,000 clients on one row, and in deadlocks over ten, beside 10 of them; at least 0.5",
        WAITERS,
        0.0,
    ),
    other("unread_1000", "1,000 clients that do not read their big results", Action::Unread { readers: 1_000 }, 0.0),
    other("steady_2g", "random updates of 2 GB with 192 MB of caches, three minutes", Action::Steady(STEADY_2G), 0.0),
    other("steady_20g", "of 20 GB with 512 MB, half an hour", Action::Steady(STEADY_20G), 0.0),
    other(
        "large_1g",
        "a transaction, and a table, of 1 GB: what they cost others",
        Action::Large { gigabytes: 1 },
        0.0,
    ),
    other("large_10g", "of 10 GB; needs 35 GB of disk", Action::Large { gigabytes: 10 }, 0.0),
    other(
        "checksum_20g",
        "CHECKSUM TABLE, and `commuter checksum` of two servers, with 20 GB; needs 50 GB of disk",
        Action::Checksum { gigabytes: 20 },
        0.0,
    ),
    other("scans", "statements that read or write a table of a million rows", Action::Scans, 1.0),
    other(
        "bulk",
        "mysqldump and its load, LOAD DATA, INSERT of 1,000 rows, REPLACE, all rows to a client",
        Action::Bulk,
        1.5,
    ),
    other("dictionary", "information_schema of one table among 5,000", Action::Dictionary, 1.0),
    other("tpch", "the 22 queries of TPC-H, with `--scale`", Action::Tpch, 1.0),
    other("tpcds", "the 99 queries of TPC-DS, with `--scale`", Action::Tpcds, 0.7),
    other(
        "view",
        "short commits beside a read view of ten minutes, and without one",
        Action::View { seconds: 600 },
        0.0,
    ),
    other("view_hour", "beside one of an hour", Action::View { seconds: 3600 }, 0.0),
    sysbench("slow_update_index_1", "oltp_update_index", 1, 1, 1.9),
    sysbench("slow_update_index_64", "oltp_update_index", 64, 1, 2.3),
    sysbench("slow_hot_row_64", "hot_row.lua", 64, 1, 50.0),
];

/// Scripts of sysbench by name, ours by path.
pub(crate) fn script_path(script: &str) -> String {
    match script.ends_with(".lua") {
        true => workspace_root().join("interop/sysbench").join(script).display().to_string(),
        false => script.to_owned(),
    }
}
