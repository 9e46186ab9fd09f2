//! Walking through a log file from its beginning and checking every event: what opening a log is made of.

use std::ops::Range;
use std::sync::Arc;

use base::Gtid;
use io::{File, IoBuf};

use super::belongs::EventSum;
use super::options::LogOptions;
use super::tracker::TransactionTracker;
use crate::error::{BinlogError, DecodeError, Result};
use crate::event::{
    ChecksumAlgorithm, ENCRYPTED_MAGIC, EventHeader, EventType, FormatDescription, GtidEvent, HEADER_SIZE, MAGIC,
    RawEvent, Rotate,
};
use crate::gtid_set::GtidSet;

/// How much is read at once.
const CHUNK_SIZE: u64 = 1 << 20;

/// How a file ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Behind a transaction or its head.
    Open,
    /// With a ROTATE to this file.
    Rotate(String),
    /// With a STOP.
    Stop,
}

/// What a walk found.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The end of the last whole transaction, or event outside of one.
    pub(crate) end: u64,
    /// Where and why the walk could not go on, if that is not the end of the file.
    pub(crate) broken: Option<(u64, String)>,
    /// All GTIDs of whole transactions.
    pub(crate) gtids: GtidSet,
    /// How many whole transactions.
    pub(crate) transactions: u64,
    /// What the last whole event is.
    pub(crate) ending: Ending,
}

/// A window on a file that moves forward.
pub(crate) struct Window {
    pub(crate) file: Arc<dyn File>,
    pub(crate) name: String,
    pub(crate) len: u64,
    buf: IoBuf,
    /// Offset in the file of the first byte of `buf`.
    start: u64,
}

impl Window {
    pub(crate) fn new(file: Arc<dyn File>, name: &str, len: u64) -> Self {
        Window { file, name: name.to_owned(), len, buf: IoBuf::new(), start: 0 }
    }

    /// The bytes of the file from `offset` on: at least `wanted`, unless the file ends before.
    pub(crate) async fn at(&mut self, offset: u64, wanted: usize) -> Result<&[u8]> {
        let wanted_end = (offset + wanted as u64).min(self.len);
        let inside = offset >= self.start && wanted_end <= self.start + self.buf.len() as u64;
        if !inside && offset < self.len {
            let len = CHUNK_SIZE.max(wanted as u64).min(self.len - offset);
            let mut buf = std::mem::take(&mut self.buf);
            buf.resize(len as usize);
            self.buf = self.read(offset, buf).await.map_err(|error| BinlogError::io("read", &self.name, &error))?;
            self.start = offset;
        }
        let from = (offset.saturating_sub(self.start) as usize).min(self.buf.len());
        Ok(&self.buf[from..])
    }

    /// Fills a buffer, or what of it the file has: a server that has gone on to the next file cuts off what it had prepared of this one.
    async fn read(&mut self, offset: u64, buf: IoBuf) -> std::io::Result<IoBuf> {
        let wanted = buf.len() as u64;
        match self.file.read_at(offset, buf).await {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                let len = self.file.len().await?;
                if len >= self.len {
                    return Err(error);
                }
                self.len = len;
                let left = wanted.min(len.saturating_sub(offset));
                self.file.read_at(offset, IoBuf::zeroed(left as usize)).await
            }
            read => read,
        }
    }
}

/// Head of a file: its FORMAT_DESCRIPTION and PREVIOUS_GTIDS.
#[derive(Clone, Debug)]
pub(crate) struct FileHead {
    pub(crate) format: FormatDescription,
    pub(crate) in_use: bool,
    pub(crate) timestamp: u32,
    /// Of the server that wrote it.
    pub(crate) server_id: u32,
    pub(crate) previous_gtids: GtidSet,
    /// Something else than the file's end is behind the head.
    pub(crate) has_transactions: bool,
    /// Of the first transaction, if that is what is behind the head.
    pub(crate) first_gtid: Option<Gtid>,
    /// Of the events of the large transaction that the file is.
    pub(crate) large_sum: Option<EventSum>,
    /// Where the first event behind it is.
    pub(crate) end: u64,
}

