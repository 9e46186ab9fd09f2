//! The rows that an event's UPDATE or DELETE means: by a key of theirs, or by all that the log says of them.
//!
//! | the image has | found by |
//! |---|---|
//! | the primary key | the primary key; nothing else is compared |
//! | a unique key, without NULL | that key; nothing else is compared |
//! | all columns of an index | the index that finds the fewest rows by estimate; what the image has is compared |
//! | none, or the index finds too many | one scan of the table for the whole event, with a hash of its images |
//!
//! Rows are read FOR UPDATE.
//!
//! # Invariants
//! - Each image takes one row, be there more that are equal.
//! - What the event itself has written is found by its later images.

use std::borrow::Cow;
use std::collections::HashMap;

use base::SqlError;
use bytes::Bytes;
use engine::{Direction, KeyRange, ReadMode, Table};
use types::ColumnType;
use types::json::binary;

use super::convert::JSON_LENGTH_BYTES;
use super::image::{Slot, split};
use super::mapping::MappedTable;
use crate::exec::ExecContext;
use crate::exec::batch::BATCH_ROWS;

/// How many candidates of an index are read at once: the first is often the one.
const CANDIDATES: usize = 8;

/// How an event's rows are found.
#[derive(Debug)]
pub(super) enum Access {
    Primary,
    /// A unique index, or another, by its number.
    Unique(usize),
    Index(usize),
    /// Found already: clustered keys by what the images say.
    Scanned(HashMap<Vec<u8>, Wanted>),
}

/// Rows that are alike in all that the log says.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// How many of the event's images mean such a row.
    images: usize,
    /// The clustered keys of those that are there.
    keys: Vec<Bytes>,
}

/// Finds the rows of one event.
pub(super) struct Finder<'m> {
    mapped: &'m MappedTable,
    /// Our columns that the images before have.
    compared: Vec<usize>,
    access: Access,
    /// Of a row that is compared.
    slots: Vec<Slot>,
    text: Vec<u8>,
}

impl<'m> Finder<'m> {
    /// Chooses the way for an event whose images have these columns. `row` is the first row that is looked for, of
    /// about `count`.
    pub(super) async fn new(
        mapped: &'m MappedTable,
        compared: Vec<usize>,
        row: &[u8],
        count: usize,
        context: &mut ExecContext<'_>,
    ) -> Result<Self, SqlError> {
        let mut finder = Finder { mapped, compared, access: Access::Primary, slots: Vec::new(), text: Vec::new() };
        finder.access = finder.choose(row, count, context).await?;
        Ok(finder)
    }

    async fn choose(&self, row: &[u8], count: usize, context: &mut ExecContext<'_>) -> Result<Access, SqlError> {
        let def = &self.mapped.table.def;
        let covered = |&index: &usize| {
            def.indexes[index].parts.iter().all(|part| self.compared.binary_search(&part.column).is_ok())
        };
        if covered(&0) {
            return Ok(Access::Primary);
        }
        let usable: Vec<usize> = (1..def.indexes.len()).filter(covered).collect();
        if let Some(&unique) = usable.iter().find(|&&index| def.is_candidate(&def.indexes[index])) {
            return Ok(Access::Unique(unique));
        }
        if let Some(&unique) = usable.iter().find(|&&index| def.indexes[index].unique) {
            return Ok(Access::Unique(unique));
        }
        let mut best = None;
        for index in usable {
            let (prefix, _) = self.prefix(index, row)?;
            let rows = context.transaction.estimate(&self.mapped.table, index, &KeyRange::prefix(prefix)).await?.max(1);
            if best.is_none_or(|(_, fewest)| rows < fewest) {
                best = Some((index, rows));
            }
        }
        let all = context.engine.estimate_rows(&self.mapped.table);
        Ok(match best {
            Some((index, rows)) if rows.saturating_mul(count as u64) <= all.max(1) => Access::Index(index),
            _ => Access::Scanned(HashMap::new()),
        })
    }

