//! ANALYZE TABLE … UPDATE HISTOGRAM and DROP HISTOGRAM: what the values of columns are, as a part of the catalog.

use std::sync::Arc;

use base::{SqlError, codes};
use engine::{CatalogChange, Table, TableName as EngineTableName};
use types::{TableDef, Value};

use super::Session;
use crate::ddl;
use crate::histogram::{self, BUCKETS_DEFAULT, BUCKETS_MAX, Builder, Histogram, Refused, Wanted};
use crate::parse::ast::{Histogram as Statement, HistogramChange};
use crate::result::{Outcome, ResultSink};
use crate::show::{self, Rows};

/// Rows that are looked at; of larger tables so many are drawn.
const ROWS_MAX: usize = 100_000;

/// What becomes of one column's histogram, or why nothing does: the lines of the answer.
type Decided = Result<Option<Arc<str>>, Vec<String>>;

impl Session {
    /// All columns of one statement, by name.
    pub(super) async fn change_histograms(
        &mut self,
        statement: &Statement,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let columns = checked_columns(statement)?;
        self.commit().await?;
        let mut rows = Rows::new("Table v128, Op v10, Msg_type v10, Msg_text v131072");
        let [named] = &statement.tables[..] else {
            let message = "Only one table can be specified while modifying histogram statistics.";
            rows.push(line("", "Error", message.to_owned()));
            return show::emit(&rows.columns, &rows.rows, sink).await;
        };
        let schema = self.schema_of(named)?;
        let full = format!("{schema}.{}", named.name);
        let table = self.shared.engine.catalog().base_table(&schema, &named.name).cloned();
        let refused = match (&table, &statement.change) {
            _ if self.temporary_named(named).is_some() => {
                Some("Cannot create histogram statistics for a temporary table.".to_owned())
            }
            (None, _) => Some(format!("Table '{full}' doesn't exist")),
            (_, HistogramChange::Data(_)) if columns.len() > 1 => {
                Some("Only one column can be specified while modifying histogram statistics with JSON data.".to_owned())
            }
            _ => None,
        };
        let (Some(table), None) = (table, &refused) else {
            rows.push(line(&full, "Error", refused.unwrap_or_default()));
            self.commit_nothing().await?;
            return show::emit(&rows.columns, &rows.rows, sink).await;
        };
        let mut changes = Vec::new();
        for name in &columns {
            match self.decide(&table, name, &statement.change).await? {
                Ok(histogram) => {
                    let done = if histogram.is_some() { "created" } else { "removed" };
                    rows.push(line(&full, "status", format!("Histogram statistics {done} for column '{name}'.")));
                    changes.push((column_named(&table.def, name), histogram));
                }
                Err(lines) => lines.into_iter().for_each(|text| rows.push(line(&full, "Error", text))),
            }
        }
        let name = EngineTableName::new(schema, &*named.name);
        self.log_histograms(&name, changes).await?;
        show::emit(&rows.columns, &rows.rows, sink).await
    }

    async fn decide(&mut self, table: &Arc<Table>, name: &str, change: &HistogramChange) -> Result<Decided, SqlError> {
        let Some(column) = position(&table.def, name) else {
            return Ok(Err(vec![format!("The column '{name}' does not exist.")]));
        };
        let catalog = self.shared.engine.catalog();
        let known = catalog.histogram(table.id(), &table.def.columns[column].name).cloned();
        if *change == HistogramChange::Drop {
            let none = || vec![format!("No histogram statistics found for column '{name}'.")];
            return Ok(known.map_or_else(|| Err(none()), |_| Ok(None)));
        }
        if histogram::is_unique(&table.def, column) {
            return Ok(Err(vec![format!("The column '{name}' is covered by a single-part unique index.")]));
        }
        if histogram::DataType::of(&table.def.columns[column].ty).is_none() {
            return Ok(Err(vec![format!("The column '{name}' has an unsupported data type.")]));
        }
        let histogram = match change {
            HistogramChange::Data(text) => match self.given(table, column, name, text) {
                Ok(histogram) => Some(histogram),
                Err(lines) => return Ok(Err(lines)),
            },
            HistogramChange::Update { buckets, auto } => {
                self.build_histogram(table, column, buckets.unwrap_or(BUCKETS_DEFAULT), *auto).await?
            }
            HistogramChange::Drop => None,
        };
        Ok(Ok(histogram.map(|histogram| histogram.to_json(&table.def.columns[column]).into())))
    }

    /// USING DATA.
    fn given(&self, table: &Table, column: usize, name: &str, text: &str) -> Result<Histogram, Vec<String>> {
        let order = |value: &Value| {
            let mut builder = Builder::new(&table.def, column);
            builder.key_of(value).ok()
        };
        let checked = histogram::check(text, &table.def.columns[column], &order);
        checked.map_err(|refused| {
            let (schema, of) = (&table.def.schema, &table.def.name);
            let unable = format!("Unable to build histogram statistics for column '{name}' in table '{schema}'.'{of}'");
            match refused {
                Refused::Json(message) => vec![unable, message],
                Refused::NoJson(what, at) => {
                    let invalid = format!(
                        "Invalid JSON text in argument 1 to function UPDATE HISTOGRAM: \"{what}\" at position {at}."
                    );
                    vec![invalid, unable, "JSON format error.".to_owned()]
                }
            }
        })
    }

