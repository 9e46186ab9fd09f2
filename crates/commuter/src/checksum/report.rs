//! What was found, for people or as JSON: a line per table.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::{Sum, Table};
use crate::cli::{CommandError, CommandResult, OutputFormat};
use crate::print;

/// What two servers have of a table.
pub(super) enum Compared {
    /// The same.
    Same(Sum),
    /// Not the same; which rows, where they were looked for.
    Differs { first: Sum, second: Sum, rows: Option<Rows> },
    /// Only the first has it.
    OnlyFirst,
    /// Only the second has it.
    OnlySecond,
}

/// Rows in which a table differs, by their primary keys.
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// There are others.
    pub(super) more: bool,
}

/// One of them.
pub(super) struct Row {
    pub(super) what: What,
    /// The condition that finds it.
    pub(super) condition: String,
}

/// How a row differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Only the first server has it.
    OnlyFirst,
    /// Only the second server has it.
    OnlySecond,
    /// It has other values.
    Different,
}

impl What {
    fn text(self) -> &'static str {
        match self {
            What::OnlyFirst => "only on the first",
            What::OnlySecond => "only on the second",
            What::Different => "different",
        }
    }

    fn name(self) -> &'static str {
        match self {
            What::OnlyFirst => "only_first",
            What::OnlySecond => "only_second",
            What::Different => "different",
        }
    }
}

/// Prints as it goes.
pub(super) struct Report {
    format: OutputFormat,
    differ: usize,
}

impl Report {
    pub(super) fn new(format: OutputFormat) -> Self {
        Report { format, differ: 0 }
    }

    /// A table of one server.
    pub(super) fn one(&self, table: &Table, sum: Sum) -> Result<(), CommandError> {
        match self.format {
            OutputFormat::Text => print_same(table, sum),
            OutputFormat::Json => {
                print::line(json!({ "table": table.to_string(), "rows": sum.rows, "checksum": hex(sum) }))
            }
        }
    }

    /// A table of two.
    pub(super) fn two(&mut self, table: &Table, compared: &Compared) -> Result<(), CommandError> {
        self.differ += usize::from(!matches!(compared, Compared::Same(_)));
        match self.format {
            OutputFormat::Text => print_compared(table, compared),
            OutputFormat::Json => print::line(json_of(table, compared)),
        }
    }

    /// The exit status; for people, the number of tables that differ.
    pub(super) fn end(&self) -> CommandResult {
        match self.differ {
            0 => Ok(ExitCode::SUCCESS),
            n => {
                if self.format == OutputFormat::Text {
                    print::line(format_args!("{n} of the tables differ"))?;
                }
                Ok(ExitCode::FAILURE)
            }
        }
    }
}

fn hex(sum: Sum) -> String {
    format!("{:016x}", sum.hash)
}

fn print_same(table: &Table, sum: Sum) -> Result<(), CommandError> {
    print::line(format_args!("{} {:>12} {table}", hex(sum), sum.rows))
}

fn print_compared(table: &Table, compared: &Compared) -> Result<(), CommandError> {
    match compared {
        Compared::Same(sum) => print_same(table, *sum),
        Compared::OnlyFirst => print::line(format_args!("DIFFERS: {table}: only on the first server")),
        Compared::OnlySecond => print::line(format_args!("DIFFERS: {table}: only on the second server")),
        Compared::Differs { first: a, second: b, rows } => {
            let (ours, theirs) = (hex(*a), hex(*b));
            print::line(format_args!("DIFFERS: {table}: {} rows, {ours}; {} rows, {theirs}", a.rows, b.rows))?;
            let Some(rows) = rows else { return Ok(()) };
            for row in &rows.rows {
                print::line(format_args!("  {}: {}", row.what.text(), row.condition))?;
            }
            if rows.more {
                print::line("  and others")?;
            }
            Ok(())
        }
    }
}

fn json_of(table: &Table, compared: &Compared) -> Value {
    let side = |sum: &Sum| json!({ "rows": sum.rows, "checksum": hex(*sum) });
    let (first, second) = match compared {
        Compared::Same(sum) => (side(sum), side(sum)),
        Compared::Differs { first, second, .. } => (side(first), side(second)),
        // What only one has was not summed.
        Compared::OnlyFirst => (json!({}), Value::Null),
        Compared::OnlySecond => (Value::Null, json!({})),
    };
    let same = matches!(compared, Compared::Same(_));
    let mut object = json!({ "table": table.to_string(), "same": same, "first": first, "second": second });
    if let Compared::Differs { rows: Some(found), .. } = compared {
        let row = |row: &Row| json!({ "what": row.what.name(), "row": row.condition });
        object["differences"] = found.rows.iter().map(row).collect();
        object["more"] = found.more.into();
    }
    object
}
