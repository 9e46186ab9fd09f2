//! Whether the log tells everything, and the data file made anew from it.
//!
//! A log tells everything that is in the data file, unless files of it were purged, or it was begun anew while there was data
//! (`RESET BINARY LOGS AND GTIDS`). That the first files are gone is seen by their numbers. The other is not: a file `binlog.partial`
//! says it, for as long as the data directory lives.
//!
//! # Invariants
//! - Where the log does not tell everything, an engine without its data file is not opened: it would have lost rows without a word.
//! - A data file is put aside only where the log tells everything, and it is put aside, not removed.

use base::{SqlError, codes};
use binlog::{BinaryLog, LogOptions};
use io::Env;

use crate::engine::DATA_FILE;
use crate::error::{EngineError, Result};

/// What is in the data file is not all in the log.
pub(crate) const PARTIAL_FILE: &str = "binlog.partial";
/// A data file that was made anew.
const OLD_FILE: &str = "data.ctr.old";

/// Before the data file is opened, or made because there is none.
pub(crate) async fn prepare(env: &Env, log: &LogOptions, rebuild: bool) -> Result<()> {
    let has_data = env.disk.exists(DATA_FILE).await.map_err(failed)?;
    if has_data && !rebuild {
        return Ok(());
    }
    let refused = |why: String| {
        let what = if has_data { "" } else { " is gone, and" };
        let message = format!("{DATA_FILE}{what} cannot be made from the log: {why}");
        EngineError::Sql(SqlError::new(codes::UNKNOWN_TARGET_BINLOG, message))
    };
    if env.disk.exists(PARTIAL_FILE).await.map_err(failed)? {
        let why = "it was begun anew (RESET BINARY LOGS AND GTIDS) when there was data already";
        return Err(refused(why.to_owned()));
    }
    let first = BinaryLog::first_file(env, log).await?;
    if first.is_none() && !has_data {
        // An empty data directory.
        return Ok(());
    }
    if first != Some(1) {
        let begins = first.map_or("no file of it is there".to_owned(), |first| format!("it begins with file {first}"));
        return Err(refused(format!("{begins}, and file 1 is needed")));
    }
    if !has_data {
        tracing::warn!("{DATA_FILE} is gone: it is made anew from the log");
        return Ok(());
    }
    tracing::warn!("{DATA_FILE} is made anew from the log; the old one is kept as {OLD_FILE}");
    env.disk.rename(DATA_FILE, OLD_FILE).await.map_err(failed)?;
    env.disk.sync_dir("").await.map_err(failed)
}

fn failed(error: std::io::Error) -> EngineError {
    EngineError::Io(format!("{DATA_FILE}: {error}"))
}
