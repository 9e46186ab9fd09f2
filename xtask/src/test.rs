//! `cargo xtask test`: installs what is missing and runs everything that CI runs, in the order of how quickly each
//! step can say no.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use clap::Args;
use interop::{Result, workspace_root};

use crate::tidy;

/// Tests of whole servers mostly wait for each other's servers: more than two at once keep two cores busy.
const SERVER_TESTS_AT_ONCE: usize = 4;

/// Of MariaDB's test files: all of them take as long as everything else.
const SUITES_FILES: &str = "30";

/// What to leave out.
#[derive(Args)]
pub(crate) struct TestArguments {
    /// Leave out what needs real peers (CI never does).
    #[arg(long)]
    no_peers: bool,
    /// Run whole servers from the release build, as they ship, instead of the one with debug assertions (ten minutes more).
    #[arg(long)]
    release: bool,
}

pub(crate) fn run(arguments: &TestArguments) -> Result<()> {
    let start = Instant::now();
    step("tidy", || tidy::run(false))?;
    step("format", || cargo(&["fmt", "--all", "--check"]))?;
    step("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    step("unit, golden, property and simulation tests", || {
        cargo(&["test", "--workspace", "--exclude", "interop", "--quiet", "--no-fail-fast"])
    })?;
    let folder = if arguments.release { "release" } else { "debug" };
    if arguments.release {
        step("build of the server", || cargo(&["build", "--release", "--quiet", "--package", "commuter"]))?;
    }
    // The debug build of the server is the one that cargo made for the tests above: asked for alone, it would be compiled
    // once more, because tests turn on more features of the dependencies.
    let server = workspace_root().join("target").join(folder).join("commuter");
    if !arguments.no_peers {
        step("install peers and tools", interop::install_everything)?;
        step("whole servers, real clients, real peers", || {
            let threads = format!("--test-threads={SERVER_TESTS_AT_ONCE}");
            let arguments = ["test", "--package", "interop", "--quiet", "--no-fail-fast", "--", &threads];
            succeed(with_servers(&mut cargo_command(&arguments), &server))
        })?;
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let xtask = |arguments: &[&str]| succeed(with_servers(Command::new(&program).args(arguments), &server));
        // Not among the tests of servers: it takes all processors for as long as it runs.
        step("a minute of random statements", || xtask(&["fuzz", "statements", "--seconds", "60", "--seed", "1"]))?;
        step("a part of MariaDB's test files", || xtask(&["suites", "--sample", SUITES_FILES]))?;
        step("demo", || succeed(Command::new(&server).args(["demo", "--seconds", "10"])))?;
    }
    println!("everything passed in {:.0?}", start.elapsed());
    Ok(())
}

/// For tests of whole servers: which program they start, and that data folders are in memory, where thousands of syncs do not take
/// the time of a disk and of the kernel. Tests whose subject is a sync make it slower by the shim; what a crash leaves is the
/// subject of simulations.
fn with_servers<'a>(command: &'a mut Command, server: &Path) -> &'a mut Command {
    command.env("COMMUTER_BIN", server).env("COMMUTER_TEST_DATA", "memory")
}

fn step(name: &str, action: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("== {name}");
    let start = Instant::now();
    action().map_err(|error| format!("{name} failed: {error}"))?;
    println!("== {name}: passed in {:.1?}", start.elapsed());
    Ok(())
}

fn cargo(arguments: &[&str]) -> Result<()> {
    succeed(&mut cargo_command(arguments))
}

fn cargo_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

/// Runs a command whose output goes where ours goes.
fn succeed(command: &mut Command) -> Result<()> {
    let status = command.current_dir(workspace_root()).status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
