//! Real servers and real clients for tests and benchmarks: installs, starts, kills and asks them.
//!
//! Peers (MySQL 9.7, MariaDB 11.8) live in roots of their own made with debootstrap, in the user's cache folder;
//! they and our server run under the same shim (`slowsync.c`), which counts syncs and can make each one slower.
//! Nothing here skips: a peer or tool that is missing is an error that says `cargo xtask install`.
//!
//! Needs root (chroot, mounts) and Debian underneath.

mod client;
mod connection;
mod crowd;
pub mod everyday;
mod follow;
mod fuzz;
mod grammar;
mod held;
mod install;
mod kill;
pub mod mixed;
mod node;
pub mod pairs;
mod peer;
mod process;
pub mod random_sql;
mod raw;
mod relay;
mod server;

pub use client::{Client, Sysbench, SysbenchReport, SysbenchSecond, java, java_with_debezium, python, run_tool};
pub use connection::{Answer, Connection};
pub use crowd::{Crowd, Crowded, Figures, be_refused, count_up, count_up_two, create_counters};
pub use follow::gtid_executed;
pub use fuzz::fuzz_statements;
pub use held::Held;
pub use install::{Kind, failing_path, install_everything, peers_home, python_path, shim_path, tpcds_into};
pub use kill::kill_loop;
pub use node::Node;
pub use peer::Peer;
pub use process::{beside, forget_peak, free_port, peak_kib, resident_kib, thread_count, until, workspace_root};
pub use raw::Raw;
pub use relay::{IN_USE_AT, Relay};
pub use server::{Server, ServerOptions, commuter_binary};
pub use wire::client::Credentials;
pub use wire::column::OwnedColumn as Column;
pub use wire::flags::capability;

/// Errors are texts for a person who reads a test's output.
pub type Result<T> = std::result::Result<T, String>;
