//! Where the source is and how to log in there: `CHANGE REPLICATION SOURCE TO`, kept in the data directory.
//!
//! Each channel has a file: `source.json`, and `source-` with a checksum of its name for those that have one. A file has a checksum: a server that took a damaged name for one that it does not know would believe that it follows nobody, and
//! begin a log of its own.

use std::time::Duration;

use base::{SqlError, codes};
use io::{Env, IoBuf, OpenOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use session::tls;
use sql::parse::ast::ChangeSource;
use sql::replay::ChannelRules;
use xxhash_rust::xxh3::xxh3_64;

use crate::replica::SourceKind;

/// Name of the file of the channel without a name.
const FILE: &str = "source.json";
/// What the others' names begin with.
const NAMED_FILE: &str = "source-";
const FILE_ENDING: &str = ".json";
/// The largest such file that is read.
const FILE_SIZE_MAX: u64 = 1 << 20;
/// MySQL's default of SOURCE_RETRY_COUNT.
const RETRIES: u64 = 10;
/// MariaDB's `master_retry_count`.
const MARIA_RETRIES: u64 = 100_000;
/// MySQL's largest SOURCE_DELAY.
const DELAY_SECONDS_MAX: u64 = i32::MAX as u64;
/// In the file, beside the settings: XXH3 of them, as JSON without blanks in the order of their names; 16 hexadecimal digits.
const CHECKSUM: &str = "checksum";

/// The source, as `CHANGE REPLICATION SOURCE TO` set it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceSettings {
    /// FOR CHANNEL, in lower case; empty for the channel that is always there.
    pub channel: String,
    /// SOURCE_HOST
    pub host: String,
    /// SOURCE_PORT
    pub port: u16,
    /// SOURCE_USER
    pub user: String,
    /// SOURCE_PASSWORD; in clear text, as MySQL keeps it.
    pub password: String,
    /// SOURCE_CONNECT_RETRY
    pub connect_retry_seconds: u64,
    /// SOURCE_RETRY_COUNT; 0 for no limit. Without one it is what the source's own replicas have: [`SourceSettings::retries`].
    pub retry_count: Option<u64>,
    /// SOURCE_DELAY
    pub delay_seconds: u64,
    /// SOURCE_HEARTBEAT_PERIOD
    pub heartbeat_period_seconds: f64,
    /// It was started, and this server was not made a source since: it goes on with that at the next start.
    pub following: bool,
    /// It was started to execute a MySQL's or MariaDB's log, or does not know yet whose log it is: it goes on at the next start.
    pub executing: bool,
    /// What the source is, once that was seen.
    pub kind: Option<SourceKind>,
    /// SOURCE_AUTO_POSITION: go on by GTIDs. A copy of a log has but one position.
    pub auto_position: bool,
    /// SOURCE_LOG_FILE: where to begin without GTIDs; empty for the source's first file.
    pub log_file: String,
    /// SOURCE_LOG_POS
    pub log_position: u64,
    /// Counts how often it was said where to begin: what was executed before does not say where to go on then.
    pub beginnings: u64,
    /// SOURCE_SSL
    pub ssl: bool,
    /// SOURCE_SSL_CA; a path that is not absolute is one in the data directory, as with the other files.
    pub ssl_ca: String,
    /// SOURCE_SSL_CERT
    pub ssl_cert: String,
    /// SOURCE_SSL_KEY
    pub ssl_key: String,
    /// SOURCE_SSL_VERIFY_SERVER_CERT
    pub ssl_verify_server_cert: bool,
    /// GET_SOURCE_PUBLIC_KEY
    pub get_public_key: bool,
    /// SOURCE_PUBLIC_KEY_PATH
    pub public_key_path: String,
    /// CHANGE REPLICATION FILTER … FOR CHANNEL
    pub filters: ChannelRules,
    /// IGNORE_SERVER_IDS
    pub ignored_server_ids: Vec<u32>,
    /// DO_DOMAIN_IDS; those of all domains, if there is none.
    pub do_domain_ids: Vec<u32>,
    /// IGNORE_DOMAIN_IDS
    pub ignored_domain_ids: Vec<u32>,
}

