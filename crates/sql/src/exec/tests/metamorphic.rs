//! The same question by different plans: a random condition gives the same rows with every index, and with none.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::fixture::Fixture;

const INDEXES: &[&str] = &["PRIMARY", "a_b", "b_desc", "s", "s_prefix", "d", "at", "u"];

fn table(random: &mut StdRng) -> Fixture {
    table_of(random, 300)
}

fn table_of(random: &mut StdRng, rows: u32) -> Fixture {
    let fixture = Fixture::new();
    let made = fixture.run(
        "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a INT, b SMALLINT, s VARCHAR(12), d DECIMAL(6,2), at DATETIME, u INT UNSIGNED NOT NULL, \
         KEY a_b (a, b), KEY b_desc (b DESC, a), KEY s (s), KEY s_prefix (s(2), u), KEY d (d), KEY at (at), KEY u (u, a DESC))",
    );
    assert_eq!(made, "ok, 0 affected");
    let row = |id: u32| {
        format!(
            "({id}, {}, {}, {}, {}, {}, {})",
            number(random, 12),
            number(random, 12),
            string(random),
            decimal(random),
            datetime(random),
            random.random_range(0..10)
        )
    };
    let all: Vec<String> = (0..rows).map(row).collect();
    let done = fixture.run(&format!("INSERT INTO t VALUES {}", all.join(", ")));
    assert!(done.starts_with(&format!("ok, {rows} affected")), "{done}");
    fixture
}

fn or_null(random: &mut StdRng, text: String) -> String {
    if random.random_range(0..8) == 0 { "NULL".into() } else { text }
}

fn number(random: &mut StdRng, bound: i32) -> String {
    let n = random.random_range(-bound..bound);
    or_null(random, n.to_string())
}

fn decimal(random: &mut StdRng) -> String {
    let n = random.random_range(-300..300);
    or_null(random, format!("{:.2}", f64::from(n) / 100.0))
}

fn string(random: &mut StdRng) -> String {
    let letters = ["a", "B", "b", "é", "c ", "%", "_"];
    let length = random.random_range(0..5);
    let text: String = (0..length).map(|_| letters[random.random_range(0..letters.len())]).collect();
    or_null(random, format!("'{text}'"))
}

fn datetime(random: &mut StdRng) -> String {
    let (day, hour) = (random.random_range(1..5), random.random_range(0..24));
    or_null(random, format!("'2024-01-{day:02} {hour:02}:00:00'"))
}

/// A value beside a column, sometimes of another type than the column's.
fn value(random: &mut StdRng, column: &str) -> String {
    match (column, random.random_range(0..6)) {
        ("a" | "b" | "u" | "id", 0) => {
            ["2.5", "'3'", "'4x'", "-1.5", "1e1", "70000", "-70000", "NULL"][random.random_range(0..8)].into()
        }
        ("d", 0) => ["1", "'0.5'", "0.125", "1e0", "99999999"][random.random_range(0..5)].into(),
        ("at", 0) => {
            ["'2024-01-02'", "20240103", "DATE '2024-01-02'", "'2024-01-02 12:30:30'"][random.random_range(0..4)].into()
        }
        ("a" | "b" | "id", _) => number(random, 14),
        ("u", _) => random.random_range(0..12).to_string(),
        ("d", _) => decimal(random),
        ("at", _) => datetime(random),
        _ => string(random),
    }
}

