//! Random window functions.

use super::expr::Expressions;
use super::query::{Query, direction, filter, from, limit};
use super::tables::Kind;
use super::{Random, Sql, Tables};

/// A query with window functions, over rows of the tables or over groups of them.
pub fn windows(tables: &Tables, random: &mut Random) -> Query {
    if random.chance(25) { over_groups(tables, random) } else { over_rows(tables, random) }
}

fn over_rows(tables: &Tables, random: &mut Random) -> Query {
    let (from, mut expressions, ids) = from(tables, random, 1);
    let key = ids.join(", ");
    let mut list: Vec<Sql> = vec![Sql::from(key.clone())];
    for _ in 0..1 + expressions.random.below(3) {
        let call = call(&mut expressions, &key);
        list.push(match expressions.random.below(8) {
            0 => Sql::term("IFNULL({}, 'none')", [call]),
            1 => Sql::term("({} IS NULL)", [call]),
            _ => call,
        });
    }
    let filter = filter(&mut expressions);
    let order = format!(" ORDER BY {key}{}", direction(expressions.random));
    let limit = limit(expressions.random);
    let sql =
        Sql::parts(&format!("SELECT {{}} FROM {{}}{{}}{order}{{}}"), [Sql::list(", ", list), from, filter, limit]);
    Query { sql, ordered: true, grouped: true }
}

fn over_groups(tables: &Tables, random: &mut Random) -> Query {
    let (from, mut expressions, _) = from(tables, random, 0);
    let names: Vec<String> = expressions.names.iter().map(|name| name.text.clone()).collect();
    let key = expressions.random.pick(&names).clone();
    // MySQL takes all members of an ENUM or SET for peers beside totals.
    let is_member = key.ends_with(".e") || key.ends_with(".s");
    let rollup = if !is_member && expressions.random.chance(25) { " WITH ROLLUP" } else { "" };
    let function = expressions.random.word(&[
        "SUM(COUNT(*)) OVER ({})",
        "RANK() OVER ({})",
        "DENSE_RANK() OVER ({})",
        "COUNT(*) OVER ({})",
        "AVG(COUNT(*)) OVER ({})",
        "MAX(COUNT(*)) OVER ({})",
        "CUME_DIST() OVER ({})",
        "MIN(MIN(a.id)) OVER ({})",
    ]);
    let window = match expressions.random.below(4) {
        0 => String::new(),
        1 => format!("PARTITION BY {key}"),
        2 => "ORDER BY COUNT(*)".to_owned(),
        _ => format!("ORDER BY {key}{}", direction(expressions.random)),
    };
    let call = Sql::from(function.replace("{}", &window));
    let filter = filter(&mut expressions);
    let sql =
        Sql::parts(&format!("SELECT {key}, COUNT(*), {{}} FROM {{}}{{}} GROUP BY {key}{rollup}"), [call, from, filter]);
    Query { sql, ordered: false, grouped: true }
}

/// A window function; `key` makes an order of which no two rows are peers.
fn call(expressions: &mut Expressions<'_>, key: &str) -> Sql {
    let kind = expressions.any_kind();
    let number = *expressions.random.pick(&[Kind::Int, Kind::Decimal]);
    let partition = partition(expressions);
    match expressions.random.below(10) {
        0 | 1 => {
            let function = expressions.random.word(&["RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()"]);
            let by = expressions.any(1);
            Sql::parts(&format!("{function} OVER ({{}}{{}})"), [partition, by_values(expressions.random, by)])
        }
        2 => {
            let function = expressions.random.word(&["ROW_NUMBER()", "NTILE(2)", "NTILE(3)"]);
            let order = by_key(expressions, key);
            Sql::parts(&format!("{function} OVER ({{}}{{}})"), [partition, order])
        }
        3 | 4 => {
            let function = expressions.random.word(&["LAG", "LEAD"]);
            let distance = expressions.random.word(&["", ", 1", ", 2", ", 0"]);
            // A TIME beside a date has no value in MySQL.
            let default = match distance.is_empty() || kind == Kind::Time || expressions.random.chance(50) {
                true => "".into(),
                false => Sql::maybe(", {}", [expressions.of(kind, 1)]),
            };
            let value = expressions.of(kind, 1);
            let order = by_key(expressions, key);
            Sql::parts(&format!("{function}({{}}{distance}{{}}) OVER ({{}}{{}})"), [value, default, partition, order])
        }
        5 => {
            let function = expressions.random.word(&["FIRST_VALUE({})", "LAST_VALUE({})", "NTH_VALUE({}, 2)"]);
            let value = Sql::parts(function, [expressions.of(kind, 1)]);
            let order = by_key(expressions, key);
            let frame = rows(expressions.random);
            Sql::parts("{} OVER ({}{}{})", [value, partition, order, frame])
        }
        6 | 7 => {
            let aggregate = aggregate(expressions, kind, number);
            let order = by_key(expressions, key);
            let frame = rows(expressions.random);
            Sql::parts("{} OVER ({}{}{})", [aggregate, partition, order, frame])
        }
        8 => {
            let aggregate = aggregate(expressions, kind, number);
            let by = expressions.any(1);
            let order = if expressions.random.chance(30) { "".into() } else { by_values(expressions.random, by) };
            Sql::parts("{} OVER ({}{})", [aggregate, partition, order])
        }
        _ => {
            let aggregate = aggregate(expressions, kind, number);
            let (by, frame) = range(expressions);
            let direction = direction(expressions.random);
            Sql::parts(&format!("{{}} OVER ({{}}ORDER BY {{}}{direction}{{}})"), [aggregate, partition, by, frame])
        }
    }
}

