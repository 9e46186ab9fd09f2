//! Random queries.

use super::expr::{Expressions, Name};
use super::tables::Kind;
use super::{Random, Sql, Tables};

/// A query, and how its answers are to be compared.
pub struct Query {
    /// Its text.
    pub sql: Sql,
    /// The order of rows is determined.
    pub ordered: bool,
    /// Of values that are equal by collation any one may be shown: something was grouped.
    pub grouped: bool,
}

/// A query over the tables.
pub fn query(tables: &Tables, random: &mut Random) -> Query {
    match random.below(10) {
        0..5 => plain(tables, random),
        5..8 => grouped(tables, random),
        8 => distinct(tables, random),
        _ => set_operation(tables, random),
    }
}

/// FROM, and what can be named in it.
pub(super) fn from<'a>(
    tables: &'a Tables,
    random: &'a mut Random,
    subqueries: usize,
) -> (Sql, Expressions<'a>, Vec<String>) {
    let count = 1 + random.below(10) / 5 + random.below(10) / 9;
    let mut expressions = Expressions { random, names: Vec::new(), subqueries, tables: &tables.tables };
    let mut parts = Vec::new();
    let mut ids = Vec::new();
    for number in 0..count {
        let table = expressions.random.below(tables.tables.len());
        let alias = ["a", "b", "c"][number];
        let before = expressions.names.clone();
        let own: Vec<Name> = tables.tables[table].iter().map(|column| Name::of(alias, column)).collect();
        let source = match expressions.random.chance(8) {
            true => {
                let condition = Expressions {
                    names: own.clone(),
                    random: &mut *expressions.random,
                    subqueries: 0,
                    tables: &tables.tables,
                }
                .condition(1);
                Sql::parts(
                    &format!("(SELECT * FROM t{table} {alias} {{}}) {alias}"),
                    [Sql::maybe("WHERE {}", [condition])],
                )
            }
            false => Sql::from(format!("t{table} {alias}")),
        };
        expressions.names.extend(own.iter().cloned());
        expressions.names.push(Name { text: format!("{alias}.id"), kind: Kind::Int });
        ids.push(format!("{alias}.id"));
        if number == 0 {
            parts.push(source);
            continue;
        }
        let join = expressions.random.word(&[" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " JOIN ", " STRAIGHT_JOIN "]);
        let on = join_condition(&mut expressions, &before, &own);
        parts.push(Sql::Maybe(Sql::parts(&format!("{join}{{}} ON {{}}"), [source, on]).into()));
    }
    (Sql::Parts(parts), expressions, ids)
}

fn join_condition(expressions: &mut Expressions<'_>, before: &[Name], own: &[Name]) -> Sql {
    let kind = expressions.any_kind();
    let fitting = |names: &[Name]| names.iter().filter(|name| name.kind == kind).cloned().collect::<Vec<_>>();
    let (left, right) = (fitting(before), fitting(own));
    let equality = match (left.is_empty(), right.is_empty()) {
        (false, false) => {
            let (left, right) =
                (expressions.random.pick(&left).text.clone(), expressions.random.pick(&right).text.clone());
            Sql::term("({} = {})", [Sql::term(&left, []), Sql::term(&right, [])])
        }
        _ => expressions.condition(1),
    };
    if expressions.random.chance(30) {
        let more = Sql::maybe(" AND {}", [expressions.condition(1)]);
        return Sql::parts("{}{}", [equality, more]);
    }
    equality
}

pub(super) fn filter(expressions: &mut Expressions<'_>) -> Sql {
    if expressions.random.chance(65) { Sql::maybe(" WHERE {}", [expressions.condition(2)]) } else { "".into() }
}

pub(super) fn limit(random: &mut Random) -> Sql {
    let text = random.word(&["", "", " LIMIT 3", " LIMIT 0", " LIMIT 2, 4", " LIMIT 5 OFFSET 1"]);
    Sql::maybe(text, [])
}

pub(super) fn direction(random: &mut Random) -> &'static str {
    if random.chance(30) { " DESC" } else { "" }
}

fn plain(tables: &Tables, random: &mut Random) -> Query {
    let (from, mut expressions, ids) = from(tables, random, 2);
    let list: Vec<Sql> = (0..1 + expressions.random.below(4)).map(|_| expressions.any(3)).collect();
    let filter = filter(&mut expressions);
    let first = if expressions.random.chance(50) {
        let by = expressions.any(1);
        Sql::maybe(&format!("{{}}{}, ", direction(expressions.random)), [by])
    } else {
        "".into()
    };
    let key = format!("{}{}", ids.join(", "), direction(expressions.random));
    let order = Sql::parts(&format!(" ORDER BY {{}}{key}"), [first]);
    let limit = limit(expressions.random);
    let sql = Sql::parts("SELECT {} FROM {}{}{}{}", [Sql::list(", ", list), from, filter, order, limit]);
    Query { sql, ordered: true, grouped: false }
}

fn distinct(tables: &Tables, random: &mut Random) -> Query {
    let (from, mut expressions, _) = from(tables, random, 1);
    let list: Vec<Sql> = (0..1 + expressions.random.below(2)).map(|_| expressions.any(1)).collect();
    let filter = filter(&mut expressions);
    let sql = Sql::parts("SELECT DISTINCT {} FROM {}{}", [Sql::list(", ", list), from, filter]);
    Query { sql, ordered: false, grouped: true }
}

fn aggregate(expressions: &mut Expressions<'_>) -> Sql {
    let kind = expressions.any_kind();
    match expressions.random.below(12) {
        0 => Sql::term("COUNT(*)", []),
        1 => Sql::term("COUNT({})", [expressions.of(kind, 1)]),
        2 => Sql::term("COUNT(DISTINCT {})", [expressions.of(kind, 1)]),
        3 | 4 => {
            let number = *expressions.random.pick(&[Kind::Int, Kind::Decimal, Kind::Double]);
            let function = expressions.random.word(&["SUM({})", "AVG({})", "SUM(DISTINCT {})", "AVG(DISTINCT {})"]);
            Sql::term(function, [expressions.of(number, 2)])
        }
        5 if expressions.random.wildly(100) => {
            Sql::term(expressions.random.word(&["SUM({})", "AVG({})"]), [expressions.of(kind, 1)])
        }
        5..8 => Sql::term(expressions.random.word(&["MIN({})", "MAX({})"]), [expressions.of(kind, 2)]),
        8 => {
            let function = expressions.random.word(&["BIT_AND({})", "BIT_OR({})", "BIT_XOR({})"]);
            Sql::term(function, [expressions.of(Kind::Int, 1)])
        }
        9 => {
            let function = expressions.random.word(&["STD({})", "VARIANCE({})", "STDDEV_SAMP({})", "VAR_SAMP({})"]);
            Sql::term(function, [expressions.of(Kind::Int, 1)])
        }
        _ => {
            let order = expressions.random.word(&["", " DESC"]);
            Sql::term(&format!("GROUP_CONCAT(HEX({{}}) ORDER BY 1{order} SEPARATOR '|')"), [expressions.of(kind, 1)])
        }
    }
}

fn grouped(tables: &Tables, random: &mut Random) -> Query {
    let (from, mut expressions, _) = from(tables, random, 1);
    let keys: Vec<Sql> = (0..expressions.random.below(3))
        .map(|_| if expressions.random.chance(70) { expressions.any(0) } else { expressions.any(1) })
        // A number would be the place of a column.
        .map(|key| if key.to_string().contains('.') { key } else { Sql::term("a.id", []) })
        .collect();
    let mut list: Vec<Sql> = keys.clone();
    for _ in 0..1 + expressions.random.below(3) {
        let value = aggregate(&mut expressions);
        let value = match expressions.random.below(6) {
            0 => Sql::term("({} + 1)", [value]),
            1 => Sql::term("IFNULL({}, 'none')", [value]),
            _ => value,
        };
        list.push(value);
    }
    let filter = filter(&mut expressions);
    let having = if expressions.random.chance(30) {
        let compared = expressions.random.word(&["({} > 1)", "({} IS NOT NULL)", "({} <> 'a')"]);
        Sql::maybe(" HAVING {}", [Sql::term(compared, [aggregate(&mut expressions)])])
    } else {
        "".into()
    };
    let group = match keys.is_empty() {
        true => "".into(),
        // The select list must keep its keys while the query is made smaller, so these are one.
        false => Sql::from(format!(" GROUP BY {}", keys.iter().map(Sql::to_string).collect::<Vec<_>>().join(", "))),
    };
    let sql = Sql::parts("SELECT {} FROM {}{}{}{}", [Sql::list(", ", list), from, filter, group, having]);
    Query { sql, ordered: false, grouped: true }
}

/// Operators between queries; most rows of two random queries differ.
const SET_OPERATORS: [&str; 8] =
    [" UNION ", " UNION ALL ", " UNION ", " UNION ALL ", " EXCEPT ", " EXCEPT ALL ", " INTERSECT ", " INTERSECT ALL "];

fn set_operation(tables: &Tables, random: &mut Random) -> Query {
    let width = 1 + random.below(2);
    let mut parts = Vec::new();
    for branch in 0..2 + random.below(2) {
        let (from, mut expressions, _) = from(tables, random, 1);
        let list: Vec<Sql> = (0..width).map(|_| expressions.any(1)).collect();
        let filter = filter(&mut expressions);
        let columns =
            list.into_iter().enumerate().map(|(at, item)| Sql::parts(if at == 0 { "{}" } else { ", {}" }, [item]));
        let select = Sql::parts("SELECT {} FROM {}{}", [Sql::Parts(columns.collect()), from, filter]);
        let joint = if branch == 0 { "" } else { random.word(&SET_OPERATORS) };
        let part = Sql::Parts(vec![joint.into(), select]);
        parts.push(if branch == 0 { part } else { Sql::Maybe(part.into()) });
    }
    Query { sql: Sql::Parts(parts), ordered: false, grouped: true }
}
