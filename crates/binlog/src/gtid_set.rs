//! Sets of GTIDs: `uuid:1-5:7:tag:1-2, uuid2:1-3`.
//!
//! Per source, which is a server and a tag or none, a sorted list of disjoint, non-adjacent intervals. Adding the next number of a
//! source is O(log sources) and grows nothing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::str::FromStr;

use base::{Gtid, Tag, Uuid};

use crate::cursor::Cursor;
use crate::error::DecodeError;

/// The largest number that a GTID may have (as in MySQL).
pub const GNO_MAX: u64 = i64::MAX as u64 - 1;

/// The largest number that anybody but the log may give to a GTID of this server: it goes on behind the highest one that is there,
/// under each tag.
pub const OWN_GNO_MAX: u64 = GNO_MAX - (1 << 48);

/// The bytes of one interval in the binary form.
const INTERVAL_SIZE: usize = 16;

/// So many intervals are inserted one by one into a source's list.
const INSERTED_ONE_BY_ONE_MAX: usize = 8;

/// `first..=last`.
type Interval = (u64, u64);

/// Whose numbers they are.
type Source = (Uuid, Tag);

/// A set of GTIDs. The text form is MySQL's; so is the binary form of PREVIOUS_GTIDS and COM_BINLOG_DUMP_GTID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidSet {
    sources: BTreeMap<Source, Vec<Interval>>,
}

impl GtidSet {
    /// The empty set.
    pub fn new() -> Self {
        GtidSet::default()
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// How many GTIDs are in it, or `u64::MAX` if there are more.
    pub fn count(&self) -> u64 {
        self.sources.values().flatten().fold(0, |sum, (first, last)| sum.saturating_add(last - first + 1))
    }

    /// Adds one; false if it was there.
    pub fn add(&mut self, gtid: Gtid) -> bool {
        if self.contains(gtid) {
            return false;
        }
        self.add_run(gtid, gtid.gno);
        true
    }

    /// Adds all numbers from `first` to `last` of one server, without a tag.
    pub fn add_range(&mut self, uuid: Uuid, first: u64, last: u64) {
        self.add_run(Gtid::new(uuid, first), last);
    }

    /// Adds one and the numbers behind it up to `last`.
    pub fn add_run(&mut self, first: Gtid, last: u64) {
        debug_assert!(first.gno >= 1 && first.gno <= last);
        add_interval(self.sources.entry((first.uuid, first.tag)).or_default(), (first.gno, last));
    }

    /// Whether it is in the set.
    pub fn contains(&self, gtid: Gtid) -> bool {
        self.sources.get(&(gtid.uuid, gtid.tag)).is_some_and(|intervals| {
            let at = intervals.partition_point(|&(_, last)| last < gtid.gno);
            intervals.get(at).is_some_and(|&(first, _)| first <= gtid.gno)
        })
    }

    /// The highest number of a server under a tag, or none; 0 if it has none.
    pub fn last_of(&self, uuid: Uuid, tag: Tag) -> u64 {
        self.sources.get(&(uuid, tag)).and_then(|intervals| intervals.last()).map_or(0, |&(_, last)| last)
    }

    /// The highest number that servers from one UUID to another have without a tag; 0 if they have none.
    pub fn last_between(&self, first: Uuid, last: Uuid) -> u64 {
        let untagged = self.sources.range((first, Tag::NONE)..=(last, Tag::NONE)).filter(|((_, tag), _)| tag.is_none());
        untagged.filter_map(|(_, intervals)| intervals.last()).map(|&(_, last)| last).max().unwrap_or(0)
    }

    /// The highest GTID of a server under each tag, and under none.
    pub fn lasts_of(&self, uuid: Uuid) -> impl Iterator<Item = Gtid> + '_ {
        let of_server = self.sources.range((uuid, Tag::NONE)..).take_while(move |((of, _), _)| *of == uuid);
        of_server.filter_map(|(&(uuid, tag), intervals)| intervals.last().map(|&(_, gno)| Gtid { uuid, tag, gno }))
    }

    /// Whether it has GTIDs with tags.
    pub fn has_tags(&self) -> bool {
        self.sources.keys().any(|(_, tag)| !tag.is_none())
    }

    /// Whether everything in it is in `other` too.
    pub fn is_subset_of(&self, other: &GtidSet) -> bool {
        self.sources.iter().all(|(source, intervals)| {
            let theirs = other.sources.get(source).map_or(&[][..], Vec::as_slice);
            intervals.iter().all(|&(first, last)| {
                let at = theirs.partition_point(|&(_, end)| end < first);
                theirs.get(at).is_some_and(|&(start, end)| start <= first && last <= end)
            })
        })
    }

