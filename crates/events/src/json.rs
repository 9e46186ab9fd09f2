//! JSON: an object on a line for each row that changed and each statement, as `docs/tail.md` describes it.

use std::fmt::Write as _;

use binlog::event::{JsonDiff, column_type};

use crate::charset::text_of;
use crate::columns::{Chosen, Described, Lookup};
use crate::error::EventError;
use crate::event::*;
use crate::json_text::{base64, json_text, put_json_string};
use crate::select::is_control;
use crate::value::Value;

/// The most that a compressed value may take.
const INFLATED_SIZE_MAX: usize = 1 << 30;

/// Writes lines into memory.
#[derive(Debug)]
pub struct JsonApply<L> {
    lookup: L,
    out: String,
}

impl<L: Lookup> JsonApply<L> {
    /// `lookup` knows what the log does not say of tables.
    pub fn new(lookup: L) -> Self {
        JsonApply { lookup, out: String::new() }
    }

    /// The lines since the last time.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }
}

impl<L: Lookup> Apply for JsonApply<L> {
    fn transaction(&mut self, transaction: &dyn Transaction) -> Result<(), EventError> {
        let outcome = transaction.outcome()?.unwrap_or(Outcome::Committed);
        if outcome == Outcome::WithoutEffect {
            return Ok(());
        }
        let mut lines = Lines {
            common: common_fields(transaction, &outcome)?,
            lookup: &mut self.lookup,
            tables: Vec::new(),
            query: None,
            number: 0,
            done: String::new(),
            last: String::new(),
        };
        transaction.changes(&mut |change| lines.change(change))?;
        let end = lines.end();
        match self.out.is_empty() {
            true => self.out = end,
            false => self.out.push_str(&end),
        }
        Ok(())
    }
}

/// What all lines of a transaction have.
fn common_fields(transaction: &dyn Transaction, outcome: &Outcome) -> Result<String, EventError> {
    let mut text = String::new();
    if let Some(position) = transaction.position()? {
        text.push_str(",\"position\":");
        put_json_string(&mut text, &position.to_string());
    }
    if let Some(name) = transaction.name()? {
        let _ = write!(text, ",\"gtid\":\"{name}\"");
    }
    if let Some(time) = transaction.commit_time()? {
        let _ = write!(text, ",\"ts_us\":{}", time.immediate.0);
        if time.original != time.immediate {
            let _ = write!(text, ",\"original_ts_us\":{}", time.original.0);
        }
    }
    if *outcome == Outcome::RolledBack {
        text.push_str(",\"rolled_back\":true");
    }
    Ok(text)
}

struct Lines<'l> {
    common: String,
    lookup: &'l mut dyn Lookup,
    /// Tables of this transaction, the last one of each number.
    tables: Vec<(u64, Described)>,
    /// The statement whose rows follow, until the first of them has it.
    query: Option<Vec<u8>>,
    number: u64,
    done: String,
    /// The last line without its end: whether it is the last one is known when the transaction is over.
    last: String,
}

