//! GROUP BY and aggregates.
//!
//! | how | when | memory |
//! |---|---|---|
//! | one group | no GROUP BY | one row |
//! | by images | the input is a scan, and nothing of it needs values ([`crate::exec::image`]) | the groups, up to a budget |
//! | ordered | the rows come ordered by the keys (an index, or a sort below) | one group |
//! | hashed | otherwise | the groups, up to a budget; rows of further groups wait on disk, split by key |
//!
//! WITH ROLLUP is always ordered: beside the group of all keys runs one for each shorter list of them, down to none.
//!
//! Aggregates that hold more than a few numbers (DISTINCT, GROUP_CONCAT) are grouped in order, so that few groups are open at
//! once; each has its own bounds ([`Group`]). A finished group is the group's first row with the aggregates' slots filled.

use std::collections::VecDeque;

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::distinct::group_key;
use crate::exec::group::Group;
use crate::exec::image::source::{ImageSource, OrderedGroups};
use crate::exec::keys::KeyMap;
use crate::exec::operator::{BoxedOperator, Operator};
use crate::exec::overflow::Overflow;
use crate::exec::spill::{ReadPosition, memory_size};
use crate::expr::{Expr, order};
use crate::plan::node::{AggregateNode, BlockPlan};

/// Bytes that a group takes beside its row and key, about.
const GROUP_BYTES: usize = 128;

/// Groups its input.
pub(crate) struct AggregateRows<'p> {
    node: &'p AggregateNode,
    input: BoxedOperator<'p>,
    /// The table that the input scans, if its rows may be grouped by their images.
    images: Option<ImageSource<'p>>,
    /// Its groups, if they come in order.
    ordered_images: Option<OrderedGroups>,
    width: usize,
    seed: Vec<Value>,
    ordered: Ordered,
    /// Finished groups.
    ready: VecDeque<Vec<Value>>,
    stage: Stage,
    overflow: Overflow,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Start,
    /// Ordered: there may be more input.
    Reading,
    /// Hashed: there may be more partitions.
    Partitions,
    Done,
}

/// The groups that are open in ordered grouping: one, or with ROLLUP one per list of leading keys.
#[derive(Default)]
struct Ordered {
    /// Encoded keys of the current row, and of the next one.
    keys: Keys,
    next: Keys,
    /// `groups[n]` is grouped by the first n keys; without ROLLUP only the last is used.
    groups: Vec<Option<Group>>,
}

/// Keys of a row behind one another, and where each ends.
#[derive(Default)]
struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    fn set(&mut self, keys: &[Expr], row: &[Value], context: &ExecContext<'_>) -> Result<(), SqlError> {
        self.bytes.clear();
        self.ends.clear();
        for key in keys {
            order::encode(&key.ty, &*key.eval_ref(row, &context.eval)?, false, &mut self.bytes);
            self.ends.push(self.bytes.len());
        }
        Ok(())
    }

    /// How many first ones are the same.
    fn same(&self, other: &Keys) -> usize {
        let of = |keys: &Keys, number: usize| {
            let start = number.checked_sub(1).map_or(0, |before| keys.ends[before]);
            start..keys.ends[number]
        };
        let is_same = |number: &usize| self.bytes[of(self, *number)] == other.bytes[of(other, *number)];
        (0..self.ends.len()).take_while(is_same).count()
    }
}

impl<'p> AggregateRows<'p> {
    pub(crate) fn new(node: &'p AggregateNode, input: BoxedOperator<'p>, block: &'p BlockPlan) -> Self {
        AggregateRows {
            node,
            input,
            images: ImageSource::of(block, node),
            ordered_images: None,
            width: block.width,
            seed: Vec::new(),
            ordered: Ordered::default(),
            ready: VecDeque::new(),
            stage: Stage::Start,
            overflow: Overflow::default(),
        }
    }

    /// Groups the scanned table by its images; false if values have to be made.
    async fn by_images(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        let Some(images) = &self.images else { return Ok(false) };
        if self.stage == Stage::Start && self.node.ordered {
            self.ordered_images = images.ordered(self.node, &self.seed, context).await?;
        } else if self.stage == Stage::Start
            && let Some(rows) = images.groups(self.node, &self.seed, context).await?
        {
            self.ready.extend(rows);
            self.stage = Stage::Done;
            return Ok(true);
        }
        let Some(groups) = &mut self.ordered_images else { return Ok(false) };
        self.stage = Stage::Reading;
        let mut ended = Vec::new();
        if !groups.next(context, &mut ended).await? {
            self.ordered_images = None;
            self.stage = Stage::Done;
        }
        for group in ended {
            self.ready.push_back(images.row(self.node, &self.seed, Some(&group.first), group.states)?);
        }
        Ok(true)
    }

    /// No GROUP BY: one group, even of no rows.
    async fn whole(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let mut group: Option<Group> = None;
        let mut batch = RowBatch::new(self.width);
        loop {
            let more = self.input.next_batch(context, &mut batch, BATCH_ROWS).await?;
            for row in batch.iter() {
                group.get_or_insert_with(|| Group::new(self.node, row)).add(self.node, row, context)?;
            }
            batch.clear();
            if let Some(group) = &mut group {
                group.bound(context).await?;
            }
            if !more {
                break;
            }
        }
        let group = group.unwrap_or_else(|| Group::new(self.node, &self.seed));
        self.ready.push_back(group.finish(self.node, context).await?);
        self.stage = Stage::Done;
        Ok(())
    }

