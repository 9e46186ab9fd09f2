//! SET of what the output of mysqlbinlog and mariadb-binlog sets: GTIDs of both kinds, where a transaction was born, seeds; and what is
//! refused there, because a statement would do something else here than where it was logged.

use base::{SqlError, UnixMicros, codes};
use binlog::{MariaGtidName, Origin};
use types::charset::Charset;

use super::Session;
use super::gtid::NextGtid;
use crate::expr::SqlMode;
use crate::expr::context::RandomState;
use crate::parse::ast::SetScope;
use crate::settings::{Setting, SettingId, SettingValue};

/// `original_commit_timestamp` of a transaction that is born here.
const NO_TIME: u64 = 1 << 55;
/// The version of a server that nobody knows.
const NO_VERSION: u64 = 999_999;

/// MariaDB's modes of which the bits are above those that both have.
mod maria_mode {
    pub(super) const COMMON: u64 = (1 << 32) - 1;
    pub(super) const ORACLE: u64 = 1 << 9;
    pub(super) const EMPTY_STRING_IS_NULL: u64 = 1 << 32;
    pub(super) const SIMULTANEOUS_ASSIGNMENT: u64 = 1 << 33;
    pub(super) const TIME_ROUND_FRACTIONAL: u64 = 1 << 34;
    /// Bits of modes that both have, or that change nothing of what a log's statements do.
    pub(super) const KNOWN: u64 = COMMON | TIME_ROUND_FRACTIONAL;
}

/// `SET @@session.server_id`, which is the server's alone in MySQL.
pub(super) fn is_own_server_id(scope: SetScope, id: SettingId) -> bool {
    scope == SetScope::Session && id == SettingId::server_id
}

impl Session {
    pub(super) fn set_own_server_id(&mut self, number: u32) {
        self.server_id = Some(number);
        self.origin_changed();
    }

    /// `SET gtid_seq_no`: with domain and server it is a GTID of MariaDB's, which is ours by another name.
    pub(super) async fn set_gtid_seq_no(&mut self, seq_no: u64) -> Result<(), SqlError> {
        if seq_no == 0 {
            return self.set_gtid_next("AUTOMATIC").await.map(drop);
        }
        let domain_id = self.settings.gtid_domain_id;
        let gtid = MariaGtidName { domain_id, server_id: self.own_server_id(), seq_no }.gtid();
        // The same may have been said as MySQL says it.
        match &self.next_gtid {
            NextGtid::Owned(owned) if owned.gtid() == gtid => Ok(()),
            NextGtid::Executed(executed) if *executed == gtid => Ok(()),
            _ => self.set_gtid_next(&gtid.to_string()).await.map(drop),
        }
    }

    fn own_server_id(&self) -> u32 {
        self.server_id.unwrap_or_else(|| self.shared.globals.now().start.server_id)
    }

    /// Where and when the next transactions were born, by the session's settings.
    pub(super) fn origin_changed(&mut self) {
        let time = Some(self.settings.original_commit_timestamp).filter(|time| *time < NO_TIME);
        let version = self.settings.original_server_version;
        let is_elsewhere = time.is_some() || version != NO_VERSION || self.server_id.is_some();
        self.origin = is_elsewhere.then(|| Origin {
            server_id: self.own_server_id(),
            commit_time: time.map(UnixMicros),
            server_version: version as u32,
        });
    }

    /// A transaction has ended: the next one is born here, unless something else is said.
    pub(super) fn forget_origin(&mut self) {
        if self.is_applier || self.origin.is_none() {
            return;
        }
        self.settings.set(SettingId::original_commit_timestamp, SettingValue::UInt(NO_TIME));
        self.settings.set(SettingId::original_server_version, SettingValue::UInt(NO_VERSION));
        self.origin_changed();
    }

    /// `rand_seed1`, `rand_seed2`
    pub(super) fn set_random_seed(&mut self, change: impl FnOnce(&mut RandomState)) {
        change(self.info.random.lock().get_or_insert(RandomState { seed1: 0, seed2: 0 }));
    }

    /// MariaDB's: of its parts those of utf8mb4 and utf8mb3 count, and those of character sets that are not here need not.
    pub(super) fn set_character_set_collations(&mut self, pairs: &str) -> Result<(), SqlError> {
        for pair in pairs.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let wrong = || {
                let message = format!("Variable 'character_set_collations' can't be set to the value of '{pair}'");
                SqlError::new(codes::WRONG_VALUE_FOR_VAR, message)
            };
            let (charset, name) = pair.split_once('=').ok_or_else(wrong)?;
            let Some(default) = crate::charsets::default_collation(charset.trim()) else { continue };
            let collation = types::collation::by_name(name.trim());
            let collation = collation.ok_or_else(|| crate::charsets::unknown_collation(name.trim()))?;
            if charset.trim().eq_ignore_ascii_case("utf8mb4") {
                self.settings.set(SettingId::default_collation_for_utf8mb4, SettingValue::text(collation.name()));
            } else if collation != default && default.charset() != Charset::Utf8Mb4 {
                return Err(SqlError::not_supported(format!("character_set_collations = '{pair}'")));
            }
        }
        Ok(())
    }

    /// What numbers of a log mean that are not the setting's own.
    pub(super) fn by_number(&self, setting: &Setting, value: SettingValue) -> Result<SettingValue, SqlError> {
        let number = match value {
            SettingValue::Int(number) => u64::try_from(number).ok(),
            SettingValue::UInt(number) => Some(number),
            _ => None,
        };
        match (setting.id, number) {
            (SettingId::sql_mode, Some(bits)) if self.binlog.is_maria() => maria_sql_mode(bits).map(SettingValue::UInt),
            _ => Ok(value),
        }
    }

    /// 1235 for values that would do nothing here, and something where they come from.
    pub(super) fn check_supported(&self, setting: &Setting, value: &SettingValue) -> Result<(), SqlError> {
        let replays = self.settings.pseudo_replica_mode;
        if setting.id == SettingId::sql_auto_is_null && replays && value.as_bool() {
            return Err(SqlError::not_supported(format!("SET {} = {value}", setting.name)));
        }
        setting.check_supported(value)
    }
}

/// MariaDB's modes as MySQL's: fractions of seconds that are cut there are rounded here, if nothing is said.
pub(super) fn maria_sql_mode(bits: u64) -> Result<u64, SqlError> {
    let refused = [
        (maria_mode::ORACLE, "ORACLE"),
        (maria_mode::EMPTY_STRING_IS_NULL, "EMPTY_STRING_IS_NULL"),
        (maria_mode::SIMULTANEOUS_ASSIGNMENT, "SIMULTANEOUS_ASSIGNMENT"),
        (!maria_mode::KNOWN, "of MariaDB that is not known"),
    ];
    if let Some((_, name)) = refused.iter().find(|(mode, _)| bits & mode != 0) {
        return Err(SqlError::not_supported(format!("SET sql_mode = {bits}: a mode {name}")));
    }
    let cut = if bits & maria_mode::TIME_ROUND_FRACTIONAL == 0 { SqlMode::TIME_TRUNCATE_FRACTIONAL.0 } else { 0 };
    Ok(bits & maria_mode::COMMON | cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_of_mariadb() {
        let strict = 1 << 21;
        assert_eq!(maria_sql_mode(strict).unwrap(), strict | SqlMode::TIME_TRUNCATE_FRACTIONAL.0);
        assert_eq!(maria_sql_mode(strict | 1 << 34).unwrap(), strict);
        for refused in [9, 32, 33, 35, 40] {
            assert!(maria_sql_mode(1 << refused).is_err(), "{refused}");
        }
    }
}
