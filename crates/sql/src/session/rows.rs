//! Statements over rows: planned, checked, run in the transaction, committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Cancel, Cancelled, SqlError, codes};
use binlog::GtidChoice;
use engine::{EngineError, Isolation};
use futures_lite::future::or;
use types::Value;

use super::counters::Counter;
use super::transaction::Open;
use super::user_locks::HeldLocks;
use super::{Session, Shared};
use crate::exec::{ExecContext, WaitingFunctions};
use crate::expr::{
    Deadline, EvalContext, ExprType, SessionInfo, TimeLimit, WarningLevel, Warnings, Watch, build, work,
};
use crate::load::WholeFile;
use crate::parse::ast::Statement;
use crate::parse::hint::Hints;
use crate::plan::{Plan, PlanContext, Privilege, TableUse, UsedColumns, plan_statement};
use crate::result::{Outcome, ResultSink};
use crate::settings::{SettingId, SettingValue};
use crate::virtual_table::VirtualTables;

/// How often a statement is planned anew because a table changed between its plan and its first lock.
const REPLANS_MAX: usize = 10;

/// A statement over rows, and all that it is run with.
pub(super) struct RowStatement<'a> {
    pub(super) statement: &'a Statement,
    /// The text in which the statement's spans count.
    pub(super) text: &'a str,
    pub(super) param_count: usize,
    pub(super) params: &'a [Value],
    /// The default database of its names.
    pub(super) database: Option<String>,
    /// There may be optimizer hints in the text.
    pub(super) may_have_hints: bool,
}

impl RowStatement<'_> {
    fn hints(&self, sql_mode: types::SqlMode) -> Hints {
        if self.may_have_hints { Hints::of(self.text, sql_mode) } else { Hints::default() }
    }
}

/// Runs a statement that has a time limit; `sleep` is as long as that. It ends as if it were killed, waits for locks too.
async fn in_time(
    run: impl Future<Output = Result<Outcome, SqlError>>,
    deadline: Deadline,
    sleep: impl Future<Output = ()>,
    cancel: &Cancel,
) -> Result<Outcome, SqlError> {
    let is_over = AtomicBool::new(false);
    let end = async {
        sleep.await;
        is_over.store(true, Ordering::Relaxed);
        cancel.cancel(Cancelled::Statement);
        std::future::pending().await
    };
    match or(run, end).await {
        Err(error) if is_over.load(Ordering::Relaxed) && error.code == codes::QUERY_INTERRUPTED.0 => {
            Err(deadline.limit.error())
        }
        outcome => outcome,
    }
}

impl Session {
    /// Runs a statement with the plan that is cached, if it still holds, and leaves the plan it used there.
    pub(super) async fn run_rows(
        &mut self,
        statement: &RowStatement<'_>,
        plan: &mut Option<Arc<Plan>>,
        virtual_tables: &dyn VirtualTables,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        for _ in 0..REPLANS_MAX {
            self.transaction_for_statement();
            if plan.as_ref().is_none_or(|plan| !plan.is_current(&self.catalog(), &self.shared.engine)) {
                let planned = self.plan(statement, &[], virtual_tables).await;
                *plan = Some(Arc::new(planned.inspect_err(|_| self.end_single())?));
            }
            if plan.as_ref().is_some_and(|plan| plan.depends_on_params()) {
                let types = self.types_of(statement.params);
                if plan.as_ref().is_some_and(|plan| !plan.fits_params(&types)) {
                    let planned = self.plan(statement, &types, virtual_tables).await;
                    *plan = Some(Arc::new(planned.inspect_err(|_| self.end_single())?));
                }
            }
            let Some(planned) = plan.as_ref() else { continue };
            if let Err(error) = self.check_plan(planned) {
                self.end_single();
                return Err(error);
            }
            match self.run_plan(planned, statement, sink).await {
                // The table was changed before anything was done: the new plan is made with its new form.
                Err(error)
                    if error.code == codes::TABLE_DEF_CHANGED.0
                        && !planned.is_current(&self.catalog(), &self.shared.engine) =>
                {
                    *plan = None;
                }
                result => return result,
            }
        }
        Err(SqlError::new(codes::TABLE_DEF_CHANGED, "Table definition has changed, please retry transaction"))
    }

    /// The types of a prepared statement's values.
    pub(super) fn types_of(&self, params: &[Value]) -> Vec<ExprType> {
        let collation = self.info.collation_connection;
        params.iter().map(|value| build::type_of_param(value, collation)).collect()
    }

