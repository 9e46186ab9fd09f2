//! JSON and SQL of the log files that real servers wrote. `UPDATE_GOLDEN=1 cargo test -p events` rewrites the files.

use super::round_trip::each_transaction;
use crate::json::JsonApply;
use crate::sql::SqlApply;
use crate::{Apply, ColumnInfo, EventError, Lookup, NoLookup, TableInfo};
use std::sync::Arc;

fn check(name: &str, actual: &[u8]) {
    let path = format!("{}/src/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read(&path).unwrap();
    let lines = |bytes: &[u8]| -> Vec<String> {
        bytes.split(|&byte| byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    };
    for (line, (is, should)) in lines(actual).iter().zip(lines(&expected)).enumerate() {
        assert_eq!(*is, should, "{name}, line {}", line + 1);
    }
    assert_eq!(actual.len(), expected.len(), "{name}");
}

const WITH_ROWS: [&str; 5] =
    ["mysql97-rows", "mysql97-payload", "mysql97-gtids", "maria118-rows", "maria118-compressed"];

#[test]
fn json() {
    for name in WITH_ROWS.iter().chain(&["mysql97-statements", "maria118-statements"]) {
        let mut apply = JsonApply::new(NoLookup);
        each_transaction(name, |transaction| apply.transaction(transaction).unwrap());
        let lines = apply.take();
        let mut last = true;
        for line in lines.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_eq!(value["row"] == 1, last, "counts begin anew with each transaction: {line}");
            last = value["last"] == true;
        }
        assert!(last);
        // These are long, and say nothing that the others do not.
        if matches!(*name, "mysql97-payload" | "maria118-compressed") {
            continue;
        }
        check(&format!("{name}.json"), lines.as_bytes());
    }
}

/// What a transaction cannot be said in SQL is named, and nothing of it is written.
#[test]
fn sql() {
    for name in WITH_ROWS.iter().chain(&["mysql97-statements", "maria118-statements"]) {
        let mut apply = SqlApply::new(NoLookup);
        let mut text = Vec::new();
        each_transaction(name, |transaction| {
            let applied = apply.transaction(transaction);
            text.extend_from_slice(&apply.take());
            if let Err(error) = applied {
                assert!(matches!(error, EventError::Unsupported(_)), "{name}: {error}");
                text.extend_from_slice(format!("-- ERROR {error}\n").as_bytes());
            }
        });
        check(&format!("{name}.sql"), &text);
    }
}

/// What information_schema says of one table of a MariaDB whose log says nothing but types.
struct Known;

impl Lookup for Known {
    fn table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableInfo>>, EventError> {
        assert_eq!(database, "d");
        let column = |name: &str, data_type: &str, charset: &str| ColumnInfo {
            name: name.to_owned(),
            data_type: data_type.to_owned(),
            charset: charset.to_owned(),
            ..ColumnInfo::default()
        };
        if table != "others" {
            return Ok(None);
        }
        let columns = vec![
            column("id", "int", ""),
            column("doc", "longtext", "utf8mb4"),
            column("p", "point", ""),
            column("g", "geometry", ""),
            column("l", "linestring", ""),
            column("v", "vector", ""),
            column("six", "inet6", ""),
            column("four", "inet4", ""),
            column("u", "uuid", ""),
            column("c", "varchar", "utf8mb4"),
            column("cb", "blob", ""),
        ];
        Ok(Some(Arc::new(TableInfo { columns, primary_key: vec![0] })))
    }
}

/// A table map that says nothing, as MariaDB's default makes it.
#[test]
fn what_the_log_does_not_say_is_looked_up() {
    let mut lines = String::new();
    each_transaction("maria118-rows", |transaction| {
        let mut form = crate::form::Transaction::of(transaction).unwrap();
        for change in &mut form.changes {
            let Some(crate::form::Step::Table(table)) = &mut change.what else { continue };
            table.primary_key.clear();
            for column in &mut table.columns {
                (column.name, column.collation, column.unsigned) = (None, None, None);
                column.members.clear();
            }
        }
        let mut apply = JsonApply::new(Known);
        apply.transaction(&form).unwrap();
        let new = apply.take();
        lines.push_str(new.lines().find(|line| line.contains(r#""table":"others""#)).unwrap_or_default());
    });
    for expected in [
        r#""key":{"id":1}"#,
        r#""doc":"{\"a\": [1, 2]}""#,
        r#""six":"::1""#,
        r#""four":"127.0.0.1""#,
        r#""u":"123e4567-e89b-12d3-a456-426655440000""#,
        &format!(r#""c":"{}""#, "c".repeat(300)),
        r#""v":[1.0,2.0,3.0]"#,
        r#""cb":"c2hvcnQ=""#,
    ] {
        assert!(lines.contains(expected), "{expected}\n{lines}");
    }
}

/// Members of ENUM and SET are in the column's character set, as its strings are.
#[test]
fn members_in_the_character_set_of_their_column() {
    const LATIN1: u32 = 8;
    const UCS2: u32 = 35;
    const GBK: u32 = 28;
    for (collation, members, of_enum, of_set) in [
        (LATIN1, [&b"\xe9"[..], b"y", b"gr\xfcn"], r#""grün""#, r#""é,grün""#),
        (UCS2, [b"\x00\xe9", b"\x00y", b"\x4e\x2d"], r#""中""#, r#""é,中""#),
        // One that is not read here.
        (
            GBK,
            [b"b", b"a", b"\xd6\xd0"],
            r#"{"charset":"gbk","base64":"1tA="}"#,
            r#"{"charset":"gbk","base64":"YizW0A=="}"#,
        ),
    ] {
        let mut lines = String::new();
        each_transaction("mysql97-rows", |transaction| {
            let mut form = crate::form::Transaction::of(transaction).unwrap();
            for change in &mut form.changes {
                let Some(crate::form::Step::Table(table)) = &mut change.what else { continue };
                for column in table.columns.iter_mut().filter(|column| !column.members.is_empty()) {
                    column.collation = Some(collation);
                    column.members = members.map(<[u8]>::to_vec).into();
                }
            }
            let mut apply = JsonApply::new(NoLookup);
            apply.transaction(&form).unwrap();
            lines.push_str(apply.take().lines().find(|line| line.contains(r#""j":"#)).unwrap_or_default());
        });
        let expected = format!(r#""j":{of_enum},"k":{of_set}"#);
        assert!(lines.contains(&expected), "{expected}\n{lines}");
    }
}

/// INET4, INET6, UUID and VECTOR are bytes in a log that says all else (MariaDB's FULL).
#[test]
fn bytes_that_may_be_more_are_looked_up() {
    let mut lines = String::new();
    each_transaction("maria118-rows", |transaction| {
        let mut apply = JsonApply::new(Known);
        if apply.transaction(transaction).is_ok() {
            lines.push_str(apply.take().lines().find(|line| line.contains(r#""table":"others""#)).unwrap_or_default());
        }
    });
    for expected in [
        r#""six":"::1""#,
        r#""four":"127.0.0.1""#,
        r#""u":"123e4567-e89b-12d3-a456-426655440000""#,
        r#""v":[1.0,2.0,3.0]"#,
    ] {
        assert!(lines.contains(expected), "{expected}\n{lines}");
    }
}
