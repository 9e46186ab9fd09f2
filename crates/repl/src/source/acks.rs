//! Acknowledgements of a semi-synchronous replica, on its stream.
//!
//! Every event has a header that says whether it is to be acknowledged. We ask where the replica would otherwise have nothing to say
//! about what is durable here: at the event that ends what was durable when we asked last. So there is one acknowledgement for all that
//! was sent meanwhile, and always one for the end of the log.

use std::sync::Arc;

use base::{ConnectionId, LogPosition, SqlError};
use binlog::BinaryLog;
use engine::commit::SemiSync;
use session::dump::EventStream;
use wire::replication::SemiSyncAck;

use super::fatal;

/// Of one stream; what waits for its acknowledgements is told when it ends.
pub(super) struct Acks {
    semi_sync: Arc<SemiSync>,
    log: Arc<BinaryLog>,
    stream: u64,
    /// The next event that ends here, or behind, is to be acknowledged. `None` until the next event is sent: what is durable then.
    target: Option<LogPosition>,
    /// The end of the last event that was to be acknowledged.
    asked: LogPosition,
}

impl Acks {
    pub(super) fn new(semi_sync: &Arc<SemiSync>, log: &Arc<BinaryLog>, connection: ConnectionId) -> Self {
        let stream = u64::from(connection.0);
        semi_sync.joined(stream);
        Acks { semi_sync: semi_sync.clone(), log: log.clone(), stream, target: None, asked: LogPosition::default() }
    }

    /// Whether to ask for an acknowledgement of an event that is about to be sent.
    pub(super) fn asks(&mut self, end: LogPosition) -> bool {
        if end < *self.target.get_or_insert_with(|| self.log.durable_end()) {
            return false;
        }
        (self.target, self.asked) = (None, end);
        true
    }

    /// An event is not sent, because the replica has its transaction already.
    pub(super) fn skipped(&mut self, end: LogPosition) {
        if self.asks(end) {
            self.semi_sync.acknowledged(self.stream, end);
        }
    }

    /// Takes what the replica has said.
    pub(super) async fn take(&mut self, stream: &mut dyn EventStream) -> Result<(), SqlError> {
        while let Some(packet) = stream.said().await? {
            let ack = SemiSyncAck::decode(&packet).map_err(|error| fatal(error.to_string()))?;
            let unknown = || fatal(format!("Replica acknowledged '{}', which is no file of this log", ack.file));
            let number = self.log.file_number(&ack.file).ok_or_else(unknown)?;
            let position = LogPosition::new(number, ack.position);
            if position > self.asked {
                let name = self.log.file_name(self.asked.file);
                return Err(fatal(format!(
                    "Replica acknowledged {}:{}, and was sent no more than {name}:{}",
                    ack.file, ack.position, self.asked.offset
                )));
            }
            self.semi_sync.acknowledged(self.stream, position);
        }
        Ok(())
    }
}

impl Drop for Acks {
    fn drop(&mut self) {
        self.semi_sync.left(self.stream);
    }
}
