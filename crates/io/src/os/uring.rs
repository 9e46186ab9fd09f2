//! io_uring for reads and writes: one thread owns the ring, submits what tasks queue, and wakes them.
//!
//! Commits do not use it (measured slower than a log thread with plain system calls); page reads and checkpoint
//! writes may. An operation owns its buffer and its file until the kernel is done with them, whatever becomes of
//! the task that waits.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use io_uring::{IoUring, opcode, squeue, types};
use parking_lot::Mutex;

use super::completion::{Completer, Completion, completion};
use crate::IoBuf;

/// Operations in the ring at once; more wait in the queue.
const DEPTH: u32 = 128;
/// Marks the completion that only says that the queue has something.
const WAKE_UP: u64 = u64::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
}

struct Operation {
    kind: Kind,
    file: Arc<File>,
    offset: u64,
    buf: IoBuf,
    /// Bytes done by earlier, short completions.
    done: usize,
    completer: Completer<Result<IoBuf>>,
}

struct Shared {
    queue: Mutex<(VecDeque<Operation>, bool)>,
    event: OwnedFd,
}

/// A ring and its thread.
pub(crate) struct Uring {
    shared: Arc<Shared>,
}

impl Uring {
    pub(crate) fn start() -> Result<Self> {
        let ring = IoUring::new(DEPTH)?;
        let shared = Arc::new(Shared { queue: Mutex::default(), event: event_fd()? });
        let of_thread = shared.clone();
        let reaper = move || Reaper { ring, shared: of_thread, running: Vec::new(), free: Vec::new() }.run();
        std::thread::Builder::new().name("io-uring".to_owned()).spawn(reaper)?;
        Ok(Uring { shared })
    }

    pub(crate) fn submit(&self, kind: Kind, file: Arc<File>, offset: u64, buf: IoBuf) -> Completion<Result<IoBuf>> {
        let (completer, done) = completion();
        self.shared.queue.lock().0.push_back(Operation { kind, file, offset, buf, done: 0, completer });
        wake(&self.shared.event);
        done
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        self.shared.queue.lock().1 = true;
        wake(&self.shared.event);
    }
}

#[expect(unsafe_code, reason = "eventfd has no safe wrapper in the dependencies")]
fn event_fd() -> Result<OwnedFd> {
    // SAFETY: no pointers are passed; a non-negative result is a new descriptor that nothing else owns.
    unsafe {
        match libc::eventfd(0, libc::EFD_CLOEXEC) {
            fd if fd < 0 => Err(Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

#[expect(unsafe_code, reason = "eventfd has no safe wrapper in the dependencies")]
fn wake(event: &OwnedFd) {
    let one = 1u64;
    // SAFETY: the pointer is to eight readable bytes. A full counter (the only failure) has woken the thread already.
    unsafe { libc::write(event.as_raw_fd(), (&raw const one).cast(), 8) };
}

struct Reaper {
    ring: IoUring,
    shared: Arc<Shared>,
    /// Operations that the kernel works on, by the number in their completion.
    running: Vec<Option<Operation>>,
    free: Vec<usize>,
}

impl Reaper {
    fn run(mut self) {
        let mut counter = Box::new(0u64);
        let mut armed = false;
        loop {
            // Not with the wake-up under way either: the kernel would write into `counter` when it is gone. Dropping the
            // ring's owner wakes it, so it comes.
            let closed = self.take_queue();
            if closed && !armed && self.running.len() == self.free.len() {
                return;
            }
            if !armed {
                let event = types::Fd(self.shared.event.as_raw_fd());
                let entry = opcode::Read::new(event, (&raw mut *counter).cast(), 8).build().user_data(WAKE_UP);
                self.push(&entry);
                armed = true;
            }
            if let Err(error) = self.ring.submit_and_wait(1)
                && error.kind() != ErrorKind::Interrupted
            {
                tracing::error!("io_uring: {error}");
            }
            let completed: Vec<(u64, i32)> =
                self.ring.completion().map(|entry| (entry.user_data(), entry.result())).collect();
            for (number, result) in completed {
                if number == WAKE_UP {
                    armed = false;
                } else {
                    self.completed(number as usize, result);
                }
            }
        }
    }

    /// Starts what is queued, as far as the ring has room. Says whether no more will come.
    fn take_queue(&mut self) -> bool {
        loop {
            let in_flight = self.running.len() - self.free.len();
            let operation = {
                let mut queue = self.shared.queue.lock();
                if in_flight + 1 >= DEPTH as usize || queue.0.is_empty() {
                    return queue.1;
                }
                queue.0.pop_front()
            };
            if let Some(operation) = operation {
                self.start(operation);
            }
        }
    }

    fn start(&mut self, operation: Operation) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.running.push(None);
            self.running.len() - 1
        });
        let operation = self.running[number].insert(operation);
        let fd = types::Fd(operation.file.as_raw_fd());
        let offset = operation.offset + operation.done as u64;
        let rest = &mut operation.buf[operation.done..];
        let len = rest.len().min(1 << 30) as u32;
        let entry = match operation.kind {
            Kind::Read => opcode::Read::new(fd, rest.as_mut_ptr(), len).offset(offset).build(),
            Kind::Write => opcode::Write::new(fd, rest.as_ptr(), len).offset(offset).build(),
        };
        self.push(&entry.user_data(number as u64));
    }

    #[expect(unsafe_code, reason = "a submission hands raw memory to the kernel")]
    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: buffers and files of operations stay in `running` (heap memory that does not move) until their
        // completion has been reaped, the counter of the wake-up outlives the loop, and so nothing that the kernel
        // reads or writes is freed before. The thread never leaves the loop with an operation in flight.
        let pushed = unsafe { self.ring.submission().push(entry) };
        if pushed.is_err() {
            unreachable!("the ring has room: at most DEPTH entries are in flight");
        }
    }

    fn completed(&mut self, number: usize, result: i32) {
        let Some(mut operation) = self.running[number].take() else { return };
        self.free.push(number);
        let transferred = usize::try_from(result);
        let outcome = match transferred {
            Err(_) if result == -libc::EINTR || result == -libc::EAGAIN => return self.start(operation),
            Err(_) => Err(Error::from_raw_os_error(-result)),
            Ok(0) if operation.done < operation.buf.len() => Err(end_of_file(operation.kind)),
            Ok(count) => {
                operation.done += count;
                if operation.done < operation.buf.len() {
                    return self.start(operation);
                }
                Ok(())
            }
        };
        let Operation { buf, completer, .. } = operation;
        completer.complete(outcome.map(|()| buf));
    }
}

fn end_of_file(kind: Kind) -> Error {
    match kind {
        Kind::Read => ErrorKind::UnexpectedEof.into(),
        Kind::Write => ErrorKind::WriteZero.into(),
    }
}
