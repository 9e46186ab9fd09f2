//! Names among many, found without looking at each.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::ops::Bound;

/// All entries whose name may be equal to `name` in a collation that ignores case, in order: those that differ from it in the case of letters of ASCII, and
/// all that go on, behind what is equal, with a character that such a collation may ignore or hold for another one (what is not ASCII, spaces, control characters).
/// Whoever asks compares them by the collation.
pub(super) fn alike<'m, K: Borrow<str> + Ord, V>(map: &'m BTreeMap<K, V>, name: &str) -> Vec<(&'m K, &'m V)> {
    let mut found = Vec::new();
    // Beginnings of names that are there and equal so far.
    let mut beginnings = vec![String::new()];
    for wanted in name.chars() {
        let mut longer = Vec::new();
        for beginning in &beginnings {
            found.extend(unclear_behind(map, beginning));
            let (lower, upper) = (wanted.to_ascii_lowercase(), wanted.to_ascii_uppercase());
            let both = [upper, lower].into_iter().take(if lower == upper { 1 } else { 2 });
            longer.extend(both.map(|next| format!("{beginning}{next}")).filter(|longer| begins_any(map, longer)));
        }
        beginnings = longer;
    }
    for beginning in &beginnings {
        found.extend(unclear_behind(map, beginning));
        found.extend(map.get_key_value(beginning.as_str()));
    }
    found.sort_by_key(|(name, _)| *name);
    found.dedup_by_key(|(name, _)| *name);
    found
}

fn from<'m, K: Borrow<str> + Ord, V>(
    map: &'m BTreeMap<K, V>,
    start: &str,
) -> impl Iterator<Item = (&'m K, &'m V)> + use<'m, K, V> {
    map.range::<str, _>((Bound::Included(start), Bound::Unbounded))
}

fn begins_any<K: Borrow<str> + Ord, V>(map: &BTreeMap<K, V>, beginning: &str) -> bool {
    from(map, beginning).next().is_some_and(|(name, _)| (*name).borrow().starts_with(beginning))
}

/// The names that begin so and go on with what is no visible character of ASCII.
fn unclear_behind<'m, K: Borrow<str> + Ord, V>(map: &'m BTreeMap<K, V>, beginning: &str) -> Vec<(&'m K, &'m V)> {
    let follows = |name: &K| name.borrow().strip_prefix(beginning).and_then(|rest| rest.chars().next());
    let below = from(map, beginning)
        .skip_while(|(name, _)| (*name).borrow() == beginning)
        .take_while(|(name, _)| follows(name).is_some_and(|next| next <= ' '));
    let above = from(map, &format!("{beginning}\u{7f}")).take_while(|(name, _)| follows(name).is_some());
    below.chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike_in(names: &[&str], name: &str) -> Vec<String> {
        let map: BTreeMap<String, ()> = names.iter().map(|name| ((*name).to_owned(), ())).collect();
        alike(&map, name).into_iter().map(|(name, ())| name.clone()).collect()
    }

    #[test]
    fn case_is_ignored() {
        let names = ["T1", "t1", "t10", "t2", "u", "", "T"];
        assert_eq!(alike_in(&names, "t1"), ["T1", "t1"]);
        assert_eq!(alike_in(&names, "T"), ["T"]);
        assert_eq!(alike_in(&names, ""), [""]);
        assert_eq!(alike_in(&names, "v"), [""; 0]);
    }

    #[test]
    fn what_a_collation_has_to_tell_is_found() {
        let names = ["cafe", "caf\u{e9}", "CAF\u{c9}S", "cafe ", "ca\u{200b}fe", "\u{e7}afe", "cafx", "x\u{e9}"];
        assert_eq!(alike_in(&names, "cafe"), ["CAF\u{c9}S", "cafe", "cafe ", "caf\u{e9}", "ca\u{200b}fe", "\u{e7}afe"]);
    }
}
