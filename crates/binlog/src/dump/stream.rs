//! Dumping what a server sends of its log.

use super::DumpOptions;
use super::file::{Printer, Sink};
use crate::error::{BinlogError, Result};
use crate::event::{ChecksumAlgorithm, EventType, FormatDescription, RawEvent};
use crate::stream_place::{StreamEvent, StreamPlace};

/// The events of a stream, one after the other.
pub struct StreamDump<'a> {
    printer: Printer<'a>,
    checksum: ChecksumAlgorithm,
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
        printer.begin(sink)?;
        Ok(StreamDump { printer, checksum: announced, place: StreamPlace::default() })
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
        let damaged = |place: &StreamPlace, reason| BinlogError::corrupt(place.file(), at, reason);
        let event = RawEvent::first_of(bytes, self.checksum).map_err(|reason| damaged(&self.place, reason))?;
        let taken = self.place.take(&event);
        if event.header.event_type == EventType::FORMAT_DESCRIPTION {
            let format = FormatDescription::decode(&event).map_err(|reason| damaged(&self.place, reason))?;
            self.checksum = format.checksum;
        }
        let at = match taken.map_err(|reason| damaged(&self.place, reason))? {
            StreamEvent::Heartbeat | StreamEvent::File(false) => return Ok(Streamed::On),
            StreamEvent::File(true) => {
                self.printer.next_file();
                return Ok(Streamed::NextFile);
            }
            StreamEvent::Format => at,
            StreamEvent::OfFile(at) if at >= stop_position => return Ok(Streamed::Stop),
            StreamEvent::OfFile(at) => at,
        };
        self.printer.event(self.place.file(), at, &event, sink)?;
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
