//! Sets of slots, or of the statement's columns by their numbers.

/// So many slots are looked through one by one.
const FEW: usize = 16;

/// Numbers of slots, each once, in the order in which they came. A select list may have millions of columns: whether a slot is in it is
/// found in constant time.
#[derive(Clone, Debug, Default)]
pub struct SlotSet {
    slots: Vec<usize>,
    /// A bit for each slot that is in it; empty while there are few.
    bits: Vec<u64>,
}

impl SlotSet {
    /// Adds a slot; `false` if it was in it.
    pub fn insert(&mut self, slot: usize) -> bool {
        if self.contains(slot) {
            return false;
        }
        self.slots.push(slot);
        match self.slots.len() {
            0..=FEW => {}
            len if len == FEW + 1 => (0..len).for_each(|at| self.mark(self.slots[at])),
            _ => self.mark(slot),
        }
        true
    }

    fn mark(&mut self, slot: usize) {
        let word = slot / 64;
        if self.bits.len() <= word {
            self.bits.resize((word + 1).next_power_of_two(), 0);
        }
        self.bits[word] |= 1 << (slot % 64);
    }

    /// Whether a slot is in it.
    pub fn contains(&self, slot: usize) -> bool {
        if self.slots.len() <= FEW {
            return self.slots.contains(&slot);
        }
        self.bits.get(slot / 64).is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Leaves the first ones.
    pub fn truncate(&mut self, count: usize) {
        for slot in self.slots.drain(count.min(self.slots.len())..) {
            if let Some(word) = self.bits.get_mut(slot / 64) {
                *word &= !(1 << (slot % 64));
            }
        }
        if self.slots.len() <= FEW {
            self.bits.clear();
        }
    }

    /// The slots, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots.iter().copied()
    }

    /// As a list in the order in which they came.
    pub fn into_vec(self) -> Vec<usize> {
        self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::SlotSet;

    #[test]
    fn each_slot_is_in_it_once_and_in_its_order() {
        for count in [0, 1, 16, 17, 18, 64, 1000] {
            let mut set = SlotSet::default();
            let slots: Vec<usize> = (0..count).map(|at| (at * 7919) % 5003).collect();
            for &slot in &slots {
                assert!(!set.contains(slot));
                assert!(set.insert(slot));
                assert!(!set.insert(slot));
            }
            assert!(slots.iter().all(|&slot| set.contains(slot)));
            assert!(!set.contains(5003) && !set.contains(1 << 40));
            let mut fewer = set.clone();
            fewer.truncate(17);
            assert!(fewer.iter().eq(slots.iter().take(17).copied()));
            assert!(slots.iter().skip(17).all(|&slot| !fewer.contains(slot) && fewer.insert(slot)));
            assert_eq!(fewer.len(), set.len());
            assert_eq!(set.into_vec(), slots);
        }
    }
}
