//! Dumping what a server sends of its log.

use super::DumpOptions;
use super::file::{Printer, Sink};
use crate::error::{BinlogError, Result};
use crate::event::{ChecksumAlgorithm, EventHeader, EventType, FLAG_ARTIFICIAL, MAGIC, RawEvent, Rotate};

/// The events of a stream, one after the other.
pub struct StreamDump<'a> {
    printer: Printer<'a>,
    file: String,
    /// Where the next event begins, if the stream does not say it: MariaDB's events inside of a group have no position.
    at: u64,
}

/// Where a stream goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streamed {
    /// In the same file.
    On,
    /// In the next file; nothing of it was shown yet.
    NextFile,
    /// Behind the position at which it is to stop.
    Stop,
}

impl<'a> StreamDump<'a> {
    /// For a stream; `announced` is how its first events are protected.
    ///
    /// # Errors
    /// When `sink` fails.
    pub fn begin(options: &'a DumpOptions, announced: ChecksumAlgorithm, sink: Sink<'_>) -> Result<Self> {
        let mut printer = Printer::new(options);
        printer.set_checksum(announced);
        printer.begin(sink)?;
        Ok(StreamDump { printer, file: String::new(), at: MAGIC.len() as u64 })
    }

    /// The file that the stream is in; empty before its first event.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Takes the next event. Heartbeats and other events that are not the log's are left out. The position to start with is one
    /// of the first file, that to stop at one of each.
    ///
    /// # Errors
    /// When it is none, or `sink` fails.
    pub fn event(&mut self, bytes: &[u8], stop_position: u64, sink: Sink<'_>) -> Result<Streamed> {
        let damaged = |reason| BinlogError::corrupt(&self.file, self.at, reason);
        let event = RawEvent::first_of(bytes, self.printer.checksum()).map_err(damaged)?;
        let EventHeader { event_type, event_length, next_position, flags, .. } = event.header;
        let is_artificial = flags & FLAG_ARTIFICIAL != 0 || next_position == 0;
        match event_type {
            EventType::HEARTBEAT | EventType::HEARTBEAT_V2 => return Ok(Streamed::On),
            EventType::ROTATE if is_artificial => {
                let to = Rotate::decode(event.body()).map_err(damaged)?;
                let is_next = !self.file.is_empty() && to.file != self.file;
                (self.file, self.at) = (to.file, to.position);
                if is_next {
                    self.printer.next_file();
                }
                return Ok(if is_next { Streamed::NextFile } else { Streamed::On });
            }
            // Of a stream that begins in the middle of a file.
            EventType::FORMAT_DESCRIPTION if next_position == 0 => {
                self.printer.event(&self.file, self.at, bytes, sink)?;
                return Ok(Streamed::On);
            }
            _ => {}
        }
        // Positions of events are modulo 4 GiB.
        if next_position != 0 {
            let end = self.at + u64::from(event_length);
            let said = (end & !u64::from(u32::MAX)) | u64::from(next_position);
            self.at = said.saturating_sub(u64::from(event_length));
        }
        if self.at >= stop_position {
            return Ok(Streamed::Stop);
        }
        self.printer.event(&self.file, self.at, bytes, sink)?;
        self.at += u64::from(event_length);
        Ok(Streamed::On)
    }

    /// Ends it.
    ///
    /// # Errors
    /// When `sink` fails.
    pub fn end(mut self, sink: Sink<'_>) -> Result<()> {
        self.printer.end(sink)
    }
}
