//! LOAD DATA: whether the file may be read, and from where.

use base::{SqlError, codes};

use super::Session;
use super::prepared::rows_of;
use crate::account::Privilege;
use crate::information_schema::SystemTables;
use crate::load::{LoadFrom, permitted_folder};
use crate::parse::ParsedStatement;
use crate::parse::ast::LoadData;
use crate::result::{LOCAL_FILES_DISABLED, Outcome, ResultSink};

impl Session {
    /// LOAD DATA.
    pub(super) async fn load_data(
        &mut self,
        load: &LoadData,
        parsed: &ParsedStatement,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let from = self.source_of(load, sink)?;
        let rows = rows_of(parsed, &[], &self.info.database.clone());
        let tables = SystemTables::new(self.shared.clone());
        self.load_from = Some(from);
        let outcome = self.run_rows(&rows, &mut None, &tables, sink).await;
        self.load_from = None;
        // LAST_INSERT_ID() knows the first number, the client is told none.
        outcome.map(|outcome| Outcome { last_insert_id: 0, ..outcome })
    }

    /// Where the file is, if the session may have one of there.
    fn source_of(&mut self, load: &LoadData, sink: &dyn ResultSink) -> Result<LoadFrom, SqlError> {
        if let Some(kept) = self.load_from.take() {
            return Ok(kept);
        }
        let globals = &self.shared.globals;
        if load.local {
            if !globals.now().statements.local_infile || !sink.has_files() {
                return Err(SqlError::new(codes::CLIENT_LOCAL_FILES_DISABLED, LOCAL_FILES_DISABLED));
            }
            return Ok(LoadFrom::Client);
        }
        let folder = permitted_folder(globals);
        if !self.account().global.has(Privilege::File) {
            return Err(self.file_denied());
        }
        let database = self.info.database.clone().or(load.table.schema.clone()).unwrap_or_default();
        Ok(LoadFrom::Server { folder, database })
    }

    /// 1045, which is what MySQL says of the privilege FILE.
    fn file_denied(&self) -> SqlError {
        let (user, host) = (&self.client.user, &self.client.host);
        let message = format!("Access denied for user '{user}'@'{host}' (using password: YES)");
        SqlError::new(codes::ACCESS_DENIED_ERROR, message)
    }
}
