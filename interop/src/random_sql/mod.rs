//! Random SQL from a seed: tables of every type, expressions, queries and changes that two servers can be asked alike.
//!
//! | part | what it makes |
//! |---|---|
//! | [`Random`] | numbers from a seed |
//! | [`Sql`] | text that knows where it can be made smaller, so that a difference is reported by its core |
//! | [`Tables`] | CREATE TABLE, and rows with values from the edges of their types |
//! | [`query`], [`windows`], [`change`] | a statement over such tables |
//!
//! # Invariants
//! - The same seed makes the same statements, on every machine.
//! - The answer to a statement is determined by the tables: nothing depends on the clock, on chance or on the order in which a
//!   server finds rows (a LIMIT has an ORDER BY with a key in it).

mod change;
mod expr;
mod query;
mod random;
mod shrink;
mod tables;
mod window;

pub use change::change;
pub use query::{Query, query};
pub use random::Random;
pub use shrink::Sql;
pub use tables::Tables;
pub use window::windows;
