//! The client's side of a login, as a state machine: packets in, packets out.
//!
//! ```text
//!   greeting ──> [TLS request ──> StartTls] ──> login ──> OK
//!                                                 ├──> switch of the method ──> answer ──> …
//!                                                 └──> more data: fast path was enough ──> OK
//!                                                                 full path: password (protected stream)
//!                                                                            or key request ──> key ──> Encrypt ──> …
//! ```
//!
//! Before each call the owner of the stream sets the writer's sequence number to the reader's. RSA is the owner's too
//! ([`Step::Encrypt`]), because nothing else here needs it.

use crate::codec::text;
use crate::flags::{COLLATION_UTF8MB4_GENERAL_CI, capability};
use crate::frame::FRAME_BYTES_MAX;
use crate::handshake::{AUTH_MORE_DATA, AuthSwitch, Greeting, Login, encode_tls_request};
use crate::{PacketWriter, WireError, auth, reply};

/// Who logs in, and where to.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// Account name.
    pub user: String,
    /// Its password; empty for none.
    pub password: String,
    /// Default database; empty for none.
    pub database: String,
    /// Capabilities to ask for beyond [`capability::CLIENT`].
    pub capabilities: u32,
    /// Whether the stream is to be encrypted.
    pub tls: Tls,
    /// With what a password is encrypted on a stream that is not.
    pub server_key: ServerKey,
    /// Program name and the like.
    pub attributes: Vec<(String, String)>,
}

/// Whether a client asks for TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// No.
    #[default]
    Never,
    /// If the server offers it.
    IfOffered,
    /// Yes; without it there is no login.
    Always,
}

/// Where the server's public key comes from, with which `caching_sha2_password` sends a password over an open stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerKey {
    /// Nowhere: the password is sent over protected streams only.
    #[default]
    Unknown,
    /// The server is asked. Somebody between the two could answer in its place.
    Ask,
    /// It is known: PEM.
    Known(String),
}

/// What the owner of the stream does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send what was written, and give the next packet.
    Continue,
    /// Send what was written, do the TLS handshake, then call [`ClientLogin::tls_started`].
    StartTls,
    /// Encrypt `message` with the server's key (PEM) by RSA-OAEP with SHA-1, then call [`ClientLogin::encrypted`].
    Encrypt {
        /// The server's public key.
        key: String,
        /// What to encrypt.
        message: Vec<u8>,
    },
    /// Logged in.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Greeting,
    Tls,
    Answer,
    Key,
    Done,
}

/// A login in progress.
#[derive(Debug)]
pub struct ClientLogin {
    credentials: Credentials,
    state: State,
    /// Whether nobody can listen to the stream.
    protected: bool,
    greeting: Option<Greeting>,
    capabilities: u32,
    nonce: Vec<u8>,
    plugin: String,
}

impl ClientLogin {
    /// Waits for the greeting. `protected`: a local socket.
    pub fn new(credentials: Credentials, protected: bool) -> Self {
        ClientLogin {
            credentials,
            state: State::Greeting,
            protected,
            greeting: None,
            capabilities: 0,
            nonce: Vec::new(),
            plugin: String::new(),
        }
    }

    /// What the server said first.
    pub fn greeting(&self) -> Option<&Greeting> {
        self.greeting.as_ref()
    }

    /// What both sides can do.
    pub fn capabilities(&self) -> u32 {
        self.capabilities
    }

    /// Takes the next packet from the server.
    pub fn packet(&mut self, packet: &[u8], out: &mut PacketWriter) -> Result<Step, WireError> {
        match self.state {
            State::Greeting => self.on_greeting(packet, out),
            State::Answer => self.on_answer(packet, out),
            State::Key => self.on_key(packet),
            State::Tls | State::Done => Err(WireError::Malformed("a packet that nobody asked for")),
        }
    }

    /// The stream is encrypted from here on.
    pub fn tls_started(&mut self, out: &mut PacketWriter) {
        debug_assert_eq!(self.state, State::Tls);
        self.protected = true;
        self.write_login(out);
    }

    /// The answer to [`Step::Encrypt`].
    pub fn encrypted(&mut self, message: &[u8], out: &mut PacketWriter) {
        out.payload(message);
        self.state = State::Answer;
    }

