//! Tables with a column of every type, and values for them.

use super::{Random, Sql};

/// What an expression is, roughly: for which arguments it is natural.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Decimal,
    Double,
    Text,
    Binary,
    Date,
    Time,
    DateTime,
}

/// A column: name, kind, declaration, and values from the edges of its type.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    declaration: &'static str,
    values: &'static [&'static str],
}

const TEXTS: &[&str] =
    &["''", "'a'", "'A'", "'b'", "'ab'", "'abc'", "'B a'", "'é'", "'ß'", "'12'", "'-3.5'", "'1e2'", "'a%b'", "'x_y'"];
const WIDE_TEXTS: &[&str] =
    &["'a'", "'Zebra'", "'  pad '", "'日本'", "'😀'", "'2024-02-29'", "'10:11:12'", "'7 dwarfs'", "'E'", "''"];
const DATES: &[&str] =
    &["'2024-02-29'", "'2023-12-31'", "'2024-01-01'", "'1999-07-15'", "'9999-12-31'", "'1000-01-01'", "'2024-03-01'"];
const TIMES: &[&str] =
    &["'00:00:00'", "'12:34:56'", "'-01:02:03'", "'838:59:59'", "'23:59:59.999'", "'00:00:00.5'", "'100:00:00'"];
const DATETIMES: &[&str] = &[
    "'2024-02-29 12:34:56'",
    "'2023-12-31 23:59:59.999999'",
    "'2024-01-01 00:00:00'",
    "'1999-07-15 01:02:03.004'",
    "'9999-12-31 23:59:59'",
    "'2024-02-29 00:00:00.5'",
];
const TIMESTAMPS: &[&str] =
    &["'2024-02-29 12:34:56'", "'1970-01-02 00:00:00'", "'2024-01-01 00:00:00'", "'2038-01-18 03:14:07'"];

pub(super) const COLUMNS: &[Column] = &[
    column("ti", Kind::Int, "TINYINT", &["0", "1", "-1", "127", "-128", "7"]),
    column("su", Kind::Int, "SMALLINT UNSIGNED", &["0", "1", "2", "65535", "100"]),
    column("mi", Kind::Int, "MEDIUMINT", &["0", "1", "-8388608", "8388607"]),
    column("i", Kind::Int, "INT", &["0", "1", "2", "3", "-7", "2147483647", "-2147483648", "10"]),
    column("bi", Kind::Int, "BIGINT", &["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "1000000"]),
    column("bu", Kind::Int, "BIGINT UNSIGNED", &["0", "1", "2", "18446744073709551615", "9223372036854775808"]),
    column("bo", Kind::Int, "TINYINT(1)", &["0", "1"]),
    column("de", Kind::Decimal, "DECIMAL(10,3)", &["0", "1.5", "-1.5", "9999999.999", "0.001", "12.345", "2"]),
    column("dn", Kind::Decimal, "DECIMAL(5,0)", &["0", "1", "-99999", "99999", "50"]),
    column("dw", Kind::Decimal, "DECIMAL(40,20)", &["0", "1.00000000000000000001", "-12345678901234567890.5", "3.14"]),
    column("f", Kind::Double, "FLOAT", &["0", "1.5", "-2.25", "0.1", "1e10", "3"]),
    column("db", Kind::Double, "DOUBLE", &["0", "1.5", "-2.25", "0.1", "1e100", "123456789.125", "1e-7"]),
    column("c", Kind::Text, "CHAR(6)", TEXTS),
    column("v", Kind::Text, "VARCHAR(12)", WIDE_TEXTS),
    column("vb", Kind::Text, "VARCHAR(10) COLLATE utf8mb4_bin", TEXTS),
    column("vg", Kind::Text, "VARCHAR(10) COLLATE utf8mb4_general_ci", TEXTS),
    column("vl", Kind::Text, "VARCHAR(10) CHARACTER SET latin1", &["'a'", "'A '", "'é'", "'ß'", "'12'", "''"]),
    column("tx", Kind::Text, "TEXT", WIDE_TEXTS),
    column("bn", Kind::Binary, "BINARY(4)", &["'ab'", "x'00ff10'", "''", "'12'"]),
    column("vn", Kind::Binary, "VARBINARY(6)", &["'ab'", "'AB'", "x'00ff10'", "''", "'12'"]),
    column("bl", Kind::Binary, "BLOB", &["'blob'", "x'e4bda0'", "''", "'1.5'"]),
    column("da", Kind::Date, "DATE", DATES),
    column("tm", Kind::Time, "TIME", TIMES),
    column("tf", Kind::Time, "TIME(3)", TIMES),
    column("dt", Kind::DateTime, "DATETIME", DATETIMES),
    column("df", Kind::DateTime, "DATETIME(6)", DATETIMES),
    column("ts", Kind::DateTime, "TIMESTAMP", TIMESTAMPS),
    column("y", Kind::Int, "YEAR", &["1999", "2024", "2155", "1901", "0"]),
    column("e", Kind::Text, "ENUM('red','green','Blue','12')", &["'red'", "'green'", "'Blue'", "'12'"]),
    column("s", Kind::Text, "SET('x','y','z')", &["''", "'x'", "'y,z'", "'x,y,z'"]),
    column("bt", Kind::Int, "BIT(5)", &["0", "1", "31", "10"]),
];

const fn column(name: &'static str, kind: Kind, declaration: &'static str, values: &'static [&'static str]) -> Column {
    Column { name, kind, declaration, values }
}

/// Tables `t0`, `t1`, … of one seed; which columns each has, and that all have a key `id`.
pub struct Tables {
    pub(super) tables: Vec<Vec<&'static Column>>,
    setup: Vec<String>,
}

impl Tables {
    /// Tables with rows.
    pub fn new(random: &mut Random) -> Tables {
        let mut tables = Tables { tables: Vec::new(), setup: Vec::new() };
        for number in 0..3 {
            let columns: Vec<&Column> = COLUMNS.iter().filter(|_| random.chance(60)).collect();
            let create = create(number, &columns, random);
            tables.setup.push(create);
            if !(number == 2 && random.chance(10)) {
                let insert = rows(number, &columns, random);
                tables.setup.push(insert);
            }
            tables.tables.push(columns);
        }
        tables
    }

    /// The statements that make them.
    pub fn setup(&self) -> &[String] {
        &self.setup
    }

    /// Statements that show everything in them.
    pub fn contents(&self) -> impl Iterator<Item = String> {
        (0..self.tables.len()).map(|number| format!("SELECT * FROM t{number} ORDER BY id"))
    }
}

fn create(number: usize, columns: &[&Column], random: &mut Random) -> String {
    let mut parts = vec!["id INT PRIMARY KEY AUTO_INCREMENT".to_owned()];
    for column in columns {
        let null = match random.below(5) {
            0 => format!(" NOT NULL DEFAULT {}", default(column)),
            1 if !is_long(column) => format!(" DEFAULT {}", default(column)),
            _ => " NULL".to_owned(),
        };
        let null = if is_long(column) { " NULL".to_owned() } else { null };
        parts.push(format!("{} {}{null}", column.name, column.declaration));
    }
    for key in 0..random.below(4) {
        if columns.is_empty() {
            break;
        }
        let members: Vec<String> =
            (0..1 + random.below(2)).map(|_| key_part(columns[random.below(columns.len())], random)).collect();
        let names: Vec<&str> = members.iter().filter_map(|part| part.split(['(', ' ']).next()).collect();
        if names.len() == 2 && names[0] == names[1] {
            continue;
        }
        parts.push(format!("KEY k{key} ({})", members.join(", ")));
    }
    if random.chance(40) && columns.iter().any(|column| column.name == "i") {
        parts.push("UNIQUE KEY u (i)".to_owned());
    }
    format!("CREATE TABLE t{number} ({})", parts.join(", "))
}

fn is_long(column: &Column) -> bool {
    matches!(column.name, "tx" | "bl")
}

fn key_part(column: &Column, random: &mut Random) -> String {
    let prefix = if is_long(column) || matches!(column.name, "v" | "vb") && random.chance(30) { "(3)" } else { "" };
    let order = if random.chance(15) { " DESC" } else { "" };
    format!("{}{prefix}{order}", column.name)
}

/// A default that the column's type takes exactly.
fn default(column: &Column) -> &'static str {
    match column.name {
        "tm" | "tf" => "'12:34:56'",
        "dt" | "df" | "ts" => "'2024-02-29 12:34:56'",
        _ => column.values[column.values.len() - 1],
    }
}

