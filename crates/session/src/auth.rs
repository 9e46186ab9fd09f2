//! The server's side of a login, as a state machine: packets in, packets out.
//!
//! ```text
//!   greeting ─> login ─> account? ─┬─ owner's local socket ───────────────────────────> accepted
//!                                  ├─ other method than the client's ─> switch ─> answer ┐
//!                                  └─ native: answer is right or wrong <─────────────────┤
//!                                     caching_sha2: answer against the remembered digest <┘
//!                                        fast path: right ─> accepted
//!                                        else full path: password, by a protected stream or under our RSA key
//! ```
//!
//! # Invariants
//! - Nothing is accepted before the proof was checked against the account as it is in the catalog *now*: a remembered
//!   digest counts only while the account still has the hash with which it was proved.
//! - A wrong password, an unknown user and a locked-out host get the same packets up to the same answer (1045): for a name without an
//!   account a *decoy* goes through the whole exchange, by a method that accounts here have, and no answer of it is right.
//! - What is wrong with an account (that it is locked, that its password has expired) learns who has proved to be its owner. Only that it
//!   is blocked after too many wrong passwords learn all, since a right one would be known otherwise; decoys are blocked, too.

use std::net::IpAddr;
use std::sync::Arc;

use base::{SqlError, codes};
use sql::account::{Account, FailedLogins, SOCKET_PLUGIN, Tried};
use sql::parse::ast::UserName;
use wire::flags::capability;
use wire::handshake::{AuthSwitch, Login, encode_auth_more_data};
use wire::{PacketWriter, auth};

pub use crate::digests::DigestCache;
use crate::key::PasswordKey;
use crate::transport::Peer;

/// Where accounts are found.
pub trait Accounts: Send + Sync {
    /// The account that a user from this host is taken for: the one with the most specific host pattern.
    fn find(&self, user: &str, host: &str) -> Option<Account>;

    /// An account to which no login leads, for a name without one.
    fn decoy(&self, user: &str, host: &str) -> Account;
}

impl Accounts for engine::Catalog {
    /// The loopback address is `localhost` too, unless there is an account for the address itself.
    fn find(&self, user: &str, host: &str) -> Option<Account> {
        let found = sql::account::for_login(self, user, host);
        let is_loopback = host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if !is_loopback || found.as_ref().is_some_and(|account| account.host == host) {
            return found;
        }
        let local = sql::account::for_login(self, user, LOCALHOST).filter(|account| account.host == LOCALHOST);
        local.or(found)
    }

    /// Like one of the accounts, always the same one for a name. Which one depends on what is not known outside: the salted hash of an
    /// account's password.
    fn decoy(&self, user: &str, host: &str) -> Account {
        let with_password = |account: &Account| account.plugin != SOCKET_PLUGIN && !account.authentication.is_empty();
        let accounts: Vec<Account> = sql::account::all(self).into_iter().filter(with_password).collect();
        let secret = accounts.first().map_or("", |account| account.authentication.as_str());
        let digest = auth::sha2_digest(format!("{secret}\0{user}\0{host}").as_bytes());
        let number = digest.iter().take(4).fold(0, |number, byte| number << 8 | usize::from(*byte));
        match accounts.get(number % accounts.len().max(1)) {
            // What can be seen of the account from outside: its method, how long a wrong password takes, how many of them block it.
            Some(account) => {
                let mut decoy = decoy(user, host, &account.plugin, &account.authentication);
                decoy.second.clone_from(&account.second);
                decoy.password = account.password;
                decoy
            }
            None => decoy(user, host, auth::CACHING_SHA2, ""),
        }
    }
}

/// An account to which no login leads, with the method and the secret of another one: so that checking a password takes as long.
pub fn decoy(user: &str, host: &str, plugin: &str, authentication: &str) -> Account {
    let name = UserName { user: user.to_owned(), host: host.to_owned() };
    let mut account = Account::new(&name, plugin, authentication);
    account.locked = true;
    account
}

/// The host of clients of the local socket.
pub const LOCALHOST: &str = "localhost";

/// What the connection does next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Send what was written, and give the next packet to [`Authentication::packet`].
    Continue,
    /// Get the RSA key and call [`Authentication::use_key`].
    NeedKey,
    /// The client is who it says. OK is still to be sent.
    Accepted(Box<Account>),
    /// It is not: send this error and close.
    Denied(SqlError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// An answer to the nonce, by the account's method.
    Answer,
    /// The password in clear, or a request for the key.
    Password,
    /// The password under our key.
    Encrypted,
}

