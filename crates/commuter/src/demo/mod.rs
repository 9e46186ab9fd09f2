//! `commuter demo`: a source and a follower under load, the source killed in the middle, and the proof that nothing
//! was lost.
//!
//! ```text
//!  load (clients) ──MySQL protocol──> source ──its log, byte for byte──> follower
//!                                       X  SIGKILL at half time, restarted
//! ```
//!
//! Each client moves money between accounts and writes every transfer into a ledger under its own running number. At
//! the end the ledger must hold every transfer that was acknowledged, the balances must be what the ledger says,
//! the follower must hold the same rows, and the two logs must be the same bytes. If any of that is not so, the folder
//! with both servers' data and messages is kept, and the exit status is 1.

mod load;
mod progress;
mod servers;
mod verify;

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;

use crate::client::ClientError;
use load::Load;
use progress::Progress;
use servers::{Follow, ServerProcess};

/// Seconds that a server may take to answer after it was started.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// Options of `commuter demo`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  commuter demo --seconds 60 --clients 64")]
pub struct DemoArguments {
    /// How long the load runs.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..))]
    seconds: u64,
    /// Connections that write.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    clients: u32,
    /// Keep the folder even if all is well.
    #[arg(long)]
    keep: bool,
}

/// What went wrong, for a person.
pub type Result<T> = std::result::Result<T, String>;

fn client_error(error: ClientError) -> String {
    error.to_string()
}

/// Runs the demo.
///
/// # Errors
/// What could not be done, or which proof failed, and where the evidence is.
pub fn run(arguments: &DemoArguments) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("commuter-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    println!("commuter demo: a source and a follower in {}", folder.display());
    let result = run_in(&folder, arguments);
    match &result {
        Ok(()) if !arguments.keep => drop(std::fs::remove_dir_all(&folder)),
        _ => println!("kept: {}", folder.display()),
    }
    result
}

fn run_in(folder: &Path, arguments: &DemoArguments) -> Result<()> {
    let mut source = ServerProcess::start(folder, "source", 1, None)?;
    let follow = Follow { port: source.port() };
    let mut follower = ServerProcess::start(folder, "follower", 2, Some(follow))?;
    load::create_tables(source.port())?;

    let start = Instant::now();
    let end = start + Duration::from_secs(arguments.seconds);
    let load = Load::start(source.port(), arguments.clients, end);
    let mut progress = Progress::new(source.port(), follower.port(), std::io::stdout().is_terminal());
    progress.watch(start + Duration::from_secs(arguments.seconds) / 2);
    progress.note("killing the source with SIGKILL");
    source.kill();
    let recovery = source.restart()?;
    progress.note(&format!("the source is back after {:.2} s", recovery.as_secs_f64()));
    progress.watch(end);
    let outcome = load.finish()?;
    progress.end();

    let proofs = verify::Proofs { source: &source, follower: &follower, outcome: &outcome };
    proofs.prove()?;
    progress.sample();
    progress.print_summary(&outcome, recovery);
    follower.stop()?;
    source.stop()
}
