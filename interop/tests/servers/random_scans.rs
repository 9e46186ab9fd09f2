//! Conditions, groups and first rows of a table of many rows give the same answers as MySQL 9.7, and the same when rows are locked as when they are not.
//!
//! Rows that are not locked are looked at in their images, before values are made of them; those that are locked are not. The tables of
//! [`super::random_answers`] are too small for much of that.

use std::time::Duration;

use interop::random_sql::Random;
use interop::{Answer, Connection, Kind, Peer, Server, ServerOptions};

const ROWS: usize = 1500;
const ROWS_OF_SMALL: usize = 30;
const STATEMENTS: usize = 200;
const SEEDS: std::ops::Range<u64> = 4..8;

/// Columns, and whether their values are numbers that are added up.
const COLUMNS: [(&str, &str, bool); 17] = [
    ("ti", "TINYINT", true),
    ("su", "SMALLINT UNSIGNED", true),
    ("i", "INT", true),
    ("bi", "BIGINT", true),
    ("bu", "BIGINT UNSIGNED", true),
    ("de", "DECIMAL(12,3)", true),
    ("dn", "DECIMAL(5,0) NOT NULL DEFAULT 0", true),
    ("db", "DOUBLE", false),
    ("da", "DATE", false),
    ("tm", "TIME(2)", false),
    ("dt", "DATETIME(3)", false),
    ("ts", "TIMESTAMP NULL", false),
    ("y", "YEAR", true),
    ("v", "VARCHAR(10)", false),
    ("c", "CHAR(8) COLLATE utf8mb4_general_ci", false),
    ("vb", "VARBINARY(8)", false),
    ("e", "ENUM('a','b','zz')", false),
];

fn number(random: &mut Random) -> i64 {
    random.below(41) as i64 - 20
}

fn text(random: &mut Random) -> String {
    let letters = ["a", "A", "b", "é", "ß", " ", "%", "_"];
    let length = random.below(5);
    let text: String = (0..length).map(|_| random.word(&letters)).collect();
    format!("'{text}'")
}

/// A value of a column that is not NULL.
fn value(random: &mut Random, column: &str) -> String {
    let extreme = |random: &mut Random, all: &[&'static str]| match random.below(4) {
        0 => random.word(all).to_owned(),
        _ => number(random).to_string(),
    };
    match column {
        "ti" => extreme(random, &["-128", "127"]),
        "su" => number(random).unsigned_abs().to_string(),
        "i" => extreme(random, &["-2147483648", "2147483647"]),
        "bi" => extreme(random, &["-9223372036854775808", "9223372036854775807"]),
        "bu" => match random.below(4) {
            0 => random.word(&["18446744073709551615", "9223372036854775808"]).to_owned(),
            _ => number(random).unsigned_abs().to_string(),
        },
        "de" => match random.below(4) {
            0 => random.word(&["-999999999.999", "0.001"]).to_owned(),
            _ => (number(random) as f64 / 8.0).to_string(),
        },
        "dn" => number(random).to_string(),
        "db" => extreme(random, &["0.5", "-0.25", "1e10", "-0.0"]),
        "da" => format!("'2024-0{}-0{}'", 1 + random.below(3), 1 + random.below(4)),
        "tm" => format!("'{}0{}:0{}:01.5'", random.word(&["", "-"]), random.below(4), random.below(3)),
        "dt" | "ts" => format!("'2024-01-0{} 0{}:00:00'", 1 + random.below(5), random.below(4)),
        "y" => random.word(&["1999", "2024", "2001"]).to_owned(),
        "vb" => random.word(&["x''", "x'00'", "x'6142'", "x'ff'", "x'6162'"]).to_owned(),
        "e" => random.word(&["'a'", "'b'", "'zz'"]).to_owned(),
        _ => text(random),
    }
}

/// A constant beside a column: sometimes NULL, or a number that it cannot hold.
fn constant(random: &mut Random, (column, _, is_number): (&str, &str, bool)) -> String {
    match random.below(8) {
        0 => "NULL".to_owned(),
        1 if is_number && column != "y" => random.word(&["2.5", "-1.5", "99999999999", "-7", "0"]).to_owned(),
        _ => value(random, column),
    }
}