impl Default for SourceSettings {
    fn default() -> Self {
        SourceSettings {
            channel: String::new(),
            host: String::new(),
            port: 3306,
            user: String::new(),
            password: String::new(),
            connect_retry_seconds: 60,
            retry_count: None,
            delay_seconds: 0,
            heartbeat_period_seconds: 30.0,
            following: false,
            executing: false,
            kind: None,
            auto_position: true,
            log_file: String::new(),
            log_position: 4,
            beginnings: 0,
            ssl: false,
            ssl_ca: String::new(),
            ssl_cert: String::new(),
            ssl_key: String::new(),
            ssl_verify_server_cert: false,
            get_public_key: false,
            public_key_path: String::new(),
            filters: ChannelRules::new(),
            ignored_server_ids: Vec::new(),
            do_domain_ids: Vec::new(),
            ignored_domain_ids: Vec::new(),
        }
    }
}

impl std::fmt::Debug for SourceSettings {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.user, self.address())
    }
}

impl SourceSettings {
    /// Bytes of a channel's name, of which [`SourceSettings::position_name`] has to fit into 255.
    pub(crate) const CHANNEL_BYTES_MAX: usize = 255 - 1 - u64::MAX.ilog10() as usize - 1;

    /// `host:port`
    pub fn address(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Whether something is left out because of where it was born.
    pub fn has_origins(&self) -> bool {
        [&self.ignored_server_ids, &self.do_domain_ids, &self.ignored_domain_ids].iter().any(|ids| !ids.is_empty())
    }

    /// Whether there is a source; rules of filters may have been set before it.
    pub fn has_source(&self) -> bool {
        !self.host.is_empty()
    }

    /// How the connection is protected. As in MySQL, it does not fall back to one that is not: there is no PREFERRED.
    pub fn tls_mode(&self) -> tls::Mode {
        match self {
            _ if !self.ssl => tls::Mode::Disabled,
            _ if self.ssl_verify_server_cert => tls::Mode::VerifyIdentity,
            _ if !self.ssl_ca.is_empty() => tls::Mode::VerifyCa,
            _ => tls::Mode::Required,
        }
    }

    /// How long to wait between two attempts to connect.
    pub fn connect_retry(&self) -> Duration {
        Duration::from_secs(self.connect_retry_seconds)
    }

    /// How often to connect again before that is given up; 0 for no limit.
    pub fn retries(&self) -> u64 {
        let default = if self.kind == Some(SourceKind::Maria) { MARIA_RETRIES } else { RETRIES };
        self.retry_count.unwrap_or(default)
    }

    /// How often the source is to say that it is there.
    pub fn heartbeat_period(&self) -> Duration {
        Duration::try_from_secs_f64(self.heartbeat_period_seconds).unwrap_or_default()
    }

    /// Under which its positions are remembered in this server's log.
    pub fn position_name(&self) -> String {
        format!("{}:{}", self.channel, self.beginnings)
    }

    /// From here on no position counts that was remembered before: of this source, or of another that the channel had.
    /// `remembered` are all names of positions in this server's log.
    pub(crate) fn begin_anew(&mut self, remembered: &[String]) {
        let of_channel = |name: &String| name.strip_prefix(&self.channel)?.strip_prefix(':')?.parse::<u64>().ok();
        let last = remembered.iter().filter_map(of_channel).max();
        self.beginnings = self.beginnings.max(last.unwrap_or(0)) + 1;
    }

    /// Where to begin. A file and a position are not for GTIDs. As in MySQL, who names a host or a port means another source, the
    /// beginning of whose log it is unless a position is named too.
    fn change_position(&mut self, change: &ChangeSource, remembered: &[String]) -> Result<(), SqlError> {
        let names_position = change.log_file.is_some() || change.log_position.is_some();
        if names_position && change.auto_position == Some(true) {
            let message = "Parameters SOURCE_LOG_FILE, SOURCE_LOG_POS, RELAY_LOG_FILE and RELAY_LOG_POS cannot be set when \
                           SOURCE_AUTO_POSITION is active.";
            return Err(SqlError::new(codes::BAD_REPLICA_AUTO_POSITION, message));
        }
        set(&mut self.auto_position, &change.auto_position);
        let names_source = change.host.is_some() || change.port.is_some();
        if names_source {
            (self.log_file, self.log_position) = (String::new(), 4);
        }
        if names_position {
            self.auto_position = false;
            set(&mut self.log_file, &change.log_file);
            self.log_position = change.log_position.unwrap_or(4).max(4);
        }
        if names_source || names_position {
            self.begin_anew(remembered);
        }
        Ok(())
    }

    /// What was kept of the channel without a name; `None` if this server was never told to follow.
    #[io::boxed]
    pub async fn load(env: &Env) -> std::io::Result<Option<Self>> {
        if !env.disk.exists(FILE).await? {
            return Ok(None);
        }
        SourceSettings::load_file(env, FILE).await.map(Some)
    }

    /// What was kept of the channels that have names.
    #[io::boxed]
    pub async fn load_named(env: &Env) -> std::io::Result<Vec<Self>> {
        let mut channels = Vec::new();
        for file in env.disk.list("").await? {
            if file.starts_with(NAMED_FILE) && file.ends_with(FILE_ENDING) {
                channels.push(SourceSettings::load_file(env, &file).await?);
            }
        }
        Ok(channels)
    }

    async fn load_file(env: &Env, file: &str) -> std::io::Result<Self> {
        let bytes = read(env, file).await?;
        let damaged = |what: String| {
            std::io::Error::other(format!(
                "{file}: {what}. Restore it from a copy, or remove it: then start a follower with --follow, or it becomes a \
                 source of its own; a channel is begun again with CHANGE REPLICATION SOURCE TO"
            ))
        };
        let mut kept: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let checksum = kept.remove(CHECKSUM);
        if checksum != Some(checksum_of(&kept)?) {
            return Err(damaged("its checksum is not that of its settings".to_string()));
        }
        serde_json::from_value(Value::Object(kept)).map_err(|error| damaged(error.to_string()))
    }

    /// Name of its file in the data directory.
    pub(crate) fn file(&self) -> String {
        match self.channel.as_str() {
            "" => FILE.to_owned(),
            // A name may have any characters, and more of them than a file's name.
            name => format!("{NAMED_FILE}{:016x}{FILE_ENDING}", xxh3_64(name.as_bytes())),
        }
    }

    /// Keeps it: written beside, synced, renamed.
    #[io::boxed]
    pub async fn store(&self, env: &Env) -> std::io::Result<()> {
        let kept = self.file();
        let fresh = format!("{kept}.new");
        let Value::Object(mut settings) = serde_json::to_value(self)? else { unreachable!("a struct is an object") };
        settings.insert(CHECKSUM.to_string(), checksum_of(&settings)?);
        let text = serde_json::to_vec_pretty(&settings)?;
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = env.disk.open(&fresh, options).await?;
        file.set_len(0).await?;
        file.write_at(0, IoBuf::copy_of(&text)).await?;
        file.sync().await?;
        env.disk.rename(&fresh, &kept).await?;
        env.disk.sync_dir("").await
    }

    /// Forgets it (`RESET REPLICA ALL`).
    #[io::boxed]
    pub async fn remove(&self, env: &Env) -> std::io::Result<()> {
        let kept = self.file();
        if env.disk.exists(&kept).await? {
            env.disk.remove(&kept).await?;
            env.disk.sync_dir("").await?;
        }
        Ok(())
    }

    /// Applies the options that were named. `remembered` are the names of positions in this server's log
    /// ([`engine::Engine::source_position_names`]).
    pub fn change(&mut self, change: &ChangeSource, remembered: &[String]) -> Result<(), SqlError> {
        let host_changes = change.host.as_ref().is_some_and(|host| *host != self.host);
        if change.host.as_deref() == Some("") {
            let message = "Failed to initialize the source info structure: SOURCE_HOST is empty";
            return Err(SqlError::new(codes::WRONG_ARGUMENTS, message));
        }
        set(&mut self.host, &change.host);
        // As in MySQL, another host has the default port unless one is named.
        if host_changes && change.port.is_none() {
            self.port = SourceSettings::default().port;
        }
        if host_changes || change.port.is_some_and(|port| port != self.port) {
            self.kind = None;
        }
        set(&mut self.port, &change.port);
        set(&mut self.user, &change.user);
        set(&mut self.password, &change.password);
        set(&mut self.connect_retry_seconds, &change.connect_retry_seconds);
        if let Some(delay) = change.delay_seconds {
            if delay > DELAY_SECONDS_MAX {
                let message =
                    format!("The requested value {delay} for the source delay exceeds the maximum {DELAY_SECONDS_MAX}");
                return Err(SqlError::new(codes::SOURCE_DELAY_VALUE_OUT_OF_RANGE, message));
            }
            self.delay_seconds = delay;
        }
        self.retry_count = change.retry_count.or(self.retry_count);
        self.change_position(change, remembered)?;
        set(&mut self.ssl, &change.ssl);
        set(&mut self.ssl_ca, &change.ssl_ca);
        set(&mut self.ssl_cert, &change.ssl_cert);
        set(&mut self.ssl_key, &change.ssl_key);
        set(&mut self.ssl_verify_server_cert, &change.ssl_verify_server_cert);
        set(&mut self.get_public_key, &change.get_public_key);
        set(&mut self.public_key_path, &change.public_key_path);
        set(&mut self.ignored_server_ids, &change.ignored_server_ids);
        set(&mut self.do_domain_ids, &change.do_domain_ids);
        set(&mut self.ignored_domain_ids, &change.ignored_domain_ids);
        if !self.do_domain_ids.is_empty() && !self.ignored_domain_ids.is_empty() {
            let message = "DO_DOMAIN_IDS and IGNORE_DOMAIN_IDS cannot both be set: one of them has to be ()";
            return Err(SqlError::new(codes::WRONG_ARGUMENTS, message));
        }
        if let Some(period) = change.heartbeat_period_seconds {
            if !(0.0..=4_294_967.0).contains(&period) {
                let message = "The requested value for the heartbeat period is not in 0 to 4294967 seconds";
                return Err(SqlError::new(codes::WRONG_ARGUMENTS, message));
            }
            self.heartbeat_period_seconds = period;
        }
        Ok(())
    }
}

fn checksum_of(settings: &Map<String, Value>) -> std::io::Result<Value> {
    Ok(format!("{:016x}", xxh3_64(&serde_json::to_vec(settings)?)).into())
}

/// A file of the data directory, or an absolute path, whole.
pub(super) async fn read(env: &Env, path: &str) -> std::io::Result<Vec<u8>> {
    let file = env.disk.open(path, OpenOptions::default()).await?;
    let len = file.len().await?;
    if len > FILE_SIZE_MAX {
        return Err(std::io::Error::other(format!("{len} bytes, and at most {FILE_SIZE_MAX} are read")));
    }
    Ok(file.read_at(0, IoBuf::zeroed(len as usize)).await?.to_vec())
}

fn set<T: Clone>(field: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        *field = value.clone();
    }
}

