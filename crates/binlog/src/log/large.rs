//! A large transaction is a file of the log: its events are written beside the log while it runs, complete with positions and
//! checksums, and the file gets its name when the transaction has its place. So a commit writes and syncs little, however
//! much the transaction has written, and others wait no longer than for any change of files.
//!
//! ```text
//! binlog.transaction-7   | zeros: room for the head | BEGIN, TABLE_MAP, rows, … XID | zeros: room for a ROTATE |
//! binlog.000012          | magic, FORMAT_DESCRIPTION, PREVIOUS_GTIDS, IGNORABLE, GTID | BEGIN, … XID | ROTATE  |
//! ```
//! The IGNORABLE event is padding, for how long the head will be is known only at the end; and it has the sum of the events
//! ([`super::belongs`]). The steps:
//!
//! 1. While it runs: events are written at the end, taken back by moving the end. [`LargeEvents::finish`] syncs all of it.
//! 2. Its place ([`LogWriter::place_large`], in memory): the file before it ends with a ROTATE to it; it ends with a ROTATE to
//!    the file that the keeper has prepared, which takes the next number for that.
//! 3. When the group before is durable: head and tail are written and synced, the prepared file gets its new name, then this
//!    one its own, and the directory is synced. It is durable then, and was never marked as in use.
//!
//! | a crash | leaves | opening the log |
//! |---|---|---|
//! | before 3 | `binlog.transaction-7`; perhaps a ROTATE to a file that was never begun | removes it |
//! | between the two names | a prepared file behind a gap | removes both |
//! | after 3 | a whole file of the log | does not read it again: it was synced before it got its name |

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{CommitNumber, LogPosition};
use io::{File, IoBuf, OpenOptions, WriteBehind};
use parking_lot::Mutex;

use super::belongs::{EventSum, SUM_SIZE};
use super::files::FileInfo;
use super::index::file_name;
use super::options::LogOptions;
use super::scan::{Ending, FileHead, Scan, Window, check_header};
use super::segment::Segment;
use super::space::SLACK;
use super::writer::{Group, LogWriter, PlaceStamp, Placed, complete};
use super::{BinaryLog, folder};
use crate::encoder::EncodedTransaction;
use crate::error::{BinlogError, Result};
use crate::event::{
    self, CHECKSUM_SIZE, ChecksumAlgorithm, EventIter, EventType, FLAG_IGNORABLE, FormatDescription, Frame, GtidEvent,
    HEADER_SIZE, MAGIC, RawEvent, Rotate, encode_previous_gtids,
};
use crate::gtid_set::GtidSet;

/// Room in the head for what may come into PREVIOUS_GTIDS while the transaction runs, bytes: thousands of intervals.
const HEAD_SLACK: u64 = 64 << 10;
/// The head's room is a multiple of this.
const HEAD_BLOCK: u64 = 4096;
/// Length of an XID event.
const XID_SIZE: u64 = (HEADER_SIZE + 8 + CHECKSUM_SIZE) as u64;

static NEXT_NAME: AtomicU64 = AtomicU64::new(1);

/// The events of a transaction in a file beside the log. Dropped before it is part of the log, the file is removed.
pub struct LargeEvents {
    log: Arc<BinaryLog>,
    file: Arc<dyn File>,
    /// None once it is a file of the log.
    name: Mutex<Option<String>>,
    /// Where the first event behind the GTID event is.
    events_at: u64,
    end: u64,
    /// Of the events that were appended together: where they end, and the sum of all up to there.
    sums: Vec<(u64, EventSum)>,
    behind: WriteBehind,
    /// Of its first event.
    timestamp: u32,
}

impl std::fmt::Debug for LargeEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LargeEvents({} bytes)", self.size())
    }
}