fn rows(number: usize, columns: &[&Column], random: &mut Random) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut rows = Vec::new();
    for id in 0..6 + random.below(12) {
        let mut values = vec![(id * 2 + 1).to_string()];
        for column in columns {
            let null = if random.chance(15) { "NULL" } else { value(column, random) };
            values.push(null.to_owned());
        }
        rows.push(format!("({})", values.join(", ")));
    }
    // NULL for NOT NULL, and second values of a unique key, are settled alike by both servers.
    let list = ["id"].into_iter().chain(names).collect::<Vec<_>>().join(", ");
    format!("INSERT IGNORE INTO t{number} ({list}) VALUES {}", rows.join(", "))
}

pub(super) fn value(column: &Column, random: &mut Random) -> &'static str {
    column.values[random.below(column.values.len())]
}

/// A literal of a kind.
pub(super) fn literal(kind: Kind, random: &mut Random) -> Sql {
    let text = match kind {
        Kind::Int => random.word(&[
            "0",
            "1",
            "-1",
            "2",
            "3",
            "7",
            "10",
            "100",
            "255",
            "-128",
            "2147483648",
            "9223372036854775807",
            "18446744073709551615",
            "TRUE",
            "0x1F",
            "b'101'",
        ]),
        Kind::Decimal => {
            random.word(&["0.0", "1.5", "-1.5", "0.001", "12.345", "99999.99", "-0.5", "2.50", "1234567890.123456789"])
        }
        Kind::Double => random.word(&["0e0", "1.5e0", "-2.25e0", "1e10", "1e-3", "1e100", "0.1e0"]),
        Kind::Text => random.word(TEXTS),
        Kind::Binary => random.word(&["x'6162'", "_binary 'ab'", "x''", "_binary '12'"]),
        Kind::Date => {
            return Sql::term(&format!("DATE{}", random.word(DATES)), []);
        }
        Kind::Time => return Sql::term(&format!("TIME{}", random.word(TIMES)), []),
        Kind::DateTime => return Sql::term(&format!("TIMESTAMP{}", random.word(DATETIMES)), []),
    };
    Sql::term(text, [])
}
