//! XA: distributed transactions.
//!
//! ```text
//!   XA START ── ACTIVE ── XA END ── IDLE ──┬─ XA PREPARE ── prepared: nobody's, with its locks ──┬─ XA COMMIT      (of any session, also after
//!                                          ├─ XA COMMIT … ONE PHASE                              └─ XA ROLLBACK     a restart, or on a new source)
//!                                          └─ XA ROLLBACK
//! ```
//! # Invariants
//! - A name is one transaction: of a session, or prepared.
//! - A session lets go of what it has prepared, as in MySQL with `xa_detach_on_prepare`; its end does not touch it.
//! - What is prepared in the log is in [`XaTransactions`] with its locks as long as this server takes commits.
//!
//! A second phase that ends before it has its place (the client is gone) leaves the transaction prepared.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{SqlError, codes};
use binlog::event::{QueryEvent, RowsEvent, RowsKind, TableMap, Xid};
use binlog::{EventType, LogTransaction};
use engine::{SessionHandle, Transaction};
use parking_lot::Mutex;
use types::Value;

use super::Session;
use super::gtid::PendingCommit;
use crate::account::Privilege;
use crate::ddl;
use crate::information_schema::column_spec;
use crate::parse::ast::{Ddl, Statement, TableName, TransactionStatement, XaStart, XaStatement, XidFormat};
use crate::result::{Outcome, ResultColumn, ResultSink};
use crate::show;

/// The distributed transactions of a server.
#[derive(Default)]
pub struct XaTransactions(Mutex<BTreeMap<Xid, Slot>>);

enum Slot {
    /// A session has it.
    Held,
    /// It is prepared, and nobody has it.
    Prepared(Box<Transaction>),
}

impl XaTransactions {
    /// Lets go of all that are prepared, and of their locks: the log says them as before. For a server that takes no more commits.
    pub fn forget_prepared(&self) {
        let mut all = self.0.lock();
        let (prepared, held) =
            std::mem::take(&mut *all).into_iter().partition(|(_, slot)| matches!(slot, Slot::Prepared(_)));
        *all = held;
        drop(all);
        let prepared: BTreeMap<Xid, Slot> = prepared;
        drop(prepared);
    }

    fn names_of_prepared(&self) -> Vec<Xid> {
        let all = self.0.lock();
        all.iter().filter(|(_, slot)| matches!(slot, Slot::Prepared(_))).map(|(xid, _)| xid.clone()).collect()
    }
}

/// The name of a transaction that a session has.
pub(super) struct HeldXid {
    xid: Xid,
    all: Arc<XaTransactions>,
}

impl HeldXid {
    fn new(xid: &Xid, all: &Arc<XaTransactions>) -> Result<Self, SqlError> {
        let mut slots = all.0.lock();
        if slots.contains_key(xid) {
            return Err(SqlError::new(codes::XAER_DUPID, "XAER_DUPID: The XID already exists"));
        }
        slots.insert(xid.clone(), Slot::Held);
        drop(slots);
        Ok(HeldXid { xid: xid.clone(), all: all.clone() })
    }

    /// The session lets go of it, prepared.
    fn put(self, transaction: Transaction) {
        self.all.0.lock().insert(self.xid.clone(), Slot::Prepared(Box::new(transaction)));
    }
}

impl Drop for HeldXid {
    fn drop(&mut self) {
        let mut slots = self.all.0.lock();
        if matches!(slots.get(&self.xid), Some(Slot::Held)) {
            slots.remove(&self.xid);
        }
    }
}

/// A prepared transaction in the middle of its second phase: until that has its place, it goes back if this is dropped.
struct Ending {
    name: Option<HeldXid>,
    transaction: Option<Box<Transaction>>,
}

impl Ending {
    fn take(xid: &Xid, all: &Arc<XaTransactions>) -> Option<Self> {
        let mut slots = all.0.lock();
        let slot = slots.get_mut(xid).filter(|slot| matches!(slot, Slot::Prepared(_)))?;
        let Slot::Prepared(transaction) = std::mem::replace(slot, Slot::Held) else { return None };
        drop(slots);
        Some(Ending { name: Some(HeldXid { xid: xid.clone(), all: all.clone() }), transaction: Some(transaction) })
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let (Some(name), Some(transaction)) = (self.name.take(), self.transaction.take())
            && transaction.prepared_as().is_some()
        {
            name.put(*transaction);
        }
    }
}

