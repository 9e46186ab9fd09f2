//! Joins by hash: the inner side is read once into a table by its keys, the outer rows look theirs up.
//!
//! What costs less is begun with: without an outer row there is nothing to look up, and without an inner one only joins that give rows
//! without a match need the outer rows.
//!
//! If the inner rows outgrow the budget, both sides are split by a hash of their keys into partitions on disk, which are
//! joined one after the other. A partition that is still too large (one key with many rows) is joined in pieces: as many
//! inner rows as fit, against all outer rows of the partition, and again; which outer rows have had a match is remembered
//! across the pieces.

use base::SqlError;
use io::BoxFuture;
use types::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::budget::Budget;
use crate::exec::context::ExecContext;
use crate::exec::keys::KeyMap;
use crate::exec::operator::{BoxedOperator, Operator, passes};
use crate::exec::spill::{ReadPosition, RowStore, memory_size};
use crate::expr::{Expr, ExprKind};
use crate::plan::node::{HashKey, JoinNode, JoinRows};

/// Partitions that a join is split into.
const PARTITIONS: usize = 32;

/// Puts the bytes that rows with equal keys have in common into `bytes`; false if one of the keys is NULL, which equals nothing.
fn join_key<'k>(
    keys: &'k [HashKey],
    side: impl Fn(&'k HashKey) -> &'k Expr,
    row: &[Value],
    context: &ExecContext<'_>,
    bytes: &mut Vec<u8>,
) -> Result<bool, SqlError> {
    bytes.clear();
    for key in keys {
        let value = side(key).eval_ref(row, &context.eval)?;
        if !key.comparison.encode(&value, bytes) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn partition_of(key: &[u8]) -> usize {
    (xxh3_64(key) >> 32) as usize % PARTITIONS
}

/// Whether the outer rows are to be asked for first: they cost no more, or there is probably none.
fn begins_with_outer(node: &JoinNode) -> bool {
    node.outer.rows() < 1.0 || node.outer.cost() <= node.inner.cost()
}

/// Inner rows in memory: the values of the inner slots, by key.
#[derive(Default)]
struct Table {
    width: usize,
    values: Vec<Value>,
    /// The last row with a key.
    by_key: KeyMap<u32>,
    /// For each row the one before it with the same key; its own number if it is the first.
    before: Vec<u32>,
    bytes: usize,
    /// If it is all that there is.
    budget: Option<Budget>,
}

impl Table {
    fn new(width: usize) -> Self {
        Table { width, ..Table::default() }
    }

    fn insert(&mut self, key: &[u8], row: impl Iterator<Item = Value>) {
        let (start, number) = (self.values.len(), self.before.len() as u32);
        self.values.extend(row);
        self.bytes += size_of::<u32>() + memory_size(&self.values[start..]);
        let before = self.by_key.insert(key, number);
        if before.is_none() {
            self.bytes += key.len() + KeyMap::<u32>::bytes_beside_key();
        }
        self.before.push(before.unwrap_or(number));
    }

    /// The rows from the last one with a key on, back to the first.
    fn with_key(&self, last: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(last), |&row| Some(self.before[row as usize]).filter(|&before| before != row))
    }

    fn row(&self, number: u32) -> &[Value] {
        let start = number as usize * self.width;
        &self.values[start..start + self.width]
    }
}

/// Both sides on disk, split by key.
struct Partitions {
    inner: Vec<RowStore>,
    outer: Vec<RowStore>,
    /// The partition being joined.
    current: usize,
    inner_position: ReadPosition,
    outer_position: ReadPosition,
    outer_row: usize,
    /// Which outer rows of the partition have had a match.
    matched: Vec<bool>,
    last_piece: bool,
}

/// A hash join.
pub(crate) struct HashJoin<'p> {
    node: &'p JoinNode,
    keys: &'p [HashKey],
    outer: BoxedOperator<'p>,
    inner: BoxedOperator<'p>,
    width: usize,
    seed: Vec<Value>,
    built: bool,
    /// The first outer rows are read before the inner side is: they are expected to cost no more.
    outer_first: bool,
    table: Table,
    partitions: Option<Partitions>,
    outer_batch: RowBatch,
    outer_at: usize,
    outer_more: bool,
    /// Matches of the current outer row that are still to be given.
    matches: Vec<u32>,
    matched: bool,
    in_row: bool,
    /// Memory of the current row's key.
    key: Vec<u8>,
    /// Values of inner slots that are wanted; of none other.
    wanted: Vec<(usize, Vec<Value>)>,
}

impl<'p> HashJoin<'p> {
    pub(crate) fn new(
        node: &'p JoinNode,
        keys: &'p [HashKey],
        outer: BoxedOperator<'p>,
        inner: BoxedOperator<'p>,
        width: usize,
    ) -> Self {
        HashJoin {
            node,
            keys,
            outer,
            inner,
            width,
            seed: Vec::new(),
            built: false,
            outer_first: begins_with_outer(node),
            table: Table::default(),
            partitions: None,
            outer_batch: RowBatch::new(width),
            outer_at: 0,
            outer_more: true,
            matches: Vec::new(),
            matched: false,
            in_row: false,
            key: Vec::new(),
            wanted: Vec::new(),
        }
    }

