//! What of a tree cannot be read, and what of it a merge is to make anew.
//!
//! ```text
//! find_damage:  every node from the file ──► key ranges of what cannot be read, ascending, neighbours joined
//! Restored:     these ranges ──► Merge::restore: nodes in them that cannot be read go, their rows come with the changes
//! ```
//! A row of which an overflow page cannot be read is a range of one key: its leaf says which pages it has, so a merge can replace
//! it without reading them.
//!
//! Pages are read past the cache: what is still right in memory, and wrong in the file, is damage that everybody will find later.
//!
//! # Invariants
//! - [`Damage`] covers everything of its tree that cannot be read as of its roots: a merge that makes all of its ranges anew, and
//!   into whose tree nothing was set aside since, leaves a tree that is whole.
//! - Memory is bounded: a node per level, the leaves of one read, [`RANGES_MAX`] ranges (then neighbours are joined over what is
//!   right between them), one value.

use base::IndexId;
use bytes::Bytes;

use crate::page::{Expected, Page, PageRef, row_hash};
use crate::space::Run;
use crate::{Result, Roots, StoreError, overflow};

/// Ranges that are told apart.
const RANGES_MAX: usize = 4096;
/// Errors that are kept to be told.
const ERRORS_MAX: usize = 20;
/// Leaves of one read, if they are neighbours (1 MiB).
const LEAVES_AT_ONCE: usize = 64;
/// Others get a turn after so many pages.
const YIELD_PAGES: usize = 16;

/// The keys from one on and before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpan {
    /// The first one; empty: there is no first.
    pub lower: Bytes,
    /// None of it is as large; `None`: to the end.
    pub upper: Option<Bytes>,
}

impl KeySpan {
    /// Every key.
    pub fn all() -> Self {
        KeySpan { lower: Bytes::new(), upper: None }
    }

    /// One key.
    pub fn of_key(key: &[u8]) -> Self {
        KeySpan { lower: Bytes::copy_from_slice(key), upper: Some([key, &[0]].concat().into()) }
    }

    /// Whether a key is in it.
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.lower <= *key && self.ends_after(key)
    }

    /// Whether some key from this one on can be in it.
    fn ends_after(&self, key: &[u8]) -> bool {
        self.upper.as_ref().is_none_or(|upper| key < &upper[..])
    }
}

/// What of a tree cannot be read; see [`Roots::find_damage`].
#[derive(Clone, Debug)]
pub struct Damage {
    /// Where, ascending; they do not touch one another.
    pub ranges: Vec<KeySpan>,
    /// Nodes and values that cannot be read.
    pub count: u64,
    /// The first of them.
    pub errors: Vec<StoreError>,
    /// Something was left out by an earlier merge.
    pub is_set_aside: bool,
    /// Of the roots.
    generation: u64,
}

impl Damage {
    /// Whether everything can be read.
    pub fn is_none(&self) -> bool {
        self.ranges.is_empty() && !self.is_set_aside
    }

    /// All of it is to be made anew.
    pub fn restored(&self) -> Restored {
        Restored { ranges: self.ranges.clone(), whole_as_of: Some(self.generation) }
    }

    fn add(&mut self, error: StoreError, span: KeySpan) {
        self.count += 1;
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(error);
        }
        let is_full = self.ranges.len() >= RANGES_MAX;
        match self.ranges.last_mut() {
            Some(last) if is_full || last.upper.as_ref() == Some(&span.lower) => last.upper = span.upper,
            _ => self.ranges.push(span),
        }
    }
}

/// Ranges of a tree of which a merge's changes are the whole content.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    /// Ascending; they do not overlap.
    ranges: Vec<KeySpan>,
    /// They are all that could not be read as of roots of this generation.
    pub(crate) whole_as_of: Option<u64>,
}

impl Restored {
    /// Some of what is damaged. The tree goes on to say that it is.
    pub fn part(ranges: Vec<KeySpan>) -> Self {
        debug_assert!(ranges.is_sorted_by(|a, b| a.upper.as_ref().is_some_and(|end| *end <= b.lower)));
        Restored { ranges, whole_as_of: None }
    }

    /// The ranges.
    pub fn ranges(&self) -> &[KeySpan] {
        &self.ranges
    }