    /// Plans a statement in the transaction that is open, or without one (COM_STMT_PREPARE). Of what is wrong with it learns who may use
    /// the tables that it names.
    pub(super) async fn plan(
        &mut self,
        statement: &RowStatement<'_>,
        param_types: &[ExprType],
        virtual_tables: &dyn VirtualTables,
    ) -> Result<Plan, SqlError> {
        let uses = parking_lot::Mutex::default();
        let planned = self.plan_noting_uses(statement, param_types, virtual_tables, &uses).await;
        if planned.is_err() {
            self.check_table_uses(&uses.into_inner())?;
        }
        planned
    }

    async fn plan_noting_uses(
        &self,
        statement: &RowStatement<'_>,
        param_types: &[ExprType],
        virtual_tables: &dyn VirtualTables,
        uses: &parking_lot::Mutex<Vec<TableUse>>,
    ) -> Result<Plan, SqlError> {
        let catalog = self.catalog();
        let host = self.host();
        let hints = statement.hints(self.info.sql_mode);
        let context = PlanContext {
            catalog: &catalog,
            database: statement.database.as_deref(),
            session: &self.info,
            host: &host,
            virtual_tables,
            engine: &self.shared.engine,
            transaction: self.transaction.open().map(|open| &open.transaction),
            text: statement.text,
            param_count: statement.param_count,
            param_types,
            warnings: &self.warnings,
            uses_until_error: Some(uses),
            watch: Some(self.watch(statement, &hints)),
        };
        // Planned again for the types of its parameters it has been warned of them.
        for warning in hints.warnings.iter().filter(|_| param_types.is_empty()) {
            self.warnings.push_error(WarningLevel::Warning, warning);
        }
        plan_statement(&context, statement.statement).await
    }

    fn check_plan(&mut self, plan: &Plan) -> Result<(), SqlError> {
        self.check_table_uses(plan.uses())?;
        if !plan.uses().is_empty() {
            self.check_xa_tables()?;
        }
        if plan.uses().iter().any(|used| used.temporary) {
            self.check_xa_temporary()?;
        }
        if plan.writes() && plan.uses().iter().any(|used| !used.temporary && used.privilege != Privilege::Select) {
            self.check_writable()?;
        }
        // FOR UPDATE.
        if plan.uses().iter().any(|used| !used.temporary && used.columns == UsedColumns::Locked) {
            self.check_read_only_transaction()?;
        }
        self.check_locked_tables(plan.uses())
    }

    /// Runs a plan as one statement of the transaction; commits if the transaction is its own.
    async fn run_plan(
        &mut self,
        plan: &Arc<Plan>,
        statement: &RowStatement<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let _running = self.own_plan.run(plan);
        if !plan.uses().is_empty() {
            self.transaction.note_use();
        }
        let Some(mut open) = self.take_transaction() else { return Err(EngineError::RolledBack.into()) };
        open.transaction.start_statement();
        self.renew_options(&mut open.transaction, plan.writes());
        if !open.explicit && !plan.writes() {
            let options = open.transaction.options_mut();
            // A read that is a transaction by itself is not the one that gtid_next means.
            options.gtid = GtidChoice::default();
            if open.isolation == Isolation::Serializable {
                // It sees one state, which is serializable without locks.
                options.isolation = Isolation::RepeatableRead;
            }
        }
        if plan.writes() && self.settings.binlog_rows_query_log_events {
            open.transaction.set_query_text(statement.text.trim_start());
        }
        let result = self.execute_in(plan, &mut open, statement, sink).await;
        if !open.transaction.is_active() {
            // A deadlock: the whole transaction is gone.
            drop(open);
            self.gtid_ended();
            return result.and(Err(EngineError::RolledBack.into()));
        }
        match result {
            Err(error) if !self.source.keeps_changes(&error) || !open.transaction.has_writes() => {
                open.transaction.rollback_statement();
                if open.explicit {
                    self.put_transaction(open);
                } else if plan.writes() {
                    self.gtid_ended();
                }
                Err(error)
            }
            result if open.explicit => {
                self.put_transaction(open);
                result
            }
            result => {
                self.count(Counter::HandlerCommit);
                // A read that is a transaction by itself is none of gtid_next's.
                let _owned = if plan.writes() { self.gtid_ended() } else { None };
                let pending = open.transaction.enqueue().await?;
                self.wait_for_commit(pending.ended()).await?;
                result
            }
        }
    }

