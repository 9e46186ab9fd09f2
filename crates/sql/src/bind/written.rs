//! The tables that a statement over rows changes, by the names that stand there; nothing is looked up.

use syntax::ast as sql;

use crate::parse::ast::TableName;

/// UPDATE: of several tables all, whichever of them SET names.
pub(crate) fn update(update: &sql::Update) -> Vec<TableName> {
    factors(&update.tables).into_iter().map(|factor| table(&factor.name)).collect()
}

/// DELETE: of several tables those whose rows go, by name or alias.
pub(crate) fn delete(delete: &sql::Delete) -> Vec<TableName> {
    let sources = factors(&delete.from);
    let Some(targets) = &delete.targets else { return sources.into_iter().map(|factor| table(&factor.name)).collect() };
    let real = |target: &sql::TablePath| {
        let is_alias =
            |factor: &&&sql::TableFactor| factor.alias.as_ref().is_some_and(|alias| alias.text == target.name.text);
        sources.iter().find(is_alias).map_or_else(|| table(target), |factor| table(&factor.name))
    };
    targets.iter().map(real).collect()
}

/// The tables of a FROM, from left to right, but those in queries in it.
fn factors(tables: &[sql::TableRef]) -> Vec<&sql::TableFactor> {
    fn add<'t>(table: &'t sql::TableRef, found: &mut Vec<&'t sql::TableFactor>) {
        match table {
            sql::TableRef::Table(factor) => found.push(factor),
            sql::TableRef::Derived(_) | sql::TableRef::Json(_) => {}
            sql::TableRef::Join(join) => [&join.left, &join.right].into_iter().for_each(|side| add(side, found)),
            sql::TableRef::List(tables) => tables.iter().for_each(|table| add(table, found)),
        }
    }
    let mut found = Vec::new();
    tables.iter().for_each(|table| add(table, &mut found));
    found
}

/// A name as other statements have it.
pub(crate) fn table(path: &sql::TablePath) -> TableName {
    let (schema, name) = path.parts();
    TableName { schema: schema.map(str::to_owned), name: name.to_owned() }
}
