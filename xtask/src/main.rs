//! Automation of the project: `cargo xtask test`, `bench`, `soak`, `tidy`.
fn main() {}
