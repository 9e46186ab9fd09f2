//! SET_VAR: settings that hold for one statement, by a hint. What cannot be set is a warning, and the statement runs without it.

use base::{SqlError, codes};

use super::Session;
use crate::expr::WarningLevel;
use crate::parse::ParsedStatement;
use crate::parse::ast::Statement;
use crate::parse::hint::{Hints, SetVar};
use crate::settings::{self, SettingId, SettingValue};

/// Settings that a hint may set: MySQL's.
const HINT_UPDATABLE: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "big_tables",
    "bulk_insert_buffer_size",
    "cte_max_recursion_depth",
    "default_tmp_storage_engine",
    "div_precision_increment",
    "end_markers_in_json",
    "eq_range_index_dive_limit",
    "foreign_key_checks",
    "group_concat_max_len",
    "insert_id",
    "internal_tmp_mem_storage_engine",
    "join_buffer_size",
    "lock_wait_timeout",
    "max_error_count",
    "max_execution_time",
    "max_heap_table_size",
    "max_join_size",
    "max_length_for_sort_data",
    "max_points_in_geometry",
    "max_seeks_for_key",
    "max_sort_length",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "optimizer_switch",
    "print_identified_with_as_hex",
    "range_alloc_block_size",
    "range_optimizer_max_mem_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "secondary_engine_cost_threshold",
    "select_into_buffer_size",
    "select_into_disk_sync",
    "select_into_disk_sync_delay",
    "show_create_table_skip_secondary_engine",
    "sort_buffer_size",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_mode",
    "sql_require_primary_key",
    "sql_safe_updates",
    "sql_select_limit",
    "time_zone",
    "timestamp",
    "tmp_table_size",
    "unique_checks",
    "updatable_views_with_limit",
    "use_secondary_engine",
    "windowing_use_high_precision",
];

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
            if !HINT_UPDATABLE.contains(&id.setting().name) {
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
