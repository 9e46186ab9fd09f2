//! From text to [`Statement`].
//!
//! Queries and row changes are those of [`crate::grammar`]; definitions, accounts, SET, SHOW and administration are here, over its tokens.
//! A token's place is a byte offset, so an error can show the text from where it was found, as MySQL does.
//!
//! ```text
//!   text ── split: up to ';' ── lexer ──> tokens ─┬─ SELECT, INSERT, … ── crate::grammar
//!                                                 ├─ CREATE, ALTER, … ── ddl, account
//!                                                 ├─ SET ── set         ├─ SHOW ── show
//!                                                 ├─ programs ── program
//!                                                 └─ the rest ── admin
//! ```
//!
//! # Invariants
//! - Whatever the bytes, the answer is statements or an error, never a panic.
//! - A statement that is known and not supported is 1235 with its name; one that is not known is 1064.

mod account;
mod admin;
mod alter;
mod both_dialects;
mod checksum;
mod column;
mod create;
mod ddl;
mod declared_charset;
mod dml;
mod explain;
mod foreign_key;
#[cfg(test)]
mod golden_tests;
mod load;
mod notes;
mod program;
#[cfg(test)]
mod property_tests;
mod rewrite;
mod role;
mod set;
mod show;
mod table_options;
mod timestamps;
mod tokens;
mod transaction;
mod unsupported;
mod user_options;
mod xa;

use std::sync::Arc;

use crate::grammar::{DEPTH_MAX, USUAL_DEPTH};
use crate::lexer::{self, Lexed};
use crate::{Parser, Span, Token};
use base::memory;
use base::{SqlError, codes, on_large_stack};

use self::notes::Notes;
use self::tokens::Tokens;
use crate::statement::{Ddl, SetItem, Statement};
use types::SqlMode;

pub use self::both_dialects::LogChanges;
pub use self::both_dialects::for_log;
pub(crate) use self::column::column_type;
pub use self::declared_charset::conflict as conflict_of_charsets;
pub(crate) use self::program::{end as end_of_program, may_hold_semicolons};
pub use self::rewrite::{Foreign, in_our_words};
pub use self::timestamps::OldColumn;
pub use crate::LiteralRows;
pub use crate::digits::{bit_bytes, hex_bytes};
pub use crate::raw::to_utf8;
pub use crate::versions::Reader;
pub use crate::words::RESERVED;

/// On what the meaning of text depends.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseContext {
    /// ANSI_QUOTES, NO_BACKSLASH_ESCAPES, PIPES_AS_CONCAT count.
    pub sql_mode: SqlMode,
    /// Names of accounts may be as long as MariaDB's: the text is out of a log.
    pub long_accounts: bool,
    /// Whose comments for versions are read.
    pub reader: Reader,
}

pub use crate::VERSION;

/// A statement with its text.
#[derive(Clone, Debug)]
pub struct ParsedStatement {
    /// What it says.
    pub statement: Statement,
    /// CREATE OR REPLACE: what is dropped first, if it is there.
    pub replaced: Option<Box<Ddl>>,
    /// SET STATEMENT: what is set for this statement alone.
    pub settings: Vec<SetItem>,
    /// The text it was parsed from up to its `;`; spans count in it. See [`ParsedStatement::trimmed`].
    pub text: Arc<str>,
    /// Number of `?`.
    pub param_count: usize,
    context: ParseContext,
    notes: Option<Box<Notes>>,
    is_deep: bool,
    /// There may be optimizer hints in it.
    pub may_have_hints: bool,
}

/// Bytes that a token may take in the tree: a list with one literal in brackets has four, and room for four expressions.
const TREE_BYTES: u64 = 400;

/// Bytes that a SELECT takes besides, in its tree and in its plan.
const SELECT_BYTES: u64 = 12 << 10;

/// Bytes that a SELECT takes besides in its tree alone.
const PROGRAM_SELECT_BYTES: u64 = 1 << 10;

