//! Slots: each executes one transaction at a time, in a session of its own. Many share a thread, so that waiting for a row, a page, or a turn
//! costs no thread, and passing a turn wakes none.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::codes;
use engine::TurnWait;
use futures_lite::{StreamExt, future};
use futures_util::stream::FuturesUnordered;
use sql::services::WorkerState;

use super::super::Run;
use super::super::commits::Executed;
use super::super::executor::{ExecuteError, Executor};
use super::super::work::WorkerStatus;
use super::pool::{Arrived, Committed, Ended, Job, Pool};

/// Times that a transaction in the way of another begins again at once; then it waits for its turn.
const HASTY_ATTEMPTS: u32 = 2;

/// Why an attempt came to nothing.
enum Failure {
    /// One before it waits for what this one held.
    InTheWay,
    Error(ExecuteError),
    /// The replica stops.
    Closed,
}

struct Slot {
    number: usize,
    run: Arc<Run>,
    pool: Arc<Pool>,
    /// Away while its transaction is parked.
    executor: Option<Box<Executor>>,
    /// The order of this channel's commits.
    line: u64,
    is_ordered: bool,
}

/// A thread's slots: numbers and executors. Ends when the pool is closed.
pub(crate) async fn run_slots(
    run: Arc<Run>,
    pool: Arc<Pool>,
    (line, is_ordered): (u64, bool),
    executors: Vec<(usize, Box<Executor>)>,
) {
    let slots = executors.into_iter().map(|(number, executor)| {
        let slot = Slot { number, run: run.clone(), pool: pool.clone(), executor: Some(executor), line, is_ordered };
        slot.run()
    });
    let mut slots: FuturesUnordered<_> = slots.collect();
    while slots.next().await.is_some() {}
    drop(slots);
    pool.thread_ended();
    run.ended();
}

impl Slot {
    async fn run(mut self) {
        while let Some(job) = self.pool.next(self.number).await {
            self.status().begins(job.group.head, self.run.env().clock.now());
            match self.work(&job).await {
                Ok(()) => self.status().ends(self.run.env().clock.now()),
                Err(Failure::Error(error)) if !self.pool.is_closed() => self.pool.fail(error),
                Err(_) => break,
            }
            self.run.env().step().await;
        }
        if let Some(executor) = &mut self.executor {
            executor.undo_group();
        }
    }

    fn status(&self) -> &WorkerStatus {
        &self.run.workers[self.number]
    }

    /// Executes a transaction until it has its place in our log.
    async fn work(&mut self, job: &Arc<Job>) -> Result<(), Failure> {
        let (mut attempts, mut hasty_attempts) = (0, 0);
        let mut is_in_turn = self.pool.first() == job.turn;
        loop {
            let Some(executor) = self.executor.take() else { return Err(Failure::Closed) };
            let (executor, result) = self.attempt(executor, job, is_in_turn).await;
            let executor = self.executor.insert(executor);
            let counters = &self.run.replica.parallel;
            let Err(failure) = result else {
                counters.executed();
                return Ok(());
            };
            executor.undo_group();
            let (code, why) = match &failure {
                Failure::Error(error) => (error.code, error.message.as_str()),
                _ => (codes::LOCK_DEADLOCK.0, "A transaction before it waited for what it held"),
            };
            self.status().tries_again(code, why, self.run.env().clock.now());
            match failure {
                _ if self.pool.is_closed() => return Err(Failure::Closed),
                Failure::InTheWay if is_in_turn => {}
                Failure::InTheWay if hasty_attempts < HASTY_ATTEMPTS => {
                    counters.in_the_way();
                    hasty_attempts += 1;
                    is_in_turn = self.pool.first() == job.turn;
                }
                Failure::InTheWay | Failure::Error(_) if !is_in_turn => {
                    counters.too_early();
                    self.status().enters(WorkerState::InOrder);
                    self.pool.in_turn(job.turn).await.map_err(Failure::Error)?;
                    self.status().enters(WorkerState::Executing);
                    is_in_turn = true;
                }
                Failure::Error(error) if error.may_pass && attempts < self.run.retries_max => {
                    attempts += 1;
                    self.run.replica.all_retries.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!("{}: {error}; attempt {} begins", self.run.replica.title(), attempts + 1);
                }
                failure => return Err(failure),
            }
        }
    }