/// Reads the head of a file; `None` if there is none that is whole. A file that another server encrypted is an error.
pub(crate) async fn read_head(window: &mut Window, options: &LogOptions) -> Result<Option<FileHead>> {
    if window.at(0, MAGIC.len()).await?.starts_with(&ENCRYPTED_MAGIC) {
        return Err(BinlogError::Encrypted(window.name.clone()));
    }
    let Ok((raw, bytes)) = checked_event(window, MAGIC.len() as u64, options, ChecksumAlgorithm::Crc32).await? else {
        return Ok(None);
    };
    let event = RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).map_err(BinlogError::Malformed)?;
    let Ok(format) = FormatDescription::decode(&event) else { return Ok(None) };
    let mut head = FileHead {
        in_use: raw.flags & crate::event::FLAG_BINLOG_IN_USE != 0,
        timestamp: raw.timestamp,
        server_id: raw.server_id,
        previous_gtids: GtidSet::new(),
        has_transactions: false,
        first_gtid: None,
        large_sum: None,
        end: MAGIC.len() as u64 + bytes.len() as u64,
        format,
    };
    let second = checked_event(window, head.end, options, head.format.checksum).await?;
    if second.as_ref().is_ok_and(|(header, _)| header.event_type == EventType::MARIA_START_ENCRYPTION) {
        return Err(BinlogError::Encrypted(window.name.clone()));
    }
    if let Ok((header, bytes)) = second
        && header.event_type == EventType::PREVIOUS_GTIDS
    {
        let event = RawEvent::first_of(&bytes, head.format.checksum)?;
        head.previous_gtids = GtidSet::decode(event.body())?;
        head.end += bytes.len() as u64;
    }
    head.has_transactions = check_header(window.at(head.end, HEADER_SIZE).await?, head.end, options)
        .is_ok_and(|header| !matches!(header.event_type, EventType::ROTATE | EventType::STOP));
    let third = checked_event(window, head.end, options, head.format.checksum).await?;
    if let Ok((header, bytes)) = third {
        let event = RawEvent::first_of(&bytes, head.format.checksum)?;
        match header.event_type {
            event_type if event_type.is_gtid() => head.first_gtid = GtidEvent::decode(event_type, event.body())?.gtid,
            EventType::IGNORABLE => head.large_sum = EventSum::decode(&event),
            _ => {}
        }
    }
    let starts_well = window.at(0, MAGIC.len()).await?.starts_with(&MAGIC);
    Ok(starts_well.then_some(head))
}

/// A copy of the event at `offset` if it is whole and right.
async fn checked_event(
    window: &mut Window,
    offset: u64,
    options: &LogOptions,
    checksum: ChecksumAlgorithm,
) -> Result<Result<(EventHeader, Vec<u8>), DecodeError>> {
    let len = match check_header(window.at(offset, HEADER_SIZE).await?, offset, options) {
        Ok(header) => header.event_length as usize,
        Err(reason) => return Ok(Err(reason)),
    };
    let bytes = window.at(offset, len).await?;
    Ok(RawEvent::first_of(bytes, checksum)
        .and_then(|event| event.verify().map(|()| (event.header, event.bytes.to_vec()))))
}

/// What a header at `offset` must fulfil before its length is believed.
pub(crate) fn check_header(bytes: &[u8], offset: u64, options: &LogOptions) -> Result<EventHeader, DecodeError> {
    let header = EventHeader::decode(bytes)?;
    if header.event_length > options.max_event_size {
        return Err(DecodeError::new(format!("event of {} bytes", header.event_length)));
    }
    // MariaDB leaves the position out inside of groups.
    let expected = (offset + u64::from(header.event_length)) as u32;
    if header.next_position != expected && header.next_position != 0 {
        return Err(DecodeError::new(format!("event says that it ends at {}, not {expected}", header.next_position)));
    }
    Ok(header)
}

/// Walks from the first event to the end of the file or the first thing that is not a whole event of this file.
pub(crate) async fn scan(window: &mut Window, options: &LogOptions, head: &FileHead) -> Result<Scan> {
    scan_between(window, options, head, 0..u64::MAX).await
}

