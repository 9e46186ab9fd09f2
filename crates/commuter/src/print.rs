//! The standard output of commands that print a result: a reader that has gone and a full disk are no bugs.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use crate::cli::CommandError;

/// The reader of the standard output has seen enough (`| head`): the command ends, and has not failed.
#[derive(Debug, thiserror::Error)]
#[error("nobody reads the output")]
pub(crate) struct ReaderIsGone;

/// Writes a text to the standard output.
///
/// # Errors
/// [`ReaderIsGone`], or why it could not be written.
pub(crate) fn text(text: impl Display) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    // The buffer of the standard output ends with its line; what follows the last line is written here as well.
    let written = write!(out, "{text}").and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => ReaderIsGone.into(),
        _ => format!("writing the output: {error}").into(),
    })
}

/// The same with the end of a line.
pub(crate) fn line(line: impl Display) -> Result<(), CommandError> {
    text(format_args!("{line}\n"))
}