    async fn build(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        self.inner.open(&self.seed);
        for (slot, values) in self.wanted.drain(..) {
            self.inner.keep_only(slot, &mut values.iter());
        }
        self.table = Table::new(self.node.inner_slots.len());
        self.partitions = None;
        let (mut batch, mut key) = (RowBatch::new(self.width), Vec::new());
        let mut budget = Budget::new(context.limits.join_bytes, context.limits.spare_bytes);
        loop {
            let more = self.inner.next_batch(context, &mut batch, BATCH_ROWS).await?;
            for row in batch.iter() {
                if join_key(self.keys, |key| &key.inner, row, context, &mut key)? {
                    let values = self.node.inner_slots.iter().map(|&slot| row[slot].clone());
                    match &mut self.partitions {
                        None => self.table.insert(&key, values),
                        Some(partitions) => {
                            let values: Vec<Value> = values.collect();
                            partitions.inner[partition_of(&key)].push(context.env, &values).await?;
                        }
                    }
                }
            }
            batch.clear();
            context.check_cancelled().await?;
            if self.partitions.is_none() && !budget.holds(self.table.bytes) {
                self.split(context).await?;
            }
            if !more {
                break;
            }
        }
        match self.partitions {
            Some(_) => self.split_outer(context).await?,
            None => self.table.budget = Some(budget),
        }
        Ok(())
    }

    /// Tells those who give the outer rows which keys have a match.
    fn keep_matching(&mut self) {
        if self.node.rows.has_unmatched() || self.partitions.is_some() {
            return;
        }
        let table = &self.table;
        for key in self.keys {
            let (ExprKind::Column { slot: outer, utc: false }, ExprKind::Column { slot: inner, utc: false }) =
                (&key.outer.kind, &key.inner.kind)
            else {
                continue;
            };
            let Some(place) = self.node.inner_slots.iter().position(|slot| slot == inner) else { continue };
            let last = table.by_key.iter().map(|(_, last)| *last);
            self.outer.keep_only(*outer, &mut last.map(|row| &table.row(row)[place]));
        }
    }

    /// Moves the table to partitions on disk.
    async fn split(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let table = std::mem::replace(&mut self.table, Table::new(self.node.inner_slots.len()));
        let budget = context.limits.join_bytes / PARTITIONS;
        let stores = |width| (0..PARTITIONS).map(|_| RowStore::new(width, budget)).collect::<Vec<_>>();
        let mut inner = stores(self.node.inner_slots.len());
        for (key, last) in table.by_key.iter() {
            for row in table.with_key(*last) {
                inner[partition_of(key)].push(context.env, table.row(row)).await?;
            }
        }
        self.partitions = Some(Partitions {
            inner,
            outer: stores(self.width),
            current: 0,
            inner_position: ReadPosition::default(),
            outer_position: ReadPosition::default(),
            outer_row: 0,
            matched: Vec::new(),
            last_piece: false,
        });
        Ok(())
    }

    async fn split_outer(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let Some(partitions) = &mut self.partitions else { return Ok(()) };
        // Some may have been read before the inner rows.
        let mut batch = std::mem::replace(&mut self.outer_batch, RowBatch::new(self.width));
        let mut key = Vec::new();
        loop {
            if self.outer_more {
                self.outer_more = self.outer.next_batch(context, &mut batch, BATCH_ROWS).await?;
            }
            for row in batch.iter() {
                // A row without a key has no match; a LEFT JOIN still gives it.
                let partition = match join_key(self.keys, |key| &key.outer, row, context, &mut key)? {
                    true => partition_of(&key),
                    false if self.node.rows.has_unmatched() => 0,
                    false => continue,
                };
                partitions.outer[partition].push(context.env, row).await?;
            }
            batch.clear();
            context.check_cancelled().await?;
            if !self.outer_more {
                break;
            }
        }
        self.next_piece(context).await.map(|_| ())
    }

