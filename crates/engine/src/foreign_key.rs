//! Foreign keys that come to a table with rows: every value has to be there.
//!
//! It reads the newest versions of all rows under the exclusive locks of both tables, which the definition holds.

use std::ops::Bound;

use base::Cancel;
use bytes::Bytes;
use io::ThreadTurn;
use store::Direction;
use types::Value;

use crate::catalog::{KeyCheck, NewForeignKey};
use crate::core::Core;
use crate::error::Result;
use crate::read::{Merged, Selector};
use crate::txn::KeyRange;

impl Core {
    /// The key's refusal if a row has no parent.
    pub(crate) async fn check_foreign_keys(&self, check: &KeyCheck, cancel: &Cancel) -> Result<()> {
        let layers = self.views.layers().clone();
        let source = check.from.indexes[check.read_by].id;
        let all = (Bound::Unbounded, Bound::Unbounded);
        let mut rows = Merged::new(layers, source, all.0, all.1, Direction::Forward, Selector::Newest);
        let turn = ThreadTurn::default();
        let mut map = check.mapper.as_ref().map(|mapper| mapper());
        while let Some(found) = rows.next().await? {
            cancel.check()?;
            turn.pass(&*self.env.clock).await;
            let Some(entry) = found.value else { continue };
            let old = self.row_of(&check.from, check.read_by, &found.key, entry).await?;
            let row = match &mut map {
                Some(map) => map(&old)?,
                None => old,
            };
            for key in &check.keys {
                if !self.has_parent(check, key, &row).await? {
                    return Err(key.refusal.clone().into());
                }
            }
        }
        Ok(())
    }

    async fn has_parent(&self, check: &KeyCheck, new: &NewForeignKey, row: &Bytes) -> Result<bool> {
        let layout = &check.to.codec.row;
        let values = new.key.columns.iter().map(|&column| layout.decode_column(row, column));
        let values = values.collect::<Result<Vec<Value>, _>>()?;
        if values.iter().any(Value::is_null) {
            return Ok(true);
        }
        let mut prefix = Vec::new();
        new.parent.codec.indexes[new.parent_index].key.encode_prefix(&values, &mut prefix)?;
        let KeyRange { lower, upper } = KeyRange::prefix(prefix);
        let index = new.parent.indexes[new.parent_index].id;
        let layers = self.views.layers().clone();
        let mut entries = Merged::new(layers, index, lower, upper, Direction::Forward, Selector::Newest);
        while let Some(found) = entries.next().await? {
            if found.value.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
