//! One client, from its login to its end.
//!
//! There is one account. Its method is what its kind of replica knows: `mysql_native_password` where the files are MariaDB's,
//! `caching_sha2_password` else.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::{SqlError, codes};
use futures_lite::future::or;
use session::Transport;
use session::auth::{Authentication, Step};
use sql::account::Account;
use types::Value;
use wire::codec::Put;
use wire::column::Column;
use wire::command::Command;
use wire::flags::{COLLATION_UTF8MB4_GENERAL_CI, capability, column_type, status};
use wire::handshake::{FirstAnswer, Greeting, Login};
use wire::replication::RegisterReplica;
use wire::{WireError, auth, reply};

use crate::Relay;
use crate::link::{Ended, Link};
use crate::source::Kind;
use crate::statements::{self, Answer};

/// For each packet of a login.
const LOGIN_PATIENCE: Duration = Duration::from_secs(10);
/// A client may be idle for so long.
const IDLE_PATIENCE: Duration = Duration::from_secs(8 * 3600);

/// What a client has set and said.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) id: u32,
    /// Names in lower case.
    pub(crate) variables: Vec<(String, Value)>,
    pub(crate) replica: Option<RegisterReplica>,
}

impl Session {
    /// A user variable, by any of its names.
    pub(crate) fn variable(&self, names: &[&str]) -> Option<&Value> {
        self.variables.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value)
    }
}

impl Relay {
    /// The account, with the method that fits the files.
    pub(crate) fn account_now(&self) -> Account {
        let plugin = self.method();
        let password = self.options.password.as_bytes();
        let authentication = match password {
            [] => String::new(),
            _ if plugin == auth::NATIVE => auth::native_hash(password),
            _ => self.sha2_hash.clone(),
        };
        Account { plugin: plugin.to_owned(), authentication, ..self.account.clone() }
    }

    fn method(&self) -> &'static str {
        match Kind::of(&self.store.version()) {
            Kind::Maria => auth::NATIVE,
            Kind::Mysql => auth::CACHING_SHA2,
        }
    }
}

/// Serves a client until it goes, or everything ends.
pub(crate) async fn serve<T: Transport>(relay: &Arc<Relay>, transport: T) {
    let mut link = Link::new(transport, relay.env().clock.clone());
    let count = relay.connections.fetch_add(1, Ordering::SeqCst);
    let served = async {
        if count >= relay.options.max_connections {
            return link.refuse(&SqlError::new(codes::CON_COUNT_ERROR, "Too many connections")).await;
        }
        match log_in(relay, &mut link).await? {
            Some(session) => run(relay, &mut link, session).await,
            None => Ok(()),
        }
    };
    let ended = async {
        relay.end.asked().await;
        Ok(())
    };
    if let Err(error) = or(served, ended).await {
        tracing::debug!("a connection ends: {error}");
    }
    relay.connections.fetch_sub(1, Ordering::SeqCst);
}

/// Greets and authenticates. `None`: the client was told why not.
async fn log_in<T: Transport>(relay: &Arc<Relay>, link: &mut Link<T>) -> Result<Option<Session>, Ended> {
    let id = relay.last_connection.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    let mut random = [0; auth::NONCE_BYTES];
    relay.env().random.fill(&mut random);
    let nonce = auth::nonce_from(random);
    let tls = if link.transport.peer().can_start_tls { capability::SSL } else { 0 };
    let greeting = Greeting {
        server_version: crate::variables::version(relay),
        connection_id: id,
        nonce: nonce.to_vec(),
        capabilities: capability::SERVER | tls,
        collation: COLLATION_UTF8MB4_GENERAL_CI as u8,
        status: status::AUTOCOMMIT,
        auth_plugin: relay.method().to_owned(),
    };
    link.writer.packet(|out| greeting.encode(out));
    link.send().await?;
    let login = first_answer(link).await?;
    let account = match authenticate(relay, link, &login, nonce).await? {
        Ok(account) => account,
        Err(error) => {
            tracing::info!("{}", error.message);
            link.refuse(&error).await?;
            return Ok(None);
        }
    };
    tracing::debug!("{} has come from {}", account.user, link.transport.peer().address());
    write_ok(link);
    link.send().await?;
    Ok(Some(Session { id, ..Session::default() }))
}

/// The login packet, after TLS was started if the client wants it.
async fn first_answer<T: Transport>(link: &mut Link<T>) -> Result<Box<Login>, Ended> {
    link.reader.set_sequence(1);
    loop {
        let packet = link.packet(LOGIN_PATIENCE).await?;
        match FirstAnswer::decode(&link.reader.buffer()[packet])? {
            FirstAnswer::TlsRequest { .. } if link.transport.peer().can_start_tls => {
                let unread = link.reader.take_unread();
                link.transport.start_tls(unread).await?;
            }
            FirstAnswer::TlsRequest { .. } => {
                return Err(WireError::Malformed("a TLS request that was not offered").into());
            }
            FirstAnswer::Login(login) => {
                link.writer.set_sequence(link.reader.sequence());
                link.capabilities = login.capabilities & (capability::SERVER | capability::SSL);
                return Ok(login);
            }
        }
    }
}

