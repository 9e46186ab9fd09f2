//! Another server's log, executed by many at once.
//!
//! ```text
//!   receiver ──► queue ──► coordinator ──► pool ──► slots (a few threads) ──► in turn ──► our log
//!                            │ assembler, rules       └── executors
//!                            └── what is executed alone
//! ```
//! The coordinator puts events together to transactions ([`group`]), says after which others each may begin ([`rules`]), and hands them to the
//! pool ([`pool`]), from which slots ([`slot`]) take them: executing begins side by side, commits keep the log's order. What is not rows alone
//! it executes itself, between the others.
//!
//! # Invariants
//! - With an order of commits no mode, and no number of slots, changes what is in our log, but for what MySQL itself leaves to chance: each
//!   transaction takes its place when all before it have theirs, with no error that it would not have had after them.
//! - GTIDs are owned in the order of the log: two channels that bring the same transactions never wait for one another in a circle.

mod counters;
mod group;
mod pool;
mod rules;
mod slot;
mod spill;

use std::sync::Arc;

use base::SqlError;
use binlog::event::{ChecksumAlgorithm, EventType};
use parking_lot::Mutex;
use sql::settings::Globals;

use self::counters::Barrier;
pub(super) use self::counters::ParallelCounters;
use self::group::{Assembler, GROUP_BYTES_MAX, Taken};
pub(super) use self::group::{Group, Head};
use self::pool::Bounds;
pub(super) use self::pool::{Job, Pool};
pub(super) use self::rules::Crossing;
use self::rules::{Facts, Mode, Rules};
pub(super) use self::slot::run_slots;
use super::executor::{Contents, ExecuteError, Executor, Wanted};
use super::origins::Fate;
use super::{Run, SourceKind};
use crate::follower::SourceSettings;

/// The byte of an event that has its type.
const TYPE_OFFSET: usize = 4;

/// How another server's log is executed, from one START REPLICA to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parallel {
    mode: Mode,
    /// Transactions in the middle at most.
    pub(super) slots: usize,
    /// Commits keep the log's order.
    pub(super) is_ordered: bool,
    /// Bytes of one transaction in memory.
    kept_max: usize,
    /// Of one domain.
    domain_workers: usize,
    bounds: Bounds,
}

/// Slots per processor, if nothing is said: those that wait cost nothing.
const SLOTS_PER_PROCESSOR: usize = 8;
/// Transactions that are ready or wait, for each slot, where `replica_checkpoint_group` is not more.
const QUEUED_PER_SLOT: usize = 8;
/// One transaction keeps no more than this part of what all may keep.
const KEPT_SHARE: usize = 4;
/// Bytes in temporary files of large transactions, before no more of them are taken; one is, whatever it has.
const SPILLED_MAX: u64 = 1 << 30;

impl Parallel {
    /// As the settings say; `None` if transactions are executed one by one. Where what is executed is known as a position alone, commits keep the
    /// log's order: without GTIDs, and in each domain of a MariaDB.
    pub(super) fn of(globals: &Globals, source: &SourceSettings, processors: usize) -> Option<Self> {
        let globals = globals.now();
        let settings = &globals.replica;
        let mode = Mode::named(&settings.replica_parallel_mode, &settings.replica_parallel_type);
        if mode == Mode::None {
            return None;
        }
        let slots = match globals.follower.replica_parallel_workers {
            0 => processors * SLOTS_PER_PROCESSOR,
            workers => workers,
        };
        let is_ordered = match mode {
            _ if !source.auto_position => true,
            Mode::Domain => false,
            _ if !matches!(source.kind, Some(SourceKind::Mysql | SourceKind::Commuter)) => true,
            _ => settings.replica_preserve_commit_order,
        };
        let bytes = settings.replica_pending_jobs_size_max;
        let bounds = Bounds {
            count: (slots * QUEUED_PER_SLOT).max(settings.replica_checkpoint_group),
            bytes: bytes.max(GROUP_BYTES_MAX),
            spilled: SPILLED_MAX,
        };
        let domain_workers = match settings.replica_domain_parallel_workers {
            0 => usize::MAX,
            workers => workers,
        };
        let kept_max = (bytes / KEPT_SHARE).min(GROUP_BYTES_MAX);
        Some(Parallel { mode, slots, is_ordered, kept_max, domain_workers, bounds })
    }

    /// What is shown where transactions are executed one by one.
    pub(super) const NONE: &str = Mode::None.text();

    /// Its name.
    pub(super) fn mode(&self) -> &'static str {
        self.mode.text()
    }

    pub(super) fn pool(&self, threads: usize) -> Arc<Pool> {
        Arc::new(Pool::new(self.bounds, threads))
    }
}

/// See the module.
pub(super) struct Coordinator {
    run: Arc<Run>,
    pool: Arc<Pool>,
    assembler: Assembler,
    rules: Rules,
    next_turn: u64,
    contents: Contents,
}