    /// The first range that ends behind a key.
    fn from(&self, key: &[u8]) -> Option<&KeySpan> {
        self.ranges.get(self.ranges.partition_point(|range| !range.ends_after(key)))
    }

    /// Whether some key of a node's may be in a range.
    pub(crate) fn meets(&self, lower: &[u8], upper: Option<&[u8]>) -> bool {
        self.from(lower).is_some_and(|range| upper.is_none_or(|upper| *range.lower < *upper))
    }

    /// Whether every key of a node's is in one range.
    pub(crate) fn covers(&self, lower: &[u8], upper: Option<&[u8]>) -> bool {
        self.from(lower).is_some_and(|range| {
            let ends_in = range.upper.as_ref().is_none_or(|end| upper.is_some_and(|upper| *upper <= **end));
            *range.lower <= *lower && ends_in
        })
    }

    /// Whether a key is in a range.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.from(key).is_some_and(|range| range.contains(key))
    }
}

/// An inner node on the way, and which of its children is next.
struct Step {
    node: Page,
    next: usize,
    span: KeySpan,
}

impl Step {
    fn span_of(&self, number: usize) -> KeySpan {
        let lower = if number == 0 { self.span.lower.clone() } else { self.node.child_key_bytes(number) };
        let is_last = number + 1 == self.node.count();
        KeySpan {
            lower,
            upper: if is_last { self.span.upper.clone() } else { Some(self.node.child_key_bytes(number + 1)) },
        }
    }

    /// The next leaves that are neighbours in the file.
    fn neighbours(&self) -> usize {
        let most = (self.node.count() - self.next).min(LEAVES_AT_ONCE);
        let at = |number: usize| self.node.child_at(self.next + number);
        (1..most).find(|&number| !at(number - 1).is_before(at(number))).unwrap_or(most)
    }
}

struct Walk<'a> {
    roots: &'a Roots,
    index: IndexId,
    path: Vec<Step>,
    found: Damage,
    since_yield: usize,
}

impl Roots {
    /// Reads every node of an index, and every value in overflow pages, from the file, and says what cannot be read. May be
    /// dropped at any time.
    ///
    /// # Errors
    /// Only those that are no damage of its pages.
    #[io::boxed]
    pub async fn find_damage(&self, index: IndexId) -> Result<Damage> {
        let is_set_aside = self.tree(index).is_some_and(|tree| tree.is_damaged());
        let generation = self.generation();
        let found = Damage { ranges: Vec::new(), count: 0, errors: Vec::new(), is_set_aside, generation };
        let mut walk = Walk { roots: self, index, path: Vec::new(), found, since_yield: 0 };
        if let Some(tree) = self.tree(index) {
            walk.visit(tree.root, tree.height - 1, KeySpan::all()).await?;
        }
        while let Some(step) = walk.path.last_mut() {
            if step.next == step.node.count() {
                walk.path.pop();
            } else if step.node.level() == 1 {
                walk.leaves().await?;
            } else {
                let (at, level, span) = (step.node.child_at(step.next), step.node.level() - 1, step.span_of(step.next));
                step.next += 1;
                walk.visit(at, level, span).await?;
            }
        }
        Ok(walk.found)
    }
}

