//! Errors of the parser, in MySQL's words.

use base::{SqlError, codes};

/// How much of the text an error shows.
const NEAR_CHARS_MAX: usize = 80;

/// What went wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub enum ParseError {
    /// 1064 at this byte offset.
    Syntax(usize),
    /// An error of its own.
    Sql(Box<SqlError>),
}

impl ParseError {
    /// 1064 at this byte offset.
    pub fn syntax(offset: usize) -> Self {
        ParseError::Syntax(offset)
    }

    /// 1235.
    pub fn not_supported(what: impl std::fmt::Display) -> Self {
        ParseError::Sql(Box::new(SqlError::not_supported(what)))
    }

    /// As the client sees it.
    pub fn into_sql(self, text: &str) -> SqlError {
        match self {
            ParseError::Sql(error) => *error,
            ParseError::Syntax(offset) => {
                let near = near(text, offset);
                SqlError::new(
                    codes::PARSE_ERROR,
                    format!(
                        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server \
                         version for the right syntax to use {near}"
                    ),
                )
            }
        }
    }
}

impl From<SqlError> for ParseError {
    fn from(error: SqlError) -> Self {
        ParseError::Sql(Box::new(error))
    }
}

/// `near 'text' at line 1`: what stands at a byte offset of a statement.
pub fn near(text: &str, offset: usize) -> String {
    let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let near: String = text[offset..].trim_end_matches(';').chars().take(NEAR_CHARS_MAX).collect();
    let line = 1 + text[..offset].bytes().filter(|byte| *byte == b'\n').count();
    format!("near '{near}' at line {line}")
}

/// What a parser gives.
pub type Parsed<T> = Result<T, ParseError>;
