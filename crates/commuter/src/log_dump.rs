//! `commuter log dump`: events of log files, for people or as JSON.

use crate::cli::{CommandResult, LogDump};

pub(crate) fn run(_: &LogDump) -> CommandResult {
    Err("not yet".into())
}
