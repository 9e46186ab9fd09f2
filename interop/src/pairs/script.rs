//! A script from a seed: definitions and changes of rows in words of the source's kind.

use std::collections::VecDeque;

use super::tables::{Column, DATABASES, Key, Table, Type};
use crate::Kind;
use crate::random_sql::Random;

/// Tables at once: enough of them to be joined, few enough to be full.
const TABLES_MAX: usize = 6;

/// A script in the making: it hears of each statement whether the source took it, because what follows builds on that.
pub(super) struct Script {
    pub(super) seed: u64,
    pub(super) random: Random,
    /// Whose words these are; `None` is one of ours.
    pub(super) source: Option<Kind>,
    /// The source makes primary keys.
    generates_keys: bool,
    /// Its rows in the log have what identifies them, and what was changed.
    pub(super) minimal_rows: bool,
    /// One of both is a MariaDB.
    pub(super) has_maria: bool,
    /// Servers of two versions run it.
    pub(super) beside: bool,
    pub(super) tables: Vec<Table>,
    pub(super) numbered: u32,
    /// Statements that belong together.
    queue: VecDeque<String>,
    /// The tables before the last statement.
    before: Vec<Table>,
}

impl Script {
    pub(super) fn new(seed: u64, source: Option<Kind>, beside: bool) -> Script {
        let random = Random::new(seed);
        let mut script = Script {
            seed,
            random,
            source,
            generates_keys: false,
            minimal_rows: false,
            has_maria: false,
            beside,
            tables: Vec::new(),
            numbered: 0,
            queue: VecDeque::new(),
            before: Vec::new(),
        };
        script.begin();
        script
    }

    /// What the session is, and the databases.
    fn begin(&mut self) {
        let now = self.word(&["1709210096", "1709210096.123456"]);
        self.say(["SET NAMES utf8mb4".into(), "SET time_zone = '+00:00'".into(), format!("SET timestamp = {now}")]);
        for database in DATABASES {
            let charset = self.word(&[
                "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
                "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                "CHARACTER SET latin1",
            ]);
            self.say([
                format!("DROP DATABASE IF EXISTS {database}"),
                format!("CREATE DATABASE {database} {charset}"),
                format!("USE {database}"),
            ]);
        }
        let modes =
            ["DEFAULT", "DEFAULT", "''", "'NO_AUTO_VALUE_ON_ZERO'", "'STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO'"];
        // Where a MySQL's counter goes on behind a zero depends on what the open table has done before (docs/interop.md).
        let mode = self.word(if self.beside { &modes[..3] } else { &modes });
        self.say([format!("SET sql_mode = {mode}")]);
        let image = self.word(&["FULL", "FULL", "MINIMAL", "NOBLOB"]);
        self.minimal_rows = image == "MINIMAL";
        self.say([format!("SET binlog_row_image = '{image}'")]);
        let format = self.word(&["ROW", "ROW", "MIXED", "STATEMENT"]);
        if self.source.is_some() && format != "ROW" {
            self.say([format!("SET binlog_format = '{format}'")]);
        }
        // A MySQL's statements say it of definitions alone; what NULL is in those that change rows, the replica's own setting says.
        if self.random.chance(25) && (self.source != Some(Kind::Mysql97) || format == "ROW") {
            self.say(["SET explicit_defaults_for_timestamp = OFF".into()]);
        }
        if self.random.chance(25) {
            self.say(["SET auto_increment_increment = 10, auto_increment_offset = 3".into()]);
        }
        // Ours always does, and for definitions it is beside a MySQL that does not.
        if self.source != Some(Kind::Maria118) && !self.beside && self.random.chance(40) {
            self.say(["SET sql_generate_invisible_primary_key = ON".into()]);
            self.generates_keys = true;
        }
        if self.source == Some(Kind::Mysql97) && self.random.chance(40) {
            self.say(["SET binlog_row_value_options = 'PARTIAL_JSON'".into()]);
        }
    }

    /// The next statement.
    pub(super) fn next(&mut self) -> String {
        self.before.clone_from(&self.tables);
        if self.queue.is_empty() {
            self.step();
        }
        self.queue.pop_front().unwrap_or_else(|| "DO 1".into())
    }

    /// Whether nothing is in the middle of a transaction.
    pub(super) fn may_end(&self) -> bool {
        self.queue.is_empty()
    }

    /// What came of the last statement.
    pub(super) fn settle(&mut self, succeeded: bool) {
        if !succeeded {
            self.tables.clone_from(&self.before);
        }
    }

    pub(super) fn say<const N: usize>(&mut self, statements: [String; N]) {
        self.queue.extend(statements);
    }

