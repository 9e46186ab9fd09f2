//! A key that is short in nearly every case, and then lies in the node of the tree itself.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;

/// Longest key that needs no allocation: what makes [`Key`] three words.
const INLINE_BYTES: usize = 22;

/// Memcomparable bytes. Ordered, compared and hashed as its slice.
#[derive(Clone)]
pub struct Key(Repr);

#[derive(Clone)]
enum Repr {
    Inline { length: u8, bytes: [u8; INLINE_BYTES] },
    Heap(Box<[u8]>),
}

impl Key {
    /// A copy of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        if bytes.len() > INLINE_BYTES {
            return Key(Repr::Heap(bytes.into()));
        }
        let mut inline = [0; INLINE_BYTES];
        inline[..bytes.len()].copy_from_slice(bytes);
        Key(Repr::Inline { length: bytes.len() as u8, bytes: inline })
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { length, bytes } => &bytes[..usize::from(*length)],
            Repr::Heap(bytes) => bytes,
        }
    }

    /// Bytes that it takes beside itself.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Inline { .. } => 0,
            Repr::Heap(bytes) => bytes.len(),
        }
    }
}

impl Deref for Key {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        self.as_slice()
    }
}

impl From<&[u8]> for Key {
    fn from(bytes: &[u8]) -> Self {
        Key::new(bytes)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.as_slice() {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_three_words_and_orders_as_its_bytes() {
        assert_eq!(size_of::<Key>(), 24);
        let long = vec![7; 100];
        let mut keys = [Key::new(b"b"), Key::new(&long), Key::new(b""), Key::new(b"a\0"), Key::new(b"a")];
        keys.sort();
        let sorted: Vec<&[u8]> = keys.iter().map(Key::as_slice).collect();
        assert_eq!(sorted, [b"".as_slice(), &long, b"a", b"a\0", b"b"]);
        assert_eq!(Key::new(&long).heap_bytes(), 100);
    }
}
