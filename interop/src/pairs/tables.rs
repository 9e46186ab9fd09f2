//! What a script knows of its tables.

use crate::random_sql::Random;

/// The databases that a script writes.
pub(super) const DATABASES: [&str; 2] = ["pa", "pb"];

/// A column's type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Int(&'static str),
    Number(&'static str),
    /// CHAR, VARCHAR or TEXT, with a character set (empty: that of the table).
    Text(String, &'static str),
    Enum(&'static str),
    Set(&'static str),
    Bytes(&'static str),
    Time(&'static str),
    Bit,
    Json,
}

/// With their collations: what utf8mb4 alone means is each server's own affair, which MariaDB does not learn from a log of ours.
const CHARSETS: [&str; 4] = ["", "latin1", "utf8mb4 COLLATE utf8mb4_general_ci", "utf8mb4 COLLATE utf8mb4_bin"];

impl Type {
    pub(super) fn any(random: &mut Random) -> Type {
        let charset = random.word(&CHARSETS);
        match random.below(17) {
            0..=3 => Type::Int(random.word(&[
                "INT",
                "TINYINT",
                "SMALLINT UNSIGNED",
                "BIGINT",
                "BIGINT UNSIGNED",
                "MEDIUMINT",
            ])),
            4 => Type::Number(random.word(&["DECIMAL(9,3)", "DOUBLE", "FLOAT", "DECIMAL(20,0)"])),
            5..=7 => Type::Text(format!("VARCHAR({})", [10, 40, 300][random.below(3)]), charset),
            8 => Type::Text("CHAR(12)".into(), charset),
            9 => Type::Text(random.word(&["TEXT", "TINYTEXT", "MEDIUMTEXT"]).into(), charset),
            10 => Type::Enum(charset),
            11 => Type::Set(charset),
            12 => Type::Bytes(random.word(&["VARBINARY(20)", "BINARY(6)", "BLOB", "TINYBLOB"])),
            13 | 14 => Type::Time(random.word(&[
                "DATE",
                "DATETIME",
                "DATETIME(3)",
                "TIMESTAMP(6) NULL",
                "TIMESTAMP NULL",
                "TIMESTAMP",
                "TIMESTAMP(2)",
                "TIME",
                "TIME(2)",
                "YEAR",
            ])),
            15 => Type::Bit,
            _ => Type::Json,
        }
    }

    pub(super) fn sql(&self) -> String {
        let with = |charset: &str| match charset {
            "" => String::new(),
            charset => format!(" CHARACTER SET {charset}"),
        };
        match self {
            Type::Int(word) | Type::Number(word) | Type::Bytes(word) | Type::Time(word) => (*word).to_owned(),
            Type::Text(word, charset) => format!("{word}{}", with(charset)),
            Type::Enum(charset) => format!("ENUM('a','é','Straße','z'){}", with(charset)),
            Type::Set(charset) => format!("SET('p','ü','r'){}", with(charset)),
            Type::Bit => "BIT(10)".into(),
            Type::Json => "JSON".into(),
        }
    }

    /// A literal for it; sometimes one that does not fit.
    pub(super) fn value(&self, random: &mut Random) -> String {
        let number = random.below(9);
        let text = |random: &mut Random| match random.below(12) {
            0 => "_latin1 x'e4f6fc'".to_owned(),
            1 => format!("REPEAT('ä{number}', {})", 1 + random.below(20)),
            2 => "''".to_owned(),
            3 => "'it''s \\\\ \\n \"'".to_owned(),
            4 => "'Trailing '".to_owned(),
            5 => format!("CONCAT('c', {number}, 'ß')"),
            _ => format!("'{}{number}'", random.word(&["a", "B", "ñ", "x y", "é", "Ω"])),
        };
        match self {
            Type::Int(_) => random.below(100).to_string(),
            Type::Number(_) => format!("{}{}", random.below(200), random.word(&["", ".5", ".25", ".125"])),
            Type::Text(..) => text(random),
            Type::Enum(_) => random.word(&["'a'", "'é'", "'Straße'", "'z'", "2", "'Z'", "0", "'none'"]).into(),
            Type::Set(_) => random.word(&["'p'", "'ü'", "'r,p'", "'p,ü,r'", "''", "5", "'q'"]).into(),
            Type::Bytes(_) => {
                random.word(&["x'00ff'", "_binary x'e4c3'", "'abc'", "_binary'\\0ü'", "''", "x'fffefd'"]).into()
            }
            Type::Time(word) => time(word, random),
            Type::Bit => random.word(&["b'1010101010'", "7", "0"]).into(),
            Type::Json => random
                .word(&[
                    "'{\"a\": 1, \"b\": [1, 2, 3], \"long\": \"0123456789 0123456789\"}'",
                    "'[1, 2.5, \"ä\"]'",
                    "'{\"a\": {\"b\": null}}'",
                    "'7'",
                ])
                .into(),
        }
    }

    /// Whether it may be a key's column, as it is or with a length.
    pub(super) fn key_part(&self, name: &str) -> Option<String> {
        match self {
            Type::Json | Type::Bit => None,
            Type::Text(word, _) if word.contains("TEXT") || word.contains("300") => Some(format!("{name}(8)")),
            Type::Bytes("BLOB" | "TINYBLOB") => Some(format!("{name}(5)")),
            _ => Some(name.to_owned()),
        }
    }

    fn may_have_default(&self) -> bool {
        !matches!(self, Type::Json | Type::Bytes("BLOB" | "TINYBLOB"))
            && !matches!(self, Type::Text(word, _) if word.contains("TEXT"))
    }

    /// DEFAULT with a value that is right for it.
    pub(super) fn default(&self, random: &mut Random) -> Option<String> {
        if !self.may_have_default() {
            return None;
        }
        Some(match self {
            Type::Enum(_) => random.word(&["'a'", "'é'"]).into(),
            Type::Set(_) => random.word(&["'p'", "'ü,r'", "''"]).into(),
            Type::Text(..) => random.word(&["'d'", "'ä'", "''"]).into(),
            Type::Bytes(_) => "'bin'".into(),
            Type::Number(_) => "1.5".into(),
            Type::Int(_) => random.below(50).to_string(),
            Type::Time(word) if random.chance(40) && digits_of_now(word).is_some() => {
                format!("CURRENT_TIMESTAMP{}", digits_of_now(word).unwrap_or_default())
            }
            Type::Time(word) => time(word, random),
            Type::Bit => "b'101'".into(),
            Type::Json => return None,
        })
    }
}

/// What stands behind CURRENT_TIMESTAMP for a DATETIME or TIMESTAMP.
fn digits_of_now(word: &str) -> Option<&str> {
    let ty = word.split(' ').next()?;
    ty.strip_prefix("DATETIME").or_else(|| ty.strip_prefix("TIMESTAMP"))
}

fn time(word: &str, random: &mut Random) -> String {
    match word.split(['(', ' ']).next() {
        Some("DATE") => random.word(&["'2024-02-29'", "'1999-12-31'"]),
        Some("TIME") => random.word(&["'12:34:56.78'", "'-100:00:01'", "'00:00:00'"]),
        Some("YEAR") => random.word(&["2024", "1970", "2155"]),
        _ => random.word(&["'2024-02-29 01:02:03.456789'", "'2000-01-01 00:00:00'", "'2037-06-30 23:59:59.999'"]),
    }
    .into()
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Type,
    pub(super) nullable: bool,
    pub(super) auto: bool,
    /// DEFAULT and what else stands behind the type, for definitions that say it again.
    pub(super) rest: String,
}

impl Column {
    pub(super) fn any(name: String, random: &mut Random) -> Column {
        let kind = Type::any(random);
        // Where a JSON column without NULL is added, rows have `null` in MySQL and no document in MariaDB.
        let nullable = random.chance(70) || matches!(kind, Type::Time(_) | Type::Json);
        let mut rest = String::new();
        if !nullable {
            rest += " NOT NULL";
        }
        if random.chance(40)
            && let Some(value) = kind.default(random)
        {
            rest += &format!(" DEFAULT {value}");
        }
        if random.chance(5) {
            rest += " COMMENT 'with an ä'";
        }
        Column { name, kind, nullable, auto: false, rest }
    }

    pub(super) fn definition(&self) -> String {
        let auto = if self.auto { " AUTO_INCREMENT" } else { "" };
        format!("{} {}{}{auto}", self.name, self.kind.sql(), self.rest)
    }

    /// A value for INSERT: one that counts itself may be left to do so.
    pub(super) fn value(&self, random: &mut Random) -> String {
        if self.auto && random.chance(70) {
            return random.word(&["NULL", "NULL", "0", "DEFAULT"]).into();
        }
        if self.nullable && random.chance(12) {
            return "NULL".into();
        }
        if random.chance(5) && (self.nullable || self.rest.contains("DEFAULT")) {
            "DEFAULT".into()
        } else {
            self.kind.value(random)
        }
    }
}

/// A key that is no primary one.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) database: &'static str,
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) primary: Vec<String>,
    pub(super) keys: Vec<Key>,
    /// Names of foreign keys, with their columns.
    pub(super) foreign: Vec<(String, String)>,
    pub(super) is_parent: bool,
    pub(super) temporary: bool,
}

impl Table {
    pub(super) fn full(&self) -> String {
        format!("{}.{}", self.database, self.name)
    }

    pub(super) fn column<'t>(&'t self, random: &mut Random) -> &'t Column {
        random.pick(&self.columns)
    }

    /// Whether it is the first column of a foreign key.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        self.foreign.iter().any(|(_, column)| column == name)
    }

    /// Columns that may go or change their type without a word of any key.
    pub(super) fn is_free(&self, name: &str) -> bool {
        let is_needed = self.primary.iter().any(|column| column == name)
            || self.foreign.iter().any(|(_, column)| column == name)
            || self.is_parent && name == "id"
            || self.columns.iter().any(|column| column.auto && column.name == name);
        !is_needed
    }

    pub(super) fn in_keys(&self, name: &str) -> bool {
        self.keys.iter().any(|key| key.columns.iter().any(|column| column == name))
    }

    /// ORDER BY of the whole primary key, if there is one.
    pub(super) fn order(&self) -> Option<String> {
        (!self.primary.is_empty()).then(|| format!(" ORDER BY {}", self.primary.join(", ")))
    }

    /// What knows a column by its name knows it by its new one.
    pub(super) fn renamed(&mut self, old: &str, new: &str) {
        let change = |name: &mut String| {
            if name == old {
                new.clone_into(name);
            }
        };
        self.columns.iter_mut().for_each(|column| change(&mut column.name));
        self.primary.iter_mut().for_each(change);
        self.keys.iter_mut().flat_map(|key| &mut key.columns).for_each(change);
        self.foreign.iter_mut().for_each(|(_, column)| change(column));
    }
}
