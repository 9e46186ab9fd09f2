//! BINLOG: events of a log, as mysqlbinlog prints them, executed in the session's transaction.
//!
//! ```text
//! BINLOG 'FORMAT_DESCRIPTION'            how the events after it are read
//! BINLOG 'TABLE_MAP … rows … rows'       rows, applied as those of another server's log are (session/replay.rs)
//! ```
//! # Invariants
//! - The statement takes effect whole or not at all. Without BEGIN it is a transaction by itself, as other statements are.
//! - Table maps hold until rows say that their statement ends, over several BINLOGs.
//! - An event whose checksum is wrong is not applied.

use std::collections::HashMap;
use std::sync::Arc;

use base::{SqlError, base64, codes};
use binlog::event::{
    ChecksumAlgorithm, EventBody, PartialUpdateRows, RowsEvent, RowsKind, TableMap, TableMapEvent, rows_flags,
};
use binlog::{DecodeError, FormatDescription, RawEvent};
use engine::{EngineError, Savepoint};

use super::Session;
use super::counters::Counter;
use super::gtid::GtidCheck;
use crate::account::Privilege;
use crate::parse::ast::{BinlogEvents, TableName};
use crate::plan::{TableUse, UsedColumns};
use crate::result::Outcome;

/// Bytes that a compressed event may unfold to: the largest packet.
const INFLATED_MAX: usize = 1 << 30;
/// Tables whose rows did not come yet; a statement has far fewer.
const TABLES_MAX: usize = 1024;
/// The table of rows that only say that the statement ends.
const NO_TABLE: u64 = 0x00ff_ffff;

/// What BINLOGs have said that holds for those after them.
#[derive(Debug, Default)]
pub(super) struct BinlogState {
    format: Option<FormatDescription>,
    /// By number in their TABLE_MAP.
    tables: HashMap<u64, Arc<TableMap>>,
}

impl BinlogState {
    /// Whether what is executed is from a MariaDB's log.
    pub(super) fn is_maria(&self) -> bool {
        self.format.as_ref().is_some_and(FormatDescription::is_maria)
    }
}

/// Where a BINLOG with rows began.
struct Begun {
    check: GtidCheck,
    /// `None` if nothing is done.
    undo: Option<Savepoint>,
}

impl Session {
    /// BINLOG.
    pub(super) async fn binlog(&mut self, events: &BinlogEvents) -> Result<Outcome, SqlError> {
        self.check_global(&[Privilege::BinlogAdmin, Privilege::ReplicationApplier])?;
        let bytes = self.binlog_bytes(events)?;
        let mut begun = None;
        let result = self.binlog_events(&bytes, &mut begun).await;
        if result.is_err() {
            self.binlog.tables.clear();
        }
        self.end_binlog(begun, result).await?;
        Ok(Outcome::default())
    }

    fn binlog_bytes(&mut self, events: &BinlogEvents) -> Result<Vec<u8>, SqlError> {
        let joined;
        let text = match events {
            BinlogEvents::Text(text) => text.as_bytes(),
            BinlogEvents::Halves(first, second) => {
                joined = [self.take_half(first)?, self.take_half(second)?].concat();
                &joined
            }
        };
        if text.is_empty() {
            return Err(no_event());
        }
        base64::decode_pieces(text)
            .ok_or_else(|| SqlError::new(codes::BASE64_DECODE_ERROR, "Decoding of base64 string failed"))
    }

    /// Half of a text that is too long for one packet. The variable is NULL then, as in MariaDB: it may be large.
    fn take_half(&mut self, name: &str) -> Result<Vec<u8>, SqlError> {
        let mut variables = self.info.user_variables.lock();
        let value = variables.get_mut(&name.to_lowercase()).map(|(value, _)| std::mem::take(value));
        match value {
            Some(types::Value::Str(text) | types::Value::Bytes(text)) => Ok(text.to_vec()),
            _ => {
                let message = format!("Incorrect argument type to variable '{name}'");
                Err(SqlError::new(codes::WRONG_TYPE_FOR_VAR, message))
            }
        }
    }

    async fn binlog_events(&mut self, mut rest: &[u8], begun: &mut Option<Begun>) -> Result<(), SqlError> {
        while !rest.is_empty() {
            let format = self.binlog.format.as_ref();
            let checksum = format.map_or(ChecksumAlgorithm::Off, |format| format.checksum);
            let event = RawEvent::first_of(rest, checksum).map_err(|_| no_event())?;
            rest = &rest[event.bytes.len()..];
            self.binlog_event(&event, begun).await?;
        }
        Ok(())
    }

