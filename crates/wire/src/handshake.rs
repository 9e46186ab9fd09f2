//! The beginning of a connection: the server's greeting, the client's answer, TLS, change of the authentication method.

use crate::WireError;
use crate::codec::{Put, Reader, text};
use crate::flags::capability;

/// Protocol version of the greeting.
const PROTOCOL_VERSION: u8 = 10;
/// The most bytes of connection attributes that are kept, as in MySQL.
const ATTRIBUTE_BYTES_MAX: usize = 64 << 10;

/// The server's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// `@@version`.
    pub server_version: String,
    /// `CONNECTION_ID()`.
    pub connection_id: u32,
    /// What authentication answers to: 20 bytes.
    pub nonce: Vec<u8>,
    /// Flags of [`capability`].
    pub capabilities: u32,
    /// Low byte of the server's default collation.
    pub collation: u8,
    /// Flags of [`crate::flags::status`].
    pub status: u16,
    /// The default authentication method.
    pub auth_plugin: String,
}

impl Greeting {
    /// Appends the packet's payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (first, second) = self.nonce.split_at(8.min(self.nonce.len()));
        out.push(PROTOCOL_VERSION);
        out.put_nul_bytes(self.server_version.as_bytes());
        out.put_u32(self.connection_id);
        out.extend_from_slice(first);
        out.push(0);
        out.put_u16(self.capabilities as u16);
        out.push(self.collation);
        out.put_u16(self.status);
        out.put_u16((self.capabilities >> 16) as u16);
        out.push(self.nonce.len() as u8 + 1);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(second);
        out.push(0);
        out.put_nul_bytes(self.auth_plugin.as_bytes());
    }

    /// Reads it; an ERR in its place (too many connections) becomes [`WireError::Refused`].
    pub fn decode(packet: &[u8]) -> Result<Self, WireError> {
        if packet.first() == Some(&crate::reply::ERR) {
            return Err(WireError::Refused(crate::reply::read_err(packet)?));
        }
        let mut reader = Reader::new(packet);
        if reader.u8("protocol version")? != PROTOCOL_VERSION {
            return Err(WireError::Malformed("protocol version"));
        }
        let server_version = text(reader.nul_bytes("server version")?);
        let connection_id = reader.u32("connection id")?;
        let mut nonce = reader.bytes(8, "nonce")?.to_vec();
        reader.u8("filler")?;
        let low = reader.u16("capabilities")?;
        let collation = reader.u8("collation")?;
        let status = reader.u16("status")?;
        let high = reader.u16("capabilities")?;
        let nonce_len = usize::from(reader.u8("length of the nonce")?);
        reader.bytes(10, "filler")?;
        let second = reader.bytes(nonce_len.saturating_sub(8).max(13), "nonce")?;
        nonce.extend_from_slice(&second[..second.len() - 1]);
        let auth_plugin = text(reader.nul_or_rest());
        let capabilities = u32::from(low) | u32::from(high) << 16;
        Ok(Greeting { server_version, connection_id, nonce, capabilities, collation, status, auth_plugin })
    }
}

/// The client's answer to the greeting, and the same fields of `COM_CHANGE_USER`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// Flags of [`capability`].
    pub capabilities: u32,
    /// The client's bound on packets.
    pub max_packet: u32,
    /// Collation of the connection.
    pub collation: u16,
    /// Who.
    pub user: String,
    /// The answer to the nonce, by `auth_plugin`.
    pub auth_answer: Vec<u8>,
    /// Default database; empty for none.
    pub database: String,
    /// The method by which `auth_answer` was made; empty if the client did not say.
    pub auth_plugin: String,
    /// Program name and the like.
    pub attributes: Vec<(String, String)>,
    /// How strongly zstd is to compress; 0 if the client did not say.
    pub zstd_level: u8,
}

/// The client's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstAnswer {
    /// TLS is to begin; the login comes inside.
    TlsRequest {
        /// Flags of [`capability`].
        capabilities: u32,
    },
    /// The login.
    Login(Box<Login>),
}

const FIXED_BYTES: usize = 32;

