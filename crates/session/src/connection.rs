//! One connection from its greeting to its end.
//!
//! ```text
//!   log_in ──> command ──> busy: run it, replies as they come ──> send ──> idle ──> command …
//! ```
//!
//! While it is idle a connection is a task that waits for its socket or for KILL: a session, two small buffers, no timer
//! (the server looks for the ones that are idle for too long once a second). What runs a command is made for it.
//!
//! # Invariants
//! - Every command but those that have no answer is answered exactly once, and answers are sent before the next wait.
//! - A statement that panics ends its connection, with an error to the client: its session is dropped, which rolls back.
//! - Dropping the connection's future at any point gives back its place in the registry, its prepared statements and its locks.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use base::memory::{self, Counted};
use base::{Cancelled, SqlError, codes};
use futures_lite::FutureExt;
use sql::session::Change;
use types::charset::Charset;
use wire::flags::{capability, status};
use wire::handshake::Login;
use wire::reply::{self, SessionChange};

use crate::Shared;
use crate::link::{Ended, Link};
use crate::login::{self, LoggedIn};
use crate::registry::Registered;
use crate::sink::names_charset;
use crate::statements::Statements;
use crate::transport::Transport;

/// A connection that is logged in.
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) entry: Registered,
    pub(crate) link: Link,
    pub(crate) session: sql::Session,
    pub(crate) statements: Statements,
    pub(crate) nonce: [u8; wire::auth::NONCE_BYTES],
    /// Parameters of the statement that runs; kept for its memory.
    pub(crate) params: Vec<types::Value>,
    /// What it said of itself as a replica.
    pub(crate) replica: Option<wire::replication::RegisterReplica>,
    /// Bytes that it had when its memory was last settled.
    held: u64,
}

/// Whether there is a next command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Command,
    Close,
}

/// The longest packet before a client has logged in: those who are let in by nobody shall not take memory.
const LOGIN_BYTES_MAX: usize = 128 << 10;

/// By so many bytes a connection's memory may have changed before it is looked through.
const DRIFT_BYTES: u64 = 1 << 20;

/// Serves one client until it goes, is killed or fails. `entry` is its place among the connections. What memory it takes is counted.
#[io::boxed]
pub async fn serve(shared: Arc<Shared>, entry: Registered, transport: Box<dyn Transport>) {
    let memory = entry.memory.clone();
    Counted::new(memory, serve_counted(shared, entry, transport)).await;
}

async fn serve_counted(shared: Arc<Shared>, entry: Registered, transport: Box<dyn Transport>) {
    let id = entry.id;
    let limit = shared.sql.globals.now().session.max_allowed_packet;
    if let Some(presence) = transport.presence() {
        entry.watch(presence);
    }
    let mut link = Link::new(transport, shared.sql.clone(), entry.handle.clone(), LOGIN_BYTES_MAX);
    // In a box, as each command is: what is not under way takes no memory.
    let ended = match Box::pin(login::log_in(&shared, &entry, &mut link)).await {
        Ok(Some(logged_in)) => {
            link.reader.set_limit(limit);
            let mut connection = Connection::new(shared, entry, link, logged_in);
            let ended = Box::pin(connection.run()).await;
            if !matches!(ended, Ended::Quit) {
                connection.entry.aborted();
            }
            ended
        }
        Ok(None) => return entry.login_failed(),
        Err(ended) => {
            entry.login_failed();
            ended
        }
    };
    match ended {
        Ended::Quit | Ended::Closed | Ended::Killed => tracing::debug!(%id, "{ended}"),
        // A client that goes away in the middle is its own business, but worth a line when looked for.
        Ended::Io(_)
        | Ended::WriteTimeout
        | Ended::ReadTimeout
        | Ended::Interrupted
        | Ended::Wire(_)
        | Ended::Memory(_) => {
            tracing::debug!(%id, "aborted connection: {ended}");
        }
        Ended::Bug => tracing::error!(%id, "{ended}; the connection was closed"),
    }
}

/// Tells a client that it cannot be served (1040), as the first packet.
#[io::boxed]
pub async fn refuse(mut transport: Box<dyn Transport>, error: &SqlError) {
    let mut out = wire::PacketWriter::new();
    reply::write_err(&mut out, 0, error, Charset::Utf8Mb4);
    let _ = transport.write_all(out.bytes()).await;
}

