//! SQL: statements that a client can run on another server, to make there what happened here.
//!
//! Rows become INSERT, UPDATE by key and DELETE by key, between BEGIN and COMMIT; statements are as they were, behind the settings that
//! their meaning depends on. Two sets of settings take turns: *ours*, for rows, which says how literals are read, and each statement's
//! own.
//!
//! # Invariants
//! - What cannot be said in SQL is an error, and nothing of its transaction is written.
//! - A row without a known key is found by all of its values, and one such row is changed.

mod literal;
mod settings;

use binlog::event::{FLAG_SUPPRESS_USE, FLAG_THREAD_SPECIFIC, UserData, rows_flags};
use literal::{Place, put_identifier, put_literal};

use crate::columns::{Described, Lookup};
use crate::error::EventError;
use crate::event::*;
use crate::select::is_control;

/// What rows are written under.
const OUR_SETTINGS: &str = "SET NAMES utf8mb4, time_zone='+00:00', sql_mode='STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,\
                            ALLOW_INVALID_DATES', timestamp=DEFAULT;\n";

/// Writes statements into memory.
#[derive(Debug)]
pub struct SqlApply<L> {
    lookup: L,
    out: Vec<u8>,
    session: Session,
}

/// What the statements before have set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Session {
    /// Nothing is known of the settings, or they are a statement's; else ours.
    is_ours: bool,
    database: Vec<u8>,
    /// `foreign_key_checks` and `unique_checks`.
    checks: Option<(bool, bool)>,
    /// What a statement has set that others, which do not say it, have at its default.
    unusual: settings::Unusual,
}

impl<L: Lookup> SqlApply<L> {
    /// `lookup` knows what the log does not say of tables.
    pub fn new(lookup: L) -> Self {
        SqlApply { lookup, out: Vec::new(), session: Session::default() }
    }

    /// The statements since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// What comes next is for another session: nothing is set in it.
    pub fn new_session(&mut self) {
        self.session = Session::default();
    }
}

impl<L: Lookup> Apply for SqlApply<L> {
    fn transaction(&mut self, transaction: &dyn Transaction) -> Result<(), EventError> {
        let outcome = transaction.outcome()?.unwrap_or(Outcome::Committed);
        if outcome == Outcome::WithoutEffect {
            return Ok(());
        }
        let mut writer = Writer {
            lookup: &mut self.lookup,
            session: self.session.clone(),
            out: Vec::new(),
            is_maria: transaction.dialect()? == Some(Dialect::Maria),
            tables: Vec::new(),
            opened: false,
            is_open: is_group(transaction)?,
        };
        transaction.changes(&mut |change| writer.change(change))?;
        if writer.opened {
            writer.out.extend_from_slice(if outcome == Outcome::RolledBack { b"ROLLBACK;\n" } else { b"COMMIT;\n" });
        }
        if !writer.out.is_empty() {
            let (out, session) = (writer.out, writer.session);
            self.out.extend_from_slice(comment(transaction)?.as_bytes());
            self.out.extend_from_slice(&out);
            self.session = session;
        }
        Ok(())
    }
}

/// Whether MariaDB's GTID is the transaction's BEGIN; MySQL has a statement for that.
fn is_group(transaction: &dyn Transaction) -> Result<bool, EventError> {
    let envelope = transaction.envelope()?;
    Ok(matches!(envelope, Some((_, Envelope::Maria(gtid))) if !gtid.is_standalone()))
}

/// `-- binlog.000003:1234 uuid:5`
fn comment(transaction: &dyn Transaction) -> Result<String, EventError> {
    let position = transaction.position()?.unwrap_or_default();
    let name = transaction.name()?.map(|name| format!(" {name}")).unwrap_or_default();
    // A file's name can have anything but a line's end in it.
    Ok(format!("-- {}{name}\n", position.to_string().replace(['\n', '\r'], " ")))
}

