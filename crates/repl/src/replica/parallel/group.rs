//! Events put together to transactions of which everything is known before they begin.
//!
//! | what comes | becomes |
//! |---|---|
//! | GTID, BEGIN, TABLE_MAP and rows …, XID or COMMIT | a [`Group`], executed beside others |
//! | the same in a compressed payload | the same, unfolded |
//! | GTID, a statement | a [`Group`] that may be a definition, and run beside transactions about other tables |
//! | anything else in a transaction (a statement, a file, XA) | what is executed by itself, when all before it are done |
//! | between transactions | handed on as it is |
//!
//! Of a transaction with more than [`GROUP_BYTES_MAX`] the rest goes to a temporary file ([`Spilled`]).

use std::sync::Arc;

use base::{Gtid, SqlError, UnixMicros};
use binlog::event::{
    ChecksumAlgorithm, EventBody, EventHeader, EventType, FLAG_IGNORABLE, MariaGtid, PayloadLimits, Rotate,
    TransactionPayload,
};
use binlog::{DecodeError, FormatDescription, GtidEvent, RawEvent};
use io::Env;

use super::super::executor::malformed;
use super::TYPE_OFFSET;
use super::spill::Spilled;

/// What is in memory of one transaction, at most; less if a quarter of `replica_pending_jobs_size_max` is less. Its first event is, whatever it has.
pub(crate) const GROUP_BYTES_MAX: usize = 4 << 20;

/// What the first event of a transaction says of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) gtid: Option<Gtid>,
    /// MySQL's interval: all up to this number of the file have to be done before it …
    pub(crate) last_committed: i64,
    /// … which has this one; 0 if its source says none.
    pub(crate) sequence_number: i64,
    /// MariaDB's.
    pub(crate) domain: u32,
    /// Of a MariaDB: what its GTID says.
    pub(crate) flags: Option<u8>,
    pub(crate) commit_id: Option<u64>,
    /// The number of the source's file, counted here.
    pub(crate) file_number: u64,
    /// Where it was born.
    pub(crate) server_id: u32,
    /// When it was committed where it was born, and at the source; 0 if nobody knows.
    pub(crate) original_commit: UnixMicros,
    pub(crate) immediate_commit: UnixMicros,
}

impl Head {
    /// What an event says that begins a transaction, of who it is and when it was committed; `None` of any other.
    pub(crate) fn of(bytes: &[u8], checksum: ChecksumAlgorithm) -> Option<Self> {
        if !bytes.get(TYPE_OFFSET).is_some_and(|of| EventType(*of).begins_transaction()) {
            return None;
        }
        let event = RawEvent::first_of(bytes, checksum).ok()?;
        let header = &event.header;
        let head = match header.event_type {
            EventType::MARIA_GTID => Head::of_maria(&MariaGtid::decode(event.body()).ok()?, header),
            event_type => Head::of_mysql(&GtidEvent::decode(event_type, event.body()).ok()?, header),
        };
        // Older MySQLs say no other time.
        Some(if head.immediate_commit.0 == 0 { Head { immediate_commit: seconds_of(header), ..head } } else { head })
    }

    /// What the event of a MySQL says.
    pub(crate) fn of_mysql(gtid: &GtidEvent, header: &EventHeader) -> Self {
        Head {
            gtid: gtid.gtid,
            last_committed: gtid.last_committed,
            sequence_number: gtid.sequence_number,
            server_id: header.server_id,
            original_commit: gtid.original_commit_time,
            immediate_commit: gtid.immediate_commit_time,
            ..Head::default()
        }
    }

    /// What the event of a MariaDB says.
    pub(crate) fn of_maria(gtid: &MariaGtid, header: &EventHeader) -> Self {
        Head {
            gtid: Some(gtid.name(header.server_id).gtid()),
            domain: gtid.domain_id,
            flags: Some(gtid.flags),
            commit_id: gtid.commit_id,
            server_id: header.server_id,
            immediate_commit: seconds_of(header),
            ..Head::default()
        }
    }
}

fn seconds_of(header: &EventHeader) -> UnixMicros {
    UnixMicros(u64::from(header.timestamp) * 1_000_000)
}

/// A transaction of rows, whole.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) head: Head,
    pub(crate) format: Arc<FormatDescription>,
    pub(crate) file: Arc<str>,
    /// The event that has its GTID, and the others.
    pub(crate) events: Vec<Vec<u8>>,
    /// From this one on they were in a payload, and have no checksums.
    pub(crate) unfolded_from: usize,
    /// Of all in memory.
    pub(crate) bytes: usize,
    /// Those behind them.
    pub(crate) rest: Option<Spilled>,
    /// Behind its last event in the source's file.
    pub(crate) end: u64,
    /// It is a statement by itself.
    pub(crate) is_statement: bool,
}

