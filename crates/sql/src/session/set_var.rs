//! SET_VAR: settings that hold for one statement, by a hint. What cannot be set is a warning, and the statement runs without it.

use base::{SqlError, codes};

use super::Session;
use crate::expr::WarningLevel;
use crate::parse::ParsedStatement;
use crate::parse::ast::Statement;
use crate::parse::hint::{Hints, SetVar};
use crate::settings::{self, SettingId, SettingValue};

impl Session {
    /// Sets what a statement's hints say; what it was before.
    pub(super) async fn set_by_hints(
        &mut self,
        parsed: &ParsedStatement,
    ) -> Result<Vec<(SettingId, SettingValue)>, SqlError> {
        let variables = Hints::of(&parsed.text, self.info.sql_mode).variables;
        let mut before: Vec<(SettingId, SettingValue)> = Vec::new();
        for variable in &variables {
            let Ok(id) = settings::find_or_suggest(&variable.name) else {
                let message = format!("Unresolved name '{}' for SET_VAR hint", variable.name);
                self.warn_of_hint(&SqlError::new(codes::WARN_UNKNOWN_NAME_IN_HINT, message));
                continue;
            };
            if !id.setting().is_hint {
                let message = format!("Variable '{}' cannot be set using SET_VAR hint.", variable.name);
                self.warn_of_hint(&SqlError::new(codes::NOT_HINT_UPDATABLE_VARIABLE, message));
                continue;
            }
            let old = self.settings.get(id).clone();
            match self.set_as_hinted(variable).await {
                Ok(()) => before.push((id, old)),
                Err(error) => self.warn_of_hint(&error),
            }
        }
        if !before.is_empty() {
            self.take_time();
        }
        Ok(before)
    }

    /// As `SET SESSION name = value` would.
    async fn set_as_hinted(&mut self, variable: &SetVar) -> Result<(), SqlError> {
        let value = match variable.is_text {
            true => format!("'{}'", variable.value.replace('\\', "\\\\").replace('\'', "''")),
            false => with_suffix(&variable.value),
        };
        let set = self.read(&format!("SET SESSION {} = {value}", variable.name))?;
        let Statement::Set(items) = &set.statement else {
            return Err(SqlError::unknown("a SET that is none"));
        };
        self.set(items, &[]).await.map(|_| ())
    }

    fn warn_of_hint(&mut self, warning: &SqlError) {
        self.warnings.push_error(WarningLevel::Warning, warning);
    }
}

/// `2M` as a number, as hints may say it.
fn with_suffix(value: &str) -> String {
    let factor = match value.bytes().last() {
        Some(b'k' | b'K') => 1u64 << 10,
        Some(b'm' | b'M') => 1 << 20,
        Some(b'g' | b'G') => 1 << 30,
        _ => return value.to_owned(),
    };
    let number = value[..value.len() - 1].parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    number.map_or_else(|| value.to_owned(), |number| number.to_string())
}
