//! JSON_TABLE: rows out of a document.
//!
//! Nodes are walked as they are nested ([`crate::plan::json_table`]): each value that a node's path leads to fills the node's columns; then those of the nodes in it, one
//! node after the other, while the columns of the others are NULL; if none of them has a value there is one row all the same.
//!
//! # Invariants
//! - In memory are the document and, per level, the places that a path leads to; rows are kept by a [`RowStore`], which goes on in a file.

use base::{SqlError, codes};
use types::decimal::Rounding;
use types::json::Json;
use types::{ColumnDef, ColumnType, Decimal, Value, number};

use crate::exec::context::ExecContext;
use crate::exec::spill::RowStore;
use crate::expr::Warnings;
use crate::expr::context::EvalContext;
use crate::expr::convert::{Strictness, convert_for_column};
use crate::expr::json;
use crate::expr::zero::implicit_default;
use crate::plan::json_table::{JsonColumn, JsonNode, JsonTable, Otherwise};

/// So many values are looked at between two looks at whether the statement has to end.
const UNWATCHED: usize = 256;

/// The values of a node that are being walked.
struct Level<'j> {
    node: usize,
    found: Vec<&'j Json>,
    at: usize,
    /// Which of the nodes in it is next; `None` if the value's own columns are not filled yet.
    child: Option<usize>,
    /// There was a row of the value.
    has_row: bool,
}

/// The rows of a table for a row of those before it.
pub(crate) async fn rows(table: &JsonTable, outer: &[Value], context: &ExecContext<'_>) -> Result<RowStore, SqlError> {
    let mut rows = RowStore::new(table.width, context.limits.table_bytes);
    let Some(document) = document(table, outer, &context.eval)? else { return Ok(rows) };
    let mut row = vec![Value::Null; table.width];
    let mut levels = vec![Level::of(0, &table.nodes[0], &document, &context.eval)?];
    let mut steps = 0;
    while let Some(level) = levels.last_mut() {
        steps += 1;
        if steps % UNWATCHED == 0 {
            context.check_cancelled().await?;
        }
        let node = &table.nodes[level.node];
        let Some(value) = level.found.get(level.at).copied() else {
            let had_values = !level.found.is_empty();
            node.columns.iter().for_each(|(column, _)| row[*column] = Value::Null);
            levels.pop();
            if let Some(around) = levels.last_mut() {
                around.has_row |= had_values;
            }
            continue;
        };
        let child = match level.child {
            Some(child) => child,
            None => {
                fill(node, value, level.at, &mut row, &context.eval)?;
                level.has_row = false;
                0
            }
        };
        level.child = Some(child + 1);
        if let Some(&number) = node.children.get(child) {
            levels.push(Level::of(number, &table.nodes[number], value, &context.eval)?);
            continue;
        }
        if !level.has_row {
            rows.push(context.env, &row).await?;
        }
        (level.at, level.child) = (level.at + 1, None);
    }
    Ok(rows)
}

impl<'j> Level<'j> {
    fn of(number: usize, node: &JsonNode, json: &'j Json, eval: &EvalContext<'_>) -> Result<Self, SqlError> {
        let found = node.path.find_counted(json, true, &mut |values| eval.worked(values))?;
        Ok(Level { node: number, found, at: 0, child: None, has_row: false })
    }
}

/// The document; `None` of NULL.
fn document(table: &JsonTable, outer: &[Value], eval: &EvalContext<'_>) -> Result<Option<Json>, SqlError> {
    let value = table.document.eval(outer, eval)?;
    Ok(Some(match &value {
        Value::Null => return Ok(None),
        Value::Json(_) => json::document(&value)?,
        Value::Str(text) => json::parse_argument(text, 1, "json_table")?,
        Value::Bytes(_) => return Err(json::binary_charset()),
        _ => {
            let message = "Invalid data type for JSON data in argument 1 to function json_table; a JSON string or JSON type \
                           is required.";
            return Err(SqlError::new(codes::INVALID_TYPE_FOR_JSON, message));
        }
    }))
}

