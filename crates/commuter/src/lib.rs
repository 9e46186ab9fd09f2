//! The command line, and the library face for embedding.

pub mod client;
pub mod demo;
