//! Where a tail is in its source's log, and how that is kept.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use binlog::{GtidSet, MariaGtidName};
use events::{Transaction, TransactionName, Xid, form};
use serde::{Deserialize, Serialize};

use super::output::Written;
use crate::cli::CommandError;

/// The version of the state's file.
const VERSION: u32 = 1;

/// Behind which transactions it is, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gtids {
    Mysql(GtidSet),
    /// The last one of each domain.
    Maria(BTreeMap<u32, MariaGtidName>),
}

impl Gtids {
    pub(super) fn parse_maria(text: &str) -> Result<Gtids, CommandError> {
        let mut last = BTreeMap::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let name: MariaGtidName =
                part.parse().map_err(|_| format!("'{part}' is no GTID of MariaDB's such as '0-1-17'"))?;
            last.insert(name.domain_id, name);
        }
        Ok(Gtids::Maria(last))
    }

    pub(super) fn text(&self) -> String {
        match self {
            Gtids::Mysql(set) => set.to_string(),
            Gtids::Maria(last) => last.values().map(ToString::to_string).collect::<Vec<_>>().join(","),
        }
    }
}

/// Where a tail is.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Which server it is: its UUID, or its id. Empty before the first connection.
    pub(super) server: String,
    /// File and offset behind the last transaction; none before the source has named a file.
    pub(super) position: Option<(String, u64)>,
    /// The transactions before, where that is known.
    pub(super) gtids: Option<Gtids>,
    /// Distributed transactions that are prepared, and neither committed nor rolled back.
    pub(super) prepared: Vec<form::Transaction>,
}

impl Progress {
    /// A transaction was written, or was not wanted.
    pub(super) fn passed(&mut self, transaction: &dyn Transaction) -> Result<(), CommandError> {
        if let Some(position) = transaction.position()? {
            self.position = Some((position.file, position.end));
        }
        match (&mut self.gtids, transaction.name()?) {
            (Some(Gtids::Mysql(set)), Some(TransactionName::Mysql(gtid))) => drop(set.add(gtid)),
            (Some(Gtids::Maria(last)), Some(TransactionName::Maria(name))) => drop(last.insert(name.domain_id, name)),
            _ => {}
        }
        Ok(())
    }

    /// Takes out a prepared transaction.
    pub(super) fn take_prepared(&mut self, xid: &Xid) -> Result<Option<form::Transaction>, CommandError> {
        for at in 0..self.prepared.len() {
            if matches!(self.prepared[at].outcome()?, Some(events::Outcome::Prepared(known)) if known == *xid) {
                return Ok(Some(self.prepared.remove(at)));
            }
        }
        Ok(None)
    }
}

/// What the state's file has.
pub(super) struct State {
    pub(super) progress: Progress,
    pub(super) output: Written,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    server: String,
    file: String,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gtids: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maria_gtids: Option<String>,
    /// Messages of the standard form behind their lengths, in hexadecimal.
    prepared: String,
    output: Written,
}

/// Reads a state; `None` if there is none yet.
pub(super) fn load(path: &Path) -> Result<Option<State>, CommandError> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| format!("{}: {error}", path.display()))?,
    };
    let bad = |why: &dyn std::fmt::Display| format!("{} is no state of a tail: {why}", path.display());
    let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| bad(&error))?;
    if stored.version != VERSION {
        return Err(bad(&format!("version {}", stored.version)).into());
    }
    let gtids = match (&stored.gtids, &stored.maria_gtids) {
        (Some(set), _) => Some(Gtids::Mysql(set.parse().map_err(|_| bad(&"its GTID set"))?)),
        (None, Some(position)) => Some(Gtids::parse_maria(position)?),
        (None, None) => None,
    };
    let bytes = unhex(&stored.prepared).ok_or_else(|| bad(&"its prepared transactions"))?;
    let (mut prepared, mut rest) = (Vec::new(), bytes.as_slice());
    while !rest.is_empty() {
        let (transaction, len) = form::take_delimited(rest)?.ok_or_else(|| bad(&"its prepared transactions"))?;
        prepared.push(transaction);
        rest = &rest[len..];
    }
    let position = (!stored.file.is_empty()).then_some((stored.file, stored.offset));
    let progress = Progress { server: stored.server, position, gtids, prepared };
    Ok(Some(State { progress, output: stored.output }))
}

/// Replaces the state as a whole, durably.
pub(super) fn save(path: &Path, progress: &Progress, output: &Written) -> Result<(), CommandError> {
    let text = |wanted: fn(&Gtids) -> bool| progress.gtids.as_ref().filter(|gtids| wanted(gtids)).map(Gtids::text);
    let mut prepared = Vec::new();
    progress.prepared.iter().for_each(|transaction| form::put_delimited(transaction, &mut prepared));
    let (file, offset) = progress.position.clone().unwrap_or_default();
    let stored = Stored {
        version: VERSION,
        server: progress.server.clone(),
        file,
        offset,
        gtids: text(|gtids| matches!(gtids, Gtids::Mysql(_))),
        maria_gtids: text(|gtids| matches!(gtids, Gtids::Maria(_))),
        prepared: prepared.iter().map(|byte| format!("{byte:02x}")).collect(),
        output: output.clone(),
    };
    let mut bytes = serde_json::to_vec_pretty(&stored)?;
    bytes.push(b'\n');
    let aside = path.with_added_extension("new");
    let cannot = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::create(&aside).map_err(cannot)?;
    file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(cannot)?;
    std::fs::rename(&aside, path).map_err(cannot)?;
    // The name is durable when its folder is.
    let folder = std::path::absolute(path)?;
    let folder = folder.parent().unwrap_or(Path::new("/"));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(cannot)?;
    Ok(())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some((digit(pair[0])? << 4 | digit(*pair.get(1)?)?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_what_it_was() {
        let folder = std::env::temp_dir().join(format!("commuter-tail-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("state");
        assert!(load(&path).unwrap().is_none());
        let output = Written { path: "/x".into(), length: 1 << 40, format: "json".into() };
        for gtids in ["3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7", "", "0-1-17,3-9-1"] {
            let parsed = match gtids {
                "" => None,
                maria if maria.starts_with('0') => Some(Gtids::parse_maria(maria).unwrap()),
                set => Some(Gtids::Mysql(set.parse().unwrap())),
            };
            let prepared = form::Transaction { version: 1, name: "x".into(), ..form::Transaction::default() };
            let progress = Progress {
                server: "s".into(),
                position: Some(("bin.000001".into(), 1 << 33)),
                gtids: parsed.clone(),
                prepared: vec![prepared.clone(), prepared],
            };
            save(&path, &progress, &output).unwrap();
            let again = load(&path).unwrap().unwrap();
            assert_eq!((again.progress.position, again.progress.gtids), (progress.position, parsed));
            assert_eq!((again.progress.prepared, again.output), (progress.prepared, output.clone()));
        }
        std::fs::write(&path, b"{}").unwrap();
        assert!(load(&path).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
