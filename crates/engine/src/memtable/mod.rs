//! Versions in memory.

mod key;

pub use key::Key;
