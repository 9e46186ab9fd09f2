//! Where records go: the standard output, or a file of which the state knows how much counts.

use std::fs::File;
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::cli::{CommandError, Tail};

/// How much of which file was written, and in which format; empty path: the standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Written {
    pub(super) path: String,
    pub(super) length: u64,
    pub(super) format: String,
}

pub(super) struct Output {
    to: To,
    written: Written,
    reader_is_gone: bool,
}

enum To {
    Stdout(std::io::BufWriter<std::io::Stdout>),
    File(std::io::BufWriter<File>),
}

impl Output {
    /// `resumed` is what the state says; what a file has beyond it was written before a kill, and is cut off.
    pub(super) fn open(arguments: &Tail, resumed: Option<Written>) -> Result<Output, CommandError> {
        let path = arguments.output.as_ref().map(std::path::absolute).transpose()?.unwrap_or_default();
        let format = arguments.format.name().to_owned();
        let mut written = Written { path: path.to_string_lossy().into_owned(), length: 0, format };
        let is_known = resumed.is_some();
        if let Some(before) = resumed {
            if before.path != written.path {
                let name =
                    |path: &str| if path.is_empty() { "the standard output".to_owned() } else { path.to_owned() };
                let (before, now) = (name(&before.path), name(&written.path));
                return Err(format!("the state is that of an output to {before}, not to {now}").into());
            }
            if before.format != written.format && !path.as_os_str().is_empty() {
                return Err(format!("{} has {}, not {}", before.path, before.format, written.format).into());
            }
            written.length = before.length;
        }
        let to = match &arguments.output {
            None => To::Stdout(std::io::BufWriter::new(std::io::stdout())),
            Some(_) => {
                To::File(std::io::BufWriter::with_capacity(1 << 20, open_file(&path, written.length, is_known)?))
            }
        };
        Ok(Output { to, written, reader_is_gone: false })
    }

    /// Whether whoever read our output has seen enough (`| head`): that is no error.
    pub(super) fn reader_is_gone(&self) -> bool {
        self.reader_is_gone
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        let written = match &mut self.to {
            To::Stdout(out) => out.write_all(bytes),
            To::File(out) => out.write_all(bytes),
        };
        self.check(written)?;
        self.written.length += bytes.len() as u64;
        Ok(())
    }

    /// Brings what was written to its reader, or, if it has to be `durable`, to the disk; says how much it is.
    pub(super) fn settle(&mut self, durable: bool) -> Result<Written, CommandError> {
        let settled = match &mut self.to {
            To::Stdout(out) => out.flush(),
            To::File(out) => out.flush().and_then(|()| if durable { out.get_ref().sync_data() } else { Ok(()) }),
        };
        self.check(settled)?;
        Ok(self.written.clone())
    }

    fn check(&mut self, result: std::io::Result<()>) -> Result<(), CommandError> {
        result.map_err(|error| {
            self.reader_is_gone |= error.kind() == ErrorKind::BrokenPipe;
            format!("writing the output: {error}").into()
        })
    }
}

/// `is_known`: a state says that it is ours, and that so much of it counts.
fn open_file(path: &PathBuf, length: u64, is_known: bool) -> Result<File, CommandError> {
    let cannot = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::options().create(true).truncate(false).write(true).open(path).map_err(cannot)?;
    let there = file.metadata().map_err(cannot)?.len();
    if there < length {
        let why = format!("has {there} bytes, and the state says that {length} were written");
        return Err(format!("{} {why}", path.display()).into());
    }
    if !is_known && there > 0 {
        return Err(format!("{} is there already, and no state says what it is", path.display()).into());
    }
    file.set_len(length).map_err(cannot)?;
    file.seek(SeekFrom::End(0)).map_err(cannot)?;
    Ok(file)
}
