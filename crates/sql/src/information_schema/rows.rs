//! The rows of the virtual tables.

use std::collections::HashSet;
use std::sync::Arc;

use base::SqlError;
use engine::{Catalog, Engine, Table};
use jiff::tz::TimeZone;
use types::{ColumnDef, ColumnType, Value};

use super::DATABASES;
use crate::account::{self, Account, Privilege, Privileges};
use crate::exec::ExecContext;
use crate::expr::coerce::utc_micros_to_local;
use crate::expr::{Host, VariableScope};
use crate::parse::RESERVED;
use crate::parse::ast::UserName;
use crate::services::Services;
use crate::session::{Shared, StreamFacts};
use crate::settings::{self, Scope};
use crate::show::{default_of, extra_of, key_of, opt, server};
use crate::virtual_table::Wanted;

pub(super) type Rows = Result<Vec<Vec<Value>>, SqlError>;

/// What rows are made from: the catalog as the account sees it.
pub(super) struct Source<'a> {
    shared: &'a Arc<Shared>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) account: Account,
    pub(super) active_roles: Vec<UserName>,
    host: &'a dyn Host,
    time_zone: TimeZone,
    now: base::UnixMicros,
    stream: StreamFacts,
}

impl<'a> Source<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>, context: &ExecContext<'a>) -> Self {
        let catalog = shared.engine.catalog();
        let session = &context.eval.session;
        let account = account::effective(&catalog, session, &shared.globals);
        let active_roles = session.active_roles.clone();
        let time_zone = context.eval.session.time_zone.clone();
        let stream = context.eval.session.stream;
        Source {
            shared,
            catalog,
            account,
            active_roles,
            host: context.eval.host,
            time_zone,
            now: context.eval.now,
            stream,
        }
    }

    /// The time of the statement, in the session's time zone.
    pub(super) fn now(&self) -> Value {
        self.local(self.now)
    }

    /// The time of the statement.
    pub(super) fn now_micros(&self) -> base::UnixMicros {
        self.now
    }

    /// A time in the session's time zone, in whole seconds.
    pub(super) fn local(&self, at: base::UnixMicros) -> Value {
        let micros = (at.0 / 1_000_000 * 1_000_000) as i64;
        utc_micros_to_local(micros, &self.time_zone).map_or(Value::Null, Value::DateTime)
    }

    /// How the session's connection is protected and compressed.
    pub(super) fn stream(&self) -> StreamFacts {
        self.stream
    }

    /// The user name of the session's account.
    pub(super) fn user(&self) -> &str {
        &self.account.user
    }

    /// The roles that everybody has.
    pub(super) fn mandatory_roles(&self) -> Vec<UserName> {
        account::mandatory(&self.catalog, &self.shared.globals.now().accounts.mandatory_roles)
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    pub(super) fn services(&self) -> &dyn Services {
        &*self.shared.services
    }

    pub(super) fn time_zone(&self) -> &TimeZone {
        &self.time_zone
    }

    /// Whether the account has a privilege on everything.
    pub(super) fn has(&self, privilege: Privilege) -> bool {
        self.account.global.contains(privilege)
    }

    fn databases(&self) -> impl Iterator<Item = &engine::Database> {
        self.catalog.databases().filter(|database| self.account.sees_database(&database.name))
    }

    /// Whether the account has a privilege on a column that says something of its contents.
    pub(super) fn sees_column(&self, def: &types::TableDef, column: usize) -> bool {
        let held = self.account.on_column(&def.schema, &def.name, &def.columns[column].name);
        !privileges_text(held).is_empty()
    }

    /// A table, whoever asks.
    pub(super) fn table(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        self.catalog.table(schema, name)
    }

    /// The tables on which the account has any privilege; of those only the ones that may have such names, if there are any.
    pub(super) fn tables(&self, databases: &Names, tables: &Names) -> Vec<&Arc<Table>> {
        let databases = named(
            databases,
            || self.catalog.databases().collect(),
            |name| self.catalog.databases_alike(name).collect(),
        );
        let seen = databases.into_iter().filter(|database| self.account.sees_database(&database.name));
        let of_database = |database: &engine::Database| {
            let schema = &database.name;
            named(
                tables,
                || self.catalog.tables(schema).collect(),
                |name| self.catalog.tables_alike(schema, name).collect(),
            )
        };
        let sees = |table: &&Arc<Table>| self.account.sees_table(&table.def.schema, &table.def.name);
        seen.flat_map(of_database).filter(sees).collect()
    }
}

