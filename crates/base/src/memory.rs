//! Memory that a connection takes, counted where it is allocated.
//!
//! The program's allocator says [`allocated`] and [`freed`] of everything; the difference is a thread's *balance*. A
//! connection's future is a [`Counted`]: by what the balance changes while it is polled its [`Usage`] changes, and the
//! [`Total`] of all usages. What is allocated for the engine as a whole (pages, versions of rows) has bounds of its own and is
//! made inside [`uncounted`]. Statements ask [`check`] wherever they may have taken much: at each batch of rows, at each
//! function's result, while a text is read. That costs a comparison until another chunk has been taken.
//!
//! In a program with another allocator (one that embeds the database, tests of parts) nothing is counted, and no limit is met.
//!
//! # Invariants
//! - Outside a poll of a [`Counted`] future nothing is added to a usage.
//! - What one connection allocates and another thread frees stays in its usage; [`Usage::settle`] takes such drift back.
//! - A connection that ends takes what is left of its usage out of the total.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use crate::{SqlError, codes};

/// `connection_memory_chunk_size`, in bytes, if nothing else is said.
pub const CHUNK_BYTES: u64 = 8192;

thread_local! {
    /// Bytes that this thread has allocated, less those that it has freed.
    static BALANCE: Cell<i64> = const { Cell::new(0) };
    /// The balance from which on the limits are looked at again.
    static NEXT_LOOK: Cell<i64> = const { Cell::new(i64::MAX) };
    /// Whose future is polled.
    static CURRENT: RefCell<Option<Polled>> = const { RefCell::new(None) };
}

/// To be called by the program's allocator. (Release builds inline it by LTO; in others this crate is optimized, and the allocator's is not.)
pub fn allocated(bytes: usize) {
    BALANCE.with(|balance| balance.set(balance.get().wrapping_add(bytes as i64)));
}

/// To be called by the program's allocator.
pub fn freed(bytes: usize) {
    BALANCE.with(|balance| balance.set(balance.get().wrapping_sub(bytes as i64)));
}

/// What all connections take together.
#[derive(Debug)]
pub struct Total {
    used: AtomicI64,
    limit: AtomicU64,
    chunk: AtomicU64,
}

impl Default for Total {
    fn default() -> Self {
        Total { used: AtomicI64::new(0), limit: AtomicU64::new(u64::MAX), chunk: AtomicU64::new(CHUNK_BYTES) }
    }
}

