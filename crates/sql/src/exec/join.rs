//! Nested loops: the inner side opened per outer row, or read once and kept.

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::operator::{BoxedOperator, Operator, passes};
use crate::exec::spill::{ReadPosition, RowStore};
use crate::plan::node::{JoinNode, JoinRows};

/// The outer side of a join: one row at a time out of batches.
pub(crate) struct OuterRows<'p> {
    input: BoxedOperator<'p>,
    batch: RowBatch,
    at: usize,
    more: bool,
}

impl<'p> OuterRows<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, width: usize) -> Self {
        OuterRows { input, batch: RowBatch::new(width), at: 0, more: false }
    }

    pub(crate) fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
        self.batch.clear();
        self.at = 0;
        self.more = true;
    }

    /// Makes sure that there is a current row; `false` at the end.
    pub(crate) async fn fill(&mut self, context: &mut ExecContext<'_>, want: usize) -> Result<bool, SqlError> {
        while self.at == self.batch.len() {
            if !self.more {
                return Ok(false);
            }
            self.batch.clear();
            self.at = 0;
            self.more = self.input.next_batch(context, &mut self.batch, want).await?;
        }
        Ok(true)
    }

    /// The current row.
    pub(crate) fn current(&self) -> &[Value] {
        self.batch.row(self.at)
    }

    /// Puts the current row's values into `row`, in place of those that are there; it is not to be asked for any more.
    fn take_current(&mut self, row: &mut Vec<Value>) {
        row.clear();
        row.extend(self.batch.row_mut(self.at).iter_mut().map(std::mem::take));
    }

    /// Goes on to the next row.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }
}

/// Opens the inner side with each outer row.
pub(crate) struct NestedLoop<'p> {
    node: &'p JoinNode,
    outer: OuterRows<'p>,
    inner: BoxedOperator<'p>,
    inner_is_open: bool,
    matched: bool,
    /// Inner rows of a join that does not give them.
    found: RowBatch,
    /// Memory of an outer row.
    row: Vec<Value>,
}

impl<'p> NestedLoop<'p> {
    pub(crate) fn new(node: &'p JoinNode, outer: BoxedOperator<'p>, inner: BoxedOperator<'p>, width: usize) -> Self {
        let (outer, found) = (OuterRows::new(outer, width), RowBatch::new(width));
        NestedLoop { node, outer, inner, inner_is_open: false, matched: false, found, row: Vec::new() }
    }

    /// Looks for one match of the outer row, which is then given or not; whether that is decided.
    async fn look(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        self.found.clear();
        let more = self.inner.next_batch(context, &mut self.found, 1).await?;
        self.found.retain_from(0, |row| passes(&self.node.conditions, row, context))?;
        self.matched = !self.found.is_empty();
        Ok(self.matched || !more)
    }

    /// Gives the outer row, if it is to be given when all of its matches are known, and goes on to the next one.
    fn end_row(&mut self, out: &mut RowBatch) {
        if self.node.rows.gives_outer(self.matched) {
            out.push(self.outer.current());
        }
        self.inner_is_open = false;
        self.outer.advance();
    }
}

impl Operator for NestedLoop<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.outer.open(seed);
        self.inner_is_open = false;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let end = out.len() + want;
            while out.len() < end {
                if !self.inner_is_open {
                    if !self.outer.fill(context, want).await? {
                        return Ok(false);
                    }
                    match self.node.rows {
                        JoinRows::Inner => {
                            self.outer.take_current(&mut self.row);
                            self.inner.open_with(&mut self.row);
                        }
                        _ => self.inner.open(self.outer.current()),
                    }
                    self.inner_is_open = true;
                    self.matched = false;
                }
                if self.node.rows.is_decided_by_one() {
                    if self.look(context).await? {
                        self.end_row(out);
                    }
                    continue;
                }
                let before = out.len();
                let more = self.inner.next_batch(context, out, end - before).await?;
                out.retain_from(before, |row| passes(&self.node.conditions, row, context))?;
                self.matched |= out.len() > before;
                if !more {
                    self.end_row(out);
                }
            }
            Ok(true)
        })
    }

    fn keep_only(&mut self, slot: usize, values: &mut dyn Iterator<Item = &Value>) {
        self.outer.input.keep_only(slot, values);
    }
}

/// Reads the inner side once, and tries all its rows with each batch of outer rows. Changes the order of the rows.
pub(crate) struct BufferedJoin<'p> {
    node: &'p JoinNode,
    outer: BoxedOperator<'p>,
    inner: BoxedOperator<'p>,
    seed: Vec<Value>,
    kept: Option<RowStore>,
    outer_batch: RowBatch,
    outer_matched: Vec<bool>,
    outer_more: bool,
    inner_batch: RowBatch,
    position: ReadPosition,
    /// The pair to try next.
    at: (usize, usize),
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Fetch outer rows.
    Outer,
    /// Fetch inner rows for them.
    Inner,
    /// Try the pairs.
    Pairs,
    /// Give outer rows as they are: those without a match, or with one.
    Given,
}

