//! The simulated disk: what reads show, what is durable, and what a crash makes of the difference.
//!
//! A file is an inode with two contents: `view`, with every finished write, and `durable`, the bytes on the medium;
//! and the list of changes that are in one and not yet in the other. A directory change is a step in one journal;
//! a crash keeps some beginning of what was not synced, as journalling file systems do. What the disk does wrong without saying
//! so is in [`super::damage`].

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::damage::Damage;
use super::executor::Executor;
use super::inode::{Change, Inode, Of, Pending};
use crate::{BoxFuture, Disk, File, IoBuf, LockGuard, OpenOptions};

/// What is written or lost as one, in bytes.
const SECTOR: usize = 512;
/// Longest time of an operation.
const SLOWEST: Duration = Duration::from_micros(200);

/// Probabilities of failures, and the size of the disk.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// That a write fails with `EIO`, after writing some of its sectors.
    pub write_error: f64,
    /// That a sync fails with `EIO`; what it was to make durable may never be.
    pub sync_error: f64,
    /// That a read fails with `EIO`.
    pub read_error: f64,
    /// Bytes that fit; `None` for no limit. Of a write that does not fit, what fits is written.
    pub capacity: Option<u64>,
    /// Only files whose path contains this fail.
    pub only: Option<String>,
}

/// Counted operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Reads of files.
    pub reads: u64,
    /// Writes of files.
    pub writes: u64,
    /// Syncs of files, and durable writes.
    pub syncs: u64,
}

#[derive(Clone, Default)]
struct Names {
    files: BTreeMap<String, u64>,
    dirs: BTreeSet<String>,
}

#[derive(Clone)]
enum NameChange {
    Create(String, u64),
    Rename(String, String),
    Remove(String),
    CreateDir(String),
}

impl NameChange {
    fn apply(&self, names: &mut Names) {
        match self {
            NameChange::Create(path, inode) => drop(names.files.insert(path.clone(), *inode)),
            NameChange::Rename(from, to) => {
                if let Some(inode) = names.files.remove(from) {
                    names.files.insert(to.clone(), inode);
                }
            }
            NameChange::Remove(path) => drop(names.files.remove(path)),
            NameChange::CreateDir(path) => drop(names.dirs.insert(path.clone())),
        }
    }

    fn is_in(&self, dir: &str) -> bool {
        let (NameChange::Create(path, _)
        | NameChange::Rename(path, _)
        | NameChange::Remove(path)
        | NameChange::CreateDir(path)) = self;
        parent(path) == dir
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

#[derive(Default)]
pub(super) struct State {
    names: Names,
    durable_names: Names,
    pending_names: Vec<NameChange>,
    inodes: BTreeMap<u64, Inode>,
    next_inode: u64,
    next_change: u64,
    locks: BTreeSet<String>,
    /// Goes up with each crash; handles of an older one are dead.
    generation: u64,
    faults: Faults,
    crash_after: Option<u64>,
    /// What happens to the next write of a file whose path contains this.
    pub(super) armed: Option<(Damage, String)>,
    /// The files to which something wrong was ever done, by the names that they had then.
    pub(super) wronged: BTreeSet<String>,
    stats: DiskStats,
}

impl State {
    fn used(&self) -> u64 {
        self.names.files.values().map(|inode| self.inodes[inode].actual.view.len() as u64).sum()
    }

    pub(super) fn inode(&mut self, id: u64) -> &mut Inode {
        self.inodes.get_mut(&id).expect("inodes are never removed")
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }

    /// Makes a change that is not durable yet; its number.
    pub(super) fn change_file(&mut self, inode: u64, change: Change, of: Of) -> u64 {
        self.next_change += 1;
        let number = self.next_change;
        self.inode(inode).change(number, change, of);
        number
    }

    /// The files that have names.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, u64, &Inode)> {
        self.names.files.iter().map(|(path, id)| (path.as_str(), *id, &self.inodes[id]))
    }

    /// All of them.
    pub(super) fn inodes(&mut self) -> impl Iterator<Item = &mut Inode> {
        self.inodes.values_mut()
    }
}

/// A disk; see the module.
pub(crate) struct SimDisk {
    pub(super) executor: Arc<Executor>,
    machine: u64,
    pub(super) state: Mutex<State>,
}

impl SimDisk {
    pub(crate) fn new(executor: Arc<Executor>, machine: u64) -> Arc<Self> {
        Arc::new(SimDisk { executor, machine, state: Mutex::default() })
    }

