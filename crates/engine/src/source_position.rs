//! Where the state is in the logs of sources without GTIDs: each transaction that was executed from there says it in our log
//! ([`binlog::SourcePosition`]), and checkpoints keep the last of each name.

use std::collections::BTreeMap;

use base::CommitNumber;
use binlog::SourcePosition;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;

/// By name.
pub(crate) type SourcePositions = BTreeMap<String, Place>;

/// A place in a source's log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    file: String,
    offset: u64,
}

/// Under its name.
pub(crate) fn named_position(position: SourcePosition) -> (String, Place) {
    (position.name, Place { file: position.file, offset: position.offset })
}

impl Engine {
    /// For the applier: where a transaction that it installs ends in the log of its source.
    pub fn install_source_position(&self, number: CommitNumber, position: SourcePosition) {
        self.core().positions.insert(number, position);
    }

    /// Behind the last transaction that has its place in our log and said so under a name.
    pub fn source_position(&self, name: &str) -> Option<SourcePosition> {
        let order = self.core().order.lock();
        let place = order.positions.get(name)?;
        Some(SourcePosition { name: name.to_owned(), file: place.file.clone(), offset: place.offset })
    }

    /// The names under which any transaction that has its place in our log said so.
    pub fn source_position_names(&self) -> Vec<String> {
        self.core().order.lock().positions.keys().cloned().collect()
    }
}
