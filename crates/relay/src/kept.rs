//! What a relay remembers beside the log: who it is, and whose log each generation is. `relay.json`, replaced as a whole.
//!
//! The file has a checksum: a relay that took a damaged file for another would take its source for another server, and begin a
//! generation that nobody wants.

use base::Uuid;
use io::{Env, IoBuf, OpenOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::gtids::{Gtids, Kind};

/// Name of the file.
const FILE: &str = "relay.json";
/// The largest such file that is read. GTID sets are what may make it long.
const FILE_SIZE_MAX: u64 = 64 << 20;
/// In the file, beside all else: XXH3 of that, as JSON without blanks in the order of names; 16 hexadecimal digits.
const CHECKSUM: &str = "checksum";
/// Server ids that are made here have this bit and 30 random ones below it: people seldom choose theirs there.
const SERVER_ID_BIT: u32 = 1 << 30;

/// The whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The relay's own `server_uuid`.
    pub uuid: String,
    /// The relay's own `server_id`, unless another is chosen.
    pub server_id: u32,
    /// Oldest first; empty before the first connection.
    pub generations: Vec<Generation>,
}

/// Files of one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// Of the folder `log.N`.
    pub number: u32,
    /// Whose files they are.
    pub source: Source,
    /// What the generations before hold, as [`Gtids::whole`] writes it; empty for the first.
    pub before: String,
}

impl Generation {
    /// The folder with its files.
    pub fn folder(&self) -> String {
        folder(self.number)
    }

    /// What the generations before hold.
    ///
    /// # Errors
    /// When what was kept is no set of GTIDs.
    pub fn gtids_before(&self) -> Result<Gtids, binlog::DecodeError> {
        Gtids::parse(self.source.kind, &self.before)
    }
}

/// The folder of a generation's files.
pub fn folder(number: u32) -> String {
    format!("log.{number}")
}

/// What a source says about itself, as replicas will be told it while it is down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Whose dialect its log is in.
    pub kind: Kind,
    /// `server_id`
    pub server_id: u32,
    /// What tells it from any other server: MySQL's `server_uuid`. A MariaDB has none (its `server_uid` is made of its machine's network
    /// address, and changes with that).
    pub uuid: String,
    /// As it greets its clients.
    pub version: String,
    /// Settings that replicas and tools ask for, names in lower case.
    pub variables: Vec<(String, String)>,
}

impl Source {
    /// Whether both are the same server, as far as they say. A server without a UUID is known by its id, which must be unique among those
    /// that replicate from one another.
    pub fn is_same(&self, other: &Source) -> bool {
        self.kind == other.kind
            && match (self.uuid.as_str(), other.uuid.as_str()) {
                ("", _) | (_, "") => self.server_id == other.server_id,
                (ours, theirs) => ours.eq_ignore_ascii_case(theirs),
            }
    }

    /// A setting that was asked for when the connection was made.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether its transactions have names that other servers know too.
    pub fn has_gtids(&self) -> bool {
        self.kind == Kind::Maria || self.variable("gtid_mode") == Some("ON")
    }
}

impl Kept {
    /// For a relay that is started for the first time.
    fn new(env: &Env) -> Self {
        let (mut uuid, mut id) = ([0; 16], [0; 4]);
        env.random.fill(&mut uuid);
        env.random.fill(&mut id);
        // A random UUID, version 4.
        uuid[6] = uuid[6] & 0x0f | 0x40;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        let server_id = u32::from_le_bytes(id) & (SERVER_ID_BIT - 1) | SERVER_ID_BIT;
        Kept { uuid: Uuid(uuid).to_string(), server_id, generations: Vec::new() }
    }

    /// What was kept, or what a first start begins with, which is kept from then on.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is damaged.
    #[io::boxed]
    pub async fn load(env: &Env) -> std::io::Result<Self> {
        if !env.disk.exists(FILE).await? {
            let kept = Kept::new(env);
            kept.store(env).await?;
            return Ok(kept);
        }
        let file = env.disk.open(FILE, OpenOptions::default()).await?;
        let len = file.len().await?;
        let damaged = |what: String| {
            std::io::Error::other(format!("{FILE}: {what}. Restore it from a copy, or begin anew in an empty folder"))
        };
        if len > FILE_SIZE_MAX {
            return Err(damaged(format!("{len} bytes, and at most {FILE_SIZE_MAX} are read")));
        }
        let bytes = file.read_at(0, IoBuf::zeroed(len as usize)).await?;
        let mut all: Map<String, Value> = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let checksum = all.remove(CHECKSUM);
        if checksum != Some(checksum_of(&all)?) {
            return Err(damaged("its checksum is not that of what it says".to_string()));
        }
        serde_json::from_value(Value::Object(all)).map_err(|error| damaged(error.to_string()))
    }

    /// Keeps it: written beside, synced, renamed.
    ///
    /// # Errors
    /// When it cannot be written; what was kept before is then still there.
    #[io::boxed]
    pub async fn store(&self, env: &Env) -> std::io::Result<()> {
        let fresh = format!("{FILE}.new");
        let Value::Object(mut all) = serde_json::to_value(self)? else { unreachable!("a struct is an object") };
        all.insert(CHECKSUM.to_string(), checksum_of(&all)?);
        let text = serde_json::to_vec_pretty(&all)?;
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = env.disk.open(&fresh, options).await?;
        file.set_len(0).await?;
        file.write_at(0, IoBuf::copy_of(&text)).await?;
        file.sync().await?;
        env.disk.rename(&fresh, FILE).await?;
        env.disk.sync_dir("").await
    }
}

fn checksum_of(all: &Map<String, Value>) -> std::io::Result<Value> {
    Ok(format!("{:016x}", xxh3_64(&serde_json::to_vec(all)?)).into())
}
