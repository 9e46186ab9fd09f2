//! TABLE_MAPs of a transaction, remembered for the next ones, which mostly have the same.

use std::collections::HashMap;

use super::TableMap;
use crate::error::DecodeError;

/// Maps of so many bytes are remembered from one transaction to the next.
const REMEMBERED_MAX: usize = 1 << 20;

/// What was made of TABLE_MAPs, by their numbers. Only maps of the transaction that is read count.
#[derive(Debug)]
pub struct TransactionMaps<T> {
    tables: HashMap<u64, Known<T>>,
    /// Bytes of the maps, those included that others have replaced since the last cleaning.
    bytes: usize,
    /// More bytes are a reason to clean: at least twice what the last cleaning has left, so that each map is looked at a few times only.
    bytes_max: usize,
    /// Counts transactions.
    transaction: u64,
}

/// A TABLE_MAP's body, what was made of it, and the transaction that had it last.
#[derive(Debug)]
struct Known<T> {
    body: Vec<u8>,
    made: T,
    transaction: u64,
}

impl<T> Default for TransactionMaps<T> {
    fn default() -> Self {
        TransactionMaps { tables: HashMap::new(), bytes: 0, bytes_max: REMEMBERED_MAX, transaction: 0 }
    }
}

impl<T> TransactionMaps<T> {
    /// Begins the next transaction, to which the maps of those before are nothing.
    pub fn begin_transaction(&mut self) {
        self.transaction += 1;
    }

    /// Whether the map with this body is known: then it is the transaction's from here on.
    ///
    /// # Errors
    /// When the body is none of a map.
    pub fn is_known(&mut self, body: &[u8]) -> Result<bool, DecodeError> {
        let id = TableMap::decode_name(body)?.table_id;
        let known = self.tables.get_mut(&id).filter(|known| known.body == body);
        Ok(known.map(|known| known.transaction = self.transaction).is_some())
    }

    /// Adds what was made of a map of the transaction, with its number and its body.
    pub fn insert(&mut self, table_id: u64, body: &[u8], made: T) {
        self.bytes += body.len();
        if self.bytes > self.bytes_max {
            self.forget_earlier();
            self.bytes += body.len();
        }
        self.tables.insert(table_id, Known { body: body.to_vec(), made, transaction: self.transaction });
    }

    /// What was made of the transaction's map of that number.
    ///
    /// # Errors
    /// When it has none.
    pub fn get(&self, table_id: u64) -> Result<&T, DecodeError> {
        let known = self.tables.get(&table_id).filter(|known| known.transaction == self.transaction);
        known
            .map(|known| &known.made)
            .ok_or_else(|| DecodeError(format!("rows of table number {table_id} without a TABLE_MAP")))
    }

    /// Forgets all maps.
    pub fn clear(&mut self) {
        self.tables.clear();
        self.bytes = 0;
    }

    /// Forgets the maps that only earlier transactions had.
    fn forget_earlier(&mut self) {
        let transaction = self.transaction;
        self.tables.retain(|_, known| known.transaction == transaction);
        self.bytes = self.tables.values().map(|known| known.body.len()).sum();
        self.bytes_max = REMEMBERED_MAX.max(2 * self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `d.t (id INT NOT NULL)`
    fn map(number: u32) -> Vec<u8> {
        [&number.to_le_bytes()[..], &[0, 0, 1, 0, 1, b'd', 0, 1, b't', 0, 1, 3, 0, 0]].concat()
    }

    /// What a transaction has mapped stays until its end, however many tables there are; what only earlier ones had, goes.
    #[test]
    fn maps_of_many_tables() {
        let mut maps = TransactionMaps::default();
        let count = (3 * REMEMBERED_MAX / map(0).len()) as u32;
        for transaction in 0..3 {
            maps.begin_transaction();
            let numbers = transaction * count..(transaction + 1) * count;
            for number in numbers.clone() {
                assert!(!maps.is_known(&map(number)).unwrap());
                maps.insert(number.into(), &map(number), number);
            }
            assert!(numbers.clone().all(|number| maps.get(number.into()).unwrap() == &number));
        }
        for number in 0..count {
            maps.begin_transaction();
            maps.insert(number.into(), &map(number), number);
            assert_eq!(maps.get(number.into()).unwrap(), &number);
        }
        assert!(maps.tables.len() * map(0).len() <= 2 * REMEMBERED_MAX, "{}", maps.tables.len());
    }

    #[test]
    fn maps_of_other_transactions_do_not_count() {
        let mut maps = TransactionMaps::default();
        maps.insert(7, &map(7), "seven");
        assert_eq!(maps.get(7).unwrap(), &"seven");
        maps.begin_transaction();
        assert!(maps.get(7).unwrap_err().0.contains("number 7 without a TABLE_MAP"));
        assert!(maps.is_known(&map(7)).unwrap());
        assert_eq!(maps.get(7).unwrap(), &"seven");
        maps.clear();
        maps.get(7).unwrap_err();
    }
}
