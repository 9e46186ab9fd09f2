//! Events for servers to execute, and for people and programs to read: SQL with comments, as `mysqlbinlog -vv` prints it, the same
//! without what is not readable, or one JSON object per line.

mod charset;
mod file;
mod filter;
mod json;
mod others;
mod read;
mod replay;
mod session;
mod stream;
mod text;
mod value;

use std::collections::HashMap;

pub use file::{DumpOptions, dump_file};
pub use filter::DumpFilter;
use filter::Selector;
pub use read::{FileEvent, each_event};
use replay::Replay;
pub use replay::{LoadFiles, SqlOptions};
use session::SessionState;
pub use stream::{StreamDump, Streamed};

use crate::error::DecodeError;
use crate::event::{
    ColumnMeta, CompressedQuery, CompressedRows, EventBody, EventType, FormatDescription, GtidEvent, MariaGtid,
    MariaGtidList, PayloadLimits, QueryEvent, RawEvent, Rotate, RowsEvent, RowsKind, TableMap, TableMapEvent,
    TransactionPayload, decode_binlog_checkpoint, decode_rows_query, decode_xid,
};
use crate::gtid_set::GtidSet;

/// How events are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DumpFormat {
    /// Statements that MySQL, MariaDB and commuter execute, and comments.
    #[default]
    Sql,
    /// As `mysqlbinlog -vv --base64-output=decode-rows`.
    Text,
    /// An object per line.
    Json,
}

/// Shows the events of a log one after the other; remembers the tables that rows events refer to.
#[derive(Debug)]
pub struct Dumper {
    format: DumpFormat,
    sql: SqlOptions,
    tables: HashMap<u64, TableMap>,
    session: SessionState,
    replay: Replay,
    /// What was set for the next statement, which may not be wanted.
    context: Vec<u8>,
    file: FormatDescription,
    selector: Selector,
}

/// The most that a compressed statement, or the rows of a compressed event, may take: the largest packet of a server.
const INFLATED_SIZE_MAX: usize = 1 << 30;

impl Dumper {
    /// For the events of one file or stream, in order.
    pub fn new(format: DumpFormat) -> Self {
        Dumper::with_options(format, DumpFilter::default(), SqlOptions::default())
    }

    /// The same, of what is wanted.
    pub fn with_options(format: DumpFormat, filter: DumpFilter, sql: SqlOptions) -> Self {
        Dumper {
            format,
            sql,
            tables: HashMap::new(),
            session: SessionState::default(),
            replay: Replay::default(),
            context: Vec::new(),
            file: FormatDescription::new("", 0),
            selector: Selector::new(filter),
        }
    }

    /// What stands in front of the first event.
    pub fn begin(&self, out: &mut Vec<u8>) {
        if self.format == DumpFormat::Json {
            return;
        }
        if self.format == DumpFormat::Sql {
            text::line(out, format_args!("/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;"));
            text::line(out, format_args!("/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;"));
        }
        text::line(out, format_args!("DELIMITER /*!*/;"));
    }

