//! CHECKSUM TABLE, and what only this server has beside it: sums of ranges of keys, by which two servers find the rows in which
//! they differ without reading the others.
//!
//! The number of a table is the sum of a hash of each of its rows: equal for equal rows in equally defined tables, in whatever
//! order they came. It is in the roots of the trees, so nothing is read for it but what memory holds above them.

use std::ops::Bound;
use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use engine::{Direction, Entry, KeyRange, ReadMode, RowSum, Table, TableMode, Transaction};
use io::ThreadTurn;
use types::{TableDef, Value};

use super::Session;
use crate::account::Privilege;
use crate::ddl::{quote_identifier, quote_string, value_text};
use crate::expr::{WarningLevel, hex_text};
use crate::information_schema::column_spec;
use crate::parse::ast::{Checksum, Cuts, EncodedRange, TableName};
use crate::result::{Outcome, ResultColumn, ResultSink};
use crate::show;

/// SPLIT makes about so many parts at most.
const PARTS_MAX: usize = 256;
/// Rows read at once.
const BATCH_ROWS: usize = 256;

/// The rows of the answer, on their way.
struct Answer<'a> {
    sink: &'a mut dyn ResultSink,
    rows: u64,
}

impl Answer<'_> {
    async fn row(&mut self, values: &[Value]) -> Result<(), SqlError> {
        self.rows += 1;
        self.sink.row(values)?;
        if self.sink.needs_flush() {
            self.sink.flush().await?;
        }
        Ok(())
    }

    /// That there is nothing to say of a table.
    async fn nothing(&mut self, table: &str, columns: usize) -> Result<(), SqlError> {
        let mut values = vec![Value::Null; columns];
        values[0] = Value::str(table);
        self.row(&values).await
    }
}

impl Session {
    /// CHECKSUM TABLE, of all tables in one state.
    pub(super) async fn checksum(
        &mut self,
        tables: &[TableName],
        how: &Checksum,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let mut named = Vec::with_capacity(tables.len());
        for table in tables {
            // Who may have the whole log learns nothing from a sum, nor from the rows, which are in it.
            let is_replica = matches!(how, Checksum::Ranges { .. } | Checksum::Images(_))
                && self.has_global_privilege(Privilege::ReplicationReplica);
            let schema = self.schema_of(table)?;
            // A sum needs no more than some column, as in MySQL.
            let is_sum = matches!(how, Checksum::Whole | Checksum::Extended | Checksum::Quick);
            let may_sum = is_sum && self.account().on_any_column(&schema, &table.name).has(Privilege::Select);
            if !is_replica && !may_sum {
                self.check_table(Privilege::Select, table)?;
            }
            named.push((schema, table.name.as_str()));
        }
        let mut open = self.begin_reading()?;
        let result = self.checksum_in(&mut open.transaction, &named, how, sink).await;
        self.end_reading(open);
        result
    }

    async fn checksum_in(
        &mut self,
        transaction: &mut Transaction,
        tables: &[(String, &str)],
        how: &Checksum,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let columns = column_spec(match how {
            Checksum::Whole | Checksum::Extended | Checksum::Quick => "Table v128, Checksum u?",
            Checksum::Ranges { .. } => "Table v128, From_key t?, Rows u?, Checksum u?",
            Checksum::Rows(_) => "Table v128, Key t?, Condition t?, Checksum u?",
            Checksum::Images(_) => "Table v128, Key t?, Image t?",
        });
        let described: Vec<ResultColumn> = columns.iter().map(show::result_column).collect();
        sink.columns(&described)?;
        let mut answer = Answer { sink, rows: 0 };
        for (schema, name) in tables {
            let full_name = format!("{schema}.{name}");
            let Some(table) = self.catalog().table(schema, name).cloned() else {
                let message = format!("Table '{full_name}' doesn't exist");
                self.warnings.push(WarningLevel::Error, codes::NO_SUCH_TABLE, message);
                answer.nothing(&full_name, columns.len()).await?;
                continue;
            };
            if !table.is_temporary() {
                transaction.lock_table(&table, TableMode::IntentShared).await?;
            }
            let name = Value::str(full_name.as_str());
            match how {
                Checksum::Whole if !table.is_temporary() => {
                    let sum = transaction.sum(&table, &KeyRange::all()).await?;
                    answer.row(&[name, Value::UInt(sum.hash)]).await?;
                }
                // The sums of trees are not kept for temporary tables.
                Checksum::Whole | Checksum::Extended => {
                    let mut sum = RowSum::default();
                    let add = |entry: &Entry| {
                        sum.add(RowSum::hash_of(&entry.key, &entry.value));
                        Ok(())
                    };
                    transaction.visit(&table, 0, KeyRange::all(), add).await?;
                    answer.row(&[name, Value::UInt(sum.hash)]).await?;
                }
                Checksum::Quick => answer.row(&[name, Value::Null]).await?,
                Checksum::Ranges { range, cuts } => {
                    match self.ranges(transaction, &table, (range, cuts), &name, &mut answer).await {
                        // The other tables of the snapshot can still be compared.
                        Err(error) if error.code == codes::TABLE_DEF_CHANGED.0 => {
                            self.warnings.push(WarningLevel::Error, codes::TABLE_DEF_CHANGED, error.message);
                            answer.nothing(&full_name, columns.len()).await?;
                        }
                        done => done?,
                    }
                }
                Checksum::Rows(range) => {
                    let row = |entry: &Entry| {
                        let hash = RowSum::hash_of(&entry.key, &entry.value);
                        let condition = condition(&table, &entry.value)?;
                        Ok([name.clone(), hex(&entry.key), Value::str(condition), Value::UInt(hash)])
                    };
                    self.rows(transaction, &table, range, row, &mut answer).await?;
                }
                Checksum::Images(range) => {
                    let row = |entry: &Entry| Ok([name.clone(), hex(&entry.key), hex(&entry.value)]);
                    self.rows(transaction, &table, range, row, &mut answer).await?;
                }
            }
        }
        Ok(Outcome { has_rows: true, affected_rows: answer.rows, ..Outcome::default() })
    }