impl BinaryLog {
    /// A file beside the log for the events of a large transaction.
    pub async fn begin_large(self: &Arc<Self>) -> Result<LargeEvents> {
        let mut gtids = Vec::new();
        self.gtid_executed().encode(&mut gtids);
        let fixed = (MAGIC.len() + 256 + HEADER_SIZE + gtids.len() + CHECKSUM_SIZE + GtidEvent::MAX_SIZE) as u64;
        let events_at = (fixed + HEAD_SLACK).next_multiple_of(HEAD_BLOCK);
        self.check()?;
        self.check_disk(events_at).await?;
        let name = format!("{}{}", prefix(&self.options), NEXT_NAME.fetch_add(1, Ordering::Relaxed));
        let how = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = self.env.disk.open(&name, how).await.map_err(|error| BinlogError::io("open", &name, &error))?;
        let events = LargeEvents {
            log: self.clone(),
            file,
            name: Mutex::new(Some(name)),
            events_at,
            end: events_at,
            sums: Vec::new(),
            behind: WriteBehind::default(),
            timestamp: 0,
        };
        events.write(0, IoBuf::zeroed(events_at as usize)).await?;
        Ok(events)
    }
}

impl LargeEvents {
    /// Where the next event will be.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Bytes of events.
    pub fn size(&self) -> u64 {
        self.end - self.events_at
    }

    /// Writes whole events, as an encoder makes them, behind those that are there.
    pub async fn append(&mut self, mut events: Vec<u8>) -> Result<()> {
        if self.end == self.events_at {
            self.timestamp = events.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        }
        self.log.check_disk(events.len() as u64 + SLACK).await?;
        complete(&mut events, self.end, CommitNumber(0));
        self.write(self.end, IoBuf::copy_of(&events)).await?;
        let (mut sum, mut at) = (self.sum(), self.end);
        for event in EventIter::new(&events, ChecksumAlgorithm::Crc32) {
            let event = event?;
            if event.header.event_type != EventType::XID {
                sum.add(at, &event);
            }
            at += event.bytes.len() as u64;
        }
        self.end = at;
        self.sums.push((at, sum));
        let written = self.behind.grown(&*self.file, at).await;
        written.map_err(|error| BinlogError::io("write", &self.text(), &error))
    }

    /// Takes back what was written from an earlier [`LargeEvents::end`] on.
    pub fn rewind(&mut self, end: u64) {
        self.end = end;
        self.behind.cut(end);
        while self.sums.pop_if(|(at, _)| *at > end).is_some() {}
    }

    fn sum(&self) -> EventSum {
        self.sums.last().map_or(EventSum::default(), |(_, sum)| *sum)
    }

    /// Ends the transaction with its XID, and syncs everything: what is left is to be done in little time.
    pub async fn finish(&mut self, xid: Vec<u8>) -> Result<()> {
        assert_eq!(xid.len() as u64, XID_SIZE, "a transaction of rows ends with an XID");
        self.append(xid).await?;
        // What was taken back must not stay behind the end, and there must be room for a ROTATE.
        self.set_len(self.end).await?;
        self.write(self.end, IoBuf::zeroed(SLACK as usize)).await?;
        self.sync().await
    }

    fn text(&self) -> String {
        self.name.lock().clone().unwrap_or_default()
    }

    async fn write(&self, offset: u64, bytes: IoBuf) -> Result<()> {
        let written = self.file.write_at(offset, bytes).await;
        written.map(drop).map_err(|error| BinlogError::io("write", &self.text(), &error))
    }

    async fn set_len(&self, len: u64) -> Result<()> {
        self.file.set_len(len).await.map_err(|error| BinlogError::io("truncate", &self.text(), &error))
    }

    async fn sync(&self) -> Result<()> {
        self.file.sync().await.map_err(|error| BinlogError::io("sync", &self.text(), &error))
    }
}

impl Drop for LargeEvents {
    fn drop(&mut self) {
        if let Some(name) = self.name.lock().take() {
            self.log.env.remove_later(name);
        }
    }
}

/// What becomes of a file of events when it is the log's: the content of a group.
#[derive(Debug)]
pub(super) struct LargeFile {
    events: Arc<LargeEvents>,
    head: Vec<u8>,
    /// XID and ROTATE.
    tail: Vec<u8>,
    tail_at: u64,
    name: String,
    /// The prepared file gives its name away: from, to.
    moves: (String, String),
}

impl LargeFile {
    /// Size of the file.
    pub(super) fn size(&self) -> usize {
        self.tail_at as usize + self.tail.len()
    }

