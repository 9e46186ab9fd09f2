//! A byte buffer whose memory is aligned for `O_DIRECT`.

use std::ops::{Deref, DerefMut};

/// Alignment of an [`IoBuf`]'s memory, and the granule of its capacity, in bytes.
pub(crate) const ALIGNMENT: usize = 4096;

#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Block([u8; ALIGNMENT]);

/// An owned, growable byte buffer at an address that is a multiple of 4096, handed to a file operation and given
/// back by it. Dereferences to its bytes.
#[derive(Default)]
pub struct IoBuf {
    blocks: Vec<Block>,
    len: usize,
}

impl IoBuf {
    /// An empty buffer that takes no memory.
    pub const fn new() -> Self {
        IoBuf { blocks: Vec::new(), len: 0 }
    }

    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        IoBuf { blocks: vec![Block([0; ALIGNMENT]); len.div_ceil(ALIGNMENT)], len }
    }

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut buf = IoBuf::new();
        buf.extend_from_slice(bytes);
        buf
    }

    /// Number of bytes in use.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no byte is in use.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets the bytes, keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes it `len` bytes long; bytes that come to it are zero.
    pub fn resize(&mut self, len: usize) {
        let old = self.len;
        self.reserve_total(len);
        self.len = len;
        if len > old {
            self[old..].fill(0);
        }
    }

    /// Adds bytes at the end.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        let old = self.len;
        self.reserve_total(old + bytes.len());
        self.len += bytes.len();
        self[old..].copy_from_slice(bytes);
    }

    fn reserve_total(&mut self, len: usize) {
        let blocks = len.div_ceil(ALIGNMENT);
        if blocks > self.blocks.len() {
            let grown = blocks.max(self.blocks.len() * 2);
            self.blocks.resize(grown, Block([0; ALIGNMENT]));
        }
    }
}

impl Deref for IoBuf {
    type Target = [u8];

    #[expect(unsafe_code, reason = "a Vec of byte arrays is bytes; safe Rust cannot flatten and keep the alignment")]
    fn deref(&self) -> &[u8] {
        // SAFETY: `Block` is `repr(C)` around `[u8; 4096]` with size and alignment 4096, so `blocks` is
        // `blocks.len() * 4096` initialised bytes without padding, and `len` never exceeds that.
        unsafe { std::slice::from_raw_parts(self.blocks.as_ptr().cast::<u8>(), self.len) }
    }
}

impl DerefMut for IoBuf {
    #[expect(unsafe_code, reason = "as in deref")]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; `&mut self` makes the access exclusive, and every byte pattern is a valid `u8`.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast::<u8>(), self.len) }
    }
}

impl std::fmt::Debug for IoBuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IoBuf({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_aligned_and_zeroed() {
        let mut buf = IoBuf::copy_of(b"abc");
        buf.resize(5000);
        assert_eq!(&buf[..4], b"abc\0");
        assert!(buf[4..].iter().all(|&b| b == 0));
        assert_eq!(buf.as_ptr() as usize % ALIGNMENT, 0);
        buf.clear();
        buf.extend_from_slice(b"xy");
        buf.resize(4);
        assert_eq!(&buf[..], b"xy\0\0", "old bytes do not come back");
    }
}