impl FirstAnswer {
    /// Reads either.
    pub fn decode(packet: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(packet);
        let capabilities = reader.u32("capabilities")?;
        if capabilities & capability::PROTOCOL_41 == 0 {
            return Err(WireError::Malformed("a client without protocol 4.1"));
        }
        if capabilities & capability::SSL != 0 && packet.len() == FIXED_BYTES {
            return Ok(FirstAnswer::TlsRequest { capabilities });
        }
        Login::decode(packet).map(|login| FirstAnswer::Login(Box::new(login)))
    }
}

/// The client's request to begin TLS.
pub fn encode_tls_request(out: &mut Vec<u8>, capabilities: u32, max_packet: u32, collation: u16) {
    out.put_u32(capabilities);
    out.put_u32(max_packet);
    out.push(collation as u8);
    out.extend_from_slice(&[0; 23]);
}

impl Login {
    /// Appends the packet's payload. The fields must agree with the capabilities.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_tls_request(out, self.capabilities, self.max_packet, self.collation);
        out.put_nul_bytes(self.user.as_bytes());
        if self.has(capability::PLUGIN_AUTH_LENENC_DATA) {
            out.put_lenenc_bytes(&self.auth_answer);
        } else {
            out.push(self.auth_answer.len() as u8);
            out.extend_from_slice(&self.auth_answer);
        }
        if self.has(capability::CONNECT_WITH_DB) {
            out.put_nul_bytes(self.database.as_bytes());
        }
        if self.has(capability::PLUGIN_AUTH) {
            out.put_nul_bytes(self.auth_plugin.as_bytes());
        }
        if self.has(capability::CONNECT_ATTRS) {
            let mut data = Vec::new();
            for (name, value) in &self.attributes {
                data.put_lenenc_bytes(name.as_bytes());
                data.put_lenenc_bytes(value.as_bytes());
            }
            out.put_lenenc_bytes(&data);
        }
        if self.has(capability::ZSTD_COMPRESSION_ALGORITHM) {
            out.push(self.zstd_level);
        }
    }

    fn decode(packet: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(packet);
        let mut login = Login {
            capabilities: reader.u32("capabilities")?,
            max_packet: reader.u32("packet bound")?,
            collation: u16::from(reader.u8("collation")?),
            ..Login::default()
        };
        // MariaDB's clients say more about themselves in the last four; nothing there concerns us.
        reader.bytes(23, "filler")?;
        login.user = text(reader.nul_or_rest());
        login.auth_answer = if login.has(capability::PLUGIN_AUTH_LENENC_DATA) {
            reader.lenenc_bytes("authentication answer")?.to_vec()
        } else if login.has(capability::SECURE_CONNECTION) {
            reader.short_bytes("authentication answer")?.to_vec()
        } else {
            reader.nul_or_rest().to_vec()
        };
        if login.has(capability::CONNECT_WITH_DB) {
            login.database = text(reader.nul_or_rest());
        }
        if login.has(capability::PLUGIN_AUTH) {
            login.auth_plugin = text(reader.nul_or_rest());
        }
        if login.has(capability::CONNECT_ATTRS) {
            login.attributes = attributes(&mut reader)?;
        }
        if login.has(capability::ZSTD_COMPRESSION_ALGORITHM) && !reader.is_empty() {
            login.zstd_level = reader.u8("level of compression")?;
        }
        Ok(login)
    }

    /// Reads the body of `COM_CHANGE_USER`; the capabilities are those of the login before.
    pub fn decode_change_user(body: &[u8], capabilities: u32) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        let mut login = Login { capabilities, ..Login::default() };
        login.user = text(reader.nul_bytes("user")?);
        login.auth_answer = if login.has(capability::SECURE_CONNECTION) {
            reader.short_bytes("authentication answer")?.to_vec()
        } else {
            reader.nul_bytes("authentication answer")?.to_vec()
        };
        login.database = text(reader.nul_or_rest());
        if !reader.is_empty() {
            login.collation = reader.u16("collation")?;
        }
        if login.has(capability::PLUGIN_AUTH) && !reader.is_empty() {
            login.auth_plugin = text(reader.nul_or_rest());
        }
        if login.has(capability::CONNECT_ATTRS) && !reader.is_empty() {
            login.attributes = attributes(&mut reader)?;
        }
        Ok(login)
    }

    fn has(&self, capability: u32) -> bool {
        self.capabilities & capability != 0
    }
}

