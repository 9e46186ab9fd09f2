//! Which rows an event is about, before anything of it is read or locked here: what decides which transactions run side by side.
//!
//! A row is the keys of its unique indexes, as they are in the trees: what is equal by a collation is equal. A row of a table that has no key in the
//! log (or that has to be converted first) is its image: who changes it next has as its before image what the last one left.
//!
//! Rows that come into a table without any key have the order in which they came (ALTER TABLE may number them): one after the other, as in MySQL.
//!
//! What a foreign key refers to counts as read.

use base::SqlError;
use binlog::event::{RowsEvent, RowsKind};
use bytes::Bytes;
use xxhash_rust::xxh64::xxh64;

use super::image::{Slot, split};
use super::mapping::MappedTable;

/// Rows as hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowKeys {
    /// Keys that come, go or stay with their row changed.
    pub written: Vec<u64>,
    /// Keys that have to be there and stay.
    pub read: Vec<u64>,
    /// Something is not told by its keys: two that have none in common may depend on one another all the same.
    pub is_vague: bool,
}

impl RowKeys {
    /// Of nothing.
    pub fn clear(&mut self) {
        self.written.clear();
        self.read.clear();
        self.is_vague = false;
    }
}

/// Adds those of an event. One whose after images have differences of documents (`is_partial`) is not looked into.
pub(crate) fn add_keys(
    mapped: &MappedTable,
    event: &RowsEvent<'_>,
    is_partial: bool,
    keys: &mut RowKeys,
) -> Result<(), SqlError> {
    if is_partial || event.column_count != mapped.map.columns.len() {
        keys.is_vague = true;
        return Ok(());
    }
    let mut slots = Vec::new();
    let (mut rest, mut is_after) = (event.rows, event.kind == RowsKind::Write);
    while !rest.is_empty() {
        let present = if is_after { event.present_after } else { event.present };
        let present = Some(present).filter(|_| !event.is_full());
        let len = split(&mapped.map.columns, present, rest, &mut slots)?;
        if len == 0 {
            break;
        }
        let (image, behind) = rest.split_at(len);
        rest = behind;
        add_row(mapped, event, image, &slots, keys)?;
        is_after ^= event.kind == RowsKind::Update;
    }
    Ok(())
}

fn add_row(
    mapped: &MappedTable,
    event: &RowsEvent<'_>,
    image: &[u8],
    slots: &[Slot],
    keys: &mut RowKeys,
) -> Result<(), SqlError> {
    let table = &mapped.table;
    if !event.is_full() || !mapped.is_row(image, slots) {
        keys.is_vague |= !event.is_full() || mapped.foreign.is_some() || mapped.has_keys_in_log();
        keys.written.push(xxh64(image, table.id().0));
        if event.kind == RowsKind::Write && mapped.counts_rows() {
            keys.written.push(xxh64(b"", table.id().0));
        }
        return Ok(());
    }
    let mut key = Vec::new();
    for (number, _) in table.def.indexes.iter().enumerate().filter(|(number, index)| *number == 0 || index.unique) {
        key.clear();
        if number == 0 {
            key.extend_from_slice(&table.codec.clustered_key(image)?);
        } else {
            let codec = &table.codec.indexes[number].key;
            codec.encode_row(&table.codec.row, image, &mut key)?;
            if codec.has_null(&key, codec.parts())? {
                continue;
            }
            key.truncate(codec.prefix_len(&key, codec.parts())?);
        }
        push_new(&mut keys.written, table.key_hash(number, &key));
    }
    match &mapped.foreign {
        Some(foreign) => foreign.for_each_parent_key(&Bytes::copy_from_slice(image), |table, index, key| {
            push_new(&mut keys.read, table.key_hash(index, key));
        }),
        None => Ok(()),
    }
}

/// An update's two images have most of their keys in common.
fn push_new(hashes: &mut Vec<u64>, hash: u64) {
    if !hashes.iter().rev().take(4).any(|known| *known == hash) {
        hashes.push(hash);
    }
}
