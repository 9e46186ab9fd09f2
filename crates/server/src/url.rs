//! `mysql://USER:PASSWORD@HOST:PORT/DATABASE`: how another server is named on the command line.

use std::fmt;
use std::str::FromStr;

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
}

const DEFAULT_PORT: u16 = 3306;

impl ServerUrl {
    /// Root without a password on a loopback port.
    pub fn loopback(port: u16) -> Self {
        let (user, host) = ("root".to_owned(), "127.0.0.1".to_owned());
        ServerUrl { host, port, user, password: String::new(), database: String::new() }
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
        })
    }
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
        for bad in ["http://x", "mysql://", "mysql://h:port", "mysql://a%2@h"] {
            assert!(bad.parse::<ServerUrl>().is_err(), "{bad}");
        }
    }
}
