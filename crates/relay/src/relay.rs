//! A relay without listeners: files, receiver, connections.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use base::{SqlError, UnixMicros, codes};
use binlog::BinlogError;
use futures_lite::future;
use io::Env;
use parking_lot::Mutex;
use repl::SourceSettings;
use repl::follower::Identity;
use repl::source::{Replicas, Wishes};
use session::Transport;
use session::dump::DumpRequest;
use session::key::KeyHolder;
use types::charset::Charset;
use wire::{PacketWriter, reply};

use crate::acks::Acks;
use crate::gtids::{Gtids, Kind};
use crate::receive::status::Status;
use crate::receive::{HEARTBEAT_SECONDS, Receiver};
use crate::serve;
use crate::serve::link::Ending;
use crate::serve::login::Door;
use crate::store::reader::head_of;
use crate::store::{FileId, Limits, OpenError, Store};

/// How often files that are beyond the limits are looked for.
const PURGE_STEP: Duration = Duration::from_secs(1);
/// What a relay calls itself before it knows its source.
const UNKNOWN_VERSION: &str = "9.7.0";

/// How a relay is set up.
#[derive(Clone)]
pub struct RelayOptions {
    /// The source, and who we are there.
    pub source: SourceSettings,
    /// With which file to begin, if nothing is here yet; empty for the source's first.
    pub start_file: String,
    /// The relay's `server_id`; `None` for the one that it made for itself.
    pub server_id: Option<u32>,
    /// Who may log in.
    pub user: String,
    /// With which password; without one anybody on this machine is let in.
    pub password: String,
    /// What is kept of the log.
    pub limits: Limits,
    /// More clients are not let in.
    pub connections_max: usize,
    /// `rpl_semi_sync_replica_enabled`: a source that asks for acknowledgements gets them.
    pub acknowledges: bool,
    /// So many replicas must acknowledge before the source is told (`rpl_semi_sync_source_wait_for_replica_count`); 0: they are not asked.
    pub replicas_wanted: usize,
    /// As it is shown to the source: our host.
    pub report_host: String,
    /// The same: our port.
    pub report_port: u16,
}

/// A relay.
pub struct Relay {
    store: Arc<Store>,
    options: RelayOptions,
    identity: Identity,
    status: Arc<Status>,
    acks: Arc<Acks>,
    replicas: Replicas,
    connections: Mutex<BTreeMap<u32, Arc<Ending>>>,
    last_connection: AtomicU32,
    /// For replicas of MySQL's kind, and of MariaDB's.
    doors: [Door; 2],
    /// What a file says is before it: the one that was the first when somebody asked last.
    purged: Mutex<Option<(FileId, Gtids)>>,
    started: UnixMicros,
}

impl Relay {
    /// Opens the folder that `env` is rooted at. Nothing is received before [`Relay::run`].
    ///
    /// # Errors
    /// [`OpenError`]
    #[io::boxed]
    pub async fn open(env: Env, options: RelayOptions) -> Result<Arc<Self>, OpenError> {
        let store = Store::open(env.clone()).await?;
        let kept = store.kept();
        let identity = Identity {
            server_id: options.server_id.unwrap_or(kept.server_id),
            server_uuid: kept.uuid.parse().map_err(|why: String| OpenError::Kept(std::io::Error::other(why)))?,
            report_host: options.report_host.clone(),
            report_port: options.report_port,
        };
        let status = Arc::new(Status::default());
        if let Some(live) = store.live() {
            status.begin(&live.name, live.size);
        }
        let key = KeyHolder::new(env.clone());
        let doors =
            [Kind::Mysql, Kind::Maria].map(|kind| Door::new(&env, &key, &options.user, &options.password, kind));
        Ok(Arc::new(Relay {
            store,
            identity,
            status,
            acks: Arc::new(Acks::new(options.replicas_wanted)),
            replicas: Replicas::default(),
            connections: Mutex::default(),
            last_connection: AtomicU32::new(0),
            doors,
            purged: Mutex::new(None),
            started: env.clock.now(),
            options,
        }))
    }

    /// Receives and purges, for ever. After a failed sync it only purges.
    #[io::boxed]
    pub async fn run(&self) {
        let mut source = self.options.source.clone();
        source.heartbeat_period_seconds = HEARTBEAT_SECONDS;
        let start_file = self.options.start_file.clone();
        let acks = self.options.acknowledges.then(|| self.acks.clone());
        let (identity, status) = (self.identity.clone(), self.status.clone());
        let receiver = Receiver::new(&self.store, source, identity, start_file, status, acks);
        future::zip(receiver.run(), self.purge()).await;
    }