impl Drop for ParsedStatement {
    fn drop(&mut self) {
        if self.is_deep {
            let statement = std::mem::replace(&mut self.statement, Statement::UnlockTables);
            on_large_stack(|| drop(statement));
        }
    }
}

impl ParsedStatement {
    /// Whether its trees are so deep that who walks them needs a large stack.
    pub fn is_deep(&self) -> bool {
        self.is_deep
    }

    /// What a source's statement says for its client alone: RETURNING, and how long it waits for others.
    pub fn forget_client(&mut self) {
        let is_wait = |item: &SetItem| matches!(item, SetItem::Variable { name, .. } if name == "lock_wait_timeout");
        self.settings.retain(|item| !is_wait(item));
        match &mut self.statement {
            Statement::Insert(insert) => insert.returning = None,
            Statement::Delete(delete) => delete.returning = None,
            _ => {}
        }
    }

    /// Its text without space around it: what logs and lists show.
    pub fn trimmed(&self) -> &str {
        self.text.trim_start()
    }

    /// The text of a part of the statement, by the span of its tree.
    pub fn source(&self, span: Span) -> &str {
        span.of(&self.text)
    }
}

/// Parses exactly one statement, with or without a `;` at its end. 1065 if there is none.
pub fn parse_one(text: &str, context: &ParseContext) -> Result<ParsedStatement, SqlError> {
    on_stack(|limit| Ok(parse_within(text, context, limit)?)).map_err(|error| error.into_sql(text))
}

/// Reads something that may be nested so deep, and again on a stack of its own if it is nested deeper: the grammar goes deeper than its words let
/// one think.
fn on_stack<T>(mut read: impl FnMut(usize) -> Parsed<T>) -> Parsed<T> {
    match read(USUAL_DEPTH) {
        Err(error::ParseError::Sql(error)) if error.code == codes::STACK_OVERRUN.0 => {
            on_large_stack(|| read(DEPTH_MAX))
        }
        read => read,
    }
}

/// Parses one statement that is nested no deeper than `limit`.
fn parse_within(text: &str, context: &ParseContext, limit: usize) -> Result<ParsedStatement, SqlError> {
    let lexed =
        lexer::lex_without_rows(text, context.sql_mode, context.reader).map_err(|error| error.into_sql(text))?;
    if lexed.tokens.is_empty() {
        return Err(SqlError::new(codes::EMPTY_QUERY, "Query was empty"));
    }
    let Lexed { mut end, param_count, mut tokens, after, has_semicolons, comments, literal_rows } = lexed;
    if let Some(more) = after {
        return Err(error::ParseError::syntax(more).into_sql(text));
    }
    if let Some(last) = tokens.pop_if(|last| last.token == Token::Semicolon) {
        end = last.span.start as usize;
    }
    let count = tokens.len() as u64;
    let mut tokens = Tokens::new(Parser::new(tokens, text, context.sql_mode), context.sql_mode);
    // The statements of a program are planned one by one, when it runs.
    let select_bytes = if has_semicolons { PROGRAM_SELECT_BYTES } else { SELECT_BYTES };
    memory::check_more(count * TREE_BYTES + tokens.count_selects() as u64 * select_bytes + end as u64)?;
    let whole: Arc<str> = Arc::from(text[..end].trim_end());
    tokens.limit_depth(limit);
    tokens.long_accounts = context.long_accounts;
    tokens.add_literal_rows(whole.clone(), literal_rows);
    let statement = whole_statement(&mut tokens).map_err(|error| error.into_sql(text))?;
    let is_deep = limit > USUAL_DEPTH || tokens.depth_read() > USUAL_DEPTH;
    let notes = match &statement {
        // Other servers read what is in it only when it is run.
        Statement::Program(_) => None,
        _ => tokens.notes(comments),
    };
    let (replaced, settings) = (tokens.replaced.take(), tokens.settings);
    let may_have_hints = whole.contains("/*+");
    Ok(ParsedStatement {
        statement,
        replaced,
        settings,
        text: whole,
        param_count,
        context: *context,
        notes,
        is_deep,
        may_have_hints,
    })
}

