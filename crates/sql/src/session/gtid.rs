//! `gtid_next`: a session that says which GTID its next transaction has, and a replica, which says where it comes from as well.
//!
//! ```text
//!   SET gtid_next = 'uuid:7' ──┬─ not executed: owned ── a transaction, commits with it ──► used
//!                              └─ executed: changes are left out, without an error  ──────► used
//!   used: changes are refused (1837) until gtid_next is set again
//!   SET gtid_next = 'AUTOMATIC:tag' ─ all transactions from now on have the log's next number under the tag
//! ```
//! A transaction that commits under an owned GTID is in the log even if it changes nothing: so a replica knows that it has it.

use base::{Gtid, SqlError, Tag, codes};
use binlog::{GtidChoice, Origin, SourcePosition};
use engine::{Commit, OwnedGtid, Pending};
use futures_lite::future;

use super::Session;
use super::counters::Counter;
use super::transaction::Next;
use crate::account::Privilege;
use crate::parse::ast::{Admin, Statement, TableMaintenance, TransactionStatement};

/// What was said of the next transaction's GTID.
#[derive(Debug)]
pub(super) enum NextGtid {
    /// The log gives one, under a tag or under none.
    Automatic(Tag),
    /// This one, which nobody else can commit meanwhile.
    Owned(OwnedGtid),
    /// This one, which is executed: what the session would change is there already.
    Executed(Gtid),
    /// The transaction that had it has ended.
    Used(Gtid),
}

impl Default for NextGtid {
    fn default() -> Self {
        NextGtid::Automatic(Tag::NONE)
    }
}

/// Whether a statement is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GtidCheck {
    /// It is.
    Run,
    /// Its transaction was executed before.
    LeaveOut,
}

/// A transaction that has its place in the order of commits; see [`engine::Pending`].
pub struct PendingCommit {
    pending: Option<Pending>,
    /// Nobody else may begin with it before the outcome is known.
    _owned: Option<OwnedGtid>,
}

impl PendingCommit {
    pub(super) fn new(pending: Pending, owned: Option<OwnedGtid>) -> Self {
        PendingCommit { pending: Some(pending), _owned: owned }
    }

    /// Ready when it is as durable as a commit.
    #[io::boxed]
    pub async fn ended(self) -> Result<Commit, SqlError> {
        match self.pending {
            Some(pending) => Ok(pending.ended().await?),
            None => Ok(Commit { place: None }),
        }
    }
}

/// What `SET gtid_next` can say.
enum Named {
    /// `AUTOMATIC`, `AUTOMATIC:tag`
    Automatic(Tag),
    /// A GTID.
    Chosen(Gtid),
}

fn named_by(value: &str) -> Option<Named> {
    const AUTOMATIC: &str = "AUTOMATIC";
    let is_automatic = value.get(..AUTOMATIC.len()).is_some_and(|word| word.eq_ignore_ascii_case(AUTOMATIC));
    if !is_automatic {
        return value.parse().ok().map(Named::Chosen);
    }
    let rest = &value[AUTOMATIC.len()..];
    if rest.is_empty() {
        return Some(Named::Automatic(Tag::NONE));
    }
    let tag: Tag = rest.strip_prefix(':')?.trim().parse().ok()?;
    (!tag.is_none()).then_some(Named::Automatic(tag))
}

/// What has a GTID is for replicas, what `sql_log_bin` keeps from them has none. MySQL counts such a transaction as executed, and has it in no
/// log: no replica could follow the server any more.
pub(super) fn local_with_gtid() -> SqlError {
    SqlError::not_supported("a GTID of gtid_next for a transaction with sql_log_bin = 0")
}

/// 1837.
fn is_used(gtid: Gtid) -> SqlError {
    let message = format!(
        "When @@SESSION.GTID_NEXT is set to a GTID, you must explicitly set it to a different value after a COMMIT or ROLLBACK. \
         Please check GTID_NEXT variable manual page for detailed explanation. Current @@SESSION.GTID_NEXT is '{gtid}'."
    );
    SqlError::new(codes::GTID_NEXT_TYPE_UNDEFINED_GTID, message)
}

/// What a session is told that is killed while its commit waits for a replica.
fn killed_while_waiting() -> SqlError {
    let message = "Query execution was interrupted while the commit was waiting for a replica; the transaction has its place in the \
                   log, and becomes visible when a replica has acknowledged it";
    SqlError::new(codes::QUERY_INTERRUPTED, message)
}

impl Session {
    /// Waits until what has its place is as durable as asked for, and visible. A sync is short, so nobody is killed in it; the
    /// wait for a replica may be long.
    pub(super) async fn wait_for_commit<E: Into<SqlError>>(
        &mut self,
        ended: impl Future<Output = Result<Commit, E>>,
    ) -> Result<(), SqlError> {
        let ended = async { ended.await.map_err(E::into) };
        let commit = match self.shared.engine.semi_sync().concerns_commits() {
            false => ended.await?,
            true => {
                let killed = async {
                    self.handle.cancel.cancelled().await;
                    Err(killed_while_waiting())
                };
                future::or(ended, killed).await?
            }
        };
        self.changes.committed(&commit);
        Ok(())
    }

