//! Rows that wait: in memory up to a budget, beyond it in a temporary file.
//!
//! A [`RowStore`] takes rows at its end and gives them back in that order, as often as asked. Sorts keep their runs in
//! it, hashes their partitions, derived tables their rows, updates what they are going to change.
//!
//! ```text
//!   push ──> tail (memory) ──over budget──> chunk file:  [len u32 | rows u32 | rows' bytes] [len | rows | …] …
//!   read <── chunks of the file, then the tail
//! ```
//!
//! # Invariants
//! - Memory held by a store is at most its budget (but at least a chunk), and one chunk per reader.
//! - Temporary files live in [`TEMPORARY_DIRECTORY`], are removed when their store is dropped, and those that a crash left
//!   behind by [`remove_stale_files`] at the next start. Nothing in them is ever needed after the statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{SqlError, codes};
use bytes::Bytes;
use io::{Env, File, IoBuf, OpenOptions};
use types::Value;

use crate::exec::batch::RowBatch;
use crate::exec::spill_codec::{RowReader, encode_row};

/// Where temporary files are, below the data directory.
pub const TEMPORARY_DIRECTORY: &str = "tmp";

/// Bytes of rows that are written, and read, at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// Length and number of rows in front of each chunk.
const CHUNK_HEADER: usize = 8;

static NEXT_FILE: AtomicU64 = AtomicU64::new(1);

/// Removes what a crash has left of temporary files. Called before the first statement.
pub async fn remove_stale_files(env: &Env) -> std::io::Result<()> {
    env.disk.create_dir(TEMPORARY_DIRECTORY).await?;
    for name in env.disk.list(TEMPORARY_DIRECTORY).await? {
        env.disk.remove(&format!("{TEMPORARY_DIRECTORY}/{name}")).await?;
    }
    Ok(())
}

/// Bytes that a row takes in memory, about.
pub(crate) fn memory_size(row: &[Value]) -> usize {
    let heap = |value: &Value| value.as_bytes().map_or(0, Bytes::len);
    size_of_val(row) + row.iter().map(heap).sum::<usize>()
}

/// Rows in the order in which they came.
pub(crate) struct RowStore {
    width: usize,
    budget: usize,
    tail: Vec<Value>,
    tail_rows: usize,
    tail_bytes: usize,
    rows: u64,
    file: Option<TemporaryFile>,
}

/// Where a reader is in a [`RowStore`].
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadPosition {
    offset: u64,
    chunk: Bytes,
    chunk_at: usize,
    chunk_rows: usize,
    tail_row: usize,
}

impl RowStore {
    /// An empty store of rows with `width` values that takes about `budget` bytes of memory.
    pub(crate) fn new(width: usize, budget: usize) -> Self {
        RowStore { width, budget, tail: Vec::new(), tail_rows: 0, tail_bytes: 0, rows: 0, file: None }
    }

