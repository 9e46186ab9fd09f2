//! One connection as a state machine: commands in, replies out.
//!
//! [`serve`] takes a byte stream (a [`Transport`]) and a place in the [`Registry`], and runs the whole life of a client:
//! login, commands, end. SQL is `sql`'s, packets are `wire`'s; here is what binds them to one client. No sockets and no
//! runtime: the server gives it TCP, Unix or TLS streams, a simulation gives it its own.
//!
//! | module | what |
//! |---|---|
//! | [`transport`] | the stream under a connection |
//! | `link` | packets over it, and what ends a wait |
//! | `login`, [`auth`], [`key`] | who is there |
//! | `connection`, `commands`, `execute` | the loop, and each command |
//! | `local_file` | files that clients send |
//! | `sink` | rows on their way out, with back-pressure |
//! | `statements` | prepared statements |
//! | [`dump`] | the seam to replication |
//! | [`registry`] | all connections: SHOW PROCESSLIST, KILL, timeouts |
//! | [`client`], [`tls`] | the other side: a client for followers and tools |

pub mod auth;
pub mod client;
mod commands;
mod connection;
mod digests;
pub mod dump;
mod execute;
pub mod key;
mod link;
mod local_file;
mod login;
pub mod registry;
mod sink;
mod statements;
pub mod tls;
pub mod transport;

use std::sync::Arc;
use std::time::Duration;

pub use connection::{refuse, serve};
pub use registry::{Registered, Registry};
pub use transport::{Certificate, Peer, Presence, Transport};

/// What all connections of a server share.
pub struct Shared {
    /// What their sessions share.
    pub sql: Arc<sql::session::Shared>,
    /// The connections.
    pub registry: Arc<Registry>,
    /// Passwords that were proved before.
    pub digests: auth::DigestCache,
    /// For passwords on open streams.
    pub key: Arc<key::KeyHolder>,
    /// Serves replicas; without it they are refused.
    pub dump: Option<Arc<dyn dump::DumpService>>,
    started: Duration,
}

impl Shared {
    /// For a server that starts now.
    pub fn new(sql: Arc<sql::session::Shared>, registry: Arc<Registry>) -> Self {
        Shared {
            registry,
            digests: auth::DigestCache::default(),
            key: key::KeyHolder::new(sql.env.clone()),
            dump: None,
            started: sql.env.clock.monotonic(),
            sql,
        }
    }

    /// `Uptime`
    pub fn uptime(&self) -> Duration {
        self.sql.env.clock.monotonic().saturating_sub(self.started)
    }

    /// The line of COM_STATISTICS.
    fn statistics(&self) -> String {
        format!(
            "Uptime: {}  Threads: {}  Running: {}  Connections: {}",
            self.uptime().as_secs(),
            self.registry.connected(),
            self.registry.running(),
            self.registry.opened()
        )
    }
}
