//! The program's allocator, and how long it keeps what was freed.
//!
//! Checkpoints free what other threads have allocated, tens of megabytes in a second. With 192 MB of caches and updates at random the
//! process was at 311 MB with mimalloc, which leaves memory to the thread that had allocated it, and at 272 MB with
//! jemalloc, as fast or faster; jemalloc's own threads give freed memory back, so who answers clients does not.

use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// jemalloc's settings, zero-terminated; `_RJEM_MALLOC_CONF` in the environment goes before them. Freed memory is kept for half a
/// second in place of ten.
#[expect(unsafe_code, reason = "jemalloc finds its settings by this symbol")]
// SAFETY: nothing else has the name, and a reference to bytes is, first, the pointer that jemalloc reads.
#[unsafe(export_name = "_rjem_malloc_conf")]
static SETTINGS: &[u8] = b"background_thread:true,dirty_decay_ms:500,muzzy_decay_ms:0\0";

#[cfg(test)]
mod tests {
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
