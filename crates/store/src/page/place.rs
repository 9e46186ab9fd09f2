//! Where a page is: the number of its first block, how many blocks it has, and the generation in which it was written.
//!
//! In inner nodes and in the manifest number and length are one number (a *place*), so that a page that knows
//! another one's length takes no more room for it.

use base::PageNumber;

use super::{BLOCK_SIZE, PAGE_BLOCKS};
use crate::space::Run;

/// Which page, how many blocks it has, and which of those pages that have been written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PageRef {
    /// Of its first block.
    pub(crate) number: PageNumber,
    pub(crate) generation: u64,
    pub(crate) blocks: u8,
}

impl PageRef {
    /// A page that is not compressed.
    pub(crate) fn plain(number: u64, generation: u64) -> Self {
        PageRef { number: PageNumber(number), generation, blocks: PAGE_BLOCKS }
    }

    /// Number and length in one: the number times four, and the blocks less one.
    pub(crate) fn place(self) -> u64 {
        self.number.0 << 2 | u64::from(self.blocks - 1)
    }

    /// From [`PageRef::place`].
    pub(crate) fn from_place(place: u64, generation: u64) -> Self {
        PageRef { number: PageNumber(place >> 2), generation, blocks: (place & 3) as u8 + 1 }
    }

    /// Its blocks.
    pub(crate) fn run(self) -> Run {
        Run::new(self.number.0, u64::from(self.blocks))
    }

    /// Whether another page begins where this one ends.
    pub(crate) fn is_before(self, other: PageRef) -> bool {
        self.run().end() == other.number.0
    }

    /// Bytes in the file.
    pub(crate) fn bytes(self) -> usize {
        usize::from(self.blocks) * BLOCK_SIZE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_hold_number_and_length() {
        for (number, blocks) in [(0, 4), (1, 1), (77, 3), ((1 << 62) - 1, 2)] {
            let at = PageRef { blocks, ..PageRef::plain(number, 5) };
            assert_eq!(PageRef::from_place(at.place(), 5), at);
            assert_eq!((at.run(), at.bytes()), (Run::new(number, u64::from(blocks)), usize::from(blocks) * 4096));
        }
    }
}
