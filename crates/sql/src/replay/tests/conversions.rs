//! Columns of other types than the source's.

use binlog::RowImage;
use binlog::event::{ColumnMeta, column_type};

use super::*;

/// Applies values of a column of one type to one of another, in a table with a key.
async fn convert(world: &mut World, from: &str, values: &str, to: &str) -> Result<Vec<String>, SqlError> {
    let source = world.source(&format!("id INT PRIMARY KEY AUTO_INCREMENT, v {from}"), "").await;
    drop(source);
    for value in values.split(';') {
        world.sql(&[&format!("INSERT INTO s.t (v) VALUES ({value})")]).await;
    }
    let source = world.source_now().await;
    world.sql(&["DROP TABLE IF EXISTS d.t", &format!("CREATE TABLE d.t (id INT PRIMARY KEY, v {to})")]).await;
    if let Err(error) = world.apply_open(&source.inserts()).await {
        world.applier.rollback();
        return Err(error);
    }
    world.applier.commit().await?;
    let rows = world.query("SELECT v FROM d.t ORDER BY id").await;
    // What was converted is found again by the images before.
    world.apply(&source.deletes(RowImage::Full)).await?;
    assert!(world.query("SELECT v FROM d.t").await.is_empty());
    Ok(rows)
}

const ALLOWED: &[(&str, &str, &str, &str, &str)] = &[
    // modes, from, values, to, what becomes of them
    ("", "VARCHAR(10)", "'abc';'häß'", "VARCHAR(20)", "abc;häß"),
    ("", "VARCHAR(60)", "'abc';'häß'", "VARCHAR(70)", "abc;häß"),
    ("", "CHAR(10)", "'abc';'x'", "CHAR(200)", "abc;x"),
    ("", "TINYTEXT", "'abc';'x'", "LONGTEXT", "abc;x"),
    ("", "DATETIME", "'2024-02-29 13:14:15'", "DATETIME(3)", "2024-02-29 13:14:15.000"),
    ("", "TIME(2)", "'-01:02:03.46'", "TIME(1)", "-01:02:03.5"),
    ("", "VARCHAR(10) CHARACTER SET latin1", "'häß'", "VARCHAR(10)", "häß"),
    ("", "VARCHAR(40)", "'häß'", "VARCHAR(160) CHARACTER SET latin1", "häß"),
    ("", "INT UNSIGNED", "7", "INT", "7"),
    ("ALL_NON_LOSSY", "TINYINT", "-5;127", "BIGINT", "-5;127"),
    ("ALL_NON_LOSSY", "SMALLINT UNSIGNED", "65535", "MEDIUMINT", "65535"),
    ("ALL_NON_LOSSY", "FLOAT", "1.5", "DOUBLE", "1.5"),
    ("ALL_NON_LOSSY", "DECIMAL(5,2)", "'-123.45'", "DECIMAL(20,6)", "-123.450000"),
    ("ALL_NON_LOSSY", "CHAR(10)", "'abc'", "VARCHAR(10)", "abc"),
    ("ALL_NON_LOSSY", "VARCHAR(10)", "'abc'", "TEXT", "abc"),
    ("ALL_NON_LOSSY", "BINARY(4)", "'ab'", "VARBINARY(10)", "ab\0\0"),
    ("ALL_NON_LOSSY", "BIT(5)", "b'10101'", "BIT(20)", "21"),
    ("ALL_NON_LOSSY", "TIME(1)", "'01:02:03.4'", "TIME(6)", "01:02:03.400000"),
    ("ALL_NON_LOSSY", "TIMESTAMP(1) NULL", "'2024-02-29 13:14:15.1'", "TIMESTAMP(4) NULL", "2024-02-29 13:14:15.1000"),
    ("ALL_LOSSY", "BIGINT", "300;-300;5", "TINYINT", "127;-128;5"),
    ("ALL_LOSSY", "INT", "-1;7", "SMALLINT UNSIGNED", "0;7"),
    ("ALL_LOSSY", "DOUBLE", "1.25;1e300", "FLOAT", "1.25;3.40282e38"),
    ("ALL_LOSSY", "DOUBLE", "1.256;-1e10", "DECIMAL(5,2)", "1.26;-999.99"),
    ("ALL_LOSSY", "DECIMAL(10,4)", "'12.3456';'123456'", "DECIMAL(5,2)", "12.35;999.99"),
    ("ALL_LOSSY", "DECIMAL(10,4)", "'12.5'", "DOUBLE", "12.5"),
    ("ALL_LOSSY", "VARCHAR(20)", "'häßlich'", "VARCHAR(3)", "häß"),
    ("ALL_LOSSY", "TEXT", "'häßlich'", "VARCHAR(3)", "häß"),
    ("ALL_LOSSY", "BIT(10)", "b'1111111111';b'11'", "BIT(4)", "15;3"),
    ("ALL_LOSSY", "DATETIME(6)", "'2024-02-29 23:59:59.6'", "DATETIME", "2024-03-01 00:00:00"),
];

