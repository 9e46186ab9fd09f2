//! Dumping what a server sends of its log.

use super::DumpOptions;
use super::file::{Printer, Sink};
use crate::error::{BinlogError, Result};
use crate::event::{ChecksumAlgorithm, RawEvent};
use crate::stream_place::{StreamEvent, StreamPlace};

/// The events of a stream, one after the other.
pub struct StreamDump<'a> {
    printer: Printer<'a>,
    place: StreamPlace,
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
        Ok(StreamDump { printer, place: StreamPlace::default() })
    }

    /// The file that the stream is in; empty before its first event.
    pub fn file(&self) -> &str {
        self.place.file()
    }

    /// Takes the next event. Heartbeats and other events that are not the log's are left out. The position to start with is one
    /// of the first file, that to stop at one of each.
    ///
    /// # Errors
    /// When it is none, or `sink` fails.
    pub fn event(&mut self, bytes: &[u8], stop_position: u64, sink: Sink<'_>) -> Result<Streamed> {
        let at = self.place.at();
        let event = RawEvent::first_of(bytes, self.printer.checksum());
        let event = event.map_err(|reason| BinlogError::corrupt(self.place.file(), at, reason))?;
        let taken = self.place.take(&event);
        let at = match taken.map_err(|reason| BinlogError::corrupt(self.place.file(), at, reason))? {
            StreamEvent::Heartbeat | StreamEvent::File(false) => return Ok(Streamed::On),
            StreamEvent::File(true) => {
                self.printer.next_file();
                return Ok(Streamed::NextFile);
            }
            StreamEvent::Format => at,
            StreamEvent::OfFile(at) if at >= stop_position => return Ok(Streamed::Stop),
            StreamEvent::OfFile(at) => at,
        };
        self.printer.event(self.place.file(), at, bytes, sink)?;
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