    fn step(&mut self) {
        if self.tables.len() < 2 {
            let sql = self.create();
            return self.say([sql]);
        }
        match self.random.below(100) {
            0..=5 if self.tables.len() < TABLES_MAX => {
                let sql = self.create();
                self.say([sql]);
            }
            6..=26 => {
                let sql = self.alter();
                self.say([sql]);
            }
            27..=35 => {
                let sql = self.other_definition();
                self.say([sql]);
            }
            36..=50 => self.transaction(),
            51..=60 => {
                let table = self.table();
                let sql = self.insert(&table, "INSERT");
                self.say([sql]);
            }
            _ => {
                let sql = self.change();
                self.say([sql]);
            }
        }
    }

    pub(super) fn name(&mut self, letter: &str) -> String {
        self.numbered += 1;
        format!("{letter}{}", self.numbered)
    }

    pub(super) fn word(&mut self, of: &[&'static str]) -> &'static str {
        self.random.word(of)
    }

    pub(super) fn table(&mut self) -> Table {
        self.random.pick(&self.tables).clone()
    }

    pub(super) fn column(&mut self) -> Column {
        let name = self.name("c");
        Column::any(name, &mut self.random)
    }

    pub(super) fn parent(&mut self, database: &str) -> Option<Table> {
        let parents: Vec<&Table> =
            self.tables.iter().filter(|table| table.is_parent && table.database == database).collect();
        (!parents.is_empty()).then(|| (*self.random.pick(&parents)).clone())
    }

    /// Name and definition of a foreign key.
    pub(super) fn foreign_key(&mut self, column: &str, parent: &Table) -> (String, String) {
        let name = self.name("f");
        let delete = self.word(&["", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE RESTRICT"]);
        let update = self.word(&["", " ON UPDATE CASCADE", " ON UPDATE SET NULL", " ON UPDATE NO ACTION"]);
        let key = format!("CONSTRAINT {name} FOREIGN KEY ({column}) REFERENCES {} (id){delete}{update}", parent.full());
        (name, key)
    }

    fn create(&mut self) -> String {
        match self.random.below(10) {
            0 if !self.tables.is_empty() => self.create_like(),
            1 if !self.tables.is_empty() => self.create_select(),
            _ => self.create_new(),
        }
    }

    fn empty_table(&mut self) -> Table {
        Table {
            database: self.word(&DATABASES),
            name: self.name("t"),
            columns: Vec::new(),
            primary: Vec::new(),
            keys: Vec::new(),
            foreign: Vec::new(),
            is_parent: false,
            temporary: false,
        }
    }

    fn create_new(&mut self) -> String {
        let mut table = self.empty_table();
        let id = |auto: bool| Column {
            name: "id".into(),
            kind: Type::Int("INT"),
            nullable: false,
            auto,
            rest: " NOT NULL".into(),
        };
        match self.random.below(10) {
            0..=5 => {
                table.columns.push(id(self.random.chance(60)));
                table.primary = vec!["id".into()];
                table.is_parent = self.random.chance(50);
            }
            6 => {
                // It counts, and is no primary key.
                table.columns.push(id(true));
                table.keys.push(Key { name: "counting".into(), columns: vec!["id".into()] });
            }
            _ => {}
        }
        for _ in 0..2 + self.random.below(4) {
            let column = self.column();
            table.columns.push(column);
        }
        table.temporary = !table.is_parent && self.random.chance(8);
        let foreign = self.child_of(&mut table);
        self.keys_of(&mut table);
        let keys = table.keys.iter().map(|key| format!("KEY {} ({})", key.name, key.columns.join(", ")));
        let primary = (!table.primary.is_empty()).then(|| format!("PRIMARY KEY ({})", table.primary.join(", ")));
        let all: Vec<String> =
            table.columns.iter().map(Column::definition).chain(primary).chain(keys).chain(foreign).collect();
        let word = if table.temporary { "CREATE TEMPORARY TABLE" } else { "CREATE TABLE" };
        let end = self.word(&[
            "",
            "",
            " ENGINE=InnoDB",
            " DEFAULT CHARACTER SET latin1",
            " COMMENT='ü'",
            " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        ]);
        let sql = format!("{word} {} ({}){end}", table.full(), all.join(", "));
        self.tables.push(table);
        sql
    }

    /// A column that refers to a parent, if there is one; the definition of its key.
    fn child_of(&mut self, table: &mut Table) -> Option<String> {
        // A MySQL that makes a primary key writes the table out in its log, where the index of a foreign key looks like any other.
        let is_written_out = self.generates_keys && table.primary.is_empty() && self.source == Some(Kind::Mysql97);
        let may_be = !table.temporary && !is_written_out;
        let parent = self.parent(table.database).filter(|_| may_be && self.random.chance(60))?;
        let name = self.name("p");
        let (key, definition) = self.foreign_key(&name, &parent);
        let kind = Type::Int("INT");
        table.columns.push(Column { name: name.clone(), kind, nullable: true, auto: false, rest: String::new() });
        table.foreign.push((key, name));
        Some(definition)
    }

    /// Keys of several columns, as they are.
    fn keys_of(&mut self, table: &mut Table) {
        for _ in 0..self.random.below(3) {
            let whole = |column: &&Column| column.kind.key_part("x").as_deref() == Some("x");
            let names: Vec<String> = table.columns.iter().filter(whole).map(|column| column.name.clone()).collect();
            if names.is_empty() {
                return;
            }
            let name = self.name("k");
            let first = self.random.pick(&names).clone();
            let second = self.random.pick(&names).clone();
            // A MySQL does not look for the parent of a row with NULL in another column of its foreign key's index (docs/interop.md).
            let is_foreign = table.foreign.iter().any(|(_, column)| *column == first);
            let is_alone = first == second || is_foreign && self.source == Some(Kind::Mysql97);
            let columns = if is_alone { vec![first] } else { vec![first, second] };
            table.keys.push(Key { name, columns });
        }
    }

    fn create_like(&mut self) -> String {
        let like = self.table();
        let new = self.empty_table();
        let table =
            Table { database: new.database, name: new.name, foreign: Vec::new(), is_parent: false, ..like.clone() };
        let word = if table.temporary { "CREATE TEMPORARY TABLE" } else { "CREATE TABLE" };
        let sql = format!("{word} {} LIKE {}", table.full(), like.full());
        self.tables.push(table);
        sql
    }

    fn create_select(&mut self) -> String {
        let from = self.table();
        let Some(order) = from.order() else { return self.create_like() };
        let mut table = self.empty_table();
        table.columns = from.columns.clone();
        table.columns.iter_mut().for_each(|column| column.auto = false);
        if self.random.chance(30) {
            table.columns.truncate(2);
        }
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let key = if self.random.chance(40) && names.contains(&from.primary[0].as_str()) {
            table.primary = vec![from.primary[0].clone()];
            format!(" (PRIMARY KEY ({}))", table.primary[0])
        } else {
            String::new()
        };
        let sql =
            format!("CREATE TABLE {}{key} AS SELECT {} FROM {}{order}", table.full(), names.join(", "), from.full());
        self.tables.push(table);
        sql
    }

    fn other_definition(&mut self) -> String {
        let at = self.random.below(self.tables.len());
        let table = self.tables[at].clone();
        let full = table.full();
        match self.random.below(9) {
            0 if self.tables.len() > 3 => {
                self.tables.remove(at);
                let word = if table.temporary { "TEMPORARY TABLE" } else { "TABLE" };
                format!("DROP {word} {full}")
            }
            1 => format!("TRUNCATE TABLE {full}"),
            2 | 3 if !table.temporary => self.rename_tables(at),
            4 => {
                let name = self.name("k");
                let column = table.column(&mut self.random).clone();
                let Some(part) = column.kind.key_part(&column.name) else { return format!("ANALYZE TABLE {full}") };
                let word = self.word(&["INDEX", "UNIQUE INDEX", "INDEX"]);
                let sql = format!("CREATE {word} {name} ON {full} ({part})");
                self.tables[at].keys.push(Key { name, columns: vec![column.name] });
                sql
            }
            // A MySQL without generated keys copies the table if the unique key goes that InnoDB takes for the primary one, and counts anew.
            5 if self.beside && table.primary.is_empty() => format!("ANALYZE TABLE {full}"),
            5 if table.keys.iter().any(|key| key.name != "counting") => {
                let keys: Vec<&Key> = table.keys.iter().filter(|key| key.name != "counting").collect();
                let name = self.random.pick(&keys).name.clone();
                self.tables[at].keys.retain(|key| key.name != name);
                format!("DROP INDEX {name} ON {full}")
            }
            6 => format!("DROP TABLE IF EXISTS {}.nowhere", table.database),
            7 => format!("CREATE TABLE IF NOT EXISTS {full} (a INT)"),
            _ => format!("OPTIMIZE TABLE {full}"),
        }
    }

    /// One table to another database, or two that swap their names.
    fn rename_tables(&mut self, at: usize) -> String {
        let table = self.tables[at].clone();
        let second = self.random.below(self.tables.len());
        let other = self.tables[second].clone();
        if second != at && !other.temporary && self.random.chance(50) {
            let between = format!("{}.between", table.database);
            (self.tables[at].database, self.tables[at].name) = (other.database, other.name.clone());
            (self.tables[second].database, self.tables[second].name) = (table.database, table.name.clone());
            let (a, b) = (table.full(), other.full());
            return format!("RENAME TABLE {a} TO {between}, {b} TO {a}, {between} TO {b}");
        }
        let name = self.name("t");
        let database =
            if table.is_parent || !table.foreign.is_empty() { table.database } else { self.word(&DATABASES) };
        (self.tables[at].database, self.tables[at].name) = (database, name);
        format!("RENAME TABLE {} TO {}", table.full(), self.tables[at].full())
    }
}
