//! `commuter log dump`: events of log files, or of a server's log, for people or as JSON.

use std::io::{ErrorKind, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use binlog::dump::{DumpFilter, DumpFormat, DumpOptions, LoadFiles, SqlOptions, StreamDump, Streamed, dump_file};
use binlog::{GtidSet, MariaGtidName};
use commuter::client::{Client, ServerUrl};
use types::temporal::{DateTime, calendar};

use crate::cli::{self, CommandError, CommandResult, LogDump};

pub(crate) fn run(arguments: &LogDump) -> CommandResult {
    let options = DumpOptions {
        format: match (arguments.format, arguments.base64_output) {
            (cli::OutputFormat::Json, _) => DumpFormat::Json,
            (cli::OutputFormat::Text, cli::Base64Output::Auto) => DumpFormat::Sql,
            (cli::OutputFormat::Text, cli::Base64Output::DecodeRows) => DumpFormat::Text,
        },
        sql: SqlOptions {
            skip_gtids: arguments.skip_gtids,
            skip_rows: arguments.skip_rows,
            load_files: Some(load_files(arguments)?),
        },
        verify_checksum: arguments.verify_checksum,
        start_position: arguments.start_position,
        stop_position: arguments.stop_position.unwrap_or(u64::MAX),
        filter: filter(arguments),
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    // Whoever reads our output may have seen enough (`| head`): that is no error.
    let mut enough = false;
    let mut write = |text: &[u8]| {
        // An empty text is for what is written to be seen.
        let written = if text.is_empty() { out.flush() } else { out.write_all(text) };
        enough |= written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        written
    };
    let dumped = match &arguments.source {
        Some(source) => from_server(source, arguments, &options, &mut write),
        None => from_files(&arguments.files, &options, &mut write),
    };
    let dumped = dumped.and_then(|()| Ok(write(b"")?));
    match dumped {
        Err(error) if !enough => Err(error),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Files are made only if there is a LOAD DATA in the log.
fn load_files(arguments: &LogDump) -> Result<LoadFiles, CommandError> {
    let folder = arguments.local_load.clone().unwrap_or_else(std::env::temp_dir);
    let folder = std::path::absolute(folder)?;
    let folder = folder.to_str().ok_or("the name of the folder for LOAD DATA is not UTF-8")?.to_owned();
    let write = |path: &str, is_new: bool, block: &[u8]| {
        let mut options = std::fs::OpenOptions::new();
        let file = if is_new { options.write(true).create_new(true) } else { options.append(true) };
        file.open(path)?.write_all(block)
    };
    Ok(LoadFiles { folder, write })
}

type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> std::io::Result<()>;

fn from_files(files: &[PathBuf], options: &DumpOptions, write: Sink<'_>) -> Result<(), CommandError> {
    let runtime = server::runtime(1)?;
    runtime.block_on(async {
        let env = io::os::environment("/".into(), io::os::Offload::Threads(1), tokio::runtime::Handle::current())?;
        let files = without_prepared(files)?;
        for (number, path) in files.iter().enumerate() {
            check_file(path)?;
            let path = std::path::absolute(path)?;
            let path = path.to_str().ok_or("the file's name is not UTF-8")?;
            let options = of_file(options, number == 0, number + 1 == files.len());
            dump_file(&env, path, &options, &mut *write).await?;
        }
        Ok(())
    })
}

/// The position to start with is in the first file, that to stop at in the last.
fn of_file(options: &DumpOptions, is_first: bool, is_last: bool) -> DumpOptions {
    let all = DumpOptions::default();
    DumpOptions {
        start_position: if is_first { options.start_position } else { all.start_position },
        stop_position: if is_last { options.stop_position } else { all.stop_position },
        ..options.clone()
    }
}

/// The files that are named, each up to its end, or all from the first one on; then, to follow, whatever comes.
fn from_server(
    source: &ServerUrl,
    arguments: &LogDump,
    options: &DumpOptions,
    write: Sink<'_>,
) -> Result<(), CommandError> {
    let names: Vec<String> = arguments.files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    if (names.is_empty() || arguments.follow) && arguments.stop_position.is_some() {
        return Err("--stop-position is one in the last file that is named, and there is none to end with".into());
    }
    if names.is_empty() {
        return stream(source, "", Until::End { follow: arguments.follow }, options, write);
    }
    for (number, name) in names.iter().enumerate() {
        let is_last = number + 1 == names.len();
        let until = if is_last && arguments.follow { Until::End { follow: true } } else { Until::NextFile };
        stream(source, name, until, &of_file(options, number == 0, is_last), write)?;
    }
    Ok(())
}

/// Where a server's log is not read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    NextFile,
    End { follow: bool },
}

fn stream(
    source: &ServerUrl,
    file: &str,
    until: Until,
    options: &DumpOptions,
    write: Sink<'_>,
) -> Result<(), CommandError> {
    const MAGIC_BYTES: u64 = 4;
    let follow = until == Until::End { follow: true };
    let mut events = Client::connect(source, None)?.stream_log(file, MAGIC_BYTES, follow)?;
    let mut dump = StreamDump::begin(options, events.checksum(), write)?;
    while let Some(event) = events.next_event()? {
        match dump.event(event, options.stop_position, write)? {
            Streamed::NextFile if until == Until::NextFile => break,
            Streamed::Stop => break,
            _ => {}
        }
        if follow && !events.has_event() {
            write(b"")?;
        }
    }
    Ok(dump.end(write)?)
}

fn filter(arguments: &LogDump) -> DumpFilter {
    DumpFilter {
        from: arguments.start_datetime,
        until: arguments.stop_datetime,
        include_gtids: arguments.include_gtids.clone(),
        exclude_gtids: arguments.exclude_gtids.clone().unwrap_or_default(),
        databases: arguments.databases.clone(),
        tables: arguments.tables.clone(),
    }
}

/// `YYYY-MM-DD hh:mm:ss` in UTC, as the dump prints times: seconds since 1970.
pub(crate) fn parse_time(text: &str) -> Result<u32, String> {
    let is_real =
        |time: &DateTime| calendar::is_real(time.date) && time.hour < 24 && time.minute < 60 && time.second < 60;
    let time = DateTime::from_canonical(text).filter(is_real);
    let seconds = time.and_then(|time| u32::try_from(calendar::to_unix_seconds(time)).ok());
    seconds.ok_or_else(|| format!("'{text}' is no time such as '2026-11-20 15:00:00' (UTC)"))
}

/// `database.table`
pub(crate) fn parse_table(text: &str) -> Result<(String, String), String> {
    match text.split_once('.') {
        Some((database, table)) if !database.is_empty() && !table.is_empty() => Ok((database.into(), table.into())),
        _ => Err(format!("'{text}' is no DATABASE.TABLE")),
    }
}

/// A set of GTIDs: MySQL's, or MariaDB's names with commas between them; of these several in a row as `0-1-5-9`.
pub(crate) fn parse_gtids(text: &str) -> Result<GtidSet, String> {
    let parsed = text.parse().ok().or_else(|| parse_maria_gtids(text));
    parsed.ok_or_else(|| {
        format!(
            "'{text}' is no GTID set such as '3E11FA47-71CA-11E1-9E33-C80AA9429562:1-5', and no MariaDB GTIDs such as '0-1-5' or \
             '0-1-5-9' (5 to 9)"
        )
    })
}

fn parse_maria_gtids(text: &str) -> Option<GtidSet> {
    let mut set = GtidSet::new();
    for item in text.split(',').map(str::trim) {
        let (name, last) = match item.match_indices('-').nth(2) {
            Some((dash, _)) => (&item[..dash], item[dash + 1..].parse().ok()?),
            None => (item, 0),
        };
        let name: MariaGtidName = name.parse().ok()?;
        let last = if last == 0 { name.seq_no } else { last };
        if !(name.seq_no..i64::MAX as u64).contains(&last) {
            return None;
        }
        set.add_range(name.uuid(), name.seq_no, last);
    }
    Some(set)
}

/// Without a last file that a running server has prepared, which holds nothing but zeros yet (`data/binlog.00000*` names it too).
pub(crate) fn without_prepared(files: &[PathBuf]) -> Result<&[PathBuf], CommandError> {
    match files.split_last() {
        Some((last, before)) if check_file(last).is_ok() && has_zeros_only(last)? => {
            eprintln!("commuter: {} is prepared by its server and has nothing in it yet", last.display());
            Ok(before)
        }
        _ => Ok(files),
    }
}

/// Whether a file has bytes, and all of them are zero.
fn has_zeros_only(path: &Path) -> std::io::Result<bool> {
    let mut file = std::fs::File::open(path)?;
    let mut block = vec![0; 1 << 16];
    let mut is_empty = true;
    loop {
        let length = file.read(&mut block)?;
        if length == 0 {
            return Ok(!is_empty);
        }
        is_empty = false;
        if block[..length].iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
    }
}

/// Says what is wrong with a name before anything is printed.
pub(crate) fn check_file(path: &Path) -> Result<(), String> {
    let cannot = |error| format!("cannot read {}: {error}", path.display());
    let metadata = std::fs::File::open(path).and_then(|file| file.metadata()).map_err(cannot)?;
    if metadata.is_dir() {
        return Err(format!("{} is a folder; name its log files, as in {0}/binlog.000001", path.display()));
    }
    Ok(())
}