    pub(crate) fn handle(self: &Arc<Self>) -> Arc<dyn Disk> {
        Arc::new(Handle { disk: self.clone(), generation: self.state.lock().generation })
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        self.state.lock().faults = faults;
    }

    pub(crate) fn crash_after(&self, operations: u64) {
        self.state.lock().crash_after = Some(operations);
    }

    pub(crate) fn stats(&self) -> DiskStats {
        self.state.lock().stats
    }

    pub(crate) fn files(&self) -> BTreeSet<String> {
        self.state.lock().names.files.keys().cloned().collect()
    }

    pub(crate) fn contents(&self, path: &str) -> Option<Vec<u8>> {
        let state = self.state.lock();
        state.names.files.get(path).map(|inode| state.inodes[inode].actual.view.clone())
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.state.lock().used()
    }

    pub(crate) fn durable_contents(&self, path: &str) -> Option<Vec<u8>> {
        let state = self.state.lock();
        state.durable_names.files.get(path).map(|inode| state.inodes[inode].right().durable.clone())
    }

    /// The process ends: handles and locks are dead, the operating system keeps what was written.
    pub(crate) fn kill(&self) {
        let mut state = self.state.lock();
        state.generation += 1;
        state.crash_after = None;
        state.locks.clear();
    }

    /// The power fails: keeps of what was not synced what the seed says.
    pub(crate) fn crash(&self) {
        self.kill();
        let mut state = self.state.lock();
        let state = &mut *state;
        let kept = self.executor.below(state.pending_names.len() as u64 + 1) as usize;
        for change in state.pending_names.drain(..).take(kept) {
            change.apply(&mut state.durable_names);
        }
        state.names = state.durable_names.clone();
        state.inodes.values_mut().for_each(|inode| inode.crash(|change| self.survivors(change)));
    }

    /// What a crash leaves of one change: nothing, all, or some sectors.
    fn survivors(&self, change: &Change) -> Vec<Change> {
        match (self.executor.below(3), change) {
            (0, _) => Vec::new(),
            (1, _) | (_, Change::SetLen(_)) => vec![change.clone()],
            (_, Change::Write { offset, data }) => self.some_sectors(*offset, data),
        }
    }

    fn some_sectors(&self, offset: usize, data: &[u8]) -> Vec<Change> {
        let (mut sectors, mut at) = (Vec::new(), 0);
        while at < data.len() {
            let end = ((offset + at) / SECTOR * SECTOR + SECTOR - offset).min(data.len());
            if self.executor.below(2) == 0 {
                sectors.push(Change::Write { offset: offset + at, data: data[at..end].to_vec() });
            }
            at = end;
        }
        sectors
    }

    /// Takes the time of one operation; pending for ever if the power fails in it.
    async fn operation(&self, generation: u64, counter: impl FnOnce(&mut DiskStats)) -> Result<()> {
        let fails_now = {
            let mut state = self.state.lock();
            check_generation(&state, generation)?;
            counter(&mut state.stats);
            match &mut state.crash_after {
                Some(left) if *left <= 1 => true,
                Some(left) => {
                    *left -= 1;
                    false
                }
                None => false,
            }
        };
        if fails_now {
            self.state.lock().crash_after = None;
            self.executor.power_fails();
            return futures_lite::future::pending().await;
        }
        self.executor.sleep_random(SLOWEST).await;
        check_generation(&self.state.lock(), generation)
    }