/// The same from a place between transactions on, and up to the first event that does not begin before another.
pub(crate) async fn scan_between(
    window: &mut Window,
    options: &LogOptions,
    head: &FileHead,
    places: Range<u64>,
) -> Result<Scan> {
    let (checksum, name) = (head.format.checksum, window.name.clone());
    let mut at = places.start.max(MAGIC.len() as u64);
    let mut scan = Scan { end: at, broken: None, gtids: GtidSet::new(), transactions: 0, ending: Ending::Open };
    let mut tracker = TransactionTracker::default();
    let mut gtid = None;
    let mut in_transaction = false;
    while at < window.len.min(places.end) {
        let header = match check_header(window.at(at, HEADER_SIZE).await?, at, options) {
            Ok(header) => header,
            Err(reason) => {
                scan.broken = Some((at, reason.to_string()));
                break;
            }
        };
        let bytes = window.at(at, header.event_length as usize).await?;
        let step = RawEvent::first_of(bytes, checksum).and_then(|event| {
            event.verify()?;
            Ok((tracker.event(&event)?, event))
        });
        let (is_whole, event) = match step {
            Ok(step) => step,
            Err(reason) => {
                scan.broken = Some((at, reason.to_string()));
                break;
            }
        };
        if header.event_type.begins_transaction() {
            in_transaction = true;
            if header.event_type.is_gtid() {
                let head = GtidEvent::decode(header.event_type, event.body());
                gtid = head.map_err(|reason| BinlogError::corrupt(&name, at, reason))?.gtid;
            }
            if let Some(gtid) = gtid.filter(|gtid| head.previous_gtids.contains(*gtid) || scan.gtids.contains(*gtid)) {
                scan.broken = Some((at, format!("the transaction {gtid} is in the log before: a write went astray")));
                break;
            }
        }
        let ending = ending_of(&event).map_err(|reason| BinlogError::corrupt(&name, at, reason));
        at += u64::from(header.event_length);
        if is_whole {
            scan.end = at;
            scan.ending = ending?;
            scan.transactions += u64::from(std::mem::take(&mut in_transaction));
            if let Some(gtid) = gtid.take() {
                scan.gtids.add(gtid);
            }
        }
    }
    if scan.broken.is_none() && scan.end < at {
        scan.broken = Some((at, "the file ends inside of a transaction".to_owned()));
    }
    Ok(scan)
}

fn ending_of(event: &RawEvent<'_>) -> Result<Ending, DecodeError> {
    Ok(match event.header.event_type {
        EventType::ROTATE => Ending::Rotate(Rotate::decode(event.body())?.file),
        EventType::STOP => Ending::Stop,
        _ => Ending::Open,
    })
}

/// Looks for the beginning of a valid transaction at or behind `from`, whatever lies before it.
pub(crate) async fn find_transaction(window: &mut Window, from: u64, options: &LogOptions) -> Result<Option<u64>> {
    let found = find_event(window, from, options, EventType::begins_transaction).await?;
    Ok(found.map(|(at, _)| at))
}

/// The same for any valid event of some types.
pub(crate) async fn find_event(
    window: &mut Window,
    from: u64,
    options: &LogOptions,
    is_wanted: impl Fn(EventType) -> bool,
) -> Result<Option<(u64, EventHeader)>> {
    let mut at = from;
    while at.saturating_add(HEADER_SIZE as u64) < window.len {
        let bytes = window.at(at, HEADER_SIZE).await?;
        // Candidates by their header alone: the type, and a length that fits the position.
        let skip = bytes.windows(HEADER_SIZE).enumerate().find_map(|(i, header)| {
            let is_type = is_wanted(EventType(header[4]));
            let fits = || check_header(header, at + i as u64, options).is_ok_and(|header| header.next_position != 0);
            (is_type && fits()).then_some(i as u64)
        });
        let Some(skip) = skip else {
            at += (bytes.len() - HEADER_SIZE + 1) as u64;
            continue;
        };
        at += skip;
        if let Ok((header, _)) = checked_event(window, at, options, ChecksumAlgorithm::Crc32).await? {
            return Ok(Some((at, header)));
        }
        at += 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use io::OpenOptions;
    use io::sim::SimMachine;

    use super::*;

    /// The file was longer when its length was asked for.
    #[test]
    fn a_file_that_was_cut_meanwhile() {
        let machine = SimMachine::new(1);
        let env = machine.env();
        let read = async {
            let file =
                env.disk.open("log", OpenOptions { create: true, write: true, ..OpenOptions::default() }).await?;
            file.write_at(0, IoBuf::copy_of(b"0123456789")).await?;
            let mut window = Window::new(file.clone(), "log", 5000);
            assert_eq!(window.at(4, 100).await.unwrap(), b"456789");
            assert_eq!(window.len, 10);
            let mut window = Window::new(file, "log", 5000);
            assert_eq!(window.at(10, 19).await.unwrap(), b"");
            std::io::Result::Ok(())
        };
        machine.run(read).unwrap().unwrap();
    }
}
