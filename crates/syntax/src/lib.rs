//! MySQL's SQL, with MariaDB's additions: from text to trees and back.
//!
//! ```text
//!   bytes ── raw ──> text of one statement ── lexer ──> tokens ── grammar ──> ast ── print ──> text that both servers read again
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`raw`] | where a statement ends; a client's bytes as UTF-8 |
//! | [`versions`] | comments that are for some versions of MySQL or MariaDB |
//! | [`lexer`], [`token`] | text as tokens, each with its [`Span`] |
//! | [`words`] | reserved words |
//! | [`grammar`] | a parser by recursive descent over tokens: expressions, queries, and statements that change rows |
//! | [`ast`] | their trees |
//! | [`parse`] | statements of all kinds: those, and definitions, stored programs, accounts, settings, administration; what the log says of a definition |
//! | [`statement`] | their trees |
//! | [`names`], [`charsets`] | what can be a name, and names of character sets |
//! | [`literal_rows`] | rows of INSERT that stay text |
//! | [`digest`] | the normal form of a statement |
//!
//! Knows no tables and no types of values: what a name means is the binder's. What is kept as it was written (the requirements of an account) and
//! what other parts name in the same way (the name of an XA transaction) is taken from where it is kept.
//!
//! # Invariants
//! - Whatever the text, the answer is a tree or an error, never a panic; the stack and the memory that it takes are bounded
//!   ([`grammar::DEPTH_MAX`], [`base::memory`]), and so is the depth of a tree, for those who walk it.
//! - What is printed of a tree is read as an equal tree.

pub mod ast;
pub mod charsets;
pub mod digest;
pub mod digits;
pub mod error;
#[cfg(test)]
mod golden;
pub mod grammar;
pub mod lexer;
pub mod literal_rows;
pub mod names;
pub mod parse;
mod print;
pub mod raw;
pub mod span;
pub mod statement;
pub mod token;
pub mod versions;
pub mod words;

pub use error::{ParseError, Parsed};
pub use grammar::Parser;
pub use literal_rows::LiteralRows;
pub use span::Span;
pub use token::Token;

/// The version that `/*!50700 … */` is compared with.
pub const VERSION: u32 = 80400;

/// The version that `/*M!100001 … */` is compared with: mariadb-binlog puts settings of its log in such comments. Later ones are in
/// dumps, and say what is MariaDB's alone.
const MARIA_VERSION: u32 = 100_101;
