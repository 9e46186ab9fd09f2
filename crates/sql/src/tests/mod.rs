//! What the tests of this crate share: golden files, and a server to run statements on.

pub(crate) mod golden;
pub(crate) mod server;
