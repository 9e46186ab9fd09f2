//! What the tests of this crate share: golden files, and a server to run statements on.

#[path = "../../../syntax/src/golden.rs"]
pub(crate) mod golden;
pub(crate) mod server;