struct Writer<'w> {
    lookup: &'w mut dyn Lookup,
    session: Session,
    out: Vec<u8>,
    /// Of a MariaDB's log.
    is_maria: bool,
    /// Tables of this transaction, the last one of each number.
    tables: Vec<(u64, Described)>,
    /// Whether the transaction has a beginning in the log.
    is_open: bool,
    /// Whether BEGIN was written.
    opened: bool,
}

impl Writer<'_> {
    fn change(&mut self, change: &Change<'_>) -> Result<(), EventError> {
        match change.what {
            What::Statement(statement) => self.statement(change.head, statement),
            What::Table(table) => {
                let id = table.id()?.ok_or_else(EventError::missing("table", "its number"))?;
                let described = Described::of(table, self.lookup, true)?;
                self.tables.retain(|(known, _)| *known != id);
                self.tables.push((id, described));
                Ok(())
            }
            What::Rows(rows) => self.rows(rows),
            What::IntVar(var) => {
                self.open();
                let line = format!("SET {}={};\n", var.name(), var.value);
                self.out.extend_from_slice(line.as_bytes());
                Ok(())
            }
            What::Rand(rand) => {
                self.open();
                let line = format!("SET rand_seed1={}, rand_seed2={};\n", rand.seeds[0], rand.seeds[1]);
                self.out.extend_from_slice(line.as_bytes());
                Ok(())
            }
            What::UserVar(var) => self.user_var(&var),
            What::FileBlock { .. } | What::DeleteFile(_) => Err(EventError::Unsupported(
                "LOAD DATA as a statement: its file has no place in a stream of SQL (the source can log rows: binlog_format=ROW)"
                    .to_owned(),
            )),
            What::Other { event_type, .. } if event_type.is_old_load() => {
                Err(EventError::Unsupported("LOAD DATA as it was logged before MySQL 5.0.3".to_owned()))
            }
            What::RowsStatement(_) | What::Commit(_) | What::Prepare(_) | What::Other { .. } => Ok(()),
        }
    }

    /// BEGIN, where the log has one.
    fn open(&mut self) {
        if self.is_open && !self.opened {
            self.out.extend_from_slice(b"BEGIN;\n");
            self.opened = true;
        }
    }

    fn statement(&mut self, head: Head, statement: &dyn Statement) -> Result<(), EventError> {
        let sql = statement.sql()?.ok_or_else(EventError::missing("statement", "its text"))?;
        let upper = sql.get(..12.min(sql.len())).unwrap_or_default().to_ascii_uppercase();
        if upper == b"BEGIN" || upper.starts_with(b"XA START") {
            self.is_open = true;
            return Ok(());
        }
        if is_control(&sql) && !upper.starts_with(b"SAVEPOINT ") && !upper.starts_with(b"ROLLBACK TO ") {
            return Ok(());
        }
        if statement.file()?.is_some() {
            return Err(EventError::Unsupported("LOAD DATA as a statement".to_owned()));
        }
        self.open();
        self.lookup.changed();
        let database = statement.database()?.unwrap_or_default();
        if head.flags & FLAG_SUPPRESS_USE != 0 {
            // It may make or drop the database that it names.
            self.session.database.clear();
        } else if !database.is_empty() && self.session.database != database {
            self.out.extend_from_slice(b"USE ");
            put_identifier(&mut self.out, &String::from_utf8_lossy(database));
            self.out.extend_from_slice(b";\n");
            self.session.database = database.to_vec();
        }
        self.session.is_ours = false;
        self.session.checks = None;
        if head.flags & FLAG_THREAD_SPECIFIC != 0 {
            let line = format!("SET pseudo_thread_id={};\n", statement.thread_id()?.unwrap_or_default());
            self.out.extend_from_slice(line.as_bytes());
        }
        let context = statement.context()?.unwrap_or_default();
        settings::put(head.timestamp, &context, self.is_maria, &mut self.session.unusual, &mut self.out);
        // A statement may have semicolons of its own, and comments at its end.
        self.out.extend_from_slice(b"DELIMITER /*!*/;\n");
        // MySQL says of a table that is made by a SELECT that its rows follow; here they follow a BEGIN.
        let sql = sql.strip_suffix(b" START TRANSACTION").unwrap_or(&sql);
        self.out.extend_from_slice(sql);
        self.out.extend_from_slice(b"\n/*!*/;\nDELIMITER ;\n");
        Ok(())
    }

    fn user_var(&mut self, var: &UserVar<'_>) -> Result<(), EventError> {
        self.open();
        let mut line = b"SET @".to_vec();
        put_identifier(&mut line, &String::from_utf8_lossy(var.name));
        line.extend_from_slice(b":=");
        let Some(value) = &var.value else {
            line.extend_from_slice(b"NULL;\n");
            self.out.extend_from_slice(&line);
            return Ok(());
        };
        let text = match value.data {
            UserData::Real(number) => format!("{number:?}"),
            UserData::Int(number) if value.is_unsigned() => (number as u64).to_string(),
            UserData::Int(number) => number.to_string(),
            UserData::Decimal { precision, scale, bytes } => {
                let is_one = scale <= precision && precision <= types::decimal::MAX_PRECISION;
                let decimal = is_one.then(|| types::Decimal::read_binary(bytes, precision, scale)).flatten();
                decimal.ok_or_else(|| EventError::malformed("a decimal of a variable"))?.to_string()
            }
            UserData::String(bytes) | UserData::Row(bytes) => {
                let charset = binlog::charset_of_collation(value.collation).unwrap_or("binary");
                let introducer = if charset == "binary" { String::new() } else { format!("_{charset} ") };
                format!("{introducer}x'{}'", literal::hex(bytes))
            }
        };
        line.extend_from_slice(text.as_bytes());
        line.extend_from_slice(b";\n");
        self.out.extend_from_slice(&line);
        Ok(())
    }

    fn rows(&mut self, rows: &dyn Rows) -> Result<(), EventError> {
        let layout = rows.layout()?.ok_or_else(EventError::missing("rows", "their layout"))?;
        let id = rows.table_id()?.ok_or_else(EventError::missing("rows", "the number of their table"))?;
        self.our_settings(layout.flags);
        self.is_open = true;
        self.open();
        // Taken out for as long as its rows are written.
        let place = self.tables.iter().position(|(known, _)| *known == id);
        let table = place.map(|place| self.tables.swap_remove(place).1);
        rows.rows(&mut |row| {
            let table = table.as_ref().ok_or_else(EventError::missing("rows", "their table"))?;
            put_row(&mut self.out, table, layout.kind, row)
        })?;
        self.tables.extend(table.map(|table| (id, table)));
        Ok(())
    }

    fn our_settings(&mut self, flags: u16) {
        if !std::mem::replace(&mut self.session.is_ours, true) {
            self.out.extend_from_slice(OUR_SETTINGS.as_bytes());
        }
        // What cascades did is in the log as rows: it must not happen again.
        let foreign_keys = flags & (rows_flags::NO_FOREIGN_KEY_CHECKS | rows_flags::SQL_FOREIGN_KEYS) == 0;
        let unique = flags & rows_flags::NO_UNIQUE_CHECKS == 0;
        if self.session.checks.replace((foreign_keys, unique)) != Some((foreign_keys, unique)) {
            let line =
                format!("SET foreign_key_checks={}, unique_checks={};\n", u8::from(foreign_keys), u8::from(unique));
            self.out.extend_from_slice(line.as_bytes());
        }
    }
}