fn condition(random: &mut StdRng, depth: u32) -> String {
    if depth > 0 && random.random_range(0..3) > 0 {
        let with = ["AND", "AND", "OR"][random.random_range(0..3)];
        return format!("({} {with} {})", condition(random, depth - 1), condition(random, depth - 1));
    }
    let column = ["id", "a", "b", "s", "d", "at", "u"][random.random_range(0..7)];
    match random.random_range(0..9) {
        0 => format!("{column} IS NULL"),
        1 => format!("{column} IS NOT NULL"),
        2 => {
            let list: Vec<String> = (0..random.random_range(1..4)).map(|_| value(random, column)).collect();
            format!("{column} IN ({})", list.join(", "))
        }
        3 => format!("{column} BETWEEN {} AND {}", value(random, column), value(random, column)),
        4 if column == "s" => {
            let pattern = string(random);
            format!(
                "s LIKE {}",
                if pattern == "NULL" { pattern } else { pattern.trim_end_matches('\'').to_string() + "%'" }
            )
        }
        _ => {
            let op = ["=", "=", "<", "<=", ">", ">=", "<>", "<=>"][random.random_range(0..8)];
            format!("{column} {op} {}", value(random, column))
        }
    }
}

fn check(seed: u64, conditions: u32) {
    let random = &mut StdRng::seed_from_u64(seed);
    let fixture = table(random);
    for _ in 0..conditions {
        let condition = condition(random, 2);
        let all = INDEXES.join(", ");
        let expected = fixture.run(&format!("SELECT id FROM t IGNORE INDEX ({all}) WHERE {condition} ORDER BY id"));
        let rows = |text: &str| text.lines().filter(|line| !line.contains(':')).map(str::to_string).collect::<Vec<_>>();
        let free = fixture.run(&format!("SELECT id FROM t WHERE {condition} ORDER BY id"));
        assert_eq!(rows(&expected), rows(&free), "seed {seed}: {condition}");
        for index in INDEXES {
            let forced = fixture.run(&format!("SELECT id FROM t FORCE INDEX ({index}) WHERE {condition} ORDER BY id"));
            assert_eq!(rows(&expected), rows(&forced), "seed {seed}, index {index}: {condition}");
        }
        let order = ["a, b", "a DESC, b DESC", "b DESC, a", "s", "u, a DESC", "at DESC"][random.random_range(0..6)];
        let sorted = format!("WHERE {condition} ORDER BY {order}, id LIMIT 20");
        let expected = fixture.run(&format!("SELECT id FROM t IGNORE INDEX ({all}) {sorted}"));
        let free = fixture.run(&format!("SELECT id FROM t {sorted}"));
        assert_eq!(rows(&expected), rows(&free), "seed {seed}: {sorted}");
    }
}

#[test]
fn every_index_gives_the_same_rows() {
    for seed in 1..=4 {
        check(seed, 60);
    }
}

/// A condition of those, or one of two columns or of a pattern, or that neither holds nor not where something is NULL.
fn any_condition(random: &mut StdRng) -> String {
    let pairs = ["a < b", "a <> b", "b >= id", "d = d", "u > a", "at <= at", "a = u"];
    let patterns = ["'%b%'", "'a%c'", "'_%'", "'%é'", "'%\\\\%'", "'b%'", "''"];
    let one = match random.random_range(0..5) {
        0 => pairs[random.random_range(0..pairs.len())].to_owned(),
        1 => format!("s LIKE {}", patterns[random.random_range(0..patterns.len())]),
        _ => condition(random, 1),
    };
    let one = if random.random_range(0..3) == 0 { format!("NOT ({one})") } else { one };
    if random.random_range(0..3) == 0 { format!("{one} AND {}", condition(random, 0)) } else { one }
}

