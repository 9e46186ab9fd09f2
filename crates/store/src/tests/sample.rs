//! Entries by their places, and whether all of them are drawn with the same chance.

use std::collections::BTreeMap;
use std::ops::Bound;

use base::IndexId;
use bytes::Bytes;

use super::Stage;
use crate::{Change, Compression, Direction, Draw, Roots, Sampled};

const INDEX: IndexId = IndexId(7);
const LARGE_VALUE: usize = 4000;
const DRAWN: usize = 40_000;

/// A tree of many small rows, with some in between of which four fill a leaf.
fn uneven(rows: usize) -> (Stage, Roots) {
    let mut stage = Stage::new();
    stage.open().unwrap();
    let row = |n: usize| {
        let size = if n % 500 < 40 { LARGE_VALUE } else { 12 };
        Change { key: format!("{n:06}").into(), value: Some(vec![b'x'; size].into()) }
    };
    stage.merge(INDEX, Compression::None, (0..rows).map(row).collect()).unwrap();
    let roots = stage.store().roots();
    (stage, roots)
}

async fn all(roots: &Roots) -> Vec<Bytes> {
    let mut cursor = roots.cursor(INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    let mut entries = Vec::new();
    while cursor.next_batch(&mut entries, 1000).await.unwrap() {}
    entries.into_iter().map(|entry| entry.key).collect()
}

/// Which leaf each key is in, by the address of the memory that it is a slice of.
async fn leaves(roots: &Roots) -> BTreeMap<Bytes, usize> {
    let mut cursor = roots.cursor(INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    let (mut leaf_of, mut leaf) = (BTreeMap::new(), 0);
    loop {
        let mut entries = Vec::new();
        // A batch is of one leaf.
        if !cursor.next_batch(&mut entries, usize::MAX).await.unwrap() {
            return leaf_of;
        }
        leaf_of.extend(entries.into_iter().map(|entry| (entry.key, leaf)));
        leaf += 1;
    }
}

#[test]
fn each_place_has_its_entry() {
    let (stage, roots) = uneven(3000);
    let checked = stage.machine.run(async {
        let keys = all(&roots).await;
        let places: Vec<u64> = (0..keys.len() as u64 + 3).collect();
        let found = roots.entries_at(INDEX, &places, Sampled::Keys).await.unwrap();
        assert_eq!(
            found.iter().map(|entry| entry.key.clone()).collect::<Vec<_>>(),
            keys,
            "those behind the end are none"
        );
        let found = roots.entries_at(INDEX, &[5, 5, 2999], Sampled::Values(1 << 20)).await.unwrap();
        assert_eq!(found.iter().map(|entry| entry.value.len()).collect::<Vec<_>>(), [LARGE_VALUE, LARGE_VALUE, 12]);
        let found = roots.entries_at(INDEX, &[5, 2999], Sampled::Values(100)).await.unwrap();
        assert_eq!(found.len(), 1, "the long one is left out");
    });
    checked.expect("no crash is armed");
}

/// Chi-square of what was drawn against equal chances, less its degrees of freedom, in standard deviations.
fn deviation(counts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut cells) = (0.0, 0.0);
    for (seen, expected) in counts {
        sum += (seen - expected).powi(2) / expected;
        cells += 1.0;
    }
    let freedom: f64 = cells - 1.0;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

/// A leaf of four rows is not drawn as often as a full one, and none of its rows more often than another row.
#[test]
fn all_entries_have_the_same_chance() {
    let (stage, roots) = uneven(3000);
    let checked = stage.machine.run(async {
        let leaf_of = leaves(&roots).await;
        let mut rows_of = BTreeMap::new();
        leaf_of.values().for_each(|leaf| *rows_of.entry(*leaf).or_insert(0) += 1);
        let (fewest, most) = (rows_of.values().min().unwrap(), rows_of.values().max().unwrap());
        assert!(*fewest <= 4 && *most >= 200, "leaves are uneven: {fewest} to {most} rows");
        let mut draw = Draw::new(42);
        let drawn = roots.sample(INDEX, DRAWN, &mut draw, Sampled::Keys).await.unwrap();
        assert_eq!(drawn.len(), DRAWN);
        let (mut of_leaf, mut of_key) = (BTreeMap::new(), BTreeMap::new());
        for entry in drawn {
            *of_leaf.entry(leaf_of[&entry.key]).or_insert(0) += 1;
            *of_key.entry(entry.key).or_insert(0) += 1;
        }
        let share = DRAWN as f64 / leaf_of.len() as f64;
        let seen = |count: Option<&i32>| f64::from(*count.unwrap_or(&0));
        let leaves = rows_of.iter().map(|(leaf, rows)| (seen(of_leaf.get(leaf)), share * f64::from(*rows)));
        let leaves = deviation(leaves);
        let keys = deviation(leaf_of.keys().map(|key| (seen(of_key.get(key)), share)));
        assert!(leaves.abs() < 3.0 && keys.abs() < 3.0, "{leaves} by leaf, {keys} by key");
    });
    checked.expect("no crash is armed");
}
