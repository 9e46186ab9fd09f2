//! What the receiver tells of itself, for `SHOW REPLICA STATUS`.

use base::UnixMicros;
use parking_lot::Mutex;
use repl::follower::ReceiveError;

use super::connect::Connected;

/// `Replica_IO_Running`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Running {
    /// It has stopped, or waits a minute because trying again does not help by itself.
    No,
    /// Trying to connect.
    #[default]
    Connecting,
    /// In the stream.
    Yes,
}

impl Running {
    /// As the column shows it.
    pub fn text(self) -> &'static str {
        match self {
            Running::No => "No",
            Running::Connecting => "Connecting",
            Running::Yes => "Yes",
        }
    }
}

/// What is known at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Whether it runs.
    pub running: Running,
    /// `Replica_IO_State`
    pub state: &'static str,
    /// Why the last attempt ended: number and text as MySQL has them, and when.
    pub error: Option<(u16, String, UnixMicros)>,
    /// The source's `server_id`; 0 before the first connection.
    pub source_server_id: u32,
    /// Its UUID.
    pub source_uuid: String,
    /// Seconds that our clock was ahead of the source's.
    pub clock_difference: i64,
    /// The file that is received; empty before the first.
    pub file: String,
    /// Behind the last event that was received and synced.
    pub position: u64,
    /// Heartbeats since the connection was made.
    pub heartbeats: u64,
    /// When the last one came.
    pub last_heartbeat: UnixMicros,
}

/// Shared by the receiver and those who ask.
#[derive(Debug, Default)]
pub struct Status(Mutex<Snapshot>);

impl Status {
    /// What is known now.
    pub fn snapshot(&self) -> Snapshot {
        self.0.lock().clone()
    }

    pub(crate) fn set(&self, running: Running, state: &'static str) {
        let mut status = self.0.lock();
        (status.running, status.state) = (running, state);
    }

    pub(crate) fn set_error(&self, error: &ReceiveError, now: UnixMicros) {
        self.0.lock().error = Some((error.code(), error.to_string(), now));
    }

    pub(crate) fn connected(&self, connected: &Connected) {
        let mut status = self.0.lock();
        status.source_server_id = connected.source.server_id;
        status.source_uuid.clone_from(&connected.source.uuid);
        status.clock_difference = connected.clock_difference;
        status.heartbeats = 0;
    }

    pub(crate) fn received(&self, file: &str, position: u64) {
        let mut status = self.0.lock();
        // The source is heard: what was wrong is not any more.
        status.error = None;
        status.position = position;
        if status.file != file {
            file.clone_into(&mut status.file);
        }
    }

    pub(crate) fn heartbeat(&self, now: UnixMicros) {
        let mut status = self.0.lock();
        status.heartbeats += 1;
        status.last_heartbeat = now;
    }

    /// Where a start finds the log.
    pub(crate) fn begin(&self, file: &str, position: u64) {
        let mut status = self.0.lock();
        (status.file, status.position) = (file.to_owned(), position);
    }
}
