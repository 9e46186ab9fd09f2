//! Prepared statements: of the protocol, and of PREPARE, EXECUTE and DEALLOCATE.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::memory;
use base::{OnLargeStack, SqlError, codes, on_large_stack};
use types::Value;

use super::Session;
use super::counters::Counter;
use super::rows::RowStatement;
use super::run::LONG_STATEMENT;
use crate::account::Privilege;
use crate::bind::param;
use crate::expr::ExprType;
use crate::information_schema::SystemTables;
use crate::parse::ParsedStatement;
use crate::parse::ast::{Admin, PrepareSource, Show, Statement, TableMaintenance};
use crate::plan::Plan;
use crate::result::{Outcome, ResultColumn, ResultSink};

/// A prepared statement: parsed once, planned once for as long as the catalog stays the same.
pub struct Prepared {
    /// Number of `?`.
    pub param_count: usize,
    /// The shape of its rows; empty if it has none, or if it is none that has a plan.
    pub columns: Vec<ResultColumn>,
    parsed: ParsedStatement,
    plan: Option<Arc<Plan>>,
    /// Bytes that it took when it was prepared, as far as they are counted.
    bytes: u64,
    /// The default database when it was prepared: what its names mean, also when it is planned anew.
    database: Option<String>,
    _place: Place,
}

/// How many prepared statements all sessions have.
#[derive(Clone, Debug, Default)]
pub struct PreparedCount(Arc<AtomicU64>);

impl PreparedCount {
    /// `Prepared_stmt_count`
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// A place for one more; 1461 if there are `max`.
    fn place(&self, max: u64) -> Result<Place, SqlError> {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        let place = Place(self.clone());
        if before >= max {
            let text = format!("Can't create more than max_prepared_stmt_count statements (current value: {max})");
            return Err(SqlError::new(codes::MAX_PREPARED_STMT_COUNT_REACHED, text));
        }
        Ok(place)
    }
}

/// A prepared statement's place under the bound.
struct Place(PreparedCount);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if self.parsed.is_deep() {
            let plan = self.plan.take();
            on_large_stack(|| drop(plan));
        }
    }
}

impl Prepared {
    /// What its parameters are said to be, in order.
    pub fn params(&self) -> Vec<ResultColumn> {
        let nothing = BTreeMap::new();
        param::columns(self.param_count, self.plan.as_ref().map_or(&nothing, |plan| &plan.params))
    }

    /// Bytes that it takes, about.
    pub fn held_bytes(&self) -> u64 {
        self.bytes.max(self.parsed.text.len() as u64)
    }
}

impl Session {
    /// Bytes that the session keeps from one statement to the next, about: user variables, locks by name, what PREPARE has made, and
    /// forms of statements.
    pub fn held_bytes(&self) -> u64 {
        let variables = self.info.user_variables.lock();
        let entry = size_of::<(String, (Value, ExprType))>();
        let names: usize = variables.keys().map(String::len).sum();
        let values: usize = variables.values().filter_map(|(value, _)| value.as_bytes()).map(|bytes| bytes.len()).sum();
        let variables = variables.capacity() * entry + names + values;
        let prepared: u64 = self.prepared.values().map(Prepared::held_bytes).sum();
        variables as u64 + self.user_locks.held_bytes() + prepared + self.seen.held_bytes()
    }

    /// The most bytes of memory that the session's connection may take, and whether the bound of all connections is its too: neither
    /// counts for administrators.
    pub fn memory_limit(&mut self) -> (u64, bool) {
        match self.has_global_privilege(Privilege::ConnectionAdmin) {
            true => (u64::MAX, false),
            false => (self.settings.connection_memory_limit, true),
        }
    }

    /// Prepares a statement.
    #[io::boxed]
    pub async fn prepare(&mut self, text: &[u8]) -> Result<Prepared, SqlError> {
        let text = self.statement_text(text);
        self.begin_statement(&text);
        self.count(Counter::StatementPrepare);
        self.diagnostics.clear();
        if text.len() >= LONG_STATEMENT {
            self.shared.env.spawner.step_aside();
        }
        let result = self.prepare_text(&text).await;
        match result {
            Ok(prepared) => {
                self.end_statement(Ok(Outcome::default()))?;
                Ok(prepared)
            }
            Err(error) => {
                self.end_statement(Err(error.clone()))?;
                Err(error)
            }
        }
    }

    async fn prepare_text(&mut self, text: &str) -> Result<Prepared, SqlError> {
        let max = self.shared.globals.now().statements.max_prepared_stmt_count;
        let place = self.shared.prepared_count.place(max)?;
        let before = memory::now();
        let parsed = self.read(text)?;
        if let Statement::Program(program) = &parsed.statement {
            return Err(SqlError::not_supported(program.name()));
        }
        if !can_be_prepared(&parsed.statement) {
            let message = "This command is not supported in the prepared statement protocol yet";
            return Err(SqlError::new(codes::UNSUPPORTED_PS, message));
        }
        if parsed.param_count > 0 && !takes_params(&parsed.statement) {
            let message = "Dynamic parameters can only be used in DML statements.";
            return Err(SqlError::new(codes::PARAMETERS_OUTSIDE_DML, message));
        }
        let database = self.info.database.clone();
        let mut plan = None;
        if is_planned(&parsed.statement) {
            let tables = SystemTables::new(self.shared.clone());
            let rows = rows_of(&parsed, &[], &database);
            let planning = self.plan(&rows, &[], &tables);
            let planned = if parsed.is_deep() { OnLargeStack::new(planning).await } else { planning.await }?;
            self.check_table_uses(planned.uses())?;
            plan = Some(Arc::new(planned));
        }
        let columns = plan.as_ref().map(|plan| plan.columns().to_vec()).unwrap_or_default();
        let bytes = memory::now().saturating_sub(before);
        Ok(Prepared { param_count: parsed.param_count, columns, parsed, plan, bytes, database, _place: place })
    }

