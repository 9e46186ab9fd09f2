//! Reading the log: from a position to the durable end, and on as that moves.
//!
//! A reader takes large pieces of a file at once and hands out slices of them. How long a transaction is, its GTID event says; its events
//! have to agree with that, which their headers tell. Of one that is too large to be in memory, who takes it event by event finds out.

use std::sync::Arc;

use base::{Gtid, LogPosition};
use bytes::Bytes;
use io::{File, IoMode, OpenOptions};

use super::BinaryLog;
use super::batch::{Lent, Spare};
use super::belongs::Belongs;
use super::scan::{Window, check_header, read_head};
use super::tracker::{TransactionTracker, check_said_length};
use crate::error::{BinlogError, DecodeError, Result};
use crate::event::{
    CHECKSUM_SIZE, ChecksumAlgorithm, EventHeader, EventIter, EventType, FormatDescription, GtidEvent, HEADER_SIZE,
    MAGIC, RawEvent,
};

/// How much is read at once when there is so much.
const CHUNK_SIZE: u64 = 512 << 10;

/// A transaction as it is in the log.
#[derive(Clone, Debug)]
pub struct LogTransaction {
    /// Where its first event begins.
    pub start: LogPosition,
    /// Behind its last event.
    pub end: LogPosition,
    /// The head, if the log is MySQL's.
    pub gtid_event: Option<GtidEvent>,
    /// All of its events.
    pub bytes: Bytes,
    /// How they are protected.
    pub checksum: ChecksumAlgorithm,
}

impl LogTransaction {
    /// Its events in order, the GTID event first. Their checksums are not checked again.
    pub fn events(&self) -> EventIter<'_> {
        EventIter::new(&self.bytes, self.checksum).at(self.start.offset)
    }

    /// Its GTID.
    pub fn gtid(&self) -> Option<Gtid> {
        self.gtid_event.as_ref().and_then(|event| event.gtid)
    }
}

/// What comes next in the log.
#[derive(Clone, Debug)]
pub enum Next {
    /// All of it.
    Whole(LogTransaction),
    /// It is too large for that.
    Large(LargeHead),
}

/// A transaction that is too large to be taken as a whole.
#[derive(Clone, Debug)]
pub struct LargeHead {
    /// Where its first event begins.
    pub start: LogPosition,
    /// Behind its last event.
    pub end: LogPosition,
    /// Its first event.
    pub gtid_event: GtidEvent,
}

/// An event as it is in the log.
#[derive(Clone, Debug)]
pub struct LogEvent {
    /// Where it begins.
    pub start: LogPosition,
    /// Behind it.
    pub end: LogPosition,
    /// Its header.
    pub header: EventHeader,
    /// Header, body and checksum.
    pub bytes: Bytes,
    /// How it is protected.
    pub checksum: ChecksumAlgorithm,
}

impl LogEvent {
    /// A part of a transaction, of this event alone.
    pub fn into_piece(self) -> LogTransaction {
        let LogEvent { start, end, bytes, checksum, .. } = self;
        LogTransaction { start, end, gtid_event: None, bytes, checksum }
    }

    /// The event over its bytes.
    pub fn raw(&self) -> RawEvent<'_> {
        RawEvent::first_of(&self.bytes, self.checksum).expect("was taken apart when it was read")
    }
}

/// The file that is being read.
struct OpenFile {
    file: Arc<dyn File>,
    name: String,
    checksum: ChecksumAlgorithm,
    belongs: Belongs,
}

/// Reads on from a position.
pub struct LogReader {
    log: Arc<BinaryLog>,
    at: LogPosition,
    file: Option<OpenFile>,
    /// Bytes from `at` on.
    buf: Bytes,
    verify: bool,
    spare: Arc<Spare>,
}

