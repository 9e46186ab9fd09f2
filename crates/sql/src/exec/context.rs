//! What a statement's execution has at hand.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base::{Cancelled, SqlError};
use engine::{Engine, Transaction};
use io::{BoxFuture, Env, ThreadTurn};
use types::Value;

use crate::bind::tree::CteId;
use crate::exec::spill::RowStore;
use crate::expr::{EvalContext, TimeLimit, interrupted};
pub use crate::load::LoadFrom;

/// Bounds of an operator: of memory, if it needs more than a batch of rows, beyond which it goes to temporary files; and of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `sort_buffer_size`
    pub sort_bytes: usize,
    /// `join_buffer_size`: rows kept by joins.
    pub join_bytes: usize,
    /// What a sort and a join may have beside that of the memory that no other statement uses.
    pub spare_bytes: usize,
    /// `tmp_table_size`: groups, distinct rows, derived tables.
    pub table_bytes: usize,
    /// `cte_max_recursion_depth`: rounds of a recursive common table expression.
    pub rounds: u64,
}

/// What one operator may take of the spare memory.
const SPARE_OF_ONE: usize = 24 << 20;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            sort_bytes: 1 << 20,
            join_bytes: 4 << 20,
            spare_bytes: SPARE_OF_ONE,
            table_bytes: 16 << 20,
            rounds: 1000,
        }
    }
}

/// Functions that wait and need the server: GET_LOCK and its kin, WAIT_FOR_EXECUTED_GTID_SET. (SLEEP is the executor's own.)
pub trait WaitingFunctions: Send + Sync {
    /// The function's result for these arguments.
    fn call<'a>(&'a self, function: &'a str, args: Vec<Value>) -> BoxFuture<'a, Result<Value, SqlError>>;
}

/// For contexts that have none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWaitingFunctions;

impl WaitingFunctions for NoWaitingFunctions {
    fn call<'a>(&'a self, function: &'a str, _args: Vec<Value>) -> BoxFuture<'a, Result<Value, SqlError>> {
        Box::pin(std::future::ready(Err(SqlError::not_supported(function))))
    }
}

/// Rows that several places of a statement read.
#[derive(Default)]
pub struct MadeRows(pub(crate) HashMap<CteId, Arc<RowStore>>);

/// What a statement's execution has at hand. Made by the session for each execution.
pub struct ExecContext<'a> {
    /// Where the data is.
    pub engine: &'a Arc<Engine>,
    /// The transaction, in which the session has begun a statement.
    pub transaction: &'a mut Transaction,
    /// Parameters, session values, warnings, and who may end the statement (asked at each batch of rows).
    pub eval: EvalContext<'a>,
    /// For temporary files and SLEEP.
    pub env: &'a Env,
    /// Memory.
    pub limits: Limits,
    /// See [`WaitingFunctions`].
    pub waiting: &'a dyn WaitingFunctions,
    /// The client wants the number of rows found by UPDATE, not of those changed (CLIENT_FOUND_ROWS).
    pub client_found_rows: bool,
    /// `foreign_key_checks`
    pub foreign_key_checks: bool,
    /// Parents are looked for before a row is written.
    pub parents_first: bool,
    /// `auto_increment_increment` and `auto_increment_offset`
    pub auto_increment: (u64, u64),
    /// `insert_id`: the first number that AUTO_INCREMENT makes in the statement, if that was said.
    pub insert_id: Option<u64>,
    /// `sql_select_limit`, for a query that has no LIMIT.
    pub select_limit: Option<u64>,
    /// Where the file of a LOAD DATA is.
    pub load: Option<LoadFrom>,
    /// Its turn on the thread that runs it.
    pub turn: ThreadTurn,
    /// Rows of common table expressions that are made once, and those of the last round of recursive ones.
    pub ctes: MadeRows,
    /// Out: rows that the query would have given without its LIMIT (SQL_CALC_FOUND_ROWS), or those that it gave.
    pub found_rows: u64,
}

impl ExecContext<'_> {
    /// 1317 if somebody wants the statement to end, 3024 if it has taken its time. Otherwise others on its thread have their turn,
    /// if they waited for long enough: a statement that finds everything in memory never waits by itself.
    pub async fn check_cancelled(&self) -> Result<(), SqlError> {
        self.eval.check_cancelled()?;
        self.turn.pass(&*self.env.clock).await;
        Ok(())
    }

    /// Waits for something of the server, or ends as [`ExecContext::check_cancelled`] would.
    pub(crate) async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T, SqlError>>,
    ) -> Result<T, SqlError> {
        let Some(watch) = self.eval.watch else { return work.await };
        let late = async {
            match watch.deadline {
                Some(deadline) => {
                    let left = deadline.at.saturating_sub(self.env.clock.monotonic());
                    self.env.clock.sleep(left).await;
                }
                None => std::future::pending().await,
            }
        };
        let ended = async {
            let cancelled = async {
                watch.cancel.cancelled().await;
            };
            futures_lite::future::or(cancelled, late).await;
            Err(watch.check().err().unwrap_or_else(interrupted))
        };
        futures_lite::future::or(work, ended).await
    }

    /// Waits; whether it was cut short, by KILL QUERY or `max_execution_time`. MariaDB's `max_statement_time` is error 1969, as there.
    pub(crate) async fn sleep(&self, duration: Duration) -> Result<bool, SqlError> {
        let clock = &self.env.clock;
        let Some(watch) = self.eval.watch else {
            clock.sleep(duration).await;
            return Ok(false);
        };
        let sleep = async {
            let Some(deadline) = watch.deadline else {
                clock.sleep(duration).await;
                return Ok(false);
            };
            let left = deadline.at.saturating_sub(clock.monotonic());
            clock.sleep(left.min(duration)).await;
            match deadline.limit {
                TimeLimit::Statement if left < duration => Err(deadline.limit.error()),
                _ => Ok(left < duration),
            }
        };
        let cancelled = async {
            match watch.cancel.cancelled().await {
                Cancelled::Statement => Ok(true),
                Cancelled::Connection => Err(interrupted()),
            }
        };
        futures_lite::future::or(sleep, cancelled).await
    }
}
