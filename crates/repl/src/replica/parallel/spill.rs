//! Events of a large transaction, in a temporary file until somebody executes them.
//!
//! ```text
//! length (4 bytes, little endian), CRC32 of the event (4 bytes), the event; …
//! ```
//! # Invariants
//! - In memory is one buffer of the writer, and one of each reader.
//! - A file lasts as long as its transaction; those that a crash has left a start of the server removes.

use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{SqlError, codes};
use io::{Env, File, IoBuf, OpenOptions};
use sql::exec::TEMPORARY_DIRECTORY;

/// Bytes that are written, or read, at once.
const BLOCK_BYTES: usize = 1 << 20;
const HEADER_BYTES: usize = 8;
/// The file system keeps so many bytes to the log and others.
const FREE_SPACE_MARGIN: u64 = 16 << 20;

static NEXT_FILE: AtomicU64 = AtomicU64::new(1);

/// Events that were put away, in their order.
pub(crate) struct Spilled {
    env: Env,
    path: String,
    file: Arc<dyn File>,
    /// Bytes in the file.
    written: u64,
    /// What is not in the file yet.
    buffer: Vec<u8>,
}

impl std::fmt::Debug for Spilled {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Spilled").field("path", &self.path).field("bytes", &self.bytes()).finish()
    }
}

impl Spilled {
    /// An empty file.
    ///
    /// # Errors
    /// 1026 if it cannot be made.
    pub(crate) async fn create(env: &Env) -> Result<Self, SqlError> {
        let number = NEXT_FILE.fetch_add(1, Ordering::Relaxed);
        let path = format!("{TEMPORARY_DIRECTORY}/replica-{number}");
        env.disk.create_dir(TEMPORARY_DIRECTORY).await.map_err(|error| cannot_write(&path, &error))?;
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = env.disk.open(&path, options).await.map_err(|error| cannot_write(&path, &error))?;
        file.set_len(0).await.map_err(|error| cannot_write(&path, &error))?;
        Ok(Spilled { env: env.clone(), path, file, written: 0, buffer: Vec::new() })
    }

    /// Adds an event.
    ///
    /// # Errors
    /// 1026 if the disk is full, or cannot be written.
    pub(crate) async fn push(&mut self, event: &[u8]) -> Result<(), SqlError> {
        self.buffer.extend((event.len() as u32).to_le_bytes());
        self.buffer.extend(crc32fast::hash(event).to_le_bytes());
        self.buffer.extend(event);
        if self.buffer.len() >= BLOCK_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    /// There are no more events.
    ///
    /// # Errors
    /// As of [`Spilled::push`].
    pub(crate) async fn finish(&mut self) -> Result<(), SqlError> {
        self.flush().await?;
        self.buffer = Vec::new();
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), SqlError> {
        let failed = |error| cannot_write(&self.path, &error);
        let free = self.env.disk.free_space().await.map_err(failed)?;
        if free < self.buffer.len() as u64 + FREE_SPACE_MARGIN {
            return Err(failed(Error::from(ErrorKind::StorageFull)));
        }
        self.file.write_at(self.written, IoBuf::copy_of(&self.buffer)).await.map_err(failed)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Bytes of them all.
    pub(crate) fn bytes(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Reads them, after [`Spilled::finish`].
    pub(crate) fn reader(&self) -> SpillReader<'_> {
        SpillReader { spilled: self, read: 0, block: Vec::new(), at: 0 }
    }
}

impl Drop for Spilled {
    fn drop(&mut self) {
        self.env.remove_later(std::mem::take(&mut self.path));
    }
}

/// Reads what was put away, from its beginning.
pub(crate) struct SpillReader<'a> {
    spilled: &'a Spilled,
    /// So far the file is in `block`, or was.
    read: u64,
    block: Vec<u8>,
    /// So far the block is used.
    at: usize,
}

impl SpillReader<'_> {
    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// 1024 if the file cannot be read, or is damaged.
    pub(crate) async fn next(&mut self) -> Result<Option<&[u8]>, SqlError> {
        if self.at == self.block.len() && self.read == self.spilled.written {
            return Ok(None);
        }
        self.fill(HEADER_BYTES).await?;
        let number = |at: usize| {
            let bytes = &self.block[self.at + at..self.at + at + 4];
            bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
        };
        let (length, checksum) = (number(0) as usize, number(4));
        self.fill(HEADER_BYTES + length).await?;
        let start = self.at + HEADER_BYTES;
        self.at = start + length;
        let event = &self.block[start..self.at];
        match crc32fast::hash(event) == checksum {
            true => Ok(Some(event)),
            false => Err(cannot_read(&self.spilled.path, &"its checksum is wrong")),
        }
    }

