//! Dumps of a part of a log: the servers' golden files, looked at line by line.

use io::sim::SimMachine;
use serde_json::Value;

use super::servers::read;
use crate::dump::{DumpFilter, DumpFormat, DumpOptions, dump_file};

const FILES: [&str; 7] = [
    "mysql97-gtids",
    "mysql97-payload",
    "mysql97-rows",
    "mysql97-statements",
    "maria118-compressed",
    "maria118-rows",
    "maria118-statements",
];

/// The dump's lines, without what is put around them.
fn dump(name: &str, filter: DumpFilter) -> Vec<Value> {
    let machine = SimMachine::new(1);
    let env = machine.env();
    let bytes = read(name);
    let mut shown = Vec::new();
    let run = async {
        let writing = io::OpenOptions { create: true, write: true, ..Default::default() };
        let file = env.disk.open(name, writing).await.unwrap();
        file.write_at(0, io::IoBuf::copy_of(&bytes)).await.unwrap();
        let options = DumpOptions { format: DumpFormat::Json, filter, ..DumpOptions::default() };
        let sink = |text: &[u8]| {
            shown.extend_from_slice(text);
            Ok(())
        };
        dump_file(&env, name, &options, sink).await.unwrap();
    };
    machine.run(run).unwrap();
    String::from_utf8(shown).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_type<'a>(lines: &'a [Value], types: &[&str]) -> Vec<&'a Value> {
    lines.iter().filter(|line| types.contains(&line["type"].as_str().unwrap())).collect()
}

/// Everything that has a table, and is not the table's map.
fn rows(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| line["table"].is_string() && line["type"] != "Table_map").collect()
}

#[test]
fn rows_of_one_table() {
    for name in FILES {
        let all = dump(name, DumpFilter::default());
        let mut tables: Vec<_> =
            rows(&all).iter().map(|line| (line["schema"].clone(), line["table"].clone())).collect();
        tables.dedup();
        for (schema, table) in tables {
            let [of, wanted] = [&schema, &table].map(|name| name.as_str().unwrap().to_owned());
            let filter = DumpFilter { tables: vec![(of, wanted)], ..DumpFilter::default() };
            let some = dump(name, filter);
            let expected: Vec<_> =
                rows(&all).into_iter().filter(|line| line["schema"] == schema && line["table"] == table).collect();
            assert_eq!(rows(&some), expected, "{name}: {schema}.{table}");
            assert_eq!(of_type(&some, &["Xid", "Gtid"]), of_type(&all, &["Xid", "Gtid"]), "{name}");
            assert!(of_type(&some, &["Rows_query", "Annotate_rows"]).is_empty());
        }
        let nothing = DumpFilter { databases: vec!["nowhere".to_owned()], ..DumpFilter::default() };
        let left = dump(name, nothing);
        assert!(rows(&left).is_empty() && of_type(&left, &["Table_map"]).is_empty());
        let begin_and_end = ["BEGIN", "COMMIT", "ROLLBACK"];
        for line in left.iter().filter_map(|line| line["sql"].as_str()) {
            let is_control = begin_and_end.iter().any(|word| line.starts_with(word)) || line.starts_with("XA ");
            assert!(is_control || line.starts_with("SAVEPOINT"), "{name}: {line}");
        }
    }
}

#[test]
fn transactions_of_a_gtid_set() {
    let all = dump("mysql97-payload", DumpFilter::default());
    let uuid = of_type(&all, &["Gtid"])[0]["gtid"].as_str().unwrap().split(':').next().unwrap().to_owned();
    let set: crate::GtidSet = format!("{uuid}:3-4").parse().unwrap();
    let included = dump("mysql97-payload", DumpFilter { include_gtids: Some(set.clone()), ..DumpFilter::default() });
    let excluded = dump("mysql97-payload", DumpFilter { exclude_gtids: set, ..DumpFilter::default() });
    let is_of = |line: &&Value| {
        let position = line["position"].as_u64().unwrap();
        let gtids = of_type(&all, &["Gtid"]);
        let own = gtids.iter().rev().find(|gtid| gtid["position"].as_u64().unwrap() <= position);
        own.is_some_and(|gtid| gtid["gtid"] == format!("{uuid}:3") || gtid["gtid"] == format!("{uuid}:4"))
    };
    let between = ["Format_desc", "Previous_gtids", "Rotate", "Stop"];
    let is_between = |line: &&Value| between.contains(&line["type"].as_str().unwrap());
    let expected: Vec<_> = all.iter().filter(|line| is_of(line) || is_between(line)).collect();
    assert_eq!(included.iter().collect::<Vec<_>>(), expected);
    assert!(included.iter().any(|line| line["type"] == "Transaction_payload" || line["type"] == "Write_rows"));
    let expected: Vec<_> = all.iter().filter(|line| !is_of(line) || is_between(line)).collect();
    assert_eq!(excluded.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn transactions_of_a_time() {
    // The scripts' statements have set this time; what is before them has the real one.
    const SET: u32 = 1_700_000_000;
    let all = dump("mysql97-rows", DumpFilter::default());
    assert!(!rows(&all).is_empty());
    let until = dump("mysql97-rows", DumpFilter { until: Some(SET), ..DumpFilter::default() });
    assert!(rows(&until).is_empty() && of_type(&until, &["Gtid"]).is_empty(), "{until:?}");
    assert!(!until.is_empty(), "what is between transactions is there");
    let only = DumpFilter { from: Some(SET), until: Some(SET + 1), ..DumpFilter::default() };
    let only = dump("mysql97-rows", only);
    assert_eq!(rows(&only), rows(&all));
    let from = dump("mysql97-rows", DumpFilter { from: Some(SET + 1), ..DumpFilter::default() });
    assert!(rows(&from).is_empty());
}
