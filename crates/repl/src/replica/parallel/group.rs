//! Events put together to transactions of which everything is known before they begin.
//!
//! | what comes | becomes |
//! |---|---|
//! | GTID, BEGIN, TABLE_MAP and rows …, XID or COMMIT | a [`Group`], executed beside others |
//! | the same in a compressed payload | the same, unfolded |
//! | anything else in a transaction (a statement, a file, XA), or more than [`GROUP_BYTES_MAX`] | what is executed by itself, when all before it are done |
//! | between transactions | handed on as it is |

use std::sync::Arc;

use base::Gtid;
use binlog::event::{
    ChecksumAlgorithm, EventBody, EventType, FLAG_IGNORABLE, MariaGtid, PayloadLimits, Rotate, TransactionPayload,
};
use binlog::{DecodeError, FormatDescription, GtidEvent, MariaGtidName, RawEvent};

/// A transaction that is larger is not put together: its events are executed as they come.
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
    /// All of them.
    pub(crate) bytes: usize,
    /// Behind its last event in the source's file.
    pub(crate) end: u64,
}

impl Group {
    /// How the format description says that an event is protected.
    pub(crate) fn checksum(&self, number: usize) -> ChecksumAlgorithm {
        if number >= self.unfolded_from { ChecksumAlgorithm::Off } else { self.format.checksum }
    }

    fn push(&mut self, event: Vec<u8>) {
        self.bytes += event.len();
        self.events.push(event);
    }
}

/// What becomes of an event.
#[derive(Debug)]
pub(crate) enum Taken {
    /// There is more to come.
    Kept,
    /// It belongs to no transaction.
    Between(Vec<u8>),
    /// To be executed in their turn, one after the other; what follows up to the next GTID comes so too.
    Alone(Vec<Vec<u8>>),
    /// A transaction has its end.
    Whole(Group),
}

/// What an event is within a transaction.
enum Part {
    Rows,
    End,
    /// All of a transaction but its GTID.
    Payload,
    Other,
}

/// See the module.
pub(crate) struct Assembler {
    format: Arc<FormatDescription>,
    file: Arc<str>,
    file_number: u64,
    open: Option<Group>,
}

impl Assembler {
    /// Before the first connection.
    pub(crate) fn new() -> Self {
        Assembler { format: Arc::new(FormatDescription::new("", 0)), file: "".into(), file_number: 0, open: None }
    }

    /// A connection begins: what has no end comes again.
    pub(crate) fn begin(&mut self, announced: ChecksumAlgorithm) {
        self.open = None;
        self.file_number += 1;
        self.format = Arc::new(FormatDescription { checksum: announced, ..(*self.format).clone() });
    }

    /// Takes an event, as it was received.
    pub(crate) fn take(&mut self, bytes: Vec<u8>) -> Result<Taken, DecodeError> {
        let event = RawEvent::first_of(&bytes, self.format.checksum)?;
        match event.header.event_type {
            EventType::FORMAT_DESCRIPTION => {
                self.format = Arc::new(FormatDescription::decode(&event)?);
                Ok(Taken::Between(bytes))
            }
            EventType::ROTATE => {
                let to = Rotate::decode(event.body())?;
                if *self.file != to.file {
                    (self.file, self.file_number) = (to.file.into(), self.file_number + 1);
                }
                Ok(Taken::Between(bytes))
            }
            EventType::PREVIOUS_GTIDS
            | EventType::STOP
            | EventType::MARIA_GTID_LIST
            | EventType::MARIA_BINLOG_CHECKPOINT => Ok(Taken::Between(bytes)),
            event_type if event_type.begins_transaction() => self.begin_group(bytes),
            _ if self.open.is_none() => Ok(Taken::Alone(vec![bytes])),
            _ => self.go_on(bytes),
        }
    }

