//! What the store costs.

fn main() {}
