//! The writer's other use: a follower's copy of its source's log, byte for byte.
//!
//! A copy cannot take back what it has, and its source goes on. So what readers and the next start go by is checked before it is written:
//! places, checksums, where transactions begin and end, how long they say that they are, and that no GTID comes twice or is missing in the
//! head of the next file. (What is in the events is for who applies them; `repl` looks at that before it appends them.)

use std::sync::Arc;

use base::LogPosition;
use io::{IoBuf, IoMode};

use super::BinaryLog;
use super::files::FileInfo;
use super::segment::Lane;
use super::tracker::{TransactionTracker, wrong_length};
use super::writer::{Group, GroupBuilder, LogWriter};
use crate::error::{BinlogError, DecodeError, Result};
use crate::event::{
    ChecksumAlgorithm, EventType, FLAG_BINLOG_IN_USE, FLAGS_OFFSET, GtidEvent, MAGIC, RawEvent, Rotate,
};
use crate::gtid_set::GtidSet;

/// Appends a source's events to a log. Wraps the writer; what it keeps besides is lost with the connection, on purpose:
/// a transaction that was received in part is dropped and asked for again.
pub struct LogReceiver {
    writer: LogWriter,
    tracker: TransactionTracker,
    /// The end of the last whole transaction that was appended.
    whole_end: LogPosition,
    /// GTIDs of whole transactions since the last flush.
    gtids: GtidSet,
    incoming: Option<Incoming>,
    /// The last event was a FORMAT_DESCRIPTION: a file is begun with its PREVIOUS_GTIDS or not at all.
    in_head: bool,
}

/// The transaction that is being received.
struct Incoming {
    gtid: Option<base::Gtid>,
    /// Its bytes, as its GTID event says; 0 if that does not say it.
    said: u64,
    /// Bytes of it that are here.
    received: u64,
}

impl Incoming {
    /// Counts an event; `is_last` ends the transaction.
    fn count(&mut self, bytes: u64, is_last: bool) -> Result<(), DecodeError> {
        self.received += bytes;
        match self.said {
            0 => Ok(()),
            said if self.received > said => Err(wrong_length(said, "before its last event")),
            said if is_last && self.received < said => Err(wrong_length(said, "behind its last event")),
            _ => Ok(()),
        }
    }
}

impl LogReceiver {
    /// Goes on at the end of a log.
    pub fn new(writer: LogWriter) -> Self {
        let whole_end = writer.position();
        LogReceiver {
            writer,
            tracker: TransactionTracker::default(),
            whole_end,
            gtids: GtidSet::new(),
            incoming: None,
            in_head: false,
        }
    }

    /// The shared half.
    pub fn log(&self) -> &Arc<BinaryLog> {
        self.writer.log()
    }

    /// Where the next event goes.
    pub fn position(&self) -> LogPosition {
        self.writer.position()
    }

    /// Behind what was written, and synced.
    pub fn flushed(&self) -> LogPosition {
        LogPosition { offset: self.writer.group.offset, ..self.position() }
    }

    /// Bytes appended and not written.
    pub fn unflushed(&self) -> usize {
        self.writer.group_size()
    }

    /// Moves on to the source's next file. An empty log begins with any; otherwise it must be the next by number.
    #[io::boxed]
    pub async fn start_file(&mut self, name: &str) -> Result<()> {
        let number = self.log().file_number(name).ok_or_else(|| BinlogError::NoSuchFile(name.to_owned()))?;
        let here = self.position();
        if here.file == number {
            return Ok(());
        }
        if here.file != 0 && here.file + 1 != number {
            let reason = format!("the source goes on with {name}, this log is in {}", self.log().file_name(here.file));
            return Err(BinlogError::Malformed(DecodeError::new(reason)));
        }
        self.flush().await?;
        if !self.writer.group.buf.is_empty() {
            let reason =
                format!("the source goes on with {name} inside of a transaction that begins at {}", self.whole_end);
            return Err(BinlogError::Malformed(DecodeError::new(reason)));
        }
        let log = self.log().clone();
        let next = log.take_next().await?;
        self.leave_file().await?;
        let (segment, filled) = match next {
            Some(prepared) => prepared,
            None => log.prepare_first(number).await?,
        };
        log.set_space(filled, 0);
        self.writer.segment = Some(segment);
        self.writer.offset = 0;
        self.writer.group.offset = 0;
        Ok(())
    }

    /// Seals the file that the log has moved on from, before anything is written to the next one.
    async fn leave_file(&mut self) -> Result<()> {
        let Some(segment) = self.writer.segment.take() else { return Ok(()) };
        self.log().keeper.seal(self.log(), segment, self.whole_end.offset).await?;
        self.log().files.lock().end(self.whole_end);
        Ok(())
    }