    /// `SET gtid_next`; how the value is shown.
    pub(super) async fn set_gtid_next(&mut self, value: &str) -> Result<String, SqlError> {
        if let NextGtid::Owned(owned) = &self.next_gtid {
            let message = format!(
                "@@SESSION.GTID_NEXT cannot be changed by a client that owns a GTID. The client owns {}. Ownership is \
                 released on COMMIT or ROLLBACK.",
                owned.gtid()
            );
            return Err(SqlError::new(codes::CANT_SET_GTID_NEXT_WHEN_OWNING_GTID, message));
        }
        let value = value.trim();
        if value.eq_ignore_ascii_case("ANONYMOUS") {
            let message = "@@SESSION.GTID_NEXT cannot be set to ANONYMOUS when @@GLOBAL.GTID_MODE = ON.";
            return Err(SqlError::new(codes::CANT_SET_GTID_NEXT_TO_ANONYMOUS_WHEN_GTID_MODE_IS_ON, message));
        }
        let named = named_by(value).ok_or_else(|| {
            let message = format!("Malformed GTID specification '{value}'.");
            SqlError::new(codes::MALFORMED_GTID_SPECIFICATION, message)
        })?;
        let (Named::Automatic(tag) | Named::Chosen(Gtid { tag, .. })) = named;
        if !tag.is_none() && !self.account().global.has(Privilege::TransactionGtidTag) {
            let message = "Access denied; you need the TRANSACTION_GTID_TAG and at least one of the: SYSTEM_VARIABLES_ADMIN, \
                           SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER privilege(s) for this operation";
            return Err(SqlError::new(codes::MISSING_GTID_TAG_PRIVILEGE, message));
        }
        match named {
            Named::Automatic(tag) => {
                self.next_gtid = NextGtid::Automatic(tag);
                Ok(if tag.is_none() { "AUTOMATIC".to_owned() } else { format!("AUTOMATIC:{tag}") })
            }
            Named::Chosen(_) if !self.settings.sql_log_bin => Err(local_with_gtid()),
            Named::Chosen(gtid) => self.begin_gtid(gtid).await.map(|_| gtid.to_string()),
        }
    }

    /// The next transaction has this GTID; false if it is executed already, so that its changes are left out.
    #[io::boxed]
    pub async fn begin_gtid(&mut self, gtid: Gtid) -> Result<bool, SqlError> {
        // What is owned is let go first: nobody waits for itself.
        self.next_gtid = NextGtid::default();
        let owned = self.shared.engine.own_gtid(gtid, self.info.connection_id, &self.handle.cancel).await?;
        let is_new = owned.is_some();
        self.next_gtid = owned.map_or(NextGtid::Executed(gtid), NextGtid::Owned);
        Ok(is_new)
    }

    /// Where the transactions of this session were born, if they are another server's; from the next one on.
    pub fn set_origin(&mut self, origin: Option<Origin>) {
        self.origin = origin;
    }

    /// Where the transaction that is open, or else the next definition, ends in the log that it comes from.
    pub fn set_source_position(&mut self, position: Option<SourcePosition>) {
        match self.transaction.open_mut() {
            Some(open) => open.transaction.options_mut().source_position = position,
            None => self.source_position = position,
        }
    }

    /// Which GTID the transaction that is begun gets.
    pub(super) fn gtid_choice(&self) -> GtidChoice {
        match &self.next_gtid {
            NextGtid::Owned(owned) => GtidChoice::Chosen(owned.gtid()),
            _ if !self.settings.sql_log_bin => GtidChoice::Local,
            NextGtid::Automatic(tag) if tag.is_none() && self.settings.gtid_domain_id != 0 => {
                GtidChoice::OfDomain(self.settings.gtid_domain_id)
            }
            NextGtid::Automatic(tag) => GtidChoice::Automatic(*tag),
            NextGtid::Executed(_) | NextGtid::Used(_) => GtidChoice::default(),
        }
    }

    /// Puts aside what was chosen for a transaction, because another one comes before it: that has the tag, if one was chosen alone.
    pub(super) fn put_gtid_aside(&mut self) -> NextGtid {
        let tag = match &self.next_gtid {
            NextGtid::Automatic(tag) => *tag,
            _ => Tag::NONE,
        };
        std::mem::replace(&mut self.next_gtid, NextGtid::Automatic(tag))
    }

    /// The GTID of the transaction that is begun, if it was chosen.
    pub(super) fn owned_gtid(&self) -> Option<Gtid> {
        match &self.next_gtid {
            NextGtid::Owned(owned) => Some(owned.gtid()),
            _ => None,
        }
    }

