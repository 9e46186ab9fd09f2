//! LOAD DATA: whether the file may be read, and from where; files that come in another server's log.

use std::collections::HashMap;

use base::{SqlError, codes};

use super::Session;
use super::prepared::rows_of;
use crate::account::Privilege;
use crate::information_schema::SystemTables;
use crate::load::{KeptFile, LoadFrom, permitted_folder};
use crate::parse::ParsedStatement;
use crate::parse::ast::LoadData;
use crate::result::{LOCAL_FILES_DISABLED, Outcome, ResultSink};

/// Files by their numbers in the log.
pub(super) type KeptFiles = HashMap<u32, KeptFile>;

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

    /// The first bytes of a file of another server's log. One of the same number that was not read is forgotten.
    ///
    /// # Errors
    /// It cannot be written.
    #[io::boxed]
    pub async fn begin_kept_file(&mut self, number: u32, block: &[u8]) -> Result<(), SqlError> {
        self.kept_files.remove(&number);
        let mut file = KeptFile::create(&self.shared.env).await?;
        file.append(block).await?;
        self.kept_files.insert(number, file);
        Ok(())
    }

    /// The next bytes of a file of another server's log.
    ///
    /// # Errors
    /// It was not begun, or cannot be written.
    #[io::boxed]
    pub async fn append_kept_file(&mut self, number: u32, block: &[u8]) -> Result<(), SqlError> {
        match self.kept_files.get_mut(&number) {
            Some(file) => file.append(block).await,
            None => Err(no_such_file(number)),
        }
    }

    /// Nothing reads the file any more.
    pub fn forget_kept_file(&mut self, number: u32) {
        self.kept_files.remove(&number);
        self.load_from = None;
    }

    /// The next LOAD DATA reads this file, whatever it names.
    ///
    /// # Errors
    /// There is no such file.
    pub fn next_load_reads(&mut self, number: u32) -> Result<(), SqlError> {
        let file = self.kept_files.get(&number).ok_or_else(|| no_such_file(number))?;
        self.load_from = Some(LoadFrom::Kept(file.path().to_owned()));
        Ok(())
    }

    /// Nothing reads the files of another server's log any more.
    pub(super) fn forget_kept_files(&mut self) {
        self.kept_files.clear();
        self.load_from = None;
    }
}

fn no_such_file(number: u32) -> SqlError {
    let message = format!("Relay log read failure: file {number} of a LOAD DATA was not begun");
    SqlError::new(codes::REPLICA_RELAY_LOG_READ_FAILURE, message)
}
