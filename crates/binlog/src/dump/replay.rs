//! What makes a dump SQL that servers execute: BINLOG statements, and what is around them.
//!
//! The same text is for MySQL, MariaDB and commuter, whoever wrote the log: rows are events of version 2, which all of them take, behind
//! the log's own FORMAT_DESCRIPTION. GTIDs of MySQL are in comments that MariaDB does not read; MariaDB's are printed both as MariaDB sets
//! them and as the GTID that stands for them ([`MariaGtidName`]).
//!
//! # Invariants
//! - A BINLOG has whole events, the TABLE_MAPs of its rows, and at its end a rows event that says that the statement ends: servers keep no
//!   table from one BINLOG to the next. What is longer than [`BINLOG_SIZE`] is cut into several such statements; the transaction is one.
//! - Whatever is left out (by a filter, or because the log ends), BEGIN and its end are printed both or neither.

use std::collections::HashMap;

use base::{Gtid, base64};

use super::text::line;
use crate::error::DecodeError;
use crate::event::{
    ChecksumAlgorithm, ExecuteLoadQuery, FLAG_ARTIFICIAL, FLAG_BINLOG_IN_USE, FLAGS_OFFSET, FileBlock,
    FormatDescription, HEADER_SIZE, LENGTH_OFFSET, RawEvent, RowsEvent, RowsVersion, rows_flags, seal,
};
use crate::maria_gtid::MariaGtidName;

/// Bytes of rows in one BINLOG: its text fits into the packets of servers that are not told otherwise.
const BINLOG_SIZE: usize = 4 << 20;
/// So many files of one number may be in a folder before it is given up.
const LOAD_FILES_MAX: u32 = 10_000;

/// What is printed as SQL.
#[derive(Clone, Debug, Default)]
pub struct SqlOptions {
    /// No GTIDs: the server gives its own.
    pub skip_gtids: bool,
    /// No rows as comments beside BINLOG.
    pub skip_rows: bool,
    /// Where the files of LOAD DATA go. Without it such a statement is an error.
    pub load_files: Option<LoadFiles>,
}

/// Files that LOAD DATA statements of a dump read.
#[derive(Clone, Debug)]
pub struct LoadFiles {
    /// Their folder, as the client that runs the dump finds it.
    pub folder: String,
    /// Writes bytes to the file of a path: makes one that must not be there yet (`true`), or appends to it.
    pub write: fn(&str, bool, &[u8]) -> std::io::Result<()>,
}

/// What was begun and is not printed yet.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// TABLE_MAPs without checksums, by the table's number.
    maps: HashMap<u64, Vec<u8>>,
    /// Rows events without checksums.
    rows: Vec<Vec<u8>>,
    /// Their tables, in order.
    tables: Vec<u64>,
    size: usize,
    /// A transaction was begun by what was printed.
    pub(super) is_open: bool,
    /// `sql_log_bin` is off by what was printed.
    is_local: bool,
    /// MariaDB's domain and server, as printed last.
    maria: Option<(u32, u32)>,
    /// The next statement is shown only.
    pub(super) skips_statement: bool,
    /// Files of LOAD DATA by their numbers.
    files: HashMap<u32, String>,
}

impl Replay {
    pub(super) fn map(&mut self, table_id: u64, event: &RawEvent<'_>) {
        self.maps.insert(table_id, plain(event));
    }

    /// Takes rows; prints what is complete.
    pub(super) fn rows(
        &mut self,
        event: &RawEvent<'_>,
        rows: &RowsEvent<'_>,
        checksum: ChecksumAlgorithm,
        out: &mut Vec<u8>,
    ) {
        let rows = RowsEvent { version: RowsVersion::V2, ..*rows };
        let mut bytes = event.bytes[..HEADER_SIZE].to_vec();
        bytes[4] = rows.event_type().0;
        rows.encode_body(&mut bytes);
        self.add(rows.table_id, rows.flags, bytes, checksum, out);
    }

    /// The same for rows that are in no such form (PARTIAL_UPDATE_ROWS).
    pub(super) fn other_rows(
        &mut self,
        event: &RawEvent<'_>,
        head: &RowsEvent<'_>,
        checksum: ChecksumAlgorithm,
        out: &mut Vec<u8>,
    ) {
        self.add(head.table_id, head.flags, plain(event), checksum, out);
    }

    fn add(&mut self, table: u64, flags: u16, bytes: Vec<u8>, checksum: ChecksumAlgorithm, out: &mut Vec<u8>) {
        if !self.tables.contains(&table) {
            self.tables.push(table);
        }
        self.size += bytes.len();
        self.rows.push(bytes);
        if flags & rows_flags::STATEMENT_END != 0 || self.size >= BINLOG_SIZE {
            self.flush(checksum, out);
        }
    }

    /// Prints the rows that were taken, as a statement.
    pub(super) fn flush(&mut self, checksum: ChecksumAlgorithm, out: &mut Vec<u8>) {
        let Some(last) = self.rows.last_mut() else { return };
        last[HEADER_SIZE + rows_flags::OFFSET] |= rows_flags::STATEMENT_END as u8;
        out.extend_from_slice(b"\nBINLOG '\n");
        let maps = self.tables.iter().filter_map(|table| self.maps.get(table)).cloned();
        for event in maps.chain(std::mem::take(&mut self.rows)) {
            base64::encode_lines(&protected(event, checksum), out);
            out.push(b'\n');
        }
        out.extend_from_slice(b"'/*!*/;\n");
        self.tables.clear();
        self.size = 0;
    }

