//! `commuter log analyze`: what log files, or a server's log, say of transactions, and of how parallel a replica could be.

mod calibrate;
mod known;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use analyze::schedule::Step;
use analyze::{Analysis, Collector, KnownTables, Options, Report, Simulations, report};
use binlog::event::{ChecksumAlgorithm, MAGIC};
use binlog::{BinlogError, RawEvent, StreamEvent, StreamPlace};
use commuter::client::{Client, ServerUrl};

use crate::cli::{CommandError, CommandResult, LogAnalyze, OutputFormat};
use crate::print;

/// Between two words about how far it is.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// Batches of transactions that wait for the simulations.
const BATCHES_AHEAD: usize = 4;

pub(crate) fn run(arguments: &LogAnalyze) -> CommandResult {
    if let Some(html) = &arguments.html {
        // Said before hours of reading.
        std::fs::File::create(html).map_err(|error| format!("cannot write {}: {error}", html.display()))?;
    }
    let mut options = Options {
        transaction_cost: arguments.transaction_cost,
        row_cost: arguments.row_cost,
        sync_cost: arguments.sync_cost,
    };
    if arguments.calibrate {
        options = calibrate::measure()?;
    }
    let known = match &arguments.source {
        Some(source) => known::tables(source)?,
        None => KnownTables::new(),
    };
    let (batches, receiver) = sync_channel::<Vec<Step>>(BATCHES_AHEAD);
    let simulations = std::thread::spawn(move || {
        let mut simulations = Simulations::new(&options);
        receiver.iter().for_each(|steps| simulations.steps(&steps));
        simulations
    });
    let mut reading = Reading {
        analysis: Analysis::new(Collector::new(known), options),
        batches,
        verify: arguments.verify_checksum,
        checksum: ChecksumAlgorithm::Crc32,
        files: Vec::new(),
        progress: Progress::new(),
    };
    let result = match &arguments.source {
        Some(source) => from_server(source, &arguments.files, &mut reading),
        None => from_files(&arguments.files, &mut reading),
    };
    reading.progress.end();
    let damage = match result {
        Ok(()) => None,
        // What was read up to there is worth having.
        Err(error) if error.is::<BinlogError>() && !reading.files.is_empty() => Some(error.to_string()),
        Err(error) => return Err(error),
    };
    let Reading { mut analysis, batches, files, .. } = reading;
    let _ = batches.send(analysis.last_steps());
    drop(batches);
    let simulations = simulations.join().map_err(|_| "the simulations have panicked")?;
    let report = Report::new(&analysis, &simulations, files, damage.clone());
    if let Some(html) = &arguments.html {
        let page = report::html(&report);
        std::fs::write(html, page).map_err(|error| format!("cannot write {}: {error}", html.display()))?;
    }
    let text = match arguments.format {
        OutputFormat::Text => report::text(&report),
        OutputFormat::Json => serde_json::to_string(&report)? + "\n",
    };
    print::text(text)?;
    match damage {
        None => Ok(ExitCode::SUCCESS),
        Some(damage) => Err(damage.into()),
    }
}

/// An analysis under way.
struct Reading {
    analysis: Analysis,
    /// To the thread of the simulations.
    batches: SyncSender<Vec<Step>>,
    verify: bool,
    checksum: ChecksumAlgorithm,
    files: Vec<String>,
    progress: Progress,
}

impl Reading {
    fn next_file(&mut self, name: &str) {
        self.analysis.collector.next_file(self.files.len() as u32);
        self.files.push(name.to_owned());
    }

    fn event(&mut self, at: u64, event: &RawEvent<'_>) -> Result<(), BinlogError> {
        let file = self.files.last().map_or("", String::as_str);
        let damaged = |reason| BinlogError::corrupt(file, at, reason);
        if self.verify {
            event.verify().map_err(damaged)?;
        }
        let ended = self.analysis.collector.event(at, event).map_err(damaged)?;
        self.checksum = self.analysis.collector.format().checksum;
        if let Some(steps) = ended.and_then(|transaction| self.analysis.add(&transaction)) {
            // It ends only behind us, or has panicked, which is told at the end.
            let _ = self.batches.send(steps);
        }
        self.progress.add(event.bytes.len() as u64);
        Ok(())
    }
}

