//! Dumping a file, be it sealed, live or another server's.

use io::{Env, OpenOptions};

use super::{DumpFormat, Dumper};
use crate::error::{BinlogError, DecodeError, Result};
use crate::event::{ChecksumAlgorithm, ENCRYPTED_MAGIC, EventType, FormatDescription, HEADER_SIZE, MAGIC, RawEvent};
use crate::log::{LogOptions, Window, check_header};

/// What to show, and how.
#[derive(Clone, Copy, Debug)]
pub struct DumpOptions {
    /// Text or JSON.
    pub format: DumpFormat,
    /// A wrong checksum is an error.
    pub verify_checksum: bool,
    /// First event that is shown, by offset.
    pub start_position: u64,
    /// The first event at or behind this offset is not shown any more.
    pub stop_position: u64,
}

impl Default for DumpOptions {
    fn default() -> Self {
        DumpOptions {
            format: DumpFormat::Text,
            verify_checksum: false,
            start_position: MAGIC.len() as u64,
            stop_position: u64::MAX,
        }
    }
}

/// Shows the events of a file, in pieces. Ends at the end of the file or where a live file is still zeros.
pub async fn dump_file(
    env: &Env,
    path: &str,
    options: DumpOptions,
    mut sink: impl FnMut(&str) -> std::io::Result<()>,
) -> Result<()> {
    let failed = |operation, error| BinlogError::io(operation, path, &error);
    let file = env.disk.open(path, OpenOptions::default()).await.map_err(|error| failed("open", error))?;
    let len = file.len().await.map_err(|error| failed("stat", error))?;
    let mut window = Window::new(file, path, len);
    let magic = window.at(0, MAGIC.len()).await?;
    if magic.starts_with(&ENCRYPTED_MAGIC) {
        return Err(BinlogError::Encrypted(path.to_owned()));
    }
    if !magic.starts_with(&MAGIC) {
        return Err(BinlogError::corrupt(path, 0, "this is not a binary log"));
    }
    let mut dumper = Dumper::new(options.format);
    let mut checksum = ChecksumAlgorithm::Crc32;
    let mut at = MAGIC.len() as u64;
    let mut out = String::new();
    if options.format == DumpFormat::Text {
        out.push_str("DELIMITER /*!*/;\n");
    }
    while at < len.min(options.stop_position) {
        let bytes = window.at(at, HEADER_SIZE).await?;
        if bytes.iter().take(HEADER_SIZE).all(|&b| b == 0) {
            break;
        }
        let damaged = |reason: DecodeError| BinlogError::corrupt(path, at, reason);
        let header = check_header(bytes, at, &LogOptions::default()).map_err(damaged)?;
        let bytes = window.at(at, header.event_length as usize).await?;
        let event = RawEvent::first_of(bytes, checksum).map_err(damaged)?;
        if event.header.event_type == EventType::FORMAT_DESCRIPTION {
            checksum = FormatDescription::decode(&event).map_err(damaged)?.checksum;
        }
        if options.verify_checksum {
            event.verify().map_err(damaged)?;
        }
        let is_wanted = at >= options.start_position || event.header.event_type == EventType::FORMAT_DESCRIPTION;
        // Rows further on may need the maps of tables before the start.
        if is_wanted {
            dumper.event(at, &event, &mut out).map_err(damaged)?;
        } else if event.header.event_type == EventType::TABLE_MAP {
            dumper.event(at, &event, &mut String::new()).map_err(damaged)?;
        }
        sink(&out).map_err(|error| BinlogError::io("write", "output", &error))?;
        out.clear();
        if is_wanted {
            let mut written = Ok(());
            let inner = dumper.inner_events(at, &event, |text| {
                written = sink(text);
                written.is_ok()
            });
            written.map_err(|error| BinlogError::io("write", "output", &error))?;
            inner.map_err(damaged)?;
        }
        if event.header.event_type == EventType::MARIA_START_ENCRYPTION {
            return Err(BinlogError::Encrypted(path.to_owned()));
        }
        at += u64::from(header.event_length);
    }
    if options.format == DumpFormat::Text {
        out.push_str("DELIMITER ;\n# End of log file\n");
    }
    sink(&out).map_err(|error| BinlogError::io("write", "output", &error))
}
