//! Taking files back from the log's end: for a source that becomes a follower, and for a log that begins anew.
//!
//! A source begins a file of its own at each start, and ends it with a STOP or a ROTATE. When it becomes a follower, what it
//! has written so behind its last transaction is in nobody else's log, and goes. Transactions are never taken back here.
//!
//! A crash at any point leaves a log that can be opened: the index forgets the files first, then they go from the last one
//! on, and until the file that stays is marked as in use it is sealed at its end.

use std::sync::Arc;

use base::LogPosition;
use io::Env;

use super::segment::Segment;
use super::writer::LogWriter;
use super::{BinaryLog, LogOptions, LogReceiver, folder, index};
use crate::error::{BinlogError, DecodeError, Result};
use crate::gtid_set::GtidSet;

impl LogReceiver {
    /// Takes back what this server itself has written behind the last transaction.
    #[io::boxed]
    pub async fn without_own_tail(self) -> Result<LogReceiver> {
        let log = self.log().clone();
        let here = log.durable_end();
        let end = log.end_without_own_tail().await?;
        if end == here {
            return Ok(self);
        }
        if end.file == 0 && !log.gtid_executed().is_empty() {
            let reason =
                format!("the log was purged to its end ({}), so nothing of it can be compared", log.gtid_executed());
            return Err(BinlogError::Malformed(DecodeError::new(reason)));
        }
        tracing::info!("the log goes back from {here} to {end}, behind its last transaction");
        let writer = self.into_writer().await?;
        log.keeper.settle(&log).await?;
        drop(writer);
        log.remove_behind(end).await?;
        if end.file == 0 {
            return Ok(LogReceiver::new(LogWriter::new(log, None, 0)));
        }
        let segment = Segment::open(&log.env, &log.options, end.file, false).await?;
        segment.cut(end.offset).await?;
        segment.set_in_use(true).await?;
        segment.sync_in_background().await?;
        let writer = log.resume_follower(Some(Arc::new(segment)), end.offset);
        Ok(LogReceiver::new(writer))
    }

    /// Removes all files, and forgets all GTIDs: the log is as new. Nobody may need it any more; the caller has made
    /// sure that the state is elsewhere, and that an interrupted call is finished ([`BinaryLog::remove_files`]).
    #[io::boxed]
    pub async fn remove_all(self) -> Result<LogWriter> {
        let log = self.log().clone();
        let writer = self.into_writer().await?;
        log.keeper.settle(&log).await?;
        drop(writer);
        log.remove_behind(LogPosition::default()).await?;
        log.durable.lock().executed = GtidSet::new();
        Ok(LogWriter::new(log, None, 0))
    }
}

impl LogWriter {
    /// Begins the first file of a log without files, with this number, as a source.
    #[io::boxed]
    pub async fn begin(self, number: u64) -> Result<LogWriter> {
        let log = self.log().clone();
        log.begin_source(Some(log.prepare_first(number).await?)).await
    }
}

impl BinaryLog {
    /// Number of the first file of a log that is not open; `None` if it has none.
    #[io::boxed]
    pub async fn first_file(env: &Env, options: &LogOptions) -> Result<Option<u64>> {
        Ok(folder::numbers(env, &options.basename).await?.into_iter().min())
    }

    /// Removes the files of a log that is not open.
    #[io::boxed]
    pub async fn remove_files(env: &Env, options: &LogOptions) -> Result<()> {
        let numbers = folder::numbers(env, &options.basename).await?;
        index::write(env, &options.basename, &[]).await?;
        folder::remove_last(env, &options.basename, &numbers).await
    }

    /// The end of the last event that is part of a transaction or not of this server.
    async fn end_without_own_tail(self: &Arc<Self>) -> Result<LogPosition> {
        let own = self.options.server_id.0;
        for file in self.files().into_iter().rev() {
            let mut reader = self.reader(LogPosition::new(file.number, 0)).without_verification();
            let mut end = None;
            while let Some(event) = reader.next_event().await? {
                if event.start.file != file.number {
                    break;
                }
                if !event.header.event_type.stands_between() || event.header.server_id != own {
                    end = Some(event.end);
                }
            }
            if let Some(end) = end {
                return Ok(end);
            }
        }
        Ok(LogPosition::default())
    }

    /// Takes the files behind a position out, and the prepared one; the file of the position stays as it is.
    async fn remove_behind(&self, end: LogPosition) -> Result<()> {
        let mut never_added = GtidSet::new();
        let mut numbers = {
            let mut files = self.files.lock();
            let gone = files.by_number.split_off(&(end.file + 1));
            gone.values().for_each(|info| never_added.union(&info.added_gtids));
            if let Some(info) = files.by_number.get_mut(&end.file) {
                info.end = Some(end.offset);
            }
            gone.into_keys().collect::<Vec<u64>>()
        };
        {
            let mut durable = self.durable.lock();
            durable.end = end;
            durable.executed.subtract(&never_added);
        }
        numbers.extend(self.keeper.take_all());
        self.set_space(0, 0);
        self.keeper.write_index(self).await?;
        numbers.sort_unstable();
        numbers.dedup();
        folder::remove_last(&self.env, &self.options.basename, &numbers).await
    }
}
