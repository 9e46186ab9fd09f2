//! The order of keys is the order of values.

use std::cmp::Ordering;

use base::{IndexId, TableId};
use proptest::prelude::*;

use super::*;
use crate::collation::compare;
use crate::column::enum_number;
use crate::column_type::ColumnType;
use crate::schema::ColumnDef;
use crate::table::TableCodec;

fn table(columns: Vec<ColumnDef>, parts: Vec<KeyPart>) -> TableCodec {
    let index = |id, parts| IndexDef {
        id: IndexId(id),
        name: format!("k{id}"),
        parts,
        unique: id == 1,
        comment: String::new(),
        visible: true,
        generated: false,
    };
    let mut all = vec![ColumnDef::new("id", ColumnType::BigInt { unsigned: false }).not_null()];
    all.extend(columns);
    TableCodec::new(std::sync::Arc::new(TableDef {
        id: TableId(1),
        schema: "test".into(),
        name: "t".into(),
        columns: all,
        indexes: vec![index(1, vec![KeyPart::column(0)]), index(2, parts)],
        collation: CollationId::DEFAULT,
        comment: String::new(),
        generated_pk: false,
        engine_name: "InnoDB".into(),
        foreign_keys: Vec::new(),
        auto_increment_start: 0,
        create_time: 0,
        options: Vec::new(),
    }))
}

/// The order that a column's values have.
fn order(column: &ColumnDef, a: &Value, b: &Value) -> Ordering {
    match (&column.ty, a, b) {
        (ColumnType::Enum { members }, Value::Str(a), Value::Str(b)) => {
            enum_number(members, a).cmp(&enum_number(members, b))
        }
        (ColumnType::Set { members }, Value::Str(a), Value::Str(b)) => {
            crate::column::set_number(members, a).cmp(&crate::column::set_number(members, b))
        }
        (_, Value::Str(a), Value::Str(b)) => compare(column.collation, a, b),
        _ => a.compare_same_kind(b).unwrap(),
    }
}

fn two_rows() -> impl Strategy<Value = (ColumnDef, ColumnDef, [Vec<Value>; 2])> {
    let columns = crate::row::tests::all_columns();
    let count = columns.len();
    (0..count, 0..count).prop_flat_map(move |(first, second)| {
        let (a, b) = (columns[first].clone(), columns[second].clone());
        let value = crate::row::tests::value_of;
        let pick = (value(&a), value(&a), value(&b), value(&b), any::<bool>(), -3i64..3, -3i64..3);
        (Just(a), Just(b), pick).prop_map(|(a, b, (x1, x2, y1, y2, same, id1, id2))| {
            let x2 = if same { x1.clone() } else { x2 };
            (a, b, [vec![Value::Int(id1), x1, y1], vec![Value::Int(id2), x2, y2]])
        })
    })
}

fn binary_collations(column: &ColumnDef) -> ColumnDef {
    // Blank-padded BINARY compares as its content; all others compare as their values do.
    column.clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn order_of_keys_is_order_of_values((a, b, rows) in two_rows(), down in any::<bool>()) {
        let (a, b) = (binary_collations(&a), binary_collations(&b));
        let parts = vec![KeyPart { column: 1, prefix_chars: None, descending: down }, KeyPart::column(2)];
        let codec = table(vec![a.clone(), b.clone()], parts);
        let images: Vec<Bytes> = rows.iter().map(|row| codec.row.encode(row).unwrap()).collect();
        let entries: Vec<_> = images.iter().map(|row| codec.secondary_entry(1, row).unwrap()).collect();
        let first = order(&a, &rows[0][1], &rows[1][1]);
        let first = if down { first.reverse() } else { first };
        let expected = first
            .then_with(|| order(&b, &rows[0][2], &rows[1][2]))
            .then_with(|| order(&a, &rows[0][0], &rows[1][0]));
        prop_assert_eq!(entries[0].0.cmp(&entries[1].0), expected);
        for (row, (key, covering)) in rows.iter().zip(&entries) {
            // The parts can be told apart, and say what is NULL.
            let image = codec.row.encode(row).unwrap();
            prop_assert_eq!(codec.clustered_key_of(1, key).unwrap(), &codec.clustered_key(&image).unwrap()[..]);
            let index = &codec.indexes[1];
            let has_null = row[1].is_null() || row[2].is_null();
            prop_assert_eq!(index.key.has_null(key, 2).unwrap(), has_null);
            // A range over the first part holds the key.
            let prefix = codec.prefix(1, &row[1..2]).unwrap();
            prop_assert!(key.starts_with(&prefix));
            prop_assert_eq!(index.key.prefix_len(key, 1).unwrap(), prefix.len());
            if let Some(end) = successor(&prefix) {
                prop_assert!(key < &end);
            }
            let mut decoded = Vec::new();
            index.layout.decode(covering, &mut decoded).unwrap();
            prop_assert_eq!(decoded, [row[1].clone(), row[2].clone(), row[0].clone()]);
        }
    }

    #[test]
    fn any_bytes_are_split_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40), which in 0usize..41) {
        let codec = table(vec![crate::row::tests::all_columns()[which].clone()], vec![KeyPart::column(1)]);
        let _ = codec.indexes[1].key.prefix_len(&bytes, 2);
        let _ = codec.indexes[1].key.has_null(&bytes, 2);
    }
}

#[test]
fn prefix_parts_take_the_first_characters() {
    let text = ColumnDef::new("c", ColumnType::VarChar { chars: 20 }).not_null();
    let part = KeyPart { column: 1, prefix_chars: Some(2), descending: false };
    let codec = table(vec![text], vec![part]);
    let entry = |text: &str| {
        let row = codec.row.encode(&[Value::Int(1), Value::from(text)]).unwrap();
        codec.secondary_entry(1, &row).unwrap()
    };
    assert_eq!(entry("äbc").0, entry("äbd").0);
    assert_ne!(entry("abc").0, entry("ac").0);
    assert_eq!(codec.indexes[1].covered, [0], "the column itself is not in the entry");
    let mut prefix = Vec::new();
    codec.indexes[1].key.encode_text_prefix(&[], b"a", &mut prefix).unwrap();
    assert!(entry("abc").0.starts_with(&prefix) && !entry("bc").0.starts_with(&prefix));
}

#[test]
fn successors() {
    assert_eq!(successor(&[1, 2]).as_deref(), Some(&[1, 3][..]));
    assert_eq!(successor(&[1, 255, 255]).as_deref(), Some(&[2][..]));
    assert_eq!(successor(&[255]), None);
}
