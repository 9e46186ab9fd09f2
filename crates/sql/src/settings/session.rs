//! A session's values: those of the server at the time it connected, and what it set itself.

use std::ops::Deref;
use std::sync::Arc;

use base::{SqlError, codes};
use jiff::tz::TimeZone;

use super::{GlobalValues, Kind, SessionValues, Setting, SettingId, SettingValue, Zone};
use crate::charsets;
use crate::exec::Limits;
use crate::expr::locale::Locale;

/// The values of one session. Its fields are those of [`SessionValues`].
#[derive(Clone, Debug)]
pub struct SessionSettings {
    base: Arc<GlobalValues>,
    /// What differs from `base`, by id. Short: a client sets a handful.
    own: Vec<(SettingId, SettingValue)>,
    fields: SessionValues,
}

impl Deref for SessionSettings {
    type Target = SessionValues;

    fn deref(&self) -> &SessionValues {
        &self.fields
    }
}

impl SessionSettings {
    /// Those of a new session.
    pub fn new(globals: Arc<GlobalValues>) -> Self {
        SessionSettings { fields: globals.session.clone(), base: globals, own: Vec::new() }
    }

    /// A value as it is stored.
    pub fn get(&self, id: SettingId) -> &SettingValue {
        match self.own.iter().find(|(own, _)| *own == id) {
            Some((_, value)) => value,
            None => self.base.get(id),
        }
    }

    /// The server's values when the session began.
    pub fn of_server(&self) -> &GlobalValues {
        &self.base
    }

    /// `time_zone`
    pub fn zone(&self) -> TimeZone {
        match (&self.fields.time_zone, &self.base.start.system_time_zone) {
            (Zone::Of(zone), _) | (Zone::System, Zone::Of(zone)) => zone.clone(),
            (Zone::System, Zone::System) => TimeZone::UTC,
        }
    }

    /// `sort_buffer_size` and what else bounds what a statement keeps in memory.
    pub fn limits(&self) -> Limits {
        Limits {
            sort_bytes: self.fields.sort_buffer_size,
            join_bytes: self.fields.join_buffer_size,
            table_bytes: self.fields.tmp_table_size,
            rounds: self.fields.cte_max_recursion_depth,
            ..Limits::default()
        }
    }

    /// Stores a value that was checked.
    pub fn set(&mut self, id: SettingId, value: SettingValue) {
        self.fields.set(id, &value);
        match self.own.iter_mut().find(|(own, _)| *own == id) {
            Some((_, old)) => *old = value,
            None => self.own.push((id, value)),
        }
    }
}

/// The zone of `+02:00`, `Europe/Berlin`; `None` if there is none of this name. `SYSTEM` is the caller's matter.
pub(crate) fn time_zone(name: &str) -> Option<TimeZone> {
    let Some(sign) = name.chars().next().filter(|c| matches!(c, '+' | '-')) else {
        return TimeZone::get(name).ok();
    };
    let (hours, minutes) = name[1..].split_once(':')?;
    if hours.len() > 2 || minutes.len() != 2 {
        return None;
    }
    let minutes = hours.parse::<i32>().ok()? * 60 + minutes.parse::<i32>().ok().filter(|m| *m < 60)?;
    let minutes = if sign == '-' { -minutes } else { minutes };
    if !(-(13 * 60 + 59)..=14 * 60).contains(&minutes) {
        return None;
    }
    Some(TimeZone::fixed(jiff::tz::Offset::from_seconds(minutes * 60).ok()?))
}

/// Checks the name of a character set, collation, time zone or locale and gives it as it is stored.
pub(super) fn check_name(setting: &Setting, name: &str) -> Result<SettingValue, SqlError> {
    match setting.kind {
        Kind::CharacterSet => match charsets::static_name(name) {
            Some(name) => Ok(SettingValue::text(name)),
            None => Err(charsets::unknown_charset(name)),
        },
        Kind::Collation => match types::collation::by_name(name) {
            Some(id) => Ok(SettingValue::text(id.name())),
            None => Err(charsets::unknown_collation(name)),
        },
        Kind::TimeZone if name.eq_ignore_ascii_case("SYSTEM") => Ok(SettingValue::text("SYSTEM")),
        Kind::TimeZone if time_zone(name).is_some() => Ok(SettingValue::text(name)),
        Kind::TimeZone => {
            Err(SqlError::new(codes::UNKNOWN_TIME_ZONE, format!("Unknown or incorrect time zone: '{name}'")))
        }
        Kind::Locale => match Locale::by_name(name) {
            Some(locale) => Ok(SettingValue::text(locale.name)),
            None => Err(Locale::unknown(name)),
        },
        _ => Ok(SettingValue::text(name)),
    }
}

/// The character set or collation of a collation's number, the locale of its own.
pub(super) fn name_of_number(setting: &Setting, number: &SettingValue) -> Result<SettingValue, SqlError> {
    let id = u16::try_from(number.as_u64()).ok();
    match setting.kind {
        Kind::CharacterSet => match id.and_then(charsets::name_of_number) {
            Some(name) => Ok(SettingValue::text(name)),
            None => Err(charsets::unknown_charset(&number.to_string())),
        },
        Kind::Locale => match id.and_then(|id| Locale::by_number(id.into())) {
            Some(locale) => Ok(SettingValue::text(locale.name)),
            None => Err(Locale::unknown(number)),
        },
        _ => match id.and_then(types::collation::by_id) {
            Some(id) => Ok(SettingValue::text(id.name())),
            None => Err(charsets::unknown_collation(&number.to_string())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Globals;

    #[test]
    fn a_session_has_its_own_values() {
        let globals = Globals::new();
        let mut session = SessionSettings::new(globals.snapshot());
        assert!(session.autocommit && session.sql_mode.is_strict());
        session.set(SettingId::autocommit, SettingValue::Bool(false));
        assert!(!session.autocommit);
        assert!(SessionSettings::new(globals.snapshot()).autocommit);
    }

    #[test]
    fn time_zones() {
        assert!(time_zone("+02:00").is_some() && time_zone("-03:30").is_some() && time_zone("Europe/Berlin").is_some());
        assert!(time_zone("+15:00").is_none() && time_zone("Nowhere/There").is_none() && time_zone("+2").is_none());
    }
}