    /// Whether all of the event's images have to be told with [`Finder::want`], and the table scanned then.
    pub(super) fn scans(&self) -> bool {
        matches!(self.access, Access::Scanned(_))
    }

    /// An image that will be looked for, as a row.
    pub(super) fn want(&mut self, row: &[u8]) -> Result<(), SqlError> {
        self.describe(row)?;
        if let Access::Scanned(wanted) = &mut self.access {
            match wanted.get_mut(&self.text) {
                Some(known) => known.images += 1,
                None => drop(wanted.insert(self.text.clone(), Wanted { images: 1, keys: Vec::new() })),
            }
        }
        Ok(())
    }

    /// Looks for all that is wanted, in one scan.
    pub(super) async fn scan(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let Access::Scanned(wanted) = &self.access else { return Ok(()) };
        let mut left: usize = wanted.values().map(|wanted| wanted.images).sum();
        let table = &self.mapped.table;
        let mut scan = context.transaction.scan(table, 0, KeyRange::all(), Direction::Forward, ReadMode::FOR_UPDATE);
        let mut entries = Vec::new();
        while left > 0 {
            entries.clear();
            if !context.transaction.next_batch(&mut scan, &mut entries, BATCH_ROWS).await? {
                break;
            }
            for entry in &entries {
                self.describe(&entry.value)?;
                let Access::Scanned(wanted) = &mut self.access else { break };
                match wanted.get_mut(&self.text).filter(|wanted| wanted.keys.len() < wanted.images) {
                    Some(wanted) => {
                        wanted.keys.push(Bytes::copy_from_slice(&entry.key));
                        left -= 1;
                    }
                    None => context.transaction.unlock_row(table, &entry.key),
                }
            }
            context.check_cancelled().await?;
        }
        Ok(())
    }

    /// The row that an image (as a row of ours) means, locked; `None` if there is none.
    pub(super) async fn find(&mut self, row: &[u8], context: &mut ExecContext<'_>) -> Result<Option<Bytes>, SqlError> {
        let table = &self.mapped.table;
        match self.access {
            Access::Primary => {
                let key = table.codec.clustered_key(row)?;
                Ok(context.transaction.get(table, &key, ReadMode::FOR_UPDATE).await?)
            }
            Access::Unique(index) => {
                let (prefix, has_null) = self.prefix(index, row)?;
                self.find_in_index(index, prefix, has_null.then_some(row), context).await
            }
            Access::Index(index) => {
                let (prefix, _) = self.prefix(index, row)?;
                self.find_in_index(index, prefix, Some(row), context).await
            }
            Access::Scanned(_) => self.take_scanned(row, context).await,
        }
    }

    /// The first of our columns in which a row that was found is not what the image (as a row of ours) says, if nothing but its key was
    /// looked at.
    pub(super) fn difference(&mut self, image: &[u8], found: &[u8]) -> Result<Option<usize>, SqlError> {
        if image == found || !matches!(self.access, Access::Primary | Access::Unique(_)) {
            return Ok(None);
        }
        let columns = &self.mapped.table.encoder.map().columns;
        let mut found_slots = Vec::new();
        split(columns, None, image, &mut self.slots)?;
        split(columns, None, found, &mut found_slots)?;
        let table = &self.mapped.table;
        let value = |row: &[u8], slot: Slot, column: usize| match slot {
            Slot::At(start, end) => Some(same_form(table, column, &row[start..end]).into_owned()),
            _ => None,
        };
        let differs =
            |&&column: &&usize| value(image, self.slots[column], column) != value(found, found_slots[column], column);
        Ok(self.compared.iter().find(differs).copied())
    }

    /// A row was written that a later image of the event may mean.
    pub(super) fn wrote(&mut self, row: &Bytes) -> Result<(), SqlError> {
        if !self.scans() {
            return Ok(());
        }
        self.describe(row)?;
        let key = self.mapped.table.codec.clustered_key(row)?;
        if let Access::Scanned(wanted) = &mut self.access
            && let Some(wanted) = wanted.get_mut(&self.text)
        {
            wanted.keys.push(key);
        }
        Ok(())
    }

