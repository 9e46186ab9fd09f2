//! Checking a table: CHECK TABLE.

use std::sync::Arc;

use base::ErrorClass;
use store::RowSum;

use super::{Entry, KeyRange, Transaction};
use crate::catalog::Table;
use crate::error::{EngineError, Result};

impl Transaction {
    /// Reads all of a table by each of its indexes, as a consistent read sees it, and says what is wrong: what cannot be read, rows that
    /// are not where their keys belong, sums that are not those of the rows, indexes that have not exactly the rows' entries.
    /// Nothing is kept in memory but sums.
    ///
    /// # Errors
    /// Only what has nothing to do with the table: KILL, a device that fails.
    #[io::boxed]
    pub async fn check(&mut self, table: &Arc<Table>) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let expected = self.check_rows(table).await;
        let expected = problem_of(expected, &mut problems)?;
        for index_number in 1..table.indexes.len() {
            let found = self.sum_of_keys(table, index_number).await;
            let found = problem_of(found, &mut problems)?;
            let (Some(found), Some(expected)) = (found, expected.as_ref().map(|all| all[index_number - 1])) else {
                continue;
            };
            let name = &table.def.indexes[index_number].name;
            if found.rows != expected.rows {
                problems.push(format!("Index '{name}' contains {} entries, should be {}.", found.rows, expected.rows));
            } else if found != expected {
                problems.push(format!("Index '{name}' contains entries that are not those of the rows."));
            }
        }
        Ok(problems)
    }

    /// Looks at every row; what keys the secondary indexes should have.
    async fn check_rows(&mut self, table: &Arc<Table>) -> Result<Vec<RowSum>> {
        let mut expected = vec![RowSum::default(); table.indexes.len() - 1];
        let mut rows = RowSum::default();
        let look = |entry: &Entry| {
            if *table.codec.clustered_key(&entry.value)? != *entry.key {
                let message = "The clustered index has a row under another row's key.";
                return Err(EngineError::Corrupt(message.to_string()));
            }
            rows.add(RowSum::hash_of(&entry.key, &entry.value));
            for (number, sum) in expected.iter_mut().enumerate() {
                let (key, _) = table.codec.secondary_entry(number + 1, &entry.value)?;
                sum.add(RowSum::hash_of(&key, &[]));
            }
            Ok(())
        };
        self.visit(table, 0, KeyRange::all(), look).await?;
        let kept = self.sum(table, &KeyRange::all()).await?;
        if kept != rows {
            let message = format!(
                "The clustered index's sum is of {} rows, its leaves have {}, or others.",
                kept.rows, rows.rows
            );
            return Err(EngineError::Corrupt(message));
        }
        Ok(expected)
    }

    /// The keys that a secondary index has.
    async fn sum_of_keys(&mut self, table: &Arc<Table>, index_number: usize) -> Result<RowSum> {
        let mut sum = RowSum::default();
        let add = |entry: &Entry| {
            sum.add(RowSum::hash_of(&entry.key, &[]));
            Ok(())
        };
        self.visit(table, index_number, KeyRange::all(), add).await?;
        Ok(sum)
    }
}

/// Damage is what is looked for; other errors end the search.
fn problem_of<T>(result: Result<T>, problems: &mut Vec<String>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.class() == ErrorClass::Corrupt => {
            problems.push(match error {
                EngineError::Corrupt(what) => what,
                other => other.to_string(),
            });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
impl Transaction {
    /// Writes an entry that no row asks for, or removes one that a row has.
    pub(crate) fn put_unasked(
        &mut self,
        table: &Arc<Table>,
        index_number: usize,
        key: &[u8],
        value: Option<bytes::Bytes>,
    ) {
        self.writes.put(table, index_number, key, value);
    }
}
