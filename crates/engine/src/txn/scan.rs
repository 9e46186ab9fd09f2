//! Scans: a range of an index in batches, with this transaction's own writes among the rows of everybody.
//!
//! # Locking scans
//! A batch is read, locked, and checked, in this order; `p` is the position, `k1 … kn` what was read:
//!
//! 1. Read the newest versions of up to `n` keys after `p`.
//! 2. REPEATABLE READ: lock the gap `(p, kn]`, or to the end of the range. It waits for inserts of others that are pending
//!    there. Now no key can join; if one has joined since step 1, read `(p, kn]` again.
//! 3. Lock row after row (behind an entry of a secondary index, the row of its clustered key). A row that was not
//!    ours before is read again, unless nothing at all was installed in the index since step 1: it may have changed,
//!    or be gone.
//!
//! What a secondary index holds is protected by the locks of the rows: whoever changes an entry has its row's lock.

use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;
use io::ThreadTurn;
use store::LeafRows;

use super::{Direction, Entry, KeyRange, LockStrength, LockWait, OwnCursor, ReadMode, Transaction};
use crate::catalog::Table;
use crate::error::Result;
use crate::lock::Acquired;
use crate::memtable::stamp::StampState;
use crate::memtable::{Key, Memtable};
use crate::read::{Found, Merged, Selector};
use crate::view::{Layers, ReadView};

/// Most rows that a locking scan reads ahead of its locks.
const LOCK_BATCH_ROWS: usize = 64;
/// Entries that [`Transaction::visit`] takes at once.
const VISITED_AT_ONCE: usize = 256;

/// A scan under way; see [`Transaction::scan`].
pub struct Scan {
    table: Arc<Table>,
    index_number: usize,
    index: IndexId,
    range: KeyRange,
    direction: Direction,
    mode: ReadMode,
    /// The last key that was dealt with.
    position: Option<Key>,
    ended: bool,
    cursor: Option<Merged>,
    /// The same for what this transaction has put away.
    own: OwnCursor,
    /// Taken from the cursor and not yet given.
    peeked: Option<Found>,
}

impl Scan {
    fn backward(&self) -> bool {
        self.direction == Direction::Backward
    }

    /// What is left of the range.
    fn rest(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let (lower, upper) = self.range.as_slices();
        match &self.position {
            None => (lower, upper),
            Some(key) if self.backward() => (lower, Bound::Excluded(key)),
            Some(key) => (Bound::Excluded(key), upper),
        }
    }

    /// The same, to be read by another scan.
    pub fn rest_range(&self) -> KeyRange {
        let (lower, upper) = self.rest();
        KeyRange { lower: lower.map(Bytes::copy_from_slice), upper: upper.map(Bytes::copy_from_slice) }
    }

    /// From the position to a key, that key included.
    fn rest_to<'a>(&'a self, last: &'a Key) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
        let (lower, upper) = self.rest();
        if self.backward() { (Bound::Included(last), upper) } else { (lower, Bound::Included(last)) }
    }

    pub(super) fn new(
        table: &Arc<Table>,
        index_number: usize,
        range: KeyRange,
        direction: Direction,
        mode: ReadMode,
    ) -> Scan {
        Scan {
            table: table.clone(),
            index_number,
            index: table.indexes[index_number].id,
            ended: range.is_empty(),
            range,
            direction,
            mode,
            position: None,
            cursor: None,
            own: OwnCursor::default(),
            peeked: None,
        }
    }

    /// Gives it a cursor over the rest of its range, on the layers that the view has now.
    fn attach(&mut self, view: &ReadView) {
        let layers = view.layers();
        if self.cursor.as_ref().is_none_or(|cursor| !Arc::ptr_eq(cursor.layers(), &layers)) {
            self.cursor = Some(self.open(layers.clone(), self.rest(), Selector::At(view.snapshot())));
            self.peeked = None;
        }
    }

    /// Replaces `rows` by the next ones that the view sees; false at the end.
    pub(super) async fn next_of_view(&mut self, view: &ReadView, rows: &mut Rows, max: usize) -> Result<bool> {
        rows.clear();
        if self.ended {
            return Ok(false);
        }
        let is_between = self.peeked.is_none();
        self.attach(view);
        let Some(cursor) = &mut self.cursor else { return Ok(false) };
        if is_between && let Some(leaf) = cursor.next_leaf().await? {
            self.position = leaf.len().checked_sub(1).map(|last| Key::new(leaf.key(last)));
            rows.leaf = Some(leaf);
            return Ok(true);
        }
        while rows.entries.len() < max {
            let peeked = self.peeked.take();
            let Some(found) = (if peeked.is_some() { peeked } else { cursor.next().await? }) else {
                self.ended = true;
                break;
            };
            push(&mut rows.entries, &found.key, found.value);
            self.position = Some(found.key);
        }
        Ok(!rows.is_empty())
    }

    fn open(&self, layers: Arc<Layers>, range: (Bound<&[u8]>, Bound<&[u8]>), selector: Selector) -> Merged {
        let (lower, upper) = (range.0.map(Bytes::copy_from_slice), range.1.map(Bytes::copy_from_slice));
        Merged::new(layers, self.index, lower, upper, self.direction, selector)
    }
}