    /// The next transaction is local to its server, or is not: so it is where it is replayed.
    pub(super) fn local(&mut self, is_local: bool, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.is_local, is_local) != is_local {
            line(out, format_args!("SET @@SESSION.SQL_LOG_BIN= {}/*!*/;", u8::from(!is_local)));
        }
    }

    /// The GTID of the next transaction, for MySQL and commuter; and for MariaDB, if it is one of MariaDB's.
    pub(super) fn gtid(&mut self, gtid: Gtid, out: &mut Vec<u8>) {
        line(out, format_args!("/*!50700 SET @@SESSION.GTID_NEXT= '{gtid}'*//*!*/;"));
        let Some(MariaGtidName { domain_id, server_id, seq_no }) = MariaGtidName::of(gtid) else { return };
        if self.maria != Some((domain_id, server_id)) {
            self.maria = Some((domain_id, server_id));
            line(out, format_args!("/*M!100001 SET @@session.gtid_domain_id={domain_id}*//*!*/;"));
            line(out, format_args!("/*M!100001 SET @@session.server_id={server_id}*//*!*/;"));
        }
        line(out, format_args!("/*M!100001 SET @@session.gtid_seq_no={seq_no}*//*!*/;"));
    }

    /// A block of a file that a LOAD DATA reads; the first one begins the file.
    pub(super) fn block(
        &mut self,
        block: &FileBlock<'_>,
        is_first: bool,
        files: Option<&LoadFiles>,
    ) -> Result<(), DecodeError> {
        let Some(LoadFiles { folder, write }) = files else { return Ok(()) };
        let failed = |path: &str, error| DecodeError::new(format!("cannot write {path}: {error}"));
        if !is_first {
            let unknown = || DecodeError::new(format!("block of file {}, which was not begun", block.file_id));
            let path = self.files.get(&block.file_id).ok_or_else(unknown)?;
            return write(path, false, block.block).map_err(|error| failed(path, error));
        }
        // Other dumps may have left files there.
        for number in 0.. {
            let path = format!("{folder}/SQL_LOAD_MB-{}-{number}", block.file_id);
            match write(&path, true, block.block) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < LOAD_FILES_MAX => {}
                written => {
                    written.map_err(|error| failed(&path, error))?;
                    self.files.insert(block.file_id, path);
                    break;
                }
            }
        }
        Ok(())
    }

    /// LOAD DATA from the file that was made of its blocks.
    pub(super) fn load(&mut self, load: &ExecuteLoadQuery<'_>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        let Some(path) = self.files.remove(&load.file_id) else {
            return Err(DecodeError::new(format!(
                "LOAD DATA of file {}, of which there are no blocks or no folder to put them into",
                load.file_id
            )));
        };
        let sql = load.query.sql;
        let part = |from: u32, to: usize| sql.get(from as usize..to);
        let parts = part(0, load.name_start as usize).zip(part(load.name_end, sql.len()));
        let (before, after) =
            parts.ok_or_else(|| DecodeError::new("LOAD DATA: a file's name outside of the statement"))?;
        out.extend_from_slice(before);
        let duplicates = match load.duplicates {
            1 => " IGNORE",
            2 => " REPLACE",
            _ => "",
        };
        let path = path.replace('\\', "\\\\").replace('\'', "\\'");
        out.extend_from_slice(format!(" LOCAL INFILE '{path}'{duplicates} INTO").as_bytes());
        out.extend_from_slice(after);
        Ok(())
    }
}

/// The BINLOG of a FORMAT_DESCRIPTION, as of a file that is closed.
pub(super) fn format_description(event: &RawEvent<'_>, format: &FormatDescription, out: &mut Vec<u8>) {
    let mut bytes = event.bytes.to_vec();
    bytes[FLAGS_OFFSET] &= !(FLAG_BINLOG_IN_USE as u8 | FLAG_ARTIFICIAL as u8);
    if format.checksum == ChecksumAlgorithm::Crc32 {
        seal(&mut bytes);
    }
    out.extend_from_slice(b"BINLOG '\n");
    base64::encode_lines(&bytes, out);
    out.extend_from_slice(b"\n'/*!*/;\n");
}

/// An event without checksum.
fn plain(event: &RawEvent<'_>) -> Vec<u8> {
    [&event.bytes[..HEADER_SIZE], event.body()].concat()
}

/// A whole event of one without checksum.
fn protected(mut event: Vec<u8>, checksum: ChecksumAlgorithm) -> Vec<u8> {
    if checksum == ChecksumAlgorithm::Crc32 {
        event.extend_from_slice(&[0; 4]);
    }
    let length = event.len() as u32;
    event[LENGTH_OFFSET..LENGTH_OFFSET + 4].copy_from_slice(&length.to_le_bytes());
    if checksum == ChecksumAlgorithm::Crc32 {
        seal(&mut event);
    }
    event
}