    fn begin_group(&mut self, bytes: Vec<u8>) -> Result<Taken, DecodeError> {
        if let Some(unended) = self.open.take() {
            // Whoever executes it says what is wrong.
            let mut events = unended.events;
            events.push(bytes);
            return Ok(Taken::Alone(events));
        }
        let event = RawEvent::first_of(&bytes, self.format.checksum)?;
        let mut head = Head { file_number: self.file_number, ..Head::default() };
        if event.header.event_type == EventType::MARIA_GTID {
            let gtid = MariaGtid::decode(event.body())?;
            let (domain_id, server_id) = (gtid.domain_id, event.header.server_id);
            head.gtid = Some(MariaGtidName { domain_id, server_id, seq_no: gtid.seq_no }.gtid());
            (head.domain, head.flags, head.commit_id) = (domain_id, Some(gtid.flags), gtid.commit_id);
            if gtid.is_standalone() || gtid.extra.alter.is_some() || gtid.xid.is_some() {
                return Ok(Taken::Alone(vec![bytes]));
            }
        } else {
            let gtid = GtidEvent::decode(event.header.event_type, event.body())?;
            head.gtid = gtid.gtid;
            (head.last_committed, head.sequence_number) = (gtid.last_committed, gtid.sequence_number);
        }
        let (format, file) = (self.format.clone(), self.file.clone());
        let mut group =
            Group { head, format, file, events: Vec::with_capacity(8), unfolded_from: usize::MAX, bytes: 0, end: 0 };
        group.push(bytes);
        self.open = Some(group);
        Ok(Taken::Kept)
    }

    fn go_on(&mut self, bytes: Vec<u8>) -> Result<Taken, DecodeError> {
        let Some(mut group) = self.open.take() else { return Ok(Taken::Between(bytes)) };
        let event = RawEvent::first_of(&bytes, self.format.checksum)?;
        let end = event.header.next_position;
        match part_of(&event, &self.format)? {
            Part::Rows if group.bytes + bytes.len() <= GROUP_BYTES_MAX => {
                group.push(bytes);
                self.open = Some(group);
                Ok(Taken::Kept)
            }
            Part::End => {
                group.push(bytes);
                group.end = end.into();
                Ok(Taken::Whole(group))
            }
            Part::Payload if self.unfold(&event, &mut group)? => {
                group.end = end.into();
                Ok(Taken::Whole(group))
            }
            Part::Rows | Part::Payload | Part::Other => {
                let mut events = group.events;
                events.push(bytes);
                Ok(Taken::Alone(events))
            }
        }
    }

    /// Takes the events out of a payload, if they are rows and not too many; leaves the group as it was otherwise.
    fn unfold(&self, event: &RawEvent<'_>, group: &mut Group) -> Result<bool, DecodeError> {
        let payload = TransactionPayload::decode(event.body())?;
        if payload.uncompressed_size.is_none_or(|size| size > GROUP_BYTES_MAX as u64) {
            return Ok(false);
        }
        let mut events = payload.events(PayloadLimits::default())?;
        let (count, bytes) = (group.events.len(), group.bytes);
        group.unfolded_from = count;
        while let Some(event) = events.next_event()? {
            let part = part_of(&event, &self.format)?;
            if matches!(part, Part::Rows | Part::End) {
                group.push(event.bytes.to_vec());
            }
            match part {
                Part::Rows => {}
                Part::End => return Ok(true),
                Part::Payload | Part::Other => break,
            }
        }
        group.events.truncate(count);
        (group.bytes, group.unfolded_from) = (bytes, usize::MAX);
        Ok(false)
    }
}

fn part_of(event: &RawEvent<'_>, format: &FormatDescription) -> Result<Part, DecodeError> {
    Ok(match EventBody::decode(event, format)? {
        EventBody::TableMap(_)
        | EventBody::Rows(_)
        | EventBody::PartialUpdateRows(_)
        | EventBody::MariaCompressedRows(_)
        | EventBody::RowsQuery(_)
        | EventBody::MariaAnnotateRows(_)
        | EventBody::Ignorable(_) => Part::Rows,
        EventBody::Query(query) if query.sql == b"BEGIN" => Part::Rows,
        EventBody::Query(query) if query.sql.eq_ignore_ascii_case(b"COMMIT") => Part::End,
        EventBody::Xid(_) => Part::End,
        EventBody::TransactionPayload(_) => Part::Payload,
        _ if event.header.flags & FLAG_IGNORABLE != 0 => Part::Rows,
        _ => Part::Other,
    })
}