    /// The time that a statement may take: MySQL's limit of a SELECT, by its hint or by the setting, or MariaDB's of any statement. What
    /// comes from a source's log has none.
    fn time_limit(&self, statement: &RowStatement<'_>, hints: &Hints) -> Option<(Duration, TimeLimit)> {
        let settings = &self.settings;
        if self.is_applier {
            return None;
        }
        let of_select = match runs(statement.statement) {
            Statement::Query(_) => hints.max_execution_time.unwrap_or(settings.max_execution_time),
            _ => None,
        };
        let of_any = settings.max_statement_time.map(|time| (time, TimeLimit::Statement));
        of_select.map(|time| (time, TimeLimit::Execution)).into_iter().chain(of_any).min_by_key(|(time, _)| *time)
    }

    /// Who may end a statement that begins now.
    fn watch(&self, statement: &RowStatement<'_>, hints: &Hints) -> Watch<'_> {
        work::begin();
        let clock = &*self.shared.env.clock;
        let deadline = self.time_limit(statement, hints);
        let deadline = deadline.map(|(time, limit)| Deadline { at: clock.monotonic().saturating_add(time), limit });
        Watch { cancel: &self.handle.cancel, clock, spawner: &*self.shared.env.spawner, deadline }
    }

    async fn execute_in(
        &mut self,
        plan: &Plan,
        open: &mut Open,
        statement: &RowStatement<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let host = self.host();
        let waiting = self.waiting(&self.warnings);
        let settings = &self.settings;
        if settings.sql_safe_updates {
            plan.check_safe()?;
        }
        let clock = &*self.shared.env.clock;
        let watch = self.watch(statement, &statement.hints(self.info.sql_mode));
        let deadline = watch.deadline;
        let mut context = ExecContext {
            engine: &self.shared.engine,
            transaction: &mut open.transaction,
            eval: EvalContext {
                params: statement.params,
                session: &self.info,
                host: &host,
                now: self.now,
                warnings: &self.warnings,
                strict: plan.writes()
                    && settings.sql_mode.is_strict()
                    && !plan.ignores_errors()
                    && !self.source.only_warns(),
                watch: Some(watch),
                inserts: plan.inserts(),
            },
            env: &self.shared.env,
            limits: settings.limits(),
            waiting: &waiting,
            client_found_rows: self.client.found_rows,
            foreign_key_checks: settings.foreign_key_checks,
            parents_first: !self.is_applier,
            auto_increment: (settings.auto_increment_increment, settings.auto_increment_offset),
            insert_id: settings.insert_id,
            select_limit: match runs(statement.statement) {
                Statement::Query(query) if query.limit.is_none() => {
                    Some(settings.sql_select_limit).filter(|limit| *limit < u64::MAX)
                }
                _ => None,
            },
            load: self.load_from.clone(),
            turn: Default::default(),
            ctes: Default::default(),
            found_rows: 0,
        };
        let outcome = match deadline {
            None => crate::exec::execute(plan, &mut context, sink).await,
            Some(deadline) => {
                let (cancel, sleep) = (&self.handle.cancel, clock.sleep(deadline.at.saturating_sub(clock.monotonic())));
                Box::pin(in_time(crate::exec::execute(plan, &mut context, sink), deadline, sleep, cancel)).await
            }
        };
        let found_rows = context.found_rows;
        let uses_insert_id = settings.insert_id.is_some() && context.insert_id.is_none();
        if uses_insert_id {
            self.settings.set(SettingId::insert_id, SettingValue::UInt(0));
        }
        let mut outcome = outcome?;
        if outcome.has_rows {
            self.info.found_rows = found_rows;
        }
        self.note_outcome(plan, &mut outcome);
        Ok(outcome)
    }

    /// ROW_COUNT(), LAST_INSERT_ID(). A number that was generated goes before one that LAST_INSERT_ID(…) was given.
    fn note_outcome(&mut self, plan: &Plan, outcome: &mut Outcome) {
        self.info.row_count = if outcome.has_rows { -1 } else { outcome.affected_rows as i64 };
        let given = self.info.set_last_insert_id.lock().take();
        if plan.writes() && outcome.generated_id {
            self.info.last_insert_id = outcome.last_insert_id;
        } else if let Some(given) = given {
            self.info.last_insert_id = given;
            if plan.writes() {
                outcome.last_insert_id = given;
            }
        }
    }

    /// Ends a transaction that was begun for a statement which then never ran.
    pub(super) fn end_single(&mut self) {
        if let Some(open) = self.take_transaction().filter(|open| open.explicit) {
            self.put_transaction(open);
        }
    }
}

/// Functions that wait for something of the server.
pub(super) struct Waiting<'a> {
    pub(super) shared: &'a Shared,
    pub(super) user_locks: &'a HeldLocks,
    pub(super) cancel: &'a base::Cancel,
    pub(super) info: &'a SessionInfo,
    pub(super) warnings: &'a Warnings,
}

