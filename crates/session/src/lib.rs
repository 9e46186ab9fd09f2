//! One connection as a state machine: commands in, replies out.
pub mod auth;
pub mod client;
pub mod key;
pub mod registry;
pub mod transport;
