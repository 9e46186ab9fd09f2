//! The log's one writer: gives transactions their places, in memory, and hands out groups to be written and synced.
//!
//! ```text
//! place, place, place … take_group ─► Group::write, Group::sync ─► BinaryLog::make_durable
//!        place, place … take_group ─►   (in flight at the same time, if the owner wants)  ─► make_durable, in order
//! ```
//! A group lies in one file. When a file has reached `max_binlog_size` the next [`LogWriter::take_group`] ends the group
//! with a ROTATE, and the next group begins the file that the keeper has prepared. If it has not, because the disk is
//! full or the log was faster, the file just goes on growing: a rotation never waits.

use std::collections::VecDeque;
use std::sync::Arc;

use base::{CommitNumber, Gtid, LogPosition, Tag, UnixMicros};
use io::{IoBuf, IoMode};

use super::files::FileInfo;
use super::keeper::KeeperState;
use super::large::LargeFile;
use super::marks::Unsynced;
use super::segment::{Lane, Segment};
use super::space::{Reservation, SLACK};
use super::{BinaryLog, folder, index};
use crate::encoder::{EncodedTransaction, GtidChoice};
use crate::error::Result;
use crate::event::{
    self, CHECKSUM_SIZE, EventType, FLAG_BINLOG_IN_USE, FormatDescription, Frame, GtidEvent, HEADER_SIZE,
    LENGTH_OFFSET, MAGIC, Rotate, encode_previous_gtids,
};
use crate::gtid_set::GtidSet;
use crate::maria_gtid::MariaGtidName;

/// So many buffers of groups are kept for the next ones.
const SPARE_BUFFERS: usize = 4;
/// A buffer that has grown larger than this, in bytes, is not kept.
const SPARE_BUFFER_MAX: usize = 8 << 20;

/// What the commit pipeline knows of a transaction when it gets its place.
#[derive(Clone, Copy, Debug)]
pub struct PlaceStamp {
    /// Its own; one more than the one before.
    pub commit_number: CommitNumber,
    /// Of the newest transaction that it depends on; the log makes it relative to the file.
    pub last_committed: CommitNumber,
    /// Now.
    pub commit_time: UnixMicros,
}

/// A transaction's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its GTID; a local transaction has none.
    pub gtid: Option<Gtid>,
    /// Where its GTID event begins.
    pub start: LogPosition,
    /// Behind its last event.
    pub end: LogPosition,
    /// As in the GTID event.
    pub last_committed: u64,
    /// As in the GTID event.
    pub sequence_number: u64,
}

/// Gives places. There is one.
pub struct LogWriter {
    pub(super) log: Arc<BinaryLog>,
    /// `None` in a follower that has not received anything yet.
    pub(super) segment: Option<Arc<Segment>>,
    /// Where the next event will be.
    pub(super) offset: u64,
    pub(super) group: GroupBuilder,
    /// Groups that are complete and not yet taken, in log order before the one under construction.
    pub(super) closed: VecDeque<Group>,
    /// Groups taken so far.
    groups: usize,
    /// Those of them that may not be durable yet.
    pub(super) unsynced: Unsynced,
    spare: Vec<IoBuf>,
    scratch: Vec<u8>,
    /// The commit number before the first transaction of this file.
    file_base: Option<u64>,
    /// Of this server's own, without a tag.
    next_gno: u64,
    /// Everything placed so far.
    pub(super) placed_gtids: GtidSet,
    server_version: u32,
    pub(super) rotate_now: bool,
    /// What the next file adds to the GTIDs before it.
    pub(super) to_add: GtidSet,
    /// No file was begun since the server started.
    is_fresh: bool,
    /// A STOP is the last event: no ROTATE behind it.
    is_closing: bool,
}

