//! Transactions whose images are not whole rows: completed from the rows that are there.
//!
//! Needs the state just before the transaction, so everything before it has been published; and nothing after it has, so
//! a plain consistent read is of exactly that state.

use std::collections::HashMap;
use std::sync::Arc;

use base::{IndexId, LogPosition};
use binlog::event::{RowsKind, TableMap};
use bytes::Bytes;
use engine::{Engine, EngineError, ReadMode, RowChange, SessionHandle, Transaction, TxnOptions};

use crate::decode::{MappedTable, TableRows};
use crate::error::{ApplyError, Result};

/// The values of a row, column by column: absent, NULL, or bytes.
type Columns<'a> = Vec<Option<Option<&'a [u8]>>>;

/// Makes whole images of all rows of one transaction.
pub(crate) async fn complete(
    engine: &Arc<Engine>,
    at: LogPosition,
    events: &[TableRows<'_>],
) -> Result<Vec<RowChange>> {
    let reader = engine.begin(TxnOptions::new(SessionHandle::internal()));
    let mut completion = Completion { at, reader, own: HashMap::new(), changes: Vec::new() };
    for (event, mapped) in events {
        for images in event.images(&mapped.map) {
            let (before, after) = images.map_err(|reason| completion.bad(reason))?;
            let before = (event.kind != RowsKind::Write).then_some((event.present, before));
            let after = (event.kind != RowsKind::Delete).then_some((event.present_after, after));
            completion.row(mapped, before, after).await?;
        }
    }
    Ok(completion.changes)
}

/// A bitmap of present columns, and an image of them.
type Image<'a> = (&'a [u8], &'a [u8]);

struct Completion {
    at: LogPosition,
    reader: Transaction,
    /// What the transaction itself did so far, by key.
    own: HashMap<(IndexId, Bytes), Option<Bytes>>,
    changes: Vec<RowChange>,
}

impl Completion {
    fn bad(&self, reason: impl std::fmt::Display) -> ApplyError {
        ApplyError::Event { at: self.at, reason: reason.to_string() }
    }

    async fn row(&mut self, mapped: &MappedTable, before: Option<Image<'_>>, after: Option<Image<'_>>) -> Result<()> {
        let index = mapped.table.def.indexes[0].id;
        let old = match before {
            Some(image) => {
                let key = self.key(mapped, image)?;
                let row = self.read(mapped, &key).await?;
                self.own.insert((index, key), None);
                Some(row)
            }
            None => None,
        };
        let new = match after {
            Some((present, image)) => {
                let mut columns = self.split(&mapped.map, present, image)?;
                let old = old.as_deref().map(|old| self.split_whole(&mapped.map, old)).transpose()?;
                fill_in(&mut columns, old.as_ref());
                let row = join(&columns).ok_or_else(|| self.bad("a new row without all of its columns"))?;
                let key = mapped.table.codec.clustered_key(&row).map_err(|error| self.bad(error))?;
                self.own.insert((index, key), Some(row.clone()));
                Some(row)
            }
            None => None,
        };
        self.changes.push(RowChange { table: mapped.table.clone(), before: old, after: new });
        Ok(())
    }

    /// The clustered key of a row of which only some columns are given.
    fn key(&self, mapped: &MappedTable, (present, image): Image<'_>) -> Result<Bytes> {
        let mut columns = self.split(&mapped.map, present, image)?;
        let parts = &mapped.table.def.indexes[0].parts;
        if parts.iter().any(|part| columns[part.column].is_none()) {
            return Err(self.bad("the primary key is not in the image of the row before"));
        }
        // What the others are does not matter to the key, but where they are does: columns that cannot be NULL have their bytes.
        for (column, kind) in columns.iter_mut().zip(&mapped.map.columns).filter(|(column, _)| column.is_none()) {
            let len = kind.value_len(&ZEROS).map_err(|error| self.bad(error))?;
            *column = Some(ZEROS.get(..len));
        }
        let row = join(&columns).ok_or_else(|| self.bad("an empty image"))?;
        mapped.table.codec.clustered_key(&row).map_err(|error| self.bad(error))
    }

    async fn read(&mut self, mapped: &MappedTable, key: &Bytes) -> Result<Bytes> {
        let index = mapped.table.def.indexes[0].id;
        let row = match self.own.get(&(index, key.clone())) {
            Some(row) => row.clone(),
            None => {
                let read = self.reader.get(&mapped.table, key, ReadMode::Consistent).await;
                read.map_err(|error: EngineError| ApplyError::Engine { at: self.at, error })?
            }
        };
        let reason = || format!("a row of '{}' that it changes is not there", mapped.table.full_name());
        row.ok_or_else(|| ApplyError::Drifted { at: self.at, reason: reason() })
    }

    fn split_whole<'a>(&self, map: &TableMap, row: &'a [u8]) -> Result<Columns<'a>> {
        let all = vec![0xff; map.columns.len().div_ceil(8)];
        self.split(map, &all, row)
    }

    fn split<'a>(&self, map: &TableMap, present: &[u8], image: &'a [u8]) -> Result<Columns<'a>> {
        let count = (0..map.columns.len()).filter(|&i| bit(present, i)).count();
        let nulls = image.get(..count.div_ceil(8)).ok_or_else(|| self.bad("an image ends too early"))?;
        let mut rest = &image[nulls.len()..];
        let mut at = 0;
        let mut columns = Vec::with_capacity(map.columns.len());
        for (i, column) in map.columns.iter().enumerate() {
            if !bit(present, i) {
                columns.push(None);
                continue;
            }
            let is_null = bit(nulls, at);
            at += 1;
            if is_null {
                columns.push(Some(None));
                continue;
            }
            let len = column.value_len(rest).map_err(|error| self.bad(error))?;
            let value = rest.get(..len).ok_or_else(|| self.bad("an image ends too early"))?;
            rest = &rest[len..];
            columns.push(Some(Some(value)));
        }
        Ok(columns)
    }
}

/// A value of any type: 0, or nothing.
const ZEROS: [u8; 64] = [0; 64];

fn bit(bitmap: &[u8], at: usize) -> bool {
    bitmap.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Takes the columns that are absent from the old row.
fn fill_in<'a>(columns: &mut Columns<'a>, old: Option<&Columns<'a>>) {
    for (column, old) in columns.iter_mut().zip(old.into_iter().flatten()) {
        if column.is_none() {
            *column = *old;
        }
    }
}

/// A whole image; `None` if a column is absent.
fn join(columns: &Columns<'_>) -> Option<Bytes> {
    let mut row = vec![0; columns.len().div_ceil(8)];
    for (at, column) in columns.iter().enumerate() {
        match (*column)? {
            None => row[at / 8] |= 1 << (at % 8),
            Some(value) => row.extend_from_slice(value),
        }
    }
    Some(row.into())
}