    fn on_greeting(&mut self, packet: &[u8], out: &mut PacketWriter) -> Result<Step, WireError> {
        let greeting = Greeting::decode(packet)?;
        if greeting.capabilities & capability::PROTOCOL_41 == 0 {
            return Err(WireError::NotSupported("a server without protocol 4.1".into()));
        }
        let mut wanted = capability::CLIENT | self.credentials.capabilities;
        if !self.credentials.database.is_empty() {
            wanted |= capability::CONNECT_WITH_DB;
        }
        if !self.credentials.attributes.is_empty() {
            wanted |= capability::CONNECT_ATTRS;
        }
        match self.credentials.tls {
            Tls::Never => {}
            Tls::Always if greeting.capabilities & capability::SSL == 0 => {
                return Err(WireError::TlsNotOffered);
            }
            Tls::IfOffered | Tls::Always => wanted |= capability::SSL,
        }
        self.capabilities = wanted & greeting.capabilities;
        self.nonce = greeting.nonce.clone();
        self.plugin = match greeting.auth_plugin.as_str() {
            known @ (auth::NATIVE | auth::CACHING_SHA2) => known.into(),
            _ => auth::NATIVE.into(),
        };
        self.greeting = Some(greeting);
        if self.capabilities & capability::SSL != 0 {
            let (capabilities, collation) = (self.capabilities, COLLATION_UTF8MB4_GENERAL_CI);
            out.packet(|out| encode_tls_request(out, capabilities, FRAME_BYTES_MAX as u32, collation));
            self.state = State::Tls;
            return Ok(Step::StartTls);
        }
        self.write_login(out);
        Ok(Step::Continue)
    }

    fn write_login(&mut self, out: &mut PacketWriter) {
        let login = Login {
            capabilities: self.capabilities,
            max_packet: 1 << 30,
            collation: COLLATION_UTF8MB4_GENERAL_CI,
            user: self.credentials.user.clone(),
            auth_answer: self.first_answer(),
            database: self.credentials.database.clone(),
            auth_plugin: self.plugin.clone(),
            attributes: self.credentials.attributes.clone(),
            zstd_level: 0,
        };
        out.packet(|out| login.encode(out));
        self.state = State::Answer;
    }

    fn first_answer(&self) -> Vec<u8> {
        let password = self.credentials.password.as_bytes();
        match self.plugin.as_str() {
            auth::CACHING_SHA2 => auth::sha2_answer(password, &self.nonce),
            _ => auth::native_answer(password, &self.nonce),
        }
    }

    fn on_answer(&mut self, packet: &[u8], out: &mut PacketWriter) -> Result<Step, WireError> {
        match packet.first() {
            Some(&reply::OK) => {
                self.state = State::Done;
                Ok(Step::Done)
            }
            Some(&reply::ERR) => Err(WireError::Refused(reply::read_err(packet)?)),
            Some(&reply::EOF) => self.on_switch(packet, out),
            Some(&AUTH_MORE_DATA) if self.plugin == auth::CACHING_SHA2 => match packet.get(1) {
                Some(&auth::FAST_AUTH_OK) => Ok(Step::Continue),
                Some(&auth::FULL_AUTH_NEEDED) => self.full_path(out),
                _ => Err(WireError::Malformed("data of caching_sha2_password")),
            },
            _ => Err(WireError::Malformed("an answer to a login")),
        }
    }

    fn on_switch(&mut self, packet: &[u8], out: &mut PacketWriter) -> Result<Step, WireError> {
        let switch = AuthSwitch::decode(packet)?;
        match switch.plugin.as_str() {
            auth::NATIVE | auth::CACHING_SHA2 => {}
            auth::CLEAR if self.protected => {
                out.payload(&self.password_and_nul());
                return Ok(Step::Continue);
            }
            other => return Err(WireError::NotSupported(format!("authentication by '{other}'"))),
        }
        self.plugin = switch.plugin;
        self.nonce = switch.nonce;
        out.payload(&self.first_answer());
        Ok(Step::Continue)
    }

    fn full_path(&mut self, out: &mut PacketWriter) -> Result<Step, WireError> {
        if self.protected {
            out.payload(&self.password_and_nul());
            return Ok(Step::Continue);
        }
        match &self.credentials.server_key {
            ServerKey::Unknown => Err(WireError::InsecureTransport),
            ServerKey::Known(key) => Ok(self.encrypt_with(key.clone())),
            ServerKey::Ask => {
                out.payload(&[auth::PUBLIC_KEY_REQUEST]);
                self.state = State::Key;
                Ok(Step::Continue)
            }
        }
    }

