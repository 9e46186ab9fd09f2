//! Any bytes as a set of GTIDs, in its text and in its binary form: what is read says the same in both.
#![no_main]

use binlog::GtidSet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(set) = GtidSet::decode(data) {
        check(&set);
    }
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(set) = text.parse::<GtidSet>()
    {
        check(&set);
    }
});

fn check(set: &GtidSet) {
    assert_eq!(set.to_string().parse().as_ref(), Ok(set), "as text");
    let mut bytes = Vec::new();
    set.encode(&mut bytes);
    assert_eq!(GtidSet::decode(&bytes).as_ref(), Ok(set), "as bytes");
    let mut sum = set.clone();
    sum.union(set);
    assert_eq!(&sum, set);
    assert!(set.is_subset_of(&sum) && (set.is_empty() || !set.is_disjoint(&sum)));
    sum.subtract(set);
    assert!(sum.is_empty());
}
