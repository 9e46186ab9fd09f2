//! Sums of what rows look like: every row is read, from a server of any kind.
//!
//! The number is the sum of a hash of each row (its values as text), so it does not depend on the order in which a
//! server gives its rows. Rows with equal keys go into the same of many parts, each of which has a sum: where two servers differ, the rows of
//! some parts that differ are read once more, and compared by their keys. So memory is bounded whatever a table holds.

use std::collections::{BTreeMap, BTreeSet};

use commuter::client::{Client, ClientError};
use xxhash_rust::xxh3::Xxh3;

use super::report::{Compared, Row, Rows, What};
use super::{Sum, Table, quoted};

/// Parts of a table, by the hashes of its keys.
const PARTS: usize = 1 << 16;
/// Of so many parts the rows are read once more.
const PARTS_MAX: usize = 64;

/// A column by which rows are named.
struct KeyColumn {
    name: String,
    /// Its values stand without quotes.
    is_integer: bool,
}

/// What a server has of a table.
struct Read {
    whole: Sum,
    parts: Vec<u64>,
}

pub(super) fn compare(
    first: &mut Client,
    second: &mut Client,
    table: &Table,
    rows_max: usize,
) -> Result<Compared, ClientError> {
    let (mut keys, others) = (key_of(first, table)?, key_of(second, table)?);
    keys.retain(|key| others.iter().any(|other| other.name.eq_ignore_ascii_case(&key.name)));
    let (ours, theirs) = (read(first, table, &keys)?, read(second, table, &keys)?);
    if ours.whole == theirs.whole {
        return Ok(Compared::Same(ours.whole));
    }
    if keys.is_empty() {
        return Ok(Compared::Differs { first: ours.whole, second: theirs.whole, rows: None });
    }
    let mut differing: BTreeSet<usize> = (0..PARTS).filter(|&part| ours.parts[part] != theirs.parts[part]).collect();
    let mut more = differing.len() > PARTS_MAX;
    differing = differing.into_iter().take(PARTS_MAX).collect();
    let (mut left, right) = (rows_of(first, table, &keys, &differing)?, rows_of(second, table, &keys, &differing)?);
    let mut rows = Vec::new();
    let only_second = right.keys().filter(|key| !left.contains_key(*key)).cloned().collect::<Vec<_>>();
    left.extend(only_second.into_iter().map(|key| (key, None)));
    for (key, ours) in left {
        let what = match (ours, right.get(&key).copied().flatten()) {
            (ours, theirs) if ours == theirs => continue,
            (Some(_), Some(_)) => What::Different,
            (Some(_), None) => What::OnlyFirst,
            (None, _) => What::OnlySecond,
        };
        if rows.len() == rows_max {
            more = true;
            break;
        }
        rows.push(Row { what, condition: condition(&keys, &key) });
    }
    Ok(Compared::Differs { first: ours.whole, second: theirs.whole, rows: Some(Rows { rows, more }) })
}

/// Whether the tables show the same.
pub(super) fn are_same(first: &mut Client, second: &mut Client, table: &Table) -> Result<Option<Sum>, ClientError> {
    let (ours, theirs) = (sum_of(first, table)?, sum_of(second, table)?);
    Ok((ours == theirs).then_some(ours))
}

pub(super) fn sum_of(client: &mut Client, table: &Table) -> Result<Sum, ClientError> {
    let mut sum = Sum { rows: 0, hash: 0 };
    client.query_each(&format!("SELECT * FROM {}", table.quoted()), |row| add(&mut sum, hash_of(row)))?;
    Ok(sum)
}

fn add(sum: &mut Sum, hash: u64) {
    sum.rows += 1;
    sum.hash = sum.hash.wrapping_add(hash);
}

