//! Pages on their way to the file: collected in large buffers over neighbouring blocks, some writes under way at once.
//!
//! A page that is not compressed is filled where it will be written. One that is to be compressed is filled beside the buffer;
//! its place is known when its length is.
//!
//! Writes run in tasks of their own. Each owns the [`Allocation`] that its pages belong to, so a merge that is given up
//! gives its pages back when its last write has ended, not before.

use std::sync::Arc;
use std::time::Duration;

use event_listener::Event;
use io::IoBuf;
use parking_lot::Mutex;

use crate::page::form::{Compression, Compressor};
use crate::page::{BLOCK_SIZE, Header, PAGE_BLOCKS, PAGE_SIZE, Page, PageKind, PageRef, fill_payload, memory, seal};
use crate::shared::{Allocation, Pass, Shared};
use crate::space::Run;
use crate::{Result, StoreError};

use super::Pacer;

/// Blocks of a write (1 MiB), where so many neighbours are free.
const BATCH_BLOCKS: u64 = 256;
const BATCH_BYTES: usize = BATCH_BLOCKS as usize * BLOCK_SIZE;
/// Buffers that are kept to be used again.
const SPARE_MAX: usize = 4;
/// Bytes of writes under way at most.
const BYTES_MAX: usize = 4 << 20;
/// Writes under way at most, where free pages are scattered and writes are small.
const WRITES_MAX: usize = 32;
/// Other tasks get a turn after so many pages, about a tenth of a millisecond.
const YIELD_PAGES: u64 = 16;
/// The same where pages are compressed.
const YIELD_COMPRESSED: u64 = 2;

#[derive(Default)]
struct State {
    writes: usize,
    bytes: usize,
    error: Option<StoreError>,
    spare: Vec<IoBuf>,
    /// How long the writes took that have ended since this was asked for.
    took: Duration,
}

#[derive(Default)]
struct Landing {
    state: Mutex<State>,
    landed: Event,
}

/// Writes under way.
pub(crate) struct Flight {
    shared: Arc<Shared>,
    allocation: Arc<Allocation>,
    landing: Arc<Landing>,
}

impl Flight {
    pub(crate) fn new(shared: Arc<Shared>, allocation: Arc<Allocation>) -> Self {
        Flight { shared, allocation, landing: Arc::default() }
    }

    /// Starts a write of so many pages as soon as there are few enough under way. Reports the error of any earlier one.
    pub(crate) async fn write(&mut self, start: u64, pages: u64, buf: IoBuf) -> Result<()> {
        let bytes = buf.len();
        self.wait_until(|state| state.writes == 0 || state.writes < WRITES_MAX && state.bytes + bytes <= BYTES_MAX)
            .await?;
        {
            let mut state = self.landing.state.lock();
            state.writes += 1;
            state.bytes += bytes;
        }
        let (shared, allocation, landing) = (self.shared.clone(), self.allocation.clone(), self.landing.clone());
        let write = async move {
            let begun = shared.env.clock.monotonic();
            let written = shared.file.write(start, pages, buf).await;
            drop(allocation);
            let mut state = landing.state.lock();
            state.took += shared.env.clock.monotonic() - begun;
            state.writes -= 1;
            state.bytes -= bytes;
            match written {
                // Those of large values are of other sizes, and many; of a full batch the next page did not fit.
                Ok(buf) if is_full(buf.len()) && state.spare.len() < SPARE_MAX => state.spare.push(buf),
                Ok(_) => {}
                Err(error) => drop(state.error.get_or_insert(error)),
            }
            drop(state);
            landing.landed.notify(usize::MAX);
        };
        self.shared.env.spawner.spawn("store-write", Box::pin(write));
        Ok(())
    }

    /// How long the writes took that have ended since the last call.
    fn take_time(&self) -> Duration {
        std::mem::take(&mut self.landing.state.lock().took)
    }

    /// Waits for the last write.
    pub(crate) async fn land(&mut self) -> Result<()> {
        self.wait_until(|state| state.writes == 0).await
    }

    async fn wait_until(&self, ready: impl Fn(&State) -> bool) -> Result<()> {
        loop {
            let listener = self.landing.landed.listen();
            {
                let state = self.landing.state.lock();
                if let Some(error) = &state.error {
                    return Err(error.clone());
                }
                if ready(&state) {
                    return Ok(());
                }
            }
            listener.await;
        }
    }

