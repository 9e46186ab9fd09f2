//! The connection to the source: asks for the log from the end of what is here, compares, appends.
//!
//! ```text
//!   connect ──> who is it? ──┬─ the one that the newest generation is of ──> from before our last transaction ──> compare, append
//!                            ├─ nobody was followed before ──> from its first file, or --start-file
//!                            └─ another ──> by GTIDs: in which of its files is what we lack? ──> a new generation from there
//! ```
//! Lost connections, a disk without room and garbled events are tried again, quickly at first. What trying again does not help
//! (the source's log is another one, it has purged what is missing) is shown in the status and tried again all the same, every
//! minute: nothing is appended meanwhile, and who mends the source need not know of us. Only after a failed sync it is over.

pub(crate) mod connect;
pub(crate) mod copier;
pub mod status;

use std::sync::Arc;
use std::time::Duration;

use base::ErrorClass;
use binlog::event::MAGIC;
use futures_lite::future;
use io::Env;
use repl::SourceSettings;
use repl::follower::handshake::{self, SourceClient};
use repl::follower::{Identity, ReceiveError, of_client, pause_before};
use wire::replication::{BinlogDump, DUMP_HEARTBEAT_V2, SemiSyncAck};

use self::connect::Connected;
use self::copier::{Copier, Received};
use self::status::{Running, Status};
use crate::acks::{Acks, Owed};
use crate::kept::Source;
use crate::store::Store;
use crate::store::writer::{BATCH_SIZE, Writer};

/// Without a word from the source for so long, its connection is taken for lost.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// How often the source is to say that it is there.
pub(crate) const HEARTBEAT_SECONDS: f64 = 10.0;
/// Between two attempts that are not the first ones.
const CONNECT_RETRY: Duration = Duration::from_secs(1);
/// Between two attempts where trying again does not help by itself.
const REFUSED_RETRY: Duration = Duration::from_secs(60);
/// An event that is wrong so often in one place is wrong at the source.
const GARBLED_MAX: u32 = 5;

/// Follows a source.
pub struct Receiver {
    env: Env,
    settings: SourceSettings,
    identity: Identity,
    /// With which file to begin, if nothing is here yet; empty for the source's first.
    start_file: String,
    status: Arc<Status>,
    /// `None` if the source is not offered acknowledgements.
    acks: Option<Arc<Acks>>,
    writer: Writer,
}

impl Receiver {
    /// For a relay's files; nothing is done before [`Receiver::run`].
    pub fn new(
        store: &Arc<Store>,
        settings: SourceSettings,
        identity: Identity,
        start_file: String,
        status: Arc<Status>,
        acks: Option<Arc<Acks>>,
    ) -> Self {
        Receiver {
            env: store.env().clone(),
            settings,
            identity,
            start_file,
            status,
            acks,
            writer: Writer::new(store.clone()),
        }
    }

    /// Receives until a sync fails.
    #[io::boxed]
    pub async fn run(mut self) {
        let mut attempts = 0;
        let mut garbled = ((String::new(), 0), 0);
        loop {
            self.status.set(Running::Connecting, "Connecting to source");
            let Err(error) = self.connect_and_copy(&mut attempts).await else { continue };
            attempts += 1;
            let mut passes = may_pass(&error);
            if let ReceiveError::Garbled(_) = &error {
                let here = (self.writer.file_name().to_owned(), self.writer.end());
                garbled = if garbled.0 == here { (here, garbled.1 + 1) } else { (here, 1) };
                passes = garbled.1 <= GARBLED_MAX;
            }
            self.status.set_error(&error, self.env.clock.now());
            if let Err(failed) = self.store().check() {
                tracing::error!("nothing is received any more, what was synced is still served: {failed}");
                return self.status.set(Running::No, "");
            }
            let (pause, running) = match passes {
                true => (pause_before(attempts, CONNECT_RETRY), Running::Connecting),
                false => (REFUSED_RETRY, Running::No),
            };
            tracing::warn!("{error}; attempt {attempts}, the next one in {pause:?}");
            self.status.set(running, "Waiting to reconnect after a failed source event read");
            self.env.clock.sleep(pause).await;
        }
    }

    fn store(&self) -> &Arc<Store> {
        self.writer.store()
    }

    async fn connect_and_copy(&mut self, attempts: &mut u64) -> Result<(), ReceiveError> {
        self.writer.go_back().await?;
        let connected =
            self.in_time(connect::connect(&self.env, &self.settings, &self.identity, self.acks.is_some())).await?;
        self.status.connected(&connected);
        let (file, position) = self.settle(&connected.source).await?;
        let Connected { mut client, .. } = connected;
        let result = self.stream(&mut client, &file, position, attempts).await;
        self.acks.iter().for_each(|acks| acks.set_acknowledges(false));
        self.explain(result).await
    }

    /// Decides whose log this is, and where it goes on: a file's name, which is empty for the first, and a position.
    async fn settle(&mut self, source: &Source) -> Result<(String, u64), ReceiveError> {
        let (store, first) = (self.store().clone(), MAGIC.len() as u64);
        let kept = |error: std::io::Error| ReceiveError::Unfit(format!("cannot keep what the source says: {error}"));
        let Some(newest) = store.generation() else {
            store.set_source(source, false).await.map_err(kept)?;
            return Ok((self.start_file.clone(), first));
        };
        let is_another = !newest.source.is_same(source);
        if let Some(live) = store.live().filter(|_| !is_another) {
            store.set_source(source, false).await.map_err(kept)?;
            return Ok((live.name, store.compare_from()));
        }
        // Nothing of this source is here yet, maybe something of one before it.
        let file = match store.gtids() {
            Some(ours) => {
                check_switch(&newest.source, source)?;
                self.in_time(connect::first_file(&self.env, &self.settings, &self.identity, &ours)).await?
            }
            None => self.start_file.clone(),
        };
        store.set_source(source, is_another).await.map_err(kept)?;
        self.writer.go_back().await?;
        if is_another {
            tracing::info!("the source is another server now; its log begins with {file} in a generation of its own");
        }
        Ok((file, first))
    }

