//! What CREATE USER and ALTER USER say behind the users, and what GRANT may say of accounts.

use serde::{Deserialize, Serialize};

use super::UserSpec;

/// The options of CREATE USER and ALTER USER: `None` for what was not said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserOptions {
    /// REQUIRE.
    pub requires: Option<Requirement>,
    /// WITH MAX_QUERIES_PER_HOUR.
    pub queries: Option<u32>,
    /// WITH MAX_UPDATES_PER_HOUR.
    pub updates: Option<u32>,
    /// WITH MAX_CONNECTIONS_PER_HOUR.
    pub connections: Option<u32>,
    /// WITH MAX_USER_CONNECTIONS.
    pub at_once: Option<u32>,
    /// PASSWORD EXPIRE.
    pub expire: Option<Expire>,
    /// ACCOUNT LOCK / UNLOCK.
    pub locked: Option<bool>,
    /// PASSWORD HISTORY.
    pub history: Option<OrDefault<u16>>,
    /// PASSWORD REUSE INTERVAL, in days.
    pub reuse_days: Option<OrDefault<u16>>,
    /// PASSWORD REQUIRE CURRENT; OPTIONAL is `false`.
    pub require_current: Option<OrDefault<bool>>,
    /// FAILED_LOGIN_ATTEMPTS.
    pub attempts: Option<u16>,
    /// PASSWORD_LOCK_TIME, in days.
    pub lock_days: Option<i16>,
    /// COMMENT, ATTRIBUTE.
    pub attribute: Option<UserAttribute>,
}

impl UserOptions {
    /// Whether any of them counts for how much the account may use.
    pub fn has_limits(&self) -> bool {
        [self.queries, self.updates, self.connections, self.at_once].iter().any(Option::is_some)
    }
}

/// PASSWORD EXPIRE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expire {
    /// At once.
    Now,
    /// NEVER.
    Never,
    /// DEFAULT: as `default_password_lifetime` says.
    Default,
    /// INTERVAL n DAY.
    Days(u16),
}

/// A value, or that of the server's setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrDefault<T> {
    /// DEFAULT.
    Default,
    /// This one.
    Value(T),
}

impl<T> OrDefault<T> {
    /// The value, if it is the account's own.
    pub fn own(self) -> Option<T> {
        match self {
            OrDefault::Default => None,
            OrDefault::Value(value) => Some(value),
        }
    }
}

/// COMMENT or ATTRIBUTE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserAttribute {
    /// A text.
    Comment(String),
    /// A JSON object.
    Attribute(String),
}

/// GRANT … TO user IDENTIFIED … REQUIRE … WITH MAX_…, of MariaDB and old MySQL: it makes accounts and changes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantedAccounts {
    /// The users with IDENTIFIED.
    pub users: Vec<UserSpec>,
    /// Options of all users.
    pub options: UserOptions,
}

/// REQUIRE: what the connection of a login has to be like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Requirement {
    /// Nothing.
    #[default]
    None,
    /// TLS.
    Ssl,
    /// TLS, with a certificate of the client that an authority of this server's has signed.
    X509,
    /// The same, and all of these.
    Specified {
        /// The name of the cipher suite.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cipher: Option<String>,
        /// Who has signed the client's certificate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<String>,
        /// Whose the client's certificate is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
    },
}

impl Requirement {
    /// Nothing is required.
    pub fn is_none(&self) -> bool {
        *self == Requirement::None
    }

    /// `ssl_type` of `mysql.user`.
    pub fn kind(&self) -> &'static str {
        match self {
            Requirement::None => "",
            Requirement::Ssl => "ANY",
            Requirement::X509 => "X509",
            Requirement::Specified { .. } => "SPECIFIED",
        }
    }
}

/// PASSWORD_LOCK_TIME UNBOUNDED.
pub const UNBOUNDED: i16 = -1;