    async fn binlog_event(&mut self, event: &RawEvent<'_>, begun: &mut Option<Begun>) -> Result<(), SqlError> {
        let event_type = event.header.event_type;
        if event_type == binlog::EventType::FORMAT_DESCRIPTION {
            event.verify().map_err(corrupt)?;
            self.binlog.format = Some(FormatDescription::decode(event).map_err(corrupt)?);
            self.binlog.tables.clear();
            return Ok(());
        }
        let Some(format) = &self.binlog.format else {
            let message = format!(
                "The BINLOG statement of type `{}` was not preceded by a format description BINLOG statement.",
                event_type.name()
            );
            return Err(SqlError::new(codes::NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT, message));
        };
        event.verify().map_err(corrupt)?;
        match EventBody::decode(event, format).map_err(corrupt)? {
            EventBody::TableMap(map) => self.binlog_map(&map),
            EventBody::Rows(rows) => Box::pin(self.binlog_rows(&rows, false, begun)).await,
            EventBody::MariaCompressedRows(rows) => {
                let bytes = rows.rows(INFLATED_MAX).map_err(corrupt)?;
                Box::pin(self.binlog_rows(&rows.with_rows(&bytes), false, begun)).await
            }
            EventBody::PartialUpdateRows(rows) => Box::pin(self.binlog_rows(&rows.update, true, begun)).await,
            _ => {
                let message = format!(
                    "Only Format_description_log_event and row events are allowed in BINLOG statements (but {} was provided)",
                    event_type.name()
                );
                Err(SqlError::new(codes::ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT, message))
            }
        }
    }

    fn binlog_map(&mut self, event: &TableMapEvent<'_>) -> Result<(), SqlError> {
        let dialect = self.binlog.format.as_ref().map(FormatDescription::dialect).unwrap_or_default();
        let map = TableMap::of(event, dialect).map_err(corrupt)?;
        if self.binlog.tables.len() >= TABLES_MAX && !self.binlog.tables.contains_key(&map.table_id) {
            return Err(corrupt(DecodeError(format!("more than {TABLES_MAX} tables without rows"))));
        }
        self.binlog.tables.insert(map.table_id, Arc::new(map));
        Ok(())
    }

    async fn binlog_rows(
        &mut self,
        rows: &RowsEvent<'_>,
        is_partial: bool,
        begun: &mut Option<Begun>,
    ) -> Result<(), SqlError> {
        let ends = rows.flags & rows_flags::STATEMENT_END != 0;
        let Some(map) = self.binlog.tables.get(&rows.table_id).cloned() else {
            if rows.table_id == NO_TABLE && ends && rows.rows.is_empty() {
                self.binlog.tables.clear();
                return Ok(());
            }
            return Err(corrupt(DecodeError(format!("rows of table {} without a TABLE_MAP", rows.table_id))));
        };
        let check = match begun {
            Some(begun) => begun.check,
            None => begun.insert(self.begin_binlog()?).check,
        };
        if check == GtidCheck::Run {
            self.check_binlog_rows(&map, rows.kind)?;
            match is_partial {
                false => self.apply_rows(&map, rows).await?,
                true => self.apply_partial_rows(&map, &PartialUpdateRows { update: *rows }).await?,
            };
        }
        if ends {
            self.binlog.tables.clear();
        }
        Ok(())
    }

    /// The transaction of a BINLOG with rows.
    fn begin_binlog(&mut self) -> Result<Begun, SqlError> {
        let check = self.check_gtid_of_rows()?;
        if check == GtidCheck::LeaveOut {
            return Ok(Begun { check, undo: None });
        }
        self.check_writable()?;
        let undo = self.transaction_to_use().transaction.savepoint();
        self.check_writable().inspect_err(|_| self.end_single())?;
        Ok(Begun { check, undo: Some(undo) })
    }

    /// Who has BINLOG_ADMIN may change any table by BINLOG, as in MySQL; others those that they may change otherwise.
    fn check_binlog_rows(&mut self, map: &TableMap, kind: RowsKind) -> Result<(), SqlError> {
        use crate::plan::Privilege as Use;
        let (needed, used) = match kind {
            RowsKind::Write => (Privilege::Insert, Use::Insert),
            RowsKind::Update => (Privilege::Update, Use::Update),
            RowsKind::Delete => (Privilege::Delete, Use::Delete),
        };
        if !self.account().global.has(Privilege::BinlogAdmin) {
            let table = TableName { schema: Some(map.schema.clone()), name: map.table.clone() };
            self.check_table(needed, &table)?;
        }
        let (schema, table) = (map.schema.clone(), map.table.clone());
        self.check_locked_tables(&[TableUse {
            schema,
            table,
            temporary: false,
            privilege: used,
            columns: UsedColumns::Whole,
        }])
    }

    /// Commits, or undoes, what one BINLOG has done.
    async fn end_binlog(&mut self, begun: Option<Begun>, result: Result<(), SqlError>) -> Result<(), SqlError> {
        let Some(Begun { undo: Some(undo), .. }) = begun else { return result };
        let Some(mut open) = self.take_transaction() else {
            // A deadlock: the whole transaction is gone.
            self.gtid_ended();
            return result.and(Err(EngineError::RolledBack.into()));
        };
        if result.is_err() {
            open.transaction.rollback_to(undo);
        }
        match result {
            result if open.explicit => {
                self.put_transaction(open);
                result
            }
            Ok(()) => {
                self.count(Counter::HandlerCommit);
                let _owned = self.gtid_ended();
                let pending = open.transaction.enqueue().await?;
                self.wait_for_commit(pending.ended()).await
            }
            Err(error) => {
                self.gtid_ended();
                Err(error)
            }
        }
    }
}

/// 1149: bytes that are no whole event.
fn no_event() -> SqlError {
    let message = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right \
                   syntax to use";
    SqlError::new(codes::SYNTAX_ERROR, message)
}

/// 1610: an event that cannot be one.
fn corrupt(error: DecodeError) -> SqlError {
    SqlError::new(codes::REPLICA_CORRUPT_EVENT, format!("Corrupted replication event was detected: {error}"))
}
