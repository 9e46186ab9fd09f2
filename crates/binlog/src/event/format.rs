//! FORMAT_DESCRIPTION: the first event of every file.
//!
//! ```text
//! | binlog version u16 | server version char[50] | created u32 | header length u8 | post-header lengths … | algorithm u8 | crc32 |
//! ```
//! The last two are there since MySQL 5.6.1 and MariaDB 5.3, which the version tells.

use super::{CHECKSUM_SIZE, EventType, Frame, HEADER_SIZE, RawEvent, put_event};
use crate::cursor::Cursor;
use crate::error::DecodeError;

/// Length of the zero-padded version string.
const VERSION_SIZE: usize = 50;
/// What each type has in front of its variable part, from type 1 on, as MySQL 9.7 writes it: 42 types.
const POST_HEADER_LENGTHS: [u8; 42] = [
    0x00, 0x0d, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x04, 0x00, 0x00, 0x00, 0x63, 0x00, 0x04, 0x1a, 0x08,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x0a, 0x0a, 0x0a, 0x2a, 0x2a, 0x00, 0x12, 0x34, 0x00,
    0x0a, 0x28, 0x00, 0x00,
];
// The entry of FORMAT_DESCRIPTION itself: version, string, time, header length, the array, the algorithm.
const _: () = assert!(
    POST_HEADER_LENGTHS[EventType::FORMAT_DESCRIPTION.0 as usize - 1] as usize
        == 2 + VERSION_SIZE + 4 + 1 + POST_HEADER_LENGTHS.len()
);

/// Whether servers of a version write the checksum's algorithm, and behind it a checksum; what is no version is taken for a new one.
pub(super) fn has_algorithm(server_version: &str) -> bool {
    let mut parts = server_version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().ok());
    let Some(major) = parts.next().flatten() else { return true };
    let version = [major, parts.next().flatten().unwrap_or(0), parts.next().flatten().unwrap_or(0)];
    version >= if is_maria(server_version) { [5, 3, 0] } else { [5, 6, 1] }
}

fn is_maria(server_version: &str) -> bool {
    server_version.to_ascii_lowercase().contains("mariadb")
}

/// The version in the body of a FORMAT_DESCRIPTION.
pub(super) fn version_in(body: &[u8]) -> Option<String> {
    body.get(2..2 + VERSION_SIZE).map(version_text)
}

/// Where in the event it says how long the headers of the events behind it are.
pub(crate) const HEADER_LENGTH_OFFSET: usize = HEADER_SIZE + 2 + VERSION_SIZE + 4;

fn version_text(padded: &[u8]) -> String {
    let end = padded.iter().position(|&b| b == 0).unwrap_or(padded.len());
    String::from_utf8_lossy(&padded[..end]).into_owned()
}

/// How the events of a file are protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumAlgorithm {
    /// No checksum behind the events.
    #[default]
    Off,
    /// Four bytes of CRC-32.
    Crc32,
}

/// Whose rules a file follows, where the two differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// MySQL's, and ours.
    #[default]
    Mysql,
    /// MariaDB's.
    Maria,
}

/// A decoded FORMAT_DESCRIPTION.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatDescription {
    /// Of the server that wrote the file; decides the dialect.
    pub server_version: String,
    /// Seconds since 1970 when the server started, 0 in files after its first.
    pub created: u32,
    /// From type 1 on.
    pub post_header_lengths: Vec<u8>,
    /// Whether the events of the file have checksums.
    pub checksum: ChecksumAlgorithm,
}

impl FormatDescription {
    /// As commuter writes it: MySQL's layout with CRC-32.
    pub fn new(server_version: &str, created: u32) -> Self {
        FormatDescription {
            server_version: server_version.chars().take(VERSION_SIZE - 1).collect(),
            created,
            post_header_lengths: POST_HEADER_LENGTHS.to_vec(),
            checksum: ChecksumAlgorithm::Crc32,
        }
    }