#[test]
fn conversions_that_are_allowed() {
    replay(|mut world| async move {
        for (modes, from, values, to, expected) in ALLOWED {
            world.set("slave_type_conversions", modes).await;
            let query = if to.starts_with("BIT") { format!("{to} ") } else { to.to_string() };
            let got = convert(&mut world, from, values, &query).await;
            let got = got.unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
            let got: Vec<String> = match to.starts_with("BIT") {
                // Bits are shown as the number here.
                true => got.iter().map(|text| text.trim().to_string()).collect(),
                false => got,
            };
            assert_eq!(got.join(";"), *expected, "{from} to {to} with '{modes}'");
        }
    });
}

#[test]
fn conversions_that_are_refused() {
    let refused = [
        ("", "TINYINT", "5", "BIGINT", "tinyint", "bigint"),
        ("ALL_LOSSY", "TINYINT", "5", "BIGINT", "tinyint", "bigint"),
        ("ALL_NON_LOSSY", "BIGINT", "5", "INT", "bigint", "int"),
        ("ALL_NON_LOSSY", "VARCHAR(20)", "'a'", "VARCHAR(10)", "varchar(80(bytes))", "varchar(40(bytes) utf8mb4)"),
        ("", "CHAR(10)", "'a'", "VARCHAR(10)", "char(40(bytes))", "varchar(40(bytes) utf8mb4)"),
        ("ALL_NON_LOSSY,ALL_LOSSY", "INT", "5", "VARCHAR(10)", "int", "varchar(40(bytes) utf8mb4)"),
        ("ALL_NON_LOSSY,ALL_LOSSY", "ENUM('a')", "'a'", "VARCHAR(10)", "enum", "varchar(40(bytes) utf8mb4)"),
        ("ALL_NON_LOSSY,ALL_LOSSY", "DATE", "'2024-01-01'", "DATETIME", "date", "datetime"),
        ("ALL_NON_LOSSY", "DATETIME(6)", "'2024-01-01'", "DATETIME(2)", "datetime(6)", "datetime(2)"),
        ("ALL_NON_LOSSY", "DECIMAL(10,4)", "1", "DECIMAL(10,5)", "decimal(10,4)", "decimal(10,5)"),
        ("ALL_NON_LOSSY", "BIT(9)", "1", "BIT(8)", "bit(9)", "bit(8)"),
    ];
    replay(|mut world| async move {
        for (modes, from, values, to, source, ours) in refused {
            world.set("replica_type_conversions", modes).await;
            let error = convert(&mut world, from, values, to).await.expect_err(from);
            let told = format!("Column 1 of table 'd.t' cannot be converted from type '{source}' to type '{ours}'");
            assert_eq!((error.code, error.message), (1677, told));
        }
    });
}

#[test]
fn values_that_do_not_fit_where_types_do() {
    replay(|mut world| async move {
        let refused = [
            ("INT UNSIGNED", "4294967295", "INT", 1264),
            ("ENUM('a','b','c')", "'c'", "ENUM('a','b')", 1265),
            ("SET('a','b','c')", "'a,c'", "SET('a','b')", 1265),
            ("VARBINARY(40)", "x'ff'", "VARCHAR(10)", 1366),
            ("VARBINARY(40)", "'elf Zeichen'", "VARCHAR(10)", 1406),
            ("VARCHAR(10)", "'日本'", "VARCHAR(40) CHARACTER SET latin1", 1366),
        ];
        for (from, values, to, code) in refused {
            let error = convert(&mut world, from, values, to).await.expect_err(from);
            assert_eq!(error.code, code, "{from} to {to}: {}", error.message);
        }
        let kept = convert(&mut world, "VARBINARY(40)", "'zehn Zeich';'häß'", "VARCHAR(10)").await;
        assert_eq!(kept.unwrap(), ["zehn Zeich", "häß"]);
        let trimmed = convert(&mut world, "BINARY(40)", "'spaces   '", "CHAR(10)").await;
        assert_eq!(trimmed.unwrap(), ["spaces"]);
    });
}

/// A map of `d.t` with these columns, without optional metadata.
fn bare_map(columns: &[(u8, u16)]) -> Arc<TableMap> {
    let column =
        |&(type_code, meta): &(u8, u16)| ColumnMeta { type_code, meta, nullable: true, ..ColumnMeta::default() };
    let columns = columns.iter().map(column).collect();
    Arc::new(TableMap { table_id: 77, schema: "d".into(), table: "t".into(), columns, ..TableMap::default() })
}

