//! Collations compare, hash and sort as MySQL does.

use proptest::prelude::*;

use super::*;

fn id(name: &str) -> CollationId {
    by_name(name).unwrap()
}

fn key(collation: CollationId, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    weights(collation, text.as_bytes(), &mut out);
    out
}

/// Orders that MySQL 9.7 gives.
#[test]
fn known_orders() {
    let cases = [
        ("utf8mb4_0900_ai_ci", "a", "Á", Ordering::Equal),
        ("utf8mb4_0900_ai_ci", "a", "a ", Ordering::Less),
        ("utf8mb4_0900_ai_ci", "ß", "ss", Ordering::Equal),
        ("utf8mb4_0900_ai_ci", "a", "a\u{1}", Ordering::Equal),
        ("utf8mb4_0900_ai_ci", "각", "\u{1100}\u{1161}\u{11a8}", Ordering::Equal),
        ("utf8mb4_0900_ai_ci", "一", "丁", Ordering::Less),
        ("utf8mb4_0900_ai_ci", "😀", "😁", Ordering::Less),
        ("utf8mb4_0900_as_ci", "a", "á", Ordering::Less),
        ("utf8mb4_0900_as_ci", "a", "A", Ordering::Equal),
        ("utf8mb4_0900_as_cs", "a", "A", Ordering::Less),
        ("utf8mb4_0900_as_cs", "áb", "Ac", Ordering::Less),
        ("utf8mb4_0900_bin", "a", "B", Ordering::Greater),
        ("utf8mb4_bin", "a", "a  ", Ordering::Equal),
        ("utf8mb4_bin", "a", "a\t", Ordering::Greater),
        ("utf8mb4_general_ci", "ß", "s", Ordering::Equal),
        ("utf8mb4_general_ci", "ä", "A ", Ordering::Equal),
        ("utf8mb4_general_ci", "😀", "😁", Ordering::Equal),
        ("utf8mb4_unicode_ci", "ß", "ss", Ordering::Equal),
        ("utf8mb4_unicode_ci", "a", "a  b", Ordering::Less),
        ("latin1_swedish_ci", "ü", "Y", Ordering::Equal),
        ("latin1_swedish_ci", "ä", "z", Ordering::Greater),
        ("latin1_general_ci", "ä", "a", Ordering::Greater),
        ("latin1_german1_ci", "ä", "A", Ordering::Equal),
        ("latin1_general_cs", "a", "A", Ordering::Greater),
        ("latin1_danish_ci", "å", "z", Ordering::Greater),
        // By its byte, which is 80.
        ("latin1_bin", "€", "é", Ordering::Less),
        ("ascii_general_ci", "a", "A ", Ordering::Equal),
        ("ascii_bin", "a", "A", Ordering::Greater),
        ("cp1251_general_ci", "п", "П", Ordering::Equal),
        ("cp1251_bin", "п", "П", Ordering::Greater),
        ("koi8r_general_ci", "ю", "а", Ordering::Greater),
        ("koi8r_bin", "ю", "а", Ordering::Less),
        ("utf8mb4_unicode_520_ci", "ß", "SS ", Ordering::Equal),
        ("utf8mb4_unicode_520_ci", "😀", "😁", Ordering::Less),
        ("utf8mb4_unicode_ci", "😀", "😁", Ordering::Equal),
        ("utf8mb4_swedish_ci", "ä", "z", Ordering::Greater),
        ("utf8mb4_german2_ci", "ä", "AE", Ordering::Equal),
        ("utf8mb4_german2_ci", "ß", "ss", Ordering::Equal),
        ("utf8mb4_turkish_ci", "ı", "i", Ordering::Less),
        ("utf8mb4_turkish_ci", "I", "ı", Ordering::Equal),
        ("utf8mb4_polish_ci", "łz", "lz", Ordering::Greater),
        ("utf8mb4_spanish_ci", "ñ", "nz", Ordering::Greater),
        ("utf8mb4_hungarian_ci", "ö", "oz", Ordering::Greater),
        ("binary", "a", "a ", Ordering::Less),
    ];
    for (name, a, b, order) in cases {
        assert_eq!(compare(id(name), a.as_bytes(), b.as_bytes()), order, "{name} {a:?} {b:?}");
        assert_eq!(compare(id(name), b.as_bytes(), a.as_bytes()), order.reverse(), "{name} {b:?} {a:?}");
        assert_eq!(key(id(name), a).cmp(&key(id(name), b)), order, "{name} keys of {a:?} {b:?}");
    }
}

#[test]
fn names_and_numbers() {
    for info in all() {
        assert_eq!(by_name(info.name), Some(info.id));
        assert_eq!(by_id(info.id.0), Some(info.id));
        assert_eq!(info.id.name(), info.name);
    }
    assert_eq!(by_name("utf8_general_ci"), Some(CollationId::UTF8MB4_GENERAL_CI));
    assert_eq!(by_name("UTF8MB3_BIN"), Some(CollationId::UTF8MB4_BIN));
    assert_eq!(by_id(33), Some(CollationId::UTF8MB4_GENERAL_CI));
    assert_eq!(by_id(214), by_name("utf8_unicode_520_ci"));
    assert_eq!((by_id(200), by_id(202)), (by_name("utf8mb3_swedish_ci"), None));
    assert_eq!(by_name("utf8mb4_klingon_ci"), None);
    assert_eq!(CollationId(64).info().name, "binary", "armscii8_bin is not here");
}

/// Text that meets: few letters, spaces, characters below the space, accents, long and ignored weights.
fn text() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        4 => proptest::sample::select(vec!['a', 'A', 'b', ' ', '\t', '\u{0}', '\u{1}', 'ä', 'e', '\u{301}', 'ß', '가']),
        1 => any::<char>(),
    ];
    proptest::collection::vec(char, 0..6).prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn keys_are_ordered_as_strings_are(a in text(), b in text(), which in 0..ALL.len()) {
        let collation = ALL[which].id;
        let (key_a, key_b) = (key(collation, &a), key(collation, &b));
        prop_assert_eq!(compare(collation, a.as_bytes(), b.as_bytes()), key_a.cmp(&key_b));
        prop_assert!(key_a == key_b || !key_b.starts_with(&key_a));
        if key_a == key_b {
            prop_assert_eq!(hash(collation, a.as_bytes()), hash(collation, b.as_bytes()));
        }
    }

    #[test]
    fn keys_end_where_they_end(a in text(), b in text(), which in 0..ALL.len(), mask in proptest::sample::select(vec![0u8, 255])) {
        let collation = ALL[which].id;
        let mut bytes = key(collation, &a);
        let len = bytes.len();
        bytes.extend(key(collation, &b));
        bytes.iter_mut().for_each(|byte| *byte ^= mask);
        prop_assert_eq!(skip_weights(collation, &bytes, mask), Some(len));
    }

    #[test]
    fn prefixes_hold_what_begins_with_them(a in text(), b in text(), which in 0..ALL.len()) {
        let collation = ALL[which].id;
        let mut prefix = Vec::new();
        prefix_weights(collation, a.as_bytes(), &mut prefix);
        let longer = format!("{}{}", a, b);
        prop_assert!(key(collation, &longer).starts_with(&prefix));
    }
}
