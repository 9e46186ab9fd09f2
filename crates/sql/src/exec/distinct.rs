//! DISTINCT: gives each row at once when its keys are new.
//!
//! Keys seen are kept in memory up to a budget. Beyond it, rows with keys that are not among them go to partitions on disk by
//! a hash of their keys; each partition is then made distinct by itself. Where rows with equal keys come one after the other, the last key is
//! enough, and the rows keep their order.

use base::{SqlError, memory};
use io::BoxFuture;
use types::Value;

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::keys::KeySet;
use crate::exec::operator::{BoxedOperator, Operator};
use crate::exec::overflow::Overflow;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::expr::{Expr, order};

/// The key of a row: equal bytes for rows that are the same.
pub(crate) fn group_key(
    keys: &[Expr],
    row: &[Value],
    context: &ExecContext<'_>,
    out: &mut Vec<u8>,
) -> Result<(), SqlError> {
    for key in keys {
        let value = key.eval(row, &context.eval)?;
        memory::check_room(out, value.as_bytes().map_or(0, |bytes| bytes.len()))?;
        order::encode(&key.ty, &value, false, out);
    }
    Ok(())
}

/// Drops rows whose keys were seen before.
pub(crate) struct DistinctRows<'p> {
    input: BoxedOperator<'p>,
    keys: &'p [Expr],
    together: bool,
    width: usize,
    seen: KeySet,
    bytes: usize,
    overflow: Overflow,
    /// The partition being read; `None` while the input is.
    partition: Option<(RowStore, ReadPosition)>,
    input_more: bool,
}

impl<'p> DistinctRows<'p> {
    /// Of rows with `width` values. `keys`: and whether rows with equal ones come one after the other.
    pub(crate) fn new(input: BoxedOperator<'p>, keys: (&'p [Expr], bool), width: usize) -> Self {
        DistinctRows {
            input,
            keys: keys.0,
            together: keys.1,
            width,
            seen: KeySet::default(),
            bytes: 0,
            overflow: Overflow::default(),
            partition: None,
            input_more: true,
        }
    }

    /// Reads rows from the input, and then from what was put off; `false` at the very end.
    async fn read(
        &mut self,
        context: &mut ExecContext<'_>,
        batch: &mut RowBatch,
        want: usize,
    ) -> Result<bool, SqlError> {
        loop {
            match &mut self.partition {
                None if self.input_more => {
                    self.input_more = self.input.next_batch(context, batch, want).await?;
                    if self.input_more || !batch.is_empty() {
                        return Ok(true);
                    }
                }
                Some((store, position)) => {
                    store.read(position, batch, BATCH_ROWS).await?;
                    if !batch.is_empty() {
                        return Ok(true);
                    }
                }
                None => {}
            }
            let Some([store]) = self.overflow.next() else { return Ok(false) };
            self.seen.clear();
            self.bytes = 0;
            self.partition = Some((store, ReadPosition::default()));
        }
    }
}

impl Operator for DistinctRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
        self.seen.clear();
        self.bytes = 0;
        self.overflow = Overflow::default();
        self.partition = None;
        self.input_more = true;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let mut batch = RowBatch::new(self.width);
            context.check_cancelled().await?;
            if !self.read(context, &mut batch, want).await? {
                return Ok(false);
            }
            let mut key = Vec::with_capacity(32);
            for row in batch.iter() {
                key.clear();
                group_key(self.keys, row, context, &mut key)?;
                if self.seen.contains(&key) {
                    continue;
                }
                if self.together {
                    self.seen.clear();
                    self.seen.insert(&key);
                    out.push(row);
                    continue;
                }
                if self.bytes > context.limits.table_bytes && self.overflow.may_grow() {
                    self.overflow.push(0, &key, row, context).await?;
                    continue;
                }
                self.bytes += key.len() + KeySet::KEY_BYTES;
                self.seen.insert(&key);
                out.push(row);
            }
            Ok(true)
        })
    }
}
