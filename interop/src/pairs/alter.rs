//! ALTER TABLE in all its forms.

use super::script::Script;
use super::tables::{Column, Key, Table, Type};
use crate::Kind;

/// One ALTER TABLE in the making: its clauses, and the columns and keys that one of them has named already.
struct Alter {
    table: Table,
    clauses: Vec<String>,
    touched: Vec<String>,
    /// A column counts no longer.
    has_counted: bool,
}

impl Alter {
    /// A column that no clause has named.
    fn column(&self, script: &mut Script) -> Option<Column> {
        let free: Vec<&Column> =
            self.table.columns.iter().filter(|column| !self.touched.contains(&column.name)).collect();
        (!free.is_empty()).then(|| (*script.random.pick(&free)).clone())
    }

    fn clause(&mut self, clause: String) {
        self.clauses.push(clause);
    }

    fn touch(&mut self, name: &str) {
        self.touched.push(name.to_owned());
    }

    /// Where a column goes: said, and done.
    fn place(&mut self, script: &mut Script, name: &str) -> String {
        let Some(at) = self.table.columns.iter().position(|column| column.name == name) else { return String::new() };
        match script.random.below(4) {
            0 => {
                let column = self.table.columns.remove(at);
                self.table.columns.insert(0, column);
                " FIRST".into()
            }
            1 => {
                let Some(after) = self.column(script).filter(|after| after.name != name) else { return String::new() };
                let column = self.table.columns.remove(at);
                let place = self.table.columns.iter().position(|other| other.name == after.name).unwrap_or(0);
                self.table.columns.insert(place + 1, column);
                format!(" AFTER {}", after.name)
            }
            _ => String::new(),
        }
    }

    fn add_column(&mut self, script: &mut Script) {
        let column = script.column();
        let (name, definition) = (column.name.clone(), column.definition());
        self.table.columns.push(column);
        self.touch(&name);
        let place = self.place(script, &name);
        let word = script.word(&["ADD", "ADD COLUMN"]);
        self.clause(format!("{word} {definition}{place}"));
    }

    fn drop_column(&mut self, script: &mut Script) {
        let Some(column) = self.column(script) else { return };
        let name = &column.name;
        if !self.table.is_free(name) || self.table.in_keys(name) || self.table.columns.len() < 3 {
            return;
        }
        self.table.columns.retain(|other| other.name != *name);
        self.touch(name);
        self.clause(format!("DROP COLUMN {name}"));
    }

    fn modify(&mut self, script: &mut Script) {
        let Some(mut column) = self.column(script) else { return };
        let name = column.name.clone();
        self.touch(&name);
        if self.table.is_free(&name) && !self.table.in_keys(&name) {
            column.kind = wider(&column.kind, script);
            column.rest = if column.nullable { String::new() } else { " NOT NULL".into() };
            // The time of the statement stands for NULL then.
            if let Type::Time(word) = column.kind
                && let Some(ty) = word.strip_suffix(" NULL").filter(|_| script.random.chance(40))
            {
                column.kind = Type::Time(ty);
                column.rest = " NOT NULL".into();
                column.nullable = false;
            }
        }
        let definition = column.definition();
        if let Some(known) = self.table.columns.iter_mut().find(|known| known.name == name) {
            *known = column;
        }
        if script.random.chance(40) && self.table.is_free(&name) {
            let new = script.name("c");
            let changed = definition.replacen(&name, &new, 1);
            self.table.renamed(&name, &new);
            self.touch(&new);
            let place = self.place(script, &new);
            self.clause(format!("CHANGE {name} {changed}{place}"));
        } else {
            let place = self.place(script, &name);
            self.clause(format!("MODIFY {definition}{place}"));
        }
    }

    fn rename(&mut self, script: &mut Script) {
        // A MySQL that renames a column to which others refer, and does more, says that there is no such table, and does it. Foreign keys refer to `id`.
        let referred = if self.table.is_parent { self.table.primary.clone() } else { Vec::new() };
        let may_be = |column: &Column| !referred.contains(&column.name);
        let Some(a) = self.column(script).filter(may_be) else { return };
        self.touch(&a.name);
        // A MariaDB that replicates takes the check of the JSON column for one of the foreign key's.
        let has_maria = script.has_maria;
        let is_refused = |b: &Column| {
            let is = |json: &Column, key: &Column| json.kind == Type::Json && self.table.is_foreign(&key.name);
            has_maria && (is(&a, b) || is(b, &a))
        };
        match self.column(script).filter(may_be).filter(|b| !is_refused(b)) {
            Some(b) if script.random.chance(60) => {
                self.touch(&b.name);
                if script.random.chance(50) {
                    self.clause(format!("RENAME COLUMN {} TO {}", a.name, b.name));
                    self.clause(format!("RENAME COLUMN {} TO {}", b.name, a.name));
                } else {
                    self.clause(format!("CHANGE {} {}", a.name, renamed_definition(&a, &b.name)));
                    self.clause(format!("CHANGE {} {}", b.name, renamed_definition(&b, &a.name)));
                }
                self.table.renamed(&a.name, "between");
                self.table.renamed(&b.name, &a.name);
                self.table.renamed("between", &b.name);
            }
            _ if self.table.is_parent && a.name == "id" => {}
            _ => {
                let new = script.name("c");
                self.clause(format!("RENAME COLUMN {} TO {new}", a.name));
                self.table.renamed(&a.name, &new);
                self.touch(&new);
            }
        }
    }

