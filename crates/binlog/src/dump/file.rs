//! Dumping a file, be it sealed, live or another server's.

use io::Env;

use super::{DumpFilter, DumpFormat, Dumper, SqlOptions, each_event};
use crate::error::{BinlogError, DecodeError, Result};
use crate::event::{EventType, MAGIC, RawEvent};

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
    let read = each_event(env, path, |found| {
        if found.at >= options.stop_position {
            return Ok::<_, BinlogError>(false);
        }
        printer.event(path, found.at, &found.event, &mut sink)?;
        Ok(true)
    })
    .await;
    match read {
        Err(BinlogError::Truncated { offset, .. }) if options.format != DumpFormat::Json => {
            write(&mut sink, format!("# Warning: the file ends inside of the event at {offset}.\n").as_bytes())?;
        }
        read => read?,
    }
    printer.end(&mut sink)
}

/// What a dump is written to, in pieces.
pub(super) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> std::io::Result<()>;

/// A dump of one file or stream.
pub(super) struct Printer<'a> {
    options: &'a DumpOptions,
    start_position: u64,
    dumper: Dumper,
    out: Vec<u8>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(options: &'a DumpOptions) -> Self {
        let dumper = Dumper::with_options(options.format, options.filter.clone(), options.sql.clone());
        Printer { options, start_position: options.start_position, dumper, out: Vec::new() }
    }

    /// A file of which everything is wanted.
    pub(super) fn next_file(&mut self) {
        self.start_position = 0;
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
    pub(super) fn event(&mut self, file: &str, at: u64, event: &RawEvent<'_>, sink: Sink<'_>) -> Result<()> {
        let damaged = |reason: DecodeError| BinlogError::corrupt(file, at, reason);
        let event_type = event.header.event_type;
        if self.options.verify_checksum {
            event.verify().map_err(damaged)?;
        }
        let is_wanted = at >= self.start_position || event_type == EventType::FORMAT_DESCRIPTION;
        if is_wanted {
            self.out.clear();
            self.dumper.event(at, event, &mut self.out).map_err(damaged)?;
            write(sink, &self.out)?;
            self.inner_events(at, event, sink)?.map_err(damaged)?;
        } else if event_type == EventType::TABLE_MAP {
            // Rows further on may need the maps of tables before the start.
            self.dumper.event(at, event, &mut Vec::new()).map_err(damaged)?;
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
