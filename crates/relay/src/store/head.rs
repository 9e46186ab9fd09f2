//! What a file says of itself in its first two events: how its events are protected, and what the files before it hold.

use std::sync::Arc;

use binlog::event::{ChecksumAlgorithm, ENCRYPTED_MAGIC, HEADER_SIZE, MAGIC};
use binlog::{BinlogError, EventHeader, EventType, FormatDescription, RawEvent};
use io::{File, IoBuf};

use super::{corrupt, io_error};
use crate::gtids::Gtids;

/// Most heads are shorter; a long set of GTIDs costs a second read.
const FIRST_READ: u64 = 16 << 10;

/// The beginning of a file.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// The FORMAT_DESCRIPTION, as it is.
    pub(crate) format: Vec<u8>,
    /// How all events behind it are protected.
    pub(crate) checksum: ChecksumAlgorithm,
    /// Seconds since 1970 when the file was begun.
    pub(crate) began: u32,
    /// What the files before hold.
    pub(crate) gtids: Gtids,
    /// Where the third event begins.
    pub(crate) end: u64,
}

/// Reads the head; `None` if the file ends before its end.
///
/// # Errors
/// When the file cannot be read, or begins with something else.
pub(crate) async fn read(file: &Arc<dyn File>, path: &str, size: u64) -> Result<Option<Head>, BinlogError> {
    let mut wanted = FIRST_READ;
    loop {
        let len = wanted.min(size);
        let read = file.read_at(0, IoBuf::zeroed(len as usize)).await;
        let bytes = read.map_err(|error| io_error("read", path, &error))?;
        match parse(&bytes, path)? {
            Parsed::Head(head) => return Ok(Some(*head)),
            Parsed::Short(needed) if needed > len && needed <= size => wanted = needed,
            Parsed::Short(_) => return Ok(None),
        }
    }
}

enum Parsed {
    Head(Box<Head>),
    /// So many bytes are needed.
    Short(u64),
}

fn parse(bytes: &[u8], path: &str) -> Result<Parsed, BinlogError> {
    let magic = MAGIC.len();
    if bytes.len() < magic {
        return Ok(Parsed::Short(magic as u64));
    }
    if bytes.starts_with(&ENCRYPTED_MAGIC) {
        return Err(BinlogError::Encrypted(path.to_owned()));
    }
    if !bytes.starts_with(&MAGIC) {
        return Err(corrupt(path, 0, "this is not a binary log"));
    }
    let format_end = match end_of(bytes, magic) {
        Ok(end) => end,
        Err(needed) => return Ok(Parsed::Short(needed)),
    };
    let damaged = |at: usize| move |error| corrupt(path, at as u64, error);
    let raw = RawEvent::first_of(&bytes[magic..format_end], ChecksumAlgorithm::Crc32).map_err(damaged(magic))?;
    let format = FormatDescription::decode(&raw).map_err(damaged(magic))?;
    verify(&raw, format.checksum).map_err(damaged(magic))?;
    let end = match end_of(bytes, format_end) {
        Ok(end) => end,
        Err(needed) => return Ok(Parsed::Short(needed)),
    };
    let second = RawEvent::first_of(&bytes[format_end..end], format.checksum).map_err(damaged(format_end))?;
    verify(&second, format.checksum).map_err(damaged(format_end))?;
    if second.header.event_type == EventType::MARIA_START_ENCRYPTION {
        return Err(BinlogError::Encrypted(path.to_owned()));
    }
    let gtids = Gtids::of_head(&second).map_err(damaged(format_end))?;
    let other = || {
        let reason = format!("{:?} where the GTIDs of the files before must be", second.header.event_type);
        corrupt(path, format_end as u64, reason)
    };
    let head = Head {
        format: raw.bytes.to_vec(),
        checksum: format.checksum,
        began: raw.header.timestamp,
        gtids: gtids.ok_or_else(other)?,
        end: end as u64,
    };
    Ok(Parsed::Head(Box::new(head)))
}

/// The end of the event at `at`, or how many bytes are needed to know and have it.
fn end_of(bytes: &[u8], at: usize) -> Result<usize, u64> {
    let header_end = at + HEADER_SIZE;
    let Some(header) = bytes.get(at..header_end) else { return Err(header_end as u64) };
    // A length that is too small is found when the event is read.
    let length = EventHeader::decode(header).map_or(HEADER_SIZE, |header| header.event_length as usize);
    if bytes.len() < at + length { Err((at + length) as u64) } else { Ok(at + length) }
}

/// Whether the checksum is right, where the file has them. A FORMAT_DESCRIPTION has room for one in any case.
pub(crate) fn verify(event: &RawEvent<'_>, algorithm: ChecksumAlgorithm) -> Result<(), binlog::DecodeError> {
    if algorithm == ChecksumAlgorithm::Crc32 { event.verify() } else { Ok(()) }
}
