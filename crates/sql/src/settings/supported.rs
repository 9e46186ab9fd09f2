//! Values that a setting has elsewhere and not here: refused wherever they are given.

use base::SqlError;

use super::value::bool_of;
use super::{Checked, Kind, Scope, Setting, SettingId, SettingValue, sql_mode};
use crate::expr::SqlMode;
use crate::replay::ReplicationFilter;

impl Setting {
    /// 1235 for a value that would do nothing here, and something on a MySQL or MariaDB.
    pub(crate) fn check_supported(&self, value: &SettingValue) -> Result<(), SqlError> {
        if self.id == SettingId::sql_mode {
            return check_modes(sql_mode::parse(value.as_str()));
        }
        match self.is_only(value) {
            true => Ok(()),
            false => Err(SqlError::not_supported(format!("SET {} = {value}", self.name))),
        }
    }

    /// The same for what a configuration file or the command line has, with what to do about it.
    pub(super) fn check_configured(&self, written: &str, checked: &Checked) -> Result<(), String> {
        if !self.only.is_empty() && (checked.adjusted || !self.is_only(&checked.value)) {
            return Err(self.refusal(written));
        }
        if ReplicationFilter::is_rule(self.id) {
            ReplicationFilter::check(self.id, checked.value.as_str()).map_err(|error| error.message)?;
        }
        self.check_supported(&checked.value).map_err(|error| error.message)
    }

    /// Why a value cannot be, and which can.
    pub(super) fn refusal(&self, written: &str) -> String {
        let all: Vec<&str> = self.only.iter().filter(|value| !value.is_empty()).copied().collect();
        let instead = if all.is_empty() { String::new() } else { format!(", or set it to {}", all.join(" or ")) };
        format!("{} = {written} is not supported; leave it out{instead}. {}", self.name, self.doc)
    }

    /// Whether a configuration file can give it: what belongs to one session, or is found out by the server, it cannot.
    pub(super) fn is_option(&self) -> bool {
        !self.no_option && self.scope != Scope::Session
    }

    fn is_only(&self, value: &SettingValue) -> bool {
        let is_same = |only: &&str| match self.kind {
            Kind::Bool => bool_of(value) == Some(*only == "ON"),
            _ => only.eq_ignore_ascii_case(value.to_string().trim()),
        };
        self.only.is_empty() || self.only.iter().any(is_same)
    }
}

/// 1235 for modes in which statements mean something else than they do here.
pub(crate) fn check_modes(mode: SqlMode) -> Result<(), SqlError> {
    if mode.has(SqlMode::PAD_CHAR_TO_FULL_LENGTH) {
        return Err(SqlError::not_supported("sql_mode PAD_CHAR_TO_FULL_LENGTH"));
    }
    Ok(())
}