/// The group under construction.
#[derive(Debug, Default)]
pub(super) struct GroupBuilder {
    pub(super) buf: IoBuf,
    pub(super) offset: u64,
    pub(super) gtids: GtidSet,
    /// The newest numbers of one server under one tag or none, from one to the last, not yet in `gtids`.
    run: Option<(Gtid, u64)>,
    pub(super) new_file: Option<FileInfo>,
    /// Where PREVIOUS_GTIDS or else the first transaction begin in `buf`.
    first_at: Option<usize>,
}

impl GroupBuilder {
    fn add_run(&mut self, run: Option<(Gtid, u64)>) {
        if let Some((first, last)) = run {
            self.gtids.add_run(first, last);
        }
    }

    /// The GTIDs so far.
    pub(super) fn take_gtids(&mut self) -> GtidSet {
        let run = self.run.take();
        self.add_run(run);
        std::mem::take(&mut self.gtids)
    }
}

/// Whole transactions on their way to the disk, in one file.
#[derive(Debug)]
pub struct Group {
    content: Content,
    end: LogPosition,
    gtids: GtidSet,
    new_file: Option<FileInfo>,
    ends_file: bool,
}

#[derive(Debug)]
enum Content {
    /// Bytes at a place of the current file.
    Bytes { segment: Arc<Segment>, turn: usize, offset: u64, buf: IoBuf, is_durable: bool },
    /// A file that is there already, but for its ends and its name.
    File(Box<LargeFile>),
}

impl LogWriter {
    pub(super) fn new(log: Arc<BinaryLog>, segment: Option<Arc<Segment>>, offset: u64) -> Self {
        let placed_gtids = log.gtid_executed();
        let next_gno = placed_gtids.last_of(log.options.server_uuid, Tag::NONE) + 1;
        let server_version = log.options.server_version_number();
        LogWriter {
            segment,
            offset,
            group: GroupBuilder { offset, ..GroupBuilder::default() },
            closed: VecDeque::new(),
            groups: 0,
            unsynced: Unsynced::default(),
            spare: Vec::new(),
            scratch: Vec::new(),
            file_base: None,
            next_gno,
            placed_gtids,
            server_version,
            rotate_now: false,
            to_add: GtidSet::new(),
            is_fresh: true,
            is_closing: false,
            log,
        }
    }

    /// The shared half.
    pub fn log(&self) -> &Arc<BinaryLog> {
        &self.log
    }

    /// Where the next transaction will be placed.
    pub fn position(&self) -> LogPosition {
        LogPosition::new(self.segment.as_ref().map_or(0, |segment| segment.number), self.offset)
    }

    /// Bytes that were placed and not yet taken.
    pub fn group_size(&self) -> usize {
        self.closed.iter().map(Group::size).sum::<usize>() + self.group.buf.len()
    }

    /// Gives a transaction its place: appends its events to the group, complete. In memory only, and cannot fail.
    ///
    /// # Panics
    /// If the reservation is smaller than the transaction, or the log has no file (a follower before its first event).
    pub fn place(&mut self, transaction: &EncodedTransaction, stamp: &PlaceStamp, reservation: Reservation) -> Placed {
        let start = self.position();
        assert!(start.file > 0, "a log without a file has no places");
        let base = *self.file_base.get_or_insert(stamp.commit_number.0 - 1);
        let gtid = self.take_gtid(transaction.gtid);
        let (last_committed, sequence_number) =
            (stamp.last_committed.0.saturating_sub(base), stamp.commit_number.0 - base);
        let head = self.gtid_event(transaction, stamp, (gtid, last_committed, sequence_number));
        let others = &transaction.events;
        let timestamp = others.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let frame = Frame { timestamp, server_id: self.server_id_of(transaction), flags: 0 };
        self.scratch.clear();
        head.encode(&mut self.scratch, frame, others.len() as u64);
        let group_at = self.group.buf.len();
        self.group.first_at.get_or_insert(group_at);
        self.group.buf.extend_from_slice(&self.scratch);
        self.group.buf.extend_from_slice(others);
        complete(&mut self.group.buf[group_at..], self.offset, stamp.commit_number);
        let size = (self.group.buf.len() - group_at) as u64;
        self.offset += size;
        reservation.spend(size);
        Placed { gtid, start, end: self.position(), last_committed, sequence_number }
    }

