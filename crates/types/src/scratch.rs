//! Memory for bytes that are put together: kept from one use to the next.

use std::cell::RefCell;

use bytes::Bytes;

use crate::error::TypeError;

/// What is longer is written in a memory of its own.
const KEPT_BYTES: usize = 64 << 10;

/// What `fill` writes, in one allocation of just its size: rows, keys and entries stay in write sets and memtables, and a `Vec` with room to spare would take a
/// second allocation when it becomes `Bytes`. `expected_size` is about how long it will be; what is long is not copied.
pub(crate) fn exact(
    expected_size: usize,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), TypeError>,
) -> Result<Bytes, TypeError> {
    if expected_size > KEPT_BYTES {
        let mut out = Vec::with_capacity(expected_size);
        fill(&mut out)?;
        return Ok(out.into());
    }
    with_scratch(|out| fill(out).map(|()| Bytes::copy_from_slice(out)))
}

/// Lends an empty piece of memory to `use_it`, which must not ask for another.
pub(crate) fn with_scratch<T>(use_it: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    thread_local! {
        static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    SCRATCH.with_borrow_mut(|out| {
        out.clear();
        let result = use_it(out);
        out.shrink_to(KEPT_BYTES);
        result
    })
}
