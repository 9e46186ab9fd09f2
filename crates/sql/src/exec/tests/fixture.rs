//! A session without a session: plans and executes one statement after the other in autocommit, or in the transaction that
//! BEGIN has opened.

use std::cell::RefCell;
use std::sync::Arc;

use base::{Cancel, SqlError, UnixMicros};
use engine::{DdlText, Engine, EngineOptions, SessionHandle, Transaction, TxnOptions};
use io::Env;
use io::sim::SimMachine;
use jiff::tz::TimeZone;
use types::{CollationId, Value};

use crate::ddl::{DdlContext, Planner, plan_ddl};
use crate::exec::{ExecContext, Limits, NoWaitingFunctions, execute};
use crate::expr::{EvalContext, Host, SessionInfo, VariableScope, Warnings, Watch};
use crate::parse::ast::{Statement, TransactionStatement};
use crate::parse::{ParseContext, parse_one};
use crate::plan::{Plan, PlanContext, plan_statement};
use crate::result::{Collected, Outcome};
use crate::virtual_table::NoVirtualTables;

/// 2024-01-31 12:00:00 UTC.
const NOW: UnixMicros = UnixMicros(1_706_702_400_000_000);

pub(super) struct Fixture {
    machine: SimMachine,
    env: Env,
    engine: Arc<Engine>,
    state: RefCell<State>,
}

struct State {
    session: SessionInfo,
    transaction: Option<Transaction>,
    limits: Limits,
}

struct TestHost;

impl Host for TestHost {
    fn system_variable(&self, _scope: VariableScope, name: &str) -> Result<Value, SqlError> {
        match name.to_ascii_lowercase().as_str() {
            "max_allowed_packet" => Ok(Value::Int(64 << 20)),
            _ => Err(SqlError::new(base::codes::UNKNOWN_SYSTEM_VARIABLE, format!("Unknown system variable '{name}'"))),
        }
    }