    fn on_key(&mut self, packet: &[u8]) -> Result<Step, WireError> {
        match packet.split_first() {
            Some((&AUTH_MORE_DATA, key)) => Ok(self.encrypt_with(text(key))),
            Some((&reply::ERR, _)) => Err(WireError::Refused(reply::read_err(packet)?)),
            _ => Err(WireError::Malformed("the server's public key")),
        }
    }

    fn encrypt_with(&self, key: String) -> Step {
        Step::Encrypt { key, message: auth::xor_with_nonce(&self.password_and_nul(), &self.nonce) }
    }

    fn password_and_nul(&self) -> Vec<u8> {
        [self.credentials.password.as_bytes(), &[0]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";

    fn greeting(plugin: &str) -> Vec<u8> {
        let greeting = Greeting {
            server_version: "8.4.0".into(),
            connection_id: 1,
            nonce: NONCE.to_vec(),
            capabilities: capability::SERVER,
            collation: 255,
            status: 2,
            auth_plugin: plugin.into(),
        };
        let mut packet = Vec::new();
        greeting.encode(&mut packet);
        packet
    }

    fn login(tls: Tls, server_key: ServerKey) -> ClientLogin {
        let (user, password) = ("u".to_owned(), "p".to_owned());
        ClientLogin::new(Credentials { user, password, tls, server_key, ..Credentials::default() }, false)
    }

    #[test]
    fn full_path_without_tls_asks_for_the_key() {
        let (mut login, mut out) = (login(Tls::IfOffered, ServerKey::Ask), PacketWriter::new());
        assert_eq!(login.packet(&greeting(auth::CACHING_SHA2), &mut out), Ok(Step::Continue));
        out.sent(0);
        assert_eq!(login.packet(&[AUTH_MORE_DATA, auth::FULL_AUTH_NEEDED], &mut out), Ok(Step::Continue));
        assert_eq!(out.bytes()[4..], [auth::PUBLIC_KEY_REQUEST]);
        let step = login.packet(b"\x01-----BEGIN", &mut out);
        let message = auth::xor_with_nonce(b"p\0", NONCE);
        assert_eq!(step, Ok(Step::Encrypt { key: "-----BEGIN".into(), message }));
        login.encrypted(b"secret", &mut out);
        assert_eq!(login.packet(&[0, 0, 0, 2, 0, 0, 0], &mut out), Ok(Step::Done));
    }

    #[test]
    fn full_path_with_a_known_key_asks_nothing_and_without_a_key_says_no() {
        let full_path = |key| {
            let (mut login, mut out) = (login(Tls::Never, key), PacketWriter::new());
            login.packet(&greeting(auth::CACHING_SHA2), &mut out).unwrap();
            login.packet(&[AUTH_MORE_DATA, auth::FULL_AUTH_NEEDED], &mut out)
        };
        let message = auth::xor_with_nonce(b"p\0", NONCE);
        assert_eq!(full_path(ServerKey::Known("PEM".into())), Ok(Step::Encrypt { key: "PEM".into(), message }));
        assert_eq!(full_path(ServerKey::Unknown), Err(WireError::InsecureTransport));
    }

    #[test]
    fn tls_that_is_required_and_not_offered() {
        let (mut login, mut out) = (login(Tls::Always, ServerKey::Ask), PacketWriter::new());
        let result = login.packet(&greeting(auth::CACHING_SHA2), &mut out);
        assert_eq!(result, Err(WireError::TlsNotOffered));
        assert!(out.is_empty(), "nothing was said");
    }

    #[test]
    fn switch_to_native() {
        let (mut login, mut out) = (login(Tls::Never, ServerKey::Ask), PacketWriter::new());
        login.packet(&greeting(auth::CACHING_SHA2), &mut out).unwrap();
        out.sent(0);
        let mut packet = Vec::new();
        AuthSwitch { plugin: auth::NATIVE.into(), nonce: NONCE.to_vec() }.encode(&mut packet);
        assert_eq!(login.packet(&packet, &mut out), Ok(Step::Continue));
        assert!(auth::native_check(&auth::native_hash(b"p"), NONCE, &out.bytes()[4..]));
    }

    #[test]
    fn the_password_is_never_sent_in_clear_over_an_open_stream() {
        let (mut login, mut out) = (login(Tls::Never, ServerKey::Ask), PacketWriter::new());
        login.packet(&greeting(auth::CACHING_SHA2), &mut out).unwrap();
        let mut packet = Vec::new();
        AuthSwitch { plugin: auth::CLEAR.into(), nonce: Vec::new() }.encode(&mut packet);
        assert!(matches!(login.packet(&packet, &mut out), Err(WireError::NotSupported(_))));
    }
}
