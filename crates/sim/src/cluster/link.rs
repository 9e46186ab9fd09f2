//! A client's connection to a cluster's servers, and all clients together.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use base::codes;
use futures_lite::future;
use io::Env;
use io::sim::SimWorld;
use session::Peer;
use session::client::{Client, ClientError, QueryResult};
use session::transport::StreamTransport;
use wire::client::Credentials;

use super::Shared;
use super::node::{NAMES, address};

/// A client gives up on a server that does not answer for so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// The clients of a cluster.
pub(crate) struct Clients {
    env: Env,
    world: SimWorld,
    stop: Shared<bool>,
    running: Shared<u32>,
    /// What must not be; the controller looks at the end.
    wrong: Shared<Option<String>>,
    /// Servers that have lost something of their logs, for which they ask again.
    behind: Shared<BTreeSet<usize>>,
}

impl Clients {
    /// None yet, on this machine. `behind`: servers that may show less than they have shown.
    pub(super) fn new(env: Env, world: SimWorld, behind: Shared<BTreeSet<usize>>) -> Self {
        let (stop, running, wrong) = (Shared::default(), Shared::default(), Shared::default());
        Clients { env, world, stop, running, wrong, behind }
    }

    /// What a client reaches servers with.
    pub(crate) fn link(&self) -> Link {
        Link {
            env: self.env.clone(),
            world: self.world.clone(),
            stop: self.stop.clone(),
            wrong: self.wrong.clone(),
            behind: self.behind.clone(),
            connection: None,
        }
    }

    /// Starts one.
    pub(crate) fn spawn(&self, client: impl Future<Output = ()> + Send + 'static) {
        let running = self.running.clone();
        *running.lock() += 1;
        let task = async move {
            client.await;
            *running.lock() -= 1;
        };
        self.env.spawner.spawn("client", Box::pin(task));
    }

    /// Tells them to stop after what they are doing.
    pub(super) fn stop(&self) {
        *self.stop.lock() = true;
    }

    /// Whether all have.
    pub(super) fn have_stopped(&self) -> bool {
        *self.running.lock() == 0
    }

    /// The first thing that must not be.
    pub(super) fn wrong(&self) -> Option<String> {
        self.wrong.lock().clone()
    }
}

/// A client's way to one server at a time.
pub(crate) struct Link {
    env: Env,
    pub(crate) world: SimWorld,
    stop: Shared<bool>,
    wrong: Shared<Option<String>>,
    behind: Shared<BTreeSet<usize>>,
    connection: Option<Client>,
}

impl Link {
    pub(crate) fn is_to_stop(&self) -> bool {
        *self.stop.lock()
    }

    /// Whether a server may show less than it has shown.
    pub(crate) fn may_go_back(&self, server: usize) -> bool {
        self.behind.lock().contains(&server)
    }

    pub(crate) async fn pause(&mut self, most_micros: u64) {
        self.env.clock.sleep(Duration::from_micros(self.world.below(most_micros))).await;
    }

    /// Takes a new connection to a server, by its number; whether there is one.
    pub(crate) async fn connect(&mut self, server: usize) -> bool {
        let credentials = Credentials { user: "root".into(), ..Credentials::default() };
        let connect = async {
            let stream = self.env.network.connect(&address(NAMES[server])).await.map_err(ClientError::Io)?;
            Client::connect(Box::new(StreamTransport::new(stream, Peer::default())), &self.env.random, credentials)
                .await
        };
        self.connection = future::or(connect, patience(&self.env)).await.ok();
        self.connection.is_some()
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    pub(crate) fn disconnect(&mut self) {
        self.connection = None;
    }

    pub(crate) async fn query(&mut self, sql: &str) -> Result<QueryResult, ClientError> {
        let Some(connection) = &mut self.connection else {
            return Err(ClientError::Io(std::io::ErrorKind::NotConnected.into()));
        };
        let result = future::or(connection.query(sql), patience(&self.env)).await;
        if let Err(error) = &result
            && error.refused().is_some_and(|error| error.code == codes::INTERNAL_ERROR.0)
        {
            self.wrong(format!("{sql}: {error}"));
        }
        result
    }

    /// Says that something is as it must not be.
    pub(crate) fn wrong(&self, what: String) {
        self.wrong.lock().get_or_insert(what);
    }
}

async fn patience<T>(env: &Env) -> Result<T, ClientError> {
    env.clock.sleep(PATIENCE).await;
    Err(ClientError::Io(std::io::ErrorKind::TimedOut.into()))
}
