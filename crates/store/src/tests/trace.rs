//! A disk that notes what is done to it.

use std::io::Result;
use std::sync::Arc;

use io::{BoxFuture, Disk, Env, File, IoBuf, LockGuard, OpenOptions};
use parking_lot::Mutex;

/// What was done, a line each; offsets and lengths in blocks.
#[derive(Default)]
pub(super) struct Trace(Mutex<String>);

impl Trace {
    /// The environment, with its disk watched.
    pub(super) fn env(self: &Arc<Self>, env: Env) -> Env {
        Env { disk: Arc::new(TracedDisk { disk: env.disk, trace: self.clone() }), ..env }
    }

    /// What was done since the last call.
    pub(super) fn take(&self) -> String {
        std::mem::take(&mut self.0.lock())
    }

    fn note(&self, what: String) {
        let mut lines = self.0.lock();
        lines.push_str(&what);
        lines.push('\n');
    }

    fn note_blocks(&self, what: &str, offset: u64, len: usize) {
        self.note(format!("# {what} {}+{}", offset / 4096, len / 4096));
    }
}

struct TracedDisk {
    disk: Arc<dyn Disk>,
    trace: Arc<Trace>,
}

impl Disk for TracedDisk {
    fn open<'a>(&'a self, path: &'a str, options: OpenOptions) -> BoxFuture<'a, Result<Arc<dyn File>>> {
        Box::pin(async move {
            let file = self.disk.open(path, options).await?;
            Ok(Arc::new(TracedFile { file, trace: self.trace.clone() }) as Arc<dyn File>)
        })
    }

    fn list<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<Vec<String>>> {
        self.disk.list(dir)
    }

    fn exists<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<bool>> {
        self.disk.exists(path)
    }

    fn create_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>> {
        self.disk.create_dir(dir)
    }

    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> BoxFuture<'a, Result<()>> {
        self.trace.note(format!("# rename {from} to {to}"));
        self.disk.rename(from, to)
    }

    fn remove<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<()>> {
        self.disk.remove(path)
    }

    fn sync_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>> {
        self.trace.note("# sync directory".to_string());
        self.disk.sync_dir(dir)
    }

    fn lock<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Box<dyn LockGuard>>> {
        self.disk.lock(path)
    }

    fn free_space<'a>(&'a self) -> BoxFuture<'a, Result<u64>> {
        self.disk.free_space()
    }
}

struct TracedFile {
    file: Arc<dyn File>,
    trace: Arc<Trace>,
}

impl File for TracedFile {
    fn read_at<'a>(&'a self, offset: u64, buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>> {
        self.trace.note_blocks("read", offset, buf.len());
        self.file.read_at(offset, buf)
    }

    fn write_at<'a>(&'a self, offset: u64, buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>> {
        self.trace.note_blocks("write", offset, buf.len());
        self.file.write_at(offset, buf)
    }

    fn sync<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        self.trace.note("# sync".to_string());
        self.file.sync()
    }

    fn len<'a>(&'a self) -> BoxFuture<'a, Result<u64>> {
        self.file.len()
    }

    fn set_len<'a>(&'a self, len: u64) -> BoxFuture<'a, Result<()>> {
        self.trace.note(format!("# length {}", len / 4096));
        self.file.set_len(len)
    }
}