impl Connection {
    fn new(shared: Arc<Shared>, entry: Registered, link: Link, logged_in: LoggedIn) -> Self {
        let statements = Statements::default();
        let LoggedIn { session, nonce } = logged_in;
        entry.set_database(session.database());
        let params = Vec::new();
        Connection { shared, entry, link, session, statements, nonce, params, replica: None, held: 0 }
    }

    async fn run(&mut self) -> Ended {
        loop {
            match self.one_command().await {
                Ok(Next::Command) => {}
                Ok(Next::Close) => return Ended::Quit,
                Err(Ended::Killed) => return self.say_why().await,
                Err(Ended::ReadTimeout) => {
                    let error = SqlError::new(codes::NET_READ_INTERRUPTED, "Got timeout reading communication packets");
                    self.link.writer.set_sequence(0);
                    self.write_err(&error);
                    let _ = self.link.send().await;
                    return Ended::ReadTimeout;
                }
                // What was not understood is answered; then nothing that follows can be understood either.
                Err(Ended::Wire(error)) => {
                    self.answer_unread(&error.clone().into()).await;
                    return Ended::Wire(error);
                }
                Err(Ended::Memory(error)) => {
                    self.answer_unread(&error).await;
                    return Ended::Memory(error);
                }
                Err(ended) => return ended,
            }
        }
    }

    /// Answers a packet that is not read to its end.
    async fn answer_unread(&mut self, error: &SqlError) {
        let sequence = self.link.reader.sequence();
        self.link.writer.set_sequence(sequence);
        self.write_err(error);
        let _ = self.link.send().await;
        self.link.discard().await;
    }

    async fn one_command(&mut self) -> Result<Next, Ended> {
        self.entry.set_idle_limit(self.session.settings().wait_timeout);
        self.entry.idle();
        self.link.read_timeout = self.session.settings().net_read_timeout;
        self.link.write_timeout = self.session.settings().net_write_timeout;
        self.link.rest();
        let (limit, is_shared) = self.session.memory_limit();
        self.entry.memory.set_limit(limit, is_shared);
        if self.link.reader.has_packet() {
            // Commands that came at once wait for nothing: others have their turns between them, and may end it.
            futures_lite::future::yield_now().await;
            if self.session.handle().cancel.check() == Err(Cancelled::Connection) {
                return Err(Ended::Killed);
            }
        }
        let packet = self.link.command().await?;
        self.link.reader.set_limit(self.session.settings().max_allowed_packet);
        self.session.handle().cancel.next_statement();
        self.session.add_traffic(self.link.take_traffic());
        // What came with commands that have no answer.
        if let Err(error) = memory::check() {
            self.write_err(&error);
            self.link.send().await?;
            return Ok(Next::Close);
        }
        let (buffer, packet) = self.link.reader.detach(packet);
        // In a box: 8 KB that an idle connection does not have, for one allocation per command. The box comes first, so
        // that the future is made in it and not copied into it.
        let command = Box::into_pin(Box::write(Box::new_uninit(), self.command(&buffer[packet])));
        let result = AssertUnwindSafe(command).catch_unwind().await;
        self.link.recycle(buffer);
        match result {
            Ok(Ok(next)) => {
                self.link.send().await?;
                self.entry.set_database(self.session.database());
                self.settle_memory();
                Ok(if self.entry.memory.exceeded() { Next::Close } else { next })
            }
            Ok(Err(ended)) => Err(ended),
            Err(panic) => {
                let why = reason_of(&*panic);
                drop(panic);
                Err(self.after_panic(&why).await)
            }
        }
    }

    /// Between transactions it is known what a connection has, and what else was counted for it has become the engine's, or went elsewhere.
    fn settle_memory(&mut self) {
        if self.session.in_transaction() || !self.entry.memory.is_far_from(self.held, DRIFT_BYTES) {
            return;
        }
        let Some(statements) = self.statements.held_bytes() else { return };
        self.held = self.session.held_bytes() + statements;
        self.entry.memory.settle(self.held);
    }

    async fn after_panic(&mut self, why: &str) -> Ended {
        tracing::error!(id = %self.entry.id, "panic in a statement: {why}");
        self.write_err(&SqlError::new(codes::INTERNAL_ERROR, format!("Internal error: {why}")));
        let _ = self.link.send().await;
        Ended::Bug
    }

