//! REPAIR TABLE: looks through all indexes of a table, and makes good what cannot be read.
//!
//! Rows of the answer are MySQL's: `info` for what was repaired and where it was restored from, `error` for what could not be and what
//! helps then, `status` at the end of each table. It changes no data, so it is in no log, and a server that is read-only does it too.

use std::sync::Arc;

use base::{ErrorClass, SqlError};
use engine::{Damage, EngineError, IndexRepair, KeySpan, RowSource, Table};
use futures_lite::future;
use types::Value;

use super::Session;
use crate::account::Privilege;
use crate::expr::hex_text;
use crate::parse::ast::TableName;
use crate::result::{Outcome, ResultSink};
use crate::show::{self, Rows};

/// Ranges and pages that are named.
const NAMES_MAX: usize = 5;

/// Type and text.
type Line = (&'static str, String);

impl Session {
    /// REPAIR TABLE … [FROM 'mysql://…'].
    pub(super) async fn repair(
        &mut self,
        tables: &[TableName],
        from: Option<&str>,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        self.commit().await?;
        if from.is_some() {
            // It says whose rows this server takes for its own, and connects to them.
            self.check_global(&[Privilege::ReplicationAdmin])?;
        }
        let source = self.shared.services.row_source(from)?;
        let mut rows = Rows::new("Table v128, Op v10, Msg_type v10, Msg_text v131072");
        for table in tables {
            self.check_table(Privilege::Select, table)?;
            self.check_table(Privilege::Insert, table)?;
            let schema = self.schema_of(table)?;
            let catalog = self.catalog();
            let lines = match catalog.table(&schema, &table.name) {
                // There is nothing to repair in what only this session has.
                Some(found) if found.is_temporary() => {
                    vec![("note", "The storage engine for the table doesn't support repair".into())]
                }
                Some(found) => self.repair_table(found, &*source).await?,
                None => {
                    let missing = format!("Table '{schema}.{}' doesn't exist", table.name);
                    vec![("Error", missing), ("status", "Operation failed".into())]
                }
            };
            for (kind, message) in lines {
                let name = format!("{schema}.{}", table.name);
                rows.push(vec![Value::str(name), Value::str("repair"), Value::str(kind), Value::str(message)]);
            }
        }
        show::emit(&rows.columns, &rows.rows, sink).await
    }

    /// The rows come first: the other indexes are made of them.
    async fn repair_table(&self, table: &Arc<Table>, source: &dyn RowSource) -> Result<Vec<Line>, SqlError> {
        let mut lines = Vec::new();
        let mut status = "OK";
        for index_number in 0..table.def.indexes.len() {
            let work = self.shared.engine.repair_index(table, index_number, &self.handle, source);
            let cancelled = async { Err(EngineError::Cancelled(self.handle.cancel.cancelled().await)) };
            let line = match future::or(cancelled, work).await {
                Ok(None) => continue,
                Ok(Some(repair)) => told(table, index_number, &repair),
                Err(error) => Err(error),
            };
            match line {
                Ok(line) => lines.push(("info", line)),
                Err(error) if error.class() == ErrorClass::Cancelled => return Err(error.into()),
                Err(error) => {
                    lines.push(("error", error.to_string()));
                    status = "Operation failed";
                }
            }
        }
        lines.push(("status", status.to_string()));
        Ok(lines)
    }
}

/// What was repaired, or why it was not.
fn told(table: &Table, index_number: usize, repair: &IndexRepair) -> Result<String, EngineError> {
    let what = format!("Index '{}': {}", table.def.indexes[index_number].name, damage_text(&repair.damage));
    match &repair.result {
        Ok(from) => Ok(format!("{what}. Restored from {from}.")),
        Err(error) if error.class() == ErrorClass::Cancelled => Err(error.clone()),
        Err(error) => {
            let advice = if index_number == 0 { ROWS_ADVICE } else { INDEX_ADVICE };
            Err(EngineError::Corrupt(format!("{what}. Not restored: {error}. {advice}")))
        }
    }
}

const ROWS_ADVICE: &str = "What helps: REPAIR TABLE … FROM 'mysql://…' with a server that has copied this one's log; a start with --rebuild, if \
                           the log is there since its first file; a new copy of another server.";
const INDEX_ADVICE: &str = "What helps when all rows can be read: OPTIMIZE TABLE, which makes all indexes anew.";

/// Pages, and the ranges of keys that they have.
fn damage_text(damage: &Damage) -> String {
    let more =
        |named: usize, all: usize| if all > named { format!(", and {} more", all - named) } else { String::new() };
    let errors: Vec<String> = damage.errors.iter().take(NAMES_MAX).map(ToString::to_string).collect();
    let ranges: Vec<String> = damage.ranges.iter().take(NAMES_MAX).map(span_text).collect();
    format!(
        "{} could not be read ({}{}), with the keys {}{}",
        if damage.count == 1 { "a page or value".to_string() } else { format!("{} pages or values", damage.count) },
        errors.join("; "),
        more(errors.len(), damage.count as usize),
        ranges.join(", "),
        more(ranges.len(), damage.ranges.len()),
    )
}

fn span_text(span: &KeySpan) -> String {
    let upper = span.upper.as_ref().map_or_else(|| "the end".to_string(), |upper| format!("x'{}'", hex_text(upper)));
    format!("from x'{}' to {upper}", hex_text(&span.lower))
}
