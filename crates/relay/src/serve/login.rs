//! The login of a connection: greeting, TLS, the one account.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base::{SqlError, codes};
use session::auth::{Accounts, Authentication, DigestCache, LOCALHOST, Step, decoy};
use session::key::KeyHolder;
use sql::account::Account;
use sql::parse::ast::UserName;
use wire::flags::{capability, status};
use wire::handshake::{FirstAnswer, Greeting, Login};
use wire::{WireError, auth as maths};

use super::link::{Ended, Link};
use crate::gtids::Kind;

/// A client that does not go on with its login for so long is given up.
const LOGIN_TIME: Duration = Duration::from_secs(10);
/// The collation that clients are greeted with: utf8mb4_general_ci, which both kinds know.
const COLLATION: u8 = 45;
/// The host of an account that is for everywhere.
const ANYWHERE: &str = "%";

/// Who may log in.
pub(crate) struct Door {
    account: Account,
    digests: DigestCache,
    key: Arc<KeyHolder>,
}

impl Door {
    /// One account, for replicas of this kind: MariaDB's know `mysql_native_password`, newer MySQL's do not any more. Without a
    /// password anybody on this machine is let in, and nobody else.
    pub(crate) fn new(env: &io::Env, key: &Arc<KeyHolder>, user: &str, password: &str, kind: Kind) -> Self {
        let host = if password.is_empty() { LOCALHOST } else { ANYWHERE };
        let name = UserName { user: user.to_owned(), host: host.to_owned() };
        let plugin = if kind == Kind::Maria { maths::NATIVE } else { maths::CACHING_SHA2 };
        let mut random = [0; maths::NONCE_BYTES];
        env.random.fill(&mut random);
        let hash = match kind {
            _ if password.is_empty() => String::new(),
            Kind::Maria => maths::native_hash(password.as_bytes()),
            Kind::Mysql => maths::sha2_hash(password.as_bytes(), &maths::nonce_from(random)),
        };
        let account = Account::new(&name, plugin, hash);
        Door { account, digests: DigestCache::default(), key: key.clone() }
    }
}

impl Accounts for Door {
    fn find(&self, user: &str, host: &str) -> Option<Account> {
        let is_local = host == LOCALHOST || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let is_let_in = user == self.account.user && (is_local || self.account.host == ANYWHERE);
        is_let_in.then(|| self.account.clone())
    }

    /// There is but one account, whose method is no secret.
    fn decoy(&self, user: &str, host: &str) -> Account {
        decoy(user, host, &self.account.plugin, &self.account.authentication)
    }
}

/// Greets and authenticates. `Ok(false)`: the client was told why not.
pub(crate) async fn log_in(link: &mut Link, door: &Door, env: &io::Env, id: u32, version: &str) -> Result<bool, Ended> {
    let mut random = [0; maths::NONCE_BYTES];
    env.random.fill(&mut random);
    let nonce = maths::nonce_from(random);
    let tls = if link.transport.peer().can_start_tls { capability::SSL } else { 0 };
    let greeting = Greeting {
        server_version: version.to_owned(),
        connection_id: id,
        nonce: nonce.to_vec(),
        capabilities: capability::SERVER | tls,
        collation: COLLATION,
        status: status::AUTOCOMMIT,
        auth_plugin: door.account.plugin.clone(),
    };
    link.writer.packet(|out| greeting.encode(out));
    link.send().await?;
    let result = match first_answer(link).await {
        Ok(login) => authenticate(link, door, &login, nonce).await?,
        Err(Ended::Wire(_)) => Err(SqlError::new(codes::HANDSHAKE_ERROR, "Bad handshake")),
        Err(ended) => return Err(ended),
    };
    match &result {
        Ok(()) => link.write_ok(),
        Err(error) => {
            tracing::info!("{}", error.message);
            link.write_err(error);
        }
    }
    link.send().await?;
    Ok(result.is_ok())
}

/// The login packet, after TLS was started if the client wants it.
async fn first_answer(link: &mut Link) -> Result<Box<Login>, Ended> {
    // The greeting had sequence number 0.
    link.reader.set_sequence(1);
    loop {
        let packet = link.packet(LOGIN_TIME).await?;
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

async fn authenticate(
    link: &mut Link,
    door: &Door,
    login: &Login,
    nonce: [u8; maths::NONCE_BYTES],
) -> Result<Result<(), SqlError>, Ended> {
    let peer = link.transport.peer().clone();
    let mut authentication = Authentication::new(&door.digests, &peer, nonce);
    let mut step = authentication.login(login, door, &mut link.writer);
    loop {
        step = match step {
            Step::Accepted(_) => return Ok(Ok(())),
            Step::Denied(error) => return Ok(Err(error)),
            Step::NeedKey => {
                let key = door.key.get().await;
                authentication.use_key(key, &mut link.writer)
            }
            Step::Continue => {
                link.send().await?;
                let sequence = link.writer.sequence();
                link.reader.set_sequence(sequence);
                let packet = link.packet(LOGIN_TIME).await?;
                link.writer.set_sequence(link.reader.sequence());
                authentication.packet(&link.reader.buffer()[packet], &mut link.writer)
            }
        };
    }
}