#[cfg(test)]
mod tests {
    use io::sim::SimMachine;

    use super::*;

    #[test]
    fn survives_a_crash_whole() {
        for seed in 0..50 {
            let machine = SimMachine::new(seed);
            let settings = |n: u16| SourceSettings { host: format!("host{n}"), port: n, ..SourceSettings::default() };
            machine.run(async { settings(1).store(&machine.env()).await }).unwrap().unwrap();
            machine.crash_after(1 + machine.world().below(6));
            let result = machine.run(async { settings(2).store(&machine.env()).await });
            machine.crash();
            let kept = machine.run(async { SourceSettings::load(&machine.env()).await }).unwrap().unwrap().unwrap();
            assert!(kept == settings(2) || (result.is_err() && kept == settings(1)), "seed {seed}: {kept:?}");
        }
    }

    #[test]
    fn no_other_bit_is_taken_for_a_setting() {
        let machine = SimMachine::new(1);
        let settings = SourceSettings { host: "a".into(), following: true, ..SourceSettings::default() };
        machine.run(settings.store(&machine.env())).unwrap().unwrap();
        for bit in 0..machine.contents(FILE).unwrap().len() as u64 * 8 {
            machine.flip_bit(FILE, bit);
            // A blank for another, an escaped letter: nothing has changed.
            match machine.run(SourceSettings::load(&machine.env())).unwrap() {
                Ok(kept) => assert_eq!(kept.as_ref(), Some(&settings), "bit {bit}"),
                Err(error) => assert!(error.to_string().contains(FILE), "bit {bit}: {error}"),
            }
            machine.flip_bit(FILE, bit);
        }
    }

