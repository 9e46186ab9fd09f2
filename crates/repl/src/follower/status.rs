//! `SHOW REPLICA STATUS`: what a follower says of itself, in MySQL's columns. `SHOW SLAVE STATUS` has the same with old
//! names, which `sql` puts in.

use apply::ApplierStatus;
use base::{LogPosition, UnixMicros};
use sql::services::ReplicaStatusRow;

use super::error::ReceiveError;
use super::handshake::SourceFacts;
use super::receiver::short_time;
use super::settings::SourceSettings;
use crate::replica::Place;

/// `Replica_IO_Running`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Running {
    /// Not started, or stopped.
    #[default]
    No,
    /// Trying to connect.
    Connecting,
    /// Connected.
    Yes,
}

/// `Replica_IO_State`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoState {
    /// Not running.
    #[default]
    None,
    /// On its way to the source.
    Connecting,
    /// Between two attempts.
    WaitingToReconnect,
    /// In the stream.
    WaitingForEvents,
}

impl IoState {
    pub(crate) fn text(self) -> &'static str {
        match self {
            IoState::None => "",
            IoState::Connecting => "Connecting to source",
            IoState::WaitingToReconnect => "Waiting to reconnect after a failed source event read",
            IoState::WaitingForEvents => "Waiting for source to send event",
        }
    }
}

/// What the receiver tells.
#[derive(Clone, Debug, Default)]
pub struct ReceiverStatus {
    /// Whether it runs.
    pub running: Running,
    /// What it does.
    pub state: IoState,
    /// Why it stopped, or could not connect the last time; with the time.
    pub error: Option<(ReceiveError, UnixMicros)>,
    /// The source's `server_id`; 0 before the first connection.
    pub source_server_id: u32,
    /// The source's `server_uuid`.
    pub source_uuid: String,
    /// Seconds that our clock was ahead of the source's when the connection was made.
    pub clock_difference: i64,
    /// Behind the last event that is durable here.
    pub position: LogPosition,
    /// Heartbeats since the connection was made.
    pub heartbeats: u64,
    /// When the last one came.
    pub last_heartbeat: UnixMicros,
}

impl ReceiverStatus {
    pub(crate) fn connected(&mut self, facts: &SourceFacts) {
        self.source_server_id = facts.server_id;
        self.source_uuid = facts.uuid.clone();
        self.clock_difference = facts.clock_difference;
        self.heartbeats = 0;
        self.error = None;
    }
}

/// Everything a line of the status is made of.
pub(crate) struct Line<'a> {
    pub(crate) settings: &'a SourceSettings,
    /// UNTIL of the applier's last start.
    pub(crate) until: Option<(&'static str, Place)>,
    pub(crate) receiver: &'a ReceiverStatus,
    pub(crate) applier: &'a ApplierStatus,
    /// When what will be applied next was committed.
    pub(crate) next_commit_time: UnixMicros,
    pub(crate) log: &'a binlog::BinaryLog,
    pub(crate) executed: String,
    pub(crate) now: UnixMicros,
}

