//! Sums of what rows look like: every row is read, from a server of any kind.
//!
//! The number is the sum of a hash of each row (its values as text), so it does not depend on the order in which a
//! server gives its rows.

use commuter::client::{Client, ClientError};
use xxhash_rust::xxh3::Xxh3;

use super::report::Compared;
use super::{Sum, Table};

pub(super) fn compare(first: &mut Client, second: &mut Client, table: &Table) -> Result<Compared, ClientError> {
    let (ours, theirs) = (sum_of(first, table)?, sum_of(second, table)?);
    Ok(match ours == theirs {
        true => Compared::Same(ours),
        false => Compared::Differs { first: ours, second: theirs, rows: None },
    })
}

pub(super) fn sum_of(client: &mut Client, table: &Table) -> Result<Sum, ClientError> {
    let mut sum = Sum { rows: 0, hash: 0 };
    client.query_each(&format!("SELECT * FROM {}", table.quoted()), |row| {
        sum.rows += 1;
        sum.hash = sum.hash.wrapping_add(hash_of(row));
    })?;
    Ok(sum)
}

/// Each value behind its length, NULL as a length that no value has.
fn hash_of(row: &[Option<&[u8]>]) -> u64 {
    let mut hash = Xxh3::new();
    for value in row {
        match value {
            Some(bytes) => {
                hash.update(&(bytes.len() as u64).to_le_bytes());
                hash.update(bytes);
            }
            None => hash.update(&u64::MAX.to_le_bytes()),
        }
    }
    hash.digest()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_are_told_apart() {
        let rows: [&[Option<&[u8]>]; 5] = [
            &[Some(b"ab"), Some(b"c")],
            &[Some(b"a"), Some(b"bc")],
            &[None, Some(b"c")],
            &[Some(b""), Some(b"c")],
            &[],
        ];
        let hashes: BTreeSet<u64> = rows.into_iter().map(hash_of).collect();
        assert_eq!(hashes.len(), rows.len());
    }
}