    pub(super) fn server_id_of(&self, transaction: &EncodedTransaction) -> u32 {
        transaction.origin.map_or(self.log.options.server_id.0, |origin| origin.server_id)
    }

    /// The head of a transaction whose GTID, last_committed and sequence_number are known.
    pub(super) fn gtid_event(
        &self,
        transaction: &EncodedTransaction,
        stamp: &PlaceStamp,
        (gtid, last_committed, sequence_number): (Option<Gtid>, u64, u64),
    ) -> GtidEvent {
        let origin = transaction.origin;
        GtidEvent {
            gtid,
            local_to: gtid.is_none().then_some(self.log.options.server_uuid),
            may_have_statements: transaction.is_statement,
            last_committed: last_committed as i64,
            sequence_number: sequence_number as i64,
            immediate_commit_time: stamp.commit_time,
            original_commit_time: origin.and_then(|origin| origin.commit_time).unwrap_or(stamp.commit_time),
            transaction_length: 0,
            immediate_server_version: self.server_version,
            original_server_version: origin.map_or(self.server_version, |origin| origin.server_version),
            commit_group_ticket: None,
        }
    }

    pub(super) fn take_gtid(&mut self, choice: GtidChoice) -> Option<Gtid> {
        let uuid = self.log.options.server_uuid;
        let gtid = match choice {
            GtidChoice::Local => return None,
            GtidChoice::Chosen(gtid) => gtid,
            GtidChoice::Automatic(tag) => Gtid { uuid, tag, gno: self.next_number(tag) },
            GtidChoice::OfDomain(domain_id) => self.next_in_domain(domain_id),
        };
        if gtid.uuid == uuid && gtid.tag.is_none() {
            self.next_gno = self.next_gno.max(gtid.gno + 1);
        }
        // Numbers that follow one another are one interval: the sets need not be touched for each.
        match &mut self.group.run {
            Some((first, last)) if (first.uuid, first.tag) == (gtid.uuid, gtid.tag) && *last + 1 == gtid.gno => {
                *last = gtid.gno;
            }
            run => {
                let before = run.replace((gtid, gtid.gno));
                self.group.add_run(before);
            }
        }
        Some(gtid)
    }

    /// The number behind all of this server's own under a tag, or none. Under tags, of which there may be many, nothing is kept but
    /// what is placed.
    fn next_number(&self, tag: Tag) -> u64 {
        let uuid = self.log.options.server_uuid;
        let chosen = self.log.chosen_number(uuid, tag);
        if tag.is_none() {
            return self.next_gno.max(chosen + 1);
        }
        let in_run = match &self.group.run {
            Some((first, last)) if (first.uuid, first.tag) == (uuid, tag) => *last,
            _ => 0,
        };
        let placed = self.placed_gtids.last_of(uuid, tag).max(self.group.gtids.last_of(uuid, tag));
        placed.max(in_run).max(chosen) + 1
    }

    /// The GTID behind all of a domain, whichever server they were born on.
    fn next_in_domain(&self, domain_id: u32) -> Gtid {
        let own = MariaGtidName { domain_id, server_id: self.log.options.server_id.0, seq_no: 0 };
        let last_of_run = self.group.run.and_then(|(first, last)| MariaGtidName::of(Gtid { gno: last, ..first }));
        let in_run = last_of_run.filter(|name| name.domain_id == domain_id).map_or(0, |name| name.seq_no);
        let placed = MariaGtidName::last_of(&self.placed_gtids, domain_id);
        let grouped = MariaGtidName::last_of(&self.group.gtids, domain_id);
        let chosen = self.log.chosen_number(own.uuid(), Tag::NONE);
        MariaGtidName { seq_no: placed.max(grouped).max(in_run).max(chosen) + 1, ..own }.gtid()
    }

