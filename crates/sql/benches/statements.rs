//! What sysbench's statements cost inside `sql` and `engine`, prepared, in one session, with everything in memory:
//! `cargo bench -p sql --bench statements -- [rows] [name]`.
//!
//! Each statement is planned once and executed many times in one transaction that is rolled back every thousand
//! statements; protocol, commit and log are not in it.

use std::sync::Arc;
use std::time::Instant;

use base::{Cancel, SqlError, UnixMicros};
use engine::{CommitSettings, DdlText, Engine, EngineOptions, SessionHandle, Transaction, TxnOptions};
use io::Env;
use io::sim::SimMachine;
use jiff::tz::TimeZone;
use sql::ddl::{DdlContext, Planner, plan_ddl};
use sql::exec::{ExecContext, Limits, NoWaitingFunctions, execute};
use sql::expr::{EvalContext, Host, SessionInfo, SqlMode, VariableScope, Warnings, Watch};
use sql::parse::ast::Statement;
use sql::parse::{ParseContext, parse_one};
use sql::plan::{Plan, PlanContext, plan_statement};
use sql::virtual_table::NoVirtualTables;
use sql::{ResultColumn, ResultSink};
use types::{CollationId, Value};

struct NoHost;

impl Host for NoHost {
    fn system_variable(&self, _scope: VariableScope, name: &str) -> Result<Value, SqlError> {
        Err(SqlError::unknown(name))
    }

    fn clock_now(&self) -> UnixMicros {
        UnixMicros(1_700_000_000_000_000)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(1);
    }
}

/// Takes rows and forgets them.
#[derive(Default)]
struct Forget {
    rows: u64,
}

impl ResultSink for Forget {
    fn columns(&mut self, _columns: &[ResultColumn]) -> Result<(), SqlError> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.rows += row.len() as u64;
        Ok(())
    }
}

struct Bench {
    env: Env,
    engine: Arc<Engine>,
    session: SessionInfo,
    rows: i64,
    /// Only the measurements with this in their name.
    only: Option<String>,
}

impl Bench {
    async fn open(env: Env, rows: i64, only: Option<String>) -> Self {
        let engine = Engine::open(env.clone(), EngineOptions::default(), Arc::new(Planner)).await.unwrap();
        engine.start_commits(CommitSettings::default()).unwrap();
        let session = SessionInfo { database: Some("test".into()), ..SessionInfo::default() };
        let bench = Bench { env, engine, session, rows, only };
        bench.ddl("CREATE DATABASE test").await;
        bench
            .ddl("CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id), KEY k_1 (k))")
            .await;
        let insert = bench.plan("INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)").await;
        for chunk in 0..rows / 1000 {
            let mut transaction = bench.begin();
            for id in chunk * 1000 + 1..=chunk * 1000 + 1000 {
                let params = [Value::Int(id), Value::Int(id * 7 % rows), text(119, id), text(59, id)];
                bench.execute(&insert, &params, &mut transaction).await;
            }
            transaction.commit().await.unwrap();
        }
        bench
    }

    fn begin(&self) -> Transaction {
        self.engine.begin(TxnOptions::new(SessionHandle::internal()))
    }

    async fn ddl(&self, text: &str) {
        let parsed = parse_one(text, &ParseContext { sql_mode: SqlMode::DEFAULT, ..ParseContext::default() }).unwrap();
        let Statement::Ddl(ddl) = &parsed.statement else { panic!("{text}") };
        let warnings = Warnings::default();
        let catalog = self.engine.catalog();
        let context = DdlContext {
            catalog: &catalog,
            database: Some("test"),
            sql_mode: SqlMode::DEFAULT,
            character_set: CollationId::DEFAULT.charset(),
            collation_server: CollationId::DEFAULT,
            utf8mb4_collation: CollationId::DEFAULT,
            timestamp: 0,
            is_logged: false,
            is_of_maria: false,
            row_order: None,
            time_zone: &TimeZone::UTC,
            require_primary_key: false,
            partial_revokes: false,
            mandatory_roles: &[],
            reuse_policy: Default::default(),
            microseconds: 0,
            auto_increment: (1, 1),
            foreign_key_checks: true,
            warnings: &warnings,
        };
        let planned = plan_ddl(ddl, &context).unwrap();
        let text = DdlText { sql: text.to_string(), ..DdlText::default() };
        self.engine.execute_ddl(planned.change, text, &TxnOptions::new(SessionHandle::internal())).await.unwrap();
    }