impl Line<'_> {
    /// Seconds between the commit of the transaction that will be applied next, on its source, and now; 0 when all that was
    /// received is applied and the source is heard of; unknown when either half does not run. As in MySQL, what the two clocks
    /// differed by when the connection was made does not count.
    fn seconds_behind(&self) -> Option<u64> {
        if !self.applier.is_running || self.receiver.running != Running::Yes {
            return None;
        }
        if self.applier.position >= self.applier.log_end {
            return Some(0);
        }
        let committed = (self.next_commit_time.0 / 1_000_000) as i64 + self.receiver.clock_difference;
        Some(((self.now.0 / 1_000_000) as i64 - committed).max(0) as u64)
    }

    pub(crate) fn row(&self) -> ReplicaStatusRow {
        let (settings, receiver, applier) = (self.settings, self.receiver, self.applier);
        let name = |at: LogPosition| if at.file == 0 { String::new() } else { self.log.file_name(at.file) };
        let io_error = receiver.error.as_ref();
        let (io_code, io_text) = io_error.map_or((0, String::new()), |(error, _)| (error.code(), error.to_string()));
        let sql_text = applier.error.as_ref().map(ToString::to_string).unwrap_or_default();
        let sql_code = applier.error.as_ref().map_or(0, |error| base::SqlError::from(error.clone()).code);
        let io_time = io_error.map(|(_, at)| short_time(*at)).unwrap_or_default();
        let delay_left = delay_left(applier.delayed_until, self.now);
        let applier_state = match (applier.is_running, applier.position >= applier.log_end) {
            (false, _) => "",
            _ if delay_left.is_some() => DELAYED,
            (true, true) => "Replica has read all relay log; waiting for more updates",
            (true, false) => "Reading event from the relay log",
        };
        let mut row = Row::default();
        row.text("Replica_IO_State", receiver.state.text());
        row.text("Source_Host", &settings.host).text("Source_User", &settings.user);
        row.number("Source_Port", settings.port).number("Connect_Retry", settings.connect_retry_seconds);
        row.text("Source_Log_File", &name(receiver.position));
        row.number("Read_Source_Log_Pos", receiver.position.offset);
        // The log is the copy: there is no relay log beside it.
        row.text("Relay_Log_File", &name(applier.position)).number("Relay_Log_Pos", applier.position.offset);
        row.text("Relay_Source_Log_File", &name(applier.position));
        row.text("Replica_IO_Running", receiver.running.text());
        row.text("Replica_SQL_Running", yes_or_no(applier.is_running));
        row.empty(&["Replicate_Do_DB", "Replicate_Ignore_DB", "Replicate_Do_Table", "Replicate_Ignore_Table"]);
        row.empty(&["Replicate_Wild_Do_Table", "Replicate_Wild_Ignore_Table"]);
        // As in MySQL, of the half that applies.
        row.number("Last_Errno", sql_code).text("Last_Error", &sql_text).number("Skip_Counter", 0u64);
        row.number("Exec_Source_Log_Pos", applier.position.offset);
        row.number("Relay_Log_Space", self.log.files().iter().map(|file| file.size).sum::<u64>());
        let (condition, until) = self.until.clone().unwrap_or(("None", Place::default()));
        row.text("Until_Condition", condition)
            .text("Until_Log_File", &until.file)
            .number("Until_Log_Pos", until.offset);
        row.ssl(settings, self.seconds_behind());
        row.number("Last_IO_Errno", io_code).text("Last_IO_Error", &io_text);
        row.number("Last_SQL_Errno", sql_code).text("Last_SQL_Error", &sql_text);
        row.empty(&["Replicate_Ignore_Server_Ids"]).number("Source_Server_Id", receiver.source_server_id);
        row.text("Source_UUID", &receiver.source_uuid).text("Source_Info_File", "source.json");
        row.number("SQL_Delay", settings.delay_seconds).optional("SQL_Remaining_Delay", delay_left);
        row.text("Replica_SQL_Running_State", applier_state);
        row.number("Source_Retry_Count", settings.retries()).empty(&["Source_Bind"]);
        row.text("Last_IO_Error_Timestamp", &io_time).empty(&["Last_SQL_Error_Timestamp"]);
        row.empty(&["Source_SSL_Crl", "Source_SSL_Crlpath"]);
        row.text("Retrieved_Gtid_Set", &self.log.gtid_executed().to_string());
        row.text("Executed_Gtid_Set", &self.executed).number("Auto_Position", u8::from(settings.auto_position));
        row.last(settings, "")
    }
}

impl Running {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Running::No => "No",
            Running::Connecting => "Connecting",
            Running::Yes => "Yes",
        }
    }
}

/// `Replica_SQL_Running_State` of who waits for SOURCE_DELAY.
pub(crate) const DELAYED: &str = "Waiting until SOURCE_DELAY seconds after source executed event";

/// `SQL_Remaining_Delay`, in seconds.
pub(crate) fn delay_left(until: Option<UnixMicros>, now: UnixMicros) -> Option<u64> {
    until.map(|due| due.0.saturating_sub(now.0).div_ceil(1_000_000))
}

pub(crate) fn yes_or_no(yes: bool) -> &'static str {
    if yes { "Yes" } else { "No" }
}

/// The columns so far, in their order.
#[derive(Default)]
pub(crate) struct Row(Vec<(&'static str, Option<String>)>);

impl Row {
    /// How the connection is protected, and the lag, which MySQL has among them.
    pub(crate) fn ssl(&mut self, settings: &SourceSettings, seconds_behind: Option<u64>) {
        self.text("Source_SSL_Allowed", yes_or_no(settings.ssl)).text("Source_SSL_CA_File", &settings.ssl_ca);
        self.empty(&["Source_SSL_CA_Path"]).text("Source_SSL_Cert", &settings.ssl_cert).empty(&["Source_SSL_Cipher"]);
        self.text("Source_SSL_Key", &settings.ssl_key).optional("Seconds_Behind_Source", seconds_behind);
        self.text("Source_SSL_Verify_Server_Cert", yes_or_no(settings.ssl_verify_server_cert));
    }

    /// The last columns.
    pub(crate) fn last(mut self, settings: &SourceSettings, rewritten: &str) -> ReplicaStatusRow {
        self.text("Replicate_Rewrite_DB", rewritten)
            .text("Channel_Name", &settings.channel)
            .empty(&["Source_TLS_Version"]);
        self.text("Source_public_key_path", &settings.public_key_path);
        self.number("Get_Source_public_key", u8::from(settings.get_public_key)).empty(&["Network_Namespace"]);
        ReplicaStatusRow(self.0)
    }

    pub(crate) fn text(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.0.push((name, Some(value.to_owned())));
        self
    }

    pub(crate) fn number(&mut self, name: &'static str, value: impl Into<u64>) -> &mut Self {
        self.0.push((name, Some(value.into().to_string())));
        self
    }

    pub(crate) fn optional(&mut self, name: &'static str, value: Option<u64>) -> &mut Self {
        self.0.push((name, value.map(|value| value.to_string())));
        self
    }

    pub(crate) fn empty(&mut self, names: &[&'static str]) -> &mut Self {
        self.0.extend(names.iter().map(|&name| (name, Some(String::new()))));
        self
    }
}