    /// Appends an event as it came from the source's file: its checksum and its position must be right.
    pub async fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let event = RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32)?;
        event.verify()?;
        self.check_place(&event)?;
        let limit = u64::from(self.log().options.max_event_size);
        if bytes.len() as u64 > limit {
            return Err(BinlogError::TooLarge { what: "an event", size: bytes.len() as u64, limit });
        }
        let reservation = self.log().clone().reserve((bytes.len() + MAGIC.len()) as u64).await?;
        let is_whole = self.tracker.event(&event)?;
        self.count(&event, is_whole)?;
        let size_before = self.writer.group.buf.len();
        self.put(&event)?;
        reservation.spend((self.writer.group.buf.len() - size_before) as u64);
        self.in_head = event.header.event_type == EventType::FORMAT_DESCRIPTION;
        if is_whole && !self.in_head {
            self.whole_end = self.position();
            if let Some(gtid) = self.incoming.take().and_then(|incoming| incoming.gtid) {
                self.gtids.add(gtid);
            }
        }
        Ok(())
    }

    /// Counts an event for the transaction that it begins, or is part of.
    fn count(&mut self, event: &RawEvent<'_>, is_last: bool) -> Result<(), DecodeError> {
        if event.header.event_type.is_gtid() {
            let head = GtidEvent::decode(event.header.event_type, event.body())?;
            // A second one would be taken for a write that went astray, by the next start.
            let is_known = |gtid| self.gtids.contains(gtid) || self.writer.placed_gtids.contains(gtid);
            if let Some(gtid) = head.gtid.filter(|gtid| is_known(*gtid)) {
                return Err(DecodeError(format!("the transaction {gtid} is in the log before")));
            }
            self.incoming = Some(Incoming { gtid: head.gtid, said: head.transaction_length, received: 0 });
        }
        if event.header.event_type == EventType::ROTATE {
            // Opening the log asks where it leads.
            Rotate::decode(event.body())?;
        }
        let bytes = event.bytes.len() as u64;
        self.incoming.as_mut().map_or(Ok(()), |incoming| incoming.count(bytes, is_last))
    }

    fn check_place(&self, event: &RawEvent<'_>) -> Result<()> {
        let here = self.position();
        let is_first = event.header.event_type == EventType::FORMAT_DESCRIPTION;
        if here.file == 0 || is_first != (here.offset == 0) {
            let reason = format!("{:?} at {here}", event.header.event_type);
            return Err(BinlogError::Malformed(DecodeError::new(reason)));
        }
        let start = if is_first { MAGIC.len() as u64 } else { here.offset };
        let end = (start + event.bytes.len() as u64) as u32;
        if event.header.next_position != end {
            let reason = format!(
                "the source's event ends at {}, here it would end at {end} of {}",
                event.header.next_position,
                self.log().file_name(here.file)
            );
            return Err(BinlogError::Malformed(DecodeError::new(reason)));
        }
        Ok(())
    }

    fn put(&mut self, event: &RawEvent<'_>) -> Result<()> {
        let writer = &mut self.writer;
        if event.header.event_type == EventType::FORMAT_DESCRIPTION {
            writer.group.buf.extend_from_slice(&MAGIC);
            let flags_at = writer.group.buf.len() + FLAGS_OFFSET;
            writer.group.buf.extend_from_slice(event.bytes);
            // The copy is in use as the source's file was; the checksum does not count this bit.
            writer.group.buf[flags_at] |= FLAG_BINLOG_IN_USE as u8;
            writer.offset = MAGIC.len() as u64;
            let info = FileInfo::new(event.header.timestamp, GtidSet::new(), GtidSet::new());
            writer.group.new_file = Some(info);
        } else {
            writer.group.buf.extend_from_slice(event.bytes);
        }
        if event.header.event_type == EventType::PREVIOUS_GTIDS
            && let Some(info) = &mut writer.group.new_file
        {
            let previous = GtidSet::decode(event.body())?;
            // A reader of the files before would take a transaction that is missing there for another file's.
            if !writer.placed_gtids.is_subset_of(&previous) {
                let reason = format!("PREVIOUS_GTIDS {previous} behind the transactions {}", writer.placed_gtids);
                return Err(BinlogError::Malformed(DecodeError(reason)));
            }
            info.previous_gtids = previous;
            // What the source has added to its log without a transaction counts here from here on too.
            info.added_gtids = info.previous_gtids.clone();
            info.added_gtids.subtract(&writer.placed_gtids);
            self.gtids.union(&info.added_gtids);
        }
        writer.offset += event.bytes.len() as u64;
        Ok(())
    }

    /// Writes the whole transactions that were appended, syncs them once, and shows them. Of one that is not whole yet nothing is
    /// written as long as it fits into memory: what is written together is whole, or so long that the head of its file has its sum.
    #[io::boxed]
    pub async fn flush(&mut self) -> Result<()> {
        let Some(segment) = self.writer.segment.clone() else { return Ok(()) };
        let Some(mut builder) = self.take_flushable() else { return Ok(()) };
        builder.gtids = std::mem::take(&mut self.gtids);
        let mut group = Group::received(segment, builder, self.whole_end);
        let stored = async {
            group.write(IoMode::Offload, true).await?;
            group.sync(IoMode::Offload).await
        };
        let log = self.log().clone();
        if let Err(error) = stored.await {
            log.fail(&error);
            return Err(error);
        }
        if self.whole_end > log.durable_end() {
            log.make_durable(&group);
        }
        self.writer.placed_gtids.union(group.gtids());
        self.writer.recycle(group);
        Ok(())
    }

    /// What is to be written now, if anything; the rest is the group under construction.
    fn take_flushable(&mut self) -> Option<GroupBuilder> {
        let group = &mut self.writer.group;
        if group.buf.is_empty() || self.in_head {
            return None;
        }
        let here = LogPosition::new(self.writer.segment.as_ref()?.number, self.writer.offset);
        let partial = match self.whole_end.file == here.file {
            true => (here.offset - self.whole_end.offset).min(group.buf.len() as u64) as usize,
            false => group.buf.len(),
        };
        let kept = if partial < self.writer.log.options.max_partial_bytes { partial } else { 0 };
        let whole = group.buf.len() - kept;
        if whole == 0 {
            return None;
        }
        let rest = IoBuf::copy_of(&group.buf[whole..]);
        group.buf.resize(whole);
        let whole = std::mem::take(group);
        (group.buf, group.offset) = (rest, here.offset - kept as u64);
        Some(whole)
    }

    /// Drops a transaction that was received in part: the connection to the source is gone.
    #[io::boxed]
    pub async fn forget_partial(&mut self) -> Result<()> {
        if std::mem::take(&mut self.in_head) {
            // Nothing else is in the group: it was flushed before the file.
            let group = std::mem::take(&mut self.writer.group);
            self.log().space.add(group.buf.len() as u64);
            self.writer.offset = 0;
        }
        self.flush().await?;
        let unwritten = std::mem::take(&mut self.writer.group.buf).len() as u64;
        self.writer.offset -= unwritten;
        self.log().space.add(unwritten);
        let here = self.position();
        self.writer.group.offset = here.offset;
        self.tracker = TransactionTracker::default();
        self.incoming = None;
        if here == self.whole_end || here.offset == 0 {
            return Ok(());
        }
        let Some(segment) = self.writer.segment.clone() else { return Ok(()) };
        // What comes next need not be the same bytes: nothing of these may stay behind them. Zeros, not a cut: the keeper
        // may be filling the same file.
        let lane = Lane { mode: IoMode::Offload, turn: 0 };
        if let Err(error) = segment.erase(lane, self.whole_end.offset, here.offset).await {
            self.log().fail(&error);
            return Err(error);
        }
        self.writer.offset = self.whole_end.offset;
        self.writer.group.offset = self.writer.offset;
        self.log().space.add(here.offset - self.whole_end.offset);
        tracing::debug!("{}: back to {}", segment.name, self.whole_end);
        Ok(())
    }

    /// Gives the writer back, at the end of the last whole transaction.
    #[io::boxed]
    pub async fn into_writer(mut self) -> Result<LogWriter> {
        self.forget_partial().await?;
        Ok(self.writer)
    }

    /// Clean shutdown.
    #[io::boxed]
    pub async fn close(mut self) -> Result<()> {
        self.forget_partial().await?;
        self.writer.close(false).await
    }

    /// Gives the log to a source: seals the copy and begins a file of the source's own.
    #[io::boxed]
    pub async fn into_source(mut self) -> Result<LogWriter> {
        self.forget_partial().await?;
        let log = self.log().clone();
        let here = self.position();
        if here.file > 0 && here.offset == 0 {
            // The source had gone on to this file, and sent nothing of it: its name is free.
            let segment = self.writer.segment.take();
            let filled = log.keeper.state.lock().current.as_ref().map_or(0, |current| current.filled);
            return log.begin_source(segment.map(|segment| (segment, filled))).await;
        }
        let next = log.take_next().await?;
        self.leave_file().await?;
        log.begin_source(next).await
    }
}
