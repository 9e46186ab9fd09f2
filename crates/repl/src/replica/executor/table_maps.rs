//! TABLE_MAP events that were seen: a source writes the same one in front of nearly every event of rows.

use std::collections::HashMap;
use std::sync::Arc;

use base::SqlError;
use binlog::event::{Dialect, EventBody, TableMap};
use binlog::{DecodeError, FormatDescription, RawEvent};
use sql::replay::ReplicationFilter;

use super::malformed;

/// So many are remembered; a source that gives its tables new numbers again and again takes no more memory.
const MAPS_MAX: usize = 1024;

/// What an executor knows of them, for one format and one filter.
#[derive(Default)]
pub(super) struct TableMaps {
    /// By the bytes of the event, without its header.
    known: HashMap<Box<[u8]>, Arc<TableMap>>,
}

impl TableMaps {
    /// The source's events have another format from now on.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// A table as it is named here.
    pub(super) fn get(
        &mut self,
        event: &RawEvent<'_>,
        format: &FormatDescription,
        filter: Option<&ReplicationFilter>,
    ) -> Result<Arc<TableMap>, SqlError> {
        if let Some(known) = self.known.get(event.body()) {
            return Ok(known.clone());
        }
        let EventBody::TableMap(body) = EventBody::decode(event, format).map_err(malformed)? else {
            return Err(malformed(DecodeError("a TABLE_MAP that is none".to_owned())));
        };
        let dialect = if format.is_maria() { Dialect::Maria } else { Dialect::Mysql };
        let mut map = TableMap::of(&body, dialect).map_err(malformed)?;
        if let Some(filter) = filter {
            map.schema = filter.rewritten(&map.schema).to_owned();
        }
        if self.known.len() >= MAPS_MAX {
            self.known.clear();
        }
        let map = Arc::new(map);
        self.known.insert(event.body().into(), map.clone());
        Ok(map)
    }
}