    /// Takes the group under construction; `None` if nothing is in it. Call it until then: behind a group that ends its
    /// file comes one with the head of the next file.
    pub fn take_group(&mut self) -> Option<Group> {
        if let Some(group) = self.closed.pop_front() {
            return Some(group);
        }
        let segment = self.segment.clone()?;
        let is_full = self.offset >= self.log.max_file_bytes() && !self.group.buf.is_empty();
        let is_due = (self.rotate_now || is_full) && !self.is_closing;
        let next = if is_due { self.next_segment() } else { None };
        if let Some((next, _)) = &next {
            self.rotate_now = false;
            self.append_rotate(&next.name);
        }
        if self.group.buf.is_empty() {
            return None;
        }
        let group = self.close_group(segment, next.is_some());
        self.placed_gtids.union(group.gtids());
        if let Some((next, _)) = next {
            self.begin_file(next);
        }
        Some(group)
    }

    /// Ends the group under construction, and begins the next in the same file.
    pub(super) fn close_group(&mut self, segment: Arc<Segment>, ends_file: bool) -> Group {
        let gtids = self.group.take_gtids();
        let mut builder = std::mem::take(&mut self.group);
        self.groups += 1;
        self.group.buf = self.spare.pop().unwrap_or_default();
        self.group.offset = self.offset;
        if let Some(at) = builder.first_at {
            let durable_end = self.log.durable_end();
            self.unsynced.mark(&mut builder.buf[at..], builder.offset + at as u64, durable_end);
        }
        let end = LogPosition::new(segment.number, self.offset);
        self.unsynced.push(end);
        Group {
            end,
            content: Content::Bytes {
                turn: self.groups,
                segment,
                offset: builder.offset,
                buf: builder.buf,
                is_durable: false,
            },
            gtids,
            new_file: builder.new_file,
            ends_file,
        }
    }

    /// Takes back a group's memory.
    pub fn recycle(&mut self, group: Group) {
        let Content::Bytes { mut buf, .. } = group.content else { return };
        if self.spare.len() < SPARE_BUFFERS && buf.len() <= SPARE_BUFFER_MAX {
            buf.clear();
            self.spare.push(buf);
        }
    }

    /// `FLUSH BINARY LOGS`: the next group that is taken ends the file. Waits until the next file is prepared.
    #[io::boxed]
    pub async fn rotate(&mut self) -> Result<()> {
        self.log.keeper.wait_for_next(&self.log).await?;
        self.rotate_now = true;
        Ok(())
    }

    /// Takes back a wish to rotate that could not be fulfilled.
    pub(super) fn stay(&mut self) {
        self.rotate_now = false;
        self.to_add = GtidSet::new();
    }

    /// The prepared file, if the log can move on to it: it must have room for all that is reserved.
    fn next_segment(&mut self) -> Option<(Arc<Segment>, u64)> {
        let mut state = self.log.keeper.state.lock();
        if self.has_next(&state) { state.move_on() } else { None }
    }

    /// Whether the log can move on to the prepared file; the room is that file's then.
    pub(super) fn has_next(&self, state: &KeeperState) -> bool {
        let (Some(current), Some(next)) = (&state.current, &state.next) else { return false };
        let filled_now = current.filled as i64 - self.offset as i64;
        let filled_next = next.filled as i64 - self.head_size() as i64;
        self.log.space.try_switch(filled_next - filled_now)
    }

    pub(super) fn append_rotate(&mut self, next_name: &str) {
        let rotate = Rotate { position: MAGIC.len() as u64, file: next_name.to_owned() };
        let frame = self.frame(0);
        self.append_own(|out| rotate.encode(out, frame));
    }

