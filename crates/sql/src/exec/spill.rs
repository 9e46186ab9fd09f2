//! Rows that wait: in memory up to a budget, beyond it in a temporary file.
//!
//! A [`RowStore`] takes rows at its end and gives them back in that order, as often as asked. Sorts keep their runs in
//! it, hashes their partitions, derived tables their rows, updates what they are going to change.
//!
//! ```text
//!   push ──> tail (memory) ──over budget──> chunk file:  [xxh3 u64 | len u32 | rows u32 | rows' bytes] [xxh3 | len | …] …
//!   read <── chunks of the file, then the tail
//! ```
//! The checksum's seed is of the file and the offset, so that neither another bit nor another chunk is taken for this one.
//!
//! # Invariants
//! - Memory held by a store is at most its budget (but at least a chunk), and one chunk per reader.
//! - Temporary files live in [`TEMPORARY_DIRECTORY`], are removed when their store is dropped, and those that a crash left
//!   behind by [`remove_stale_files`] at the next start. Nothing in them is ever needed after the statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{SqlError, codes, memory};
use bytes::Bytes;
use io::{Env, File, IoBuf, OpenOptions};
use types::Value;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::exec::batch::RowBatch;
use crate::exec::spill_codec::{RowReader, encode_row};

/// Where temporary files are, below the data directory.
pub const TEMPORARY_DIRECTORY: &str = "tmp";

/// Bytes of rows that are written, and read, at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// Checksum, length and number of rows in front of each chunk.
const CHUNK_HEADER: usize = 16;

static NEXT_FILE: AtomicU64 = AtomicU64::new(1);

