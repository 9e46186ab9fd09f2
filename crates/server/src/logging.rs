//! The server's own log: lines on standard error, or in a file (`log_error`).

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use parking_lot::Mutex;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{self, Writer};

use crate::datadir;
use crate::error::{Context, ServerError};

/// Names the levels to log, by part of the program, as in `info,engine=debug`.
const FILTER_VARIABLE: &str = "COMMUTER_LOG";
/// What a file is called that was named without an extension, as in MySQL.
const EXTENSION: &str = "err";

/// The file of this process, if it logs to one.
static LOG_FILE: OnceLock<LogFile> = OnceLock::new();

/// A file that can be opened anew under the same name, after a program has moved it away.
struct LogFile {
    path: PathBuf,
    file: Mutex<File>,
}

impl LogFile {
    fn open(path: &Path) -> std::io::Result<File> {
        OpenOptions::new().create(true).append(true).open(path)
    }
}

/// Begins to log to standard error; a second call does nothing.
pub fn start_logging() {
    start(stderr().is_terminal());
}

/// Begins to log to the file that `log_error` names, if it names one.
pub(crate) fn start_logging_to(log_error: &str, datadir: &Path) -> Result<(), ServerError> {
    if matches!(log_error, "" | "stderr") {
        start_logging();
        return Ok(());
    }
    let mut path = datadir.join(log_error);
    if path.extension().is_none() {
        path.set_extension(EXTENSION);
    }
    if path.parent() == Some(datadir) {
        datadir::create(datadir)?;
    }
    let file = LogFile::open(&path).context(|| format!("cannot write the log (log_error) {}", path.display()))?;
    let _ = LOG_FILE.set(LogFile { path, file: Mutex::new(file) });
    start(false);
    Ok(())
}

/// Whether messages go to a file.
pub(crate) fn is_to_file() -> bool {
    LOG_FILE.get().is_some()
}

/// Opens the file anew under its name, for SIGHUP and FLUSH LOGS. If that fails, the old file goes on.
pub(crate) fn reopen() {
    let Some(log) = LOG_FILE.get() else { return };
    match LogFile::open(&log.path) {
        Ok(file) => *log.file.lock() = file,
        Err(error) => tracing::error!("cannot open {} anew: {error}", log.path.display()),
    }
}

fn start(colors: bool) {
    let filter = EnvFilter::builder()
        .with_default_directive(tracing::level_filters::LevelFilter::INFO.into())
        .with_env_var(FILTER_VARIABLE)
        .from_env_lossy();
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(colors);
    let subscriber = subscriber.fmt_fields(format::debug_fn(write_field).delimited(" "));
    let _ = subscriber.with_target(false).try_init();
}

/// What clients have a part in (names of accounts, statements) may neither begin a line nor move a terminal's cursor.
fn write_field(line: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> std::fmt::Result {
    if field.name() != "message" {
        write!(line, "{field}=")?;
    }
    for char in format!("{value:?}").chars() {
        match char {
            char if char.is_control() => write!(line, "{}", char.escape_default())?,
            char => line.write_char(char)?,
        }
    }
    Ok(())
}

fn writer() -> Box<dyn Write> {
    match LOG_FILE.get() {
        Some(log) => Box::new(ToFile(log)),
        None => Box::new(stderr()),
    }
}

struct ToFile(&'static LogFile);

impl Write for ToFile {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.0.file.lock().write(line)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.file.lock().flush()
    }
}
