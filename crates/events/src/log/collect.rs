//! Puts the events of a transaction together.
//!
//! # Invariants
//! - A transaction is given when its last event has come, and never in parts.
//! - A statement outside of a transaction (a server before GTIDs, a table without transactions) is one by itself, with what precedes it. So are
//!   rows, up to the end of their statement, as MySQL 5.1 logs those of tables without transactions: with no BEGIN. An XID that ends nothing is
//!   nothing.
//! - Memory is taken as events come, up to the limit; a larger transaction is an error.

use binlog::event::{ChecksumAlgorithm, FormatDescription, Incident, check_age, rows_flags};
use binlog::{DecodeError, EventType, GtidSet, RawEvent, TransactionTracker};

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
    /// Outside of a transaction something has come of the statement that follows.
    precedes: bool,
    /// Rows have begun outside of a transaction.
    rows_alone: bool,
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
            precedes: false,
            rows_alone: false,
            size_max,
        }
    }

    /// How the next event is protected.
    pub fn checksum(&self) -> ChecksumAlgorithm {
        self.format.checksum
    }

    /// Whether a transaction has begun whose end has not come.
    pub fn is_inside(&self) -> bool {
        self.precedes || self.rows_alone || self.tracker != TransactionTracker::Outside
    }

    /// Says whether a transaction, or what is outside of any, ends with the event.
    fn ends(&mut self, event: &RawEvent<'_>) -> Result<bool, DecodeError> {
        let event_type = event.header.event_type;
        match event_type {
            _ if self.tracker != TransactionTracker::Outside => self.tracker.event(event),
            EventType::XID => {
                self.rows_alone = false;
                Ok(true)
            }
            EventType::TABLE_MAP | EventType::ROWS_QUERY | EventType::MARIA_ANNOTATE_ROWS => {
                self.rows_alone = true;
                Ok(false)
            }
            _ if event_type.has_rows() && self.rows_alone => {
                self.rows_alone = !ends_statement(event);
                Ok(!self.rows_alone)
            }
            _ if self.rows_alone => Err(DecodeError(format!("{event_type:?} inside of a statement of rows"))),
            _ => self.tracker.event(event),
        }
    }

    /// Takes the next event, at an offset of a file.
    ///
    /// # Errors
    /// If it cannot follow the one before: the log is damaged, or does not begin where a transaction does. If the source says that its log
    /// lacks something. If the transaction is too large.
    pub fn event(&mut self, file: &str, at: u64, event: &RawEvent<'_>) -> Result<Collected<'_>, EventError> {
        self.file_event(file, at..at + event.bytes.len() as u64, event)
    }

    /// The same of an event that may have more bytes in its file than it is given with.
    ///
    /// # Errors
    /// As [`Collector::event`].
    pub fn file_event(
        &mut self,
        file: &str,
        place: std::ops::Range<u64>,
        event: &RawEvent<'_>,
    ) -> Result<Collected<'_>, EventError> {
        if std::mem::take(&mut self.complete) {
            self.bytes.clear();
        }
        let event_type = event.header.event_type;
        event.verify()?;
        check_age(event_type, &self.format)?;
        let was_outside = self.tracker == TransactionTracker::Outside && !self.rows_alone;
        let ends = self.ends(event)?;
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
        let is_alone = was_outside && ends;
        if is_alone && event_type.is_old_load() {
            return Err(EventError::Unsupported(format!(
                "LOAD DATA as it was logged before MySQL 5.0.3 ({event_type:?} at {} of {file})",
                place.start
            )));
        }
        let is_statement =
            matches!(event_type, EventType::QUERY | EventType::MARIA_QUERY_COMPRESSED | EventType::EXECUTE_LOAD_QUERY);
        // Between transactions only a statement is one by itself.
        if is_alone && !is_statement && !event_type.precedes_statement() {
            self.precedes = false;
            return Ok(Collected::Nothing);
        }
        let goes_on = std::mem::replace(&mut self.precedes, is_alone && !is_statement);
        if was_outside && !goes_on {
            (self.begin, self.last) = (place.start, 0);
            self.bytes.clear();
            file.clone_into(&mut self.file);
        }
        if (self.bytes.len() + event.bytes.len()) as u64 > self.size_max {
            return Err(EventError::TooLarge { what: "a transaction", limit: self.size_max });
        }
        self.last = self.bytes.len();
        self.bytes.extend_from_slice(event.bytes);
        if !ends || self.precedes {
            return Ok(Collected::Nothing);
        }
        self.complete = true;
        Ok(Collected::Transaction(LogTransaction::new(
            &self.format,
            &self.file,
            self.begin,
            place.end,
            &self.bytes,
            self.last,
        )))
    }
}

/// Whether a rows event is the last of its statement.
fn ends_statement(event: &RawEvent<'_>) -> bool {
    let flags = event.body().get(rows_flags::OFFSET..).and_then(|flags| flags.first_chunk());
    flags.map_or(0, |flags| u16::from_le_bytes(*flags)) & rows_flags::STATEMENT_END != 0
}
