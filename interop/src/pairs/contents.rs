//! What a server has: definitions and rows, in words that are the same everywhere.

use std::collections::BTreeMap;

use super::tables::DATABASES;
use crate::{Answer, Connection, Result};

/// Of each table its definition, its rows in an order of their own, and what CHECK TABLE says in the end.
pub(super) type Contents = BTreeMap<String, Vec<String>>;

/// The column of a generated key, which a table here has where another server needs none.
const GENERATED: &str = "my_row_id";

fn ask(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<String>>> {
    let Answer::Rows { rows, .. } = connection.succeed(sql)? else { return Err(format!("{sql}: no rows")) };
    let text = |value: Option<Vec<u8>>| match value {
        None => "NULL".to_owned(),
        Some(bytes) => String::from_utf8(bytes).unwrap_or_else(|error| format!("{:02x?}", error.as_bytes())),
    };
    Ok(rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
}

/// Reads all of it. A MariaDB's SHOW CREATE TABLE is not a MySQL's, so where one of both is one, `information_schema` says what is there.
pub(super) fn read(connection: &mut Connection, beside_mariadb: bool) -> Result<Contents> {
    for sql in ["SET NAMES utf8mb4", "SET time_zone = '+00:00'", "SET sql_mode = ''"] {
        connection.succeed(sql)?;
    }
    let mut contents = Contents::new();
    for database in DATABASES {
        let tables = format!(
            "SELECT table_name, table_collation, table_comment FROM information_schema.tables WHERE table_schema = '{database}' ORDER BY 1"
        );
        for table in ask(connection, &tables)? {
            let name = format!("{database}.{}", table[0]);
            let mut definition = vec![table[1..].join(" ").replace("uca1400_ai_ci", "0900_ai_ci")];
            definition.extend(described(connection, database, &table[0], beside_mariadb)?);
            if !beside_mariadb {
                definition.extend(shown(connection, &name)?);
            }
            contents.insert(format!("{name}, definition"), definition);
            contents.insert(format!("{name}, rows"), rows(connection, database, &table[0])?);
            // Rows are read without the indexes, which have to be theirs.
            let mut checked = ask(connection, &format!("CHECK TABLE {name}"))?;
            contents.insert(format!("{name}, check"), checked.pop().unwrap_or_default());
        }
    }
    Ok(contents)
}

/// SHOW CREATE TABLE without the number that comes next, which replicas need not have, and without columns' character sets, of which MySQL says those
/// that its definition said.
fn shown(connection: &mut Connection, name: &str) -> Result<Vec<String>> {
    let rows = ask(connection, &format!("SHOW CREATE TABLE {name}"))?;
    let text = &rows.first().ok_or("no table")?[1];
    let lines = text.lines().filter(|line| !line.contains(GENERATED)).map(|line| line.trim_end_matches(','));
    let plain = |line: &str| {
        let (mut words, mut all) = (Vec::new(), line.split(' '));
        while let Some(word) = all.next() {
            match word {
                "CHARACTER" => drop(all.nth(1)),
                "COLLATE" => drop(all.next()),
                word if word.starts_with("AUTO_INCREMENT=") => {}
                word => words.push(word),
            }
        }
        words.join(" ")
    };
    Ok(lines.map(plain).collect())
}

fn described(connection: &mut Connection, database: &str, table: &str, beside_mariadb: bool) -> Result<Vec<String>> {
    let of = format!("WHERE table_schema = '{database}' AND table_name = '{table}'");
    let columns = format!(
        "SELECT column_name, column_type, is_nullable, character_set_name, collation_name, column_default, extra, column_comment \
         FROM information_schema.columns {of} ORDER BY ordinal_position"
    );
    let mut lines = Vec::new();
    for mut row in ask(connection, &columns)? {
        row[1] = plain_type(&row[1]);
        // What a character set of theirs has as its own is what MySQL has as its.
        row[4] = row[4].replace("uca1400_ai_ci", "0900_ai_ci");
        // Of bytes each server says in its own way what they are.
        row[5] = if row[1].contains("binary") { String::new() } else { plain_default(&row[5]) };
        if row[1] == "json" && beside_mariadb {
            (row[1], row[3], row[4]) = ("longtext".into(), "utf8mb4".into(), "utf8mb4_bin".into());
        }
        // What is invisible is a generated key in one of them, and a column in the other.
        row[6] = row[6].to_lowercase().replace("invisible", "").replace("default_generated", "").replace(',', " ");
        // MariaDB writes brackets behind CURRENT_TIMESTAMP.
        row[6] = row[6].replace("()", "");
        row[6] = row[6].split_whitespace().collect::<Vec<_>>().join(" ");
        lines.push(row.join(" "));
    }
    let keys = format!(
        "SELECT index_name, seq_in_index, column_name, non_unique, collation, sub_part FROM information_schema.statistics {of} ORDER BY 1, 2"
    );
    let mut keys: Vec<String> = ask(connection, &keys)?.into_iter().map(|row| row.join(" ")).collect();
    keys.sort();
    lines.extend(keys);
    lines.retain(|line| !line.contains(GENERATED));
    let foreign = format!(
        "SELECT constraint_name, update_rule, delete_rule, referenced_table_name FROM information_schema.referential_constraints \
         WHERE constraint_schema = '{database}' AND table_name = '{table}' ORDER BY 1"
    );
    let plain = |row: Vec<String>| row.join(" ").replace("NO ACTION", "RESTRICT");
    lines.extend(ask(connection, &foreign)?.into_iter().map(plain));
    Ok(lines)
}

/// Without the width that a number is shown with.
fn plain_type(text: &str) -> String {
    let Some((word, rest)) = text.split_once('(') else { return text.to_owned() };
    let has_width = word.ends_with("int") || word == "year";
    let end = rest.split_once(')').map_or("", |(_, end)| end);
    if has_width { format!("{word}{end}") } else { text.to_owned() }
}

/// Without MariaDB's quotes, and its word for the time.
fn plain_default(text: &str) -> String {
    if let Some(digits) = text.strip_prefix("current_timestamp") {
        return format!("CURRENT_TIMESTAMP{}", digits.trim_start_matches("()"));
    }
    let text = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
    text.replace("''", "'")
}

fn rows(connection: &mut Connection, database: &str, table: &str) -> Result<Vec<String>> {
    let columns = format!(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = '{database}' AND table_name = '{table}' \
         ORDER BY ordinal_position"
    );
    let value = |row: Vec<String>| match row[1].as_str() {
        "enum" | "set" => format!("CONCAT(`{0}` + 0, ':', HEX(`{0}`))", row[0]),
        word if word.ends_with("char")
            || word.ends_with("text")
            || word.ends_with("blob")
            || word.ends_with("binary") =>
        {
            format!("HEX(`{}`)", row[0])
        }
        "bit" => format!("`{}` + 0", row[0]),
        "json" => format!("HEX(CAST(`{}` AS CHAR CHARACTER SET utf8mb4))", row[0]),
        _ => format!("`{}`", row[0]),
    };
    let columns = ask(connection, &columns)?;
    let columns: Vec<String> = columns.into_iter().filter(|row| row[0] != GENERATED).map(value).collect();
    let all = ask(connection, &format!("SELECT {} FROM `{database}`.`{table}`", columns.join(", ")))?;
    let mut lines: Vec<String> = all.into_iter().map(|row| row.join(", ")).collect();
    lines.sort();
    Ok(lines)
}

/// What is in one and not in the other.
pub(super) fn difference(first: &Contents, second: &Contents) -> Option<String> {
    for key in first.keys().chain(second.keys()) {
        let (Some(a), Some(b)) = (first.get(key), second.get(key)) else {
            let there = if first.contains_key(key) { "source" } else { "replica" };
            return Some(format!("{key}: only at the {there}"));
        };
        if a != b {
            let only = |a: &[String], b: &[String]| -> String {
                let lines: Vec<&str> = a.iter().filter(|line| !b.contains(line)).map(String::as_str).collect();
                lines.join("\n    ")
            };
            return Some(format!("{key}:\n  source:\n    {}\n  replica:\n    {}", only(a, b), only(b, a)));
        }
    }
    None
}
