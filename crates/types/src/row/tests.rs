//! Row images, there and back.

use proptest::prelude::*;

use super::*;
use crate::column_type::{BlobSize, ColumnType};
use crate::temporal::{Date, DateTime, Time};
use crate::{CollationId, Decimal};

/// Every type, some twice: nullable or not.
pub(crate) fn all_columns() -> Vec<ColumnDef> {
    use ColumnType::*;
    let members: std::sync::Arc<[String]> = ["a", "b", "ü"].map(String::from).into();
    let types = [
        TinyInt { unsigned: false },
        BigInt { unsigned: true },
        MediumInt { unsigned: false },
        Float { unsigned: false },
        Double { unsigned: false },
        Decimal { precision: 14, scale: 4, unsigned: false },
        Char { chars: 80 },
        VarChar { chars: 20 },
        Binary { bytes: 4 },
        VarBinary { bytes: 300 },
        Text { size: BlobSize::Normal },
        Blob { size: BlobSize::Medium },
        Date,
        Time { fsp: 2 },
        DateTime { fsp: 6 },
        Timestamp { fsp: 0 },
        Year,
        Bit { bits: 11 },
        Enum { members: members.clone() },
        Set { members },
    ];
    let mut columns: Vec<ColumnDef> = types.iter().map(|ty| ColumnDef::new("c", ty.clone()).not_null()).collect();
    columns.extend(types.into_iter().map(|ty| ColumnDef::new("n", ty)));
    let mut latin1 = ColumnDef::new("l", VarChar { chars: 9 });
    latin1.collation = CollationId::LATIN1_SWEDISH_CI;
    columns.push(latin1);
    columns
}

/// A value of a column's type.
pub(crate) fn value_of(column: &ColumnDef) -> BoxedStrategy<Value> {
    use ColumnType::*;
    let text = |chars: &'static str| {
        proptest::string::string_regex(chars).unwrap().prop_map(|text| Value::str(text.trim_end_matches(' '))).boxed()
    };
    let bytes = |max| proptest::collection::vec(any::<u8>(), 0..=max).prop_map(|bytes| Value::Bytes(bytes.into()));
    let clock = (0u8..24, 0u8..60, 0u8..60, 0u32..1_000_000);
    let date = (0u16..=9999, 0u8..=12, 0u8..=28).prop_map(|(y, m, d)| crate::Date::new(y, m, d));
    let some = match &column.ty {
        ty if ty.integer().is_some() => {
            let (width, unsigned) = ty.integer().unwrap();
            let shift = 64 - 8 * width as u32;
            any::<u64>()
                .prop_map(move |n| if unsigned { Value::UInt(n >> shift) } else { Value::Int(n as i64 >> shift) })
                .boxed()
        }
        Float { .. } => (-1e30f32..1e30).prop_map(Value::Float).boxed(),
        Double { .. } => (-1e300..1e300).prop_map(Value::Double).boxed(),
        Decimal { .. } => (-99_999_999_999_999i64..=99_999_999_999_999)
            .prop_map(|n| Value::Decimal(crate::Decimal::from(n).multiply(&"0.0001".parse().unwrap()).unwrap()))
            .boxed(),
        Char { .. } => text("[ -~äöü€]{0,12}"),
        VarChar { .. } if column.collation == CollationId::LATIN1_SWEDISH_CI => text("[a-cäöü€]{0,9}"),
        VarChar { .. } | Text { .. } => text("[a-c äÄ\t가]{0,8}"),
        Binary { bytes: n } => {
            proptest::collection::vec(any::<u8>(), *n as usize).prop_map(|bytes| Value::Bytes(bytes.into())).boxed()
        }
        VarBinary { .. } | Blob { .. } => bytes(280usize).boxed(),
        Date => date.prop_map(Value::Date).boxed(),
        Time { fsp } => {
            let fsp = *fsp;
            (-3_020_399_000_000i64..=3_020_399_000_000)
                .prop_map(move |micros| Value::Time(crate::Time::from_micros(micros).truncated(fsp)))
                .boxed()
        }
        DateTime { .. } => (date, clock)
            .prop_map(|(date, (h, m, s, micros))| Value::DateTime(crate::DateTime::new(date, h, m, s, micros)))
            .boxed(),
        Timestamp { .. } => (1i64..4_000_000_000)
            .prop_map(|s| Value::DateTime(crate::temporal::calendar::from_unix_micros(s * 1_000_000).unwrap()))
            .boxed(),
        Year => prop_oneof![Just(Value::UInt(0)), (1901u64..=2155).prop_map(Value::UInt)].boxed(),
        Bit { bits } => (0..1u64 << bits).prop_map(Value::UInt).boxed(),
        Enum { .. } => proptest::sample::select(vec!["", "a", "b", "ü"]).prop_map(Value::from).boxed(),
        Set { .. } => proptest::sample::select(vec!["", "a", "a,b", "b,ü", "a,b,ü"]).prop_map(Value::from).boxed(),
        other => unreachable!("{other}"),
    };
    if column.nullable { prop_oneof![1 => Just(Value::Null), 3 => some].boxed() } else { some }
}

