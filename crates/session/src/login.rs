//! The login of a connection: greeting, TLS, authentication, the default database.

use std::sync::Arc;

use base::{SqlError, codes};
use futures_lite::future::or;
use sql::account::{Account, Privilege, exceeded};
use sql::session::{Client, StreamFacts};
use types::charset::Charset;
use wire::compress::Algorithm;
use wire::flags::capability;
use wire::handshake::{FirstAnswer, Greeting, Login};
use wire::{WireError, auth as maths, reply};

use crate::Shared;
use crate::auth::{Authentication, Proof, Step};
use crate::connection::changes_of;
use crate::link::{Ended, Link};
use crate::registry::{Registered, too_many_connections};
use crate::transport::Peer;

/// What is known of a client after its login.
pub(crate) struct LoggedIn {
    pub(crate) session: sql::Session,
    /// The greeting's nonce, which COM_CHANGE_USER answers to again.
    pub(crate) nonce: [u8; maths::NONCE_BYTES],
}

/// Greets and authenticates. `Ok(None)`: the client was told why not, or was not understood.
pub(crate) async fn log_in(
    shared: &Arc<Shared>,
    entry: &Registered,
    link: &mut Link,
) -> Result<Option<LoggedIn>, Ended> {
    let timeout = shared.sql.env.clock.sleep(shared.sql.globals.now().connections.connect_timeout);
    let timed_out = async {
        timeout.await;
        Err(Ended::Io(std::io::ErrorKind::TimedOut.into()))
    };
    match or(log_in_untimed(shared, entry, link), timed_out).await {
        Err(Ended::Wire(error)) => {
            tracing::debug!(id = %entry.id, "bad handshake: {error}");
            link.writer.set_sequence(link.reader.sequence());
            let said = match error {
                WireError::OutOfOrder { .. } | WireError::TooLarge { .. } => error.into(),
                _ => SqlError::new(codes::HANDSHAKE_ERROR, "Bad handshake"),
            };
            refuse(link, &said).await
        }
        other => other,
    }
}

async fn log_in_untimed(shared: &Arc<Shared>, entry: &Registered, link: &mut Link) -> Result<Option<LoggedIn>, Ended> {
    let mut random = [0; maths::NONCE_BYTES];
    shared.sql.env.random.fill(&mut random);
    let nonce = maths::nonce_from(random);
    greet(shared, entry, link, nonce).await?;
    let login = match first_answer(shared, link).await? {
        Ok(login) => login,
        Err(error) => return refuse(link, &error).await,
    };
    let compression = match compression_of(shared, &login) {
        Ok(compression) => compression,
        Err(error) => return refuse(link, &error).await,
    };
    let account = match authenticate(shared, link, &login, nonce).await? {
        Ok(account) => account,
        Err(error) => return refuse(link, &error).await,
    };
    let admitted = check_expired(shared, &login, &account);
    let expired = match admitted.and_then(|expired| count_for(shared, entry, &login, &account).map(|()| expired)) {
        Ok(expired) => expired,
        Err(error) => return refuse(link, &error).await,
    };
    entry.set_attributes(login.attributes.clone());
    let mut client = client_of(&login, &account, link);
    client.stream.compression = compression.map(|algorithm| (algorithm.name(), algorithm.level()));
    let mut session = sql::Session::new(shared.sql.clone(), entry.handle.clone(), client);
    session.set_password_expired(expired);
    if let Err(error) = begin(&mut session, entry, &login) {
        return refuse(link, &error).await;
    }
    let changes = changes_of(&mut session);
    let ok = reply::Ok { status: session.status().0, changes: &changes, ..reply::Ok::default() };
    reply::write_ok(&mut link.writer, link.capabilities, &ok);
    link.send().await?;
    if let Some(algorithm) = compression {
        link.compress(algorithm);
    }
    Ok(Some(LoggedIn { session, nonce }))
}

/// Whether there is room for the session (1040), and its default database.
fn begin(session: &mut sql::Session, entry: &Registered, login: &Login) -> Result<(), SqlError> {
    if entry.is_extra() && !session.has_global_privilege(Privilege::ConnectionAdmin) {
        return Err(too_many_connections());
    }
    match login.database.is_empty() {
        true => Ok(()),
        false => session.use_database(&login.database),
    }
}