/// Rows of a scan, in its order: of one leaf of the tree in one piece, or one by one.
#[derive(Default)]
pub struct Rows {
    leaf: Option<LeafRows>,
    /// If there is no leaf.
    entries: Vec<Entry>,
}

impl Rows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.leaf.as_ref().map_or(self.entries.len(), LeafRows::len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets their memory go.
    pub fn clear(&mut self) {
        self.leaf = None;
        self.entries.clear();
    }

    /// The key of one of them in the index that is read.
    #[inline]
    pub fn key(&self, row: usize) -> &[u8] {
        match &self.leaf {
            Some(leaf) => leaf.key(row),
            None => &self.entries[row].key,
        }
    }

    /// The row image, or the covering image for a secondary index.
    #[inline]
    pub fn value(&self, row: usize) -> &[u8] {
        match &self.leaf {
            Some(leaf) => leaf.value(row).unwrap_or_default(),
            None => &self.entries[row].value,
        }
    }

    /// The same, to be kept.
    #[inline]
    pub fn value_bytes(&self, row: usize) -> Bytes {
        match &self.leaf {
            Some(leaf) => leaf.value_bytes(row).unwrap_or_default(),
            None => self.entries[row].value.clone(),
        }
    }
}

/// A row that a locking scan has read, and not yet locked.
struct Candidate {
    found: Found,
    value: Bytes,
    own: bool,
}

impl Transaction {
    /// Begins a scan over a range of one index (position in `table.def.indexes`); reads and locks nothing yet. With a
    /// secondary index the entries' values are covering images, and locking reads lock the rows behind them too.
    pub fn scan(
        &mut self,
        table: &Arc<Table>,
        index_number: usize,
        range: KeyRange,
        direction: Direction,
        mode: ReadMode,
    ) -> Scan {
        Scan::new(table, index_number, range, direction, self.mode_here(mode))
    }

    /// All rows of a range that a consistent read sees, if they can be had at once: one leaf of the tree in memory has them, and nothing is over it. False
    /// says nothing of the range.
    pub fn rows_at_once(
        &mut self,
        table: &Arc<Table>,
        index_number: usize,
        range: &KeyRange,
        direction: Direction,
        rows: &mut Rows,
    ) -> Result<bool> {
        rows.clear();
        let index = table.indexes[index_number].id;
        if table.is_temporary() || self.writes.touches(index) || self.writes.touches(table.indexes[0].id) {
            return Ok(false);
        }
        self.check_active()?;
        self.open_view(table)?;
        self.session().cancel.check()?;
        let layers = self.view()?.layers();
        let bounds = range.as_slices();
        let is_over = |memtable: &Arc<Memtable>| {
            !memtable.large().is_empty() || memtable.with_tree(index, |tree| tree.has_any(bounds)).unwrap_or(false)
        };
        if range.is_empty() || layers.memtables.iter().any(is_over) {
            return Ok(range.is_empty());
        }
        let leaf = layers.roots.rows_of_cached_leaf(index, bounds, direction);
        rows.leaf = leaf.filter(LeafRows::are_inline);
        Ok(rows.leaf.is_some())
    }

    /// As [`Transaction::next_batch`], and a consistent read that has nothing to mix gives the rows of a leaf in one piece, which may
    /// be more than `max`.
    pub async fn next_rows(&mut self, scan: &mut Scan, rows: &mut Rows, max: usize) -> Result<bool> {
        rows.clear();
        let is_plain = scan.mode == ReadMode::Consistent
            && scan.table.temporary.is_none()
            && !self.writes.touches(scan.index)
            && !self.writes.touches(scan.table.indexes[0].id);
        if !is_plain {
            return self.next_batch(scan, &mut rows.entries, max).await;
        }
        self.check_active()?;
        self.open_view(&scan.table)?;
        self.session().cancel.check()?;
        let view = self.view()?.clone();
        scan.next_of_view(&view, rows, max.max(1)).await
    }