impl Group {
    /// How the format description says that an event is protected.
    pub(crate) fn checksum(&self, number: usize) -> ChecksumAlgorithm {
        if number >= self.unfolded_from { ChecksumAlgorithm::Off } else { self.format.checksum }
    }

    /// Bytes in its file.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.rest.as_ref().map_or(0, Spilled::bytes)
    }

    /// Adds an event, to the file if there are more than `max` bytes of them.
    async fn push(&mut self, event: Vec<u8>, max: usize, env: &Env) -> Result<(), SqlError> {
        if let Some(rest) = &mut self.rest {
            return rest.push(&event).await;
        }
        if self.bytes + event.len() > max && self.events.len() > 1 {
            let rest = self.rest.insert(Spilled::create(env).await?);
            return rest.push(&event).await;
        }
        self.bytes += event.len();
        self.events.push(event);
        Ok(())
    }

    /// It is whole; `end` is behind its last event.
    async fn finish(&mut self, end: u32) -> Result<(), SqlError> {
        self.end = end.into();
        match &mut self.rest {
            Some(rest) => rest.finish().await,
            None => Ok(()),
        }
    }
}

/// What becomes of an event.
#[derive(Debug)]
pub(crate) enum Taken {
    /// There is more to come.
    Kept,
    /// It belongs to no transaction.
    Between(Vec<u8>),
    /// To be executed in their turn, one after the other: what there is of a transaction, and an event; what follows up to the next GTID
    /// comes so too.
    Alone(Option<Group>, Vec<u8>),
    /// A transaction has its end.
    Whole(Group),
    /// A statement that is no part of a transaction.
    Statement(Group),
}

/// What an event is within a transaction.
enum Part {
    Rows,
    End,
    /// All of a transaction but its GTID.
    Payload,
    Statement,
    Other,
}

/// See the module.
pub(crate) struct Assembler {
    env: Env,
    /// Bytes of a transaction in memory.
    kept_max: usize,
    format: Arc<FormatDescription>,
    file: Arc<str>,
    file_number: u64,
    open: Option<Group>,
    /// Whether a MariaDB's GTID says that what is open is a statement by itself.
    is_standalone: Option<bool>,
}

impl Assembler {
    /// Before the first connection. Of a transaction `kept_max` bytes stay in memory.
    pub(crate) fn new(env: Env, kept_max: usize) -> Self {
        Assembler {
            env,
            kept_max,
            format: Arc::new(FormatDescription::new("", 0)),
            file: "".into(),
            file_number: 0,
            open: None,
            is_standalone: None,
        }
    }

    /// What the transaction says of itself that is not whole yet.
    pub(crate) fn open_head(&self) -> Option<Head> {
        self.open.as_ref().map(|group| group.head)
    }

    /// A connection begins: what has no end comes again.
    pub(crate) fn begin(&mut self, announced: ChecksumAlgorithm) {
        self.open = None;
        self.file_number += 1;
        self.format = Arc::new(FormatDescription { checksum: announced, ..(*self.format).clone() });
    }

    /// Takes an event, as it was received.
    ///
    /// # Errors
    /// 1594 for what cannot be understood, 1026 if there is no room for what does not stay in memory.
    pub(crate) async fn take(&mut self, bytes: Vec<u8>) -> Result<Taken, SqlError> {
        let event = RawEvent::first_of(&bytes, self.format.checksum).map_err(malformed)?;
        match event.header.event_type {
            EventType::FORMAT_DESCRIPTION => {
                self.format = Arc::new(FormatDescription::decode(&event).map_err(malformed)?);
                Ok(Taken::Between(bytes))
            }
            EventType::ROTATE => {
                let to = Rotate::decode(event.body()).map_err(malformed)?;
                if *self.file != to.file {
                    (self.file, self.file_number) = (to.file.into(), self.file_number + 1);
                }
                Ok(Taken::Between(bytes))
            }
            EventType::PREVIOUS_GTIDS
            | EventType::STOP
            | EventType::MARIA_GTID_LIST
            | EventType::MARIA_BINLOG_CHECKPOINT => Ok(Taken::Between(bytes)),
            event_type if event_type.begins_transaction() => self.begin_group(bytes).map_err(malformed),
            _ => match self.open.take() {
                Some(group) => self.go_on(group, bytes).await,
                None => Ok(Taken::Alone(None, bytes)),
            },
        }
    }

