//! The file `NAME.server_id`: the number of the server that wrote the end of the log.
//!
//! A copy of a data directory is given a number of its own, and a server may be given another one. Then what the log says of its own
//! groups ([`super::marks`]), and which files a follower copied ([`super::proofs`]), is to be read with the number under which it was written.
//!
//! ```text
//! 17                             decimal, with a line feed
//! ```
//!
//! # Invariants
//! - It is replaced before anything is written under another number, and after all that is in the log was made durable.

use io::Env;

use super::{LogOptions, folder};
use crate::error::Result;

fn name(options: &LogOptions) -> String {
    format!("{}.server_id", options.basename)
}

/// The number under which the end of the log was written, if it is known.
pub(super) async fn read(env: &Env, options: &LogOptions) -> Result<Option<u32>> {
    let name = name(options);
    let Some(bytes) = folder::read(env, &name).await? else { return Ok(None) };
    let number = std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok());
    if number.is_none() {
        tracing::warn!("{name} does not hold a number: the log's end is taken for one of this server_id");
    }
    Ok(number)
}

/// From here on the log is written under the number of the options.
pub(super) async fn write(env: &Env, options: &LogOptions) -> Result<()> {
    let text = format!("{}\n", options.server_id.0);
    folder::replace(env, &name(options), text.as_bytes()).await
}