    /// Whether the two have nothing in common.
    pub fn is_disjoint(&self, other: &GtidSet) -> bool {
        let mut without = self.clone();
        without.subtract(other);
        without == *self
    }

    /// Adds all of `other`.
    pub fn union(&mut self, other: &GtidSet) {
        for (source, theirs) in &other.sources {
            match self.sources.entry(*source) {
                Entry::Vacant(entry) => drop(entry.insert(theirs.clone())),
                Entry::Occupied(mut entry) => add_intervals(entry.get_mut(), theirs),
            }
        }
    }

    /// Removes all of `other`.
    pub fn subtract(&mut self, other: &GtidSet) {
        for (source, theirs) in &other.sources {
            if let Some(ours) = self.sources.get_mut(source) {
                *ours = subtract_intervals(ours, theirs);
                if ours.is_empty() {
                    self.sources.remove(source);
                }
            }
        }
    }

    /// Keeps those of some servers.
    pub fn retain_servers(&mut self, is_kept: impl Fn(Uuid) -> bool) {
        self.sources.retain(|(uuid, _), _| is_kept(*uuid));
    }

    /// What is missing below the highest number of each source.
    pub fn gaps(&self) -> GtidSet {
        let mut gaps = GtidSet::new();
        for (&(uuid, tag), intervals) in &self.sources {
            let mut next = 1;
            for &(first, last) in intervals {
                if next < first {
                    gaps.add_run(Gtid { uuid, tag, gno: next }, first - 1);
                }
                next = last + 1;
            }
        }
        gaps
    }

    /// The intervals of every source without a tag, as `(server, first, last)`.
    pub fn ranges(&self) -> impl Iterator<Item = (Uuid, u64, u64)> + '_ {
        let untagged = self.sources.iter().filter(|((_, tag), _)| tag.is_none());
        untagged.flat_map(|((uuid, _), intervals)| intervals.iter().map(|&(first, last)| (*uuid, first, last)))
    }

    /// Of intervals in any order, which may overlap: whoever sends a set decides about its order, so they are sorted once
    /// and not put into their places one by one.
    fn of(mut sources: BTreeMap<Source, Vec<Interval>>) -> Self {
        sources.values_mut().for_each(normalize);
        GtidSet { sources }
    }

    /// Appends the binary form: the untagged one if no source has a tag.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let tagged = self.has_tags();
        let count = self.sources.len() as u64;
        out.extend_from_slice(&(if tagged { 1 << 56 | count << 8 | 1 } else { count }).to_le_bytes());
        for ((uuid, tag), intervals) in &self.sources {
            out.extend_from_slice(&uuid.0);
            if tagged {
                // A varint of one byte: tags have at most 32 characters.
                out.push((tag.as_str().len() as u8) << 1);
                out.extend_from_slice(tag.as_str().as_bytes());
            }
            out.extend_from_slice(&(intervals.len() as u64).to_le_bytes());
            for &(first, last) in intervals {
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&(last + 1).to_le_bytes());
            }
        }
    }

    /// Reads the binary form; all bytes must be used.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(bytes, "GTID set");
        let header = cursor.u64()?;
        let (tagged, count) = match header >> 56 {
            0 => (false, header),
            1 if header & 0xff == 1 => (true, header >> 8 & 0xffff_ffff_ffff),
            _ => return Err(DecodeError::new("GTID set: unknown format")),
        };
        let mut sources: BTreeMap<Source, Vec<Interval>> = BTreeMap::new();
        for _ in 0..count {
            let uuid = Uuid(cursor.array()?);
            let tag = if tagged { decode_tag(&mut cursor)? } else { Tag::NONE };
            let intervals_count = cursor.u64()?;
            if intervals_count > (cursor.len() / INTERVAL_SIZE) as u64 {
                return Err(DecodeError::short("GTID set"));
            }
            if intervals_count == 0 {
                continue;
            }
            let intervals = sources.entry((uuid, tag)).or_default();
            for _ in 0..intervals_count {
                let (start, end) = (cursor.u64()?, cursor.u64()?);
                if start == 0 || start >= end || end - 1 > GNO_MAX {
                    return Err(DecodeError::new(format!("GTID set: bad interval {start} to {end}")));
                }
                intervals.push((start, end - 1));
            }
        }
        if cursor.is_empty() {
            Ok(GtidSet::of(sources))
        } else {
            Err(DecodeError::new("GTID set: bytes behind its end"))
        }
    }
}

