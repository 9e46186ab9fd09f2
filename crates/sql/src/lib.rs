//! sql

pub mod expr;