    async fn attempt(
        &self,
        mut executor: Box<Executor>,
        job: &Arc<Job>,
        is_in_turn: bool,
    ) -> (Box<Executor>, Result<(), Failure>) {
        if let Err(error) = executor.execute_group(job, self.line, is_in_turn).await {
            return (executor, Err(Failure::Error(error)));
        }
        if let Some((rows, sentence)) = executor.found_differences() {
            self.run.replica.tell_differences(rows, sentence, self.run.env().clock.now());
        }
        match self.is_ordered {
            true => self.commit_in_turn(executor, job.turn).await,
            false => {
                let result = self.commit_now(&mut executor, job.turn).await;
                (executor, result.map_err(Failure::Error))
            }
        }
    }

    /// Commits out of order. What is told of it is where all before it ended.
    async fn commit_now(&self, executor: &mut Executor, turn: u64) -> Result<(), ExecuteError> {
        let executed = executor.commit_group(self.pool.has_backlog()).await?;
        self.pool.done(turn);
        let end = self.pool.place();
        let executed = Executed { file: end.file.unwrap_or_default(), offset: end.offset, ..executed };
        self.run.commits.push(executed).await.map_err(|error| executor.named(&error))
    }

    async fn commit_in_turn(&self, executor: Box<Executor>, turn: u64) -> (Box<Executor>, Result<(), Failure>) {
        let executor = match self.pool.arrive(turn, executor, false) {
            Arrived::InTurn(executor) => return self.commit_from(executor, turn).await,
            Arrived::Parked(ended) => return self.parked(&ended, None, turn).await,
            Arrived::NotYet(executor) => executor,
        };
        let wait = executor.wait_for_turn();
        match self.pool.arrive(turn, executor, true) {
            Arrived::InTurn(executor) | Arrived::NotYet(executor) => {
                drop(wait);
                self.commit_from(executor, turn).await
            }
            Arrived::Parked(ended) => self.parked(&ended, wait, turn).await,
        }
    }

    /// Waits until somebody has committed the transaction, or it is in the way of one before it.
    async fn parked(&self, ended: &Ended, wait: Option<TurnWait>, turn: u64) -> (Box<Executor>, Result<(), Failure>) {
        self.status().enters(WorkerState::InOrder);
        self.run.replica.parallel.waits_for_order();
        let committed = async { Some(ended.wait().await) };
        let in_the_way = async {
            match wait {
                Some(wait) => wait.await,
                None => future::pending().await,
            }
            None
        };
        let closed = async {
            self.pool.closed().await;
            None
        };
        let given_up = match future::or(committed, future::or(in_the_way, closed)).await {
            Some(committed) => Err(committed),
            None => match self.pool.take_back(turn) {
                Some(executor) => Ok(executor),
                // It is being committed.
                None => Err(ended.wait().await),
            },
        };
        match given_up {
            Ok(executor) => {
                self.status().enters(WorkerState::Executing);
                (executor, Err(Failure::InTheWay))
            }
            Err(Committed { executor, result }) => (executor, result.map_err(Failure::Error)),
        }
    }

    /// Commits the first transaction, and those behind it that are parked.
    async fn commit_from(&self, mut executor: Box<Executor>, turn: u64) -> (Box<Executor>, Result<(), Failure>) {
        let result = self.commit(&mut executor, turn).await;
        let mut goes_on = result.is_ok();
        while goes_on && let Some((turn, mut executor, ended)) = self.pool.next_parked() {
            let result = self.commit(&mut executor, turn).await;
            goes_on = result.is_ok();
            ended.tell(Committed { executor, result });
            self.run.env().step().await;
        }
        (executor, result.map_err(Failure::Error))
    }

    async fn commit(&self, executor: &mut Executor, turn: u64) -> Result<(), ExecuteError> {
        let committed = async {
            let executed = executor.commit_group(self.pool.has_backlog()).await?;
            self.run.commits.push(executed).await.map_err(|error| executor.named(&error))
        };
        let result = committed.await;
        match result {
            Ok(()) => self.pool.done(turn),
            Err(_) => self.pool.stop_committing(),
        }
        result
    }
}