    fn fails(&self, path: &str, probability: impl Fn(&Faults) -> f64) -> bool {
        let probability = {
            let state = self.state.lock();
            let meant = state.faults.only.as_ref().is_none_or(|only| path.contains(only.as_str()));
            if meant { probability(&state.faults) } else { 0.0 }
        };
        self.executor.chance(probability)
    }
}

fn check_generation(state: &State, generation: u64) -> Result<()> {
    if state.generation == generation { Ok(()) } else { Err(Error::other("the machine has crashed")) }
}

fn io_error() -> Error {
    Error::from_raw_os_error(libc::EIO)
}

/// A disk as one life of the machine's process sees it.
struct Handle {
    disk: Arc<SimDisk>,
    generation: u64,
}

impl Handle {
    async fn names<T>(&self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        self.disk.operation(self.generation, |_| {}).await?;
        change(&mut self.disk.state.lock())
    }
}

fn not_found(path: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{path}: not found"))
}

impl Disk for Handle {
    fn open<'a>(&'a self, path: &'a str, options: OpenOptions) -> BoxFuture<'a, Result<Arc<dyn File>>> {
        Box::pin(async move {
            let inode = self
                .names(|state| {
                    if let Some(&inode) = state.names.files.get(path) {
                        let taken = options.create_new;
                        return if taken { Err(ErrorKind::AlreadyExists.into()) } else { Ok(inode) };
                    }
                    if !(options.create || options.create_new) {
                        return Err(not_found(path));
                    }
                    let dir = parent(path);
                    if !dir.is_empty() && !state.names.dirs.contains(dir) {
                        return Err(not_found(dir));
                    }
                    state.next_inode += 1;
                    let inode = state.next_inode;
                    state.inodes.insert(inode, Inode::default());
                    state.change_name(NameChange::Create(path.to_owned(), inode));
                    Ok(inode)
                })
                .await?;
            let file = SimFile {
                disk: self.disk.clone(),
                generation: self.generation,
                inode,
                path: path.to_owned(),
                options,
                failures_told: AtomicU64::new(self.disk.state.lock().inode(inode).failures),
            };
            Ok(Arc::new(file) as Arc<dyn File>)
        })
    }

    fn list<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(self.names(move |state| {
            let in_dir = |path: &&String| parent(path) == dir;
            let name = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
            Ok(state.names.files.keys().filter(in_dir).map(name).collect())
        }))
    }

    fn exists<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.names(move |state| {
            Ok(path.is_empty() || state.names.files.contains_key(path) || state.names.dirs.contains(path))
        }))
    }

    fn create_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.names(move |state| {
            let ends = dir.match_indices('/').map(|(at, _)| at).chain([dir.len()]);
            for path in ends.map(|end| &dir[..end]) {
                if !state.names.dirs.contains(path) {
                    state.change_name(NameChange::CreateDir(path.to_owned()));
                }
            }
            Ok(())
        }))
    }

    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.names(move |state| {
            if !state.names.files.contains_key(from) {
                return Err(not_found(from));
            }
            state.change_name(NameChange::Rename(from.to_owned(), to.to_owned()));
            Ok(())
        }))
    }

    fn remove<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.names(move |state| {
            if !state.names.files.contains_key(path) {
                return Err(not_found(path));
            }
            state.change_name(NameChange::Remove(path.to_owned()));
            Ok(())
        }))
    }

    fn sync_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.names(move |state| {
            // A journal has one order: what makes this directory durable takes all before it along.
            let last = state.pending_names.iter().rposition(|change| change.is_in(dir));
            for change in state.pending_names.drain(..last.map_or(0, |at| at + 1)) {
                change.apply(&mut state.durable_names);
            }
            Ok(())
        }))
    }

    fn lock<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Box<dyn LockGuard>>> {
        Box::pin(async move {
            self.names(
                |state| {
                    if state.locks.insert(path.to_owned()) { Ok(()) } else { Err(ErrorKind::WouldBlock.into()) }
                },
            )
            .await?;
            let guard = Guard { disk: self.disk.clone(), generation: self.generation, path: path.to_owned() };
            Ok(Box::new(guard) as Box<dyn LockGuard>)
        })
    }

    fn free_space<'a>(&'a self) -> BoxFuture<'a, Result<u64>> {
        Box::pin(self.names(|state| {
            let capacity = state.faults.capacity.unwrap_or(u64::MAX / 2);
            Ok(capacity.saturating_sub(state.used()))
        }))
    }
}

struct Guard {
    disk: Arc<SimDisk>,
    generation: u64,
    path: String,
}

impl LockGuard for Guard {}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut state = self.disk.state.lock();
        if state.generation == self.generation {
            state.locks.remove(&self.path);
        }
    }
}

struct SimFile {
    disk: Arc<SimDisk>,
    generation: u64,
    inode: u64,
    path: String,
    options: OpenOptions,
    failures_told: AtomicU64,
}

impl SimFile {
    fn check_alignment(&self, offset: u64, len: usize) -> Result<()> {
        if self.options.direct && !(offset.is_multiple_of(4096) && len.is_multiple_of(4096)) {
            return Err(Error::new(ErrorKind::InvalidInput, "O_DIRECT needs multiples of 4096"));
        }
        Ok(())
    }

    fn sync_now(&self, up_to: u64) {
        self.disk.state.lock().inode(self.inode).sync(up_to);
    }

