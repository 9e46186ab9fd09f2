//! A session's values: those of the server at the time it connected, and what it set itself.

use std::sync::Arc;
use std::time::Duration;

use base::{SqlError, codes};
use engine::{Isolation, RowImage};
use jiff::tz::TimeZone;
use types::CollationId;

use super::{Kind, Setting, SettingId, SettingValue, sql_mode};
use crate::charsets;
use crate::exec::Limits;
use crate::expr::SqlMode;
use crate::expr::function::cipher::CipherMode;
use crate::expr::locale::Locale;
use crate::session::TrackGtids;

/// What statements need often, decoded.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the settings' own names")]
pub struct Hot {
    pub autocommit: bool,
    pub sql_mode: SqlMode,
    pub isolation: Isolation,
    pub transaction_read_only: bool,
    pub time_zone: TimeZone,
    pub character_set_client: &'static str,
    /// `None` for `NULL`. With it, and with `binary`, text is sent in its own character set.
    pub character_set_results: Option<&'static str>,
    pub collation_connection: CollationId,
    /// What `character_set_collations` makes of utf8mb3, where that is not what it is here.
    pub utf8mb3: Option<CollationId>,
    /// Not `explicit_defaults_for_timestamp`.
    pub implicit_timestamps: bool,
    pub sql_select_limit: u64,
    pub max_execution_time: Option<Duration>,
    pub max_statement_time: Option<Duration>,
    pub connection_memory_limit: u64,
    /// `sort_buffer_size`, `join_buffer_size`, `tmp_table_size`
    pub limits: Limits,
    pub innodb_lock_wait_timeout: Duration,
    /// `lock_wait_timeout`
    pub lock_wait_timeout: Duration,
    pub auto_increment_increment: u64,
    pub auto_increment_offset: u64,
    /// For the next statement that makes numbers; `None` if nothing was said.
    pub insert_id: Option<u64>,
    pub div_precision_increment: u8,
    pub group_concat_max_len: u64,
    pub default_week_format: u8,
    pub block_encryption_mode: CipherMode,
    /// `lc_time_names`
    pub locale: &'static Locale,
    pub sql_safe_updates: bool,
    pub sql_notes: bool,
    pub max_error_count: usize,
    pub binlog_row_image: RowImage,
    pub binlog_rows_query_log_events: bool,
    pub sql_log_bin: bool,
    pub session_track_schema: bool,
    pub session_track_state_change: bool,
    pub session_track_gtids: TrackGtids,
    pub gtid_domain_id: u32,
    pub skip_parallel_replication: bool,
    pub foreign_key_checks: bool,
    pub unique_checks: bool,
    pub max_allowed_packet: u64,
    /// `SET timestamp = …`, in microseconds since 1970; `None` for the real time.
    pub timestamp: Option<u64>,
}

/// The values of one session.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    base: Arc<Vec<SettingValue>>,
    /// What differs from `base`, by id. Short: a client sets a handful.
    own: Vec<(SettingId, SettingValue)>,
    /// The decoded ones.
    pub hot: Hot,
}

impl SessionSettings {
    /// Those of a new session.
    pub fn new(globals: Arc<Vec<SettingValue>>) -> Self {
        let hot = decode(&|name| value_of(&globals, name));
        SessionSettings { base: globals, own: Vec::new(), hot }
    }

    /// A value.
    pub fn get(&self, id: SettingId) -> &SettingValue {
        match self.own.iter().find(|(own, _)| *own == id) {
            Some((_, value)) => value,
            None => &self.base[usize::from(id.0)],
        }
    }

    /// A value by a name that is in the table.
    ///
    /// # Panics
    /// If it is not.
    pub fn named(&self, name: &str) -> &SettingValue {
        self.get(super::find(name).unwrap_or_else(|| panic!("no setting '{name}'")))
    }

    /// Stores a value that was checked.
    pub fn set(&mut self, id: SettingId, value: SettingValue) {
        match self.own.iter_mut().find(|(own, _)| *own == id) {
            Some((_, old)) => *old = value,
            None => self.own.push((id, value)),
        }
        self.hot = decode(&|name| self.named(name).clone());
    }
}

fn value_of(values: &[SettingValue], name: &str) -> SettingValue {
    super::find(name).map_or(SettingValue::Null, |id| values[usize::from(id.0)].clone())
}