/// What a statement's conditions leave of names, as far as that is plain.
pub(super) type Names = Option<Vec<String>>;

/// All things, or those that may have one of the names, each of them once.
fn named<'t, T>(names: &Names, all: impl Fn() -> Vec<&'t T>, alike: impl Fn(&str) -> Vec<&'t T>) -> Vec<&'t T> {
    let Some(names) = names else { return all() };
    let mut known = HashSet::new();
    let found = names.iter().flat_map(|name| alike(name));
    found.filter(|thing| known.insert(std::ptr::from_ref(*thing))).collect()
}

pub(super) fn text(text: impl Into<String>) -> Value {
    Value::str(text)
}

/// `def`, the only catalog there is.
pub(super) fn catalog() -> Value {
    Value::str_static("def")
}

pub(super) fn yes_no(yes: bool) -> Value {
    Value::str_static(if yes { "YES" } else { "NO" })
}

pub(super) fn none(_: &Source<'_>) -> Rows {
    Ok(Vec::new())
}

pub(super) fn keywords(_: &Source<'_>) -> Rows {
    Ok(RESERVED.iter().map(|word| vec![Value::str_static(word), Value::Int(1)]).collect())
}

pub(super) fn schemata(source: &Source<'_>) -> Rows {
    let row = |name: &str, collation: types::CollationId| {
        let charset = collation.charset().name();
        vec![catalog(), text(name), text(charset), text(collation.name()), Value::Null, Value::str_static("NO")]
    };
    let seen = |name: &&&str| **name != "mysql" || source.account.sees_database("mysql");
    let system = DATABASES.iter().filter(seen).map(|name| row(name, types::CollationId::UTF8MB4_GENERAL_CI));
    Ok(system.chain(source.databases().map(|database| row(&database.name, database.collation))).collect())
}

pub(super) fn virtual_table(_: &Source<'_>, database: &'static str, name: &str) -> Vec<Vec<Value>> {
    let mut row = vec![catalog(), text(database), text(name), Value::str_static("SYSTEM VIEW")];
    row.resize(20, Value::Null);
    row.push(Value::str_static(""));
    vec![row]
}

pub(super) fn table(source: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let numbers = table_numbers(table, &source.shared.engine, &source.time_zone);
    let (schema, name) = (text(table.def.schema.clone()), text(table.def.name.clone()));
    let mut row = vec![catalog(), schema, name, Value::str_static("BASE TABLE")];
    row.extend(numbers.into_iter().skip(1));
    vec![row]
}

/// A table as its own only partition, without a name, as MySQL shows those that have none.
pub(super) fn partition(source: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let numbers = table_numbers(table, &source.shared.engine, &source.time_zone);
    // From the number of rows to the checksum, but for AUTO_INCREMENT and the collation.
    let shown = [&numbers[4..10], &numbers[11..14], &numbers[15..16]];
    vec![partition_row(&table.def.schema, &table.def.name, &shown)]
}

pub(super) fn virtual_partition(_: &Source<'_>, database: &'static str, name: &str) -> Vec<Vec<Value>> {
    vec![partition_row(database, name, &[])]
}

fn partition_row(schema: &str, name: &str, numbers: &[&[Value]]) -> Vec<Value> {
    let mut row = vec![catalog(), text(schema), text(name)];
    row.resize(13, Value::Null);
    row.extend(numbers.concat());
    row.resize(23, Value::Null);
    row.extend([text(""), text(""), Value::Null]);
    row
}

/// NULL for what is from before there were such times.
pub(super) fn time_of(seconds: u32, zone: &TimeZone) -> Value {
    let local = (seconds > 0).then(|| utc_micros_to_local(i64::from(seconds) * 1_000_000, zone));
    local.flatten().map_or(Value::Null, Value::DateTime)
}

