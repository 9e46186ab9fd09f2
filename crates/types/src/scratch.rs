//! Bytes that are kept, in one allocation of just their size.

use std::cell::RefCell;

use bytes::Bytes;

use crate::error::TypeError;

/// What `fill` writes: rows, keys and entries stay in write sets and memtables, and a `Vec` with room to spare would take a second allocation when it becomes
/// `Bytes`. `expected_size` is about how long it will be; what is long is written in a memory of its own, and not copied.
pub(crate) fn exact(
    expected_size: usize,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), TypeError>,
) -> Result<Bytes, TypeError> {
    const KEPT_BYTES: usize = 64 << 10;
    thread_local! {
        static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    if expected_size > KEPT_BYTES {
        let mut out = Vec::with_capacity(expected_size);
        fill(&mut out)?;
        return Ok(out.into());
    }
    SCRATCH.with_borrow_mut(|out| {
        out.clear();
        let result = fill(out).map(|()| Bytes::copy_from_slice(out));
        out.shrink_to(KEPT_BYTES);
        result
    })
}
