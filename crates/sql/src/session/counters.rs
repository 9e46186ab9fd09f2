//! `Com_…`, `Handler_…`, `Bytes_…`: how many statements of each kind there were and what they took, in one session and in all of them.
//!
//! A session counts for itself and in one of a few shared places, so that sessions on different cores do not share a
//! line of the cache.

use std::sync::atomic::{AtomicU64, Ordering};

use base::ConnectionId;
use syntax::ast::InsertSource;

use crate::parse::ast::{Admin, Ddl, Statement, TransactionStatement};

macro_rules! counters {
    ($($counter:ident $name:literal,)*) => {
        /// What is counted; in the order of the names.
        #[derive(Clone, Copy, Debug)]
        #[repr(usize)]
        pub(crate) enum Counter {
            $($counter,)*
        }

        const NAMES: &[&str] = &[$($name,)*];
    };
}

counters! {
    BytesReceived "Bytes_received",
    BytesSent "Bytes_sent",
    AlterDatabase "Com_alter_db",
    AlterTable "Com_alter_table",
    AlterUser "Com_alter_user",
    Begin "Com_begin",
    ChangeDatabase "Com_change_db",
    Commit "Com_commit",
    CreateDatabase "Com_create_db",
    CreateTable "Com_create_table",
    CreateUser "Com_create_user",
    DeallocateSql "Com_dealloc_sql",
    Delete "Com_delete",
    DropDatabase "Com_drop_db",
    DropTable "Com_drop_table",
    DropUser "Com_drop_user",
    ExecuteSql "Com_execute_sql",
    Flush "Com_flush",
    Grant "Com_grant",
    Insert "Com_insert",
    InsertSelect "Com_insert_select",
    Kill "Com_kill",
    Load "Com_load",
    PrepareSql "Com_prepare_sql",
    RenameTable "Com_rename_table",
    Replace "Com_replace",
    ReplaceSelect "Com_replace_select",
    Revoke "Com_revoke",
    Rollback "Com_rollback",
    Select "Com_select",
    SetOption "Com_set_option",
    StatementExecute "Com_stmt_execute",
    StatementPrepare "Com_stmt_prepare",
    Truncate "Com_truncate",
    Update "Com_update",
    HandlerCommit "Handler_commit",
    HandlerRollback "Handler_rollback",
    Queries "Questions",
}

const COUNTERS: usize = NAMES.len();
const SHARDS: usize = 16;

/// Bytes that a connection has read from its client and sent to it: as they are in its stream, so compressed ones, but without TLS.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// `Bytes_received`
    pub received: u64,
    /// `Bytes_sent`
    pub sent: u64,
}

/// One session's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters([u64; COUNTERS]);

impl Default for Counters {
    fn default() -> Self {
        Counters([0; COUNTERS])
    }
}

impl Counters {
    pub(crate) fn add_traffic(&mut self, traffic: Traffic) {
        self.0[Counter::BytesReceived as usize] += traffic.received;
        self.0[Counter::BytesSent as usize] += traffic.sent;
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMES.iter().copied().zip(self.0)
    }
}

/// All sessions' together.
#[derive(Debug, Default)]
pub struct AllCounters {
    shards: [Shard; SHARDS],
}

/// Alone in its lines of the cache.
#[derive(Debug)]
#[repr(align(128))]
struct Shard([AtomicU64; COUNTERS]);

impl Default for Shard {
    fn default() -> Self {
        Shard([const { AtomicU64::new(0) }; COUNTERS])
    }
}

impl AllCounters {
    /// Adds one to a counter, of the session and of all.
    pub(crate) fn count(&self, own: &mut Counters, id: ConnectionId, counter: Counter) {
        own.0[counter as usize] += 1;
        self.add(id, counter, 1);
    }

    /// Adds what a connection has read or sent to all sessions'; [`Session::add_traffic`](super::Session::add_traffic) to its own.
    pub fn add_traffic(&self, id: ConnectionId, traffic: Traffic) {
        for (counter, bytes) in [(Counter::BytesReceived, traffic.received), (Counter::BytesSent, traffic.sent)] {
            if bytes > 0 {
                self.add(id, counter, bytes);
            }
        }
    }

    fn add(&self, id: ConnectionId, counter: Counter, count: u64) {
        self.shards[id.0 as usize % SHARDS].0[counter as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let sum = |at: usize| self.shards.iter().map(|shard| shard.0[at].load(Ordering::Relaxed)).sum();
        NAMES.iter().enumerate().map(move |(at, name)| (*name, sum(at)))
    }
}

impl Counter {
    /// Under what a statement is counted.
    pub(crate) fn of(statement: &Statement) -> Option<Counter> {
        Some(match statement {
            Statement::Query(_) | Statement::Do(_) => Counter::Select,
            Statement::Insert(insert) => {
                let has_values = !matches!(insert.source, InsertSource::Query(_));
                match (insert.replace, has_values) {
                    (false, true) => Counter::Insert,
                    (false, false) => Counter::InsertSelect,
                    (true, true) => Counter::Replace,
                    (true, false) => Counter::ReplaceSelect,
                }
            }
            Statement::Update(_) => Counter::Update,
            Statement::Delete(_) => Counter::Delete,
            Statement::Load(_) => Counter::Load,
            Statement::Set(_) | Statement::SetRole(_) => Counter::SetOption,
            Statement::Ddl(ddl) => return Counter::of_definition(ddl),
            Statement::CreateTableSelect(..) => Counter::CreateTable,
            Statement::Transaction(TransactionStatement::Begin { .. }) => Counter::Begin,
            Statement::Transaction(TransactionStatement::Commit(_)) => Counter::Commit,
            Statement::Transaction(TransactionStatement::Rollback(_)) => Counter::Rollback,
            Statement::Use(_) => Counter::ChangeDatabase,
            Statement::Admin(Admin::Flush(_)) => Counter::Flush,
            Statement::Admin(Admin::Kill { .. }) => Counter::Kill,
            _ => return None,
        })
    }

    fn of_definition(ddl: &Ddl) -> Option<Counter> {
        Some(match ddl {
            Ddl::CreateDatabase { .. } => Counter::CreateDatabase,
            Ddl::DropDatabase { .. } => Counter::DropDatabase,
            Ddl::CreateTable(_) => Counter::CreateTable,
            Ddl::DropTables { .. } => Counter::DropTable,
            Ddl::AlterTable(_) => Counter::AlterTable,
            Ddl::Truncate(_) => Counter::Truncate,
            Ddl::AlterDatabase { .. } => Counter::AlterDatabase,
            Ddl::RenameTables { .. } => Counter::RenameTable,
            Ddl::CreateUser { .. } => Counter::CreateUser,
            Ddl::AlterUser { .. } => Counter::AlterUser,
            Ddl::DropUser { .. } => Counter::DropUser,
            Ddl::Grant(_) => Counter::Grant,
            Ddl::Revoke(_) => Counter::Revoke,
            _ => return None,
        })
    }
}