fn condition(random: &mut Random, depth: usize) -> String {
    match random.below(10) {
        0..3 if depth < 2 => {
            let with = random.word(&["AND", "OR"]);
            return format!("({} {with} {})", condition(random, depth + 1), condition(random, depth + 1));
        }
        3 if depth < 2 => return format!("NOT ({})", condition(random, depth + 1)),
        _ => {}
    }
    let of = COLUMNS[random.below(COLUMNS.len())];
    let (column, not) = (of.0, random.word(&["", "NOT "]));
    match random.below(8) {
        0 => format!("{column} IS {not}NULL"),
        1 => {
            let list: Vec<String> = (0..1 + random.below(4)).map(|_| constant(random, of)).collect();
            format!("{column} {not}IN ({})", list.join(", "))
        }
        2 => format!("{column} {not}BETWEEN {} AND {}", constant(random, of), constant(random, of)),
        3 if matches!(column, "v" | "c") => {
            format!("{column} {not}LIKE {}", random.word(&["'%a%'", "'a%b'", "'_%'", "'%é'", "'b'", "'%'", "'A_'"]))
        }
        4 if of.2 && column != "y" => {
            let other = random.word(&["ti", "su", "i", "bi", "bu", "de", "dn"]);
            format!("{column} {} {other}", random.word(&["=", "<", ">=", "<>"]))
        }
        _ => format!("{column} {} {}", random.word(&["=", "<", "<=", ">", ">=", "<>"]), constant(random, of)),
    }
}

fn aggregate(random: &mut Random) -> String {
    let (column, _, is_number) = COLUMNS[random.below(COLUMNS.len() - 1)];
    match random.below(7) {
        0 => format!("COUNT({column})"),
        1 if is_number => format!("SUM({column})"),
        2 if is_number => format!("AVG({column})"),
        3 => random.word(&["SUM(de * (1 - dn))", "SUM(de + ti)", "SUM(dn - i)", "AVG(de * 2)"]).to_owned(),
        // Which of several texts that are equal comes first is a matter of the index.
        4 if !matches!(column, "v" | "c") => format!("MIN({column})"),
        5 if !matches!(column, "v" | "c") => format!("MAX({column})"),
        _ => "COUNT(*)".to_owned(),
    }
}

/// Columns of the two tables that are compared with each other.
/// (MySQL takes a number that is too great for a DECIMAL beside it for its greatest one, if it joins by hash.)
const JOINED: [(&[&str], &[&str]); 8] = [
    (&["ti", "su", "i", "bi", "bu", "dn", "id"], &["u_i", "u_bu", "u_id"]),
    (&["de"], &["u_de"]),
    (&["i", "su", "ti"], &["u_de"]),
    (&["db", "i"], &["u_db"]),
    (&["da", "dt"], &["u_da", "u_dt"]),
    (&["tm"], &["u_tm"]),
    (&["v", "c"], &["u_v"]),
    (&["y"], &["u_y", "u_i"]),
];

/// A join with the small table, which is hashed: what it has limits the scan of the large one.
fn join(random: &mut Random) -> String {
    let (large, small) = JOINED[random.below(JOINED.len())];
    let on = format!("{} = {}", random.word(large), random.word(small));
    let condition = if random.below(3) == 0 { "1".to_owned() } else { condition(random, 1) };
    let what = "COUNT(*), SUM(id), MIN(id), MAX(id)";
    match random.below(6) {
        0 => format!("SELECT {what} FROM t WHERE {condition} AND EXISTS (SELECT 1 FROM u WHERE {on} AND u_id > 3)"),
        1 => format!("SELECT {what}, COUNT(u_id) FROM t LEFT JOIN u ON {on} WHERE {condition}"),
        2 => format!("SELECT {what}, SUM(u_id) FROM u STRAIGHT_JOIN t ON {on} WHERE {condition}"),
        3 => {
            let more = random.word(&["x.u_id = u.u_i", "x.u_bu = u.u_id", "x.u_id = i", "x.u_da = u.u_da"]);
            let first = format!("t STRAIGHT_JOIN u ON {}", on.replace("u_", "u.u_"));
            format!("SELECT {what}, SUM(x.u_id) FROM {first} STRAIGHT_JOIN u AS x ON {more} WHERE {condition}")
        }
        _ => format!("SELECT {what}, SUM(u_id) FROM t STRAIGHT_JOIN u ON {on} WHERE {condition}"),
    }
}