    /// What stands behind the last event: a transaction that has no end there is rolled back.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if self.format == DumpFormat::Json {
            return;
        }
        self.replay.flush(self.file.checksum, out);
        if self.format == DumpFormat::Sql {
            if std::mem::take(&mut self.replay.is_open) {
                text::line(out, format_args!("ROLLBACK /* the log has no end of it here *//*!*/;"));
            }
            self.replay.local(false, out);
            text::line(out, format_args!("/*!50700 SET @@SESSION.GTID_NEXT= 'AUTOMATIC'*//*!*/;"));
        }
        text::line(out, format_args!("DELIMITER ;\n# End of log file"));
        if self.format == DumpFormat::Sql {
            text::line(out, format_args!("/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;"));
            text::line(out, format_args!("/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;"));
        }
    }

    /// Appends what is to be shown of an event that begins at `position`. Of a TRANSACTION_PAYLOAD that is the event itself;
    /// [`Dumper::inner_events`] shows what is inside.
    pub fn event(&mut self, position: u64, event: &RawEvent<'_>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.remember(event)?;
        let is_wanted = self.selector.wants(event)?;
        self.take(position, event, is_wanted, out)
    }

    fn take(
        &mut self,
        position: u64,
        event: &RawEvent<'_>,
        is_wanted: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let event_type = event.header.event_type;
        if self.format == DumpFormat::Json {
            return if is_wanted { json::event(self, position, event, out) } else { Ok(()) };
        }
        if matches!(event_type, EventType::INTVAR | EventType::RAND | EventType::USER_VAR) {
            let mut context = std::mem::take(&mut self.context);
            let shown = if is_wanted { text::event(self, position, event, &mut context) } else { Ok(()) };
            self.context = context;
            return shown;
        }
        // Rows whose statement ends in a table that is not wanted, or not at all.
        if !event_type.has_rows() && event_type != EventType::TABLE_MAP {
            self.replay.flush(self.file.checksum, out);
        }
        if !is_wanted {
            self.context.clear();
            return Ok(());
        }
        // Blocks of a file stand between a LOAD DATA and what is said of it.
        if !matches!(event_type, EventType::BEGIN_LOAD_QUERY | EventType::APPEND_BLOCK) {
            out.append(&mut self.context);
        }
        text::event(self, position, event, out)
    }

    /// Rows further on need what it says of their tables.
    fn remember(&mut self, event: &RawEvent<'_>) -> Result<(), DecodeError> {
        match event.header.event_type {
            EventType::TABLE_MAP => {
                let map = TableMap::of(&TableMapEvent::decode(event.body())?, self.file.dialect())?;
                if self.format == DumpFormat::Sql {
                    self.replay.map(map.table_id, event);
                }
                self.tables.insert(map.table_id, map);
            }
            EventType::FORMAT_DESCRIPTION => self.file = FormatDescription::decode(event)?,
            _ => {}
        }
        Ok(())
    }

    /// Shows the events inside of a TRANSACTION_PAYLOAD at `position`, and nothing for others. A payload may hold far more
    /// than fits into memory, so `flush` gets each event's text, and says whether to go on.
    pub fn inner_events(
        &mut self,
        position: u64,
        event: &RawEvent<'_>,
        mut flush: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), DecodeError> {
        if event.header.event_type != EventType::TRANSACTION_PAYLOAD || !self.selector.in_wanted_transaction() {
            return Ok(());
        }
        let payload = TransactionPayload::decode(event.body())?;
        let mut events = payload.events(PayloadLimits::default())?;
        let mut out = Vec::new();
        while let Some(inner) = events.next_event()? {
            out.clear();
            self.remember(&inner)?;
            let is_wanted = self.selector.wants_inner(&inner)?;
            self.take(position, &inner, is_wanted, &mut out)?;
            if !flush(&out) {
                return Ok(());
            }
        }
        if self.format != DumpFormat::Json {
            flush(b"# End of compressed events\n");
        }
        Ok(())
    }

    fn table(&self, rows: &RowsEvent<'_>) -> Result<&TableMap, DecodeError> {
        let unknown = || DecodeError::new(format!("rows of table {} without a TABLE_MAP", rows.table_id));
        self.tables.get(&rows.table_id).ok_or_else(unknown)
    }
}

/// The last column of `SHOW BINLOG EVENTS`.
pub fn info(event: &RawEvent<'_>) -> Result<String, DecodeError> {
    let body = event.body();
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match event.header.event_type {
        EventType::FORMAT_DESCRIPTION => {
            format!("Server ver: {}, Binlog ver: 4", FormatDescription::decode(event)?.server_version)
        }
        EventType::PREVIOUS_GTIDS => GtidSet::decode(body)?.to_string(),
        event_type if event_type.is_gtid() => {
            let gtid = GtidEvent::decode(event_type, body)?;
            match gtid.local_to {
                Some(_) => "SET @@SESSION.SQL_LOG_BIN= 0".to_owned(),
                None => format!("SET @@SESSION.GTID_NEXT= '{}'", gtid_text(&gtid)),
            }
        }
        EventType::QUERY => query_text(&QueryEvent::decode(body)?, None),
        EventType::MARIA_QUERY_COMPRESSED => {
            let query = CompressedQuery::decode(body)?;
            query_text(&query.head, Some(&query.sql(INFLATED_SIZE_MAX)?))
        }
        EventType::XID => format!("COMMIT /* xid={} */", decode_xid(body)?),
        EventType::ROTATE => {
            let rotate = Rotate::decode(body)?;
            format!("{};pos={}", rotate.file, rotate.position)
        }
        EventType::ROWS_QUERY => format!("# {}", lossy(decode_rows_query(body)?)),
        EventType::TABLE_MAP => {
            let name = TableMap::decode_name(body)?;
            format!("table_id: {} ({}.{})", name.table_id, lossy(name.schema), lossy(name.table))
        }
        EventType::MARIA_ANNOTATE_ROWS => lossy(body),
        EventType::MARIA_BINLOG_CHECKPOINT => decode_binlog_checkpoint(body)?,
        EventType::MARIA_GTID => maria_gtid_text(event)?,
        EventType::MARIA_GTID_LIST => format!("[{}]", maria_list_text(body)?),
        event_type if RowsKind::of(event_type).is_some() => rows_text(&RowsEvent::decode(event_type, body)?),
        event_type if CompressedRows::plain_type(event_type).is_some() => {
            rows_text(&CompressedRows::decode(event_type, body)?.head)
        }
        _ => others::describe(&EventBody::decode(event, &format_of(event.header.event_type))?),
    })
}