    fn begin_group(&mut self, bytes: Vec<u8>) -> Result<Taken, DecodeError> {
        if let Some(unended) = self.open.take() {
            // Whoever executes it says what is wrong.
            return Ok(Taken::Alone(Some(unended), bytes));
        }
        let event = RawEvent::first_of(&bytes, self.format.checksum)?;
        let header = &event.header;
        self.is_standalone = None;
        let head = if header.event_type == EventType::MARIA_GTID {
            let gtid = MariaGtid::decode(event.body())?;
            if gtid.extra.alter.is_some() || gtid.xid.is_some() {
                return Ok(Taken::Alone(None, bytes));
            }
            self.is_standalone = Some(gtid.is_standalone());
            Head::of_maria(&gtid, header)
        } else {
            Head::of_mysql(&GtidEvent::decode(header.event_type, event.body())?, header)
        };
        let head = Head { file_number: self.file_number, ..head };
        let (format, file) = (self.format.clone(), self.file.clone());
        let size = bytes.len();
        let mut events = Vec::with_capacity(8);
        events.push(bytes);
        let unfolded_from = usize::MAX;
        self.open = Some(Group {
            head,
            format,
            file,
            events,
            unfolded_from,
            bytes: size,
            rest: None,
            end: 0,
            is_statement: false,
        });
        Ok(Taken::Kept)
    }

    async fn go_on(&mut self, mut group: Group, bytes: Vec<u8>) -> Result<Taken, SqlError> {
        let event = RawEvent::first_of(&bytes, self.format.checksum).map_err(malformed)?;
        let end = event.header.next_position;
        let part = match part_of(&event, &self.format).map_err(malformed)? {
            Part::Statement if group.events.len() == 1 && self.is_standalone != Some(false) => Part::Statement,
            Part::Statement => Part::Other,
            _ if self.is_standalone == Some(true) => Part::Other,
            part => part,
        };
        match part {
            Part::Rows => {
                group.push(bytes, self.kept_max, &self.env).await?;
                self.open = Some(group);
                Ok(Taken::Kept)
            }
            Part::End | Part::Statement => {
                group.push(bytes, self.kept_max, &self.env).await?;
                group.finish(end).await?;
                group.is_statement = matches!(part, Part::Statement);
                Ok(if group.is_statement { Taken::Statement(group) } else { Taken::Whole(group) })
            }
            Part::Payload if self.unfold(&event, &mut group).await? => {
                group.finish(end).await?;
                Ok(Taken::Whole(group))
            }
            Part::Payload | Part::Other => {
                if let Some(rest) = &mut group.rest {
                    rest.finish().await?;
                }
                Ok(Taken::Alone(Some(group), bytes))
            }
        }
    }

    /// Takes the events out of a payload, if they are rows; leaves the group as it was otherwise.
    async fn unfold(&self, event: &RawEvent<'_>, group: &mut Group) -> Result<bool, SqlError> {
        let payload = TransactionPayload::decode(event.body()).map_err(malformed)?;
        let mut events = payload.events(PayloadLimits::default()).map_err(malformed)?;
        let (count, bytes) = (group.events.len(), group.bytes);
        group.unfolded_from = count;
        while let Some(event) = events.next_event().map_err(malformed)? {
            let part = part_of(&event, &self.format).map_err(malformed)?;
            if matches!(part, Part::Rows | Part::End) {
                group.push(event.bytes.to_vec(), self.kept_max, &self.env).await?;
            }
            match part {
                Part::Rows => {}
                Part::End => return Ok(true),
                Part::Payload | Part::Statement | Part::Other => break,
            }
        }
        group.events.truncate(count);
        (group.bytes, group.unfolded_from, group.rest) = (bytes, usize::MAX, None);
        Ok(false)
    }
}

fn part_of(event: &RawEvent<'_>, format: &FormatDescription) -> Result<Part, DecodeError> {
    Ok(match event.header.event_type {
        event_type if event_type.has_rows() => Part::Rows,
        EventType::TABLE_MAP | EventType::ROWS_QUERY | EventType::MARIA_ANNOTATE_ROWS | EventType::IGNORABLE => {
            Part::Rows
        }
        EventType::QUERY => match EventBody::decode(event, format)? {
            EventBody::Query(query) if query.sql == b"BEGIN" => Part::Rows,
            EventBody::Query(query) if query.sql.eq_ignore_ascii_case(b"COMMIT") => Part::End,
            _ => Part::Statement,
        },
        EventType::MARIA_QUERY_COMPRESSED => Part::Statement,
        EventType::XID => Part::End,
        EventType::TRANSACTION_PAYLOAD => Part::Payload,
        _ if event.header.flags & FLAG_IGNORABLE != 0 => Part::Rows,
        _ => Part::Other,
    })
}
