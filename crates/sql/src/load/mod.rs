//! LOAD DATA: where its bytes come from, and how they become fields. What is done with them is in `dml::load`.
//!
//! # Invariants
//! - Of a file no more is in memory than a row takes, and what came last of it.

mod fields;
mod file;
#[cfg(test)]
mod tests;

pub(crate) use fields::{Fields, Found, Rules, Stop};
pub use file::LoadFrom;
pub(crate) use file::{Input, KeptFile, WholeFile, permitted_folder, read_file};
