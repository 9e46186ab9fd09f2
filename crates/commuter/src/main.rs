//! The command line.

mod checksum;
mod cli;
mod log_dump;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("commuter: {error}");
            ExitCode::FAILURE
        }
    }
}
