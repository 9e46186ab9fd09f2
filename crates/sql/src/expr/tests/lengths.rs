//! What an expression's type says of its values' length, and the column that is made of it.

use types::charset::char_count;
use types::{BlobSize, ColumnType, Value};

use super::{Fixture, with_warnings};
use crate::bind::output;
use crate::expr::{Kind, Strictness, Warnings, coerce, convert_for_column};

/// Expressions whose values are long beside what they are made of.
const LONG: &[&str] = &[
    "MAKE_SET(3, 'a', 'b')",
    "MAKE_SET(7, 'éé', _binary'a', 'ü')",
    "EXPORT_SET(5, 'Né', _binary'Y', ', ')",
    "COMPRESS('a')",
    "COMPRESS(1)",
    "COMPRESS(REPEAT('0123456789abcdef', 5000))",
    "QUOTE(NULL)",
    "QUOTE('''''')",
    "CONV('-9223372036854775808', 10, -2)",
    "BIN(-1)",
    "CAST(-1e-300 AS CHAR)",
    "CAST(-1.2345678901234567e-15 AS CHAR)",
    "CONCAT(1e15, -1e-15, 1.5e300)",
    "IFNULL('a', -1e-100)",
    "CONCAT(-1.2345678901234567e-200)",
    "REVERSE(-1e-100)",
    "WEIGHT_STRING('ﷺ')",
    "WEIGHT_STRING('ﬀﬃ')",
    "WEIGHT_STRING('ab' COLLATE utf8mb4_0900_as_cs)",
    "WEIGHT_STRING('ﷺ' COLLATE utf8mb4_0900_as_ci)",
    "WEIGHT_STRING('ﷺ' COLLATE utf8mb4_unicode_ci)",
    "WEIGHT_STRING('ﷺ' COLLATE utf8mb4_unicode_520_ci)",
    "WEIGHT_STRING('ß' COLLATE utf8mb4_general_ci)",
    "WEIGHT_STRING('a' COLLATE utf8mb4_bin AS CHAR(9))",
    "WEIGHT_STRING('a' AS BINARY(9))",
    "CONCAT(_binary'a', 'éééé')",
    "CONCAT_WS(_binary'é', 'éé', 'é')",
    "IF(0, _binary'a', 'éééé')",
    "CASE WHEN 0 THEN _binary'a' ELSE 'éééé' END",
    "COALESCE(NULL, 'éééé', _binary'a')",
    "GREATEST('éé', _binary'a')",
    "CONCAT(0x41, 'é')",
    "INSERT(_binary'abc', 1, 1, 'éé')",
    "REPLACE('bbb', 'b', 'éé')",
    "REPLACE(_binary'bbb', 'b', 'éé')",
    "ELT(2, _binary'a', 'éé')",
    "NULLIF('éé', _binary'a')",
    "HEX('é')",
    "HEX(-1)",
    "TO_BASE64('😀')",
    "TO_BASE64(REPEAT('é', 60))",
    "FROM_BASE64('YWJj')",
    "UNHEX('C3A9')",
    "FORMAT(-1e300, 30)",
    "FORMAT('-1e300', 30)",
    "CAST('éé' AS BINARY)",
    "CONCAT(-9223372036854775808, 18446744073709551615, -1.50)",
];

/// What is wrong with what an expression's type says of its value: what is said of the longest value of a type holds for each, and a column that
/// CREATE TABLE … SELECT makes takes it.
fn wrong(fixture: &Fixture, text: &str) -> Option<String> {
    let warnings = Warnings::default();
    let ctx = fixture.context(&warnings, false);
    let expr = fixture.bind(text).ok()?;
    let value = expr.eval(&[], &ctx).ok().filter(|value| !value.is_null())?;
    let ty = &expr.ty;
    if matches!(ty.kind, Kind::Any | Kind::Null) {
        return None;
    }
    let shown = coerce::text(&value, ty);
    let length = if matches!(value, Value::Str(_)) { char_count(&shown) } else { shown.len() };
    let most = ty.length_as(ty.kind) as usize;
    if length > most {
        return Some(format!("{text}: {length} in {most}"));
    }
    if !ty.kind.is_string() {
        return None;
    }
    let announced = output::unnamed("c".into(), ty).length as usize;
    if shown.len() > announced {
        return Some(format!("{text}: {} bytes, {announced} are announced", shown.len()));
    }
    let column = ty.to_column("c");
    let error = convert_for_column(value, &column, Strictness::Strict, 1, &ctx).err()?;
    Some(with_warnings(format!("{text} in {:?}: {error}", column.ty), &warnings))
}

#[test]
fn no_value_is_longer_than_its_type_says() {
    let fixture = Fixture::new();
    let golden = include_str!("../testdata/functions.golden");
    let is_expression = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("=>");
    let all = LONG.iter().copied().chain(golden.lines().filter(is_expression));
    let wrong: Vec<String> = all.filter_map(|text| wrong(&fixture, text)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn columns_of_made_tables() {
    let fixture = Fixture::new();
    let cases: &[(&str, ColumnType)] = &[
        ("SUBSTRING(REPEAT(_binary'a', 70000), 1, 3)", ColumnType::VarBinary { bytes: 3 }),
        ("SUBSTRING('abcdef', 3)", ColumnType::VarChar { chars: 4 }),
        ("SUBSTRING('abcdef', -3, 9)", ColumnType::VarChar { chars: 3 }),
        ("REPEAT('a', 512)", ColumnType::VarChar { chars: 512 }),
        ("REPEAT('a', 513)", ColumnType::Text { size: BlobSize::Normal }),
        ("REPEAT('a', 16384)", ColumnType::Text { size: BlobSize::Long }),
        ("REPEAT(0x41, 513)", ColumnType::Blob { size: BlobSize::Normal }),
        ("REPEAT(0x41, 65536)", ColumnType::Blob { size: BlobSize::Long }),
        ("MAKE_SET(3, 'a', 'b', 'c')", ColumnType::VarChar { chars: 5 }),
        ("ELT(1, 'a', 'bbb')", ColumnType::VarChar { chars: 3 }),
        ("REPLACE('abc', 'a', 'b')", ColumnType::VarChar { chars: 3 }),
        ("COMPRESS('a')", ColumnType::VarBinary { bytes: 22 }),
        ("WEIGHT_STRING('ab' COLLATE utf8mb4_0900_as_cs)", ColumnType::VarBinary { bytes: 388 }),
        ("NULLIF('éé', _binary'a')", ColumnType::VarBinary { bytes: 8 }),
        ("NULL", ColumnType::VarBinary { bytes: 0 }),
        ("IS_IPV4('a')", ColumnType::Int { unsigned: false }),
        ("COERCIBILITY('a')", ColumnType::Int { unsigned: false }),
    ];
    for (text, ty) in cases {
        assert_eq!(fixture.bind(text).unwrap().ty.to_column("c").ty, *ty, "{text}");
    }
}

#[test]
fn what_is_converted_is_null_no_more_than_before() {
    let fixture = Fixture::new();
    let nullable = |text: &str| fixture.bind(text).unwrap().ty.nullable;
    for text in
        ["IFNULL(NULL, 5)", "COALESCE(NULL, 1.5, 2)", "IFNULL(NULLIF(1.5, 2), 5)", "IFNULL(NULLIF('a', 'b'), 5)"]
    {
        assert!(!nullable(text), "{text}");
    }
    for text in ["COALESCE(NULLIF(1.5, 2), NULLIF(5, 6))", "UUID()", "CHAR(65)", "IF(1, 5, NULLIF(1.5, 2))"] {
        assert!(nullable(text), "{text}");
    }
}