/// The columns of a table's primary key; without one all columns, which name a row as well as can be.
fn key_of(client: &mut Client, table: &Table) -> Result<Vec<KeyColumn>, ClientError> {
    let columns = client.query(&format!("SHOW COLUMNS FROM {}", table.quoted()))?;
    let named = |text: &str| columns.columns.iter().position(|name| name.eq_ignore_ascii_case(text));
    let (Some(field), Some(kind)) = (named("Field"), named("Type")) else { return Ok(Vec::new()) };
    let (Some(key), Some(extra)) = (named("Key"), named("Extra")) else { return Ok(Vec::new()) };
    // One that is generated is another on each server, and is not shown.
    let is_shown = |row: &usize| !columns.text(*row, extra).to_uppercase().contains("INVISIBLE");
    let shown: Vec<usize> = (0..columns.rows.len()).filter(is_shown).collect();
    let primary: Vec<usize> = shown.iter().copied().filter(|&row| columns.text(row, key) == "PRI").collect();
    let chosen = if primary.is_empty() { shown } else { primary };
    let column =
        |row| KeyColumn { name: columns.text(row, field), is_integer: columns.text(row, kind).contains("int") };
    Ok(chosen.into_iter().map(column).collect())
}

/// The key's columns, and then all.
fn query(table: &Table, keys: &[KeyColumn]) -> String {
    let keys: String = keys.iter().map(|key| format!("{}.{}, ", table.quoted(), quoted(&key.name))).collect();
    format!("SELECT {keys}{0}.* FROM {0}", table.quoted())
}

fn part_of(key: &[Option<&[u8]>]) -> usize {
    hash_of(key) as usize % PARTS
}

fn read(client: &mut Client, table: &Table, keys: &[KeyColumn]) -> Result<Read, ClientError> {
    let mut read = Read { whole: Sum { rows: 0, hash: 0 }, parts: vec![0; PARTS] };
    client.query_each(&query(table, keys), |row| {
        let (key, row) = row.split_at(keys.len().min(row.len()));
        let hash = hash_of(row);
        add(&mut read.whole, hash);
        let part = &mut read.parts[part_of(key)];
        *part = part.wrapping_add(hash);
    })?;
    Ok(read)
}

/// Values of a key; NULL is none.
type Key = Vec<Option<Vec<u8>>>;

/// The rows of some parts: the sum of the hashes of those with one key.
fn rows_of(
    client: &mut Client,
    table: &Table,
    keys: &[KeyColumn],
    parts: &BTreeSet<usize>,
) -> Result<BTreeMap<Key, Option<u64>>, ClientError> {
    let mut found: BTreeMap<Key, Option<u64>> = BTreeMap::new();
    client.query_each(&query(table, keys), |row| {
        let (key, row) = row.split_at(keys.len().min(row.len()));
        if parts.contains(&part_of(key)) {
            let key = key.iter().map(|value| value.map(<[u8]>::to_vec)).collect();
            let sum = found.entry(key).or_default();
            *sum = Some(sum.unwrap_or_default().wrapping_add(hash_of(row)));
        }
    })?;
    Ok(found)
}

/// The condition that finds a row.
fn condition(keys: &[KeyColumn], values: &[Option<Vec<u8>>]) -> String {
    let one = |(key, value): (&KeyColumn, &Option<Vec<u8>>)| {
        let name = quoted(&key.name);
        let Some(value) = value else { return format!("{name} IS NULL") };
        match std::str::from_utf8(value) {
            Ok(number) if key.is_integer => format!("{name}={number}"),
            Ok(text) => format!("{name}='{}'", text.replace('\\', "\\\\").replace('\'', "''")),
            Err(_) => {
                let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("{name}=x'{digits}'")
            }
        }
    };
    keys.iter().zip(values).map(one).collect::<Vec<_>>().join(" AND ")
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
    use super::*;

    #[test]
    fn a_row_is_named_by_its_key() {
        let column = |name: &str, is_integer| KeyColumn { name: name.to_owned(), is_integer };
        let keys = [column("id", true), column("a`b", false)];
        let row = |values: [Option<&str>; 2]| values.map(|value| value.map(|text| text.as_bytes().to_vec()));
        assert_eq!(condition(&keys, &row([Some("-7"), Some("it's \\")])), "`id`=-7 AND `a``b`='it''s \\\\'");
        assert_eq!(condition(&keys, &row([Some("7"), Some("7")])), "`id`=7 AND `a``b`='7'");
        assert_eq!(condition(&keys[1..], &[None]), "`a``b` IS NULL");
        assert_eq!(condition(&keys[1..], &[Some(vec![0xff, 1])]), "`a``b`=x'ff01'");
    }

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
