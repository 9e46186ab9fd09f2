//! EXPLAIN: a plan as rows, as a tree, or as JSON.
//!
//! ```text
//!   Plan ── build ──> Shown ──> FORMAT=TREE
//!    │  (measure)          └──> FORMAT=JSON, version 2
//!    └──> TableRow ──> FORMAT=TRADITIONAL, and version 1 of FORMAT=JSON
//! ```
//!
//! They have MySQL's columns and words, so that what an operator knows how to read still reads the same. Numbers are the planner's own
//! estimates: a cost is in rows read from a tree. EXPLAIN ANALYZE measures the plan ([`measure`]) and runs it: [`analyze`].

mod access;
mod analyze;
mod build;
pub(super) mod expr_text;
mod json;
mod measure;
mod names;
mod operators;
mod shown;
mod table;
mod tree_json;

use base::{SqlError, codes};
use types::value::NOT_FIXED;
use types::{CollationId, Value};

pub(crate) use crate::plan::explain::analyze::ExplainPlan;

use crate::expr::{Host, VariableScope};
use crate::parse::ast::{Explain, ExplainFormat};
use crate::plan::{Plan, PlanContext, PlanKind};
use crate::result::{FieldType, ResultColumn};

/// Bytes of an explained statement that are shown beside its plan.
const QUERY_BYTES_MAX: usize = 64 << 10;

/// How a plan is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    Table,
    Tree,
    /// By its version.
    Json {
        tree: bool,
    },
}

impl Printed {
    /// As it was said, or as `explain_format` says. What is measured is never a table.
    fn of(format: Option<ExplainFormat>, analyze: bool, host: &dyn Host) -> Result<Printed, SqlError> {
        let setting_is = |name: &str, wanted: &[u8]| {
            let mut text = Vec::new();
            if let Ok(value) = host.system_variable(VariableScope::Session, name) {
                value.write_text(NOT_FIXED, &mut text);
            }
            text == wanted
        };
        let setting = || match () {
            () if setting_is("explain_format", b"TREE") => ExplainFormat::Tree,
            () if setting_is("explain_format", b"JSON") => ExplainFormat::Json,
            () if analyze => ExplainFormat::Tree,
            () => ExplainFormat::Traditional,
        };
        let is_first = || setting_is("explain_json_format_version", b"1");
        match format.unwrap_or_else(setting) {
            ExplainFormat::Traditional if analyze => {
                Err(SqlError::not_supported("EXPLAIN ANALYZE with TRADITIONAL format"))
            }
            ExplainFormat::Traditional => Ok(Printed::Table),
            ExplainFormat::Tree => Ok(Printed::Tree),
            ExplainFormat::Json if analyze && is_first() => {
                let message = "EXPLAIN ANALYZE does not support FORMAT=JSON with explain_json_format_version=1.";
                Err(SqlError::new(codes::EXPLAIN_ANALYZE_JSON_FORMAT, message))
            }
            ExplainFormat::Json => Ok(Printed::Json { tree: !is_first() }),
        }
    }

    /// The text of a plan; none of a table.
    fn text(self, kind: &PlanKind, query: Option<&str>) -> String {
        match self {
            Printed::Table => String::new(),
            Printed::Tree => build::shown(kind).tree(),
            Printed::Json { tree: true } => tree_json::text(kind, query),
            Printed::Json { tree: false } => json::json_text(kind),
        }
    }
}

/// With the default database that EXPLAIN names.
pub(super) fn within<'a>(context: &PlanContext<'a>, explain: &'a Explain) -> Result<PlanContext<'a>, SqlError> {
    let Some(schema) = explain.schema.as_deref() else { return Ok(*context) };
    let is_there =
        context.catalog.database(schema).is_some() || crate::information_schema::system_database(schema).is_some();
    match is_there {
        true => Ok(PlanContext { database: Some(schema), ..*context }),
        false => Err(crate::ddl::unknown_database(schema)),
    }
}

/// The plan of EXPLAIN: what describes another plan, and may run it.
pub(crate) fn explain(context: &PlanContext<'_>, plan: Plan, explain: &Explain) -> Result<Plan, SqlError> {
    let collation = context.session.collation_connection;
    let printed = Printed::of(explain.format, explain.analyze, context.host)?;
    if printed == Printed::Table {
        let rows = table::table_rows(&plan.kind).iter().map(table::TableRow::values).collect();
        return Ok(Plan { kind: PlanKind::Rows(rows), locks: Vec::new(), columns: table_columns(collation), ..plan });
    }
    let query = query_text(context.text, explain.start.0);
    let columns = if explain.into.is_some() { Vec::new() } else { vec![text_column(collation)] };
    let (kind, locks) = if explain.analyze {
        (ExplainPlan::measuring(plan.kind, printed, query, explain.into.clone()), plan.locks)
    } else {
        (ExplainPlan::ready(printed.text(&plan.kind, Some(&query)), explain.into.clone()), Vec::new())
    };
    Ok(Plan { kind: PlanKind::Explain(Box::new(kind)), locks, columns, ..plan })
}

/// What EXPLAIN FOR CONNECTION says of a plan that is being run: columns and rows. 3012 if it is of something that has no plan to show.
pub(crate) fn explain_running(
    plan: &Plan,
    format: Option<ExplainFormat>,
    host: &dyn Host,
    collation: CollationId,
) -> Result<(Vec<ResultColumn>, Vec<Vec<Value>>), SqlError> {
    if matches!(plan.kind, PlanKind::Explain(_) | PlanKind::Rows(_) | PlanKind::Do(_) | PlanKind::Load(_)) {
        return Err(not_explainable());
    }
    Ok(match Printed::of(format, false, host)? {
        Printed::Table => {
            let rows = table::table_rows(&plan.kind).iter().map(table::TableRow::values).collect();
            (table_columns(collation), rows)
        }
        printed => (vec![text_column(collation)], vec![vec![Value::from(printed.text(&plan.kind, None))]]),
    })
}

/// 3012
pub(crate) fn not_explainable() -> SqlError {
    let message = "EXPLAIN FOR CONNECTION command is supported only for SELECT/UPDATE/INSERT/DELETE/REPLACE";
    SqlError::new(codes::EXPLAIN_NOT_SUPPORTED, message)
}

/// The statement that is explained, or as much of it as is shown.
fn query_text(text: &str, start: usize) -> String {
    let query = text.get(start..).unwrap_or_default().trim().trim_end_matches(';').trim_end();
    if query.len() <= QUERY_BYTES_MAX {
        return query.to_owned();
    }
    let end = (0..=QUERY_BYTES_MAX).rev().find(|at| query.is_char_boundary(*at)).unwrap_or(0);
    query[..end].to_owned() + "…"
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
