//! `cargo xtask soak`: kills servers under load, any number of times, and compares what was acknowledged with what
//! is found.

use clap::Args;
use interop::Result;

/// How long and hard.
#[derive(Args)]
pub(crate) struct SoakArguments {
    /// Kills.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// Clients that write.
    #[arg(long, default_value_t = 16)]
    clients: u32,
}

pub(crate) fn run(arguments: &SoakArguments) -> Result<()> {
    interop::install_everything()?;
    interop::kill_loop(arguments.rounds, arguments.clients)
}