    async fn purge(&self) {
        loop {
            if let Err(error) = self.store.purge(&self.options.limits).await {
                tracing::warn!("purge: {error}");
            }
            self.store.env().clock.sleep(PURGE_STEP).await;
        }
    }

    /// Serves a client until it goes, or tells it that there are too many.
    #[io::boxed]
    pub async fn serve(self: Arc<Self>, mut transport: Box<dyn Transport>) {
        let id = self.last_connection.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let ending = Arc::new(Ending::default());
        if !self.take_place(id, &ending) {
            let mut out = PacketWriter::new();
            reply::write_err(
                &mut out,
                0,
                &SqlError::new(codes::CON_COUNT_ERROR, "Too many connections"),
                Charset::Utf8Mb4,
            );
            let _ = transport.write_all(out.bytes()).await;
            return;
        }
        let place = Place { relay: self.clone(), id };
        serve::serve(self, transport, id, ending).await;
        drop(place);
    }

    /// False if there are too many.
    fn take_place(&self, id: u32, ending: &Arc<Ending>) -> bool {
        let mut connections = self.connections.lock();
        if connections.len() >= self.options.connections_max {
            return false;
        }
        connections.insert(id, ending.clone());
        true
    }

    /// Ends all connections.
    pub fn end_connections(&self) {
        self.connections.lock().values().for_each(|ending| ending.ask());
    }

    /// How many clients there are.
    pub fn connection_count(&self) -> usize {
        self.connections.lock().len()
    }

    /// A replica that connects anew ends its older stream.
    pub(crate) fn end_older(&self, request: &DumpRequest) {
        let uuid = Wishes::of(request).uuid;
        for older in self.replicas.begin_dump(request, &uuid) {
            tracing::info!("a new dump of the same replica ends connection {older}");
            if let Some(ending) = self.connections.lock().get(&older.0) {
                ending.ask();
            }
        }
    }

    /// The files.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// How the receiver is doing.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Who is connected.
    pub(crate) fn replicas(&self) -> &Replicas {
        &self.replicas
    }

    /// Who we are to the source and to replicas.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What is acknowledged to the source and by replicas.
    pub(crate) fn acks(&self) -> &Arc<Acks> {
        &self.acks
    }

    /// Whether acknowledgements are offered to the source.
    pub(crate) fn offers_acknowledgements(&self) -> bool {
        self.options.acknowledges
    }

    pub(crate) fn settings(&self) -> &SourceSettings {
        &self.options.source
    }

    pub(crate) fn user(&self) -> &str {
        &self.options.user
    }

    pub(crate) fn door(&self) -> &Door {
        match self.store.kind() {
            Some(Kind::Maria) => &self.doors[1],
            _ => &self.doors[0],
        }
    }

    /// The source's version: replicas decide by it what they can expect.
    pub fn version(&self) -> String {
        self.store.generation().map_or_else(|| UNKNOWN_VERSION.to_owned(), |generation| generation.source.version)
    }

    /// What was in the log before its first file, as of some moment in the call: files may go meanwhile. `None` before there is a log.
    pub(crate) async fn purged(&self) -> Result<Option<Gtids>, BinlogError> {
        loop {
            // A file leaves the list before it is removed, so the first of the list is what a replica can begin with.
            let Some(first) = self.store.first() else { return Ok(self.store.gtids()) };
            if let Some((id, gtids)) = &*self.purged.lock()
                && *id == first.id
            {
                return Ok(Some(gtids.clone()));
            }
            match head_of(&self.store, &first).await {
                Ok(head) => *self.purged.lock() = Some((first.id, head.gtids)),
                // It was purged meanwhile.
                Err(_) if self.store.first().is_none_or(|now| now.id != first.id) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The line of COM_STATISTICS.
    pub(crate) fn statistics(&self) -> String {
        let uptime = self.store.env().clock.now().0.saturating_sub(self.started.0) / 1_000_000;
        format!("Uptime: {uptime}  Threads: {}", self.connection_count())
    }
}

/// A connection's place among the others, given back when it is dropped.
struct Place {
    relay: Arc<Relay>,
    id: u32,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.relay.connections.lock().remove(&self.id);
    }
}
