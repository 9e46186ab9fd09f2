//! Automation of the project: `cargo xtask test`, `install`, `tidy`, `bench`, `fuzz`, `soak`, `suites`.

mod bench;
mod fuzz;
mod soak;
mod suites;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Automation of the project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what is missing and run everything that CI runs. Example: cargo xtask test
    Test(test::TestArguments),
    /// Install the peers and tools that tests and benchmarks use (Debian, root). Example: cargo xtask install
    Install,
    /// Check the habits that a program can check. Example: cargo xtask tidy --bless
    Tidy {
        /// Write the present lengths as the new limits (they may only go down without a good reason).
        #[arg(long)]
        bless: bool,
    },
    /// Compare whole servers, alternating in one run. Example: cargo xtask bench update_index --seconds 5
    Bench(bench::BenchArguments),
    /// Fuzz what decodes bytes from outside (nightly, cargo-fuzz), and a server with statements. Example: cargo xtask fuzz statements --seconds 600
    Fuzz(fuzz::FuzzArguments),
    /// Kill servers under load and compare what was acknowledged with what is found; with --sim, simulations with fresh seeds; with --pairs,
    /// random scripts for a source and its replica, real servers among them.
    /// Example: cargo xtask soak --rounds 100, cargo xtask soak --sim --minutes 60, cargo xtask soak --pairs --seeds 1000
    Soak(soak::SoakArguments),
    /// Run MariaDB's regression test files statement by statement beside real servers. Example: cargo xtask suites main/func_ --show
    Suites(suites::SuitesArguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test(arguments) => test::run(&arguments),
        Task::Install => interop::install_everything(),
        Task::Tidy { bless } => tidy::run(bless),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Soak(arguments) => soak::run(&arguments),
        Task::Suites(arguments) => suites::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
