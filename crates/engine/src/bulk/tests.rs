//! Sorting and merging against a model; whole recoveries in bulk are tested in `apply` and `sim`.

use proptest::prelude::*;

use super::*;

/// A write: how many transactions after the one before, the key, the value if it has one.
pub(super) type Write = (u8, Vec<u8>, Option<u8>);

pub(super) fn batch_of(first: u64, list: &[Write]) -> Batch {
    let mut writes = BulkWrites::default();
    writes.begin(CommitNumber(first));
    for (step, key, value) in list {
        writes.last.0 += u64::from(*step);
        let at = writes.arena.len();
        writes.arena.extend_from_slice(key);
        let value_at = value.map(|_| writes.arena.len());
        writes.arena.extend(value);
        let slot = Slot::of(&writes.arena, at, value_at, (writes.last.0 - first) as u32).unwrap();
        writes.indexes.entry(IndexId(7)).or_default().push(slot);
    }
    writes.take_sorted()
}

pub(super) fn writes() -> impl Strategy<Value = Vec<Write>> {
    // Few bytes, so that keys meet, begin alike, and are prefixes of one another also with zeros behind.
    let byte = prop_oneof![Just(0u8), Just(1), Just(255)];
    let key = prop_oneof![prop::collection::vec(byte.clone(), 1..4), prop::collection::vec(byte, 7..11)];
    prop::collection::vec((0..3u8, key, any::<Option<u8>>()), 1..40)
}

proptest! {
    #[test]
    fn of_each_key_the_newest_version_comes_in_order(batches in prop::collection::vec(writes(), 1..6), turn in any::<bool>()) {
        let mut model = BTreeMap::new();
        let mut made = Vec::new();
        let mut first = 1;
        for writes in &batches {
            let mut number = first;
            for (step, key, value) in writes {
                number += u64::from(*step);
                model.insert(key.clone(), (value.map(|value| vec![value]), number));
            }
            let batch = batch_of(first, writes);
            first = batch.last.0 + 1;
            made.push(Arc::new(batch));
        }
        if turn {
            made.reverse();
        }
        let entries: usize = made.iter().map(|batch| batch.entries()).sum();
        let mut cursor = BulkCursor::new(&made, IndexId(7));
        let mut found = Vec::new();
        while let Some(version) = cursor.next() {
            found.push((version.key.to_vec(), (version.value.map(|value| value.to_vec()), version.number.0)));
        }
        prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(cursor.take_passed(), entries as u64);
    }
}

#[test]
fn settled_versions_join_what_is_in_the_memtable() {
    let memtable = Memtable::new(CommitNumber(0));
    let index = IndexId(7);
    let put = |number, value: &'static str| {
        let stamp = VersionStamp::Known(CommitNumber(number));
        memtable.install(index, b"k", Some(value.into()), stamp, || CommitNumber(0));
    };
    put(9, "nine");
    memtable.attach_bulk(Arc::new(batch_of(3, &[(0, b"k".to_vec(), Some(b'a')), (1, b"l".to_vec(), None)])));
    put(2, "two");
    BulkPart::all_of(&memtable).into_iter().for_each(BulkPart::settle);
    assert!(memtable.bulk().is_empty());
    let at =
        |key: &[u8], number| memtable.with_tree(index, |tree| tree.get_visible(key, CommitNumber(number))).flatten();
    assert_eq!(at(b"k", 8), Some(Some("a".into())));
    assert_eq!(at(b"k", 9), Some(Some("nine".into())));
    assert_eq!(at(b"l", 4), Some(None), "removed");
    assert_eq!(at(b"l", 3), None);
}