    fn add_key(&mut self, script: &mut Script) {
        let Some(column) = self.column(script) else { return };
        let Some(part) = column.kind.key_part(&column.name) else { return };
        let name = script.name("k");
        let word = script.random.word(&["KEY", "INDEX", "KEY", "UNIQUE KEY"]);
        // Where it serves a foreign key in place of the key that was made for that, MariaDB drops that one (docs/DIFFERENCES.md).
        let is_descending = script.random.chance(10) && !(script.has_maria && self.table.is_foreign(&column.name));
        let part = if is_descending { format!("{part} DESC") } else { part };
        self.clause(format!("ADD {word} {name} ({part})"));
        self.touch(&column.name);
        self.touch(&name);
        self.table.keys.push(Key { name, columns: vec![column.name] });
    }

    fn change_key(&mut self, script: &mut Script) {
        let keys: Vec<Key> = self.table.keys.iter().filter(|key| !self.touched.contains(&key.name)).cloned().collect();
        if keys.is_empty() {
            return self.add_key(script);
        }
        let key = script.random.pick(&keys).clone();
        self.touch(&key.name);
        let rename = |table: &mut Table, old: &str, new: &str| {
            table.keys.iter_mut().filter(|key| key.name == old).for_each(|key| new.clone_into(&mut key.name));
        };
        match (script.random.below(4), keys.iter().find(|other| other.name != key.name)) {
            (0, _) if !self.table.columns.iter().any(|column| column.auto && key.columns.contains(&column.name)) => {
                self.table.keys.retain(|other| other.name != key.name);
                self.clause(format!("DROP INDEX {}", key.name));
            }
            (1, Some(other)) => {
                self.touch(&other.name);
                self.clause(format!("RENAME INDEX {} TO {}", key.name, other.name));
                self.clause(format!("RENAME INDEX {} TO {}", other.name, key.name));
                rename(&mut self.table, &key.name, "between");
                rename(&mut self.table, &other.name, &key.name);
                rename(&mut self.table, "between", &other.name);
            }
            (2, _) => {
                let words: &[&str] = if script.source == Some(Kind::Maria118) {
                    &["IGNORED", "NOT IGNORED"]
                } else {
                    &["INVISIBLE", "VISIBLE"]
                };
                self.clause(format!("ALTER INDEX {} {}", key.name, script.word(words)));
            }
            _ => {
                let new = script.name("k");
                self.clause(format!("RENAME INDEX {} TO {new}", key.name));
                rename(&mut self.table, &key.name, &new);
                self.touch(&new);
            }
        }
    }

    fn primary(&mut self, script: &mut Script) {
        if self.table.is_parent {
            return;
        }
        if !self.table.primary.is_empty() {
            let auto = self.table.columns.iter().find(|column| column.auto);
            // Ours does it for a source only (docs/DIFFERENCES.md).
            let is_own = script.source.is_none() || script.beside;
            if auto.is_some_and(|auto| self.table.primary.contains(&auto.name) || is_own) {
                return;
            }
            self.table.primary.clear();
            self.clause("DROP PRIMARY KEY".into());
            if script.random.chance(50) {
                return;
            }
        }
        let Some(column) = self.column(script).filter(|column| matches!(column.kind, Type::Int(_))) else { return };
        self.touch(&column.name);
        self.clause(format!("ADD PRIMARY KEY ({})", column.name));
        if let Some(column) = self.table.columns.iter_mut().find(|known| known.name == column.name) {
            column.nullable = false;
        }
        self.table.primary = vec![column.name];
    }

