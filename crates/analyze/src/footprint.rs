//! Which rows a rows event changes, as hashes; and which tables a schema change names.
//!
//! A row is its primary key, where that is known. Where it is not, a row is its whole image, before and after: who changes a row next has
//! as its before image what the last one left. (With minimal images that is what identifies the row there, and an INSERT is not seen as
//! the row's first change.) Keys are compared by their bytes, so a collation's equal texts are different rows here.

use binlog::DecodeError;
use binlog::event::{RowsEvent, TableMap};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::tables::{Mapped, TableKey, seed};

/// The bytes of a row's key; `None` if the image has not all of it.
pub(crate) fn key_of(map: &TableMap, columns: &[usize], present: &[u8], image: &[u8]) -> Option<Vec<u8>> {
    let bit = |bits: &[u8], at: usize| bits.get(at / 8).is_some_and(|byte| byte & (1 << (at % 8)) != 0);
    let present_count = (0..map.columns.len()).filter(|&at| bit(present, at)).count();
    let (mut at, mut slot, mut found) = (present_count.div_ceil(8), 0, 0);
    let mut key = Vec::with_capacity(16);
    for (number, column) in map.columns.iter().enumerate() {
        if !bit(present, number) {
            continue;
        }
        let is_null = bit(image, slot);
        slot += 1;
        let len = if is_null { 0 } else { column.value_len(image.get(at..)?).ok()? };
        if columns.contains(&number) {
            key.extend_from_slice(&(len as u32).to_le_bytes());
            key.extend_from_slice(image.get(at..at + len)?);
            found += 1;
            if found == columns.len() {
                return Some(key);
            }
        }
        at += len;
    }
    None
}

/// Hashes of the rows that an event changes are put into `keys`; `each` gets the key of each row where there is one. How many rows.
pub(crate) fn rows(
    mapped: &Mapped,
    event: &RowsEvent<'_>,
    keys: &mut Vec<u64>,
    mut each: impl FnMut(u64, &[u8]),
) -> Result<u64, DecodeError> {
    let mut count = 0;
    for row in event.images(&mapped.map) {
        let (before, after) = row?;
        count += 1;
        let first = keys.len();
        for (image, present) in [(before, event.present), (after, event.present_after)] {
            if image.is_empty() {
                continue;
            }
            let key = match &mapped.key {
                TableKey::Primary(columns) => key_of(&mapped.map, columns, present, image),
                _ => None,
            };
            let hash = xxh3_64_with_seed(key.as_deref().unwrap_or(image), mapped.seed);
            // A key that stays is one row; an after image without a key says nothing new of a row that is known by it.
            if keys[first..].contains(&hash) || (key.is_none() && first < keys.len() && is_keyed(mapped)) {
                continue;
            }
            if let Some(key) = &key {
                each(hash, key);
            }
            keys.push(hash);
        }
    }
    Ok(count)
}

fn is_keyed(mapped: &Mapped) -> bool {
    matches!(mapped.key, TableKey::Primary(_))
}

/// What a statement is that is a transaction by itself.
pub(crate) enum Statement {
    /// A schema change of this table.
    OfTable(u64),
    /// Another schema change, or one of accounts and the like.
    Other,
    /// It changes rows.
    Changes,
}

/// Looks at the first words of a statement.
pub(crate) fn statement(schema: &str, sql: &[u8]) -> Statement {
    let text = String::from_utf8_lossy(&sql[..sql.len().min(1024)]);
    let text = without_comments(&text);
    let mut words =
        text.split(|c: char| c.is_whitespace() || c == '(' || c == ';' || c == ',').filter(|w| !w.is_empty());
    let first = words.next().unwrap_or_default().to_uppercase();
    if ["INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "WITH", "CALL", "SET"].contains(&first.as_str()) {
        return Statement::Changes;
    }
    let mut upper = words.map(|word| (word.to_uppercase(), word)).peekable();
    let mut is_index = false;
    while let Some((word, _)) = upper.next() {
        match word.as_str() {
            "INDEX" => is_index = true,
            "TABLE" | "ON" if word == "TABLE" || is_index => {
                while upper.next_if(|(word, _)| ["IF", "NOT", "EXISTS"].contains(&word.as_str())).is_some() {}
                return upper.next().map_or(Statement::Other, |(_, name)| of_table(schema, name));
            }
            _ => {}
        }
    }
    match (first.as_str(), text.split_whitespace().nth(1)) {
        ("TRUNCATE", Some(name)) => of_table(schema, name),
        _ => Statement::Other,
    }
}

fn of_table(schema: &str, name: &str) -> Statement {
    let name = name.replace('`', "");
    let (schema, table) = name.split_once('.').unwrap_or((schema, &name));
    Statement::OfTable(seed(schema, table))
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        out.push_str(&rest[..start]);
        out.push(' ');
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_changes_name_their_tables() {
        let of = |sql: &str| match statement("d", sql.as_bytes()) {
            Statement::OfTable(hash) => hash,
            _ => 0,
        };
        let t = seed("d", "t");
        for sql in [
            "CREATE TABLE t (a INT)",
            "create table if not exists `t`(a int)",
            "ALTER TABLE d.t ADD b INT",
            "DROP TABLE IF EXISTS `d`.`t` /* generated by server */",
            "CREATE UNIQUE INDEX i ON t (a)",
            "TRUNCATE t",
            "/* c */ TRUNCATE TABLE t;",
        ] {
            assert_eq!(of(sql), t, "{sql}");
        }
        assert!(matches!(statement("d", b"CREATE USER a"), Statement::Other));
        assert!(matches!(statement("d", b"INSERT INTO t VALUES (1)"), Statement::Changes));
    }
}