    /// Adds up to `max` entries to `out`; false at the end of the range, when nothing was added and nothing will be. Locking
    /// scans lock no rows that they do not give, so that a LIMIT locks what it needs.
    pub async fn next_batch(&mut self, scan: &mut Scan, out: &mut Vec<Entry>, max: usize) -> Result<bool> {
        self.check_active()?;
        if scan.ended {
            return Ok(false);
        }
        let before = out.len();
        let max = max.max(1);
        if let Some(rows) = &scan.table.temporary {
            self.session().cancel.check()?;
            rows.read(scan.index_number, scan.rest(), scan.direction, max, out);
            scan.ended = out.len() < before + max;
            scan.position = out[before..].last().map(|entry| entry.key.clone()).or(scan.position.take());
            return Ok(out.len() > before);
        }
        match scan.mode {
            ReadMode::Consistent => self.next_consistent(scan, out, max).await?,
            ReadMode::Locking { strength, wait } => {
                while out.len() == before && !scan.ended {
                    self.next_locking(scan, out, max, strength, wait).await?;
                }
            }
        }
        Ok(out.len() > before)
    }

    /// Shows all entries of a range as a consistent read sees them, and lets others have their turn.
    pub async fn visit(
        &mut self,
        table: &Arc<Table>,
        index_number: usize,
        range: KeyRange,
        mut show: impl FnMut(&Entry) -> Result<()> + Send,
    ) -> Result<()> {
        let turn = ThreadTurn::default();
        let mut scan = self.scan(table, index_number, range, Direction::Forward, ReadMode::Consistent);
        let mut batch = Vec::new();
        while self.next_batch(&mut scan, &mut batch, VISITED_AT_ONCE).await? {
            batch.iter().try_for_each(&mut show)?;
            batch.clear();
            turn.pass(&*self.core().env.clock).await;
        }
        Ok(())
    }

    async fn next_consistent(&mut self, scan: &mut Scan, out: &mut Vec<Entry>, max: usize) -> Result<()> {
        let enough = out.len() + max;
        self.open_view(&scan.table)?;
        self.session().cancel.check()?;
        scan.attach(self.view()?);
        let own = self.writes.touches(scan.index);
        while out.len() < enough {
            let Some(cursor) = scan.cursor.as_mut() else { break };
            if scan.peeked.is_none() {
                scan.peeked = cursor.next().await?;
            }
            if own && let Some((key, value)) = self.first_own(scan).await? {
                if scan.peeked.as_ref().is_some_and(|found| found.key == key) {
                    scan.peeked = None;
                }
                push(out, &key, value);
                scan.position = Some(key);
                continue;
            }
            let Some(found) = scan.peeked.clone() else {
                scan.ended = true;
                break;
            };
            if !self.is_outdated(scan, &found.key).await? {
                push(out, &found.key, found.value);
            }
            scan.peeked = None;
            scan.position = Some(found.key);
        }
        Ok(())
    }

    /// This transaction's own next write, if it comes before (or instead of) the next row of the others.
    async fn first_own(&self, scan: &mut Scan) -> Result<Option<(Key, Option<Bytes>)>> {
        let mut own = std::mem::take(&mut scan.own);
        let first = self.writes.first(&mut own, scan.index, scan.rest(), scan.backward()).await;
        scan.own = own;
        let first = first?;
        let is_first = |key: &Key| {
            let found = scan.peeked.as_ref();
            found.is_none_or(|found| if scan.backward() { *key >= found.key } else { *key <= found.key })
        };
        Ok(first.filter(|(key, _)| is_first(key)))
    }

    /// Whether the view's entry in a secondary index is of an older form of a row that this transaction has written. An entry of
    /// the present form is among the own writes, or as it was.
    async fn is_outdated(&self, scan: &Scan, key: &Key) -> Result<bool> {
        let rows = scan.table.indexes[0].id;
        if scan.index_number == 0 || !self.writes.touches(rows) {
            return Ok(false);
        }
        let row = scan.table.codec.clustered_key_of(scan.index_number, key)?;
        match self.writes.get(rows, row).await? {
            None => Ok(false),
            Some(None) => Ok(true),
            Some(Some(image)) => Ok(scan.table.codec.secondary_entry(scan.index_number, &image)?.0 != key.as_slice()),
        }
    }

    async fn next_locking(
        &mut self,
        scan: &mut Scan,
        out: &mut Vec<Entry>,
        max: usize,
        strength: LockStrength,
        wait: LockWait,
    ) -> Result<()> {
        self.session().cancel.check()?;
        let layers = self.core().views.layers().clone();
        let installs = layers.installs(scan.index);
        let mut own = std::mem::take(&mut scan.own);
        let most = max.min(LOCK_BATCH_ROWS);
        let (mut candidates, ended) = self.read_newest_range(scan, &mut own, scan.rest(), &layers, most).await?;
        scan.own = own;
        let last = candidates.last().map(|candidate| candidate.found.key.clone());
        let mut unchanged = true;
        if self.locks_gaps() {
            let range = match &last {
                Some(last) if !ended => scan.rest_to(last),
                _ => scan.rest(),
            };
            // It is locked up to the first pending insert, and that is waited for: then there is a rest to lock.
            let mut waited = false;
            while self.lock_gap(scan.index, range, strength, wait).await?.waited() {
                waited = true;
            }
            unchanged = self.unchanged_since(scan.index, &layers, installs);
            if waited || !unchanged {
                let layers = self.core().views.layers().clone();
                let own = &mut OwnCursor::default();
                candidates = self.read_newest_range(scan, own, range, &layers, usize::MAX).await?.0;
                unchanged = false;
            }
        }
        self.fresh_locks.clear();
        let read_at = unchanged.then_some((&layers, installs));
        for candidate in candidates {
            if let Some(value) = self.lock_candidate(scan, &candidate, read_at, strength, wait).await? {
                out.push(Entry { key: candidate.found.key, value });
            }
        }
        scan.ended = ended;
        scan.position = last.or(scan.position.take());
        Ok(())
    }