    async fn take_scanned(&mut self, row: &[u8], context: &mut ExecContext<'_>) -> Result<Option<Bytes>, SqlError> {
        self.describe(row)?;
        let looked_for = std::mem::take(&mut self.text);
        let found = loop {
            let Access::Scanned(wanted) = &mut self.access else { break None };
            let Some(key) = wanted.get_mut(&looked_for).and_then(|wanted| wanted.keys.pop()) else { break None };
            // A cascade, or the event itself, may have changed it since.
            let now = context.transaction.get(&self.mapped.table, &key, ReadMode::FOR_UPDATE).await?;
            if let Some(now) = now {
                self.describe(&now)?;
                if self.text == looked_for {
                    break Some(now);
                }
            }
        };
        self.text = looked_for;
        Ok(found)
    }

    /// The first row of an index with this prefix that is `like` a row, if one is given.
    async fn find_in_index(
        &mut self,
        index: usize,
        prefix: Bytes,
        like: Option<&[u8]>,
        context: &mut ExecContext<'_>,
    ) -> Result<Option<Bytes>, SqlError> {
        let table = &self.mapped.table;
        let mut looked_for = Vec::new();
        if let Some(row) = like {
            self.describe(row)?;
            looked_for.clone_from(&self.text);
        }
        let range = KeyRange::prefix(prefix.clone());
        let mut scan = context.transaction.scan(table, index, range, Direction::Forward, ReadMode::FOR_UPDATE);
        let mut entries = Vec::new();
        let at_once = if like.is_some() { CANDIDATES } else { 1 };
        while context.transaction.next_batch(&mut scan, &mut entries, at_once).await? {
            for entry in &entries {
                let key = Bytes::copy_from_slice(table.codec.clustered_key_of(index, &entry.key)?);
                let Some(row) = context.transaction.get(table, &key, ReadMode::FOR_UPDATE).await? else { continue };
                let is_it = match like {
                    Some(_) => {
                        self.describe(&row)?;
                        self.text == looked_for
                    }
                    None => self.prefix(index, &row)?.0 == prefix,
                };
                if is_it {
                    return Ok(Some(row));
                }
            }
            entries.clear();
            context.check_cancelled().await?;
        }
        Ok(None)
    }

    /// The part of an index's key that is the index's own, and whether a part of it is NULL.
    fn prefix(&self, index: usize, row: &[u8]) -> Result<(Bytes, bool), SqlError> {
        let codec = &self.mapped.table.codec.indexes[index].key;
        let mut key = Vec::new();
        codec.encode_row(&self.mapped.table.codec.row, row, &mut key)?;
        let has_null = codec.has_null(&key, codec.parts())?;
        key.truncate(codec.prefix_len(&key, codec.parts())?);
        Ok((key.into(), has_null))
    }

    /// Writes what is compared of a row into `text`: rows are alike if it is the same.
    fn describe(&mut self, row: &[u8]) -> Result<(), SqlError> {
        split(&self.mapped.table.encoder.map().columns, None, row, &mut self.slots)?;
        self.text.clear();
        for &column in &self.compared {
            match self.slots[column] {
                Slot::At(start, end) => {
                    self.text.push(1);
                    let value = same_form(&self.mapped.table, column, &row[start..end]);
                    self.text.extend_from_slice(&value);
                }
                _ => self.text.push(0),
            }
        }
        Ok(())
    }
}

/// A value's bytes in a form that equal values share: a document that its source changed in its place has gaps.
fn same_form<'v>(table: &Table, column: usize, value: &'v [u8]) -> Cow<'v, [u8]> {
    if table.def.columns[column].ty != ColumnType::Json {
        return Cow::Borrowed(value);
    }
    let document = value.get(JSON_LENGTH_BYTES..).and_then(|json| binary::decode(json).ok());
    let written = document.and_then(|document| binary::encode(&document).ok());
    written.map_or(Cow::Borrowed(value), Cow::Owned)
}