    /// A transaction, or a definition, has ended.
    pub(super) fn gtid_ended(&mut self) -> Option<OwnedGtid> {
        self.forget_origin();
        match std::mem::take(&mut self.next_gtid) {
            NextGtid::Owned(owned) => {
                self.next_gtid = NextGtid::Used(owned.gtid());
                Some(owned)
            }
            NextGtid::Executed(gtid) => {
                self.next_gtid = NextGtid::Used(gtid);
                None
            }
            other => {
                self.next_gtid = other;
                None
            }
        }
    }

    /// Whether a statement is to be run under `gtid_next`.
    pub(super) fn check_gtid(&mut self, statement: &Statement) -> Result<GtidCheck, SqlError> {
        let changes = matches!(
            statement,
            Statement::Admin(
                Admin::Histogram(_)
                    | Admin::Tables { what: TableMaintenance::Optimize | TableMaintenance::Analyze, .. }
            ) | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Load(_)
                | Statement::Ddl(_)
                | Statement::CreateTableSelect(..)
        );
        let begins = matches!(statement, Statement::Transaction(TransactionStatement::Begin { .. }));
        match &self.next_gtid {
            NextGtid::Automatic(_) => Ok(GtidCheck::Run),
            NextGtid::Owned(owned) => self.check_under(owned.gtid(), statement).map(|()| GtidCheck::Run),
            NextGtid::Executed(_) if changes => {
                if !self.in_transaction() {
                    self.gtid_ended();
                }
                Ok(GtidCheck::LeaveOut)
            }
            NextGtid::Used(gtid) if changes || begins => Err(is_used(*gtid)),
            NextGtid::Executed(_) | NextGtid::Used(_) => Ok(GtidCheck::Run),
        }
    }

    /// The same for rows of a log (BINLOG).
    pub(super) fn check_gtid_of_rows(&mut self) -> Result<GtidCheck, SqlError> {
        match &self.next_gtid {
            NextGtid::Automatic(_) | NextGtid::Owned(_) => Ok(GtidCheck::Run),
            NextGtid::Used(gtid) => Err(is_used(*gtid)),
            NextGtid::Executed(_) => {
                if !self.in_transaction() {
                    self.gtid_ended();
                }
                Ok(GtidCheck::LeaveOut)
            }
        }
    }

    /// One GTID is one transaction: nothing may commit on the way.
    fn check_under(&self, gtid: Gtid, statement: &Statement) -> Result<(), SqlError> {
        if matches!(statement, Statement::CreateTableSelect(create, _) if !create.temporary) && !self.is_applier {
            let message = "Statement violates GTID consistency: CREATE TABLE ... SELECT.";
            return Err(SqlError::new(codes::GTID_UNSAFE_CREATE_SELECT, message));
        }
        let commits = matches!(
            statement,
            Statement::Ddl(_)
                | Statement::Admin(
                    Admin::Histogram(_)
                        | Admin::Tables { what: TableMaintenance::Optimize | TableMaintenance::Analyze, .. }
                )
                | Statement::LockTables(_)
                | Statement::Transaction(TransactionStatement::Begin { .. })
        );
        if commits
            && !super::temporary::is_temporary(statement)
            && self.in_transaction()
            && !self.rows_follow(statement)
        {
            let message = format!(
                "Cannot execute statements with implicit commit inside a transaction when @@SESSION.GTID_NEXT == '{gtid}'."
            );
            return Err(SqlError::new(codes::CANT_DO_IMPLICIT_COMMIT_IN_TRX_WHEN_GTID_NEXT_IS_SET, message));
        }
        Ok(())
    }

    /// A definition that changed nothing, under a GTID or at a place in another log: our log says that it was executed.
    pub(super) async fn commit_nothing(&mut self) -> Result<(), SqlError> {
        if self.owned_gtid().is_none() && self.source_position.is_none() {
            return Ok(());
        }
        let options = self.ddl_options();
        self.source_position = None;
        let _owned = self.gtid_ended();
        let pending = self.shared.engine.begin(options).enqueue().await?;
        self.wait_for_commit(pending.ended()).await
    }

    /// Nobody waits for the commit of what is open: others are coming behind it, with which it may share a group.
    pub fn be_patient(&mut self) {
        if let Some(open) = self.transaction.open_mut() {
            open.transaction.options_mut().is_patient = true;
        }
    }

    /// The first half of a commit: what is open has its place, and whoever comes next sees it. For a replica, which need not wait for
    /// one transaction's sync before it executes the next.
    #[io::boxed]
    pub async fn enqueue_commit(&mut self) -> Result<PendingCommit, SqlError> {
        self.snapshot_position = None;
        self.transaction.next = Next::default();
        if self.transaction.open().is_none() && self.owned_gtid().is_some() {
            self.begin_transaction(true, None);
        }
        let open = self.take_transaction();
        let owned = self.gtid_ended();
        let Some(open) = open else { return Ok(PendingCommit { pending: None, _owned: owned }) };
        if !open.transaction.is_active() {
            return Err(engine::EngineError::RolledBack.into());
        }
        self.count(Counter::HandlerCommit);
        let pending = open.transaction.enqueue().await?;
        Ok(PendingCommit { pending: Some(pending), _owned: owned })
    }
}