    /// Makes it a durable file of the log.
    pub(super) async fn adopt(&self) -> Result<()> {
        let events = &self.events;
        events.write(0, IoBuf::copy_of(&self.head)).await?;
        events.write(self.tail_at, IoBuf::copy_of(&self.tail)).await?;
        events.set_len(self.size() as u64).await?;
        events.sync().await?;
        let disk = &events.log.env.disk;
        let rename = async |from: &str, to: &str| {
            disk.rename(from, to).await.map_err(|error| BinlogError::io("rename", from, &error))
        };
        rename(&self.moves.0, &self.moves.1).await?;
        let temporary = events.name.lock().take();
        rename(&temporary.unwrap_or_default(), &self.name).await?;
        folder::sync(&events.log.env).await
    }
}

/// What came of an attempt to place a large transaction.
#[derive(Debug)]
pub enum LargePlace {
    /// It has its place.
    Placed(Placed),
    /// The next file is not prepared, or has too little room for what others have reserved: to be tried again.
    NotYet,
    /// Its head has become too long, by the GTIDs that have come since it began. Nothing has happened.
    NoRoom,
}

impl LogWriter {
    /// Gives a large transaction its place: a file of its own. In memory only. The groups that [`LogWriter::take_group`] hands
    /// out next are what was placed before it, and the transaction.
    pub fn place_large(&mut self, transaction: &EncodedTransaction, stamp: &PlaceStamp) -> LargePlace {
        let (Some(events), Some(segment)) = (transaction.large.clone(), self.segment.clone()) else {
            return LargePlace::NotYet;
        };
        let (number, next_number) = (segment.number + 1, segment.number + 2);
        if self.head_size() + (GtidEvent::MAX_SIZE + HEADER_SIZE + SUM_SIZE + CHECKSUM_SIZE) as u64 > events.events_at {
            return LargePlace::NoRoom;
        }
        let Some((prepared, renumbered)) = self.next_segment_as(next_number) else { return LargePlace::NotYet };
        self.rotate_now = false;
        self.append_rotate(&file_name(&self.log.options.basename, number));
        let before = self.close_group(segment, true);
        self.placed_gtids.union(before.gtids());
        let gtid = self.take_gtid(transaction.gtid);
        let gtids = self.group.take_gtids();
        let (head, gtid_at) = self.large_head(transaction, &events, stamp, gtid);
        let tail_at = events.end - XID_SIZE;
        let tail = self.large_tail(&events, tail_at, stamp.commit_number, &renumbered.name);
        let name = file_name(&self.log.options.basename, number);
        let end = LogPosition::new(number, tail_at + tail.len() as u64);
        self.unsynced.push(end);
        let placed = Placed {
            gtid,
            start: LogPosition::new(number, gtid_at),
            end: LogPosition::new(number, events.end),
            last_committed: 0,
            sequence_number: 1,
        };
        let new_file = FileInfo::new(self.frame(0).timestamp, self.placed_gtids.clone(), GtidSet::new());
        self.placed_gtids.union(&gtids);
        let moves = (prepared.name.clone(), renumbered.name.clone());
        let file = LargeFile { events, head, tail, tail_at, name, moves };
        let own = Group::large(file, end, gtids, new_file);
        self.closed.extend([before, own]);
        self.begin_file(renumbered);
        LargePlace::Placed(placed)
    }

    /// The prepared file under another number, if the log can move on to it; as it was, and as it is from now on.
    fn next_segment_as(&mut self, number: u64) -> Option<(Arc<Segment>, Arc<Segment>)> {
        let mut state = self.log.keeper.state.lock();
        if !self.has_next(&state) {
            return None;
        }
        let renumbered = Arc::new(state.next.as_ref()?.segment.renumbered(&self.log.options, number));
        let (prepared, _) = state.move_on_as(renumbered.clone())?;
        Some((prepared, renumbered))
    }