    /// Reads a batch of ordered rows, and finishes the groups that end in it.
    async fn read_ordered(&mut self, context: &mut ExecContext<'_>, want: usize) -> Result<(), SqlError> {
        let mut batch = RowBatch::new(self.width);
        let more = self.input.next_batch(context, &mut batch, want.max(BATCH_ROWS)).await?;
        for row in batch.iter() {
            self.add_ordered(row, context).await?;
        }
        for group in self.ordered.groups.iter_mut().flatten() {
            group.bound(context).await?;
        }
        if !more {
            if self.ordered.groups.is_empty() && self.node.rollup.is_some() {
                // The total over no rows.
                self.ordered.groups.push(Some(Group::new(self.node, &self.seed)));
            }
            self.close_groups(0, context).await?;
            self.stage = Stage::Done;
        }
        Ok(())
    }

    async fn add_ordered(&mut self, row: &[Value], context: &ExecContext<'_>) -> Result<(), SqlError> {
        self.ordered.next.set(&self.node.keys, row, context)?;
        let count = self.node.keys.len();
        if self.ordered.groups.is_empty() {
            self.ordered.groups.resize_with(count + 1, || None);
        } else {
            let same = self.ordered.next.same(&self.ordered.keys);
            if same < count {
                self.close_groups(same + 1, context).await?;
            }
        }
        let Ordered { keys, next, .. } = &mut self.ordered;
        std::mem::swap(keys, next);
        let first = if self.node.rollup.is_some() { 0 } else { count };
        for number in first..=count {
            let group = self.ordered.groups[number].get_or_insert_with(|| Group::new(self.node, row));
            group.add(self.node, row, context)?;
        }
        Ok(())
    }

    /// Finishes the groups by at least `from` keys, the longest first.
    async fn close_groups(&mut self, from: usize, context: &ExecContext<'_>) -> Result<(), SqlError> {
        for number in (from..self.ordered.groups.len()).rev() {
            if let Some(mut group) = self.ordered.groups[number].take() {
                if let Some(slots) = &self.node.rollup {
                    roll_up(&mut group.row, &self.node.keys, slots, number, context)?;
                    if let Some(slot) = self.node.grouped {
                        group.row[slot] = Value::Int(number as i64);
                    }
                }
                self.ready.push_back(group.finish(self.node, context).await?);
            }
        }
        Ok(())
    }

    /// Groups the input, or a partition of it, in a hash table.
    async fn read_hashed(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let mut partition = match self.stage {
            Stage::Start => None,
            _ => match self.overflow.next() {
                Some([store]) => Some((store, ReadPosition::default())),
                None => {
                    self.stage = Stage::Done;
                    return Ok(());
                }
            },
        };
        let mut groups: KeyMap<usize> = KeyMap::default();
        let mut list: Vec<Group> = Vec::new();
        let mut bytes = 0;
        let mut batch = RowBatch::new(self.width);
        let mut key = Vec::new();
        loop {
            let more = match &mut partition {
                None => self.input.next_batch(context, &mut batch, BATCH_ROWS).await?,
                Some((store, position)) => {
                    store.read(position, &mut batch, BATCH_ROWS).await?;
                    !batch.is_empty()
                }
            };
            for row in batch.iter() {
                key.clear();
                group_key(&self.node.keys, row, context, &mut key)?;
                let number = match groups.get(&key) {
                    Some(&number) => number,
                    None if bytes > context.limits.table_bytes && self.overflow.may_grow() => {
                        self.overflow.push(0, &key, row, context).await?;
                        continue;
                    }
                    None => {
                        bytes += key.len() + memory_size(row) + GROUP_BYTES;
                        groups.insert(&key, list.len());
                        list.push(Group::new(self.node, row));
                        list.len() - 1
                    }
                };
                list[number].add(self.node, row, context)?;
            }
            batch.clear();
            context.check_cancelled().await?;
            if !more {
                break;
            }
        }
        for group in list {
            self.ready.push_back(group.finish(self.node, context).await?);
        }
        self.stage = Stage::Partitions;
        Ok(())
    }
}

impl Operator for AggregateRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
        self.seed = seed.to_vec();
        self.ordered = Ordered::default();
        self.ready.clear();
        self.ordered_images = None;
        self.stage = Stage::Start;
        self.overflow = Overflow::default();
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            while self.ready.is_empty() {
                context.check_cancelled().await?;
                if self.by_images(context).await? {
                    continue;
                }
                match self.stage {
                    Stage::Done => return Ok(false),
                    Stage::Start if self.node.keys.is_empty() => self.whole(context).await?,
                    Stage::Start | Stage::Reading if self.node.ordered => {
                        self.stage = Stage::Reading;
                        self.read_ordered(context, want).await?;
                    }
                    _ => self.read_hashed(context).await?,
                }
            }
            for _ in 0..want {
                match self.ready.pop_front() {
                    Some(mut row) => out.push_owned(&mut row),
                    None => break,
                }
            }
            Ok(true)
        })
    }
}

/// Fills the slots of the keys of a total over all keys from the `number`th on. A column that is such a key is NULL too, wherever it is read.
fn roll_up(
    row: &mut [Value],
    keys: &[Expr],
    slots: &[usize],
    number: usize,
    context: &ExecContext<'_>,
) -> Result<(), SqlError> {
    for (key, &slot) in keys.iter().zip(slots).take(number) {
        row[slot] = key.eval(row, &context.eval)?;
    }
    let kept: Vec<usize> = keys[..number].iter().filter_map(Expr::as_column).collect();
    for (key, &slot) in keys.iter().zip(slots).skip(number) {
        row[slot] = Value::Null;
        if let Some(column) = key.as_column().filter(|column| !kept.contains(column)) {
            row[column] = Value::Null;
        }
    }
    Ok(())
}