/// A login in progress, from the client's login packet on.
pub struct Authentication<'a> {
    cache: &'a DigestCache,
    peer: &'a Peer,
    nonce: [u8; auth::NONCE_BYTES],
    user: String,
    account: Option<Account>,
    expect: Expect,
    key: Option<Arc<PasswordKey>>,
    /// What may be a password under our key, of a client that did not ask for it.
    encrypted: Option<Vec<u8>>,
    used_password: bool,
    /// There is no such account: whatever it answers is wrong.
    is_decoy: bool,
    /// What the client has shown of its password.
    proof: Proof,
    /// Which accounts are blocked, at a time in seconds.
    blocks: Option<(&'a FailedLogins, u64)>,
}

/// What a client has shown of its password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proof {
    /// Nothing yet.
    #[default]
    None,
    /// That it does not know it; perhaps in an answer that is no end of the login yet.
    Wrong,
    /// That it knows it.
    Right,
}

impl<'a> Authentication<'a> {
    /// Begins; `nonce` is the one of the greeting.
    pub fn new(cache: &'a DigestCache, peer: &'a Peer, nonce: [u8; auth::NONCE_BYTES]) -> Self {
        let user = String::new();
        Authentication {
            cache,
            peer,
            nonce,
            user,
            account: None,
            expect: Expect::Answer,
            key: None,
            encrypted: None,
            used_password: false,
            is_decoy: false,
            proof: Proof::None,
            blocks: None,
        }
    }

    /// With what is known of accounts that are blocked: the fast path would tell right passwords of those from wrong ones.
    pub fn with_blocks(self, failed: &'a FailedLogins, now: u64) -> Self {
        Authentication { blocks: Some((failed, now)), ..self }
    }

    fn is_blocked(&self, account: &Account) -> bool {
        let tried = Tried { account, is_decoy: self.is_decoy };
        self.blocks.is_some_and(|(failed, now)| failed.check(tried, "", "", now).is_err())
    }

    /// Whom the client has tried to be, and with what success. `None` for the owner of a local socket, who proves nothing.
    pub fn tried(&self) -> Option<(Tried<'_>, Proof)> {
        let account = self.account.as_ref()?;
        Some((Tried { account, is_decoy: self.is_decoy }, self.proof))
    }

    /// Takes the login (also that of `COM_CHANGE_USER`).
    pub fn login(&mut self, login: &Login, accounts: &dyn Accounts, out: &mut PacketWriter) -> Step {
        self.user.clone_from(&login.user);
        self.used_password = !is_empty(&login.auth_answer);
        let found = accounts.find(&login.user, &self.peer.host);
        if let Some(account) = found.as_ref().filter(|account| self.is_owner(account)) {
            return self.admitted(account.clone());
        }
        // Nor does the answer tell of an account that its socket alone lets in.
        let found = found.filter(|account| account.plugin != SOCKET_PLUGIN);
        self.is_decoy = found.is_none();
        let account = found.unwrap_or_else(|| accounts.decoy(&login.user, &self.peer.host));
        let speaks_plugins = login.capabilities & capability::PLUGIN_AUTH != 0;
        let client_plugin = match login.auth_plugin.as_str() {
            "" if speaks_plugins => auth::CACHING_SHA2,
            "" => auth::NATIVE,
            named => named,
        };
        let same_plugin = client_plugin == account.plugin;
        let switch = AuthSwitch { plugin: account.plugin.clone(), nonce: self.nonce.to_vec() };
        self.account = Some(account);
        if same_plugin {
            return self.answer(&login.auth_answer, out);
        }
        if !speaks_plugins {
            return self.denied();
        }
        out.packet(|out| switch.encode(out));
        Step::Continue
    }

    /// `root@localhost` on a local socket whose other end runs as root or as we do needs no more proof than that.
    fn is_owner(&self, account: &Account) -> bool {
        self.peer.is_owner && account.user == "root" && account.host == LOCALHOST
    }

