//! The engine's end of the commit pipeline.

use std::sync::Arc;

use base::CommitNumber;
use binlog::{EncodedTransaction, LogWriter, PlaceStamp, Reservation};
use io::IoMode;
use parking_lot::Mutex;

use crate::commit::{CommitEnv, CommitError, Place};
use crate::core::{CommitHooks, Core, Payload};
use crate::error::Result;
use crate::turn::Turn;

/// Commits one transaction after the other.
pub(crate) struct CommitPath {
    core: Arc<Core>,
    hooks: CommitHooks,
    turn: Turn,
    writer: Mutex<Option<LogWriter>>,
    queue: Mutex<Vec<(EncodedTransaction, Reservation, Payload, Arc<Mutex<Option<Place>>>)>>,
}

pub(crate) struct Ticket(Arc<CommitPath>, Arc<Mutex<Option<Place>>>);

impl CommitPath {
    pub(crate) fn start(core: &Arc<Core>, writer: LogWriter) -> Arc<Self> {
        Arc::new(CommitPath {
            core: core.clone(),
            hooks: CommitHooks(core.clone()),
            turn: Turn::default(),
            writer: Mutex::new(Some(writer)),
            queue: Mutex::default(),
        })
    }

    pub(crate) async fn reserve(&self, bytes: u64) -> Result<Reservation> {
        Ok(self.core.log.reserve(bytes).await?)
    }

    pub(crate) fn enqueue(
        self: &Arc<Self>,
        encoded: EncodedTransaction,
        reservation: Reservation,
        payload: Payload,
    ) -> Result<Ticket, (CommitError, Payload)> {
        let slot = Arc::default();
        self.queue.lock().push((encoded, reservation, payload, Arc::clone(&slot)));
        Ok(Ticket(self.clone(), slot))
    }

    pub(crate) async fn make_durable(&self, _position: base::LogPosition) -> Result<()> {
        Ok(())
    }

    pub(crate) async fn stop(&self) -> Result<LogWriter> {
        let _turn = self.turn.take().await;
        self.writer.lock().take().ok_or(crate::EngineError::NotReady("stopped"))
    }
}

impl Ticket {
    pub(crate) async fn wait(self) -> Result<Place, CommitError> {
        let path = &self.0;
        let _turn = path.turn.take().await;
        let queue = std::mem::take(&mut *path.queue.lock());
        if let Some(place) = *self.1.lock() {
            return Ok(place);
        }
        let Some(mut writer) = path.writer.lock().take() else { return Err(CommitError::Stopped) };
        let mut last = None;
        for (encoded, reservation, mut payload, slot) in queue {
            let before = path.core.ordered().commit_number;
            let commit_number = CommitNumber(before.0 + 1);
            let commit_time = path.core.env.clock.now();
            let placed =
                writer.place(&encoded, &PlaceStamp { commit_number, last_committed: before, commit_time }, reservation);
            let place = Place {
                commit_number,
                gtid: placed.gtid,
                start: placed.start,
                end: placed.end,
                last_committed: placed.last_committed,
                sequence_number: placed.sequence_number,
                commit_time,
            };
            path.hooks.prepare_ordered(&mut payload, &place);
            last = Some(place);
            *slot.lock() = Some(place);
        }
        let flushed = writer.flush(IoMode::Offload).await;
        *path.writer.lock() = Some(writer);
        if let Err(error) = flushed {
            let error = CommitError::LogFailed(error.to_string().into());
            path.hooks.failed(&error);
            return Err(error);
        }
        if let Some(last) = &last {
            path.hooks.commit_ordered(last);
        }
        let place = *self.1.lock();
        place.ok_or(CommitError::Stopped)
    }
}