    async fn plan(&self, text: &str) -> Plan {
        let parsed = parse_one(text, &ParseContext { sql_mode: SqlMode::DEFAULT, ..ParseContext::default() }).unwrap();
        let catalog = self.engine.catalog();
        let context = PlanContext {
            catalog: &catalog,
            database: Some("test"),
            session: &self.session,
            host: &NoHost,
            virtual_tables: &NoVirtualTables,
            engine: &self.engine,
            transaction: None,
            text,
            param_count: parsed.param_count,
            param_types: &[],
            warnings: &Warnings::default(),
            uses_until_error: None,
            watch: None,
        };
        plan_statement(&context, &parsed.statement).await.unwrap()
    }

    async fn execute(&self, plan: &Plan, params: &[Value], transaction: &mut Transaction) -> u64 {
        let warnings = Warnings::default();
        let cancel = Cancel::new();
        let now = UnixMicros(1_700_000_000_000_000);
        let mut sink = Forget::default();
        transaction.start_statement();
        let watch =
            Some(Watch { cancel: &cancel, clock: &*self.env.clock, spawner: &*self.env.spawner, deadline: None });
        let mut context = ExecContext {
            engine: &self.engine,
            transaction,
            eval: EvalContext {
                params,
                strict: true,
                watch,
                ..EvalContext::new(&self.session, &NoHost, now, &warnings)
            },
            env: &self.env,
            limits: Limits::default(),
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
        let outcome = execute(plan, &mut context, &mut sink).await.unwrap();
        sink.rows + outcome.affected_rows
    }

    async fn measure(&self, name: &str, text: &str, params: impl Fn(i64) -> Vec<Value>) {
        if self.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            return;
        }
        let plan = self.plan(text).await;
        let rounds = 200;
        let mut best = f64::MAX;
        let mut touched = 0;
        for round in 0..rounds {
            let mut transaction = self.begin();
            let all: Vec<Vec<Value>> = (0..1000).map(|n| params((round * 1000 + n) * 7919 % self.rows + 1)).collect();
            let start = Instant::now();
            for params in &all {
                touched += self.execute(&plan, params, &mut transaction).await;
            }
            best = best.min(start.elapsed().as_nanos() as f64 / 1000.0);
            transaction.rollback();
            if start.elapsed().as_millis() > 200 && round > 3 {
                break;
            }
        }
        println!("{name:24} {best:8.0} ns   ({touched})");
    }
}

fn text(length: usize, seed: i64) -> Value {
    Value::str((0..length).map(|at| (b'0' + ((seed as usize + at) % 10) as u8) as char).collect::<String>())
}

fn main() {
    let only = std::env::args().skip(1).find(|arg| arg.parse::<i64>().is_err() && !arg.starts_with("--"));
    let rows = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(100_000);
    let machine = SimMachine::new(1);
    let env = machine.env();
    let run = machine.run(async move {
        let bench = Bench::open(env, rows, only).await;
        let id = |id: i64| vec![Value::Int(id)];
        let range = move |id: i64| vec![Value::Int(id), Value::Int(id + 99)];
        bench.measure("point select", "SELECT c FROM sbtest1 WHERE id = ?", id).await;
        bench.measure("range of 100", "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", range).await;
        bench.measure("sum of 100", "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?", range).await;
        bench.measure("order of 100", "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c", range).await;
        bench
            .measure("distinct of 100", "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c", range)
            .await;
        bench.measure("secondary key", "SELECT c FROM sbtest1 WHERE k = ?", id).await;
        bench.measure("update index", "UPDATE sbtest1 SET k = k + 1 WHERE id = ?", id).await;
        let update = |id: i64| vec![text(119, id + 1), Value::Int(id)];
        bench.measure("update non-index", "UPDATE sbtest1 SET c = ? WHERE id = ?", update).await;
        bench.measure("delete", "DELETE FROM sbtest1 WHERE id = ?", id).await;
        let insert = move |id: i64| vec![Value::Int(id + rows), Value::Int(id), text(119, id), text(59, id)];
        bench.measure("insert", "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)", insert).await;
    });
    assert!(run.is_ok(), "the machine crashed");
}
