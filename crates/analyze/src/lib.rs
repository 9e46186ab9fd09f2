//! What a binary log says of itself: what its transactions are, how parallel its source was, and how parallel a replica could be.
//!
//! ```text
//! events ──Collector──► Transaction ──Analysis──► counts, series, tops ──┐
//!                                        └── Step ──► Simulation per mode and number of workers ──► Report: text, HTML, JSON
//! ```
//! # Invariants
//! - A log is gone through once, and memory does not grow with it: series are made coarser, tops keep so many, maps forget the oldest.
//! - What is not in the log (keys of tables without full metadata) is said to be unknown, not guessed.
//! - A transaction counts when its end was seen.

mod analysis;
mod collect;
mod facts;
mod footprint;
pub mod report;
pub mod schedule;
mod series;
mod steps;
mod tables;
mod top;

pub use analysis::{Analysis, Options, Simulations};
pub use collect::Collector;
pub use facts::{Kind, MariaFacts, Transaction, TransactionName};
pub use report::Report;
pub use tables::{KnownTable, KnownTables, TableKey};
