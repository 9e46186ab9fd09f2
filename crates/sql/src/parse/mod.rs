//! From text to [`ast::Statement`].

pub mod ast;
