//! `commuter tail`: the transactions of a log for programs, as they come.
//!
//! ```text
//!   source (server, files) ──events──> Collector ──transactions──> held, selected ──> format ──> output
//!                                                                                      state <── place
//! ```
//! What is written and where it is are brought to the disk together, output first: the state never says more than the output has. So
//! after a kill the output may be ahead of the state; an output file is cut to the length that the state says, and what was read from a
//! pipe may come a second time, which its position tells.

mod columns;
mod output;
mod progress;
mod source;
mod writer;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use binlog::dump::DumpFilter;
use output::Output;
use progress::Progress;
use writer::TailWriter;

use crate::cli::{CommandError, CommandResult, Tail, TailFormat};

/// While transactions follow one another, the state is kept so often, and after so many bytes.
const STATE_INTERVAL: Duration = Duration::from_millis(100);
const STATE_BYTES: usize = 4 << 20;

pub(crate) fn run(arguments: &Tail) -> CommandResult {
    let mut progress = Progress::default();
    let mut resumed = None;
    if let Some(path) = &arguments.state
        && let Some(state) = progress::load(path)?
    {
        (progress, resumed) = (state.progress, Some(state.output));
    }
    let output = Output::open(arguments, resumed)?;
    let writer = TailWriter::new(arguments);
    let mut tail = Running { arguments, progress, output, writer, unsaved: 0, saved: Instant::now(), dirty: false };
    let ended = match &arguments.source {
        Some(source) => source::follow(source, &mut tail),
        None => source::read_files(&mut tail),
    };
    // What came before an error is whole.
    let kept = tail.keep();
    if tail.output.reader_is_gone() {
        return Ok(ExitCode::SUCCESS);
    }
    ended?;
    kept?;
    Ok(ExitCode::SUCCESS)
}

/// A tail at work.
struct Running<'a> {
    arguments: &'a Tail,
    progress: Progress,
    output: Output,
    writer: TailWriter,
    /// Bytes since the state was kept.
    unsaved: usize,
    saved: Instant,
    /// Something has changed since then.
    dirty: bool,
}

impl Running<'_> {
    /// Takes the next transaction.
    fn transaction(&mut self, transaction: &dyn events::Transaction) -> Result<(), CommandError> {
        let bytes = self.writer.transaction(transaction, &mut self.progress)?;
        self.output.write(&bytes)?;
        self.unsaved += bytes.len();
        self.progress.passed(transaction)?;
        self.dirty = true;
        Ok(())
    }

    /// Keeps the state, if it is time; at once if nothing more is there.
    fn keep_if_due(&mut self, is_idle: bool) -> Result<(), CommandError> {
        let is_due = is_idle || self.unsaved >= STATE_BYTES || self.saved.elapsed() >= STATE_INTERVAL;
        if self.dirty && is_due { self.keep() } else { Ok(()) }
    }

    /// Output first, then the state.
    fn keep(&mut self) -> Result<(), CommandError> {
        if !std::mem::take(&mut self.dirty) {
            return Ok(());
        }
        let length = self.output.settle(self.arguments.state.is_some())?;
        if let Some(path) = &self.arguments.state {
            progress::save(path, &self.progress, &length)?;
        }
        (self.unsaved, self.saved) = (0, Instant::now());
        Ok(())
    }
}

fn filter(arguments: &Tail) -> DumpFilter {
    DumpFilter {
        include_gtids: arguments.include_gtids.clone(),
        exclude_gtids: arguments.exclude_gtids.clone().unwrap_or_default(),
        databases: arguments.databases.clone(),
        tables: arguments.tables.clone(),
        ..DumpFilter::default()
    }
}

impl TailFormat {
    /// As the state names it.
    fn name(self) -> &'static str {
        match self {
            TailFormat::Json => "json",
            TailFormat::Protobuf => "protobuf",
            TailFormat::Sql => "sql",
        }
    }
}

/// `binlog.000003:1234`
pub(crate) fn parse_position(text: &str) -> Result<(String, u64), String> {
    let parts = text.rsplit_once(':').filter(|(file, _)| !file.is_empty());
    let position = parts.and_then(|(file, offset)| Some((file.to_owned(), offset.parse().ok()?)));
    position.ok_or_else(|| format!("'{text}' is no position such as 'binlog.000003:1234'"))
}
