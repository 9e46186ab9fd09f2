//! Puts the events of a transaction together.
//!
//! # Invariants
//! - A transaction is given when its last event has come, and never in parts.
//! - Memory is taken as events come, up to the limit; a larger transaction is an error.

use binlog::event::{ChecksumAlgorithm, FormatDescription, Incident};
use binlog::{EventType, GtidSet, RawEvent, TransactionTracker};

use super::LogTransaction;
use crate::error::EventError;

/// Follows the events of a log.
#[derive(Debug)]
pub struct Collector {
    format: FormatDescription,
    tracker: TransactionTracker,
    file: String,
    begin: u64,
    bytes: Vec<u8>,
    /// Where in `bytes` its last event begins.
    last: usize,
    complete: bool,
    size_max: u64,
}

/// What an event brought.
#[derive(Debug)]
pub enum Collected<'c> {
    /// Nothing that a consumer would see.
    Nothing,
    /// The transactions before the file that has just begun (MySQL's, and ours).
    Before(GtidSet),
    /// The last event of a transaction.
    Transaction(LogTransaction<'c>),
}

impl Collector {
    /// For a log, from the beginning of one of its transactions on. `announced` is how its events are protected before it says so
    /// itself; `size_max` bounds a transaction, in bytes of the log.
    pub fn new(announced: ChecksumAlgorithm, size_max: u64) -> Self {
        Collector {
            format: FormatDescription { checksum: announced, ..FormatDescription::new("", 0) },
            tracker: TransactionTracker::default(),
            file: String::new(),
            begin: 0,
            bytes: Vec::new(),
            last: 0,
            complete: false,
            size_max,
        }
    }

    /// How the next event is protected.
    pub fn checksum(&self) -> ChecksumAlgorithm {
        self.format.checksum
    }

    /// Whether a transaction has begun whose end has not come.
    pub fn is_inside(&self) -> bool {
        self.tracker != TransactionTracker::Outside
    }

    /// Takes the next event, at an offset of a file.
    ///
    /// # Errors
    /// If it cannot follow the one before: the log is damaged, or does not begin where a transaction does. If the source says that its log
    /// lacks something. If the transaction is too large.
    pub fn event(&mut self, file: &str, at: u64, event: &RawEvent<'_>) -> Result<Collected<'_>, EventError> {
        if std::mem::take(&mut self.complete) {
            self.bytes.clear();
        }
        let event_type = event.header.event_type;
        event.verify()?;
        let was_outside = self.tracker == TransactionTracker::Outside;
        let ends = self.tracker.event(event)?;
        match event_type {
            EventType::FORMAT_DESCRIPTION => self.format = FormatDescription::decode(event)?,
            EventType::INCIDENT => {
                let incident = Incident::decode(event.body())?;
                return Err(EventError::Incident(String::from_utf8_lossy(incident.message).into_owned()));
            }
            EventType::MARIA_START_ENCRYPTION => {
                return Err(binlog::BinlogError::Encrypted(file.to_owned()).into());
            }
            EventType::PREVIOUS_GTIDS => return Ok(Collected::Before(GtidSet::decode(event.body())?)),
            _ => {}
        }
        // Between transactions only a statement is one by itself.
        if was_outside && ends && event_type != EventType::QUERY && event_type != EventType::MARIA_QUERY_COMPRESSED {
            return Ok(Collected::Nothing);
        }
        if was_outside {
            (self.begin, self.last) = (at, 0);
            self.bytes.clear();
            file.clone_into(&mut self.file);
        }
        if (self.bytes.len() + event.bytes.len()) as u64 > self.size_max {
            return Err(EventError::TooLarge { what: "a transaction", limit: self.size_max });
        }
        self.last = self.bytes.len();
        self.bytes.extend_from_slice(event.bytes);
        if !ends {
            return Ok(Collected::Nothing);
        }
        self.complete = true;
        let end = at + event.bytes.len() as u64;
        Ok(Collected::Transaction(LogTransaction::new(
            &self.format,
            &self.file,
            self.begin,
            end,
            &self.bytes,
            self.last,
        )))
    }
}