fn from_files(files: &[PathBuf], reading: &mut Reading) -> Result<(), CommandError> {
    let files = crate::log_dump::without_prepared(files)?;
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    reading.progress.total = files.iter().map(size).sum();
    let runtime = server::runtime(1)?;
    runtime.block_on(async {
        let env = io::os::environment("/".into(), io::os::Offload::Threads(1), tokio::runtime::Handle::current())?;
        for path in files {
            crate::log_dump::check_file(path)?;
            read_file(&env, path, reading).await?;
        }
        Ok(())
    })
}

async fn read_file(env: &io::Env, path: &Path, reading: &mut Reading) -> Result<(), CommandError> {
    let path = std::path::absolute(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = path.to_str().ok_or("the file's name is not UTF-8")?;
    reading.next_file(&name);
    binlog::dump::each_event(env, path, |found| reading.event(found.at, &found.event).map(|()| true)).await?;
    Ok(())
}

/// The files that are named, or all.
fn from_server(source: &ServerUrl, files: &[PathBuf], reading: &mut Reading) -> Result<(), CommandError> {
    let logs = Client::connect(source, None)?.query("SHOW BINARY LOGS")?;
    let names: Vec<String> = match files.is_empty() {
        true => (0..logs.rows.len()).map(|row| logs.text(row, 0)).collect(),
        false => files.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
    };
    let sizes = (0..logs.rows.len()).filter(|&row| names.contains(&logs.text(row, 0)));
    reading.progress.total = sizes.filter_map(|row| logs.text(row, 1).parse::<u64>().ok()).sum();
    for name in &names {
        stream(source, name, reading)?;
    }
    Ok(())
}

fn stream(source: &ServerUrl, file: &str, reading: &mut Reading) -> Result<(), CommandError> {
    let mut events = Client::connect(source, None)?.stream_log(file, MAGIC.len() as u64, false)?;
    let mut place = StreamPlace::default();
    reading.checksum = events.checksum();
    reading.next_file(file);
    while let Some(bytes) = events.next_event()? {
        let at = place.at();
        let damaged = |reason| BinlogError::corrupt(file, at, reason);
        let event = RawEvent::first_of(bytes, reading.checksum).map_err(damaged)?;
        match place.take(&event).map_err(damaged)? {
            StreamEvent::Heartbeat | StreamEvent::File(false) => {}
            StreamEvent::File(true) => return Ok(()),
            StreamEvent::Format => reading.event(at, &event)?,
            StreamEvent::OfFile(at) => reading.event(at, &event)?,
        }
    }
    Ok(())
}

/// How far it is, on a terminal.
struct Progress {
    is_shown: bool,
    total: u64,
    read: u64,
    told: Instant,
    begin: Instant,
}

impl Progress {
    fn new() -> Self {
        let now = Instant::now();
        Progress { is_shown: std::io::stderr().is_terminal(), total: 0, read: 0, told: now, begin: now }
    }

    fn add(&mut self, bytes: u64) {
        self.read += bytes;
        if !self.is_shown || self.told.elapsed() < PROGRESS_INTERVAL {
            return;
        }
        self.told = Instant::now();
        let (read, total) = (self.read as f64 / 1e6, self.total as f64 / 1e6);
        let rate = read / self.begin.elapsed().as_secs_f64().max(0.001);
        eprint!("\r{read:.0} of {total:.0} MB, {rate:.0} MB/s\x1b[K");
    }

    fn end(&self) {
        if self.is_shown {
            eprint!("\r\x1b[K");
        }
    }
}
