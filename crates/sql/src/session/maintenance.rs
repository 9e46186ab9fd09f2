//! LOCK TABLES, and what administrators do to tables.

use std::sync::Arc;

use base::{SqlError, codes};
use engine::gate::CommitHold;
use engine::lock::{Target, Wait, WaitPolicy};
use engine::{EngineError, LockOwner, TableMode};
use types::Value;

use super::Session;
use super::rows::privilege_of;
use crate::account::Privilege;
use crate::ddl;
use crate::parse::ast::{LockTable, TableMaintenance, TableName};
use crate::plan::{Privilege as PlanPrivilege, TableUse, UsedColumns};
use crate::result::{Outcome, ResultSink};
use crate::show::{self, Rows};

/// What LOCK TABLES or FLUSH TABLES WITH READ LOCK holds.
#[derive(Default)]
pub(super) struct LockedTables {
    /// The session's transactions are children of it, so that its locks do not stand in their way.
    pub(super) owner: Option<Arc<LockOwner>>,
    /// Database, table, and whether it may be written.
    tables: Vec<(String, String, bool)>,
    /// FLUSH TABLES WITH READ LOCK: nobody commits.
    hold: Option<CommitHold>,
}

impl Session {
    /// LOCK TABLES.
    pub(super) async fn lock_tables(&mut self, tables: &[LockTable]) -> Result<Outcome, SqlError> {
        self.commit().await?;
        self.unlock_named_tables();
        if self.settings.transaction_read_only && tables.iter().any(|lock| lock.write) {
            return Err(EngineError::ReadOnlyTransaction.into());
        }
        let mut wanted = Vec::with_capacity(tables.len());
        for lock in tables {
            if lock.write && self.locked.hold.is_some() {
                return Err(conflicting_read_lock());
            }
            let schema = self.schema_of(&lock.table)?;
            self.check_may_lock(&lock.table)?;
            wanted.push((schema, lock.table.name.clone(), lock.write));
        }
        let owner = self.take_locks(&wanted).await?;
        (self.locked.owner, self.locked.tables) = (Some(Arc::new(owner)), wanted);
        Ok(Outcome::default())
    }

    /// LOCK TABLES on its database, SELECT on the table itself.
    pub(super) fn check_may_lock(&mut self, table: &TableName) -> Result<(), SqlError> {
        let schema = self.schema_of(table)?;
        self.check_database(Privilege::LockTables, &schema)?;
        self.check_table(Privilege::Select, table)
    }

    /// FLUSH TABLES WITH READ LOCK: nobody commits until UNLOCK TABLES, or the end of the session. Open transactions go on
    /// and wait when they commit. With names: these tables are not changed by anybody.
    pub(super) async fn lock_for_read(&mut self, tables: &[TableName]) -> Result<(), SqlError> {
        self.commit().await?;
        self.unlock_named_tables();
        if tables.is_empty() {
            if self.locked.hold.is_none() {
                self.locked.hold = Some(self.shared.engine.hold_commits(&self.handle.cancel).await?);
            }
            return Ok(());
        }
        let mut wanted = Vec::new();
        for table in tables {
            wanted.push((self.schema_of(table)?, table.name.clone(), false));
        }
        let owner = self.take_locks(&wanted).await?;
        (self.locked.owner, self.locked.tables) = (Some(Arc::new(owner)), wanted);
        Ok(())
    }

    /// All locks in the order of the tables' ids, so that two sessions do not wait for each other.
    async fn take_locks(&mut self, wanted: &[(String, String, bool)]) -> Result<LockOwner, SqlError> {
        let catalog = self.catalog();
        let mut targets = Vec::with_capacity(wanted.len());
        for (schema, name, write) in wanted {
            let table = catalog.table(schema, name).ok_or_else(|| ddl::no_such_table(schema, name))?;
            if table.is_temporary() {
                continue;
            }
            targets.push((table.id(), if *write { TableMode::Exclusive } else { TableMode::Shared }));
        }
        targets.sort_by_key(|(id, mode)| (*id, *mode == TableMode::Shared));
        let timeout = self.ddl_options().lock_wait_timeout;
        let wait = Wait { policy: WaitPolicy::For(timeout), cancel: &self.handle.cancel };
        let mut owner = self.shared.engine.locks().owner();
        for (id, mode) in targets {
            owner.table(Target::Table(id), mode, wait).await.map_err(EngineError::from)?;
        }
        Ok(owner)
    }

