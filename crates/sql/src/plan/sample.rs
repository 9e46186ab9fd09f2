//! How many rows have one value of an index's first columns.
//!
//! A join that could look rows up by one of several indexes would have to guess which of them tells rows apart: a column with two values looks
//! like one with a million. So the first and the last key of each such index are looked at, and how many rows have them is estimated.

use std::sync::Arc;

use base::SqlError;
use bytes::Bytes;
use engine::{Direction, Engine, KeyRange, ReadMode, SessionHandle, Table, TxnOptions};

use crate::plan::access::{TableFacts, is_literal, is_point};
use crate::plan::conditions::{Condition, TableSet};

/// Samples the indexes of a table by which a join may look rows up, if there are several.
#[io::boxed]
pub(super) async fn sample_keys(
    engine: &Arc<Engine>,
    number: usize,
    conditions: &[&Condition],
    facts: &mut TableFacts,
) -> Result<(), SqlError> {
    let others = TableSet(u128::MAX).without(TableSet::one(number));
    let mut joined = false;
    let mut found = Vec::new();
    for &index in &facts.allowed {
        let def = &facts.table.def.indexes[index];
        let parts = facts.parts(index, number, conditions, others);
        let by_points = parts.iter().flat_map(|part| &part.intervals).all(is_point);
        let is_one_row = (index == 0 || def.unique) && parts.len() >= def.parts.len();
        if is_one_row && by_points {
            return Ok(());
        }
        if index > 0 && by_points && !parts.is_empty() {
            joined |= !is_literal(&parts);
            found.push((index, parts.len()));
        }
    }
    if !joined || found.len() < 2 || facts.table.is_temporary() {
        return Ok(());
    }
    for (index, parts) in found {
        facts.sampled[index] = rows_of_a_key(engine, &facts.table, index, parts).await?.map(|rows| (parts, rows));
    }
    Ok(())
}

/// About how many rows a value of the first parts has; `None` for a table without rows.
async fn rows_of_a_key(
    engine: &Arc<Engine>,
    table: &Arc<Table>,
    index: usize,
    parts: usize,
) -> Result<Option<f64>, SqlError> {
    // What it reads is no part of the statement's transaction, which may have no view of the data yet.
    let mut reader = engine.begin(TxnOptions::new(SessionHandle::internal()));
    let mut entries = Vec::new();
    for direction in [Direction::Backward, Direction::Forward] {
        let mut scan = reader.scan(table, index, KeyRange::all(), direction, ReadMode::Consistent);
        reader.next_batch(&mut scan, &mut entries, 1).await?;
    }
    let codec = &table.codec.indexes[index].key;
    let (mut rows, mut keys) = (0, 0_u32);
    for entry in &entries {
        // NULL is equal to no value.
        if !codec.has_null(&entry.key, parts)? {
            let length = codec.prefix_len(&entry.key, parts)?;
            let range = KeyRange::prefix(Bytes::copy_from_slice(&entry.key[..length]));
            rows += reader.estimate(table, index, &range).await?.max(1);
            keys += 1;
        }
    }
    Ok((keys > 0).then(|| rows as f64 / f64::from(keys)))
}