fn aggregate(expressions: &mut Expressions<'_>, kind: Kind, number: Kind) -> Sql {
    match expressions.random.below(9) {
        0 => "COUNT(*)".into(),
        1 => Sql::parts("COUNT({})", [expressions.of(kind, 1)]),
        2..5 => Sql::parts(expressions.random.word(&["SUM({})", "AVG({})"]), [expressions.of(number, 1)]),
        5 | 6 => Sql::parts(expressions.random.word(&["MIN({})", "MAX({})"]), [expressions.of(kind, 1)]),
        7 => {
            let function = expressions.random.word(&["BIT_AND({})", "BIT_OR({})", "BIT_XOR({})"]);
            Sql::parts(function, [expressions.of(Kind::Int, 1)])
        }
        _ => {
            let function = expressions.random.word(&["STD({})", "VARIANCE({})", "VAR_SAMP({})"]);
            Sql::parts(function, [expressions.of(Kind::Int, 0)])
        }
    }
}

fn partition(expressions: &mut Expressions<'_>) -> Sql {
    if expressions.random.chance(50) {
        return "".into();
    }
    let by = expressions.any(1);
    // A number would be the place of a column, which is an error.
    if by.to_string().contains('.') { Sql::maybe("PARTITION BY {} ", [by]) } else { "".into() }
}

/// A number would be the place of a column, which is an error.
fn no_number(by: Sql) -> Sql {
    if by.to_string().contains('.') { by } else { Sql::parts("IFNULL({}, NULL)", [by]) }
}

fn by_values(random: &mut Random, by: Sql) -> Sql {
    let direction = direction(random);
    Sql::parts(&format!("ORDER BY {{}}{direction}"), [no_number(by)])
}

fn by_key(expressions: &mut Expressions<'_>, key: &str) -> Sql {
    let direction = direction(expressions.random);
    if expressions.random.chance(50) {
        return Sql::from(format!("ORDER BY {key}{direction}"));
    }
    let by = expressions.any(1);
    Sql::parts(&format!("ORDER BY {{}}{key}"), [Sql::maybe(&format!("{{}}{direction}, "), [no_number(by)])])
}

fn rows(random: &mut Random) -> Sql {
    let frame = random.word(&[
        "",
        " ROWS UNBOUNDED PRECEDING",
        " ROWS 1 PRECEDING",
        " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
        " ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING",
        " ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
        " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        " ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING",
        " ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING",
        " ROWS BETWEEN 2 FOLLOWING AND 1 FOLLOWING",
        " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    ]);
    Sql::maybe(frame, [])
}

/// A frame of values, and what it is ordered by.
fn range(expressions: &mut Expressions<'_>) -> (Sql, Sql) {
    let kind = *expressions.random.pick(&[Kind::Int, Kind::Decimal, Kind::Double, Kind::Date, Kind::DateTime]);
    let names: Vec<String> =
        expressions.names.iter().filter(|name| name.kind == kind).map(|name| name.text.clone()).collect();
    if names.is_empty() {
        return (Sql::from("a.id"), Sql::from(" RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING"));
    }
    let by = Sql::from(expressions.random.pick(&names).clone());
    let distances: &[&str] = match kind {
        Kind::Date | Kind::DateTime => {
            &["INTERVAL 1 DAY", "INTERVAL 2 MONTH", "INTERVAL '1:30' HOUR_MINUTE", "INTERVAL 1 YEAR"]
        }
        Kind::Int => &["0", "1", "100"],
        _ => &["1", "0.5", "1000.25"],
    };
    let (from, to) = (*expressions.random.pick(distances), *expressions.random.pick(distances));
    let frame = match expressions.random.below(6) {
        0 => format!(" RANGE {from} PRECEDING"),
        1 => format!(" RANGE BETWEEN {from} FOLLOWING AND {to} FOLLOWING"),
        2 => format!(" RANGE BETWEEN {from} PRECEDING AND {to} PRECEDING"),
        3 => format!(" RANGE BETWEEN UNBOUNDED PRECEDING AND {to} FOLLOWING"),
        4 => format!(" RANGE BETWEEN {from} PRECEDING AND UNBOUNDED FOLLOWING"),
        _ => format!(" RANGE BETWEEN {from} PRECEDING AND {to} FOLLOWING"),
    };
    (by, Sql::from(frame))
}
