//! `cargo xtask suites`: MariaDB's own regression test files as a net, statement by statement beside real servers.

mod answers;
mod interpreter;
mod package;
mod ratchet;
mod report;
mod script;
mod sessions;
mod target;
mod variables;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use interop::{Kind, Result, peers_home};

use answers::{Expected, Said};
use interpreter::Ran;
use ratchet::{Count, Counts};
use report::Report;
use target::Target;

/// What peers have said is asked anew when this changes: when the interpreter does something else with a file.
const ANSWERS: &str = "1";

/// A file of a sample has so many statements at most.
const FEW: usize = 300;

/// What to run.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  cargo xtask suites                                     everything, beside the committed numbers\n  \
    cargo xtask suites main/func_ main/type_ --show values  statements whose values no peer gives\n  \
    cargo xtask suites --update                            write better numbers to xtask/suites.txt"
)]
pub(crate) struct SuitesArguments {
    /// Only files whose names have one of these in them, as `main/func_` or `iuds`.
    filters: Vec<String>,
    /// Write the numbers to xtask/suites.txt.
    #[arg(long)]
    update: bool,
    /// Print statements that differ: all, or one kind of them (lost, accepted, values, refused, "other error", follows).
    #[arg(long, num_args = 0..=1, default_missing_value = "all", value_name = "KIND")]
    show: Option<String>,
    /// Write statements that differ, with all answers, to a file.
    #[arg(long, value_name = "FILE")]
    differences: Option<PathBuf>,
    /// Only so many files, spread over all that have few statements by the committed numbers: what CI runs.
    #[arg(long, value_name = "COUNT")]
    sample: Option<usize>,
    /// Ask the peers again instead of taking what they have said before.
    #[arg(long)]
    fresh: bool,
    /// Servers of ours at once.
    #[arg(long, default_value_t = 2)]
    servers: usize,
    /// How to print the result.
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    format: String,
}