fn row() -> impl Strategy<Value = Vec<Value>> {
    all_columns().iter().map(value_of).collect::<Vec<_>>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rows_come_back(values in row(), other in row(), mask in any::<u64>()) {
        let layout = RowLayout::of_columns(&all_columns());
        let row = layout.encode(&values).unwrap();
        layout.verify(&row).unwrap();
        let mut decoded = Vec::new();
        layout.decode(&row, &mut decoded).unwrap();
        prop_assert_eq!(&decoded, &values);
        for (column, value) in values.iter().enumerate() {
            prop_assert_eq!(&layout.decode_column(&row, column).unwrap(), value);
        }
        let wanted: Vec<usize> = (0..values.len()).filter(|column| mask >> column & 1 == 1).collect();
        let mut some = vec![Value::Null; values.len()];
        layout.decode_columns(&row, &wanted, &mut some).unwrap();
        for column in &wanted {
            prop_assert_eq!(&some[*column], &values[*column]);
        }
        // Replacing those columns is the same as encoding the changed row.
        let changes: Vec<_> = wanted.iter().map(|&column| (column, other[column].clone())).collect();
        let mut changed = values.clone();
        for (column, value) in &changes {
            changed[*column] = value.clone();
        }
        let replaced = layout.replace(&row, &changes).unwrap();
        let encoded = layout.encode(&changed).unwrap();
        prop_assert_eq!(&replaced, &encoded);
        prop_assert_eq!(layout.differs(&row, &changes).unwrap(), replaced != row);
        let same: Vec<(usize, Value)> = changes.iter().map(|(column, _)| (*column, values[*column].clone())).collect();
        prop_assert!(!layout.differs(&row, &same).unwrap());
        // Memtables keep rows: neither has room that it does not need.
        for row in [replaced, encoded] {
            let length = row.len();
            prop_assert_eq!(row.try_into_mut().unwrap().capacity(), length);
        }
    }

    #[test]
    fn damaged_rows_are_refused_without_panic(values in row(), cut in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let layout = RowLayout::of_columns(&all_columns());
        let mut row = layout.encode(&values).unwrap().to_vec();
        let cut = cut.index(row.len());
        prop_assert!(layout.verify(&row[..cut]).is_err());
        let at = at.index(row.len());
        row[at] = byte;
        let row = Bytes::from(row);
        let _ = layout.verify(&row);
        let _ = layout.decode(&row, &mut Vec::new());
        for column in 0..layout.len() {
            let _ = layout.decode_column(&row, column);
        }
    }
}

/// The rows event that MySQL 9.7 writes for the same row.
#[test]
fn bytes_as_mysql_writes_them() {
    let members: std::sync::Arc<[String]> = ["a", "b"].map(String::from).into();
    let types = [
        ColumnType::Int { unsigned: false },
        ColumnType::VarChar { chars: 10 },
        ColumnType::Char { chars: 70 },
        ColumnType::Decimal { precision: 10, scale: 2, unsigned: false },
        ColumnType::DateTime { fsp: 3 },
        ColumnType::Time { fsp: 0 },
        ColumnType::Date,
        ColumnType::Timestamp { fsp: 0 },
        ColumnType::Year,
        ColumnType::Bit { bits: 11 },
        ColumnType::Enum { members: members.clone() },
        ColumnType::Set { members },
        ColumnType::MediumInt { unsigned: false },
        ColumnType::Binary { bytes: 4 },
        ColumnType::Text { size: BlobSize::Normal },
        ColumnType::Float { unsigned: false },
        ColumnType::VarBinary { bytes: 3 },
    ];
    let columns: Vec<ColumnDef> = types.into_iter().map(|ty| ColumnDef::new("c", ty)).collect();
    let values = [
        Value::Int(-2),
        Value::from("hé"),
        Value::from("ab"),
        Value::Decimal("-12345.67".parse::<Decimal>().unwrap()),
        Value::DateTime(DateTime::new(Date::new(2024, 2, 29), 13, 14, 15, 123_000)),
        Value::Time(Time::from_parts(true, 12, 34, 56, 0)),
        Value::Date(Date::new(2024, 2, 29)),
        Value::DateTime(DateTime::new(Date::new(2024, 2, 29), 13, 14, 15, 0)),
        Value::UInt(2024),
        Value::UInt(0x403),
        Value::from("b"),
        Value::from("a,b"),
        Value::Int(-3),
        Value::Bytes(Bytes::from_static(b"x\0y\0")),
        Value::from("text"),
        Value::Float(1.5),
        Value::Null,
    ];
    let row = RowLayout::of_columns(&columns).encode(&values).unwrap();
    let hex: String = row.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, MYSQL_ROW);
}

const MYSQL_ROW: &str = "000001feffffff0368c3a9020061627fffcfc6bc99b2bad38f04ce7f37485dd00f65e083277c\
    04030203fdffff037800790400746578740000c03f";