    #[test]
    fn changes_only_what_is_named() {
        let mut settings = SourceSettings { host: "a".into(), port: 7, user: "u".into(), ..SourceSettings::default() };
        let change = ChangeSource { password: Some("secret".into()), ..ChangeSource::default() };
        settings.change(&change, &[]).unwrap();
        assert_eq!((settings.port, settings.password.as_str()), (7, "secret"));
        assert_eq!(format!("{settings:?}"), "u@a:7");
        settings.change(&ChangeSource { host: Some("b".into()), ..ChangeSource::default() }, &[]).unwrap();
        assert_eq!((settings.host.as_str(), settings.port), ("b", 3306));
    }

    /// A position that was remembered under a channel's name is not one of a source that the channel gets later.
    #[test]
    fn another_source_is_begun_where_that_was_said() {
        let here = ["c:3", "c:x", ":40", "cc:9"].map(str::to_owned);
        let at = |file: &str, position| ChangeSource {
            host: Some("b".into()),
            log_file: Some(file.into()),
            log_position: Some(position),
            ..ChangeSource::default()
        };
        let mut settings = SourceSettings { channel: "c".into(), ..SourceSettings::default() };
        settings.change(&at("bin.000001", 158), &here).unwrap();
        assert_eq!((settings.position_name().as_str(), settings.log_position), ("c:4", 158));
        // Another password is another password.
        settings.change(&ChangeSource { password: Some("x".into()), ..ChangeSource::default() }, &here).unwrap();
        assert_eq!(settings.position_name(), "c:4");
        // Another server without a position begins at the beginning of its log.
        settings.change(&ChangeSource { port: Some(1), ..ChangeSource::default() }, &here).unwrap();
        let place = (settings.log_file.as_str(), settings.log_position);
        assert_eq!((settings.position_name().as_str(), place), ("c:5", ("", 4)));
        settings.begin_anew(&["c:7".to_owned()]);
        assert_eq!(settings.position_name(), "c:8");
    }

    #[test]
    fn how_the_connection_is_protected() {
        let mut settings = SourceSettings::default();
        let mut mode = |change: ChangeSource| {
            settings.change(&change, &[]).unwrap();
            settings.tls_mode()
        };
        let ca = ChangeSource { ssl_ca: Some("ca.pem".into()), ..ChangeSource::default() };
        assert_eq!(mode(ca), tls::Mode::Disabled, "kept, for when TLS is wanted");
        assert_eq!(mode(ChangeSource { ssl: Some(true), ..ChangeSource::default() }), tls::Mode::VerifyCa);
        let verify = ChangeSource { ssl_verify_server_cert: Some(true), ..ChangeSource::default() };
        assert_eq!(mode(verify), tls::Mode::VerifyIdentity);
        let (no_ca, verify) = (Some(String::new()), Some(false));
        let plain = ChangeSource { ssl_ca: no_ca, ssl_verify_server_cert: verify, ..ChangeSource::default() };
        assert_eq!(mode(plain), tls::Mode::Required);
    }
}