impl BinaryLog {
    /// A reader from `from` on, which must be the start of an event (offsets below 4 mean the start of the file).
    /// The default position means the start of the first file.
    pub fn reader(self: &Arc<Self>, from: LogPosition) -> LogReader {
        LogReader { log: self.clone(), at: from, file: None, buf: Bytes::new(), verify: true, spare: Arc::default() }
    }

    /// Where the first event of a file begins that begins at a position, or behind it if that is inside of an event; `None` if the file has
    /// none there.
    ///
    /// # Errors
    /// When the file cannot be read up to there.
    pub async fn event_from(self: &Arc<Self>, position: LogPosition) -> Result<Option<LogPosition>> {
        match self.reader(position).next_event().await {
            Ok(Some(event)) => return Ok(Some(event.start).filter(|start| start.file == position.file)),
            Ok(None) | Err(BinlogError::NoSuchPosition { .. }) => return Ok(None),
            // Damage, or no event begins there.
            Err(BinlogError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
        let mut reader = self.reader(LogPosition::new(position.file, 0)).without_verification();
        while let Some(event) = reader.next_event().await?.filter(|event| event.start.file == position.file) {
            if event.start >= position {
                return Ok(Some(event.start));
            }
        }
        Ok(None)
    }
}

impl LogReader {
    /// Leaves the checksums of events inside of transactions to the caller.
    pub fn without_verification(mut self) -> Self {
        self.verify = false;
        self
    }

    /// Where the next event begins.
    pub fn position(&self) -> LogPosition {
        self.at
    }

    /// What of the file is in memory from there on.
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buf
    }

    /// The log that it reads.
    pub fn log(&self) -> &Arc<BinaryLog> {
        &self.log
    }

    /// The next transaction, over the ends of files; `None` at the durable end. Call it again after
    /// [`BinaryLog::wait_past`].
    pub async fn next_transaction(&mut self) -> Result<Option<LogTransaction>> {
        match self.next_up_to(self.log.options.max_transaction_size).await? {
            Some(Next::Whole(transaction)) => Ok(Some(transaction)),
            Some(Next::Large(LargeHead { start, end, .. })) => {
                let (size, limit) = (end.offset - start.offset, self.log.options.max_transaction_size);
                Err(BinlogError::TooLarge { what: "a transaction", size, limit })
            }
            None => Ok(None),
        }
    }

    /// The same; of a transaction of more than `bytes` only the head, and the reader stays in front of it: it is to be taken
    /// event by event ([`LogReader::next_event`]).
    pub async fn next_up_to(&mut self, bytes: u64) -> Result<Option<Next>> {
        match self.go_to_transaction().await? {
            Some((header, limit)) => self.take_transaction(header, limit, bytes).await.map(Some),
            None => Ok(None),
        }
    }

    /// Goes to the next transaction, over the ends of files: its first event, and where the readable part of its file ends.
    pub(super) async fn go_to_transaction(&mut self) -> Result<Option<(EventHeader, u64)>> {
        loop {
            let Some(header) = self.next_header().await? else { return Ok(None) };
            if header.event_type.begins_transaction() || header.event_type == EventType::QUERY {
                return Ok(Some((header, self.limit(self.log.durable_end())?)));
            }
            self.take_event(header).await?;
        }
    }

    /// The next event of any kind, over the ends of files; `None` at the durable end.
    pub async fn next_event(&mut self) -> Result<Option<LogEvent>> {
        match self.next_header().await? {
            Some(header) => self.take_event(header).await.map(Some),
            None => Ok(None),
        }
    }

    /// Reads the next transaction event by event, as the events themselves say where it ends. So this is an error if it is not what was
    /// written, by its checksums and places, whatever else is wrong with it.
    pub async fn check_next(&mut self) -> Result<()> {
        let mut tracker = TransactionTracker::default();
        while let Some(event) = self.next_event().await? {
            let is_between = tracker == TransactionTracker::Outside && event.header.event_type.stands_between();
            if tracker.event(&event.raw()).map_err(|reason| self.damaged_at(event.start, reason))? && !is_between {
                return Ok(());
            }
        }
        Err(self.damaged("the log ends inside of a transaction"))
    }

    /// Waits until there is something to read.
    pub async fn wait(&self) -> Result<LogPosition> {
        self.log.wait_past(self.at).await
    }

    /// Goes to the next file if this one is read to its end; the header of the next event.
    async fn next_header(&mut self) -> Result<Option<EventHeader>> {
        let limit = loop {
            let durable = self.log.durable_end();
            if self.at.file == 0 {
                let first = self.log.files.lock().by_number.keys().next().copied();
                let Some(first) = first.filter(|&first| first <= durable.file) else { return Ok(None) };
                self.at = LogPosition::new(first, 0);
            }
            let limit = self.limit(durable)?;
            if self.at.offset > limit {
                return Err(self.no_such_position("it is past the end"));
            }
            if self.at.offset < limit {
                break limit;
            }
            let next = self.log.files.lock().after(self.at.file).filter(|&next| next <= durable.file);
            let (Some(next), true) = (next, self.at.file < durable.file) else { return Ok(None) };
            self.at = LogPosition::new(next, 0);
            self.file = None;
            self.buf = Bytes::new();
        };
        self.open(limit).await?;
        self.fill(HEADER_SIZE as u64, limit).await?;
        let header =
            check_header(&self.buf, self.at.offset, &self.log.options).map_err(|reason| self.damaged(reason))?;
        if self.at.offset + u64::from(header.event_length) > limit {
            return Err(self.damaged("an event reaches past the end of the log"));
        }
        Ok(Some(header))
    }

    /// Where the readable part of the current file ends.
    fn limit(&self, durable: LogPosition) -> Result<u64> {
        if self.at.file == durable.file {
            return Ok(durable.offset);
        }
        let files = self.log.files.lock();
        let info = files.by_number.get(&self.at.file).filter(|_| self.at.file < durable.file);
        let info = info.ok_or_else(|| BinlogError::NoSuchFile(self.log.file_name(self.at.file)))?;
        Ok(info.end.unwrap_or(0))
    }

    /// Opens the current file, and finds out how its events are protected.
    async fn open(&mut self, limit: u64) -> Result<()> {
        if self.file.is_some() {
            return Ok(());
        }
        let name = self.log.file_name(self.at.file);
        let options = OpenOptions { mode: IoMode::Offload, ..OpenOptions::default() };
        let file =
            self.log.env.disk.open(&name, options).await.map_err(|error| BinlogError::io("open", &name, &error))?;
        let belongs = Belongs::default();
        self.file = Some(OpenFile { file, name, checksum: ChecksumAlgorithm::Crc32, belongs });
        let wanted = std::mem::replace(&mut self.at.offset, MAGIC.len() as u64).max(MAGIC.len() as u64);
        self.buf = Bytes::new();
        self.fill(HEADER_SIZE as u64, limit).await?;
        let header = EventHeader::decode(&self.buf).map_err(|reason| self.damaged(reason))?;
        self.fill(u64::from(header.event_length), limit).await?;
        let format = RawEvent::first_of(&self.buf, ChecksumAlgorithm::Crc32)
            .and_then(|event| event.verify().and_then(|()| FormatDescription::decode(&event)))
            .map_err(|reason| self.damaged(reason))?;
        let belongs = self.read_belongs(limit).await?;
        if let Some(file) = &mut self.file {
            file.checksum = format.checksum;
            file.belongs = belongs;
        }
        if wanted != self.at.offset {
            self.at.offset = wanted;
            self.buf = Bytes::new();
        }
        Ok(())
    }

    /// What the head of the current file says of its transactions, compared with what is known of the file.
    async fn read_belongs(&self, limit: u64) -> Result<Belongs> {
        let open = self.file.as_ref().expect("opened before it is read");
        let mut window = Window::new(open.file.clone(), &open.name, limit);
        let head = read_head(&mut window, &self.log.options).await?;
        let head = head.ok_or_else(|| self.damaged("the file has no valid head"))?;
        let known = self.log.files.lock().by_number.get(&self.at.file).map(|info| info.previous_gtids.clone());
        if known.is_some_and(|known| known != head.previous_gtids) {
            return Err(self.damaged("the file's PREVIOUS_GTIDS are not what was before it: a write went astray"));
        }
        Ok(Belongs::new(head.previous_gtids, head.large_sum))
    }

    /// Whether the file is one large transaction, of which all events have to be seen together.
    pub(super) fn is_large(&self) -> bool {
        self.file.as_ref().is_some_and(|open| open.belongs.is_large())
    }

    pub(super) fn check_gtid(&self, at: LogPosition, gtid: Option<Gtid>) -> Result<()> {
        let (Some(gtid), Some(open)) = (gtid, &self.file) else { return Ok(()) };
        let checked = open.belongs.check_gtid(gtid, at.file, &self.log.files.lock());
        checked.map_err(|reason| self.damaged_at(at, reason))
    }

    /// Makes `buf` hold at least `wanted` bytes from `at` on.
    pub(super) async fn fill(&mut self, wanted: u64, limit: u64) -> Result<()> {
        if self.buf.len() as u64 >= wanted {
            return Ok(());
        }
        if wanted > limit - self.at.offset {
            return Err(self.damaged("an event reaches past the end of the log"));
        }
        let open = self.file.as_ref().expect("opened before it is read");
        let len = CHUNK_SIZE.max(wanted).min(limit - self.at.offset);
        let read = open.file.read_at(self.at.offset, self.spare.take(len as usize)).await;
        let buf = read.map_err(|error| BinlogError::io("read", &open.name, &error))?;
        self.buf = Bytes::from_owner(Lent { buf, spare: self.spare.clone() });
        Ok(())
    }

    async fn take_event(&mut self, header: EventHeader) -> Result<LogEvent> {
        let len = u64::from(header.event_length);
        let checksum = self.checksum();
        let (start, bytes) = self.take(len).await?;
        let event = RawEvent::first_of(&bytes, checksum)
            .and_then(|event| if self.verify { event.verify().map(|()| event) } else { Ok(event) })
            .map_err(|reason| self.damaged_at(start, reason))?;
        if header.event_type.is_gtid() {
            let head = GtidEvent::decode(header.event_type, event.body());
            self.check_gtid(start, head.map_err(|reason| self.damaged_at(start, reason))?.gtid)?;
        }
        let belongs = self.file.as_mut().map_or(Ok(()), |open| open.belongs.event(start.offset, &event));
        belongs.map_err(|reason| self.damaged_at(start, reason))?;
        Ok(LogEvent { start, end: self.at, header, bytes, checksum })
    }

    /// Takes the next `len` bytes.
    pub(super) async fn take(&mut self, len: u64) -> Result<(LogPosition, Bytes)> {
        let limit = self.limit(self.log.durable_end())?;
        self.fill(len, limit).await?;
        let start = self.at;
        self.at.offset += len;
        Ok((start, self.buf.split_to(len as usize)))
    }

    async fn take_transaction(&mut self, header: EventHeader, limit: u64, most: u64) -> Result<Next> {
        self.fill(u64::from(header.event_length), limit).await?;
        let checksum = self.checksum();
        let head = RawEvent::first_of(&self.buf, checksum)
            .and_then(|event| event.verify().map(|()| event))
            .map_err(|reason| self.damaged(reason))?;
        let gtid_event = if header.event_type.is_gtid() {
            let decoded = GtidEvent::decode(header.event_type, head.body());
            Some(decoded.map_err(|reason| self.damaged(reason))?)
        } else {
            None
        };
        let said = gtid_event.as_ref().map_or(0, |event| event.transaction_length);
        let len = if said == 0 { self.walk_to_end(limit).await? } else { said };
        if len > limit - self.at.offset {
            return Err(self.damaged("a transaction reaches past the end of the log"));
        }
        self.check_gtid(self.at, gtid_event.as_ref().and_then(|event| event.gtid))?;
        if let (true, Some(gtid_event)) = (len > most, &gtid_event) {
            let (start, end) = (self.at, LogPosition { offset: self.at.offset + len, ..self.at });
            return Ok(Next::Large(LargeHead { start, end, gtid_event: gtid_event.clone() }));
        }
        self.check_length(len, limit)?;
        self.fill(len, limit).await?;
        if said > 0 {
            check_said_length(&self.buf[..len as usize], checksum).map_err(|reason| self.damaged(reason))?;
        }
        let (start, bytes) = self.take(len).await?;
        let transaction = LogTransaction { start, end: self.at, gtid_event, bytes, checksum };
        self.verify_events(&transaction)?;
        Ok(Next::Whole(transaction))
    }

    fn check_length(&self, len: u64, limit: u64) -> Result<()> {
        let most = self.log.options.max_transaction_size;
        if len > most {
            return Err(BinlogError::TooLarge { what: "a transaction", size: len, limit: most });
        }
        if len > limit - self.at.offset {
            return Err(self.damaged("a transaction reaches past the end of the log"));
        }
        Ok(())
    }

    /// The length of the transaction that begins here, from its events.
    async fn walk_to_end(&mut self, limit: u64) -> Result<u64> {
        let mut tracker = TransactionTracker::default();
        let mut len = 0u64;
        loop {
            self.fill(len + HEADER_SIZE as u64, limit).await?;
            let header = check_header(&self.buf[len as usize..], self.at.offset + len, &self.log.options)
                .map_err(|reason| self.damaged(reason))?;
            let event_len = u64::from(header.event_length);
            self.check_length(len + event_len, limit)?;
            self.fill(len + event_len, limit).await?;
            let event = RawEvent::first_of(&self.buf[len as usize..], self.checksum())
                .map_err(|reason| self.damaged(reason))?;
            len += event_len;
            if tracker.event(&event).map_err(|reason| self.damaged(reason))? {
                return Ok(len);
            }
        }
    }

    fn verify_events(&mut self, transaction: &LogTransaction) -> Result<()> {
        let mut at = transaction.start;
        let is_large = self.is_large();
        for event in transaction.events().take_while(|_| self.verify || is_large) {
            let checked = event.and_then(|event| {
                if self.verify {
                    event.verify()?;
                }
                self.file.as_mut().map_or(Ok(()), |open| open.belongs.event(at.offset, &event))?;
                Ok(event)
            });
            let event = checked.map_err(|reason| self.damaged_at(at, reason))?;
            at.offset += event.bytes.len() as u64;
        }
        Ok(())
    }

    pub(super) fn checksum(&self) -> ChecksumAlgorithm {
        self.file.as_ref().map_or(ChecksumAlgorithm::Crc32, |file| file.checksum)
    }

    fn damaged(&self, reason: impl Into<Reason>) -> BinlogError {
        self.damaged_at(self.at, reason)
    }

    pub(super) fn damaged_at(&self, at: LogPosition, reason: impl Into<Reason>) -> BinlogError {
        BinlogError::corrupt(&self.log.file_name(at.file), at.offset, reason.into().0)
    }

    fn no_such_position(&self, reason: &str) -> BinlogError {
        BinlogError::NoSuchPosition {
            file: self.log.file_name(self.at.file),
            offset: self.at.offset,
            reason: reason.to_owned(),
        }
    }
}

/// Why bytes are damaged: our words, or a decoder's.
pub(super) struct Reason(String);

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Reason(text.to_owned())
    }
}

impl From<DecodeError> for Reason {
    fn from(error: DecodeError) -> Self {
        Reason(error.0)
    }
}

// A transaction is longer than its head, and an event than its frame.
const _: () = assert!(GtidEvent::MAX_SIZE > HEADER_SIZE + CHECKSUM_SIZE);
