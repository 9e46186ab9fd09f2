//! What is kept of a transaction.

use std::fmt;

use base::Gtid;
use binlog::MariaGtidName;

/// The name of a transaction in its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionName {
    /// It has none.
    #[default]
    Anonymous,
    /// MySQL's.
    Gtid(Gtid),
    /// MariaDB's.
    Maria(MariaGtidName),
}

impl fmt::Display for TransactionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionName::Anonymous => f.write_str("ANONYMOUS"),
            TransactionName::Gtid(gtid) => gtid.fmt(f),
            TransactionName::Maria(name) => name.fmt(f),
        }
    }
}

/// What a transaction is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Nothing was changed.
    #[default]
    Empty,
    /// Row events only.
    Rows,
    /// Statements that change rows, alone or with row events.
    Statements,
    /// A change of the schema, of accounts or the like.
    Ddl,
}

/// What only MariaDB's GTID says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MariaFacts {
    /// Stream of transactions.
    pub domain_id: u32,
    /// Equal for all that shared one sync.
    pub commit_id: Option<u64>,
    /// As in [`binlog::event::MariaGtid::flags`].
    pub flags: u8,
}

/// A transaction of a log.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// Its name there.
    pub name: TransactionName,
    /// Number of its file among those that were read.
    pub file: u32,
    /// Offset of its first event.
    pub offset: u64,
    /// Of the GTID's header, seconds since 1970: when it was committed.
    pub timestamp: u32,
    /// Seconds from its first statement to its commit, as headers say.
    pub seconds: u32,
    /// Of all of its events.
    pub bytes: u64,
    /// Rows inserted, updated, deleted.
    pub rows: [u64; 3],
    /// What it is made of.
    pub kind: Kind,
    /// `last_committed` and `sequence_number` (MySQL).
    pub interval: Option<(u64, u64)>,
    /// Of a MariaDB.
    pub maria: Option<MariaFacts>,
    /// It is the first of its file.
    pub starts_file: bool,
    /// Numbers of the schemas that it touches.
    pub schemas: Vec<u32>,
    /// Numbers of the tables that it touches.
    pub tables: Vec<u32>,
    /// Hashes of the tables whose rows it changes.
    pub used_tables: Vec<u64>,
    /// Hashes of the tables that it changes as a whole.
    pub changed_tables: Vec<u64>,
    /// Hashes of the rows that it changes.
    pub keys: Vec<u64>,
    /// What it changes is not known: a statement.
    pub changes_anything: bool,
}

impl Transaction {
    /// All rows.
    pub fn row_count(&self) -> u64 {
        self.rows.iter().sum()
    }
}