    /// Everything before the first event behind the GTID event; and where that one is.
    fn large_head(
        &self,
        transaction: &EncodedTransaction,
        events: &LargeEvents,
        stamp: &PlaceStamp,
        gtid: Option<base::Gtid>,
    ) -> (Vec<u8>, u64) {
        let frame = self.frame(0);
        let mut head = MAGIC.to_vec();
        let mut append = |encode: &dyn Fn(&mut Vec<u8>)| {
            let start = head.len();
            encode(&mut head);
            event::finish_at(&mut head[start..], start as u64);
        };
        let format = FormatDescription::new(&self.log.options.server_version, 0);
        append(&|out| format.encode(out, frame));
        append(&|out| encode_previous_gtids(out, frame, &self.placed_gtids));
        let mut gtid_event = Vec::new();
        // Nobody has a place in this file before it, and whoever is before it is in another file.
        let numbers = (gtid, 0, 1);
        let own_frame = Frame { timestamp: events.timestamp, server_id: self.server_id_of(transaction), ..frame };
        self.gtid_event(transaction, stamp, numbers).encode(&mut gtid_event, own_frame, events.size());
        let gtid_at = events.events_at as usize - gtid_event.len();
        let padding = Frame { flags: FLAG_IGNORABLE, ..frame };
        append(&|out| {
            let body = gtid_at - out.len() - HEADER_SIZE - CHECKSUM_SIZE;
            event::put_event(out, EventType::IGNORABLE, padding, |out| {
                let at = out.len();
                out.resize(at + body, 0);
                events.sum().encode(&mut out[at..]);
            });
        });
        append(&|out| out.extend_from_slice(&gtid_event));
        (head, gtid_at as u64)
    }

    fn large_tail(&self, events: &LargeEvents, tail_at: u64, number: CommitNumber, next: &str) -> Vec<u8> {
        let mut tail = Vec::new();
        let frame = Frame { timestamp: events.timestamp, ..self.frame(0) };
        event::put_event(&mut tail, EventType::XID, frame, |out| out.extend_from_slice(&[0; 8]));
        let rotate = Rotate { position: MAGIC.len() as u64, file: next.to_owned() };
        rotate.encode(&mut tail, self.frame(0));
        complete(&mut tail, tail_at, number);
        tail
    }
}

pub(super) fn prefix(options: &LogOptions) -> String {
    format!("{}.transaction-", options.basename)
}

/// The events of a file that is one large transaction, behind its head and without those inside of the transaction.
#[derive(Clone, Copy)]
enum Expected {
    Padding,
    Gtid,
    Rotate,
}

impl Expected {
    fn is(self, event_type: EventType) -> bool {
        match self {
            Expected::Padding => event_type == EventType::IGNORABLE,
            Expected::Gtid => event_type.is_gtid(),
            Expected::Rotate => event_type == EventType::ROTATE,
        }
    }
}

/// The content of a sealed file that is one large transaction, without reading its rows: it was synced before it got its name.
/// `None` if it is no such file.
pub(super) async fn read_large(window: &mut Window, head: &FileHead, options: &LogOptions) -> Result<Option<Scan>> {
    let mut at = head.end;
    let mut gtids = GtidSet::new();
    for expected in [Expected::Padding, Expected::Gtid, Expected::Rotate] {
        let Ok(header) = check_header(window.at(at, HEADER_SIZE).await?, at, options) else { return Ok(None) };
        if !expected.is(header.event_type) {
            return Ok(None);
        }
        let bytes = window.at(at, header.event_length as usize).await?;
        let event = RawEvent::first_of(bytes, head.format.checksum);
        let Ok(event) = event.and_then(|event| event.verify().map(|()| event)) else { return Ok(None) };
        match expected {
            Expected::Gtid => {
                let own = GtidEvent::decode(header.event_type, event.body())?;
                if let Some(gtid) = own.gtid {
                    gtids.add(gtid);
                }
                at += own.transaction_length;
            }
            Expected::Rotate => {
                let end = at + u64::from(header.event_length);
                let ending = Ending::Rotate(Rotate::decode(event.body())?.file);
                let scan = Scan { end, broken: None, gtids, transactions: 1, ending };
                return Ok((end == window.len).then_some(scan));
            }
            Expected::Padding => at += u64::from(header.event_length),
        }
    }
    Ok(None)
}