fn decode(get: &dyn Fn(&str) -> SettingValue) -> Hot {
    let number = |name| get(name).as_u64();
    let bytes = |name| usize::try_from(number(name)).unwrap_or(usize::MAX);
    let on = |name| get(name).as_bool();
    let seconds = |name| Duration::from_secs(number(name));
    Hot {
        autocommit: on("autocommit"),
        sql_mode: sql_mode::parse(get("sql_mode").as_str()),
        isolation: isolation_of(get("transaction_isolation").as_str()),
        transaction_read_only: on("transaction_read_only"),
        time_zone: match get("time_zone").as_str() {
            "SYSTEM" => time_zone(get("system_time_zone").as_str()).unwrap_or(TimeZone::UTC),
            name => time_zone(name).unwrap_or(TimeZone::UTC),
        },
        character_set_client: charsets::static_name(get("character_set_client").as_str()).unwrap_or("utf8mb4"),
        character_set_results: charsets::static_name(get("character_set_results").as_str()),
        collation_connection: types::collation::by_name(get("collation_connection").as_str())
            .unwrap_or(CollationId::DEFAULT),
        utf8mb3: charsets::utf8mb3_of(get("character_set_collations").as_str()),
        implicit_timestamps: !on("explicit_defaults_for_timestamp"),
        sql_select_limit: number("sql_select_limit"),
        max_execution_time: Some(Duration::from_millis(number("max_execution_time"))).filter(|time| !time.is_zero()),
        connection_memory_limit: number("connection_memory_limit"),
        max_statement_time: Some(Duration::from_secs_f64(get("max_statement_time").as_f64()))
            .filter(|time| !time.is_zero()),
        limits: Limits {
            sort_bytes: bytes("sort_buffer_size"),
            join_bytes: bytes("join_buffer_size"),
            table_bytes: bytes("tmp_table_size"),
            rounds: number("cte_max_recursion_depth"),
            ..Limits::default()
        },
        innodb_lock_wait_timeout: seconds("innodb_lock_wait_timeout"),
        lock_wait_timeout: seconds("lock_wait_timeout"),
        auto_increment_increment: number("auto_increment_increment"),
        auto_increment_offset: number("auto_increment_offset"),
        insert_id: Some(number("insert_id")).filter(|id| *id > 0),
        div_precision_increment: number("div_precision_increment") as u8,
        group_concat_max_len: number("group_concat_max_len"),
        default_week_format: number("default_week_format") as u8,
        block_encryption_mode: CipherMode::by_name(get("block_encryption_mode").as_str()).unwrap_or_default(),
        locale: Locale::by_name(get("lc_time_names").as_str()).unwrap_or_else(Locale::english),
        sql_safe_updates: on("sql_safe_updates"),
        sql_notes: on("sql_notes"),
        max_error_count: number("max_error_count") as usize,
        binlog_row_image: match get("binlog_row_image").as_str() {
            "MINIMAL" => RowImage::Minimal,
            _ => RowImage::Full,
        },
        binlog_rows_query_log_events: on("binlog_rows_query_log_events"),
        sql_log_bin: on("sql_log_bin"),
        session_track_schema: on("session_track_schema"),
        session_track_state_change: on("session_track_state_change"),
        session_track_gtids: match get("session_track_gtids").as_str() {
            "OWN_GTID" => TrackGtids::Own,
            "ALL_GTIDS" => TrackGtids::All,
            _ => TrackGtids::Off,
        },
        gtid_domain_id: number("gtid_domain_id") as u32,
        skip_parallel_replication: on("skip_parallel_replication"),
        foreign_key_checks: on("foreign_key_checks"),
        unique_checks: on("unique_checks"),
        max_allowed_packet: number("max_allowed_packet"),
        timestamp: match get("timestamp") {
            SettingValue::Double(seconds) if seconds > 0.0 => Some((seconds * 1e6) as u64),
            _ => None,
        },
    }
}

pub(crate) fn isolation_of(name: &str) -> Isolation {
    match name {
        "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
        "READ-COMMITTED" => Isolation::ReadCommitted,
        "SERIALIZABLE" => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
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
    use crate::settings::{Globals, find};

    #[test]
    fn a_session_has_its_own_values() {
        let globals = Globals::new();
        let mut session = SessionSettings::new(globals.snapshot());
        assert!(session.hot.autocommit && session.hot.sql_mode.is_strict());
        session.set(find("autocommit").unwrap(), SettingValue::Bool(false));
        assert!(!session.hot.autocommit);
        assert!(SessionSettings::new(globals.snapshot()).hot.autocommit);
    }

    #[test]
    fn time_zones() {
        assert!(time_zone("+02:00").is_some() && time_zone("-03:30").is_some() && time_zone("Europe/Berlin").is_some());
        assert!(time_zone("+15:00").is_none() && time_zone("Nowhere/There").is_none() && time_zone("+2").is_none());
    }
}