    /// RANGES: where each part begins, its rows, their sum.
    async fn ranges(
        &self,
        transaction: &mut Transaction,
        table: &Arc<Table>,
        (range, cuts): (&EncodedRange, &Cuts),
        name: &Value,
        answer: &mut Answer<'_>,
    ) -> Result<(), SqlError> {
        let whole = key_range(range);
        let cuts = match cuts {
            Cuts::At(keys) => keys_inside(range, keys),
            Cuts::Split => transaction.cuts(table, &whole, PARTS_MAX).await?,
        };
        let turn = ThreadTurn::default();
        let mut lower = whole.lower;
        for upper in cuts.into_iter().map(Bound::Excluded).chain([whole.upper]) {
            let from = if let Bound::Included(key) = &lower { hex(key) } else { Value::Null };
            let next = if let Bound::Excluded(cut) = &upper { Bound::Included(cut.clone()) } else { Bound::Unbounded };
            let sum = transaction.sum(table, &KeyRange { lower, upper }).await?;
            answer.row(&[name.clone(), from, Value::UInt(sum.rows), Value::UInt(sum.hash)]).await?;
            turn.pass(&*self.shared.env.clock).await;
            lower = next;
        }
        Ok(())
    }

    /// ROWS and IMAGES: a row of the answer for each of the table's.
    async fn rows<const COLUMNS: usize>(
        &self,
        transaction: &mut Transaction,
        table: &Arc<Table>,
        range: &EncodedRange,
        row: impl Fn(&Entry) -> Result<[Value; COLUMNS], SqlError>,
        answer: &mut Answer<'_>,
    ) -> Result<(), SqlError> {
        let turn = ThreadTurn::default();
        let mut scan = transaction.scan(table, 0, key_range(range), Direction::Forward, ReadMode::Consistent);
        let mut batch = Vec::new();
        while transaction.next_batch(&mut scan, &mut batch, BATCH_ROWS).await? {
            for entry in batch.drain(..) {
                answer.row(&row(&entry)?).await?;
            }
            turn.pass(&*self.shared.env.clock).await;
        }
        Ok(())
    }
}

fn key_range(range: &EncodedRange) -> KeyRange {
    let bytes = |key: &Option<Vec<u8>>| key.as_deref().map(Bytes::copy_from_slice);
    KeyRange {
        lower: bytes(&range.from).map_or(Bound::Unbounded, Bound::Included),
        upper: bytes(&range.to).map_or(Bound::Unbounded, Bound::Excluded),
    }
}

/// Keys that cut a range, in order; others say nothing of it.
fn keys_inside(range: &EncodedRange, keys: &[Vec<u8>]) -> Vec<Bytes> {
    let is_inside = |key: &&Vec<u8>| {
        range.from.as_ref().is_none_or(|from| *key > from) && range.to.as_ref().is_none_or(|to| *key < to)
    };
    let mut inside: Vec<Bytes> = keys.iter().filter(is_inside).map(|key| Bytes::copy_from_slice(key)).collect();
    inside.sort();
    inside.dedup();
    inside
}

fn hex(bytes: &[u8]) -> Value {
    Value::str(hex_text(bytes))
}

/// `` `id`=7 AND `name`='x' ``: the row by its primary key.
fn condition(table: &Table, row: &Bytes) -> Result<String, SqlError> {
    let def: &TableDef = &table.def;
    let mut parts = Vec::with_capacity(def.primary().parts.len());
    for part in &def.primary().parts {
        let column = &def.columns[part.column];
        let value = table.codec.row.decode_column(row, part.column).map_err(engine::EngineError::from)?;
        let literal = match &value {
            Value::Bytes(bytes) => format!("x'{}'", hex_text(bytes).to_uppercase()),
            Value::Str(_) | Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
                quote_string(&value_text(&value, column))
            }
            other => value_text(other, column),
        };
        parts.push(format!("{}={literal}", quote_identifier(&column.name)));
    }
    Ok(parts.join(" AND "))
}
