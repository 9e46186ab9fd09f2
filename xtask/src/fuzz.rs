//! `cargo xtask fuzz`: coverage-guided fuzzing of what decodes bytes from outside (`fuzz/`), and statements of a grammar against a
//! whole server (`interop/src/fuzz.rs`).

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use interop::{Result, workspace_root};

/// What to fuzz, and for how long.
#[derive(Args)]
pub(crate) struct FuzzArguments {
    /// `statements`, or a target of fuzz/fuzz_targets; all of them, one after the other, if none is named
    target: Option<String>,
    /// The first seed of `statements`; a fresh one, by the time of day, if it is not given
    #[arg(long)]
    seed: Option<u64>,
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// The target that is a server.
const STATEMENTS: &str = "statements";
/// Seconds that one input may take: more is a loop, or time that grows with the square of the input.
const INPUT_SECONDS_MAX: u32 = 10;
/// The longest input; what decoders do with more is the same again.
const INPUT_BYTES_MAX: u32 = 16 << 10;

pub(crate) fn run(arguments: &FuzzArguments) -> Result<()> {
    let known = targets()?;
    let chosen = match &arguments.target {
        None => known,
        Some(target) if known.contains(target) => vec![target.clone()],
        Some(target) => return Err(format!("'{target}' is none of {}", known.join(", "))),
    };
    if chosen.iter().any(|target| target != STATEMENTS) {
        provide_tools()?;
    }
    for target in chosen {
        println!("== {target}, {} s", arguments.seconds);
        match target == STATEMENTS {
            true => fuzz_server(arguments)?,
            false => fuzz(&target, arguments.seconds)?,
        }
    }
    Ok(())
}

fn fuzz_server(arguments: &FuzzArguments) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    let seed = arguments.seed.unwrap_or(now.as_secs() * 1000);
    println!("seeds from {seed} on");
    interop::fuzz_statements(Duration::from_secs(arguments.seconds), seed)
}

fn targets() -> Result<Vec<String>> {
    let folder = workspace_root().join("fuzz/fuzz_targets");
    let files = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = files.flatten().map(|file| file.path()).filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.push(STATEMENTS.to_owned());
    names.sort();
    Ok(names)
}

/// The sanitizer and the coverage that the fuzzer goes by are nightly's. What is missing is installed.
fn provide_tools() -> Result<()> {
    provide(
        Command::new("rustup").args(["run", "nightly", "rustc", "--version"]),
        Command::new("rustup").args(["toolchain", "install", "nightly", "--profile", "minimal"]),
    )?;
    provide(nightly_cargo().args(["fuzz", "--version"]), nightly_cargo().args(["install", "cargo-fuzz", "--locked"]))
}

/// Runs what installs a tool, unless the tool answers.
fn provide(answers: &mut Command, install: &mut Command) -> Result<()> {
    let is_there = answers.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if is_there {
        return Ok(());
    }
    println!("== {install:?}");
    match install.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{install:?}: {status}")),
        Err(error) => Err(format!("{install:?}: {error}")),
    }
}

/// Without what the cargo that runs us has set for its own toolchain.
fn nightly_cargo() -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command
}

fn fuzz(target: &str, seconds: u64) -> Result<()> {
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
    fs::create_dir_all(workspace_root().join(&corpus)).map_err(|error| format!("{corpus}: {error}"))?;
    // New finds go to the corpus, which is this machine's; the seeds are everybody's.
    let mut command = nightly_cargo();
    command.args(["fuzz", "run", target, &corpus, &seeds, "--"]);
    command.args([format!("-max_total_time={seconds}"), format!("-max_len={INPUT_BYTES_MAX}")]);
    command.arg(format!("-timeout={INPUT_SECONDS_MAX}"));
    let status = command.current_dir(workspace_root()).status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{target}: {status}; the input is in fuzz/artifacts/{target}: make it a test beside the code"))
}
