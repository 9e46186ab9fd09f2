//! Ranges of keys that several tasks read side by side.
//!
//! ```text
//!   ranges of the access, cut at separators of the tree:   | 0 | 1 | 2 | 3 | … |
//!   the statement's own task, and helpers:                 each takes the next part that is left, again and again
//!   what the parts gave ──> the statement, in their order
//! ```
//!
//! # Invariants
//! - Helpers are as many as there are other processors, for all statements together: what finds none goes on alone.
//! - A helper ends when the statement ends, however that comes about.
//! - No task begins a part that is further ahead of what the statement has taken than [`Cut::ahead`] says: what was read and not taken is bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use base::SqlError;
use engine::{Direction, KeyRange, ReaderPlace, Rows, Snapshot};
use event_listener::Event;
use io::{Env, ThreadTurn};
use parking_lot::Mutex;

use crate::exec::batch::BATCH_ROWS;
use crate::exec::context::ExecContext;

/// Scans of fewer rows are not shared; where assertions are on there are short ones that are, so that tests with small tables meet it.
pub(crate) const SHARED_FROM: f64 = if cfg!(debug_assertions) { 200.0 } else { 20_000.0 };

/// What is done with the rows of a part.
pub(crate) trait PartWork: Send + Sync + 'static {
    /// What a part gives.
    type Given: Default + Send;

    /// Takes some rows in, which it may keep; false if it cannot be done like this in any part.
    fn take_in(&self, rows: &mut Rows, given: &mut Self::Given) -> Result<bool, SqlError>;
}

/// Into what a scan is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// So many parts at most.
    pub(crate) parts: usize,
    /// So many may be read before the first of them is taken.
    pub(crate) ahead: usize,
    /// The order of the rows.
    pub(crate) direction: Direction,
}

/// What comes next of the parts.
pub(crate) enum Next<G> {
    Part(G),
    End,
    /// Some task has found that it cannot be done like this.
    Impossible,
}

/// What the tasks of one statement share.
struct Shared<W: PartWork> {
    work: W,
    snapshot: Snapshot,
    index: usize,
    direction: Direction,
    /// In the order in which they are taken.
    parts: Vec<KeyRange>,
    ahead: usize,
    /// The first part that no task has begun.
    next: AtomicUsize,
    /// The first part that the statement has not taken.
    taken: AtomicUsize,
    ended: AtomicBool,
    /// What parts gave that were read and not taken.
    given: Mutex<Vec<Option<W::Given>>>,
    /// What went wrong; `None` in it: it cannot be done like this.
    failure: Mutex<Option<Option<SqlError>>>,
    helpers: AtomicUsize,
    /// A part was read, or taken, or a helper has ended.
    moved: Event,
}

/// Parts of a scan, to be taken in their order. Dropping it ends the helpers.
pub(crate) struct Parts<W: PartWork>(Arc<Shared<W>>);

impl<W: PartWork> Drop for Parts<W> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A helper, with its place among those of all statements.
struct Helper<W: PartWork> {
    shared: Arc<Shared<W>>,
    _place: ReaderPlace,
}

impl<W: PartWork> Drop for Helper<W> {
    fn drop(&mut self) {
        self.shared.helpers.fetch_sub(1, Ordering::Release);
        self.shared.moved.notify(usize::MAX);
    }
}

/// About so many rows are a part whose rows, or what becomes of them, wait to be taken.
const ROWS_OF_PART: f64 = if cfg!(debug_assertions) { 100.0 } else { 4096.0 };
/// Parts, of a table of any size.
const PARTS_MAX: f64 = 65_536.0;
/// Parts that each task may be ahead of the statement.
const AHEAD_PER_TASK: usize = 4;

impl Cut {
    /// Of a scan of about so many rows, whose parts are taken by one task and helped with by others.
    pub(crate) fn in_order(rows: f64, helpers: usize, direction: Direction) -> Self {
        let parts = (rows / ROWS_OF_PART).clamp(1.0, PARTS_MAX) as usize;
        Cut { parts, ahead: AHEAD_PER_TASK * (helpers + 1), direction }
    }
}

/// Places for helpers of a statement, as many as there is room for.
pub(crate) fn places(snapshot: &Snapshot, env: &Env) -> Vec<ReaderPlace> {
    let most = env.spawner.parallelism().saturating_sub(1);
    (0..most).map_while(|_| snapshot.reader(most)).collect()
}