/// Groups are computed from images where rows are not locked, and from values where they are.
#[test]
fn images_say_what_values_say() {
    let aggregates = "COUNT(*), COUNT(a), SUM(a), AVG(b), SUM(d), AVG(d), SUM(u), MIN(s), MAX(s), MIN(at), MAX(at), MIN(d), MAX(b), \
         SUM(d * (1 - d)), SUM(d + a), AVG(a - d), COUNT(s)";
    let groups = ["", "a", "s", "b, u", "at", "d, s"];
    for seed in 21..=24 {
        let random = &mut StdRng::seed_from_u64(seed);
        let fixture = table(random);
        for extremes in ["MIN(a), MAX(a)", "MAX(b), MIN(b)", "MIN(d), MAX(at), MIN(u), MAX(id)", "MAX(u), COUNT(*)"] {
            let query = format!("SELECT {extremes} FROM t");
            assert_eq!(fixture.run(&query), fixture.run(&format!("{query} FOR SHARE")), "seed {seed}: {query}");
        }
        for _ in 0..60 {
            let condition = any_condition(random);
            let keys = groups[random.random_range(0..groups.len())];
            // Rows that are locked may be read by another index; which of several equal texts is given depends on that.
            let table = format!("t IGNORE INDEX ({})", INDEXES[1..].join(", "));
            let query = match keys {
                "" => format!("SELECT {aggregates} FROM {table} WHERE {condition}"),
                keys => format!(
                    "SELECT {keys}, {aggregates} FROM {table} WHERE {condition} GROUP BY {keys} ORDER BY {keys}"
                ),
            };
            let expected = fixture.run(&format!("{query} FOR SHARE"));
            assert_eq!(fixture.run(&query), expected, "seed {seed}: {query}");
            let index = INDEXES[random.random_range(0..INDEXES.len())];
            let by_index = query.replace(&table, &format!("t FORCE INDEX ({index})"));
            let expected = fixture.run(&format!("{by_index} FOR SHARE"));
            assert_eq!(fixture.run(&by_index), expected, "seed {seed}: {by_index}");
            let count = format!("SELECT COUNT(*), ANY_VALUE(id) IS NULL FROM t WHERE {condition}");
            assert_eq!(fixture.run(&count), fixture.run(&format!("{count} FOR SHARE")), "seed {seed}: {count}");
        }
    }
}

/// What cannot be among the first rows is left out as soon as it is read.
#[test]
fn the_first_rows_are_the_first_of_all() {
    let random = &mut StdRng::seed_from_u64(31);
    let fixture = table_of(random, 2500);
    let keys = ["s", "s DESC", "d", "d DESC", "at", "at DESC", "b", "u DESC", "b DESC, s", "a, d DESC", "s, at"];
    for _ in 0..60 {
        let key = keys[random.random_range(0..keys.len())];
        let condition = if random.random_range(0..2) == 0 { "id >= 0".into() } else { condition(random, 1) };
        let all = INDEXES[1..].join(", ");
        let query = format!("SELECT id, s, d FROM t IGNORE INDEX ({all}) WHERE {condition} ORDER BY {key}, id");
        let limit = random.random_range(1..40);
        let expected: Vec<String> = fixture.run(&query).lines().take(limit + 1).map(str::to_owned).collect();
        let first = fixture.run(&format!("{query} LIMIT {limit}"));
        assert_eq!(first.lines().collect::<Vec<_>>(), expected, "{query} LIMIT {limit}");
    }
}

/// Joins in one order by look-ups, in the other by hash or pairs.
#[test]
fn every_join_order_gives_the_same_rows() {
    let random = &mut StdRng::seed_from_u64(9);
    let fixture = table(random);
    let pairs = [
        ("x.a", "y.a"),
        ("x.a", "y.b"),
        ("x.d", "y.a"),
        ("x.s", "y.s"),
        ("x.u", "y.id"),
        ("x.at", "y.at"),
        ("x.s", "y.u"),
    ];
    for (left, right) in pairs {
        for kind in ["JOIN", "LEFT JOIN"] {
            let filter = condition(random, 0);
            let on = format!("{left} = {right} AND y.{filter}");
            let query = |tables: &str| {
                fixture
                    .run(&format!("SELECT COUNT(*), SUM(x.id), SUM(y.id), COUNT(y.id) FROM {tables} WHERE x.id < 80"))
            };
            let all = INDEXES.join(", ");
            let free = query(&format!("t x {kind} t y ON {on}"));
            let scans = query(&format!("t x IGNORE INDEX ({all}) {kind} t y IGNORE INDEX ({all}) ON {on}"));
            let first = |text: &str| text.lines().nth(1).map(str::to_string);
            assert_eq!(first(&free), first(&scans), "{kind} ON {on}");
        }
    }
}