/// Runs the files and compares them with the committed numbers.
pub(crate) fn run(arguments: &SuitesArguments) -> Result<()> {
    let start = Instant::now();
    let folder = package::folder()?;
    let files = chosen(arguments, package::list(&folder)?)?;
    let committed = ratchet::read()?;
    let by_server = ask_all(arguments, &folder, &files)?;
    let (report, mut counts) = compare(&files, &by_server);
    let worse: Vec<String> =
        files.iter().filter(|file| ratchet::is_worse(&committed, &counts, file)).cloned().collect();
    if !worse.is_empty() && !arguments.update {
        // A machine with much to do makes statements late: a file is worse if it is so twice.
        eprintln!("once more: {}", worse.join(", "));
        let again = ask_ours_all(1, &folder, &worse)?;
        let (_, second) = compare(&worse, &[again, by_server[1].clone(), by_server[2].clone()]);
        for (file, count) in second {
            if counts.get(&file).is_none_or(|first| first.equal < count.equal) {
                counts.insert(file, count);
            }
        }
    }
    if let Some(path) = &arguments.differences {
        fs::write(path, report.differences("all")).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if let Some(kind) = &arguments.show {
        print!("{}", report.differences(kind));
    }
    let complaints = ratchet::complaints(&committed, &counts);
    report.print(arguments.format == "json", &counts, &complaints, start.elapsed());
    if arguments.update {
        return ratchet::write(&counts);
    }
    if complaints.is_empty() && !report.has_deaths() { Ok(()) } else { Err(report.failure(&complaints)) }
}

/// Ours beside the other two.
fn compare(files: &[String], [ours, mysql, maria]: &[BTreeMap<String, Ran>; 3]) -> (Report, Counts) {
    let (mut report, mut counts) = (Report::default(), Counts::new());
    for file in files {
        let Some(ran) = ours.get(file) else { continue };
        let said = |peer: &BTreeMap<String, Ran>| peer.get(file).map(|ran| ran.said.clone()).unwrap_or_default();
        let expected = Expected::new(vec![said(mysql), said(maria)]);
        let compared: Vec<&Said> = ran.said.iter().filter(|said| expected.is_known(&said.key)).collect();
        let equal = compared.iter().filter(|said| expected.allows(said)).count();
        counts.insert(file.clone(), Count { statements: compared.len(), equal });
        report.add(file, ran, &compared, &expected);
    }
    (report, counts)
}

fn chosen(arguments: &SuitesArguments, mut files: Vec<String>) -> Result<Vec<String>> {
    let filters = &arguments.filters;
    files.retain(|file| filters.is_empty() || filters.iter().any(|filter| file.contains(filter.as_str())));
    if arguments.sample.is_some() {
        let committed = ratchet::read()?;
        files.retain(|file| committed.get(file).is_some_and(|count| count.statements <= FEW));
    }
    if let Some(count) = arguments.sample.filter(|&count| count > 0 && count < files.len()) {
        files = (0..count).map(|at| files[at * files.len() / count].clone()).collect();
    }
    if files.is_empty() { Err("no file has such a name".into()) } else { Ok(files) }
}

/// What ours, MySQL and MariaDB said, by file: all at once.
fn ask_all(arguments: &SuitesArguments, folder: &Path, files: &[String]) -> Result<[BTreeMap<String, Ran>; 3]> {
    std::thread::scope(|scope| {
        let peers = [Kind::Mysql97, Kind::Maria118]
            .map(|kind| scope.spawn(move || ask_peer(kind, arguments.fresh, folder, files)));
        let ours = ask_ours_all(arguments.servers, folder, files);
        let [mysql, maria] = peers.map(|peer| peer.join().map_err(|_| "a thread has failed".to_owned()).flatten());
        Ok([ours?, mysql?, maria?])
    })
}

/// What ours said, by several servers that take the next file each.
fn ask_ours_all(servers: usize, folder: &Path, files: &[String]) -> Result<BTreeMap<String, Ran>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let ran = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..servers.clamp(1, files.len()))
            .map(|_| scope.spawn(|| ask_ours(folder, files, &next, &done, &ran)))
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread has failed".to_owned())?)
    })?;
    ran.into_inner().map_err(|error| error.to_string())
}

fn ask_ours(
    folder: &Path,
    files: &[String],
    next: &AtomicUsize,
    done: &AtomicUsize,
    ran: &Mutex<BTreeMap<String, Ran>>,
) -> Result<()> {
    let mut target = Target::start(None)?;
    while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let result = interpreter::run(&mut target, folder, file)?;
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(50) {
            eprintln!("{count} of {} files", files.len());
        }
        if let Ok(mut ran) = ran.lock() {
            ran.insert(file.clone(), result);
        }
    }
    Ok(())
}

/// A peer says the same each time, so what it has said is kept beside the files.
fn ask_peer(kind: Kind, fresh: bool, folder: &Path, files: &[String]) -> Result<BTreeMap<String, Ran>> {
    let kept = peers_home().join("mariadb-test").join(format!("answers-{ANSWERS}")).join(kind.name());
    fs::create_dir_all(&kept).map_err(|error| error.to_string())?;
    let mut target = None;
    let mut all = BTreeMap::new();
    for file in files {
        let path = kept.join(file.replace('/', "+"));
        let known = if fresh { None } else { fs::read_to_string(&path).ok().and_then(|text| answers::read(&text)) };
        let ran = match known {
            Some(said) => Ran { said, skipped: 0, deaths: Vec::new() },
            None => {
                let target = match &mut target {
                    Some(target) => target,
                    none => none.insert(Target::start(Some(kind))?),
                };
                let ran = interpreter::run(target, folder, file)?;
                fs::write(&path, answers::write(&ran.said)).map_err(|error| error.to_string())?;
                ran
            }
        };
        all.insert(file.clone(), ran);
    }
    Ok(all)
}