impl Session {
    /// Functions that wait, for a statement of this session whose warnings go there.
    pub(super) fn waiting<'a>(&'a self, warnings: &'a Warnings) -> Waiting<'a> {
        Waiting {
            shared: &self.shared,
            user_locks: &self.user_locks,
            cancel: &self.handle.cancel,
            info: &self.info,
            warnings,
        }
    }
}

impl Waiting<'_> {
    /// LOAD_FILE(name): NULL of what the account may not read, or is not there.
    async fn load_file(&self, args: &[Value]) -> Result<Value, SqlError> {
        let Some(name) = args.first().and_then(Value::as_bytes) else { return Ok(Value::Null) };
        let catalog = self.shared.engine.catalog();
        let account = crate::account::effective(&catalog, self.info, &self.shared.globals);
        if !account.global.contains(crate::account::Privilege::File) {
            return Ok(Value::Null);
        }
        let folder = crate::load::permitted_folder(&self.shared.globals);
        let max = self.info.max_allowed_packet;
        let name = String::from_utf8_lossy(name);
        match crate::load::read_file(&self.shared.env, folder.as_deref(), &name, max, self.cancel).await? {
            WholeFile::Read(bytes) => Ok(Value::Bytes(bytes)),
            WholeFile::None => Ok(Value::Null),
            WholeFile::TooLong => {
                let overflow = crate::expr::packet_overflow("load_file", max);
                self.warnings.push(WarningLevel::Warning, codes::WARN_ALLOWED_PACKET_OVERFLOWED, overflow.message);
                Ok(Value::Null)
            }
        }
    }
}

impl WaitingFunctions for Waiting<'_> {
    fn call<'a>(&'a self, function: &'a str, args: Vec<Value>) -> io::BoxFuture<'a, Result<Value, SqlError>> {
        match function {
            "get_lock" | "release_lock" | "release_all_locks" | "is_free_lock" | "is_used_lock" => {
                Box::pin(async move { self.user_locks.call(function, &args, self.cancel).await })
            }
            "load_file" => Box::pin(async move { self.load_file(&args).await }),
            _ => Box::pin(crate::functions::call(&*self.shared.services, function, args)),
        }
    }
}

/// The statement that is run: EXPLAIN ANALYZE runs another one.
fn runs(statement: &Statement) -> &Statement {
    match statement {
        Statement::Explain(explain) if explain.analyze => &explain.statement,
        other => other,
    }
}

/// The privilege that a use of a table needs.
pub(super) fn privilege_of(used: &TableUse) -> crate::account::Privilege {
    match used.privilege {
        Privilege::Select => crate::account::Privilege::Select,
        Privilege::Insert => crate::account::Privilege::Insert,
        Privilege::Update => crate::account::Privilege::Update,
        Privilege::Delete => crate::account::Privilege::Delete,
    }
}

impl Session {
    /// Runs `SELECT * FROM rows WHERE condition`, for the WHERE of a SHOW.
    pub(crate) async fn query_once(
        &mut self,
        rows: crate::information_schema::Once,
        condition: &syntax::ast::Expr,
        params: &[Value],
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let text = crate::information_schema::Once::QUERY;
        let mut parsed = crate::parse::parse_one(text, &crate::parse::ParseContext::default())?;
        if let Statement::Query(query) = &mut parsed.statement
            && let syntax::ast::Body::Select(select) = &mut query.body
        {
            select.filter = Some(condition.clone());
        }
        let statement = RowStatement {
            statement: &parsed.statement,
            text: "",
            param_count: params.len(),
            params,
            database: None,
            may_have_hints: false,
        };
        Box::pin(self.run_rows(&statement, &mut None, &rows, sink)).await
    }
}
