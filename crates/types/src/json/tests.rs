//! Round trips, what MySQL wrote, and damaged bytes.

use proptest::prelude::*;

use super::*;

fn document() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Int),
        any::<i16>().prop_map(|n| Json::Int(n.into())),
        any::<u64>().prop_map(Json::UInt),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Json::Double),
        (any::<i64>(), 0..20u8)
            .prop_map(|(n, scale)| Json::Decimal(format!("{n}e-{scale}").parse().unwrap_or(Decimal::from(n)))),
        ".{0,200}".prop_map(Json::String),
        (any::<u8>().prop_filter("no type of ours", |code| *code > 247), prop::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(code, bytes)| Json::Opaque(code, bytes)),
        (-1_000_000_000_000i64..1_000_000_000_000).prop_map(|n| Json::Time(Time::from_micros(n))),
        (0..9999u16, 0..12u8, 0..31u8).prop_map(|(y, m, d)| Json::Date(Date::new(y, m, d))),
    ];
    scalar.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Json::Array),
            prop::collection::vec((".{0,6}", inner), 0..8)
                .prop_map(|members| Json::Object(Object::from_members(members))),
        ]
    })
}

proptest! {
    #[test]
    fn binary_round_trip(json in document()) {
        let bytes = binary::encode(&json).unwrap();
        prop_assert_eq!(&binary::decode(&bytes).unwrap(), &json);
        let again = parse(&json.to_text()).unwrap();
        prop_assert_eq!(parse(&again.to_text()).unwrap(), again);
    }

    #[test]
    fn damage_is_no_panic(json in document(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = binary::encode(&json).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(json) = binary::decode(&bytes) {
            let _ = json.to_text();
        }
        let _ = binary::decode(&bytes[..at]);
    }

    #[test]
    fn any_text_is_no_panic(text in "[\\[\\]{}\",:0-9a-z.\\\\eE $*-]{0,40}") {
        let _ = parse(&text);
        let _ = Path::parse(&text);
    }

    #[test]
    fn keys_are_ordered_as_values(a in document(), b in document()) {
        let key = |json: &Json| {
            let mut out = Vec::new();
            order::sort_key(json, &mut out);
            out
        };
        let scalars = a.is_scalar() || b.is_scalar();
        let (by_key, by_value) = (key(&a).cmp(&key(&b)), order::compare(&a, &b));
        prop_assert_eq!(by_key.is_eq(), by_value.is_eq());
        prop_assert!(!scalars || by_key == by_value);
    }
}

#[test]
fn texts() {
    let same = [r#"{"a": [1, true, "x"], "b": -1.5}"#, "[]", "{}", r#""\u0001\n\"\\""#, "1e17", "100000000000000.0"];
    for text in same {
        assert_eq!(parse(text).unwrap().to_text(), text);
    }
    assert_eq!(parse(r#"{"b":1,"aa":2,"a":3,"b":4,"":5}"#).unwrap().to_text(), r#"{"": 5, "a": 3, "b": 4, "aa": 2}"#);
    assert_eq!(parse("-0").unwrap().to_text(), "0");
    assert_eq!(parse("\"\\ud83d\\ude00\"").unwrap(), Json::String("😀".into()));
    assert_eq!(parse("4294967296").unwrap(), Json::UInt(1 << 32));
    assert_eq!(parse("-4294967296").unwrap(), Json::Int(-(1 << 32)));
}

#[test]
fn what_is_no_document() {
    let wrong = [
        ("", "The document is empty.", 0),
        ("[1,2", "Missing a comma or ']' after an array element.", 4),
        ("{\"a\":1,}", "Missing a name for object member.", 7),
        ("\"\\udc00\"", "The surrogate pair in string is invalid.", 1),
        ("1e400", "Number too big to be stored in double.", 0),
        ("1 2", "The document root must not be followed by other values.", 2),
        ("nulx", "Invalid value.", 3),
    ];
    for (text, what, position) in wrong {
        assert_eq!(parse(text), Err(ParseError::Invalid { what, position }), "{text}");
    }
    let nested = |depth: usize| parse(&("[".repeat(depth) + &"]".repeat(depth)));
    assert!(binary::encode(&nested(DEPTH_MAX).unwrap()).is_ok());
    assert_eq!(nested(DEPTH_MAX + 1), Err(ParseError::TooDeep));
    assert_eq!(binary::encode(&Json::Array(vec![nested(DEPTH_MAX).unwrap()])), Err(JsonError::TooDeep));
}

/// `{"a": [1, true, "x"], "b": -1.5}` as MySQL 9.7 stores it.
#[test]
fn as_mysql_stores_it() {
    let array = [&[3, 0, 15, 0, 5, 1, 0, 4, 1, 0, 12, 13, 0][..], b"\x01x"].concat();
    let array_at = 4 + 2 * 4 + 2 * 3 + 2;
    let size = array_at + array.len() + 8;
    let mut object = vec![2, 0, size as u8, 0, 18, 0, 1, 0, 19, 0, 1, 0, 2, array_at as u8, 0, 11];
    object.extend_from_slice(&[(array_at + array.len()) as u8, 0]);
    object.extend_from_slice(b"ab");
    object.extend_from_slice(&array);
    object.extend_from_slice(&(-1.5f64).to_le_bytes());
    let document = [&[0][..], &object].concat();
    let json = parse(r#"{"a": [1, true, "x"], "b": -1.5}"#).unwrap();
    assert_eq!(binary::encode(&json).unwrap(), document);
    for cut in 1..document.len() {
        assert!(binary::decode(&document[..cut]).is_err(), "{cut}");
    }
    assert_eq!(binary::decode(&[]).unwrap(), Json::Null);
}

/// An array whose values are all the array itself.
#[test]
fn what_points_to_itself_ends() {
    let mut bytes = vec![2, 60, 0, 0, 0];
    (0..60).for_each(|_| bytes.extend_from_slice(&[2, 0, 0]));
    assert!(binary::decode(&bytes).is_err());
}

/// More than 64 KiB needs offsets of four bytes, in the containers around it, too.
#[test]
fn large_containers() {
    let long = Json::String("x".repeat(70_000));
    let json = Json::Array(vec![Json::Array(vec![Json::Int(70_000), Json::Int(1)]), Json::Array(vec![long])]);
    let bytes = binary::encode(&json).unwrap();
    assert_eq!(bytes[0], 3);
    assert_eq!(binary::decode(&bytes).unwrap(), json);
}

#[test]
fn paths() {
    let json = parse(r#"{"a": [1, 2, {"b": 3}], "c d": {"b": [4]}}"#).unwrap();
    let found = |path: &str| {
        let found = Path::parse(path).unwrap().find(&json, true);
        found.iter().map(|json| json.to_text()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("$.a[last]"), r#"{"b": 3}"#);
    assert_eq!(found("$.a[0 to 1]"), "1 2");
    assert_eq!(found("$**.b"), "3 [4]");
    assert_eq!(found("$.\"c d\".b[0]"), "4");
    assert_eq!(found("$.a[0][0][last]"), "1");
    for wrong in ["", "a", "$.", "$[", "$**", "$.a b", "$[2 to 1]", "$***.a", "$.1a"] {
        assert!(Path::parse(wrong).is_err(), "{wrong}");
    }
}

/// Few members are put in one by one, many in one pass.
#[test]
fn objects_are_merged_alike_whatever_their_sizes() {
    let object = |count: i64, step: i64| {
        Json::Object(Object::from_members((0..count).map(|n| (format!("k{}", n * step), Json::Int(n))).collect()))
    };
    for (own, others) in [(300, 1), (300, 4), (300, 200), (3, 200), (0, 5), (5, 0)] {
        let (a, b) = (object(own, 2), object(others, 3));
        let (Json::Object(mine), Json::Object(theirs)) = (&a, &b) else { panic!("no objects") };
        let (mut preserved, mut patched) = (mine.clone(), mine.clone());
        for (key, value) in theirs.iter() {
            let together = mine.get(key).map(|mine| Json::Array(vec![mine.clone(), value.clone()]));
            preserved.set(key, together.unwrap_or_else(|| value.clone()));
            patched.set(key, value.clone());
        }
        assert_eq!(a.clone().merge_preserve(b.clone()), Json::Object(preserved));
        assert_eq!(a.merge_patch(b), Json::Object(patched));
    }
}
