//! A binary log server: keeps the log of a real MySQL or MariaDB byte for byte, and serves replicas from it.
//!
//! ```text
//!   source ──stream──► receiver ──append, one sync per batch──► store ──durable bytes──► dump ──► replicas, tools
//!                      (a replica to the source)                (the source's files)     (a source to replicas)
//! ```
//! | module | what it is |
//! |---|---|
//! | `store` | the files: appending, durable end, readers, recovery of the tail, purge |
//! | `groups` | where transactions begin and end, in both dialects, and which there are |
//! | `source`, `receiver` | connects to the source as a replica of its kind, compares, copies |
//! | `link`, `connection` | a client: packets, login, commands |
//! | `statements`, `variables` | what replicas and tools ask before they ask for the log |
//! | `start`, `dump` | where a stream begins, and the stream |
//!
//! There is no engine and no log of our own: nothing is applied, and a byte that is here was the source's.
//!
//! # Invariants
//! - Names, positions and bytes are the source's. Replicas of the source's own kind go from it to the relay and back.
//! - Only durable bytes are sent.
//! - The relay serves what it has whether its source is there or not.
//! - A client costs a task, and memory for a piece of a file or one event, whichever is longer.

mod connection;
mod dump;
mod error;
mod groups;
mod link;
mod receiver;
mod source;
mod start;
mod statements;
mod status;
mod store;
#[cfg(test)]
mod tests;
mod variables;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::time::Duration;

use base::Uuid;
use binlog::BinlogError;
use event_listener::Event;
use io::{Env, IoBuf, OpenOptions};
use parking_lot::Mutex;
use session::Transport;
use session::auth::{Accounts, DigestCache};
use session::key::KeyHolder;
use sql::account::Account;
use sql::parse::ast::UserName;
use wire::auth;

pub use error::RelayError;
use error::{corrupt, io_error};
use source::Identity;
pub use source::Source;
use status::SharedStatus;
use store::{PurgePolicy, Store, Writer};

/// Has this relay's UUID, as text.
const UUID_FILE: &str = "relay.uuid";

/// How a relay is run.
#[derive(Clone)]
pub struct RelayOptions {
    /// Where the log comes from.
    pub source: Source,
    /// Of an empty folder: the source's file to begin with, in place of its first.
    pub start_file: Option<String>,
    /// Our number among servers; made of the UUID if there is none.
    pub server_id: Option<u32>,
    /// The port that replicas are served on, for the source to list.
    pub port: u16,
    /// The only account.
    pub user: String,
    /// Its password; empty for none.
    pub password: String,
    /// More clients are not let in.
    pub max_connections: usize,
    /// A file goes so long after the source has closed it.
    pub expire: Option<Duration>,
    /// The oldest files go while all together have more bytes.
    pub space_limit: Option<u64>,
}

impl RelayOptions {
    fn policy(&self) -> PurgePolicy {
        PurgePolicy { expire: self.expire, space: self.space_limit }
    }
}

/// Whether everything is to end, and why if it has to.
#[derive(Default)]
pub(crate) struct End {
    state: Mutex<Option<Option<String>>>,
    changed: Event,
}

impl End {
    pub(crate) fn ask(&self, failure: Option<String>) {
        self.state.lock().get_or_insert(failure);
        self.changed.notify(usize::MAX);
    }

    pub(crate) async fn asked(&self) -> Option<String> {
        loop {
            let changed = self.changed.listen();
            if let Some(failure) = self.state.lock().clone() {
                return failure;
            }
            changed.await;
        }
    }
}

/// A relay.
pub struct Relay {
    env: Env,
    options: RelayOptions,
    identity: Identity,
    store: Arc<Store>,
    status: SharedStatus,
    digests: DigestCache,
    key: Arc<KeyHolder>,
    account: Account,
    /// Of the account's password, for `caching_sha2_password`.
    sha2_hash: String,
    dumps: dump::Dumps,
    end: End,
    connections: AtomicUsize,
    last_connection: AtomicU32,
}

