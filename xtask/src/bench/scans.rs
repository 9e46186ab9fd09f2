//! Statements that read or write a table of a million rows in memory.

use interop::{Connection, Result};

use super::BenchArguments;
use super::statements::{Statement, compare, start_loaded};
use super::works::Work;

/// Makes `big`. A value is a hash of its row's number: the same on every server.
const SETUP: &[&str] = &[
    "CREATE TABLE digits (d INT PRIMARY KEY)",
    "INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    "CREATE TABLE big (id INT PRIMARY KEY, k INT NOT NULL, g INT NOT NULL, amount DECIMAL(10,2) NOT NULL, price DOUBLE, \
     day DATE, name VARCHAR(40) NOT NULL, pad CHAR(64) NOT NULL, KEY (k))",
    "INSERT INTO big SELECT n, CRC32(n) % 2000000000, CRC32(n + 1) % 1000, (CRC32(n + 2) % 1000000) / 100, CRC32(n + 3) % 100000, \
     DATE '1992-01-01' + INTERVAL CRC32(n + 4) % 2500 DAY, SUBSTR(SHA2(n, 256), 1, 32), SHA2(n + 5, 256) FROM \
     (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d + 100000 * f.d AS n \
     FROM digits a, digits b, digits c, digits d, digits e, digits f) numbers",
];

/// Name, statement, and what comes before it.
const STATEMENTS: &[(&str, &str, &[&str])] = &[
    ("like", "SELECT COUNT(*) FROM big WHERE pad LIKE '%abcd%'", &[]),
    ("condition_sum", "SELECT SUM(amount), SUM(price) FROM big WHERE g < 500 AND day >= '1995-01-01'", &[]),
    ("order_limit", "SELECT id, amount, name FROM big ORDER BY amount, id LIMIT 10", &[]),
    ("order_text_limit", "SELECT id, name FROM big ORDER BY name LIMIT 10", &[]),
    ("count_distinct", "SELECT COUNT(DISTINCT g, day) FROM big", &[]),
    ("group_1000", "SELECT g, COUNT(*), SUM(amount), MAX(day) FROM big GROUP BY g ORDER BY g", &[]),
    ("group_text", "SELECT SUBSTR(name, 1, 2) AS t, COUNT(*), AVG(price) FROM big GROUP BY t ORDER BY t", &[]),
    ("sort_all", "SELECT COUNT(*) FROM (SELECT id, name FROM big ORDER BY name, id LIMIT 900000) x", &[]),
    ("count", "SELECT COUNT(*) FROM big", &[]),
    ("count_range", "SELECT COUNT(*) FROM big WHERE id BETWEEN 100000 AND 899999", &[]),
    ("count_index_range", "SELECT COUNT(*) FROM big WHERE k BETWEEN 500000000 AND 1500000000", &[]),
    ("min_max", "SELECT MIN(k), MAX(k) FROM big", &[]),
    ("join", "SELECT COUNT(*), SUM(a.amount) FROM big a JOIN big b ON b.k = a.k WHERE a.g < 300 AND b.g < 700", &[]),
    ("read_all", "SELECT id, name, pad FROM big", &[]),
    (
        "insert_select",
        "INSERT INTO copy SELECT * FROM big",
        &["DROP TABLE IF EXISTS copy", "CREATE TABLE copy LIKE big"],
    ),
    ("add_index", "ALTER TABLE big ADD INDEX by_g (g, amount)", &["ALTER TABLE big DROP INDEX by_g"]),
];

pub(crate) fn run(work: &Work, arguments: &BenchArguments) -> Result<()> {
    let contenders = start_loaded("scans", arguments, |_, connection| load(connection))?;
    println!(
        "{} | 1,000,000 rows, medians of {} rounds: ms (ms of the server's CPU) | how often ours goes into the better one's",
        work.name, arguments.rounds
    );
    let statements = STATEMENTS.iter().map(|(name, sql, before)| Statement::new(name, sql).after(before)).collect();
    compare(&chosen(statements, arguments), "scans", arguments, &contenders)
}

/// Those that were asked for by name; all if none was.
pub(super) fn chosen(statements: Vec<Statement>, arguments: &BenchArguments) -> Vec<Statement> {
    let is_asked = |statement: &Statement| {
        arguments.statements.is_empty() || arguments.statements.iter().any(|asked| asked == statement.name())
    };
    statements.into_iter().filter(is_asked).collect()
}

/// Makes and fills `big`.
pub(super) fn load(connection: &mut Connection) -> Result<()> {
    for statement in SETUP {
        connection.succeed(statement)?;
    }
    connection.query("ANALYZE TABLE big")?;
    Ok(())
}
