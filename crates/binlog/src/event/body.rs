//! Any event, decoded: for readers that want everything. Who wants only some types uses their decoders.

use super::*;
use crate::gtid_set::GtidSet;

/// What an event says, whatever its type.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the type of event of its name")]
pub enum EventBody<'a> {
    StartV3(StartV3),
    Query(QueryEvent<'a>),
    Stop,
    Rotate(Rotate),
    IntVar(IntVar),
    /// LOAD, NEW_LOAD, CREATE_FILE.
    OldLoad(OldLoad<'a>),
    SlavePosition(SlavePosition<'a>),
    AppendBlock(FileBlock<'a>),
    /// The file id.
    ExecLoad(u32),
    /// The file id.
    DeleteFile(u32),
    Rand(RandSeeds),
    UserVar(UserVar<'a>),
    FormatDescription(FormatDescription),
    Xid(u64),
    BeginLoadQuery(FileBlock<'a>),
    ExecuteLoadQuery(ExecuteLoadQuery<'a>),
    TableMap(TableMapEvent<'a>),
    /// Of versions 1 and 2.
    Rows(RowsEvent<'a>),
    Incident(Incident<'a>),
    /// Of versions 1 and 2, and how the position is told.
    Heartbeat(Heartbeat, HeartbeatForm),
    Ignorable(&'a [u8]),
    RowsQuery(RowsQuery<'a>),
    /// GTID, ANONYMOUS_GTID, GTID_TAGGED.
    Gtid(GtidEvent),
    PreviousGtids(GtidSet),
    TransactionContext(TransactionContext<'a>),
    ViewChange(ViewChange<'a>),
    XaPrepare(XaPrepare),
    PartialUpdateRows(PartialUpdateRows<'a>),
    TransactionPayload(TransactionPayload<'a>),
    LargeTransactionHeader(LargeTransactionHeader),
    /// The statement.
    MariaAnnotateRows(&'a [u8]),
    /// Name of a file.
    MariaBinlogCheckpoint(String),
    MariaGtid(MariaGtid),
    MariaGtidList(MariaGtidList),
    MariaStartEncryption(StartEncryption),
    MariaCompressedQuery(CompressedQuery<'a>),
    MariaCompressedRows(CompressedRows<'a>),
    MariaPartialRowData(PartialRowData<'a>),
    /// A type that the file's dialect does not have, and its body.
    Unknown(EventType, &'a [u8]),
}

/// The head of TABLE_MAP and rows events with table ids of four bytes, which no server since MySQL 5.1.4 writes.
const SHORT_ROWS_HEAD: usize = 6;
/// The head of a QUERY before MySQL 5.0, without status variables.
const SHORT_QUERY_HEAD: usize = 11;

impl<'a> EventBody<'a> {
    /// Reads an event of a file that begins with `format`.
    ///
    /// # Errors
    /// If the bytes are not what the type says; and for types and layouts that are older than MySQL 5.1, which are named.
    pub fn decode(event: &RawEvent<'a>, format: &FormatDescription) -> Result<Self, DecodeError> {
        let (event_type, body) = (event.header.event_type, event.body());
        check_age(event_type, format)?;
        let decoded = match Self::decode_common(event, body)? {
            Some(decoded) => Some(decoded),
            None if format.is_maria() => Self::decode_maria(event_type, body)?,
            None => Self::decode_mysql(event_type, body)?,
        };
        Ok(decoded.unwrap_or(EventBody::Unknown(event_type, body)))
    }

    /// What both dialects have.
    fn decode_common(event: &RawEvent<'a>, body: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        let event_type = event.header.event_type;
        Ok(Some(match event_type {
            EventType::START_V3 => EventBody::StartV3(StartV3::decode(body)?),
            EventType::QUERY => EventBody::Query(QueryEvent::decode(body)?),
            EventType::STOP => EventBody::Stop,
            EventType::ROTATE => EventBody::Rotate(Rotate::decode(body)?),
            EventType::INTVAR => EventBody::IntVar(IntVar::decode(body)?),
            EventType::LOAD | EventType::NEW_LOAD | EventType::CREATE_FILE => {
                EventBody::OldLoad(OldLoad::decode(event_type, body)?)
            }
            EventType::SLAVE => EventBody::SlavePosition(SlavePosition::decode(body)?),
            EventType::APPEND_BLOCK => EventBody::AppendBlock(FileBlock::decode(body)?),
            EventType::EXEC_LOAD => EventBody::ExecLoad(decode_file_id(body)?),
            EventType::DELETE_FILE => EventBody::DeleteFile(decode_file_id(body)?),
            EventType::RAND => EventBody::Rand(RandSeeds::decode(body)?),
            EventType::USER_VAR => EventBody::UserVar(UserVar::decode(body)?),
            EventType::FORMAT_DESCRIPTION => EventBody::FormatDescription(FormatDescription::decode(event)?),
            EventType::XID => EventBody::Xid(decode_xid(body)?),
            EventType::BEGIN_LOAD_QUERY => EventBody::BeginLoadQuery(FileBlock::decode(body)?),
            EventType::EXECUTE_LOAD_QUERY => EventBody::ExecuteLoadQuery(ExecuteLoadQuery::decode(body)?),
            EventType::TABLE_MAP => EventBody::TableMap(TableMapEvent::decode(body)?),
            EventType::INCIDENT => EventBody::Incident(Incident::decode(body)?),
            EventType::HEARTBEAT => {
                let (heartbeat, form) = Heartbeat::decode_form(event)?;
                EventBody::Heartbeat(heartbeat, form)
            }
            EventType::XA_PREPARE => EventBody::XaPrepare(XaPrepare::decode(body)?),
            _ if RowsKind::of(event_type).is_some() => EventBody::Rows(RowsEvent::decode(event_type, body)?),
            _ => return Ok(None),
        }))
    }

    fn decode_mysql(event_type: EventType, body: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        Ok(Some(match event_type {
            EventType::IGNORABLE => EventBody::Ignorable(body),
            EventType::ROWS_QUERY => EventBody::RowsQuery(RowsQuery::decode(body)?),
            event_type if event_type.is_gtid() => EventBody::Gtid(GtidEvent::decode(event_type, body)?),
            EventType::PREVIOUS_GTIDS => EventBody::PreviousGtids(GtidSet::decode(body)?),
            EventType::TRANSACTION_CONTEXT => EventBody::TransactionContext(TransactionContext::decode(body)?),
            EventType::VIEW_CHANGE => EventBody::ViewChange(ViewChange::decode(body)?),
            EventType::PARTIAL_UPDATE_ROWS => EventBody::PartialUpdateRows(PartialUpdateRows::decode(body)?),
            EventType::TRANSACTION_PAYLOAD => EventBody::TransactionPayload(TransactionPayload::decode(body)?),
            EventType::HEARTBEAT_V2 => EventBody::Heartbeat(Heartbeat::decode_fields(body)?, HeartbeatForm::Fields),
            EventType::LARGE_TRANSACTION_HEADER => {
                EventBody::LargeTransactionHeader(LargeTransactionHeader::decode(body)?)
            }
            _ => return Ok(None),
        }))
    }

    fn decode_maria(event_type: EventType, body: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        Ok(Some(match event_type {
            EventType::MARIA_ANNOTATE_ROWS => EventBody::MariaAnnotateRows(body),
            EventType::MARIA_BINLOG_CHECKPOINT => EventBody::MariaBinlogCheckpoint(decode_binlog_checkpoint(body)?),
            EventType::MARIA_GTID => EventBody::MariaGtid(MariaGtid::decode(body)?),
            EventType::MARIA_GTID_LIST => EventBody::MariaGtidList(MariaGtidList::decode(body)?),
            EventType::MARIA_START_ENCRYPTION => EventBody::MariaStartEncryption(StartEncryption::decode(body)?),
            EventType::MARIA_QUERY_COMPRESSED => EventBody::MariaCompressedQuery(CompressedQuery::decode(body)?),
            EventType::MARIA_PARTIAL_ROW_DATA => EventBody::MariaPartialRowData(PartialRowData::decode(body)?),
            _ if CompressedRows::plain_type(event_type).is_some() => {
                EventBody::MariaCompressedRows(CompressedRows::decode(event_type, body)?)
            }
            _ => return Ok(None),
        }))
    }

    /// The type that the event has.
    pub fn event_type(&self) -> EventType {
        match self {
            EventBody::StartV3(_) => EventType::START_V3,
            EventBody::Query(_) => EventType::QUERY,
            EventBody::Stop => EventType::STOP,
            EventBody::Rotate(_) => EventType::ROTATE,
            EventBody::IntVar(_) => EventType::INTVAR,
            EventBody::OldLoad(load) => load.event_type,
            EventBody::SlavePosition(_) => EventType::SLAVE,
            EventBody::AppendBlock(_) => EventType::APPEND_BLOCK,
            EventBody::ExecLoad(_) => EventType::EXEC_LOAD,
            EventBody::DeleteFile(_) => EventType::DELETE_FILE,
            EventBody::Rand(_) => EventType::RAND,
            EventBody::UserVar(_) => EventType::USER_VAR,
            EventBody::FormatDescription(_) => EventType::FORMAT_DESCRIPTION,
            EventBody::Xid(_) => EventType::XID,
            EventBody::BeginLoadQuery(_) => EventType::BEGIN_LOAD_QUERY,
            EventBody::ExecuteLoadQuery(_) => EventType::EXECUTE_LOAD_QUERY,
            EventBody::TableMap(_) => EventType::TABLE_MAP,
            EventBody::Rows(rows) => rows.event_type(),
            EventBody::Incident(_) => EventType::INCIDENT,
            EventBody::Heartbeat(_, HeartbeatForm::Fields) => EventType::HEARTBEAT_V2,
            EventBody::Heartbeat(..) => EventType::HEARTBEAT,
            EventBody::Ignorable(_) => EventType::IGNORABLE,
            EventBody::RowsQuery(_) => EventType::ROWS_QUERY,
            EventBody::Gtid(gtid) => gtid.event_type(),
            EventBody::PreviousGtids(_) => EventType::PREVIOUS_GTIDS,
            EventBody::TransactionContext(_) => EventType::TRANSACTION_CONTEXT,
            EventBody::ViewChange(_) => EventType::VIEW_CHANGE,
            EventBody::XaPrepare(_) => EventType::XA_PREPARE,
            EventBody::PartialUpdateRows(_) => EventType::PARTIAL_UPDATE_ROWS,
            EventBody::TransactionPayload(_) => EventType::TRANSACTION_PAYLOAD,
            EventBody::LargeTransactionHeader(_) => EventType::LARGE_TRANSACTION_HEADER,
            EventBody::MariaAnnotateRows(_) => EventType::MARIA_ANNOTATE_ROWS,
            EventBody::MariaBinlogCheckpoint(_) => EventType::MARIA_BINLOG_CHECKPOINT,
            EventBody::MariaGtid(_) => EventType::MARIA_GTID,
            EventBody::MariaGtidList(_) => EventType::MARIA_GTID_LIST,
            EventBody::MariaStartEncryption(_) => EventType::MARIA_START_ENCRYPTION,
            EventBody::MariaCompressedQuery(_) => EventType::MARIA_QUERY_COMPRESSED,
            EventBody::MariaCompressedRows(rows) => rows.event_type(),
            EventBody::MariaPartialRowData(_) => EventType::MARIA_PARTIAL_ROW_DATA,
            EventBody::Unknown(event_type, _) => *event_type,
        }
    }

    /// Appends the body. Of what a server of today wrote these are the same bytes.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        match self {
            EventBody::StartV3(start) => start.encode_body(out),
            EventBody::Query(query) => query.encode_body(out),
            EventBody::Stop => {}
            EventBody::Rotate(rotate) => rotate.encode_body(out),
            EventBody::IntVar(var) => var.encode_body(out),
            EventBody::OldLoad(load) => load.encode_body(out),
            EventBody::SlavePosition(position) => position.encode_body(out),
            EventBody::AppendBlock(block) | EventBody::BeginLoadQuery(block) => block.encode_body(out),
            EventBody::ExecLoad(file_id) | EventBody::DeleteFile(file_id) => {
                out.extend_from_slice(&file_id.to_le_bytes());
            }
            EventBody::Rand(seeds) => seeds.encode_body(out),
            EventBody::UserVar(var) => var.encode_body(out),
            EventBody::FormatDescription(format) => format.encode_body(out),
            EventBody::Xid(xid) => out.extend_from_slice(&xid.to_le_bytes()),
            EventBody::ExecuteLoadQuery(query) => query.encode_body(out),
            EventBody::TableMap(map) => map.encode_body(out),
            EventBody::Rows(rows) => rows.encode_body(out),
            EventBody::Incident(incident) => incident.encode_body(out),
            EventBody::Heartbeat(heartbeat, form) => heartbeat.encode_body(*form, out),
            EventBody::RowsQuery(query) => query.encode_body(out),
            EventBody::Gtid(gtid) => gtid.encode_body(out),
            EventBody::PreviousGtids(gtids) => gtids.encode(out),
            EventBody::TransactionContext(context) => context.encode_body(out),
            EventBody::ViewChange(view) => view.encode_body(out),
            EventBody::XaPrepare(prepare) => prepare.encode_body(out),
            EventBody::PartialUpdateRows(rows) => rows.encode_body(out),
            EventBody::TransactionPayload(payload) => payload.encode_body(out),
            EventBody::LargeTransactionHeader(header) => header.encode_body(out),
            EventBody::MariaBinlogCheckpoint(file) => encode_binlog_checkpoint(file, out),
            EventBody::MariaGtid(gtid) => gtid.encode_body(out),
            EventBody::MariaGtidList(list) => list.encode_body(out),
            EventBody::MariaStartEncryption(start) => start.encode_body(out),
            EventBody::MariaCompressedQuery(query) => query.encode_body(out),
            EventBody::MariaCompressedRows(rows) => rows.encode_body(out),
            EventBody::MariaPartialRowData(data) => data.encode_body(out),
            EventBody::Ignorable(bytes) | EventBody::MariaAnnotateRows(bytes) | EventBody::Unknown(_, bytes) => {
                out.extend_from_slice(bytes);
            }
        }
    }

    /// The whole event, with position and checksum, for the offset of a file.
    pub fn to_event(&self, frame: Frame, offset: u64) -> Vec<u8> {
        let mut body = Vec::new();
        self.encode_body(&mut body);
        whole_event(self.event_type(), frame, offset, &body)
    }
}

/// Whether the layout of this type in a file is one that is read.
///
/// # Errors
/// When it is older than MySQL 5.1; the type and the server are named.
pub fn check_age(event_type: EventType, format: &FormatDescription) -> Result<(), DecodeError> {
    let head = format.post_header_length(event_type);
    let is_old = match event_type {
        EventType::PRE_GA_WRITE_ROWS | EventType::PRE_GA_UPDATE_ROWS | EventType::PRE_GA_DELETE_ROWS => true,
        EventType::QUERY => head == SHORT_QUERY_HEAD,
        EventType::TABLE_MAP => head == SHORT_ROWS_HEAD,
        _ => RowsKind::of(event_type).is_some() && head == SHORT_ROWS_HEAD,
    };
    if is_old {
        let server = &format.server_version;
        return Err(DecodeError::new(format!("{event_type:?} as {server} writes it is older than what is understood")));
    }
    Ok(())
}