    /// A column that counts comes, or goes on as another.
    fn count(&mut self, script: &mut Script) {
        if let Some(at) = self.table.columns.iter().position(|column| column.auto) {
            let column = &mut self.table.columns[at];
            if self.touched.contains(&column.name) || self.table.is_parent || script.random.chance(60) {
                return;
            }
            column.auto = false;
            self.has_counted = true;
            let (name, definition) = (column.name.clone(), column.definition());
            self.touch(&name);
            return self.clause(format!("MODIFY {definition}"));
        }
        // A generated primary key of ours is the counted column (docs/DIFFERENCES.md), and a MySQL that copies a table reserves numbers by an estimate of
        // its rows.
        if self.table.primary.is_empty() && script.source.is_none() || script.beside {
            return;
        }
        let name = script.name("c");
        let column = Column { kind: Type::Int("INT"), nullable: false, auto: true, rest: String::new(), name };
        let (name, key) = (column.name.clone(), script.name("k"));
        self.clause(format!("ADD {}", column.definition()));
        self.clause(format!("ADD {} {key} ({name})", script.random.word(&["KEY", "UNIQUE KEY"])));
        // The next column begins with the number at which the other ended, of which replicas know nothing that is in no row; ours says it.
        if script.random.chance(40) || self.has_counted && script.source.is_some() {
            self.clause(format!("AUTO_INCREMENT={}", script.random.below(200)));
        }
        self.table.columns.push(column);
        self.touch(&name);
        self.touch(&key);
        self.table.keys.push(Key { name: key, columns: vec![name] });
    }

    fn default(&mut self, script: &mut Script) {
        let Some(column) = self.column(script).filter(|column| !column.auto) else { return };
        let Some(value) = column.kind.default(&mut script.random) else { return };
        // Here a MySQL reads no time, or an expression where we have a time (docs/DIFFERENCES.md).
        if value.starts_with("CURRENT") && script.source != Some(Kind::Maria118) {
            return;
        }
        self.touch(&column.name);
        // One that may be NULL has no default then in MySQL, and NULL here.
        let drops = !column.nullable && script.random.chance(25);
        let what = if drops { "DROP DEFAULT".into() } else { format!("SET DEFAULT {value}") };
        self.clause(format!("ALTER COLUMN {} {what}", column.name));
    }

    fn foreign(&mut self, script: &mut Script) {
        if let Some((name, _)) = self.table.foreign.first().cloned() {
            self.table.foreign.remove(0);
            return self.clause(format!("DROP FOREIGN KEY {name}"));
        }
        let Some(parent) = script.parent(self.table.database) else { return };
        let column = self.column(script).filter(|column| column.kind == Type::Int("INT") && column.nullable);
        if let Some(column) = column.filter(|_| !self.table.is_parent && !self.table.temporary) {
            let (name, key) = script.foreign_key(&column.name, &parent);
            self.touch(&column.name);
            self.clause(format!("ADD {key}"));
            self.table.foreign.push((name, column.name));
        }
    }

    fn options(&mut self, script: &mut Script) {
        let number = 100 + script.random.below(400);
        let is_maria = script.source == Some(Kind::Maria118);
        let clause = match script.random.below(9) {
            0 => "ENGINE=InnoDB".into(),
            1 => "COMMENT='of the table, ä'".into(),
            2 => format!("AUTO_INCREMENT={number}"),
            3 => "FORCE".into(),
            4 => "ROW_FORMAT=DYNAMIC".into(),
            5 => "DEFAULT CHARACTER SET latin1".into(),
            6 => "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin".into(),
            7 if !is_maria => "/*!50100 COMMENT='by a version' */".into(),
            _ => "STATS_PERSISTENT=1".to_owned(),
        };
        self.clause(clause);
    }

    /// CONVERT TO loses members of ENUM and SET in both families, and beside a new type a MySQL chooses that by the old one's length
    /// (docs/DIFFERENCES.md).
    fn leave_conversion_out(&mut self, script: &Script) {
        let is_member = |column: &Column| matches!(&column.kind, Type::Enum(charset) | Type::Set(charset) if !charset.starts_with("utf8mb4"));
        let has_members = self.table.columns.iter().any(is_member);
        let is_retyped = |clause: &String| {
            let changes = clause.starts_with("MODIFY") || clause.starts_with("CHANGE");
            changes && (clause.contains("TEXT") || clause.contains("BLOB"))
        };
        let is_retyped = script.has_maria && self.clauses.iter().any(is_retyped);
        if has_members || is_retyped {
            self.clauses.retain(|clause| !clause.starts_with("CONVERT TO"));
        }
        if self.clauses.iter().any(|clause| clause.starts_with("CONVERT TO")) {
            for column in &mut self.table.columns {
                if let Type::Text(_, charset) = &mut column.kind {
                    *charset = "utf8mb4 COLLATE utf8mb4_bin";
                }
            }
        }
        if self.clauses.is_empty() {
            self.clause("FORCE".into());
        }
    }