/// A line of SHOW TABLE STATUS.
pub(crate) fn table_numbers(table: &Table, engine: &Engine, zone: &TimeZone) -> Vec<Value> {
    let def = &table.def;
    let row_count = engine.estimate_rows(table);
    let (data_bytes, index_bytes) = engine.table_bytes(table);
    let format = def.options.iter().find(|(name, _)| name == "ROW_FORMAT").map_or("Dynamic", |(_, value)| value);
    let shown = def.options.iter().filter(|(name, _)| !crate::ddl::OF_FILES.contains(&name.as_str()));
    let options = shown.map(|(name, value)| match name.as_str() {
        "KEY_BLOCK_SIZE" => format!("{name}={value}"),
        "COMPRESSION" => format!("COMPRESSION=\"{}\"", value.trim_matches('\'')),
        _ => format!("{}={value}", name.to_lowercase()),
    });
    let counts = def.auto_increment_column().is_some() && (!def.generated_pk || def.counted_pk().is_some());
    vec![
        text(def.name.clone()),
        text(def.engine_name.clone()),
        Value::Int(10),
        text(capitalised(format)),
        Value::UInt(row_count),
        Value::UInt(data_bytes.checked_div(row_count).unwrap_or_default()),
        Value::UInt(data_bytes),
        Value::UInt(0),
        Value::UInt(index_bytes),
        Value::UInt(0),
        if counts { Value::UInt(table.auto_increment().peek()) } else { Value::Null },
        time_of(def.create_time, zone),
        Value::Null,
        Value::Null,
        text(def.collation.name()),
        Value::Null,
        text(options.collect::<Vec<_>>().join(" ")),
        text(def.comment.clone()),
    ]
}

