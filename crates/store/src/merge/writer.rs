//! Pages on their way to the file: collected in large buffers over neighbouring pages, some writes under way at once.
//!
//! Writes run in tasks of their own. Each owns the [`Allocation`] that its pages belong to, so a merge that is given up
//! gives its pages back when its last write has ended, not before.

use std::sync::Arc;

use event_listener::Event;
use io::IoBuf;
use parking_lot::Mutex;

use base::PageNumber;
use bytes::Bytes;

use crate::page::{PAGE_SIZE, Page, PageKind, PageRef};
use crate::shared::{Allocation, Pass, Shared};
use crate::space::Run;
use crate::{Result, StoreError};

use super::Pacer;

/// Pages of a write (1 MiB), where so many neighbours are free.
const BATCH_PAGES: u64 = 64;
const BATCH_BYTES: usize = BATCH_PAGES as usize * PAGE_SIZE;
/// Buffers that are kept to be used again.
const SPARE_MAX: usize = 4;
/// Pages of writes under way at most (4 MiB).
const PAGES_MAX: u64 = 256;
/// Writes under way at most, where free pages are scattered and writes are small.
const WRITES_MAX: usize = 32;
/// Other tasks get a turn after so many pages, about a tenth of a millisecond.
const YIELD_PAGES: u64 = 16;

#[derive(Default)]
struct State {
    writes: usize,
    pages: u64,
    error: Option<StoreError>,
    spare: Vec<IoBuf>,
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

    /// Starts a write as soon as there are few enough under way. Reports the error of any earlier one.
    pub(crate) async fn write(&mut self, start: u64, buf: IoBuf) -> Result<()> {
        let pages = (buf.len() / PAGE_SIZE) as u64;
        self.wait_until(|state| state.writes == 0 || state.writes < WRITES_MAX && state.pages + pages <= PAGES_MAX)
            .await?;
        {
            let mut state = self.landing.state.lock();
            state.writes += 1;
            state.pages += pages;
        }
        let (shared, allocation, landing) = (self.shared.clone(), self.allocation.clone(), self.landing.clone());
        let write = async move {
            let written = shared.file.write(start, buf).await;
            drop(allocation);
            let mut state = landing.state.lock();
            state.writes -= 1;
            state.pages -= pages;
            match written {
                // Those of large values are of other sizes, and many.
                Ok(buf) if buf.len() == BATCH_BYTES && state.spare.len() < SPARE_MAX => state.spare.push(buf),
                Ok(_) => {}
                Err(error) => drop(state.error.get_or_insert(error)),
            }
            drop(state);
            landing.landed.notify(usize::MAX);
        };
        self.shared.env.spawner.spawn("store-write", Box::pin(write));
        Ok(())
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

/// Gives out pages of new generations one after the other, neighbours as far as possible.
pub(crate) struct PageWriter {
    shared: Arc<Shared>,
    allocation: Arc<Allocation>,
    flight: Flight,
    generation: u64,
    pacer: Option<Arc<Pacer>>,
    /// Pages that `buf` is the memory of.
    run: Run,
    buf: IoBuf,
    used: u64,
    since_yield: u64,
}

impl PageWriter {
    pub(super) fn new(shared: Arc<Shared>, generation: u64, pacer: Option<Arc<Pacer>>, pass: Pass) -> Self {
        let allocation = Allocation::new(pass);
        let flight = Flight::new(shared.clone(), allocation.clone());
        let (run, buf) = (Run::new(0, 0), IoBuf::new());
        PageWriter { shared, allocation, flight, generation, pacer, run, buf, used: 0, since_yield: 0 }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Makes sure that there is a page to be filled.
    pub(super) async fn reserve(&mut self) -> Result<()> {
        if self.used < self.run.len {
            return Ok(());
        }
        self.write_used().await?;
        self.run = self.shared.allocate(BATCH_PAGES).await?;
        self.allocation.add(self.run);
        self.buf = self.flight.buffer(self.run.len as usize * PAGE_SIZE);
        Ok(())
    }

    /// The page that was reserved, and its memory.
    pub(super) fn page(&mut self) -> (PageRef, &mut [u8]) {
        let number = PageNumber(self.run.start + self.used);
        let start = self.used as usize * PAGE_SIZE;
        (PageRef { number, generation: self.generation }, &mut self.buf[start..start + PAGE_SIZE])
    }

    /// The page that was reserved is filled and sealed. If it is `warm`, readers will want it soon.
    pub(super) async fn filled(&mut self, kind: PageKind, warm: bool) -> Result<()> {
        if warm {
            let (at, memory) = self.page();
            let page = Page::sealed(Bytes::copy_from_slice(memory));
            self.shared.cache.insert(at, page, kind);
        }
        self.used += 1;
        self.count(1).await;
        Ok(())
    }

    /// Pages for the caller to fill, in at most so many runs.
    pub(crate) async fn allocate(&mut self, pages: u64, runs: usize) -> Result<Vec<Run>> {
        self.shared.allocate_in_runs(pages, runs, &self.allocation).await
    }

    /// Writes pages that came from [`PageWriter::allocate`].
    pub(crate) async fn write(&mut self, start: u64, buf: IoBuf) -> Result<()> {
        let pages = (buf.len() / PAGE_SIZE) as u64;
        self.flight.write(start, buf).await?;
        self.count(pages).await;
        Ok(())
    }

    /// Pages were read or written past this writer: lets others run, keeps to the rate.
    pub(super) async fn count(&mut self, pages: u64) {
        self.since_yield += pages;
        if self.since_yield >= YIELD_PAGES {
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

    /// As [`PageWriter::settle`]; from then on the pages belong to a state, and those not used are free. The gate stays
    /// closed as long as the caller keeps what it is given.
    pub(super) async fn finish(mut self) -> Result<Arc<Allocation>> {
        self.settle().await?;
        self.allocation.keep();
        self.shared.space.lock().release(self.run);
        Ok(self.allocation)
    }

    async fn write_used(&mut self) -> Result<()> {
        let used = std::mem::take(&mut self.used);
        if used == 0 {
            return Ok(());
        }
        let mut buf = std::mem::take(&mut self.buf);
        buf.resize(used as usize * PAGE_SIZE);
        let start = self.run.start;
        self.run = Run::new(start + used, self.run.len - used);
        if self.run.len > 0 {
            self.buf = self.flight.buffer(self.run.len as usize * PAGE_SIZE);
        }
        self.flight.write(start, buf).await
    }
}