async fn authenticate<T: Transport>(
    relay: &Arc<Relay>,
    link: &mut Link<T>,
    login: &Login,
    nonce: [u8; auth::NONCE_BYTES],
) -> Result<Result<Account, SqlError>, Ended> {
    let peer = link.transport.peer().clone();
    let mut authentication = Authentication::new(&relay.digests, &peer, nonce);
    let mut step = authentication.login(login, &**relay, &mut link.writer);
    loop {
        step = match step {
            Step::Accepted(account) => return Ok(Ok(*account)),
            Step::Denied(error) => return Ok(Err(error)),
            Step::NeedKey => authentication.send_key(relay.key.get().await, &mut link.writer),
            Step::Continue => {
                link.send().await?;
                let sequence = link.writer.sequence();
                link.reader.set_sequence(sequence);
                let packet = link.packet(LOGIN_PATIENCE).await?;
                link.writer.set_sequence(link.reader.sequence());
                authentication.packet(&link.reader.buffer()[packet], &mut link.writer)
            }
        };
    }
}

async fn run<T: Transport>(relay: &Arc<Relay>, link: &mut Link<T>, mut session: Session) -> Result<(), Ended> {
    loop {
        link.reader.set_sequence(0);
        let packet = link.packet(IDLE_PATIENCE).await?;
        link.writer.set_sequence(link.reader.sequence());
        let packet = link.reader.buffer()[packet].to_vec();
        match Command::decode(&packet)? {
            Command::Quit => return Ok(()),
            Command::Query(text) => {
                let text = String::from_utf8_lossy(text).into_owned();
                match statements::execute(relay, &mut session, &text).await {
                    Ok(Answer::Done) => write_ok(link),
                    Ok(Answer::Rows(columns, rows)) => write_rows(link, &columns, &rows),
                    Err(error) => reply::write_err(&mut link.writer, link.capabilities, &error),
                }
            }
            Command::Ping | Command::InitDb(_) => write_ok(link),
            Command::SetOption(_) => reply::write_eof(&mut link.writer, 0, status::AUTOCOMMIT),
            Command::ResetConnection => {
                session = Session { id: session.id, ..Session::default() };
                write_ok(link);
            }
            Command::RegisterReplica(replica) => {
                session.replica = Some(replica);
                write_ok(link);
            }
            Command::BinlogDump(dump) => {
                let result = crate::dump::run(relay, link, &session, &dump).await?;
                match result {
                    Ok(()) => reply::write_eof(&mut link.writer, 0, 0),
                    Err(error) => {
                        tracing::info!("the stream to connection {} ends: {error}", session.id);
                        reply::write_err(&mut link.writer, link.capabilities, &error);
                    }
                }
                return link.send().await;
            }
            other => {
                let name = format!("{other:?}");
                let name = name.split(['(', '{', ' ']).next().unwrap_or_default();
                let error = SqlError::not_supported(format!("the command {name} of a relay's client"));
                reply::write_err(&mut link.writer, link.capabilities, &error);
            }
        }
        link.send().await?;
    }
}

fn write_ok<T>(link: &mut Link<T>) {
    let ok = reply::Ok { status: status::AUTOCOMMIT, ..reply::Ok::default() };
    reply::write_ok(&mut link.writer, link.capabilities, &ok);
}

/// A result set of texts.
fn write_rows<T>(link: &mut Link<T>, columns: &[String], rows: &[Vec<Option<String>>]) {
    const WIDTH: u32 = 1024;
    const NULL: u8 = 0xfb;
    link.writer.packet(|out| out.put_lenenc(columns.len() as u64));
    for name in columns {
        let (collation, ty) = (COLLATION_UTF8MB4_GENERAL_CI, column_type::VAR_STRING);
        let column = Column { name, org_name: name, collation, length: WIDTH, ty, ..Column::default() };
        link.writer.packet(|out| column.encode(out));
    }
    if link.capabilities & capability::DEPRECATE_EOF == 0 {
        reply::write_eof(&mut link.writer, 0, status::AUTOCOMMIT);
    }
    for row in rows {
        link.writer.packet(|out| {
            for value in row {
                match value {
                    Some(text) => out.put_lenenc_bytes(text.as_bytes()),
                    None => out.push(NULL),
                }
            }
        });
    }
    let ok = reply::Ok { status: status::AUTOCOMMIT, ..reply::Ok::default() };
    reply::write_end_of_rows(&mut link.writer, link.capabilities, &ok);
}
