//! One file of the simulated disk.
//!
//! Where the disk has done wrong ([`super::Damage`]) the file has its right contents beside the actual ones: every later change is made to
//! both, a crash takes the same of both, so what differs is the damage that is left, and can be mended.

/// What a durable write takes along: the pages that it touches, in bytes.
const CACHE_PAGE: usize = 4096;

/// A change of a file's contents.
#[derive(Clone)]
pub(super) enum Change {
    Write { offset: usize, data: Vec<u8> },
    SetLen(usize),
}

impl Change {
    pub(super) fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Change::Write { offset, data } => put(to, *offset, data),
            Change::SetLen(len) => to.resize(*len, 0),
        }
    }
}

pub(super) fn put(to: &mut Vec<u8>, offset: usize, data: &[u8]) {
    if to.len() < offset + data.len() {
        to.resize(offset + data.len(), 0);
    }
    to[offset..offset + data.len()].copy_from_slice(data);
}

/// What a change is made to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// What the disk has, and what it should have.
    Both,
    /// Only the first: a write that was meant for another place.
    Actual,
    /// Only the second: a write that was lost, or went astray.
    Right,
}

/// A change that is not on the medium, with its number.
pub(super) struct Pending {
    pub(super) number: u64,
    pub(super) change: Change,
    of: Of,
}

/// What reads show, and what is on the medium.
#[derive(Clone, Default)]
pub(super) struct Contents {
    pub(super) view: Vec<u8>,
    pub(super) durable: Vec<u8>,
}

/// The contents of a file, and what is between the two of them.
#[derive(Default)]
pub(super) struct Inode {
    pub(super) actual: Contents,
    /// As they should be, if that is something else.
    right: Option<Contents>,
    /// Changes of the views that are not durable, in order.
    pub(super) pending: Vec<Pending>,
    /// Failed write-backs so far. Each open file is told of one once, as on Linux.
    pub(super) failures: u64,
}

impl Inode {
    /// The contents that a change is made to.
    fn contents(&mut self, of: Of) -> impl Iterator<Item = &mut Contents> {
        let actual = (of != Of::Right).then_some(&mut self.actual);
        actual.into_iter().chain(self.right.as_mut().filter(|_| of != Of::Actual))
    }

    /// Makes a change that is not durable yet.
    pub(super) fn change(&mut self, number: u64, change: Change, of: Of) {
        if of != Of::Both {
            self.right.get_or_insert_with(|| self.actual.clone());
        }
        let of = if self.repeats(&change) { Of::Actual } else { of };
        self.contents(of).for_each(|contents| change.apply(&mut contents.view));
        self.pending.push(Pending { number, change, of });
    }

    /// Whether a write has what is there already, read from there: it does not make damage right. (Zeros are written to erase.)
    fn repeats(&self, change: &Change) -> bool {
        let Change::Write { offset, data } = change else { return false };
        let there = self.actual.view.get(*offset..offset + data.len());
        self.right.is_some() && there == Some(data) && data.iter().any(|byte| *byte != 0)
    }

    /// Makes all changes up to a number durable.
    pub(super) fn sync(&mut self, up_to: u64) {
        for pending in std::mem::take(&mut self.pending) {
            if pending.number > up_to {
                self.pending.push(pending);
                continue;
            }
            self.contents(pending.of).for_each(|contents| pending.change.apply(&mut contents.durable));
        }
    }

    /// The power fails: of each change that is not durable what `survives` leaves of it.
    pub(super) fn crash(&mut self, mut survives: impl FnMut(&Change) -> Vec<Change>) {
        for Pending { change, of, .. } in std::mem::take(&mut self.pending) {
            for change in survives(&change) {
                self.contents(of).for_each(|contents| change.apply(&mut contents.durable));
            }
        }
        self.contents(Of::Both).for_each(|contents| contents.view.clone_from(&contents.durable));
    }

    /// Makes one write durable, with the pages that it touches and the file's length, and nothing else.
    pub(super) fn write_through(&mut self, number: u64) {
        let Some(at) = self.pending.iter().position(|other| other.number == number) else { return };
        let Pending { change: Change::Write { offset, data }, .. } = self.pending.remove(at) else { return };
        let from = offset / CACHE_PAGE * CACHE_PAGE;
        let to = (offset + data.len()).next_multiple_of(CACHE_PAGE).min(self.actual.view.len());
        for Pending { number: other, change, of } in std::mem::take(&mut self.pending) {
            match change {
                Change::SetLen(len) if other < number => {
                    self.contents(of).for_each(|contents| contents.durable.resize(len, 0));
                }
                Change::Write { offset, data } if other < number => {
                    let (before, behind) = outside(offset, &data, from, to);
                    let rest = before.into_iter().chain(behind);
                    self.pending.extend(rest.map(|change| Pending { number: other, change, of }));
                }
                change => self.pending.push(Pending { number: other, change, of }),
            }
        }
        self.contents(Of::Both).for_each(|Contents { view, durable }| put(durable, from, &view[from..to]));
    }

    /// Inverts bits of a byte, in what reads show and on the medium.
    pub(super) fn flip(&mut self, byte: usize, mask: u8) {
        self.right.get_or_insert_with(|| self.actual.clone());
        for contents in [&mut self.actual.view, &mut self.actual.durable] {
            if let Some(byte) = contents.get_mut(byte) {
                *byte ^= mask;
            }
        }
    }

    /// From where to where the file is not what it should be.
    pub(super) fn damage(&self) -> Option<(usize, usize)> {
        let right = self.right.as_ref()?;
        let pairs = [(&self.actual.view, &right.view), (&self.actual.durable, &right.durable)];
        let differing = |(actual, right): (&Vec<u8>, &Vec<u8>)| {
            let places = actual.iter().zip(right).enumerate().filter(|(_, (actual, right))| actual != right);
            let mut places = places.map(|(place, _)| place);
            let first = places.next()?;
            Some((first, places.next_back().unwrap_or(first) + 1))
        };
        pairs.into_iter().filter_map(differing).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// As it should be.
    pub(super) fn right(&self) -> &Contents {
        self.right.as_ref().unwrap_or(&self.actual)
    }

    /// Makes the file what it should be.
    pub(super) fn mend(&mut self) {
        let Some(right) = self.right.take() else { return };
        self.actual = right;
        self.pending.retain(|pending| pending.of != Of::Actual);
        self.pending.iter_mut().for_each(|pending| pending.of = Of::Both);
    }
}

/// The parts of a write before and behind a range.
fn outside(offset: usize, data: &[u8], from: usize, to: usize) -> (Option<Change>, Option<Change>) {
    let end = offset + data.len();
    let part = |start: usize, end: usize| {
        (start < end).then(|| Change::Write { offset: start, data: data[start - offset..end - offset].to_vec() })
    };
    (part(offset, end.min(from)), part(offset.max(to), end))
}
