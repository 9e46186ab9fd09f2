//! Dumping a file, be it sealed, live or another server's.

use io::{Env, OpenOptions};

use super::{DumpFilter, DumpFormat, Dumper, SqlOptions};
use crate::error::{BinlogError, DecodeError, Result};
use crate::event::{ChecksumAlgorithm, ENCRYPTED_MAGIC, EventType, FormatDescription, HEADER_SIZE, MAGIC, RawEvent};
use crate::log::{LogOptions, Window, check_header};

/// What to show, and how.
#[derive(Clone, Debug)]
pub struct DumpOptions {
    /// How events are shown.
    pub format: DumpFormat,
    /// Of SQL.
    pub sql: SqlOptions,
    /// A wrong checksum is an error.
    pub verify_checksum: bool,
    /// First event that is shown, by offset.
    pub start_position: u64,
    /// The first event at or behind this offset is not shown any more.
    pub stop_position: u64,
    /// Of what is between the two.
    pub filter: DumpFilter,
}

impl Default for DumpOptions {
    fn default() -> Self {
        DumpOptions {
            format: DumpFormat::default(),
            sql: SqlOptions::default(),
            verify_checksum: false,
            start_position: MAGIC.len() as u64,
            stop_position: u64::MAX,
            filter: DumpFilter::default(),
        }
    }
}

/// Shows the events of a file, in pieces. Ends at the end of the file or where a live file is still zeros.
pub async fn dump_file(
    env: &Env,
    path: &str,
    options: &DumpOptions,
    mut sink: impl FnMut(&[u8]) -> std::io::Result<()>,
) -> Result<()> {
    let mut printer = Printer::new(options);
    printer.begin(&mut sink)?;
    each_event(env, path, |at, bytes| {
        if at >= options.stop_position {
            return Ok::<_, BinlogError>(false);
        }
        printer.event(path, at, bytes, &mut sink)?;
        Ok(true)
    })
    .await?;
    printer.end(&mut sink)
}

/// Goes through the events of a file: offset and bytes of each, which may say that it is enough. Ends at the end of the file or where a
/// live file is still zeros.
///
/// # Errors
/// When the file is none of a log, or cannot be read; and what `each` fails with.
pub async fn each_event<E: From<BinlogError>>(
    env: &Env,
    path: &str,
    mut each: impl FnMut(u64, &[u8]) -> Result<bool, E>,
) -> Result<(), E> {
    let failed = |operation, error| BinlogError::io(operation, path, &error);
    let file = env.disk.open(path, OpenOptions::default()).await.map_err(|error| failed("open", error))?;
    let len = file.len().await.map_err(|error| failed("stat", error))?;
    let mut window = Window::new(file, path, len);
    let magic = window.at(0, MAGIC.len()).await?;
    if magic.starts_with(&ENCRYPTED_MAGIC) {
        return Err(BinlogError::Encrypted(path.to_owned()).into());
    }
    if !magic.starts_with(&MAGIC) {
        return Err(BinlogError::corrupt(path, 0, "this is not a binary log").into());
    }
    let mut at = MAGIC.len() as u64;
    while at < window.len {
        let bytes = window.at(at, HEADER_SIZE).await?;
        if bytes.iter().take(HEADER_SIZE).all(|&b| b == 0) {
            break;
        }
        let damaged = |reason: DecodeError| BinlogError::corrupt(path, at, reason);
        let header = check_header(bytes, at, &LogOptions::default()).map_err(damaged)?;
        let bytes = window.at(at, header.event_length as usize).await?;
        if !each(at, bytes)? {
            break;
        }
        at += u64::from(header.event_length);
    }
    Ok(())
}

/// What a dump is written to, in pieces.
pub(super) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> std::io::Result<()>;

/// A dump of one file or stream.
pub(super) struct Printer<'a> {
    options: &'a DumpOptions,
    start_position: u64,
    dumper: Dumper,
    checksum: ChecksumAlgorithm,
    out: Vec<u8>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(options: &'a DumpOptions) -> Self {
        let dumper = Dumper::with_options(options.format, options.filter.clone(), options.sql.clone());
        Printer {
            options,
            start_position: options.start_position,
            dumper,
            checksum: ChecksumAlgorithm::Crc32,
            out: Vec::new(),
        }
    }

    /// How events are protected until a FORMAT_DESCRIPTION says it.
    pub(super) fn set_checksum(&mut self, checksum: ChecksumAlgorithm) {
        self.checksum = checksum;
    }

    /// A file of which everything is wanted.
    pub(super) fn next_file(&mut self) {
        self.start_position = 0;
    }

    pub(super) fn checksum(&self) -> ChecksumAlgorithm {
        self.checksum
    }

    pub(super) fn begin(&mut self, sink: Sink<'_>) -> Result<()> {
        self.out.clear();
        self.dumper.begin(&mut self.out);
        write(sink, &self.out)
    }

    pub(super) fn end(&mut self, sink: Sink<'_>) -> Result<()> {
        self.out.clear();
        self.dumper.end(&mut self.out);
        write(sink, &self.out)
    }

    /// Shows an event at an offset of a file, if it is wanted.
    pub(super) fn event(&mut self, file: &str, at: u64, bytes: &[u8], sink: Sink<'_>) -> Result<()> {
        let damaged = |reason: DecodeError| BinlogError::corrupt(file, at, reason);
        let event = RawEvent::first_of(bytes, self.checksum).map_err(damaged)?;
        let event_type = event.header.event_type;
        if event_type == EventType::FORMAT_DESCRIPTION {
            self.checksum = FormatDescription::decode(&event).map_err(damaged)?.checksum;
        }
        if self.options.verify_checksum {
            event.verify().map_err(damaged)?;
        }
        let is_wanted = at >= self.start_position || event_type == EventType::FORMAT_DESCRIPTION;
        if is_wanted {
            self.out.clear();
            self.dumper.event(at, &event, &mut self.out).map_err(damaged)?;
            write(sink, &self.out)?;
            self.inner_events(at, &event, sink)?.map_err(damaged)?;
        } else if event_type == EventType::TABLE_MAP {
            // Rows further on may need the maps of tables before the start.
            self.dumper.event(at, &event, &mut Vec::new()).map_err(damaged)?;
        }
        if event_type == EventType::MARIA_START_ENCRYPTION {
            return Err(BinlogError::Encrypted(file.to_owned()));
        }
        Ok(())
    }

    /// The outer result is that of writing.
    fn inner_events(&mut self, at: u64, event: &RawEvent<'_>, sink: Sink<'_>) -> Result<Result<(), DecodeError>> {
        let mut written = Ok(());
        let inner = self.dumper.inner_events(at, event, |text| {
            written = write(sink, text);
            written.is_ok()
        });
        written.map(|()| inner)
    }
}

fn write(sink: Sink<'_>, text: &[u8]) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    sink(text).map_err(|error| BinlogError::io("write", "output", &error))
}
