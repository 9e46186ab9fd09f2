//! Files of the operating system.

use std::ffi::CString;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::threads::WorkerThreads;
use super::uring::{Kind, Uring};
use crate::{BoxFuture, Disk, File, IoBuf, IoMode, LockGuard, OpenOptions, RealPath};

/// A directory of the file system.
pub(crate) struct OsDisk {
    root: PathBuf,
    threads: Arc<WorkerThreads>,
    uring: Option<Arc<Uring>>,
}

impl OsDisk {
    pub(crate) fn new(root: PathBuf, threads: Arc<WorkerThreads>, uring: Option<Arc<Uring>>) -> Self {
        OsDisk { root, threads, uring }
    }

    /// Runs something about names on a worker thread: removing a large file can take long.
    fn on_path<'a, T: Send + 'static>(
        &'a self,
        path: &'a str,
        job: impl FnOnce(&Path) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'a, Result<T>> {
        let full = self.root.join(path);
        Box::pin(self.threads.run(move || job(&full).map_err(|error| with_path(&error, &full))))
    }
}

/// The error with the path in its text, and its kind kept.
fn with_path(error: &Error, path: &Path) -> Error {
    Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn open(path: &Path, options: OpenOptions) -> Result<fs::File> {
    let mut flags = 0;
    if options.direct {
        flags |= libc::O_DIRECT;
    }
    if options.dsync {
        flags |= libc::O_DSYNC;
    }
    fs::OpenOptions::new()
        .read(true)
        .write(options.write)
        .create(options.create && options.write)
        .create_new(options.create_new)
        .custom_flags(flags)
        .open(path)
}

impl Disk for OsDisk {
    fn open<'a>(&'a self, path: &'a str, options: OpenOptions) -> BoxFuture<'a, Result<Arc<dyn File>>> {
        Box::pin(async move {
            let file = self
                .on_path(path, move |path| match open(path, options) {
                    // Some file systems (tmpfs) have no O_DIRECT; it is an optimisation.
                    Err(error) if options.direct && error.raw_os_error() == Some(libc::EINVAL) => {
                        open(path, OpenOptions { direct: false, ..options })
                    }
                    result => result,
                })
                .await?;
            let file = OsFile {
                file: Arc::new(file),
                mode: options.mode,
                threads: self.threads.clone(),
                uring: self.uring.clone(),
            };
            Ok(Arc::new(file) as Arc<dyn File>)
        })
    }

    fn list<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<Vec<String>>> {
        self.on_path(dir, |path| {
            let mut names = Vec::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                if !entry.file_type()?.is_dir() {
                    names.push(entry.file_name().to_string_lossy().into_owned());
                }
            }
            names.sort();
            Ok(names)
        })
    }

    fn exists<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<bool>> {
        self.on_path(path, Path::try_exists)
    }

    fn resolve<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<RealPath>> {
        self.on_path(path, |path| {
            let real = fs::canonicalize(path)?;
            let is_file = fs::metadata(&real)?.is_file();
            Ok(RealPath { path: real.to_string_lossy().into_owned(), is_file })
        })
    }

    fn create_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>> {
        self.on_path(dir, |path| fs::create_dir_all(path))
    }

    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> BoxFuture<'a, Result<()>> {
        let to = self.root.join(to);
        self.on_path(from, move |from| fs::rename(from, to))
    }

    fn remove<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<()>> {
        self.on_path(path, |path| fs::remove_file(path))
    }

    fn sync_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>> {
        self.on_path(dir, |path| fs::File::open(path)?.sync_all())
    }

    fn lock<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Box<dyn LockGuard>>> {
        self.on_path(path, |path| {
            let file = open(path, OpenOptions { create: true, write: true, ..OpenOptions::default() })?;
            match file.try_lock() {
                Ok(()) => Ok(Box::new(FileLock { _file: file }) as Box<dyn LockGuard>),
                Err(fs::TryLockError::WouldBlock) => Err(ErrorKind::WouldBlock.into()),
                Err(fs::TryLockError::Error(error)) => Err(error),
            }
        })
    }

    fn free_space<'a>(&'a self) -> BoxFuture<'a, Result<u64>> {
        self.on_path("", free_space)
    }
}

#[expect(unsafe_code, reason = "statvfs has no wrapper in std")]
fn free_space(path: &Path) -> Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `statvfs` is a plain struct for which zero bytes are valid; the call gets a terminated string and a
    // pointer to it, and fills it.
    unsafe {
        let mut info: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(path.as_ptr(), &raw mut info) != 0 {
            return Err(Error::last_os_error());
        }
        Ok(info.f_bavail * info.f_frsize)
    }
}

/// The operating system drops the lock with the file.
struct FileLock {
    _file: fs::File,
}

impl LockGuard for FileLock {}

struct OsFile {
    file: Arc<fs::File>,
    mode: IoMode,
    threads: Arc<WorkerThreads>,
    uring: Option<Arc<Uring>>,
}

impl OsFile {
    /// Runs a system call here or on a worker thread, as the file was opened.
    fn call<'a, T: Send + 'static>(
        &'a self,
        job: impl FnOnce(&fs::File) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'a, Result<T>> {
        match self.mode {
            IoMode::Inline => Box::pin(async move { job(&self.file) }),
            IoMode::Offload => {
                let file = self.file.clone();
                Box::pin(self.threads.run(move || job(&file)))
            }
        }
    }

    fn uring(&self) -> Option<&Uring> {
        self.uring.as_deref().filter(|_| self.mode == IoMode::Offload)
    }
}

impl File for OsFile {
    fn read_at<'a>(&'a self, offset: u64, mut buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>> {
        match self.uring() {
            Some(uring) => Box::pin(uring.submit(Kind::Read, self.file.clone(), offset, buf)),
            None => self.call(move |file| file.read_exact_at(&mut buf, offset).map(|()| buf)),
        }
    }

    fn write_at<'a>(&'a self, offset: u64, buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>> {
        match self.uring() {
            Some(uring) => Box::pin(uring.submit(Kind::Write, self.file.clone(), offset, buf)),
            None => self.call(move |file| file.write_all_at(&buf, offset).map(|()| buf)),
        }
    }

    fn sync<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        self.call(fs::File::sync_data)
    }

    fn len<'a>(&'a self) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move { Ok(self.file.metadata()?.len()) })
    }

    fn set_len<'a>(&'a self, len: u64) -> BoxFuture<'a, Result<()>> {
        self.call(move |file| file.set_len(len))
    }

    fn write_back<'a>(&'a self, begin: Range<u64>, others: Range<u64>) -> BoxFuture<'a, Result<()>> {
        let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        self.call(move |file| {
            sync_range(file, &begin, libc::SYNC_FILE_RANGE_WRITE)?;
            if others.is_empty() { Ok(()) } else { sync_range(file, &others, all) }
        })
    }
}

#[expect(unsafe_code, reason = "sync_file_range has no wrapper in std")]
fn sync_range(file: &fs::File, range: &Range<u64>, flags: libc::c_uint) -> Result<()> {
    let (from, len) = (range.start.cast_signed(), (range.end - range.start).cast_signed());
    // SAFETY: the descriptor is open as long as the file is borrowed, and no memory is passed.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), from, len, flags) } {
        0 => Ok(()),
        _ => match Error::last_os_error() {
            // A file system that cannot do that on demand does it when it wants.
            error if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL | libc::EOPNOTSUPP)) => Ok(()),
            error => Err(error),
        },
    }
}