/// The capabilities that say how connections may be compressed (`protocol_compression_algorithms`).
fn offered_compression(shared: &Shared) -> u32 {
    let algorithms = &shared.sql.globals.now().connections.protocol_compression_algorithms;
    let offers = |name: &str, capability| if names(algorithms, name) { capability } else { 0 };
    offers("zlib", capability::COMPRESS) | offers("zstd", capability::ZSTD_COMPRESSION_ALGORITHM)
}

fn names(list: &str, name: &str) -> bool {
    list.split(',').any(|one| one == name)
}

/// How the client and the server have agreed to compress; 3922 and 3923 if they have not.
fn compression_of(shared: &Shared, login: &Login) -> Result<Option<Algorithm>, SqlError> {
    let common = login.capabilities & offered_compression(shared);
    if common & capability::COMPRESS != 0 {
        return Ok(Some(Algorithm::Zlib));
    }
    if common & capability::ZSTD_COMPRESSION_ALGORITHM != 0 {
        let level = login.zstd_level;
        return match (1..=Algorithm::ZSTD_LEVEL_MAX).contains(&level) {
            true => Ok(Some(Algorithm::Zstd { level })),
            false => {
                let text = "Invalid zstd compression level for algorithm 'zstd'.";
                Err(SqlError::new(codes::WRONG_COMPRESSION_LEVEL_CLIENT, text))
            }
        };
    }
    match names(&shared.sql.globals.now().connections.protocol_compression_algorithms, "uncompressed") {
        true => Ok(None),
        false => {
            let text = "Invalid compression algorithm 'uncompressed'.";
            Err(SqlError::new(codes::WRONG_COMPRESSION_ALGORITHM_CLIENT, text))
        }
    }
}

async fn greet(
    shared: &Shared,
    entry: &Registered,
    link: &mut Link,
    nonce: [u8; maths::NONCE_BYTES],
) -> Result<(), Ended> {
    let tls = if link.transport.peer().can_start_tls { capability::SSL } else { 0 };
    let greeting = Greeting {
        server_version: shared.sql.globals.now().start.version.to_string(),
        connection_id: entry.id.0,
        nonce: nonce.to_vec(),
        capabilities: capability::SERVER | tls | offered_compression(shared),
        collation: wire::flags::COLLATION_UTF8MB4_0900_AI_CI as u8,
        status: wire::flags::status::AUTOCOMMIT,
        auth_plugin: shared.sql.globals.now().start.default_authentication_plugin.to_string(),
    };
    link.writer.packet(|out| greeting.encode(out));
    link.send().await
}

/// The login packet, after TLS was started if the client wants it.
async fn first_answer(shared: &Shared, link: &mut Link) -> Result<Result<Box<Login>, SqlError>, Ended> {
    // The greeting had sequence number 0.
    link.reader.set_sequence(1);
    loop {
        let packet = link.packet().await?;
        let answer = FirstAnswer::decode(&link.reader.buffer()[packet])?;
        match answer {
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
                let must_be_secure = shared.sql.globals.now().connections.require_secure_transport;
                if must_be_secure && !link.transport.peer().protected {
                    let text =
                        "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
                    return Ok(Err(SqlError::new(codes::SECURE_TRANSPORT_REQUIRED, text)));
                }
                return Ok(Ok(login));
            }
        }
    }
}

/// Exchanges packets until the client is accepted or denied. Also for COM_CHANGE_USER.
pub(crate) async fn authenticate(
    shared: &Shared,
    link: &mut Link,
    login: &Login,
    nonce: [u8; maths::NONCE_BYTES],
) -> Result<Result<Account, SqlError>, Ended> {
    let peer = link.transport.peer().clone();
    let authentication = Authentication::new(&shared.digests, &peer, nonce);
    let mut authentication = authentication.with_blocks(&shared.sql.failed_logins, seconds_now(shared));
    let mut step = authentication.login(login, &*shared.sql.engine.catalog(), &mut link.writer);
    let mut counted = false;
    loop {
        counted = counted || count_if_wrong(shared, &authentication);
        step = match step {
            Step::Accepted(account) => {
                let blocked = check_not_blocked(shared, &authentication, login, &peer);
                return Ok(blocked.map(|()| *account));
            }
            Step::Denied(error) => {
                let error = check_not_blocked(shared, &authentication, login, &peer).err().unwrap_or(error);
                tracing::info!("{}", error.message);
                return Ok(Err(without_accounts(shared, error)));
            }
            Step::NeedKey => {
                let key = shared.key.get().await;
                authentication.use_key(key, &mut link.writer)
            }
            Step::Continue => {
                link.send().await?;
                let sequence = link.writer.sequence();
                link.reader.set_sequence(sequence);
                let packet = link.packet().await?;
                link.writer.set_sequence(link.reader.sequence());
                authentication.packet(&link.reader.buffer()[packet], &mut link.writer)
            }
        };
    }
}

