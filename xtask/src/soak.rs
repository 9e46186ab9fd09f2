//! `cargo xtask soak`: kills servers under load, any number of times, and compares what was acknowledged with what
//! is found. With `--sim`: all simulations with seeds that nobody has run before, for a time. With `--pairs`: scripts
//! from seeds for a source and a replica.

use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use interop::{Result, workspace_root};

/// Tests of simulations, in turn; each round takes so many seeds of it, about as long as the others.
const SIMULATIONS: [(&str, u64); 3] = [("seeds", 60), ("clusters", 12), ("isolation", 6)];
/// Seeds of the tests' own scenarios begin at multiples of this; a soak's are far above all of them.
const FIRST_SEED: u64 = 1_000_000_000;

/// How long and hard.
#[derive(Args)]
pub(crate) struct SoakArguments {
    /// Kills.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// Clients that write.
    #[arg(long, default_value_t = 16)]
    clients: u32,
    /// Simulations instead of real servers.
    #[arg(long)]
    sim: bool,
    /// With --sim: how long.
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// Scripts from seeds for a source and its replica, real servers among them.
    #[arg(long, conflicts_with = "sim")]
    pairs: bool,
    /// With --pairs: of each pair.
    #[arg(long, default_value_t = 1000)]
    seeds: u64,
    /// With --pairs: of this pair alone.
    #[arg(long, value_parser = interop::pairs::PAIRS.map(|pair| pair.name))]
    pair: Option<String>,
    /// With --sim or --pairs: the first seed; fresh ones, by the time of day, if it is not given.
    #[arg(long)]
    seed: Option<u64>,
}

pub(crate) fn run(arguments: &SoakArguments) -> Result<()> {
    if arguments.sim {
        return simulate(arguments);
    }
    interop::install_everything()?;
    if arguments.pairs {
        return pairs(arguments);
    }
    interop::kill_loop(arguments.rounds, arguments.clients)
}

/// A batch at a time, so that there is something to read before all of them are done.
const PAIRS_AT_ONCE: u64 = 50;

/// Prints what failed, each made small and with the command that repeats it.
fn pairs(arguments: &SoakArguments) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    let base = arguments.seed.unwrap_or(FIRST_SEED + now.as_secs() * 1000);
    let mut failed = 0;
    for pair in
        interop::pairs::PAIRS.iter().filter(|pair| arguments.pair.as_deref().is_none_or(|name| name == pair.name))
    {
        let (start, end) = (Instant::now(), base + arguments.seeds);
        let (mut clean, mut first, mut taken) = (0, base, (0, 0));
        while first < end {
            let outcome = pair.run(first..end.min(first + PAIRS_AT_ONCE), true)?;
            clean += outcome.clean;
            taken = (taken.0 + outcome.statements.0, taken.1 + outcome.statements.1);
            failed += outcome.failures.len();
            first += PAIRS_AT_ONCE;
        }
        let (took, refused) = taken;
        println!(
            "{}: {clean} of {} seeds clean, {took} statements done, {refused} refused, {:.0?}",
            pair.name,
            arguments.seeds,
            start.elapsed()
        );
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} seeds failed")) }
}

/// The tests print the seed that failed, and the command that repeats it.
fn simulate(arguments: &SoakArguments) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    let mut base = arguments.seed.unwrap_or(FIRST_SEED + now.as_secs() * 1000);
    let (start, length) = (Instant::now(), Duration::from_secs(60 * arguments.minutes));
    let mut rounds = 0;
    while start.elapsed() < length {
        for (test, seeds) in SIMULATIONS {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["test", "--quiet", "--package", "sim", "--test", test, "--", "--test-threads=1"]);
            cargo.env("COMMUTER_SIM_BASE", base.to_string()).env("COMMUTER_SIM_SEEDS", seeds.to_string());
            let output = cargo.current_dir(workspace_root()).output().map_err(|error| format!("{cargo:?}: {error}"))?;
            if !output.status.success() {
                print!("{}", String::from_utf8_lossy(&output.stdout));
                eprint!("{}", String::from_utf8_lossy(&output.stderr));
                return Err(format!("{test}, seeds from {base} on; to repeat all of them: {cargo:?}"));
            }
        }
        rounds += 1;
        println!("{:.0?}: {rounds} rounds, seeds from {base} on: clean", start.elapsed());
        base += 1000;
    }
    Ok(())
}