/// Fills the columns of a node.
fn fill(node: &JsonNode, json: &Json, at: usize, row: &mut [Value], eval: &EvalContext<'_>) -> Result<(), SqlError> {
    for (column, kind) in &node.columns {
        row[*column] = match kind {
            JsonColumn::Ordinality => Value::Int(at as i64 + 1),
            JsonColumn::Exists { path, yes, no } => {
                let found = path.find_counted(json, true, &mut |values| eval.worked(values))?;
                if found.is_empty() { no.clone() } else { yes.clone() }
            }
            JsonColumn::Value { def, path, on_empty, on_error } => {
                let found = path.find_counted(json, true, &mut |values| eval.worked(values))?;
                match &found[..] {
                    [] => instead(on_empty, || missing(def))?,
                    [Json::Null] => Value::Null,
                    [one] => stored(one, def, on_error, eval)?,
                    many => {
                        let array = Json::Array(many.iter().map(|json| (*json).clone()).collect());
                        stored(&array, def, on_error, eval)?
                    }
                }
            }
        };
    }
    Ok(())
}

fn instead(otherwise: &Otherwise, error: impl FnOnce() -> SqlError) -> Result<Value, SqlError> {
    match otherwise {
        Otherwise::Null => Ok(Value::Null),
        Otherwise::Error => Err(error()),
        Otherwise::Default(value) => Ok(value.clone()),
    }
}

/// A value in a column, or what it has instead.
fn stored(json: &Json, def: &ColumnDef, on_error: &Otherwise, eval: &EvalContext<'_>) -> Result<Value, SqlError> {
    let is_choice = matches!(def.ty, ColumnType::Enum { .. }) && json.is_scalar();
    match as_column(json, def, eval) {
        Err(error) if is_own(&error) => match (on_error, &def.ty) {
            // No member is no error to MySQL, unless ERROR ON ERROR is written.
            (Otherwise::Null | Otherwise::Default(_), ColumnType::Enum { members }) if is_choice => {
                Ok(types::column::no_member(members))
            }
            _ => instead(on_error, || error),
        },
        result => result,
    }
}

/// Whether an error says that a value does not fit its column.
fn is_own(error: &SqlError) -> bool {
    const OWN: [u16; 3] =
        [codes::WRONG_JSON_TABLE_VALUE.0, codes::JT_VALUE_OUT_OF_RANGE.0, codes::INVALID_JSON_VALUE_FOR_CAST.0];
    OWN.contains(&error.code)
}

/// A value of a document in the form of a column.
///
/// # Errors
/// 3156, 3666 and 3669 for what does not fit.
pub(crate) fn as_column(json: &Json, def: &ColumnDef, eval: &EvalContext<'_>) -> Result<Value, SqlError> {
    if def.ty == ColumnType::Json {
        return json::value(json);
    }
    if !json.is_scalar() {
        let message = format!("Can't store an array or an object in the scalar JSON_TABLE column '{}'", def.name);
        return Err(SqlError::new(codes::WRONG_JSON_TABLE_VALUE, message));
    }
    let value = match &def.ty {
        ColumnType::Float { .. } | ColumnType::Double { .. } => numeric(json, "DOUBLE", def)?,
        ColumnType::Decimal { .. } => numeric(json, "DECIMAL", def)?,
        ColumnType::Year | ColumnType::Bit { .. } => numeric(json, "INTEGER", def)?,
        ty if ty.integer().is_some() => numeric(json, "INTEGER", def)?,
        ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => match json {
            Json::Date(date) => Value::Date(*date),
            Json::DateTime(datetime) | Json::Timestamp(datetime) => Value::DateTime(*datetime),
            _ => text(json),
        },
        ColumnType::Time { .. } => match json {
            Json::Time(time) => Value::Time(*time),
            _ => text(json),
        },
        _ => text(json),
    };
    let value = converted(value, def, eval).ok_or_else(|| out_of_range(def))?;
    Ok(match (value, &def.ty) {
        (Value::Str(text), ColumnType::Char { .. }) => {
            let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
            Value::Str(text.slice(..end))
        }
        (value, _) => value,
    })
}