impl<'p> BufferedJoin<'p> {
    pub(crate) fn new(node: &'p JoinNode, outer: BoxedOperator<'p>, inner: BoxedOperator<'p>, width: usize) -> Self {
        BufferedJoin {
            node,
            outer,
            inner,
            seed: Vec::new(),
            kept: None,
            outer_batch: RowBatch::new(width),
            outer_matched: Vec::new(),
            outer_more: true,
            inner_batch: RowBatch::new(node.inner_slots.len()),
            position: ReadPosition::default(),
            at: (0, 0),
            stage: Stage::Outer,
        }
    }

    /// Goes through the pairs of the present batches until `out` has `end` rows.
    fn try_pairs(&mut self, context: &ExecContext<'_>, out: &mut RowBatch, end: usize) -> Result<(), SqlError> {
        let one_is_enough = self.node.rows.is_decided_by_one();
        while self.at.0 < self.outer_batch.len() {
            while self.at.1 < self.inner_batch.len() && !(one_is_enough && self.outer_matched[self.at.0]) {
                if out.len() == end {
                    return Ok(());
                }
                let row = out.push(self.outer_batch.row(self.at.0));
                for (slot, value) in self.node.inner_slots.iter().zip(self.inner_batch.row(self.at.1)) {
                    row[*slot] = value.clone();
                }
                let matches = passes(&self.node.conditions, row, context)?;
                self.outer_matched[self.at.0] |= matches;
                if !matches || one_is_enough {
                    out.pop();
                }
                self.at.1 += 1;
            }
            self.at = (self.at.0 + 1, 0);
        }
        self.stage = Stage::Inner;
        Ok(())
    }

    fn give_outer(&mut self, out: &mut RowBatch, end: usize) {
        while self.at.0 < self.outer_batch.len() && out.len() < end {
            if self.node.rows.gives_outer(self.outer_matched[self.at.0]) {
                out.push(self.outer_batch.row(self.at.0));
            }
            self.at.0 += 1;
        }
        if self.at.0 == self.outer_batch.len() {
            self.stage = Stage::Outer;
        }
    }

    async fn fetch_outer(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        self.outer_batch.clear();
        while self.outer_batch.is_empty() {
            if !self.outer_more {
                return Ok(false);
            }
            self.outer_more = self.outer.next_batch(context, &mut self.outer_batch, BATCH_ROWS).await?;
        }
        self.outer_matched.clear();
        self.outer_matched.resize(self.outer_batch.len(), false);
        self.position = ReadPosition::default();
        self.stage = Stage::Inner;
        Ok(true)
    }

    async fn fetch_inner(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if self.kept.is_none() {
            self.inner.open(&self.seed);
            let slots = &self.node.inner_slots;
            self.kept = Some(keep_rows(&mut self.inner, slots, self.seed.len(), context).await?);
        }
        self.inner_batch.clear();
        if let Some(kept) = &self.kept {
            kept.read(&mut self.position, &mut self.inner_batch, BATCH_ROWS).await?;
        }
        self.at = (0, 0);
        self.stage = if self.inner_batch.is_empty() { Stage::Given } else { Stage::Pairs };
        Ok(())
    }
}

/// Reads all rows of an operator, and keeps the values of some slots.
pub(crate) async fn keep_rows(
    input: &mut BoxedOperator<'_>,
    slots: &[usize],
    width: usize,
    context: &mut ExecContext<'_>,
) -> Result<RowStore, SqlError> {
    let mut kept = RowStore::new(slots.len(), context.limits.join_bytes);
    let mut batch = RowBatch::new(width);
    let mut narrow = Vec::with_capacity(slots.len());
    loop {
        let more = input.next_batch(context, &mut batch, BATCH_ROWS).await?;
        for row in batch.iter() {
            narrow.clear();
            narrow.extend(slots.iter().map(|&slot| row[slot].clone()));
            kept.push(context.env, &narrow).await?;
        }
        batch.clear();
        context.check_cancelled().await?;
        if !more {
            return Ok(kept);
        }
    }
}

impl Operator for BufferedJoin<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.outer.open(seed);
        if self.seed != seed {
            // What was kept may have depended on the old seed.
            self.kept = None;
            self.seed = seed.to_vec();
        }
        self.outer_more = true;
        self.stage = Stage::Outer;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let end = out.len() + want;
            while out.len() < end {
                match self.stage {
                    Stage::Outer => {
                        if !self.fetch_outer(context).await? {
                            return Ok(false);
                        }
                    }
                    Stage::Inner => {
                        context.check_cancelled().await?;
                        self.fetch_inner(context).await?;
                    }
                    Stage::Pairs => self.try_pairs(context, out, end)?,
                    Stage::Given => self.give_outer(out, end),
                }
            }
            Ok(true)
        })
    }

    fn keep_only(&mut self, slot: usize, values: &mut dyn Iterator<Item = &Value>) {
        self.outer.keep_only(slot, values);
    }
}
