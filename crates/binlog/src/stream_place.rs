//! Where in the files of its log an event is that a source sends.
//!
//! A stream has events that no file has: a ROTATE that names the file, a FORMAT_DESCRIPTION in the middle of one, heartbeats. Positions of
//! events are modulo 4 GiB, and MariaDB's events inside of a group have none.

use crate::error::DecodeError;
use crate::event::{EventHeader, EventType, FLAG_ARTIFICIAL, MAGIC, RawEvent, Rotate};

/// Follows a stream.
#[derive(Clone, Debug)]
pub struct StreamPlace {
    file: String,
    /// Where the next event begins, if the stream does not say it.
    at: u64,
}

/// What an event of a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// One of the file, at this offset.
    OfFile(u64),
    /// The FORMAT_DESCRIPTION of the file in whose middle the stream begins.
    Format,
    /// Says which file the stream is in, and nothing else. True: another than before.
    File(bool),
    /// Of the stream alone.
    Heartbeat,
}

impl Default for StreamPlace {
    fn default() -> Self {
        StreamPlace { file: String::new(), at: MAGIC.len() as u64 }
    }
}

impl StreamPlace {
    /// The file that the stream is in; empty before its first event.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Where its next event begins.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// When it is one that names a file and does not.
    pub fn take(&mut self, event: &RawEvent<'_>) -> Result<StreamEvent, DecodeError> {
        let EventHeader { event_type, event_length, next_position, flags, .. } = event.header;
        let is_artificial = flags & FLAG_ARTIFICIAL != 0 || next_position == 0;
        match event_type {
            EventType::HEARTBEAT | EventType::HEARTBEAT_V2 => return Ok(StreamEvent::Heartbeat),
            EventType::ROTATE if is_artificial => {
                let to = Rotate::decode(event.body())?;
                let is_next = !self.file.is_empty() && to.file != self.file;
                (self.file, self.at) = (to.file, to.position);
                return Ok(StreamEvent::File(is_next));
            }
            EventType::FORMAT_DESCRIPTION if next_position == 0 => return Ok(StreamEvent::Format),
            _ => {}
        }
        if next_position != 0 {
            let end = self.at + u64::from(event_length);
            let said = (end & !u64::from(u32::MAX)) | u64::from(next_position);
            self.at = said.saturating_sub(u64::from(event_length));
        }
        let at = self.at;
        self.at += u64::from(event_length);
        Ok(StreamEvent::OfFile(at))
    }
}
