//! How the receiver is doing, for `SHOW REPLICA STATUS`.

use base::UnixMicros;
use parking_lot::Mutex;

use crate::error::RelayError;
use crate::source::Facts;

/// Whether the log is coming.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Running {
    /// It has stopped with an error that trying again does not mend.
    No,
    #[default]
    Connecting,
    Yes,
}

impl Running {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Running::No => "No",
            Running::Connecting => "Connecting",
            Running::Yes => "Yes",
        }
    }
}

/// What is known of the source and of the copying.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    pub(crate) running: Running,
    pub(crate) source_id: u32,
    pub(crate) source_uuid: String,
    /// The newest error, until the source is followed again.
    pub(crate) error: Option<(RelayError, UnixMicros)>,
    pub(crate) attempts: u64,
}

/// The same, for all.
#[derive(Default)]
pub(crate) struct SharedStatus(Mutex<Status>);

impl SharedStatus {
    pub(crate) fn get(&self) -> Status {
        self.0.lock().clone()
    }

    pub(crate) fn connected(&self, facts: &Facts) {
        let mut status = self.0.lock();
        status.source_id = facts.server_id;
        status.source_uuid.clone_from(&facts.uuid);
    }

    /// The source has what is here, and goes on behind it.
    pub(crate) fn follows(&self) {
        let mut status = self.0.lock();
        status.running = Running::Yes;
        status.error = None;
        status.attempts = 0;
    }

    /// The number of attempts since it was followed.
    pub(crate) fn failed(&self, error: RelayError, now: UnixMicros, is_final: bool) -> u64 {
        let mut status = self.0.lock();
        status.running = if is_final { Running::No } else { Running::Connecting };
        status.error = Some((error, now));
        status.attempts += 1;
        status.attempts
    }
}