fn attributes(reader: &mut Reader<'_>) -> Result<Vec<(String, String)>, WireError> {
    if reader.is_empty() {
        return Ok(Vec::new());
    }
    let data = reader.lenenc_bytes("connection attributes")?;
    let mut attributes = Vec::new();
    if data.len() > ATTRIBUTE_BYTES_MAX {
        return Ok(attributes);
    }
    let mut data = Reader::new(data);
    while !data.is_empty() {
        let name = data.lenenc_bytes("attribute name")?;
        attributes.push((text(name), text(data.lenenc_bytes("attribute value")?)));
    }
    Ok(attributes)
}

/// The server's request to authenticate by another method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSwitch {
    /// The method.
    pub plugin: String,
    /// A new nonce.
    pub nonce: Vec<u8>,
}

impl AuthSwitch {
    /// Appends the packet's payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(crate::reply::EOF);
        out.put_nul_bytes(self.plugin.as_bytes());
        out.put_nul_bytes(&self.nonce);
    }

    /// Reads it.
    pub fn decode(packet: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(packet);
        if reader.u8("authentication switch")? != crate::reply::EOF {
            return Err(WireError::Malformed("authentication switch"));
        }
        let plugin = text(reader.nul_bytes("authentication method")?);
        let rest = reader.take_rest();
        Ok(AuthSwitch { plugin, nonce: rest.strip_suffix(&[0]).unwrap_or(rest).to_vec() })
    }
}

/// First byte of data that an authentication method sends beyond its first.
pub const AUTH_MORE_DATA: u8 = 0x01;

/// Appends the payload of a packet with more data of an authentication method.
pub fn encode_auth_more_data(out: &mut Vec<u8>, data: &[u8]) {
    out.push(AUTH_MORE_DATA);
    out.extend_from_slice(data);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth;

    #[test]
    fn greeting_round_trip() {
        let greeting = Greeting {
            server_version: "8.4.0-commuter".into(),
            connection_id: 77,
            nonce: b"abcdefghijklmnopqrst".to_vec(),
            capabilities: capability::SERVER | capability::SSL,
            collation: 255,
            status: 2,
            auth_plugin: auth::CACHING_SHA2.into(),
        };
        let mut packet = Vec::new();
        greeting.encode(&mut packet);
        assert_eq!(Greeting::decode(&packet), Ok(greeting));
    }

    #[test]
    fn login_round_trip() {
        let login = Login {
            capabilities: capability::CLIENT | capability::CONNECT_WITH_DB | capability::CONNECT_ATTRS,
            max_packet: 1 << 24,
            collation: 45,
            user: "root".into(),
            auth_answer: vec![1, 2, 3],
            database: "test".into(),
            auth_plugin: auth::NATIVE.into(),
            attributes: vec![("program_name".into(), "mysql".into())],
            zstd_level: 0,
        };
        let mut packet = Vec::new();
        login.encode(&mut packet);
        assert_eq!(FirstAnswer::decode(&packet), Ok(FirstAnswer::Login(Box::new(login))));
    }

    #[test]
    fn tls_request() {
        let mut packet = Vec::new();
        let capabilities = capability::CLIENT | capability::SSL;
        encode_tls_request(&mut packet, capabilities, 1 << 24, 45);
        assert_eq!(FirstAnswer::decode(&packet), Ok(FirstAnswer::TlsRequest { capabilities }));
    }

    #[test]
    fn switch_round_trip() {
        let switch = AuthSwitch { plugin: auth::NATIVE.into(), nonce: b"abcdefghijklmnopqrst".to_vec() };
        let mut packet = Vec::new();
        switch.encode(&mut packet);
        assert_eq!(AuthSwitch::decode(&packet), Ok(switch));
    }
}
