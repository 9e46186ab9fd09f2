//! A machine's lives: open, recover, check, work, crash, again.

use std::sync::Arc;
use std::time::Duration;

use engine::commit::{CommitSettings, Overlap};
use engine::{DdlText, Engine, EngineOptions, SessionHandle, TxnOptions};
use futures_lite::future;
use io::sim::{Faults, SimMachine};
use parking_lot::Mutex;

use crate::check::check;
use crate::tables::{DDL, Planner, plan};
use crate::workload::{Known, SharedKnown, look, write};

/// What to simulate.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Crashes.
    pub lives: u32,
    /// Clients that write.
    pub writers: u32,
    /// Clients that read everything.
    pub readers: u32,
    /// Probability that a sync fails; the engine then has to stop.
    pub sync_error: f64,
    /// Now and then the disk is full for a while: commits are refused, nothing else.
    pub disk_fills: bool,
    /// What a transaction may hold in memory, bytes; beyond it goes to files.
    pub transaction_memory_bytes: usize,
}

impl Default for Scenario {
    fn default() -> Self {
        Scenario {
            lives: 4,
            writers: 5,
            readers: 2,
            sync_error: 0.0,
            disk_fills: false,
            transaction_memory_bytes: 16 << 20,
        }
    }
}

/// What a seed did.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeedReport {
    /// Transactions acknowledged.
    pub acknowledged: u64,
    /// Transactions in the log at the end.
    pub in_log: u64,
    /// States that readers saw whole.
    pub seen: u64,
}

/// Runs one seed.
///
/// # Errors
/// What was not true, with the seed.
pub fn run_seed(seed: u64, scenario: &Scenario) -> Result<SeedReport, String> {
    let machine = SimMachine::new(seed);
    let known: SharedKnown = Arc::new(Mutex::new(Known::default()));
    let mut in_log = 0;
    for life in 0..=scenario.lives {
        let failed = |error: String| format!("seed {seed}, life {life}: {error}");
        let is_last = life == scenario.lives;
        in_log = one_life(&machine, scenario, &known, is_last).map_err(failed)?;
        // A process that is killed keeps what it wrote; a power failure does not keep what it did not sync.
        if machine.world().below(4) == 0 { machine.kill() } else { machine.crash() }
    }
    let known = known.lock();
    Ok(SeedReport { acknowledged: known.acknowledged.len() as u64, in_log, seen: known.seen.len() as u64 })
}

/// Opens and checks, then lets clients work until the crash; the number of transactions that were in the log.
fn one_life(machine: &SimMachine, scenario: &Scenario, known: &SharedKnown, is_last: bool) -> Result<u64, String> {
    machine.set_faults(Faults::default());
    let world = machine.world().clone();
    // A crash may come during the recovery too; then that is the whole life.
    let in_recovery = !is_last && world.below(6) == 0;
    if in_recovery {
        machine.crash_after(1 + world.below(60));
    }
    let opened = machine.run(async {
        let engine = open(machine, scenario).await?;
        if engine.catalog().table(crate::tables::SCHEMA, crate::tables::CELLS).is_none() {
            create_tables(&engine).await?;
        }
        Ok::<_, String>(engine)
    });
    let Ok(engine) = opened else { return Ok(0) };
    let engine = engine?;
    let told = known.lock().clone();
    let checked =
        machine.run(async { check(&engine, &world, &told).await.map(|history| history.states.len() as u64 - 1) });
    let Ok(in_log) = checked else { return Ok(0) };
    let in_log = in_log?;
    if is_last {
        let closed = machine.run(engine.close());
        return match closed {
            Ok(Ok(())) => Ok(in_log),
            Ok(Err(error)) => Err(format!("closing: {error}")),
            Err(_) => Ok(in_log),
        };
    }
    work(machine, scenario, known, engine);
    match known.lock().stopped.take() {
        Some(why) if scenario.sync_error == 0.0 => Err(format!("the engine has stopped: {why}")),
        _ => Ok(in_log),
    }
}