    /// Runs a prepared statement. `prepared` is planned anew if the catalog has changed; its columns may then differ from
    /// those that PREPARE gave, the sink gets those that hold.
    #[io::boxed]
    pub async fn execute(
        &mut self,
        prepared: &mut Prepared,
        params: &[Value],
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        self.begin_statement(&prepared.parsed.text);
        self.count(Counter::StatementExecute);
        let result = self.execute_prepared(prepared, params, sink).await;
        self.end_statement(result)
    }

    async fn execute_prepared(
        &mut self,
        prepared: &mut Prepared,
        params: &[Value],
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        if params.len() != prepared.param_count {
            return Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to EXECUTE"));
        }
        let Prepared { parsed, plan, database, .. } = prepared;
        if parsed.text.len() >= LONG_STATEMENT {
            self.shared.env.spawner.step_aside();
        }
        if parsed.is_deep() {
            return OnLargeStack::new(self.run_statement(parsed, params, database, plan, sink)).await;
        }
        self.run_statement(parsed, params, database, plan, sink).await
    }

    /// PREPARE.
    pub(super) async fn prepare_named(&mut self, name: &str, from: &PrepareSource) -> Result<Outcome, SqlError> {
        self.count(Counter::PrepareSql);
        self.count(Counter::StatementPrepare);
        // A statement of that name goes, whether the new one can be prepared or not.
        self.prepared.remove(&name.to_lowercase());
        let text = match from {
            PrepareSource::Text(text) => text.clone(),
            PrepareSource::Variable(variable) => {
                let value = self.user_value(variable);
                let mut text = Vec::new();
                value.write_text(types::value::NOT_FIXED, &mut text);
                if value.is_null() { "NULL".to_string() } else { String::from_utf8_lossy(&text).into_owned() }
            }
        };
        let prepared = Box::pin(self.prepare_text(&text)).await?;
        self.prepared.insert(name.to_lowercase(), prepared);
        Ok(Outcome { info: "Statement prepared".into(), ..Outcome::default() })
    }

    /// EXECUTE.
    pub(super) async fn execute_named(
        &mut self,
        name: &str,
        using: &[String],
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        self.count(Counter::ExecuteSql);
        self.count(Counter::StatementExecute);
        let key = name.to_lowercase();
        let params: Vec<Value> = using.iter().map(|variable| self.user_value(variable)).collect();
        let mut prepared = self.prepared.remove(&key).ok_or_else(|| unknown(name, "EXECUTE"))?;
        let result = Box::pin(self.execute_prepared(&mut prepared, &params, sink)).await;
        self.prepared.insert(key, prepared);
        result
    }

    /// DEALLOCATE PREPARE.
    pub(super) fn deallocate(&mut self, name: &str) -> Result<Outcome, SqlError> {
        self.count(Counter::DeallocateSql);
        match self.prepared.remove(&name.to_lowercase()) {
            Some(_) => Ok(Outcome::default()),
            None => Err(unknown(name, "DEALLOCATE PREPARE")),
        }
    }

    fn user_value(&self, name: &str) -> Value {
        self.info.user_variables.lock().get(&name.to_lowercase()).map(|(value, _)| value.clone()).unwrap_or_default()
    }
}

/// As in MySQL.
fn can_be_prepared(statement: &Statement) -> bool {
    match statement {
        Statement::Prepare { .. }
        | Statement::Execute { .. }
        | Statement::Deallocate(_)
        | Statement::Binlog(_)
        | Statement::Load(_)
        | Statement::Show(Show::Explain { .. })
        | Statement::Xa(_) => false,
        Statement::Admin(Admin::Tables { what, .. }) => *what != TableMaintenance::Check,
        _ => true,
    }
}

fn unknown(name: &str, verb: &str) -> SqlError {
    let message = format!("Unknown prepared statement handler ({name}) given to {verb}");
    SqlError::new(codes::UNKNOWN_STMT_HANDLER, message)
}

/// As in MySQL, where KILL and most of what defines something takes none.
fn takes_params(statement: &Statement) -> bool {
    is_planned(statement)
        || matches!(
            statement,
            Statement::Set(_) | Statement::Show(_) | Statement::Explain(_) | Statement::CreateTableSelect(..)
        )
}

fn is_planned(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Do(_)
    )
}

/// The part of a parsed statement that is run over rows.
pub(super) fn rows_of<'a>(
    parsed: &'a ParsedStatement,
    params: &'a [Value],
    database: &Option<String>,
) -> RowStatement<'a> {
    RowStatement {
        statement: &parsed.statement,
        text: &parsed.text,
        param_count: parsed.param_count,
        params,
        database: database.clone(),
        may_have_hints: parsed.may_have_hints,
    }
}