impl Relay {
    /// Opens the folder that is the environment's disk, and begins to copy.
    ///
    /// # Errors
    /// When the folder cannot be used.
    pub async fn open(env: Env, options: RelayOptions) -> Result<Arc<Self>, BinlogError> {
        let writer = Store::open(env.clone()).await?;
        let server_uuid = own_uuid(&env).await?;
        let made_of_uuid = u32::from_le_bytes([server_uuid.0[0], server_uuid.0[1], server_uuid.0[2], server_uuid.0[3]]);
        let server_id = options.server_id.unwrap_or(made_of_uuid.max(1));
        let relay = Relay::new(env.clone(), options, Identity { server_id, server_uuid, port: 0 }, &writer);
        let (receives, purges) = (relay.clone(), relay.clone());
        let receive = async move {
            futures_lite::future::or(receiver::run(&receives, writer), async {
                receives.end.asked().await;
            })
            .await;
        };
        let purge = async move {
            futures_lite::future::or(receiver::purge(&purges), async {
                purges.end.asked().await;
            })
            .await;
        };
        env.spawner.spawn("receiver", Box::pin(receive));
        env.spawner.spawn("purge", Box::pin(purge));
        Ok(relay)
    }

    fn new(env: Env, options: RelayOptions, identity: Identity, writer: &Writer) -> Arc<Self> {
        let identity = Identity { port: options.port, ..identity };
        let mut salt = [0; auth::NONCE_BYTES];
        env.random.fill(&mut salt);
        let name = UserName { user: options.user.clone(), host: "%".to_owned() };
        Arc::new(Relay {
            identity,
            store: writer.store().clone(),
            status: SharedStatus::default(),
            digests: DigestCache::default(),
            key: KeyHolder::new(env.clone()),
            account: Account::new(&name, "", ""),
            sha2_hash: auth::sha2_hash(options.password.as_bytes(), &auth::nonce_from(salt)),
            dumps: dump::Dumps::default(),
            end: End::default(),
            connections: AtomicUsize::new(0),
            last_connection: AtomicU32::new(0),
            env,
            options,
        })
    }

    /// Serves one client until it goes.
    pub async fn serve<T: Transport>(self: Arc<Self>, transport: T) {
        connection::serve(&self, transport).await;
    }

    /// Asks everything to end.
    pub fn stop(&self) {
        self.end.ask(None);
    }

    /// Ready when everything is to end; why, if it has to.
    pub async fn ended(&self) -> Option<String> {
        self.end.asked().await
    }

    fn env(&self) -> &Env {
        &self.env
    }
}

/// The UUID of this folder's relay, made by the first start.
async fn own_uuid(env: &Env) -> Result<Uuid, BinlogError> {
    let failed = |error: std::io::Error| io_error("keep", UUID_FILE, &error);
    if env.disk.exists(UUID_FILE).await.map_err(failed)? {
        let file = env.disk.open(UUID_FILE, OpenOptions::default()).await.map_err(failed)?;
        let len = file.len().await.map_err(failed)? as usize;
        let bytes = file.read_at(0, IoBuf::zeroed(len)).await.map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        return text.trim().parse().map_err(|why: String| corrupt(UUID_FILE, 0, why));
    }
    let mut bytes = [0; 16];
    env.random.fill(&mut bytes);
    // Version 4, of random bytes.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let uuid = Uuid(bytes);
    let new = format!("{UUID_FILE}.new");
    let write = async {
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = env.disk.open(&new, options).await?;
        file.set_len(0).await?;
        file.write_at(0, IoBuf::copy_of(format!("{uuid}\n").as_bytes())).await?;
        file.sync().await?;
        env.disk.rename(&new, UUID_FILE).await?;
        env.disk.sync_dir("").await
    };
    write.await.map_err(failed)?;
    Ok(uuid)
}

impl Accounts for Relay {
    fn find(&self, user: &str, _: &str) -> Option<Account> {
        (user == self.account.user).then(|| self.account_now())
    }
}