async fn open(machine: &SimMachine, scenario: &Scenario) -> Result<Arc<Engine>, String> {
    let world = machine.world();
    let mut options = EngineOptions {
        page_cache_bytes: 256 << 10,
        // Small enough that checkpoints come during the work, some of them often.
        memtable_bytes: 4 << 10 << world.below(6),
        checkpoint_log_bytes: 16 << 10 << world.below(6),
        max_binlog_bytes: 8 << 10 << world.below(6),
        transaction_memory_bytes: scenario.transaction_memory_bytes,
        install_memory_bytes: scenario.transaction_memory_bytes,
        ..EngineOptions::default()
    };
    options.log.fill_ahead = 16 << 10;
    options.log.max_unsynced_window = 16 << 20;
    let engine =
        Engine::open(machine.env(), options, Arc::new(Planner)).await.map_err(|error| format!("open: {error}"))?;
    apply::recover(&engine, apply::ApplyOptions::default()).await.map_err(|error| format!("recovery: {error}"))?;
    let settings = CommitSettings::default();
    if world.below(2) == 0 {
        settings.set_overlap(Overlap::Fixed(1 + world.below(3) as u8));
    }
    engine.start_commits(settings).map_err(|error| format!("start: {error}"))?;
    Ok(engine)
}

async fn create_tables(engine: &Arc<Engine>) -> Result<(), String> {
    for sql in DDL {
        if engine.catalog().table(crate::tables::SCHEMA, sql.rsplit(' ').next().unwrap_or_default()).is_some() {
            continue;
        }
        let mut text = DdlText { sql: sql.to_owned(), ..DdlText::default() };
        text.context.schema = crate::tables::SCHEMA.to_owned();
        let change = plan(sql).map_err(|error| error.to_string())?;
        let options = TxnOptions::new(SessionHandle::internal());
        match engine.execute_ddl(change, text, &options).await {
            Ok(_) => {}
            // The database may be there from a life that ended just after it.
            Err(error) if sql.starts_with("CREATE DATABASE") && error.to_string().contains("exists") => {}
            Err(error) => return Err(format!("{sql}: {error}")),
        }
    }
    Ok(())
}

/// Clients work until the power fails or some time has passed.
fn work(machine: &SimMachine, scenario: &Scenario, known: &SharedKnown, engine: Arc<Engine>) {
    let world = machine.world();
    machine.set_faults(Faults { sync_error: scenario.sync_error, ..Faults::default() });
    if world.below(4) > 0 {
        machine.crash_after(1 + world.below(400));
    }
    let spawner = machine.env().spawner;
    for _ in 0..scenario.writers {
        spawner.spawn("writer", Box::pin(write(engine.clone(), world.clone(), known.clone())));
    }
    for _ in 0..scenario.readers {
        spawner.spawn("reader", Box::pin(look(engine.clone(), world.clone(), known.clone())));
    }
    let time = Duration::from_micros(2_000 + world.below(60_000));
    let sleep = machine.env().clock.sleep(time);
    let fills = async {
        match scenario.disk_fills {
            true => fill_now_and_then(machine).await,
            false => future::pending().await,
        }
    };
    // Either way this life is over: the caller crashes the machine.
    let _ = machine.run(future::or(sleep, fills));
}

/// Takes all room but a little away for a while: so little that nothing fits, that the log finds less than it keeps free, or
/// that a few writes fit.
async fn fill_now_and_then(machine: &SimMachine) {
    let (world, clock) = (machine.world(), machine.env().clock);
    loop {
        clock.sleep(Duration::from_micros(world.below(10_000))).await;
        let room = [0, 64 << 10, (4 << 20) + (64 << 10)][world.below(3) as usize] + world.below(64 << 10);
        machine.set_faults(Faults { capacity: Some(machine.used_bytes() + room), ..Faults::default() });
        clock.sleep(Duration::from_micros(world.below(10_000))).await;
        machine.set_faults(Faults::default());
    }
}
