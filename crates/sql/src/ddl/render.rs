//! Definitions as SQL text: what SHOW CREATE prints, and what the log says where it is not what was written.
//!
//! SHOW CREATE TABLE is MySQL's byte for byte, because dumps and tools compare it.

use std::fmt::Write;

use engine::Database;
use engine::catalog::table_option;
use types::schema::GENERATED_PK_COLUMN;
use types::{ColumnDef, ColumnDefault, ColumnType, ForeignKeyDef, IndexDef, TableDef, Value};

use super::foreign_key;
use super::index::PRIMARY;
use crate::account::{Account, Level, Privilege, Privileges};
use crate::expr::{ExprType, hex_text};
use crate::parse::ast::RowOrder;

/// An invisible column as MySQL shows it.
const INVISIBLE: &str = " /*!80023 INVISIBLE */";
/// The same for every server that executes the log: each of the two reads what is not a comment for it.
const INVISIBLE_IN_LOG: &str = " /*!80023 INVISIBLE */ /*M!100303 INVISIBLE */";

/// `` `name` ``
pub(crate) fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// `'text'`, escaped as MySQL prints literals.
pub(crate) fn quote_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for c in text.chars() {
        match c {
            '\'' => quoted.push_str("''"),
            '\\' => quoted.push_str("\\\\"),
            '\0' => quoted.push_str("\\0"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// SHOW CREATE DATABASE.
pub(crate) fn create_database(database: &Database, if_not_exists: bool) -> String {
    let collation = database.collation;
    format!(
        "CREATE DATABASE {}{} /*!40100 DEFAULT CHARACTER SET {}{} */ /*!80016 DEFAULT ENCRYPTION='N' */",
        if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" },
        quote_identifier(&database.name),
        collation.charset().name(),
        collate_unless_default(collation),
    )
}

/// ` COLLATE …` where SHOW CREATE prints it: not for a character set's default, but always for utf8mb4's.
fn collate_unless_default(collation: types::CollationId) -> String {
    let info = collation.info();
    let always = collation.charset().name() == "utf8mb4" && info.is_default;
    if info.is_default && !always { String::new() } else { format!(" COLLATE {}", info.name) }
}

/// SHOW CREATE TABLE. `next_auto_increment` is the counter; it is shown from 2 on.
pub(crate) fn create_table(def: &TableDef, next_auto_increment: u64, show_generated: bool) -> String {
    let mut text = format!("CREATE TABLE {} (\n", quote_identifier(&def.name));
    body(&mut text, def, show_generated, INVISIBLE);
    let _ = write!(text, "\n) {}ENGINE={}", of_files(def), def.engine_name);
    let counted = def.columns.iter().any(|column| column.auto_increment)
        && (show_generated || !def.generated_pk || def.counted_pk().is_some());
    if counted && next_auto_increment > 1 {
        let _ = write!(text, " AUTO_INCREMENT={next_auto_increment}");
    }
    table_options(&mut text, def);
    text
}

/// CREATE TABLE as the log has it: with everything that was made up but the indexes of foreign keys, which come with these, and without a
/// counter that was not set.
pub(super) fn create_table_for_log(def: &TableDef) -> String {
    let mut def = def.clone();
    def.indexes.retain(|index| !index.generated);
    let def = &def;
    let mut text = format!("CREATE TABLE {}.{} (\n", quote_identifier(&def.schema), quote_identifier(&def.name));
    body(&mut text, def, true, INVISIBLE_IN_LOG);
    let _ = write!(text, "\n) {}ENGINE={}", of_files(def), def.engine_name);
    if def.auto_increment_start > 0 {
        let _ = write!(text, " AUTO_INCREMENT={}", def.auto_increment_start);
    }
    table_options(&mut text, def);
    text
}

fn body(text: &mut String, def: &TableDef, show_generated: bool, invisible: &str) {
    let hidden =
        |column: &ColumnDef| def.generated_pk && !show_generated && column.name == types::schema::GENERATED_PK_COLUMN;
    let columns = def.columns.iter().filter(|column| !hidden(column));
    let columns = columns.map(|column| format!("  {}", column_text(column, def, invisible)));
    let indexes = def.indexes.iter().enumerate();
    let indexes = indexes.filter(|(place, _)| show_generated || !def.generated_pk || *place > 0);
    let indexes = indexes.map(|(_, index)| format!("  {}", index_text(index, def)));
    let mut foreign_keys: Vec<&ForeignKeyDef> = def.foreign_keys.iter().collect();
    // The log has them in the order in which their indexes were made.
    if invisible != INVISIBLE_IN_LOG {
        foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let foreign_keys = foreign_keys.into_iter().map(|key| format!("  {}", foreign_key::clause(def, key)));
    let lines: Vec<String> = columns.chain(indexes).chain(foreign_keys).collect();
    text.push_str(&lines.join(",\n"));
}

/// Options of files, which say nothing here: in comments, for MySQLs that have them.
fn of_files(def: &TableDef) -> String {
    let mut text = String::new();
    if let Some(name) = table_option(def, "TABLESPACE") {
        let _ = write!(text, "/*!50100 TABLESPACE {} */ ", quote_identifier(name));
    }
    if let Some(bytes) = table_option(def, "AUTOEXTEND_SIZE") {
        let _ = write!(text, "/*!80023 AUTOEXTEND_SIZE={bytes} */ ");
    }
    text
}

/// The names of those.
pub(crate) const OF_FILES: [&str; 2] = ["TABLESPACE", "AUTOEXTEND_SIZE"];

fn table_options(text: &mut String, def: &TableDef) {
    let _ = write!(text, " DEFAULT CHARSET={}{}", def.collation.charset().name(), collate_equals(def.collation));
    for (name, value) in def.options.iter().filter(|(name, _)| !OF_FILES.contains(&name.as_str())) {
        let _ = write!(text, " {name}={value}");
    }
    if !def.comment.is_empty() {
        let _ = write!(text, " COMMENT={}", quote_string(&def.comment));
    }
}

fn collate_equals(collation: types::CollationId) -> String {
    collate_unless_default(collation).replace(" COLLATE ", " COLLATE=")
}

fn column_text(column: &ColumnDef, def: &TableDef, invisible: &str) -> String {
    let mut text = format!("{} {}", quote_identifier(&column.name), column.type_text());
    if column.ty.has_charset() && column.collation != def.collation {
        let (charset, collation) = (column.collation.charset().name(), column.collation.name());
        let _ = write!(text, " CHARACTER SET {charset} COLLATE {collation}");
    } else if column.ty.has_charset() && !column.collation.info().is_default {
        let _ = write!(text, " COLLATE {}", column.collation.name());
    }
    let timestamp = matches!(column.ty, ColumnType::Timestamp { .. });
    if !column.nullable {
        text.push_str(" NOT NULL");
    } else if timestamp {
        // Once upon a time a TIMESTAMP was NOT NULL unless it said otherwise, so it always says.
        text.push_str(" NULL");
    }
    match &column.default {
        Some(default) => {
            let _ = write!(text, " DEFAULT {}", default_text(default, column));
        }
        None if column.nullable && shows_null(&column.ty) && !column.auto_increment => text.push_str(" DEFAULT NULL"),
        None => {}
    }
    if column.on_update_now {
        let _ = write!(text, " ON UPDATE {}", now_text(&column.ty));
    }
    if column.auto_increment {
        text.push_str(" AUTO_INCREMENT");
    }
    if column.invisible {
        text.push_str(invisible);
        // A MariaDB demands a default of an invisible column; the rows of a log have a value for it.
        if invisible == INVISIBLE_IN_LOG && column.name == GENERATED_PK_COLUMN && !column.auto_increment {
            text.push_str(" /*M!100303 DEFAULT 0 */");
        }
    }
    if !column.comment.is_empty() {
        let _ = write!(text, " COMMENT {}", quote_string(&column.comment));
    }
    text
}

/// A TEXT or BLOB without DEFAULT says nothing.
fn shows_null(ty: &ColumnType) -> bool {
    !ty.is_blob() || *ty == ColumnType::Json
}

fn now_text(ty: &ColumnType) -> String {
    match ty {
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } if *fsp > 0 => format!("CURRENT_TIMESTAMP({fsp})"),
        _ => "CURRENT_TIMESTAMP".into(),
    }
}

/// The default of a column that has one, as SHOW CREATE TABLE prints it.
pub(crate) fn default_text_of(column: &ColumnDef) -> String {
    column.default.as_ref().map(|default| default_text(default, column)).unwrap_or_default()
}

/// A default as SHOW CREATE TABLE prints it: values in quotes whatever their type.
fn default_text(default: &ColumnDefault, column: &ColumnDef) -> String {
    match default {
        ColumnDefault::CurrentTimestamp { .. } => now_text(&column.ty),
        ColumnDefault::Expression(text) => format!("({text})"),
        ColumnDefault::Literal(Value::Null) => "NULL".into(),
        ColumnDefault::Literal(Value::Bytes(bytes)) if column.ty.is_blob() => {
            format!("(0x{})", hex_text(bytes).to_uppercase())
        }
        ColumnDefault::Literal(value) if column.ty.is_blob() => {
            format!("(_utf8mb4{})", quote_string(&value_text(value, column)))
        }
        ColumnDefault::Literal(value) => match (&column.ty, value) {
            (ColumnType::Bit { .. }, Value::UInt(bits)) => format!("b'{bits:b}'"),
            (_, Value::Bytes(bytes)) if std::str::from_utf8(bytes).is_err() => {
                format!("0x{}", hex_text(bytes).to_uppercase())
            }
            _ => quote_string(&shown_default(value, column)),
        },
    }
}

/// A literal default without quotes, with the zeros in front that ZEROFILL and YEAR show.
pub(crate) fn shown_default(value: &Value, column: &ColumnDef) -> String {
    let zeros = ExprType::of_column(column).zeros().unwrap_or_default();
    format!("{:0>zeros$}", value_text(value, column))
}

/// A value as text, with as many digits as its column has.
pub(crate) fn value_text(value: &Value, column: &ColumnDef) -> String {
    let decimals = match column.ty {
        ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => fsp,
        _ if let Some((_, decimals)) = column.float_digits => decimals,
        _ => types::value::NOT_FIXED,
    };
    let mut text = Vec::new();
    value.write_text(decimals, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn index_text(index: &IndexDef, def: &TableDef) -> String {
    let part = |part: &types::KeyPart| {
        let prefix = part.prefix_chars.map(|chars| format!("({chars})")).unwrap_or_default();
        let direction = if part.descending { " DESC" } else { "" };
        format!("{}{prefix}{direction}", quote_identifier(&def.columns[part.column].name))
    };
    let parts = index.parts.iter().map(part).collect::<Vec<_>>().join(",");
    let mut text = match index {
        index if index.name == PRIMARY => format!("PRIMARY KEY ({parts})"),
        index if index.unique => format!("UNIQUE KEY {} ({parts})", quote_identifier(&index.name)),
        index => format!("KEY {} ({parts})", quote_identifier(&index.name)),
    };
    if !index.comment.is_empty() {
        let _ = write!(text, " COMMENT {}", quote_string(&index.comment));
    }
    if !index.visible {
        text.push_str(" /*!80000 INVISIBLE */");
    }
    text
}

/// The actions of an ALTER TABLE that add a generated primary key.
pub(super) fn add_generated_column(def: &TableDef) -> String {
    let column = column_text(&def.columns[0], def, INVISIBLE_IN_LOG);
    format!("ADD COLUMN {column} FIRST, ADD PRIMARY KEY (`my_row_id`)")
}

/// The action that makes it the AUTO_INCREMENT column, or another than that.
pub(super) fn modify_generated_column(def: &TableDef) -> String {
    format!("MODIFY COLUMN {}", column_text(&def.columns[0], def, INVISIBLE_IN_LOG))
}

/// The action by which a MariaDB makes a column what it is.
pub(super) fn modify_in_mariadb(def: &TableDef, column: usize) -> String {
    format!("MODIFY COLUMN {}", column_text(&def.columns[column], def, " INVISIBLE"))
}

/// The action that drops its column.
pub(super) fn drop_generated_column() -> String {
    format!("DROP COLUMN {}", quote_identifier(GENERATED_PK_COLUMN))
}

/// ALTER TABLE with these actions.
pub(super) fn alter_table(def: &TableDef, actions: &str) -> String {
    format!("ALTER TABLE {}.{} {actions}", quote_identifier(&def.schema), quote_identifier(&def.name))
}

/// ALTER TABLE that puts an index of the new definition in place of the old one of its name.
pub(super) fn replace_index(old: &TableDef, new: &TableDef, index: &IndexDef) -> String {
    alter_table(old, &format!("DROP INDEX {}, ADD {}", quote_identifier(&index.name), index_text(index, new)))
}

/// `` `user`@`host` ``
pub(super) fn user(account: &Account) -> String {
    format!("{}@{}", quote_identifier(&account.user), quote_identifier(&account.host))
}

/// What the log says behind a REVOKE that restricts privileges on a database: whether it does depends on the setting where it was made.
pub(crate) const PARTIAL_REVOKES: &str = " /* partial_revokes=ON */";

/// Whether a statement of a log says so.
pub(crate) fn says_partial_revokes(text: &str) -> bool {
    text.ends_with(PARTIAL_REVOKES)
}

/// What the log says behind an ALTER TABLE of a MariaDB that did there what a MySQL does in another way.
pub(crate) const AS_IN_MARIADB: &str = " /* as in MariaDB */";

/// Whether a statement of a log says so.
pub(crate) fn says_as_in_mariadb(text: &str) -> bool {
    text.ends_with(AS_IN_MARIADB)
}

/// The order of rows that a statement of a log says.
pub(crate) fn row_order_said(text: &str) -> Option<RowOrder> {
    let text = text.strip_suffix(AS_IN_MARIADB).unwrap_or(text);
    [RowOrder::GeneratedKey, RowOrder::UniqueKey].into_iter().find(|order| text.ends_with(order.mark()))
}

/// SHOW GRANTS, a line each.
pub(crate) fn grants(account: &Account) -> Vec<String> {
    let mut lines = Vec::new();
    let dynamic = account.global.dynamic();
    lines.push(grant_line(account, names(account.global.without(dynamic)), account.global, "*.*"));
    for (privileges, grant_option) in [
        (dynamic.without(account.grantable), Privileges::default()),
        (dynamic.common(account.grantable), Privileges::of(Privilege::GrantOption)),
    ] {
        if !privileges.is_empty() {
            let names: Vec<&str> = privileges.list().into_iter().map(Privilege::name).collect();
            lines.push(grant_line(account, names.join(","), grant_option, "*.*"));
        }
    }
    // With roles: first the names, then the patterns.
    let is_pattern = |database: &str| account.has_roles && database.contains(['%', '_']);
    let mut databases: Vec<_> = account.databases.iter().collect();
    databases.sort_by_key(|(database, _)| is_pattern(database));
    for (database, privileges) in databases {
        let names = names_or_all(*privileges, Level::Database);
        lines.push(grant_line(account, names, *privileges, &format!("{}.*", quote_identifier(database))));
    }
    for (database, restricted) in &account.restrictions {
        lines.push(format!("REVOKE {} ON {}.* FROM {}", names(*restricted), quote_identifier(database), user(account)));
    }
    for (database, table) in account.granted_tables() {
        let held = account.tables.get(database).and_then(|tables| tables.get(table)).copied().unwrap_or_default();
        let on = format!("{}.{}", quote_identifier(database), quote_identifier(table));
        let names = match account.columns_of(database, table) {
            None => names_or_all(held, Level::Table),
            Some(columns) => names_with_columns(held, columns),
        };
        lines.push(grant_line(account, names, held, &on));
    }
    for (admin, option) in [(false, ""), (true, " WITH ADMIN OPTION")] {
        let roles = account.roles.iter().filter(|granted| granted.admin == admin);
        let roles: Vec<String> = roles.map(|granted| granted.role.account().quoted()).collect();
        if !roles.is_empty() {
            lines.push(format!("GRANT {} TO {}{option}", roles.join(","), user(account)));
        }
    }
    lines
}

/// `SELECT, SELECT (`a`, `b`), INSERT`
fn names_with_columns(held: Privileges, columns: &std::collections::BTreeMap<String, Privileges>) -> String {
    let mut names = Vec::new();
    for privilege in Privilege::all().filter(|privilege| *privilege != Privilege::GrantOption) {
        if privilege != Privilege::Usage && held.contains(privilege) {
            names.push(privilege.name().to_string());
        }
        let on = columns.iter().filter(|(_, held)| privilege.is_of_columns() && held.contains(privilege));
        let on: Vec<String> = on.map(|(column, _)| quote_identifier(column)).collect();
        if !on.is_empty() {
            names.push(format!("{} ({})", privilege.name(), on.join(", ")));
        }
    }
    names.join(", ")
}

fn names_or_all(privileges: Privileges, level: Level) -> String {
    if Privileges::all_at(level).without(privileges).is_empty() {
        return "ALL PRIVILEGES".to_string();
    }
    names(privileges)
}

fn names(privileges: Privileges) -> String {
    match privileges.list() {
        list if list.is_empty() => "USAGE".to_string(),
        list => list.into_iter().map(Privilege::name).collect::<Vec<_>>().join(", "),
    }
}

fn grant_line(account: &Account, names: String, held: Privileges, on: &str) -> String {
    let option = if held.contains(Privilege::GrantOption) { " WITH GRANT OPTION" } else { "" };
    format!("GRANT {names} ON {on} TO {}{option}", user(account))
}
