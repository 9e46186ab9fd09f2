//! A parser by recursive descent: a place among the tokens of a statement, and what is read from there on.
//!
//! | module | reads |
//! |---|---|
//! | [`cursor`] | words, signs, names, lists |
//! | [`expr`] | operators, by their binding strengths |
//! | [`operand`] | what stands between them: literals, names, parentheses, CASE |
//! | [`call`], [`special`] | calls, and those that are written with words between their arguments; [`cast`] types of CAST |
//! | [`window`] | OVER and WINDOW |
//! | [`query`], [`table`], [`json_table`] | queries; FROM |
//! | [`change`] | INSERT, REPLACE, UPDATE, DELETE |
//!
//! The grammar is that of MySQL 9.7 with what MariaDB 11.8 has besides: a text is an error here if it is one to both. Where both read a text in
//! different ways, MySQL's counts.
//!
//! # Invariants
//! - Nothing is read twice: a query in parentheses is known for one when what stands behind it is seen. The time that a text takes is in
//!   proportion to its length.
//! - The depth of the recursion, and of the tree, is at most [`Parser::limit`](Parser) (1436 beyond it). Chains of AND, OR and UNION are lists.

mod call;
mod cast;
mod change;
mod cursor;
mod expr;
mod json_table;
mod operand;
mod query;
mod special;
mod table;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use query::has_into;

use std::ops::Range;
use std::sync::Arc;

use base::{SqlError, codes};
use types::SqlMode;

use crate::ast::Mention;
use crate::error::Parsed;
use crate::literal_rows::LiteralRows;
use crate::token::TokenAt;

/// How deep operators, brackets and CASE may be nested: about as deep as the stack of a MySQL of usual settings allows.
pub const DEPTH_MAX: usize = 2000;
/// What is nested deeper is read, planned, executed and dropped on a stack of its own.
pub const USUAL_DEPTH: usize = 32;
/// How many queries may be around a query, as in MySQL.
pub const SELECTS_MAX: usize = 63;
/// How many tables a join may have, as in MySQL.
pub const TABLES_MAX: usize = 61;

/// 1436
pub fn too_deep() -> SqlError {
    let message = format!("Thread stack overrun: the statement is nested more than {DEPTH_MAX} levels deep");
    SqlError::new(codes::STACK_OVERRUN, message)
}

/// 1473
pub fn too_many_selects() -> SqlError {
    SqlError::new(codes::TOO_HIGH_NESTING_OF_SELECT, "Too high level of nesting for select")
}

/// 1116
pub fn too_many_tables() -> SqlError {
    let message = format!("Too many tables; MySQL can only use {TABLES_MAX} tables in a join");
    SqlError::new(codes::TOO_MANY_TABLES, message)
}

/// The tokens of one statement and a place among them.
pub struct Parser<'a> {
    tokens: Vec<TokenAt<'a>>,
    at: usize,
    /// Where the statement ends that is being read: at the end of the tokens, or, in a program, at a semicolon.
    stop: usize,
    text: &'a str,
    mode: SqlMode,
    /// Names without quotes that another kind of server takes for reserved words.
    pub unquoted: Vec<Range<usize>>,
    /// Rows of an INSERT that have no tokens.
    literal_rows: LiteralRows,
    /// Names that were read last.
    names: Vec<Arc<str>>,
    /// How deep a tree may be.
    limit: usize,
    /// How many expressions and queries are being read.
    depth: usize,
    /// How deep the operand reaches that was read last.
    reach: usize,
    /// How deep the tree is.
    deepest: usize,
    /// How many SELECTs are being read.
    selects: usize,
    /// Tables of the join that is being read.
    tables: usize,
    has_with: bool,
    /// Names that a program has to know, since its statement began.
    mentions: Vec<Mention>,
}

impl<'a> Parser<'a> {
    /// A parser at the first of a statement's tokens. Of the modes HIGH_NOT_PRECEDENCE counts here.
    pub fn new(tokens: Vec<TokenAt<'a>>, text: &'a str, mode: SqlMode) -> Self {
        Parser {
            stop: tokens.len(),
            tokens,
            at: 0,
            text,
            mode,
            unquoted: Vec::new(),
            literal_rows: LiteralRows::default(),
            names: Vec::new(),
            limit: DEPTH_MAX,
            depth: 0,
            reach: 0,
            deepest: 0,
            selects: 0,
            tables: 0,
            has_with: false,
            mentions: Vec::new(),
        }
    }

    /// The modes by which it reads.
    pub(crate) fn mode(&self) -> SqlMode {
        self.mode
    }

    /// Bounds the depth: 1436 for what is nested deeper. A usual stack has room for [`USUAL_DEPTH`] of it.
    pub fn limit_depth(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Adds the rows of an INSERT that have no tokens: their places in the text, and the text that is kept for them.
    pub fn add_literal_rows(&mut self, text: Arc<str>, places: Vec<Range<u32>>) {
        if !places.is_empty() {
            self.literal_rows = LiteralRows::new(text, self.mode, places);
        }
    }

    /// How deep the tree is that was read. Queries that are named may stand in one another.
    pub fn depth_read(&self) -> usize {
        self.deepest + if self.has_with { self.count_selects() } else { 0 }
    }

    /// How often SELECT stands in the statement.
    pub fn count_selects(&self) -> usize {
        self.tokens.iter().filter(|token| matches!(token.token, crate::Token::Word(word) if is(word, "SELECT"))).count()
    }

    /// Begins something that is nested.
    ///
    /// # Errors
    /// 1436 beyond the depth that is allowed.
    pub fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        self.reach(self.depth)
    }

    /// Ends it.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Notes that the operand which is being read is at least so deep.
    fn reach(&mut self, depth: usize) -> Parsed<()> {
        self.reach = self.reach.max(depth);
        self.deepest = self.deepest.max(depth);
        if depth > self.limit { Err(too_deep().into()) } else { Ok(()) }
    }

    /// Notes that what was read last goes one level down, under an operator behind it.
    fn sink(&mut self) -> Parsed<()> {
        self.reach(self.reach + 1)
    }
}

/// Whether a word is a keyword, in any case.
fn is(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}