    fn buffer(&self, size: usize) -> IoBuf {
        let mut buf = self.landing.state.lock().spare.pop().unwrap_or_default();
        buf.resize(size);
        buf
    }
}

/// Whether a write is of a batch that was full.
fn is_full(bytes: usize) -> bool {
    bytes <= BATCH_BYTES && bytes + PAGE_SIZE > BATCH_BYTES
}

/// Gives places to pages of a new generation one after the other, neighbours as far as possible.
pub(crate) struct PageWriter {
    shared: Arc<Shared>,
    allocation: Arc<Allocation>,
    flight: Flight,
    generation: u64,
    pacer: Option<Arc<Pacer>>,
    /// Of the leaves and values to come.
    compression: Compression,
    compressor: Compressor,
    /// The page that is filled, if it is to be compressed.
    page: Vec<u8>,
    /// Blocks that `buf` is the memory of, if it has any.
    run: Run,
    buf: IoBuf,
    /// Blocks of the run that are filled, and pages in them.
    used: u64,
    pages: u64,
    since_yield: u64,
    /// Of writes after which there was no rest yet.
    unrested: Duration,
}

impl PageWriter {
    pub(super) fn new(shared: Arc<Shared>, generation: u64, pacer: Option<Arc<Pacer>>, pass: Pass) -> Self {
        let allocation = Allocation::new(pass);
        let flight = Flight::new(shared.clone(), allocation.clone());
        PageWriter {
            shared,
            allocation,
            flight,
            generation,
            pacer,
            compression: Compression::None,
            compressor: Compressor::default(),
            page: Vec::new(),
            run: Run::new(0, 0),
            buf: IoBuf::new(),
            used: 0,
            pages: 0,
            since_yield: 0,
            unrested: Duration::ZERO,
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// How leaves and values are written from now on.
    pub(super) fn set_compression(&mut self, compression: Compression) {
        self.compression = compression;
    }

    /// The memory of a page to be filled, and then handed over to [`PageWriter::end`].
    pub(super) async fn begin(&mut self, kind: PageKind) -> Result<&mut [u8]> {
        if self.is_compressed(kind) {
            self.page.resize(PAGE_SIZE, 0);
            return Ok(&mut self.page);
        }
        self.reserve(PAGE_BLOCKS.into()).await?;
        Ok(self.next_blocks(PAGE_BLOCKS).1)
    }

    /// Seals the page that is filled and gives it its place. If it is `warm`, readers will want it soon.
    pub(super) async fn end(&mut self, header: &Header, warm: bool) -> Result<PageRef> {
        let at = if self.is_compressed(header.kind) {
            let mut page = std::mem::take(&mut self.page);
            let placed = self.place(header, &mut page).await;
            self.page = page;
            placed?
        } else {
            let (at, memory) = self.next_blocks(PAGE_BLOCKS);
            seal(memory, at, header);
            at
        };
        if warm {
            let filled = if self.is_compressed(header.kind) { &self.page[..] } else { self.next_blocks(PAGE_BLOCKS).1 };
            let page = Page::sealed(memory::copy_of(filled));
            self.shared.cache.insert(at, page, header.kind);
        }
        self.used += at.run().len;
        self.pages += 1;
        self.count(1).await;
        Ok(at)
    }

    fn is_compressed(&self, kind: PageKind) -> bool {
        self.compression != Compression::None && kind == PageKind::Leaf
    }

    /// Puts a page that was filled beside the buffer into it, compressed if that makes it shorter.
    async fn place(&mut self, header: &Header, page: &mut [u8]) -> Result<PageRef> {
        let blocks = self.compressor.compress(self.compression, page).unwrap_or(PAGE_BLOCKS);
        self.reserve(blocks.into()).await?;
        let at = self.next_blocks(blocks).0;
        let start = self.used as usize * BLOCK_SIZE;
        self.compressor.seal_or_copy(&mut self.buf[start..start + at.bytes()], page, at, header);
        Ok(at)
    }

    /// Makes sure that there are so many blocks to be filled.
    async fn reserve(&mut self, blocks: u64) -> Result<()> {
        if self.run.len - self.used < blocks {
            self.write_used().await?;
            self.allocation.give_back(std::mem::replace(&mut self.run, Run::new(0, 0)));
            self.run = self.shared.allocate(blocks, BATCH_BLOCKS).await?;
            self.allocation.add(self.run);
        }
        if self.buf.is_empty() {
            self.buf = self.flight.buffer(self.run.len as usize * BLOCK_SIZE);
        }
        Ok(())
    }

    /// The next page of so many blocks that were reserved, and its memory.
    fn next_blocks(&mut self, blocks: u8) -> (PageRef, &mut [u8]) {
        let at = PageRef { blocks, ..PageRef::plain(self.run.start + self.used, self.generation) };
        let start = self.used as usize * BLOCK_SIZE;
        (at, &mut self.buf[start..start + at.bytes()])
    }

    /// Whole pages for the caller to fill, in at most so many runs.
    pub(crate) async fn allocate(&mut self, pages: u64, runs: usize) -> Result<Vec<Run>> {
        self.shared.allocate_in_runs(pages, runs, &self.allocation).await
    }

    /// Writes pages that came from [`PageWriter::allocate`], and that are counted already.
    pub(crate) async fn write(&mut self, start: u64, pages: u64, buf: IoBuf) -> Result<()> {
        self.rest().await?;
        self.flight.write(start, pages, buf).await
    }

    /// Leaves the disk to others for as long as the last writes took, if they want it.
    async fn rest(&mut self) -> Result<()> {
        let Some(pacer) = self.pacer.clone().filter(|pacer| pacer.is_considerate(&*self.shared.env.clock)) else {
            // What was written in a hurry is not made up for later.
            self.flight.take_time();
            self.unrested = Duration::ZERO;
            return Ok(());
        };
        self.flight.land().await?;
        self.unrested += self.flight.take_time();
        pacer.rest(&*self.shared.env.clock, &mut self.unrested).await;
        Ok(())
    }

    /// Gives back what came from [`PageWriter::allocate`] and is not needed.
    pub(crate) fn give_back(&self, run: Run) {
        self.allocation.give_back(run);
    }

    /// Fills and seals a page of a value at the beginning of some blocks, which are those from `number` on.
    pub(crate) fn put_value(&mut self, blocks: &mut [u8], number: u64, header: Header, payload: &[u8]) -> PageRef {
        let plain = PageRef::plain(number, self.generation);
        if self.compression == Compression::None {
            let memory = &mut blocks[..PAGE_SIZE];
            let header = fill_payload(memory, header, payload);
            seal(memory, plain, &header);
            return plain;
        }
        self.page.resize(PAGE_SIZE, 0);
        let header = fill_payload(&mut self.page, header, payload);
        let compressed = self.compressor.compress(self.compression, &self.page);
        let at = PageRef { blocks: compressed.unwrap_or(PAGE_BLOCKS), ..plain };
        self.compressor.seal_or_copy(&mut blocks[..at.bytes()], &mut self.page, at, &header);
        at
    }

    /// Pages were filled, or read past this writer: lets others run, keeps to the rate.
    pub(crate) async fn count(&mut self, pages: u64) {
        self.since_yield += pages;
        let most = if self.compression == Compression::None { YIELD_PAGES } else { YIELD_COMPRESSED };
        if self.since_yield >= most {
            let pages = std::mem::take(&mut self.since_yield);
            futures_lite::future::yield_now().await;
            if let Some(pacer) = &self.pacer {
                pacer.pace(&*self.shared.env.clock, pages).await;
            }
        }
    }

    /// Every page filled so far is in the file when this returns.
    pub(super) async fn settle(&mut self) -> Result<()> {
        self.write_used().await?;
        self.flight.land().await
    }

    /// As [`PageWriter::settle`]; from then on the pages belong to a state, and blocks not used are free. The gate stays
    /// closed as long as the caller keeps what it is given.
    pub(super) async fn finish(mut self) -> Result<Arc<Allocation>> {
        self.settle().await?;
        self.allocation.keep();
        self.shared.space.lock().release(self.run);
        Ok(self.allocation)
    }

    /// Writes what of the buffer is filled; the rest of the run stays reserved, without memory.
    async fn write_used(&mut self) -> Result<()> {
        let (used, pages) = (std::mem::take(&mut self.used), std::mem::take(&mut self.pages));
        if used == 0 {
            return Ok(());
        }
        let mut buf = std::mem::take(&mut self.buf);
        buf.resize(used as usize * BLOCK_SIZE);
        let start = self.run.start;
        self.run = Run::new(start + used, self.run.len - used);
        self.rest().await?;
        self.flight.write(start, pages, buf).await
    }
}