/// A file in which the event can be: numbers from 160 on are MariaDB's, and all others that have no text above mean the same
/// in both dialects, or are MySQL's.
fn format_of(event_type: EventType) -> FormatDescription {
    let is_maria = event_type >= EventType::MARIA_ANNOTATE_ROWS;
    FormatDescription::new(if is_maria { "MariaDB" } else { "" }, 0)
}

/// A statement with its default database. `sql` stands for one that is compressed in the event.
fn query_text(query: &QueryEvent<'_>, sql: Option<&[u8]>) -> String {
    let sql = String::from_utf8_lossy(sql.unwrap_or(query.sql));
    if query.schema.is_empty() || query.begins_transaction() || query.ends_transaction() {
        sql.into_owned()
    } else {
        format!("use `{}`; {sql}", String::from_utf8_lossy(query.schema))
    }
}

fn rows_text(rows: &RowsEvent<'_>) -> String {
    format!("table_id: {}{}", rows.table_id, if rows.flags & 1 != 0 { " flags: STMT_END_F" } else { "" })
}

fn gtid_text(event: &GtidEvent) -> String {
    match event.gtid {
        None => "ANONYMOUS".to_owned(),
        Some(gtid) => gtid.to_string(),
    }
}

fn maria_gtid_text(event: &RawEvent<'_>) -> Result<String, DecodeError> {
    let gtid = MariaGtid::decode(event.body())?;
    let begin = if gtid.is_standalone() { "" } else { "BEGIN " };
    Ok(format!("{begin}GTID {}-{}-{}{}", gtid.domain_id, event.header.server_id, gtid.seq_no, gtid.flag_words()))
}

fn maria_list_text(body: &[u8]) -> Result<String, DecodeError> {
    let list = MariaGtidList::decode(body)?.gtids;
    let texts: Vec<String> = list.iter().map(|(domain, server, seq)| format!("{domain}-{server}-{seq}")).collect();
    Ok(texts.join(","))
}

/// Seconds since 1970 as `YYYY-MM-DD hh:mm:ss` in UTC.
pub fn time_text(timestamp: u32) -> String {
    let [year, month, day, hour, minute, second] = civil(timestamp);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// A value of a row image for people, as `mysqlbinlog -v` prints it.
///
/// # Errors
/// When the bytes are none of the column.
pub fn value_text(column: &ColumnMeta, bytes: &[u8]) -> Result<String, DecodeError> {
    value::Shown::decode(column, bytes).map(|(shown, _)| shown.text())
}

/// Seconds since 1970 as year, month, day, hour, minute, second in UTC.
fn civil(timestamp: u32) -> [u32; 6] {
    let (days, seconds) = (timestamp / 86_400, timestamp % 86_400);
    // Days since 0000-03-01, in eras of 400 years: the usual arithmetic on a year that begins in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u32::from(month <= 2);
    [year, month, day, seconds / 3600, seconds / 60 % 60, seconds % 60]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn civil_dates() {
        assert_eq!(civil(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(civil(951_782_400), [2000, 2, 29, 0, 0, 0]);
        assert_eq!(civil(1_795_192_962), [2026, 11, 20, 16, 42, 42]);
        assert_eq!(civil(u32::MAX), [2106, 2, 7, 6, 28, 15]);
    }
}
