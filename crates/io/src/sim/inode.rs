//! One file of the simulated disk.

/// What a durable write takes along: the pages that it touches, in bytes.
const CACHE_PAGE: usize = 4096;

/// A change of a file's contents.
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

/// The contents of a file: what reads show, what is on the medium, and what is between the two.
#[derive(Default)]
pub(super) struct Inode {
    pub(super) view: Vec<u8>,
    pub(super) durable: Vec<u8>,
    /// Changes of `view` that are not in `durable`, in order, numbered.
    pub(super) pending: Vec<(u64, Change)>,
    /// Failed write-backs so far. Each open file is told of one once, as on Linux.
    pub(super) failures: u64,
}

impl Inode {
    /// Makes one write durable, with the pages that it touches and the file's length, and nothing else.
    pub(super) fn write_through(&mut self, number: u64) {
        let Some(at) = self.pending.iter().position(|(other, _)| *other == number) else { return };
        let (_, Change::Write { offset, data }) = self.pending.remove(at) else { return };
        let from = offset / CACHE_PAGE * CACHE_PAGE;
        let to = (offset + data.len()).next_multiple_of(CACHE_PAGE).min(self.view.len());
        for (other, change) in std::mem::take(&mut self.pending) {
            match change {
                Change::SetLen(len) if other < number => self.durable.resize(len, 0),
                Change::Write { offset, data } if other < number => {
                    let (before, behind) = outside(offset, &data, from, to);
                    self.pending.extend(before.into_iter().chain(behind).map(|change| (other, change)));
                }
                later => self.pending.push((other, later)),
            }
        }
        put(&mut self.durable, from, &self.view[from..to]);
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
