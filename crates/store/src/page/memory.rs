//! The memory of pages: one piece for each page in memory, kept for the next one when the page goes.
//!
//! Pages come and go by the hundred thousand, and mostly one thread frees what another one has allocated. An allocator keeps
//! what is freed to the thread that allocated it, so that a page cache full of pages took 1.4 times its size. Here every thread
//! takes from what any thread has freed.
//!
//! # Invariants
//! - A page that is in memory has memory of its own: what is kept of a long read is never more than the pages kept of it.
//! - At most [`SPARE_MAX`] pieces wait to be used; the others go back to the allocator.

use bytes::Bytes;
use io::IoBuf;
use parking_lot::Mutex;

use super::PAGE_SIZE;

/// Pieces that are kept at most: 16 MB, more than a merge frees before it or a reader fills them again.
const SPARE_MAX: usize = 1024;

static SPARE: Mutex<Vec<IoBuf>> = Mutex::new(Vec::new());

/// Gives its memory back when the last that reads the page lets go of it.
struct Owned(IoBuf);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if self.0.len() != PAGE_SIZE {
            return;
        }
        let mut spare = SPARE.lock();
        if spare.len() < SPARE_MAX {
            spare.push(std::mem::take(&mut self.0));
        }
    }
}

/// Memory of [`PAGE_SIZE`] bytes, whatever they are.
pub(crate) fn take() -> IoBuf {
    let spare = SPARE.lock().pop();
    spare.unwrap_or_else(|| IoBuf::zeroed(PAGE_SIZE))
}

/// Bytes that were read or made, to be shared; if they are those of one page, their memory is kept when all let go of them.
pub(crate) fn share(buf: IoBuf) -> Bytes {
    Bytes::from_owner(Owned(buf))
}

/// A page's bytes in memory of their own.
pub(crate) fn copy_of(page: &[u8]) -> Bytes {
    let mut memory = take();
    memory.copy_from_slice(page);
    share(memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_by_any_thread_and_never_while_somebody_reads_it() {
        let page = copy_of(&[7; PAGE_SIZE]);
        let part = page.slice(100..200);
        drop(page);
        let others: Vec<Bytes> = (0..50u8).map(|byte| copy_of(&[byte; PAGE_SIZE])).collect();
        assert!(part.iter().all(|&byte| byte == 7));
        for (byte, other) in others.iter().enumerate() {
            assert!(other.iter().all(|&found| usize::from(found) == byte));
        }
        std::thread::spawn(move || drop(others)).join().unwrap();
        assert!(SPARE.lock().len() <= SPARE_MAX);
        assert_eq!(take().len(), PAGE_SIZE);
        drop(share(IoBuf::zeroed(3 * PAGE_SIZE)));
        assert_eq!(take().len(), PAGE_SIZE, "memory of another size is not kept");
    }
}