fn decode_tag(cursor: &mut Cursor<'_>) -> Result<Tag, DecodeError> {
    let len = cursor.u8()?;
    if len & 1 != 0 || usize::from(len >> 1) > Tag::LEN_MAX {
        return Err(DecodeError::new("GTID set: tag is too long"));
    }
    check_tag(cursor.take(usize::from(len >> 1))?)
}

pub(crate) fn check_tag(text: &[u8]) -> Result<Tag, DecodeError> {
    let bad = |_| DecodeError::new(format!("'{}' is not a GTID's tag", String::from_utf8_lossy(text)));
    Tag::new(text).map_err(bad)
}

/// Keeps the list sorted, disjoint and non-adjacent.
fn add_interval(intervals: &mut Vec<Interval>, (first, last): Interval) {
    // The ones that overlap or touch: their end is at least first - 1, their start at most last + 1.
    let from = intervals.partition_point(|&(_, end)| end < first.saturating_sub(1));
    let to = intervals.partition_point(|&(start, _)| start <= last.saturating_add(1));
    if from >= to {
        intervals.insert(from, (first, last));
        return;
    }
    let merged = (first.min(intervals[from].0), last.max(intervals[to - 1].1));
    intervals[from] = merged;
    intervals.drain(from + 1..to);
}

/// Adds a sorted list of them.
fn add_intervals(intervals: &mut Vec<Interval>, others: &[Interval]) {
    // Each insertion moves what is behind it, so many go in together. Few mostly go to the end.
    if others.len() <= INSERTED_ONE_BY_ONE_MAX {
        others.iter().for_each(|&interval| add_interval(intervals, interval));
    } else {
        intervals.extend_from_slice(others);
        normalize(intervals);
    }
}

/// Makes a list sorted, disjoint and non-adjacent.
fn normalize(intervals: &mut Vec<Interval>) {
    // Stable, because that makes use of the runs that are sorted already.
    intervals.sort();
    intervals.dedup_by(|next, kept| {
        let joins = next.0 <= kept.1.saturating_add(1);
        if joins {
            kept.1 = kept.1.max(next.1);
        }
        joins
    });
}

fn subtract_intervals(ours: &[Interval], theirs: &[Interval]) -> Vec<Interval> {
    let mut left = Vec::with_capacity(ours.len());
    for &(mut first, last) in ours {
        let from = theirs.partition_point(|&(_, end)| end < first);
        for &(start, end) in theirs[from..].iter().take_while(|&&(start, _)| start <= last) {
            if start > first {
                left.push((first, start - 1));
            }
            first = end + 1;
        }
        if first <= last {
            left.push((first, last));
        }
    }
    left
}

impl fmt::Display for GtidSet {
    /// MySQL's form: sources joined by `,` and a newline is left out, as in a variable's value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before: Option<Uuid> = None;
        for ((uuid, tag), intervals) in &self.sources {
            if before != Some(*uuid) {
                write!(f, "{}{uuid}", if before.is_some() { "," } else { "" })?;
                before = Some(*uuid);
            }
            if !tag.is_none() {
                write!(f, ":{tag}")?;
            }
            for (first, last) in intervals {
                if first == last { write!(f, ":{first}")? } else { write!(f, ":{first}-{last}")? }
            }
        }
        Ok(())
    }
}

impl FromStr for GtidSet {
    type Err = DecodeError;

    /// A server, or a tag, without numbers means nothing, as in MySQL.
    fn from_str(text: &str) -> Result<Self, DecodeError> {
        let mut sources: BTreeMap<Source, Vec<Interval>> = BTreeMap::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let mut words = part.split(':').map(str::trim);
            let uuid: Uuid = words.next().unwrap_or_default().parse().map_err(DecodeError)?;
            let mut tag = Tag::NONE;
            for word in words {
                if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                    tag = check_tag(word.as_bytes())?;
                    continue;
                }
                let (first, last) = parse_interval(word)?;
                if first <= last {
                    sources.entry((uuid, tag)).or_default().push((first, last));
                }
            }
        }
        Ok(GtidSet::of(sources))
    }
}

