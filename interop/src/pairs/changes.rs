//! Statements that change rows, and transactions of them.

use super::script::Script;
use super::tables::{Column, Table, Type};
use crate::Kind;

impl Script {
    /// One statement that changes rows of one or two tables.
    pub(super) fn change(&mut self) -> String {
        let table = self.table();
        match self.random.below(20) {
            0..=6 => self.insert(&table, "INSERT"),
            // A MariaDB leaves out of MINIMAL images that a column of the row before became NULL (docs/interop.md).
            7 if self.source != Some(Kind::Maria118) || !self.minimal_rows => self.insert(&table, "REPLACE"),
            8 => self.insert(&table, "INSERT IGNORE"),
            9 | 10 => self.upsert(&table),
            11 => self.insert_select(&table),
            12..=15 => self.update(&table),
            16 => self.update_of_two(&table),
            17 => self.delete_of_two(&table),
            _ => self.delete(&table),
        }
    }

    fn rows(&mut self, table: &Table) -> (String, String) {
        let mut columns: Vec<_> = table.columns.iter().collect();
        if self.random.chance(25) {
            columns.retain(|column| !column.auto && (!column.nullable || self.random.chance(60)));
        }
        // A MySQL cannot log such a row with the image MINIMAL if nothing identifies it (docs/interop.md).
        if columns.is_empty() && table.primary.is_empty() && self.source == Some(Kind::Mysql97) {
            columns = table.columns.iter().collect();
        }
        let mut values = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            let row: Vec<String> = columns.iter().map(|column| column.value(&mut self.random)).collect();
            values.push(format!("({})", row.join(", ")));
        }
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        (names.join(", "), values.join(", "))
    }

    pub(super) fn insert(&mut self, table: &Table, verb: &str) -> String {
        let (columns, values) = self.rows(table);
        let returning = match self.source {
            Some(Kind::Maria118) if verb != "INSERT IGNORE" && self.random.chance(5) => " RETURNING 1",
            _ => "",
        };
        format!("{verb} INTO {} ({columns}) VALUES {values}{returning}", table.full())
    }

    fn upsert(&mut self, table: &Table) -> String {
        let column = table.column(&mut self.random).clone();
        if self.loses_row(table, &column) {
            return self.insert(table, "INSERT");
        }
        let insert = self.insert(table, "INSERT").replace(" RETURNING 1", "");
        let name = &column.name;
        let value = match self.random.below(3) {
            0 => format!("VALUES({name})"),
            1 if self.source != Some(Kind::Maria118) => {
                return format!("{insert} AS new_row ON DUPLICATE KEY UPDATE {name} = new_row.{name}");
            }
            _ => self.computed(&column.kind, name),
        };
        format!("{insert} ON DUPLICATE KEY UPDATE {name} = {value}")
    }

    fn insert_select(&mut self, table: &Table) -> String {
        let Some(order) = table.order() else { return self.insert(table, "INSERT") };
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let values: Vec<String> = table
            .columns
            .iter()
            .map(|column| match () {
                () if column.auto => "NULL".into(),
                () if table.primary.contains(&column.name) => self.computed(&column.kind, &column.name),
                () => column.name.clone(),
            })
            .collect();
        let verbs: &[&str] = if self.minimal_rows && self.source == Some(Kind::Maria118) {
            &["INSERT", "INSERT IGNORE"]
        } else {
            &["INSERT", "INSERT IGNORE", "REPLACE"]
        };
        let verb = self.word(verbs);
        let full = table.full();
        format!("{verb} INTO {full} ({}) SELECT {} FROM {full}{order} LIMIT 3", names.join(", "), values.join(", "))
    }

    /// A MariaDB whose temporary table gives up a primary key loses the row when another one has taken that key and all is rolled back
    /// (docs/interop.md).
    fn loses_row(&self, table: &Table, column: &Column) -> bool {
        self.source == Some(Kind::Maria118) && table.temporary && table.primary.contains(&column.name)
    }

    /// A value that comes of the one before.
    fn computed(&mut self, kind: &Type, name: &str) -> String {
        if self.random.chance(30) {
            return kind.value(&mut self.random);
        }
        match kind {
            Type::Int(_) | Type::Number(_) => format!("{name} + {}", 1 + self.random.below(30)),
            Type::Text(..) => match self.random.below(3) {
                0 => format!("CONCAT(LEFT({name}, 5), 'ü')"),
                1 => format!("UPPER({name})"),
                _ => format!("REVERSE({name})"),
            },
            Type::Json if self.source != Some(Kind::Maria118) => match self.random.below(4) {
                0 => format!("JSON_SET({name}, '$.a', {})", self.random.below(9)),
                1 => format!("JSON_REPLACE({name}, '$.b[1]', 'x', '$.long', 'short')"),
                2 => format!("JSON_REMOVE({name}, '$.b[0]')"),
                _ => format!("JSON_SET({name}, '$.n', 'new', '$.a', 'text')"),
            },
            kind => kind.value(&mut self.random),
        }
    }

    fn condition(&mut self, table: &Table, prefix: &str) -> String {
        let column = table.column(&mut self.random).clone();
        let name = format!("{prefix}{}", column.name);
        if matches!(column.kind, Type::Json) {
            return format!("{name} IS NOT NULL");
        }
        match self.random.below(8) {
            0 => format!("{name} IS NULL"),
            1 => format!("{name} IS NOT NULL"),
            2 if matches!(column.kind, Type::Int(_)) => format!("{name} % 3 = 1"),
            3 if matches!(column.kind, Type::Int(_)) => format!("{name} BETWEEN 5 AND {}", 10 + self.random.below(60)),
            _ => {
                let kind = match column.kind {
                    // Compared with what it cannot have, an error of its own in each server.
                    Type::Enum(_) => "'a'".to_owned(),
                    Type::Set(_) => "'p'".to_owned(),
                    // A character that a latin1 column cannot have is compared, which is an error in MySQL (docs/DIFFERENCES.md).
                    kind if self.beside => kind.value(&mut self.random).replace('Ω', "é"),
                    kind => kind.value(&mut self.random),
                };
                format!("{name} {} {kind}", self.random.word(&["=", ">", "<=", "<>"]))
            }
        }
    }

    fn update(&mut self, table: &Table) -> String {
        let mut sets: Vec<String> = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let column = table.column(&mut self.random).clone();
            if sets.iter().any(|set| set.starts_with(&format!("{} =", column.name))) || self.loses_row(table, &column) {
                continue;
            }
            // Which row is changed first, and so which one collides, is the optimizer's choice where there is no order.
            let is_ordered = !self.beside || !table.in_keys(&column.name) || table.order().is_some();
            let value = match is_ordered {
                true => self.computed(&column.kind, &column.name),
                false => column.kind.value(&mut self.random),
            };
            sets.push(format!("{} = {value}", column.name));
        }
        if sets.is_empty() {
            return self.delete(table);
        }
        let end = self.end(table);
        let ignore = if self.random.chance(8) && !end.is_empty() { "IGNORE " } else { "" };
        format!("UPDATE {ignore}{} SET {} WHERE {}{end}", table.full(), sets.join(", "), self.condition(table, ""))
    }

    /// An order that says which rows a statement changes first, where there is one.
    fn end(&mut self, table: &Table) -> String {
        let mut end = table.order().unwrap_or_default();
        if !end.is_empty() && self.random.chance(40) {
            end += &format!(" LIMIT {}", 1 + self.random.below(4));
        }
        end
    }

    fn delete(&mut self, table: &Table) -> String {
        let end = self.end(table);
        format!("DELETE FROM {} WHERE {}{end}", table.full(), self.condition(table, ""))
    }

    /// Another table, and what both have to be joined by.
    fn beside(&mut self, table: &Table) -> Option<(Table, String)> {
        let other = self.table();
        if other.full() == table.full() {
            return None;
        }
        let ints = |table: &Table| -> Vec<String> {
            let ints = table.columns.iter().filter(|column| matches!(column.kind, Type::Int(_)));
            ints.map(|column| column.name.clone()).collect()
        };
        let (a, b) = (ints(table), ints(&other));
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let on = format!("x.{} = y.{}", self.random.pick(&a), self.random.pick(&b));
        Some((other, on))
    }

    fn update_of_two(&mut self, table: &Table) -> String {
        let Some((other, on)) = self.beside(table) else { return self.update(table) };
        let (a, b) = (table.column(&mut self.random).clone(), other.column(&mut self.random).clone());
        if !table.is_free(&a.name) || !other.is_free(&b.name) || table.in_keys(&a.name) || other.in_keys(&b.name) {
            return self.update(table);
        }
        let (first, second) = (a.kind.value(&mut self.random), b.kind.value(&mut self.random));
        let condition = self.condition(table, "x.");
        format!(
            "UPDATE {} x JOIN {} y ON {on} SET x.{} = {first}, y.{} = {second} WHERE {condition}",
            table.full(),
            other.full(),
            a.name,
            b.name
        )
    }

    fn delete_of_two(&mut self, table: &Table) -> String {
        let Some((other, on)) = self.beside(table) else { return self.delete(table) };
        let which = self.random.word(&["x", "x, y", "y"]);
        let condition = self.condition(table, "x.");
        format!("DELETE {which} FROM {} x JOIN {} y ON {on} WHERE {condition}", table.full(), other.full())
    }

    /// A transaction, of one of several kinds.
    pub(super) fn transaction(&mut self) {
        match self.random.below(10) {
            0 => {
                let table = self.table();
                let read = format!("SELECT COUNT(*) FROM {}", table.full());
                self.say(["START TRANSACTION READ ONLY".into(), read, "COMMIT".into()]);
            }
            1 | 2 if self.tables.iter().all(|table| !table.temporary) => self.xa(),
            _ => self.plain_transaction(),
        }
    }

    fn plain_transaction(&mut self) {
        let begin = self.word(&["BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"]);
        self.say([begin.into()]);
        let mut savepoint = false;
        for _ in 0..1 + self.random.below(6) {
            let change = self.change();
            self.say([change]);
            match self.random.below(8) {
                0 => {
                    savepoint = true;
                    self.say(["SAVEPOINT s".into()]);
                }
                1 if savepoint => self.say(["ROLLBACK TO SAVEPOINT s".into()]),
                2 if savepoint => {
                    savepoint = false;
                    self.say(["RELEASE SAVEPOINT s".into()]);
                }
                _ => {}
            }
        }
        let end = self.word(&["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]);
        self.say([end.into()]);
    }

    fn xa(&mut self) {
        self.numbered += 1;
        let name = format!("'x{}-{}'", self.seed, self.numbered);
        self.say([format!("XA START {name}")]);
        for _ in 0..1 + self.random.below(3) {
            let change = self.change();
            self.say([change]);
        }
        self.say([format!("XA END {name}")]);
        match self.random.below(3) {
            0 => self.say([format!("XA COMMIT {name} ONE PHASE")]),
            1 => self.say([format!("XA PREPARE {name}"), format!("XA ROLLBACK {name}")]),
            _ => self.say([format!("XA PREPARE {name}"), format!("XA COMMIT {name}")]),
        }
    }
}
