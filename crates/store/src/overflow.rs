//! Values that are too large for their leaf: a run of neighbouring pages, each with its own header and checksum.
//!
//! ```text
//! header   kind 3; generation and index as in the leaf; "rows" is the page's place in the run, from 0
//! payload  the next 16320 bytes of the value, fewer in the last page
//! ```

use std::sync::Arc;

use base::{IndexId, PageNumber};
use bytes::{Bytes, BytesMut};
use io::IoBuf;

use crate::Result;
use crate::page::leaf::{Overflow, Value};
use crate::page::{CAPACITY, Expected, Header, PAGE_SIZE, Page, PageKind, PageRef, row_hash, seal_payload};
use crate::shared::{Allocation, Shared};
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

/// Reads a value from its run.
pub(crate) async fn read(shared: &Shared, index: IndexId, overflow: &Overflow) -> Result<Bytes> {
    let pages = overflow.pages();
    // Capacity grows with what was really read: a length alone never allocates.
    let mut value = BytesMut::with_capacity(overflow.size.min(BATCH_PAGES * CAPACITY as u64) as usize);
    let mut place = 0;
    while place < pages {
        if pages <= CACHED_PAGES_MAX {
            let page = shared.page(&expected(index, overflow, place)).await?;
            append(shared, index, overflow, place, &page, &mut value)?;
            place += 1;
            continue;
        }
        let run = Run::new(overflow.at.number.0 + place, BATCH_PAGES.min(pages - place));
        let bytes = shared.file.read(run, Some(index)).await?;
        for at in 0..run.len as usize {
            let bytes = bytes.slice(at * PAGE_SIZE..(at + 1) * PAGE_SIZE);
            let page = shared.file.check(bytes, &expected(index, overflow, place))?;
            append(shared, index, overflow, place, &page, &mut value)?;
            place += 1;
        }
    }
    Ok(value.freeze())
}

fn expected(index: IndexId, overflow: &Overflow, place: u64) -> Expected {
    let at = PageRef { number: PageNumber(overflow.at.number.0 + place), ..overflow.at };
    Expected { at, index, kind: PageKind::Overflow, level: 0 }
}

fn append(
    shared: &Shared,
    index: IndexId,
    overflow: &Overflow,
    place: u64,
    page: &Page,
    value: &mut BytesMut,
) -> Result<()> {
    let wanted = (overflow.size - value.len() as u64).min(CAPACITY as u64);
    if page.rows() != place || page.used() as u64 != wanted {
        let what =
            format!("it is part {} of a value with {} bytes, not {place} with {wanted}", page.rows(), page.used());
        return Err(shared.file.corrupt(PageNumber(overflow.at.number.0 + place), Some(index), what));
    }
    value.extend_from_slice(&page.payload());
    Ok(())
}

/// Writes a value into a run of its own, a batch at a time.
pub(crate) async fn write(
    shared: &Arc<Shared>,
    allocation: &Arc<Allocation>,
    index: IndexId,
    generation: u64,
    key: &[u8],
    value: &[u8],
) -> Result<Overflow> {
    let pages = (value.len() as u64).div_ceil(CAPACITY as u64);
    let run = shared.allocate_exactly(pages).await?;
    allocation.add(run);
    let hash = row_hash(key, value);
    let at = PageRef { number: PageNumber(run.start), generation };
    let mut parts = value.chunks(CAPACITY).zip(0u64..).peekable();
    while let Some(&(_, first)) = parts.peek() {
        let batch = BATCH_PAGES.min(pages - first);
        let mut buf = IoBuf::zeroed(batch as usize * PAGE_SIZE);
        for (page, (part, place)) in buf.chunks_exact_mut(PAGE_SIZE).zip(parts.by_ref()) {
            let at = PageRef { number: PageNumber(run.start + place), generation };
            let kind = PageKind::Overflow;
            seal_payload(page, &Header { at, index, kind, level: 0, count: 0, used: 0, rows: place, hash: 0 }, part);
        }
        write_owned(shared, allocation, run.start + first, buf).await?;
    }
    Ok(Overflow { size: value.len() as u64, at, hash })
}

/// Writes in a task of its own, which owns the allocation until the write has ended.
async fn write_owned(shared: &Arc<Shared>, allocation: &Arc<Allocation>, start: u64, buf: IoBuf) -> Result<()> {
    let mut flight = crate::merge::Flight::new(shared.clone(), allocation.clone(), 1);
    flight.write(start, buf).await?;
    flight.land().await
}
