//! The program's allocator: how long it keeps what was freed, and what it tells of what is allocated.
//!
//! Each allocation and each release is said to [`base::memory`], which knows whose connection is at work.
//!
//! Checkpoints free what other threads have allocated, tens of megabytes in a second. With 192 MB of caches and updates at random the
//! process was at 311 MB with mimalloc, which leaves memory to the thread that had allocated it, and at 272 MB with
//! jemalloc, as fast or faster; jemalloc's own threads give freed memory back, so who answers clients does not.
//!
//! A recovery frees and takes hundreds of megabytes again and again, and each page that was given back costs a fault (4 us where the machine
//! is virtual): it keeps what it has freed, and takes 10 to 15 % less time.

use std::alloc::{GlobalAlloc, Layout};

use base::memory;
use tikv_jemalloc_ctl::raw;
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Counting = Counting(Jemalloc);

/// An allocator whose work is counted.
struct Counting(Jemalloc);

#[expect(unsafe_code, reason = "an allocator is unsafe by its nature")]
// SAFETY: every call is the inner allocator's, with the same arguments; counting allocates nothing and does not panic.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        memory::allocated(layout.size());
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        memory::allocated(layout.size());
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        memory::freed(layout.size());
        unsafe { self.0.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        memory::freed(layout.size());
        memory::allocated(size);
        unsafe { self.0.realloc(pointer, layout, size) }
    }
}

/// jemalloc's settings, zero-terminated; `_RJEM_MALLOC_CONF` in the environment goes before them. Freed memory is kept for half a
/// second in place of ten.
#[expect(unsafe_code, reason = "jemalloc finds its settings by this symbol")]
// SAFETY: nothing else has the name, and a reference to bytes is, first, the pointer that jemalloc reads.
#[unsafe(export_name = "_rjem_malloc_conf")]
static SETTINGS: &[u8] = b"background_thread:true,dirty_decay_ms:500,muzzy_decay_ms:0\0";

/// For so long, in milliseconds, freed memory is kept.
const KEPT: isize = 500;
/// The same during recovery.
const KEPT_IN_RECOVERY: isize = 10_000;

/// A recovery begins.
pub(crate) fn keep_freed() {
    set_kept(KEPT_IN_RECOVERY);
}

/// The recovery is over.
pub(crate) fn give_freed_back() {
    set_kept(KEPT);
}

/// For the arenas that there are, and those to come. An allocator that does not take it goes on as before: nothing but speed and memory depends on it.
#[expect(unsafe_code, reason = "jemalloc's settings are set by name")]
fn set_kept(milliseconds: isize) {
    // SAFETY: the names end with a zero, and jemalloc says that these settings are `unsigned` and `ssize_t`.
    unsafe {
        let _ = raw::write(b"arenas.dirty_decay_ms\0", milliseconds);
        for arena in 0..raw::read::<u32>(b"arenas.narenas\0").unwrap_or(0) {
            // Those that were never used are not there yet.
            let _ = raw::write(format!("arena.{arena}.dirty_decay_ms\0").as_bytes(), milliseconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> isize {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "as above")]
        unsafe {
            raw::read(b"arena.0.dirty_decay_ms\0").unwrap()
        }
    }

    #[test]
    fn freed_memory_is_kept_longer_in_a_recovery() {
        assert_eq!(kept(), KEPT);
        keep_freed();
        assert_eq!(kept(), KEPT_IN_RECOVERY);
        give_freed_back();
        assert_eq!(kept(), KEPT);
    }

    #[test]
    fn settings_reach_the_allocator() {
        drop(vec![1u8; 64 << 20]);
        let names = std::fs::read_dir("/proc/self/task")
            .unwrap()
            .map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default());
        let names: Vec<String> = names.collect();
        assert!(names.iter().any(|name| name.starts_with("jemalloc_bg")), "{names:?}");
    }
}
