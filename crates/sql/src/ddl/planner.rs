//! [`Planner`]: definitions out of a log.

use base::{SqlError, codes};
use engine::{Catalog, CatalogChange, DdlPlanner, DdlText};
use jiff::tz::TimeZone;
use types::CollationId;

use super::{DdlContext, plan_ddl, render_user};
use crate::expr::{SqlMode, Warnings};
use crate::parse::ast::{Admin, Histogram, HistogramChange, Statement, TableMaintenance, TableName};
use crate::parse::{ParseContext, parse_one};
use crate::settings;

/// Understands the definitions in a log: those that this server wrote, and those of a MySQL source. ANALYZE TABLE is among them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planner;

impl DdlPlanner for Planner {
    fn plan(&self, text: &DdlText, catalog: &Catalog) -> Result<CatalogChange, SqlError> {
        let logged = &text.context;
        let sql_mode = SqlMode(logged.sql_mode);
        let parsed = parse_one(&text.sql, &ParseContext { sql_mode, long_accounts: true, ..ParseContext::default() })?;
        let database = Some(logged.schema.as_str()).filter(|schema| !schema.is_empty());
        if let Statement::Admin(Admin::Tables { what: TableMaintenance::Analyze, tables, .. }) = &parsed.statement {
            return Ok(analyze(tables, database));
        }
        if let Statement::Admin(Admin::Histogram(histogram)) = &parsed.statement {
            return Ok(histograms(histogram, database));
        }
        let Statement::Ddl(ddl) = &parsed.statement else {
            let message = format!("a statement in the log is no definition: {}", parsed.trimmed());
            return Err(SqlError::new(codes::UNKNOWN_ERROR, message));
        };
        let zone = logged.time_zone.as_deref().and_then(settings::time_zone).unwrap_or(TimeZone::UTC);
        let warnings = Warnings::default();
        let context = DdlContext {
            catalog,
            database,
            sql_mode,
            character_set: known(logged.charsets[1]).charset(),
            collation_server: known(logged.charsets[2]),
            utf8mb4_collation: known(logged.default_collation_for_utf8mb4),
            timestamp: logged.timestamp,
            microseconds: logged.microseconds,
            time_zone: &zone,
            require_primary_key: false,
            foreign_key_checks: false,
            is_logged: true,
            is_of_maria: super::says_as_in_mariadb(&text.sql),
            row_order: super::row_order_said(&text.sql),
            partial_revokes: super::says_partial_revokes(&text.sql),
            mandatory_roles: &[],
            reuse_policy: render_user::reuse_policy(&text.sql),
            auto_increment: logged.auto_increment.map_or((1, 1), |(by, from)| (by.into(), from.into())),
            warnings: &warnings,
        };
        plan_ddl(ddl, &context).map(|planned| planned.change)
    }
}

/// ANALYZE TABLE.
fn analyze(tables: &[TableName], database: Option<&str>) -> CatalogChange {
    let name = |table: &TableName| {
        let schema = table.schema.as_deref().or(database)?;
        Some(engine::TableName::new(schema, &*table.name))
    };
    CatalogChange::Analyze(tables.iter().filter_map(name).collect())
}

/// What a histogram is, as the log says it: in full. Of another form nothing is taken over: it was for who wrote it.
fn histograms(histogram: &Histogram, database: Option<&str>) -> CatalogChange {
    let named = histogram.tables.first().and_then(|table| Some((table.schema.as_deref().or(database)?, &*table.name)));
    let text = match &histogram.change {
        HistogramChange::Data(text) => Some(text.as_str().into()),
        HistogramChange::Drop => None,
        HistogramChange::Update { .. } => return CatalogChange::Nothing,
    };
    let Some((schema, name)) = named else { return CatalogChange::Nothing };
    let columns = histogram.columns.iter().map(|column| (column.clone(), text.clone()));
    CatalogChange::Histograms(engine::TableName::new(schema, name), columns.collect())
}

fn known(id: u16) -> CollationId {
    types::collation::by_id(id).unwrap_or(CollationId::DEFAULT)
}
