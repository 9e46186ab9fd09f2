//! Values that are too large for their leaf: a few runs of neighbouring pages, each page with its own header and checksum.
//!
//! ```text
//! header   kind 3; generation and index as in the leaf; "rows" is the page's place in the value, from 0
//! payload  the next 16320 bytes of the value, fewer in the last page
//! ```
//!
//! Pages that are compressed follow one another without gaps. How many blocks each has is in the leaf for short values, whose
//! pages are in the cache one by one; the pages of a long one are read together, and each is as long as its header says. Room
//! is taken for all of a value as if nothing of it could be compressed, and what is left of each run is given back at once:
//! so it is compressed page by page, with no copy of it.

use base::{IndexId, PageNumber};
use bytes::{Bytes, BytesMut};
use io::IoBuf;

use crate::merge::PageWriter;
use crate::page::form::blocks_from;
use crate::page::leaf::{LENGTHS_MAX, Overflow, RUNS_MAX, Value};
use crate::page::{BLOCK_SIZE, CAPACITY, Expected, Header, PAGE_BLOCKS, Page, PageKind, PageRef, row_hash};
use crate::shared::Shared;
use crate::space::Run;
use crate::{Result, StoreError};

/// Values of up to this many pages go through the page cache; larger ones would push everything else out of it.
const CACHED_PAGES_MAX: u64 = LENGTHS_MAX as u64;
/// Blocks in one read or write (1 MiB).
const BATCH_BLOCKS: u64 = 256;

/// The bytes of a value, wherever they are.
pub(crate) async fn resolve(shared: &Shared, index: IndexId, value: Value) -> Result<Bytes> {
    match value {
        Value::Inline(bytes) => Ok(bytes),
        Value::Overflow(overflow) => read(shared, index, &overflow).await,
    }
}

/// A value while it is put together.
struct Reading<'a> {
    shared: &'a Shared,
    index: IndexId,
    overflow: &'a Overflow,
    place: u64,
    value: BytesMut,
}

/// Reads a value from its runs.
pub(crate) async fn read(shared: &Shared, index: IndexId, overflow: &Overflow) -> Result<Bytes> {
    // Capacity grows with what was really read: a length alone never allocates much.
    let value = BytesMut::with_capacity(overflow.size.min(BATCH_BLOCKS * BLOCK_SIZE as u64) as usize);
    let mut reading = Reading { shared, index, overflow, place: 0, value };
    for &run in &overflow.runs {
        if overflow.pages() <= CACHED_PAGES_MAX {
            reading.through_cache(run).await?;
        } else {
            reading.past_cache(run).await?;
        }
    }
    if reading.value.len() as u64 == overflow.size {
        return Ok(reading.value.freeze());
    }
    let first = overflow.runs.first().map_or(0, |run| run.start);
    let what = format!("a value of {} bytes has {} in its pages", overflow.size, reading.value.len());
    Err(shared.file.corrupt(PageNumber(first), Some(index), what))
}

impl Reading<'_> {
    async fn through_cache(&mut self, run: Run) -> Result<()> {
        let mut start = run.start;
        while start < run.end() && self.place < self.overflow.pages() {
            let expected = self.expected(start, self.overflow.blocks_of(self.place));
            let page = self.shared.page(&expected).await?;
            self.append(&expected, &page)?;
            start = expected.at.run().end();
        }
        Ok(())
    }

    async fn past_cache(&mut self, run: Run) -> Result<()> {
        let mut start = run.start;
        while start < run.end() {
            let batch = Run::new(start, BATCH_BLOCKS.min(run.end() - start));
            let mut rest = self.shared.file.read(batch, Some(self.index)).await?;
            // The last page may go on behind the batch; the next one begins with it.
            while !rest.is_empty() {
                let expected = self.expected(start, blocks_from(&rest));
                if expected.at.bytes() > rest.len() {
                    break;
                }
                let page = self.shared.file.check(rest.split_to(expected.at.bytes()), &expected)?;
                self.append(&expected, &page)?;
                start = expected.at.run().end();
            }
            if start == batch.start {
                return Err(self.wrong(start, "it goes on behind the run that it is in".to_string()));
            }
        }
        Ok(())
    }

    fn expected(&self, number: u64, blocks: u8) -> Expected {
        let at = PageRef { blocks, ..PageRef::plain(number, self.overflow.generation) };
        Expected { at, index: self.index, kind: PageKind::Overflow, level: 0 }
    }

    fn append(&mut self, expected: &Expected, page: &Page) -> Result<()> {
        if page.rows() != self.place {
            let what = format!("it is page {} of a value, not page {}", page.rows(), self.place);
            return Err(self.wrong(expected.at.number.0, what));
        }
        self.place += 1;
        self.value.extend_from_slice(&page.payload());
        Ok(())
    }

    fn wrong(&self, number: u64, what: String) -> StoreError {
        self.shared.file.corrupt(PageNumber(number), Some(self.index), what)
    }
}

/// Writes a value into pages of its own, a batch at a time.
pub(crate) async fn write(writer: &mut PageWriter, index: IndexId, key: &[u8], value: &[u8]) -> Result<Overflow> {
    let (size, generation) = (value.len() as u64, writer.generation());
    let mut written = Overflow { size, generation, hash: row_hash(key, value), lengths: 0, runs: Vec::new() };
    let mut parts = value.chunks(CAPACITY).zip(0..).peekable();
    for run in writer.allocate(written.pages(), RUNS_MAX).await? {
        let mut start = run.start;
        while parts.peek().is_some() && run.end() - start >= PAGE_BLOCKS.into() {
            let batch = BATCH_BLOCKS.min(run.end() - start);
            let mut buf = IoBuf::zeroed(batch as usize * BLOCK_SIZE);
            let (mut used, mut pages) = (0, 0);
            while batch - used >= PAGE_BLOCKS.into()
                && let Some((payload, place)) = parts.next()
            {
                let memory = &mut buf[used as usize * BLOCK_SIZE..];
                let header = Header::plain(index, PageKind::Overflow, place);
                let at = writer.put_value(memory, start + used, header, payload);
                written.set_blocks_of(place, at.blocks);
                (used, pages) = (used + at.run().len, pages + 1);
                writer.count(1).await;
            }
            buf.resize(used as usize * BLOCK_SIZE);
            writer.write(start, pages, buf).await?;
            start += used;
        }
        writer.give_back(Run::new(start, run.end() - start));
        if start > run.start {
            written.runs.push(Run::new(run.start, start - run.start));
        }
    }
    Ok(written)
}
