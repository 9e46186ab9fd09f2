//! Random changes of the tables.

use super::expr::{Expressions, Name};
use super::tables::{Column, Kind, value};
use super::{Random, Sql, Tables};

/// A statement that changes a table.
pub fn change(tables: &Tables, random: &mut Random) -> Sql {
    let number = random.below(tables.tables.len());
    let columns = &tables.tables[number];
    match random.below(10) {
        0..3 => insert_values(tables, number, random),
        3..5 => insert_select(tables, number, random),
        5..8 if !columns.is_empty() => update(tables, number, random),
        _ => delete(tables, number, random),
    }
}

fn expressions<'a>(tables: &'a Tables, number: usize, random: &'a mut Random, subqueries: usize) -> Expressions<'a> {
    let alias = format!("t{number}");
    let mut names: Vec<Name> = tables.tables[number].iter().map(|column| Name::of(&alias, column)).collect();
    names.push(Name { text: format!("{alias}.id"), kind: Kind::Int });
    Expressions { random, names, subqueries, tables: &tables.tables }
}

fn verb(random: &mut Random) -> &'static str {
    random.word(&["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"])
}

/// Some of the table's columns.
fn some_columns(columns: &[&'static Column], random: &mut Random) -> Vec<&'static Column> {
    let percent = *random.pick(&[30, 60, 100]);
    columns.iter().filter(|_| random.chance(percent)).copied().collect()
}

fn insert_values(tables: &Tables, number: usize, random: &mut Random) -> Sql {
    let columns = some_columns(&tables.tables[number], random);
    let verb = verb(random);
    let with_id = random.chance(60);
    let names = with_id.then_some("id").into_iter().chain(columns.iter().map(|column| column.name)).collect::<Vec<_>>();
    let mut rows = Vec::new();
    for _ in 0..1 + random.below(4) {
        let mut values: Vec<Sql> = Vec::new();
        if with_id {
            values.push(random.word(&["NULL", "0", "3", "5", "40", "7", "DEFAULT"]).into());
        }
        for column in &columns {
            values.push(new_value(column, tables, random));
        }
        let values =
            values.into_iter().enumerate().map(|(at, value)| Sql::parts(if at == 0 { "{}" } else { ", {}" }, [value]));
        rows.push(Sql::parts("({})", [Sql::Parts(values.collect())]));
    }
    let update = duplicate_update(verb, tables, number, random);
    let pattern = format!("{verb} INTO t{number} ({}) VALUES {{}}{{}}", names.join(", "));
    Sql::parts(&pattern, [Sql::list(", ", rows), update])
}

/// A value for a column: mostly one of its own, else any expression without columns.
fn new_value(column: &Column, tables: &Tables, random: &mut Random) -> Sql {
    match random.below(12) {
        0 => Sql::term("NULL", []),
        1 => Sql::term("DEFAULT", []),
        2 => {
            let mut expressions = Expressions { random, names: Vec::new(), subqueries: 0, tables: &tables.tables };
            expressions.of(column.kind, 1)
        }
        3 if random.wildly(100) => {
            Expressions { random, names: Vec::new(), subqueries: 0, tables: &tables.tables }.any(0)
        }
        _ => Sql::term(value(column, random), []),
    }
}

fn duplicate_update(verb: &str, tables: &Tables, number: usize, random: &mut Random) -> Sql {
    let columns = &tables.tables[number];
    if !verb.starts_with("INSERT") || columns.is_empty() || !random.chance(30) {
        return "".into();
    }
    let column = *random.pick(columns);
    let mut inside = expressions(tables, number, random, 0);
    let value = match inside.random.below(4) {
        0 => Sql::term(&format!("VALUES({})", column.name), []),
        1 => Sql::term(value(column, inside.random), []),
        _ => inside.of(column.kind, 1),
    };
    Sql::maybe(&format!(" ON DUPLICATE KEY UPDATE {} = {{}}", column.name), [value])
}

fn insert_select(tables: &Tables, number: usize, random: &mut Random) -> Sql {
    let columns = some_columns(&tables.tables[number], random);
    let source = random.below(tables.tables.len());
    let verb = verb(random);
    let with_id = random.chance(40) || columns.is_empty();
    let names = with_id.then_some("id").into_iter().chain(columns.iter().map(|column| column.name)).collect::<Vec<_>>();
    let update = duplicate_update(verb, tables, number, random);
    let alias = "src";
    let mut own: Vec<Name> = tables.tables[source].iter().map(|column| Name::of(alias, column)).collect();
    own.push(Name { text: format!("{alias}.id"), kind: Kind::Int });
    let mut inside = Expressions { random, names: own, subqueries: 1, tables: &tables.tables };
    let mut values = Vec::new();
    if with_id {
        values.push(Sql::from(inside.random.word(&["src.id", "src.id + 1", "NULL", "src.id * 3 + 100"])));
    }
    for column in &columns {
        let same = tables.tables[source].iter().any(|other| other.name == column.name);
        let value = match inside.random.below(5) {
            0 => inside.of(column.kind, 1),
            _ if same => Sql::term(&format!("{alias}.{}", column.name), []),
            _ => Sql::term(value(column, inside.random), []),
        };
        values.push(Sql::parts(", {}", [value]));
    }
    if !with_id && let Some(Sql::Parts(first)) = values.first_mut() {
        first.remove(0);
    }
    let filter = Sql::maybe(" WHERE {}", [inside.condition(1)]);
    let pattern = format!(
        "{verb} INTO t{number} ({}) SELECT {{}} FROM t{source} {alias}{{}} ORDER BY {alias}.id{{}}{{}}",
        names.join(", ")
    );
    let limit = Sql::maybe(inside.random.word(&["", " LIMIT 2"]), []);
    Sql::parts(&pattern, [Sql::Parts(values), filter, limit, update])
}

fn end(inside: &mut Expressions<'_>, table: &str) -> Sql {
    let filter = if inside.random.chance(70) { Sql::maybe(" WHERE {}", [inside.condition(2)]) } else { "".into() };
    if !inside.random.chance(50) {
        return filter;
    }
    let by = inside.any(0);
    let first = Sql::maybe("{}, ", [by]);
    let order = Sql::parts(&format!(" ORDER BY {{}}{table}.id"), [first]);
    let limit = Sql::maybe(inside.random.word(&["", " LIMIT 1", " LIMIT 3"]), []);
    Sql::parts("{}{}{}", [filter, order, limit])
}

fn update(tables: &Tables, number: usize, random: &mut Random) -> Sql {
    let ignore = random.word(&["", "", "", "IGNORE "]);
    let mut inside = expressions(tables, number, random, 0);
    let mut sets = Vec::new();
    for _ in 0..1 + inside.random.below(3) {
        let column = *inside.random.pick(&tables.tables[number]);
        let value = match inside.random.below(4) {
            0 => Sql::term(value(column, inside.random), []),
            1 => Sql::term("DEFAULT", []),
            _ => inside.of(column.kind, 1),
        };
        sets.push(Sql::parts(&format!("{} = {{}}", column.name), [value]));
    }
    let end = end(&mut inside, &format!("t{number}"));
    Sql::parts(&format!("UPDATE {ignore}t{number} SET {{}}{{}}"), [Sql::list(", ", sets), end])
}

fn delete(tables: &Tables, number: usize, random: &mut Random) -> Sql {
    let mut inside = expressions(tables, number, random, 0);
    let end = end(&mut inside, &format!("t{number}"));
    Sql::parts(&format!("DELETE FROM t{number}{{}}"), [end])
}