fn seconds_now(shared: &Shared) -> u64 {
    shared.sql.env.clock.now().0 / 1_000_000
}

/// Counts a wrong password as soon as it is known: a client that goes away then has tried it all the same.
fn count_if_wrong(shared: &Shared, authentication: &Authentication<'_>) -> bool {
    match authentication.tried() {
        Some((tried, Proof::Wrong)) => {
            shared.sql.failed_logins.failed(tried, seconds_now(shared));
            true
        }
        _ => false,
    }
}

/// 3955 for an account that is blocked after too many wrong passwords.
fn check_not_blocked(
    shared: &Shared,
    authentication: &Authentication<'_>,
    login: &Login,
    peer: &Peer,
) -> Result<(), SqlError> {
    let Some((tried, proof)) = authentication.tried() else { return Ok(()) };
    if proof == Proof::Right {
        shared.sql.failed_logins.succeeded(tried.account);
    }
    shared.sql.failed_logins.check(tried, &login.user, &peer.host, seconds_now(shared))
}

/// Whether the account's password has expired, which the client has to be able to change (1862).
pub(crate) fn check_expired(shared: &Shared, login: &Login, account: &Account) -> Result<bool, SqlError> {
    let globals = shared.sql.globals.now();
    let lifetime = globals.accounts.default_password_lifetime;
    let expired = account.is_expired(seconds_now(shared), lifetime);
    let can_change = login.capabilities & capability::CAN_HANDLE_EXPIRED_PASSWORDS != 0;
    if expired && !can_change && globals.start.disconnect_on_expired_password {
        let text =
            "Your password has expired. To log in you must change it using a client that supports expired passwords.";
        return Err(SqlError::new(codes::MUST_CHANGE_PASSWORD_LOGIN, text));
    }
    Ok(expired)
}

/// Where there are no accounts (a follower before its source's have come) a wrong password is not why, and says who can look.
fn without_accounts(shared: &Shared, error: SqlError) -> SqlError {
    if shared.sql.engine.catalog().accounts().next().is_some() {
        return error;
    }
    let message = format!(
        "{}. This server has no accounts: those of its source have not come. root can log in by the local socket, as the system's root or as who \
         runs the server, and SHOW REPLICA STATUS says what is wrong",
        error.message
    );
    SqlError { message, ..error }
}

/// Takes the connection's place among its account's: 1226 if the account may not have so many, 1203 if there are `max_user_connections`.
pub(crate) fn count_for(shared: &Shared, entry: &Registered, login: &Login, account: &Account) -> Result<(), SqlError> {
    let of_all = shared.sql.globals.now().session.max_user_connections;
    let of_account = account.limits.at_once;
    let max = if of_account > 0 { of_account } else { of_all };
    entry.logged_in(&login.user, account.name().to_string(), max).map_err(|error| match of_account {
        0 => error,
        max => exceeded(&account.user, "max_user_connections", max),
    })?;
    shared.sql.usage.connect(account, shared.sql.env.clock.now().0)
}

pub(crate) fn client_of(login: &Login, account: &Account, link: &Link) -> Client {
    Client {
        user: login.user.clone(),
        host: link.transport.peer().host.clone(),
        account: account.name(),
        found_rows: link.capabilities & capability::FOUND_ROWS != 0,
        interactive: link.capabilities & capability::INTERACTIVE != 0,
        collation: login.collation,
        stream: StreamFacts { tls: link.transport.peer().tls, compression: link.compression() },
    }
}

async fn refuse<X>(link: &mut Link, error: &SqlError) -> Result<Option<X>, Ended> {
    reply::write_err(&mut link.writer, link.capabilities, error, Charset::Utf8Mb4);
    link.send().await?;
    Ok(None)
}
