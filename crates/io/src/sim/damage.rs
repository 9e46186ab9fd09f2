//! What a disk does wrong without saying so: to bytes that it has, or to a write that it acknowledges.
//!
//! Right contents are kept beside the actual ones ([`super::inode`]). So a test can do damage, see what the program makes of it,
//! mend it, and see that nothing else was touched by it.

use super::disk::{SimDisk, State};
use super::inode::{Change, Inode, Of};

/// A write that goes astray within its file is off by a multiple of this, in bytes.
const BLOCK: usize = 4096;

/// What a disk does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// One bit of a file is another.
    FlippedBit,
    /// The next write is acknowledged, also its sync, and nothing of it happens: the place keeps what it had.
    LostWrite,
    /// The next write lands in another file at the same offset, or in the same file at another one; its place keeps what it had.
    MisdirectedWrite,
}

impl Damage {
    /// All kinds.
    pub const ALL: [Damage; 3] = [Damage::FlippedBit, Damage::LostWrite, Damage::MisdirectedWrite];
}

/// A file, and from where to where it is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Its name.
    pub path: String,
    /// Offset of the first byte.
    pub from: u64,
    /// Offset behind the last byte.
    pub to: u64,
}

impl SimDisk {
    /// Does damage to a file whose path contains `only`: now, or to the next write.
    pub(super) fn damage(&self, damage: Damage, only: &str) {
        match damage {
            Damage::FlippedBit => self.flip_any_bit(only),
            _ => self.state.lock().armed = Some((damage, only.to_owned())),
        }
    }

    pub(super) fn flip_bit(&self, path: &str, bit: u64) {
        let mut state = self.state.lock();
        let id = state.files().find(|(name, ..)| *name == path).map(|(_, id, _)| id);
        let id = id.unwrap_or_else(|| panic!("no file {path} to flip a bit of"));
        state.inode(id).flip((bit / 8) as usize, 1 << (bit % 8));
    }

    /// A bit before the end of what is not zero.
    fn flip_any_bit(&self, only: &str) {
        let mut state = self.state.lock();
        let used = |inode: &Inode| inode.actual.view.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let files = state.files().filter(|(path, ..)| path.contains(only));
        let files = files.map(|(path, id, inode)| (path.to_owned(), id, used(inode)));
        let files: Vec<(String, u64, usize)> = files.filter(|(.., used)| *used > 0).collect();
        let Some((path, id, used)) = files.get(self.executor.below(files.len() as u64) as usize).cloned() else {
            return;
        };
        state.wronged.insert(path);
        let (byte, bit) = (self.executor.below(used as u64) as usize, self.executor.below(8));
        state.inode(id).flip(byte, 1 << bit);
    }

    /// Does to a write what it was armed for; the write's number then.
    pub(super) fn go_wrong(&self, inode: u64, path: &str, change: &Change) -> Option<u64> {
        let Change::Write { offset, data } = change else { return None };
        let mut state = self.state.lock();
        state.armed.as_ref().filter(|(_, only)| path.contains(only.as_str()))?;
        let (damage, _) = state.armed.take()?;
        state.wronged.insert(path.to_owned());
        let end = offset + data.len();
        if state.inode(inode).actual.view.len() < end {
            state.change_file(inode, Change::SetLen(end), Of::Both);
        }
        if damage == Damage::MisdirectedWrite
            && let Some((victim, at)) = self.place_of_another(&mut state, inode, *offset)
        {
            let name = state.files().find(|(_, id, _)| *id == victim).map(|(name, ..)| name.to_owned());
            state.wronged.extend(name);
            let length = state.inode(victim).actual.view.len();
            let data = data[..data.len().min(length - at)].to_vec();
            state.change_file(victim, Change::Write { offset: at, data }, Of::Actual);
        }
        Some(state.change_file(inode, change.clone(), Of::Right))
    }

    /// Another file that reaches beyond the offset, or another block of the same file.
    fn place_of_another(&self, state: &mut State, inode: u64, offset: usize) -> Option<(u64, usize)> {
        let reaches = |(_, id, file): &(&str, u64, &Inode)| *id != inode && file.actual.view.len() > offset;
        let others: Vec<u64> = state.files().filter(reaches).map(|(_, id, _)| id).collect();
        if !others.is_empty() && self.executor.below(2) == 0 {
            return Some((others[self.executor.below(others.len() as u64) as usize], offset));
        }
        let length = state.inode(inode).actual.view.len();
        let at = self.executor.below((length / BLOCK) as u64 + 1) as usize * BLOCK + offset % BLOCK;
        (at != offset && at < length).then_some((inode, at))
    }

    /// The files that are not what they should be.
    pub(super) fn damaged(&self) -> Vec<Damaged> {
        let state = self.state.lock();
        let one = |(path, _, inode): (&str, u64, &Inode)| {
            let (from, to) = inode.damage()?;
            Some(Damaged { path: path.to_owned(), from: from as u64, to: to as u64 })
        };
        state.files().filter_map(one).collect()
    }

    /// The files to which something wrong was ever done, by the names that they had then.
    pub(super) fn wronged(&self) -> Vec<String> {
        self.state.lock().wronged.iter().cloned().collect()
    }

    /// Makes every file what it should be; nothing is done to the next write.
    pub(super) fn mend(&self) {
        let mut state = self.state.lock();
        state.armed = None;
        state.inodes().for_each(Inode::mend);
    }
}
