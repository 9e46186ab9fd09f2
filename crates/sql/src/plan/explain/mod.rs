//! EXPLAIN: a plan as rows, as a tree, or as JSON.
//!
//! The rows have MySQL's columns and words, so that what an operator knows how to read still reads the same. Numbers are the
//! planner's own estimates.

pub(super) mod expr_text;
mod json;
mod table;
mod tree;

use base::SqlError;
use types::value::NOT_FIXED;
use types::{CollationId, Value};

use crate::parse::ast::{Explain, ExplainFormat};
use crate::plan::{Plan, PlanContext, PlanKind};
use crate::result::{FieldType, ResultColumn};

/// The plan of EXPLAIN: rows that describe another plan.
pub(crate) fn explain(context: &PlanContext<'_>, plan: Plan, explain: &Explain) -> Result<Plan, SqlError> {
    if explain.analyze {
        return Err(SqlError::not_supported("EXPLAIN ANALYZE"));
    }
    let collation = context.session.collation_connection;
    let (columns, rows) = match explain.format {
        ExplainFormat::Traditional => {
            let rows = table::table_rows(&plan.kind);
            (table_columns(collation), rows.iter().map(table::TableRow::values).collect())
        }
        ExplainFormat::Tree => (vec![text_column(collation)], vec![vec![Value::from(tree::tree_text(&plan.kind))]]),
        ExplainFormat::Json => (vec![text_column(collation)], vec![vec![Value::from(json::json_text(&plan.kind))]]),
    };
    Ok(Plan { kind: PlanKind::Rows(rows), locks: Vec::new(), columns, ..plan })
}

fn text_column(collation: CollationId) -> ResultColumn {
    ResultColumn { decimals: NOT_FIXED, ..ResultColumn::new("EXPLAIN", FieldType::VarString, collation, 1 << 16) }
}

fn table_columns(collation: CollationId) -> Vec<ResultColumn> {
    let text = |name: &str, chars: u32| ResultColumn {
        decimals: NOT_FIXED,
        ..ResultColumn::new(name, FieldType::VarString, collation, 4 * chars)
    };
    vec![
        ResultColumn::new("id", FieldType::LongLong, CollationId::BINARY, 3),
        text("select_type", 19),
        text("table", 64),
        text("partitions", 1024),
        text("type", 10),
        text("possible_keys", 4096),
        text("key", 64),
        text("key_len", 393),
        text("ref", 1024),
        ResultColumn::new("rows", FieldType::LongLong, CollationId::BINARY, 10),
        ResultColumn { decimals: 2, ..ResultColumn::new("filtered", FieldType::Double, CollationId::BINARY, 4) },
        text("Extra", 255),
    ]
}