/// Removes what a crash has left of temporary files. Called before the first statement.
#[io::boxed]
pub async fn remove_stale_files(env: &Env) -> std::io::Result<()> {
    match env.remove_stale(TEMPORARY_DIRECTORY, "").await {
        // The first one that is written makes the folder.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Bytes that a row takes in memory, about.
pub(crate) fn memory_size(row: &[Value]) -> usize {
    let heap = |value: &Value| value.as_bytes().map_or(0, Bytes::len);
    size_of_val(row) + row.iter().map(heap).sum::<usize>()
}

/// Rows in the order in which they came.
pub struct RowStore {
    width: usize,
    budget: usize,
    tail: Vec<Value>,
    tail_rows: usize,
    tail_bytes: usize,
    rows: u64,
    file: Option<TemporaryFile>,
}

/// Before a row is encoded: its values may share their bytes with each other and with variables, but will have their own.
///
/// # Errors
/// 4082 if the connection may not take so much.
pub(crate) fn check_room_for(row: &[Value]) -> Result<(), SqlError> {
    memory::check_more(Value::bytes_of(row) as u64)
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

    /// A row by its number, if all rows are in memory.
    pub(crate) fn in_memory(&self, row: u64) -> Option<&[Value]> {
        let row = usize::try_from(row).ok().filter(|row| *row < self.tail_rows && self.file.is_none())?;
        Some(&self.tail[row * self.width..(row + 1) * self.width])
    }

    /// Adds a copy of a row.
    pub(crate) async fn push(&mut self, env: &Env, row: &[Value]) -> Result<(), SqlError> {
        check_room_for(row)?;
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

    /// Adds up to `want` rows to `out` from where `position` is, fewer of those that are large; none at the end.
    pub(crate) async fn read(
        &self,
        position: &mut ReadPosition,
        out: &mut RowBatch,
        want: usize,
    ) -> Result<(), SqlError> {
        let end = out.len() + want;
        let mut row = Vec::with_capacity(self.width);
        let mut bytes = 0;
        while out.len() < end && bytes < CHUNK_BYTES {
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
            bytes += reader.position();
        }
        if bytes >= CHUNK_BYTES {
            return Ok(());
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
    number: u64,
    file: Arc<dyn File>,
    end: u64,
}

impl TemporaryFile {
    async fn create(env: &Env) -> Result<Self, SqlError> {
        let number = NEXT_FILE.fetch_add(1, Ordering::Relaxed);
        let path = format!("{TEMPORARY_DIRECTORY}/sql-{number}");
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = match env.disk.open(&path, options).await {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                env.disk.create_dir(TEMPORARY_DIRECTORY).await.map_err(cannot_write)?;
                env.disk.open(&path, options).await
            }
            other => other,
        };
        Ok(TemporaryFile { env: env.clone(), path, number, file: file.map_err(cannot_write)?, end: 0 })
    }

    /// Writes a chunk (with room for its header in front) and leaves an empty one with that room.
    async fn append_chunk(&mut self, chunk: &mut Vec<u8>, rows: u32) -> Result<(), SqlError> {
        let length = (chunk.len() - CHUNK_HEADER) as u32;
        chunk[8..12].copy_from_slice(&length.to_le_bytes());
        chunk[12..CHUNK_HEADER].copy_from_slice(&rows.to_le_bytes());
        let hash = xxh3_64_with_seed(&chunk[8..], self.seed(self.end));
        chunk[..8].copy_from_slice(&hash.to_le_bytes());
        self.file.write_at(self.end, IoBuf::copy_of(chunk)).await.map_err(cannot_write)?;
        self.end += chunk.len() as u64;
        chunk.truncate(CHUNK_HEADER);
        Ok(())
    }

    async fn read_chunk(&self, offset: &mut u64) -> Result<(Bytes, usize), SqlError> {
        let header = self.file.read_at(*offset, IoBuf::zeroed(CHUNK_HEADER)).await.map_err(cannot_read)?;
        let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (length, rows) = (u64::from(number(8)), number(12) as usize);
        if *offset + CHUNK_HEADER as u64 + length > self.end {
            return Err(self.damaged(*offset));
        }
        let chunk = IoBuf::zeroed(CHUNK_HEADER + length as usize);
        let chunk = self.file.read_at(*offset, chunk).await.map_err(cannot_read)?;
        let hash = xxh3_64_with_seed(&chunk[8..], self.seed(*offset));
        if chunk[..8] != hash.to_le_bytes() {
            return Err(self.damaged(*offset));
        }
        *offset += chunk.len() as u64;
        Ok((Bytes::copy_from_slice(&chunk[CHUNK_HEADER..]), rows))
    }

    /// Of the checksum of a chunk at this offset.
    fn seed(&self, offset: u64) -> u64 {
        let mut place = [0; 16];
        place[..8].copy_from_slice(&self.number.to_le_bytes());
        place[8..].copy_from_slice(&offset.to_le_bytes());
        xxh3_64(&place)
    }

    fn damaged(&self, offset: u64) -> SqlError {
        let message = format!("Error reading file '{}' (the chunk at offset {offset} is damaged)", self.path);
        SqlError::new(codes::ERROR_ON_READ, message)
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

#[cfg(test)]
mod tests {
    use io::sim::SimMachine;

    use super::*;

    const ROW: [Value; 1] = [Value::Int(7)];

    async fn store(env: &Env) -> RowStore {
        let mut store = RowStore::new(1, 0);
        for _ in 0..100_000 {
            store.push(env, &ROW).await.unwrap();
        }
        store.finish(env).await.unwrap();
        store
    }

    async fn count(store: &RowStore) -> Result<usize, SqlError> {
        let (mut position, mut rows) = (ReadPosition::default(), 0);
        loop {
            let mut batch = RowBatch::new(1);
            store.read(&mut position, &mut batch, 1000).await?;
            if batch.is_empty() {
                return Ok(rows);
            }
            rows += batch.len();
        }
    }

    #[test]
    fn another_bit_and_another_chunk_are_errors() {
        let machine = SimMachine::new(1);
        let env = machine.env();
        let stores = [machine.run(store(&env)).unwrap(), machine.run(store(&env)).unwrap()];
        assert_eq!(machine.run(count(&stores[0])).unwrap().unwrap(), 100_000);
        let paths: Vec<String> = stores.iter().map(|store| store.file.as_ref().unwrap().path.clone()).collect();
        let contents: Vec<Vec<u8>> = paths.iter().map(|path| machine.contents(path).unwrap()).collect();
        assert!(
            contents[0].len() > 3 * CHUNK_BYTES && contents[0][CHUNK_HEADER..100] == contents[1][CHUNK_HEADER..100]
        );
        let refused = |what: &str| {
            let error = machine.run(count(&stores[0])).unwrap().unwrap_err();
            assert_eq!(error.code, codes::ERROR_ON_READ.0, "{what}");
            assert!(error.message.contains(&paths[0]) && error.message.contains("offset"), "{what}: {}", error.message);
        };
        for byte in [3, 9, 13, 100, contents[0].len() as u64 - 1] {
            machine.flip_bit(&paths[0], 8 * byte);
            refused("a flipped bit");
            machine.flip_bit(&paths[0], 8 * byte);
        }
        let put = |from: &[u8], at: u64| {
            let (env, path, bytes) = (env.clone(), paths[0].clone(), IoBuf::copy_of(from));
            let how = OpenOptions { write: true, ..OpenOptions::default() };
            machine
                .run(async move { env.disk.open(&path, how).await.unwrap().write_at(at, bytes).await.unwrap() })
                .unwrap();
        };
        // The same rows, of another file; and of another place of this one.
        put(&contents[1][..1000], 0);
        refused("another file's chunk");
        let chunk = contents[0].len() / (contents[0].len() / CHUNK_BYTES);
        let second = (1..chunk + 64).find(|at| contents[0][at + 8..at + 16] == contents[0][8..16]).unwrap();
        put(&contents[0][second..2 * second], 0);
        refused("another place's chunk");
    }
}