/// `5` or `1-5`; an empty interval such as `5-1` is allowed and means nothing, as in MySQL.
fn parse_interval(word: &str) -> Result<Interval, DecodeError> {
    let bad = || DecodeError::new(format!("'{word}' is not an interval of GTIDs"));
    let number = |text: &str| -> Result<u64, DecodeError> {
        let text = text.trim();
        if !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        text.parse().ok().filter(|&n| (1..=GNO_MAX).contains(&n)).ok_or_else(bad)
    };
    match word.split_once('-') {
        Some((first, last)) => Ok((number(first)?, number(last)?)),
        None => number(word).map(|n| (n, n)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    const B: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429563";

    fn set(text: &str) -> GtidSet {
        text.replace('A', A).replace('B', B).parse().unwrap()
    }

    fn show(set: &GtidSet) -> String {
        set.to_string().replace(A, "A").replace(B, "B")
    }

    #[test]
    fn text_form() {
        assert_eq!(show(&set("B:3, A:5:1-3:4,\nA:9")), "A:1-5:9,B:3");
        assert_eq!(show(&set("")), "");
        assert_eq!(show(&set("A:5-1")), "");
        assert_eq!(show(&set("A,B:1,A:x")), "B:1");
        for bad in ["A:", "A:0", "A:x-", "A:1-", "x:1", "A:-1", "A:9223372036854775807"] {
            assert!(bad.replace('A', A).parse::<GtidSet>().is_err(), "{bad}");
        }
    }

    #[test]
    fn text_form_with_tags() {
        assert_eq!(show(&set("A:1-2:Tag_1:4-5:6")), "A:1-2:tag_1:4-6");
        assert_eq!(show(&set("B:x:1,A:y:7: x : 2 : 1,A:y:8:x:3-5,A:3")), "A:3:x:1-5:y:7-8,B:x:1");
        assert_eq!(show(&set("A:x:5-1:y:1")), "A:y:1");
        let longest = "a_tag_that_is_as_long_as_it_can_";
        assert_eq!(show(&set(&format!("A:{longest}:1"))), format!("A:{longest}:1"));
        for bad in ["A:x:", "A::x:1", "A:1x:1", "A:x-y:1", "A:\u{e4}:1", &format!("A:{longest}x:1")] {
            assert!(bad.replace('A', A).parse::<GtidSet>().is_err(), "{bad}");
        }
    }

    #[test]
    fn tags_are_sources_of_their_own() {
        let mut numbers = set("A:1-3:x:1-5:y:7,B:2");
        let uuid: Uuid = A.parse().unwrap();
        let lasts = |set: &GtidSet| set.lasts_of(uuid).map(|gtid| gtid.to_string().replace(A, "A")).collect::<Vec<_>>();
        assert_eq!(lasts(&numbers), ["A:3", "A:x:5", "A:y:7"]);
        assert_eq!((numbers.last_of(uuid, Tag::NONE), numbers.last_of(uuid, "x".parse().unwrap())), (3, 5));
        assert_eq!(numbers.last_of(uuid, "z".parse().unwrap()), 0);
        assert!(numbers.has_tags() && !set("A:1,B:1").has_tags());
        assert!(numbers.contains(format!("{A}:y:7").parse().unwrap()));
        assert!(!numbers.contains(format!("{A}:7").parse().unwrap()));
        assert!(!set("A:7").is_subset_of(&numbers) && set("A:y:7").is_subset_of(&numbers));
        assert!(numbers.is_disjoint(&set("A:4-9:z:1,B:x:2")));
        numbers.subtract(&set("A:x:2-9:y:7"));
        numbers.union(&set("A:x:3"));
        assert_eq!(show(&numbers), "A:1-3:x:1:3,B:2");
        assert_eq!(numbers.count(), 6);
    }

    #[test]
    fn binary_form_is_golden() {
        let mut bytes = Vec::new();
        set("A:1-5:7").encode(&mut bytes);
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(
            hex,
            "0100000000000000\
             3e11fa4771ca11e19e33c80aa9429562\
             0200000000000000\
             01000000000000000600000000000000\
             07000000000000000800000000000000"
        );
        assert_eq!(GtidSet::decode(&bytes), Ok(set("A:1-5:7")));
        assert!(GtidSet::decode(&bytes[..bytes.len() - 1]).is_err());
    }

    #[test]
    fn binary_form_with_tags_is_golden() {
        let mut bytes = Vec::new();
        set("A:1:xy:3").encode(&mut bytes);
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(
            hex,
            "0102000000000001\
             3e11fa4771ca11e19e33c80aa9429562\
             00\
             0100000000000000\
             01000000000000000200000000000000\
             3e11fa4771ca11e19e33c80aa9429562\
             047879\
             0100000000000000\
             03000000000000000400000000000000"
        );
        assert_eq!(GtidSet::decode(&bytes), Ok(set("A:1:xy:3")));
        assert!((0..bytes.len()).all(|len| GtidSet::decode(&bytes[..len]).is_err()));
        // Capitals are small letters, and a tag of other characters, or a longer one, is none.
        let at = bytes.len() - 26;
        assert_eq!(&bytes[at..at + 2], b"xy");
        bytes[at] = b'X';
        assert_eq!(GtidSet::decode(&bytes), Ok(set("A:1:xy:3")));
        for bad in [b'1', b'-', 0, 0xff] {
            bytes[at] = bad;
            assert!(GtidSet::decode(&bytes).is_err(), "{bad}");
        }
        bytes[at - 1] = 33 << 1;
        assert!(GtidSet::decode(&bytes).is_err());
    }

    #[test]
    fn algebra() {
        let mut a = set("A:1-10,B:1");
        a.subtract(&set("A:3-4:8-20,B:1"));
        assert_eq!(show(&a), "A:1-2:5-7");
        assert!(a.is_subset_of(&set("A:1-7")));
        assert!(!set("A:1-7").is_subset_of(&a));
        a.union(&set("A:3-4,B:2"));
        assert_eq!(show(&a), "A:1-7,B:2");
        assert_eq!(a.count(), 8);
        assert!(a.is_disjoint(&set("A:8,B:1")));
        assert!(!a.is_disjoint(&set("B:2")));
    }

    /// A client may send as many intervals as a packet holds, in the order that costs most.
    #[test]
    fn the_order_of_intervals_costs_nothing() {
        const COUNT: u64 = 300_000;
        let backwards = (1..=COUNT).rev().map(|n| 2 * n);
        let uuid: Uuid = A.parse().unwrap();
        let mut bytes = 1u64.to_le_bytes().to_vec();
        bytes.extend_from_slice(&uuid.0);
        bytes.extend_from_slice(&COUNT.to_le_bytes());
        let mut text = A.to_owned();
        for n in backwards {
            bytes.extend_from_slice(&n.to_le_bytes());
            bytes.extend_from_slice(&(n + 1).to_le_bytes());
            text.push_str(&format!(":{n}"));
        }
        let even = GtidSet::decode(&bytes).unwrap();
        assert_eq!(even.count(), COUNT);
        assert_eq!(text.parse(), Ok(even.clone()));
        let odd: String = (1..=COUNT).map(|n| format!(":{}", 2 * n - 1)).collect();
        let mut all: GtidSet = format!("{A}{odd}").parse().unwrap();
        all.union(&even);
        assert_eq!(show(&all), format!("A:1-{}", 2 * COUNT));
    }

    #[test]
    fn counts_that_are_too_large_stop_there() {
        assert_eq!(set(&format!("A:1-{GNO_MAX},B:1-{GNO_MAX}:x:1-{GNO_MAX}")).count(), u64::MAX);
    }

    /// Numbers under no tag and two tags.
    fn small_sets() -> impl Strategy<Value = BTreeSet<(u8, u64)>> {
        proptest::collection::btree_set((0u8..3, 1u64..20), 0..30)
    }

    fn of(numbers: &BTreeSet<(u8, u64)>) -> GtidSet {
        let mut set = GtidSet::new();
        let uuid = A.parse().unwrap();
        for &(tag, gno) in numbers {
            let tag = ["", "x", "tag_2"][usize::from(tag)].parse().unwrap();
            set.add(Gtid { uuid, tag, gno });
        }
        set
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_set(a in small_sets(), b in small_sets()) {
            let mut union = of(&a);
            union.union(&of(&b));
            prop_assert_eq!(&union, &of(&(&a | &b)));
            let mut less = of(&a);
            less.subtract(&of(&b));
            prop_assert_eq!(&less, &of(&(&a - &b)));
            prop_assert_eq!(of(&a).is_subset_of(&of(&b)), a.is_subset(&b));
            prop_assert_eq!(of(&a).count(), a.len() as u64);
            prop_assert_eq!(of(&a).is_disjoint(&of(&b)), a.is_disjoint(&b));
            prop_assert_eq!(of(&a).to_string().parse::<GtidSet>(), Ok(of(&a)));
            let mut bytes = Vec::new();
            of(&a).encode(&mut bytes);
            prop_assert_eq!(GtidSet::decode(&bytes), Ok(of(&a)));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = GtidSet::decode(&bytes);
        }
    }
}
