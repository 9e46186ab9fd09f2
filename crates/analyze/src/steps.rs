//! From transactions to what scheduling knows of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use binlog::event::maria_flags;

use crate::facts::{Kind, Transaction};
use crate::schedule::Step;

/// How long transactions take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// Of a transaction without rows, in nanoseconds.
    pub(crate) transaction: u64,
    /// Of each row.
    pub(crate) row: u64,
}

/// So many rows are remembered at least.
const ROWS_REMEMBERED: usize = 1 << 20;

/// Keys that are hashes already.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| hash.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type ByHash = HashMap<u64, u64, BuildHasherDefault<Same>>;

/// Who changed a row last. The oldest half is forgotten when there are too many.
#[derive(Default)]
struct LastWriters {
    young: ByHash,
    old: ByHash,
}

impl LastWriters {
    /// The last one before, by number; from now on it is this one.
    fn replace(&mut self, key: u64, number: u64) -> Option<u64> {
        if self.young.len() >= ROWS_REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        let before = self.young.insert(key, number);
        before.or_else(|| self.old.get(&key).copied())
    }
}

/// Makes steps of transactions, in the log's order.
pub(crate) struct Steps {
    costs: Costs,
    rows: LastWriters,
    /// Who changed a table as a whole last.
    tables: HashMap<u64, u64>,
    number: u64,
    /// The number and the `sequence_number` of the first transaction of the file.
    first: Option<(u64, u64)>,
}

impl Steps {
    pub(crate) fn new(costs: Costs) -> Self {
        Steps { costs, rows: LastWriters::default(), tables: HashMap::new(), number: 0, first: None }
    }

    pub(crate) fn next(&mut self, transaction: &Transaction) -> Step {
        if transaction.starts_file {
            self.first = None;
        }
        let upto = transaction.interval.and_then(|(last_committed, sequence_number)| {
            let (number, first) = *self.first.get_or_insert((self.number, sequence_number));
            // Both count the file's transactions.
            last_committed.checked_sub(first).map(|behind| number + behind).filter(|upto| *upto < self.number)
        });
        let mut after: Vec<u64> = Vec::new();
        for &key in &transaction.keys {
            after.extend(self.rows.replace(key, self.number).filter(|&number| number != self.number));
        }
        after.extend(transaction.used_tables.iter().filter_map(|table| self.tables.get(table)));
        after.sort_unstable();
        after.dedup();
        for &table in &transaction.changed_tables {
            self.tables.insert(table, self.number);
        }
        let step = Step {
            cost: self.costs.transaction + self.costs.row * transaction.row_count(),
            starts_file: transaction.starts_file,
            upto,
            schemas: transaction.schemas.clone(),
            domain: transaction.maria.map_or(0, |maria| maria.domain_id),
            commit_id: transaction.maria.and_then(|maria| maria.commit_id),
            hints: transaction.maria.map_or(maria_flags::ALLOW_PARALLEL, |maria| maria.flags),
            after,
            is_ddl: transaction.kind == Kind::Ddl,
            is_barrier: transaction.changes_anything,
        };
        self.number += 1;
        step
    }
}