impl Total {
    /// Bytes that connections have.
    pub fn used(&self) -> u64 {
        u64::try_from(self.used.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// The most bytes that they may have.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// How many bytes each may take before it counts them here, and before its limits are looked at.
    pub fn set_chunk(&self, bytes: u64) {
        self.chunk.store(bytes, Ordering::Relaxed);
    }
}

/// What one connection takes.
#[derive(Debug)]
pub struct Usage {
    used: AtomicI64,
    /// What of `used` has been added to the total.
    reported: AtomicI64,
    limit: AtomicU64,
    /// It is bound by the total's limit too.
    shares_total: AtomicBool,
    /// What has ended a statement of it.
    exceeded: OnceLock<SqlError>,
    total: Arc<Total>,
}

impl Usage {
    /// Without a limit.
    pub fn new(total: Arc<Total>) -> Arc<Self> {
        Arc::new(Usage {
            used: AtomicI64::new(0),
            reported: AtomicI64::new(0),
            limit: AtomicU64::new(u64::MAX),
            shares_total: AtomicBool::new(false),
            exceeded: OnceLock::new(),
            total,
        })
    }

    /// Bytes that the connection had when its future was last left or looked at.
    pub fn used(&self) -> u64 {
        u64::try_from(self.used.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// The most bytes that it may have, and whether the limit of all connections is its too.
    pub fn set_limit(&self, bytes: u64, shares_total: bool) {
        self.limit.store(bytes, Ordering::Relaxed);
        self.shares_total.store(shares_total, Ordering::Relaxed);
    }

    /// Whether a limit has ended a statement: the connection ends too, as the error says.
    pub fn exceeded(&self) -> bool {
        self.exceeded.get().is_some()
    }

    /// Whether what is counted, in the connection's own future, is further from `bytes` than `by`, in either direction.
    pub fn is_far_from(&self, bytes: u64, by: u64) -> bool {
        take_balance();
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.used.load(Ordering::Relaxed).abs_diff(bytes) > by
    }

    /// Called in the connection's own future where it is known what it has, in bytes: what it has allocated for others, or freed of
    /// theirs, is not counted any more.
    pub fn settle(&self, bytes: u64) {
        take_balance();
        self.used.store(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
        self.report();
    }

    fn add(&self, bytes: i64) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        self.report();
    }

    /// Tells the total, if it is by more than a chunk.
    fn report(&self) {
        let used = self.used.load(Ordering::Relaxed);
        let unreported = used - self.reported.load(Ordering::Relaxed);
        if unreported.unsigned_abs() >= self.total.chunk.load(Ordering::Relaxed).max(1) {
            self.reported.store(used, Ordering::Relaxed);
            self.total.used.fetch_add(unreported, Ordering::Relaxed);
        }
    }

    /// The same, where it is a question.
    fn has_room(&self, bytes: u64) -> bool {
        let is_within = |used: u64, limit: &AtomicU64| used.saturating_add(bytes) <= limit.load(Ordering::Relaxed);
        let shares_total = self.shares_total.load(Ordering::Relaxed);
        is_within(self.used(), &self.limit) && (!shares_total || is_within(self.total.used(), &self.total.limit))
    }

    /// Whether another `bytes` are within the limits.
    fn allows(&self, bytes: u64) -> Result<(), SqlError> {
        // A statement that has met a limit does not go on because it has freed something meanwhile.
        if let Some(error) = self.exceeded.get() {
            return Err(error.clone());
        }
        let (used, limit) = (self.used().saturating_add(bytes), self.limit.load(Ordering::Relaxed));
        let error = if used > limit {
            let what = format!("Connection memory limit {limit} bytes exceeded. Consumed {used} bytes.");
            SqlError::new(codes::CONNECTION_MEMORY_LIMIT, format!("Connection closed. {what}"))
        } else {
            let (all, limit) = (self.total.used().saturating_add(bytes), self.total.limit.load(Ordering::Relaxed));
            if all <= limit || !self.shares_total.load(Ordering::Relaxed) {
                return Ok(());
            }
            let what = format!("Global connection memory limit {limit} bytes exceeded. Consumed {all} bytes.");
            SqlError::new(codes::GLOBAL_CONNECTION_MEMORY_LIMIT, format!("Connection closed. {what}"))
        };
        Err(self.exceeded.get_or_init(|| error).clone())
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        self.total.used.fetch_sub(*self.reported.get_mut(), Ordering::Relaxed);
    }
}

/// The connection whose future a thread polls.
struct Polled {
    usage: Arc<Usage>,
    /// The balance up to which the usage knows it.
    known: i64,
}

/// Adds to the usage what it does not know yet.
fn take_balance() {
    CURRENT.with_borrow_mut(|current| {
        if let Some(polled) = current {
            let balance = BALANCE.get();
            polled.usage.add(balance - polled.known);
            polled.known = balance;
        }
    });
}

/// Bytes that the connection has whose future is polled; 0 outside of one.
pub fn now() -> u64 {
    take_balance();
    CURRENT.with_borrow(|current| current.as_ref().map_or(0, |polled| polled.usage.used()))
}

/// Where a statement may have taken memory.
///
/// # Errors
/// 4082 or 4081 if the connection, or all of them, have more than they may; the connection is to be closed.
pub fn check() -> Result<(), SqlError> {
    if BALANCE.get() < NEXT_LOOK.get() { Ok(()) } else { look(0) }
}

/// As [`check`], before so many bytes are taken where nothing can be asked.
///
/// # Errors
/// As [`check`].
pub fn check_more(bytes: u64) -> Result<(), SqlError> {
    if bytes < CHUNK_BYTES { check() } else { look(bytes) }
}

/// Whether the connection, and all of them, may have so many bytes more.
pub fn has_room(bytes: u64) -> bool {
    take_balance();
    CURRENT.with_borrow(|current| current.as_ref().is_none_or(|polled| polled.usage.has_room(bytes)))
}

/// Before `more` is added to a vector: as long as it has to grow for that, both that which it has and the new one are there.
///
/// # Errors
/// As [`check`].
#[inline]
pub fn check_room<T>(vector: &Vec<T>, more: usize) -> Result<(), SqlError> {
    if vector.capacity() - vector.len() >= more {
        return check();
    }
    let grown = (vector.capacity() * 2).max(vector.len() + more);
    check_more(grown.saturating_mul(size_of::<T>()) as u64)
}

#[cold]
fn look(more: u64) -> Result<(), SqlError> {
    take_balance();
    let usage = CURRENT.with_borrow(|current| current.as_ref().map(|polled| polled.usage.clone()));
    let Some(usage) = usage else { return Ok(()) };
    NEXT_LOOK.set(i64::MIN);
    usage.allows(more)?;
    NEXT_LOOK.set(BALANCE.get().saturating_add(usage.total.chunk.load(Ordering::Relaxed) as i64));
    Ok(())
}

/// Puts the balance back, whatever was allocated.
struct Balanced(i64);

impl Drop for Balanced {
    fn drop(&mut self) {
        BALANCE.set(self.0);
    }
}

/// Calls without counting what is allocated and freed: it belongs to all.
pub fn uncounted<R>(call: impl FnOnce() -> R) -> R {
    let _balanced = Balanced(BALANCE.get());
    call()
}

/// A future that allocates for all: see [`uncounted`].
pub struct Uncounted<F>(Pin<Box<F>>);

impl<F: Future> Uncounted<F> {
    /// Wraps a future.
    pub fn new(future: F) -> Self {
        Uncounted(Box::pin(future))
    }
}

impl<F: Future> Future for Uncounted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        uncounted(|| self.0.as_mut().poll(cx))
    }
}

/// A connection's future.
pub struct Counted<F> {
    usage: Arc<Usage>,
    future: Pin<Box<F>>,
}

impl<F: Future> Counted<F> {
    /// Wraps a future, to be counted in `usage`.
    pub fn new(usage: Arc<Usage>, future: F) -> Self {
        Counted { usage, future: Box::pin(future) }
    }
}

/// What was counted before a [`Counted`] future was polled goes on afterwards.
struct Entered {
    outer: Option<Polled>,
    next_look: i64,
}

impl Entered {
    fn new(usage: &Arc<Usage>) -> Self {
        take_balance();
        let known = BALANCE.get();
        let outer = CURRENT.replace(Some(Polled { usage: usage.clone(), known }));
        // What was taken up to now has been looked at, unless it came without a look.
        let over = usage.exceeded() || usage.used() > usage.limit.load(Ordering::Relaxed);
        let chunk = usage.total.chunk.load(Ordering::Relaxed) as i64;
        let next_look = NEXT_LOOK.replace(if over { i64::MIN } else { known.saturating_add(chunk) });
        Entered { outer, next_look }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        take_balance();
        let balance = BALANCE.get();
        NEXT_LOOK.set(self.next_look);
        let outer = self.outer.take().map(|outer| Polled { known: balance, ..outer });
        CURRENT.replace(outer);
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = Entered::new(&self.usage);
        self.future.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn polled(usage: &Arc<Usage>, call: impl FnMut()) {
        let mut call = call;
        let mut future = Counted::new(usage.clone(), async move { call() });
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(Pin::new(&mut future).poll(&mut cx).is_ready());
    }

    #[test]
    fn what_a_future_takes_is_its_own() {
        let total = Arc::new(Total::default());
        let (a, b) = (Usage::new(total.clone()), Usage::new(total.clone()));
        polled(&a, || allocated(5 * MIB));
        polled(&b, || {
            allocated(2 * MIB);
            polled(&a, || freed(MIB));
            uncounted(|| allocated(7 * MIB));
        });
        allocated(MIB);
        assert_eq!((a.used(), b.used(), total.used()), (4 << 20, 2 << 20, 6 << 20));
        drop(b);
        assert_eq!(total.used(), 4 << 20);
        polled(&a, || {
            allocated(MIB);
            assert!(a.is_far_from(100, 1 << 20) && !a.is_far_from(4 << 20, 1 << 20));
            a.settle(100);
            allocated(MIB);
        });
        assert_eq!((a.used(), total.used()), (100 + MIB as u64, 100 + MIB as u64));
    }

    #[test]
    fn the_limits_end_what_goes_beyond_them() {
        let total = Arc::new(Total::default());
        let (a, b) = (Usage::new(total.clone()), Usage::new(total.clone()));
        a.set_limit(3 << 20, true);
        let number = |result: Result<(), SqlError>| result.err().map(|error| error.code);
        polled(&a, || {
            allocated(2 * MIB);
            assert_eq!(number(check()), None);
            assert_eq!(number(check_more(2 << 20)), Some(4082));
            allocated(2 * MIB);
            assert_eq!(number(check()), Some(4082));
        });
        assert!(a.exceeded());
        polled(&a, || assert_eq!(number(check()), Some(4082)));
        total.set_limit(4 << 20);
        polled(&b, || {
            allocated(MIB);
            assert_eq!(number(check()), None, "the total is not its limit");
            b.set_limit(u64::MAX, true);
            allocated(MIB);
            assert_eq!(number(check()), Some(4081));
        });
    }
}
