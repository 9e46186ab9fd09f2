//! `mysql://USER:PASSWORD@HOST:PORT/DATABASE?ATTRIBUTE=VALUE&…`: how another server is named on the command line.
//!
//! The attributes are those of MySQL's URLs that are about how a connection is protected: `ssl-mode`, `ssl-ca`, `ssl-cert`,
//! `ssl-key`, `get-server-public-key`, `server-public-key-path`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use session::tls;

/// A server and who we are there.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Account name.
    pub user: String,
    /// Its password; empty for none.
    pub password: String,
    /// Default database; empty for none.
    pub database: String,
    /// How the connection is protected.
    pub protection: Protection,
}

/// How a connection is protected, as far as the URL says it. Files that are not named are empty paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// `ssl-mode`
    pub mode: Option<tls::Mode>,
    /// `ssl-ca`
    pub ca: PathBuf,
    /// `ssl-cert`
    pub cert: PathBuf,
    /// `ssl-key`
    pub key: PathBuf,
    /// `get-server-public-key`; other than MySQL's clients we ask for it unless told not to.
    pub get_public_key: bool,
    /// `server-public-key-path`
    pub public_key_path: PathBuf,
}

impl Default for Protection {
    fn default() -> Self {
        let none = PathBuf::new();
        Protection {
            mode: None,
            ca: none.clone(),
            cert: none.clone(),
            key: none.clone(),
            get_public_key: true,
            public_key_path: none,
        }
    }
}

impl Protection {
    /// The mode; as in MySQL an authority that is named is also asked.
    pub fn mode_or(&self, default: tls::Mode) -> tls::Mode {
        let implied = if self.ca.as_os_str().is_empty() { default } else { tls::Mode::VerifyCa };
        self.mode.unwrap_or(implied)
    }

    fn set(&mut self, attribute: &str, value: String) -> Result<(), String> {
        match attribute {
            "ssl-mode" => self.mode = Some(value.parse().map_err(|why| format!("ssl-mode: {why}"))?),
            "ssl-ca" => self.ca = value.into(),
            "ssl-cert" => self.cert = value.into(),
            "ssl-key" => self.key = value.into(),
            "get-server-public-key" => {
                self.get_public_key = match value.as_str() {
                    "true" | "1" => true,
                    "false" | "0" => false,
                    other => return Err(format!("get-server-public-key: '{other}' is neither true nor false")),
                }
            }
            "server-public-key-path" => self.public_key_path = value.into(),
            other => return Err(format!("'{other}' is none of {ATTRIBUTES}")),
        }
        Ok(())
    }
}

const ATTRIBUTES: &str = "ssl-mode, ssl-ca, ssl-cert, ssl-key, get-server-public-key, server-public-key-path";

const DEFAULT_PORT: u16 = 3306;

impl ServerUrl {
    /// Root without a password on a loopback port, where nobody else listens.
    pub fn loopback(port: u16) -> Self {
        let (user, host) = ("root".to_owned(), "127.0.0.1".to_owned());
        let protection = Protection { mode: Some(tls::Mode::Disabled), ..Protection::default() };
        ServerUrl { host, port, user, password: String::new(), database: String::new(), protection }
    }

    /// `host:port`
    pub fn address(&self) -> String {
        let is_ipv6 = self.host.contains(':');
        if is_ipv6 { format!("[{}]:{}", self.host, self.port) } else { format!("{}:{}", self.host, self.port) }
    }
}

impl FromStr for ServerUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("mysql://").ok_or_else(|| format!("'{text}' does not begin with mysql://"))?;
        // Behind the host; a password may have a ? too.
        let host_at = rest.rfind('@').map_or(0, |at| at + 1);
        let query_at = rest[host_at..].find('?').map_or(rest.len(), |at| host_at + at);
        let (rest, query) = (&rest[..query_at], rest[query_at..].trim_start_matches('?'));
        let (rest, database) = rest.split_once('/').unwrap_or((rest, ""));
        // A password may have an @; a host has none.
        let (account, host) = rest.rsplit_once('@').unwrap_or(("root", rest));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                (host, port.parse().map_err(|_| format!("'{port}' is not a port"))?)
            }
            _ => (host, DEFAULT_PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(format!("'{text}' names no host"));
        }
        Ok(ServerUrl {
            host: host.to_owned(),
            port,
            user: decoded(user)?,
            password: decoded(password)?,
            database: decoded(database)?,
            protection: protection(query)?,
        })
    }
}

fn protection(query: &str) -> Result<Protection, String> {
    let mut protection = Protection::default();
    for attribute in query.split('&').filter(|attribute| !attribute.is_empty()) {
        let (name, value) = attribute.split_once('=').ok_or_else(|| format!("'{attribute}' is not ATTRIBUTE=VALUE"))?;
        protection.set(name, decoded(value)?)?;
    }
    Ok(protection)
}

/// Without `%40` and the like.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let value = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(value.ok_or_else(|| format!("'{text}' has a % without two hexadecimal digits"))?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("'{text}' is not UTF-8"))
}

/// Without the password.
impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mysql://{}@{}", self.user, self.address())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts() {
        let url: ServerUrl = "mysql://me:p%40ss:w@rd@db.example:3307/shop".parse().unwrap();
        assert_eq!((url.user.as_str(), url.password.as_str()), ("me", "p@ss:w@rd"));
        assert_eq!((url.address().as_str(), url.database.as_str()), ("db.example:3307", "shop"));
        assert_eq!(format!("{url:?}"), "mysql://me@db.example:3307");
    }

    #[test]
    fn defaults() {
        let url: ServerUrl = "mysql://127.0.0.1".parse().unwrap();
        assert_eq!((url.user.as_str(), url.port), ("root", 3306));
        let url: ServerUrl = "mysql://root@[::1]:1".parse().unwrap();
        assert_eq!((url.host.as_str(), url.address().as_str()), ("::1", "[::1]:1"));
    }

    #[test]
    fn errors() {
        for bad in ["http://x", "mysql://", "mysql://h:port", "mysql://a%2@h", "mysql://h?ssl-mode", "mysql://h?x=1"] {
            assert!(bad.parse::<ServerUrl>().is_err(), "{bad}");
        }
        let error = "mysql://h?ssl-mode=SOME".parse::<ServerUrl>().unwrap_err();
        assert_eq!(error, "ssl-mode: 'SOME' is none of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY");
    }

    #[test]
    fn protection() {
        let of = |query: &str| format!("mysql://u:p?w@h:1/d?{query}").parse::<ServerUrl>().unwrap().protection;
        assert_eq!(of("ssl-mode=required").mode, Some(tls::Mode::Required));
        assert_eq!(of("").mode_or(tls::Mode::Preferred), tls::Mode::Preferred);
        let named = of("ssl-ca=%2Fetc%2Fca.pem&get-server-public-key=false");
        assert_eq!((named.ca.to_str(), named.get_public_key), (Some("/etc/ca.pem"), false));
        assert_eq!(named.mode_or(tls::Mode::Disabled), tls::Mode::VerifyCa);
        assert_eq!(of("ssl-ca=a&ssl-mode=REQUIRED").mode_or(tls::Mode::Disabled), tls::Mode::Required);
    }
}
