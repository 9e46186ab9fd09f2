//! Tables of a log: what a TABLE_MAP says, taken apart as far as it is asked.

use std::cell::OnceCell;

use binlog::event::TableMapEvent;

use super::transaction::Counter;
use crate::error::EventError;
use crate::event::*;

/// A TABLE_MAP. Its bytes are kept, because rows that come later ask it.
pub(super) struct LogTable<'t> {
    table_id: u64,
    body: Vec<u8>,
    dialect: Dialect,
    shape: OnceCell<TableMap>,
    definition: OnceCell<TableMap>,
    counter: &'t Counter,
}

impl<'t> LogTable<'t> {
    pub(super) fn new(body: &[u8], dialect: Dialect, counter: &'t Counter) -> Result<Self, EventError> {
        let table_id = TableMap::decode_name(body)?.table_id;
        let (shape, definition) = (OnceCell::new(), OnceCell::new());
        Ok(LogTable { table_id, body: body.to_vec(), dialect, shape, definition, counter })
    }

    pub(super) fn table_id(&self) -> u64 {
        self.table_id
    }

    /// What images are taken apart with.
    pub(super) fn types(&self) -> Result<&TableMap, EventError> {
        // Whoever has all has the types.
        if let Some(definition) = self.definition.get() {
            return Ok(definition);
        }
        if self.shape.get().is_none() {
            let (event, _) = TableMapEvent::decode_shape(&self.body)?;
            self.counter.count(|counts| counts.table_shapes += 1);
            let _ = self.shape.set(TableMap::of(&event, self.dialect)?);
        }
        Ok(self.shape.get().unwrap_or_else(|| unreachable!("it was just set")))
    }

    pub(super) fn all(&self) -> Result<&TableMap, EventError> {
        if self.definition.get().is_none() {
            let event = TableMapEvent::decode(&self.body)?;
            self.counter.count(|counts| counts.table_definitions += 1);
            let _ = self.definition.set(TableMap::of(&event, self.dialect)?);
        }
        Ok(self.definition.get().unwrap_or_else(|| unreachable!("it was just set")))
    }
}

impl Table for LogTable<'_> {
    fn id(&self) -> Maybe<u64> {
        Ok(Some(self.table_id))
    }

    fn name(&self) -> Maybe<(&[u8], &[u8])> {
        self.counter.count(|counts| counts.table_names += 1);
        let name = TableMap::decode_name(&self.body)?;
        Ok(Some((name.schema, name.table)))
    }

    fn shape(&self) -> Maybe<&TableMap> {
        self.types().map(Some)
    }

    fn definition(&self) -> Maybe<&TableMap> {
        self.all().map(Some)
    }

    fn optional_metadata(&self) -> Maybe<&[u8]> {
        Ok(Some(TableMapEvent::decode_shape(&self.body)?.1))
    }
}