    /// The last words to a client whose connection is ended while it is idle. They answer nothing, so they have the sequence number of a
    /// greeting, by which clients know them from an answer; a client that was killed is told nothing, as in MySQL.
    async fn say_why(&mut self) -> Ended {
        if self.entry.timed_out() {
            let error = SqlError::new(
                codes::CLIENT_INTERACTION_TIMEOUT,
                "The client was disconnected by the server because of inactivity. See wait_timeout and \
                 interactive_timeout for configuring this behavior.",
            );
            self.link.writer.set_sequence(0);
            self.write_err(&error);
            let _ = self.link.send().await;
        }
        Ended::Killed
    }

    pub(crate) fn write_err(&mut self, error: &SqlError) {
        let charset = names_charset(self.session.settings().character_set_results);
        reply::write_err(&mut self.link.writer, self.link.capabilities, error, charset);
    }

    /// An OK for what is not a statement.
    pub(crate) fn write_plain_ok(&mut self) {
        let ok = reply::Ok { status: self.session.status().0, ..reply::Ok::default() };
        reply::write_ok(&mut self.link.writer, self.link.capabilities, &ok);
    }

    /// OK or ERR.
    pub(crate) fn write_result(&mut self, result: Result<(), SqlError>) {
        match result {
            Ok(()) => self.write_plain_ok(),
            Err(error) => self.write_err(&error),
        }
    }

    /// The end of a statement's answer.
    pub(crate) fn write_outcome(&mut self, outcome: &sql::Outcome, began: bool, more: bool) {
        let more = if more { status::MORE_RESULTS_EXISTS } else { 0 };
        let changes = self.session_changes();
        let mut ok = reply::Ok {
            affected_rows: outcome.affected_rows,
            last_insert_id: outcome.last_insert_id,
            status: outcome.status.0 | more,
            warnings: outcome.warnings,
            info: &outcome.info,
            changes: &changes,
        };
        if began {
            (ok.affected_rows, ok.last_insert_id) = (0, 0);
            reply::write_end_of_rows(&mut self.link.writer, self.link.capabilities, &ok);
        } else {
            reply::write_ok(&mut self.link.writer, self.link.capabilities, &ok);
        }
    }

    fn session_changes(&mut self) -> Vec<SessionChange> {
        match self.link.capabilities & capability::SESSION_TRACK {
            0 => Vec::new(),
            _ => changes_of(&mut self.session),
        }
    }

    /// COM_CHANGE_USER: as a new login on the old stream. A failed one ends the connection.
    pub(crate) async fn change_user(&mut self, body: &[u8]) -> Result<Next, Ended> {
        let Ok(login) = Login::decode_change_user(body, self.link.capabilities) else {
            self.write_err(&SqlError::new(codes::UNKNOWN_COM_ERROR, "Unknown command"));
            return Ok(Next::Close);
        };
        let account = match login::authenticate(&self.shared, &mut self.link, &login, self.nonce).await? {
            Ok(account) => account,
            Err(error) => {
                self.write_err(&error);
                return Ok(Next::Close);
            }
        };
        let expired = match login::check_expired(&self.shared, &login, &account) {
            Ok(expired) => expired,
            Err(error) => {
                self.write_err(&error);
                return Ok(Next::Close);
            }
        };
        self.statements.clear();
        self.replica = None;
        self.session.set_password_expired(expired);
        self.session.change_user(login::client_of(&login, &account, &self.link));
        self.entry.set_attributes(login.attributes.clone());
        if let Err(error) = login::count_for(&self.shared, &self.entry, &login, &account) {
            self.write_err(&error);
            return Ok(Next::Close);
        }
        if !login.database.is_empty()
            && let Err(error) = self.session.use_database(&login.database)
        {
            self.write_err(&error);
            return Ok(Next::Close);
        }
        self.write_plain_ok();
        Ok(Next::Command)
    }
}

/// What the last statement, or the login, changed of the session, as far as it is tracked.
pub(crate) fn changes_of(session: &mut sql::Session) -> Vec<SessionChange> {
    let change = |change| match change {
        Change::Variable(name, value) => SessionChange::SystemVariable(name.to_owned(), value),
        Change::Schema(name) => SessionChange::Schema(name),
        Change::State => SessionChange::State,
        Change::Gtids(set) => SessionChange::Gtids(set),
    };
    session.take_changes().into_iter().map(change).collect()
}

fn reason_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no reason given").to_owned()
}
