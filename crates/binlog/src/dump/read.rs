//! Going through the events of a log file, whichever server wrote it, and whatever for.
//!
//! What a file is allowed, and a log of ours is not:
//!
//! - A relay log's events say where they end in the source's file. So where an event says that it ends is looked at only where its
//!   checksum is wrong too.
//! - Logs of a few versions before MySQL 5.1 was released have longer headers than 19 bytes, as the FORMAT_DESCRIPTION says. They are
//!   given without what they have more; FORMAT_DESCRIPTION and ROTATE have 19 in any case.
//! - The FORMAT_DESCRIPTION of one server may follow that of another, with another checksum.

use io::{Env, OpenOptions};

use crate::error::{BinlogError, DecodeError, Result};
use crate::event::{
    ChecksumAlgorithm, ENCRYPTED_MAGIC, EventHeader, EventType, FormatDescription, HEADER_LENGTH_OFFSET, HEADER_SIZE,
    MAGIC, RawEvent, StartV3, set_length,
};
use crate::log::{LogOptions, Window};

/// An event of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileEvent<'a> {
    /// Where it begins.
    pub at: u64,
    /// Where it ends.
    pub end: u64,
    /// With a header of 19 bytes.
    pub event: RawEvent<'a>,
}

/// Goes through the events of a file, of which each may say that it is enough. Ends at the end of the file or where a live file is still
/// filled ahead.
///
/// # Errors
/// When the file is none of a log, or cannot be read; [`BinlogError::Truncated`] behind the last whole event of a file that was cut; and
/// what `each` fails with.
pub async fn each_event<E: From<BinlogError>>(
    env: &Env,
    path: &str,
    mut each: impl FnMut(FileEvent<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    let failed = |operation, error| BinlogError::io(operation, path, &error);
    let file = env.disk.open(path, OpenOptions::default()).await.map_err(|error| failed("open", error))?;
    let len = file.len().await.map_err(|error| failed("stat", error))?;
    let mut window = Window::new(file, path, len);
    let magic = window.at(0, MAGIC.len()).await?;
    if magic.starts_with(&ENCRYPTED_MAGIC) {
        return Err(BinlogError::Encrypted(path.to_owned()).into());
    }
    if !magic.starts_with(&MAGIC) {
        return Err(BinlogError::corrupt(path, 0, "this is not a binary log").into());
    }
    let mut frames = Frames::default();
    let mut at = MAGIC.len() as u64;
    while at < window.len {
        let damaged = |reason: DecodeError| BinlogError::corrupt(path, at, reason);
        let truncated = || BinlogError::Truncated { file: path.to_owned(), offset: at };
        let bytes = window.at(at, HEADER_SIZE).await?;
        if bytes.len() < HEADER_SIZE {
            return Err(truncated().into());
        }
        if bytes.iter().take(HEADER_SIZE).all(|&b| b == 0) {
            break;
        }
        let header = check_length(bytes).map_err(damaged)?;
        let bytes = window.at(at, header.event_length as usize).await?;
        if bytes.len() < header.event_length as usize {
            return Err(truncated().into());
        }
        if header.event_type == EventType::START_V3 {
            return Err(too_old(path, bytes).map_err(damaged)?.into());
        }
        let end = at + u64::from(header.event_length);
        let event = frames.take(bytes, end).map_err(damaged)?;
        let event_type = event.header.event_type;
        if !each(FileEvent { at, end, event })? {
            break;
        }
        if event_type == EventType::MARIA_START_ENCRYPTION {
            return Err(BinlogError::Encrypted(path.to_owned()).into());
        }
        at = end;
    }
    Ok(())
}

/// The file of a server before MySQL 5.0, which begins with this event. A header had 13 bytes in format 1.
fn too_old(path: &str, start: &[u8]) -> Result<BinlogError, DecodeError> {
    const FIRST_HEADER_SIZE: usize = 13;
    let is_first = start.len() < HEADER_SIZE + StartV3::BODY_SIZE;
    let body = start.get(if is_first { FIRST_HEADER_SIZE } else { HEADER_SIZE }..).unwrap_or_default();
    let StartV3 { binlog_version, server_version, .. } = StartV3::decode(body)?;
    Ok(BinlogError::TooOld { file: path.to_owned(), version: binlog_version, server: server_version })
}

/// What a header must fulfil before its length is believed.
fn check_length(bytes: &[u8]) -> Result<EventHeader, DecodeError> {
    let header = EventHeader::decode(bytes)?;
    if header.event_length > LogOptions::default().max_event_size {
        return Err(DecodeError::new(format!("event of {} bytes", header.event_length)));
    }
    Ok(header)
}

/// How the events of a file are framed, as its FORMAT_DESCRIPTION says.
struct Frames {
    checksum: ChecksumAlgorithm,
    header_length: usize,
    /// An event with a longer header, without what it has more.
    shortened: Vec<u8>,
}

impl Default for Frames {
    fn default() -> Self {
        Frames { checksum: ChecksumAlgorithm::Crc32, header_length: HEADER_SIZE, shortened: Vec::new() }
    }
}

impl Frames {
    /// Takes the next event, which ends at an offset of the file.
    fn take<'a>(&'a mut self, bytes: &'a [u8], end: u64) -> Result<RawEvent<'a>, DecodeError> {
        let event = RawEvent::first_of(bytes, self.checksum)?;
        let EventHeader { event_type, next_position, .. } = event.header;
        // MariaDB leaves the position out inside of groups.
        if next_position != end as u32 && next_position != 0 && event.verify().is_err() {
            return Err(DecodeError::new(format!("event says that it ends at {next_position}, not {end}")));
        }
        if event_type == EventType::FORMAT_DESCRIPTION {
            return self.take_format(event);
        }
        let more = self.header_length - HEADER_SIZE;
        if more == 0 || event_type == EventType::ROTATE {
            return Ok(event);
        }
        if event.bytes.len() < self.header_length {
            return Err(DecodeError::short("event"));
        }
        self.shortened.clear();
        self.shortened.extend_from_slice(&event.bytes[..HEADER_SIZE]);
        self.shortened.extend_from_slice(&event.bytes[self.header_length..]);
        set_length(&mut self.shortened);
        RawEvent::first_of(&self.shortened, self.checksum)
    }

    fn take_format<'a>(&'a mut self, event: RawEvent<'a>) -> Result<RawEvent<'a>, DecodeError> {
        let length = event.bytes.get(HEADER_LENGTH_OFFSET).copied().unwrap_or(HEADER_SIZE as u8);
        self.header_length = usize::from(length).max(HEADER_SIZE);
        if self.header_length == HEADER_SIZE {
            self.checksum = FormatDescription::decode(&event)?.checksum;
            return Ok(event);
        }
        // It describes what is given.
        self.shortened.clear();
        self.shortened.extend_from_slice(event.bytes);
        self.shortened[HEADER_LENGTH_OFFSET] = HEADER_SIZE as u8;
        let event = RawEvent::first_of(&self.shortened, self.checksum)?;
        self.checksum = FormatDescription::decode(&event)?.checksum;
        if self.checksum == ChecksumAlgorithm::Crc32 {
            return Err(DecodeError::new(format!("checksums behind headers of {length} bytes")));
        }
        Ok(event)
    }
}