    /// So many bytes behind `at` are in the block.
    async fn fill(&mut self, bytes: usize) -> Result<(), SqlError> {
        let here = self.block.len() - self.at;
        if here >= bytes {
            return Ok(());
        }
        let spilled = self.spilled;
        let left = spilled.written - self.read;
        let wanted = ((bytes - here).max(BLOCK_BYTES) as u64).min(left);
        if wanted < (bytes - here) as u64 {
            return Err(cannot_read(&spilled.path, &"it ends in an event"));
        }
        let read = spilled.file.read_at(self.read, IoBuf::zeroed(wanted as usize)).await;
        let read = read.map_err(|error| cannot_read(&spilled.path, &error))?;
        self.block.drain(..self.at);
        self.block.extend_from_slice(&read);
        (self.at, self.read) = (0, self.read + wanted);
        Ok(())
    }
}

fn cannot_write(path: &str, error: &Error) -> SqlError {
    let message = format!("Error writing file '{path}', in which a large transaction of a source waits ({error})");
    SqlError::new(codes::ERROR_ON_WRITE, message)
}

fn cannot_read(path: &str, why: &dyn std::fmt::Display) -> SqlError {
    let message = format!("Error reading file '{path}', in which a large transaction of a source waits ({why})");
    SqlError::new(codes::ERROR_ON_READ, message)
}

#[cfg(test)]
mod tests {
    use io::sim::{Faults, SimMachine};

    use super::*;

    /// Events of all sizes, below and above a block.
    fn events() -> Vec<Vec<u8>> {
        let sizes = [0, 1, 19, BLOCK_BYTES - HEADER_BYTES, 7, 3 * BLOCK_BYTES, 300_000, 300_000, 300_000, 300_000, 5];
        sizes.iter().enumerate().map(|(number, size)| vec![number as u8; *size]).collect()
    }

    async fn put_away(env: &Env) -> Spilled {
        let mut spilled = Spilled::create(env).await.unwrap();
        for event in events() {
            spilled.push(&event).await.unwrap();
        }
        spilled.finish().await.unwrap();
        spilled
    }

    async fn read(spilled: &Spilled) -> Result<Vec<Vec<u8>>, SqlError> {
        let (mut reader, mut read) = (spilled.reader(), Vec::new());
        while let Some(event) = reader.next().await? {
            read.push(event.to_vec());
        }
        Ok(read)
    }

    #[test]
    fn comes_back_in_order_as_often_as_it_is_asked_for() {
        let machine = SimMachine::new(1);
        let read_twice = async {
            let spilled = put_away(&machine.env()).await;
            (read(&spilled).await.unwrap(), read(&spilled).await.unwrap(), spilled.path.clone())
        };
        let (first, second, path) = machine.run(read_twice).unwrap();
        assert!(first == events() && second == events());
        machine.run(machine.env().clock.sleep(std::time::Duration::from_secs(1))).unwrap();
        assert!(!machine.files().contains(&path), "it goes with its transaction: {:?}", machine.files());
    }

    #[test]
    fn a_bit_that_flips_is_found() {
        let machine = SimMachine::new(2);
        for bit in [70, 100, 8 * 2_000_000] {
            let damaged = async {
                let spilled = put_away(&machine.env()).await;
                machine.flip_bit(&spilled.path, bit);
                read(&spilled).await.unwrap_err()
            };
            assert_eq!(machine.run(damaged).unwrap().code, codes::ERROR_ON_READ.0, "bit {bit}");
        }
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let machine = SimMachine::new(3);
        machine.set_faults(Faults { capacity: Some(FREE_SPACE_MARGIN + (2 << 20)), ..Faults::default() });
        let full = async {
            let mut spilled = Spilled::create(&machine.env()).await.unwrap();
            for _ in 0..4 {
                spilled.push(&vec![1; BLOCK_BYTES]).await?;
            }
            Ok::<_, SqlError>(())
        };
        assert_eq!(machine.run(full).unwrap().unwrap_err().code, codes::ERROR_ON_WRITE.0);
    }
}