    fn conditional(&mut self, script: &mut Script) {
        let column = script.column();
        let clause = match script.random.below(4) {
            0 => "DROP COLUMN IF EXISTS nowhere".into(),
            1 => "DROP INDEX IF EXISTS nowhere".into(),
            2 => format!("ADD COLUMN IF NOT EXISTS {}", self.table.columns[0].definition()),
            _ => {
                let clause = format!("ADD COLUMN IF NOT EXISTS {}", column.definition());
                self.touch(&column.name);
                self.table.columns.push(column);
                clause
            }
        };
        self.clause(clause);
    }
}

fn renamed_definition(column: &Column, name: &str) -> String {
    Column { name: name.to_owned(), ..column.clone() }.definition()
}

/// A type that takes what there is.
fn wider(kind: &Type, script: &mut Script) -> Type {
    match kind {
        Type::Int(word) if word.contains("UNSIGNED") => Type::Int("BIGINT UNSIGNED"),
        Type::Int(_) => Type::Int(script.random.word(&["BIGINT", "INT", "MEDIUMINT"])),
        Type::Text(..) => match script.random.below(3) {
            0 => Type::Text("TEXT".into(), "utf8mb4 COLLATE utf8mb4_bin"),
            1 => Type::Text("VARCHAR(300)".into(), "latin1"),
            _ => Type::Text("VARCHAR(300)".into(), ""),
        },
        Type::Enum(_) | Type::Set(_) if script.random.chance(25) => {
            Type::Int(script.random.word(&["INT", "BIGINT UNSIGNED"]))
        }
        Type::Enum(_) => Type::Enum(script.random.word(&["", "latin1", "utf8mb4 COLLATE utf8mb4_bin"])),
        Type::Set(_) => Type::Set(script.random.word(&["", "latin1", "utf8mb4 COLLATE utf8mb4_bin"])),
        Type::Bytes(_) => Type::Bytes("BLOB"),
        kind => kind.clone(),
    }
}

impl Script {
    /// An ALTER TABLE of one to four clauses; the script's table is as it leaves it.
    pub(super) fn alter(&mut self) -> String {
        let at = self.random.below(self.tables.len());
        let mut alter =
            Alter { table: self.tables[at].clone(), clauses: Vec::new(), touched: Vec::new(), has_counted: false };
        let is_maria = self.source == Some(Kind::Maria118);
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(16) {
                0..=3 => alter.add_column(self),
                4 => alter.drop_column(self),
                5 | 6 => alter.modify(self),
                7 | 8 => alter.rename(self),
                9 => alter.add_key(self),
                10 => alter.change_key(self),
                11 => alter.primary(self),
                12 => alter.default(self),
                13 if self.random.chance(50) => alter.foreign(self),
                13 if is_maria => alter.conditional(self),
                14 => alter.count(self),
                _ => alter.options(self),
            }
        }
        if alter.clauses.is_empty() {
            alter.add_column(self);
        }
        alter.leave_conversion_out(self);
        let (full, mut sql) = (self.tables[at].full(), alter.clauses.join(", "));
        if self.random.chance(12) {
            sql += &self.versions(&mut alter.table);
        }
        // A MariaDB that copies a table forgets its new name in foreign keys.
        let has_keys = alter.table.is_parent || !alter.table.foreign.is_empty();
        let stays = alter.table.temporary || self.has_maria && has_keys;
        if self.random.chance(6) && !stays {
            let new = self.name("t");
            sql += &format!(", RENAME TO {}.{new}", alter.table.database);
            alter.table.name = new;
        }
        if self.random.chance(6) {
            sql += ", ALGORITHM=COPY";
        }
        self.tables[at] = alter.table;
        format!("ALTER TABLE {full} {sql}")
    }

    /// A column in a comment for versions: it is there if the source reads it.
    fn versions(&mut self, table: &mut Table) -> String {
        let column = self.column();
        let definition = column.definition();
        if definition.contains("COMMENT") || self.beside {
            return String::new();
        }
        let comments = [
            ("/*!50100 ", true, true, true),
            ("/*!80000 ", true, false, true),
            ("/*!90000 ", true, false, false),
            ("/*!100100 ", false, true, false),
            ("/*!999999 ", false, false, false),
            ("/*M! ", false, true, false),
            // Below the version that comments of MariaDB are compared with here.
            ("/*M!100100 ", false, true, true),
        ];
        let &(comment, mysql, maria, ours) = self.random.pick(&comments);
        let is_read = match self.source {
            Some(Kind::Mysql97) => mysql,
            Some(Kind::Maria118) => maria,
            None => ours,
        };
        if is_read {
            table.columns.push(column);
        }
        format!("{comment}, ADD {definition} */")
    }
}