/// An image's columns, as literals.
type Literals = Vec<(usize, Vec<u8>)>;

fn literals(table: &Described, image: &dyn Image, place: Place) -> Result<Literals, EventError> {
    let mut all = Vec::new();
    image.values(&mut |column, value| {
        let mut literal = Vec::new();
        put_literal(&mut literal, table, column, value, place)?;
        all.push((column, literal));
        Ok(())
    })?;
    Ok(all)
}

fn put_row(out: &mut Vec<u8>, table: &Described, kind: RowsKind, row: &dyn Row) -> Result<(), EventError> {
    let before = || row.before().and_then(|image| image.ok_or_else(EventError::missing("row", "what it was before")));
    let after = || row.after().and_then(|image| image.ok_or_else(EventError::missing("row", "what it is after")));
    if !table.has_names() {
        return Err(EventError::Unsupported(format!(
            "the names of the columns of {}.{} are not known: the source's log does not have them (binlog_row_metadata=FULL), and the \
             source does not have a table of as many columns",
            table.database, table.table
        )));
    }
    match kind {
        RowsKind::Write => {
            let mut values = literals(table, after()?, Place::Assigned)?;
            values.retain(|&(column, _)| !table.is_generated(column));
            put_insert(out, table, &values);
        }
        RowsKind::Update => {
            let old = literals(table, before()?, Place::Assigned)?;
            let mut values = literals(table, after()?, Place::Assigned)?;
            values.retain(|value| !table.is_generated(value.0) && !old.contains(value));
            if !values.is_empty() {
                put_update(out, table, &values, before()?)?;
            }
        }
        RowsKind::Delete => {
            out.extend_from_slice(b"DELETE FROM ");
            put_table(out, table);
            put_condition(out, table, before()?)?;
        }
    }
    Ok(())
}

