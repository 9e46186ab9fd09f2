//! SQL: from a statement's text to rows and changes.
//!
//! ```text
//!   text ── parse ──> Statement ─┬─ query, insert, update, delete ── bind, plan ──> exec ── engine
//!                                ├─ DDL, accounts ── ddl::plan ──> CatalogChange ── engine
//!                                ├─ SET, transactions, PREPARE … ── session
//!                                ├─ SHOW ── show, information_schema
//!                                └─ administration ── services (what only the server can do)
//! ```
//!
//! A [`Session`] is one client's state: it takes the text of one statement, or a [`Prepared`] statement with its parameters,
//! and gives rows to a [`ResultSink`]. It knows nothing of packets or sockets; what lies beyond the engine (other sessions,
//! replication, the log files as files) it reaches through [`Services`].
//!
//! # Invariants
//! - Everything that changes data does it through a transaction or a catalog change of the engine.
//! - A statement either takes effect whole or not at all: a failed one is rolled back to its start.
//! - What is not supported is refused by name (1235); it is never silently ignored where that could change data or results.

pub mod account;
mod bind;
mod charsets;
pub mod ddl;
mod dml;
pub mod exec;
pub mod expr;
mod functions;
mod histogram;
mod information_schema;
mod load;
pub mod parse;
pub mod plan;
pub mod replay;
pub mod result;
pub mod services;
pub mod session;
pub mod settings;
mod show;
#[cfg(test)]
mod tests;
pub mod virtual_table;
mod write;

pub use result::{FieldFlags, FieldType, Outcome, ResultColumn, ResultSink, StatusFlags};
pub use services::Services;
pub use session::{Client, Cursor, Prepared, Session, Shared, Traffic};
#[cfg(test)]
use tests::{golden, server as testing};