/// What a session is in.
pub(super) struct Branch {
    name: HeldXid,
    is_idle: bool,
}

impl Session {
    /// Whether a statement may run in a distributed transaction, if the session has one.
    pub(super) fn check_xa(&self, statement: &Statement) -> Result<(), SqlError> {
        if self.xa.is_none() {
            return Ok(());
        }
        match statement {
            Statement::Ddl(Ddl::CreateTable(create)) | Statement::CreateTableSelect(create, _) if create.temporary => {
                return self.check_xa_temporary();
            }
            Statement::Ddl(Ddl::DropTables { tables, temporary: true, .. }) => return self.check_xa_drop(tables),
            _ => {}
        }
        let ends = matches!(
            statement,
            Statement::Transaction(
                TransactionStatement::Begin { .. }
                    | TransactionStatement::Commit(_)
                    | TransactionStatement::Rollback(_),
            ) | Statement::Ddl(_)
                | Statement::CreateTableSelect(..)
                | Statement::LockTables(_)
        );
        if ends { Err(self.wrong_xa_state()) } else { Ok(()) }
    }

    /// The same of one that uses tables: behind XA END, and when a deadlock has ended what was begun, none may.
    pub(crate) fn check_xa_tables(&self) -> Result<(), SqlError> {
        match &self.xa {
            Some(branch) if branch.is_idle || self.transaction.open().is_none() => Err(self.wrong_xa_state()),
            _ => Ok(()),
        }
    }

    /// No distributed transaction may use temporary tables: prepared, it belongs to no session.
    pub(crate) fn check_xa_temporary(&self) -> Result<(), SqlError> {
        let message = "XA: Temporary tables cannot be accessed inside XA transactions when xa_detach_on_prepare=ON";
        self.xa.as_ref().map_or(Ok(()), |_| Err(SqlError::new(codes::XA_TEMP_TABLE, message)))
    }

    /// DROP TEMPORARY TABLE commits nothing: it may say that there is no such table.
    fn check_xa_drop(&self, tables: &[TableName]) -> Result<(), SqlError> {
        ddl::check_distinct(tables, self.database())?;
        if self.any_temporary(tables) { self.check_xa_temporary() } else { self.check_xa_tables() }
    }