/// Parses all statements of a text.
pub fn parse(text: &str, context: &ParseContext) -> Result<Vec<ParsedStatement>, SqlError> {
    let mut statements = Vec::new();
    let mut rest = text;
    while let Some(length) = next_statement(rest.as_bytes(), context.sql_mode) {
        statements.push(parse_one(&rest[..length], context)?);
        rest = &rest[length..];
    }
    Ok(statements)
}

/// The length of the first statement with its `;`, or `None` if only space and comments are left.
pub fn next_statement(text: &[u8], sql_mode: SqlMode) -> Option<usize> {
    crate::raw::next_statement(text, sql_mode)
}

/// An expression alone, for tests and tools.
pub fn parse_expr(text: &str, context: &ParseContext) -> Result<crate::ast::Expr, SqlError> {
    let lexed = lexer::lex(text, context.sql_mode).map_err(|error| error.into_sql(text))?;
    let mut parser = Parser::new(lexed.tokens, text, context.sql_mode);
    let parsed = parser.expr().and_then(|expr| parser.end().map(|()| expr));
    parsed.map_err(|error| error.into_sql(text))
}

/// 1064 at a place of a text, for what only its user finds wrong.
pub fn syntax_error(text: &str, offset: usize) -> SqlError {
    error::ParseError::syntax(offset).into_sql(text)
}

/// `UNIX_TIMESTAMP(expr)`
pub fn unix_timestamp_of(expr: &crate::ast::Expr) -> crate::ast::Expr {
    crate::ast::Expr::call("UNIX_TIMESTAMP", vec![expr.clone()])
}

use crate::error;

type Parsed<T> = crate::Parsed<T>;

/// A statement, behind which nothing is. What is wrong with a program that can be read is found when all of it is.
fn whole_statement(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let statement = statement(tokens)?;
    if tokens.accept_token(&Token::Semicolon) {
        return tokens.unexpected();
    }
    tokens.end()?;
    if let Statement::Program(program) = &statement {
        if let (Some(param), false) = (tokens.first_param(), program.takes_params()) {
            return Err(error::ParseError::syntax(param));
        }
        program::check(program)?;
    }
    Ok(statement)
}

/// A statement of any kind, up to the semicolon that is behind it, if there is one. None but a program sees others.
fn statement(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    if program::holds_semicolons(tokens) {
        return any_statement(tokens);
    }
    let stop = tokens.narrow();
    let statement = any_statement(tokens)?;
    tokens.end()?;
    tokens.widen(stop);
    Ok(statement)
}

fn any_statement(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    if program::begins_compound(tokens) {
        return program::compound(tokens);
    }
    let word = tokens.peek_word().unwrap_or_default().to_ascii_uppercase();
    match word.as_str() {
        "SELECT" | "WITH" | "VALUES" | "TABLE" | "" => dml::query(tokens),
        "INSERT" | "REPLACE" => dml::insert(tokens),
        "UPDATE" => dml::update(tokens),
        "DELETE" => dml::delete(tokens),
        "DO" => dml::do_statement(tokens),
        "EXPLAIN" | "DESCRIBE" | "DESC" => explain::explain(tokens),
        "SET" => set::set(tokens),
        "SHOW" => show::show(tokens),
        "CREATE" => create::create(tokens),
        "ALTER" => alter::alter(tokens),
        "DROP" => ddl::drop(tokens),
        "TRUNCATE" => ddl::truncate(tokens),
        "RENAME" => ddl::rename(tokens),
        "GRANT" => account::grant(tokens),
        "REVOKE" => account::revoke(tokens),
        "XA" => xa::xa(tokens),
        "LOAD" => load::load(tokens),
        "CALL" => program::call(tokens),
        "SIGNAL" => program::signal(tokens),
        "RESIGNAL" => program::resignal(tokens),
        "GET" => program::get_diagnostics(tokens),
        "BEGIN" | "START" | "COMMIT" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" => transaction::transaction(tokens),
        _ => admin::admin(tokens, &word),
    }
}
