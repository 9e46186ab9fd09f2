//! `cargo xtask fuzz`: coverage-guided fuzzing of what decodes bytes from outside (`fuzz/`).

use std::fs;
use std::process::{Command, Stdio};

use clap::Args;
use interop::{Result, workspace_root};

/// What to fuzz, and for how long.
#[derive(Args)]
pub(crate) struct FuzzArguments {
    /// A target of fuzz/fuzz_targets; all of them, one after the other, if none is named
    target: Option<String>,
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// The longest input; what decoders do with more is the same again.
const INPUT_BYTES_MAX: u32 = 16 << 10;

pub(crate) fn run(arguments: &FuzzArguments) -> Result<()> {
    let known = targets()?;
    let chosen = match &arguments.target {
        None => known,
        Some(target) if known.contains(target) => vec![target.clone()],
        Some(target) => return Err(format!("'{target}' is none of {}", known.join(", "))),
    };
    check_tools()?;
    for target in chosen {
        println!("== {target}, {} s", arguments.seconds);
        fuzz(&target, arguments.seconds)?;
    }
    Ok(())
}

fn targets() -> Result<Vec<String>> {
    let folder = workspace_root().join("fuzz/fuzz_targets");
    let files = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = files.flatten().map(|file| file.path()).filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

/// The sanitizer and the coverage that the fuzzer goes by are nightly's.
fn check_tools() -> Result<()> {
    let works = |command: &mut Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if !works(Command::new("rustup").args(["run", "nightly", "rustc", "--version"])) {
        return Err("fuzzing needs a nightly toolchain: rustup toolchain install nightly --profile minimal".into());
    }
    if !works(nightly_cargo().args(["fuzz", "--version"])) {
        return Err("fuzzing needs cargo-fuzz: cargo install cargo-fuzz --locked".into());
    }
    Ok(())
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
    let status = command.current_dir(workspace_root()).status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{target}: {status}; the input is in fuzz/artifacts/{target}: make it a test beside the code"))
}
