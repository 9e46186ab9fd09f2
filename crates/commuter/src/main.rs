//! The command line.

mod allocator;
mod checksum;
mod cli;
mod log_analyze;
mod log_dump;
mod print;
mod settings;
mod tail;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // A buffer of some hundred KB would be cleared, and resident, in pieces of 2 MB: a third of recovery's time.
    io::os::without_huge_pages();
    match cli::Cli::parse().run() {
        Ok(code) => code,
        Err(error) if error.is::<print::ReaderIsGone>() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("commuter: {error}");
            ExitCode::FAILURE
        }
    }
}