#[test]
fn times_as_before_mysql_5_6() {
    use column_type::{DATETIME, LONG, TIME, TIMESTAMP};
    replay(|mut world| async move {
        let columns = "id INT PRIMARY KEY, a TIME(2), b DATETIME, c TIMESTAMP(3) NULL";
        world.sql(&[&format!("CREATE TABLE d.t ({columns})"), "SET time_zone = '+00:00'"]).await;
        let map = bare_map(&[(LONG, 0), (TIME, 0), (DATETIME, 0), (TIMESTAMP, 0)]);
        let mut rows = vec![0, 1, 0, 0, 0];
        rows.extend_from_slice(&(-123_456i32).to_le_bytes()[..3]);
        rows.extend_from_slice(&20_240_229_131_415u64.to_le_bytes());
        rows.extend_from_slice(&1_700_000_000u32.to_le_bytes());
        // One NULL; zeros.
        rows.extend_from_slice(&[0b10, 2, 0, 0, 0]);
        rows.extend_from_slice(&[0; 12]);
        world.applier.apply_rows(&map, &raw_event(&map, RowsKind::Write, &[0x0f], &rows)).await.unwrap();
        world.applier.commit().await.unwrap();
        let expected = [
            "1 | -12:34:56.00 | 2024-02-29 13:14:15 | 2023-11-14 22:13:20.000",
            "2 | NULL | 0000-00-00 00:00:00 | 0000-00-00 00:00:00.000",
        ];
        assert_eq!(world.query("SELECT * FROM d.t").await, expected);
        world.applier.apply_rows(&map, &raw_event(&map, RowsKind::Delete, &[0x0f], &rows)).await.unwrap();
        world.applier.commit().await.unwrap();
        assert!(world.query("SELECT * FROM d.t").await.is_empty());
    });
}

#[test]
fn types_that_are_not_here() {
    use column_type::{GEOMETRY, JSON, LONG, VECTOR};
    replay(|mut world| async move {
        world.sql(&["CREATE TABLE d.t (id INT PRIMARY KEY, v LONGBLOB)"]).await;
        world.set("replica_type_conversions", "ALL_LOSSY,ALL_NON_LOSSY").await;
        for (type_code, name) in [(JSON, "json"), (GEOMETRY, "geometry"), (VECTOR, "vector")] {
            let map = bare_map(&[(LONG, 0), (type_code, 4)]);
            let rows = [0b10, 1, 0, 0, 0];
            let error =
                world.applier.apply_rows(&map, &raw_event(&map, RowsKind::Write, &[3], &rows)).await.unwrap_err();
            let told = format!("Column 1 of table 'd.t' cannot be converted from type '{name}' to type 'longblob'");
            assert_eq!((error.code, error.message), (1677, told));
        }
    });
}

#[test]
fn signs_that_the_log_does_not_say() {
    use column_type::{LONG, TINY};
    replay(|mut world| async move {
        let map = bare_map(&[(LONG, 0), (TINY, 0)]);
        let rows = [0, 1, 0, 0, 0, 0xff];
        for (modes, ty, expected) in [
            ("ALL_NON_LOSSY", "INT", "-1"),
            ("ALL_NON_LOSSY", "INT UNSIGNED", "255"),
            ("ALL_NON_LOSSY,ALL_UNSIGNED", "INT", "255"),
            ("ALL_NON_LOSSY,ALL_SIGNED,ALL_LOSSY", "INT UNSIGNED", "0"),
            ("", "TINYINT UNSIGNED", "255"),
        ] {
            world.set("replica_type_conversions", modes).await;
            world.sql(&["DROP TABLE IF EXISTS d.t", &format!("CREATE TABLE d.t (id INT PRIMARY KEY, v {ty})")]).await;
            world.applier.apply_rows(&map, &raw_event(&map, RowsKind::Write, &[3], &rows)).await.unwrap();
            world.applier.commit().await.unwrap();
            assert_eq!(world.query("SELECT v FROM d.t").await, [expected], "{ty} with '{modes}'");
        }
    });
}

#[test]
fn events_that_cannot_be() {
    use column_type::{LONG, TINY};
    replay(|mut world| async move {
        world.sql(&["CREATE TABLE d.t (id INT PRIMARY KEY, v TINYINT NOT NULL DEFAULT 4)"]).await;
        let map = bare_map(&[(LONG, 0), (TINY, 0)]);
        for (all, rows) in [(&[3u8], &[0u8, 1, 0, 0][..]), (&[0], &[0]), (&[3], &[0, 1, 0, 0, 0, 7, 0])] {
            let error = world.applier.apply_rows(&map, &raw_event(&map, RowsKind::Write, all, rows)).await.unwrap_err();
            assert_eq!(error.code, 1610, "{}", error.message);
        }
        world.sql(&["CREATE TABLE d.u (id INT PRIMARY KEY, v DATE)"]).await;
        let dates = bare_map(&[(LONG, 0), (column_type::DATE, 0)]);
        let dates = Arc::new(TableMap { table: "u".into(), ..(*dates).clone() });
        let rows = [0, 1, 0, 0, 0, 0xff, 0xff, 0xff];
        let error =
            world.applier.apply_rows(&dates, &raw_event(&dates, RowsKind::Write, &[3], &rows)).await.unwrap_err();
        assert_eq!(error.code, 1610, "no date: {}", error.message);
        // NULL where there can be none.
        world.applier.apply_rows(&map, &raw_event(&map, RowsKind::Write, &[3], &[0b10, 1, 0, 0, 0])).await.unwrap();
        world.applier.commit().await.unwrap();
        assert_eq!(world.query("SELECT * FROM d.t").await, ["1 | 4"]);
    });
}
