//! `SHOW REPLICA STATUS` of a replica that executes, in MySQL's columns.

use base::{LogPosition, UnixMicros};
use engine::Engine;
use sql::replay::channel_rule;
use sql::services::ReplicaStatusRow;
use sql::settings::{Globals, SettingId};

use super::until::Until;
use super::{Place, State};
use crate::follower::SourceSettings;
use crate::follower::receiver::short_time;
use crate::follower::status::{DELAYED, Row, Running, delay_left, yes_or_no};

/// Whole seconds since the oldest transaction that is not executed was committed at its source; unknown when one of the two halves does not run.
fn seconds_behind(state: &State, now: UnixMicros) -> Option<u64> {
    if !state.executes || state.parts == 0 || state.io_running != Running::Yes {
        return None;
    }
    state.behind(now).map(|micros| micros / 1_000_000)
}

/// Columns of filters, and the settings that they show.
const FILTERS: [(&str, SettingId); 6] = [
    ("Replicate_Do_DB", SettingId::replicate_do_db),
    ("Replicate_Ignore_DB", SettingId::replicate_ignore_db),
    ("Replicate_Do_Table", SettingId::replicate_do_table),
    ("Replicate_Ignore_Table", SettingId::replicate_ignore_table),
    ("Replicate_Wild_Do_Table", SettingId::replicate_wild_do_table),
    ("Replicate_Wild_Ignore_Table", SettingId::replicate_wild_ignore_table),
];

/// The line.
pub(super) fn row(
    settings: &SourceSettings,
    state: &State,
    engine: &Engine,
    globals: &Globals,
    now: UnixMicros,
) -> ReplicaStatusRow {
    let (io_code, io_text) =
        state.io_error.as_ref().map_or((0, String::new()), |(error, _)| (error.code(), error.to_string()));
    let (sql_code, sql_text) =
        state.sql_error.as_ref().map_or((0, String::new()), |(error, _)| (error.code, error.message.clone()));
    let time = |at: Option<UnixMicros>| at.map(short_time).unwrap_or_default();
    let is_executing = state.executes && state.sql_error.is_none();
    let own = engine.log().durable_end();
    let own_file = if own == LogPosition::default() { String::new() } else { engine.log().file_name(own.file) };
    let executed = state.executed_to();
    let mut row = Row::default();
    row.text("Replica_IO_State", state.io_state.text());
    row.text("Source_Host", &settings.host).text("Source_User", &settings.user);
    row.number("Source_Port", settings.port).number("Connect_Retry", settings.connect_retry_seconds);
    row.text("Source_Log_File", &state.received.file).number("Read_Source_Log_Pos", state.received.offset);
    // There is no relay log; what is executed is in our own.
    row.text("Relay_Log_File", &own_file).number("Relay_Log_Pos", own.offset);
    row.text("Relay_Source_Log_File", &executed.file);
    row.text("Replica_IO_Running", state.io_running.text()).text("Replica_SQL_Running", yes_or_no(is_executing));
    for (column, setting) in FILTERS {
        row.text(column, &channel_rule(globals, &settings.filters, setting));
    }
    // As in MySQL, of the half that applies.
    row.number("Last_Errno", sql_code)
        .text("Last_Error", &sql_text)
        .number("Skip_Counter", globals.now().role.sql_replica_skip_counter);
    row.number("Exec_Source_Log_Pos", executed.offset).number("Relay_Log_Space", 0u64);
    let (condition, until) = state.until.as_ref().map_or(("None", Place::default()), Until::shown);
    row.text("Until_Condition", condition);
    row.text("Until_Log_File", &until.file).number("Until_Log_Pos", until.offset);
    row.ssl(settings, seconds_behind(state, now));
    row.number("Last_IO_Errno", io_code).text("Last_IO_Error", &io_text);
    row.number("Last_SQL_Errno", sql_code).text("Last_SQL_Error", &sql_text);
    let ignored: Vec<String> = settings.ignored_server_ids.iter().map(u32::to_string).collect();
    row.text("Replicate_Ignore_Server_Ids", &ignored.join(", ")).number("Source_Server_Id", state.source_server_id);
    row.text("Source_UUID", &state.source_uuid).text("Source_Info_File", &settings.file());
    let left = delay_left(state.delayed_until, now);
    row.number("SQL_Delay", settings.delay_seconds).optional("SQL_Remaining_Delay", left);
    let doing = match (is_executing, state.is_idle()) {
        (false, _) => "",
        _ if left.is_some() => DELAYED,
        (true, true) => "Replica has read all relay log; waiting for more updates",
        (true, false) => "Executing events of the source",
    };
    row.text("Replica_SQL_Running_State", doing);
    row.number("Source_Retry_Count", settings.retries()).empty(&["Source_Bind"]);
    row.text("Last_IO_Error_Timestamp", &time(state.io_error.as_ref().map(|(_, at)| *at)));
    row.text("Last_SQL_Error_Timestamp", &time(state.sql_error.as_ref().map(|(_, at)| *at)));
    row.empty(&["Source_SSL_Crl", "Source_SSL_Crlpath"]);
    row.text("Retrieved_Gtid_Set", &state.retrieved.to_string());
    row.text("Executed_Gtid_Set", &engine.gtid_executed().to_string());
    row.number("Auto_Position", u8::from(settings.auto_position));
    row.last(settings, &channel_rule(globals, &settings.filters, SettingId::replicate_rewrite_db))
}