    /// Appends an event of the log's own.
    fn append_own(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        self.scratch.clear();
        encode(&mut self.scratch);
        event::finish_at(&mut self.scratch, self.offset);
        self.group.buf.extend_from_slice(&self.scratch);
        self.offset += self.scratch.len() as u64;
    }

    pub(super) fn frame(&self, flags: u16) -> Frame {
        let timestamp = (self.log.env.clock.now().0 / 1_000_000) as u32;
        Frame { timestamp, server_id: self.log.options.server_id.0, flags }
    }

    /// The most that the head of the next file takes.
    pub(super) fn head_size(&self) -> u64 {
        let mut gtids = Vec::new();
        self.placed_gtids.encode(&mut gtids);
        self.to_add.encode(&mut gtids);
        (MAGIC.len() + 256 + HEADER_SIZE + gtids.len() + CHECKSUM_SIZE) as u64
    }

    /// Moves on to a file: its head is the beginning of the next group.
    pub(super) fn begin_file(&mut self, segment: Arc<Segment>) {
        let frame = self.frame(FLAG_BINLOG_IN_USE);
        self.segment = Some(segment);
        self.offset = MAGIC.len() as u64;
        self.file_base = None;
        self.group.offset = 0;
        self.group.buf.extend_from_slice(&MAGIC);
        let added_gtids = std::mem::take(&mut self.to_add);
        self.placed_gtids.union(&added_gtids);
        self.group.gtids.union(&added_gtids);
        self.next_gno = self.next_gno.max(self.placed_gtids.last_of(self.log.options.server_uuid, Tag::NONE) + 1);
        self.group.new_file = Some(FileInfo::new(frame.timestamp, self.placed_gtids.clone(), added_gtids));
        // As in MySQL, the first file after a start says when that was: its readers forget temporary tables.
        let created = if std::mem::take(&mut self.is_fresh) { frame.timestamp } else { 0 };
        let format = FormatDescription::new(&self.log.options.server_version, created);
        self.append_own(|out| format.encode(out, frame));
        let previous = std::mem::take(&mut self.placed_gtids);
        self.group.first_at = Some(self.group.buf.len());
        self.append_own(|out| encode_previous_gtids(out, Frame { flags: 0, ..frame }, &previous));
        self.placed_gtids = previous;
    }

    /// Writes and syncs all that is placed: for the log's owners that have no pipeline.
    pub async fn flush(&mut self, mode: IoMode) -> Result<()> {
        while let Some(mut group) = self.take_group() {
            let stored = async {
                group.write(mode, true).await?;
                group.sync(mode).await
            };
            if let Err(error) = stored.await {
                self.log.fail(&error);
                return Err(error);
            }
            self.log.make_durable(&group);
            self.recycle(group);
        }
        Ok(())
    }

    /// Clean shutdown: a source's log ends with STOP and is sealed, a follower's is cut at its end.
    #[io::boxed]
    pub async fn close(mut self, is_source: bool) -> Result<()> {
        self.flush(IoMode::Offload).await?;
        if self.log.failed.get().is_none()
            && let Some(segment) = self.segment.clone()
        {
            if is_source {
                let frame = self.frame(0);
                self.append_own(|out| event::put_event(out, EventType::STOP, frame, |_| {}));
                self.is_closing = true;
                self.flush(IoMode::Offload).await?;
            }
            self.log.stop_background().await?;
            // A follower may have begun a file of which nothing came.
            let durable = self.log.durable_end();
            let end = if durable.file == segment.number { durable.offset } else { 0 };
            if is_source {
                segment.seal(end).await?
            } else {
                segment.cut(end).await?
            }
            let has_marker = self.log.keeper.state.lock().marker.made;
            if has_marker {
                self.log.remove_marker().await?;
            }
        } else {
            self.log.stop_background().await?;
        }
        self.log.closed.store(true, std::sync::atomic::Ordering::SeqCst);
        self.log.durable_event.notify(usize::MAX);
        Ok(())
    }
}

