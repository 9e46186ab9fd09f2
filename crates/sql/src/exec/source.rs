//! Reads virtual tables, derived tables (subqueries in FROM, common table expressions), and JSON_TABLE.
//!
//! Rows are made once and kept, in memory or in a temporary file, because the inner side of a join reads them again. A table
//! that is read only once streams. A common table expression that stands in several places is made when the first of them is read, for all of them.

use std::sync::Arc;

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::exec::apply::outer_slots;
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::json_table;
use crate::exec::operator::{Operator, passes};
use crate::exec::query::QueryRows;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::plan::node::{AccessMethod, AccessNode, PlannedSource};
use crate::virtual_table::Wanted;

/// Rows of a virtual or derived table.
pub(crate) struct SourceRows<'p> {
    node: &'p AccessNode,
    source: &'p PlannedSource,
    /// Values per row of the frame.
    frame: usize,
    /// Slots of the frame that it reads.
    outer: Vec<usize>,
    seed: Vec<Value>,
    rows: Rows<'p>,
    batch: RowBatch,
    at: usize,
}

enum Rows<'p> {
    NotRead,
    Streaming { query: Box<QueryRows<'p>>, more: bool },
    Kept { rows: Arc<RowStore>, position: ReadPosition },
}

impl<'p> SourceRows<'p> {
    pub(crate) fn new(node: &'p AccessNode, source: &'p PlannedSource, frame: usize) -> Self {
        let width = match source {
            PlannedSource::Derived(query, _) => query.columns.len(),
            PlannedSource::Round(_, width) => *width,
            PlannedSource::Json(table) => table.width,
            PlannedSource::Virtual(table) => table.columns().len(),
            PlannedSource::Base(table) => table.def.columns.len(),
        };
        let mut outer = Vec::new();
        if let PlannedSource::Derived(query, _) = source {
            outer_slots(query, &mut outer);
        }
        if let PlannedSource::Json(table) = source {
            outer = table.document.slots().into_vec();
        }
        SourceRows {
            node,
            source,
            frame,
            outer,
            seed: Vec::new(),
            rows: Rows::NotRead,
            batch: RowBatch::new(width),
            at: 0,
        }
    }

    async fn begin(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let streams = matches!(self.node.method, AccessMethod::All { streams: true });
        self.rows = match self.source {
            PlannedSource::Derived(_, Some(cte)) if context.ctes.0.contains_key(cte) => {
                kept(context.ctes.0[cte].clone())
            }
            PlannedSource::Derived(plan, made_once) => {
                let mut query = QueryRows::new(plan);
                query.open(&self.seed);
                match made_once {
                    None if streams => Rows::Streaming { query: Box::new(query), more: true },
                    None => kept(Arc::new(keep(&mut query, self.batch.width(), context).await?)),
                    Some(cte) => {
                        let rows = Arc::new(keep(&mut query, self.batch.width(), context).await?);
                        context.ctes.0.insert(*cte, rows.clone());
                        kept(rows)
                    }
                }
            }
            PlannedSource::Round(rows, _) => {
                let rows = context.ctes.0.get(rows).cloned();
                kept(rows.ok_or_else(|| SqlError::unknown("a round of a recursive CTE that is not under way"))?)
            }
            PlannedSource::Virtual(table) => {
                let mut rows = RowStore::new(self.batch.width(), context.limits.table_bytes);
                let wanted = Wanted::new(self.node, &**table, self.frame);
                table.rows(context, &wanted, &mut rows).await?;
                kept(Arc::new(rows))
            }
            PlannedSource::Json(table) => kept(Arc::new(json_table::rows(table, &self.seed, context).await?)),
            PlannedSource::Base(_) => return Err(SqlError::unknown("a table of the engine is read by an index")),
        };
        Ok(())
    }

    /// Fetches the next rows of the source; `false` at the end.
    async fn fill(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        if let Rows::NotRead = self.rows {
            self.begin(context).await?;
        }
        self.batch.clear();
        self.at = 0;
        context.check_cancelled().await?;
        while self.batch.is_empty() {
            match &mut self.rows {
                Rows::NotRead => return Ok(false),
                Rows::Streaming { more: false, .. } => return Ok(false),
                Rows::Streaming { query, more } => {
                    *more = query.next_batch(context, &mut self.batch, BATCH_ROWS).await?
                }
                Rows::Kept { rows, position } => {
                    rows.read(position, &mut self.batch, BATCH_ROWS).await?;
                    return Ok(!self.batch.is_empty());
                }
            }
        }
        Ok(true)
    }
}

fn kept<'p>(rows: Arc<RowStore>) -> Rows<'p> {
    Rows::Kept { rows, position: ReadPosition::default() }
}

/// Runs a query to its end and keeps its rows.
async fn keep(query: &mut QueryRows<'_>, width: usize, context: &mut ExecContext<'_>) -> Result<RowStore, SqlError> {
    let mut rows = RowStore::new(width, context.limits.table_bytes);
    let mut batch = RowBatch::new(width);
    loop {
        let more = query.next_batch(context, &mut batch, BATCH_ROWS).await?;
        for row in batch.iter() {
            rows.push(context.env, row).await?;
        }
        batch.clear();
        if !more {
            return Ok(rows);
        }
    }
}

impl Operator for SourceRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        let is_same = self.seed.len() == seed.len() && self.outer.iter().all(|slot| self.seed[*slot] == seed[*slot]);
        self.seed.clear();
        self.seed.extend_from_slice(seed);
        match &mut self.rows {
            Rows::Kept { position, .. } if is_same && !matches!(self.source, PlannedSource::Round(..)) => {
                *position = ReadPosition::default();
            }
            rows => *rows = Rows::NotRead,
        }
        self.batch.clear();
        self.at = 0;
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
                if self.at == self.batch.len() && !self.fill(context).await? {
                    return Ok(false);
                }
                let source = self.batch.row(self.at);
                self.at += 1;
                let row = out.push(&self.seed);
                for &(column, slot) in &self.node.decode {
                    row[slot] = source[column].clone();
                }
                if !passes(&self.node.filter, row, context)? {
                    out.pop();
                }
            }
            Ok(true)
        })
    }
}
