//! Ranges of keys that are grouped side by side.
//!
//! ```text
//!   ranges of the access, cut at separators of the tree:   | 0 | 1 | 2 | 3 | … |
//!   the statement's own task, and helpers:                 each takes the next part that is left, again and again
//!   groups of the parts, in their order ──> groups of all
//! ```
//!
//! # Invariants
//! - Helpers are as many as there are other processors, for all statements together: what finds none goes on alone.
//! - A helper ends when the statement ends, however that comes about.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use base::SqlError;
use engine::{Direction, KeyRange, ReaderPlace, Rows, Snapshot};
use event_listener::Event;
use io::{Env, ThreadTurn};
use parking_lot::Mutex;

use crate::exec::batch::BATCH_ROWS;
use crate::exec::context::ExecContext;
use crate::exec::image::grouping::{ImageGroup, ImageGrouping, ImageGroups};

/// Scans of fewer rows are not shared.
const SHARED_FROM: f64 = 20_000.0;
/// A range is cut into so many parts for each task, so that all end at about the same time.
const PARTS_PER_TASK: usize = 8;

/// What the tasks of one statement share.
struct Shared {
    grouping: Arc<ImageGrouping>,
    snapshot: Snapshot,
    index: usize,
    parts: Vec<KeyRange>,
    /// The first part that no task has taken.
    next: AtomicUsize,
    /// Bytes that the groups of all parts take, and may take.
    used: AtomicUsize,
    bytes: usize,
    ended: AtomicBool,
    results: Mutex<Vec<Option<ImageGroups>>>,
    /// What went wrong; `None` in it means that values have to be made.
    failure: Mutex<Option<Option<SqlError>>>,
    helpers: AtomicUsize,
    helper_ended: Event,
}

/// Ends the helpers.
struct Ends(Arc<Shared>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Relaxed);
    }
}

/// A helper, with its place among those of all statements.
struct Helper {
    shared: Arc<Shared>,
    _place: ReaderPlace,
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.shared.helpers.fetch_sub(1, Ordering::Release);
        self.shared.helper_ended.notify(usize::MAX);
    }
}

/// The groups of the ranges of an index, of which about so many `rows` are read; `None` if values have to be made.
pub(crate) async fn group_parts(
    grouping: Arc<ImageGrouping>,
    snapshot: Snapshot,
    (index, ranges): (usize, Vec<KeyRange>),
    rows: f64,
    context: &ExecContext<'_>,
) -> Result<Option<Vec<ImageGroup>>, SqlError> {
    let processors = context.env.spawner.parallelism();
    let is_shared = rows >= SHARED_FROM && grouping.is_divisible() && processors > 1;
    let parts = if is_shared { cut(&snapshot, index, ranges, processors * PARTS_PER_TASK).await? } else { ranges };
    let shared = Arc::new(Shared {
        results: Mutex::new(parts.iter().map(|_| None).collect()),
        grouping: grouping.clone(),
        snapshot,
        index,
        parts,
        next: AtomicUsize::new(0),
        used: AtomicUsize::new(0),
        bytes: context.limits.table_bytes,
        ended: AtomicBool::new(false),
        failure: Mutex::new(None),
        helpers: AtomicUsize::new(0),
        helper_ended: Event::new(),
    });
    let _ends = Ends(shared.clone());
    if is_shared {
        hire(&shared, processors - 1, context.env);
    }
    context.unless_cancelled(work(&shared, context.env)).await?;
    let helpers_end = async {
        loop {
            let listener = shared.helper_ended.listen();
            if shared.helpers.load(Ordering::Acquire) == 0 {
                return Ok(());
            }
            listener.await;
        }
    };
    context.unless_cancelled(helpers_end).await?;
    match shared.failure.lock().take() {
        Some(Some(error)) => return Err(error),
        Some(None) => return Ok(None),
        None => {}
    }
    let results = std::mem::take(&mut *shared.results.lock());
    let mut groups: Option<ImageGroups> = None;
    for part in results {
        // A helper that did not come to its end has said why, unless it panicked.
        let part = part.ok_or_else(|| SqlError::unknown("a part of a table was not read"))?;
        let Some(groups) = &mut groups else {
            groups = Some(part);
            continue;
        };
        if !grouping.merge(groups, part, context.limits.table_bytes)? {
            return Ok(None);
        }
    }
    Ok(Some(groups.unwrap_or_default().list))
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

/// Starts helpers, as many as there is room for.
fn hire(shared: &Arc<Shared>, most: usize, env: &Env) {
    for _ in 0..most.min(shared.parts.len().saturating_sub(1)) {
        let Some(place) = shared.snapshot.reader(most) else { return };
        shared.helpers.fetch_add(1, Ordering::Relaxed);
        let (helper, env_of_task) = (Helper { shared: shared.clone(), _place: place }, env.clone());
        let task = async move {
            let shared = helper.shared.clone();
            if let Err(error) = work(&shared, &env_of_task).await {
                shared.fail(Some(error));
            }
        };
        env.spawner.spawn("scan", Box::pin(task));
    }
}

impl Shared {
    /// Nothing more is to be done.
    fn fail(&self, error: Option<SqlError>) {
        self.ended.store(true, Ordering::Relaxed);
        self.failure.lock().get_or_insert(error);
    }
}

/// Takes parts until there are no more.
async fn work(shared: &Shared, env: &Env) -> Result<(), SqlError> {
    let turn = ThreadTurn::default();
    let mut rows = Rows::default();
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(range) = shared.parts.get(number) else { return Ok(()) };
        let mut scan = shared.snapshot.scan(shared.index, range.clone(), Direction::Forward);
        let mut groups = ImageGroups::default();
        while scan.next_rows(&mut rows, BATCH_ROWS).await? {
            if shared.ended.load(Ordering::Relaxed) {
                return Ok(());
            }
            let before = groups.bytes();
            let is_done = shared.grouping.add(&rows, &mut groups, shared.bytes)?;
            let more = groups.bytes() - before;
            if !is_done || shared.used.fetch_add(more, Ordering::Relaxed) + more > shared.bytes {
                shared.fail(None);
                return Ok(());
            }
            turn.pass(&*env.clock).await;
        }
        shared.results.lock()[number] = Some(groups);
    }
}