impl BinaryLog {
    /// Stops the keeper, removes the file that it has prepared, and writes the index a last time.
    async fn stop_background(&self) -> Result<()> {
        self.keeper.stop().await;
        let next = self.keeper.state.lock().next.take();
        if let Some(next) = next {
            let name = next.segment.name.clone();
            drop(next);
            folder::remove(&self.env, &name).await?;
        }
        let numbers = self.files.lock().numbers();
        index::write(&self.env, &self.options.basename, &numbers).await
    }

    /// What is free in a file that is filled up to `filled` and written up to `offset`.
    pub(super) fn set_space(&self, filled: u64, offset: u64) {
        self.space.set(filled as i64 - offset as i64 - SLACK as i64);
    }
}

/// Fills in what depends on the place: positions, the number of the XID, checksums.
pub(super) fn complete(events: &mut [u8], mut offset: u64, commit_number: CommitNumber) {
    let mut at = 0;
    while at < events.len() {
        let length = &events[at + LENGTH_OFFSET..at + LENGTH_OFFSET + 4];
        let len = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let event = &mut events[at..at + len];
        if event[4] == EventType::XID.0 {
            event[HEADER_SIZE..HEADER_SIZE + 8].copy_from_slice(&commit_number.0.to_le_bytes());
        }
        event::finish_at(event, offset);
        at += len;
        offset += len as u64;
    }
}

impl Group {
    /// Where it ends.
    pub fn end(&self) -> LogPosition {
        self.end
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        match &self.content {
            Content::Bytes { buf, .. } => buf.len(),
            Content::File(file) => file.size(),
        }
    }

    /// It ends its file: it must be synced whatever `sync_binlog` says, so that files become durable one by one.
    pub fn ends_file(&self) -> bool {
        self.ends_file
    }

    /// Its GTIDs.
    pub fn gtids(&self) -> &GtidSet {
        &self.gtids
    }

    pub(super) fn new_file(&self) -> Option<&FileInfo> {
        self.new_file.as_ref()
    }

    /// The file that has to be sealed when the group is durable.
    pub(super) fn to_seal(&self) -> Option<&Arc<Segment>> {
        match &self.content {
            Content::Bytes { segment, .. } if self.ends_file => Some(segment),
            // A file of a large transaction is never marked as in use.
            _ => None,
        }
    }

    pub(super) fn received(segment: Arc<Segment>, builder: GroupBuilder, end: LogPosition) -> Self {
        let GroupBuilder { buf, offset, gtids, new_file, .. } = builder;
        let content = Content::Bytes { segment, turn: 0, offset, buf, is_durable: false };
        Group { content, end, gtids, new_file, ends_file: false }
    }

    /// A transaction that is a file.
    pub(super) fn large(file: LargeFile, end: LogPosition, gtids: GtidSet, new_file: FileInfo) -> Self {
        Group { content: Content::File(Box::new(file)), end, gtids, new_file: Some(new_file), ends_file: true }
    }

    /// Writes it in place. With `durable`, and `O_DSYNC` by setting, it is durable then, and [`Group::sync`] does nothing;
    /// only for a group with nothing unsynced before it in its file.
    pub async fn write(&mut self, mode: IoMode, durable: bool) -> Result<()> {
        if let Content::Bytes { segment, turn, offset, buf, is_durable } = &mut self.content {
            let bytes = std::mem::take(buf);
            (*buf, *is_durable) = segment.write(Lane { mode, turn: *turn }, *offset, bytes, durable).await?;
        }
        Ok(())
    }

    /// Makes it, and everything before it in its file, durable. A failure is final: [`BinaryLog::fail`].
    pub async fn sync(&self, mode: IoMode) -> Result<()> {
        match &self.content {
            Content::Bytes { is_durable: true, .. } => Ok(()),
            Content::Bytes { segment, turn, .. } => segment.sync(Lane { mode, turn: *turn }).await,
            Content::File(file) => file.adopt().await,
        }
    }
}
