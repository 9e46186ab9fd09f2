//! SET STATEMENT … FOR, MariaDB's: settings that hold for one statement.

use base::{SqlError, codes};

use super::Session;
use crate::parse::ast::{SetItem, SetScope};
use crate::settings::{self, SettingId, SettingValue};

/// Settings that cannot be set so: MariaDB's, and what is no value of its own but does something when it is set, or is what the next
/// statement takes.
const NOT_FOR_STATEMENTS: [&str; 24] = [
    "autocommit",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_filesystem",
    "collation_connection",
    "collation_database",
    "gtid_next",
    "gtid_seq_no",
    "identity",
    "insert_id",
    "interactive_timeout",
    "last_insert_id",
    "original_commit_timestamp",
    "original_server_version",
    "profiling",
    "pseudo_thread_id",
    "query_cache_type",
    "rand_seed1",
    "rand_seed2",
    "server_id",
    "skip_replication",
    "sql_log_bin",
    "wait_timeout",
];

impl Session {
    /// Sets what a statement says; what it was before.
    pub(super) async fn set_for_statement(
        &mut self,
        items: &[SetItem],
    ) -> Result<Vec<(SettingId, SettingValue)>, SqlError> {
        let mut before: Vec<(SettingId, SettingValue)> = Vec::with_capacity(items.len());
        for item in items {
            let SetItem::Variable { scope: SetScope::Session, name, .. } = item else {
                return Err(SqlError::unknown("SET STATEMENT of something that is no setting of a session"));
            };
            let id = settings::find_or_suggest(name)?;
            if NOT_FOR_STATEMENTS.contains(&id.setting().name) {
                let message = format!("The system variable {name} cannot be set in SET STATEMENT.");
                return Err(SqlError::new(codes::SET_STATEMENT_NOT_SUPPORTED, message));
            }
            if !before.iter().any(|(known, _)| *known == id) {
                before.push((id, self.settings.get(id).clone()));
            }
        }
        self.set(items, &[]).await?;
        self.take_time();
        Ok(before)
    }

    /// Settings become what they were.
    pub(super) async fn set_back(&mut self, before: Vec<(SettingId, SettingValue)>) -> Result<(), SqlError> {
        for (id, value) in before {
            self.set_session(id, value).await?;
        }
        self.settings_changed();
        Ok(())
    }
}
