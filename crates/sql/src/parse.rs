//! Statements as [`syntax`] reads them, and what their comments ask of the optimizer.

pub(crate) mod hint;

pub use syntax::parse::*;
pub use syntax::statement as ast;