    /// Values of a row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> u64 {
        self.rows
    }

    /// Adds a copy of a row.
    pub(crate) async fn push(&mut self, env: &Env, row: &[Value]) -> Result<(), SqlError> {
        debug_assert_eq!(row.len(), self.width);
        self.tail.extend_from_slice(row);
        self.tail_rows += 1;
        self.rows += 1;
        self.tail_bytes += memory_size(row);
        if self.tail_bytes > self.budget.max(CHUNK_BYTES) {
            self.spill(env).await?;
        }
        Ok(())
    }

    /// Writes everything to the file, so that the store takes no memory but its readers'.
    pub(crate) async fn finish(&mut self, env: &Env) -> Result<(), SqlError> {
        if self.tail_rows > 0 { self.spill(env).await } else { Ok(()) }
    }

    /// Writes what is in memory to the file.
    async fn spill(&mut self, env: &Env) -> Result<(), SqlError> {
        if self.file.is_none() {
            self.file = Some(TemporaryFile::create(env).await?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let (mut chunk, mut rows) = (vec![0; CHUNK_HEADER], 0);
        for row in 0..self.tail_rows {
            encode_row(&self.tail[row * self.width..(row + 1) * self.width], &mut chunk);
            rows += 1;
            if chunk.len() >= CHUNK_BYTES {
                file.append_chunk(&mut chunk, rows).await?;
                rows = 0;
            }
        }
        if rows > 0 {
            file.append_chunk(&mut chunk, rows).await?;
        }
        self.tail.clear();
        self.tail_rows = 0;
        self.tail_bytes = 0;
        Ok(())
    }

    /// Adds up to `want` rows to `out` from where `position` is; none at the end.
    pub(crate) async fn read(
        &self,
        position: &mut ReadPosition,
        out: &mut RowBatch,
        want: usize,
    ) -> Result<(), SqlError> {
        let end = out.len() + want;
        let mut row = Vec::with_capacity(self.width);
        while out.len() < end {
            if position.chunk_rows == 0 && !self.next_chunk(position).await? {
                break;
            }
            let chunk = position.chunk.slice(position.chunk_at..);
            let mut reader = RowReader::new(&chunk);
            while position.chunk_rows > 0 && out.len() < end {
                reader.row(self.width, &mut row)?;
                out.push_owned(&mut row);
                position.chunk_rows -= 1;
            }
            position.chunk_at += reader.position();
        }
        while out.len() < end && position.tail_row < self.tail_rows {
            out.push(&self.tail[position.tail_row * self.width..(position.tail_row + 1) * self.width]);
            position.tail_row += 1;
        }
        Ok(())
    }

    async fn next_chunk(&self, position: &mut ReadPosition) -> Result<bool, SqlError> {
        let Some(file) = &self.file else { return Ok(false) };
        if position.offset >= file.end {
            return Ok(false);
        }
        (position.chunk, position.chunk_rows) = file.read_chunk(&mut position.offset).await?;
        position.chunk_at = 0;
        Ok(true)
    }
}

/// A file that goes away with its owner.
struct TemporaryFile {
    env: Env,
    path: String,
    file: Arc<dyn File>,
    end: u64,
}

impl TemporaryFile {
    async fn create(env: &Env) -> Result<Self, SqlError> {
        let path = format!("{TEMPORARY_DIRECTORY}/sql-{}", NEXT_FILE.fetch_add(1, Ordering::Relaxed));
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = match env.disk.open(&path, options).await {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                env.disk.create_dir(TEMPORARY_DIRECTORY).await.map_err(cannot_write)?;
                env.disk.open(&path, options).await
            }
            other => other,
        };
        Ok(TemporaryFile { env: env.clone(), path, file: file.map_err(cannot_write)?, end: 0 })
    }

    /// Writes a chunk (with room for its header in front) and leaves an empty one with that room.
    async fn append_chunk(&mut self, chunk: &mut Vec<u8>, rows: u32) -> Result<(), SqlError> {
        let length = (chunk.len() - CHUNK_HEADER) as u32;
        chunk[..4].copy_from_slice(&length.to_le_bytes());
        chunk[4..CHUNK_HEADER].copy_from_slice(&rows.to_le_bytes());
        self.file.write_at(self.end, IoBuf::copy_of(chunk)).await.map_err(cannot_write)?;
        self.end += chunk.len() as u64;
        chunk.truncate(CHUNK_HEADER);
        Ok(())
    }

    async fn read_chunk(&self, offset: &mut u64) -> Result<(Bytes, usize), SqlError> {
        let header = self.file.read_at(*offset, IoBuf::zeroed(CHUNK_HEADER)).await.map_err(cannot_read)?;
        let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (length, rows) = (number(0) as usize, number(4) as usize);
        let body =
            self.file.read_at(*offset + CHUNK_HEADER as u64, IoBuf::zeroed(length)).await.map_err(cannot_read)?;
        *offset += (CHUNK_HEADER + length) as u64;
        Ok((Bytes::copy_from_slice(&body), rows))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        self.env.remove_later(std::mem::take(&mut self.path));
    }
}

fn cannot_write(error: std::io::Error) -> SqlError {
    SqlError::new(codes::ERROR_ON_WRITE, format!("Error writing a temporary file: {error}"))
}

fn cannot_read(error: std::io::Error) -> SqlError {
    SqlError::new(codes::ERROR_ON_READ, format!("Error reading a temporary file: {error}"))
}