    fn clock_now(&self) -> UnixMicros {
        NOW
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

impl Fixture {
    pub(super) fn new() -> Self {
        let machine = SimMachine::new(1);
        let env = machine.env();
        let options = EngineOptions { page_cache_bytes: 4 << 20, ..EngineOptions::default() };
        let engine = machine
            .run(async {
                let engine = Engine::open(env.clone(), options, Arc::new(Planner)).await?;
                engine.start_commits(engine::CommitSettings::default())?;
                Ok::<_, engine::EngineError>(engine)
            })
            .unwrap()
            .unwrap();
        let session = SessionInfo { database: Some("test".into()), ..SessionInfo::default() };
        let state = State { session, transaction: None, limits: Limits::default() };
        let fixture = Fixture { machine, env, engine, state: RefCell::new(state) };
        fixture.run("CREATE DATABASE test");
        fixture
    }

    /// Runs one statement; what it gave, as text. `\memory N` sets the budgets of operators to so many bytes, `\rules SELECT …` shows what the
    /// planner's rules make of a query.
    pub(super) fn run(&self, input: &str) -> String {
        if let Some(bytes) = input.strip_prefix("\\memory ") {
            let bytes = bytes.trim().parse().unwrap();
            self.state.borrow_mut().limits = Limits {
                sort_bytes: bytes,
                join_bytes: bytes,
                table_bytes: bytes,
                spare_bytes: 0,
                ..Limits::default()
            };
            return String::new();
        }
        let mut state = self.state.borrow_mut();
        let warnings = Warnings::default();
        let mut sink = Collected::default();
        if let Some(query) = input.strip_prefix("\\rules ") {
            let mut trace = String::new();
            let done = self.statement(query, &mut state, &warnings, &mut sink, Some(&mut trace));
            return self
                .machine
                .run(done)
                .unwrap()
                .map_or_else(|error| error.to_string(), |_| trace.trim_end().to_owned());
        }
        let done = self.machine.run(self.statement(input, &mut state, &warnings, &mut sink, None)).unwrap();
        let mut text = match done {
            Ok(outcome) if outcome.has_rows => show_rows(&sink),
            Ok(outcome) => show_outcome(&outcome),
            Err(error) => error.to_string(),
        };
        for warning in warnings.take() {
            text.push_str(&format!("\n{} {}: {}", warning.level.name(), warning.code, warning.message));
        }
        text
    }

    async fn run_plan(
        &self,
        plan: &Plan,
        transaction: &mut Transaction,
        state: &State,
        warnings: &Warnings,
        sink: &mut Collected,
    ) -> Result<Outcome, SqlError> {
        let session = &state.session;
        let strict = plan.writes() && session.sql_mode.is_strict();
        let cancel = Cancel::new();
        let watch =
            Some(Watch { cancel: &cancel, clock: &*self.env.clock, spawner: &*self.env.spawner, deadline: None });
        let eval = EvalContext { strict, watch, ..EvalContext::new(session, &TestHost, NOW, warnings) };
        let mut context = ExecContext {
            engine: &self.engine,
            transaction,
            eval,
            env: &self.env,
            limits: state.limits,
            waiting: &NoWaitingFunctions,
            client_found_rows: false,
            foreign_key_checks: true,
            parents_first: true,
            auto_increment: (1, 1),
            insert_id: None,
            select_limit: None,
            load: None,
            turn: Default::default(),
            ctes: Default::default(),
            found_rows: 0,
        };
        execute(plan, &mut context, sink).await
    }

    async fn statement(
        &self,
        text: &str,
        state: &mut State,
        warnings: &Warnings,
        sink: &mut Collected,
        traced: Option<&mut String>,
    ) -> Result<Outcome, SqlError> {
        let parsed = parse_one(text, &ParseContext { sql_mode: state.session.sql_mode, ..ParseContext::default() })?;
        match &parsed.statement {
            Statement::Ddl(ddl) => {
                self.ddl(text, ddl, &state.session, warnings).await?;
                return Ok(Outcome::default());
            }
            Statement::Transaction(statement) => return self.transaction(statement, state).await,
            _ => {}
        }
        let autocommit = state.transaction.is_none();
        let mut transaction = match state.transaction.take() {
            Some(transaction) => transaction,
            None => self.engine.begin(TxnOptions::new(SessionHandle::internal())),
        };
        transaction.start_statement();
        let catalog = self.engine.catalog();
        let context = PlanContext {
            catalog: &catalog,
            database: state.session.database.as_deref(),
            session: &state.session,
            host: &TestHost,
            virtual_tables: &NoVirtualTables,
            engine: &self.engine,
            transaction: Some(&transaction),
            text,
            param_count: 0,
            param_types: &[],
            warnings: &Warnings::default(),
            uses_until_error: None,
            watch: None,
        };
        if let Some(trace) = traced {
            *trace = crate::plan::rules::trace(&context, &parsed.statement)?;
            return Ok(Outcome::default());
        }
        let plan = plan_statement(&context, &parsed.statement).await;
        let done = match plan {
            Err(error) => Err(error),
            Ok(plan) => self.run_plan(&plan, &mut transaction, state, warnings, sink).await,
        };
        if done.is_err() {
            transaction.rollback_statement();
        }
        if autocommit {
            transaction.commit().await?;
        } else {
            state.transaction = Some(transaction);
        }
        done
    }

    async fn transaction(&self, statement: &TransactionStatement, state: &mut State) -> Result<Outcome, SqlError> {
        match statement {
            TransactionStatement::Commit(_) => {
                if let Some(transaction) = state.transaction.take() {
                    transaction.commit().await?;
                }
            }
            TransactionStatement::Rollback(_) => drop(state.transaction.take()),
            _ => state.transaction = Some(self.engine.begin(TxnOptions::new(SessionHandle::internal()))),
        }
        Ok(Outcome::default())
    }

    async fn ddl(
        &self,
        text: &str,
        ddl: &crate::parse::ast::Ddl,
        session: &SessionInfo,
        warnings: &Warnings,
    ) -> Result<(), SqlError> {
        let catalog = self.engine.catalog();
        let context = DdlContext {
            catalog: &catalog,
            database: session.database.as_deref(),
            sql_mode: session.sql_mode,
            character_set: session.collation_connection.charset(),
            collation_server: CollationId::DEFAULT,
            utf8mb4_collation: CollationId::DEFAULT,
            timestamp: 0,
            time_zone: &TimeZone::UTC,
            require_primary_key: false,
            foreign_key_checks: true,
            is_logged: false,
            is_of_maria: false,
            row_order: None,
            partial_revokes: false,
            mandatory_roles: &[],
            reuse_policy: Default::default(),
            microseconds: 0,
            auto_increment: (1, 1),
            warnings,
        };
        let planned = plan_ddl(ddl, &context)?;
        let text = DdlText { sql: text.to_string(), ..DdlText::default() };
        let options = TxnOptions::new(SessionHandle::internal());
        self.engine.execute_ddl(planned.change, text, &options).await?;
        Ok(())
    }
}

fn show_rows(rows: &Collected) -> String {
    let names: Vec<&str> = rows.columns.iter().map(|column| &*column.name).collect();
    let mut text = names.join(" | ");
    for row in &rows.rows {
        text.push('\n');
        let values: Vec<String> =
            row.iter().zip(&rows.columns).map(|(value, column)| show(value, column.decimals)).collect();
        text.push_str(&values.join(" | "));
    }
    text
}

fn show(value: &Value, decimals: u8) -> String {
    let mut text = Vec::new();
    match value {
        Value::Null => return "NULL".into(),
        value => value.write_text(decimals, &mut text),
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn show_outcome(outcome: &Outcome) -> String {
    let mut text = format!("ok, {} affected", outcome.affected_rows);
    if outcome.last_insert_id > 0 {
        text.push_str(&format!(", first id {}", outcome.last_insert_id));
    }
    if !outcome.info.is_empty() {
        text.push_str(&format!("; {}", outcome.info));
    }
    text
}