    async fn stream(
        &mut self,
        client: &mut SourceClient,
        file: &str,
        position: u64,
        attempts: &mut u64,
    ) -> Result<(), ReceiveError> {
        let name = format!("{:?}", self.settings);
        let server_id = self.identity.server_id;
        // The same flag asks a MySQL for longer heartbeats, and a MariaDB for the statements of rows, which its files have.
        let dump = BinlogDump { flags: DUMP_HEARTBEAT_V2, server_id, file: file.to_owned(), position, gtid_set: None };
        client.dump(&dump).await.map_err(|error| of_client(&name, error))?;
        let mut copier = Copier::new(&mut self.writer, position).await?;
        let none = Acks::default();
        let acks = self.acks.as_deref().unwrap_or(&none);
        let mut owed = Owed::new(acks);
        self.status.set(Running::Yes, "Waiting for source to send event");
        loop {
            let event = match heard(client, &mut owed, &self.env, &name).await? {
                Heard::Due(ack) => {
                    client.acknowledge(&ack).await.map_err(|error| of_client(&name, error))?;
                    continue;
                }
                Heard::End => return Err(ReceiveError::lost(&name, "the source ended the stream".to_owned())),
                Heard::Event(event) => event,
            };
            if copier.event(event).await? == Received::Heartbeat {
                self.status.heartbeat(self.env.clock.now());
            }
            if client.asks_for_acknowledgement() {
                let (place, file) = copier.place();
                owed.asked(place, file);
            }
            acks.set_acknowledges(client.is_semi_sync());
            if copier.is_compared() {
                *attempts = 0;
            }
            // One sync for all that has come meanwhile.
            if !client.has_event() || copier.writer.unsynced() >= BATCH_SIZE {
                copier.writer.flush().await?;
                owed.synced();
                self.status.received(copier.writer.file_name(), copier.writer.end());
            }
        }
    }

    async fn in_time<T>(&self, what: impl Future<Output = Result<T, ReceiveError>>) -> Result<T, ReceiveError> {
        let name = format!("{:?}", self.settings);
        future::or(what, silence(&self.env, &name)).await
    }

    /// Adds both sides to an error that says that the logs differ.
    async fn explain(&self, result: Result<(), ReceiveError>) -> Result<(), ReceiveError> {
        let begin_anew = "to copy this source as it is now, begin with an empty folder (--datadir)";
        let (ours, difference) = match result {
            Err(ReceiveError::NotAPrefix { ours, difference, .. }) => (ours, difference),
            // The source has no such file, no such position in it, or no event begins there.
            Err(ReceiveError::Refused(error)) if self.store().live().is_some() => {
                (copier::our_end(self.store()), format!("the source says: {}", error.message))
            }
            other => return other,
        };
        let theirs = handshake::log_end(&self.env, &self.settings, connect::PROGRAM).await;
        Err(ReceiveError::NotAPrefix { ours, theirs, difference: format!("{difference}; {begin_anew}") })
    }
}

/// What a stream waits for.
enum Heard<'a> {
    Event(&'a [u8]),
    /// The source has said that there is no more.
    End,
    /// The source is to be told.
    Due(SemiSyncAck),
}

async fn heard<'a>(
    client: &'a mut SourceClient,
    owed: &mut Owed<'_>,
    env: &Env,
    name: &str,
) -> Result<Heard<'a>, ReceiveError> {
    let due = async { Ok(Heard::Due(owed.next().await)) };
    let next = async {
        let event = client.next_event().await.map_err(|error| of_client(name, error))?;
        Ok(event.map_or(Heard::End, Heard::Event))
    };
    future::or(due, future::or(next, silence(env, name))).await
}

/// Another server can be followed where transactions have names that both know.
fn check_switch(old: &Source, new: &Source) -> Result<(), ReceiveError> {
    let begin_anew = "begin with an empty folder (--datadir)";
    if old.kind != new.kind {
        let why = format!("the log here is a {}'s, the source is a {}; {begin_anew}", old.kind, new.kind);
        return Err(ReceiveError::Unfit(why));
    }
    match [old, new].iter().find(|source| !source.has_gtids()) {
        None => Ok(()),
        Some(source) => Err(ReceiveError::Unfit(format!(
            "the source is another server than before ({} and not {}), and {} has gtid_mode={}: without GTIDs nobody knows where its \
             log goes on; {begin_anew}",
            new.uuid,
            old.uuid,
            source.uuid,
            source.variable("gtid_mode").unwrap_or("OFF"),
        ))),
    }
}

/// Never ready with a value: an error when nothing was heard for too long.
async fn silence<T>(env: &Env, name: &str) -> Result<T, ReceiveError> {
    env.clock.sleep(SILENCE_MAX).await;
    Err(ReceiveError::lost(name, format!("nothing was heard of it for {} seconds", SILENCE_MAX.as_secs())))
}

/// Whether trying again soon may help.
fn may_pass(error: &ReceiveError) -> bool {
    match error {
        ReceiveError::Connection { .. } | ReceiveError::Garbled(_) => true,
        ReceiveError::Log(error) => matches!(error.class(), ErrorClass::Full | ErrorClass::Io),
        _ => false,
    }
}
