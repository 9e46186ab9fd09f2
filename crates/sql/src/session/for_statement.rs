//! SET STATEMENT … FOR, MariaDB's: settings that hold for one statement.

use base::{SqlError, codes};

use super::Session;
use crate::parse::ast::{SetItem, SetScope};
use crate::settings::{self, SettingId, SettingValue};

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
            if !id.setting().is_for_statements {
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