fn query(random: &mut Random) -> String {
    if random.below(3) == 0 {
        return join(random);
    }
    let condition = if random.below(6) == 0 { "1".to_owned() } else { condition(random, 0) };
    let column = COLUMNS[random.below(COLUMNS.len())].0;
    if random.below(5) == 0 {
        let (way, limit) = (random.word(&["", "DESC"]), 1 + random.below(9));
        return format!("SELECT id FROM t WHERE {condition} ORDER BY {column} {way}, id LIMIT {limit}");
    }
    let aggregates: Vec<String> = (0..1 + random.below(4)).map(|_| aggregate(random)).collect();
    let aggregates = aggregates.join(", ");
    match random.below(3) {
        0 => format!("SELECT COUNT(*), {aggregates} FROM t WHERE {condition} GROUP BY {column} ORDER BY {column}"),
        _ => format!("SELECT {aggregates} FROM t WHERE {condition}"),
    }
}

/// A small table with some of the values, and others.
fn small_table(random: &mut Random) -> [String; 3] {
    let columns = "u_id INT PRIMARY KEY, u_i INT, u_bu BIGINT UNSIGNED, u_de DECIMAL(20,4), u_db DOUBLE, u_da DATE, u_dt DATETIME, \
                   u_tm TIME(3), u_v VARCHAR(20), u_y YEAR";
    let rows: Vec<String> = (0..ROWS_OF_SMALL)
        .map(|id| {
            let values = ["i", "bu", "de", "db", "da", "dt", "tm", "v", "y"].map(|name| match random.below(9) {
                0 => "NULL".to_owned(),
                _ => value(random, name),
            });
            format!("({id}, {})", values.join(", "))
        })
        .collect();
    [
        "DROP TABLE IF EXISTS u".to_owned(),
        format!("CREATE TABLE u ({columns})"),
        format!("INSERT INTO u VALUES {}", rows.join(", ")),
    ]
}

fn setup(random: &mut Random) -> [String; 3] {
    let columns: Vec<String> = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}")).collect();
    let rows: Vec<String> = (0..ROWS)
        .map(|id| {
            let values = COLUMNS.iter().map(|(name, ty, _)| match ty.contains("NOT NULL") || random.below(9) > 0 {
                true => value(random, name),
                false => "NULL".to_owned(),
            });
            let values: Vec<String> = values.collect();
            format!("({id}, {})", values.join(", "))
        })
        .collect();
    [
        "DROP TABLE IF EXISTS t".to_owned(),
        format!("CREATE TABLE t (id INT PRIMARY KEY, {}, KEY (i), KEY (da, i), KEY (v), KEY (de))", columns.join(", ")),
        format!("INSERT INTO t VALUES {}", rows.join(", ")),
    ]
}

/// The rows, or the error's number.
fn answer(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Option<Vec<u8>>>>, u16> {
    match connection.query(sql).unwrap() {
        Answer::Rows { rows, .. } => Ok(rows),
        Answer::Failed(code, _) => Err(code),
        Answer::Done(_) => Ok(Vec::new()),
    }
}

#[test]
fn conditions_and_groups_of_many_rows_are_mysqls() {
    let mut server = Server::start("random-scans", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "random-scans", Duration::ZERO, &[]).unwrap();
    let open = |port: u16| {
        let mut connection = Connection::open(port, "").unwrap();
        for sql in ["CREATE DATABASE IF NOT EXISTS s", "USE s", "SET NAMES utf8mb4", "SET time_zone = '+00:00'"] {
            connection.succeed(sql).unwrap();
        }
        connection
    };
    let [mut ours, mut theirs] = [open(server.port()), open(peer.port())];
    let mut with_rows = 0;
    for seed in SEEDS {
        let mut random = Random::new(seed);
        for sql in setup(&mut random).into_iter().chain(small_table(&mut random)) {
            ours.succeed(&sql).unwrap();
            theirs.succeed(&sql).unwrap();
        }
        for number in 0..STATEMENTS {
            if number == STATEMENTS / 2 {
                // From now on the rows are in the trees.
                server.restart().unwrap();
                ours = open(server.port());
            }
            let sql = query(&mut random);
            let found = answer(&mut ours, &sql);
            assert_eq!(found, answer(&mut ours, &format!("{sql} FOR SHARE")), "seed {seed}, locked: {sql}");
            assert_eq!(found, answer(&mut theirs, &sql), "seed {seed}: {sql}");
            with_rows += usize::from(found.is_ok_and(|rows| !rows.is_empty()));
        }
    }
    assert!(with_rows > STATEMENTS, "most statements give rows: {with_rows}");
}