    /// From the rows of a table, or as many as may be looked at.
    async fn build_histogram(
        &mut self,
        table: &Arc<Table>,
        column: usize,
        buckets: u64,
        auto_update: bool,
    ) -> Result<Option<Histogram>, SqlError> {
        let (rows, all) = self.shared.engine.draw_rows(table, ROWS_MAX).await?;
        let mut builder = Builder::new(&table.def, column);
        for (number, row) in rows.iter().enumerate() {
            if number % 256 == 0 {
                self.handle.cancel.check().map_err(engine::EngineError::from)?;
            }
            let value = table.codec.row.decode_column(row, column).map_err(engine::EngineError::from)?;
            builder.add(value).map_err(engine::EngineError::from)?;
        }
        let sampling_rate = if (rows.len() as u64) < all { rows.len() as f64 / all as f64 } else { 1.0 };
        let mut now = Vec::new();
        let at = types::temporal::calendar::from_unix_micros(self.shared.engine.env().clock.now().0 as i64);
        at.unwrap_or(types::DateTime::ZERO).write_text(6, &mut now);
        let now = String::from_utf8_lossy(&now).into_owned();
        Ok(builder.finish(&Wanted { buckets, auto_update, sampling_rate, now }))
    }

    /// Puts histograms into the catalog: a statement in the log for each that comes, which says it in full, and one for all that go. With LOCAL
    /// too, because what is not in the log is no part of the state. A GTID that was
    /// chosen, or a place in another log, is that of the last one.
    async fn log_histograms(
        &mut self,
        table: &EngineTableName,
        changes: Vec<(String, Option<Arc<str>>)>,
    ) -> Result<(), SqlError> {
        let (gone, come): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, histogram)| histogram.is_none());
        let mut statements: Vec<Vec<(String, Option<Arc<str>>)>> =
            come.into_iter().map(|change| vec![change]).collect();
        if !gone.is_empty() {
            statements.push(gone);
        }
        if statements.is_empty() {
            return self.commit_nothing().await;
        }
        self.check_no_hold()?;
        self.check_writable()?;
        let last = statements.len() - 1;
        for (number, changes) in statements.into_iter().enumerate() {
            let names: Vec<String> = changes.iter().map(|(name, _)| ddl::quote_identifier(name)).collect();
            let how = match &changes[0].1 {
                Some(json) => format!("UPDATE HISTOGRAM ON {} USING DATA '{json}'", names.join(", ")),
                None => format!("DROP HISTOGRAM ON {}", names.join(", ")),
            };
            let (schema, name) = (ddl::quote_identifier(&table.schema), ddl::quote_identifier(&table.name));
            let sql = format!("ANALYZE TABLE {schema}.{name} {how}");
            let change = CatalogChange::Histograms(table.clone(), changes);
            if number == last {
                return self.log_change(change, sql).await;
            }
            let (gtid, position) = (self.put_gtid_aside(), self.source_position.take());
            let logged = self.log_change(change, sql).await;
            (self.next_gtid, self.source_position) = (gtid, position);
            logged?;
        }
        Ok(())
    }

    /// ANALYZE TABLE without more: histograms with AUTO UPDATE are made again.
    pub(super) async fn refresh_histograms(&mut self, schema: &str, name: &str) -> Result<(), SqlError> {
        let catalog = self.shared.engine.catalog();
        let Some(table) = catalog.base_table(schema, name).cloned() else { return Ok(()) };
        let mut changes = Vec::new();
        for (column, json) in catalog.histograms(table.id()) {
            let Some(position) = position(&table.def, column) else { continue };
            let known = Histogram::parse(json, &table.def.columns[position]).filter(|known| known.auto_update);
            let Some(known) = known else { continue };
            let built = self.build_histogram(&table, position, known.buckets_specified, true).await?;
            let json = built.map(|built| built.to_json(&table.def.columns[position]).into());
            changes.extend(json.map(|json: Arc<str>| (column.to_owned(), Some(json))));
        }
        if changes.is_empty() || self.check_writable().is_err() {
            return Ok(());
        }
        let (gtid, position) = (self.put_gtid_aside(), self.source_position.take());
        let logged = self.log_histograms(&EngineTableName::new(schema, name), changes).await;
        (self.next_gtid, self.source_position) = (gtid, position);
        logged
    }
}

/// The columns of a statement in the order of their names, if it is one that can be executed.
fn checked_columns(statement: &Statement) -> Result<Vec<String>, SqlError> {
    if let HistogramChange::Update { buckets: Some(buckets), .. } = statement.change
        && !(1..=BUCKETS_MAX).contains(&buckets)
    {
        let message = "Number of buckets value is out of range in 'ANALYZE TABLE'";
        return Err(SqlError::new(codes::DATA_OUT_OF_RANGE, message));
    }
    for (number, table) in statement.tables.iter().enumerate() {
        if statement.tables[..number].contains(table) {
            return Err(SqlError::new(codes::NONUNIQ_TABLE, format!("Not unique table/alias: '{}'", table.name)));
        }
    }
    let mut columns = statement.columns.clone();
    for (number, name) in columns.iter().enumerate() {
        if columns[..number].iter().any(|other| other.eq_ignore_ascii_case(name)) {
            return Err(SqlError::new(codes::DUP_FIELDNAME, format!("Duplicate column name '{name}'")));
        }
    }
    columns.sort();
    Ok(columns)
}

fn position(def: &TableDef, name: &str) -> Option<usize> {
    def.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
}

/// As the definition spells it.
fn column_named(def: &TableDef, name: &str) -> String {
    position(def, name).map_or_else(|| name.to_owned(), |column| def.columns[column].name.clone())
}

fn line(table: &str, kind: &'static str, text: String) -> Vec<Value> {
    vec![Value::str(table.to_owned()), Value::str_static("histogram"), Value::str_static(kind), Value::str(text)]
}