fn put_table(out: &mut Vec<u8>, table: &Described) {
    put_identifier(out, &table.database);
    out.push(b'.');
    put_identifier(out, &table.table);
}

fn put_insert(out: &mut Vec<u8>, table: &Described, values: &Literals) {
    out.extend_from_slice(b"INSERT INTO ");
    put_table(out, table);
    out.extend_from_slice(b" (");
    for (i, (column, _)) in values.iter().enumerate() {
        out.extend_from_slice(if i > 0 { b"," } else { b"" });
        put_identifier(out, &table.name(*column));
    }
    out.extend_from_slice(b") VALUES (");
    for (i, (_, value)) in values.iter().enumerate() {
        out.extend_from_slice(if i > 0 { b"," } else { b"" });
        out.extend_from_slice(value);
    }
    out.extend_from_slice(b");\n");
}

fn put_update(out: &mut Vec<u8>, table: &Described, values: &Literals, before: &dyn Image) -> Result<(), EventError> {
    out.extend_from_slice(b"UPDATE ");
    put_table(out, table);
    for (i, (column, value)) in values.iter().enumerate() {
        out.extend_from_slice(if i > 0 { b", " } else { b" SET " });
        put_identifier(out, &table.name(*column));
        out.push(b'=');
        out.extend_from_slice(value);
    }
    put_condition(out, table, before)
}

/// By the key, if the image has all of it; else by everything that it has.
fn put_condition(out: &mut Vec<u8>, table: &Described, image: &dyn Image) -> Result<(), EventError> {
    let all = literals(table, image, Place::Compared)?;
    let has = |column: &usize| all.iter().any(|(there, _)| there == column);
    let is_by_key = !table.key.is_empty() && table.key.iter().all(has);
    let wanted = all.iter().filter(|(column, _)| !is_by_key || table.key.contains(column));
    let mut word: &[u8] = b" WHERE ";
    for (column, value) in wanted {
        out.extend_from_slice(word);
        put_identifier(out, &table.name(*column));
        out.extend_from_slice(if value == b"NULL" { b" IS " } else { b"=" });
        out.extend_from_slice(value);
        word = b" AND ";
    }
    if word.starts_with(b" WHERE") {
        return Err(EventError::Missing { event: "row", what: "a value to find it by" });
    }
    out.extend_from_slice(if is_by_key { b";\n" } else { b" LIMIT 1;\n" });
    Ok(())
}
