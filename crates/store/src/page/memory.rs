//! The memory of pages, and of reads of several: kept for the next one when it goes.
//!
//! Pages come and go by the hundred thousand, and mostly one thread frees what another one has allocated. An allocator keeps
//! what is freed to the thread that allocated it, and pieces of each size apart; so a page cache full of pages took 1.4 times its
//! size, and reads of two to 64 pages, each by its size, left a hundred megabytes behind. Here every thread takes from what
//! any thread has freed, and there are few sizes.
//!
//! # Invariants
//! - A page that stays in memory has memory of its own: what is kept of a long read is never more than the pages kept of it.
//! - At most [`SPARE_BYTES`] of each size wait to be used; the others go back to the allocator.

use bytes::Bytes;
use io::IoBuf;
use parking_lot::Mutex;

use super::PAGE_SIZE;

/// Sizes: a page, and twice as much each time, up to 1 MiB.
const SIZES: usize = 7;
/// Of each size, so much is kept at most.
const SPARE_BYTES: usize = 4 << 20;

static SPARE: Mutex<[Vec<IoBuf>; SIZES]> = Mutex::new([const { Vec::new() }; SIZES]);

/// The size for so many bytes; `None` if that is more than there are.
fn size_of(len: usize) -> Option<usize> {
    let size = len.div_ceil(PAGE_SIZE).max(1).next_power_of_two().ilog2() as usize;
    (size < SIZES).then_some(size)
}

/// Gives its memory back when the last that reads it lets go of it.
struct Owned(IoBuf);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let Some(size) = size_of(self.0.len()) else { return };
        let spare = &mut SPARE.lock()[size];
        if (spare.len() + 1) * (PAGE_SIZE << size) <= SPARE_BYTES {
            spare.push(std::mem::take(&mut self.0));
        }
    }
}

/// Memory of so many bytes, whatever they are, to be filled and then [shared](share).
pub(crate) fn take(len: usize) -> IoBuf {
    let Some(size) = size_of(len) else { return IoBuf::zeroed(len) };
    let spare = SPARE.lock()[size].pop();
    let mut buf = spare.unwrap_or_else(|| IoBuf::zeroed(PAGE_SIZE << size));
    buf.resize(len);
    buf
}

/// What was [taken](take), as bytes that can be shared.
pub(crate) fn share(buf: IoBuf) -> Bytes {
    Bytes::from_owner(Owned(buf))
}

/// A page's bytes in memory of their own.
pub(crate) fn copy_of(page: &[u8]) -> Bytes {
    let mut memory = take(page.len());
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
    }

    #[test]
    fn any_length_is_had_and_little_is_kept() {
        for len in [0, 1, 4096, PAGE_SIZE, PAGE_SIZE + 1, 5 * PAGE_SIZE, 64 * PAGE_SIZE, 64 * PAGE_SIZE + 1, 9 << 20] {
            let all: Vec<Bytes> = (0..600).map(|_| share(take(len.min(PAGE_SIZE << 2)))).collect();
            drop(all);
            let bytes = share(take(len));
            assert_eq!(bytes.len(), len);
        }
        let kept = SPARE.lock();
        for (size, spare) in kept.iter().enumerate() {
            assert!(spare.len() * (PAGE_SIZE << size) <= SPARE_BYTES);
        }
    }
}
