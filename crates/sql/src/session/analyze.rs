//! ANALYZE TABLE: statistics, which are this server's own, and the statement in the log, so that replicas collect theirs.

use base::SqlError;
use engine::{CatalogChange, DdlText, TableName as EngineTableName};

use super::Session;
use crate::ddl;
use crate::parse::ast::TableName;

impl Session {
    /// Collects the statistics of a table. One that was dropped meanwhile has none.
    pub(super) async fn collect_statistics(&mut self, schema: &str, name: &str) -> Result<(), SqlError> {
        let Some(table) = self.catalog().table(schema, name).cloned() else { return Ok(()) };
        self.handle.cancel.check().map_err(engine::EngineError::from)?;
        Ok(self.shared.engine.analyze(&table).await?)
    }

    /// Puts the statement into the log, if it concerns others: not with LOCAL, and not of temporary tables. Where nothing can be written, it was for
    /// this server alone.
    pub(super) async fn log_analyze(&mut self, local: bool, tables: &[TableName]) -> Result<(), SqlError> {
        let mut names = Vec::with_capacity(tables.len());
        for table in tables {
            let schema = self.schema_of(table)?;
            if self.shared.engine.catalog().base_table(&schema, &table.name).is_some()
                && self.temporary_named(table).is_none()
            {
                names.push(EngineTableName::new(schema, &*table.name));
            }
        }
        if local || names.is_empty() || self.check_writable().is_err() || self.check_no_hold().is_err() {
            return self.commit_nothing().await;
        }
        let quoted = |name: &EngineTableName| {
            format!("{}.{}", ddl::quote_identifier(&name.schema), ddl::quote_identifier(&name.name))
        };
        let sql = format!("ANALYZE TABLE {}", names.iter().map(quoted).collect::<Vec<_>>().join(", "));
        self.log_change(CatalogChange::Analyze(names), sql).await
    }

    /// Makes a change of the catalog that is no definition, under this text.
    pub(super) async fn log_change(&mut self, change: CatalogChange, sql: String) -> Result<(), SqlError> {
        let logged = DdlText { sql, context: self.query_context() };
        let options = self.ddl_options();
        let pending = self.shared.engine.enqueue_ddl(change, logged, &options).await?;
        let committed = self.wait_for_commit(pending.ended()).await;
        self.gtid_ended();
        self.source_position = None;
        committed
    }
}