/// The value as a column has it, if it fits. What stands behind a date or a time is cut off, and nothing is said of that.
fn converted(value: Value, def: &ColumnDef, eval: &EvalContext<'_>) -> Option<Value> {
    let warnings = Warnings::default();
    let eval = EvalContext { warnings: &warnings, ..*eval };
    let is_temporal = matches!(
        def.ty,
        ColumnType::Date | ColumnType::Time { .. } | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. }
    );
    if !is_temporal {
        return convert_for_column(value, def, Strictness::Strict, 1, &eval).ok();
    }
    if let Ok(value) = convert_for_column(value.clone(), def, Strictness::Strict, 1, &eval) {
        return Some(value);
    }
    warnings.take();
    let nearest = convert_for_column(value, def, Strictness::Lenient, 1, &eval).ok()?;
    let is_beyond = warnings.take().iter().any(|warning| warning.code == codes::WARN_DATA_OUT_OF_RANGE.0);
    (!is_beyond && nearest != implicit_default(def)).then_some(nearest)
}

/// A number in the form of a column, as near as it comes.
pub(crate) fn number_as_column(number: i64, def: &ColumnDef, eval: &EvalContext<'_>) -> Value {
    if def.ty == ColumnType::Json {
        return json::value(&Json::Int(number)).unwrap_or(Value::Null);
    }
    convert_for_column(Value::Int(number), def, Strictness::Lenient, 1, eval).unwrap_or(Value::Null)
}

fn text(json: &Json) -> Value {
    let mut text = String::new();
    json.write_unquoted(&mut text);
    Value::Str(text.into_bytes().into())
}

/// A number, or the text of nothing else (3156).
fn numeric(json: &Json, kind: &str, def: &ColumnDef) -> Result<Value, SqlError> {
    let is_integer = kind == "INTEGER";
    let number = match json::plain(json) {
        Some(Value::Str(text)) => {
            let trimmed = text.trim_ascii();
            let (value, length) = match kind {
                "INTEGER" => {
                    let (n, length) = number::parse_integer(&text);
                    let value = i64::try_from(n)
                        .map_or_else(|_| u64::try_from(n).map_or(Value::Double(n as f64), Value::UInt), Value::Int);
                    (value, length)
                }
                "DECIMAL" => match Decimal::parse(trimmed) {
                    Some(parsed) => {
                        (Value::Decimal(parsed.value), parsed.len + text.len() - text.trim_ascii_start().len())
                    }
                    None => (Value::Null, 0),
                },
                _ => {
                    let (n, length) = number::parse_f64(&text);
                    (Value::Double(n), length)
                }
            };
            (length > 0 && length >= text.trim_ascii_end().len()).then_some(value)
        }
        Some(Value::Double(n)) if is_integer => Some(Value::Double(n.round_ties_even())),
        Some(Value::Decimal(n)) if is_integer => n.rounded(0, Rounding::HalfUp).map(Value::Decimal),
        Some(number @ (Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_))) => Some(number),
        _ => None,
    };
    number.ok_or_else(|| {
        let message = format!("Invalid JSON value for CAST to {kind} from column {} at row 1", def.name);
        SqlError::new(codes::INVALID_JSON_VALUE_FOR_CAST, message)
    })
}

/// 3665
fn missing(def: &ColumnDef) -> SqlError {
    SqlError::new(codes::MISSING_JSON_TABLE_VALUE, format!("Missing value for JSON_TABLE column '{}'", def.name))
}

/// 3669
fn out_of_range(def: &ColumnDef) -> SqlError {
    let message = format!("Value is out of range for JSON_TABLE's column '{}'", def.name);
    SqlError::new(codes::JT_VALUE_OUT_OF_RANGE, message)
}
