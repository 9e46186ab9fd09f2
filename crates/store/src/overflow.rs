//! Values that are too large for their leaf: a few runs of neighbouring pages, each page with its own header and checksum.
//!
//! ```text
//! header   kind 3; generation and index as in the leaf; "rows" is the page's place in the value, from 0
//! payload  the next 16320 bytes of the value, fewer in the last page
//! ```

use base::{IndexId, PageNumber};
use bytes::{Bytes, BytesMut};
use io::IoBuf;

use crate::Result;
use crate::merge::PageWriter;
use crate::page::leaf::{Overflow, RUNS_MAX, Value};
use crate::page::{CAPACITY, Expected, Header, PAGE_SIZE, Page, PageKind, PageRef, row_hash, seal_payload};
use crate::shared::Shared;
use crate::space::Run;

/// Values of up to this many pages go through the page cache; larger ones would push everything else out of it.
const CACHED_PAGES_MAX: u64 = 8;
/// Pages in one read or write (1 MiB).
const BATCH_PAGES: u64 = 64;

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
    let value = BytesMut::with_capacity(overflow.size.min(BATCH_PAGES * CAPACITY as u64) as usize);
    let mut reading = Reading { shared, index, overflow, place: 0, value };
    for part in overflow.runs.iter().flat_map(|&run| batches(run)) {
        if overflow.pages() <= CACHED_PAGES_MAX {
            for number in part.start..part.end() {
                let page = shared.page(&reading.expected(number)).await?;
                reading.append(number, &page)?;
            }
            continue;
        }
        let bytes = shared.file.read(part, Some(index)).await?;
        for (number, start) in (part.start..part.end()).zip((0..).step_by(PAGE_SIZE)) {
            let page = shared.file.check(bytes.slice(start..start + PAGE_SIZE), &reading.expected(number))?;
            reading.append(number, &page)?;
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
    fn expected(&self, number: u64) -> Expected {
        let at = PageRef { number: PageNumber(number), generation: self.overflow.generation };
        Expected { at, index: self.index, kind: PageKind::Overflow, level: 0 }
    }

    fn append(&mut self, number: u64, page: &Page) -> Result<()> {
        if page.rows() != self.place {
            let what = format!("it is page {} of a value, not page {}", page.rows(), self.place);
            return Err(self.shared.file.corrupt(PageNumber(number), Some(self.index), what));
        }
        self.place += 1;
        self.value.extend_from_slice(&page.payload());
        Ok(())
    }
}

/// A run in parts of a bounded size.
fn batches(run: Run) -> impl Iterator<Item = Run> {
    (run.start..run.end())
        .step_by(BATCH_PAGES as usize)
        .map(move |start| Run::new(start, BATCH_PAGES.min(run.end() - start)))
}

/// Writes a value into pages of its own, a batch at a time.
pub(crate) async fn write(writer: &mut PageWriter, index: IndexId, key: &[u8], value: &[u8]) -> Result<Overflow> {
    let (pages, generation) = ((value.len() as u64).div_ceil(CAPACITY as u64), writer.generation());
    let runs = writer.allocate(pages, RUNS_MAX).await?;
    let mut parts = value.chunks(CAPACITY).zip(0..);
    for part in runs.iter().flat_map(|&run| batches(run)) {
        let mut buf = IoBuf::zeroed(part.len as usize * PAGE_SIZE);
        for ((page, number), (payload, place)) in buf.chunks_exact_mut(PAGE_SIZE).zip(part.start..).zip(&mut parts) {
            let at = PageRef { number: PageNumber(number), generation };
            seal_payload(page, &Header::plain(at, index, PageKind::Overflow, place), payload);
        }
        writer.write(part.start, buf).await?;
    }
    Ok(Overflow { size: value.len() as u64, generation, hash: row_hash(key, value), runs })
}
