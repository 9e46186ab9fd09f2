//! The rows of a statement whose client takes them a few at a time (COM_STMT_FETCH).
//!
//! As in MySQL a cursor is what the statement found when it was executed, kept: in memory up to `tmp_table_size`, beyond it in
//! a temporary file. So the statement's locks, its snapshot and its transaction are not its concern, and what the client does
//! between two fetches does not change what it gets.

use base::SqlError;
use io::{BoxFuture, Env};
use types::Value;

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::spill::{ReadPosition, RowStore, memory_size};
use crate::result::{ResultColumn, ResultSink};

/// With more bytes of rows than this waiting, the statement is asked to let them be put away.
const PENDING_BYTES: usize = 64 << 10;

/// A sink that keeps the rows for later.
pub struct Cursor {
    env: Env,
    budget: usize,
    /// What the statement gave and is not in `rows` yet.
    pending: RowBatch,
    pending_bytes: usize,
    columns: Vec<ResultColumn>,
    rows: RowStore,
    position: ReadPosition,
}

impl Cursor {
    /// One whose rows go to a file when they have more bytes than `budget`.
    pub(super) fn new(env: Env, budget: usize) -> Self {
        let (pending, rows) = (RowBatch::new(0), RowStore::new(0, budget));
        let (columns, position) = (Vec::new(), ReadPosition::default());
        Cursor { env, budget, pending, pending_bytes: 0, columns, rows, position }
    }

    /// The shape of its rows; empty if the statement had none.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Puts the last rows away, after the statement has succeeded.
    #[io::boxed]
    pub async fn finish(&mut self) -> Result<(), SqlError> {
        self.put_away().await
    }

    /// Gives the next rows, at most `count`, to the sink, whose columns are not told again; whether those were the last.
    #[io::boxed]
    pub async fn fetch(&mut self, count: usize, sink: &mut dyn ResultSink) -> Result<bool, SqlError> {
        let mut batch = RowBatch::new(self.columns.len());
        let mut given = 0;
        while given < count {
            batch.clear();
            self.rows.read(&mut self.position, &mut batch, BATCH_ROWS.min(count - given)).await?;
            if batch.is_empty() {
                return Ok(true);
            }
            for row in batch.iter() {
                sink.row(row)?;
                if sink.needs_flush() {
                    sink.flush().await?;
                }
            }
            given += batch.len();
        }
        Ok(false)
    }

    async fn put_away(&mut self) -> Result<(), SqlError> {
        for row in self.pending.iter() {
            self.rows.push(&self.env, row).await?;
        }
        self.pending.clear();
        self.pending_bytes = 0;
        Ok(())
    }
}

impl ResultSink for Cursor {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.columns = columns.to_vec();
        self.pending = RowBatch::new(columns.len());
        self.rows = RowStore::new(columns.len(), self.budget);
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.pending_bytes += memory_size(row);
        self.pending.push(row);
        Ok(())
    }

    fn needs_flush(&self) -> bool {
        self.pending_bytes >= PENDING_BYTES
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(self.put_away())
    }
}
