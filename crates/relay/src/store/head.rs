//! What a file says of itself in its first two events: how its events are protected, and what the files before it hold.

use binlog::event::{ChecksumAlgorithm, ENCRYPTED_MAGIC, MAGIC};
use binlog::{BinlogError, EventType, FormatDescription, RawEvent};

use super::corrupt;
use super::window::Window;
use crate::gtids::Gtids;

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
pub(crate) async fn read(window: &mut Window, size: u64) -> Result<Option<Head>, BinlogError> {
    let path = window.path().to_owned();
    let start = MAGIC.len() as u64;
    match window.bytes(0, MAGIC.len(), size).await? {
        None => return Ok(None),
        Some(magic) if magic == MAGIC => {}
        Some(magic) if magic == ENCRYPTED_MAGIC => return Err(BinlogError::Encrypted(path)),
        Some(_) => return Err(corrupt(&path, 0, "this is not a binary log")),
    }
    let Some(length) = window.load_unchecked(start, size).await? else { return Ok(None) };
    let damaged = |error| corrupt(&path, start, error);
    let raw = window.event(start, length, ChecksumAlgorithm::Crc32)?;
    let FormatDescription { checksum, .. } = FormatDescription::decode(&raw).map_err(damaged)?;
    verify(&raw, checksum).map_err(damaged)?;
    let (format, began) = (raw.bytes.to_vec(), raw.header.timestamp);

    let at = start + length;
    let Some(length) = window.load(at, size, checksum).await? else { return Ok(None) };
    let second = window.event(at, length, checksum)?;
    if second.header.event_type == EventType::MARIA_START_ENCRYPTION {
        return Err(BinlogError::Encrypted(path));
    }
    let gtids = Gtids::of_head(&second).map_err(|error| corrupt(&path, at, error))?;
    let other = || {
        let reason = format!("{:?} where the GTIDs of the files before must be", second.header.event_type);
        corrupt(&path, at, reason)
    };
    Ok(Some(Head { format, checksum, began, gtids: gtids.ok_or_else(other)?, end: at + length }))
}

/// Whether the checksum is right, where the file has them. A FORMAT_DESCRIPTION has room for one in any case.
pub(crate) fn verify(event: &RawEvent<'_>, algorithm: ChecksumAlgorithm) -> Result<(), binlog::DecodeError> {
    if algorithm == ChecksumAlgorithm::Crc32 { event.verify() } else { Ok(()) }
}
