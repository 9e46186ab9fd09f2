//! Memory for the rows that an operator keeps, beyond which it goes to temporary files.
//!
//! An operator has what the settings say (`sort_buffer_size`, `join_buffer_size`), and beyond that a part of the *spare memory*, as long as there is some:
//! one piece of [`SPARE_BYTES`] for all statements of the program. A few large sorts and joins stay in memory that way, and many at once take no more
//! than the settings let them.
//!
//! # Invariants
//! - Nobody waits for spare memory: what there is none of is not used.
//! - None is taken that the limit of the connection's memory does not allow.

use std::sync::atomic::{AtomicUsize, Ordering};

use base::memory;

/// For all statements together.
const SPARE_BYTES: usize = 256 << 20;
/// Taken at once.
const PIECE_BYTES: usize = 1 << 20;

static SPARE: AtomicUsize = AtomicUsize::new(SPARE_BYTES);

/// The memory of one operator.
#[derive(Debug)]
pub(crate) struct Budget {
    own: usize,
    /// What it has of the spare memory, and may have.
    spare: usize,
    spare_max: usize,
}

impl Budget {
    /// `own` bytes, and at most `spare` more, of what is not used by others.
    pub(crate) fn new(own: usize, spare: usize) -> Self {
        Budget { own, spare: 0, spare_max: spare }
    }

    /// Whether so many bytes may be kept.
    pub(crate) fn holds(&mut self, bytes: usize) -> bool {
        while bytes > self.own + self.spare {
            if !self.grow() {
                return false;
            }
        }
        true
    }

    fn grow(&mut self) -> bool {
        if self.spare + PIECE_BYTES > self.spare_max || !memory::has_room(2 * PIECE_BYTES as u64) {
            return false;
        }
        let less = |left: usize| left.checked_sub(PIECE_BYTES);
        let is_there = SPARE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if is_there {
            self.spare += PIECE_BYTES;
        }
        is_there
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        SPARE.fetch_add(self.spare, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_memory_is_given_back() {
        let mut one = Budget::new(1000, 3 * PIECE_BYTES);
        assert!(one.holds(1000) && one.spare == 0);
        assert!(one.holds(1001) && one.spare == PIECE_BYTES);
        assert!(one.holds(3 * PIECE_BYTES) && !one.holds(4 * PIECE_BYTES));
        assert!(one.holds(3 * PIECE_BYTES));
        let mut many: Vec<Budget> = (0..2 * SPARE_BYTES / PIECE_BYTES).map(|_| Budget::new(0, PIECE_BYTES)).collect();
        let held = many.iter_mut().filter_map(|budget| budget.holds(1).then_some(())).count();
        // Other tests may have some of it.
        assert!(held + 3 <= SPARE_BYTES / PIECE_BYTES && held > 0);
        many.clear();
        assert!(Budget::new(0, PIECE_BYTES).holds(1));
    }
}
