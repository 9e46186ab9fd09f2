//! Which half of a replica has to be stopped before a statement may change what it goes by, as in MySQL.

use base::{SqlError, codes};
use sql::parse::ast::ChangeSource;

/// The halves of a replica that run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Halves {
    /// IO_THREAD.
    pub(crate) receiver: bool,
    /// SQL_THREAD.
    pub(crate) applier: bool,
}

impl Halves {
    /// `CHANGE REPLICATION SOURCE TO`: SOURCE_DELAY is the applier's, SOURCE_AUTO_POSITION is of both, the rest is the receiver's.
    ///
    /// # Errors
    /// 3021 if the receiver has to be stopped first, 3085 if it is the applier, 3081 for both.
    pub(crate) fn check_change(self, change: &ChangeSource, channel: &str) -> Result<(), SqlError> {
        let of_both = change.auto_position.is_some();
        let others = ChangeSource { delay_seconds: None, auto_position: None, channel: None, ..change.clone() };
        let receiver = self.receiver && others != ChangeSource::default();
        let applier = self.applier && change.delay_seconds.is_some();
        match (receiver, applier) {
            _ if of_both && (self.receiver || self.applier) => Err(both(channel)),
            (true, true) => Err(both(channel)),
            (true, false) => Err(one(codes::REPLICA_CHANNEL_IO_THREAD_MUST_STOP, "io", channel)),
            (false, true) => Err(one(codes::REPLICA_CHANNEL_SQL_THREAD_MUST_STOP, "sql", channel)),
            (false, false) => Ok(()),
        }
    }

    /// `CHANGE REPLICATION FILTER`, which is the applier's: 3085 while it runs.
    pub(crate) fn check_filter(self, channel: &str) -> Result<(), SqlError> {
        match self.applier {
            true => Err(one(codes::REPLICA_CHANNEL_SQL_THREAD_MUST_STOP, "sql", channel)),
            false => Ok(()),
        }
    }

    /// What is of the whole replica: 3081 while any of it runs.
    pub(crate) fn check_all(self, channel: &str) -> Result<(), SqlError> {
        if self.receiver || self.applier { Err(both(channel)) } else { Ok(()) }
    }
}

fn both(channel: &str) -> SqlError {
    let message = format!(
        "This operation cannot be performed with running replication threads; run STOP REPLICA FOR CHANNEL '{channel}' first"
    );
    SqlError::new(codes::REPLICA_CHANNEL_MUST_STOP, message)
}

fn one(code: codes::Code, name: &str, channel: &str) -> SqlError {
    let message = format!(
        "This operation cannot be performed with a running replica {name} thread; run STOP REPLICA {}_THREAD FOR CHANNEL '{channel}' first.",
        name.to_uppercase()
    );
    SqlError::new(code, message)
}