pub(super) fn capitalised(word: &str) -> String {
    let lower = word.to_lowercase();
    let mut chars = lower.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

pub(super) fn virtual_columns(source: &Source<'_>, database: &'static str, name: &str) -> Vec<Vec<Value>> {
    let columns = super::columns_of(database, name).unwrap_or_default();
    let row = |(at, column): (usize, &ColumnDef)| {
        column_row((database, name), (at, column), ("", "select", column.type_text()), &source.time_zone)
    };
    columns.iter().enumerate().map(row).collect()
}

pub(super) fn columns(source: &Source<'_>, table: &Table, wanted: &Wanted<'_>) -> Vec<Vec<Value>> {
    let def = &table.def;
    let row = |(at, column): (usize, &ColumnDef)| {
        let privileges = privileges_text(source.account.on_column(&def.schema, &def.name, &column.name));
        // That of an ENUM may be megabytes.
        let ty = if wanted.column(COLUMN_TYPE) { column.type_text() } else { String::new() };
        let more = (key_of(def, at), privileges.as_str(), ty);
        let is_seen = !privileges.is_empty();
        is_seen.then(|| column_row((&def.schema, &def.name), (at, column), more, &source.time_zone))
    };
    def.columns.iter().enumerate().filter_map(row).collect()
}

/// The place of COLUMN_TYPE among the columns of COLUMNS.
const COLUMN_TYPE: usize = 15;

/// `select,insert,update,references`, as far as they are held.
pub(crate) fn privileges_text(held: Privileges) -> String {
    let names = [
        (Privilege::Select, "select"),
        (Privilege::Insert, "insert"),
        (Privilege::Update, "update"),
        (Privilege::References, "references"),
    ];
    names.iter().filter(|(privilege, _)| held.has(*privilege)).map(|(_, name)| *name).collect::<Vec<_>>().join(",")
}

fn column_row(
    (schema, table): (&str, &str),
    (at, column): (usize, &ColumnDef),
    (key, privileges, ty): (&str, &str, String),
    zone: &TimeZone,
) -> Vec<Value> {
    let (chars, bytes) = lengths(column);
    let (precision, scale) = match column.float_digits {
        Some((digits, decimals)) => (Some(digits.into()), Some(decimals.into())),
        None => precision(&column.ty),
    };
    let fsp = match column.ty {
        ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => Some(u64::from(fsp)),
        _ => None,
    };
    let number = |number: Option<u64>| number.map_or(Value::Null, Value::UInt);
    let signed = |number: Option<u64>| number.map_or(Value::Null, |number| Value::Int(number as i64));
    let is_text = column.ty.has_charset();
    vec![
        catalog(),
        text(schema),
        text(table),
        text(column.name.clone()),
        Value::UInt(at as u64 + 1),
        default_of(column, zone),
        yes_no(column.nullable),
        text(data_type(&column.ty)),
        signed(chars),
        signed(bytes),
        number(precision),
        number(scale),
        number(fsp),
        opt(is_text.then(|| column.collation.charset().name())),
        opt(is_text.then(|| column.collation.name())),
        text(ty),
        text(key),
        text(extra_of(column)),
        text(privileges),
        text(column.comment.clone()),
        Value::str_static(""),
        Value::Null,
    ]
}

/// The type's name alone: `varchar` of `varchar(10)`.
fn data_type(ty: &ColumnType) -> String {
    let whole = ty.to_string();
    let end = whole.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(whole.len());
    whole[..end].to_string()
}

/// CHARACTER_MAXIMUM_LENGTH and CHARACTER_OCTET_LENGTH.
fn lengths(column: &ColumnDef) -> (Option<u64>, Option<u64>) {
    let width = u64::from(column.collation.charset().max_bytes_per_char());
    match &column.ty {
        ColumnType::Char { chars } | ColumnType::VarChar { chars } => {
            (Some(u64::from(*chars)), Some(u64::from(*chars) * width))
        }
        ColumnType::Binary { bytes } | ColumnType::VarBinary { bytes } => {
            (Some(u64::from(*bytes)), Some(u64::from(*bytes)))
        }
        ColumnType::Text { size } | ColumnType::Blob { size } => {
            (Some(u64::from(size.max_bytes())), Some(u64::from(size.max_bytes())))
        }
        ColumnType::Enum { members } => {
            let longest = members.iter().map(|member| member.chars().count() as u64).max().unwrap_or(0);
            (Some(longest), Some(longest * width))
        }
        ColumnType::Set { members } => {
            let all: u64 = members.iter().map(|member| member.chars().count() as u64 + 1).sum();
            (Some(all.saturating_sub(1)), Some(all.saturating_sub(1) * width))
        }
        _ => (None, None),
    }
}

/// NUMERIC_PRECISION and NUMERIC_SCALE.
fn precision(ty: &ColumnType) -> (Option<u64>, Option<u64>) {
    match ty {
        ColumnType::TinyInt { .. } => (Some(3), Some(0)),
        ColumnType::SmallInt { .. } => (Some(5), Some(0)),
        ColumnType::MediumInt { .. } => (Some(7), Some(0)),
        ColumnType::Int { .. } => (Some(10), Some(0)),
        ColumnType::BigInt { unsigned } => (Some(if *unsigned { 20 } else { 19 }), Some(0)),
        ColumnType::Float { .. } => (Some(12), None),
        ColumnType::Double { .. } => (Some(22), None),
        ColumnType::Decimal { precision, scale, .. } => (Some(u64::from(*precision)), Some(u64::from(*scale))),
        ColumnType::Bit { bits } => (Some(u64::from(*bits)), None),
        _ => (None, None),
    }
}

pub(super) fn statistics(_: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let def = &table.def;
    let row = |index: Vec<Value>| {
        let mut fields = index.into_iter();
        let (name, non_unique) = (fields.next()?, fields.next()?);
        let mut row = vec![catalog(), text(def.schema.clone()), name, non_unique, text(def.schema.clone())];
        row.extend(fields);
        Some(row)
    };
    index_rows(table).into_iter().filter_map(row).collect()
}

/// Histograms, of columns that the account may read.
pub(super) fn column_statistics(source: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let def = &table.def;
    let row = |(column, histogram): (&str, &Arc<str>)| {
        vec![text(def.schema.clone()), text(def.name.clone()), text(column.to_owned()), text(histogram.to_string())]
    };
    source.catalog.histograms(table.id()).map(row).collect()
}

/// Lines of SHOW INDEX, with what is known of the table's contents.
pub(crate) fn index_rows(table: &Table) -> Vec<Vec<Value>> {
    let (def, known) = (&table.def, table.known_statistics());
    let mut rows = Vec::new();
    for index in &def.indexes {
        let known = known.as_ref().and_then(|known| known.indexes.get(&index.id));
        for (seq, part) in index.parts.iter().enumerate() {
            let column = &def.columns[part.column];
            let cardinality = known.and_then(|known| known.prefixes.get(seq)).map(|prefix| prefix.distinct.round());
            rows.push(vec![
                text(def.name.clone()),
                Value::Int(i64::from(!index.unique)),
                text(index.name.clone()),
                Value::Int(seq as i64 + 1),
                text(column.name.clone()),
                Value::str_static(if part.descending { "D" } else { "A" }),
                cardinality.map_or(Value::Null, |distinct| Value::Int(distinct as i64)),
                part.prefix_chars.map_or(Value::Null, |chars| Value::Int(i64::from(chars))),
                Value::Null,
                Value::str_static(if column.nullable { "YES" } else { "" }),
                Value::str_static("BTREE"),
                Value::str_static(""),
                text(index.comment.clone()),
                yes_no(index.visible),
                Value::Null,
            ]);
        }
    }
    rows
}

pub(super) fn character_sets(_: &Source<'_>) -> Rows {
    let reorder = |mut row: Vec<Value>| {
        row.swap(1, 2);
        row
    };
    Ok(server::character_set_rows().into_iter().map(reorder).collect())
}

pub(super) fn collations(_: &Source<'_>) -> Rows {
    Ok(server::collation_rows())
}

pub(super) fn collation_applicability(_: &Source<'_>) -> Rows {
    let both = |mut row: Vec<Value>| {
        row.truncate(2);
        row
    };
    Ok(server::collation_rows().into_iter().map(both).collect())
}

pub(super) fn engines(_: &Source<'_>) -> Rows {
    Ok(vec![server::engine_row()])
}

pub(super) fn plugins(_: &Source<'_>) -> Rows {
    let row = |(name, kind, description): &(&str, &str, &str)| {
        let mut row = vec![text(*name), text("1.0"), text("ACTIVE"), text(*kind), text("1.0")];
        row.extend([
            Value::Null,
            Value::Null,
            text("commuter"),
            text(*description),
            text("MIT OR Apache-2.0"),
            text("FORCE"),
        ]);
        row
    };
    Ok(server::PLUGINS.iter().map(row).collect())
}

pub(super) fn processlist(source: &Source<'_>) -> Rows {
    let all = source.account.global.has(Privilege::Process);
    let processes = source.shared.services.processlist().into_iter();
    let row = |process: crate::services::Process| {
        vec![
            Value::UInt(u64::from(process.id.0)),
            text(process.user),
            text(process.host),
            opt(process.database),
            text(process.command),
            Value::Int(process.time_seconds as i64),
            text(process.state),
            opt(process.info),
        ]
    };
    Ok(processes.filter(|process| all || process.user == source.account.user).map(row).collect())
}

pub(super) fn status(source: &Source<'_>) -> Rows {
    let pairs = source.shared.services.status();
    Ok(pairs.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect())
}

pub(super) fn global_variables(source: &Source<'_>) -> Rows {
    variables(source, VariableScope::Global)
}

pub(super) fn session_variables(source: &Source<'_>) -> Rows {
    variables(source, VariableScope::Default)
}

fn variables(source: &Source<'_>, scope: VariableScope) -> Rows {
    let mut rows = Vec::new();
    for setting in settings::all() {
        if scope == VariableScope::Global && setting.scope == Scope::Session {
            continue;
        }
        let value = source.host.system_variable(scope, setting.name)?;
        let value = match (setting.kind, &value) {
            (settings::Kind::Bool, Value::Int(on)) => Value::str_static(if *on != 0 { "ON" } else { "OFF" }),
            _ => value,
        };
        let mut shown = Vec::new();
        value.write_text(types::value::NOT_FIXED, &mut shown);
        rows.push(vec![text(setting.name), text(String::from_utf8_lossy(&shown).into_owned())]);
    }
    Ok(rows)
}