    /// UNLOCK TABLES; commits what the locked tables were used for. The end of FLUSH TABLES WITH READ LOCK commits nothing:
    /// a dump goes on in the snapshot that it has taken under it.
    pub(super) async fn unlock_tables_statement(&mut self) -> Result<Outcome, SqlError> {
        if self.locked.owner.is_some() {
            self.commit().await?;
        }
        self.locked = LockedTables::default();
        Ok(Outcome::default())
    }

    /// What a transaction that begins lets go: not the lock of FLUSH TABLES WITH READ LOCK.
    pub(super) fn unlock_named_tables(&mut self) {
        (self.locked.owner, self.locked.tables) = (None, Vec::new());
    }

    /// Under LOCK TABLES only tables may be closed that are locked for WRITE (1100, 1099): those that are named, or all.
    pub(super) fn check_may_close(&self, named: &[TableName]) -> Result<(), SqlError> {
        if self.locked.owner.is_none() {
            return Ok(());
        }
        let close = |schema: &str, table: &str| {
            let (schema, table) = (schema.to_owned(), table.to_owned());
            TableUse { schema, table, temporary: false, privilege: PlanPrivilege::Update, columns: UsedColumns::Whole }
        };
        let mut closed = Vec::with_capacity(named.len());
        for table in named.iter().filter(|table| self.temporary_named(table).is_none()) {
            closed.push(close(&self.schema_of(table)?, &table.name));
        }
        if named.is_empty() {
            closed.extend(self.locked.tables.iter().map(|(schema, name, _)| close(schema, name)));
        }
        self.check_locked_tables(&closed)
    }

    /// Whether LOCK TABLES is in force.
    pub(super) fn has_locked_tables(&self) -> bool {
        self.locked.owner.is_some()
    }

    /// 1223 if this session holds what would make it wait for itself.
    pub(super) fn check_no_hold(&self) -> Result<(), SqlError> {
        if self.locked.hold.is_some() { Err(conflicting_read_lock()) } else { Ok(()) }
    }

