//! Tables of a statement by keys: bytes that are equal for what is equal ([`crate::expr::order`]).
//!
//! Keys lie behind one another in one piece of memory, so that a new one costs no allocation of its own. Their hash has a seed of its own each
//! time, so that keys that share one cannot be prepared.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Values by keys.
#[derive(Default)]
pub(crate) struct KeyMap<V> {
    slots: HashTable<Slot<V>>,
    keys: Vec<u8>,
    hasher: RandomState,
}

/// A key and its value.
struct Slot<V> {
    hash: u64,
    /// Where the key begins, and its length.
    at: usize,
    length: usize,
    value: V,
}

impl<V> KeyMap<V> {
    /// How many keys.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bytes that a key takes beside its own.
    pub(crate) const fn bytes_beside_key() -> usize {
        // A byte of control, and room for a third of all.
        (size_of::<Slot<V>>() + 1) * 3 / 2
    }

    /// Forgets all of them, and their memory.
    pub(crate) fn clear(&mut self) {
        self.slots = HashTable::new();
        self.keys = Vec::new();
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&V> {
        let found = self.slots.find(self.hasher.hash_one(key), |slot| slot.key(&self.keys) == key);
        found.map(|slot| &slot.value)
    }

    pub(crate) fn get_mut(&mut self, key: &[u8]) -> Option<&mut V> {
        let found = self.slots.find_mut(self.hasher.hash_one(key), |slot| slot.key(&self.keys) == key);
        found.map(|slot| &mut slot.value)
    }

    /// Puts a value in, in place of the key's value if it has one, which is given back.
    pub(crate) fn insert(&mut self, key: &[u8], value: V) -> Option<V> {
        let hash = self.hasher.hash_one(key);
        if let Some(slot) = self.slots.find_mut(hash, |slot| slot.key(&self.keys) == key) {
            return Some(std::mem::replace(&mut slot.value, value));
        }
        let slot = Slot { hash, at: self.keys.len(), length: key.len(), value };
        self.keys.extend_from_slice(key);
        self.slots.insert_unique(hash, slot, |slot| slot.hash);
        None
    }

    /// All keys with their values, in any order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &V)> {
        self.slots.iter().map(|slot| (slot.key(&self.keys), &slot.value))
    }
}

impl<V> Slot<V> {
    #[inline]
    fn key<'k>(&self, keys: &'k [u8]) -> &'k [u8] {
        &keys[self.at..self.at + self.length]
    }
}

/// Keys.
#[derive(Default)]
pub(crate) struct KeySet(KeyMap<()>);

impl KeySet {
    /// Bytes that a key takes beside its own.
    pub(crate) const KEY_BYTES: usize = KeyMap::<()>::bytes_beside_key();

    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        self.0.get(key).is_some()
    }

    /// Adds a key; whether it is new.
    pub(crate) fn insert(&mut self, key: &[u8]) -> bool {
        self.0.insert(key, ()).is_none()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_values() {
        let mut map = KeyMap::default();
        let keys: Vec<Vec<u8>> = (0..5000u32).map(|n| n.to_be_bytes()[..(n % 5) as usize].to_vec()).collect();
        let mut expected = std::collections::HashMap::new();
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(map.insert(key, number), expected.insert(key.clone(), number));
        }
        assert_eq!(map.iter().count(), expected.len());
        assert!(map.iter().all(|(key, number)| expected[key] == *number));
        assert!(expected.len() == map.len() && expected.iter().all(|(key, number)| map.get(key) == Some(number)));
        *map.get_mut(b"").unwrap() = 7;
        assert_eq!((map.get(b""), map.get(b"unknown")), (Some(&7), None));
        map.clear();
        assert_eq!((map.iter().count(), map.get(b"")), (0, None));
    }
}