impl Walk<'_> {
    /// Looks at a node by itself.
    async fn visit(&mut self, at: PageRef, level: u8, span: KeySpan) -> Result<()> {
        let read = self.roots.shared().file.read_page(&Expected::node(at, self.index, level)).await;
        match read {
            Ok(leaf) if level == 0 => self.values(&leaf).await?,
            Ok(node) => self.path.push(Step { node, next: 0, span }),
            Err(error @ StoreError::Corrupt { .. }) => self.found.add(error, span),
            Err(error) => return Err(error),
        }
        self.pass(1).await;
        Ok(())
    }

    /// Looks at the next leaves of the last node, with one read if all is well.
    async fn leaves(&mut self) -> Result<()> {
        let (wanted, spans) = {
            let step = self.path.last_mut().expect("the caller has looked at it");
            let numbers = step.next..step.next + step.neighbours();
            step.next = numbers.end;
            let wanted = |number| Expected::node(step.node.child_at(number), self.index, 0);
            let wanted: Vec<Expected> = numbers.clone().map(wanted).collect();
            (wanted, numbers.map(|number| step.span_of(number)).collect::<Vec<_>>())
        };
        let blocks = wanted.iter().map(|leaf| u64::from(leaf.at.blocks)).sum();
        let file = &self.roots.shared().file;
        let read = file.read(Run::new(wanted[0].at.number.0, blocks), Some(self.index)).await;
        let mut rest = match read {
            Ok(bytes) => bytes,
            // The file ends before all of them do: each for itself.
            Err(StoreError::Corrupt { .. }) => Bytes::new(),
            Err(error) => return Err(error),
        };
        for (leaf, span) in wanted.into_iter().zip(spans) {
            let page = match rest.len() {
                0 => None,
                _ => file.check(rest.split_to(leaf.at.bytes()), &leaf).ok(),
            };
            match page {
                Some(page) => {
                    self.values(&page).await?;
                    self.pass(1).await;
                }
                None => self.visit(leaf.at, 0, span).await?,
            }
        }
        Ok(())
    }

    /// Reads the values that are not in their leaf.
    async fn values(&mut self, leaf: &Page) -> Result<()> {
        for row in 0..leaf.count() {
            let Some(value) = leaf.overflow(row) else { continue };
            let key = leaf.key(row);
            let shared = self.roots.shared();
            let error = match overflow::read(shared, self.index, &value).await {
                Ok(bytes) if row_hash(key, &bytes) == value.hash => None,
                Ok(_) => {
                    let start = value.runs.first().map_or(0, |run| run.start);
                    let what = "a value in overflow pages has another hash".to_string();
                    Some(shared.file.corrupt(base::PageNumber(start), Some(self.index), what))
                }
                Err(error @ StoreError::Corrupt { .. }) => Some(error),
                Err(error) => return Err(error),
            };
            if let Some(error) = error {
                self.found.add(error, KeySpan::of_key(key));
            }
            self.pass(value.pages() as usize).await;
        }
        Ok(())
    }

    async fn pass(&mut self, pages: usize) {
        self.since_yield += pages;
        if self.since_yield >= YIELD_PAGES {
            self.since_yield = 0;
            futures_lite::future::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(lower: &'static str, upper: Option<&'static str>) -> KeySpan {
        KeySpan { lower: lower.into(), upper: upper.map(Bytes::from) }
    }

    #[test]
    fn a_node_is_met_or_covered() {
        let restored = Restored::part(vec![span("b", Some("d")), span("f", Some("g")), span("x", None)]);
        let look = |lower: &str, upper: Option<&str>| {
            let upper = upper.map(str::as_bytes);
            (restored.meets(lower.as_bytes(), upper), restored.covers(lower.as_bytes(), upper))
        };
        assert_eq!(look("", Some("b")), (false, false));
        assert_eq!(look("", Some("c")), (true, false));
        assert_eq!(look("b", Some("d")), (true, true));
        assert_eq!(look("c", Some("e")), (true, false));
        assert_eq!(look("d", Some("f")), (false, false));
        assert_eq!(look("b", Some("g")), (true, false));
        assert_eq!(look("f", None), (true, false));
        assert_eq!(look("y", None), (true, true));
        assert_eq!(look("", None), (true, false));
        assert!(restored.contains(b"f") && !restored.contains(b"g") && restored.contains(b"z"));
    }

    #[test]
    fn neighbours_are_joined_and_the_last_range_takes_what_is_too_much() {
        let error = StoreError::BrokenMerge;
        let mut damage =
            Damage { ranges: Vec::new(), count: 0, errors: Vec::new(), is_set_aside: false, generation: 1 };
        damage.add(error.clone(), span("", Some("b")));
        damage.add(error.clone(), span("b", Some("c")));
        damage.add(error.clone(), span("d", Some("e")));
        assert_eq!(damage.ranges, [span("", Some("c")), span("d", Some("e"))]);
        for number in 0..2 * RANGES_MAX as u32 {
            damage.add(error.clone(), KeySpan::of_key(&[&b"f"[..], &number.to_be_bytes()].concat()));
        }
        assert_eq!(damage.ranges.len(), RANGES_MAX);
        let last = [&b"f"[..], &(2 * RANGES_MAX as u32 - 1).to_be_bytes()].concat();
        assert!(damage.restored().contains(&last));
    }
}