    fn xa_state(&self) -> &'static str {
        match &self.xa {
            None => "NON-EXISTING",
            Some(_) if self.transaction.open().is_none() => "ROLLBACK ONLY",
            Some(Branch { is_idle: true, .. }) => "IDLE",
            Some(_) => "ACTIVE",
        }
    }

    fn wrong_xa_state(&self) -> SqlError {
        let message = format!(
            "XAER_RMFAIL: The command cannot be executed when global transaction is in the  {} state",
            self.xa_state()
        );
        SqlError::new(codes::XAER_RMFAIL, message)
    }

    pub(super) async fn xa_statement(
        &mut self,
        statement: &XaStatement,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        match statement {
            XaStatement::Start { xid, mode: XaStart::Resume } if self.xa_state() == "IDLE" => self.xa_resume(xid)?,
            XaStatement::Start { mode: XaStart::Join | XaStart::Resume, .. }
            | XaStatement::End { suspends: true, .. } => {
                return Err(SqlError::new(codes::XAER_INVAL, "XAER_INVAL: Invalid arguments (or unsupported command)"));
            }
            XaStatement::Start { xid, .. } => self.xa_start(xid)?,
            XaStatement::End { xid, .. } => self.xa_end(xid)?,
            XaStatement::Prepare(xid) => self.xa_prepare(xid).await?,
            XaStatement::Commit { xid, one_phase } => self.xa_commit(xid, *one_phase).await?,
            XaStatement::Rollback(xid) => self.xa_rollback(xid).await?,
            XaStatement::Recover(format) => return self.xa_recover(*format, sink).await,
        }
        Ok(Outcome::default())
    }

    fn xa_start(&mut self, xid: &Xid) -> Result<(), SqlError> {
        if self.xa.is_some() {
            return Err(self.wrong_xa_state());
        }
        if self.in_transaction() || self.locked.owner.is_some() {
            return Err(outside());
        }
        let name = HeldXid::new(xid, &self.shared.xa)?;
        self.take_transaction();
        self.begin_transaction(true, None);
        self.xa = Some(Branch { name, is_idle: false });
        Ok(())
    }

    /// The session's own, after its XA END.
    fn xa_resume(&mut self, xid: &Xid) -> Result<(), SqlError> {
        self.check_xid(xid)?;
        self.xa.iter_mut().for_each(|branch| branch.is_idle = false);
        Ok(())
    }

    /// 1397 if the session's is another one.
    fn check_xid(&self, xid: &Xid) -> Result<(), SqlError> {
        match &self.xa {
            Some(branch) if branch.name.xid == *xid => Ok(()),
            _ => Err(unknown()),
        }
    }

    fn xa_end(&mut self, xid: &Xid) -> Result<(), SqlError> {
        if self.xa_state() == "ROLLBACK ONLY" {
            let message = "XA_RBDEADLOCK: Transaction branch was rolled back: deadlock was detected";
            return Err(SqlError::new(codes::XA_RBDEADLOCK, message));
        }
        if self.xa_state() != "ACTIVE" {
            return Err(self.wrong_xa_state());
        }
        self.check_xid(xid)?;
        if let Some(branch) = &mut self.xa {
            branch.is_idle = true;
        }
        Ok(())
    }

    async fn xa_prepare(&mut self, xid: &Xid) -> Result<(), SqlError> {
        if self.xa_state() != "IDLE" {
            return Err(self.wrong_xa_state());
        }
        self.check_xid(xid)?;
        let Some(Branch { name, .. }) = self.xa.take() else { return Err(unknown()) };
        let pending = self.enqueue_prepare(name).await?;
        self.wait_for_commit(pending.ended()).await
    }

    /// The first phase has its place. Should that fail, the transaction is rolled back.
    async fn enqueue_prepare(&mut self, name: HeldXid) -> Result<PendingCommit, SqlError> {
        self.snapshot_position = None;
        let Some(open) = self.take_transaction() else { return Err(unknown()) };
        let mut transaction = open.transaction;
        let owned = self.gtid_ended();
        let pending = transaction.enqueue_prepare(&name.xid).await?;
        // Nobody's: whoever ends the session does not end it.
        transaction.options_mut().session = Arc::new(SessionHandle::default());
        name.put(transaction);
        Ok(PendingCommit::new(pending, owned))
    }

    /// The transaction that is open is the first phase of a distributed one, whose name nobody has said before.
    #[io::boxed]
    pub(super) async fn enqueue_prepare_of(&mut self, xid: &Xid) -> Result<PendingCommit, SqlError> {
        let name = HeldXid::new(xid, &self.shared.xa)?;
        self.enqueue_prepare(name).await
    }

    async fn xa_commit(&mut self, xid: &Xid, one_phase: bool) -> Result<(), SqlError> {
        if self.xa.is_some() {
            if !one_phase || self.xa_state() != "IDLE" {
                return Err(self.wrong_xa_state());
            }
            self.check_xid(xid)?;
            self.xa = None;
            return self.commit().await;
        }
        // Of one that is prepared ONE PHASE says nothing, as in MySQL.
        let ending = self.prepared_transaction(xid)?;
        self.second_phase(ending, true).await
    }

    async fn xa_rollback(&mut self, xid: &Xid) -> Result<(), SqlError> {
        if self.xa.is_some() {
            if self.xa_state() == "ACTIVE" {
                return Err(self.wrong_xa_state());
            }
            self.check_xid(xid)?;
            self.xa = None;
            self.rollback();
            return Ok(());
        }
        let ending = self.prepared_transaction(xid)?;
        self.second_phase(ending, false).await
    }

    fn prepared_transaction(&mut self, xid: &Xid) -> Result<Ending, SqlError> {
        if self.in_transaction() {
            return Err(self.wrong_xa_state());
        }
        if !self.is_applier {
            self.check_server_writable()?;
        }
        Ending::take(xid, &self.shared.xa).ok_or_else(unknown)
    }

    async fn second_phase(&mut self, mut ending: Ending, commits: bool) -> Result<(), SqlError> {
        let options = self.ddl_options();
        let Some(transaction) = ending.transaction.as_mut() else { return Err(unknown()) };
        let its = transaction.options_mut();
        (its.gtid, its.origin, its.source_position) = (options.gtid, options.origin, options.source_position);
        (its.session, its.commit_wait_timeout) = (options.session, options.commit_wait_timeout);
        its.context = self.log_context.clone();
        let pending = transaction.enqueue_second_phase(commits).await;
        transaction.options_mut().session = Arc::new(SessionHandle::default());
        let pending = pending?;
        drop(ending);
        let owned = match pending.is_nothing() {
            // A replica commits its GTID all the same.
            true => None,
            false => {
                self.source_position = None;
                self.gtid_ended()
            }
        };
        self.wait_for_commit(PendingCommit::new(pending, owned).ended()).await
    }

    async fn xa_recover(&mut self, format: XidFormat, sink: &mut dyn ResultSink) -> Result<Outcome, SqlError> {
        self.check_global(&[Privilege::XaRecoverAdmin])?;
        let mut names = self.shared.xa.names_of_prepared();
        names.extend(self.shared.engine.prepared_transactions().into_iter().map(|(xid, _)| xid));
        names.sort_unstable();
        names.dedup();
        let columns = column_spec("formatID i, gtrid_length i, bqual_length i, data v128");
        let described: Vec<ResultColumn> = columns.iter().map(show::result_column).collect();
        sink.columns(&described)?;
        for xid in &names {
            let bytes = [&xid.gtrid[..], &xid.bqual[..]].concat();
            let data = match format {
                XidFormat::Raw => bytes,
                XidFormat::Hex => format!("0x{}", crate::expr::hex_text(&bytes).to_ascii_uppercase()).into_bytes(),
                XidFormat::Sql => xid.to_string().into_bytes(),
            };
            let number = |n: usize| Value::Int(n as i64);
            let (gtrid, bqual) = (number(xid.gtrid.len()), number(xid.bqual.len()));
            sink.row(&[Value::Int(xid.format_id.into()), gtrid, bqual, Value::Str(data.into())])?;
        }
        Ok(Outcome { has_rows: true, affected_rows: names.len() as u64, ..Outcome::default() })
    }

    /// Does again, under its locks, what the log says of a first phase: for a server that begins to take commits.
    ///
    /// # Errors
    /// When its rows are not here as they were, or what it needs is not.
    #[io::boxed]
    pub async fn adopt_prepared(&mut self, xid: &Xid, group: &LogTransaction) -> Result<(), SqlError> {
        let name = HeldXid::new(xid, &self.shared.xa)?;
        self.begin_transaction(true, Some(false));
        if let Some(open) = self.transaction.open_mut() {
            open.transaction.options_mut().stays_in_memory = true;
        }
        let done = self.apply_group(group).await;
        let Some(open) = self.take_transaction() else { return Err(engine::EngineError::RolledBack.into()) };
        done?;
        let mut transaction = open.transaction;
        transaction.adopt_prepared(xid)?;
        transaction.options_mut().session = Arc::new(SessionHandle::default());
        name.put(transaction);
        Ok(())
    }

    async fn apply_group(&mut self, group: &LogTransaction) -> Result<(), SqlError> {
        let bad = |error: binlog::DecodeError| SqlError::from(binlog::BinlogError::from(error));
        let mut tables: BTreeMap<u64, Arc<TableMap>> = BTreeMap::new();
        for event in group.events() {
            let event = event.map_err(bad)?;
            event.verify().map_err(bad)?;
            match event.header.event_type {
                EventType::TABLE_MAP => {
                    let map = Arc::new(TableMap::decode(event.body()).map_err(bad)?);
                    tables.insert(map.table_id, map);
                }
                kind if RowsKind::of(kind).is_some() => {
                    let rows = RowsEvent::decode(kind, event.body()).map_err(bad)?;
                    let map = tables.get(&rows.table_id);
                    let map = map.ok_or_else(|| bad(binlog::DecodeError("rows without a TABLE_MAP".to_owned())))?;
                    self.apply_rows(map, &rows).await?;
                }
                EventType::QUERY => drop(QueryEvent::decode(event.body()).map_err(bad)?),
                _ => {}
            }
        }
        Ok(())
    }
}

fn unknown() -> SqlError {
    SqlError::new(codes::XAER_NOTA, "XAER_NOTA: Unknown XID")
}

fn outside() -> SqlError {
    SqlError::new(codes::XAER_OUTSIDE, "XAER_OUTSIDE: Some work is done outside global transaction")
}
