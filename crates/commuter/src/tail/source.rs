//! Where the transactions come from: a server, whom it asks again when the connection is lost, or files.

use std::path::Path;
use std::time::{Duration, Instant};

use binlog::dump::FileEvent;
use binlog::event::{ChecksumAlgorithm, MAGIC};
use binlog::{RawEvent, StreamEvent, StreamPlace};
use commuter::client::{Client, ClientError, LogRequest, LogStart, LogStream, ServerUrl};
use events::EventError;
use events::log::{Collected, Collector};

use super::Running;
use super::progress::{Gtids, Progress};
use crate::cli::{CommandError, Tail};

/// The source says something at least so often.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Without a word for so long the connection is taken for lost.
const PATIENCE: Duration = Duration::from_secs(35);
/// Between attempts to connect again; the first ones follow quickly, because a source that restarts is back in a moment.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Who is to stop at the end gives up after so long without a source.
const GIVE_UP: Duration = Duration::from_secs(60);

/// Reads a server's log to the end, or for ever.
pub(super) fn follow(server: &ServerUrl, tail: &mut Running<'_>) -> Result<(), CommandError> {
    let server_id = tail.arguments.server_id.unwrap_or_else(made_up_id);
    // Whether the source was ever there: what is wrong with the first attempt is wrong with the arguments.
    let mut was_there = false;
    let (mut pause, mut away_since) = (PAUSE_FIRST, None::<Instant>);
    loop {
        let error = match begin(server, server_id, tail) {
            Ok(stream) => {
                (was_there, pause, away_since) = (true, PAUSE_FIRST, None);
                match read(stream, tail) {
                    Ok(()) if tail.arguments.stop_at_end => return Ok(()),
                    Ok(()) => StreamEnded.into(),
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        // What was written before the connection was lost is whole transactions.
        tail.keep()?;
        if tail.output.reader_is_gone() || !was_there || !may_pass(error.as_ref()) {
            return Err(error);
        }
        let since = *away_since.get_or_insert_with(Instant::now);
        if tail.arguments.stop_at_end && since.elapsed() > GIVE_UP {
            return Err(error);
        }
        eprintln!("commuter: {error}; trying again");
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Whether another connection may help.
fn may_pass(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<ClientError>() {
        return error.may_pass();
    }
    matches!(error.downcast_ref::<EventError>(), Some(EventError::SourceLost(_))) || error.is::<StreamEnded>()
}

/// A source that was to go on has not.
#[derive(Debug, thiserror::Error)]
#[error("the source has ended the stream")]
struct StreamEnded;

/// A number in the upper half of those of servers, other for each process.
fn made_up_id() -> u32 {
    1 << 31 | rand::random::<u32>() >> 1
}

/// Connects, and asks for the log from where we are.
fn begin(server: &ServerUrl, server_id: u32, tail: &mut Running<'_>) -> Result<(LogStream, Skip), CommandError> {
    let mut client = Client::connect(server, Some(PATIENCE))?;
    let is_maria = client.is_maria();
    let identity = identity(&mut client, is_maria)?;
    let progress = &mut tail.progress;
    let is_same = progress.server == identity;
    if progress.server.is_empty() {
        begin_anew(&mut client, is_maria, tail.arguments, progress)?;
    } else if !is_same && progress.gtids.is_none() {
        let before = &progress.server;
        return Err(format!(
            "the source is {identity}, and we were at a position of {before}: without GTIDs that says nothing here"
        )
        .into());
    } else if !is_same {
        // Names of transactions mean the same on another server; positions do not.
        progress.position = None;
    }
    progress.server = identity;
    let (start, skip) = start_of(progress, is_maria)?;
    // Where it begins is kept before anything is written, so that whatever ends it, it begins there again.
    tail.dirty = true;
    tail.keep()?;
    let heartbeat = Some(HEARTBEAT);
    let request = LogRequest { start, follow: !tail.arguments.stop_at_end, server_id, heartbeat };
    Ok((client.request_log(&request)?, skip))
}

/// What was read already though the stream begins before it: up to this offset of this file.
#[derive(Clone, Debug, Default)]
struct Skip(Option<(String, u64)>);

impl Skip {
    fn has(&self, file: &str, end: u64) -> bool {
        self.0.as_ref().is_some_and(|(of, until)| of == file && end <= *until)
    }
}

fn start_of(progress: &Progress, is_maria: bool) -> Result<(LogStart, Skip), CommandError> {
    Ok(match (&progress.position, &progress.gtids) {
        // The protocol has 32 bits for an offset.
        (Some((file, offset)), _) if *offset > u64::from(u32::MAX) => {
            let skip = Skip(Some((file.clone(), *offset)));
            (LogStart::Position(file.clone(), MAGIC.len() as u64), skip)
        }
        (Some((file, offset)), _) => (LogStart::Position(file.clone(), *offset), Skip::default()),
        (None, Some(Gtids::Mysql(set))) if !is_maria => (LogStart::Gtids(set.clone()), Skip::default()),
        (None, Some(gtids @ Gtids::Maria(_))) if is_maria => (LogStart::MariaGtids(gtids.text()), Skip::default()),
        (None, Some(_)) => return Err("the source's GTIDs are of the other kind than those that we were at".into()),
        (None, None) => (LogStart::Position(String::new(), MAGIC.len() as u64), Skip::default()),
    })
}

/// What tells the source from others.
fn identity(client: &mut Client, is_maria: bool) -> Result<String, ClientError> {
    if is_maria {
        return Ok(format!("MariaDB {}", client.query("SELECT @@global.server_id")?.text(0, 0)));
    }
    Ok(client.query("SELECT @@global.server_uuid")?.text(0, 0))
}

/// Where the arguments say.
fn begin_anew(
    client: &mut Client,
    is_maria: bool,
    arguments: &Tail,
    progress: &mut Progress,
) -> Result<(), CommandError> {
    if let Some(text) = &arguments.from_gtid {
        let set = |text: &str| crate::log_dump::parse_gtids(text).map(Gtids::Mysql);
        progress.gtids = Some(if is_maria { Gtids::parse_maria(text)? } else { set(text)? });
        return Ok(());
    }
    if arguments.from_start {
        // Which transactions were before is in the first file's head; MariaDB is asked.
        if is_maria {
            let first = client.query("SHOW BINARY LOGS")?.text(0, 0);
            progress.gtids = maria_gtids_at(client, &first, MAGIC.len() as u64)?;
            progress.position = Some((first, MAGIC.len() as u64));
        }
        return Ok(());
    }
    if let Some((file, offset)) = &arguments.from_position {
        progress.position = Some((file.clone(), *offset));
        if is_maria {
            progress.gtids = maria_gtids_at(client, file, *offset)?;
        }
        return Ok(());
    }
    let status = if is_maria { "SHOW MASTER STATUS" } else { "SHOW BINARY LOG STATUS" };
    let status = match client.query(status) {
        // Before MySQL 8.2 it has the old name.
        Err(ClientError::Refused(_)) if !is_maria => client.query("SHOW MASTER STATUS")?,
        status => status?,
    };
    let file = status.text(0, 0);
    let offset = status.text(0, 1).parse().map_err(|_| "the source has no binary log (log_bin)")?;
    progress.gtids = if is_maria {
        maria_gtids_at(client, &file, offset)?
    } else {
        let executed = status.columns.iter().position(|column| column.eq_ignore_ascii_case("Executed_Gtid_Set"));
        let text = executed.map(|at| status.text(0, at)).unwrap_or_default();
        let set = text.replace(['\n', ' '], "").parse().map_err(|_| format!("a GTID set: '{text}'"))?;
        Some(Gtids::Mysql(set))
    };
    progress.position = Some((file, offset));
    Ok(())
}

/// Which transactions are before a position; `None` if the server does not know.
fn maria_gtids_at(client: &mut Client, file: &str, offset: u64) -> Result<Option<Gtids>, CommandError> {
    let file = file.replace(['\'', '\\'], "");
    let result = client.query(&format!("SELECT BINLOG_GTID_POS('{file}', {offset})"))?;
    let is_known = result.rows.first().is_some_and(|row| row.first().is_some_and(Option::is_some));
    if is_known { Ok(Some(Gtids::parse_maria(&result.text(0, 0))?)) } else { Ok(None) }
}

/// Reads the stream up to its end.
fn read((mut stream, skip): (LogStream, Skip), tail: &mut Running<'_>) -> Result<(), CommandError> {
    let mut collector = Collector::new(stream.checksum(), tail.arguments.transaction_size_max);
    let mut place = StreamPlace::default();
    // Whether the file's head is the head of what we read, and nothing of the file was left out.
    let starts_at_head = |progress: &Progress| {
        progress.position.as_ref().map_or(progress.gtids.is_none(), |at| at.1 <= MAGIC.len() as u64)
    };
    let mut at_head = starts_at_head(&tail.progress);
    while let Some(bytes) = stream.next_event()? {
        let event = RawEvent::first_of(bytes, collector.checksum())?;
        let at = match place.take(&event)? {
            StreamEvent::Heartbeat => None,
            StreamEvent::File(is_next) => {
                if is_next {
                    at_head = true;
                    tail.progress.position = Some((place.file().to_owned(), place.at()));
                    tail.dirty = true;
                }
                None
            }
            StreamEvent::Format => Some(place.at()),
            StreamEvent::OfFile(at) => Some(at),
        };
        if let Some(at) = at {
            match collector.event(place.file(), at, &event)? {
                Collected::Nothing => {}
                Collected::Before(set) => {
                    if at_head && tail.progress.gtids.is_none() {
                        tail.progress.gtids = Some(Gtids::Mysql(set));
                    }
                }
                Collected::Transaction(transaction) => {
                    at_head = false;
                    if !skip.has(place.file(), at + event.bytes.len() as u64) {
                        tail.transaction(&transaction)?;
                    }
                }
            }
        }
        let is_idle = !stream.has_event();
        tail.keep_if_due(is_idle)?;
    }
    if collector.is_inside() {
        return Err("the log ends in the middle of a transaction".into());
    }
    Ok(())
}

/// Reads files to their ends.
pub(super) fn read_files(tail: &mut Running<'_>) -> Result<(), CommandError> {
    const SERVER: &str = "files";
    let arguments = tail.arguments;
    if !tail.progress.server.is_empty() && tail.progress.server != SERVER {
        return Err(format!("the state is that of a server, {}", tail.progress.server).into());
    }
    tail.progress.server = SERVER.to_owned();
    tail.dirty = true;
    tail.keep()?;
    let runtime = server::runtime(1)?;
    runtime.block_on(async {
        let env = io::os::environment("/".into(), io::os::Offload::Threads(1), tokio::runtime::Handle::current())?;
        let mut collector = Collector::new(ChecksumAlgorithm::Crc32, tail.arguments.transaction_size_max);
        let resumed = tail.progress.position.clone();
        // Files before the one where it was are over.
        let files = crate::log_dump::without_prepared(&arguments.files)?;
        let names: Vec<String> = files.iter().map(|path| name_of(path)).collect();
        let first = resumed.as_ref().and_then(|(file, _)| names.iter().position(|name| name == file)).unwrap_or(0);
        let skip = Skip(resumed);
        for (path, name) in files.iter().zip(&names).skip(first) {
            crate::log_dump::check_file(path)?;
            let path = std::path::absolute(path)?;
            let path = path.to_str().ok_or("the file's name is not UTF-8")?;
            binlog::dump::each_event(&env, path, |found| -> Result<bool, CommandError> {
                let FileEvent { at, end, event } = found;
                let damaged = |error| format!("{path} at {at}: {error}");
                let collected = collector.file_event(name, at..end, &event).map_err(damaged)?;
                if let Collected::Transaction(transaction) = collected
                    && !skip.has(name, end)
                {
                    tail.transaction(&transaction)?;
                    tail.keep_if_due(false)?;
                }
                Ok(true)
            })
            .await?;
        }
        if collector.is_inside() {
            return Err("the last file ends in the middle of a transaction".into());
        }
        Ok(())
    })
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