impl Coordinator {
    pub(super) fn new(run: Arc<Run>, pool: Arc<Pool>, parallel: &Parallel) -> Self {
        let rules = Rules::new(parallel.mode, parallel.is_ordered, parallel.domain_workers);
        let assembler = Assembler::new(run.env().clone(), parallel.kept_max);
        Coordinator { run, pool, assembler, rules, next_turn: 1, contents: Contents::default() }
    }

    /// A connection begins.
    pub(super) fn begin(&mut self, announced: ChecksumAlgorithm) {
        self.assembler.begin(announced);
        self.run.replica.state.lock().buffered.drops();
    }

    /// Takes an event; `alone` executes what is not executed beside others.
    pub(super) async fn event(&mut self, bytes: Vec<u8>, alone: &mut Executor) -> Result<(), ExecuteError> {
        let taken = self.take(bytes).await.map_err(|error| alone.named(&error))?;
        match taken {
            Taken::Kept => Ok(()),
            Taken::Between(event) => alone.event(&event).await,
            Taken::Alone(group, event) => {
                if group.is_some() || event.get(TYPE_OFFSET).is_some_and(|of| EventType(*of).begins_transaction()) {
                    self.count(Barrier::Statement);
                }
                self.pool.idle().await?;
                if let Some(group) = group {
                    alone.events_of(&group).await?;
                }
                alone.event(&event).await
            }
            Taken::Whole(group) => self.dispatch(group, alone).await,
            Taken::Statement(group) if alone.defines(&group, &mut self.contents) => self.dispatch(group, alone).await,
            Taken::Statement(group) => {
                self.count(Barrier::Statement);
                self.pool.idle().await?;
                alone.events_of(&group).await
            }
        }
    }

    /// Takes an event, and says when what it is part of was begun, and put together.
    async fn take(&mut self, bytes: Vec<u8>) -> Result<Taken, SqlError> {
        let was_open = self.assembler.open_head().is_some();
        let taken = self.assembler.take(bytes).await?;
        let open = self.assembler.open_head();
        if was_open != open.is_some() {
            let now = self.run.env().clock.now();
            let buffered = &mut self.run.replica.state.lock().buffered;
            match open {
                Some(head) => buffered.takes(head, now),
                None => buffered.passes_on(now),
            }
        }
        Ok(taken)
    }

    fn count(&self, why: Barrier) {
        self.run.replica.parallel.barrier(why);
    }

    async fn dispatch(&mut self, group: Group, alone: &mut Executor) -> Result<(), ExecuteError> {
        match alone.fate(&group.head) {
            Fate::Executed => {}
            Fate::PassedOver => return Ok(()),
            Fate::WithoutEffect => {
                self.pool.idle().await?;
                return alone.leave_out_group(&group).await;
            }
        }
        self.pool.room(group.bytes, group.spilled_bytes()).await?;
        let owned = match group.head.gtid {
            None => None,
            Some(gtid) => {
                let owned = self.run.engine.own_gtid(gtid, 0, &self.run.handle.cancel).await;
                let owned = owned.map_err(|error| alone.named(&SqlError::from(error)))?;
                if owned.is_none() {
                    // It is executed.
                    return Ok(());
                }
                owned
            }
        };
        let turn = self.next_turn;
        self.next_turn += 1;
        let (mode, first_undone) = (self.rules.mode(), self.pool.first());
        let (schemas, keys) = (mode.wants_schemas(), mode.wants_keys());
        let tables = self.rules.wants_tables(first_undone) || mode.wants_tables();
        let wanted = Wanted { schemas, keys, tables };
        let is_looked_at = !group.is_statement && group.rest.is_none() && (schemas || keys || tables);
        let mut is_seen = is_looked_at && alone.look_into(&group, wanted, &mut self.contents);
        if mode == Mode::Domain && is_looked_at && !is_seen && self.rules.wants_tables(first_undone) {
            // Its table may be one that is being defined: what is about it would wait for that in any case.
            self.pool.idle().await?;
            is_seen = alone.look_into(&group, wanted, &mut self.contents);
        }
        let facts = Facts {
            head: group.head,
            schemas: &self.contents.schemas,
            tables: if group.is_statement || is_looked_at { &self.contents.names } else { &[] },
            is_definition: group.is_statement,
            is_large: group.rest.is_some(),
            keys: Some(&self.contents.keys).filter(|_| is_seen),
        };
        let after = self.rules.next(turn, &facts, first_undone);
        if let Some(why) = self.rules.why() {
            self.count(why);
        }
        if let Some(crossing) = self.rules.crossing() {
            let tables = &mut self.contents.names;
            tables.sort_unstable();
            tables.dedup();
            self.run.replica.tell_crossing(crossing, group.head.gtid, tables, self.run.env().clock.now());
        }
        let definition = Mutex::new(self.contents.definition.take().filter(|_| group.is_statement));
        self.pool.add(Job { turn, group, owned: Mutex::new(owned), definition }, &after);
        Ok(())
    }
}