impl Lines<'_> {
    fn change(&mut self, change: &Change<'_>) -> Result<(), EventError> {
        match change.what {
            What::Statement(statement) => self.statement(change.head, statement),
            What::RowsStatement(statement) => {
                self.query = Some(statement.sql.to_vec());
                Ok(())
            }
            What::Table(table) => {
                let id = table.id()?.ok_or_else(EventError::missing("table", "its number"))?;
                let described = Described::of(table, self.lookup, false)?;
                self.tables.retain(|(known, _)| *known != id);
                self.tables.push((id, described));
                Ok(())
            }
            What::Rows(rows) => self.rows(change.head, rows),
            What::Other { event_type, .. } if event_type.is_old_load() => {
                Err(EventError::Unsupported("LOAD DATA as it was logged before MySQL 5.0.3".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Begins a line.
    fn begin(&mut self, operation: &str, head: Head) {
        self.finish(false);
        self.number += 1;
        let (common, number) = (&self.common, self.number);
        let _ = write!(self.last, "{{\"op\":\"{operation}\"{common},\"server_id\":{},\"row\":{number}", head.server_id);
    }

    /// Ends the line before.
    fn finish(&mut self, is_last: bool) {
        if !self.last.is_empty() {
            self.done.push_str(&self.last);
            self.done.push_str(if is_last { ",\"last\":true}\n" } else { "}\n" });
            self.last.clear();
        }
    }

    fn end(mut self) -> String {
        self.finish(true);
        self.done
    }

    fn statement(&mut self, head: Head, statement: &dyn Statement) -> Result<(), EventError> {
        let sql = statement.sql()?.ok_or_else(EventError::missing("statement", "its text"))?;
        // What undoes rows that were shown is shown too.
        if is_control(&sql) && !sql.to_ascii_uppercase().starts_with(b"ROLLBACK TO") {
            return Ok(());
        }
        self.lookup.changed();
        self.begin("statement", head);
        let database = statement.database()?.unwrap_or_default();
        self.last.push_str(",\"database\":");
        put_text(&mut self.last, database);
        let _ = write!(self.last, ",\"timestamp\":{}", head.timestamp);
        if let Some(code @ 1..) = statement.error_code()? {
            let _ = write!(self.last, ",\"error_code\":{code}");
        }
        self.last.push_str(",\"sql\":");
        put_text(&mut self.last, &sql);
        Ok(())
    }

    fn rows(&mut self, head: Head, rows: &dyn Rows) -> Result<(), EventError> {
        let layout = rows.layout()?.ok_or_else(EventError::missing("rows", "their layout"))?;
        let id = rows.table_id()?.ok_or_else(EventError::missing("rows", "the number of their table"))?;
        let operation = match layout.kind {
            RowsKind::Write => "insert",
            RowsKind::Update => "update",
            RowsKind::Delete => "delete",
        };
        // Taken out for as long as its rows are written.
        let place = self.tables.iter().position(|(known, _)| *known == id);
        let table = place.map(|place| self.tables.swap_remove(place).1);
        rows.rows(&mut |row| {
            let table = table.as_ref().ok_or_else(EventError::missing("rows", "their table"))?;
            self.begin(operation, head);
            self.last.push_str(",\"database\":");
            put_json_string(&mut self.last, &table.database);
            self.last.push_str(",\"table\":");
            put_json_string(&mut self.last, &table.table);
            let (before, after) = (row.before()?, row.after()?);
            if let Some(image) = before.or(after).filter(|_| !table.key.is_empty()) {
                self.last.push_str(",\"key\":");
                put_image(&mut self.last, table, image, None, &|column| table.key.contains(&column))?;
            }
            for (name, image) in [("before", before), ("after", after)] {
                let Some(image) = image else { continue };
                let _ = write!(self.last, ",\"{name}\":");
                put_image(&mut self.last, table, image, before, &|_| true)?;
            }
            // Once: in every row, the statement's text would take the square of the number of its rows.
            if let Some(query) = self.query.take() {
                self.last.push_str(",\"query\":");
                put_text(&mut self.last, &query);
            }
            Ok(())
        })?;
        if let Some(table) = table {
            self.tables.push((id, table));
        }
        if layout.flags & binlog::event::rows_flags::STATEMENT_END != 0 {
            self.query = None;
        }
        Ok(())
    }
}

/// Text as it is, else an object with the bytes.
fn put_text(out: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => put_json_string(out, text),
        Err(_) => {
            let _ = write!(out, "{{\"base64\":\"{}\"}}", base64(bytes));
        }
    }
}

/// `before` has the documents that nothing was changed of.
fn put_image(
    out: &mut String,
    table: &Described,
    image: &dyn Image,
    before: Option<&dyn Image>,
    wants: &dyn Fn(usize) -> bool,
) -> Result<(), EventError> {
    out.push('{');
    let mut is_first = true;
    image.values(&mut |column, value| {
        if !wants(column) {
            return Ok(());
        }
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        put_json_string(out, &table.name(column));
        out.push(':');
        match value {
            None => out.push_str("null"),
            Some(Value::JsonDiffs([])) => put_unchanged(out, before, column)?,
            Some(value) => put_value(out, table, column, value)?,
        }
        Ok(())
    })?;
    out.push('}');
    Ok(())
}

/// A document that the image before has.
fn put_unchanged(out: &mut String, before: Option<&dyn Image>, column: usize) -> Result<(), EventError> {
    let mut text = None;
    if let Some(before) = before {
        before.values(&mut |number, value| {
            if let (true, Some(Value::Json(binary))) = (number == column, value) {
                text = Some(json_text(binary)?);
            }
            Ok(())
        })?;
    }
    match text {
        Some(text) => out.push_str(&text),
        None => put_diffs(out, &[])?,
    }
    Ok(())
}

fn put_value(out: &mut String, table: &Described, column: usize, value: Value<'_>) -> Result<(), EventError> {
    let value = table.signed(column, value);
    match &value {
        Value::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Value::UInt(number) => put_number(out, table, column, *number),
        Value::Float(number) if number.is_finite() => {
            let _ = write!(out, "{number:?}");
        }
        Value::Double(number) if number.is_finite() => {
            let _ = write!(out, "{number:?}");
        }
        // No server stores such; JSON has no word for them.
        Value::Float(number) => put_json_string(out, &number.to_string()),
        Value::Double(number) => put_json_string(out, &number.to_string()),
        Value::Bytes(bytes) => put_bytes(out, table, column, bytes),
        Value::Compressed(stored) => {
            let bytes = Value::inflate(stored, INFLATED_SIZE_MAX)?;
            put_bytes(out, table, column, &bytes);
        }
        Value::Json(binary) => out.push_str(&json_text(binary)?),
        Value::JsonDiffs(bytes) => put_diffs(out, bytes)?,
        _ => put_json_string(out, &value.text().unwrap_or_default()),
    }
    Ok(())
}

/// An ENUM by its member, a SET by its members with commas, if they are known; any other number as it is.
fn put_number(out: &mut String, table: &Described, column: usize, number: u64) {
    let chosen = match table.real_type(column) {
        column_type::ENUM if number == 0 => return put_json_string(out, ""),
        column_type::ENUM => table.chosen(column, std::iter::once(usize::try_from(number - 1).unwrap_or(usize::MAX))),
        column_type::SET if table.has_members(column) => {
            table.chosen(column, (0..64).filter(|bit| number >> bit & 1 == 1))
        }
        _ => None,
    };
    match chosen {
        Some(Chosen::Text(text)) => put_json_string(out, &text),
        Some(Chosen::Bytes(bytes)) => put_unread(out, table.charset(column), &bytes),
        None => {
            let _ = write!(out, "{number}");
        }
    }
}

/// Text that cannot be read here.
fn put_unread(out: &mut String, charset: &str, bytes: &[u8]) {
    let _ = write!(out, "{{\"charset\":\"{charset}\",\"base64\":\"{}\"}}", base64(bytes));
}

fn put_bytes(out: &mut String, table: &Described, column: usize, bytes: &[u8]) {
    if table.is_vector(column) && bytes.len().is_multiple_of(4) {
        let numbers = bytes.chunks_exact(4).map(|b| format!("{:?}", f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        let _ = write!(out, "[{}]", numbers.collect::<Vec<_>>().join(","));
        return;
    }
    if let Some(text) = table.address_text(column, bytes) {
        return put_json_string(out, &text);
    }
    let bytes = table.padded(column, bytes);
    match table.charset(column) {
        "binary" => {
            let _ = write!(out, "\"{}\"", base64(&bytes));
        }
        "" if table.real_type(column) == column_type::GEOMETRY => {
            let _ = write!(out, "\"{}\"", base64(&bytes));
        }
        // It may be text or not: nobody says.
        "" => put_text(out, &bytes),
        charset => match text_of(charset, &bytes) {
            Some(text) => put_json_string(out, &text),
            None => put_unread(out, charset, &bytes),
        },
    }
}

/// Changes of a document whose text is not in the log.
fn put_diffs(out: &mut String, bytes: &[u8]) -> Result<(), EventError> {
    out.push_str("{\"json_changes\":[");
    for (i, diff) in JsonDiff::decode_all(bytes)?.iter().enumerate() {
        let (operation, path, value) = match *diff {
            JsonDiff::Replace { path, value } => ("replace", path, Some(value)),
            JsonDiff::Insert { path, value } => ("insert", path, Some(value)),
            JsonDiff::Remove { path } => ("remove", path, None),
        };
        let _ = write!(out, "{}{{\"op\":\"{operation}\",\"path\":", if i > 0 { "," } else { "" });
        put_text(out, path);
        if let Some(value) = value {
            let _ = write!(out, ",\"value\":{}", json_text(value)?);
        }
        out.push('}');
    }
    out.push_str("]}");
    Ok(())
}