    /// Takes the client's next packet.
    pub fn packet(&mut self, packet: &[u8], out: &mut PacketWriter) -> Step {
        match self.expect {
            Expect::Answer => {
                self.used_password |= !is_empty(packet);
                self.answer(packet, out)
            }
            Expect::Password if packet == [auth::PUBLIC_KEY_REQUEST] && !self.peer.protected => Step::NeedKey,
            Expect::Password if self.peer.protected => self.password(packet),
            // A client that has our key already does not ask for it. What came in clear over an open stream is nothing under that key.
            Expect::Password => {
                self.encrypted = Some(packet.to_vec());
                Step::NeedKey
            }
            Expect::Encrypted => self.decrypted(packet),
        }
    }

    fn decrypted(&mut self, packet: &[u8]) -> Step {
        match self.key.as_ref().and_then(|key| key.decrypt(packet)) {
            Some(bytes) => self.password(&auth::xor_with_nonce(&bytes, &self.nonce)),
            None => self.denied(),
        }
    }

    /// The answer to [`Step::NeedKey`]: the client gets the key, or what it has encrypted is read.
    pub fn use_key(&mut self, key: Result<Arc<PasswordKey>, String>, out: &mut PacketWriter) -> Step {
        let Ok(key) = key else {
            return self.denied();
        };
        let key = self.key.insert(key);
        if let Some(packet) = self.encrypted.take() {
            return self.decrypted(&packet);
        }
        out.packet(|out| encode_auth_more_data(out, key.public_pem().as_bytes()));
        self.expect = Expect::Encrypted;
        Step::Continue
    }

    fn answer(&mut self, answer: &[u8], out: &mut PacketWriter) -> Step {
        let Some(account) = self.account.clone() else {
            return self.denied();
        };
        if account.authentication.is_empty() || is_empty(answer) {
            return if account.authentication.is_empty() && is_empty(answer) {
                self.accepted(account)
            } else {
                self.refuted()
            };
        }
        if account.plugin == auth::NATIVE {
            let right = account.secrets().any(|secret| auth::native_check(secret, &self.nonce, answer));
            return if right { self.accepted(account) } else { self.refuted() };
        }
        let digests = if self.is_blocked(&account) { Vec::new() } else { self.cache.get(&account) };
        if digests.iter().any(|digest| auth::sha2_check(digest, &self.nonce, answer)) {
            out.packet(|out| encode_auth_more_data(out, &[auth::FAST_AUTH_OK]));
            return self.accepted(account);
        }
        if digests.len() == account.secrets().count() {
            // It need not say more for that to be known.
            self.proof = Proof::Wrong;
        }
        out.packet(|out| encode_auth_more_data(out, &[auth::FULL_AUTH_NEEDED]));
        self.expect = Expect::Password;
        Step::Continue
    }

    /// The full path's end: the password itself, with its NUL.
    fn password(&mut self, bytes: &[u8]) -> Step {
        let password = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        let Some(account) = self.account.clone() else {
            return self.denied();
        };
        let Some(secret) = account.secrets().find(|secret| auth::sha2_verify(secret, password)) else {
            return self.refuted();
        };
        if !self.is_decoy {
            self.cache.remember(&account, secret, password);
        }
        self.accepted(account.clone())
    }

    /// The client has proved to be the account's owner.
    fn accepted(&mut self, account: Account) -> Step {
        if self.is_decoy {
            return self.refuted();
        }
        self.proof = Proof::Right;
        self.admitted(account)
    }

    /// Whether the account lets its owner in.
    fn admitted(&self, account: Account) -> Step {
        if !self.peer.satisfies(&account.requires) {
            return self.denied();
        }
        if account.locked {
            let text = format!("Access denied for user '{}'@'{}'. Account is locked.", self.user, self.peer.host);
            return Step::Denied(SqlError::new(codes::ACCOUNT_HAS_BEEN_LOCKED, text));
        }
        Step::Accepted(Box::new(account))
    }

    /// The client does not know the password.
    fn refuted(&mut self) -> Step {
        self.proof = Proof::Wrong;
        self.denied()
    }

    fn denied(&self) -> Step {
        let using = if self.used_password { "YES" } else { "NO" };
        let text = format!("Access denied for user '{}'@'{}' (using password: {using})", self.user, self.peer.host);
        Step::Denied(SqlError::new(codes::ACCESS_DENIED_ERROR, text))
    }
}

/// No password: nothing at all, or only the NUL that would end it.
fn is_empty(answer: &[u8]) -> bool {
    matches!(answer, [] | [0])
}

#[cfg(test)]
mod tests;