    /// The version as one number, as in comments for versions: 90704 for `9.7.4-2`, 110809 for `11.8.9-MariaDB`; the highest for what
    /// is no version.
    pub fn version_number(&self) -> u32 {
        let number = |part: &str| part[..part.bytes().take_while(u8::is_ascii_digit).count()].parse::<u32>().ok();
        let mut parts = self.server_version.splitn(3, '.').map(number);
        match [parts.next(), parts.next(), parts.next()] {
            [Some(Some(major)), Some(Some(minor)), Some(Some(patch))] if major < 1000 && minor < 100 && patch < 100 => {
                major * 10_000 + minor * 100 + patch
            }
            _ => u32::MAX,
        }
    }

    /// Whether the file is in MariaDB's dialect.
    pub fn is_maria(&self) -> bool {
        is_maria(&self.server_version)
    }

    /// Whose rules the file follows.
    pub fn dialect(&self) -> Dialect {
        if self.is_maria() { Dialect::Maria } else { Dialect::Mysql }
    }

    /// Appends the event; position and checksum are still to be filled in.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, frame: Frame) {
        put_event(out, EventType::FORMAT_DESCRIPTION, frame, |out| self.encode_body(out));
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&4u16.to_le_bytes());
        let mut version = [0; VERSION_SIZE];
        let len = self.server_version.len().min(VERSION_SIZE);
        version[..len].copy_from_slice(&self.server_version.as_bytes()[..len]);
        out.extend_from_slice(&version);
        out.extend_from_slice(&self.created.to_le_bytes());
        out.push(HEADER_SIZE as u8);
        out.extend_from_slice(&self.post_header_lengths);
        if has_algorithm(&self.server_version) {
            out.push(u8::from(self.checksum == ChecksumAlgorithm::Crc32));
        }
    }

    /// Reads the event. It carries the checksum algorithm itself, so it needs no other to be read.
    pub fn decode(event: &RawEvent<'_>) -> Result<Self, DecodeError> {
        if event.header.event_type != EventType::FORMAT_DESCRIPTION {
            return Err(DecodeError::new(format!("{:?} where a FORMAT_DESCRIPTION must be", event.header.event_type)));
        }
        let mut body = Cursor::new(event.body(), "FORMAT_DESCRIPTION");
        let version = body.u16()?;
        if version != 4 {
            return Err(DecodeError::new(format!("binary log of version {version}; only 4 is understood")));
        }
        let server_version = version_text(body.take(VERSION_SIZE)?);
        let created = body.u32()?;
        let header_length = body.u8()?;
        if usize::from(header_length) != HEADER_SIZE {
            return Err(DecodeError::new(format!("event headers of {header_length} bytes")));
        }
        let (lengths, algorithm) = match body.rest() {
            lengths if !has_algorithm(&server_version) => (lengths, 0),
            [lengths @ .., algorithm] => (lengths, *algorithm),
            [] => return Err(DecodeError::short("FORMAT_DESCRIPTION")),
        };
        let checksum = match algorithm {
            0 | 255 => ChecksumAlgorithm::Off,
            1 => ChecksumAlgorithm::Crc32,
            other => return Err(DecodeError::new(format!("unknown checksum algorithm {other}"))),
        };
        Ok(FormatDescription { server_version, created, post_header_lengths: lengths.to_vec(), checksum })
    }

    /// Length of the fixed part of a type's body; 0 if the file's server did not know the type.
    pub fn post_header_length(&self, event_type: EventType) -> usize {
        let at = usize::from(event_type.0).wrapping_sub(1);
        self.post_header_lengths.get(at).copied().unwrap_or(0).into()
    }

    /// Bytes behind each event's body.
    pub fn checksum_size(&self) -> usize {
        match self.checksum {
            ChecksumAlgorithm::Off => 0,
            ChecksumAlgorithm::Crc32 => CHECKSUM_SIZE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_with_checksums() {
        for (version, has) in [
            ("5.0.96-log", false),
            ("5.1.73", false),
            ("5.5.62-debug-log", false),
            ("5.6.0-m4", false),
            ("5.6.1-m5", true),
            ("8.0.36", true),
            ("9.7.4-2", true),
            ("5.2.14-MariaDB", false),
            ("5.3.12-MariaDB-log", true),
            ("5.5.68-MariaDB", true),
            ("11.8.9-MariaDB", true),
            ("", true),
        ] {
            assert_eq!(has_algorithm(version), has, "{version}");
        }
    }
}