impl<W: PartWork> Parts<W> {
    /// Cuts ranges of an index, which are ascending, and starts helpers, if there are places for them.
    pub(crate) async fn new(
        work: W,
        snapshot: Snapshot,
        (index, ranges): (usize, Vec<KeyRange>),
        how: Cut,
        (places, env): (Vec<ReaderPlace>, &Env),
    ) -> Result<Self, SqlError> {
        let mut parts = if how.parts > 1 { cut(&snapshot, index, ranges, how.parts).await? } else { ranges };
        if how.direction == Direction::Backward {
            parts.reverse();
        }
        let helpers = places.len().min(parts.len().saturating_sub(1));
        let shared = Arc::new(Shared {
            work,
            snapshot,
            index,
            direction: how.direction,
            ahead: how.ahead,
            next: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            given: Mutex::new(parts.iter().map(|_| None).collect()),
            parts,
            failure: Mutex::new(None),
            helpers: AtomicUsize::new(helpers),
            moved: Event::new(),
        });
        for place in places.into_iter().take(helpers) {
            let (helper, env_of_task) = (Helper { shared: shared.clone(), _place: place }, env.clone());
            let task = async move {
                let shared = helper.shared.clone();
                if let Err(error) = shared.help(&env_of_task).await {
                    shared.fail(Some(error));
                }
            };
            env.spawner.spawn("scan", Box::pin(task));
        }
        Ok(Parts(shared))
    }

    pub(crate) fn work(&self) -> &W {
        &self.0.work
    }

    /// What the next part gives. While it is being read by a helper, others are.
    pub(crate) async fn next(&self, context: &ExecContext<'_>) -> Result<Next<W::Given>, SqlError> {
        let shared = &self.0;
        loop {
            let listener = shared.moved.listen();
            let number = shared.taken.load(Ordering::Relaxed);
            let helpers = shared.helpers.load(Ordering::Acquire);
            if let Some(given) = shared.given.lock().get_mut(number).and_then(Option::take) {
                shared.taken.store(number + 1, Ordering::Relaxed);
                shared.moved.notify(usize::MAX);
                return Ok(Next::Part(given));
            }
            match shared.failure.lock().take() {
                Some(Some(error)) => return Err(error),
                Some(None) => return Ok(Next::Impossible),
                None if number == shared.parts.len() && helpers == 0 => return Ok(Next::End),
                None => {}
            }
            if let Some(number) = shared.begin() {
                context.unless_cancelled(shared.read(number, context.env)).await?;
            } else if helpers == 0 {
                // A helper that did not come to its end has said why, unless it panicked.
                return Err(SqlError::unknown("a part of a table was not read"));
            } else {
                let moved = async {
                    listener.await;
                    Ok(())
                };
                context.unless_cancelled(moved).await?;
            }
        }
    }
}

/// The ranges in parts, in their order.
async fn cut(snapshot: &Snapshot, index: usize, ranges: Vec<KeyRange>, most: usize) -> Result<Vec<KeyRange>, SqlError> {
    use std::ops::Bound::{Excluded, Included};
    let most = (most / ranges.len().max(1)).max(1);
    let mut parts = Vec::new();
    for range in ranges {
        let mut lower = range.lower.clone();
        for cut in snapshot.cuts(index, &range, most).await? {
            parts.push(KeyRange { lower, upper: Excluded(cut.clone()) });
            lower = Included(cut);
        }
        parts.push(KeyRange { lower, upper: range.upper });
    }
    Ok(parts)
}

impl<W: PartWork> Shared<W> {
    /// Nothing more is to be done.
    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.moved.notify(usize::MAX);
    }

    fn fail(&self, error: Option<SqlError>) {
        self.failure.lock().get_or_insert(error);
        self.end();
    }

    /// Takes a part to read, if there is one that is not too far ahead.
    fn begin(&self) -> Option<usize> {
        let most = self.taken.load(Ordering::Relaxed).saturating_add(self.ahead).min(self.parts.len());
        let after = |number: usize| (number < most).then_some(number + 1);
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after).ok()
    }

    /// Reads parts until there are no more.
    async fn help(&self, env: &Env) -> Result<(), SqlError> {
        loop {
            let listener = self.moved.listen();
            if self.ended.load(Ordering::Relaxed) || self.next.load(Ordering::Relaxed) >= self.parts.len() {
                return Ok(());
            }
            match self.begin() {
                Some(number) => self.read(number, env).await?,
                None => listener.await,
            }
        }
    }

    /// Reads a part.
    async fn read(&self, number: usize, env: &Env) -> Result<(), SqlError> {
        let (turn, mut rows) = (ThreadTurn::default(), Rows::default());
        let mut scan = self.snapshot.scan(self.index, self.parts[number].clone(), self.direction);
        let mut given = W::Given::default();
        while scan.next_rows(&mut rows, BATCH_ROWS).await? {
            if self.ended.load(Ordering::Relaxed) {
                return Ok(());
            }
            if !self.work.take_in(&mut rows, &mut given)? {
                self.fail(None);
                return Ok(());
            }
            turn.pass(&*env.clock).await;
        }
        self.given.lock()[number] = Some(given);
        self.moved.notify(usize::MAX);
        Ok(())
    }
}