    /// As Linux after a failed sync: the pages count as clean, so some of them will never be written.
    fn forget_some(&self, up_to: u64) {
        let mut state = self.disk.state.lock();
        let inode = state.inode(self.inode);
        inode.failures += 1;
        let may_stay = |pending: &Pending| pending.number > up_to || self.disk.executor.below(2) == 0;
        inode.pending.retain(may_stay);
    }

    /// As `O_DSYNC` does: this write is durable, others are not.
    async fn sync_write(&self, number: u64) -> Result<()> {
        self.disk.operation(self.generation, |stats| stats.syncs += 1).await?;
        if self.disk.fails(&self.path, |faults| faults.sync_error) {
            self.forget_some(number);
        }
        let mut state = self.disk.state.lock();
        let inode = state.inode(self.inode);
        if self.failures_told.swap(inode.failures, Ordering::Relaxed) < inode.failures {
            return Err(io_error());
        }
        inode.write_through(number);
        Ok(())
    }

    async fn sync_changes(&self) -> Result<()> {
        let up_to = self.disk.state.lock().next_change;
        self.disk.operation(self.generation, |stats| stats.syncs += 1).await?;
        if self.disk.fails(&self.path, |faults| faults.sync_error) {
            self.forget_some(up_to);
        }
        let failures = self.disk.state.lock().inode(self.inode).failures;
        if self.failures_told.swap(failures, Ordering::Relaxed) < failures {
            return Err(io_error());
        }
        self.sync_now(up_to);
        Ok(())
    }

    /// How long the file can become at most.
    fn len_max(&self) -> u64 {
        let mut state = self.disk.state.lock();
        let Some(capacity) = state.faults.capacity else { return u64::MAX };
        let free = capacity.saturating_sub(state.used());
        state.inode(self.inode).actual.view.len() as u64 + free
    }

    fn write_some(&self, offset: u64, data: &[u8]) -> u64 {
        let change = Change::Write { offset: offset as usize, data: data.to_vec() };
        match self.disk.go_wrong(self.inode, &self.path, &change) {
            Some(number) => number,
            None => self.disk.state.lock().change_file(self.inode, change, Of::Both),
        }
    }
}

impl File for SimFile {
    fn read_at<'a>(&'a self, offset: u64, mut buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>> {
        Box::pin(async move {
            self.check_alignment(offset, buf.len())?;
            self.disk.operation(self.generation, |stats| stats.reads += 1).await?;
            if self.disk.fails(&self.path, |faults| faults.read_error) {
                return Err(io_error());
            }
            let mut state = self.disk.state.lock();
            let view = &state.inode(self.inode).actual.view;
            let from = offset as usize;
            let Some(bytes) = view.get(from..from + buf.len()) else { return Err(ErrorKind::UnexpectedEof.into()) };
            buf.copy_from_slice(bytes);
            Ok(buf)
        })
    }

    fn write_at<'a>(&'a self, offset: u64, buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>> {
        Box::pin(async move {
            if !self.options.write {
                return Err(Error::from_raw_os_error(libc::EBADF));
            }
            self.check_alignment(offset, buf.len())?;
            self.disk.operation(self.generation, |stats| stats.writes += 1).await?;
            let fits = self.len_max().saturating_sub(offset);
            if fits < buf.len() as u64 {
                if fits > 0 {
                    self.write_some(offset, &buf[..fits as usize]);
                }
                return Err(ErrorKind::StorageFull.into());
            }
            if self.disk.fails(&self.path, |faults| faults.write_error) {
                let some = self.disk.executor.below(buf.len() as u64 + 1) as usize;
                self.write_some(offset, &buf[..some]);
                return Err(io_error());
            }
            let number = self.write_some(offset, &buf);
            if self.options.dsync {
                self.sync_write(number).await?;
            }
            Ok(buf)
        })
    }

    fn sync<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.sync_changes())
    }

    fn len<'a>(&'a self) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            self.disk.operation(self.generation, |_| {}).await?;
            Ok(self.disk.state.lock().inode(self.inode).actual.view.len() as u64)
        })
    }

    fn set_len<'a>(&'a self, len: u64) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.disk.operation(self.generation, |_| {}).await?;
            if len > self.len_max() {
                return Err(ErrorKind::StorageFull.into());
            }
            self.disk.state.lock().change_file(self.inode, Change::SetLen(len as usize), Of::Both);
            Ok(())
        })
    }
}

impl std::fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SimDisk of machine {}", self.machine)
    }
}