    /// Under LOCK TABLES only the locked tables can be used (1100), and those locked for READ only be read (1099).
    pub(super) fn check_locked_tables(&self, uses: &[TableUse]) -> Result<(), SqlError> {
        if self.locked.owner.is_none() && self.locked.hold.is_none() {
            return Ok(());
        }
        for used in uses.iter().filter(|used| !used.temporary && used.schema != "mysql") {
            let writes = privilege_of(used) != Privilege::Select;
            if writes {
                self.check_no_hold()?;
            }
            if self.locked.owner.is_none() {
                continue;
            }
            let locked =
                self.locked.tables.iter().filter(|(schema, name, _)| *schema == used.schema && *name == used.table);
            match locked.map(|(_, _, write)| *write).max() {
                None => {
                    let message = format!("Table '{}' was not locked with LOCK TABLES", used.table);
                    return Err(SqlError::new(codes::TABLE_NOT_LOCKED, message));
                }
                Some(false) if writes => {
                    let message = format!("Table '{}' was locked with a READ lock and can't be updated", used.table);
                    return Err(SqlError::new(codes::TABLE_NOT_LOCKED_FOR_WRITE, message));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// What ANALYZE, CHECK and OPTIMIZE TABLE need on their tables. OPTIMIZE LOCAL needs a privilege of its own instead, as in MySQL.
    pub(super) fn check_may_maintain(
        &mut self,
        what: TableMaintenance,
        local: bool,
        tables: &[TableName],
    ) -> Result<(), SqlError> {
        if local && what == TableMaintenance::Optimize {
            return self.check_global_itself(&[Privilege::OptimizeLocalTable]);
        }
        tables.iter().try_for_each(|table| match what {
            TableMaintenance::Check => {
                let schema = self.schema_of(table)?;
                self.check_any_on_table(&schema, &table.name)
            }
            _ => self.check_table_for(&[Privilege::Select, Privilege::Insert], table),
        })
    }

    /// ANALYZE, CHECK and OPTIMIZE TABLE.
    pub(super) async fn maintain(
        &mut self,
        what: TableMaintenance,
        local: bool,
        tables: &[TableName],
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        self.commit().await?;
        let mut rows = Rows::new("Table v128, Op v10, Msg_type v10, Msg_text v131072");
        for (place, table) in tables.iter().enumerate() {
            let schema = self.schema_of(table)?;
            let exists = self.catalog().table(&schema, &table.name).is_some();
            let mut lines = answers(what, exists, &schema, &table.name);
            if what == TableMaintenance::Optimize && exists {
                let whole = TableName { schema: Some(schema.clone()), name: table.name.clone() };
                match self.rebuild_one(&whole, place + 1 == tables.len()).await {
                    Ok(()) => {}
                    Err(error) if error.code == codes::QUERY_INTERRUPTED.0 => return Err(error),
                    Err(error) => lines = vec![("Error", error.message), ("status", "Operation failed".into())],
                }
            }
            if what == TableMaintenance::Check && exists {
                let problems = self.problems_of(&schema, &table.name).await?;
                if !problems.is_empty() {
                    lines = problems.into_iter().map(|problem| ("Warning", problem)).collect();
                    lines.push(("error", "Corrupt".into()));
                }
            }
            if what == TableMaintenance::Analyze && exists {
                self.collect_statistics(&schema, &table.name).await?;
                self.refresh_histograms(&schema, &table.name).await?;
            }
            for (kind, message) in lines {
                let name = format!("{schema}.{}", table.name);
                rows.push(vec![Value::str(name), Value::str(op(what)), Value::str(kind), Value::str(message)]);
            }
        }
        if what == TableMaintenance::Analyze {
            self.log_analyze(local, tables).await?;
        }
        show::emit(&rows.columns, &rows.rows, sink).await
    }

    /// OPTIMIZE of one of several tables, each of which is a transaction. A GTID that was chosen, or a place in another log, is that of the
    /// last one.
    async fn rebuild_one(&mut self, table: &TableName, is_last: bool) -> Result<(), SqlError> {
        if self.temporary_named(table).is_some() {
            return self.rebuild_temporary(table).await;
        }
        if is_last {
            return self.rebuild(table).await;
        }
        let (gtid, position) = (self.put_gtid_aside(), self.source_position.take());
        let rebuilt = self.rebuild(table).await;
        (self.next_gtid, self.source_position) = (gtid, position);
        rebuilt
    }

    /// What CHECK TABLE finds. A table that was dropped meanwhile has no problems, nor has a temporary one, which is never read again
    /// after a crash.
    async fn problems_of(&mut self, schema: &str, name: &str) -> Result<Vec<String>, SqlError> {
        let Some(table) = self.catalog().table(schema, name).cloned() else { return Ok(Vec::new()) };
        if table.is_temporary() {
            return Ok(Vec::new());
        }
        let mut open = self.begin_reading()?;
        let problems = async {
            open.transaction.lock_table(&table, TableMode::IntentShared).await?;
            open.transaction.check(&table).await
        };
        let problems = problems.await;
        self.end_reading(open);
        Ok(problems?)
    }
}

fn conflicting_read_lock() -> SqlError {
    let message = "Can't execute the query because you have a conflicting read lock";
    SqlError::new(codes::CANT_UPDATE_WITH_READLOCK, message)
}

fn op(what: TableMaintenance) -> &'static str {
    match what {
        TableMaintenance::Analyze => "analyze",
        TableMaintenance::Check => "check",
        TableMaintenance::Optimize => "optimize",
        TableMaintenance::Repair => "repair",
    }
}

/// Message types and texts. Trees are merged all the time, so there is nothing to optimize but to write everything in another form, or
/// to give back what is half empty.
fn answers(what: TableMaintenance, exists: bool, schema: &str, name: &str) -> Vec<(&'static str, String)> {
    if !exists {
        let missing = format!("Table '{schema}.{name}' doesn't exist");
        return vec![("Error", missing), ("status", "Operation failed".into())];
    }
    match what {
        TableMaintenance::Optimize => vec![
            ("note", "Table does not support optimize, doing recreate + analyze instead".into()),
            ("status", "OK".into()),
        ],
        _ => vec![("status", "OK".into())],
    }
}