    /// Loads the next inner rows that fit; `false` when all partitions are done.
    async fn next_piece(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        let Some(partitions) = &mut self.partitions else { return Ok(false) };
        if partitions.last_piece {
            partitions.current += 1;
            partitions.inner_position = ReadPosition::default();
            partitions.matched.clear();
            partitions.last_piece = false;
        }
        let Some(store) = partitions.inner.get(partitions.current) else { return Ok(false) };
        self.table = Table::new(self.node.inner_slots.len());
        let (mut wide, mut key) = (self.seed.clone(), Vec::new());
        let mut batch = RowBatch::new(self.table.width);
        while self.table.bytes <= context.limits.join_bytes {
            batch.clear();
            store.read(&mut partitions.inner_position, &mut batch, BATCH_ROWS).await?;
            if batch.is_empty() {
                partitions.last_piece = true;
                break;
            }
            for row in batch.iter() {
                for (&slot, value) in self.node.inner_slots.iter().zip(row) {
                    wide[slot] = value.clone();
                }
                if join_key(self.keys, |key| &key.inner, &wide, context, &mut key)? {
                    self.table.insert(&key, row.iter().cloned());
                }
            }
        }
        partitions.outer_position = ReadPosition::default();
        partitions.outer_row = 0;
        partitions.matched.resize(partitions.outer[partitions.current].len() as usize, false);
        Ok(true)
    }

    /// Makes sure that there is a current outer row; `false` at the end.
    async fn fill_outer(&mut self, context: &mut ExecContext<'_>, want: usize) -> Result<bool, SqlError> {
        while self.outer_at == self.outer_batch.len() {
            self.outer_batch.clear();
            self.outer_at = 0;
            context.check_cancelled().await?;
            match &mut self.partitions {
                None => {
                    if !self.outer_more {
                        return Ok(false);
                    }
                    self.outer_more = self.outer.next_batch(context, &mut self.outer_batch, want).await?;
                }
                Some(partitions) => {
                    let Some(store) = partitions.outer.get(partitions.current) else { return Ok(false) };
                    store.read(&mut partitions.outer_position, &mut self.outer_batch, BATCH_ROWS).await?;
                    if self.outer_batch.is_empty() && !self.next_piece(context).await? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether nothing can match.
    fn has_no_inner_row(&self) -> bool {
        self.partitions.is_none() && self.table.before.is_empty()
    }

    /// Looks up the matches of the current outer row.
    fn begin_row(&mut self, context: &ExecContext<'_>) -> Result<(), SqlError> {
        let row = self.outer_batch.row(self.outer_at);
        self.matches.clear();
        if join_key(self.keys, |key| &key.outer, row, context, &mut self.key)?
            && let Some(last) = self.table.by_key.get(&self.key)
        {
            self.matches.extend(self.table.with_key(*last));
        }
        self.matched = false;
        self.in_row = true;
        Ok(())
    }

    /// Ends the current outer row, which may be given as it is: once, if nothing has matched, or with its first match.
    fn end_row(&mut self, out: &mut RowBatch) {
        let (mut unmatched, mut first_match) = (!self.matched, self.matched);
        if let Some(partitions) = &mut self.partitions {
            let remembered = &mut partitions.matched[partitions.outer_row];
            first_match &= !*remembered;
            *remembered |= self.matched;
            unmatched = partitions.last_piece && !*remembered;
            partitions.outer_row += 1;
        }
        if self.node.rows.has_unmatched() && unmatched || self.node.rows == JoinRows::Semi && first_match {
            out.push(self.outer_batch.row(self.outer_at));
        }
        self.outer_at += 1;
        self.in_row = false;
    }
}

impl Operator for HashJoin<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.outer.open(seed);
        if self.seed != seed || self.partitions.is_some() {
            // The inner rows may depend on the seed; partitions are used up by one run.
            self.built = false;
            self.partitions = None;
            self.seed = seed.to_vec();
        }
        self.outer_batch.clear();
        self.outer_at = 0;
        self.outer_more = true;
        self.in_row = false;
        self.wanted.clear();
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            if !self.built {
                if self.outer_first && !self.fill_outer(context, want).await? {
                    return Ok(false);
                }
                self.build(context).await?;
                self.built = true;
                self.keep_matching();
            }
            if self.has_no_inner_row() && !self.node.rows.has_unmatched() {
                return Ok(false);
            }
            let end = out.len() + want;
            while out.len() < end {
                if !self.in_row {
                    if !self.fill_outer(context, want).await? {
                        return Ok(false);
                    }
                    self.begin_row(context)?;
                }
                let Some(number) = self.matches.pop() else {
                    self.end_row(out);
                    continue;
                };
                let row = out.push(self.outer_batch.row(self.outer_at));
                for (&slot, value) in self.node.inner_slots.iter().zip(self.table.row(number)) {
                    row[slot] = value.clone();
                }
                let matches = passes(&self.node.conditions, row, context)?;
                self.matched |= matches;
                if !matches || self.node.rows.is_decided_by_one() {
                    out.pop();
                }
                if matches && self.node.rows.is_decided_by_one() {
                    self.matches.clear();
                }
            }
            Ok(true)
        })
    }

    fn keep_only(&mut self, slot: usize, values: &mut dyn Iterator<Item = &Value>) {
        let is_inner = self.node.inner_slots.contains(&slot);
        match self.node.rows {
            JoinRows::Inner if is_inner && !self.built => self.wanted.push((slot, values.cloned().collect())),
            _ if is_inner => {}
            _ => self.outer.keep_only(slot, values),
        }
    }
}
