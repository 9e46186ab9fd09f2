//! A server: everything below it wired together, on tokio, with listeners.
//!
//! ```text
//!   settings ─> data directory (locked, identified) ─> engine opened ─> apply::recover ─> commits start
//!            ─> first start: root's account ─> listeners: TCP, Unix ─> serve … ─> shutdown: kill, checkpoint, close
//! ```
//!
//! [`Core`] is the part without listeners, which an embedding program uses; [`Server`] adds them.
//!
//! # Invariants
//! - Nobody is let in before recovery is complete, unless that is asked for (`recovery_read_only`); nobody writes before that.
//! - One server per data directory: the lock is taken before anything in it is read, and held until everything is closed.
//! - After the engine reports that it failed for good, no statement is answered with success and the process ends with an error.

mod certificate;
mod config;
mod core;
mod datadir;
mod error;
mod first_start;
mod listen;
mod logging;
mod prepared;
mod process;
mod relay;
mod replication;
mod runtime;
mod serve;
mod services;
mod socket;
#[cfg(test)]
mod tests;
mod tls;
pub mod url;

pub use self::relay::{RelayArguments, relay};
pub use config::{ServeOptions, VERSION, settings};
pub use core::Core;
pub use error::ServerError;
pub use logging::start_logging;
pub use runtime::runtime;
pub use serve::{Server, serve};