    /// Whether nothing was installed in an index since the layers and the count were taken.
    fn unchanged_since(&self, index: IndexId, layers: &Arc<Layers>, installs: u64) -> bool {
        Arc::ptr_eq(&self.core().views.layers(), layers) && layers.installs(index) == installs
    }

    /// The newest versions in a range, own writes among them, without deleted rows; and whether the range is at its end.
    async fn read_newest_range(
        &self,
        scan: &Scan,
        own_cursor: &mut OwnCursor,
        range: (Bound<&[u8]>, Bound<&[u8]>),
        layers: &Arc<Layers>,
        max: usize,
    ) -> Result<(Vec<Candidate>, bool)> {
        let mut cursor = scan.open(layers.clone(), range, Selector::Newest);
        let mut candidates = Vec::new();
        let mut own = self.writes.first(own_cursor, scan.index, range, scan.backward()).await?;
        let mut peeked = cursor.next().await?;
        while candidates.len() < max {
            let own_first = match (&own, &peeked) {
                (None, None) => return Ok((candidates, true)),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some((key, _)), Some(found)) if scan.backward() => *key >= found.key,
                (Some((key, _)), Some(found)) => *key <= found.key,
            };
            let (found, is_own) = match (own_first, own) {
                (true, Some((key, write))) => {
                    if peeked.as_ref().is_some_and(|found| found.key == key) {
                        peeked = cursor.next().await?;
                    }
                    let rest = after(range, &key, scan.backward());
                    own = self.writes.first(own_cursor, scan.index, rest, scan.backward()).await?;
                    (Found { key, value: write, stamp: crate::read::IN_TREES }, true)
                }
                (_, before) => {
                    own = before;
                    let Some(found) = peeked.take() else { return Ok((candidates, true)) };
                    peeked = cursor.next().await?;
                    (found, false)
                }
            };
            if let Some(value) = found.value.clone() {
                candidates.push(Candidate { found, value, own: is_own });
            }
        }
        let ended = own.is_none() && peeked.is_none();
        Ok((candidates, ended))
    }

    /// Locks the row of a candidate; its value now, or `None` if it is gone (or skipped). `read_at` tells when it was read, if
    /// that can still tell that nothing has changed since.
    async fn lock_candidate(
        &mut self,
        scan: &Scan,
        candidate: &Candidate,
        read_at: Option<(&Arc<Layers>, u64)>,
        strength: LockStrength,
        wait: LockWait,
    ) -> Result<Option<Bytes>> {
        let key = &candidate.found.key;
        let clustered = match scan.index_number {
            0 => key.as_slice(),
            number => scan.table.codec.clustered_key_of(number, key)?,
        };
        let acquired = self.lock_record(scan.table.indexes[0].id, clustered, strength, wait).await?;
        let is_sure = match acquired {
            Acquired::Skipped => return Ok(None),
            Acquired::Already => true,
            Acquired::New => {
                let unchanged = |(layers, installs)| self.unchanged_since(scan.index, layers, installs);
                // A version that was pending may have been taken back since.
                let is_still_there = candidate.found.stamp.state() != StampState::Aborted;
                candidate.own || is_still_there && read_at.is_some_and(unchanged)
            }
            Acquired::AfterWait { .. } => false,
        };
        if acquired.is_new() {
            self.fresh_locks.push((scan.table.indexes[0].id, Key::new(clustered)));
        }
        if is_sure {
            self.note_read(&candidate.found.stamp);
            return Ok(Some(candidate.value.clone()));
        }
        self.newest(scan.index, key).await
    }
}

fn push(out: &mut Vec<Entry>, key: &Key, value: Option<Bytes>) {
    if let Some(value) = value {
        out.push(Entry { key: key.clone(), value });
    }
}

/// A range behind one of its keys.
fn after<'a>(
    (lower, upper): (Bound<&'a [u8]>, Bound<&'a [u8]>),
    key: &'a Key,
    backward: bool,
) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    if backward { (lower, Bound::Excluded(key)) } else { (Bound::Excluded(key), upper) }
}
